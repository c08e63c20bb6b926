"""A file that was written gives the same ids and the same text, here and in the library that it is for.

Small vocabularies get added tokens of odd characters, with all properties and with holes
between ids. Each format either holds such a tokenizer or refuses it by name. Left out:
large published vocabularies, which the tests of their formats show.
"""

import base64
import json

import pytest
from hypothesis import assume, given, strategies as st

import bytepair
from bytepair import FormatError, Tokenizer, _core

TEXTS = ["low lower lowest <b> naïve café 한 ▁x Ġy </w> ab  abab\n"]
OPTIONS = {
    "gpt2": {"dialect": "gpt2"},
    "byte-stream": {"dialect": "byte-stream"},
    "lowercase": {"dialect": "gpt2", "normalize": ["lowercase"]},
    "unknown-token": {"dialect": "unknown-token"},
    "sentencepiece": {"dialect": "sentencepiece", "normalize": [("replace", " ", "▁")]},
    "subword-nmt": {"dialect": "subword-nmt"},
    "sennrich": {"dialect": "sennrich"},
}
BASES = {
    name: bytepair.train_from_iterator(TEXTS, merges=20, **options)
    for name, options in OPTIONS.items()
}

PARTS = ["é", "ï", "č", "Ã©", "Ġ", "▁", "</w>", "<0x41>", " ", "a", "B", "한", "<s>"]
PARTS.append("w")
contents = st.lists(st.sampled_from(PARTS), min_size=1, max_size=3).map("".join)
flags = st.lists(st.booleans(), min_size=5, max_size=5)


@st.composite
def tokenizers(draw):
    """Draw a tokenizer with added tokens, as it is in memory."""
    tokenizer = BASES[draw(st.sampled_from(sorted(BASES)))]
    names = draw(st.lists(contents, max_size=3, unique=True))
    first = tokenizer.n_vocab
    for name in names:
        if draw(st.booleans()):
            first += draw(st.integers(0, 2))
            tokenizer = tokenizer.with_special_tokens({name: first})
            first += 1
        else:
            added = [(name, draw(flags))]
            tokenizer = Tokenizer(_core.with_added_tokens(tokenizer, added))
            first = tokenizer.n_vocab
    return tokenizer, names


def texts_around(names):
    """Put names into texts."""
    around = [f"ab {name} low{name}x {name.upper()}" for name in names]
    return ["low lower", *names, *around]


def ids_of(tokenizer, text):
    """Encode a text, or give ``None`` where a unit of it has no token."""
    try:
        return tokenizer.encode(text, allowed_special="all")
    except bytepair.TokenizerError:
        return None


def answers(tokenizer, names):
    """Give the ids of texts, with added tokens found, and the text of every id."""
    texts = [ids_of(tokenizer, text) for text in texts_around(names)]
    ids = [id_ for id_, token in enumerate(tokenizer.vocabulary) if token is not None]
    decode = tokenizer.decode
    return texts, [(decode([id_]), decode([id_, id_])) for id_ in ids]


@pytest.mark.parametrize(
    "name", ["a.bytepair", "a.bytepair-compiled", "a.json", "a.tiktoken", "a.model"]
)
@given(tokenizers())
def test_what_is_read_again_gives_the_same(tmp_path_factory, name, drawn):
    """Ids of texts and the text of every id are those of before, or nothing is written."""
    tokenizer, names = drawn
    path = tmp_path_factory.mktemp("saved") / name
    try:
        tokenizer.save(path)
    except FormatError:
        assert name not in {"a.bytepair", "a.bytepair-compiled"}
        assert not path.exists()
        return
    again = Tokenizer.from_file(path)
    before, after = answers(tokenizer, names), answers(again, names)
    for ids, found in zip(before[0], after[0], strict=True):
        # A unit that no token stands for is an error here alone.
        assert ids is None or found == ids
    if name != "a.model":
        assert before[1] == after[1]
        return
    special = set(tokenizer.special_tokens.values())
    pairs = zip(before[1], after[1], strict=False)
    assert all(one == two for id_, (one, two) in enumerate(pairs) if id_ not in special)


@given(tokenizers())
def test_the_library_decodes_and_finds_what_is_found_here(drawn):
    """Hugging Face's reading of a file gives the ids of texts and the text of every id."""
    peer = pytest.importorskip("tokenizers")
    tokenizer, names = drawn
    try:
        data = tokenizer.to_bytes(format="huggingface")
    except FormatError:
        return
    theirs = peer.Tokenizer.from_str(data.decode())
    for text in texts_around(names):
        ids = ids_of(tokenizer, text)
        found = theirs.encode(text, add_special_tokens=False).ids
        assert ids is None or found == ids
    for id_, token in enumerate(tokenizer.vocabulary):
        if token is not None:
            text = tokenizer.decode([id_])
            assert theirs.decode([id_], skip_special_tokens=False) == text


@given(tokenizers())
def test_tiktoken_decodes_and_finds_what_is_found_here(drawn):
    """The ranks and the sidecar make the same encoding in tiktoken."""
    tiktoken = pytest.importorskip("tiktoken")
    tokenizer, names = drawn
    try:
        ranks, sidecar = bytepair._core.write("tiktoken", tokenizer)
    except FormatError:
        return
    lines = (line.split() for line in ranks.splitlines())
    ranks = {base64.b64decode(text): int(rank) for text, rank in lines}
    described = json.loads(sidecar)
    parts = {"mergeable_ranks": ranks, "special_tokens": described["special_tokens"]}
    theirs = tiktoken.Encoding("own", pat_str=described["pattern"], **parts)
    for text in texts_around(names):
        ids = tokenizer.encode(text, allowed_special="all")
        assert theirs.encode(text, allowed_special="all") == ids
        assert theirs.decode(ids) == tokenizer.decode(ids)


@pytest.mark.parametrize(
    "names", [["naïve"], ["éï", "Ã©Ã¯", "ďé"], ["é" * n for n in range(2, 60)]]
)
def test_added_tokens_of_byte_letters_keep_their_text(tmp_path, names):
    """A token such as ``naïve`` is decoded to itself by both libraries, from each kind of file."""
    peer = pytest.importorskip("tokenizers")
    tokenizer = BASES["gpt2"].with_special_tokens(names)
    text = f"a {' '.join(names)}"
    ids = tokenizer.encode(text, allowed_special="all")
    tokenizer.save(tmp_path / "a.json")
    tokenizer.save_pretrained(tmp_path / "folder")
    bytepair.convert(tokenizer, tmp_path / "b.json")
    for name in ("a.json", "folder/tokenizer.json", "b.json"):
        path = tmp_path / name
        assert bytepair.verify(tokenizer, path) is None
        theirs = peer.Tokenizer.from_file(str(path))
        assert theirs.decode(ids, skip_special_tokens=False) == text


def test_too_many_of_them_are_refused_by_name():
    """Each would take a step of decoding; a format that holds them is named."""
    tokenizer = BASES["gpt2"].with_special_tokens(["é" * n for n in range(2, 80)])
    with pytest.raises(FormatError, match=r"éé.*\.bytepair"):
        tokenizer.to_bytes(format="huggingface")


def test_a_token_that_would_come_back_as_other_text_is_refused_by_name(tmp_path):
    """The message names the token and both texts; no way of writing leaves a file."""
    tokenizer = BASES["sentencepiece"].with_special_tokens(["<▁>"])
    writers = [
        lambda: tokenizer.save(tmp_path / "a.json"),
        lambda: tokenizer.to_bytes(format="huggingface"),
        lambda: tokenizer.save_pretrained(tmp_path / "folder"),
        lambda: bytepair.convert(tokenizer, tmp_path / "b.json"),
        lambda: bytepair.convert(tokenizer, tmp_path / "c.json", ids_may_change=True),
    ]
    said = r'"<▁>" .* decoded to "< >", not to "<▁>"'
    for write in writers:
        with pytest.raises(FormatError, match=said):
            write()
    assert list(tmp_path.rglob("*.json")) == []


@given(st.text(alphabet="ab éčĠ", min_size=1, max_size=4))
def test_a_file_whose_decoder_changes_a_token_is_described_so(content):
    """``loses`` tells of added tokens that are decoded to other text, and of no others."""
    document = json.loads(BASES["gpt2"].to_bytes(format="huggingface"))
    assume(content not in document["model"]["vocab"])
    flags = dict.fromkeys(["single_word", "lstrip", "rstrip", "normalized"], False)
    added = {"id": 0, "content": content, "special": True, **flags}
    document["added_tokens"].append(added)
    data = json.dumps(document).encode()
    tokenizer = Tokenizer.from_bytes(data, format="huggingface")
    id_ = tokenizer.special_tokens[content]
    loses = tokenizer.inspect().description["loses"]
    assert (loses == "nothing") == (tokenizer.decode([id_]) == content)
    again = Tokenizer.from_bytes(tokenizer.to_bytes(format="huggingface"))
    assert again.decode([id_]) == tokenizer.decode([id_])


def test_the_empty_token_of_a_rank_file_is_written_for_hugging_face(tmp_path):
    """Whisper's ranks end with an empty token; its id and those behind it stay in place."""
    peer = pytest.importorskip("tokenizers")
    ranks = bytepair._core.write("tiktoken", BASES["gpt2"])[0]
    n_ranks = len(ranks.splitlines())
    path = tmp_path / "own.tiktoken"
    path.write_bytes(ranks + b"= %d\n" % n_ranks)
    special, text = {"<|end|>": n_ranks + 1}, TEXTS[0] + "<|end|>"
    tokenizer = Tokenizer.from_file(path, pattern="gpt2", special_tokens=special)
    written = tokenizer.to_bytes(format="huggingface")
    theirs = peer.Tokenizer.from_str(written.decode())
    ids = tokenizer.encode(text, allowed_special="all")
    assert (ids[-1], ids) == (n_ranks + 1, theirs.encode(text).ids)
    again = Tokenizer.from_bytes(written)
    assert again.encode(text, allowed_special="all") == ids
    assert again.decode([n_ranks]) == theirs.decode([n_ranks]) == ""
