"""Each field of a ``.bytepair`` file: what no tokenizer has is refused, and the rest stays as it is.

Fields are changed one by one in the files of several dialects. The ids of what is accepted
are those of Hugging Face ``tokenizers`` wherever the tokenizer can be written for it.
"""

import copy
import json
import random
from functools import reduce
from operator import getitem

import pytest
from hypothesis import given, strategies as st

import bytepair

CORPUS = ["low lower lowest newest widest été 12 345 ## low's </w>"] * 4
DIALECTS = {
    "bytes": {"dialect": "gpt2", "vocab_size": 300},
    "values": {"dialect": "byte-stream", "vocab_size": 290},
    "suffix": {"dialect": "subword-nmt", "vocab_size": 60},
    "prefix": {"dialect": "unknown-token", "continuing_prefix": "##", "vocab_size": 70},
    "sentencepiece": {"dialect": "sentencepiece", "vocab_size": 340},
}


def written(name):
    """Train a tokenizer of a dialect and give its file as values."""
    options = {**DIALECTS[name], "special_tokens": ["<s>", "</s>"]}
    tokenizer = bytepair.train_from_iterator(CORPUS, **options)
    if name == "bytes":
        tokenizer = tokenizer.with_template("<s> $A </s>").with_truncation(20)
        tokenizer = tokenizer.with_padding(tokenizer.token_to_id("</s>"), length=4)
    return json.loads(tokenizer.to_bytes())


FILES = {name: written(name) for name in DIALECTS}


def read(fields):
    """Read a file of these values."""
    return bytepair.Tokenizer.from_bytes(json.dumps(fields).encode())


def changed(name, path, value):
    """Give the values of a file, one of them another."""
    fields = copy.deepcopy(FILES[name])
    reduce(getitem, path[:-1], fields)[path[-1]] = value
    return fields


TEXT = {"type": "first", "type_id": 0}
OTHER = {"type": "second", "type_id": 1}
START = {"type": "special", "ids": [1], "type_id": 0}
SENTENCEPIECE = {"type": "sentencepiece", "leading": "stay", "unknown": ""}
BAD = [
    ("bytes", ["format"], "other", "format"),
    ("bytes", ["version"], 1, "version"),
    ("bytes", ["unicode"], "1.0", "unicode"),
    ("bytes", ["dropout"], 1.5, "dropout"),
    ("bytes", ["dropout"], -0.1, "dropout"),
    ("bytes", ["template", "single"], [], "template"),
    ("bytes", ["template", "pair"], [], "template"),
    ("bytes", ["template", "single"], [TEXT, OTHER], "template"),
    ("bytes", ["template", "single"], [START], "template"),
    ("bytes", ["template", "single"], [TEXT, {**START, "ids": [9999]}], "9999"),
    (
        "bytes",
        ["template", "single"],
        [TEXT, {**START, "names": ["a", "b"]}],
        "template",
    ),
    ("bytes", ["padding", "length"], 1 << 40, "padding"),
    ("bytes", ["truncation", "max_length"], -1, "truncation"),
    ("bytes", ["truncation", "side"], "middle", "middle"),
    ("bytes", ["units", "end_mark"], {"text": "", "kind": "unit"}, "end_mark"),
    ("bytes", ["units", "continuing_prefix"], "", "continuing_prefix"),
    ("bytes", ["units", "unit"], "word", "word"),
    ("bytes", ["tokens", 3], "!", "token 3"),
    ("bytes", ["tokens", 3], {"kind": "plain", "text": "x"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "byte", "text": "xy"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "added"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "added", "hex": "6161"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "plain", "hex": "FF"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "plain", "hex": "f"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "continuing", "text": "qq"}, "token 3"),
    ("bytes", ["tokens", 3], {"kind": "ending", "text": "qq"}, "token 3"),
    ("suffix", ["tokens", 3], {"kind": "continuing", "text": "qq"}, "token 3"),
    ("prefix", ["tokens", 3], {"kind": "ending", "text": "qq"}, "token 3"),
    ("prefix", ["tokens", 3], {"kind": "other", "text": "qq"}, "tokens"),
    ("bytes", ["merges", 0], [0, 1, 9999], "merge 0"),
    ("bytes", ["merge_counts", 0], -1, "merge_counts"),
    ("bytes", ["merge_counts"], [1], "merge_counts"),
    ("bytes", ["priorities"], [1], "priorities"),
    ("bytes", ["added_tokens", 0, "content"], "", "no content"),
    ("bytes", ["added_tokens", 0, "content"], "</s>", "added_tokens"),
    ("bytes", ["added_tokens", 0, "id"], 9999, "9999"),
    ("bytes", ["added_tokens", 0, "whole_piece"], True, "whole_piece"),
    ("bytes", ["normalizer"], [{"type": "replace", "from": "", "to": "x"}], "normal"),
    ("bytes", ["normalizer"], [{"type": "precompiled", "charsmap": "?"}], "charsmap"),
    ("bytes", ["rounds", 0, "split", 0, "pattern"], "(", "pattern"),
    ("bytes", ["rounds", 0, "split", 0, "behaviour"], "kept", "kept"),
    ("bytes", ["decode"], {"type": "chain", "steps": [], "separator": 1}, "decode"),
    ("bytes", ["decode"], {**SENTENCEPIECE, "controls": ["b", "a"]}, "decode"),
]


@pytest.mark.parametrize(("name", "path", "value", "part"), BAD)
def test_what_no_tokenizer_has_is_refused_by_its_name(name, path, value, part):
    """A value out of range, an unknown id or kind, or marks without units is an error."""
    with pytest.raises(bytepair.TokenizerError) as error:
        read(changed(name, path, value))
    assert part in str(error.value)


def test_ids_that_end_without_a_token_are_refused():
    """They would be gone in the file that is written again."""
    fields = copy.deepcopy(FILES["values"])
    fields["tokens"].append(None)
    with pytest.raises(bytepair.TokenizerError, match="tokens"):
        read(fields)


def paths(value, before=()):
    """List where the values of a file stand, of long lists some."""
    yield before
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*before, key))
    if isinstance(value, list):
        places = random.Random(len(value)).sample(range(len(value)), min(6, len(value)))
        for place in places:
            yield from paths(value[place], (*before, place))


PLACES = [(name, path) for name in FILES for path in paths(FILES[name]) if path]
KINDS = ["plain", "ending", "continuing", "continuing_ending", "added", "unknown"]
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, 2, 3, 70, 300, 1 << 32, -1, 0.5, 1.0, 2.0]),
    st.sampled_from(["", "a", "##", "</w>", "<s>", "low", "lo", "Ġ", "plain"]),
    st.sampled_from([[], [0], [0, 1, 2], {}, [TEXT], [OTHER, TEXT]]),
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(KINDS),
            "text": st.sampled_from(["a", "low", "w", "zz", "##", ""]),
        }
    ),
)
TEXTS = ["low lower", "lowest##w</w>", " a  b", "été 12<s>345</s>", "##low low##", ""]


@given(place=st.sampled_from(PLACES), value=VALUES)
def test_what_is_accepted_is_written_as_it_was_and_has_the_ids_of_hugging_face(
    place, value, tmp_path_factory
):
    """A changed field is refused, or no other field changes and no library reads it otherwise."""
    tokenizers = pytest.importorskip("tokenizers")
    fields = changed(place[0], place[1], value)
    try:
        tokenizer = read(fields)
    except bytepair.TokenizerError:
        return
    assert json.loads(tokenizer.to_bytes()) == fields
    path = tmp_path_factory.mktemp("changed") / "tokenizer.json"
    try:
        tokenizer.save(path)
    except bytepair.TokenizerError:
        return
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.no_truncation()
    theirs.no_padding()
    for text in TEXTS:
        try:
            ids = tokenizer.encode(text, allowed_special="all")
        except bytepair.TokenizerError:
            continue
        assert ids == theirs.encode(text, add_special_tokens=False).ids, text
