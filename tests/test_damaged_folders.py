"""Folders of tokenizers whose settings somebody changed: an error that names the file, or it works.

One value of one file of settings becomes another, of any kind. Loading and encoding then end well, or in an error
of ours with the path of a file in the folder.
"""

import json
import random

import pytest
from tests.damage import variants

import bytepair
from bytepair import Tokenizer, TokenizerError

N_CASES = 40

TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }} {{ m['content'] }}{% endfor %}"
ADDED = {"content": "<new>", "lstrip": False, "normalized": True, "special": False}
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


@pytest.mark.parametrize("kind", CLASSES)
def test_changed_settings_are_refused_by_file_or_work(kind, tmp_path):
    """Whatever value stands where, no other exception comes out."""
    chance = random.Random(kind)
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
        try:
            loaded.append(Tokenizer.from_file(tmp_path))
            loaded[0].encode("lo <s>")
        except TokenizerError as error:
            is_told = loaded or str(tmp_path) in str(error)
            assert is_told, files[name]
