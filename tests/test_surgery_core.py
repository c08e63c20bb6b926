"""What the compiled core gives `bytepair.surgery`: plain values about changed vocabularies."""

import numpy as np
import pytest

import bytepair
from bytepair import Tokenizer, _core


@pytest.fixture(scope="module")
def base():
    """Bytes, then ``ab``, ``abc`` and a special token."""
    tokenizer = bytepair.train_from_iterator(["abc", "abc", "ab"], vocab_size=258)
    return tokenizer.with_special_tokens(["<s>"])


def test_strings_become_tokens_behind_all_others(base):
    """A string of two tokens gets the next id, and a longer one says what it lacks."""
    larger, rows = base._extended(["abc", "xy", "xyzw", "x y"])
    assert rows[1] == ("added", len(base), base.encode("xy"), [])
    assert [row[0] for row in rows] == ["known", "added", "needs_helpers", "cut"]
    assert Tokenizer(larger).encode("xy") == [len(base)]
    helped, rows = base._extended(["wxyz"], allow_helpers=True)
    assert rows[0][0] == "added"
    assert len(rows[0][3]) == 2
    assert Tokenizer(helped).encode("wxyz") == [rows[0][1]]


def test_a_removed_token_takes_what_is_built_on_it(base):
    """The ids close ranks, the map says how, and what must stay is refused by name."""
    (ab,) = base.encode("ab")
    (abc,) = base.encode("abc")
    assert base._built_on([ab]) == [ab, abc]
    assert abc in base._leaves()
    assert ab not in base._leaves()
    smaller, id_map, removed, ways = base._without([ab], numbering="compact")
    assert (removed, ways) == ([ab, abc], [])
    assert id_map.tolist() == [*range(256), -1, -1, 256]
    assert Tokenizer(smaller).special_tokens == {"<s>": 256}
    with pytest.raises(bytepair.TokenizerError, match="a unit of the alphabet"):
        base._without(base.encode("a"))
    with pytest.raises(bytepair.TokenizerError, match="none of 'cascade'"):
        base._without([ab], mode="scaffolding")


def test_pruning_takes_the_rarest_leaf(base):
    """Of two leaves, the one that the counted pieces need less goes."""
    larger, _ = base._extended(["xy"])
    counts = _core.PieceTable()
    data = np.frombuffer(b"xy", np.uint8)
    counts.add(data, np.array([0, 2], np.int64), np.array([7], np.int64))
    (abc,) = base.encode("abc")
    smaller, id_map, removed = larger._pruned(len(base), counts)
    assert removed == [(abc, 0)]
    assert id_map[abc] == -1
    assert Tokenizer(smaller).encode("xy") == Tokenizer(larger).encode("xy")


def test_a_second_vocabulary_comes_behind_the_first(base):
    """Each token of the other has a report, and its text is one token then."""
    other = bytepair.train_from_iterator(["xyz", "xyz"], vocab_size=258)
    merged, rows = base._merged_with(other)
    assert [row[0] for row in rows[:256]] == ["known"] * 256
    (xyz,) = other.encode("xyz")
    assert Tokenizer(merged).encode("xyz") == [rows[xyz][1]]
