"""SentencePiece models: ids, pieces and text are those of ``sentencepiece``.

Left out: damaged files and what is refused, which the tests of the core show.
"""

import itertools
import os
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

from bytepair import Tokenizer, TokenizerError

pytest.importorskip("sentencepiece", reason="compares with sentencepiece")
import sentencepiece as spm

N_TEXTS = int(os.environ.get("BYTEPAIR_EXAMPLES", "60")) * 20
PARTS = [
    *"abc AB \t\n\r09'.-_▁▁ﬁéE\u0301\u200d\u00ad\ufffd\0\u1100\u1161가\u202e\u3000中あ🙂⁇①Ａß"
]
PARTS += [
    "<sep>",
    "<sep> x",
    "▁foo",
    "foo",
    "abc",
    "bar ",
    "<s>",
    "</s>",
    "<unk>",
    "<0x41>",
    "  ",
]
CORPUS = [
    "the cat sat on the mat, abc 12345 中あ가 ﬁne é e\u0301 <sep> x foo bar\tA\u3000B"
]

OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {"character_coverage": 0.98},
    "bytes": {"byte_fallback": True, "vocab_size": 340},
    "suffix": {"treat_whitespace_as_suffix": True},
    "symbols": {
        "user_defined_symbols": ["<sep>", "<sep> x", "▁foo", "abc", "bar▁", "ﬁ"],
        "control_symbols": ["<ctl>"],
    },
    "identity": {
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
    },
    "folded": {
        "normalization_rule_name": "nmt_nfkc_cf",
        "unk_surface": "?!",
        "unk_piece": "⁇",
    },
    "whole": {"split_by_whitespace": False, "remove_extra_whitespaces": False},
    "runs": {  # as Gemma's models have them
        "user_defined_symbols": ["\n", "\n\n", "▁▁", "▁▁▁", "\t", "<unused0>", "</td>"],
        "normalization_rule_name": "identity",
        "remove_extra_whitespaces": False,
        "add_dummy_prefix": False,
        "byte_fallback": True,
        "split_digits": True,
        "vocab_size": 360,
    },
    "spaces": {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
}


@pytest.fixture(scope="module", params=OPTIONS)
def model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Train a model with one set of options."""
    prefix = tmp_path_factory.mktemp("models") / request.param
    chosen = {"vocab_size": 90, "hard_vocab_limit": False, **OPTIONS[request.param]}
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 40),
        model_prefix=str(prefix),
        model_type="bpe",
        minloglevel=2,
        **chosen,
    )
    return prefix.with_suffix(".model")


def texts() -> list[str]:
    """Make texts of parts at which rules begin and end."""
    chance = random.Random(20)
    lengths = (chance.randrange(24) for _ in range(N_TEXTS))
    return ["".join(chance.choices(PARTS, k=length)) for length in lengths]


def test_ids_and_text_are_those_of_sentencepiece(model: Path) -> None:
    """A model that is read encodes and decodes as the library that made it."""
    theirs, ours = (
        spm.SentencePieceProcessor(model_file=str(model)),
        Tokenizer.from_file(model),
    )
    for text in itertools.chain(texts(), CORPUS):
        ids = theirs.encode(text)
        assert list(ours.encode(text)) == ids, text
        assert ours.decode(ids) == theirs.decode(ids), text


def test_tokens_are_those_of_sentencepiece(model: Path) -> None:
    """Characters outside the alphabet are shown as they are, not as the unknown token."""
    theirs, ours = (
        spm.SentencePieceProcessor(model_file=str(model)),
        Tokenizer.from_file(model),
    )
    for text in ["中中x<unk>", *texts(), *CORPUS]:
        tokens = theirs.encode(text, out_type=str)
        assert ours.encode_full(text).tokens == tokens, text
        assert ours.tokenize(text) == tokens, text


def test_any_ids_decode_as_in_sentencepiece(model: Path) -> None:
    """Ids in an order that no text gives, control and byte tokens too, decode alike."""
    theirs, ours = (
        spm.SentencePieceProcessor(model_file=str(model)),
        Tokenizer.from_file(model),
    )
    chance = random.Random(21)
    for _ in range(N_TEXTS):
        ids = chance.choices(range(len(theirs)), k=chance.randrange(10))
        assert ours.decode(ids) == theirs.decode(ids)
        stream = ours.decode_stream()
        assert "".join([*map(stream.push, ids), stream.finish()]) == theirs.decode(ids)


def test_bytes_that_are_no_text_encode_as_in_sentencepiece(model: Path) -> None:
    """Each byte that is no part of a character counts as U+FFFD."""
    theirs, ours = (
        spm.SentencePieceProcessor(model_file=str(model)),
        Tokenizer.from_file(model),
    )
    chance = random.Random(22)
    for _ in range(N_TEXTS):
        data = bytes(
            chance.choices(b" a\xe2\x96\x81\xff\xc3\xa9\xed\xa0\x80\xf0\x9f\0", k=12)
        )
        assert list(ours.encode(data)) == theirs.encode(data)


def test_a_written_model_is_the_model_to_sentencepiece(
    model: Path, tmp_path: Path
) -> None:
    """What is written gives the same ids there, and a pickle gives them here."""
    theirs, ours = (
        spm.SentencePieceProcessor(model_file=str(model)),
        Tokenizer.from_file(model),
    )
    ours.save(tmp_path / "own.model")
    again = spm.SentencePieceProcessor(model_file=str(tmp_path / "own.model"))
    copied = pickle.loads(pickle.dumps(ours))
    for text in texts()[:200]:
        ids = theirs.encode(text)
        assert again.encode(text) == ids
        assert again.decode(ids) == theirs.decode(ids)
        assert list(copied.encode(text)) == ids


def test_other_types_are_refused_by_name(tmp_path: Path) -> None:
    """A Unigram model is no tokenizer of ours."""
    prefix = tmp_path / "unigram"
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 40),
        model_prefix=str(prefix),
        vocab_size=60,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    with pytest.raises(TokenizerError, match="Unigram"):
        Tokenizer.from_file(prefix.with_suffix(".model"))
