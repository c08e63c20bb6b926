//! The characters that cutters of Hugging Face `tokenizers` 0.23 look for, as classes of a pattern.
//!
//! `Digits`, `Punctuation` and `BertPreTokenizer` use libraries with other versions of Unicode than
//! the engines of patterns do (16.0.0). So a class names the property of 16.0.0 and what differs from it.
//! The classes are read alike in both flavours. Each was compared with the library on every code point.

use super::{TextClass, UnicodeTables};

/// A class of characters that a published cutter looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PublishedClass {
    /// What `Digits` cuts at.
    Digits,
    /// What `Punctuation` and `BertPreTokenizer` cut at.
    Punctuation,
    /// White space, for `WhitespaceSplit`, `BertPreTokenizer` and, in `\s`, `Whitespace`.
    White,
}

/// ASCII characters that count as punctuation beside those of the general category.
const ASCII_SYMBOLS: &str = r"\$\+<=>\^`\|~";

/// The class as a pattern: one pair of brackets that matches one character, in both flavours.
///
/// ```
/// use bytepair_split::unicode::{PublishedClass, published_class};
///
/// assert_eq!(published_class(PublishedClass::White), r"[\p{White_Space}]");
/// ```
pub fn published_class(class: PublishedClass) -> String {
    match class {
        PublishedClass::Digits => with_changes(r"\p{N}", TextClass::Numeric),
        PublishedClass::Punctuation => {
            with_changes(&format!(r"\p{{P}}{ASCII_SYMBOLS}"), TextClass::Punctuation)
        }
        PublishedClass::White => r"[\p{White_Space}]".to_owned(),
    }
}

fn with_changes(base: &str, class: TextClass) -> String {
    let words = UnicodeTables::hugging_face().changes(class).split(' ');
    let (mut added, mut removed) = (String::new(), String::new());
    for word in words {
        let place = if word.starts_with('+') { &mut added } else { &mut removed };
        let ends = word.get(1..).unwrap_or_default().split('-');
        let escapes: Vec<_> = ends.map(|end| format!(r"\x{{{end}}}")).collect();
        place.push_str(&escapes.join("-"));
    }
    match removed.is_empty() {
        true => format!("[{base}{added}]"),
        false => format!("[{base}{added}&&[^{removed}]]"),
    }
}
