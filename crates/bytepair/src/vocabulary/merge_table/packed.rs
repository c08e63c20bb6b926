//! A table of merges whose slot is one word.
//!
//! ```text
//! slot      !(left, right, value), exact; 0 where it is free
//! value     orders merges as their ranks do, and says what they make ([`Layout`])
//! bucket    four slots, half a cache line, compared without a branch
//!
//! get(left, right):
//!     both ids are small              -> the value is in a table by both ids
//!     the bit of the hash is not set  -> no merge, as for nearly all pairs that have none
//!     the bucket of the hash has it   -> its value
//!     the bucket is full              -> look at the next one; else no merge
//! ```
//!
//! *Invariant*: all buckets between that of a merge's hash and the one that has it are full. So a search may end at a bucket
//! with room. Keys are exact, so no pair is ever taken for another. The bitmap is small enough for a processor's own cache.
//!
//! Left out: vocabularies whose merges do not fit a word, and those whose merges were chosen so that a search passes many
//! full buckets: files hold tables, so the hash is known. Takes O(1) expected time for a look-up, at most O(log n).

use std::borrow::Cow;

use super::{Lookup, NO_MERGE, RankedMerge};
use crate::hash::pair_hash;
use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// So many ids from the first one that merges use are small.
const N_SMALL: TokenId = 256;

/// Slots that are compared at once.
pub(super) const BUCKET_LEN: usize = 4;

/// Bits of the bitmap for each merge, at least: one pair in nine that has no merge is looked for in vain at most.
const N_BITS_PER_MERGE: usize = 8;

/// Slots of a table that is at most half full: 512 KiB, which a processor's own cache holds beside other things.
pub(super) const MAX_SPARSE_LEN: usize = 1 << 16;

/// A table whose slot is one word.
#[derive(Debug)]
pub struct PackedMerges {
    /// Buckets of slots, none in two cache lines. A slot is all bits of `(left, right, value)` inverted; a free one
    /// is 0.
    pub(super) slots: HugePageRow<u64>,
    /// How far a hash is shifted to give a bucket.
    shift: u32,
    /// A bit for the hash of each merge.
    bitmap: Vec<u64>,
    /// How far a hash is shifted to give a bit of the bitmap.
    bitmap_shift: u32,
    pub(super) layout: Layout,
    /// The first id that a merge uses: others stand before it where a vocabulary begins with special tokens.
    pub(super) first_small: TokenId,
    /// By `left * N_SMALL + right`, both from the first small one on: the values of pairs of small ids, or `u32::MAX`.
    /// In nearly all vocabularies these are the bytes, with which every piece begins.
    of_small: Vec<u32>,
    /// Of all merges, also those that others of the same pair come after.
    pub n_merges: usize,
    /// How many full buckets a search passes at most, on its way to a merge or to none. By chance they are fewer, in a
    /// table as full as it may be.
    pub(super) max_passed: usize,
    /// Whether merges make ids above those of their parts.
    pub(super) grows: bool,
}

impl PackedMerges {
    /// `None` if a merge does not fit a word, or is too far from where the search for it begins.
    pub fn new(vocabulary: &Vocabulary) -> Option<Self> {
        let merges = vocabulary.merges();
        let layout = Layout::by_result(vocabulary).or_else(|| Layout::by_rank(vocabulary))?;
        let n_slots = n_buckets(merges.len()) * BUCKET_LEN;
        let mut packed = Self::of_slots(HugePageRow::filled(0, n_slots), merges.len(), layout);
        packed.first_small =
            merges.iter().map(|merge| merge.left.min(merge.right)).min().unwrap_or(0);
        packed.grows = merges.iter().all(grows);
        packed.insert_all(vocabulary)?;
        Some(packed)
    }

    /// A table of slots without the answers that are made of them.
    pub(super) fn of_slots(slots: HugePageRow<u64>, n_merges: usize, layout: Layout) -> Self {
        let n_per_doubling = if n_merges * 2 <= slots.len() { 4 } else { 32 };
        let n_bits = (n_merges * N_BITS_PER_MERGE).next_power_of_two().max(64);
        Self {
            shift: 64 - (slots.len() / BUCKET_LEN).ilog2(),
            max_passed: slots.len().ilog2() as usize * n_per_doubling,
            slots,
            bitmap: vec![0; n_bits / 64],
            bitmap_shift: 64 - n_bits.ilog2(),
            layout,
            first_small: 0,
            of_small: vec![u32::MAX; (N_SMALL * N_SMALL) as usize],
            n_merges,
            grows: true,
        }
    }

    /// Places all merges.
    fn insert_all(&mut self, vocabulary: &Vocabulary) -> Option<()> {
        let ranks = ranks(vocabulary);
        let rank_at = |place: u32| ranks.as_ref().map_or(place, |ranks| ranks[place as usize]);
        (0..).zip(numbered(vocabulary.merges())).try_for_each(|(place, (merge, n_same))| {
            self.insert(merge, self.layout.value(rank_at(place), n_same, merge.result))
        })
    }

    fn insert(&mut self, merge: Merge, value: u32) -> Option<()> {
        let hash = self.hash(merge.left, merge.right);
        self.note(merge, hash, value);
        let wanted = self.wanted(merge.left, merge.right);
        let mut bucket = self.bucket(hash);
        for _ in 0..=self.max_passed {
            let is_for_it =
                |slot: &u64| *slot == 0 || (*slot ^ wanted) >> self.layout.value_bits == 0;
            let slots = bucket..bucket + BUCKET_LEN;
            if let Some(place) = self.slots[slots].iter().position(is_for_it) {
                self.slots[bucket + place] = wanted ^ u64::from(value);
                return Some(());
            }
            bucket = self.after(bucket);
        }
        None
    }

    /// Notes a merge wherever else it is looked up than in its slot.
    #[inline]
    pub(super) fn note(&mut self, merge: Merge, hash: u64, value: u32) {
        if let Some(place) = self.place_of_small(merge.left, merge.right) {
            self.of_small[place] = value;
        }
        let (word, bit) = self.bit(hash);
        self.bitmap[word] |= bit;
    }

    /// Where the value of a pair of small ids is.
    #[inline]
    fn place_of_small(&self, left: TokenId, right: TokenId) -> Option<usize> {
        let [left, right] = [left, right].map(|id| id.wrapping_sub(self.first_small));
        (left < N_SMALL && right < N_SMALL).then(|| (left * N_SMALL + right) as usize)
    }

    #[inline]
    fn merge(&self, value: u32) -> RankedMerge {
        RankedMerge { rank: value, result: self.layout.result(value) }
    }

    /// The value of a pair, or `u32::MAX`.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a value has at most 31 bits")]
    pub(super) fn value(&self, hash: u64, wanted: u64) -> u32 {
        let mut bucket = self.bucket(hash);
        for _ in 0..=self.max_passed {
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
        u32::MAX
    }

    #[inline]
    pub(super) fn hash(&self, left: TokenId, right: TokenId) -> u64 {
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
    pub(super) fn wanted(&self, left: TokenId, right: TokenId) -> u64 {
        !(self.layout.key(left, right) << self.layout.value_bits)
    }

    /// Where the bucket of a hash begins.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a bucket")]
    pub(super) fn bucket(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize * BUCKET_LEN
    }

    /// Where the bucket begins that has what another had no room for.
    pub(super) fn after(&self, bucket: usize) -> usize {
        match bucket + BUCKET_LEN {
            next if next < self.slots.len() => next,
            _ => 0,
        }
    }
}

impl Lookup for PackedMerges {
    #[inline]
    fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        match self.place_of_small(left, right) {
            Some(place) => self.merge(self.of_small[place]),
            None => self.get_large(left, right),
        }
    }

    #[inline]
    fn get_large(&self, left: TokenId, right: TokenId) -> RankedMerge {
        let hash = self.hash(left, right);
        let (word, bit) = self.bit(hash);
        if self.bitmap[word] & bit == 0 || (left | right) >> self.layout.id_bits > 0 {
            return NO_MERGE;
        }
        self.merge(self.value(hash, self.wanted(left, right)))
    }

    #[inline]
    fn prefetch(&self, left: TokenId, right: TokenId) {
        let hash = self.hash(left, right);
        prefetch(&self.bitmap, self.bit(hash).0);
        prefetch(&self.slots, self.bucket(hash));
    }
}

/// Whether a merge makes an id above those of its parts.
#[inline]
pub(super) fn grows(merge: &Merge) -> bool {
    merge.left.max(merge.right) < merge.result
}

/// How many buckets a table has, a power of two and more than it fills. A large one is up to seven eighths full: most
/// of what is looked up in vain does not come past the bitmap, and half of the memory need not be touched.
pub(super) fn n_buckets(n_merges: usize) -> usize {
    let n_sparse = (n_merges * 2).next_power_of_two();
    let n_slots = match n_sparse <= MAX_SPARSE_LEN {
        true => n_sparse,
        false => (n_merges * 8).div_ceil(7).next_power_of_two(),
    };
    (n_slots / BUCKET_LEN).max(2)
}

/// How a merge is packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// Bits of an id. No id has all of them.
    pub(super) id_bits: u32,
    /// Bits of a value, at most 31.
    pub(super) value_bits: u32,
    /// How far a value is shifted to give its result, of this many bits.
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

    /// The layout of a table that a file holds, for ids below `n_ids`: by this many bits for merges that make the same
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
