"""Add a language to a tokenizer in use, and choose the number of tokens by the curve.

All ids stay the same. The first tokens are the same however many follow, so one run covers every
smaller number. The knee is where the curve bends.
"""

from matplotlib.figure import Figure

import bytepair
from bytepair import surgery

english = "the child reads the book, and the book is read by the child. " * 20
persian = (
    "کودک کتاب می‌خواند و کتاب را کودکان می‌خوانند. کتاب خوب است و کودک خوب می‌خواند. "
    * 20
)

base = bytepair.train_from_iterator([english], vocab_size=300)
found = surgery.extend(base, texts=[persian], add=60)
report = found.report

for n_added in (0, 10, report.knee, report.added):
    print(f"{n_added:3} added: {report.curve[n_added]:5} tokens")
print(
    "the ids of English stay:", base.encode(english) == found.tokenizer.encode(english)
)

figure = Figure(figsize=(5, 3.2), layout="constrained")
axes = figure.add_subplot()
axes.plot(report.curve)
axes.plot(report.knee, report.curve[report.knee], "o", label="knee")
axes.set_xlabel("tokens added")
axes.set_ylabel("tokens of the corpus")
axes.set_ylim(bottom=0)
axes.grid(alpha=0.3)
axes.legend()
figure.savefig("extension_curve.svg", transparent=True)
