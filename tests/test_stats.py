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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import bytepair
from bytepair import Tokenizer, TokenizerError
from bytepair.analyze import (
    METRICS,
    _meter,
    file_tokens,
    measure,
    measure_all,
    measure_texts,
    stats_of,
)
from bytepair.cli.app import app
from bytepair.views._stats import as_lines, caveats

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
DIALECTS = [
    "gpt4o",
    "qwen",
    "sentencepiece",
    "sennrich",
    "subword-nmt",
    "unknown-token",
    "byte-stream",
]
WORDS = {"whitespace": r"\S+", "letters": None, r"[a-z]+": "[a-z]+"}


def trained(dialect: str, **options: Any) -> Tokenizer:
    """Train a small tokenizer of a dialect on some of the texts."""
    texts = [text for text in ALL if "👋" not in text] * 3
    return bytepair.train_from_iterator(
        texts, merges=60, dialect=dialect, special_tokens=["<s>"], **options
    )


@pytest.fixture(scope="module", params=DIALECTS)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    """Give a small tokenizer of each kind: of bytes, of characters, with marks, with unknown ones."""
    return trained(request.param)


@pytest.fixture(scope="module")
def small() -> Tokenizer:
    """Give a small tokenizer of bytes."""
    return trained("gpt4o")


def texts_of(tokenizer: Tokenizer) -> dict[str, list[str]]:
    """Give the texts that a tokenizer can encode."""

    def can(text: str) -> bool:
        try:
            return tokenizer.count(text) >= 0
        except TokenizerError:
            return False

    return {group: list(filter(can, texts)) for group, texts in TEXTS.items()}


# Every metric by brute force


def words_of(text: str, segmenter: str) -> list[tuple[int, int]]:
    """Give where the words of a text lie, in characters, without the project's splitter."""
    if segmenter != "letters":
        return [found.span() for found in re.finditer(WORDS[segmenter] or "", text)]
    kinds = "".join("w" if unicodedata.category(c)[0] in "LM" else "-" for c in text)
    return [found.span() for found in re.finditer("w+", kinds)]


class Slow:
    """The sums of texts, one text and one token at a time."""

    def __init__(self, tokenizer: Tokenizer, texts: list[str], segmenter: str) -> None:
        self.tokenizer, self.texts = tokenizer, texts
        self.ids: list[int] = []
        self.per_word: list[int] = []
        self.pieces_per_word: list[int] = []
        self.n_pieces = 0
        self.words: list[str] = []
        for text in texts:
            encoding = tokenizer.encode_full(text)
            self.ids += encoding.ids
            self.n_pieces += len(set(encoding.word_ids))
            for start, end in words_of(text, segmenter):
                of_word = [
                    piece
                    for (first, last), piece in zip(
                        encoding.offsets, encoding.word_ids, strict=True
                    )
                    if first < end and last > start
                ]
                self.words.append(text[start:end])
                self.per_word.append(len(of_word))
                self.pieces_per_word.append(len(set(of_word)))
        self.counts = Counter(self.ids)

    @property
    def tokens(self) -> dict[int, bytes]:
        """The model's own tokens, in bytes, a space being a space."""
        added = set(self.tokenizer.special_tokens.values())
        (data, ends), kinds = bytepair._core.token_table(self.tokenizer)
        found = {}
        for id_, kind in enumerate(kinds):
            if kind < 2 and id_ not in added:
                text = data[ends[id_] : ends[id_ + 1]].tobytes()
                is_marked = any("\u2581" in str(p) for p in self.tokenizer.split("a b"))
                found[id_] = (
                    text.replace("\u2581".encode(), b" ") if is_marked else text
                )
        return found


def share(part: int, whole: int) -> float | None:
    """Divide; what cannot be divided is none."""
    return part / whole if whole else None


def entropy(counts: Counter[int], order: float) -> float:
    """Give an entropy in bits, as it is written in books."""
    shares = [count / counts.total() for count in counts.values()]
    if order == 1:
        return -sum(p * math.log2(p) for p in shares)
    return math.log2(sum(p**order for p in shares)) / (1 - order)


def is_text(content: bytes) -> bool:
    """Tell whole characters from parts of some."""
    return content.decode(errors="ignore").encode() == content


def of_tokens(slow: Slow, is_so: Callable[[bytes], bool]) -> tuple[int, float | None]:
    """Give the number of tokens that are so, and their share of occurrences."""
    found = {id_ for id_, content in slow.tokens.items() if is_so(content)}
    n_found = sum(slow.counts[id_] for id_ in found)
    return len(found), share(n_found, len(slow.ids))


def is_one(tokenizer: Tokenizer, text: str) -> bool:
    """Tell whether a text is one token; what cannot be encoded is none."""
    try:
        return tokenizer.count(text) == 1
    except TokenizerError:
        return False


def n_rare(slow: Slow, below: int, *, inner: bool) -> int:
    """Count rare tokens that merges take, or that none does."""
    parts = {
        part for left, right, *_ in slow.tokenizer.merge_log for part in (left, right)
    }
    return sum(
        slow.counts[id_] < below and (id_ in parts) == inner for id_ in slow.tokens
    )


def expected_values(slow: Slow) -> dict[str, Any]:
    """Work out every metric of all texts that needs no parallel text."""
    tokenizer, texts, counts = slow.tokenizer, slow.texts, slow.counts
    n_tokens, n_words = len(slow.ids), len(slow.words)
    n_bytes = sum(len(text.encode()) for text in texts)
    n_lines = sum(len(re.findall(r"[^\n]*\n|[^\n]+$", text)) for text in texts)
    n_vocabulary = sum(token is not None for token in tokenizer.vocabulary)
    types = set(slow.words)
    partial = of_tokens(slow, lambda content: not is_text(content))
    space = of_tokens(slow, lambda content: content.startswith(b" "))
    inner_space = of_tokens(
        slow, lambda c: is_text(c) and re.search(r"\S\s+\S", c.decode()) is not None
    )
    digit = of_tokens(
        slow, lambda c: is_text(c) and any(map(str.isdecimal, c.decode()))
    )
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
        "lines_per_token": n_lines / n_tokens,
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
        "partial_tokens": partial[0],
        "partial_share": partial[1],
        "space_tokens": space[0],
        "space_share": space[1],
        "inner_space_tokens": inner_space[0],
        "inner_space_share": inner_space[1],
        "digit_tokens": digit[0],
        "digit_share": digit[1],
    }


@pytest.mark.parametrize("segmenter", WORDS)
def test_every_metric_is_what_brute_force_gives(
    tokenizer: Tokenizer, segmenter: str
) -> None:
    """Ids, offsets and words of each text alone give the same numbers."""
    texts = [text for some in texts_of(tokenizer).values() for text in some]
    found = stats_of({"a": measure_texts(tokenizer, texts, segmenter=segmenter)})
    values = {row.metric.key: row.values[0] for row in found.rows()}
    slow = Slow(tokenizer, texts, segmenter)
    expected = expected_values(slow)
    unknown = values.pop("unknown_share")
    assert values == {key: pytest.approx(value) for key, value in expected.items()}
    kinds = bytepair._core.token_table(tokenizer)[1]
    n_unknown = sum(slow.counts[id_] for id_, kind in enumerate(kinds) if kind == 2)
    assert unknown == pytest.approx(n_unknown / len(slow.ids))
    # With metrics of groups, which the next tests ask for, these are all.
    assert values.keys() | {"unknown_share"} == set(found.keys)
    assert METRICS.keys() - set(found.keys) - set(found.absent) == {
        "missing",
        "missing_share",
    }
    assert set(found.absent) == {"premium", "gini", "most_to_fewest"}


def test_the_floor_is_never_above_tokens_per_word(tokenizer: Tokenizer) -> None:
    """Each piece that shares a byte with a word has a token that does."""
    texts = [text for some in texts_of(tokenizer).values() for text in some]
    for segmenter in WORDS:
        sums = measure_texts(tokenizer, texts, segmenter=segmenter).total
        assert sums.words <= sums.word_pieces <= sums.word_tokens


def test_a_token_with_two_words_counts_for_each() -> None:
    """`low cost`, one token by a pattern that cuts nothing, is one token of two words."""
    tokenizer = bytepair.train_from_iterator(["low cost"] * 9, merges=99, pattern="")
    assert tokenizer.count("low cost") == 1
    sums = measure_texts(tokenizer, ["low cost"], segmenter="whitespace").total
    assert (sums.tokens, sums.words, sums.word_tokens, sums.whole_words) == (1, 2, 2, 2)


def test_words_that_the_tokenizer_drops_have_no_token() -> None:
    """They are words, in none and not in several."""
    tokenizer = bytepair.train_from_iterator(
        ["low cost"] * 9, pattern="[a-z]+", unmatched="drop", merges=9
    )
    sums = measure_texts(tokenizer, ["low 12 cost"], segmenter="whitespace").total
    assert (sums.words, sums.whole_words, sums.continued_words) == (3, 2, 0)


def test_scripts_are_those_of_the_characters(small: Tokenizer) -> None:
    """Tokens by the script that their letters have, with their occurrences."""
    found = stats_of({"a": measure_texts(small, ALL)})
    rows = {row.script: row for row in found.scripts()}
    slow = Slow(small, ALL, "whitespace")
    devanagari = [
        id_
        for id_, content in slow.tokens.items()
        if is_text(content)
        and re.search("[\u0900-\u0963\u0966-\u097f]", content.decode())
    ]
    assert rows["Devanagari"].tokens == (len(devanagari),)
    n_found = sum(slow.counts[id_] for id_ in devanagari)
    assert rows["Devanagari"].shares == (pytest.approx(n_found / len(slow.ids)),)
    assert n_found > 0
    whole = [id_ for id_, content in slow.tokens.items() if is_text(content)]
    assert sum(row.tokens[0] for row in rows.values()) == len(whole)


# Groups


def test_groups_are_measured_as_if_each_were_alone(tokenizer: Tokenizer) -> None:
    """Sums by group are those of its texts, and together they are those of all."""
    texts = texts_of(tokenizer)
    found = measure_texts(tokenizer, texts, segmenter="whitespace")
    assert list(found.groups) == sorted(group for group, some in texts.items() if some)
    for group, sums in found.groups.items():
        alone = measure_texts(tokenizer, texts[group], segmenter="whitespace").total
        assert same(sums, alone)
    every = [text for some in texts.values() for text in some]
    assert same(
        found.total, measure_texts(tokenizer, every, segmenter="whitespace").total
    )


def same(first: Any, second: Any) -> bool:
    """Compare sums, and the counts of all ids."""
    one, other = dict(vars(first)), dict(vars(second))
    return bool((one.pop("counts") == other.pop("counts")).all() and one == other)


def test_groups_of_parallel_text_are_compared_by_their_tokens(small: Tokenizer) -> None:
    """Premium, Gini and the ratio of the extremes are those of sums of tokens."""
    texts = {group: TEXTS[group] for group in ("en", "de", "hi")}
    found = stats_of({"a": measure_texts(small, texts)}, parallel=True, baseline="en")
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
    ("texts", "options", "message"),
    [
        (
            {"a": ["x"], "b": ["x", "y"]},
            {"parallel": True},
            "'a' has 1 documents and 'b' has 2",
        ),
        (
            {"a": ["x\ny"], "b": ["x"]},
            {"parallel": True},
            "'b' has 1 lines and 'a' has 2",
        ),
        ({"a": ["x"]}, {"parallel": True}, "at least two groups"),
        ({"a": ["x"], "b": ["y"]}, {"baseline": "a"}, "parallel=True"),
        (
            {"a": ["x"], "b": ["y"]},
            {"parallel": True, "baseline": "c"},
            'baseline="c" is not a group',
        ),
    ],
)
def test_groups_that_say_different_things_are_not_compared(
    small: Tokenizer, texts: Any, options: dict[str, Any], message: str
) -> None:
    """The error says what was found, and what to say."""
    measured = measure_texts(small, texts)
    with pytest.raises(TokenizerError, match=re.escape(message)):
        stats_of({"a": measured}, **options)


def test_results_of_other_words_or_texts_are_not_compared(small: Tokenizer) -> None:
    """Neither side by side with another segmenter, nor on another corpus."""
    first = measure_texts(small, ["low cost"], segmenter="letters")
    words = measure_texts(small, ["low cost"], segmenter="whitespace")
    texts = measure_texts(small, ["low costs"], segmenter="letters")
    with pytest.raises(TokenizerError, match="letters and whitespace"):
        stats_of({"a": first, "b": words})
    with pytest.raises(TokenizerError, match="different texts"):
        stats_of({"a": first, "b": texts})


def test_without_a_segmenter_there_are_no_words(small: Tokenizer) -> None:
    """Metrics of words are absent, and it is said why."""
    found = stats_of({"a": measure_texts(small, ALL)})
    words = {key for key, metric in METRICS.items() if metric.need == "segmenter"}
    assert words == {k for k, why in found.absent.items() if "segmenter" in why}
    assert not words & {row.metric.key for row in found.rows()}
    assert any("--segmenter" in line.text for line in as_lines(found, 80))


@pytest.mark.parametrize("name", ["words", "white-space", ""])
def test_a_segmenter_that_is_no_name_is_refused(small: Tokenizer, name: str) -> None:
    """A pattern of plain letters would find that word alone."""
    with pytest.raises(TokenizerError, match="whitespace, letters"):
        measure_texts(small, ["low"], segmenter=name)


def test_a_segmenter_that_is_not_understood_is_named(small: Tokenizer) -> None:
    """The error is that of a pattern, and says which."""
    with pytest.raises(bytepair.PatternError, match=r"segmenter=.*\(a"):
        measure_texts(small, ["low"], segmenter="(a")


# Corpora of every form


def written(folder: Path) -> dict[str, tuple[Path, dict[str, Any]]]:
    """Write the texts in every form that has groups."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [
        {"text": text, "lang": group}
        for group, texts in TEXTS.items()
        for text in texts
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "a.jsonl").write_text(lines)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["text", "lang"])
        writer.writeheader()
        writer.writerows(rows)
    parquet.write_table(pa.Table.from_pylist(rows), folder / "a.parquet")
    return {
        name: (folder / name, {"group": "lang"})
        for name in ("a.jsonl", "a.jsonl.gz", "a.csv", "a.parquet")
    }


def test_a_corpus_gives_the_same_numbers_in_every_form(
    small: Tokenizer, tmp_path: Path
) -> None:
    """JSON lines, compressed or not, CSV and Parquet give what the texts give."""
    expected = measure_texts(small, TEXTS, segmenter="letters")
    for path, options in written(tmp_path).values():
        for threads in (1, 3):
            found = measure(
                small, path, segmenter="letters", threads=threads, **options
            )
            assert same(found.total, expected.total)
            assert found.groups.keys() == expected.groups.keys()
            assert all(same(found.groups[g], expected.groups[g]) for g in found.groups)
            assert found.word_types == expected.word_types


@pytest.fixture(scope="module")
def long_text() -> str:
    """Give a text that is longer than what is measured in one go."""
    return "\n".join(f"{text} {n} low{n}er" for n in range(900) for text in ALL)


@pytest.mark.parametrize("segmenter", [None, "whitespace", "[^x]+"])
def test_a_long_text_is_measured_as_one(
    small: Tokenizer, long_text: str, tmp_path: Path, segmenter: str | None
) -> None:
    """A file of one text is cut where neither tokens nor words change, whatever the threads."""
    path = tmp_path / "a.txt"
    path.write_text(long_text, encoding="utf-8", newline="")
    sums = [
        measure(small, path, segmenter=segmenter, threads=threads).total
        for threads in (1, 3)
    ]
    sums.append(measure_texts(small, [long_text], segmenter=segmenter).total)
    assert all(same(sums[0], other) for other in sums)
    assert sums[0].tokens == small.count(long_text)
    if segmenter is not None:
        pattern = {"whitespace": r"\S+"}.get(segmenter, segmenter)
        assert sums[0].words == len(re.findall(pattern, long_text))


def test_a_text_in_many_parts_has_the_sums_of_the_whole(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Offsets of the whole text give the same words, tokens and pieces, with a pattern or without."""
    some = [text for texts in texts_of(tokenizer).values() for text in texts]
    text = "".join(f"{text} low " for _ in range(800) for text in some)
    encoding = tokenizer.encode_full(text)
    pieces = [
        (min(start for start, _ in spans), max(end for _, end in spans))
        for spans in (
            [span for span, _ in group]
            for _, group in itertools.groupby(
                zip(encoding.offsets, encoding.word_ids, strict=True), lambda x: x[1]
            )
        )
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


def n_sharing(spans: list[tuple[int, int]], words: list[tuple[int, int]]) -> list[int]:
    """Count for each word the spans that share a character with it."""
    starts = sorted(start for start, _ in spans)
    ends = sorted(end for _, end in spans)
    return [
        bisect.bisect_left(starts, end) - bisect.bisect_right(ends, start)
        for start, end in words
    ]


def test_distinct_words_are_exact_whatever_the_memory(
    small: Tokenizer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that memory has no room for are counted on disk; many threads have enough."""
    monkeypatch.setattr(_meter, "WORD_MEMORY", 46 << 20)
    path = tmp_path / "a.txt"
    path.write_text(" ".join(f"w{n % 90_000}" for n in range(200_000)))
    found = measure(small, path, segmenter="whitespace", threads=1)
    assert found.word_types is not None
    assert (found.word_types.types, found.total.words) == (90_000, 200_000)
    monkeypatch.undo()
    measure_texts(small, ["low"], segmenter="whitespace", threads=200)


def test_lines_and_separators_make_documents(small: Tokenizer, tmp_path: Path) -> None:
    """Documents of a text file are what training takes them for."""
    path = tmp_path / "a.txt"
    path.write_text("low\n\nlower\n")
    found = measure(small, path, lines=True).total
    assert (found.documents, found.lines) == (3, 2)
    path.write_text("low<>\nlower")
    found = measure(small, path, separator="<>").total
    assert (found.documents, found.lines, found.bytes) == (2, 3, 9)


def test_several_tokenizers_read_a_corpus_once(
    small: Tokenizer, tmp_path: Path
) -> None:
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


def test_bytes_that_are_no_text_are_measured(small: Tokenizer) -> None:
    """Each is a byte, and a character unless it looks like the rest of one."""
    found = measure_texts(small, [b"\xff a\x80", b"\xe4\xb8"], segmenter="whitespace")
    total = found.total
    assert (total.bytes, total.characters, total.words) == (6, 4, 3)
    assert total.tokens == sum(map(small.count, [b"\xff a\x80", b"\xe4\xb8"]))


def test_groups_whose_names_are_no_text_stay_apart(
    small: Tokenizer, tmp_path: Path
) -> None:
    """A name with a byte that is not UTF-8, and one that spells out its escape, are two groups."""
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,lang\nlow,caf\xe9\nlower,caf\\xe9\nlow,caf\\udce9\n")
    found = measure(small, path, group="lang")
    assert found.total.documents == len(found.groups) == 3
    assert [os.fsencode(name) for name in found.groups] == [
        b"caf\\udce9",
        b"caf\\xe9",
        b"caf\xe9",
    ]


def test_nothing_has_no_ratios(small: Tokenizer) -> None:
    """An empty corpus has sums of zero, and no quotient."""
    found = stats_of({"a": measure_texts(small, [], segmenter="letters")})
    assert found.row("tokens").values == (0,)
    for key in (
        "bytes_per_token",
        "tokens_per_word",
        "renyi_efficiency",
        "whole_types",
    ):
        assert found.row(key).values == (None,)
    assert found.row("unused_leaves").values[0]


def test_an_error_names_the_file_and_the_tokenizer(tmp_path: Path) -> None:
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


def test_progress_goes_on_to_the_end(
    small: Tokenizer, long_text: str, tmp_path: Path
) -> None:
    """It never goes back, and ends with all bytes of all files."""
    (tmp_path / "a.txt").write_text(long_text)
    (tmp_path / "b.jsonl").write_text('{"text": "low"}\n')
    told: list[tuple[int, int | None]] = []
    measure(
        small,
        tmp_path,
        segmenter="letters",
        progress=lambda done, total: told.append((done, total)),
    )
    n_bytes = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert told == sorted(told, key=lambda step: step[0])
    assert told[-1] == (n_bytes, n_bytes)


# What is written


def test_records_have_every_value(small: Tokenizer, tmp_path: Path) -> None:
    """CSV, Parquet and JSON hold the same values as the rows."""
    from pyarrow import parquet

    found = stats_of(
        {"a": measure_texts(small, TEXTS), "b": measure_texts(trained("gpt2"), TEXTS)}
    )
    records = list(csv.DictReader(io.StringIO(found.to_csv())))
    rows = found.rows()
    assert len(records) == 2 * len(rows)
    path = tmp_path / "a.parquet"
    path.write_bytes(found.to_parquet())
    stored = parquet.read_table(path).to_pylist()
    whole = json.loads(found.to_json())
    for record, line in zip(stored, records, strict=True):
        [tokenizer] = [
            t for t in whole["tokenizers"] if t["name"] == record["tokenizer"]
        ]
        group = record["group"]
        values = tokenizer["metrics"] if group is None else tokenizer["groups"][group]
        value = values[record["metric"]]
        assert record["value"] == value
        assert line["value"] == ("" if value is None else str(value))
        assert record["unit"] == whole["units"][record["metric"]]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_tables_fit_a_terminal(small: Tokenizer, width: int) -> None:
    """No line is longer than the terminal, and every value stands in one."""
    names = ["published/very-long-name-of-a-tokenizer", "b", "c", "d"]
    measured = measure_texts(small, TEXTS, segmenter="whitespace")
    found = stats_of(dict.fromkeys(names, measured))
    lines = [line.text for line in as_lines(found, width)]
    assert max(map(len, lines)) <= max(width, 40)
    tokens = f"{measured.total.tokens:,}"
    assert sum(line.split().count(tokens) for line in lines) >= len(names)
    assert any("STRR" in line.text for line in caveats(found, width))


def files(folder: Path) -> tuple[str, str]:
    """Save two tokenizers."""
    paths = folder / "one.json", folder / "two.bytepair"
    trained("gpt4o").save(paths[0])
    trained("gpt2").save(paths[1])
    return str(paths[0]), str(paths[1])


def test_files_whose_names_are_not_utf8_are_groups(
    small: Tokenizer, tmp_path: Path
) -> None:
    """Their names, and those of tokenizers, are written with escapes in every format."""
    from pyarrow import parquet

    folder, model = tmp_path / "texts", tmp_path / os.fsdecode(b"m\xe9.json")
    folder.mkdir()
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("low")
    (folder / "\x1b[31m.txt").write_text("lower")
    small.save(model)
    files = [tmp_path / name for name in ("a.json", "a.csv", "a.parquet", "a.svg")]
    outputs = [part for file in files for part in ("-o", file)]
    table = run("stats", model, folder, "--by-file", *outputs)
    assert table.exit_code == 0, table.output
    assert r"caf\udce9.txt" in table.stdout
    assert r"\x1b[31m.txt" in table.stdout
    [whole] = json.loads(files[0].read_bytes())["tokenizers"]
    names = {"m\udce9.json", "caf\udce9.txt", "\x1b[31m.txt"}
    assert {whole["name"], *whole["groups"]} == names
    lines = list(csv.DictReader(io.StringIO(files[1].read_bytes().decode())))
    for records in (lines, parquet.read_table(files[2]).to_pylist()):
        found = {record["tokenizer"] for record in records}
        found |= {record["group"] for record in records if record["group"]}
        assert found == {r"m\udce9.json", r"caf\udce9.txt", "\x1b[31m.txt"}
    assert b"<svg" in files[3].read_bytes()


def run(*arguments: Any, **options: Any) -> Any:
    """Run a command."""
    return CliRunner().invoke(app, list(map(str, arguments)), **options)


def test_stats_tells_tokenizers_from_the_corpus(tmp_path: Path) -> None:
    """The first argument that is not a tokenizer begins the corpus; --tokenizer names one anywhere."""
    one, two = files(tmp_path)
    corpus, _ = written(tmp_path)["a.jsonl"]
    result = run("stats", one, two, corpus, "--json", "--group", "lang")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [t["name"] for t in found["tokenizers"]] == ["one.json", "two.bytepair"]
    n_tokens = found["tokenizers"][0]["metrics"]["tokens"]
    assert n_tokens == sum(map(Tokenizer.from_file(one).count, ALL))
    assert list(found["tokenizers"][1]["groups"]) == ["", "de", "en", "hi"]
    # A tokenizer's file is text, too.
    result = run("stats", "--tokenizer", one, two, "--input-format", "text", "--json")
    assert json.loads(result.stdout)["tokenizers"][0]["metrics"]["documents"] == 1
    result = run("stats", corpus)
    assert (result.exit_code, "not a tokenizer" in result.stderr) == (1, True)
    result = run("stats", one, two)
    assert (result.exit_code, "--tokenizer" in result.stderr) == (1, True)


def test_stats_writes_files_by_their_endings(tmp_path: Path) -> None:
    """Numbers and plots, the same each time; another ending is refused before the work."""
    pytest.importorskip("matplotlib")
    one, _two = files(tmp_path)
    corpus, _ = written(tmp_path)["a.csv"]
    names = ["o.json", "o.csv", "o.parquet", "o.svg", "o.png"]
    outputs = [f"--output={tmp_path / name}" for name in names]
    options = ["--group", "lang", "--segmenter", "letters"]
    result = run("stats", one, corpus, *options, *outputs, "--explain")
    assert result.exit_code == 0, result.output
    assert "STRR" in result.stdout
    assert "bytes per token" in result.stdout.lower()
    assert all((tmp_path / name).stat().st_size for name in names)
    plot = (tmp_path / "o.svg").read_bytes()
    run("stats", one, corpus, *options, outputs[3], "--quiet")
    assert (tmp_path / "o.svg").read_bytes() == plot
    result = run("stats", one, corpus, "-o", tmp_path / "o.txt")
    assert (result.exit_code, ".parquet" in result.stderr) == (1, True)


def test_quiet_stats_print_the_table_unless_they_write_a_file(tmp_path: Path) -> None:
    """Without a file, the table is the result; -q leaves out the progress."""
    one, _two = files(tmp_path)
    corpus, _ = written(tmp_path)["a.csv"]
    table = run("stats", one, corpus).stdout
    assert run("stats", one, corpus, "-q").stdout == table != ""
    result = run("stats", one, corpus, "-q", "-o", tmp_path / "o.json")
    assert (result.exit_code, result.output) == (0, "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--explain", "--json"], "--explain affects only the table"),
        (["--explain", "-q", "-o", "o.csv"], "--explain affects only the table"),
        (
            ["--metric", "premium", "--csv", "--by-file"],
            "--metric affects only the table",
        ),
        (["--metric", "premium"], "give --group or --by-file"),
    ],
)
def test_options_of_the_table_are_refused_without_it(
    tmp_path: Path, options: list[str], message: str
) -> None:
    """No option is swallowed."""
    one, _two = files(tmp_path)
    corpus, _ = written(tmp_path)["a.csv"]
    result = run("stats", one, corpus, *options)
    assert (result.exit_code, message in result.stderr) == (1, True)


def test_count_tokens_counts_each_file_and_all(tmp_path: Path) -> None:
    """As ``wc`` does: a number and a name in a line, and the sum of several."""
    one, two = files(tmp_path)
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("low lower")
    second.write_text("the cat's hat\n")
    tokenizers = [Tokenizer.from_file(path) for path in (one, two)]
    counts = [[t.count(p.read_text()) for t in tokenizers] for p in (first, second)]
    result = run("count-tokens", one, first)
    assert result.stdout.split() == [str(counts[0][0]), str(first)]
    result = run("count-tokens", one, two, first, second, "--json")
    found = json.loads(result.stdout)
    names = ["one.json", "two.bytepair"]
    assert [list(f["tokens"].values()) for f in found["files"]] == counts
    sums = [sum(pair) for pair in zip(*counts, strict=True)]
    assert found["total"] == dict(zip(names, sums, strict=True))
    result = run("count-tokens", one, first, second)
    assert result.stdout.splitlines()[-1].split() == [str(sums[0]), "total"]


def test_json_is_ascii_whatever_a_name_is(tmp_path: Path) -> None:
    """A stream that cannot write a character writes an escape, which JSON does not know."""
    one, _two = files(tmp_path)
    corpus = tmp_path / "é.txt"
    corpus.write_text("low lower")
    for command in (["count-tokens"], ["stats", "--by-file"]):
        result = run(*command, one, corpus, "--json")
        assert result.stdout.isascii()
        assert corpus.name in str(json.loads(result.stdout))


def test_count_tokens_reads_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no file is named; several tokenizers read it, too."""
    import subprocess
    import sys

    one, two = files(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "bytepair", "count-tokens", one, two, "--json"],
        input=b"low lower\nlowest",
        capture_output=True,
        check=True,
    )
    expected = [Tokenizer.from_file(p).count("low lower\nlowest") for p in (one, two)]
    assert list(json.loads(done.stdout)["total"].values()) == expected


def test_tokens_of_files_are_those_of_their_documents(
    small: Tokenizer, tmp_path: Path
) -> None:
    """Of JSON lines the field with the text counts."""
    path, _ = written(tmp_path)["a.jsonl"]
    assert file_tokens([small], path) == [(str(path), (sum(map(small.count, ALL)),))]
    n_bytes = file_tokens([small], path, input_format="text")[0][1][0]
    assert n_bytes == small.count(path.read_text())


# What a floor tells


def test_the_floor_of_a_pattern_that_cuts_marks_off_shows() -> None:
    """Llama 3's pattern cuts Devanagari words in pieces, one of letters and marks does not."""
    words = "हिन्दी में लिखा हुआ"
    cutting = bytepair.train_from_iterator([words], merges=300, pattern="llama3")
    whole = bytepair.train_from_iterator(
        [words], merges=300, pattern=r" ?[\p{L}\p{M}]+|\s+"
    )
    floors = [
        stats_of({"a": measure_texts(t, [words], segmenter="whitespace")})
        .row("pieces_per_word")
        .values[0]
        for t in (cutting, whole)
    ]
    assert floors[1] == 1 < floors[0]
