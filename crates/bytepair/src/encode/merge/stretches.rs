//! Long pieces: merged in overlapping stretches, which are joined where two of them agree.
//!
//! ```text
//! merge the first stretch
//! until the end of the piece:
//!     merge the next stretch, which begins where a token of the last one does, some symbols before its end
//!     find the first token that both have at the same place
//!     take the tokens up to it from the last stretch; those after it come from the next one
//! ```
//!
//! A row of tokens is the encoding of its text exactly if each adjacent pair is the encoding of that pair's text (the
//! proof is in `docs/explanation/encoding.md`). *Invariant:* each adjacent pair of the tokens that were taken is
//! adjacent in one stretch. So the result is exact, and what is merged at once fits the nearer caches of a processor,
//! however long the piece is.
//!
//! Mostly the first token of the next stretch is also one of the last. If the two agree nowhere, the next begins
//! further back, twice as far each time. If even that does not help, the piece is merged as a whole. The time is that
//! of the stretches and their overlaps, at worst ten times that of the whole piece. Left out: vocabularies whose tokens
//! have no [lengths](Lengths).

use super::Symbols;
use crate::error::Result;
use crate::patch::Patch;
use crate::units::EndMarkKind;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// How a piece is divided, in symbols.
#[derive(Clone, Copy, Debug)]
pub(in crate::encode) struct Sizes {
    /// The length of a stretch.
    pub(in crate::encode) stretch: usize,
    /// How much two stretches overlap, at first.
    pub(super) overlap: usize,
}

/// A [tree](super::tree) of this many symbols fits the nearest cache of a processor.
pub(in crate::encode) const SIZES: Sizes = Sizes { stretch: 960, overlap: 64 };

/// How many symbols before the new ones are merged again, at first, when a piece grows.
const GROWTH_OVERLAP: usize = 48;

/// By id: the number of symbols of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::encode) struct Lengths(Vec<u32>);

impl Lengths {
    /// `None` if the result of a merge has another length than its parts together: then a token may be made of
    /// different numbers of symbols.
    pub(in crate::encode) fn new(vocabulary: &Vocabulary, symbols: &Symbols) -> Option<Self> {
        let units = symbols.units();
        let has_unit_mark = units.end_mark_kind() == Some(EndMarkKind::Unit);
        let n_units = |token: Token<'_>| {
            let TokenKind::Text(form) = token.kind else { return 1 };
            let n_units = match units.is_bytes() {
                true => token.bytes.len(),
                false => token.bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count(),
            };
            (n_units + usize::from(has_unit_mark && form.ends())).max(1)
        };
        // The unknown token is one symbol, however it is written.
        let length = |id| match vocabulary.token(id) {
            Some(token) if symbols.unknown() != Some(id) => u32::try_from(n_units(token)).ok(),
            _ => Some(1),
        };
        let n_ids = TokenId::try_from(vocabulary.len()).ok()?;
        let lengths: Vec<u32> = (0..n_ids).map(length).collect::<Option<_>>()?;
        let of = |id: TokenId| lengths.get(id as usize).copied();
        let are_parts = vocabulary.merges().iter().all(|merge| {
            let sum = of(merge.left).zip(of(merge.right)).and_then(|(a, b)| a.checked_add(b));
            sum.is_some() && sum == of(merge.result)
        });
        are_parts.then_some(Self(lengths))
    }

    /// The number of symbols of a token. An id outside the vocabulary is one symbol.
    #[inline]
    pub(super) fn of(&self, id: TokenId) -> usize {
        self.0.get(id as usize).map_or(1, |&length| length as usize)
    }
}

/// A stretch that was merged.
struct Merged {
    tokens: Vec<TokenId>,
    /// Where it ends in the piece.
    end: usize,
    /// How many tokens have been taken.
    n_done: usize,
}

/// Merges the symbols `ids` and appends the tokens to `out`. `merge` merges some of them.
///
/// # Errors
/// If `merge` fails.
pub(super) fn merge(
    ids: &[TokenId],
    sizes: Sizes,
    lengths: &Lengths,
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
    let mut stretch = merged(0, sizes.stretch)?;
    while stretch.end < ids.len() {
        let Some((n_first, next)) = after(&stretch, sizes, lengths, &mut merged)? else {
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

/// How the tokens of the first `n_before` symbols of a piece change when more symbols follow.
///
/// # Errors
/// If `merge` fails.
pub(in crate::encode) fn grow(
    tokens: &mut Vec<TokenId>,
    n_before: usize,
    symbols: &[TokenId],
    lengths: &Lengths,
    mut merge: impl FnMut(&[TokenId], &mut Vec<TokenId>) -> Result<()>,
) -> Result<Patch> {
    if n_before == symbols.len() {
        return Ok(Patch { keep: tokens.len(), ..Patch::default() });
    }
    let mut merged = |start: usize, _: usize| {
        let mut tokens = Vec::new();
        merge(&symbols[start..], &mut tokens)?;
        Ok(Merged { tokens, end: symbols.len(), n_done: 0 })
    };
    let before = Merged { tokens: std::mem::take(tokens), end: n_before, n_done: 0 };
    let sizes = Sizes { stretch: symbols.len() - n_before, overlap: GROWTH_OVERLAP };
    let next = after(&before, sizes, lengths, &mut merged);
    *tokens = before.tokens;
    match next? {
        Some((keep, mut next)) => {
            Ok(Patch { keep, ids: next.tokens.split_off(next.n_done), keep_after: 0 })
        }
        None => Ok(Patch { ids: merged(0, symbols.len())?.tokens, ..Patch::default() }),
    }
}

/// The stretch after another, with the number of tokens of the latter up to the join.
fn after(
    stretch: &Merged,
    sizes: Sizes,
    lengths: &Lengths,
    merged: &mut impl FnMut(usize, usize) -> Result<Merged>,
) -> Result<Option<(usize, Merged)>> {
    let (mut number, mut place) = (stretch.tokens.len(), stretch.end);
    let mut overlap = sizes.overlap;
    while number > stretch.n_done {
        while number > stretch.n_done && stretch.end - place < overlap {
            number -= 1;
            place -= lengths.of(stretch.tokens[number]);
        }
        let mut next = merged(place, stretch.end + sizes.stretch)?;
        let length = |id| lengths.of(id);
        if let Some((n_first, n_second)) = agreed(&stretch.tokens[number..], &next.tokens, length) {
            next.n_done = n_second;
            return Ok(Some((number + n_first, next)));
        }
        overlap = 2 * (stretch.end - place);
    }
    Ok(None)
}

/// For two rows of tokens that begin at the same place: how many tokens each has up to and including the first that
/// both have at the same place.
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
