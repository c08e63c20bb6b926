//! Removes tokens from a tokenizer: which of them may be removed, and what becomes of the ids.
//!
//! A merge stays if both its parts and its result do, in its order and with its priority. All parts that hold ids get the
//! new ones. Linear in the size of the vocabulary.

use std::collections::HashMap;
use std::sync::Arc;

use crate::added::AddedToken;
use crate::error::{Error, Result};
use crate::tokenizer::{Parts, Tokenizer};
use crate::units::published_name;
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// What becomes of the ids of removed tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Numbering {
    /// Every other token keeps its id; the ids of removed tokens have none.
    #[default]
    Holes,
    /// Every other token keeps its id; special tokens reserve the ids of removed ones.
    Reserved,
    /// Ids are renumbered without gaps, in their order; earlier holes are closed too.
    Compact,
}

/// Why tokens must stay, by id.
#[derive(Debug)]
pub(super) struct ReasonsToStay {
    by_id: Vec<Option<&'static str>>,
    is_added: Vec<bool>,
}

impl ReasonsToStay {
    pub(super) fn of(&self, id: TokenId) -> Option<&'static str> {
        self.by_id.get(id as usize).copied().flatten()
    }

    /// Whether a token is text that may be removed without being named.
    pub(super) fn is_free(&self, id: TokenId) -> bool {
        self.of(id).is_none() && self.is_added.get(id as usize) == Some(&false)
    }
}

/// The changes to a tokenizer.
#[derive(Debug)]
pub(super) struct Edit<'e> {
    /// By id: whether the token is removed.
    pub(super) removed: &'e [bool],
    /// By place: the new merge, where one gets other parts.
    pub(super) rerouted: &'e HashMap<u32, Merge>,
    pub(super) numbering: Numbering,
}

impl Tokenizer {
    pub(super) fn reasons_to_stay(&self) -> ReasonsToStay {
        let Parts { vocabulary, added, template, padding, .. } = self.parts();
        let mut by_id = vec![None; vocabulary.len()];
        let mut is_added = vec![false; vocabulary.len()];
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
        for token in added {
            is_added[token.id as usize] = true;
            if token.special {
                by_id[token.id as usize] = Some("a special token");
            }
        }
        for id in template.special_ids() {
            by_id[id as usize] = Some("a token of the template");
        }
        let padding = padding.as_ref().and_then(|padding| by_id.get_mut(padding.id as usize));
        if let Some(reason) = padding {
            *reason = Some("the padding token");
        }
        ReasonsToStay { by_id, is_added }
    }

    /// For each id: why its token must stay, or `None` if it need not.
    pub fn why_it_stays(&self, ids: &[TokenId]) -> Vec<Option<&'static str>> {
        let reasons = self.reasons_to_stay();
        ids.iter().map(|&id| reasons.of(id)).collect()
    }

    /// Refuses tokens that must stay, and ids without a token.
    pub(super) fn check_removable(&self, ids: &[TokenId]) -> Result<()> {
        let (reasons, parts) = (self.reasons_to_stay(), self.parts());
        for &id in ids {
            let token = parts.vocabulary.expect_token(id)?;
            if let Some(reason) = reasons.of(id) {
                let name = published_name(&parts.units, token);
                let problem = format!("{name:?} (id {id}) is {reason} and must stay");
                return Err(Error::option("tokens", problem));
            }
        }
        Ok(())
    }

    /// The changed tokenizer, and the new ids by the old ones.
    pub(super) fn edited(&self, edit: &Edit<'_>) -> Result<(Self, Vec<Option<TokenId>>)> {
        let parts = self.parts();
        let earlier = &parts.vocabulary;
        let new_ids = new_ids(earlier, edit);
        let mut vocabulary = Vocabulary::new();
        // Of two tokens with the same content, the one that was found before is found again.
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
            continue; // what came later, and goes, had taken its place
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

/// The places of merges that are removed although both parts stay, by pair.
fn last_of_pairs(earlier: &Vocabulary, removed: &[bool]) -> HashMap<(TokenId, TokenId), u32> {
    let goes = |merge: &Merge| removed[merge.result as usize];
    let merges = (0..).zip(earlier.merges()).filter(|(_, merge)| goes(merge));
    merges.map(|(place, merge)| ((merge.left, merge.right), place)).collect()
}

/// Puts a special token at each id that is free now.
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
