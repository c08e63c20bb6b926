//! Tokens that are merged through and never given out.
//!
//! A scaffold token is made by its merge as any token is, so that what is built on it stays. Where it is left at the end,
//! its two parts are given out in its place, and theirs if they are scaffold tokens too. This depends on nothing around it, so
//! it is done once all merges are, to the ids of a whole text: caches and cuts hold what merging gives.
//!
//! A token that several merges make is split as the last merge of its own units says, whichever made it in a text: so its
//! ids depend on the token alone.
//!
//! Cost: a look at each id, if there are scaffold tokens; else nothing.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::{Encoder, Scratch};
use crate::error::{Error, Result};
use crate::vocabulary::{Merge, TokenId, TokenKind};

/// What scaffold tokens are given out as.
#[derive(Clone, Debug)]
pub(super) struct Scaffold(HashMap<TokenId, Vec<TokenId>>);

impl Encoder {
    /// An encoder that merges through these tokens and gives out their parts.
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

    /// Whether there are tokens that are merged through and never given out.
    pub(crate) fn has_scaffold(&self) -> bool {
        self.scaffold.is_some()
    }

    /// Puts their parts in place of scaffold tokens, from one id on.
    #[inline]
    pub(crate) fn split_scaffold(&self, ids: &mut Vec<TokenId>, from: usize) {
        if let Some(scaffold) = &self.scaffold {
            scaffold.split(ids, from);
        }
    }

    /// Puts their parts in place of scaffold tokens, each with its share of the bytes, from one token on. Where a token stands for other
    /// bytes than its own, each part has all of them.
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

/// The tokens that a token is split into again and again. A part has fewer units than its token, so this ends.
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
