"""Folders of tokenizers whose settings somebody changed: an error that names the file, or it works.

One value of one file of settings becomes another, of any kind. Loading, encoding and rendering a
chat then end well, or in an error of ours with the path of a file in the folder.
"""

import json
import random

import pytest
from tests.damage import variants

import bytepair
from bytepair import Tokenizer, TokenizerError
from bytepair.compat.transformers import AutoTokenizer

N_CASES = 40

TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }} {{ m['content'] }}{% endfor %}"
ADDED = {"content": "<new>", "lstrip": False, "normalized": True, "special": False}
CHAT = [{"role": "user", "content": "low <think>"}]
CLASSES = [
    *("PreTrainedTokenizerFast", "GPT2TokenizerFast", "LlamaTokenizerFast"),
    *("Qwen2Tokenizer", "RobertaTokenizer", "CLIPTokenizer", "BartTokenizerFast"),
    *("WhisperTokenizer", "CodeGenTokenizer", "LayoutLMv3Tokenizer"),
    *("GPTNeoXTokenizer", "CohereTokenizerFast"),
]
VALUES = [
    *(None, True, False, 0, -1, 7, 1.5, float("inf"), 1 << 70),
    *("", "x", "<s>", "\ud800", "{{ 1/0 }}", "{% for %}", "left"),
    *([], [1], ["x"], [["x"]], [None], [{}], {}, {"x": 1}, {"content": 3}, {"0": {}}),
    *({"content": "x"}, {"1": {"content": "x"}}, {"-1": {"content": "x"}}),
]


def settings(kind):
    """Give the files of settings of a folder."""
    token = {"content": "<s>", "lstrip": False, "normalized": False, "special": True}
    return {
        "tokenizer_config.json": {
            "tokenizer_class": kind,
            "bos_token": "<s>",
            "pad_token": token,
            "model_max_length": 512,
            "padding_side": "right",
            "truncation_side": "left",
            "add_bos_token": True,
            "add_prefix_space": False,
            "extra_special_tokens": ["<s>"],
            "model_input_names": ["input_ids"],
            "chat_template": TEMPLATE,
            "clean_up_tokenization_spaces": False,
        },
        "special_tokens_map.json": {"eos_token": "<s>", "unk_token": token},
        "added_tokens.json": {"<think>": 301},
        "config.json": {"model_type": "gpt2", "tokenizer_class": kind},
    }


def use_shaped(tokenizer):
    """Encode, and render a chat."""
    tokenizer(["lo <s>", "o"], padding=True, truncation=True, max_length=8)
    if tokenizer.chat_template:
        tokenizer.apply_chat_template(CHAT)


def use_ours(tokenizer):
    """Encode a text."""
    tokenizer.encode("lo <s>")


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("use", [use_shaped, use_ours])
def test_changed_settings_are_refused_by_file_or_work(use, kind, tmp_path):
    """Whatever value stands where, no other exception comes out."""
    chance = random.Random(f"{kind} {use.__name__}")
    base = bytepair.train_from_iterator(["low lower"], vocab_size=300, dialect="gpt2")
    base.with_special_tokens(["<s>", "<think>"]).save_pretrained(tmp_path)
    for _ in range(N_CASES):
        files = settings(kind)
        if chance.random() < 0.5:
            files["tokenizer_config.json"]["added_tokens_decoder"] = {"301": ADDED}
        name = chance.choice([*files])
        files[name] = chance.choice([*variants(files[name], VALUES)])
        for file, value in files.items():
            (tmp_path / file).write_text(json.dumps(value))
        loaded = []
        load = (
            AutoTokenizer.from_pretrained
            if use is use_shaped
            else Tokenizer.from_directory
        )
        try:
            loaded.append(load(tmp_path))
            use(*loaded)
        except TokenizerError as error:
            is_told = loaded or str(tmp_path) in str(error)
            assert is_told, files[name]
