//! Merging: from the symbols of a piece to its tokens.
//!
//! # The definition
//!
//! ```text
//! while some pair of neighbours has a merge:
//!     take the pair whose merge has the lowest rank, the leftmost of several
//!     replace the two tokens by the result of the merge
//! ```
//!
//! This holds for any list of merges: also where ranks and ids are in different orders, where two merges make one token,
//! where merges share a rank, and where a merge uses a token that only a later one makes. `naive` is this loop, word for
//! word, in O(n²). Everything else here gives the same tokens sooner.
//!
//! # Which algorithm runs
//!
//! [`Encoder::merge_symbols`] decides by the symbols alone. The first line that applies counts.
//!
//! | symbols | algorithm | time for n symbols |
//! |---|---|---|
//! | up to [`MAX_SCAN_LEN`] | [`scan`]: look at the keys of all pairs, merge, look again | O(n²) |
//! | up to one stretch | [`tree`]: a tree of minima over the keys | O(n log n) |
//! | more, if each token has one [length](stretches::Lengths) | [`stretches`]: trees of overlapping parts | O(n) as a rule |
//! | more, else | [`tree`] over all symbols | O(n log n) |
//!
//! Nearly all pieces of text are words, and nearly all of those are in the cache: `scan` does what remains. `tree` and
//! `stretches` are for rulers, base64, long identifiers, and text without spaces.
//!
//! # Why they agree
//!
//! - `scan` and `tree` do the loop above step by step. The key of a pair is its rank, and below that its place, so the
//!   lowest key is the leftmost pair of lowest rank. They differ only in how they find it.
//! - `stretches` stands on a theorem: a row of tokens is what its text is merged to if and only if each two neighbours
//!   are what their own text is merged to. So overlapping parts can be joined at a token that both have at one place.
//!
//! `docs/explanation/encoding.md` has the proofs. The test `all_algorithms_agree_with_the_definition` compares all of
//! them with `naive`, on vocabularies whose merges are in an order that no training gives.
//!
//! # Around them
//!
//! [`symbols`] makes the symbols of a piece, and decides what becomes of units that the vocabulary lacks. [`dropout`] is
//! another definition, which leaves merges out by chance; it uses the links of the tree. So does everything that needs more
//! than ids: the spans and the course of a piece.

pub(super) mod dropout;
pub(super) mod naive;
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

/// Memory of the algorithms that is used again from piece to piece.
#[derive(Default)]
pub(super) struct Buffers {
    row: scan::Row,
    pub(super) tree: tree::Tree,
}

impl Encoder {
    /// Appends what the symbols `scratch.ids` are merged to.
    ///
    /// # Errors
    /// If there are too many symbols for the memory, or for places of 32 bits.
    pub(super) fn merge_symbols(
        &self,
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
    ) -> Result<()> {
        let (merges, ids) = (&self.merges, &mut scratch.ids);
        let Buffers { row, tree } = &mut scratch.buffers;
        if ids.len() <= MAX_SCAN_LEN {
            scan::merge(merges, row, ids);
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
