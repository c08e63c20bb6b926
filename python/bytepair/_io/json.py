"""Write JSON, and read strictly what bytepair wrote: an error names the file and the place in it.

Equal keys, NaN and numbers of more than 64 bits are errors. A file name that is not UTF-8 is read
as Python represents it, its bytes as lone surrogates. Left out: files of other programs, which have
rules of their own.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from bytepair.errors import FormatError

Shape: TypeAlias = "Callable[[Place], object] | Shapes | list[Shape]"
"""What a value must be: a check, an object with these keys, or a list whose items are alike."""
Shapes: TypeAlias = Mapping[str, Shape]
MOST = (1 << 63) - 1
"""The largest number that is written."""


def written(
    content: object, *, indent: int | None = None, is_sorted: bool = False
) -> bytes:
    r"""Return a document as JSON; bytes of names that are not UTF-8 become escapes.

    >>> written({"path": "caf\udce9"})
    b'{"path": "caf\\udce9"}'
    """
    text = json.dumps(content, indent=indent, sort_keys=is_sorted, ensure_ascii=False)
    return text.encode(errors="backslashreplace")


def parse(data: bytes, name: str) -> "Place":
    """Read a document; error messages begin with ``name``.

    >>> parse(b'{"a": [1]}', "own.json")["a"].items()[0].number()
    1

    Raises
    ------
    FormatError
        It is not JSON, or not as bytepair writes it.
    """
    try:
        text = data.decode(errors="surrogateescape")
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError as error:
        message = f"{name}: not JSON that bytepair wrote: nested too deeply"
        raise FormatError(message) from error
    except ValueError as error:
        message = f"{name}: not JSON that bytepair wrote: {error}"
        raise FormatError(message) from error
    return Place(value, name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the key {twice!r:.80} occurs twice"
        raise ValueError(message)
    return values


def _refuse(constant: str) -> NoReturn:
    message = f"{constant} is not a number"
    raise ValueError(message)


class Place:
    """A value in a document, and where it is."""

    def __init__(self, value: Any, name: str, path: str = "") -> None:  # noqa: ANN401
        self.value, self.name, self.path = value, name, path

    def refuse(self, problem: str) -> NoReturn:
        """Raise an error that names the file and the place."""
        place = f"{self.path.removeprefix('.')}: " if self.path else ""
        message = f"{self.name}: {place}{problem}"
        raise FormatError(message)

    def check(self, shape: Shape) -> None:
        """Refuse a value of another shape; other keys of an object are ignored."""
        if isinstance(shape, Mapping):
            self.object()
            for key, inner in shape.items():
                self[key].check(inner)
        elif isinstance(shape, list):
            for item in self.items():
                item.check(shape[0])
        else:
            shape(self)

    def check_only(self, shape: Shapes) -> "Place":
        """Refuse an object of another shape, or with other keys."""
        for key in self.object():
            if key not in shape:
                self.refuse(f"{key!r} is not known")
        self.check(shape)
        return self

    def __getitem__(self, key: str) -> "Place":
        """Return the value of a key; refuse an object without it."""
        values = self.object()
        if key not in values:
            self.refuse(f"{key!r} is missing")
        return Place(values[key], self.name, f"{self.path}.{key}")

    def __contains__(self, key: str) -> bool:
        return key in self.object()

    def object(self) -> dict[str, Any]:
        """Return an object."""
        return self._of(dict, "an object")  # type: ignore[no-any-return]

    def values(self) -> Iterator[tuple[str, "Place"]]:
        """Return the keys of an object with their values."""
        return ((key, self[key]) for key in self.object())

    def items(self) -> "list[Place]":
        """Return the values of a list."""
        values = self._of(list, "a list")
        return [
            Place(value, self.name, f"{self.path}[{number}]")
            for number, value in enumerate(values)
        ]

    def text(self) -> str:
        """Return a text."""
        return self._of(str, "a text")  # type: ignore[no-any-return]

    def text_or_none(self) -> str | None:
        """Return a text, or ``None``."""
        return None if self.value is None else self.text()

    def flag(self) -> bool:
        """Return true or false."""
        return self._of(bool, "true or false")  # type: ignore[no-any-return]

    def number(self, least: int = 0) -> int:
        """Return a whole number of 64 bits."""
        value = self.value
        if not isinstance(value, int) or isinstance(value, bool):
            self.refuse(f"expected a whole number, not {_shown(value)}")
        if not least <= value <= MOST:
            self.refuse(
                f"expected a number from {least} to {MOST:,}, not {_shown(value)}"
            )
        return value

    def positive(self) -> int:
        """Return a whole number above 0."""
        return self.number(1)

    def number_or_none(self) -> int | None:
        """Return a whole number, or ``None``."""
        return None if self.value is None else self.number()

    def sha256(self) -> str:
        """Return a SHA-256 in lower-case hexadecimal digits."""
        digest = self.text()
        if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
            self.refuse(f"expected a sha256, not {_shown(digest)}")
        return digest

    @staticmethod
    def exactly(shape: Shapes) -> "Callable[[Place], Place]":
        """Return a check for an object that has only these keys."""
        return lambda place: place.check_only(shape)

    @staticmethod
    def one_of(*known: str | int | None) -> "Callable[[Place], None]":
        """Return a check for a value that is one of ``known``."""

        def check(place: Place) -> None:
            is_known = isinstance(place.value, (str, int, type(None)))
            if (
                not is_known
                or isinstance(place.value, bool)
                or place.value not in known
            ):
                place.refuse(f"{_shown(place.value)} is not known")

        return check

    def _of(self, kind: type, named: str) -> Any:  # noqa: ANN401
        if not isinstance(self.value, kind):
            self.refuse(f"expected {named}, not {_shown(self.value)}")
        return self.value


def _shown(value: object) -> str:
    """Return a value for a message; ``repr`` fails on deeply nested ones."""
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"{value!r:.80}"
