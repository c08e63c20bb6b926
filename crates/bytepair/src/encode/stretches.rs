//! Long pieces: stretch by stretch, put together where two of them agree.
//!
//! Two tokens and more are what a text is merged to if and only if each two neighbours are what their own text is merged to
//! (the proof is in `docs/explanation/encoding.md`). So a piece is merged in stretches that overlap: a token that
//! stands at the same place in two of them joins what is before it in the first to what is behind it in the second, since
//! each two neighbours are then neighbours in one of the two. What is merged at once fits the nearer caches of a
//! processor, however long the piece is.
//!
//! The next stretch begins where a token of the last one does, and mostly with the same token. Where the two agree
//! nowhere it begins further back, twice as far each time; where even that does not help the piece is merged as a
//! whole. Takes what the stretches take, and for each the overlap; at worst as much as ten times the whole piece.

use crate::error::Result;
use crate::vocabulary::TokenId;

/// How a piece is dealt out, in symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lens {
    /// Of a stretch.
    pub(super) stretch: usize,
    /// Of what two stretches have in common, at first.
    pub(super) overlap: usize,
}

/// Shorter pieces are merged as a whole.
pub(super) const MIN_LEN: usize = 256;

/// A tree of so many symbols fits the nearest cache of a processor.
pub(super) const LENS: Lens = Lens { stretch: 960, overlap: 64 };

/// A stretch that was merged.
struct Merged {
    tokens: Vec<TokenId>,
    /// Where it ends in the piece.
    end: usize,
    /// How many tokens have been handed out.
    n_done: usize,
}

/// Appends the symbols `ids` to `out`, merged. `merge` merges some of them, and `length` says how many a token has.
pub(super) fn merge(
    ids: &[TokenId],
    lens: Lens,
    length: impl Fn(TokenId) -> usize,
    mut merge: impl FnMut(&[TokenId], &mut Vec<TokenId>) -> Result<()>,
    out: &mut Vec<TokenId>,
) -> Result<()> {
    let n_before = out.len();
    let mut merged = |start: usize, end: usize| {
        let end = end.min(ids.len());
        let mut tokens = Vec::new();
        merge(&ids[start..end], &mut tokens)?;
        Ok(Merged { tokens, end, n_done: 0 })
    };
    let mut stretch = merged(0, lens.stretch)?;
    while stretch.end < ids.len() {
        let Some((n_first, next)) = after(&stretch, lens, &length, &mut merged)? else {
            out.truncate(n_before);
            stretch = merged(0, ids.len())?;
            break;
        };
        out.extend_from_slice(&stretch.tokens[stretch.n_done..n_first]);
        stretch = next;
    }
    out.extend_from_slice(&stretch.tokens[stretch.n_done..]);
    Ok(())
}

/// How much is merged anew, at first, of what grows.
const OVERLAP: usize = 48;

/// Of the tokens of the first `n_before` symbols, how many stay where there are more symbols, and those behind them.
pub(super) fn behind(
    tokens: &mut Vec<TokenId>,
    (symbols, n_before): (&[TokenId], usize),
    length: impl Fn(TokenId) -> usize,
    merge: &mut impl FnMut(&[TokenId], &mut Vec<TokenId>) -> Result<()>,
) -> Result<(usize, Vec<TokenId>)> {
    if n_before == symbols.len() {
        return Ok((tokens.len(), Vec::new()));
    }
    let mut merged = |start: usize, _: usize| {
        let mut tokens = Vec::new();
        merge(&symbols[start..], &mut tokens)?;
        Ok(Merged { tokens, end: symbols.len(), n_done: 0 })
    };
    let before = Merged { tokens: std::mem::take(tokens), end: n_before, n_done: 0 };
    let lens = Lens { stretch: symbols.len() - n_before, overlap: OVERLAP };
    let next = after(&before, lens, &length, &mut merged);
    *tokens = before.tokens;
    match next? {
        Some((n_first, mut next)) => Ok((n_first, next.tokens.split_off(next.n_done))),
        None => Ok((0, merged(0, symbols.len())?.tokens)),
    }
}

/// The stretch behind another, and how many tokens of that one are before those which it still has to hand out.
fn after(
    stretch: &Merged,
    lens: Lens,
    length: impl Fn(TokenId) -> usize,
    merged: &mut impl FnMut(usize, usize) -> Result<Merged>,
) -> Result<Option<(usize, Merged)>> {
    let (mut number, mut place) = (stretch.tokens.len(), stretch.end);
    let mut overlap = lens.overlap;
    while number > stretch.n_done {
        while number > stretch.n_done && stretch.end - place < overlap {
            number -= 1;
            place -= length(stretch.tokens[number]);
        }
        let mut next = merged(place, stretch.end + lens.stretch)?;
        if let Some((n_first, n_second)) = agreed(&stretch.tokens[number..], &next.tokens, &length)
        {
            next.n_done = n_second;
            return Ok(Some((number + n_first, next)));
        }
        overlap = 2 * (stretch.end - place);
    }
    Ok(None)
}

/// Of two rows of tokens that begin at one place: how many of each there are up to the first that both have at the
/// same place, itself included.
fn agreed(
    first: &[TokenId],
    second: &[TokenId],
    length: impl Fn(TokenId) -> usize,
) -> Option<(usize, usize)> {
    let (mut n_first, mut n_second) = (0, 0);
    let (mut place_first, mut place_second) = (0, 0);
    loop {
        let (one, other) = (*first.get(n_first)?, *second.get(n_second)?);
        if place_first == place_second && one == other {
            return Some((n_first + 1, n_second + 1));
        }
        if place_first <= place_second {
            place_first += length(one);
            n_first += 1;
        } else {
            place_second += length(other);
            n_second += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_agree_at_the_first_token_that_both_have_at_one_place() {
        let length = |id: TokenId| id as usize;
        assert_eq!(agreed(&[2, 3, 1], &[2, 3], length), Some((1, 1)));
        assert_eq!(agreed(&[1, 2, 3, 1], &[3, 1, 2, 9], length), None);
        assert_eq!(agreed(&[1, 2, 3, 1], &[3, 2, 1, 1], length), Some((4, 4)));
        assert_eq!(agreed(&[1, 2, 3, 1], &[2, 1, 3, 2], length), Some((3, 3)));
        assert_eq!(agreed(&[], &[1], length), None);
    }
}
