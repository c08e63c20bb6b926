//! Added tokens: found in the text by their content, before anything else happens to it.
//!
//! Special tokens are plain text unless a call allows them; other added tokens always count. Of several
//! that begin at one place the longest is taken. Most are looked for in the text as it is given, some in
//! the normalized text.
//!
//! The rules are those of the library that reads `tokenizer.json`. A token that must be a word of its own and
//! is not is passed over, and nothing else is looked for in its place. White space that belongs to a token
//! reaches back to the token before at most; it may reach forward into a token that begins with white space,
//! which is found all the same, so that both stand for that white space, unless that one reaches back too:
//! then nothing is left for it.
//!
//! A special token that a call does not allow is not looked for at all: its characters are text, in which
//! other added tokens may be found. Takes one pass over the text for each of the two searches, with nothing
//! to do where there are no such tokens.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, Anchored, Input, Match, MatchKind, StartKind, packed};

use crate::error::{Error, ErrorKind, Result};
use crate::normalize::Normalizer;
use crate::split::Segment;
use crate::unicode::UnicodeTables;
use crate::units::Units;
use crate::vocabulary::TokenId;

/// A token that is not made by merges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
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
    /// Whether white space behind it belongs to it.
    pub rstrip: bool,
    /// Whether it counts only where no word character stands beside it.
    pub single_word: bool,
    /// Whether a whole piece of its content is this token too, wherever that stands and whatever the merges would
    /// give. Only where the tokenizer ignores merges for pieces that are tokens.
    pub whole_piece: bool,
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
    /// Whether some of the latter are special.
    has_late_specials: bool,
    /// By the piece that each is.
    whole_pieces: HashMap<Vec<u8>, TokenId>,
}

/// Finds texts that stand for ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Finder {
    automaton: Option<AhoCorasick>,
    /// Finds where a token may begin, sooner than the automaton does. Present where tokens begin with several bytes:
    /// for these the automaton stops at any byte that is rare in English, as half of those of Chinese are.
    beginnings: Option<packed::Searcher>,
    /// By pattern of the automaton.
    tokens: Vec<Found>,
}

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

/// What is to be done where a token was found.
#[derive(Clone, Copy, Debug)]
struct Found {
    id: TokenId,
    lstrip: bool,
    rstrip: bool,
    single_word: bool,
}

/// A stretch of text: a token with its place, or text without tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Token(TokenId, Range<usize>),
    Text(Range<usize>),
}

impl Matcher {
    /// A matcher for the added tokens that are not special, and for the special tokens allowed.
    ///
    /// Where `pieces_are_text`, pieces are stretches of the text as it was given.
    pub(crate) fn new(
        tokens: &[AddedToken],
        (normalizer, units, pieces_are_text): (&Normalizer, &Units, bool),
        allowed: Specials<'_>,
    ) -> Result<Self> {
        allowed.check(tokens)?;
        let takes_part = |token: &&AddedToken| !token.special || allowed.contains(&token.content);
        let raw = tokens.iter().filter(takes_part).filter(|token| !token.normalized);
        let normalized = tokens.iter().filter(takes_part).filter(|token| token.normalized);
        let has_late_specials = normalized.clone().any(|token| token.special);
        let normal_form = |content: &str| {
            let segment = Segment::inner(content.as_bytes());
            normalizer.normalize(segment).map(Cow::into_owned)
        };
        let normalized: Vec<_> = normalized
            .map(|token| Ok((normal_form(&token.content)?, token)))
            .collect::<Result<_>>()?;
        let whole = tokens.iter().filter(takes_part).filter(|token| token.whole_piece);
        // What is passed over since it is no word may hold another token.
        let leaves_none =
            pieces_are_text && !tokens.iter().filter(takes_part).any(|token| token.single_word);
        let piece = |token: &AddedToken| {
            let piece = units.text_of_name(&token.content)?;
            let is_cut_out = leaves_none && *piece == *token.content.as_bytes();
            (!is_cut_out).then(|| (piece.into_owned(), token.id))
        };
        Ok(Self {
            raw: Finder::new(raw.map(|token| (token.content.clone().into_bytes(), token)))?,
            normalized: Finder::new(normalized.into_iter())?,
            has_late_specials,
            whole_pieces: whole.filter_map(piece).collect(),
        })
    }

    /// Whether a special token is looked for in normalized text.
    pub(crate) fn has_late_specials(&self) -> bool {
        self.has_late_specials
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
        Finder::new(found.map(|token| (token.content.clone().into_bytes(), token)))
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
    fn new<'t>(patterns: impl Iterator<Item = (Vec<u8>, &'t AddedToken)>) -> Result<Self> {
        let (patterns, tokens): (Vec<_>, Vec<_>) = patterns
            .filter(|(pattern, _)| !pattern.is_empty())
            .map(|(pattern, token)| (pattern, Found::from(token)))
            .unzip();
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let beginnings = beginnings(&patterns);
        let start_kind = if beginnings.is_some() { StartKind::Both } else { StartKind::Unanchored };
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .start_kind(start_kind)
            .build(patterns)
            .map_err(|error| Error::option("special_tokens", error.to_string()))?;
        Ok(Self { automaton: Some(automaton), beginnings, tokens })
    }

    /// The first token in a text, with its place.
    pub(crate) fn find(&self, text: &[u8]) -> Option<(TokenId, usize)> {
        let found = self.next(text, 0)?;
        Some((self.tokens[found.pattern().as_usize()].id, found.start()))
    }

    /// The first token from a place on.
    fn next(&self, text: &[u8], mut from: usize) -> Option<Match> {
        let automaton = self.automaton.as_ref()?;
        let rest = |from| Input::new(text).span(from..text.len());
        let beginnings = self.beginnings.as_ref();
        let Some(beginnings) = beginnings.filter(|_| text.len() - from >= MIN_LEN_FOR_BEGINNINGS)
        else {
            return automaton.find(rest(from));
        };
        let (first, mut n_missed) = (from, 0);
        while n_missed <= N_MISSES + (from - first) / MIN_LEN_PER_MISS {
            let start = beginnings.find_in(text, (from..text.len()).into())?.start();
            let found = automaton.find(rest(start).anchored(Anchored::Yes));
            if found.is_some() {
                return found;
            }
            (from, n_missed) = (start + 1, n_missed + 1);
        }
        automaton.find(rest(from))
    }

    /// Visits tokens and the text between them, in order. Empty text is left out.
    fn cut(&self, text: &[u8], mut visit: impl FnMut(Part) -> Result<()>) -> Result<()> {
        let (mut start, mut from) = (0, 0);
        while let Some(found) = self.next(text, from) {
            from = found.end();
            let token = self.tokens[found.pattern().as_usize()];
            let Some(place) = token.place(text, found.range(), start) else { continue };
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

/// What finds the beginnings of tokens; `None` where these are one byte, too many, or no rarity: white space, letters.
fn beginnings(patterns: &[Vec<u8>]) -> Option<packed::Searcher> {
    let beginning = |pattern: &Vec<u8>| pattern[..pattern.len().min(BEGINNING_LEN)].to_vec();
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
            place.end += len_of_first_space(after);
        }
        if self.lstrip {
            place.start = (before.len() - len_of_last_space(before)).max(taken).min(place.end);
        }
        Some(place).filter(|place| !place.is_empty())
    }
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

/// The first character, if the text begins with one.
pub(crate) fn first_character(text: &[u8]) -> Option<char> {
    let start = &text[..text.len().min(4)];
    start.utf8_chunks().next()?.valid().chars().next()
}

/// The last character, if the text ends with one.
pub(crate) fn last_character(text: &[u8]) -> Option<char> {
    let lens = 1..=text.len().min(4);
    let mut ends = lens.map(|len| &text[text.len() - len..]);
    ends.find_map(|end| std::str::from_utf8(end).ok())?.chars().next()
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

#[cfg(test)]
mod tests;
