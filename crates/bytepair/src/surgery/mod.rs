//! Changes to the vocabulary of a tokenizer: extending, pruning, removing tokens, joining with another vocabulary.
//!
//! These guarantees hold, each tested as a property of small random vocabularies in `tests`:
//!
//! - *Extension* ([`strings`]): existing tokens, merges and added tokens keep their ids and ranks, and new merges rank
//!   after all others. So the old merges run to their end first, and the new encoding of a text joins some adjacent
//!   tokens of the old one. Once two tokens get a merge, their string always becomes that token, since later merges rank
//!   after this one: every added token is reachable.
//! - *Removal* ([`remove`], [`prune`]): removing a token removes all merges that use it, and the tokens that only
//!   those merges make. Every remaining token that its own units were merged to still is: all merges on the way to it
//!   remain.
//! - *Numbering* ([`remove`]): all parts of a tokenizer that hold ids get the new ones, or the change is refused.
//!
//! Removing a merge does not simply split its token: a part may then merge with its other neighbour. So counts after a
//! removal require a new encoding.

mod prune;
mod remove;
mod strings;

pub use self::prune::{Goal, Pruned};
pub use self::remove::{Mode, Numbering, Removed, Rerouted};
pub use self::strings::{Extended, Outcome, StringReport};

use crate::encode::{Encoder, Scratch};
use crate::error::Result;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// Both parts of a merge, or one if they are the same.
fn parts_of(merge: Merge) -> impl Iterator<Item = TokenId> {
    [Some(merge.left), (merge.left != merge.right).then_some(merge.right)].into_iter().flatten()
}

/// The tokens that each token is built on.
///
/// In files with scores, several merges can make the same token. Such a token is built on one of them: the last merge
/// when its own units are encoded. The others never happen on the way to it. So the tokens that are built on a token
/// are exactly those that are removed with it. Each merge is read once, and each token with several merges is encoded
/// once.
#[derive(Clone, Debug)]
struct Ground {
    /// By id: its parts, in pairs, with the index of the merge.
    parts: Vec<Vec<(u32, Merge)>>,
    /// By id: the tokens that have it as a part.
    above: Vec<Vec<TokenId>>,
}

impl Ground {
    /// # Errors
    /// If a token is too long to encode.
    fn new(vocabulary: &Vocabulary, encoder: &Encoder) -> Result<Self> {
        let mut parts = vec![Vec::new(); vocabulary.len()];
        for (place, merge) in (0..).zip(vocabulary.merges()) {
            parts[merge.result as usize].push((place, *merge));
        }
        let mut scratch = Scratch::default();
        for (id, parts) in (0..).zip(&mut parts).filter(|(_, parts)| parts.len() > 1) {
            if let Some(last) = encoder.last_merge(id, &mut scratch)? {
                parts.reverse(); // of several merges of one pair, the last is used
                parts.retain(|(_, merge)| *merge == last);
                parts.truncate(1);
            }
        }
        let mut above = vec![Vec::new(); vocabulary.len()];
        for (_, merge) in parts.iter().flatten() {
            parts_of(*merge).for_each(|id| above[id as usize].push(merge.result));
        }
        Ok(Self { parts, above })
    }

    /// The tokens that a token is built on.
    fn parts(&self, id: TokenId) -> &[(u32, Merge)] {
        &self.parts[id as usize]
    }

    /// The tokens that are built on a token. A token with several merges may be listed several times.
    fn above(&self, id: TokenId) -> &[TokenId] {
        &self.above[id as usize]
    }

    /// These tokens and all that are built on them, in order of id.
    fn closure(&self, ids: &[TokenId]) -> Vec<TokenId> {
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
    fn ground(&self) -> Result<Ground> {
        Ground::new(&self.parts().vocabulary, self.encoder())
    }

    /// These tokens and all that are built on them, each with the parts that it is built on.
    ///
    /// # Errors
    /// If an id has no token, or a token is too long to encode.
    pub fn built_on(&self, ids: &[TokenId]) -> Result<Vec<(TokenId, Vec<TokenId>)>> {
        ids.iter().try_for_each(|&id| self.parts().vocabulary.expect_token(id).map(drop))?;
        let ground = self.ground()?;
        let parts = |id: TokenId| ground.parts(id).iter().flat_map(|(_, merge)| parts_of(*merge));
        Ok(ground.closure(ids).into_iter().map(|id| (id, parts(id).collect())).collect())
    }
}

#[cfg(test)]
mod tests;
