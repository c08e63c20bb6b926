//! Split patterns that published models use, by name, each in the flavour of its publisher.
//!
//! Patterns are facts about those models and stand here unchanged. Left out: whatever a model does
//! besides splitting (normalization, prefix spaces, added tokens).

use super::{Flavour, Pattern, Stage, Unmatched};

/// One name and its stages.
type Entry = (&'static str, Flavour, Unmatched, &'static [&'static str]);

const ENTRIES: &[Entry] = &[
    (
        "gpt2",
        Flavour::Rust,
        Unmatched::Keep,
        &[r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"],
    ),
    (
        "cl100k",
        Flavour::Rust,
        Unmatched::Keep,
        &[concat!(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        )],
    ),
    (
        "o200k",
        Flavour::Rust,
        Unmatched::Keep,
        &[concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )],
    ),
    (
        "llama3",
        Flavour::Rust,
        Unmatched::Keep,
        &[concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )],
    ),
    (
        "qwen2",
        Flavour::Oniguruma,
        Unmatched::Keep,
        &[concat!(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|",
            r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )],
    ),
    (
        "deepseek-v3",
        Flavour::Oniguruma,
        Unmatched::Keep,
        &[
            r"\p{N}{1,3}",
            "[一-龥\u{3040}-ゟ゠-ヿ]+",
            concat!(
                "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|",
                " ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
            ),
        ],
    ),
    (
        "tekken",
        Flavour::Rust,
        Unmatched::Keep,
        &[concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|",
            r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )],
    ),
    ("letters-digits", Flavour::Rust, Unmatched::Keep, &[r"\p{Z}?(?:\p{L}+|\p{N}+)|\p{Z}+|."]),
    ("words", Flavour::Rust, Unmatched::Drop, &[r"\S+"]),
    ("space", Flavour::Rust, Unmatched::Drop, &["[^ ]+"]),
    ("word-punctuation", Flavour::Rust, Unmatched::Drop, &[r"\w+|[^\w\s]+"]),
];

/// The stages of a named splitter, if the name is known.
///
/// ```
/// use bytepair::{split::{Splitter, named}, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest())?;
/// assert_eq!(splitter.pieces(b"I can't")?, [&b"I"[..], b" can", b"'t"]);
/// # Ok::<(), bytepair::Error>(())
/// ```
pub fn named(name: &str) -> Option<Vec<Stage>> {
    let (_, flavour, unmatched, sources) = ENTRIES.iter().find(|entry| entry.0 == name)?;
    let stage = |source: &&str| Stage {
        pattern: Pattern { source: (*source).to_owned(), flavour: *flavour },
        unmatched: *unmatched,
    };
    Some(sources.iter().map(stage).collect())
}

/// Every name that [`named`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.0)
}
