"""Training a tokenizer: the functions that users call, and their parts."""
