"""``bytepair convert``: a tokenizer to another format, with a check that nothing changed."""

from pathlib import Path
from typing import Any

from bytepair import Tokenizer
from bytepair._io import saving
from bytepair._labels import harmless
from bytepair._plurals import amount
from bytepair.analyze._compare.converting import Conversion, convert as write_converted

from .command import Argument, Option, command
from .options import FORMAT, LOADING_OPTIONS, TOKENIZER
from .progress_line import ProgressLine
from .texts import read_texts

__all__ = ["convert"]


@command(
    TOKENIZER,
    Argument(
        "target",
        "TARGET",
        "The file to write; its extension sets the format.",
        type=Path,
        writes=True,
    ),
    FORMAT,
    Option(
        "--corpus FILE...",
        "A text to compare, in addition to the built-in ones. May be repeated.",
        name="texts",
        reads=True,
    ),
    Option(
        "--ids-may-change",
        "Allow ids to change, for formats that do not store them or normalize some texts "
        "differently.",
    ),
    *LOADING_OPTIONS,
)
def convert(
    tokenizer_path: Path,
    target: Path,
    *,
    format: str | None = None,
    texts: list[str] | None = None,
    ids_may_change: bool = False,
    **loading: Any,
) -> None:
    """Write a tokenizer in another format, read it back, and compare both.

    $ bytepair convert tokenizer.json tokenizer.bytepair
    $ bytepair convert tokenizer.json tokenizer.tiktoken
    $ bytepair convert tokenizer.json checked.bytepair --corpus corpus.txt
    """
    saving.format_of(target, format, option="--format")
    own = read_texts(texts or [])
    line = ProgressLine(is_shown=True)
    line.show(f"reading {tokenizer_path}")
    try:
        tokenizer = Tokenizer.from_file(tokenizer_path, **loading)
        line.show(f"writing {target}, reading it and comparing both")
        done = write_converted(
            tokenizer,
            target,
            format=format,
            texts=own,
            ids_may_change=ids_may_change,
        )
    finally:
        line.clear()
    for path in done.files:
        print(harmless(f"wrote {path}"))
    same = "ids, tokens and decoded text" if done.has_ids else "tokens (but not ids)"
    print(
        f"{done.format}: the same {same} for {amount(done.n_texts, 'text')} "
        f"of {amount(done.n_characters, 'character')}{_rest(done)}"
    )
    for change in done.changes:
        print(harmless(f"different ids: {change}"))
    if done.n_changed:
        print(f"{amount(done.n_changed, 'text')} of these kinds not compared")


def _rest(done: Conversion) -> str:
    vocabulary = "; the same vocabulary and special tokens" if done.has_ids else ""
    if not done.n_refused:
        return vocabulary
    lines = amount(done.n_refused, "line")
    return (
        f"{vocabulary}; {lines} of your text not compared, since this tokenizer refuses "
        "characters outside its alphabet, which another library may drop"
    )
