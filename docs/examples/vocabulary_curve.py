"""See what a larger vocabulary gains: bytes per token against the number of ids during training.

Training writes each merge with the compression so far to a log. Where a curve flattens, more tokens
hardly help: here, because the remaining words are rare, or because the length of tokens is limited.
Without a pattern, the curve keeps rising, as tokens grow to several words.
"""

from pathlib import Path

from matplotlib.figure import Figure

import bytepair

STEMS = "read writ cod pars pack merg rank scor load sav prun tun test trac mark shar".split()
ENDINGS = "e es ed er ers ing ings able ability".split()
words = [stem + ending for ending in ENDINGS for stem in STEMS]
# As in any language, the second word is half as frequent as the first, the third a third.
corpus = " ".join(
    word for rank, word in enumerate(words, 1) for _ in range(300 // rank)
)

SETTINGS = {
    "words": {},
    "words, tokens of at most 4 bytes": {"max_token_bytes": 4},
    "no pieces": {"dialect": "byte-stream"},
}

figure = Figure(figsize=(5, 3.2), layout="constrained")
axes = figure.add_subplot()
for name, options in SETTINGS.items():
    log = Path("log.jsonl")
    bytepair.train_from_iterator(
        [corpus], vocab_size=500, min_count=1, log=log, **options
    )
    sizes, ratios = zip(*bytepair.read_log(log).curve(), strict=True)
    print(f"{name}: {ratios[-1]:.2f} bytes per token with {sizes[-1]} ids")
    axes.plot(sizes, ratios, label=name)
axes.set_xlabel("ids")
axes.set_ylabel("bytes per token")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig("vocabulary_curve.svg", transparent=True)
