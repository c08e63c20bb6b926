"""What the arguments of a call mean together: how long its rows become, and its texts.

Arguments are those of transformers; a combination that it refuses is refused here, with
what to do instead. Nothing is encoded.
"""

from collections.abc import Iterable, Mapping, Sequence, Set as AbstractSet
from typing import Any, Literal, NamedTuple, TypeAlias

from bytepair.errors import TokenizerError

__all__ = [
    "NO_LIMIT",
    "InputError",
    "Lengths",
    "Sample",
    "Side",
    "WordSample",
    "has_many",
    "padding_of",
    "samples",
    "truncation_of",
    "word_samples",
]

Side: TypeAlias = Literal["left", "right"]
Sample: TypeAlias = str | tuple[str, str]
WordSample: TypeAlias = tuple[list[str], list[str] | None]

NO_LIMIT = int(1e30)


class InputError(TokenizerError, TypeError):
    """What a call was given is no text; a ``TypeError`` and a ``ValueError``, as there."""


class Lengths(NamedTuple):
    """How long the rows of a call become."""

    truncation: str | None
    padding: str | None
    max_length: int | None
    stride: int
    multiple_of: int | None
    padding_side: Side | None


def samples(
    text: str | Sequence[str] | Sequence[Sequence[str]],
    text_pair: str | Sequence[str] | None,
) -> list[Sample]:
    """List what is to be encoded: texts, and pairs of texts."""
    if isinstance(text, str):
        if not (text_pair is None or isinstance(text_pair, str)):
            message = "one text, but many second texts; pass lists, or two texts"
            raise InputError(message)
        return [(text, text_pair)] if text_pair else [text]
    return [_sample(one) for one in _with_seconds(text, text_pair)]


def has_many(text: Any, *, is_words: bool) -> bool:  # noqa: ANN401 -- what a caller passed
    """Tell whether a call has a batch of texts; words are a list for one text already."""
    if isinstance(text, str):
        return False
    return not is_words or (bool(text) and not isinstance(text[0], str))


def word_samples(text: Any, text_pair: Any) -> list[WordSample]:  # noqa: ANN401
    """List the words of texts, and of pairs of texts.

    >>> word_samples(["a", "b"], None), word_samples([["a"], ["b"]], [["c"], ["d"]])
    ([(['a', 'b'], None)], [(['a'], ['c']), (['b'], ['d'])])
    """
    if not has_many(text, is_words=True):
        return [(_words(text), _words(text_pair) if text_pair else None)]
    return [_word_sample(one) for one in _with_seconds(text, text_pair)]


def _with_seconds(text: Sequence[Any], text_pair: Any) -> list[Any]:  # noqa: ANN401
    for one in (text, () if text_pair is None else text_pair):
        _check_many(one)
    if isinstance(text_pair, str):
        message = "many texts, but one second text; pass a second text for each"
        raise InputError(message)
    if text_pair is None:
        return list(text)
    firsts, seconds = list(text), list(text_pair)
    if len(firsts) != len(seconds):
        message = f"{len(firsts)} texts, but {len(seconds)} second texts"
        raise TokenizerError(message)
    return list(zip(firsts, seconds, strict=True))


def _check_many(texts: Any) -> None:  # noqa: ANN401 -- what a caller passed
    """Refuse what is no text and has none in an order: a set, a mapping, bytes, a number."""
    if isinstance(texts, (str, list, tuple)):
        return
    has_no_order = isinstance(texts, (AbstractSet, Mapping, bytes, bytearray))
    if has_no_order or not isinstance(texts, Iterable):
        message = f"expected a text, or a list of texts or of pairs, not {texts!r:.80}"
        raise InputError(message)


def _sample(text: Any) -> Sample:  # noqa: ANN401 -- what a caller passed
    """Take a text, or a list or tuple of two."""
    if isinstance(text, str):
        return text
    is_pair = isinstance(text, (list, tuple)) and len(text) == 2
    if is_pair and all(isinstance(one, str) for one in text):
        return text[0], text[1]
    message = f"expected a text or a pair of texts, not {text!r:.80}"
    raise InputError(message)


def _word_sample(text: Any) -> WordSample:  # noqa: ANN401 -- what a caller passed
    """Take the words of a text, or those of two."""
    if len(text) == 2 and not any(isinstance(one, str) for one in text):
        return _words(text[0]), _words(text[1])
    return _words(text), None


def _words(text: Any) -> list[str]:  # noqa: ANN401 -- what a caller passed
    _check_many(text)
    if isinstance(text, str) or not all(isinstance(word, str) for word in text):
        message = f"is_split_into_words: expected a list of words, not {text!r:.80}"
        raise InputError(message)
    return list(text)


def padding_of(padding: Any) -> str | None:  # noqa: ANN401 -- transformers' own
    """Read how to fill up: ``"longest"``, ``"max_length"``, or not."""
    padding = getattr(padding, "value", padding)
    if padding is None or padding is False or padding == "do_not_pad":
        return None
    if padding is True or padding in ("longest", "max_length"):
        return "longest" if padding is True else str(padding)
    message = (
        "padding must be True, False, 'longest', 'max_length' or 'do_not_pad', "
        f"not {padding!r}"
    )
    raise TokenizerError(message)


def truncation_of(truncation: Any) -> str | None:  # noqa: ANN401 -- transformers' own
    """Read which text is cut, or that none is."""
    truncation = getattr(truncation, "value", truncation)
    if truncation is None or truncation is False or truncation == "do_not_truncate":
        return None
    strategy = "longest_first" if truncation is True else str(truncation)
    if strategy in ("longest_first", "only_first", "only_second"):
        return strategy
    message = (
        "truncation must be True, False, 'longest_first', 'only_first', 'only_second' "
        f"or 'do_not_truncate', not {truncation!r}"
    )
    raise TokenizerError(message)
