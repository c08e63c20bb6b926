"""Removing and pruning: what stays keeps its id, its merges and its encoding, beside definitions in plain Python."""

import collections
import functools
import itertools
import json
import random
import re

import numpy as np
import pytest
from tests.made_up import CORPUS, added, every_kind, hugging_face, ranks, vocabulary
from tests.test_surgery import (
    ENDINGS,
    KINDS as ALL_KINDS,
    TEXTS,
    ids_or_none,
    short_texts,
)

import bytepair
from bytepair import TokenizerError, _core, surgery

ALIKE = ("gpt2", "gpt4", "llama3", "qwen", "deepseek-v3", "tekken", "letters-digits")
"""Dialects that differ from ``gpt4o`` in their patterns alone."""
KINDS = [name for name in ALL_KINDS if name not in ALIKE]
MODES = ["cascade", "reroute"]
NUMBERINGS = ["reserved", "holes", "compact"]
OTHERS = [
    *TEXTS[:3],
    *CORPUS,
    "lower lowe lowest aaaaa aaa aa newer",
    "x<|end|>low\n",
    "aalowaa erer",
    " été नमस्ते 中文字",
]


def free_ids(tokenizer):
    """List tokens that may go, as a definition: made of others, and no added token."""
    named = {id_ for id_, *_ in _core.added_tokens(tokenizer)}
    tokens = enumerate(tokenizer.vocabulary)
    ids = [id_ for id_, token in tokens if token is not None and id_ not in named]
    texts = [one for one in tokenizer.inspect().tokens(ids) if one.kind == "text"]
    is_bytes = tokenizer.inspect().settings["is_bytes"]
    lens = {one.id: len(one.bytes if is_bytes else one.text) for one in texts}
    made = {merge[2] for merge in merges_by_id(tokenizer)}
    return [id_ for id_, length in lens.items() if length > 1 or id_ in made]


def merges_by_id(tokenizer):
    """Give the merges as ids, in order."""
    return [merge[:3] for merge in tokenizer.inspect().merge_log]


def merged(units, merges, n_left=1):
    """Merge a row of ids by the definition: always the pair of the lowest rank, leftmost first."""
    ids = list(units)
    rank = {pair[:2]: (place, pair[2]) for place, pair in enumerate(merges)}
    while len(ids) > n_left:
        pairs = enumerate(itertools.pairwise(ids))
        found = [(rank[pair][0], place) for place, pair in pairs if pair in rank]
        if not found:
            break
        _, place = min(found)
        ids[place : place + 2] = [rank[ids[place], ids[place + 1]][1]]
    return ids


@pytest.mark.parametrize("numbering", NUMBERINGS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", KINDS)
def test_what_stays_keeps_its_token_its_id_and_its_way(name, mode, numbering):
    """For each token that may go: old ids stay or are mapped, and no merge uses a token that went."""
    base = every_kind()[name]
    vocabulary = base.vocabulary
    for id_ in free_ids(base)[:: 3 if mode == "cascade" else 5]:
        found = surgery.remove(base, [id_], mode=mode, numbering=numbering)
        after, ids = found.tokenizer, found.id_map
        gone = set(found.report.removed)
        assert id_ in gone
        assert len(ids) == base.n_vocab
        for old, token in enumerate(vocabulary):
            assert (ids[old] == -1) == (token is None or old in gone)
            if ids[old] >= 0:
                assert after.vocabulary[ids[old]] == token
                assert numbering == "compact" or ids[old] == old
        if numbering == "compact":
            kept = [new for new in ids if new >= 0]
            assert kept == list(range(after.n_vocab))
        back = {new: old for old, new in enumerate(ids) if new >= 0}
        for merge in merges_by_id(after):
            assert not {back[part] for part in merge} & gone
        expected = {content: ids[old] for content, old in base.special_tokens.items()}
        reserved = {t for t in after.special_tokens if t.startswith("<|reserved_")}
        assert (len(reserved) == len(gone)) == (numbering == "reserved")
        assert {t: after.special_tokens[t] for t in expected} == expected
        unmade_before, unmade = (
            set(_core.unreached(base)[0]),
            _core.unreached(after)[0],
        )
        assert {back[new] for new in unmade if new in back} <= unmade_before


@pytest.mark.parametrize("name", KINDS)
def test_the_plan_says_what_goes_with_what(name):
    """Every token that is built on a named one, with the part that goes, and no other."""
    base = every_kind()[name]
    makers = collections.defaultdict(list)
    for left, right, made in merges_by_id(base):
        makers[made].append((left, right))
    for id_ in free_ids(base):
        found = surgery.remove(base, id_)
        plan = found.report.cascade
        assert set(plan.named) == {id_}
        going = {id_} | {one.id for one in plan.following}
        assert going == set(found.report.removed)
        for one in plan.following:
            assert one.cause == id_
            assert one.part in going
            assert any(one.part in pair for pair in makers[one.id])


# Files

PLAIN = {
    "plain gpt2": {"dialect": "gpt2"},
    "plain sentencepiece": {
        "dialect": "sentencepiece",
        "normalize": [("replace", " ", "▁")],
    },
}
HELD = [
    *((name, "bytepair") for name in KINDS),
    *((name, "huggingface") for name in KINDS if name != "sennrich"),
    ("gpt4o", "compiled"),
    ("gpt4o", "tiktoken"),
    ("plain gpt2", "gpt2"),
    ("plain sentencepiece", "sentencepiece"),
]


@pytest.mark.parametrize(("name", "format_name"), HELD)
def test_a_file_holds_what_is_left_or_is_refused(name, format_name, tmp_path):
    """What is saved reads back with the same ids for every text, by both libraries, in each numbering."""
    base = every_kind().get(name)
    if base is None:  # parts that this format holds
        base = bytepair.train_from_iterator(CORPUS, merges=30, **PLAIN[name])
        base.save(tmp_path / ENDINGS[format_name])
        base = bytepair.Tokenizer.from_file(tmp_path / ENDINGS[format_name])
    n_saved = 0
    choices = itertools.product(NUMBERINGS, MODES)
    for place, (numbering, mode) in enumerate(choices):
        for id_ in free_ids(base)[place::12]:
            found = surgery.remove(base, [id_], mode=mode, numbering=numbering)
            path = tmp_path / f"{numbering}{mode}{id_}" / ENDINGS[format_name]
            path.parent.mkdir()
            try:
                found.save(path, format=format_name)
            except bytepair.FormatError:
                assert list(path.parent.iterdir()) == []
                continue
            n_saved += 1
            again = bytepair.Tokenizer.from_file(path)
            assert again.vocabulary == found.tokenizer.vocabulary
            for text in OTHERS:
                expected = ids_or_none(found.tokenizer, text)
                assert expected is None or ids_or_none(again, text) == expected
    assert n_saved


def test_a_format_that_needs_one_more_token_is_refused(tmp_path):
    """A model of SentencePiece has an unknown piece; one that is not there would come behind all ids."""
    options = PLAIN["plain sentencepiece"]
    base = bytepair.train_from_iterator(CORPUS, merges=9, **options)
    found = surgery.remove(base, [base.n_vocab - 1], numbering="compact")
    with pytest.raises(bytepair.FormatError, match="another token, '<unk>', at the id"):
        found.save(tmp_path / "t.model")
    assert list(tmp_path.iterdir()) == []


# Pruning


def counts_of(tokenizer, pieces):
    """Count tokens by encoding each piece again."""
    found = collections.Counter()
    for piece, count in pieces.items():
        units = [i for i, *_ in tokenizer.inspect().symbols(piece)]
        for id_ in merged(units, merges_by_id(tokenizer)):
            found[id_] += count
    return found


def pruned_by_definition(base, pieces, n_gone):
    """Give what goes: the rarest leaf, newest of equals, from counts of the tokenizer without what went."""
    made_last = {merge[2]: place for place, merge in enumerate(merges_by_id(base))}
    free, gone = set(free_ids(base)), []
    while len(gone) < n_gone:
        now = surgery.remove(base, gone, numbering="holes").tokenizer if gone else base
        used = {p for m in merges_by_id(now) for p in m[:2]}
        leaves = free - used - set(gone)
        counts = counts_of(now, pieces)
        gone.append(min(leaves, key=lambda i: (counts[i], -made_last[i], -i)))
    return gone


PRUNED_ON = "low lower lowe low aa", "wide aaaa er"


@pytest.mark.parametrize(
    "name", ["gpt4o", "sennrich", "prefix", "fallback", "unknown-token"]
)
def test_pruning_is_removing_encoding_again_and_counting_again(name):
    """One token after the other, beside the definition that does each step anew."""
    base = every_kind()[name]
    texts = filter(functools.partial(ids_or_none, base), PRUNED_ON)
    pieces = collections.Counter(
        piece.encode()
        for text in texts
        for piece in base.split(base.inspect().normalized(text))
    )
    n_gone = min(12, len(free_ids(base)) - 1)
    to = sum(token is not None for token in base.vocabulary) - n_gone
    found = surgery.prune(base, counts=dict(pieces), to=to, numbering="holes")
    assert list(found.report.removed) == pruned_by_definition(base, pieces, n_gone)
    assert found.report.tokens_before == counts_of(base, pieces).total()
    assert found.report.tokens_after == counts_of(found.tokenizer, pieces).total()


@pytest.mark.parametrize("name", KINDS)
def test_a_smaller_vocabulary_is_reached_from_a_larger_one(name):
    """The order does not depend on the size, nor on the numbering or on threads; all that stays is made."""
    base = every_kind()[name]
    texts = [text.replace("<m>", "") for text in TEXTS[:3]]
    texts = [t for t in texts if ids_or_none(base, t) is not None] or ["low", "lower"]
    n_tokens = sum(token is not None for token in base.vocabulary)
    free = free_ids(base)
    large = surgery.prune(base, texts=texts, to=n_tokens - len(free) + 1)
    options = {"to": n_tokens - len(free) // 2, "numbering": "compact", "threads": 1}
    small = surgery.prune(base, texts=texts, **options)
    n_small = len(small.report.removed)
    assert n_small == len(free) // 2
    assert small.report.removed == large.report.removed[:n_small]
    assert small.report.counts == large.report.counts[:n_small]
    assert small.report.tokens_after <= large.report.tokens_after
    encoded = [ids_or_none(base, text) for text in texts]
    assert large.report.tokens_before == sum(map(len, encoded))
    encoded = [ids_or_none(large.tokenizer, text) for text in texts]
    assert large.report.tokens_after == sum(map(len, encoded))
    assert set(_core.unreached(large.tokenizer)[0]) <= set(_core.unreached(base)[0])
    assert not set(large.report.removed) - set(free)


def test_min_count_stops_where_the_rarest_leaf_is_frequent_enough():
    """No leaf that is left occurs less often, also after the counts of its parts have grown."""
    base = every_kind()["gpt4o"]
    found = surgery.prune(base, texts=TEXTS, min_count=7, numbering="holes")
    assert 0 < len(found.report.removed) < len(free_ids(base))
    assert max(found.report.counts) < 7
    pieces = collections.Counter(p.encode() for t in TEXTS for p in base.split(t))
    counts = counts_of(found.tokenizer, pieces)
    used = {p for m in merges_by_id(found.tokenizer) for p in m[:2]}
    left = set(free_ids(found.tokenizer)) - used
    assert left
    assert min(counts[id_] for id_ in left) >= 7
    both = surgery.prune(base, texts=TEXTS, min_count=7, to=base.n_vocab - 2)
    assert both.report.removed == found.report.removed[:2]


def test_a_function_or_a_regular_expression_says_what_goes():
    """It sees each token that may be removed, and no other; pruning takes as many of these as it needs."""
    base = every_kind()["gpt4o"]
    seen = []

    def has_w(token):
        seen.append(token)
        return "w" in token.text

    found = surgery.remove(base, has_w, numbering="holes")
    assert [token.id for token in seen] == free_ids(base)
    assert all(token.bytes == base.vocabulary[token.id] for token in seen)
    assert all(_core.id_of_written(base, token.written) == token.id for token in seen)
    named = {token.id for token in seen if b"w" in token.bytes}
    assert set(found.report.removed) == named
    again = surgery.remove(base, re.compile("w"), numbering="holes")
    assert again.tokenizer == found.tokenizer
    some = surgery.prune(base, texts=["low wide"], drop=has_w, to=base.n_vocab - 2)
    assert len(some.report.removed) == 2
    assert set(some.report.removed) <= named
    with pytest.raises(TokenizerError, match="no token that may be removed matches"):
        surgery.remove(base, re.compile("zz"))


def test_weights_of_files_and_counts_are_those_of_texts(tmp_path):
    """A file that counts 2.5 times, the same pieces as counts, and the texts prune alike."""
    base = every_kind()["gpt4o"]
    (tmp_path / "a.txt").write_text(TEXTS[0], "utf-8")
    by_texts = surgery.prune(base, texts=[TEXTS[0]], to=268)
    weighted = surgery.prune(base, {tmp_path / "a.txt": 2.5}, to=268)
    assert weighted.report.removed == by_texts.report.removed
    assert weighted.tokenizer == by_texts.tokenizer
    assert weighted.report.tokens_after == 2.5 * by_texts.report.tokens_after
    assert weighted.report.counts == tuple(2.5 * n for n in by_texts.report.counts)


# What has gone wrong elsewhere


def test_hugging_face_keeps_added_tokens_where_the_map_says(tmp_path):
    """That library numbers an added token that the model lacks anew; here, ids are those of the map."""
    theirs = pytest.importorskip("tokenizers")
    letters = vocabulary(*"lowerid ", "lo", "low", "er", "wer")
    tokens = [added(12 + n, f"<{c}>", special=True) for n, c in enumerate("ab")]
    merges = [["l", "o"], ["lo", "w"], ["e", "r"], ["w", "er"]]
    base = hugging_face({"vocab": letters, "merges": merges}, added_tokens=tokens)
    for numbering in NUMBERINGS:
        found = surgery.remove(base, ["lo"], numbering=numbering)
        assert len(found.report.removed) == 2
        path = tmp_path / f"{numbering}.json"
        assert found.save(path).read_by == ("bytepair", "tokenizers")
        read = theirs.Tokenizer.from_file(str(path))
        moved = 2 if numbering == "compact" else 0
        assert [read.token_to_id(t) for t in ("<a>", "<b>")] == [12 - moved, 13 - moved]
        ids = found.tokenizer.encode("low<b>er", allowed_special="all")
        assert read.encode("low<b>er").ids == ids
        later = read.get_vocab_size()
        read.add_tokens(["<new>"])
        if numbering == "reserved":  # else it would take the id of another token
            assert (later, read.token_to_id("<new>")) == (14, 14)


def test_tokens_that_only_the_settings_name_move_with_the_others(tmp_path):
    """They are in the new file, at the ids of the map."""
    base = every_kind()["gpt2"]
    base.save(tmp_path / "tokenizer.json")
    decoder = {"300": {"content": "<think>", "special": True}}
    config = json.dumps({"added_tokens_decoder": decoder})
    (tmp_path / "tokenizer_config.json").write_text(config)
    found = surgery.remove(tmp_path, ["low"], numbering="compact")
    (tmp_path / "new").mkdir()
    found.save(tmp_path / "new" / "t.json")
    again = bytepair.Tokenizer.from_file(tmp_path / "new" / "t.json")
    assert again.token_to_id("<think>") == found.id_map[300] != 300
    assert surgery.remove(tmp_path, ["low"]).tokenizer.token_to_id("<think>") == 300


def test_settings_in_the_folder_that_give_other_ids_are_refused(tmp_path):
    """Else transformers takes these ids. A tokenizer that keeps all ids is written there."""
    base = every_kind()["gpt2"]
    base.save(tmp_path / "tokenizer.json")
    before = (tmp_path / "tokenizer.json").read_bytes()
    decoder = {"275": {"content": "<|end|>", "special": True}}
    config = json.dumps({"added_tokens_decoder": decoder})
    (tmp_path / "tokenizer_config.json").write_text(config)
    moved = surgery.remove(tmp_path, ["low"], numbering="compact")
    message = r"give '<\|end\|>' the id 275.*at 27"
    with pytest.raises(bytepair.FormatError, match=message):
        moved.save(tmp_path / "tokenizer.json")
    assert (tmp_path / "tokenizer.json").read_bytes() == before
    moved.save(tmp_path / "other.json")
    surgery.remove(tmp_path, ["low"]).save(tmp_path / "tokenizer.json")
    assert bytepair.Tokenizer.from_file(tmp_path).token_to_id("<|end|>") == 275


MUST_STAY = {
    "a unit of the alphabet": ("gpt4o", "a"),
    "a special token": ("gpt4o", "<|end|>"),
    "a byte for fallback": ("fallback", "<0x41>"),
    "the unknown token": ("fallback", "<unk>"),
}


@pytest.mark.parametrize("reason", MUST_STAY)
def test_what_must_stay_is_refused_by_name(reason):
    """A byte, a special token, a byte for fallback, the unknown token; pruning never takes them."""
    name, token = MUST_STAY[reason]
    base = every_kind()[name]
    id_ = _core.id_of_written(base, token)
    with pytest.raises(TokenizerError, match=f"id {id_}.*{reason} and must stay"):
        surgery.remove(base, [id_])
    with pytest.raises(TokenizerError, match=f"{reason} and must stay"):
        surgery.prune(base, texts=["a"], to=260, drop=[token])
    found = surgery.remove(base, lambda _token: True)
    assert found.id_map[id_] == id_
    assert sorted(found.report.removed) == free_ids(base)


def test_files_that_merge_any_split_give_the_same_ids_or_are_refused(tmp_path):
    """Ranks make a token of any two others. What is saved as ranks is encoded alike by their own library."""
    theirs = pytest.importorskip("tiktoken")
    words = [b"ab", b"bc", b"abc", b"cd", b"bcd", b"abcd", b"dd", b"cdd", b"abcdd"]
    base = ranks(tmp_path, *words)
    texts = short_texts("abcd", 5)
    n_saved = n_refused = 0
    for mode, word in itertools.product(MODES, words):
        found = surgery.remove(base, [word], mode=mode, numbering="compact")
        try:
            found.save(tmp_path / "t.tiktoken")
        except bytepair.FormatError:
            n_refused += 1
            continue
        n_saved += 1
        again = bytepair.Tokenizer.from_file(tmp_path / "t.tiktoken")
        tokens = found.tokenizer.vocabulary
        encoding = theirs.Encoding(
            "t",
            pat_str=r"[a-d]+",
            mergeable_ranks={token: rank for rank, token in enumerate(tokens)},
            special_tokens={},
        )
        ids = found.tokenizer.encode_batch(texts)
        assert again.encode_batch(texts) == ids
        assert encoding.encode_batch(texts, num_threads=1) == ids
    assert n_saved
    assert n_saved + n_refused == 18


# Which tokens are meant


def test_tokens_are_ids_texts_bytes_or_what_files_write():
    """Each names the same token, alone or in a list; a set is in the same order in every process."""
    base = every_kind()["gpt4o"]
    low = base.token_to_id(" low")
    array = np.array([low])
    for named in (low, " low", b" low", "Ġlow", list(array), array, [" low", low]):
        assert list(surgery.remove(base, named).report.cascade.named) == [low]
    assert list(surgery.remove(base, np.array([low, 260])).report.cascade.named) == [
        low,
        260,
    ]
    texts = set(base.vocabulary[257:270])
    by_text = [base.token_to_id(text) for text in sorted(texts, key=repr)]
    assert list(surgery.remove(base, texts).report.cascade.named) == by_text
    model = every_kind()["fallback"]
    named = surgery.remove(model, " low").report.cascade.named
    assert list(named) == [model.token_to_id("▁low")]
    odd = hugging_face({"vocab": vocabulary("a", "Ġ", "Ġa"), "merges": [["Ġ", "a"]]})
    assert list(surgery.remove(odd, "Ġa").report.cascade.named) == [2]


def test_a_text_that_means_two_tokens_is_refused():
    """The text ``Ġl`` of three bytes is another token than a space and a letter; so is an id that no token has."""
    base = bytepair.train_from_iterator(["Ġl Ġl Ġl l l"], merges=4, dialect="gpt2")
    two = {base.token_to_id("Ġl"), base.token_to_id(" l")}
    assert len(two - {None}) == 2
    with pytest.raises(TokenizerError, match="give the id"):
        surgery.remove(base, ["Ġl"])
    with pytest.raises(TokenizerError, match="no token has the id 17"):  # a hole
        surgery.remove(every_kind()["unknown and added"], [17])


BAD = {
    "no token is 'lowx'; it is encoded to 'low', 'x'": ["lowx"],
    "no token has the id 276; the vocabulary has 276 ids": [276],
    "no token has the id -1": [-1],
    "no token that may be removed is named": [],
    "not float": [1.5],
    "not bool": [True],
    "not what bytepair doctor --json writes": [{"a": 1}],
}


@pytest.mark.parametrize("message", BAD)
def test_what_names_no_token_is_refused(message):
    """With what was given, and what it may mean."""
    with pytest.raises((TokenizerError, TypeError), match=message):
        surgery.remove(every_kind()["gpt4o"], BAD[message])


def test_what_was_removed_is_said_as_it_is():
    """Nothing is called reserved or numbered anew if nothing went, and none is said to be absent."""
    base = every_kind()["gpt4o"]
    for numbering in ("reserved", "holes", "compact"):
        found = surgery.prune(base, texts=["low"], to=276, numbering=numbering)
        kept = "276 tokens left, their ids unchanged"
        assert found.report.lines[:2] == ("0 tokens removed", kept)
    base = bytepair.train_from_iterator(["low"] * 3, vocab_size=258)
    found = surgery.prune(base, texts=["low"], to=257)
    assert found.report.counts == (1,)
    first = "1 token removed, each in the corpus at most 1 time"
    assert found.report.lines[0] == first


def test_findings_of_the_doctor_go_in_directly():
    """A diagnosis, one of its findings, one of its tokens, and their JSON; what must stay is left out."""
    from bytepair.analyze import diagnose

    vocab = vocabulary(*"abcd", "ab", "cd", "abcd", "bc", "bcd")
    merges = [["a", "b"], ["c", "d"], ["ab", "cd"], ["b", "c"]]
    base = hugging_face({"vocab": vocab, "merges": merges})
    diagnosis = diagnose(base)
    found = diagnosis.ids("BP101")
    assert found == {8}
    report = json.loads(json.dumps(diagnosis.as_object()))
    (finding,) = diagnosis.of("BP101")
    named = (diagnosis, [finding], finding.tokens, report, finding.tokens[0])
    for tokens in named:
        removed = surgery.remove(base, tokens, numbering="holes")
        assert removed.report.removed == (8,)
    other = every_kind()["gpt4o"]
    for select in ("BP101", ["BP101"]):
        found = surgery.remove(base, diagnosis, select=select)
        assert list(found.report.cascade.named) == [8]
    with pytest.raises(TokenizerError, match="of another tokenizer"):
        surgery.remove(other, diagnosis)
    tokens = [{"id": 0, "text": "a"}, {"id": 4, "text": "ab"}]
    staying = {**report, "findings": [{"code": "BP601", "tokens": tokens}]}
    removed = surgery.remove(base, staying, select=["BP6"])
    assert set(removed.report.cascade.staying) == {0}
    assert "must stay (a unit" in removed.report.cascade.lines[-1]
    assert removed.report.removed == (4, 6)
    nothing = surgery.remove(base, staying)
    assert nothing.report.removed == ()
    assert "name no token" in nothing.report.cascade.lines[0]
    with pytest.raises(TokenizerError, match="select= chooses among findings"):
        surgery.remove(base, ["ab"], select=["BP6"])


# Options


BAD_PRUNING = {
    "to: 300 tokens are asked for, but there are 276": {"texts": ["a"], "to": 300},
    "to: 100 tokens are asked for, but 257 must stay": {"texts": ["a"], "to": 100},
    "and what is not named": {"texts": ["a"], "to": 260, "drop": [" low"]},
    "give to= or min_count=": {"texts": ["a"], "drop": [" low"]},
    "give one of corpus, texts= and counts=, not none": {"to": 260},
    "min_count is .* beyond": {"texts": ["a"], "min_count": 1 << 63},
    "min_count must be at least 1": {"texts": ["a"], "min_count": 0},
    "the corpus is empty": {"texts": [], "to": 260},
    "not both texts and counts": {"texts": ["a"], "counts": {"a": 1}, "to": 260},
    "lines= is for files, not for texts=": {"texts": ["a"], "to": 260, "lines": True},
    "numbering must be one of reserved, holes": {"to": 260, "numbering": "new"},
    "to must be between": {"texts": ["a"], "to": -1},
}


@pytest.mark.parametrize("message", BAD_PRUNING)
def test_options_that_make_no_sense_are_refused(message):
    """By their names."""
    with pytest.raises(TokenizerError, match=message):
        surgery.prune(every_kind()["gpt4o"], **BAD_PRUNING[message])


def test_a_format_that_holds_no_reserved_ids_says_what_to_do(tmp_path):
    """Nothing is written, and the other numberings are named."""
    base = bytepair.train_from_iterator(CORPUS, merges=30, dialect="gpt2")
    found = surgery.remove(base, ["low"])
    message = 'numbering="holes" and numbering="compact"'
    with pytest.raises(bytepair.FormatError, match=message):
        found.save(tmp_path / "folder")
    assert list(tmp_path.iterdir()) == []
    surgery.remove(base, ["low"], numbering="holes").save(tmp_path / "folder")
    assert (tmp_path / "folder" / "merges.txt").exists()


# Small vocabularies, all of it


LETTERS = "abc"
SHORT = short_texts(LETTERS, 5)
MODELS = {
    "characters": {},
    "unknown token": {"unk_token": "?", "fuse_unk": True},
    "end mark": {"end_of_word_suffix": "</w>"},
    "prefix": {"unk_token": "?", "continuing_subword_prefix": "##"},
    "byte fallback": {"unk_token": "?", "fuse_unk": True, "byte_fallback": True},
    "whole pieces": {"ignore_merges": True},
}


def small(name, seed):
    """Give a tokenizer of a kind with merges drawn at random, some of them of one token."""
    options = MODELS[name]
    prefix = options.get("continuing_subword_prefix", "")
    suffix = options.get("end_of_word_suffix", "")
    known = "ab" if "unk_token" in options else LETTERS
    tokens = list(itertools.product(known, (True, False), (True, False)))

    def written(text, start, end):
        return ("" if start else prefix) + text + (suffix if end else "")

    names = dict.fromkeys(written(*token) for token in tokens)
    draw = random.Random(f"{name} {seed}")
    merges = []
    for _ in range(9):
        left = draw.choice([t for t in tokens if not t[2] or not suffix])
        right = draw.choice([t for t in tokens if not t[1] or not prefix])
        made = (left[0] + right[0], left[1], right[2])
        pair = [written(*left), written(*right)]
        if len(made[0]) > 4 or pair in merges:
            continue
        merges.append(pair)
        names[written(*made)] = None
        tokens.append(made)
    others = [options["unk_token"]] if "unk_token" in options else []
    if options.get("byte_fallback"):
        others += [f"<0x{byte:02X}>" for byte in range(256)]
    vocab = vocabulary(*others, *names)
    split = {"type": "WhitespaceSplit"}
    model = {"vocab": vocab, "merges": merges, **options}
    return hugging_face(model, pre_tokenizer=split)


def by_definition(base, gone, text):
    """Encode a word with the merges that are left, pair by pair; a word that is a token is one where merges are ignored."""
    left = [m for m in merges_by_id(base) if not gone & set(m)]
    whole = base.token_to_id(text)
    if (
        base.inspect().settings["ignore_merges"]
        and whole is not None
        and whole not in gone
    ):
        return [whole]
    return merged([i for i, *_ in base.inspect().symbols(text.encode())], left)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", MODELS)
def test_every_removal_from_a_small_vocabulary(name, seed):
    """Each token, every short text: ids are those of the definition, and of Hugging Face's library."""
    theirs = pytest.importorskip("tokenizers")
    base = small(name, seed)
    free = free_ids(base)
    assert free
    for id_ in free:
        holes = surgery.remove(base, [id_], numbering="holes")
        compact = surgery.remove(base, [id_], numbering="compact")
        gone = set(holes.report.removed)
        following = surgery.remove(base, id_).report.cascade.following
        assert gone == {id_, *(one.id for one in following)}
        data = compact.tokenizer.to_bytes(format="huggingface")
        read = theirs.Tokenizer.from_str(data.decode())
        found = [encoding.ids for encoding in read.encode_batch(SHORT)]
        for text, ids in zip(SHORT, found, strict=True):
            if ids_or_none(base, text) is None:
                continue
            expected = by_definition(base, gone, text)
            assert holes.tokenizer.encode(text) == expected
            moved = [compact.id_map[i] for i in expected]
            assert compact.tokenizer.encode(text) == moved == ids
