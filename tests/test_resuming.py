"""Training that goes on: ids stay, and every format that a command wrote can be resumed."""

import base64
import functools
import itertools
import json
import random

import pytest
from tests.made_up import added
from tests.marks import slow_but

import bytepair
from bytepair import _core, surgery
from bytepair._io.saving import FORMATS
from bytepair._training.earlier import read_earlier

tokenizers = pytest.importorskip("tokenizers")

NEW_TEXTS = [
    "سلام دنیا، زبان فارسی زیباست. " * 20,
    "The quick brown fox; der schnelle Fuchs; 1234567 foxes! " * 20,
    "def fox(x):\n        return x + 12\n" * 10,
]


def more_text(shared):
    """Give text of several kinds that published vocabularies have not seen."""
    corpora = shared("corpora")
    paths = [corpora / f"{name}.txt" for name in ("persian", "multilingual", "code")]
    found = [p.read_text("utf-8", "replace")[:60_000] for p in paths if p.exists()]
    return [*NEW_TEXTS, *found]


# Published vocabularies

PUBLISHED = {
    "gpt2/tokenizer.json": 50_257,
    "gpt2": 50_257,
    "gpt2/vocab.json": 50_257,
    "qwen3": 151_669,
    "gpt-neox-20b/tokenizer.json": 50_277,
    "llama2-style/tokenizer.json": 32_000,
    "mistral-nemo/tokenizer.json": 131_072,
    "deepseek-v3/tokenizer.json": 129_280,
    "olmo-dolma2/tokenizer.json": 100_278,
    "minimind/tokenizer.json": 6_400,
    "clip/tokenizer.json": 49_408,
    "tiny-metaspace-nfkc/tokenizer.json": 511,
    "tiktoken/r50k_base.tiktoken": 50_257,
    "tiktoken/p50k_base.tiktoken": 50_281,
    "tiktoken/cl100k_base.tiktoken": 100_277,
    "tekken/tekken_240718.json": 131_072,
    "mistral-sentencepiece/tokenizer-v1.model": 32_000,
    "mistral-sentencepiece/tokenizer-v3.model": 32_768,
    "gpt1": 40_478,
}


def grown(path, texts, **options):
    """Go on from a published file for 40 tokens, and give both tokenizers."""
    before = read_earlier(path).tokenizer
    reports = []
    if "dialect" not in options:
        options["ties"] = "smallest_ids"
    options |= {"vocab_size": before.n_vocab + 40, "progress": reports.append}
    after = bytepair.train_from_iterator(texts, resume=path, **options)
    return before, after, reports[-1].report


@pytest.mark.parametrize("name", slow_but(["minimind/tokenizer.json"], PUBLISHED))
def test_no_id_of_a_published_vocabulary_moves(shared, tmp_path, name):
    """Every token, special token and role keeps its id, in Hugging Face's library too; new tokens come behind all.

    The corpus has as many tokens as the report says, added tokens apart.
    """
    n_ids, texts = PUBLISHED[name], more_text(shared)
    path = shared(f"vocabularies/{name}")
    before, after, report = grown(path, texts, special_tokens=["<|new|>"])
    assert before.n_vocab == n_ids
    assert after.vocabulary[:n_ids] == before.vocabulary
    assert after.n_vocab == n_ids + 40
    assert after.special_tokens == {**before.special_tokens, "<|new|>": n_ids + 39}
    assert after.inspect().merge_log[: len(before.merges)] == before.inspect().merge_log
    new = [
        result for _, _, result, _ in after.inspect().merge_log[len(before.merges) :]
    ]
    assert new == list(range(n_ids, n_ids + 39))
    assert (report["unchanged_ids"], report["new_ids"]) == (n_ids, 40)
    ids = itertools.chain.from_iterable(map(after.encode, texts))
    apart = set(before.added_tokens) - set(before.special_tokens.values())
    assert report["tokens"] == sum(id_ not in apart for id_ in ids)
    assert _core.added_tokens(after)[
        : len(_core.added_tokens(before))
    ] == _core.added_tokens(before)
    assert after.inspect().settings["template"] == before.inspect().settings["template"]
    if name.endswith("/tokenizer.json") or name == "qwen3":
        names = [*list(before.special_tokens)[:8], "<|new|>"]
        texts = [text[:4000] for text in texts]
        texts += [f"fox{name} fox {name}" for name in names]
        check_hugging_face(after, texts, tmp_path / "tokenizer.json")


def check_hugging_face(tokenizer, texts, path):
    """Compare the ids of the file that is written, and of texts, in Hugging Face's library."""
    tokenizer.save(path)
    theirs = tokenizers.Tokenizer.from_file(str(path))
    assert theirs.get_vocab(with_added_tokens=True) == tokenizer.get_vocab()
    for text in texts:
        ids = tokenizer.encode(text, allowed_special="all", add_special_tokens=True)
        assert theirs.encode(text).ids == ids
    assert bytepair.Tokenizer.from_file(path).vocabulary == tokenizer.vocabulary


DIALECT_OF = {
    "gpt2": "gpt2",
    "gpt-neox-20b": "gpt2",
    "qwen3": "qwen",
    "deepseek-v3": "deepseek-v3",
    "olmo-dolma2": "llama3",
    "mistral-nemo": "tekken",
}


@pytest.mark.parametrize("name", slow_but(["gpt2"], DIALECT_OF))
def test_the_name_of_a_dialect_goes_with_its_publishers_file(shared, name):
    """``--dialect gpt2 --resume gpt2/tokenizer.json`` is accepted without naming ties."""
    path = shared(f"vocabularies/{name}/tokenizer.json")
    before, after, _ = grown(path, NEW_TEXTS, dialect=DIALECT_OF[name])
    assert after.vocabulary[: before.n_vocab] == before.vocabulary


@pytest.mark.parametrize(
    "name", slow_but(["r50k_base"], ["r50k_base", "p50k_base", "cl100k_base"])
)
def test_tiktoken_reads_the_same_ids(shared, tmp_path, name):
    """Ranks that went on keep holes and special tokens between others, as tiktoken does."""
    tiktoken = pytest.importorskip("tiktoken")
    _, after, _ = grown(shared(f"vocabularies/tiktoken/{name}.tiktoken"), NEW_TEXTS)
    after.save(tmp_path / "own.tiktoken")
    again = bytepair.Tokenizer.from_file(tmp_path / "own.tiktoken")
    assert again.vocabulary == after.vocabulary
    lines = (tmp_path / "own.tiktoken").read_bytes().splitlines()
    pairs = [line.split() for line in lines]
    described = json.loads((tmp_path / "own.tiktoken.json").read_text("utf-8"))
    theirs = tiktoken.Encoding(
        name,
        pat_str=described["pattern"],
        mergeable_ranks={base64.b64decode(t): int(rank) for t, rank in pairs},
        special_tokens=described["special_tokens"],
    )
    for text in [*NEW_TEXTS, "fox<|endoftext|> سلام"]:
        ids = after.encode(text, allowed_special="all")
        assert theirs.encode(text, allowed_special="all") == ids


def test_stored_counts_go_on_from_every_format(tmp_path):
    """Counts of a dialect fit a file of it, whatever words its pattern is written in."""
    pytest.importorskip("pyarrow")
    from bytepair import scale

    (tmp_path / "text.txt").write_text("\n".join(word_texts()), "utf-8")
    counts = scale.count(tmp_path / "text.txt", dialect="gpt4")
    at_once = bytepair.train_from_counts(counts, merges=50)
    part = bytepair.train_from_counts(counts, merges=20)
    for name in ("t.bytepair", "t.json", "t.tiktoken"):
        part.save(tmp_path / name)
        after = bytepair.train_from_counts(counts, merges=50, resume=tmp_path / name)
        assert after.vocabulary == at_once.vocabulary


# What only other files name


def small(**options):
    """Train a tokenizer of bytes with some merges."""
    return bytepair.train_from_iterator(["low lower lowest " * 9], merges=5, **options)


def gone_on(source, merges=6, text="wider", **options):
    """Go on from a tokenizer or a file of one."""
    options |= {"resume": source, "merges": merges}
    return bytepair.train_from_iterator([text] * 9, **options)


def published_folder(folder, config=None, tokens=None):
    """Write a folder with a ``tokenizer.json`` and files beside it."""
    tokenizer = small(special_tokens=["<s>"])
    tokenizer.save(folder / "tokenizer.json")
    for name, found in {"tokenizer_config": config, "added_tokens": tokens}.items():
        if found is not None:
            (folder / f"{name}.json").write_text(json.dumps(found))
    return tokenizer


def test_ids_that_only_the_configuration_names_stay_free(tmp_path):
    """They become added tokens with their flags, and new tokens come behind them."""
    decoder = {
        "261": {"content": "<s>", "special": True},
        "270": {"content": "<think>", "special": False, "lstrip": True},
        "266": {"content": "<tool>", "special": True, "normalized": False},
    }
    before = published_folder(tmp_path, {"added_tokens_decoder": decoder})
    assert before.n_vocab == 262
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        after = gone_on(path, 7, "wider wide")
        assert after.special_tokens == {"<s>": 261, "<tool>": 266}
        assert after.token_to_id("<think>") == 270
        assert after.vocabulary[262:266] == [None] * 4
        assert [merge[2] for merge in after.inspect().merge_log[5:]] == [271, 272]
        flags = {text: found for _, text, found in _core.added_tokens(after)}
        assert flags["<think>"] == [False, True, True, False, False]
    check_hugging_face(after, [], tmp_path / "after.json")


def test_a_file_that_the_folder_stands_for_has_what_is_named_beside_it(tmp_path):
    """A folder may have one file of ranks of any name; a second one has other tokens."""
    small().save(tmp_path / "qwen.tiktoken")
    decoder = {"added_tokens_decoder": {"270": {"content": "<x>", "special": True}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(decoder))
    for path in (tmp_path, tmp_path / "qwen.tiktoken"):
        after = gone_on(path)
        assert (after.token_to_id("<x>"), after.inspect().merge_log[5][2]) == (270, 271)
    published_folder(tmp_path)
    small().save(tmp_path / "own.json")
    assert gone_on(tmp_path / "own.json").n_vocab == 262
    assert gone_on(tmp_path / "qwen.tiktoken").inspect().merge_log[5][2] == 261


def test_added_tokens_json_counts_where_the_configuration_lists_none(tmp_path):
    """Its tokens are special if settings give them a role."""
    config = {"pad_token": "<pad>"}
    published_folder(tmp_path, config, {"<pad>": 262, "<mine>": 263})
    after = gone_on(tmp_path)
    assert after.special_tokens == {"<s>": 261, "<pad>": 262}
    assert after.token_to_id("<mine>") == 263
    assert after.inspect().merge_log[5][2] == 264


def test_an_id_that_two_files_give_to_two_tokens_is_refused(tmp_path):
    """The message names the id and both tokens."""
    published_folder(tmp_path, {"added_tokens_decoder": {"260": {"content": "<x>"}}})
    with pytest.raises(bytepair.TokenizerError, match=r'260 of "<x>" is that of'):
        gone_on(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text("[")
    with pytest.raises(bytepair.FormatError, match=r"tokenizer_config\.json: not JSON"):
        gone_on(tmp_path)


# What stays true with and without special tokens


def test_special_tokens_stay_and_merges_are_those_of_training_at_once():
    """Only where the ids of new tokens begin differs, by the special tokens before them."""
    texts = ["low lower lowest newer wider <s> " * 9, "wide newest lows"]
    options = {"special_tokens": ["<s>", "<t>"], "dialect": "gpt4"}
    first = bytepair.train_from_iterator(texts, merges=4, **options)
    first = first.with_template("<s> $A")
    later = bytepair.train_from_iterator(texts, merges=9, resume=first, **options)
    at_once = bytepair.train_from_iterator(texts, merges=9, **options)
    assert later.merges == at_once.merges
    assert later.encode("", add_special_tokens=True) == [260]
    options["special_tokens"] = ["<u>"]
    more = bytepair.train_from_iterator(texts, merges=9, resume=first, **options)
    assert more.special_tokens == {**first.special_tokens, "<u>": more.n_vocab - 1}
    assert later.special_tokens == first.special_tokens == {"<s>": 260, "<t>": 261}
    assert at_once.special_tokens == {"<s>": 265, "<t>": 266}
    plain = {"dialect": "gpt4"}
    first = bytepair.train_from_iterator(texts, merges=4, **plain)
    later = bytepair.train_from_iterator(texts, merges=9, resume=first, **plain)
    assert later == bytepair.train_from_iterator(texts, merges=9, **plain)


@pytest.mark.parametrize("is_special", [True, False])
def test_an_added_token_that_is_named_again_keeps_its_id(tmp_path, is_special):
    """A token of the alphabet, one that merges make, and another: each is special then."""
    small().save(tmp_path / "t.json")
    file = json.loads((tmp_path / "t.json").read_text("utf-8"))
    ids = {**file["model"]["vocab"], "<x>": 261}
    names = ["l", "low", "<x>"]
    tokens = [added(ids[name], name, special=is_special) for name in names]
    file["added_tokens"] = tokens
    (tmp_path / "t.json").write_text(json.dumps(file), "utf-8")
    reports = []
    options = {"special_tokens": [*names, "<y>"], "progress": reports.append}
    options |= {"resume": tmp_path / "t.json", "vocab_size": 265}
    after = bytepair.train_from_iterator(["wider wide"] * 9, **options)
    assert after.special_tokens == {**{name: ids[name] for name in names}, "<y>": 264}
    assert (after.n_vocab, reports[-1].report["new_ids"]) == (265, 3)
    check_hugging_face(after, [], tmp_path / "after.json")


def test_a_size_without_room_for_new_special_tokens_is_refused():
    """The message counts both; a size that just has the room is taken."""
    first, options = small(), {"special_tokens": ["<a>", "<b>"]}
    options |= {"resume": first}
    with pytest.raises(bytepair.TrainingError, match="261 and 2 special tokens are"):
        bytepair.train_from_iterator(["low"], vocab_size=262, **options)
    after = bytepair.train_from_iterator(["low"], vocab_size=263, **options)
    assert after.special_tokens == {"<a>": 261, "<b>": 262}


def test_a_cut_of_what_went_on_is_what_went_on_less_far():
    """Special tokens between the merges stay where they are, as long as those before stay."""
    texts = ["low lower lowest newer wider wide newest " * 9]
    first = bytepair.train_from_iterator(texts, merges=4, special_tokens=["<s>"])
    far = bytepair.train_from_iterator(texts, merges=12, resume=first)
    near = bytepair.train_from_iterator(texts, merges=7, resume=first)
    assert surgery.shorten(far, merges=7) == near
    assert surgery.shorten(far, merges=4) == first
    assert surgery.shorten(far, merges=2) == surgery.shorten(first, merges=2)


# Every format that was asked for

# A model of SentencePiece holds no dialect.
SAVED = {
    "bytepair": "t.bytepair",
    "compiled": "t.bytepair-compiled",
    "huggingface": "t.json",
    "tiktoken": "t.tiktoken",
    "gpt2": "folder",
    "subword-nmt": "t.codes",
    "fastbpe": "t.fastbpe",
}
# Formats that hold a tokenizer of words without special tokens, by dialect; the first two always do.
HELD = {
    "gpt2": {"huggingface", "tiktoken", "gpt2"},
    "sennrich": set(),
    "subword-nmt": {"huggingface", "subword-nmt", "fastbpe"},
}
for name in ("gpt4", "gpt4o", "llama3", "qwen", "tekken", "byte-stream"):
    HELD[name] = {"huggingface", "tiktoken"}


@functools.cache
def word_texts():
    """Give lines of random words, digits and punctuation, without the marks of dialects."""
    rng = random.Random(5)
    words = [
        "".join(rng.choices("abcdefghiéß", k=rng.randint(1, 7))) for _ in range(99)
    ]
    words += ["don't", "1234", "x,", "(y)", "Über"]
    return [" ".join(rng.choices(words, k=60)) for _ in range(20)]


def interrupted(**options):
    """Train until a Ctrl-C during the first merges."""

    def stop(progress):
        if progress.phase == "merge":
            raise KeyboardInterrupt

    with pytest.raises(bytepair.TrainingInterrupted) as found:
        bytepair.train_from_iterator(word_texts(), progress=stop, **options)
    return found.value.tokenizer


@pytest.mark.parametrize(
    ("special", "options"),
    [
        ([], {}),
        (["<|end|>"], {"min_count": 3}),
        (["<|end|>"], {"ties": "largest_text"}),
        ([], {"lowercase": "training"}),
    ],
    ids=["plain", "min_count", "ties", "lowercase"],
)
@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_what_a_command_wrote_goes_on_with_its_options(
    tmp_path, dialect, special, options
):
    """Of whatever format: the merges are those without the interruption.

    So are the ids, where there is neither a special nor an unknown token to keep.
    """
    options = {**options, "dialect": dialect, "special_tokens": special, "merges": 90}
    part = interrupted(**options)
    assert 0 < len(part.merges) < 90
    at_once = bytepair.train_from_iterator(word_texts(), **options)
    saved = set()
    for name in set(FORMATS) - {"sentencepiece"}:
        path = tmp_path / SAVED[name]
        try:
            part.save(path, format=name)
        except bytepair.FormatError:
            continue
        saved.add(name)
        after = bytepair.train_from_iterator(word_texts(), resume=path, **options)
        assert after.merges == at_once.merges, name
        if not special and dialect != "unknown-token":
            assert after.vocabulary == at_once.vocabulary, name
        elif name not in ("subword-nmt", "fastbpe"):
            assert after.special_tokens == part.special_tokens, name
    assert {"bytepair", "compiled"} <= saved
    assert special or HELD.get(dialect, {"huggingface"}) <= saved


@pytest.mark.parametrize(
    ("dialect", "other"),
    [
        ("letters-digits", {"dialect": "gpt2"}),
        ("letters-digits", {"pattern": "."}),
        ("letters-digits", {"byte_ids": "printable"}),
        ("sennrich", {"dialect": "gpt4o"}),
        ("sennrich", {"end_mark": "_"}),
        ("sennrich", {"normalize": "nfc"}),
    ],
)
def test_options_that_make_another_tokenizer_are_refused(tmp_path, dialect, other):
    """A pattern, a mark or an order of bytes that the tokenizer or its file does not have; fewer ids than it has."""
    tokenizer = bytepair.train_from_iterator(word_texts(), merges=5, dialect=dialect)
    paths = [tmp_path / "t.bytepair"] + [tmp_path / "t.json"] * (dialect != "sennrich")
    for path in paths:
        tokenizer.save(path)
    for source in (tokenizer, *paths):
        with pytest.raises(bytepair.TrainingError, match="has another"):
            gone_on(source, 9, **other)
        with pytest.raises(bytepair.TrainingError, match="shorten"):
            gone_on(source, None, vocab_size=tokenizer.n_vocab - 1, dialect=dialect)


def test_own_parts_go_on_with_the_options_that_they_were_made_with(tmp_path):
    """A pattern without a dialect means the default dialect with it, as in training."""
    options = {"pattern": r"\p{L}+|[^\p{L}]+", "merges": 60}
    at_once = bytepair.train_from_iterator(word_texts(), **options)
    part = bytepair.train_from_iterator(word_texts(), **{**options, "merges": 9})
    for name in ("t.bytepair", "t.json", "t.tiktoken"):
        part.save(tmp_path / name)
        options["resume"] = tmp_path / name
        after = bytepair.train_from_iterator(word_texts(), **options)
        assert after.vocabulary == at_once.vocabulary


def test_codes_are_continued_with_their_log(tmp_path):
    """They hold no ids: log and tokenizer get those of training at once."""
    options = {"dialect": "subword-nmt", "log": tmp_path / "log"}
    at_once = bytepair.train_from_iterator(word_texts(), merges=50, **options)
    whole = bytepair.read_log(tmp_path / "log")
    part = bytepair.train_from_iterator(word_texts(), merges=20, **options)
    part.save(tmp_path / "codes", format="subword-nmt")
    options |= {"merges": 50, "resume": tmp_path / "codes"}
    after = bytepair.train_from_iterator(word_texts(), **options)
    assert (after.merges, after.vocabulary) == (at_once.merges, at_once.vocabulary)
    found = bytepair.read_log(tmp_path / "log")
    assert [step.ids for step in found.steps] == [step.ids for step in whole.steps]
