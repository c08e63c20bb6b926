//! Calls for which the content of an added token is text like any other.
//!
//! They use a second tokenizer that has the same parts but no added tokens. Where a text can be cut, how its words are found
//! and what is remembered of it all depend on which tokens are looked for. As the second tokenizer has its own workers,
//! such calls share none of that with calls that find added tokens. It shares the vocabulary, and also the merges in memory,
//! unless some added tokens are pieces, whole or repeated, or decide how spaces are written. The template refers to ids, so
//! it stays the same.
//!
//! Made when the first such call comes. Costs that call a look at the parts, or a copy of the merges.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use super::call::{NamedRules, Rules};
use super::spaces::spelling;
use super::{EncodeOptions, Parts, Tokenizer, repeats};
use crate::added::{Matcher, Specials};
use crate::encode::Encoder;
use crate::error::{Error, Result};
use crate::parallel::pool::Pool;
use crate::vocabulary::TokenId;

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
        let matcher = Arc::new(Matcher::default());
        let contents = self.parts.added.iter().map(|token| token.content.clone());
        Self {
            kept_together: contents.collect(),
            encoder: self.encoder_of(&parts),
            // It decodes nothing.
            decoder: Arc::clone(&self.decoder),
            ordinary: Arc::clone(&matcher),
            all_special: matcher,
            named: NamedRules::default(),
            workers: Pool::new(Default::default),
            cutter: OnceLock::new(),
            spaces: Arc::default(),
            repeats: Arc::default(),
            as_text: OnceLock::new(),
            with_missing: OnceLock::new(),
            parts,
        }
    }

    /// The encoder for other added tokens: the same one, unless it knows of them.
    fn encoder_of(&self, parts: &Parts) -> Arc<OnceLock<Encoder>> {
        let repeated = repeats::repeated(&self.parts).unwrap_or_default();
        let never_whole = never_whole(&self.parts);
        let is_same = repeated.is_empty() && never_whole.is_empty();
        if is_same && spelling(&self.parts) == spelling(parts) {
            return Arc::clone(&self.encoder);
        }
        let encoder = self.encoder().clone().of_raw_texts(spelling(parts)).of_repeated(Vec::new());
        Arc::new(OnceLock::from(encoder.without_whole(never_whole)))
    }
}

/// The added tokens that a piece could be as a whole, and no merges make.
fn never_whole(parts: &Parts) -> HashSet<TokenId> {
    if !parts.ignore_merges {
        return HashSet::new();
    }
    let merges = parts.vocabulary.merges().iter();
    let made: HashSet<_> = merges.map(|merge| merge.result).collect();
    let ids = parts.added.iter().map(|token| token.id);
    ids.filter(|id| !made.contains(id)).collect()
}

#[cfg(test)]
mod tests;
