"""``bytepair.compat.tiktoken`` beside tiktoken itself: the same calls, the same answers."""

import pickle

import numpy as np
import pytest

import bytepair
from bytepair import torture
from bytepair.compat.tiktoken import Encoding, encoding_name_for_model, get_encoding

tiktoken = pytest.importorskip("tiktoken", reason="compares with tiktoken")

SPECIAL = {"<|endoftext|>": 700, "<|end|>": 702, "<s>": 703}
PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
)
TEXTS = [*torture.TEXTS, *torture.around(SPECIAL), "a\ud800b", "\ud83d\ude00"]


@pytest.fixture(scope="module")
def pair():
    """Make the same encoding in both libraries, by the same arguments."""
    trained = bytepair.train_from_iterator(TEXTS[:-2], dialect="gpt2", vocab_size=600)
    arguments = {
        "name": "own",
        "pat_str": PATTERN,
        "mergeable_ranks": {token: id_ for id_, token in enumerate(trained.vocabulary)},
        "special_tokens": SPECIAL,
    }
    return Encoding(**arguments), tiktoken.Encoding(**arguments)


def outcome(call):
    """Give what a call returns, or which built-in error it raises."""
    try:
        return call()
    except KeyError:
        return KeyError
    except UnicodeDecodeError:
        return UnicodeDecodeError
    except ValueError:
        return ValueError


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
    {"allowed_special": "all", "disallowed_special": {"<s>", "the"}},
    {"disallowed_special": ["\n", "😀"]},
]


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=str)
def test_encode_takes_and_refuses_what_tiktoken_does(pair, arguments):
    """Special tokens are recognised, plain text or an error by the same arguments."""
    ours, theirs = pair
    for text in TEXTS:
        expected = outcome(lambda text=text: theirs.encode(text, **arguments))
        assert outcome(lambda text=text: ours.encode(text, **arguments)) == expected
        array = outcome(lambda text=text: ours.encode_to_numpy(text, **arguments))
        assert np.array_equal(array, expected)
        if "\ud800" not in text:
            batch = outcome(lambda text=text: ours.encode_batch([text], **arguments))
            assert batch == ([expected] if isinstance(expected, list) else expected)


def test_a_refused_special_token_is_named_with_all_ways_out(pair):
    """As tiktoken says: allow it, do not disallow it, or disallow nothing."""
    ours, theirs = pair
    for arguments in ({}, {"disallowed_special": {"<s>"}, "allowed_special": {"<s>"}}):
        with pytest.raises(ValueError) as found:
            ours.encode("a<s>\ud800", **arguments)
        with pytest.raises(ValueError) as expected:
            theirs.encode("a<s>\ud800", **arguments)
        for part in ("<s>", "disallowed_special=()"):
            assert part in str(expected.value)
            assert part in str(found.value)


def test_batches_are_encoded_by_as_many_threads_as_are_asked_for(pair):
    """One, several, more than there are texts; none is refused by both."""
    ours, theirs = pair
    for n_threads in (1, 2, 64):
        expected = theirs.encode_ordinary_batch(TEXTS, num_threads=n_threads)
        assert ours.encode_ordinary_batch(TEXTS, num_threads=n_threads) == expected
        options = {"num_threads": n_threads, "allowed_special": "all"}
        assert ours.encode_batch(TEXTS, **options) == theirs.encode_batch(
            TEXTS, **options
        )
    for encoding in pair:
        with pytest.raises(ValueError):
            encoding.encode_ordinary_batch(TEXTS, num_threads=0)


def test_all_ways_of_encoding_give_the_ids_of_tiktoken(pair):
    """Ordinary text alone and in batches, lone surrogates too."""
    ours, theirs = pair
    expected = [theirs.encode_ordinary(text) for text in TEXTS]
    assert [ours.encode_ordinary(text) for text in TEXTS] == expected
    assert ours.encode_ordinary_batch(TEXTS, num_threads=2) == expected


def test_decoding_gives_what_tiktoken_gives(pair):
    """Text, bytes, bytes of each token and where tokens start, cut characters too."""
    ours, theirs = pair
    for text in TEXTS:
        ids = theirs.encode(text, allowed_special="all")
        for some in (ids, ids[1:], ids[::-1], ids[::2]):
            for errors in ("replace", "strict", "ignore", "backslashreplace"):
                expected = outcome(lambda: theirs.decode(some, errors=errors))  # noqa: B023
                assert outcome(lambda: ours.decode(some, errors=errors)) == expected  # noqa: B023
            assert ours.decode_bytes(some) == theirs.decode_bytes(some)
            assert ours.decode_tokens_bytes(some) == theirs.decode_tokens_bytes(some)
            expected = outcome(lambda: theirs.decode_with_offsets(some))  # noqa: B023
            assert outcome(lambda: ours.decode_with_offsets(some)) == expected  # noqa: B023
    batch = [[1, 2], [], [300]]
    assert ours.decode_batch(batch) == theirs.decode_batch(batch)
    assert ours.decode_bytes_batch(batch) == theirs.decode_bytes_batch(batch)


def test_single_tokens_and_properties_are_those_of_tiktoken(pair):
    """Lookups, also of what is not there, and every property."""
    ours, theirs = pair
    for token in ["a", b"\xff", "<s>", b"<s>", "the quick", "", "<|endoftext|>"]:
        expected = outcome(lambda token=token: theirs.encode_single_token(token))
        assert outcome(lambda token=token: ours.encode_single_token(token)) == expected
    for id_ in [0, 599, 600, 700, 701, 702, 704, 10**6]:
        expected = outcome(lambda id_=id_: theirs.decode_single_token_bytes(id_))
        assert outcome(lambda id_=id_: ours.decode_single_token_bytes(id_)) == expected
        assert ours.is_special_token(id_) == theirs.is_special_token(id_)
    for name in (
        "n_vocab",
        "max_token_value",
        "eot_token",
        "special_tokens_set",
        "name",
    ):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.token_byte_values() == theirs.token_byte_values()
    assert repr(ours) == repr(theirs)
    for name in ("_mergeable_ranks", "_special_tokens"):
        assert getattr(ours, name) == getattr(theirs, name)


def test_an_encoding_is_extended_as_in_tiktoken(pair):
    """A program makes a new encoding from the parts of an old one."""
    ours, _ = pair
    more = Encoding(
        "more",
        pat_str=ours._pat_str,
        mergeable_ranks=ours._mergeable_ranks,
        special_tokens={**ours._special_tokens, "<|more|>": 800},
    )
    assert more.encode("a<|more|>", allowed_special="all")[-1] == 800
    assert pickle.loads(pickle.dumps(more)).encode_ordinary("a b") == ours.encode("a b")


def test_models_have_the_encodings_that_tiktoken_names():
    """For every model that tiktoken knows."""
    models = [*tiktoken.model.MODEL_TO_ENCODING]
    models += [f"{start}x" for start in tiktoken.model.MODEL_PREFIX_TO_ENCODING]
    differing = {
        model
        for model in models
        if outcome(lambda: encoding_name_for_model(model))  # noqa: B023
        != tiktoken.encoding_name_for_model(model)
    }
    assert differing == set()
    with pytest.raises(KeyError, match="llama"):
        encoding_name_for_model("llama")


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
