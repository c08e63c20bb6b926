"""A report as one HTML file that loads nothing: it contains its styles, script and charts.

``page.html.jinja`` is the page, ``page.css`` has its styles, and ``page.js`` sorts tables and
shows tokens. The page allows only this script and these styles, by their hashes, and no
connections, so even text that got past the escaping could not run or load anything. The same
report gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bytepair.data._optional import load

if TYPE_CHECKING:
    from .report import Report

__all__ = ["check_libraries", "render"]

FOLDER = Path(__file__).parent


def check_libraries() -> None:
    """Check that the template library is installed.

    Raises
    ------
    MissingLibraryError
        jinja2 is not installed.
    """
    load("jinja2", "report")


def render(report: Report) -> str:
    """Write a report as an HTML page.

    >>> import bytepair
    >>> from bytepair.analyze import describe
    >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    >>> page = render(describe({"own": tokenizer}))
    >>> page.startswith("<!doctype html>"), "http:" in page, "https:" in page
    (True, False, False)

    Raises
    ------
    MissingLibraryError
        jinja2 is not installed.
    """
    check_libraries()
    from markupsafe import Markup

    from bytepair import __version__
    from bytepair._labels import harmless
    from bytepair.views._runs import CSS

    from .page import sections_of, subtitle

    css, script = CSS + _text("page.css"), _text("page.js")
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(css)}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    names = [harmless(subject.name) for subject in report.subjects]
    html: str = _template().render(
        names=names,
        subtitle=subtitle(report),
        sections=sections_of(report, names),
        version=__version__,
        policy=policy,
        css=Markup(css),
        script=Markup(script),
    )
    return html


@lru_cache(maxsize=1)
def _template() -> Any:  # noqa: ANN401 -- of a library that may be missing
    jinja2 = load("jinja2", "report")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_text("page.html.jinja"))


def _text(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """Return the hash of a text as in a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
