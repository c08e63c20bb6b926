"""What a publisher's program adds to a file of ranks: the pattern and the special tokens.

A file is recognised by what it holds, the number of its tokens and the last of them, not by
its name, which settles only which of two encodings with one file is meant. The patterns are
those of the publishers' programs (tiktoken, openai-whisper, llama_models, Qwen's and Kimi's
tokenizers), written out here so that they are no echo of bytepair's own list. Special tokens
that take no part in encoding plain text are given where the program is short about them.
"""

import base64
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["encoding_name", "is_ranks", "published_encoding"]

CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
R50K = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
OTHER_LETTER = r"\p{Lm}\p{Lo}\p{M}"


def letters(n_digits: str) -> str:
    """Write the pattern of which Llama 3 takes three digits, Qwen one."""
    return (
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{n_digits}|"
        rf" ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"
    )


def cased(but: str = "", first: str = "", signs: str = r"\r\n/") -> str:
    """Write the pattern of words by case, as o200k has it."""
    upper = rf"[\p{{Lu}}\p{{Lt}}{OTHER_LETTER}{but}]"
    lower = rf"[\p{{Ll}}{OTHER_LETTER}{but}]"
    before = r"[^\r\n\p{L}\p{N}]?"
    return (
        rf"{first}{before}{upper}*{lower}+{CONTRACTIONS}?|{before}{upper}+{lower}*{CONTRACTIONS}?|"
        rf"\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[{signs}]*|{SPACES}"
    )


KIMI = cased(r"&&[^\p{Han}]", r"[\p{Han}]+|", r"\r\n")


class File(NamedTuple):
    """A published file and what belongs to it."""

    n_tokens: int
    last: bytes
    pattern: str
    names: list[str]
    """Special tokens, with ids from the number of tokens on."""

    encoding: str | None = None
    """The name in bytepair, where several encodings share the file."""


def llama3() -> list[str]:
    """List the special tokens of Llama 3's first program."""
    first = (
        "begin_of_text end_of_text reserved_special_token_0 reserved_special_token_1"
    )
    then = "reserved_special_token_2 reserved_special_token_3 start_header_id end_header_id"
    last = "reserved_special_token_4 eot_id"
    reserved = [f"reserved_special_token_{number}" for number in range(5, 251)]
    names = f"{first} {then} {last}".split() + reserved
    return [f"<|{name}|>" for name in names]


def llama4() -> list[str]:
    """List the special tokens of Llama 4's program."""
    text = "text_post_train_reserved_special_token"
    vision = "vision_reserved_special_token"
    reasoning = "reasoning_reserved_special_token"
    names = [
        *["begin_of_text", "end_of_text", "fim_prefix", "fim_middle", "fim_suffix"],
        *["header_start", "header_end", "eom", "eot", "step"],
        *(f"{text}_{number}" for number in range(6)),
        *["python_start", "python_end", "finetune_right_pad"],
        *(f"{text}_{number}" for number in range(8, 69)),
        *f"image_start image_end {vision}_0 {vision}_1".split(),
        *["tile_x_separator", "tile_y_separator"],
        *(f"{vision}_{number}" for number in range(2, 6)),
        *f"image {vision}_6 patch".split(),
        *(f"{vision}_{number}" for number in range(7, 1048)),
        *(f"{reasoning}_{number}" for number in range(8)),
        *["reasoning_thinking_start", "reasoning_thinking_end"],
    ]
    reserved = [
        f"reserved_special_token_{number}" for number in range(2048 - len(names))
    ]
    return [f"<|{name}|>" for name in [*names, *reserved]]


def whisper() -> list[str]:
    """List the special tokens of Whisper's program, for 99 languages."""
    languages = (
        "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta "
        "no th ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk "
        "sq sw gl mr pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb "
        "my bo tl mg as tt haw ln ha ba jw su"
    )
    tasks = "translate transcribe startoflm startofprev nospeech notimestamps"
    times = [f"{step * 0.02:.2f}" for step in range(1501)]
    names = [*f"endoftext startoftranscript {languages} {tasks}".split(), *times]
    return [f"<|{name}|>" for name in names]


def qwen() -> list[str]:
    """List the special tokens of Qwen's program."""
    extra = [f"<|extra_{number}|>" for number in range(205)]
    return ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *extra]


def kimi() -> list[str]:
    """List the special tokens of Kimi K2's program and of the settings beside its file."""
    named = {
        0: "[BOS]",
        1: "[EOS]",
        2: "<|im_end|>",
        3: "<|im_user|>",
        4: "<|im_assistant|>",
    }
    named |= {6: "<|start_header_id|>", 7: "<|end_header_id|>", 9: "[EOT]"}
    named |= {10: "<|im_system|>", 11: "<|tool_calls_section_begin|>"}
    named |= {12: "<|tool_calls_section_end|>", 13: "<|tool_call_begin|>"}
    named |= {14: "<|tool_call_argument_begin|>", 15: "<|tool_call_end|>"}
    named |= {17: "<|im_middle|>", 254: "[UNK]", 255: "[PAD]"}
    reserved = [f"<|reserved_token_{163_584 + place}|>" for place in range(258)]
    return [named.get(place, name) for place, name in enumerate(reserved)]


FILES = [
    File(128_000, "锦".encode(), letters("{1,3}"), llama3()),
    File(151_643, "\u2f57".encode(), letters(""), qwen()),
    File(163_584, "自主性".encode(), KIMI, kimi(), "kimi_k2"),
    File(200_000, b"(ge", cased(), llama4()),
    File(50_257, b"", R50K, whisper(), "whisper_multilingual"),
]

OF_TIKTOKEN = {50_256: "r50k_base", 50_280: "p50k_base", 100_256: "cl100k_base"}
OF_TIKTOKEN |= {199_998: "o200k_base"}


def is_ranks(path: Path) -> bool:
    """Tell whether a file begins with a line of a file of ranks."""
    with path.open("rb") as file:
        parts = file.readline(200).split()
    try:
        return (
            len(parts) == 2 and parts[1].isdigit() and bool(base64.b64decode(parts[0]))
        )
    except ValueError:
        return False


def published_encoding(path: Path) -> dict[str, Any]:
    """Give what ``tiktoken.Encoding`` takes, for the ranks of a file."""
    from tiktoken_ext import openai_public

    ranks = _ranks(path)
    if file := _known(ranks):
        return _definition(path, ranks, file.pattern, file.names)
    if path.stem == "gpt2":  # Whisper's, which has the ranks of r50k_base
        return _definition(path, ranks, R50K, whisper())
    name = path.stem
    if name not in openai_public.ENCODING_CONSTRUCTORS:
        name = OF_TIKTOKEN.get(len(ranks), "")
    if name not in openai_public.ENCODING_CONSTRUCTORS:
        message = f"no published encoding has these {len(ranks)} tokens"
        raise ValueError(message)
    before = openai_public.load_tiktoken_bpe
    openai_public.load_tiktoken_bpe = lambda *_, **__: ranks
    try:
        return dict(openai_public.ENCODING_CONSTRUCTORS[name]())
    finally:
        openai_public.load_tiktoken_bpe = before


def encoding_name(path: Path) -> str | None:
    """Give the name of a file's encoding in bytepair, where several share the file."""
    file = _known(_ranks(path))
    return file.encoding if file else None


def _ranks(path: Path) -> dict[bytes, int]:
    lines = [
        line.split(b" ") for line in path.read_bytes().splitlines() if line.strip()
    ]
    return {base64.b64decode(token): int(rank) for token, rank in lines}


def _known(ranks: dict[bytes, int]) -> File | None:
    last = max(ranks, key=lambda token: ranks[token])
    files = (file for file in FILES if (len(ranks), last) == (file.n_tokens, file.last))
    return next(files, None)


def _definition(
    path: Path, ranks: dict[bytes, int], pattern: str, names: list[str]
) -> dict[str, Any]:
    special = {name: id_ for id_, name in enumerate(names, len(ranks))}
    return {
        "name": path.stem,
        "pat_str": pattern,
        "mergeable_ranks": ranks,
        "special_tokens": special,
    }
