"""Find the first difference between two tokenizers.

Both encode torture texts, the user's texts, and texts made of their tokens. Ids (of plain text, with special tokens
recognised, and with the template) and decoded text are compared, then the token of every id, and the special tokens. The
first text that differs is cut down to the characters that matter. A difference that comes only from characters on which
versions of Unicode differ is marked: see ``Difference.is_drift``.

Left out: training options, names, and how parts are written in files.
Cost: encoding the texts some five times with each, and decoding them twice. To cut down a text
that differs costs as much as to encode it a hundred times; see ``shrinking``.
"""

import unicodedata
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias

from bytepair._core import Tokenizer as CoreTokenizer
from bytepair._expected import loaded
from bytepair._io.files import StrPath
from bytepair._names import refuse_set
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TokenizerError

from . import torture
from .made_texts import made_texts
from .pairing import Pairing
from .shrinking import shrink

__all__ = [
    "Difference",
    "Terms",
    "difference_on_texts",
    "find_difference",
    "is_encodable",
    "is_normalized_alike",
    "shortened",
    "verify",
]


class Difference(NamedTuple):
    """Something on which two tokenizers differ.

    ``what`` is ``ids``, ``tokens``, ``decoded text``, ``vocabularies`` or ``special tokens``;
    ``text`` is the small text that shows it, ``None`` for the last two. ``first`` and
    ``second`` are what each tokenizer returns, or the error that it raises.
    """

    what: str
    text: str | None
    first: Any
    second: Any
    is_drift: bool = False

    def __str__(self) -> str:
        """Return the difference for a reader."""
        lines = [f"{self.what} differ"]
        if self.text is not None:
            lines.append(f"  text    {self.text!a}")
        lines += [f"  first   {_short(self.first)}", f"  second  {_short(self.second)}"]
        if self.is_drift:
            lines.append(
                "  Only the Unicode version differs: it puts these characters into other classes."
            )
        return "\n".join(lines)


View = Callable[..., Any]
Allowed: TypeAlias = Literal["all"] | list[str]


class Terms(NamedTuple):
    """What two tokenizers must agree on.

    Attributes
    ----------
    has_ids
        Ids; otherwise only the texts of tokens.
    has_decoded_text
        The decoded text of ids.
    has_refusals
        Texts that the first tokenizer refuses; otherwise only those that it encodes.
    has_special_tokens
        Special tokens of the second, and the decoded text of all; otherwise only those of the
        first, and other text.
    has_normal_texts
        Whether only texts that both normalize alike are compared.
    """

    has_ids: bool = True
    has_decoded_text: bool = True
    has_refusals: bool = True
    has_special_tokens: bool = True
    has_normal_texts: bool = False


def verify(
    first: Tokenizer | StrPath,
    second: Tokenizer | StrPath,
    *,
    texts: Iterable[str] = (),
) -> Difference | None:
    """Return the first difference between two tokenizers, or ``None`` if none was found.

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
    first, second = loaded(first), loaded(second)
    refuse_set("texts", texts, "the result")
    made = made_texts(Pairing(first, second))
    all_texts = chain(torture.TEXTS, texts, made)
    return find_difference(first, second, all_texts, Terms())


def find_difference(
    first: Tokenizer, second: Tokenizer, texts: Iterable[str | bytes], terms: Terms
) -> Difference | None:
    """Return the first difference within the terms, on these texts and in the vocabularies."""
    found = difference_on_texts(first, second, texts, terms)
    if found is not None or not terms.has_ids:
        return found
    return _difference_of_vocabularies(first, second, terms)


def difference_on_texts(
    first: Tokenizer, second: Tokenizer, texts: Iterable[str | bytes], terms: Terms
) -> Difference | None:
    """Return the first difference on these texts."""
    views = _views(first, terms)
    for text in texts:
        for what, view in views:
            if _differs(first, second, text, view, terms):
                return _small(first, second, text, (what, view), terms)
    return None


def _views(first: Tokenizer, terms: Terms) -> list[tuple[str, View]]:
    """List the ways to compare a text, each with its name."""
    allowed: Allowed = "all" if terms.has_special_tokens else [*first.special_tokens]
    what = "ids" if terms.has_ids else "tokens"
    call: View = CoreTokenizer.encode if terms.has_ids else CoreTokenizer.tokenize
    special = partial(call, allowed_special=allowed)
    whole = partial(call, allowed_special=allowed, add_special_tokens=True)
    rows: list[tuple[str, View]] = [(what, call), (what, special), (what, whole)]
    if not terms.has_decoded_text:
        return rows
    if not terms.has_ids:
        return [*rows, ("decoded text", _ordinary)]
    skips = [False, True] if terms.has_special_tokens else [True]
    decoded = (
        partial(_decoded, allowed=allowed, skip_special_tokens=skip) for skip in skips
    )
    return [*rows, *(("decoded text", view) for view in decoded)]


def _decoded(
    tokenizer: Tokenizer,
    text: str | bytes,
    allowed: Allowed,
    *,
    skip_special_tokens: bool,
) -> str:
    ids = tokenizer.encode(text, allowed_special=allowed)
    return tokenizer.decode(ids, skip_special_tokens=skip_special_tokens)


def _ordinary(tokenizer: Tokenizer, text: str | bytes) -> str:
    """Return the decoded text of a text; the format may have lost some of its units."""
    return tokenizer.decode(tokenizer.encode(text))


def _differs(
    first: Tokenizer, second: Tokenizer, text: str | bytes, view: View, terms: Terms
) -> bool:
    here, there = _outcome(view, first, text), _outcome(view, second, text)
    if here == there or (view is _ordinary and isinstance(there, Refusal)):
        return False
    if terms.has_normal_texts and not is_normalized_alike(first, second, text):
        return False
    return terms.has_refusals or is_encodable(first, text)


def is_normalized_alike(first: Tokenizer, second: Tokenizer, text: str | bytes) -> bool:
    """Whether two tokenizers normalize a text to the same text."""
    here, there = _pieces(first, text), _pieces(second, text)
    if here is None or there is None:
        return here == there
    return b"".join(here) == b"".join(there)


def _small(
    first: Tokenizer,
    second: Tokenizer,
    text: str | bytes,
    shown: tuple[str, View],
    terms: Terms,
) -> Difference:
    what, view = shown
    if isinstance(text, bytes):  # part of a character
        outcomes = _outcome(view, first, text), _outcome(view, second, text)
        return Difference(what, repr(text), *outcomes)
    small = shrink(text, lambda text: _differs(first, second, text, view, terms))
    outcomes = _outcome(view, first, small), _outcome(view, second, small)
    return Difference(what, small, *outcomes, is_drift=_is_drift(first, second, small))


def is_encodable(tokenizer: Tokenizer, text: str | bytes) -> bool:
    """Whether a text has ids, with special tokens recognised and without."""
    encode = CoreTokenizer.encode
    views = (encode, partial(encode, allowed_special="all"))
    encoded = (_outcome(view, tokenizer, text) for view in views)
    return not any(isinstance(outcome, Refusal) for outcome in encoded)


class Refusal(str):
    """The error that a tokenizer raises in place of an answer."""

    __slots__ = ()


def _outcome(view: View, tokenizer: Tokenizer, text: str | bytes) -> Any:  # noqa: ANN401 -- any view's
    try:
        return view(tokenizer, text)
    except TokenizerError as error:
        return Refusal(f"{type(error).__name__}: {error}")


def _is_drift(first: Tokenizer, second: Tokenizer, text: str) -> bool:
    """Whether versions of Unicode explain a difference, and nothing else does.

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


def _pieces(tokenizer: Tokenizer, text: str | bytes) -> list[bytes] | None:
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
    added = {} if terms.has_special_tokens else second.special_tokens
    for what, (here, there) in pairs.items():
        kept = {k: v for k, v in there.items() if k in here or k not in added}
        if here != kept:
            return Difference(what, None, _only(here, kept), _only(kept, here))
    return None


def _only(here: dict[str, int], there: dict[str, int]) -> dict[str, int]:
    """Return the entries that the second dictionary does not have, ordered by id."""
    entries = here.items() - there.items()
    return dict(sorted(entries, key=lambda entry: (entry[1], entry[0])))


def _short(value: object) -> str:
    return shortened(ascii(value) if not isinstance(value, str) else repr(value))


def shortened(text: str, n_characters: int = 400) -> str:
    """Cut a long text, and add its length."""
    if len(text) <= n_characters:
        return text
    return f"{text[:n_characters]}… ({len(text)} characters)"
