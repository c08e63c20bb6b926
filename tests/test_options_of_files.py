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
ACTING = {"ranks": {"dialect", "pattern", "special_tokens"}, "gguf": {"pattern"}}
TEXTS = ["low lower lowest, 123 a1b", "it's 12 low"] * 3


def trained(dialect: str, **options: Any) -> Tokenizer:
    """Learn a few merges."""
    return train_from_iterator(TEXTS, merges=12, dialect=dialect, **options)


def ranks(folder: Path) -> Path:
    """Write ranks, without the sidecar that says how they split."""
    trained("gpt4").save(folder / "own.tiktoken")
    (folder / "own.tiktoken.json").unlink()
    return folder / "own.tiktoken"


def described(folder: Path) -> Path:
    """Write ranks with their sidecar."""
    trained("gpt4").save(folder / "own.tiktoken")
    return folder / "own.tiktoken"


def saved(name: str, dialect: str = "gpt2") -> Callable[[Path], Path]:
    """Write a tokenizer to a file of this name."""

    def write(folder: Path) -> Path:
        trained(dialect).save(folder / name)
        return folder / name

    return write


def pair(folder: Path) -> Path:
    """Write a vocabulary and its merges."""
    trained("gpt2", special_tokens=["<|endoftext|>"]).save(folder, format="gpt2")
    return folder / "vocab.json"


def codes(folder: Path) -> Path:
    """Write codes of subword-nmt."""
    (folder / "codes").write_text("#version: 0.2\nl o\nlo w</w>\n")
    return folder / "codes"


def counted_codes(folder: Path) -> Path:
    """Write codes of fastBPE."""
    (folder / "codes").write_text("l o 12\nlo w</w> 5\n")
    return folder / "codes"


def sentencepiece(folder: Path) -> Path:
    """Train a model of SentencePiece."""
    spm = pytest.importorskip("sentencepiece", reason="trains a model")
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXTS * 10),
        model_prefix=str(folder / "own"),
        model_type="bpe",
        vocab_size=30,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return folder / "own.model"


def gguf(folder: Path) -> Path:
    """Write the vocabulary of a GGUF file."""
    writing = pytest.importorskip("gguf", reason="writes files with gguf")
    model = json.loads(trained("gpt2").to_bytes(format="huggingface"))["model"]
    writer = writing.GGUFWriter(folder / "own.gguf", "llama")
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("starcoder")
    writer.add_token_list(sorted(model["vocab"], key=model["vocab"].__getitem__))
    writer.add_token_merges([" ".join(merge) for merge in model["merges"]])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return folder / "own.gguf"


FILES: dict[str, Callable[[Path], Path]] = {
    "ranks": ranks,
    "gguf": gguf,
    "tokenizer.json": saved("tokenizer.json"),
    "bytepair": saved("tokenizer.bytepair"),
    "compiled": saved("own.bytepair-compiled"),
    "pair": pair,
    "subword-nmt": codes,
    "fastbpe": counted_codes,
    "sentencepiece": sentencepiece,
}


def in_folder(path: Path) -> Path:
    """Give the folder of a file, which has no other."""
    return path.parent


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kind", FILES)
def test_an_option_acts_or_is_refused_by_its_name(
    kind: str, name: str, tmp_path: Path
) -> None:
    """Nothing that a caller asks for is passed over in silence."""
    path = FILES[kind](tmp_path)
    options = {name: OPTIONS[name]}
    if kind == "ranks" and name == "special_tokens":
        options["dialect"] = "gpt4"
    if name in ACTING.get(kind, set()):
        changed = Tokenizer.from_file(path, **options)
        if name == "special_tokens":
            assert changed.special_tokens == {"<new>": 1000}
        elif kind == "gguf":
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
            Tokenizer.from_file(in_folder(path), **options)


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
def test_options_that_do_not_go_together_are_refused(
    options: dict[str, Any], named: str, tmp_path: Path
) -> None:
    """Of two that say the same thing neither is dropped."""
    for make in (ranks, described):
        with pytest.raises(TokenizerError, match=named):
            Tokenizer.from_file(make(tmp_path), **options)


def test_special_tokens_have_ids(tmp_path: Path) -> None:
    """A set or a list would get ids by chance or by place."""
    path = ranks(tmp_path)
    for tokens in ({"<a>", "<b>"}, ["<a>"], "<a>"):
        with pytest.raises(TypeError, match="mapping"):
            Tokenizer.from_file(path, dialect="gpt4", special_tokens=tokens)


def test_a_folder_passes_its_options_on(tmp_path: Path) -> None:
    """Ranks in a folder are read as they are by their own path."""
    path = ranks(tmp_path)
    expected = Tokenizer.from_file(path, dialect="gpt4")
    assert Tokenizer.from_file(tmp_path, dialect="gpt4") == expected
    with pytest.raises(FormatError, match="dialect="):
        Tokenizer.from_file(tmp_path)
