"""Extensions by given strings: what becomes of each, and that each that is added is one token."""

import json

import pytest
from tests.made_up import every_kind, hugging_face, vocabulary
from tests.test_surgery import check_old

import bytepair
from bytepair import TokenizerError, _core, surgery


def outcomes(report):
    """Give what became of each string."""
    return {row.text: row.outcome for row in report.rows}


def grown(name, strings, **options):
    """Extend a small tokenizer of a kind by strings."""
    return surgery.add_strings(every_kind()[name], strings, **options)


def test_each_string_has_a_row_with_what_became_of_it():
    """In the order in which they were given; those that are added are one token each."""
    base = bytepair.train_from_iterator(["ab ab"], merges=1, dialect="gpt2")
    base = base.with_added_tokens(["<m>"])
    strings = ["xyzw", "x y", "ab", "abab", "", "xy", "xyz", "xy", "\ud800", "a<m>"]
    found = surgery.add_strings(base, strings)
    report = found.report
    assert [row.text for row in report.rows] == strings
    first, (ab,) = base.n_vocab, base.encode("ab")
    assert [(row.outcome, row.id) for row in report.rows] == [
        ("added", first + 3),  # of xyz and w, since the shorter ones come first
        ("cut", None),
        ("known", ab),
        ("added", first + 2),
        ("empty", None),
        ("added", first),
        ("added", first + 1),
        ("repeated", first),
        ("not_text", None),
        ("cut", None),
    ]
    assert report.rows[3].parts == tuple(base.encode("abab"))
    assert (report.first_id, report.added, report.helpers) == (first, 4, 0)
    for row in report.rows:
        if row.outcome in ("added", "known", "repeated"):
            assert found.tokenizer.encode(row.text) == [row.id]
    assert report.lines == (
        f"4 tokens added, ids {first} to {first + 3}; {first} ids unchanged",
        "10 strings: 4 added, 1 one token already, 1 given before, 2 cut by the split pattern or "
        "an added token, 1 no valid text, 1 empty",
    )
    json.dumps(report.to_json())
    assert report.to_json()["rows"][3]["outcome"] == "added"


def test_helpers_are_counted_and_named_and_added_on_request():
    """Those that would be needed are those that are added when they may be."""
    base = bytepair.train_from_iterator(["ab ab"], merges=1, dialect="gpt2")
    strings = ["wxyz", "नम", "wxy!!"]
    needed = surgery.add_strings(base, strings).report
    assert list(outcomes(needed).values()) == ["needs_helpers", "needs_helpers", "cut"]
    assert needed.rows[0].helpers == ("wx", "wxy")
    assert needed.rows[1].helpers == ("\\xe0\\xa4", "न", "न\\xe0\\xa4")
    assert (needed.added, needed.helpers, needed.helpers_needed) == (0, 0, 5)
    assert "5 helpers would be needed" in needed.lines[-1]
    helped = surgery.add_strings(base, strings, allow_helpers=True)
    report = helped.report
    assert (report.added, report.helpers, report.helpers_needed) == (7, 5, 0)
    assert [row.helpers for row in report.rows] == [row.helpers for row in needed.rows]
    assert "7 tokens added (5 helpers among them)" in report.lines[0]
    for row in report.rows[:2]:
        assert helped.tokenizer.encode(row.text) == [row.id]


def test_reasons_that_a_string_cannot_be_a_token():
    """Normalizing, the alphabet, names; each by a tokenizer that has it."""
    assert outcomes(grown("unknown and added", ["LO", "wé"]).report) == {
        "LO": "changed",
        "wé": "outside_alphabet",
    }
    vocab = vocabulary(*"abc", "ab", "</s>", *"</s>", "</", "s>", "x")
    base = hugging_face({"vocab": vocab, "merges": [["<", "/"], ["s", ">"]]})
    rows = surgery.add_strings(base, ["</s>", "ab"]).report.rows
    assert [row.outcome for row in rows] == ["added", "added"]  # no merge made them
    assert [row.id for row in rows] == [4, 3]


@pytest.mark.slow
def test_a_space_that_is_written_otherwise_is_no_change(tmp_path):
    """Also if added tokens are looked for in normalized text, or a character map may change other text."""
    added = bytepair.AddedToken("<m>", normalized=True)
    plain = every_kind()["fallback"].with_added_tokens([added])
    sentencepiece = pytest.importorskip("sentencepiece")
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower wide"] * 9),
        model_prefix=str(tmp_path / "own"),
        model_type="bpe",
        vocab_size=13,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    model = (tmp_path / "own.model").read_bytes()
    for base in (plain, bytepair.Tokenizer.from_bytes(model)):
        strings = ["lower", "rol", " low"]
        found = surgery.add_strings(base, strings, allow_helpers=True)
        for row in found.report.rows:
            assert row.outcome == "added"
            assert found.tokenizer.encode(row.text) == [row.id]
    marked = surgery.add_strings(plain, ["▁lower"], allow_helpers=True)
    assert marked.report.rows[0].outcome == "changed"  # a second mark comes in front


@pytest.mark.parametrize("name", sorted(every_kind()))
def test_the_order_of_the_strings_does_not_matter(name):
    """Nor whether they are a list or a set; old ids stay, encodings join neighbours, and each new token is made."""
    strings = ["low", "lowl", "er", "erlow", "we", "wel", "owlo", " lo", "owl"]
    found = grown(name, strings, allow_helpers=True)
    for other in (strings[::-1], set(strings)):
        again = grown(name, other, allow_helpers=True)
        assert again.tokenizer == found.tokenizer
        assert set(again.report.rows) == set(found.report.rows)
    for row in found.report.rows:
        if row.outcome in ("added", "added_whole", "known"):
            assert found.tokenizer.encode(row.text) == [row.id]
    check_old(found.base, found.tokenizer)
    texts = [*strings, " ".join(strings), "".join(strings)]
    check = surgery.verify_extension(found.base, found.tokenizer, texts=texts)
    assert check.faults == (), check.lines


def test_only_the_first_strings_without_a_token_are_listed():
    """Long ones are cut where the line ends; the rest is counted."""
    from bytepair.surgery._draw import N_SHOWN, row_lines

    strings = ["wx", *("ab cd " * n for n in range(1, N_SHOWN + 4))]
    base = bytepair.train_from_iterator(["ab"], merges=1, dialect="gpt2")
    lines = row_lines(surgery.add_strings(base, strings).report, width=40)
    assert lines[0] == "'ab cd ': cut"
    assert len(lines) == N_SHOWN + 1
    assert lines[-1] == "and 3 strings more"
    assert max(map(len, lines)) == 40
    assert lines[-2] == f"'{'ab cd ' * 6}ab…"


def test_strings_of_a_file_are_proven_when_it_is_saved(tmp_path):
    """New tokens are tokens of the model and not added tokens, so that they break no words."""
    found = grown("gpt2", ["lowest", " widest"], allow_helpers=True)
    found.save(tmp_path / "t.json")
    again = bytepair.Tokenizer.from_file(tmp_path / "t.json")
    assert again.vocabulary == found.tokenizer.vocabulary
    assert _core.added_tokens(again) == _core.added_tokens(found.base)
    text = "slowests are the widest"
    assert again.split(text) == found.base.split(text)
    assert again.tokenize(text)[-1] == " widest"


def test_the_row_of_a_whole_piece_is_made_of_what_the_base_has_for_it():
    """Though no merge makes such a token."""
    found = grown("whole pieces", ["erlowaa", "loaa"])
    outcome = {row.text: (row.outcome, row.id) for row in found.report.rows}
    assert outcome["erlowaa"] == ("added_whole", found.base.n_vocab + 1)
    rows = found.embedding_map()
    assert rows.needs_init.tolist() == []
    ids = found.base.encode("erlowaa")
    assert len(ids) == 3
    assert rows.row(found.base.n_vocab + 1) == (sorted(ids), [1 / 3] * 3)


BAD = {"must be a list": "abc", r"strings\[1\] is int": ["a", 3], "is empty": []}


@pytest.mark.parametrize("message", BAD)
def test_what_is_no_list_of_strings_is_refused(message):
    """One string is a list of letters by mistake, and an empty list asks for nothing."""
    with pytest.raises((TokenizerError, TypeError), match=message):
        surgery.add_strings(every_kind()["gpt4o"], BAD[message])
    with pytest.raises(TypeError, match="unexpected keyword argument 'strings'"):
        surgery.extend(every_kind()["gpt4o"], strings=BAD[message])
