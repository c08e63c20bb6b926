//! Split patterns that published models use, by name, each in the flavour of its publisher.
//!
//! Patterns are facts about those models and stand here unchanged, except that some characters are
//! written as numbers. Where one is a row of Hugging Face's own cutters, `Digits` is `\p{N}` and
//! `Punctuation` is `\p{P}` with the ASCII symbols. Left out: whatever a model does besides splitting
//! (normalization, prefix spaces, added tokens), and Falcon's stages, of which the last ones look at
//! characters that stand for bytes.

use crate::stage::{Behaviour, Flavour, Pattern, Stage};

/// One name and its stages.
type Entry = (&'static str, Flavour, &'static [Cutter]);

/// A pattern, what becomes of its matches, and whether it is inverted.
type Cutter = (&'static str, Behaviour, bool);

/// Matches and the rest are pieces.
const fn keep(pattern: &'static str) -> Cutter {
    (pattern, Behaviour::Isolated, false)
}

/// Matches are the pieces.
const fn only(pattern: &'static str) -> Cutter {
    (pattern, Behaviour::Removed, true)
}

/// The rest are the pieces.
const fn without(pattern: &'static str) -> Cutter {
    (pattern, Behaviour::Removed, false)
}

/// Pieces begin with a match.
const fn begins_with(pattern: &'static str) -> Cutter {
    (pattern, Behaviour::MergedWithNext, false)
}

/// Pieces end with a match.
const fn ends_with(pattern: &'static str) -> Cutter {
    (pattern, Behaviour::MergedWithPrevious, false)
}

/// English contractions, in any case.
macro_rules! contractions {
    () => {
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
    };
}

/// White space: up to line breaks, then runs, the last space left to a word.
macro_rules! spaces {
    () => {
        r"\s*[\r\n]+|\s+(?!\S)|\s+"
    };
}

/// GPT-2's pattern as its own program has it.
macro_rules! gpt2_as_written {
    () => {
        r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    };
}

/// Han characters and kana.
macro_rules! kana_han {
    () => {
        r"[\x{4E00}-\x{9FA5}\x{3040}-\x{309F}\x{30A0}-\x{30FF}]+"
    };
}

/// Words of BLOOM.
macro_rules! bloom {
    () => {
        r" ?[^(\s|[.,!?\x{2026}\x{3002}\x{FF0C}\x{3001}\x{964}\x{6D4}\x{60C}])]+"
    };
}

const ENTRIES: &[Entry] = &[
    (
        "gpt2",
        Flavour::Rust,
        &[keep(r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s")],
    ),
    (
        "cl100k",
        Flavour::Rust,
        &[keep(concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ))],
    ),
    (
        "o200k",
        Flavour::Rust,
        &[keep(concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
            contractions!(),
            r"?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
            contractions!(),
            r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|",
            spaces!()
        ))],
    ),
    (
        "llama3",
        Flavour::Rust,
        &[keep(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
            spaces!()
        ))],
    ),
    (
        "qwen2",
        Flavour::Oniguruma,
        &[keep(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
            spaces!()
        ))],
    ),
    (
        "deepseek-v3",
        Flavour::Oniguruma,
        &[
            keep(r"\p{N}{1,3}"),
            keep("[\u{4E00}-\u{9FA5}\u{3040}-\u{309F}\u{30A0}-\u{30FF}]+"),
            keep(concat!(
                "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|",
                "[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|",
                "\\s+(?!\\S)|\\s+"
            )),
        ],
    ),
    (
        "tekken",
        Flavour::Rust,
        &[keep(concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
            r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|",
            spaces!()
        ))],
    ),
    ("letters-digits", Flavour::Rust, &[keep(r"\p{Z}?(?:\p{L}+|\p{N}+)|\p{Z}+|.")]),
    ("words", Flavour::Rust, &[only(r"\S+")]),
    ("space", Flavour::Rust, &[only("[^ ]+")]),
    // The ends of lines are those of `str.splitlines` in Python, with which subword-nmt reads files. Of
    // them it strips line feeds and carriage returns alone; the others stay, at the end of a word.
    (
        "subword-nmt",
        Flavour::Rust,
        &[only(r"[^\n\x0B\f\r\x1C-\x1E \x{85}\x{2028}\x{2029}]*[^\n\r ]")],
    ),
    ("word-punctuation", Flavour::Rust, &[only(r"\w+|[^\w\s]+")]),
    (
        "kimi-k2",
        Flavour::Rust,
        &[keep(concat!(
            r"[\p{Han}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*",
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
            contractions!(),
            "?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+",
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*",
            contractions!(),
            r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
            spaces!()
        ))],
    ),
    (
        "nanochat",
        Flavour::Rust,
        &[keep(concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}|",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
        ))],
    ),
    ("starcoder", Flavour::Oniguruma, &[keep(r"\p{N}"), keep(gpt2_as_written!())]),
    (
        "qwen3.5",
        Flavour::Oniguruma,
        &[keep(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|",
            spaces!()
        ))],
    ),
    (
        "deepseek-llm",
        Flavour::Oniguruma,
        &[
            keep(r"[\r\n]"),
            keep(concat!(
                r"\s?[\x{41}-\x{5A}\x{61}-\x{7A}\x{B5}\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{1BA}",
                r"\x{1BC}-\x{1BF}\x{1C4}-\x{293}\x{295}-\x{2AF}\x{370}-\x{373}\x{376}\x{377}",
                r"\x{37B}-\x{37D}\x{37F}\x{386}\x{388}-\x{38A}\x{38C}\x{38E}-\x{3A1}\x{3A3}-",
                r"\x{3F5}\x{3F7}-\x{481}\x{48A}-\x{52F}\x{531}-\x{556}\x{10A0}-\x{10C5}\x{13A0}-",
                r"\x{13F5}\x{13F8}-\x{13FD}\x{1C90}-\x{1CBA}\x{1CBD}-\x{1CBF}\x{1D00}-\x{1D2B}",
                r"\x{1D6B}-\x{1D77}\x{1D79}-\x{1D9A}\x{1E00}-\x{1F15}\x{1F18}-\x{1F1D}\x{1F20}-",
                r"\x{1F45}\x{1F48}-\x{1F4D}\x{1F50}-\x{1F57}\x{1F59}\x{1F5B}\x{1F5D}\x{1F5F}-",
                r"\x{1F7D}\x{1F80}-\x{1FB4}\x{1FB6}-\x{1FBC}\x{1FBE}\x{1FC2}-\x{1FC4}\x{1FC6}-",
                r"\x{1FCC}\x{1FD0}-\x{1FD3}\x{1FD6}-\x{1FDB}\x{1FE0}-\x{1FEC}\x{1FF2}-\x{1FF4}",
                r"\x{1FF6}-\x{1FFC}\x{2102}\x{2107}\x{210A}-\x{2113}\x{2115}\x{2119}-\x{211D}",
                r"\x{2124}\x{2126}\x{2128}\x{212A}-\x{212D}\x{212F}-\x{2134}\x{2139}\x{213C}-",
                r"\x{213F}\x{2145}-\x{2149}\x{214E}\x{2183}\x{2184}\x{2C00}-\x{2C7B}\x{2C7E}-",
                r"\x{2CE4}\x{2CEB}-\x{2CEE}\x{2CF2}\x{2CF3}\x{A640}-\x{A66D}\x{A680}-\x{A69B}",
                r"\x{A722}-\x{A76F}\x{A771}-\x{A787}\x{A78B}-\x{A78E}\x{AB70}-\x{ABBF}\x{FB00}-",
                r"\x{FB06}\x{FB13}-\x{FB17}\x{FF21}-\x{FF3A}\x{FF41}-\x{FF5A}\x{10400}-\x{1044F}",
                r"\x{104B0}-\x{104D3}\x{104D8}-\x{104FB}\x{10C80}-\x{10CB2}\x{10CC0}-\x{10CF2}",
                r"\x{118A0}-\x{118DF}\x{1E900}-\x{1E943}]+"
            )),
            keep(
                r"\s?[!-/:-~\x{FF01}-\x{FF0F}\x{FF1A}-\x{FF5E}\x{2018}-\x{201F}\x{3000}-\x{3002}]+",
            ),
            keep(r"\s+$"),
            keep(r"[\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+"),
            keep(r"\p{N}+"),
        ],
    ),
    (
        "deepseek-coder",
        Flavour::Oniguruma,
        &[
            keep(r"[\r\n]"),
            keep(r"\s?\p{L}+"),
            keep(r"\s?\p{P}+"),
            keep(r"[\x{4E00}-\x{9FA5}\x{800}-\x{4E00}\x{AC00}-\x{D7FF}]+"),
            keep(r"\p{N}"),
        ],
    ),
    // Published are three stages: runs of decimal digits in chunks of 510 from the right, the one or two
    // digits that are too many, and groups of three. The first one here cuts at the same places.
    (
        "afmoe",
        Flavour::Oniguruma,
        &[
            keep(r"\p{Nd}{1,3}(?=(?:\p{Nd}{3})*(?:\P{Nd}|\z))"),
            keep(concat!(
                r"[\x{4E00}-\x{9FFF}\x{3040}-\x{30FF}\x{3400}-\x{4DBF}\x{F900}-\x{FAFF}",
                r"\x{FF65}-\x{FF9F}\x{2F00}-\x{2FDF}]+|[\x{E00}-\x{E7F}]+|[\x{E80}-\x{EFF}]+|",
                r"[\x{1780}-\x{17FF}]+|[\x{1000}-\x{109F}\x{AA60}-\x{AA7F}\x{A9E0}-\x{A9FF}]+|",
                r"[\x{AC00}-\x{D7AF}\x{1100}-\x{11FF}]+"
            )),
            keep(concat!(
                r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"##,
                r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|",
                spaces!()
            )),
        ],
    ),
    (
        "spark",
        Flavour::Oniguruma,
        &[
            keep(r"\p{N}{1,3}"),
            keep(kana_han!()),
            keep(concat!(
                r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"##,
                r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"
            )),
            keep(r"\p{N}"),
        ],
    ),
    (
        "youtu",
        Flavour::Oniguruma,
        &[
            keep(concat!(
                r"[\x{AC00}-\x{D7A3}\x{3131}-\x{318E}]+|[\x{FF01}\x{2026}\x{201C}\x{201D}\x{2018}",
                r"\x{2019}\x{2014}\x{FF1A}\x{FF1B}\x{FF0C}\x{3001}-\x{303F}\x{FE30}-\x{FE4F}]+|[",
                r"\x{3105}-\x{312F}]+|",
                kana_han!()
            )),
            keep(concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                contractions!(),
                r"?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
                contractions!(),
                r"?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|",
                spaces!()
            )),
        ],
    ),
    (
        "tiny-aya",
        Flavour::Oniguruma,
        &[
            keep(r"\d{1,3}(?=(?:\d{3})*\b)"),
            keep(concat!(
                r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
                contractions!(),
                r"?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
                contractions!(),
                r"?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|",
                spaces!()
            )),
        ],
    ),
    ("superbpe", Flavour::Oniguruma, &[keep(r"\p{N}+"), keep(r"(?=(\d{3})+(?!\d))")]),
    (
        "bailingmoe",
        Flavour::Oniguruma,
        &[keep(concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|",
            r"\s*[\r\n]|\s+(?!\S)|\s+"
        ))],
    ),
    (
        "seed-coder",
        Flavour::Oniguruma,
        &[keep(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|",
            spaces!()
        ))],
    ),
    (
        "minicpm5",
        Flavour::Oniguruma,
        &[
            keep(r"\p{N}{1,3}"),
            keep(concat!(
                contractions!(),
                r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|",
                spaces!()
            )),
        ],
    ),
    // The published first stage also asks that no line break follows; after all of a run none does.
    (
        "laguna",
        Flavour::Oniguruma,
        &[
            begins_with(r"(?:\r?\n)+"),
            keep(concat!(
                contractions!(),
                r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|",
                spaces!()
            )),
        ],
    ),
    (
        "exaone-moe",
        Flavour::Oniguruma,
        &[keep(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}|",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+"
        ))],
    ),
    ("bloom", Flavour::Oniguruma, &[keep(bloom!())]),
    ("viking", Flavour::Oniguruma, &[keep(bloom!()), keep(r"\p{N}")]),
    (
        "jais2",
        Flavour::Oniguruma,
        &[keep(concat!(
            contractions!(),
            r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|",
            r"\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|",
            r"\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}"
        ))],
    ),
    (
        "chameleon",
        Flavour::Oniguruma,
        &[
            keep("<sentinel:[0-9]+>"),
            keep("(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z"),
            keep(r"([\t\n]|    |  )"),
            keep(r"\p{N}"),
            keep(r"[\p{P}!-/:-@\[-`{-~]"),
            keep(gpt2_as_written!()),
        ],
    ),
    (
        "clip",
        Flavour::Oniguruma,
        &[only(concat!(
            r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|",
            r"[^\s\p{L}\p{N}]+"
        ))],
    ),
    ("bert", Flavour::Oniguruma, &[without(r"\s+"), keep(r"[\p{P}!-/:-@\[-`{-~]")]),
    ("gemma", Flavour::Oniguruma, &[ends_with(" ")]),
    ("lines", Flavour::Oniguruma, &[keep(r"[^\n]+|[\n]+")]),
];

/// The stages of a named splitter, if the name is known.
///
/// ```
/// use bytepair_split::{Splitter, named, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"I can't")?, [&b"I"[..], b" can", b"'t"]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
pub fn named(name: &str) -> Option<Vec<Stage>> {
    let (_, flavour, cutters) = ENTRIES.iter().find(|entry| entry.0 == name)?;
    let stage = |&(source, behaviour, invert): &Cutter| {
        let pattern = Pattern { source: source.to_owned(), flavour: *flavour };
        Stage { pattern, behaviour, invert }
    };
    Some(cutters.iter().map(stage).collect())
}

/// Every name that [`named`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.0)
}
