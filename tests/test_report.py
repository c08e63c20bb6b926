"""The report: a page that is well formed, small, the same each time, and loads nothing.

One part looks at it in Chromium, where that is installed: see CONTRIBUTING.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import count

import pytest

import bytepair
from bytepair import AddedToken, MissingLibraryError
from bytepair.analyze import describe, portrait
from bytepair.analyze._samples import Text, samples

fcntl = pytest.importorskip("fcntl", reason="pipes of a browser have numbers on Unix")
pytest.importorskip("jinja2", reason="a report needs jinja2")
testing = pytest.importorskip("typer.testing", reason="runs the command line")

from bytepair.cli.app import app  # noqa: E402 -- needs typer
from bytepair.views.report import _charts, _findings, render  # noqa: E402 -- needs jinja2
from bytepair.views.report._charts import Axis, Series  # noqa: E402

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


@pytest.fixture(scope="module")
def hostile():
    """Give a tokenizer whose tokens try to leave their place in the page."""
    texts = [f"{text} {text}" for text in HOSTILE if text.isprintable()]
    found = bytepair.train_from_iterator(
        texts, merges=300, pattern="", special_tokens=[HOSTILE[0], HOSTILE[3]]
    )
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
    return describe(
        named, corpus, group="lang", parallel=True, baseline="en", segmenter="letters"
    )


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


def run(*arguments):
    """Run a command, and give its outcome."""
    return testing.CliRunner().invoke(app, list(map(str, arguments)))


# The page


def test_the_page_is_well_formed_and_loads_nothing(both):
    """Every element is closed, and nothing in the page names an address or an event."""
    text = render(both)
    page = Page(text)
    assert [tag for tag, _ in page.elements].count("script") == 1
    assert [tag for tag, _ in page.elements].count("style") == 1
    for tag, attributes in page.elements:
        assert tag not in ("img", "link", "iframe", "object", "embed", "base", "form")
        assert not [name for name in attributes if name.startswith("on")]
        assert (
            not {"style", "src", "srcset", "action", "background"} & attributes.keys()
        )
        assert attributes.get("href", "#").startswith("#")
    assert "://" not in text
    assert "url(" not in text
    assert "@import" not in text


def test_the_policy_forbids_the_network_and_all_scripts_but_one(small):
    """The hashes of the policy are those of the script and the styles in the page."""
    text = render(describe({"small": small}))
    (policy,) = [
        meta["content"]
        for meta in Page(text).of("meta")
        if meta.get("http-equiv") == "Content-Security-Policy"
    ]
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
    joiners = (
        "\u200c\u200d"  # of Persian and emoji, within what a reader sees as one sign
    )
    assert not [c for c in page.text if not c.isprintable() and c not in "\n" + joiners]


def test_the_same_tokenizers_give_the_same_bytes(small, tmp_path):
    """Neither the date nor chance nor the order of a table of hashes goes into the page."""
    small.save(tmp_path / "own.bytepair")
    code = (
        "import bytepair\nfrom bytepair.analyze import describe\n"
        "from bytepair.views.report import render\n"
        "import sys; t = bytepair.Tokenizer.from_file(sys.argv[1])\n"
        "sys.stdout.buffer.write(render(describe({'own': t})).encode())"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "own.bytepair")]
    pages = {
        subprocess.run(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed, "TZ": zone},
            capture_output=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tehran"))
    }
    assert len(pages) == 1


# What the page says


def test_a_portrait_counts_every_token_once(small):
    """Kinds add up to the tokens, lengths to those that are not added."""
    found = portrait(small)
    assert sum(n for _kind, n in found.kinds) == found.n_tokens == len(small)
    assert sum(n for _length, n in found.lengths) == found.n_tokens - found.n_added
    assert dict(found.kinds)["added or unknown"] == 1
    assert dict(found.kinds)["part of a character"] >= 128
    assert [count for _step, count in found.merge_counts] == [
        count for *_, count in small.merge_log
    ]


def test_the_facts_of_each_tokenizer_stand_side_by_side(small, hostile):
    """Sizes, fingerprints, special tokens and what is lost are in the page."""
    page = Page(render(describe({"first": small, "second": hostile})))
    for tokenizer in (small, hostile):
        assert tokenizer.fingerprint in page.text
        assert f"{len(tokenizer):,} tokens" in page.text
    assert "<|end|>" in page.text


def test_without_a_corpus_the_page_says_what_needs_one(small):
    """What is measured on texts is absent, and a section says how to have it."""
    page = Page(render(describe({"small": small})))
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
            assert f"{n_bytes / n_tokens:.2f}" in text
    costs = [sum(map(small.count, texts)) for texts in GROUPS.values()]
    differences = sum(abs(a - b) for a in costs for b in costs)
    gini = differences / (2 * len(costs) * sum(costs))
    assert f"{gini:.1%}" in text


def test_groups_have_bars_as_long_as_their_values(both):
    """The largest value of a table has a bar of the whole width, others their share of it."""
    table = (
        render(both)
        .split("Premium over the baseline</bdi></h3>")[1]
        .split("</table>")[0]
    )
    found = re.findall(
        r'data-value="([\d.]+)"><div class="with-bar">.*?width="([\d.]+)"', table
    )
    assert len(found) == 2 * len(GROUPS)
    most = max(float(value) for value, _ in found)
    for value, width in found:
        assert float(width) == pytest.approx(100 * float(value) / most, abs=0.06)


def test_standard_input_is_measured_as_a_file_is(small, corpus, tmp_path):
    """Its page is that of a file with its name and content, and no copy of it is left."""
    small.save(tmp_path / "t.json")
    (tmp_path / "standard input").write_bytes(corpus.read_bytes())
    pages = []
    for name in ("-", tmp_path / "standard input"):
        output = tmp_path / "page.html"
        found = testing.CliRunner().invoke(
            app,
            [
                *("report", str(tmp_path / "t.json"), str(name), "-o", str(output)),
                *("--input-format", "jsonl", "--group", "lang"),
            ],
            input=corpus.read_bytes(),
        )
        assert found.exit_code == 0, found.output
        pages.append(output.read_text())
    assert pages[0] == pages[1]
    assert "5 groups" in pages[0]


def test_errors_of_standard_input_name_it(small, tmp_path):
    """A user has not seen the copy."""
    small.save(tmp_path / "t.json")
    arguments = [
        "report",
        str(tmp_path / "t.json"),
        "-",
        "-o",
        str(tmp_path / "p.html"),
    ]
    broken = [*arguments, "--input-format", "jsonl"]
    found = testing.CliRunner().invoke(app, broken, input=b"{")
    assert found.stderr.startswith("bytepair: -, line 1: "), found.stderr
    found = testing.CliRunner().invoke(app, [*arguments, "-"], input=b"low")
    assert "named twice" in found.stderr


@pytest.mark.parametrize("content", ["", " \n\n"])
def test_a_corpus_without_text_has_a_page(content, small, tmp_path):
    """Nothing is divided by nothing: what does not exist is a dash, and no sample is made up."""
    path = tmp_path / "texts.txt"
    path.write_text(content)
    text = Page(render(describe({"small": small}, path, segmenter="letters"))).text
    assert "The corpus has no text to show." in text
    assert "—" in text
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
    ids = [
        [
            int(n)
            for part in re.findall(r'data-ids="([^"]*)"', one)
            for n in part.split(",")
        ]
        for one in drawn
    ]
    assert len(ids) == 2 * len(GROUPS)
    order = sorted(GROUPS, key=lambda g: (-len("".join(GROUPS[g]).encode()), g))
    expected = [
        t.encode(GROUPS[g][0].rstrip()) for g in order for t in (small, hostile)
    ]
    assert sorted(ids) == sorted(expected)


def test_a_tokenizer_that_cannot_encode_a_sample_says_why():
    """The others are drawn, and its error stands where its tokens would."""
    strict = bytepair.train_from_iterator(["low"], merges=1, dialect="subword-nmt")
    own = bytepair.train_from_iterator(["low"], merges=1)
    drawn = samples([strict, own], [Text("broken", b"low \xff")])
    report = replace(describe({"strict": strict, "own": own}), samples=drawn)
    text = Page(render(report)).text
    assert "cannot encode it" in text
    assert "not UTF-8 at byte 4" in text


def test_findings_are_those_of_the_doctor(hostile):
    """Each finding has its code, its number and its sentence, and names its first tokens."""
    found = describe({"hostile": hostile})
    text = Page(render(found)).text
    findings = found.subjects[0].diagnosis.findings
    assert findings
    for finding in findings:
        assert finding.code in text
        assert f"{finding.count:,}" in text
        n_more = finding.count - _findings.N_TOKENS
        assert n_more <= 0 or f"and {n_more:,} more" in text


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
    points = [(n, n * n) for n in range(1, 50_000)]
    drawn = _charts.lines([Series("a", points)], Axis("x"), Axis("y"), "label")
    (path,) = re.findall(r'class="s0" d="M([^"]*)"', drawn)
    places = [tuple(map(float, place.split())) for place in path.split("L")]
    assert len(places) <= _charts.MAX_POINTS + 1
    assert places == sorted(places)
    assert [y for _, y in places] == sorted((y for _, y in places), reverse=True)
    left, _top, right, bottom = _charts.FRAME
    assert places[0] == (left, bottom)
    assert places[-1][0] == right


def test_a_scale_of_powers_leaves_out_what_has_no_place_on_it():
    """Zeros are drawn on no scale of powers, and a chart without points is no chart."""
    x, y = Axis("x", is_log=True), Axis("y", is_log=True)
    assert _charts.lines([Series("a", [(0, 5), (5, 0)])], x, y, "label") == ""
    assert _charts.lines([], x, y, "label") == ""
    assert "<circle" in _charts.lines([Series("a", [(1, 5)])], x, y, "label")


# The command


def test_the_command_writes_the_page(small, tmp_path):
    """The file is what ``render`` gives for the same tokenizers."""
    small.save(tmp_path / "own.bytepair")
    found = run("report", tmp_path / "own.bytepair", "-o", tmp_path / "report.html")
    assert found.exit_code == 0, found.stderr
    assert found.stderr == f"saved: {tmp_path / 'report.html'}\n"
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    named = {"own.bytepair": small}
    path = tmp_path / "own.bytepair"
    assert text == render(describe(named, files=dict.fromkeys(named, path)))


@pytest.mark.parametrize("name", ["report.pdf", "report", "missing/report.html"])
def test_a_page_that_cannot_be_written_is_refused_first(name, small, tmp_path):
    """What the name says is no page, or a folder that is absent, ends the command before work."""
    small.save(tmp_path / "own.bytepair")
    found = run("report", tmp_path / "own.bytepair", "-o", tmp_path / name)
    assert found.exit_code == 1
    assert str((tmp_path / name).parent if "missing" in name else name) in found.stderr
    assert not (tmp_path / name).exists()


def test_the_corpus_of_the_command_is_behind_the_tokenizers(small, corpus, tmp_path):
    """What is no tokenizer is the corpus; groups are those of the field that is named."""
    small.save(tmp_path / "own.bytepair")
    target = tmp_path / "report.html"
    typed = ["--group", "lang", "--quiet", "-o", target]
    found = run("report", tmp_path / "own.bytepair", corpus, *typed)
    assert found.exit_code == 0, found.stderr
    page = Page(target.read_text("utf-8"))
    assert "10 documents" in page.text
    assert "Grouped by lang" in page.text
    assert "No Gini coefficient" in page.text


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--group", "lang"], "--group needs a corpus"),
        (["--by-file"], "--by-file needs a corpus"),
        (["--field", "body"], "--field needs a corpus"),
        (["--field", "text"], "--field needs a corpus"),
    ],
)
def test_what_would_be_idle_is_refused(typed, message, small, tmp_path):
    """An option that says how to read needs something to read."""
    small.save(tmp_path / "own.bytepair")
    found = run("report", tmp_path / "own.bytepair", *typed, "-o", tmp_path / "r.html")
    assert found.exit_code == 1
    assert message in found.stderr


def test_a_missing_library_is_named_with_what_to_install(small, tmp_path, monkeypatch):
    """Without jinja2 the error says which extra has it."""
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'bytepair\[report\]'"):
        render(describe({"small": small}))


# In a browser


def chromium():
    """Give the path of Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


class Browser:
    """Chromium without a window, which is told what to do through pipes."""

    def __init__(self, path, folder):
        to_read, write = os.pipe()
        read, to_write = os.pipe()
        arguments = [
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-background-networking",
            "--no-first-run",
            f"--user-data-dir={folder}",
            "--remote-debugging-pipe",
        ]
        # The browser reads from its descriptor 3 and writes to its 4.
        code = (
            "import os, sys; reads, writes = map(int, sys.argv[1:3])\n"
            "os.dup2(reads, 3); os.dup2(writes, 4); os.execv(sys.argv[3], sys.argv[3:])"
        )
        theirs = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_read, to_write)]
        numbers = list(map(str, theirs))
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *numbers, path, *arguments],
            pass_fds=theirs,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for end in (to_read, to_write, *theirs):
            os.close(end)
        self.input, self.output = os.fdopen(write, "wb"), os.fdopen(read, "rb")
        self.numbers, self.rest, self.events = count(1), b"", []
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **arguments):
        """Call a method, and give its result; events that come meanwhile are kept."""
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": arguments}
        if self.session:
            message["sessionId"] = self.session
        self.input.write(json.dumps(message).encode() + b"\0")
        self.input.flush()
        while True:
            found = self.message()
            if found.get("id") == number:
                assert "error" not in found, found
                return found["result"]

    def message(self):
        """Read what comes next."""
        while b"\0" not in self.rest:
            block = os.read(self.output.fileno(), 1 << 16)
            assert block, "the browser has ended"
            self.rest += block
        message, _, self.rest = self.rest.partition(b"\0")
        found = json.loads(message)
        if "method" in found:
            self.events.append(found)
        return found

    def open(self, path, width=1280, height=800, theme="light"):
        """Open a page at a size, and wait until it is there."""
        self.events.clear()
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.call("Emulation.setEmulatedMedia", features=features)
        self.call("Page.navigate", url=path.as_uri())
        while not any(e["method"] == "Page.loadEventFired" for e in self.events):
            self.message()

    def ask(self, expression):
        """Give the value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def complaints(self):
        """List what the console says, and what was asked for on the network."""
        self.ask("0")
        return [
            event
            for event in self.events
            if event["method"]
            in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded")
            or (
                event["method"] == "Network.requestWillBeSent"
                and not event["params"]["request"]["url"].startswith("file:")
            )
        ]

    def close(self):
        """End the browser."""
        self.input.close()
        self.output.close()
        self.process.kill()
        self.process.wait()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """Begin Chromium once for all tests."""
    path = chromium()
    if path is None:
        pytest.skip("Chromium is not installed; CONTRIBUTING says how to get it")
    found = Browser(path, tmp_path_factory.mktemp("profile"))
    yield found
    found.close()


@pytest.fixture(scope="module")
def page_path(both, tmp_path_factory):
    """Write a page with all that can be in one."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(both), "utf-8")
    return path


def test_the_browser_tells_of_errors(browser, tmp_path):
    """What the next tests find none of is found on a page that has it."""
    path = tmp_path / "bad.html"
    path.write_text("<!doctype html><script>throw Error('no')</script><img src=x.png>")
    browser.open(path)
    assert browser.complaints()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 820, 1440])
def test_the_page_loads_without_an_error_at_every_size(
    width, theme, browser, page_path
):
    """The console stays empty, and nothing but tables is wider than the window."""
    browser.open(page_path, width=width, theme=theme)
    assert browser.complaints() == []
    assert browser.ask("document.documentElement.scrollWidth") <= width
    assert theme_of(browser) == theme


def theme_of(browser):
    """Give the theme in which the page is drawn."""
    colour = browser.ask("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
    return "dark" if lightness < 128 else "light"


def test_lines_and_runs_of_spaces_stay_where_they_belong(browser, small, tmp_path):
    """Blank lines of Persian stand on the right, those of English on the left; spaces are wrapped."""
    (tmp_path / "texts.txt").write_text(f"سلام\n\n12\n\nlow\n\n{' ' * 200}x")
    path = tmp_path / "page.html"
    path.write_text(render(describe({"small": small}, tmp_path / "texts.txt")), "utf-8")
    browser.open(path, width=390)
    code = (
        "(() => { const text = document.querySelector('.bp-text'), box = text.getBoundingClientRect();"
        "const ends = [...text.querySelectorAll('.bp-end')].map((end) => end.getBoundingClientRect());"
        "return [ends.map((end) => end.right > box.left + box.width / 2), text.scrollWidth <= text.clientWidth,"
        "[...text.querySelectorAll('.bp-t')].every((t) => t.getBoundingClientRect().right <= box.right + 1)]; })()"
    )
    is_right = [True, True, True, True, False, False]
    assert browser.ask(code) == [is_right, True, True]


def test_numbers_are_not_broken_into_lines(browser, small, hostile, tmp_path):
    """A long name beside a number gives way to it."""
    names = {
        f"a very_long.name_of_a_tokenizer{n}": t for n, t in enumerate([small, hostile])
    }
    path = tmp_path / "page.html"
    path.write_text(render(describe(names)), "utf-8")
    for width in (390, 768, 1280):
        browser.open(path, width=width)
        code = "[...document.querySelectorAll('.card li > b')].map((b) => b.getClientRects().length)"
        numbers = ".card ul:not(.words) li > b"
        high = f"[...document.querySelectorAll('{numbers}')].map((b) => b.getBoundingClientRect().height)"
        assert set(browser.ask(code)) == {1}
        assert max(browser.ask(high)) < 30


def test_the_switch_overrules_the_system(browser, page_path):
    """A click goes from the system's theme to light, to dark, and back."""
    browser.open(page_path, theme="dark")
    browser.ask("localStorage.removeItem('bytepair-theme')")
    browser.open(page_path, theme="dark")
    found = []
    for _ in range(4):
        found.append(theme_of(browser))
        browser.ask("document.getElementById('theme').click()")
    assert found == ["dark", "light", "dark", "dark"]


def test_a_click_on_a_heading_sorts_the_table(browser, page_path):
    """Numbers are sorted as numbers, from large to small first, then the other way."""
    browser.open(page_path)
    click = "document.querySelector('table.sortable th.num button').click()"
    column = (
        "(() => { const t = document.querySelector('table.sortable'), p = t.querySelector('th.num').cellIndex;"
        "return [...t.tBodies[0].rows].map((r) => Number(r.cells[p].dataset.value)); })()"
    )
    before = browser.ask(column)
    browser.ask(click)
    assert browser.ask(column) == sorted(before, reverse=True)
    browser.ask(click)
    assert browser.ask(column) == sorted(before)
    assert len(set(before)) > 2


def test_a_token_that_is_pointed_at_shows_its_ids_and_bytes(browser, page_path, small):
    """The ids and bytes appear, all tokens alike are marked, and leaving hides them."""
    browser.open(page_path)
    token = "document.querySelector('.bp-t')"
    browser.ask(
        f"{token}.dispatchEvent(new PointerEvent('pointerover', {{bubbles: true}}))"
    )
    told = browser.ask("document.getElementById('seen').innerText")
    ids = browser.ask(f"{token}.dataset.ids").split(",")
    assert all(id_ in told for id_ in ids)
    content = small.id_to_token(int(ids[0]))
    assert content.hex(" ") in told
    assert browser.ask(f"{token}.classList.contains('on')")
    browser.ask(
        "document.body.dispatchEvent(new PointerEvent('pointerdown', {bubbles: true}))"
    )
    assert browser.ask("document.getElementById('seen').hidden")


def test_arrow_keys_go_through_the_tokens_of_a_text(browser, page_path):
    """To the right goes on in English and back in Persian, and Escape hides what is shown."""
    browser.open(page_path)
    code = (
        "(() => {{ const text = [...document.querySelectorAll('.bp-text')]"
        ".find((t) => t.matches(':dir({direction})'));"
        "const press = (key) => text.dispatchEvent(new KeyboardEvent('keydown', {{key}}));"
        "const on = () => [...text.querySelectorAll('.bp-t')].findIndex((t) => t.classList.contains('on'));"
        "const found = [];"
        "for (const key of {keys}) {{ press(key); found.push(on()); }}"
        "press('Escape'); return [found, document.getElementById('seen').hidden]; }})()"
    )
    right, left = "ArrowRight", "ArrowLeft"
    for direction, go, back in (("ltr", right, left), ("rtl", left, right)):
        keys = json.dumps([go, go, back, back])
        found = browser.ask(code.format(direction=direction, keys=keys))
        assert found == [[0, 1, 0, 0], True]


def test_text_from_right_to_left_stands_on_the_right(browser, page_path):
    """Persian samples have their direction, others theirs."""
    browser.open(page_path)
    code = (
        "[...document.querySelectorAll('.sample')].map((s) => [s.querySelector('h3').innerText,"
        "s.querySelector('.bp-text').matches(':dir(rtl)')])"
    )
    found = dict(browser.ask(code))
    assert found["fa"] is True
    assert found["en"] is found["th"] is False


def test_the_page_is_printed_with_all_that_is_folded(browser, page_path):
    """A print has what details hide, in light colours whatever the theme."""
    browser.open(page_path, theme="dark")
    browser.ask(
        "globalThis.n = 0; addEventListener('beforeprint', () => { n = "
        "document.querySelectorAll('details:not([open], .caveat)').length; })"
    )
    data = base64.b64decode(browser.call("Page.printToPDF")["data"])
    assert data.startswith(b"%PDF")
    assert browser.ask("n") == 0
    assert (
        browser.ask(
            "document.querySelectorAll('td details:not([open], .caveat)').length"
        )
        > 0
    )
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert (
        browser.ask("getComputedStyle(document.body).backgroundColor")
        == "rgb(255, 255, 255)"
    )
    browser.call("Emulation.setEmulatedMedia", media="")
