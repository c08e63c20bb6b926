"""``bytepair train --steps``: training on a small text, one merge at a time."""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple, cast

from rich.console import Console

from bytepair import Tokenizer, TrainingError
from bytepair._labels import argument
from bytepair._training.learning import Learner
from bytepair.analyze._trace.draw_training import pieces_lines, step_lines
from bytepair.analyze._trace.training import (
    MAX_PIECE_BYTES,
    TOO_LARGE,
    Choices,
    Piece,
    Ties,
    TrainingStep,
    before_merging,
    training_steps,
)
from bytepair.views._glyphs import token_text
from bytepair.views._runs import Line
from bytepair.views._terminal import print_lines

__all__ = ["Steps"]


class Stage(NamedTuple):
    """Pieces with their counts, the number of the first merge learned from them, and the learner."""

    first: int
    pieces: list[tuple[bytes, int]]
    group_of_piece: list[str]
    learner: Learner

    @property
    def begin(self) -> dict[str, Any]:
        """How training divided the pieces."""
        learner = self.learner
        return {"cuts": learner.options.get("cuts"), "words": learner.words}

    @property
    def choices(self) -> Choices:
        """Who chose each merge, after training."""
        names = self.learner.groups.names
        choosers = self.learner.choosers
        groups = [None if place is None else names[place] for place in choosers]
        return Choices(self.group_of_piece, groups)


class Steps:
    """Keeps the pieces that a learner counted, and shows how they were merged."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []

    def take(self, learner: Learner) -> None:
        """Take the pieces between counting and merging.

        Raises
        ------
        TrainingError
            There are too many, or their weights are not whole numbers.
        """
        if learner.scale != 1:
            message = f"{argument('steps')}: weights must be whole numbers"
            raise TrainingError(message)
        pieces: list[tuple[bytes, int]] = []
        owners: list[str] = []
        for name, corpus in zip(learner.groups.names, learner.corpora, strict=False):
            n_bytes = sum(len(piece) for piece, _ in pieces)
            found = corpus.pieces(max(MAX_PIECE_BYTES - n_bytes, 0))
            if found is None:
                raise TrainingError(TOO_LARGE)
            pieces += found
            owners += [name] * len(found)
        first = len(learner.resume.merges) + 1 if learner.resume else 1
        self.stages.append(Stage(first, pieces, owners, learner))

    def print(self, tokenizer: Tokenizer) -> None:
        """Print the steps."""
        console = Console(highlight=False, soft_wrap=True)
        print_lines(console, self._lines(tokenizer))

    def _steps(self, tokenizer: Tokenizer, number: int) -> Iterator[TrainingStep]:
        """Yield the steps of a stage, which ends where the next one begins."""
        stage, *later = self.stages[number:]
        steps = training_steps(
            tokenizer,
            stage.pieces,
            ties=cast("Ties", stage.learner.dialect.ties),
            first=stage.first,
            choices=stage.choices,
            **stage.begin,
        )
        return islice(steps, later[0].first - stage.first if later else None)

    def _lines(self, tokenizer: Tokenizer) -> Iterator[Line]:
        names = tokenizer.vocabulary
        for number, stage in enumerate(self.stages):
            start = before_merging(
                tokenizer, stage.pieces, n_merges=stage.first - 1, **stage.begin
            )
            yield from pieces_lines(start, names)
            for step in self._steps(tokenizer, number):
                yield from step_lines(step, names)

    def as_object(self, tokenizer: Tokenizer) -> dict[str, Any]:
        """Return the steps as JSON values; pairs are named by their tokens."""
        names = [token_text(name or "") for name in tokenizer.vocabulary]
        steps = [self._steps(tokenizer, n) for n in range(len(self.stages))]
        return {"steps": [_as_object(step, names) for step in chain(*steps)]}


def _as_object(step: TrainingStep, names: list[str]) -> dict[str, Any]:
    def pair(found: Any) -> dict[str, Any]:
        ids = [found.left, found.right]
        return {"ids": ids, "tokens": [names[i] for i in ids], "count": found.count}

    def piece(found: Piece) -> dict[str, Any]:
        return {"ids": list(found.ids), "count": found.count}

    return {
        "step": step.number,
        "group": step.group,
        "chosen": pair(step.chosen),
        "token": step.token,
        "ties": step.ties,
        "tied": [pair(found) for found in step.tied],
        "passed_over": [pair(found) for found in step.passed_over],
        "pairs": [pair(found) for found in step.pairs],
        "pieces": [piece(found) for found in step.pieces],
        "n_tokens": step.n_tokens,
    }
