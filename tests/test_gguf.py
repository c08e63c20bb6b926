"""GGUF vocabularies: a file made from a tokenizer gives that tokenizer's ids.

Left out: damaged files and what is refused, which the tests of the core show.
"""

import json
import random
from pathlib import Path
from typing import Any

import pytest

from bytepair import FileError, Tokenizer, train_from_iterator

gguf = pytest.importorskip("gguf", reason="writes files with gguf")

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
CORPUS = ["the cat's sat on the mat, 12345 é 日本 \n\n x-y ▁ <s>"] * 20
PARTS = [
    *"abc AT \t\n\r09'.-▁éE\u0301\u200d\ufffd\0가\u3000中🙂",
    "<s>",
    "</s>",
    "the ",
    "cat",
    "  ",
]


def texts() -> list[str]:
    """Make texts of parts at which rules begin and end."""
    chance = random.Random(30)
    return ["".join(chance.choices(PARTS, k=chance.randrange(20))) for _ in range(500)]


def write(path: Path, model: str, **values: Any) -> None:
    """Write a file that holds nothing but a vocabulary."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_tokenizer_model(model)
    for name, value in values.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.mark.parametrize(
    ("dialect", "pre"),
    [
        ("gpt2", "gpt-2"),
        ("llama3", "llama-bpe"),
        ("gpt4o", "gpt-4o"),
        ("deepseek-v3", "deepseek-v3"),
    ],
)
def test_a_file_of_bytes_gives_the_ids_it_was_made_from(
    dialect: str, pre: str, tmp_path: Path
) -> None:
    """Merges, split pattern and special tokens come through."""
    own = train_from_iterator(
        CORPUS, merges=80, dialect=dialect, special_tokens=["<s>", "</s>"]
    )
    content = json.loads(own.to_bytes(format="huggingface"))
    vocabulary = content["model"]["vocab"] | {
        t["content"]: t["id"] for t in content["added_tokens"]
    }
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    write(
        tmp_path / "own.gguf",
        "gpt2",
        tokenizer_pre=pre,
        token_list=names,
        token_types=[CONTROL if name in {"<s>", "</s>"} else NORMAL for name in names],
        token_merges=[
            m if isinstance(m, str) else " ".join(m) for m in content["model"]["merges"]
        ],
        bos_token_id=vocabulary["<s>"],
        add_bos_token=True,
    )
    read = Tokenizer.from_file(tmp_path / "own.gguf")
    for text in texts():
        ids = list(own.encode(text, allowed_special="all", add_special_tokens=False))
        found = read.encode(text, allowed_special="all", add_special_tokens=False)
        assert list(found) == ids
        marked = read.encode(text, allowed_special="all", add_special_tokens=True)
        assert list(marked) == [vocabulary["<s>"], *ids]


def test_a_file_of_scores_gives_the_ids_of_sentencepiece(tmp_path: Path) -> None:
    """Where spaces stay as they are, both merge alike."""
    spm = pytest.importorskip("sentencepiece", reason="compares with sentencepiece")
    prefix = tmp_path / "own"
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 20),
        model_prefix=str(prefix),
        model_type="bpe",
        vocab_size=330,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    theirs = spm.SentencePieceProcessor(model_file=f"{prefix}.model")
    ids = range(len(theirs))
    kinds = [
        (UNKNOWN if theirs.is_unknown(i) else 0)
        or (CONTROL if theirs.is_control(i) else 0)
        or (BYTE if theirs.is_byte(i) else NORMAL)
        for i in ids
    ]
    write(
        tmp_path / "own.gguf",
        "llama",
        token_list=[theirs.id_to_piece(i) for i in ids],
        token_scores=[theirs.get_score(i) for i in ids],
        token_types=kinds,
    )
    # llama.cpp marks the beginning unless the file says otherwise, and needs to know with what.
    with pytest.raises(ValueError, match="bos_token_id"):
        Tokenizer.from_file(tmp_path / "own.gguf")
    write(
        tmp_path / "own.gguf",
        "llama",
        token_list=[theirs.id_to_piece(i) for i in ids],
        token_scores=[theirs.get_score(i) for i in ids],
        token_types=kinds,
        bos_token_id=theirs.bos_id(),
    )
    read = Tokenizer.from_file(tmp_path / "own.gguf")
    for text in texts():
        found = theirs.encode(text)
        plain = read.encode(text, allowed_special=(), add_special_tokens=False)
        assert list(plain) == found
        assert read.decode(found) == theirs.decode(found)
        marked = read.encode(text, allowed_special=(), add_special_tokens=True)
        assert list(marked) == [theirs.bos_id(), *found]


def test_a_missing_file_is_named() -> None:
    """An error says which file it is about."""
    with pytest.raises(FileError, match="no-such"):
        Tokenizer.from_file("no-such.gguf")
