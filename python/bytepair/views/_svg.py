"""Trees of merges as an SVG picture: symbols at the bottom, each merge above its parts.

The picture has its own colours and is readable on dark and light pages. Its size is linear in the
number of symbols, which is limited.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape

from bytepair import TokenizerError
from bytepair.analyze._trace import Known, Node, Piece, Trace

from ._glyphs import missing, token_text, visible, width

__all__ = ["tree_svg"]

CHARACTER, LINE, GAP, MARGIN = 9, 46, 22, 24
BOX = 26
MAX_SYMBOLS = 2000
STYLE = """
.bp-tree { font: 15px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
.bp-tree .bp-ground { fill: #fcfcfa; }
.bp-tree text { fill: #1c1c1c; text-anchor: middle; white-space: pre; }
.bp-tree .bp-rank { fill: #6a6a6a; font-size: 11px;
  paint-order: stroke; stroke: #fcfcfa; stroke-width: 4px; }
.bp-tree line { stroke: #9a9a9a; stroke-width: 1.3; }
.bp-tree .bp-token { fill: #cfe3fb; stroke: #5b8fd0; }
.bp-tree .bp-inner { fill: #eef1f4; stroke: #b4bcc6; }
.bp-tree .bp-symbol { fill: #ffffff; stroke: #d0d0d0; }
.bp-tree .bp-missing { fill: #f7d0d0; stroke: #b01414; }
"""


@dataclass(slots=True)
class Box:
    """A token at its place: its middle, and the number of levels below it."""

    node: Node
    name: str
    x: float
    level: int
    kind: str

    @property
    def width(self) -> float:
        """Its width in pixels."""
        return width(self.name) * CHARACTER + 14


def tree_svg(trace: Trace) -> str:
    """Draw the trees of merges of all pieces, side by side.

    >>> import bytepair
    >>> from bytepair.analyze import trace
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> svg = tree_svg(trace(tokenizer, "<low>"))
    >>> svg.count("<rect"), svg.count("<line"), "&lt;" in svg
    (8, 4, True)

    Raises
    ------
    TokenizerError
        There are more than 2,000 symbols.
    """
    n_symbols = sum(len(piece.symbols) for piece in trace.pieces)
    if n_symbols > MAX_SYMBOLS:
        message = (
            f"a tree of {n_symbols:,} symbols is too large to draw; give a text of at "
            f"most {MAX_SYMBOLS:,}"
        )
        raise TokenizerError(message)
    right: float = MARGIN
    boxes: dict[int, Box] = {}
    for part in trace.flat:
        roots = part.tree if isinstance(part, Piece) else [Node(part.id, 0, 0)]
        for root in roots:
            right = _place(root, trace.known, boxes, right) + GAP / 2
        right += GAP
    top = max((box.level for box in boxes.values()), default=0)
    n_columns = right - 1.5 * GAP + MARGIN if boxes else 2 * MARGIN
    n_lines = top * LINE + BOX + 2 * MARGIN
    drawn = "".join([*_lines(boxes, top), *_labels(boxes.values(), top)])
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="bp-tree" role="img" '
        f'width="{n_columns:.0f}" height="{n_lines:.0f}" '
        f'viewBox="0 0 {n_columns:.0f} {n_lines:.0f}">'
        f"<title>{escape(visible(trace.text))}</title><style>{STYLE}</style>"
        f'<rect class="bp-ground" width="100%" height="100%" rx="8"/>{drawn}</svg>\n'
    )


def _place(
    root: Node, known: dict[int, Known], boxes: dict[int, Box], left: float
) -> float:
    """Give each token of a tree its place, from ``left`` on; give the end of the tree."""
    in_order = [root]  # each before its parts
    for node in in_order:
        in_order += node.parts
    symbols = sorted((n for n in in_order if not n.parts), key=lambda n: n.first)
    place = left
    for node in reversed(in_order):
        kind = "token" if node is root else "inner" if node.parts else "symbol"
        token = known[node.id]
        is_missing = token.kind == "missing"
        kind = "missing" if is_missing else kind
        name = missing(token.name) if is_missing else token_text(token.name)
        level = 1 + max((boxes[id(p)].level for p in node.parts), default=-1)
        boxes[id(node)] = Box(node, name, 0, level, kind)
    for node in symbols:
        box = boxes[id(node)]
        box.x = place + box.width / 2
        place += box.width + GAP / 2
    for node in reversed(in_order):
        if node.parts:
            box = boxes[id(node)]
            box.x = sum(boxes[id(part)].x for part in node.parts) / 2
    # A token is drawn at the height of its level, and wider than the tokens below it.
    right = max(boxes[id(node)].x + boxes[id(node)].width / 2 for node in in_order)
    beyond = left - min(boxes[id(n)].x - boxes[id(n)].width / 2 for n in in_order)
    for node in in_order:
        boxes[id(node)].x += max(beyond, 0)
    return right + max(beyond, 0)


def _y(level: int, top: int) -> float:
    return MARGIN + BOX / 2 + (top - level) * LINE


def _lines(boxes: dict[int, Box], top: int) -> Iterator[str]:
    for box in boxes.values():
        for part in box.node.parts:
            below = boxes[id(part)]
            yield (
                f'<line x1="{box.x:.1f}" y1="{_y(box.level, top):.1f}" '
                f'x2="{below.x:.1f}" y2="{_y(below.level, top):.1f}"/>'
            )


def _labels(boxes: Iterable[Box], top: int) -> Iterator[str]:
    for box in boxes:
        y = _y(box.level, top)
        yield (
            f'<rect class="bp-{box.kind}" x="{box.x - box.width / 2:.1f}" '
            f'y="{y - BOX / 2:.1f}" width="{box.width:.1f}" height="{BOX}" rx="5"/>'
            f'<text x="{box.x:.1f}" y="{y + 5:.1f}">{escape(box.name)}</text>'
        )
        if box.node.step is not None:
            yield (
                f'<text class="bp-rank" x="{box.x:.1f}" y="{y + BOX / 2 + 12:.1f}">'
                f"rank {box.node.step.rank:,}</text>"
            )
