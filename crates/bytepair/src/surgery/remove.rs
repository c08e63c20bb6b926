//! Removes named tokens, with what is built on them.
//!
//! `cascade` removes all tokens that are built on the named ones. `reroute` gives such a token another merge, of two tokens
//! that stay, at the rank of its own; the token is kept if its units are then merged to it and all other remaining tokens
//! are still made. A merge of another pair may preempt merges that make other tokens, so every token is encoded again, and
//! a new merge that harms one is dropped.
//!
//! Each round of rerouting encodes every token once.

use std::collections::{HashMap, HashSet};

use super::graph::Ground;
use super::renumber::{Edit, Numbering};
use crate::encode::Scratch;
use crate::error::Result;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind};

/// What becomes of tokens that are built on those removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are removed too.
    #[default]
    Cascade,
    /// They are kept where another merge can make them, and removed otherwise.
    Reroute,
}

/// A token that is now made of other parts. All ids are the old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rerouted {
    /// How it was made.
    pub before: Merge,
    /// How it is made.
    pub now: Merge,
}

/// A tokenizer without some tokens.
#[derive(Debug)]
pub struct Removed {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The new ids by the old ones.
    pub id_map: Vec<Option<TokenId>>,
    /// The old ids of all removed tokens, in order.
    pub removed: Vec<TokenId>,
    /// The tokens that another merge makes now.
    pub rerouted: Vec<Rerouted>,
}

impl Tokenizer {
    /// This tokenizer without these tokens.
    ///
    /// # Errors
    /// Where one of them must stay: a unit, a byte, the unknown token, a special one, or one that the template or the padding
    /// uses.
    pub fn without(&self, ids: &[TokenId], mode: Mode, numbering: Numbering) -> Result<Removed> {
        self.check_removable(ids)?;
        let ground = self.ground()?;
        let (removed, rerouted) = match mode {
            Mode::Cascade => (ground.closure(ids), HashMap::new()),
            Mode::Reroute => self.rerouted(ids, &ground)?,
        };
        self.check_removable(&removed)?;
        let goes = self.flags(&removed);
        let edit = Edit { removed: &goes, rerouted: &rerouted, numbering };
        let (tokenizer, id_map) = self.edited(&edit)?;
        let mut ways: Vec<_> = rerouted.into_iter().collect();
        ways.sort_unstable_by_key(|(place, _)| *place);
        let merges = self.parts().vocabulary.merges();
        let way = |(place, now): (u32, Merge)| Rerouted { before: merges[place as usize], now };
        Ok(Removed { tokenizer, id_map, removed, rerouted: ways.into_iter().map(way).collect() })
    }

    /// By id: whether it is one of these.
    pub(super) fn flags(&self, ids: &[TokenId]) -> Vec<bool> {
        let mut flags = vec![false; self.parts().vocabulary.len()];
        ids.iter().for_each(|&id| flags[id as usize] = true);
        flags
    }

    /// Which tokens are removed, and which merges get other parts.
    fn rerouted(
        &self,
        ids: &[TokenId],
        ground: &Ground,
    ) -> Result<(Vec<TokenId>, HashMap<u32, Merge>)> {
        let was_unmade: HashSet<_> = self.encoder().unmade().into_iter().collect();
        let mut given_up = HashSet::new();
        loop {
            let (goes, ways) = self.ways(ids, ground, &given_up);
            if ways.is_empty() {
                return Ok((ground.closure(ids), HashMap::new()));
            }
            let edit = Edit { removed: &goes, rerouted: &ways, numbering: Numbering::Holes };
            let (tokenizer, _) = self.edited(&edit)?;
            let harmed = tokenizer.encoder().unmade();
            let harmed: Vec<_> = harmed.into_iter().filter(|id| !was_unmade.contains(id)).collect();
            if harmed.is_empty() {
                let removed = (0..).zip(goes).filter(|(_, goes)| *goes).map(|(id, _)| id);
                return Ok((removed.collect(), ways));
            }
            given_up.extend(to_blame(&tokenizer, &harmed, &ways)?);
        }
    }

    /// What goes if tokens are made another way wherever two others that stay are their text, and these ways.
    fn ways(
        &self,
        ids: &[TokenId],
        ground: &Ground,
        given_up: &HashSet<TokenId>,
    ) -> (Vec<bool>, HashMap<u32, Merge>) {
        let mut goes = self.flags(ids);
        let mut ways = HashMap::new();
        let merges = self.parts().vocabulary.merges();
        let mut waiting = ground.closure(ids);
        // Parts before what is made of them: the shorter token first.
        let len = |id: TokenId| self.parts().vocabulary.token(id).map(|token| token.bytes.len());
        waiting.sort_by_key(|&id| len(id));
        for id in waiting {
            let is_lost = |&(_, merge): &(u32, Merge)| {
                goes[merge.left as usize] || goes[merge.right as usize]
            };
            if goes[id as usize] || !ground.parts(id).iter().any(is_lost) {
                continue;
            }
            let way = match ground.parts(id) {
                [(place, _)] if !given_up.contains(&id) => {
                    self.other_parts(id, &goes).map(|merge| (*place, merge))
                }
                _ => None,
            };
            match way {
                Some((place, merge)) if merges[place as usize] != merge => {
                    ways.insert(place, merge);
                }
                _ => goes[id as usize] = true,
            }
        }
        (goes, ways)
    }

    /// Two tokens that stay and are the text of this one together.
    fn other_parts(&self, id: TokenId, goes: &[bool]) -> Option<Merge> {
        let parts = self.parts();
        let Token { kind: TokenKind::Text(form), bytes } = parts.vocabulary.token(id)? else {
            return None;
        };
        let continues = parts.units.continuing_prefix.is_some();
        let left = Form::new(form.continues(), false);
        let right = Form::new(continues, form.ends());
        let stays = |form, bytes| {
            let id = parts.vocabulary.id(Token { kind: TokenKind::Text(form), bytes })?;
            (!goes[id as usize]).then_some(id)
        };
        // The right part is one unit at least, or the end mark. The left one is as long as can be.
        (1..=bytes.len()).rev().find_map(|end| {
            let (left, right) = (stays(left, &bytes[..end])?, stays(right, &bytes[end..])?);
            let is_other = left != id && right != id;
            is_other.then_some(Merge { left, right, result: id })
        })
    }
}

/// The rerouted tokens that stand where a token is not made any more, or else all of them.
fn to_blame(
    tokenizer: &Tokenizer,
    harmed: &[TokenId],
    ways: &HashMap<u32, Merge>,
) -> Result<Vec<TokenId>> {
    let mut rerouted: Vec<_> = ways.values().map(|merge| merge.result).collect();
    rerouted.sort_unstable();
    let (encoder, mut scratch) = (tokenizer.encoder(), Scratch::default());
    let mut made = HashSet::new();
    for id in harmed {
        let units = encoder.units_of_token(*id).unwrap_or_default();
        let steps = encoder.merge_steps(&units, &mut scratch)?;
        made.extend(steps.into_iter().map(|step| step.merge.result));
        made.insert(*id);
    }
    let blamed: Vec<_> = rerouted.iter().copied().filter(|id| made.contains(id)).collect();
    Ok(if blamed.is_empty() { rerouted } else { blamed })
}
