"""``tokenizer.json`` files built like those of well-known models.

Each has the parts of a published file: normalizer, pre-tokenizer, post-processor, decoder,
options of the model and kinds of added tokens; the vocabulary is small and learned on the
spot (``building``). So every published structure can be compared without its file. What the
parts look like is in ``components``, the expressions that cut texts are in ``patterns``.

Left out: the published vocabularies themselves, and their hundreds of reserved tokens.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from .building import Json, Parts, added, build, charsmap, write_file
from .components import (
    BYTE_FALLBACK,
    DECODE,
    LLAMA_DECODER,
    LLAMA_NORMALIZER,
    NFC,
    SPACES_BACK,
    bert,
    byte_level,
    byte_level_then,
    cut,
    digits,
    metaspace,
    replace,
    roberta,
    sequence,
    split,
    template,
)
from .patterns import (
    BLOOM,
    CLIP,
    DEEPSEEK,
    GPT2_LIKE,
    KIMI,
    LLAMA3,
    O200K,
    QWEN,
    TEKKEN,
    WITH_MARKS,
)

__all__ = ["FAMILIES", "write"]


def tokens(names: str, flags: str = "special") -> list[Json]:
    """Describe added tokens of the same flags."""
    return [added(name, flags) for name in names.split()]


def runs(letter: str, lengths: Iterable[int], flags: str = "normalized") -> list[Json]:
    """Describe added tokens of one letter, several times."""
    return [added(letter * n, flags) for n in lengths]


SENTENCE = tokens("<unk> <s> </s>")
END = tokens("<|endoftext|>")
CHAT = [*END, *tokens("<|im_start|> <|im_end|>")]
FIM = tokens("<|fim_prefix|> <|fim_middle|> <|fim_suffix|>")
SPACES = runs(" ", range(2, 9))
OUTSIDE = {"in_vocabulary": False}
"""Added tokens that are no tokens of the model."""

PUNCTUATION = {"type": "Punctuation", "behavior": "Contiguous"}
DIGITS = digits(individual=True)
REGEX = byte_level(regex=True)
PREFIXED = byte_level(prefix=True, regex=True)
UNTRIMMED = byte_level(prefix=True, trim=False)
WORD_ENDS = {"unk_token": "<unk>", "end_of_word_suffix": "</w>"}
WORD_END_DECODER = {"type": "BPEDecoder", "suffix": "</w>"}
BERT = {
    "type": "BertNormalizer",
    "clean_text": True,
    "handle_chinese_chars": True,
    "strip_accents": None,
    "lowercase": True,
}


def gpt2(*pre: Json, **changes: Any) -> Parts:
    """Build as GPT-2's file is built; ``pre`` are other pre-tokenizers."""
    first = cut(*pre) if pre else REGEX
    parts = Parts(None, first, UNTRIMMED, DECODE, {}, END)
    return parts._replace(**changes)


def llama2(**changes: Any) -> Parts:
    """Build as Llama 2's file is built."""
    parts = Parts(
        LLAMA_NORMALIZER, None, template("<s>"), LLAMA_DECODER, BYTE_FALLBACK, SENTENCE
    )
    return parts._replace(**changes)


def bytes_with(pattern: str, **changes: Any) -> Parts:
    """Build as files of byte-level models with a pattern of their own are built."""
    options = {"post_processor": byte_level(trim=False), **changes}
    return gpt2(split(pattern), byte_level(), **options)


def qwen(pattern: str, more: str) -> Parts:
    """Build as Qwen's files are built."""
    untrimmed = byte_level(trim=False)
    return gpt2(
        split(pattern),
        untrimmed,
        normalizer=NFC,
        post_processor=untrimmed,
        decoder=untrimmed,
        added=[*CHAT, *tokens(more, "")],
        **OUTSIDE,
    )


def spaced(scheme: str, **changes: Any) -> Parts:
    """Build with Metaspace as pre-tokenizer and decoder."""
    space = metaspace(scheme, split_it=True)
    return Parts(None, space, None, space, BYTE_FALLBACK, SENTENCE)._replace(**changes)


FAMILIES: dict[str, Callable[[], Parts]] = {
    "gpt2": gpt2,
    "llama3": lambda: bytes_with(
        LLAMA3,
        model={"ignore_merges": True},
        post_processor=byte_level_then(template("<|begin_of_text|>")),
        added=tokens("<|begin_of_text|> <|eot_id|>"),
        **OUTSIDE,
    ),
    "llama4": lambda: bytes_with(
        O200K,
        post_processor=byte_level_then(template("<|begin_of_text|>")),
        added=tokens("<|begin_of_text|>"),
        **OUTSIDE,
    ),
    "gemma": lambda: Parts(
        replace(" ", "▁"),
        {**split("", "MergedWithPrevious"), "pattern": {"String": " "}},
        template("<bos>"),
        sequence("decoders", *SPACES_BACK),
        BYTE_FALLBACK,
        [
            *tokens("<pad> <eos> <bos> <unk> <start_of_turn>"),
            *runs("\n", (1, 2, 3), ""),
            *runs("▁", (2, 3, 4), ""),
            added("<table>", ""),
        ],
    ),
    "command-r": lambda: gpt2(
        DIGITS,
        REGEX,
        normalizer=NFC,
        post_processor=template("<BOS_TOKEN>"),
        added=[added("<BOS_TOKEN>"), added("<|START_OF_TURN_TOKEN|>", "")],
    ),
    "yi": lambda: llama2(
        normalizer=sequence("normalizers", replace(" ", "▁")),
        decoder=sequence("decoders", *SPACES_BACK),
        post_processor=None,
        added=[
            *tokens("<unk> <|startoftext|>", "normalized special"),
            added("<|im_start|>"),
        ],
    ),
    "claude": lambda: gpt2(
        normalizer={"type": "NFKC"},
        post_processor=byte_level(prefix=True, trim=False, regex=True),
        added=tokens("<EOT> <META>", "normalized special"),
    ),
    "modernbert": lambda: gpt2(
        normalizer=NFC,
        post_processor=template("[CLS]", "[SEP]"),
        added=[
            *tokens("[UNK] [CLS] [SEP] [PAD]"),
            added("[MASK]", "special lstrip"),
            *SPACES,
            added("|||IP_ADDRESS|||", "normalized"),
        ],
        **OUTSIDE,
    ),
    "gpt-oss": lambda: bytes_with(
        O200K, added=[*END, *tokens("<|start|> <|channel|> <|message|>")], **OUTSIDE
    ),
    "gpt4-converted": lambda: bytes_with(
        GPT2_LIKE,
        pre_tokenizer=cut(split(GPT2_LIKE, "Removed", invert=True), byte_level()),
        added=[*END, *FIM],
    ),
    "starcoder": lambda: gpt2(
        DIGITS,
        REGEX,
        post_processor=None,
        decoder=PREFIXED,
        added=[*END, *tokens("<fim_prefix> <gh_stars>")],
    ),
    "falcon": lambda: gpt2(
        PUNCTUATION,
        REGEX,
        digits(individual=False),
        split("[0-9][0-9][0-9]"),
        added=[*END, added(">>TITLE<<")],
    ),
    "phi3": lambda: llama2(
        added=[
            *SENTENCE[:2],
            added("</s>", "rstrip"),
            *tokens("<|endoftext|> <|assistant|> <|user|>", "rstrip special"),
        ]
    ),
    "bloom": lambda: gpt2(
        split(BLOOM), byte_level(), decoder=UNTRIMMED, added=[*SENTENCE, added("<pad>")]
    ),
    "roberta": lambda: gpt2(
        post_processor=roberta("<s>", "</s>", trim=True, prefix=False),
        decoder=PREFIXED,
        added=[
            *tokens("<s> <pad> </s> <unk>", "special normalized"),
            added("<mask>", "special lstrip"),
        ],
    ),
    "roberta-prefixed": lambda: gpt2(
        pre_tokenizer=PREFIXED,
        post_processor=roberta("<s>", "</s>", trim=True, prefix=True),
        added=[*SENTENCE, added("<mask>", "special lstrip normalized")],
    ),
    "longformer": lambda: gpt2(
        pre_tokenizer=PREFIXED,
        post_processor=roberta("<s>", "</s>", trim=False, prefix=True),
        added=[*SENTENCE, added("<mask>", "special lstrip")],
    ),
    "deberta": lambda: gpt2(
        post_processor=template("[CLS]", "[SEP]"),
        added=[
            *tokens("[CLS] [SEP]", "special normalized"),
            added("[MASK]", "special lstrip normalized"),
        ],
    ),
    "blenderbot": lambda: gpt2(
        pre_tokenizer=PREFIXED,
        post_processor=template("", "</s>"),
        added=[
            added("</s>", "special normalized"),
            added("<mask>", "special lstrip normalized"),
        ],
    ),
    "whisper": lambda: gpt2(
        post_processor=template(
            "<|startoftranscript|> <|notimestamps|>", "<|endoftext|>", in_pair=False
        ),
        added=[
            *END,
            *tokens("<|startoftranscript|> <|notimestamps|>"),
            added("<|0.00|>", ""),
        ],
        **OUTSIDE,
    ),
    "smollm": lambda: gpt2(DIGITS, REGEX, post_processor=None, added=CHAT),
    "qwen2.5": lambda: qwen(QWEN, "<tool_call> <|fim_prefix|>"),
    "qwen3.5": lambda: qwen(WITH_MARKS, "<think> </think>"),
    "glm4": lambda: bytes_with(
        LLAMA3,
        post_processor=byte_level_then(template("[gMASK] <sop>")),
        added=[*END, *tokens("[gMASK] <sop> <|user|>")],
        **OUTSIDE,
    ),
    "phi4": lambda: bytes_with(
        LLAMA3,
        added=[
            *tokens("<|im_start|> <|im_sep|> <|im_end|>", "special lstrip rstrip"),
            added("<|dummy_1|>", "lstrip rstrip"),
        ],
        **OUTSIDE,
    ),
    "falcon3": lambda: gpt2(
        PUNCTUATION,
        REGEX,
        DIGITS,
        added=[*END, added(">>ANSWER<<"), added("\n\n", "")],
    ),
    "deepseek": lambda: gpt2(
        split(r"\p{N}{1,3}"),
        split("[一-龥぀-ゟ゠-ヿ]+"),
        split(DEEPSEEK),
        byte_level(),
        normalizer=sequence("normalizers"),
        post_processor=byte_level(prefix=True, trim=False, regex=True),
        added=[
            *tokens("<｜begin▁of▁sentence｜> <｜end▁of▁sentence｜>"),
            added("<think>", "normalized"),
        ],
        **OUTSIDE,
    ),
    "deepseek-coder": lambda: gpt2(
        split("[\r\n]"),
        split(r"\s?\p{L}+"),
        split(r"\s?\p{P}+"),
        split("[一-龥ࠀ-一가-퟿]+"),
        DIGITS,
        byte_level(),
        normalizer=sequence("normalizers"),
        post_processor=byte_level_then(template("<｜begin▁of▁sentence｜>")),
        added=[
            added("<｜begin▁of▁sentence｜>", "special normalized"),
            added("<｜fim▁hole｜>", "normalized"),
        ],
    ),
    "kimi": lambda: bytes_with(
        KIMI, added=tokens("[BOS] [EOS] <|im_middle|>"), **OUTSIDE
    ),
    "nemotron": lambda: bytes_with(
        TEKKEN,
        pre_tokenizer=cut(split(TEKKEN), byte_level(trim=False)),
        post_processor=template("<s>"),
        added=SENTENCE,
        model={"ignore_merges": True},
    ),
    "granite": lambda: gpt2(
        DIGITS, REGEX, added=tokens("<|end_of_text|> <fim_prefix> <|start_of_role|>")
    ),
    "olmo2": lambda: bytes_with(
        GPT2_LIKE,
        pre_tokenizer=cut(split(GPT2_LIKE, "Removed", invert=True), byte_level()),
        added=[*END, *FIM, added("|||EMAIL_ADDRESS|||", "normalized")],
        **OUTSIDE,
    ),
    "neox": lambda: gpt2(
        normalizer=NFC,
        post_processor=byte_level(prefix=True, trim=False, regex=True),
        added=[*END, added("<|padding|>"), *SPACES],
        **OUTSIDE,
    ),
    "codegen": lambda: gpt2(
        added=[
            added("<|endoftext|>", "special normalized"),
            *SPACES,
            *runs("\t", (2, 3)),
        ],
        **OUTSIDE,
    ),
    "codellama": lambda: llama2(
        added=[*SENTENCE, *tokens("▁<PRE> ▁<MID> ▁<SUF> ▁<EOT>")]
    ),
    "tinyllama": llama2,
    "llama2-metaspace": lambda: llama2(
        normalizer=None, pre_tokenizer=metaspace("first", split_it=False)
    ),
    "mistral-v3": lambda: llama2(
        normalizer=None,
        pre_tokenizer=metaspace("first", split_it=False),
        added=[*SENTENCE, *tokens("[INST] [/INST] [TOOL_CALLS]")],
    ),
    "metaspace-always": lambda: spaced(
        "always", post_processor=template("<s>", "</s>")
    ),
    "metaspace-never": lambda: spaced("never"),
    "nllb": lambda: spaced(
        "always",
        normalizer={"type": "Precompiled", "precompiled_charsmap": charsmap()},
        post_processor=template("eng_Latn", "</s>"),
        model={"unk_token": "<unk>", "fuse_unk": True},
        added=[*SENTENCE, added("eng_Latn"), added("<mask>", "special lstrip")],
    ),
    "clip": lambda: gpt2(
        split(CLIP, "Removed", invert=True),
        REGEX,
        normalizer=sequence(
            "normalizers",
            NFC,
            {**replace("", " "), "pattern": {"Regex": r"\s+"}},
            {"type": "Lowercase"},
        ),
        post_processor=roberta(
            "<|startoftext|>", "<|endoftext|>", trim=False, prefix=False
        ),
        decoder=PREFIXED,
        model={
            "unk_token": "<|endoftext|>",
            "end_of_word_suffix": "</w>",
            "continuing_subword_prefix": "",
        },
        added=[added("<|startoftext|>", "special normalized"), *END],
        truncation={
            "direction": "Right",
            "max_length": 77,
            "strategy": "LongestFirst",
            "stride": 0,
        },
        padding={
            "strategy": {"Fixed": 77},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 1,
            "pad_type_id": 0,
            "pad_token": "<|endoftext|>",
        },
    ),
    "openai-gpt": lambda: Parts(
        BERT,
        {"type": "BertPreTokenizer"},
        None,
        WORD_END_DECODER,
        WORD_ENDS,
        tokens("<unk>"),
    ),
    "xlm": lambda: Parts(
        sequence(
            "normalizers",
            *({"type": name} for name in ("NFKD", "StripAccents", "Lowercase")),
        ),
        {"type": "BertPreTokenizer"},
        bert("</s>", "</s>"),
        WORD_END_DECODER,
        WORD_ENDS,
        SENTENCE,
    ),
    "bertweet": lambda: Parts(
        None,
        {"type": "WhitespaceSplit"},
        roberta("<s>", "</s>", trim=False, prefix=False),
        WORD_END_DECODER,
        {**WORD_ENDS, "fuse_unk": True},
        SENTENCE,
    ),
    "wordpiece-like": lambda: Parts(
        {**BERT, "strip_accents": True, "lowercase": False},
        {"type": "BertPreTokenizer"},
        template("[CLS]", "[SEP]"),
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"unk_token": "[UNK]", "continuing_subword_prefix": "##"},
        tokens("[UNK] [CLS] [SEP]"),
    ),
    "superbpe": lambda: bytes_with(
        "",
        pre_tokenizer=cut(
            split(r"\d+(?=\D|$)"), split(r"(?=(\d{3})+(?!\d))"), byte_level()
        ),
    ),
}


def write(folder: Path) -> None:
    """Write each family as ``NAME.json``."""
    for name, make in FAMILIES.items():
        write_file(folder / f"{name}.json", build(make()))
