"""The behaviour of a tokenizer: sixteen digits that every library gives alike."""

import json

import pytest
from tests import commands
from tests.conftest import SHARED, load
from tests.parity.ranks import published_encoding

import bytepair
from bytepair.analyze import behaviour, portrait
from bytepair.scale import tokenize

GPT2 = "e2ba9ebf3c512294"
FILES = sorted(SHARED.glob("vocabularies/*/*.json")) + sorted(
    SHARED.glob("vocabularies/*/*.model")
)


def by_another_library(path):
    """Give the function of the publisher's library that encodes a text with a file."""
    if path.suffix == ".model":
        sentencepiece = pytest.importorskip("sentencepiece")
        return sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    tokenizer = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] * (path.parent.name != "gpt2"))
        for path in FILES
        if path.name.startswith("tokenizer") and path.stem != "tokenizer_config"
    ],
    ids=lambda path: path.parent.name,
)
def test_libraries_agree_on_the_behaviour_of_a_file(path):
    """A published vocabulary has the same digits here and in the library it belongs to."""
    assert behaviour(load(path)) == behaviour(by_another_library(path))


@pytest.mark.slow
def test_tiktoken_and_transformers_agree_on_the_behaviour_of_gpt2(shared):
    """The same vocabulary in two files, by two libraries, has the digits that are published."""
    tiktoken = pytest.importorskip("tiktoken")
    transformers = pytest.importorskip("transformers")
    file = shared("vocabularies/tiktoken/r50k_base.tiktoken")
    encoding = tiktoken.Encoding(**published_encoding(file))
    folder = shared("vocabularies/gpt2/tokenizer.json").parent
    theirs = transformers.AutoTokenizer.from_pretrained(folder)
    found = behaviour(lambda text: theirs.encode(text, add_special_tokens=False))
    assert found == behaviour(encoding.encode_ordinary) == GPT2


def test_the_behaviour_is_written_where_ids_are_explained(tmp_path):
    """``info``, a portrait and a manifest have the same digits; a tokenizer that refuses the text has none."""
    own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    own.save(tmp_path / "own.bytepair")
    (tmp_path / "corpus.txt").write_text("low")
    manifest = tokenize(own, tmp_path / "corpus.txt", tmp_path / "ids")
    shown = commands.run("info", tmp_path / "own.bytepair", "--json").stdout
    found = {json.loads(shown)["behaviour"], portrait(own).behaviour}
    assert found | {manifest["behaviour"]} == {behaviour(own)}
    letters = bytepair.train_from_iterator(["low"], dialect="sennrich", merges=1)
    assert portrait(letters).behaviour is None
    with pytest.raises(bytepair.TokenizerError, match="alphabet"):
        behaviour(letters)
