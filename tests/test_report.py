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
from html.parser import HTMLParser
from itertools import count

import pytest

import bytepair
from bytepair import AddedToken, MissingLibraryError
from bytepair.analyze import describe, portrait

fcntl = pytest.importorskip("fcntl", reason="pipes of a browser have numbers on Unix")
pytest.importorskip("jinja2", reason="a report needs jinja2")
testing = pytest.importorskip("typer.testing", reason="runs the command line")

from bytepair.cli.app import app  # noqa: E402 -- needs typer
from bytepair.views.report import _charts, render  # noqa: E402 -- needs jinja2
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


def test_the_page_is_well_formed_and_loads_nothing(small, hostile):
    """Every element is closed, and nothing in the page names an address or an event."""
    text = render(describe({"small": small, "hostile": hostile}))
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
    outside = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
    assert "://" not in outside.replace(HOSTILE[0], "")
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
    text = render(describe({name: hostile}))
    page = Page(text)
    assert "alert(1)</script>" not in text
    assert len(page.of("script")) == len(page.of("style")) == 1
    assert not page.of("b")
    assert name in page.text
    assert HOSTILE[0] in page.text
    assert HOSTILE[5] in page.text
    assert not [c for c in page.text if not c.isprintable() and c != "\n"]


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
    assert dict(found.kinds)["added"] == 1
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
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert small.fingerprint in text


@pytest.mark.parametrize("name", ["report.pdf", "report", "missing/report.html"])
def test_a_page_that_cannot_be_written_is_refused_first(name, small, tmp_path):
    """What the name says is no page, or a folder that is absent, ends the command before work."""
    small.save(tmp_path / "own.bytepair")
    found = run("report", tmp_path / "own.bytepair", "-o", tmp_path / name)
    assert found.exit_code == 1
    assert str((tmp_path / name).parent if "missing" in name else name) in found.stderr
    assert not (tmp_path / name).exists()


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
def page_path(small, hostile, tmp_path_factory):
    """Write a page with all that can be in one."""
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(describe({"small": small, "hostile": hostile})), "utf-8")
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
    colour = browser.ask("getComputedStyle(document.body).backgroundColor")
    lightness = sum(map(int, re.findall(r"\d+", colour)[:3])) / 3
    assert (lightness < 128) == (theme == "dark")


def test_the_switch_overrules_the_system(browser, page_path):
    """A click goes from the system's theme to light, to dark, and back."""
    browser.open(page_path, theme="dark")
    browser.ask("localStorage.removeItem('bytepair-theme')")
    browser.open(page_path, theme="dark")
    found = []
    for _ in range(4):
        found.append(
            browser.ask("getComputedStyle(document.documentElement).colorScheme")
        )
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
