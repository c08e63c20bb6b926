"""Many added tokens, and long ones: every way to load or add them gives Hugging Face's ids."""

import copy
import json
import pickle
import random

import pytest

import bytepair
from bytepair import Tokenizer

tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")

FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
CONTENTS = {
    "common beginnings": [f"new_{place}" for place in range(9000)],
    "common endings": [f"{place}_new" for place in range(9000)],
    "each begins the next": ["a" * length for length in range(2, 400)],
    "each ends the next": ["b" * length + "a" for length in range(1, 400)],
    "long": [f"{place:04}" * 260 for place in range(60)],
    "equal": [f"<{place % 3000}>" + "-" * 20 for place in range(6000)],
    "words": [f"näive{place}" for place in range(9000)],
}


def flags_of(kind, place):
    """Choose the properties of a token: none, one, several, or all alike."""
    if kind == "mixed":
        drawn = random.Random(place % 50)
        return {name: drawn.random() < 0.3 for name in FLAGS}
    return {name: name in kind.split() for name in FLAGS}


def described(contents, kind):
    """Describe a tokenizer of the 256 bytes with these added tokens, as published files do."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=258, dialect="gpt2")
    file = json.loads(base.to_bytes(format="huggingface"))
    file["added_tokens"] = [
        {"id": 258 + place, "content": content, **flags_of(kind, place)}
        for place, content in enumerate(contents)
    ]
    return file


def texts(contents):
    """Put tokens beside each other, words and spaces, and cut some of them short."""
    drawn = random.Random(3)
    between = ["", " ", "  ", "x", "\n", " low ", "_", "a", "1"]
    found = [contents[0], contents[-1], contents[-1][:-1] + "?", "none of them", ""]
    for _ in range(60):
        picks = drawn.choices(contents, k=6)
        picks = [pick[: drawn.choice([len(pick), len(pick) - 1])] for pick in picks]
        found.append("".join(part + drawn.choice(between) for part in picks))
    return found


@pytest.mark.parametrize(
    "kind",
    [
        "mixed",
        *(
            pytest.param(kind, marks=pytest.mark.slow)
            for kind in ("", "special", "single_word", "lstrip rstrip")
        ),
    ],
)
@pytest.mark.parametrize("name", CONTENTS)
def test_many_added_tokens_are_found_where_tokenizers_finds_them(name, kind, tmp_path):
    """Loaded from a file; and each other form of that tokenizer gives the same ids."""
    contents = CONTENTS[name]
    source = json.dumps(described(contents, kind))
    path = tmp_path / "tokenizer.json"
    path.write_text(source, encoding="utf-8")
    ours, theirs = Tokenizer.from_file(path), tokenizers.Tokenizer.from_str(source)
    ours.save(tmp_path / "own.bytepair")
    ours.save(tmp_path / "compiled.bytepair", format="compiled")
    forms = [
        Tokenizer.from_bytes(source.encode()),
        Tokenizer.from_file(tmp_path / "own.bytepair"),
        Tokenizer.from_file(tmp_path / "compiled.bytepair"),
        pickle.loads(pickle.dumps(ours)),
        copy.copy(ours),
        copy.deepcopy(ours),
    ]
    found = texts(contents)
    expected = [encoding.ids for encoding in theirs.encode_batch(found)]
    options = {"allowed_special": "all", "add_special_tokens": True}
    for form in (ours, *forms):
        assert form.encode_batch(found, **options) == expected
    for ids in expected:
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False)
    assert ours.get_vocab() == theirs.get_vocab()


@pytest.mark.parametrize("name", CONTENTS)
def test_many_tokens_are_added_at_once_as_one_by_one(name):
    """Special tokens get the ids of tokenizers, and these stay when more are added."""
    contents = CONTENTS[name]
    source = json.dumps(described([], ""))
    theirs = tokenizers.Tokenizer.from_str(source)
    theirs.add_special_tokens(contents)
    base = Tokenizer.from_bytes(source.encode())
    ours = base.with_special_tokens(contents)
    assert ours.special_tokens == {
        content: theirs.token_to_id(content) for content in contents
    }
    in_turns = base
    for start in range(0, len(contents), 1 + len(contents) // 20):
        in_turns = in_turns.with_special_tokens(
            contents[start : start + 1 + len(contents) // 20]
        )
    assert in_turns == ours
    for text in texts(contents):
        ids = theirs.encode(text).ids
        assert ours.encode(text, allowed_special="all") == ids
        assert ours.encode(text, allowed_special=contents) == ids
        with_each = ours.encode(text)
        assert with_each == base.encode(text)
    with pytest.raises(bytepair.SpecialTokenError):
        ours.encode(f"x{contents[-1]}", disallowed_special="all")


def test_a_folder_with_many_added_tokens_gives_the_ids_of_its_file(tmp_path):
    """``added_tokens.json`` beside ``vocab.json`` and ``merges.txt``."""
    contents = CONTENTS["common beginnings"]
    file = described([], "")
    vocab = file["model"]["vocab"]
    (tmp_path / "vocab.json").write_text(json.dumps(vocab), encoding="utf-8")
    merges = [" ".join(merge) for merge in file["model"]["merges"]]
    lines = "\n".join(["#version: 0.2", *merges, ""])
    (tmp_path / "merges.txt").write_text(lines, encoding="utf-8")
    added = {content: 258 + place for place, content in enumerate(contents)}
    (tmp_path / "added_tokens.json").write_text(json.dumps(added), encoding="utf-8")
    loaded = Tokenizer.from_file(tmp_path, pattern="gpt2")
    ids = loaded.encode("new_8999 low new_5", allowed_special="all")
    assert (ids[0], ids[-1]) == (258 + 8999, 258 + 5)


def test_a_sidecar_with_many_special_tokens_is_written_and_read(tmp_path):
    """And a token with which another begins is refused, as tiktoken's choice is open."""
    base = bytepair.train_from_iterator(["low"], vocab_size=257, dialect="gpt4")
    contents = [f"<{place}>" for place in range(20_000)]
    tokenizer = base.with_special_tokens(contents)
    tokenizer.save(tmp_path / "own.tiktoken")
    loaded = Tokenizer.from_file(tmp_path / "own.tiktoken")
    assert loaded.special_tokens == tokenizer.special_tokens
    ids = tokenizer.encode("low<19999><5>", allowed_special="all")
    assert loaded.encode("low<19999><5>", allowed_special="all") == ids
    with pytest.raises(bytepair.FormatError, match=r"<5>.*begins"):
        base.with_special_tokens([*contents, "<5>x"]).save(tmp_path / "no.tiktoken")
