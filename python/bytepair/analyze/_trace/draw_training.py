"""Steps of training, as ``bytepair train --steps`` draws them."""

from collections.abc import Iterator, Sequence

from bytepair._plurals import amount
from bytepair.views._glyphs import bar, fitted, token_text, width
from bytepair.views._runs import Line, Run

from .trace import Name
from .training import NO_ID, PairCount, Piece, TrainingStep

__all__ = ["pieces_lines", "step_lines"]

N_PAIRS, N_PIECES = 8, 12
"""The numbers of pairs and pieces that are drawn."""
NEW = "c0"
TIMES = "\u00d7"
BAR_COLUMNS = 20
RULES = {
    "smallest_ids": "smallest_ids takes the smallest left id, then right id",
    "first_seen": "first_seen takes the one that comes first in the text",
    "largest_text": "largest_text takes the one that comes last in byte order",
}


def pieces_lines(
    pieces: Sequence[Piece], names: Sequence[Name | None], new: int | None = None
) -> Iterator[Line]:
    """Draw distinct pieces in tokens, each with how often it occurs."""
    digits = max((len(f"{piece.count:,}") for piece in pieces), default=1)
    for piece in pieces[:N_PIECES]:
        line = [Run(f"   {piece.count:>{digits},} {TIMES}  ", "note")]
        for id_ in piece.ids:
            line += [Run(_name(names, id_), NEW if id_ == new else ""), Run(" ")]
        yield line[:-1]
    if len(pieces) > N_PIECES:
        rest = amount(len(pieces) - N_PIECES, "more distinct piece")
        yield [Run(f"   … {rest}", "note")]


def step_lines(step: TrainingStep, names: Sequence[Name | None]) -> Iterator[Line]:
    """Draw a step: the pairs, the chosen pair and the reason, and the pieces after the merge."""
    chosen = step.chosen
    merge = f"{_name(names, chosen.left)} + {_name(names, chosen.right)}"
    yield []
    yield [
        Run(f"step {step.number}: {merge} → "),
        Run(_name(names, step.token), NEW),
        Run(f"  (id {step.token})", "note"),
        Run("" if step.group is None else f"  {step.group} chooses", "note"),
    ]
    yield from _pairs(step, names)
    if step.passed_over:
        text = f"   passed over: {_list(step.passed_over, names)}, due to the limits of tokens"
        yield [Run(text, "note")]
    if step.tied:
        others = amount(len(step.tied), "other pair")
        text = f"   tie with {others}: {RULES[step.ties]}"
        yield [Run(text, "note")]
    yield from pieces_lines(step.pieces, names, step.token)
    yield [Run(f"   {amount(step.n_tokens, 'token')} in all", "note")]


def _pairs(step: TrainingStep, names: Sequence[Name | None]) -> Iterator[Line]:
    shown = step.pairs[:N_PAIRS]
    if step.chosen not in shown:
        shown = (*shown[:-1], step.chosen)
    texts = [_pair(pair, names) for pair in shown]
    n_columns = max(map(width, texts), default=0)
    digits = max((len(f"{pair.count:,}") for pair in shown), default=1)
    most = max((pair.count for pair in shown), default=1)
    for pair, text in zip(shown, texts, strict=True):
        is_chosen = pair == step.chosen
        mark = "→" if is_chosen else " "
        yield [
            Run(f" {mark} "),
            Run(fitted(text, n_columns), NEW if is_chosen else ""),
            Run(f"  {pair.count:>{digits},} "),
            Run(bar(pair.count, most, BAR_COLUMNS), "note"),
        ]
    if len(step.pairs) > len(shown):
        rest = amount(len(step.pairs) - len(shown), "more pair")
        yield [Run(f"   … {rest}", "note")]


def _pair(pair: PairCount, names: Sequence[Name | None]) -> str:
    return f"{_name(names, pair.left)} {_name(names, pair.right)}"


def _list(pairs: Sequence[PairCount], names: Sequence[Name | None]) -> str:
    found = ", ".join(f"{_pair(pair, names)} ({pair.count:,})" for pair in pairs[:3])
    return found + (" …" if len(pairs) > 3 else "")


def _name(names: Sequence[Name | None], id_: int) -> str:
    return "▒" if id_ == NO_ID else token_text(names[id_] or "")
