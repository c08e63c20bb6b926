"""What is wrong with a release: an error for the file that cannot be judged, lines for the rest."""

from collections.abc import Iterable, Iterator


class ReleaseError(Exception):
    """Something that keeps the rest from being looked at."""


def missing(what: str, wanted: Iterable[str], found: Iterable[str]) -> Iterator[str]:
    """Say which of the wanted names are absent."""
    absent = sorted(set(wanted) - set(found))
    if absent:
        yield f"{what} lacks {', '.join(absent)}"


def unwanted(what: str, found: Iterable[str], allowed: Iterable[str]) -> Iterator[str]:
    """Say which of the names should not be there."""
    extra = sorted(set(found) - set(allowed))
    if extra:
        shown = ", ".join(extra[:5]) + (", …" if len(extra) > 5 else "")
        yield f"{what} holds {len(extra)} files too many: {shown}"
