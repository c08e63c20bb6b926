"""Small files of all formats, and damage to them; the same chance damages alike."""

import re

from tests.fuzz import make_seeds

from bytepair import Tokenizer

ONE_FILE = {
    "native": "bytepair",
    "huggingface": "huggingface",
    "compiled": "compiled",
    "tekken": "tekken",
    "sentencepiece": "sentencepiece",
    "clip": "clip",
    "subword_nmt": "subword-nmt",
    "fastbpe": "fastbpe",
}
TWO_FILES = {
    "gpt2": ("vocab.json", "merges.txt"),
    "gpt1": ("encoder_bpe_40000.json", "vocab_40000.bpe"),
    "tiktoken": ("own.tiktoken", "own.tiktoken.json"),
}
TARGETS = [*ONE_FILE, "gguf", *TWO_FILES]
HUGE = [b"-1", b"0", b"1.5", b"4294967296", b"9" * 30, b"1e999", b"null", b""]


def small_files(folder):
    """Give small files of all formats, by the name of the fuzzer's target."""
    make_seeds.FOLDER = folder
    make_seeds.main()
    return {
        target.name: [path.read_bytes() for path in sorted(target.iterdir())]
        for target in (folder / "seeds").iterdir()
        if target.is_dir() and target.name in TARGETS
    }


def read_as(target, folder, data):
    """Load data as a file, or the two parts before and behind a NUL as two files."""
    if target in ONE_FILE:
        return Tokenizer.from_bytes(data, format=ONE_FILE[target])
    if target == "gguf":
        path = folder / "own.gguf"
        path.write_bytes(data)
        return Tokenizer.from_file(path)
    for name, part in zip(TWO_FILES[target], data.split(b"\0", 1), strict=False):
        (folder / name).write_bytes(part)
    return Tokenizer.from_file(folder)


class Again(str):
    """A key that an object has a second time."""

    __slots__ = ()
    __eq__, __hash__ = object.__eq__, object.__hash__


def variants(value, values):
    """Give what is like a value of JSON but for one place: in long lists one at the ends, in objects one of 40."""
    yield from values
    if isinstance(value, dict):
        yield {**value, "unknown": 1}
        for key in [*value][:40]:
            yield {other: value[other] for other in value if other != key}
            yield {Again(key): 0, **value}
            yield from ({**value, key: new} for new in variants(value[key], values))
    elif isinstance(value, list):
        for place in {*range(len(value))[:2], *range(len(value))[-1:]}:
            before, one, after = value[:place], value[place], value[place + 1 :]
            yield from (before + after, [*before, one, one, *after])
            yield from ([*before, new, *after] for new in variants(one, values))


def flip_bits(data, chance):
    """Flip a few bits."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 3, 20])):
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def shuffle_lines(data, chance):
    """Put the lines in another order."""
    lines = data.split(b"\n")
    chance.shuffle(lines)
    return b"\n".join(lines)


def repeat_line(data, chance):
    """Insert one line a second time, somewhere."""
    lines = data.split(b"\n")
    lines.insert(chance.randrange(len(lines) + 1), chance.choice(lines))
    return b"\n".join(lines)


def change_number(data, chance):
    """Put something else in the place of a number."""
    numbers = list(re.finditer(rb"[0-9]+", data)) or list(re.finditer(rb".", data))
    place = chance.choice(numbers)
    return data[: place.start()] + chance.choice(HUGE) + data[place.end() :]


def swap_words(data, chance):
    """Exchange two words."""
    words = re.split(rb"([^A-Za-z0-9_]+)", data)
    first, second = chance.randrange(len(words)), chance.randrange(len(words))
    words[first], words[second] = words[second], words[first]
    return b"".join(words)


def repeat_block(data, chance):
    """Repeat a stretch of the file."""
    start, end = sorted(chance.choices(range(len(data) + 1), k=2))
    return data[:end] + data[start:end] + data[end:]


def move_block(data, chance):
    """Exchange two stretches of the file that are neighbours."""
    first, second, third = sorted(chance.choices(range(len(data) + 1), k=3))
    return data[:first] + data[second:third] + data[first:second] + data[third:]


def cut(data, chance):
    """Cut the end off."""
    return data[: chance.randrange(len(data))]


DAMAGES = [
    flip_bits,
    shuffle_lines,
    repeat_line,
    change_number,
    swap_words,
    repeat_block,
    move_block,
    cut,
]


def damaged(data, chance):
    """Damage a file in a way of ``chance``."""
    return chance.choice(DAMAGES)(data, chance)
