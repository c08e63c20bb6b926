"""GGUF vocabularies: a file made from a tokenizer gives that tokenizer's ids.

Left out: damaged files and what is refused, which the tests of the core show.
"""

# ruff: noqa: RUF001 -- DeepSeek's pattern lists letters of many scripts

import json
import random
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.parity.families import FAMILIES

from bytepair import FileError, FormatError, Tokenizer, train_from_iterator

gguf = pytest.importorskip("gguf", reason="writes files with gguf")

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = 1, 2, 3, 4, 5, 6
CORPUS = ["the cat's sat on the mat, 12345 é 日本 \n\n x-y ▁ <s>"] * 20
PARTS = [
    *"abc AT \t\n\r09'.-▁éE\u0301\u200d\ufffd\0가\u3000中🙂",
    *"½٣ก\u0e31ກကᄀ、𠀀ʓ<",
    *("12345678", "\r\n", "    ", "IMGIMGABZ", "<sentinel:7>", "<s>", "</s>", "the "),
    *("cat", "  "),
]


def texts() -> list[str]:
    """Make texts of parts at which rules begin and end."""
    chance = random.Random(30)
    return ["".join(chance.choices(PARTS, k=chance.randrange(20))) for _ in range(500)]


def write(path: Path, model: str, **values: Any) -> None:
    """Write a file that holds nothing but a vocabulary."""
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_tokenizer_model(model)
    for name, value in values.items():
        getattr(writer, f"add_{name}")(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


CONTRACTIONS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
SPACES = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"
QWEN = LLAMA3.replace("{1,3}", "")
LOWER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
UPPER = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
CASED = rf"{LOWER}{CONTRACTIONS}?|{UPPER}{CONTRACTIONS}?"
O200K = rf"{CASED}|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}"
DEEPSEEK = [
    r"\p{N}{1,3}",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
    "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
]
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"

# DeepSeek LLM's letters, as its file lists them.
CASED_LETTERS = (
    "A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚ"
    "Ḁ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\u1f7dᾀ-ᾴᾶ-ᾼ\u1fbeῂ-ῄῆ-ῌῐ-\u1fd3ῖ-\u1fdbῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\u2126ℨ\u212a-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳ"
    "Ꙁ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃"
)

# Names, and the published patterns one after the other.
PATTERNS = {
    "gpt-2 phi-2 jais mellum exaone4 trillion granite-docling": [GPT2],
    "gigachat a.x-4.0 jina-de jina-es": [GPT2],
    "roberta-bpe jina-v1-en jina-v2-code jina-v2-de jina-v2-es": [GPT2],
    "olmo mpt modern-bert": [GPT2],
    "llama-bpe llama3 llama-v3 pixtral": [LLAMA3],
    "lfm2 midm-2.0 jina-v5-nano": [LLAMA3],
    "dbrx smaug-bpe glm4 chatglm-bpe": [LLAMA3],
    "qwen2 deepseek-r1-qwen stablelm2 hunyuan f2llmv2": [QWEN],
    "megrez grok-2 solar-open kormo": [QWEN],
    "qwen35": [
        QWEN.replace("?\\p{L}+", "?[\\p{L}\\p{M}]+").replace(
            "[^\\s\\p{L}\\p{N}]", "[^\\s\\p{L}\\p{M}\\p{N}]"
        )
    ],
    "gpt-4o llama4 kanana2 talkie minimax-m2": [O200K],
    "granite-embed-multi-97m": [O200K],
    "tekken": [rf"{LOWER}|{UPPER}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{SPACES}"],
    "deepseek-v3 hunyuan-dense joyai-llm hy_v4": DEEPSEEK,
    "deepseek-coder": [
        "[\r\n]",
        r"\s?\p{L}+",
        r"\s?\p{P}+",
        "[一-龥ࠀ-一가-\ud7ff]+",
        r"\p{N}",
    ],
    "spark2_5": [
        *DEEPSEEK[:2],
        DEEPSEEK[2].replace("[\r\n]*|\\s*[\r\n]+", "|[\r\n]"),
        r"\p{N}",
    ],
    "starcoder refact smollm codeshell": [r"\p{N}", GPT2],
    "exaone minerva-7b mellum2": [r"\p{N}", GPT2],
    "command-r": [r"\p{N}", GPT2],
    "bloom poro-chat gpt3-finnish": [BLOOM],
    "viking": [BLOOM, r"\p{N}"],
    "youtu": [
        "[\uac00-\ud7a3\u3131-\u318e]+|[\uff01\u2026\u201c\u201d\u2018\u2019\u2014\uff1a\uff1b\uff0c\u3001-\u303f\ufe30-\ufe4f]+|[\u3105-\u312f]+|[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        O200K.replace("{1,3}", ""),
    ],
    "tiny_aya cohere2moe": [r"\d{1,3}(?=(?:\d{3})*\b)", O200K],
    "bailingmoe bailingmoe2 llada-moe": [
        r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
    ],
    "seed-coder": [
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1}}"
        rf"| ?[^\s\p{{L}}\p{{N}}\r\n]+|{SPACES}"
    ],
    "minicpm5": [r"\p{N}{1,3}", LLAMA3.replace("{1,3}", "+")],
    "afmoe": [
        r"\p{Nd}{1,510}(?=(?>\p{Nd}{510})*(?:\P{Nd}|$))|\G\p{Nd}{510}",
        r"\A\p{Nd}{1,2}(?=\p{Nd}{3}+\z)",
        r"\A\p{Nd}{3}|\G\p{Nd}{3}",
        r"(?:[\u4E00-\u9FFF\u3040-\u309F\u30A0-\u30FF\u3400-\u4DBF\uf900-\uFAFF"
        r"\uFF65-\uFF9F\u2F00-\u2FDF]+|[\u0E00-\u0E7F]+|[\u0E80-\u0EFF]+"
        r"|[\u1780-\u17FF]+|[\u1000-\u109F\uAA60-\uAA7F\uA9E0-\uA9FF]+"
        r"|[\uAC00-\uD7AF\u1100-\u11FF]+)",
        DEEPSEEK[2],
    ],
    "kimi-k2": [
        r"[\p{Han}]+|"
        + "|".join(
            part.replace("]*", "&&[^\\p{Han}]]*").replace("]+", "&&[^\\p{Han}]]+")
            for part in (LOWER + CONTRACTIONS + "?", UPPER + CONTRACTIONS + "?")
        )
        + rf"|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{SPACES}"
    ],
    "superbpe": [r"\p{N}+", r"(?=(\d{3})+(?!\d))"],
    "chameleon": [
        "<sentinel:[0-9]+>",
        "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
        r"([\t\n]|    |  )",
        r"\p{N}",
        r"[\p{P}!-/:-@\[-`{-~]",
        GPT2,
    ],
    "deepseek-llm": [
        "[\r\n]",
        rf"\s?[{CASED_LETTERS}]+",
        "\\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
        r"\s+$",
        "[一-龥ࠀ-一가-\ud7ff]+",
        r"\p{N}+",
    ],
    "exaone-moe": [
        rf"{CONTRACTIONS}|[^\r\n\p{{L}}\p{{N}}]?(?:\p{{L}}\p{{M}}*(?: \p{{L}}\p{{M}}*)*)+"
        r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
    ],
    "jais-2": [
        LLAMA3.removesuffix(r"|\s+(?!\S)|\s+")
        + "".join(rf"|\s{{{2**n}}}(?!\S)" for n in range(9, 1, -1))
        + r"|\s{1,2}(?!\S)|\s{1}"
    ],
    "ufakzeka": [QWEN.removeprefix(f"{CONTRACTIONS}|")],
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
}
# Of these names the publisher composes characters; of those it takes a piece whole that is a token.
COMPOSES = {"command-r", "olmo", "qwen2", "qwen35"}
TAKES_WHOLE = {"lfm2", "youtu", "llama-bpe", "minicpm5", "tekken"}
TAKES_WHOLE.add("granite-embed-multi-97m")


def split_by(*patterns: str) -> dict[str, Any]:
    """Cut by patterns one after the other, as the library writes it."""
    options = {"behavior": "Isolated", "invert": False}
    cutters = [
        {"type": "Split", "pattern": {"Regex": pattern}, **options}
        for pattern in patterns
    ]
    last = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    cutters.append({**last, "use_regex": False})
    return {"type": "Sequence", "pretokenizers": cutters}


def after_line_breaks(pattern: str) -> dict[str, Any]:
    """Begin a piece with each run of line breaks, and cut those by a pattern."""
    found = split_by(r"(?:\r?\n)+(?!\r?\n)", pattern)
    found["pretokenizers"][0]["behavior"] = "MergedWithNext"
    return found


@cache
def learned() -> bytes:
    """Make a vocabulary whose merges join what any pattern could cut apart."""
    sample = [text for text in texts()[:400] if text]
    own = train_from_iterator(sample, merges=700, dialect="byte-stream")
    return own.to_bytes(format="huggingface")


def greedy() -> dict[str, Any]:
    """Give that vocabulary, which a test may change."""
    return json.loads(learned())


def write_bytes(path: Path, document: dict[str, Any], pre: str | None) -> None:
    """Write the vocabulary of a tokenizer.json."""
    write_model(path, document["model"], pre, add_bos_token=False)


def write_model(path, model, pre, kinds=(), **values):
    """Write tokens and merges; a token is of a kind that is named, or a normal one."""
    names = sorted(model["vocab"], key=model["vocab"].__getitem__)
    kinds = dict(kinds)
    values |= {"token_types": [kinds.get(name, NORMAL) for name in names]}
    values |= {} if pre is None else {"tokenizer_pre": pre}
    merges = [m if isinstance(m, str) else " ".join(m) for m in model["merges"]]
    write(path, "gpt2", token_list=names, token_merges=merges, **values)


PRE_TOKENIZERS = {
    **{names: split_by(*cuts) for names, cuts in PATTERNS.items()},
    "laguna": after_line_breaks(QWEN),
    "falcon": FAMILIES["falcon"]().pre_tokenizer,
    "falcon3": FAMILIES["falcon3"]().pre_tokenizer,
}


@pytest.mark.parametrize("names", PRE_TOKENIZERS)
def test_a_name_stands_for_its_publishers_pattern(names: str, tmp_path: Path) -> None:
    """Hugging Face's library gives the same ids with the published pre-tokenizer."""
    peer = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    document = greedy()
    first = names.split()[0]
    composes = first in COMPOSES
    theirs = peer.Tokenizer.from_str(
        json.dumps(
            document
            | {
                "normalizer": {"type": "NFC"} if composes else None,
                "pre_tokenizer": PRE_TOKENIZERS[names],
                "model": document["model"] | {"ignore_merges": first in TAKES_WHOLE},
            }
        )
    )
    for name in names.split():
        write_bytes(tmp_path / "own.gguf", document, name)
        ours = Tokenizer.from_file(tmp_path / "own.gguf")
        for text in texts():
            ids = list(ours.encode(text))
            assert ids == theirs.encode(text).ids, (name, text)
            if not composes:
                assert ours.decode(ids) == text, (name, text)


def test_a_file_without_a_name_needs_a_pattern(tmp_path: Path) -> None:
    """An absent name says nothing of the split, so that the caller does."""
    document = greedy()
    write_bytes(tmp_path / "named.gguf", document, "gpt-2")
    write_bytes(tmp_path / "own.gguf", document, None)
    with pytest.raises(
        FormatError, match=r"ggml\.pre: missing.*give the split pattern"
    ):
        Tokenizer.from_file(tmp_path / "own.gguf")
    named = Tokenizer.from_file(tmp_path / "named.gguf")
    assert Tokenizer.from_file(tmp_path / "own.gguf", pattern="gpt2") == named


@pytest.mark.parametrize("begin", ["[PAD{}]", "<unused{}>", "<pad>"])
def test_rows_that_pad_a_matrix_are_saved(begin: str, tmp_path: Path) -> None:
    """No text has an unused row before or after, and each is decoded to what it says, or to a name."""
    peer = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    document = greedy()
    vocabulary = document["model"]["vocab"]
    names = sorted(vocabulary, key=vocabulary.__getitem__)
    rows = [begin.format(len(names) + 1 + place) for place in range(3)]
    write(
        tmp_path / "own.gguf",
        "gpt2",
        tokenizer_pre="gpt-2",
        token_list=[*names, "<|im_end|>", *rows],
        token_types=[NORMAL] * len(names) + [CONTROL] + [UNUSED] * 3,
        token_merges=[
            m if isinstance(m, str) else " ".join(m)
            for m in document["model"]["merges"]
        ],
        add_bos_token=False,
    )
    ours = Tokenizer.from_file(tmp_path / "own.gguf")
    ours.save(tmp_path / "tokenizer.json")
    theirs = peer.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    assert theirs.get_vocab_size() == ours.n_vocab == len(names) + 4
    for text in [*texts(), f"a{''.join(rows)} b", "<|im_end|>"]:
        assert theirs.encode(text).ids == ours.encode(text, allowed_special="all")
    assert Tokenizer.from_bytes(ours.to_bytes()) == ours
    for id_, row in enumerate(rows, len(names) + 1):
        is_first = rows.index(row) == id_ - len(names) - 1
        told = row if is_first else f"[PAD{id_}]"
        assert [ours.decode([id_]), theirs.decode([id_])] == [told] * 2


def test_a_pattern_takes_the_place_of_the_name(tmp_path: Path) -> None:
    """A name that is not known is refused with the way out, which gives the pattern's ids."""
    document = greedy()
    path = tmp_path / "own.gguf"
    write_bytes(path, document, "llama-bpe")
    known = Tokenizer.from_file(path, pattern=GPT2)
    write_bytes(path, document, "no-such-model")
    with pytest.raises(
        FormatError, match=r"no-such-model.*give the split pattern"
    ) as caught:
        Tokenizer.from_file(path)
    assert str(path) in str(caught.value)
    given = Tokenizer.from_file(path, pattern=GPT2)
    write_bytes(path, document, "gpt-2")
    expected = Tokenizer.from_file(path)
    for text in texts():
        assert given.encode(text) == expected.encode(text)
    cut = [piece for piece in texts() if known.encode(piece) != given.encode(piece)]
    assert len(cut) < len(texts()) / 2  # only pieces that are tokens differ
    rows = Tokenizer.from_file(path, pattern=[r"\p{N}", GPT2])
    write_bytes(path, document, "starcoder")
    starcoder = Tokenizer.from_file(path)
    assert all(rows.encode(text) == starcoder.encode(text) for text in texts())


@pytest.mark.parametrize("pre", ["gemma4", "sarvam-moe", "whitespace"])
def test_vocabularies_of_characters_are_refused_whatever_the_pattern(
    pre: str, tmp_path: Path
) -> None:
    """Their tokens are no letters that stand for bytes, which no pattern mends."""
    path = tmp_path / "own.gguf"
    write_bytes(path, greedy(), pre)
    for options in ({}, {"pattern": GPT2}):
        with pytest.raises(FormatError, match=f"{pre}.*characters"):
            Tokenizer.from_file(path, **options)


@pytest.mark.parametrize("pre", ["gpt-2", "command-r", "falcon"])
@pytest.mark.parametrize("kind", [NORMAL, CONTROL, USER_DEFINED])
def test_a_token_that_stands_for_no_bytes_is_shown_as_it_stands(
    pre: str, kind: int, tmp_path: Path
) -> None:
    """It is text: found if it is special or user-defined, and decoded as it is in any case."""
    document = greedy()
    names = ["<|a b|>", "▁▁", "日本", "\n\n"]
    vocabulary = document["model"]["vocab"]
    first = len(vocabulary)
    vocabulary |= {name: first + place for place, name in enumerate(names)}
    path = tmp_path / "own.gguf"
    write_model(path, document["model"], pre, dict.fromkeys(names, kind))
    ours = Tokenizer.from_file(path)
    for place, name in enumerate(names):
        assert ours.decode([first + place]) == name
        found = list(ours.encode(name, allowed_special="all"))
        assert (found == [first + place]) == (kind != NORMAL)
        assert ours.decode(found) == name


@pytest.mark.parametrize(
    ("dialect", "pre"),
    [
        *(("gpt2", "gpt-2"), ("llama3", "llama-bpe"), ("gpt4o", "gpt-4o")),
        ("deepseek-v3", "deepseek-v3"),
    ],
)
def test_a_file_of_bytes_gives_the_ids_it_was_made_from(dialect, pre, tmp_path):
    """Merges, split pattern and special tokens come through."""
    options = {"dialect": dialect, "special_tokens": ["<s>", "</s>"]}
    own = train_from_iterator(CORPUS, merges=80, **options)
    content = json.loads(own.to_bytes(format="huggingface"))
    model, kinds = content["model"], dict.fromkeys(["<s>", "</s>"], CONTROL)
    model["vocab"] |= {t["content"]: t["id"] for t in content["added_tokens"]}
    begin = model["vocab"]["<s>"]
    values = {"bos_token_id": begin, "add_bos_token": True}
    write_model(tmp_path / "own.gguf", model, pre, kinds, **values)
    read = Tokenizer.from_file(tmp_path / "own.gguf")
    for text in texts():
        ids = list(own.encode(text, allowed_special="all", add_special_tokens=False))
        found = read.encode(text, allowed_special="all", add_special_tokens=False)
        assert list(found) == ids
        marked = read.encode(text, allowed_special="all", add_special_tokens=True)
        assert list(marked) == [begin, *ids]


def test_two_texts_stand_around_the_separator_that_the_file_asks_for(tmp_path):
    """A file made from RoBERTa's tokenizer gives RoBERTa's pairs."""
    peer = pytest.importorskip("tokenizers", reason="compares with tokenizers")
    document = greedy()
    vocabulary = document["model"]["vocab"]
    first, last = len(vocabulary), len(vocabulary) + 1
    vocabulary |= {"<bos>": first, "<eos>": last}
    processor = {
        "type": "RobertaProcessing",
        "sep": ["<eos>", last],
        "cls": ["<bos>", first],
        "trim_offsets": True,
        "add_prefix_space": False,
    }
    parts = {"pre_tokenizer": split_by(GPT2), "post_processor": processor}
    theirs = peer.Tokenizer.from_str(json.dumps(document | parts))
    kinds = dict.fromkeys(["<bos>", "<eos>"], CONTROL)
    values = {"bos_token_id": first, "eos_token_id": last, "sep_token_id": last}
    values |= {f"add_{name}_token": True for name in ("bos", "eos", "sep")}
    path = tmp_path / "own.gguf"
    write_model(path, document["model"], "roberta-bpe", kinds, **values)
    ours = Tokenizer.from_file(tmp_path / "own.gguf")
    for one, two in zip(texts()[:100], texts()[100:200], strict=True):
        single = theirs.encode(one)
        assert list(ours.encode(one, add_special_tokens=True)) == single.ids
        pair = theirs.encode(one, two)
        found = ours.encode_full(one, two, add_special_tokens=True)
        assert list(found.ids) == pair.ids
        assert list(found.type_ids) == pair.type_ids


def test_a_file_of_scores_gives_the_ids_of_sentencepiece(tmp_path: Path) -> None:
    """Where spaces stay as they are, both merge alike."""
    spm = pytest.importorskip("sentencepiece", reason="compares with sentencepiece")
    prefix = tmp_path / "own"
    options = {"model_type": "bpe", "vocab_size": 330, "byte_fallback": True}
    options |= {"normalization_rule_name": "identity", "minloglevel": 2}
    options |= {"remove_extra_whitespaces": False, "hard_vocab_limit": False}
    source = {"sentence_iterator": iter(CORPUS * 20), "model_prefix": str(prefix)}
    spm.SentencePieceTrainer.train(**source, **options)
    theirs = spm.SentencePieceProcessor(model_file=f"{prefix}.model")
    ids = range(len(theirs))
    kinds = [
        (UNKNOWN if theirs.is_unknown(i) else 0)
        or (CONTROL if theirs.is_control(i) else 0)
        or (BYTE if theirs.is_byte(i) else NORMAL)
        for i in ids
    ]
    values = {"token_list": [theirs.id_to_piece(i) for i in ids], "token_types": kinds}
    values["token_scores"] = [theirs.get_score(i) for i in ids]
    write(tmp_path / "own.gguf", "llama", **values)
    # llama.cpp marks the beginning unless the file says otherwise, and needs to know with what.
    with pytest.raises(ValueError, match="bos_token_id"):
        Tokenizer.from_file(tmp_path / "own.gguf")
    write(tmp_path / "own.gguf", "llama", **values, bos_token_id=theirs.bos_id())
    read = Tokenizer.from_file(tmp_path / "own.gguf")
    for text in texts():
        found = theirs.encode(text)
        plain = read.encode(text, allowed_special=(), add_special_tokens=False)
        assert list(plain) == found
        assert read.decode(found) == theirs.decode(found)
        marked = read.encode(text, allowed_special=(), add_special_tokens=True)
        assert list(marked) == [theirs.bos_id(), *found]


def test_a_missing_file_is_named() -> None:
    """An error says which file it is about."""
    with pytest.raises(FileError, match="no-such"):
        Tokenizer.from_file("no-such.gguf")
