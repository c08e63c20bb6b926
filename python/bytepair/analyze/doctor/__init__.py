"""Findings about a tokenizer: faults, and facts worth knowing, each with a code and a page.

``_codes`` lists them; each family has a module. ``_texts`` looks for texts that contain a
token, and ``_subject`` holds the tokenizer and cached facts about it. ``pages`` has the pages
that ``bytepair doctor --explain`` prints. Nothing is printed or drawn here.
"""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair._expected import expect, loaded
from bytepair._labels import argument
from bytepair._names import refuse_set
from bytepair.errors import TokenizerError

from . import (
    _added,
    _alphabet,
    _config,
    _corpus,
    _decoding,
    _ids,
    _pattern,
    _pipeline,
    _reachability,
)
from ._codes import CODES, FROM_SETTINGS, Code, chosen, page
from ._config import beside
from ._finding import Diagnosis, Finding, FoundToken, TokenUsage
from ._subject import Subject
from ._texts import Texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bytepair import Tokenizer
    from bytepair._io.files import StrPath
    from bytepair.data._sources import Corpus

__all__ = [
    "CODES",
    "Code",
    "Diagnosis",
    "Finding",
    "FoundToken",
    "TokenUsage",
    "beside",
    "diagnose",
    "page",
]


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
) -> Diagnosis:
    """Look for faults of a tokenizer, and for facts worth knowing.

    Only selected findings are looked for. This takes a few seconds for 200,000 tokens. A
    corpus adds about the time of encoding it, and memory for a million distinct pieces.

    Parameters
    ----------
    file
        The file or folder that the tokenizer was loaded from, to compare the ids that it lists.
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
        Called with the number of bytes counted so far, and the size of the corpus.

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
    wanted = chosen(_as_list(select), _as_list(ignore))
    if corpus is None and select is not None:
        _refuse_without_corpus(wanted)
    if corpus is None and any(
        value not in (None, False) for value in (reading or {}).values()
    ):
        message = "reading= says how a corpus= is read, and none is given"
        raise TokenizerError(message)
    if corpus is not None and not any(CODES[code].needs_corpus for code in wanted):
        needing = ", ".join(name for name, code in CODES.items() if code.needs_corpus)
        message = (
            f"{argument('corpus', '')} is for {needing}, and none of them is looked for"
        )
        raise TokenizerError(message)
    paths = [] if config is None else _paths(config)
    settings = _config.read_settings(paths)
    subject = Subject(tokenizer)
    found = list(_found(subject, wanted, settings, file))
    if corpus is not None:
        used = _corpus.count(subject, corpus, dict(reading or {}), progress)
        found += _corpus.find(subject, used)
    chosen_ones = (finding for finding in found if finding.code in wanted)
    ordered = sorted(
        chosen_ones, key=lambda finding: (finding.code, not finding.is_fact)
    )
    subject.counts["ids"] = tokenizer.n_vocab
    counts = dict(sorted(subject.counts.items()))
    return Diagnosis(tuple(ordered), counts, tuple(subject.unchecked))


def _found(
    subject: Subject,
    wanted: set[str],
    settings: _config.Settings,
    file: "StrPath | None",
) -> "Iterator[Finding]":
    """Run each family that has a wanted code."""
    texts = Texts(subject)
    path = _ids.file_of(None if file is None else Path(file))
    document = _ids.document_of(path)
    if wanted & {"BP101", "BP102", "BP103"}:
        yield from _reachability.find(subject, texts)
    if wanted & {"BP104", "BP305", "BP501", "BP502"}:
        yield from _pipeline.find(subject, texts)
    if any(code.startswith("BP2") for code in wanted):
        yield from _alphabet.find(subject)
    if wanted & {"BP301", "BP302", "BP303", "BP304"}:
        yield from _added.find(subject)
    if wanted & {"BP401", "BP402", "BP407"}:
        yield from _ids.find(subject, path, document)
    if wanted & FROM_SETTINGS:
        yield from _config.find(subject, settings, document, wanted)
    if wanted & {"BP503", "BP504"}:
        yield from _pattern.find(subject)
    if "BP505" in wanted:
        yield from _decoding.find(subject)


def _as_list(codes: Iterable[str] | None) -> list[str] | None:
    if isinstance(codes, str):
        message = "expected a list of codes, not one string"
        raise TypeError(message)
    return None if codes is None else list(codes)


def _paths(config: "StrPath | Iterable[StrPath]") -> list[Path]:
    if isinstance(config, (str, Path)):
        return [Path(config)]
    refuse_set("config", config, "the result")
    return [Path(path) for path in config]  # type: ignore[union-attr]


def _refuse_without_corpus(wanted: set[str]) -> None:
    needing = sorted(code for code in wanted if CODES[code].needs_corpus)
    if needing and set(needing) == wanted:
        message = f"{', '.join(needing)} need a corpus, which was not given"
        raise TokenizerError(message)
