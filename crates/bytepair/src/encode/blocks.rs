//! Pieces of some hundred symbols: look for the lowest rank, merge, look again, as in [`super::scan`], but in blocks.
//!
//! Each block of places knows its lowest rank with its place, so that the search looks at the blocks alone, and a
//! merge changes three of them at most. Places hold links to their neighbours. A merge takes sixteen comparisons and
//! those of three blocks, less than the random accesses of the algorithms for long pieces: all lies in 9 KB. With
//! AVX-512 the same code compares eight ranks at once.
#![cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "vector instructions; random letters take a tenth less time")
)]

use super::{Merges, NO_MERGE, RankedMerge};
use crate::merge_table::Lookup;
use crate::vocabulary::TokenId;

/// Longest piece that is merged so, in symbols.
pub(super) const MAX_LEN: usize = 256;

/// Places of a block.
const BLOCK_LEN: usize = 16;
const N_BLOCKS: usize = MAX_LEN / BLOCK_LEN;

/// Bits of a place.
const PLACE_BITS: u32 = MAX_LEN.ilog2();
const LAST: usize = MAX_LEN - 1;

/// Stands for no neighbour.
const NO_PLACE: usize = usize::MAX;

/// A piece while it is merged; all by place, but for what blocks know.
pub(super) struct Row {
    ids: [TokenId; MAX_LEN],
    /// The rank of the merge with the next symbol, and the place.
    ranks: [u64; MAX_LEN],
    /// What that merge makes.
    results: [TokenId; MAX_LEN],
    /// The places of the neighbours that are left.
    before: [usize; MAX_LEN],
    behind: [usize; MAX_LEN],
    /// By block: the lowest of its ranks.
    lowest: [u64; N_BLOCKS],
}

impl Default for Row {
    fn default() -> Self {
        Self {
            ids: [0; MAX_LEN],
            ranks: [u64::MAX; MAX_LEN],
            results: [0; MAX_LEN],
            before: [NO_PLACE; MAX_LEN],
            behind: [NO_PLACE; MAX_LEN],
            lowest: [u64::MAX; N_BLOCKS],
        }
    }
}

/// Merges `ids`, at most [`MAX_LEN`] of them, in place. The row is made when the first piece of some length comes.
pub(super) fn merge(merges: &Merges, row: &mut Option<Box<Row>>, ids: &mut Vec<TokenId>) {
    merge_by(merges, row, ids, has_vectors());
}

/// The same with vectors, or without them.
pub(super) fn merge_by(
    merges: &Merges,
    row: &mut Option<Box<Row>>,
    ids: &mut Vec<TokenId>,
    has_vectors: bool,
) {
    debug_assert!(ids.len() <= MAX_LEN, "the piece is not too long");
    if ids.len() < 2 {
        return;
    }
    let row = row.get_or_insert_default();
    match merges {
        Merges::Packed(packed) => row.merge(ids, packed.as_ref(), has_vectors),
        Merges::Wide(map) => row.merge(ids, map, has_vectors),
    }
    row.take(ids);
}

/// Whether the processor compares eight numbers of 64 bits at once.
fn has_vectors() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

impl Row {
    fn merge(&mut self, ids: &[TokenId], merges: &impl Lookup, has_vectors: bool) {
        #[cfg(target_arch = "x86_64")]
        if has_vectors {
            // SAFETY: the processor has these instructions.
            return unsafe { self.merge_with_vectors(ids, merges) };
        }
        debug_assert!(!has_vectors, "there are none");
        self.lay_out(ids, merges);
        self.merge_all(merges);
    }

    /// The same code for a processor that has more instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn merge_with_vectors(&mut self, ids: &[TokenId], merges: &impl Lookup) {
        self.lay_out(ids, merges);
        self.merge_all(merges);
    }

    /// Puts the symbols in their places.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else it is not compiled for other instructions")]
    fn lay_out(&mut self, ids: &[TokenId], merges: &impl Lookup) {
        self.ranks.fill(u64::MAX);
        for (place, &id) in ids.iter().enumerate() {
            self.ids[place & LAST] = id;
            self.before[place & LAST] = place.wrapping_sub(1);
            self.behind[place & LAST] = if place + 1 < ids.len() { place + 1 } else { NO_PLACE };
        }
        for (place, pair) in ids.windows(2).enumerate() {
            self.set(place, merges.get(pair[0], pair[1]));
        }
        (0..N_BLOCKS).for_each(|block| self.look_at(block * BLOCK_LEN));
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else it is not compiled for other instructions")]
    fn merge_all(&mut self, merges: &impl Lookup) {
        loop {
            let lowest =
                self.lowest.iter().fold(u64::MAX, |lowest, &of_block| lowest.min(of_block));
            if lowest >> PLACE_BITS >= u64::from(NO_MERGE.rank) {
                return;
            }
            #[expect(clippy::cast_possible_truncation, reason = "a place is masked")]
            let place = lowest as usize & LAST;
            let gone = self.behind[place] & LAST;
            let (before, next) = (self.before[place], self.behind[gone]);
            let id = self.results[place];
            self.ids[place] = id;
            self.behind[place] = next;
            self.ranks[gone] = u64::MAX;
            self.ranks[place] = u64::MAX;
            // Both at once, before one is waited for.
            merges.ask_for(id, self.ids[next & LAST]);
            merges.ask_for(self.ids[before & LAST], id);
            if next != NO_PLACE {
                self.before[next & LAST] = place;
                self.set(place, merges.get_large(id, self.ids[next & LAST]));
            }
            if before != NO_PLACE {
                self.set(before, merges.get_large(self.ids[before & LAST], id));
                self.look_at(before);
            }
            self.look_at(gone);
            self.look_at(place);
        }
    }

    #[inline]
    fn set(&mut self, place: usize, merge: RankedMerge) {
        let place = place & LAST;
        self.ranks[place] = u64::from(merge.rank) << PLACE_BITS | place as u64;
        self.results[place] = merge.result;
    }

    /// Finds the lowest rank of the block of a place.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "else it is not compiled for other instructions")]
    fn look_at(&mut self, place: usize) {
        let (blocks, _) = self.ranks.as_chunks::<BLOCK_LEN>();
        let block = (place & LAST) / BLOCK_LEN;
        self.lowest[block] = blocks[block].iter().fold(u64::MAX, |lowest, &rank| lowest.min(rank));
    }

    /// Puts the tokens that are left into `ids`.
    fn take(&self, ids: &mut Vec<TokenId>) {
        ids.clear();
        let mut place = 0;
        while place != NO_PLACE {
            ids.push(self.ids[place & LAST]);
            place = self.behind[place & LAST];
        }
    }
}
