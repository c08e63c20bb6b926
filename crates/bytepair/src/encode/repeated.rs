//! Added tokens that are one character so many times, as pieces.
//!
//! A text is cut at added tokens before it is split. Where a splitter cuts these out instead, a piece that is one of them
//! is that token, whatever its bytes would be merged to. Costs a look at the first byte of a new piece, and at the others
//! of one that may be such a token.

use crate::vocabulary::TokenId;

/// Tokens of one ASCII character, from a least number of times on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Repeated {
    pub(crate) byte: u8,
    /// How often the first one has it, once at least, and the ids of that one and each longer one.
    pub(crate) least: usize,
    pub(crate) ids: Vec<TokenId>,
}

impl Repeated {
    /// How often the longest has it.
    pub(crate) fn most(&self) -> usize {
        self.least + self.ids.len() - 1
    }

    /// The token that a piece is.
    #[inline]
    pub(crate) fn token(&self, piece: &[u8]) -> Option<TokenId> {
        let id = self.ids.get(piece.len().checked_sub(self.least)?)?;
        piece.iter().all(|&byte| byte == self.byte).then_some(*id)
    }
}
