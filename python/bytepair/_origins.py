"""Strings that know where each of their parts comes from: a template, or a message.

A template joins its own text and values of messages. An :class:`OriginText` is a ``str`` that keeps origins through what
templates do with text: ``+``, ``~``, slices, ``strip``, ``split``, ``replace`` and ``join``. All other text that a template
computes is not trusted: it belongs to a message if all untrusted text that it is computed from does, or else to none.
So only what is certainly the template's own text is trusted.

Left out: origins of numbers and of other values that are not text. Operations cost time linear in the number of parts, besides
their own.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from inspect import unwrap
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["OriginText", "Segment", "marked", "origins_followed"]


class Segment(NamedTuple):
    """A part of the text of a chat; its first two fields are what ``bytepair.serving.encode_segments`` takes.

    ``trusted`` says whether the text is the template's own. ``message`` is the index of the message that the text comes from,
    or whose role the template's text names; otherwise it is ``None``. ``role`` is the role of this message. ``is_generated``
    says whether the model writes this text: what is in ``{% generation %}`` blocks, or, if the template has none, all text of
    messages whose role is ``assistant`` or ``model``. A number, ``true`` or ``null`` that the template prints on its own belongs
    to no message.
    """

    text: str
    trusted: bool
    role: str | None = None
    message: int | None = None
    is_generated: bool = False


def origins_followed(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, whose new text belongs to the only message that its arguments have text of."""

    @wraps(function)
    def followed(*args: Any, **options: Any) -> Any:
        value = function(*args, **options)
        if not isinstance(value, str | list | tuple):
            return value
        origins = _origins_of_messages([*args, *options.values()])
        found = [one for one in origins if not one.trusted] or [*origins]
        if len(found) != 1:
            return value
        return marked(value, found[0]._replace(trusted=False))

    return followed


class OriginText(str):
    """A text in parts, each with its origin."""

    __slots__ = ("parts",)
    parts: list[Segment]

    def __new__(cls, text: object = "", parts: list[Segment] | None = None) -> "Self":
        """Return the text; without ``parts``, they are those of the given text, or one of unknown origin."""
        text = str(text)
        made = super().__new__(cls, text)
        made.parts = parts or getattr(text, "parts", [Segment(text, trusted=False)])
        return made

    def __str__(self) -> str:
        return self

    __mod__ = origins_followed(str.__mod__)

    def __add__(self, other: str) -> "OriginText":
        return OriginText().join([self, other])

    def __radd__(self, other: str) -> "OriginText":
        return OriginText().join([other, self])

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, slice) or index.step is not None:
            return origins_followed(str.__getitem__)(self, index)
        start, stop, _ = index.indices(len(self))
        parts = []
        for part in self.parts:
            if text := part.text[max(start, 0) : max(stop, 0)]:
                parts.append(part._replace(text=text))
            start -= len(part.text)
            stop -= len(part.text)
        return OriginText(str.__getitem__(self, index), parts)

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(len(self)))

    def join(self, texts: Iterable[object]) -> "OriginText":
        """Return the texts with this one between them."""
        joined = [OriginText(text) for text in texts]
        parts: list[Segment] = []
        for index, text in enumerate(joined):
            parts += (self.parts if index else []) + text.parts
        return OriginText(str.join(self, joined), parts)

    def lstrip(self, chars: str | None = None) -> Any:
        """Return the text without characters at its start."""
        return self[len(self) - len(str.lstrip(self, chars)) :]

    def rstrip(self, chars: str | None = None) -> Any:
        """Return the text without characters at its end."""
        return self[: len(str.rstrip(self, chars))]

    def strip(self, chars: str | None = None) -> Any:
        """Return the text without characters at both ends."""
        return self.lstrip(chars).rstrip(chars)

    def split(self, sep: Any = None, maxsplit: Any = -1) -> Any:
        """Return the texts between separators."""
        pieces, start = [], 0
        for piece in str.split(self, sep, maxsplit):
            start = str.find(self, piece, start)
            pieces.append(self[start : start + len(piece)])
            start += len(piece) + len(sep or "")
        return pieces

    def replace(self, old: str, new: str, count: Any = -1) -> Any:
        """Return the text with replacements, which are trusted only in place of trusted text."""
        if not old:
            return str.replace(self, old, new, count)
        first, *others = self.split(old, count)
        texts, place = [first], len(first)
        for other in others:
            replaced = self[place : place + len(old)].parts
            untrusted = [one._replace(text=new) for one in replaced if not one.trusted]
            texts += [OriginText(new, untrusted[:1]), other]
            place += len(old) + len(other)
        return OriginText().join(texts)


def marked(value: Any, origin: Segment) -> Any:
    """Return a value in which all text of unknown origin has this one."""
    if isinstance(value, str):
        parts = [
            origin._replace(text=one.text) if one == Segment(one.text, False) else one
            for one in OriginText(value).parts
        ]
        return OriginText(value, parts)
    if isinstance(value, Mapping):
        return dict(marked([*value.items()], origin))
    if type(value) in (list, tuple):
        return type(value)(marked(one, origin) for one in value)
    return value


def _origins_of_messages(value: Any) -> set[Segment]:
    """Return the origins of all text of a value that is not the template's own; a method has that of its object."""
    value = getattr(unwrap(value), "__self__", value)
    if isinstance(value, str):
        parts = [part for part in OriginText(value).parts if part.text]
        return {one._replace(text="") for one in parts if not one.trusted or one.role}
    if isinstance(value, dict):
        value = [*value.items()]
    if isinstance(value, list | tuple):
        return set().union(*map(_origins_of_messages, value))
    return set()
