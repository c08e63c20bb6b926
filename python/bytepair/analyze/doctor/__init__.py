"""Findings about a tokenizer: faults, and facts worth knowing, each with a code and a page.

``pages`` has the pages that ``bytepair doctor --explain`` prints; ``_codes`` reads the codes,
their levels and their meanings from them. A check is a function that yields the findings of some
codes from a subject; each family of codes has a module of checks. ``_subject`` has the tokenizer
and cached facts about it, and ``_texts`` searches for texts that contain a token. ``_draw``
and ``_command`` are the view and the command.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from bytepair._expected import expect, loaded
from bytepair._io.recognising import file_in
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair.errors import TokenizerError

from . import (
    _added,
    _config,
    _corpus,
    _ids,
    _loaders,
    _merges,
    _pipeline,
    _reachability,
    _words,
)
from ._codes import CODES, Code, chosen, page
from ._config import beside
from ._finding import Diagnosis, Finding, FoundToken, TokenUsage
from ._loaders import Loader
from ._subject import Subject

if TYPE_CHECKING:
    from bytepair import Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.data._sources import Corpus

__all__ = [
    "CODES",
    "Code",
    "Diagnosis",
    "Finding",
    "FoundToken",
    "Loader",
    "TokenUsage",
    "beside",
    "diagnose",
    "page",
]

Check: TypeAlias = Callable[[Subject], Iterator[Finding]]

CHECKS: tuple[tuple[Check, str], ...] = (
    (_reachability.textless, "BP101"),
    (_reachability.unmade, "BP101"),
    (_reachability.incomplete, "BP102"),
    (_reachability.without_completion, "BP103"),
    (_pipeline.not_found, "BP104 BP305 BP501 BP502"),
    (_merges.missing_bytes, "BP201"),
    (_merges.early, "BP202"),
    (_merges.without_part, "BP203"),
    (_merges.twice, "BP204"),
    (_added.hidden, "BP301"),
    (_added.same_text, "BP302"),
    (_added.in_plain_text, "BP303"),
    (_added.in_any_text, "BP304"),
    (_ids.holes, "BP401"),
    (_ids.listed, "BP402"),
    (_ids.listed_beside, "BP402"),
    (_ids.after_ranks, "BP402 BP407"),
    (_config.tokens, "BP403 BP404"),
    (_loaders.differing, "BP405 BP408"),
    (_config.rows, "BP406"),
    (_words.parted_marks, "BP503"),
    (_words.parted_joiners, "BP504"),
    (_words.altered_texts, "BP505"),
    (_words.idle_patterns, "BP506"),
    (_words.undecoded_texts, "BP507"),
)
"""Each check that needs no corpus, with the codes of its findings."""


def diagnose(
    tokenizer: "Tokenizer | StrPath",
    *,
    file: "StrPath | None" = None,
    config: "StrPath | Iterable[StrPath] | None" = None,
    corpus: "Corpus | None" = None,
    reading: Mapping[str, Any] | None = None,
    select: Iterable[str] | None = None,
    ignore: Iterable[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
    tell: Callable[[str], object] = str,
) -> Diagnosis:
    """Look for faults of a tokenizer, and for facts worth knowing.

    Only the checks of selected findings run. They take a few seconds for 200,000 tokens. A
    corpus adds about the time of encoding it, and memory for a million distinct pieces.

    Parameters
    ----------
    file
        The file or folder that the tokenizer was loaded from, to compare the ids that it lists.
        For a folder, they are also compared with those that the installed transformers gives.
    config
        A ``tokenizer_config.json``, a ``config.json``, or both.
    corpus
        Texts to count tokens in: a path, a glob, a folder, or several.
    reading
        The options of :func:`bytepair.train` that define a document: ``field``,
        ``lines``, ``separator``, ``skip_bad`` and ``input_format``.
    select, ignore
        Codes of findings or their beginnings, such as ``BP1``; by default all.
    progress
        Called with the number of bytes counted so far, and the size of the corpus in bytes.
    tell
        Called with what is done next, in words.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> [finding.code for finding in diagnose(tokenizer, ignore=["BP5"]).findings]
    []

    Raises
    ------
    TokenizerError
        No code begins with one of ``select`` or ``ignore``, or only findings that need a
        corpus are selected and none is given.
    FormatError
        A settings file is not understood.
    """
    tokenizer = loaded(tokenizer)
    expect("reading", reading, (Mapping, type(None)), "a dict of options by name")
    wanted = chosen(select, ignore)
    reading = dict(reading or {})
    _refuse_idle(wanted, corpus, reading, is_selected=select is not None)
    is_folder = file is not None and Path(file).is_dir()
    subject = Subject(tokenizer, _file_of(file), is_folder=is_folder, tell=tell)
    _config.read_settings(subject, _paths(config))
    findings: list[Finding] = []
    for check, codes in CHECKS:
        if not wanted.isdisjoint(codes.split()):
            tell(f"looking for {codes.replace(' ', ', ')}")
            findings += check(subject)
    if corpus is not None:
        used = _corpus.count(subject, corpus, reading, progress)
        findings += _corpus.find(subject, used)
    findings = [f for f in findings if f.tokens and f.code in wanted]
    findings.sort(key=lambda finding: (finding.code, not finding.is_fact))
    counts = dict(sorted(subject.counts.items()))
    unchecked, loaders = tuple(subject.unchecked), tuple(subject.loaders)
    return Diagnosis(tuple(findings), counts, unchecked, loaders)


def _refuse_idle(
    wanted: set[str],
    corpus: "Corpus | None",
    reading: Mapping[str, Any],
    *,
    is_selected: bool,
) -> None:
    """Refuse a corpus that no finding needs, and findings and options without the corpus that they need."""
    needing = [name for name, code in CODES.items() if code.needs_corpus]
    if corpus is not None:
        if wanted.isdisjoint(needing):
            message = f"{argument('corpus', '')} is for {', '.join(needing)}, and none of them is looked for"
            raise TokenizerError(message)
        return
    if any(value not in (None, False) for value in reading.values()):
        message = "reading= needs a corpus=, and none is given"
        raise TokenizerError(message)
    if is_selected and wanted and wanted.issubset(needing):
        message = f"{', '.join(sorted(wanted))} need a corpus, and none is given"
        raise TokenizerError(message)


def _file_of(path: "StrPath | None") -> Path | None:
    """Return the file of a path; ``None`` for a folder without exactly one tokenizer."""
    if path is None or not Path(path).is_dir():
        return None if path is None else Path(path)
    try:
        return file_in(Path(path))
    except TokenizerError:
        return None


def _paths(config: "StrPath | Iterable[StrPath] | None") -> list[Path]:
    if config is None:
        return []
    if isinstance(config, (str, Path)):
        return [Path(config)]
    refuse_set("config", config, "the result")
    return [Path(path) for path in config]  # type: ignore[union-attr]
