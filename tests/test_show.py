"""A text in coloured tokens: where the tokens are, how they are drawn, and the command."""

import html
import json
import re
from html.parser import HTMLParser

import pytest
import regex
from hypothesis import given, strategies as st
from tests import commands
from tests.made_up import (
    CORPUS,
    encoded,
    every_kind,
    hugging_face,
    refused_unit,
    vocabulary,
)
from tests.programs import run_python

import bytepair
from bytepair import TokenizerError, _core, analyze, surgery
from bytepair.analyze import cut
from bytepair.analyze._show.draw import Shown, drawn, shortened
from bytepair.analyze._show.layout import Options, cuts_html, lines_of
from bytepair.views._glyphs import visible, width
from bytepair.views._runs import CSS, plain

WORDS = ["low", " lower", " ", "  ", "\n", "\r\n", "\t", "é", "e\u0301", "ﬁ", "LOW"]
WORDS += ["नमस्ते", "中文字", "👩‍👩‍👧", "🇮🇷", "سلام", "می‌خواهم", "ไทย", "<m>", "<|end|>"]
WORDS += ["\0", "\x1b[31m", "\u202e", "\u0301", "\u00a0", "aaa", "xyz", "12", "▁"]
WORDS += ["[", "]"]
PLAIN_OFFSETS = {"trim": False, "prefix_space": False}
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map("".join)


@pytest.mark.parametrize("name", every_kind())
@given(text=TEXTS)
def test_the_tokens_of_a_cut_are_those_of_the_text(name, text):
    """Ids are those of encode, spans those of offsets, and groups cover the text in order."""
    tokenizer = every_kind()[name]
    expected = encoded(tokenizer, text)
    found = cut(tokenizer, text, allowed_special="all")
    if isinstance(expected, str):
        first = next(token for token in found.tokens if token.kind == "missing")
        assert refused_unit(expected).startswith(first.written)
        assert first.id == -1
        return
    assert found.n_missing == 0
    assert [token.id for token in found.tokens] == expected
    parts = json.loads(tokenizer.to_bytes())
    parts["offsets"] = PLAIN_OFFSETS
    plain_offsets = bytepair.Tokenizer.from_bytes(json.dumps(parts).encode())
    options = {"unit": "bytes", "allowed_special": "all"}
    spans = plain_offsets.encode_full(text, **options).offsets
    assert [(token.start, token.end) for token in found.tokens] == spans
    assert b"".join(found.text[g.start : g.end] for g in found.groups) == text.encode()
    for group in found.groups:
        for token in group.tokens:
            assert group.start <= token.start <= token.end <= group.end


@given(text=st.text(max_size=20) | TEXTS)
def test_groups_begin_and_end_with_whole_characters(text):
    """No border of a group is within a grapheme cluster, as another library finds them."""
    tokenizer = every_kind()["gpt2"]
    borders, place = {0}, 0
    for cluster in regex.findall(r"\X", text):
        place += len(cluster.encode())
        borders.add(place)
        if cluster == "\r\n":
            borders.add(place - 1)
    found = cut(tokenizer, text)
    assert {group.start for group in found.groups} <= borders


def test_bytes_that_are_no_text_are_characters_of_their_own():
    """Broken UTF-8 stays apart from the text around it; a vocabulary of characters refuses it as encode does."""
    found = cut(every_kind()["gpt2"], b"a\xff\xe4\xb8b")
    texts = [found.text[group.start : group.end] for group in found.groups]
    assert texts == [b"a", b"\xff", b"\xe4", b"\xb8", b"b"]
    assert found.n_characters == 5
    assert _core.graphemes("e\u0301中".encode() + b"\xff") == [(3, 1), (6, 2), (7, 0)]
    tokenizer = hugging_face({"vocab": vocabulary("a"), "merges": []})
    with pytest.raises(TokenizerError, match="UTF-8"):
        cut(tokenizer, b"a\xff")


def test_tokens_of_one_character_are_one_group():
    """Also of one that becomes two by normalizing; text without a token, such as white space that is dropped, is a group too."""
    tokenizer = bytepair.train_from_iterator(["x"], vocab_size=256)
    groups = [group.ids for group in cut(tokenizer, "é中").groups]
    assert groups == [(127, 102), tuple(tokenizer.encode("中"))]
    (nfkc,) = (t for name, t in every_kind().items() if "compatibility" in name)
    groups = cut(nfkc, "ﬁ a").groups  # `f` and `i` after NFKC
    assert [[token.written for token in group.tokens] for group in groups] == [
        ["f", "i"],
        [],
        ["a"],
    ]
    found = cut(every_kind()["sennrich"], "low  low")
    gaps = [found.text[g.start : g.end] for g in found.groups if not g.tokens]
    assert gaps
    assert b"".join(gaps).strip() == b""


# Characters


def test_nothing_of_a_text_acts_on_a_terminal():
    """Control characters, escapes and marks of direction are shown and not sent."""
    every = bytes(range(32)) + b"\x7f" + "\u0085\u202e\u2066\u200b\u00a0\ufeff".encode()
    shown = visible(every)
    assert shown.isprintable()
    assert visible("\x1b[31mred") == "␛[31mred"
    assert visible(b"\xff\xc3") == "\\xff\\xc3"


CONTROLS = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]"


@given(text=st.text(max_size=30))
def test_every_text_is_shown_without_control_characters(text):
    """What is drawn has nothing that a terminal would act on."""
    assert not re.search(CONTROLS, visible(text))


INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u17b4\u180e\u200b\u200e\u2060\u3164\ufeff\uffa0\U000e0041"
)


def test_what_has_no_shape_is_written_as_an_escape():
    """Hidden characters are seen behind a letter, alone, and in a row, whatever is asked for."""
    for character in [*INVISIBLE, "\u200c", "\u200d", "\ufe0f", "\U000e0101"]:
        name = character.encode("ascii", "backslashreplace").decode()
        assert visible(f"a{character}") == f"a{name}"
        assert visible(character) == name
    assert visible("😀\ufe0f\ufe00\ufe01") == "😀\ufe0f\\ufe00\\ufe01"
    assert visible("a\u034f\u0301") == "a\\u034f◌\u0301"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("می\u200cخواهم", "می¦خواهم"),
        ("क्\u200dष", "क्⁀ष"),
        ("👩🏽\u200d🚀", "👩🏽⁀🚀"),
        ("❤\ufe0f\u200d🔥", "❤\\ufe0f⁀🔥"),
        ("1\ufe0f\u20e3", "1\\ufe0f◌\u20e3"),
        ("葛\U000e0100", "葛\\U000e0100"),
        (
            "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
            None,
        ),
    ],
)
def test_what_shapes_its_neighbours_is_left_to_them(text, shown):
    """Persian, Devanagari and emoji look as they do; ``spaces`` shows what joins and parts them."""
    assert visible(text) == text
    found = visible(text, spaces=True)
    assert shown is None or found == shown
    assert not set(found) & set("\u200c\u200d\ufe0f\U000e0067\U000e007f")


def test_widths_are_columns_of_a_terminal():
    """Wide characters take two columns, marks none, and a family of emoji two."""
    texts = ["a", "中", "e\u0301", "👩‍👩‍👧", "🇮🇷", "ไท"]
    assert list(map(width, texts)) == [1, 2, 1, 2, 2, 2]


# Drawing


@pytest.fixture(scope="module")
def trained():
    """Give a tokenizer of bytes with `low` and nothing else learned."""
    return bytepair.train_from_iterator(["low lower"], vocab_size=258)


def test_a_text_is_printed_in_brackets(trained):
    """A token that is part of a character stands behind it; so do line ends and tabs."""
    assert str(trained.show("low\té\n中x")) == (
        "9 tokens, 8 characters, 11 bytes, 1.22 bytes per token\n"
        "[low][→][é‹c3|a9›][⏎]\n"
        "[中‹e4|b8|ad›][x]"
    )
    assert str(trained.show("")) == "0 tokens, 0 characters, 0 bytes"


def test_what_is_asked_for_stands_below(trained):
    """Ids and bytes begin below their tokens, and spaces are dots."""
    shown = str(trained.show("low lé", ids=True, bytes=True, spaces=True))
    assert shown.splitlines()[1:] == [
        "[low]    [·] [l][é‹c3|a9›]",
        "6c 6f 77 20  6c c3|a9",
        "257      220 75 127|102",
    ]


def test_notes_of_right_to_left_text_are_a_list(trained):
    """A terminal that reorders a line would move notes away from their tokens."""
    shown = str(trained.show("low ש!\nlow", ids=True, bytes=True))
    assert shown.splitlines()[1:] == [
        "[low][ ][ש‹2›][!][⏎]",
        "  257      6c 6f 77  [low]",
        "  220      20        [ ]",
        "  147|102  d7|a9     [ש‹2›]",
        "  0        21        [!]",
        "  198      0a        [⏎]",
        "[low]",
        "  257  6c 6f 77  [low]",
        "",
        "‹2› 2 tokens that share a character",
    ]


@given(text=st.text(alphabet="לסa \né", max_size=30))
def test_a_list_has_every_token_and_ends_with_its_text(text):
    """Nothing follows right-to-left letters in a line, and the ids are those of encoding."""
    tokenizer = every_kind()["gpt2"]
    shown = str(tokenizer.show(text, ids=True)).splitlines()[1:]
    listed = [line for line in shown if line.startswith("  ")]
    for line in listed:
        assert regex.fullmatch(r"  [\d|]+ +\[.*\]", line), line
    ids = [int(id_) for line in listed for id_ in line.split()[0].split("|")]
    assert ids == (tokenizer.encode(text) if regex.search(r"[לס]", text) else [])


def test_an_unknown_token_has_the_bytes_of_the_text():
    """Its name is not what the text holds."""
    tokenizer = every_kind()["unknown and added"]
    shown = str(tokenizer.show("loé", bytes=True)).splitlines()
    assert shown[1:] == ["[lo]  [é]", "6c 6f c3 a9"]


def test_pieces_are_parted_by_a_line(trained):
    """A line stands where the pattern cuts, and the number of pieces with the counts."""
    shown = str(trained.show("low lower", pieces=True))
    assert shown.splitlines() == [
        "5 tokens, 2 pieces, 9 characters, 9 bytes, 1.80 bytes per token",
        "[low]│[ ][low][e][r]",
    ]


def test_left_out_text_and_tokens_of_no_text_are_drawn():
    """Text without tokens has no brackets; a token without text is drawn as it is written."""
    tokenizer = every_kind()["fallback"]
    assert str(tokenizer.show("low")).splitlines()[1] == "[low]"
    shown = str(every_kind()["sennrich"].show("low low")).splitlines()[1]
    assert " " in re.sub(r"\[[^\]]*\]", "", shown)


def test_rows_of_several_tokenizers_are_lined_up():
    """Text begins in the same column where all rows begin a token."""
    texts = ["low low low", "wer wer", "lower"]
    sizes = (256, 260)
    trained = [bytepair.train_from_iterator(texts, vocab_size=size) for size in sizes]
    cuts = [cut(tokenizer, "lower é") for tokenizer in trained]
    lines = plain(drawn(cuts, ["a", "b"], Options())).splitlines()
    assert lines[0].startswith("1 a  8 tokens")
    assert lines[3:] == [
        "1 [l][o][w][e][r][ ][é‹2›]",
        "2 [low]    [er]  [ ][é‹2›]",
        "",
        "‹2› 2 tokens that share a character",
    ]


@pytest.mark.parametrize("columns", [20, 40, None])
@given(text=TEXTS, names=st.tuples(*[st.sampled_from(sorted(every_kind()))] * 2))
def test_rows_hold_the_text_and_begin_together_where_all_begin_a_token(
    columns, text, names
):
    """No line is wider than the terminal, unless a character's tokens are, and none is lost."""
    try:
        cuts = [cut(every_kind()[name], text) for name in names]
    except TokenizerError:
        return
    options = Options(brackets=False, spaces=True, columns=columns)
    lines = list(lines_of(cuts, options))
    rows = [[line for [line] in row] for row in zip(*lines, strict=True)] or [[], []]
    starts = [starts_of(row) for row in rows]
    for start in starts[0].keys() & starts[1].keys():
        assert starts[0][start] == starts[1][start]
    for row in rows:
        assert "".join(map(text_of, row)) == visible(text, spaces=True)
        for line in row:
            widths = [0]  # of each text with what is small behind it
            for run in line:
                widths += [0] if text_of([run]) else []
                widths[-1] += width(run.text)
            too_wide = columns is not None and sum(widths) > columns
            assert not too_wide or max(widths) > columns // 2


def text_of(line):
    """Give the text of a line without what is small or outside tokens."""
    is_small = {"part", "none"}
    runs = [run for run in line if run.style and not is_small & set(run.style.split())]
    return "".join(run.text for run in runs)


def starts_of(lines):
    """Give the line and the column of each token by the length of the text before it."""
    found, n_before = {}, 0
    for number, line in enumerate(lines):
        column = 0
        for run in line:
            if own := text_of([run]):
                found[n_before] = (number, column)
                n_before += len(own)
            column += width(run.text)
    return found


def test_long_lines_break_at_the_width_of_the_terminal(trained):
    """A line ends where a token does, if one does in its second half."""
    found = cut(trained, "low low low low")
    lines = [plain(rows[0]) for rows in lines_of([found], Options(columns=12))]
    assert lines == ["[low][ ]", "[low][ ]", "[low][ ]", "[low]"]


def test_the_id_of_a_token_with_line_ends_stands_below_its_first_line():
    """Its columns there are as wide as the id needs."""
    tokenizer = bytepair.train_from_counts({"\n\n": 5}, merges=1, pattern="")
    found = cut(tokenizer, "\n\n")
    assert [len(group.ids) for group in found.groups] == [1]
    [token] = found.tokens
    shown = plain(drawn([found], [""], Options(ids=True))).splitlines()[1:]
    assert shown == ["[⏎", str(token.id), "⏎]"]


def test_counts_keep_to_a_narrow_terminal(trained):
    """They go on below, behind the name."""
    cuts = [cut(trained, "low")] * 2
    lines = plain(drawn(cuts, ["a", "b"], Options(columns=30))).splitlines()
    assert lines[:3] == [
        "1 a  1 token, 3 characters, 3",
        "     bytes, 3.00 bytes per",
        "     token",
    ]


# HTML


class Text(HTMLParser):
    """Collects the text of a fragment, without what is written small, and its tags."""

    def __init__(self, fragment):
        super().__init__()
        self.text, self.tags, self.small = "", set(), []
        self.feed(fragment)
        self.close()

    def handle_starttag(self, tag, attributes):
        """Take a tag, and whether its text is small."""
        self.tags.add(tag)
        self.small.append("bp-part" in str(dict(attributes).get("class")))

    def handle_endtag(self, tag):
        """End it."""
        self.small.pop()

    def handle_data(self, data):
        """Take text."""
        if not any(self.small):
            self.text += data


def html_of(found):
    """Draw a cut as HTML."""
    [fragment] = cuts_html([found], Options())
    return fragment


@given(text=TEXTS | st.text(max_size=20))
def test_html_holds_the_text_and_no_tags_of_it(text):
    """All text is escaped, whatever it holds."""
    found = Text(html_of(cut(every_kind()["gpt2"], text)))
    assert found.text == visible(text)
    assert found.tags <= {"div", "span"}


def test_each_line_has_its_direction_in_html(trained):
    """A line without letters has that of the line before it, or else of the first with letters."""
    fragment = html_of(cut(trained, "1\n\nש 2\n 3\n\nlow\n4"))
    found = re.findall(r'bp-line" dir="(rtl|ltr)', fragment)
    assert found == ["rtl", "rtl", "rtl", "rtl", "rtl", "ltr", "ltr"]
    fragment = html_of(cut(trained, "ש\u202e"))
    assert fragment.count('<span class="bp-esc">\\u202e</span>') == 1


def test_special_tokens_are_escaped_in_notebooks():
    """`<|end|>` in a text, found as a token or not, is drawn with its brackets."""
    tokenizer = every_kind()["gpt2"]
    for allowed in ("all", ()):
        shown = tokenizer.show("<|end|><script>", allowed_special=allowed)._repr_html_()
        assert "<script>" not in shown
        assert "<|end|>" not in shown
        assert html.escape("<") in shown
        assert "<style>" + CSS in shown


def test_html_says_ids_and_bytes_where_the_mouse_is(trained):
    """A title names each token of a group; several rows have their names, escaped."""
    fragment = html_of(cut(trained, "é"))
    assert 'title="127: c3\n102: a9"' in fragment
    persian = bytepair.train_from_iterator(["ب ب"], vocab_size=257)
    assert 'title="256: ب (d8 a8)"' in html_of(cut(persian, "ب"))
    shown = Shown([cut(trained, "low")] * 2, ["<a>", "b"])
    assert "&lt;a&gt;: 1 token," in shown._repr_html_()


def test_what_is_asked_for_stands_behind_a_token_in_a_notebook(trained):
    """Ids and bytes act there as below a token in a terminal."""
    shown = trained.show("low", ids=True, bytes=True)._repr_html_()
    assert "> 6c 6f 77 <" in shown
    assert "> 257 <" in shown
    several = trained.show("é", bytes=True)._repr_html_()
    assert several.count("> c3|a9 <") == 1


def test_a_notebook_draws_tokenizers_and_logs(tmp_path):
    """Short in a list, whole below each other, with everything escaped."""
    options = {"merges": 3, "special_tokens": ["<b>"], "log": tmp_path / "log"}
    tokenizer = bytepair.train_from_iterator(CORPUS, **options)
    log = bytepair.read_log(tmp_path / "log")
    assert len(repr(tokenizer)) < 100
    assert "\n" not in repr(tokenizer)
    for table in (tokenizer._repr_html_(), log._repr_html_()):
        assert table.count("bp-line") > 5
        assert "<b>" not in table
    assert "&lt;b&gt;" in tokenizer._repr_html_()


def test_showing_imports_nothing_that_reads_corpora(trained, tmp_path):
    """The first picture of a text in a notebook does not wait for numpy and the readers."""
    program = (
        "import bytepair, sys\n"
        "tokenizer = bytepair.Tokenizer.from_file(sys.argv[1])\n"
        "tokenizer.show('low')._repr_html_()\n"
        "tokenizer.trace('low')._repr_html_()\n"
        "names = {'numpy', 'rich', 'bytepair.data', 'bytepair.analyze.doctor'}\n"
        "sys.exit(' '.join(names & set(sys.modules)) or None)"
    )
    trained.save(tmp_path / "t.json")
    run_python(program, tmp_path / "t.json")


def test_all_names_of_the_analyses_are_there():
    """Each is imported when it is asked for, and no other name is."""
    for name in analyze.__all__:
        assert getattr(analyze, name) is not None
    assert set(analyze.__all__) <= set(dir(analyze))
    with pytest.raises(AttributeError, match="'cuts'"):
        _ = analyze.cuts


# The command


@pytest.fixture
def files(tmp_path, trained):
    """Write two tokenizers and a text."""
    trained.save(tmp_path / "a.json")
    surgery.shorten(trained, 256).save(tmp_path / "b.json")
    (tmp_path / "text.txt").write_text("low low")
    return tmp_path


def show(*arguments, stdin=b"", code=0, env=None):
    """Run the command; give what it wrote."""
    plain_output = dict.fromkeys(["NO_COLOR", "FORCE_COLOR", "COLUMNS"])
    options = {"stdin": stdin, "code": code, "env": {**plain_output, **(env or {})}}
    return commands.run("show", *arguments, **options).output


def test_a_text_a_file_and_standard_input_are_told_from_tokenizers(files):
    """What exists and can be read as a tokenizer is one; the last of the rest is the text."""
    a, b, text = files / "a.json", files / "b.json", files / "text.txt"
    one = "[low][ ][low]"
    assert one in show(a, "low low")
    assert one in show(a, text)
    assert one in show(a, "-", stdin=b"low low")
    assert one in show(a, stdin=b"low low")
    assert one in show(a, "--text", "low low")
    assert "[low]" in show(a, "--text", "low")
    for last in ("low low", text, "-"):
        *_, one, two = show(a, b, last, stdin=b"low low").splitlines()
        assert one == "1 [low]    [ ][low]"
        assert two == "2 [l][o][w][ ][l][o][w]"
    assert "1 a.json" in show(a, b, stdin=b"low")
    assert show(a, "").startswith("0 tokens")


def test_a_text_that_looks_like_a_tokenizer_is_a_text(files, monkeypatch):
    """Formats without a beginning of their own count only where they can be loaded, names only whole."""
    monkeypatch.setenv("BYTEPAIR_ENCODINGS", str(files))
    for encoding, text in (("o200k_base", "gpt-5 is low"), ("r50k_base", "ada")):
        (files / f"{encoding}.tiktoken").touch()
        assert show(files / "a.json", text).startswith(
            f"{len(text) - 2 * text.count('low')} tokens"
        )
    for content in ("\nlow", "low 12\nlow", "low 12 13\nx", '{"low": 1}', "[1]low"):
        (files / "strange.txt").write_text(content)
        assert "[low]" in show(files / "a.json", files / "strange.txt")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.json", "missing.json"], "no such file; to use 'missing.json' itself"),
        (["a.json", "low", "low"], "several words in quotes: 'low low'"),
        (["a.json", "no/file", "low"], "no/file: no such file"),
        (["a.json", "a.json", "text.txt", "text.txt"], "one text at a time"),
        (["low3.1"], "low3.1: no such file or folder; published tokenizers have names"),
        (["cl100k"], "did you mean cl100k_base"),
        (["-"], "'-' is not a tokenizer"),
        ([""], "'' is not a tokenizer"),
        (["a.json", "low", "--text", "x"], "leave out 'low'"),
        (["a.json", "."], "a folder, not a text"),
        (["a.json", "low", "--json", "--ids"], "--ids has no effect on --json"),
        (["a.json", "low", "--allowed-special", "<x>"], "<x>"),
    ],
)
def test_what_is_not_clear_is_refused(files, monkeypatch, arguments, message):
    """The message says what was taken for what, and how to say it clearly."""
    (files / "folder").mkdir()
    monkeypatch.chdir(files)
    arguments = ["folder" if a == "." else a for a in arguments]
    is_usage = "quotes" in message or "one text" in message or "leave" in message
    code = 2 if is_usage or "--json" in arguments else 1
    assert message in show(*arguments, code=code)


def test_a_long_text_is_refused(files):
    """Hundreds of kilobytes cannot be looked at."""
    assert "too many to show" in show(files / "a.json", stdin=b"x" * 200_001, code=1)


def test_colours_are_for_terminals(files):
    """A pipe and NO_COLOR get brackets, FORCE_COLOR the colours of a terminal."""
    forced = {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    coloured = show(files / "a.json", "low low", env=forced)
    assert "\x1b[38;5;16;48;5;153mlow" in coloured
    assert "[low]" not in coloured
    both = show(files / "a.json", "low", env={**forced, "NO_COLOR": "1"})
    assert "[low]" in both
    assert "48;5" not in both
    poor = {**forced, "TERM": "xterm", "COLORTERM": ""}
    few = show(files / "a.json", "low", env=poor)
    assert "[low]" in few  # 16 colours would give neighbours the same
    assert "\x1b" not in few


def test_json_has_all_of_a_cut(files):
    """One object for each tokenizer, with spans of bytes."""
    lines = show(files / "a.json", files / "b.json", "lowé", "--json").splitlines()
    first, second = map(json.loads, lines)
    assert (first["tokens"], second["tokens"], first["bytes"]) == (3, 5, 5)
    same = {"kind": "text", "piece": 0}
    halves = [
        {"id": 127, "token": "Ã", "bytes": [195], "start": 3, "end": 4, **same},
        {"id": 102, "token": "©", "bytes": [169], "start": 4, "end": 5, **same},
    ]
    group = {"text": "é", "start": 3, "end": 5, "tokens": halves}
    assert first["groups"][1] == group


def test_special_tokens_are_found_if_they_are_allowed(tmp_path):
    """As in encode, a special token is text unless it is named."""
    tokenizer = every_kind()["gpt2"]
    tokenizer.save(tmp_path / "t.json")
    path = tmp_path / "t.json"
    assert "[<|end|>]" in show(path, "<|end|>", "--allowed-special", "all")
    assert "[<|end|>]" not in show(path, "<|end|>")


def test_broken_bytes_of_a_file_are_shown(files):
    """A file need not be UTF-8 where the tokenizer works on bytes."""
    (files / "broken").write_bytes(b"low\xff\r\n\tlow")
    shown = show(files / "a.json", files / "broken")
    assert "[low][\\xff][␍][⏎]" in shown
    assert "[→][low]" in shown


@given(name=st.text(max_size=40), n_columns=st.integers(3, 30))
def test_a_long_name_keeps_its_beginning_and_its_end(name, n_columns):
    """Names of models differ at either, so both are seen, in exactly so many columns."""
    shown = visible(name)
    found = shortened(shown, n_columns)
    assert width(found) == n_columns
    if width(shown) > n_columns:
        assert "…" in found
        head, _, tail = found.rstrip().rpartition("…")
        assert shown.startswith(head)
        assert shown.rstrip().endswith(tail.strip())
