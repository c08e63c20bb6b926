"""Show: a text in tokens, a row for each tokenizer."""
