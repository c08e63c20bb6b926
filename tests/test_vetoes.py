"""What users forbid in training: tokens by name, by pattern or by a function, and merges across cuts.

That the same merges are learned as by the definition is tested in `test_against_reference.py`.
"""

import json
import re

import pytest
from tests.commands import run

import bytepair
from bytepair import surgery
from bytepair.errors import FileError, PatternError, TokenizerError, TrainingError

TEXTS = ["One: two 12ab, αβ. two words and three words more: one"] * 9


def learned(**options):
    """Train without a split pattern; give the texts of the learned tokens."""
    options = {"vocab_size": 400, "pattern": "", **options}
    tokenizer = bytepair.train_from_iterator(TEXTS, **options)
    return [tokenizer.decode([id_]) for id_ in range(256, tokenizer.n_vocab)]


@pytest.mark.parametrize(
    ("options", "is_forbidden"),
    [
        ({"max_words": 2}, lambda token: len(token.split()) > 2),
        ({"forbid": "colon-space"}, lambda token: ": " in token),
        ({"forbid": ["letter-digit"]}, lambda token: "12" in token and "a" in token),
        ({"forbid": ["^ t", "x"]}, lambda token: token.startswith(" t")),
        ({"one_script": True}, lambda token: "αβ" in token and "w" in token),
        (
            {"veto": lambda left, right: (left + right)[-1] == "o"},
            lambda t: t[-1] == "o",
        ),
        ({"cuts": lambda piece: re.split("(?=two)", piece)}, lambda t: " two" in t),
    ],
)
def test_no_forbidden_token_is_learned(options, is_forbidden):
    """Without the option there are such tokens; with it there are others, and none of these."""
    assert any(map(is_forbidden, learned()))
    tokens = learned(**options)
    assert len(tokens) > 10
    assert not any(map(is_forbidden, tokens))


def test_an_extension_obeys_them_too():
    """Tokens that are added to a tokenizer, with cuts where its own merges do not reach."""
    base = bytepair.train_from_iterator(
        ["xyz"], vocab_size=257, pattern="", min_count=1
    )
    options = {"add": 40, "forbid": "colon-space", "max_words": 1}
    found = surgery.extend(
        base, texts=TEXTS, cuts=lambda p: re.split("(?=r)", p), **options
    )
    added = [
        found.tokenizer.decode([id_]) for id_ in range(257, found.tokenizer.n_vocab)
    ]
    assert len(added) > 9
    assert not any(": " in token or len(token.split()) > 1 for token in added)
    assert not any("r" in token[1:] for token in added)


def test_initial_merges_are_those_of_training_at_once():
    """Going on from the first merges of a training gives what that training gives, ids included."""
    for dialect in ("gpt4o", "sennrich", "subword-nmt", "sentencepiece"):
        whole = bytepair.train_from_iterator(TEXTS, merges=12, dialect=dialect)
        for n_merges in (0, 5, 12):
            merges = whole.merges[:n_merges]
            options = {"dialect": dialect, "initial_merges": merges}
            assert bytepair.train_from_iterator(TEXTS, merges=12, **options) == whole


def test_a_file_of_cuts_cuts_words_alone_and_after_a_space(tmp_path):
    """The command learns no merge across them; its steps and its log show them."""
    cuts, corpus, log, own = (
        tmp_path / name for name in ("cuts", "text", "log", "own.json")
    )
    cuts.write_text("un happi ness\n\nhappi er\n")
    corpus.write_text("unhappiness happier unhappiness (unhappiness)\n" * 2)
    command = ["train", corpus, "--merges", "40", "--dialect", "gpt4o", "-o", own]
    command += ["--cuts", cuts, "--max-words", "1", "--log", log]
    steps = json.loads(run(*command, "--steps", "--json").stdout)["steps"]
    tokenizer = bytepair.Tokenizer.from_file(own)
    tokens = [tokenizer.decode([step["token"]]) for step in steps]
    assert {"un", "happi", "ness", "er"} <= {token.strip() for token in tokens}
    assert not re.search("nh|in|ie", "|".join(tokens))
    assert all(len(piece["ids"]) == 1 for piece in steps[-1]["pieces"][:6])
    training = bytepair.read_log(log).training
    assert (training["cuts"], training["veto"]) == (True, False)


def raises(*_arguments):
    """Raise an error of the caller."""
    message = "no such word"
    raise KeyError(message)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"max_words": 0}, TrainingError, "between 1 and 1,000"),
        ({"forbid": "("}, PatternError, "forbid: pattern error"),
        ({"forbid": [""]}, TrainingError, "an empty pattern"),
        ({"forbid": 3}, TypeError, "a pattern, a name"),
        ({"one_script": 1}, TypeError, "True or False"),
        ({"veto": "x"}, TypeError, "a function of two tokens"),
        ({"veto": lambda _left, _right: None}, TypeError, "True or False, not None"),
        ({"veto": raises}, KeyError, "no such word"),
        ({"cuts": 3}, TypeError, "a function of a piece or a file"),
        ({"cuts": raises}, KeyError, "no such word"),
        ({"cuts": lambda _piece: 3}, TrainingError, "the parts of the piece"),
        ({"cuts": lambda piece: [piece, "x"]}, TrainingError, "the parts of the piece"),
        ({"cuts": "/no/such/file"}, FileError, "/no/such/file: No such file"),
        ({"initial_merges": [("on", "e")]}, TokenizerError, "neither a symbol"),
        ({"initial_merges": [("o", "n")] * 2}, TokenizerError, 'merge 2, "o" and "n"'),
        ({"cuts": lambda piece: piece}, TrainingError, "the parts of the piece"),
        ({"initial_merges": [("o", "n", "e")]}, TypeError, "initial_merges[0] must be"),
        ({"initial_merges": ["on"]}, TypeError, "a pair of tokens"),
        ({"initial_merges": {("o", "n")}}, TypeError, "set"),
    ],
)
def test_bad_options_are_refused(options, error, words):
    """Each error says what is wrong; errors of functions arrive as they are."""
    with pytest.raises(error) as caught:
        learned(**options)
    assert words in str(caught.value)
