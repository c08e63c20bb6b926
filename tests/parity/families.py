"""``tokenizer.json`` files built like those of well-known models.

Each has the parts of a published file: normalizer, pre-tokenizer, post-processor, decoder,
options of the model and kinds of added tokens; the vocabulary is small and learned on the
spot (``building``). So every published structure can be compared without its file. What the
parts look like is in ``components``, the expressions that cut texts are in ``patterns``.

Left out: the published vocabularies themselves, and their hundreds of reserved tokens.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from .building import Parts, added, build, charsmap, write_file
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

SENTENCE = [added("<unk>"), added("<s>"), added("</s>")]
END = [added("<|endoftext|>")]
CHAT = [*END, added("<|im_start|>"), added("<|im_end|>")]
WHITESPACE_RUNS = [added(" " * n, "normalized") for n in range(2, 9)]
FIM = [added(f"<|fim_{name}|>") for name in ("prefix", "middle", "suffix")]


def llama2(**changes: Any) -> Parts:
    """Build as Llama 2's file is built."""
    parts = Parts(
        LLAMA_NORMALIZER, None, template("<s>"), LLAMA_DECODER, BYTE_FALLBACK, SENTENCE
    )
    return parts._replace(**changes)


def bytes_with(pattern: str, **changes: Any) -> Parts:
    """Build as files of byte-level models with a pattern of their own are built."""
    cut = sequence("pretokenizers", split(pattern), byte_level())
    return Parts(None, cut, byte_level(trim=False), DECODE, {}, END)._replace(**changes)


FAMILIES: dict[str, Callable[[], Parts]] = {
    "gpt2": lambda: Parts(
        None,
        byte_level(regex=True),
        byte_level(prefix=True, trim=False),
        DECODE,
        {},
        END,
    ),
    "llama3": lambda: bytes_with(
        LLAMA3,
        model={"ignore_merges": True},
        post_processor=byte_level_then(template("<|begin_of_text|>")),
        added=[added("<|begin_of_text|>"), added("<|eot_id|>")],
        in_vocabulary=False,
    ),
    "llama4": lambda: bytes_with(
        O200K,
        post_processor=byte_level_then(template("<|begin_of_text|>")),
        added=[added("<|begin_of_text|>")],
        in_vocabulary=False,
    ),
    "gemma": lambda: Parts(
        replace(" ", "▁"),
        {
            "type": "Split",
            "pattern": {"String": " "},
            "behavior": "MergedWithPrevious",
            "invert": False,
        },
        template("<bos>"),
        sequence("decoders", *SPACES_BACK),
        BYTE_FALLBACK,
        [
            *map(added, ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>"]),
            *(added("\n" * n, "") for n in (1, 2, 3)),
            *(added("▁" * n, "") for n in (2, 3, 4)),
            added("<table>", ""),
        ],
    ),
    "command-r": lambda: Parts(
        NFC,
        cut(digits(individual=True), byte_level(regex=True)),
        template("<BOS_TOKEN>"),
        DECODE,
        {},
        [added("<BOS_TOKEN>"), added("<|START_OF_TURN_TOKEN|>", "")],
    ),
    "yi": lambda: llama2(
        normalizer=sequence("normalizers", replace(" ", "▁")),
        decoder=sequence("decoders", *SPACES_BACK),
        post_processor=None,
        added=[
            added("<unk>", "normalized special"),
            added("<|startoftext|>", "normalized special"),
            added("<|im_start|>"),
        ],
    ),
    "claude": lambda: Parts(
        {"type": "NFKC"},
        byte_level(regex=True),
        byte_level(prefix=True, trim=False, regex=True),
        DECODE,
        {},
        [added("<EOT>", "normalized special"), added("<META>", "normalized special")],
    ),
    "modernbert": lambda: Parts(
        NFC,
        byte_level(regex=True),
        template("[CLS]", "[SEP]"),
        DECODE,
        {},
        [
            *map(added, ["[UNK]", "[CLS]", "[SEP]", "[PAD]"]),
            added("[MASK]", "special lstrip"),
            *WHITESPACE_RUNS,
            added("|||IP_ADDRESS|||", "normalized"),
        ],
        in_vocabulary=False,
    ),
    "gpt-oss": lambda: bytes_with(
        O200K,
        added=[*END, added("<|start|>"), added("<|channel|>"), added("<|message|>")],
        in_vocabulary=False,
    ),
    "gpt4-converted": lambda: bytes_with(
        GPT2_LIKE,
        pre_tokenizer=cut(split(GPT2_LIKE, "Removed", invert=True), byte_level()),
        added=[*END, *FIM],
    ),
    "starcoder": lambda: Parts(
        None,
        cut(digits(individual=True), byte_level(regex=True)),
        None,
        byte_level(prefix=True, regex=True),
        {},
        [*END, added("<fim_prefix>"), added("<gh_stars>")],
    ),
    "falcon": lambda: Parts(
        None,
        cut(
            {"type": "Punctuation", "behavior": "Contiguous"},
            byte_level(regex=True),
            digits(individual=False),
            split("[0-9][0-9][0-9]"),
        ),
        byte_level(prefix=True, trim=False),
        DECODE,
        {},
        [*END, added(">>TITLE<<")],
    ),
    "phi3": lambda: llama2(
        added=[
            *SENTENCE[:2],
            added("</s>", "rstrip"),
            added("<|endoftext|>", "rstrip special"),
            added("<|assistant|>", "rstrip special"),
            added("<|user|>", "rstrip special"),
        ]
    ),
    "bloom": lambda: Parts(
        None,
        cut(split(BLOOM), byte_level()),
        byte_level(prefix=True, trim=False),
        byte_level(prefix=True, trim=False),
        {},
        [added("<unk>"), *SENTENCE[1:], added("<pad>")],
    ),
    "roberta": lambda: Parts(
        None,
        byte_level(regex=True),
        roberta("<s>", "</s>", trim=True, prefix=False),
        byte_level(prefix=True, regex=True),
        {},
        [
            added("<s>", "special normalized"),
            added("<pad>", "special normalized"),
            added("</s>", "special normalized"),
            added("<unk>", "special normalized"),
            added("<mask>", "special lstrip"),
        ],
    ),
    "roberta-prefixed": lambda: Parts(
        None,
        byte_level(prefix=True, regex=True),
        roberta("<s>", "</s>", trim=True, prefix=True),
        DECODE,
        {},
        [*SENTENCE, added("<mask>", "special lstrip normalized")],
    ),
    "longformer": lambda: Parts(
        None,
        byte_level(prefix=True, regex=True),
        roberta("<s>", "</s>", trim=False, prefix=True),
        DECODE,
        {},
        [*SENTENCE, added("<mask>", "special lstrip")],
    ),
    "deberta": lambda: Parts(
        None,
        byte_level(regex=True),
        template("[CLS]", "[SEP]"),
        DECODE,
        {},
        [
            added("[CLS]", "special normalized"),
            added("[SEP]", "special normalized"),
            added("[MASK]", "special lstrip normalized"),
        ],
    ),
    "blenderbot": lambda: Parts(
        None,
        byte_level(prefix=True, regex=True),
        template("", "</s>"),
        DECODE,
        {},
        [
            added("</s>", "special normalized"),
            added("<mask>", "special lstrip normalized"),
        ],
    ),
    "whisper": lambda: Parts(
        None,
        byte_level(regex=True),
        template(
            "<|startoftranscript|> <|notimestamps|>", "<|endoftext|>", in_pair=False
        ),
        DECODE,
        {},
        [
            *END,
            added("<|startoftranscript|>"),
            added("<|notimestamps|>"),
            added("<|0.00|>", ""),
        ],
        in_vocabulary=False,
    ),
    "smollm": lambda: Parts(
        None,
        cut(digits(individual=True), byte_level(regex=True)),
        None,
        DECODE,
        {},
        CHAT,
    ),
    "qwen2.5": lambda: bytes_with(
        QWEN,
        normalizer=NFC,
        pre_tokenizer=cut(split(QWEN), byte_level(trim=False)),
        post_processor=byte_level(trim=False),
        decoder=byte_level(trim=False),
        added=[*CHAT, added("<tool_call>", ""), added("<|fim_prefix|>", "")],
        in_vocabulary=False,
    ),
    "qwen3.5": lambda: bytes_with(
        WITH_MARKS,
        normalizer=NFC,
        pre_tokenizer=cut(split(WITH_MARKS), byte_level(trim=False)),
        post_processor=byte_level(trim=False),
        decoder=byte_level(trim=False),
        added=[*CHAT, added("<think>", ""), added("</think>", "")],
        in_vocabulary=False,
    ),
    "glm4": lambda: bytes_with(
        LLAMA3,
        post_processor=byte_level_then(template("[gMASK] <sop>")),
        added=[*END, added("[gMASK]"), added("<sop>"), added("<|user|>")],
        in_vocabulary=False,
    ),
    "phi4": lambda: bytes_with(
        LLAMA3,
        added=[
            *(
                added(f"<|im_{name}|>", "special lstrip rstrip")
                for name in ("start", "sep")
            ),
            added("<|im_end|>", "special lstrip rstrip"),
            added("<|dummy_1|>", "lstrip rstrip"),
        ],
        in_vocabulary=False,
    ),
    "falcon3": lambda: Parts(
        None,
        cut(
            {"type": "Punctuation", "behavior": "Contiguous"},
            byte_level(regex=True),
            digits(individual=True),
        ),
        byte_level(prefix=True, trim=False),
        DECODE,
        {},
        [*END, added(">>ANSWER<<"), added("\n\n", "")],
    ),
    "deepseek": lambda: Parts(
        sequence("normalizers"),
        cut(
            split(r"\p{N}{1,3}"),
            split("[一-龥぀-ゟ゠-ヿ]+"),
            split(DEEPSEEK),
            byte_level(),
        ),
        byte_level(prefix=True, trim=False, regex=True),
        DECODE,
        {},
        [
            added("<｜begin▁of▁sentence｜>"),
            added("<｜end▁of▁sentence｜>"),
            added("<think>", "normalized"),
        ],
        in_vocabulary=False,
    ),
    "deepseek-coder": lambda: Parts(
        sequence("normalizers"),
        cut(
            split("[\r\n]"),
            split(r"\s?\p{L}+"),
            split(r"\s?\p{P}+"),
            split("[一-龥ࠀ-一가-퟿]+"),
            digits(individual=True),
            byte_level(),
        ),
        byte_level_then(template("<｜begin▁of▁sentence｜>")),
        DECODE,
        {},
        [
            added("<｜begin▁of▁sentence｜>", "special normalized"),
            added("<｜fim▁hole｜>", "normalized"),
        ],
    ),
    "kimi": lambda: bytes_with(
        KIMI,
        added=[added("[BOS]"), added("[EOS]"), added("<|im_middle|>")],
        in_vocabulary=False,
    ),
    "nemotron": lambda: bytes_with(
        TEKKEN,
        pre_tokenizer=cut(split(TEKKEN), byte_level(trim=False)),
        post_processor=template("<s>"),
        added=SENTENCE,
        model={"ignore_merges": True},
    ),
    "granite": lambda: Parts(
        None,
        cut(digits(individual=True), byte_level(regex=True)),
        byte_level(prefix=True, trim=False),
        DECODE,
        {},
        [added("<|end_of_text|>"), added("<fim_prefix>"), added("<|start_of_role|>")],
    ),
    "olmo2": lambda: bytes_with(
        GPT2_LIKE,
        pre_tokenizer=cut(split(GPT2_LIKE, "Removed", invert=True), byte_level()),
        added=[*END, *FIM, added("|||EMAIL_ADDRESS|||", "normalized")],
        in_vocabulary=False,
    ),
    "neox": lambda: Parts(
        NFC,
        byte_level(regex=True),
        byte_level(prefix=True, trim=False, regex=True),
        DECODE,
        {},
        [*END, added("<|padding|>"), *WHITESPACE_RUNS],
        in_vocabulary=False,
    ),
    "codegen": lambda: Parts(
        None,
        byte_level(regex=True),
        byte_level(prefix=True, trim=False),
        DECODE,
        {},
        [
            added("<|endoftext|>", "special normalized"),
            *WHITESPACE_RUNS,
            *(added("\t" * n, "normalized") for n in (2, 3)),
        ],
        in_vocabulary=False,
    ),
    "codellama": lambda: llama2(
        added=[
            *SENTENCE,
            added("▁<PRE>"),
            added("▁<MID>"),
            added("▁<SUF>"),
            added("▁<EOT>"),
        ],
        in_vocabulary=True,
    ),
    "tinyllama": llama2,
    "llama2-metaspace": lambda: llama2(
        normalizer=None, pre_tokenizer=metaspace("first", split_it=False)
    ),
    "mistral-v3": lambda: llama2(
        normalizer=None,
        pre_tokenizer=metaspace("first", split_it=False),
        added=[*SENTENCE, added("[INST]"), added("[/INST]"), added("[TOOL_CALLS]")],
    ),
    "metaspace-always": lambda: Parts(
        None,
        metaspace("always", split_it=True),
        template("<s>", "</s>"),
        metaspace("always", split_it=True),
        BYTE_FALLBACK,
        SENTENCE,
    ),
    "metaspace-never": lambda: Parts(
        None,
        metaspace("never", split_it=True),
        None,
        metaspace("never", split_it=True),
        BYTE_FALLBACK,
        SENTENCE,
    ),
    "nllb": lambda: Parts(
        {"type": "Precompiled", "precompiled_charsmap": charsmap()},
        metaspace("always", split_it=True),
        template("eng_Latn", "</s>"),
        metaspace("always", split_it=True),
        {"unk_token": "<unk>", "fuse_unk": True},
        [*SENTENCE, added("eng_Latn"), added("<mask>", "special lstrip")],
    ),
    "clip": lambda: Parts(
        sequence(
            "normalizers",
            NFC,
            {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            {"type": "Lowercase"},
        ),
        cut(split(CLIP, "Removed", invert=True), byte_level(regex=True)),
        roberta("<|startoftext|>", "<|endoftext|>", trim=False, prefix=False),
        byte_level(prefix=True, regex=True),
        {
            "unk_token": "<|endoftext|>",
            "end_of_word_suffix": "</w>",
            "continuing_subword_prefix": "",
        },
        [added("<|startoftext|>", "special normalized"), added("<|endoftext|>")],
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
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        },
        {"type": "BertPreTokenizer"},
        None,
        {"type": "BPEDecoder", "suffix": "</w>"},
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        [added("<unk>")],
    ),
    "xlm": lambda: Parts(
        sequence(
            "normalizers",
            {"type": "NFKD"},
            {"type": "StripAccents"},
            {"type": "Lowercase"},
        ),
        {"type": "BertPreTokenizer"},
        bert("</s>", "</s>"),
        {"type": "BPEDecoder", "suffix": "</w>"},
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>"},
        SENTENCE,
    ),
    "bertweet": lambda: Parts(
        None,
        {"type": "WhitespaceSplit"},
        roberta("<s>", "</s>", trim=False, prefix=False),
        {"type": "BPEDecoder", "suffix": "</w>"},
        {"unk_token": "<unk>", "end_of_word_suffix": "</w>", "fuse_unk": True},
        SENTENCE,
    ),
    "wordpiece-like": lambda: Parts(
        {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": True,
            "lowercase": False,
        },
        {"type": "BertPreTokenizer"},
        template("[CLS]", "[SEP]"),
        {"type": "WordPiece", "prefix": "##", "cleanup": True},
        {"unk_token": "[UNK]", "continuing_subword_prefix": "##"},
        [added("[UNK]"), added("[CLS]"), added("[SEP]")],
    ),
    "superbpe": lambda: bytes_with(
        r"(?=(\d{3})+(?!\d))",
        pre_tokenizer=cut(
            split(r"\d+(?=\D|$)"), split(r"(?=(\d{3})+(?!\d))"), byte_level()
        ),
    ),
}


def write(folder: Path) -> None:
    """Write each family as ``NAME.json``."""
    for name, make in FAMILIES.items():
        write_file(folder / f"{name}.json", build(make()))
