//! Further tokenizers that a tokenizer makes of its own parts, each when a call first needs it.
//!
//! One is for calls that treat the content of added tokens as text. It has the same parts but no added tokens. Where a
//! text can be cut, how its words are found and what is cached all depend on which tokens are looked for. This
//! tokenizer has its own workers, so such calls share none of that with calls that find added tokens. It shares the
//! vocabulary and the merges in memory. The template refers to ids, so it stays the same. Costs the first call a look
//! at the parts.
//!
//! Segments that name the tokens to find have such a tokenizer for each choice, with only these added tokens, all of
//! which are found. The last few are remembered.
//!
//! Another is for views of texts with units that nothing in the vocabulary stands for. Encoding refuses such a unit,
//! or skips it as the library of a file does. Views show it: the second tokenizer has one more token, an unknown token
//! that is in no merge. So such a unit is a token of its own, as in subword-nmt, and all other ids are unchanged.
//! Costs what compiling a tokenizer does.

use std::sync::{Arc, OnceLock};

use super::call::{Rules, remembered};
use super::{EncodeOptions, Parts, Tokenizer};
use crate::added::{Chosen, Matcher, Specials};
use crate::error::{Error, Result};
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind};

/// How added tokens whose content stands in a text are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddedTokens {
    /// They are found: special ones if a call allows them, all others always.
    #[default]
    Find,
    /// They are text, whatever their properties.
    Text,
}

impl Tokenizer {
    /// The tokenizer that such a call uses, with its workers, encoder and cuts.
    #[inline]
    pub(super) fn of(&self, added_tokens: AddedTokens) -> &Self {
        match added_tokens {
            AddedTokens::Find => self,
            AddedTokens::Text => self.as_text(),
        }
    }

    /// [`Self::of`] for a shared tokenizer.
    pub(super) fn shared_of(self: Arc<Self>, added_tokens: AddedTokens) -> Arc<Self> {
        match added_tokens {
            AddedTokens::Find => self,
            AddedTokens::Text => Arc::clone(self.as_text()),
        }
    }

    /// The tokens that a call looks for if it finds no added token: those that it refuses.
    ///
    /// # Errors
    /// If the call allows any special token.
    pub(super) fn rules_as_text(&self, options: &EncodeOptions<'_>) -> Result<Rules> {
        if options.allowed_special != Specials::None {
            let problem = "\"text\" finds no token in a text, so allowed_special must be left out";
            return Err(Error::option("added_tokens", problem));
        }
        let (as_text, choice) = (self.as_text(), [Specials::None, options.disallowed_special]);
        remembered(&as_text.named, choice, || {
            Rules::new(&self.parts, Arc::clone(&as_text.ordinary), choice)
        })
    }

    /// This tokenizer without added tokens. Threads that arrive at the same time each make it, and none waits.
    fn as_text(&self) -> &Arc<Self> {
        if let Some(made) = self.as_text.get() {
            return made;
        }
        let made = Arc::new(self.without_added());
        self.as_text.get_or_init(|| made)
    }

    fn without_added(&self) -> Self {
        let parts = Parts { added: Vec::new(), ..self.parts.clone() };
        self.with_fewer_added(parts, Arc::new(Matcher::default()))
    }

    /// This tokenizer with fewer added tokens, all of which calls find by this matcher.
    fn with_fewer_added(&self, parts: Parts, matcher: Arc<Matcher>) -> Self {
        let plan = self.plan().without_added(&self.parts, &parts);
        Self {
            plan: Arc::new(OnceLock::from(plan)),
            ordinary: Arc::clone(&matcher),
            all_special: matcher,
            // This tokenizer never decodes.
            ..self.with_parts(parts)
        }
    }

    /// This tokenizer with only the added tokens of these names. Plain calls find all of them, special or not.
    ///
    /// # Errors
    /// If a name is not that of an added token.
    pub(super) fn finding_only(&self, names: &[String]) -> Result<Arc<Self>> {
        remembered(&self.finding_only, [Specials::Only(names), Specials::None], || {
            let found = Chosen::new(Specials::Only(names), self.parts.added.iter())?;
            let mut parts = self.parts.clone();
            parts.added.retain(|token| found.contains(&token.content));
            let matcher = Self::matcher(&parts, Specials::All)?;
            Ok(Arc::new(self.with_fewer_added(parts, matcher)))
        })
    }
}

/// The name of the token.
const NAME: &str = "\u{FFFD}";

/// A tokenizer in which one token stands for every missing unit, and the id of that token, which is after all others.
pub type WithMissing = (Arc<Tokenizer>, TokenId);

impl Tokenizer {
    /// This tokenizer with a token for units that nothing stands for; `None` if something stands for all units.
    ///
    /// # Errors
    /// If there is no id left.
    pub fn with_missing(&self) -> Result<Option<&WithMissing>> {
        if let Some(made) = self.with_missing.get() {
            return Ok(made.as_ref());
        }
        let made = match self.encoder().may_miss() {
            true => Some(self.made_with_missing()?),
            false => None,
        };
        Ok(self.with_missing.get_or_init(|| made).as_ref())
    }

    fn made_with_missing(&self) -> Result<WithMissing> {
        let mut vocabulary = (*self.parts.vocabulary).clone();
        let n_before = vocabulary.len();
        let mut name = NAME.to_owned();
        let id = loop {
            let id = vocabulary.push(Token { kind: TokenKind::Unknown, bytes: name.as_bytes() })?;
            if vocabulary.len() > n_before {
                break id;
            }
            name.push_str(NAME);
        };
        let units = Units { unknown: Some(name), fuse_unknown: false, ..self.parts.units.clone() };
        let parts = Parts { units, vocabulary: Arc::new(vocabulary), ..self.parts.clone() };
        Ok((Arc::new(Self::new(parts)?), id))
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod missing_tests {
    use proptest::prelude::*;

    use crate::tokenizer::EncodeOptions;
    use crate::tokenizer::tests::{text, tokenizers};
    use crate::units::Missing;

    proptest! {
        #[test]
        fn with_a_token_for_missing_units_texts_that_encode_have_the_same_ids(
            which: prop::sample::Index,
            text in text(),
        ) {
            let tokenizer = which.get(tokenizers());
            let Some((all, missing)) = tokenizer.with_missing().unwrap() else { return Ok(()) };
            let Ok(ids) = all.encode(&text, EncodeOptions::default()) else { return Ok(()) };
            let before = tokenizer.encode(&text, EncodeOptions::default());
            if ids.contains(missing) {
                prop_assert!(before.is_err() || tokenizer.parts.units.missing == Missing::Drop);
            } else {
                prop_assert_eq!(Some(ids), before.ok());
            }
        }
    }
}
