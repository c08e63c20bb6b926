"""The playground with tokenizers: the page that ``make playground`` builds, with their data.

Tokenizers are written in bytepair's own format, so that the page gives the same ids as Python.
"""

import base64
import json
from collections.abc import Mapping
from pathlib import Path

from bytepair import FileError, Tokenizer

__all__ = ["PAGE", "page_with"]

PAGE = Path(__file__).parent.parent / "playground" / "index.html"
PLACE = "<!-- given tokenizers -->"
"""The line of the page that tokenizers replace; ``playground/build.py`` writes it."""


def page_with(tokenizers: Mapping[str, Tokenizer], *, page: Path = PAGE) -> str:
    """Return the page with tokenizers in it, under their names.

    Raises
    ------
    FileError
        The installation has no page.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileError(_missing(page)) from None
    return text.replace(PLACE, _block(tokenizers)) if tokenizers else text


def _missing(page: Path) -> str:
    """Say how to get the page: in a clone by one command, elsewhere from a wheel."""
    clone = page.parents[3]
    if (clone / "playground" / "build.py").is_file():
        return f"the playground is not built yet: run `make playground` in {clone}"
    return f"{page}: this installation has no playground; install a wheel of bytepair, which contains it"


def _block(tokenizers: Mapping[str, Tokenizer]) -> str:
    """Write tokenizers as a data element, which no name can close.

    >>> import bytepair
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> "</script><b>" in _block({"</script><b>": tokenizer})
    False
    """
    entries = [
        {"name": name, "data": base64.b64encode(tokenizer.to_bytes()).decode()}
        for name, tokenizer in tokenizers.items()
    ]
    data = json.dumps(entries).replace("<", "\\u003c")
    return f'<script type="application/json" id="given-tokenizers">{data}</script>'
