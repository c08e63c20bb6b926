"""The classes of models: what each makes of a vocabulary, whatever its ``tokenizer.json`` says.

A class of transformers 5 with rules of its own takes the vocabulary, the merges and the
post-processor of a ``tokenizer.json``; normalizer, pre-tokenizer, decoder and the flags of
the model are its own, and so are its special tokens where settings name none. ``CLASSES``
has those that are known here, one table for all. Classes without rules of their own read
the file as it is: ``AS_THE_FILE_SAYS``. Others are refused by name.

Left out: classes that are no byte-pair encoding, that read texts in pure Python, or that
take more than texts (boxes, entities, texts with a gap).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from bytepair._added import AddedToken
from bytepair.errors import FormatError

from ._lengths import Side

__all__ = ["AS_THE_FILE_SAYS", "CLASSES", "Class", "Pipeline", "chosen", "named"]

Json: TypeAlias = dict[str, Any]
Settings: TypeAlias = Mapping[str, Any]
Ids: TypeAlias = Callable[[str], int]


class Pipeline(NamedTuple):
    """What a class puts in place of the parts of a file."""

    pre_tokenizer: Json | None
    decoder: Json
    normalizer: Json | None = None
    model: Mapping[str, Any] = {}


class Class(NamedTuple):
    """A class of transformers, by what it changes."""

    name: str
    pipeline: Callable[[Settings], Pipeline] | None
    """Its parts, with the settings that it was loaded with; ``None``: those of the file."""
    tokens: Mapping[str, Any]
    """Special tokens by role, where settings name none."""
    template: Callable[[Mapping[str, str], Ids, Settings], Json] | None = None
    """The post-processor, where the class has its own."""
    padding_side: Side = "right"
    inputs: tuple[str, ...] = ("input_ids", "attention_mask")
    settings: Mapping[str, Any] = {}
    """Settings with the values that they have by default; written when it is saved."""


# Parts of a ``tokenizer.json``


def _byte_level(*, prefix_space: bool = False, cuts: bool = True) -> Json:
    return {
        "type": "ByteLevel",
        "add_prefix_space": prefix_space,
        "trim_offsets": True,
        "use_regex": cuts,
    }


def _in_a_row(kind: str, *parts: Json) -> Json:
    return {"type": "Sequence", kind: list(parts)}


def _split(pattern: Json, behavior: str, *, inverted: bool = False) -> Json:
    return {
        "type": "Split",
        "pattern": pattern,
        "behavior": behavior,
        "invert": inverted,
    }


def _replace(pattern: Json, text: str) -> Json:
    return {"type": "Replace", "pattern": pattern, "content": text}


def _bert_normalizer(*, lowercase: bool, strips_accents: bool | None) -> Json:
    return {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": strips_accents,
        "lowercase": lowercase,
    }


def template(single: Sequence[str], pair: Sequence[str], id_of: Ids) -> Json:
    """Write a template of parts, each with its type behind a colon.

    >>> ids = {"<s>": 1}
    >>> template(["<s>:0", "$A:0"], ["$A:0", "$B:1"], ids.__getitem__)["special_tokens"]
    {'<s>': {'id': '<s>', 'ids': [1], 'tokens': ['<s>']}}
    """
    special: Json = {}

    def part(written: str) -> Json:
        name, type_id = written.rsplit(":", 1)
        if name in ("$A", "$B"):
            return {"Sequence": {"id": name[1:], "type_id": int(type_id)}}
        special[name] = {"id": name, "ids": [id_of(name)], "tokens": [name]}
        return {"SpecialToken": {"id": name, "type_id": int(type_id)}}

    return {
        "type": "TemplateProcessing",
        "single": [part(written) for written in single],
        "pair": [part(written) for written in pair],
        "special_tokens": special,
    }


# What classes make of a vocabulary

BYTE_MODEL: Mapping[str, Any] = {
    "continuing_subword_prefix": "",
    "end_of_word_suffix": "",
}
QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN3_5 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}|"
    r" ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = (
    r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|"
    r"[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
)
NOUGAT = r"[\(\)\[\]\{\}]|([!\"#\$%\&'\*\+,\-\./:;<=>\?\\\^_`\|\~])\1*"
SPACE = {"String": " "}
BLANK = {"String": "▁"}


def _prefix(settings: Settings) -> bool:
    return bool(settings.get("add_prefix_space"))


def _bytes(settings: Settings) -> Pipeline:
    return Pipeline(
        _byte_level(prefix_space=_prefix(settings)), _byte_level(), None, BYTE_MODEL
    )


def _neox(settings: Settings) -> Pipeline:
    return _bytes(settings)._replace(normalizer={"type": "NFC"})


def _qwen(pattern: str) -> Callable[[Settings], Pipeline]:
    def pipeline(settings: Settings) -> Pipeline:
        bytes_ = _byte_level(prefix_space=_prefix(settings), cuts=False)
        cut = _split({"Regex": pattern}, "Isolated")
        return Pipeline(
            _in_a_row("pretokenizers", cut, bytes_),
            _byte_level(),
            {"type": "NFC"},
            BYTE_MODEL,
        )

    return pipeline


def _cohere(settings: Settings) -> Pipeline:
    digits = {"type": "Digits", "individual_digits": True}
    bytes_ = _byte_level(prefix_space=_prefix(settings))
    cut = _in_a_row("pretokenizers", digits, bytes_)
    return Pipeline(cut, _byte_level(), {"type": "NFC"}, BYTE_MODEL)


def _clip(settings: Settings) -> Pipeline:
    spaces = _replace({"Regex": r"\s+"}, " ")
    normal = _in_a_row("normalizers", {"type": "NFC"}, spaces, {"type": "Lowercase"})
    cut = _split({"Regex": CLIP}, "Removed", inverted=True)
    model = {
        "continuing_subword_prefix": "",
        "end_of_word_suffix": "</w>",
        "unk_token": settings.get("unk_token"),
    }
    cuts = _in_a_row("pretokenizers", cut, _byte_level())
    return Pipeline(cuts, _byte_level(), normal, model)


def _gpt1(settings: Settings) -> Pipeline:
    model = {
        "continuing_subword_prefix": "",
        "end_of_word_suffix": "</w>",
        "unk_token": settings.get("unk_token"),
    }
    normal = _bert_normalizer(lowercase=True, strips_accents=None)
    decoder = {"type": "BPEDecoder", "suffix": "</w>"}
    return Pipeline({"type": "BertPreTokenizer"}, decoder, normal, model)


def _herbert(settings: Settings) -> Pipeline:
    normal = _bert_normalizer(lowercase=False, strips_accents=False)
    return _gpt1(settings)._replace(
        normalizer=normal,
        model={"end_of_word_suffix": "</w>", "unk_token": settings.get("unk_token")},
    )


def _llama(settings: Settings) -> Pipeline:
    asked = settings.get("add_prefix_space")
    is_prefixed = True if asked is None else bool(asked)
    scheme = "always" if settings.get("legacy") else "first"
    steps: list[Json] = [
        _replace(BLANK, " "),
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    if is_prefixed:
        steps.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
    return Pipeline(
        {
            "type": "Metaspace",
            "replacement": "▁",
            "prepend_scheme": scheme if is_prefixed else "never",
            "split": False,
        },
        _in_a_row("decoders", *steps),
        None,
        {"fuse_unk": True, "byte_fallback": True},
    )


def _gemma(settings: Settings) -> Pipeline:
    steps: list[Json] = [
        _replace(BLANK, " "),
        {"type": "ByteFallback"},
        {"type": "Fuse"},
    ]
    model = {
        "fuse_unk": True,
        "byte_fallback": True,
        "unk_token": settings.get("unk_token"),
    }
    return Pipeline(
        _split(SPACE, "MergedWithPrevious"),
        _in_a_row("decoders", *steps),
        _replace(SPACE, "▁"),
        model,
    )


def _siglip2(settings: Settings) -> Pipeline:
    normal = _in_a_row("normalizers", {"type": "Lowercase"}, _replace(SPACE, "▁"))
    return _gemma(settings)._replace(normalizer=normal)


def _nougat(_: Settings) -> Pipeline:
    cuts = _in_a_row(
        "pretokenizers",
        _split({"String": "SPL1T-TH1S-Pl3A5E"}, "Removed"),
        {"type": "Digits", "individual_digits": True},
        _split({"String": NOUGAT}, "Isolated"),
        _split({"String": "\n"}, "Isolated"),
        _byte_level(),
    )
    return Pipeline(cuts, _byte_level(prefix_space=True), {"type": "NFKC"}, BYTE_MODEL)


def _nllb(settings: Settings) -> Pipeline:
    if settings.get("extra_special_tokens") is None:
        message = (
            "NllbTokenizer needs the codes of its languages: the settings have neither "
            "extra_special_tokens nor additional_special_tokens"
        )
        raise FormatError(message)
    characters = settings.get("precompiled_charsmap")
    map_ = {"type": "Precompiled", "precompiled_charsmap": characters}
    normal = _in_a_row("normalizers", map_, _replace({"Regex": " {2,}"}, " "))
    blanks = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    }
    model = {"fuse_unk": True, "unk_token": settings.get("unk_token")}
    return Pipeline(blanks, blanks, normal if characters else None, model)


# What classes put around a text


def _ends(
    before: str, behind: str, *, trims: bool
) -> Callable[[Mapping[str, str], Ids, Settings], Json]:
    """As RoBERTa does: two tokens between two texts."""

    def written(roles: Mapping[str, str], id_of: Ids, settings: Settings) -> Json:
        return {
            "type": "RobertaProcessing",
            "sep": [roles[behind], id_of(roles[behind])],
            "cls": [roles[before], id_of(roles[before])],
            "trim_offsets": trims and bool(settings.get("trim_offsets", True)),
            "add_prefix_space": trims and _prefix(settings),
        }

    return written


def _deberta(roles: Mapping[str, str], id_of: Ids, _: Settings) -> Json:
    before, behind = roles["cls"], roles["sep"]
    one = [f"{before}:0", "$A:0", f"{behind}:0"]
    return template(one, [*one, f"{behind}:0", "$B:0", f"{behind}:0"], id_of)


def _herbert_ends(roles: Mapping[str, str], _id_of: Ids, _: Settings) -> Json:
    ends = {"sep": [roles["sep"], 2], "cls": [roles["cls"], 0]}
    return {"type": "BertProcessing", **ends}


def _nougat_ends(roles: Mapping[str, str], id_of: Ids, _: Settings) -> Json:
    one = [f"{roles['bos']}:0", "$A:0", f"{roles['eos']}:0"]
    return template(one, ["$A:0", "$B:1"], id_of)


def language_ends(language: str, end: str, id_of: Ids, *, is_legacy: bool) -> Json:
    """Put the code of a language before a text, or behind its end as NLLB once did."""
    code, end = f"{language}:0", f"{end}:0"
    before, behind = ([], [end, code]) if is_legacy else ([code], [end])
    one = [*before, "$A:0", *behind]
    return template(one, [*before, "$A:0", "$B:0", *behind], id_of)


def _nllb_ends(roles: Mapping[str, str], id_of: Ids, settings: Settings) -> Json:
    language = settings.get("src_lang") or FIRST_LANGUAGE
    is_legacy = bool(settings.get("legacy_behaviour"))
    return language_ends(language, roles["eos"], id_of, is_legacy=is_legacy)


FIRST_LANGUAGE = "eng_Latn"
"""What NLLB takes a text for where nothing is said."""


def as_asked(roles: Mapping[str, str], id_of: Ids, settings: Settings) -> Json:
    """Put the beginning and the end around texts as far as settings ask for them."""
    before, behind = (
        roles.get(role) if settings.get(f"add_{role}_token") else None
        for role in ("bos", "eos")
    )

    def around(text: str, type_id: int) -> list[str]:
        parts = [before, text, behind]
        return [f"{part}:{type_id}" for part in parts if part is not None]

    one = around("$A", 0)
    return template(one, [*one, *around("$B", 1)], id_of)


# The languages that Whisper knows, in the order of their tokens, each with its name.
_LANGUAGES = (
    "en:english zh:chinese de:german es:spanish ru:russian ko:korean fr:french ja:japanese "
    "pt:portuguese tr:turkish pl:polish ca:catalan nl:dutch ar:arabic sv:swedish it:italian "
    "id:indonesian hi:hindi fi:finnish vi:vietnamese he:hebrew uk:ukrainian el:greek ms:malay "
    "cs:czech ro:romanian da:danish hu:hungarian ta:tamil no:norwegian th:thai ur:urdu "
    "hr:croatian bg:bulgarian lt:lithuanian la:latin mi:maori ml:malayalam cy:welsh sk:slovak "
    "te:telugu fa:persian lv:latvian bn:bengali sr:serbian az:azerbaijani sl:slovenian "
    "kn:kannada et:estonian mk:macedonian br:breton eu:basque is:icelandic hy:armenian "
    "ne:nepali mn:mongolian bs:bosnian kk:kazakh sq:albanian sw:swahili gl:galician "
    "mr:marathi pa:punjabi si:sinhala km:khmer sn:shona yo:yoruba so:somali af:afrikaans "
    "oc:occitan ka:georgian be:belarusian tg:tajik sd:sindhi gu:gujarati am:amharic "
    "yi:yiddish lo:lao uz:uzbek fo:faroese ht:haitian_creole ps:pashto tk:turkmen nn:nynorsk "
    "mt:maltese sa:sanskrit lb:luxembourgish my:myanmar bo:tibetan tl:tagalog mg:malagasy "
    "as:assamese tt:tatar haw:hawaiian ln:lingala ha:hausa ba:bashkir jw:javanese "
    "su:sundanese yue:cantonese"
)
_OTHER_LANGUAGES = (
    "my:burmese ca:valencian nl:flemish ht:haitian lb:letzeburgesch ps:pushto pa:panjabi "
    "ro:moldavian ro:moldovan si:sinhalese es:castilian zh:mandarin"
)
_CODES = [one.split(":")[0] for one in _LANGUAGES.split()]
CODE_OF_LANGUAGE = {code: code for code in _CODES} | {
    name.replace("_", " "): code
    for code, name in (
        one.split(":") for one in f"{_LANGUAGES} {_OTHER_LANGUAGES}".split()
    )
}
TASKS = ("translate", "transcribe")


def whisper_prefix(settings: Settings, id_of: Ids) -> list[str]:
    """List what stands before a text: the start, a language, a task, and no time stamps.

    Raises
    ------
    FormatError
        There is no such language or task, or the vocabulary has another token in its place.
    """
    start = "<|startoftranscript|>"
    begin = [start]
    language, task = settings.get("language"), settings.get("task")
    if language is not None:
        code = CODE_OF_LANGUAGE.get(str(language).lower())
        if code is None:
            known = ", ".join(_CODES)
            message = f"language={language!r} is not known; known are {known}"
            raise FormatError(message)
        begin.append(f"<|{code}|>")
        if id_of(begin[-1]) != id_of(start) + 1 + _CODES.index(code):
            message = f"the token {begin[-1]} does not follow {start}"
            raise FormatError(message)
    if task is not None:
        if task not in TASKS:
            message = f"task={task!r} is not known; known are {', '.join(TASKS)}"
            raise FormatError(message)
        begin.append(f"<|{task}|>")
    if not settings.get("predict_timestamps"):
        begin.append("<|notimestamps|>")
    return begin


def _whisper(roles: Mapping[str, str], id_of: Ids, settings: Settings) -> Json:
    return whisper_ends(whisper_prefix(settings, id_of), roles["eos"], id_of)


def whisper_ends(begin: Sequence[str], end: str, id_of: Ids) -> Json:
    """Put the tokens of a beginning and the end around texts."""
    before = [*(f"{token}:0" for token in begin), "$A:0"]
    return template([*before, f"{end}:0"], [*before, "$B:1", f"{end}:1"], id_of)


# The classes

END = "<|endoftext|>"
GPT2_TOKENS = {"unk": END, "bos": END, "eos": END}
GPT2_ROLES = {**GPT2_TOKENS, "pad": None}
QWEN_ROLES = {"unk": END, "bos": None, "eos": END, "pad": END}
ROBERTA_TOKENS = {
    "bos": "<s>",
    "eos": "</s>",
    "sep": "</s>",
    "cls": "<s>",
    "unk": "<unk>",
    "pad": "<pad>",
    "mask": "<mask>",
}
DEBERTA_TOKENS = {
    "bos": "[CLS]",
    "eos": "[SEP]",
    "unk": "[UNK]",
    "sep": "[SEP]",
    "cls": "[CLS]",
    "pad": "[PAD]",
    "mask": "[MASK]",
}
GEMMA_TOKENS = {
    "unk": "<unk>",
    "bos": "<bos>",
    "eos": "<eos>",
    "pad": "<pad>",
    "mask": "<mask>",
}
COHERE_TOKENS = {
    "unk": "<UNK>",
    "bos": "<BOS_TOKEN>",
    "eos": "<|END_OF_TURN_TOKEN|>",
    "pad": "<PAD>",
    "cls": "<CLS>",
    "sep": "<SEP>",
    "mask": "<MASK_TOKEN>",
}
NO_SPACE = {"add_prefix_space": False}
WITH_TYPES = ("input_ids", "attention_mask", "token_type_ids")

_ALL = (
    Class("GPT2Tokenizer", _bytes, GPT2_ROLES, settings=NO_SPACE),
    Class("CodeGenTokenizer", _bytes, GPT2_ROLES, settings=NO_SPACE),
    Class(
        "RobertaTokenizer",
        _bytes,
        ROBERTA_TOKENS,
        _ends("cls", "sep", trims=True),
        settings={**NO_SPACE, "trim_offsets": True},
    ),
    Class(
        "BlenderbotTokenizer",
        _bytes,
        {**ROBERTA_TOKENS, "mask": AddedToken("<mask>", normalized=False, lstrip=True)},
        settings={"add_prefix_space": True},
    ),
    Class(
        "DebertaTokenizer",
        _bytes,
        DEBERTA_TOKENS,
        _deberta,
        inputs=WITH_TYPES,
        settings=NO_SPACE,
    ),
    Class("WhisperTokenizer", _bytes, GPT2_TOKENS, _whisper, settings=NO_SPACE),
    Class(
        "GPTNeoXTokenizer",
        _neox,
        {**GPT2_TOKENS, "pad": "<|padding|>"},
        as_asked,
        settings={**NO_SPACE, "trim_offsets": True},
    ),
    Class("Qwen2Tokenizer", _qwen(QWEN2), QWEN_ROLES),
    Class("Qwen3_5Tokenizer", _qwen(QWEN3_5), QWEN_ROLES),
    Class(
        "CohereTokenizer",
        _cohere,
        COHERE_TOKENS,
        padding_side="left",
        settings=NO_SPACE,
    ),
    Class(
        "CLIPTokenizer",
        _clip,
        {"unk": END, "bos": "<|startoftext|>", "eos": END, "pad": END},
        _ends("bos", "eos", trims=False),
    ),
    Class("OpenAIGPTTokenizer", _gpt1, {"unk": "<unk>"}),
    Class(
        "HerbertTokenizer",
        _herbert,
        {role: ROBERTA_TOKENS[role] for role in ("cls", "unk", "pad", "mask", "sep")},
        _herbert_ends,
    ),
    Class(
        "LlamaTokenizer",
        _llama,
        {"unk": "<unk>", "bos": "<s>", "eos": "</s>"},
        padding_side="left",
    ),
    Class("GemmaTokenizer", _gemma, GEMMA_TOKENS, padding_side="left"),
    Class("Siglip2Tokenizer", _siglip2, GEMMA_TOKENS, padding_side="left"),
    Class(
        "NougatTokenizer",
        _nougat,
        {"unk": "<unk>", "bos": "<s>", "eos": "</s>", "pad": "<pad>"},
        _nougat_ends,
    ),
    Class("ParakeetTokenizer", None, {}),
    Class(
        "NllbTokenizer",
        _nllb,
        {
            **ROBERTA_TOKENS,
            "mask": AddedToken("<mask>", special=True, normalized=True, lstrip=True),
        },
        _nllb_ends,
        settings={"legacy_behaviour": False},
    ),
)
CLASSES: Mapping[str, Class] = {one.name: one for one in _ALL}

# Other names of the same classes.
ALIASES = {
    "BartTokenizer": "RobertaTokenizer",
    "LEDTokenizer": "RobertaTokenizer",
    "LongformerTokenizer": "RobertaTokenizer",
    "MvpTokenizer": "RobertaTokenizer",
    "Phi3Tokenizer": "LlamaTokenizer",
}

# Classes that read a ``tokenizer.json`` as it is.
AS_THE_FILE_SAYS = frozenset(
    {
        "BloomTokenizer",
        "PreTrainedTokenizer",
        "PreTrainedTokenizerFast",
        "PythonBackend",
        "TokenizersBackend",
    }
)

# Classes of transformers 5 that change what a file says in ways that are not known here.
OTHERS = frozenset(
    [
        "Albert",
        "Barthez",
        "Bartpho",
        "BertGeneration",
        "BertJapanese",
        "Bert",
        "Bertweet",
        "BigBird",
        "BioGpt",
        "BlenderbotSmall",
        "ByT5",
        "CTRL",
        "Camembert",
        "Canine",
        "Clvp",
        "CodeLlama",
        "ConvBert",
        "Cpm",
        "CpmAnt",
        "DPRContextEncoder",
        "DPRQuestionEncoder",
        "DPRReader",
        "DebertaV2",
        "Dia",
        "DistilBert",
        "Electra",
        "Esm",
        "Esmc",
        "FNet",
        "FSMT",
        "FastSpeech2Conformer",
        "Flaubert",
        "Funnel",
        "GPTNeoXJapanese",
        "GPTSw3",
        "Lasr",
        "LayoutLM",
        "LayoutLMv2",
        "LayoutLMv3",
        "LayoutXLM",
        "Luke",
        "Lxmert",
        "M2M100",
        "MBart",
        "MBart50",
        "MLuke",
        "MPNet",
        "Marian",
        "MarkupLM",
        "Mgpstr",
        "MobileBert",
        "MyT5",
        "PLBart",
        "Pegasus",
        "Perceiver",
        "Phobert",
        "Pop2Piano",
        "ProphetNet",
        "Rag",
        "Reformer",
        "RemBert",
        "RetriBert",
        "RoCBert",
        "RoFormer",
        "SeamlessM4T",
        "Siglip",
        "Speech2Text",
        "SpeechT5",
        "Splinter",
        "SqueezeBert",
        "T5",
        "Tapas",
        "Tipsv2",
        "Udop",
        "VideoPrism",
        "Vits",
        "Wav2Vec2CTC",
        "Wav2Vec2PhonemeCTC",
        "XGLM",
        "XLM",
        "XLMRoberta",
        "XLNet",
    ]
)

# The classes of models, by the ``model_type`` of ``config.json``.
_MODELS = {
    "GPT2Tokenizer": (
        "blip-2 codegen dbrx emu3 gpt2 gpt_neo gptj hyperclovax_vision_v2 instructblip "
        "instructblipvideo jais2 opt phi starcoder2"
    ),
    "RobertaTokenizer": (
        "bart bridgetower clap data2vec-text ibert lilt longformer mega mra roberta "
        "roberta-prelayernorm florence2 led mvp"
    ),
    "BlenderbotTokenizer": "blenderbot",
    "DebertaTokenizer": "deberta",
    "WhisperTokenizer": "whisper",
    "GPTNeoXTokenizer": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm",
    "Qwen2Tokenizer": (
        "audioflamingo3 colqwen2 cosmos3_omni dots3_note fun_asr_nano hunyuan_vl internvl "
        "lighton_ocr moss_transcribe_diarize ovis2 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl "
        "qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe "
        "qwen3_vl qwen3_vl_moe vibevoice"
    ),
    "Qwen3_5Tokenizer": "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp",
    "CohereTokenizer": "aya_vision cohere cohere2",
    "CLIPTokenizer": (
        "aimv2 clip clipseg groupvit omdet-turbo oneformer owlv2 owlvit sam3 sam3_video xclip"
    ),
    "OpenAIGPTTokenizer": "openai-gpt",
    "HerbertTokenizer": "herbert",
    "LlamaTokenizer": "idefics idefics2",
    "GemmaTokenizer": (
        "diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text "
        "recurrent_gemma shieldgemma2 t5gemma zaya"
    ),
    "Siglip2Tokenizer": "siglip2",
    "NougatTokenizer": "nougat pp_formulanet",
    "TokenizersBackend": (
        "EvollaModel aria beam bigbird_pegasus canary flex_olmo glm glm4 glm4_moe "
        "glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 gpt_bigcode "
        "gradium_phonon_tts granite granitemoe granitemoehybrid granitemoeshared kimi_k25 "
        "kimi_linear kosmos-2 mimo_v2_flash minicpm_ocr minicpmv4_6 minicpmv4_7 ministral "
        "ministral3 mistral mistral3 mistral_large4 mixtral nemo_speechlm nystromformer "
        "olmo2 olmo3 olmo_hybrid omniasr pegasus_x persimmon pix2struct pixtral pocket_tts "
        "stablelm umt5 voxtral voxtral_realtime xlm-roberta-xl opencua iquestcoder "
        "ernie4_5_moe fuyu internlm2 phi3_v modernbert-decoder hyperclovax_vlm jamba molmo2 "
        "molmo llava phi3 arctic ernie4_5 modernbert smolvlm minicpm3 cohere_asr "
        "camembertv2-base paddleocr_vl minicpmv chatlm internlm3 vipllava nemotron "
        "minimax_m2 step3_vl nvfp4 phimoe openvla hyperclovax llava_next h2ovl_chat"
    ),
    "BertTokenizer": (
        "align bark bert blip bros chinese_clip convbert distilbert electra ernie flava git "
        "grounding-dino layoutlm megatron-bert mm-grounding-dino mobilebert nezha nomic_bert "
        "qdqbert realm retribert squeezebert tvp vilt visual_bert"
    ),
    "CodeLlamaTokenizer": "code_llama",
    "NllbTokenizer": "nllb nllb-moe",
    "SeamlessM4TTokenizer": "seamless_m4t seamless_m4t_v2",
    "LayoutLMv3Tokenizer": "layoutlmv3",
    "LukeTokenizer": "luke",
    "MarkupLMTokenizer": "markuplm",
    "ReformerTokenizer": "reformer",
    "BlenderbotSmallTokenizer": "blenderbot-small",
    "CTRLTokenizer": "ctrl",
    "BioGptTokenizer": "biogpt",
    "FSMTTokenizer": "fsmt",
    "FlaubertTokenizer": "flaubert",
    "PhobertTokenizer": "phobert",
    "BertweetTokenizer": "bertweet",
    "XLMTokenizer": "xlm",
    "GPTNeoXJapaneseTokenizer": "gpt_neox_japanese",
    "ParakeetTokenizer": (
        "granite_speech5_ctc nemotron3_5_asr nemotron_asr_streaming omniasr_ctc parakeet_ctc "
        "parakeet_rnnt parakeet_tdt"
    ),
}
OF_MODEL = {model: name for name, models in _MODELS.items() for model in models.split()}

# Models whose published folders name a class that is not theirs.
MISNAMED = frozenset(
    [
        "arctic",
        "camembertv2-base",
        "chatlm",
        "cohere_asr",
        "ernie4_5",
        "ernie4_5_moe",
        "fuyu",
        "h2ovl_chat",
        "hyperclovax",
        "hyperclovax_vision_v2",
        "hyperclovax_vlm",
        "internlm2",
        "internlm3",
        "iquestcoder",
        "jamba",
        "llava",
        "llava_next",
        "minicpm3",
        "minicpmv",
        "minimax_m2",
        "modernbert",
        "modernbert-decoder",
        "molmo",
        "molmo2",
        "nemotron",
        "nvfp4",
        "opencua",
        "openvla",
        "paddleocr_vl",
        "phi3",
        "phi3_v",
        "phimoe",
        "qwen2",
        "qwen3_5",
        "qwen3_5_moe",
        "qwen3_5_moe_text",
        "qwen4_exp",
        "siglip2",
        "smolvlm",
        "step3_vl",
        "vipllava",
    ]
)

# Models of Mistral, whose files are read as they are.
MISTRAL = frozenset(
    [
        "ministral",
        "ministral3",
        "mistral",
        "mistral3",
        "mistral_large4",
        "mixtral",
        "pixtral",
        "voxtral",
        "voxtral_realtime",
    ]
)


def plain_name(name: str) -> str:
    """Give the name of a class without ``Fast``, and of its aliases the first.

    >>> plain_name("BartTokenizerFast"), plain_name("PreTrainedTokenizerFast")
    ('RobertaTokenizer', 'PreTrainedTokenizer')
    """
    name = name.removesuffix("Fast")
    return ALIASES.get(name, name)


def named(name: str) -> Class | None:
    """Find a class by name; ``None`` for one that reads a file as it is.

    Raises
    ------
    FormatError
        It changes a file in ways that are not known here.
    """
    plain = plain_name(name)
    if plain.removesuffix("Tokenizer") in OTHERS:
        message = (
            f"tokenizer_class {name} is not supported; supported classes are "
            f"{', '.join(sorted(CLASSES))}. PreTrainedTokenizerFast.from_pretrained reads "
            "the tokenizer.json as it is"
        )
        raise FormatError(message)
    return CLASSES.get(plain)


def _is_known(name: str) -> bool:
    plain = plain_name(name)
    is_listed = plain in CLASSES or plain.removesuffix("Tokenizer") in OTHERS
    return is_listed or name in AS_THE_FILE_SAYS or plain in AS_THE_FILE_SAYS


def chosen(
    config: Settings, model: Settings, *, is_byte_level: Callable[[], bool]
) -> str | None:
    """Name the class of a folder, as ``AutoTokenizer`` of transformers 5 chooses it.

    ``config`` is ``tokenizer_config.json`` and ``model`` is ``config.json``; either may be
    empty. ``None`` if neither says anything.

    Raises
    ------
    FormatError
        The class is a program in the folder.
    """
    model_type = model.get("model_type")
    own = config.get("tokenizer_class")
    found = own or model.get("tokenizer_class")
    model_type = model_type if isinstance(model_type, str) else ""
    of_model = OF_MODEL.get(model_type)
    if _auto_map(config) is not None:
        if own is not None:
            if of_model is None:
                _refuse_program(own)
            return str(own)
        if of_model is None:
            _refuse_program(own)
    if (
        found is not None
        and found.removesuffix("Fast") == "LlamaTokenizer"
        and model_type not in MISTRAL
        and model_type not in MISNAMED
        and is_byte_level()
    ):
        return "TokenizersBackend"
    if found is not None and of_model is not None:
        if plain_name(of_model) == plain_name(found):
            return str(found)
        if of_model == "TokenizersBackend":
            return of_model
        return of_model if model_type in MISNAMED else str(found)
    return str(found) if found is not None else of_model


def _auto_map(config: Settings) -> Any:  # noqa: ANN401 -- a list or a name
    found = config.get("auto_map")
    return found.get("AutoTokenizer") if isinstance(found, Mapping) else found


def _refuse_program(name: str | None) -> None:
    if name is not None and _is_known(name):
        return
    message = (
        f"tokenizer_config.json asks to run code from the folder (auto_map), and its "
        f"tokenizer_class is {name or 'not named'}; bytepair does not run it. "
        "PreTrainedTokenizerFast.from_pretrained reads the tokenizer.json as it is"
    )
    raise FormatError(message)
