"""Sessions: the ids of a text that grows and changes are those of the whole text."""

import copy
import pickle
import random

import pytest
from hypothesis import given, strategies as st
from tests.conftest import encodable

import bytepair
from bytepair.serving import Patch

ALPHABET = "the cat中文。é1\n <s>"

TEXT = "the cat sat on the mat, 123 hats.\nété 中文字。中文 да <s> "
ALONE = " ".join(character * 2 + " " + character for character in ALPHABET)
EDITS = st.lists(
    st.tuples(
        st.text(ALPHABET, max_size=12),
        st.sampled_from(["append", "replace", "update"]),
        st.integers(0, 60),
        st.integers(0, 60),
    ),
    max_size=8,
)


@pytest.fixture(scope="module")
def tokenizer():
    """Give a tokenizer of bytes."""
    options = {"vocab_size": 300, "special_tokens": ["<s>"]}
    return bytepair.train_from_iterator([TEXT * 3], **options)


@pytest.fixture(scope="module", params=bytepair.dialects())
def any_tokenizer(request):
    """Give a tokenizer of each dialect that encodes every text of the alphabet."""
    texts = [TEXT * 3, ALONE]
    return bytepair.train_from_iterator(texts, dialect=request.param, merges=40)


def changed(session, text, edit):
    """Apply an edit to a session and to a text; give the patch and the new text."""
    part, kind, *places = edit
    start, stop = sorted(min(place, len(text)) for place in places)
    if kind == "append":
        return session.append(part), text + part
    whole = text[:start] + part + text[stop:]
    if kind == "update":
        return session.update(whole), whole
    if start % 2:
        start, stop = (len(text[:place].encode()) for place in (start, stop))
        part = part.encode()
    return session.replace(start, stop, part), whole


@given(edits=EDITS)
def test_a_session_is_exact_after_every_change(any_tokenizer, edits):
    """Patches lead from one encoding to the next; copies and pickles go their own way."""
    session, text, ids = any_tokenizer.session(), "", []
    for edit in edits:
        trial = random.Random(len(text)).choice(
            [session.fork(), copy.copy(session), pickle.loads(pickle.dumps(session))]
        )
        patch, whole = changed(session, text, edit)
        assert changed(trial, text, edit) == (patch, whole)
        text, ids = whole, patch.apply(ids)
        assert ids == any_tokenizer.encode(text)
        assert session.ids.tolist() == trial.ids.tolist() == ids
        assert (len(session), session.text) == (len(ids), text)


def test_a_session_is_exact_where_a_special_token_grows_in_a_word():
    """A token that is spelled letter by letter behind a long word is found, or refused; a session without ids agrees."""
    options = {"vocab_size": 262, "special_tokens": ["<s>", "bbc"]}
    tokenizer = bytepair.train_from_iterator(["abab " * 9], **options)
    for allowed in ((), "all"):
        session = tokenizer.session(allowed_special=allowed, keep_ids=False)
        text = ""
        for part in ["ab" * 400, *"abbbcabcbbc<s>bbcbc"]:
            text += part
            session.append(part)
            session = pickle.loads(pickle.dumps(session))
            expected = tokenizer.encode(text, allowed_special=allowed)
            assert len(session) == len(expected), text[-9:]
    session = tokenizer.session("ab" * 400 + "bb", disallowed_special="all")
    with pytest.raises(bytepair.SpecialTokenError, match="bbc"):
        session.append("c")
    session.append("b")
    assert session.ids.tolist() == tokenizer.encode("ab" * 400 + "bbb")


def test_a_refused_text_leaves_a_session_as_it_was(tokenizer):
    """The error has the place in the whole text, also where two parts or an edit make a disallowed token."""
    session = tokenizer.session("the cat <", disallowed_special="all")
    ids = session.ids.tolist()
    changes = [
        lambda: session.append("s>"),
        lambda: session.update("the cat <s>"),
        lambda: session.replace(9, 9, "s>"),
        lambda: session.replace(8, 9, b"<s>"),
    ]
    for change in changes:
        with pytest.raises(bytepair.SpecialTokenError, match="at byte 8"):
            change()
        assert session.ids.tolist() == ids
    for start, stop in ((5, 4), (3, 10), (10, 10)):
        with pytest.raises(bytepair.TokenizerError, match=f"{start} to {stop} is not"):
            session.replace(start, stop, "x")
    for place in (-1, 1 << 70):
        with pytest.raises(bytepair.TokenizerError, match="start must be between"):
            session.replace(place, 3, "x")
    for wrong in (3, None, ["a"]):
        with pytest.raises(TypeError, match="expected str or bytes"):
            session.append(wrong)


def test_half_a_character_waits_for_the_rest(tokenizer):
    """Bytes and surrogates are held back, shown, joined with what follows, and never lost."""
    session, data = tokenizer.session(), "a…😀b".encode()
    for number in range(len(data)):
        session.append(data[number : number + 1])
        whole = data[: number + 1].decode(errors="ignore")
        assert session.ids.tolist() == tokenizer.encode(whole)
        assert whole.encode() + session.held == data[: number + 1]
    session = pickle.loads(pickle.dumps(tokenizer.session("a\ud83d")))
    assert (session.text, session.held) == ("a", b"\xed\xa0\xbd")
    for finish in (session.finish, lambda: session.append(b"b")):
        with pytest.raises(bytepair.EncodingError, match="surrogate"):
            finish()
    session.append("\ude00b")
    assert session.ids.tolist() == tokenizer.encode("a😀b")
    session = tokenizer.session(b"a\xe2\x80")
    session.finish()
    for same in (session, pickle.loads(pickle.dumps(session))):
        assert same.ids.tolist() == tokenizer.encode(b"a\xe2\x80")
        assert same.held == b""


def test_a_session_that_keeps_no_ids_says_so(tokenizer):
    """It grows and counts; its ids, its text and edits are refused."""
    session = tokenizer.session("the cat sat", keep_ids=False)
    assert len(session) == tokenizer.count("the cat sat")
    uses = [
        lambda: session.ids,
        lambda: session.text,
        lambda: session.update("the"),
        lambda: session.replace(0, 1, "a"),
    ]
    for use in uses:
        with pytest.raises(bytepair.TokenizerError, match="keep_ids"):
            use()


def test_a_patch_says_which_ids_stay():
    """It applies to lists that are long enough, compares by content and survives pickling."""
    patch = Patch(1, [7, 8], keep_after=1)
    assert patch.apply([1, 2, 3]) == [1, 7, 8, 3]
    assert patch == pickle.loads(pickle.dumps(patch)) != Patch(1, [7, 8])
    with pytest.raises(
        bytepair.TokenizerError, match="keeps 1 ids at the beginning and 1 at"
    ):
        patch.apply([1])


TEMPTING = [
    "a",
    " ",
    "  ",
    "\n",
    "'s",
    "12",
    "你好",
    "\u0301",
    "é",
    "<s>",
    "▁",
    " the",
    "👩\u200d🚀",
    "क्षि",
]
LONG = [letters * 300 for letters in ("b", "你", " ", "\u0301", "ab ")]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"allowed_special": "all"}, {"added_tokens": "text"}], ids=str
)
def test_sessions_of_published_files_are_exact(published, options):
    """Edits of texts whose borders are hard to find, and stable ids under continuations."""
    tokenizer, draw = published, random.Random(5)
    tempting, long = (
        [encodable(tokenizer, part) for part in parts] for parts in (TEMPTING, LONG)
    )
    specials = list(tokenizer.special_tokens)[:5]
    for _ in range(8):
        session, text, ids = tokenizer.session(**options), "", []
        for _ in range(12):
            part = "".join(
                draw.choices(tempting * 4 + specials + long, k=draw.randint(1, 5))
            )
            start = draw.randint(0, len(text))
            stop = min(len(text), start + draw.choice([0, 4, 1000]))
            kind = draw.choice(["append", "append", "replace", "update"])
            patch, text = changed(session, text, (part, kind, start, stop))
            ids = patch.apply(ids)
            assert ids == session.ids.tolist() == tokenizer.encode(text, **options)
            longer = tokenizer.encode(
                text + draw.choice(tempting + specials), **options
            )
            assert longer[: session.n_stable] == ids[: session.n_stable]
