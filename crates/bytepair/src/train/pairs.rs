//! Every pair of neighbouring tokens: its count, and where it may occur.
//!
//! The slots where a pair occurs are a slice of one arena, in ascending order. A merge makes some of
//! them stale; they are skipped when they are met, never searched for. So keeping the index up to date
//! costs a hash look-up for each distinct neighbour of a merge, not for each occurrence.

use super::words::Words;
use crate::pair_map::{PairMap, pair_key, pair_of};
use crate::slots::BARRIER;
use crate::vocabulary::TokenId;

/// The index of a pair in [`Pairs`].
pub(super) type PairIndex = u32;

/// All pairs that occur or have occurred.
pub(super) struct Pairs {
    by_key: PairMap<PairIndex>,
    entries: Vec<PairEntry>,
    /// Slots at which pairs begin; each pair owns a slice.
    arena: Vec<u32>,
}

#[derive(Clone, Copy)]
struct PairEntry {
    key: u64,
    count: i64,
    /// The slice of the arena.
    start: usize,
    len: usize,
}

impl Pairs {
    /// Indexes the pairs of the initial segmentation.
    pub(super) fn new(words: &Words) -> Self {
        let mut pairs = Self {
            by_key: PairMap::with_capacity(1 << 12),
            entries: Vec::new(),
            arena: Vec::new(),
        };
        let neighbours =
            (1..words.len()).map(|slot| (words.token_at(slot - 1), words.token_at(slot)));
        // Initially every token covers one slot.
        let pair_of_slot: Vec<PairIndex> = neighbours
            .zip(0..)
            .map(|((left, right), slot)| match left == BARRIER || right == BARRIER {
                true => NO_PAIR,
                false => pairs.count_one(pair_key(left, right), words.weight_at(slot)),
            })
            .collect();
        pairs.lay_out();
        for (slot, &pair) in (0..).zip(&pair_of_slot).filter(|&(_, &pair)| pair != NO_PAIR) {
            pairs.append(pair, slot);
        }
        pairs
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The two tokens of a pair.
    pub(super) fn tokens(&self, pair: PairIndex) -> (TokenId, TokenId) {
        pair_of(self.entries[pair as usize].key)
    }

    /// How often a pair occurs now.
    pub(super) fn count(&self, pair: PairIndex) -> i64 {
        self.entries[pair as usize].count
    }

    /// The slots where a pair may begin, in ascending order.
    pub(super) fn slots(&self, pair: PairIndex) -> &[u32] {
        let entry = self.entries[pair as usize];
        &self.arena[entry.start..entry.start + entry.len]
    }

    /// The first slot where a pair does begin. Forgets the stale ones before it.
    pub(super) fn first_slot(&mut self, pair: PairIndex, words: &Words) -> Option<u32> {
        let (left, right) = self.tokens(pair);
        let n_stale = self
            .slots(pair)
            .iter()
            .take_while(|&&slot| !words.has_pair(slot as usize, left, right))
            .count();
        let entry = &mut self.entries[pair as usize];
        entry.start += n_stale;
        entry.len -= n_stale;
        self.slots(pair).first().copied()
    }

    /// Takes `weight` off the count of a pair, if it is known.
    pub(super) fn decrease(&mut self, left: TokenId, right: TokenId, weight: i64) {
        if let Some(pair) = self.by_key.get(pair_key(left, right)) {
            self.entries[pair as usize].count -= weight;
        }
    }

    /// Empties a pair that has been merged.
    pub(super) fn clear(&mut self, pair: PairIndex) {
        let entry = &mut self.entries[pair as usize];
        (entry.count, entry.len) = (0, 0);
    }

    /// Adds a new pair that will get `n_slots` slots by [`Pairs::append`].
    pub(super) fn create(
        &mut self,
        left: TokenId,
        right: TokenId,
        count: i64,
        n_slots: usize,
    ) -> PairIndex {
        let key = pair_key(left, right);
        let pair = self.push_entry(PairEntry { key, count, start: self.arena.len(), len: 0 });
        self.arena.resize(self.arena.len() + n_slots, 0);
        pair
    }

    /// Appends a slot to a pair for which room was made.
    pub(super) fn append(&mut self, pair: PairIndex, slot: u32) {
        let entry = &mut self.entries[pair as usize];
        self.arena[entry.start + entry.len] = slot;
        entry.len += 1;
    }

    /// Counts one initial occurrence; its slot follows after [`Pairs::lay_out`].
    fn count_one(&mut self, key: u64, weight: i64) -> PairIndex {
        let pair = self
            .by_key
            .get(key)
            .unwrap_or_else(|| self.push_entry(PairEntry { key, count: 0, start: 0, len: 0 }));
        let entry = &mut self.entries[pair as usize];
        entry.count += weight;
        entry.len += 1;
        pair
    }

    /// Gives each pair a slice as long as it has occurrences, and empties it.
    fn lay_out(&mut self) {
        let mut end = 0;
        for entry in &mut self.entries {
            entry.start = end;
            end += std::mem::take(&mut entry.len);
        }
        self.arena.resize(end, 0);
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "every pair has a slot of its own, and slots fit 32 bits"
    )]
    fn push_entry(&mut self, entry: PairEntry) -> PairIndex {
        let pair = self.entries.len() as PairIndex;
        self.entries.push(entry);
        self.by_key.insert(entry.key, pair);
        pair
    }
}

const NO_PAIR: PairIndex = PairIndex::MAX;
