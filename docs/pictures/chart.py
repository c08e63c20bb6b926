"""Draw the chart of speed from the tables of docs/explanation/performance-*.md.

Above, the seconds of each trainer for 32,768 tokens; below, every ratio that the tables have between the
fastest other encoder and bytepair, those below 1 included. Nothing is measured here. The chart is as wide as
a phone, where its type is 11 pixels high:

    python docs/pictures/chart.py
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PAGES = HERE.parent / "explanation"
STATES = {"cold": "new tokenizer", "fresh": "new text", "warm": "known text"}
TRAINERS = ("bytepair", "rustbpe", "gigatoken", "tokenizers")
COLOURS = {
    "bytepair": "#4cc38a",
    "rustbpe": "#e5a155",
    "gigatoken": "#b18cf2",
    "tokenizers": "#6fa8dc",
}
LOST = "#f2777a"
FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
WIDTH, HEIGHT = 400, 474
LEFT, RIGHT = 130, 376


class Ratio(NamedTuple):
    """A cell of a table: a peer's time over ours."""

    table: str
    row: str
    state: str
    value: float


def sections() -> dict[str, str]:
    """Give the text of each section by its heading."""
    texts = [path.read_text("utf-8") for path in sorted(PAGES.glob("performance-*.md"))]
    parts = (part.partition("\n") for text in texts for part in text.split("\n## ")[1:])
    return {heading: body for heading, _, body in parts}


def table(text: str) -> list[list[str]]:
    """Give the cells of the first table of a text, its head first."""
    lines = re.findall(r"^\|.*\|$", text, re.MULTILINE)
    rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
    return [rows[0], *rows[2:]]


def training() -> dict[str, dict[str, float]]:
    """Give the seconds of each trainer by row of the table of training."""
    (text,) = (body for head, body in sections().items() if head.startswith("Training"))
    (_, *names), *rows = table(text)
    found: dict[str, dict[str, float]] = {}
    for name, ours, *ratios in rows:
        seconds = float(ours.removesuffix(" s"))
        peers = zip(names[1:], ratios, strict=True)
        times = {
            peer: seconds * float(ratio.removesuffix("x"))
            for peer, ratio in peers
            if ratio != "-"
        }
        found[name] = {"bytepair": seconds, **times}
    return found


def encoding() -> list[Ratio]:
    """Give all ratios of the tables about encoding documents, cold, fresh and warm."""
    found = []
    for heading, body in sections().items():
        if "Cells are cold / fresh / warm." not in body:
            continue
        head, *rows = table(body)
        for row in rows:
            for column, cell in zip(head, row, strict=True):
                if not column.endswith("ratio"):
                    continue
                values = cell.replace("*", "").split(" / ")
                for state, value in zip(STATES, values, strict=True):
                    found.append(Ratio(heading, row[0], state, float(value)))
    return found


def chart() -> str:
    """Draw both halves."""
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH * 1.3:g}" '
            f'xmlns="http://www.w3.org/2000/svg" role="img" font-family="{FONT}">',
            "<title>Training and encoding beside other libraries; the numbers are in "
            "the pages about performance</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#181a1f"/>',
            *drawn_training(),
            *drawn_encoding(),
            "</svg>\n",
        ]
    )


def drawn_training() -> list[str]:
    """Draw a row of points for each text, on a scale of powers of ten."""
    top, step = 96, 24
    rows = {
        name.removeprefix("gpt2, 32,768 tokens, "): times
        for name, times in training().items()
        if name.startswith("gpt2, 32,768")
    }
    bottom = top + step * (len(rows) - 1) + 14

    def x(seconds: float) -> float:
        return LEFT + (math.log10(seconds) + 2) / 3.2 * (RIGHT - LEFT)

    out = heading(
        28, "Training to 32,768 tokens", "seconds, two threads of an AMD Zen 5"
    )
    place = 20.0
    for name in TRAINERS:
        out += [circle(place, 68, COLOURS[name]), text(place + 9, 72.5, name)]
        place += 33 + 7 * len(name)
    for power in range(-2, 2):
        at, label = x(10**power), f"{10**power:g}"
        out += [line(at, top - 12, bottom), text(at, bottom + 16, label, "middle")]
    for number, (name, times) in enumerate(rows.items()):
        y = top + number * step
        out.append(text(LEFT - 14, y + 4, name, "end"))
        out.append(
            f'<path d="M{x(min(times.values())):.1f} {y}H{x(max(times.values())):.1f}" '
            'stroke="#4a4f59" stroke-width="2"/>'
        )
        out += [circle(x(times[peer]), y, COLOURS[peer]) for peer in times]
    return out


def drawn_encoding() -> list[str]:
    """Draw a point for each ratio; points of one state lie apart so that all are seen."""
    top, step = 316, 50
    bottom = top + step * 2 + 26

    def x(ratio: float) -> float:
        return LEFT + (math.log2(ratio) + 1) / 5 * (RIGHT - LEFT)

    about = "fastest other library = 1x, one thread of an AMD Zen 5"
    out = heading(252, "Encoding: times as fast", about)
    for power in range(-1, 5):
        at, label = x(2**power), f"{2**power:g}x"
        out += [line(at, top - 26, bottom), text(at, bottom + 16, label, "middle")]
    out.append(
        f'<path d="M{x(1):.1f} {top - 26}V{bottom}" stroke="#dee0e4" stroke-width="1.5"/>'
    )
    for number, (state, name) in enumerate(STATES.items()):
        y = top + number * step
        out.append(text(LEFT - 14, y + 4, name, "end"))
        mine = sorted(ratio.value for ratio in encoding() if ratio.state == state)
        for place, value in enumerate(mine):
            colour = COLOURS["bytepair"] if value >= 1 else LOST
            shift = (place * 7 % 11 - 5) * 3.6
            out.append(circle(x(value), y + shift, colour, 2.4, 0.75))
    return out


def heading(y: float, title: str, about: str) -> list[str]:
    """Write the title of a half and what was measured."""
    return [
        f'<text x="16" y="{y}" fill="#f2f3f5" font-size="16" font-weight="600">{title}</text>',
        text(16, y + 20, about),
    ]


def text(x: float, y: float, content: str, anchor: str = "start") -> str:
    """Write a word."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" fill="#b6bac2" font-size="12.5" '
        f'text-anchor="{anchor}">{content}</text>'
    )


def line(x: float, top: float, bottom: float) -> str:
    """Draw a line of the scale."""
    return f'<path d="M{x:.1f} {top}V{bottom}" stroke="#30343c"/>'


def circle(
    x: float, y: float, colour: str, radius: float = 5, opacity: float = 1
) -> str:
    """Draw a point."""
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{colour}" fill-opacity="{opacity:g}"/>'


if __name__ == "__main__":
    (HERE / "speed.svg").write_text(chart(), encoding="utf-8")
