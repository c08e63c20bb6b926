"""Files of strings, ids, findings, counts and texts: compressed ones are opened, other files refused."""

import bz2
import gzip
import json
import lzma
from pathlib import Path

import pytest
from tests.commands import refused, run

import bytepair
from bytepair import FileError, FormatError, read_log
from bytepair.segmentation import Segmenter

TEXT = "low lower lowest wide wider\n" * 9


@pytest.fixture
def lists(tmp_path, monkeypatch):
    """Write a tokenizer and one file for each option that takes a list; give their contents."""
    monkeypatch.chdir(tmp_path)
    base = bytepair.train_from_iterator([TEXT], merges=9, dialect="gpt4", log="m.jsonl")
    base.save("base.json")
    codes = bytepair.train_from_iterator([TEXT], merges=9, dialect="subword-nmt")
    codes.save("codes", format="subword-nmt")
    ids = list(base.encode(TEXT))
    found = {"id": base.token_to_id("lo"), "text": "lo"}
    findings = {"findings": [{"code": "BP101", "tokens": [found]}]}
    return {
        "strings": b"lo we\nlowes\nwi\nes\n",
        "findings": json.dumps(findings).encode(),
        "ids": " ".join(map(str, ids)).encode() + b"\n",
        "pieces": run("encode", "base.json", "--format", "pieces", stdin=TEXT.encode())
        .stdout.encode(),
        "text": TEXT.encode(),
        "vocabulary": b"lo@@ 9\nw 9\nlow 9\n",
        "log": Path("m.jsonl").read_bytes(),
    }  # fmt: skip


COMMANDS = {
    "strings": "extend base.json --strings FILE -o n.json --json",
    "findings": "remove base.json --findings FILE -o n.json --json",
    "ids": "decode base.json FILE",
    "pieces": "decode base.json FILE --format pieces",
    "text": "compare base.json base.json FILE --exit-code",
    "vocabulary": "segment codes --vocabulary FILE",
    "log": "info base.json --log FILE --json",
}
PACKED = {"gzip": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}


def outcome(kind, path, stdin=b"low lower lowest\n"):
    """Give what a command writes, without the time that it takes."""
    command = COMMANDS[kind].replace("FILE", path).split()
    found = run(*command, stdin=stdin)
    written = Path("n.json").read_bytes() if "n.json" in command else b""
    if "--json" not in command:
        return found.stdout, written
    return {**json.loads(found.stdout), "seconds": None}, written


@pytest.mark.parametrize("kind", COMMANDS)
def test_a_compressed_list_is_the_list(kind, lists):
    """Its first bytes say how it is compressed, whatever its name; a pipe may hold it, too."""
    Path("plain").write_bytes(lists[kind])
    expected = outcome(kind, "plain")
    for number, pack in enumerate(PACKED.values()):
        Path(f"list{number}.txt").write_bytes(pack(lists[kind]))
        assert outcome(kind, f"list{number}.txt") == expected
    if kind in ("strings", "findings", "ids", "pieces"):
        assert outcome(kind, "-", gzip.compress(lists[kind])) == expected


@pytest.mark.parametrize("kind", [kind for kind in COMMANDS if kind != "log"])
def test_a_list_in_another_encoding_is_refused_by_name(kind, lists):
    """With what to do; nothing is written."""
    wide = lists[kind].decode().encode("utf-16")
    for name, data in (("wide.txt", wide), ("wide.gz", gzip.compress(wide))):
        Path(name).write_bytes(data)
        command = COMMANDS[kind].replace("FILE", name).split()
        told = refused(*command, stdin=b"low\n")
        assert name in told
        assert "UTF-8" in told
        assert kind == "pieces" or "UTF-16" in told
        assert not Path("n.json").exists()


@pytest.mark.parametrize("kind", ["strings", "findings", "ids", "pieces", "vocabulary"])
def test_a_mark_before_a_list_is_no_part_of_it(kind, lists):
    """Some editors write one at the beginning of UTF-8."""
    Path("plain").write_bytes(lists[kind])
    Path("marked").write_bytes(b"\xef\xbb\xbf" + lists[kind])
    assert outcome(kind, "marked") == outcome(kind, "plain")


WIDE = "w.txt: this looks like UTF-16 or UTF-32"
REFUSED = [
    ("w.lz4: this looks like lz4", b"\x04\x22\x4d\x18\x00"),
    ("w.br: this looks like Brotli", b"\x0b\x02"),
    ("w.txt: this looks like Parquet", b"PAR1\x15\x04\x00"),
    ("w.gz: damaged or truncated", gzip.compress(b"low\n" * 99, mtime=0)[:-9]),
    ("w.txt is empty; write each", b""),
    *((WIDE, "es\n".encode(f"utf-{kind}")) for kind in ("16-le", "16-be", "32-le")),
]


@pytest.mark.parametrize(("message", "data"), REFUSED)
def test_what_is_no_list_is_refused(message, data, lists):
    """By its name, and as what it looks like; two wide characters without a mark are enough."""
    name = message.split()[0].removesuffix(":")
    Path(name).write_bytes(data)
    assert message in refused("extend", "base.json", "--strings", name, "-o", "n.json")
    assert not Path("n.json").exists()


def test_functions_take_compressed_lists_too(lists):
    """The vocabulary of a segmenter and the log of a training."""
    Path("v").write_bytes(lists["vocabulary"])
    Path("v.gz").write_bytes(gzip.compress(lists["vocabulary"]))
    one, two = (
        Segmenter("codes", vocabulary=name).segment(TEXT) for name in ("v", "v.gz")
    )
    assert one == two != Segmenter("codes").segment(TEXT)
    Path("m.gz").write_bytes(gzip.compress(lists["log"]))
    assert read_log("m.gz").steps == read_log("m.jsonl").steps
    Path("v.txt").write_bytes(lists["vocabulary"].decode().encode("utf-16"))
    with pytest.raises(FormatError, match=r"v\.txt: this looks like UTF-16"):
        Segmenter("codes", vocabulary="v.txt")
    with pytest.raises(FileError, match=r"no\.txt: No such file"):
        Segmenter("codes", vocabulary="no.txt")


# Commands that could do nothing


ADDED = "no token could be added; "
NOTHING = {
    f"{ADDED}1 string: 1 in need of helpers": "extend base.json --strings far.txt",
    f"{ADDED}fewer than the 3 asked for": "extend base.json once.txt --add 3",
    "no token that may be removed matches 'zz'": "remove base.json --matching zz",
    "f.json: the selected findings name no": "remove base.json --findings f.json",
    f"other.json: {ADDED}": "extend base.json --from other.json",
}


@pytest.mark.parametrize("message", NOTHING)
def test_a_command_that_could_do_nothing_of_what_was_asked_is_an_error(message, lists):
    """It says why, and writes nothing."""
    Path("far.txt").write_text("zyxwv\n")
    Path("once.txt").write_text("a b c")
    Path("f.json").write_text('{"findings": []}')
    other = bytepair.train_from_iterator(["a,b"] * 9, merges=2, dialect="byte-stream")
    other.save("other.json")
    assert message in run(*NOTHING[message].split(), "-o", "n.json", code=1).stderr
    assert not Path("n.json").exists()


def test_what_is_there_already_is_no_error(lists):
    """Strings that are tokens, a vocabulary that is in the base, and no token asked for."""
    Path("c.txt").write_text(TEXT)
    Path("w.txt").write_text("lo\nlow\nlo\n")
    for command in (
        "extend base.json --strings w.txt",
        "extend base.json c.txt --add 0",
        "extend base.json --from base.json",
        "prune base.json c.txt --min-count 1",
    ):
        run(*command.split(), "-o", "n.json")
        assert Path("n.json").read_bytes() == Path("base.json").read_bytes()
