"""Train a tokenizer on a file, save it, load it, and convert text to ids and back."""

import tempfile
from pathlib import Path

import bytepair

with tempfile.TemporaryDirectory() as folder:
    corpus = Path(folder) / "corpus.txt"
    corpus.write_text("the cat sat on the mat, the bat sat on the hat\n" * 50)

    tokenizer = bytepair.train(corpus, vocab_size=280, special_tokens=["<|end|>"])
    tokenizer.save(Path(folder) / "tokenizer.json")  # Hugging Face tokenizers read it

    loaded = bytepair.Tokenizer.from_file(Path(folder) / "tokenizer.json")

text = "the cat sat<|end|>"
print(loaded.tokenize(text, allowed_special="all"))

ids = loaded.encode(text, allowed_special="all")
print(ids)
print(loaded.decode(ids))

# By default a special token that stands in a text is plain text.
print(loaded.count(text), "ids where <|end|> is text")
