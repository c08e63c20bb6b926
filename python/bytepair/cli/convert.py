"""``bytepair convert``: another format, with a proof that nothing changed."""

from pathlib import Path
from typing import Annotated

import typer

from bytepair._io import saving
from bytepair._labels import harmless
from bytepair._plurals import amount
from bytepair._verify.convert import Conversion, convert as write_converted

from .options import Format, LoadingOptions, Texts, TokenizerPath
from .progress_line import ProgressLine
from .spreading import spread
from .texts import read_texts

__all__ = ["convert"]


@spread
def convert(
    tokenizer_path: TokenizerPath,
    target: Annotated[
        Path,
        typer.Argument(
            metavar="TARGET",
            help="The file to write; its extension sets the format.",
            show_default=False,
        ),
    ],
    *,
    format_name: Format = None,
    texts: Texts = None,
    ids_may_change: Annotated[
        bool,
        typer.Option(
            "--ids-may-change",
            help="Allow ids to change, for formats that do not store them or normalize some texts differently.",
        ),
    ] = False,
    loading: LoadingOptions,
) -> None:
    """Write a tokenizer in another format, read it back, and compare both."""
    saving.format_of(target, format_name, option="--format")
    own = read_texts(texts or [])
    line = ProgressLine(is_shown=True)
    line.show(f"reading {tokenizer_path}")
    try:
        tokenizer = loading.load(tokenizer_path)
        line.show(f"writing {target}, reading it and comparing both")
        done = write_converted(
            tokenizer,
            target,
            format=format_name,
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
