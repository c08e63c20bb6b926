"""Finished shards in the ids of another tokenizer: what tokenizing their corpus would have written."""

import json
import random
import re
import signal

import numpy as np
import pytest
from tests.commands import refused, run
from tests.programs import run_python

import bytepair
from bytepair import FileError, TokenizerError
from bytepair.cli.shard import refuse_without_corpus

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from bytepair import scale  # noqa: E402
from bytepair.data import TokenDataset, _shards, _work, check_dataset  # noqa: E402
from bytepair.scale import _decoding  # noqa: E402

MARK, BEGIN = "<|end|>", "<s>"
WORDS = ["low", "lower", "newest", "wide", "é", "a_b"]
SPELLED = f"spelled {MARK} out"


def trained(dialect="gpt4o", merges=20, **options):
    """Train a small tokenizer with two special tokens."""
    texts = [" ".join(WORDS * 3), SPELLED, BEGIN]
    tokenizer = bytepair.train_from_iterator(
        texts, merges=merges, dialect=dialect, **options
    )
    return tokenizer.with_special_tokens([MARK, BEGIN])


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Write documents to two files; one is empty, one has the text of a special token."""
    folder = tmp_path_factory.mktemp("corpus")
    chance = random.Random(1)
    texts = [" ".join(chance.choices(WORDS, k=20)) for _ in range(80)]
    for name, part in (("a", ["", *texts[:30]]), ("b", [*texts[30:], SPELLED])):
        lines = [json.dumps({"text": text}) + "\n" for text in part]
        (folder / f"{name}.jsonl").write_text("".join([*lines, '{"text": null}\n']))
    return folder


def written_files(folder):
    """Map names to contents; of a manifest everything but where the documents came from."""
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    manifest = json.loads(found["manifest.json"])
    manifest["plan"].pop("from_ids", None)
    return {**found, "manifest.json": manifest}


ROUTES = [
    ("gpt4o npy", "sentencepiece megatron"),
    ("byte-stream bin", "gpt2 datatrove"),
    ("sentencepiece npy", "letters-digits npy"),
    ("sennrich megatron", "gpt4o bin"),
    ("tekken datatrove", "sennrich parquet"),
]


@pytest.mark.parametrize(("old", "new"), ROUTES)
@pytest.mark.parametrize("added_tokens", ["find", "text"])
def test_new_shards_are_those_of_the_corpus(
    tmp_path, corpus, monkeypatch, old, new, added_tokens
):
    """Byte for byte, whatever the dialects, formats, tokens around documents, batches and processes."""
    monkeypatch.setattr(_decoding, "BATCH_IDS", 1 << 20 if "parquet" in new else 100)
    (old_dialect, old_format), (new_dialect, new_format) = old.split(), new.split()
    drops_spaces = old_dialect == "sennrich"
    first = trained(old_dialect).with_added_tokens([] if drops_spaces else ["wide"])
    second = trained(new_dialect, 9).with_added_tokens(["lower"])
    options = {"format": new_format, "begin_of_document": BEGIN, "shard_tokens": 300}
    options["added_tokens"] = added_tokens
    reading = {"task_bytes": 3000}
    scale.tokenize(
        first,
        corpus,
        tmp_path / "old",
        format=old_format,
        end_of_document=MARK,
        **reading,
    )
    expected = scale.tokenize(
        second, corpus, tmp_path / "expected", **options, **reading
    )
    told = []
    found = scale.tokenize(
        second,
        tmp_path / "old",
        tmp_path / "new",
        old_tokenizer=first,
        processes=2 if old == ROUTES[0][0] else 1,
        progress=told.append,
        **options,
    )
    assert found["totals"] == expected["totals"]
    assert found["totals"]["with_special_text"] == 1
    assert written_files(tmp_path / "new") == written_files(tmp_path / "expected")
    assert told[-1].done_bytes == told[-1].total_bytes > 0
    assert len(found["tasks"]) > 2
    loses = found["plan"]["from_ids"]["loses"]
    assert (loses == "nothing") == (old_dialect in ("gpt4o", "byte-stream", "tekken"))
    if new_format != "parquet":
        assert check_dataset(tmp_path / "new", second)["documents"] == 84


def test_bytes_that_are_not_utf8_go_through(tmp_path):
    """Between dialects of bytes; a tokenizer of characters names the document."""
    (tmp_path / "c.txt").write_bytes(b"low\nlow \xff\xfe lower\n" + BEGIN.encode())
    old, new = trained("byte-stream"), trained("gpt2")
    for tokenizer, name in ((old, "old"), (new, "expected")):
        scale.tokenize(tokenizer, tmp_path / "c.txt", tmp_path / name, lines=True)
    source, route = tmp_path / "old", {"old_tokenizer": old}
    scale.tokenize(new, source, tmp_path / "new", **route)
    assert written_files(tmp_path / "new") == written_files(tmp_path / "expected")
    with pytest.raises(bytepair.EncodingError, match=r"old: document 1: .* not UTF-8"):
        scale.tokenize(trained("sennrich"), source, tmp_path / "x", **route)


def test_a_space_that_decoding_removes_comes_back(tmp_path):
    """Some decoders remove one before each text, although only texts that begin without one get it."""
    space = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}
    model = {"type": "BPE", "vocab": {"▁": 0, "a": 1}, "merges": []}
    content = {"model": model, "pre_tokenizer": space, "decoder": space}
    (tmp_path / "tokenizer.json").write_text(json.dumps(content))
    old, new = bytepair.Tokenizer.from_file(tmp_path / "tokenizer.json"), trained()
    (tmp_path / "c.txt").write_text("a\n   a\n a\na a\n")
    scale.tokenize(old, tmp_path / "c.txt", tmp_path / "old", lines=True)
    scale.tokenize(new, tmp_path / "old", tmp_path / "new", old_tokenizer=old)
    found = [new.decode(ids) for ids in TokenDataset(tmp_path / "new")]
    assert found == ["a", "   a", "a", "a a"]


@pytest.mark.parametrize(
    ("options", "text", "message"),
    [
        (
            {"dialect": "sennrich"},
            "low wide low",
            "document 1: the text at the token 'wide' is not",
        ),
        (
            {"dialect": "sennrich", "unknown_token": "<u>"},
            "z",
            "the text at the token '<u>'",
        ),
        ({"dialect": "unknown-token"}, "low", "does not mark where they end"),
    ],
)
def test_text_that_is_not_certain_is_refused(tmp_path, options, text, message):
    """Added tokens beside dropped text, unknown tokens, and words without an end."""
    old = trained(**options).with_added_tokens(["wide"])
    (tmp_path / "c.txt").write_text(f"low\n{text}\n")
    scale.tokenize(old, tmp_path / "c.txt", tmp_path / "old", lines=True)
    with pytest.raises(TokenizerError, match=message):
        scale.tokenize(trained(), tmp_path / "old", tmp_path / "new", old_tokenizer=old)
    assert not (tmp_path / "new" / "manifest.json").exists()


@pytest.fixture
def old(tmp_path, corpus):
    """Write shards with a token before each document; return their tokenizer."""
    tokenizer = trained()
    options = {"begin_of_document": BEGIN, "task_bytes": 3000}
    scale.tokenize(tokenizer, corpus, tmp_path / "old", **options)
    return tokenizer


@pytest.mark.parametrize(
    ("place", "id_", "message"),
    [
        (3, MARK, f"document 2: the special token '{re.escape(MARK)}' is inside it"),
        (0, MARK, "document 2: its ids are not those of the text"),
        (3, 9999, "document 2: no token has the id 9999"),
    ],
)
def test_ids_that_the_tokenizer_does_not_write_are_refused(
    tmp_path, old, place, id_, message
):
    """A special token inside, another one before a document, and ids of no token."""
    path = tmp_path / "old" / "shard-00000-000.npy"
    start = sum(len(TokenDataset(tmp_path / "old")[place]) for place in (0, 1))
    ids = np.load(path)
    ids[start + place] = old.special_tokens.get(id_, id_)
    np.save(path, ids)
    manifest = json.loads((tmp_path / "old" / "manifest.json").read_text())
    file = manifest["tasks"][0]["shards"][0]["files"][path.name]
    with pytest.raises(FileError, match=r"000\.npy has changed since it was written"):
        scale.tokenize(old, tmp_path / "old", tmp_path / "new", old_tokenizer=old)
    file["sha256"] = _shards.sha256_of(path)
    (tmp_path / "old" / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(TokenizerError, match=f"old: {message}"):
        scale.tokenize(old, tmp_path / "old", tmp_path / "other", old_tokenizer=old)


def test_other_folders_and_tokenizers_are_refused(tmp_path, old, corpus):
    """A folder of texts, unfinished shards, the same folder, another tokenizer by both names, other shards."""
    source, out, other = tmp_path / "old", tmp_path / "new", trained("gpt2")

    def refused_with(message, folder=source, output=out, old_tokenizer=old):
        with pytest.raises(TokenizerError, match=message):
            scale.tokenize(other, folder, output, old_tokenizer=old_tokenizer)

    refused_with("no dataset, there is no manifest", corpus)
    refused_with("name a path outside", output=source)
    both = f"another tokenizer, {old.fingerprint}; this one is {other.fingerprint}"
    refused_with(both, old_tokenizer=other)
    refused_with("name one folder", [source, corpus])
    scale.tokenize(old, corpus, tmp_path / "parquet", format="parquet")
    refused_with("reads shards of the formats npy", tmp_path / "parquet")
    scale.tokenize(other, source, out, old_tokenizer=old)
    old.save(tmp_path / "t.bytepair")
    corpus.rename(tmp_path / "moved")
    command = ["shard", tmp_path / "t.bytepair", "--with", tmp_path / "t.bytepair"]
    command += ["--from-ids", source, "-o", tmp_path / "checked", "--check"]
    assert "--check reads the corpus again" in refused(*command)
    (tmp_path / "moved").rename(corpus)
    written = (source / "manifest.json").read_text()
    elsewhere = written.replace(json.dumps(str(corpus)), '"memory://corpus"')
    (source / "manifest.json").write_text(elsewhere)
    refuse_without_corpus(source)  # a corpus that is not on this machine may be there
    (source / "manifest.json").write_text((source / "manifest.json").read_text() + " ")
    refused_with("started with different settings .from_ids")
    (source / "manifest.json").unlink()
    (source / _work.WORK).mkdir()
    refused_with("old: not finished")


def test_a_killed_run_is_continued(tmp_path, old):
    """What was written is kept, and the result is that of a run that was not killed."""
    new = trained("gpt2")
    for tokenizer, name in ((old, "a"), (new, "b")):
        tokenizer.save(tmp_path / f"{name}.bytepair")
    program = """
import os, signal, sys
from bytepair import scale
from bytepair.data import _shards
finish, done = _shards._Shard.finish, []
def finish_two(shard):
    done.append(1)
    if len(done) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return finish(shard)
_shards._Shard.finish = finish_two
old, new, folder, out = sys.argv[1:]
scale.tokenize(new, folder, out, old_tokenizer=old)
"""
    files, out = [tmp_path / "a.bytepair", tmp_path / "b.bytepair"], tmp_path / "out"
    run_python(program, *files, tmp_path / "old", out, code=-signal.SIGKILL)
    kept = out / "shard-00000-000.npy"
    before = kept.stat().st_mtime_ns
    for name in ("out", "whole"):
        options = {"processes": 2} if name == "out" else {}
        scale.tokenize(
            new, tmp_path / "old", tmp_path / name, old_tokenizer=old, **options
        )
    assert kept.stat().st_mtime_ns == before
    assert written_files(out) == written_files(tmp_path / "whole")


def test_the_command_says_what_the_old_ids_do_not_hold(tmp_path, corpus):
    """And refuses options of a corpus, and one of --from-ids and --with alone."""
    old, new = trained("sentencepiece"), trained()
    for tokenizer, name in ((old, "old.bytepair"), (new, "new.bytepair")):
        tokenizer.save(tmp_path / name)
    scale.tokenize(old, corpus, tmp_path / "old")
    shard = ["shard", tmp_path / "new.bytepair", "-o", tmp_path / "new"]
    route = ["--from-ids", tmp_path / "old", "--with", tmp_path / "old.bytepair"]
    for typed in ([], [corpus, *route], route[:2], [corpus, *route[2:]]):
        assert "give either CORPUS, or both" in refused(*shard, *typed, code=2)
    for option in (["--field", "x"], ["--input-format", "text"], ["--task-size", "1"]):
        assert option[0] in refused(*shard, *route, *option)
    wrong = [*route[:3], tmp_path / "new.bytepair"]
    assert f"this one is {new.fingerprint}" in refused(*shard, *wrong)
    done = run(*shard, *route, "--processes", 1, "--end-of-document", MARK)
    assert "84 documents" in done.stderr
    assert "the new ones: what normalizing changes" in done.stderr
    assert TokenDataset(tmp_path / "new")[0][-1] == new.special_tokens[MARK]
