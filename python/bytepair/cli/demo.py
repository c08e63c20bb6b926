"""``bytepair demo``: the whole way, on text that every Python installation carries.

Trains, saves, loads, encodes and decodes, and fails where the text that comes back is
not the text that went in. Needs no download; reads at most 20 MB.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import bytepair
from bytepair import Tokenizer, TokenizerError
from bytepair.analyze import cut
from bytepair.views._layout import Options
from bytepair.views._showing import drawn
from bytepair.views._terminal import has_colours, print_lines

from .python_texts import python_texts
from .train import Watch, as_pasted, summary_lines
from .writing import merge_lines

__all__ = ["demo"]

MAX_BYTES = 20_000_000
VOCAB_SIZE = 4000
N_SHOWN = 6
SENTENCE = (
    "def hello(): return 'Hello, tokenizers!'  # "  # what the corpus is full of
    "Überraschung, Привет, こんにちは, 你好, नमस्ते, سلام 👋🏽 12345"
)


def default_output() -> Path:
    """Name the file for those who name none: not in the folder that they work in."""
    return Path(tempfile.gettempdir()) / "bytepair-demo.json"


def demo(
    *,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="OUT",
            help="Where to save the tokenizer; by default bytepair-demo.json in the "
            "folder for temporary files.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Train on Python's own sources and help, then save, load, encode and decode."""
    start = time.perf_counter()
    path = output or default_output()
    console = Console(highlight=False, soft_wrap=True)
    texts = python_texts(MAX_BYTES)
    n_bytes = sum(map(len, texts))
    console.print(f"Training on {len(texts):,} texts of this Python, {n_bytes:,} bytes")
    watch = Watch(is_shown=True)
    trained = bytepair.train_from_iterator(texts, vocab_size=VOCAB_SIZE, progress=watch)
    for line in summary_lines(watch.summary(trained)):
        console.print(line, markup=False)
    show_merges(console, trained)
    trained.save(path)
    tokenizer = Tokenizer.from_file(path)
    show_tokens(console, tokenizer, SENTENCE)
    n_checked = check_round_trip(
        tokenizer, [SENTENCE.encode(), bytes(range(256)), *texts]
    )
    console.print(
        f"\nRound trip: {n_checked:,} bytes encoded by the loaded tokenizer and decoded, "
        "no difference"
    )
    console.print(f"Saved: {path}", markup=False)
    console.print(f"Time: {time.perf_counter() - start:.1f} s")
    for line in next_steps(path, command_name()):
        console.print(line, markup=False)


def next_steps(path: Path, command: str) -> list[str]:
    """Say what to look at next.

    >>> next_steps(Path("own.json"), "bytepair")[-1]
    '  bytepair report own.json -o report.html'
    """
    quoted = as_pasted(str(path))
    return [
        "\nNext, look inside:",
        f"  {command} show {quoted} 'Hello, tokenizers!'",
        f"  {command} trace {quoted} tokenizers",
        f"  {command} report {quoted} -o report.html",
    ]


def command_name() -> str:
    """Return what the user types to run bytepair: its path where the shell does not find it by name."""
    program = Path(sys.argv[0])
    if program.stem != "bytepair":
        return "python -m bytepair"
    found = shutil.which("bytepair")
    if found and program.exists() and program.samefile(found):
        return "bytepair"
    return as_pasted(str(program))


def show_merges(console: Console, tokenizer: Tokenizer) -> None:
    """Show both ends of what was learned."""
    n_merges = len(tokenizer.merges)
    for title, places in (
        ("First merges", range(min(N_SHOWN, n_merges))),
        ("Last merges", range(max(N_SHOWN, n_merges - N_SHOWN), n_merges)),
    ):
        console.print(f"\n{title}")
        for line in merge_lines(tokenizer, places):
            console.print(line, markup=False)


def show_tokens(console: Console, tokenizer: Tokenizer, text: str) -> None:
    """Show a text in tokens; scripts that Python's sources lack come apart into bytes."""
    console.print()
    options = Options(brackets=not has_colours(console))
    print_lines(console, drawn([cut(tokenizer, text)], [""], options))


def check_round_trip(tokenizer: Tokenizer, texts: list[bytes]) -> int:
    """Encode and decode, and give the number of bytes that came back as they were.

    Raises
    ------
    TokenizerError
        A text came back as another.
    """
    for place, (text, ids) in enumerate(
        zip(texts, tokenizer.encode_batch(texts), strict=True)
    ):
        if tokenizer.decode_bytes(ids) != text:
            message = f"round trip: text {place} did not come back as it was"
            raise TokenizerError(message)
    return sum(map(len, texts))
