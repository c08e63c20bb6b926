//! Calls for which the content of an added token is text like any other.
//!
//! They use a second tokenizer that has the same parts but no added tokens. Where a text can be cut, how its words are found
//! and what is remembered of it all depend on which tokens are looked for. As the second tokenizer has its own workers,
//! such calls share none of that with calls that find added tokens. It shares the vocabulary and the merges in memory. The
//! template refers to ids, so it stays the same.
//!
//! Made when the first such call comes. Costs that call a look at the parts.

use std::sync::{Arc, OnceLock};

use super::call::Rules;
use super::{EncodeOptions, Parts, Tokenizer};
use crate::added::{Matcher, Specials};
use crate::error::{Error, Result};

/// What becomes of added tokens whose content stands in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AddedTokens {
    /// They are found: special ones if a call allows them, all others always.
    #[default]
    Find,
    /// They are text, whatever their properties.
    Text,
}

impl Tokenizer {
    /// The tokenizer that such a call uses: its workers, its encoder, its cuts.
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

    /// What a call looks for in its texts if it finds no added token: those that it refuses.
    ///
    /// # Errors
    /// Where it allows any.
    pub(super) fn rules_as_text(&self, options: &EncodeOptions<'_>) -> Result<Rules> {
        if options.allowed_special != Specials::None {
            let problem = "\"text\" finds no token in a text, so allowed_special must be left out";
            return Err(Error::option("added_tokens", problem));
        }
        let (as_text, names) = (self.as_text(), [Specials::None, options.disallowed_special]);
        as_text.named.get(&self.parts, names, || Ok(Arc::clone(&as_text.ordinary)))
    }

    /// This tokenizer without added tokens. Threads that come at the same time each make it, and none waits.
    fn as_text(&self) -> &Arc<Self> {
        if let Some(made) = self.as_text.get() {
            return made;
        }
        let made = Arc::new(self.without_added());
        self.as_text.get_or_init(|| made)
    }

    fn without_added(&self) -> Self {
        let parts = Parts { added: Vec::new(), ..self.parts.clone() };
        let plan = self.plan().without_added(&self.parts, &parts);
        let matcher = Arc::new(Matcher::default());
        Self {
            plan: Arc::new(OnceLock::from(plan)),
            ordinary: Arc::clone(&matcher),
            all_special: matcher,
            // It decodes nothing.
            ..self.with_parts(parts)
        }
    }
}

#[cfg(test)]
mod tests;
