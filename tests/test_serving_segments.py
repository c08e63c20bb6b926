"""Segments are encoded one by one, and only trusted text becomes control tokens."""

import pickle

import pytest
from tests.conftest import encodable

import bytepair
from bytepair import chat
from bytepair.serving import encode_segments, encode_segments_batch

SEGMENTS = [
    ("<s>low", True),
    (b"low<s><|u|>", False),
    ("", True),
    ("é<s><|u|>", {"<|u|>"}),
]


@pytest.fixture(scope="module")
def tokenizer():
    """Give a tokenizer with a special token and another added token."""
    made = bytepair.train_from_iterator(["low lower user"], vocab_size=260)
    return made.with_special_tokens(["<s>"]).with_added_tokens(["<|u|>"])


def test_segments_have_the_ids_of_their_texts_alone(tokenizer):
    """With spans in ids and in the text, in a batch, and after pickling."""
    only = tokenizer.encode("é<s>", added_tokens="text")
    alone = [
        tokenizer.encode("<s>low", allowed_special="all"),
        tokenizer.encode("low<s><|u|>", added_tokens="text"),
        [],
        [*only, tokenizer.token_to_id("<|u|>")],
    ]
    encoding = encode_segments(tokenizer, SEGMENTS, offsets=True)
    assert (
        encoding.ids
        == encoding.ids_to_numpy().tolist()
        == [id for ids in alone for id in ids]
    )
    spans = [encoding.ids[start:end] for start, end in encoding.segment_spans]
    assert spans == alone
    owners = [index for index, ids in enumerate(alone) for _ in ids]
    assert encoding.segment_ids.tolist() == owners
    assert encoding.offsets[0] == (0, 3)
    assert encoding.offsets[-1] == (21, 26)
    assert encoding.offsets_to_numpy().tolist() == [list(o) for o in encoding.offsets]
    assert pickle.loads(pickle.dumps(encoding)) == encoding
    batch = encode_segments_batch(
        tokenizer, [SEGMENTS, []] * 3, offsets=True, threads=2
    )
    assert batch == [encoding, encode_segments(tokenizer, [], offsets=True)] * 3


@pytest.mark.slow
def test_segments_of_published_files_are_their_texts_alone(published):
    """Trusted text has all added tokens, other text has none, and chosen ones are found alone."""
    text = encodable(published, "The cat's 12345 café, 東京!\n\n  def f(x)") or "a"
    names = list(published.special_tokens)[:2]
    text = f" {text}".join(["", *names, ""])
    trusted = published.encode(text, allowed_special="all")
    plain = published.encode(text, added_tokens="text")
    segments = [(text, True), (text, False), (text, set())]
    found = encode_segments(published, segments, offsets=True)
    assert found.ids == [*trusted, *plain, *plain]
    assert found == encode_segments_batch(published, [segments], offsets=True)[0]
    if names:
        [chosen] = encode_segments_batch(published, [[(text, {names[0]})]])
        own = published.token_to_id(names[0])
        assert chosen.ids.count(own) == trusted.count(own)


@pytest.mark.parametrize(
    ("segments", "error", "says"),
    [
        ([("a", True), (1, True)], TypeError, "segment 1: expected str or bytes"),
        ([("a", "all")], TypeError, "segment 0: trusted must be"),
        ([("a", None)], TypeError, "segment 0: trusted must be"),
        ([("a", {1})], TypeError, "segment 0: trusted must be"),
        (["ab"], TypeError, "segment 0: expected a tuple"),
        ("ab", TypeError, "expected a collection of segments, not one text"),
        (5, TypeError, "expected a collection of segments, not int"),
        ({("a", True)}, TypeError, "segments is a set"),
        (
            [("", True), ("a", {"<x>"})],
            bytepair.SpecialTokenError,
            'segment 1: "<x>" is not a special token',
        ),
        ([("\ud800", True)], bytepair.EncodingError, "segment 0: .*surrogate"),
    ],
)
def test_a_wrong_segment_is_named(tokenizer, segments, error, says):
    """In a batch, the text is named, too."""
    with pytest.raises(error, match=says):
        encode_segments(tokenizer, segments)
    with pytest.raises(error, match=f"text 1 of the batch: .*{says}"):
        encode_segments_batch(tokenizer, [[], segments])


def test_a_message_never_becomes_a_control_token_of_a_template(shared):
    """A message with every added token of Qwen 3 has the ids of its text; the template has its control tokens."""
    pytest.importorskip("jinja2")
    folder = shared("vocabularies/qwen3")
    tokenizer = bytepair.Tokenizer.from_file(folder / "tokenizer.json")
    forged = "".join(token.content for token in tokenizer.added_tokens.values())
    messages = [{"role": role, "content": forged} for role in ("system", "user")]
    segments = chat.render_segments(chat.read_template(folder), messages)
    encoding = encode_segments(tokenizer, segments)
    start = tokenizer.token_to_id("<|im_start|>")
    end = tokenizer.token_to_id("<|im_end|>")
    assert (encoding.ids.count(start), encoding.ids.count(end)) == (2, 2)
    as_text = tokenizer.encode(forged, added_tokens="text")
    spans = [encoding.ids[first:last] for first, last in encoding.segment_spans]
    assert [
        ids for one, ids in zip(segments, spans, strict=True) if not one.trusted
    ] == [as_text] * 2


def test_kimi_k3_encodes_pieces_apart(shared):
    """A quote and the name behind it share no token, and a forged marker is text."""
    path = shared("vocabularies/kimi-k3") / "tiktoken.model"
    tokenizer = bytepair.Tokenizer.from_file(path, encoding="kimi_k3")
    pieces = [
        ("<|open|>", True),
        ('message name="', True),
        (".hidden", False),
        ('"', True),
        ("<|sep|>", False),
    ]
    special = [tokenizer.special_tokens["<|open|>"]]
    ids = special + [id for text, _ in pieces[1:] for id in tokenizer.encode(text)]
    assert encode_segments(tokenizer, pieces).ids == ids
    joined = "".join(text for text, _ in pieces)
    assert tokenizer.encode(joined, allowed_special={"<|open|>"}) != ids
