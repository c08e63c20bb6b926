"""The published encodings: their patterns, special tokens and files.

The constructors give the arguments of ``Encoding``, as those of tiktoken do; ``tokenizer`` is
the quick way to the same, without a dictionary of all tokens.
"""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bytepair import Tokenizer, _core
from bytepair.errors import FileError

from . import load as files

__all__ = ["CONSTRUCTORS", "ENCODINGS", "constructor", "tokenizer"]

STORE = "https://openaipublic.blob.core.windows.net"

END_OF_TEXT = "<|endoftext|>"
END_OF_PROMPT = "<|endofprompt|>"
MIDDLE = ("<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>")

GPT2_PATTERN = (
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
)
CL100K_PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|"
    r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K_PATTERN = "|".join(
    (
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)


class Source(NamedTuple):
    """A file of a published encoding: where tiktoken has it from, and its SHA-256."""

    url: str
    sha256: str


VOCAB_BPE = Source(
    f"{STORE}/gpt-2/encodings/main/vocab.bpe",
    "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5",
)
ENCODER_JSON = Source(
    f"{STORE}/gpt-2/encodings/main/encoder.json",
    "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783",
)
RANKS = {
    name: Source(f"{STORE}/encodings/{name}.tiktoken", sha256)
    for name, sha256 in {
        "r50k_base": "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        "p50k_base": "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    }.items()
}


class Published(NamedTuple):
    """A published encoding, but for its ranks."""

    ranks: str
    """The encoding whose file of ranks it uses. GPT-2's own two files hold those of r50k."""
    pattern: str
    special_tokens: dict[str, int]
    n_vocab: int | None = None


def _harmony() -> dict[str, int]:
    named = {
        END_OF_TEXT: 199999,
        END_OF_PROMPT: 200018,
        "<|startoftext|>": 199998,
        "<|return|>": 200002,
        "<|constrain|>": 200003,
        "<|channel|>": 200005,
        "<|start|>": 200006,
        "<|end|>": 200007,
        "<|message|>": 200008,
        "<|call|>": 200012,
    }
    reserved = {200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088)}
    return named | {f"<|reserved_{id_}|>": id_ for id_ in sorted(reserved)}


END = {END_OF_TEXT: 50256}
ENCODINGS = {
    "gpt2": Published("r50k_base", GPT2_PATTERN, END, 50257),
    "r50k_base": Published("r50k_base", GPT2_PATTERN, END, 50257),
    "p50k_base": Published("p50k_base", GPT2_PATTERN, END, 50281),
    "p50k_edit": Published(
        "p50k_base",
        GPT2_PATTERN,
        END | dict(zip(MIDDLE, range(50281, 50284), strict=True)),
    ),
    "cl100k_base": Published(
        "cl100k_base",
        CL100K_PATTERN,
        {END_OF_TEXT: 100257}
        | dict(zip(MIDDLE, range(100258, 100261), strict=True))
        | {END_OF_PROMPT: 100276},
    ),
    "o200k_base": Published(
        "o200k_base", O200K_PATTERN, {END_OF_TEXT: 199999, END_OF_PROMPT: 200018}
    ),
    "o200k_harmony": Published("o200k_base", O200K_PATTERN, _harmony()),
}


def constructor(name: str) -> dict[str, Any]:
    """Give the arguments of ``Encoding`` for a published encoding.

    Its files are looked for in tiktoken's cache alone.
    """
    encoding = ENCODINGS[name]
    if name == "gpt2":
        ranks = files.data_gym_to_mergeable_bpe_ranks(
            VOCAB_BPE.url, ENCODER_JSON.url, VOCAB_BPE.sha256, ENCODER_JSON.sha256
        )
    else:
        ranks = files.load_tiktoken_bpe(*RANKS[encoding.ranks])
    arguments = {
        "name": name,
        "pat_str": encoding.pattern,
        "mergeable_ranks": ranks,
        "special_tokens": dict(encoding.special_tokens),
    }
    counted = {} if encoding.n_vocab is None else {"explicit_n_vocab": encoding.n_vocab}
    return arguments | counted


CONSTRUCTORS: dict[str, Callable[[], dict[str, Any]]] = {
    name: functools.partial(constructor, name) for name in ENCODINGS
}


def tokenizer(name: str, folders: list[Path]) -> Tokenizer:
    """Load a published encoding from the first place that has its file.

    Raises
    ------
    ValueError
        No place has it, or the file is another one.
    """
    for ranks in _found(name, folders):
        core_name = "r50k_base" if name == "gpt2" else name
        return Tokenizer(_core.read_encoding(ranks, core_name, {}))
    raise FileError(_missing(name, folders))


def _found(name: str, folders: list[Path]) -> Iterator[bytes]:
    """Read the ranks of an encoding wherever they are."""
    ranks_name = ENCODINGS[name].ranks
    for folder in folders:
        for file_name in dict.fromkeys((name, ranks_name)):
            path = folder / f"{file_name}.tiktoken"
            if path.is_file():
                yield files.read_file(str(path))
    if name == "gpt2" and all(map(_is_cached, (VOCAB_BPE, ENCODER_JSON))):
        yield files.ranks_file(constructor(name)["mergeable_ranks"])
    if _is_cached(RANKS[ranks_name]):
        yield files.read_file_cached(*RANKS[ranks_name])


def _is_cached(source: Source) -> bool:
    path = files.cache_path(source.url)
    return path is not None and path.is_file()


def _missing(name: str, folders: list[Path]) -> str:
    url = RANKS[ENCODINGS[name].ranks].url
    looked = [str(folder / f"{name}.tiktoken") for folder in folders]
    cached = files.cache_path(url)
    looked += [] if cached is None else [f"{cached} (tiktoken's cache)"]
    return (
        f"{name}: its file is not here; looked for {', '.join(looked) or 'nothing'}. "
        f"Nothing is downloaded: fetch {url}, and name its folder with folder= or in the "
        "variable BYTEPAIR_ENCODINGS, or name tiktoken's cache in TIKTOKEN_CACHE_DIR"
    )
