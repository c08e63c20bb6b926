//! Texts with units that nothing in the vocabulary stands for, for views.
//!
//! Encoding refuses such a unit, or leaves it out as the library of a file does. Views show it: they use a second tokenizer of
//! the same parts with one more token, an unknown token that no merge has. So such a unit is a token of its own, as in
//! subword-nmt, and all other ids are unchanged. Made when the first view needs it; costs what compiling a tokenizer does.

use std::sync::Arc;

use super::{Parts, Tokenizer};
use crate::error::Result;
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind};

/// What the token is called.
const NAME: &str = "\u{FFFD}";

/// A tokenizer in which a token stands for each unit that is missing, and its id, which is behind all others.
pub type WithMissing = (Arc<Tokenizer>, TokenId);

impl Tokenizer {
    /// This tokenizer with a token for units that nothing stands for; `None` if something stands for all units.
    ///
    /// # Errors
    /// Where there is no id left.
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
mod tests {
    use proptest::prelude::*;

    use crate::tokenizer::EncodeOptions;
    use crate::tokenizer::tests::{text, tokenizers};

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
                prop_assert!(before.is_err() || tokenizer.drops_missing());
            } else {
                prop_assert_eq!(Some(ids), before.ok());
            }
        }
    }
}
