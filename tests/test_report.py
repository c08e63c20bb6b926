"""The report: a page that is well formed, small, the same each time, and loads nothing.

One part looks at it in Chromium, where that is installed: see CONTRIBUTING.
"""

import base64
import hashlib
import json
import os
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from tests.programs import run_python

import bytepair
from bytepair import AddedToken, MissingLibraryError
from bytepair.analyze import behaviour, describe, portrait
from bytepair.analyze._report.samples import samples

pytest.importorskip("jinja2", reason="a report needs jinja2")

from tests.commands import refused, run

from bytepair.analyze._report import charts as _charts, vocabulary as _vocabulary
from bytepair.analyze._report.charts import Axis, Series
from bytepair.analyze._report.draw import render
from bytepair.analyze._stats.verdict import verdict_of

HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "]]><!--",
    "{{ 7 * 7 }}{% raw %}",
    "\u202ereversed\u2066",
    "a\x00b\x1b[31m",
    "</style><style>*{display:none}",
]
GROUPS = {
    "en": ["the low tower is lower than the lowest", "123 apples and 4,567 pears"],
    "fa": ["سلام دنیا، می‌خواهم", "زبان فارسی"],
    "hi": ["नमस्ते दुनिया", "हिन्दी भाषा"],
    "th": ["สวัสดีชาวโลก", "ภาษาไทย"],
    "<i>&\u202e": ["👩🏽\u200d🚀 🇳🇵 </script>", "\u0000 \u2028"],
}
VOID = {"meta", "br", "img", "input", "link", "hr"}
TEXTS = ["low lower lowest, 123 a1b", "سلام دنیا नमस्ते สวัสดี 👋🏽 é"] * 3


@pytest.fixture(scope="module")
def small():
    """Give a tokenizer of a few merges, with their counts."""
    return bytepair.train_from_iterator(TEXTS, merges=20, special_tokens=["<|end|>"])


@pytest.fixture
def own(small, tmp_path):
    """Write the tokenizer to a file."""
    small.save(tmp_path / "own.bytepair")
    return tmp_path / "own.bytepair"


@pytest.fixture(scope="module")
def hostile():
    """Give a tokenizer whose tokens try to leave their place in the page."""
    texts = [f"{text} {text}" for text in HOSTILE if text.isprintable()]
    options = {"merges": 300, "special_tokens": [HOSTILE[0], HOSTILE[3]]}
    found = bytepair.train_from_iterator(texts, pattern="", **options)
    return found.with_added_tokens([AddedToken(text) for text in HOSTILE])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write a corpus of groups that say something in their languages, one with broken bytes."""
    path = tmp_path_factory.mktemp("corpus") / "texts.jsonl"
    rows = [{"text": t, "lang": g} for g, texts in GROUPS.items() for t in texts]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def both(small, hostile, corpus):
    """Describe two tokenizers on the corpus."""
    named = {"small": small, "<b>hos\u202etile</b>\n": hostile}
    options = {"group": "lang", "segmenter": "letters"}
    return describe(named, corpus, baseline="en", **options)


class Page(HTMLParser):
    """Reads a page; an element that is closed wrongly is an error."""

    def __init__(self, text):
        super().__init__()
        self.open, self.elements, self.texts = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        """Note an element, which is open unless it has no end."""
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        """Note an element of a drawing, which is closed at once."""
        self.elements.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        """Close the element that is open, or say what is wrong."""
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()}"

    def handle_data(self, data):
        """Note a text."""
        self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag):
        """List the attributes of the elements with a name."""
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        """The text that a reader sees."""
        return "".join(t for tag, t in self.texts if tag not in ("script", "style"))


# The page


def test_the_page_is_well_formed_and_loads_nothing(both):
    """Every element is closed, and nothing in the page names an address or an event."""
    text = render(both)
    page = Page(text)
    for tag, attributes in page.elements:
        assert tag not in ("img", "link", "iframe", "object", "embed", "base", "form")
        assert not [name for name in attributes if name.startswith("on")]
        loading = {"style", "src", "srcset", "action", "background"}
        assert not loading & attributes.keys()
        assert attributes.get("href", "#").startswith("#")
    assert "://" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_the_policy_forbids_the_network_and_all_scripts_but_one(small):
    """The hashes of the policy are those of the script and the styles in the page."""
    text = render(describe({"small": small}))
    metas = {meta.get("http-equiv"): meta for meta in Page(text).of("meta")}
    policy = metas["Content-Security-Policy"]["content"]
    assert policy.startswith("default-src 'none'; ")
    for tag, name in (("script", "script-src"), ("style", "style-src")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy.split("; ")


def test_hostile_tokens_are_text(hostile):
    """Tokens that are HTML, script, templates or control characters are shown, and do nothing."""
    name = "<b>name</b>"
    text = render(describe({f"{name}\u202e\x1b": hostile}))
    page = Page(text)
    assert "alert(1)</script>" not in text
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert not page.of("b")
    assert name in page.text
    assert HOSTILE[0] in page.text
    assert HOSTILE[5].replace(" ", "·") in page.text
    # Joiners of Persian and emoji are within what a reader sees as one sign.
    assert not [c for c in page.text if not (c.isprintable() or c in "\n\u200c\u200d")]


RENDER = """
import bytepair, sys
from bytepair.analyze import describe, render
tokenizer = bytepair.Tokenizer.from_file(sys.argv[1])
sys.stdout.buffer.write(render(describe({"own": tokenizer})).encode())
"""


def test_the_same_tokenizers_give_the_same_bytes(small, tmp_path):
    """Neither the date nor chance nor the order of a table of hashes goes into the page."""
    small.save(tmp_path / "own.bytepair")
    pages = set()
    for seed, zone in (("1", "UTC"), ("2", "Asia/Tehran")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "TZ": zone}
        found = run_python(RENDER, tmp_path / "own.bytepair", env=environment)
        pages.add(found.stdout)
    assert len(pages) == 1


# What the page says


def test_a_portrait_counts_every_token_once(small):
    """Kinds add up to the tokens, lengths to those that are not added."""
    found = portrait(small)
    assert sum(n for _kind, n in found.kinds) == found.n_tokens == len(small)
    assert sum(n for _length, n in found.lengths) == found.n_tokens - found.n_added
    assert dict(found.kinds)["added or unknown"] == 1
    assert dict(found.kinds)["part of a character"] >= 128
    counts = [count for _step, count in found.merge_counts]
    assert counts == [count for *_, count in small.inspect().merge_log]


def test_without_a_corpus_the_page_says_what_needs_one(small, hostile):
    """What is measured on texts is absent, and a section says how to have it; facts stand side by side."""
    page = Page(render(describe({"small": small, "hostile": hostile})))
    for tokenizer in (small, hostile):
        assert tokenizer.fingerprint in page.text
        assert behaviour(tokenizer) in page.text
        assert f"{len(tokenizer):,} tokens" in page.text
    assert "<|end|>" in page.text
    assert "without a corpus" in page.text
    assert "Not shown without a corpus" in page.text
    assert "Rank against frequency" not in page.text
    assert "Bytes per token" not in page.text


def test_metrics_are_those_of_the_corpus(both, small, hostile):
    """Bytes per token of all texts, and of each group, are those that are counted here."""
    text = Page(render(both)).text
    for tokenizer in (small, hostile):
        for texts in [*GROUPS.values(), [t for ts in GROUPS.values() for t in ts]]:
            n_tokens = sum(map(tokenizer.count, texts))
            n_bytes = sum(len(t.encode()) for t in texts)
            assert f"{n_bytes / n_tokens:.3f}" in text
    costs = [sum(map(small.count, texts)) for texts in GROUPS.values()]
    differences = sum(abs(a - b) for a in costs for b in costs)
    gini = differences / (2 * len(costs) * sum(costs))
    assert f"{100 * gini:.2f} %" in text
    assert verdict_of(both.stats)[0] in text


def test_groups_have_bars_as_long_as_their_values(both):
    """The largest value of a table has a bar of the whole width, others their share of it."""
    _, _, behind = render(both).partition("Premium over the baseline</bdi></h3>")
    table = behind.partition("</table>")[0]
    bar = r'data-value="([\d.]+)"><div class="with-bar">.*?width="([\d.]+)"'
    found = re.findall(bar, table)
    assert len(found) == 2 * len(GROUPS)
    most = max(float(value) for value, _ in found)
    for value, width in found:
        assert float(width) == pytest.approx(100 * float(value) / most, abs=0.06)


def test_standard_input_is_measured_as_a_file_is(own, corpus):
    """Its page is that of a file with its name and content, no copy of it is left, and errors name it."""
    content = corpus.read_bytes()
    (own.parent / "standard input").write_bytes(content)
    output = ["-o", own.parent / "page.html"]
    lines = ["--input-format", "jsonl"]
    pages = []
    for name in ("-", own.parent / "standard input"):
        run("report", own, name, *output, *lines, "--group", "lang", stdin=content)
        pages.append((own.parent / "page.html").read_text())
    assert pages[0] == pages[1]
    assert "5 groups" in pages[0]
    message = refused("report", own, "-", *output, *lines, stdin=b"{")
    assert message.startswith("-, line 1: ")
    assert "named twice" in refused("report", own, "-", "-", *output, stdin=b"low")


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_a_corpus_without_text_has_a_page(content, small, tmp_path):
    """Nothing is divided by nothing: what does not exist is a dash, and no sample is made up."""
    path = tmp_path / "texts.txt"
    path.write_text(content)
    page = render(describe({"small": small}, path, segmenter="letters"))
    text = Page(page).text
    assert "The corpus has no text to show." in text
    assert "<bdi>-</bdi>" in page
    assert not re.search(r"\bnan\b|\binf\b", text)


def test_of_many_groups_the_largest_are_shown(small, tmp_path):
    """A page of hundreds of groups stays small, and says how many there are."""
    rows = [{"text": "low " * n, "lang": f"group {n}"} for n in range(1, 101)]
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    text = render(describe({"small": small}, path, group="lang"))
    assert ">group 41<" in text
    assert ">group 40<" not in text
    assert "The 60 groups with the most bytes are shown, of 100." in text
    assert len(text) < 500_000


def test_samples_hold_the_ids_of_the_texts(both, small, hostile):
    """The ids of the coloured tokens are those that encoding gives, group by group."""
    text = render(both)
    drawn = re.findall(r'<div class="bp-text".*?</div>', text, re.DOTALL)
    titles = [re.findall(r'title="([^"]*)"', one) for one in drawn]
    lines = [[line for title in one for line in title.split("\n")] for one in titles]
    ids = [[int(line.split(":")[0]) for line in one] for one in lines]
    texts = [some[0].rstrip() for some in GROUPS.values()]
    expected = [t.encode(text) for text in texts for t in (small, hostile)]
    assert sorted(ids) == sorted(expected)


def test_a_tokenizer_that_cannot_encode_a_sample_says_why():
    """The others are drawn, and its error stands where its tokens would."""
    strict = bytepair.train_from_iterator(["low"], merges=1, dialect="subword-nmt")
    own = bytepair.train_from_iterator(["low"], merges=1)
    drawn = samples([strict, own], {"broken": b"low \xff"})
    report = replace(describe({"strict": strict, "own": own}), samples=drawn)
    text = Page(render(report)).text
    assert "cannot encode it" in text
    assert "not UTF-8 at byte 4" in text


def test_findings_are_those_of_the_doctor(hostile):
    """Each finding has its code, its number and its sentence, and names its first tokens."""
    many = hostile.with_added_tokens([f"<{n}>" for n in range(30)])
    found = describe({"many": many})
    page = Page(render(found))
    text, findings = page.text, found.subjects[0].diagnosis.findings
    links = [link["href"] for link in page.of("a") if link["href"].startswith("#BP")]
    assert links == [f"#{finding.code}" for finding in findings]
    assert {link[1:] for link in links} <= {one.get("id") for one in page.of("div")}
    for finding in findings:
        assert finding.code in text
        assert f"{finding.count:,}" in text
    n_listed = _vocabulary.N_TOKENS
    assert max(finding.count for finding in findings) > n_listed
    assert f"The first {n_listed} are listed." in text


def test_a_merge_log_becomes_a_curve(tmp_path):
    """The page draws bytes per token against vocabulary size for each log by its name."""
    path = tmp_path / "run.jsonl"
    own = bytepair.train_from_iterator(TEXTS, merges=20, log=path)
    found = describe({"own": own}, logs={"run <1>": bytepair.read_log(path)})
    text = render(found)
    assert found.curves[0].points[0] == (256, 1.0)
    assert "Compression in training" in text
    assert "run &lt;1&gt;" in text


# Charts


def test_a_curve_keeps_its_ends_and_its_order():
    """Of many points few stay; the first and the last do, and numbers grow to the right and up."""
    points = [(n, n * n) for n in range(1, 50_001)]
    drawn = _charts.lines([Series("a", points)], "x", Axis("y", is_log=True))
    (path,) = re.findall(r'class="s0" d="M([^"]*)"', drawn)
    places = [tuple(map(float, place.split())) for place in path.split("L")]
    assert len(places) <= _charts.MAX_POINTS + 1
    assert places == sorted(places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)
    assert places[0] == (_charts.LEFT, _charts.BOTTOM)
    assert places[-1] == (_charts.RIGHT, _charts.TOP)


def test_a_scale_of_powers_leaves_out_what_has_no_place_on_it():
    """Zeros are drawn on no scale of powers, and a chart without points is no chart."""
    up = Axis("y", is_log=True)
    assert _charts.lines([Series("a", [(0, 5), (5, 0)])], "x", up) == ""
    assert _charts.lines([], "x", up) == ""
    assert "<circle" in _charts.lines([Series("a", [(1, 5)])], "x", up)


# The command


def test_the_command_writes_the_page(small, own, corpus):
    """The file is what ``render`` gives; what is no tokenizer is the corpus, with groups of the field that is named."""
    target = own.parent / "report.html"
    found = run("report", own, "-o", target)
    assert found.stderr == f"saved: {target}\n"
    report = describe({own.name: small}, files={own.name: own})
    assert target.read_text(encoding="utf-8") == render(report)
    run("report", own, corpus, "--group", "lang", "-o", target)
    text = Page(target.read_text("utf-8")).text
    assert "10 documents" in text
    assert "Grouped by lang" in text
    assert "No Gini coefficient" in text


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("report.pdf", [], "report.pdf"),
        ("report", [], "report"),
        ("missing/report.html", [], "missing"),
        ("r.html", ["--group", "lang"], "--group needs a corpus"),
        ("r.html", ["--by-file"], "--by-file needs a corpus"),
        ("r.html", ["--field", "body"], "--field needs a corpus"),
        ("r.html", ["--field", "text"], "--field needs a corpus"),
    ],
)
def test_what_cannot_be_written_or_would_be_idle_is_refused(
    name, options, message, own
):
    """A name that is no page's, a folder that is absent, and options that say how to read nothing."""
    target = own.parent / name
    code = 2 if options else 1
    assert message in refused("report", own, *options, "-o", target, code=code)
    assert not target.exists()


def test_a_missing_library_is_named_with_what_to_install(small, tmp_path, monkeypatch):
    """Without jinja2 the error says which extra has it."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'bytepair\[report\]'"):
        render(describe({"small": small}))


# In a browser


@pytest.fixture(scope="module")
def page_path(both, tmp_path_factory):
    """Write a page with all that can be in one."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(both), "utf-8")
    return path


@pytest.fixture
def opened(browser):
    """Give a function that opens a page, and the list of what its window complains of and asks for."""
    faults, contexts = [], []

    def away(request):
        if not request.url.startswith("file:"):
            faults.append(request.url)

    def open_page(path, *, width=1280, theme="light"):
        size = {"width": width, "height": 800}
        contexts.append(browser.new_context(viewport=size, color_scheme=theme))
        page = contexts[-1].new_page()
        page.on("console", lambda message: faults.append(message.text))
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", away)
        page.goto(path.as_uri())
        return page

    open_page.faults = faults
    yield open_page
    for context in contexts:
        context.close()


def theme_of(page):
    """Give the theme in which the page is drawn."""
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
    return "dark" if lightness < 128 else "light"


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_the_page_loads_without_an_error_at_every_size(
    width, theme, opened, page_path, tmp_path
):
    """The console stays empty, unlike that of a bad page, and nothing but tables is wider than the window."""
    page = opened(page_path, width=width, theme=theme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert theme_of(page) == theme
    assert opened.faults == []
    bad = tmp_path / "bad.html"
    bad.write_text("<!doctype html><script>throw Error('no')</script><img src=x.png>")
    opened(bad)
    assert "no" in opened.faults


@pytest.mark.slow
def test_lines_and_runs_of_spaces_stay_where_they_belong(opened, small, tmp_path):
    """Blank lines of Persian stand on the right, those of English on the left; spaces are wrapped."""
    (tmp_path / "texts.txt").write_text(f"سلام\n\n12\n\nlow\n\n{' ' * 200}x")
    path = tmp_path / "page.html"
    path.write_text(render(describe({"small": small}, tmp_path / "texts.txt")), "utf-8")
    code = """() => {
      const text = document.querySelector(".bp-text"), box = text.getBoundingClientRect();
      const ends = [...text.querySelectorAll(".bp-end")].map((end) => end.getBoundingClientRect());
      const rights = [...text.querySelectorAll(".bp-t")].map((t) => t.getBoundingClientRect().right);
      return [ends.map((end) => end.right > box.left + box.width / 2), text.scrollWidth <= text.clientWidth,
        rights.every((right) => right <= box.right + 1)];
    }"""
    is_right = [True, True, True, True, False, False]
    assert opened(path, width=390).evaluate(code) == [is_right, True, True]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_numbers_are_not_broken_into_lines(opened, small, hostile, tmp_path, width):
    """A long name beside a number gives way to it."""
    name = "a very_long.name_of_a_tokenizer"
    path = tmp_path / "page.html"
    report = describe({name: small, f"{name}1": hostile})
    path.write_text(render(report), "utf-8")
    page = opened(path, width=width)
    rectangles = "(all) => all.map((b) => [b.getClientRects().length, b.getBoundingClientRect().height])"
    found = page.locator(".card li > b").evaluate_all(rectangles)
    assert {n_lines for n_lines, _height in found} == {1}
    found = page.locator(".card ul:not(.words) li > b").evaluate_all(rectangles)
    assert max(height for _n_lines, height in found) < 30


@pytest.mark.slow
def test_the_switch_overrules_the_system(opened, page_path):
    """A click goes from the system's theme to light, to dark, and back."""
    page, found = opened(page_path, theme="dark"), []
    for _ in range(4):
        found.append(theme_of(page))
        page.evaluate("document.getElementById('theme').click()")
    assert found == ["dark", "light", "dark", "dark"]


@pytest.mark.slow
def test_a_click_on_a_heading_sorts_the_table(opened, page_path):
    """Numbers are sorted as numbers, from large to small first, then the other way."""
    page = opened(page_path)
    click = "document.querySelector('table.sortable th.num button').click()"
    column = """() => {
      const table = document.querySelector("table.sortable"), place = table.querySelector("th.num").cellIndex;
      return [...table.tBodies[0].rows].map((row) => Number(row.cells[place].dataset.value));
    }"""
    before = page.evaluate(column)
    page.evaluate(click)
    assert page.evaluate(column) == sorted(before, reverse=True)
    page.evaluate(click)
    assert page.evaluate(column) == sorted(before)
    assert len(set(before)) > 2


@pytest.mark.slow
def test_a_token_that_is_pointed_at_shows_its_ids_and_bytes(opened, page_path, small):
    """The ids and bytes appear, all tokens alike are marked, and leaving hides them."""
    page = opened(page_path)
    token, seen = page.locator(".bp-t").first, page.locator("#seen")
    token.dispatch_event("pointerover")
    told = seen.inner_text()
    assert small.token_bytes(int(told.split(":")[0])).hex(" ") in told
    assert token.evaluate("(token) => token.classList.contains('on')")
    page.locator("body").dispatch_event("pointerdown")
    assert seen.is_hidden()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("direction", "go", "back"),
    [("ltr", "ArrowRight", "ArrowLeft"), ("rtl", "ArrowLeft", "ArrowRight")],
)
def test_arrow_keys_go_through_the_tokens_of_a_text(
    opened, page_path, direction, go, back
):
    """To the right goes on in English and back in Persian, and Escape hides what is shown."""
    page = opened(page_path)
    text, found = page.locator(f".bp-text:dir({direction})").first, []
    on = "(text) => [...text.querySelectorAll('.bp-t')].findIndex((t) => t.classList.contains('on'))"
    for key in (go, go, back, back):
        text.dispatch_event("keydown", {"key": key})
        found.append(text.evaluate(on))
    assert found == [0, 1, 0, 0]
    text.dispatch_event("keydown", {"key": "Escape"})
    assert page.locator("#seen").is_hidden()


@pytest.mark.slow
def test_text_from_right_to_left_stands_on_the_right(opened, page_path):
    """Persian samples have their direction, others theirs."""
    code = """(all) => all.map((sample) =>
      [sample.querySelector("h3").innerText, sample.querySelector(".bp-text").matches(":dir(rtl)")])"""
    found = dict(opened(page_path).locator(".sample").evaluate_all(code))
    assert found["fa"] is True
    assert found["en"] is found["th"] is False


@pytest.mark.slow
def test_the_page_is_printed_with_all_that_is_folded(opened, page_path):
    """A print has what details hide, in light colours whatever the theme."""
    page = opened(page_path, theme="dark")
    page.evaluate(
        """() => addEventListener("beforeprint", () => {
          globalThis.nFolded = document.querySelectorAll("details:not([open], .caveat)").length; })"""
    )
    assert page.pdf().startswith(b"%PDF")
    assert page.evaluate("nFolded") == 0
    assert page.locator("details.finding:not([open])").count() > 0
    page.emulate_media(media="print")
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert colour == "rgb(255, 255, 255)"
