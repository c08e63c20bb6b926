"""From pieces to a tokenizer, with progress and the merge log.

Counting and merging are two phases. A log that is continued is compared with the counts between them,
before any merge is learned.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair import _core
from bytepair._io.files import check_writable, refuse_no_name
from bytepair._io.temporary import TemporaryFolder
from bytepair._labels import argument
from bytepair._names import in_order
from bytepair._plurals import amount
from bytepair._ranges import check_count, check_range, check_whole
from bytepair._tokenizer import Tokenizer
from bytepair._weights import unscaled
from bytepair.errors import TrainingError, TrainingInterrupted

from .earlier import Start, start_of
from .limits import character_limits, check_memory, token_limits
from .merge_log import (
    CorpusSummary,
    MergeLog,
    MergeStep,
    bytes_per_token,
    read_log,
    write_log,
)
from .parity import ALONE, Groups
from .progress import Telling, reporter
from .vetoes import cutting, vetoes

if TYPE_CHECKING:
    from bytepair.data._counts import Counts
    from bytepair.data._readers import Tally

__all__ = ["Learner"]

Course: TypeAlias = tuple[list[int], list[int]]
ALPHABET = ("character_coverage", "max_alphabet")
LIMITS = ("max_token_bytes", "max_token_chars", "whole_characters")
FUNCTIONS = ("veto", "cuts")
NO_SOURCES = (
    "these counts do not say in how many documents a piece occurs; train on the text, or on counts "
    "by group (bytepair count-pieces --group)"
)


class Learner:
    """Counts pieces, then learns merges from them.

    ``scale`` is the factor by which counts are multiplied, if files have
    weights; reported counts are divided by it. ``on_counted`` among the options is called with
    the learner between counting and merging, ``on_course`` with the tokens of the corpus
    before the first new merge and after each, added tokens included. ``scope`` has the first
    and last code points of characters without which no learned token occurs. ``n_added``
    is how many added tokens were found, times the weights of their files. ``start`` replaces what
    the options say of the dialect and of earlier merges. ``corpora`` are those of ``groups``, then
    their parallel texts; ``corpus`` is the first of them, and the only one if there are no groups.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        scale: int = 1,
        start: Start | None = None,
        groups: Groups = ALONE,
    ) -> None:
        self.options, self.scale = options, scale
        self.special_tokens = in_order(
            "special_tokens", options.get("special_tokens", ())
        )
        self.target = {name: options.get(name) for name in ("vocab_size", "merges")}
        check_range(threads=options.get("threads"), **self.target)
        self.limits = token_limits(*map(options.get, LIMITS))
        self.characters = character_limits(*map(options.get, ALPHABET))
        self.vetoes = vetoes(options, self._stop)
        self.is_stopped = False
        self.cuts = cutting(options.get("cuts"))
        self.min_piece_count = options.get("min_piece_count")
        check_whole(min_piece_count=self.min_piece_count)
        check_count(min_piece_count=(self.min_piece_count or 0) * scale)
        self.min_sources = options.get("min_sources")
        if self.min_sources is not None:
            check_count(min_sources=self.min_sources)
            if groups.parity is not None:
                message = f"{argument('min_sources')} does not work with {argument('parity')}; leave out one of them"
                raise TrainingError(message)
        start = start or start_of(options)
        self.words = start.words
        self.dialect, earlier = start.dialect, start.earlier
        self.is_recounted = start.is_recounted
        self.resume = earlier.tokenizer if earlier else None
        self.keeps_ids = earlier is not None and earlier.keeps_ids
        self.log_path = options.get("log")
        self.earlier_log = start.log or self._read_earlier_log()
        self.dialect.check_characters(self.characters)
        if self.keeps_ids:  # they made the alphabet, which stays
            self.characters = None, None
        check_count(min_count=self.dialect.min_count * scale)
        self.groups = groups
        self.corpora = [self._empty_corpus() for _ in range(groups.n_corpora)]
        self.corpus = self.corpora[0]
        self.n_lines = [0] * groups.n_corpora
        self.choosers: list[int | None] = []
        self.memory_limit = options.get("memory_limit")
        check_memory(self.memory_limit)
        self.folder: TemporaryFolder | None = None
        self.limit_memory(reads_blocks=False)
        self.n_texts = 0
        self.tally: Tally | None = None
        self.counted_before: dict[str, Any] = {}
        self.n_groups = 0
        self.n_added = 0
        n_earlier = len(self.resume.merges) if self.resume else 0
        self.telling = Telling(reporter(options.get("progress")), n_earlier)

    def limit_memory(self, *, reads_blocks: bool) -> None:
        """Set the memory limit, if there is one; blocks of documents that are read need room within it."""
        if self.memory_limit is not None:
            self.folder = self.folder or TemporaryFolder()
            limits = self.memory_limit, self.folder.name, len(self.corpora)
            for corpus in self.corpora:
                corpus.set_memory_limit(*limits, reads_blocks=reads_blocks)

    def _empty_corpus(self) -> _core.Corpus:
        return _core.Corpus(
            self.dialect,
            self.special_tokens,
            separator=self.options.get("separator"),
            threads=self.options.get("threads"),
            resume=self.resume,
            keeps_ids=self.keeps_ids,
            min_sources=self.min_sources,
        )

    def _read_earlier_log(self) -> MergeLog | None:
        """Read the log that is continued, if there is one; refuse any other."""
        if self.log_path is None:
            return None
        refuse_no_name(self.log_path)
        path = Path(self.log_path)
        check_writable(path.parent)
        if self.resume is None or not path.exists():
            return None
        log = read_log(path)
        merges = self.resume.inspect().merge_log[log.first_step - 1 :]
        known: list[Any] = [merge[:3] for merge in merges]
        logged: list[Any] = [step.ids for step in log.steps]
        if not self.keeps_ids:  # then the log says what they are
            tokens = list(map(_as_bytes, self.resume.vocabulary))
            known = [[tokens[id_] for id_ in ids] for ids in known]
            logged = [[step.left, step.right, step.token] for step in log.steps]
            logged = [list(map(_as_bytes, step)) for step in logged]
        if logged != known:
            message = (
                f"{path} is not the log of the resumed tokenizer; name another file for "
                "the log, or a new one"
            )
            raise TrainingError(message)
        return log

    # Counting

    @contextlib.contextmanager
    def counting(self) -> Iterator[None]:
        """Report what was read if Ctrl-C ends the counting."""
        try:
            yield
        except TrainingInterrupted:
            raise
        except KeyboardInterrupt as error:
            n_bytes = self.tally.bytes if self.tally else 0
            n_bytes += sum(corpus.n_bytes_read for corpus in self.corpora)
            read = amount(n_bytes, "byte")
            if self.n_texts:
                read = amount(self.n_texts, "text")
            message = f"interrupted while counting, after {read}; nothing was learned"
            raise TrainingInterrupted(message) from error

    def count_texts(self, texts: list[str | bytes], place: int = 0) -> None:
        """Count a batch of texts of a corpus."""
        self.corpora[place].add_texts(texts)
        self.n_texts += len(texts)

    def add_counts(self, counts: Mapping[Any, int]) -> None:
        """Add pieces that are already counted."""
        if not isinstance(counts, Mapping):
            message = "counts must be a mapping of pieces to numbers"
            raise TypeError(message)
        self._refuse_without_sources(n_groups=0)
        self.corpus.add_counts(list(counts.items()))

    def add_stored(
        self,
        counts: Counts,
        special_tokens: list[str],
        multipliers: Mapping[str, int] | None = None,
    ) -> None:
        """Add the counts of a corpus, each group multiplied as ``multipliers`` says.

        Refuses those of text that was prepared in another way.
        """
        counts.check(self.dialect, special_tokens)
        self._refuse_without_sources(n_groups=len(multipliers or counts.info.groups))
        dropped = (0, 0)
        if self.groups.parity is None:
            table, dropped = counts.core_table(multipliers, self.min_sources)
            self.corpus.add_table(table)
        for name, corpus in zip(self.groups.names, self.corpora, strict=False):
            if multipliers is not None and self.groups.parity is not None:
                table, _ = counts.core_table({name: multipliers[name]}, None)
                corpus.add_table(table)
        info = counts.info
        n_texts, n_bytes = counts.size_of(multipliers)
        self.counted_before = {
            "texts": n_texts,
            "bytes": n_bytes,
            "special_tokens": info.found_special,
            "dropped_pieces": info.dropped_pieces + dropped[0],
            "dropped_occurrences": info.dropped_occurrences * self.scale + dropped[1],
        }

    def _refuse_without_sources(self, n_groups: int) -> None:
        """Refuse ``min_sources`` for counts that are not by group."""
        self.n_groups = n_groups
        if self.min_sources is not None and not n_groups:
            message = f"{argument('min_sources')}: {NO_SOURCES}"
            raise TrainingError(message)

    # Merging

    def learn(self) -> Tokenizer:
        """Learn merges up to a size, and write the log, or pass it to ``on_log``.

        Raises
        ------
        TrainingInterrupted
            With what was learned until then, after the log is written.
        """
        self._check_growth(self.target["vocab_size"])
        with self.counting():
            counted = self._counted()
            summary = self._summary(counted) if self.log_path else None
        on_counted, on_course = map(self.options.get, ("on_counted", "on_course"))
        if on_counted is not None:
            on_counted(self)
        self.telling.begin_merging(self._unscaled(counted["characters"]))
        core, learned, course = self.corpus.train(
            **self.target,
            **self.vetoes,
            scale=self.scale,
            limits=self.limits,
            with_course=summary is not None or on_course is not None,
            progress=self._on_merge if self._is_watched() else None,
            characters=self.characters,
            scope=self.options.get("scope"),
            cuts=self.cuts,
            words=self.words,
            others=self.corpora[1 : len(self.groups.names)],
            parallel=self.corpora[len(self.groups.names) :],
            parity=self.groups.parity,
        )
        tokenizer = Tokenizer(core)
        n_names, interrupted = learned.pop("n_names"), learned.pop("interrupted")
        self.choosers = learned.pop("choosers")
        if self.log_path and summary and course:
            log = self._log(tokenizer, n_names, summary, course)
            keep = self.options.get("on_log") or partial(write_log, self.log_path)
            keep(log)
        if on_course is not None and course:
            on_course([self._unscaled(n + self.n_added) for n in course[0]])
        report = self._report(counted, learned)
        if self.resume is not None and self.options.get("resume") and self.keeps_ids:
            report["unchanged_ids"] = self.resume.n_vocab
            report["new_ids"] = tokenizer.n_vocab - self.resume.n_vocab
        if interrupted:
            message = f"interrupted after {amount(report['merges'], 'merge')}"
            raise TrainingInterrupted(message, tokenizer, report)
        self.telling.end(report)
        return tokenizer

    def _counted(self) -> dict[str, Any]:
        """End the counting, and return what was counted."""
        least = (self.min_piece_count or 0) * self.scale
        is_thinned = self.min_sources or self.counted_before.get("dropped_pieces")
        found = [
            corpus.finish(least, is_thinned=bool(is_thinned))
            if place < len(self.groups.names)
            else corpus.finish(0)
            for place, corpus in enumerate(self.corpora)
        ]
        if self.folder is not None:
            self.folder.remove()
        self.groups.check_texts(found, self.n_lines)
        counted = _added_up(found[: len(self.groups.names)])
        self.n_added = counted.pop("added_tokens")
        for name, before in self.counted_before.items():
            is_sum = name.startswith("dropped")
            counted[name] = counted[name] + before if is_sum else before
        counted["bad"] = self.tally.bad if self.tally else 0
        self._check_sources(counted)
        return counted

    def _is_watched(self) -> bool:
        return self.telling.report is not None or self.vetoes["veto"] is not None

    def _stop(self) -> None:
        """End merging soon, after Ctrl-C in a function of the user."""
        self.is_stopped = True

    def _check_sources(self, counted: Mapping[str, Any]) -> None:
        """Refuse ``min_sources`` if no piece is left."""
        n_left = counted["distinct_pieces"] + self.n_added
        if self.min_sources and counted["dropped_pieces"] and not n_left:
            unit = "group" if self.n_groups else "document"
            found = self.n_groups or counted["texts"]
            message = (
                f"{argument('min_sources')}: no piece is left, because none occurs in "
                f"{amount(self.min_sources, unit)}, of {found:,} in all; ask for fewer"
            )
            raise TrainingError(message)

    def _on_merge(self, done: int, total: int | None, tokens: int) -> None:
        if self.is_stopped:
            raise KeyboardInterrupt
        self.telling.merged(done, total, self._unscaled(tokens))

    def _check_growth(self, vocab_size: int | None) -> None:
        if self.resume is None or vocab_size is None or not self.keeps_ids:
            return
        if vocab_size < self.resume.n_vocab:
            message = (
                f"{argument('resume')}: the tokenizer has {self.resume.n_vocab:,} ids, more than the "
                f"{vocab_size:,} asked for; surgery.shorten() makes smaller ones"
            )
            raise TrainingError(message)
        known = {content for _id, content, _flags in _core.added_tokens(self.resume)}
        n_new = len(set(self.special_tokens) - known)
        if vocab_size < self.resume.n_vocab + n_new:
            message = (
                f"{argument('resume')}: {vocab_size:,} ids are asked for, but the tokenizer has "
                f"{self.resume.n_vocab:,} and {n_new:,} special tokens are new"
            )
            raise TrainingError(message)

    def _unscaled(self, count: int) -> int | float:
        return unscaled(count, self.scale)

    def _report(
        self, counted: dict[str, Any], learned: dict[str, Any]
    ) -> dict[str, Any]:
        report = counted | learned
        lengths = report.pop("groups")
        if lengths:
            report["groups"] = {
                name: {"before": self._unscaled(before), "after": self._unscaled(after)}
                for name, (before, after) in zip(
                    self.groups.names, lengths, strict=True
                )
            }
        for name in ("characters", "tokens", "dropped_occurrences"):
            report[name] = self._unscaled(report[name])
        report["left_out"] = self._left_out(report["left_out"])
        if report["best_count_at_stop"] is not None:
            best = self._unscaled(report["best_count_at_stop"])
            report["best_count_at_stop"] = best
        return report

    def _left_out(self, found: tuple[int, int, int] | None) -> dict[str, Any] | None:
        """Return the characters outside an alphabet, their occurrences and their share of the text."""
        if found is None:
            return None
        n_characters, n_occurrences, n_total = found
        return {
            "characters": n_characters,
            "occurrences": self._unscaled(n_occurrences),
            "share": n_occurrences / max(n_total, 1),
            "stand_in": self.dialect.stand_in,
        }

    # The log

    def _summary(self, counted: Mapping[str, Any]) -> CorpusSummary:
        """Sum up what was counted, and refuse a log of something else."""
        summary = CorpusSummary(
            fingerprint=self._fingerprint(),
            distinct_pieces=counted["distinct_pieces"],
            bytes=self._unscaled(
                sum(c.n_piece_bytes() for c in self.corpora[: len(self.groups.names)])
            ),
            characters=self._unscaled(counted["characters"]),
        )
        known = None if self.is_recounted else self.earlier_log
        if known and known.corpus != summary:
            message = (
                f"{self.log_path} is the log of training on another corpus; name another "
                "file for the log, or a new one"
            )
            raise TrainingError(message)
        return summary

    def _fingerprint(self) -> str:
        """Return a hash of what was counted."""
        found = [corpus.fingerprint() for corpus in self.corpora]
        together = blake2b(" ".join(found).encode(), digest_size=16).hexdigest()
        return found[0] if len(found) == 1 else together

    def _log(
        self,
        tokenizer: Tokenizer,
        n_names: int,
        corpus: CorpusSummary,
        course: Course,
    ) -> MergeLog:
        n_tokens, _counts = course
        merges = tokenizer.inspect().merge_log
        n_new = len(n_tokens) - 1
        n_earlier = len(merges) - n_new
        pipeline = tokenizer.inspect().description
        pipeline = {name: pipeline[name] for name in ("normalize", "split", "units")}
        earlier = self.earlier_log
        return MergeLog(
            pipeline=pipeline,
            training=self._options(),
            corpus=corpus,
            n_alphabet=tokenizer.n_vocab - len(merges) - n_names,
            n_names=n_names,
            tokens=earlier.tokens if earlier else self._unscaled(n_tokens[0]),
            first_step=earlier.first_step if earlier else n_earlier + 1,
            steps=[
                *(earlier.steps if earlier else []),
                *self._steps(tokenizer, corpus, n_earlier, course),
            ],
        )

    def _options(self) -> dict[str, Any]:
        """Return the options of training that a tokenizer does not store, as values of JSON."""
        coverage, most = map(self.options.get, ALPHABET)
        return {
            "ties": self.dialect.ties,
            "min_count": self.dialect.min_count,
            "min_piece_count": self.min_piece_count,
            **({"min_sources": self.min_sources} if self.min_sources else {}),
            **dict(zip(LIMITS, self.limits, strict=True)),
            "character_coverage": None if coverage is None else float(coverage),
            "max_alphabet": most,
            "forbidden": self.vetoes["forbidden"],
            "one_script": self.vetoes["one_script"],
            **{name: self.options.get(name) is not None for name in FUNCTIONS},
            **({} if self.groups.parity is None else {"parity": self.groups.parity}),
        }

    def _steps(
        self,
        tokenizer: Tokenizer,
        corpus: CorpusSummary,
        n_earlier: int,
        course: Course,
    ) -> Iterator[MergeStep]:
        tokens = tokenizer.vocabulary
        merges = tokenizer.inspect().merge_log[n_earlier:]
        n_tokens, counts = course
        known: list[int | None] = [None] * len(merges)
        if counts:  # else those of earlier merges are not known, and so none is
            known[:] = counts
        steps = zip(merges, n_tokens[1:], known, strict=True)
        for step, ((left, right, id_, _), n_left, count) in enumerate(
            steps, n_earlier + 1
        ):
            n_tokens_left = self._unscaled(n_left)
            yield MergeStep(
                step=step,
                left=tokens[left],
                right=tokens[right],
                token=tokens[id_],
                ids=(left, right, id_),
                count=None if count is None else self._unscaled(count),
                tokens=n_tokens_left,
                bytes_per_token=bytes_per_token(corpus.bytes, n_tokens_left),
            )


def _as_bytes(token: Any) -> Any:  # noqa: ANN401 -- text, bytes, or nothing at an id that no token has
    return token.encode() if isinstance(token, str) else token


def _added_up(found: list[dict[str, Any]]) -> dict[str, Any]:
    """Add up what was counted in each group."""
    total, *others = found
    for other in others:
        for name, number in other.items():
            if name == "special_tokens":
                total[name] = {key: n + number[key] for key, n in total[name].items()}
            else:
                total[name] += number
    return total
