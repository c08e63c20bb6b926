"""Cases of changed vocabularies, what Hugging Face's library makes of the files, and tables of both.

A case has a tokenizer and a text of which every tenth document is held out. What an engine wrote is read by
``tokenizers``: which new tokens can occur, and how many tokens the held-out documents have, with all new tokens
and with the first of them. A new token can occur if the model makes it of its own text; no piece is cut then.
"""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from . import mixture, texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .runner import Row

TASKS = ("extend", "prune")
HELD_OUT = 10
"""Every so many documents, one is held out."""

Definition = dict[str, Any]


class Quality(NamedTuple):
    """What a file is worth."""

    n_new: int
    n_unreachable: int
    held_out: dict[str, int]
    """The tokens of held-out documents: with the base, and with so many new tokens, or with all."""


def cases(wanted: Definition, scratch: Path) -> Iterator[Definition]:
    """Combine tokenizers and texts."""
    found = {text["name"]: text for text in wanted["text"]}
    for grid in wanted["grid"]:
        for base, text in itertools.product(grid["bases"], grid["texts"]):
            yield {
                "name": f"{base}, {text}",
                "base": wanted["base"][base],
                "text": found[text],
                "sources": [found[text]["file"]],
                "document_bytes": wanted["document_bytes"],
                "curve": [n for n in wanted.get("curve", []) if n <= grid["add"]],
                "engines": grid["engines"],
                "time_only": grid["engines"][1:],
                **{name: grid[name] for name in ("add", "to") if name in grid},
            }


def prepare(case: Definition, scratch: Path) -> None:
    """Write the tokenizer of a case, its text and what is held out, each once."""
    import bytepair

    base, text = case.pop("base"), case.pop("text")
    source = texts.SHARED / "vocabularies" / base["file"]
    if source.suffix == ".json":
        case["base_file"] = str(source)
    else:
        case["base_file"] = str(scratch / f"{source.stem}.json")
        if not Path(case["base_file"]).exists():
            tokenizer = bytepair.Tokenizer.from_file(source, dialect=base["dialect"])
            tokenizer.save(case["base_file"])
    stem = re.sub(r"\W+", "-", text["name"])
    case["file"] = str(scratch / f"{stem}.txt")
    case["held_file"] = str(scratch / f"{stem}.held.jsonl")
    if not Path(case["held_file"]).exists():
        _write_parts(case, text, scratch)


def _write_parts(case: Definition, text: Definition, scratch: Path) -> None:
    """Write the documents to learn from, and as JSON those that are held out."""
    path = texts.corpus(text["file"])
    if "letters" in text:
        path = scratch / "lines.txt"
        texts.write_lines_in(
            texts.corpus(text["file"]), text["letters"], text["share"], path
        )
    elif "mixed_bytes" in text:
        path = scratch / "mixed.txt"
        mixture.write([texts.corpus(text["file"])], text["mixed_bytes"], path)
    n_most = text.get("n_bytes", 1 << 62)
    documents = texts.documents(path, case["document_bytes"], max_bytes=n_most)
    held = documents[HELD_OUT - 1 :: HELD_OUT]
    del documents[HELD_OUT - 1 :: HELD_OUT]
    Path(case["file"]).write_text("".join(documents), encoding="utf-8")
    Path(case["held_file"]).write_text(json.dumps(held), encoding="utf-8")


def quality(case: Definition, path: Path) -> Quality:
    """Judge the file that an engine wrote."""
    import tokenizers

    base = tokenizers.Tokenizer.from_file(case["base_file"])
    data = json.loads(path.read_text(encoding="utf-8"))
    known = base.get_vocab(with_added_tokens=True)
    new = {t: id_ for t, id_ in data["model"]["vocab"].items() if t not in known}
    ordered = sorted(new, key=new.__getitem__)
    held = json.loads(Path(case["held_file"]).read_text(encoding="utf-8"))
    found = {"the base": _count(base, held)}
    whole = tokenizers.Tokenizer.from_file(str(path))
    for n_first in case["curve"]:
        gone = set(ordered[n_first:])
        found[f"{n_first:,}"] = _count(_cut(data, gone) if gone else whole, held)
    if not case["curve"]:
        found["all"] = _count(whole, held)
    made = (whole.model.tokenize(token) for token in ordered)
    n_unreachable = sum(len(parts) != 1 for parts in made)
    return Quality(len(ordered), n_unreachable, found)


def n_tokens(path: Path) -> int:
    """Count the tokens of a file, added ones included."""
    import tokenizers

    return tokenizers.Tokenizer.from_file(str(path)).get_vocab_size()


def _cut(data: dict[str, Any], gone: set[str]) -> Any:  # noqa: ANN401 -- of a library
    """Give a tokenizer without some of its new tokens, nor the merges of them."""
    import tokenizers

    model = data["model"]
    merges = (m if isinstance(m, list) else m.split(" ") for m in model["merges"])
    kept = [m for m in merges if not ({*m, "".join(m)} & gone)]
    vocabulary = {t: id_ for t, id_ in model["vocab"].items() if t not in gone}
    smaller = {**data, "model": {**model, "vocab": vocabulary, "merges": kept}}
    return tokenizers.Tokenizer.from_str(json.dumps(smaller))


def _count(tokenizer: Any, documents: list[str]) -> int:  # noqa: ANN401 -- of a library
    found = tokenizer.encode_batch_fast(documents, add_special_tokens=False)
    return sum(len(encoding.ids) for encoding in found)


# Tables


def table(wanted: Definition, rows: list[Row]) -> tuple[list[str], list[list[str]]]:
    """Give the columns and rows of a table: a line for each engine of each case."""
    curve = [f"{n:,}" for n in wanted.get("curve", [])] or ["all"]
    is_prune = wanted["task"] == "prune"
    facts = ["tokens left"] if is_prune else ["tokens added", "unreachable"]
    shares = ["more tokens"] if is_prune else [f"{size} save" for size in curve]
    columns = ["", "wall s", "CPU s", "peak MB", *facts, *shares]
    lines = []
    for case, engine in dict.fromkeys((row.case, row.engine) for row in rows):
        found = {r.phase: r for r in rows if (r.case, r.engine) == (case, engine)}
        work, base = found["work"], found["held out, the base"].n_results
        counted = [found[name] for name in ("work", "unreachable") if name in found]
        lines.append(
            [
                f"{case}, {engine}",
                f"{work.wall.median:.2f}",
                f"{work.cpu.median:.2f}",
                f"{work.peak_bytes / 1e6:,.0f}",
                *(f"{row.n_results:,}" for row in counted),
                *(_share(found.get(f"held out, {size}"), base) for size in curve),
            ]
        )
    return columns, lines


def _share(row: Row | None, base: int) -> str:
    """Write by how much fewer or more tokens the held-out documents have."""
    if row is None:
        return "-"
    return f"{abs(100 * (1 - row.n_results / base)):.2f} %"
