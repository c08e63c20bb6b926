//! Translates a split pattern to another flavour, and tells whether two rows of stages cut alike.
//!
//! Most patterns mean the same in both flavours: both parse to the same tree. Such a pattern is passed on as it is, or
//! with `\w` and dots that match line ends spelled out. A few published patterns are spelled differently in Oniguruma; a
//! table has that spelling. All other patterns are refused: those with `$`, `{1,3}+` and other syntax that
//! [`crate::parser`] lists, and those that may match the empty text, where Oniguruma cuts.
//!
//! Cost: parsing both; [`cuts_alike`] takes some milliseconds.

use crate::engine::parse;
use crate::unicode::UnicodeTables;
use crate::{Flavour, Pattern, Splitter, Stage, named};

/// The published patterns of one stage that Oniguruma reads differently from the Rust flavour, in the spelling of
/// Oniguruma.
const IN_ONIGURUMA: [(&str, &str); 4] = [
    ("gpt2", r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++\z|\s+(?!\S)|\s"),
    (
        "cl100k",
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|(?>\p{N}{1,3})| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++\z|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    ("subword-nmt", r"[^\n\x{0B}\x{C}\r\x{1C}-\x{1E} \x{85}\x{2028}\x{2029}]*[^\n\r ]"),
    (
        "word-punctuation",
        r"[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}]+|[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}\s]+",
    ),
];

/// Why a pattern is refused, and what to do instead.
const OTHERWISE: &str = "the other library reads it differently; write out what differs (\\b, ^, $, {1,3}+, POSIX classes), \
                         or train with a pattern in its flavour";

/// One of each kind of character that patterns distinguish.
const KINDS: &str = "aBstLſéǅʰ中あンﾞ한ا\u{301}\u{903}\u{20dd}0٣Ⅷ½²_-./'’\"($+^€©😀🇫 \u{a0}\u{3000}\t\n\r\u{b}\u{85}\u{2028}\
                     \u{200c}\u{200d}\0\u{e000}\u{378}\u{ad}";

/// The kinds whose triples are tested.
const COMMON_KINDS: &str = "aBsé中0½_.'( \u{a0}\n\r\t\u{301}\u{200d}";

/// More texts to test.
const SAMPLES: [&str; 5] = [
    "don't DON'T we'll we've I'd you're I'm it's IT'S 'tis ''s'll",
    "1 12 123 1234 12345 123456 1234567890 ٣٣٣٣ ⅧⅧ ½½½½",
    "a   b \n\n c\r\n\r\n  d\t\te \u{3000}\u{3000}f  \n  ",
    "fn main() { println!(\"{}\", x_1 + y); } // ok/fine\n/*  */ https://a.b/c?d=e&f",
    "HelloWORLD camelCase snake_case ÉCOLE 中文字符かなカナ한국어 نیم\u{200c}فاصله e\u{301}e\u{301}",
];

/// A pattern that means the same in another flavour as this one does in its own.
///
/// # Errors
/// If there is no such pattern: a phrase that says why, and what to do.
///
/// ```
/// use bytepair_split::{Flavour, Pattern, named, translated};
///
/// let words = Pattern { source: r" ?\p{L}+|\s".to_owned(), flavour: Flavour::Rust };
/// assert_eq!(translated(&words, Flavour::Oniguruma)?.source, words.source);
/// let gpt2 = named("gpt2").unwrap().remove(0).pattern;
/// assert!(translated(&gpt2, Flavour::Oniguruma)?.source.contains(r"\s++\z"));
/// # Ok::<(), String>(())
/// ```
pub fn translated(pattern: &Pattern, flavour: Flavour) -> Result<Pattern, String> {
    if pattern.flavour == flavour {
        return Ok(pattern.clone());
    }
    if pattern.flavour == Flavour::Cutter {
        return Err("it is a cutter of Hugging Face tokenizers, not a pattern".to_owned());
    }
    if flavour == Flavour::Oniguruma
        && let Some(source) = in_oniguruma(pattern)
    {
        return Ok(Pattern { source: source.to_owned(), flavour });
    }
    let unicode = UnicodeTables::latest();
    let meant = parse(pattern, &unicode).map_err(|_| OTHERWISE.to_owned())?;
    if meant.root.is_nullable() {
        return Err("it could match the empty text, where one flavour cuts".to_owned());
    }
    let means_it = |written: &Pattern| parse(written, &unicode).is_ok_and(|read| read == meant);
    let spellings = spellings(&pattern.source, flavour).into_iter();
    let found = spellings.map(|source| Pattern { source, flavour }).find(means_it);
    found.ok_or_else(|| OTHERWISE.to_owned())
}

/// The spellings to try in another flavour: as it is, or with `\w` and dots that match line ends spelled out.
fn spellings(source: &str, flavour: Flavour) -> Vec<String> {
    let (dots, words): ([&str; 2], &[&str]) = match flavour {
        Flavour::Oniguruma => (["(?s", "(?m"], &[r"\x{200C}\x{200D}"]),
        Flavour::Rust | Flavour::Cutter => (["(?m", "(?s"], &["", "²³¹¼½¾"]),
    };
    let otherwise = words.iter().map(|besides| {
        let class = |not: &str| format!(r"[{not}\p{{Alphabetic}}\p{{M}}\p{{Nd}}\p{{Pc}}{besides}]");
        source.replace(dots[0], dots[1]).replace(r"\w", &class("")).replace(r"\W", &class("^"))
    });
    std::iter::once(source.to_owned()).chain(otherwise).collect()
}

/// The known spelling of a published pattern in Oniguruma.
fn in_oniguruma(pattern: &Pattern) -> Option<&'static str> {
    let is_it = |name: &str| named(name).is_some_and(|stages| stages[0].pattern == *pattern);
    IN_ONIGURUMA.iter().find(|(name, _)| is_it(name)).map(|(_, source)| *source)
}

/// Whether two rows of stages cut alike some texts of boundary cases.
///
/// This is no proof, so nothing that produces ids may depend on it. Cost: some milliseconds.
///
/// ```
/// use bytepair_split::{cuts_alike, named};
///
/// let [gpt2, qwen2, o200k] = ["gpt2", "qwen2", "o200k"].map(|name| named(name).unwrap());
/// assert!(!cuts_alike(&gpt2, &o200k));
/// assert!(cuts_alike(&qwen2, &named("qwen2").unwrap()));
/// ```
pub fn cuts_alike(one: &[Stage], other: &[Stage]) -> bool {
    if one == other {
        return true;
    }
    let unicode = UnicodeTables::latest();
    let compiled = |stages: &[Stage]| Splitter::new(stages.to_vec(), &unicode).ok();
    let Some((one_splitter, other_splitter)) = compiled(one).zip(compiled(other)) else {
        return false;
    };
    let sources = one.iter().chain(other).map(|stage| stage.pattern.source.as_str());
    let texts = boundary_texts(&sources.collect::<String>());
    texts.iter().chain([&texts.concat()]).all(|text| {
        let pieces = |splitter: &Splitter| {
            let pieces = splitter.pieces(text.as_bytes()).ok()?;
            Some(pieces.into_iter().map(<[u8]>::to_vec).collect::<Vec<_>>())
        };
        pieces(&one_splitter).is_some_and(|found| pieces(&other_splitter) == Some(found))
    })
}

fn boundary_texts(source: &str) -> Vec<String> {
    let mut kinds: Vec<char> = KINDS.chars().chain(source.chars()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.truncate(120);
    let common: Vec<char> = COMMON_KINDS.chars().collect();
    let mut texts: Vec<String> = SAMPLES.map(str::to_owned).to_vec();
    for &first in &kinds {
        texts.extend(kinds.iter().map(|&second| String::from_iter([first, second])));
    }
    for &first in &common {
        for &second in &common {
            texts.extend(common.iter().map(|&third| String::from_iter([first, second, third])));
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Unmatched;

    fn translate(source: &str, from: Flavour) -> Result<String, String> {
        let to = if from == Flavour::Rust { Flavour::Oniguruma } else { Flavour::Rust };
        let pattern = Pattern { source: source.to_owned(), flavour: from };
        translated(&pattern, to).map(|pattern| pattern.source)
    }

    fn check_named(names: impl IntoIterator<Item = &'static str>) {
        // A word boundary, a match of the empty text, and the end of a line.
        let without = ["tiny-aya", "superbpe", "deepseek-llm"];
        for name in names {
            let stages = crate::named(name).unwrap();
            let translate = |stage: &Stage| {
                let source = translate(&stage.pattern.source, stage.pattern.flavour)?;
                let flavour = match stage.pattern.flavour {
                    Flavour::Rust => Flavour::Oniguruma,
                    _ => Flavour::Rust,
                };
                Ok(Stage { pattern: Pattern { source, flavour }, ..stage.clone() })
            };
            let all: Result<Vec<_>, String> = stages.iter().map(translate).collect();
            assert_eq!(all.is_ok(), !without.contains(&name), "{name}: {all:?}");
            assert!(all.is_err() || cuts_alike(&stages, &all.unwrap()), "{name}");
        }
    }

    #[test]
    fn the_patterns_of_the_table_cut_alike_in_both_flavours() {
        check_named(IN_ONIGURUMA.map(|(name, _)| name));
        check_named(["deepseek-coder", "tiny-aya", "superbpe"]);
    }

    #[test]
    #[ignore = "slow: all patterns"]
    fn every_named_pattern_has_a_translation() {
        check_named(crate::names());
    }

    #[test]
    fn what_both_flavours_read_alike_stays() {
        for source in [r" ?\p{L}+|\d{1,3}|[^\s\p{L}]++|\s+(?!\S)|\s", r"(?i:'s|'t)|(a|b)", r"\s+\z"]
        {
            for flavour in [Flavour::Rust, Flavour::Oniguruma] {
                assert_eq!(translate(source, flavour).as_deref(), Ok(source));
            }
        }
    }

    #[test]
    fn words_and_dots_are_spelled_in_the_other_flavour_and_cut_alike() {
        for (source, flavour, other) in [
            (r"\w+|[^\w\s]+|\W", Flavour::Rust, Flavour::Oniguruma),
            (r"[абq]+|(?s:.)", Flavour::Rust, Flavour::Oniguruma),
            (r"(?s).+", Flavour::Rust, Flavour::Oniguruma),
            (r" ?\w+|\s", Flavour::Oniguruma, Flavour::Rust),
            (r"(?m:.)", Flavour::Oniguruma, Flavour::Rust),
        ] {
            let written = translate(source, flavour).unwrap();
            assert_ne!(written, source);
            let stages = [(source, flavour), (&written, other)].map(|(source, flavour)| {
                let pattern = Pattern { source: source.to_owned(), flavour };
                [Stage::matches(pattern, Unmatched::Keep)]
            });
            assert!(cuts_alike(&stages[0], &stages[1]), "{source} {written}");
        }
    }

    #[test]
    fn what_they_read_otherwise_is_refused() {
        for source in [
            r"\s+$",
            r"^a",
            r"\d{1,2}+",
            r"\bword\b",
            r"[[:alpha:]]+",
            r"a(?i)b|c",
            r"(?m:^a)",
            r"[a--b]",
            r"a{2}?",
            r"(?=a)|a*",
        ] {
            for flavour in [Flavour::Rust, Flavour::Oniguruma] {
                assert!(translate(source, flavour).is_err(), "{source}");
            }
        }
    }

    #[test]
    fn the_comparison_tells_patterns_apart() {
        for source in [r"\w+", r"\s+$", r"\d{1,2}+"] {
            let stages = [Flavour::Rust, Flavour::Oniguruma].map(|flavour| {
                let pattern = Pattern { source: source.to_owned(), flavour };
                [Stage::matches(pattern, Unmatched::Keep)]
            });
            assert!(!cuts_alike(&stages[0], &stages[1]), "{source}");
        }
    }
}
