//! Added tokens for a tokenizer that is made already.
//!
//! Two rules: special tokens by content, which may name their ids and change nothing that is there; and added tokens
//! as `transformers` adds them. Both compile the tokenizer again; nothing is ever taken away.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tokenizer;
use crate::added::AddedToken;
use crate::error::{Error, Result};
use crate::units::published_name;
use crate::vocabulary::{Token, TokenId, TokenKind};

/// An id this far behind the last one is taken for a mistake: each id between takes memory.
const MAX_HOLES: usize = 1 << 20;

impl Tokenizer {
    /// A tokenizer with more special tokens. Those that are there already stay as they are.
    ///
    /// # Errors
    /// Where an id is taken by another token.
    pub fn with_special_tokens(&self, tokens: &[(String, Option<TokenId>)]) -> Result<Self> {
        let mut parts = self.parts.clone();
        let mut vocabulary = (*parts.vocabulary).clone();
        for (content, wanted) in tokens {
            let unknown = Token { kind: TokenKind::Unknown, bytes: content.as_bytes() };
            if vocabulary.id(unknown).is_some_and(|id| wanted.is_none_or(|wanted| wanted == id)) {
                continue;
            }
            if let Some(known) = parts.added.iter().find(|token| token.content == *content) {
                match wanted.is_none_or(|id| id == known.id) {
                    true => continue,
                    false => return Err(has_other_id(known)),
                }
            }
            check_new_special(content, *wanted, vocabulary.len())?;
            let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
            let id = match *wanted {
                Some(id) => vocabulary.insert(id, token).map(|()| id)?,
                None => vocabulary.push(token)?,
            };
            parts.added.push(AddedToken {
                id,
                content: content.clone(),
                special: true,
                ..AddedToken::default()
            });
        }
        parts.vocabulary = Arc::new(vocabulary);
        Self::new(parts)
    }

    /// A tokenizer with these added tokens, and how many of them changed something. Their ids are not read.
    ///
    /// A token that the vocabulary has keeps its id and is found as a whole from then on; others get the next
    /// ids. Of a token that was added before, the properties are replaced.
    ///
    /// # Errors
    /// Where a token is empty.
    pub fn with_added_tokens(&self, tokens: &[AddedToken]) -> Result<(Self, usize)> {
        let mut parts = self.parts.clone();
        let mut vocabulary = (*parts.vocabulary).clone();
        let wanted = tokens.iter().map(|token| (token.content.as_str(), None)).collect();
        let known = self.ids_of_published(wanted);
        let mut n_changed = 0;
        for token in tokens {
            if token.content.is_empty() {
                return Err(Error::option("added_tokens", "an empty text stands everywhere"));
            }
            let place = parts.added.iter().position(|added| added.content == token.content);
            if let Some(place) = place {
                let AddedToken { id, whole_piece, .. } = parts.added[place];
                let changed = AddedToken { id, whole_piece, ..token.clone() };
                n_changed += usize::from(parts.added[place] != changed);
                parts.added[place] = changed;
                continue;
            }
            let id = known.get(token.content.as_str()).copied().flatten();
            let push = || {
                let bytes = token.content.as_bytes();
                vocabulary.push(Token { kind: TokenKind::Added, bytes })
            };
            let id = id.map_or_else(push, Ok)?;
            parts.added.push(AddedToken { id, ..token.clone() });
            n_changed += 1;
        }
        parts.vocabulary = Arc::new(vocabulary);
        Ok((Self::new(parts)?, n_changed))
    }

    /// The ids of tokens as published files write them, in one pass over the vocabulary.
    fn ids_of_published<'n>(
        &self,
        mut wanted: HashMap<&'n str, Option<TokenId>>,
    ) -> HashMap<&'n str, Option<TokenId>> {
        for (id, token) in self.parts.vocabulary.iter() {
            if let Some(found) = wanted.get_mut(&*published_name(&self.parts.units, token)) {
                found.get_or_insert(id);
            }
        }
        wanted
    }
}

fn has_other_id(known: &AddedToken) -> Error {
    Error::option("special_tokens", format!("{:?} has the id {} already", known.content, known.id))
}

fn check_new_special(content: &str, wanted: Option<TokenId>, n_ids: usize) -> Result<()> {
    if content.is_empty() {
        return Err(Error::option("special_tokens", "an empty text stands everywhere"));
    }
    match wanted {
        Some(id) if id as usize > n_ids + MAX_HOLES => {
            let problem =
                format!("{content:?}: the id {id} is far beyond the {n_ids} that there are");
            Err(Error::option("special_tokens", problem))
        }
        _ => Ok(()),
    }
}
