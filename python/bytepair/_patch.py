"""How a row of ids changes; the core makes these objects."""

from collections.abc import Iterable
from typing import NamedTuple

from bytepair.errors import TokenizerError

__all__ = ["Patch"]


class Patch(NamedTuple):
    """How a row of ids changes: which of its ids stay, and which come instead of the others.

    The first ``keep`` ids stay, ``ids`` follow, and then the last ``keep_after`` ids of the old row. ``keep_after`` is 0 if
    the text changed at its end.

    >>> from bytepair.serving import Patch
    >>> patch = Patch(2, [7, 8])
    >>> patch.apply([1, 2, 3])
    [1, 2, 7, 8]
    >>> patch
    Patch(keep=2, ids=[7, 8], keep_after=0)
    """

    keep: int
    ids: list[int]
    keep_after: int = 0

    def apply(self, ids: Iterable[int]) -> list[int]:
        """Return the new row.

        >>> from bytepair.serving import Patch
        >>> Patch(1, [7], keep_after=1).apply([1, 2, 3])
        [1, 7, 3]

        Raises
        ------
        TokenizerError
            There are fewer ids than stay.
        """
        row = list(map(int, ids))
        after = len(row) - self.keep_after
        if self.keep > after:
            message = f"the patch keeps {self.keep} ids at the beginning and {self.keep_after} at the end, but there are {len(row)}"
            raise TokenizerError(message)
        return [*row[: self.keep], *self.ids, *row[after:]]
