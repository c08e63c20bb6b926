//! Merging: from the symbols of a piece to its tokens.
//!
//! # The definition
//!
//! ```text
//! while some adjacent pair has a merge:
//!     take the pair whose merge has the lowest rank, the leftmost of several
//!     replace the two tokens by the result of the merge
//! ```
//!
//! This holds for any list of merges: ranks and ids may be in different orders, two merges may make one token or share
//! a rank, and a merge may use a token that only a later one makes. `naive` is exactly this loop, in O(n²). Everything
//! else here gives the same tokens sooner.
//!
//! # Which algorithm runs
//!
//! The symbols alone decide in [`Encoder::merge_symbols`]. Pieces longer than [`MAX_SCAN_LEN`] go through [`rounds`]
//! first, which merge pairs that are repeated. The first row that applies to the tokens that are left counts.
//!
//! | tokens left | algorithm | time for n of them |
//! |---|---|---|
//! | up to [`MAX_SCAN_LEN`] | [`scan`]: look at the keys of all pairs, merge, look again | O(n²) |
//! | up to one stretch | [`tree`]: a tree of minima over the keys | O(n log n) |
//! | more, if each token has one [length](stretches::Lengths) | [`stretches`]: trees of overlapping parts | O(n) as a rule |
//! | more, if not | [`tree`] over all of them | O(n log n) |
//!
//! Nearly all pieces of text are words, and nearly all of those are in the cache: `scan` merges the others. `rounds`
//! are for rulers and indentation, `tree` and `stretches` for base64, long identifiers, and text without spaces.
//!
//! # Why they agree
//!
//! - `scan` and `tree` do the loop above step by step. The key of a pair is its rank in the high bits and its place in
//!   the low bits, so the lowest key is the leftmost pair of lowest rank. They differ only in how they find it.
//! - `rounds` does the same steps as long as the next one lies to the right of the last.
//! - `stretches` relies on a theorem: a row of tokens is the encoding of its text exactly if each adjacent pair is the
//!   encoding of that pair's text. So overlapping parts can be joined at a token that both have at the same place.
//!
//! `docs/explanation/encoding.md` has the proofs. The test `all_algorithms_agree_with_the_definition` compares all of
//! them with `naive`, on vocabularies whose merges are in an order that no training gives.
//!
//! # The other files
//!
//! [`symbols`] makes the symbols of a piece, and decides what becomes of units that the vocabulary lacks. [`dropout`]
//! is another definition, which leaves merges out at random; it uses the links of the tree. So does everything that
//! needs more than ids: the spans of a piece and its log of merges.

pub(super) mod dropout;
pub(super) mod naive;
mod rounds;
mod scan;
pub(super) mod stretches;
pub(super) mod symbols;
pub(super) mod tree;

pub use dropout::Dropout;
pub(crate) use naive::NaiveMerges;
pub(super) use stretches::Lengths;
pub(crate) use symbols::Symbols;

use super::{Encoder, Scratch};
use crate::error::Result;
use crate::memory::ask;
use crate::vocabulary::TokenId;

/// Longest piece that is merged by [`scan`], in symbols.
pub(super) const MAX_SCAN_LEN: usize = 48;

/// Longest piece that is merged by [`rounds`], whose memory is kept, in symbols.
const MAX_ROUNDS_LEN: usize = 1 << 16;

/// Memory of the algorithms that is reused from piece to piece.
#[derive(Default)]
pub(super) struct Buffers {
    scan: scan::Row,
    row: Vec<rounds::Linked>,
    pub(super) tree: tree::Tree,
}

impl Encoder {
    /// Merges the symbols `scratch.ids` and appends the tokens.
    ///
    /// # Errors
    /// If there are too many symbols for the memory, or for 32-bit places.
    pub(super) fn merge_symbols(
        &self,
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (merges, ids) = (&self.merges, &mut scratch.ids);
        let Buffers { scan, row, tree } = &mut scratch.buffers;
        if (MAX_SCAN_LEN + 1..=MAX_ROUNDS_LEN).contains(&ids.len()) {
            rounds::merge(merges, ids, row);
            // Otherwise it is merged from its symbols, since `stretches` measures tokens in symbols.
            if row.len() <= stretches::SIZES.stretch {
                ids.clear();
                ids.extend(row.iter().map(|token| token.id));
            }
        }
        if ids.len() <= MAX_SCAN_LEN {
            scan::merge(merges, scan, ids);
            out.extend_from_slice(ids);
            return Ok(());
        }
        let is_long = ids.len() > stretches::SIZES.stretch;
        let Some(lengths) = is_long.then(|| self.lengths()).flatten() else {
            ask(ids.len().saturating_mul(tree::BYTES_PER_SYMBOL))?;
            return tree::merge(merges, ids, tree, out);
        };
        let merge = |ids: &[TokenId], out: &mut Vec<TokenId>| tree::merge(merges, ids, tree, out);
        stretches::merge(ids, stretches::SIZES, lengths, merge, out)
    }
}

#[cfg(test)]
pub(super) mod tests;
