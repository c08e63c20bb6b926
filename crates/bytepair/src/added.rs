//! Added tokens, which are found in the text by their content before anything else happens to it.
//!
//! Special tokens are plain text unless a call allows them; other added tokens are always found. If several tokens
//! begin at one place, the longest is taken. Most are looked for in the original text, some in the normalized text.
//!
//! The rules are those of the library that reads `tokenizer.json`. A token that must be a single word but is not one
//! is skipped, and nothing else is looked for in its place. White space that belongs to a token extends back at most
//! to the previous token. It may extend forward into a token that begins with white space, which is still found, so
//! that both cover this white space. If that token also extends back, it gets none of it.
//!
//! A special token that a call does not allow is not looked for at all: its characters are text, in which other added
//! tokens may be found. Takes one pass over the text for each of the two searches, and none if there are no such
//! tokens.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::{Not, Range, RangeInclusive};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::dictionary::{Ahead, Search};
use crate::error::{Error, ErrorKind, Result};
use crate::normalize::Normalizer;
use crate::segment::{Segment, first_character, last_character};
use crate::units::Units;
use crate::vocabulary::TokenId;
use bytepair_split::unicode::UnicodeTables;

/// A token that is not made by merges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a property of its own in published files"
)]
pub struct AddedToken {
    /// Its id.
    pub id: TokenId,
    /// The text that it stands for. Not empty.
    pub content: String,
    /// Whether it is plain text unless a call allows it.
    pub special: bool,
    /// Whether it is looked for in the normalized text, in its own normalized form.
    pub normalized: bool,
    /// Whether white space before it belongs to it.
    pub lstrip: bool,
    /// Whether white space after it belongs to it.
    pub rstrip: bool,
    /// Whether it is found only if no word character is next to it.
    pub single_word: bool,
    /// Whether a whole piece with its content is this token too, wherever the piece stands and whatever the merges
    /// would give. Only if the tokenizer ignores merges for pieces that are tokens.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub whole_piece: bool,
    /// Whether it is in the vocabulary of the model too, as published files have it. This says where the token is
    /// written, and nothing about ids.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub in_model: bool,
}

/// A choice of special tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Specials<'n> {
    /// None.
    #[default]
    None,
    /// All special tokens of the tokenizer.
    All,
    /// The special tokens with these contents.
    Only(&'n [String]),
}

/// [`Specials`] whose names are looked up, not compared one by one.
pub(crate) enum Chosen<'n> {
    None,
    All,
    Only(HashSet<&'n str>),
}

impl<'n> Chosen<'n> {
    /// A choice among the tokens that may be named.
    ///
    /// # Errors
    /// If a name is not one of them.
    pub(crate) fn new<'t>(
        specials: Specials<'n>,
        tokens: impl Iterator<Item = &'t AddedToken>,
    ) -> Result<Self> {
        let names = match specials {
            Specials::None => return Ok(Self::None),
            Specials::All => return Ok(Self::All),
            Specials::Only(names) => names,
        };
        let known: HashSet<_> = tokens.map(|token| token.content.as_str()).collect();
        match names.iter().find(|name| !known.contains(name.as_str())) {
            Some(name) => Err(ErrorKind::NotSpecial { name: name.clone() }.into()),
            None => Ok(Self::Only(names.iter().map(String::as_str).collect())),
        }
    }

    pub(crate) fn contains(&self, content: &str) -> bool {
        match self {
            Self::None => false,
            Self::All => true,
            Self::Only(names) => names.contains(content),
        }
    }
}

/// Finds the added tokens that a call recognises.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matcher {
    /// Tokens that are looked for in the original text.
    pub(crate) raw: Finder,
    /// Tokens that are looked for in normalized text.
    pub(crate) normalized: Finder,
    /// Whether some tokens that are looked for in normalized text are special.
    pub(crate) has_late_specials: bool,
    /// The added tokens that can be a whole piece, by that piece.
    whole_pieces: HashMap<Vec<u8>, TokenId>,
}

/// Finds the disallowed added tokens of a text.
#[derive(Clone, Debug)]
pub(crate) struct Disallowed {
    /// All disallowed tokens, as they are written.
    pub(crate) as_written: Finder,
    /// The disallowed tokens that are not special, which are found everywhere; `late` has those of them that are
    /// looked for in normalized text.
    others: HashSet<TokenId>,
    late: HashSet<TokenId>,
}

/// A stretch of text: a token with its place, or text without tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Token(TokenId, Range<usize>),
    Text(Range<usize>),
}

/// What determines where tokens are found, besides the tokens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MatchedText<'p> {
    pub(crate) normalizer: &'p Normalizer,
    pub(crate) units: &'p Units,
    /// Whether pieces are stretches of the original text.
    pub(crate) pieces_are_text: bool,
}

impl Matcher {
    /// A matcher for the added tokens that are not special, and for the allowed special tokens.
    pub(crate) fn new(
        tokens: &[AddedToken],
        matched: MatchedText<'_>,
        allowed: Specials<'_>,
    ) -> Result<Self> {
        let MatchedText { normalizer, units, pieces_are_text } = matched;
        let allowed = Chosen::new(allowed, special(tokens))?;
        let takes_part = |token: &&AddedToken| !token.special || allowed.contains(&token.content);
        let raw = tokens.iter().filter(takes_part).filter(|token| !token.normalized);
        let normalized = tokens.iter().filter(takes_part).filter(|token| token.normalized);
        let has_late_specials = normalized.clone().any(|token| token.special);
        let normal_form = |content: &str| {
            let is_rest = normalizer.is_sentencepiece();
            let segment = Segment { is_rest, ..Segment::inner(content.as_bytes()) };
            normalizer.normalize(segment).map(Cow::into_owned)
        };
        let normalized: Vec<_> = normalized
            .map(|token| match normal_form(&token.content)? {
                text if text.is_empty() => Err(is_nothing(token)),
                text => Ok((Cow::Owned(text), token)),
            })
            .collect::<Result<_>>()?;
        let whole = tokens.iter().filter(takes_part).filter(|token| token.whole_piece);
        // A match that is skipped because it is not a word may contain another token.
        let leaves_none =
            pieces_are_text && !tokens.iter().filter(takes_part).any(|token| token.single_word);
        let piece = |token: &AddedToken| {
            let piece = units.text_of_name(&token.content)?;
            let is_cut_out = leaves_none && *piece == *token.content.as_bytes();
            (!is_cut_out).then(|| (piece.into_owned(), token.id))
        };
        Ok(Self {
            raw: Finder::new(raw.map(as_written))?,
            normalized: Finder::new(normalized.into_iter())?,
            has_late_specials,
            whole_pieces: whole.filter_map(piece).collect(),
        })
    }

    /// Whether a token is found in a text, or in the same text normalized.
    pub(crate) fn finds_any(&self, raw: &[u8], normalized: &[u8]) -> bool {
        self.raw.find(raw).is_some() || self.normalized.find(normalized).is_some()
    }

    /// The length of the longest token for the original and for the normalized text.
    pub(crate) fn reaches(&self) -> [usize; 2] {
        [self.raw.longest(), self.normalized.longest()]
    }

    /// The length of the longest piece that is an added token.
    pub(crate) fn longest_whole_piece(&self) -> usize {
        self.whole_pieces.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether an added token may be a whole piece.
    pub(crate) fn has_whole_pieces(&self) -> bool {
        !self.whole_pieces.is_empty()
    }

    /// The added token that a piece is as a whole.
    #[inline]
    pub(crate) fn whole_piece(&self, piece: &[u8]) -> Option<TokenId> {
        if self.whole_pieces.is_empty() { None } else { self.whole_pieces.get(piece).copied() }
    }
}

impl Disallowed {
    /// The special tokens that are disallowed and not allowed, and other tokens that are disallowed by name.
    pub(crate) fn new(
        tokens: &[AddedToken],
        allowed: Specials<'_>,
        disallowed: Specials<'_>,
    ) -> Result<Self> {
        let is_named = matches!(disallowed, Specials::Only(_));
        let disallowed = Chosen::new(disallowed, tokens.iter())?;
        let allowed = Chosen::new(allowed, special(tokens))?;
        let is_disallowed = |token: &&AddedToken| match token.special {
            true => disallowed.contains(&token.content) && !allowed.contains(&token.content),
            false => is_named && disallowed.contains(&token.content),
        };
        let found = || tokens.iter().filter(is_disallowed);
        let others = found().filter(|token| !token.special);
        let late = others.clone().filter(|token| token.normalized);
        Ok(Self {
            as_written: Finder::new(found().map(as_written))?,
            late: late.map(|token| token.id).collect(),
            others: others.map(|token| token.id).collect(),
        })
    }

    /// Whether a token is special.
    pub(crate) fn is_special(&self, id: TokenId) -> bool {
        !self.others.contains(&id)
    }

    /// Whether any is looked for in normalized text, where it may be written differently.
    pub(crate) fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// Whether a token that is found in normalized text is disallowed.
    pub(crate) fn has_as_late(&self, id: TokenId) -> bool {
        self.late.contains(&id)
    }
}

fn special(tokens: &[AddedToken]) -> impl Iterator<Item = &AddedToken> {
    tokens.iter().filter(|token| token.special)
}

/// The error for a token that is empty after normalization. The library that reads `tokenizer.json` finds such a token
/// everywhere, and cuts texts there into single characters.
fn is_nothing(token: &AddedToken) -> Error {
    let problem = format!(
        "{:?} is nothing once it is normalized; make it normalized=False, or leave it out",
        token.content
    );
    Error::option("added_tokens", problem)
}

/// A token that is looked for as it is written.
fn as_written(token: &AddedToken) -> (Cow<'_, [u8]>, &AddedToken) {
    (Cow::Borrowed(token.content.as_bytes()), token)
}

/// The number of bytes of white space at the end.
fn len_of_last_space(mut text: &[u8]) -> usize {
    let len = text.len();
    while let Some(character) = last_character(text).filter(|character| character.is_whitespace()) {
        text = &text[..text.len() - character.len_utf8()];
    }
    len - text.len()
}

/// The number of bytes of white space at the beginning.
fn len_of_first_space(mut text: &[u8]) -> usize {
    let len = text.len();
    while let Some(character) = first_character(text).filter(|character| character.is_whitespace())
    {
        text = &text[character.len_utf8()..];
    }
    len - text.len()
}

fn ends_with_word(text: &[u8]) -> bool {
    last_character(text).is_some_and(is_word)
}

fn starts_with_word(text: &[u8]) -> bool {
    first_character(text).is_some_and(is_word)
}

/// Whether a character is one of `\w`: alphabetic, a mark, a decimal digit, a connector or a joiner.
fn is_word(character: char) -> bool {
    static RANGES: OnceLock<Vec<RangeInclusive<char>>> = OnceLock::new();
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    let ranges = RANGES.get_or_init(|| {
        let names = ["Alphabetic", "M", "Nd", "Pc", "Join_Control"];
        let tables = UnicodeTables::latest();
        names.into_iter().filter_map(|name| tables.property(name)).flatten().collect()
    });
    ranges.iter().any(|range| range.contains(&character))
}

/// Finds texts that stand for ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    search: Search,
    /// By pattern.
    tokens: Vec<Found>,
}

/// How a token that was found is treated.
#[derive(Clone, Copy, Debug)]
struct Found {
    id: TokenId,
    lstrip: bool,
    rstrip: bool,
    single_word: bool,
}

impl Finder {
    /// Empty patterns are left out; of equal ones the first is used.
    fn new<'t>(patterns: impl Iterator<Item = (Cow<'t, [u8]>, &'t AddedToken)>) -> Result<Self> {
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

    /// The first token in a text, and its place.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let found = self.search.next(text, 0, &mut Ahead::default())?;
        Some((self.tokens[found.pattern].id, found.place.start))
    }

    /// Visits tokens and the text between them, in order. Empty text is left out.
    pub(crate) fn cut(&self, text: &[u8], mut visit: impl FnMut(Part) -> Result<()>) -> Result<()> {
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
    /// The place of a token whose content was found, or `None` if it is not accepted. Text before `taken` belongs to
    /// the previous token.
    fn place(self, text: &[u8], content: Range<usize>, taken: usize) -> Option<Range<usize>> {
        let (before, after) = (&text[..content.start], &text[content.end..]);
        if self.single_word && (ends_with_word(before) || starts_with_word(after)) {
            return None;
        }
        let mut place = content;
        if self.rstrip {
            // The text that was taken beyond the content is white space, and there is no more of it.
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
