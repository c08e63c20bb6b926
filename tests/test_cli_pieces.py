"""``--format pieces``: tokens as text that can be read again; and what encoding says of itself."""

import os
import pty
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, strategies as st
from tests.commands import COMMAND, ENVIRONMENT, refused, run, run_process

import bytepair
from bytepair import Tokenizer
from bytepair.cli import decode
from bytepair.cli.pieces import Pieces, escaped, unescaped


@given(st.binary(min_size=1) | st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_token_is_read_as_it_was(token):
    """Any bytes and text come back; what is written has no white space and is seen."""
    text = escaped(token)
    assert unescaped(text, is_of_bytes=isinstance(token, bytes)) == token
    assert text.isprintable()
    assert " " not in text


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b" the", "▁the"),
        ("▁the".encode(), r"\u2581the"),
        (b"\xe2\x96", r"\xe2\x96"),
        (b"a\\b\n", r"a\\b\n"),
        ("é\u00ad".encode(), r"é\xc2\xad"),
        ("▁the", "▁the"),
        ("the</w>", "the</w>"),
        ("a b", r"a\x20b"),
        ("<0x0A>", "<0x0A>"),
    ],
)
def test_tokens_are_written_as_documented(token, text):
    """A space is a mark among bytes; a vocabulary of characters keeps its own."""
    assert escaped(token) == text


def test_pieces_come_back_from_every_token(shared):
    """All tokens of GPT-2, and of a vocabulary with byte tokens, have texts of their own."""
    for name in ("gpt2/tokenizer.json", "llama2-style/tokenizer.json"):
        tokenizer = Tokenizer.from_file(shared(f"vocabularies/{name}"))
        pieces = Pieces(tokenizer)
        ids = list(range(tokenizer.n_vocab))
        assert pieces.read(pieces.written(ids)) == ids


def test_a_piece_that_is_no_token_is_told_with_its_place():
    """Nothing is guessed from a part of it."""
    pieces = Pieces(bytepair.train_from_iterator(["low low"], vocab_size=258))
    for data, problem in ((b"low lower\n", "word 1"), (b"low \xff\n", "byte 4")):
        message = f"{problem} of the input is not (a token|UTF-8)"
        with pytest.raises(bytepair.FormatError, match=message):
            pieces.read(data)


# Progress and summary


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a tokenizer and a text that is worth a summary."""
    folder = tmp_path_factory.mktemp("files")
    tokenizer = bytepair.train_from_iterator(["low lower lowest"], vocab_size=260)
    tokenizer.save(folder / "t.bytepair")
    (folder / "text").write_text("low lower\n" * 110_000)
    return folder


def on_terminal(*arguments, stdout=None):
    """Run a command with a terminal for standard error, and give what that shows."""
    terminal, other_end = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=other_end if stdout is None else stdout,
        stderr=other_end,
        stdin=subprocess.DEVNULL,
        env=ENVIRONMENT,
    )
    os.close(other_end)
    shown = b""
    try:
        while block := os.read(terminal, 65536):
            shown += block
    except OSError:  # the other end is closed
        pass
    os.close(terminal)
    assert process.wait(60) == 0
    return shown.decode()


@pytest.mark.parametrize("options", [[], ["--lines"]])
def test_a_terminal_shows_progress_and_a_summary(files, options):
    """Of encoding and of decoding, with the numbers of bytes and tokens."""
    tokenizer, ids, text = (files / name for name in ("t.bytepair", "ids", "text"))
    shown = on_terminal("encode", tokenizer, text, "-o", ids, *options)
    n_tokens = len(ids.read_text().split())
    n_bytes = 1_100_000
    assert "encoding: " in shown
    mean = f"{n_bytes / n_tokens:.2f}"
    if not options:
        assert (
            f"{n_bytes:,} bytes, {n_tokens:,} tokens, {mean} bytes per token" in shown
        )
    assert f"saved: {ids}" in shown.replace("\r\n", "")
    shown = on_terminal("decode", tokenizer, ids, "-o", files / "back", *options)
    assert f"{n_bytes:,} bytes, {n_tokens:,} tokens" in shown or options
    assert (files / "back").read_bytes() == text.read_bytes()


def test_a_file_of_raw_numbers_shows_its_progress(files):
    """Encoding to a file in bounded memory has the same line and summary."""
    shown = on_terminal(
        "encode", files / "t.bytepair", files / "text", "-o", files / "ids.npy"
    )
    assert "encoding: " in shown
    assert "1,100,000 bytes, " in shown


def test_nothing_is_shown_where_it_is_in_the_way(files):
    """In pipes, beside the output on a terminal, for little text in a pipe."""
    tokenizer, text = files / "t.bytepair", files / "text"
    command = ("encode", tokenizer, text)
    assert "encoding" not in on_terminal(*command)
    little = files / "little"
    little.write_text("low")
    shown = on_terminal("encode", tokenizer, little, stdout=subprocess.DEVNULL)
    assert shown.replace("\r\x1b[K", "") == ""
    assert run_process(*command, "-o", files / "p").output == ""


@pytest.mark.parametrize("dialect", ["gpt2", "sentencepiece", "subword-nmt"])
@pytest.mark.parametrize("name", ["ids.npy", "ids.bin"])
def test_raw_ids_are_decoded_part_by_part_as_at_once(
    dialect, name, tmp_path, monkeypatch
):
    """Where a mark of one token decides on the next, and where a character is cut, too."""
    monkeypatch.setattr(decode, "BLOCK_LEN", 2)
    monkeypatch.chdir(tmp_path)
    text = "low lower é 🙂 lowest low"
    own = bytepair.train_from_iterator([text], merges=9, dialect=dialect)
    own.save("t.bytepair")
    Path("text").write_text(text)
    run("encode", "t.bytepair", "text", "-o", name)
    run("decode", "t.bytepair", name, "-o", "back")
    assert Path("back").read_text() == own.decode(own.encode(text))


def test_an_id_that_no_token_has_writes_no_file(tmp_path):
    """Though earlier parts were decoded."""
    own = bytepair.train_from_iterator(["low"], vocab_size=257)
    own.save(tmp_path / "t.bytepair")
    (tmp_path / "ids.bin").write_bytes(b"\x01\x00" * 1_100_000 + b"\x00\x70")
    command = ["decode", tmp_path / "t.bytepair", tmp_path / "ids.bin"]
    told = refused(*command, "-o", tmp_path / "back")
    assert "no token has the id 28672" in told
    assert not (tmp_path / "back").exists()
