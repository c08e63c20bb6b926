"""One line on a terminal that is written over again; nothing where there is none."""

import sys

from bytepair._progress import fitting

__all__ = ["ProgressLine"]


class ProgressLine:
    """Shows how far a job has come.

    Attributes
    ----------
    untold
        Lines that a summary begins with, since no terminal showed them.
    """

    def __init__(self, *, is_shown: bool) -> None:
        self.is_shown = is_shown and sys.stderr.isatty()
        self.untold: list[str] = []

    def note(self, text: str) -> None:
        """Write a line that stays; without a terminal it waits for the summary."""
        if self.is_shown:
            print(text, file=sys.stderr)
        else:
            self.untold.append(text)

    def show(self, text: str) -> None:
        """Show a text in place of the last one."""
        if self.is_shown:
            sys.stderr.write(f"\r\x1b[K{fitting(text, sys.stderr)}")
            sys.stderr.flush()

    def show_bytes(self, what: str, done: int, total: int | None) -> None:
        """Show how many bytes are done, and of how many if that is known."""
        of_all = "" if total is None else f" of {total / 1e6:,.1f}"
        self.show(f"{what}: {done / 1e6:,.1f}{of_all} MB")

    def clear(self) -> None:
        """Take the line away."""
        self.show("")
