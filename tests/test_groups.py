"""Parity between languages: equal to the public trainer, and refused where it cannot be had."""

import gzip
import json
import random
import re
from pathlib import Path

import pytest
from tests.commands import refused, run

import bytepair
from bytepair import Parity, TokenizerError
from bytepair.reference.train import Parity as ReferenceParity, train
from bytepair.reference.units import Units

RECORDED = Path(__file__).parent / "vectors" / "parity.json"
OPTIONS = {
    "dialect": "unknown-token",
    "pattern": r"\S+",
    "unmatched": "drop",
    "ties": "largest_text",
}


def published(groups, parallel, merges, ratio=None, **options):
    """Return the merges of the trainer in tokenizers."""
    tokenizers = pytest.importorskip("tokenizers", "0.23")
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    trainer = tokenizers.trainers.ParityBpeTrainer(
        num_merges=merges, show_progress=False, **options
    )
    trainer.train_from_iterator(tokenizer, groups, parallel, ratio=ratio)
    return [tuple(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


@pytest.mark.parametrize(
    "seeds", [range(40), pytest.param(range(40, 2000), marks=pytest.mark.slow)]
)
def test_merges_are_those_of_the_public_trainer(seeds):
    """With parallel texts, ratios, neither, windows and global merges, both learn the same.

    Windows are compared only while every group has a pair: without one, the public trainer
    may choose its first group without end. It also stops if no pair is left for global merges.
    """
    for seed in seeds:
        r = random.Random(seed)
        n, is_window = r.randint(2, 4), r.random() < 0.4
        letters = [r.choice(["abcd", "abé中", f"ab{chr(0x400 + i)}"]) for i in range(n)]

        def text(some, n_words, longest, r=r):
            words = [
                "".join(r.choices(some, k=r.randint(2, longest)))
                for _ in range(n_words)
            ]
            return [" ".join([word] * r.randint(1, 4)) for word in words]

        longest = 8 if is_window else r.choice([3, 8])
        groups = [
            text(a, 15 if is_window else r.choice([2, 6, 15]), longest) for a in letters
        ]
        mode = r.choice(["parallel", "ratio", "neither"])
        parallel = [text(a, 8, 8) for a in letters] if mode == "parallel" else None
        ratio = (
            [r.choice([1.0, 2.0, 0.7, 2.57]) for _ in letters]
            if mode == "ratio"
            else None
        )
        merges = 10 if is_window else r.choice([8, 40, 200])
        n_global, min_count = (
            r.choice([0, 0, 3, 8]),
            1 if is_window else r.randint(1, 3),
        )
        window = {"window": r.choice([1, 3, 10]), "alpha": r.choice([1.0, 1.5, 1.9])}
        expected = published(
            groups,
            parallel,
            merges,
            ratio,
            variant="window" if is_window else "base",
            window_size=window["window"],
            alpha=window["alpha"],
            global_merges=n_global,
            min_frequency=min_count,
        )
        parity = Parity(
            parallel, ratio, global_merges=n_global, **(window if is_window else {})
        )
        named = {f"group {place}": texts for place, texts in enumerate(groups)}
        tokenizer = bytepair.train_from_iterator(
            named, merges=merges, min_count=min_count, parity=parity, **OPTIONS
        )
        assert tokenizer.merges == expected, seed


@pytest.mark.parametrize("case", json.loads(RECORDED.read_text("utf-8")))
def test_merges_are_those_of_the_papers_code(case):
    """Its code ends where one group has no pair; here the other groups go on."""

    def texts(counts):
        return [" ".join([word] * count) for word, count in counts.items()]

    groups = {f"group {place}": texts(one) for place, one in enumerate(case["groups"])}
    parallel = case["parallel"] and [[" ".join(texts(c))] for c in case["parallel"]]
    parity = Parity(parallel, case["ratio"], global_merges=case["global_merges"])
    options = OPTIONS | {"min_count": case["min_count"], "parity": parity}
    tokenizer = bytepair.train_from_iterator(
        groups, merges=len(case["merges"]), **options
    )
    assert tokenizer.merges == list(map(tuple, case["merges"]))


TEXTS = {"en": ["low lower", "lowest"], "de": ["tief tiefer"], "fa": ["کم کمتر"]}


@pytest.mark.parametrize(
    ("texts", "parity", "problem"),
    [
        (TEXTS | {"fa": []}, True, "the group 'fa' has no piece"),
        (
            TEXTS,
            Parity(parallel=[["a b"], ["a b"], []]),
            "the parallel text of 'fa' has no piece",
        ),
        (TEXTS, Parity(parallel=[["a"], ["b"]]), "for each of 3 groups, not 2"),
        (TEXTS, Parity(parallel=[["a"], ["b"], ["c", "d"]]), "'fa' 2"),
        (
            TEXTS,
            Parity(parallel={"en": ["a"]}),
            "the names must be those of the groups",
        ),
        (TEXTS, Parity(ratio=[1, 2]), "for each of 3 groups, not 2"),
        (TEXTS, Parity(ratio=[1, 2, 0]), "above 0"),
        (TEXTS, Parity(ratio=[1, 2, 3], parallel=[["a"]] * 3), "give one of them"),
        (TEXTS, Parity(parallel=[]), "for each of 3 groups, not 0"),
        (TEXTS, Parity(window=0), "at least 1"),
        (TEXTS, Parity(window=9, alpha=3), "has no effect"),
        (TEXTS, Parity(window=3, alpha=0), "above 0"),
        (TEXTS, Parity(global_merges=5), "more than the 4"),
        ({"en": ["low"]}, True, "needs at least two groups"),
        (["low"], True, "there are no groups"),
        (TEXTS, None, "give parity=True"),
    ],
)
def test_what_cannot_be_had_is_refused(texts, parity, problem):
    """Each bad input is an error that says so, before anything is learned.

    A text in place of a list of texts is refused, and so is what can be read only once.
    """
    for parallel in (["a b"] * 3, (["a b"] for _ in TEXTS)):
        with pytest.raises(TypeError, match=r"put it in a list|must be a list"):
            bytepair.train_from_iterator(
                TEXTS, merges=4, parity=Parity(parallel=parallel)
            )
    with pytest.raises(TokenizerError, match=problem):
        bytepair.train_from_iterator(texts, merges=4, parity=parity, **OPTIONS)


def test_steps_say_who_chooses(tmp_path):
    """The command shows the group of each step, whose most frequent pair it is."""
    for name, texts in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts * 3), encoding="utf-8")
    files = [tmp_path / f"{name}.txt" for name in TEXTS]
    options = ["--merges", "9", "--dialect", "unknown-token", "--parity", "--steps"]
    steps = json.loads(run("train", *files, *options, "--json").stdout)["steps"]
    assert {step["group"] for step in steps} == set(map(str, files))
    assert not any(step["passed_over"] for step in steps)
    shown = run("train", *files, *options, "--global-merges", "1").stdout
    assert f"  {files[0]} chooses" in shown
    assert "chooses" not in shown.partition("step 2")[0]


def test_files_and_resumed_training_have_groups_too(tmp_path):
    """Files are groups, the report has lengths by group, going on is training at once."""
    for name, texts in TEXTS.items():
        (tmp_path / f"{name}.txt").write_text("\n".join(texts * 3), encoding="utf-8")
    files = [tmp_path / f"{name}.txt" for name in TEXTS]
    reports = []
    options = {
        "parity": True,
        "progress": lambda told: reports.append(told.report),
        **OPTIONS,
    }
    at_once = bytepair.train(files, merges=12, **options)
    lengths = reports[-1]["groups"]
    assert list(lengths) == list(map(str, files))
    assert all(found["after"] < found["before"] for found in lengths.values())
    earlier = bytepair.train(files, merges=5, **options)
    later = bytepair.train(files, merges=12, resume=earlier, **options)
    assert later.merges == at_once.merges
    assert reports[-1]["groups"] == lengths
    packed = tmp_path / "packed.txt.gz"
    packed.write_bytes(gzip.compress(files[0].read_bytes()))
    options["parity"] = Parity(parallel=[packed, files[0], files[0]])
    assert len(bytepair.train(files, merges=12, **options).merges) == 12
    with pytest.raises(TokenizerError, match="given twice"):
        bytepair.train([*files, files[0]], merges=12, **options)
    with pytest.raises(TokenizerError, match="the same file as the input"):
        bytepair.train(files, merges=12, log=packed, **options)
    with pytest.raises(TypeError, match="list"):
        bytepair.train([[files[0]], files[1:]], merges=12, **OPTIONS, parity=True)
    with pytest.raises(TokenizerError, match=r"^memory_limit: 9000000 ") as e:
        bytepair.train(files, merges=12, memory_limit=9_000_000, **options)
    least = int(re.search(r"at least (\d+)", str(e.value))[1])
    bytepair.train(files, merges=12, memory_limit=least, **options)
    # Only the ratios of weights matter, also for the characters of parallel texts.
    chars = {"dialect": "sentencepiece", "max_alphabet": 6, "merges": 9}
    chars["parity"] = options["parity"]
    once, twice = (
        bytepair.train({**dict.fromkeys(files, 1), files[0]: weight}, **chars)
        for weight in (1, 1.001)
    )
    assert (once.vocabulary, once.merges) == (twice.vocabulary, twice.merges)
    same = ["train", *files, "--merges", "9", "--parity", "-o", packed]
    for reads in ("--parallel", "--cuts"):
        assert "as the input" in refused(*same, reads, packed)
    parity = Parity(window=2)
    with pytest.raises(TokenizerError, match="train from the beginning"):
        bytepair.train(files, merges=12, resume=earlier, **OPTIONS | {"parity": parity})
    (tmp_path / "en.txt").write_text("low\nlow\n")
    parity = Parity(parallel=files)
    with pytest.raises(TokenizerError, match="different numbers of lines"):
        bytepair.train(files, merges=12, **OPTIONS | {"parity": parity})


def test_core_and_reference_agree():
    """Over all rules for ties, ways to measure, windows and global merges, both learn the same."""
    for seed in range(60):
        r = random.Random(seed)

        def text(r=r):
            pieces = [bytes(r.choices(b"abcd", k=r.randint(1, 9))) for _ in range(9)]
            return dict.fromkeys(pieces, r.randint(1, 5))

        groups = [text() for _ in range(r.randint(2, 4))]
        mode = r.choice(["parallel", "ratio", "neither"])
        parallel = [text() for _ in groups] if mode == "parallel" else []
        ratio = [r.choice([1.0, 2.0, 0.7]) for _ in groups] if mode == "ratio" else None
        window = r.choice([None, None, (r.randint(1, 4), r.choice([0.5, 1.0, 1.9]))])
        n_global, min_count = r.choice([0, 0, 4]), r.randint(1, 3)
        ties = r.choice(["smallest_ids", "largest_text", "first_seen"])
        ranked = [
            {piece: (n, place) for place, (piece, n) in enumerate(counts.items())}
            for counts in [*groups, *parallel]
        ]
        all_counts = {
            piece: found for counts in ranked for piece, found in counts.items()
        }
        chosen = ReferenceParity(
            ranked[: len(groups)], ranked[len(groups) :], ratio, window, n_global
        )
        options = {"ties": ties, "min_count": min_count, "parity": chosen}
        options["n_merges"] = 25
        _tokens, merges = train(all_counts, Units(), **options)
        # One document in each text, so that parallel texts have the same number of them.
        joined = [
            b" ".join(piece for piece, n in counts.items() for _ in range(n))
            for counts in [*groups, *parallel]
        ]
        if ratio and not window:
            begun = train(all_counts, Units(), begin=merges[:6], **options)
            assert begun[1] == merges
        size, alpha = window or (None, 2.0)
        tokenizer = bytepair.train_from_iterator(
            {str(place): [found] for place, found in enumerate(joined[: len(groups)])},
            merges=25,
            dialect="byte-stream",
            pattern=r"\S+",
            unmatched="drop",
            ties=ties,
            min_count=min_count,
            parity=Parity(
                [[found] for found in joined[len(groups) :]] or None,
                ratio,
                size,
                alpha,
                n_global,
            ),
        )
        expected = [(merge.left.text, merge.right.text) for merge in merges]
        learned = [
            tuple(part.encode() if isinstance(part, str) else part for part in pair)
            for pair in tokenizer.merges
        ]
        assert learned == expected, seed


def test_counts_by_group_are_groups(tmp_path):
    """Counts by group learn what texts by group learn, in the order and with the weights of groups."""
    pytest.importorskip("pyarrow")
    rows = [{"text": text, "lang": name} for name in TEXTS for text in TEXTS[name] * 3]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    counts = bytepair.scale.count(path, group="lang", processes=1, **OPTIONS)
    order = ["fa", "en", "de"]
    from_counts = bytepair.train_from_counts(
        counts, groups=order, merges=12, parity=True
    )
    named = {name: TEXTS[name] * 3 for name in order}
    from_texts = bytepair.train_from_iterator(named, merges=12, parity=True, **OPTIONS)
    assert from_counts.merges == from_texts.merges
    with pytest.raises(TokenizerError, match="name the groups in the order of these"):
        bytepair.train_from_counts(counts, merges=12, parity=Parity(ratio=[1, 2, 3]))


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [None, [1.0, 1.0, 0.5, 2.0]])
def test_merges_of_real_texts_are_those_of_the_public_trainer(shared, ratio):
    """English, Spanish, Persian and Chinese, of which English has the most text."""
    names = ["english-docs", "spanish-novels", "persian", "chinese"]
    lengths = [60_000, 20_000, 20_000, 20_000]
    data = [shared(f"corpora/{name}.txt").read_bytes() for name in names]
    groups = [
        one[:n_bytes].decode(errors="ignore").split("\n")
        for one, n_bytes in zip(data, lengths, strict=True)
    ]
    expected = published(groups, None, 400, ratio, min_frequency=2)
    tokenizer = bytepair.train_from_iterator(
        dict(zip(names, groups, strict=True)),
        merges=400,
        min_count=2,
        parity=Parity(ratio=ratio),
        **OPTIONS,
    )
    assert tokenizer.merges == expected
