"""What programs that serve models ask for: the calls of this project, and a table beside what they replace.

The ids of a call are those of the same text encoded at once, or those of all tokens looked at one by one.
"""

import functools
import itertools
from collections.abc import Callable, Iterator
from typing import Any

from bytepair import Tokenizer, serving

from .engines import Work
from .runner import Row

ENDINGS = ("a", " ", "\n", "\r\n", "1", "'", "é", "中", "\u0301", "  a", "<")
"""What is appended to a text to see that its stable ids stay."""


def _append(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """Append turns to a chat."""
    session = tokenizer.session(texts[0])
    return Work(session.append, texts[1:], lambda: [session.ids])


def _whole_chat(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """Encode the chat and its turns anew."""
    whole = "".join(texts)
    encode = tokenizer.encode_to_numpy
    return Work(encode, [whole] * 3, lambda: [encode(whole)])


def _segments(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """Encode texts that are one segment each."""

    def encode(segments: list[tuple[str, bool]]) -> list[int]:
        return serving.encode_segments(tokenizer, segments).ids

    return Work(encode, [[(text, False)] for text in texts])


def _is_canonical(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """See that ids of texts are canonical."""
    rows = list(map(tokenizer.encode_to_numpy, texts))
    check = functools.partial(serving.is_canonical, tokenizer)
    return Work(check, rows, lambda: filter(check, rows))


def _stable_prefix(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """Count ids that no continuation can change; they are taken from longer texts."""
    encode = tokenizer.encode_to_numpy
    count = functools.partial(serving.stable_prefix, tokenizer)
    counts = list(map(count, texts))

    def ids() -> Iterator[Any]:
        for text, ending, n_stable in zip(texts, ENDINGS, counts, strict=False):
            yield encode(text + ending)[:n_stable]
            yield encode(text)[n_stable:]

    return Work(count, texts, ids, sum(counts))


def _trie(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """Make a byte trie, and find the tokens that begin with the words of a text."""
    table = serving.TokenBytes(tokenizer)
    n_bytes = sum(part.nbytes for part in table.trie)
    words = [word.encode() for word in texts[0].split()]
    ids = functools.partial(map, table.with_prefix, words)
    return Work(lambda _: serving.TokenBytes(tokenizer).trie, [None], ids, n_bytes)


def _tokens(tokenizer: Tokenizer, texts: list[str]) -> Work:
    """List the bytes of all tokens, and look at each for every word."""
    words = [word.encode() for word in texts[0].split()]
    tokens = list(serving.TokenBytes(tokenizer))
    ids = (
        [id_ for id_, token in enumerate(tokens) if token.startswith(word)]
        for word in words
    )
    return Work(lambda _: list(serving.TokenBytes(tokenizer)), [None], lambda: ids)


CALLS: dict[str, Callable[[Tokenizer, list[str]], Work]] = {
    "append": _append,
    "encode": lambda tokenizer, texts: Work(tokenizer.encode, texts),
    "encode_segments": _segments,
    "encode_to_numpy": lambda tokenizer, texts: Work(tokenizer.encode_to_numpy, texts),
    "is_canonical": _is_canonical,
    "stable_prefix": _stable_prefix,
    "tokens": _tokens,
    "trie": _trie,
    "whole_chat": _whole_chat,
}
"""What an engine such as ``bytepair append`` calls."""


# Tables


def table(wanted: dict[str, Any], rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Give the columns and lines of a table, by CPU time: what was measured, what stands beside it, and the bound."""
    lines = []
    own = {grid["engines"][0] for grid in wanted["grid"]}
    for case, found in itertools.groupby(rows, key=lambda row: row.case):
        bounds = wanted["bounds"].get(case.partition(",")[0], {})
        groups = [list(g) for _, g in itertools.groupby(found, lambda row: row.phase)]
        if "share" in bounds:
            groups = [min(groups, key=lambda group: _share(group[0]))]
        for ours, *others in groups:
            if ours.engine not in own:  # ours failed, and has no rows
                continue
            kind = ours.phase.rpartition(" ")[2]
            name = f"{case}, {ours.phase}".removesuffix(" median")
            shown = SIZES[kind](ours) if kind in SIZES else _times(ours, others)
            lines.append([name, *shown, bounds.get(kind, "")])
    return ["", "bytepair", "beside it", "ratio", "bound"], lines


def _times(ours: Row, others: list[Row]) -> list[str]:
    """Write what ours and others take, and the ratios of theirs to ours."""
    beside = (
        f"{row.engine.removeprefix('bytepair ')} {_time(row.cpu.median)}"
        for row in others
    )
    ratios = (_short(row.cpu.median / ours.cpu.median) for row in others)
    return [_time(ours.cpu.median), "; ".join(beside), "; ".join(ratios)]


def _share(row: Row) -> float:
    return row.n_bytes / row.n_results


SIZES: dict[str, Callable[[Row], list[str]]] = {
    "memory": lambda row: [f"{row.n_bytes / 1e6:.1f} MB", "", ""],
    "share": lambda row: [f"{100 * _share(row):.3f} %", "", ""],
}
"""Phases of which the size is shown, not the time."""


def _time(seconds: float) -> str:
    if seconds >= 0.001:
        return f"{_short(seconds * 1e3)} ms"
    return f"{_short(seconds * 1e6)} µs"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
