"""Code in cells of tables as Git hosts show it.

There a bar within code is written with a backslash before it, which is not shown. Python-Markdown shows it.
"""

import re

__all__ = ["plain_bars"]

CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
CODE = re.compile(r"<code[^>]*>[^<]*</code>")


def plain_bars(html: str) -> str:
    r"""Take the backslash from bars in the code of cells.

    >>> plain_bars(r"<td><code>a \| b</code> \|</td><p><code>\|</code></p>")
    '<td><code>a | b</code> \\|</td><p><code>\\|</code></p>'
    """
    return CELL.sub(
        lambda cell: CODE.sub(lambda code: code[0].replace(r"\|", "|"), cell[0]), html
    )
