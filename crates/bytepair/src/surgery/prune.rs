//! Shrinks a vocabulary for a corpus by repeatedly removing the rarest leaf.
//!
//! A leaf is a token that no other is built on, so every remaining token can still be made. Of equally rare leaves the
//! newest is removed: the one with the last merge, then the one with the largest id. After each removal the pieces
//! that contain the token are encoded again and all counts are updated, so each choice is based on exact counts.
//! Pruning ends at the given size, when the rarest leaf occurs often enough, or when no removable leaf is left.
//!
//! An index from tokens to the pieces that have or had them finds these pieces. The cost is an encoding of each distinct
//! piece, another one for each piece that loses a token, and a logarithmic update for each leaf whose count changes.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

use super::remove::{Edit, Numbering};
use super::{Ground, parts_of};
use crate::count::PieceCounts;
use crate::encode::{EditedMerges, Encoder, Scratch};
use crate::error::{Error, Result};
use crate::tokenizer::Tokenizer;
use crate::vocabulary::TokenId;

/// Which tokens to remove.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goal<'g> {
    /// How many tokens to keep. Without it, as few as possible.
    pub to: Option<usize>,
    /// Tokens that occur at least this often are kept. Without it, counts only decide the order.
    pub min_count: Option<i64>,
    /// By id: whether the token may be removed. Without it, every token that is not required may be removed.
    pub among: Option<&'g [bool]>,
}

/// A smaller tokenizer.
#[derive(Debug)]
#[non_exhaustive]
pub struct Pruned {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The new ids, by old id.
    pub id_map: Vec<Option<TokenId>>,
    /// The old ids of the removed tokens in the order of removal, each with its count at that time.
    pub removed: Vec<(TokenId, i64)>,
}

/// Leaves in the order of removal: the rarest first, and of these the newest.
type Leaf = (i64, Reverse<u32>, Reverse<TokenId>);

struct Pruning<'p> {
    encoder: &'p Encoder,
    counts: &'p PieceCounts,
    ground: &'p Ground,
    /// By id: whether the token may be removed.
    may_go: Vec<bool>,
    edit: EditedMerges,
    /// By piece: its ids.
    pieces: Vec<Box<[TokenId]>>,
    /// By id: the pieces that contain it, and perhaps some that no longer do.
    places: Vec<Vec<u32>>,
    /// By id: how often it occurs.
    n_uses: Vec<i64>,
    /// By id: how many tokens are built on it.
    n_above: Vec<usize>,
    leaves: BTreeSet<Leaf>,
    scratch: Scratch,
}

impl<'p> Pruning<'p> {
    fn new(
        tokenizer: &'p Tokenizer,
        counts: &'p PieceCounts,
        ground: &'p Ground,
        may_go: Vec<bool>,
    ) -> Result<Self> {
        let n_ids = tokenizer.parts().vocabulary.len();
        let mut pruning = Self {
            encoder: tokenizer.encoder(),
            counts,
            ground,
            may_go,
            edit: EditedMerges::of_ids(n_ids),
            pieces: Vec::with_capacity(counts.len()),
            places: vec![Vec::new(); n_ids],
            n_uses: vec![0; n_ids],
            n_above: (0..).take(n_ids).map(|id| ground.above(id).len()).collect(),
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
            if pruning.n_above[id as usize] == 0 && pruning.may_go[id as usize] {
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

    /// Records that a piece contains a token.
    fn note(&mut self, piece: u32, id: TokenId, count: i64) {
        self.count(id, count);
        if self.may_go.get(id as usize) == Some(&true)
            && let Some(places) = self.places.get_mut(id as usize)
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

    /// Removes the next leaf; `None` if there is none, or if it occurs often enough to stay.
    fn remove_next(&mut self, min_count: Option<i64>) -> Result<Option<(TokenId, i64)>> {
        let Some(&(n_uses, _, Reverse(id))) = self.leaves.first() else { return Ok(None) };
        if min_count.is_some_and(|min_count| n_uses >= min_count) {
            return Ok(None);
        }
        self.leaves.pop_first();
        self.edit.removed[id as usize] = true;
        let ground = self.ground;
        for &(_, merge) in ground.parts(id) {
            parts_of(merge).for_each(|part| self.lose(part));
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

    /// Records that one token fewer is built on this one, which may now be a leaf.
    fn lose(&mut self, id: TokenId) {
        let n_above = &mut self.n_above[id as usize];
        *n_above -= 1;
        if *n_above == 0 && self.may_go[id as usize] && !self.edit.is_removed(id) {
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
    /// This tokenizer with fewer tokens: the tokens that these pieces need least are removed.
    ///
    /// # Errors
    /// If there are fewer tokens than requested, if the size cannot be reached, or if a piece cannot be encoded.
    pub fn pruned(
        &self,
        goal: Goal<'_>,
        counts: &PieceCounts,
        numbering: Numbering,
    ) -> Result<Pruned> {
        let n_tokens = self.parts().vocabulary.iter().count();
        let least = goal.to.unwrap_or(0);
        if least > n_tokens {
            let problem = format!("{least} tokens are asked for, but there are {n_tokens}");
            return Err(Error::option("to", problem));
        }
        let (ground, reasons) = (self.ground()?, self.reasons_to_stay());
        let is_named =
            |id: usize| goal.among.is_none_or(|among| among.get(id).copied().unwrap_or_default());
        let is_free = |(id, reason): (usize, Option<_>)| reason.is_none() && is_named(id);
        let mut may_go: Vec<_> = reasons.into_iter().enumerate().map(is_free).collect();
        self.parts().added.iter().for_each(|token| may_go[token.id as usize] = false);
        let mut pruning = Pruning::new(self, counts, &ground, may_go)?;
        let mut removed = Vec::new();
        while n_tokens - removed.len() > least {
            match pruning.remove_next(goal.min_count)? {
                Some(next) => removed.push(next),
                None => break,
            }
        }
        let n_left = n_tokens - removed.len();
        if goal.to.is_some() && n_left > least && pruning.leaves.is_empty() {
            let kinds = match goal.among {
                Some(_) => "units, bytes, added tokens, and what is not named",
                None => "units, bytes and added tokens",
            };
            let problem = format!("{least} tokens are asked for, but {n_left} must stay: {kinds}");
            return Err(Error::option("to", problem));
        }
        let rerouted = HashMap::new();
        let edit = Edit { removed: &pruning.edit.removed, rerouted: &rerouted, numbering };
        let (tokenizer, id_map) = self.edited(&edit)?;
        Ok(Pruned { tokenizer, id_map, removed })
    }
}
