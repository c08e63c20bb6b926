//! Letters of characters of two and three bytes, by their bytes.
//!
//! A character of two bytes is found in the page of its first byte and the one beside it, by the rest of its
//! code. Of a character of three bytes the first two are looked at, since most blocks of 64 characters in a row
//! are of one letter. A block that is not has a table of its own, for the third byte. Left out: characters of
//! four bytes, and bytes that are none of a character.

use super::super::alphabet::Alphabet;
use super::kernels::WORD;

/// What is not in the tables; no letter has this number.
pub(super) const UNKNOWN: u8 = 0xFF;

/// 128 places by the lowest bit of the first byte and six bits of the second.
pub(super) type Page = [u8; PAGE];

const PAGE: usize = 128;

/// By six bits of the third byte.
pub(super) type Block = [u8; 64];

pub(super) struct Wide {
    /// Characters of two bytes, by the four bits above the lowest of the first byte.
    pub(super) pages: Box<[Page; 16]>,
    /// Blocks of characters of three bytes, by the three bits above the lowest of the first byte.
    pub(super) blocks: Box<[Page; 8]>,
    /// Blocks that are not of one letter.
    pub(super) mixed: Vec<Block>,
    /// Where in `mixed`, by the number of the block; past its end if it is not there.
    pub(super) mixed_at: Box<[u16; 1024]>,
}

impl Wide {
    /// From the letters by class.
    pub(super) fn new(alphabet: &Alphabet, letter_of: &[u8]) -> Self {
        let letters: Vec<u8> =
            alphabet.stored().iter().map(|&class| letter_of[usize::from(class)]).collect();
        let short = |number: usize| match u32::try_from(number) {
            // Below 0x80 the bytes are none of a character.
            Ok(code @ 0x80..) => letters[alphabet.place_of(code)],
            _ => UNKNOWN,
        };
        let mut wide = Self {
            pages: Box::new(std::array::from_fn(|page| {
                std::array::from_fn(|index| short(page * PAGE + index))
            })),
            blocks: Box::new([[UNKNOWN; PAGE]; 8]),
            mixed: Vec::new(),
            mixed_at: Box::new([u16::MAX; 1024]),
        };
        for (number, start) in (0..0x1_0000).step_by(64).enumerate() {
            let is_character = start >= 0x800 && !(0xD800..0xE000).contains(&start);
            let block = letters[alphabet.place_of(start)..].first_chunk::<64>();
            let Some(block) = block.filter(|_| is_character) else { continue };
            if block.iter().all(|&letter| letter == block[0]) {
                wide.blocks[number / PAGE][number % PAGE] = block[0];
            } else {
                wide.mixed_at[number] = u16::try_from(wide.mixed.len()).unwrap_or(u16::MAX);
                wide.mixed.push(*block);
            }
        }
        wide
    }

    /// Writes the letters of the characters whose first bytes are marked in a word, as far as they are in the
    /// tables; returns the marks of the others, and the bytes inside of these characters in this word and the next.
    #[inline]
    pub(super) fn read_each(&self, text: &[u8], leads: u64, letters: &mut [u8]) -> [u64; 3] {
        let (mut others, mut here, mut next) = (0, 0, 0);
        let mut left = leads;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let read = text.get(bit..).and_then(|rest| rest.first_chunk());
            let Some((letter, length)) = read.and_then(|&bytes| self.read(bytes)) else {
                others |= 1 << bit;
                continue;
            };
            letters[bit] = letter;
            let behind = length * 2 - 3;
            here |= behind << bit << 1;
            next |= behind >> (WORD - 1 - bit);
        }
        [others, here, next]
    }

    /// The letter of the character that begins here, and its length, if it is in the tables.
    #[inline]
    fn read(&self, bytes: [u8; 4]) -> Option<(u8, u64)> {
        let word = u32::from_be_bytes(bytes);
        if word & 0xF0C0_C000 == 0xE080_8000 {
            let number = (word >> 18 & 0x03C0 | word >> 16 & 0x003F) as usize;
            let letter = self.blocks[number / PAGE][number % PAGE];
            if letter != UNKNOWN {
                return Some((letter, 3));
            }
            let block = self.mixed.get(usize::from(self.mixed_at[number]))?;
            return Some((block[usize::from(bytes[2] & 0x3F)], 3));
        }
        let number = (word >> 18 & 0x07C0 | word >> 16 & 0x003F) as usize;
        let is_short = word & 0xE0C0_0000 == 0xC080_0000;
        let letter = if is_short { self.pages[number / PAGE][number % PAGE] } else { UNKNOWN };
        (letter != UNKNOWN).then_some((letter, 2))
    }
}
