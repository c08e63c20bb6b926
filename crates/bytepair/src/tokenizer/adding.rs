//! Added tokens for a tokenizer that is made already.
//!
//! A token that the vocabulary has keeps its id and is found as a whole from then on; others get the next
//! ids. Of a token that was added before, the properties are replaced. Compiles the tokenizer again.

use std::collections::HashMap;
use std::sync::Arc;

use super::Tokenizer;
use crate::added::AddedToken;
use crate::error::{Error, Result};
use crate::format::published_name;
use crate::vocabulary::{Token, TokenId, TokenKind};

impl Tokenizer {
    /// A tokenizer with these added tokens, and how many of them changed something. Their ids are not read.
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
