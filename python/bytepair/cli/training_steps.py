"""``bytepair train --steps``: training on a small text, one merge at a time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from rich.console import Console

from bytepair import Tokenizer, TrainingError
from bytepair._training.learning import Learner
from bytepair.analyze._trace.draw_training import pieces_lines, step_lines
from bytepair.analyze._trace.training import (
    MAX_PIECE_BYTES,
    TOO_LARGE,
    Piece,
    Ties,
    TrainingStep,
    before_merging,
    training_steps,
)
from bytepair.views._glyphs import token_text
from bytepair.views._runs import Line
from bytepair.views._terminal import print_lines

if TYPE_CHECKING:
    from bytepair._io.files import StrPath
    from bytepair._training.vetoes import GivenCuts

__all__ = ["Steps"]


class Steps:
    """Keeps the pieces that a learner counted, and shows how they were merged."""

    def __init__(self) -> None:
        self.pieces: list[tuple[bytes, int]] = []
        self.ties: Ties = "smallest_ids"
        self.first = 1
        self.cuts: GivenCuts | StrPath | None = None

    def take(self, learner: Learner) -> None:
        """Take the pieces between counting and merging.

        Raises
        ------
        TrainingError
            There are too many, or their weights are not whole numbers.
        """
        if learner.scale != 1:
            message = "steps: weights must be whole numbers"
            raise TrainingError(message)
        pieces = learner.corpus.pieces(MAX_PIECE_BYTES)
        if pieces is None:
            raise TrainingError(TOO_LARGE)
        self.pieces = pieces
        self.ties = cast("Ties", learner.dialect.ties)
        self.cuts = learner.options.get("cuts")
        self.first = len(learner.resume.merges) + 1 if learner.resume else 1

    def print(self, tokenizer: Tokenizer) -> None:
        """Print the steps."""
        console = Console(highlight=False, soft_wrap=True)
        print_lines(console, self._lines(tokenizer))

    def _steps(self, tokenizer: Tokenizer) -> Iterator[TrainingStep]:
        return training_steps(
            tokenizer, self.pieces, ties=self.ties, first=self.first, cuts=self.cuts
        )

    def _lines(self, tokenizer: Tokenizer) -> Iterator[Line]:
        names = tokenizer.vocabulary
        start = before_merging(
            tokenizer, self.pieces, n_merges=self.first - 1, cuts=self.cuts
        )
        yield from pieces_lines(start, names)
        for step in self._steps(tokenizer):
            yield from step_lines(step, names)

    def as_object(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return the steps as JSON values; pairs are named by their tokens."""
        names = [token_text(name or "") for name in tokenizer.vocabulary]
        return {"steps": [_as_object(step, names) for step in self._steps(tokenizer)]}


def _as_object(step: TrainingStep, names: list[str]) -> dict[str, Any]:
    def pair(found: Any) -> dict[str, Any]:
        ids = [found.left, found.right]
        return {"ids": ids, "tokens": [names[i] for i in ids], "count": found.count}

    def piece(found: Piece) -> dict[str, Any]:
        return {"ids": list(found.ids), "count": found.count}

    return {
        "step": step.number,
        "chosen": pair(step.chosen),
        "token": step.token,
        "ties": step.ties,
        "tied": [pair(found) for found in step.tied],
        "passed_over": [pair(found) for found in step.passed_over],
        "pairs": [pair(found) for found in step.pairs],
        "pieces": [piece(found) for found in step.pieces],
        "n_tokens": step.n_tokens,
    }
