"""Split by your own pattern: here, identifiers and single digits.

A pattern cuts a text into pieces, and no merge crosses a cut. Text that the pattern does
not match is kept as pieces, unless ``unmatched="drop"`` is given.
"""

import bytepair

PATTERN = r" ?[\p{L}_]+|\p{N}|[^\s\p{L}\p{N}_]+|\s+"

code = "for_each(item_1, item_22)\nfor_all(item_1, item_333)\n" * 10
tokenizer = bytepair.train_from_iterator([code], vocab_size=280, pattern=PATTERN)

print(tokenizer.split("for_each(item_22)"))
print(tokenizer.tokenize("for_each(item_22)"))
print(tokenizer.inspect().settings["stages"])  # how the pattern is executed

try:
    bytepair.train_from_iterator([code], vocab_size=280, pattern=r"\p{L}+|(\d")
except bytepair.PatternError as error:
    print(error)
