"""Training in two stages: merges within words, then merges beyond them.

The second stage counts the same text again, cut by another pattern, and goes on from the merges of
the first. As in SuperBPE, its pieces begin as these merges give them, so what is learned holds in
encoding too. Most of its pieces are sentences, and occur once: they take about as much memory
as the text.

As in BoundlessBPE, the second stage may join whole words alone, and ``"auto"`` lets both stages
compete: merges beyond words replace the less frequent ones within words. Text is encoded by
merges alone. So a superword is also found where it ends within a longer word, which the
encoder of BoundlessBPE avoids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair._expected import expect
from bytepair._labels import argument
from bytepair._ranges import check_range
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TrainingError, TrainingInterrupted

from .earlier import Earlier, Start, earlier, start_of
from .learning import Learner
from .merge_log import write_log
from .progress import Progress, reporter

if TYPE_CHECKING:
    from bytepair import _core

    from .merge_log import MergeLog

__all__ = ["SUPERWORDS", "learn_beyond_words", "refuse_superwords"]

SUPERWORDS = "superwords"
"""The pattern of the second stage."""
AUTO = "auto"
WITHOUT_AUTO = ("resume", "log", "on_counted", "initial_merges")
"""Options that do not apply where merges are put in another order."""
FIRST_PATTERN = ("pattern", "pattern_flavour", "unmatched")
"""Options of the pattern of the first stage."""
Learn: TypeAlias = Callable[[Learner], Tokenizer]


def learn_beyond_words(
    learn: Learn, options: Mapping[str, Any], scale: int
) -> Tokenizer:
    """Learn merges within words, and then merges beyond words.

    ``learn`` counts the text with a learner and lets it learn; it is called once for each stage.
    """
    n_first = options["superwords"]
    resume = earlier(options.get("resume"), options.get("dialect"))
    stages = Stages(learn, {**options, "resume": resume}, scale)
    stages.check()
    if resume and stages.has_begun_the_second(resume):
        return stages.go_on(resume)
    before = start_of(stages.options).earlier
    log = None
    if n_first == AUTO or before is None or len(before.tokenizer.merges) < n_first:
        before, log = stages.learn_within_words()
    try:
        if n_first == AUTO:
            return stages.learn_by_count(before.tokenizer)
        return stages.learn_beyond(before.tokenizer, log)
    except TrainingInterrupted as interrupted:
        if interrupted.tokenizer is not None:
            raise
        if log is not None:
            stages.keep(log)
        message = f"{interrupted}; the merges within words are kept"
        raise TrainingInterrupted(message, before.tokenizer, {}) from interrupted


@dataclass(frozen=True)
class Stages:
    """The stages of one training."""

    learn: Learn
    options: Mapping[str, Any]
    scale: int

    @property
    def pattern(self) -> Any:  # noqa: ANN401 -- as a user gives it
        """The pattern of the second stage."""
        given = self.options.get("superword_pattern")
        return SUPERWORDS if given is None else given

    def dialect(self, **changes: Any) -> _core.Dialect:  # noqa: ANN401 -- options
        """Return the dialect of the second stage."""
        return start_of({**self.options, **changes}).dialect.beyond_words(self.pattern)

    def keep(self, log: MergeLog) -> None:
        """Write a log, or pass it on."""
        write = self.options.get("on_log") or partial(write_log, self.options["log"])
        write(log)

    def has_begun_the_second(self, resume: Earlier) -> bool:
        """Whether a tokenizer to resume from has the pattern of the second stage."""
        dialect = self.dialect(resume=None, initial_merges=None)
        return dialect.cuts_like(resume.tokenizer)

    def go_on(self, resume: Earlier) -> Tokenizer:
        """Continue the second stage."""
        if self.options.get("whole_words"):
            message = f"{argument('resume')}: only the first stage can be resumed with whole_words"
            raise TrainingError(message)
        given = dict(self.options) | {"pattern": self.pattern, "min_piece_count": None}
        for name in FIRST_PATTERN[1:]:
            given.pop(name, None)
        return self.learn(Learner(given, self.scale, start_of(given)))

    def learn_within_words(self) -> tuple[Earlier, MergeLog | None]:
        """Learn the first stage. Its log is written only after Ctrl-C."""
        logs: list[MergeLog] = []
        given = self._quietly() | {"on_log": logs.append}
        if self.options["superwords"] != AUTO:
            given |= _exactly(self.options["superwords"])
        try:
            tokenizer = self.learn(Learner(given, self.scale))
        except TrainingInterrupted:
            if logs:
                self.keep(logs[0])
            raise
        return Earlier(tokenizer), logs[0] if logs else None

    def _quietly(self) -> dict[str, Any]:
        """Return the options with a progress function that is not told that a stage is done."""
        tell = reporter(self.options.get("progress"))

        def tell_of_steps(progress: Progress) -> None:
            if tell and progress.phase != "done":
                tell(replace(progress, corpus=""))

        return {**self.options, "progress": tell and tell_of_steps}

    def learn_beyond(self, words: Tokenizer, log: MergeLog | None = None) -> Tokenizer:
        """Learn the second stage."""
        start = self._second(self.dialect(), words, log)
        return self.learn(Learner(self._later(self.options), self.scale, start))

    def _second(
        self, dialect: _core.Dialect, words: Tokenizer, log: MergeLog | None = None
    ) -> Start:
        begun = Tokenizer(dialect.tokenizer_with_merges_of(words))
        is_whole = self.options.get("whole_words") or self.options["superwords"] == AUTO
        begin = words if is_whole else None
        return Start(
            dialect,
            Earlier(begun, keeps_ids=False),
            log,
            words=begin,
            is_recounted=True,
        )

    @staticmethod
    def _later(options: Mapping[str, Any]) -> dict[str, Any]:
        return {**options, "min_piece_count": None}

    def learn_by_count(self, words: Tokenizer) -> Tokenizer:
        """Learn merges beyond words that are more frequent than the last ones within, and put all in the order of their counts.

        Of equals, merges within words come first. The text is read once more for the report.
        """
        n_merges = len(words.merges)
        least = _counts(words)[-1] if n_merges else 0
        start = self._second(self.dialect(min_count=least + 1), words)
        given = self._later(self._quietly()) | _exactly(2 * n_merges)
        joined = self.learn(Learner(given, self.scale, start))
        counts, merges = _counts(joined), joined.merges
        order = sorted(range(len(counts)), key=lambda place: (-counts[place], place))
        kept = order[:n_merges]
        dialect = self.dialect()
        core = dialect.tokenizer_of_merges(
            [merges[place] for place in kept], [counts[place] for place in kept]
        )
        tokenizer = Tokenizer(core)
        start = Start(dialect, Earlier(tokenizer, keeps_ids=False))
        given = self._later(self.options) | _exactly(n_merges)
        return self.learn(Learner(given, self.scale, start))

    def check(self) -> None:
        """Refuse what no stage, or only one of them, could learn from."""
        n_first, name = self.options["superwords"], argument("superwords")
        expect(
            "whole_words", self.options.get("whole_words", False), bool, "True or False"
        )
        dialect = self.dialect(resume=None, initial_merges=None)
        if n_first == AUTO:
            for other in WITHOUT_AUTO:
                if self.options.get(other) is not None:
                    message = f"{argument(other)} does not apply to {name} auto, which orders merges anew"
                    raise TrainingError(message)
            if self.scale != 1:
                message = f"{name} auto: weights must be whole numbers"
                raise TrainingError(message)
            return
        check_range(superwords=n_first)
        if n_first == 0:
            message = f"{name} must be at least 1"
            raise TrainingError(message)
        for target, n_others in (("merges", 0), ("vocab_size", dialect.n_bytes)):
            most = self.options.get(target)
            if most is not None and n_first + n_others >= most:
                others = f", and {n_others} ids are those of bytes" if n_others else ""
                message = (
                    f"{name}: {n_first:,} merges within words leave none beyond them, because "
                    f"{argument(target, most)} is asked for{others}"
                )
                raise TrainingError(message)


def _exactly(n_merges: int) -> dict[str, Any]:
    return {"vocab_size": None, "merges": n_merges}


def _counts(tokenizer: Tokenizer) -> list[int]:
    """Return how often each pair occurred, which training that was not resumed knows."""
    return [count or 0 for *_, count in tokenizer.inspect().merge_log]


def refuse_superwords(options: Mapping[str, Any], texts: object) -> bool:
    """Return whether superwords are asked for. Refuse them for counts, and for texts that can be read only once.

    ``texts`` is ``None`` for counts.
    """
    name = argument("superwords")
    if options.get("superwords") is None:
        for other in ("superword_pattern", "whole_words"):
            if options.get(other):
                message = f"{argument(other)} needs {name}"
                raise TrainingError(message)
        return False
    if texts is None:
        message = f"{name}: these counts do not tell which words follow each other; give text, or counts of both stages (docs/how-to/superwords.md)"
        raise TrainingError(message)
    if isinstance(texts, Iterator):
        message = f"{name}: texts are read twice; give a list of them, or files"
        raise TrainingError(message)
    return True
