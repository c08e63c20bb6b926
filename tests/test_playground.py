"""The playground in headless Chromium: ids equal to Python's, every view, hostile texts, and the look.

Needs the built page (`make playground`), Chromium (`make chromium`) and Playwright (the dependency
group `browser`). `make playground-check` runs all; PLAYGROUND_PICTURES names a folder for pictures.
"""

import json
import os
import re
import shutil
from collections import defaultdict
from pathlib import Path

import pytest

import bytepair

api = pytest.importorskip("playwright.sync_api", reason="drives a browser")
pytest.importorskip("typer", reason="the page is part of the command line")

from bytepair.views._playground import PAGE, page_with  # noqa: E402

VECTORS = Path(__file__).parent / "vectors"
IS_ALL = os.environ.get("PLAYGROUND_CHECK") == "all"
PICTURES = os.environ.get("PLAYGROUND_PICTURES")
SIZES = {"desk": (1440, 900), "tablet": (834, 1112), "phone": (360, 740)}
VIEWS = ["encode", "trace", "train"]
LESSONS = [
    ("letters-and-digits", "letters-digits"),
    ("a-stream-of-bytes", "byte-stream"),
    ("end-of-word", "sennrich"),
    ("learner-and-segmenter", "jurafsky-martin"),
    ("unknown-and-special", "unknown-token"),
]
only_all = pytest.mark.skipif(not IS_ALL, reason="`make playground-check` runs it")


def chromium():
    """Give the path of Chromium."""
    names = ("chromium", "chromium-browser", "google-chrome")
    return next(filter(None, map(shutil.which, names)), None)


@pytest.fixture(scope="module")
def browser():
    """Begin Chromium once for all tests."""
    path = chromium()
    if path is None:
        pytest.skip("Chromium is not installed; `make chromium` installs it")
    if not PAGE.exists():
        pytest.skip("the page is not built; `make playground` builds it")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        yield found
        found.close()


class Site:
    """The page in a window, with all that it complains of and asks for."""

    def __init__(self, browser, **settings):
        self.context = browser.new_context(
            permissions=["clipboard-read", "clipboard-write"], **settings
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.faults, self.requests = [], []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", lambda dialog: self.faults.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _on_console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def open(self, path=PAGE, fragment=""):
        """Open the page, and wait until it is ready."""
        self.page.goto(f"{Path(path).as_uri()}#{fragment}")
        self.page.wait_for_function("globalThis.firstTokens > 0")
        return self.page

    def write(self, text):
        """Write a text, and wait until its tokens are drawn."""
        tokens = self.page.locator("#encode .tokens")
        before = tokens.get_attribute("data-version")
        self.page.locator("#text").fill(text)
        self.page.wait_for_function(
            "before => document.querySelector('#encode .tokens').dataset.version !== before",
            arg=before,
        )

    def ids(self):
        """Give the ids of all tokenizers, of the whole text."""
        return self.page.evaluate("playground.idsShown()")

    def files(self, *files):
        """Choose files, as with the button, and wait until they are open or refused."""
        count = "() => playground.open.length + document.querySelectorAll('.refusal').length"
        before = self.page.evaluate(count)
        self.page.locator("#encode input[type=file]").set_input_files(list(files))
        self.page.wait_for_function(f"before => ({count})() > before", arg=before)


@pytest.fixture
def site(browser):
    """Give a window; at its end, nothing was complained of, and nothing was asked of a network."""
    found = Site(browser)
    yield found
    found.context.close()
    assert found.faults == []
    away = [url for url in found.requests if not re.match("(file|data|blob):", url)]
    assert away == []


def named_bytes(name, tokenizer):
    """Give a tokenizer as a file to choose."""
    return {
        "name": name,
        "mimeType": "application/octet-stream",
        "buffer": tokenizer.to_bytes(),
    }


# Ids

ENCODE_ALL = """async ([name, texts, special]) => {
  const found = [];
  for (const text of texts) {
    const payload = typeof text === "string" ? new TextEncoder().encode(text) : Uint8Array.from(text);
    try {
      const answer = await playground.named(name).core.ask({op: "encode", special, payload});
      found.push(Array.from(new Uint32Array(answer.payload.buffer, answer.payload.byteOffset, answer.n_tokens)));
    } catch (error) {
      found.push(error.message);
    }
  }
  return found;
}"""


def shared_cases(shared):
    """Give the vectors of published vocabularies, by file."""
    cases = defaultdict(list)
    path = shared("vectors/ids.jsonl")
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line:
            case = json.loads(line)
            cases[case["vocabulary"]].append(case)
    return cases


QUICK = {"gpt2/tokenizer.json", "mistral-sentencepiece/tokenizer-v1.model"}


def test_shared_vectors_hold(site, shared):
    """Published files give the ids of their publishers' libraries, as in Python."""
    page = site.open()
    n_held = 0
    for name, cases in shared_cases(shared).items():
        if not (IS_ALL or name in QUICK or name.startswith("tiny-")):
            continue
        site.files(shared(f"vocabularies/{name}"))
        assert page.locator(".refusal").count() == 0, page.locator(
            ".refusal"
        ).inner_text()
        own = page.evaluate("playground.open.at(-1).name")
        # SentencePiece never finds a control symbol in a text.
        special = "text" if name.endswith(".model") else "tokens"
        texts = [case["text"] for case in cases]
        found = page.evaluate(ENCODE_ALL, [own, texts, special])
        for case, ids in zip(cases, found, strict=True):
            assert ids == case["ids"], (name, case["text"][:200])
        n_held += len(cases)
        page.evaluate("name => { playground.remove(name); }", own)
    assert n_held == (1844 if IS_ALL else 188 + 3 * 141)


def own_cases():
    """Give the repository's vectors of dialects as they are: a training and its inputs."""
    trainings = json.loads((VECTORS / "train.json").read_text())["cases"]
    inputs = json.loads((VECTORS / "encode.json").read_text())["cases"]
    by_name = {case["name"]: case for case in inputs}
    for case in trainings:
        texts = [bytes.fromhex(text) for text in case["texts"]]
        if len(texts) != 1 or case["name"] not in by_name:
            continue
        size = "merges" if case["n_merges"] is not None else "vocab_size"
        options = {size: case["n_merges"] if size == "merges" else case["vocab_size"]}
        options = {name: value for name, value in options.items() if value is not None}
        tokens = case["special_tokens"]
        own = bytepair.train_from_iterator(
            texts, dialect=case["dialect"], special_tokens=tokens, **options
        )
        yield case, by_name[case["name"]], options, texts[0], own


def test_own_vectors_hold(site):
    """Training and encoding in the page give the ids that the reference computed."""
    page = site.open()
    n_held = 0
    for case, inputs, options, text, own in own_cases():
        texts = [bytes.fromhex(one["text"]) for one in inputs["inputs"]]
        expected = [one["ids"] for one in inputs["inputs"]]
        if [ids_or_none(own, one) for one in texts] != expected:
            continue  # a vector with a part that no dialect has
        request = {
            "op": "train",
            "dialect": case["dialect"],
            "special_tokens": case["special_tokens"],
            **options,
        }
        name = page.evaluate(
            "([name, request, text]) => playground.train(name, {...request, payload: Uint8Array.from(text)})",
            [case["name"], request, list(text)],
        )
        found = page.evaluate(ENCODE_ALL, [name, list(map(list, texts)), "tokens"])
        for ids, right in zip(found, expected, strict=True):
            assert ids == right if right is not None else isinstance(ids, str)
        n_held += 1
    assert n_held >= 12


def ids_or_none(tokenizer, text):
    """Encode as the vectors do; nothing where the text cannot be encoded."""
    try:
        return tokenizer.encode(text, allowed_special="all")
    except bytepair.TokenizerError:
        return None


TEXTS = [
    "The quick brown fox, 12345 times.",
    "سلام، حال شما چطور است؟ שלום עולם",
    "e\u0301 नमस्ते 東京 👨‍👩‍👧‍👦 👋🏽 🇳🇿",
    "  two\t\ttabs\r\n\n\nthree\u200b\u202eoverride\u202c",
    "<|endoftext|></w>@@ ▁ <unk>",
    "\x00\x07\x1b[31m\x7f\ufeff\ufffd",
]


def test_the_ids_on_the_screen_are_those_of_python(site):
    """A text that is written, and a tokenizer that is chosen, give what Python gives."""
    own = bytepair.train_from_iterator(
        TEXTS, vocab_size=400, special_tokens=["<|endoftext|>"]
    )
    page = site.open()
    site.files(named_bytes("own.bytepair", own))
    for text in TEXTS:
        site.write(text)
        assert site.ids()["own.bytepair"] == own.encode(text, allowed_special=())
    page.get_by_label("As tokens").check(force=True)
    page.wait_for_function(
        "most => playground.idsShown()['own.bytepair'].length < most",
        arg=len(own.encode(TEXTS[4], allowed_special=())) if False else 10**9,
    )
    site.write(TEXTS[4])
    assert site.ids()["own.bytepair"] == own.encode(TEXTS[4], allowed_special="all")


def test_the_tokenizers_of_the_command_line_are_open(site, tmp_path):
    """The page that the command writes has them, and gives their ids."""
    own = bytepair.train_from_iterator(TEXTS, vocab_size=300)
    path = tmp_path / "page.html"
    path.write_text(page_with({"</script>mine": own}), "utf-8")
    site.open(path)
    site.write(TEXTS[2])
    assert site.ids() == {"</script>mine": own.encode(TEXTS[2])}
