"""Types of arguments."""

from collections.abc import Collection, Iterable
from typing import Literal, TypeAlias

from bytepair._numpy import NDArray, np

__all__ = ["Added", "Ids", "Specials"]

Added: TypeAlias = Literal["find", "text"]
Ids: TypeAlias = Iterable[int] | NDArray[np.uint32] | NDArray[np.uint16]
Specials: TypeAlias = Literal["all"] | Collection[str]
