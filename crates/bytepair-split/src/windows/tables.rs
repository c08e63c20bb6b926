//! Products of letter sets as tables, eight at once.
//!
//! A group of at most eight products has a table for each distance at which one of them looks. The byte of a letter has
//! a bit for each product whose set contains the letter. The bytes for the letters around a place, combined with *and*,
//! are not zero if one of the products holds. Letters that no product distinguishes share a number. At most
//! [`MAX_NUMBERS`] numbers are used, in tables of 16. Most patterns have fewer than 16, so one table is enough.
//!
//! [`Wide`] has the letters of characters of two and three bytes. Blocks of 64 characters with the same letters are
//! stored once.
//! Left out: characters of four bytes, and bytes that belong to no character.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::letters::{LetterSet, Letters, N_SHOWN, Product, all_letters};
use crate::program::alphabet::Alphabet;

/// The number of bits in a word, and of the bytes that they stand for.
pub(super) const WORD: usize = 64;

/// Edges inside a text: for each distance of a window, the places whose letter at that distance is cut off by an edge,
/// and the letter to show instead. The letter at the place itself is never cut off.
#[derive(Clone, Debug, Default)]
pub(super) struct Cuts {
    pub(super) places: [Vec<u64>; N_SHOWN],
    pub(super) edge: u8,
}

/// The letters of ASCII characters, and the letter of any other byte.
#[derive(Clone, Debug)]
pub(super) struct AsciiLetters {
    pub(super) letters: [u8; 128],
    pub(super) other: u8,
}

/// Bits for the bytes of a text: those that start characters of several bytes and are not read yet, and those inside
/// characters that are read. The latter have one more word.
pub(super) struct Characters<'b> {
    pub(super) leads: &'b mut [u64],
    pub(super) inner: &'b mut [u64],
}

/// Words of bits to write, by their numbers.
pub(super) struct Words<'b> {
    pub(super) numbers: &'b [u8],
    pub(super) bits: &'b mut [u64],
}

/// An upper bound for the number of words of a span.
const MAX_WORDS: usize = 80;

/// The numbers of words: 0, 1, 2 and so on, as many as needed.
pub(super) fn all_words(n_words: usize) -> &'static [u8] {
    static NUMBERS: LazyLock<[u8; MAX_WORDS]> =
        LazyLock::new(|| std::array::from_fn(|number| u8::try_from(number).unwrap_or(u8::MAX)));
    &NUMBERS[..n_words]
}

/// The most bytes of a span.
pub(super) const SPAN: usize = 4096;

/// The number of letters in two tables.
pub(super) const MAX_NUMBERS: usize = 2 * N_OF_TABLE;

/// The number of letters in a table.
pub(super) const N_OF_TABLE: usize = 16;

/// The bits to flip for a look-up in the second table: letters of that table become its indices, and letters of the
/// first table get the highest bit.
pub(super) const SECOND_TABLE: u8 = 0x90;

/// The byte for a letter with this number.
pub(super) fn letter_with(number: usize) -> u8 {
    let low = u8::try_from(number % N_OF_TABLE).unwrap_or(0);
    if number < N_OF_TABLE { low } else { low | SECOND_TABLE }
}

/// The number of a letter's byte.
#[inline]
pub(super) fn number_of(letter: u8) -> usize {
    usize::from(letter) % MAX_NUMBERS
}

/// A byte for each number of a letter.
pub(super) type Table = [u8; MAX_NUMBERS];

/// One distance of a group.
#[derive(Clone, Debug)]
pub(super) struct Lookup {
    /// The index of the letter in the window: 0 is the farthest before the place.
    pub(super) distance: usize,
    pub(super) table: Table,
}

/// Up to eight products, with at least one lookup.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) lookups: Vec<Lookup>,
    /// Whether letters of the second table may occur.
    pub(super) has_second_table: bool,
}

/// Numbers of letters.
pub(super) struct Numbering {
    /// By letter: its byte.
    pub(super) written: Vec<u8>,
    pub(super) n_numbers: usize,
}

impl Numbering {
    /// Numbers letters, common ones first. `None` if there are too many numbers.
    pub(super) fn new<'p>(
        letters: &Letters,
        products: impl IntoIterator<Item = &'p Vec<Product>>,
        common: LetterSet,
    ) -> Option<Self> {
        let sets: Vec<&LetterSet> = products.into_iter().flatten().flatten().collect();
        let signature =
            |letter: usize| sets.iter().map(|&&set| set >> letter & 1 == 1).collect::<Vec<_>>();
        let mut known = Vec::new();
        let mut written = vec![0; letters.len()];
        let (first, last): (Vec<_>, Vec<_>) =
            (0..letters.len()).partition(|letter| common >> letter & 1 == 1);
        for letter in first.into_iter().chain(last) {
            let promised = letters.with_promise(letter, true);
            let key = (signature(letter), promised.map(signature), letters.is_goal(letter));
            let number = known.iter().position(|other| *other == key).unwrap_or(known.len());
            if number == known.len() {
                known.push(key);
            }
            written[letter] = letter_with(number);
        }
        let n_numbers = known.len();
        (n_numbers <= MAX_NUMBERS).then_some(Self { written, n_numbers })
    }

    /// The table with a bit for the letters of each set.
    fn table(&self, sets: impl Iterator<Item = LetterSet>) -> Table {
        let mut table = [0; MAX_NUMBERS];
        for (bit, set) in sets.enumerate() {
            for (letter, &written) in self.written.iter().enumerate() {
                table[number_of(written)] |= u8::from(set >> letter & 1 == 1) << bit;
            }
        }
        table
    }

    /// The group of one set, at the farthest distance.
    pub(super) fn set(&self, set: LetterSet) -> Group {
        Group {
            lookups: vec![Lookup { distance: 0, table: self.table(std::iter::once(set)) }],
            has_second_table: self.n_numbers > N_OF_TABLE,
        }
    }

    /// Groups, one of which holds wherever one of the products does, for texts that show only these letters.
    pub(super) fn groups(&self, products: &[Product], shown: LetterSet) -> Vec<Group> {
        let all = all_letters(self.written.len());
        let is_second = |(letter, &written): (usize, &u8)| {
            shown >> letter & 1 == 1 && number_of(written) >= N_OF_TABLE
        };
        let has_second_table = self.written.iter().enumerate().any(is_second);
        let distances = |product: &Product| {
            let looks = |&distance: &usize| product[distance] & all != all;
            (0..N_SHOWN).filter(looks).fold(0_u8, |bits, distance| bits | 1 << distance)
        };
        let mut products = products.to_vec();
        // The farthest distances matter least often, so products that need them are grouped together.
        products.sort_by_key(|product| (distances(product).reverse_bits(), *product));
        let groups = products.chunks(8).map(|chunk| {
            let looked_at = chunk.iter().fold(0, |bits, product| bits | distances(product));
            // A product that holds everywhere needs no look-up, but a group has one.
            let looked_at = if looked_at == 0 { 1 } else { looked_at };
            let used = (0..N_SHOWN).filter(|&distance| looked_at >> distance & 1 == 1);
            let step = |distance: usize| Lookup {
                distance,
                table: self.table(chunk.iter().map(|product| product[distance])),
            };
            Group { lookups: used.map(step).collect(), has_second_table }
        });
        groups.collect()
    }
}

/// The letters of 64 characters that differ only in the last six bits.
pub(super) type Block = [u8; BLOCK_LEN];

const BLOCK_LEN: usize = 64;

/// The number of blocks of characters of two bytes, and of three bytes.
const N_SHORT: usize = 0x800 / BLOCK_LEN;
const N_LONG: usize = 0x1_0000 / BLOCK_LEN;

/// The letters of characters of two and three bytes.
pub(super) struct Wide {
    /// For characters of two bytes: by the bits of the first byte.
    short: Box<[Block; N_SHORT]>,
    /// For characters of three bytes: the number of the block, by the bits of the first two bytes.
    long: Box<[u16; N_LONG]>,
    /// All blocks are different.
    blocks: Vec<Block>,
}

impl Wide {
    /// Builds the tables from the letters of classes.
    pub(super) fn new(alphabet: &Alphabet, letter_of: &[u8]) -> Self {
        let block = |number: usize| {
            let first = u32::try_from(number * BLOCK_LEN).unwrap_or(0);
            let classes = alphabet.stored()[alphabet.place_of(first)..].first_chunk();
            classes.unwrap_or(&[0; BLOCK_LEN]).map(|class| letter_of[usize::from(class)])
        };
        let (mut blocks, mut numbers) = (Vec::new(), BTreeMap::new());
        let long = std::array::from_fn(|number| {
            // Smaller numbers are characters of one or two bytes. UTF-16's surrogates are no characters.
            let number = if (0xD800..0xE000).contains(&(number * BLOCK_LEN)) { 0 } else { number };
            let (block, next) = (block(number.max(N_SHORT)), blocks.len());
            let number = *numbers.entry(block).or_insert(next);
            blocks.extend((number == next).then_some(block));
            u16::try_from(number).unwrap_or(0)
        });
        let short = std::array::from_fn(|number| if number < 2 { [0; _] } else { block(number) });
        Self { short: Box::new(short), long: Box::new(long), blocks }
    }

    /// The letter of a character of two bytes.
    #[inline]
    pub(super) fn short(&self, bytes: [u8; 2]) -> u8 {
        let [first, last] = bytes.map(usize::from);
        self.short[first % N_SHORT][last % BLOCK_LEN]
    }

    /// The letter of a character of three bytes.
    #[inline]
    pub(super) fn long(&self, bytes: [u8; 3]) -> u8 {
        let [first, second, last] = bytes.map(usize::from);
        let number = self.long[(first * BLOCK_LEN + second % BLOCK_LEN) % N_LONG];
        self.blocks.get(usize::from(number)).map_or(0, |block| block[last % BLOCK_LEN])
    }
}
