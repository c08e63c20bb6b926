"""Draw what each merge gains in the published vocabulary of SuperBPE, and in one of ours.

Both are shortened to some numbers of merges, and encode the last tenth of a text. Ours learns from the rest:

    python docs/pictures/superwords.py VOCAB_JSON TEXT
"""

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

import bytepair
from bytepair import Tokenizer, surgery

N_WORDS, N_MERGES = 16_000, 32_000
PUBLISHED_WORDS = 180_000
FORBIDDEN = {"max_words": 4, "forbid": "colon-space"}


def curve(
    tokenizer: Tokenizer, n_words: int, text: str
) -> tuple[list[int], list[float]]:
    """Return numbers of merges, more of them after those within words, and the bytes per token with each."""
    n_merges = len(tokenizer.merges)
    within = np.geomspace(1000, n_words - 1000, 10)
    beyond = n_words + np.geomspace(n_words / 100, n_merges - n_words, 10)
    numbers = [int(number) for number in (*within, *beyond)]
    sizes = [len(surgery.shorten(tokenizer, merges=n).encode(text)) for n in numbers]
    return numbers, [len(text.encode()) / size for size in sizes]


def main(vocabulary: str, path: str) -> None:
    """Draw ``superwords.svg``."""
    data = Path(path).read_text("utf-8")
    learned, text = data[: len(data) * 9 // 10], data[len(data) * 9 // 10 :]
    ours = bytepair.train_from_iterator(
        [learned], merges=N_MERGES, superwords=N_WORDS, **FORBIDDEN
    )
    published = Tokenizer.from_file(vocabulary, pattern="superbpe")
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "superwords"})
    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.add_subplot()
    for name, tokenizer, n_words in (
        ("SuperBPE, 180,000 merges within words", published, PUBLISHED_WORDS),
        ("bytepair, 16,000 merges within words", ours, N_WORDS),
    ):
        axes.plot(*curve(tokenizer, n_words, text), marker=".", label=name)
    axes.set_xscale("log")
    axes.set_xlabel("merges")
    axes.set_ylabel("bytes per token")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside upper center", frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
