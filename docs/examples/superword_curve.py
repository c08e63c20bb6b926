"""See what superwords gain: bytes per token against the number of ids, with 10, 40 and 80 merges within words.

Merges within words gain less and less. Where training goes on beyond words, the curve rises
again. These texts consist of a few phrases, so the fewest merges within words gain most; other texts need more.
"""

import itertools
import random
from pathlib import Path

from matplotlib.figure import Figure

import bytepair

STARTS = (
    "as soon as|in the middle of|at the end of|on the other side of|because of".split(
        "|"
    )
)
NOUNS = (
    "river bridge winter journey morning garden letter market harbour mountain".split()
)
ENDINGS = "it began to rain|they went home|nobody knew why|we saw the sea".split("|")
draw = random.Random(0)
phrases = list(itertools.product(STARTS, NOUNS, ENDINGS))
# As in any language, a few phrases are frequent and most are rare.
chosen = draw.choices(
    phrases, weights=[1 / (n + 5) for n in range(len(phrases))], k=3000
)
corpus = [f"{start} the {noun} {ending}." for start, noun, ending in chosen]

figure = Figure(figsize=(5, 3.2), layout="constrained")
axes = figure.add_subplot()
for n_words in (None, 10, 40, 80):
    name = f"superwords after {n_words} merges" if n_words else "merges within words"
    log = Path("log.jsonl")
    bytepair.train_from_iterator(
        corpus, merges=100, superwords=n_words, max_words=4, log=log
    )
    sizes, ratios = zip(*bytepair.read_log(log).curve(), strict=True)
    print(f"{name}: {ratios[-1]:.2f} bytes per token with {sizes[-1]} ids")
    axes.plot(sizes, ratios, label=name)
axes.set_xlabel("ids")
axes.set_ylabel("bytes per token")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig("superword_curve.svg", transparent=True)
