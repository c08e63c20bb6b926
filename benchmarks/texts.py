"""What is worked on: corpora from disk, and texts and counts made up to be hard.

Corpora lie in ``$BYTEPAIR_SHARED/corpora``, by default ``../shared/corpora``; what is
not there is skipped with a word. What is made up is the same in every run.
"""

import itertools
import json
import os
import random
import re
from collections.abc import Iterator
from pathlib import Path
from pydoc_data import topics

SHARED = Path(os.environ.get("BYTEPAIR_SHARED", "../shared"))
RANDOM = {
    "random letters": bytes(ord("a") + byte % 26 for byte in range(256)),
    "random digits": bytes(ord("0") + byte % 10 for byte in range(256)),
}
UNIT_BYTES = 65_536
SEPARATOR = "<|endoftext|>"
SYLLABLES = ["".join(letters) for letters in itertools.product("tnsrlkdmpb", "eaiou")]


def corpus(name: str) -> Path:
    """Find a corpus by its name, or a file by its path."""
    in_shared = SHARED / "corpora" / name
    return in_shared if in_shared.is_file() else Path(name)


def made(kind: str, n_bytes: int) -> bytes:
    """Make a text of about ``n_bytes`` bytes: ``random bytes``, or a unit repeated."""
    if kind == "random bytes":
        return random.Random(n_bytes).randbytes(n_bytes)
    if kind in RANDOM:
        return random.Random(n_bytes).randbytes(n_bytes).translate(RANDOM[kind])
    unit = kind.encode()
    return unit * (n_bytes // len(unit))


def added_contents(kind: str, n_tokens: int) -> list[str]:
    """Make up contents of added tokens; ``one`` is a single one of so many characters."""
    if kind == "common beginning":
        return [f"new_{place}" for place in range(n_tokens)]
    if kind == "common ending":
        return [f"{place}_new" for place in range(n_tokens)]
    if kind == "nested":
        return ["a" * length for length in range(2, n_tokens + 2)]
    random_ = random.Random(n_tokens)
    n_characters, n_tokens = (n_tokens, 1) if kind == "one" else (1000, n_tokens)
    return [
        "".join(random_.choices("abcdefghij", k=n_characters)) for _ in range(n_tokens)
    ]


def write_bytes_with_added(path: Path, contents: list[str]) -> None:
    """Write a ``tokenizer.json`` of the 256 bytes alone, and of these special tokens."""
    import bytepair

    tokenizer = bytepair.train_from_counts({"a": 1}, merges=0, dialect="gpt2")
    tokenizer.with_special_tokens(contents).save(path)


def counted_pieces(n_pieces: int) -> dict[bytes, int]:
    """Make up distinct words of some syllables, the n-th of them as frequent as 1/n."""
    random_ = random.Random(n_pieces)
    weights = [1 / place for place in range(1, len(SYLLABLES) + 1)]
    counts: dict[bytes, int] = {}
    while len(counts) < n_pieces:
        syllables = iter(random_.choices(SYLLABLES, weights, k=1 << 16))
        for length in random_.choices(range(2, 9), k=1 << 13):
            word = " " + "".join(itertools.islice(syllables, length))
            counts.setdefault(word.encode(), 50 * n_pieces // (len(counts) + 1))
            if len(counts) == n_pieces:
                break
    return counts


def prose() -> str:
    """Give half a megabyte of English that every Python carries: its own manual."""
    return "\n".join(topics.topics.values())


def documents(path: Path, n_bytes: int, *, max_bytes: int) -> list[str]:
    """Cut a file at line ends into documents of about ``n_bytes`` bytes.

    Of a file that is longer than ``max_bytes``, documents are taken at even distances,
    so that a corpus of many languages keeps them all.
    """
    found = [document.decode() for document in _documents(path, n_bytes)]
    step = -(-path.stat().st_size // max_bytes)
    return found[::step]


def halves(path: Path, n_bytes: int, *, max_bytes: int) -> tuple[list[str], list[str]]:
    """Give the documents of both halves of a file; without a length, each is one."""
    found = documents(path, n_bytes or UNIT_BYTES, max_bytes=max_bytes)
    middle = len(found) // 2
    first, second = found[:middle], found[middle:]
    return (first, second) if n_bytes else (["".join(first)], ["".join(second)])


def windows(path: Path, n_bytes: int, n_texts: int) -> list[str]:
    """Take texts of about ``n_bytes`` bytes at even distances from a file."""
    n_all = path.stat().st_size
    found = []
    with path.open("rb") as content:
        for place in range(n_texts):
            content.seek(place * max(0, n_all - n_bytes) // n_texts)
            content.readline()
            found.append(content.read(n_bytes).decode(errors="ignore"))
    return found


def write_documents(path: Path, n_bytes: int, target: Path) -> None:
    """Write the documents of a file with separators between; what is no UTF-8 becomes U+FFFD."""
    with target.open("wb") as out:
        for place, document in enumerate(_documents(path, n_bytes)):
            out.write(SEPARATOR.encode() if place else b"")
            out.write(document.decode(errors="replace").encode())


def write_json_lines(path: Path, n_bytes: int, target: Path) -> None:
    """Write the documents of a file as lines of JSON, with an id and a source beside the text."""
    with target.open("w", encoding="utf-8") as out:
        for place, document in enumerate(_documents(path, n_bytes)):
            text = document.decode(errors="replace")
            line = {"id": place, "source": path.name, "text": text}
            out.write(json.dumps(line, ensure_ascii=False) + "\n")


def read_documents(path: Path, separator: str) -> Iterator[str]:
    """Read documents block by block, as what is between separators."""
    mark, rest = separator.encode(), b""
    with path.open("rb") as file:
        while block := file.read(4 << 20):
            *whole, rest = (rest + block).split(mark)
            for document in whole:
                yield document.decode()
    yield rest.decode()


def write_lines_in(path: Path, letters: str, share: float, target: Path) -> None:
    """Write the lines of a file of whose characters at least a share are certain letters."""
    wanted = re.compile(letters)
    with (
        path.open(encoding="utf-8", errors="replace") as lines,
        target.open("w", encoding="utf-8") as out,
    ):
        for line in lines:
            if len(wanted.findall(line)) >= share * len(line):
                out.write(line)


def _documents(path: Path, n_bytes: int) -> Iterator[bytes]:
    with path.open("rb") as lines:
        while document := lines.read(n_bytes) + lines.readline():
            yield document
