//! Encoding with dropout: merges are left out by chance, so that one text has many encodings.
//!
//! ```text
//! put the keys of all pairs that have a merge into a queue: these are the candidates
//! while a candidate is left, the lowest first:
//!     put it aside, with the given probability
//!     else bring back all that were put aside, and merge at its place, if its place still has this key
//! ```
//!
//! This is the rule of the library that reads `tokenizer.json`. So candidates that no longer hold count too, and a merge is
//! lost only when everything is put aside.
//!
//! Source: Provilkov, Emelianenko and Voita, "BPE-Dropout" (2020). Left out: the cache, and whole pieces that
//! are tokens. Takes O(n log n) time for n symbols, times the 1 / (1 - probability) draws of a merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::tree::{Tree, is_merge, place};
use crate::error::{Error, Result};
use crate::hash::fold;
use crate::vocabulary::TokenId;
use crate::vocabulary::merge_table::Merges;

/// Leaves merges out by chance, in a way that the seed decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dropout {
    /// How probable it is that a candidate is put aside: 0 leaves nothing out, 1 every merge.
    pub probability: f64,
    /// Chooses one of the encodings; the same seed gives the same one. Each draw changes it.
    pub seed: u64,
}

impl Dropout {
    /// Refuses a probability that is none.
    ///
    /// # Errors
    /// If it is not a number from 0 to 1.
    pub fn check(&self) -> Result<()> {
        if (0.0..=1.0).contains(&self.probability) {
            return Ok(());
        }
        Err(Error::option("dropout", format!("{} is not from 0 to 1", self.probability)))
    }

    /// Whether the next candidate is put aside.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit exactly")]
    fn draw(&mut self) -> bool {
        self.seed = self.seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let bits = fold(self.seed, self.seed.rotate_left(32)) >> 11;
        (bits as f64) < self.probability * (1_u64 << 53) as f64
    }
}

/// The keys that are those of a merge, the lowest first in a heap.
fn of_merges(keys: &[u64]) -> impl Iterator<Item = Reverse<u64>> {
    keys.iter().copied().filter(|&key| is_merge(key)).map(Reverse)
}

/// Lays the symbols `ids` out in `tree` and merges them, but for what is dropped.
///
/// A candidate is the key of a place. It is stale when the place has another key.
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
