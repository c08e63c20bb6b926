"""Parity between languages: groups that choose merges in turn, and parallel texts that say which is in need.

The core chooses (`train/parity.rs`); this module checks what a user gives, before any text is read.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

from bytepair import _core
from bytepair._expected import expect, expect_each
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair._ranges import check_range
from bytepair.errors import TrainingError

if TYPE_CHECKING:
    from bytepair.data._sources import Corpus

__all__ = ["Groups", "Parity", "groups_of", "refuse_without_order"]


@dataclass(frozen=True)
class Parity:
    """How languages choose merges in turn, so that all need about as many tokens; see :func:`train`.

    At each step one group of the corpus chooses its most frequent pair, which is merged in all
    groups. It is the group whose parallel text has the most tokens now; with ratios, the
    group that was shortened least relative to its ratio; with neither, the group with the longest
    corpus. A group is passed over if no pair occurs ``min_count`` times in it.

    Attributes
    ----------
    parallel
        For each group the same text in its language, in the order of the groups or by their
        names: a file for :func:`train` and :func:`train_from_counts`, a list of texts for
        :func:`train_from_iterator`. Their pairs are not counted, but their characters get ids.
    ratio
        For each group a number above 0: how many times shorter its text should become, relative
        to the others. Give either this or ``parallel``.
    window
        A group that made more than ``alpha`` times its equal share of the last ``window``
        choices waits, unless no other group has a pair.
    alpha
        See ``window``.
    global_merges
        How many of the first merges all groups choose together, by the sum of their counts.

    Examples
    --------
    >>> import bytepair
    >>> texts = {"en": ["low lower lowest"] * 9, "fa": ["کم کمتر کمترین"] * 2}
    >>> tokenizer = bytepair.train_from_iterator(
    ...     texts,
    ...     merges=8,
    ...     dialect="unknown-token",
    ...     parity=bytepair.Parity(ratio=[1, 1]),
    ... )
    >>> [left + right for left, right in tokenizer.merges[:4]]
    ['lo', 'کم', 'low', 'کمت']
    """

    parallel: Sequence[Any] | Mapping[str, Any] | None = None
    ratio: Sequence[float] | Mapping[str, float] | None = None
    window: int | None = None
    alpha: float = 2.0
    global_merges: int = 0


@dataclass(frozen=True)
class Groups:
    """The names of groups, their parallel texts, and the settings of parity as the core takes them."""

    names: list[str]
    parallel: list[Corpus] = field(default_factory=list)
    parity: tuple[list[float] | None, int | None, float, int] | None = None

    @property
    def n_corpora(self) -> int:
        """The number of corpora to count: those of the groups, then the parallel texts."""
        return len(self.names) + len(self.parallel)

    def name(self, place: int) -> str:
        """Return how a message names a corpus."""
        n_groups = len(self.names)
        if place < n_groups:
            return f"the group {self.names[place]!r}"
        return f"the parallel text of {self.names[place - n_groups]!r}"

    def check_texts(
        self, counted: Sequence[Mapping[str, Any]], n_lines: Sequence[int]
    ) -> None:
        """Refuse groups without text, and parallel texts that cannot be translations of each other."""
        if self.parity is None:
            return
        for place, report in enumerate(counted):
            if not report["distinct_pieces"]:
                message = f"{self.name(place)} has no piece to learn from; give text, or leave the group out"
                raise TrainingError(message)
        n_texts = [report["texts"] for report in counted]
        sizes = (("documents", n_texts), ("lines", n_lines))
        for unit, numbers in sizes:
            found = numbers[len(self.names) :]
            if len(set(found)) > 1:
                each = zip(self.names, found, strict=True)
                listed = ", ".join(f"{name!r} {n:,}" for name, n in each)
                message = (
                    f"the parallel texts have different numbers of {unit}: {listed}; they must be "
                    "the same text in each language"
                )
                raise TrainingError(message)


ALONE = Groups([""])
"""A corpus without groups."""


def groups_of(
    options: Mapping[str, Any],
    given: Any,  # noqa: ANN401 -- names of any type
) -> Groups:
    """Return the groups with these names if the options ask for parity, or else none.

    Raises
    ------
    TrainingError
        There are no groups, or the settings of parity do not fit them.
    """
    parity = options.get("parity")
    if parity is None or parity is False:
        return ALONE
    parity = Parity() if parity is True else parity
    expect("parity", parity, Parity, "True or a Parity")
    if given is None:
        message = f"{argument('parity')}: there are no groups; give a file or an iterable of texts for each"
        raise TrainingError(message)
    names = [
        os.fspath(name) if isinstance(name, os.PathLike) else str(name)
        for name in given
    ]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        message = (
            f"{argument('parity')}: the group {twice!r} is given twice; leave one out"
        )
        raise TrainingError(message)
    check_range(window=parity.window, global_merges=parity.global_merges)
    parallel = _in_order("parallel", parity.parallel, names)
    ratio = _in_order("ratio", parity.ratio, names)
    expect_each("ratio", ratio, Real, "a number")
    ratios = None if parity.ratio is None else [float(number) for number in ratio]
    expect("alpha", parity.alpha, Real, "a number")
    core = (ratios, parity.window, float(parity.alpha), parity.global_merges)
    is_resumed = options.get("resume") is not None or bool(
        options.get("initial_merges")
    )
    n_parallel = None if parity.parallel is None else len(parallel)
    most = options.get("merges")
    _core.Corpus.check_parity(core, len(names), n_parallel, most, is_resumed)
    return Groups(names, parallel, core)


def refuse_without_order(parity: object) -> None:
    """Refuse settings in an order of groups where groups have none."""
    for name in ("parallel", "ratio"):
        given = getattr(parity, name, None)
        if given is not None and not isinstance(given, Mapping):
            message = f"{argument(name)}: counts have no order; name the groups in the order of these ({argument('groups')})"
            raise TrainingError(message)


def _in_order(option: str, given: Any, names: Sequence[str]) -> list[Any]:  # noqa: ANN401
    """Return one value for each group, in their order."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        by_name = {str(name): value for name, value in given.items()}
        if by_name.keys() != set(names):
            message = f"{argument(option)}: the names must be those of the groups, {sorted(names)}, not {sorted(by_name)}"
            raise TrainingError(message)
        return [by_name[name] for name in names]
    expect(option, given, Collection, "a list with a value for each group")
    refuse_set(option, given, "which group each is for")
    return [given] if isinstance(given, (str, bytes)) else list(given)
