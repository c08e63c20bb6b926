//! What is asked about a vocabulary, without a text.
//!
//! Costs what encoding each token takes, for those methods that look at all of them.

use super::{Parts, Tokenizer};
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

    /// For each text: whether it is proven that no text has it in it once it is normalized.
    ///
    /// # Errors
    /// As for encoding these texts.
    pub fn never_normalized(&self, texts: &[&[u8]]) -> Result<Vec<bool>> {
        let Parts { normalizer, pre_tokenizer, .. } = &self.parts;
        let is_last = pre_tokenizer.rounds().iter().all(|round| round.change.adds_spaces_only());
        let steps = if is_last { normalizer.closed_steps() } else { Vec::new() };
        let is_never = |text: &&[u8]| {
            let mut changes = steps.iter().map(|step| step.changes(text));
            let change = changes.find(|change| !matches!(change, Ok(false)));
            change.unwrap_or(Ok(false))
        };
        texts.iter().map(is_never).collect()
    }

    /// For each text, which is UTF-8 and not empty: whether it is proven that the split pattern cuts it wherever it stands.
    pub fn never_held(&self, texts: &[&[u8]]) -> Vec<bool> {
        let mut never = vec![false; texts.len()];
        for round in self.parts.pre_tokenizer.rounds().iter().rev() {
            let found = round.splitter.never_hold(texts);
            never.iter_mut().zip(found).for_each(|(never, found)| *never |= found);
            if !round.change.steps().is_empty() {
                break; // what was split before had other texts
            }
        }
        never
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
