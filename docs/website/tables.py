"""Tables and code as Git hosts show them.

There a bar within code of a cell is written with a backslash before it, which is not shown. Python-Markdown shows it.
There code such as ` the` keeps its space, which is part of the token. Python-Markdown takes it away.
What is not to be broken gets a class, for the style sheet.
"""

import re

__all__ = ["marked_spaces", "plain_bars", "with_spaces", "without_breaks"]

CELL = re.compile(r"<td[^>]*>.*?</td>", re.DOTALL)
CODE = re.compile(r"<code[^>]*>[^<]*</code>")
SHORT_CODE = re.compile(r"<code>(?=[^<> ]{1,24}</code>)")
CODE_OF_WORDS = re.compile(r"<code>[^<]* [^<]*</code>")
WORD_WITH_HYPHEN = re.compile(
    r"(?<![^\s>])(?=[^\s<>]{1,24}(?:[\s<]|$))[^\s<>-]*-[^\s<>]+"
)
MARK = re.compile(r"<td>(?=[✓◐–-]</td>)")
LONG = re.compile(r"<td>(?=((?:<[^>]*>|[^<])*?)</td>)")
TAG = re.compile(r"<[^>]*>")
N_LONG = 40
FENCED = re.compile(r"(^ *```.*?^ *```$)", re.DOTALL | re.MULTILINE)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
SPACE = "\ue000"  # of private use, so it is in no page
CODE_WITH_SPACE = re.compile(rf"<code[^>]*>(?=[^<]*{SPACE})([^<]*)</code>")


def plain_bars(html: str) -> str:
    r"""Take the backslash from bars in the code of cells.

    >>> plain_bars(r"<td><code>a \| b</code> \|</td><p><code>\|</code></p>")
    '<td><code>a | b</code> \\|</td><p><code>\\|</code></p>'
    """
    return CELL.sub(
        lambda cell: CODE.sub(lambda code: code[0].replace(r"\|", "|"), cell[0]), html
    )


def without_breaks(html: str) -> str:
    """Mark what stays on one line (short code, options within longer code), and cells of one sign or of a sentence.

    >>> without_breaks("<td>✓</td><code>a-b</code>")
    '<td class="bp-mark">✓</td><code class="bp-word">a-b</code>'
    >>> without_breaks("<code>train --vocab-size 9</code>")
    '<code>train <span class="bp-word">--vocab-size</span> 9</code>'
    """
    html = SHORT_CODE.sub('<code class="bp-word">', html)
    html = CODE_OF_WORDS.sub(
        lambda code: WORD_WITH_HYPHEN.sub(
            r'<span class="bp-word">\g<0></span>', code[0]
        ),
        html,
    )
    html = MARK.sub('<td class="bp-mark">', html)
    return LONG.sub(
        lambda cell: '<td class="bp-long">' if is_long(cell[1]) else cell[0], html
    )


def is_long(cell: str) -> bool:
    """Tell whether a cell holds more than a few words.

    >>> is_long("one <em>or</em> two"), is_long("word " * 10)
    (False, True)
    """
    return len(TAG.sub("", cell)) > N_LONG


def marked_spaces(markdown: str) -> str:
    """Put a mark for the space at either end of code, which `with_spaces` turns into the space.

    >>> marked_spaces("`king` and ` king`").replace(SPACE, "!")
    '`king` and `!king`'
    """
    parts = FENCED.split(markdown)
    parts[::2] = [CODE_SPAN.sub(marked_span, part) for part in parts[::2]]
    return "".join(parts)


def marked_span(span: re.Match[str]) -> str:
    """Mark the spaces of one span; spaces within two or more backticks only part them from the code."""
    ticks, code = span[1], span[2]
    if len(ticks) > 1:
        return span[0]
    code = re.sub("^ | $", SPACE, code)
    return f"{ticks}{code}{ticks}"


def with_spaces(html: str) -> str:
    """Show the spaces that were marked."""
    return CODE_WITH_SPACE.sub(
        lambda code: f'<code class="bp-space">{code[1].replace(SPACE, " ")}</code>',
        html,
    )
