"""``bytepair.compat.transformers`` by itself: what it refuses, saves, keeps apart and finds in the cache.

Left out: what must be as in transformers (``test_compat_vectors``, ``test_compat_transformers``).
"""

import copy
import importlib.util
import json
import logging
import pickle
import shutil
import sys

import pytest
from tests.model_folders import write_model, write_settings, write_tokenizer

import bytepair
from bytepair import Tokenizer
from bytepair.compat import transformers as compat
from bytepair.compat.transformers import (
    AutoTokenizer,
    BatchEncoding,
    PreTrainedTokenizerFast,
)


@pytest.fixture
def gpt2(tmp_path):
    """Write a folder with a small tokenizer of GPT-2's kind."""
    write_tokenizer(tmp_path, "gpt2")
    return tmp_path


@pytest.fixture(params=["gpt2", "bert", "llama2-metaspace"])
def ours(request, tmp_path):
    """Load a tokenizer as a model's publisher would describe it."""
    write_model(
        tmp_path,
        request.param,
        model_max_length=60,
        pad_token="<|pad|>",
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    return AutoTokenizer.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["BertTokenizer", "SeamlessM4TTokenizerFast", "CodeLlamaTokenizer", "T5Tokenizer"],
)
def test_a_class_that_is_not_known_is_refused_by_name(name, gpt2):
    """And its file is read as it is, where that is asked for."""
    write_settings(gpt2, tokenizer_class=name)
    with pytest.raises(bytepair.FormatError, match=name):
        AutoTokenizer.from_pretrained(gpt2)
    as_it_is = PreTrainedTokenizerFast.from_pretrained(gpt2)
    assert as_it_is.get_vocab() == Tokenizer.from_directory(gpt2).get_vocab()


def test_a_program_in_a_folder_is_refused(gpt2):
    """It is not run, and the file is not read as what it is not."""
    program = {"auto_map": {"AutoTokenizer": ["own.Own", None]}}
    write_settings(gpt2, tokenizer_class="Own", **program)
    with pytest.raises(bytepair.FormatError, match="auto_map"):
        AutoTokenizer.from_pretrained(gpt2)
    write_settings(gpt2, tokenizer_class="GPT2Tokenizer", **program)
    with pytest.raises(bytepair.FormatError, match="trust_remote_code"):
        AutoTokenizer.from_pretrained(gpt2, trust_remote_code=True)


@pytest.mark.parametrize(
    ("name", "role"),
    [("CLIPTokenizer", "bos"), ("RobertaTokenizer", "sep"), ("NougatTokenizer", "eos")],
)
def test_a_class_without_a_token_of_its_template_is_refused(name, role, gpt2):
    """By the name of the role."""
    write_settings(gpt2, tokenizer_class=name)
    with pytest.raises(bytepair.FormatError, match=f"{role}_token"):
        AutoTokenizer.from_pretrained(gpt2, **{f"{role}_token": None})


def test_classes_are_imported_by_name(gpt2):
    """With ``Fast`` behind it or without; other names are no attributes."""
    ours = compat.RobertaTokenizerFast.from_pretrained(gpt2)
    assert type(ours) is compat.RobertaTokenizer
    assert (ours.bos_token, ours.mask_token) == ("<s>", "<mask>")
    assert compat.GPT2TokenizerFast is compat.GPT2Tokenizer
    with pytest.raises(AttributeError):
        _ = compat.NoSuchTokenizer
    for kind in (compat.GPT2Tokenizer, AutoTokenizer):
        with pytest.raises(TypeError, match="from_pretrained"):
            kind()


def test_a_class_is_made_of_nothing_else(gpt2):
    """Files of other kinds are refused by name, and so is a merge that is none."""
    for keyword in ("tokenizer_file", "vocab_file", "tokenizer_object"):
        with pytest.raises(TypeError, match=keyword):
            compat.GPT2Tokenizer(**{keyword: gpt2 / "tokenizer.json"})
    with pytest.raises(bytepair.FileError, match="nothing"):
        compat.GPT2Tokenizer(gpt2 / "nothing.json")
    with pytest.raises(bytepair.FormatError, match="number 1 has 3 parts"):
        compat.GPT2Tokenizer({"a": 0}, ["a a", "a a a"])
    with pytest.raises(bytepair.FormatError, match="reads a file as it is"):
        compat.ParakeetTokenizer({"a": 0}, [])
    with pytest.raises(AttributeError, match="pad= is not a setting"):
        compat.GPT2Tokenizer({"a": 0}, [], pad=1)


def test_nllb_needs_its_languages_and_a_file(gpt2):
    """They are not guessed."""
    write_settings(gpt2, tokenizer_class="NllbTokenizer")
    with pytest.raises(bytepair.FormatError, match="languages"):
        AutoTokenizer.from_pretrained(gpt2)


@pytest.mark.parametrize("end", ["\u2028", "\x85", "\x0b", "\x1c"])
def test_a_merge_may_hold_what_other_places_take_for_the_end_of_a_line(end, tmp_path):
    """Lines of a file of merges end at line feeds alone, with or without a return."""
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2, end: 3, "a": 4, end + "a": 5}
    (tmp_path / "vocab.json").write_text(json.dumps(vocab))
    (tmp_path / "merges.txt").write_bytes(f"#version: 0.2\r\n{end} a\r\n".encode())
    settings = {"tokenizer_class": "LlamaTokenizer", "add_prefix_space": False}
    write_settings(tmp_path, **settings)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer.encode(f"{end}a{end}") == [5, 3]


def test_a_model_by_itself_does_not_take_what_cannot_act(shared, tmp_path):
    """How spaces become pieces is the model's to say."""
    path = shared("vocabularies/mistral-sentencepiece/tokenizer-v1.model")
    shutil.copy(path, tmp_path / "tokenizer.model")
    with pytest.raises(bytepair.FormatError, match="legacy=False"):
        PreTrainedTokenizerFast.from_pretrained(tmp_path, legacy=False)


@pytest.mark.parametrize(
    ("keywords", "match"),
    [
        ({"gguf_file": "a.gguf"}, "gguf_file"),
        ({"vocab_file": "vocab.json"}, "vocab_file"),
        ({"tokenizer_file": "tokenizer.json"}, "tokenizer_file"),
        ({"padding_side": "up"}, "padding_side"),
        ({"bos_token": 5}, "bos_token"),
        ({"extra_special_tokens": "ab"}, "extra_special_tokens"),
        ({"model_max_length": "7"}, "model_max_length"),
        ({"add_tokens": 1}, "add_tokens"),
        ({"get_vocab": True}, "get_vocab"),
        ({"hf_token": "hf_abcdefgh"}, "access token"),
        ({"note": "hf_abcdefghijkl"}, "access token"),
        ({"tokenizer_type": "no_such"}, "no_such"),
    ],
    ids=str,
)
def test_keywords_that_cannot_act_are_refused(keywords, match, gpt2):
    """By name."""
    with pytest.raises(bytepair.TokenizerError, match=match):
        AutoTokenizer.from_pretrained(gpt2, **keywords)


def test_a_subfolder_is_read_and_not_its_parent(gpt2):
    """One that is missing, or leads out, is an error."""
    inside = gpt2 / "inside"
    inside.mkdir()
    write_tokenizer(inside, "llama3")
    ours = AutoTokenizer.from_pretrained(gpt2, subfolder="inside")
    assert ours.get_vocab() == Tokenizer.from_directory(inside).get_vocab()
    assert ours.get_vocab() != AutoTokenizer.from_pretrained(gpt2).get_vocab()
    for wrong in ("missing", "../..", "/"):
        with pytest.raises(bytepair.FileError, match="subfolder"):
            AutoTokenizer.from_pretrained(gpt2, subfolder=wrong)


WAYS_OF_LOADING = {
    "token": "hf_SECRETSECRET",
    "use_auth_token": "hf_SECRETSECRET",
    "cache_dir": "cache",
    "force_download": True,
    "local_files_only": True,
    "revision": "main",
    "subfolder": "",
    "proxies": {"https": "user:SECRET@proxy"},
    "_from_auto": True,
    "_commit_hash": "abc",
    "trust_remote_code": True,
    "use_fast": False,
    "from_slow": True,
    "tokenizer_type": "gpt2",
    "resume_download": True,
}


def test_nothing_of_how_it_was_loaded_is_saved(gpt2):
    """An access token least of all; a setting of one's own is."""
    for name, value in WAYS_OF_LOADING.items():
        ours = AutoTokenizer.from_pretrained(gpt2, **{name: value}, own_setting="kept")
        assert ours.save_pretrained(gpt2 / "saved")
        for path in (gpt2 / "saved").rglob("*"):
            assert b"SECRET" not in path.read_bytes()
        found = json.loads((gpt2 / "saved" / "tokenizer_config.json").read_text())
        assert name not in found
        assert found["own_setting"] == "kept"


def test_old_files_of_the_layout_do_not_survive_and_others_do(gpt2):
    """Those that would go first at the next load are gone."""
    target = gpt2 / "target"
    (target / "additional_chat_templates").mkdir(parents=True)
    ours = AutoTokenizer.from_pretrained(
        gpt2, chat_template={"default": "new {{ 1 }}", "rag": "rag {{ 1 }}"}
    )
    old = {
        "chat_template.jinja": "old",
        "additional_chat_templates/tool_use.jinja": "old",
        "special_tokens_map.json": '{"eos_token": "<old>"}',
        "added_tokens.json": '{"<old>": 999}',
        "README.md": "mine",
        "additional_chat_templates/notes.txt": "mine",
        "config.json": '{"model_type": "gpt2"}',
    }
    for name, text in old.items():
        (target / name).write_text(text)
    ours.save_pretrained(target)
    for name in ("special_tokens_map.json", "added_tokens.json"):
        assert not (target / name).exists()
    for name in ("README.md", "additional_chat_templates/notes.txt", "config.json"):
        assert (target / name).read_text() == old[name]
    again = AutoTokenizer.from_pretrained(target)
    assert again.chat_template == {"default": "new {{ 1 }}", "rag": "rag {{ 1 }}"}
    ours.chat_template = None
    ours.save_pretrained(target)
    assert AutoTokenizer.from_pretrained(target).chat_template is None


def test_a_prefix_goes_before_the_names_of_files(gpt2):
    """And options that cannot act are refused."""
    ours = AutoTokenizer.from_pretrained(gpt2, chat_template="{{ 1 }}")
    paths = ours.save_pretrained(gpt2 / "saved", filename_prefix="own")
    assert sorted(path.name for path in (gpt2 / "saved").iterdir()) == [
        "own-chat_template.jinja",
        "own-tokenizer.json",
        "own-tokenizer_config.json",
    ]
    assert len(paths) == 3
    for options in (
        {"push_to_hub": True},
        {"legacy_format": True},
        {"save_format": "mistral"},
    ):
        with pytest.raises(bytepair.TokenizerError, match=next(iter(options))):
            ours.save_pretrained(gpt2 / "saved", **options)


CHAT = [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    "own", [None, "D {{ 1 }}", {"default": "D", "rag": "R"}], ids=str
)
def test_an_unknown_name_of_a_template_is_an_error(own, gpt2):
    """It is not taken for the text of a template, which has braces."""
    pytest.importorskip("jinja2", reason="renders templates")
    ours = AutoTokenizer.from_pretrained(gpt2, chat_template=own)
    with pytest.raises(bytepair.TokenizerError, match="tool_use"):
        ours.apply_chat_template(CHAT, chat_template="tool_use", tokenize=False)
    text = ours.apply_chat_template(CHAT, chat_template="X{{ 1 }}", tokenize=False)
    assert text == "X1"


def test_a_template_has_no_name_that_leads_out(gpt2):
    """Nothing is written outside the folder."""
    ours = AutoTokenizer.from_pretrained(gpt2, chat_template={"../../x": "{{ 1 }}"})
    with pytest.raises(bytepair.TokenizerError, match="cannot name a chat template"):
        ours.save_pretrained(gpt2 / "saved")


def test_a_listed_id_that_a_new_token_cannot_have_is_refused(gpt2):
    """The library would give it another, without a word."""
    (gpt2 / "added_tokens.json").write_text(json.dumps({"<new>": 99_999}))
    for kind in ("PreTrainedTokenizerFast", "GPT2Tokenizer"):
        write_settings(gpt2, tokenizer_class=kind)
        with pytest.raises(bytepair.FormatError, match="99999"):
            AutoTokenizer.from_pretrained(gpt2)


def write_cache(root, name, revision, family):
    """Lay a tokenizer out as ``huggingface_hub`` keeps it."""
    model = root / f"models--{name.replace('/', '--')}"
    commit = f"{family}0123456789abcdef"
    folder = model / "snapshots" / commit
    folder.mkdir(parents=True)
    write_tokenizer(folder, family)
    (model / "refs" / revision).parent.mkdir(parents=True, exist_ok=True)
    (model / "refs" / revision).write_text(commit)
    return commit


def test_a_name_is_found_in_the_cache_of_the_hub(tmp_path, monkeypatch):
    """By its variables or ``cache_dir``, at a branch, a tag or a commit, without a network."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME"):
        monkeypatch.delenv(variable, raising=False)
    home, other = tmp_path / "home", tmp_path / "other"
    write_cache(home / "hub", "org/model", "main", "gpt2")
    write_cache(home / "hub", "plain", "main", "gpt2")
    commit = write_cache(other, "org/model", "main", "llama3")
    write_cache(other, "org/model", "pr/1", "qwen2.5")
    expected = {}
    for family in ("gpt2", "llama3", "qwen2.5"):
        (tmp_path / family).mkdir()
        write_tokenizer(tmp_path / family, family)
        expected[family] = Tokenizer.from_directory(tmp_path / family).get_vocab()

    def vocab(name, **options):
        return AutoTokenizer.from_pretrained(name, **options).get_vocab()

    monkeypatch.setenv("HF_HOME", str(home))
    assert vocab("org/model") == vocab("plain") == expected["gpt2"]
    assert vocab("org/model", cache_dir=other) == expected["llama3"]
    assert vocab("org/model", cache_dir=other, revision=commit) == expected["llama3"]
    pulled = vocab("org/model", cache_dir=other, revision="pr/1")
    assert pulled == expected["qwen2.5"]
    monkeypatch.setenv("HF_HUB_CACHE", str(other))
    assert vocab("org/model") == expected["llama3"]
    with pytest.raises(bytepair.FileError, match=r"not in the cache .*HF_HUB_OFFLINE"):
        vocab("org/absent")
    with pytest.raises(bytepair.FileError, match="local_files_only"):
        vocab("org/absent", local_files_only=True)
    with pytest.raises(bytepair.FileError, match="revision"):
        vocab("org/model", revision="../../etc")
    with pytest.raises(bytepair.FileError, match="not the name of a model"):
        vocab(str(tmp_path / "absent"))


def test_the_cache_is_read_without_the_library_that_keeps_it(tmp_path, monkeypatch):
    """By both ways to a model by its name; what is not there is an error that says where."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    write_cache(tmp_path, "org/model", "main", "gpt2")
    found = AutoTokenizer.from_pretrained("org/model")
    assert Tokenizer.from_hub("org/model").get_vocab() == found.get_vocab()
    for load in (AutoTokenizer.from_pretrained, Tokenizer.from_hub):
        with pytest.raises(
            bytepair.TokenizerError, match=r"not in the cache .*\[hub\]"
        ):
            load("org/absent")


def test_a_folder_goes_before_the_cache(tmp_path, monkeypatch):
    """As in transformers."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    write_cache(tmp_path / "cache", "org/model", "main", "gpt2")
    folder = tmp_path / "org" / "model"
    folder.mkdir(parents=True)
    write_tokenizer(folder, "llama3")
    monkeypatch.chdir(tmp_path)
    found = AutoTokenizer.from_pretrained("org/model").get_vocab()
    assert found == Tokenizer.from_directory(folder).get_vocab()


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [
        (["4.0.0"], "4.0.0"),
        (["4.0.0", "4.9.1", "4.10.0"], "4.10.0"),
        (["6.1.0"], None),
        (["4.0.0", "42.0.0"], "4.0.0"),
        (["../../../tokenizer"], None),
    ],
    ids=str,
)
def test_of_files_for_several_versions_the_right_one_is_read(versions, chosen, gpt2):
    """Of transformers 5 and before; and one file is saved, which is read the next time."""
    document = json.loads((gpt2 / "tokenizer.json").read_text())
    for version in versions:
        if "/" not in version:
            added = {**document["added_tokens"][0], "id": 5000, "content": version}
            listed = {**document, "added_tokens": [*document["added_tokens"], added]}
            text = json.dumps(listed)
            (gpt2 / f"tokenizer.{version}.json").write_text(text)
    write_settings(
        gpt2, fast_tokenizer_files=[f"tokenizer.{version}.json" for version in versions]
    )
    tokenizer = AutoTokenizer.from_pretrained(gpt2)
    assert [one for one in versions if one in tokenizer.get_vocab()] == (
        [chosen] if chosen else []
    )
    tokenizer.save_pretrained(gpt2)
    assert AutoTokenizer.from_pretrained(gpt2).get_vocab() == tokenizer.get_vocab()


REFUSED = {
    "push_to_hub": ("name",),
    "parse_response": ("text",),
    "get_response_parser": (),
    "register_for_auto_class": (),
    "convert_to_native_format": (),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_built_says_what_to_do(ours, name):
    """The error has the name of the method, and advice."""
    with pytest.raises(NotImplementedError, match=rf"^{name} is not supported; \w+"):
        getattr(ours, name)(*REFUSED[name])


@pytest.mark.parametrize("method", ["__call__", "encode", "tokenize", "decode"])
def test_a_keyword_that_nobody_knows_is_refused(ours, method):
    """It is a TypeError that names it; nothing is swallowed."""
    argument = [1] if method == "decode" else "text"
    with pytest.raises(TypeError, match="does not take the argument 'colour'"):
        getattr(ours, method)(argument, colour=1)


def test_what_a_user_gets_may_be_changed(ours):
    """And changes nothing of the tokenizer."""
    ours.add_tokens("<kept>")
    for name in ("get_vocab", "get_added_vocab"):
        before = getattr(ours, name)()
        getattr(ours, name)().clear()
        assert getattr(ours, name)() == before != {}
    names = ("vocab", "added_tokens_decoder", "added_tokens_encoder")
    names += ("special_tokens_map", "all_special_tokens")
    for name in names:
        before = getattr(ours, name).copy()
        getattr(ours, name).clear()
        assert getattr(ours, name) == before


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy], ids=["flat", "deep"])
def test_a_copy_and_its_original_change_apart(tmp_path, copied):
    """Tokens, roles and the backend: neither knows what is added to the other."""
    write_model(tmp_path, "gpt2", pad_token="<pad>", extra_special_tokens=["<e>"])
    first = AutoTokenizer.from_pretrained(tmp_path)
    n_tokens = len(first)
    first.add_tokens("<waits>")
    backend = first.backend_tokenizer
    second = copied(first)
    first.add_tokens("<first>")
    second.add_tokens(["<second>", "<more>"])
    second.pad_token = "<second>"
    second.add_special_tokens({"extra_special_tokens": ["<f>"]})
    assert first.tokenizer.get_vocab() == first.get_vocab()
    assert second.tokenizer.get_vocab() == second.get_vocab()
    assert (len(first), len(second)) == (n_tokens + 2, n_tokens + 4)
    assert (first.pad_token, second.pad_token) == ("<pad>", "<second>")
    assert (first.extra_special_tokens, second.extra_special_tokens) == (
        ["<e>"],
        ["<f>"],
    )
    assert backend.encode("<waits><first>").ids == [n_tokens, n_tokens + 1]
    again = second.backend_tokenizer.encode("<waits><second><more>")
    assert again.ids == [n_tokens, n_tokens + 1, n_tokens + 2]


def test_a_token_that_is_no_text_is_refused_where_it_is_added(ours):
    """A lone surrogate, not only by the next call; and those beside it are not added."""
    n_tokens = len(ours)
    with pytest.raises(bytepair.TokenizerError, match="surrogate"):
        ours.add_tokens(["<one more>", "\ud800"])
    assert len(ours) == n_tokens == len(ours.tokenizer.get_vocab())


def test_a_setting_named_like_a_method_is_an_attribute_error(ours):
    """As in transformers, and an error of bytepair too."""
    tokenizer = ours.tokenizer
    for error in (AttributeError, bytepair.TokenizerError):
        with pytest.raises(error, match="add_special_tokens="):
            PreTrainedTokenizerFast(tokenizer=tokenizer, add_special_tokens=True)


def test_a_token_with_a_role_keeps_the_properties_that_it_was_given(ours):
    """And only a token has a role."""
    token = bytepair.AddedToken("<end>", lstrip=True, normalized=False, special=True)
    made = PreTrainedTokenizerFast(tokenizer=ours.tokenizer, eos_token=token)
    assert made._special_tokens_map["eos_token"] == token
    assert made._special_tokens_map["bos_token"] is None
    assert made.added_tokens_decoder[made.eos_token_id] == token
    for role in ("pad_token", "eos_token"):
        with pytest.raises(bytepair.TokenizerError, match=role):
            setattr(made, role, 5)
    assert made.eos_token == "<end>"


def test_a_row_that_is_too_long_is_logged_once(tmp_path, caplog):
    """Unless the call says a length, or that nothing is to be said."""
    write_model(tmp_path, "gpt2", model_max_length=4)
    ours = AutoTokenizer.from_pretrained(tmp_path)
    text = "some words that are more than four tokens"
    logging.disable(logging.NOTSET)
    try:
        with caplog.at_level(logging.WARNING, logger="transformers.bytepair"):
            caplog.handler.setLevel(logging.WARNING)
            logging.getLogger("transformers.bytepair").addHandler(caplog.handler)
            for options in (
                {"verbose": False},
                {"truncation": True},
                {"max_length": 99},
            ):
                ours(text, **options)
            ours("a")
            assert caplog.records == []
            ours(text)
            ours([text, text])
    finally:
        logging.getLogger("transformers.bytepair").removeHandler(caplog.handler)
        logging.disable(logging.WARNING)
    assert len({id(record) for record in caplog.records}) == 1
    assert "longer than the specified maximum" in caplog.records[0].getMessage()


def test_encodings_that_are_made_later_are_those_of_the_call(ours):
    """Tokens that are added after a call, and sides that are set, change none of its rows."""
    texts = ["some words <x> follow", "é <x>"]
    calls = [
        {},
        {"padding": True},
        {"truncation": True, "max_length": 5, "padding": "max_length"},
        {"add_special_tokens": False, "split_special_tokens": True},
    ]
    options = {"return_token_type_ids": False}
    for n, call in enumerate(calls):
        later = ours(texts, **call, **options)
        now = ours(texts, **call, **options, return_offsets_mapping=True)
        ours.add_tokens([f"<x{n}>", "<x>"][n % 2 :])
        ours.truncation_side = ours.padding_side = "left" if n % 2 else "right"
        for row, encoding in enumerate(later.encodings):
            assert encoding.ids == later["input_ids"][row] == now["input_ids"][row]
            assert encoding.attention_mask == later["attention_mask"][row]
            assert encoding.offsets == now["offset_mapping"][row]


def test_what_is_put_around_ids_is_what_a_call_puts_there(ours):
    """Ids, types and masks, of one text and of two."""
    first, second = (
        ours(t, add_special_tokens=False)["input_ids"] for t in ("a b", "c")
    )
    for texts, ids in ((("a b",), (first,)), (("a b", "c"), (first, second))):
        found = ours(*texts, return_special_tokens_mask=True)
        assert ours.build_inputs_with_special_tokens(*ids) == found["input_ids"]
        types = ours.create_token_type_ids_from_sequences(*ids)
        assert types == found["token_type_ids"]
        assert ours.get_special_tokens_mask(*ids) == found["special_tokens_mask"]


def test_arrays_of_another_library_are_not_taken_for_tensors(ours):
    """Arrays of NumPy are no tensors of PyTorch, and are moved nowhere."""
    batch = ours(["a b", "c d"], return_tensors="np")
    if importlib.util.find_spec("torch") is None:
        for call in (lambda: batch.convert_to_tensors("pt"), lambda: batch.to("cpu")):
            with pytest.raises(ImportError, match="need PyTorch"):
                call()
    assert batch.convert_to_tensors("np") is batch
    more = batch | {"labels": [0, 1]}
    assert isinstance(more, BatchEncoding)
    assert more.labels == [0, 1]
    assert "labels" not in batch


def test_a_role_is_set_as_an_attribute(ours):
    """As training scripts do: the padding token is the end."""
    ours.pad_token = None
    ours.pad_token = "the"
    assert ours.pad_token_id == ours.convert_tokens_to_ids("the")
    rows = ours(["a b c", "a"], padding=True, padding_side="right")["input_ids"]
    assert rows[1][-1] == ours.pad_token_id


def test_arguments_that_do_not_fit_are_refused(tmp_path):
    """Each says what to do instead."""
    own = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    tokenizer = PreTrainedTokenizerFast(tokenizer=own)
    with pytest.raises(bytepair.TokenizerError, match="pad_token"):
        tokenizer(["a", "b c"], padding=True)
    if importlib.util.find_spec("torch") is None:
        with pytest.raises(ImportError, match="need PyTorch"):
            tokenizer(["a", "b c"], truncation=True, max_length=1, return_tensors="pt")
    with pytest.raises(bytepair.TokenizerError, match="text_target"):
        tokenizer()
    for wrong in (5, None, b"abc", {"a": 1}, {"a"}, [b"abc"], ["a", {"b", "c"}]):
        for error in (bytepair.TokenizerError, TypeError):
            with pytest.raises(error, match="expected a text"):
                tokenizer.encode(wrong)
    for options, match in (
        ({"padding": 1}, "padding must be"),
        ({"truncation": 1, "max_length": 1}, "truncation must be"),
        ({"truncation": "only_second", "max_length": 2}, "second text"),
        ({"truncation": "yes", "max_length": 2}, "longest_first"),
    ):
        with pytest.raises(bytepair.TokenizerError, match=match):
            tokenizer("a b c", **options)
    with pytest.raises(bytepair.FileError, match="no such file or folder"):
        AutoTokenizer.from_pretrained(tmp_path / "some" / "model")


def test_a_tokenizer_that_no_json_can_hold_is_called_all_the_same():
    """Encoding reads the core alone, not what could be written."""
    own = bytepair.train_from_iterator(["some words"], dialect="sennrich", merges=20)
    with pytest.raises(bytepair.FormatError):
        own.to_bytes(format="huggingface")
    tokenizer = PreTrainedTokenizerFast(tokenizer=own, pad_token="<pad>")
    answer = tokenizer(["some words", "some"], padding=True, return_tensors="np")
    assert answer["attention_mask"].tolist()[1][-1] == 0
    assert tokenizer.vocab_size == len(own.get_vocab())
    assert tokenizer.get_added_vocab() == {"<pad>": own.n_vocab}


def test_what_cannot_be_learned_is_refused(tmp_path):
    """A trainer's option without an equal, and a vocabulary without room; else it is what training learns."""
    ours = AutoTokenizer.from_pretrained(write_model(tmp_path, "gpt2"))
    texts = ["low lower lowest", "the cat sat on the mat 123"] * 9
    for name, value in (
        ("limit_alphabet", 10),
        ("max_token_length", 10),
        ("initial_alphabet", ["a"]),
        ("end_of_word_suffix", "</w>"),
        ("colour", 1),
    ):
        with pytest.raises(TypeError, match=name):
            ours.train_new_from_iterator([texts], 300, **{name: value})
    again = ours.train_new_from_iterator([texts], 280).tokenizer
    learned = bytepair.train_from_iterator(texts, dialect="gpt2", vocab_size=279)
    assert again.merges == learned.merges
    ours = AutoTokenizer.from_pretrained(write_model(tmp_path, "llama2-metaspace"))
    with pytest.raises(bytepair.TrainingError, match="vocab_size"):
        ours.train_new_from_iterator([texts], 2)


def test_a_call_does_not_change_what_is_pickled(tmp_path):
    """``datasets`` caches by the pickled state, of which what was looked up is no part."""
    own = bytepair.train_from_iterator(["low"], vocab_size=258, special_tokens=["<p>"])
    own.save_pretrained(tmp_path)
    tokenizer = AutoTokenizer.from_pretrained(tmp_path, pad_token="<p>")
    before = pickle.dumps(tokenizer)
    tokenizer("low", padding="max_length", max_length=4, truncation=True)
    _ = tokenizer.get_vocab(), tokenizer.added_tokens_decoder, tokenizer.vocab_size
    _ = tokenizer.backend_tokenizer, tokenizer.add_prefix_space, len(tokenizer)
    assert pickle.dumps(tokenizer) == before
    tokenizer.add_prefix_space = True
    again = pickle.loads(pickle.dumps(tokenizer))
    assert again.add_prefix_space
    assert (
        again("low", padding="max_length", max_length=4)["input_ids"]
        == (tokenizer("low", padding="max_length", max_length=4)["input_ids"])
    )
