//! Which of many products another one meets.
//!
//! Two products meet where some window is in both, that is where their sets have a letter in common at each
//! distance. So for each distance and letter there is a row with a bit for each of the many: what a set meets at
//! a distance is some rows taken together with *or*, what a product meets those of its distances with *and*.
//!
//! Cost: a bit for each product, distance and letter.

use super::contexts::N_SHOWN;
use super::cover::Product;
use super::letters::{all_letters, members};

/// The many.
pub(super) struct Meetings {
    n_letters: usize,
    n_words: usize,
    /// By distance, letter and word.
    rows: Vec<u64>,
}

/// By word: for each distance, which of the many one product meets there.
pub(super) type Met = Vec<[u64; N_SHOWN]>;

impl Meetings {
    pub(super) fn new(many: impl ExactSizeIterator<Item = Product>, n_letters: usize) -> Self {
        let n_words = many.len().div_ceil(64);
        let mut meetings = Self { n_letters, n_words, rows: Vec::new() };
        let mut rows = vec![0; N_SHOWN * n_letters * n_words];
        let all = all_letters(n_letters);
        for (index, product) in many.enumerate() {
            for (distance, set) in product.into_iter().enumerate() {
                let starts = members(set & all).map(|letter| meetings.start(distance, letter));
                starts.for_each(|start| rows[start + index / 64] |= 1 << (index % 64));
            }
        }
        meetings.rows = rows;
        meetings
    }

    /// What a product meets at each distance.
    pub(super) fn met(&self, product: &Product) -> Met {
        let mut met = vec![[0; N_SHOWN]; self.n_words];
        let all = all_letters(self.n_letters);
        for (distance, &set) in product.iter().enumerate() {
            if set & all == all {
                met.iter_mut().for_each(|met| met[distance] = u64::MAX);
            } else {
                members(set & all).for_each(|letter| self.add(&mut met, distance, letter));
            }
        }
        met
    }

    /// Adds every letter at a distance that makes the product meet nothing new.
    pub(super) fn widen(&self, (product, met): (&mut Product, &mut Met), distance: usize) {
        let elsewhere = |met: &[u64; N_SHOWN]| {
            (0..N_SHOWN).filter(|&at| at != distance).fold(u64::MAX, |all, at| all & met[at])
        };
        let elsewhere: Vec<u64> = met.iter().map(elsewhere).collect();
        for letter in members(all_letters(self.n_letters) & !product[distance]) {
            let row = &self.rows[self.start(distance, letter)..][..self.n_words];
            if row.iter().zip(&elsewhere).all(|(row, elsewhere)| row & elsewhere == 0) {
                product[distance] |= 1 << letter;
                self.add(met, distance, letter);
            }
        }
    }

    fn start(&self, distance: usize, letter: usize) -> usize {
        (distance * self.n_letters + letter) * self.n_words
    }

    fn add(&self, met: &mut Met, distance: usize, letter: usize) {
        let row = &self.rows[self.start(distance, letter)..][..self.n_words];
        met.iter_mut().zip(row).for_each(|(met, row)| met[distance] |= row);
    }
}

/// Whether the product that joins two at each distance meets none of the many.
pub(super) fn meets_none(one: &Met, other: &Met) -> bool {
    let joined = |(one, other): (&[u64; N_SHOWN], &[u64; N_SHOWN])| {
        (0..N_SHOWN).fold(u64::MAX, |all, at| all & (one[at] | other[at]))
    };
    one.iter().zip(other).all(|pair| joined(pair) == 0)
}
