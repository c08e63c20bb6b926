"""Make a failing text small: drop stretches of it, then replace characters by plain ones.

Greedy delta debugging: stretches of half the text, of a quarter, … of one character are
dropped as long as the text still fails; then each character becomes ``a`` if the text still fails.
Cost: at most ``n_tries`` calls of ``fails``, with at most ``n_times`` the characters of the text in total.
"""

from collections.abc import Callable, Iterator

__all__ = ["shrink"]

N_PLAIN = 200
"""How long a text may be whose characters are made plain."""

N_ALWAYS = 100_000
"""How many characters may be tried for a text of any length."""


def shrink(
    text: str, fails: Callable[[str], bool], *, n_tries: int = 1500, n_times: int = 64
) -> str:
    """Return a smaller text for which ``fails`` is true, as it is for ``text``.

    >>> shrink("some text with a b in it", lambda text: "b" in text)
    'b'
    """
    n_left = max(N_ALWAYS, n_times * len(text))
    stretch = max(1, len(text) // 2)
    while n_tries > 0 and n_left > 0:
        n_affordable = min(n_tries, n_left // (len(text) + 1))
        smaller, n_used = _without_one(text, stretch, fails, n_affordable)
        n_tries -= n_used
        n_left -= (n_used + 1) * len(text) + 1
        if smaller is not None:
            text, stretch = smaller, max(1, min(stretch, len(smaller)))
        elif stretch > 1:
            stretch //= 2
        else:
            break
    return _plain(text, fails) if len(text) <= N_PLAIN else text


def _without_one(
    text: str, stretch: int, fails: Callable[[str], bool], n_tries: int
) -> tuple[str | None, int]:
    """Drop the first stretch that may be dropped; return the text and the number of tries."""
    n_used = 0
    for smaller in _shorter(text, stretch):
        if n_used == n_tries:
            break
        n_used += 1
        if fails(smaller):
            return smaller, n_used
    return None, n_used


def _shorter(text: str, stretch: int) -> Iterator[str]:
    for start in range(0, len(text), stretch):
        yield text[:start] + text[start + stretch :]


def _plain(text: str, fails: Callable[[str], bool]) -> str:
    for place in range(len(text)):
        plainer = f"{text[:place]}a{text[place + 1 :]}"
        if text[place] != "a" and fails(plainer):
            text = plainer
    return text
