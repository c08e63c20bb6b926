"""The site: what its pages are made of. No page is built here, and nothing of MkDocs is needed."""

import doctest
import importlib
import json
from pathlib import Path

import pytest
from docs.website import (
    check_links,
    gallery,
    links,
    lists,
    measured,
    navigation,
    reference,
    tables,
)

import bytepair

REPOSITORY = Path(__file__).parent.parent
PURE = ["check_links", "docstrings", "gallery", "hero", "links", "lists", "measured"]
PURE += ["navigation", "plain", "reference", "tables"]
EXAMPLES = sorted((REPOSITORY / "docs" / "examples").glob("*.py"))


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
    assert len(pages) > 20
    assert "`--max-growth PERCENT`" in pages["compare.md"]
    for name in pages:
        assert f"](command-line/{name})" in linked, name
        assert "--help`" in pages[name], name


def test_every_exit_code_is_listed():
    """The codes are those of the docstring of the command line."""
    from bytepair import cli

    codes = [code for code, _ in reference.exit_codes(cli.__doc__)]
    assert codes == ["0", "1", "2", "3", "130", "141"]


def test_every_name_of_the_package_has_a_page():
    """What users call is in the tables of names, and on one page each."""
    api = (REPOSITORY / "docs/reference/api.md").read_text(encoding="utf-8")
    text = "".join(reference.python_pages(api).values())
    assert {f"::: bytepair.{name}" for name in bytepair.__all__} <= {*text.split("\n")}


def test_every_dialect_pattern_and_error_is_described():
    """Each name is a heading."""
    described = reference.dialects()
    assert all(f"### {name}\n" in described for name in bytepair.dialects())
    listed = reference.patterns()
    assert all(f"## {name}\n" in listed for name in bytepair.patterns())
    classes = reference.errors()
    assert all(f"### {name}\n" in classes for name in bytepair.errors.__all__)


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


def test_every_error_but_ctrl_c_is_shown_with_its_message():
    """The examples of the classes are run, and what they raise is shown."""
    assert reference.errors().count('title="The message"') == 9


def test_special_tokens_of_encodings_are_counted(monkeypatch):
    """The numbers are those of the publishers' files: one in GPT-2's, 256 of Llama 3."""
    monkeypatch.chdir(REPOSITORY)
    rows = reference.encodings().splitlines()
    (first,) = [row for row in rows if row.startswith("| `r50k_base`")]
    (llama,) = [row for row in rows if row.startswith("| `llama3` ")]
    assert first.endswith("50,256 | [`gpt2`](patterns.md#gpt2) | 1 |")
    assert "128,000" in llama
    assert llama.endswith(" 256 |")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_notebooks_of_examples_hold_all_of_their_code(path):
    """The cells in turn are the program, and each has what version 4.5 of the format wants."""
    source = path.read_text(encoding="utf-8")
    found = json.loads(gallery.notebook(source))
    cells = [cell for cell in found["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(cell["source"] for cell in cells)
    compile(code, path.name, "exec")
    lines = [line for line in source.split("\n") if line.strip()]
    assert lines[-1] in code
    names = [f"cell-{number}" for number in range(len(found["cells"]))]
    assert [cell["id"] for cell in found["cells"]] == names


def test_cells_that_are_lost_are_listed():
    """The page of benchmarks has a row for each cell in which a peer is ahead."""
    paths = sorted((REPOSITORY / "benchmarks/results").glob("*.json"))
    texts = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    cells = [cell for text in texts for cell in measured.cells_of(text)]
    written = [cell for text in texts for cell in text.get("cells", [])]
    n_ahead = sum(ratio < 1 for cell in written for ratio in cell["ratios"].values())
    files = [f"results/{number}" for number in range(len(texts))]
    page = measured.page(texts, cells, files)
    _, _, section = page.partition("## Cells in which bytepair is slower")
    section, _, _ = section.partition("These are ratios")
    assert section.count("\n| ") - 1 == n_ahead > 0


def test_folders_of_the_navigation_take_new_pages():
    """A page that nobody named stands in the section of its folder."""
    nav = [{"How-to": "how-to/"}]
    found = navigation.completed(nav, ["how-to/new.md"], [])
    assert found == [{"How-to": ["how-to/new.md"]}]


def test_code_in_lists_keeps_its_own_spaces():
    """A block that belongs to an item moves with it, and nothing in it is taken for a list."""
    text = "1. a\n\n   ```sh\n   - b\n     c\n   ```\n2. d"
    expected = "1. a\n\n    ```sh\n    - b\n      c\n    ```\n2. d"
    assert lists.spaced_lists(text) == expected


def test_code_keeps_the_spaces_that_belong_to_it():
    """A token that begins with a space is shown with it; text between two codes is not taken for code."""
    text = "`king` and ` king`; `a `, ``  `b` ``\n\n```\n` c`\n```\n"
    marked = tables.marked_spaces(text)
    expected = text.replace("` k", "`!k").replace("`a `", "`a!`")
    assert marked.replace(tables.SPACE, "!") == expected
    html = f"<p><code>{tables.SPACE}king</code> <code>king</code></p>"
    expected = '<p><code class="bp-space"> king</code> <code>king</code></p>'
    assert tables.with_spaces(html) == expected


def test_options_in_code_are_not_broken_at_their_hyphens():
    """An option, and a cell of one sign, stay on one line; what is long may break."""
    html = "<td>✓</td><code>a-b</code><code>train --merges 1 -o x.json</code>"
    assert tables.without_breaks(html) == (
        '<td class="bp-mark">✓</td><code class="bp-word">a-b</code>'
        '<code>train <span class="bp-word">--merges</span> 1 <span class="bp-word">-o</span> x.json</code>'
    )
    long = f"<code>a {'b-' * 20}c</code>"
    assert tables.without_breaks(long) == long
    # A cell with a sentence is marked by the length of its text, not of its tags.
    words = "word " * 9
    cells = f"<td>{words}</td><td><em>{'w' * 38}</em></td><td style='x'>{words}</td>"
    expected = cells.replace("<td>w", '<td class="bp-long">w')
    assert tables.without_breaks(cells) == expected


PAGES = sorted(
    path.relative_to(REPOSITORY).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "benchmarks/tried/*.md")
    for path in REPOSITORY.glob(pattern)
)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_to_headings_that_are_there(name):
    """Each anchor that a page links to is that of a heading, as Git hosts and the site name it."""
    path = REPOSITORY / name
    for target, anchor in links.anchors(path.read_text(encoding="utf-8")):
        page = path.parent / target if target else path
        headings = links.headings(page.read_text(encoding="utf-8"))
        assert anchor in headings, (target, anchor, headings)


def test_dead_links_and_foreign_scripts_are_found():
    """The check of the built site finds what must not be there, each once."""
    pages = {
        "index.html": check_links.read(
            '<a href="a.html#no">x</a><a href="b.html">x</a>'
            '<script src="https://example.org/x.js"></script>'
            '<a href="https://example.org/">x</a>'
        ),
        "a.html": check_links.read('<h1 id="yes">A</h1><a href="./index.html">x</a>'),
    }
    assert list(check_links.faults(pages, set())) == [
        "index.html: a.html#no: a.html has no such anchor",
        "index.html: b.html: there is no b.html",
        "index.html: https://example.org/x.js is loaded from another host",
    ]
