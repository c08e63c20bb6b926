"""What prevents a tokenizer from extending another: ids, merges, added tokens, and all other parts.

Each function yields the faults that it finds. Left out: texts; see ``joining``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .comparing import MergePairing, compare_added
from .pairing import merge_name, token_names
from .verifying import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bytepair._tokenizer import Tokenizer

    from .comparing import AddedComparison, MergeAt
    from .pairing import Pairing

__all__ = [
    "Case",
    "Fault",
    "added_faults",
    "fault_of",
    "id_faults",
    "listed",
    "merge_faults",
    "other_parts",
    "part_faults",
]

MAX_NAMED = 5

NO_PARTS = {"tokens", "merges", "merge_counts", "priorities", "added_tokens"}
"""What a ``.bytepair`` file holds besides parts; it is compared on its own."""
NAMES = {"normalizer": "normalize", "rounds": "split"}
"""What a description calls parts that it names differently."""


@dataclass(frozen=True)
class Case:
    """One case of a fault: the name of a token, merge or part, or a text, and what it is in both tokenizers.

    ``None`` if a tokenizer does not have it.
    """

    name: str
    base: Any
    new: Any


@dataclass(frozen=True)
class Fault:
    """One way in which a tokenizer does not extend another.

    Attributes
    ----------
    about
        What is wrong: ``"file"``, ``"ids"``, ``"merges"``, ``"added tokens"``,
        ``"parts"``, ``"new tokens"``, ``"texts"`` or ``"tokenizers"``.
    message
        What was found, with the first cases.
    cases
        All cases.
    """

    about: str
    message: str
    cases: tuple[Case, ...] = ()


def listed(shown: Sequence[str]) -> str:
    """List the first cases, and count the others.

    >>> listed(["a", "b"]), listed([*"abcdefg"])
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    named = ", ".join(shown[:MAX_NAMED])
    n_more = len(shown) - MAX_NAMED
    return f"{named} and {n_more:,} more" if n_more > 0 else named


def fault_of(about: str, what: str, cases: Iterable[Case]) -> Iterator[Fault]:
    """Yield a fault if there are cases, with what is wrong and the first of them."""
    cases = tuple(cases)
    if cases:
        shown = listed([_shown(case) for case in cases])
        yield Fault(about, f"{what}: {shown}", cases)


def _shown(case: Case) -> str:
    """Write a case: a name, and the numbers or words of both tokenizers.

    >>> _shown(Case("'low'", 256, 257)), _shown(Case("'low'", 1256, None))
    ("'low' 256 → 257", "'low' 1,256")
    """
    values = (value for value in (case.base, case.new) if value is not None)
    texts = (f"{v:,}" if isinstance(v, int) else str(v) for v in values)
    return f"{case.name} {' → '.join(texts)}".rstrip()


def id_faults(pairing: Pairing) -> Iterator[Fault]:
    """Find the tokens of the base that have another id or are missing."""
    names = token_names(pairing.tokenizers[0], [old for old, _ in pairing.moved])
    cases = [
        Case(name, old, new)
        for name, (old, new) in zip(names, pairing.moved, strict=True)
    ]
    moved = (case for case in cases if case.new is not None)
    yield from fault_of("ids", "moved", moved)
    gone = (case for case in cases if case.new is None)
    yield from fault_of("ids", "missing", gone)


def merge_faults(pairing: Pairing) -> Iterator[Fault]:
    """Find merges of the base that are missing, in another order, or not the first.

    A merge with a new part may have any rank: it can follow only once that part was made. Formats that
    merge any split of a token give such merges the rank of that token.
    """
    merges = MergePairing(pairing)
    base, new = merges.first, merges.second
    missing = [
        _merge_case(merge, merge.rank, None)
        for pair, merge in base.items()
        if pair not in new
    ]
    misplaced = [
        _merge_case(base[pair], base[pair].rank, new[pair].rank)
        for pair in merges.misplaced
    ]
    last = max((new[pair].rank for pair in merges.common), default=-1)
    known = pairing.ids[0]
    early = [
        _merge_case(merge, None, merge.rank)
        for pair, merge in new.items()
        if pair not in base
        and merge.rank <= last
        and pair[0] in known
        and pair[1] in known
    ]
    yield from fault_of("merges", "missing", missing)
    yield from fault_of("merges", "in another order", misplaced)
    yield from fault_of("merges", "new, but before those of the base", early)


def _merge_case(merge: MergeAt, base_rank: int | None, new_rank: int | None) -> Case:
    name = merge_name(merge.left, merge.right)
    return Case(f"{name} rank", base_rank, new_rank)


def added_faults(pairing: Pairing) -> Iterator[Fault]:
    """Find added tokens of the base that changed or are gone, and old tokens that became added tokens."""
    base, new = pairing.tokenizers
    has_normalizer = any(
        one.inspect().description["normalize"] != "nothing" for one in (base, new)
    )
    cases = [
        Case(repr(token.content), *token.sides())
        for token in compare_added(base, new)
        if _is_fault(token, pairing, has_normalizer=has_normalizer)
    ]
    yield from fault_of("added tokens", "changed", cases)


def _is_fault(
    token: AddedComparison, pairing: Pairing, *, has_normalizer: bool
) -> bool:
    if token.second is None:
        return True
    if token.first is None:
        return pairing.old_of[token.second_id] >= 0  # type: ignore[index]
    changed = {*token.changed_properties()}
    return bool(changed if has_normalizer else changed - {"normalized"})


def other_parts(base: Tokenizer, new: Tokenizer) -> list[str]:
    """Name the parts that two formats describe differently."""
    return [NAMES.get(name, name) for name, *_values in _changed_parts(base, new)]


def part_faults(base: Tokenizer, new: Tokenizer) -> Iterator[Fault]:
    """Find parts of the base that were changed."""
    lines = base.inspect().description, new.inspect().description
    cases = []
    for part, before, after in _changed_parts(base, new):
        name = NAMES.get(part, part)
        told = [one.get(name, "none") for one in lines]
        if told[0] == told[1]:
            told = [json.dumps(value, ensure_ascii=False) for value in (before, after)]
        cases.append(Case(name, *map(shortened, told)))
    yield from fault_of("parts", "changed", cases)


def _changed_parts(base: Tokenizer, new: Tokenizer) -> Iterator[tuple[str, Any, Any]]:
    """Compare all parts, as bytepair's own format holds them."""
    before, after = (json.loads(one.to_bytes(format="bytepair")) for one in (base, new))
    for name in before:
        if name not in NO_PARTS and before[name] != after[name]:
            yield name, before[name], after[name]
