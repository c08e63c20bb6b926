"""Find the first difference between two tokenizers.

Both encode a built-in torture text, their special tokens in many places, and the texts
that are given; compared are ids (of plain text, with special tokens recognised, and with
what is put around a text), written tokens and decoded text; then what every id stands
for, and the special tokens. The first text that differs is cut down to the characters
that matter. A difference that comes from characters on which versions of Unicode differ,
and from nothing else, is told apart: see ``Difference.is_drift``.

Left out: training options, names, and how parts are written in files.
Cost: encoding the texts some six times with each, and decoding them twice. To cut down a text
that differs costs as much as to encode it a hundred times; see ``shrinking``.
"""

import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Literal, NamedTuple, TypeAlias

from bytepair._expected import loaded
from bytepair._io.files import StrPath
from bytepair._names import refuse_set
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError

from . import torture
from .shrinking import shrink

__all__ = ["Difference", "Terms", "compare", "is_normalized_alike", "verify"]

N_SPECIAL = 40
"""How many special tokens are put into texts."""


class Difference(NamedTuple):
    """Something on which two tokenizers differ.

    ``what`` is ``ids``, ``tokens``, ``decoded text``, ``vocabulary`` or ``special tokens``;
    ``text`` is the small text that shows it, ``None`` for the last two. ``first`` and
    ``second`` are what each tokenizer gives, or the error that it raises.
    """

    what: str
    text: str | None
    first: Any
    second: Any
    is_drift: bool = False

    def __str__(self) -> str:
        """Lay it out for a reader."""
        shown = [] if self.text is None else [f"  text    {self.text!a}"]
        shown += [f"  first   {_short(self.first)}", f"  second  {_short(self.second)}"]
        drift = (
            [
                "  Only the Unicode version differs: it puts these characters into other classes."
            ]
            if self.is_drift
            else []
        )
        return "\n".join([f"{self.what} differ", *shown, *drift])


View = Callable[[Tokenizer, str], Any]
Allowed: TypeAlias = Literal["all"] | list[str]


class Terms(NamedTuple):
    """What two tokenizers must agree on."""

    has_ids: bool = True
    """Ids and what they decode to; without them, how tokens are written alone."""
    has_refusals: bool = True
    """Texts that the first tokenizer refuses; without them, only what it encodes."""
    has_names: bool = True
    """How tokens are written: ids say it too, but for units that no token stands for."""
    has_special_text: bool = True
    """What special tokens are decoded to; without it, only the text around them."""
    may_add_tokens: bool = False
    """Whether the second may have special tokens that the first has not."""
    has_normal_texts: bool = False
    """Whether only texts count that both normalize alike."""


def _ids(tokenizer: Tokenizer, text: str, **options: Any) -> list[int]:  # noqa: ANN401 -- those of encode
    return tokenizer.encode(text, **options)


def _tokens(tokenizer: Tokenizer, text: str, **options: Any) -> list[str]:  # noqa: ANN401 -- those of tokenize
    return tokenizer.tokenize(text, **options)


def _decoded(
    tokenizer: Tokenizer, text: str, allowed: Allowed, *, skip_special_tokens: bool
) -> str:
    ids = tokenizer.encode(text, allowed_special=allowed)
    return tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)


def _ordinary(tokenizer: Tokenizer, text: str) -> str:
    """Give what comes back of a text; the format may have lost some of its units."""
    return tokenizer.decode(tokenizer.encode(text))


def _views(first: Tokenizer, terms: Terms) -> list[tuple[str, View]]:
    """List the ways to look at a text, each with what it shows."""
    allowed: Allowed = list(first.special_tokens) if terms.may_add_tokens else "all"
    special: dict[str, Any] = {"allowed_special": allowed}
    whole: dict[str, Any] = {**special, "add_special_tokens": True}
    names: list[tuple[str, View]] = [("tokens", partial(_tokens, **special))]
    if not terms.has_ids:
        text: tuple[str, View] = ("decoded text", _ordinary)
        return [
            ("tokens", _tokens),
            *names,
            ("tokens", partial(_tokens, **whole)),
            text,
        ]
    ids: list[tuple[str, View]] = [
        ("ids", _ids),
        ("ids", partial(_ids, **special)),
        ("ids", partial(_ids, **whole)),
    ]
    skips = [False, True] if terms.has_special_text else [True]
    decoded: list[tuple[str, View]] = [
        ("decoded text", partial(_decoded, allowed=allowed, skip_special_tokens=skip))
        for skip in skips
    ]
    return [*ids, *(names if terms.has_names else []), *decoded]


def verify(
    first: Tokenizer | StrPath,
    second: Tokenizer | StrPath,
    *,
    texts: Iterable[str] = (),
) -> Difference | None:
    """Give the first difference between two tokenizers, or ``None`` if none was found.

    >>> import bytepair
    >>> one = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> other = one.with_special_tokens(["<|end|>"])
    >>> bytepair.verify(one, one) is None
    True
    >>> print(bytepair.verify(one, other))
    ids differ
      text    '<|end|>'
      first   [27, 91, 68, 77, 67, 91, 29]
      second  [258]

    Raises
    ------
    FileError, FormatError
        One of them is a path that does not lead to a tokenizer.
    """
    return compare(loaded(first), loaded(second), texts, Terms())


def compare(
    first: Tokenizer, second: Tokenizer, texts: Iterable[str], terms: Terms
) -> Difference | None:
    """Give the first difference in what must agree, as :func:`verify` does."""
    refuse_set("texts", texts, "the result")
    names = [*first.special_tokens, *second.special_tokens]
    around = torture.around(list(dict.fromkeys(names))[:N_SPECIAL])
    for group in (torture.TEXTS, texts, around):
        for text in group:
            found = _difference_on(first, second, text, terms)
            if found is not None:
                return found
    return _difference_of_vocabularies(first, second, terms) if terms.has_ids else None


def _difference_on(
    first: Tokenizer, second: Tokenizer, text: str, terms: Terms
) -> Difference | None:
    for what, view in _views(first, terms):
        if _differs(first, second, text, view, terms):
            return _small(first, second, text, (what, view), terms)
    return None


def _differs(
    first: Tokenizer, second: Tokenizer, text: str, view: View, terms: Terms
) -> bool:
    here = _outcome(view, first, text)
    if terms.has_normal_texts and not is_normalized_alike(first, second, text):
        return False
    if not terms.has_refusals and _refuses(first, text):
        return False
    there = _outcome(view, second, text)
    if view is _ordinary and isinstance(there, Refusal):
        return False
    return bool(here != there)


def is_normalized_alike(first: Tokenizer, second: Tokenizer, text: str) -> bool:
    """Tell whether two tokenizers make the same text of a text before it is cut."""
    here, there = _pieces(first, text), _pieces(second, text)
    if here is None or there is None:
        return here == there
    return b"".join(here) == b"".join(there)


def _small(
    first: Tokenizer,
    second: Tokenizer,
    text: str,
    shown: tuple[str, View],
    terms: Terms,
) -> Difference:
    what, view = shown
    small = shrink(text, lambda text: _differs(first, second, text, view, terms))
    outcomes = _outcome(view, first, small), _outcome(view, second, small)
    return Difference(what, small, *outcomes, is_drift=_is_drift(first, second, small))


def _refuses(tokenizer: Tokenizer, text: str) -> bool:
    """Tell whether a text has no ids, with special tokens recognised or without."""
    views = (_ids, partial(_ids, allowed_special="all"))
    encoded = (_outcome(view, tokenizer, text) for view in views)
    return any(isinstance(outcome, Refusal) for outcome in encoded)


class Refusal(str):
    """The error that a tokenizer raises in place of an answer."""

    __slots__ = ()


def _outcome(view: View, tokenizer: Tokenizer, text: str) -> Any:  # noqa: ANN401 -- any view's
    try:
        return view(tokenizer, text)
    except TokenizerError as error:
        return Refusal(f"{type(error).__name__}: {error}")


def _is_drift(first: Tokenizer, second: Tokenizer, text: str) -> bool:
    """Tell whether versions of Unicode explain a difference, and nothing else does.

    The tokenizers cut the text at other places because of some of its characters; all of
    these were assigned, or changed their class, after Unicode 3.2, which is older than
    the tables of any library; and without them the text is cut alike.
    """
    suspects = {c for c in set(text) if _cut_differently(first, second, c)}
    rest = "".join(c for c in text if c not in suspects)
    if not suspects or not all(map(_is_young, suspects)):
        return False
    return _pieces(first, rest) == _pieces(second, rest)


def _cut_differently(first: Tokenizer, second: Tokenizer, character: str) -> bool:
    contexts = ("a{}a", " {}", "1{}1", "!{}!", "{} ", "A{}a")
    probes = [context.format(character) for context in contexts]
    return any(_pieces(first, probe) != _pieces(second, probe) for probe in probes)


def _pieces(tokenizer: Tokenizer, text: str) -> list[bytes] | None:
    """Cut a text; pieces of text and of bytes are the same."""
    try:
        pieces = tokenizer.split(text)
    except TokenizerError:
        return None
    return [p.encode() if isinstance(p, str) else p for p in pieces]


def _is_young(character: str) -> bool:
    old = unicodedata.ucd_3_2_0.category(character)
    return old == "Cn" or old != unicodedata.category(character)


def _difference_of_vocabularies(
    first: Tokenizer, second: Tokenizer, terms: Terms
) -> Difference | None:
    pairs = {
        "special tokens": (first.special_tokens, second.special_tokens),
        "vocabularies": (first.get_vocab(), second.get_vocab()),
    }
    added = second.special_tokens if terms.may_add_tokens else {}
    for what, (here, there) in pairs.items():
        kept = {k: v for k, v in there.items() if k in here or k not in added}
        if here != kept:
            return Difference(what, None, *_only(here, kept))
    return None


def _only(
    here: dict[str, int], there: dict[str, int]
) -> tuple[dict[str, int], dict[str, int]]:
    """Give the entries that one side alone has."""
    first = dict(sorted(here.items() - there.items(), key=_by_id))
    second = dict(sorted(there.items() - here.items(), key=_by_id))
    return first, second


def _by_id(entry: tuple[str, int]) -> tuple[int, str]:
    return entry[1], entry[0]


def _short(value: object, n_characters: int = 400) -> str:
    text = ascii(value) if not isinstance(value, str) else repr(value)
    if len(text) <= n_characters:
        return text
    return f"{text[:n_characters]}… ({len(text)} characters)"
