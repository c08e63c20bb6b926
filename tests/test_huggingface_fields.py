"""``tokenizer.json``: fields are taken, passed over and refused as Hugging Face ``tokenizers`` does.

Files are generated: every component in its place, and at every object of it a field that
nobody knows, a field less, a null, a field that appears twice, and a field of each other
component. The library says which of them load, and what the ids and the text are then.

Left out: values that are wrong in themselves (``test_damaged_files``).
"""

import copy
import json
import re
from functools import reduce
from typing import NamedTuple

import pytest
from tests.every_part import BYTE_LEVEL, COMPONENTS, TEMPLATE, VOCAB, base, documents

from bytepair import FormatError, Tokenizer

peer = pytest.importorskip("tokenizers")
pytest.importorskip("sentencepiece", reason="makes a map of characters")

# A byte pair is no array; and these two depend on chance or take all texts apart.
TEXTS = ["", "ab 12, é<s>ab", " Ab▁b!! <s>", "??é123 bcA\tc", "aaa  bbb|"]
IDS = [VOCAB[name] for name in ("a", "ab", "▁", "##b", "b", "b", "|", "<s>", "1", ",")]


class Case(NamedTuple):
    """A file, and what was changed in it."""

    name: str
    text: str


def objects(value, path=()):
    """Find the paths of all objects within a value."""
    if isinstance(value, list):
        value, found = dict(enumerate(value)), []
    else:
        found = [path] if isinstance(value, dict) else []
    for key, item in value.items() if isinstance(value, dict) else ():
        found += objects(item, (*path, key))
    return found


def at(value, path):
    """Follow a path."""
    return reduce(lambda found, key: found[key], path, value)


def variants(document, part):
    """Change one field of one object, each in several ways."""
    cases = []
    inside = objects(document[part], (part,)) if part else [()]
    for path in inside:
        place = ".".join(map(str, path))
        if path == ("model", "vocab"):
            continue

        def changed(change, path=path):
            copied = copy.deepcopy(document)
            change(at(copied, path))
            return json.dumps(copied)

        for value in (1, None, {"type": "NFC"}, [["x"]], "text"):
            text = changed(lambda found, value=value: found.update(zzz=value))
            cases.append(Case(f"{place}.zzz = {value}", text))
        for key, known in at(document, path).items():
            for name, value in (("null", None), ("wrong", {"x": 1}), ("wrong", -1)):
                text = changed(lambda f, k=key, v=value: f.__setitem__(k, v))
                cases.append(Case(f"{place}.{key} {name}", text))
            text = changed(lambda f, k=key: f.__delitem__(k))
            cases.append(Case(f"{place}.{key} missing", text))
            for other in (known, None):
                for order in ({"QQ": other, key: known}, {key: known, "QQ": other}):
                    text = changed(
                        lambda f, k=key, o=order: (f.pop(k), f.update(o))
                    ).replace('"QQ"', json.dumps(key))
                    cases.append(Case(f"{place}.{key} twice {order}", text))
    return cases


def strangers(document, part):
    """Give a component the fields of every other component too."""
    cases = []
    for components in COMPONENTS.values():
        for component in components:
            fields = {k: v for k, v in component.items() if k != "type"}
            copied = copy.deepcopy(document)
            copied[part] = fields | copied[part]
            cases.append(Case(f"{part} with {fields}", json.dumps(copied)))
            del copied[part]["type"]
            cases.append(Case(f"{part} by {list(copied[part])}", json.dumps(copied)))
    return cases


def theirs_of(text):
    """Load by the library, where it does; some files end it with a panic."""
    try:
        return peer.Tokenizer.from_str(text)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def ours_of(text):
    """Load by this library, or give the error."""
    try:
        return Tokenizer.from_bytes(text.encode(), format="huggingface")
    except FormatError as error:
        return error


# What is refused here and read there in some way (docs/explanation/formats.md): values that
# say nothing, and types that are none, which it passes over.
REFUSED_HERE = re.compile(r"empty text|special_tokens|\.type: expected|length: is ")


def check(case, seen):
    """Compare both libraries on a file."""
    theirs, ours = theirs_of(case.text), ours_of(case.text)
    if isinstance(ours, FormatError):
        message = str(ours)
        assert "line 0" not in message, message
        assert theirs is None or REFUSED_HERE.search(message), (case.name, message)
        seen["refused"] = seen.get("refused", 0) + 1
        return
    assert theirs is not None, case.name
    seen["loaded"] = seen.get("loaded", 0) + 1
    has_limits = theirs.truncation is not None or theirs.padding is not None
    for text in TEXTS:
        expected = theirs.encode(text)
        full = ours.encode_full(text, allowed_special="all", add_special_tokens=True)
        found = (list(full.ids), list(full.type_ids))
        assert found == (expected.ids, expected.type_ids), (case.name, text)
        if not has_limits:
            plain = theirs.encode(text, add_special_tokens=False).ids
            assert ours.encode(text, allowed_special="all") == plain, (case.name, text)
    expected = theirs.decode(IDS, skip_special_tokens=False)
    assert ours.decode(IDS) == expected, case.name


DOCUMENTS = documents()


@pytest.mark.parametrize(
    ("document", "part"),
    [pytest.param(document, part, id=name) for name, document, part in DOCUMENTS],
)
def test_fields_are_read_as_the_library_reads_them(document, part):
    """A field that the library passes over changes nothing; one it refuses is refused."""
    seen = {}
    check(Case("as it is", json.dumps(document)), seen)
    for case in variants(document, part):
        check(case, seen)
    if part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        for case in strangers(document, part):
            check(case, seen)
    assert seen["refused"] > 1
    # The library cannot read the type that it calls so itself.
    assert seen.get("loaded", 0) > 1 or document[part]["type"] == "Delimiter"


SPLIT, AROUND_TEXT = "pre_tokenizer.pretokenizers", "post_processor.processors"
WRONG = [
    ("added_tokens.0.lstrip", "yes", ": expected true or false"),
    ("added_tokens.0.content", 1, ": expected a string, found 1"),
    ("model.vocab.a", -1, ": expected an id"),
    *(("model.vocab", [], ""), ("model.merges.1", ["a", "c"], "")),
    *(
        ("model.merges.1", wrong, ": expected two tokens in a list")
        for wrong in (["a"], "a b")
    ),
    *(("model.type", "Other", ""), ("model.fuse_unk", 1, "")),
    ("model.dropout", 1.5, ""),
    ("normalizer.type", "Other", ": expected one of Sequence"),
    (f"{SPLIT}.1.pattern", {"Regex": "("}, ": pattern error"),
    (f"{SPLIT}.1.behavior", "Other", ": expected one of Isolated, Removed"),
    (f"{AROUND_TEXT}.1.single.1.Sequence.id", "C", ": expected one of A, B"),
    (f"{AROUND_TEXT}.1.single.1.Sequence.id", "B", ""),
    (
        f"{SPLIT}.0",
        {"type": "Metaspace", "replacement": "▁", "add_prefix_space": False},
        "",
    ),
    (f"{AROUND_TEXT}.1.special_tokens", {}, None),
    ("decoder.decoders.0.pattern", {"Regex": "("}, ": pattern"),
    ("truncation.max_length", -1, ": expected a whole number"),
    ("padding.strategy", "Other", ": expected"),
    *(("padding", [], ""), ("surprise", 1, ": no such field"), ("version", "2.0", "")),
]
NO_TOKEN = "post_processor.processors[1].single[0].SpecialToken.id"


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_an_error_names_the_value_by_its_path(place, value, message):
    """The library refuses the same files; none has a place in lines that are not there."""
    pattern = {"pattern": {"Regex": "a"}}
    split = {"type": "Split", **pattern, "behavior": "Isolated", "invert": False}
    stages = {
        "pretokenizers": [{"type": "Whitespace"}, split],
        "processors": [{"type": "ByteLevel", **BYTE_LEVEL}, TEMPLATE],
        "decoders": [{"type": "Replace", **pattern, "content": ""}],
    }
    parts = ("pre_tokenizer", "post_processor", "decoder")
    document = base() | {"normalizer": {"type": "NFC"}}
    for part, (name, inside) in zip(parts, stages.items(), strict=True):
        document[part] = {"type": "Sequence", name: inside}
    document |= {part: COMPONENTS[part][0] for part in ("truncation", "padding")}
    document = json.loads(json.dumps(document))
    assert isinstance(ours_of(json.dumps(document)), Tokenizer)
    *path, last = (int(key) if key.isdecimal() else key for key in place.split("."))
    at(document, tuple(path))[last] = value
    text = json.dumps(document)
    error = ours_of(text)
    assert isinstance(error, FormatError)
    shown = (
        NO_TOKEN if message is None else re.sub(r"\.(\d+)", r"[\1]", place) + message
    )
    assert f"tokenizer.json: {shown}" in str(error)
    assert "line 0" not in str(error)
    if "special_tokens" not in place and "(" not in str(value) and value != "B":
        assert theirs_of(text) is None


def test_mistakes_in_the_syntax_have_a_line_and_a_column():
    """A missing comma, a cut file, and half a character, also in fields that are not read."""
    text = json.dumps(base(), indent=1, ensure_ascii=True)
    lines = text.split("\n")
    place = next(n for n, line in enumerate(lines) if '"lstrip"' in line)
    lines[place] = lines[place].rstrip(",")
    error = str(ours_of("\n".join(lines)))
    assert f"line {place + 2}, column" in error
    assert "too early" in str(ours_of(text[: len(text) // 2]))
    for name in ("content", "unknown"):
        document = base()
        document["added_tokens"][0][name] = "HERE"
        text = json.dumps(document, indent=1).replace("HERE", "a\\ud83d")
        line = next(n for n, line in enumerate(text.split("\n"), 1) if "ud83d" in line)
        error = str(ours_of(text))
        assert theirs_of(text) is None
        assert "lone surrogate" in error
        assert f"line {line}, column" in error
        whole = text.replace("\\ud83d", "\\ud83d\\ude42")
        assert isinstance(ours_of(whole), Tokenizer)
