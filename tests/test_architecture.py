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
