//! The merges of a vocabulary by pair: the table in which every encoder looks up pairs.
//!
//! Most vocabularies fit a table with one word for each slot (`packed`), which files can hold as it is (`stored`).
//! Others have a hash map of twice the size ([`WideMerges`]): those of more than some 30,000 tokens whose ids are not
//! in the order of their ranks, and those in which merges of different tokens share a priority.
//!
//! A look-up takes O(1) expected time. The hash map has a key that is unknown outside of the process, so that merges
//! that were chosen to collide do not.

mod packed;
mod stored;

pub use self::packed::PackedMerges;
pub use self::stored::Description;

use std::sync::{Arc, OnceLock};

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use self::packed::ranks;
use crate::hash::HashKey;
use crate::hash::pair_key;
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// The merges by pair, in one of two forms.
#[derive(Clone, Debug)]
pub(crate) enum Merges {
    Packed(Arc<PackedMerges>),
    Wide(Arc<WideMerges>),
}

/// A merge as the encoder looks it up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RankedMerge {
    /// Ordered as the ranks of merges are: less, equal or greater if the ranks are.
    pub(crate) rank: u32,
    pub(crate) result: TokenId,
}

/// An absent merge: no rank is higher. Its result means nothing.
pub(crate) const NO_MERGE: RankedMerge = RankedMerge { rank: u32::MAX, result: 0 };

/// A table for look-up of pairs.
pub(crate) trait Lookup {
    /// The merge of a pair, or [`NO_MERGE`].
    fn get(&self, left: TokenId, right: TokenId) -> RankedMerge;

    /// The merge of a pair, or [`NO_MERGE`]; faster than [`Self::get`] if one of the ids is not small.
    fn get_large(&self, left: TokenId, right: TokenId) -> RankedMerge {
        self.get(left, right)
    }

    /// Prefetches what [`Self::get_large`] reads for a pair.
    fn prefetch(&self, _left: TokenId, _right: TokenId) {}
}

impl RankedMerge {
    /// Whether this is a merge.
    #[inline]
    pub(crate) fn exists(self) -> bool {
        self.rank != NO_MERGE.rank
    }
}

impl Merges {
    /// The table that the vocabulary was read with, or one that is built from its merges.
    pub(crate) fn new(vocabulary: &Vocabulary) -> Self {
        let packed = vocabulary.merge_table().map(Arc::clone);
        let packed = packed.or_else(|| PackedMerges::new(vocabulary).map(Arc::new));
        packed.map_or_else(|| Self::Wide(Arc::new(WideMerges::new(vocabulary))), Self::Packed)
    }

    /// Whether merges are in the order of the ids that they make, and use only smaller ids.
    ///
    /// If so, a merge that uses a token has a higher rank than all merges that make it.
    pub(crate) fn is_ascending(&self) -> bool {
        matches!(self, Self::Packed(packed) if packed.layout.is_by_result && packed.grows)
    }
}

impl Lookup for Merges {
    #[inline]
    fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        match self {
            Self::Packed(packed) => packed.get(left, right),
            Self::Wide(wide) => wide.get(left, right),
        }
    }

    #[inline]
    fn prefetch(&self, left: TokenId, right: TokenId) {
        if let Self::Packed(packed) = self {
            packed.prefetch(left, right);
        }
    }
}

/// Merges by pair, for any ids and ranks.
#[derive(Clone, Debug)]
pub(crate) struct WideMerges {
    by_pair: HashTable<(u64, RankedMerge)>,
    hash_key: HashKey,
}

impl WideMerges {
    /// The merges of a vocabulary. If a pair has two merges, the later one counts.
    fn new(vocabulary: &Vocabulary) -> Self {
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

/// Merges in the order of their ranks. If they were read as a table, the list is built from it on first use: most users
/// of a vocabulary look up merges by pair and never need the list, which takes some milliseconds for 400,000 merges.
#[derive(Clone, Debug, Default)]
pub(super) struct MergeList {
    /// Built from the table if it is missing.
    list: OnceLock<Vec<Merge>>,
    /// All merges by pair; `None` after the list was changed.
    table: Option<Arc<PackedMerges>>,
}

impl MergeList {
    pub(super) fn with_capacity(n_merges: usize) -> Self {
        Self { list: OnceLock::from(Vec::with_capacity(n_merges)), table: None }
    }

    pub(super) fn of_table(table: PackedMerges) -> Self {
        Self { list: OnceLock::new(), table: Some(Arc::new(table)) }
    }

    pub(super) fn len(&self) -> usize {
        let of_table = || self.table.as_ref().map_or(0, |table| table.n_merges());
        self.list.get().map_or_else(of_table, Vec::len)
    }

    pub(super) fn table(&self) -> Option<&Arc<PackedMerges>> {
        self.table.as_ref()
    }

    /// The list, built on first use. Threads that come at the same time each build it and none waits for another,
    /// because a process may be forked meanwhile.
    pub(super) fn as_slice(&self) -> &[Merge] {
        if self.list.get().is_none() {
            let list = self.table.as_ref().and_then(|table| table.list());
            drop(self.list.set(list.unwrap_or_default()));
        }
        self.list.get_or_init(Vec::new)
    }

    /// Changes the list and drops the table.
    pub(super) fn change(&mut self, change: impl FnOnce(&mut Vec<Merge>)) {
        self.as_slice();
        self.table = None;
        let mut list = self.list.take().unwrap_or_default();
        change(&mut list);
        self.list = OnceLock::from(list);
    }
}

#[cfg(test)]
mod tests {
    use super::packed::{BUCKET_LEN, MAX_SPARSE_LEN, n_buckets};
    use super::*;
    use crate::hash::pair_hash;
    use crate::vocabulary::Merge;
    use std::collections::HashMap;
    use std::ops::Range;

    /// Made-up merges of ids in a range. The results ascend if `is_ascending` is set.
    fn made_up(n_merges: u32, ids: Range<u32>, is_ascending: bool) -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        let mut state = 7_u32;
        let mut draw = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ids.start + (state >> 8) % (ids.end - ids.start)
        };
        for place in 0..n_merges {
            let result = if is_ascending { ids.end + place / 3 } else { draw() };
            vocabulary.push_merge_to(Merge { left: draw(), right: draw(), result });
        }
        vocabulary
    }

    #[test]
    fn every_pair_has_the_last_of_its_merges_and_ranks_keep_their_order() {
        for (n_merges, ids, is_ascending) in [
            (0, 0..4, true),
            (9, 0..2, true),
            (3000, 0..70, true),
            (3000, 0..2000, true),
            (3000, 0..400, false),
            (3000, 1000..1400, true),
        ] {
            let vocabulary = made_up(n_merges, ids.clone(), is_ascending);
            let merges = Merges::new(&vocabulary);
            let Merges::Packed(packed) = &merges else { panic!("{n_merges} {ids:?}") };
            let known: HashMap<_, _> = (0_u32..)
                .zip(vocabulary.merges())
                .map(|(place, merge)| ((merge.left, merge.right), (place, merge.result)))
                .collect();
            let mut first_places = vec![0; (ids.end + n_merges) as usize];
            for (place, merge) in (0..n_merges).zip(vocabulary.merges()).rev() {
                first_places[merge.result as usize] = place;
            }
            let rights = || ids.start.saturating_sub(3)..ids.end + 3;
            let pairs = (ids.start..ids.end.min(ids.start + 500))
                .flat_map(|left| rights().map(move |right| (left, right)));
            for (left, right) in pairs {
                let found = merges.get(left, right);
                let place = || packed.layout.place(found.rank, &first_places);
                let found = found.exists().then(|| (place(), found.result));
                assert_eq!(found, known.get(&(left, right)).copied(), "({left}, {right})");
            }
        }
    }

    #[test]
    fn a_table_has_slots_to_spare_and_a_large_one_not_too_many() {
        for n_merges in (0..3000).chain((0..40_000_000).step_by(9973)) {
            let n_slots = n_buckets(n_merges) * BUCKET_LEN;
            assert!(n_merges * 8 <= n_slots * 7, "{n_merges}");
            assert!(n_merges < MAX_SPARSE_LEN || n_slots <= n_merges * 16 / 7, "{n_merges}");
        }
    }

    #[test]
    fn a_large_table_finds_every_pair_and_no_other() {
        let vocabulary = made_up(229_376, 0..70_000, true);
        let merges = Merges::new(&vocabulary);
        let Merges::Packed(packed) = &merges else { panic!("it does not fit") };
        assert_eq!(packed.slots.len(), 229_376 / 7 * 8, "as full as it may be");
        let known: HashMap<_, _> = vocabulary
            .merges()
            .iter()
            .map(|merge| ((merge.left, merge.right), merge.result))
            .collect();
        for &Merge { left, right, .. } in vocabulary.merges() {
            for (left, right) in [(left, right), (left, right + 1), (left + 1, right)] {
                let found = merges.get(left, right);
                let found = found.exists().then_some(found.result);
                assert_eq!(found, known.get(&(left, right)).copied(), "({left}, {right})");
            }
        }
    }

    #[test]
    fn merges_that_all_belong_into_one_bucket_have_a_table_whose_hash_is_not_known() {
        const ID_BITS: u32 = 11;
        let pairs = (0..1024_u32).flat_map(|left| (0..1024).map(move |right| (left, right)));
        let hash = |left, right| pair_hash(u64::from(left) << ID_BITS | u64::from(right));
        // All belong in the first of 512 buckets.
        let chosen: Vec<_> =
            pairs.filter(|&(left, right)| hash(left, right) >> 54 == 0).take(900).collect();
        assert_eq!(chosen.len(), 900);
        let mut vocabulary = Vocabulary::new();
        for (result, &(left, right)) in (1024..).zip(&chosen) {
            vocabulary.push_merge_to(Merge { left, right, result });
        }
        let merges = Merges::new(&vocabulary);
        assert!(matches!(merges, Merges::Wide(_)));
        for (rank, &(left, right)) in (0..).zip(&chosen) {
            let found = merges.get(left, right);
            assert_eq!((found.rank, found.result), (rank, 1024 + rank));
        }
    }

    #[test]
    fn ids_beyond_the_vocabulary_have_no_merge() {
        let mut vocabulary = Vocabulary::new();
        vocabulary.push_merge_to(Merge { left: 5, right: 300, result: 301 });
        let merges = Merges::new(&vocabulary);
        assert!(merges.get(5, 300).exists());
        for (left, right) in [(5 + 512, 300), (5, 300 + 512), (u32::MAX, u32::MAX), (4, 300 + 512)]
        {
            assert!(!merges.get(left, right).exists(), "({left}, {right})");
        }
    }

    #[test]
    fn merges_that_share_a_rank_and_make_different_tokens_are_kept_apart() {
        let mut vocabulary = Vocabulary::new();
        vocabulary.push_merge_with_priority(Merge { left: 0, right: 1, result: 2 }, 4);
        vocabulary.push_merge_with_priority(Merge { left: 1, right: 0, result: 3 }, 4);
        let merges = Merges::new(&vocabulary);
        assert!(matches!(merges, Merges::Wide(_)));
        assert_eq!(merges.get(0, 1).rank, merges.get(1, 0).rank);
    }
}
