"""Tokenizers and merge logs as small tables, for notebooks. All text is escaped."""

import re
from collections.abc import Iterable, Sequence

from bytepair import MergeLog, Tokenizer

from ._glyphs import token_text, visible
from ._runs import Run, columns, labelled

__all__ = ["log_html", "tokenizer_html"]

N_MERGES = 5
"""The number of merges that are shown from each end."""


def tokenizer_html(tokenizer: Tokenizer) -> str:
    """Draw the parts of a tokenizer as HTML.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> "256 bytes" in tokenizer_html(tokenizer) or "258 tokens" in tokenizer_html(
    ...     tokenizer
    ... )
    True
    """
    merges, parts = tokenizer.merges, tokenizer.inspect().description
    parts["vocabulary"] = re.sub(
        r"\d+", lambda found: f"{int(found[0]):,}", parts["vocabulary"]
    )
    rows = [
        *((name, visible(text)) for name, text in parts.items()),
        ("first merges", _pairs(merges[:N_MERGES])),
        ("last merges", _pairs(merges[max(N_MERGES, len(merges) - N_MERGES) :])),
        ("fingerprint", tokenizer.fingerprint),
    ]
    return _table("bytepair.Tokenizer", [row for row in rows if row[1]])


def log_html(log: MergeLog) -> str:
    """Draw a summary of a merge log as HTML, with its first and last steps.

    >>> import bytepair, tempfile
    >>> path = f"{tempfile.mkdtemp()}/merges.jsonl"
    >>> _ = bytepair.train_from_iterator(["low lower"], vocab_size=258, log=path)
    >>> "1.80 bytes per token" in log_html(bytepair.read_log(path))
    True
    """
    steps = [
        (
            f"step {step.step:,}",
            f"{token_text(step.left)} + {token_text(step.right)} → {token_text(step.token)}"
            + ("" if step.count is None else f"  {step.count:,} times")
            + f", {step.bytes_per_token:.2f} bytes per token",
        )
        for step in (*log.steps[:N_MERGES], *log.steps[N_MERGES:][-N_MERGES:])
    ]
    rows = [
        *((name, visible(text)) for name, text in log.pipeline.items()),
        (
            "corpus",
            f"{log.corpus.bytes:,} bytes, {log.corpus.distinct_pieces:,} distinct pieces",
        ),
        ("merges", f"{len(log.steps):,}, from {log.first_step:,} on"),
        *steps,
    ]
    return _table("bytepair.MergeLog", rows)


def _pairs(merges: Iterable[tuple[str | bytes, str | bytes]]) -> str:
    return ", ".join(f"{token_text(a)} + {token_text(b)}" for a, b in merges)


def _table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    return columns([[Run(title, "heading")], *labelled(rows)])
