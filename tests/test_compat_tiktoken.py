"""``bytepair.compat.tiktoken`` beside tiktoken itself: the same calls, the same answers."""

import base64
import copy
import hashlib
import inspect
import itertools
import pickle
import random
import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import bytepair
from bytepair import FileError, Tokenizer
from bytepair.analyze._compare import torture
from bytepair.compat import tiktoken as shaped
from bytepair.compat.tiktoken import (
    Encoding,
    encoding_name_for_model,
    get_encoding,
    load,
    model,
    registry,
)

tiktoken = pytest.importorskip("tiktoken", reason="compares with tiktoken")
tiktoken_ext = pytest.importorskip("tiktoken_ext.openai_public")
pytest.importorskip("tiktoken.load")

SPECIAL = {"<|endoftext|>": 700, "<|end|>": 702, "<s>": 703}
PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
)
TEXTS = [*torture.TEXTS, *torture.around(SPECIAL), "a\ud800b", "\ud83d\ude00"]


@pytest.fixture(scope="module")
def pair():
    """Make the same encoding in both libraries, by the same arguments."""
    trained = bytepair.train_from_iterator(TEXTS[:-2], dialect="gpt2", vocab_size=600)
    ranks = {token: id_ for id_, token in enumerate(trained.vocabulary)}
    return made_twice("own", pat_str=PATTERN, mergeable_ranks=ranks)


def made_twice(name, *, special_tokens=SPECIAL, **arguments):
    """Make an encoding in both libraries, ours first."""
    arguments["special_tokens"] = special_tokens
    return [kind(name, **arguments) for kind in (Encoding, tiktoken.Encoding)]


def outcome(call, *arguments, **options):
    """Give what a call returns, or which built-in error it raises."""
    errors = (KeyError, UnicodeDecodeError, ValueError)
    try:
        return call(*arguments, **options)
    except errors as error:
        return next(kind for kind in errors if isinstance(error, kind))


ARGUMENTS = [
    {},
    {"allowed_special": "all"},
    {"disallowed_special": ()},
    {"allowed_special": {"<s>"}},
    {"allowed_special": {"<s>"}, "disallowed_special": ()},
    {"disallowed_special": {"<|end|>"}},
    {"allowed_special": {"<nothing>"}, "disallowed_special": {"<nobody>"}},
    {"allowed_special": "all", "disallowed_special": "all"},
    {"allowed_special": {"<s>"}, "disallowed_special": {"<s>"}},
    {"allowed_special": "all", "disallowed_special": ("<s>", "the")},
    {"disallowed_special": ["\n", "😀"]},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_encode_takes_and_refuses_what_tiktoken_does(pair, arguments):
    """Special tokens are recognised, plain text or an error by the same arguments."""
    ours, theirs = pair
    for text in TEXTS:
        expected = outcome(theirs.encode, text, **arguments)
        assert outcome(ours.encode, text, **arguments) == expected
        array = outcome(ours.encode_to_numpy, text, **arguments)
        assert np.array_equal(array, expected)
        if "\ud800" not in text:
            batch = outcome(ours.encode_batch, [text], **arguments)
            assert batch == ([expected] if isinstance(expected, list) else expected)


def test_a_refused_special_token_is_named_with_all_ways_out(pair):
    """As tiktoken says: allow it, do not disallow it, or disallow nothing."""
    chosen = ({}, {"disallowed_special": {"<s>"}, "allowed_special": {"<s>"}})
    for encoding, arguments in itertools.product(pair, chosen):
        with pytest.raises(ValueError, match=r"(?s)<s>.*disallowed_special=\(\)"):
            encoding.encode("a<s>\ud800", **arguments)


def test_batches_are_encoded_by_as_many_threads_as_are_asked_for(pair):
    """One, several, more than there are texts, lone surrogates too; none is refused by both."""
    ours, theirs = pair
    ordinary = [theirs.encode_ordinary(text) for text in TEXTS]
    assert [ours.encode_ordinary(text) for text in TEXTS] == ordinary
    expected = theirs.encode_batch(TEXTS, allowed_special="all")
    for n_threads in (1, 2, 64):
        assert ours.encode_ordinary_batch(TEXTS, num_threads=n_threads) == ordinary
        options = {"num_threads": n_threads, "allowed_special": "all"}
        assert ours.encode_batch(TEXTS, **options) == expected
    for encoding in pair:
        with pytest.raises(ValueError):
            encoding.encode_ordinary_batch(TEXTS, num_threads=0)


def test_decoding_gives_what_tiktoken_gives(pair):
    """Text, bytes, bytes of each token and where tokens start, cut characters too."""
    ours, theirs = pair
    for text in TEXTS:
        ids = theirs.encode(text, allowed_special="all")
        for some in (ids, ids[1:], ids[::-1], ids[::2]):
            for errors in ("replace", "strict", "ignore", "backslashreplace"):
                expected = outcome(theirs.decode, some, errors=errors)
                assert outcome(ours.decode, some, errors=errors) == expected
            assert ours.decode_bytes(some) == theirs.decode_bytes(some)
            assert ours.decode_tokens_bytes(some) == theirs.decode_tokens_bytes(some)
            expected = outcome(theirs.decode_with_offsets, some)
            assert outcome(ours.decode_with_offsets, some) == expected
    batch = [[1, 2], [], [300]]
    assert ours.decode_batch(batch) == theirs.decode_batch(batch)
    assert ours.decode_bytes_batch(batch) == theirs.decode_bytes_batch(batch)


def test_single_tokens_and_properties_are_those_of_tiktoken(pair):
    """Lookups, also of what is not there, and every property."""
    ours, theirs = pair
    for token in ["a", b"\xff", "<s>", b"<s>", "the quick", "", "<|endoftext|>"]:
        expected = outcome(theirs.encode_single_token, token)
        assert outcome(ours.encode_single_token, token) == expected
    for id_ in [0, 599, 600, 700, 701, 702, 704, 10**6]:
        expected = outcome(theirs.decode_single_token_bytes, id_)
        assert outcome(ours.decode_single_token_bytes, id_) == expected
        assert ours.is_special_token(id_) == theirs.is_special_token(id_)
    names = ["n_vocab", "max_token_value", "eot_token", "special_tokens_set", "name"]
    for name in (*names, "_mergeable_ranks", "_special_tokens"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.token_byte_values() == theirs.token_byte_values()
    assert repr(ours) == repr(theirs)


def test_an_encoding_is_extended_as_in_tiktoken(pair):
    """A program makes a new encoding from the parts of an old one."""
    ours, _ = pair
    parts = {"pat_str": ours._pat_str, "mergeable_ranks": ours._mergeable_ranks}
    special = {**ours._special_tokens, "<|more|>": 800}
    more = Encoding("more", special_tokens=special, **parts)
    assert more.encode("a<|more|>", allowed_special="all")[-1] == 800
    assert pickle.loads(pickle.dumps(more)).encode_ordinary("a b") == ours.encode("a b")


def test_models_have_the_encodings_that_tiktoken_names():
    """The tables are tiktoken's, in its order, and every name made of them answers so."""
    for name in ("MODEL_TO_ENCODING", "MODEL_PREFIX_TO_ENCODING"):
        assert getattr(model, name) == getattr(tiktoken.model, name)
    names = [*model.MODEL_TO_ENCODING, *model.MODEL_PREFIX_TO_ENCODING]
    drawn = random.Random(5)
    before = ["", "ft:", "my-", "GPT"]
    behind = ["", "-", "x", "-2024-05-13", ":org::id", " ", "-mini-x"]
    made_up = ["", "llama"]
    for _ in range(1000):
        name = drawn.choice(names)[: drawn.randint(1, 30)]
        made_up.append(drawn.choice(before) + name + drawn.choice(behind))
    for name in [*names, *made_up]:
        expected = outcome(tiktoken.encoding_name_for_model, name)
        assert outcome(encoding_name_for_model, name) == expected, name
    with pytest.raises(KeyError, match=r"gpt-4o.*get_encoding"):
        encoding_name_for_model("gpt4o")


def test_encodings_come_from_folders_and_paths(tmp_path, pair, monkeypatch):
    """By name from a folder that is given or named by the variable, and by path."""
    ours, _ = pair
    ours.tokenizer.save(tmp_path / "own.tiktoken")
    monkeypatch.setenv("BYTEPAIR_ENCODINGS", str(tmp_path))
    for loaded in (
        get_encoding("own"),
        get_encoding("own", folder=tmp_path),
        get_encoding(str(tmp_path / "own.tiktoken")),
    ):
        assert loaded.name == "own"
        assert loaded.encode_ordinary("hello world") == ours.encode("hello world")
    monkeypatch.delenv("BYTEPAIR_ENCODINGS")
    with pytest.raises(ValueError, match="folder="):
        get_encoding("own")


PUBLISHED = "gpt2 r50k_base p50k_base p50k_edit cl100k_base o200k_base o200k_harmony"


def address_of(name):
    """Return where tiktoken has a file of ranks from, and its hash."""
    data = vars(tiktoken_ext)[name].__code__.co_consts
    address = next(c for c in data if isinstance(c, str) and c.endswith(".tiktoken"))
    return address, next(c for c in data if isinstance(c, str) and len(c) == 64)


def key_of(name):
    """Return the name of a file of ranks in the cache."""
    return hashlib.sha1(address_of(name)[0].encode()).hexdigest()


@pytest.fixture
def cache(shared, tmp_path, monkeypatch):
    """Fill a cache as tiktoken has it, and forget what was loaded."""
    for name in ("r50k_base", "p50k_base", "cl100k_base", "o200k_base"):
        source = shared(f"vocabularies/tiktoken/{name}.tiktoken")
        shutil.copyfile(source, tmp_path / key_of(name))
    for name in ("vocab.bpe", "encoder.json"):
        source = shared(f"vocabularies/gpt2/{GPT2[name]}")
        address = f"{STORE}/gpt-2/encodings/main/{name}"
        key = hashlib.sha1(address.encode()).hexdigest()
        shutil.copyfile(source, tmp_path / key)
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv("BYTEPAIR_ENCODINGS", raising=False)
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    return tmp_path


STORE = "https://openaipublic.blob.core.windows.net"
GPT2 = {"vocab.bpe": "merges.txt", "encoder.json": "vocab.json"}


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED.split())
def test_published_encodings_come_from_the_cache_that_tiktoken_fills(cache, name):
    """Ids, pattern, special tokens and ranks are those of tiktoken, by name alone."""
    assert shaped.list_encoding_names() == tiktoken.list_encoding_names()
    ours, theirs = get_encoding(name), tiktoken.get_encoding(name)
    for text in TEXTS:
        expected = theirs.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special="all") == expected
    for part in ("_pat_str", "_special_tokens", "_mergeable_ranks", "n_vocab"):
        assert getattr(ours, part) == getattr(theirs, part)


def test_a_name_is_loaded_once_for_all_threads(cache):
    """Every thread gets the same object, and so does every later call."""
    with ThreadPoolExecutor(8) as pool:
        found = [pool.submit(get_encoding, "r50k_base") for _ in range(8)]
        found = [future.result() for future in found]
    assert {id(encoding) for encoding in found} == {id(get_encoding("r50k_base"))}
    assert registry.ENCODINGS["r50k_base"] is found[0]
    assert shaped.encoding_for_model("text-ada-001") is found[0]


def test_gpt2_has_the_ranks_of_r50k_base(cache, shared, monkeypatch):
    """Its file is found in the cache, in a folder, and in the folder of the variable."""
    folder = shared("vocabularies/tiktoken")
    expected = tiktoken.get_encoding("gpt2").encode("hello world, 123")
    assert get_encoding("gpt2").encode("hello world, 123") == expected
    registry.ENCODINGS.clear()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(ValueError, match="TIKTOKEN_CACHE_DIR"):
        get_encoding("gpt2")
    assert get_encoding("gpt2", folder=folder).n_vocab == 50257
    monkeypatch.setenv("BYTEPAIR_ENCODINGS", str(folder))
    assert shaped.encoding_for_model("gpt-2").encode("hello world, 123") == expected
    for name in ("gpt2", "gpt-2", "text-ada-001"):
        assert Tokenizer.from_file(name).encode("hello world, 123") == expected
    assert Tokenizer.from_file("o200k_harmony").special_tokens["<|call|>"] == 200012
    for name in ("gpt-4o-own/tokenizer.json", "o1-own.json", "gpt-4o-own", "ada"):
        with pytest.raises(FileError, match="no such file or folder"):
            Tokenizer.from_file(name)


def test_a_damaged_file_of_the_cache_is_refused_and_kept(cache, monkeypatch):
    """The published content decides; nothing is deleted, nothing fetched."""
    address, sha256 = address_of("cl100k_base")
    path = cache / key_of("cl100k_base")
    path.write_bytes(path.read_bytes()[:-1] + b"8")
    with pytest.raises(ValueError, match=path.name):
        get_encoding("cl100k_base")
    with pytest.raises(ValueError, match="SHA-256"):
        load.load_tiktoken_bpe(address, sha256)
    assert path.exists()
    path.unlink()
    with pytest.raises(ValueError, match="Nothing is downloaded"):
        get_encoding("cl100k_base")
    with pytest.raises(ValueError, match=path.name):
        load.load_tiktoken_bpe(address, sha256)
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR")
    monkeypatch.setenv("DATA_GYM_CACHE_DIR", str(cache / "other"))
    assert load.cache_path(address) == cache / "other" / path.name


@pytest.mark.parametrize("name", [None, 5, b"gpt2", "cl200k_base", "gpt2 "])
def test_names_that_are_none_are_refused_as_tiktoken_does(cache, name):
    """With the names that there are."""
    for get in (get_encoding, tiktoken.get_encoding):
        with pytest.raises(ValueError):
            get(name)


def test_a_vocabulary_with_a_token_of_no_bytes_loads(tmp_path):
    """As Whisper has one: by the constructor, and in files written and read."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"": 257}
    arguments = {"pat_str": PATTERN, "mergeable_ranks": ranks, "explicit_n_vocab": 259}
    ours, theirs = made_twice("x", special_tokens={"<s>": 258}, **arguments)
    for text in TEXTS:
        assert ours.encode_ordinary(text) == theirs.encode_ordinary(text)
    assert ours.encode_single_token("") == 257
    assert ours.decode([97, 257, 98]) == "ab"
    path = tmp_path / "own.tiktoken"
    load.dump_tiktoken_bpe(ranks, str(path))
    assert load.load_tiktoken_bpe(str(path)) == ranks
    assert tiktoken.load.load_tiktoken_bpe(str(path)) == ranks
    assert base64.b64decode(b"=") == b""


@pytest.mark.parametrize(
    "pattern", [r"\w+", r".+", r"[a-z]+|\s", r"(?s:.+)", r"\S+\s?"]
)
def test_text_that_a_pattern_does_not_match_is_left_out_as_in_tiktoken(pair, pattern):
    """And the pattern is told as it was given."""
    ranks = pair[1]._mergeable_ranks
    ours, theirs = made_twice("x", pat_str=pattern, mergeable_ranks=ranks)
    for text in TEXTS:
        expected = theirs.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special="all") == expected
    assert ours._pat_str == pattern


def test_bytes_and_single_pieces_are_encoded_as_in_tiktoken(pair):
    """What is no UTF-8, cut characters, and pieces that the pattern would cut."""
    ours, theirs = pair
    drawn = random.Random(7)
    for _ in range(1000):
        length = drawn.randint(1, 12)
        data = bytes(drawn.choices(b"ab \n\t\xe3\x81\x82\xff<|", k=length))
        assert ours._encode_bytes(data) == theirs._encode_bytes(data)
        assert ours._encode_single_piece(data) == theirs._encode_single_piece(data)
    for text in TEXTS[:-2]:
        if text:
            expected = theirs._encode_single_piece(text)
            assert ours._encode_single_piece(text) == expected


def test_what_is_no_encoding_or_no_bytes_is_refused_in_words(pair):
    """A wrong type is named with its argument, and no number is taken for so many bytes."""
    for wrong in (3, "low", None, [1]):
        with pytest.raises(TypeError):
            pair[0]._encode_bytes(wrong)
    good = {"pat_str": ".", "mergeable_ranks": {b"a": 0}, "special_tokens": {}}
    for name, wrong, match in (
        ("pat_str", None, "pat_str must be a text"),
        ("mergeable_ranks", [b"a"], "mergeable_ranks must be a mapping"),
        ("special_tokens", ["<s>"], "special_tokens must be a mapping"),
        ("special_tokens", {b"<s>": 1}, "a special token must be a text"),
        ("special_tokens", {"<s>": -1}, "'<s>' must be a whole number from 0, not -1"),
        ("special_tokens", {"<s>": 1.0}, "not 1.0"),
        ("special_tokens", {"<s>": True}, "not True"),
    ):
        with pytest.raises(TypeError, match=match):
            Encoding("x", **{**good, name: wrong})


def test_names_that_are_close_are_suggested_once(monkeypatch):
    """Beginnings of names are no models; an empty name is no folder."""
    with pytest.raises(KeyError) as refused:
        encoding_name_for_model("gpt-6")
    suggested = re.findall("'([^']*)'", str(refused.value))
    assert len(set(suggested)) == len(suggested) > 1
    assert set(suggested[1:]) <= set(tiktoken.model.MODEL_TO_ENCODING)
    monkeypatch.setenv("BYTEPAIR_ENCODINGS", "folder")
    with pytest.raises(ValueError, match="unknown encoding ''"):
        get_encoding("")


def test_unstable_ends_and_their_completions_are_those_of_tiktoken(pair):
    """Stable tokens, and the same rows of tokens in whatever order."""
    ours, theirs = pair
    drawn = random.Random(11)
    texts = [text[: drawn.randint(0, 9)] for text in TEXTS[:-2] for _ in range(3)]
    texts += ["a<s>", "a<s> b", "\n\n", "x\u3000", "x\x1c", " \x85"]
    texts += ["hello \n ", "caf\u00e9"]
    for text in texts:
        for arguments in ({"allowed_special": "all"}, {"disallowed_special": ()}):
            stable, rows = theirs.encode_with_unstable(text, **arguments)
            found = ours.encode_with_unstable(text, **arguments)
            assert found == (stable, sorted(rows)), text
    with pytest.raises(ValueError):
        ours.encode_with_unstable("a<s>")


def test_registered_encodings_are_pickled_by_name_and_others_whole(cache, pair):
    """Copies encode as before; what is registered stays one object's content."""
    registered = get_encoding("r50k_base")
    assert len(pickle.dumps(registered)) < 200
    parts = ("name", "_pat_str", "_special_tokens", "_mergeable_ranks")
    for encoding in (registered, pair[0]):
        copies = [copy.copy(encoding), copy.deepcopy(encoding)]
        for made in (*copies, pickle.loads(pickle.dumps(encoding))):
            for name in parts:
                assert getattr(made, name) == getattr(encoding, name)
            assert made.encode("a b", disallowed_special=()) == encoding.encode("a b")


def test_signatures_are_those_of_tiktoken():
    """Every public function and method: the same names, kinds and defaults, or more."""
    modules = ("core", "load", "model", "registry")
    pairs = [(Encoding, tiktoken.Encoding)]
    pairs += [(getattr(shaped, name), getattr(tiktoken, name)) for name in modules]
    n_compared = 0
    for ours, theirs in pairs:
        for name, there in vars(theirs).items():
            is_own = getattr(there, "__module__", "").startswith("tiktoken")
            if not (inspect.isfunction(there) and is_own) or name in LEFT_OUT:
                continue
            here = inspect.signature(getattr(ours, name)).parameters
            for wanted in inspect.signature(there).parameters.values():
                found = here[wanted.name]
                assert found.kind == wanted.kind, (name, wanted)
                default = () if wanted.default == set() else wanted.default
                assert found.default == default, (name, wanted)
                n_compared += 1
    assert n_compared > 60


LEFT_OUT = {
    *("__getstate__", "__setstate__"),
    *("_special_token_regex", "_available_plugin_modules", "_find_constructors"),
    *("_encode_only_native_bpe", "raise_disallowed_special_token"),
    "data_gym_to_mergeable_bpe_ranks",
}


def test_no_argument_is_swallowed(pair):
    """A number of threads, a text that is none, and names that are one text are refused."""
    for name, argument, options, error in (
        ("decode_batch", [[1]], {"num_threads": 0}, ValueError),
        ("decode_bytes_batch", [[1]], {"num_threads": 0}, ValueError),
        *(
            ("encode", b"abc", {}, TypeError),
            ("encode_ordinary", b"abc", {}, TypeError),
        ),
        ("encode_ordinary_batch", [b"abc"], {}, TypeError),
        ("encode_batch", [b"abc"], {}, TypeError),
        ("encode_single_token", 5, {}, TypeError),
        ("is_special_token", "a", {}, AssertionError),
        ("encode", "a", {"allowed_special": "<s>"}, TypeError),
        ("encode", "a", {"special": ()}, TypeError),
        ("decode", [1], {"errors": "no such"}, LookupError),
    ):
        for encoding in pair:
            if error is LookupError and encoding.decode([1]).isascii():
                continue  # a codec asks for its handler only where it needs one
            with pytest.raises(error):
                getattr(encoding, name)(argument, **options)
    good = {"pat_str": PATTERN, "mergeable_ranks": {b"a": 0}, "special_tokens": {}}
    for made in (Encoding, tiktoken.Encoding):
        with pytest.raises(AssertionError):
            made("x", explicit_n_vocab=2, **good)


def test_constructors_that_a_program_registers_are_found(monkeypatch, pair):
    """By name, once."""
    arguments = {"name": "mine", "pat_str": PATTERN, "special_tokens": {}}
    arguments["mergeable_ranks"] = pair[0]._mergeable_ranks
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setitem(registry.ENCODING_CONSTRUCTORS, "mine", lambda: arguments)
    assert get_encoding("mine") is get_encoding("mine")
    assert "mine" in shaped.list_encoding_names()


def test_constructors_of_other_packages_are_found(monkeypatch, tmp_path):
    """A module in the namespace that tiktoken searches offers an encoding."""
    folder = tmp_path / "tiktoken_ext"
    folder.mkdir()
    (folder / "made_up.py").write_text(
        "def made_up():\n"
        "    ranks = {bytes([byte]): byte for byte in range(256)}\n"
        "    return {'name': 'made_up', 'pat_str': '.', 'mergeable_ranks': ranks,\n"
        "            'special_tokens': {}}\n"
        "ENCODING_CONSTRUCTORS = {'made_up': made_up}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "ENCODINGS", {})
    monkeypatch.setattr(registry, "_plugins", registry._plugins.__wrapped__)
    assert get_encoding("made_up").encode("ab\n") == [97, 98]
    assert "made_up" in shaped.list_encoding_names()


def test_two_special_tokens_may_have_one_id():
    """Both are found, as in tiktoken."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    special = {"special_tokens": {"<a>": 256, "<b>": 256}}
    ours, theirs = made_twice("x", pat_str=".+", mergeable_ranks=ranks, **special)
    for text in ("x<a><b>y", "<b>"):
        expected = theirs.encode(text, allowed_special="all")
        assert ours.encode(text, allowed_special="all") == expected
    assert ours.n_vocab == theirs.n_vocab
