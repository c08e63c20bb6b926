"""Tokens of several words: two stages of training, as SuperBPE's trainer does them.

That two stages learn what the definition learns is tested in `test_against_reference.py`.
"""

import json
import re
from pathlib import Path

import pytest
from tests.commands import refused, run

import bytepair
from bytepair import TokenizerError, TrainingError, TrainingInterrupted

SUPERWORDS = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
VECTORS = Path(__file__).parent / "vectors"
RECORDED = json.loads((VECTORS / "superwords.json").read_text())
WORDS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEXTS = ["it is one of the best, one of the most: of the best\nof the 12345 best"] * 9
OPTIONS = {"superwords": 20, "merges": 50, "max_words": 3, "forbid": "colon-space"}


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: case["name"])
def test_merges_are_those_of_superbpes_trainer(case):
    """It leaves out inherited merges that never apply beyond words; here they stay, and their ids with them."""
    dropped = set(case["dropped"])
    tokenizer = bytepair.train_from_iterator(
        case["texts"],
        pattern=WORDS,
        superwords=case["inherited"],
        merges=len(case["merges"]) + len(dropped),
        min_count=case["min_count"],
        max_words=4,
        forbid="colon-space",
    )
    names = [mapped(name) for name in tokenizer.vocabulary]
    log = tokenizer.inspect().merge_log
    merges = [f"{names[left]} {names[right]}" for left, right, *_ in log]
    assert [merge for merge in merges if merge not in dropped] == case["merges"]


@pytest.mark.parametrize("case", json.loads((VECTORS / "whole-words.json").read_text()))
def test_whole_words_are_joined_as_by_fastboundlessbpe(case):
    """Of texts without equal counts, where only the order of ties would differ: both of its forms."""
    texts = [text for text, count in case["texts"] for _ in range(count)]
    options = {"min_count": 1, "superword_pattern": ""}
    n_merges = case["merges"]
    auto = bytepair.train_from_iterator(
        texts, superwords="auto", merges=n_merges, **options
    )
    assert [name.decode() for name in auto.vocabulary[256:]] == case["auto"]
    whole = bytepair.train_from_iterator(
        texts,
        superwords=n_merges,
        whole_words=True,
        merges=n_merges + len(case["whole_words"]),
        **options,
    )
    expected = [*case["words"], *case["whole_words"]]
    assert [[left.decode(), right.decode()] for left, right in whole.merges] == expected


def mapped(name):
    """Write bytes as visible characters, as GPT-2's files do."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in visible]
    shown = {byte: chr(byte) for byte in visible}
    shown |= {byte: chr(256 + place) for place, byte in enumerate(others)}
    data = name.encode() if isinstance(name, str) else name
    return "".join(shown[byte] for byte in data)


def interrupted_at(phase, n_merges, **options):
    """Train until a number of merges, or until the second stage counts."""
    seen = []

    def stop(progress):
        seen.append(progress.phase)
        is_second = seen.count("count") > 1 or len(set(seen)) > 1
        if (progress.phase == phase == "merge" and progress.done >= n_merges) or (
            phase == "count"
            and progress.phase == "count"
            and "merge" in seen
            and is_second
        ):
            raise KeyboardInterrupt

    with pytest.raises(TrainingInterrupted) as caught:
        bytepair.train(**options, progress=stop)
    return caught.value.tokenizer


@pytest.mark.parametrize(
    ("phase", "n_merges"), [("merge", 1), ("merge", 21), ("count", 0)]
)
def test_training_goes_on_in_the_stage_in_which_it_was_interrupted(
    tmp_path, phase, n_merges
):
    """The merges and the log are those of training at once, whatever the stage."""
    corpus, log, whole_log = (tmp_path / name for name in ("text", "log", "whole"))
    corpus.write_text("\n".join(TEXTS))
    options = {"files": corpus, **OPTIONS}
    whole = bytepair.train(**options, log=whole_log)
    part = interrupted_at(phase, n_merges, **options, log=log)
    assert 0 < len(part.merges) < 50
    again = bytepair.train(**options, resume=part, log=log)
    assert again == whole
    assert bytepair.read_log(log) == bytepair.read_log(whole_log)
    steps = bytepair.read_log(log).steps
    assert [step.step for step in steps] == list(range(1, len(whole.merges) + 1))


def test_every_learned_superword_is_encoded():
    """The text is encoded as the second stage left it, and special tokens have the last ids."""
    tokenizer = bytepair.train_from_iterator(TEXTS, **OPTIONS, special_tokens=["<s>"])
    tokens = tokenizer.tokenize(TEXTS[0])
    assert any(token.count(" ") > 1 for token in tokens)
    assert tokenizer.special_tokens == {"<s>": tokenizer.n_vocab - 1}
    reports = []
    bytepair.train_from_iterator(TEXTS, **OPTIONS, progress=reports.append)
    assert reports[-1].tokens == 9 * len(tokens)
    assert [report.phase for report in reports].count("done") == 1
    assert reports[-1].report["new_merges"] == reports[-1].report["merges"]


def test_ids_of_a_tokenizer_to_resume_from_stay():
    """Those of its special tokens, too; superwords come after them. Initial merges have the ids of training at once."""
    words = bytepair.train_from_iterator(TEXTS, merges=20, special_tokens=["<s>"])
    for n_merges in (20, 24):
        options = {"superwords": n_merges, "merges": 50, "special_tokens": ["<s>"]}
        found = bytepair.train_from_iterator(TEXTS, resume=words, **options)
        assert found.special_tokens == words.special_tokens == {"<s>": 276}
        assert found.vocabulary[:277] == words.vocabulary
        assert max(token.count(b" ") for token in found.vocabulary) > 2
    whole = bytepair.train_from_iterator(
        TEXTS, superwords=20, merges=50, whole_words=True
    )
    options = {"superwords": 20, "merges": 50, "whole_words": True}
    for n_merges in (9, 20):
        begun = {"initial_merges": words.merges[:n_merges]}
        assert bytepair.train_from_iterator(TEXTS, **begun, **options) == whole


def test_the_log_has_the_ids_of_the_tokenizer(tmp_path):
    """Also where rare pieces of the first stage, which have other characters, are left out."""
    texts = ["best я1 of xyz", "of the of the best", "of the of the best"]
    options = {
        "dialect": "sentencepiece",
        "min_piece_count": 2,
        "log": tmp_path / "log",
    }
    found = bytepair.train_from_iterator(texts, superwords=3, merges=10, **options)
    steps = bytepair.read_log(tmp_path / "log").steps
    assert [step.ids for step in steps] == [m[:3] for m in found.inspect().merge_log]


def test_merges_compete_only_where_their_tokens_are_there():
    """A cut within words can make a merge within words rarer than one beyond them that needs its token."""
    texts = ["x unhappys", "x unhappyt", "x unhappyz"] * 3 + ["an unhappy dog"] * 99
    cuts = {"cuts": lambda piece: re.split("(?<=un)(?=happy$)", piece)}
    found = bytepair.train_from_iterator(texts, superwords="auto", merges=11, **cuts)
    assert len(found.merges) == 11
    assert b"an unhappy dog" not in found.vocabulary


def test_the_command_trains_and_shows_both_stages(tmp_path):
    """--steps walks through the pieces of each stage; the file has the second pattern."""
    corpus, own = tmp_path / "text", tmp_path / "own.json"
    corpus.write_text("\n".join(TEXTS))
    command = ["train", corpus, "--superwords", "4", "--merges", "9", "-o", own]
    steps = json.loads(run(*command, "--steps", "--json").stdout)["steps"]
    assert [step["step"] for step in steps] == list(range(1, 10))
    assert max(len(step["pieces"]) for step in steps[:4]) > len(steps[4]["pieces"])
    options = ["--superwords", "4", "--merges", "9", "--whole-words", "-o", own]
    options += ["--log", tmp_path / "log", "--steps", "--json"]
    steps = json.loads(run("train", corpus, *options).stdout)["steps"]
    logged = bytepair.read_log(tmp_path / "log").steps
    assert [step["chosen"]["count"] for step in steps] == [s.count for s in logged]
    assert not any(step["passed_over"] for step in steps)
    options = ["--superwords", "auto", "--merges", "30", "--whole-words", "-o", own]
    run("train", corpus, *options)
    stages, earlier = ["--superwords", "20", "--merges"], tmp_path / "earlier.json"
    run("train", corpus, *stages, "40", "-o", own)
    for options in (["--merges", "9"], [*stages, "30"]):
        run("train", corpus, *options, "-o", earlier)
        again = tmp_path / "again.json"
        run("train", corpus, *stages, "40", "-o", again, "--resume", earlier)
        assert again.read_bytes() == own.read_bytes()
    split = bytepair.Tokenizer.from_file(own).inspect().description["split"]
    assert split.startswith(r"\p{N}{1,3}| ?")
    message = refused(
        *command[:-2], "--dialect", "sennrich", "-o", tmp_path / "own.bytepair"
    )
    assert "--superwords: the dialect drops what stands between words" in message


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"superwords": 0}, TrainingError, "must be between 1"),
        (
            {"superwords": 9, "merges": 9},
            TrainingError,
            "9 merges within words leave none",
        ),
        (
            {"superwords": 9, "vocab_size": 265},
            TrainingError,
            "of which 256 are not merged",
        ),
        ({"superwords": "9"}, TypeError, "a whole number"),
        ({"superword_pattern": "x"}, TrainingError, "needs superwords"),
        (
            {"superwords": 3, "dialect": "subword-nmt"},
            TokenizerError,
            "drops what stands",
        ),
        (
            {"superwords": 3, "pattern": "", "end_mark": "_"},
            TokenizerError,
            "marks words",
        ),
        ({"superwords": 3, "superword_pattern": "("}, TokenizerError, "pattern error"),
        ({"superwords": "auto", "log": "log"}, TrainingError, "log does not apply"),
        ({"superwords": "all"}, TypeError, 'a whole number or "auto"'),
        ({"superwords": 3, "whole_words": 1}, TypeError, "True or False"),
        ({"whole_words": True}, TrainingError, "needs superwords"),
        ({"superwords": 3, "resume": "part"}, TrainingError, "there are 9 merges"),
        (
            {"superwords": 3, "initial_merges": [("o", "f")] * 4},
            TokenizerError,
            "merge 2",
        ),
        ({"superwords": 3, "superword_pattern": 5}, TypeError, "superword_pattern: "),
    ],
)
def test_bad_options_are_refused_before_text_is_read(options, error, words):
    """A transition without an end, dialects without spaces, a pattern that is no pattern."""
    options = dict(options)
    if options.pop("resume", None):
        options["resume"] = bytepair.train_from_iterator(TEXTS, merges=9)
    with pytest.raises(error) as caught:
        bytepair.train_from_iterator(TEXTS, **options)
    assert words in str(caught.value)


def test_text_that_can_be_read_once_is_refused(tmp_path):
    """An iterator, standard input, and counts."""
    with pytest.raises(TrainingError, match="read twice"):
        bytepair.train_from_iterator(iter(TEXTS), **OPTIONS)
    with pytest.raises(TrainingError, match="counts do not say"):
        bytepair.train_from_counts({"a b": 3}, **OPTIONS)
    command = [
        "train",
        "-",
        "--superwords",
        "3",
        "--merges",
        "9",
        "-o",
        tmp_path / "own.json",
    ]
    assert "--superwords: text is read twice" in refused(*command)


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["superwords", "superbpe"])
def test_the_published_vocabulary_encodes_as_its_library(shared, pattern):
    """SuperBPE's files with the pattern of its scripts, and with that of its first release."""
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers

    folder = shared("vocabularies/superbpe-180K")
    lines = (folder / "merges.txt").read_text().splitlines()[1:]
    merges = [tuple(line.split(" ")) for line in lines if line]
    vocabulary = json.loads((folder / "vocab.json").read_text())
    theirs = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    cuts = {
        "superwords": [SUPERWORDS],
        "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    }
    splits = [pre_tokenizers.Split(Regex(cut), "isolated") for cut in cuts[pattern]]
    to_bytes = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    theirs.pre_tokenizer = pre_tokenizers.Sequence([*splits, to_bytes])
    ours = bytepair.Tokenizer.from_file(folder / "vocab.json", pattern=pattern)
    for name in ("english-docs", "code", "multilingual", "chinese"):
        data = shared(f"corpora/{name}.txt").read_bytes()[:2_000_000]
        text = data.decode(errors="ignore")
        parts = [text[place : place + 4096] for place in range(0, len(text), 4096)]
        expected = theirs.encode_batch(parts, add_special_tokens=False)
        for part, one in zip(parts, expected, strict=True):
            assert ours.encode(part) == one.ids
