//! Short pieces: look for the lowest key along the piece, merge, look again.
//!
//! ```text
//! the key of a place is that of the pair which begins there: rank << 6 | place, or all ones
//! `held` has a bit for each place that holds a token
//!
//! while the lowest of all keys is that of a merge:
//!     put the result at its place, and take the bit of the next held place away
//!     look up the pairs of the result with its two neighbours, and set their keys
//! ```
//!
//! *Invariant:* between two merges, each held place but the last has the key of its pair with the next held one, and every
//! other place has a key that is no merge. So the lowest key is the leftmost pair of lowest rank, as the place is part of what
//! is compared, and the search for it has no branch.
//!
//! *Cost:* O(n²) for n symbols, and sooner than everything else while n is small: the keys of a word lie in a few cache
//! lines, only two pairs are looked up for a merge, and nothing is moved. Rows have a fixed length, a power of two, so that a
//! masked place is always within them.

use super::MAX_SCAN_LEN;
use crate::vocabulary::TokenId;
use crate::vocabulary::merge_table::{Lookup, Merges, NO_MERGE, RankedMerge};

/// Places in a row: as many as a word has bits. Every index is masked with the last of them.
const N_PLACES: usize = 64;
const LAST: usize = N_PLACES - 1;

/// Places that are compared side by side.
const STEP: usize = 4;

const _: () = assert!(MAX_SCAN_LEN < N_PLACES);

/// Bits of a place.
const PLACE_BITS: u32 = N_PLACES.ilog2();

/// The key of a place whose token has no merge with the next one.
const NO_KEY: u64 = u64::MAX;

/// A piece while it is merged; all by place.
pub(super) struct Row {
    ids: [TokenId; N_PLACES],
    /// The rank of the merge with the next token, and the place.
    keys: [u64; N_PLACES],
    /// What that merge makes.
    results: [TokenId; N_PLACES],
}

impl Default for Row {
    fn default() -> Self {
        Self { ids: [0; N_PLACES], keys: [NO_KEY; N_PLACES], results: [0; N_PLACES] }
    }
}

/// Merges `ids`, at most [`MAX_SCAN_LEN`] of them, in place.
pub(super) fn merge(merges: &Merges, row: &mut Row, ids: &mut Vec<TokenId>) {
    if ids.len() < 2 {
        return;
    }
    let held = match merges {
        Merges::Packed(packed) => row.merge(ids, packed.as_ref()),
        Merges::Wide(map) => row.merge(ids, map.as_ref()),
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
        self.keys[n_pairs..n_pairs.next_multiple_of(STEP)].fill(NO_KEY);
    }

    /// Merges until no pair has a merge; gives a bit for each place that holds a token then.
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
            self.keys[gone] = NO_KEY;
            self.keys[place] = NO_KEY;
            // Both are prefetched before one is waited for. If there is no neighbour any other token is as good.
            let last = (before | 1).ilog2() as usize & LAST;
            let first = next.trailing_zeros() as usize & LAST;
            merges.prefetch(id, self.ids[first]);
            merges.prefetch(self.ids[last], id);
            if next > 0 {
                self.set(place, merges.get_large(id, self.ids[first]));
            }
            if before > 0 {
                self.set(last, merges.get_large(self.ids[last], id));
            }
        }
    }

    /// Sets the key of a place, and what its merge makes.
    #[inline]
    fn set(&mut self, place: usize, merge: RankedMerge) {
        let place = place & LAST;
        self.keys[place] = u64::from(merge.rank) << PLACE_BITS | place as u64;
        self.results[place] = merge.result;
    }

    /// The lowest key.
    #[inline]
    fn lowest(&self, n_pairs: usize) -> u64 {
        let (steps, _) = self.keys[..n_pairs.next_multiple_of(STEP)].as_chunks::<STEP>();
        let mut lowest = [NO_KEY; STEP];
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

/// The places that are held before a place, and those after it.
#[inline]
fn around(held: u64, place: usize) -> (u64, u64) {
    let before = (1 << place) - 1;
    (held & before, held & !before & !(1 << place))
}
