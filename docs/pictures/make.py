"""Draw the pictures of the README and the home page from what the commands write.

Trains a small tokenizer on the documentation in this repository, runs commands with it as on a terminal, and
writes what they print as SVG. With 50 columns, type is 11 pixels high on a phone:

    python docs/pictures/make.py
"""

import io
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import bytepair

HERE = Path(__file__).parent
DOCUMENTS = HERE.parent / "explanation"
TITLE_HEIGHT = 34
COLUMNS = 50
TEXT = "Tokenizers merge pairs"
NEW = "pretokenizer"

# A dark screen on pages of any colour. Fonts are those of the reader: nothing is loaded.
THEME = TerminalTheme(
    (24, 26, 31),
    (222, 224, 228),
    [(70, 74, 82)] * 8,
)
FORMAT = """\
<svg class="rich-terminal" viewBox="0 28 {width} {height}" width="SHOWN" xmlns="http://www.w3.org/2000/svg" role="img">
<style>
.{unique_id}-matrix {{
  font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
  font-size: {char_height}px; line-height: {line_height}px;
}}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>{lines}</defs>
<rect fill="#181a1f" x="0" y="28" width="{width}" height="{height}" rx="8" />
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def main() -> None:
    """Draw all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        draw("train", folder, ["train words.txt --merges 2 --steps"])
        draw("look", folder, [f'show own.json "{TEXT}"', "trace own.json pairs"])
        repair = "extend own.json --strings new.txt --output new.json"
        after = f"show own.json new.json {NEW}"
        draw("repair", folder, ["doctor edited.json --select BP101", repair, after])


def prepare(folder: Path) -> None:
    """Write what the commands read: texts, a tokenizer, and the same with a token that was added by hand."""
    paths = sorted(DOCUMENTS.glob("*.md"))
    texts = [path.read_text(encoding="utf-8") for path in paths]
    tokenizer = bytepair.train_from_iterator(texts, vocab_size=2500)
    tokenizer.save(folder / "own.json")
    edited = json.loads((folder / "own.json").read_text(encoding="utf-8"))
    edited["model"]["vocab"][NEW] = tokenizer.n_vocab
    (folder / "edited.json").write_text(json.dumps(edited), encoding="utf-8")
    (folder / "words.txt").write_text("hug hugs pug bug", encoding="utf-8")
    (folder / "new.txt").write_text(NEW, encoding="utf-8")


def draw(name: str, folder: str, commands: list[str]) -> None:
    """Run commands and draw what they print on standard output."""
    environment = {
        **os.environ,
        "COLUMNS": str(COLUMNS),
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
        "PYTHONUTF8": "1",
    }
    environment.pop("NO_COLOR", None)
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    for command in commands:
        found = subprocess.run(
            [sys.executable, "-m", "bytepair", *shlex.split(command)],
            cwd=folder,
            env=environment,
            capture_output=True,
            check=False,  # doctor ends with 1 if it finds a fault
        )
        lines = textwrap.wrap(f"$ bytepair {command}", COLUMNS)
        printed = " \\\n> ".join(lines) + "\n" + found.stdout.decode()
        for line in AnsiDecoder().decode(printed.rstrip() + "\n"):
            console.print(line, soft_wrap=True, highlight=False)
    code_format = FORMAT.replace("SHOWN", str(10 * COLUMNS))  # 16 pixels high
    svg = console.export_svg(
        theme=THEME, code_format=code_format, unique_id=f"bytepair-{name}"
    )
    # There is no title bar, for which room is left above.
    svg = re.sub(
        r'(height=")([0-9.]+)(" rx=)|(viewBox="[^"]* )([0-9.]+)(")', lower, svg
    )
    (HERE / f"{name}.svg").write_text(svg, encoding="utf-8")


def lower(found: re.Match[str]) -> str:
    """Take the room for a title bar off a height."""
    before, height, after = (part for part in found.groups() if part is not None)
    return f"{before}{float(height) - TITLE_HEIGHT:g}{after}"


if __name__ == "__main__":
    main()
