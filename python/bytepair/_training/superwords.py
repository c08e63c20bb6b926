"""Training in two stages: merges within words, then merges beyond them, as in SuperBPE.

The second stage counts the same text again, cut by another pattern, and goes on from the merges of
the first. Its pieces begin as these merges give them, so what is learned holds in encoding too.
Most of its pieces are sentences, and occur once: they take about as much memory as the text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair._labels import argument
from bytepair._ranges import check_range
from bytepair._tokenizer import Tokenizer
from bytepair.errors import TrainingError, TrainingInterrupted

from .earlier import Earlier, Start, earlier, start_of
from .learning import Learner
from .merge_log import write_log
from .progress import Progress, reporter

if TYPE_CHECKING:
    from .merge_log import MergeLog

__all__ = ["SUPERWORDS", "learn_beyond_words", "refuse_superwords"]

SUPERWORDS = "superwords"
"""The pattern of the second stage."""
FIRST_PATTERN = ("pattern", "pattern_flavour", "unmatched")
"""Options of the pattern of the first stage."""
Learn: TypeAlias = Callable[[Learner], Tokenizer]


def learn_beyond_words(
    learn: Learn, options: Mapping[str, Any], scale: int
) -> Tokenizer:
    """Learn merges within words up to ``superwords``, and then merges beyond words.

    ``learn`` counts the text with a learner and lets it learn; it is called once for each stage.
    """
    n_first = options["superwords"]
    pattern = options.get("superword_pattern")
    pattern = SUPERWORDS if pattern is None else pattern
    resume = earlier(options.get("resume"), options.get("dialect"))
    named = start_of({**options, "resume": None, "initial_merges": None}).dialect
    _check(n_first, options, named.n_bytes)
    later = {**options, "min_piece_count": None}
    if resume and named.beyond_words(pattern).cuts_like(resume.tokenizer):
        parts = {
            name: value for name, value in later.items() if name not in FIRST_PATTERN
        }
        return learn(Learner({**parts, "pattern": pattern, "resume": resume}, scale))
    start = start_of({**options, "resume": resume})
    beyond = start.dialect.beyond_words(pattern)
    before, log = start.earlier, None
    if before is None or len(before.tokenizer.merges) < n_first:
        before, log = _within_words(learn, options, scale, start)
    words = beyond.tokenizer_with_merges_of(before.tokenizer)
    begun = Earlier(Tokenizer(words), keeps_ids=False)
    second = Learner(later, scale, Start(beyond, begun, log, is_recounted=True))
    try:
        return learn(second)
    except TrainingInterrupted as interrupted:
        if interrupted.tokenizer is not None:
            raise
        if log is not None:
            _keep(options)(log)
        message = f"{interrupted}; the merges within words are kept"
        raise TrainingInterrupted(message, before.tokenizer, {}) from interrupted


def _within_words(
    learn: Learn, options: Mapping[str, Any], scale: int, start: Start
) -> tuple[Earlier, MergeLog | None]:
    """Learn the merges of the first stage. Return them with their log, which is written only after Ctrl-C."""
    logs: list[MergeLog] = []
    tell = reporter(options.get("progress"))

    def tell_of_steps(progress: Progress) -> None:
        if tell and progress.phase != "done":
            tell(replace(progress, corpus=""))

    target = {"vocab_size": None, "merges": options["superwords"]}
    told = {"progress": tell and tell_of_steps, "on_log": logs.append}
    try:
        tokenizer = learn(Learner({**options, **target, **told}, scale, start))
    except TrainingInterrupted:
        if logs:
            _keep(options)(logs[0])
        raise
    return Earlier(tokenizer), logs[0] if logs else None


def _keep(options: Mapping[str, Any]) -> Callable[[MergeLog], object]:
    return options.get("on_log") or partial(write_log, options["log"])


def _check(n_first: Any, options: Mapping[str, Any], n_bytes: int) -> None:  # noqa: ANN401 -- what a user gives
    """Refuse a number of merges within words that leaves none for superwords."""
    check_range(superwords=n_first)
    name = argument("superwords")
    if n_first == 0:
        message = f"{name} must be at least 1"
        raise TrainingError(message)
    for target, n_others in (("merges", 0), ("vocab_size", n_bytes)):
        most = options.get(target)
        if most is not None and n_first + n_others >= most:
            others = f", and {n_others} ids are those of bytes" if n_others else ""
            message = (
                f"{name}: {n_first:,} merges within words leave none beyond them, because "
                f"{argument(target, most)} is asked for{others}"
            )
            raise TrainingError(message)


def refuse_superwords(options: Mapping[str, Any], texts: object) -> bool:
    """Return whether superwords are asked for. Refuse them for counts, and for texts that can be read only once.

    ``texts`` is ``None`` for counts.
    """
    if options.get("superwords") is None:
        if options.get("superword_pattern") is not None:
            message = f"{argument('superword_pattern')} needs {argument('superwords')}"
            raise TrainingError(message)
        return False
    if texts is None:
        message = f"{argument('superwords')}: counts do not tell which words follow each other; give text"
        raise TrainingError(message)
    if isinstance(texts, Iterator):
        message = f"{argument('superwords')}: texts are read twice; give a list of them, or files"
        raise TrainingError(message)
    return True
