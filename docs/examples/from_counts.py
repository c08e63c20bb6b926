"""Train on pieces that were counted elsewhere, such as on a cluster.

Counts add up in any order, so several machines can each count a part of a corpus.
"""

from collections import Counter

import bytepair

# A tokenizer that has learned nothing splits as the one that is to be trained will.
splitter = bytepair.train_from_counts({"x": 1}, merges=0, dialect="gpt4o")

parts = ["low lower lowest", "new newer newest", "wide wider widest"]
counts = Counter(piece for part in parts for piece in splitter.split(part))
print(counts.most_common(3))

tokenizer = bytepair.train_from_counts(counts, merges=20, dialect="gpt4o", min_count=1)
print(tokenizer.tokenize("lower newest"))

together = bytepair.train_from_iterator(parts, merges=20, dialect="gpt4o", min_count=1)
print("the same as from text:", tokenizer == together)
