"""Folders of published models: what is read beside ``tokenizer.json`` counts as in transformers."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers

from bytepair import (
    AddedToken,
    FileError,
    FormatError,
    Tokenizer,
    TokenizerError,
    train_from_iterator,
)

TEXTS = [
    "low lower lowest, newer newest",
    "a low<tool>b",
    "<pad> low<new> x <end>",
    " <new>",
]


def folder_with(folder: Path, files: dict[str, Any]) -> Path:
    """Write a ``tokenizer.json`` with one special token, and settings beside it."""
    tokenizer = train_from_iterator(
        ["low lower lowest, newer newest"] * 3,
        merges=20,
        dialect="gpt2",
        special_tokens=["<end>"],
    )
    tokenizer.save(folder / "tokenizer.json")
    settings = {"tokenizer_class": "PreTrainedTokenizerFast"}
    files = {"tokenizer_config.json": {}, **files}
    files["tokenizer_config.json"] = {**settings, **files["tokenizer_config.json"]}
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def token(content: str, **flags: bool) -> dict[str, Any]:
    """Describe an added token as settings do."""
    names = ("lstrip", "normalized", "rstrip", "single_word", "special")
    return {"content": content, **dict.fromkeys(names, False), **flags}


def after(folder: Path) -> int:
    """Give the first id that the file beside leaves free."""
    return Tokenizer.from_file(folder / "tokenizer.json").n_vocab


@pytest.mark.slow
@pytest.mark.parametrize("name", ["added_tokens_decoder", "added_tokens.json"])
def test_a_folder_gives_the_ids_of_transformers(name: str, tmp_path: Path) -> None:
    """Tokens that only a file beside names are found, with its flags, at its ids."""
    transformers = pytest.importorskip("transformers", reason="compares with it")
    first = after(folder_with(tmp_path, {}))
    if name == "added_tokens.json":
        files: dict[str, Any] = {name: {"<tool>": first, "<new>": first + 1}}
    else:
        listed = {
            str(first - 1): token("<end>", special=True, lstrip=True),
            str(first): token("<tool>", special=True),
            str(first + 1): token("<new>", lstrip=True),
        }
        files = {"tokenizer_config.json": {name: listed}}
    folder_with(tmp_path, files)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for ours in (Tokenizer.from_file(tmp_path), Tokenizer.from_file(str(tmp_path))):
        assert ours.n_vocab == len(theirs) == first + 2
        for text in TEXTS:
            ids = list(ours.encode(text, allowed_special="all"))
            assert ids == theirs.encode(text, add_special_tokens=False), text
    alone = Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert alone.n_vocab == first


MIXED = [
    AddedToken("<|start|>", special=True),
    AddedToken("<|user|>", special=True, rstrip=True),
    AddedToken("<fn>", lstrip=True),
]


@pytest.mark.parametrize("tokens", [{}, {"pad_token": "<fn>", "eos_token": "<|user|>"}])
@pytest.mark.parametrize("file", ["tokenizer.json", "tokenizer.model"])
def test_a_list_of_ids_changes_no_token_of_the_tokenizer_itself(
    tokens: dict[str, str], file: str, tmp_path: Path
) -> None:
    """``added_tokens.json`` gives ids alone; how a token is found the tokenizer's file says."""
    own = train_from_iterator(["low lower"] * 3, merges=9, dialect="gpt2")
    own = own.with_added_tokens(MIXED)
    if file == "tokenizer.model":
        spaces = {"dialect": "sentencepiece", "normalize": [("replace", " ", "▁")]}
        own = train_from_iterator(["low lower"] * 3, merges=9, **spaces)
        own = own.with_special_tokens(["<|start|>"])
    own.save(tmp_path / file)
    ids = {token.content: id_ for id_, token in own.added_tokens.items()}
    (tmp_path / "added_tokens.json").write_text(json.dumps(ids))
    (tmp_path / "special_tokens_map.json").write_text(json.dumps(tokens))
    alone, folder = Tokenizer.from_file(tmp_path / file), Tokenizer.from_file(tmp_path)
    if file == "tokenizer.json":
        assert folder.added_tokens == alone.added_tokens
        theirs = tokenizers.Tokenizer.from_file(str(tmp_path / file))
        for text in ("<|start|> low", "<|user|>  low", "low  <fn> low"):
            expected = theirs.encode(text).ids
            assert folder.encode(text, allowed_special="all") == expected
    assert folder.special_tokens == alone.special_tokens
    assert folder.encode("<|start|>") == alone.encode("<|start|>")
    (tmp_path / "added_tokens.json").write_text(json.dumps({"<|start|>": 900}))
    with pytest.raises(TokenizerError, match=r"added_tokens\.json.*start.*and not 900"):
        Tokenizer.from_file(tmp_path)


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    """``sha256`` names the bytes of the file that is read; both hashes are told, and a pair has none."""
    file = folder_with(tmp_path, {}) / "tokenizer.json"
    right, wrong = (
        hashlib.sha256(data).hexdigest() for data in (file.read_bytes(), b"")
    )
    for path in (file, tmp_path):
        assert Tokenizer.from_file(path, sha256=right) == Tokenizer.from_file(path)
        with pytest.raises(FileError, match=f"{file}.* is {right}, not {wrong}"):
            Tokenizer.from_file(path, sha256=wrong)
    with pytest.raises(TokenizerError, match="64 hexadecimal digits, not 'abc'"):
        Tokenizer.from_file(file, sha256="abc")
    pair = train_from_iterator(["low"], merges=1, dialect="gpt2")
    pair.save(tmp_path / "pair", format="gpt2")
    with pytest.raises(TokenizerError, match=r"two: vocab\.json and merges\.txt"):
        Tokenizer.from_file(tmp_path / "pair", sha256=right)


def test_an_id_that_is_taken_is_named(tmp_path: Path) -> None:
    """A folder whose files contradict each other is refused."""
    listed = {"3": token("<tool>")}
    folder = folder_with(
        tmp_path, {"tokenizer_config.json": {"added_tokens_decoder": listed}}
    )
    with pytest.raises((FormatError, TokenizerError), match=r"the id 3 of .*<tool>"):
        Tokenizer.from_file(folder)
    assert Tokenizer.from_file(folder / "tokenizer.json").n_vocab


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("added_tokens.json", r'{"\ud800": 900}'),
        (
            "tokenizer_config.json",
            r'{"added_tokens_decoder": {"900": {"content": "\udc00"}}}',
        ),
        ("tokenizer_config.json", r'{"bos_token": "a\udfff"}'),
        ("tokenizer.json", r'{"version": "\ud83d", "model": {}}'),
    ],
)
def test_half_a_character_is_named_with_its_file(
    name: str, content: str, tmp_path: Path
) -> None:
    """A lone surrogate is told as what it is, wherever a folder has one."""
    folder = folder_with(tmp_path, {})
    (folder / name).write_text(content)
    with pytest.raises(FormatError, match=rf"{name}: .*lone surrogate"):
        Tokenizer.from_file(folder)
