"""The behaviour of a tokenizer: sixteen digits that every library gives alike."""

import pytest
import sentencepiece
import tiktoken
import tokenizers
from tests.conftest import SHARED, load
from tests.parity.ranks import published_encoding

from bytepair.analyze import behaviour

KINDS = ("*/tokenizer.json", "*/tokenizer*.model", "tiktoken/*.tiktoken")


def by_another_library(path):
    """Give the function of the publisher's library that encodes a text with a file."""
    if path.suffix == ".model":
        return sentencepiece.SentencePieceProcessor(model_file=str(path)).encode
    if path.suffix == ".tiktoken":
        return tiktoken.Encoding(**published_encoding(path)).encode_ordinary
    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    return lambda text: tokenizer.encode(text, add_special_tokens=False).ids


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_libraries_agree_on_the_behaviour_of_a_file(kind):
    """A published vocabulary has the same digits here and in the library it belongs to, GPT-2's in two formats."""
    for path in SHARED.glob(f"vocabularies/{kind}"):
        found = behaviour(load(path))
        assert found == behaviour(by_another_library(path)), path
        is_gpt2 = path.parent.name == "gpt2" or path.stem == "r50k_base"
        assert (found == "e2ba9ebf3c512294") == is_gpt2, path
