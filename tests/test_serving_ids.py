"""Ids that a model sampled: each answer is that of encoding everything again."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.conftest import encodable

import bytepair
from bytepair import _core, serving

TEXT = "the cat sat on the mat, 123 hats.\nété 中文字。中文 да "
ALPHABET = "the cat中文。é1\n <s>"


@pytest.fixture(
    scope="module", params=["gpt2", "gpt4o", "byte-stream", "sentencepiece"]
)
def tokenizer(request):
    """Give a tokenizer with a special token that decodes each text as it was."""
    texts = [TEXT * 3, " ".join(ALPHABET)]
    options = {"dialect": request.param, "merges": 60, "special_tokens": ["<s>"]}
    return bytepair.train_from_iterator(texts, **options)


def drifted(tokenizer, text, draw):
    """Give other ids for a text: it is encoded in parts at random places."""
    places = sorted(
        draw.sample(range(len(text) + 1), k=min(len(text), draw.randint(0, 4)))
    )
    parts = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
    if tokenizer.decode(tokenizer.encode(" a")) != " a":
        return tokenizer.encode(text)
    return [id for part in parts for id in tokenizer.encode(part)]


@given(
    text=st.text(ALPHABET, max_size=30),
    more=st.text(ALPHABET, max_size=15),
    seed=st.integers(0, 99),
)
def test_rows_are_canonical_if_their_text_has_their_ids(tokenizer, text, more, seed):
    """So says encoding the decoded text; after a special token a text stands in the middle of the row."""
    row = drifted(tokenizer, text, random.Random(seed))
    expected = tokenizer.encode(tokenizer.decode(row))
    same = [a == b for a, b in zip(row, expected, strict=False)]
    first = None if row == expected else [*same, False].index(False)
    assert serving.first_noncanonical(tokenizer, row) == first
    assert serving.is_canonical(tokenizer, row) == (first is None)
    assert serving.canonicalize(tokenizer, row) == expected
    special = tokenizer.special_tokens["<s>"]
    both = f"{text.replace('<s>', '')}<s>{more.replace('<s>', '')}"
    ids = tokenizer.encode(both, allowed_special="all")
    assert special in ids
    assert serving.canonicalize(tokenizer, ids) == ids


def beginnings(tokenizer, ids):
    """Give the text of the first ids, for each number of ids, without spaces that decoding strips."""
    table = serving.TokenBytes(tokenizer)
    texts = [*itertools.accumulate((table[id] for id in ids), initial=b"")]
    shown = tokenizer.decode(ids).encode()
    n_spaces = [len(text) - len(text.lstrip(b" ")) for text in (texts[-1], shown)]
    return [text[max(0, n_spaces[0] - n_spaces[1]) :] for text in texts]


def spliced(tokenizer, row, text):
    """Give the new row by the definition; ``row`` begins with an encoding of its text, and ends in open ids."""
    before, whole = (tokenizer.encode(tokenizer.decode(row) + t) for t in ("", text))
    n_kept = len(serving.heal(tokenizer, row).ids)
    n_before = len(before) - (len(row) - n_kept)
    if n_before >= 0 and before[n_before:] == row[n_kept:]:
        return row[:n_kept] + whole[n_before:]
    old, new = beginnings(tokenizer, row), beginnings(tokenizer, whole)
    for keep in range(len(row), n_kept, -1):
        if old[keep] and old[keep] in new:
            return row[:keep] + whole[new.index(old[keep]) :]
    return row[:n_kept] + whole[new.index(old[n_kept]) :]


def check_splices(tokenizer, texts):
    """Compare rows of other ids with the definition; give how many are not canonical."""
    n_drifted = 0
    for number, (text, more) in enumerate(texts):
        row = serving.encode_by(tokenizer, text, "uniform", seed=number)
        is_lossless = tokenizer.decode(row) == text and tokenizer.decode(
            tokenizer.encode(text + more)
        ) == (text + more)
        if not is_lossless:
            continue
        found = serving.splice(tokenizer, row, more).apply(row)
        assert tokenizer.decode(found) == text + more, (row, more)
        assert found == spliced(tokenizer, row, more), (row, more)
        n_drifted += not serving.is_canonical(tokenizer, row)
    return n_drifted


@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_rows_of_other_ids_are_spliced_by_the_definition(dialect):
    """Random vocabularies; texts of few letters, so that tokens meet in many ways."""
    draw, n_drifted = random.Random(dialect), 0
    for _ in range(12):
        letters = [*draw.sample("abcé中1", 3), " ", "."]
        corpus = "".join(draw.choices(letters, k=120))
        options = {"dialect": dialect, "merges": draw.randint(3, 25)}
        tokenizer = bytepair.train_from_iterator(
            [corpus, " ".join("abcé中1.")], **options
        )
        lens = [(draw.randint(1, 14), draw.randint(1, 5)) for _ in range(30)]
        texts = [["".join(draw.choices(letters, k=k)) for k in pair] for pair in lens]
        n_drifted += check_splices(tokenizer, texts)
    assert n_drifted > 50 or dialect == "unknown-token"


@given(
    text=st.text(ALPHABET, max_size=30),
    more=st.text(ALPHABET, max_size=15),
    seed=st.integers(0, 99),
)
def test_text_that_follows_leaves_ids_where_it_can(tokenizer, text, more, seed):
    """A canonical row becomes the encoding of everything; of another one, as much stays as can."""
    ids = tokenizer.encode(text)
    assert serving.splice(tokenizer, ids, more).apply(ids) == tokenizer.encode(
        text + more
    )
    if tokenizer.decode(tokenizer.encode(" a")) == " a":
        row = drifted(tokenizer, text, random.Random(seed))
        patch = serving.splice(tokenizer, np.array(row, dtype=np.uint32), more)
        new = patch.apply(row)
        assert tokenizer.decode(new) == text + more
        if not serving.is_canonical(tokenizer, row) and patch.keep > 0 and more:
            assert len(new) <= len(row) + len(more.encode())
    row = [*ids, tokenizer.special_tokens["<s>"]]
    whole = text.replace("<s>", "") + "<s>" + more.replace("<s>", "")
    row = tokenizer.encode(whole.partition("<s>")[0] + "<s>", allowed_special="all")
    patch = serving.splice(
        tokenizer, row, whole.partition("<s>")[2] + "<s>a", allowed_special="all"
    )
    assert patch.apply(row) == tokenizer.encode(whole + "<s>a", allowed_special="all")


def test_what_cannot_be_answered_is_refused_by_name():
    """Ids outside the vocabulary, unknown tokens, and ids without a text."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    with pytest.raises(
        TypeError, match=r"stable_prefix\(\) got.*did you mean added_tokens"
    ):
        serving.stable_prefix(tokenizer, "low", added_token="text")
    for call in (serving.is_canonical, serving.canonicalize):
        with pytest.raises(bytepair.UnknownTokenError, match="999"):
            call(tokenizer, [257, 999])
        with pytest.raises(TypeError, match="tokenizer"):
            call("low", [257])
    with pytest.raises(bytepair.UnknownTokenError, match="999"):
        serving.compare(tokenizer, [257, 999], [257])
    assert serving.is_canonical(tokenizer, tokenizer.encode(b"\xff\xe2"))
    added = tokenizer.with_added_tokens(["lowe"])
    row = added.encode("low lower")
    for found in ("find", "text"):
        assert serving.is_canonical(added, row, added_tokens=found)
    assert not serving.is_canonical(added, tokenizer.encode("lowe"))
    unknown = bytepair.train_from_iterator(["low"], merges=2, dialect="unknown-token")
    with pytest.raises(bytepair.TokenizerError, match="unknown token at index 1"):
        serving.is_canonical(unknown, unknown.encode("lowz"))


@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_the_text_of_a_row_is_what_decoding_gives(dialect):
    """Random ids, often of spaces, which decoders leave out at the ends; so rows of two tokenizers can be aligned."""
    options = {"dialect": dialect, "merges": 30, "special_tokens": ["<s>"]}
    tokenizer = bytepair.train_from_iterator([TEXT.replace(" ", "  ")], **options)
    table, draw = serving.TokenBytes(tokenizer), random.Random(4)
    ids = [id for id in range(len(table)) if table[id] or table.kind(id) == "special"]
    ids += [id for id in ids if not table[id].strip()] * 9
    for _ in range(200):
        row = draw.choices(ids, k=draw.randint(0, 30))
        shown = tokenizer.decode(row, skip_special_tokens=True)
        text, ends = _core.text_and_ends(tokenizer, row)
        assert "\ufffd" in shown or text.decode() == shown, row
        assert ends == sorted(ends)
        assert ends[-1:] in ([], [len(text)])
    shown = tokenizer.decode(tokenizer.encode("the cat"))
    other = bytepair.train_from_iterator(["cat"], vocab_size=256, dialect="byte-stream")
    groups = serving.align(
        tokenizer, tokenizer.encode("the cat"), other, other.encode(shown)
    )
    assert groups[-1][3] == len(shown)


def test_groups_of_two_tokenizers_have_the_same_bytes(tokenizer):
    """They cover both rows, are as small as can be, and other texts are refused with the place."""
    other = bytepair.train_from_iterator(["the mat"], merges=3, dialect="byte-stream")
    for text in (TEXT, "the cat", "a", ""):
        rows = tokenizer.encode(text), other.encode(text)
        groups = serving.align(tokenizer, rows[0], other, rows[1])
        tables = serving.TokenBytes(tokenizer), serving.TokenBytes(other)
        before = (0, 0)
        for start, stop, other_start, other_stop in groups.tolist():
            assert (start, other_start) == before
            sides = (rows[0][start:stop], rows[1][other_start:other_stop])
            first, second = (
                b"".join(map(t.__getitem__, s))
                for t, s in zip(tables, sides, strict=True)
            )
            assert first.strip() == second.strip()
            before = stop, other_stop
        assert before == (len(rows[0]), len(rows[1])) or not text
    special, row = tokenizer.special_tokens["<s>"], tokenizer.encode("a cat")
    groups = serving.align(tokenizer, [special, *row], tokenizer, row).tolist()
    assert groups[0][0] == groups[0][2] == 0
    assert [stop - 1 for _, stop, _, _ in groups] == [stop for *_, stop in groups]
    spaced = bytepair.train_from_iterator(
        ["a b"], vocab_size=256, dialect="byte-stream"
    )
    with pytest.raises(bytepair.TokenizerError, match="from byte 0 on"):
        serving.align(spaced, spaced.encode(" a"), spaced, spaced.encode("a"))
    with pytest.raises(bytepair.TokenizerError, match="from byte 2 on"):
        serving.align(other, other.encode("abc"), other, other.encode("abd"))


def test_rows_are_compared_at_special_tokens_and_by_text(tokenizer):
    """Other ids of a text are counted; other texts and special tokens are told."""
    special = tokenizer.special_tokens["<s>"]
    letters = [id for letter in "that" for id in tokenizer.encode(letter)]
    row = [*tokenizer.encode("a that"), special, *tokenizer.encode("b")]
    assert serving.compare(tokenizer, row, row) == serving.Comparison(None, 0)
    assert "text differs" in serving.compare(tokenizer, row, letters).difference
    assert (
        "special token 0"
        in serving.compare(tokenizer, row, row[: row.index(special)]).difference
    )


@given(n=st.integers(0, 300), seed=st.integers(0, 9))
def test_a_sampled_text_has_exactly_so_many_ids(tokenizer, n, seed):
    """Also behind a prefix, whose ids stay; a seed repeats."""
    text = serving.sample_text(tokenizer, n, seed=seed)
    assert len(tokenizer.encode(text)) == n
    assert serving.sample_text(tokenizer, n, seed=seed) == text
    before = tokenizer.encode("the cat")
    text = serving.sample_text(
        tokenizer, n, seed=seed, prefix="the cat", words=[" ", "a", " the"]
    )
    whole = tokenizer.encode("the cat" + text)
    assert (whole[: len(before)], len(whole)) == (before, len(before) + n)


def test_a_number_of_ids_that_no_words_make_is_refused():
    """The error says how far it came."""
    tokenizer = bytepair.train_from_iterator(["low"], vocab_size=256)
    with pytest.raises(
        bytepair.TokenizerError,
        match="no text of exactly 3 ids was found, but one of 2",
    ):
        serving.sample_text(tokenizer, 3, seed=1, words=["ab"])
    with pytest.raises(bytepair.TokenizerError, match="between 0"):
        serving.sample_text(tokenizer, -1, seed=1)
    for words in ("low", ["low", 1]):
        with pytest.raises(TypeError, match="words"):
            serving.sample_text(tokenizer, 3, seed=1, words=words)
    with pytest.raises(bytepair.TokenizerError, match="must not be empty"):
        serving.sample_text(tokenizer, 3, seed=1, words=[])


@pytest.mark.slow
def test_published_files_answer_as_encoding_does(published, shared):
    """Real texts are canonical in parts of any length, text that follows them gives the whole, and samples are exact."""
    tokenizer, draw = published, random.Random(2)
    for corpus in ("english-novels", "code", "chinese"):
        text = shared(f"corpora/{corpus}.txt").read_text(encoding="utf-8")[:20_000]
        text = encodable(tokenizer, text) or " "
        parts = []
        for _ in range(20):
            start, length = draw.randrange(len(text)), draw.randrange(400)
            parts.append((text[start : start + length], text[start : start + 30]))
        specials = list(tokenizer.special_tokens)[:3]
        for part, more in parts:
            ids = tokenizer.encode(part)
            if tokenizer.decode(ids) != part:
                continue
            assert serving.is_canonical(tokenizer, ids), part
            new = serving.splice(tokenizer, ids, more).apply(ids)
            assert new == tokenizer.encode(part + more), (part, more)
            for special in specials:
                whole = f"{special * 2}{part}{special}"
                row = tokenizer.encode(whole, allowed_special="all")
                assert serving.is_canonical(tokenizer, row), whole
        check_splices(tokenizer, [(part[-60:], more) for part, more in parts])
    for n in (1, 17, 500):
        assert len(tokenizer.encode(serving.sample_text(tokenizer, n, seed=n))) == n
