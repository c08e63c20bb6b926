//! What is asked about a vocabulary, without a text.
//!
//! Costs what encoding each token takes, for those methods that look at all of them.

use super::Tokenizer;
use crate::encode::Scratch;
use crate::error::Result;
use crate::vocabulary::TokenId;

/// Tokens of text that merging gives in no piece (`docs/explanation/reachability.md`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreached {
    /// Merging their own units gives other tokens.
    pub unmade: Vec<TokenId>,
    /// They are made of their units, but no neighbours leave them whole.
    pub unplaced: Vec<TokenId>,
}

impl Tokenizer {
    /// The tokens that merging never gives. Those that a whole piece may be are among them, too.
    pub fn unreached(&self) -> Unreached {
        let encoder = self.encoder();
        let mut unmade = encoder.unmade();
        let unplaced = encoder.unplaced(&unmade);
        let others = encoder.made_of_others();
        unmade.retain(|id| !others.contains(id));
        Unreached { unmade, unplaced }
    }

    /// The units of a token of text, marks included; `None` where one is not in the vocabulary, and for other tokens.
    pub fn units_of_token(&self, id: TokenId) -> Option<Vec<TokenId>> {
        self.encoder().units_of_token(id)
    }

    /// What units, or tokens, are merged to.
    ///
    /// # Errors
    /// Where an id is no token, or there are too many for the memory.
    pub fn merged(&self, ids: &[TokenId]) -> Result<Vec<TokenId>> {
        ids.iter().try_for_each(|&id| self.parts.vocabulary.expect_token(id).map(drop))?;
        self.encoder().merged(ids, &mut Scratch::default())
    }
}
