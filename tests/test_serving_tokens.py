"""Bytes of tokens, their trie, covers and healing, and vocabularies for libraries of grammars."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.conftest import SHARED, load
from tests.made_up import CORPUS, MARKED, added, every_kind, hugging_face, vocabulary

import bytepair
from bytepair import TokenizerError, serving
from bytepair.errors import (
    SpecialTokenError,
    UnknownTokenError,
)

TEXTS = [
    *CORPUS,
    "Hello world, low  lower\n  é日本 the end. if x==1:\n    return foo(12345)",
]
MORE = ["", "x", " x", "s", "\n", "\u0301", "日", " lower"]
KINDS = sorted(every_kind())
OF_SENTENCEPIECE = {
    "type": "Sequence",
    "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
        {"type": "ByteFallback"},
        {"type": "Fuse"},
        {"type": "Strip", "content": " ", "start": 1, "stop": 0},
    ],
}
PUBLISHED = [
    "clip/tokenizer.json",
    "deepseek-v3/tokenizer.json",
    "falcon/tokenizer.json",
    "gpt1/encoder_bpe_40000.json",
    "llama2-style/tokenizer.json",
    "mistral-sentencepiece/tokenizer-v3.model",
    "nerdstash-v2/tokenizer.model",
    "qwen3/tokenizer.json",
    "roberta-base/tokenizer.json",
    "tekken/tekken_240718.json",
    "tiktoken/o200k_base.tiktoken",
    "tiny-metaspace-nfkc/tokenizer.json",
    "tiny-wordpiece-prefix/tokenizer.json",
]


def tokenizers(published):
    """Give tokenizers of every kind, or those of published files that are there."""
    if not published:
        return every_kind().values()
    paths = (SHARED / "vocabularies" / name for name in PUBLISHED)
    return [load(path) for path in paths if path.exists()]


def encoded(tokenizer, text):
    """Give the ids of a text, or none if a character has no token."""
    try:
        return tokenizer.encode(text)
    except UnknownTokenError:
        return []


@pytest.mark.parametrize(
    "published", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_the_bytes_of_a_token_are_what_it_adds_to_a_text(published):
    """Joined bytes are the decoded text but for its ends, and a token between two others adds its bytes to them."""
    for tokenizer in tokenizers(published):
        table = serving.TokenBytes(tokenizer)
        assert list(table) == [table[id_] for id_ in range(len(table))]
        rows = [encoded(tokenizer, text) for text in TEXTS]
        for ids in (ids for ids in rows if 4 not in table.kinds[ids]):
            decoded = tokenizer.decode(ids, skip_special_tokens=True).encode()
            assert b"".join(table[id_] for id_ in ids).strip(b" ") == decoded.strip(
                b" "
            )
        around = next(id_ for id_, token in enumerate(table) if token.strip().isalpha())
        first, both = tokenizer.decode([around]), tokenizer.decode([around] * 2)
        mark = " " if table[around].endswith(b" ") else ""
        for id_, kind in itertools.islice(enumerate(table.kinds.tolist()), 20_000):
            token = table[id_].decode(errors="replace")
            if kind < 3 and "\ufffd" not in token:
                found = tokenizer.decode([around, id_, around])
                assert found == first + mark + token + both[len(first + mark) :], id_
            assert table[id_] == b"" or kind < 3


def test_what_a_token_stands_for_is_told_apart():
    """Byte fallback, added, special and unknown tokens, and ids without one, are told apart; marks are spaces."""
    tokens = vocabulary("<unk>", "<s>", "▁", "a", "▁a", "<0x41>", "<think>")
    tokens["b"] = 8
    special = [added(1, "<s>", special=True), added(6, "<think>")]
    tokenizer = hugging_face(
        {"vocab": tokens, "merges": [], "unk_token": "<unk>", "byte_fallback": True},
        decoder=OF_SENTENCEPIECE,
        added_tokens=special,
    )
    table = pickle.loads(pickle.dumps(serving.TokenBytes(tokenizer)))
    kinds = [
        "unknown",
        "special",
        "text",
        "text",
        "text",
        "byte",
        "added",
        "none",
        "text",
    ]
    assert [table.kind(id_) for id_ in range(9)] == kinds
    assert list(table) == [b"", b"", b" ", b"a", b" a", b"A", b"<think>", b"", b"b"]
    assert tokenizer.token_bytes(4) == "▁a".encode()
    assert table.ids("none").tolist() == [7]
    ends = bytepair.train_from_iterator(["low low"], dialect="sennrich", merges=3)
    assert b"low " in list(serving.TokenBytes(ends))


@pytest.mark.parametrize(
    "published", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_questions_to_the_trie_have_the_answers_of_a_search(published):
    """Tokens with a prefix and tokens that are allowed next are those that a look at every token finds."""
    for tokenizer in tokenizers(published):
        table = serving.TokenBytes(tokenizer)
        rows = list(table)
        assert sorted(table.trie.ids.tolist()) == [
            id_ for id_, row in enumerate(rows) if row
        ]
        for text in (
            "",
            "l",
            "lo",
            "low",
            " low ",
            "low lower",
            "é",
            "\u0301!",
            b"\xe6\x97",
        ):
            prefix = text.encode() if isinstance(text, str) else text
            found = [
                id_ for id_, row in enumerate(rows) if row and row.startswith(prefix)
            ]
            assert table.with_prefix(prefix).tolist() == found
            shorter = [
                id_ for id_, row in enumerate(rows) if row and prefix.startswith(row)
            ]
            assert table.allowed(prefix).tolist() == sorted({*found, *shorter})


@given(
    tokens=st.lists(st.text("ab", min_size=1, max_size=3), max_size=6),
    prefix=st.text("abc", max_size=4),
)
def test_covers_are_all_rows_that_just_reach_beyond_a_prefix(tokens, prefix):
    """Covers are those among all rows of as many ids as bytes, each once, also where tokens have the same bytes."""
    names = vocabulary(*dict.fromkeys(["a", *tokens]))
    names |= {f"{name}</w>": len(names) + at for at, name in enumerate(list(names)[:2])}
    tokenizer = hugging_face({"vocab": names, "merges": []})
    table = serving.TokenBytes(tokenizer)
    rows, naive = list(table), []
    for length in range(len(prefix) + 1):
        for row in itertools.product(range(len(rows)), repeat=length):
            parts = [rows[id_].decode() for id_ in row]
            is_needed = not row or not "".join(parts[:-1]).startswith(prefix)
            if "".join(parts).startswith(prefix) and is_needed:
                naive.append(list(row))
    assert sorted(table.covers(prefix.encode())) == sorted(naive)


@pytest.mark.parametrize(
    "published", [False, pytest.param(True, marks=pytest.mark.slow)]
)
def test_no_continuation_changes_the_ids_that_healing_leaves(published):
    """At every cut of a text, the ids that stay begin those of each longer text, and the bytes of the others follow.

    The text is the decoded one, since a decoder may put spaces between tokens that the first text lacks.
    """
    n_kept = 0
    for tokenizer in tokenizers(published):
        table = serving.TokenBytes(tokenizer)
        for text in TEXTS:
            for cut in range(len(text) + 1):
                begun = tokenizer.decode(encoded(tokenizer, text[:cut]))
                ids = encoded(tokenizer, begun)
                if tokenizer.decode(ids) != begun or 4 in table.kinds[ids]:
                    continue
                healed = serving.heal(tokenizer, ids)
                n_kept += len(healed.ids)
                taken = b"".join(table[id_] for id_ in ids[len(healed.ids) :])
                assert healed.rest in (taken, taken.removesuffix(b" "))
                for more in (text[cut:], *MORE):
                    whole = encoded(tokenizer, begun + more)
                    assert not whole or whole[: len(healed.ids)] == healed.ids
    assert n_kept > 0 or not list(tokenizers(published))


def test_healing_keeps_special_tokens_and_allows_the_tokens_of_the_text():
    """A special token is never taken back, and the first id after those that stay is among the allowed ones."""
    tokenizer = bytepair.train_from_iterator(
        ["the lower the lower"], vocab_size=263, special_tokens=["<s>"]
    )
    ids = tokenizer.encode("the low<s>", allowed_special="all")
    assert serving.heal(tokenizer, ids) == (ids, b"")
    healed = serving.heal(tokenizer, [*ids, *tokenizer.encode("low")])
    assert healed == (ids, b"low")
    healed = serving.heal(tokenizer, np.array(tokenizer.encode("the low")))
    next_id = tokenizer.encode("the lower")[len(healed.ids)]
    assert next_id in serving.TokenBytes(tokenizer).allowed(healed.rest)


@pytest.mark.parametrize("name", bytepair.dialects())
@given(text=st.text("low er\n1é<|end|>\u0301", max_size=9))
def test_a_vocabulary_for_grammars_gives_ids_with_exactly_the_bytes_of_a_text(
    name, text
):
    """Ids are those of the text, or of as much as has tokens; special tokens are text, and nothing raises an error."""
    vocabulary = serving.grammar_vocabulary(every_kind()[name], eos="<|end|>")
    for data in (text.encode(), text.encode()[:-1]):
        ids = vocabulary(data)
        found = b"".join(vocabulary.table[id_] for id_ in ids)
        assert data.startswith(found)
        assert not any(
            data[len(found) :].startswith(row) for row in vocabulary.table if row
        )
        assert not {*ids} & {*vocabulary.special_token_ids}
    assert vocabulary(text) == vocabulary(text.encode())


def test_a_vocabulary_for_grammars_gives_the_ids_of_the_text_alone():
    """White space at the beginning is not joined to a line break before it, and no space is put before a text."""
    spaces = bytepair.train_from_iterator(
        ["a\n \n \n b"], vocab_size=259, special_tokens=["</s>"]
    )
    for text in (" \n b", "\n \n", " b"):
        assert serving.grammar_vocabulary(spaces)(text) == spaces.encode(text)
    prepend = {"type": "Prepend", "prepend": "▁"}
    words = hugging_face(
        {
            "vocab": vocabulary("▁", "l", "o", "w", "lo", "low", "▁low", "\n", "</s>"),
            "merges": [["l", "o"], ["lo", "w"], ["▁", "low"]],
        },
        normalizer={"type": "Sequence", "normalizers": [prepend, MARKED]},
        decoder=OF_SENTENCEPIECE,
        added_tokens=[added(8, "</s>", special=True)],
    )
    assert words.encode("low low") == [6, 6]
    assert serving.grammar_vocabulary(words)("low low") == [5, 6]


def test_bad_input_is_refused_with_its_place():
    """Ids outside the vocabulary, wrong types, unknown kinds and ends that are not certain are errors of our own."""
    tokenizer = (
        every_kind()["gpt2"] if "gpt2" in KINDS else next(iter(every_kind().values()))
    )
    table = serving.TokenBytes(tokenizer)
    n_ids = len(table)
    for call in (
        table.__getitem__,
        table.kind,
        lambda id_: serving.heal(tokenizer, [id_]),
    ):
        with pytest.raises(UnknownTokenError, match=f"id {n_ids}"):
            call(n_ids)
    for wrong in ("a", 1.5, None):
        with pytest.raises(TypeError, match="id must be a whole number"):
            table[wrong]
    with pytest.raises(TypeError, match="prefix must be bytes, not int"):
        table.with_prefix(3)
    with pytest.raises(TypeError, match="rest must be bytes, not str"):
        table.allowed("a")
    with pytest.raises(TokenizerError, match="kind must be one of text, byte"):
        table.ids("letters")
    with pytest.raises(TypeError, match="tokenizer must be a Tokenizer"):
        serving.TokenBytes("gpt2")
    with pytest.raises(SpecialTokenError, match="not certain: no name"):
        serving.grammar_vocabulary(tokenizer)
    with pytest.raises(SpecialTokenError, match="'<eos>' is not a special token"):
        serving.grammar_vocabulary(tokenizer, eos="<eos>")
    neighbours = hugging_face(
        {"vocab": {"a": 0}, "merges": []},
        decoder={
            "type": "CTC",
            "pad_token": "a",
            "word_delimiter_token": "|",
            "cleanup": False,
        },
    )
    with pytest.raises(TokenizerError, match="depends on its neighbours"):
        serving.TokenBytes(neighbours)
    unknown = hugging_face(
        {"vocab": vocabulary("<unk>", "a"), "merges": [], "unk_token": "<unk>"}
    )
    with pytest.raises(TokenizerError, match="unknown token at index 0"):
        serving.heal(unknown, [0])
