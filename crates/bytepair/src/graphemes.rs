//! What a reader sees as one character, and how much room it takes on a terminal.
//!
//! Grapheme clusters are those of UAX #29, widths those of UAX #11 with emoji as two columns. For showing texts; no token
//! depends on it, so the versions of Unicode are those of the libraries. Takes time linear in the text.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

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
