"""``vocab.json`` and ``merges.txt`` with settings beside them, beside transformers."""

import json

import pytest

from bytepair import FormatError, Tokenizer
from bytepair.compat.tiktoken import get_encoding

TEXTS = [
    "Hello world  it's 12345 <s> <mask>x </s>\n\n e\u0301A\u030a 'LL don'T",
    " café\u3000中文 <|endoftext|> <|im_start|>a<think> <extra> é\t\r\n  x",
    "THE the The1 2²½ Ⅷ ! ?! \U0001f469\u200d\U0001f4bb <|startoftext|> [MASK] a",
    "",
]


def write_pair(folder, source, settings, extra=()):
    """Split the model of a tokenizer.json into a pair, with settings beside it."""
    model = json.loads(source.read_text(encoding="utf-8"))["model"]
    vocab = model["vocab"]
    for name in extra:
        vocab.setdefault(name, len(vocab))
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    (folder / "vocab.json").write_text(json.dumps(vocab))
    text = "\n".join(["#version: 0.2", *merges, ""])
    (folder / "merges.txt").write_text(text, encoding="utf-8")
    for name, content in settings.items():
        (folder / name).write_text(json.dumps(content))


def check_same(folder):
    """Compare ids with those of transformers, with and without special tokens."""
    transformers = pytest.importorskip("transformers")
    theirs = transformers.AutoTokenizer.from_pretrained(
        folder, use_fast=True, local_files_only=True
    )
    ours = Tokenizer.from_file(folder)
    for text in TEXTS:
        for around in (False, True):
            ids = ours.encode(text, allowed_special="all", add_special_tokens=around)
            expected = theirs.encode(text, add_special_tokens=around)
            assert list(ids) == expected, (text, around)
    assert Tokenizer.from_file(folder / "merges.txt") == ours


ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MASK = {"content": "<mask>", "lstrip": True, "__type": "AddedToken"}
CLASSES = {
    "GPT2Tokenizer": {"add_bos_token": True},
    "GPT2TokenizerFast": {"add_prefix_space": True},
    "CodeGenTokenizer": {},
    "WhisperTokenizer": {},
    "RobertaTokenizer": {},
    "RobertaTokenizerFast": {"mask_token": MASK, "add_prefix_space": True},
    "BartTokenizer": {},
    "LongformerTokenizer": {},
    "BlenderbotTokenizer": {},
    "DebertaTokenizer": {},
    "Qwen2Tokenizer": {},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CLASSES)
def test_a_class_gives_what_transformers_gives(shared, tmp_path, name):
    """Each known class of byte-level pairs gives the ids of its own program."""
    settings = {"tokenizer_config.json": {"tokenizer_class": name, **CLASSES[name]}}
    source = shared("vocabularies/gpt2/tokenizer.json")
    extra = ROBERTA if "endoftext" not in name else []
    write_pair(tmp_path, source, settings, extra)
    check_same(tmp_path)


@pytest.mark.slow
def test_qwen3_keeps_its_settings(shared, tmp_path):
    """Pattern, NFC and added tokens come from the config beside the pair."""
    config = shared("vocabularies/qwen3/tokenizer_config.json")
    settings = {"tokenizer_config.json": json.loads(config.read_text())}
    write_pair(tmp_path, shared("vocabularies/qwen3/tokenizer.json"), settings)
    check_same(tmp_path)
    published = Tokenizer.from_file(shared("vocabularies/qwen3/tokenizer.json"))
    ours = Tokenizer.from_file(tmp_path)
    for text in TEXTS:
        assert list(ours.encode(text, allowed_special="all")) == list(
            published.encode(text, allowed_special="all")
        )


@pytest.mark.slow
@pytest.mark.parametrize("is_named", [True, False])
def test_clip_is_known_by_class_and_by_content(shared, tmp_path, is_named):
    """CLIP's pair is that of its tokenizer.json."""
    settings = {"tokenizer_config.json": {"tokenizer_class": "CLIPTokenizer"}}
    source = shared("vocabularies/clip/tokenizer.json")
    write_pair(tmp_path, source, settings if is_named else {})
    if is_named:
        check_same(tmp_path)
    ours, published = Tokenizer.from_file(tmp_path), Tokenizer.from_file(source)
    for text in TEXTS:
        ids = ours.encode(text, allowed_special="all")
        assert list(ids) == list(published.encode(text, allowed_special="all"))


@pytest.mark.slow
@pytest.mark.parametrize("is_named", [True, False])
def test_gpt1_is_known_by_class_and_by_content(shared, tmp_path, is_named):
    """GPT-1's pair under the usual names is that under its own names."""
    own = shared("vocabularies/gpt1/encoder_bpe_40000.json")
    merges = shared("vocabularies/gpt1/vocab_40000.bpe")
    (tmp_path / "vocab.json").write_bytes(own.read_bytes())
    (tmp_path / "merges.txt").write_bytes(merges.read_bytes())
    if is_named:
        config = {"tokenizer_class": "OpenAIGPTTokenizer"}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(config))
        check_same(tmp_path)
    ours, published = Tokenizer.from_file(tmp_path), Tokenizer.from_file(own)
    assert [list(ours.encode(t)) for t in TEXTS] == [
        list(published.encode(t)) for t in TEXTS
    ]


def small_pair(folder, extra=()):
    """Write a pair of single letters and one merge."""
    vocab = {chr(code): code - 33 for code in range(33, 127)}
    for name in ["ab", *extra]:
        vocab[name] = len(vocab)
    (folder / "vocab.json").write_text(json.dumps(vocab))
    (folder / "merges.txt").write_text("#version: 0.2\na b\n")
    return len(vocab)


def test_an_unknown_class_is_refused_by_name(tmp_path):
    """What a class means is not guessed."""
    small_pair(tmp_path)
    config = tmp_path / "tokenizer_config.json"
    config.write_text('{"tokenizer_class": "OddTokenizer"}')
    with pytest.raises(FormatError, match=r'tokenizer_class "OddTokenizer"'):
        Tokenizer.from_file(tmp_path)


def test_only_a_cut_file_is_refused_for_a_token_without_merge(tmp_path):
    """A word that no two tokens make is kept, and one that they make was cut off."""
    small_pair(tmp_path, ["madeupword0000"])
    assert Tokenizer.from_file(tmp_path, pattern="gpt2").n_vocab == 96
    small_pair(tmp_path, ["abc"])
    with pytest.raises(FormatError, match=r"abc.*cut off"):
        Tokenizer.from_file(tmp_path, pattern="gpt2")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["o200k_harmony", "p50k_edit"])
def test_encodings_that_share_ranks_take_the_shared_file(shared, name):
    """The file of the base encoding will do."""
    folder = shared("vocabularies/tiktoken/o200k_base.tiktoken").parent
    special = "<|call|>" if name == "o200k_harmony" else "<|fim_prefix|>"
    assert get_encoding(name, folder=folder).encode(special, allowed_special="all")
