//! Long pieces, for vocabularies whose merges build on earlier ones: rank by rank, left to right.
//!
//! In such a vocabulary a merge only makes pairs of higher rank than its own. So when a rank is the
//! lowest, all its places are known, and they can be merged from left to right in one go: the places of
//! a rank lie in a bucket, and a heap orders the ranks, not the places. Memory is walked in ascending
//! order, and what is kept for each symbol is one id and, if its pair has a merge, one place.
//!
//! Takes O(n log n) time for n symbols, from sorting buckets that were filled in several goes, and O(n)
//! space. Every trained vocabulary qualifies; for others there is `heap`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::{Merges, NO_MERGE};
use crate::error::{ErrorKind, Result};
use crate::slots::{BARRIER, Slots};
use crate::units::Units;
use crate::vocabulary::{TokenId, TokenKind, Vocabulary};

/// What a vocabulary needs to be merged rank by rank.
#[derive(Clone, Debug)]
pub(super) struct Ranks {
    vocabulary: Arc<Vocabulary>,
    /// By id: of how many symbols a token is made.
    lengths: Vec<u32>,
    /// By id: the place of the first merge that makes it.
    first_places: Vec<u32>,
}

/// Memory that is used again from piece to piece.
#[derive(Default)]
pub(super) struct BucketScratch {
    slots: Slots,
    /// By rank: one more than the index of its bucket; 0 where it has none.
    bucket_of_rank: Vec<u32>,
    /// Slots at which a pair may begin.
    buckets: Vec<Vec<u32>>,
    /// Buckets that no rank uses.
    free: Vec<u32>,
    /// The ranks that have a bucket, the lowest first.
    waiting: BinaryHeap<Reverse<u32>>,
}

/// Buckets for more places than this give their memory back after use. A stretch of a very long piece has fewer.
const MAX_KEPT_PLACES: usize = 1 << 17;

impl Ranks {
    /// `None` where a merge could make a pair of a rank that is not higher than its own, or merges have
    /// priorities.
    ///
    /// The unknown token is a symbol, however it is written.
    pub(super) fn new(
        vocabulary: &Arc<Vocabulary>,
        units: &Units,
        unknown: Option<TokenId>,
    ) -> Option<Self> {
        if !vocabulary.priorities().is_empty() {
            return None;
        }
        let mut lengths = vec![1; vocabulary.len()];
        let mut first_places = vec![0; vocabulary.len()];
        // By id: the lowest rank that may use the token, which is one more than the highest that makes it.
        let mut usable_from = vec![0; vocabulary.len()];
        for (rank, merge) in (0..).zip(vocabulary.merges()) {
            let [left, right, result] =
                [merge.left, merge.right, merge.result].map(|id| id as usize);
            let length = lengths[left] + lengths[right];
            let is_remade_otherwise = usable_from[result] > 0 && lengths[result] != length;
            let is_symbol =
                unknown == Some(merge.result) || is_symbol(vocabulary, units, merge.result);
            if is_remade_otherwise || is_symbol {
                return None;
            }
            if usable_from[result] == 0 {
                first_places[result] = rank;
            }
            (lengths[result], usable_from[result]) = (length, rank + 1);
        }
        let builds_on_earlier = |(rank, merge): (u32, &crate::Merge)| {
            usable_from[merge.left as usize] <= rank && usable_from[merge.right as usize] <= rank
        };
        (0..).zip(vocabulary.merges()).all(builds_on_earlier).then(|| Self {
            vocabulary: Arc::clone(vocabulary),
            lengths,
            first_places,
        })
    }

    /// The rank of the merge of a pair: its place among all; or that of [`NO_MERGE`].
    #[inline]
    fn rank(&self, merges: &Merges, left: TokenId, right: TokenId) -> u32 {
        let merge = merges.get(left, right);
        if merge.exists() { merges.place(merge, &self.first_places) } else { NO_MERGE.rank }
    }

    /// Of how many symbols a token is made.
    #[inline]
    pub(super) fn length(&self, id: TokenId) -> usize {
        self.lengths.get(id as usize).map_or(1, |&length| length as usize)
    }
}

/// Whether a token can be a symbol, before any merge.
fn is_symbol(vocabulary: &Vocabulary, units: &Units, id: TokenId) -> bool {
    let Some(token) = vocabulary.token(id) else { return true };
    let one_unit = match units.is_bytes() {
        true => token.bytes.len() <= 1,
        false => token.bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count() <= 1,
    };
    let has_unit_mark = units.end_mark_kind() == Some(crate::EndMarkKind::Unit);
    match token.kind {
        // With a mark of its own, a character that ends its piece is two symbols.
        TokenKind::Text(form) if form.ends && has_unit_mark => token.bytes.is_empty(),
        TokenKind::Text(_) => one_unit,
        _ => true,
    }
}

/// Appends the symbols `ids` to `out`, merged.
pub(super) fn merge(
    ranks: &Ranks,
    merges: &Merges,
    ids: &[TokenId],
    scratch: &mut BucketScratch,
    out: &mut Vec<TokenId>,
) -> Result<()> {
    let too_long = ErrorKind::PieceTooLong { n_symbols: ids.len() };
    u32::try_from(ids.len() + 2).map_err(|_| too_long)?;
    scratch.lay_out(ids, ranks);
    for (slot, pair) in (1..).zip(ids.windows(2)) {
        scratch.push(ranks.rank(merges, pair[0], pair[1]), slot);
    }
    while let Some(Reverse(rank)) = scratch.waiting.pop() {
        let index = std::mem::take(&mut scratch.bucket_of_rank[rank as usize]) - 1;
        let mut bucket = std::mem::take(&mut scratch.buckets[index as usize]);
        sort_runs(&mut bucket);
        scratch.merge_rank(rank, &bucket, ranks, merges);
        bucket.clear();
        bucket.shrink_to(MAX_KEPT_PLACES);
        scratch.buckets[index as usize] = bucket;
        scratch.free.push(index);
    }
    let mut slot = 1;
    while scratch.slots.token_at(slot) != BARRIER {
        let id = scratch.slots.token_at(slot);
        out.push(id);
        slot += ranks.length(id);
    }
    if ids.len() > MAX_KEPT_PLACES {
        scratch.slots = Slots::default();
    }
    Ok(())
}

/// Sorts places that were added in a few goes, each in ascending order.
#[expect(clippy::stable_sort_primitive, reason = "the stable sort finds runs and merges them")]
fn sort_runs(places: &mut [u32]) {
    if !places.is_sorted() {
        places.sort();
    }
}

impl BucketScratch {
    fn lay_out(&mut self, ids: &[TokenId], ranks: &Ranks) {
        self.bucket_of_rank.resize(ranks.vocabulary.merges().len(), 0);
        self.slots.clear();
        self.slots.push(BARRIER);
        ids.iter().for_each(|&id| self.slots.push(id));
        self.slots.push(BARRIER);
    }

    /// Notes that a pair whose merge has this rank begins at a slot.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "there are at most as many buckets as ranks"
    )]
    fn push(&mut self, rank: u32, slot: u32) {
        if rank == NO_MERGE.rank {
            return;
        }
        let bucket = &mut self.bucket_of_rank[rank as usize];
        if *bucket == 0 {
            *bucket = 1 + self.free.pop().unwrap_or_else(|| {
                self.buckets.push(Vec::new());
                self.buckets.len() as u32 - 1
            });
            self.waiting.push(Reverse(rank));
        }
        self.buckets[*bucket as usize - 1].push(slot);
    }

    /// Merges a rank at its places, from left to right.
    #[expect(clippy::cast_possible_truncation, reason = "slots fit 32 bits")]
    fn merge_rank(&mut self, rank: u32, places: &[u32], ranks: &Ranks, merges: &Merges) {
        let crate::Merge { left, right, result } = ranks.vocabulary.merges()[rank as usize];
        let (left_len, result_len) = (ranks.length(left), ranks.length(result));
        for &place in places {
            let slot = place as usize;
            if !self.slots.has_pair(slot, left, left_len, right) {
                continue;
            }
            self.slots.merge_at(slot, left_len, result, result_len);
            let before = self.slots.token_before(slot);
            if before != BARRIER {
                let rank = ranks.rank(merges, before, result);
                self.push(rank, place - ranks.length(before) as u32);
            }
            // A pair that follows at once is merged next, and then what is before it is looked up.
            let next = slot + result_len;
            let after = self.slots.token_at(next);
            let is_merged_next = after == left && self.slots.has_pair(next, left, left_len, right);
            if after != BARRIER && !is_merged_next {
                self.push(ranks.rank(merges, result, after), place);
            }
        }
    }
}
