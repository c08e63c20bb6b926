"""Options of ``Tokenizer.from_file``: each acts on a format, or is refused by its name.

Left out: what each option does where it acts (``test_gguf``, ``test_published_formats``).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bytepair import FormatError, Tokenizer, TokenizerError, train_from_iterator

GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
OPTIONS: dict[str, Any] = {
    "dialect": "gpt4",
    "pattern": GPT2,
    "special_tokens": {"<new>": 1000},
    "encoding": "cl100k_base",
}
ACTING = {
    "ranks": {"dialect", "pattern", "special_tokens"},
    "gguf": {"pattern"},
    "pair": {"pattern"},
}
TEXTS = ["low lower lowest, 123 a1b", "it's 12 low"] * 3


def trained(dialect, **options):
    """Learn a few merges."""
    return train_from_iterator(TEXTS, merges=12, dialect=dialect, **options)


def described(folder):
    """Write ranks with their sidecar, which says how they split."""
    trained("gpt4").save(folder / "own.tiktoken")
    return folder / "own.tiktoken"


def ranks(folder):
    """Write ranks without their sidecar."""
    path = described(folder)
    path.with_name("own.tiktoken.json").unlink()
    return path


def saved(name, dialect="gpt2"):
    """Write a tokenizer to a file of this name."""

    def write(folder):
        trained(dialect).save(folder / name)
        return folder / name

    return write


def pair(folder):
    """Write a vocabulary and its merges."""
    trained("gpt2", special_tokens=["<|endoftext|>"]).save(folder, format="gpt2")
    return folder / "vocab.json"


def codes(text):
    """Give a function that writes codes of subword-nmt or fastBPE."""

    def write(folder):
        (folder / "codes").write_text(text)
        return folder / "codes"

    return write


def sentencepiece(folder):
    """Train a model of SentencePiece."""
    spm = pytest.importorskip("sentencepiece", reason="trains a model")
    options = {"model_type": "bpe", "vocab_size": 30, "hard_vocab_limit": False}
    options |= {"model_prefix": str(folder / "own"), "minloglevel": 2}
    spm.SentencePieceTrainer.train(sentence_iterator=iter(TEXTS * 10), **options)
    return folder / "own.model"


def gguf(folder):
    """Write the vocabulary of a GGUF file."""
    pytest.importorskip("gguf", reason="writes files with gguf")
    from tests.test_gguf import write_model

    model = json.loads(trained("gpt2").to_bytes(format="huggingface"))["model"]
    write_model(folder / "own.gguf", model, "starcoder")
    return folder / "own.gguf"


FILES: dict[str, Callable[[Path], Path]] = {
    "ranks": ranks,
    "gguf": gguf,
    "tokenizer.json": saved("tokenizer.json"),
    "bytepair": saved("tokenizer.bytepair"),
    "compiled": saved("own.bytepair-compiled"),
    "pair": pair,
    "subword-nmt": codes("#version: 0.2\nl o\nlo w</w>\n"),
    "fastbpe": codes("l o 12\nlo w</w> 5\n"),
    "sentencepiece": sentencepiece,
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kind", FILES)
def test_an_option_acts_or_is_refused_by_its_name(kind, name, tmp_path):
    """Nothing that a caller asks for is passed over in silence."""
    path = FILES[kind](tmp_path)
    options = {name: OPTIONS[name]}
    if kind == "ranks" and name == "special_tokens":
        options["dialect"] = "gpt4"
    if name in ACTING.get(kind, set()):
        changed = Tokenizer.from_file(path, **options)
        if name == "special_tokens":
            assert changed.special_tokens == {"<new>": 1000}
        elif kind in ("gguf", "pair"):
            assert changed != Tokenizer.from_file(path)
        return
    with pytest.raises(TokenizerError, match=f"{name}=|encoding|ranks of") as caught:
        Tokenizer.from_file(path, **options)
    assert str(path) in str(caught.value)
    if kind == "ranks":
        return
    assert f"{name}=" in str(caught.value)
    if kind not in ("compiled", "subword-nmt", "fastbpe"):
        with pytest.raises(TokenizerError, match=f"{name}="):
            Tokenizer.from_file(path.parent, **options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"special_tokens": {"<new>": 1000}}, "special_tokens="),
        ({"encoding": "cl100k_base", "dialect": "gpt4"}, "dialect="),
        ({"encoding": "cl100k_base", "pattern": GPT2}, "pattern="),
        ({"encoding": "cl100k_base", "special_tokens": {"<new>": 1000}}, "special"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_refused(options, named, tmp_path):
    """Of two that say the same thing neither is dropped."""
    for make in (ranks, described):
        with pytest.raises(TokenizerError, match=named):
            Tokenizer.from_file(make(tmp_path), **options)


def test_special_tokens_have_ids(tmp_path):
    """A set or a list would get ids by chance or by place."""
    path = ranks(tmp_path)
    for tokens in ({"<a>", "<b>"}, ["<a>"], "<a>"):
        with pytest.raises(TypeError, match="mapping"):
            Tokenizer.from_file(path, dialect="gpt4", special_tokens=tokens)


def test_a_folder_passes_its_options_on(tmp_path):
    """Ranks in a folder are read as they are by their own path."""
    path = ranks(tmp_path)
    expected = Tokenizer.from_file(path, dialect="gpt4")
    assert Tokenizer.from_file(tmp_path, dialect="gpt4") == expected
    with pytest.raises(FormatError, match="dialect="):
        Tokenizer.from_file(tmp_path)
