"""JSON that was written here, read strictly: what is wrong is told with the file and the place.

Equal keys, NaN and numbers that no 64 bits hold are errors. A name that is not UTF-8 comes back
as Python has it: its bytes are escaped as lone surrogates. Left out: files of other programs,
whose own rules count.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias

from bytepair.errors import FormatError

Shape: TypeAlias = "Callable[[Place], object] | Shapes | list[Shape]"
"""What a value must be: what a function checks, an object with keys, or a list of one kind."""
Shapes: TypeAlias = Mapping[str, Shape]
MOST = (1 << 63) - 1
"""The largest number that is written."""


def written(
    content: object, *, indent: int | None = None, is_sorted: bool = False
) -> bytes:
    r"""Write a document; bytes of names that are not UTF-8 become escapes.

    >>> written({"path": "caf\udce9"})
    b'{"path": "caf\\udce9"}'
    """
    text = json.dumps(content, indent=indent, sort_keys=is_sorted, ensure_ascii=False)
    return text.encode(errors="backslashreplace")


def parse(data: bytes, name: str) -> "Place":
    """Read a document; ``name`` is what errors begin with.

    >>> parse(b'{"a": [1]}', "own.json")["a"].items()[0].number()
    1

    Raises
    ------
    FormatError
        It is not JSON, or not such as is written here.
    """
    try:
        text = data.decode(errors="surrogateescape")
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_refuse)
    except RecursionError as error:
        message = f"{name}: not JSON that bytepair wrote: nested too deeply"
        raise FormatError(message) from error
    except ValueError as error:
        message = f"{name}: not JSON that bytepair wrote: {error}"
        raise FormatError(message) from error
    return Place(found, name)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        message = f"the key {twice!r:.80} occurs twice"
        raise ValueError(message)
    return found


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
        """Refuse a value of another shape; other keys of an object are not looked at."""
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
        """Return the value of a key, which must be there."""
        found = self.object()
        if key not in found:
            self.refuse(f"{key!r} is missing")
        return Place(found[key], self.name, f"{self.path}.{key}")

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
        found = self._of(list, "a list")
        return [
            Place(value, self.name, f"{self.path}[{number}]")
            for number, value in enumerate(found)
        ]

    def text(self) -> str:
        """Return a text."""
        return self._of(str, "a text")  # type: ignore[no-any-return]

    def text_or_none(self) -> str | None:
        """Return a text, or nothing."""
        return None if self.value is None else self.text()

    def flag(self) -> bool:
        """Return true or false."""
        return self._of(bool, "true or false")  # type: ignore[no-any-return]

    def number(self, least: int = 0) -> int:
        """Return a whole number of 64 bits."""
        found = self.value
        if not isinstance(found, int) or isinstance(found, bool):
            self.refuse(f"expected a whole number, not {_shown(found)}")
        if not least <= found <= MOST:
            self.refuse(
                f"expected a number from {least} to {MOST:,}, not {_shown(found)}"
            )
        return found

    def positive(self) -> int:
        """Return a whole number above 0."""
        return self.number(1)

    def number_or_none(self) -> int | None:
        """Return a whole number, or nothing."""
        return None if self.value is None else self.number()

    def sha256(self) -> str:
        """Return a sum as it is written, in lower case."""
        found = self.text()
        if len(found) != 64 or set(found) - set("0123456789abcdef"):
            self.refuse(f"expected a sha256, not {_shown(found)}")
        return found

    @staticmethod
    def exactly(shape: Shapes) -> "Callable[[Place], Place]":
        """Return a check for an object without other keys."""
        return lambda place: place.check_only(shape)

    @staticmethod
    def one_of(*known: str | int | None) -> "Callable[[Place], None]":
        """Return a check for one of some values."""

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
    """Write a value for a message; nested ones may be deeper than Python writes them."""
    if isinstance(value, dict):
        return "an object"
    return "a list" if isinstance(value, list) else f"{value!r:.80}"
