"""The doctor: what it finds, and that it finds nothing where there is nothing."""

import functools
import io
import json
import re
import shutil
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import Phase, given, settings
from rich.cells import cell_len
from tests import commands
from tests.conftest import load

import bytepair
from bytepair.analyze import behaviour, diagnose
from bytepair.analyze.doctor import CODES, page
from bytepair.analyze.doctor._corpus import count
from bytepair.analyze.doctor._draw import diagnosis_text
from bytepair.analyze.doctor._partial import Partial
from bytepair.analyze.doctor._subject import Subject, is_utf8
from bytepair.analyze.doctor._texts import completions

PAGES = Path(__file__).parent.parent / "docs" / "findings"
UNMERGED = {"merges": 0, "vocab_size": None}
FLAGS = ["special", "normalized", "lstrip", "rstrip", "single_word"]
UNFLAGGED = dict.fromkeys(FLAGS, False)


def trained(texts="low lower", **options):
    """Train on a little text."""
    return bytepair.train_from_iterator([texts], **{"vocab_size": 258, **options})


def edited(change, tokenizer=None):
    """Change the tokenizer.json of a tokenizer."""
    tokenizer = tokenizer or trained()
    file = json.loads(tokenizer.to_bytes(format="huggingface"))
    change(file)
    return bytepair.Tokenizer.from_bytes(json.dumps(file).encode())


def native(change, tokenizer=None):
    """Change the content of the .bytepair file of a tokenizer."""
    file = json.loads((tokenizer or trained()).to_bytes())
    change(file)
    return bytepair.Tokenizer.from_bytes(json.dumps(file).encode())


# A small tokenizer for each code


def with_token(name, *merges):
    """Add a token, as published files write it, with merges."""

    def change(file):
        vocab = file["model"]["vocab"]
        vocab[name] = len(vocab)
        file["model"]["merges"] += merges

    return change


def with_more(*tokens):
    """Add tokens with the merges that make them of the two parts that a space parts."""

    def change(file):
        for token in tokens:
            vocab = file["model"]["vocab"]
            vocab.setdefault(token.replace(" ", ""), len(vocab))
            file["model"]["merges"].append(token.split(" "))

    return change


def doubled(file):
    """Write the first merge once more at the end."""
    file["model"]["merges"].append(file["model"]["merges"][0])


def normalized(*steps):
    """Set the normalizer of a file, after other tokens were added."""

    def change(file):
        file["normalizer"] = {"type": "Sequence", "normalizers": list(steps)}

    return change


def both(*changes):
    """Make one change after the other."""

    def change(file):
        for one in changes:
            one(file)

    return change


def without_byte(file):
    """Take the byte E9 out of a vocabulary."""
    del file["model"]["vocab"]["é"]


def with_literal(file):
    """Split at the text of a pattern, as ``Split`` does for a pattern that is a ``str``."""
    split = {"type": "Split", "behavior": "Isolated", "invert": False}
    split["pattern"] = {"String": r"\p{N}|\P{N}+"}
    steps = [split, {**file["pre_tokenizer"], "use_regex": False}]
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}


def with_hole(file):
    """Leave an id without a token."""
    file["tokens"].insert(256, None)
    file["merges"] = [[75, 78, 257], [257, 86, 258]]


def twice(file):
    """Add a token of the vocabulary once more, with another id."""
    file["tokens"].append({"kind": "added", "text": "low"})
    file["added_tokens"].append({"id": 258, "content": "low", **UNFLAGGED})


def with_long_token(file):
    """Append merges to a long token."""
    letters = "abcdefghijkl"
    for n in range(2, len(letters) + 1):
        with_more(f"{letters[: n - 1]} {letters[n - 1]}")(file)


def settings_file(folder, name="tokenizer_config.json", **settings):
    """Write settings of a tokenizer, or of a model, to a file."""
    path = folder / name
    if name == "tokenizer_config.json":
        settings = {"tokenizer_class": "X", **settings}
    path.write_text(json.dumps(settings))
    return path


def moved(folder):
    """Write a tokenizer.json that lists another id than libraries give."""
    tokenizer = trained().with_special_tokens(["<s>"])
    file = json.loads(tokenizer.to_bytes(format="huggingface"))
    file["added_tokens"][0]["id"] = 300
    path = folder / "tokenizer.json"
    path.write_text(json.dumps(file))
    return {"tokenizer": bytepair.Tokenizer.from_file(path), "file": path}


def ranks(folder, special, *missing):
    """Write ranks, and read them with a special token of this id."""
    path = folder / "own.tiktoken"
    trained("low lower lowest", vocab_size=260, dialect="gpt4").save(path)
    Path(f"{path}.json").unlink()
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if int(line.split()[1]) not in missing]
    path.write_bytes(b"".join(kept))
    options = {"dialect": "gpt4", "special_tokens": {"<s>": special}}
    tokenizer = bytepair.Tokenizer.from_file(path, **options)
    return {"tokenizer": tokenizer, "file": path}


def saved(folder, tokenizer, **settings):
    """Write a tokenizer.json, and settings beside it."""
    path = folder / "tokenizer.json"
    tokenizer.save(path)
    config = settings_file(folder, **settings)
    return {"tokenizer": tokenizer, "file": path, "config": config}


def model_folder(folder):
    """Write a folder whose model has the pattern of GPT-4, and whose class has that of GPT-2."""
    tokenizer = trained("A'M B'M", dialect="gpt4", vocab_size=257)
    found = saved(folder, tokenizer, tokenizer_class="GPT2Tokenizer")
    model = settings_file(folder, "config.json", model_type="olmo2")
    return {**found, "file": folder, "config": [found["config"], model]}


def corpus(folder, text):
    """Write a corpus of one text."""
    path = folder / "corpus.txt"
    path.write_text(text)
    return path


def with_settings(*special, name="tokenizer_config.json", **settings):
    """Say how to write settings beside a tokenizer with special tokens."""
    tokenizer = trained().with_special_tokens([*special])
    return lambda folder: {
        "tokenizer": tokenizer,
        "config": settings_file(folder, name, **settings),
    }


def with_corpus(text, tokenizer=None):
    """Say how to write a corpus for a tokenizer."""
    tokenizer = tokenizer or trained()
    return lambda folder: {"tokenizer": tokenizer, "corpus": corpus(folder, text)}


SPECIAL = ["<s>"]
TWO_BS = {"type": "Replace", "pattern": {"String": "b"}, "content": "bb"}
DIGITS = r"\p{N}|\P{N}+"
SPECIAL_LOW = bytepair.AddedToken("low", special=True)
LISTED = {"7": {"content": "<s>"}}
FUSED = edited(lambda file: file.update(decoder={"type": "Fuse"}))
BY_TRANSFORMERS = {"BP405", "BP408"}
# For each code a tokenizer or what to diagnose, and the ids that are named.
SICK = {
    "BP101": (edited(with_token("slow")), {258}),
    "BP102": (trained(" é è", vocab_size=257), {256}),
    "BP103": (
        edited(with_more("Ã ©", "Ã© Ã"), trained(pattern="(?s).", **UNMERGED)),
        {257},
    ),
    "BP104": (
        edited(both(with_more("b b", "a b"), normalized(TWO_BS)), trained(**UNMERGED)),
        {257},
    ),
    "BP201": (edited(without_byte), set()),
    "BP202": (edited(lambda file: file["model"]["merges"].reverse()), {257}),
    "BP203": (edited(both(with_token("slow"), with_more("slow e"))), {259}),
    "BP204": (edited(doubled), {256}),
    "BP301": (
        trained().with_special_tokens(SPECIAL).with_added_tokens(["[<s>]"]),
        {259},
    ),
    "BP302": (native(twice), {257}),
    "BP303": (trained().with_added_tokens([SPECIAL_LOW]), {257}),
    "BP304": (trained().with_added_tokens(["<user>"]), {258}),
    "BP305": (native(twice), {257}),
    "BP401": (native(with_hole), {256}),
    "BP402": (moved, {258}),
    "BP403": (with_settings("<s>", added_tokens_decoder=LISTED), {258}),
    "BP404": (with_settings(bos_token={"content": "<s>"}), set()),
    "BP405": (
        lambda folder: saved(
            folder, trained(dialect="gpt2"), tokenizer_class="Qwen2Tokenizer"
        ),
        set(),
    ),
    "BP406": (with_settings(name="config.json", vocab_size=257), {257}),
    "BP407": (lambda folder: ranks(folder, 300), {300}),
    "BP408": (model_folder, set()),
    "BP501": (edited(both(with_more("L o"), normalized({"type": "Lowercase"}))), {258}),
    "BP502": (edited(with_more("1 2"), trained(pattern=DIGITS, **UNMERGED)), {256}),
    "BP503": (trained(dialect="gpt2"), set()),
    "BP504": (trained(dialect="gpt2"), set()),
    "BP505": (FUSED, set()),
    "BP506": (edited(with_literal), set()),
    "BP507": (FUSED, set()),
    "BP601": (with_corpus("lot of"), {257}),
    "BP602": (with_corpus("low low"), {256}),
    "BP603": (with_corpus("low abcdefghijk" * 2000, edited(with_long_token)), {268}),
    "BP604": (
        with_corpus("low löw", trained(dialect="sennrich", merges=2, vocab_size=None)),
        set(),
    ),
}


def test_tokens_of_no_text_and_runs_of_spaces_are_found():
    """A name that no byte is spelled with, an empty name, and added tokens of spaces."""
    names = {"\u203c": 258, "": 259}
    sick = edited(lambda file: file["model"]["vocab"].update(names))
    assert diagnose(sick, select=["BP1"]).ids("BP101") == {258, 259}
    spaced = trained().with_added_tokens(["  ", "    "])
    assert diagnose(spaced, select=["BP3"]).ids("BP304") == {258, 259}


def test_bytes_that_are_spelled_before_the_last_cut_are_bytes():
    """As in Falcon's file, digits are cut behind ``ByteLevel``; every token occurs, and parts of characters are told."""

    def cut_behind(file):
        steps = [file["pre_tokenizer"], {"type": "Digits", "individual_digits": False}]
        file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": steps}

    tokenizer = edited(cut_behind, trained(" é è", dialect="gpt2", vocab_size=257))
    options = {"ignore": ["BP503", "BP504"]}
    plain = diagnose(trained(" é è", dialect="gpt2", vocab_size=257), **options)
    found = diagnose(tokenizer, **options)
    codes = [finding.code for finding in found.findings]
    assert [finding.code for finding in plain.findings] == codes
    assert found.ids("BP102") == plain.ids("BP102") != set()


def healthy(folder):
    """Give a tokenizer, its file, settings and a corpus, in which nothing is found."""
    tokenizer = trained(pattern=r"\s*\S+|\s+").with_special_tokens(SPECIAL)
    found = saved(
        folder,
        tokenizer,
        tokenizer_class="PreTrainedTokenizerFast",
        bos_token="<s>",
        added_tokens_decoder={"258": {"content": "<s>"}},
    )
    found["config"] = [
        found["config"],
        settings_file(folder, "config.json", vocab_size=259),
    ]
    return {**found, "corpus": corpus(folder, "low lo")}


def test_nothing_is_found_in_a_tokenizer_without_faults(tmp_path):
    """No code is given where its fault is not; each is given by the tokenizers of SICK."""
    assert diagnose(**healthy(tmp_path)).findings == ()


def test_without_transformers_nothing_is_found_that_it_would_show(
    tmp_path, monkeypatch
):
    """The diagnosis says so, and stays clean."""
    monkeypatch.setitem(sys.modules, "transformers", None)
    given, _ = SICK["BP405"]
    diagnosis = diagnose(**given(tmp_path), select=["BP4"])
    assert diagnosis.is_clean
    assert "they need transformers" in diagnosis.unchecked[0]
    assert diagnosis.unchecked[0] in str(diagnosis)
    assert behaviour(given(tmp_path)["tokenizer"]) in str(diagnosis)
    assert diagnose(**given(tmp_path), select=["BP403"]).unchecked == ()


@pytest.mark.slow
def test_a_folder_is_loaded_with_and_without_the_settings_of_its_model(
    tmp_path, monkeypatch
):
    """A table has the ids of each loader, the class that replaces a part, and the shortest text."""
    transformers = pytest.importorskip("transformers")
    tokenizer = model_folder(tmp_path)["tokenizer"]
    own = behaviour(tokenizer)
    shown = run(tmp_path, "--select", "BP405,BP408", code=1)
    assert re.search(f"transformers {transformers.__version__} +{own}  the same", shown)
    (tmp_path / "config.json").unlink()
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    encode = functools.partial(theirs.encode, add_special_tokens=False)
    found = json.loads(run(tmp_path, "--select", "BP405", "--json", code=1))
    [file, loader] = found["loaders"]
    assert (file["behaviour"], loader["behaviour"]) == (own, behaviour(encode))
    assert "pre_tokenizer" in loader["replaced"]
    text = loader["first"]["text"]
    told = f"{tokenizer.encode(text)} here, {encode(text)} with GPT2Tokenizer"
    assert loader["first"]["detail"] == told
    clean = "clean_up_tokenization_spaces"
    force = f"{clean}_for_bpe_even_though_it_will_corrupt_output"
    settings_file(tmp_path, **{clean: True, force: True})
    cleaned = " ".join(run(tmp_path, "--select", "BP405").split())
    assert "the same ids; TokenizersBackend; decodes ids to another text" in cleaned
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    cached = tmp_path / "models--some--model" / "snapshots" / "main"
    shutil.copytree(tmp_path, cached, ignore=lambda *_: ["models--some--model"])
    by_name = json.loads(run("some/model", "--select", "BP405", "--json", code=None))
    assert len(by_name["loaders"]) == 2
    (tmp_path / "tokenizer.json").write_text("{}")
    alone = diagnose(tokenizer, file=tmp_path, select=["BP405"])
    assert alone.loaders[1].problem in str(alone)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(code, marks=[pytest.mark.slow] * (code in BY_TRANSFORMERS))
        for code in CODES
    ],
)
def test_each_code_is_found_where_it_is(code, tmp_path):
    """A small tokenizer with a fault has the finding, and it names the ids worked out by hand."""
    if code in BY_TRANSFORMERS:
        pytest.importorskip("transformers")
    given, ids = SICK[code]
    given = given(tmp_path) if callable(given) else {"tokenizer": given}
    diagnosis = diagnose(**given, select=[code])
    assert {finding.code for finding in diagnosis.findings} == {code}
    assert diagnosis.ids(code) == ids
    assert all(finding.count for finding in diagnosis.findings)
    for finding in diagnosis.findings:
        assert re.match(r"An? .*\.$", finding.message), finding.message


def test_each_code_has_a_page_with_four_headings():
    """The page says what it is, why it matters, an example and a cure; docs have the same."""
    headings = ["What it is", "Why it matters", "Example", "Cure"]
    assert sorted(path.stem for path in PAGES.glob("BP*.md")) == sorted(CODES)
    listed = (PAGES / "README.md").read_text(encoding="utf-8")
    for code, entry in CODES.items():
        text = page(code)
        assert re.findall(r"^## (.+)$", text, re.MULTILINE) == headings
        assert text.startswith(f"# {code} {entry.name}\n\n{entry.severity.title()}. ")
        assert (PAGES / f"{code}.md").read_text(encoding="utf-8") == text
        assert f"| [{code}]({code}.md) | {entry.name} | {entry.severity} |" in listed
        for target in re.findall(r"\]\(([^)#]+)\)", text):
            assert (PAGES / target).exists(), (code, target)


# Reachability against exhaustive search


FORMS = ["plain", "continuing", "ending", "continuing_ending"]
"""By whether a token continues a piece (1), and whether it ends one (2)."""


@st.composite
def vocabularies(draw):
    """Draw a small vocabulary of some dialect, with merges in an order of no training."""
    mark = draw(st.sampled_from([None, "suffix", "unit"]))
    has_prefix = draw(st.booleans())
    stranger = draw(st.sampled_from(["error", "drop", "unknown", "bytes"]))
    if stranger == "bytes":
        has_prefix, mark = False, None
    tokens = [(0, b) for b in "ab"]
    tokens += [(1, b) for b in "ab" if has_prefix]
    if mark == "suffix":
        tokens += [(form | 2, b) for form, b in tokens]
    if mark == "unit":
        tokens.append((2, ""))
    n_units = len(tokens)
    merges = []
    pairs = st.tuples(st.integers(0, 99), st.integers(0, 99))
    for left, right in draw(st.lists(pairs, max_size=9)):
        left, right = left % len(tokens), right % len(tokens)
        (first, one), (last, other) = tokens[left], tokens[right]
        is_split = has_prefix and not (last & 1 or other == "")
        if first & 2 or is_split or len(one + other) > 3:
            continue
        made = (first & 1 | last & 2, one + other)
        if made not in tokens:
            tokens.append(made)
        merges.append([left, right, tokens.index(made)])
    order = draw(st.permutations(range(len(merges))))
    merges = [merges[place] for place in order]
    priorities = (
        [draw(st.integers(0, 3)) for _ in merges] if draw(st.booleans()) else []
    )
    appended = draw(st.sampled_from([None, "ba", "aab"]))
    if appended and (0, appended) not in tokens:
        tokens.append((0, appended))
    written = {
        "tokens": tokens,
        "merges": merges,
        "priorities": priorities,
        "ignore_merges": draw(st.booleans()),
    }
    return written, n_units, (mark, has_prefix, stranger), draw(st.booleans())


def tokenizer_of(drawn, mark, has_prefix, stranger, *, has_hole):
    """Write a vocabulary as a .bytepair file, and read it."""
    file = json.loads(trained("ab", dialect="byte-stream", vocab_size=256).to_bytes())
    written = [
        {"kind": FORMS[form], "text": text} if form else text
        for form, text in drawn["tokens"]
    ]
    written += [None] * has_hole
    if stranger == "unknown":
        written.append({"kind": "unknown", "text": "<unk>"})
    if stranger == "bytes":
        written += [{"kind": "byte", "text": chr(byte)} for byte in range(0x80)]
        written += [{"kind": "byte", "hex": f"{byte:02x}"} for byte in range(0x80, 256)]
    elif has_hole:
        written.append({"kind": "added", "text": "<s>"})
    units = {
        "unit": "character",
        "end_mark": mark and {"text": "_", "kind": mark},
        "continuing_prefix": "#" if has_prefix else None,
        "unknown": "<unk>" if stranger == "unknown" else None,
        "fuse_unknown": False,
        "byte_fallback": stranger == "bytes",
        "missing": "drop" if stranger == "drop" else "error",
    }
    file |= {"rounds": [], "merge_counts": [], "units": units}
    file |= {**drawn, "tokens": written}
    return bytepair.Tokenizer.from_bytes(json.dumps(file).encode())


def all_texts(letters, most):
    """Give all texts of these letters, up to a length."""
    texts, last = [], [""]
    for _ in range(most):
        last = [text + letter for text in last for letter in letters]
        texts += last
    return texts


@given(vocabularies())
def test_a_token_is_found_unreachable_exactly_if_no_text_has_it(drawn):
    """Marks, priorities, holes, strangers, by exhaustive search; with whole pieces none is missed."""
    written, n_units, kind, has_hole = drawn
    tokenizer = tokenizer_of(written, *kind, has_hole=has_hole)
    texts = all_texts("ab", 7) if kind[2] == "error" else all_texts("abz", 6)
    ids, _ = tokenizer.encode_batch_to_numpy(texts, threads=1)
    unreachable = set(range(len(written["tokens"]))) - set(ids.tolist())
    diagnosis = diagnose(tokenizer, select=["BP1"])
    if written["ignore_merges"]:  # whole pieces come before what merges make: hints
        assert not any(finding.is_fact for finding in diagnosis.of("BP101"))
        unreachable -= set(range(n_units))  # of the alphabet hints say nothing
        assert diagnosis.ids("BP101") | diagnosis.ids("BP104") >= unreachable
        return
    assert diagnosis.ids("BP101") == unreachable
    assert all(finding.is_fact for finding in diagnosis.of("BP101"))


PIECES = {
    "whole texts": "(?s).+",
    "single characters": "(?s).",
    "runs of é": "[é]+|[^é]+",
    "letters without marks": r"\p{L}+|\P{L}+",
    "before a letter": "(?s)[^ã]?[éè]+|.",
}
"""Patterns that join or part characters whose bytes are merged."""


@st.composite
def byte_vocabularies(draw):
    """Draw merges of the bytes of a, é, è, ã and U+0301, in an order of no training."""
    alphabet = sorted(set("aéèã\u0301".encode()))
    tokens = [bytes([byte]) for byte in range(256)]
    drawn = [tokens[byte] for byte in alphabet]
    pairs = []
    for left, right in draw(st.lists(st.tuples(*[st.integers(0, 99)] * 2), max_size=9)):
        left, right = drawn[left % len(drawn)], drawn[right % len(drawn)]
        if len(left + right) <= 4 and (left, right) not in pairs:
            pairs.append((left, right))
            drawn += [] if left + right in drawn else [left + right]
    tokens += [token for token in drawn if len(token) > 1]
    places = draw(st.permutations(range(len(pairs))))
    merges = [
        [tokens.index(part) for part in (*pairs[place], b"".join(pairs[place]))]
        for place in places
    ]
    pattern = draw(st.sampled_from(sorted(PIECES)))
    normalizer = draw(st.sampled_from(["NFC", "NFD", None]))
    return tokens, merges, pattern, normalizer


def byte_tokenizer(drawn):
    """Write these tokens and merges as a .bytepair file, and read it."""
    tokens, merges, pattern, normalizer = drawn
    base = trained("a", pattern=PIECES[pattern], **UNMERGED)
    if normalizer:
        base = edited(normalized({"type": normalizer}), base)
    file = json.loads(base.to_bytes())
    written = [
        token.decode() if is_utf8(token) else {"kind": "plain", "hex": token.hex()}
        for token in tokens
    ]
    file |= {"tokens": written, "merges": merges, "merge_counts": []}
    return bytepair.Tokenizer.from_bytes(json.dumps(file).encode())


TAILS = bytes(range(0x80, 0xC0))


@settings(phases=[Phase.explicit, Phase.generate])
@given(byte_vocabularies())
def test_no_text_has_a_token_with_part_of_a_character_exactly_if_it_is_proven(drawn):
    """Proofs by normalizer, pattern and neighbours against a search of texts.

    Where each text is one piece and only the last character is incomplete, both find the same.
    """
    tokenizer = byte_tokenizer(drawn)
    ids, _ = tokenizer.encode_batch_to_numpy(
        all_texts("aéèãÁ\u0301\u0328\u0329\u0323æ\u0337", 3), threads=1
    )
    subject = Subject(tokenizer)
    proofs = Partial(subject)
    unmade, _ = subject.unreached
    partial = {id_ for id_ in subject.partial if id_ >= 256} - unmade
    proven = {id_ for id_ in partial if proofs.reason(id_)}
    assert not proven & set(ids.tolist())
    if drawn[2:] == ("whole texts", None):
        tokens = {id_: drawn[0][id_] for id_ in partial}
        one_ended = {id_ for id_, own in tokens.items() if own == own.lstrip(TAILS)}
        assert one_ended - proven <= set(ids.tolist())


def test_a_token_is_found_beside_the_rest_of_a_character():
    """Each completion merges first, but not where its last byte is merged with what follows."""
    tokenizer = edited(
        with_more("Ð °", "± q", "Ð ±", "Ð° Ð"),
        trained(merges=0, pattern="[\u0430\u0431q]+|(?s:.)", vocab_size=None),
    )
    assert 259 in tokenizer.encode("\u0430\u0431q")
    for text in ("\u0430\u0430", "\u0430\u0431", "\u0430\u0400"):
        assert 259 not in tokenizer.encode(text)
    assert diagnose(tokenizer, select=["BP103"]).findings == ()


def dropping(*tokens, pattern=None, form=None):
    """Make a tokenizer of characters that merges two tokens, and leaves out what it has no tokens for."""
    file = json.loads(trained("ab", dialect="byte-stream", vocab_size=256).to_bytes())
    if pattern:
        base = trained("a", pattern=pattern, **UNMERGED)
        file["rounds"] = json.loads(base.to_bytes())["rounds"]
    file["units"] |= {"unit": "character", "missing": "drop"}
    file |= {"tokens": [*tokens, "".join(tokens)], "merges": [[0, 1, 2]]}
    file["merge_counts"] = []
    file["normalizer"] = [{"type": "form", "form": form}] if form else []
    return bytepair.Tokenizer.from_bytes(json.dumps(file).encode())


@pytest.mark.parametrize(
    ("tokenizer", "text"),
    [
        (dropping("a", "b", pattern="a[^b]b|(?s:.)"), "aXb"),
        (dropping("e", "\u0301", form="nfc"), "eX\u0301"),
    ],
    ids=["pattern", "normalizer"],
)
def test_a_token_whose_units_meet_where_others_are_left_out_is_not_lost(
    tokenizer, text
):
    """The pattern cuts the token's own text, or the normalizer changes it; another text has it."""
    assert tokenizer.encode(text) == [2]
    assert tokenizer.encode(tokenizer.vocabulary[2]) != [2]
    assert diagnose(tokenizer, select=["BP1", "BP501", "BP502"]).findings == ()


@pytest.mark.parametrize("single_word", [False, True])
def test_a_token_that_contains_an_added_token_is_hidden_for_certain(single_word):
    """Wherever its text is, the added token is found; a word beside another may not be."""
    added = bytepair.AddedToken("low", single_word=single_word)
    tokenizer = trained("xlowx xlowx", merges=4, vocab_size=None)
    assert tokenizer.vocabulary[-1] == b"xlowx"
    tokenizer = tokenizer.with_added_tokens([added])
    token = tokenizer.token_to_id("xlowx")
    findings = diagnose(tokenizer, select=["BP305"]).findings
    assert (token in tokenizer.encode("xlowx")) == single_word
    assert [finding.is_fact for finding in findings] == [True] * (not single_word)
    assert all(token in {t.id for t in finding.tokens} for finding in findings)


def with_added(*tokens, steps=()):
    """Add tokens, and then normalize with these steps."""

    def change(file):
        size = len(file["model"]["vocab"])
        file["added_tokens"] = [
            {"id": size + n, **UNFLAGGED, **token} for n, token in enumerate(tokens)
        ]
        if steps:
            normalized(*steps)(file)

    return edited(change)


RAW, CASED = {"content": "A"}, {"content": "xA", "normalized": True}
PREPENDED = {"type": "Prepend", "prepend": "_"}


@pytest.mark.parametrize(
    ("tokenizer", "details"),
    [
        (with_added(RAW, CASED), ["'A' is found first"]),
        (with_added(RAW, CASED, steps=[{"type": "Lowercase"}]), []),
        (with_added(CASED, steps=[PREPENDED]), ["not in ' xA '"]),
        (with_added({"content": "xA"}, steps=[PREPENDED]), []),
        (with_added({"content": "xA", "single_word": True}), []),
    ],
    ids=["hidden", "lower case", "put before", "raw", "single word"],
)
def test_added_tokens_that_texts_hide(tokenizer, details):
    """Certain only without normalizing; one that is found after ``_`` only is told by a text."""
    findings = diagnose(tokenizer, select=["BP301"]).findings
    found = [token for finding in findings for token in finding.tokens]
    assert [token.detail for token in found] == details
    assert all(finding.is_fact for finding in findings)
    for text in ("xA", "a xA", "a xA a", "xa", "axa"):
        ids = tokenizer.encode(text, allowed_special="all")
        if details and "first" in details[0]:
            assert found[0].id not in ids
    if details and "not in" in details[0]:
        assert found[0].id not in tokenizer.encode(" xA ", allowed_special="all")


TEXTS = st.text("abA <", min_size=1, max_size=3)
STEPS = [
    {"type": "Lowercase"},
    {"type": "Replace", "pattern": {"String": "b"}, "content": "aa"},
    {"type": "Strip", "strip_left": True, "strip_right": True},
]


@st.composite
def with_added_tokens(draw):
    """Draw merges of letters and spaces, added tokens with properties, and a step."""
    tokens, merges = list("abA <"), []
    for left, right in draw(st.lists(st.tuples(*[st.integers(0, 99)] * 2), max_size=7)):
        pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
        if len("".join(pair)) <= 4:
            merges.append(pair)
            tokens.append("".join(pair))
    pattern = draw(st.sampled_from(["(?s).+", "(?s).", r" ?\w+|\s+|[^\w\s]+"]))
    step = draw(st.sampled_from([*STEPS, None]))
    names = draw(st.lists(TEXTS, max_size=3, unique=True))
    flags = st.lists(st.booleans(), min_size=5, max_size=5)
    return merges, pattern, step, {name: draw(flags) for name in names}


@given(with_added_tokens())
def test_no_text_has_a_token_that_is_said_to_be_in_none(drawn):
    """Facts about normalizer, pattern, merges and added tokens, by search through all texts."""
    merges, pattern, step, added = drawn

    def change(file):
        vocab = file["model"]["vocab"]
        for pair in merges:
            left, right = (part.replace(" ", "Ġ") for part in pair)
            vocab.setdefault(left + right, len(vocab))
            file["model"]["merges"].append([left, right])
        file["normalizer"] = step

    tokenizer = edited(change, trained("a", pattern=pattern, **UNMERGED))
    for content, flags in added.items():
        token = bytepair.AddedToken(content, **dict(zip(FLAGS, flags, strict=True)))
        tokenizer = tokenizer.with_added_tokens([token])
    texts = all_texts("abA <", 4)
    found, _ = tokenizer.encode_batch_to_numpy(texts, threads=1)
    codes = ["BP101", "BP305", "BP501", "BP502"]
    diagnosis = diagnose(tokenizer, select=[*codes, "BP301"])
    facts = [finding for finding in diagnosis.findings if finding.is_fact]
    lost = {t.id for finding in facts for t in finding.tokens if finding.code in codes}
    assert not lost & set(found.tolist())
    told = [token for finding in facts for token in finding.tokens]
    hidden = {token.id for token in told if "is found first" in token.detail}
    for text in texts if hidden else ():
        assert not hidden & set(tokenizer.encode(text, allowed_special="all"))


def test_letters_that_a_pattern_takes_for_others_are_tried():
    """Without case, \u017f is an s: only before it is the apostrophe merged with what it follows."""
    tokenizer = edited(
        with_more("' s", "a '", "a 's"),
        trained(merges=0, pattern="a(?i:'s)|(?s:.)", vocab_size=None),
    )
    token = tokenizer.token_to_id("a'")
    assert token in tokenizer.encode("a'\u017f")
    assert token not in diagnose(tokenizer, select=["BP101", "BP104"]).ids("BP104")


# Ids that other libraries do not keep


def json_file(path, content):
    """Write JSON."""
    path.write_text(json.dumps(content))


def decoder(**ids):
    """List added tokens as tokenizer_config.json does."""
    return {str(n): {"content": f"<{name}>", **UNFLAGGED} for name, n in ids.items()}


@functools.cache
def model_with_symbols():
    """Train a small model that has a user-defined symbol."""
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["low lower lowest newer wide"] * 9),
        model_writer=model,
        model_type="bpe",
        vocab_size=30,
        user_defined_symbols=["<u>"],
        normalization_rule_name="identity",
        minloglevel=3,
    )
    return model.getvalue()


def published_folder(folder, kind, listed, where):
    """Write 258 tokens as a published folder of some kind, which lists added tokens."""
    name = "PreTrainedTokenizerFast"
    if kind == "model":
        name = "LlamaTokenizer"
        (folder / "tokenizer.model").write_bytes(model_with_symbols())
    if kind == "file":
        trained(dialect="gpt2").save(folder / "tokenizer.json")
    settings = {"tokenizer_class": name}
    if where == "settings":
        settings["added_tokens_decoder"] = decoder(**listed)
    else:
        names = {f"<{name}>": id_ for name, id_ in listed.items()}
        json_file(folder / "added_tokens.json", names)
    json_file(folder / "tokenizer_config.json", settings)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "where"),
    [
        ("file", "settings"),
        ("file", "added_tokens.json"),
        ("model", "settings"),
        ("model", "added_tokens.json"),
    ],
)
@pytest.mark.parametrize("gap", [0, 1, 40])
def test_ids_that_transformers_does_not_keep_are_found(kind, where, gap, tmp_path):
    """A folder that lists ids behind a hole: the library's own ids, where they differ. Pairs are refused."""
    transformers = pytest.importorskip("transformers")
    published_folder(tmp_path, kind, {}, where)
    n_before = bytepair.Tokenizer.from_file(tmp_path).n_vocab
    listed = {"a": n_before, "b": n_before + 1 + gap}
    published_folder(tmp_path, kind, listed, where)
    tokenizer = bytepair.Tokenizer.from_file(tmp_path)
    findings = diagnose(tokenizer, file=tmp_path, select=["BP402"]).findings
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path).added_tokens_encoder
    moved = {f"<{t}>": id_ for t, id_ in listed.items() if theirs[f"<{t}>"] != id_}
    assert {t.text for finding in findings for t in finding.tokens} == moved.keys()
    for token in (token for finding in findings for token in finding.tokens):
        assert str(theirs[token.text]) in (str(token.id), token.detail.split()[0])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("special", "missing", "code"),
    [
        (260, (), None),
        (300, (), "BP407"),
        (258, (258,), "BP402"),
        (260, (257,), "BP402"),
        (259, (259,), None),
    ],
)
def test_ranks_whose_special_tokens_move_in_conversion(
    special, missing, code, tmp_path
):
    """As transformers converts them: the id of another token is an error, a free one is not."""
    converting = pytest.importorskip("transformers.convert_slow_tokenizer")
    made = ranks(tmp_path, special, *missing)
    converted = converting.TikTokenConverter(
        vocab_file=str(made["file"]), pattern=r"\S+", extra_special_tokens=["<s>"]
    ).converted()
    theirs = converted.token_to_id("<s>")
    findings = diagnose(**made, select=["BP402", "BP407"]).findings
    assert [finding.code for finding in findings] == ([code] if code else [])
    assert (theirs != special) == bool(code)
    assert all(f"{theirs}" in token.detail for f in findings for token in f.tokens)
    lines = made["file"].read_text().splitlines()
    is_taken = theirs in {int(line.split()[1]) for line in lines}
    assert is_taken == (code == "BP402")


def test_completions_are_all_characters_that_have_the_bytes():
    """Every character of three kinds of lengths, by search through all of them."""
    codes = [*range(0x80, 0x3000), *range(0x10000, 0x11000)]
    characters = [chr(code).encode() for code in codes]
    for part in ("a9", "8080", "c3", "e0a4", "f09080", "9080"):
        part = bytes.fromhex(part)
        found = set(completions(part))
        expected = {one for one in characters if part in one and part != one}
        ends = part[0] >= 0xC0
        expected = {one for one in expected if not ends or one.startswith(part)}
        assert expected == found & set(characters)
        assert all(len(one.decode()) == 1 for one in found)


# Options


def test_codes_are_chosen_by_their_beginnings():
    """--select and --ignore take codes and beginnings; one that means nothing is refused."""
    tokenizer = edited(both(with_token("slow"), with_more("slow e")))
    found = diagnose(tokenizer, select=["BP1", "BP2"]).findings
    assert {finding.code for finding in found} == {"BP101", "BP203"}
    assert diagnose(tokenizer, select=["BP1"], ignore=["BP"]).findings == ()
    some = diagnose(tokenizer, select=["BP"], ignore=["BP2", "BP5"])
    assert {finding.code for finding in some.findings} == {"BP101"}
    with pytest.raises(bytepair.TokenizerError, match="need a corpus"):
        diagnose(tokenizer, select=["BP6"])


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"tokenizer_class": 5}', "tokenizer_class must be a name, not 5"),
        ('{"bos_token": ["<s>"]}', "bos_token must be a token"),
        ('{"hidden_size": 8}', "neither a tokenizer_config.json nor a model's config"),
        ("[]", "expected a JSON object"),
        ("{", "not JSON"),
        (None, "No such file"),
    ],
)
def test_settings_that_mean_nothing_are_refused_by_name(content, said, tmp_path):
    """The error names the file and what it holds."""
    path = tmp_path / "tokenizer_config.json"
    if content:
        path.write_text(content)
    with pytest.raises(bytepair.TokenizerError, match=re.escape(said)) as error:
        diagnose(trained(), config=path)
    assert str(error.value).startswith(f"{path}: ")


def test_odd_entries_of_settings_are_passed_over(tmp_path):
    """Ids that are none, and tokens without a text, are nothing to compare."""
    listed = {"x": {"content": "a"}, "9" * 5000: {"content": "b"}, "3": 4, "5": {}}
    config = settings_file(tmp_path, added_tokens_decoder=listed)
    sizes = {"vocab_size": None, "text_config": {"vocab_size": "many"}}
    model = settings_file(tmp_path, "config.json", **sizes)
    diagnosis = diagnose(trained(), config=[config, model], select=["BP4"])
    assert diagnosis.findings == ()


# Published vocabularies: the numbers of the study, and magikarp's categories


@pytest.mark.slow
def test_the_numbers_of_qwen3(shared):
    """Parts of characters, tokens that are not given back, and those lost by NFC are counted.

    Its model tokens are those of Qwen 2.5.
    """
    tokenizer = load(shared("vocabularies/qwen3/tokenizer.json"))
    diagnosis = diagnose(tokenizer, select=["BP1", "BP501", "BP502"])
    assert diagnosis.counts["partial"] == 1448
    assert diagnosis.counts["not_given_back"] == 1909
    [changed] = diagnosis.of("BP501")
    assert (changed.count, changed.is_fact) == (248, True)
    [cut] = diagnosis.of("BP502")
    assert (cut.count, cut.is_fact) == (1661, True)
    texts = [token.text for token in changed.tokens]
    assert all(unicodedata.normalize("NFC", text) != text for text in texts)
    assert diagnosis.of("BP101") == ()


def test_nothing_is_wrong_with_gpt2(shared):
    """A sound tokenizer has notes only; each token is what it is for the publisher's library, and comes back."""
    tokenizers = pytest.importorskip("tokenizers")
    from tests.parity import magikarp

    path = shared("vocabularies/gpt2/tokenizer.json")
    diagnosis = diagnose(load(path), file=path)
    codes = {finding.code for finding in diagnosis.findings}
    assert codes == {"BP102", "BP503", "BP504"}
    library = tokenizers.Tokenizer.from_file(str(path))
    subject = Subject(load(path))
    kinds = magikarp.categories(library, subject.text_ids)
    undecodable = {id_ for id_, kind in kinds.items() if kind == "undecodable"}
    assert undecodable == set(subject.partial)
    assert not {"single", "several"} & {*kinds.values()}
    assert diagnosis.counts["not_given_back"] == 0


# The corpus


def test_made_and_kept_are_those_of_the_definition(tmp_path):
    """Both counts of a corpus, by merging each piece of it step by step."""
    tokenizer = bytepair.train_from_iterator(
        ["low lower lowest newer wider new"], merges=14
    ).with_added_tokens(["new"])
    text = "low newer lowest slow <s> lower new  low widest\nnewest low"
    made, kept = Counter(), Counter()
    for part in re.split("(new)", text):
        if part == "new":
            made[tokenizer.token_to_id("new")] += 1
            kept[tokenizer.token_to_id("new")] += 1
            continue
        for piece in tokenizer.split(part.encode()):
            row = [tokenizer.token_to_id(bytes([byte])) for byte in piece]
            made.update(row)
            merges = {
                (left, right): id_
                for left, right, id_, _ in tokenizer.inspect().merge_log
            }
            for (left, right), id_ in merges.items():
                place = 0
                while place + 1 < len(row):
                    if row[place : place + 2] == [left, right]:
                        row[place : place + 2] = [id_]
                        made[id_] += 1
                    place += 1
            kept.update(row)
    used = count(Subject(tokenizer), corpus(tmp_path, text), {})
    assert {id_: n for id_, n in enumerate(used.formed.tolist()) if n} == made
    assert {id_: n for id_, n in enumerate(used.kept.tolist()) if n} == kept
    assert Counter(tokenizer.encode(text)) == kept


def test_intermediate_tokens_are_ranked_by_the_share_that_is_kept(tmp_path):
    """At most 1 % is kept; those that are never kept come first, and then the most formed."""
    tokenizer = edited(
        with_more("a b", "ab c", "d e", "de f", "g h", "gh i", "j k", "jk l"),
        trained(**UNMERGED),
    )
    words = {"abc": 300, "def": 400, "ghi": 198, "gh": 2, "jkl": 197, "jk": 2, "de": 1}
    text = " ".join(word for word, n in words.items() for _ in range(n))
    path = corpus(tmp_path, text)
    [finding] = diagnose(tokenizer, corpus=path, select=["BP602"]).findings
    usages = {token.text: token.usage for token in finding.tokens}
    assert {name: (usage.formed, usage.kept) for name, usage in usages.items()} == {
        "ab": (words["abc"], 0),
        "de": (words["def"] + words["de"], words["de"]),
        "gh": (words["ghi"] + words["gh"], words["gh"]),
    }
    assert list(usages) == ["ab", "de", "gh"]
    rows = finding.as_object()["tokens"]
    assert [row["kept_share"] for row in rows] == [0, 1 / 401, 2 / 200]
    assert rows[2]["detail"] == "formed 200 times, kept 2 times (1.000 %)"


# The command


def run(*arguments, code=0):
    """Run ``bytepair doctor``; give what it wrote."""
    return commands.run("doctor", *arguments, code=code).stdout


@pytest.fixture
def slow(tmp_path):
    """Write a tokenizer with a token that no merges lead to."""
    path = tmp_path / "tokenizer.json"
    edited(with_token("slow"), trained(pattern=r"\s*\S+|\s+")).save(path)
    return path


def test_the_command_shows_what_was_found(slow):
    """A finding has its code, its sentence, the first tokens and where to read on; --json has all tokens.

    The exit code is 1 with a warning, 0 without one and with notes only.
    """
    notes = slow.with_name("notes.bytepair")
    trained(dialect="gpt2").save(notes)
    assert "BP503" in run(notes)
    assert run(slow, "--select", "bp1", code=1).splitlines() == [
        "BP101 unreachable-token: 1 (warning)",
        "  A token that no text is ever encoded with: its own units do not merge into it,",
        "  or it has no text.",
        "    258  'slow'  becomes 's' + 'low'",
        "",
        "Found 1 warning. To explain a code: bytepair doctor --explain BP101",
    ]
    assert run(slow, "--select", "BP2") == "Nothing found.\n"
    found = json.loads(run(slow, "--json", code=1))
    [finding] = found["findings"]
    assert (finding["code"], finding["count"], finding["is_fact"]) == ("BP101", 1, True)
    token = {"id": 258, "text": "slow", "detail": "becomes 's' + 'low'"}
    assert finding["tokens"] == [token]
    assert found["counts"]["ids"] == 259


def test_settings_beside_the_file_are_looked_at(slow):
    """A tokenizer_config.json in the folder counts; --config names another instead."""
    settings_file(slow.parent, bos_token="<s>")
    assert "BP404" in run(slow, code=1)
    assert "BP404" in run(slow.parent, "--select", "BP4", code=1)
    other = slow.parent / "other.json"
    other.write_text('{"tokenizer_class": "X"}')
    assert "BP404" not in run(slow, "--config", other, code=1)


def test_a_page_is_explained():
    """--explain prints the page of a code, typed with or without BP, as text without Markdown."""
    for code in CODES:
        shown = run("--explain", code)
        assert shown.startswith(f"{code} {CODES[code].name}\n\n")
        assert not re.search(r"```|\]\(|^#", shown, re.MULTILINE)
        text = re.sub(r"```\w*|\]\([^)]+\)", "", page(code))
        assert re.findall(r"\w+", shown) == re.findall(r"\w+", text)
    assert run("--explain", "504") == run("--explain", "bp504")


def test_info_warns_of_a_pattern_that_is_a_text(tmp_path):
    """The command that shows a tokenizer says it, too; the finding says what the pattern would cut."""
    edited(with_literal).save(tmp_path / "tokenizer.json")
    told = commands.run("info", tmp_path / "tokenizer.json").stdout
    assert (
        r"texts are split at '\\p{N}|\\P{N}+', which is not read as a pattern" in told
    )
    [finding] = diagnose(edited(with_literal), select=["BP506"]).findings
    assert "I'll pay  | 1 | 2 | , | 3 | 4 | 5 |  for it" in finding.tokens[0].detail


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "name a tokenizer"),
        (["--explain", "BP999"], 1, "there is no finding 'BP999'"),
        (["t", "--json", "--limit", "0"], 2, "--limit"),
        (
            ["t", "--input-format", "lines"],
            2,
            "--input-format lines needs a corpus; give one with --corpus",
        ),
        (["t", "--field", "text"], 2, "--field needs a corpus; give one with --corpus"),
        (["t", "--limit", "-1"], 2, "must be at least 0"),
        (["t", "--select", "BP7"], 1, "--select BP7: no code begins with this"),
    ],
)
def test_what_means_nothing_is_refused(arguments, code, said, slow):
    """Options that have no effect, and codes that there are not."""
    typed = [slow if one == "t" else one for one in arguments]
    assert said in commands.refused("doctor", *typed, code=code)


@pytest.mark.parametrize("width", [30, 40, 80, 200])
def test_no_line_is_wider_than_the_terminal(width, tmp_path):
    """Whatever the tokens are: wide characters, marks, controls."""
    tokenizer = edited(
        both(with_token("中文字" * 30), with_token("x" * 300)), trained(dialect="gpt2")
    )
    diagnosis = diagnose(tokenizer, corpus=corpus(tmp_path, "low"))
    text = diagnosis_text(diagnosis, width=width, n_shown=9, is_painted=False)
    assert all(cell_len(line) <= width for line in text.splitlines())
    assert text.count("BP") > 3
