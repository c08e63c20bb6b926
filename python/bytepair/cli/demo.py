"""``bytepair demo``: from training to decoding, on the sources of Python itself.

Trains, saves, loads, encodes and decodes, and fails if a decoded text differs from the
original. Needs no download; reads at most 20 MB.
"""

import sysconfig
import tempfile
import time
from pathlib import Path

from rich.console import Console

import bytepair
from bytepair import Tokenizer, TokenizerError
from bytepair.analyze import cut
from bytepair.analyze._show.draw import drawn
from bytepair.analyze._show.layout import Options
from bytepair.views._terminal import has_colours, print_lines

from .command import Option, command
from .train import Watch, as_pasted, summary_lines
from .writing import merge_lines

__all__ = ["demo"]

MAX_BYTES = 20_000_000
VOCAB_SIZE = 4000
N_SHOWN = 6
LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test"}
"""Folders of other people's code, and of test data."""
SENTENCE = (
    "def hello(): return 'Hello, tokenizers!'  # "  # like the corpus
    "Überraschung, Привет, こんにちは, 你好, नमस्ते, سلام 👋🏽 12345"
)


@command(
    Option(
        "-o, --output OUT",
        "Where to save the tokenizer; by default bytepair-demo.json in the folder for temporary "
        "files.",
        type=Path,
        writes=True,
    ),
)
def demo(*, output: Path | None = None) -> None:
    """Train on Python's own sources, then save, load, encode and decode.

    $ bytepair demo
    $ bytepair demo -o demo.json
    $ bytepair show demo.json "Hello world"
    """
    start = time.perf_counter()
    path = output or Path(tempfile.gettempdir(), "bytepair-demo.json")
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
    for line in next_steps(path):
        console.print(line, markup=False)


def python_texts(max_bytes: int) -> list[bytes]:
    """Return the sources of the standard library in a fixed order, together at most ``max_bytes``.

    Raises
    ------
    TokenizerError
        This Python has no sources.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    paths = sorted(folder.rglob("*.py"))
    texts: list[bytes] = []
    for path in paths:
        if LEFT_OUT.isdisjoint(path.relative_to(folder).parts):
            texts.append(path.read_bytes())
            max_bytes -= len(texts[-1])
        if max_bytes < 0:
            del texts[-1]
            break
    if not texts:
        message = (
            f"{folder}: this Python has no sources to train on; use bytepair train"
        )
        raise TokenizerError(message)
    return texts


def next_steps(path: Path) -> list[str]:
    """Return lines with commands that inspect a tokenizer.

    >>> next_steps(Path("own.json"))[-1]
    '  bytepair report own.json -o report.html'
    """
    quoted = as_pasted(str(path))
    return [
        "\nNext, look inside:",
        f"  bytepair show {quoted} 'Hello, tokenizers!'",
        f"  bytepair trace {quoted} tokenizers",
        f"  bytepair report {quoted} -o report.html",
    ]


def show_merges(console: Console, tokenizer: Tokenizer) -> None:
    """Show the first and the last merges."""
    n_merges = len(tokenizer.merges)
    for title, places in (
        ("First merges", range(min(N_SHOWN, n_merges))),
        ("Last merges", range(max(N_SHOWN, n_merges - N_SHOWN), n_merges)),
    ):
        console.print(f"\n{title}")
        for line in merge_lines(tokenizer, places):
            console.print(line, markup=False)


def show_tokens(console: Console, tokenizer: Tokenizer, text: str) -> None:
    """Show a text in tokens; scripts that are rare in Python's sources are split into bytes."""
    console.print()
    options = Options(brackets=not has_colours(console))
    print_lines(console, drawn([cut(tokenizer, text)], [""], options))


def check_round_trip(tokenizer: Tokenizer, texts: list[bytes]) -> int:
    """Encode and decode texts, and return their number of bytes.

    Raises
    ------
    TokenizerError
        A decoded text differs from the original.
    """
    for index, (text, ids) in enumerate(
        zip(texts, tokenizer.encode_batch(texts), strict=True)
    ):
        if tokenizer.decode_bytes(ids) != text:
            message = f"round trip: text {index} is not the same after decoding"
            raise TokenizerError(message)
    return sum(map(len, texts))
