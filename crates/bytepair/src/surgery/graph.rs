//! Which merges make a token and which use it.
//!
//! In files with scores, several merges can make the same token. Such a token is built on one of them: the last merge when
//! its own units are encoded. The others never happen on the way to it. So the tokens that are built on a token are those
//! that are removed with it. Each merge is read once, and each token with several merges is encoded once.

use crate::encode::{Encoder, Scratch};
use crate::error::Result;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// By id: the values that belong to it, in their order.
type Rows = Vec<Vec<u32>>;

fn rows(n_ids: usize, pairs: impl Iterator<Item = (TokenId, u32)>) -> Rows {
    let mut rows = vec![Vec::new(); n_ids];
    pairs.for_each(|(id, value)| rows[id as usize].push(value));
    rows
}

fn row(rows: &Rows, id: TokenId) -> &[u32] {
    rows.get(id as usize).map_or(&[], Vec::as_slice)
}

/// Both parts of a merge, or the one that they are.
pub(super) fn parts_of(merge: Merge) -> impl Iterator<Item = TokenId> {
    [Some(merge.left), (merge.left != merge.right).then_some(merge.right)].into_iter().flatten()
}

/// The merges of a vocabulary by the tokens that they make and use.
#[derive(Clone, Debug)]
pub struct MergeGraph {
    makers: Rows,
    users: Rows,
}

impl MergeGraph {
    /// The graph of all merges.
    pub fn new(vocabulary: &Vocabulary) -> Self {
        let merges = || (0..).zip(vocabulary.merges());
        let makers = merges().map(|(place, merge)| (merge.result, place));
        let users = merges().flat_map(|(place, &merge)| parts_of(merge).map(move |id| (id, place)));
        let n_ids = vocabulary.len();
        Self { makers: rows(n_ids, makers), users: rows(n_ids, users) }
    }

    /// The places of the merges that make a token, in their order.
    pub fn makers(&self, id: TokenId) -> &[u32] {
        row(&self.makers, id)
    }

    /// The places of the merges that use a token, in their order.
    pub fn users(&self, id: TokenId) -> &[u32] {
        row(&self.users, id)
    }
}

/// The tokens that each token is built on.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    /// By id: its parts, in pairs, with the place of the merge.
    parts: Vec<Vec<(u32, Merge)>>,
    /// By id: the tokens that have it as a part.
    above: Rows,
}

impl Ground {
    /// # Errors
    /// Where a token is too long to encode.
    pub(super) fn new(vocabulary: &Vocabulary, encoder: &Encoder) -> Result<Self> {
        let mut parts = vec![Vec::new(); vocabulary.len()];
        for (place, merge) in (0..).zip(vocabulary.merges()) {
            parts[merge.result as usize].push((place, *merge));
        }
        let mut scratch = Scratch::default();
        for (id, parts) in (0..).zip(&mut parts).filter(|(_, parts)| parts.len() > 1) {
            if let Some(last) = encoder.last_merge(id, &mut scratch)? {
                parts.reverse(); // of merges of one pair, the last counts
                parts.retain(|(_, merge)| *merge == last);
                parts.truncate(1);
            }
        }
        let merges = parts.iter().flatten().map(|(_, merge)| *merge);
        let above = merges.flat_map(|merge| parts_of(merge).map(move |id| (id, merge.result)));
        let above = rows(vocabulary.len(), above);
        Ok(Self { parts, above })
    }

    /// What a token is built on.
    pub(super) fn parts(&self, id: TokenId) -> &[(u32, Merge)] {
        self.parts.get(id as usize).map_or(&[], Vec::as_slice)
    }

    /// The tokens that are built on a token. A token with several merges may be listed several times.
    pub(super) fn above(&self, id: TokenId) -> &[TokenId] {
        row(&self.above, id)
    }

    /// These tokens and all that are built on them, in the order of their ids.
    pub(super) fn closure(&self, ids: &[TokenId]) -> Vec<TokenId> {
        let mut is_in = vec![false; self.parts.len()];
        let mut waiting = ids.to_vec();
        while let Some(id) = waiting.pop() {
            if !std::mem::replace(&mut is_in[id as usize], true) {
                waiting.extend_from_slice(self.above(id));
            }
        }
        (0..).zip(is_in).filter(|(_, is_in)| *is_in).map(|(id, _)| id).collect()
    }
}

impl Tokenizer {
    /// The merges by the tokens that they make and use.
    pub fn merge_graph(&self) -> MergeGraph {
        MergeGraph::new(&self.parts().vocabulary)
    }

    pub(super) fn ground(&self) -> Result<Ground> {
        Ground::new(&self.parts().vocabulary, self.encoder())
    }

    /// These tokens and all that are built on them.
    ///
    /// # Errors
    /// Where an id is that of no token, or a token is too long to encode.
    pub fn built_on(&self, ids: &[TokenId]) -> Result<Vec<TokenId>> {
        ids.iter().try_for_each(|&id| self.parts().vocabulary.expect_token(id).map(drop))?;
        Ok(self.ground()?.closure(ids))
    }
}
