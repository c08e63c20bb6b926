"""Files of published models in formats of their own, beside their publishers' libraries."""

import base64
import collections
import gzip
import itertools
import json
import random

import pytest

import bytepair
from bytepair import FormatError, Tokenizer, TokenizerError, UnknownTokenError
from bytepair._io import loading, recognising
from bytepair.segmentation import Segmenter

LETTERS = " \t\n\r'sTdlLvem019٣aéA中文ñ\u0301\u200d👩💻한\u200f\ufffd\0<|>endoftext_-/.,!?Ⅷ½ſ\u3000"


def strings(count, letters=LETTERS):
    """Texts of letters that stand at the boundaries of patterns."""
    chance = random.Random(7)
    return [
        "".join(chance.choice(letters) for _ in range(chance.randint(1, 30)))
        for _ in range(count)
    ]


@pytest.mark.slow
def test_the_name_tells_encodings_of_one_file_apart(shared, tmp_path):
    """o200k_harmony is o200k_base with other special tokens."""
    path = shared("vocabularies/tiktoken/o200k_base.tiktoken")
    base, harmony = (
        Tokenizer.from_file(path),
        Tokenizer.from_file(path, encoding="o200k_harmony"),
    )
    assert base.n_vocab == 200_019
    assert harmony.n_vocab == 201_088
    copy = tmp_path / "o200k_harmony.tiktoken"
    copy.write_bytes(path.read_bytes())
    assert Tokenizer.from_file(copy) == harmony
    assert harmony.encode("<|call|><|endofprompt|>", allowed_special="all") == [
        200_012,
        200_018,
    ]
    with pytest.raises(FormatError, match="o200k_base, o200k_harmony; pass encoding="):
        Tokenizer.from_bytes(path.read_bytes())
    assert Tokenizer.from_bytes(path.read_bytes(), encoding="o200k_base") == base


def test_ranks_of_several_encodings_are_asked_for_or_told_by_their_settings(
    shared, tmp_path
):
    """Kimi K2 and K3 share ranks, and the publisher's tokens beside them say which it is."""
    folder = shared("vocabularies/kimi-k3")
    published = json.loads((folder / "specials.json").read_text())
    path = tmp_path / "tiktoken.model"
    path.write_bytes((folder / "tiktoken.model").read_bytes())
    with pytest.raises(FormatError, match=r"kimi_k2, kimi_k3; pass encoding="):
        Tokenizer.from_file(path)
    k2, k3 = (Tokenizer.from_file(path, encoding=f"kimi_k{n}") for n in (2, 3))
    assert k3.special_tokens == published
    for expected in (k2, k3):
        listed = [*expected.special_tokens.items()][:8]
        config = {str(id_): {"content": content} for content, id_ in listed}
        settings = {"added_tokens_decoder": config}
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
        assert Tokenizer.from_file(path) == expected


CUTS = [1, 3, 100, 255, 256, 257, 300, 1_000, 10_000, 40_000, 50_000]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("tiktoken", "r50k_base"),
        ("tiktoken", "p50k_base"),
        ("tiktoken", "cl100k_base"),
        ("tiktoken", "o200k_base"),
        ("whisper", "multilingual"),
    ],
)
def test_a_part_of_published_ranks_says_that_it_is_one(shared, tmp_path, folder, name):
    """Cut at a line, within one, before or behind: the message names encoding and counts."""
    content = shared(f"vocabularies/{folder}/{name}.tiktoken").read_bytes()
    lines = content.splitlines(keepends=True)
    known = "whisper_multilingual" if name == "multilingual" else name
    path = tmp_path / f"{known}.tiktoken"
    parts = [(n, b"".join(lines[:n])) for n in (*CUTS, len(lines) - 1)]
    parts += [(n, b"".join(lines[:n]) + lines[n][:3]) for n in CUTS]
    parts += [(n, b"".join(lines[:n]) + lines[n][:-2]) for n in CUTS if n > 9]
    parts += [(len(lines) - n, b"".join(lines[n:])) for n in CUTS]
    parts += [(len(lines) - n, lines[n - 1][2:] + b"".join(lines[n:])) for n in CUTS]
    parts += [(len(lines) - n, b"".join(lines[:200] + lines[200 + n :])) for n in CUTS]
    for n_whole, part in parts:
        path.write_bytes(part)
        for options in ({}, {"dialect": "gpt4"}, {"encoding": known}):
            with pytest.raises(FormatError) as caught:
                Tokenizer.from_file(path, **options)
            message = str(caught.value)
            assert f"holds {n_whole} of the {len(lines)} ranks of {known}" in message
            assert "give the split pattern" in message


@pytest.mark.slow
def test_a_part_of_published_ranks_is_loaded_on_purpose(shared, tmp_path):
    """With a pattern the ranks that are there are read as they are."""
    lines = (
        shared("vocabularies/tiktoken/cl100k_base.tiktoken").read_bytes().splitlines()
    )
    path = tmp_path / "small.tiktoken"
    path.write_bytes(b"\n".join(lines[:61_596]))
    with pytest.raises(FormatError, match="61596 of the 100256 ranks of cl100k_base"):
        Tokenizer.from_file(path, dialect="gpt4")
    small = Tokenizer.from_file(path, pattern=r"\s*\S+|\s+")
    assert small.n_vocab == 61_596
    assert small.decode(small.encode("low lower")) == "low lower"


def test_own_ranks_are_no_part_of_published_ones(tmp_path):
    """Vocabularies that were trained here load by their dialect, also without merges."""
    for n_merges in (0, 1, 3):
        own = bytepair.train_from_iterator(
            ["low lower lowest"], merges=n_merges, dialect="gpt4"
        )
        path = tmp_path / "own.tiktoken"
        own.save(path)
        (tmp_path / "own.tiktoken.json").unlink()
        assert Tokenizer.from_file(path, dialect="gpt4") == own


@pytest.mark.parametrize("ending", [b"\r\n", b"\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_marks_change_nothing_in_ranks(shared, tmp_path, ending, mark):
    """A published file is known whatever an editor did to its ends of lines."""
    content = shared("vocabularies/tiktoken/r50k_base.tiktoken").read_bytes()
    expected = Tokenizer.from_bytes(content, encoding="r50k_base")
    path = tmp_path / "r50k_base.tiktoken"
    path.write_bytes(mark + content.replace(b"\n", ending))
    assert Tokenizer.from_file(path) == expected


def test_an_encoding_is_refused_for_another_file(shared):
    """A name does not make a file that of a published encoding."""
    path = shared("vocabularies/tiktoken/r50k_base.tiktoken")
    with pytest.raises(FormatError, match="not the 100256 ranks of cl100k_base"):
        Tokenizer.from_file(path, encoding="cl100k_base")
    with pytest.raises(TokenizerError, match="known are r50k_base"):
        Tokenizer.from_file(path, encoding="gpt5")


def test_a_small_tekken_is_read_and_becomes_our_own(tmp_path):
    """Ids of tokens follow those of special tokens, which texts do not spell; tokens beyond the size are cut off."""
    config = {"version": "v3", "pattern": r"\S+|\s+", "num_vocab_tokens": 258}
    config |= {"default_num_special_tokens": 22, "default_vocab_size": 280}
    tokens = [*(bytes([byte]) for byte in range(256)), b"lo", b"low", b"cut"]
    names = (base64.b64encode(token).decode() for token in tokens)
    vocab = [{"rank": n, "token_bytes": name} for n, name in enumerate(names)]
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps({"config": config, "vocab": vocab}))
    tokenizer = Tokenizer.from_file(path)
    assert (tokenizer.n_vocab, tokenizer.special_tokens["<SPECIAL_21>"]) == (280, 21)
    for one in (tokenizer, Tokenizer.from_bytes(tokenizer.to_bytes())):
        ids = one.encode("low é</s>", add_special_tokens=True)
        assert ids == [1, 22 + 257, *(22 + byte for byte in " é</s>".encode())]
        assert one.decode(ids[1:]) == "low é</s>"


@pytest.mark.slow
def test_tekken_is_mistral_commons(shared):
    """Ids, special tokens and text are those of Mistral's own library."""
    tekken = pytest.importorskip("mistral_common.tokens.tokenizers.tekken")
    path = shared("vocabularies/tekken/tekken_240718.json")
    ours, theirs = Tokenizer.from_file(path), tekken.Tekkenizer.from_file(path)
    assert ours.n_vocab == theirs.n_words
    for text in [*strings(500), "<s>[INST]"]:
        ids = theirs.encode(text, bos=True, eos=False)
        assert ours.encode(text, add_special_tokens=True) == ids
        keep = tekken.SpecialTokenPolicy.KEEP
        assert ours.decode(ids) == theirs.decode(ids, keep)


@pytest.mark.slow
def test_tekken_is_the_tokenizer_json_of_the_same_model(shared):
    """The published tokenizer.json has the same ids, except those that it spells otherwise."""
    tokenizer = Tokenizer.from_file(shared("vocabularies/tekken/tekken_240718.json"))
    other = Tokenizer.from_file(shared("vocabularies/mistral-nemo/tokenizer.json"))
    for text in strings(500, "abcdefgh .,ABC\n"):
        assert tokenizer.encode(text) == other.encode(text)


def test_a_folder_gives_the_file_that_says_most(shared, tmp_path):
    """Of several files the order decides; a single file of another name will do."""
    with pytest.raises(
        FormatError, match=r"no tokenizer in this folder.*tokenizer\.json"
    ):
        Tokenizer.from_file(tmp_path)
    ranks = shared("vocabularies/tiktoken/r50k_base.tiktoken").read_bytes()
    (tmp_path / "r50k_base.tiktoken").write_bytes(ranks)
    assert Tokenizer.from_file(tmp_path).n_vocab == 50_257
    (tmp_path / "second.tiktoken").write_bytes(ranks)
    with pytest.raises(FormatError, match=r"r50k_base\.tiktoken, second\.tiktoken"):
        Tokenizer.from_file(tmp_path)
    own = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
    own.save(tmp_path / "tokenizer.json")
    assert Tokenizer.from_file(tmp_path).n_vocab == 258


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["tekken", "gpt2", "qwen3", "tiny-metaspace-nfkc"])
def test_folders_of_published_models_load(shared, folder):
    """What publishers ship in a folder is found there."""
    path = shared(f"vocabularies/{folder}")
    file = next(
        path / name
        for name in ("tokenizer.json", "tekken_240718.json")
        if (path / name).exists()
    )
    assert Tokenizer.from_file(path) == Tokenizer.from_file(file)


def test_content_tells_the_format_whatever_the_name(tmp_path):
    """A file under a strange name is what it holds."""
    own = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
    for format_name in ("bytepair", "compiled", "huggingface"):
        path = tmp_path / "file.data"
        own.save(path, format=format_name)
        assert recognising.sniff(path.read_bytes()) == format_name
        assert Tokenizer.from_file(path).encode("hello") == own.encode("hello")
        assert Tokenizer.from_bytes(path.read_bytes()).encode("hello") == own.encode(
            "hello"
        )


def test_special_tokens_of_ranks_may_be_named_beside_them(tmp_path, monkeypatch):
    """``added_tokens_decoder`` renames special tokens; one that is no map is an error."""
    path = tmp_path / "tiktoken.model"
    path.write_bytes(b"IQ== 0\n")
    seen = {}
    monkeypatch.setattr(loading._core, "recognise_encodings", lambda *_: ["kimi_k2"])
    monkeypatch.setattr(
        loading._core, "read_encoding", lambda _, __, renamed: seen.update(renamed)
    )
    config = tmp_path / "tokenizer_config.json"
    config.write_text(json.dumps({"added_tokens_decoder": {"5": {"content": "<x>"}}}))
    loading.load(path)
    assert seen == {5: "<x>"}
    config.write_text(json.dumps({"added_tokens_decoder": {"5": 3}}))
    with pytest.raises(FormatError, match="added_tokens_decoder"):
        loading.load(path)


def test_the_hub_gives_the_files_of_a_model(monkeypatch, tmp_path):
    """The files of one revision are fetched, and the folder is loaded."""
    asked = {}

    class Hub:
        @staticmethod
        def snapshot_download(name, **options):
            asked.update(options, name=name)
            return str(tmp_path)

    own = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
    own.save(tmp_path / "tokenizer.json")
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", Hub)
    loaded = Tokenizer.from_hub("someone/model", revision="v1", local_files_only=True)
    assert loaded.n_vocab == 258
    assert "tokenizer.json" in asked.pop("allow_patterns")
    expected = {"name": "someone/model", "revision": "v1", "local_files_only": True}
    assert asked.items() >= expected.items()


def test_a_bomb_is_no_clip(tmp_path):
    """A gzip file that unpacks to a hundred times its size is refused early."""
    path = tmp_path / "bpe_simple_vocab_16e6.txt.gz"
    path.write_bytes(gzip.compress(b"a" * 50_000_000))
    with pytest.raises(FormatError, match="16 times"):
        Tokenizer.from_file(path)


CODES = ["bpe.ref", "bpe_code.v0.2", "testcode.v0.1"]
WORDS = "thedsinarol  \u00a0</w>@é中\u2028"


def lines_of_words(count):
    """Lines of letters that stand in codes, and of others."""
    return [line + "\n" for line in strings(count, WORDS)]


def test_the_published_segmentation_is_reached(shared):
    """subword-nmt's own reference, in one call."""
    segmenter = Segmenter(shared("vocabularies/subword-nmt/bpe.ref"))
    corpus = shared("vectors/subword-nmt/corpus.en").read_text(encoding="utf-8")
    expected = shared("vectors/subword-nmt/corpus.bpe.ref.en")
    assert segmenter.segment(corpus) == expected.read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("codes", CODES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"merges": 20, "separator": "￭"},
        {"threshold": 100_000},
        {"threshold": 2**32 - 1},
        {"glossaries": ["the", r"\d+", "<w>", "in", "e[nr]"]},
        {"glossaries": ["and"], "threshold": 500},
    ],
)
def test_segments_are_those_of_subword_nmt(shared, codes, options):
    """Every option of apply_bpe but dropout gives the same text."""
    apply_bpe = pytest.importorskip("subword_nmt.apply_bpe")
    path = shared(f"vocabularies/subword-nmt/{codes}")
    there = {name: value for name, value in options.items() if name != "threshold"}
    if "threshold" in options:
        vocabulary = shared("vocabularies/subword-nmt/vocab.en")
        options = {**options, "vocabulary": vocabulary}
        with vocabulary.open(encoding="utf-8") as file:
            there["vocab"] = apply_bpe.read_vocabulary(file, options["threshold"])
    ours = Segmenter(path, **options)
    with path.open(encoding="utf-8") as file:
        theirs = apply_bpe.BPE(file, **there)
    corpus = shared("vectors/subword-nmt/corpus.en").read_text(encoding="utf-8")
    for line in [*corpus.splitlines(keepends=True)[:300], *lines_of_words(500)]:
        assert ours.segment(line) == theirs.process_line(line)


def test_codes_are_written_as_they_were_read(shared, tmp_path):
    """subword-nmt's codes come back line by line, and fastBPE's give the same words."""
    path = shared("vocabularies/subword-nmt/bpe.ref")
    tokenizer = Tokenizer.from_file(path)
    written = tokenizer.to_bytes(format="subword-nmt")
    assert written.splitlines() == path.read_bytes().splitlines()
    tokenizer.save(tmp_path / "codes", format="fastbpe")
    assert Tokenizer.from_file(tmp_path / "codes") == tokenizer
    segmenter = Segmenter(tmp_path / "codes")
    assert segmenter.segment("the ingot\n") == Segmenter(path).segment("the ingot\n")
    byte_level = bytepair.train_from_iterator(["hello hello"], vocab_size=258)
    with pytest.raises(FormatError, match="words without an end mark"):
        byte_level.to_bytes(format="subword-nmt")


LOW_WORDS = "low lower lowest newer newest wide widest " * 9
BETWEEN_SPACES_AND_LINES = {"pattern": r"[^\r\n ]+", "unmatched": "drop"}
BETWEEN_SPACES = {"pattern": "[^ ]+", "unmatched": "drop"}
WITH_UNKNOWN = {**BETWEEN_SPACES, "unknown_token": "[UNK]"}
BREAKS = [" ", "  ", "\t", "\n", "\r\n", "\r", "\v", "\x1c", "\x85", "\xa0", "\u2028"]


@pytest.mark.parametrize(
    ("dialect", "options", "more"),
    [
        ("sennrich", BETWEEN_SPACES_AND_LINES, ""),
        *(("subword-nmt", BETWEEN_SPACES_AND_LINES, more) for more in ("", "a\tb \tc")),
        *(
            ("subword-nmt", {}, more)
            for more in ("", "a\tb \tc", "a\nb", "a\rb\u2028c")
        ),
        ("subword-nmt", BETWEEN_SPACES, ""),
    ],
)
def test_codes_that_are_written_cut_the_same_words(tmp_path, dialect, options, more):
    """Of every text that has ids, whatever white space stands in it."""
    options = {"dialect": dialect, "merges": 60, **options}
    ours = bytepair.train_from_iterator([LOW_WORDS + more], **options)
    ours.save(tmp_path / "codes", format="subword-nmt")
    again = Tokenizer.from_file(tmp_path / "codes")
    n_taken = 0
    for first, second in itertools.product(BREAKS, repeat=2):
        spaced = f"{first}low{first}lower{second}newest{first}{second}"
        try:
            ours.count(spaced)
        except TokenizerError:
            continue
        assert again.tokenize(spaced) == ours.tokenize(spaced)
        n_taken += 1
    assert n_taken >= 4


@pytest.mark.parametrize(
    ("dialect", "options", "more", "named"),
    [
        ("sennrich", {}, "", "not words between spaces"),
        ("subword-nmt", BETWEEN_SPACES, "a\nb", "in which a line ends"),
        ("subword-nmt", BETWEEN_SPACES, "a\rb", "in which a line ends"),
        ("subword-nmt", BETWEEN_SPACES_AND_LINES, "a\u2028b", "in which a line ends"),
        ("subword-nmt", WITH_UNKNOWN, "", "unknown character"),
        ("subword-nmt", {"unmatched": "keep"}, "", "not words between spaces"),
    ],
)
@pytest.mark.parametrize("name", ["subword-nmt", "fastbpe"])
def test_codes_that_would_cut_other_words_are_not_written(
    tmp_path, name, dialect, options, more, named
):
    """Neither saved nor converted; the error names the pattern that codes are for."""
    options = {"dialect": dialect, "merges": 30, **options}
    ours = bytepair.train_from_iterator([LOW_WORDS + more], **options)
    with pytest.raises(FormatError, match=named) as caught:
        ours.to_bytes(format=name)
    assert 'the pattern "subword-nmt"' in str(caught.value)
    target = tmp_path / "codes"
    with pytest.raises(FormatError, match=named):
        bytepair.convert(ours, target, format=name, ids_may_change=True)
    assert not target.exists()


def test_codes_whose_order_matters_are_no_tokenizer(tmp_path):
    """A merge before the one that it needs is followed by a segmenter alone."""
    path = tmp_path / "codes"
    path.write_text("#version: 0.2\nab a\na b\n")
    with pytest.raises(FormatError, match="a later merge makes"):
        Tokenizer.from_file(path)
    assert Segmenter(path).segment("ababx") == "ab@@ ab@@ x"


DAMAGED_CODES = [
    *((b"", "empty"), (b"\n\n", "empty|neither"), (b"  \n", "empty|neither")),
    *(
        (b"\xef\xbb\xbf" + codes, "byte order mark")
        for codes in (b"#version: 0.2\nl o\n", b"l o 12\n", b"l o\n")
    ),
    *((b"#version: 0.3\na b\n", "0.3"), (b"#version: \na b\n", "version")),
    (b"#version: 0.2\na b\nabc\n", "line 3"),
    (b"#version: 0.2\na b c\n", "line 2"),
    (b"#version: 0.2\na\tb\n", "line 2"),
    (b"#version: 0.2\na b\n\nab c\n", "line 3"),
    (b"#version: 0.2\na</w> b\n", "line 2"),
    (b"#version: 0.2\na \xff\n", "UTF-8"),
    ("#version: 0.2\na b\n".encode("utf-16"), "UTF-8|UTF-16|begins with"),
    (b"v3;false;true;false;<w>;</w>\na b\n", "OpenNMT"),
    *((b"a b 12\nab c many\n", "line 2"), (b"a b 12\nab c -1\n", "line 2")),
    *((b"a b 12\nab c\n", "line 2"), (b"a b 12\n\nab c 3\n", "line 2")),
    *((b"a b 12\na b 3\n", "twice"), (b"the cat 12\n", "line 1|begins with")),
    *((line, "line 1|begins with") for line in (b"low er\n", b"hello world\n")),
    (b"<!DOCTYPE html>\n<html></html>\n", "line 1|begins with"),
]


@pytest.mark.parametrize(("content", "named"), DAMAGED_CODES)
def test_damaged_codes_are_refused_by_tokenizer_and_segmenter(tmp_path, content, named):
    """Both read by the same rules; the error names the line, the version or the mark."""
    path = tmp_path / "codes"
    path.write_bytes(content)
    for read in (Tokenizer.from_file, Segmenter):
        with pytest.raises(FormatError, match=named):
            read(path)


@pytest.mark.parametrize(
    "content",
    [
        *(b"#version: 0.2\n", b"#version: 0.2 \r\na b\r\nab c</w>\r\n"),
        *(b"a b\nab </w>\n", b"a </w>\n", b"a b</w>\na b"),
        *(b"a b 12\nab c</w> 3", b"a b</w> 12\r\n"),
    ],
)
def test_sound_codes_are_read_by_tokenizer_and_segmenter(tmp_path, content):
    """Both cut words alike."""
    path = tmp_path / "codes"
    path.write_bytes(content)
    tokenizer, segmenter = Tokenizer.from_file(path), Segmenter(path)
    for word in ("ab", "abc", "cab", "aab"):
        tokens = [token.removesuffix("</w>") for token in tokenizer.tokenize(word)]
        parts = segmenter.segment(word).split("@@ ")
        assert [token for token in tokens if token] == parts


@pytest.mark.parametrize("content", [b"", b"lo@@ x\n", b"\xff 1\n"])
def test_damaged_vocabularies_are_refused(tmp_path, content):
    """An empty file does not allow everything, and a count is a number."""
    codes, vocabulary = tmp_path / "codes", tmp_path / "vocabulary"
    codes.write_text("#version: 0.2\nl o\n")
    vocabulary.write_bytes(content)
    with pytest.raises(FormatError, match="vocabulary"):
        Segmenter(codes, vocabulary=vocabulary)


def test_parts_are_numbered_by_the_vocabulary(shared, tmp_path):
    """Numbers are places in the vocabulary, and give the text back."""
    codes = shared("vocabularies/subword-nmt/bpe.ref")
    text = "the ingot against the hot steel"
    counts = collections.Counter(Segmenter(codes).segment(text).split())
    vocabulary = tmp_path / "vocabulary"
    lines = (f"{token} {count}\n" for token, count in counts.items())
    vocabulary.write_text("".join(lines))
    segmenter = Segmenter(codes, vocabulary=vocabulary)
    ids = segmenter.encode(text)
    assert ids[0] == list(counts).index("the")
    assert segmenter.decode(ids) == text
    with pytest.raises(UnknownTokenError, match="'Q'"):
        segmenter.encode("Q")


@pytest.mark.slow
def test_clip_is_the_published_tokenizer_json(shared):
    """The list of merges alone gives the ids of the file that is published beside it."""
    tokenizers = pytest.importorskip("tokenizers")
    path = shared("vocabularies/clip/tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(path))
    ours = Tokenizer.from_file(shared("vocabularies/clip/bpe_simple_vocab_16e6.txt.gz"))
    for text in strings(500):
        ids = ours.encode(text, allowed_special="all", add_special_tokens=True)
        assert ids == theirs.encode(text).ids, text
