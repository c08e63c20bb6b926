"""The Unicode tables that we carry are those that the publishers' libraries carry.

Each installed library is asked about every code point.
"""

from pathlib import Path

import pytest
from tests.marks import slow_but

DATA = Path(__file__).parent.parent / "crates" / "bytepair-split" / "unicode"
CHARACTERS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
ASCII_SYMBOLS = set("$+<=>^`|~")


def rows(name: str) -> dict[str, list[str]]:
    """Read a table: name -> words."""
    lines = (DATA / name).read_text(encoding="ascii").splitlines()
    return {
        line.split()[0]: line.split()[1:] for line in lines if not line.startswith("#")
    }


def characters(words: list[str]) -> set[str]:
    """Read hexadecimal ranges."""
    ends = [word.split("-") for word in words]
    codes = (range(int(end[0], 16), int(end[-1], 16) + 1) for end in ends)
    return {
        chr(code) for codes_ in codes for code in codes_ if not 0xD800 <= code < 0xE000
    }


def categories(*starts: str) -> set[str]:
    """Unite the general categories of 16.0.0 whose names begin so."""
    table = rows("16.0.0.txt")
    names = [name for name in table if len(name) == 2 and name.startswith(starts)]
    return set().union(*(characters(table[name]) for name in names))


def changed(name: str, base: set[str]) -> set[str]:
    """Apply what the library holds against 16.0.0."""
    words = rows("huggingface-0.23.txt")[name]
    added = characters([word[1:] for word in words if word[0] == "+"])
    return (base | added) - characters([word[1:] for word in words if word[0] == "-"])


def cut_at(cutter: object) -> set[str]:
    """Collect the characters that a pre-tokenizer cuts a letter from."""
    cut = cutter.pre_tokenize_str  # type: ignore[attr-defined]
    return {character for character in CHARACTERS if len(cut(f"x{character}")) > 1}


@pytest.mark.slow
def test_marks_of_strip_accents_are_ours() -> None:
    """``StripAccents`` drops exactly the marks of our table."""
    normalizers = pytest.importorskip("tokenizers.normalizers")
    step = normalizers.StripAccents()
    dropped = {
        character for character in CHARACTERS if not step.normalize_str(character)
    }
    assert dropped == changed("Mark", categories("M"))


@pytest.mark.slow
def test_controls_of_bert_are_ours() -> None:
    """``BertNormalizer`` drops exactly the controls of our table."""
    normalizers = pytest.importorskip("tokenizers.normalizers")
    step = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=False,
        strip_accents=False,
        lowercase=False,
    )
    dropped = {
        character for character in CHARACTERS if not step.normalize_str(character)
    }
    other = changed("Other", categories("Cc", "Cf", "Co"))
    assert dropped == (other | {"\ufffd"}) - set("\t\n\r")


@pytest.mark.slow
def test_numbers_and_punctuation_are_ours() -> None:
    """``Digits`` and ``Punctuation`` cut exactly at the characters of our tables."""
    cutters = pytest.importorskip("tokenizers.pre_tokenizers")
    assert cut_at(cutters.Digits(individual_digits=True)) == changed(
        "Numeric", categories("N")
    )
    punctuation = changed("Punctuation", categories("P")) | ASCII_SYMBOLS
    assert cut_at(cutters.Punctuation()) == punctuation


def scripts() -> dict[str, set[str]]:
    """Collect what ``UnicodeScripts`` tells apart; kana and U+30FC count as Han."""
    base, changes = rows("16.0.0.txt"), rows("huggingface-0.23.txt")
    raw = {
        name: changed(name, characters(base[name]))
        if name in changes
        else characters(base[name])
        for name in base
        if name.startswith("Script=")
    }
    kana = raw.pop("Script=Hiragana") | raw.pop("Script=Katakana")
    raw["Script=Han"] |= kana | {"ー"}
    raw["Script=Common"] -= {" ", "ー"}
    return {name: members for name, members in raw.items() if members}


@pytest.mark.slow
def test_scripts_are_ours() -> None:
    """``UnicodeScripts`` parts exactly the scripts of our table, and no others."""
    cutters = pytest.importorskip("tokenizers.pre_tokenizers")
    cut = cutters.UnicodeScripts().pre_tokenize_str
    ours = scripts()
    with_script = set().union(*ours.values())
    assert sum(map(len, ours.values())) == len(with_script)
    assert {c for c in CHARACTERS if cut(c)} == with_script
    for members in ours.values():
        assert len(cut("".join(sorted(members)))) == 1
    several = "".join(min(members) for members in ours.values())
    for distance in range(1, len(several)):
        for place, character in enumerate(several):
            pair = character + several[place - distance]
            assert len(cut(pair)) == 2, pair


@pytest.mark.slow
def test_lower_case_is_ours() -> None:
    """``Lowercase`` maps exactly the characters of our tables."""
    normalizers = pytest.importorskip("tokenizers.normalizers")
    step = normalizers.Lowercase()
    lower = {character: step.normalize_str(character) for character in CHARACTERS}
    tables = (
        rows("16.0.0.txt")["lowercase"],
        rows("huggingface-0.23.txt")["lowercase"],
    )
    pairs = [word.split(":") for words in tables for word in words]
    ours = {
        chr(int(a, 16)): "".join(chr(int(c, 16)) for c in b.split("+"))
        for a, b in pairs
    }
    assert {key: value for key, value in lower.items() if key != value} == ours


@pytest.mark.parametrize("name", slow_but(["Z"], ["L", "Lu", "M", "N", "P", "S", "Z"]))
def test_patterns_know_unicode_16(name: str) -> None:
    """Oniguruma in ``tokenizers`` and the engine of ``tiktoken`` hold our classes."""
    tokenizers = pytest.importorskip("tokenizers")
    tiktoken = pytest.importorskip("tiktoken")
    text = "".join(CHARACTERS)
    pattern = tokenizers.Regex(rf"\p{{{name}}}")
    cutter = tokenizers.pre_tokenizers.Split(pattern, "removed", invert=True)
    blocks = [text[start : start + 20_000] for start in range(0, len(text), 20_000)]
    found = {
        c
        for block in blocks
        for piece, _ in cutter.pre_tokenize_str(block)
        for c in piece
    }
    assert found == categories(name)
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "probe", pat_str=rf"\p{{{name}}}", mergeable_ranks=ranks, special_tokens={}
    )
    assert set(encoding.decode(encoding.encode_ordinary(text))) == categories(name)
