"""``tokenizer.json``: fields are taken, passed over and refused as Hugging Face ``tokenizers`` does.

Files are generated: every component in its place, and at every object of it a field that
nobody knows, a field less, a null, a field that appears twice, and a field of each other
component. The library says which of them load, and what the ids and the text are then.

Left out: values that are wrong in themselves (``test_damaged_files``).
"""

import copy
import json
import re
from typing import Any, NamedTuple

import pytest
from parity.building import charsmap

from bytepair import FormatError, Tokenizer

peer = pytest.importorskip("tokenizers")
pytest.importorskip("sentencepiece", reason="makes a map of characters")

NAMES = dict.fromkeys("abcBé▁ 123,!ĠÃ©|")
WORDS = ["ab", "▁a", "##b", "<s>", "bc", "[U]"]
VOCAB = {name: place for place, name in enumerate([*NAMES, *WORDS])}
A = {"String": "a"}
BYTE_LEVEL = {"add_prefix_space": True, "trim_offsets": True, "use_regex": True}
METASPACE = {"replacement": "▁", "prepend_scheme": "always", "split": True}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "<s>", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
    ],
    "pair": [
        {"Sequence": {"id": "A", "type_id": 0}},
        {"Sequence": {"id": "B", "type_id": 1}},
    ],
    "special_tokens": {"<s>": {"id": "<s>", "ids": [VOCAB["<s>"]], "tokens": ["<s>"]}},
}
AROUND = {"sep": ["a", VOCAB["a"]], "cls": ["<s>", VOCAB["<s>"]]}
COMPONENTS: dict[str, list[dict[str, Any]]] = {
    "normalizer": [
        {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]},
        *({"type": name} for name in ("Lowercase", "NFC", "NFD", "NFKC", "NFKD")),
        *({"type": name} for name in ("StripAccents", "Nmt", "ByteLevel")),
        {"type": "Replace", "pattern": A, "content": "b"},
        {"type": "Replace", "pattern": {"Regex": "[ab]"}, "content": "c"},
        {"type": "Prepend", "prepend": "b"},
        {"type": "Strip", "strip_left": True, "strip_right": False},
        *(
            {
                "type": name,
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            }
            for name in ("BertNormalizer", "Bert")
        ),
        {"type": "Precompiled", "precompiled_charsmap": charsmap()},
    ],
    "pre_tokenizer": [
        {"type": "Sequence", "pretokenizers": [{"type": "Whitespace"}]},
        {"type": "Split", "pattern": A, "behavior": "Removed", "invert": False},
        {"type": "ByteLevel", **BYTE_LEVEL},
        {"type": "Metaspace", **METASPACE},
        *({"type": name} for name in ("Whitespace", "WhitespaceSplit")),
        *({"type": name} for name in ("BertPreTokenizer", "UnicodeScripts")),
        {"type": "Digits", "individual_digits": True},
        {"type": "Punctuation", "behavior": "Contiguous"},
        {"type": "CharDelimiterSplit", "delimiter": "b"},
        {"type": "Delimiter", "delimiter": "b"},
        {"type": "FixedLength", "length": 2},
    ],
    "post_processor": [
        {"type": "Sequence", "processors": [{"type": "ByteLevel", **BYTE_LEVEL}]},
        {"type": "ByteLevel", **BYTE_LEVEL},
        TEMPLATE,
        {
            "type": "RobertaProcessing",
            **AROUND,
            "trim_offsets": True,
            "add_prefix_space": True,
        },
        {"type": "BertProcessing", **AROUND},
    ],
    "decoder": [
        {"type": "Sequence", "decoders": [{"type": "Fuse"}]},
        {"type": "ByteLevel", **BYTE_LEVEL},
        {"type": "Metaspace", **METASPACE},
        {"type": "BPEDecoder", "suffix": "b"},
        {"type": "Replace", "pattern": A, "content": "b"},
        *({"type": name} for name in ("ByteFallback", "Fuse")),
        {"type": "Strip", "content": "a", "start": 1, "stop": 0},
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {
            "type": "CTC",
            "pad_token": "a",
            "word_delimiter_token": "|",
            "cleanup": True,
        },
    ],
    "truncation": [
        {
            "direction": "Left",
            "max_length": 3,
            "strategy": "LongestFirst",
            "stride": 0,
        }
    ],
    "padding": [
        {
            "strategy": strategy,
            "direction": "Left",
            "pad_to_multiple_of": 3,
            "pad_id": 1,
            "pad_type_id": 0,
            "pad_token": "b",
        }
        for strategy in ("BatchLongest", {"Fixed": 7})
    ],
    "added_tokens": [],
    "model": [],
}
ADDED = {
    "id": VOCAB["<s>"],
    "content": "<s>",
    "single_word": False,
    "lstrip": True,
    "rstrip": False,
    "normalized": False,
    "special": True,
}
MODEL = {
    "type": "BPE",
    "dropout": None,
    "unk_token": "[U]",
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": True,
    "byte_fallback": False,
    "ignore_merges": False,
    "vocab": VOCAB,
    "merges": [["a", "b"], ["▁", "a"], ["b", "c"]],
}
# A byte pair is no array; and these two depend on chance or take all texts apart.
TEXTS = ["", "ab 12, é<s>ab", " Ab▁b!! <s>", "??é123 bcA\tc", "aaa  bbb|"]
IDS = [VOCAB[name] for name in ("a", "ab", "▁", "##b", "b", "b", "|", "<s>", "1", ",")]


class Case(NamedTuple):
    """A file, and what was changed in it."""

    name: str
    text: str


def base() -> dict[str, Any]:
    """Make a file without optional parts."""
    parts = dict.fromkeys(["truncation", "padding", *COMPONENTS])
    return {
        "version": "1.0",
        **parts,
        "added_tokens": [dict(ADDED)],
        "model": copy.deepcopy(MODEL),
    }


def objects(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Find the paths of all objects within a value."""
    inside: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        inside = list(value.items())
    elif isinstance(value, list):
        inside = list(enumerate(value))
    found = [path] if isinstance(value, dict) else []
    for key, item in inside:
        found += objects(item, (*path, key))
    return found


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """Follow a path."""
    for key in path:
        value = value[key]
    return value


def documents() -> list[tuple[str, dict[str, Any], str]]:
    """Make a file for each component; the part in which it stands."""
    found = [("file", base(), "")]
    found += [(part, base(), part) for part in ("model", "added_tokens")]
    for part, components in COMPONENTS.items():
        for component in components:
            document = base() | {part: copy.deepcopy(component)}
            strategy = component.get("strategy", "")
            name = component.get("type") or f"{part} {strategy}"
            found.append((f"{part} {name}", document, part))
    return found


def variants(document: dict[str, Any], part: str) -> list[Case]:
    """Change one field of one object, each in several ways."""
    cases = []
    inside = objects(document[part], (part,)) if part else [()]
    for path in inside:
        place = ".".join(map(str, path))
        if path == ("model", "vocab"):
            continue

        def changed(change: Any, path: tuple[Any, ...] = path) -> str:
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
                for first in (True, False):
                    pair = {"QQ": other, key: known}
                    order = pair if first else dict(reversed(pair.items()))
                    text = changed(
                        lambda f, k=key, o=order: (f.pop(k), f.update(o))
                    ).replace('"QQ"', json.dumps(key))
                    cases.append(Case(f"{place}.{key} twice {order}", text))
    return cases


def strangers(document: dict[str, Any], part: str) -> list[Case]:
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


def theirs_of(text: str) -> Any:
    """Load by the library, where it does; some files end it with a panic."""
    try:
        return peer.Tokenizer.from_str(text)
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return None


def ours_of(text: str) -> Tokenizer | FormatError:
    """Load by this library, or give the error."""
    try:
        return Tokenizer.from_bytes(text.encode(), format="huggingface")
    except FormatError as error:
        return error


# What is refused here and read there in some way (docs/explanation/formats.md): values that
# say nothing, and types that are none, which it passes over.
REFUSED_HERE = re.compile(r"empty text|special_tokens|\.type: expected|length: is ")


def encoded(theirs: Any, text: str, *, adds: bool) -> Any:
    """Encode by the library."""
    return theirs.encode(text, add_special_tokens=adds)


def check(case: Case, seen: dict[str, int]) -> None:
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
        expected = encoded(theirs, text, adds=True)
        full = ours.encode_full(text, allowed_special="all", add_special_tokens=True)
        assert list(full.ids) == expected.ids, (case.name, text)
        assert list(full.type_ids) == expected.type_ids, (case.name, text)
        if not has_limits:
            plain = list(ours.encode(text, allowed_special="all"))
            assert plain == encoded(theirs, text, adds=False).ids, (case.name, text)
    expected = theirs.decode(IDS, skip_special_tokens=False)
    assert ours.decode(IDS) == expected, case.name


DOCUMENTS = documents()


@pytest.mark.parametrize(
    ("document", "part"),
    [pytest.param(document, part, id=name) for name, document, part in DOCUMENTS],
)
def test_fields_are_read_as_the_library_reads_them(document, part):
    """A field that the library passes over changes nothing; one it refuses is refused."""
    seen: dict[str, int] = {}
    check(Case("as it is", json.dumps(document)), seen)
    for case in variants(document, part):
        check(case, seen)
    if part in ("normalizer", "pre_tokenizer", "post_processor", "decoder"):
        for case in strangers(document, part):
            check(case, seen)
    assert seen["refused"] > 1
    # The library cannot read the type that it calls so itself.
    assert seen.get("loaded", 0) > 1 or document[part]["type"] == "Delimiter"


WRONG = [
    ("added_tokens.0.lstrip", "yes", "added_tokens[0].lstrip: expected true or false"),
    (
        "added_tokens.0.content",
        1,
        "added_tokens[0].content: expected a string, found 1",
    ),
    ("model.vocab.a", -1, "model.vocab.a: expected an id"),
    ("model.vocab", [], "model.vocab"),
    ("model.merges.1", ["a"], "model.merges[1]: expected two tokens in a list"),
    ("model.merges.1", "a b", "model.merges[1]: expected two tokens in a list"),
    ("model.merges.1", ["a", "c"], "model.merges[1]"),
    ("model.type", "Other", "model.type"),
    ("model.fuse_unk", 1, "model.fuse_unk"),
    ("normalizer.type", "Other", "normalizer.type: expected one of Sequence"),
    (
        "pre_tokenizer.pretokenizers.1.pattern.Regex",
        "(",
        "pre_tokenizer.pretokenizers[1].pattern: pattern error",
    ),
    (
        "pre_tokenizer.pretokenizers.1.behavior",
        "Other",
        "pre_tokenizer.pretokenizers[1].behavior: expected one of Isolated, Removed",
    ),
    (
        "post_processor.processors.1.single.1.Sequence.id",
        "C",
        "post_processor.processors[1].single[1].Sequence.id: expected one of A, B",
    ),
    (
        "post_processor.processors.1.special_tokens",
        {},
        "post_processor.processors[1].single[0].SpecialToken.id",
    ),
    ("decoder.decoders.0.pattern.Regex", "(", "decoder.decoders[0].pattern: pattern"),
    ("truncation.max_length", -1, "truncation.max_length: expected a whole number"),
    ("padding.strategy", "Other", "padding.strategy: expected"),
    ("padding", [], "padding"),
    ("surprise", 1, "surprise: no such field"),
    ("version", "2.0", "version"),
]


@pytest.mark.parametrize(("place", "value", "message"), WRONG)
def test_an_error_names_the_value_by_its_path(place, value, message):
    """The library refuses the same files; none has a place in lines that are not there."""
    document = base() | {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Whitespace"},
                {
                    "type": "Split",
                    "pattern": {"Regex": "a"},
                    "behavior": "Isolated",
                    "invert": False,
                },
            ],
        },
        "post_processor": {
            "type": "Sequence",
            "processors": [{"type": "ByteLevel", **BYTE_LEVEL}, TEMPLATE],
        },
        "decoder": {
            "type": "Sequence",
            "decoders": [{"type": "Replace", "pattern": {"Regex": "a"}, "content": ""}],
        },
        "truncation": COMPONENTS["truncation"][0],
        "padding": COMPONENTS["padding"][0],
    }
    document = json.loads(json.dumps(document))
    assert isinstance(ours_of(json.dumps(document)), Tokenizer)
    *path, last = (int(key) if key.isdecimal() else key for key in place.split("."))
    at(document, tuple(path))[last] = value
    text = json.dumps(document)
    error = ours_of(text)
    assert isinstance(error, FormatError)
    assert f"tokenizer.json: {message}" in str(error)
    assert "line 0" not in str(error)
    if "special_tokens" not in place and "(" not in str(value):
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
