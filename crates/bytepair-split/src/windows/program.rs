//! Products of letter sets as tables, eight at once.
//!
//! A group of at most eight products has a table for each distance that one of them looks at: a letter's
//! byte has a bit for each product whose set it is in. The tables' bytes around a place, taken together with
//! *and*, are other than zero where one of the products holds. Letters that no product tells apart share a
//! number, and no more than [`MAX_NUMBERS`] numbers are used, which is what one permutation of bytes takes.

use super::contexts::N_SHOWN;
use super::cover::Product;
use super::letters::{LetterSet, Letters};

pub(super) const MAX_NUMBERS: usize = 64;

/// A byte for each number of a letter.
pub(super) type Table = [u8; MAX_NUMBERS];

/// One distance of a group.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// From the first letter shown: 0 is the farthest before the place.
    pub(super) distance: usize,
    pub(super) table: Table,
}

/// Up to eight products; at least one step.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) steps: Vec<Step>,
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
        Group { steps: vec![Step { distance: 0, table: self.table(std::iter::once(set)) }] }
    }

    /// Groups of which one holds where one of the products does.
    pub(super) fn groups(&self, products: &[Product]) -> Vec<Group> {
        let all = LetterSet::MAX >> (LetterSet::BITS as usize - self.number_of.len());
        let distances = |product: &Product| {
            let looks = |&distance: &usize| product[distance] & all != all;
            (0..N_SHOWN).filter(looks).fold(0_u8, |bits, distance| bits | 1 << distance)
        };
        let mut products = products.to_vec();
        // The farthest distances are looked at least: what needs them stands together.
        products.sort_by_key(|product| (distances(product).reverse_bits(), *product));
        let groups = products.chunks(8).map(|chunk| {
            let looked_at = chunk.iter().fold(0, |bits, product| bits | distances(product));
            // A product that holds everywhere looks at nothing.
            let looked_at = if looked_at == 0 { 1 } else { looked_at };
            let used = (0..N_SHOWN).filter(|&distance| looked_at >> distance & 1 == 1);
            let step = |distance: usize| Step {
                distance,
                table: self.table(chunk.iter().map(|product| product[distance])),
            };
            Group { steps: used.map(step).collect() }
        });
        groups.collect()
    }
}
