//! Encoding by the merges of a vocabulary that is being changed: without those that make some tokens, and with more.
//!
//! To compile a vocabulary takes a look at all its merges; a change here is one bit or one entry of a table. So a vocabulary
//! can be changed token by token, with what each piece becomes in between. The rule is the definition of [`super::merge`] on
//! the changed merges. Takes O(n log n) for n symbols. Left out: added tokens, which are no merges.

use std::collections::HashMap;

use super::{Encoder, Scratch};
use crate::error::Result;
use crate::vocabulary::merge_table::{Lookup, Merges, NO_MERGE, RankedMerge};
use crate::vocabulary::{Merge, TokenId};

/// What is changed about the merges of an encoder.
#[derive(Debug, Default)]
pub(crate) struct EditedMerges {
    /// By id: whether the token goes, with all merges that make it. Ids beyond its end stay.
    pub(crate) removed: Vec<bool>,
    /// More merges by pair, which come before those of the encoder.
    more: HashMap<(TokenId, TokenId), RankedMerge>,
}

/// Added merges have this rank and higher ones.
const FIRST_RANK: u32 = 3 << 30;

/// The merges that an encoder has after a change.
struct Edited<'m> {
    merges: &'m Merges,
    edit: &'m EditedMerges,
}

impl EditedMerges {
    /// No token goes yet, of so many.
    pub(crate) fn of_ids(n_ids: usize) -> Self {
        Self { removed: vec![false; n_ids], more: HashMap::new() }
    }

    /// Adds a merge after all others; `None` if there is no room for one more.
    pub(crate) fn push(&mut self, merge: Merge) -> Option<()> {
        let rank = FIRST_RANK.checked_add(u32::try_from(self.more.len()).ok()?)?;
        let ranked = RankedMerge { rank, result: merge.result };
        if rank == NO_MERGE.rank {
            return None;
        }
        self.more.insert((merge.left, merge.right), ranked);
        Some(())
    }

    /// Whether a token goes.
    pub(crate) fn is_removed(&self, id: TokenId) -> bool {
        self.removed.get(id as usize) == Some(&true)
    }
}

impl Lookup for Edited<'_> {
    fn get(&self, left: TokenId, right: TokenId) -> RankedMerge {
        if !self.edit.more.is_empty()
            && let Some(&merge) = self.edit.more.get(&(left, right))
        {
            return merge;
        }
        let merge = self.merges.get(left, right);
        if !merge.exists() || self.edit.is_removed(merge.result) {
            return NO_MERGE;
        }
        RankedMerge { rank: merge.rank.min(FIRST_RANK - 1), ..merge }
    }
}

impl Encoder {
    /// What symbols are merged to.
    ///
    /// # Errors
    /// If there are too many for places of 32 bits.
    pub(crate) fn merged_by(
        &self,
        edit: &EditedMerges,
        symbols: &[TokenId],
        scratch: &mut Scratch,
    ) -> Result<Vec<TokenId>> {
        let tree = &mut scratch.buffers.tree;
        tree.merge(&Edited { merges: &self.merges, edit }, symbols, |_, _| ())?;
        let ids = tree.tokens().map(|(_, id)| id).collect();
        tree.shrink();
        Ok(ids)
    }

    /// The ids of a piece, with the id after the last for each unit that nothing stands for.
    ///
    /// # Errors
    /// If a piece of characters is not UTF-8, or too long.
    pub(crate) fn encode_by(
        &self,
        edit: &EditedMerges,
        piece: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Vec<TokenId>> {
        if let Some(id) = self.whole_token(piece).filter(|&id| !edit.is_removed(id)) {
            return Ok(vec![id]);
        }
        let symbols = self.symbol_ids(piece)?;
        self.merged_by(edit, &symbols, scratch)
    }

    /// The symbols of a piece, with the id after the last for each unit that nothing stands for.
    ///
    /// # Errors
    /// If a piece of characters is not UTF-8.
    pub(crate) fn symbol_ids(&self, piece: &[u8]) -> Result<Vec<TokenId>> {
        let stranger = TokenId::try_from(self.vocabulary.len()).unwrap_or(TokenId::MAX);
        let mut symbols = Vec::with_capacity(piece.len());
        self.symbols.push_ids(piece, &mut symbols, |_| Ok(stranger))?;
        Ok(symbols)
    }

    /// The last merge of the units of a token, if they are merged to it.
    ///
    /// # Errors
    /// If there are too many for places of 32 bits.
    pub(crate) fn last_merge(&self, id: TokenId, scratch: &mut Scratch) -> Result<Option<Merge>> {
        let Some(units) = self.units_of_token(id) else { return Ok(None) };
        let mut last = None;
        let tree = &mut scratch.buffers.tree;
        tree.merge(&self.merges, &units, |_, merge| last = Some(merge))?;
        let is_made = tree.tokens().map(|(_, id)| id).eq([id]);
        tree.shrink();
        Ok(last.filter(|_| is_made))
    }
}
