//! How a merge is packed into one word, and which ranks merges have.
//!
//! A word is the two parts and a value, which orders merges as their ranks do and says what they make. Left out:
//! vocabularies whose merges need more than 64 bits, for which there is none.

use std::borrow::Cow;

use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// How a merge is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Bits of an id. No id has all of them.
    pub(super) id_bits: u32,
    /// Bits of a value, at most 31.
    pub(super) value_bits: u32,
    /// How far a value is shifted to give its result, of so many bits.
    result_shift: u32,
    /// Whether a value is the result and the number of the merge among those that make it; else it is the rank
    /// and the result.
    pub(super) is_by_result: bool,
}

impl Layout {
    /// Ids in the order of ranks: every merge makes the token of the merge before, or one of a higher id.
    pub(super) fn by_result(vocabulary: &Vocabulary) -> Option<Self> {
        if !vocabulary.priorities().is_empty() {
            return None;
        }
        if !vocabulary.merges().is_sorted_by_key(|merge| merge.result) {
            return None;
        }
        let most = numbered(vocabulary.merges()).map(|(_, n_same)| n_same).max().unwrap_or(0);
        let (id_bits, result_shift) = (id_bits(vocabulary), bits(most as usize));
        let layout =
            Self { id_bits, value_bits: id_bits + result_shift, result_shift, is_by_result: true };
        layout.fits().then_some(layout)
    }

    /// Any order, where the rank and the result fit side by side, and all merges of a rank make the same.
    pub(super) fn by_rank(vocabulary: &Vocabulary) -> Option<Self> {
        let id_bits = id_bits(vocabulary);
        let value_bits = id_bits + bits(vocabulary.merges().len());
        let layout = Self { id_bits, value_bits, result_shift: 0, is_by_result: false };
        (layout.fits() && has_one_result_for_each_rank(vocabulary)).then_some(layout)
    }

    /// The layout of a table that a file holds, for ids below `n_ids`: by so many bits for merges that make the same
    /// token, or by rank.
    pub(super) fn stored(n_ids: usize, n_merges: usize, result_shift: Option<u32>) -> Option<Self> {
        let id_bits = bits(n_ids);
        let value_bits = id_bits.checked_add(result_shift.unwrap_or(bits(n_merges)))?;
        let is_by_result = result_shift.is_some();
        let result_shift = result_shift.unwrap_or(0);
        let layout = Self { id_bits, value_bits, result_shift, is_by_result };
        layout.fits().then_some(layout)
    }

    /// The argument of [`Self::stored`] that gives this layout.
    pub(super) fn stored_shift(self) -> Option<u32> {
        self.is_by_result.then_some(self.result_shift)
    }

    /// The merge of a slot's bits, and its value.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a value has 31 bits, and so has an id")]
    pub(super) fn unpacked(self, bits: u64) -> (Merge, u32) {
        let value = (bits & ((1 << self.value_bits) - 1)) as u32;
        let key = bits >> self.value_bits;
        let (left, right) = (key >> self.id_bits, key & ((1 << self.id_bits) - 1));
        // What lies above the bits of an id makes one that is too large for any vocabulary.
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        (Merge { left, right: right as u32, result: self.result(value) }, value)
    }

    fn fits(self) -> bool {
        self.value_bits <= 31 && 2 * self.id_bits + self.value_bits <= 64
    }

    #[inline]
    pub(super) fn key(self, left: TokenId, right: TokenId) -> u64 {
        u64::from(left) << self.id_bits | u64::from(right)
    }

    #[inline]
    pub(super) fn value(self, rank: u32, n_same: u32, result: TokenId) -> u32 {
        match self.is_by_result {
            true => result << self.result_shift | n_same,
            false => rank << self.id_bits | result,
        }
    }

    #[inline]
    pub(super) fn place(self, value: u32, first_places: &[u32]) -> u32 {
        match self.is_by_result {
            true => {
                let first = first_places.get(self.result(value) as usize);
                first.map_or(0, |first| first + (value & ((1 << self.result_shift) - 1)))
            }
            false => value >> self.id_bits,
        }
    }

    #[inline]
    pub(super) fn result(self, value: u32) -> TokenId {
        value >> self.result_shift & ((1 << self.id_bits) - 1)
    }
}

/// Each merge, and how many right before it make the same token.
pub(super) fn numbered(merges: &[Merge]) -> impl Iterator<Item = (Merge, u32)> {
    let (mut last, mut n_same) = (None, 0);
    merges.iter().map(move |&merge| {
        n_same = if last == Some(merge.result) { n_same + 1 } else { 0 };
        last = Some(merge.result);
        (merge, n_same)
    })
}

/// Bits of an id, so that none has all of them.
fn id_bits(vocabulary: &Vocabulary) -> u32 {
    let largest = |merge: &Merge| merge.left.max(merge.right).max(merge.result) as usize + 1;
    let n_ids = vocabulary.merges().iter().map(largest).max().unwrap_or(0);
    bits(n_ids.max(vocabulary.len()))
}

/// Bits that numbers up to this one need.
fn bits(largest: usize) -> u32 {
    largest.checked_ilog2().map_or(0, |bits| bits + 1)
}

/// Whether merges that share a rank make the same token.
fn has_one_result_for_each_rank(vocabulary: &Vocabulary) -> bool {
    let Some(ranks) = ranks(vocabulary) else { return true };
    let mut results = vec![None; ranks.len()];
    ranks
        .iter()
        .zip(vocabulary.merges())
        .all(|(&rank, merge)| *results[rank as usize].get_or_insert(merge.result) == merge.result)
}

/// By place: the ranks of merges that have priorities, all less than their number.
///
/// Merges of one priority have one rank. The order of ranks is that of the priorities.
pub(super) fn ranks(vocabulary: &Vocabulary) -> Option<Cow<'_, [u32]>> {
    let priorities = vocabulary.priorities();
    if priorities.is_empty() {
        return None;
    }
    if priorities.iter().all(|&priority| (priority as usize) < priorities.len()) {
        return Some(Cow::Borrowed(priorities));
    }
    let mut distinct = priorities.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let rank = |priority| distinct.partition_point(|&other| other < priority);
    let ranks = priorities.iter().map(|&priority| u32::try_from(rank(priority)).unwrap_or(0));
    Some(ranks.collect())
}
