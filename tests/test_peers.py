"""Other libraries, reading what we write, give our ids; and what is published gives its.

Left out: speed (the benchmarks). Corpora and published files lie outside the
repository: see ``shared`` in ``conftest``.
"""

# ruff: noqa: RUF001 -- the texts under test are in many scripts

import json
import os
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import bytepair
from bytepair import Tokenizer

CASES = settings(suppress_health_check=[HealthCheck.too_slow])
SHARED = Path(
    os.environ.get("BYTEPAIR_SHARED", Path(__file__).parent.parent.parent / "shared")
)
BYTES = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen", "deepseek-v3", "tekken"]
BYTES += ["letters-digits", "byte-stream"]
WITH_TIKTOKEN = ["gpt2", "gpt4", "gpt4o", "llama3", "qwen", "tekken", "byte-stream"]
SPECIAL = ["<|endoftext|>", "<s>"]
HARD = [
    "",
    " ",
    "\n",
    "<s>the <|endoftext|><s>\n<|endo",
    "I'll we'Re they'VE 'S ſ's 'ſ K'k don’t L'été",
    "a  b\t\tc \n d\r\n\r\n  e\u00a0\u3000f\u2028g \u0085",
    "1234567 ١٢٣٤ ²³ Ⅷ ½ 12a34",
    "HTTPServerError camelCase ǅ ʰ ªº ß ẞ İ ı ﬁ",
    "e\u0301\u0301 \u0301 Å Å 각 각 हिन्दी ไทย",
    "🇺🇳🇮 👨‍👩‍👧 😀😀 \u200d\u200c\ufeff",
    "日本語テキスト 中文，标点。 한국어 العربية עברית",
    "-----====== /* // */ ../../x.py\n\n\n    return {}[]();",
    "\x00\x01\x7f \ue000 \U0010ffff \ufffe",
    "_ __ a_b </w> ▁ ▁▁a ## ##a <0x41> [UNK] Ġ Ċ",
    "a" * 300 + " " * 300 + "ab" * 300,
]


@cache
def samples():
    """Give slices from the beginning, the middle and the end of each corpus."""
    found = list(HARD)
    for path in sorted(SHARED.glob("corpora/**/*.txt")):
        data = path.read_bytes()
        for start in range(0, len(data), max(1, len(data) // 7)):
            text = data[start : start + 6000].decode(errors="ignore")
            found += [text, *text.splitlines()[1:4]]
    return found


@cache
def training_text():
    """Give text of many languages to train on."""
    paths = sorted(SHARED.glob("corpora/**/*.txt"))
    slices = [path.read_bytes()[:60_000].decode(errors="ignore") for path in paths]
    return "\n".join([*HARD * 2, *slices])


def trained(dialect, **options):
    """Train on many languages."""
    options = {"dialect": dialect, "merges": 2000, **options}
    options.setdefault("special_tokens", SPECIAL)
    return bytepair.train_from_iterator([training_text()], **options)


# Hugging Face tokenizers


def in_hf(tokenizer):
    """Load what we write with Hugging Face tokenizers."""
    hf = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    return hf.Tokenizer.from_str(tokenizer.to_bytes(format="huggingface").decode())


def assert_hf_agrees(ours, theirs, texts):
    """Ids, tokens and decoded text are the same."""
    assert theirs.get_vocab() == ours.get_vocab()
    encodings = theirs.encode_batch(texts, add_special_tokens=False)
    for text, encoding in zip(texts, encodings, strict=True):
        ids = ours.encode(text, allowed_special="all")
        assert ids == encoding.ids, text[:200]
        decoded = theirs.decode(ids, skip_special_tokens=False)
        assert decoded == ours.decode(ids), text[:200]


def strict_about_characters(texts, tokenizer):
    """Leave out texts with unknown characters, which are an error here alone."""

    def is_known(text):
        try:
            tokenizer.encode(text, allowed_special="all")
        except bytepair.UnknownTokenError:
            return False
        return True

    return [text for text in texts if is_known(text)]


@pytest.mark.slow
@pytest.mark.parametrize("dialect", BYTES)
def test_hf_tokenizers_reads_dialects_of_bytes(dialect):
    """It gives our ids for every sample of every corpus."""
    ours = trained(dialect)
    assert_hf_agrees(ours, in_hf(ours), samples())


CHARACTERS = {
    "suffix": {"dialect": "subword-nmt", "unknown_token": "[UNK]"},
    "fused": {
        "dialect": "subword-nmt",
        "unknown_token": "[UNK]",
        "fuse_unknown": True,
        "pattern": "words",
    },
    "unknown": {"dialect": "unknown-token"},
    "unknown, NFKC": {"dialect": "unknown-token", "normalize": "nfkc"},
    "prefix": {
        "dialect": "unknown-token",
        "continuing_prefix": "##",
        "normalize": ["nfd", "lowercase"],
    },
    "sentencepiece": {"dialect": "sentencepiece"},
    "sentencepiece, unknown": {
        "dialect": "sentencepiece",
        "byte_fallback": False,
        "unknown_token": "<unk>",
        "fuse_unknown": True,
    },
    "sentencepiece, prepended": {
        "dialect": "sentencepiece",
        "normalize": [("prepend_each", "▁"), ("replace", " ", "▁")],
    },
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CHARACTERS)
def test_hf_tokenizers_reads_dialects_of_characters(case):
    """The same for characters, with marks, unknown characters and byte fallback."""
    options = CHARACTERS[case]
    # There the tokens `##` and `</w>` would lose their text, and are refused.
    text = training_text()[:200_000].replace("#", "").replace("</w>", "")
    letters = [chr(n) for n in (*range(33, 0x250), *range(0x400, 0x460), 0x3042)]
    ours = bytepair.train_from_iterator(
        [text, " ".join(letters)],
        **{"merges": 1000, "special_tokens": SPECIAL, **options},
    )
    theirs = in_hf(ours)
    texts = strict_about_characters(samples(), ours)
    if "nfkc" in str(options) or case == "sentencepiece" or "nfd" in str(options):
        # Unicode 8 there: text is compared that both normalize alike.
        texts = [
            t for t in texts if theirs.normalizer.normalize_str(t) == same(ours, t)
        ]
    assert len(texts) > len(HARD) // 2
    encodings = theirs.encode_batch(texts, add_special_tokens=False)
    for text, encoding in zip(texts, encodings, strict=True):
        assert ours.encode(text, allowed_special="all") == encoding.ids, text[:200]


def same(tokenizer, text):
    """Normalize as a tokenizer does: by a twin that takes a text as one piece."""
    twin = bytepair.train_from_iterator(
        ["a"],
        merges=0,
        pattern="",
        normalize=NORMALIZERS[str(tokenizer).splitlines()[1].strip()],
    )
    return "".join(twin.split(text))


NORMALIZERS = {
    'normalize: NFKC, " " becomes "▁"': ["nfkc", ("replace", " ", "▁")],
    "normalize: NFKC": ["nfkc"],
    "normalize: NFD, lower case": ["nfd", "lowercase"],
}

PATTERNS = [
    "gpt2",
    "o200k",
    r"\w+|\W",
    r"\s+|\S+",
    r"\p{L}+|[^\p{L}]{1,3}",
    r"(?i:'s|'t)|\p{L}++|\s+(?!\S)|.",
    r"\d{1,2}|[a-z]+$",
    "",
    ["\\d", "[^0-9]"],
]
SHORT = st.text(st.sampled_from("aAbz'sſ 1٣\n\t_é\u0301日😀\u200c▁.<s>"), max_size=25)


@CASES
@given(
    st.lists(SHORT, min_size=1, max_size=4),
    SHORT,
    st.sampled_from(["gpt2", "letters-digits", "unknown-token", "subword-nmt"]),
    st.sampled_from(PATTERNS),
    st.sampled_from(["keep", "drop"]),
    st.sampled_from(
        [[], ["lowercase"], [("replace", "a", "b")], [("prepend_each", "z")]]
    ),
)
def test_hf_tokenizers_agrees_or_we_refuse(
    corpus, text, dialect, pattern, unmatched, normalize
):
    """Whatever the pattern and the normalizer, a file that is written gives our ids."""
    try:
        ours = bytepair.train_from_iterator(
            corpus,
            dialect=dialect,
            merges=10,
            pattern=pattern,
            unmatched=unmatched,
            normalize=normalize,
            unknown_token=None if dialect in BYTES else "[UNK]",
            special_tokens=["<s>"],
        )
        theirs = in_hf(ours)
    except (bytepair.TrainingError, bytepair.FormatError):
        return
    for one in [*corpus, text]:
        expected = theirs.encode(one, add_special_tokens=False).ids
        assert ours.encode(one, allowed_special="all") == expected


HF_TRAINED = {
    "gpt2": "spanish-novels.txt",
    "gpt4o": "multilingual.txt",
    "gpt4": "code.txt",
    "llama3": "chinese.txt",
}


@pytest.mark.slow
@pytest.mark.parametrize("dialect", HF_TRAINED)
def test_hf_tokenizers_learns_the_same(shared, dialect):
    """Its trainer, with our split, learns our merges from a few megabytes."""
    hf = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    path = shared(f"corpora/{HF_TRAINED[dialect]}")
    text = path.read_bytes()[:2_000_000].decode(errors="ignore")
    lines = text.splitlines(keepends=True)
    size = 3000
    ours = bytepair.train_from_iterator(lines, dialect=dialect, vocab_size=size)
    theirs = hf.Tokenizer(hf.models.BPE())
    theirs.pre_tokenizer = in_hf(ours).pre_tokenizer
    trainer = hf.trainers.BpeTrainer(
        vocab_size=size,
        min_frequency=2,
        initial_alphabet=hf.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    theirs.train_from_iterator(lines, trainer)
    merges = json.loads(in_hf(ours).to_str())["model"]["merges"]
    assert json.loads(theirs.to_str())["model"]["merges"] == merges
    assert theirs.get_vocab() == ours.get_vocab()


# tiktoken


def in_tiktoken(tokenizer, folder):
    """Build an ``Encoding`` from what we write."""
    tiktoken = pytest.importorskip("tiktoken", reason="compares with tiktoken")
    load = pytest.importorskip("tiktoken.load")
    path = folder / "own.tiktoken"
    tokenizer.save(path)
    sidecar = json.loads((folder / "own.tiktoken.json").read_text())
    assert sidecar["flavour"] == "rust"
    return tiktoken.Encoding(
        "own",
        pat_str=sidecar["pattern"],
        mergeable_ranks=load.load_tiktoken_bpe(str(path)),
        special_tokens=sidecar["special_tokens"],
    )


@pytest.mark.slow
@pytest.mark.parametrize("dialect", WITH_TIKTOKEN)
def test_tiktoken_reads_what_we_write(tmp_path, dialect):
    """It gives our ids for every sample of every corpus, special tokens and all."""
    ours = trained(dialect)
    theirs = in_tiktoken(ours, tmp_path)
    assert theirs.n_vocab == ours.n_vocab
    for text in samples():
        ids = ours.encode(text)
        assert theirs.encode_ordinary(text) == ids, text[:200]
        assert theirs.decode_bytes(ids) == ours.decode_bytes(ids)
        both = {"allowed_special": "all"}
        assert theirs.encode(text, **both) == ours.encode(text, **both), text[:200]
        some = {"allowed_special": {"<s>"}, "disallowed_special": ()}
        assert theirs.encode(text, **some) == ours.encode(text, **some), text[:200]


@CASES
@given(
    st.lists(SHORT, min_size=1, max_size=4),
    SHORT,
    st.sampled_from(PATTERNS),
    st.sampled_from(["smallest_ids", "first_seen", "largest_text"]),
    st.sampled_from(["printable", "value"]),
)
def test_tiktoken_agrees_or_we_refuse(
    tmp_path_factory, corpus, text, pattern, ties, byte_ids
):
    """Whatever the pattern and the ties, a file that is written gives our ids."""
    try:
        ours = bytepair.train_from_iterator(
            corpus, dialect="gpt2", pattern=pattern, ties=ties, byte_ids=byte_ids
        )
        theirs = in_tiktoken(ours, tmp_path_factory.mktemp("saved"))
    except (bytepair.TrainingError, bytepair.FormatError):
        return
    for one in [*corpus, text]:
        assert theirs.encode_ordinary(one) == ours.encode(one)


# Published vocabularies

END = "<|endoftext|>"
FIM = {"<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260}
TIKTOKEN = {
    "tiktoken/r50k_base.tiktoken": ("gpt2", {END: 50256}),
    "tiktoken/p50k_base.tiktoken": ("gpt2", {END: 50256}),
    "tiktoken/cl100k_base.tiktoken": (
        "gpt4",
        {END: 100257, **FIM, "<|endofprompt|>": 100276},
    ),
    "tiktoken/o200k_base.tiktoken": ("gpt4o", {END: 199999, "<|endofprompt|>": 200018}),
}


def published(shared, name):
    """Load a published vocabulary."""
    path = shared(f"vocabularies/{name}")
    if name in TIKTOKEN:
        dialect, special = TIKTOKEN[name]
        return Tokenizer.from_file(path, dialect=dialect, special_tokens=special)
    return Tokenizer.from_file(path)


@pytest.mark.slow
def test_shared_vectors_hold(shared):
    """Published vocabularies give the ids that their publishers' libraries gave."""
    lines = shared("vectors/ids.jsonl").read_text(encoding="utf-8").split("\n")
    cases = defaultdict(list)
    for case in map(json.loads, filter(None, lines)):
        cases[case["vocabulary"]].append(case)
    n_held = 0
    for name, some in cases.items():
        tokenizer = published(shared, name)
        for case in some:
            # SentencePiece never finds a control symbol in a text.
            allowed = () if name.endswith(".model") else "all"
            ids = tokenizer.encode(case["text"], allowed_special=allowed)
            assert ids == case["ids"], (name, case["text"][:200])
            n_held += 1
    assert n_held == 1844


PUBLISHED = "gpt2 deepseek-v3 gpt-neox-20b llama2-style minimind mistral-nemo qwen3"
PUBLISHED += " olmo-dolma2 tiny-metaspace-nfkc clip tiny-wordpiece-prefix"


@pytest.mark.slow
@pytest.mark.parametrize("name", PUBLISHED.split())
def test_published_files_give_the_ids_of_hf_tokenizers(shared, name):
    """Both libraries read the same file alike, and also what we write of it."""
    hf = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    path = shared(f"vocabularies/{name}/tokenizer.json")
    ours, theirs = Tokenizer.from_file(path), hf.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    texts = [text for text in samples() if "<s" not in text or name != "gpt2"]
    if theirs.normalizer is not None:
        texts = [text for text in texts if text.isascii() or text in HARD[4:8]]
    again = in_hf(ours)
    for special in (False, True):
        options = {"add_special_tokens": special}
        for text in texts:
            ids = ours.encode(text, allowed_special="all", **options)
            assert ids == theirs.encode(text, **options).ids, text[:200]
            assert ids == again.encode(text, **options).ids, text[:200]
        for text in texts[:60]:
            ids = ours.encode(text, allowed_special="all", **options)
            decoded = theirs.decode(ids, skip_special_tokens=special)
            assert ours.decode(ids, skip_special_tokens=special) == decoded


EMPTY = [r"(?=[A-Z])|\s+", r"\d*", r"\s*", r"(?<=\d)"]


@pytest.mark.parametrize("pattern", EMPTY)
def test_empty_matches_of_rust_patterns_stay_here(pattern, tmp_path):
    """An empty match is no match there, and the library of the file would cut at it."""
    tokenizer = bytepair.train_from_iterator(
        ["helloWorld fooBar 12 "], merges=9, pattern=pattern, pattern_flavour="rust"
    )
    with pytest.raises(bytepair.FormatError, match="could match the empty text"):
        tokenizer.save(tmp_path / "t.json")


@pytest.mark.parametrize("pattern", EMPTY)
def test_empty_matches_of_oniguruma_patterns_cut(pattern, tmp_path):
    """Both libraries cut at them, in the file as it is written and in one made by hand."""
    hf = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    text = "helloWorld fooBar 12 3  x"
    tokenizer = bytepair.train_from_iterator(
        [text], merges=9, pattern=pattern, pattern_flavour="oniguruma"
    )
    tokenizer.save(tmp_path / "t.json")
    theirs = hf.Tokenizer.from_file(str(tmp_path / "t.json"))
    read = bytepair.Tokenizer.from_file(tmp_path / "t.json")
    assert read.encode(text) == theirs.encode(text).ids == tokenizer.encode(text)
