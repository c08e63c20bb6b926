"""Lists whose order shows in the result: special tokens, files, texts. What has no order is refused."""

import importlib
import os

import pytest
from tests.programs import run_python

import bytepair
from bytepair import reference

TEXTS = ["low lower lowest"]
NAMES = ["<a>", "<b>", "<c>"]


def trained(**options):
    """Train a tokenizer of bytes."""
    return bytepair.train_from_iterator(TEXTS, merges=1, **options)


def from_files(tmp_path, names):
    """Train on a file."""
    (tmp_path / "text").write_text(TEXTS[0])
    return bytepair.train(tmp_path / "text", merges=1, special_tokens=names)


def counted(tmp_path, names):
    """Count a file."""
    scale = pytest.importorskip("bytepair.scale")
    (tmp_path / "text.txt").write_text(TEXTS[0])
    return scale.count(tmp_path / "text.txt", special_tokens=names)


def modules():
    """Give the package with its modules that need pyarrow."""
    pytest.importorskip("pyarrow")
    for name in ("analyze", "scale", "segmentation", "surgery"):
        importlib.import_module(f"bytepair.{name}")
    return bytepair


def tiktoken_shape(names):
    """Make a tokenizer of tiktoken's shape."""
    from bytepair.compat.tiktoken import Encoding

    ranks = {bytes([byte]): byte for byte in range(256)}
    return Encoding("x", pat_str=".+", mergeable_ranks=ranks, special_tokens=names)


ENTRY_POINTS = {
    "train": from_files,
    "train_from_iterator": lambda _, names: trained(special_tokens=names),
    "train_from_counts": lambda _, names: bytepair.train_from_counts(
        {"ab": 2}, merges=1, special_tokens=names
    ),
    "resume": lambda _, names: trained(special_tokens=names, resume=trained()),
    "with_special_tokens": lambda _, names: trained().with_special_tokens(names),
    "scale.count": counted,
    "reference": lambda _, names: reference.train_from_iterator(
        TEXTS, merges=1, special_tokens=names
    ),
    "with_added_tokens": lambda _, names: trained().with_added_tokens(names),
    "with_template": lambda _, names: trained().with_template(names),
    "train on files": lambda _, names: bytepair.train(names, merges=1),
    "train on texts": lambda _, names: bytepair.train_from_iterator(names, merges=1),
    "encode_batch": lambda _, names: trained().encode_batch(names),
    "count_batch": lambda _, names: trained().count_batch(names),
    "encode_full_batch": lambda _, names: trained().encode_full_batch(names),
    "encode_batch_to_numpy": lambda _, names: trained().encode_batch_to_numpy(names),
    "decode": lambda _, names: trained().decode(names),
    "decode_batch": lambda _, names: trained().decode_batch(names),
    "verify": lambda _, names: bytepair.verify(trained(), trained(), texts=names),
    "convert": lambda path, names: bytepair.convert(
        trained(), path / "a.json", texts=names
    ),
    "count files": lambda _, names: modules().scale.count(names),
    "scale.tokenize": lambda path, names: modules().scale.tokenize(
        trained(), names, path / "out"
    ),
    "merge_files": lambda _, names: modules().scale.merge_files(names),
    "measure": lambda _, names: modules().analyze.measure(trained(), names),
    "measure_texts": lambda _, names: modules().analyze.measure_texts(trained(), names),
    "stats": lambda path, names: modules().analyze.stats(names, path),
    "compare": lambda _, names: modules().analyze.compare(
        trained(), trained(), texts=names
    ),
    "diagnose": lambda _, names: modules().analyze.diagnose(trained(), corpus=names),
    "extend": lambda _, names: modules().surgery.extend(trained(), texts=names, add=1),
    "prune": lambda _, names: modules().surgery.prune(trained(), texts=names, to=256),
    "verify_extension": lambda _, names: modules().surgery.verify_extension(
        trained(), trained(), texts=names
    ),
    "count_words": lambda _, names: modules().segmentation.count_words(names),
}


@pytest.mark.parametrize("kind", [set, frozenset])
@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_a_set_is_refused(tmp_path, name, kind):
    """Wherever the order of tokens, files or texts shows in the result, a set is an error that says why."""
    says = "is a set, whose order changes|must be a list of tokens"
    with pytest.raises((TypeError, bytepair.TokenizerError), match=says):
        ENTRY_POINTS[name](tmp_path, kind(NAMES))


@pytest.mark.parametrize("kind", [set, list])
def test_what_must_be_a_mapping_says_so(tmp_path, kind):
    """Ids by name are needed where tokens are placed by id."""
    with pytest.raises(TypeError, match="special_tokens"):
        tiktoken_shape(kind(NAMES))
    with pytest.raises(TypeError, match="special_tokens"):
        bytepair.Tokenizer.from_file(
            tmp_path / "x.tiktoken", special_tokens=kind(NAMES)
        )


@pytest.mark.parametrize(
    "ordered",
    [
        list,
        tuple,
        iter,
        lambda names: (name for name in names),
        dict.fromkeys,
        lambda names: dict.fromkeys(names).keys(),
    ],
    ids=["list", "tuple", "iterator", "generator", "dict", "keys"],
)
def test_what_has_an_order_gives_ids_in_it(tmp_path, ordered):
    """Lists, tuples, generators and keys of a dict are all the same list."""
    expected = {name: 257 + place for place, name in enumerate(NAMES)}
    assert from_files(tmp_path, ordered(NAMES)).special_tokens == expected
    assert trained(special_tokens=ordered(NAMES)).special_tokens == expected
    if ordered is not dict.fromkeys:  # a mapping says which ids
        tokenizer = trained().with_special_tokens(ordered(NAMES))
        assert tokenizer.special_tokens == expected


def test_no_hash_seed_shows_in_ids():
    """Processes with other hash seeds refuse a set in the same words."""
    program = (
        "import bytepair\n"
        "try: bytepair.train_from_iterator(['ab'], special_tokens={'<a>', '<b>'})\n"
        "except TypeError as error: print(error)"
    )
    found = {
        run_python(program, env={**os.environ, "PYTHONHASHSEED": str(seed)}).stdout
        for seed in range(3)
    }
    assert len(found) == 1
    assert "is a set" in found.pop()
