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

/// A token, and its merge with the next one.
#[derive(Clone, Copy)]
pub(super) struct Linked {
    pub(super) id: TokenId,
    merge: RankedMerge,
}

/// Merges symbols while many pairs share the lowest rank, and puts the tokens that are left into `row`.
#[cold]
pub(super) fn merge(merges: &impl Lookup, symbols: &[TokenId], row: &mut Vec<Linked>) {
    let mut get = repeated(|left, right| merges.get(left, right));
    row.clear();
    let pairs = symbols.iter().zip(symbols.iter().skip(1));
    row.extend(pairs.map(|(&id, &next)| Linked { id, merge: get(id, next) }));
    row.extend(symbols.last().map(|&id| Linked { id, merge: NO_MERGE }));
    loop {
        let lowest = row.iter().map(|token| token.merge.rank).fold(NO_MERGE.rank, u32::min);
        let n_lowest = row.iter().filter(|token| token.merge.rank == lowest).count();
        let is_common = lowest < NO_MERGE.rank && n_lowest >= row.len() / 4;
        if !is_common || !merge_lowest(merges, lowest, row) {
            return;
        }
    }
}

/// Merges each pair of the lowest rank, from left to right; returns whether each new pair has a higher rank.
///
/// If one has not, the rest of the row is kept. The first `n_done` tokens are those that the pass has left behind.
fn merge_lowest(merges: &impl Lookup, lowest: u32, row: &mut Vec<Linked>) -> bool {
    let mut with_left = repeated(|left, right| merges.get_large(left, right));
    let mut with_right = repeated(|left, right| merges.get_large(left, right));
    let (mut n_done, mut place, mut goes_on) = (0, 0, true);
    while place < row.len() {
        let mut token = row[place];
        place += 1;
        if goes_on && token.merge.rank == lowest {
            place += 1;
            token.id = token.merge.result;
            token.merge = row.get(place).map_or(NO_MERGE, |next| with_right(token.id, next.id));
            goes_on = token.merge.rank > lowest;
            if let Some(last) = row[..n_done].last_mut() {
                last.merge = with_left(last.id, token.id);
                goes_on &= last.merge.rank > lowest;
            }
        }
        row[n_done] = token;
        n_done += 1;
    }
    row.truncate(n_done);
    goes_on
}

/// A look-up that remembers the last pair, since the pairs of a run are the same.
fn repeated(
    get: impl Fn(TokenId, TokenId) -> RankedMerge,
) -> impl FnMut(TokenId, TokenId) -> RankedMerge {
    let mut last = ((0, 0), get(0, 0));
    move |left, right| {
        if last.0 != (left, right) {
            last = ((left, right), get(left, right));
        }
        last.1
    }
}
