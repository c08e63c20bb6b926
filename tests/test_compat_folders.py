"""Folders that transformers reads, and what is read of them: files, classes and keywords.

Each is compared with transformers itself on the same folder, or refused. Left out: calls and
their answers, which ``test_compat_transformers`` compares.
"""

import json
import shutil

import numpy as np
import pytest
import tokenizers
from tests.beside_transformers import (
    plain,
    transformers,
    write_settings,
    write_tokenizer,
)

import bytepair
from bytepair import Tokenizer
from bytepair.compat import transformers as compat
from bytepair.compat._classes import CLASSES
from bytepair.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast

TEXTS = [
    "Hello, wörld! These  are\n\n words.",
    " 日本 👍🏽 12345 ",
    "<s>a</s> b<|endoftext|> c <mask>x <pad>",
    "",
    "Don't STOP",
]
ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")


def facts(tokenizer):
    """Say everything that settings, classes and added tokens can change."""
    found = {}
    for text in TEXTS:
        ids = list(tokenizer(text)["input_ids"])
        found[text] = {
            "ids": ids,
            "alone": tokenizer(text, add_special_tokens=False)["input_ids"],
            "text": tokenizer.decode(ids),
            "without special": tokenizer.decode(ids, skip_special_tokens=True),
        }
    found["pair"] = plain(tokenizer(*TEXTS[:2], return_token_type_ids=True))
    found["sizes"] = (tokenizer.vocab_size, len(tokenizer))
    found["vocab"] = tokenizer.get_vocab()
    found["roles"] = dict(tokenizer.special_tokens_map)
    found["special"] = tokenizer.all_special_tokens
    found["added"] = {
        id_: (
            token.content,
            token.special,
            token.normalized,
            token.lstrip,
            token.rstrip,
            token.single_word,
        )
        for id_, token in tokenizer.added_tokens_decoder.items()
    }
    names = ("padding_side", "truncation_side", "model_max_length")
    names += ("model_input_names", "chat_template", "add_bos_token", "add_eos_token")
    return found | {name: getattr(tokenizer, name) for name in names}


def assert_same(folder, **keywords):
    """Load a folder in both libraries, and compare all that can be told."""
    theirs = transformers.AutoTokenizer.from_pretrained(folder, **keywords)
    ours = AutoTokenizer.from_pretrained(folder, **keywords)
    assert facts(ours) == facts(theirs)
    return ours, theirs


@pytest.fixture
def gpt2(tmp_path):
    """Write a folder with a small tokenizer of GPT-2's kind."""
    write_tokenizer(tmp_path, "gpt2")
    return tmp_path


# Classes

# A class, and a family of files that it is published with.
FAMILY_OF = dict.fromkeys(CLASSES, "gpt2") | {
    "CLIPTokenizer": "clip",
    "OpenAIGPTTokenizer": "openai-gpt",
    "HerbertTokenizer": "openai-gpt",
    "LlamaTokenizer": "tinyllama",
    "Qwen2Tokenizer": "qwen2.5",
    "Qwen3_5Tokenizer": "qwen3.5",
    "GPTNeoXTokenizer": "neox",
    "WhisperTokenizer": "whisper",
    "RobertaTokenizer": "roberta",
    "DebertaTokenizer": "deberta",
    "BlenderbotTokenizer": "blenderbot",
    "CodeGenTokenizer": "codegen",
    "CohereTokenizer": "command-r",
    "GemmaTokenizer": "gemma",
    "Siglip2Tokenizer": "gemma",
    "NllbTokenizer": "nllb",
}
# What a class needs besides.
NEEDS = {"NllbTokenizer": {"extra_special_tokens": ["eng_Latn", "fra_Latn"]}}
OTHER_NAMES = ("BartTokenizerFast", "BloomTokenizerFast", "NoSuchTokenizer")


@pytest.mark.parametrize("name", [*CLASSES, *OTHER_NAMES])
@pytest.mark.parametrize("family", ["gpt2", "own"])
def test_a_class_makes_of_a_file_what_transformers_makes_of_it(name, family, tmp_path):
    """Whatever the file itself says; and what is saved says the same to both."""
    family = FAMILY_OF.get(name, "gpt2") if family == "own" else family
    write_tokenizer(tmp_path, family)
    write_settings(tmp_path, tokenizer_class=name, **NEEDS.get(name, {}))
    try:
        theirs = facts(transformers.AutoTokenizer.from_pretrained(tmp_path))
    except Exception:  # a vocabulary that is none for this class
        ours = AutoTokenizer.from_pretrained(tmp_path)
        with pytest.raises(bytepair.TokenizerError):
            facts(ours)
        return
    ours = AutoTokenizer.from_pretrained(tmp_path)
    assert facts(ours) == theirs
    ours.save_pretrained(tmp_path / "saved")
    for library in (transformers.AutoTokenizer, AutoTokenizer):
        assert facts(library.from_pretrained(tmp_path / "saved")) == theirs


@pytest.mark.parametrize(
    "settings",
    [
        {
            "tokenizer_class": "LlamaTokenizer",
            "legacy": legacy,
            "add_prefix_space": space,
        }
        for legacy in (None, False, True)
        for space in (None, False, True)
    ],
    ids=str,
)
def test_llama_puts_spaces_as_its_settings_say(settings, shared, tmp_path):
    """``legacy`` and ``add_prefix_space``, on a published vocabulary."""
    shutil.copy(shared("vocabularies/llama2-style/tokenizer.json"), tmp_path)
    write_settings(tmp_path, **{k: v for k, v in settings.items() if v is not None})
    assert_same(tmp_path)


PUBLISHED = {
    "gpt2": ("GPT2Tokenizer", 50257),
    "gpt-neox-20b": ("GPTNeoXTokenizer", 50254),
    "deepseek-v3": ("LlamaTokenizerFast", 128000),
    "olmo-dolma2": ("GPT2Tokenizer", 100278),
    "qwen3": ("Qwen2Tokenizer", 151643),
    "llama2-style": ("LlamaTokenizer", 32000),
    "mistral-nemo": ("PreTrainedTokenizerFast", 131072),
    "minimind": ("PreTrainedTokenizerFast", 6400),
    "clip": ("CLIPTokenizer", 49408),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_size_of_a_vocabulary_is_the_models(name, shared, tmp_path):
    """Without added tokens, as the library counts, and a saved file keeps it."""
    kind, size = PUBLISHED[name]
    path = shared(f"vocabularies/{name}/tokenizer.json")
    shutil.copy(path, tmp_path)
    write_settings(tmp_path, tokenizer_class=kind)
    ours, _ = assert_same(tmp_path)
    assert ours.vocab_size == size
    again = bytepair.Tokenizer.from_file(path).to_bytes(format="huggingface")
    read = tokenizers.Tokenizer.from_str(again.decode())
    theirs = tokenizers.Tokenizer.from_file(str(path))
    assert read.get_vocab_size(with_added_tokens=False) == size
    assert read.get_vocab() == theirs.get_vocab()


@pytest.mark.parametrize(
    ("config", "model"),
    [
        (None, {"model_type": "gpt2"}),
        ({}, {"model_type": "roberta"}),
        ({"tokenizer_class": "GPT2Tokenizer"}, {"model_type": "granite"}),
        ({"tokenizer_class": "GPT2Tokenizer"}, {"model_type": "roberta"}),
        ({"tokenizer_class": "GPT2Tokenizer"}, {"model_type": "qwen2"}),
        ({"tokenizer_class": "GPT2TokenizerFast"}, {"model_type": "no_such"}),
        ({"tokenizer_class": "LlamaTokenizer"}, {"model_type": "llama"}),
        ({}, {"model_type": "llama", "tokenizer_class": "RobertaTokenizer"}),
        (None, {"model_type": "no_such"}),
        (
            {
                "tokenizer_class": "GPT2Tokenizer",
                "auto_map": {"AutoTokenizer": ["own.Own", None]},
            },
            None,
        ),
    ],
    ids=str,
)
def test_the_class_is_chosen_as_in_transformers(config, model, gpt2):
    """By the settings of the tokenizer, the kind of the model, or neither."""
    for name, found in (("tokenizer_config", config), ("config", model)):
        if found is not None:
            (gpt2 / f"{name}.json").write_text(json.dumps(found))
    ours, theirs = assert_same(gpt2)
    name = type(theirs).__name__.replace("TokenizersBackend", "PreTrainedTokenizerFast")
    assert type(ours).__name__ == name


def test_a_setting_adds_token_types_to_what_codegen_gives(gpt2):
    """As in transformers, where a call then has them."""
    write_settings(gpt2, tokenizer_class="CodeGenTokenizer", return_token_type_ids=True)
    theirs = transformers.CodeGenTokenizer.from_pretrained(gpt2)
    try:
        ours = AutoTokenizer.from_pretrained(gpt2)
        assert plain(ours("a b")) == plain(theirs("a b"))
    finally:  # there the names are those of the class, for all that come later
        transformers.CodeGenTokenizer.model_input_names.remove("token_type_ids")


@pytest.mark.parametrize("name", [n for n, one in CLASSES.items() if one.pipeline])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {
            "pad_token": "<P>",
            "extra_special_tokens": ["<a>", "<b>"],
            "model_max_length": 512,
            "padding_side": "left",
            "add_bos_token": True,
        },
    ],
    ids=["alone", "with settings"],
)
def test_a_class_is_made_of_tokens_and_merges(name, settings, tmp_path):
    """It makes of them what the class of transformers makes, in memory or in files."""
    write_tokenizer(tmp_path, FAMILY_OF.get(name, "gpt2"))
    model = json.loads((tmp_path / "tokenizer.json").read_text())["model"]
    pairs = [m.split(" ") if isinstance(m, str) else m for m in model["merges"]]
    merges = [tuple(pair) for pair in pairs]
    settings = {**NEEDS.get(name, {}), **settings}
    theirs = getattr(transformers, name)(
        vocab=model["vocab"], merges=merges, **settings
    )
    ours = getattr(compat, name)(model["vocab"], merges, **settings)
    assert facts(ours) == facts(theirs)
    assert "name_or_path" not in ours.init_kwargs
    if any("\n" in "".join(pair) for pair in merges):
        return  # a file of merges has one on each line
    files = tmp_path / "vocab.json", tmp_path / "merges.txt"
    files[0].write_text(json.dumps(model["vocab"]))
    files[1].write_text("\n".join(["#version: 0.2", *map(" ".join, merges), ""]))
    of_files = getattr(compat, name)(*map(str, files), **settings)
    assert facts(of_files) == facts(ours)


def test_a_pair_of_files_is_read_as_its_class_reads_it(gpt2):
    """``vocab.json`` with ``merges.txt``, and the keywords that act on them."""
    model = json.loads((gpt2 / "tokenizer.json").read_text())["model"]
    (gpt2 / "vocab.json").write_text(json.dumps(model["vocab"]))
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    (gpt2 / "merges.txt").write_text("\n".join(["#version: 0.2", *merges, ""]))
    (gpt2 / "tokenizer.json").unlink()
    for name in ("GPT2Tokenizer", "RobertaTokenizer", "Qwen2Tokenizer"):
        write_settings(gpt2, tokenizer_class=name, add_bos_token=True)
        for keywords in ({}, {"add_prefix_space": True}, {"eos_token": "<e>"}):
            assert_same(gpt2, **keywords)


LANGUAGES = ["eng_Latn", "fra_Latn", "deu_Latn"]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"src_lang": "fra_Latn", "tgt_lang": "deu_Latn"},
        {"legacy_behaviour": True, "tgt_lang": "deu_Latn"},
        {"src_lang": "deu_Latn", "mask_token": "<m>", "add_bos_token": True},
    ],
    ids=str,
)
def test_nllb_puts_languages_around_texts(settings, tmp_path):
    """Those of texts and of targets, as settings, as attributes, and of each call."""
    write_tokenizer(tmp_path, "nllb")
    settings = {**settings, "additional_special_tokens": LANGUAGES}
    write_settings(tmp_path, tokenizer_class="NllbTokenizer", **settings)
    both = assert_same(tmp_path)

    def compare():
        for options_of_call in ({}, {"text_target": TEXTS[1]}, {"text_pair": "a"}):
            found = [plain(one(TEXTS[0], **options_of_call)) for one in both]
            assert found[0] == found[1]
        for text in TEXTS:
            ids = [one.encode(text) for one in both]
            assert ids[0] == ids[1]
        names = (
            "src_lang",
            "tgt_lang",
            "cur_lang_code",
            "prefix_tokens",
            "suffix_tokens",
        )
        for name in names:
            assert getattr(both[0], name) == getattr(both[1], name)

    compare()
    for one in both:
        one.src_lang = "deu_Latn"
    compare()
    for one in both:
        one.tgt_lang = "fra_Latn"
        one.set_tgt_lang_special_tokens("fra_Latn")
    assert both[0].encode("a") == both[1].encode("a")
    compare()
    found = [
        plain(one._build_translation_inputs("a", None, "eng_Latn", "fra_Latn"))
        for one in both
    ]
    assert found[0] == found[1]
    both[0].save_pretrained(tmp_path / "saved")
    assert_same(tmp_path / "saved")


def test_parakeet_leaves_out_what_is_repeated_and_blank(gpt2):
    """Where a text is decoded, of ids, arrays and batches, unless that is not wanted."""
    write_settings(gpt2, tokenizer_class="ParakeetTokenizer", pad_token="!")
    ours, theirs = assert_same(gpt2)
    assert type(ours) is compat.ParakeetTokenizer
    blank = theirs.pad_token_id
    heard = theirs("hello all")["input_ids"]
    ids = [one for id_ in heard for one in (id_, id_, blank)] + heard[-1:]
    for options in ({}, {"group_tokens": False}, {"skip_special_tokens": True}):
        for some in (ids, np.array(ids), [ids, ids[3:]], blank, []):
            assert ours.decode(some, **options) == theirs.decode(some, **options)
        rows = [ids, ids[3:]]
        assert ours.batch_decode(rows, **options) == theirs.batch_decode(
            rows, **options
        )


@pytest.mark.parametrize("name", ["tokenizer-v1.model", "tokenizer-v3.model"])
@pytest.mark.parametrize(
    "settings",
    [{}, {"legacy": True}, {"add_bos_token": True}, {"eos_token": "</x>"}],
    ids=str,
)
def test_a_class_over_a_sentencepiece_model_gives_the_same_or_is_refused(
    name, settings, shared, tmp_path
):
    """It makes other ids of the vocabulary than the model itself does."""
    path = shared(f"vocabularies/mistral-sentencepiece/{name}")
    shutil.copy(path, tmp_path / "tokenizer.model")
    write_settings(tmp_path, tokenizer_class="LlamaTokenizer", **settings)
    try:
        Tokenizer.from_file(path).to_bytes(format="huggingface")
    except bytepair.FormatError:
        with pytest.raises(bytepair.FormatError, match="PreTrainedTokenizerFast"):
            AutoTokenizer.from_pretrained(tmp_path)
        return
    ours = AutoTokenizer.from_pretrained(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    for text in [*TEXTS, SYMBOLS]:
        assert ours(text)["input_ids"] == theirs(text)["input_ids"]
    assert_same_roles(ours, theirs)


SYMBOLS = "a [INST] b</s>[REFERENCE_DOC_3] c [control_99]"


def assert_same_roles(ours, theirs):
    """Compare the special tokens, and what they are in a text and out of it."""
    assert ours.special_tokens_map == theirs.special_tokens_map
    assert ours.all_special_tokens == theirs.all_special_tokens
    assert ours.extra_special_tokens == theirs.extra_special_tokens
    ids = theirs(SYMBOLS)["input_ids"]
    assert ours.decode(ids, True) == theirs.decode(ids, True)


@pytest.mark.parametrize("name", ["tokenizer-v1.model", "tokenizer-v3.model"])
@pytest.mark.parametrize("settings", [None, {}, {"eos_token": "</x>"}], ids=str)
def test_a_sentencepiece_model_by_itself_has_its_special_tokens(
    name, settings, shared, tmp_path
):
    """Those with a role, and its control symbols."""
    path = shared(f"vocabularies/mistral-sentencepiece/{name}")
    shutil.copy(path, tmp_path / "tokenizer.model")
    if settings is not None:
        write_settings(tmp_path, **settings)
    ours = PreTrainedTokenizerFast.from_pretrained(tmp_path)
    theirs = transformers.PreTrainedTokenizerFast.from_pretrained(tmp_path)
    assert ours(SYMBOLS)["input_ids"] == theirs(SYMBOLS)["input_ids"]
    assert_same_roles(ours, theirs)


def test_whisper_begins_with_a_language_and_a_task(shared, tmp_path):
    """As keywords and as a call; and its decoder leaves time stamps out."""
    shutil.copy(shared("vocabularies/gpt2/tokenizer.json"), tmp_path)
    codes = ["en", "zh", "de", "es", "ru", "ko", "fr"]
    special = ["<|startoftranscript|>", *(f"<|{code}|>" for code in codes)]
    special += ["<|translate|>", "<|transcribe|>", "<|notimestamps|>", "<|0.00|>"]
    write_settings(
        tmp_path,
        tokenizer_class="WhisperTokenizer",
        extra_special_tokens=special,
    )
    assert_same(tmp_path)
    assert_same(tmp_path, language="german", task="transcribe")
    ours, theirs = assert_same(tmp_path, language="fr", predict_timestamps=True)
    for tokenizer in (ours, theirs):
        tokenizer.set_prefix_tokens(language="Spanish", task="translate")
    assert facts(ours) == facts(theirs)
    assert ours.prefix_tokens == theirs.prefix_tokens
    ids = ours("a<|0.00|>b")["input_ids"]
    assert ours.decode(ids) == theirs.decode(ids)
    with pytest.raises(bytepair.FormatError, match="Klingon"):
        AutoTokenizer.from_pretrained(tmp_path, language="Klingon")


# Keywords

ADDED = tokenizers.AddedToken("<E>", lstrip=True)
KEYWORDS = [
    {},
    {"add_prefix_space": True},
    {"add_prefix_space": False},
    {"add_bos_token": True},
    {"add_bos_token": False},
    {"add_eos_token": True},
    {"add_bos_token": True, "add_eos_token": True},
    {"legacy": True},
    {"legacy": False},
    {"from_slow": True},
    {"use_fast": False},
    {"model_max_length": 7},
    {"max_len": 5},
    {"padding_side": "left"},
    {"truncation_side": "left"},
    {"pad_token": "<|pad|>"},
    {"bos_token": "<BOS>", "add_bos_token": True},
    {"bos_token": None},
    {"eos_token": ADDED},
    {"unk_token": "a"},
    {"mask_token": "<mask>"},
    {"extra_special_tokens": ["<x>", " b"]},
    {"additional_special_tokens": ["<x>"]},
    {"extra_special_tokens": [ADDED, "<x>"]},
    {"extra_special_tokens": {"image_token": "<img>"}},
    {"image_token": "<img>"},
    {"clean_up_tokenization_spaces": True},
    {"split_special_tokens": True},
    {"chat_template": "{{ 1 }}"},
    {"model_input_names": ["input_ids"]},
    {"pad_token_type_id": 3},
    {"errors": "ignore"},
    {"own_setting": 1},
    {"added_tokens_decoder": {0: tokenizers.AddedToken("zz")}},
    {"tokenizer_type": "roberta"},
    {"revision": "main"},
    {"local_files_only": True},
    {"force_download": True},
]
FOLDERS = {
    "gpt2": {"tokenizer_class": "GPT2Tokenizer"},
    "llama3": {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<|begin_of_text|>",
        "eos_token": "<|eot_id|>",
    },
    "qwen2.5": {"tokenizer_class": "Qwen2Tokenizer"},
    "tinyllama": {"tokenizer_class": "LlamaTokenizer"},
    "roberta": {"tokenizer_class": "RobertaTokenizer"},
    "nemotron": {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"},
}


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
@pytest.mark.parametrize("name", FOLDERS)
def test_keywords_do_what_they_do_in_transformers(name, keywords, tmp_path):
    """Each acts alike; one that no id can follow is refused."""
    write_tokenizer(tmp_path, name)
    write_settings(tmp_path, **FOLDERS[name])
    if "added_tokens_decoder" in keywords:
        with pytest.raises(bytepair.FormatError, match="zz"):
            AutoTokenizer.from_pretrained(tmp_path, **keywords)
        return
    assert_same(tmp_path, **keywords)


@pytest.mark.parametrize("keywords", KEYWORDS[:8], ids=str)
@pytest.mark.parametrize("name", ["gpt2", "llama2-style", "qwen3"])
def test_keywords_act_on_published_files(name, keywords, shared, tmp_path):
    """Those that change ids."""
    for path in shared(f"vocabularies/{name}").glob("tokenizer*.json"):
        shutil.copy(path, tmp_path)
    if name != "qwen3":
        roles = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
        roles = roles if name == "llama2-style" else {}
        write_settings(tmp_path, tokenizer_class=PUBLISHED[name][0], **roles)
    assert_same(tmp_path, **keywords)


@pytest.mark.parametrize("name", FOLDERS)
def test_the_beginning_and_the_end_are_set_as_attributes(name, tmp_path):
    """Each replaces the template; without such a token it stays off."""
    write_tokenizer(tmp_path, name)
    write_settings(tmp_path, **FOLDERS[name])
    ours, theirs = assert_same(tmp_path)
    for attribute, value in (
        ("add_bos_token", True),
        ("add_eos_token", True),
        ("add_bos_token", False),
    ):
        for tokenizer in (ours, theirs):
            setattr(tokenizer, attribute, value)
        assert facts(ours) == facts(theirs)


# What is saved


def test_what_is_saved_is_what_transformers_saves(gpt2):
    """Setting by setting; ours names sides, names of inputs and the clean-up besides."""
    write_settings(gpt2, tokenizer_class="GPT2Tokenizer")
    keywords = {
        "token": "hf_SECRETSECRET",
        "revision": "main",
        "own": [1],
        "eos_token": ADDED,
        "image_token": "<img>",
        "extra_special_tokens": ["<x>"],
        "pad_token": "<pad>",
    }
    ours, theirs = assert_same(gpt2, **keywords)
    ours.save_pretrained(gpt2 / "ours")
    theirs.save_pretrained(gpt2 / "theirs")
    found, expected = (
        json.loads((gpt2 / name / "tokenizer_config.json").read_text())
        for name in ("ours", "theirs")
    )
    places = {
        "is_local",
        "local_files_only",
        "backend",
        "model_specific_special_tokens",
    }
    places |= {"errors"}  # which nothing reads
    besides = {"padding_side", "truncation_side", "model_input_names"}
    besides |= {"clean_up_tokenization_spaces"}
    assert set(expected) - set(found) == places
    assert set(found) - set(expected) == besides
    assert {name: found[name] for name in expected.keys() - places} == {
        name: expected[name] for name in expected.keys() - places
    }


def test_a_class_is_saved_only_if_it_makes_the_same_again(gpt2):
    """GPT-NeoX's template is made of settings that are not saved."""
    write_settings(gpt2, tokenizer_class="GPTNeoXTokenizer")
    ours, theirs = assert_same(gpt2, add_bos_token=True)
    ours.save_pretrained(gpt2 / "saved")
    ids = theirs("a b")["input_ids"]
    for library in (transformers.AutoTokenizer, AutoTokenizer):
        assert library.from_pretrained(gpt2 / "saved")("a b")["input_ids"] == ids


def test_a_class_is_saved_with_a_token_that_was_a_piece(gpt2):
    """It is listed before the others, by its id."""
    write_settings(gpt2, tokenizer_class="GPT2Tokenizer")
    ours, theirs = assert_same(gpt2)
    for tokenizer in (ours, theirs):
        tokenizer.add_tokens(["the", "<new>"])
        tokenizer.save_pretrained(gpt2 / type(tokenizer).__module__)
    assert facts(ours) == facts(theirs)
    ours, _ = assert_same(gpt2 / type(ours).__module__)
    assert facts(ours) == facts(theirs)
    assert type(ours).__name__ == "GPT2Tokenizer"


# Chat templates


def write_templates(folder, templates):
    """Write templates as transformers 5 lays them out."""
    (folder / "additional_chat_templates").mkdir(exist_ok=True)
    for name, text in templates.items():
        path = f"additional_chat_templates/{name}.jinja"
        (folder / ("chat_template.jinja" if name == "default" else path)).write_text(
            text
        )


@pytest.mark.parametrize(
    "templates",
    [
        {"default": "D {{ messages }}"},
        {"default": "D {{ 1 }}", "tool_use": "T {{ tools }}", "rag": "R {{ 1 }}"},
        {"tool_use": "T {{ 1 }}"},
    ],
    ids=str,
)
def test_templates_in_files_go_before_settings(templates, gpt2):
    """``tools`` choose ``tool_use``; a name chooses its own."""
    pytest.importorskip("jinja2", reason="renders templates")
    write_settings(gpt2, chat_template="S {{ 1 }}")
    write_templates(gpt2, templates)
    ours, theirs = assert_same(gpt2)
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    calls = [{}, {"tools": [tool]}, *({"chat_template": name} for name in templates)]
    for options in calls:
        if len(templates) == 1 and "chat_template" in options:
            continue
        if options == {} and "default" not in templates:
            with pytest.raises(bytepair.TokenizerError, match="tool_use"):
                ours.apply_chat_template(CHAT, tokenize=False)
            continue
        expected = theirs.apply_chat_template(CHAT, tokenize=False, **options)
        assert ours.apply_chat_template(CHAT, tokenize=False, **options) == expected
    ours.save_pretrained(gpt2 / "saved")
    theirs.save_pretrained(gpt2 / "theirs")
    for path in (gpt2 / "theirs").rglob("*.jinja"):
        own = gpt2 / "saved" / path.relative_to(gpt2 / "theirs")
        assert own.read_text() == path.read_text()
    ours.save_pretrained(gpt2 / "saved", save_jinja_files=False)
    assert not list((gpt2 / "saved").rglob("*.jinja"))
    assert AutoTokenizer.from_pretrained(gpt2 / "saved").chat_template == (
        theirs.chat_template
    )


# Added tokens beside a tokenizer.json

FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


@pytest.mark.parametrize("flag", [None, *FLAGS])
@pytest.mark.parametrize("kind", ["PreTrainedTokenizerFast", "GPT2Tokenizer"])
def test_listed_tokens_count_with_their_properties(flag, kind, gpt2):
    """New ones, and one that the file has with other properties."""
    size = len(AutoTokenizer.from_pretrained(gpt2))
    token = dict.fromkeys(FLAGS, False) | ({} if flag is None else {flag: True})
    end = json.loads((gpt2 / "tokenizer.json").read_text())["added_tokens"][0]
    listed = {
        str(end["id"]): {**token, "content": end["content"]},
        str(size): {**token, "content": "<new>"},
        str(size + 1): {**token, "content": "New"},
    }
    write_settings(gpt2, tokenizer_class=kind, added_tokens_decoder=listed)
    theirs = transformers.AutoTokenizer.from_pretrained(gpt2)
    ours = AutoTokenizer.from_pretrained(gpt2)
    found, expected = facts(ours), facts(theirs)
    if (
        kind == "PreTrainedTokenizerFast"
    ):  # special once is special there, and not listed so
        del found["added"][end["id"]], expected["added"][end["id"]]
    assert found == expected
    for text in ("a <new> b New c", "a<new>b", "news New.", f"x {end['content']} y"):
        ids = theirs(text)["input_ids"]
        assert ours(text)["input_ids"] == ids
        for skip in (False, True):
            expected = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected


@pytest.mark.parametrize("kind", ["PreTrainedTokenizerFast", "RobertaTokenizer"])
def test_older_files_of_tokens_count_where_nothing_is_listed(kind, gpt2):
    """``added_tokens.json`` and ``special_tokens_map.json``, which goes before settings."""
    size = len(AutoTokenizer.from_pretrained(gpt2))
    write_settings(gpt2, tokenizer_class=kind, eos_token="<eos>", pad_token="<pad>")
    (gpt2 / "added_tokens.json").write_text(
        json.dumps({"<new>": size + 1, "<eot>": size})
    )
    (gpt2 / "special_tokens_map.json").write_text(
        json.dumps(
            {
                "eos_token": {"content": "<eot>", "lstrip": True, "normalized": False},
                "additional_special_tokens": ["<more>"],
                "pad_token": "<pad2>",
            }
        )
    )
    for keywords in ({}, {"eos_token": "<mine>"}):
        ours, theirs = assert_same(gpt2, **keywords)
        text = "a <new> b  <eot> <more>"
        ids = theirs(text)["input_ids"]
        assert ours(text)["input_ids"] == ids
        for skip in (False, True):
            expected = theirs.decode(ids, skip_special_tokens=skip)
            assert ours.decode(ids, skip_special_tokens=skip) == expected
    write_settings(gpt2, tokenizer_class=kind, added_tokens_decoder={})
    assert_same(gpt2)


# Names


def test_the_lengths_of_a_file_are_settings_that_do_nothing(gpt2):
    """As in transformers: calls say what they want, and what is saved says the same."""
    path = gpt2 / "tokenizer.json"
    theirs = tokenizers.Tokenizer.from_file(str(path))
    theirs.enable_padding(
        pad_token="<p>", length=12, pad_to_multiple_of=4, pad_type_id=1
    )
    theirs.enable_truncation(6, stride=1, direction="left")
    theirs.save(str(path))
    write_settings(gpt2)
    ours, there = assert_same(gpt2)
    names = ("max_length", "stride", "truncation_strategy", "pad_to_multiple_of")
    names += ("padding_side", "truncation_side", "pad_token", "pad_token_type_id")
    assert {k: str(ours.init_kwargs[k]) for k in names} == {
        k: str(there.init_kwargs[k]) for k in names
    }
    ours.save_pretrained(gpt2 / "saved")
    assert_same(gpt2 / "saved")
