"""Count where two libraries differ, and keep the first difference of each kind, small.

A check gives for a text all views on which the sides differ. Views are grouped into the
columns of the table: ``ids``, ``tokens``, ``offsets``, ``decode`` (both ways, and bytes),
``special`` (with template, truncation and padding), ``pairs`` and ``errors`` (ours alone
refuses a text). A difference with a documented reason (``known``) is counted apart. A text that the publisher's library itself cannot encode counts as skipped.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from bytepair.analyze._compare.shrinking import shrink

from .known import reason
from .libraries import Library, Views

__all__ = ["COLUMNS", "Difference", "Tally", "compare_ids", "compare_texts"]

COLUMNS = ["ids", "tokens", "offsets", "decode", "special", "pairs", "errors"]
IDS_VIEWS = ("ids", "ordinary", "segmented", "offset ids")
MAX_DEEP_LEN = 20_000
KNOWN = "known"

Differences = dict[str, Any]
"""By view, what the sides say; under ``KNOWN`` the reasons for differences that are explained."""


class Difference(NamedTuple):
    """A small text on which two libraries differ, and what each says."""

    view: str
    text: str
    theirs: Any
    ours: Any


class Tally:
    """What became of the texts of one vocabulary."""

    def __init__(self) -> None:
        self.n_texts = 0
        self.n_skipped = 0
        self.counts: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        """How often a documented reason explained a difference."""
        self.compared: set[str] = set()
        self.first: dict[str, Difference] = {}


def compare_texts(
    theirs: Library, ours: Library, texts: Iterable[str], deep_every: int = 1
) -> Tally:
    """Compare texts; every ``deep_every``-th of them with specials and as a pair too."""
    tally = Tally()
    for number, text in enumerate(texts):
        deep = number % deep_every == 0 and len(text) < MAX_DEEP_LEN
        tally.n_texts += 1
        _add(tally, check_text, theirs, ours, text, deep)
    return tally


def compare_ids(theirs: Library, ours: Library, n_lists: int, seed: int) -> Tally:
    """Compare what random ids decode to."""
    tally = Tally()
    known = sorted((theirs.vocabulary() or ours.vocabulary() or {}).values())
    chance = random.Random(seed)
    for _ in range(n_lists if known else 0):
        ids = chance.choices(known, k=chance.randint(1, 9))
        tally.n_texts += 1
        _add(tally, check_ids, theirs, ours, " ".join(map(str, ids)), deep=True)
    return tally


Check = Callable[[Library, Library, str, bool, "set[str] | None"], "Differences | None"]


def _add(
    tally: Tally, check: Check, theirs: Library, ours: Library, text: str, deep: bool
) -> None:
    found = check(theirs, ours, text, deep, tally.compared)
    if found is None:
        tally.n_skipped += 1
        return
    tally.known.update(found.pop(KNOWN, ()))
    for column in {column_of(view) for view in found}:
        tally.counts[column] += 1
    for view in found:
        if column_of(view) not in {column_of(known) for known in tally.first}:
            tally.first[view] = _small(check, theirs, ours, text, view, deep)


def _small(
    check: Check, theirs: Library, ours: Library, text: str, view: str, deep: bool
) -> Difference:
    def fails(smaller: str) -> bool:
        return view in (check(theirs, ours, smaller, deep, None) or {})

    small = shrink(text, fails, n_tries=300 if len(text) > 5000 else 1500)
    found = check(theirs, ours, small, deep, None) or {}
    return Difference(view, small, *found[view])


def column_of(view: str) -> str:
    """Say under which column of the table a view is counted.

    >>> column_of("pair: offsets"), column_of("ordinary"), column_of("skip")
    ('pairs', 'ids', 'decode')
    """
    if view.startswith("error"):
        return "errors"
    if view.startswith("pair"):
        return "pairs"
    if view.startswith("special"):
        return "special"
    if view in IDS_VIEWS:
        return "ids"
    return "decode" if view in ("decode", "skip", "bytes") else view


def check_text(
    theirs: Library,
    ours: Library,
    text: str,
    deep: bool,
    compared: "set[str] | None",
) -> "Differences | None":
    """Give the views of a text on which the sides differ; ``None`` if theirs fails."""
    half = len(text) // 2
    calls = [("", lambda side: side.encode(text))]
    if deep:
        calls.append(("special: ", lambda side: side.encode_special(text)))
    if deep and len(text) <= theirs.max_pair_len:
        calls.append(
            ("pair: ", lambda side: side.encode_pair(text[:half], text[half:]))
        )
    found: Differences = {}
    for prefix, call in calls:
        expected = _attempt(lambda call=call: call(theirs))
        if expected is None:
            return None if not prefix else found
        differing = _differing(prefix, expected, lambda call=call: call(ours), compared)
        explained = _explained(theirs, text, differing)
        found |= differing
        if explained:
            found[KNOWN] = [*found.get(KNOWN, ()), *explained]
        ids = expected.get("ids", expected.get("ordinary"))
        if ids is not None and not prefix:
            found |= check_decoding(theirs, ours, ids, compared)
    return found


def _explained(theirs: Library, text: str, differing: Differences) -> list[str]:
    """Take out of the differences those with a documented reason."""
    reasons = []
    for view, sides in list(differing.items()):
        known = reason(theirs, text, view, sides)
        if known is not None:
            reasons.append(known)
            del differing[view]
    return reasons


def check_ids(
    theirs: Library,
    ours: Library,
    text: str,
    deep: bool,
    compared: "set[str] | None",
) -> "Differences | None":
    """Check ids, written as numbers, so that they shrink as a text does."""
    known = set((ours.vocabulary() or {}).values()) if compared is None else None
    words = [word for word in text.split(" ") if word.isdecimal() and word.isascii()]
    ids = [int(word) for word in words]
    if known is not None:
        ids = [id_ for id_ in ids if id_ in known]
    return check_decoding(theirs, ours, ids, compared)


def check_decoding(
    theirs: Library, ours: Library, ids: list[int], compared: "set[str] | None"
) -> Differences:
    """Give the ways of decoding in which the sides differ."""
    expected = _attempt(lambda: theirs.decode(ids))
    if expected is None:
        return {}
    return _differing("", expected, lambda: ours.decode(ids), compared)


def _differing(
    prefix: str, expected: Views, call: Callable[[], Views], compared: "set[str] | None"
) -> Differences:
    if not expected:
        return {}
    try:
        given = call()
    except Exception as error:
        return {
            f"error {prefix}": (_first(expected), f"{type(error).__name__}: {error}")
        }
    found = {}
    if "offset ids" in given:
        expected = {
            **expected,
            "offset ids": expected.get("ids", expected.get("ordinary")),
        }
    if "full ids" in given:
        expected = {**expected, "full ids": expected.get("ids")}
    for view in [view for view in expected if view in given]:
        if compared is not None:
            compared.add(column_of(prefix + view))
        if expected[view] != given[view]:
            found[prefix + view] = (expected[view], given[view])
    return found


def _first(views: Views) -> Any:
    return next(iter(views.values()), None)


def _attempt(call: Callable[[], Views]) -> "Views | None":
    """Call a publisher's library, whose panics are no ``Exception``."""
    try:
        return call()
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:
        return None
