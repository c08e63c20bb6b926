//! Products of letter sets as tables, eight at once.
//!
//! A group of at most eight products has a table for each distance at which one of them looks. The byte of a letter has
//! a bit for each product whose set contains the letter. The bytes that the tables give for the letters around a place,
//! combined with *and*, are not zero where one of the products holds. Letters that no product distinguishes share a
//! number; at most [`MAX_NUMBERS`] numbers are used, which is what one permutation of bytes takes.
//!
//! [`Wide`] has the letters of characters of two and three bytes, by their bytes. A character of two bytes is found in
//! the page of its first byte and the one beside it, by the rest of its code. Of a character of three bytes the
//! first two decide, since most blocks of 64 characters in a row have one letter; any other block has a table of its own
//! for the third byte. Left out: characters of four bytes, and bytes that belong to no character.

use super::letters::{LetterSet, Letters, N_SHOWN, Product};
use crate::program::alphabet::Alphabet;

/// The bytes of a word of bits.
pub(super) const WORD: usize = 64;

/// Edges inside of a text: at each distance of a window, the places from which an edge lies before what is
/// there, and the letter to be shown instead. Nothing is cut at the place itself.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    pub(super) places: [Vec<u64>; N_SHOWN],
    pub(super) edge: u8,
}

/// The letters of ASCII characters, and what any other byte gets.
#[derive(Clone, Debug)]
pub(super) struct AsciiLetters {
    pub(super) letters: [u8; 128],
    pub(super) other: u8,
}

/// Bits for the bytes of a text: those that start characters of several bytes and are not read yet, and those inside
/// of characters that are. The second have one word more.
pub(super) struct Characters<'b> {
    pub(super) leads: &'b mut [u64],
    pub(super) inner: &'b mut [u64],
}

/// Words of bits to be written, those of these numbers.
pub(super) struct Words<'b> {
    pub(super) numbers: &'b [u8],
    pub(super) bits: &'b mut [u64],
}

/// More words than a span has.
pub(super) const MAX_WORDS: usize = 80;

/// The numbers of words: 0, 1, 2 and so on, as many as are needed.
pub(super) fn all_words(n_words: usize) -> &'static [u8] {
    static NUMBERS: [u8; MAX_WORDS] = {
        let mut numbers = [0; MAX_WORDS];
        let mut number = 1;
        while number < MAX_WORDS {
            numbers[number] = numbers[number - 1] + 1;
            number += 1;
        }
        numbers
    };
    &NUMBERS[..n_words]
}

/// The bytes of a span at most.
pub(super) const SPAN: usize = 4096;

pub(super) const MAX_NUMBERS: usize = 64;

/// A byte for each number of a letter.
pub(super) type Table = [u8; MAX_NUMBERS];

/// One distance of a group.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    /// From the first letter shown: 0 is the farthest before the place.
    pub(super) distance: usize,
    pub(super) table: Table,
}

/// Up to eight products; at least one step.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) lookups: Vec<Lookup>,
}

/// Numbers of letters: by letter.
pub(super) struct Numbering {
    pub(super) number_of: Vec<u8>,
    pub(super) n_numbers: usize,
}

impl Numbering {
    /// `None` if there are too many.
    pub(super) fn new(letters: &Letters, products: &[&[Product]]) -> Option<Self> {
        let signature = |letter: usize| {
            let bit = move |set: &LetterSet| set >> letter & 1 == 1;
            products.iter().flat_map(|list| list.iter()).flatten().map(bit).collect::<Vec<_>>()
        };
        let mut known = Vec::new();
        let mut number_of = Vec::new();
        for letter in 0..letters.len() {
            let promised = letters.with_promise(letter, true);
            let key = (signature(letter), promised.map(signature), letters.is_goal(letter));
            let number = known.iter().position(|other| *other == key).unwrap_or(known.len());
            if number == known.len() {
                known.push(key);
            }
            number_of.push(u8::try_from(number).ok()?);
        }
        let n_numbers = known.len();
        (n_numbers <= MAX_NUMBERS).then_some(Self { number_of, n_numbers })
    }

    /// The table with a bit for the letters of each set.
    fn table(&self, sets: impl Iterator<Item = LetterSet>) -> Table {
        let mut table = [0; MAX_NUMBERS];
        for (bit, set) in sets.enumerate() {
            for (letter, &number) in self.number_of.iter().enumerate() {
                table[usize::from(number)] |= u8::from(set >> letter & 1 == 1) << bit;
            }
        }
        table
    }

    /// The group of one set, at the farthest distance.
    pub(super) fn set(&self, set: LetterSet) -> Group {
        Group { lookups: vec![Lookup { distance: 0, table: self.table(std::iter::once(set)) }] }
    }

    /// Groups, one of which holds where one of the products does.
    pub(super) fn groups(&self, products: &[Product]) -> Vec<Group> {
        let all = LetterSet::MAX >> (LetterSet::BITS as usize - self.number_of.len());
        let distances = |product: &Product| {
            let looks = |&distance: &usize| product[distance] & all != all;
            (0..N_SHOWN).filter(looks).fold(0_u8, |bits, distance| bits | 1 << distance)
        };
        let mut products = products.to_vec();
        // The farthest distances are looked at least: products that need them are put together.
        products.sort_by_key(|product| (distances(product).reverse_bits(), *product));
        let groups = products.chunks(8).map(|chunk| {
            let looked_at = chunk.iter().fold(0, |bits, product| bits | distances(product));
            // A product that holds everywhere looks at nothing.
            let looked_at = if looked_at == 0 { 1 } else { looked_at };
            let used = (0..N_SHOWN).filter(|&distance| looked_at >> distance & 1 == 1);
            let step = |distance: usize| Lookup {
                distance,
                table: self.table(chunk.iter().map(|product| product[distance])),
            };
            Group { lookups: used.map(step).collect() }
        });
        groups.collect()
    }
}

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
