"""The generated part of the reference: each function gives Markdown, made from what the package says of itself.

Commands come from their help, dialects and patterns from tokenizers that have learned nothing.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

__all__ = [
    "all_commands",
    "commands",
    "dialects",
    "encodings",
    "patterns",
    "python_pages",
    "with_links",
]

ENCODINGS = Path("crates/bytepair-formats/src/encodings/published.json")
SAMPLE = "The children's 1234 naïve cafés: 東京タワー, isn't_it?"


# The command line


def commands() -> dict[str, str]:
    """Give a page for each command, with all of its options."""
    import click

    from bytepair.cli.app import app
    from bytepair.cli.command import sections_of
    from bytepair.cli.commands import COMMANDS

    pages = {}
    for entry in COMMANDS:
        command = app.get_command(click.Context(app), entry.name)
        context = click.Context(command, info_name=f"bytepair {entry.name}")
        lines = [f"# bytepair {entry.name}", ""]
        for paragraph in (command.help or "").split("\n\n"):
            lines += [escaped(" ".join(paragraph.split())), ""]
        usage = context.get_usage().removeprefix("Usage: ")
        lines += ["```text", usage, "```", ""]
        lines += ["```sh", *command.examples, "```", ""]
        for title, rows in sections_of(command, context).items():
            lines += [f"## {title}", "", *definitions(rows)]
        pages[f"{entry.name}.md"] = "\n".join(lines)
    return pages


def all_commands() -> str:
    """Describe what all commands have in common: the options before the command, and exit codes."""
    import click

    from bytepair import cli
    from bytepair.cli.app import app
    from bytepair.cli.command import sections_of

    context = click.Context(app, info_name="bytepair")
    lines: list[str] = []
    for pairs in sections_of(app, context).values():
        lines += ["## Options without a command", "", *definitions(pairs)]
    lines += ["## Exit codes", "", "| code | meaning |", "|---:|---|"]
    lines += [
        f"| {code} | {escaped(meaning)} |"
        for code, meaning in exit_codes(cli.__doc__ or "")
    ]
    return "\n".join(lines) + "\n"


def exit_codes(docstring: str) -> list[tuple[str, str]]:
    r"""Read the list of exit codes in the docstring of the command line.

    >>> exit_codes("Exit codes: 0 done; 1 refused, with\none line; 130 after Ctrl-C.")
    [('0', 'done'), ('1', 'refused, with one line'), ('130', 'after Ctrl-C')]
    """
    _, _, text = " ".join(docstring.split()).partition("Exit codes: ")
    return re.findall(r"(\d+) (.+?)(?:; |\.(?: |$))", text)


def definitions(rows: Iterable[tuple[str, str]]) -> list[str]:
    r"""Draw terms and what they mean as a list of definitions.

    >>> definitions([("--port N", "The port.  [default: 80]")])
    ['`--port N`', ':   The port. \\[default: 80\\]', '']
    """
    lines = []
    for term, text in rows:
        lines += [f"`{term}`", f":   {escaped(' '.join(text.split())) or '-'}", ""]
    return lines


def escaped(text: str) -> str:
    r"""Write plain text as Markdown, with options and quoted code as code.

    >>> escaped("Use --lines, a*b <x> or ``y``; '' is none.")
    "Use `--lines`, a\\*b &lt;x> or `y`; `''` is none."
    """
    parts = re.split(r"(``.+?``|(?<![\w`-])--[a-z][a-z-]*|(?<!\S)''(?!\S))", text)
    for place in range(0, len(parts), 2):
        plain = re.sub(r"([\\`*_\[\]|])", r"\\\1", parts[place])
        parts[place] = plain.replace("<", "&lt;")
    for place in range(1, len(parts), 2):
        parts[place] = f"`{parts[place].strip('`')}`"
    return "".join(parts)


# Dialects, patterns and encodings


def dialects() -> str:
    """Show each dialect as a tokenizer of it that has learned nothing describes itself."""
    import bytepair

    lines = ["## Each dialect in full", "", OF_DIALECTS, ""]
    lines += ['```text title="The sample"', SAMPLE, "```", ""]
    for name in bytepair.dialects():
        tokenizer = untrained(dialect=name)
        shown = "\n".join(visible(line) for line in str(tokenizer).split("\n"))
        lines += [f"### {name}", "", "```text", shown, "```", ""]
        lines += [f"Pieces of the sample: {pieces(tokenizer)}", ""]
    return "\n".join(lines)


OF_DIALECTS = (
    "This section lists the parts of each dialect, and the pieces into which it cuts a sample. A dialect is a name for these "
    "parts: `pattern=`, `ties=`, `min_count=` and other options set each part separately."
)
BEHAVIOURS = {
    "the rest is dropped": "The rest is dropped.",
    "Removed": "Matches are dropped.",
    "MergedWithNext": "Matches are joined with the text after them.",
    "MergedWithPrevious": "Matches are joined with the text before them.",
    "Contiguous": "Adjacent matches are joined.",
}


def untrained(**parts: Any) -> Any:
    """Make a tokenizer of some parts that has learned nothing."""
    import bytepair

    return bytepair.train_from_counts({"a": 1}, merges=0, min_count=1, **parts)


def stage_parts(split: str) -> list[tuple[str, str]]:
    r"""Part what a splitter says of itself into its patterns, each with what becomes of the text around it.

    Characters that cannot be seen are written as a pattern may name them.

    >>> stage_parts("[\r\n], then \\S+ (the rest is dropped)")
    [('[\\r\\n]', ''), ('\\S+', 'The rest is dropped.')]
    """
    found = []
    for stage in split.split(", then "):
        words = "|".join(map(re.escape, BEHAVIOURS))
        pattern = re.sub(rf" \((?:{words})\)$", "", stage)
        said = stage[len(pattern) :].strip(" ()")
        shown = visible(pattern) if pattern.strip() else r"\x20" * len(pattern)
        found.append((shown, BEHAVIOURS.get(said, "")))
    return found


def visible(pattern: str) -> str:
    r"""Write control characters, and those that no font has, as escapes.

    >>> visible("a\r\n\u3040 ")
    'a\\r\\n\\x{3040} '
    """
    named = {"\r": r"\r", "\n": r"\n", "\t": r"\t"}
    return "".join(
        named.get(character) or f"\\x{{{ord(character):X}}}"
        if unicodedata.category(character) in ("Cc", "Cf", "Cn", "Zl", "Zp")
        else character
        for character in pattern
    )


def coded(text: str) -> str:
    """Put a text between as many backquotes as it needs.

    >>> coded("a"), coded("a`b")
    ('`a`', '`` a`b ``')
    """
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def pieces(tokenizer: Any) -> str:
    """Show the pieces of the sample."""
    return " ".join(coded(piece.replace(" ", "␣")) for piece in tokenizer.split(SAMPLE))


def patterns() -> str:
    """Show each named pattern, and what it does to a sample."""
    import bytepair

    lines = ["# Patterns", "", OF_PATTERNS, ""]
    lines += ['```text title="The sample that each pattern cuts"', SAMPLE, "```", ""]
    for name in bytepair.patterns():
        tokenizer = untrained(dialect="byte-stream", pattern=name)
        found = stage_parts(tokenizer.inspect().description.get("split", ""))
        lines += [f"## {name}", ""]
        lines += [SEVERAL, ""] if len(found) > 1 else []
        lines += ["```text", *(pattern for pattern, _ in found), "```", ""]
        lines += [f"{said}\n" for _, said in found if said]
        lines += [f"Pieces of the sample: {pieces(tokenizer)}", ""]
    return "\n".join(lines)


OF_PATTERNS = (
    "A split pattern cuts text into pieces, and no merge crosses the border between two pieces. These patterns have names: "
    'pass `pattern="o200k"` in Python or `--pattern o200k` on the command line. For your own pattern, pass a regular '
    "expression instead."
)
SEVERAL = "The patterns, one per line, apply one after the other: each cuts the pieces of the previous one."


def encodings() -> str:
    """List the published encodings that are known by their rank files."""
    import bytepair

    data = json.loads(ENCODINGS.read_text(encoding="utf-8"))
    known = {entry["name"]: entry for entry in data["encodings"]}
    lines = [
        "# Published encodings",
        "",
        "bytepair recognises the rank files of these encodings by their content, and adds the pattern and the special "
        "tokens, which the files do not contain. `Tokenizer.from_file` needs only the file; if several encodings share "
        "a file, `encoding=` selects one. bytepair does not include the files themselves.",
        "",
        "| encoding | tokens in the file | pattern | special tokens |",
        "|---|---:|---|---:|",
    ]
    for name in bytepair.encodings():
        entry = known[name]
        n_tokens = data["files"][entry["file"]]["n_tokens"]
        n_special = sum(map(number_of_tokens, entry["special_tokens"]))
        split = entry["pattern"]
        shown = "its own"
        if split in bytepair.patterns():
            shown = f"[`{split}`](patterns.md#{anchor(split)})"
        lines.append(f"| `{name}` | {n_tokens:,} | {shown} | {n_special:,} |")
    return "\n".join(lines) + "\n"


def number_of_tokens(special: dict[str, Any]) -> int:
    """Count the special tokens of an entry: those of names, of a range of numbers, or several times one.

    >>> number_of_tokens({"names": "en de"}), number_of_tokens({"numbers": [0, 4]})
    (2, 4)
    """
    if "names" in special:
        return len(special["names"].split())
    if "times" in special:
        return int(special["times"])
    first, end = special["numbers"]
    return int(end) - int(first)


def anchor(name: str) -> str:
    """Give the anchor of a heading that is a name.

    >>> anchor("qwen3.5")
    'qwen35'
    """
    return re.sub(r"[^\w-]", "", name.lower())


# The Python API


def python_pages() -> dict[str, str]:
    """Give a page for each row in the tables of the API, which mkdocstrings fills."""
    api = Path("docs/reference/api.md").read_text(encoding="utf-8")
    found = re.findall(r"^\| (`.+?) \| (.+) \|$", api, re.MULTILINE)
    rows = [(re.findall(r"`([^`]+)`", cell), text) for cell, text in found]
    rows += [([name], text) for name, text in COMPAT.items()]
    pages = {}
    for names, text in rows:
        parts = [row for row in rows if owner(row[0][0]) == names[0]]
        pages[f"{names[0]}.md"] = python_page(names, text, parts)
    return pages


COMPAT = {
    "bytepair.compat.tiktoken": "an interface compatible with tiktoken",
    "bytepair.compat.transformers": "tokenizers of transformers, accelerated",
    "bytepair.compat.tokenizers": "tokenizers of Hugging Face tokenizers, accelerated",
    "bytepair.compat.vllm": "a tokenizer mode of vLLM",
    "bytepair.compat.sglang": "a plugin for SGLang",
}
WITHOUT_HEADING = ["show_root_heading: false", "show_root_toc_entry: false"]
Row = tuple[list[str], str]


def owner(name: str) -> str:
    """Give the class or module whose member has a page apart, nothing for other names.

    >>> [owner(name) for name in ("A", "A.b", "bytepair.c", "bytepair.c.D")]
    ['', 'A', '', 'bytepair.c']
    """
    found = name.rpartition(".")[0]
    return "" if found in ("bytepair", "bytepair.compat") else found


def python_page(names: list[str], text: str, parts: Sequence[Row] = ()) -> str:
    r"""Draw a page that mkdocstrings fills with what the docstrings say; members with pages apart are linked.

    >>> python_page(["bytepair.a"], "an interface").split("\n")[:4:2]
    ['# bytepair.a', 'An interface.']
    >>> python_page(["A.b", "A.c"], "saving").split("\n")[:4:2]
    ['# A: saving', '::: bytepair.A.b']
    """
    of = owner(names[0])
    head = [f"# {of}: {text}"] if of else [f"# {', '.join(names)}"]
    head += [] if of else [f"{text[0].upper()}{text[1:]}."]
    options = []
    if names == ["errors"] or (names[0].startswith("bytepair.") and not of):
        options += WITHOUT_HEADING
    if parts:
        links = [f"[{about}]({inner[0]}.md)" for inner, about in parts]
        head.append(f"On pages of their own: {', '.join(links)}.")
        apart = [name.rpartition(".")[2] for inner, _ in parts for name in inner]
        options.append(f"filters: ['!^_', '!^({'|'.join(apart)})$']")
    lines = "".join(f"\n      {option}" for option in options)
    blocks = [
        f"::: bytepair.{name.removeprefix('bytepair.')}"
        + (f"\n    options:{lines}" if lines else "")
        for name in names
    ]
    return "\n\n".join([*head, *blocks]) + "\n"


def with_links(page: str) -> str:
    """Link the names and the commands in the tables of a page to their own pages.

    >>> with_links("| `bytepair train FILES… -o OUT` | learns |")
    '| [`bytepair train FILES… -o OUT`](command-line/train.md) | learns |'
    >>> with_links("| `a`, `b` | two `c` |")
    '| [`a`](python/a.md), [`b`](python/a.md) | two `c` |'
    """

    def linked(row: re.Match[str]) -> str:
        if command := re.match(r"`bytepair ([\w-]+)", row[1]):
            return f"| [{row[1]}](command-line/{command[1]}.md) |"
        names = re.findall(r"`([^`]+)`", row[1])
        cell = row[1]
        for name in names:
            cell = cell.replace(f"`{name}`", f"[`{name}`](python/{names[0]}.md)")
        return f"| {cell} |"

    return re.sub(r"^\| (`[^|]+?) \|", linked, page, flags=re.MULTILINE)
