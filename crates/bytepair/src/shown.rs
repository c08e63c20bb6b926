//! Text as a reader sees it: bytes in messages, and characters with the room that they take on a terminal.
//!
//! Grapheme clusters are those of UAX #29, widths those of UAX #11 with emoji as two columns. No token depends on them, so
//! the versions of Unicode are those of the libraries. Takes time linear in the text.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Bytes as two hexadecimal digits each.
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(value.into(), 16).unwrap_or_default();
    bytes.iter().flat_map(|&byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A text as messages quote it, long ones cut.
pub fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}

/// The graphemes of a text: where each ends, in bytes, and its columns. Each byte that is not UTF-8 is one of its own,
/// without any.
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
