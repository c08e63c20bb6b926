//! Tokenizers derived from an existing one: with added tokens, with fewer merges, or with more.
//!
//! Tokens are added by three rules: special tokens by content, which may specify their ids and change no existing
//! token; added tokens as `transformers` adds them; and added tokens at ids that another file specifies. No token is
//! ever removed.
//!
//! With more merges, every id stays. With fewer, tokens after the removed ones, such as unknown and special tokens,
//! get smaller ids; added tokens, template and padding that refer to them are adapted. Each of these compiles the
//! tokenizer again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::{Parts, Tokenizer};
use crate::added::AddedToken;
use crate::error::{Error, Result};
use crate::train::{Target, truncated};
use crate::units::published_name;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// An id this far after the last one is taken for a mistake, since each id in between takes memory.
const MAX_HOLES: usize = 1 << 20;

impl Tokenizer {
    /// A tokenizer with more special tokens. Existing ones stay as they are.
    ///
    /// # Errors
    /// If an id belongs to another token.
    pub fn with_special_tokens(&self, tokens: &[(String, Option<TokenId>)]) -> Result<Self> {
        let mut parts = self.parts.clone();
        let mut vocabulary = (*parts.vocabulary).clone();
        let mut places = self.places_of_added();
        for (content, wanted) in tokens {
            let unknown = Token { kind: TokenKind::Unknown, bytes: content.as_bytes() };
            let is_wanted = |id: TokenId| wanted.is_none_or(|wanted| wanted == id);
            let known = places.get(content.as_str()).map(|&place| parts.added[place].id);
            if vocabulary.id(unknown).is_some_and(is_wanted) || known.is_some_and(is_wanted) {
                continue;
            }
            if let Some(id) = known {
                let problem = format!("{content:?} already has the id {id}");
                return Err(Error::option("special_tokens", problem));
            }
            check_new_special(content, *wanted, vocabulary.len())?;
            let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
            let id = match *wanted {
                Some(id) => vocabulary.insert(id, token).map(|()| id)?,
                None => vocabulary.push(token)?,
            };
            places.insert(content, parts.added.len());
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

    /// A tokenizer with these added tokens, and how many of them changed something. Their `id` fields are ignored.
    ///
    /// A token that is already in the vocabulary keeps its id and is found as a whole from then on; other tokens get
    /// the next ids. If a token was added before, its properties are replaced.
    ///
    /// # Errors
    /// If a token is empty.
    pub fn with_added_tokens(&self, tokens: &[AddedToken]) -> Result<(Self, usize)> {
        let mut parts = self.parts.clone();
        let mut vocabulary = (*parts.vocabulary).clone();
        let known = self.ids_of_published(tokens);
        let mut places = self.places_of_added();
        let mut n_changed = 0;
        for token in tokens {
            if token.content.is_empty() {
                return Err(Error::option("added_tokens", "an empty text would match everywhere"));
            }
            if let Some(&place) = places.get(token.content.as_str()) {
                let AddedToken { id, whole_piece, in_model, .. } = parts.added[place];
                let changed = AddedToken { id, whole_piece, in_model, ..token.clone() };
                n_changed += usize::from(parts.added[place] != changed);
                parts.added[place] = changed;
                continue;
            }
            let known = known.get(token.content.as_str()).copied();
            let bytes = token.content.as_bytes();
            let new = || vocabulary.push(Token { kind: TokenKind::Added, bytes });
            let id = known.map_or_else(new, Ok)?;
            places.insert(&token.content, parts.added.len());
            parts.added.push(AddedToken { id, in_model: known.is_some(), ..token.clone() });
            n_changed += 1;
        }
        parts.vocabulary = Arc::new(vocabulary);
        Ok((Self::new(parts)?, n_changed))
    }

    /// A tokenizer with these added tokens at their ids. A token that already exists stays as it is.
    ///
    /// # Errors
    /// If a token has another id, an id belongs to another token or is far beyond all others, or a token is empty.
    pub fn with_tokens_at(&self, tokens: &[AddedToken]) -> Result<Self> {
        let mut parts = self.parts.clone();
        let mut vocabulary = (*parts.vocabulary).clone();
        let known = self.ids_of_published(tokens);
        for token in tokens {
            let there = vocabulary.token(token.id);
            let there = there.map(|there| published_name(&parts.units, there));
            if there.as_ref() == Some(&token.content) {
                continue;
            }
            if let Some(id) = known.get(token.content.as_str()) {
                let problem = format!("{:?} has the id {id}, and not {}", token.content, token.id);
                return Err(Error::option("added_tokens", problem));
            }
            check_new_special(&token.content, Some(token.id), vocabulary.len())?;
            let bytes = token.content.as_bytes();
            if let Some(other) = there {
                let problem =
                    format!("the id {} of {:?} is that of {other:?}", token.id, token.content);
                return Err(Error::option("added_tokens", problem));
            }
            vocabulary.insert(token.id, Token { kind: TokenKind::Added, bytes })?;
            parts.added.push(token.clone());
        }
        parts.vocabulary = Arc::new(vocabulary);
        Self::new(parts)
    }

    /// By content: the index of the added token, the first if there are several.
    pub(super) fn places_of_added(&self) -> HashMap<&str, usize> {
        let mut places = HashMap::with_capacity(self.parts.added.len());
        for (place, token) in self.parts.added.iter().enumerate() {
            places.entry(token.content.as_str()).or_insert(place);
        }
        places
    }

    /// By content: the ids of tokens with this name in published files, found in one pass over the vocabulary.
    fn ids_of_published<'n>(&self, tokens: &'n [AddedToken]) -> HashMap<&'n str, TokenId> {
        let wanted: HashSet<_> = tokens.iter().map(|token| token.content.as_str()).collect();
        let mut ids = HashMap::new();
        for (id, token) in self.parts.vocabulary.iter() {
            if let Some(name) = wanted.get(&*published_name(&self.parts.units, token)) {
                ids.entry(*name).or_insert(id);
            }
        }
        ids
    }
}

fn check_new_special(content: &str, wanted: Option<TokenId>, n_ids: usize) -> Result<()> {
    if content.is_empty() {
        return Err(Error::option("special_tokens", "an empty text would match everywhere"));
    }
    match wanted {
        Some(id) if id as usize > n_ids + MAX_HOLES => {
            let problem =
                format!("{content:?}: the id {id} is far beyond the {n_ids} existing ids");
            Err(Error::option("special_tokens", problem))
        }
        _ => Ok(()),
    }
}

impl Tokenizer {
    /// The tokenizer that training up to `target` gives on the corpus on which this one was trained.
    ///
    /// ```
    /// # use std::ops::ControlFlow;
    /// # use bytepair::Tokenizer;
    /// # use bytepair::count::PieceCounts;
    /// # use bytepair::dialect::Dialect;
    /// # use bytepair::train::{Target, train};
    /// # let mut counts = PieceCounts::new();
    /// # counts.add(b"low lower", 5, None)?;
    /// # let dialect = Dialect::named("gpt2").unwrap();
    /// # let trained = |target| -> bytepair::Result<Tokenizer> {
    /// #     let options = dialect.train_options(target, vec![]);
    /// #     let trained = train(&counts, &dialect.units, &options, |_| Ok(ControlFlow::Continue(())))?;
    /// #     dialect.tokenizer(trained, &options)
    /// # };
    /// let (large, small) = (trained(Target::Merges(4))?, trained(Target::Merges(2))?);
    /// let cut = large.truncated(Target::Merges(2))?;
    /// assert_eq!(cut.parts().vocabulary.merges(), small.parts().vocabulary.merges());
    /// # Ok::<(), bytepair::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the ids are not in the order that training gives them, if `target` is more than there is or less than
    /// required, or if the template or the padding uses a token that would be removed.
    pub fn truncated(&self, target: Target) -> Result<Self> {
        let (earlier, vocabulary) =
            (&self.parts.vocabulary, truncated(&self.parts.vocabulary, target)?);
        let new_id = |id: TokenId| {
            let found = earlier.token(id).and_then(|token| vocabulary.id(token));
            found.ok_or_else(|| missing(earlier, id))
        };
        let parts = self.parts.renumbered(&new_id)?;
        Self::new(Parts { vocabulary: Arc::new(vocabulary), ..parts })
    }

    /// This tokenizer with a vocabulary that was learned from its own: the same tokens at the same ids, followed by
    /// more. `special_tokens` become special; one that is already an added token keeps its id.
    ///
    /// # Errors
    /// If the vocabulary lacks a token that another part uses.
    pub fn with_learned(&self, vocabulary: Vocabulary, special_tokens: &[String]) -> Result<Self> {
        let mut added = self.parts.added.clone();
        let is_special: HashSet<_> = special_tokens.iter().collect();
        for token in &mut added {
            token.special |= is_special.contains(&token.content);
        }
        let known = self.places_of_added();
        for content in special_tokens.iter().filter(|name| !known.contains_key(name.as_str())) {
            let token = Token { kind: TokenKind::Added, bytes: content.as_bytes() };
            if let Some(id) = vocabulary.id(token) {
                let content = content.clone();
                added.push(AddedToken { id, content, special: true, ..AddedToken::default() });
            }
        }
        Self::new(Parts { vocabulary: Arc::new(vocabulary), added, ..self.parts.clone() })
    }
}

fn missing(earlier: &Vocabulary, id: TokenId) -> Error {
    let bytes = earlier.token(id).map(|token| token.bytes).unwrap_or_default();
    let token = String::from_utf8_lossy(bytes);
    let problem =
        format!("the token {token:?} would be removed, but the template or the padding uses it");
    Error::option("vocab_size", problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::bytes_vocabulary;
    use crate::tokenizer::Parts;
    use crate::units::{ByteIds, Units};
    use proptest::prelude::*;

    /// Bytes, the token `ab`, and two added tokens.
    fn tokenizer() -> Tokenizer {
        let mut vocabulary = bytes_vocabulary();
        vocabulary.push_merge(97, 98).unwrap();
        let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary));
        let names = ["<a>", "<ab>"].map(|name| (name.to_owned(), None));
        Tokenizer::new(parts).unwrap().with_special_tokens(&names).unwrap()
    }

    fn contents() -> impl Strategy<Value = Vec<String>> {
        prop::collection::vec("<?[ab]{1,2}>?|new_[01]{1,3}|n{1,9}", 1..60)
    }

    /// The ids and the properties of all added tokens, and the number of ids.
    fn state(tokenizer: &Tokenizer) -> (Vec<AddedToken>, usize) {
        (tokenizer.parts.added.clone(), tokenizer.parts.vocabulary.len())
    }

    proptest! {
        #[test]
        fn special_tokens_added_at_once_are_those_added_one_by_one(contents in contents()) {
            let names: Vec<_> = contents.into_iter().map(|content| (content, None)).collect();
            let at_once = tokenizer().with_special_tokens(&names).unwrap();
            let one_by_one = names.iter().fold(tokenizer(), |tokenizer, name| {
                tokenizer.with_special_tokens(std::slice::from_ref(name)).unwrap()
            });
            prop_assert_eq!(state(&at_once), state(&one_by_one));
            let first = tokenizer().parts.vocabulary.len();
            let ids = at_once.parts.added[2..].iter().map(|token| token.id as usize);
            prop_assert!(ids.eq(first..at_once.parts.vocabulary.len()));
        }

        #[test]
        fn tokens_added_at_once_are_those_added_one_by_one(
            contents in contents(),
            flags in any::<[[bool; 4]; 7]>(),
        ) {
            let token = |(place, content): (usize, String)| {
                let [special, normalized, lstrip, rstrip] = flags[place % 7];
                AddedToken { content, special, normalized, lstrip, rstrip, ..AddedToken::default() }
            };
            let tokens: Vec<_> = contents.into_iter().enumerate().map(token).collect();
            let (at_once, n_changed) = tokenizer().with_added_tokens(&tokens).unwrap();
            let mut one_by_one = (tokenizer(), 0);
            for token in &tokens {
                let (next, n) = one_by_one.0.with_added_tokens(std::slice::from_ref(token)).unwrap();
                one_by_one = (next, one_by_one.1 + n);
            }
            prop_assert_eq!(state(&at_once), state(&one_by_one.0));
            prop_assert_eq!(n_changed, one_by_one.1);
        }
    }
}
