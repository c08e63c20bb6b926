"""``bytepair convert``: a tokenizer to another format, with a check that nothing changed."""

from pathlib import Path
from typing import Any

from bytepair import Tokenizer
from bytepair._io import saving
from bytepair.analyze._compare.converting import convert as write_converted

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
    print("\n".join(done.lines))
