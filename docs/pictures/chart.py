"""Draw the chart of the home page from the tables of docs/explanation/performance.md.

On the left, what training to 32,768 tokens takes with each trainer; on the right, every ratio that
the page has between the fastest other encoder and bytepair, those below 1 included. Nothing is
left out and nothing is measured here:

    python docs/pictures/chart.py
"""

import math
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
PERFORMANCE = HERE.parent / "explanation" / "performance.md"
STATES = ("cold", "fresh", "warm")
TRAINERS = ("bytepair", "rustbpe", "gigatoken", "tokenizers")
COLOURS = {
    "bytepair": "#4cc38a",
    "rustbpe": "#e5a155",
    "gigatoken": "#b18cf2",
    "tokenizers": "#6fa8dc",
}
LOST = "#f2777a"
FONT = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif"
WIDTH, HEIGHT = 960, 336


class Ratio(NamedTuple):
    """A cell of a table: a peer's time over ours."""

    table: str
    row: str
    state: str
    value: float


def sections() -> dict[str, str]:
    """Give the text of each section by its heading."""
    text = PERFORMANCE.read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("\n### ")[1:])
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


def speeds(heading: str) -> list[float]:
    """Give the MB/s of new text, written to arrays, in a table about encoding."""
    head, *rows = table(sections()[heading])
    column = head.index("arrays, MB/s")
    return [float(row[column].split(" / ")[1]) for row in rows]


def chart() -> str:
    """Draw both halves."""
    return "\n".join(
        [
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" xmlns="http://www.w3.org/2000/svg" '
            f'role="img" font-family="{FONT}">',
            "<title>Training and encoding beside other libraries; the numbers are in "
            "the page about performance</title>",
            f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#181a1f"/>',
            *drawn_training(),
            *drawn_encoding(),
            "</svg>\n",
        ]
    )


def drawn_training() -> list[str]:
    """Draw a row of points for each text, on a scale of powers of ten."""
    left, right, top, step = 150, 470, 108, 38
    rows = {
        name.removeprefix("gpt2, 32,768 tokens, "): times
        for name, times in training().items()
        if name.startswith("gpt2, 32,768")
    }
    bottom = top + step * (len(rows) - 1) + 22

    def x(seconds: float) -> float:
        return left + (math.log10(seconds) + 2) / 4 * (right - left)

    out = heading(24, "Training to 32,768 tokens, seconds", "two threads, wall time")
    place = 24
    for name in TRAINERS:
        out += [circle(place + 5, 76, COLOURS[name]), text(place + 15, 80, name)]
        place += 32 + 7 * len(name)
    for power in range(-2, 3):
        at, label = x(10**power), f"{10**power:g}"
        out += [line(at, top - 18, bottom), text(at, bottom + 18, label, "middle")]
    for number, (name, times) in enumerate(rows.items()):
        y = top + number * step
        out.append(text(left - 16, y + 4, name, "end"))
        out.append(
            f'<path d="M{x(min(times.values())):.1f} {y}H{x(max(times.values())):.1f}" '
            'stroke="#4a4f59" stroke-width="2"/>'
        )
        out += [circle(x(times[peer]), y, COLOURS[peer]) for peer in times]
    return out


def drawn_encoding() -> list[str]:
    """Draw a point for each ratio; points of one state lie apart so that all are seen."""
    left, right, top, step = 560, 930, 130, 64
    bottom = top + step * 2 + 34

    def x(ratio: float) -> float:
        return left + (math.log2(ratio) + 1) / 5 * (right - left)

    ratios = encoding()
    lost = sum(ratio.value < 1 for ratio in ratios)
    out = heading(
        500,
        "Encoding: speed over the fastest other library",
        f"one thread, processor time; {len(ratios)} comparisons, {lost} lost",
    )
    for power in range(-1, 5):
        at, label = x(2**power), f"{2**power:g}x"
        out += [line(at, top - 40, bottom), text(at, bottom + 18, label, "middle")]
    out.append(
        f'<path d="M{x(1):.1f} {top - 40}V{bottom}" stroke="#dee0e4" stroke-width="1.5"/>'
    )
    for number, state in enumerate(STATES):
        y = top + number * step
        out.append(text(left - 12, y + 4, state, "end"))
        mine = sorted(ratio.value for ratio in ratios if ratio.state == state)
        for place, value in enumerate(mine):
            colour = COLOURS["bytepair"] if value >= 1 else LOST
            shift = (place * 7 % 11 - 5) * 4
            out.append(circle(x(value), y + shift, colour, 3, 0.75))
    return out


def heading(x: float, title: str, about: str) -> list[str]:
    """Write the title of a half and what was measured."""
    return [
        f'<text x="{x}" y="34" fill="#f2f3f5" font-size="16" font-weight="600">{title}</text>',
        text(x, 54, about),
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
