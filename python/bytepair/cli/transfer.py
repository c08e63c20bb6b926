"""Progress and a summary for commands that read a file and write the result.

Both are shown on a terminal, but not if the output itself is shown there. There is no summary for
short texts in a pipe, where it would be noise.
"""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from bytepair._plurals import amount

from .problems import remark
from .progress_line import ProgressLine, rate

__all__ = ["Transfer"]

MIN_LEN = 1 << 20
"""The smallest number of bytes, read or written, for a summary in a pipe."""


class Transfer:
    """Shows the progress of reading files, and a summary at the end."""

    def __init__(self, doing: str, files: list[str], output: str) -> None:
        is_beside = output == "-" and sys.stdout.isatty()
        self.doing, self.output = doing, output
        self.line = ProgressLine(is_shown=not is_beside)
        paths = list(map(Path, files))
        is_known = all(path.is_file() for path in paths)
        self.total = sum(path.stat().st_size for path in paths) if is_known else None
        self.n_bytes = 0
        self.start = time.perf_counter()

    def counted(self, batches: Iterable[Sequence[bytes]]) -> Iterator[Sequence[bytes]]:
        """Yield batches of lines, and show how much is read."""
        for batch in batches:
            yield batch
            self.n_bytes += sum(map(len, batch)) + len(batch)
            self.line.show_bytes(self.doing, self.n_bytes, self.total)

    def begin(self, n_bytes: int) -> None:
        """Show that work on a whole text begins."""
        self.n_bytes = n_bytes
        if n_bytes >= MIN_LEN:
            self.line.show(f"{self.doing}: {n_bytes / 1e6:,.1f} MB")

    def tell(self, n_bytes: int) -> None:
        """Show how much is done."""
        self.n_bytes = n_bytes if self.total is None else min(n_bytes, self.total)
        self.line.show_bytes(self.doing, self.n_bytes, self.total)

    def finish(self, n_bytes: int, n_tokens: int) -> None:
        """Write the numbers of bytes and tokens, and the rate."""
        self.line.clear()
        is_much = max(n_bytes, self.n_bytes) >= MIN_LEN
        if not self.line.is_shown or not (is_much or self.output != "-"):
            return
        seconds = time.perf_counter() - self.start
        mean = f", {n_bytes / n_tokens:.2f} bytes per token" if n_tokens else ""
        remark(
            f"{amount(n_bytes, 'byte')}, {amount(n_tokens, 'token')}{mean}, "
            f"{rate(n_bytes, seconds)}"
        )
        if self.output != "-":
            remark(f"saved: {self.output}")
