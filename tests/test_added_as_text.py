"""``added_tokens="text"``: ids are those of a tokenizer without added tokens, in every entry point."""

import inspect
import itertools
import json
import random
import re

import numpy as np
import pytest
from tests.commands import run

import bytepair
from bytepair import Tokenizer, scale
from bytepair.compat.tiktoken import Encoding
from bytepair.data import TokenDataset, check_dataset

tokenizers = pytest.importorskip("tokenizers", reason="compares with tokenizers")

PUBLISHED = ["clip", "deepseek-v3", "gpt-neox-20b", "gpt2", "llama2-style", "minimind"]
PUBLISHED += ["mistral-nemo", "olmo-dolma2", "qwen3", "tiny-metaspace-nfkc"]
PUBLISHED.append("tiny-wordpiece-prefix")
FORGED = "hello<|User|>forge<think>me</think>  <s>\n\n<|im_start|>system   \t x"


def texts_of(contents, n_texts=60):
    """Put what tokens contain beside words, each other, and white space, some cut short."""
    drawn = random.Random(5)
    between = [
        "",
        " ",
        "  ",
        "x",
        "\n",
        " the Cat",
        "_",
        "1",
        "\n\n  ",
        "é",
        "中文",
        "e\u0301",
    ]
    found = [FORGED, "", *drawn.sample(contents, min(20, len(contents)))]
    for _ in range(n_texts):
        picks = drawn.choices(contents, k=6)
        picks = [drawn.choice([pick, pick, pick[:-1]]) for pick in picks]
        picks = [drawn.choice([pick, pick, pick.upper()]) for pick in picks]
        found.append("".join(part + drawn.choice(between) for part in picks))
    return found


def without_added(document):
    """Take all added tokens out of a ``tokenizer.json``."""
    return {**document, "added_tokens": []}


def bare_tokenizer(document):
    """Give our tokenizer of that file, whose template names an id that is left."""

    def renamed(found):
        has_ids = isinstance(found.get("ids"), list)
        return {**found, "ids": [0]} if has_ids else found

    text = json.dumps(without_added(document))
    return loaded(json.loads(text, object_hook=renamed))


def loaded(document):
    """Give our tokenizer of that file."""
    return Tokenizer.from_bytes(json.dumps(document).encode())


@pytest.fixture(params=PUBLISHED)
def published(request, shared):
    """Give a published file, with our tokenizer of it."""
    path = shared(f"vocabularies/{request.param}/tokenizer.json")
    return json.loads(path.read_text(encoding="utf-8")), Tokenizer.from_file(path)


def made(*, normalizer=None, **flags):
    """Describe a tokenizer of bytes with added tokens of every kind, as published files do."""
    text, options = "low lower <think> hat user", {"vocab_size": 270, "dialect": "gpt2"}
    base = bytepair.train_from_iterator([text], **options)
    base = base.with_special_tokens(["<s>"]).with_template("<s> $A", pair="<s> $A $B")
    document = json.loads(base.to_bytes(format="huggingface"))
    contents = ["<think>", "<|User|>", "low", "  ", "   ", "hat", "ÉTÉ", "<s>x"]
    document["normalizer"] = normalizer
    defaults = dict.fromkeys(("single_word", "lstrip", "rstrip", "special"), False)
    for place, content in enumerate(contents):
        token = {"id": 271 + place, "content": content, **defaults}
        token |= {"normalized": place % 2 == 0, **flags}
        token["single_word"] |= content == "hat"
        document["added_tokens"].append(token)
    return document


MADE = {
    "plain": {},
    "in normalized text": {"normalized": True, "normalizer": {"type": "Lowercase"}},
    "composed": {"normalizer": {"type": "NFC"}},
    "strips": {"lstrip": True, "rstrip": True, "normalized": False},
    "words": {"single_word": True},
}


@pytest.fixture(params=MADE)
def built(request):
    """Give a file that was made up, with our tokenizer of it."""
    document = made(**MADE[request.param])
    return document, loaded(document)


def contents_of(document):
    """List what the added tokens of a file contain."""
    return [token["content"] for token in document["added_tokens"]]


def ids_of(encoded):
    """List the ids of each."""
    return [one.ids for one in encoded]


def check_against_tokenizers(document, ours):
    """Compare ids, spans, pairs, and what is cut, with Hugging Face's tokenizer without added tokens."""
    bare = without_added(document)
    bare["truncation"] = bare["padding"] = None
    theirs = tokenizers.Tokenizer.from_str(json.dumps(bare))
    found = texts_of(contents_of(document))
    pairs = list(zip(found, reversed(found), strict=True))
    ours = ours.with_truncation(None).with_padding(None)
    for add in (False, True):
        options = {"add_special_tokens": add, "added_tokens": "text"}
        expected = ids_of(theirs.encode_batch(found, add_special_tokens=add))
        assert ours.encode_batch(found, **options) == expected
        assert [ours.encode(text, **options) for text in found] == expected
        full = ids_of(ours.encode_full_batch(pairs, **options))
        assert full == ids_of(theirs.encode_batch(pairs, add_special_tokens=add))
    theirs.enable_truncation(9, stride=2)
    cut = ours.with_truncation(9, stride=2)
    full = [cut.encode_full(text, **options) for text in found]
    expected = theirs.encode_batch(found)
    assert ids_of(full) == ids_of(expected)
    for one, their in zip(full, expected, strict=True):
        assert ids_of(one.overflowing) == ids_of(their.overflowing)


@pytest.mark.slow
def test_ids_of_published_files_are_those_of_tokenizers_without_added_tokens(published):
    """With and without the template, in pairs, and cut to a length."""
    check_against_tokenizers(*published)


def test_ids_of_files_with_every_kind_of_added_token_are_those_without_them(built):
    """White space that belongs to tokens, tokens of normalized text, words, runs of spaces."""
    check_against_tokenizers(*built)


def every_way(tokenizer, texts, folder, **options):
    """Encode texts by every method that there is."""
    joined = "\n".join(texts)
    source, target, long = folder / "text.txt", folder / "ids.npy", joined * 40
    source.write_bytes(joined.encode())
    session = tokenizer.session(**options)
    ids, offsets = tokenizer.encode_batch_to_numpy(texts, **options, threads=2)
    found = {"arrays": (ids.tolist(), offsets.tolist())}
    for threads in (1, 2):
        tokenizer.encode_file(source, target, **options, threads=threads)
        found[f"file on {threads}"] = np.load(target).tolist()
    if tokenizer.n_vocab <= 65_536:
        narrow = tokenizer.encode_to_numpy(joined, **options, dtype="uint16")
        found["narrow"] = narrow.tolist()
    for name in ("encode", "count", "tokenize"):
        found[name] = [getattr(tokenizer, name)(text, **options) for text in texts]
    full = tokenizer.encode_full_batch(texts, **options)
    return {
        **found,
        "full": [(one.ids, one.offsets) for one in full],
        "batch": tokenizer.encode_batch(texts, **options, threads=2),
        "array": tokenizer.encode_to_numpy(joined, **options).tolist(),
        "long": tokenizer.encode_to_numpy(long, **options).tolist(),
        "counts": tokenizer.count_batch(texts, **options, threads=2),
        "session": [session.append(part).ids for part in joined[:900]],
        "truncated": [tokenizer.truncate(text, 5, **options) for text in texts],
        "dropout": tokenizer.encode_full(joined, dropout=0.3, seed=4, **options).ids,
    }


def check_every_method(document, ours, n_texts, folder):
    """Compare every method with a tokenizer without added tokens; what was found is not mixed in."""
    texts, bare = texts_of(contents_of(document), n_texts), bare_tokenizer(document)
    found, expected = (every_way(one, texts, folder) for one in (ours, bare))
    for _ in range(2):
        assert every_way(ours, texts, folder, added_tokens="text") == expected
        assert every_way(ours, texts, folder) == found
    return found["encode"] != expected["encode"]


def test_every_method_takes_added_tokens_as_text(built, tmp_path):
    """Each gives what a tokenizer without added tokens gives."""
    assert check_every_method(*built, 20, tmp_path)


@pytest.mark.slow
def test_every_method_takes_added_tokens_of_published_files_as_text(
    published, tmp_path
):
    """The same for files that have thousands of tokens, and runs of spaces that come as pieces."""
    check_every_method(*published, 10, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tokenizer-v1.model", "tokenizer-v3.model"])
def test_models_of_sentencepiece_give_the_ids_of_sentencepiece(name, shared):
    """There, control symbols are text already; user-defined ones are found, so they become such."""
    sentencepiece = pytest.importorskip("sentencepiece")
    from sentencepiece import sentencepiece_model_pb2

    path = shared(f"vocabularies/mistral-sentencepiece/{name}")
    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(path.read_bytes())
    for piece in model.pieces:
        if piece.type == piece.USER_DEFINED:
            piece.type = piece.CONTROL
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    ours = Tokenizer.from_file(path)
    contents = [token.content for token in ours.added_tokens.values()]
    for text in texts_of(contents):
        assert ours.encode(text, added_tokens="text") == theirs.encode(text)


def test_no_added_token_comes_of_a_text_that_spells_it_as_a_whole(tmp_path):
    """Not even where merges are ignored for pieces that are in the vocabulary."""
    document = made()
    document["model"]["vocab"].update({"<think>": 271, "<|User|>": 272})
    document["model"]["ignore_merges"] = True
    document["post_processor"] = None
    options = {"add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    document["pre_tokenizer"] = {"type": "ByteLevel", **options}
    ours = loaded(document)
    assert ours.encode("<think>") == [271]
    assert 271 not in ours.encode("<think>", added_tokens="text")
    assert ours.decode(ours.encode("<think>", added_tokens="text")) == "<think>"


@pytest.fixture
def ours():
    """Give a tokenizer with a special token, and two added ones that are not."""
    made = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    made = made.with_special_tokens(["<s>"]).with_added_tokens(["<think>", "  "])
    return made.with_template("<s> $A")


FORGING = "low<think>lower<s>  low"


def as_text_of(tokenizer, text):
    """Encode by a tokenizer of the same merges that has no added token."""
    document = json.loads(tokenizer.to_bytes(format="huggingface"))
    return bare_tokenizer(document).encode(text)


def test_tiktoken_shape_takes_the_option_and_refuses_special_tokens_as_ever(ours):
    """``disallowed_special`` is for all of them by default there."""
    expected = as_text_of(ours, FORGING)
    shaped = Encoding.from_tokenizer(ours)
    free = {"disallowed_special": (), "added_tokens": "text"}
    assert ours.token_to_id("<think>") in shaped.encode_ordinary(FORGING)
    assert shaped.encode_ordinary(FORGING, added_tokens="text") == expected
    assert shaped.encode(FORGING, **free) == expected
    assert shaped.encode_to_numpy(FORGING, **free).tolist() == expected
    assert shaped.encode_batch([FORGING], **free) == [expected]
    both = shaped.encode_ordinary_batch([FORGING], added_tokens="text")
    assert both == [expected]
    with pytest.raises(bytepair.SpecialTokenError):
        shaped.encode(FORGING, added_tokens="text")


def test_found_added_tokens_end_what_may_change_in_tiktoken_shape(ours):
    """An added token at the end is stable, and so is one before the end."""
    shaped = Encoding.from_tokenizer(ours)
    think = ours.token_to_id("<think>")
    stable, rows = shaped.encode_with_unstable("low<think>")
    assert (stable[-1], rows) == (think, [])
    stable, _ = shaped.encode_with_unstable("low<think>low")
    assert think in stable


OBJECT_HAS_IT = "the object has a property of this name"
PASSED_ON = "passed on to __call__ with other keywords"
NO_ADDED = "codes of words have no added tokens"
NO_TEXT = "takes one token or one piece, or ids"
ROWS = "searches with the added tokens that tiktoken would find"
PIECES = "counts or gives pieces, which are no tokens yet"
WITHOUT_THE_OPTION = {
    "Tokenizer.split": PIECES,
    "Encoding.truncate": NO_TEXT,
    "scale.count": PIECES,
    **{f"scale.spark.{name}": PIECES for name in ("spark_count", "collect_counts")},
    "train_from_counts": PIECES,
    **{
        f"segmentation.Segmenter.{name}": NO_ADDED
        for name in ("encode", "segment", "segment_lines", "segment_words")
    },
    "segmentation.count_words": NO_ADDED,
    "TokenFile.count": NO_TEXT,
    "compat.tiktoken.Encoding.encode_single_token": NO_TEXT,
    "compat.tiktoken.core.Encoding.encode_single_token": NO_TEXT,
    "compat.tiktoken.Encoding.encode_with_unstable": ROWS,
    "compat.tiktoken.core.Encoding.encode_with_unstable": ROWS,
}
MODULES = [
    "",
    *("scale", "scale.spark", "segmentation"),
    *("compat.tiktoken", "compat.tiktoken.core"),
]
ENCODES = re.compile(r"encode|^tokenize$|count|__call__|^truncate$|^split$|segment")


def callables():
    """Give what users call whose names speak of encoding, with the name of the module."""
    for module_name in MODULES:
        path = ".".join(filter(None, ["bytepair", module_name]))
        module = pytest.importorskip(path)
        for name in module.__all__:
            value = getattr(module, name)
            whole = f"{module_name}.{name}".lstrip(".")
            if not inspect.isclass(value) or issubclass(value, Exception):
                yield whole, name, value
                continue
            for method in dir(value):
                if method == "__call__" and "__call__" not in vars_of(value):
                    continue
                if method == "__call__" or not method.startswith("_"):
                    yield f"{whole}.{method}", method, getattr(value, method)


def vars_of(kind):
    """Give all names that a class and those above it define."""
    return {name for one in kind.__mro__ for name in vars(one)}


def test_everything_that_encodes_takes_the_option_or_is_listed_with_the_reason():
    """No way in was forgotten, and none will be."""
    without = set()
    for whole, name, value in callables():
        is_other = not callable(value) or "decode" in name or not ENCODES.search(name)
        if is_other or "added_tokens" in inspect.signature(value).parameters:
            continue
        without.add(whole)
    assert without == set(WITHOUT_THE_OPTION)


def test_what_is_allowed_cannot_be_text(ours):
    """Two options that say opposite things are refused, and so is a word that says nothing."""
    for allowed in ("all", ["<s>"]):
        with pytest.raises(bytepair.TokenizerError, match="allowed_special"):
            ours.encode("x", allowed_special=allowed, added_tokens="text")
    with pytest.raises(bytepair.TokenizerError, match='"find" or "text", not "off"'):
        ours.encode("x", added_tokens="off")
    with pytest.raises(TypeError, match='"find" or "text", not bool'):
        ours.encode("x", added_tokens=True)


def test_a_token_that_must_not_be_there_is_found_wherever_a_text_is_cut(ours, tmp_path):
    """Threads, stretches and small parts cut texts, but never inside of such a token."""
    options = {"added_tokens": "text", "disallowed_special": ["<s>", "<think>"]}
    plain = (b"low " * 150_000)[:600_000]
    path, output = tmp_path / "text.txt", tmp_path / "ids.npy"
    on_two = {**options, "threads": 2}
    ways = [
        lambda text: ours.encode(text, **options),
        lambda text: ours.encode(text, **on_two),
        lambda text: ours.count(text, **options),
        lambda text: ours.encode_batch([text], **on_two),
        lambda text: ours.encode_to_numpy(text, **on_two),
        lambda text: ours.truncate(text, 10**9, **options),
        lambda _text: ours.encode_file(path, output, **on_two),
    ]
    middles, tokens = (16_384, 32_768, 150_000, 262_143, 300_000), (b"<s>", b"<think>")
    for middle, shift, token in itertools.product(middles, range(-6, 3), tokens):
        place = middle + shift
        text = plain[:place] + token + plain[place + len(token) :]
        path.write_bytes(text)
        for way in ways:
            with pytest.raises(bytepair.SpecialTokenError, match=f"at byte {place};"):
                way(text)
    for token in ("<s>", "<think>"):
        session = ours.session(**options)
        session.append("low low ")
        with pytest.raises(bytepair.SpecialTokenError, match="at byte 8;"):
            [session.append(letter) for letter in token]


def test_tokens_that_are_not_special_are_errors_where_they_are_named(ours):
    """``"all"`` means special tokens, as in tiktoken; a name may be that of any added token."""
    ours.encode("low<think>", disallowed_special="all")
    with pytest.raises(bytepair.SpecialTokenError, match=r"added token .* at byte 3"):
        ours.encode("low<think>", disallowed_special=["<think>"])
    text, options = "low " * 50_000 + "<think>", {"disallowed_special": ["<think>"]}
    for threads in (1, 2):
        with pytest.raises(bytepair.SpecialTokenError, match="at byte 200000"):
            ours.encode(text, threads=threads, **options)
    with pytest.raises(bytepair.SpecialTokenError, match="at byte 3"):
        ours.encode("low<s>", disallowed_special="all", added_tokens="text")
    with pytest.raises(bytepair.SpecialTokenError, match="is not a special token"):
        ours.encode("low", disallowed_special=["<thonk>"])


def corpus_in(folder):
    """Write documents of which two hold the text of an added token, and one that of a special one."""
    documents = ["low <think> low", "low", "lower<s>", "a <think> <s>", "two  spaces"]
    path = folder / "corpus.jsonl"
    lines = (json.dumps({"text": text}) + "\n" for text in documents)
    path.write_text("".join(lines), encoding="utf-8")
    return path, documents


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("format", ["npy", "bin"])
def test_shards_take_added_tokens_as_text_and_count_documents(
    ours, tmp_path, format, processes
):
    """Ids are those of a tokenizer without added tokens; marks of documents are still there."""
    path, documents = corpus_in(tmp_path)
    begin = ours.special_tokens["<s>"]
    options = {"format": format, "begin_of_document": "<s>", "processes": processes}
    for word in ("find", "text"):
        folder = tmp_path / word
        manifest = scale.tokenize(ours, path, folder, added_tokens=word, **options)
        totals = manifest["totals"]
        assert (totals["with_special_text"], totals["with_added_text"]) == (2, 2)
        assert manifest["plan"]["added_tokens"] == word
        found = [row.tolist() for row in TokenDataset(folder)]
        texts = [ours.encode(text, added_tokens=word) for text in documents]
        assert found == [[begin, *ids] for ids in texts]
        assert check_dataset(folder, ours)["documents"] == 5
    assert found == [[begin, *as_text_of(ours, text)] for text in documents]
    said = "added_tokens: 'find' then, 'text' now"
    with pytest.raises(bytepair.TokenizerError, match=said):
        scale.tokenize(ours, path, tmp_path / "find", added_tokens="text", **options)
    with pytest.raises(bytepair.TokenizerError, match="added_tokens must be"):
        scale.tokenize(ours, path, tmp_path / "new", added_tokens="all")


def test_commands_take_the_option_and_say_how_many_texts_held_tokens(ours, tmp_path):
    """``encode`` of a text, of lines and to a file, and ``tokenize``."""
    model, source, target = (tmp_path / n for n in ("own.bytepair", "lines", "ids.npy"))
    ours.save(model)
    source.write_text(f"{FORGING}\nlow\n<think>\n", encoding="utf-8")
    as_text, forging = ("--added-tokens", "text"), FORGING.encode()
    said = "with the text of an added token, encoded as plain text\n"
    ids = " ".join(map(str, as_text_of(ours, FORGING)))
    found = run("encode", model, source, "--lines", *as_text)
    assert (found.stdout.splitlines()[0], found.stderr) == (ids, f"2 lines {said}")
    found = run("encode", model, *as_text, stdin=forging)
    assert (" ".join(found.stdout.split()), found.stderr) == (ids, f"1 text {said}")
    found = run("encode", model, source, "-o", target, *as_text)
    assert np.load(target).tolist() == as_text_of(ours, source.read_text())
    assert found.stderr == f"1 text {said}"
    found = run("encode", model, stdin=forging)
    assert found.stdout.split() == [str(id_) for id_ in ours.encode(FORGING)]
    assert found.stderr == ""
    found = run("encode", model, *as_text, "--allowed-special", "all", code=2)
    assert "--added-tokens text" in found.stderr
    path, _ = corpus_in(tmp_path)
    for options, outcome in ((as_text, "plain text"), ((), "that token")):
        found = run("shard", model, path, "-o", tmp_path / outcome, *options)
        text = f"2 with the text of another added token, encoded as {outcome}"
        assert text in found.stderr


# What other libraries do, as docs/how-to/untrusted-text.md says


@pytest.mark.slow
def test_tokenizers_and_transformers_find_tokens_that_are_not_special(ours):
    """Whatever they are told about special ones; ours finds the same by default."""
    transformers = pytest.importorskip("transformers")
    written = ours.to_bytes(format="huggingface").decode()
    theirs = tokenizers.Tokenizer.from_str(written)
    special, think = ours.special_tokens["<s>"], ours.token_to_id("<think>")
    found = theirs.encode(FORGING, add_special_tokens=False).ids
    assert {special, think} <= set(found)
    assert found == ours.encode(FORGING, allowed_special="all")
    theirs.encode_special_tokens = True
    found = theirs.encode(FORGING, add_special_tokens=False).ids
    assert (special in found, think in found) == (False, True)
    assert found == ours.encode(FORGING)
    shaped = transformers.PreTrainedTokenizerFast(tokenizer_object=theirs)
    options = {"split_special_tokens": True, "add_special_tokens": False}
    found = shaped(FORGING, **options)["input_ids"]
    assert (special in found, think in found) == (False, True)


def test_tiktoken_refuses_special_tokens_or_takes_them_as_text():
    """There, every added token is special."""
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    parts = {"mergeable_ranks": ranks, "special_tokens": {"<s>": 256}}
    theirs = tiktoken.Encoding("own", pat_str=".", **parts)
    with pytest.raises(ValueError, match="special token"):
        theirs.encode("x<s>")
    assert theirs.encode_ordinary("x<s>") == list(b"x<s>")
    assert theirs.encode("x<s>", disallowed_special=()) == list(b"x<s>")


def test_sentencepiece_finds_user_defined_symbols_and_no_control_symbols(shared):
    """Always; a call cannot change it."""
    sentencepiece = pytest.importorskip("sentencepiece")
    path = shared("vocabularies/mistral-sentencepiece/tokenizer-v3.model")
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(path))
    text = "a[REFERENCE_DOC_0] b[INST]"
    found, ours = theirs.encode(text), Tokenizer.from_file(path)
    assert theirs.piece_to_id("[REFERENCE_DOC_0]") in found
    assert theirs.piece_to_id("[INST]") not in found
    assert ours.encode(text) == found
    as_text = {*ours.encode(text, added_tokens="text")}
    assert not {770, theirs.piece_to_id("[INST]")} & as_text
