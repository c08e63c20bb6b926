"""Draw the pictures of the README from what the commands write.

Trains two small tokenizers on the documentation in this repository, runs ``bytepair show`` and
``bytepair trace`` with them as on a terminal, and writes what they print as SVG:

    python docs/pictures/make.py
"""

import io
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.ansi import AnsiDecoder
from rich.console import Console
from rich.terminal_theme import TerminalTheme

import bytepair

HERE = Path(__file__).parent
DOCUMENTS = HERE.parent / "explanation"
COLUMNS = 88
TITLE_HEIGHT = 34
TEXT = "Tokenizers merge frequent pairs: naïve, 東京"
WORD = "encoding"

# A dark screen on pages of any colour. Fonts are those of the reader: nothing is loaded.
THEME = TerminalTheme(
    (24, 26, 31),
    (222, 224, 228),
    [(70, 74, 82)] * 8,
)
FORMAT = """\
<svg class="rich-terminal" viewBox="0 28 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
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
    texts = [
        path.read_text(encoding="utf-8") for path in sorted(DOCUMENTS.glob("*.md"))
    ]
    with tempfile.TemporaryDirectory() as folder:
        for name, dialect, size in (("small", "gpt2", 500), ("large", "gpt4o", 2500)):
            tokenizer = bytepair.train_from_iterator(
                texts, vocab_size=size, dialect=dialect
            )
            for ending in ("json", "bytepair"):  # the latter keeps the counts
                tokenizer.save(Path(folder) / f"{name}.{ending}")
        draw("show", folder, ["show", "small.json", "large.json", TEXT])
        draw("trace", folder, ["trace", "large.bytepair", WORD])


def draw(name: str, folder: str, arguments: list[str]) -> None:
    """Run a command and draw what it prints."""
    environment = {
        **os.environ,
        "COLUMNS": str(COLUMNS),
        "FORCE_COLOR": "1",
        "TERM": "xterm-256color",
        "PYTHONUTF8": "1",
    }
    environment.pop("NO_COLOR", None)
    found = subprocess.run(
        [sys.executable, "-m", "bytepair", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        check=True,
    )
    quoted = (f'"{a}"' if " " in a else a for a in arguments)
    printed = f"$ bytepair {' '.join(quoted)}\n{found.stdout.decode()}"
    console = Console(
        record=True,
        width=COLUMNS,
        file=io.StringIO(),
        force_terminal=True,
        color_system="truecolor",
    )
    for line in AnsiDecoder().decode(printed):
        console.print(line, soft_wrap=True, highlight=False)
    svg = console.export_svg(
        theme=THEME, code_format=FORMAT, unique_id=f"bytepair-{name}"
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
