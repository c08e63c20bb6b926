"""Compressed files of several members, `.bz2`, `.xz` and `.zst`, read to their end.

Parallel compressors write members one behind the other, and `.xz` may have zeros between
them. Python's own readers take whatever is no member for the end, and say nothing of what is
lost; here it is an error. Memory is that of one block.
"""

from __future__ import annotations

import bz2
import io
import lzma
from typing import TYPE_CHECKING, Any, BinaryIO, cast

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["open_bz2", "open_xz", "open_zstd"]

STORED_BLOCK_LEN = 256 << 10
"""How much is read at once of what is compressed, in bytes."""


def open_bz2(stored: BinaryIO) -> BinaryIO:
    """Undo the compression of ``.bz2``."""
    members = _Members(stored, bz2.BZ2Decompressor, padding=b"")
    return cast("BinaryIO", io.BufferedReader(members, STORED_BLOCK_LEN))


def open_xz(stored: BinaryIO) -> BinaryIO:
    """Undo the compression of ``.xz``."""
    members = _Members(stored, lzma.LZMADecompressor, padding=b"\0")
    return cast("BinaryIO", io.BufferedReader(members, STORED_BLOCK_LEN))


def open_zstd(stored: BinaryIO, zstd: Any) -> BinaryIO:  # noqa: ANN401 -- a module
    """Undo the compression of ``.zst`` by a module like ``compression.zstd``."""

    class Frame:
        """A decompressor whose errors are those of reading."""

        def __init__(self) -> None:
            self.frame = zstd.ZstdDecompressor()

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401 -- as of the frame
            return getattr(self.frame, name)

        def decompress(self, data: bytes, max_length: int) -> bytes:
            try:
                return bytes(self.frame.decompress(data, max_length))
            except zstd.ZstdError as error:
                raise EOFError(str(error)) from error

    members = _Members(stored, Frame, padding=b"")
    return cast("BinaryIO", io.BufferedReader(members, STORED_BLOCK_LEN))


class _Members(io.RawIOBase):
    """What the members of a file hold, one after the other.

    ``rest`` is what was read and belongs to no member so far.
    """

    def __init__(
        self, stored: BinaryIO, new: Callable[[], Any], *, padding: bytes
    ) -> None:
        self.stored, self.new, self.padding = stored, new, padding
        self.member = new()
        self.rest = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, memory: Any) -> int:  # noqa: ANN401 -- any buffer
        """Read some bytes, none at the end of the last member."""
        data = b""
        while not data:
            if self.member.eof and not self._begin_next():
                return 0
            if self.member.needs_input and not self.rest:
                self.rest = self.stored.read(STORED_BLOCK_LEN)
                if not self.rest:
                    message = "it ends in the middle of a member"
                    raise EOFError(message)
            data = self.member.decompress(self.rest, len(memory))
            self.rest = self.member.unused_data
        memory[: len(data)] = data
        return len(data)

    def _begin_next(self) -> bool:
        """Begin the next member, if there is one."""
        self.rest = self.rest.lstrip(self.padding)
        while not self.rest:
            block = self.stored.read(STORED_BLOCK_LEN)
            if not block:
                return False
            self.rest = block.lstrip(self.padding)
        self.member = self.new()
        return True
