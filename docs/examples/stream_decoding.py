"""Decode ids as they arrive, for example from a language model, without ever showing part of a character."""

import bytepair

corpus = "Good morning, good evening, good night. " * 20
tokenizer = bytepair.train_from_iterator([corpus], vocab_size=270)

ids = tokenizer.encode("good 你好 👋")  # characters that the corpus lacks
print(len(ids), "ids, some of them parts of a character")

stream = bytepair.DecodeStream(tokenizer)
for id_ in ids:
    if text := stream.push(id_):  # empty while a character is not whole
        print(repr(text))
print(repr(stream.finish()))  # what was left over
