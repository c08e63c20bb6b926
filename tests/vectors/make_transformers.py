"""Ask transformers, and write its answers into ``transformers.json``.

A case is a folder with a small vocabulary and files of settings, keywords to load it with, and
steps: a name with arguments is called, without them it is read, and ``=`` sets it.
Run ``python -m tests.vectors.make_transformers`` with transformers installed.
"""

import copy
import inspect
import json
from collections.abc import Mapping
from itertools import product
from pathlib import Path

import numpy as np

import bytepair
from bytepair.compat._classes import CLASSES

PATH = Path(__file__).with_name("transformers.json")
WORDS = "Hello, these are some words, and more of them follow here. Don't stop 12345"
SPECIAL = ["<|endoftext|>", "<s>", "</s>", "<unk>", "<pad>", "<mask>"]
TEXTS = ["Hello, wörld! These  are\n\n words.", " 日本 👍🏽 12345 "]
TEXTS += ["<s>a</s> b<|endoftext|> c <mask>x <pad>", "", "Don't STOP"]
# Vocabularies of the classes that do not take one of bytes.
OF_CLASSES = {
    **dict.fromkeys(["LlamaTokenizer", "GemmaTokenizer", "Siglip2Tokenizer"], "pieces"),
    **dict.fromkeys(["OpenAIGPTTokenizer", "HerbertTokenizer"], "words"),
    **dict.fromkeys(["NllbTokenizer", "CLIPTokenizer"], "words"),
}
FACTS = [
    *(["encode", [text]] for text in TEXTS),
    ["encode", [TEXTS[2]], {"add_special_tokens": False}],
    ["__call__", ["a", "b c"], {"return_token_type_ids": True}],
    *(["decode", [[72, 72, *range(250, 320), 72], skips]] for skips in (False, True)),
    *([name] for name in ("vocab_size", "special_tokens_map", "all_special_tokens")),
    *([name] for name in ("added_tokens_decoder", "model_input_names", "padding_side")),
    *([name] for name in ("truncation_side", "model_max_length", "chat_template")),
    *([name] for name in ("add_bos_token", "add_eos_token")),
    ["__len__", []],
]
KEYWORDS = [
    *({"add_prefix_space": value} for value in (True, False)),
    *({"add_bos_token": value} for value in (True, False)),
    *({"legacy": value} for value in (True, False)),
    *({"add_eos_token": True}, {"add_bos_token": True, "add_eos_token": True}),
    *(
        {"from_slow": True},
        {"use_fast": False},
        {"model_max_length": 7},
        {"max_len": 5},
    ),
    *({"padding_side": "left"}, {"truncation_side": "left"}, {"pad_token": "<|pad|>"}),
    {"bos_token": "<BOS>", "add_bos_token": True},
    *({"bos_token": None}, {"unk_token": "a"}),
    {"extra_special_tokens": ["<x>", " b"]},
    {"additional_special_tokens": ["<x>"]},
    {"extra_special_tokens": {"image_token": "<img>"}},
    *({"image_token": "<img>"}, {"split_special_tokens": True}),
    *({"chat_template": "{{ 1 }}"}, {"model_input_names": ["input_ids"]}),
    *({"errors": "ignore"}, {"own_setting": 1}, {"tokenizer_type": "roberta"}),
    {"revision": "main", "local_files_only": True, "force_download": True},
]
GPT2 = {"tokenizer_class": "GPT2Tokenizer"}
# The settings of a tokenizer, and those of its model.
CHOICES = [
    (None, {"model_type": "gpt2"}),
    ({}, {"model_type": "roberta"}),
    *((GPT2, {"model_type": name}) for name in ("granite", "roberta", "qwen2")),
    ({"tokenizer_class": "GPT2TokenizerFast"}, {"model_type": "no_such"}),
    ({"tokenizer_class": "LlamaTokenizer"}, {"model_type": "llama"}),
    ({}, {"model_type": "llama", "tokenizer_class": "RobertaTokenizer"}),
    (None, {"model_type": "no_such"}),
    ({**GPT2, "auto_map": {"AutoTokenizer": ["own.Own", None]}}, {}),
]
FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
LONG = "one two three four five six seven eight nine ten"
CALLS = [
    {},
    {"padding": True},
    {"padding": "max_length", "max_length": 30},
    {"padding": True, "pad_to_multiple_of": 8},
    {"padding": "longest", "padding_side": "left"},
    {"truncation": True, "max_length": 7},
    {"truncation": "only_first", "max_length": 12},
    {"max_length": 9},
    {"truncation": True, "max_length": 8, "padding": "max_length"},
    {
        "truncation": True,
        "max_length": 9,
        "stride": 2,
        "return_overflowing_tokens": True,
        "return_special_tokens_mask": True,
    },
    {"return_offsets_mapping": True, "return_length": True},
    {"return_attention_mask": False, "return_token_type_ids": False},
]
PADS = [
    {},
    {"padding": "longest", "pad_to_multiple_of": 4, "return_tensors": "np"},
    {"padding": "max_length", "max_length": 6, "padding_side": "left"},
    {"padding": "max_length", "max_length": 2},
    *({"padding": value} for value in ("max_length", False)),
    {"return_attention_mask": False},
    {"return_attention_mask": True, "return_tensors": "np"},
]
ROWS = [[5, 6, 7], [8], [9, 10]]
ONES = ("attention_mask", "token_type_ids", "special_tokens_mask")
FEATURES = [
    [{"input_ids": row} for row in ROWS],
    [{"input_ids": np.array(row)} for row in ROWS],
    [{"input_ids": row, "label": 0.5} for row in ROWS],
    [{"input_ids": row} | dict.fromkeys(ONES, [1] * len(row)) for row in ROWS],
    *({"input_ids": rows} for rows in (ROWS, ROWS[0], [])),
    {"labels": [1]},
]
TARGETS = [
    [["a b c", "d"], {"text_target": ["e f", "g h i j"]}],
    [["a b"], {"text_target": "c d e f", "max_target_length": 4, "truncation": 1}],
    *([[], {"text_target": "a b c"}], [[]]),
    [["a"], {"tokenizer_kwargs": {"add_special_tokens": False}}],
    *([[[kind(["a", "b"]), kind(["c", "d e"])]]] for kind in (tuple, list)),
    *([["a", ""]], [[["a", "b"], ["", "c"]]]),
    [[TEXTS, TEXTS[::-1]], {"padding": True, "return_tensors": "np"}],
]
CHAT = [
    {"role": "user", "content": " héllo <b>", "name": None},
    {"role": "assistant", "content": "some words "},
    {"role": "user", "content": "more"},
    {"role": "assistant", "content": "the end "},
]
CONTENT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</s>{% endfor %}"
PLAIN = {"chat_template": CONTENT}
TRIMMED = {"chat_template": CONTENT.replace("content", "content | trim")}
CHATS = [
    {"tokenize": False},
    {"add_generation_prompt": True, "tokenize": False},
    {"add_generation_prompt": True, "continue_final_message": True},
    {"padding": True, "truncation": True, "max_length": 20},
    {"return_assistant_tokens_mask": True},
    {"return_assistant_tokens_mask": True, "truncation": True, "max_length": 30},
    {"return_assistant_tokens_mask": True, "return_dict": False},
    {"continue_final_message": True, "tokenize": False},
    *(
        {**one, "continue_final_message": True, "tokenize": False}
        for one in (PLAIN, TRIMMED)
    ),
    *(
        {**PLAIN, "continue_final_message": key}
        for key in ("content", "reasoning_content")
    ),
    {"tokenizer_kwargs": {"return_offsets_mapping": True}},
    {"tools": [{"name": "f"}], "documents": [{"title": "t", "text": "é"}]},
    {"return_dict": False},
]
TEMPLATE = """{{ bos_token or '' }}{% for m in messages %}<|{{ m.role }}|>
{% if m.role == 'assistant' %}{% generation %}{{ m.content }} é!{% endgeneration %}
{% else %}{{ m.content | trim }}{% endif %}{% endfor %}{{ tools | tojson }}{{ documents | tojson }}
{% if add_generation_prompt %}<|assistant|>{% endif %}"""


def steps_of_batches():
    """List calls, fillings, chats and targets."""
    texts = [LONG], [[LONG, "a b", ""]], ["a b", LONG]
    steps = [["__call__", *one] for one in product(texts, CALLS)]
    steps += [["pad", [rows], options] for rows, options in product(FEATURES, PADS)]
    chats = [CHAT], [[CHAT, CHAT[:2]]], [[]]
    steps += [["apply_chat_template", *one] for one in product(chats, CHATS)]
    masks = {"return_assistant_tokens_mask": True, "return_tensors": "np"}
    steps.append(["apply_chat_template", [CHAT], masks])
    return steps + [["__call__", *one] for one in TARGETS]


def steps_of_calls():
    """List calls, fillings, words, chats and changes, in their order."""
    steps = steps_of_batches()
    words = ["the", "words", "é", "a-b", " x", "", "x "]
    options = {"is_split_into_words": True, "return_offsets_mapping": True}
    steps += [["__call__", [words], options], ["__call__", [words, words], options]]
    steps += [["convert_tokens_to_ids", [["the", "Ġ", "no such token", "<s>"]]]]
    steps += [["convert_ids_to_tokens", [[3, 299, 10**6]]]]
    steps += [["convert_tokens_to_string", [["Ġa", "", "é", "<s>", "Ã", "©", "漢"]]]]
    for name in ("num_special_tokens_to_add", "get_added_vocab"):
        steps.append([name, []])
    for tokens, is_special in ((["newtok", "hello", "Hello"], False), (["<x>"], True)):
        steps.append(["add_tokens", [tokens, is_special]])
        steps.append(["__call__", ["a newtok hello Hello newtoks<x>"]])
    for name, value in (("bos", True), ("eos", True), ("bos", False)):
        steps += [[f"=add_{name}_token", value], ["encode", ["a b"]]]
    return [*steps, ["=pad_token", "Hello"], *FACTS]


def cases():
    """List the cases, without their answers."""
    found = []
    for name in CLASSES:
        settings = {"tokenizer_class": name}
        if name == "NllbTokenizer":
            settings["extra_special_tokens"] = ["eng_Latn", "fra_Latn"]
        vocabulary = OF_CLASSES.get(name, "bytes")
        found.append((vocabulary, {"tokenizer_config": settings}, {}, FACTS))
    for keywords, name in product(KEYWORDS, ("GPT2", "Llama")):
        settings = {"tokenizer_class": f"{name}Tokenizer"}
        vocabulary = "pieces" if name == "Llama" else "bytes"
        found.append((vocabulary, {"tokenizer_config": settings}, keywords, FACTS))
    for settings, model in CHOICES:
        files = {"tokenizer_config": settings, "config": model}
        files = {name: file for name, file in files.items() if file is not None}
        found.append(("bytes", files, {}, FACTS))
    for flag, kind in product(FLAGS, ("PreTrainedTokenizerFast", "GPT2Tokenizer")):
        token = {**dict.fromkeys(FLAGS, False), flag: True}
        first = 300 if kind == "GPT2Tokenizer" else 306  # a class adds its own tokens
        names = enumerate(["<new>", "New"], first)
        listed = {str(id_): {**token, "content": name} for id_, name in names}
        settings = {"tokenizer_class": kind, "added_tokens_decoder": listed}
        steps = [["encode", ["a <new> b New c a<new>b news New."]], *FACTS]
        found.append(("bytes", {"tokenizer_config": settings}, {}, steps))
    eot = {"content": "<eot>", "lstrip": True, "normalized": False}
    named = {"eos_token": eot, "pad_token": "<pad2>"}
    named["additional_special_tokens"] = ["<more>"]
    older = {"added_tokens": {"<new>": 307, "<eot>": 306}, "special_tokens_map": named}
    kinds = ("PreTrainedTokenizerFast", "RobertaTokenizer")
    for kind, keywords in product(kinds, ({}, {"eos_token": "<mine>"})):
        settings = {"tokenizer_class": kind, "eos_token": "<eos>"}
        files = {"tokenizer_config": settings, **older}
        steps = [["encode", ["a <new> b  <eot> <more>"]], *FACTS]
        found.append(("bytes", files, keywords, steps))
    names = ["startoftranscript", "en", "zh", "de", "translate", "transcribe"]
    languages = [f"<|{name}|>" for name in (*names, "notimestamps", "0.00")]
    whisper = {"tokenizer_class": "WhisperTokenizer", "extra_special_tokens": languages}
    files = {"tokenizer_config": whisper}
    found.append(("bytes", files, {"language": "german", "task": "transcribe"}, FACTS))
    templates = {
        "tokenizer_config": {**settings, "chat_template": "S {{ 1 }}"},
        "chat_template.jinja": "D {{ messages }}",
        "additional_chat_templates/tool_use.jinja": "T {{ tools }}",
        "additional_chat_templates/rag.jinja": "R {{ 1 }}",
    }
    chats = ({}, {"tools": CHATS[-2]["tools"]}, {"chat_template": "rag"})
    steps = [["apply_chat_template", [CHAT], {"tokenize": False, **o}] for o in chats]
    found.append(("bytes", templates, {}, [*steps, *FACTS]))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "pad_token": "<pad>",
        "bos_token": "<s>",
        "model_max_length": 40,
        "chat_template": TEMPLATE,
        "model_input_names": ["input_ids", "token_type_ids", "attention_mask"],
    }
    for vocabulary in ("around", "pieces"):
        files = {"tokenizer_config": settings}
        found.append((vocabulary, files, {}, steps_of_calls()))
    return found


def trained(text, **options):
    """Train a vocabulary with the special tokens."""
    return bytepair.train_from_iterator([text] * 9, special_tokens=SPECIAL, **options)


def vocabularies():
    """Train the vocabularies: of bytes, the same with a template, and of characters with two kinds of marks."""
    own, pieces = (
        trained(WORDS, dialect=dialect, vocab_size=306)
        for dialect in ("gpt2", "sentencepiece")
    )
    around = own.with_template("<s> $A </s>", pair="<s> $A </s> $B:1 </s>:1")
    text = " ".join([WORDS.lower(), *map(chr, range(33, 127))])
    options = {"dialect": "subword-nmt", "vocab_size": 260}
    words = trained(text, unknown_token="<unk>", **options)
    made = {"bytes": own, "around": around, "pieces": pieces, "words": words}
    return {k: json.loads(v.to_bytes(format="huggingface")) for k, v in made.items()}


def write_folder(folder, vocabulary, files):
    """Write a tokenizer with files of settings beside it."""
    for name, content in {"tokenizer": vocabulary, **files}.items():
        is_text = isinstance(content, str)
        path = folder / (name if is_text else f"{name}.json")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if is_text else json.dumps(content))


def as_values(value):
    """Give an answer as JSON has it."""
    if isinstance(value, Mapping):
        return {str(key): as_values(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_values(one) for one in value]
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            raise ValueError  # rows of several lengths are no array
        return value.tolist()
    if hasattr(value, "lstrip") and hasattr(value, "content"):
        return [value.content, *(getattr(value, flag) for flag in FLAGS)]
    return value


def answer(tokenizer, name, rest):
    """Take a step."""
    if name.startswith("="):
        return setattr(tokenizer, name[1:], rest[0])
    found = getattr(tokenizer, name)
    if not rest:
        return as_values(found)
    arguments, options = (*rest, {})[:2]
    try:
        return as_values(found(*copy.deepcopy(arguments), **options))
    except Exception:
        return "refused"


def answers(tokenizer, steps):
    """Take all steps, in their order."""
    return [answer(tokenizer, name, rest) for name, *rest in steps]


# What a dict has too, and takes the same arguments.
OF_DICT = set(dir(dict)) - {"copy", "__init__", "__getitem__"}


def signatures(kind):
    """List the names that a class offers; of each method its arguments, kinds and defaults."""
    found = {}
    for name in {*dir(kind)} - OF_DICT:
        if name.startswith("_") and name not in ("__call__", "__init__", "__getitem__"):
            continue
        method = getattr(kind, name)
        rows = inspect.signature(method).parameters.values() if callable(method) else ()
        found[name] = [[row.name, row.kind.name, repr(row.default)] for row in rows]
    return found


def build(folder):
    """Give the content of the file."""
    import transformers

    made = vocabularies()
    found = []
    for number, (vocabulary, files, keywords, steps) in enumerate(cases()):
        path = folder / str(number)
        path.mkdir()
        write_folder(path, made[vocabulary], files)
        theirs = transformers.AutoTokenizer.from_pretrained(path, **keywords)
        found.append(answers(theirs, steps))
    kinds = transformers.PreTrainedTokenizerFast, transformers.BatchEncoding
    shown = [dict(sorted(signatures(kind).items())) for kind in kinds]
    return {"signatures": shown, "vocabularies": made, "answers": found}


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        content = build(Path(name))
    lines = json.dumps(content, separators=(",", ":")).replace(",[[", ",\n[[")
    PATH.write_text(lines + "\n")
