"""How far tasks are that are not done yet, told from time to time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["N_TOLD", "WATCH_SECONDS", "Seldom", "Tell"]

Tell: TypeAlias = "Callable[[Sequence[int]], object]"

N_TOLD = 3
"""How many numbers a task tells about itself."""
WATCH_SECONDS = 0.5
"""How often a watcher hears of them."""


class Seldom:
    """Calls a watcher, but not too often."""

    def __init__(self, watch: Tell) -> None:
        self.watch, self.next = watch, time.monotonic() + WATCH_SECONDS

    def __call__(self, numbers: Sequence[int]) -> None:
        """Tell the watcher, unless it heard something just now."""
        if time.monotonic() >= self.next:
            self.watch(list(numbers))
            self.next = time.monotonic() + WATCH_SECONDS
