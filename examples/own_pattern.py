"""Split by a pattern of your own: here identifiers, and every digit alone.

A pattern says what a merge never crosses. What it does not match is kept as a piece,
unless ``unmatched="drop"`` says otherwise.
"""

import bytepair

PATTERN = r" ?[\p{L}_]+|\p{N}|[^\s\p{L}\p{N}_]+|\s+"

code = "for_each(item_1, item_22)\nfor_all(item_1, item_333)\n" * 10
tokenizer = bytepair.train_from_iterator([code], vocab_size=280, pattern=PATTERN)

print(tokenizer.split("for_each(item_22)"))
print(tokenizer.tokenize("for_each(item_22)"))
print(tokenizer.explain())  # how the pattern is executed

try:
    bytepair.train_from_iterator([code], vocab_size=280, pattern=r"\p{L}+|(\d")
except bytepair.PatternError as error:
    print(error)
