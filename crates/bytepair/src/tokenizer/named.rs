//! The searches of calls that name special tokens, remembered.
//!
//! An automaton for some tokens takes longer to make than a short text to encode, and a program names the same tokens in
//! call after call. So those of the last few choices are remembered. A remembered choice costs a comparison of its names; no
//! thread waits for another, and at worst two threads make the same automaton.

use std::sync::{Arc, Mutex};

use super::Parts;
use crate::added::{Disallowed, Matcher, Specials};
use crate::error::Result;

/// How many choices are remembered.
const MAX_CHOICES: usize = 4;

/// What to find in a text: tokens that count, and tokens that are an error.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) matcher: Arc<Matcher>,
    pub(super) disallowed: Option<Arc<Disallowed>>,
}

/// Rules by the choice of special tokens, the last one first.
#[derive(Debug, Default)]
pub(super) struct NamedRules(Mutex<Vec<(Names, Names, Rules)>>);

/// [`Specials`] that keep their names.
#[derive(Debug)]
enum Names {
    None,
    All,
    Only(Vec<String>),
}

impl NamedRules {
    /// The rules for special tokens that are allowed and for those that are disallowed, where `matcher` makes what
    /// finds the first.
    pub(super) fn get(
        &self,
        parts: &Parts,
        [allowed, disallowed]: [Specials<'_>; 2],
        matcher: impl FnOnce() -> Result<Arc<Matcher>>,
    ) -> Result<Rules> {
        if let Ok(mut choices) = self.0.try_lock() {
            let is_it = |(a, d, _): &(Names, Names, Rules)| a.are(allowed) && d.are(disallowed);
            if let Some(index) = choices.iter().position(is_it) {
                choices[..=index].rotate_right(1);
                return Ok(choices[0].2.clone());
            }
        }
        let matcher = matcher()?;
        let disallowed_finder = match disallowed {
            Specials::None => None,
            names => Some(Arc::new(Disallowed::new(&parts.added, allowed, names)?)),
        };
        let rules = Rules { matcher, disallowed: disallowed_finder };
        if let Ok(mut choices) = self.0.try_lock() {
            choices.truncate(MAX_CHOICES - 1);
            choices.insert(0, (allowed.into(), disallowed.into(), rules.clone()));
        }
        Ok(rules)
    }
}

impl Names {
    fn are(&self, names: Specials<'_>) -> bool {
        match (self, names) {
            (Self::None, Specials::None) | (Self::All, Specials::All) => true,
            (Self::Only(held), Specials::Only(names)) => held == names,
            _ => false,
        }
    }
}

impl From<Specials<'_>> for Names {
    fn from(names: Specials<'_>) -> Self {
        match names {
            Specials::None => Self::None,
            Specials::All => Self::All,
            Specials::Only(names) => Self::Only(names.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokenizer::{EncodeOptions, Tokenizer};
    use crate::units::{ByteIds, Units};
    use crate::vocabulary::{Token, TokenKind, Vocabulary};
    use proptest::prelude::*;

    const NAMES: [&str; 4] = ["<a>", "<b>", "<ab>", "<nothing>"];

    /// Bytes, and all names but the last as special tokens.
    fn tokenizer() -> Tokenizer {
        let mut vocabulary = Vocabulary::new();
        for byte in 0..=255 {
            vocabulary.push(Token::plain(&[byte])).unwrap();
        }
        let mut added = Vec::new();
        for name in &NAMES[..3] {
            let token = Token { kind: TokenKind::Added, bytes: name.as_bytes() };
            let id = vocabulary.push(token).unwrap();
            let content = (*name).to_owned();
            added.push(crate::added::AddedToken {
                id,
                content,
                special: true,
                ..Default::default()
            });
        }
        let parts = Parts::new(Units::bytes(ByteIds::Value), Arc::new(vocabulary));
        Tokenizer::new(Parts { added, ..parts }).unwrap()
    }

    fn some() -> impl Strategy<Value = Vec<String>> {
        let names = prop::sample::subsequence(&NAMES[..], 0..=2);
        names.prop_map(|names| names.into_iter().map(str::to_owned).collect())
    }

    proptest! {
        #[test]
        fn a_choice_means_the_same_whatever_was_chosen_before(
            calls in prop::collection::vec((0..3_u8, some(), 0..3_u8, some()), 1..30),
        ) {
            let remembers = tokenizer();
            let message = |result: Result<Vec<u32>>| result.map_err(|error| error.to_string());
            for (allowed, allowed_names, disallowed, disallowed_names) in &calls {
                let choice = |kind, names| match kind {
                    0 => Specials::None,
                    1 => Specials::All,
                    _ => Specials::Only(names),
                };
                let options = EncodeOptions {
                    allowed_special: choice(*allowed, allowed_names),
                    disallowed_special: choice(*disallowed, disallowed_names),
                    ..EncodeOptions::default()
                };
                for text in [b"x<a>y<ab>".as_slice(), b"<b>", b"xy"] {
                    let expected = message(tokenizer().encode(text, options));
                    prop_assert_eq!(message(remembers.encode(text, options)), expected);
                }
            }
            prop_assert!(remembers.named.0.lock().unwrap().len() <= MAX_CHOICES);
        }
    }
}
