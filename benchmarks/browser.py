r"""``python -m benchmarks.browser``: the playground's load, and the rate of its core beside libraries of JavaScript.

The built page is opened in headless Chromium, in a fresh window each time. Measured are the time from opening it to the
first tokens, the time from pasting a megabyte to its tokens, and the longest time in which the page did not answer. Then
the core in WebAssembly and each library encode the same texts in turns, in one page; all ids must equal Python's. The
core also gives the span of each token and the groups of tokens that make whole characters; the libraries give ids only.

Libraries are scripts in a folder (``--libraries``), each bundled with its global name:

    npm install @huggingface/tokenizers gpt-tokenizer js-tiktoken esbuild
    npx esbuild node_modules/@huggingface/tokenizers --bundle --global-name=huggingface_tokenizers --outfile=huggingface_tokenizers.js
    npx esbuild node_modules/js-tiktoken/dist/lite.js --bundle --global-name=js_tiktoken --outfile=js_tiktoken.js
    npx esbuild node_modules/gpt-tokenizer/esm/encoding/r50k_base.js --bundle --global-name=gpt_tokenizer_r50k_base \
      --outfile=gpt_tokenizer_r50k_base.js    # and o200k_base

Libraries without such a script are left out. Needs Playwright (the group ``browser``), Chromium and ``make playground``.
"""

from __future__ import annotations

import argparse
import base64
import json
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from . import texts

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

REPOSITORY = Path(__file__).parent.parent
PAGE = REPOSITORY / "python/bytepair/playground/index.html"
WASM = REPOSITORY / "target/playground/wasm32-unknown-unknown/wasm/bytepair_wasm.wasm"
MEGABYTE = 1_000_000


class Case(NamedTuple):
    """A vocabulary: the file that the core opens, and the libraries with the same ids."""

    name: str
    file: str
    libraries: dict[str, str]
    """For each library, the file that it reads; empty where its script holds the vocabulary."""
    pattern: str = ""
    """How js-tiktoken splits, which reads ranks alone."""


CASES = [
    Case(
        "r50k_base",
        "tiktoken/r50k_base.tiktoken",
        {
            "gpt_tokenizer_r50k_base": "",
            "js_tiktoken": "tiktoken/r50k_base.tiktoken",
            "huggingface_tokenizers": "gpt2/tokenizer.json",
        },
        r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    ),
    Case(
        "o200k_base",
        "tiktoken/o200k_base.tiktoken",
        {"gpt_tokenizer_o200k_base": "", "js_tiktoken": "tiktoken/o200k_base.tiktoken"},
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
        r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
    Case(
        "qwen3",
        "qwen3/tokenizer.json",
        {"huggingface_tokenizers": "qwen3/tokenizer.json"},
    ),
]
TEXTS = {
    "english-docs.txt": "English docs",
    "chinese.txt": "Chinese",
    "code.txt": "code",
}
ENGINE_OF = {
    "bytepair": "bytepair",
    "gpt-tokenizer": "gpt_tokenizer",
    "js-tiktoken": "js_tiktoken",
    "@huggingface/tokenizers": "huggingface_tokenizers",
}
COLUMNS = ["vocabulary, text", *ENGINE_OF]

# What each engine does with a file: a function that gives the ids of a text.
ENGINES = """
globalThis.bytes = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
globalThis.engines = {
  async bytepair(file, {name, wasm}) {
    const core = await openCore(wasm);
    const {tokenizer} = core.call({op: "open", files: [{name, length: file.length}]}, file);
    return (text) => {
      const {payload, n_tokens} = core.call({op: "encode", special: "text", tokenizer}, new TextEncoder().encode(text));
      return new Uint32Array(payload.buffer, payload.byteOffset, n_tokens);
    };
  },
  async gpt_tokenizer_r50k_base() { return (text) => gpt_tokenizer_r50k_base.encode(text); },
  async gpt_tokenizer_o200k_base() { return (text) => gpt_tokenizer_o200k_base.encode(text); },
  async js_tiktoken(file, {pattern}) {
    const tokens = new TextDecoder().decode(file).split("\\n").filter(Boolean).map((line) => line.split(" ")[0]);
    const tokenizer = new js_tiktoken.Tiktoken({pat_str: pattern, special_tokens: {}, bpe_ranks: `! 0 ${tokens.join(" ")}`});
    return (text) => tokenizer.encode(text, [], []);
  },
  async huggingface_tokenizers(file) {
    const tokenizer = new huggingface_tokenizers.Tokenizer(JSON.parse(new TextDecoder().decode(file)), {});
    return (text) => tokenizer.encode(text, {add_special_tokens: false}).ids;
  },
};
globalThis.hash = (ids) => { let sum = 0; for (const id of ids) sum = (Math.imul(sum, 31) + id) >>> 0; return sum; };
"""

OPEN = """async ([engine, file, settings]) => {
  globalThis.opened ??= {};
  const data = bytes(file);
  const wasm = bytes(settings.wasm);
  const began = performance.now();
  opened[engine] = await engines[engine](data, {...settings, wasm});
  return performance.now() - began;
}"""

RUN = """([engine, text]) => {
  const began = performance.now();
  const ids = opened[engine](text);
  const milliseconds = performance.now() - began;
  return [milliseconds, ids.length, hash(ids)];
}"""

PASTE = """(text) => {
  globalThis.longest = 0;
  let last = performance.now();
  globalThis.watch = setInterval(() => { const now = performance.now(); longest = Math.max(longest, now - last); last = now; }, 4);
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const box = document.getElementById("text");
  box.select();
  box.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true, cancelable: true}));
}"""


def main() -> int:
    """Measure and print; 1 where ids differ."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--libraries", type=Path, help="a folder of bundled scripts")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the table of rates, too")
    arguments = parser.parse_args()
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    path = next(filter(None, map(shutil.which, names)), None)
    with sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=path, args=options)
        version = browser.version
        print(f"Chromium {version}\n")
        load(browser, arguments.rounds)
        found = [
            rates(browser, case, arguments.libraries, arguments.rounds)
            for case in CASES
        ]
        browser.close()
    rows = [row for one in found for row in one.rows]
    for row in (COLUMNS, *rows):
        print(f"{row[0]:<26}", *(f"{cell:>24}" for cell in row[1:]))
    if arguments.json:
        table = {"conditions": f"Chromium {version}", "columns": COLUMNS, "rows": rows}
        arguments.json.write_text(json.dumps(table, indent=1), encoding="utf-8")
    wrong = [name for one in found for name in one.wrong]
    for name in wrong:
        print(f"other ids than Python's: {name}", file=sys.stderr)
    return 1 if wrong else 0


def load(browser: Browser, n_rounds: int) -> None:
    """Open the page in fresh windows, and print what that takes."""
    text = excerpt("english-docs.txt")
    found = [loaded_once(browser, text) for _ in range(n_rounds)]
    print(f"{'the page, medians':<40}{'seconds':>9}{'least':>8}{'most':>8}")
    for what in found[0]:
        seconds = [one[what] for one in found]
        middle = statistics.median(seconds)
        print(f"{what:<40}{middle:>9.2f}{min(seconds):>8.2f}{max(seconds):>8.2f}")
    print()


def loaded_once(browser: Browser, text: str) -> dict[str, float]:
    """Open the page and paste a text; gives seconds."""
    context = browser.new_context()
    page = context.new_page()
    began = time.perf_counter()
    page.goto(PAGE.as_uri())
    wait(page, "globalThis.firstTokens > 0")
    first = time.perf_counter() - began
    began = time.perf_counter()
    page.evaluate(PASTE, text)
    wait(page, f"playground.shownText().length === {len(text)}")
    pasted = time.perf_counter() - began
    longest = page.evaluate("longest") / 1000
    context.close()
    return {
        "to the first tokens": first,
        "from 1 MB to its tokens": pasted,
        "the page did not answer for": longest,
    }


def wait(page: Page, condition: str) -> None:
    """Wait until a condition holds. The page's policy lets no text of a script be evaluated inside."""
    while not page.evaluate(condition):
        time.sleep(0.005)


class Rates(NamedTuple):
    """Rows of the table, and the cells whose ids are not Python's."""

    rows: list[list[str]]
    wrong: list[str]


def rates(browser: Browser, case: Case, libraries: Path | None, n_rounds: int) -> Rates:
    """Encode by the core and each library in turns."""
    import bytepair

    vocabularies = texts.SHARED / "vocabularies"
    own = bytepair.Tokenizer.from_file(vocabularies / case.file)
    page = browser.new_context().new_page()
    opening = open_all(page, case, vocabularies, libraries)
    times = {name: f"{taken:,.0f}" for name, taken in opening.items()}
    rows, wrong = [row_of(case, "opening, ms", times)], []
    for source in TEXTS:
        text = excerpt(source)
        ids = own.encode(text)
        found: dict[str, list[float]] = {name: [] for name in opening}
        for _ in range(n_rounds):
            for name in opening:
                milliseconds, *answer = page.evaluate(RUN, [name, text])
                found[name].append(milliseconds)
                if answer != [len(ids), hash_of(ids)]:
                    wrong.append(f"{case.name}, {source}, {name}")
        size = len(text.encode()) / 1e3
        cells = {
            name: f"{size / statistics.median(t):.2f}" for name, t in found.items()
        }
        rows.append(row_of(case, TEXTS[source], cells))
    page.context.close()
    return Rates(rows, sorted(set(wrong)))


def open_all(
    page: Page, case: Case, vocabularies: Path, libraries: Path | None
) -> dict[str, float]:
    """Open the vocabulary in the core and in each library that is there; gives milliseconds."""
    core = (REPOSITORY / "playground/core.js").read_text(encoding="utf-8")
    page.add_script_tag(content=ENGINES)
    page.add_script_tag(content=core.replace("export ", ""))
    settings = {"name": Path(case.file).name, "pattern": case.pattern}
    settings["wasm"] = in_base64(WASM)
    files = {"bytepair": case.file}
    for name, file in case.libraries.items():
        script = libraries / f"{name}.js" if libraries else None
        if script is not None and script.exists():
            page.add_script_tag(path=script)
            files[name] = file
    data = {n: in_base64(vocabularies / f) if f else "" for n, f in files.items()}
    return {name: page.evaluate(OPEN, [name, data[name], settings]) for name in files}


def row_of(case: Case, what: str, cells: dict[str, str]) -> list[str]:
    """Give a row of the table, with a hyphen for each library that did not run.

    A script that holds a vocabulary also has the name of the vocabulary.
    """
    found = {name.removesuffix(f"_{case.name}"): cell for name, cell in cells.items()}
    row = (found.get(engine, "-") for engine in ENGINE_OF.values())
    return [f"{case.name}, {what}", *row]


def excerpt(name: str) -> str:
    """Give the first megabyte of a text, whole characters only."""
    data = (texts.SHARED / "corpora" / name).read_bytes()[:MEGABYTE]
    return data.decode("utf-8", errors="ignore").replace("\r", "")


def in_base64(path: Path) -> str:
    """Give a file as text."""
    return base64.b64encode(path.read_bytes()).decode()


def hash_of(ids: list[int]) -> int:
    """Give one number for ids, the same as the page's."""
    total = 0
    for one in ids:
        total = (total * 31 + one) % (1 << 32)
    return total


if __name__ == "__main__":
    sys.exit(main())
