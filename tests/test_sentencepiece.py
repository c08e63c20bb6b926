"""SentencePiece models: ids, pieces and text are those of ``sentencepiece``.

Left out: damaged files and what is refused, which the tests of the core show.
"""

import base64
import itertools
import json
import pickle
import random

import pytest
from tests.commands import run

import bytepair
from bytepair import Tokenizer, TokenizerError, convert, train_from_iterator

pytest.importorskip("sentencepiece", reason="compares with sentencepiece")
import sentencepiece as spm

N_TEXTS = 300
PARTS = [
    *"abc AB \t\n\r09'.-_▁▁ﬁéE\u0301\u200d\u00ad\ufffd\0\u1100\u1161가\u202e\u3000中あ🙂⁇①Ａß"
]
PARTS += ["<sep>", "<sep> x", "▁foo", "foo", "abc", "bar "]
PARTS += ["<s>", "</s>", "<unk>", "<0x41>", "  "]
CORPUS = [
    "the cat sat on the mat, abc 12345 中あ가 ﬁne é e\u0301 <sep> x foo bar\tA\u3000B"
]

AS_WRITTEN = {"normalization_rule_name": "identity"}
SPACES_STAY = {"remove_extra_whitespaces": False}
BARE = {"add_dummy_prefix": False}
BYTES = {"byte_fallback": True, "vocab_size": 340}
SUFFIX = {"treat_whitespace_as_suffix": True}
SYMBOLS = ["<sep>", "abc", "▁foo"]
OPTIONS = {
    "plain": {"character_coverage": 0.98},
    "bytes": BYTES,
    "suffix": SUFFIX,
    "symbols": {
        "user_defined_symbols": ["<sep>", "<sep> x", "▁foo", "abc", "bar▁", "ﬁ"],
        "control_symbols": ["<ctl>"],
    },
    "identity": {**AS_WRITTEN, **SPACES_STAY, **BARE},
    "folded": {
        "normalization_rule_name": "nmt_nfkc_cf",
        "unk_surface": "?!",
        "unk_piece": "⁇",
    },
    "whole": {"split_by_whitespace": False, **SPACES_STAY},
    "runs": {  # as Gemma's models have them
        "user_defined_symbols": ["\n", "\n\n", "▁▁", "▁▁▁", "\t", "<unused0>", "</td>"],
        **AS_WRITTEN,
        **SPACES_STAY,
        **BARE,
        **BYTES,
        "split_digits": True,
        "vocab_size": 360,
    },
    "spaces": {"allow_whitespace_only_pieces": True, **SPACES_STAY},
    "llama": {**AS_WRITTEN, **SPACES_STAY, **BYTES, "split_digits": True},
    "tidy": {**AS_WRITTEN, "pad_id": 3},
    "tidy-bare": {**AS_WRITTEN, **BARE},
    "symbols-bare": {**AS_WRITTEN, **BARE, "user_defined_symbols": SYMBOLS},
    "symbols-prefixed": {
        **AS_WRITTEN,
        "user_defined_symbols": [*SYMBOLS, "[", "<s", "\n"],
    },
    "symbols-bytes": {
        **AS_WRITTEN,
        **SPACES_STAY,
        **BYTES,
        "user_defined_symbols": ["<sep>", "abc", "[SEP]", "[SEP]abc"],
    },
    "suffix-bytes": {**AS_WRITTEN, **SUFFIX, **BYTES},
    "lower": {"normalization_rule_name": "nmt_nfkc_cf"},
    "mapped-symbols": {
        "user_defined_symbols": ["<sep>", "[12]"],
        **BARE,
        **SPACES_STAY,
        **BYTES,
    },
    "runs-of-spaces": {
        **AS_WRITTEN,
        **SPACES_STAY,
        "split_by_whitespace": False,
        "allow_whitespace_only_pieces": True,
    },
}

# Models that a tokenizer.json cannot hold, with the word that names why.
NO_JSON = {
    "suffix": "treat_whitespace_as_suffix",
    "symbols": "user-defined symbol",
    "folded": "⁇",
    "suffix-bytes": "treat_whitespace_as_suffix",
}

# Models with a character map, which Hugging Face reads otherwise.
MAPPED = ("plain", "bytes", "lower", "whole", "spaces", "mapped-symbols")


def train_there(prefix, **options):
    """Train a model with sentencepiece, and give its path."""
    defaults = {"model_type": "bpe", "vocab_size": 90, "hard_vocab_limit": False}
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 40),
        model_prefix=str(prefix),
        **{"minloglevel": 2, **defaults, **options},
    )
    return prefix.with_suffix(".model")


def processor_of(path):
    """Load a model with sentencepiece."""
    return spm.SentencePieceProcessor(model_file=str(path))


def both(model):
    """Load a model with both libraries, theirs first."""
    return processor_of(model), Tokenizer.from_file(model)


@pytest.fixture(scope="module", params=OPTIONS)
def model(request, tmp_path_factory):
    """Train a model with one set of options."""
    prefix = tmp_path_factory.mktemp("models") / request.param
    return train_there(prefix, **OPTIONS[request.param])


def texts():
    """Make texts of parts at which rules begin and end."""
    chance = random.Random(20)
    lengths = (chance.randrange(24) for _ in range(N_TEXTS))
    return ["".join(chance.choices(PARTS, k=length)) for length in lengths]


def test_ids_and_text_are_those_of_sentencepiece(model):
    """A model that is read encodes and decodes as the library that made it."""
    theirs, ours = both(model)
    for text in itertools.chain(texts(), CORPUS):
        ids = theirs.encode(text)
        assert list(ours.encode(text)) == ids, text
        assert ours.decode(ids) == theirs.decode(ids), text


def test_tokens_are_those_of_sentencepiece(model):
    """Characters outside the alphabet are shown as they are, not as the unknown token."""
    theirs, ours = both(model)
    for text in ["中中x<unk>", *texts(), *CORPUS]:
        tokens = theirs.encode(text, out_type=str)
        assert ours.encode_full(text).tokens == tokens, text
        assert ours.tokenize(text) == tokens, text


def test_any_ids_decode_as_in_sentencepiece(model):
    """Ids in an order that no text gives, control and byte tokens too, decode alike."""
    theirs, ours = both(model)
    chance = random.Random(21)
    for _ in range(N_TEXTS):
        ids = chance.choices(range(len(theirs)), k=chance.randrange(10))
        assert ours.decode(ids) == theirs.decode(ids)
        stream = bytepair.DecodeStream(ours)
        assert "".join([*map(stream.push, ids), stream.finish()]) == theirs.decode(ids)


def test_bytes_that_are_no_text_encode_as_in_sentencepiece(model):
    """Each byte that is no part of a character counts as U+FFFD."""
    theirs, ours = both(model)
    chance = random.Random(22)
    parts = b" a\xe2\x96\x81\xff\xc3\xa9\xed\xa0\x80\xf0\x9f\0"
    for _ in range(N_TEXTS):
        data = bytes(chance.choices(parts, k=12))
        assert list(ours.encode(data)) == theirs.encode(data)


def test_a_written_model_is_the_model_to_sentencepiece(model, tmp_path):
    """What is written gives the same ids there, and a pickle gives them here."""
    theirs, ours = both(model)
    ours.save(tmp_path / "own.model")
    again = processor_of(tmp_path / "own.model")
    copied = pickle.loads(pickle.dumps(ours))
    for text in texts()[:200]:
        ids = theirs.encode(text)
        assert (again.encode(text), again.decode(ids)) == (ids, theirs.decode(ids))
        assert list(copied.encode(text)) == ids


def test_spans_are_those_of_sentencepiece(model):
    """Every token has the characters that the library says it stands for."""
    theirs, ours = both(model)
    for text in ["hello world", "\t tab", *texts(), *CORPUS]:
        spans = theirs.encode(text, return_type="offset_mapping")["offsets"]
        assert ours.encode_full(text).offsets == list(map(tuple, spans)), text


def test_control_symbols_are_special_tokens(model):
    """A call may allow them; what stands between two is encoded as a text of its own."""
    theirs, ours = both(model)
    is_special = (theirs.is_control, theirs.is_unknown)
    special = [i for i in range(len(theirs)) if any(is_(i) for is_ in is_special)]
    assert ours.special_tokens == {theirs.id_to_piece(i): i for i in special}
    for text in ["abc", " a  b ", "the cat\tsat"]:
        ids = theirs.encode(text)
        marked = f"<s>{text}</s>{text}"
        assert ours.encode(marked, allowed_special="all") == [1, *ids, 2, *ids]
        assert ours.encode(marked) == theirs.encode(marked)
        assert ours.decode([1, *ids, 2]) == theirs.decode(ids)
        known = [i for i in ids if i != theirs.unk_id()]
        shown = ours.decode([1, *ids, 0], skip_special_tokens=True)
        assert shown == theirs.decode(known)


def test_a_model_becomes_a_tokenizer_json_with_its_ids(model, tmp_path):
    """Hugging Face tokenizers gives the ids of sentencepiece, or the file is refused by name."""
    peer = pytest.importorskip("tokenizers")
    ours, target = Tokenizer.from_file(model), tmp_path / "tokenizer.json"
    is_mapped = model.stem in MAPPED
    if model.stem in NO_JSON:
        with pytest.raises(TokenizerError, match=NO_JSON[model.stem]):
            convert(ours, target, ids_may_change=True)
        return
    done = convert(ours, target, ids_may_change=is_mapped)
    assert done.has_ids
    assert bool(done.changes) == is_mapped
    theirs, again = peer.Tokenizer.from_file(str(target)), Tokenizer.from_file(target)
    processor = processor_of(model)
    n_alike = 0
    for text in itertools.chain(texts(), CORPUS):
        ids = theirs.encode(text, add_special_tokens=False).ids
        assert again.encode(text, allowed_special="all") == ids, text
        for skips in (False, True):
            decoded = ours.decode(ids, skip_special_tokens=skips)
            assert theirs.decode(ids, skip_special_tokens=skips) == decoded, text
            assert again.decode(ids, skip_special_tokens=skips) == decoded, text
        if is_mapped and "".join(ours.split(text)) != "".join(again.split(text)):
            continue
        n_alike += 1
        assert ours.encode(text, allowed_special="all") == ids, text
        if not any(name in text for name in ours.special_tokens):
            assert processor.encode(text) == ids, text
    assert n_alike > N_TEXTS // 3


@pytest.mark.parametrize("model", ["plain"], indirect=True)
def test_a_character_map_is_written_on_request_alone(model, tmp_path):
    """The refusal shows a text with the ids on both sides, and the option; save has it too."""
    ours, target = Tokenizer.from_file(model), tmp_path / "tokenizer.json"
    with pytest.raises(
        TokenizerError, match=r"(?s)first .*second .*ids_may_change=True"
    ):
        convert(ours, target)
    with pytest.raises(TokenizerError, match="ids_may_change=True"):
        ours.save(target)
    with pytest.raises(TokenizerError, match="ids_may_change=True"):
        ours.save_pretrained(tmp_path / "folder")
    assert not list(tmp_path.iterdir())
    ours.save(target, ids_may_change=True)
    ours.save_pretrained(tmp_path / "folder", ids_may_change=True)
    assert (tmp_path / "folder/tokenizer.json").read_bytes() == target.read_bytes()
    data = ours.to_bytes(format="huggingface", ids_may_change=True)
    assert data == target.read_bytes()


def odd_clusters():
    """List every character alone and beside what makes a cluster of it, in some thousand texts."""
    points = [*range(1, 0xD800), *range(0xE000, 0x110000)]
    texts = []
    for place in range(0, len(points), 512):
        row = [chr(point) for point in points[place : place + 512]]
        marks = ["", "\u0301", "\u200d", "\u3099", "\u0600", "\r\n"]
        texts += ["".join(f"{c}{mark}x" for c in row) for mark in marks]
    return texts


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["nfkc", "nmt_nfkc", "nfkc_cf", "nmt_nfkc_cf"])
def test_a_map_is_read_in_a_tokenizer_json_as_hugging_face_reads_it(tmp_path, rule):
    """Every character, alone and in clusters, becomes there and here the same."""
    peer = pytest.importorskip("tokenizers")
    options = {"normalization_rule_name": rule, **BARE, **SPACES_STAY}
    train_there(tmp_path / "own", vocab_size=80, **options)
    peer_model = pytest.importorskip("sentencepiece.sentencepiece_model_pb2")
    model = peer_model.ModelProto()
    model.ParseFromString((tmp_path / "own.model").read_bytes())
    charsmap = base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode()
    file = {
        "version": "1.0",
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "model": {"type": "BPE", "unk_token": "?", "vocab": {"?": 0}, "merges": []},
    }
    theirs = peer.Tokenizer.from_str(json.dumps(file))
    ours = Tokenizer.from_bytes(json.dumps(file).encode(), format="huggingface")
    for text in [*odd_clusters(), *texts()]:
        assert "".join(ours.split(text)) == theirs.normalizer.normalize_str(text)


DIALECTS = {
    "spaces alone": {},
    "an unknown token": {
        "pattern": "",
        "byte_fallback": False,
        "vocab_size": 110,
        "unknown_token": "<unk>",
        "fuse_unknown": True,
    },
    "no pattern": {"pattern": ""},
    "special tokens": {"special_tokens": ["<unk>", "<s>", "</s>"]},
}


@pytest.mark.parametrize("options", DIALECTS.values(), ids=DIALECTS)
def test_what_is_trained_here_is_a_model_to_sentencepiece(tmp_path, options):
    """A tokenizer of the dialect is written so that sentencepiece gives its ids."""
    spaces = [("replace", " ", "▁")]
    options = {"normalize": spaces, "vocab_size": 360, **options}
    ours = train_from_iterator(CORPUS * 5, dialect="sentencepiece", **options)
    convert(ours, tmp_path / "own.model")
    theirs, again = both(tmp_path / "own.model")
    for text in itertools.chain(texts(), CORPUS):
        ids = ours.encode(text)
        assert theirs.encode(text) == ids, text
        assert theirs.decode(ids) == again.decode(ids)


@pytest.mark.parametrize("name", ["plain", "llama", "runs", "suffix", "symbols"])
def test_training_goes_on_from_a_model_to_a_model(tmp_path, name):
    """Every piece keeps its id, and sentencepiece gives the ids of what was learned."""
    train_there(tmp_path / "first", **OPTIONS[name])
    first = Tokenizer.from_file(tmp_path / "first.model")
    corpus = ["the bats chatted at the mats", "中あ the hats sat 12"] * 9
    more = train_from_iterator(corpus, resume=first, vocab_size=first.n_vocab + 20)
    assert more.n_vocab > first.n_vocab + 5
    more.save(tmp_path / "more.model")
    old = processor_of(tmp_path / "first.model")
    new = processor_of(tmp_path / "more.model")
    for id_ in range(len(old)):
        assert new.id_to_piece(id_) == old.id_to_piece(id_)
    assert len(new) == more.n_vocab
    for text in itertools.chain(corpus, texts(), CORPUS):
        assert new.encode(text) == more.encode(text), text


@pytest.mark.parametrize(
    ("normalize", "name"),
    [
        (None, "NFKC.*no new character maps.*tokenizer.json"),
        (["nfc", ("replace", " ", "▁")], "NFC"),
        (["lowercase", ("replace", " ", "▁")], "lower case"),
        ([("replace", "ß", "ss"), ("replace", " ", "▁")], '"ß" becomes "ss"'),
        ([("replace", "ab", "c")], '"ab" becomes "c"'),
        ([("replace", " ", "▁"), ("prepend", "▁")], "decoding"),
    ],
)
def test_what_no_model_has_is_refused_by_name(tmp_path, normalize, name):
    """A model that is written has no character map of ours, and leaves a prefix out of texts."""
    options = {"dialect": "sentencepiece", "merges": 3}
    options |= {} if normalize is None else {"normalize": normalize}
    ours = train_from_iterator(CORPUS, **options)
    for may_change in (False, True):
        with pytest.raises(TokenizerError, match=name):
            ours.save(tmp_path / "own.model", ids_may_change=may_change)


def test_training_refuses_a_model_before_it_begins(tmp_path):
    """The command says at once that its dialect has a normalizer that no model gets."""
    corpus = tmp_path / "text.txt"
    corpus.write_text("\n".join(CORPUS))
    options = ("--dialect", "sentencepiece", "--vocab-size", 360, "-o", "own.model")
    done = run("train", *options, corpus, code=1, cwd=tmp_path)
    assert "NFKC" in done.stderr
    assert not list(tmp_path.glob("own.*"))


def test_other_types_are_refused_by_name(tmp_path):
    """A Unigram model is no tokenizer of ours."""
    prefix = tmp_path / "unigram"
    train_there(prefix, vocab_size=60, model_type="unigram")
    with pytest.raises(TokenizerError, match="Unigram"):
        Tokenizer.from_file(prefix.with_suffix(".model"))
