"""The site: what its pages are made of. No page is built here, and nothing of MkDocs is needed."""

import doctest
import importlib
import json
import pkgutil
import re
from pathlib import Path

import pytest
from docs.website import check_links, measured, reference

import bytepair

REPOSITORY = Path(__file__).parent.parent
PURE = ["check_links", "docstrings", "gallery", "measured", "reference"]


@pytest.mark.parametrize("name", PURE)
def test_the_examples_of_a_module_run(name):
    """What the docstrings of the generator show is what it gives."""
    module = importlib.import_module(f"docs.website.{name}")
    found = doctest.testmod(module)
    assert (found.failed, found.attempted > 0) == (0, True)


def test_every_command_has_a_page_with_all_of_its_options():
    """Each command of the list is linked to its page, which has the command's own options."""
    pages = reference.commands()
    written = (REPOSITORY / "docs/reference/commands.md").read_text(encoding="utf-8")
    linked = reference.with_links(written)
    assert len(pages) == 20
    assert "`--max-growth PERCENT`" in pages["compare.md"]
    for name in pages:
        assert f"](command-line/{name})" in linked, name
        assert "--help`" in pages[name], name


def test_every_exit_code_is_listed():
    """The codes are those of the docstring of the command line."""
    from bytepair import cli

    codes = [code for code, _ in reference.exit_codes(cli.__doc__)]
    assert codes == ["0", "1", "2", "3", "130", "141"]


def test_every_name_of_the_package_has_a_page(monkeypatch):
    """What users call is in the tables of names, and on one page each; no page is of another name."""
    monkeypatch.chdir(REPOSITORY)
    text = "".join(reference.python_pages().values())
    assert {f"::: bytepair.{name}" for name in bytepair.__all__} <= {*text.split("\n")}
    for path in re.findall(r"^::: (\S+)", text, re.MULTILINE):
        if ".compat." not in path:  # needs its library
            pkgutil.resolve_name(path)


def test_every_dialect_and_pattern_is_described():
    """Each name is a heading."""
    described = reference.dialects()
    assert all(f"### {name}\n" in described for name in bytepair.dialects())
    listed = reference.patterns()
    assert all(f"## {name}\n" in listed for name in bytepair.patterns())


def test_patterns_are_shown_as_they_can_be_copied():
    """The lines of each pattern, copied from the page, cut the sample as the named pattern does."""
    sections = reference.patterns().split("\n## ")[1:]
    assert not any("Merged" in section for section in sections)
    for section in sections:
        name, _, text = section.partition("\n")
        shown = text.split("```")[1].removeprefix("text\n").strip("\n").split("\n")
        if " dropped." in text or " joined " in text or name == "superbpe":
            continue  # these need more than a pattern; superbpe cuts at matches of nothing
        options = {"merges": 0, "dialect": "byte-stream"}
        copied, named = (
            bytepair.train_from_counts({"a": 1}, pattern=pattern, **options)
            for pattern in (shown, name)
        )
        for sample in (reference.SAMPLE, "a\r\n\n b\t1234567\u200b"):
            assert copied.split(sample) == named.split(sample), name


def test_special_tokens_of_encodings_are_counted(monkeypatch):
    """The numbers are those of the publishers' files: one in GPT-2's, 256 of Llama 3."""
    monkeypatch.chdir(REPOSITORY)
    rows = reference.encodings().splitlines()
    (first,) = [row for row in rows if row.startswith("| `r50k_base`")]
    (llama,) = [row for row in rows if row.startswith("| `llama3` ")]
    assert first.endswith("50,256 | [`gpt2`](patterns.md#gpt2) | 1 |")
    assert "128,000" in llama
    assert llama.endswith(" 256 |")


def test_cells_that_are_lost_are_listed():
    """The page of benchmarks has a row for each cell in which a peer is ahead."""
    paths = sorted((REPOSITORY / "benchmarks/results").glob("*.json"))
    texts = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    written = [cell for text in texts for cell in text.get("cells", [])]
    n_ahead = sum(ratio < 1 for cell in written for ratio in cell["ratios"].values())
    page = measured.page(paths, [])
    _, _, section = page.partition("## Cells in which bytepair is slower")
    section, _, _ = section.partition("These are ratios")
    assert section.count("\n| ") - 1 == n_ahead > 0


PAGES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/**/*.md")
    for path in REPOSITORY.glob(pattern)
)


FENCE = re.compile(r"^ *(`{3,}).*?^ *\1$", re.DOTALL | re.MULTILINE)


def anchors(markdown):
    """Give the anchors of a page's headings, as Git hosts and the site name them."""
    found = []
    for title in re.findall(r"^#{1,6} +(.+)$", FENCE.sub("", markdown), re.MULTILINE):
        plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()
        name = re.sub(r"[^\w\- ]", "", plain).strip().replace(" ", "-")
        n_before = sum(re.sub(r"-\d+$", "", anchor) == name for anchor in found)
        found.append(f"{name}-{n_before}" if name in found else name)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    """Each file that a page links to is there, and each anchor is that of a heading, as Git hosts and the site name it."""
    path = REPOSITORY / name
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for target, anchor in re.findall(r"\]\(([^()\s:#]*)(?:#([^()\s]+))?\)", text):
        page = path.parent / target if target else path
        assert page.exists(), target
        if anchor:
            assert anchor in anchors(page.read_text(encoding="utf-8")), (target, anchor)


def test_dead_links_and_foreign_scripts_are_found():
    """The check of the built site finds what must not be there, each once."""
    pages = {
        "index.html": check_links.Page(
            '<a href="a.html#no">x</a><a href="b.html">x</a>'
            '<script src="https://example.org/x.js"></script>'
            '<a href="https://example.org/">x</a>'
        ),
        "a.html": check_links.Page('<h1 id="yes">A</h1><a href="./index.html">x</a>'),
    }
    assert list(check_links.faults(pages, {*pages})) == [
        "index.html: a.html#no: a.html has no such anchor",
        "index.html: b.html: there is no b.html",
        "index.html: https://example.org/x.js is loaded from another host",
    ]
