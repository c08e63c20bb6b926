"""The playground in headless Chromium: ids equal to Python's, every view, hostile texts, and the look.

Needs the built page (`make playground`), Chromium (`make chromium`) and Playwright (the dependency
group `browser`).
"""

import base64
import json
import re
import time
import zlib
from collections import defaultdict
from pathlib import Path

import pytest

import bytepair

pytest.importorskip("click", reason="the page is part of the command line")
pytest.importorskip("regex", reason="the reference splits with it")

from tests import playground_steps

from bytepair.cli.playground_page import PAGE, page_with
from bytepair.reference import DIALECTS

pytestmark = pytest.mark.slow
SIZES = {"desk": (1440, 900), "tablet": (834, 1112), "phone": (360, 740)}
PHONE = {"width": 390, "height": 844}
VIEWS = ["encode", "trace", "train"]
LESSONS = [
    ("text-to-pairs", "byte-stream"),
    ("letters-and-digits", "letters-digits"),
    ("a-stream-of-bytes", "byte-stream"),
    ("end-of-word", "sennrich"),
    ("learner-and-segmenter", "jurafsky-martin"),
    ("unknown-and-special", "unknown-token"),
]


class Site:
    """The page in a window, with all that it complains of and asks for."""

    def __init__(self, browser, **settings):
        if not PAGE.exists():
            pytest.skip("the page is not built; `make playground` builds it")
        self.context = browser.new_context(
            permissions=["clipboard-read", "clipboard-write"], **settings
        )
        self.page = self.context.new_page()
        self.page.set_default_timeout(90_000)
        self.faults, self.requests = [], []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("dialog", self._on_dialog)
        self.page.on("request", lambda request: self.requests.append(request.url))

    def _on_console(self, message):
        if message.type in ("error", "warning"):
            self.faults.append(message.text)

    def _on_dialog(self, dialog):
        self.faults.append(dialog.message)
        dialog.dismiss()

    def open(self, path=PAGE, fragment=""):
        """Open the page, and wait until it is ready."""
        self.page.goto(f"{Path(path).as_uri()}#{fragment}")
        self.wait("globalThis.playground?.isReady() ?? false")
        if not re.search("view=(trace|train)", fragment):
            self.wait("globalThis.firstTokens > 0")
        return self.page

    def wait(self, expression, argument=None):
        """Wait until an expression holds. The page's policy lets nobody evaluate one inside."""
        end = time.monotonic() + 90
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < end, expression
            self.page.wait_for_timeout(40)

    def version(self):
        """Tell how often tokens were drawn."""
        return self.page.locator("#encode .tokens").get_attribute("data-version")

    def write(self, text):
        """Write a text, and wait until its tokens are drawn."""
        self.page.locator("#text").fill(text)
        self.shows(text)

    def shows(self, text):
        """Wait until the tokens of a text are drawn."""
        self.wait("text => playground.shownText() === text", text)

    def drawn_after(self, before):
        """Wait until tokens are drawn anew."""
        now = "document.querySelector('#encode .tokens').dataset.version"
        self.wait(f"before => {now} !== before", before)

    def ids(self):
        """Give the ids of all tokenizers, of the whole text."""
        return self.page.evaluate("playground.idsShown()")

    def choose(self, *files):
        """Choose files, as with the button."""
        self.page.locator("#encode input[type=file]").set_input_files(list(files))

    def files(self, *files):
        """Choose files, as with the button, and wait until they are open or refused."""
        count = "playground.open.length + document.querySelectorAll('.refusal').length"
        before, version = self.page.evaluate(count), self.version()
        self.choose(*files)
        self.wait(f"before => {count} > before", before)
        if not self.page.locator(".refusal").count():
            self.drawn_after(version)


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
    kind = "application/octet-stream"
    return {"name": name, "mimeType": kind, "buffer": tokenizer.to_bytes()}


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
    with shared("vectors/ids.jsonl").open(encoding="utf-8") as lines:
        for case in map(json.loads, lines):
            cases[case["vocabulary"]].append(case)
    return cases


def test_shared_vectors_hold(site, shared):
    """Published files give the ids of their publishers' libraries, as in Python."""
    page = site.open()
    n_held = 0
    for name, cases in shared_cases(shared).items():
        site.files(shared(f"vocabularies/{name}"))
        assert page.locator(".refusal").all_inner_texts() == []
        own = page.evaluate("playground.open.at(-1).name")
        # SentencePiece never finds a control symbol in a text.
        special = "text" if name.endswith(".model") else "tokens"
        texts = [case["text"] for case in cases]
        found = page.evaluate(ENCODE_ALL, [own, texts, special])
        for case, ids in zip(cases, found, strict=True):
            assert ids == case["ids"], (name, case["text"][:200])
        n_held += len(cases)
        page.evaluate("name => { playground.remove(name); }", own)
    assert n_held == 1844


TEXTS = [
    "The quick brown fox, 12345 times.",
    "سلام، حال شما چطور است؟ שלום עולם",
    "e\u0301 नमस्ते 東京 👨‍👩‍👧‍👦 👋🏽 🇳🇿",
    "  two\t\ttabs\n\n\nthree\u200b\u202eoverride\u202c",
    "<|endoftext|></w>@@ ▁ <unk>",
    "\x00\x07\x1b[31m\x7f\ufeff\ufffd",
]


def test_the_ids_on_the_screen_are_those_of_python(site):
    """A text that is written, and a tokenizer that is chosen, give what Python gives."""
    options = {"vocab_size": 400, "special_tokens": ["<|endoftext|>"]}
    own = bytepair.train_from_iterator(TEXTS, **options)
    page = site.open()
    site.files(named_bytes("own.bytepair", own))
    for text in TEXTS:
        site.write(text)
        assert site.ids()["own.bytepair"] == own.encode(text, allowed_special=())
    before = site.version()
    page.get_by_label("As tokens").check(force=True)
    site.drawn_after(before)
    assert site.ids()["own.bytepair"] == own.encode(text, allowed_special="all")
    site.write(TEXTS[4])
    assert site.ids()["own.bytepair"] == own.encode(TEXTS[4], allowed_special="all")


def test_the_tokenizers_of_the_command_line_are_open(site, tmp_path):
    """The page that the command writes has them, and gives their ids."""
    own = bytepair.train_from_iterator(TEXTS, vocab_size=270, dialect="gpt2")
    path = tmp_path / "page.html"
    path.write_text(page_with({"</script>mine": own}), "utf-8")
    page = site.open(path)
    site.write(TEXTS[2])
    assert site.ids() == {"</script>mine": own.encode(TEXTS[2])}
    about = page.locator(".tokenizer .about").inner_text()
    assert re.fullmatch("270 ids · byte-level, split by GPT-2.s pattern", about)


# Views


TITLES = "(all) => all.map((one) => one.title)"
HUES = "(all) => all.map((one) => one.style.getPropertyValue('--hue'))"


def test_encode_shows_counts_ids_and_bytes(site):
    """Pointing at a token marks its id and bytes, and pointing at the id marks the token."""
    page = site.open()
    site.write("low lower\nlowest")
    ids = site.ids()["small-gpt2"]
    row = page.locator(".tokenizer").first
    assert row.locator(".count").inner_text() == str(len(ids))
    assert row.locator(".rate").inner_text() == f"{16 / len(ids):.2f}"
    counts = {name: len(found) for name, found in site.ids().items()}
    more = 100 * (max(counts.values()) / min(counts.values()) - 1)
    assert f"needs {more:.0f}% more tokens" in page.locator(".counts").inner_text()
    page.locator("#encode .t[data-row='0'][data-group='1']").hover()
    assert page.locator(".strip.ids .on").inner_text() == str(ids[1])
    shown = page.locator(".strip.bytes .on").inner_text()
    assert re.fullmatch(r"([0-9a-f]{2} ?)+", shown)
    page.locator(".strip.ids [data-group='2']").hover()
    assert page.locator("#encode .t.on").get_attribute("data-group") == "2"
    hues = page.locator("#encode .t[data-row='0']").evaluate_all(HUES)
    assert page.locator(".strip.ids span").evaluate_all(HUES) == hues
    assert len(set(zip(ids, hues, strict=True))) == len(set(ids)) < len(ids)


def test_a_first_visit_on_a_phone(browser):
    """Tokens are on the first screen under three sentences, which can be closed for good; in Train, the player is above the form."""
    site = Site(browser, viewport=PHONE)
    page = site.open()
    top = "one => one.getBoundingClientRect().top"
    assert page.locator(".intro p").inner_text().count(".") == 3
    assert page.locator("#encode .t").first.evaluate(top) < PHONE["height"] - 20
    page.get_by_label("Close the introduction").click()
    page.reload()
    site.wait("globalThis.firstTokens > 0")
    assert not page.locator(".intro").is_visible()
    page.get_by_role("button", name="Tokenizers", exact=True).click()
    page.get_by_label("Columns").check(force=True)
    lines = page.locator("#encode .columns .line")
    signs = "(all) => all.map((one) => getComputedStyle(one, '::before').content)"
    assert lines.evaluate_all(signs)[:4] == ['"A"', '"B"'] * 2
    page.locator("#tab-train").click()
    tops = [page.locator(f"#train {n}").evaluate(top) for n in (".player", "form")]
    site.context.close()
    assert tops[0] < tops[1]


def test_a_token_is_taken_apart_down_to_its_bytes(site):
    """Each click undoes the merge that was made last, as Python traces it; the last click shows the bytes."""
    own = bytepair.train_from_iterator(["lowest naïve lowest naïve"], merges=30)
    page = site.open(fragment="tokenizers=")
    site.files(named_bytes("own.bytepair", own))
    site.write("so naïve")
    piece = own.trace("so naïve").pieces[-1]
    chips = page.locator(".undo .chip")
    page.locator("#encode .t").last.click()
    row = list(piece.ids)
    for step in [None, *reversed(piece.steps)]:
        if step:
            at = row.index(step.token)
            row[at : at + 1] = step.left, step.right
            page.locator("#encode .t").last.click()
        chips.nth(len(row) - 1).wait_for()
        assert chips.evaluate_all(TITLES) == [f"id {id_}" for id_ in row]
    page.locator("#encode .t").last.click()
    assert chips.all_inner_texts() == re.findall("..", " naïve".encode().hex())


def test_a_chat_shows_its_roles(site):
    """For a tokenizer that has their special tokens, lines of a message have its role; a text to try is one click away."""
    names = ["<|im_start|>", "<|im_end|>"]
    own = bytepair.train_from_iterator(TEXTS, vocab_size=300, special_tokens=names)
    page = site.open()
    assert page.locator("option[value=chat]").count() == 0
    site.files(named_bytes("own.bytepair", own))
    page.get_by_label("Use a sample text").select_option("chat")
    page.locator("#encode .line.begins").nth(2).wait_for()
    roles = ", ".join(f"[data-role={one}]" for one in ("system", "user", "assistant"))
    assert page.locator(f"#encode .begins:is({roles})").count() == 3
    text = page.locator("#text").input_value()
    assert site.ids()["own.bytepair"] == own.encode(text, allowed_special="all")
    page.get_by_role("button", name="SolidGoldMagikarp").click()
    site.shows(" SolidGoldMagikarp")
    assert page.locator("#encode .line[data-role]").count() == 0


def test_cuts_of_several_tokenizers_are_lined_up(site):
    """Where all rows begin a token, they begin it in one column."""
    page = site.open()
    site.write("The harvest: 東京 and unkind words, naïve")
    lefts = page.evaluate(
        """() => [...document.querySelectorAll("#encode .stretch")].map((stretch) =>
          [...stretch.children].map((row) => row.firstElementChild.getBoundingClientRect().left))"""
    )
    assert len(lefts) > 5
    assert all(max(row) - min(row) < 0.6 for row in lefts)


def test_ids_and_json_are_copied_whole(site):
    """Also in chunks."""
    page = site.open()
    site.write("low lower lowest " * 2000)
    ids = site.ids()["small-gpt2"]
    page.locator(".tokenizer").first.get_by_text("Copy ids").click()
    page.get_by_text("Copied").wait_for()
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == ids
    page.locator("#chunk").fill("100")
    page.locator(".figure.chunks").first.wait_for()
    page.locator(".tokenizer").first.get_by_text("Copy JSON").click()
    site.wait("navigator.clipboard.readText().then(text => text.startsWith('{'))")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    chunks = [ids[place : place + 100] for place in range(0, len(ids), 100)]
    assert copied["ids"] == chunks
    assert len(copied["spans"]) == copied["n_tokens"] == len(ids)
    assert page.locator("#encode .t.chunk").count() > 2


def test_a_token_leads_to_its_merges(site):
    """Its merges play, with a tree and a reason for each pair that waits."""
    page = site.open()
    own = bytepair.train_from_iterator(["low lower lowest newest"], merges=30)
    site.files(named_bytes("own.bytepair", own))
    site.write("so low lowest")
    row = page.evaluate("playground.open.length") - 1
    page.locator(f"#encode .t[data-row='{row}']").last.press("Enter")
    page.locator("#trace .rows-of-merges li").first.wait_for()
    steps = own.trace("so low lowest").pieces[-1].steps
    assert page.locator("#trace .rows-of-merges li").count() == len(steps) + 1
    page.locator("#trace").get_by_label("First step (Home)").click()
    for number in range(1, len(steps) + 1):
        page.locator("#trace").get_by_label("Next step").click()
        label = page.locator("#trace output.step").inner_text()
        assert label == f"Merge {number} of {len(steps)}"
        assert page.locator("#trace .others .chosen").count() == 1
        assert page.locator("#trace .tree .node.now").count() == 1
    page.locator("#trace .play").click()
    page.locator("#trace .play[aria-label='Pause (Space)']").wait_for()
    page.locator("#trace .play").click()


def test_pairs_that_wait_have_a_reason(site):
    """The merged pair has the lowest rank; others are later, or no merge joins them."""
    page = site.open()
    page.locator("#tab-trace").click()
    page.locator("#trace-word").fill("reading the harvest")
    page.locator("#trace .lead").get_by_text("reading").wait_for()
    reasons = page.locator("#trace .others tbody tr").all_inner_texts()
    ranks = {row: re.findall(r"\t(\d+)\t", row) for row in reasons}
    (chosen,) = [row for row in reasons if "chosen" in row]
    assert ranks[chosen] == [min((r for [r] in filter(None, ranks.values())), key=int)]
    assert any("no merge joins them" in row for row in reasons)
    page.locator("#trace-word").fill("understandingwordsagainandagain" * 2)
    page.locator("#trace .lead").get_by_text("has 62 symbols").wait_for()
    page.get_by_text("The tree is wider than its box").wait_for()
    box = page.locator("#trace .scroll").bounding_box()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        row = page.locator("#trace .others .chosen").bounding_box()
        assert box["y"] <= row["y"] <= box["y"] + box["height"] - row["height"]


def test_lessons_train_as_python_does(site):
    """Their merges, and the ids of their words, are those of Python; their steps can be gone through."""
    page = site.open(fragment=f"view=train&lesson={LESSONS[0][0]}")
    for number, (key, dialect) in enumerate(LESSONS):
        page.locator("#tab-train").click()
        page.locator("#train .lessons button").nth(number).click()
        site.wait("key => playground.state.lesson === key", key)
        site.wait("!document.getElementById('train-form-button').disabled")
        own = trained_as_written(page, dialect)
        page.locator("#train").get_by_label("Last step (End)").click()
        label = f"Merge {len(own.merges)} of {len(own.merges)}"
        page.locator("#train output.step").get_by_text(label, exact=True).wait_for()
        page.locator("#train .pieces .joined").first.wait_for()
        shown = page.locator("#train .learned button .times").all_inner_texts()
        counts = [count for *_, count in own.inspect().merge_log]
        assert [int(count) for count in shown][-20:] == counts[-20:]
        assert page.locator("#train .bars .chosen").count() == 1
        page.get_by_text("Use in Encode").click()
        attempt = page.locator("#text").input_value()
        site.wait("key => playground.named(key) !== undefined", key)
        site.shows(attempt)
        site.wait("key => key in playground.idsShown()", key)
        assert site.ids()[key] == own.encode(attempt)


def trained_as_written(page, dialect):
    """Train in Python with what the form says."""
    text = page.locator("#train-text").input_value()
    merges = page.locator("#train-merges").input_value()
    special = page.locator("#train-special").input_value().split()
    options = {"dialect": dialect, "special_tokens": special}
    if merges:
        options["merges"] = int(merges)
    if not page.locator("#train-counts").is_checked():
        return bytepair.train_from_iterator([text], **options)
    rows = (line.split("\t") for line in text.splitlines())
    counts = {word: int(count) for word, count in rows}
    return bytepair.train_from_counts(counts, **options)


def test_what_was_trained_is_saved_as_files_of_python(site, tmp_path):
    """Each format that can hold it loads in Python, with its ids; one that cannot says why."""
    page = site.open(fragment="view=train&lesson=letters-and-digits")
    site.wait("document.querySelector('#train .bars li') !== null")
    text = page.locator("#train-text").input_value()
    own = bytepair.train_from_iterator([text], dialect="letters-digits")
    for name in ("bytepair", "huggingface"):
        page.locator("#train .save select").select_option(name)
        with page.expect_download() as download:
            page.locator("#save").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        assert bytepair.Tokenizer.from_file(path).encode(text) == own.encode(text)
    page.locator("#train .save select").select_option("subword-nmt")
    page.locator("#save").click()
    page.locator("#train .save .problem").wait_for()


# Training and merging, step by step


@pytest.mark.parametrize("dialect", DIALECTS)
def test_steps_of_each_dialect_are_those_of_python(dialect, site):
    """All settings of the form, with repeated letters, several scripts, special tokens and counts."""
    page = site.open(fragment="view=trace&tokenizers=")
    n_steps = 0
    for number, (request, text) in enumerate(playground_steps.requests()):
        special = ("text", "tokens")[number % 2]
        n_steps += playground_steps.check(page, dialect, request, text, special)
    assert n_steps > 150


def test_steps_of_each_pattern_are_those_of_python(site):
    """The form has the dialects and patterns of Python, and a named pattern cuts before pairs are counted."""
    page = site.open(fragment="view=train&tokenizers=")
    values = "id => [...document.getElementById(id).options].map((one) => one.value)"
    assert page.evaluate(values, "train-dialect") == bytepair.dialects()
    names = page.evaluate(values, "train-pattern")
    assert names == ["", *bytepair.patterns(), "none", "custom"]
    page.locator("#tab-trace").click()
    text = "It's 12,345 low-cost chairs!\n\n  東京は 東京 aaaa aaaa\tfoo_bar foo_bar\r\nNaïve\n"
    for number, name in enumerate(bytepair.patterns()):
        dialect = list(DIALECTS)[number % len(DIALECTS)]
        assert playground_steps.check(page, dialect, {"pattern": name}, text) > 3


# The views as they are used

PASTE = """([id, text]) => {
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const box = document.getElementById(id);
  box.focus();
  box.select();
  box.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def train_view(site):
    """Open the view, and wait until its lesson is trained."""
    page = site.open(fragment="view=train&lesson=end-of-word&tokenizers=")
    page.locator("#train .bars li").first.wait_for()
    return page


def train_on(page, text, merges):
    """Paste a text, which has no counts, and begin to train."""
    page.evaluate(PASTE, ["train-text", text])
    page.locator("#train-counts").uncheck()
    page.locator("#train-merges").fill(merges)
    page.locator("#train-form-button").click()


def words(n_words):
    """Make a text of words that are all different."""
    return " ".join(f"{n * 2654435761 % 2**32:x}" for n in range(n_words))


def test_a_word_with_spaces_around_is_traced(site):
    """What the tokenizer leaves out has no merges: the nearest piece is shown, or that there is none."""
    page = site.open(fragment="view=trace&tokenizers=small-end-of-word")
    lead = page.locator("#trace .lead")
    for word in ("  low river", "low river  "):
        page.locator("#trace-word").fill(word)
        lead.get_by_text("The piece low ").wait_for()
    page.locator("#trace-word").fill("   ")
    page.get_by_text("This tokenizer drops all of this text").wait_for()
    page.locator("#trace-word").fill(" river")
    lead.get_by_text("The piece river ").wait_for()
    assert page.locator("#trace .strip-text").inner_text() == "river"


def test_the_newest_word_alone_is_drawn(site):
    """Also where words change while tokens of an older one are looked up."""
    page = site.open(fragment="view=trace&tokenizers=small-gpt2")
    page.evaluate(
        """() => {
          const {core} = playground.open[0], ask = core.ask.bind(core), slow = {tokens: 400};
          core.ask = async (request) => {
            await new Promise((resolve) => setTimeout(resolve, slow[request.op] ?? 0));
            slow[request.op] = 0;
            return ask(request);
          };
        }"""
    )
    for text, pause in (("unhappiness of rivers", 250), ("harvest", 1000)):
        page.locator("#trace-word").fill(text)
        page.wait_for_timeout(pause)
    assert page.locator("#trace .strip-text").inner_text() == "harvest"
    page.locator("#trace .lead").get_by_text("The piece harvest").wait_for()


def test_a_tokenizer_that_was_removed_is_trained_again(site):
    """Train still walks through it and saves it, and using it opens it once more."""
    page = train_view(site)
    for _ in range(2):
        page.locator("#tab-train").click()
        page.get_by_text("Use in Encode").click()
        site.wait("playground.named('end-of-word') !== undefined")
        page.get_by_role("button", name="Remove end-of-word").click()
        page.get_by_text("No tokenizer is open.").wait_for()
    page.locator("#tab-train").click()
    with page.expect_download():
        page.locator("#save").click()
    assert not page.locator("#train .save .problem").is_visible()


def test_a_text_of_a_megabyte_is_trained_on(site):
    """The box has its beginning, all of it is learned from, and a shorter text takes its place."""
    page = train_view(site)
    text = "".join(f"The river {n * 7919 % 99991} runs far.\n" for n in range(40_000))
    page.locator("#train-dialect").select_option("byte-stream")
    train_on(page, text, "3")
    assert len(page.locator("#train-text").input_value()) < 20_000
    assert f"{len(text):,} characters" in page.locator("#train-text-notes").inner_text()
    page.get_by_text("Learned 3 merges. ").wait_for()
    page.locator("#train").get_by_role("button", name="Clear").click()
    assert page.locator("#train-text").is_editable()
    page.locator("#train-text").fill("    ")
    page.locator("#train-form-button").click()
    page.get_by_text(
        "Learned 2 merges from"
    ).wait_for()  # of spaces, by hand: 2, then 4


def test_training_is_cancelled(site):
    """By the button or by a lesson; the page trains and walks on afterwards, and shows nothing of what was cancelled."""
    page = train_view(site)
    before = page.locator("#train .lead").inner_text()
    train_on(page, words(400_000), "")
    page.locator("#train-cancel").click()
    assert page.locator("#train-form-button").is_enabled()
    assert not page.locator("#train-cancel").is_visible()
    assert page.locator("#train .lead").inner_text() == before
    page.locator("#train").get_by_label("Last step (End)").click()
    site.wait("document.querySelectorAll('#train .learned button').length === 10")
    page.locator("#train .lessons button").nth(1).click()
    page.get_by_text("from 24 distinct pieces.").wait_for()
    page.locator("#train-dialect").select_option("sennrich")
    train_on(page, words(300_000), "2000")
    page.locator("#train .lessons button").nth(5).click()
    assert page.locator("#train-form-button").is_disabled()
    page.get_by_text("Learned 3 merges from").wait_for()
    assert page.locator("#train-form-button").is_enabled()
    assert page.locator("#train-text").input_value().startswith("hug\t10")


LEFTS = "(all) => all.map((one) => one.getBoundingClientRect().left)"


def test_right_to_left_text_reads_one_way(site):
    """Everywhere, the first token of an Arabic word is on the right; the bytes of a letter read from left to right."""
    page = site.open(fragment="view=trace&word=سلم&tokenizers=small-gpt2")
    page.locator("#trace .lead").get_by_text("سلم").wait_for()
    page.locator("#trace").get_by_label("First step (Home)").click()
    for place in (".card > .symbols", ".rows-of-merges li:first-child", ".tree .node"):
        parts = page.locator(f"#trace {place}").locator(".chip, rect")
        d8, b3, d9, *_ = parts.evaluate_all(LEFTS)[:6]
        assert d9 < d8 < b3, place
    page.keyboard.press("ArrowRight")
    assert page.locator("#trace .others .pair-of").first.get_attribute("dir") == "ltr"
    page = train_view(site)
    page.locator("#train-text").fill("\u0633\u0644\u0645\t3\nlow\t2")
    page.locator("#train-form-button").click()
    page.get_by_text("from 2 distinct pieces.").wait_for()
    words = page.locator("#train .pieces .symbols").all()
    arabic, latin = (word.locator(".chip").evaluate_all(LEFTS) for word in words)
    assert arabic[0] > arabic[1]
    assert latin[0] < latin[1]


# Files


def test_a_refused_file_says_why_and_nothing_is_lost(site, tmp_path):
    """The message is the core's; what was open stays."""
    page = site.open()
    before = site.ids()
    bad = tmp_path / "bad.json"
    bad.write_text('{"model": {"type": "WordPiece"}}')
    site.files(bad)
    assert page.locator(".refusal strong").inner_text() == "bad.json"
    said = page.locator(".refusal span").inner_text()
    assert said == 'model.type: "WordPiece" is not a byte-pair encoding'
    assert site.ids() == before
    page.get_by_label("Dismiss the message about bad.json").click()
    assert page.locator(".refusal").count() == 0
    site.files(bad)
    site.choose(named_bytes("own", bytepair.train_from_iterator(TEXTS, merges=9)))
    site.wait("'own' in playground.idsShown()")
    assert page.locator(".refusal").count() == 0


def test_two_files_make_one_tokenizer(site, tmp_path):
    """vocab.json and merges.txt are opened together, also in a published folder with settings; half of them is refused.

    Merges of GPT-2 alone could pass for codes of subword-nmt, which have other ids.
    """
    own = bytepair.train_from_iterator(TEXTS, vocab_size=300, dialect="gpt2")
    own.save(tmp_path / "pair")
    for name in ("generation_config.json", "config.json", "preprocessor_config.json"):
        (tmp_path / "pair" / name).write_text("{}")
    page = site.open(fragment="tokenizers=")
    refusal = page.locator(".refusal")
    for name, other in (("vocab.json", "merges.txt"), ("merges.txt", "vocab.json")):
        site.files(tmp_path / "pair" / name)
        said = refusal.locator("span").inner_text()
        assert said.endswith(f", which are in {other}: open both at once")
        page.get_by_label(f"Dismiss the message about {name}").click()
    site.choose(*sorted((tmp_path / "pair").iterdir()))
    site.wait("'vocab.json' in playground.idsShown()")
    site.write(TEXTS[1])
    assert site.ids() == {"vocab.json": own.encode(TEXTS[1])}
    refused = refusal.locator("strong").all_inner_texts()
    assert refused == ["generation_config.json", "preprocessor_config.json"]


def test_ranks_without_a_pattern_ask_for_a_dialect(site, tmp_path):
    """The refusal has the dialects, and the one that is chosen opens the file."""
    own = bytepair.train_from_iterator(TEXTS, vocab_size=300, dialect="gpt4")
    own.save(tmp_path / "ranks.tiktoken")
    page = site.open()
    site.files(tmp_path / "ranks.tiktoken")
    page.locator(".refusal select").select_option("gpt4")
    site.wait("'ranks.tiktoken' in playground.idsShown()")
    site.write(TEXTS[0])
    assert site.ids()["ranks.tiktoken"] == own.encode(TEXTS[0])
    assert page.locator(".refusal").count() == 0


def test_a_chosen_text_is_taken_as_it_is(site, tmp_path):
    """Its byte-order mark and its line ends are encoded, as in Python; the page tells of line ends and of other encodings."""
    text = "\ufeffone\r\ntwo\rthree\n"
    (tmp_path / "windows.txt").write_bytes(text.encode())
    own = bytepair.train_from_iterator(TEXTS, vocab_size=300)
    page = site.open(fragment="tokenizers=")
    site.files(named_bytes("own.bytepair", own))
    site.choose(tmp_path / "windows.txt")
    site.shows(text)
    assert site.ids()["own.bytepair"] == own.encode(text)
    page.get_by_text("Some lines end with CR").wait_for()
    for encoding, shown in (("latin-1", "K\ufffdln"), ("utf-16", "Köln")):
        (tmp_path / "other.txt").write_bytes("Köln".encode(encoding))
        site.choose(tmp_path / "other.txt")
        site.shows(shown)
        said = page.locator("#text-notes").inner_text()
        assert said.startswith("The file is ")
    site.write("Bonn")
    assert page.locator("#text-notes").inner_text() == ""


def test_texts_and_tokenizers_can_be_chosen_together(site, tmp_path):
    """The first text is shown, codes that end with .txt open, and what is left out is named; a file of no format can be the text."""
    own = bytepair.train_from_counts({"second": 5, "sea": 2}, dialect="subword-nmt")
    own.save(tmp_path / "own.txt", format="subword-nmt")
    for name, text in (("a.txt", "first"), ("b.txt", "second"), ("notes", "third")):
        (tmp_path / name).write_text(text)
    page = site.open(fragment="tokenizers=")
    site.choose(*(tmp_path / n for n in ("b.txt", "own.txt", "a.txt")))
    site.shows("second")
    site.wait("'own.txt' in playground.idsShown()")
    assert site.ids() == {"own.txt": own.encode("second")}
    assert page.locator(".refusal strong").all_inner_texts() == ["a.txt"]
    page.get_by_label("Dismiss the message about a.txt").click()
    for _ in range(2):
        site.choose(tmp_path / "notes")
        page.get_by_text("not a known tokenizer format").wait_for()
    page.get_by_role("button", name="Open as text").click()
    site.shows("third")
    assert page.locator(".refusal").count() == 0


def dropped(page, *paths):
    """Drop files and folders on the page, as from a window of files."""
    session = page.context.new_cdp_session(page)
    data = {"items": [], "files": list(map(str, paths)), "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        event = {"type": kind, "x": 200, "y": 200, "data": data}
        session.send("Input.dispatchDragEvent", event)


def test_a_dropped_folder_opens_its_tokenizers(site, tmp_path):
    """In any view, by their names; weights beside them are not read, a folder without any is refused, and a file is open beside them."""
    own = bytepair.train_from_iterator(TEXTS, vocab_size=300, dialect="gpt2")
    own.save(tmp_path / "model")
    (tmp_path / "model" / "generation_config.json").write_text("{}")
    (tmp_path / "model" / "model.safetensors").write_bytes(b"no")
    (tmp_path / "empty").mkdir()
    own.save(tmp_path / "own.bytepair")
    page = site.open(fragment="view=trace&tokenizers=")
    dropped(page, *(tmp_path / name for name in ("model", "empty", "own.bytepair")))
    page.locator(".refusal").wait_for()
    said = page.locator(".refusal").inner_text()
    assert "empty is a folder with no tokenizer file in it" in said
    site.wait("Object.keys(playground.idsShown()).length === 2")
    site.write(TEXTS[1])
    ids = own.encode(TEXTS[1])
    assert site.ids() == {"model/vocab.json": ids, "own.bytepair": ids}


# Hostile and long texts

HOSTILE = [
    "<img src=x onerror=alert(1)><script>alert(2)</script>",
    "\u202eevil\u202c \u2066isolated\u2069 \u200f\u200e",
    "</textarea><svg onload=alert(3)>",
    "a" + "\u0301" * 3000,
    "\x00\x1b[2J\x7f",
    "{{constructor.constructor('alert(4)')()}}",
]


def test_a_hostile_text_does_no_harm(site):
    """It stays a text in every view, and no element comes from it."""
    page = site.open()
    made = page.locator("main img, main script, [onload], [onerror]")
    for text in HOSTILE:
        page.locator("#tab-encode").click()
        site.write(text)
        page.locator("#tab-trace").click()
        page.locator("#trace-word").fill(text)
        page.locator("#trace .strip-text .t").first.wait_for()
        page.locator("#tab-train").click()
        page.locator("#train-text").fill(text)
        page.locator("#train-counts").uncheck()
        page.locator("#train-merges").fill("5")
        page.locator("#train-form-button").click()
        site.wait("!document.getElementById('train-form-button').disabled")
        assert made.count() == 0


def test_surrogates_that_stand_alone_are_told(site):
    """They are encoded as U+FFFD, and the page says how many there are."""
    page = site.open()
    page.evaluate(
        """() => {
          const text = document.getElementById("text");
          text.value = "a\\ud800b\\udfffc😀";
          text.dispatchEvent(new Event("input"));
        }"""
    )
    page.get_by_text("2 lone surrogates are encoded").wait_for()
    own = page.evaluate(ENCODE_ALL, ["small-gpt2", ["a\ufffdb\ufffdc😀"], "text"])
    site.shows("a\ufffdb\ufffdc😀")
    assert site.ids()["small-gpt2"] == own[0]


def test_a_megabyte_stays_fluid(site):
    """Counts and copies cover all of it, a page of it is drawn, and the page answers meanwhile."""
    own = bytepair.train_from_iterator(TEXTS, vocab_size=400)
    page = site.open(fragment="tokenizers=")
    site.files(named_bytes("own.bytepair", own))
    numbers = (n * 7919 % 99991 for n in range(28_000))
    text = "".join(f"The river {n} runs to 東京, far.\n" for n in numbers)
    page.evaluate(PASTE, ["text", text])
    site.shows(text)
    n_drawn = page.locator("#encode .t").count()
    assert 100 < n_drawn < 6000
    ids = page.evaluate("JSON.stringify(playground.idsShown()['own.bytepair'])")
    assert json.loads(ids) == own.encode(text)
    page.get_by_text("The text is too long for the link").wait_for()
    assert len(page.evaluate("location.hash")) < 1000
    before = site.version()
    page.get_by_text("Next →").click()
    site.drawn_after(before)
    assert f"of {len(text.encode()):,}" in page.locator(".pager output").inner_text()
    page.locator("#encode .t").first.press("Enter")
    page.locator("#trace .rows-of-merges li").first.wait_for()
    assert len(page.locator("#text").input_value()) < 20_000
    # The thread of the page is free while the core encodes.
    longest = page.evaluate(
        """async () => {
          let turns = 0, isDone = false;
          playground.open[0].core.ask({op: "encode", special: "text", payload: new TextEncoder().encode(playground.shownText())}).then(() => { isDone = true; });
          while (!isDone) { await new Promise((resolve) => setTimeout(resolve)); turns += 1; }
          return turns;
        }"""
    )
    assert longest > 1


# The address, keys and the look


def test_a_link_keeps_text_and_settings(site):
    """A text of any script, also a long one, comes back from the address, and no request has it."""
    page = site.open()
    for text in (TEXTS[2] + " & #%+", "wörd " * 500):
        site.write(text)
        page.locator("label.toggle", has_text="Show ids").click()
        site.wait("before => location.hash.length > 10 && location.hash !== before", "")
        page.wait_for_timeout(350)
        page.get_by_role("button", name="Copy link").click()
        page.get_by_text("Copied the link").wait_for()
        url = page.evaluate("navigator.clipboard.readText()")
        assert url == page.url
        fragment = url.partition("#")[2]
        is_on = page.locator("#encode .t.tall").count() > 0
        page.goto("about:blank")
        page = site.open(fragment=fragment)
        assert page.locator("#text").input_value() == text
        assert (page.locator("#encode .t.tall").count() > 0) == is_on


@pytest.mark.parametrize(
    "fragment",
    ["view=no&text=%FF&chunk=-1e99&packed=AA", "%%%", "tokenizers=gone.json"],
)
def test_an_address_that_makes_no_sense_is_survived(fragment, site):
    """The page opens, and says what is missing."""
    page = site.open(fragment=fragment)
    assert page.locator("#encode .t").count() > 0 or "gone" in fragment
    if "gone" in fragment:
        page.get_by_text("The link also refers to gone.json").wait_for()


def packed(text):
    """Pack a text as a link does."""
    made = zlib.compressobj(9, zlib.DEFLATED, -15)
    found = base64.urlsafe_b64encode(made.compress(text) + made.flush())
    return "packed=" + found.decode().rstrip("=")


def test_a_link_cannot_unpack_to_gigabytes(site):
    """What a link of the page cannot hold is refused; a long text with a byte-order mark is whole."""
    page = site.open(fragment=packed(b"a" * 50_000_000))
    page.get_by_text("The text in the link is damaged").wait_for()
    assert page.evaluate("playground.state.text") is None
    text = "\ufeff" + "wörd " * 500
    page.goto("about:blank")
    page = site.open(fragment=packed(text.encode()))
    assert page.evaluate("playground.state.text") == text


def test_a_long_text_without_spaces_is_traced(site, tmp_path):
    """The piece that is chosen has whole characters; a shorter text begins anew."""
    path = tmp_path / "long.txt"
    path.write_text("东京是日本的首都。" * 3000, "utf-8")
    page = site.open(fragment="tokenizers=small-gpt2")
    site.choose(path)
    site.shows(path.read_text("utf-8"))
    page.locator("#encode .t[data-group='600']").press("Enter")
    page.locator("#trace .lead").get_by_text("The piece 东京是日本的首都").wait_for()
    page.locator("#tab-encode").click()
    page.get_by_role("button", name="Clear").click()
    site.write("short text")
    page.locator("#tab-trace").click()
    page.locator("#trace .lead").get_by_text("The piece short").wait_for()


def test_all_merges_are_listed_at_the_last_step(site):
    """Also those that were jumped over; settings that ask for nothing say so."""
    page = site.open(fragment="view=train&lesson=a-stream-of-bytes")
    site.wait("document.querySelector('#train .bars li') !== null")
    page.locator("#train-merges").fill("90")
    button = page.locator("#train-form-button")
    button.click()
    page.get_by_text("Before merge 1 of 90", exact=True).wait_for()
    page.locator("#train").get_by_label("Last step (End)").click()
    site.wait("document.querySelectorAll('#train .learned button').length === 90")
    page.locator("#train-merges").fill("0")
    button.click()
    page.get_by_text("Merges is set to 0").wait_for()
    page.locator("#train-pattern").select_option("custom")
    button.click()
    page.get_by_text("The regular expression is empty").wait_for()


def test_everything_is_reached_by_keys(site):
    """Views, the list of keys, tokens and steps."""
    page = site.open()
    page.locator("#encode .t[tabindex='0']").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.group") == "1"
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.row") == "1"
    page.keyboard.press("Enter")
    page.locator("#trace .rows-of-merges li").first.wait_for()
    page.keyboard.press("Escape")
    page.keyboard.press("Home")
    assert "Before merge 1" in page.locator("#trace output.step").inner_text()
    page.locator("#tab-train").click()
    page.locator("#train .bars li").first.wait_for()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):  # not to another view
        page.keyboard.press(key)
    page.get_by_text("Merge 1 of 11", exact=True).wait_for()
    page.keyboard.press("?")
    assert page.locator("dialog.keys").get_attribute("open") is not None
    page.keyboard.press("Escape")
    page.keyboard.press("t")
    assert page.evaluate("document.documentElement.dataset.theme") == "light"
    page.keyboard.press("1")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "text"


def test_another_address_in_the_same_window_is_shown(site):
    """Its text and its tokenizers; what is said of a damaged one goes with its text."""
    page = site.open(fragment="packed=AA")
    page.get_by_text("The text in the link is damaged").wait_for()
    site.write("new")
    assert "damaged" not in page.locator("#text-notes").inner_text()
    names = "playground.open.map((one) => one.name).join()"
    page.evaluate("location.hash = 'tokenizers=small-o200k&text=abc'")
    site.wait(f"{names} === 'small-o200k'")
    site.shows("abc")
    page.evaluate("location.hash = 'text=xyz'")
    site.wait(f"{names} === 'small-gpt2,small-sentencepiece'")
    site.shows("xyz")
    site.wait("Object.keys(playground.idsShown()).length === 2")


SLIDE = """async (parts) => {
  const slider = document.querySelector(".pager input");
  for (const part of parts) {
    slider.value = String(part);
    slider.dispatchEvent(new Event("input"));
  }
  await playground.open[0].core.ask({op: "tokens", ids: [0]}); // behind what was asked for the parts
  await new Promise((resolve) => setTimeout(resolve, 100));
  return [slider.isConnected, document.querySelector("#encode .t").dataset.group];
}"""


def test_the_part_that_was_asked_for_last_is_shown(site, tmp_path):
    """Also if its tokens are known, so that it is drawn before an earlier one; the slider stays to be dragged."""
    path = tmp_path / "long.txt"
    path.write_text("".join(f"{chr(0x4E00 + n)} line\n" for n in range(1500)), "utf-8")
    page = site.open(fragment="tokenizers=small-gpt2")
    site.choose(path)
    site.shows(path.read_text("utf-8"))
    assert page.evaluate(SLIDE, [7, 0]) == [True, "0"]
    before = site.version()
    page.get_by_text("Next →").focus()
    page.keyboard.press("Enter")
    site.drawn_after(before)
    assert page.evaluate("document.activeElement.textContent") == "Next →"


def test_a_tokenizer_can_be_removed_while_it_encodes(site, tmp_path):
    """Nothing is asked of it afterwards, and the others are shown."""
    path = tmp_path / "long.txt"
    path.write_text("".join(f"word{n} " for n in range(15_000)))
    page = site.open()
    site.choose(path)
    site.wait("() => playground.state.text?.length > 1000")
    page.wait_for_timeout(40)
    page.evaluate("playground.remove('small-gpt2')")
    site.wait("Object.keys(playground.idsShown()).join() === 'small-sentencepiece'")
    site.shows(path.read_text())
    assert page.locator(".tokenizer").count() == 1


def test_the_list_keeps_its_focus_and_descriptions(site):
    """Each control has a name of its own; where a tokenizer is removed, another one has the focus."""
    page = site.open()
    names = "(all) => all.map((one) => one.ariaLabel ?? one.textContent)"
    labels = page.locator("#encode .tokenizer button, #encode .t").evaluate_all(names)
    assert len([*filter(None, labels)]) == len(labels)
    assert len(set(labels[:10])) == 10
    assert [label[-3:] for label in labels[10:12]] == [", A", ", B"]
    first = page.locator(".tokenizer").first
    first.get_by_text("About").click()
    site.write("another text")
    assert page.locator(".tokenizer dl").count() == 1
    first.get_by_text("Copy JSON").focus()
    page.evaluate("document.querySelector('input[name=special][value=tokens]').click()")
    page.wait_for_timeout(400)
    assert page.evaluate("document.activeElement.textContent") == "Copy JSON"
    page.get_by_label("Remove small-gpt2").press("Enter")
    site.wait("document.querySelectorAll('.tokenizer').length === 1")
    focused = page.evaluate("document.activeElement.closest('.tokenizer')?.innerText")
    assert (focused or "").startswith("A\nsmall-sentencepiece")


def test_moving_among_tokens_is_not_chatty(site):
    """Only what is at the focus is said; counts are said when the writer pauses; lists act on a choice."""
    page = site.open()
    page.evaluate(
        """() => {
          globalThis.heard = [];
          new MutationObserver((changes) => changes.forEach(({target}) => {
            const live = (target.nodeType === 1 ? target : target.parentElement).closest("[aria-live], [role=status], [role=alert]");
            if (live) heard.push(live.id || live.className);
          })).observe(document.body, {subtree: true, childList: true, characterData: true});
        }"""
    )
    page.locator("#encode .t[tabindex='0']").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator(".inspector .card dl").inner_text()
    for text in ("a", "ab", "abc"):
        site.write(text)
    assert page.evaluate("heard") == []
    site.wait("heard.length > 0")
    assert set(page.evaluate("heard")) == {"unseen"}
    box = page.get_by_label("Use a sample text")
    box.focus()
    page.keyboard.press("End")
    page.keyboard.press("Escape")
    assert page.locator("#text").input_value() == "abc"


FAINT = """() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const light = (colours) => {
    for (const [colour, alpha] of colours) { canvas.globalAlpha = alpha; canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((c) => c / 255)
      .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)).reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  };
  const contrast = (box, around = []) => {
    for (let one = box; one; one = one.parentElement) around.unshift(getComputedStyle(one));
    const rect = box.parentElement.querySelector(":scope > rect"), own = around.at(-1);
    const grounds = around.map((one) => [one.backgroundColor, 1]);
    if (rect) grounds.push([getComputedStyle(rect).fill, getComputedStyle(rect).opacity]);
    const alpha = around.reduce((product, one) => product * one.opacity, 1);
    const [dark, bright] = [light(grounds), light([...grounds, [rect ? own.fill : own.color, alpha]])].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const hasText = (one) => [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  return [...document.body.querySelectorAll("*")].filter((one) => hasText(one) && one.checkVisibility() && !one.closest(":disabled, .unseen, #said, [aria-hidden=true]"))
    .map((one) => [one.textContent.slice(0, 40), contrast(one)]).filter(([, found]) => found < 4.5);
}"""


LOOKS = [(size, scheme) for size in SIZES for scheme in ("light", "dark")]


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_view_fits_and_can_be_read(size, scheme, browser):
    """No view is wider than the window, and text on every ground has a contrast of 4.5 at least."""
    width, height = SIZES[size]
    window = {"width": width, "height": height}
    site = Site(browser, viewport=window, color_scheme=scheme)
    page = site.open()
    page.locator("#encode .t").first.click()
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        page.wait_for_timeout(250)
        if view != "encode":
            for _ in range(3):
                page.locator(f"#{view} .player button").nth(3).click(force=True)
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        assert wide <= 0, view
        assert page.evaluate(FAINT) == [], view
    site.context.close()
    assert site.faults == []


OUTSIDE = """() => {
  const list = document.querySelector("#encode .tokenizers").getBoundingClientRect();
  return [...document.querySelectorAll("#encode .tokenizer > *, #encode .tokenizer button")]
    .filter((one) => { const {left, right, width} = one.getBoundingClientRect(); return width > 0 && (left < list.left - 1 || right > list.right + 1); })
    .map((one) => one.textContent);
}"""


def test_the_list_is_whole_at_any_width(site):
    """No button is cut off, as at a zoom of 200 %, and the buttons of a tokenizer that refuses a text stand where the others do."""
    page = site.open()
    counts = {"low": 5, "lower": 2}
    own = bytepair.train_from_counts(counts, dialect="subword-nmt")
    site.files(named_bytes("a-tokenizer-with-a-long-name.bytepair", own))
    site.write("word")
    page.locator(".tokenizer .problem").wait_for()
    for width in (340, 390, 620, 621, 720, 820, 821, 900, 1100, 1300, 1301, 1440):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate(OUTSIDE) == [], width
        buttons = page.get_by_label(re.compile("^Remove "))
        first, third = (buttons.nth(n).bounding_box()["x"] for n in (0, 2))
        assert abs(first - third) < 2, width


def test_what_the_tests_would_hear_of_is_heard(browser, tmp_path):
    """An error, a dialog and a request on a bad page are all noted."""
    path = tmp_path / "bad.html"
    bad = "alert(1); fetch('http://127.0.0.1:9/'); throw Error('no')"
    path.write_text(f"<!doctype html><script>{bad}</script>")
    site = Site(browser)
    site.page.goto(path.as_uri())
    site.page.wait_for_timeout(200)
    site.context.close()
    assert {"1", "no"} <= set(site.faults)
    assert "http://127.0.0.1:9/" in site.requests
