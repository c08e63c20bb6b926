"""How results are shown: a short ``repr``, a view as ``str``, and the same view in a notebook.

A result for a large vocabulary has hundreds of thousands of entries. Its ``repr`` has the fields
and their numbers of entries, in at most :data:`MAX_LEN` characters; its ``str`` is what the
command line shows, and a notebook shows the same lines with their styles. Nothing is computed until a
result is shown.
"""

from __future__ import annotations

import reprlib
from collections.abc import Mapping, Sized
from dataclasses import fields
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from bytepair.views._runs import Line

__all__ = ["Result", "abridged", "one_line"]

MAX_LEN = 600
"""The maximum length of the ``repr`` of a result, in characters."""
MAX_VIEW_LEN = 4_000
"""The maximum length of the ``repr`` of a drawing of a text, in characters."""
MAX_HTML_LINES = 2_000
"""The maximum number of lines of a view in a notebook."""
FEW = 3
"""The maximum number of entries that are listed."""


class Result:
    """The base class of results, which are dataclasses with ``repr=False``."""

    __slots__ = ()

    def __repr__(self) -> str:
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return one_line(self, values)

    def __str__(self) -> str:
        from bytepair.views._runs import plain

        return plain(self._lines())

    def _lines(self) -> Iterable[Line]:
        """Return the lines that the command line shows."""
        from bytepair.views._runs import Run

        return [[Run(text)] for text in self._texts()]

    def _texts(self) -> Iterable[str]:
        """Return these lines if they have no styles."""
        lines: Iterable[str] = getattr(self, "lines", [repr(self)])
        return lines

    def _repr_html_(self) -> str:
        from bytepair.views._runs import columns

        return columns(_first(self._lines()))


def _first(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the first lines of a view, and a note if there are more."""
    from bytepair.views._runs import Run

    for number, line in enumerate(lines):
        if number == MAX_HTML_LINES:
            yield [Run("… more lines; print() shows all", "note")]
            return
        yield line


def one_line(result: object, values: Mapping[str, Any]) -> str:
    """Return the name and the fields of a result, each in a few words.

    >>> one_line(3, {"tokens": [1] * 1000, "name": "x" * 100, "near": (1, 2)})
    "<bytepair.int: tokens=1,000 items, name='xxxxxxxxxxxx...xxxxxxxxxxxxx', near=(1, 2)>"
    """
    parts = ", ".join(f"{name}={_short(value)}" for name, value in values.items())
    text = f"<bytepair.{type(result).__name__}: {parts}"
    return f"{text[: MAX_LEN - 2]}…>" if len(text) >= MAX_LEN else f"{text}>"


def _short(value: Any) -> str:  # noqa: ANN401 -- of any field
    if isinstance(value, Result):
        return f"<{type(value).__name__}>"
    if value is None or isinstance(value, (str, bytes, bool, int, float)):
        return reprlib.repr(value)
    if isinstance(value, (tuple, list)) and len(value) <= FEW:
        inner = [_short(one) for one in value]
        is_tuple = isinstance(value, tuple)
        listed = ", ".join(inner) + ("," if is_tuple and len(inner) == 1 else "")
        return f"({listed})" if is_tuple else f"[{listed}]"
    if isinstance(value, Sized):
        return f"{len(value):,} items"
    return f"<{type(value).__name__}>"


def abridged(text: str, most: int = MAX_VIEW_LEN) -> str:
    r"""Return a text, or the beginning of a long text and a note of what is left out.

    >>> abridged("one\ntwo\nthree", most=9)
    'one\ntwo\n… 5 more characters; print() shows all'
    """
    if len(text) <= most:
        return text
    end = text.rfind("\n", 0, most) + 1
    end = end if end > most // 2 else most
    gap = "" if text[:end].endswith("\n") else "\n"
    return f"{text[:end]}{gap}… {len(text) - end:,} more characters; print() shows all"
