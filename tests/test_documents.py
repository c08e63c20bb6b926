"""Large texts and growing ones: threads, files of ids, counting, truncating.

Left out: that a cut changes no id for every dialect, which the tests of the core show on
random texts; here are published vocabularies, files, and what users meet.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from tests.marks import slow_but
from tests.programs import run_python

import bytepair
from bytepair import _core

TEXT = "the cat sat on the mat, 123 hats.\nété 中文字。中文 да <s> "
ALPHABET = "the cat中文。é1\n <s>"
ALONE = " ".join(character * 2 + " " + character for character in ALPHABET)
OF_HUGGING_FACE = ["clip", "deepseek-v3", "gpt-neox-20b", "gpt2", "llama2-style"]
OF_HUGGING_FACE += ["minimind", "mistral-nemo", "olmo-dolma2", "qwen3"]
OF_HUGGING_FACE += ["tiny-metaspace-nfkc", "tiny-wordpiece-prefix"]
VOCABULARIES = [f"{name}/tokenizer.json" for name in OF_HUGGING_FACE]
VOCABULARIES += ["gpt1", "tekken/tekken_240718.json"]
VOCABULARIES += [f"mistral-sentencepiece/tokenizer-v{n}.model" for n in (1, 3)]
VOCABULARIES += [f"tiktoken/{name}_base.tiktoken" for name in ("cl100k", "o200k")]


@pytest.fixture(scope="module")
def tokenizer():
    """Give a tokenizer of bytes."""
    options = {"vocab_size": 300, "special_tokens": ["<s>"]}
    return bytepair.train_from_iterator([TEXT * 3], **options)


@pytest.fixture(scope="module", params=bytepair.dialects())
def any_tokenizer(request):
    """Give a tokenizer of each dialect that encodes every text of the alphabet."""
    texts = [TEXT * 3, ALONE]
    return bytepair.train_from_iterator(texts, dialect=request.param, merges=40)


def write(path, text):
    """Write a text and give its path."""
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize("name", slow_but(["minimind/tokenizer.json"], VOCABULARIES))
def test_published_vocabularies_give_the_same_ids_in_parts(name, shared, tmp_path):
    """A text of many languages has the same ids in stretches of any length, on threads."""
    tokenizer = bytepair.Tokenizer.from_file(shared(f"vocabularies/{name}"))
    text = b""
    for corpus in ("english-novels", "code", "multilingual", "chinese", "persian"):
        with shared(f"corpora/{corpus}.txt").open("rb") as file:
            file.seek(12_345)
            text += file.read(30_000).decode(errors="ignore").encode()
        text += "".join(list(tokenizer.special_tokens)[:2]).encode()
    source = write(tmp_path / "text", text)
    for special in ((), "all"):
        try:
            ids = tokenizer.encode_to_numpy(text, allowed_special=special)
        except bytepair.UnknownTokenError:
            text = text.decode().encode("ascii", errors="ignore")
            source = write(tmp_path / "text", text)
            ids = tokenizer.encode_to_numpy(text, allowed_special=special)
        for threads, stretch_len in ((1, 100), (2, 3_000), (3, 20_000), (1, 1 << 62)):
            target = write(tmp_path / "ids", b"")
            options = {"is_wide": True, "has_header": False, "added_tokens": "find"}
            options |= {"allowed_special": special, "disallowed_special": ()}
            options |= {"threads": threads, "stretch_len": stretch_len}
            paths = (str(source), str(target), "ids")
            found = _core.encode_file(tokenizer, paths, **options)
            assert found == (len(ids), len(text))
            assert np.array_equal(np.fromfile(target, "<u4"), ids)
        together = tokenizer.encode_to_numpy(text, allowed_special=special, threads=2)
        assert np.array_equal(together, ids)


@pytest.mark.parametrize("threads", [1, 2, 5, None])
def test_the_number_of_threads_does_not_show(any_tokenizer, threads):
    """Ids, arrays, batches and counts are the same on any number of threads."""
    text = TEXT * 3_000
    ids = any_tokenizer.encode(text)
    assert any_tokenizer.encode(text, threads=threads) == ids
    array = any_tokenizer.encode_to_numpy(text, threads=threads)
    assert array.tolist() == ids
    assert any_tokenizer.count(text, threads=threads) == len(ids)
    texts = ["the cat", text, "", "sat"]
    expected = [any_tokenizer.encode(part) for part in texts]
    assert any_tokenizer.encode_batch(texts, threads=threads) == expected
    counts = any_tokenizer.count_batch(texts, threads=threads)
    assert counts == [len(part) for part in expected]


def test_errors_do_not_depend_on_threads(tokenizer):
    """A disallowed token far behind is named with its place in the whole text; threads are whole and at least one."""
    text = "the cat " * 50_000 + "<s>"
    texts = ["the", text]
    for threads in (1, 3):
        with pytest.raises(bytepair.SpecialTokenError, match="at byte 400000"):
            tokenizer.encode(text, disallowed_special="all", threads=threads)
        with pytest.raises(bytepair.SpecialTokenError, match=r"text 1 .* byte 400000"):
            tokenizer.encode_batch(texts, disallowed_special="all", threads=threads)
    for threads in (0, -1, "two", 1.5):
        with pytest.raises((bytepair.TokenizerError, TypeError)):
            tokenizer.encode("the", threads=threads)


def test_a_forked_process_goes_on_with_threads(tokenizer):
    """Threads end with the call, so a child can use the tokenizer with its own."""
    text = TEXT * 5_000
    n_ids = tokenizer.count(text, threads=2)
    child = os.fork()
    if child == 0:
        os._exit(0 if tokenizer.count(text, threads=2) == n_ids else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


# Files


def test_a_file_of_ids_is_what_numpy_reads(any_tokenizer, tmp_path):
    """Both forms hold the ids of the text, and the summary says how many of what type."""
    for text, dtype in product(("", TEXT * 2_000), (None, "uint16", "uint32")):
        source = write(tmp_path / "text", text)
        ids = any_tokenizer.encode(text)
        written = any_tokenizer.encode_file(source, tmp_path / "ids.npy", dtype=dtype)
        assert written == (len(ids), len(text.encode()), dtype or "uint16")
        array = np.load(tmp_path / "ids.npy", mmap_mode="r")
        assert (array.dtype, array.tolist()) == (np.dtype(written.dtype), ids)
        any_tokenizer.encode_file(source, tmp_path / "ids.bin", dtype=dtype)
        assert np.fromfile(tmp_path / "ids.bin", written.dtype).tolist() == ids
    assert list(tmp_path.glob(".*")) == []


def test_special_tokens_and_any_bytes_are_encoded_from_files(tokenizer, tmp_path):
    """A file is encoded as its bytes are, with the special tokens that are allowed."""
    data = bytes(range(256)) * 50 + b"<s>" + "中".encode()[:2]
    source, target = write(tmp_path / "text", data), tmp_path / "ids.npy"
    tokenizer.encode_file(source, target, allowed_special=["<s>"])
    ids = tokenizer.encode(data, allowed_special=["<s>"])
    assert np.load(target).tolist() == ids
    with pytest.raises(bytepair.SpecialTokenError, match=r"text: .* at byte 12800"):
        tokenizer.encode_file(source, target, disallowed_special="all")
    assert np.load(target).tolist() == ids


def test_files_that_cannot_be_are_refused_by_name(tokenizer, tmp_path):
    """Messages name the file; nothing is left behind, and what was there stays."""
    source = write(tmp_path / "text", "the cat")
    with pytest.raises(bytepair.FileError, match="absent"):
        tokenizer.encode_file(tmp_path / "absent", tmp_path / "ids.npy")
    with pytest.raises(bytepair.FileError, match="nowhere"):
        tokenizer.encode_file(source, tmp_path / "nowhere" / "ids.npy")
    with pytest.raises(bytepair.TokenizerError, match="dtype"):
        tokenizer.encode_file(source, tmp_path / "ids.npy", dtype="int32")
    if Path("/dev/full").exists():
        with pytest.raises(bytepair.FileError, match="/dev/full"):
            tokenizer.encode_file(source, "/dev/full")
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_two_bytes_must_hold_all_ids(tokenizer, tmp_path):
    """A vocabulary of more ids than two bytes tell apart is refused, or takes four."""
    large = tokenizer.with_special_tokens({"<last>": 65_536})
    source = write(tmp_path / "text", "the cat<last>")
    with pytest.raises(bytepair.TokenizerError, match="uint16"):
        large.encode_file(source, tmp_path / "ids.npy", dtype="uint16")
    options = {"allowed_special": ["<last>"]}
    written = large.encode_file(source, tmp_path / "ids.npy", **options)
    assert written.dtype == "uint32"
    assert np.load(tmp_path / "ids.npy")[-1] == 65_536


def test_progress_is_told_the_bytes_and_can_stop(tokenizer, tmp_path):
    """What the function raises ends the work, and no file appears."""
    source = write(tmp_path / "text", TEXT * 20_000)
    told = []
    tokenizer.encode_file(source, tmp_path / "ids.npy", progress=told.append)
    assert told == sorted(told)
    assert 0 < told[-1] <= source.stat().st_size

    def stop(_):
        message = "enough"
        raise RuntimeError(message)

    with pytest.raises(RuntimeError, match="enough"):
        tokenizer.encode_file(source, tmp_path / "other.npy", progress=stop)
    assert not (tmp_path / "other.npy").exists()


INTERRUPTED = """
import bytepair, os, sys
tokenizer = bytepair.Tokenizer.from_file(sys.argv[1])
try:
    print("ready", flush=True)
    tokenizer.encode_file("-", sys.argv[2])
except KeyboardInterrupt:
    os.write(1, b"interrupted")
    os._exit(0)
"""


def test_ctrl_c_ends_the_work(tokenizer, tmp_path):
    """An interrupt while a pipe is read is a KeyboardInterrupt, and no file appears."""
    tokenizer.save(tmp_path / "own.bytepair")
    names = [tmp_path / "own.bytepair", tmp_path / "ids"]
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline() == "ready\n"
        while process.poll() is None:  # the first may come before it reads
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
        assert process.stdout.read() == "interrupted"
    assert not (tmp_path / "ids").exists()


# Counting and cutting


@given(text=st.text(ALPHABET, max_size=60), n=st.integers(0, 20))
def test_a_truncated_text_fits_and_holds_the_first_tokens(any_tokenizer, text, n):
    """What is kept begins the text, has at most ``n`` ids, and all of it where that fits."""
    kept = any_tokenizer.truncate(text, n)
    ids = any_tokenizer.encode(text)
    assert text.startswith(kept)
    assert any_tokenizer.count(kept) <= n
    assert (kept == text) or len(ids) > n
    assert any_tokenizer.truncate(text.encode(), n) == kept.encode()


def test_truncation_reads_no_more_than_it_needs(tokenizer):
    """The text behind is not looked at: a disallowed token there is no error."""
    text = "the cat " * 100_000 + "<s>"
    assert tokenizer.truncate(text, 3, disallowed_special="all") == "the cat the"
    with pytest.raises(bytepair.SpecialTokenError):
        tokenizer.truncate(text, 10**9, disallowed_special="all")
    with pytest.raises(bytepair.TokenizerError, match="max_tokens"):
        tokenizer.truncate("the", -1)


def test_arrays_refuse_a_padding_that_does_not_fit(tmp_path):
    """A padding outside the vocabulary is written whole, or the type is refused."""
    path = tmp_path / "tokenizer.json"
    bytepair.train_from_iterator(["the cat"], vocab_size=260).save(path)
    described = json.loads(path.read_text())
    padding = {"strategy": {"Fixed": 9}, "direction": "Right", "pad_token": "[PAD]"}
    padding |= {"pad_to_multiple_of": None, "pad_id": 70_000, "pad_type_id": 0}
    described["padding"] = padding
    path.write_text(json.dumps(described))
    padded, options = bytepair.Tokenizer.from_file(path), {"add_special_tokens": True}
    ids = padded.encode("the", **options)
    assert ids[-1] == 70_000
    assert padded.encode_to_numpy("the", **options).tolist() == ids
    options["dtype"] = "uint16"
    with pytest.raises(bytepair.TokenizerError, match="70000"):
        padded.encode_to_numpy("the", **options)
    with pytest.raises(bytepair.TokenizerError, match="70000"):
        padded.encode_batch_to_numpy(["the"], **options)


REFUSED = """
import bytepair, pathlib, sys
tokenizer = bytepair.train_from_iterator(["the cat sat on the mat"], vocab_size=270)
text = "the cat sat on the mat " * 40_000
expected = tokenizer.encode(text)
assert tokenizer.encode(text, threads=3) == expected
assert tokenizer.count(text, threads=3) == len(expected)
batch = tokenizer.encode_batch([text[:20_000]] * 50, threads=3)
assert len({tuple(ids) for ids in batch}) == 1
source, output = (pathlib.Path(sys.argv[1], name) for name in ("text", "ids.npy"))
source.write_text(text)
print(tokenizer.encode_file(source, output, threads=3).n_tokens == len(expected))
"""


def test_a_process_that_gets_no_thread_does_the_work_alone(tmp_path):
    """Where the system gives no thread, here for want of so large a stack, ids are the same."""
    environment = {**os.environ, "RUST_MIN_STACK": str(1 << 48)}
    assert run_python(REFUSED, tmp_path, env=environment).stdout == "True\n"
