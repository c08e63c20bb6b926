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
    MARKS,
    assert_same as assert_alike,
    assert_same_values,
    load_both,
    plain,
    properties,
    transformers,
)
from tests.model_folders import write_model, write_settings, write_tokenizer
from tests.vectors import make_transformers as vectors

import bytepair
from bytepair import Tokenizer
from bytepair.compat import transformers as compat
from bytepair.compat._classes import CLASSES
from bytepair.compat.transformers import AutoTokenizer, PreTrainedTokenizerFast

pytestmark = MARKS

TEXTS = vectors.TEXTS
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
    found["added"] = properties(tokenizer.added_tokens_decoder)
    names = ("padding_side", "truncation_side", "model_max_length")
    names += ("model_input_names", "chat_template", "add_bos_token", "add_eos_token")
    return found | {name: getattr(tokenizer, name) for name in names}


def assert_same(folder, **keywords):
    """Load a folder in both libraries, and compare all that can be told."""
    ours, theirs = load_both(folder, **keywords)
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
    write_model(tmp_path, family, tokenizer_class=name, **NEEDS.get(name, {}))
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
    for again in load_both(tmp_path / "saved"):
        assert facts(again) == theirs


@pytest.mark.parametrize("legacy", [{}, {"legacy": False}, {"legacy": True}])
@pytest.mark.parametrize("space", [{}, *vectors.KEYWORDS[:2]])
def test_llama_puts_spaces_as_its_settings_say(legacy, space, shared, tmp_path):
    """``legacy`` and ``add_prefix_space``, on a published vocabulary."""
    shutil.copy(shared("vocabularies/llama2-style/tokenizer.json"), tmp_path)
    write_settings(tmp_path, tokenizer_class="LlamaTokenizer", **legacy, **space)
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
    settings = {**settings, "additional_special_tokens": LANGUAGES}
    write_model(tmp_path, "nllb", tokenizer_class="NllbTokenizer", **settings)
    both = assert_same(tmp_path)

    def compare():
        for options in ({}, {"text_target": TEXTS[1]}, {"text_pair": "a"}):
            assert_alike(both, "__call__", TEXTS[0], **options)
        for text in TEXTS:
            assert_alike(both, "encode", text)
        names = ("cur_lang_code", "prefix_tokens", "suffix_tokens")
        assert_same_values(both, "src_lang", "tgt_lang", *names)

    compare()
    for one in both:
        one.src_lang = "deu_Latn"
    compare()
    for one in both:
        one.tgt_lang = "fra_Latn"
        one.set_tgt_lang_special_tokens("fra_Latn")
    compare()
    languages = ("a", None, "eng_Latn", "fra_Latn")
    assert_alike(both, "_build_translation_inputs", *languages)
    both[0].save_pretrained(tmp_path / "saved")
    assert_same(tmp_path / "saved")


def test_parakeet_leaves_out_what_is_repeated_and_blank(gpt2):
    """Where a text is decoded, of ids, arrays and batches, unless that is not wanted."""
    write_settings(gpt2, tokenizer_class="ParakeetTokenizer", pad_token="!")
    both = assert_same(gpt2)
    assert type(both[0]) is compat.ParakeetTokenizer
    blank = both[1].pad_token_id
    heard = both[1]("hello all")["input_ids"]
    ids = [one for id_ in heard for one in (id_, id_, blank)] + heard[-1:]
    for options in ({}, {"group_tokens": False}, {"skip_special_tokens": True}):
        for some in (ids, np.array(ids), [ids, ids[3:]], blank, []):
            assert_alike(both, "decode", some, **options)
        assert_alike(both, "batch_decode", [ids, ids[3:]], **options)


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
    assert_same_roles(load_both(tmp_path))


SYMBOLS = "a [INST] b</s>[REFERENCE_DOC_3] c [control_99]"


def assert_same_roles(pair):
    """Compare the special tokens, and what they are in a text and out of it."""
    assert_same_values(
        pair, "special_tokens_map", "all_special_tokens", "extra_special_tokens"
    )
    for text in [*TEXTS, SYMBOLS]:
        assert_alike(pair, "encode", text)
    assert_alike(pair, "decode", pair[1].encode(SYMBOLS), skip_special_tokens=True)


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
    libraries = (PreTrainedTokenizerFast, transformers.PreTrainedTokenizerFast)
    assert_same_roles([library.from_pretrained(tmp_path) for library in libraries])


def test_whisper_begins_with_a_language_and_a_task(shared, tmp_path):
    """As keywords and as a call; and its decoder leaves time stamps out."""
    shutil.copy(shared("vocabularies/gpt2/tokenizer.json"), tmp_path)
    codes = ["en", "zh", "de", "es", "ru", "ko", "fr"]
    special = ["<|startoftranscript|>", *(f"<|{code}|>" for code in codes)]
    special += ["<|translate|>", "<|transcribe|>", "<|notimestamps|>", "<|0.00|>"]
    settings = {"tokenizer_class": "WhisperTokenizer", "extra_special_tokens": special}
    write_settings(tmp_path, **settings)
    assert_same(tmp_path)
    assert_same(tmp_path, language="german", task="transcribe")
    both = assert_same(tmp_path, language="fr", predict_timestamps=True)
    for tokenizer in both:
        tokenizer.set_prefix_tokens(language="Spanish", task="translate")
    assert facts(both[0]) == facts(both[1])
    assert_same_values(both, "prefix_tokens")
    assert_alike(both, "decode", both[0]("a<|0.00|>b")["input_ids"])
    with pytest.raises(bytepair.FormatError, match="Klingon"):
        AutoTokenizer.from_pretrained(tmp_path, language="Klingon")


@pytest.mark.parametrize(
    "templates",
    [
        {"default": "D {{ messages }}"},
        {"default": "D {{ 1 }}", "tool_use": "T {{ tools }}", "rag": "R {{ 1 }}"},
        {"tool_use": "T {{ 1 }}"},
    ],
    ids=str,
)
def test_templates_are_saved_in_the_files_of_transformers(templates, gpt2):
    """And come back from settings, where that is asked for."""
    write_settings(gpt2, chat_template="S {{ 1 }}")
    (gpt2 / "additional_chat_templates").mkdir()
    for name, text in templates.items():
        path = f"additional_chat_templates/{name}.jinja"
        path = "chat_template.jinja" if name == "default" else path
        (gpt2 / path).write_text(text)
    ours, theirs = assert_same(gpt2)
    ours.save_pretrained(gpt2 / "saved")
    theirs.save_pretrained(gpt2 / "theirs")
    for path in (gpt2 / "theirs").rglob("*.jinja"):
        own = gpt2 / "saved" / path.relative_to(gpt2 / "theirs")
        assert own.read_text() == path.read_text()
    ours.save_pretrained(gpt2 / "saved", save_jinja_files=False)
    assert not list((gpt2 / "saved").rglob("*.jinja"))
    again = AutoTokenizer.from_pretrained(gpt2 / "saved")
    assert again.chat_template == theirs.chat_template


# Keywords

ADDED = tokenizers.AddedToken("<E>", lstrip=True)
KEYWORDS = [
    {},
    *vectors.KEYWORDS,
    {"eos_token": ADDED},
    {"mask_token": "<mask>"},
    {"extra_special_tokens": [ADDED, "<x>"]},
    {"clean_up_tokenization_spaces": True},
    {"pad_token_type_id": 3},
    {"added_tokens_decoder": {0: tokenizers.AddedToken("zz")}},
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
    write_model(tmp_path, name, **FOLDERS[name])
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
    for again in load_both(gpt2 / "saved"):
        assert again("a b")["input_ids"] == theirs("a b")["input_ids"]


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


# Added tokens beside a tokenizer.json

FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")


@pytest.mark.parametrize("flag", [None, *FLAGS])
@pytest.mark.parametrize("kind", ["PreTrainedTokenizerFast", "GPT2Tokenizer"])
def test_listed_tokens_count_with_their_properties(flag, kind, gpt2):
    """New ones, and one that the file has with other properties."""
    size = len(AutoTokenizer.from_pretrained(gpt2))
    token = dict.fromkeys(FLAGS, False) | ({} if flag is None else {flag: True})
    end = json.loads((gpt2 / "tokenizer.json").read_text())["added_tokens"][0]
    names = {end["id"]: end["content"], size: "<new>", size + 1: "New"}
    listed = {str(id_): {**token, "content": name} for id_, name in names.items()}
    write_settings(gpt2, tokenizer_class=kind, added_tokens_decoder=listed)
    pair = load_both(gpt2)
    found, expected = map(facts, pair)
    if kind == "PreTrainedTokenizerFast":
        # Special once is special there, and not listed so.
        del found["added"][end["id"]], expected["added"][end["id"]]
    assert found == expected
    for text in ("a <new> b New c", "a<new>b", "news New.", f"x {end['content']} y"):
        assert_alike(pair, "encode", text)
        for skip in (False, True):
            ids = pair[1].encode(text)
            assert_alike(pair, "decode", ids, skip_special_tokens=skip)


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
