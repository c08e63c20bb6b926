//! Scaffold tokens: tokens that are merged through and never emitted.
//!
//! A scaffold token is made by its merge like any other token, so that tokens built on it stay. Where it is left at the
//! end, its two parts are emitted in its place; a part that is a scaffold token is split in turn. The result depends on
//! nothing around the token, so splitting comes after all merges, on the ids of a whole text: caches and cuts hold what
//! merging gives.
//!
//! If several merges make a token, it is split by the last merge of its own units, whichever made it in a text. So the ids
//! depend on the token alone.
//!
//! If there are scaffold tokens, each id is looked up once; otherwise this costs nothing.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Encoder, Scratch};
use crate::error::{Error, Result};
use crate::vocabulary::{Merge, TokenId, TokenKind};

/// What is emitted in place of each scaffold token.
#[derive(Clone, Debug)]
pub(super) struct Scaffold(HashMap<TokenId, Vec<TokenId>>);

impl Encoder {
    /// An encoder that merges through these tokens and emits their parts.
    ///
    /// # Errors
    /// Where a token is not what its own units are merged to, or too long to encode.
    pub(crate) fn with_scaffold(mut self, ids: &[TokenId]) -> Result<Self> {
        let (mut parts, mut scratch) = (HashMap::new(), Scratch::default());
        for &id in ids {
            let Some(Merge { left, right, .. }) = self.last_merge(id, &mut scratch)? else {
                let problem = format!("the units of the token {id} are not merged to it");
                return Err(Error::option("scaffold", problem));
            };
            parts.insert(id, [left, right]);
        }
        let ids = parts.keys().copied();
        let split: HashMap<_, _> = ids.map(|id| (id, parts_of(id, &parts))).collect();
        self.never_whole.extend(split.keys().copied());
        self.scaffold = Some(Arc::new(Scaffold(split)));
        Ok(self)
    }

    /// Whether there are tokens that are merged through and never emitted.
    pub(crate) fn has_scaffold(&self) -> bool {
        self.scaffold.is_some()
    }

    /// Replaces scaffold tokens by their parts, from one index on.
    #[inline]
    pub(crate) fn split_scaffold(&self, ids: &mut Vec<TokenId>, from: usize) {
        if let Some(scaffold) = &self.scaffold {
            scaffold.split(ids, from);
        }
    }

    /// Replaces scaffold tokens by their parts, each with its share of the bytes, from one index on. Where a token stands
    /// for other bytes than its own, each part gets all of them.
    pub(super) fn split_scaffold_spans(&self, out: &mut Vec<(TokenId, Range<usize>)>, from: usize) {
        let Some(scaffold) = &self.scaffold else { return };
        for (id, place) in out.split_off(from) {
            match scaffold.0.get(&id) {
                Some(parts) => self.push_parts(parts, place, out),
                None => out.push((id, place)),
            }
        }
    }

    fn push_parts(
        &self,
        parts: &[TokenId],
        place: Range<usize>,
        out: &mut Vec<(TokenId, Range<usize>)>,
    ) {
        let lens: Vec<_> = parts.iter().map(|&part| self.text_len(part)).collect();
        if lens.iter().sum::<usize>() != place.len() {
            out.extend(parts.iter().map(|&part| (part, place.clone())));
            return;
        }
        let mut start = place.start;
        out.extend(parts.iter().zip(lens).map(|(&part, len)| {
            start += len;
            (part, start - len..start)
        }));
    }

    fn text_len(&self, id: TokenId) -> usize {
        let token = self.vocabulary.token(id);
        let text = token.filter(|token| matches!(token.kind, TokenKind::Text(_)));
        text.map_or(0, |token| token.bytes.len())
    }
}

impl Scaffold {
    fn split(&self, ids: &mut Vec<TokenId>, from: usize) {
        let Some(first) = ids[from..].iter().position(|id| self.0.contains_key(id)) else { return };
        for id in ids.split_off(from + first) {
            match self.0.get(&id) {
                Some(parts) => ids.extend_from_slice(parts),
                None => ids.push(id),
            }
        }
    }
}

/// The tokens that a token is split into recursively. A part has fewer units than its token, so this ends.
fn parts_of(id: TokenId, parts: &HashMap<TokenId, [TokenId; 2]>) -> Vec<TokenId> {
    let (mut waiting, mut split) = (vec![id], Vec::new());
    while let Some(next) = waiting.pop() {
        match parts.get(&next) {
            Some([left, right]) => waiting.extend([*right, *left]),
            None => split.push(next),
        }
    }
    split
}
