"""Removing named tokens, with what is built on them.

Removing a token removes all merges that use it. A token that such a merge makes is removed too, or made
another way. All other tokens can still be made: no merge on the way to them is gone. Tokens that must
stay (units, byte-fallback tokens, the unknown token, special tokens, and those that the template or the
padding uses) are refused with an error that names them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from bytepair import _core
from bytepair._plurals import amount
from bytepair._results import Result

from ._reports import MOST_NAMED, Numbering, Removed, check_choice, few, n_tokens
from ._surgery import Base, Given, Surgery
from ._tokens import Named, Tokens, names_of, quoted, resolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from bytepair._tokenizer import Tokenizer

__all__ = ["Cascade", "Following", "RemovalReport", "Rerouted", "remove"]

Mode = Literal["cascade", "reroute"]


@dataclass(frozen=True)
class Following:
    """A token that is removed with another, or made another way.

    Attributes
    ----------
    id, token
        The token, as text with marks.
    part
        The id of the removed token that it is made of.
    cause
        The id of the named token that it is ultimately built on.
    """

    id: int
    token: str
    part: int
    cause: int


@dataclass(frozen=True, repr=False)
class Cascade(Result):
    """Tokens that are named, and all that are built on them.

    Attributes
    ----------
    named
        By id: the tokens that were named, as text with marks.
    following
        The others, in the order of the named tokens that they are built on.
    staying
        By id: tokens of findings that must stay, and why. They were named, but are kept.
    """

    named: Mapping[int, str]
    following: tuple[Following, ...]
    staying: Mapping[int, str]

    @property
    def lines(self) -> tuple[str, ...]:
        """Which tokens are removed with which, for a reader."""
        if not self.named:
            alone = "the selected findings name no token that may be removed"
            return (alone, *self._stay_lines())
        alone = f"{amount(len(self.named), 'token')} named"
        them = "it" if len(self.named) == 1 else "them"
        if not self.following:
            return (f"{alone}, nothing is built on {them}", *self._stay_lines())
        causes: dict[int, list[str]] = {}
        for one in self.following:
            causes.setdefault(one.cause, []).append(quoted(one.token))
        shown = [
            f"{quoted(self.named[id_])} ({id_}) has {amount(len(names), 'token')} built on it: "
            + few(names)
            for id_, names in list(causes.items())[:MOST_NAMED]
        ]
        n_more = len(causes) - MOST_NAMED
        more = [f"and {n_more:,} more have tokens built on them"] if n_more > 0 else []
        head = f"{alone}, {amount(len(self.following), 'more token')} built on {them}"
        return (head, *shown, *more, *self._stay_lines())

    def _stay_lines(self) -> list[str]:
        reasons: dict[str, list[str]] = {}
        for id_, reason in self.staying.items():
            reasons.setdefault(reason, []).append(str(id_))
        return [
            f"{amount(len(ids), 'token')} of the findings must stay ({reason}): "
            + few(ids)
            for reason, ids in reasons.items()
        ]

    def to_json(self) -> dict[str, Any]:
        """Return all attributes as values of JSON."""
        return {
            "named": [{"id": i, "token": name} for i, name in self.named.items()],
            "built_on": [asdict(one) for one in self.following],
            "staying": [{"id": i, "reason": why} for i, why in self.staying.items()],
        }


@dataclass(frozen=True)
class Rerouted:
    """A token that is now made of other parts; all ids are the old ones.

    Attributes
    ----------
    id
        The token.
    before, now
        The two tokens that it was made of, and the two that it is made of now.
    """

    id: int
    before: tuple[int, int]
    now: tuple[int, int]


@dataclass(frozen=True, repr=False)
class RemovalReport(Removed):
    """What :func:`bytepair.surgery.remove` did.

    Attributes
    ----------
    removed
        The old ids of all removed tokens.
    n_before, n_after
        How many tokens there were, and how many of them are left.
    numbering
        What became of the ids.
    cascade
        The named tokens, and what is built on them.
    rerouted
        The kept tokens that are made another way.
    mode
        What became of the tokens that are built on these.
    """

    cascade: Cascade
    rerouted: tuple[Rerouted, ...]
    mode: Mode

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes and their reasons in lines, for a reader."""
        n_others = len(self.removed) - len(self.cascade.named)
        others = f", {n_others:,} of them built on others" if n_others else ""
        lines = [f"{amount(len(self.removed), 'token')} removed{others}"]
        if self.rerouted:
            lines.append(f"{amount(len(self.rerouted), 'token')} made of other parts")
        return (*lines, self.ids_line())

    def to_json(self) -> dict[str, Any]:
        """Return all attributes as values of JSON."""
        return {
            **self.cascade.to_json(),
            **super().to_json(),
            "rerouted": [asdict(one) for one in self.rerouted],
            "mode": self.mode,
        }


def remove(
    tokenizer: Given,
    tokens: Tokens,
    *,
    mode: Mode = "cascade",
    numbering: Numbering = "reserved",
    select: Iterable[str] | None = None,
) -> Surgery[RemovalReport]:
    r"""Remove tokens from a tokenizer, with what is built on them.

    Nothing is written: the result is a tokenizer in memory. Every kept token that could be made
    before can still be made. ``report.cascade`` lists the tokens that are built on the given ones.

    Parameters
    ----------
    tokenizer
        The tokenizer, or its path, as for :func:`extend`.
    tokens
        Tokens: ids; texts as they are or as files write them (``" the"``, ``"Ġthe"``); bytes. Or
        findings: a :class:`bytepair.analyze.doctor.Diagnosis`, some of its findings, or the output of
        ``bytepair doctor --json``. Or a regular expression (``re.compile``) for the text of tokens, or a
        function that is called with each :class:`Token` that may be removed. Tokens of findings that must stay are left out and reported; other
        tokens that must stay are refused.
    mode
        What becomes of tokens that are built on these. ``"cascade"``: they are removed too.
        ``"reroute"``: a token stays if two other tokens make it, so that its text is still encoded to
        it.
    numbering
        ``"reserved"``: every other token keeps its id, and a special token ``<|reserved_5|>`` takes
        the id 5, so that no program gives it to another token. ``"holes"``: every other token keeps
        its id, and the free ids stay unused. ``"compact"``: ids are renumbered without gaps, in their
        order; ``id_map`` holds the new ones.
    select
        Codes of findings or their beginnings, to choose from a whole diagnosis; ``BP101`` and
        ``BP603`` by default.

    >>> import bytepair
    >>> from bytepair import surgery
    >>> base = bytepair.train_from_iterator(["low lower"], vocab_size=259)
    >>> found = surgery.remove(base, ["lo"], numbering="compact")
    >>> print(*found.report.lines, sep="\n")
    2 tokens removed, 1 of them built on others
    256 tokens left, renumbered from 0 to 255
    >>> found.tokenizer.tokenize("low")
    ['l', 'o', 'w']

    Raises
    ------
    TokenizerError
        A token does not exist or must stay, or findings are of another tokenizer.
    """
    check_choice("mode", mode, Mode)
    check_choice("numbering", numbering, Numbering)
    base = Base.of(tokenizer)
    named = resolve(base.tokenizer, tokens, select=select)
    renumbered, removed, ways = _core.remove(base.tokenizer, named.ids, mode, numbering)
    n_before = n_tokens(base.tokenizer)
    report = RemovalReport(
        removed=tuple(removed),
        n_before=n_before,
        n_after=n_before - len(removed),
        numbering=numbering,
        cascade=_cascade_of(base.tokenizer, named),
        rerouted=tuple(Rerouted(id_, (a, b), (c, d)) for id_, a, b, c, d in ways),
        mode=mode,
    )
    return base.reduced(renumbered, report)


def _cascade_of(base: Tokenizer, named: Named) -> Cascade:
    """Find what is built on tokens."""
    ids = named.ids
    causes = {id_: (id_, id_) for id_ in ids}  # the part that goes, what was named
    parts_of = dict(_core.built_on(base, ids))
    waiting = [id_ for id_ in parts_of if id_ not in causes]
    while waiting:
        later = []
        for id_ in waiting:
            part = next((part for part in parts_of[id_] if part in causes), None)
            if part is None:
                later.append(id_)
            else:
                causes[id_] = part, causes[part][1]
        waiting = later
    place = {id_: place for place, id_ in enumerate(ids)}
    others = [id_ for id_ in causes if id_ not in place]
    others.sort(key=lambda id_: (place[causes[id_][1]], id_))
    names = names_of(base, others)
    following = [
        Following(id_, name, *causes[id_])
        for id_, name in zip(others, names, strict=True)
    ]
    texts = dict(zip(ids, names_of(base, ids), strict=True))
    return Cascade(texts, tuple(following), dict(named.staying))
