"""Rows of embedding matrices after surgery: ``new = map @ old``, compared with plain loops."""

import json
import math

import numpy as np
import pytest
from tests.made_up import every_kind
from tests.test_surgery import TEXTS, parts_by_merges

import bytepair
from bytepair import TokenizerError, _core, surgery

KINDS = ["mean", "copy", "exponential", "bytes"]
SIDES = ["input", "output"]


def of_bytes():
    """Give a tokenizer of the 256 bytes."""
    return bytepair.train_from_iterator(["xyz"], vocab_size=256)


def old_matrix(n_rows, n_columns=5):
    """Give a matrix of numbers that no two rows share."""
    return np.random.default_rng(3).normal(size=(n_rows, n_columns))


def weights_of(parts, tokens, kind, side):
    """Give the weights of the parts of a token, as their definitions say."""
    last = len(parts) - 1
    sign = 2 if side == "input" else -2
    shares = {
        "mean": [1] * len(parts),
        "copy": [float(i == (last if side == "input" else 0)) for i in range(last + 1)],
        "bytes": [max(len(tokens[part]), 1) for part in parts],
        "exponential": [math.exp(sign * i) for i in range(last + 1)],
    }[kind]
    return [share / sum(shares) for share in shares]


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", ["gpt4o", "sennrich", "prefix", "fallback", "sentencepiece"]
)
def test_the_map_is_what_a_double_loop_computes(name, kind, side):
    """A new row is the weighted sum of the rows of what the base encodes the token to."""
    base = every_kind()[name]
    found = surgery.extend(base, texts=TEXTS, add=15)
    old = old_matrix(base.n_vocab)
    new = found.embedding_map(kind, side) @ old
    assert new.shape == (found.tokenizer.n_vocab, 5)
    assert (new[: base.n_vocab] == old).all()
    tokens = [token.bytes for token in base.inspect().tokens()]
    parts = parts_by_merges(found.tokenizer, base.n_vocab)
    for id_ in range(base.n_vocab, found.tokenizer.n_vocab):
        found_parts = parts[id_]
        # What the base makes of the units of the token.
        assert merged_by(base, units_of(found.tokenizer, id_)) == found_parts
        weights = weights_of(found_parts, tokens, kind, side)
        weighted = list(zip(weights, found_parts, strict=True))
        for column in range(5):
            total = sum(weight * old[part][column] for weight, part in weighted)
            assert new[id_][column] == pytest.approx(total, abs=1e-12)


def units_of(tokenizer, id_):
    """Take a token apart, back to the units that no merge makes."""
    parts = {made: pair for *pair, made, _ in reversed(tokenizer.inspect().merge_log)}
    if id_ not in parts:
        return [id_]
    return [unit for part in parts[id_] for unit in units_of(tokenizer, part)]


def merged_by(tokenizer, ids):
    """Carry out the merges of a row of tokens."""
    row = dict(enumerate(ids))
    for place, *_, result in tokenizer.inspect().merge_steps(ids):
        del row[next(other for other in row if other > place)]
        row[place] = result
    return list(row.values())


def test_rows_are_sums_of_one_with_ascending_columns():
    """As libraries take compressed rows, also for a token that has a part twice."""
    base = of_bytes()
    found = surgery.extend(base, texts=["aaaa aaaa aaaa"] * 5, add=3)
    for kind in KINDS:
        rows = found.embedding_map(kind)
        for id_ in range(rows.shape[0]):
            ids, weights = rows.row(id_)
            assert ids == sorted(set(ids))
            assert math.fsum(weights) == pytest.approx(1)
    a = base.token_to_id("a")
    assert found.embedding_map("mean").row(256) == ([a], [1.0])


def test_the_side_decides_which_token_counts_most():
    """The last for the input side, the first for the output side."""
    base = of_bytes()
    found = surgery.extend(base, texts=["ab ab ab"], add=1, max_token_bytes=2)
    a, b = (base.token_to_id(letter) for letter in "ab")
    assert found.tokenizer.decode([256]) == "ab"
    high = math.exp(2) / (1 + math.exp(2))
    for side, last in (("input", high), ("output", 1 - high)):
        ids, weights = found.embedding_map("exponential", side).row(256)
        assert (ids, weights) == ([a, b], pytest.approx([1 - last, last]))
    assert found.embedding_map("copy", "input").row(256) == ([b], [1.0])
    assert found.embedding_map("copy", "output").row(256) == ([a], [1.0])


def test_padded_matrices_keep_the_rows_that_no_token_takes():
    """New ids take the first padding rows; the rest is copied, and rows beyond are 0."""
    base = of_bytes()
    found = surgery.extend(base, texts=TEXTS, add=10)
    old = old_matrix(270).astype(np.float32)
    new = found.embedding_map(rows=270, multiple_of=64) @ old
    assert (new.shape, new.dtype) == ((320, 5), np.float32)
    assert (new[:256] == old[:256]).all()
    assert not (new[256:266] == old[256:266]).any()
    assert (new[266:270] == old[266:270]).all()
    assert (new[270:] == 0).all()
    small = found.embedding_map(rows=260, multiple_of=64)
    assert small.shape == (320, 260)
    assert found.embedding_map().shape == (266, 256)
    bias = np.arange(256.0)
    assert (found.embedding_map() @ bias)[:256].tolist() == bias.tolist()


def test_tokens_without_parts_are_listed():
    """Special tokens need a row of one's own; theirs is 0 until then."""
    base = of_bytes()
    found = surgery.extend(base, texts=TEXTS, add=2)
    larger = found.tokenizer.with_special_tokens(["<new>"])
    more = surgery.Surgery(larger, base, found.id_map, found.report)
    rows = more.embedding_map()
    assert rows.needs_init.tolist() == [258]
    assert (rows @ np.ones((256, 2)))[258].tolist() == [0, 0]
    assert found.embedding_map().needs_init.tolist() == []


def test_ids_that_are_gone_or_have_moved_are_followed():
    """The rows follow the map of ids, as after a removal that closes gaps."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    smaller = surgery.shorten(base, 257)
    ids = tuple(id_ if id_ < 257 else -1 for id_ in range(258))
    old = old_matrix(258)
    report = surgery.extend(base, texts=["a"], add=0).report
    moved = surgery.Surgery(smaller, base, ids, report)
    assert (moved.embedding_map(rows=258) @ old)[:257].tolist() == old[:257].tolist()


def test_files_hold_the_map(tmp_path):
    """The arrays as numpy reads them, and a line for each row with its token."""
    base = every_kind()["gpt4o"]
    found = surgery.extend(base, texts=TEXTS, add=4)
    rows = found.embedding_map("bytes", rows=300)
    rows.save(tmp_path / "map.npz")
    with np.load(tmp_path / "map.npz") as file:
        for name in ("indptr", "old_ids", "weights", "needs_init"):
            assert file[name].tolist() == getattr(rows, name).tolist()
        assert file["shape"].tolist() == list(rows.shape)
    rows.save(tmp_path / "map.jsonl")
    lines = list(map(json.loads, (tmp_path / "map.jsonl").read_bytes().splitlines()))
    assert [line["id"] for line in lines] == list(range(300))
    written = [(line["old_ids"], line["weights"]) for line in lines]
    assert written == [rows.row(id_) for id_ in range(300)]
    new = range(base.n_vocab, found.tokenizer.n_vocab)
    for id_ in new:
        assert bytes.fromhex(lines[id_]["bytes"]) == found.tokenizer.decode_bytes([id_])
        assert _core.id_of_written(found.tokenizer, lines[id_]["token"]) == id_
    assert (lines[299]["token"], lines[299]["bytes"]) == (None, None)


BAD = {
    "rows: the old tokenizer has 256 ids": {"rows": 255},
    "multiple_of must be at least 1": {"multiple_of": 0},
    "kind must be one of mean, copy": {"kind": "median"},
    "side must be one of input, output": {"side": "both"},
}


@pytest.mark.parametrize("message", BAD)
def test_options_that_make_no_sense_are_refused(message):
    """By their names; and a matrix of another size says what to do."""
    base = of_bytes()
    found = surgery.extend(base, texts=TEXTS, add=1)
    with pytest.raises(TokenizerError, match=message):
        found.embedding_map(**BAD[message])
    with pytest.raises(TokenizerError, match=r"has 300 rows.*rows=\.\.\."):
        found.embedding_map() @ np.zeros((300, 2))


def test_a_row_that_is_not_there_is_refused():
    """The last one is the last there is, and none is counted from the end."""
    base = of_bytes()
    rows = surgery.extend(base, texts=TEXTS, add=1).embedding_map(rows=300)
    assert rows.row(299) == ([299], [1.0])
    for id_ in (-1, 300):
        with pytest.raises(TokenizerError, match=f"no row {id_}; rows are 0 to 299"):
            rows.row(id_)


def test_whole_numbers_are_not_cut_off_in_a_mean():
    """A matrix of whole numbers holds no means, but it can be gathered."""
    base = of_bytes()
    found = surgery.extend(base, texts=TEXTS, add=1)
    whole = np.arange(256 * 2).reshape(256, 2)
    with pytest.raises(TokenizerError, match=r"whole numbers.*astype\(np\.float32\)"):
        found.embedding_map() @ whole
    assert (
        surgery.extend(base, texts=TEXTS, add=0).embedding_map() @ whole == whole
    ).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Sparse CSR")
def test_torch_computes_the_same():
    """The arrays are those of a sparse matrix of torch, checked by torch itself."""
    torch = pytest.importorskip("torch")
    base = every_kind()["gpt4o"]
    rows = surgery.extend(base, texts=TEXTS, add=9).embedding_map("exponential")
    old = old_matrix(base.n_vocab)
    arrays = (rows.indptr, rows.old_ids, rows.weights)
    sparse = torch.sparse_csr_tensor(
        *map(torch.from_numpy, arrays), rows.shape, check_invariants=True
    )
    new = (sparse @ torch.from_numpy(old)).numpy()
    assert np.allclose(new, rows @ old)


# Rows after a removal


@pytest.mark.parametrize("name", ["gpt4o", "sennrich", "prefix", "fallback"])
def test_rows_close_ranks_with_the_ids(name):
    """Each row of the new matrix is that of its token before, and no row is left over."""
    base = every_kind()[name]
    texts = ["low lower"]
    n_tokens = sum(token is not None for token in base.vocabulary)
    found = surgery.prune(base, texts=texts, to=n_tokens - 3, numbering="compact")
    old = old_matrix(base.n_vocab).astype(np.float32)
    new = found.embedding_map() @ old
    assert new.shape == (n_tokens - 3, 5)
    for before, after in enumerate(found.id_map):
        if after >= 0:
            assert (new[after] == old[before]).all()
    assert found.embedding_map().needs_init.tolist() == []


@pytest.mark.parametrize("rows", [258, 270, 320])
def test_padded_matrices_close_ranks_too(rows):
    """Rows of tokens that went are gone; rows that no id had come behind, and then 0."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    found = surgery.remove(base, ["lo"], numbering="compact")
    assert found.tokenizer.n_vocab == 256
    old = old_matrix(rows).astype(np.float32)
    for multiple in (1, 50):
        new = found.embedding_map(rows=rows, multiple_of=multiple) @ old
        n_new = 256 if multiple == 1 else 300
        assert new.shape == (n_new, 5)
        assert (new[:256] == old[:256]).all()
        n_spare = min(n_new - 256, rows - 258)
        assert (new[256 : 256 + n_spare] == old[258 : 258 + n_spare]).all()
        assert (new[256 + n_spare :] == 0).all()
    bias = np.arange(float(rows))
    assert (found.embedding_map(rows=rows) @ bias).tolist() == list(range(256))


@pytest.mark.parametrize("numbering", ["reserved", "holes"])
def test_where_ids_stay_the_matrix_stays(numbering):
    """Also the rows of reserved ids, and those behind the last id."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    found = surgery.remove(base, ["low"], numbering=numbering)
    for rows in (258, 270):
        old = old_matrix(rows)
        assert (found.embedding_map(rows=rows) @ old == old).all()
        assert found.embedding_map(rows=rows).needs_init.tolist() == []


def test_an_extension_of_a_pruned_tokenizer_composes():
    """The product of both maps is that of doing both steps one after the other."""
    base = every_kind()["gpt4o"]
    small = surgery.prune(base, texts=["low wide"], to=266, numbering="compact")
    large = surgery.extend(small.tokenizer, texts=TEXTS, add=7)
    old = old_matrix(base.n_vocab)
    between = small.embedding_map() @ old
    new = large.embedding_map() @ between
    assert (new[:266] == between).all()
    for text in TEXTS[:2]:
        ids = large.tokenizer.encode(text, allowed_special="all")
        assert max(ids) < len(new)


@pytest.mark.slow
def test_torch_gathers_the_rows_of_tied_and_untied_matrices():
    """The six lines of the how-to for a model whose vocabulary was pruned."""
    torch = pytest.importorskip("torch")
    base = every_kind()["gpt4o"]
    found = surgery.remove(base, [" low"], numbering="compact")
    kept = torch.tensor([old for old, new in enumerate(found.id_map) if new >= 0])
    embedding = torch.nn.Embedding(base.n_vocab, 4)
    head = torch.nn.Linear(4, base.n_vocab)
    for matrix in (embedding.weight, head.weight, head.bias):
        old = matrix.detach()
        expected = old[kept].numpy()
        assert (found.embedding_map() @ old.numpy() == expected).all()
