"""What a tokenizer must have in common with its base: ids, merges, added tokens, and all other parts.

Each function yields the faults that it finds. Left out: texts; see ``_coarsening``.
"""

from __future__ import annotations

import bisect
import itertools
import json
from typing import TYPE_CHECKING, Any

from bytepair import _core

from ._faults import Fault, listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair._tokenizer import Tokenizer

    from ._pairing import Pairing

__all__ = [
    "added_faults",
    "id_faults",
    "merge_faults",
    "names_of",
    "other_parts",
    "part_faults",
    "shown",
]

Merge = tuple[int, int, int]
Row = tuple[Merge, int | None, int | None]
"""A merge of tokens of the base, with its rank there and its rank now."""

FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")

PARTS = {
    "normalizer": ("normalizer", "normalize"),
    "rounds": ("split pattern", "split"),
    "units": ("kind of units", "units"),
    "ignore_merges": ("setting ignore_merges", None),
    "dropout": ("dropout of merges", None),
    "decode": ("decoder", "decode"),
    "template": ("template around a text", "template"),
    "truncation": ("truncation", None),
    "padding": ("padding", None),
    "offsets": ("setting of offsets", None),
    "unicode": ("version of Unicode", None),
}
"""The parts of a tokenizer besides its tokens and merges: their names for a reader, and the lines of the
description that describe them.
"""


def names_of(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    """Write tokens as Hugging Face files do."""
    return [token.written for token in tokenizer.inspect().tokens(list(ids))]


def shown(tokenizer: Tokenizer, ids: Iterable[int]) -> list[str]:
    """Write tokens for a reader: those of bytes as their text, if they are whole characters."""
    is_bytes = tokenizer.inspect().settings["is_bytes"]
    names = []
    for token in tokenizer.inspect().tokens(list(ids)):
        is_marked = token.continues or token.ends
        is_whole = "\N{REPLACEMENT CHARACTER}" not in token.text
        is_plain = is_bytes and not is_marked and is_whole
        names.append(repr(token.text if is_plain else token.written))
    return names


def id_faults(pairing: Pairing) -> Iterator[Fault]:
    """Find the tokens of the base that have another id, or are gone."""
    gone = [(old, None) for old, new in pairing.moved if new is None]
    moved = [(old, new) for old, new in pairing.moved if new is not None]
    if moved:
        have = "token has" if len(moved) == 1 else "tokens have"
        yield _of_tokens(pairing.base, f"{len(moved):,} {have} another id", moved)
    if gone:
        are = "token is" if len(gone) == 1 else "tokens are"
        yield _of_tokens(pairing.base, f"{len(gone):,} {are} gone", gone)


def _of_tokens(
    base: Tokenizer, message: str, ids: Sequence[tuple[int, int | None]]
) -> Fault:
    olds = [old for old, _ in ids]
    rows = [
        f"{name} {old:,}" + ("" if new is None else f" → {new:,}")
        for name, (old, new) in zip(shown(base, olds), ids, strict=True)
    ]
    cases = (
        {"token": name, "base_id": old, "id": new}
        for name, (old, new) in zip(names_of(base, olds), ids, strict=True)
    )
    return Fault("ids", f"{message}: {listed(rows)}", tuple(cases))


def merge_faults(pairing: Pairing) -> Iterator[Fault]:
    """Find merges of the base that are missing, in another order, or not the first.

    A merge with a new part may have any rank: it can follow only once that part was made. Formats that
    merge any split of a token give such merges the rank of that token.
    """
    base, new = _ranked(pairing.base), _ranked(pairing.new)
    if new[: len(base)] == base and not pairing.moved:
        last = base[-1][1] if base else -1
        if all(rank > last for _, rank in new[len(base) :]):
            return
    old_of = pairing.old_of
    # By ids of the base; a new result has its new id, made negative so that it is no old one.
    kept: dict[Merge, int] = {}
    for merge, rank in new:
        left, right, made = (old_of[id_] for id_ in merge)
        if left >= 0 and right >= 0:
            result = made if made >= 0 else -1 - merge[2]
            kept.setdefault((left, right, result), rank)
    missing = [(merge, rank, None) for merge, rank in base if merge not in kept]
    found = [(merge, rank, kept[merge]) for merge, rank in base if merge in kept]
    last = max((new_rank for *_, new_rank in found), default=-1)
    old = {merge for merge, _ in base}
    early = [
        (merge, None, rank)
        for merge, rank in kept.items()
        if merge not in old and rank <= last
    ]
    wrong = _misplaced(found)
    for rows, one, several in (
        (missing, "merge of the base is missing", "merges of the base are missing"),
        (
            wrong,
            "merge of the base has another place in the order",
            "merges of the base have another place in the order",
        ),
        (
            early,
            "new merge comes before those of the base",
            "new merges come before those of the base",
        ),
    ):
        if rows:
            what = one if len(rows) == 1 else several
            yield _of_merges(pairing.base, f"{len(rows):,} {what}", rows)


def _ranked(tokenizer: Tokenizer) -> list[tuple[Merge, int]]:
    """List the merges with their ranks, which several may share.

    If a pair is listed twice, the last place counts, as in Hugging Face's library.
    """
    merges = tokenizer.inspect().merge_log
    ranks = tokenizer.inspect().settings["priorities"] or range(len(merges))
    by_pair: dict[tuple[int, int], tuple[Merge, int]] = {}
    for merge, rank in zip(merges, ranks, strict=True):
        by_pair.pop(merge[:2], None)
        by_pair[merge[:2]] = merge[:3], rank
    return list(by_pair.values())


def _misplaced(found: Sequence[tuple[Merge, int, int]]) -> list[tuple[Merge, int, int]]:
    """Choose the fewest merges of the base without which the others are in the same order."""
    in_order = set(_longest_rise([rank for *_, rank in found]))
    wrong = [row for place, row in enumerate(found) if place not in in_order]
    ordered = [row for place, row in enumerate(found) if place in in_order]
    wrong += [
        row
        for before, row in itertools.pairwise(ordered)
        if (before[1] == row[1]) != (before[2] == row[2])
    ]
    return wrong


def _longest_rise(ranks: list[int]) -> list[int]:
    """Give the places of the most ranks that do not fall.

    >>> _longest_rise([0, 9, 1, 2, 2, 8])
    [0, 2, 3, 4, 5]
    """
    ends: list[int] = []  # by length: the least last rank, and its place
    places: list[int] = []
    before: list[int] = []
    for place, rank in enumerate(ranks):
        n = bisect.bisect_right(ends, rank)
        before.append(places[n - 1] if n else -1)
        ends[n : n + 1] = [rank]
        places[n : n + 1] = [place]
    found = []
    place = places[-1] if places else -1
    while place >= 0:
        found.append(place)
        place = before[place]
    return found[::-1]


def _of_merges(base: Tokenizer, message: str, rows: Sequence[Row]) -> Fault:
    """Report merges of tokens of the base, with their ranks there and now."""
    parts = [part for merge, *_ in rows for part in merge[:2]]
    names, shown_parts = names_of(base, parts), shown(base, parts)
    pairs = list(zip(names[::2], names[1::2], strict=True))
    texts = [
        f"{left} + {right} (rank {' → '.join(f'{r:,}' for r in ranks if r is not None)})"
        for left, right, (_, *ranks) in zip(
            shown_parts[::2], shown_parts[1::2], rows, strict=True
        )
    ]
    cases = (
        {"merge": list(pair), "base_rank": old, "rank": new}
        for pair, (_, old, new) in zip(pairs, rows, strict=True)
    )
    return Fault("merges", f"{message}: {listed(texts)}", tuple(cases))


def added_faults(pairing: Pairing) -> Iterator[Fault]:
    """Find added tokens of the base that changed or are gone, and old tokens that became added tokens."""
    base, new = pairing.base, pairing.new
    has_normalizer = any(
        one.inspect().description["normalize"] != "nothing" for one in (base, new)
    )
    found = {content: flags for _id, content, flags in _core.added_tokens(new)}
    cases = []
    for id_, content, flags in _core.added_tokens(base):
        now = found.get(content)
        if now is None:
            cases.append(
                (f"{content!r} is no longer one", {"token": content, "base_id": id_})
            )
            continue
        other = [
            f"{name} is {is_so}".lower()
            for name, was_so, is_so in zip(FLAGS, flags, now, strict=True)
            if was_so != is_so and (name != "normalized" or has_normalizer)
        ]
        if other:
            case = {"token": content, "base_id": id_, "flags": other}
            cases.append((f"{content!r}: {', '.join(other)}", case))
    known = {content for _id, content, _flags in _core.added_tokens(base)}
    old_of = pairing.old_of
    for id_, content, _flags in _core.added_tokens(new):
        if content not in known and old_of[id_] >= 0:
            case = {"token": content, "base_id": old_of[id_]}
            cases.append((f"{content!r} is one now", case))
    if cases:
        are = "added token is" if len(cases) == 1 else "added tokens are"
        message = f"{len(cases):,} {are} not as in the base: "
        message += listed([text for text, _ in cases])
        yield Fault("added tokens", message, tuple(case for _, case in cases))


def other_parts(base: Tokenizer, new: Tokenizer) -> list[str]:
    """Name the parts that the two formats describe differently."""
    before, after = _parts(base), _parts(new)
    names = (name for name in PARTS if before.get(name) != after.get(name))
    return [PARTS[name][0] for name in names]


def part_faults(base: Tokenizer, new: Tokenizer) -> Iterator[Fault]:
    """Find parts of the base that were changed."""
    before, after = _parts(base), _parts(new)
    lines = base.inspect().description, new.inspect().description
    for name, (label, line) in PARTS.items():
        if before.get(name) == after.get(name):
            continue
        told = [_short(one.get(line or "")) for one in lines]
        if told[0] == told[1]:
            told = [_short(part.get(name)) for part in (before, after)]
        message = f"the {label} differs: {told[1]}; in the base {told[0]}"
        case = {"part": name, "base": before.get(name), "now": after.get(name)}
        yield Fault("parts", message, (case,))


def _parts(tokenizer: Tokenizer) -> dict[str, Any]:
    """Read all parts, as bytepair's own format holds them."""
    parts: dict[str, Any] = json.loads(tokenizer.to_bytes(format="bytepair"))
    return {name: value for name, value in parts.items() if name in PARTS}


def _short(value: object, n_characters: int = 160) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= n_characters else f"{text[:n_characters]}…"
