//! Encoding with dropout: merges are left out at random, so that one text has many encodings.
//!
//! ```text
//! put the keys of all pairs that have a merge into a queue: these are the candidates
//! while a candidate is left, take the lowest:
//!     with the given probability, put it aside
//!     else put all that were put aside back into the queue, and merge at its place, if the place still has this key
//! ```
//!
//! This is the rule of the library that reads `tokenizer.json`. So stale candidates count too, and a merge is lost only
//! if all candidates are put aside.
//!
//! Source: Provilkov, Emelianenko and Voita, "BPE-Dropout" (2020). Left out: the cache, and whole pieces that are
//! tokens. Takes O(n log n) time for n symbols, times the 1 / (1 - probability) draws of a merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::tree::{Tree, is_merge, place};
use crate::error::{Error, Result};
use crate::hash::random_part;
use crate::vocabulary::TokenId;
use crate::vocabulary::merge_table::Merges;

/// Leaves merges out at random. The seed determines which.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// The probability that a candidate is put aside: 0 leaves no merge out, 1 every merge.
    pub probability: f64,
    /// Chooses one of the encodings; the same seed gives the same one. Each draw changes it.
    pub seed: u64,
}

impl Dropout {
    /// Rejects an invalid probability.
    ///
    /// # Errors
    /// If the probability is not a number from 0 to 1.
    pub fn check(&self) -> Result<()> {
        if (0.0..=1.0).contains(&self.probability) {
            return Ok(());
        }
        Err(Error::option("dropout", format!("{} is not from 0 to 1", self.probability)))
    }

    /// Draws whether the next candidate is put aside.
    fn draw(&mut self) -> bool {
        random_part(&mut self.seed) < self.probability
    }
}

/// The keys of merges, reversed so that the lowest comes first in a heap.
fn of_merges(keys: &[u64]) -> impl Iterator<Item = Reverse<u64>> {
    keys.iter().copied().filter(|&key| is_merge(key)).map(Reverse)
}

/// Lays the symbols `ids` out in `tree` and merges them, except for merges that are dropped.
///
/// A candidate is the key of a place. It is stale if the place has another key now.
pub(in crate::encode) fn merge(
    merges: &Merges,
    ids: &[TokenId],
    dropping: &mut Dropout,
    tree: &mut Tree,
) -> Result<()> {
    tree.lay_out(merges, ids)?;
    let mut candidates: BinaryHeap<_> = of_merges(tree.keys()).collect();
    let mut aside = Vec::new();
    while let Some(Reverse(candidate)) = candidates.pop() {
        if dropping.draw() {
            aside.push(Reverse(candidate));
            continue;
        }
        candidates.extend(aside.drain(..));
        if tree.keys()[place(candidate) as usize] == candidate {
            let new = tree.merge_at(merges, place(candidate));
            candidates.extend(of_merges(&new));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_as_frequent_as_they_are_probable() {
        for probability in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let mut dropping = Dropout { probability, seed: 7 };
            let n_drawn = (0..100_000).filter(|_| dropping.draw()).count();
            let expected = probability * 100_000.0;
            let tolerance = if [0.0, 1.0].contains(&probability) { 0.5 } else { 800.0 };
            assert!((f64::from(u32::try_from(n_drawn).unwrap()) - expected).abs() < tolerance);
        }
    }

    #[test]
    fn a_probability_is_from_0_to_1() {
        for (probability, is_one) in
            [(0.0, true), (1.0, true), (0.3, true), (-0.1, false), (1.5, false), (f64::NAN, false)]
        {
            assert_eq!(Dropout { probability, seed: 0 }.check().is_ok(), is_one, "{probability}");
        }
    }
}
