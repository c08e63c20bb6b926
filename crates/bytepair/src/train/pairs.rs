//! The pairs that may be chosen before the next survey, with their counts.
//!
//! A pair gains no occurrence after the merge that made one of its tokens. So one that is below the floor when it
//! comes up need not be kept: it cannot be chosen before the floor falls, and then everything is counted anew.

use crate::pair_map::{PairMap, pair_key, pair_of};
use crate::vocabulary::TokenId;

/// The index of a pair in [`Pairs`].
pub(super) type PairIndex = u32;
/// Stands for a pair that is not kept. No pair has this index.
pub(super) const NO_PAIR: PairIndex = PairIndex::MAX;

/// Counts of pairs, by index and by tokens.
pub(super) struct Pairs {
    by_key: PairMap<PairIndex>,
    entries: Vec<PairEntry>,
}

#[derive(Clone, Copy)]
struct PairEntry {
    key: u64,
    count: i64,
}

impl Pairs {
    /// No pairs, with room for some.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self { by_key: PairMap::with_capacity(capacity), entries: Vec::with_capacity(capacity) }
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The index of a pair.
    #[inline]
    pub(super) fn index(&self, left: TokenId, right: TokenId) -> Option<PairIndex> {
        self.by_key.get(pair_key(left, right))
    }

    /// The two tokens of a pair.
    pub(super) fn tokens(&self, pair: PairIndex) -> (TokenId, TokenId) {
        pair_of(self.entries[pair as usize].key)
    }

    /// How often a pair occurs now.
    pub(super) fn count(&self, pair: PairIndex) -> i64 {
        self.entries[pair as usize].count
    }

    /// All pairs with their counts, in the order in which they came.
    pub(super) fn iter(&self) -> impl Iterator<Item = (TokenId, TokenId, i64)> {
        self.entries.iter().map(|entry| {
            let (left, right) = pair_of(entry.key);
            (left, right, entry.count)
        })
    }

    /// Adds a pair that is not there.
    #[expect(clippy::cast_possible_truncation, reason = "there are fewer pairs than slots")]
    pub(super) fn push(&mut self, left: TokenId, right: TokenId, count: i64) -> PairIndex {
        let key = pair_key(left, right);
        let pair = self.entries.len() as PairIndex;
        self.entries.push(PairEntry { key, count });
        self.by_key.insert(key, pair);
        pair
    }

    /// Adds to the count of a pair, which is put in where it is missing.
    #[inline]
    pub(super) fn add(&mut self, left: TokenId, right: TokenId, count: i64) -> PairIndex {
        let Some(pair) = self.index(left, right) else { return self.push(left, right, count) };
        self.entries[pair as usize].count += count;
        pair
    }

    /// Takes from the count of a pair, if it is there.
    #[inline]
    pub(super) fn decrease(&mut self, left: TokenId, right: TokenId, count: i64) {
        if let Some(pair) = self.index(left, right) {
            self.entries[pair as usize].count -= count;
        }
    }

    /// Looks at the places of some pairs, so that they are at hand when they are looked up one by one.
    pub(super) fn look_at(&self, pairs: impl Iterator<Item = (TokenId, TokenId)>) {
        self.by_key.look_at(pairs.map(|(left, right)| pair_key(left, right)));
    }

    /// Records that a pair was merged.
    pub(super) fn set_merged(&mut self, pair: PairIndex) {
        self.entries[pair as usize].count = 0;
    }
}
