//! A piece to its ids, with each token that is made on the way.
//!
//! For counting how often a token is made, and how often it stays: the rest of the times it is merged on. Takes O(n log n)
//! time, by `heap`, whatever the piece is.

use super::{Encoder, HEAP_LEN, Scratch, heap};
use crate::error::Result;
use crate::memory::ask;
use crate::vocabulary::TokenId;

impl Encoder {
    /// Appends the ids of a piece, and calls `tell` with each token that is made: each symbol, and what each merge gives.
    ///
    /// # Errors
    /// As for [`Encoder::encode`].
    pub(crate) fn encode_telling(
        &self,
        piece: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<TokenId>,
        mut tell: impl FnMut(TokenId),
    ) -> Result<()> {
        if let Some(id) = self.whole_token(piece) {
            tell(id);
            out.push(id);
            return Ok(());
        }
        ask(piece.len().saturating_mul(HEAP_LEN))?;
        scratch.ids.clear();
        self.symbols.push_ids(piece, &mut scratch.ids, |symbol| self.unknown_unit(symbol))?;
        scratch.ids.iter().copied().for_each(&mut tell);
        heap::merge_telling(&self.merges, &scratch.ids, &mut scratch.heap, tell)?;
        out.extend(heap::tokens(&scratch.heap.nodes).map(|(_, id)| id));
        scratch.heap.shrink();
        Ok(())
    }
}
