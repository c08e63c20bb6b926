//! Rare pieces left out, with a bound on what that can change.
//!
//! A pair of neighbouring tokens stands where the last byte of the left one is followed by the first byte
//! of the right one, or by the end of the piece where the right one is an end mark. So no pair of tokens,
//! of whatever vocabulary, occurs in the dropped pieces more often than its two bytes stand beside each
//! other there. Takes O(1) for each byte that is dropped and 514 KiB.

use crate::error::{CountProblem, Error, Result};

/// What may follow a byte: another one, or the end of the piece.
const N_NEXT: usize = 257;
/// The end of a piece as something that follows.
const END: usize = 256;

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// The number of distinct pieces.
    pub n_pieces: u64,
    /// How often they occurred, all together.
    pub n_occurrences: i64,
    /// No pair of tokens occurred more often than this in them: the most that one byte stood before
    /// another, or before the end of a piece, each occurrence counted.
    pub bound: i64,
}

/// Decides about pieces and adds up those that are dropped.
pub(super) struct Dropper {
    min_count: i64,
    n_pieces: u64,
    n_occurrences: i64,
    /// By byte and what follows it: how often. Empty before a piece is dropped.
    pairs: Vec<i64>,
}

impl Dropper {
    /// Drops pieces that occur less than `min_count` times.
    pub(super) fn new(min_count: i64) -> Self {
        Self { min_count, n_pieces: 0, n_occurrences: 0, pairs: Vec::new() }
    }

    /// Whether a piece stays; if not, it is added to what was dropped.
    ///
    /// # Errors
    /// Where a pair of bytes, or the dropped pieces together, occur more than 63 bits can say.
    #[inline]
    pub(super) fn keeps(&mut self, piece: &[u8], count: i64) -> Result<bool> {
        if count >= self.min_count {
            return Ok(true);
        }
        self.add_dropped(piece, count)?;
        Ok(false)
    }

    /// Adds a piece to what was dropped.
    pub(super) fn add_dropped(&mut self, piece: &[u8], count: i64) -> Result<()> {
        let added = self.drop(piece, count);
        added.ok_or_else(|| Error::count(piece, CountProblem::LeftOut))
    }

    /// By byte and what follows it: how often.
    pub(super) fn into_neighbours(mut self) -> Vec<i64> {
        self.pairs.resize(256 * N_NEXT, 0);
        self.pairs
    }

    fn drop(&mut self, piece: &[u8], count: i64) -> Option<()> {
        self.pairs.resize(256 * N_NEXT, 0);
        self.n_pieces += 1;
        self.n_occurrences = self.n_occurrences.checked_add(count)?;
        let following = piece.iter().skip(1).map(|&byte| usize::from(byte)).chain([END]);
        for (&byte, next) in piece.iter().zip(following) {
            let pair = &mut self.pairs[usize::from(byte) * N_NEXT + next];
            *pair = pair.checked_add(count)?;
        }
        Some(())
    }

    /// Adds what another one dropped.
    pub(super) fn add(&mut self, other: &Self) -> Result<()> {
        let overflow = || Error::count(b"", CountProblem::LeftOut);
        self.n_pieces += other.n_pieces;
        self.n_occurrences =
            self.n_occurrences.checked_add(other.n_occurrences).ok_or_else(overflow)?;
        self.pairs.resize(self.pairs.len().max(other.pairs.len()), 0);
        for (sum, pair) in self.pairs.iter_mut().zip(&other.pairs) {
            *sum = sum.checked_add(*pair).ok_or_else(overflow)?;
        }
        Ok(())
    }

    pub(super) fn finish(&self) -> Dropped {
        Dropped {
            n_pieces: self.n_pieces,
            n_occurrences: self.n_occurrences,
            bound: self.pairs.iter().copied().max().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::PieceCounts;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The definition: all neighbours of all dropped pieces in a map.
    fn naive(pieces: &BTreeMap<Vec<u8>, i64>, min_count: i64) -> Dropped {
        let mut pairs: BTreeMap<(u8, Option<u8>), i64> = BTreeMap::new();
        let mut dropped = Dropped::default();
        for (piece, count) in pieces.iter().filter(|(_, count)| **count < min_count) {
            dropped.n_pieces += 1;
            dropped.n_occurrences += count;
            for (place, &byte) in piece.iter().enumerate() {
                *pairs.entry((byte, piece.get(place + 1).copied())).or_default() += count;
            }
        }
        dropped.bound = pairs.values().copied().max().unwrap_or(0);
        dropped
    }

    proptest! {
        #[test]
        fn the_bound_is_that_of_the_definition(
            pieces in proptest::collection::btree_map(
                proptest::collection::vec(0..4_u8, 1..12), 1..20_i64, 0..40,
            ),
            min_count in 0..25_i64,
            are_firsts_known: bool,
        ) {
            let mut counts = PieceCounts::new();
            for (offset, (piece, &count)) in (0..).zip(&pieces) {
                let first = super::super::First { source: 0, offset };
                counts.add(piece, count, are_firsts_known.then_some(first)).unwrap();
            }
            let kept: Vec<_> = counts
                .iter()
                .filter(|(_, count, _)| *count >= min_count)
                .map(|(piece, count, first)| (piece.to_vec(), count, first))
                .collect();
            let all = counts.clone();
            prop_assert_eq!(counts.drop_rare(min_count).unwrap(), naive(&pieces, min_count));
            // What is left out is known from its neighbours, in parts that are added up.
            let mut halves = [PieceCounts::new(), PieceCounts::new()];
            for (place, (piece, count, _)) in all.iter().enumerate() {
                let added = if count < min_count { count } else { 0 };
                halves[place % 2].add(piece, added, None).unwrap();
            }
            let [one, two] = halves.map(|half| half.neighbours().unwrap());
            let most = one.iter().zip(&two).map(|(one, two)| one + two).max();
            prop_assert_eq!(most, Some(naive(&pieces, min_count).bound));
            let left: Vec<_> =
                counts.iter().map(|(piece, count, first)| (piece.to_vec(), count, first)).collect();
            prop_assert_eq!(left, kept);
        }
    }

    #[test]
    fn a_dropped_mass_beyond_63_bits_is_an_error() {
        let mut counts = PieceCounts::new();
        for piece in [b"a", b"b", b"c"] {
            counts.add(piece, i64::MAX / 2, None).unwrap();
        }
        assert!(matches!(
            counts.drop_rare(i64::MAX).unwrap_err().kind(),
            crate::error::ErrorKind::Count { .. }
        ));
    }

    #[test]
    fn what_is_dropped_is_forgotten() {
        let mut counts = PieceCounts::new();
        counts.add(b"rare", 1, None).unwrap();
        counts.add(b"often", 3, None).unwrap();
        assert_eq!(counts.drop_rare(2).unwrap().n_pieces, 1);
        counts.add(b"rare", 5, None).unwrap();
        counts.add(b"often", 1, None).unwrap();
        let left: Vec<_> = counts.iter().map(|(piece, count, _)| (piece, count)).collect();
        assert_eq!(left, [(b"often".as_slice(), 4), (b"rare", 5)]);
    }
}
