"""Characters that no token stands for: what views draw, and what metrics count."""

import json
from collections import Counter

import pytest
from hypothesis import given, strategies as st
from tests.commands import run
from tests.made_up import hugging_face, vocabulary

import bytepair
from bytepair import TokenizerError, UnknownTokenError
from bytepair.analyze import (
    compare,
    cut,
    describe,
    diagnose,
    file_sums,
    measure,
    measure_texts,
    stats,
    trace,
    why,
)
from bytepair.analyze._report.draw import render
from bytepair.analyze._show.draw import Shown
from bytepair.analyze._show.layout import Options, cuts_html
from bytepair.analyze._stats.draw import as_lines
from bytepair.segmentation import Segmenter
from bytepair.views._runs import plain

CORPUS = "low low low lower lower newest newest widest"
TEXT = "low naïve löw\nwest سلام 👩‍👩‍👧 é\n"
LETTERS = st.text(alphabet="lowernidst \nïسé\u0301", max_size=30)


def learned(text):
    """Learn codes of subword-nmt."""
    return bytepair.train_from_iterator([text], dialect="subword-nmt", merges=8)


@pytest.fixture(scope="module")
def codes():
    """Give codes of a corpus without umlauts."""
    return learned(CORPUS)


@pytest.fixture(scope="module")
def other():
    """Give codes that know one umlaut."""
    return learned(CORPUS + " löw")


@pytest.fixture(scope="module")
def dropping():
    """Give a tokenizer.json without an unknown token, whose library leaves characters out."""
    vocab = vocabulary(*"lower ", "lo", "low")
    return hugging_face({"vocab": vocab, "merges": ["l o", "lo w"]})


@pytest.fixture
def files(tmp_path, codes):
    """Give the paths of the codes and of a text that they do not encode."""
    codes.save(tmp_path / "codes.bpe", format="subword-nmt")
    (tmp_path / "text.txt").write_text(TEXT, encoding="utf-8")
    return tmp_path / "codes.bpe", tmp_path / "text.txt"


def symbols(codes, text):
    """Give the symbols of each word, as subword-nmt writes them."""
    words: list[list[str]] = [[]]
    for symbol in Segmenter(codes).segment(text).split():
        words[-1].append(symbol.removesuffix("@@"))
        if not symbol.endswith("@@"):
            words.append([])
    return words[:-1]


@given(text=LETTERS)
def test_a_character_without_a_token_is_a_symbol_of_its_own(codes, text):
    """Views and metrics have the symbols of subword-nmt, of which those that encode refuses have no id."""
    words = symbols(codes, text)
    found = cut(codes, text)
    by_piece: list[list[str]] = [[] for _ in range(found.n_pieces)]
    for token in found.tokens:
        by_piece[token.piece].append(found.text[token.start : token.end].decode())
    assert by_piece == words
    traced = trace(codes, text)
    assert [len(piece.ids) for piece in traced.pieces] == [len(word) for word in words]
    ids = [token.id for token in found.tokens]
    assert [max(id_, -1) for id_ in traced.ids] == ids
    n_missing = ids.count(-1)
    total = measure_texts(codes, [text]).total
    assert total.tokens == found.n_tokens == sum(map(len, words))
    assert total.n_missing == found.n_missing == n_missing
    assert total.counts.sum() == total.tokens - n_missing
    texts = Counter(token.content for token in found.tokens if token.kind == "missing")
    assert total.missing == texts
    if n_missing:
        with pytest.raises(UnknownTokenError):
            codes.encode(text)
    else:
        assert codes.encode(text) == ids


def test_what_is_left_out_is_no_token_but_is_counted(dropping, tmp_path):
    """Ids are those of encode, whose neighbours merge, and the missing characters are counted beside them."""
    text = "low löoxw"
    written = [token.written for token in cut(dropping, text).tokens]
    assert dropping.tokenize(text) == written == ["low", " ", "low"]
    path = tmp_path / "text.txt"
    path.write_text(text)
    measured = [measure(dropping, path), measure(dropping, path, lines=True)]
    for found in [*measured, measure_texts(dropping, [text])]:
        assert found.total.tokens == 3
        assert found.total.missing == {"ö".encode(): 1, b"x": 1}
    compared = compare(dropping, dropping, texts=[text]).corpus
    assert (compared.first_tokens, compared.first_missing) == (3, 2)
    [finding] = diagnose(dropping, corpus=path, select=["BP604"]).findings
    told = [(token.text, token.detail) for token in finding.tokens]
    assert told == [("x", "1 time; is dropped"), ("ö", "1 time; is dropped")]


def test_bytes_that_only_broken_text_has_are_counted_where_they_are(tmp_path):
    """A vocabulary of bytes without those that no UTF-8 has leaves them out, and each is counted."""
    own = bytepair.train_from_iterator([CORPUS], vocab_size=260)
    document = json.loads(own.to_bytes(format="huggingface"))
    document["model"]["vocab"].pop("ÿ")  # the byte FF
    document["model"]["unk_token"] = None
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(document))
    tokenizer = bytepair.Tokenizer.from_file(path)
    (tmp_path / "a.txt").write_text("low löw")
    (tmp_path / "b.txt").write_bytes(b"low \xff\xff low")
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    for lines in (False, True):
        found = measure(tokenizer, files, by_file=True, lines=lines)
        assert found.groups["a.txt"].missing == {}
        assert found.groups["b.txt"].missing == {b"\xff": 2}
        assert found.total.tokens == sum(tokenizer.count(f.read_bytes()) for f in files)
    compared = compare(tokenizer, tokenizer, files).corpus
    assert compared.first_missing == compared.second_missing == 2


def test_texts_that_encode_have_no_sign_of_it(codes, tmp_path):
    """No row, key or line tells of missing characters where there are none."""
    path = tmp_path / "text.txt"
    path.write_text("low lower\nwest\n")
    codes.save(tmp_path / "codes.bpe", format="subword-nmt")
    found = stats(codes, path)
    assert not {"missing", "missing_share"} & {row.metric.key for row in found.rows()}
    assert "missing" not in found.to_json()
    compared = compare(codes, codes, path).corpus
    assert (compared.first_missing, compared.second_missing) == (0, 0)
    own = tmp_path / "codes.bpe"
    for command in (["stats", own], ["count-tokens", own], ["compare", own, own]):
        text = run(*command, path).stdout
        assert "without" not in text.replace("are not counted without", "")


def drawn(codes, text):
    """Draw a text in one row."""
    return str(Shown([cut(codes, text)])).splitlines()


def test_show_draws_it_in_braces(codes):
    """Neighbours share the braces, a part of a cluster has its own, and no id is a dash."""
    first, second = drawn(codes, "löïw é سلام")[:2]
    assert first.startswith("9 tokens (7 without an id), 11 characters")
    assert second == "[l]{öï}[w] {é} {سلام}"
    assert drawn(codes, "le\u0301w")[1] == "[l][e\u0301\u2039e|{◌\u0301}\u203a][w]"


def test_show_writes_bytes_and_no_id_below(files):
    """The bytes are those of the text, and the id is a dash or null."""
    text = run("show", files[0], "--ids", "--bytes", "--text", "löïw").stdout
    tokenizer = bytepair.Tokenizer.from_file(files[0])
    first, [last] = tokenizer.token_to_id("l"), tokenizer.encode("w")
    assert text.splitlines()[1:] == [
        "[l]{ö}   {ï}   [w]",
        "6c c3 b6 c3 af 77",
        f"{first}  -     -     {last}",
    ]
    shown = run("show", files[0], "--json", "--text", "ö").stdout
    [token] = json.loads(shown)["groups"][0]["tokens"]
    assert (token["id"], token["kind"]) == (None, "missing")
    assert token["bytes"] == [0xC3, 0xB6]


def test_a_row_with_the_character_differs_from_one_without_it(codes, other):
    """Beside a tokenizer that has a token for it, the character is drawn apart in the one without."""
    rows = [cut(tokenizer, "löw") for tokenizer in (codes, other)]
    lines = str(Shown(rows, ("codes", "other"))).splitlines()
    assert "{ö}" in lines[-2]
    assert "[ö]" in lines[-1]
    first, second = cuts_html(rows, Options())
    assert "bp-missing" in first
    assert "bp-missing" not in second


def test_an_end_mark_without_a_token_has_its_name(tmp_path):
    """Codes of version 0.1 whose merges have no mark: each word ends with one that has no id."""
    path = tmp_path / "codes.bpe"
    path.write_text("a b\n")
    codes = bytepair.Tokenizer.from_file(path)
    assert drawn(codes, "ab é")[1] == "[ab]{</w>} {é}{</w>}"
    text = str(trace(codes, "ab"))
    assert "1 ab {</w>}" in text
    assert "</w>: not in the alphabet" in text
    measured = measure_texts(codes, ["ab é"]).total
    assert measured.missing == {b"</w>": 2, "é".encode(): 1}
    [fragment] = cuts_html([cut(codes, "ab")], Options())
    assert "&lt;/w&gt;: not in the alphabet" in fragment


def test_trace_names_it_with_its_marks(codes):
    """It stands in the row and the tree as the error of encode writes it, and no merge crosses it."""
    text = str(trace(codes, "lowïow é"))
    assert "lo w {ï} o w</w>" in text
    assert "ï: not in the alphabet, so encode refuses the text" in text
    assert "é</w>: not in the alphabet" in text
    assert text.splitlines()[-1].split()[-1] == "-"
    with pytest.raises(UnknownTokenError, match=r'^"é</w>" is not in the alphabet'):
        codes.encode("é")


def test_a_token_around_it_is_not_there(codes):
    """A merge that it keeps apart is answered as such, and one beside it is found."""
    found = trace(codes, "lïo lo")
    assert [answer.verdict for answer in why(codes, found, "lo")] != ["present"]
    assert why(codes, trace(codes, "loï"), "lo")[0].verdict == "present"


def test_metrics_list_it(codes, files):
    """The number, the share and the most frequent ones have rows of their own, by group too."""
    found = stats({"codes": codes}, files[1], segmenter="whitespace", by_file=True)
    total = found.measurements[0].total
    assert found.row("missing").values == (total.n_missing,)
    share = total.n_missing / len(TEXT)
    assert found.row("missing_share", "text.txt").values == (share,)
    rows = found.missing()
    assert rows[0].counts[0] == max(total.missing.values())
    assert sum(row.counts[0] for row in rows) == total.n_missing
    text = plain(as_lines(found, 80))
    assert "\n  characters without a token" in text
    assert "\nCharacters without a token" in text
    assert "codes cannot encode these texts" in text
    assert json.loads(found.to_json())["tokenizers"][0]["missing"]["ï"] == 1


def test_a_word_that_is_one_such_character_is_no_type_in_one_token(codes):
    """Distinct words count if their one token has an id."""
    found = measure_texts(codes, ["low é"], segmenter="whitespace")
    assert (found.word_types.types, found.word_types.whole) == (2, 1)


def test_count_tokens_says_how_many_have_no_id(codes, files):
    """Below the counts is the number, with the most frequent characters; JSON has it by file."""
    [(path, [sums])] = file_sums([codes], files[1])
    first, line = run("count-tokens", *files).stdout.splitlines()
    assert first == f"{sums.tokens} {path}"
    assert line.startswith(f"{sums.n_missing} characters without an id: ")
    found = json.loads(run("count-tokens", *files, "--json").stdout)
    expected = {"codes.bpe": sums.n_missing}
    assert found["missing"] == found["files"][0]["missing"] == expected


def test_compare_counts_it_and_tells_texts_apart(codes, other):
    """A character that only one has a token for is a difference; one that both lack is none."""
    found = compare(codes, other, texts=["löw", "wïw"]).corpus
    assert (found.first_missing, found.second_missing) == (2, 1)
    assert found.first_tokens == found.second_tokens == 6
    assert found.n_changed == 1
    assert found.first_changed.difference.first[0] == "\ufffd"
    assert found.first_changed.difference.second[0] == "ö"


def test_a_report_shows_it(codes, files):
    """The page has the rows, the characters and the finding, and draws the text."""
    page = render(describe({"codes": codes}, files[1]))
    assert "Characters without a token" in page
    assert "bp-missing" in page
    assert "BP604" in page


def test_a_text_that_is_not_utf8_is_still_refused(codes):
    """The error names the place and what to do about the text."""
    for view in (cut, trace):
        with pytest.raises(TokenizerError, match=r"not UTF-8 at byte 4; .* convert"):
            view(codes, b"low \xff")
