//! Where the texts of added tokens stand in a text, from the left, the longest of those that begin at one place.
//!
//! There are two ways to search. An automaton that runs forward, with vectors that find where a token may begin, is
//! for the tokens of published files. It takes time quadratic in the number of tokens to make, and in their length to
//! run, so a [`Dictionary`] takes its place where tokens are many or long. Both find the same.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use aho_corasick::{AhoCorasick, Anchored, Input, MatchKind, StartKind, packed};

use super::{
    AddedToken, Part, ends_with_word, len_of_first_space, len_of_last_space, starts_with_word,
};
use crate::dictionary::{Ahead, Dictionary, Occurrence, are_few};
use crate::error::{Error, Result};
use crate::vocabulary::TokenId;

/// Bytes of a token by which its beginning is found, and most of such beginnings.
const BEGINNING_LEN: usize = 4;
const MAX_BEGINNINGS: usize = 32;

/// How many bytes of text there are at least for each beginning of no token: where these come more often, as in text made
/// of beginnings, the automaton looks at each byte once.
const MIN_LEN_PER_MISS: usize = 64;

/// So many of them may come at once.
const N_MISSES: usize = 8;

/// In shorter texts the automaton finds beginnings by itself.
const MIN_LEN_FOR_BEGINNINGS: usize = 64;

/// Finds texts that stand for ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    search: Search,
    /// By pattern.
    tokens: Vec<Found>,
}

/// Finds the longest of some texts at each place of another one.
#[derive(Clone, Debug, Default)]
pub(crate) enum Search {
    #[default]
    Nothing,
    Few(Few),
    Many(Dictionary),
}

/// Finds texts that are few and short.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    automaton: AhoCorasick,
    /// Finds where a token may begin, sooner than the automaton does. Present where tokens begin with several bytes:
    /// for these the automaton stops at any byte that is rare in English, as half of those of Chinese are.
    beginnings: Option<packed::Searcher>,
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

impl Search {
    /// None of the patterns may be empty; of equal ones the first counts.
    ///
    /// # Errors
    /// Where there are more than can be searched for.
    pub(crate) fn new(patterns: &[impl AsRef<[u8]>]) -> Result<Self> {
        match patterns {
            [] => Ok(Self::Nothing),
            _ if are_few(patterns) => Few::new(patterns).map(Self::Few),
            _ => Dictionary::new(patterns).map(Self::Many),
        }
    }

    /// The length of the longest pattern.
    pub(crate) fn longest(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Few(few) => few.automaton.max_pattern_len(),
            Self::Many(dictionary) => dictionary.longest(),
        }
    }

    /// The first occurrence from a place on, which grows from call to call with the same `ahead`.
    pub(crate) fn next(&self, text: &[u8], from: usize, ahead: &mut Ahead) -> Option<Occurrence> {
        match self {
            Self::Nothing => None,
            Self::Few(few) => few.next(text, from),
            Self::Many(dictionary) => dictionary.next(text, from, ahead),
        }
    }

    /// The occurrences that do not overlap, from the left.
    pub(crate) fn find_iter(&self, text: &[u8]) -> impl Iterator<Item = Occurrence> {
        let (mut from, mut ahead) = (0, Ahead::default());
        std::iter::from_fn(move || {
            let found = self.next(text, from, &mut ahead)?;
            from = found.place.end;
            Some(found)
        })
    }
}

impl Few {
    fn new(patterns: &[impl AsRef<[u8]>]) -> Result<Self> {
        let patterns: Vec<_> = patterns.iter().map(AsRef::as_ref).collect();
        let patterns = patterns.as_slice();
        let beginnings = beginnings(patterns);
        let start_kind = if beginnings.is_some() { StartKind::Both } else { StartKind::Unanchored };
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(start_kind)
            .build(patterns)
            .map_err(|error| Error::option("special_tokens", error.to_string()))?;
        Ok(Self { automaton, beginnings })
    }

    fn next(&self, text: &[u8], mut from: usize) -> Option<Occurrence> {
        let find = |input: Input<'_>| {
            let found = self.automaton.find(input)?;
            Some(Occurrence { pattern: found.pattern().as_usize(), place: found.range() })
        };
        let rest = |from| Input::new(text).span(from..text.len());
        let beginnings = self.beginnings.as_ref();
        let Some(beginnings) = beginnings.filter(|_| text.len() - from >= MIN_LEN_FOR_BEGINNINGS)
        else {
            return find(rest(from));
        };
        let (first, mut n_missed) = (from, 0);
        while n_missed <= N_MISSES + (from - first) / MIN_LEN_PER_MISS {
            let start = beginnings.find_in(text, (from..text.len()).into())?.start();
            let found = find(rest(start).anchored(Anchored::Yes));
            if found.is_some() {
                return found;
            }
            (from, n_missed) = (start + 1, n_missed + 1);
        }
        find(rest(from))
    }
}

/// What finds the beginnings of tokens; `None` where these are one byte, too many, or no rarity: white space, letters.
fn beginnings(patterns: &[&[u8]]) -> Option<packed::Searcher> {
    let beginning = |pattern: &&[u8]| pattern[..pattern.len().min(BEGINNING_LEN)].to_vec();
    let beginnings: BTreeSet<_> = patterns.iter().map(beginning).collect();
    let is_frequent = |beginning: &Vec<u8>| {
        beginning.len() < 2
            || beginning[0].is_ascii_alphanumeric()
            || beginning[0].is_ascii_whitespace()
    };
    let begin_alike = patterns.iter().all(|pattern| pattern[0] == patterns[0][0]);
    if begin_alike || beginnings.len() > MAX_BEGINNINGS || beginnings.iter().any(is_frequent) {
        return None;
    }
    packed::Searcher::new(beginnings)
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
