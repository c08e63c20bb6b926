"""Streams with stops give what decoding everything and searching gives."""

import copy
import pickle

import pytest
from hypothesis import given, strategies as st
from tests.conftest import encodable

import bytepair
from bytepair.serving import TokenBytes

TEXT = "the cat</t> sat…é </tool><end>"


@pytest.fixture(
    scope="module", params=["gpt2", "byte-stream", "sentencepiece", "sennrich"]
)
def tokenizer(request):
    """Give a tokenizer of a dialect, with a special token."""
    texts = [TEXT * 3, " ".join(letter * 2 + " " + letter for letter in TEXT)]
    options = {"merges": 30, "special_tokens": ["<end>"], "dialect": request.param}
    return bytepair.train_from_iterator(texts, **options)


COPIES = [
    bytepair.DecodeStream.fork,
    copy.copy,
    lambda stream: pickle.loads(pickle.dumps(stream)),
]


def stopped_at(text, stops):
    """Give the text before the first stop text, and that stop text, by searching each end."""
    for end in range(len(text) + 1):
        found = [stop for stop in stops if text[:end].endswith(stop)]
        if found:
            stop = max(found, key=len)
            return text[: end - len(stop)], stop
    return text, None


@given(
    text=st.text(TEXT, max_size=30),
    stop=st.lists(
        st.text("</tool>c é…", min_size=1, max_size=4), max_size=3, unique=True
    ),
    step=st.integers(1, 4),
    keep=st.booleans(),
    as_bytes=st.booleans(),
)
def test_stop_texts_are_found_as_in_the_whole_text(
    tokenizer, text, stop, step, keep, as_bytes
):
    """Whatever the number of ids in a step; the stop is shown if it is kept, and ids after it are not used."""
    ids = tokenizer.encode(text)
    expected, which = stopped_at(tokenizer.decode(ids), stop)
    errors = {"errors": "bytes"} if as_bytes else {}
    stream = bytepair.DecodeStream(tokenizer, stop=stop, keep_stop=keep, **errors)
    given = b"" if as_bytes else ""
    shown = expected + (which or "") * keep
    shown = shown.encode() if as_bytes else shown
    for start in range(0, len(ids), step):
        given += stream.push(ids[start : start + step])
        stream = COPIES[start % 3](stream)
        assert shown.startswith(given)
    assert given + stream.finish() == shown
    assert stream.stopped == which
    used = tokenizer.decode(ids[: stream.n_used])
    assert stream.n_used == len(ids) or which
    assert which is None or which in used


@pytest.mark.parametrize("dialect", ["gpt2", "byte-stream"])
@given(ids=st.lists(st.integers(0, 257), max_size=12))
def test_a_stream_of_bytes_gives_bytes_that_are_no_text(dialect, ids):
    """They are those of the tokens, each as soon as its id comes."""
    tokenizer = bytepair.train_from_iterator(["é é"], merges=2, dialect=dialect)
    stream = bytepair.DecodeStream(tokenizer, errors="bytes")
    assert [stream.push(id) for id in ids] == [tokenizer.token_bytes(id) for id in ids]
    assert stream.finish() == b""


@pytest.mark.slow
def test_a_stream_of_bytes_has_those_of_the_tokens_of_published_files(published):
    """Also of byte tokens that make no character; decoders leave out spaces at the ends."""
    try:
        table = TokenBytes(published)
    except bytepair.TokenizerError as error:
        pytest.skip(str(error))
    ids = [
        *published.encode(encodable(published, "a")),
        *table.ids("byte")[::7].tolist(),
    ]
    ids += table.ids("text")[::997].tolist()
    stream = bytepair.DecodeStream(published, errors="bytes")
    found = b"".join(stream.push(id) for id in ids) + stream.finish()
    assert found.strip(b" ") == b"".join(table[id] for id in ids).strip(b" ")


def test_stop_ids_end_a_text(tokenizer):
    """The id is hidden or shown; a stop text before it counts; nothing is given out after it."""
    end = tokenizer.special_tokens["<end>"]
    ids = [*tokenizer.encode("the cat"), end, *tokenizer.encode("sat")]
    for keep, expected in ((False, "the cat"), (True, "the cat<end>")):
        stream = bytepair.DecodeStream(
            tokenizer, stop_ids=[end], stop=["t<end>x"], keep_stop=keep
        )
        text = stream.push(ids)
        assert (text.replace(" <", "<"), stream.stopped) == (expected, end)
        assert stream.n_used == ids.index(end) + 1
        assert stream.push(ids) + stream.finish() == ""
    stream = bytepair.DecodeStream(tokenizer, stop_ids=[end], stop=["cat"])
    assert (stream.push(ids), stream.stopped) == ("the ", "cat")


def test_a_prompt_leads_in_without_being_given_out(tokenizer):
    """Spaces between prompt and answer are those of the whole text."""
    ids, more = tokenizer.encode("the cat"), tokenizer.encode("the cat sat")
    if more[: len(ids)] != ids:
        pytest.skip("the ids of the prompt change")
    stream = bytepair.DecodeStream(tokenizer, prompt_ids=ids)
    whole = tokenizer.decode(ids) + stream.push(more[len(ids) :]) + stream.finish()
    assert whole == tokenizer.decode(more)


def test_a_refused_id_leaves_a_stream_as_it_was(tokenizer):
    """The text of ids before it comes with the next ones; stops of the wrong kind are refused."""
    ids = tokenizer.encode("the cat")
    stream = bytepair.DecodeStream(tokenizer)
    with pytest.raises(bytepair.UnknownTokenError):
        stream.push([*ids, 10_000])
    assert stream.push(ids) + stream.finish() == tokenizer.decode(ids)
    with pytest.raises(bytepair.TokenizerError, match="empty"):
        bytepair.DecodeStream(tokenizer, stop=["a", ""])
    with pytest.raises(bytepair.UnknownTokenError):
        bytepair.DecodeStream(tokenizer, stop_ids=[10_000])
    with pytest.raises(TypeError):
        bytepair.DecodeStream(tokenizer, stop="</t>")
