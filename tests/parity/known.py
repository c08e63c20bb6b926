"""Differences that are the other library's fault, each documented and told by what causes it.

They are counted in a column of their own. A predicate looks at the text and both answers,
never at the name of a file; ``docs/explanation/offsets.md`` says why each is a fault. What
no predicate explains is a difference.
"""

import contextlib
import json
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from .libraries import HuggingFace, Library

__all__ = ["REASONS", "reason"]

Sides = tuple[Any, Any]
"""What the other library says, and what bytepair says."""

Predicate = Callable[[Library, str, str, Sides], bool]
UNKNOWN = "\ue000unknown\ue000"


def texts_of(text: str, view: str) -> tuple[str, ...]:
    """Give the texts of a view: for a pair, the halves."""
    half = len(text) // 2
    return (text[:half], text[half:]) if view.startswith("pair") else (text,)


def units_left_out(theirs: Library, text: str, view: str, sides: Sides) -> bool:
    """``tokenizers`` moves spans to the left behind units that it leaves out.

    Given a token for such units, it spans all others rightly: those spans must be ours. Where
    that token keeps neighbours from merging, or is cut off, nothing more can be asked; nor of
    tokens whose spaces are trimmed, since how depends on their place in the row.
    """
    expected, given = sides
    if not view.endswith("offsets") or not isinstance(theirs, HuggingFace):
        return False
    other = _with_unknown(theirs)
    if other is None or len(expected) != len(given):
        return False
    pair = texts_of(text, view)
    found = other.encode(*pair, add_special_tokens=view != "offsets")
    spans = list(zip(found.tokens, found.offsets, strict=True))
    kept = [(token, span) for token, span in spans if token != UNKNOWN]
    if len(kept) == len(spans):
        return False
    plain = theirs.full if view != "offsets" else theirs.plain
    tokens = plain.encode(*pair, add_special_tokens=view != "offsets").tokens
    if [token for token, _ in kept] != tokens:
        return True
    is_trimmed = '"trim_offsets":true' in theirs.full.to_str()
    return all(
        span == ours
        or (is_trimmed and len(token.replace("\u0120", " ").strip()) < len(token))
        for (token, span), ours in zip(kept, given, strict=True)
    )


@lru_cache(maxsize=1)
def _with_unknown(theirs: HuggingFace) -> Any:
    """Make the same tokenizer with a token for unknown units, if it has none."""
    import tokenizers

    whole = json.loads(theirs.full.to_str())
    if whole["model"].get("unk_token") is not None:
        return None
    vocabulary = whole["model"]["vocab"]
    vocabulary[UNKNOWN] = max(vocabulary.values(), default=-1) + 100_000
    whole["model"]["unk_token"] = UNKNOWN
    whole["model"]["fuse_unk"] = False
    whole["truncation"] = whole["padding"] = None
    return tokenizers.Tokenizer.from_str(json.dumps(whole))


def marks_spelled_out(theirs: Library, text: str, view: str, sides: Sides) -> bool:
    """``tokenizers`` counts each byte of a mark that byte fallback spells out as one of the text."""
    expected, given = sides
    if not view.endswith("offsets") or not isinstance(theirs, HuggingFace):
        return False
    marks = _marks(theirs)
    pair = texts_of(text, view)
    row = "".join(theirs.plain.encode(*pair, add_special_tokens=False).tokens)
    return len(expected) == len(given) and any(mark in row for mark in marks)


@lru_cache(maxsize=1)
def _marks(theirs: HuggingFace) -> list[str]:
    """Spell the marks of a model as byte fallback does, if it does."""
    model = json.loads(theirs.full.to_str())["model"]
    names = ("continuing_subword_prefix", "end_of_word_suffix")
    marks = [model.get(name) for name in names if model.get("byte_fallback")]
    return [
        "".join(f"<0x{byte:02X}>" for byte in mark.encode()) for mark in marks if mark
    ]


def padding_without_template(
    theirs: Library, text: str, view: str, sides: Sides
) -> bool:
    """``tokenizers`` says of padding that it is of the text, where the file has no template."""
    expected, given = sides
    if not view.endswith("sequence_ids") or not isinstance(theirs, HuggingFace):
        return False
    pair = texts_of(text, view)
    counts = theirs.full.encode(*pair).attention_mask
    rows = zip(expected, given, counts, strict=False)
    is_same = (here == there if count else there is None for here, there, count in rows)
    return len(expected) == len(given) == len(counts) and all(is_same)


def special_tokens_of_pieces(
    theirs: Library, text: str, view: str, sides: Sides
) -> bool:
    """``tokenizers`` takes a whole piece for a special token that it did not find there.

    Only where ``ignore_merges`` is set, and the piece was another text before normalizing.
    """
    if not isinstance(theirs, HuggingFace) or view in ("decode", "skip", "bytes"):
        return False
    if '"ignore_merges":true' not in theirs.full.to_str():
        return False
    added = theirs.full.get_added_tokens_decoder().values()
    specials = {token.content for token in added if token.special}
    for part in texts_of(text, view):
        found = theirs.plain.encode(part, add_special_tokens=False)
        for token, (start, end) in zip(found.tokens, found.offsets, strict=True):
            if token in specials and token not in part[start:end]:
                return True
    return False


REASONS: dict[str, Predicate] = {
    "special tokens of pieces": special_tokens_of_pieces,
    "units left out": units_left_out,
    "marks spelled out": marks_spelled_out,
    "padding without template": padding_without_template,
}


def reason(theirs: Library, text: str, view: str, sides: Sides) -> str | None:
    """Name the documented reason for a difference, or ``None`` if there is none."""
    for name, is_meant in REASONS.items():
        with contextlib.suppress(Exception):  # its truncation refuses some texts
            if is_meant(theirs, text, view, sides):
                return name
    return None
