//! A part of a text between added tokens, and the characters at its ends. Also text for display: bytes in messages,
//! and characters with their width on a terminal.
//!
//! Grapheme clusters are those of UAX #29, widths those of UAX #11 with emoji as two columns. No token depends on them, so
//! the versions of Unicode are those of the libraries. Takes time linear in the text.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A part of a text between added tokens: what normalizers and splitters receive.
///
/// Rules about the start of a text (such as putting a space before it) depend on whether the segment is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment<'t> {
    /// The bytes, UTF-8 or not.
    pub text: &'t [u8],
    /// Whether nothing precedes it in the whole text.
    pub is_first: bool,
    /// Whether nothing follows it in the whole text, or an added token follows that was found in the original text.
    pub is_last: bool,
    /// Whether it follows a cut inside such a part, at which nothing changes, and so is not its beginning.
    pub is_rest: bool,
}

impl<'t> Segment<'t> {
    /// A whole text.
    pub fn whole(text: &'t [u8]) -> Self {
        Self { text, is_first: true, is_last: true, is_rest: false }
    }

    /// A part of it.
    #[must_use]
    pub fn part(self, range: Range<usize>) -> Self {
        let is_begun = range.start > 0;
        Self {
            is_first: self.is_first && !is_begun,
            is_last: self.is_last && range.end == self.text.len(),
            is_rest: self.is_rest && !is_begun,
            text: &self.text[range],
        }
    }

    /// A part that ends at an added token, or where this segment ends.
    #[must_use]
    pub fn between(self, range: Range<usize>) -> Self {
        let is_last = self.is_last || range.end < self.text.len();
        Self { is_last, ..self.part(range) }
    }

    /// The rest after a cut that changes nothing.
    #[must_use]
    pub fn rest(self, cut: usize) -> Self {
        let is_rest = self.is_rest || cut > 0;
        Self { is_rest, ..self.part(cut..self.text.len()) }
    }

    /// A part of a text that neither begins nor ends it.
    pub fn inner(text: &'t [u8]) -> Self {
        Self { text, is_first: false, is_last: false, is_rest: false }
    }
}

/// The first character, if the text begins with one.
pub(crate) fn first_character(text: &[u8]) -> Option<char> {
    let start = &text[..text.len().min(4)];
    start.utf8_chunks().next()?.valid().chars().next()
}

/// The last character, if the text ends with one.
pub(crate) fn last_character(text: &[u8]) -> Option<char> {
    let lens = 1..=text.len().min(4);
    let mut ends = lens.map(|len| &text[text.len() - len..]);
    ends.find_map(|end| std::str::from_utf8(end).ok())?.chars().next()
}

/// Bytes as two hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A text as messages quote it; long ones are shortened.
pub fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The graphemes of a text: the end of each, in bytes, and its columns. Each byte that is not UTF-8 is a grapheme of
/// its own with no columns.
///
/// ```
/// use bytepair::graphemes;
/// assert_eq!(graphemes("ae\u{301}中".as_bytes()), [(1, 1), (4, 1), (7, 2)]);
/// assert_eq!(graphemes(b"a\xFF\xE4\xB8"), [(1, 1), (2, 0), (3, 0), (4, 0)]);
/// ```
pub fn graphemes(text: &[u8]) -> Vec<(usize, usize)> {
    let (mut found, mut start) = (Vec::new(), 0);
    for chunk in text.utf8_chunks() {
        let valid = chunk.valid();
        let ends = |(place, grapheme): (usize, &str)| {
            (start + place + grapheme.len(), UnicodeWidthStr::width(grapheme))
        };
        found.extend(valid.grapheme_indices(true).map(ends));
        start += valid.len();
        found.extend((start + 1..=start + chunk.invalid().len()).map(|end| (end, 0)));
        start += chunk.invalid().len();
    }
    found
}
