"""Compare the bytes per token of tokenizers in several languages.

A tokenizer that was trained only on English cuts other languages into small parts, so the same message
costs more tokens. A tokenizer with the same number of ids that was trained on all languages is fairer.
The texts say the same in each language, but a real comparison needs far more text. Scripts differ in
bytes per letter, so compare the two tokenizers within each language, not one language with another.
"""

from matplotlib.figure import Figure

import bytepair

TEXTS = {
    "English": "Every child in our town can read a book, and every book in our town "
    "can be read by a child. The library is open, the door is never closed.",
    "German": "Jedes Kind in unserer Stadt kann ein Buch lesen, und jedes Buch in unserer "
    "Stadt kann ein Kind lesen. Die Bücherei ist offen, die Tür ist nie geschlossen.",
    "Spanish": "Cada niño de nuestra ciudad puede leer un libro, y cada libro de nuestra "
    "ciudad puede leerlo un niño. La biblioteca está abierta, la puerta nunca está cerrada.",
    "Turkish": "Şehrimizdeki her çocuk bir kitap okuyabilir ve şehrimizdeki her kitabı bir "
    "çocuk okuyabilir. Kütüphane açık, kapı hiç kapalı değil.",
    "Greek": "Κάθε παιδί στην πόλη μας μπορεί να διαβάσει ένα βιβλίο, και κάθε βιβλίο στην "
    "πόλη μας μπορεί να το διαβάσει ένα παιδί. Η βιβλιοθήκη είναι ανοιχτή, "
    "η πόρτα δεν είναι ποτέ κλειστή.",
    "Hindi": "हमारे शहर का हर बच्चा किताब पढ़ सकता है, और हमारे शहर की हर किताब बच्चा पढ़ "
    "सकता है। पुस्तकालय खुला है, दरवाज़ा कभी बंद नहीं होता।",
    "Chinese": "我们城里的每个孩子都能读书，我们城里的每本书孩子都能读。图书馆开着，门从来不关。",
}
VOCAB_SIZE = 330

tokenizers = {
    "learned from English": bytepair.train_from_iterator(
        [TEXTS["English"]], vocab_size=VOCAB_SIZE, min_count=1
    ),
    "learned from all": bytepair.train_from_iterator(
        TEXTS.values(), vocab_size=VOCAB_SIZE, min_count=1
    ),
}

figure = Figure(figsize=(5, 3.2), layout="constrained")
axes = figure.add_subplot()
for place, (name, tokenizer) in enumerate(tokenizers.items()):
    ratios = [len(text.encode()) / tokenizer.count(text) for text in TEXTS.values()]
    print(name, *(f"{ratio:.2f}" for ratio in ratios))
    places = [number + place * 0.4 - 0.2 for number in range(len(TEXTS))]
    axes.barh(places, ratios, height=0.38, label=name)
axes.set_yticks(range(len(TEXTS)), TEXTS)
axes.invert_yaxis()
axes.set_xlabel("bytes per token")
axes.legend()
figure.savefig("compare_languages.svg", transparent=True)
