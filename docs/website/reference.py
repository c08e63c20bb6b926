"""The generated part of the reference: each function gives Markdown, made from what the package says of itself.

Nothing here is known otherwise: commands come from their help, dialects and patterns from tokenizers
that have learned nothing, errors from the examples in their docstrings.
"""

import ast
import doctest
import json
import re
import tempfile
import unicodedata
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "all_commands",
    "commands",
    "dialects",
    "encodings",
    "errors",
    "escaped",
    "patterns",
    "python_pages",
    "rows_of_names",
    "with_links",
]

ENCODINGS = Path("crates/bytepair-formats/src/encodings/published.json")
SAMPLE = "The children's 1234 naïve cafés: 東京タワー, isn't_it?"


# The command line


def commands() -> dict[str, str]:
    """Give a page for each command, with all of its options."""
    import typer

    from bytepair.cli.app import app
    from bytepair.cli.commands import COMMANDS
    from bytepair.cli.help_pages import sections_of, usage_of

    group = typer.main.get_command(app)
    pages = {}
    for entry in COMMANDS:
        command = group.commands[entry.name]  # type: ignore[attr-defined]
        context = typer.Context(command, info_name=f"bytepair {entry.name}")
        usage, sections = usage_of(command, context), sections_of(command, context)
        pages[f"{entry.name}.md"] = command_page(
            entry.name, command.help or "", usage, sections
        )
    return pages


def all_commands() -> str:
    """Describe what all commands have in common: the options before the command, and exit codes."""
    import typer

    from bytepair import cli
    from bytepair.cli.app import app
    from bytepair.cli.help_pages import sections_of

    group = typer.main.get_command(app)
    context = typer.Context(group, info_name="bytepair")
    lines: list[str] = []
    for pairs in sections_of(group, context).values():
        lines += ["## Options without a command", "", *definitions(pairs), ""]
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


def command_page(
    name: str, text: str, usage: str, sections: dict[str, list[tuple[str, str]]]
) -> str:
    """Draw the page of a command.

    >>> sections = {"Options": [("-o FILE", "Where to write.  [default: a.json]")]}
    >>> print(command_page("train", "Train.", "bytepair train", sections))
    # bytepair train
    <BLANKLINE>
    Train.
    <BLANKLINE>
    ```text
    bytepair train
    ```
    <BLANKLINE>
    ## Options
    <BLANKLINE>
    `-o FILE`
    :   Where to write. Default: `a.json`.
    <BLANKLINE>
    """
    lines = [f"# bytepair {name}"]
    for paragraph in text.split("\n\n"):
        lines += ["", escaped(" ".join(paragraph.split()))]
    lines += ["", "```text", usage, "```"]
    for title, rows in sections.items():
        lines += ["", f"## {title}", "", *definitions(rows)]
    return "\n".join(lines) + "\n"


def definitions(rows: Iterable[tuple[str, str]]) -> list[str]:
    """Draw terms and what they mean as a list of definitions, with what the command line says in brackets.

    >>> definitions([("--port N", "The port.  [default: 80; 1<=x<=99; required]")])
    ['`--port N`', ':   The port. Default: `80`. From 1 to 99. Required.']
    """
    lines = []
    for term, text in rows:
        text, notes = noted(text)
        shown = " ".join([escaped(text), *notes]) or "-"
        lines += [f"`{term}`", f":   {shown}", ""]
    return lines[:-1]


NOTES = re.compile(r"\s+\[((?:default: |required|-?\d[\d.]*<=?x).*)\]$", re.DOTALL)


def noted(text: str) -> tuple[str, list[str]]:
    """Part a text from what stands in brackets after it, in sentences.

    >>> noted("A seed, from [0].  [required]")
    ('A seed, from [0].', ['Required.'])
    """
    found = NOTES.search(text)
    if not found:
        return text.strip(), []
    sentences = []
    for note in found[1].split("; "):
        if note.startswith("default: "):
            sentences.append(f"Default: `{note.removeprefix('default: ')}`.")
        elif limits := re.fullmatch(r"(.+)<=x<=(.+)", note):
            sentences.append(f"From {limits[1]} to {limits[2]}.")
        else:
            sentences.append(f"{note.capitalize()}.")
    return text[: found.start()].strip(), sentences


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
    """Describe each dialect by the parts of a tokenizer that has learned nothing."""
    import bytepair
    from bytepair.reference.dialects import DIALECTS

    lines = []
    for name in bytepair.dialects():
        tokenizer = bytepair.train_from_counts(
            {"a": 1}, merges=0, dialect=name, min_count=1
        )
        parts = [
            (part, stages(value) if part == "split" else worded(value))
            for part, value in tokenizer._describe()
            if part != "vocabulary"
        ]
        own = DIALECTS[name]
        parts += [
            ("equal counts", f"{TIES[own.ties]} is merged first"),
            ("pairs that are merged", TIMES[own.min_count]),
            ("pieces of the sample", pieces(tokenizer)),
        ]
        lines += [f"### {name}", "", *described(parts), ""]
    return (
        "## Each dialect in full\n\n"
        "This section lists the parts of each dialect, and the pieces into which it cuts a sample. A dialect is a name for these "
        "parts: `pattern=`, `ties=`, `min_count=` and other options set each part separately.\n\n"
        f'```text title="The sample"\n{SAMPLE}\n```\n\n' + "\n".join(lines)
    )


TIES = {
    "smallest_ids": "the pair with the smallest ids",
    "first_seen": "the pair that occurs first in the text",
    "largest_text": "the pair with the largest text",
}
TIMES = {1: "all pairs", 2: "pairs that occur at least twice"}
BEHAVIOURS = {
    "the rest is dropped": "The rest is dropped.",
    "Removed": "Matches are dropped.",
    "MergedWithNext": "Matches are joined with the text after them.",
    "MergedWithPrevious": "Matches are joined with the text before them.",
    "Contiguous": "Adjacent matches are joined.",
}


def described(parts: Iterable[tuple[str, str]]) -> list[str]:
    """Draw names and values as a list of definitions."""
    lines = []
    for name, value in parts:
        lines += [f"{name}", f":   {value}", ""]
    return lines[:-1]


def worded(value: str) -> str:
    """Write what a part of a tokenizer says of itself, with what it quotes as code.

    >>> worded('NFKC, " " becomes "_"')
    'NFKC, `" "` becomes `"_"`'
    """
    parts = re.split(r'("[^"]*")', value)
    parts[1::2] = [coded(part) for part in parts[1::2]]
    return "".join(parts)


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


def stages(split: str) -> str:
    r"""Write the patterns of a splitter one after the other.

    >>> stages("\\S+ (the rest is dropped)"), stages("one text is one piece")
    ('`\\S+`. The rest is dropped.', 'one text is one piece')
    """
    if split == WHOLE:
        return split
    return ", then ".join(
        coded(pattern) + (f". {said}" if said else "")
        for pattern, said in stage_parts(split)
    )


WHOLE = "one text is one piece"


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
    """Show each named pattern, what runs it, and what it does to a sample."""
    import bytepair

    lines = [
        "# Patterns",
        "",
        "A split pattern cuts text into pieces, and no merge crosses the border between two pieces. These patterns have names: "
        'pass `pattern="o200k"` in Python or `--pattern o200k` on the command line. For your own pattern, pass a regular '
        "expression instead.",
        "",
        '```text title="The sample that each pattern cuts"',
        SAMPLE,
        "```",
    ]
    for name in bytepair.patterns():
        tokenizer = bytepair.train_from_counts(
            {"a": 1}, merges=0, dialect="byte-stream", pattern=name
        )
        found = stage_parts(dict(tokenizer._describe()).get("split", ""))
        shown = [pattern for pattern, _ in found]
        rest = [said for _, said in found if said]
        runs = ", then ".join(tokenizer.explain())
        lines += ["", f"## {name}", ""]
        lines += [SEVERAL, ""] if len(found) > 1 else []
        lines += ["```text", *shown, "```", "", *rest, *[""][: len(rest)]]
        lines += described(
            [("pieces of the sample", pieces(tokenizer)), ("runs as", runs)]
        )
    return "\n".join(lines) + "\n"


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


# Formats


def formats() -> str:
    """Draw which formats are read and written, and which hold a tokenizer of each dialect, by trying."""
    from docs.website.matrix import held, trained

    import bytepair
    from bytepair._io.loading import READERS
    from bytepair._io.saving import FORMATS

    read = [
        *READERS,
        *(name for name in (*FORMATS, "gguf", "clip", "gpt1") if name not in READERS),
    ]
    lines = ["## Read and written", "", "| format | read | written |", "|---|:-:|:-:|"]
    lines += [
        f"| `{name}` | ✓ | {'✓' if name in FORMATS else '–'} |"
        for name in dict.fromkeys(read)
    ]
    lines += [
        "",
        "## Dialects that each format can hold",
        "",
        "Each cell was tested when this page was built: a small tokenizer of the dialect was written in the format, read "
        "back, and compared. ✓ means that ids are the same. *tokens* means that tokens are the same, but may have new ids, since "
        "the format has no ids. – means that the format cannot hold the tokenizer, and that writing is refused.",
        "",
        "| dialect | " + " | ".join(f"`{name}`" for name in FORMATS) + " |",
        "|---|" + ":-:|" * len(FORMATS),
    ]
    shown = {"ids": "✓", "nothing": "–"}
    with tempfile.TemporaryDirectory() as folder:
        for name in bytepair.dialects():
            tokenizer = trained(name)
            cells = [
                shown.get(found, f"*{found}*")
                for format_name in FORMATS
                for found in [
                    held(tokenizer, format_name, Path(folder, name, format_name))
                ]
            ]
            lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


# Errors


def errors() -> str:
    """Describe each class of errors: its bases, when it is raised, and what its example says."""
    from bytepair import errors as module

    lines = ["## Each class", ""]
    for name in module.__all__:
        class_ = getattr(module, name)
        text, examples = parted(class_.__doc__ or "")
        bases = ", ".join(f"`{base.__name__}`" for base in class_.__bases__)
        lines += [f"### {name}", "", f"A {bases}. {text}", ""]
        if message := message_of(class_.__doc__ or "", vars(module)):
            code, said = message
            lines += [
                "```python",
                code,
                "```",
                "",
                '```text title="The message"',
                said,
                "```",
                "",
            ]
        elif examples:
            lines += ["```pycon", examples, "```", ""]
    return "\n".join(lines)


def parted(docstring: str) -> tuple[str, str]:
    r"""Part a docstring into its text and its examples.

    >>> parted("One.\n\n    Two.\n\n    >>> 1\n    1\n    ")
    ('One. Two.', '>>> 1\n1')
    """
    lines = [line.strip() for line in docstring.split("\n")]
    first = next(
        (n for n, line in enumerate(lines) if line.startswith(">>>")), len(lines)
    )
    text = " ".join(" ".join(lines[:first]).partition("Attributes ---")[0].split())
    return text.replace("``", "`"), "\n".join(lines[first:]).strip()


def message_of(
    docstring: str, known: Mapping[str, Any] | None = None
) -> tuple[str, str] | None:
    """Run the example of a docstring, give what it tries and the message that it catches.

    >>> message_of('''Refused.
    ...
    ...     >>> try:
    ...     ...     int("x")
    ...     ... except ValueError as error:
    ...     ...     print(type(error).__name__)
    ...     ValueError
    ... ''')
    ('int("x")', "invalid literal for int() with base 10: 'x'")
    """
    names: dict[str, Any] = dict(known or {})
    before = []
    for example in doctest.DocTestParser().get_examples(docstring):
        (statement, *_) = ast.parse(example.source).body
        if not isinstance(statement, ast.Try):
            exec(example.source, names)
            before += [example.source.rstrip()] * (
                not example.source.startswith("import")
            )
            continue
        code = "\n".join(
            ast.get_source_segment(example.source, part) or ""
            for part in statement.body
        )
        try:
            exec(code, names)
        except (ValueError, KeyboardInterrupt) as error:
            return "\n".join([*before, code]), str(error)
    return None


# The Python API


def rows_of_names(page: str) -> list[tuple[list[str], str]]:
    r"""Read the rows of the tables of names: the names, and what they are.

    >>> rows_of_names(
    ...     "| Name | Is |\n|---|---|\n| `a`, `b` | two |\n| `bytepair.c` | one |"
    ... )
    [(['a', 'b'], 'two'), (['bytepair.c'], 'one')]
    """
    rows = re.findall(r"^\| (`.+?) \| (.+) \|$", page, re.MULTILINE)
    return [(re.findall(r"`([^`]+)`", names), text) for names, text in rows]


def page_of(names: list[str]) -> str:
    """Name the page of some names.

    >>> page_of(["dialects", "patterns"]), page_of(["bytepair.data", "bytepair.scale"])
    ('dialects.md', 'bytepair.data.md')
    """
    return f"{names[0]}.md"


def python_pages(page: str) -> dict[str, str]:
    """Give a page for each row of names, and of each module."""
    pages = {}
    for names, text in rows_of_names(page):
        for name in names if names[0].startswith("bytepair.") else [names[0]]:
            shown = [name] if name.startswith("bytepair.") else names
            pages[f"{name}.md"] = python_page(shown, text)
            pages |= {
                f"{module}.md": python_page([module], about)
                for module, about in inside(name).items()
            }
    return pages


def python_page(names: list[str], text: str) -> str:
    """Draw a page that mkdocstrings fills with what the docstrings say."""
    is_module = names[0].startswith("bytepair.")
    paths = [name if is_module else f"bytepair.{name}" for name in names]
    title = ", ".join(names)
    head = "\n".join([f"# {title}", "", f"{text[0].upper()}{text[1:]}."])
    if is_module or names[0] == "errors":
        shown = [f"::: {path}\n{WITHOUT_HEADING}" for path in paths]
    else:
        shown = [f"::: {path}" for path in paths]
    return "\n\n".join([head, *shown]) + "\n"


WITHOUT_HEADING = (
    "    options:\n      show_root_heading: false\n      show_root_toc_entry: false"
)


def inside(package: str) -> dict[str, str]:
    """Give the modules inside a package of interfaces, which have pages of their own, and what they are.

    >>> list(inside("bytepair.compat"))[0], inside("bytepair.data")
    ('bytepair.compat.tiktoken', {})
    """
    if package != "bytepair.compat":
        return {}
    return {
        "bytepair.compat.tiktoken": "an interface compatible with tiktoken",
        "bytepair.compat.transformers": "tokenizers of transformers, accelerated",
        "bytepair.compat.tokenizers": "tokenizers of Hugging Face tokenizers, accelerated",
    }


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
            to = name if name.startswith("bytepair.") else names[0]
            cell = cell.replace(f"`{name}`", f"[`{name}`](python/{to}.md)")
        return f"| {cell} |"

    return re.sub(r"^\| (`[^|]+?) \|", linked, page, flags=re.MULTILINE)
