//! Short pieces: look for the lowest rank along the piece, merge, look again.
//!
//! Takes O(n²) time for n symbols and beats everything else while n is small: the ranks of a word lie
//! in a few cache lines, and only the two neighbours of a merge are looked up again. Nothing is moved: a word of
//! bits says which places still hold a symbol, and the place is part of what is compared, so that the search for
//! the leftmost lowest has no branch.

use super::{MAX_SCAN_LEN, Merges, NO_MERGE, RankedMerge, Scratch};
use crate::merge_table::Lookup;
use crate::vocabulary::TokenId;

/// Places in a row: a power of two, so that no index is out of bounds.
const N_PLACES: usize = 64;
const LAST: usize = N_PLACES - 1;

/// Places that are compared side by side.
const STEP: usize = 4;

const _: () = assert!(MAX_SCAN_LEN < N_PLACES);

/// Bits of a place.
const PLACE_BITS: u32 = N_PLACES.ilog2();

/// A piece while it is merged; all by place.
pub(super) struct Row {
    ids: [TokenId; N_PLACES],
    /// The rank of the merge with the next symbol, and the place.
    ranks: [u64; N_PLACES],
    /// What that merge makes.
    results: [TokenId; N_PLACES],
}

impl Default for Row {
    fn default() -> Self {
        Self { ids: [0; N_PLACES], ranks: [u64::MAX; N_PLACES], results: [0; N_PLACES] }
    }
}

/// Merges `scratch.ids`, at most [`MAX_SCAN_LEN`] of them, in place.
pub(super) fn merge(merges: &Merges, scratch: &mut Scratch) {
    let Scratch { ids, row, .. } = scratch;
    if ids.len() < 2 {
        return;
    }
    let held = match merges {
        Merges::Packed(packed) => row.merge(ids, packed.as_ref()),
        Merges::Wide(map) => row.merge(ids, map),
    };
    row.take(held, ids);
}

impl Row {
    /// Merges two symbols or more; gives a bit for each place that holds a token then.
    #[inline]
    fn merge(&mut self, ids: &[TokenId], merges: &impl Lookup) -> u64 {
        self.lay_out(ids, merges);
        self.merge_all(ids.len(), merges)
    }

    /// Puts symbols in their places.
    #[inline]
    fn lay_out(&mut self, ids: &[TokenId], merges: &impl Lookup) {
        for (place, pair) in ids.windows(2).enumerate() {
            self.ids[place & LAST] = pair[0];
            self.ids[(place + 1) & LAST] = pair[1];
            self.set(place, merges.get(pair[0], pair[1]));
        }
        let n_pairs = ids.len() - 1;
        self.ranks[n_pairs..n_pairs.next_multiple_of(STEP)].fill(u64::MAX);
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a place is masked")]
    fn merge_all(&mut self, n_symbols: usize, merges: &impl Lookup) -> u64 {
        let mut held = (1_u64 << n_symbols) - 1;
        loop {
            let lowest = self.lowest(n_symbols - 1);
            if lowest >> PLACE_BITS >= u64::from(NO_MERGE.rank) {
                return held;
            }
            let place = lowest as usize & LAST;
            let (before, after) = around(held, place);
            let gone = after.trailing_zeros() as usize & LAST;
            let next = after & (after - 1);
            held &= !(1 << gone);
            let id = self.results[place];
            self.ids[place] = id;
            self.ranks[gone] = u64::MAX;
            self.ranks[place] = u64::MAX;
            // Both at once, before one is waited for. Where there is no neighbour any other symbol is as good.
            let last = (before | 1).ilog2() as usize & LAST;
            let first = next.trailing_zeros() as usize & LAST;
            merges.ask_for(id, self.ids[first]);
            merges.ask_for(self.ids[last], id);
            if next > 0 {
                self.set(place, merges.get_large(id, self.ids[first]));
            }
            if before > 0 {
                self.set(last, merges.get_large(self.ids[last], id));
            }
        }
    }

    #[inline]
    fn set(&mut self, place: usize, merge: RankedMerge) {
        let place = place & LAST;
        self.ranks[place] = u64::from(merge.rank) << PLACE_BITS | place as u64;
        self.results[place] = merge.result;
    }

    /// The lowest rank with its place, the leftmost of several.
    #[inline]
    fn lowest(&self, n_pairs: usize) -> u64 {
        let (steps, _) = self.ranks[..n_pairs.next_multiple_of(STEP)].as_chunks::<STEP>();
        let mut lowest = [u64::MAX; STEP];
        for step in steps {
            lowest = std::array::from_fn(|lane| lowest[lane].min(step[lane]));
        }
        let [a, b, c, d] = lowest;
        a.min(b).min(c.min(d))
    }

    /// Puts the tokens of the places that hold one into `ids`.
    #[inline]
    fn take(&self, mut held: u64, ids: &mut Vec<TokenId>) {
        ids.clear();
        while held > 0 {
            ids.push(self.ids[held.trailing_zeros() as usize & LAST]);
            held &= held - 1;
        }
    }
}

/// The places that are held before a place, and those behind it.
#[inline]
fn around(held: u64, place: usize) -> (u64, u64) {
    let before = (1 << place) - 1;
    (held & before, held & !before & !(1 << place))
}
