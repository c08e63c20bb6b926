"""Extending tokenizers: old ids stay, new tokens join old neighbours, and files are proven."""

import collections
import functools
import itertools
import json
import math
import random

import pytest
from hypothesis import given, strategies as st
from tests.made_up import (
    CORPUS,
    MARKED,
    added,
    every_kind,
    hugging_face,
    ranks,
    vocabulary,
)

import bytepair
from bytepair import TokenizerError, _core, surgery
from bytepair.analyze._compare.huggingface import is_installed

TEXTS = [
    *CORPUS,
    "lower wider the hat's hats 12 12 été été नमस्ते नमस्ते 中文 中文字 low<m>er\n\n",
] * 3
OTHERS = ["a lowest hat", " été", "中文中文", "x<|end|>low", "wer low  lower\n"]
OTHERS += ["नम 1212"]
KINDS = sorted(every_kind())


@functools.cache
def grown(name, add=12, **options):
    """Extend a small tokenizer of a kind."""
    return surgery.extend(every_kind()[name], texts=TEXTS, add=add, **options)


def ids_or_none(tokenizer, text):
    """Give the ids of a text; nothing if a unit of it is unknown and an error."""
    try:
        return tokenizer.encode(text, allowed_special="all")
    except TokenizerError:
        return None


def parts_by_merges(tokenizer, n_old):
    """Give each id in old ones, merge by merge."""
    parts = {id_: [id_] for id_ in range(n_old)}
    for left, right, id_, _count in tokenizer.inspect().merge_log:
        if id_ >= n_old:
            parts[id_] = parts[left] + parts[right]
    return parts


def n_joined(base, after, texts):
    """Check that new ids stand for the old ones in each text; give how many fewer they are."""
    parts, n_fewer = parts_by_merges(after, base.n_vocab), 0
    for text in texts:
        old, new = ids_or_none(base, text), ids_or_none(after, text)
        if old is None:
            assert new is None
            continue
        assert [part for id_ in new for part in parts[id_]] == old
        n_fewer += len(old) - len(new)
    return n_fewer


def check_old(base, after):
    """Check that old tokens, merges and added tokens are those of the base."""
    n_merges = len(base.merges)
    assert after.vocabulary[: base.n_vocab] == base.vocabulary
    old, new = (
        [m[:3] for m in t.inspect().merge_log[:n_merges]] for t in (base, after)
    )
    assert new == old
    assert _core.added_tokens(after) == _core.added_tokens(base)


@pytest.mark.parametrize("name", KINDS)
def test_nothing_old_changes_and_new_ids_join_neighbours(name):
    """Old tokens, merges, added tokens and roles stay; new ids follow, are made, and stand for the old ids that their merges lead back to."""
    found = grown(name)
    base, after, n_old = found.base, found.tokenizer, found.base.n_vocab
    new = list(range(n_old, after.n_vocab))
    assert len(new) == found.report.added > 0
    check_old(base, after)
    assert [m[2] for m in after.inspect().merge_log[len(base.merges) :]] == new
    assert after.inspect().settings["template"] == base.inspect().settings["template"]
    assert after.special_tokens == base.special_tokens
    assert found.id_map == tuple(range(n_old))
    assert n_joined(base, after, [*TEXTS, *OTHERS]) > 0
    unmade, unplaced = _core.unreached(after)
    assert not {*unmade, *unplaced} & set(new)
    for id_ in new:
        if ids_or_none(after, after.decode_bytes([id_])) == [id_]:
            assert id_ not in found.report.within_others


@pytest.mark.parametrize(
    "name",
    ["gpt4o", "sennrich", "sentencepiece", "prefix", "fallback", "whole pieces"],
)
@given(text=st.text(alphabet="lower wisthc'a12é中文नम\n", max_size=30))
def test_joining_holds_for_any_text(name, text):
    """Texts of the letters that tokens are made of, in any order."""
    found = grown(name)
    n_joined(found.base, found.tokenizer, [text])


@pytest.mark.parametrize("name", KINDS)
def test_a_smaller_extension_is_the_beginning_of_a_larger_one(name):
    """Whatever the number of threads."""
    large, small = grown(name, add=9, threads=2), grown(name, add=4, threads=1)
    n_vocab, n_merges = small.tokenizer.n_vocab, len(small.tokenizer.merges)
    assert n_vocab == large.base.n_vocab + 4
    assert small.tokenizer.vocabulary == large.tokenizer.vocabulary[:n_vocab]
    assert small.tokenizer.merges == large.tokenizer.merges[:n_merges]
    assert small.report.curve == large.report.curve[:5]


@pytest.mark.parametrize("name", KINDS)
def test_the_curve_is_the_length_of_the_corpus(name):
    """Encoding the corpus after k additions gives as many tokens as the curve says."""
    base = every_kind()[name]
    texts = [text.replace("<m>", "") for text in TEXTS]
    texts = [text for text in texts if ids_or_none(base, text) is not None]
    texts = texts or ["lower low lowe er", "aa low"]
    found = surgery.extend(base, texts=texts, add=8)
    for k in (0, 3, 8):
        cut = surgery.extend(base, texts=texts, add=k)
        n_tokens = sum(len(ids_or_none(cut.tokenizer, text)) for text in texts)
        assert found.report.curve[cut.report.added] == n_tokens, k
    falls = [a - b for a, b in itertools.pairwise(found.report.curve)]
    assert all(fall >= 2 for fall in falls)


LETTERS = vocabulary(*"ablow xABéy.\n▁", "<u>", "lo", "low", "▁a")
MERGES = [["l", "o"], ["lo", "w"], ["▁", "a"]]
NORMALIZERS = [
    None,
    {"type": "Lowercase"},
    MARKED,
    {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, MARKED]},
    {"type": "Strip", "strip_left": True, "strip_right": True},
]
FIRST = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}
SPLITS = [None, *({**FIRST, "split": split} for split in (True, False))]
SPLITS += [{"type": "Whitespace"}, {"type": "Punctuation", "behavior": "Isolated"}]
FLAGS = ("special", "normalized", "lstrip", "rstrip", "single_word")


@given(
    data=st.data(),
    parts=st.tuples(st.sampled_from(NORMALIZERS), st.sampled_from(SPLITS)),
    names=st.sets(st.sampled_from(["ab", "AB", " a", "▁a", "é", "low", "  ", "b "])),
    model=st.fixed_dictionaries(
        {"ignore_merges": st.booleans(), "fuse_unk": st.booleans()}
    ),
    texts=st.lists(
        st.text("ablow xAB▁.\n", min_size=1, max_size=20), min_size=1, max_size=4
    ),
)
def test_reports_count_what_encoding_gives(data, parts, names, model, texts):
    """Wherever added tokens are looked for, the corpus has as many tokens as its texts are encoded to."""
    new_ids = itertools.count(len(LETTERS))
    tokens = []
    for name in sorted(names):
        flags = {flag: data.draw(st.booleans()) for flag in FLAGS}
        tokens.append(added(LETTERS.get(name) or next(new_ids), name, **flags))
    model = {**model, "vocab": LETTERS, "merges": MERGES, "unk_token": "<u>"}
    others = {"normalizer": parts[0], "pre_tokenizer": parts[1], "added_tokens": tokens}
    try:
        base = hugging_face(model, **others)
    except TokenizerError:  # a token is nothing once it is normalized
        return
    texts = [*texts, "xABlow lo"] * 2
    found = surgery.extend(base, texts=texts, add=3)
    pruned = surgery.prune(found.tokenizer, texts=texts, min_count=4)
    tokenizers = base, found.tokenizer, pruned.tokenizer
    before, middle, after = (
        sum(len(ids_or_none(one, text)) for text in texts) for one in tokenizers
    )
    assert (found.report.tokens_before, found.report.tokens_after) == (before, middle)
    assert (pruned.report.tokens_before, pruned.report.tokens_after) == (middle, after)


def test_the_knee_is_the_point_farthest_from_the_chord():
    """As a plain computation with both axes from 0 to 1 finds it."""
    report = grown("gpt4o", add=40).report
    last, first = len(report.curve) - 1, report.curve[0]
    fall = first - report.curve[-1]
    curve = enumerate(report.curve)
    distances = [((first - n) / fall - k / last) / math.sqrt(2) for k, n in curve]
    assert report.knee == distances.index(max(distances))
    assert 0 < report.knee < 40


OF_BYTES = [n for n in KINDS if isinstance(every_kind()[n].vocabulary[0], bytes)]


@pytest.mark.parametrize("name", OF_BYTES)
def test_no_token_reaches_over_the_cuts_of_the_pattern(name):
    """However many are added: in the end each piece is a token, and pieces are as they were."""
    base = every_kind()[name]
    found = surgery.extend(base, texts=TEXTS, add=2000, min_count=1)
    pieces = [base.split(text) for text in TEXTS]
    assert pieces == [found.tokenizer.split(text) for text in TEXTS]
    assert found.report.curve[-1] == sum(map(len, pieces))


# Files


def counted(path):
    """Give the bytes of all files of a path."""
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.name: file.read_bytes() for file in files}


ENDINGS = {
    "bytepair": "t.bytepair",
    "compiled": "t.bytepair-compiled",
    "huggingface": "t.json",
    "tiktoken": "t.tiktoken",
    "gpt2": "folder",
    "sentencepiece": "t.model",
}
HELD = [
    *((name, "bytepair") for name in KINDS),
    *((name, "huggingface") for name in KINDS if name != "sennrich"),
    ("gpt4o", "compiled"),
    ("gpt4o", "tiktoken"),
    ("plain gpt2", "gpt2"),
]


@pytest.mark.parametrize(("name", "format_name"), HELD)
def test_a_format_that_holds_the_base_holds_the_extension(name, format_name, tmp_path):
    """It comes back with the same ids; with nothing added the file is the base's."""
    path, same, new = (tmp_path / part / ENDINGS[format_name] for part in "abc")
    for folder in (path, same, new):
        folder.parent.mkdir()
    base = every_kind().get(name)
    if base is None:  # without special tokens, as this format needs it
        base = bytepair.train_from_iterator(CORPUS, merges=30, dialect="gpt2")
    base.save(path, format=format_name)
    unchanged = surgery.extend(path, texts=TEXTS, add=0)
    assert unchanged.save(same, format=format_name).is_copy
    assert counted(same) == counted(path)
    found = surgery.extend(path, texts=TEXTS, add=12)
    assert not found.save(new, format=format_name).is_copy
    again = bytepair.Tokenizer.from_file(new)
    assert again.vocabulary == found.tokenizer.vocabulary
    for text in [*TEXTS[:3], *OTHERS]:
        assert ids_or_none(again, text) == ids_or_none(found.tokenizer, text)


def test_the_bytes_of_a_publishers_file_stay(tmp_path):
    """A file that our writer writes in another way is copied where nothing is added."""
    data = json.loads(every_kind()["gpt2"].to_bytes(format="huggingface"))
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(data, indent=7) + "\n\n")
    proof = surgery.extend(path, texts=TEXTS, add=0).save(tmp_path / "new.json")
    assert (tmp_path / "new.json").read_bytes() == path.read_bytes()
    assert proof.is_copy
    assert "the same bytes" in proof.lines[-1]


@pytest.mark.parametrize("name", [name for name in KINDS if name != "sennrich"])
def test_a_file_has_all_parts_of_the_base_but_its_model(name, tmp_path):
    """Normalizer, patterns, template, decoder and added tokens; transformers may read other ones."""
    every_kind()[name].save(tmp_path / "tokenizer.json")
    found = surgery.extend(tmp_path / "tokenizer.json", texts=TEXTS, add=9)
    found.save(tmp_path / "new.json")
    paths = tmp_path / "tokenizer.json", tmp_path / "new.json"
    old, new = (json.loads(path.read_text("utf-8")) for path in paths)
    for part in ("vocab", "merges"):
        n_old = len(old["model"][part])
        before, after = old["model"].pop(part), new["model"].pop(part)
        assert list(after)[:n_old] == list(before)
        assert len(after) > n_old
    assert new == old


def test_what_only_the_settings_name_keeps_its_id_and_comes_along(tmp_path):
    """The new file is complete without the settings, so that it is not the base's."""
    base = every_kind()["gpt2"]
    base.save(tmp_path / "tokenizer.json")
    decoder = {"400": {"content": "<think>", "special": True}}
    config = json.dumps({"added_tokens_decoder": decoder})
    (tmp_path / "tokenizer_config.json").write_text(config)
    (tmp_path / "new").mkdir()
    for path in (tmp_path, tmp_path / "tokenizer.json"):
        for add in (0, 5):
            found = surgery.extend(path, texts=TEXTS, add=add)
            assert found.report.first_id == 401
            assert not found.save(tmp_path / "new" / "t.json").is_copy
            again = bytepair.Tokenizer.from_file(tmp_path / "new" / "t.json")
            assert again.token_to_id("<think>") == 400
            assert again.n_vocab == 401 + add


@pytest.mark.parametrize("change", [{"add": 1}, {"to": 5}], ids=str)
def test_a_tokenizer_that_training_cannot_continue_is_named(change):
    """Not as the option of training, which nobody gave."""
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    steps = [level | {"use_regex": True}, {"type": "Digits", "individual_digits": True}]
    cutting = {"type": "Sequence", "pretokenizers": steps}
    vocab = {letter: id_ for id_, letter in enumerate("abĠ123")}
    base = hugging_face({"vocab": vocab, "merges": []}, pre_tokenizer=cutting)
    call = surgery.extend if "add" in change else surgery.prune
    with pytest.raises(TokenizerError, match=r"^the tokenizer changes text between"):
        call(base, texts=["ab 12"], **change)


def test_hugging_face_finds_added_tokens_at_their_ids(tmp_path):
    """That library numbers an added token that the model lacks behind the model's own tokens."""
    theirs = pytest.importorskip("tokenizers")
    letters = vocabulary(*"lowerid ")
    tokens = [
        added(len(letters) + n, f"<{c}>", special=True) for n, c in enumerate("ab")
    ]
    base = hugging_face({"vocab": letters, "merges": []}, added_tokens=tokens)
    found = surgery.extend(base, texts=["lower wider low"] * 4, add=5)
    found.save(tmp_path / "t.json")
    read = theirs.Tokenizer.from_file(str(tmp_path / "t.json"))
    assert read.token_to_id("<a>") == len(letters)
    assert read.token_to_id("<b>") == len(letters) + 1
    for id_ in range(len(letters) + 2, len(letters) + 7):
        assert read.encode(read.id_to_token(id_)).ids == [id_]
    data = json.loads((tmp_path / "t.json").read_text())
    del data["model"]["vocab"]["<a>"], data["model"]["vocab"]["<b>"]
    (tmp_path / "naive.json").write_text(json.dumps(data))
    moved = theirs.Tokenizer.from_file(str(tmp_path / "naive.json"))
    assert moved.token_to_id("<a>") != len(letters)


@pytest.mark.slow
def test_qwen_keeps_its_special_tokens_in_hugging_faces_library(shared, tmp_path):
    """The ids that published models were trained with, after new tokens of the model."""
    theirs = pytest.importorskip("tokenizers")
    path = shared("vocabularies/qwen3") / "tokenizer.json"
    found = surgery.extend(path, texts=["سلام دنیا، زبان فارسی زیباست. " * 9], add=11)
    proof = found.save(tmp_path / "t.json")
    assert proof.read_by == ("bytepair", "tokenizers")
    read = theirs.Tokenizer.from_file(str(tmp_path / "t.json"))
    assert read.token_to_id("<|endoftext|>") == 151_643
    assert read.token_to_id("<|im_start|>") == 151_644
    assert read.get_vocab_size() == 151_680
    assert read.encode(found.tokenizer.decode([151_679])).ids == [151_679]


@pytest.mark.slow
def test_a_published_model_is_extended_in_its_format(shared, tmp_path):
    """SentencePiece's library merges any split of a piece, and gives the same ids nevertheless."""
    path = shared("vocabularies/mistral-sentencepiece") / "tokenizer-v1.model"
    texts = ["سلام دنیا، زبان فارسی زیباست. the hats were wider " * 9]
    found = surgery.extend(path, texts=texts, add=40)
    found.save(tmp_path / "t.model")
    again = bytepair.Tokenizer.from_file(tmp_path / "t.model")
    assert again.vocabulary == found.tokenizer.vocabulary
    same = surgery.extend(path, texts=texts, add=0).save(tmp_path / "same.model")
    assert same.is_copy
    assert (tmp_path / "same.model").read_bytes() == path.read_bytes()
    sentencepiece = pytest.importorskip("sentencepiece")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "t.model"))
    old = sentencepiece.SentencePieceProcessor(model_file=str(path))
    ids = range(old.get_piece_size())
    assert theirs.id_to_piece(list(ids)) == old.id_to_piece(list(ids))
    for text in [*texts, *OTHERS[:1], "زبان hat سلام"]:
        assert theirs.encode(text) == found.tokenizer.encode(text)


@pytest.mark.parametrize(
    ("name", "is_word"),
    [
        ("sennrich", lambda token: token.endswith("</w>")),
        ("fallback", lambda token: token.startswith("▁")),
    ],
)
def test_tokens_within_longer_texts_are_told_from_those_that_stand_alone(name, is_word):
    """A word with its mark stands alone; a part that others go on with does not."""
    texts = ["lower aware lower aware weed wade"] * 9
    found = surgery.extend(every_kind()[name], texts=texts, add=60)
    new = range(found.report.first_id, found.tokenizer.n_vocab)
    words = {id_ for id_ in new if is_word(found.tokenizer.vocabulary[id_])}
    assert 0 < len(words) < len(new)
    assert set(found.report.within_others) == set(new) - words


def words_of(source, letters="abc"):
    """Make twelve words of some letters, each twice."""
    words = [
        "".join(source.choices(letters, k=source.randint(1, 7))) for _ in range(12)
    ]
    return [" ".join(words)] * 2


def short_texts(letters, longest):
    """Give all texts of up to so many letters."""
    rows = (itertools.product(letters, repeat=n) for n in range(1, longest + 1))
    return ["".join(row) for row in itertools.chain(*rows)]


def test_a_file_of_ranks_gives_the_ids_that_memory_gives_or_is_refused(tmp_path):
    """Such a file merges any two parts of a token; ours have one pair for each new token."""
    outcomes = []
    for seed in range(24):
        source = random.Random(seed)
        n_letters = [source.randint(2, 4) for _ in range(seed % 4)]
        tokens = {bytes(source.choices(b"abc", k=n)): None for n in n_letters}
        base = ranks(tmp_path, *tokens)
        found = surgery.extend(base, texts=words_of(source), add=6)
        try:
            found.save(tmp_path / "new.tiktoken")
        except bytepair.FormatError:  # a token that the base never made
            outcomes.append("refused")
            continue
        again = bytepair.Tokenizer.from_file(tmp_path / "new.tiktoken", pattern="")
        texts = short_texts("abc", 6)
        assert again.encode_batch(texts) == found.tokenizer.encode_batch(texts)
        outcomes.append("written")
    assert min(outcomes.count("refused"), outcomes.count("written")) > 4


def model_of(texts, **options):
    """Train a model of SentencePiece."""
    options |= {"dialect": "sentencepiece", "normalize": [("replace", " ", "▁")]}
    trained = bytepair.train_from_iterator(texts, **options)
    model = trained.to_bytes(format="sentencepiece")
    return bytepair.Tokenizer.from_bytes(model)


@pytest.mark.parametrize("seed", range(4))
def test_a_model_of_sentencepiece_gives_the_ids_that_memory_gives(seed):
    """It merges any two parts of a piece, as the publisher's library does."""
    source = random.Random(seed)
    base = model_of(words_of(source), merges=seed * 3)
    found = surgery.extend(base, texts=words_of(source), add=9)
    assert found.report.added > 3
    model = found.tokenizer.to_bytes(format="sentencepiece")
    again = bytepair.Tokenizer.from_bytes(model)
    texts = short_texts("abc ", 5)
    assert again.encode_batch(texts) == found.tokenizer.encode_batch(texts)
    sentencepiece = pytest.importorskip("sentencepiece")
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model)
    assert theirs.encode(texts, num_threads=1) == found.tokenizer.encode_batch(texts)


def with_runs(base, longest):
    """Give a model pieces for runs of spaces that share a score, as published models have them."""
    data = json.loads(base.to_bytes(format="bytepair"))
    n = len(data["tokens"])
    ids = {1: base.token_to_id("▁"), **{k: n + k - 2 for k in range(2, longest + 1)}}
    last = max(data["priorities"] or [len(data["merges"]) - 1]) + 1
    data["priorities"] = data["priorities"] or list(range(last))
    for length in range(2, longest + 1):
        data["tokens"].append("▁" * length)
        for cut in range(1, length):
            data["merges"].append([ids[cut], ids[length - cut], ids[length]])
            data["priorities"].append(last)
    return bytepair.Tokenizer.from_bytes(json.dumps(data).encode())


@pytest.mark.parametrize("ending", ["model", "json"])
def test_longer_runs_of_spaces_are_learned_on_top_of_runs_that_share_a_score(
    ending, tmp_path
):
    """Indented text adds one of twice the length, and files of a model and of Hugging Face hold it."""
    base = with_runs(model_of(["ab a b"], merges=1), 4)
    indented = f"a{' ' * 16}b\nab{' ' * 8}ab{' ' * 21}a"
    texts = [indented * 3, " abab abab bab abab"] * 3
    found = surgery.extend(base, texts=texts, add=16)
    new = found.tokenizer.vocabulary[base.n_vocab :]
    assert "▁" * 8 in new
    path = tmp_path / f"new.{ending}"
    proof = found.save(path)
    again = bytepair.Tokenizer.from_file(path)
    runs = [f"{a}{' ' * n}{b}" for n in range(40) for a, b in ("aa", "bb", ("", "a"))]
    assert again.encode_batch(runs) == found.tokenizer.encode_batch(runs)
    assert surgery.verify_extension(base, path, texts=runs)
    if ending == "model":
        sentencepiece = pytest.importorskip("sentencepiece")
        theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
        assert theirs.encode(runs, num_threads=1) == again.encode_batch(runs)
    else:
        assert "tokenizers" in proof.read_by or not is_installed()


@pytest.mark.slow
def test_added_tokens_that_a_format_tells_of_otherwise_are_compared_by_their_ids(
    shared, tmp_path
):
    """User-defined symbols of a model are tokens of the model in a ``tokenizer.json``."""
    path = shared("vocabularies/mistral-sentencepiece") / "tokenizer-v3.model"
    found = surgery.extend(path, texts=["the hats were wider " * 9], add=5)
    found.save(tmp_path / "t.json")
    again = bytepair.Tokenizer.from_file(tmp_path / "t.json")
    assert len(_core.added_tokens(again)) < len(_core.added_tokens(found.tokenizer))
    text = "a[REFERENCE_DOC_6]b [INST]"
    ids = found.tokenizer.encode(text, allowed_special="all")
    assert again.encode(text, allowed_special="all") == ids


@pytest.mark.parametrize("name", ["<|begin|>", "<s>", "a b"])
def test_added_tokens_that_no_piece_can_be_stand_in_the_model(name, tmp_path):
    """Where merges are ignored, an extension is saved if the pattern cuts the names of added tokens."""
    trained = bytepair.train_from_iterator(["low lower"], dialect="gpt2", merges=3)
    data = json.loads(trained.to_bytes(format="huggingface"))
    data["model"]["ignore_merges"] = True
    data["model"]["vocab"]["zq"] = trained.n_vocab  # no merges make it
    special = dict.fromkeys(FLAGS, False) | {"special": True}
    data["added_tokens"] = [{**special, "content": name, "id": trained.n_vocab + 1}]
    base = bytepair.Tokenizer.from_bytes(json.dumps(data).encode())
    found = surgery.extend(base, texts=TEXTS, add=5)
    path = tmp_path / "tokenizer.json"
    found.save(path)
    again = bytepair.Tokenizer.from_file(path)
    for text in (f"low {name} wide zq", name, "zq"):
        for allowed in ("all", ()):
            ids = found.tokenizer.encode(text, allowed_special=allowed)
            assert again.encode(text, allowed_special=allowed) == ids
        if is_installed():
            theirs = pytest.importorskip("tokenizers").Tokenizer.from_file(str(path))
            ids = found.tokenizer.encode(text, allowed_special="all")
            assert theirs.encode(text).ids == ids


def test_no_token_is_written_as_an_added_token_is(tmp_path):
    """Normalizing makes such text of other text; a file could not hold both under one name."""
    options = {"merges": 2, "dialect": "gpt4", "normalize": ["lowercase"]}
    base = bytepair.train_from_iterator(["low lower"], **options)
    base = base.with_added_tokens([bytepair.AddedToken("hat", normalized=False)])
    found = surgery.extend(base, texts=["HAT wide HAT\nHAT wide HATS"] * 9, add=20)
    new = found.tokenizer.vocabulary[base.n_vocab :]
    assert b"hat" not in new
    assert b" hat" in new  # written with a mark for the space
    found.save(tmp_path / "t.json")
    assert found.tokenizer.decode(found.tokenizer.encode("HAT")) == "hat"
    assert len(found.tokenizer.encode("HAT")) == 2


def test_no_token_reaches_over_an_unknown_unit():
    """Not even where the unknown token is text itself, as a question mark may be."""
    texts = ["low ??? éé? éé lower"] * 9
    found = surgery.extend(every_kind()["prefix"], texts=texts, add=9)
    new = found.tokenizer.vocabulary[found.base.n_vocab :]
    assert new
    assert not [token for token in new if "?" in token]


def test_a_file_that_would_move_an_id_is_refused(tmp_path, monkeypatch):
    """Nothing is written, not even where the writer itself sees no fault."""
    found = grown("gpt4o")
    monkeypatch.setattr(
        "bytepair._io.saving.save",
        lambda _tokenizer, path, _name, **_: path.write_bytes(found.base.to_bytes()),
    )
    with pytest.raises(bytepair.FormatError, match=r"'12' 276, .* nothing is written"):
        found.save(tmp_path / "t.bytepair")
    assert list(tmp_path.iterdir()) == []


def test_a_format_that_cannot_hold_it_is_refused_by_name(tmp_path):
    """And a path that is another thing, or nowhere."""
    found = grown("sennrich")
    with pytest.raises(bytepair.FormatError, match="cannot express"):
        found.save(tmp_path / "t.tiktoken")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(bytepair.FileError, match="is a folder"):
        found.save(tmp_path / "folder.json")
    with pytest.raises(bytepair.FileError, match="No such file"):
        found.save(tmp_path / "absent" / "t.bytepair")
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]


# Bad input


def test_fewer_pairs_than_asked_for_are_a_line_in_the_report():
    """It says how often the best pair that is left occurs."""
    base = every_kind()["gpt4o"]
    report = surgery.extend(base, texts=["xyxyxy q"], add=50).report
    assert 0 < report.added < 50
    assert "fewer than the 50 asked for" in report.lines[-1]
    nothing = surgery.extend(base, texts=["q"], add=50)
    assert nothing.report.added == 0
    assert nothing.report.knee is None
    assert nothing.report.lines[0].startswith("nothing added; ")
    assert nothing.tokenizer == base


BAD = {
    "add must be between": {"texts": ["aa"], "add": -1},
    "give one of corpus, texts= and counts=, not none": {"add": 1},
    "not both texts and counts": {"texts": ["a"], "counts": {"a": 1}, "add": 1},
    "lines= is for files, not for texts=": {"texts": ["a"], "lines": True, "add": 1},
    "max_token_bytes must be": {"texts": ["a"], "max_token_bytes": 0, "add": 1},
    "the corpus is empty": {"texts": [], "add": 1},
    "exceed the largest number of ids": {"texts": ["aa"], "add": (1 << 32) - 1},
}


@pytest.mark.parametrize("message", BAD)
def test_options_that_make_no_sense_are_refused(message):
    """By their names."""
    with pytest.raises(TokenizerError, match=message):
        surgery.extend(every_kind()["gpt4o"], **BAD[message])


def test_limits_of_tokens_and_of_counts_hold():
    """They are those of training."""
    base = every_kind()["gpt4o"]
    short = surgery.extend(base, texts=TEXTS, add=30, max_token_bytes=3).tokenizer
    new = [short.decode_bytes([id_]) for id_ in range(base.n_vocab, short.n_vocab)]
    assert new
    assert max(map(len, new)) == 3
    curve = surgery.extend(base, texts=TEXTS, add=99, min_count=6).report.curve
    assert len(curve) > 2
    assert min(a - b for a, b in itertools.pairwise(curve)) >= 6


def test_counts_and_files_teach_what_their_texts_teach(tmp_path):
    """Pieces with their counts, files with weights, and the corpus as texts."""
    base = every_kind()["gpt4o"]
    (tmp_path / "a.txt").write_text("\n".join(TEXTS), "utf-8")
    by_texts = surgery.extend(base, texts=["\n".join(TEXTS)], add=9)
    by_file = surgery.extend(base, tmp_path / "a.txt", add=9)
    assert by_file.tokenizer == by_texts.tokenizer
    assert by_file.report == by_texts.report
    weighted = surgery.extend(base, {tmp_path / "a.txt": 2.5}, add=9)
    assert weighted.report.curve == tuple(2.5 * n for n in by_file.report.curve)
    pieces = collections.Counter(base.split("\n".join(TEXTS)))
    by_counts = surgery.extend(base, counts=pieces, add=9)
    assert by_counts.tokenizer == by_texts.tokenizer
    assert by_counts.report.curve == by_texts.report.curve


def test_counts_of_pieces_that_the_pattern_cuts_are_refused():
    """What is learned of them could never occur; a piece that teaches none such is taken."""
    base = bytepair.train_from_iterator(["low"], vocab_size=258, dialect="gpt4")
    cut = {"zz zz low": 3}
    with pytest.raises(TokenizerError, match="3 new tokens could never occur"):
        surgery.extend(base, counts=cut, add=9)
    assert surgery.extend(base, counts=cut, add=1).report.added == 1


def test_a_token_that_is_there_unmade_is_not_added_again(tmp_path):
    """A file of ranks may have a token that no merge leads to; no second one gets its bytes."""
    base = ranks(tmp_path, b"abcd")
    found = surgery.extend(base, texts=["abcd abcd abcde " * 9], add=9)
    tokens = [token for token in found.tokenizer.vocabulary if token is not None]
    assert len(set(tokens)) == len(tokens)


# Random vocabularies

WORDS = st.lists(
    st.text(alphabet="abaa é'1नम中?▁", min_size=1, max_size=9), min_size=2, max_size=8
)


@given(
    dialect=st.sampled_from(bytepair.dialects()),
    first=WORDS,
    later=WORDS,
    other=WORDS,
    sizes=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
def test_guarantees_hold_for_random_vocabularies(dialect, first, later, other, sizes):
    """Old ids stay, encodings are joined, new tokens are made, and a part is the beginning of the whole."""
    texts = [" ".join([*first, "aba"] * 2)]
    base = bytepair.train_from_iterator(texts, merges=sizes[0], dialect=dialect)
    texts = [" ".join(later * 2), "aba "]
    found = surgery.extend(base, texts=texts, add=sizes[1])
    after, n_old = found.tokenizer, base.n_vocab
    check_old(base, after)
    assert after.n_vocab == n_old + found.report.added
    n_joined(base, after, [" ".join(later), " ".join(other), *other])
    unmade, unplaced = _core.unreached(after)
    assert not {*unmade, *unplaced} & set(range(n_old, after.n_vocab))
    half = surgery.extend(base, texts=texts, add=sizes[1] // 2).tokenizer
    assert half.vocabulary == after.vocabulary[: half.n_vocab]
    assert bytepair.Tokenizer.from_bytes(after.to_bytes()) == after
