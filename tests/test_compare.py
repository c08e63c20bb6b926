"""Comparing two tokenizers: each number beside one that is worked out from the lists of both."""

import gzip
import itertools
import json
import random
from pathlib import Path

import pytest
from tests import commands

import bytepair
from bytepair import Tokenizer, surgery
from bytepair.analyze import compare
from bytepair.analyze._compare import comparing
from bytepair.analyze._stats import measure as _measure

TEXTS = ["low lower lowest", "it's newer, newest", "widest wide", "", "🙂 low 🙂", "é"]


def trained(text, vocab_size, **options):
    """Train a small tokenizer."""
    return bytepair.train_from_iterator([text] * 3, vocab_size=vocab_size, **options)


@pytest.fixture(scope="module")
def pair():
    """Two tokenizers of bytes that learned different texts, with different patterns."""
    first = trained("low lower lowest wide wider it's", 270, special_tokens=["<a>"])
    second = trained("newer newest widest low", 268, dialect="gpt2")
    return first, second.with_special_tokens({"<a>": 300, "<b>": 301})


# Vocabularies and merges


def ids_of(tokenizer):
    """Map each token, written as bytes, to its id."""
    tokens = enumerate(tokenizer.vocabulary)
    written = ((t.encode() if isinstance(t, str) else t, id_) for id_, t in tokens)
    return {token: id_ for token, id_ in written if token is not None}


def bytes_of(rows):
    """Map the tokens of a comparison, written as bytes, to their ids."""
    return {t.encode() if isinstance(t, str) else t: id_ for t, id_ in rows}


def test_tokens_of_one_alone_and_other_ids_are_those_of_the_lists(pair):
    """Sets of the two lists of tokens give the same rows."""
    found = compare(*pair).vocabulary
    here, there = map(ids_of, pair)
    assert (found.n_first, found.n_second) == (len(here), len(there))
    common = here.keys() & there.keys()
    assert found.n_common == len(common)
    assert bytes_of(found.only_in_first) == {t: here[t] for t in here.keys() - common}
    only = {t: there[t] for t in there.keys() - common}
    assert bytes_of(found.only_in_second) == only
    moved = {t: (here[t], there[t]) for t in common if here[t] != there[t]}
    assert bytes_of((t, (a, b)) for t, (a,), (b,) in found.moved) == moved
    assert (found.n_moved, found.is_same) == (len(moved), False)


def test_merges_are_those_of_the_lists(pair):
    """Those of one alone, and those of both, with their places in the lists."""
    found = compare(*pair).merges
    here, there = pair[0].merges, pair[1].merges
    assert (found.n_first, found.n_second) == (len(here), len(there))
    assert [m[1:] for m in found.only_in_first] == [m for m in here if m not in there]
    assert [m[1:] for m in found.only_in_second] == [m for m in there if m not in here]
    assert all(here[m.rank] == m[1:] for m in found.only_in_first)
    assert found.n_common == len(set(here) & set(there))
    for first, second, *merge in found.moved:
        assert here[first] == there[second] == tuple(merge)


def test_a_smaller_vocabulary_is_the_beginning_of_a_larger_one():
    """Nothing is in the smaller one alone, or moved."""
    large = trained("low lower lowest", 262)
    found = compare(surgery.shorten(large, 259), large)
    assert [merge.rank for merge in found.merges.only_in_second] == [3, 4, 5]
    assert [token.id for token in found.vocabulary.only_in_second] == [259, 260, 261]
    assert found.vocabulary.only_in_first == found.vocabulary.moved == ()
    assert found.merges.only_in_first == found.merges.moved == ()


def test_the_order_of_merges_is_the_longest_rise():
    """Beside the longest of all subsequences that rise, for each order of five numbers."""
    for numbers in itertools.permutations(range(5)):
        rises = (
            n
            for n in range(6)
            for some in itertools.combinations(numbers, n)
            if list(some) == sorted(some)
        )
        assert len(comparing.longest_rise(numbers)) == max(rises)


MERGES = {
    "its own": ([[0, 1, 4], [1, 0, 5]], []),
    "gaps": ([[0, 1, 4], [1, 0, 5]], [3, 8]),
    "stored in another order": ([[1, 0, 5], [0, 1, 4]], [8, 3]),
    "shared rank": ([[0, 1, 4], [1, 0, 5]], [0, 0]),
    "ranks swapped": ([[0, 1, 4], [1, 0, 5]], [1, 0]),
    "a pair twice": ([[0, 1, 4], [1, 0, 5], [0, 1, 4]], []),
}
"""Merges of a + b and b + a in the same vocabulary, and their ranks."""


def with_ranks(name):
    """Write a .bytepair file with these merges, and read it."""
    file = json.loads(trained("abcd", 257, dialect="byte-stream").to_bytes())
    merges, ranks = MERGES[name]
    file |= {"tokens": ["a", "b", "c", "d", "ab", "ba"], "merges": merges}
    file |= {"priorities": ranks, "merge_counts": []}
    file["units"]["unit"] = "character"
    return Tokenizer.from_bytes(json.dumps(file).encode())


@pytest.mark.parametrize("name", MERGES)
def test_merges_are_the_same_exactly_if_they_merge_alike(name):
    """Ranks decide, not the order of the list; of a pair's two merges, the later one counts."""
    rows = (itertools.product("ab", repeat=n) for n in range(1, 6))
    texts = ["".join(letters) for row in rows for letters in row]
    first, second = with_ranks("its own"), with_ranks(name)
    is_alike = [first.encode(t) for t in texts] == [second.encode(t) for t in texts]
    found = compare(first, second)
    assert found.merges.is_same == found.is_same == is_alike
    assert is_alike == (name in ("its own", "gaps", "stored in another order"))


def test_merges_have_the_same_ranks_everywhere():
    """Text, JSON and ``trace`` count from 0; a tokenizer's own ranks are given as they are."""
    from bytepair.analyze import trace
    from bytepair.analyze._compare import draw as views

    first, second = trained("low lower", 257), trained("low lower", 258)
    found = compare(first, second)
    [piece] = trace(second, "low").pieces
    last = piece.steps[-1].rank
    assert last == 1
    assert str(found).endswith(f"  only in B            1: lo + w rank {last}")
    merges = views.as_object(found, 9)["merges"]
    assert merges["only_in_second"] == [{"rank": last, "left": "lo", "right": "w"}]
    own = compare(with_ranks("gaps"), with_ranks("ranks swapped")).merges
    assert own.moved == ((3, 1, "a", "b"),)


def test_nothing_differs_from_itself(pair):
    """Every list is empty, and every text the same."""
    found = compare(pair[0], pair[0], texts=TEXTS)
    assert (found.is_same, found.vocabulary.is_same, found.merges.is_same) == (
        True,
    ) * 3
    assert (found.corpus.n_changed, found.corpus.most) == (0, ())


def test_added_tokens_and_parts_that_differ_are_listed(pair):
    """Ids, properties, and each part of the description but those that are counted."""
    first = pair[0].with_added_tokens([bytepair.AddedToken("<c>", lstrip=True)])
    second = pair[1].with_added_tokens([bytepair.AddedToken("<c>")])
    found = compare(first, second)
    rows = {row.content: (row.first_id, row.second_id) for row in found.added}
    c_ids = first.token_to_id("<c>"), second.token_to_id("<c>")
    assert rows == {"<a>": (269, 300), "<b>": (None, 301), "<c>": c_ids}
    parts = {part.name: (part.first, part.second) for part in found.parts}
    here, there = first.inspect().description, second.inspect().description
    assert parts == {n: (here[n], there[n]) for n in ("split", "loses")}


def test_tokens_of_bytes_and_of_characters_are_compared_by_bytes():
    """``▁low`` is `` low``, a byte token is its byte, and the basis says so."""
    first = trained("low low low", 260)
    second = trained("low low low", 263, dialect="sentencepiece")
    comparison = compare(first, second)
    assert comparison.basis == "the bytes that they stand for, ▁ as a space"
    found = comparison.vocabulary
    assert found.only_in_first == ()
    assert {token.token for token in found.only_in_second} == set()
    moved = {token: (here, there) for token, here, there in found.moved}
    id_of = second.get_vocab()
    assert moved[b" low"] == ((258,), (id_of["▁low"],))
    assert moved[b"l"] == ((first.get_vocab()["l"],), (id_of["<0x6C>"], id_of["l"]))


# Texts


def meaning(tokenizer, text):
    """List what the ids of a text stand for."""
    return [
        tokenizer.inspect().tokens([id_])[0].entry for id_ in tokenizer.encode(text)
    ]


def random_texts():
    """Make texts of parts of words, some of them empty."""
    chance = random.Random(7)
    parts = ["low", "er", " new", "est", " wide", "é", "🙂", "<a>", "'s", "  "]
    return ["".join(chance.choices(parts, k=chance.randrange(9))) for _ in range(300)]


@pytest.mark.parametrize("batch_len", [1, 100, 1 << 20])
def test_texts_are_compared_one_by_one(batch_len, pair, monkeypatch):
    """Totals and the texts that differ most, beside the tokens of each text alone."""
    monkeypatch.setattr(_measure, "BYTES_AT_ONCE", batch_len)
    texts = random_texts()
    found = compare(*pair, texts=texts, n_most=5).corpus
    rows = [(meaning(pair[0], text), meaning(pair[1], text)) for text in texts]
    lens = [(len(here), len(there)) for here, there in rows]
    changed = [n for n, (here, there) in enumerate(rows, 1) if here != there]
    assert found.n_texts == 300
    assert found.n_bytes == sum(len(text.encode()) for text in texts)
    totals = tuple(map(sum, zip(*lens, strict=True)))
    assert (found.first_tokens, found.second_tokens) == totals
    assert found.n_changed == len(changed)
    assert found.first_changed.number == changed[0]
    by_size = sorted(changed, key=lambda n: (-abs(lens[n - 1][0] - lens[n - 1][1]), n))
    assert [text.number for text in found.most] == by_size[:5]


def test_ids_with_the_same_meaning_are_no_difference(pair, tmp_path):
    """A tokenizer whose ids were dealt out anew makes the same tokens of every text."""
    path = tmp_path / "t.json"
    pair[0].save(path)
    file = json.loads(path.read_text())
    vocabulary = file["model"]["vocab"]
    last = max(vocabulary.values())
    file["model"]["vocab"] = {token: last - id_ for token, id_ in vocabulary.items()}
    path.write_text(json.dumps(file))
    other = Tokenizer.from_file(path)
    found = compare(pair[0], other, texts=random_texts())
    assert pair[0].encode("low") != other.encode("low")
    kept = {"<a>"} | {token for token, id_ in vocabulary.items() if last == 2 * id_}
    assert found.vocabulary.n_moved == found.vocabulary.n_common - len(kept)
    assert found.corpus.n_changed == 0


def test_a_first_difference_is_where_tokens_begin_to_differ(pair):
    """The tokens before are the same, and the rows behind stand for the same text."""
    found = compare(*pair, texts=random_texts(), n_most=300).corpus
    texts = random_texts()
    assert len(found.most) == found.n_changed > 50
    for text in found.most:
        here, there = (meaning(one, texts[text.number - 1]) for one in pair)
        n, before, first, second, is_whole = text.difference
        assert here[:n] == there[:n]
        assert here[n : n + 1] != there[n : n + 1]
        assert list(before) == here[max(0, n - 3) : n]
        assert list(first) == here[n : n + len(first)]
        assert list(second) == there[n : n + len(second)]
        assert is_whole
        assert b"".join(first) == b"".join(second)


def test_a_difference_without_an_end_is_cut():
    """Where the texts of tokens never meet again, some tokens of each are shown."""
    lower = trained("low", 256, dialect="gpt4", normalize=["lowercase"])
    found = compare(trained("low", 256), lower, texts=["A" * 50]).corpus
    difference = found.first_changed.difference
    assert (len(difference.first), len(difference.second)) == (12, 12)
    assert not difference.is_whole


def test_files_have_numbers_of_their_own(pair, tmp_path):
    """Those of their texts, whatever the format; the totals are their sums."""
    texts = random_texts()
    lines = "".join(json.dumps({"text": text}) + "\n" for text in texts)
    (tmp_path / "c.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    (tmp_path / "c.jsonl").write_text(lines)
    expected = compare(*pair, texts=texts).corpus
    both = compare(*pair, [tmp_path / "c.jsonl", tmp_path / "c.jsonl.gz"]).corpus
    tokens = expected.first_tokens, expected.second_tokens
    numbers = (len(texts), expected.n_changed, *tokens)
    assert [tuple(file)[1:] for file in both.files] == [numbers] * 2
    assert both.first_tokens == 2 * expected.first_tokens


@pytest.mark.parametrize("is_packed", [False, True])
def test_a_file_is_one_text_and_progress_is_told(is_packed, pair, tmp_path):
    """The outcome is that of the text; progress rises to the size of the stored file."""
    text = " ".join(random_texts())
    path = tmp_path / ("c.txt.gz" if is_packed else "c.txt")
    path.write_bytes(gzip.compress(text.encode()) if is_packed else text.encode())
    steps = []
    found = compare(*pair, path, progress=lambda *step: steps.append(step)).corpus
    expected = compare(*pair, texts=[text]).corpus
    assert (found.n_texts, found.n_bytes) == (1, len(text.encode()))
    assert found.most[0].difference == expected.most[0].difference
    size = path.stat().st_size
    assert steps == sorted(steps)
    assert steps[-1] == (size, size)


def test_a_text_that_is_refused_names_the_tokenizer_and_the_file(pair, tmp_path):
    """The second of the two, which works on characters, is told where bytes are no text."""
    path = tmp_path / "c.txt"
    path.write_bytes(b"low \xff")
    words = bytepair.train_from_iterator(["low"], merges=1, dialect="subword-nmt")
    with pytest.raises(bytepair.TokenizerError, match=r"c\.txt: the second tokenizer"):
        compare(pair[0], words, path)


# The command


@pytest.fixture
def files(pair, tmp_path, monkeypatch):
    """Write both tokenizers and a corpus in the working directory."""
    monkeypatch.chdir(tmp_path)
    pair[0].save("a.bytepair")
    pair[1].save("b.bytepair")
    Path("c.txt").write_text("low lower\nnewest\nfoo\nwide\n")
    return tmp_path


def run(*arguments, code=0):
    """Run the command, and give its outcome."""
    return commands.run("compare", *arguments, code=code)


@pytest.mark.parametrize(
    ("limit", "code"), [("0%", 3), ("16.6%", 3), ("16.7%", 0)], ids=str
)
def test_the_limit_sets_the_exit_code(limit, code, files):
    """Tokens grow from 3 + 5 + 3 + 1 to 5 + 2 + 3 + 4."""
    both = ("a.bytepair", "b.bytepair", "c.txt", "--input-format", "lines")
    found = run(*both, "--max-growth", limit, code=code)
    assert found.stderr.startswith("bytepair: B needs") == (code == 3)


def test_json_has_the_numbers_of_the_function(files):
    """Lists are as long as ``--limit`` says, and counts are of all."""
    both = ("a.bytepair", "b.bytepair", "c.txt")
    found = json.loads(
        run(*both, "--input-format", "lines", "--json", "--limit", "2").stdout
    )
    expected = compare(*both, lines=True)
    vocabulary = expected.vocabulary
    assert found["vocabulary"]["n_common"] == vocabulary.n_common
    assert (
        len(found["vocabulary"]["only_in_first"]) == 2 < len(vocabulary.only_in_first)
    )
    assert len(found["corpus"]["most"]) == 2
    assert found["corpus"]["first_changed"]["number"] == 1


def test_a_limit_that_is_no_share_is_refused(files):
    """The message has the value, and the option as it is typed."""
    both = ("a.bytepair", "b.bytepair", "c.txt")
    found = run(*both, "--max-growth", "1", code=2)
    assert "'--max-growth': '1' is not a share such as 1%" in found.stderr
