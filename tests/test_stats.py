"""Metrics of tokenizers on corpora: each beside one that is worked out from the ids of each text."""

import bisect
import csv
import gzip
import io
import itertools
import json
import math
import os
import re
import unicodedata
from collections import Counter

import pytest
from tests.commands import refused, run, run_process
from tests.made_up import every_kind

import bytepair
from bytepair import Tokenizer, TokenizerError
from bytepair.analyze import (
    METRICS,
    compare,
    file_sums,
    measure,
    measure_all,
    measure_texts,
    stats,
    stats_of,
)
from bytepair.analyze._stats import meter as _meter
from bytepair.analyze._stats.draw import as_lines
from bytepair.analyze._stats.metric_table import SECTIONS
from bytepair.analyze._stats.verdict import Count, verdict
from bytepair.views._runs import plain

pyarrow = pytest.importorskip("pyarrow", reason="corpora need pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")
TEXTS = {
    "en": [
        "the lower, lowest cat's hat\nis newer  than 1234 others\n",
        "",
        "low low-cost the\tcat <s> in 2024",
    ],
    "de": ["Öl für große Bäume\n\nund Vögel", "e\u0301té", "neu\n"],
    "hi": ["हिन्दी में लिखा हुआ", "क़िला १२३", "中文 字"],
    "": ["👋🏽 a\u00a0b \u2581 x", "\n", " "],
}
ALL = [text for texts in TEXTS.values() for text in texts]
DIALECTS = ["gpt4o", "qwen", "sentencepiece", "sennrich", "subword-nmt"]
DIALECTS += ["unknown-token", "byte-stream"]
WORDS = {"whitespace": r"\S+", "letters": None, r"[a-z]+": "[a-z]+"}


def trained(dialect, **options):
    """Train a small tokenizer of a dialect on some of the texts."""
    texts = [text for text in ALL if "👋" not in text] * 3
    options |= {"merges": 60, "dialect": dialect, "special_tokens": ["<s>"]}
    return bytepair.train_from_iterator(texts, **options)


@pytest.fixture(scope="module", params=DIALECTS)
def tokenizer(request):
    """Give a small tokenizer of each kind: of bytes, of characters, with marks, with unknown ones."""
    return trained(request.param)


@pytest.fixture(scope="module")
def small():
    """Give a small tokenizer of bytes."""
    return trained("gpt4o")


def texts_of(tokenizer):
    """Give the texts that a tokenizer can encode."""

    def can(text):
        try:
            return tokenizer.count(text) >= 0
        except TokenizerError:
            return False

    return {group: list(filter(can, texts)) for group, texts in TEXTS.items()}


def all_of(tokenizer):
    """Give these texts without their groups."""
    return [text for some in texts_of(tokenizer).values() for text in some]


# Every metric by brute force


def words_of(text, segmenter):
    """Give where the words of a text lie, in characters, without the project's splitter."""
    if segmenter != "letters":
        return [found.span() for found in re.finditer(WORDS[segmenter] or "", text)]
    kinds = "".join("w" if unicodedata.category(c)[0] in "LM" else "-" for c in text)
    return [found.span() for found in re.finditer("w+", kinds)]


class Slow:
    """The sums of texts, one text and one token at a time."""

    def __init__(self, tokenizer, texts, segmenter):
        self.tokenizer, self.texts = tokenizer, texts
        self.ids = []
        self.per_word = []
        self.pieces_per_word = []
        self.n_pieces = 0
        self.words = []
        for text in texts:
            encoding = tokenizer.encode_full(text)
            self.ids += encoding.ids
            self.n_pieces += len(set(encoding.word_ids))
            for start, end in words_of(text, segmenter):
                spans = zip(encoding.offsets, encoding.word_ids, strict=True)
                of_word = [n for (a, b), n in spans if a < end and b > start]
                self.words.append(text[start:end])
                self.per_word.append(len(of_word))
                self.pieces_per_word.append(len(set(of_word)))
        self.counts = Counter(self.ids)

    @property
    def tokens(self):
        """The model's own tokens, in bytes, a space being a space."""
        added = set(self.tokenizer.special_tokens.values())
        tokens = self.tokenizer.inspect().tokens()
        model = [one for one in tokens if one.kind in ("text", "byte")]
        found = {one.id: one.bytes for one in model if one.id not in added}
        if any("\u2581" in str(piece) for piece in self.tokenizer.split("a b")):
            mark = "\u2581".encode()
            return {id_: text.replace(mark, b" ") for id_, text in found.items()}
        return found


def share(part, whole):
    """Divide; what cannot be divided is none."""
    return part / whole if whole else None


def entropy(counts, order):
    """Give an entropy in bits, as it is written in books."""
    shares = [count / counts.total() for count in counts.values()]
    if order == 1:
        return -sum(p * math.log2(p) for p in shares)
    return math.log2(sum(p**order for p in shares)) / (1 - order)


def is_text(content):
    """Tell whole characters from parts of some."""
    return content.decode(errors="ignore").encode() == content


def of_tokens(slow, is_so):
    """Give the number of tokens that are so, and their share of occurrences."""
    found = {id_ for id_, content in slow.tokens.items() if is_so(content)}
    n_found = sum(slow.counts[id_] for id_ in found)
    return len(found), share(n_found, len(slow.ids))


def is_one(tokenizer, text):
    """Tell whether a text is one token; what cannot be encoded is none."""
    try:
        return tokenizer.count(text) == 1
    except TokenizerError:
        return False


def n_rare(slow, below, *, inner):
    """Count rare tokens that merges take, or that none does."""
    parts = {part for merge in slow.tokenizer.inspect().merge_log for part in merge[:2]}
    rare = [id_ for id_ in slow.tokens if slow.counts[id_] < below]
    return sum((id_ in parts) == inner for id_ in rare)


def expected_values(slow):
    """Work out every metric of all texts that needs no parallel text."""
    tokenizer, texts, counts = slow.tokenizer, slow.texts, slow.counts
    n_tokens, n_words = len(slow.ids), len(slow.words)
    n_bytes = sum(len(text.encode()) for text in texts)
    n_lines = sum(len(re.findall(r"[^\n]*\n|[^\n]+$", text)) for text in texts)
    n_vocabulary = sum(token is not None for token in tokenizer.vocabulary)
    types = set(slow.words)
    kinds = {
        "partial": lambda c: not is_text(c),
        "space": lambda c: c.startswith(b" "),
        "inner_space": lambda c: is_text(c) and re.search(r"\S\s+\S", c.decode()),
        "digit": lambda c: is_text(c) and any(map(str.isdecimal, c.decode())),
    }
    sorts = {}
    for name, is_so in kinds.items():
        sorts[f"{name}_tokens"], sorts[f"{name}_share"] = of_tokens(slow, is_so)
    rare = {
        f"{name}_{'inner' if inner else 'leaves'}": n_rare(slow, below, inner=inner)
        for name, below in (("unused", 1), ("below_20", 20), ("below_100", 100))
        for inner in (True, False)
    }
    most = math.log2(len(counts))
    return {
        "documents": len(texts),
        "lines": n_lines,
        "bytes": n_bytes,
        "characters": sum(map(len, texts)),
        "tokens": n_tokens,
        "pieces": slow.n_pieces,
        "words": n_words,
        "bytes_per_token": n_bytes / n_tokens,
        "characters_per_token": sum(map(len, texts)) / n_tokens,
        "tokens_per_line": n_tokens / n_lines,
        "tokens_per_piece": n_tokens / slow.n_pieces,
        "tokens_per_word": sum(slow.per_word) / n_words,
        "pieces_per_word": sum(slow.pieces_per_word) / n_words,
        "whole_words": sum(n == 1 for n in slow.per_word) / n_words,
        "continued_words": sum(n > 1 for n in slow.per_word) / n_words,
        "whole_types": sum(is_one(tokenizer, word) for word in types) / len(types),
        "whole_types_after_space": sum(is_one(tokenizer, f" {w}") for w in types)
        / len(types),
        "shannon_efficiency": entropy(counts, 1) / most,
        "shannon_efficiency_vocabulary": entropy(counts, 1) / math.log2(n_vocabulary),
        "renyi_efficiency": entropy(counts, 2.5) / most,
        "renyi_efficiency_vocabulary": entropy(counts, 2.5) / math.log2(n_vocabulary),
        "vocabulary": n_vocabulary,
        "used_tokens": len(counts),
        "used_share": len(counts) / n_vocabulary,
        **rare,
        **sorts,
    }


@pytest.mark.parametrize("segmenter", WORDS)
def test_every_metric_is_what_brute_force_gives(tokenizer, segmenter):
    """Ids, offsets and words of each text alone give the same numbers."""
    texts = all_of(tokenizer)
    found = stats_of({"a": measure_texts(tokenizer, texts, segmenter=segmenter)})
    values = {row.metric.key: row.values[0] for row in found.rows()}
    slow = Slow(tokenizer, texts, segmenter)
    expected = expected_values(slow)
    # Each piece that shares a byte with a word has a token that does.
    assert 1 <= values["pieces_per_word"] <= values["tokens_per_word"]
    unknown = values.pop("unknown_share")
    assert values == {key: pytest.approx(value) for key, value in expected.items()}
    tokens = tokenizer.inspect().tokens()
    n_unknown = sum(slow.counts[one.id] for one in tokens if one.kind == "unknown")
    assert unknown == pytest.approx(n_unknown / len(slow.ids))
    # With metrics of groups, which the next tests ask for, these are all.
    assert values.keys() | {"unknown_share"} == set(found.keys)
    unasked = METRICS.keys() - set(found.keys) - set(found.absent)
    assert unasked == {"missing", "missing_share"}
    assert set(found.absent) == {"premium", "gini", "most_to_fewest"}


def test_a_token_with_two_words_counts_for_each():
    """`low cost`, one token by a pattern that cuts nothing, is one token of two words."""
    tokenizer = bytepair.train_from_iterator(["low cost"] * 9, merges=99, pattern="")
    assert tokenizer.count("low cost") == 1
    sums = measure_texts(tokenizer, ["low cost"], segmenter="whitespace").total
    assert (sums.tokens, sums.words, sums.word_tokens, sums.whole_words) == (1, 2, 2, 2)


def test_words_that_the_tokenizer_drops_have_no_token():
    """They are words, in none and not in several."""
    tokenizer = bytepair.train_from_iterator(
        ["low cost"] * 9, pattern="[a-z]+", unmatched="drop", merges=9
    )
    sums = measure_texts(tokenizer, ["low 12 cost"], segmenter="whitespace").total
    assert (sums.words, sums.whole_words, sums.continued_words) == (3, 2, 0)


def test_scripts_are_those_of_the_characters(small):
    """Tokens by the script that their letters have, with their occurrences."""
    found = stats_of({"a": measure_texts(small, ALL)})
    rows = {row.script: row for row in found.scripts()}
    slow = Slow(small, ALL, "whitespace")
    letters = re.compile("[\u0900-\u0963\u0966-\u097f]")
    n_tokens, found_share = of_tokens(
        slow, lambda c: is_text(c) and letters.search(c.decode())
    )
    assert rows["Devanagari"].tokens == (n_tokens,)
    assert rows["Devanagari"].shares == (pytest.approx(found_share),)
    assert found_share > 0
    n_whole, _ = of_tokens(slow, is_text)
    assert sum(row.tokens[0] for row in rows.values()) == n_whole


# Groups


def test_groups_are_measured_as_if_each_were_alone(tokenizer):
    """Sums by group are those of its texts, and together they are those of all."""
    texts = texts_of(tokenizer)
    found = measure_texts(tokenizer, texts, segmenter="whitespace")
    assert list(found.groups) == sorted(group for group, some in texts.items() if some)
    for group, sums in found.groups.items():
        alone = measure_texts(tokenizer, texts[group], segmenter="whitespace").total
        assert same(sums, alone)
    every = measure_texts(tokenizer, all_of(tokenizer), segmenter="whitespace")
    assert same(found.total, every.total)


def same(first, second):
    """Compare sums, and the counts of all ids."""
    one, other = dict(vars(first)), dict(vars(second))
    return bool((one.pop("counts") == other.pop("counts")).all() and one == other)


def test_groups_of_parallel_text_are_compared_by_their_tokens(small):
    """Premium, Gini and the ratio of the extremes are those of sums of tokens."""
    texts = {group: TEXTS[group] for group in ("en", "de", "hi")}
    found = stats_of({"a": measure_texts(small, texts)}, baseline="en")
    costs = {group: sum(map(small.count, some)) for group, some in texts.items()}
    for group, cost in costs.items():
        assert found.row("premium", group).values == (cost / costs["en"],)
    mean = sum(costs.values()) / 3
    pairs = [abs(a - b) for a in costs.values() for b in costs.values()]
    assert found.row("gini").values == (pytest.approx(sum(pairs) / (18 * mean)),)
    extremes = max(costs.values()) / min(costs.values())
    assert found.row("most_to_fewest").values == (extremes,)
    assert found.row("premium").values == (None,)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({"a": ["x"], "b": ["x", "y"]}, "'a' has 1 documents and 'b' has 2"),
        ({"a": ["x\ny"], "b": ["x"]}, "'b' has 1 lines and 'a' has 2"),
        ({"a": ["x"]}, "at least two groups"),
        ({"b": ["x"], "c": ["y"]}, 'baseline="a" is not a group'),
    ],
)
def test_groups_that_say_different_things_are_not_compared(small, texts, message):
    """The error says what was found, and what to say."""
    measured = measure_texts(small, texts)
    with pytest.raises(TokenizerError, match=re.escape(message)):
        stats_of({"a": measured}, baseline="a")


def test_results_of_other_words_or_texts_are_not_compared(small):
    """Neither side by side with another segmenter, nor on another corpus."""
    first = measure_texts(small, ["low cost"], segmenter="letters")
    words = measure_texts(small, ["low cost"], segmenter="whitespace")
    texts = measure_texts(small, ["low costs"], segmenter="letters")
    with pytest.raises(TokenizerError, match="letters and whitespace"):
        stats_of({"a": first, "b": words})
    with pytest.raises(TokenizerError, match="different texts"):
        stats_of({"a": first, "b": texts})


def test_without_a_segmenter_words_end_at_white_space(small, tmp_path):
    """Distinct words are left out then, and all metrics of words where nothing was said of them."""
    (tmp_path / "a.txt").write_text("low cost\n low,low", encoding="utf-8")
    spaced = stats(small, tmp_path / "a.txt")
    assert spaced.row("words").values == (3,)
    assert "--segmenter" in plain(as_lines(spaced, 80))
    words = {metric.key for metric in SECTIONS["Words"]}
    for found, absent in (
        (spaced, {key for key in words if "types" in key}),
        (stats_of({"a": measure_texts(small, ALL)}), words),
    ):
        assert absent == {k for k, why in found.absent.items() if "segmenter" in why}
        assert not absent & {row.metric.key for row in found.rows()}


def test_a_verdict_is_true():
    """Shares are of the larger number; less than 1 % is a tie, and 99 % the most that is saved."""
    for counts, says in (
        ([100, 51], "b needs 49 % fewer tokens than a."),
        ([1000, 995], "b and a need about the same number of tokens, within 1 %."),
        ([7, 7], "a and b need the same number of tokens."),
        ([10_000, 1], "b needs 99 % fewer tokens than a."),
        ([1000, 2000, 1009], "a and c need the fewest tokens, within 1 % of each"),
        (
            [50, 80, 100],
            "a needs the fewest tokens: 38 % fewer than b, which is next, ",
        ),
    ):
        named = [Count(name, n) for name, n in zip("abc", counts, strict=False)]
        assert verdict(named)[0].startswith(f"On this corpus {says}")


def test_a_verdict_and_the_best_values_lead_the_table(tmp_path):
    """What a tokenizer loses follows the verdict, and a star marks each best value."""
    unknown = every_kind()["unknown and added"]
    texts = ["low é é"]
    named = {"u": unknown, "b": bytepair.train_from_iterator(texts, vocab_size=256)}
    found = {name: measure_texts(one, texts) for name, one in named.items()}
    lines = plain(as_lines(stats_of(found), 80)).splitlines()
    assert lines[0].startswith("On this corpus u needs ")
    assert lines[1] == "u replaces parts of it by 1 unknown token."
    [row] = [line.split() for line in lines if line.startswith("  tokens  ")]
    assert row == ["tokens", f"{unknown.count(texts[0])}*", "9"]
    compared = str(compare(*named.values(), texts=texts)).splitlines()
    assert compared[1] == "A replaces parts of it by 1 unknown token."


@pytest.mark.parametrize(
    ("segmenter", "message"),
    [
        ("words", "whitespace, letters"),
        ("white-space", "whitespace, letters"),
        ("", "whitespace, letters"),
        ("(a", r"segmenter=.*\(a"),
    ],
)
def test_a_segmenter_that_is_no_name_and_no_pattern_is_refused(
    small, segmenter, message
):
    """A pattern of plain letters would find that word alone; one that is not understood is named."""
    with pytest.raises(TokenizerError, match=message):
        measure_texts(small, ["low"], segmenter=segmenter)


# Corpora of every form


def written(folder, *names):
    """Write the texts with their groups in these files."""
    rows = [{"text": t, "lang": group} for group, texts in TEXTS.items() for t in texts]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    for name in names:
        path = folder / name
        if name.endswith(".gz"):
            path.write_bytes(gzip.compress(lines.encode()))
        elif name.endswith(".parquet"):
            parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        elif name.endswith(".csv"):
            with path.open("w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, ["text", "lang"])
                writer.writeheader()
                writer.writerows(rows)
        else:
            path.write_text(lines)
        yield path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet"])
def test_a_corpus_gives_the_same_numbers_in_every_form(small, tmp_path, name):
    """JSON lines, compressed or not, CSV and Parquet give what the texts give."""
    expected = measure_texts(small, TEXTS, segmenter="letters")
    [path] = written(tmp_path, name)
    for threads in (1, 3):
        options = {"segmenter": "letters", "threads": threads, "group": "lang"}
        found = measure(small, path, **options)
        assert same(found.total, expected.total)
        assert found.groups.keys() == expected.groups.keys()
        assert all(same(found.groups[g], expected.groups[g]) for g in found.groups)
        assert found.word_types == expected.word_types


@pytest.fixture(scope="module")
def long_text():
    """Give a text that is longer than what is measured in one go."""
    return "\n".join(f"{text} {n} low{n}er" for n in range(900) for text in ALL)


@pytest.mark.parametrize("segmenter", [None, "whitespace", "[^x]+"])
def test_a_long_text_is_measured_as_one(small, long_text, tmp_path, segmenter):
    """A file of one text is cut where neither tokens nor words change, whatever the threads."""
    path = tmp_path / "a.txt"
    path.write_text(long_text, encoding="utf-8", newline="")
    options = {"segmenter": segmenter}
    sums = [measure(small, path, **options, threads=n).total for n in (1, 3)]
    sums.append(measure_texts(small, [long_text], segmenter=segmenter).total)
    assert all(same(sums[0], other) for other in sums)
    assert sums[0].tokens == small.count(long_text)
    if segmenter is not None:
        pattern = {"whitespace": r"\S+"}.get(segmenter, segmenter)
        assert sums[0].words == len(re.findall(pattern, long_text))


def test_a_text_in_many_parts_has_the_sums_of_the_whole(tokenizer, tmp_path):
    """Offsets of the whole text give the same words, tokens and pieces, with a pattern or without."""
    some = all_of(tokenizer)
    text = "".join(f"{text} low " for _ in range(800) for text in some)
    encoding = tokenizer.encode_full(text)
    rows = zip(encoding.offsets, encoding.word_ids, strict=True)
    grouped = (list(group) for _, group in itertools.groupby(rows, lambda row: row[1]))
    pieces = [
        (min(start for (start, _), _ in group), max(end for (_, end), _ in group))
        for group in grouped
    ]
    words = [found.span() for found in re.finditer(r"\S+", text)]
    per_word = [n_sharing(encoding.offsets, words), n_sharing(pieces, words)]
    path = tmp_path / "a.txt"
    path.write_text(text, encoding="utf-8", newline="")
    for found in (
        measure_texts(tokenizer, [text], segmenter="whitespace").total,
        measure(tokenizer, path, segmenter="whitespace", threads=2).total,
    ):
        assert (found.tokens, found.pieces) == (len(encoding.ids), len(pieces))
        assert found.words == len(words)
        assert [found.word_tokens, found.word_pieces] == list(map(sum, per_word))
        assert found.whole_words == per_word[0].count(1)
    assert measure_texts(tokenizer, [text]).total.pieces == len(pieces)


def n_sharing(spans, words):
    """Count for each word the spans that share a character with it."""
    starts = sorted(start for start, _ in spans)
    ends = sorted(end for _, end in spans)
    return [
        bisect.bisect_left(starts, end) - bisect.bisect_right(ends, start)
        for start, end in words
    ]


def test_distinct_words_are_exact_whatever_the_memory(small, tmp_path, monkeypatch):
    """Those that memory has no room for are counted on disk; many threads have enough."""
    monkeypatch.setattr(_meter, "WORD_MEMORY", 46 << 20)
    path = tmp_path / "a.txt"
    path.write_text(" ".join(f"w{n % 90_000}" for n in range(200_000)))
    found = measure(small, path, segmenter="whitespace", threads=1)
    assert found.word_types is not None
    assert (found.word_types.types, found.total.words) == (90_000, 200_000)
    monkeypatch.undo()
    measure_texts(small, ["low"], segmenter="whitespace", threads=200)


def test_lines_and_separators_make_documents(small, tmp_path):
    """Documents of a text file are what training takes them for."""
    path = tmp_path / "a.txt"
    path.write_text("low\n\nlower\n")
    found = measure(small, path, lines=True).total
    assert (found.documents, found.lines) == (3, 2)
    path.write_text("low<>\nlower")
    found = measure(small, path, separator="<>").total
    assert (found.documents, found.lines, found.bytes) == (2, 3, 9)


def test_several_tokenizers_read_a_corpus_once(small, tmp_path):
    """Each measures what it measures alone, also by file."""
    other = trained("gpt2")
    for group, texts in TEXTS.items():
        (tmp_path / f"{group or 'none'}.txt").write_text("".join(texts))
    both = measure_all([small, other], tmp_path, by_file=True, segmenter="letters")
    for tokenizer, found in zip((small, other), both, strict=True):
        alone = measure(tokenizer, tmp_path, by_file=True, segmenter="letters")
        assert list(found.groups) == ["de.txt", "en.txt", "hi.txt", "none.txt"]
        assert all(same(found.groups[g], alone.groups[g]) for g in found.groups)
        assert found.word_types == alone.word_types


def test_bytes_that_are_no_text_are_measured(small):
    """Each is a byte, and a character unless it looks like the rest of one."""
    found = measure_texts(small, [b"\xff a\x80", b"\xe4\xb8"], segmenter="whitespace")
    total = found.total
    assert (total.bytes, total.characters, total.words) == (6, 4, 3)
    assert total.tokens == sum(map(small.count, [b"\xff a\x80", b"\xe4\xb8"]))


def test_groups_whose_names_are_no_text_stay_apart(small, tmp_path):
    """A name with a byte that is not UTF-8, and one that spells out its escape, are two groups."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,lang\nlow,caf\xe9\nlower,caf\\xe9\nlow,caf\\udce9\n")
    found = measure(small, path, group="lang")
    assert found.total.documents == len(found.groups) == 3
    names = [b"caf\\udce9", b"caf\\xe9", b"caf\xe9"]
    assert list(map(os.fsencode, found.groups)) == names


def test_nothing_has_no_ratios(small):
    """An empty corpus has sums of zero, and no quotient."""
    found = stats_of({"a": measure_texts(small, [], segmenter="letters")})
    assert found.row("tokens").values == (0,)
    ratios = ["bytes_per_token", "tokens_per_word", "renyi_efficiency", "whole_types"]
    for key in ratios:
        assert found.row(key).values == (None,)
    assert found.row("unused_leaves").values[0]


def test_an_error_names_the_file_and_the_tokenizer(tmp_path):
    """A text that is not UTF-8, and a field for a group that plain text has not."""
    tokenizer = bytepair.train_from_iterator(["low"], dialect="sennrich", merges=2)
    path = tmp_path / "a.txt"
    path.write_bytes(b"low \xff")
    with pytest.raises(TokenizerError, match=r"a\.txt: mine: .*not UTF-8 at byte 4"):
        measure_all({"mine": tokenizer}, path)
    text = tmp_path / "a.txt"
    text.write_text("low")
    with pytest.raises(TokenizerError, match=r"a\.txt.*group"):
        measure(tokenizer, text, group="lang")


def test_progress_goes_on_to_the_end(small, long_text, tmp_path):
    """It never goes back, and ends with all bytes of all files."""
    (tmp_path / "a.txt").write_text(long_text)
    (tmp_path / "b.jsonl").write_text('{"text": "low"}\n')
    told = []
    options = {"progress": lambda *step: told.append(step), "segmenter": "letters"}
    measure(small, tmp_path, **options)
    n_bytes = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert told == sorted(told, key=lambda step: step[0])
    assert told[-1] == (n_bytes, n_bytes)


# What is written


def test_records_have_every_value(small, tmp_path):
    """CSV, Parquet and JSON hold the same values as the rows."""
    tokenizers = {"a": small, "b": trained("gpt2")}
    found = stats_of({n: measure_texts(t, TEXTS) for n, t in tokenizers.items()})
    records = list(csv.DictReader(io.StringIO(found.to_csv())))
    rows = found.rows()
    assert len(records) == 2 * len(rows)
    path = tmp_path / "a.parquet"
    path.write_bytes(found.to_parquet())
    stored = parquet.read_table(path).to_pylist()
    whole = json.loads(found.to_json())
    for record, line in zip(stored, records, strict=True):
        names = [one["name"] for one in whole["tokenizers"]]
        tokenizer = whole["tokenizers"][names.index(record["tokenizer"])]
        group = record["group"]
        values = tokenizer["metrics"] if group is None else tokenizer["groups"][group]
        value = values[record["metric"]]
        assert record["value"] == value
        assert line["value"] == ("" if value is None else str(value))
        assert record["unit"] == whole["units"][record["metric"]]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_tables_fit_a_terminal(small, width):
    """No line is longer than the terminal, and every value stands in one."""
    names = ["published/very-long-name-of-a-tokenizer", "b", "c", "d"]
    measured = measure_texts(small, TEXTS, segmenter="whitespace")
    found = stats_of(dict.fromkeys(names, measured))
    lines = plain(as_lines(found, width)).splitlines()
    assert max(map(len, lines)) <= max(width, 40)
    tokens = f"{measured.total.tokens:,}"
    assert sum(line.split().count(tokens) for line in lines) >= len(names)


def files(folder):
    """Save two tokenizers."""
    paths = folder / "one.json", folder / "two.bytepair"
    trained("gpt4o").save(paths[0])
    trained("gpt2").save(paths[1])
    return str(paths[0]), str(paths[1])


def test_files_whose_names_are_not_utf8_are_groups(small, tmp_path):
    """Their names, and those of tokenizers, are written with escapes in every format."""
    folder, model = tmp_path / "texts", tmp_path / os.fsdecode(b"m\xe9.json")
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("low")
    (folder / "\x1b[31m.txt").write_text("lower")
    small.save(model)
    files = [tmp_path / name for name in ("a.json", "a.csv", "a.parquet")]
    outputs = [part for file in files for part in ("-o", file)]
    table = run("stats", model, folder, "--by-file", *outputs).stdout
    assert r"caf\udce9.txt" in table
    assert r"\x1b[31m.txt" in table
    [whole] = json.loads(files[0].read_bytes())["tokenizers"]
    names = {"m\udce9.json", "caf\udce9.txt", "\x1b[31m.txt"}
    assert {whole["name"], *whole["groups"]} == names
    lines = list(csv.DictReader(io.StringIO(files[1].read_bytes().decode())))
    for records in (lines, parquet.read_table(files[2]).to_pylist()):
        found = {record["tokenizer"] for record in records}
        found |= {record["group"] for record in records if record["group"]}
        assert found == {r"m\udce9.json", r"caf\udce9.txt", "\x1b[31m.txt"}


def test_stats_tells_tokenizers_from_the_corpus(tmp_path):
    """The first argument that is not a tokenizer begins the corpus; --tokenizer names one anywhere."""
    one, two = files(tmp_path)
    [corpus] = written(tmp_path, "a.jsonl")
    result = run("stats", one, two, corpus, "--json", "--group", "lang")
    found = json.loads(result.stdout)
    assert [t["name"] for t in found["tokenizers"]] == ["one.json", "two.bytepair"]
    n_tokens = found["tokenizers"][0]["metrics"]["tokens"]
    assert n_tokens == sum(map(Tokenizer.from_file(one).count, ALL))
    assert list(found["tokenizers"][1]["groups"]) == ["", "de", "en", "hi"]
    # A tokenizer's file is text, too.
    result = run("stats", "--tokenizer", one, two, "--input-format", "text", "--json")
    assert json.loads(result.stdout)["tokenizers"][0]["metrics"]["documents"] == 1
    assert "JSON lines are a corpus" in refused("stats", corpus)
    assert "--tokenizer" in refused("stats", one, two)


def test_stats_writes_files_by_their_endings(tmp_path):
    """JSON, CSV and Parquet, whatever the names, besides the table."""
    one, _two = files(tmp_path)
    [corpus] = written(tmp_path, "\x1b[31m.csv")
    names = ["o.json", "o.csv", "o.parquet"]
    outputs = [f"--output={tmp_path / name}" for name in names]
    options = ["--group", "lang", "--segmenter", "letters"]
    result = run("stats", one, corpus, *options, *outputs)
    assert "bytes per token" in result.stdout.lower()
    assert all((tmp_path / name).stat().st_size for name in names)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ("--metric premium", 2, "No such option '--metric'. Use -o FILE.csv"),
        ("--parallel", 2, "No such option '--parallel'. Use --baseline GROUP"),
        ("-o o.svg", 1, "ends with one of .json, .csv, .parquet"),
    ],
)
def test_options_and_files_that_do_not_exist_are_refused(
    tmp_path, options, code, message
):
    """The message says what to type instead."""
    one, _two = files(tmp_path)
    [corpus] = written(tmp_path, "a.csv")
    assert message in refused("stats", one, corpus, *options.split(), code=code)


def test_count_tokens_counts_each_file_and_all(tmp_path):
    """As ``wc`` does: a number and a name in a line, and the sum of several; without a file, standard input."""
    one, two = files(tmp_path)
    texts = {"a.txt": "low lower", "b.txt": "the cat's hat\n"}
    first, second = (tmp_path / name for name in texts)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    tokenizers = [Tokenizer.from_file(path) for path in (one, two)]
    counts = [[t.count(text) for t in tokenizers] for text in texts.values()]
    result = run("count-tokens", one, first)
    assert result.stdout.split() == [str(counts[0][0]), str(first)]
    found = json.loads(run("count-tokens", one, two, first, second, "--json").stdout)
    names = ["one.json", "two.bytepair"]
    assert [list(f["tokens"].values()) for f in found["files"]] == counts
    sums = [sum(pair) for pair in zip(*counts, strict=True)]
    assert found["total"] == dict(zip(names, sums, strict=True))
    result = run("count-tokens", one, first, second)
    assert result.stdout.splitlines()[-1].split() == [str(sums[0]), "total"]
    result = run_process("count-tokens", one, two, "--json", stdin=b"low lower")
    assert list(json.loads(result.stdout)["total"].values()) == counts[0]


def test_json_is_ascii_whatever_a_name_is(tmp_path):
    """A stream that cannot write a character writes an escape, which JSON does not know."""
    one, _two = files(tmp_path)
    corpus = tmp_path / "é.txt"
    corpus.write_text("low lower")
    for command in (["count-tokens"], ["stats", "--by-file"]):
        result = run(*command, one, corpus, "--json")
        assert result.stdout.isascii()
        assert corpus.name in str(json.loads(result.stdout))


def test_tokens_of_files_are_those_of_their_documents(small, tmp_path):
    """Of JSON lines the field with the text counts."""
    [path] = written(tmp_path, "a.jsonl")
    [(name, [sums])] = file_sums([small], path)
    assert (name, sums.tokens) == (str(path), sum(map(small.count, ALL)))
    [(_, [sums])] = file_sums([small], path, input_format="text")
    assert sums.tokens == small.count(path.read_text())


# What a floor tells


def test_the_floor_of_a_pattern_that_cuts_marks_off_shows():
    """Llama 3's pattern cuts Devanagari words in pieces, one of letters and marks does not."""
    words = "हिन्दी में लिखा हुआ"
    cutting = bytepair.train_from_iterator([words], merges=300, pattern="llama3")
    pattern = r" ?[\p{L}\p{M}]+|\s+"
    whole = bytepair.train_from_iterator([words], merges=300, pattern=pattern)
    measured = {
        name: measure_texts(tokenizer, [words], segmenter="whitespace")
        for name, tokenizer in (("cutting", cutting), ("whole", whole))
    }
    cut, uncut = stats_of(measured).row("pieces_per_word").values
    assert uncut == 1 < cut
