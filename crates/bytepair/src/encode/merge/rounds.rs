//! Pieces that repeat themselves: all merges of the lowest rank in one pass.
//!
//! ```text
//! while a quarter of the pairs or more have the lowest rank:
//!     go from left to right and merge each pair that has it
//!     end if a new pair has no higher rank
//! ```
//!
//! *Why it is exact:* each merge is the next one of the definition. To the left of it no pair has the lowest rank: the
//! pass has merged those, and each new pair has a higher one. New pairs are those of a new token with the token before
//! it and with the one after it, even if the latter is merged next. If a new pair has no higher rank, the row is as the
//! definition leaves it at that moment, and the other algorithms go on from there.
//!
//! *Left out:* the other merges of a piece, which [`super::scan`] or [`super::tree`] does.
//!
//! *Cost:* O(n) time for n symbols, because each pass but the last shortens the row by an eighth or more: at least every
//! second pair of the lowest rank is merged. A pair that is the same as the one before it is not looked up again.

use crate::vocabulary::TokenId;
use crate::vocabulary::merge_table::{Lookup, NO_MERGE, RankedMerge};

/// A piece during merging.
#[derive(Default)]
pub(super) struct Row {
    ids: Vec<TokenId>,
    /// The merge of each id with the next one.
    pairs: Vec<RankedMerge>,
}

impl Row {
    /// Merges symbols while many pairs share the lowest rank; returns what is left to merge.
    pub(super) fn merge(&mut self, merges: &impl Lookup, symbols: &[TokenId]) -> &mut Vec<TokenId> {
        let mut get = repeated(|pair: [TokenId; 2]| merges.get(pair[0], pair[1]));
        self.ids.clear();
        self.ids.extend_from_slice(symbols);
        self.pairs.clear();
        self.pairs.extend(symbols.windows(2).map(|pair| get([pair[0], pair[1]])));
        self.pairs.push(NO_MERGE);
        loop {
            let lowest = self.pairs.iter().map(|pair| pair.rank).fold(NO_MERGE.rank, u32::min);
            let n_lowest = self.pairs.iter().filter(|pair| pair.rank == lowest).count();
            let is_common = lowest < NO_MERGE.rank && n_lowest >= self.ids.len() / 4;
            if !is_common || !self.merge_lowest(merges, lowest) {
                return &mut self.ids;
            }
        }
    }

    /// Merges each pair of the lowest rank, from left to right; returns whether each new pair has a higher rank.
    ///
    /// If one has not, no more is merged. The first `n_done` ids and pairs are those behind the pass.
    fn merge_lowest(&mut self, merges: &impl Lookup, lowest: u32) -> bool {
        let Self { ids, pairs } = self;
        let mut with_left = repeated(|pair: [TokenId; 2]| merges.get_large(pair[0], pair[1]));
        let mut with_right = repeated(|pair: [TokenId; 2]| merges.get_large(pair[0], pair[1]));
        let (mut n_done, mut place, mut goes_on) = (0, 0, true);
        while place < ids.len() {
            if !goes_on || pairs[place].rank > lowest {
                (ids[n_done], pairs[n_done]) = (ids[place], pairs[place]);
                n_done += 1;
                place += 1;
                continue;
            }
            let id = pairs[place].result;
            place += 2;
            ids[n_done] = id;
            pairs[n_done] = ids.get(place).map_or(NO_MERGE, |&after| with_right([id, after]));
            goes_on = pairs[n_done].rank > lowest;
            if n_done > 0 {
                pairs[n_done - 1] = with_left([ids[n_done - 1], id]);
                goes_on &= pairs[n_done - 1].rank > lowest;
            }
            n_done += 1;
        }
        ids.truncate(n_done);
        pairs.truncate(n_done);
        goes_on
    }
}

/// Looks a pair up only if it is not the last one again.
fn repeated(get: impl Fn([TokenId; 2]) -> RankedMerge) -> impl FnMut([TokenId; 2]) -> RankedMerge {
    let mut last = None;
    move |pair| match last {
        Some((known, merge)) if known == pair => merge,
        _ => last.insert((pair, get(pair))).1,
    }
}
