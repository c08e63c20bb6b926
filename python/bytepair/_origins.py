"""Strings that know where each of their parts comes from: a template, or a message.

A template joins its own text and values of messages. An :class:`OriginText` is a ``str`` that keeps the origin of each part
through the operations that templates use: ``+``, ``~``, slices, ``strip``, ``split``, ``partition``, ``replace`` and ``join``.
Everything else gives text of an unknown origin, which nobody trusts: at most the number of its message is kept. So only what
is certainly the template's own text is trusted. Operations cost time linear in the number of parts, besides their own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "TEMPLATE",
    "Origin",
    "OriginText",
    "Part",
    "joined",
    "origins_followed",
    "with_origin",
]


class Origin(NamedTuple):
    """Where text comes from: whether the template vouches for it, and the index of its message, if it has one."""

    trusted: bool
    message: int | None = None
    in_generation: bool = False


class Part(NamedTuple):
    """Text of one origin."""

    text: str
    origin: Origin


TEMPLATE = Origin(trusted=True)
_UNKNOWN = Origin(trusted=False)


class OriginText(str):
    """A text in parts, each with its origin."""

    __slots__ = ("parts",)
    parts: tuple[Part, ...]

    def __new__(cls, text: object = "", parts: Iterable[Part] | None = None) -> "Self":
        """Return the text, of unknown origin without ``parts``, which must make up the text."""
        made = super().__new__(cls, text)
        made.parts = (
            (Part(str.__str__(made), _UNKNOWN),) if parts is None else tuple(parts)
        )
        return made

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> "OriginText":
        return OriginText(str.__add__(self, other), self.parts + _parts(other))

    def __radd__(self, other: str) -> "OriginText":
        return OriginText(str.__add__(other, self), _parts(other) + self.parts)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            return self._between(start, max(start, stop))
        return _of_message(str.__getitem__(self, index), [self])

    def join(self, texts: Iterable[str]) -> "OriginText":
        """Return the texts with this one between them, each with its own origin."""
        texts = list(texts)
        parts: list[Part] = []
        for index, text in enumerate(texts):
            parts += (self.parts if index else ()) + _parts(text)
        return OriginText(str.join(self, texts), parts)

    def replace(self, old: str, new: str, count: Any = -1) -> Any:
        """Return the text with replacements, which are trusted only in place of trusted text."""
        made = str.replace(self, old, new, count)
        if not old:
            return _of_message(made, [self, new])
        parts: list[Part] = []
        start, n_found = 0, str.count(self, old)
        for _ in range(n_found if count < 0 else min(count, n_found)):
            place = str.find(self, old, start)
            replaced = self._between(place, place + len(old))
            is_trusted = all(part.origin.trusted for part in replaced.parts)
            kept = new if is_trusted else _of_message(str.__str__(new), [replaced])
            parts += self._between(start, place).parts + _parts(kept)
            start = place + len(old)
        return OriginText(made, [*parts, *self._between(start, len(self)).parts])

    def _between(self, start: int, stop: int) -> "OriginText":
        parts, place = [], 0
        for text, origin in self.parts:
            if cut := text[max(0, start - place) : max(0, stop - place)]:
                parts.append(Part(cut, origin))
            place += len(text)
        return OriginText(str.__getitem__(self, slice(start, stop)), parts)


def origins_followed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, whose results are text of the message that all texts among its arguments come from."""

    @wraps(function)
    def followed(*args: Any, **options: Any) -> Any:
        return _of_message(function(*args, **options), [*args, *options.values()])

    return followed


def with_origin(value: Any, origin: Origin) -> Any:
    """Return a value in which all strings have this origin."""
    if isinstance(value, str):
        return OriginText(value, [Part(value, origin)])
    if isinstance(value, Mapping):
        return {
            with_origin(key, origin): with_origin(one, origin)
            for key, one in value.items()
        }
    if type(value) in (list, tuple):
        return type(value)(with_origin(one, origin) for one in value)
    return value


def joined(texts: Iterable[str]) -> OriginText:
    """Return the concatenation of texts."""
    return OriginText().join(texts)


def _parts(text: str) -> tuple[Part, ...]:
    return text.parts if isinstance(text, OriginText) else (Part(text, _UNKNOWN),)


def _of_message(value: Any, sources: Iterable[Any]) -> Any:
    """Return a string as untrusted text of the only message of its sources, if there is one; any other value as it is."""
    if type(value) is not str:
        return value
    messages = set(_messages(sources))
    message = messages.pop() if len(messages) == 1 else None
    return with_origin(value, Origin(trusted=False, message=message))


def _messages(value: Any) -> Iterator[int]:
    if isinstance(value, OriginText):
        yield from (
            part.origin.message
            for part in value.parts
            if part.origin.message is not None
        )
    elif isinstance(value, Mapping):
        yield from _messages([*value, *value.values()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _messages(one)


def _cutting(name: str) -> Callable[..., Any]:
    """Return a method whose results are parts of the text, in their order; ``split`` leaves the separator out."""
    method = getattr(str, name)

    @wraps(method)
    def cut(self: OriginText, *args: Any, **options: Any) -> Any:
        made = method(self, *args, **options)
        separator = (
            options.get("sep", args[0] if args else None)
            if name in {"split", "rsplit"}
            else None
        )
        found, start = [], 0
        for piece in [made] if isinstance(made, str) else made:
            start = str.find(self, piece, start)
            found.append(self._between(start, start + len(piece)))
            start += len(piece) + len(separator or "")
        return found[0] if isinstance(made, str) else type(made)(found)

    return cut


for _name in (
    "lstrip",
    "partition",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "strip",
):
    setattr(OriginText, _name, _cutting(_name))
for _name in (
    "__mod__",
    "__mul__",
    "__rmul__",
    "capitalize",
    "casefold",
    "format",
    "lower",
    "title",
    "upper",
):
    setattr(OriginText, _name, origins_followed(getattr(str, _name)))
