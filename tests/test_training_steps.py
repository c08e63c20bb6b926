"""Training on a small text, one merge at a time."""

import json
import re
from collections import Counter
from itertools import islice, pairwise, product

import pytest
from hypothesis import given, strategies as st
from tests import commands

import bytepair
from bytepair import TrainingError
from bytepair.analyze import training_steps
from bytepair.analyze._trace.training import before_merging

SENNRICH = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
DIALECTS = ["byte-stream", "sennrich", "subword-nmt", "sentencepiece"]
JURAFSKY = "low " * 5 + "lowest " * 2 + "newer " * 6 + "wider " * 3 + "new " * 2


def walked(counts, *, ties, cuts=None, **options):
    """Train on counts; give the tokenizer and its steps."""
    tokenizer = bytepair.train_from_counts(counts, ties=ties, cuts=cuts, **options)
    pieces = [(piece.encode(), count) for piece, count in counts.items()]
    return tokenizer, list(training_steps(tokenizer, pieces, ties=ties, cuts=cuts))


def test_the_steps_of_the_paper_are_walked_through():
    """`e s`, `es t`, `est </w>`, `l o`, with their counts."""
    tokenizer, steps = walked(SENNRICH, ties="first_seen", dialect="sennrich", merges=4)
    names = tokenizer.vocabulary
    found = [
        (names[s.chosen.left], names[s.chosen.right], s.chosen.count) for s in steps
    ]
    assert [count for _left, _right, count in found] == [9, 9, 9, 7]
    assert found[0][:2] == ("e", "s")
    assert (names[steps[0].token], steps[0].ties) == ("es", "first_seen")
    # e s, s t and t </w> occur in the same words; the first of them stands first.
    tied = {(names[p.left], names[p.right]) for p in steps[0].tied}
    assert tied == {("s", "t"), ("t", "</w>")}


def counted(pieces):
    """Count pairs of segmented pieces."""
    found = Counter()
    for piece in pieces:
        for pair in pairwise(piece.ids):
            if -1 not in pair:
                found[pair] += piece.count
    return found


@given(
    counts=st.dictionaries(st.text("abé", min_size=1, max_size=5), st.integers(1, 4)),
    dialect=st.sampled_from(DIALECTS),
    ties=st.sampled_from(["smallest_ids", "first_seen", "largest_text"]),
    limit=st.sampled_from([None, 2]),
    cut_after=st.sampled_from([None, "b"]),
)
def test_each_step_is_the_best_pair_of_the_pieces_before_it(
    counts, dialect, ties, limit, cut_after
):
    """Counts are those of training, and the rule for ties decided, but for limits and cuts."""
    if not counts:
        return
    options = {"dialect": dialect, "merges": 6, "min_count": 2}
    options |= {"max_token_chars": limit} if limit else {}
    cuts = cut_after and (lambda piece: re.split(f"(?<={cut_after})", piece))
    tokenizer, steps = walked(counts, ties=ties, cuts=cuts, **options)
    rows = [(piece.encode(), n) for piece, n in counts.items()]
    pieces = before_merging(tokenizer, rows, cuts=cuts)
    assert len(steps) == len(tokenizer.merges)
    log = tokenizer.inspect().merge_log
    for step, (left, right, token, count) in zip(steps, log, strict=True):
        pairs = counted(pieces)
        assert {(p.left, p.right): p.count for p in step.pairs} == pairs
        assert (step.chosen.left, step.chosen.right, step.token) == (left, right, token)
        assert step.chosen.count == count == pairs[left, right]
        equal = [pair for pair, n in pairs.items() if n == count]
        passed = {(p.left, p.right) for p in step.passed_over}
        assert len(equal) == 1 + len(step.tied) + len(passed & set(equal))
        if limit is None:
            assert count == max(pairs.values())
            assert not passed
        pieces = step.pieces
        assert step.n_tokens == sum(len(piece.ids) * piece.count for piece in pieces)


def test_pairs_that_limits_rule_out_are_told_apart():
    """A more frequent pair that would be too long is passed over."""
    options = {"dialect": "byte-stream", "merges": 3, "max_token_chars": 2}
    _, steps = walked({"abc": 5, "xy": 3}, ties="smallest_ids", **options)
    assert [(s.chosen.count, len(s.passed_over)) for s in steps] == [(5, 0), (3, 1)]


def test_steps_of_other_pieces_merge_pairs_that_do_not_occur():
    """Pieces without a learned pair give a step whose pair occurs 0 times, after all others."""
    tokenizer = bytepair.train_from_counts({"ab": 2}, merges=1, dialect="byte-stream")
    [step] = training_steps(tokenizer, [(b"cd", 3)], ties="first_seen")
    assert (step.chosen.count, [pair.count for pair in step.passed_over]) == (0, [3])


def test_units_outside_the_alphabet_are_in_no_pair():
    """A rare character that gets no id parts what stands around it."""
    options = {"dialect": "sentencepiece", "merges": 1, "max_alphabet": 2}
    _, steps = walked({"ab": 5, "aéb": 4}, ties="first_seen", **options)
    assert steps[0].chosen.count == 5
    assert len(steps[0].pairs) == 1
    assert -1 in steps[0].pieces[1].ids


def test_a_large_text_is_refused():
    """Distinct pieces may have 20,000 bytes."""
    tokenizer = bytepair.train_from_counts({"ab": 2}, merges=1)
    with pytest.raises(TrainingError, match="at most 20,000 bytes"):
        training_steps(tokenizer, [(b"a" * 30_000, 1)], ties="smallest_ids")


# The command


def train(*arguments, **options):
    """Run the command; give what it wrote."""
    return commands.run("train", *arguments, **options)


@pytest.fixture
def corpus(tmp_path):
    """Write the corpus of the textbook."""
    path = tmp_path / "corpus.txt"
    path.write_text(JURAFSKY)
    return path


def test_the_command_walks_through_training(corpus):
    """Pairs with counts, the chosen one, the rule for ties, and the pieces after it."""
    arguments = [corpus, "--merges", 2, "--dialect", "jurafsky-martin", "--steps", "-q"]
    lines = train(*arguments).stdout.splitlines()
    assert lines[0] == "   5 ×  l o w _"
    assert "step 1: e + r → er  (id 11)" in lines
    assert " → e r  9 ████████████████████" in lines
    assert "   6 ×  n e w er _" in lines
    assert "\n   tie with 1 other pair: first_seen takes" in "\n".join(lines)
    assert not list(corpus.parent.glob("*.json"))


def test_the_command_also_saves_where_it_is_told_to(corpus):
    """The tokenizer is that of training without steps."""
    options = ["--merges", 2, "--dialect", "sennrich", "-q"]
    paths = [corpus.parent / f"{name}.bytepair" for name in "ab"]
    train(corpus, *options, "--steps", "-o", paths[0])
    train(corpus, *options, "-o", paths[1])
    a, b = map(bytepair.Tokenizer.from_file, paths)
    assert a == b


def test_going_on_walks_through_new_merges_alone(corpus):
    """Steps begin behind those of the tokenizer that training goes on from."""
    options = ["--dialect", "gpt2", "-q"]
    first = corpus.parent / "a.bytepair"
    train(corpus, *options, "--merges", 2, "-o", first)
    options += ["--merges", 4, "--steps", "--json"]
    found = train(corpus, *options, "--resume", first)
    steps = json.loads(found.stdout)["steps"]
    assert [step["step"] for step in steps] == [3, 4]
    whole = train(corpus, *options)
    assert json.loads(whole.stdout)["steps"][2:] == steps


def test_the_command_refuses_what_cannot_be_walked_through(corpus):
    """A large text, weights in parts, and neither steps nor an output."""
    large = corpus.parent / "large.txt"
    words = ("".join(word) for word in product("abcdefgh", repeat=5))
    large.write_text(" ".join(islice(words, 4000)))
    refused = train(large, "--merges", 2, "--steps", code=1).output
    assert "at most 20,000 bytes" in refused
    weights = train(f"{corpus}@0.5", "--merges", 2, "--steps", code=1).output
    assert "weights must be whole numbers" in weights
    assert "--output" in train(corpus, "--merges", 2, code=2).output
    unsaved = train(corpus, "--merges", 2, "--steps", "--format", "bytepair", code=2)
    assert "--format needs --output" in unsaved.output
