"""Training in two stages: merges within words, then merges beyond them.

The second stage counts the same text again, split by another pattern, and continues from the merges
of the first. As in SuperBPE, its pieces begin as these merges encode them, so training and encoding
agree. Most of its pieces are long and occur once, so they take about as much memory as the text.

As in BoundlessBPE, the second stage may join only whole words, and ``"auto"`` lets both stages
compete: merges beyond words replace less frequent ones within words. Encoding applies the
merges wherever they fit, so it may also find a superword that ends within a longer word. The
encoder of BoundlessBPE avoids this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair import _core
from bytepair._expected import expect
from bytepair._labels import argument
from bytepair._ranges import check_range
from bytepair._tokenizer import Tokenizer
from bytepair.errors import PatternError, TrainingError, TrainingInterrupted

from .earlier import Earlier, Start, earlier, start_of
from .learning import Learner
from .merge_log import write_log
from .progress import Progress, reporter

if TYPE_CHECKING:
    from .merge_log import MergeLog

__all__ = ["SUPERWORDS", "learn_beyond_words", "refuse_superwords"]

SUPERWORDS = "superwords"
"""The pattern of the second stage."""
AUTO = "auto"
WITHOUT_AUTO = {
    "resume": "resume",
    "log": "log",
    "on_counted": "steps",
    "initial_merges": "initial_merges",
}
"""Options that do not work where the order of merges changes, and their names for users."""
OF_WORDS = ("left_out", "dropped_pieces", "dropped_occurrences")
"""Numbers that the report takes from the first stage, because options that choose pieces and characters apply only to it."""
FIRST_PATTERN = ("pattern", "pattern_flavour", "unmatched")
"""Options of the pattern of the first stage."""
Learn: TypeAlias = Callable[[Learner], Tokenizer]


def learn_beyond_words(
    learn: Learn, options: Mapping[str, Any], scale: int
) -> Tokenizer:
    """Learn merges within words, and then merges beyond words.

    ``learn`` counts the text with a learner and lets it learn; it is called once for each stage.
    """
    resume = earlier(options.get("resume"), options.get("dialect"))
    stages = Stages(learn, {**options, "resume": resume}, scale)
    stages.check()
    if resume and stages.has_begun_the_second(resume):
        return stages.go_on(resume)
    start = start_of(stages.options)
    stages.check_start(start)
    words, log = start.earlier, None
    n_words = len(words.tokenizer.merges) if words and words.keeps_ids else None
    if words is None or n_words != options["superwords"]:
        words, log = stages.learn_within_words()
    try:
        if options["superwords"] == AUTO:
            return stages.learn_by_count(words.tokenizer)
        return stages.learn_beyond(words.tokenizer, log)
    except TrainingInterrupted as interrupted:
        if interrupted.tokenizer is not None and not stages.is_whole:
            raise
        if log is not None:
            stages.keep(log)
        message = "interrupted in the second stage; the merges within words are saved"
        raise TrainingInterrupted(message, words.tokenizer, {}) from interrupted


@dataclass(frozen=True)
class Stages:
    """The stages of one training."""

    learn: Learn
    options: Mapping[str, Any]
    scale: int
    reports: list[dict[str, Any]] = field(default_factory=list)
    """Those of the stages before the last one."""

    @property
    def pattern(self) -> Any:  # noqa: ANN401 -- as a user gives it
        """The pattern of the second stage."""
        given = self.options.get("superword_pattern")
        return SUPERWORDS if given is None else given

    @property
    def is_whole(self) -> bool:
        """Whether only whole words are joined. Merges of a tokenizer then do not say how pieces are encoded."""
        is_auto = self.options["superwords"] == AUTO
        return is_auto or bool(self.options.get("whole_words"))

    def dialect(self, **changes: Any) -> _core.Dialect:  # noqa: ANN401 -- options
        """Return the dialect of the second stage."""
        dialect = start_of({**self.options, **changes}).dialect
        try:
            beyond = dialect.beyond_words(self.pattern)
            _core.Corpus(beyond, [], threads=1)
        except (PatternError, TypeError) as error:
            message = f"{argument('superword_pattern')}: {error}"
            raise type(error)(message) from error
        return beyond

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
        if self.is_whole:
            message = f"{argument('resume')}: with {argument('whole_words')}, only the first stage can be resumed; give its tokenizer"
            raise TrainingError(message)
        given = self._later(self.options) | {"pattern": self.pattern, "resume": resume}
        for name in FIRST_PATTERN[1:]:
            given.pop(name, None)
        return self.learn(Learner(given, self.scale))

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
        """Return the options with a progress function that is not called at the end of a stage."""
        tell = reporter(self.options.get("progress"))

        def tell_of_steps(progress: Progress) -> None:
            if progress.phase == "done":
                self.reports.append(progress.report)
            elif tell:
                tell(replace(progress, corpus=""))

        return {**self.options, "progress": tell and tell_of_steps}

    def _finally(self) -> dict[str, Any]:
        """Return the options of the last stage, whose report has numbers of the first."""
        tell = reporter(self.options.get("progress"))

        def tell_of_all(progress: Progress) -> None:
            report, first = progress.report, self.reports[0] if self.reports else {}
            if report and first:
                report |= {name: first[name] for name in OF_WORDS}
                report["new_merges"] += first["new_merges"]
            if report and "new_ids" in first:
                report["new_ids"] += report["unchanged_ids"] - first["unchanged_ids"]
                report["unchanged_ids"] = first["unchanged_ids"]
            if tell:
                tell(progress)

        return self._later({**self.options, "progress": tell and tell_of_all})

    def learn_beyond(self, words: Tokenizer, log: MergeLog | None = None) -> Tokenizer:
        """Learn the second stage."""
        n_words = len(words.merges)
        self._refuse_full(n_words, words.n_vocab - n_words)
        start = self._second(self.dialect(), words, log)
        return self.learn(Learner(self._finally(), self.scale, start))

    def _second(
        self, dialect: _core.Dialect, words: Tokenizer, log: MergeLog | None = None
    ) -> Start:
        """Return what the second stage starts from.

        The ids of a tokenizer to resume from stay. Otherwise special tokens come last.
        """
        is_given = self.options.get("resume") is not None
        begin = dialect.with_pattern if is_given else dialect.without_names
        words_alone = words if self.is_whole else None
        begun = Earlier(Tokenizer(begin(words)))
        return Start(dialect, begun, log, words=words_alone, is_recounted=True)

    @staticmethod
    def _later(options: Mapping[str, Any]) -> dict[str, Any]:
        return {**options, "min_piece_count": None, "min_sources": None}

    def learn_by_count(self, words: Tokenizer) -> Tokenizer:
        """Learn merges beyond words that are more frequent than the last ones within, and keep the most frequent of both.

        The text is read once more for the report.
        """
        n_merges = len(words.merges)
        least = _counts(words)[-1] if n_merges else 0
        start = self._second(self.dialect(min_count=least + 1), words)
        given = self._later(self._quietly()) | _exactly(2 * n_merges)
        joined = self.learn(Learner(given, self.scale, start))
        counts, merges = _counts(joined), joined.merges
        kept = in_competition(joined, n_merges)
        dialect = self.dialect()
        core = dialect.tokenizer_of_merges(
            [merges[place] for place in kept], [counts[place] for place in kept]
        )
        begun = Earlier(Tokenizer(core), keeps_ids=False)
        given = self._finally() | _exactly(n_merges)
        return self.learn(Learner(given, self.scale, Start(dialect, begun)))

    def check(self) -> None:
        """Refuse what no stage, or only one of them, could learn from."""
        n_first, name = self.options["superwords"], argument("superwords")
        whole_words = self.options.get("whole_words", False)
        expect("whole_words", whole_words, bool, "True or False")
        dialect = self.dialect(resume=None, initial_merges=None)
        if n_first == AUTO:
            auto = argument("superwords", AUTO)
            for other, shown in WITHOUT_AUTO.items():
                if self.options.get(other) is not None:
                    message = f"{argument(shown)} does not apply to {auto}, which changes the order of merges; leave it out"
                    raise TrainingError(message)
            if self.scale != 1:
                message = f"{auto}: weights must be whole numbers"
                raise TrainingError(message)
            return
        if isinstance(n_first, str):
            message = f'{name} must be a whole number or "{AUTO}", not {n_first!r}'
            raise TypeError(message)
        check_range(1, superwords=n_first)
        n_names = len(set(self.options.get("special_tokens", ())))
        self._refuse_full(n_first, dialect.n_bytes + n_names)

    def _refuse_full(self, n_words: int, n_others: int) -> None:
        """Refuse merges within words, and other ids, that leave no room for merges beyond."""
        for target, n_more in (("merges", 0), ("vocab_size", n_others)):
            most = self.options.get(target)
            if most is not None and n_words + n_more >= most:
                more = f", of which {n_more:,} are not merged" if n_more else ""
                message = (
                    f"{argument('superwords')}: {n_words:,} merges within words leave none beyond "
                    f"them, because {argument(target, most)} is asked for{more}; ask for fewer"
                )
                raise TrainingError(message)

    def check_start(self, start: Start) -> None:
        """Refuse to begin with more merges than the first stage has."""
        n_first = self.options["superwords"]
        n_given = len(start.earlier.tokenizer.merges) if start.earlier else 0
        if n_first != AUTO and n_given > n_first:
            given = "initial_merges" if self.options.get("initial_merges") else "resume"
            message = (
                f"{argument(given)}: there are {n_given:,} merges within words already, more than "
                f"{argument('superwords', n_first)}"
            )
            raise TrainingError(message)


def in_competition(joined: Tokenizer, n_merges: int) -> list[int]:
    """Return the places of the merges that are kept if those within words and those beyond compete.

    The first ``n_merges`` are those within words. A merge beyond words comes before the next one within words if it is
    more frequent and its tokens exist already.
    """
    log = joined.inspect().merge_log
    counts = _counts(joined)
    makes = {token: place for place, (_, _, token, _) in enumerate(log)}
    taken: dict[int, None] = {}
    n_within, n_beyond = 0, n_merges
    while len(taken) < n_merges:
        is_beyond = n_beyond < len(log) and (
            n_within == n_merges or counts[n_beyond] > counts[n_within]
        )
        parts = log[n_beyond][:2] if is_beyond else ()
        are_there = all(part not in makes or makes[part] in taken for part in parts)
        if is_beyond and are_there:
            taken[n_beyond] = None
            n_beyond += 1
        else:
            taken[n_within] = None
            n_within += 1
    return list(taken)


def _exactly(n_merges: int) -> dict[str, Any]:
    return {"vocab_size": None, "merges": n_merges}


def _counts(tokenizer: Tokenizer) -> list[int]:
    """Return how often each pair occurred, which training that was not resumed knows."""
    return [count or 0 for *_, count in tokenizer.inspect().merge_log]


def refuse_superwords(options: Mapping[str, Any], texts: object) -> bool:
    """Return whether superwords are asked for, and refuse them for counts and for texts that can be read only once.

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
        problem = ": counts do not say which words follow each other; give text, or count twice (docs/how-to/superwords.md)"
    elif options.get("parity"):
        problem = f" does not work with {argument('parity')}; leave out one of them"
    elif isinstance(texts, Iterator):
        problem = (
            ": texts are read twice, and an iterator can be read only once; give a list"
        )
    else:
        return True
    message = name + problem
    raise TrainingError(message)
