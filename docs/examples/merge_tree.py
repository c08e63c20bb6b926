"""Draw the merges of a word, in order and as a tree: each merge above its two parts.

A word becomes tokens by merging neighbours, the pair of lowest rank first. The tree shows which merges
built each token, and the trace lists the merges in order.
"""

from pathlib import Path

import bytepair

STEMS = ("read", "write", "token", "train", "encode", "merge", "count")
ENDINGS = ("", "s", "r", "rs", "er", "ers", "ed", "ing", "izer", "izers")
corpus = " ".join(stem + ending for stem in STEMS for ending in ENDINGS)

tokenizer = bytepair.train_from_iterator([corpus], merges=48, dialect="gpt2")

traced = tokenizer.trace(" tokenizers")
print(traced)
Path("merge_tree.svg").write_text(traced.to_svg(), encoding="utf-8")
