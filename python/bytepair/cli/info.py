"""``bytepair info``: the parts of a tokenizer."""

import json
import sys
from pathlib import Path
from typing import Any, NamedTuple

import click

from bytepair import FormatError, Tokenizer, read_log
from bytepair._io.loading import file_read_at
from bytepair._io.recognising import format_of_file
from bytepair._plurals import amount

from .command import DISPLAY, Option, command
from .options import JSON, LOADING_OPTIONS, TOKENIZER
from .writing import longest_tokens, merge_lines, plain, quoted

__all__ = ["info"]

SHORT = ("units", "template", "truncation", "padding", "dropout", "loses")
"""Parts that are always shown, since they can change results unexpectedly."""
N_SHOWN = 5
"""The number of first merges, last merges and longest tokens that are shown."""


@command(
    TOKENIZER,
    Option(
        "-v, --verbose",
        "Also show the other parts, the split pattern and how it runs, merges and the longest "
        "tokens.",
        group=DISPLAY,
    ),
    Option(
        "--log FILE",
        "The merge log of its training, written by bytepair train --log: also show the "
        "compression of the training corpus, which no tokenizer file has.",
        type=Path,
        reads=True,
    ),
    JSON,
    *LOADING_OPTIONS,
)
def info(
    tokenizer_path: Path,
    *,
    verbose: bool = False,
    log: Path | None = None,
    as_json: bool = False,
    **loading: Any,
) -> None:
    """Show the parts of a tokenizer and what it loses.

    $ bytepair info tokenizer.json
    $ bytepair info tokenizer.json --verbose
    $ bytepair info tokenizer.json --json
    """
    if as_json and verbose:
        message = "--verbose has no effect on --json, which always has everything"
        raise click.UsageError(message)
    tokenizer = Tokenizer.from_file(tokenizer_path, **loading)
    trained = None if log is None else compression(tokenizer, log)
    if as_json:
        found = as_object(tokenizer)
        print(json.dumps(found if trained is None else found | trained._asdict()))
        return
    from bytepair.views._runs import Run
    from bytepair.views._terminal import print_folded

    file = _file(tokenizer_path)
    text = "\n".join(
        [
            *([_row("file", [file])] if file else []),
            as_text(tokenizer, is_verbose=verbose),
        ]
    )
    if trained is not None:
        text = f"{text}\n{_row('compression', [trained.in_words])}"
    if not verbose and sys.stdout.isatty():
        more = _row("more", ["--verbose shows the split pattern, merges and more"])
        text = f"{text}\n{more}"
    print_folded([Run(line)] for line in text.split("\n"))


class Compression(NamedTuple):
    """The compression of the training corpus by a tokenizer."""

    bytes_per_token: float
    corpus_bytes: int | float

    @property
    def in_words(self) -> str:
        """Both numbers in words."""
        corpus = f"{self.corpus_bytes:,} bytes"
        return f"{self.bytes_per_token:.2f} bytes per token of the training corpus ({corpus})"


def compression(tokenizer: Tokenizer, path: Path) -> Compression:
    """Return the compression after the last merge of a tokenizer, from its log."""
    log = read_log(path)
    merges = tokenizer.inspect().merge_log
    own = [step for step in log.steps if step.step <= len(merges)]
    for step in own:
        if tuple(merges[step.step - 1][:3]) != tuple(step.ids):
            message = (
                f"{path}: merge {step.step:,} differs from that of the tokenizer; name the log of "
                "its training"
            )
            raise FormatError(message)
    if not own or own[-1].step != len(merges):
        message = f"{path}: the log does not reach the last of {len(merges):,} merges"
        raise FormatError(message)
    return Compression(own[-1].bytes_per_token, log.corpus.bytes)


def as_object(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return a description of a tokenizer as JSON values."""
    from bytepair.analyze._behaviour import behaviour_of
    from bytepair.analyze._likeness import likeness

    merges = [[plain(left), plain(right)] for left, right in tokenizer.merges]
    return {
        "dialects": list(likeness(tokenizer).names),
        "n_vocab": tokenizer.n_vocab,
        "n_merges": len(merges),
        "fingerprint": tokenizer.fingerprint,
        "behaviour": behaviour_of(tokenizer),
        "pipeline": tokenizer.inspect().description,
        "split_execution": tokenizer.inspect().settings["stages"],
        "special_tokens": tokenizer.special_tokens,
        "longest_tokens": [
            plain(token) for token in longest_tokens(tokenizer, N_SHOWN)
        ],
        "first_merges": merges[:N_SHOWN],
        "last_merges": merges[-N_SHOWN:],
    }


def as_text(tokenizer: Tokenizer, *, is_verbose: bool = False) -> str:
    """Return a description of a tokenizer as text."""
    parts = tokenizer.inspect().description
    n_shown = None if is_verbose else N_SHOWN
    rows = [
        ("dialect", [_dialect(tokenizer)]),
        ("size", [_size(tokenizer)]),
        ("special tokens", _specials(tokenizer, n_shown)),
        *((name, [_explained(name, parts)]) for name in SHORT if name in parts),
        ("warning", _dead_literals(tokenizer)),
        ("learned from", _counts(tokenizer)),
        *(_more_rows(tokenizer, parts) if is_verbose else ()),
    ]
    return "\n".join(_row(name, texts) for name, texts in rows if texts)


def _explained(name: str, parts: dict[str, str]) -> str:
    """Return a part in words, and what its name means.

    >>> (
    ...     _explained("loses", {"loses": "nothing"}),
    ...     _explained("units", {"units": "bytes"}),
    ... )
    ('nothing (decoding restores every text)', 'bytes (what merges join)')
    """
    text = parts[name]
    if name == "units":
        return f"{text} (what merges join)"
    if name != "loses":
        return text
    if text == "nothing":
        return "nothing (decoding restores every text)"
    return f"{text} (not restored by decoding)"


def _file(path: Path) -> str:
    """Return the name, the format and the size of a file, or of the file that is read in a folder."""
    file = file_read_at(path)
    if not file.is_file():  # a pipe
        return ""
    return f"{file.name} (format {format_of_file(file)}), {amount(file.stat().st_size, 'byte')}"


def _dialect(tokenizer: Tokenizer) -> str:
    """Return the names of the dialects that a tokenizer is like."""
    from bytepair.analyze._likeness import likeness

    parts = tokenizer.inspect().description
    found = likeness(tokenizer)
    if not found.names:
        return "like none of the built-in ones"
    names = " or ".join(found.names)
    other = (
        ""
        if found.is_normalized_alike
        else f", but for normalizing: {parts['normalize']}"
    )
    return f"like {names}{other}"


def _size(tokenizer: Tokenizer) -> str:
    n_added = len(tokenizer.added_tokens)
    return (
        f"{amount(tokenizer.n_vocab, 'id')}, {amount(len(tokenizer.merges), 'merge')}, "
        f"{amount(n_added, 'added token')}"
    )


def _specials(tokenizer: Tokenizer, n_shown: int | None) -> list[str]:
    found = [f"{id_:>7,}  {name}" for name, id_ in tokenizer.special_tokens.items()]
    n_more = len(found) - len(found[:n_shown])
    return [*found[:n_shown], *([f"and {n_more:,} more"] if n_more else [])]


def _dead_literals(tokenizer: Tokenizer) -> list[str]:
    """Warn of split patterns that are plain texts and occur in no text that was tried."""
    from bytepair.analyze._literals import dead_literals

    return [
        f"texts are split at {text!r}, which is not read as a pattern; see bytepair doctor --explain BP506"
        for text in dead_literals(tokenizer)
    ]


def _counts(tokenizer: Tokenizer) -> list[str]:
    """Return how often pairs occurred in training, if the file has the counts."""
    counts = [count for *_, count in tokenizer.inspect().merge_log if count is not None]
    if not counts:
        return []
    return [f"pairs that occurred {counts[0]:,} times at first, {counts[-1]:,} at last"]


def _more_rows(
    tokenizer: Tokenizer, parts: dict[str, str]
) -> list[tuple[str, list[str]]]:
    from bytepair.analyze._behaviour import behaviour_of

    n_merges = len(tokenizer.merges)
    first_of_last = max(N_SHOWN, n_merges - N_SHOWN)
    return [
        *((name, [text]) for name, text in parts.items() if name not in SHORT),
        ("split runs as", tokenizer.inspect().settings["stages"]),
        ("longest tokens", [quoted(t) for t in longest_tokens(tokenizer, N_SHOWN)]),
        ("first merges", merge_lines(tokenizer, range(min(N_SHOWN, n_merges)))),
        ("last merges", merge_lines(tokenizer, range(first_of_last, n_merges))),
        ("fingerprint", [tokenizer.fingerprint]),
        ("behaviour", [behaviour_of(tokenizer) or "none: the text is refused"]),
    ]


def _row(name: str, texts: list[str]) -> str:
    """Return a name with one or more lines to its right."""
    indent = "\n" + " " * 16
    return f"{name:<16}{indent.join(map(_printable, texts))}"


def _printable(text: str) -> str:
    r"""Escape characters that would break a line, such as the newlines of a pattern.

    >>> _printable("[\n]")
    '[\\n]'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
