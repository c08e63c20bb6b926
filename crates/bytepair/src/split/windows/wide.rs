//! Letters of characters of two and three bytes, by their first bytes.
//!
//! A character of two bytes is found in the page of its first byte and the one beside it, by the rest of its
//! code. Of a character of three bytes only the first two are looked at, since most blocks of 64 characters
//! in a row are of one class; where they are not, or the bytes are none of a character, the table says so.
//! Left out: characters of four bytes.

use super::super::alphabet::Alphabet;

/// What is not in the tables; no letter has this number.
pub(super) const UNKNOWN: u8 = 0xFF;

/// 128 places by the lowest bit of the first byte and six bits of the second: the letters of the first byte and
/// of those behind it.
#[derive(Clone)]
pub(super) struct Page {
    pub(super) first: [u8; 128],
    pub(super) next: [u8; 128],
}

pub(super) struct Wide {
    /// Characters of two bytes, by the four bits above the lowest of the first byte.
    pub(super) pages: Vec<Page>,
    /// Characters of three bytes, by the three bits above the lowest of the first byte.
    pub(super) blocks: Vec<Page>,
}

impl Wide {
    /// From the letters by class.
    pub(super) fn new(alphabet: &Alphabet, fills: &[[u8; 2]]) -> Self {
        let fill = |code: u32| fills[usize::from(alphabet.class_of(code))];
        let short = |number: usize| match u32::try_from(number) {
            // Below 0x80 the bytes are none of a character.
            Ok(code @ 0x80..) => fill(code),
            _ => [UNKNOWN; 2],
        };
        let long = |number: usize| {
            let start = u32::try_from(number).unwrap_or(0) << 6;
            let is_character = start >= 0x800 && !(0xD800..0xE000).contains(&start);
            let letters = fill(start);
            let is_alike = is_character && (start..start + 64).all(|code| fill(code) == letters);
            if is_alike { letters } else { [UNKNOWN; 2] }
        };
        let page = |letters: &dyn Fn(usize) -> [u8; 2], number: usize| Page {
            first: std::array::from_fn(|index| letters(number * 128 + index)[0]),
            next: std::array::from_fn(|index| letters(number * 128 + index)[1]),
        };
        Self {
            pages: (0..16).map(|number| page(&short, number)).collect(),
            blocks: (0..8).map(|number| page(&long, number)).collect(),
        }
    }
}
