//! The merges of vocabularies that do not fit a word each: a hash map by pair, of twice the size.
//!
//! A pair takes one look-up by a hash that nobody knows outside of the process, so merges that were chosen to collide do
//! not. Takes O(1) expected time for a look-up.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use super::layout::ranks;
use super::{Lookup, NO_MERGE, RankedMerge};
use crate::hash::HashKey;
use crate::pair_key::pair_key;
use crate::vocabulary::{TokenId, Vocabulary};

/// Merges by pair, whatever their ids and ranks are.
#[derive(Clone, Debug)]
pub(crate) struct WideMerges {
    by_pair: HashTable<(u64, RankedMerge)>,
    hash_key: HashKey,
}

impl WideMerges {
    /// The merges of a vocabulary. Of two merges of a pair the later one counts.
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        let ranks = ranks(vocabulary);
        let rank_at = |place: u32| ranks.as_ref().map_or(place, |ranks| ranks[place as usize]);
        let hash_key = HashKey::of_process();
        let hash = |key| hash_key.fold(key, 0);
        let mut by_pair = HashTable::with_capacity(vocabulary.merges().len());
        for (place, merge) in (0..).zip(vocabulary.merges()) {
            let key = pair_key(merge.left, merge.right);
            let ranked = RankedMerge { rank: rank_at(place), result: merge.result };
            match by_pair.entry(hash(key), |&(other, _)| other == key, |&(key, _)| hash(key)) {
                Entry::Occupied(mut entry) => entry.get_mut().1 = ranked,
                Entry::Vacant(entry) => drop(entry.insert((key, ranked))),
            }
        }
        Self { by_pair, hash_key }
    }
}

impl Lookup for WideMerges {
    #[inline]
    fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        let key = pair_key(left, right);
        let found = self.by_pair.find(self.hash_key.fold(key, 0), |&(other, _)| other == key);
        found.map_or(NO_MERGE, |&(_, merge)| merge)
    }
}
