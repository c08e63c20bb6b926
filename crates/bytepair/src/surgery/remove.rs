//! Removes tokens: which of them may be removed, and how tokens built on them and ids are treated.
//!
//! `cascade` removes all tokens that are built on the named ones. `reroute` gives such a token another merge, of two
//! remaining tokens, at the rank of its own. The token is kept if its units are then merged to it and all other
//! remaining tokens are still made. A merge of another pair may preempt merges that make other tokens, so every token
//! is encoded again, and a new merge that breaks one is dropped. Each round of rerouting encodes every token once.
//!
//! A merge stays if both its parts and its result do, with its order and priority. All parts of the tokenizer that
//! hold ids get the new ones. Linear in the size of the vocabulary.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Ground;
use crate::added::AddedToken;
use crate::encode::Scratch;
use crate::error::{Error, Result};
use crate::tokenizer::{Parts, Tokenizer};
use crate::units::published_name;
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};

/// How tokens that are built on removed ones are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// They are removed too.
    #[default]
    Cascade,
    /// They are kept if another merge can make them, and removed if not.
    Reroute,
}

/// A token that is now made from other parts. All ids are the old ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rerouted {
    /// How it was made.
    pub before: Merge,
    /// How it is made.
    pub now: Merge,
}

/// A tokenizer without some tokens.
#[derive(Debug)]
#[non_exhaustive]
pub struct Removed {
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// The new ids, by old id.
    pub id_map: Vec<Option<TokenId>>,
    /// The old ids of all removed tokens, in order.
    pub removed: Vec<TokenId>,
    /// The tokens that are now made by another merge.
    pub rerouted: Vec<Rerouted>,
}

impl Tokenizer {
    /// This tokenizer without these tokens.
    ///
    /// # Errors
    /// If one of them is required: a unit, a byte, the unknown token, a special token, or one that the template or the
    /// padding uses.
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
    fn flags(&self, ids: &[TokenId]) -> Vec<bool> {
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

    /// The tokens to remove if every token is rerouted whose text is two remaining tokens, and the new merges.
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
        // Parts come before what is made of them: shorter tokens first.
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

    /// Two remaining tokens whose texts together are the text of this one.
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
        // The right part is at least one unit, or the end mark. The left one is as long as possible.
        (1..=bytes.len()).rev().find_map(|end| {
            let (left, right) = (stays(left, &bytes[..end])?, stays(right, &bytes[end..])?);
            let is_other = left != id && right != id;
            is_other.then_some(Merge { left, right, result: id })
        })
    }
}

/// The rerouted tokens that are made while the harmed ones are encoded, or are harmed themselves. All rerouted tokens if
/// there are none.
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

/// How the ids of removed tokens are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// Every other token keeps its id; the ids of removed tokens stay unused.
    #[default]
    Holes,
    /// Every other token keeps its id; special tokens reserve the ids of removed ones.
    Reserved,
    /// Ids are renumbered without gaps, in their order; earlier holes are closed too.
    Compact,
}

/// The changes to a tokenizer.
#[derive(Debug)]
pub(super) struct Edit<'e> {
    /// By id: whether the token is removed.
    pub(super) removed: &'e [bool],
    /// By index: the new merge, if it gets other parts.
    pub(super) rerouted: &'e HashMap<u32, Merge>,
    pub(super) numbering: Numbering,
}

impl Tokenizer {
    /// By id: why a token is required.
    pub(super) fn reasons_to_stay(&self) -> Vec<Option<&'static str>> {
        let Parts { vocabulary, added, template, padding, .. } = self.parts();
        let mut by_id = vec![None; vocabulary.len()];
        for (id, token) in vocabulary.iter() {
            by_id[id as usize] = match token.kind {
                TokenKind::Byte => Some("a byte for fallback"),
                TokenKind::Unknown => Some("the unknown token"),
                TokenKind::Text(_)
                    if self.units_of_token(id).is_some_and(|units| units == [id]) =>
                {
                    Some("a unit of the alphabet")
                }
                _ => None,
            };
        }
        for token in added.iter().filter(|token| token.special) {
            by_id[token.id as usize] = Some("a special token");
        }
        for id in template.special_ids() {
            by_id[id as usize] = Some("a token of the template");
        }
        let padding = padding.as_ref().and_then(|padding| by_id.get_mut(padding.id as usize));
        if let Some(reason) = padding {
            *reason = Some("the padding token");
        }
        by_id
    }

    /// For each id: why its token is required, or `None` if it is not.
    pub fn why_it_stays(&self, ids: &[TokenId]) -> Vec<Option<&'static str>> {
        let reasons = self.reasons_to_stay();
        ids.iter().map(|&id| reasons.get(id as usize).copied().flatten()).collect()
    }

    /// Refuses required tokens, and ids without a token.
    fn check_removable(&self, ids: &[TokenId]) -> Result<()> {
        let (reasons, parts) = (self.reasons_to_stay(), self.parts());
        for &id in ids {
            let token = parts.vocabulary.expect_token(id)?;
            if let Some(reason) = reasons[id as usize] {
                let name = published_name(&parts.units, token);
                let problem = format!("{name:?} (id {id}) is {reason} and must stay");
                return Err(Error::option("tokens", problem));
            }
        }
        Ok(())
    }

    /// The changed tokenizer, and the new ids by old id.
    pub(super) fn edited(&self, edit: &Edit<'_>) -> Result<(Self, Vec<Option<TokenId>>)> {
        let parts = self.parts();
        let earlier = &parts.vocabulary;
        let new_ids = new_ids(earlier, edit);
        let mut vocabulary = Vocabulary::new();
        // If two tokens have the same content, the one that was found before is still the one found.
        let is_found = |id: TokenId, token| earlier.id(token) == Some(id);
        for is_first in [true, false] {
            for (id, token) in earlier.iter() {
                let new_id = new_ids[id as usize].filter(|_| is_found(id, token) == is_first);
                new_id.map_or(Ok(()), |new_id| vocabulary.insert(new_id, token))?;
            }
        }
        push_merges(&mut vocabulary, earlier, edit, &new_ids);
        let is_kept = |token: &&AddedToken| new_ids[token.id as usize].is_some();
        let added = parts.added.iter().filter(is_kept).cloned().collect();
        let new_id = |id: TokenId| {
            let new_id = new_ids.get(id as usize).copied().flatten();
            new_id.ok_or_else(|| Error::option("tokens", format!("the id {id} is in use")))
        };
        let mut parts = Parts { added, ..parts.clone() }.renumbered(&new_id)?;
        if edit.numbering == Numbering::Reserved {
            reserve(&mut vocabulary, &mut parts.added, edit.removed)?;
        }
        let tokenizer = Self::new(Parts { vocabulary: Arc::new(vocabulary), ..parts })?;
        Ok((tokenizer, new_ids))
    }
}

fn new_ids(earlier: &Vocabulary, edit: &Edit<'_>) -> Vec<Option<TokenId>> {
    let mut new_ids = vec![None; earlier.len()];
    let kept = earlier.iter().map(|(id, _)| id).filter(|&id| !edit.removed[id as usize]);
    for (place, id) in (0..).zip(kept) {
        let is_compact = edit.numbering == Numbering::Compact;
        new_ids[id as usize] = Some(if is_compact { place } else { id });
    }
    new_ids
}

fn push_merges(
    vocabulary: &mut Vocabulary,
    earlier: &Vocabulary,
    edit: &Edit<'_>,
    new_ids: &[Option<TokenId>],
) {
    let (priorities, counts) = (earlier.priorities(), earlier.merge_counts());
    let last = last_of_pairs(earlier, edit.removed);
    let mut kept_counts = Vec::new();
    for (place, merge) in (0_u32..).zip(earlier.merges()) {
        let Merge { left, right, result } = *edit.rerouted.get(&place).unwrap_or(merge);
        let ids = [left, right, result].map(|id| new_ids[id as usize]);
        let [Some(new_left), Some(new_right), Some(new_result)] = ids else { continue };
        if last.get(&(left, right)).is_some_and(|&last| last > place) {
            continue; // a later merge of this pair, now removed, had replaced it
        }
        let merge = Merge { left: new_left, right: new_right, result: new_result };
        match priorities.get(place as usize) {
            Some(&priority) => vocabulary.push_merge_with_priority(merge, priority),
            None => vocabulary.push_merge_to(merge),
        }
        kept_counts.extend(counts.get(place as usize));
    }
    if edit.rerouted.is_empty() && kept_counts.len() == vocabulary.n_merges() {
        vocabulary.set_merge_counts(kept_counts);
    }
}

/// The indices of the merges that are removed although both parts stay, by pair.
fn last_of_pairs(earlier: &Vocabulary, removed: &[bool]) -> HashMap<(TokenId, TokenId), u32> {
    let goes = |merge: &Merge| removed[merge.result as usize];
    let merges = (0..).zip(earlier.merges()).filter(|(_, merge)| goes(merge));
    merges.map(|(place, merge)| ((merge.left, merge.right), place)).collect()
}

/// Puts a special token at each id that is now free.
fn reserve(
    vocabulary: &mut Vocabulary,
    added: &mut Vec<AddedToken>,
    removed: &[bool],
) -> Result<()> {
    for (id, _) in (0..).zip(removed).filter(|(_, goes)| **goes) {
        let mut content = format!("<|reserved_{id}|>");
        let is_taken = |content: &str, vocabulary: &Vocabulary| {
            let bytes = content.as_bytes();
            let kinds = [TokenKind::PLAIN, TokenKind::Added, TokenKind::Unknown];
            kinds.into_iter().any(|kind| vocabulary.id(Token { kind, bytes }).is_some())
        };
        while is_taken(&content, vocabulary) {
            content.insert(1, '|');
        }
        vocabulary.insert(id, Token { kind: TokenKind::Added, bytes: content.as_bytes() })?;
        added.push(AddedToken { id, content, special: true, ..AddedToken::default() });
    }
    added.sort_by_key(|token| token.id); // as files list them
    Ok(())
}
