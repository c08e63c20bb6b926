"""Counts by group, and what is known of pieces that were left out of counts."""

import json
import random
import re
from collections import Counter
from decimal import Decimal

import pytest
from tests.commands import run

import bytepair
from bytepair import TokenizerError, TrainingError

pa = pytest.importorskip("pyarrow", reason="corpora need pyarrow")

from bytepair import scale  # noqa: E402
from bytepair.data import read_counts  # noqa: E402

LETTERS = {"de": "enirstahduäß", "en": "etaoinshrdlu"}


def words_of(chance, letters):
    """Make words in which letters are common in their order; so few pairs tie."""
    weights = range(len(letters) ** 2, 0, -len(letters))
    lengths = chance.choices([1, 2, 3, 4, 5], k=40)
    return ["".join(chance.choices(letters, weights, k=length)) for length in lengths]


@pytest.fixture(scope="module")
def documents():
    """Make documents of two languages, and some of none."""
    chance = random.Random(3)
    shares = [1000 / rank for rank in range(1, 41)]
    words = {name: words_of(chance, letters) for name, letters in LETTERS.items()}
    made = []
    for _ in range(300):
        language = chance.choice(["de", "en"])
        text = " ".join(chance.choices(words[language], shares, k=12))
        made.append((None if chance.random() < 0.1 else language, text))
    return made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory, documents):
    """Write the documents as JSON lines."""
    path = tmp_path_factory.mktemp("groups") / "docs.jsonl"
    rows = [{"text": text, "of": {"lang": name}} for name, text in documents]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def texts_of(documents, *languages):
    """List the texts in some languages."""
    return [text for name, text in documents if name in languages]


def test_each_group_has_the_counts_of_its_documents(tmp_path, corpus, documents):
    """Rows of a group are those of counting its texts alone; a null is the group `""`."""
    counts = scale.count(corpus, group="of.lang")
    assert sorted(counts.info.groups) == ["", "de", "en"]
    table = counts.table
    for group, languages in (("", [None]), ("de", ["de"]), ("en", ["en"])):
        texts = texts_of(documents, *languages)
        path = tmp_path / "alone.jsonl"
        path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
        alone = scale.count(path).table
        found = table.filter(pa.compute.equal(table.column("group"), group))
        assert found.drop_columns(["group"]).equals(alone)
        size = {"documents": len(texts), "bytes": len("".join(texts).encode())}
        assert counts.info.groups[group] == size


def test_counts_by_group_do_not_depend_on_how_the_work_is_dealt_out(tmp_path, corpus):
    """One process, two, and files that were counted alone and merged, thinned or not."""
    for min_piece_count in (20, None):
        options = {"group": "of.lang", "min_piece_count": min_piece_count}
        expected = scale.count(corpus, **options)
        dealt = scale.count(corpus, processes=2, task_bytes=5000, **options)
        assert dealt.table.equals(expected.table)
        assert dealt.info == expected.info
    lines = corpus.read_text().splitlines(keepends=True)
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, part in zip(paths, (lines[:99], lines[99:]), strict=True):
        path.with_suffix(".jsonl").write_text("".join(part))
        scale.count(path.with_suffix(".jsonl"), group="of.lang").save(path)
    merged = scale.merge_files(paths)
    assert merged.table.equals(expected.table)
    merged.info.sources = expected.info.sources
    assert merged.info == expected.info


def test_groups_are_learned_from_together_or_by_choice_or_weight(
    tmp_path, corpus, documents
):
    """The same tokenizer as from the texts of those groups, each as often as it weighs."""
    scale.count(corpus, group="of.lang").save(tmp_path / "counts.parquet")
    counts = read_counts(tmp_path / "counts.parquet")
    german, english = texts_of(documents, "de"), texts_of(documents, "en")
    cases = [
        (None, [text for _name, text in documents]),
        (["de"], german),
        ({"de": 1, "en": 3}, german + english * 3),
        ({"de": Decimal("0.5"), "en": 1}, german + english * 2),
    ]
    for groups, texts in cases:
        found = bytepair.train_from_counts(counts, merges=12, groups=groups)
        expected = bytepair.train_from_iterator(texts, merges=12)
        assert found.merges == expected.merges
    with pytest.raises(TrainingError, match="'fr' asked for"):
        bytepair.train_from_counts(counts, merges=2, groups=["fr"])
    command = ["train", tmp_path / "counts.parquet", "-o", tmp_path / "t.bytepair"]
    done = run(*command, "--merges", 12, "--groups", "de", "--groups", "en@3", "--json")
    assert json.loads(done.stdout)["texts"] == len(german + english)
    saved = bytepair.Tokenizer.from_file(tmp_path / "t.bytepair")
    expected = bytepair.train_from_counts(counts, merges=12, groups={"de": 1, "en": 3})
    assert saved.to_bytes() == expected.to_bytes()


def test_pieces_of_few_groups_are_left_out(tmp_path, corpus, documents):
    """The sources of counts by group are the groups that are chosen, whatever they weigh."""
    scale.count(corpus, group="of.lang").save(tmp_path / "counts.parquet")
    path = tmp_path / "counts.parquet"
    found = {
        name: Counter(re.findall(r" ?\w+", "\n".join(texts_of(documents, name))))
        for name in (None, "de", "en")
    }
    for groups, least in ((None, 2), (None, 3), ({"de": 1, "en": 3}, 2)):
        weights = groups or {"": 1, "de": 1, "en": 1}
        counts = Counter()
        for name, weight in weights.items():
            counts.update({p: n * weight for p, n in found[name or None].items()})
        n_groups = Counter(p for name in weights for p in found[name or None])
        kept = {p: n for p, n in counts.items() if n_groups[p] >= least}
        steps = []
        tokenizer = bytepair.train_from_counts(
            path, merges=20, groups=groups, min_sources=least, progress=steps.append
        )
        expected = bytepair.train_from_counts(kept, merges=20)
        assert tokenizer.inspect().merge_log == expected.inspect().merge_log
        report = steps[-1].report
        assert report["dropped_pieces"] == len(counts) - len(kept) > 0
        assert report["dropped_occurrences"] == counts.total() - sum(kept.values())
        assert (
            report["tokens"]
            < report["characters"]
            <= sum(len(p) * n for p, n in kept.items())
        )
    with pytest.raises(TrainingError, match="none occurs in 3 groups, of 2 in all"):
        bytepair.train_from_counts(path, merges=1, groups=["de", "en"], min_sources=3)
    scale.count(corpus).save(path)
    command = (
        "train",
        path,
        "-o",
        tmp_path / "t.json",
        "--merges",
        9,
        "--min-sources",
        2,
    )
    assert "--min-sources: these counts do not say" in run(*command, code=1).stderr


def test_what_groups_cannot_do_is_refused(tmp_path, corpus):
    """An order of all, plain text, a field that is missing, and counts without groups."""
    with pytest.raises(TrainingError, match="first occurrence"):
        scale.count(corpus, group="of.lang", dialect="sennrich")
    with pytest.raises(bytepair.FormatError, match="line 1: no field language"):
        scale.count(corpus, group="language")
    (tmp_path / "a.txt").write_text("low")
    with pytest.raises(bytepair.FormatError, match="no field for a group"):
        scale.count(tmp_path / "a.txt", group="language")
    plain = scale.count(corpus)
    with pytest.raises(TrainingError, match="the counts have none"):
        bytepair.train_from_counts(plain, merges=1, groups=["en"])
    grouped = scale.count(corpus, group="of.lang")
    paths = tmp_path / "plain.parquet", tmp_path / "grouped.parquet"
    for counts, path in zip((plain, grouped), paths, strict=True):
        counts.save(path)
    with pytest.raises(TrainingError, match="without groups"):
        scale.merge_files(paths)
    huge = pa.array([1 << 61] * len(grouped.table), pa.int64())
    grouped.table = grouped.table.set_column(1, "count", huge)
    with pytest.raises(TokenizerError, match="63 bits"):
        bytepair.train_from_counts(grouped, merges=1, groups={"de": 4})


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_groups_of_tables_are_those_of_lines(tmp_path, corpus, documents, ending):
    """A column of Parquet or CSV names the group; bad lines are skipped with their group."""
    known = [(name, text) for name, text in documents if name]
    table = pa.table({"lang": [n for n, _ in known], "text": [t for _, t in known]})
    path = tmp_path / f"docs.{ending}"
    if ending == "parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    else:
        pytest.importorskip("pyarrow.csv").write_csv(table, path)
    rows = [json.dumps({"text": text, "lang": name}) for name, text in known]
    rows[3:3] = ["{", '{"text": "x"}', '{"lang": "en"}', ""]
    (tmp_path / "docs.jsonl").write_text("\n".join(rows))
    lines = scale.count(tmp_path / "docs.jsonl", group="lang", skip_bad=True)
    assert lines.info.bad == 3
    found = scale.count(path, group="lang")
    assert found.table.equals(lines.table)
    assert found.info.groups == lines.info.groups


# Pieces that were left out


def thinned(train, *arguments, **options):
    """Train, and give the tokenizer with what is told of pieces left out."""
    seen = []
    tokenizer = train(*arguments, merges=40, progress=seen.append, **options)
    names = ("dropped_pieces", "dropped_occurrences")
    return tokenizer.to_bytes(), [seen[-1].report[name] for name in names]


def test_thinned_counts_say_what_training_on_the_text_does(tmp_path, corpus):
    """How much was left out, through the file."""
    texts = [json.loads(line)["text"] for line in corpus.read_text().splitlines()]
    texts.append(" rarely seen words once")
    (tmp_path / "more.jsonl").write_text(json.dumps({"text": texts[-1]}))
    from_text = thinned(bytepair.train_from_iterator, texts, min_piece_count=6)
    assert 0 < from_text[1][0] < from_text[1][1]
    names = [corpus, tmp_path / "more.jsonl"]
    for options in ({}, {"processes": 2, "task_bytes": 5000}):
        counts = scale.count(names, min_piece_count=6, **options)
        counts.save(tmp_path / "counts.parquet")
        assert thinned(bytepair.train, tmp_path / "counts.parquet") == from_text
    command = ["train", tmp_path / "counts.parquet", "-o", tmp_path / "t.bytepair"]
    done = run(*command, "--merges", 40)
    assert f"left out: {from_text[1][0]:,} rare piece" in done.stderr
