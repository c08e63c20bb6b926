"""See what a larger vocabulary gains: bytes per token against the number of ids, as training goes on.

Training writes each merge with the compression so far to a log. A curve that flattens says that more
tokens hardly help; where pieces are words, it ends when each word is one token.
"""

from pathlib import Path

from matplotlib.figure import Figure

import bytepair

STEMS = "read writ cod pars pack merg rank scor load sav prun tun test trac mark shar".split()
ENDINGS = "e es ed er ers ing ings able ability".split()
corpus = " ".join(stem + ending for stem in STEMS for ending in ENDINGS)

figure = Figure(figsize=(7, 4), layout="constrained")
axes = figure.add_subplot()
for dialect in ("gpt2", "letters-digits", "byte-stream"):
    bytepair.train_from_iterator(
        [corpus], vocab_size=500, dialect=dialect, min_count=1, log=Path("log.jsonl")
    )
    sizes, ratios = zip(*bytepair.read_log("log.jsonl").curve(), strict=True)
    print(f"{dialect}: {ratios[-1]:.2f} bytes per token with {sizes[-1]} ids")
    axes.plot(sizes, ratios, label=dialect)
axes.set_xlabel("ids")
axes.set_ylabel("bytes per token")
axes.grid(alpha=0.3)
axes.legend()
figure.savefig("vocabulary_curve.svg", transparent=True)
