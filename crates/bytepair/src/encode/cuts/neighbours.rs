//! The neighbours that tokens join to each character: a row of four words by code point.
//!
//! In vocabularies of bytes a token may end in the middle of a character, so it may join the last byte of one, or all of
//! it, to the first byte of another, or to all of it.
//!
//! ```text
//! joins_part(left, right):  right.before has the last byte of left, or left.behind has the first byte of right    exact
//! may_join(left, right):    left.followers has the group of right, one of 64                                      a filter
//! ```
//!
//! Only a pair that passes the filter is looked up in the bitmap of pairs. Takes 2 MiB, made with the pairs. Left out:
//! characters of four bytes, and bytes that are none.

use super::{FRAGMENT, N_CODES, NO_CHARACTER, character, code, continues, last_byte};
use crate::hash::fold;
use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;

/// In place of a code point: all else, and what is no character.
pub(in crate::encode) const OTHER: u32 = N_CODES;

/// What tokens may join to a character.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Neighbours {
    /// A bit for each last byte, less 0x80, of a character that a token may join before it.
    before: u64,
    /// A bit for each first byte, less 0xC0, of a character that a token may join behind it.
    behind: u64,
    /// The groups of those that a token may join behind it as a whole.
    followers: u64,
    /// Its bytes.
    pub(super) code: u32,
    /// The group that it is in.
    group: u8,
    /// Its last byte, less 0x80, and its first, less 0xC0, which 0 never is. What a byte alone is has neither.
    last: u8,
    first: u8,
    is_long: bool,
}

/// The neighbours of all characters, by code point.
#[derive(Debug)]
pub(super) struct NeighbourTable(HugePageRow<Neighbours>);

impl NeighbourTable {
    /// The neighbours in pairs that tokens join. Each side of a pair is a character, or the byte that stands for parts of some.
    pub(super) fn new(pairs: &[(u32, u32)]) -> Self {
        let mut rows = HugePageRow::with_room(OTHER as usize + 1);
        (0..=OTHER).for_each(|code| rows.push(alone(code)));
        // By the byte that stands for parts: what may stand before those that begin with it, or behind those that end so.
        let (mut before, mut behind) = ([0; 256], [0; 256]);
        for &(left, right) in pairs {
            let is_part = |side: u32| side & FRAGMENT == FRAGMENT;
            let byte = |side: u32| (side & 0xFF) as usize;
            match (is_part(left), is_part(right)) {
                (false, false) => rows[place_of(left)].followers |= 1 << group(right),
                (true, false) => rows[place_of(right)].before |= bit(left, 0x80),
                (false, true) => rows[place_of(left)].behind |= bit(right, 0xC0),
                (true, true) => {
                    before[byte(right)] |= bit(left, 0x80);
                    behind[byte(left)] |= bit(right, 0xC0);
                }
            }
        }
        for row in rows.iter_mut().filter(|row| row.is_long) {
            row.before |= before[(row.code & 0xFF) as usize];
            row.behind |= behind[last_byte(row.code) as usize];
        }
        Self(rows)
    }

    /// Fetches the neighbours of a character ahead of their use.
    #[inline]
    pub(super) fn prefetch(&self, code_point: u32) {
        prefetch(&self.0, code_point as usize);
    }

    /// The neighbours of a character.
    #[inline]
    pub(super) fn of(&self, code_point: u32) -> &Neighbours {
        &self.0[code_point.min(OTHER) as usize]
    }

    /// A bit for each of some characters, 63 at most, that may be joined to the one before: in part, and as a whole.
    /// What is said of the first means nothing.
    pub(super) fn joined(&self, code_points: &[u32]) -> [u64; 2] {
        let (mut in_part, mut whole) = (0, 0);
        let mut before = self.of(OTHER);
        for (number, &code_point) in code_points.iter().enumerate() {
            let here = self.of(code_point);
            in_part |= u64::from(before.joins_part(here)) << number;
            whole |= u64::from(before.may_join(here)) << number;
            before = here;
        }
        [in_part, whole]
    }
}

impl Neighbours {
    /// Whether some token joins a part of this character to a part of the next one, or to all of it.
    #[inline]
    pub(super) fn joins_part(&self, next: &Self) -> bool {
        let ends = u64::from(self.is_long) & next.before >> self.last;
        (ends | self.behind >> next.first) & 1 > 0
    }

    /// Whether some token may join all of this character to all of the next one.
    #[inline]
    pub(super) fn may_join(&self, next: &Self) -> bool {
        self.followers >> next.group & 1 > 0
    }
}

/// A character, before anything is known of it.
fn alone(code_point: u32) -> Neighbours {
    let Some(character) = char::from_u32(code_point) else {
        return Neighbours::default();
    };
    let mut bytes = [0; 4];
    let code = code(character.encode_utf8(&mut bytes).as_bytes());
    let is_long = code > 0x7F;
    let first = if is_long { bytes[0] & 0x3F } else { 0 };
    let last = last_byte(code).to_le_bytes()[0] & 0x3F;
    Neighbours { code, group: group(code), last, first, is_long, ..Neighbours::default() }
}

/// The code point of the character at a place, and its length; [`OTHER`] for characters of four bytes and for what is
/// none.
#[inline]
pub(in crate::encode) fn code_point(piece: &[u8], place: usize) -> (u32, usize) {
    // Most are three bytes long, of these most with four to read; without a branch for each of them.
    if let Some(four) = piece.get(place..).and_then(<[u8]>::first_chunk) {
        let four = u32::from_le_bytes(*four);
        let code_point = (four & 0x0F) << 12 | (four >> 8 & 0x3F) << 6 | four >> 16 & 0x3F;
        if four & 0xC0_C0_F0 == 0x80_80_E0 && !matches!(code_point, ..0x800 | 0xD800..0xE000) {
            return (code_point, 3);
        }
    }
    any_code_point(piece, place)
}

/// [`code_point`] of any character.
fn any_code_point(piece: &[u8], place: usize) -> (u32, usize) {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    match piece[place..] {
        [byte @ ..0x80, ..] => (byte.into(), 1),
        [lead @ 0xE0..=0xEF, second, third, ..] if continues(second) && continues(third) => {
            let code_point = u32::from(lead & 0x0F) << 12 | bits(second) << 6 | bits(third);
            // Three bytes that say what two or one say are no character, nor are halves of one.
            (if matches!(code_point, ..0x800 | 0xD800..0xE000) { OTHER } else { code_point }, 3)
        }
        [lead @ 0xC2..=0xDF, second, ..] if continues(second) => {
            (u32::from(lead & 0x1F) << 6 | bits(second), 2)
        }
        _ => (OTHER, character(piece, place).1),
    }
}

/// The code point of a character, by its bytes.
fn place_of(code: u32) -> usize {
    match code {
        NO_CHARACTER => OTHER as usize,
        _ => code_point(&code.to_le_bytes(), 0).0 as usize,
    }
}

/// The bit of a byte that stands for parts of characters; none where no whole character ends, or begins, with it.
fn bit(side: u32, base: u32) -> u64 {
    let bit = (side & 0xFF).checked_sub(base).and_then(|bit| 1_u64.checked_shl(bit));
    // No character begins with 0xC0, whose bit is that of bytes alone.
    bit.filter(|&bit| base != 0xC0 || bit > 1).unwrap_or(0)
}

fn group(code: u32) -> u8 {
    (fold(code.into(), 0) >> 58) as u8
}
