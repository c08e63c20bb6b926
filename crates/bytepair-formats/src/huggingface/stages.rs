//! The cutters of a `tokenizer.json` as stages of ours, and such stages as cutters again.
//!
//! Each of the library's own cutters (`Digits`, `Punctuation`, `Whitespace` and their kin) is one stage
//! with a pattern of the characters that the library's version of Unicode takes for digits and so on.
//! Reading and writing share this table, so what was read is written back as it was.

use serde_json::{Value, json};

use super::{BYTE_LEVEL_PATTERN, WORD};
use bytepair_split::unicode::{PublishedClass, published_class};
use bytepair_split::{Behaviour, Flavour, Pattern, Stage, UNICODE_SCRIPTS, Unmatched, escaped};

/// The pieces of `Whitespace`.
const WORDS_AND_SIGNS: &str = r"\w+|[^\w\s]+";

/// All five behaviours by name.
pub(super) const BEHAVIOURS: &[(&str, Behaviour)] = &[
    ("Isolated", Behaviour::Isolated),
    ("Removed", Behaviour::Removed),
    ("MergedWithPrevious", Behaviour::MergedWithPrevious),
    ("MergedWithNext", Behaviour::MergedWithNext),
    ("Contiguous", Behaviour::Contiguous),
];

pub(super) fn name_of(behaviour: Behaviour) -> &'static str {
    BEHAVIOURS.iter().find(|(_, known)| *known == behaviour).map_or("Isolated", |(name, _)| name)
}

fn rust(source: &str) -> Pattern {
    Pattern { source: source.to_owned(), flavour: Flavour::Rust }
}

/// The pieces of `ByteLevel` with `use_regex`.
pub(super) fn byte_level() -> Stage {
    let pattern = Pattern { source: BYTE_LEVEL_PATTERN.to_owned(), flavour: Flavour::Oniguruma };
    Stage::matches(pattern, Unmatched::Keep)
}

pub(super) fn whitespace() -> Stage {
    Stage::matches(rust(WORDS_AND_SIGNS), Unmatched::Drop)
}

pub(super) fn whitespace_split() -> Stage {
    Stage::matches(rust(WORD), Unmatched::Drop)
}

pub(super) fn digits(individual: bool) -> Stage {
    let digit = published_class(PublishedClass::Digits);
    let source = if individual { digit } else { format!("{digit}+") };
    Stage::matches(rust(&source), Unmatched::Keep)
}

pub(super) fn punctuation(behaviour: Behaviour) -> Stage {
    Stage { pattern: rust(&published_class(PublishedClass::Punctuation)), behaviour, invert: false }
}

pub(super) fn delimiter(delimiter: char) -> Stage {
    Stage::matches(rust(&format!("[^{}]+", escaped(delimiter))), Unmatched::Drop)
}

/// Pieces of one script each.
pub(super) fn unicode_scripts() -> Stage {
    let pattern = Pattern { source: UNICODE_SCRIPTS.to_owned(), flavour: Flavour::Cutter };
    Stage::matches(pattern, Unmatched::Drop)
}

/// Pieces of so many characters; the last may have fewer.
pub(super) fn fixed_length(length: usize) -> Stage {
    Stage::matches(rust(&format!("(?s:.{{1,{length}}})")), Unmatched::Keep)
}

/// The cutter that a row of stages begins with, if it is one of the library's own, and how many it takes.
pub(super) fn published(stages: &[&Stage]) -> Option<(Value, usize)> {
    let (first, second) = (*stages.first()?, stages.get(1).copied());
    let isolated = punctuation(Behaviour::Isolated);
    if *first == whitespace_split() && second == Some(&isolated) {
        return Some((json!({"type": "BertPreTokenizer"}), 2));
    }
    let fixed = [
        (whitespace(), json!({"type": "Whitespace"})),
        (whitespace_split(), json!({"type": "WhitespaceSplit"})),
        (unicode_scripts(), json!({"type": "UnicodeScripts"})),
        (digits(true), json!({"type": "Digits", "individual_digits": true})),
        (digits(false), json!({"type": "Digits", "individual_digits": false})),
    ];
    if let Some((_, value)) = fixed.into_iter().find(|(stage, _)| stage == first) {
        return Some((value, 1));
    }
    if *first == punctuation(first.behaviour) {
        let behavior = name_of(first.behaviour);
        return Some((json!({"type": "Punctuation", "behavior": behavior}), 1));
    }
    numbered(first).map(|value| (value, 1))
}

/// A cutter with a number or a character of its own.
fn numbered(stage: &Stage) -> Option<Value> {
    let source = stage.pattern.source.as_str();
    let length = source.strip_prefix("(?s:.{1,").and_then(|rest| rest.strip_suffix("})"));
    if let Some(length) = length.and_then(|digits| digits.parse().ok())
        && *stage == fixed_length(length)
    {
        return Some(json!({"type": "FixedLength", "length": length}));
    }
    let code = source.strip_prefix(r"[^\x{")?.strip_suffix("}]+")?;
    let character = char::from_u32(u32::from_str_radix(code, 16).ok()?)?;
    let is_same = *stage == delimiter(character);
    is_same.then(|| json!({"type": "CharDelimiterSplit", "delimiter": character.to_string()}))
}
