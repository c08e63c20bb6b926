"""``tokenizer.json``: what is read, written back and decoded is what Hugging Face ``tokenizers`` does.

Left out: files of published models (``test_corpora``, ``test_peers``). Costs a few seconds.
"""

import json
import pickle
import random

import pytest
from tests.every_part import COMPONENTS
from tests.parity.components import LLAMA_DECODER
from tests.parity.ours import published

from bytepair import FormatError, Tokenizer, UnknownTokenError, train_from_iterator

peer = pytest.importorskip("tokenizers")

BYTES = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}
FLAGS = ("single_word", "lstrip", "rstrip", "normalized")
SPECIAL = {"id": 0, **dict.fromkeys(FLAGS, False), "special": True}
PLAIN = {**SPECIAL, "special": False}
METASPACE = {"type": "Metaspace", "replacement": "▁"}
DECODERS = [
    None,
    LLAMA_DECODER,
    {"type": "Replace", "pattern": {"Regex": "[ab]+"}, "content": "-"},
    *COMPONENTS["decoder"],
]
SPLIT = {"type": "Split", "pattern": {"String": "b."}, "behavior": "Isolated"}
STAGES = [
    {"type": "Punctuation", "behavior": "Contiguous"},
    {"type": "ByteLevel", **BYTES},
    {"type": "Digits", "individual_digits": True},
]
PRE_TOKENIZERS = [
    {**METASPACE, "prepend_scheme": "first"},
    {**METASPACE, "prepend_scheme": "never", "split": False},
    {"type": "Digits", "individual_digits": False},
    {"type": "Punctuation", "behavior": "MergedWithPrevious"},
    {**SPLIT, "invert": False},
    {"type": "Sequence", "pretokenizers": STAGES},
    *(part for part in COMPONENTS["pre_tokenizer"] if part["type"] != "Delimiter"),
]
TEXTS = ["", "ab 12, é<s>ab.", "  a▁b!!", "<s>é", "é123 b"]


def made(**parts):
    """Make a small file with these parts."""
    names = "abcé▁ 123,!ĠÃ©"
    vocab = {name: place for place, name in enumerate(names)}
    for name in ["ab", "<0xC3>", "<0xA9>", "<0x41>", "▁a"]:
        vocab[name] = len(vocab)
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "b"], ["▁", "a"]]}
    model |= {"byte_fallback": True}
    added = [{**SPECIAL, "content": "<s>"}, {**PLAIN, "content": "é"}]
    document = {"version": "1.0", "added_tokens": added, "model": model, **parts}
    return json.dumps(document)


def both(tmp_path, text):
    """Read a file with both libraries."""
    path = tmp_path / "tokenizer.json"
    path.write_text(text, encoding="utf-8")
    return Tokenizer.from_file(path), peer.Tokenizer.from_file(str(path))


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoders_give_the_same_text(tmp_path, decoder):
    """Every decoder gives the text that the library gives, for ids in any order."""
    ours, theirs = both(tmp_path, made(decoder=decoder))
    n_ids = theirs.get_vocab_size()
    for start in range(n_ids):
        ids = [(start * 7 + place * 5) % n_ids for place in range(9)]
        for skip in (False, True):
            expected = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected


@pytest.mark.parametrize("pre_tokenizer", PRE_TOKENIZERS)
def test_what_is_written_back_is_the_same_tokenizer(tmp_path, pre_tokenizer):
    """A file that was read and written gives the same ids in both libraries."""
    ours, theirs = both(tmp_path, made(pre_tokenizer=pre_tokenizer))
    copy = tmp_path / "copy" / "tokenizer.json"
    copy.parent.mkdir()
    ours.save(copy)
    again, written = Tokenizer.from_file(copy), peer.Tokenizer.from_file(str(copy))
    assert again.fingerprint == ours.fingerprint
    for text in TEXTS:
        expected = theirs.encode(text).ids
        assert written.encode(text).ids == expected
        for tokenizer in (ours, again):
            assert list(tokenizer.encode(text, allowed_special="all")) == expected


DIGITS = {"type": "Digits", "individual_digits": True}


@pytest.mark.parametrize("decoder", DECODERS[:4])
@pytest.mark.parametrize(
    ("normalizer", "steps", "is_bytes"),
    [
        (None, [{"type": "ByteLevel", **BYTES}, DIGITS], True),
        ({"type": "ByteLevel"}, [], True),
        ({"type": "ByteLevel"}, [DIGITS], True),
        (None, [{"type": "ByteLevel", **BYTES}, METASPACE], False),
        ({"type": "ByteLevel"}, [METASPACE], False),
    ],
)
def test_byte_level_is_found_wherever_it_stands(
    tmp_path, normalizer, steps, is_bytes, decoder
):
    """Where only cuts follow, tokens are bytes of the text; ids, spans and decoded text are the library's."""
    ours, theirs = both(
        tmp_path,
        made(
            normalizer=normalizer,
            pre_tokenizer={"type": "Sequence", "pretokenizers": steps},
            decoder=decoder,
        ),
    )
    for tokenizer in (ours, Tokenizer.from_bytes(ours.to_bytes())):
        assert (tokenizer.inspect().tokens([11])[0].entry == b" ") == is_bytes
        for text in TEXTS:
            expected = theirs.encode(text)
            found = tokenizer.encode_full(text, allowed_special="all")
            assert found.ids == expected.ids
            assert published(tokenizer, found) == expected.tokens
            assert normalizer or found.offsets == expected.offsets
            assert tokenizer.decode(found.ids) == theirs.decode(
                expected.ids, skip_special_tokens=False
            )


OTHER_MODELS = {
    "Unigram": {"vocab": [["a", 0.0], ["b", -1.0]], "unk_id": 0},
    "WordPiece": {
        "vocab": {"[UNK]": 0, "##a": 1},
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
    "WordLevel": {"vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"},
}


@pytest.mark.parametrize("has_type", [True, False])
@pytest.mark.parametrize("kind", OTHER_MODELS)
def test_a_model_of_another_kind_is_refused_by_name(tmp_path, kind, has_type):
    """Its type says what it is, or in older files its fields; the library takes it."""
    model = {"type": kind} if has_type else {}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({"model": {**model, **OTHER_MODELS[kind]}}))
    assert type(peer.Tokenizer.from_file(str(path)).model).__name__ == kind
    with pytest.raises(FormatError, match=f"model.*{kind}") as caught:
        Tokenizer.from_file(path)
    assert "not a byte-pair encoding" in str(caught.value)


def test_a_model_of_byte_pair_encoding_needs_no_type(tmp_path):
    """Its merges tell; without vocabulary and merges nothing is known."""
    document = json.loads(made())
    del document["model"]["type"]
    ours, theirs = both(tmp_path, json.dumps(document))
    assert list(ours.encode("ab 1")) == theirs.encode("ab 1").ids
    for model in ({}, {"merges": []}, {"unk_token": "a"}):
        path = tmp_path / "tokenizer.json"
        path.write_text(json.dumps({"model": model}))
        with pytest.raises(FormatError, match="not a byte-pair encoding"):
            Tokenizer.from_file(path)


def test_a_byte_order_mark_is_refused_as_the_library_does(tmp_path):
    """The message says what stands there."""
    path = tmp_path / "tokenizer.json"
    path.write_text(made(), encoding="utf-8-sig")
    with pytest.raises(Exception, match="expected value at line 1 column 1"):
        peer.Tokenizer.from_file(str(path))
    for read, source in (
        (Tokenizer.from_file, path),
        (Tokenizer.from_file, tmp_path),
        (Tokenizer.from_bytes, path.read_bytes()),
    ):
        with pytest.raises(FormatError, match="byte order mark"):
            read(source)


LOOSE = {**SPECIAL, "lstrip": True, "rstrip": True}
NO_BYTES = {"model": {"unk_token": "!", "byte_fallback": False}}


def in_turn(kind, *parts):
    """Put components in a row."""
    return {"type": "Sequence", kind: list(parts)}


AS_IN_THE_LIBRARY = {
    "white space of added tokens": (
        {"added_tokens": [{**LOOSE, "content": "<s>"}]},
        ["a <s>  b", " <s><s> "],
    ),
    "white space that another token took": (
        {"added_tokens": [{**LOOSE, "content": "  "}]},
        ["     ", "a   b"],
    ),
    "added tokens in normalized text": (
        {
            "added_tokens": [{**SPECIAL, "content": "AB", "normalized": True}],
            "normalizer": {"type": "Lowercase"},
        },
        ["a AB Ab", "ab"],
    ),
    "an added token that only the pieces give": (
        {
            "added_tokens": [{**PLAIN, "content": "ab", "normalized": True}],
            "normalizer": {"type": "Prepend", "prepend": " "},
            "pre_tokenizer": {"type": "Whitespace"},
            "model": {"ignore_merges": True},
        },
        ["ab", "!ab"],
    ),
    "several pieces of the first character": (
        {
            "normalizer": {"type": "NFKD"},
            "pre_tokenizer": in_turn(
                "pretokenizers",
                {"type": "Whitespace"},
                {**METASPACE, "prepend_scheme": "first"},
            ),
            **NO_BYTES,
        },
        ["\ufdfa", "½ a", " ab"],
    ),
    "two changes that give the text as it was": (
        {
            "normalizer": in_turn("normalizers", {"type": "NFC"}, {"type": "NFD"}),
            **NO_BYTES,
        },
        ["a\u0301b", "e\u0301e\u0301"],
    ),
}


@pytest.mark.parametrize("case", AS_IN_THE_LIBRARY)
def test_tokens_and_spans_are_those_of_the_library(tmp_path, case):
    """Ids, tokens as they stand in the text, and spans are the same."""
    parts, texts = AS_IN_THE_LIBRARY[case]
    document = json.loads(made(**{k: v for k, v in parts.items() if k != "model"}))
    document["model"] |= parts.get("model", {})
    ours, theirs = both(tmp_path, json.dumps(document))
    for text in texts:
        expected = theirs.encode(text)
        given = ours.encode_full(text, allowed_special="all")
        for found in (ours.encode(text, allowed_special="all"), given.ids):
            assert found == expected.ids
        for found in (ours.tokenize(text, allowed_special="all"), given.tokens):
            assert found == expected.tokens
        assert given.offsets == expected.offsets


def test_a_mark_is_found_where_it_first_stands(tmp_path):
    """A token that ends like its mark is decoded as the library does it, from the left."""
    names = ["#", "###", "a##"]
    model = {"type": "BPE", "vocab": {n: i for i, n in enumerate(names)}, "merges": []}
    model |= {"end_of_word_suffix": "##"}
    decoder = {"type": "BPEDecoder", "suffix": "##"}
    ours, theirs = both(tmp_path, json.dumps({"model": model, "decoder": decoder}))
    for ids in ([1, 2], [0, 1, 2], [2, 1]):
        assert ours.decode(ids) == theirs.decode(ids)


NAMED = {
    "another name": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
    "one of two": {"<s>": {"id": "<s>", "ids": [1, 2], "tokens": ["b", "<y>"]}},
    "its own name": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["b"]}},
}


def around(special_tokens):
    """Put what is called ``<s>`` before a text."""
    start = {"SpecialToken": {"id": "<s>", "type_id": 0}}
    text, pair = ({"Sequence": {"id": n, "type_id": i}} for i, n in enumerate("AB"))
    parts = {"single": [start, text], "pair": [start, text, pair]}
    return {"type": "TemplateProcessing", **parts, "special_tokens": special_tokens}


POST_PROCESSORS = {
    **{name: around(special) for name, special in NAMED.items()},
    "BERT's": {"type": "BertProcessing", "cls": ["<c>", 1], "sep": ["c", 2]},
    "RoBERTa's": {
        "type": "RobertaProcessing",
        "cls": ["b", 1],
        "sep": ["<s>", 2],
        "trim_offsets": False,
        "add_prefix_space": False,
    },
}
PADDING = {"strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None}
PADDING |= {"pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"}
SMALL = {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2}, "merges": []}


@pytest.mark.parametrize("name", POST_PROCESSORS)
def test_special_tokens_are_shown_by_the_names_of_the_template(tmp_path, name):
    """The template's ids and names count, also where the vocabulary has other names."""
    document = {"model": SMALL, "post_processor": POST_PROCESSORS[name]}
    document["padding"] = PADDING
    ours, theirs = both(tmp_path, json.dumps(document))
    ours.save(tmp_path / "again.json")
    again = Tokenizer.from_file(tmp_path / "again.json")
    for tokenizer in (ours, again, pickle.loads(pickle.dumps(ours))):
        for texts in (("ab",), ("ab", "c")):
            expected = theirs.encode(*texts)
            given = tokenizer.encode_full(*texts, add_special_tokens=True)
            assert (given.ids, given.tokens) == (expected.ids, expected.tokens)
    written = peer.Tokenizer.from_file(str(tmp_path / "again.json"))
    assert written.encode("ab").tokens == theirs.encode("ab").tokens


def test_a_template_with_an_id_that_no_token_has_is_refused(tmp_path):
    """The error names the field, the token and the id."""
    special = {"<s>": {"id": "<s>", "ids": [77], "tokens": ["<s>"]}}
    data = json.dumps({"model": SMALL, "post_processor": around(special)}).encode()
    with pytest.raises(FormatError, match=r"post_processor: .<s>. has the id 77"):
        Tokenizer.from_bytes(data)


def test_bytes_that_a_pair_of_files_lacks_are_left_out(tmp_path):
    """`vocab.json` without some bytes gives the ids that the library gives."""
    vocab, merges = tmp_path / "vocab.json", tmp_path / "merges.txt"
    vocab.write_text(json.dumps({"a": 0, "b": 1, "ab": 2}))
    merges.write_text("#version: 0.2\na b\n")
    theirs = peer.ByteLevelBPETokenizer.from_file(str(vocab), str(merges))
    ours = Tokenizer.from_file(merges, pattern="gpt2")
    ours.save(tmp_path / "own", format="gpt2")
    for tokenizer in (ours, Tokenizer.from_file(tmp_path / "own")):
        for text in ("abcab", "acb \u00e9", "ccc"):
            expected = theirs.encode(text)
            assert tokenizer.encode(text) == expected.ids
            assert tokenizer.encode_full(text).tokens == expected.tokens
    assert "units outside the alphabet" in str(ours)


def test_the_description_says_what_becomes_of_characters_outside_the_alphabet(tmp_path):
    """They are errors to a tokenizer that was trained, and left out once it was written."""
    trained = train_from_iterator(["ab ab"], dialect="sennrich", merges=2)
    assert "others are errors" in str(trained)
    with pytest.raises(UnknownTokenError):
        trained.encode("c")
    plain = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    ours, theirs = both(tmp_path, json.dumps({"model": plain}))
    assert "others left out" in str(ours)
    assert ours.encode("acb") == theirs.encode("acb").ids == [0, 1]


@pytest.mark.parametrize("behaviour", ["Contiguous", "MergedWithPrevious"])
def test_long_texts_have_no_empty_pieces(tmp_path, behaviour):
    """Pieces that are joined at the end of a block of text give the ids of the library."""
    model = {"type": "BPE", "vocab": {"!": 0, "a": 1, "a</w>": 2}, "merges": []}
    model |= {"unk_token": "!", "end_of_word_suffix": "</w>"}
    pre_tokenizer = {"type": "Punctuation", "behavior": behaviour}
    document = {"model": model, "pre_tokenizer": pre_tokenizer}
    ours, theirs = both(tmp_path, json.dumps(document))
    for text in ("a.", "aa..", "aaaa,a,"):
        long = text * (70_000 // len(text))
        assert ours.encode(long) == theirs.encode(long).ids


MARKS = [("▁", "▁"), ("##", "##"), ("ab", "bc"), ("#", "▁"), ("##", "#"), ("", "#")]


def marked(random_, prefix, suffix):
    """Make up a model whose units carry these marks, and the characters of texts for it."""
    letters = [*random_.sample("abc<", 2), *random_.sample([*prefix, *suffix, "d"], 2)]
    units = [
        name
        for letter in letters
        for name in (letter, prefix + letter, letter + suffix, prefix + letter + suffix)
        if random_.random() < 0.85
    ]
    if random_.random() < 0.5:
        units = [name for name in units if name != prefix + suffix[-1]]
    vocab = {name: id_ for id_, name in enumerate(dict.fromkeys(units))}
    merges = []
    for _ in range(random_.randrange(12)):
        left, right = random_.choice([*vocab]), random_.choice([*vocab])
        if right.startswith(prefix) and [left, right] not in merges:
            vocab.setdefault(left + right[len(prefix) :], len(vocab))
            merges.append([left, right])
    model = {"type": "BPE", "vocab": vocab, "merges": merges}
    model |= {"ignore_merges": random_.random() < 0.3}
    if prefix:
        model["continuing_subword_prefix"] = prefix
    return {**model, "end_of_word_suffix": suffix}, letters


@pytest.mark.parametrize("marks", MARKS)
def test_marks_that_make_one_name_of_two_units_are_refused(tmp_path, marks):
    """A vocabulary with such a name is refused by it; any other has the ids of the library."""
    prefix, suffix = marks
    overlap = prefix[1:] == suffix[:-1] and len(prefix) == len(suffix)
    random_ = random.Random(f"{prefix} {suffix}")
    n_refused = 0
    for _ in range(60):
        model, letters = marked(random_, prefix, suffix)
        document = {"model": model, "pre_tokenizer": {"type": "WhitespaceSplit"}}
        if overlap and prefix + suffix[-1] in model["vocab"]:
            path = tmp_path / "tokenizer.json"
            path.write_text(json.dumps(document), encoding="utf-8")
            with pytest.raises(FormatError, match="end_of_word_suffix"):
                Tokenizer.from_file(path)
            n_refused += 1
            continue
        ours, theirs = both(tmp_path, json.dumps(document))
        for _ in range(20):
            text = "".join(random_.choices([*letters, " "], k=random_.randrange(8)))
            assert ours.encode(text) == theirs.encode(text).ids, (model, text)
    assert n_refused < 60
    assert (n_refused > 0) == overlap


NORMALIZERS = [
    {"type": "Strip", "strip_left": True, "strip_right": True},
    {"type": "Replace", "pattern": {"String": "b"}, "content": ""},
    {"type": "Replace", "pattern": {"Regex": "[ab]+"}, "content": ""},
    {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
    {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": None,
        "lowercase": True,
    },
    {"type": "Nmt"},
]


@pytest.mark.parametrize("normalizer", NORMALIZERS)
def test_an_added_token_that_is_normalized_to_nothing_is_refused(tmp_path, normalizer):
    """The library cuts texts into characters for it; a token that leaves something has its ids."""
    random_ = random.Random(json.dumps(normalizer))
    n_refused = 0
    for content in [*" bx\u0301\0\u00ad\x01", "bb", "ab", "c b"]:
        token = {**PLAIN, "content": content, "normalized": True}
        text = made(normalizer=normalizer, added_tokens=[token])
        normal = peer.Tokenizer.from_str(text).normalizer.normalize_str(content)
        if not normal:
            path = tmp_path / "tokenizer.json"
            path.write_text(text, encoding="utf-8")
            with pytest.raises(Exception, match="is nothing once it is normalized"):
                Tokenizer.from_file(path)
            n_refused += 1
            continue
        ours, theirs = both(tmp_path, text)
        for _ in range(60):
            letters = random_.choices([*"abcé 1", content], k=random_.randrange(9))
            sample = "".join(letters)
            assert ours.encode(sample) == theirs.encode(sample).ids, (content, sample)
    assert n_refused
