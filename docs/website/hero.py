"""The head of the home page: its sentence in tokens, cut by a tokenizer that learned from the documentation."""

import re
from collections.abc import Iterable
from typing import NamedTuple

import bytepair

__all__ = ["Hero", "Token", "hero", "parted"]

N_COLOURS = 6
VOCAB_SIZE = 3000


class Token(NamedTuple):
    """A token as it is drawn: its text, its id, and the number of its colour."""

    text: str
    id: int
    colour: int


class Hero(NamedTuple):
    """What the head shows: the sentence and its tokens, and how many ids the tokenizer has."""

    sentence: str
    tokens: list[Token]
    n_vocab: int


def hero(sentence: str, texts: Iterable[str]) -> Hero:
    """Cut a sentence into tokens with a tokenizer that is trained on texts.

    >>> found = hero("low lower", ["low lower"])
    >>> [(token.text, token.id) for token in found.tokens]
    [('low', 257), (' ', 220), ('low', 257), ('e', 68), ('r', 81)]
    """
    tokenizer = bytepair.train_from_iterator(texts, vocab_size=VOCAB_SIZE)
    ids = tokenizer.encode(sentence)
    tokens = [
        Token(tokenizer.decode([id_]), id_, place % N_COLOURS)
        for place, id_ in enumerate(ids)
    ]
    return Hero(sentence, tokens, tokenizer.n_vocab)


def parted(markdown: str) -> tuple[str, str]:
    r"""Part the home page into its first sentence, without a mark, and what follows its first paragraph.

    >>> parted("# x\n\nTrain, [run](a.md). More.\n\nRest")
    ('Train, run.', 'More.\n\nRest')
    """
    _, _, rest = markdown.lstrip().partition("\n")
    paragraph, _, rest = rest.strip("\n").partition("\n\n")
    flat = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", " ".join(paragraph.split()))
    found = re.match(r".+?\.(?= |$)", flat)
    sentence = found[0] if found else flat
    more = flat[len(sentence) :].strip()
    return sentence, f"{more}\n\n{rest}".strip()
