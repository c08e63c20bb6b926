//! The merges of a vocabulary by pair: the one table that every encoder asks.
//!
//! Most vocabularies fit a table whose slot is one word: left part, right part, and a number that orders the
//! merges as their ranks do and says what they make. That number is either the result and, where several merges
//! make the same token one after the other, which of them it is; or the rank and the result. Four slots are a
//! bucket, half a cache line, and all four are compared without a branch. Keys are exact, so no pair is ever
//! taken for another. Most pairs that are asked for have no merge: a bitmap by hash, small enough for a
//! processor's own cache, answers for nearly all of those.
//!
//! Other vocabularies (very large ones whose ids are not in the order of their ranks, or whose merges share
//! priorities across tokens) have a map of twice the size. Takes O(1) expected time for a look-up.

mod layout;

use self::layout::{Layout, numbered, ranks};
use crate::pair_map::{PairMap, pair_hash, pair_key};
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// The merges by pair.
#[derive(Clone, Debug)]
pub(super) enum Merges {
    Packed(PackedMerges),
    Wide(PairMap<RankedMerge>),
}

/// A merge as the encoder looks it up.
#[derive(Clone, Copy, Debug)]
pub(super) struct RankedMerge {
    /// Orders merges as their ranks do: less, equal or more where the ranks are.
    pub(super) rank: u32,
    pub(super) result: TokenId,
}

/// An absent merge: no rank is higher. Its result means nothing.
pub(super) const NO_MERGE: RankedMerge = RankedMerge { rank: u32::MAX, result: 0 };

/// Ids below this are small.
const N_SMALL: TokenId = 256;

/// Slots that are compared at once.
const BUCKET_LEN: usize = 4;

/// Bits of the bitmap for each merge, at least: one pair in nine that has no merge is looked for in vain at most.
const N_BITS_PER_MERGE: usize = 8;

/// Slots of a table that is at most half full: 2 MB, which a processor's own cache holds.
const MAX_SPARSE_LEN: usize = 1 << 18;

/// How many pairs are placed at once where many are.
const N_SIDE_BY_SIDE: usize = 32;

/// A table whose slot is one word.
#[derive(Clone, Debug)]
pub(super) struct PackedMerges {
    /// Buckets of slots. A slot is all bits of `(left, right, value)` inverted; a free one is 0, so that the
    /// system hands the table out free.
    slots: Vec<u64>,
    /// Where the first bucket begins, so that none lies in two cache lines.
    start: usize,
    /// How far a hash is shifted to give a bucket.
    shift: u32,
    /// A bit for the hash of each merge.
    bitmap: Vec<u64>,
    /// How far a hash is shifted to give a bit of the bitmap.
    bitmap_shift: u32,
    layout: Layout,
    /// By `left * N_SMALL + right`: the values of pairs of small ids, or `u32::MAX`. In nearly all
    /// vocabularies these are the bytes, with which every piece begins.
    of_small: Vec<u32>,
}

impl RankedMerge {
    /// Whether there is one.
    #[inline]
    pub(super) fn exists(self) -> bool {
        self.rank != NO_MERGE.rank
    }
}

impl Default for RankedMerge {
    fn default() -> Self {
        NO_MERGE
    }
}

impl Merges {
    pub(super) fn new(vocabulary: &Vocabulary) -> Self {
        match PackedMerges::new(vocabulary) {
            Some(packed) => Self::Packed(packed),
            None => Self::Wide(wide(vocabulary)),
        }
    }

    /// The merge of a pair, or [`NO_MERGE`].
    #[inline]
    pub(super) fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        match self {
            Self::Packed(packed) => packed.get(left, right),
            Self::Wide(map) => map.get(pair_key(left, right)).unwrap_or(NO_MERGE),
        }
    }

    /// Whether merges are in the order of the ids that they make, and use only ids below those.
    ///
    /// Then a merge that uses a token has a higher rank than all that make it.
    pub(super) fn is_ascending(&self, vocabulary: &Vocabulary) -> bool {
        let grows = |merge: &Merge| merge.left.max(merge.right) < merge.result;
        matches!(self, Self::Packed(packed) if packed.layout.is_by_result)
            && vocabulary.merges().iter().all(grows)
    }

    /// The place of a merge among all, where merges have no priorities; `first_places` are those of the first
    /// merge that makes a token, by its id.
    #[inline]
    pub(super) fn place(&self, merge: RankedMerge, first_places: &[u32]) -> u32 {
        match self {
            Self::Packed(packed) => packed.layout.place(merge.rank, first_places),
            Self::Wide(_) => merge.rank,
        }
    }
}

impl PackedMerges {
    /// `None` where a merge does not fit a word.
    pub(super) fn new(vocabulary: &Vocabulary) -> Option<Self> {
        let layout = Layout::by_result(vocabulary).or_else(|| Layout::by_rank(vocabulary))?;
        let n_buckets = n_buckets(vocabulary.merges().len());
        let n_bits = (vocabulary.merges().len() * N_BITS_PER_MERGE).next_power_of_two().max(64);
        let slots = vec![0; (n_buckets + 1) * BUCKET_LEN];
        let start = slots.as_ptr().align_offset(BUCKET_LEN * size_of::<u64>()).min(BUCKET_LEN);
        let mut packed = Self {
            slots,
            start,
            shift: 64 - n_buckets.ilog2(),
            bitmap: vec![0; n_bits / 64],
            bitmap_shift: 64 - n_bits.ilog2(),
            layout,
            of_small: vec![u32::MAX; (N_SMALL * N_SMALL) as usize],
        };
        packed.insert_all(vocabulary);
        Some(packed)
    }

    /// Places all merges. Looks at the buckets of several before it fills the first, so that their cache lines
    /// are fetched side by side.
    fn insert_all(&mut self, vocabulary: &Vocabulary) {
        let ranks = ranks(vocabulary);
        let rank_at = |place: u32| ranks.as_ref().map_or(place, |ranks| ranks[place as usize]);
        let mut merges = (0..).zip(numbered(vocabulary.merges()));
        let mut waiting = Vec::with_capacity(N_SIDE_BY_SIDE);
        loop {
            let values = merges.by_ref().take(N_SIDE_BY_SIDE).map(|(place, (merge, n_same))| {
                (merge, self.layout.value(rank_at(place), n_same, merge.result))
            });
            waiting.extend(values);
            if waiting.is_empty() {
                return;
            }
            let seen = waiting.iter().fold(0, |seen, (merge, _)| {
                seen ^ self.slots[self.bucket(self.hash(merge.left, merge.right))]
            });
            std::hint::black_box(seen);
            waiting.drain(..).for_each(|(merge, value)| self.insert(merge, value));
        }
    }

    fn insert(&mut self, merge: Merge, value: u32) {
        if merge.left < N_SMALL && merge.right < N_SMALL {
            self.of_small[(merge.left * N_SMALL + merge.right) as usize] = value;
        }
        let hash = self.hash(merge.left, merge.right);
        let (word, bit) = self.bit(hash);
        self.bitmap[word] |= bit;
        let wanted = self.wanted(merge.left, merge.right);
        let mut bucket = self.bucket(hash);
        loop {
            let is_for_it =
                |slot: &u64| *slot == 0 || (*slot ^ wanted) >> self.layout.value_bits == 0;
            let slots = bucket..bucket + BUCKET_LEN;
            if let Some(place) = self.slots[slots].iter().position(is_for_it) {
                self.slots[bucket + place] = wanted ^ u64::from(value);
                return;
            }
            bucket = self.after(bucket);
        }
    }

    #[inline]
    pub(super) fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        match left < N_SMALL && right < N_SMALL {
            true => self.merge(self.of_small[(left * N_SMALL + right) as usize]),
            false => self.get_large(left, right),
        }
    }

    /// The same for any ids, sooner where one of them is not small.
    #[inline]
    pub(super) fn get_large(&self, left: TokenId, right: TokenId) -> RankedMerge {
        let hash = self.hash(left, right);
        let (word, bit) = self.bit(hash);
        if self.bitmap[word] & bit == 0 || (left | right) >> self.layout.id_bits > 0 {
            return NO_MERGE;
        }
        self.merge(self.value(hash, self.wanted(left, right)))
    }

    #[inline]
    fn merge(&self, value: u32) -> RankedMerge {
        RankedMerge { rank: value, result: self.layout.result(value) }
    }

    /// The value of a pair, or `u32::MAX`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a value has at most 31 bits")]
    fn value(&self, hash: u64, wanted: u64) -> u32 {
        let mut bucket = self.bucket(hash);
        loop {
            let Some(slots) = self.slots[bucket..].first_chunk::<BUCKET_LEN>() else {
                return u32::MAX;
            };
            let [a, b, c, d] = slots.map(|slot| slot ^ wanted);
            let least = a.min(b).min(c.min(d));
            // A slot of another pair differs above the value.
            if least >> self.layout.value_bits == 0 {
                return least as u32;
            }
            if slots[BUCKET_LEN - 1] == 0 {
                return u32::MAX;
            }
            bucket = self.after(bucket);
        }
    }

    #[inline]
    fn hash(&self, left: TokenId, right: TokenId) -> u64 {
        pair_hash(self.layout.key(left, right))
    }

    /// The bit of a hash in the bitmap, and its word.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a bit")]
    fn bit(&self, hash: u64) -> (usize, u64) {
        let bit = (hash >> self.bitmap_shift) as usize;
        (bit / 64, 1 << (bit % 64))
    }

    /// What the slot of a pair is, but for its value: the slot of the value 0.
    #[inline]
    fn wanted(&self, left: TokenId, right: TokenId) -> u64 {
        !(self.layout.key(left, right) << self.layout.value_bits)
    }

    /// Where the bucket of a hash begins.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a bucket")]
    fn bucket(&self, hash: u64) -> usize {
        self.start + (hash >> self.shift) as usize * BUCKET_LEN
    }

    /// Where the bucket begins that has what another had no room for.
    fn after(&self, bucket: usize) -> usize {
        let end = self.start + (BUCKET_LEN << (64 - self.shift));
        match bucket + BUCKET_LEN {
            next if next < end => next,
            _ => self.start,
        }
    }
}

/// How many buckets a table has, a power of two and more than it fills. A large one is up to seven eighths full: most
/// of what is looked up in vain does not come past the bitmap, and half of the memory need not be touched.
fn n_buckets(n_merges: usize) -> usize {
    let n_sparse = (n_merges * 2).next_power_of_two();
    let n_slots = match n_sparse <= MAX_SPARSE_LEN {
        true => n_sparse,
        false => (n_merges * 8).div_ceil(7).next_power_of_two(),
    };
    (n_slots / BUCKET_LEN).max(2)
}

/// The map of merges that do not fit a word each.
fn wide(vocabulary: &Vocabulary) -> PairMap<RankedMerge> {
    let mut by_pair = PairMap::with_capacity(vocabulary.merges().len());
    let ranks = ranks(vocabulary);
    let rank_at = |place: u32| ranks.as_ref().map_or(place, |ranks| ranks[place as usize]);
    by_pair.insert_all((0..).zip(vocabulary.merges()).map(|(place, merge)| {
        let ranked = RankedMerge { rank: rank_at(place), result: merge.result };
        (pair_key(merge.left, merge.right), ranked)
    }));
    by_pair
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Made-up merges, as many as `n_merges`, of ids below `n_ids`; results ascend if they are asked to.
    fn made_up(n_merges: u32, n_ids: u32, is_ascending: bool) -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        let mut state = 7_u32;
        let mut draw = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % below
        };
        for place in 0..n_merges {
            let result = if is_ascending { n_ids + place / 3 } else { draw(n_ids) };
            vocabulary.push_merge_to(Merge { left: draw(n_ids), right: draw(n_ids), result });
        }
        vocabulary
    }

    #[test]
    fn every_pair_has_the_last_of_its_merges_and_ranks_keep_their_order() {
        for (n_merges, n_ids, is_ascending) in
            [(0, 4, true), (9, 2, true), (3000, 70, true), (3000, 2000, true), (3000, 400, false)]
        {
            let vocabulary = made_up(n_merges, n_ids, is_ascending);
            let merges = Merges::new(&vocabulary);
            assert!(matches!(merges, Merges::Packed(_)), "{n_merges} {n_ids}");
            let known: HashMap<_, _> = (0_u32..)
                .zip(vocabulary.merges())
                .map(|(place, merge)| ((merge.left, merge.right), (place, merge.result)))
                .collect();
            let mut first_places = vec![0; (n_ids + n_merges) as usize];
            for (place, merge) in (0..n_merges).zip(vocabulary.merges()).rev() {
                first_places[merge.result as usize] = place;
            }
            let pairs =
                (0..n_ids.min(500)).flat_map(|left| (0..n_ids + 3).map(move |right| (left, right)));
            for (left, right) in pairs {
                let found = merges.get(left, right);
                let place = || merges.place(found, &first_places);
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
        let vocabulary = made_up(229_376, 70_000, true);
        let merges = Merges::new(&vocabulary);
        let Merges::Packed(packed) = &merges else { panic!("it does not fit") };
        assert!(packed.slots.len() < MAX_SPARSE_LEN + 2 * BUCKET_LEN);
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
