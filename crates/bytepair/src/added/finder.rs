//! Where the texts of added tokens stand in a text, from the left, the longest of those that begin at one place.
//!
//! A [`Search`] finds their contents; then it is decided whether they count there, and how much white space belongs to them.

use std::borrow::Cow;
use std::ops::Range;

use super::{
    AddedToken, Part, ends_with_word, len_of_first_space, len_of_last_space, starts_with_word,
};
use crate::dictionary::{Ahead, Search};
use crate::error::Result;
use crate::vocabulary::TokenId;

/// Finds texts that stand for ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    search: Search,
    /// By pattern.
    tokens: Vec<Found>,
}

/// What is to be done where a token was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    id: TokenId,
    lstrip: bool,
    rstrip: bool,
    single_word: bool,
}

impl Finder {
    /// Empty patterns are left out; of equal ones the first counts.
    pub(super) fn new<'t>(
        patterns: impl Iterator<Item = (Cow<'t, [u8]>, &'t AddedToken)>,
    ) -> Result<Self> {
        let (patterns, tokens): (Vec<_>, Vec<_>) = patterns
            .filter(|(pattern, _)| !pattern.is_empty())
            .map(|(pattern, token)| (pattern, Found::from(token)))
            .unzip();
        Ok(Self { search: Search::new(&patterns)?, tokens })
    }

    /// The length of the longest pattern.
    pub(crate) fn longest(&self) -> usize {
        self.search.longest()
    }

    /// The first token in a text, with its place.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let found = self.search.next(text, 0, &mut Ahead::default())?;
        Some((self.tokens[found.pattern].id, found.place.start))
    }

    /// Visits tokens and the text between them, in order. Empty text is left out.
    pub(super) fn cut(&self, text: &[u8], mut visit: impl FnMut(Part) -> Result<()>) -> Result<()> {
        let mut start = 0;
        for found in self.search.find_iter(text) {
            let token = self.tokens[found.pattern];
            let Some(place) = token.place(text, found.place, start) else { continue };
            if start < place.start {
                visit(Part::Text(start..place.start))?;
            }
            start = place.end;
            visit(Part::Token(token.id, place))?;
        }
        if start < text.len() {
            visit(Part::Text(start..text.len()))?;
        }
        Ok(())
    }
}

impl From<&AddedToken> for Found {
    fn from(token: &AddedToken) -> Self {
        let &AddedToken { id, lstrip, rstrip, single_word, .. } = token;
        Self { id, lstrip, rstrip, single_word }
    }
}

impl Found {
    /// The place of a token whose content was found, or `None` where it does not count. What stands before
    /// `taken` belongs to the token before.
    fn place(self, text: &[u8], content: Range<usize>, taken: usize) -> Option<Range<usize>> {
        let (before, after) = (&text[..content.start], &text[content.end..]);
        if self.single_word && (ends_with_word(before) || starts_with_word(after)) {
            return None;
        }
        let mut place = content;
        if self.rstrip {
            // What was taken beyond the content is white space, all that there is.
            place.end = match taken > place.end {
                true => taken,
                false => place.end + len_of_first_space(after),
            };
        }
        if self.lstrip {
            let free = before.get(taken..).unwrap_or_default();
            place.start = (before.len() - len_of_last_space(free)).max(taken).min(place.end);
        }
        Some(place).filter(|place| !place.is_empty())
    }
}

#[cfg(test)]
mod tests;
