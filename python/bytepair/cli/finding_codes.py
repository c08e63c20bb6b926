"""Options that choose findings of the doctor by their codes."""

from typing import Any

import typer

__all__ = ["choosing", "codes_of"]


def choosing(what: str) -> Any:  # noqa: ANN401 -- typer names no class for it
    """Give an option that takes codes, with its help."""
    return typer.Option(metavar="CODE", help=what, show_default=False)


def codes_of(given: list[str] | None) -> list[str] | None:
    """Split codes at commas.

    >>> codes_of(["BP1,bp203", "BP5"])
    ['BP1', 'BP203', 'BP5']
    """
    if given is None:
        return None
    return [code.strip().upper() for codes in given for code in codes.split(",")]
