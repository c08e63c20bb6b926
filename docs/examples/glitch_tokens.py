"""Find tokens that a model would never see in training, and remove them without changing other ids.

The vocabulary was trained on text that contains junk, here a name that a program wrote again and
again. The model's training text has been cleaned, so the tokens of that name never occur in it.
"""

import tempfile
from pathlib import Path

import bytepair
from bytepair import surgery
from bytepair.analyze import diagnose

clean = "the cat sat on the mat, and the dog sat on the cat's hat. " * 50
tokenizer = bytepair.train_from_iterator(
    [clean, "rawdownloadcloneembed " * 200], vocab_size=300
)

with tempfile.TemporaryDirectory() as folder:
    corpus = Path(folder) / "clean.txt"
    corpus.write_text(clean)
    diagnosis = diagnose(tokenizer, corpus=corpus, select=["BP601"])

(finding,) = diagnosis.findings
learned = [token.id for token in finding.tokens if token.id >= 256]  # bytes stay
print(f"{finding.code}: {len(learned)} learned tokens never occur")
print("the longest:", max((tokenizer.token_bytes(id_) for id_ in learned), key=len))

mended = surgery.remove(tokenizer, learned).tokenizer
print("the same ids for the text:", mended.encode(clean) == tokenizer.encode(clean))
print(f"the name takes {mended.count('rawdownloadcloneembed')} tokens now")
