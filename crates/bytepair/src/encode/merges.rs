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

use std::borrow::Cow;

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

/// How a merge is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    /// Bits of an id. No id has all of them.
    id_bits: u32,
    /// Bits of a value, at most 31.
    value_bits: u32,
    /// How far a value is shifted to give its result, of so many bits.
    result_shift: u32,
    /// Whether a value is the result and the number of the merge among those that make it; else it is the rank
    /// and the result.
    is_by_result: bool,
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
        let n_buckets =
            (vocabulary.merges().len() * 2).div_ceil(BUCKET_LEN).next_power_of_two().max(2);
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
            for slot in &mut self.slots[bucket..bucket + BUCKET_LEN] {
                if *slot == 0 || (*slot ^ wanted) >> self.layout.value_bits == 0 {
                    *slot = wanted ^ u64::from(value);
                    return;
                }
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

impl Layout {
    /// Ids in the order of ranks: every merge makes the token of the merge before, or one of a higher id.
    fn by_result(vocabulary: &Vocabulary) -> Option<Self> {
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
    fn by_rank(vocabulary: &Vocabulary) -> Option<Self> {
        let id_bits = id_bits(vocabulary);
        let value_bits = id_bits + bits(vocabulary.merges().len());
        let layout = Self { id_bits, value_bits, result_shift: 0, is_by_result: false };
        (layout.fits() && has_one_result_for_each_rank(vocabulary)).then_some(layout)
    }

    fn fits(self) -> bool {
        self.value_bits <= 31 && 2 * self.id_bits + self.value_bits <= 64
    }

    #[inline]
    fn key(self, left: TokenId, right: TokenId) -> u64 {
        u64::from(left) << self.id_bits | u64::from(right)
    }

    #[inline]
    fn value(self, rank: u32, n_same: u32, result: TokenId) -> u32 {
        match self.is_by_result {
            true => result << self.result_shift | n_same,
            false => rank << self.id_bits | result,
        }
    }

    #[inline]
    fn place(self, value: u32, first_places: &[u32]) -> u32 {
        match self.is_by_result {
            true => {
                let first = first_places.get(self.result(value) as usize);
                first.map_or(0, |first| first + (value & ((1 << self.result_shift) - 1)))
            }
            false => value >> self.id_bits,
        }
    }

    #[inline]
    fn result(self, value: u32) -> TokenId {
        value >> self.result_shift & ((1 << self.id_bits) - 1)
    }
}

/// Each merge, and how many right before it make the same token.
fn numbered(merges: &[Merge]) -> impl Iterator<Item = (Merge, u32)> {
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

/// By place: the ranks of merges that have priorities, all less than their number.
///
/// Merges of one priority have one rank. The order of ranks is that of the priorities.
fn ranks(vocabulary: &Vocabulary) -> Option<Cow<'_, [u32]>> {
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
