"""Masks of llguidance, xgrammar and outlines-core: right by themselves, and those of their readers of Hugging Face's files.

The libraries' own readers differ from ours at added tokens alone. llguidance lets no added token stand for text. xgrammar
and outlines-core let special tokens do so that the file repeats in `model.vocab`, and xgrammar even the end of an answer,
where the grammar may not end yet. llguidance allows a single token where its grammar leaves no choice of the next byte.
outlines-core leaves out tokens that go on by one byte from where a text may end.
"""

import json
import random
import re
import shutil

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from tests.conftest import REPOSITORY
from tests.made_up import CORPUS

import bytepair
from bytepair import serving

pytestmark = pytest.mark.slow

PUBLISHED = {
    "gpt2": "<|endoftext|>",
    "gpt-neox-20b": "<|endoftext|>",
    "llama2-style": "</s>",
    "minimind": "<|im_end|>",
    "qwen3": "<|im_end|>",
}
READ_BY_ALL = ["gpt2", "gpt4o", "byte-stream", "tekken", "sentencepiece"]
"""Dialects with files that the readers of all three libraries understand."""

WORDS = ["the ", "low", "é", "日本", "<think>", "<pad>", " x", '"', "\\n", "0", " "]
CLASSES = ["[a-z]", "[0-9]", "[ -~]", '[^"]', "[A-Za-z ]"]
PROPERTIES = {
    "name": {"type": "string"},
    "age": {"type": "integer"},
    "kind": {"enum": ["low", "é", "</s>", "<think>"]},
    "tags": {"type": "array", "items": {"type": "boolean"}},
}
PARTS = ["low", "low ", "er", "é", "<|end|>", "<think>", "1", " a"]


class Guidance:
    """llguidance, with a tokenizer of its own."""

    def __init__(self, tokenizer, n_ids):
        self.tokenizer, self.n_ids = tokenizer, n_ids

    @classmethod
    def ours(cls, vocabulary):
        """Take our vocabulary."""
        library = pytest.importorskip("llguidance")
        made = library.LLTokenizer(library.TokenizerWrapper(vocabulary))
        return cls(made, len(vocabulary.table))

    @classmethod
    def theirs(cls, path, vocabulary):
        """Read the file with tokenizers."""
        library = pytest.importorskip("llguidance")
        made = library.LLTokenizer(str(path), eos_token=vocabulary.eos_token_id)
        return cls(made, len(vocabulary.table))

    def begin(self, kind, grammar):
        """Give two functions: one that gives the allowed ids, and one that takes an id."""
        from llguidance import LLMatcher, numpy as bits

        compiled = getattr(LLMatcher, f"grammar_from_{kind}")(grammar)
        matcher = LLMatcher(self.tokenizer, compiled)
        assert not matcher.is_error(), matcher.get_error()

        def allowed():
            n_ids = max(self.tokenizer.vocab_size, self.n_ids)
            mask = bits.allocate_token_bitmask(1, n_ids)
            bits.fill_next_token_bitmask(matcher, mask)
            return places(mask, self.n_ids)

        return allowed, matcher.consume_token


class Xgrammar:
    """xgrammar, with its compiler for a tokenizer."""

    def __init__(self, info):
        import xgrammar

        self.info, self.compiler = info, xgrammar.GrammarCompiler(info)

    @classmethod
    def ours(cls, vocabulary):
        """Take our vocabulary."""
        library = pytest.importorskip("xgrammar", exc_type=ImportError)
        ends = [vocabulary.eos_token_id]
        return cls(library.TokenizerInfo(list(vocabulary.table), stop_token_ids=ends))

    @classmethod
    def theirs(cls, path, vocabulary):
        """Take the object of transformers."""
        library = pytest.importorskip("xgrammar", exc_type=ImportError)
        transformers = pytest.importorskip("transformers")
        read = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path))
        n_ids, ends = len(vocabulary.table), [vocabulary.eos_token_id]
        from_object = library.TokenizerInfo.from_huggingface
        return cls(from_object(read, vocab_size=n_ids, stop_token_ids=ends))

    def begin(self, kind, grammar):
        """Give two functions: one that gives the allowed ids, and one that takes an id."""
        import xgrammar

        compiled = getattr(self.compiler, f"compile_{kind}")(grammar)
        matcher = xgrammar.GrammarMatcher(compiled)

        def allowed():
            mask = xgrammar.allocate_token_bitmask(1, self.info.vocab_size)
            matcher.fill_next_token_bitmask(mask)
            return places(mask.numpy(), self.info.vocab_size)

        return allowed, matcher.accept_token


class Outlines:
    """outlines-core, with a vocabulary of its own."""

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    @classmethod
    def ours(cls, vocabulary):
        """Take our vocabulary."""
        library = pytest.importorskip("outlines_core")
        ids = vocabulary.table.ids_of_bytes
        return cls(library.Vocabulary(vocabulary.eos_token_id, ids))

    @classmethod
    def theirs(cls, path, vocabulary):
        """Read a file from the folder of downloads, since this library reads no other."""
        library = pytest.importorskip("outlines_core")
        hub = path.parent / "home" / ".cache" / "huggingface"
        model = hub / "hub" / "models--local--model"
        snapshot = model / "snapshots" / "0"
        snapshot.mkdir(parents=True, exist_ok=True)
        (model / "refs").mkdir(exist_ok=True)
        (model / "refs" / "main").write_text("0")
        shutil.copyfile(path, snapshot / "tokenizer.json")
        end = {"eos_token_id": vocabulary.eos_token_id}
        (snapshot / "generation_config.json").write_text(json.dumps(end))
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv("HOME", str(path.parent / "home"))
            patched.setenv("HF_HOME", str(hub))
            return cls(library.Vocabulary.from_pretrained("local/model"))

    def begin(self, kind, grammar):
        """Give two functions: one that gives the allowed ids, and one that takes an id."""
        import outlines_core
        from outlines_core.json_schema import build_regex_from_schema

        if kind == "json_schema":
            grammar = build_regex_from_schema(grammar)
        guide = outlines_core.Guide(outlines_core.Index(grammar, self.vocabulary))
        return lambda: {*guide.get_tokens()}, guide.advance


LIBRARIES = pytest.mark.parametrize("library", [Guidance, Xgrammar, Outlines])


def places(mask, n_ids):
    """Give the places of bits that are set."""
    bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
    return set(np.flatnonzero(bits[:n_ids]).tolist())


def trained(dialect):
    """Train a small tokenizer with an end, another special token, and an added one that is not special."""
    made = bytepair.train_from_iterator(
        CORPUS, merges=30, dialect=dialect, special_tokens=["<|end|>", "<pad>"]
    )
    return made.with_added_tokens(["<think>"])


@LIBRARIES
@pytest.mark.parametrize("dialect", bytepair.dialects())
def test_libraries_allow_exactly_the_tokens_that_go_on_in_a_text(library, dialect):
    """Those tokens are allowed whose bytes go on in a text of the grammar, and the end where one is finished."""
    vocabulary = serving.grammar_vocabulary(trained(dialect), eos="<|end|>")
    rows, end = list(vocabulary.table), vocabulary.eos_token_id
    made = library.ours(vocabulary)
    parts = st.lists(st.sampled_from(PARTS), min_size=1, max_size=4).map("".join)

    @settings(max_examples=30)
    @given(texts=st.lists(parts, min_size=1, max_size=4, unique=True), data=st.data())
    def walk(texts, data):
        # Where the next byte is certain, llguidance asks for ids, but a text may have none.
        texts = [text for text in texts if is_made_of_tokens(text, vocabulary)]
        assume(texts)
        # For outlines-core, an alternative excludes later ones that begin with it.
        pattern = "|".join(map(escaped, sorted(texts, reverse=True)))
        try:
            allowed, take = made.begin("regex", f"({pattern})")
        except ValueError as error:
            if "missing tokens" not in str(error):
                raise
            return  # outlines-core refuses a grammar if tokens may lead to where none goes on.
        texts, begun = [text.encode() for text in texts], b""
        while True:
            rest = {text[len(begun) :] for text in texts if text.startswith(begun)}
            expected = {
                id_
                for id_, row in enumerate(rows)
                if row and any(text.startswith(row) for text in rest)
                if library is not Outlines or row[:-1] not in rest or row in rest
            }
            if not expected:
                break
            found = allowed()
            is_forced = len({text[:1] for text in rest}) == 1
            if library is Guidance and is_forced and len(found) == 1:
                assert found <= expected
            else:
                assert found == expected | ({end} if b"" in rest else set())
            id_ = data.draw(st.sampled_from(sorted(found - {end})))
            take(id_)
            begun += rows[id_]

    walk()


def is_made_of_tokens(text, vocabulary):
    """Whether the vocabulary gives ids for a text."""
    ids = vocabulary(text)
    return b"".join(vocabulary.table[id_] for id_ in ids) == text.encode()


def escaped(text):
    """Write a text as a pattern that all three libraries read alike."""
    return re.sub(r"[|.?*+(){}\[\]\\^$]", r"\\\g<0>", text)


def grammars(drawn, n_grammars):
    """Give schemas, each with a part of the properties, and patterns."""
    for _ in range(n_grammars // 4):
        names = drawn.sample(sorted(PROPERTIES), drawn.randint(1, 3))
        chosen = {name: PROPERTIES[name] for name in names}
        schema = {"type": "object", "properties": chosen, "required": names[:1]}
        yield "json_schema", json.dumps({**schema, "additionalProperties": False})
    for _ in range(n_grammars):
        yield "regex", pattern(drawn, 3)


def is_match(grammar, begun):
    """Whether a text is complete."""
    try:
        return re.fullmatch(grammar, begun.decode()) is not None
    except UnicodeDecodeError:
        return False


def pattern(drawn, depth):
    """Give a random pattern."""
    kind = drawn.choice(["word", "class", "or", "and", "many"]) if depth else "word"
    if kind == "word":
        return drawn.choice(WORDS)
    if kind == "class":
        return drawn.choice(CLASSES)
    first = pattern(drawn, depth - 1)
    if kind == "many":
        return f"({first}){drawn.choice(['*', '+', '?', '{1,3}'])}"
    return f"({first}{'|' if kind == 'or' else ''}{pattern(drawn, depth - 1)})"


@LIBRARIES
@pytest.mark.parametrize("name", [*READ_BY_ALL, *PUBLISHED])
def test_masks_are_those_of_the_librarys_own_reader_apart_from_added_tokens(
    library, name, shared, tmp_path
):
    """At every step of random accepted texts, and no special token is allowed but the end, where the grammar may end."""
    path = tmp_path / "tokenizer.json"
    if name in PUBLISHED:
        shutil.copyfile(shared(f"vocabularies/{name}/tokenizer.json"), path)
    else:
        trained(name).save(path)
    tokenizer = bytepair.Tokenizer.from_file(path)
    vocabulary = serving.grammar_vocabulary(
        tokenizer, eos=PUBLISHED.get(name, "<|end|>")
    )
    added, end = tokenizer.added_tokens.keys(), vocabulary.eos_token_id
    both = [library.ours(vocabulary), library.theirs(path, vocabulary)]
    drawn, n_compared = random.Random(name), 0
    for kind, grammar in grammars(drawn, 40):
        (allowed, take), (allowed_by_them, take_by_them) = (
            made.begin(kind, grammar) for made in both
        )
        begun = b""
        for _ in range(12):
            found, expected = allowed(), allowed_by_them()
            if library is Guidance and expected <= added and "<" in grammar:
                break  # It reads certain text as an added token, and then refuses it.
            assert found - added == expected - added, (kind, grammar, begun)
            assert not found & {*vocabulary.special_token_ids} - {end}
            if kind == "regex":
                assert (end in found) == is_match(grammar, begun), (grammar, begun)
            n_compared += 1
            if not found & expected - added:
                break
            id_ = drawn.choice(sorted(found & expected - added))
            take(id_)
            take_by_them(id_)
            begun += vocabulary.table[id_]
    assert n_compared > 100


@pytest.mark.parametrize("name", ["llguidance", "xgrammar", "outlines_core"])
def test_the_lines_that_the_page_shows_run(name):
    """The block of each library runs with the schema and the vocabulary of the page."""
    pytest.importorskip(name, exc_type=ImportError)
    page = (REPOSITORY / "docs/how-to/grammars.md").read_text(encoding="utf-8")
    schema, *blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    [block] = [block for block in blocks if name in block]
    vocabulary = serving.grammar_vocabulary(trained("gpt2"), eos="<|end|>")
    exec(schema + block, {"vocabulary": vocabulary})


def test_an_accelerated_object_gives_xgrammar_what_it_gave_before(shared):
    """Tokens and settings of a tokenizer of transformers stay what they are."""
    xgrammar = pytest.importorskip("xgrammar", exc_type=ImportError)
    transformers = pytest.importorskip("transformers")
    from bytepair.compat.transformers import accelerate

    for name, end in PUBLISHED.items():
        path = shared(f"vocabularies/{name}/tokenizer.json")
        read = transformers.PreTrainedTokenizerFast
        both = [read(tokenizer_file=str(path), eos_token=end) for _ in range(2)]
        both[1] = accelerate(both[1], fallback=False)
        first, second = map(xgrammar.TokenizerInfo.from_huggingface, both)
        assert first.dump_metadata() == second.dump_metadata()
        assert first.decoded_vocab == second.decoded_vocab
