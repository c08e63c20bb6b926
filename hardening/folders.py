"""Folders of published tokenizers whose settings somebody changed: an error that names the file, or it works.

One value of one file of settings becomes another, of any kind. Loading, encoding and rendering a
chat then end well, or in an error of ours with the path of a file in the folder.
"""

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bytepair
from bytepair import Tokenizer, TokenizerError
from bytepair.compat.transformers import AutoTokenizer

__all__ = ["cases"]

TEMPLATE = "{% for m in messages %}<s>{{ m['role'] }} {{ m['content'] }}{% endfor %}"
ADDED = {"content": "<new>", "lstrip": False, "normalized": True, "special": False}
CHAT = [{"role": "user", "content": "low <think>"}]
CLASSES = [
    "PreTrainedTokenizerFast",
    "GPT2TokenizerFast",
    "Qwen2Tokenizer",
    "LlamaTokenizerFast",
    "RobertaTokenizer",
    "CLIPTokenizer",
    "BartTokenizerFast",
    "WhisperTokenizer",
    "CodeGenTokenizer",
    "LayoutLMv3Tokenizer",
    "GPTNeoXTokenizer",
    "CohereTokenizerFast",
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 7, 1.5, float("inf"), 1 << 70),
    *("", "x", "<s>", "\ud800", "{{ 1/0 }}", "{% for %}", "left"),
    *([], [1], ["x"], [["x"]], [None], [{}], {}, {"x": 1}, {"content": 3}, {"0": {}}),
    *({"content": "x"}, {"1": {"content": "x"}}, {"-1": {"content": "x"}}),
]


def settings(kind: str) -> dict[str, dict[str, Any]]:
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


def changed(value: Any, chance: random.Random) -> Any:  # noqa: ANN401 -- of JSON
    """Change a value, or one that it holds."""
    if isinstance(value, dict) and value and chance.random() < 0.8:
        name = chance.choice([*value])
        return {**value, name: changed(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.5:
        place = chance.randrange(len(value))
        return [*value[:place], changed(value[place], chance), *value[place + 1 :]]
    return chance.choice(VALUES)


def use_shaped(tokenizer: Any) -> None:  # noqa: ANN401 -- of any class
    """Encode, and render a chat."""
    tokenizer(["lo <s>", "o"], padding=True, truncation=True, max_length=8)
    if tokenizer.chat_template:
        tokenizer.apply_chat_template(CHAT)


def use_ours(tokenizer: Tokenizer) -> None:
    """Encode a text."""
    tokenizer.encode("lo <s>")


WAYS: list[tuple[Callable[[Path], Any], Callable[[Any], None]]] = [
    (AutoTokenizer.from_pretrained, use_shaped),
    (Tokenizer.from_directory, use_ours),
]


def refusal(
    load: Callable[[Path], Any], use: Callable[[Any], None], folder: Path
) -> str | None:
    """Say what is wrong with how a folder is refused."""
    tokenizer = None
    try:
        tokenizer = load(folder)
        use(tokenizer)
    except TokenizerError as error:
        is_told = tokenizer is not None or str(folder) in str(error)
        return None if is_told else f"no file: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def cases(chance: random.Random, folder: Path) -> Iterator[str | None]:
    """Change one value of one file at a time."""
    base = bytepair.train_from_iterator(["low lower"], vocab_size=300, dialect="gpt2")
    base = base.with_special_tokens(["<s>", "<think>"])
    while True:
        copy = folder / "folder"
        base.save_pretrained(copy)
        files = settings(chance.choice(CLASSES))
        if chance.random() < 0.5:
            files["tokenizer_config.json"]["added_tokens_decoder"] = {"301": ADDED}
        name = chance.choice([*files])
        files[name] = changed(files[name], chance)
        for file, value in files.items():
            (copy / file).write_text(json.dumps(value))
        for load, use in WAYS:
            problem = refusal(load, use, copy)
            what = f"{use.__name__} {name} {files[name]!r}"
            yield f"{what}: {problem}" if problem else None
        shutil.rmtree(copy)
