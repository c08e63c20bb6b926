"""A text to its tokens, merge by merge, and why a token is not there."""

import cProfile
import itertools
import json
import pstats
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, strategies as st
from tests import commands
from tests.made_up import (
    encoded,
    every_kind,
    hugging_face,
    ranks,
    refused_unit,
    vocabulary,
)

import bytepair
from bytepair import TokenizerError
from bytepair.analyze import trace, why
from bytepair.analyze._trace.draw import folded_lines, trace_lines
from bytepair.analyze._trace.trace import Added, Piece, merged
from bytepair.views._runs import plain

WORDS = ["low", " lower", "lo", "w", "er", "aa", "aaa", " ", "\n", "é", "e\u0301", "नम"]
WORDS += ["ﬁ", "LOW", "中文字", "<m>", "<|end|>", "xyz", "▁", "##", "12"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map("".join)


def by_definition(symbols, merges):
    """Merge the pair of the lowest rank, the leftmost of several; give every step."""
    rank_of = {pair: rank for rank, pair in enumerate(merges)}
    row, steps = list(enumerate(symbols)), []
    while True:
        pairs = [(left[1], right[1]) for left, right in itertools.pairwise(row)]
        found = [(rank_of[p], n) for n, p in enumerate(pairs) if p in rank_of]
        if not found:
            return row, steps
        rank, place = min(found)
        start = row[place][0]
        steps.append((start, rank))
        row[place : place + 2] = [(start, merges[pairs[place]])]


@pytest.mark.parametrize("name", every_kind())
@given(text=TEXTS)
def test_a_trace_ends_with_the_ids_of_the_text(name, text):
    """Every step is that of the definition, in every dialect, and the last row is encode's."""
    tokenizer = every_kind()[name]
    expected = encoded(tokenizer, text)
    found = trace(tokenizer, text, allowed_special="all")
    if isinstance(expected, str):
        first = next(id_ for id_ in found.ids if id_ < 0)
        assert found.known[first].name == refused_unit(expected)
    else:
        assert found.ids == expected
    merges = {
        (left, right): id_ for left, right, id_, _ in tokenizer.inspect().merge_log
    }
    for piece in found.pieces:
        if piece.is_whole:
            assert not piece.symbols
            continue
        row, steps = by_definition([symbol.id for symbol in piece.symbols], merges)
        assert [(step.place, step.merge) for step in piece.steps] == steps
        assert tuple(id_ for _place, id_ in row) == piece.ids
        *_, last = piece.rows()
        assert last == piece.tree


@given(text=TEXTS)
def test_pieces_are_those_of_split(text):
    """What is normalized and split is what split gives."""
    for name in ("gpt2", "sentencepiece", "jurafsky-martin"):
        tokenizer = every_kind()[name]
        try:
            found = trace(tokenizer, text)
        except TokenizerError:
            continue
        pieces = [piece.text.decode() for piece in found.pieces]
        assert [piece for piece in pieces if piece] == tokenizer.split(text)


def test_a_merge_tells_its_rank_and_its_count():
    """The count is that of training, or nothing where the file holds none."""
    trained = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    [piece] = trace(trained, "low").pieces
    assert [(step.rank, step.count) for step in piece.steps] == [(0, 2), (1, 2)]
    tokenizer = every_kind()["prefix"]
    [piece] = trace(tokenizer, "low").pieces
    assert [step.count for step in piece.steps] == [None, None]


def test_ranks_that_several_merges_share_are_told(tmp_path):
    """In a file of ranks each merge has the rank of its token, whatever its place is."""
    tokenizer = ranks(tmp_path, b"bc", b"ab", b"abc")
    [piece] = trace(tokenizer, "abcab").pieces
    ids = {name: 256 + n for n, name in enumerate(["bc", "ab", "abc"])}
    made = [step.token for step in piece.steps]
    assert made == [ids["bc"], ids["ab"], ids["abc"]]
    ranked = [step.rank for step in piece.steps]
    assert ranked == sorted(ranked)
    assert piece.ids == tuple(tokenizer.encode("abcab"))


def test_added_tokens_and_whole_pieces_are_no_merges():
    """An added token is found before merging, and a whole piece is a token without it."""
    unknown = every_kind()["unknown and added"]
    found = trace(unknown, "LOW <m>xyzlow")
    assert [type(part) for part in found.flat] == [Piece, Added, Piece]
    assert (found.flat[1].start, found.flat[1].end) == (3, 7)
    assert found.parts[0].normalized == b"low"
    whole = every_kind()["whole pieces"]
    first, second = trace(whole, "lower low").pieces
    assert (first.is_whole, second.is_whole) == (True, True)
    [third] = trace(whole, "lowe").pieces
    assert not third.is_whole


def test_a_long_text_is_refused():
    """Ten thousand bytes are too many to follow."""
    with pytest.raises(TokenizerError, match="too long to follow"):
        trace(every_kind()["gpt2"], "x" * 10_001)


# Why a token is not there


def reasons(tokenizer, text, token, **options):
    """Give the verdicts on a token."""
    found = trace(tokenizer, text, **options)
    return [answer.verdict for answer in why(tokenizer, found, token)]


@pytest.mark.parametrize("name", every_kind())
@given(text=TEXTS)
def test_a_token_is_present_where_it_is_and_else_a_merge_crossed_it(name, text):
    """Each verdict on each token of a vocabulary agrees with the ids of the text."""
    tokenizer = every_kind()[name]
    found = trace(tokenizer, text)
    ids = [n for n, token in enumerate(tokenizer.vocabulary) if token is not None]
    for id_ in [*{id_ for id_ in found.ids if id_ >= 0}, *ids[-12:]]:
        answers = why(tokenizer, found, id_)
        n_present = sum(answer.verdict == "present" for answer in answers)
        assert n_present == min(found.ids.count(id_), 20)
        for answer in answers:
            if answer.verdict == "crossed":
                check_crossed(found.flat[answer.piece], answer)


def check_crossed(piece, answer):
    """Check that the merge joins what is within with what is not, and that none did before."""
    nodes = merged(piece.symbols, piece.steps[: answer.number - 1])
    assert piece.steps[answer.number - 1] is answer.step
    inside = [answer.first <= n.first and n.last <= answer.last for n in nodes]
    outside = [n.last < answer.first or n.first > answer.last for n in nodes]
    assert all(one != other for one, other in zip(inside, outside, strict=True))
    left = next(n for n, node in enumerate(nodes) if node.first == answer.step.place)
    assert inside[left] != inside[left + 1]


def low_tokenizer():
    """Give a tokenizer in which `ow` comes before `lo`."""
    merges = [["o", "w"], ["l", "o"], ["l", "ow"]]
    vocab = vocabulary(*"low", "ow", "lo", "low")
    return hugging_face({"vocab": vocab, "merges": merges})


def test_the_merge_that_prevented_a_token_is_named():
    """Of `low`, `ow` comes before `lo`: `o` is taken from it."""
    tokenizer = low_tokenizer()
    found = trace(tokenizer, "low")
    [answer] = why(tokenizer, found, "lo")
    assert (answer.verdict, answer.number) == ("crossed", 1)
    assert (answer.step.left, answer.step.right, answer.step.rank) == (1, 2, 0)
    assert (answer.awaited.left, answer.awaited.right, answer.awaited.rank) == (0, 1, 1)
    assert answer.instead == (5,)
    [answer] = why(tokenizer, found, "ow")
    assert answer.number == 2  # it was complete, and then a part of `low`
    assert answer.awaited is None


def test_a_token_that_merges_never_make_says_so():
    """One is made by no merge; of the other, merges take another way."""
    merges = [["b", "c"], ["a", "b"], ["ab", "c"]]
    names = [*"abc", "bc", "ab", "abc", "ca"]
    tokenizer = hugging_face({"vocab": vocabulary(*names), "merges": merges})
    found = trace(tokenizer, "abca")
    [answer] = why(tokenizer, found, "abc")
    assert (answer.verdict, answer.instead) == ("other_merges", (0, 3))
    [answer] = why(tokenizer, found, "ca")
    assert (answer.verdict, answer.instead) == ("no_merge", (2, 0))


def test_each_reason_before_merging_is_told_from_the_others():
    """The pattern, the normalizer, marks, an added token, a whole piece, and a text without the token."""
    gpt2 = bytepair.train_from_iterator(["lo lo wer"], vocab_size=259, dialect="gpt2")
    assert reasons(gpt2, "al o", "lo") == ["absent"]
    assert reasons(gpt2, "lo", "zz") == ["no_token"]
    merges = [["o", " "], ["o ", "l"]]
    model = {"vocab": vocabulary(*"lo ", "o ", "o l"), "merges": merges}
    cutting = hugging_face(model, pre_tokenizer={"type": "WhitespaceSplit"})
    assert reasons(cutting, "lo l", "o l") == ["normalized"]
    split = {"type": "Split", "pattern": {"String": " "}, "invert": False}
    kept = hugging_face(model, pre_tokenizer={**split, "behavior": "MergedWithNext"})
    assert reasons(kept, "lo l", "o l") == ["split"]
    model = {"vocab": vocabulary(*"abAB", "AB"), "merges": [["A", "B"]]}
    lower = hugging_face(model, normalizer={"type": "Lowercase"})
    assert reasons(lower, "AB", "AB") == ["normalized"]
    texts = ["low low lot lo lo"]
    ends = bytepair.train_from_iterator(texts, merges=4, dialect="sennrich")
    ending = next(t for t in ends.vocabulary if t.startswith("lo") and t != "lo")
    [reason] = reasons(ends, "low", "lo" + ending[2:])
    assert reason in ("marks", "crossed", "present")
    added = every_kind()["unknown and added"]
    assert reasons(added, "<m>low", "<m>", added_tokens="text") == ["not_found"]
    assert reasons(added, "lo", "<m>") == ["absent"]
    special = every_kind()["gpt2"]
    assert reasons(special, "<|end|>", "<|end|>") == ["not_found"]
    found = reasons(special, "<|end|>", "<|end|>", allowed_special="all")
    assert found == ["present"]
    whole = every_kind()["whole pieces"]
    assert reasons(whole, "lower", "low") == ["whole_piece"]
    assert reasons(whole, "lower", "lower") == ["present"]


# Views


def test_a_trace_prints_each_row_with_its_merge():
    """The tokens of the piece before and after each merge, then the tree."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    lines = str(tokenizer.trace(" low")).splitlines()
    assert lines[:6] == [
        "text        ·low",
        "pieces      [·low]",
        "",
        "piece 1     · l o w",
        "          1 · lo w    l + o → lo    rank 0, count 2",
        "          2 · low     lo + w → low  rank 1, count 2",
    ]
    assert lines[-2:] == ["tokens      · low", "ids         220 257"]


@pytest.mark.parametrize("name", every_kind())
def test_every_dialect_can_be_drawn(name):
    """No view fails, and long rows keep to the width."""
    tokenizer = every_kind()[name]
    text = "lower low aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    found = trace(tokenizer, text)
    for columns in (40, 80):
        for line in plain(folded_lines(trace_lines(found), columns)).splitlines():
            if line.startswith("piece ") or line[:11].strip().isdigit():
                assert len(line) <= columns, line
    ET.fromstring(found.to_svg())


def test_a_piece_of_thousands_of_merges_is_drawn_in_part():
    """The first five hundred merges are drawn, and the number of the others."""
    tokenizer = every_kind()["gpt2"]
    found = trace(tokenizer, "aaaa" * 400)
    assert len(found.pieces[0].steps) > 500
    lines = plain(trace_lines(found)).splitlines()
    rest = len(found.pieces[0].steps) - 500
    assert any(f"… {rest:,} more merges" in line for line in lines)


def test_drawing_costs_as_much_as_the_text_is_long():
    """Twice as many different words take about twice as many calls."""
    words = ["".join(letters) for letters in itertools.product("abcdefgh", repeat=3)]
    tokenizer = bytepair.train_from_iterator([" ".join(words)] * 2, vocab_size=900)
    traces = [tokenizer.trace(" ".join(words[:n])) for n in (200, 400)]
    for columns in (None, 80):
        n_calls = []
        for traced in traces:
            with cProfile.Profile() as profile:
                list(folded_lines(trace_lines(traced), columns))
            n_calls.append(pstats.Stats(profile).total_calls)
        assert n_calls[1] < 2.5 * n_calls[0]


def test_a_picture_has_the_lines_of_the_drawing():
    """Each text stands at its column, escaped, in as many lines as are printed."""
    tokenizer = bytepair.train_from_iterator(["<& <&"], merges=1, pattern="")
    found = tokenizer.trace("<&")
    root = ET.fromstring(found.to_svg())
    lines = {}
    for node in root.iter("{http://www.w3.org/2000/svg}text"):
        column, y = (int(node.get("x")) - 16) // 9, int(node.get("y"))
        lines[y] = lines.get(y, "").ljust(column) + node.text
    shown = [line.rstrip() for _y, line in sorted(lines.items())]
    assert shown == [line for line in str(found).splitlines() if line]


# The command


def run(*arguments, **options):
    """Run the command; give what it wrote."""
    return commands.run("trace", *arguments, **options).output


@pytest.fixture
def path(tmp_path):
    """Write this tokenizer."""
    low_tokenizer().save(tmp_path / "t.json")
    return tmp_path / "t.json"


def test_the_command_prints_the_merges_and_saves_a_picture(path):
    """Text from the arguments or from standard input, and a picture beside."""
    assert "l + ow → low  rank 2" in run(path, "low")
    assert run(path, "-", stdin=b"low") == run(path, "low")
    picture = path.parent / "tree.svg"
    run(path, "low", "-o", picture)
    assert picture.read_text() == low_tokenizer().trace("low").to_svg()


def test_the_command_says_why_a_token_is_not_there(path):
    """One sentence for each place."""
    assert run(path, "low", "--why", "lo") == (
        "lo (id 4) in piece 1: merge 1 joined o + w (rank 0) across its border, before "
        "l + o (rank 1), which it still needed. In its place: low\n"
    )
    assert run(path, "low", "--why", "xx") == "xx: not a token of this tokenizer\n"
    assert run(path, "low", "--why", "low") == "low (id 5) in piece 1: it is there\n"


def test_the_command_says_how_many_places_are_explained(path):
    """20 places are explained; all are counted, in text and JSON."""
    text = "low" * 35
    n_places = text.count("lo")
    *lines, last = run(path, text, "--why", "lo").splitlines()
    assert len(lines) == 20
    assert all(line.startswith("lo (id 4) in piece 1: ") for line in lines)
    assert last == f"the first 20 of {n_places} places are shown"
    found = json.loads(run(path, text, "--json", "--why", "lo"))
    assert (found["n_reasons"], found["n_shown"]) == (n_places, len(found["why"]))
    assert len(found["why"]) == 20
    for text in ("low" * 20, "low", "x"):
        n_reasons = max(text.count("lo"), 1)
        assert run(path, text, "--why", "lo").count("\n") == n_reasons
        found = json.loads(run(path, text, "--json", "--why", "lo"))
        assert found["n_reasons"] == found["n_shown"] == n_reasons


def test_the_command_writes_json(path):
    """Symbols, merges, ids and reasons, with the tokens by id."""
    found = json.loads(run(path, "low", "--json", "--why", "lo"))
    [segment] = found["parts"]
    [piece] = segment["pieces"]
    assert piece["symbols"] == [0, 1, 2]
    merges = [(m["left"], m["right"], m["token"], m["rank"]) for m in piece["merges"]]
    assert merges == [(1, 2, 3, 0), (0, 3, 5, 2)]
    assert found["tokens"]["5"] == {"token": "low", "kind": "text"}
    assert found["why"][0]["verdict"] == "crossed"


def test_the_command_refuses_what_it_cannot_do(path):
    """A picture of another kind, a special token that is none."""
    assert "is an .svg file" in run(path, "low", "-o", "tree.png", code=1)
    assert "<x>" in run(path, "low", "--allowed-special", "<x>", code=1)


def test_no_line_of_a_terminal_is_broken_inside_a_word(path):
    """Text, pieces, tokens, ids and reasons go on below their beginning."""
    tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    found = trace(tokenizer, "low, low, low, low, low, low")
    lines = plain(folded_lines(trace_lines(found), 30)).splitlines()
    assert lines[:3] == [
        "text        low,·low,·low,·",
        "            low,·low,·low",
        "pieces      [low][,][·low][,]",
    ]
    tokens = next(n for n, line in enumerate(lines) if line.startswith("tokens"))
    assert max(map(len, lines[:5] + lines[tokens:])) <= 30
    assert "".join(line[12:] for line in lines[2:5]) == "[low]" + "[,][·low]" * 5
    whole = run(path, "low", "--why", "lo")
    found = run(path, "low", "--why", "lo", env={"COLUMNS": "30"})
    assert max(map(len, found.splitlines())) <= 30 < len(whole)
    assert found.split() == whole.split()
