"""Which part may know which: the arrows of ARCHITECTURE.md, read from the sources."""

import re
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "crates" / "bytepair" / "src"


def uses(folder):
    """Name the parts of the crate that the files of a folder import, itself aside."""
    text = "\n".join(path.read_text() for path in (SOURCES / folder).rglob("*.rs"))
    text = re.sub(r"#\[cfg\(test\)\]\s*mod tests \{.*", "", text, flags=re.DOTALL)
    return set(re.findall(r"use crate::(\w+)", text)) - {folder}


def test_split_stands_on_errors_and_unicode_alone():
    """The splitter could be a crate of its own: it knows no tokens and no pieces' counts."""
    assert uses("split") <= {"error", "unicode"}


def test_training_and_encoding_never_see_text():
    """Both take pieces: neither imports what normalizes, splits or cuts text."""
    for folder in ("train", "encode"):
        assert not uses(folder) & {"split", "normalize", "added", "format", "tokenizer"}


def test_only_format_and_dialect_stand_on_the_tokenizer():
    """Nothing below the pipeline knows the pipeline."""
    for folder in ("split", "normalize", "count", "train", "encode"):
        assert "tokenizer" not in uses(folder)


def test_the_reference_never_imports_the_core():
    """The oracle shares no code with what it judges."""
    reference = SOURCES.parents[2] / "python" / "bytepair" / "reference"
    for path in reference.glob("*.py"):
        imported = re.findall(r"^(?:from|import) (\S+)", path.read_text(), re.MULTILINE)
        assert not [name for name in imported if "_core" in name or name == ".."], path


# The file that asks the processor, for each file whose functions need instructions.
ASKED_IN = {
    "split/windows/avx2.rs": ("split/windows/kernels.rs", "Avx2"),
    "split/windows/avx512.rs": ("split/windows/kernels.rs", "Avx512"),
    "encode/blocks.rs": ("encode/blocks.rs", "has_vectors"),
    "normalize/plain/vectors.rs": ("normalize/plain/vectors.rs", "are_here"),
    "count/eight.rs": ("piece_row.rs", "is_here"),
    "piece_row.rs": ("piece_row.rs", "is_here"),
    "code_units/vectors.rs": ("piece_row.rs", "is_here"),
    "encode/cache/eight.rs": ("piece_row.rs", "is_here"),
    "encode/characters/vectors.rs": ("piece_row.rs", "is_here"),
    "encode/cuts/sequence/vectors.rs": ("piece_row.rs", "is_here"),
    "encode/cuts/sides/vectors.rs": ("piece_row.rs", "is_here"),
}
ALWAYS_THERE = {"sse", "sse2"}


def features_asked(file, name):
    """Give the features that one condition of a file asks for together."""
    text = (SOURCES / file).read_text()
    one = r"is_x86_feature_detected!\(\"(\w+)\"\)"
    for row in re.finditer(rf"{one}(?:\s*&&\s*{one})*", text):
        before, after = text[: row.start()], text[row.end() :]
        follows = re.match(r"\s*\{\s*kernels\.push\(Self::(\w+)\)", after)
        owner = follows[1] if follows else re.findall(r"fn (\w+)", before)[-1]
        if owner == name:
            return set(re.findall(one, row[0]))
    return set()


def test_every_instruction_of_a_kernel_is_asked_for():
    """A processor that lacks one feature of a kernel never runs it."""
    needed = {}
    for path in SOURCES.rglob("*.rs"):
        names = re.findall(r"target_feature\(enable = \"([\w,]+)\"\)", path.read_text())
        if names:
            file = path.relative_to(SOURCES).as_posix()
            needed[file] = set(",".join(names).split(",")) - ALWAYS_THERE
    assert needed.keys() == ASKED_IN.keys()
    for file, features in needed.items():
        assert features <= features_asked(*ASKED_IN[file]), file


PROCESS_WIDE = {
    *(
        "umask",
        "chdir",
        "fchdir",
        "putenv",
        "unsetenv",
        "setlocale",
        "setrecursionlimit",
    ),
    *("set_int_max_str_digits", "setswitchinterval", "setrlimit", "nice", "tzset"),
}


def test_no_state_of_the_process_is_changed():
    """Other threads would see it: no call sets a mask, folder, limit or variable of all."""
    package = SOURCES.parents[2] / "python" / "bytepair"
    for path in package.rglob("*.py"):
        text = path.read_text()
        called = set(re.findall(r"\b(?:\w+\.)?(\w+)\(", text))
        assert not called & PROCESS_WIDE, path
        assert not re.search(
            r"os\.environ\[[^\]]*\] *=[^=]|os\.environ\.(?:update|pop)", text
        )
