//! Added tokens: found in the text by their content, before anything else happens to it.
//!
//! Special tokens are plain text unless a call allows them; other added tokens always count. Of several
//! that begin at one place the longest is taken. Most are looked for in the text as it is given, some in
//! the normalized text. Takes one pass over the text for each of the two, with nothing to do where there
//! are no such tokens.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::error::{Error, ErrorKind, Result};
use crate::normalize::Normalizer;
use crate::split::Segment;
use crate::vocabulary::TokenId;

/// A token that is not made by merges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AddedToken {
    /// Its id.
    pub id: TokenId,
    /// The text that it stands for. Not empty.
    pub content: String,
    /// Whether it is plain text unless a call allows it.
    pub special: bool,
    /// Whether it is looked for in the normalized text, in its own normalized form.
    pub normalized: bool,
}

/// Which special tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Specials<'n> {
    /// None.
    #[default]
    None,
    /// All that the tokenizer has.
    All,
    /// Those with these contents.
    Only(&'n [String]),
}

impl Specials<'_> {
    fn contains(self, content: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(names) => names.iter().any(|name| name == content),
        }
    }

    /// Refuses names that are no special tokens.
    fn check(self, tokens: &[AddedToken]) -> Result<()> {
        let Self::Only(names) = self else { return Ok(()) };
        let is_special =
            |name: &String| tokens.iter().any(|token| token.special && token.content == *name);
        match names.iter().find(|name| !is_special(name)) {
            Some(name) => Err(ErrorKind::NotSpecial { name: name.clone() }.into()),
            None => Ok(()),
        }
    }
}

/// Finds the added tokens that count in one call.
#[derive(Clone, Debug)]
pub(crate) struct Matcher {
    raw: Finder,
    normalized: Finder,
}

/// Finds texts that stand for ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    automaton: Option<AhoCorasick>,
    /// By pattern of the automaton.
    ids: Vec<TokenId>,
}

/// A stretch of text: a token, or text without tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Token(TokenId),
    Text(Range<usize>),
}

impl Matcher {
    /// A matcher for the added tokens that are not special, and for the special tokens allowed.
    pub(crate) fn new(
        tokens: &[AddedToken],
        normalizer: &Normalizer,
        allowed: Specials<'_>,
    ) -> Result<Self> {
        allowed.check(tokens)?;
        let takes_part = |token: &&AddedToken| !token.special || allowed.contains(&token.content);
        let raw = tokens.iter().filter(takes_part).filter(|token| !token.normalized);
        let normalized = tokens.iter().filter(takes_part).filter(|token| token.normalized);
        let normal_form = |content: &str| {
            let segment = Segment { text: content.as_bytes(), is_first: false, is_last: false };
            normalizer.normalize(segment).into_owned()
        };
        Ok(Self {
            raw: Finder::new(raw.map(|token| (token.content.clone().into_bytes(), token.id)))?,
            normalized: Finder::new(
                normalized.map(|token| (normal_form(&token.content), token.id)),
            )?,
        })
    }

    /// A matcher for the special tokens that must not stand in a text.
    pub(crate) fn disallowed(
        tokens: &[AddedToken],
        allowed: Specials<'_>,
        disallowed: Specials<'_>,
    ) -> Result<Finder> {
        disallowed.check(tokens)?;
        let is_disallowed = |token: &&AddedToken| {
            token.special
                && disallowed.contains(&token.content)
                && !allowed.contains(&token.content)
        };
        let found = tokens.iter().filter(is_disallowed);
        Finder::new(found.map(|token| (token.content.clone().into_bytes(), token.id)))
    }

    /// Cuts the text as it was given.
    pub(crate) fn cut_raw(&self, text: &[u8], visit: impl FnMut(Part) -> Result<()>) -> Result<()> {
        self.raw.cut(text, visit)
    }

    /// Cuts normalized text.
    pub(crate) fn cut_normalized(
        &self,
        text: &[u8],
        visit: impl FnMut(Part) -> Result<()>,
    ) -> Result<()> {
        self.normalized.cut(text, visit)
    }
}

impl Finder {
    fn new(patterns: impl Iterator<Item = (Vec<u8>, TokenId)>) -> Result<Self> {
        let (patterns, ids): (Vec<_>, Vec<_>) =
            patterns.filter(|(pattern, _)| !pattern.is_empty()).unzip();
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(patterns)
            .map_err(|error| Error::option("special_tokens", error.to_string()))?;
        Ok(Self { automaton: Some(automaton), ids })
    }

    /// The first token in a text, with its place.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let found = self.automaton.as_ref()?.find(text)?;
        Some((self.ids[found.pattern().as_usize()], found.start()))
    }

    /// Visits tokens and the text between them, in order. Empty text is left out.
    fn cut(&self, text: &[u8], mut visit: impl FnMut(Part) -> Result<()>) -> Result<()> {
        let mut start = 0;
        for found in self.automaton.iter().flat_map(|automaton| automaton.find_iter(text)) {
            if start < found.start() {
                visit(Part::Text(start..found.start()))?;
            }
            visit(Part::Token(self.ids[found.pattern().as_usize()]))?;
            start = found.end();
        }
        if start < text.len() {
            visit(Part::Text(start..text.len()))?;
        }
        Ok(())
    }
}
