"""``verify`` and ``convert``: differences are found and shown small, and nothing is written unproven."""

import contextlib
import json

import pytest
from hypothesis import given, strategies as st

import bytepair
from bytepair import Tokenizer
from bytepair.analyze._compare import torture
from bytepair.analyze._compare.made_texts import made_texts
from bytepair.analyze._compare.pairing import Pairing
from bytepair.analyze._compare.shrinking import shrink

TEXTS = [*torture.TEXTS, "low lower lowest newer newest " * 20]


def trained(dialect="gpt2", **options):
    """Train a small tokenizer."""
    options = {"dialect": dialect, "merges": 200, **options}
    return bytepair.train_from_iterator(TEXTS, **options)


def changed(tokenizer, change):
    """Change the file of a tokenizer and load it again."""
    document = json.loads(tokenizer.to_bytes(format="huggingface"))
    change(document)
    return Tokenizer.from_bytes(json.dumps(document).encode(), format="huggingface")


# Verify


def test_equal_tokenizers_have_no_difference(tmp_path):
    """As objects, as paths, and in another format."""
    tokenizer = trained()
    tokenizer.save(tmp_path / "a.json")
    tokenizer.save(tmp_path / "b.tiktoken")
    assert bytepair.verify(tokenizer, tmp_path / "a.json") is None
    assert bytepair.verify(str(tmp_path / "a.json"), tmp_path / "b.tiktoken") is None


def test_other_merges_are_found_in_a_small_text():
    """The text has just the characters of the merge."""
    tokenizer = trained()
    fewer = changed(tokenizer, lambda d: d["model"]["merges"].pop(0))
    found = bytepair.verify(tokenizer, fewer)
    assert found.what == "ids"
    assert len(found.text.encode()) <= 4
    assert found.first == tokenizer.encode(found.text)
    assert found.second == fewer.encode(found.text)
    assert not found.is_drift


def test_a_difference_in_own_texts_alone_is_found():
    """A token that no built-in text holds."""
    base = bytepair.train_from_iterator(["zqzq"], dialect="gpt2", vocab_size=257)
    other = bytepair.train_from_iterator(["qzqz"], dialect="gpt2", vocab_size=257)
    found = bytepair.verify(base, other, texts=["much text before zq and behind"])
    assert found.what == "ids"
    assert sorted(found.text) == ["q", "z"]


def test_other_special_tokens_are_found():
    """In a text, where it is recognised; and by id, where texts say nothing."""
    tokenizer = trained()
    found = bytepair.verify(tokenizer, tokenizer.with_special_tokens(["<|x|>"]))
    assert (found.what, found.text) == ("ids", "<|x|>")
    one = tokenizer.with_special_tokens({"<|x|>": 500})
    two = tokenizer.with_special_tokens({"<|x|>": 501})
    assert bytepair.verify(one, two).what == "ids"


def test_other_names_of_the_same_ids_are_found():
    """Tokens that no text uses differ by name alone."""
    tokenizer = trained("unknown-token")

    def rename(document):
        document["model"]["vocab"]["never made"] = tokenizer.n_vocab

    found = bytepair.verify(tokenizer, changed(tokenizer, rename))
    assert (found.what, found.text, found.first) == ("vocabularies", None, {})
    assert found.second == {"never made": tokenizer.n_vocab}


def test_drift_is_told_apart():
    """A pattern that lists letters by an older Unicode differs on young characters alone."""
    young = "\U0001e4d0"
    old_pattern = r"[\p{L}&&[^\x{1E4D0}-\x{1E4EB}]]+|[^\p{L}]+|[\x{1E4D0}-\x{1E4EB}]"
    new = byte_pair(r"\p{L}+")
    found = bytepair.verify(new, byte_pair(old_pattern), texts=[f"say a{young}"])
    assert found.is_drift
    assert "Unicode" in str(found)
    assert not bytepair.verify(new, byte_pair("a"), texts=[f"a{young}"]).is_drift


def byte_pair(pattern):
    """Learn to join ``a`` with the first byte of a character of Unicode 15, by one pattern alone."""
    options = {"dialect": "gpt2", "merges": 4, "pattern": r"[^ ]+| "}
    base = bytepair.train_from_iterator(["a\U0001e4d0 a\U0001e4d0"], **options)

    def split_by_it(document):
        for part in document["pre_tokenizer"].get("pretokenizers", []):
            if part["type"] == "Split":
                part["pattern"] = {"Regex": pattern}

    return changed(base, split_by_it)


@given(st.text(max_size=60), st.sets(st.characters(), min_size=1, max_size=3))
def test_shrinking_keeps_what_fails_and_drops_the_rest(text, needed):
    """What is left fails, and has nothing but what is needed."""

    def fails(smaller):
        return needed <= set(smaller)

    text += "".join(needed)
    small = shrink(text, fails)
    assert fails(small)
    assert len(small) == len(needed)


def test_texts_are_made_of_every_token_of_both():
    """Each token of whole characters is in a text, and a new one is a text, too."""
    first, second = trained(merges=20), trained()
    pairing = Pairing(first, second)
    texts = list(made_texts(pairing, has_all=True))
    whole = {}
    for id_, token in enumerate(second.vocabulary):
        with contextlib.suppress(UnicodeDecodeError):
            whole[id_] = token.decode().replace("▁", " ")
    assert all(any(token in text for text in texts) for token in whole.values())
    new = {token for id_, token in whole.items() if id_ in pairing.new_ids}
    assert new <= {*texts}
    assert len(new) > 9


# Convert


@pytest.mark.parametrize("name", ["a.json", "a.bytepair", "a.tiktoken", "folder"])
def test_a_conversion_is_proven_and_read_again(tmp_path, name):
    """Every file that is named exists, and gives the same tokenizer."""
    tokenizer = trained()
    done = bytepair.convert(tokenizer, tmp_path / name, texts=["own text"])
    assert done.n_texts > len(torture.TEXTS)
    assert (done.n_refused, done.has_ids) == (0, True)
    assert all(path.is_file() for path in done.files)
    assert bytepair.verify(tokenizer, tmp_path / name) is None
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert sorted(left) == done.files


def test_what_a_format_cannot_express_leaves_nothing(tmp_path):
    """Neither new files nor changed ones."""
    target = tmp_path / "own.tiktoken"
    target.write_text("before")
    with pytest.raises(bytepair.FormatError, match="characters"):
        bytepair.convert(trained("subword-nmt"), target)
    assert [path.name for path in tmp_path.iterdir()] == ["own.tiktoken"]
    assert target.read_text() == "before"


def test_what_is_read_again_otherwise_leaves_nothing(tmp_path, monkeypatch):
    """A format that lies is found out by the proof."""
    tokenizer, other = trained(), trained(merges=100)
    data = other.to_bytes()
    monkeypatch.setattr(bytepair._io.saving, "_written", lambda *_, **__: (data, []))
    with pytest.raises(bytepair.FormatError, match="nothing is written\nids differ"):
        bytepair.convert(tokenizer, tmp_path / "own.bytepair")
    assert list(tmp_path.iterdir()) == []


def test_targets_that_cannot_be_written_are_named(tmp_path):
    """A folder that is not there, a name that says no format, no name at all."""
    for target, error in (
        (tmp_path / "missing" / "own.json", bytepair.FileError),
        (tmp_path / "own.txt", bytepair.TokenizerError),
        ("", bytepair.FileError),
    ):
        with pytest.raises(error):
            bytepair.convert(trained(), target)


WORDS = "low lower lowest newer newest wide widest " * 9


def test_formats_without_ids_need_leave_to_change_them(tmp_path):
    """Else nothing is written, and the error says what to pass."""
    target, texts = tmp_path / "codes", [WORDS, "newlow"]
    tokenizer = bytepair.train_from_iterator([WORDS], dialect="subword-nmt", merges=5)
    options = {"format": "subword-nmt", "texts": texts}
    with pytest.raises(bytepair.FormatError, match="ids_may_change=True"):
        bytepair.convert(tokenizer, target, **options)
    assert list(tmp_path.iterdir()) == []
    done = bytepair.convert(tokenizer, target, **options, ids_may_change=True)
    assert not done.has_ids
    again = Tokenizer.from_file(target)
    assert again.token_to_id("w</w>") != tokenizer.token_to_id("w</w>")
    assert again.tokenize(WORDS) == tokenizer.tokenize(WORDS)


def test_other_pieces_are_found_where_few_texts_are_taken(tmp_path, monkeypatch):
    """Codes that cut at spaces and line feeds alone do not hold words between tabs."""
    options = {"dialect": "sennrich", "merges": 30}
    tokenizer = bytepair.train_from_iterator([WORDS], **options)
    options |= {"pattern": r"[^\r\n ]+", "unmatched": "drop"}
    other = bytepair.train_from_iterator([WORDS], **options)
    data = other.to_bytes(format="subword-nmt")
    monkeypatch.setattr(bytepair._io.saving, "_written", lambda *_, **__: (data, []))
    options = {"format": "subword-nmt", "ids_may_change": True}
    with pytest.raises(bytepair.FormatError, match="tokens differ"):
        bytepair.convert(tokenizer, tmp_path / "a", **options)


def test_other_tokens_are_refused_even_where_ids_may_change(tmp_path, monkeypatch):
    """Leave to change ids is none to change what they stand for."""
    data = trained(merges=100).to_bytes()
    monkeypatch.setattr(bytepair._io.saving, "_written", lambda *_, **__: (data, []))
    with pytest.raises(bytepair.FormatError, match="tokens differ"):
        bytepair.convert(trained(), tmp_path / "own.bytepair", ids_may_change=True)
    assert list(tmp_path.iterdir()) == []


def test_texts_that_the_source_refuses_are_counted_and_not_compared(tmp_path):
    """Line by line; what is left of the text is compared."""
    tokenizer = bytepair.train_from_iterator([WORDS], dialect="subword-nmt", merges=30)
    text = "lower low\n中 low\nnewest\n"
    done = bytepair.convert(tokenizer, tmp_path / "own.json", texts=[text])
    plain = bytepair.convert(tokenizer, tmp_path / "own.json")
    assert (done.n_refused, done.n_texts) == (plain.n_refused + 1, plain.n_texts + 2)
    assert plain.n_texts > 0


FORMATS = {"bytepair": "a.bytepair", "compiled": "a.bytepair-compiled", "gpt2": "a"}
FORMATS |= {"huggingface": "a.json", "tiktoken": "a.tiktoken", "fastbpe": "a.fastbpe"}
FORMATS |= {"sentencepiece": "a.model", "subword-nmt": "a.codes"}


@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_every_dialect_goes_to_every_format_or_is_refused(tmp_path, dialect):
    """Whatever becomes of it: what is there gives the same, or nothing is there."""
    tokenizer = trained(dialect)
    for name, file in FORMATS.items():
        folder = tmp_path / name
        folder.mkdir()
        try:
            done = bytepair.convert(tokenizer, folder / file, format=name)
        except bytepair.FormatError:
            assert list(folder.iterdir()) == []
            continue
        left = sorted(path for path in folder.rglob("*") if path.is_file())
        assert left == done.files
        again = Tokenizer.from_file(folder / file)
        assert again.tokenize(TEXTS[-1]) == tokenizer.tokenize(TEXTS[-1])


@pytest.mark.parametrize("taken", ["a.tiktoken", "a.tiktoken.json"])
def test_a_folder_in_the_place_of_a_file_leaves_nothing(tmp_path, taken):
    """Neither the file nor what belongs to it."""
    (tmp_path / taken).mkdir()
    with pytest.raises(bytepair.FileError, match="folder"):
        bytepair.convert(trained(), tmp_path / "a.tiktoken")
    assert [path.name for path in tmp_path.rglob("*")] == [taken]


def test_shrinking_costs_a_multiple_of_the_text():
    """Even a text that fails only as a whole."""
    for n_characters in (20_000, 400_000):
        n_tried = 0

        def fails(text, whole=n_characters):
            nonlocal n_tried
            n_tried += len(text)
            return len(text) == whole

        text = "ab" * (n_characters // 2)
        assert shrink(text, fails) == text
        assert n_tried <= max(100_000, 64 * n_characters)
