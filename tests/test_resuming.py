"""Training that goes on: ids stay, and every format that a command wrote can be resumed."""

import base64
import json
import random

import pytest

import bytepair
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
    found = [
        (corpora / f"{name}.txt").read_text("utf-8", "replace")[:60_000]
        for name in ("persian", "multilingual", "code")
        if (corpora / f"{name}.txt").exists()
    ]
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
    "whisper/multilingual.tiktoken": 51_865,
    "tekken/tekken_240718.json": 131_072,
    "mistral-sentencepiece/tokenizer-v1.model": 32_000,
    "mistral-sentencepiece/tokenizer-v3.model": 32_768,
    "gpt1": 40_478,
}


def grown(path, texts, *, n_new=40, **options):
    """Go on from a published file, and give both tokenizers."""
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    before = read_earlier(path).tokenizer
    if "dialect" not in options:
        options["ties"] = "smallest_ids"
    reports = []
    after = bytepair.train_from_iterator(
        texts,
        resume=path,
        vocab_size=before.n_vocab + n_new,
        progress=reports.append,
        **options,
    )
    return before, after, reports[-1].report


@pytest.mark.parametrize("name", PUBLISHED)
def test_no_id_of_a_published_vocabulary_moves(shared, name):
    """Every token, special token and role keeps its id; new tokens come behind all."""
    n_ids = PUBLISHED[name]
    before, after, report = grown(
        shared("vocabularies") / name, more_text(shared), special_tokens=["<|new|>"]
    )
    assert before.n_vocab == n_ids
    assert after.vocabulary[:n_ids] == before.vocabulary
    assert after.n_vocab == n_ids + 40
    assert after.special_tokens == {**before.special_tokens, "<|new|>": n_ids + 39}
    assert after.merge_log[: len(before.merges)] == before.merge_log
    new = [result for _, _, result, _ in after.merge_log[len(before.merges) :]]
    assert new == list(range(n_ids, n_ids + 39))
    assert (report["unchanged_ids"], report["new_ids"]) == (n_ids, 40)
    assert after._added_tokens[: len(before._added_tokens)] == before._added_tokens
    assert after.template == before.template


WRITTEN = [name for name in PUBLISHED if name.endswith(".json") and "/tok" in name]


@pytest.mark.parametrize("name", [*WRITTEN, "qwen3"])
def test_hugging_face_reads_the_same_ids(shared, tmp_path, name):
    """The file that is written has every id where it was, and encodes to the same ids there."""
    before, after, _ = grown(
        shared("vocabularies") / name, more_text(shared), special_tokens=["<|new|>"]
    )
    after.save(tmp_path / "tokenizer.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.get_vocab(with_added_tokens=True) == after.get_vocab()
    names = [*list(before.special_tokens)[:8], "<|new|>"]
    texts = [text[:4000] for text in more_text(shared)]
    texts += [f"fox{name} fox {name}" for name in names]
    for text in texts:
        ids = after.encode(text, allowed_special="all", add_special_tokens=True)
        assert theirs.encode(text).ids == ids
    again = bytepair.Tokenizer.from_file(tmp_path / "tokenizer.json")
    assert again.vocabulary == after.vocabulary


def test_training_uses_the_segmentation_of_the_vocabulary(shared):
    """The corpus has as many tokens as the report says, for vocabularies of every kind."""
    texts = ["low lower, the lowest newest wide fox 12 " * 20, "a newer widest fox"]
    for name in ("minimind/tokenizer.json", "mistral-nemo/tokenizer.json", "gpt2"):
        _, after, report = grown(shared("vocabularies") / name, texts, n_new=9)
        n_ids = sum(len(after.encode_ordinary(text)) for text in texts)
        assert report["tokens"] == n_ids


DIALECT_OF = {
    "gpt2": "gpt2",
    "gpt-neox-20b": "gpt2",
    "qwen3": "qwen",
    "deepseek-v3": "deepseek-v3",
    "olmo-dolma2": "llama3",
    "mistral-nemo": "tekken",
}


@pytest.mark.parametrize("name", DIALECT_OF)
def test_the_name_of_a_dialect_goes_with_its_publishers_file(shared, name):
    """``--dialect gpt2 --resume gpt2/tokenizer.json`` is accepted without naming ties."""
    path = shared("vocabularies") / name / "tokenizer.json"
    before, after, _ = grown(path, NEW_TEXTS, dialect=DIALECT_OF[name])
    assert after.vocabulary[: before.n_vocab] == before.vocabulary


def test_tiktoken_reads_the_same_ids(shared, tmp_path):
    """Ranks that went on keep holes and special tokens between others, as tiktoken does."""
    tiktoken = pytest.importorskip("tiktoken")
    for name in ("r50k_base", "p50k_base", "cl100k_base"):
        path = shared("vocabularies/tiktoken") / f"{name}.tiktoken"
        _, after, _ = grown(path, NEW_TEXTS)
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
    scale = pytest.importorskip("bytepair.scale")
    pytest.importorskip("pyarrow")
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


def published_folder(folder, config=None, added=None):
    """Write a folder with a ``tokenizer.json`` and files beside it."""
    tokenizer = small(special_tokens=["<s>"])
    tokenizer.save(folder / "tokenizer.json")
    for name, found in {"tokenizer_config": config, "added_tokens": added}.items():
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
        after = bytepair.train_from_iterator(["wider wide"] * 9, resume=path, merges=7)
        assert after.special_tokens == {"<s>": 261, "<tool>": 266}
        assert after.token_to_id("<think>") == 270
        assert after.vocabulary[262:266] == [None] * 4
        assert [merge[2] for merge in after.merge_log[5:]] == [271, 272]
        flags = {text: found for _, text, found in after._added_tokens}
        assert flags["<think>"] == [False, True, True, False, False]
    after.save(tmp_path / "after.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "after.json"))
    assert theirs.get_vocab(with_added_tokens=True) == after.get_vocab()


def test_a_file_that_the_folder_stands_for_has_what_is_named_beside_it(tmp_path):
    """A folder may have one file of ranks of any name; a second one has other tokens."""
    small().save(tmp_path / "qwen.tiktoken")
    decoder = {"added_tokens_decoder": {"270": {"content": "<x>", "special": True}}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(decoder))
    for path in (tmp_path, tmp_path / "qwen.tiktoken"):
        after = bytepair.train_from_iterator(["wider"] * 9, resume=path, merges=6)
        assert (after.token_to_id("<x>"), after.merge_log[5][2]) == (270, 271)
    published_folder(tmp_path)
    after = bytepair.train_from_iterator(
        ["wider"] * 9, resume=tmp_path / "qwen.tiktoken", merges=6
    )
    assert after.merge_log[5][2] == 261


def test_added_tokens_json_counts_where_the_configuration_lists_none(tmp_path):
    """Its tokens are special if settings give them a role."""
    config = {"pad_token": "<pad>"}
    published_folder(tmp_path, config, {"<pad>": 262, "<mine>": 263})
    after = bytepair.train_from_iterator(["wider"] * 9, resume=tmp_path, merges=6)
    assert after.special_tokens == {"<s>": 261, "<pad>": 262}
    assert after.token_to_id("<mine>") == 263
    assert after.merge_log[5][2] == 264


def test_an_id_that_two_files_give_to_two_tokens_is_refused(tmp_path):
    """The message names the id and both tokens."""
    published_folder(tmp_path, {"added_tokens_decoder": {"260": {"content": "<x>"}}})
    with pytest.raises(bytepair.TokenizerError, match=r'260 of "<x>" is that of'):
        bytepair.train_from_iterator(["wider"] * 9, resume=tmp_path, merges=6)
    (tmp_path / "tokenizer_config.json").write_text("[")
    with pytest.raises(bytepair.FormatError, match=r"tokenizer_config\.json: not JSON"):
        bytepair.train_from_iterator(["wider"] * 9, resume=tmp_path, merges=6)


def test_files_beside_a_tokenizer_of_another_name_are_not_its_own(tmp_path):
    """``own.json`` in a published folder has nothing to do with the settings there."""
    decoder = {"added_tokens_decoder": {"300": {"content": "<x>"}}}
    published_folder(tmp_path, decoder)
    small().save(tmp_path / "own.json")
    after = bytepair.train_from_iterator(
        ["wider"] * 9, resume=tmp_path / "own.json", merges=6
    )
    assert after.n_vocab == 262


# What stays true with and without special tokens


def test_special_tokens_stay_and_merges_are_those_of_training_at_once():
    """Only where the ids of new tokens begin differs, by the special tokens before them."""
    texts = ["low lower lowest newer wider <s> " * 9, "wide newest lows"]
    options = {"special_tokens": ["<s>", "<t>"], "dialect": "gpt4"}
    first = bytepair.train_from_iterator(texts, merges=4, **options)
    later = bytepair.train_from_iterator(texts, merges=9, resume=first, **options)
    at_once = bytepair.train_from_iterator(texts, merges=9, **options)
    assert later.merges == at_once.merges
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
    flags = {"lstrip": False, "rstrip": False, "single_word": False}
    flags |= {"normalized": False, "special": is_special}
    file["added_tokens"] = [
        {"id": ids[name], "content": name, **flags} for name in names
    ]
    (tmp_path / "t.json").write_text(json.dumps(file), "utf-8")
    reports = []
    after = bytepair.train_from_iterator(
        ["wider wide"] * 9,
        resume=tmp_path / "t.json",
        special_tokens=[*names, "<y>"],
        vocab_size=265,
        progress=reports.append,
    )
    assert after.special_tokens == {**{name: ids[name] for name in names}, "<y>": 264}
    assert (after.n_vocab, reports[-1].report["new_ids"]) == (265, 3)
    after.save(tmp_path / "after.json")
    theirs = tokenizers.Tokenizer.from_file(str(tmp_path / "after.json"))
    assert theirs.get_vocab(with_added_tokens=True) == after.get_vocab()


def test_a_size_without_room_for_new_special_tokens_is_refused():
    """The message counts both; a size that just has the room is taken."""
    first, options = small(), {"special_tokens": ["<a>", "<b>"]}
    with pytest.raises(
        bytepair.TrainingError, match="261 and 2 special tokens are new"
    ):
        bytepair.train_from_iterator(["low"], resume=first, vocab_size=262, **options)
    after = bytepair.train_from_iterator(
        ["low"], resume=first, vocab_size=263, **options
    )
    assert after.special_tokens == {"<a>": 261, "<b>": 262}


def test_a_cut_of_what_went_on_is_what_went_on_less_far():
    """Special tokens between the merges stay where they are, as long as those before stay."""
    texts = ["low lower lowest newer wider wide newest " * 9]
    first = bytepair.train_from_iterator(texts, merges=4, special_tokens=["<s>"])
    far = bytepair.train_from_iterator(texts, merges=12, resume=first)
    near = bytepair.train_from_iterator(texts, merges=7, resume=first)
    assert far.truncated(merges=7) == near
    assert far.truncated(merges=4) == first
    assert far.truncated(merges=2) == first.truncated(merges=2)


def test_a_log_is_continued_behind_special_tokens(tmp_path):
    """Its steps are those of training at once but for ids, and it can be read."""
    texts, log = ["low lower lowest newer wider wide newest " * 9], tmp_path / "log"
    options = {"special_tokens": ["<s>"], "log": log}
    first = bytepair.train_from_iterator(texts, merges=4, **options)
    first.save(tmp_path / "first.bytepair")
    later = bytepair.train_from_iterator(
        texts, merges=9, resume=tmp_path / "first.bytepair", **options
    )
    found = bytepair.read_log(log)
    assert [step.ids[2] for step in found.steps] == [
        256,
        257,
        258,
        259,
        *range(261, 266),
    ]
    assert [step.ids for step in found.steps] == [m[:3] for m in later.merge_log]
    bytepair.train_from_iterator(
        texts, merges=9, special_tokens=["<s>"], log=tmp_path / "at once"
    )
    at_once = bytepair.read_log(tmp_path / "at once")
    said = [(s.left, s.right, s.token, s.count, s.tokens) for s in found.steps]
    assert said == [
        (s.left, s.right, s.token, s.count, s.tokens) for s in at_once.steps
    ]
    assert found.curve() == at_once.curve()


# Every format that was asked for

SAVED = {
    "bytepair": "t.bytepair",
    "compiled": "t.bytepair-compiled",
    "huggingface": "t.json",
    "tiktoken": "t.tiktoken",
    "gpt2": "folder",
    "sentencepiece": "t.model",
    "subword-nmt": "t.codes",
    "fastbpe": "t.fastbpe",
}
ALWAYS = {"bytepair", "compiled"}
AT_LEAST = {
    **{
        dialect: {*ALWAYS, "huggingface", "tiktoken"}
        for dialect in ("gpt4", "gpt4o", "llama3", "qwen", "tekken", "byte-stream")
    },
    "gpt2": {*ALWAYS, "huggingface", "tiktoken", "gpt2"},
    "deepseek-v3": {*ALWAYS, "huggingface"},
    "letters-digits": {*ALWAYS, "huggingface"},
    "sennrich": ALWAYS,
    "subword-nmt": {*ALWAYS, "huggingface", "subword-nmt", "fastbpe"},
    "jurafsky-martin": {*ALWAYS, "huggingface"},
    "unknown-token": {*ALWAYS, "huggingface"},
    "sentencepiece": {*ALWAYS, "huggingface"},
}
"""Formats that hold a tokenizer of the dialect, trained on words without special tokens."""


def word_texts():
    """Give lines of random words, digits and punctuation, without the marks of dialects."""
    rng = random.Random(5)
    words = [
        "".join(rng.choices("abcdefghiéß", k=rng.randint(1, 7))) for _ in range(400)
    ]
    words += ["don't", "1234", "x,", "(y)", "Über"]
    return [" ".join(rng.choices(words, k=60)) for _ in range(40)]


def interrupted(**options):
    """Train until a Ctrl-C during the first merges."""

    def stop(progress):
        if progress.phase == "merge":
            raise KeyboardInterrupt

    with pytest.raises(bytepair.TrainingInterrupted) as found:
        bytepair.train_from_iterator(word_texts(), progress=stop, **options)
    return found.value.tokenizer


OPTIONS = [{}, {"min_count": 3}, {"ties": "largest_text"}]


@pytest.mark.parametrize("options", OPTIONS, ids=["plain", "min_count", "ties"])
@pytest.mark.parametrize("special", [[], ["<|end|>"]], ids=["", "special"])
@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_what_a_command_wrote_goes_on_with_its_options(
    tmp_path, dialect, special, options
):
    """Of whatever format: the merges are those without the interruption.

    So are the ids, where there is neither a special nor an unknown token to keep.
    """
    options = {**options, "dialect": dialect, "special_tokens": special, "merges": 300}
    part = interrupted(**options)
    assert 0 < len(part.merges) < 300
    at_once = bytepair.train_from_iterator(word_texts(), **options)
    saved = set()
    for name in FORMATS:
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
    if not special:
        assert saved >= AT_LEAST[dialect]
    assert saved >= ALWAYS


def test_options_that_make_another_tokenizer_are_refused_for_every_format(tmp_path):
    """A pattern, a mark or an order of bytes that the file does not have is an error."""
    texts, part = word_texts(), {"merges": 5, "dialect": "letters-digits"}
    tokenizer = bytepair.train_from_iterator(texts, **part)
    wrong = ({"dialect": "gpt2"}, {"pattern": "."}, {"byte_ids": "printable"})
    for name in ("t.bytepair", "t.json"):
        tokenizer.save(tmp_path / name)
        for options in wrong:
            with pytest.raises(bytepair.TrainingError, match="has another"):
                bytepair.train_from_iterator(
                    texts, merges=9, resume=tmp_path / name, **options
                )


def test_own_parts_go_on_with_the_options_that_they_were_made_with(tmp_path):
    """A pattern without a dialect means the default dialect with it, as in training."""
    options = {"pattern": r"\p{L}+|[^\p{L}]+", "merges": 60}
    at_once = bytepair.train_from_iterator(word_texts(), **options)
    part = bytepair.train_from_iterator(word_texts(), **{**options, "merges": 9})
    for name in ("t.bytepair", "t.json", "t.tiktoken"):
        part.save(tmp_path / name)
        after = bytepair.train_from_iterator(
            word_texts(), resume=tmp_path / name, **options
        )
        assert after.vocabulary == at_once.vocabulary


def test_codes_are_continued_with_their_log(tmp_path):
    """They hold no ids: log and tokenizer get those of training at once."""
    options = {"dialect": "subword-nmt"}
    at_once = bytepair.train_from_iterator(
        word_texts(), merges=50, log=tmp_path / "at once", **options
    )
    part = bytepair.train_from_iterator(
        word_texts(), merges=20, log=tmp_path / "log", **options
    )
    part.save(tmp_path / "codes", format="subword-nmt")
    after = bytepair.train_from_iterator(
        word_texts(),
        merges=50,
        log=tmp_path / "log",
        resume=tmp_path / "codes",
        **options,
    )
    assert (after.merges, after.vocabulary) == (at_once.merges, at_once.vocabulary)
    found, whole = (bytepair.read_log(tmp_path / n) for n in ("log", "at once"))
    assert [step.ids for step in found.steps] == [step.ids for step in whole.steps]
