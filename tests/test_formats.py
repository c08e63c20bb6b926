"""Files: what is saved is what is loaded, and a damaged file is never a tokenizer.

Left out: whether other software reads our files as we do (``test_peers``).
"""

# ruff: noqa: RUF001 -- the texts under test are in many scripts

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import bytepair
from bytepair import FileError, FormatError, Tokenizer, TokenizerError

CASES = settings(suppress_health_check=[HealthCheck.too_slow])
CORPUS = [
    "the cat's sat on the mat, the BAT sat on 12345 hats é 日本 🇺🇳 ßẞ\n\n x-y " * 3
]
TEXTS = [
    "",
    "the cat",
    "  Zebra 12345\r\n\r\n\tx_y__</w> ",
    "é\u0301日本 🇺🇳😀ﬁ½ſ 's'S'ſ",
    "<s>the<s></s>  <s",
    "a" * 500 + " " * 500,
]
BYTES = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen", "deepseek-v3", "tekken"]
BYTES += ["letters-digits", "byte-stream"]
FORMATS = ["bytepair", "huggingface", "tiktoken", "gpt2"]
NAMES = {"bytepair": "own.bytepair", "huggingface": "tokenizer.json"}
NAMES |= {"tiktoken": "own.tiktoken", "gpt2": "folder"}
WRITTEN = {"tiktoken": ["own.tiktoken", "own.tiktoken.json"]}
WRITTEN["gpt2"] = ["merges.txt", "vocab.json"]
# What a format can hold, of the dialects as they are.
HOLDS = {
    "bytepair": set(bytepair.dialects()),
    "huggingface": set(bytepair.dialects()) - {"sennrich", "jurafsky-martin"},
    "tiktoken": {"gpt2", "gpt4", "gpt4o", "llama3", "qwen", "tekken", "byte-stream"},
    "gpt2": {"gpt2"},
}


def trained(dialect, **options):
    """Train a small tokenizer that knows every character of the texts, where it must."""
    options = {"dialect": dialect, "merges": 40, **options}
    if dialect in ("sennrich", "subword-nmt", "jurafsky-martin"):
        options.setdefault("unknown_token", "[UNK]")
    if dialect == "gpt2":
        options.setdefault("special_tokens", ["<|endoftext|>"])
    options.setdefault("special_tokens", ["<s>", "</s>"])
    return bytepair.train_from_iterator(CORPUS, **options)


def assert_same_ids(one, other, texts=TEXTS):
    """Two tokenizers give the same ids and texts, whatever is allowed."""
    for name in ("n_vocab", "special_tokens", "vocabulary"):
        assert getattr(one, name) == getattr(other, name)
    for text in texts:
        for options in ({}, {"allowed_special": "all"}, {"add_special_tokens": True}):
            ids = one.encode(text, **options)
            assert other.encode(text, **options) == ids
            assert other.decode(ids) == one.decode(ids)
            assert other.decode_bytes(ids) == one.decode_bytes(ids)
            # An unknown token that is not special is shown where a file of another library says so.
            skipped = {"skip_special_tokens": True}
            if "[UNK]" not in one.decode(ids):
                assert other.decode(ids, **skipped) == one.decode(ids, **skipped)


def files_of(folder):
    """Give all files within a folder."""
    return sorted(path for path in folder.rglob("*.*") if path.is_file())


# There and back


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_every_dialect_is_saved_or_refused(tmp_path, dialect, name):
    """What a format can hold comes back, and is written alike each time; what it cannot is named and leaves no file."""
    tokenizer = trained(dialect)
    path = tmp_path / NAMES[name]
    if dialect not in HOLDS[name]:
        with pytest.raises(FormatError, match="cannot"):
            tokenizer.save(path, format=name)
        assert list(tmp_path.iterdir()) == []
        return
    tokenizer.save(path)
    loaded = Tokenizer.from_file(path)
    assert type(loaded) is Tokenizer
    assert_same_ids(tokenizer, loaded)
    if name == "bytepair":
        assert loaded == tokenizer
        assert loaded.inspect().merge_log == tokenizer.inspect().merge_log
        assert str(loaded) == str(tokenizer)
    if name in ("bytepair", "huggingface"):
        data = path.read_bytes()
        assert trained(dialect).to_bytes(format=name) == data
        assert Tokenizer.from_bytes(data, format=name).to_bytes(format=name) == data
    again = tmp_path / "again" / NAMES[name]
    again.parent.mkdir()
    loaded.save(str(again))
    assert_same_ids(Tokenizer.from_file(str(again)), tokenizer)
    names = [file.name for file in files_of(again.parent)]
    assert names == WRITTEN.get(name, [NAMES[name]])
    for file in files_of(again.parent):
        first = tmp_path / file.relative_to(again.parent)
        assert file.read_bytes() == first.read_bytes()


def test_a_folder_holds_a_tokenizer(tmp_path):
    """A folder with a tokenizer.json is loaded as it."""
    tokenizer = trained("gpt4o")
    tokenizer.save(tmp_path / "tokenizer.json")
    assert_same_ids(Tokenizer.from_file(tmp_path), tokenizer)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FormatError, match="in this folder"):
        Tokenizer.from_file(tmp_path / "empty")


def test_saving_replaces_a_file_whole(tmp_path):
    """An old file is replaced, its mode kept; a link is not written through half way."""
    path = tmp_path / "tokenizer.json"
    trained("gpt2").save(path)
    path.chmod(0o640)
    trained("gpt4o").save(path)
    assert_same_ids(Tokenizer.from_file(path), trained("gpt4o"))
    assert path.stat().st_mode & 0o777 == 0o640
    assert [file.name for file in tmp_path.iterdir()] == ["tokenizer.json"]


def test_tiktoken_files_need_their_pattern(tmp_path):
    """Without the sidecar it is an error, until a dialect or a pattern is given."""
    tokenizer = trained("gpt4o")
    tokenizer.save(tmp_path / "own.tiktoken")
    (tmp_path / "own.tiktoken.json").unlink()
    with pytest.raises(FormatError, match=r"own\.tiktoken\.json.*dialect= or pattern="):
        Tokenizer.from_file(tmp_path / "own.tiktoken")
    special = tokenizer.special_tokens
    for options in ({"dialect": "gpt4o"}, {"pattern": "o200k"}):
        path = tmp_path / "own.tiktoken"
        loaded = Tokenizer.from_file(path, special_tokens=special, **options)
        assert_same_ids(loaded, tokenizer)


PATTERNS = ["gpt2", "o200k", r"\w+|\W", r"\s+|\S+", "", r"\p{L}+|[^\p{L}]"]
PATTERNS.append(["\\d", "."])
NORMALIZERS = ["nfc", "nfkd", "lowercase", ("replace", " ", "▁"), ("prepend_each", "▁")]
OPTIONS = st.fixed_dictionaries(
    {"special_tokens": st.lists(st.sampled_from(["<s>", "</s>", "the"]), unique=True)},
    optional={
        "pattern": st.sampled_from(PATTERNS),
        "unmatched": st.sampled_from(["keep", "drop"]),
        "normalize": st.lists(st.sampled_from(NORMALIZERS), max_size=2),
    },
)
CHARACTERS = st.fixed_dictionaries(
    {},
    optional={
        "end_mark": st.sampled_from([None, "</w>", "_", "\u2581"]),
        "end_mark_kind": st.sampled_from(["unit", "suffix"]),
        "continuing_prefix": st.sampled_from([None, "##"]),
        "unknown_token": st.sampled_from([None, "[UNK]"]),
        "fuse_unknown": st.booleans(),
        "byte_fallback": st.booleans(),
        "lowercase": st.sampled_from(["never", "always"]),
    },
)
texts = st.text(st.sampled_from("theTH ca'1 _▁\n#</w>ſé\u0301日😀"), max_size=20)


@CASES
@given(
    st.lists(texts, min_size=2, max_size=5),
    st.sampled_from(sorted(bytepair.dialects())),
    OPTIONS,
    CHARACTERS,
    st.sampled_from(FORMATS),
)
def test_any_tokenizer_is_saved_exactly_or_refused(
    tmp_path_factory, corpus, dialect, options, characters, name
):
    """Whatever its parts, a loaded tokenizer gives the ids of the one that was saved."""
    options = {**options, **({} if dialect in BYTES else characters)}
    options |= {"dialect": dialect, "merges": 10}
    try:
        tokenizer = bytepair.train_from_iterator(corpus[:-1], **options)
    except bytepair.TokenizerError as error:
        refused = isinstance(error, bytepair.TrainingError)
        assert refused or "bytes of a character cannot carry" in str(error)  # noqa: PT017 -- one of two ways
        return
    path = tmp_path_factory.mktemp("saved") / NAMES[name]
    try:
        tokenizer.save(path, format=name)
    except FormatError:
        assert name != "bytepair"
        return
    loaded = Tokenizer.from_file(path)
    if name == "bytepair":
        assert loaded == tokenizer
    for one in corpus:
        try:
            ids = tokenizer.encode(one)
        except bytepair.UnknownTokenError:
            if name == "huggingface":  # a file that leaves out what has no id says so
                assert "units outside the alphabet" in str(loaded)
                continue
            with pytest.raises(bytepair.UnknownTokenError):
                loaded.encode(one)
            continue
        assert loaded.encode(one) == ids
        assert loaded.decode(ids) == tokenizer.decode(ids)


# Damage


@pytest.mark.parametrize("name", FORMATS)
def test_a_file_that_is_cut_off_is_refused(tmp_path, name):
    """Cut at a hundred places, no file is taken for a smaller tokenizer."""
    path, original = tmp_path / NAMES[name], trained("gpt2")
    original.save(path)
    for file in files_of(tmp_path):
        whole = file.read_bytes()
        step = max(1, len(whole) // 100)
        line_ends = [place + 1 for place, byte in enumerate(whole) if byte == 10]
        cuts = {*range(0, len(whole), step), *line_ends[-40:], len(whole) - 2}
        for cut in sorted(cuts):
            if whole[cut:].strip():
                file.write_bytes(whole[:cut])
                with pytest.raises(TokenizerError):
                    Tokenizer.from_file(path)
        file.write_bytes(whole)
    assert_same_ids(Tokenizer.from_file(path), original, ["the cat"])


WRONG_CONTENTS = [
    *(b"", b"null", b"[]", b"{}", b"3", b'"text"', b"\xff\xfe", b"\x00" * 100),
    *(b"not json", b"   ", b"\0\1\2", b"a b c d e\n"),
    b'{"model": null}',
    b'{"model": {"type": "BPE"}}',
    b'{"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}',
    b'{"model": {"type": "BPE", "vocab": {"a": 4000000000}, "merges": []}}',
    b'{"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}}',
    b'{"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a a"]}}',
    *(b'{"bytepair": 1}', b'{"bytepair": 99999}', b"[" * 100_000, b'{"a":' * 100_000),
    b'{"version": "1.0", "model": {"type": "WordPiece", "vocab": {}}}',
]


@pytest.mark.parametrize("data", WRONG_CONTENTS, ids=lambda data: repr(data[:40]))
@pytest.mark.parametrize(
    "name", ["tokenizer.json", "own.bytepair", "own.tiktoken", "file"]
)
def test_what_is_no_tokenizer_is_refused(tmp_path, name, data):
    """Neither is it read as an empty one; the message names the file."""
    (tmp_path / name).write_bytes(data)
    options = {"dialect": "gpt2"} if name.endswith("tiktoken") else {}
    with pytest.raises(TokenizerError, match=name):
        Tokenizer.from_file(tmp_path / name, **options)


def test_ranks_need_not_have_every_byte(tmp_path):
    """What they lack is an error where a text has it."""
    (tmp_path / "own.tiktoken").write_text("YQ== 0\nYWI= 1\n")
    incomplete = Tokenizer.from_file(tmp_path / "own.tiktoken", dialect="gpt2")
    assert incomplete.encode("a") == [0]
    with pytest.raises(bytepair.UnknownTokenError, match='"c" is not'):
        incomplete.encode("ac")


def test_missing_parts_are_named(tmp_path):
    """One of two files alone is no tokenizer."""
    trained("gpt2").save(tmp_path / "folder")
    (tmp_path / "folder" / "merges.txt").unlink()
    with pytest.raises(TokenizerError, match=r"merges\.txt"):
        Tokenizer.from_file(tmp_path / "folder")
    with pytest.raises(FileError, match=r"none\.json"):
        Tokenizer.from_file(tmp_path / "none.json")


@pytest.mark.parametrize("name", ["merges.txt", "vocab.bpe", "renamed"])
@pytest.mark.parametrize("space", ["\u0120", "\u2581"])
@pytest.mark.parametrize("header", ["#version: 0.2\n", ""])
def test_merges_alone_are_not_taken_for_codes(tmp_path, name, space, header):
    """GPT-2's merges look like codes of subword-nmt, which would give other ids."""
    path = tmp_path / name
    path.write_text(f"{header}{space} t\nh e\n{space}t he\n", "utf-8")
    with pytest.raises(FormatError, match=r"merges without their ids.*both into one"):
        Tokenizer.from_file(path)
    with pytest.raises(FormatError, match="merges without their ids"):
        Tokenizer.from_bytes(path.read_bytes())
    if name == "renamed":  # as codes only where the caller says so
        codes = Tokenizer.from_bytes(path.read_bytes(), format="subword-nmt")
        assert len(codes.merges) == 3


def test_codes_need_another_name_than_merges_have(tmp_path):
    """Codes that end words are a tokenizer, unless their name says that a vocabulary is missing."""
    codes = "#version: 0.2\nl o\nlo w</w>\n\u0120 a\n"
    for name in ("codes.txt", "merges"):
        (tmp_path / name).write_text(codes, "utf-8")
        assert len(Tokenizer.from_file(tmp_path / name).encode("low")) == 1
    for name in ("merges.txt", "vocab.bpe", "vocab_40000.bpe"):
        (tmp_path / name).write_text(codes, "utf-8")
        with pytest.raises(FormatError, match="fastBPE need another name"):
            Tokenizer.from_file(tmp_path / name)


def test_a_tokenizer_is_loaded_from_a_file_whose_name_is_not_utf8(tmp_path):
    """Names are bytes; only the names of pairs mean something."""
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/own-\xff.json"))
    own = trained("gpt2")
    try:
        own.save(path)
    except OSError:
        pytest.skip("the file system takes no such name")
    assert Tokenizer.from_file(path).get_vocab() == own.get_vocab()


@pytest.mark.parametrize("name", ["vocab.json", "encoder.json", "ids.json"])
def test_a_vocabulary_alone_says_which_file_is_missing(tmp_path, name):
    """Ids without merges are no tokenizer, whatever the first token is."""
    missing = {"encoder.json": r"vocab\.bpe"}.get(name, r"merges\.txt")
    for first in ("a", '"', "\\", "{", "\u2581"):
        (tmp_path / name).write_text(json.dumps({first: 0, "b": 1}), "utf-8")
        with pytest.raises(FormatError, match=f"ids without their merges.*{missing}"):
            Tokenizer.from_file(tmp_path / name)


# Published files

FOLDERS = ["deepseek-v3", "gpt-neox-20b", "llama2-style", "minimind", "olmo-dolma2"]
FOLDERS += ["clip", "tiny-wordpiece-prefix"]
LOADED = {f"{name}/tokenizer.json": None for name in FOLDERS}
LOADED |= {"qwen3/tokenizer.json": None, "tiny-metaspace-nfkc/tokenizer.json": None}
LOADED |= dict.fromkeys(("gpt2", "gpt2/tokenizer.json", "gpt2/vocab.json"), 50_257)
LOADED["mistral-nemo/tokenizer.json"] = 131_072
REFUSED = ["not-bpe/bert-wordpiece.json", "not-bpe/xlnet-unigram.json"]
REFUSED += ["qwen3/tokenizer_config.json", "sentencepiece-test/test_model.model"]


@pytest.mark.slow
@pytest.mark.parametrize("name", LOADED)
def test_published_files_are_kept_by_our_own_format(shared, name):
    """Loaded, saved as our own and loaded again, they are equal tokenizers."""
    tokenizer = Tokenizer.from_file(shared(f"vocabularies/{name}"))
    assert LOADED[name] in (None, tokenizer.n_vocab)
    data = tokenizer.to_bytes()
    again = Tokenizer.from_bytes(data)
    assert again == tokenizer
    assert again.to_bytes() == data
    text = "The quick brown fox, 12345 don't\n\n  日本 é 😀"
    options = {"allowed_special": "all", "add_special_tokens": True}
    assert again.encode(text, **options) == tokenizer.encode(text, **options)
    assert again.encode(text) == tokenizer.encode(text)


RANKS = {"p50k_base": ("gpt2", 50_256), "cl100k_base": ("cl100k", 100_257)}
RANKS["o200k_base"] = ("o200k", 199_999)


@pytest.mark.slow
@pytest.mark.parametrize("name", RANKS)
def test_published_ranks_are_written_as_they_were(shared, tmp_path, name):
    """The bytes of the file are the same, and pattern and special tokens stand beside it."""
    path, (pattern, end) = shared(f"vocabularies/tiktoken/{name}.tiktoken"), RANKS[name]
    special = {"<|endoftext|>": end}
    tokenizer = Tokenizer.from_file(path, pattern=pattern, special_tokens=special)
    tokenizer.save(tmp_path / "own.tiktoken")
    assert (tmp_path / "own.tiktoken").read_bytes() == path.read_bytes()
    assert_same_ids(Tokenizer.from_file(tmp_path / "own.tiktoken"), tokenizer)


@pytest.mark.slow
def test_published_files_become_pairs_and_ranks(shared, tmp_path):
    """GPT-2 does; added tokens that are not special are in no ranks."""
    pair = Tokenizer.from_file(shared("vocabularies/gpt2/vocab.json"))
    pair.save(tmp_path / "pair", format="gpt2")
    assert Tokenizer.from_file(tmp_path / "pair") == pair
    whole = Tokenizer.from_file(shared("vocabularies/gpt2/tokenizer.json"))
    whole.save(tmp_path / "own.tiktoken")
    for other in (pair, Tokenizer.from_file(tmp_path / "own.tiktoken")):
        assert_same_ids(whole, other)
    olmo = Tokenizer.from_file(shared("vocabularies/olmo-dolma2/tokenizer.json"))
    with pytest.raises(FormatError, match="not special"):
        olmo.save(tmp_path / "no.tiktoken")


@pytest.mark.parametrize("name", REFUSED)
def test_published_files_of_other_kinds_are_refused(shared, name):
    """What is not BPE, or not in a format that is read, is named and refused."""
    with pytest.raises(FormatError, match=name.split("/")[-1].split(".")[0]):
        Tokenizer.from_file(shared(f"vocabularies/{name}"))


@pytest.mark.slow
def test_a_published_file_that_is_cut_off_is_refused(shared, tmp_path):
    """Eleven megabytes, cut at fifty places."""
    data = shared("vocabularies/qwen3/tokenizer.json").read_bytes()
    for n in range(50):
        (tmp_path / "tokenizer.json").write_bytes(data[: len(data) * n // 50])
        with pytest.raises(FormatError):
            Tokenizer.from_file(tmp_path)


def test_a_link_and_a_pipe_stay_what_they_are(tmp_path):
    """Saving writes through a link, and into a pipe, and replaces neither."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    link, pipe, file = (tmp_path / name for name in ("link", "pipe", "file.bytepair"))
    link.symlink_to(file)
    tokenizer.save(link, format="bytepair")
    assert link.is_symlink()
    assert bytepair.Tokenizer.from_file(file) == tokenizer
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    tokenizer.save(pipe, format="bytepair")
    assert pipe.is_fifo()
    assert os.read(reader, 1 << 20) == tokenizer.to_bytes()
    os.close(reader)


def test_a_path_has_a_name():
    """The empty path is no folder to save to, and none to load from."""
    tokenizer = bytepair.train_from_iterator(["low low"], vocab_size=258)
    for call in (tokenizer.save, bytepair.Tokenizer.from_file):
        with pytest.raises(bytepair.FileError, match="the path is empty"):
            call("")


STEPS = [
    {"type": "lowercase"},
    {"type": "form", "form": "nfc"},
    {"type": "replace", "from": "a", "to": "b"},
    {"type": "prepend", "text": "x", "only_first": True, "unless_there": True},
    {"type": "strip", "left": True, "right": False},
    {"type": "strip_accents"},
    {
        "type": "bert",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    *({"type": "nmt"}, {"type": "byte_chars"}),
]


NOTATION = r"[a-z][A-Z]|[{}]|Some\(|\w: (true|false)"


def refusal(tokenizer, format):
    """Say why a format cannot hold a tokenizer, nothing if it can."""
    try:
        tokenizer.to_bytes(format=format, ids_may_change=True)
    except FormatError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step["type"])
def test_refusals_say_in_words_what_a_format_cannot_hold(step):
    """No name or notation of the source code is in them."""
    made = bytepair.train_from_iterator(["low lower"], vocab_size=300, dialect="gpt2")
    document = json.loads(made.to_bytes())
    rounds = [*document["rounds"], {"change": [step], "split": []}]
    formats = ["huggingface", "sentencepiece"]
    for name, value in {"normalizer": [step], "rounds": rounds}.items():
        data = json.dumps({**document, name: value}).encode()
        tokenizer = Tokenizer.from_bytes(data)
        for format in formats:
            message = refusal(tokenizer, format)
            assert not re.search(NOTATION, message.replace("SentencePiece", ""))


def test_an_added_token_that_a_model_cannot_hold_is_named():
    """Its pieces are found in any text, or have no text; a token of ours may be neither."""
    sentencepiece = {"format": "sentencepiece"}
    options = {"dialect": "sentencepiece", "normalize": [("replace", " ", "▁")]}
    made = bytepair.train_from_iterator(
        ["low"], merges=1, byte_fallback=True, **options
    )
    model = Tokenizer.from_bytes(made.to_bytes(**sentencepiece), format="sentencepiece")
    for add in (model.with_special_tokens, model.with_added_tokens):
        with pytest.raises(FormatError, match='the added token "<own>": a model has'):
            add(["<own>"]).to_bytes(**sentencepiece)
