"""The dialects: every kind of byte-pair encoding is a choice of the same parts.

``gpt2`` to ``tekken`` have the patterns of their publishers; the others
are those of papers, courses and older tools.
"""

from dataclasses import dataclass, field
from typing import Literal

from .normalize import Step
from .split import Stage
from .units import Units


@dataclass(frozen=True)
class Dialect:
    """The parts of a tokenizer that are chosen before training.

    ``lowercase`` comes before the other steps of ``normalize``: ``"always"``, or
    only in ``"training"``. ``after_decoding`` lists replacements (old, new) made
    in each token of text when it is decoded.
    """

    normalize: tuple[Step, ...] = ()
    lowercase: Literal["never", "training", "always"] = "never"
    split: tuple[Stage, ...] = ()
    units: Units = field(default_factory=Units)
    ties: Literal["smallest_ids", "first_seen", "largest_text"] = "smallest_ids"
    min_count: int = 2
    after_decoding: tuple[tuple[str, str], ...] = ()


GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
SUPERWORDS = r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]{2,}[\r\n/]*| +(?!\S)"
CL100K = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
    r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_V3 = (
    r"\p{N}{1,3}",
    r"[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+",
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+"
    r"|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+",
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
# Line ends are those of ``str.splitlines``; \\n and \\r are dropped.
SUBWORD_NMT = r"[^\n\x0B\f\r\x1C-\x1E \x85\u2028\u2029]*[^\n\r ]"
LETTERS_DIGITS = r"\p{Z}?(?:\p{L}+|\p{N}+)|\p{Z}+|."


def keep(*patterns: str) -> tuple[Stage, ...]:
    r"""Make stages that lose nothing.

    >>> keep(r"\p{N}", r"\s+")
    (('\\p{N}', 'keep'), ('\\s+', 'keep'))
    """
    return tuple((pattern, "keep") for pattern in patterns)


DIALECTS = {
    "gpt2": Dialect(split=keep(GPT2)),
    "gpt4": Dialect(split=keep(CL100K)),
    "gpt4o": Dialect(split=keep(O200K)),
    "llama3": Dialect(split=keep(LLAMA3)),
    "qwen": Dialect(split=keep(QWEN2)),
    "deepseek-v3": Dialect(split=keep(*DEEPSEEK_V3)),
    "tekken": Dialect(split=keep(TEKKEN)),
    "letters-digits": Dialect(
        split=keep(LETTERS_DIGITS),
        units=Units(byte_ids="value"),
        ties="first_seen",
    ),
    "byte-stream": Dialect(
        units=Units(byte_ids="value"),
        ties="first_seen",
        min_count=1,
    ),
    "sennrich": Dialect(
        split=((r"\S+", "drop"),),
        units=Units(kind="character", end_mark="</w>"),
        ties="first_seen",
    ),
    "subword-nmt": Dialect(
        split=((SUBWORD_NMT, "drop"),),
        units=Units(kind="character", end_mark="</w>", end_mark_kind="suffix"),
        ties="largest_text",
    ),
    "jurafsky-martin": Dialect(
        lowercase="always",
        split=((r"\S+", "drop"),),
        units=Units(kind="character", end_mark="_"),
        ties="first_seen",
        min_count=1,
    ),
    "unknown-token": Dialect(
        split=((r"\w+|[^\w\s]+", "drop"),),
        units=Units(kind="character", unknown_token="[UNK]"),
        ties="first_seen",
        min_count=1,
    ),
    "sentencepiece": Dialect(
        normalize=(("nfkc",), ("replace", " ", "▁")),
        split=keep(r"▁?[^\s▁]+|▁|\s"),
        units=Units(kind="character", byte_fallback=True),
        after_decoding=(("▁", " "),),
    ),
}


def find(name: str) -> Dialect:
    """Look up a dialect by name.

    >>> find("gpt5")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: unknown dialect 'gpt5'; known are gpt2, gpt4, gpt4o, ...
    """
    if name in DIALECTS:
        return DIALECTS[name]
    message = f"unknown dialect {name!r}; known are {', '.join(DIALECTS)}"
    raise ValueError(message)
