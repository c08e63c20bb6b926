"""Whether a tokenizer extends another: each way not to is found and named, in anyone's file."""

import itertools
import json

import pytest
from hypothesis import given, strategies as st
from tests.made_up import CORPUS, added, every_kind, hugging_face, vocabulary
from tests.test_surgery import KINDS, grown, short_texts

import bytepair
from bytepair import surgery
from bytepair.analyze._compare.faults import Case
from bytepair.analyze._compare.joining import Joined

TEXTS = [*CORPUS, "lower wider the hat's hats 12 12 été 中文 low<m>er\n\n"] * 3


def file_of(tokenizer, path):
    """Write a tokenizer as Hugging Face's libraries do, and give the JSON, too."""
    path.write_bytes(tokenizer.to_bytes(format="huggingface"))
    return json.loads(path.read_text())


def edited(tmp_path, edit, *, before=lambda _data: None):
    """Verify a file that was edited by hand against the one that it was before."""
    base = tmp_path / "base.json"
    data = file_of(every_kind()["gpt2"], base)
    # Else Hugging Face numbers them behind the model's.
    ids = {token["content"]: token["id"] for token in data["added_tokens"]}
    data["model"]["vocab"].update(ids)
    before(data)
    base.write_text(json.dumps(data))
    edit(data)
    (tmp_path / "new.json").write_text(json.dumps(data))
    return surgery.verify_extension(base, tmp_path / "new.json")


def about(check):
    """Name what the faults are about."""
    return [fault.about for fault in check.faults]


@pytest.mark.parametrize("name", KINDS)
def test_an_extension_is_one(name):
    """Of every dialect; the base extends itself, and is no extension of what is larger."""
    found = grown(name, add=9)
    check = surgery.verify_extension(found.base, found.tokenizer)
    assert check, check.lines
    assert check.new_ids == tuple(range(found.base.n_vocab, len(found.tokenizer)))
    assert check.within_others == found.report.within_others
    assert check.sample.tokens_after < check.sample.tokens_before
    assert surgery.verify_extension(found.base, found.base).new_ids == ()
    back = surgery.verify_extension(found.tokenizer, found.base)
    assert not back
    assert [case.base for case in back.faults[0].cases] == list(check.new_ids)


def swap_ids(data):
    """Give two tokens the ids of each other."""
    ids = data["model"]["vocab"]
    ids["lo"], ids["low"] = ids["low"], ids["lo"]


def rename(data):
    """Put another token in the place of one."""
    ids = data["model"]["vocab"]
    ids["LOW"] = ids.pop("low")
    data["model"]["merges"] = [m for m in data["model"]["merges"] if "low" not in m]
    data["model"]["merges"].remove(["lo", "w"])


def swap_merges(data):
    """Put two merges in the places of each other."""
    merges = data["model"]["merges"]
    merges[3], merges[9] = merges[9], merges[3]


def another_way(data):
    """Make a token of two others, before the merge that makes it now."""
    data["model"]["merges"].insert(0, ["l", "ow"])
    data["model"]["vocab"]["ow"] = 500
    data["model"]["merges"].insert(0, ["o", "w"])


def with_merges(edit):
    """Edit the list of merges."""
    return lambda data: edit(data["model"]["merges"])


MOVED = "merges: in another order: 'l' + 'o' rank 0"
BEFORE = "merges: new, but before those of the base:"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (swap_ids, "ids: moved: 'lo' 256 → 257, 'low' 257 → 256"),
        (rename, "ids: missing: 'low' 257"),
        (swap_merges, "merges: in another order: "),
        (with_merges(lambda all_: all_.append(all_.pop(0))), f"{MOVED} → 18"),
        # Hugging Face's library and we give the pair the later rank.
        (with_merges(lambda all_: all_.append(all_[0])), f"{MOVED} → 19"),
        (with_merges(lambda all_: all_.pop()), "merges: missing: "),
        (another_way, f"{BEFORE} 'o' + 'w' rank 0"),
    ],
)
def test_moved_ids_and_merges_are_named(edit, message, tmp_path):
    """Which, from where and to where; the fewest of them."""
    check = edited(tmp_path, edit)
    assert not check
    line = f"{check.faults[0].about}: {check.faults[0].message}"
    assert message in line
    assert line in check.lines
    assert json.loads(json.dumps(check.to_json()))["extends"] is False


def add_to(data, id_, content, **properties):
    """Add an added token to a file."""
    data["added_tokens"].append(added(id_, content, **properties))


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda d: d["added_tokens"].clear(),
            "changed: '<|end|>' 400 → none",
        ),
        (
            lambda d: d["added_tokens"][0].update(special=False),
            "400, special → 400, not special",
        ),
        (
            lambda d: d["added_tokens"][0].update(lstrip=True),
            "400, not lstrip → 400, lstrip",
        ),
        (
            lambda d: d["added_tokens"][0].update(single_word=True),
            "400, not single_word → 400, single_word",
        ),
        (
            lambda d: add_to(d, d["model"]["vocab"]["low"], "low"),
            "'low' none → 257",
        ),
    ],
)
def test_added_tokens_stay_as_they_are(edit, message, tmp_path):
    """With their properties, and no other token becomes one."""

    def with_one(data):
        data["model"]["vocab"]["<|end|>"] = 400
        data["added_tokens"].clear()
        add_to(data, 400, "<|end|>", special=True)

    check = edited(tmp_path, edit, before=with_one)
    [fault] = [fault for fault in check.faults if fault.about == "added tokens"]
    assert message in fault.message


def test_the_normalizer_decides_whether_an_added_token_can_be_normalized(tmp_path):
    """Without one, the property changes nothing, and tools write it either way."""

    def change(data):
        add_to(data, 400, "<x>")
        data["model"]["vocab"]["<x>"] = 400

    def normalized(data):
        data["added_tokens"][-1]["normalized"] = True

    assert edited(tmp_path, normalized, before=change)

    def lower(data):
        change(data)
        data["normalizer"] = {"type": "Lowercase"}

    assert about(edited(tmp_path, normalized, before=lower)) == ["added tokens"]


CUT = {"max_length": 5, "strategy": "LongestFirst", "stride": 0, "direction": "Right"}


def with_template(data):
    """Put a token behind each text."""
    other = every_kind()["gpt2"].with_template("$A <|end|>")
    file = json.loads(other.to_bytes(format="huggingface"))
    data["post_processor"] = file["post_processor"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (
            lambda data: data.update(normalizer={"type": "NFC"}),
            "changed: normalize nothing → NFC",
        ),
        (
            lambda data: data["pre_tokenizer"].update(use_regex=False),
            "changed: split",
        ),
        (lambda data: data.update(decoder={"type": "Fuse"}), "changed: decode"),
        (lambda data: data.update(truncation=CUT), "changed: truncation"),
        (with_template, "changed: template"),
    ],
)
def test_other_parts_stay_as_they_are(edit, message, tmp_path):
    """A change that no text shows is one, too."""
    check = edited(tmp_path, edit)
    assert message in next(f.message for f in check.faults if f.about == "parts")


def append_without_merges(data):
    """Add a token that nothing makes."""
    data["model"]["vocab"]["zq"] = 500


def append_what_never_happens(data):
    """Merge parts that are merged otherwise before."""
    data["model"]["vocab"] |= {"ow": 500, "low": 257}
    data["model"]["merges"].append(["o", "w"])
    data["model"]["vocab"]["xow"] = 501
    data["model"]["merges"].append(["x", "ow"])
    data["model"]["vocab"]["lxow"] = 502


def append_what_is_cut(data):
    """Merge a letter and a digit, which the pattern puts into two pieces."""
    data["model"]["vocab"]["w1"] = 500
    data["model"]["merges"].append(["w", "1"])


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (append_without_merges, "unreachable: 'zq' 500"),
        (append_what_never_happens, "unreachable: 'lxow' 502"),
        (append_what_is_cut, "unreachable: 'w1' 500"),
    ],
)
def test_new_tokens_that_cannot_occur_are_counted_and_named(edit, message, tmp_path):
    """No merges make them, or the pattern always cuts them."""
    check = edited(tmp_path, edit)
    assert about(check) == ["new tokens"]
    assert check.faults[0].message == message
    assert [case.new for case in check.faults[0].cases] == list(check.unreached)


def test_tokens_that_are_found_before_merging_break_words(tmp_path):
    """A token that is added to the file, not to its merges, splits tokens that reach over its ends."""

    def add(data):
        add_to(data, 500, "wi")

    check = edited(tmp_path, add)
    assert about(check) == ["texts"]
    # The next id, as Hugging Face has it.
    assert check.new_added == check.new_ids == (276,)
    paths = tmp_path / "base.json", tmp_path / "new.json"
    case = check.faults[0].cases[0]
    whole, parts = (bytepair.Tokenizer.from_file(p).tokenize(case.name) for p in paths)
    assert case.base == ", ".join(map(repr, whole))
    assert case.new == ", ".join(map(repr, parts))
    assert len(parts) > len(whole)


def test_new_special_tokens_are_no_fault(tmp_path):
    """They are found in text only if that is wanted."""
    check = edited(tmp_path, lambda data: add_to(data, 500, "<|im|>", special=True))
    assert check, check.lines
    assert "1 new token found before text is cut and merged" in check.lines


def test_added_tokens_that_hugging_face_numbers_anew_are_named(tmp_path):
    """Those that the model lacks come behind its tokens, so that a token of the model moves them."""
    theirs = pytest.importorskip("tokenizers")

    def with_two(data):
        data["model"]["vocab"].pop("<|end|>", None)
        data["added_tokens"].clear()
        for place, content in enumerate(("<a>", "<b>")):
            add_to(data, len(data["model"]["vocab"]) + place, content)

    def append(data):
        data["model"]["vocab"]["we"] = len(data["model"]["vocab"])
        data["model"]["merges"].append(["w", "e"])

    check = edited(tmp_path, append, before=with_two)
    paths = (str(tmp_path / f"{name}.json") for name in ("base", "new"))
    before, after = (theirs.Tokenizer.from_file(p).token_to_id("<a>") for p in paths)
    assert before != after
    assert Case("'<a>'", before, after) in check.faults[0].cases


def test_tokens_of_settings_beside_the_base_keep_their_ids(tmp_path):
    """A new token must not take the id of one that only tokenizer_config.json names."""
    base = every_kind()["gpt2"]
    base.save(tmp_path / "tokenizer.json")
    decoder = {str(base.n_vocab): {"content": "<think>", "special": True}}
    config = json.dumps({"added_tokens_decoder": decoder})
    (tmp_path / "tokenizer_config.json").write_text(config)
    found = surgery.extend(base, texts=TEXTS, add=3)
    found.save(tmp_path / "naive.json")
    path = tmp_path / "tokenizer.json"
    check = surgery.verify_extension(path, tmp_path / "naive.json")
    assert about(check) == ["ids"]
    new = found.tokenizer.vocabulary[base.n_vocab].decode()
    assert f"'<think>' and {new!r} {base.n_vocab}" in check.faults[0].message
    surgery.extend(tmp_path, texts=TEXTS, add=3).save(tmp_path / "right.json")
    assert surgery.verify_extension(tmp_path, tmp_path / "right.json")


def test_part_of_a_character_makes_no_text_reachable():
    """What the pattern cuts is cut beside half a letter, too."""
    base = bytepair.train_from_iterator(["low"] * 3, vocab_size=258, dialect="gpt2")
    parts = [base.token_to_id(byte) for byte in (b"w", b" ", b"\xc3")]
    data = json.loads(base.to_bytes(format="huggingface"))
    w, space, half = (token.written for token in base.inspect().tokens(parts[:3]))
    ids, merges = data["model"]["vocab"], data["model"]["merges"]
    for left, right in ((w, space), (w + space, half)):
        ids[left + right] = len(ids)
        merges.append([left, right])
    new = bytepair.Tokenizer.from_bytes(json.dumps(data).encode())
    check = surgery.verify_extension(base, new)
    assert set(check.unreached) == {258, 259}


def test_two_formats_are_compared_by_texts(tmp_path):
    """Each tells the parts in its own way; ids must be the same nevertheless."""
    base = bytepair.train_from_iterator(CORPUS, merges=30, dialect="gpt2")
    base.save(tmp_path / "base.tiktoken")
    found = surgery.extend(base, texts=TEXTS, add=5)
    found.save(tmp_path / "new.json")
    check = surgery.verify_extension(tmp_path / "base.tiktoken", tmp_path / "new.json")
    assert check, check.lines
    assert "tokenizers" in check.read_by
    data = json.loads((tmp_path / "new.json").read_text())
    data["pre_tokenizer"]["use_regex"] = False
    (tmp_path / "new.json").write_text(json.dumps(data))
    check = surgery.verify_extension(tmp_path / "base.tiktoken", tmp_path / "new.json")
    assert "split" in check.told_otherwise


def test_what_hugging_face_reads_otherwise_is_told(tmp_path, monkeypatch):
    """Other ids, other results, and a file that it does not read."""
    theirs = pytest.importorskip("tokenizers")
    found = surgery.extend(every_kind()["gpt2"], texts=TEXTS, add=4)
    found.save(tmp_path / "new.json")
    read = "bytepair.analyze._compare.huggingface._read"

    def verified():
        return surgery.verify_extension(found.base, tmp_path / "new.json")

    data = json.loads((tmp_path / "new.json").read_text())
    other = theirs.Tokenizer.from_file(str(tmp_path / "new.json"))
    other.add_tokens(["lowe"])
    monkeypatch.setattr(read, lambda _path: other)
    assert (
        "texts with other ids in Hugging Face's library"
        in verified().faults[-1].message
    )
    ids = data["model"]["vocab"]
    ids["lo"], ids["low"] = ids["low"], ids["lo"]
    moved = theirs.Tokenizer.from_str(json.dumps(data))
    monkeypatch.setattr(read, lambda _path: moved)
    assert "'lo' 256 → 257" in verified().faults[-1].message

    def fail(_path):
        message = "no such part"
        raise ValueError(message)

    monkeypatch.setattr(read, fail)
    assert "does not read it: no such part" in verified().faults[-1].message


def test_a_file_that_is_no_tokenizer_is_a_fault_of_the_new_one_alone(tmp_path):
    """Two tokens of one id, as some tools write; the base must be readable."""
    check = edited(tmp_path, lambda data: data["model"]["vocab"].update(wx=256))
    assert about(check) == ["file"]
    assert "the id 256 belongs to two tokens" in check.faults[0].message
    with pytest.raises(bytepair.FormatError):
        surgery.verify_extension(tmp_path / "new.json", tmp_path / "base.json")
    with pytest.raises(bytepair.FileError):
        surgery.verify_extension(tmp_path / "base.json", tmp_path / "absent.json")


def test_your_texts_are_compared_and_counted():
    """Long ones, too, of which a small part is shown."""
    found = surgery.extend(every_kind()["gpt2"], texts=TEXTS, add=9)
    own = ["lower " * 2000, "wide"]
    check = surgery.verify_extension(found.base, found.tokenizer, texts=own)
    before, after = (sum(map(t.count, own)) for t in (found.base, found.tokenizer))
    assert check.texts == Joined(2, before, after)
    other = found.base.with_added_tokens([bytepair.AddedToken("zyx")])
    more = surgery.verify_extension(found.base, other, texts=["low " * 3000 + "azyxb"])
    assert not more.faults  # its characters were tokens each
    split = found.tokenizer.with_added_tokens([bytepair.AddedToken("owe")])
    own = ["wide " * 3000 + "lower"]
    [fault] = surgery.verify_extension(found.tokenizer, split, texts=own).faults
    assert len(fault.cases[0].name) < 9


PAIRS = st.tuples(st.integers(0, 9), st.integers(0, 9))
STEPS = st.lists(PAIRS, min_size=1, max_size=5)
EXHAUSTIVE = short_texts("abc", 6)


def made_of(steps, tokens):
    """Make merges of tokens that there are, each of what comes before."""
    merges = []
    for left, right in steps:
        pair = [tokens[left % len(tokens)], tokens[right % len(tokens)]]
        if pair not in merges:
            merges.append(pair)
            if "".join(pair) not in tokens:
                tokens.append("".join(pair))
    return merges


@given(first=STEPS, more=STEPS, moves=st.lists(PAIRS, max_size=2))
def test_what_is_called_an_extension_only_joins_tokens(first, more, moves):
    """In every text of three letters up to a length, whatever became of the order of merges."""
    tokens = [*"abc"]
    merges = made_of(first, tokens)
    base = hugging_face({"vocab": vocabulary(*tokens), "merges": merges})
    everything = merges + [m for m in made_of(more, tokens) if m not in merges]
    for source, target in moves:
        n_merges = len(everything)
        everything.insert(target % n_merges, everything.pop(source % n_merges))
    new = hugging_face({"vocab": vocabulary(*tokens), "merges": everything})
    check = surgery.verify_extension(base, new)
    joined = all(is_joined(base, new, text) for text in EXHAUSTIVE)
    assert joined or not check
    if everything[: len(merges)] == merges and not check.unreached:
        assert check, check.lines


def is_joined(base, new, text):
    """Compare where tokens end, and the tokens themselves if none are joined."""
    old, now = base.tokenize(text), new.tokenize(text)
    ends, new_ends = (set(itertools.accumulate(map(len, row))) for row in (old, now))
    return new_ends <= ends and (len(old) != len(now) or old == now)
