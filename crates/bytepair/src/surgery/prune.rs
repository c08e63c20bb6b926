//! A smaller vocabulary for a corpus: the leaf that occurs least goes, again and again.
//!
//! Only tokens that no other stands on may go, so every token that stays is still made. Of equally rare ones the newest
//! goes: the one of the last merge, then of the largest id. After each removal the pieces that have the token are encoded
//! again, and all counts follow, so each choice is made on exact counts.
//!
//! An index from tokens to the pieces that have or had them finds these pieces. Takes an encoding for each distinct piece,
//! another one for each piece that loses a token, and a logarithm for each count of a leaf that changes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::graph::Ground;
use super::renumber::{Edit, Numbering, ReasonsToStay};
use crate::count::PieceCounts;
use crate::encode::{EditedMerges, Encoder, Scratch};
use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;
use crate::vocabulary::TokenId;

/// A smaller tokenizer.
#[derive(Debug)]
pub struct Pruned {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The new ids by the old ones.
    pub id_map: Vec<Option<TokenId>>,
    /// The old ids of the tokens that went, in this order, each with how often it occurred then.
    pub removed: Vec<(TokenId, i64)>,
}

/// Leaves in the order in which they go: the rarest, and of these the newest.
type Leaf = (i64, Reverse<u32>, Reverse<TokenId>);

struct Pruning<'p> {
    encoder: &'p Encoder,
    counts: &'p PieceCounts,
    ground: &'p Ground,
    reasons: &'p ReasonsToStay,
    edit: EditedMerges,
    /// By piece: its ids.
    pieces: Vec<Box<[TokenId]>>,
    /// By id: the pieces that have it, and perhaps some that had it.
    places: Vec<Vec<u32>>,
    /// By id: how often it occurs.
    n_uses: Vec<i64>,
    /// By id: how many tokens stand on it.
    n_above: Vec<usize>,
    leaves: BTreeSet<Leaf>,
    scratch: Scratch,
}

impl<'p> Pruning<'p> {
    fn new(
        tokenizer: &'p Tokenizer,
        counts: &'p PieceCounts,
        ground: &'p Ground,
        reasons: &'p ReasonsToStay,
    ) -> Result<Self> {
        let n_ids = tokenizer.parts().vocabulary.len();
        let mut n_above = vec![0; n_ids];
        for (_, merge) in (0..).take(n_ids).flat_map(|id| ground.parts(id)) {
            n_above[merge.left as usize] += 1;
            n_above[merge.right as usize] += usize::from(merge.left != merge.right);
        }
        let mut pruning = Self {
            encoder: tokenizer.encoder(),
            counts,
            ground,
            reasons,
            edit: EditedMerges::of_ids(n_ids),
            pieces: Vec::with_capacity(counts.len()),
            places: vec![Vec::new(); n_ids],
            n_uses: vec![0; n_ids],
            n_above,
            leaves: BTreeSet::new(),
            scratch: Scratch::default(),
        };
        for (piece, (bytes, count, _)) in (0_u32..).zip(counts.iter()) {
            let ids = pruning.encoder.encode_by(&pruning.edit, bytes, &mut pruning.scratch)?;
            for id in &ids {
                pruning.note(piece, *id, count);
            }
            pruning.pieces.push(ids.into());
        }
        for (id, _) in tokenizer.parts().vocabulary.iter() {
            if pruning.n_above[id as usize] == 0 && reasons.is_free(id) {
                pruning.leaves.insert(pruning.leaf(id));
            }
        }
        Ok(pruning)
    }

    /// A token in the order of leaves.
    fn leaf(&self, id: TokenId) -> Leaf {
        let place = self.ground.parts(id).iter().map(|(place, _)| *place).max();
        (self.n_uses[id as usize], Reverse(place.unwrap_or(u32::MAX)), Reverse(id))
    }

    /// Notes that a piece has a token.
    fn note(&mut self, piece: u32, id: TokenId, count: i64) {
        self.count(id, count);
        if let Some(places) = self.places.get_mut(id as usize).filter(|_| self.reasons.is_free(id))
            && places.last() != Some(&piece)
        {
            places.push(piece);
        }
    }

    /// Changes how often a token occurs.
    fn count(&mut self, id: TokenId, change: i64) {
        if self.n_uses.get(id as usize).is_none() {
            return; // a unit that nothing stands for
        }
        let is_leaf = !self.leaves.is_empty() && self.leaves.remove(&self.leaf(id));
        let n_uses = &mut self.n_uses[id as usize];
        *n_uses = n_uses.saturating_add(change);
        if is_leaf {
            self.leaves.insert(self.leaf(id));
        }
    }

    /// Removes the next leaf; `None` where there is none.
    fn remove_next(&mut self) -> Result<Option<(TokenId, i64)>> {
        let Some((n_uses, _, Reverse(id))) = self.leaves.pop_first() else { return Ok(None) };
        self.edit.removed[id as usize] = true;
        let ground = self.ground;
        for (_, merge) in ground.parts(id) {
            self.lose(merge.left);
            if merge.left != merge.right {
                self.lose(merge.right);
            }
        }
        let mut pieces = std::mem::take(&mut self.places[id as usize]);
        pieces.sort_unstable();
        pieces.dedup();
        for piece in pieces {
            if self.pieces[piece as usize].contains(&id) {
                self.encode_again(piece)?;
            }
        }
        Ok(Some((id, n_uses)))
    }

    /// Takes one token from those that stand on this one, which may be a leaf then.
    fn lose(&mut self, id: TokenId) {
        let n_above = &mut self.n_above[id as usize];
        *n_above -= 1;
        if *n_above == 0 && self.reasons.is_free(id) && !self.edit.is_removed(id) {
            self.leaves.insert(self.leaf(id));
        }
    }

    fn encode_again(&mut self, piece: u32) -> Result<()> {
        let (bytes, count) = self.counts.get(piece as usize);
        let ids = self.encoder.encode_by(&self.edit, bytes, &mut self.scratch)?;
        let before = std::mem::replace(&mut self.pieces[piece as usize], ids.into());
        for id in before {
            self.count(id, -count);
        }
        for place in 0..self.pieces[piece as usize].len() {
            self.note(piece, self.pieces[piece as usize][place], count);
        }
        Ok(())
    }
}

impl Tokenizer {
    /// This tokenizer with so many tokens, those that go chosen by what they are worth for these pieces.
    ///
    /// # Errors
    /// Where there are fewer tokens, or so few cannot be had; where a piece cannot be encoded.
    pub fn pruned(&self, to: usize, counts: &PieceCounts, numbering: Numbering) -> Result<Pruned> {
        let n_tokens = self.parts().vocabulary.iter().count();
        let Some(n_gone) = n_tokens.checked_sub(to) else {
            let problem = format!("{to} tokens are asked for, but there are {n_tokens}");
            return Err(Error::option("to", problem));
        };
        let (ground, reasons) = (self.ground()?, self.reasons_to_stay());
        let mut pruning = Pruning::new(self, counts, &ground, &reasons)?;
        let mut removed = Vec::with_capacity(n_gone);
        while removed.len() < n_gone {
            let Some(next) = pruning.remove_next()? else {
                let least = n_tokens - removed.len();
                let problem = format!(
                    "{to} tokens are asked for, but {least} must stay: units, bytes, and added tokens"
                );
                return Err(Error::option("to", problem));
            };
            removed.push(next);
        }
        let rerouted = HashMap::new();
        let edit = Edit { removed: &pruning.edit.removed, rerouted: &rerouted, numbering };
        let (tokenizer, id_map) = self.edited(&edit)?;
        Ok(Pruned { tokenizer, id_map, removed })
    }
}
