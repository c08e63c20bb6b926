r"""The merge log: the steps of training, as lines of JSON.

The first line describes the tokenizer and the corpus; every other line is one merge:

``step``
    Its number, from 1 on.
``left``, ``right``, ``token``
    The merged tokens and the result, as written in the vocabulary. Bytes that are not
    UTF-8 are a list of their values.
``ids``
    The ids of the three. That of the token is higher than those of earlier steps; it is the next
    one, unless training continued from a tokenizer with tokens after its merges.
``count``
    How often the pair occurred; ``null`` if training continued from merges whose counts
    are not known.
``tokens``, ``bytes_per_token``
    Length of the corpus in tokens after the step, and the mean length of one in bytes.

The corpus is its pieces, each as often as it occurs: text outside of pieces, such as dropped
white space, has no bytes here. A file takes about 150 bytes for each merge and is written
whole or not at all. Its first line ends with the sha256 of the whole content, so a file that
has changed is refused.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NoReturn, TypeAlias

from bytepair._io.files import StrPath, write
from bytepair.errors import FormatError

__all__ = [
    "CorpusSummary",
    "MergeLog",
    "MergeStep",
    "bytes_of",
    "read_log",
    "write_log",
]

FORMAT = "bytepair-merges"
VERSION = 1
N_DIGITS = 6
"""Digits of bytes per token that are written."""

LogToken: TypeAlias = str | bytes
Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True)
class MergeStep:
    """One merge.

    Attributes
    ----------
    step
        Its number, counted from 1.
    left, right, token
        The merged tokens and the result, as written in the vocabulary.
    ids
        The ids of the three.
    count
        How often the pair occurred; ``None`` if that is not known.
    tokens, bytes_per_token
        Length of the corpus in tokens after the step, and the mean length of a token in
        bytes.

    >>> step = MergeStep(1, b"l", b"o", b"lo", (75, 78, 256), 2, 7, 1.286)
    >>> step.token, step.count
    (b'lo', 2)
    """

    step: int
    left: LogToken
    right: LogToken
    token: LogToken
    ids: tuple[int, int, int]
    count: Number | None
    tokens: Number
    bytes_per_token: float


@dataclass(frozen=True)
class CorpusSummary:
    """The corpus that merges were learned from.

    Attributes
    ----------
    fingerprint
        A hash of the distinct pieces and their counts, whatever their order.
    distinct_pieces
        The number of distinct pieces.
    bytes, characters
        Length of all of them, repeated ones too, and of the text before it was split.
        Counts are those of weighted files.
    """

    fingerprint: str
    distinct_pieces: int
    bytes: Number
    characters: Number


@dataclass(frozen=True, repr=False)
class MergeLog:
    """A merge log: the tokenizer, the corpus, and the steps of training.

    Attributes
    ----------
    pipeline
        The parts of the tokenizer in words, as :class:`str` shows them.
    training
        The options of training that a tokenizer does not store.
    corpus
        The corpus that merges were learned from.
    n_alphabet, n_names
        Ids that no merge made: those of the alphabet; those of unknown and added tokens.
        If training continued from a tokenizer with several merges for one token, the first
        number is smaller by as many, perhaps below 0.
    tokens
        Length of the corpus in tokens before the first step of this log.
    first_step
        1, or more if training continued from merges that are in no log.
    steps
        The merges, each a :class:`MergeStep`.

    >>> import bytepair, tempfile
    >>> path = f"{tempfile.mkdtemp()}/merges.jsonl"
    >>> texts = ["low lower"]
    >>> _ = bytepair.train_from_iterator(texts, vocab_size=258, log=path)
    >>> log = bytepair.read_log(path)
    >>> [step.token for step in log.steps], log.tokens
    (['lo', 'low'], 9)
    """

    pipeline: Mapping[str, str]
    training: Mapping[str, Any]
    corpus: CorpusSummary
    n_alphabet: int
    n_names: int
    tokens: Number
    first_step: int = 1
    steps: list[MergeStep] = field(default_factory=list)

    @property
    def last_step(self) -> int:
        """The number of merges of the tokenizer at the end.

        >>> import bytepair, tempfile
        >>> path = f"{tempfile.mkdtemp()}/merges.jsonl"
        >>> texts = ["low lower"]
        >>> _ = bytepair.train_from_iterator(texts, vocab_size=258, log=path)
        >>> bytepair.read_log(path).last_step
        2
        """
        return self.first_step - 1 + len(self.steps)

    def curve(self) -> list[tuple[int, float]]:
        """Return pairs of a vocabulary size and its bytes per token, from the start on.

        >>> import bytepair, tempfile
        >>> path = f"{tempfile.mkdtemp()}/merges.jsonl"
        >>> texts = ["low lower"]
        >>> _ = bytepair.train_from_iterator(texts, vocab_size=258, log=path)
        >>> bytepair.read_log(path).curve()
        [(256, 1.0), (257, 1.285714), (258, 1.8)]
        """
        start = (self.first_step - 1, bytes_per_token(self.corpus.bytes, self.tokens))
        points = [start, *((step.step, step.bytes_per_token) for step in self.steps)]
        n_others = self.n_alphabet + self.n_names
        return [(n_others + step, ratio) for step, ratio in points]

    def __repr__(self) -> str:
        n_vocab = self.n_alphabet + self.n_names + self.last_step
        return f"<bytepair.MergeLog: {len(self.steps):,} merges, up to {n_vocab:,} ids>"

    def _repr_html_(self) -> str:
        from bytepair.views._tables import log_html

        return log_html(self)


def bytes_per_token(n_bytes: Number, n_tokens: Number) -> float:
    """Return the mean length of a token, rounded as in a log."""
    return round(n_bytes / n_tokens, N_DIGITS)


# Writing


def write_log(path: StrPath, log: MergeLog) -> None:
    """Write a log as a whole, or nothing."""
    write(path, bytes_of(log))


def bytes_of(log: MergeLog) -> bytes:
    """Return the content of the file of a log."""
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    header |= {f.name: getattr(log, f.name) for f in fields(log) if f.name != "steps"}
    header["corpus"] = asdict(log.corpus)
    steps = b"".join(map(_line_of, log.steps))
    digest = hashlib.sha256(_line(header) + steps)
    return _line({**header, "sha256": digest.hexdigest()}) + steps


def _line_of(step: MergeStep) -> bytes:
    shown = {name: as_json(getattr(step, name)) for name in ("left", "right", "token")}
    return _line({f.name: getattr(step, f.name) for f in fields(step)} | shown)


def _line(value: Mapping[str, Any]) -> bytes:
    return (
        json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
    )


def as_json(token: LogToken) -> str | list[int]:
    r"""Return a token as text, or as the values of its bytes if they are not UTF-8.

    >>> as_json("é".encode()), as_json(b"\xc3")
    ('é', [195])
    """
    if isinstance(token, str):
        return token
    try:
        return token.decode()
    except UnicodeDecodeError:
        return list(token)


# Reading


def read_log(path: StrPath) -> MergeLog:
    """Read a log that training wrote.

    >>> import bytepair, tempfile
    >>> path = f"{tempfile.mkdtemp()}/merges.jsonl"
    >>> texts = ["low lower"]
    >>> _ = bytepair.train_from_iterator(texts, vocab_size=258, log=path)
    >>> read_log(path)
    <bytepair.MergeLog: 2 merges, up to 258 ids>

    Raises
    ------
    FormatError
        The file is no log, or has changed since it was written.
    FileError
        The file cannot be read.
    """
    from bytepair.data._lists import read_list

    lines = read_list(path).split(b"\n")
    if lines.pop():
        _refuse(path, len(lines) + 1, "the file ends in the middle of this line")
    if not lines:
        _refuse(path, 1, "the file is empty")
    header = _object_of(path, 1, lines[0])
    if (header.pop("format", None), header.pop("version", None)) != (FORMAT, VERSION):
        _refuse(path, 1, f"it is not a header of {FORMAT}, version {VERSION}")
    if header.pop("sha256", None) != _sum_of(lines):
        _refuse(path, 1, "the log has changed since it was written: its sha256 differs")
    number = 1
    try:
        header["corpus"] = CorpusSummary(**header["corpus"])
        log = MergeLog(**header, steps=[])
        for number, line in enumerate(lines[1:], 2):
            log.steps.append(_step(_object_of(path, number, line)))
    except FormatError:
        raise
    except (KeyError, TypeError, ValueError):
        _refuse(path, number, "its fields are not those of a merge log")
    return log


def _sum_of(lines: Sequence[bytes]) -> str:
    """Return the sha256 of the lines of a file, the first one without its own sum."""
    header = {k: v for k, v in json.loads(lines[0]).items() if k != "sha256"}
    digest = hashlib.sha256(_line(header))
    for line in lines[1:]:
        digest.update(line + b"\n")
    return digest.hexdigest()


def _object_of(path: StrPath, number: int, line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except RecursionError:
        _refuse(path, number, "it is nested too deeply")
    except ValueError as error:
        _refuse(path, number, f"it is not JSON: {error}")
    if not isinstance(found, dict):
        _refuse(path, number, "it is not a JSON object")
    return found


def _step(found: dict[str, Any]) -> MergeStep:
    for name in ("left", "right", "token"):
        if isinstance(found[name], list):
            found[name] = bytes(found[name])
    found["ids"] = tuple(found["ids"])
    return MergeStep(**found)


def _refuse(path: StrPath, number: int, problem: str) -> NoReturn:
    message = f"{path}: line {number}: {problem}"
    raise FormatError(message)
