r"""The merge log: what training did, step by step, as lines of JSON.

The first line says what was trained on what; every other line is one merge:

``step``
    Its number, from 1 on.
``left``, ``right``, ``token``
    What was merged and what came of it, as written in the vocabulary. Bytes that are not
    UTF-8 are a list of their values.
``ids``
    The ids of the three. That of the token is above those of earlier steps; it is the next
    one, unless training went on from a tokenizer with tokens behind its merges.
``count``
    How often the pair occurred; ``null`` where training went on from merges whose counts
    are not known.
``tokens``, ``bytes_per_token``
    Length of the corpus in tokens after the step, and the mean length of one in bytes.

The corpus is its pieces, each as often as it occurs: what no piece holds, such as dropped
white space, has no bytes here. A file takes about 150 bytes for each merge and is written
whole or not at all. Its first line ends with the sha256 of the rest, by which it is known
whether the file is still what was written.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
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
MOST = 1 << 64
"""Numbers are below this."""
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
        What was merged and the result, as written in the vocabulary.
    ids
        The ids of the three.
    count
        How often the pair occurred; ``None`` where that is not known.
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
    """What was learned from.

    Attributes
    ----------
    fingerprint
        Names the distinct pieces and their counts, whatever their order.
    distinct_pieces
        How many there are.
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
    """A merge log: what was trained on what, and its steps.

    Attributes
    ----------
    pipeline
        The parts of the tokenizer in words, as :class:`str` shows them.
    training
        The options of training that a tokenizer does not hold.
    corpus
        What was learned from.
    n_alphabet, n_names
        Ids that no merge made: those of the alphabet; those of unknown and added tokens.
        Where training went on from a tokenizer with several merges for one token, the first
        number is smaller by as many, perhaps below 0.
    tokens
        Length of the corpus in tokens before the first step of this log.
    first_step
        1, or more where training went on from merges that are in no log.
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
        """List vocabulary sizes with the bytes per token at each, the start included.

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
    """Give the mean length of a token, rounded as it is written."""
    return round(n_bytes / n_tokens, N_DIGITS)


# Writing


def write_log(path: StrPath, log: MergeLog) -> None:
    """Write a log, whole or not at all."""
    write(path, bytes_of(log))


def bytes_of(log: MergeLog) -> bytes:
    """Give the content of the file of a log."""
    header: dict[str, Any] = {"format": FORMAT, "version": VERSION}
    header |= {f.name: getattr(log, f.name) for f in fields(log) if f.name != "steps"}
    header["corpus"] = asdict(log.corpus)
    steps = b"".join(map(_line_of, log.steps))
    digest = hashlib.sha256(_line(header) + steps)
    return _line({**header, "sha256": digest.hexdigest()}) + steps


def _line_of(step: MergeStep) -> bytes:
    left, right, token = map(as_json, (step.left, step.right, step.token))
    shown = {"left": left, "right": right, "token": token}
    return _line({**{name: getattr(step, name) for name in STEP}, **shown})


def _line(value: Mapping[str, Any]) -> bytes:
    return (
        json.dumps(value, ensure_ascii=False).encode(errors="backslashreplace") + b"\n"
    )


def as_json(token: LogToken) -> str | list[int]:
    r"""Write a token as text, or as the values of its bytes where they are no text.

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
        A line is not what is written there; the message names it.
    FileError
        The file cannot be read.
    """
    from bytepair.data._lists import read_list

    lines = read_list(path).split(b"\n")
    reading = _Reading(str(path))
    if lines.pop():
        reading.refuse(len(lines) + 1, "the file ends in the middle of this line")
    if not lines:
        reading.refuse(1, "the file is empty")
    log = reading.header(lines[0])
    tokens = log.tokens
    for number, line in enumerate(lines[1:], start=2):
        step = reading.step(number, line, log, tokens)
        log.steps.append(step)
        tokens = step.tokens
    if reading.sha256 not in (None, reading.sum_of(lines)):
        reading.refuse(
            1, "the log has changed since it was written: its sha256 differs"
        )
    return log


Kinds: TypeAlias = Mapping[str, type | tuple[type, ...]]


class _Reading:
    """Reads the lines of one file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.sha256: str | None = None
        """The sum that the first line tells; older logs tell none."""

    def sum_of(self, lines: Sequence[bytes]) -> str:
        """Sum up the lines of a file, the first one without its sum."""
        header = {k: v for k, v in json.loads(lines[0]).items() if k != "sha256"}
        digest = hashlib.sha256(_line(header))
        for line in lines[1:]:
            digest.update(line + b"\n")
        return digest.hexdigest()

    def refuse(self, number: int, problem: str) -> NoReturn:
        message = f"{self.path}: line {number}: {problem}"
        raise FormatError(message)

    def object(
        self,
        number: int,
        line: bytes,
        kinds: Kinds,
        others: Kinds | None = None,
    ) -> dict[str, Any]:
        """Read an object with exactly these fields, and perhaps others."""
        try:
            found = json.loads(line)
        except RecursionError:
            self.refuse(number, "it is nested too deeply")
        except ValueError as error:
            self.refuse(number, f"it is not JSON: {error}")
        if not isinstance(found, dict):
            self.refuse(number, "it is not a JSON object")
        others = {name: kind for name, kind in (others or {}).items() if name in found}
        self.check(number, found, {**kinds, **others})
        return found

    def check(
        self,
        number: int,
        found: Mapping[str, Any],
        kinds: Kinds,
    ) -> None:
        for name in kinds.keys() - found.keys():
            self.refuse(number, f"{name} is missing")
        for name, value in found.items():
            if name not in kinds:
                self.refuse(number, f"{name} is not known")
            if isinstance(value, bool) or not isinstance(value, kinds[name]):
                self.refuse(number, f"{name} is {value!r:.80}")
            if isinstance(value, (int, float)) and not 0 <= value < MOST:
                self.refuse(number, f"{name} is {value!r:.80}")

    def header(self, line: bytes) -> MergeLog:
        found = self.object(1, line, HEADER, {"sha256": str})
        self.sha256 = found.pop("sha256", None)
        if found.pop("format") != FORMAT:
            self.refuse(1, f"it is not a header of {FORMAT}")
        version = found.pop("version")
        if version != VERSION:
            self.refuse(1, f"version {version} is not known, only {VERSION}")
        self.check(1, found["corpus"], CORPUS)
        if not found["tokens"] or not found["first_step"]:
            self.refuse(1, "tokens and first_step must be above 0")
        return MergeLog(**{**found, "corpus": CorpusSummary(**found["corpus"])})

    def step(
        self, number: int, line: bytes, log: MergeLog, tokens_before: Number
    ) -> MergeStep:
        found = self.object(number, line, STEP)
        for name in ("left", "right", "token"):
            if isinstance(found[name], list):
                found[name] = self.byte_values(number, name, found[name])
            elif _has_lone_surrogate(found[name]):
                self.refuse(number, f"{name} has a lone surrogate, half of a character")
        if not all(type(id_) is int and 0 <= id_ < MOST for id_ in found["ids"]):
            self.refuse(number, "ids has a value that is not an id")
        found["ids"] = tuple(found["ids"])
        step = MergeStep(**found)
        ratio = bytes_per_token(log.corpus.bytes, step.tokens or 1)
        last_id = log.steps[-1].ids[2] if log.steps else 0
        self.expect(number, "step", step.step, log.last_step + 1)
        if len(step.ids) != 3 or step.ids[2] <= last_id:
            message = f"ids must end with one above {last_id:,}, not {step.ids!s:.80}"
            self.refuse(number, message)
        if max(step.ids[:2]) >= step.ids[2]:
            self.refuse(
                number, f"ids are {step.ids!s:.80}; the last must be the largest"
            )
        if not 0 < step.tokens < tokens_before:
            self.refuse(number, f"tokens must be below {tokens_before:,}")
        if step.count is not None and step.count <= 0:
            self.refuse(number, "count must be above 0")
        self.expect(number, "bytes_per_token", step.bytes_per_token, ratio)
        return step

    def byte_values(self, number: int, name: str, values: Iterable[Any]) -> bytes:
        try:
            return bytes(values)
        except (TypeError, ValueError):
            self.refuse(number, f"{name} is not a list of byte values")

    def expect(self, number: int, name: str, found: Number, expected: Number) -> None:
        if found != expected:
            self.refuse(number, f"{name} is {found:,}, not {expected:,}")


NUMBER = (int, float)
TOKEN = (str, list)
HEADER: dict[str, type | tuple[type, ...]] = {
    "format": str,
    "version": int,
    "pipeline": dict,
    "training": dict,
    "corpus": dict,
    "n_alphabet": int,
    "n_names": int,
    "tokens": NUMBER,
    "first_step": int,
}
CORPUS: dict[str, type | tuple[type, ...]] = {
    "fingerprint": str,
    "distinct_pieces": int,
    "bytes": NUMBER,
    "characters": NUMBER,
}
STEP: dict[str, type | tuple[type, ...]] = {
    "step": int,
    "left": TOKEN,
    "right": TOKEN,
    "token": TOKEN,
    "ids": list,
    "count": (*NUMBER, type(None)),
    "tokens": NUMBER,
    "bytes_per_token": NUMBER,
}


def _has_lone_surrogate(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
