//! Limits: which tokens may be learned, and which characters get ids.
//!
//! A pair whose token would exceed a limit, or exists already, is never merged. A token exists already only in a
//! vocabulary from elsewhere, if no merge makes it there. It keeps its id and its meaning. [`TokenFilter`] reads two
//! small records for each pair, and nothing if there are no limits. If there are tokens that no merge makes, the texts
//! of all tokens are stored, and the text of a pair is built if it is as long as one of these tokens. A [`Scope`] that
//! tokens must belong to is another limit, and so are patterns and a function that forbid tokens (`vetoes`).
//!
//! If there are more characters than a vocabulary has room for, the most frequent ones stay; of equally frequent ones,
//! those with smaller code points. A character that is left out separates its neighbours as an unknown one does in
//! encoding: no pair crosses it. Counting characters takes a pass over the distinct pieces and 8 MiB, and nothing if
//! they are not limited.

use std::collections::HashSet;
use std::sync::Arc;

use super::vetoes::Vetoes;
use crate::count::{PieceCounts, n_characters};
use crate::error::{Error, ErrorKind, Result};
use crate::scope::{Edges, Scope};
use crate::units::Units;
use crate::vocabulary::{Token, TokenId, TokenKind, merged_kind};

/// Limits of every learned token. They do not apply to the alphabet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TokenLimits {
    /// The most bytes that a token may have, without marks.
    pub max_bytes: Option<u32>,
    /// The most characters that a token may have, without marks.
    pub max_characters: Option<u32>,
    /// Whether a token must consist of whole characters or of a part of one character. Has no effect if units are
    /// characters.
    pub whole_characters: bool,
}

/// Decides whether a pair may be merged.
pub(super) struct TokenFilter {
    limits: TokenLimits,
    taken: Option<Taken>,
    /// The scope that tokens must belong to.
    scope: Option<Arc<Scope>>,
    vetoes: Option<Vetoes>,
    /// By token id. Empty if nothing is limited.
    tokens: Vec<Learned>,
}

/// Tokens that must not be learned because they exist already.
struct Taken {
    tokens: HashSet<(TokenKind, Vec<u8>)>,
    /// By length in bytes: whether one of them has it.
    is_length: Vec<bool>,
}

/// What the limits need to know of a token.
#[derive(Clone)]
struct Learned {
    n_bytes: u32,
    n_characters: u32,
    extent: Extent,
    /// Relative to the scope, if there is one.
    edges: Edges,
    kind: TokenKind,
    /// The bytes of the token, if there are taken tokens; empty if not.
    text: Vec<u8>,
}

/// What part of characters a token is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    /// Characters, or bytes that are no part of any.
    Whole,
    /// The beginning of a character that lacks this many bytes.
    Beginning { missing: u32 },
    /// This many bytes that continue a character, without its first byte.
    Inside { len: u32 },
}

/// The most bytes of a character that follow its first.
const MAX_INSIDE_LEN: u32 = 3;

impl TokenFilter {
    pub(super) fn new(limits: TokenLimits) -> Self {
        Self { limits, taken: None, scope: None, vetoes: None, tokens: Vec::new() }
    }

    /// A filter that also allows only tokens of the scope, if there is one.
    pub(super) fn with_scope(self, scope: Option<Arc<Scope>>) -> Self {
        Self { scope, ..self }
    }

    /// A filter that also rejects what the vetoes forbid.
    pub(super) fn with_vetoes(self, vetoes: Option<Vetoes>) -> Self {
        Self { vetoes, ..self }
    }

    /// A filter that also rejects these tokens.
    pub(super) fn with_taken<'t>(self, taken: impl Iterator<Item = Token<'t>>) -> Self {
        let tokens: HashSet<_> = taken.map(|token| (token.kind, token.bytes.to_vec())).collect();
        let most = tokens.iter().map(|(_, bytes)| bytes.len()).max();
        let Some(most) = most else { return Self { taken: None, ..self } };
        let mut is_length = vec![false; most + 1];
        tokens.iter().for_each(|(_, bytes)| is_length[bytes.len()] = true);
        Self { taken: Some(Taken { tokens, is_length }), ..self }
    }

    /// Adds a token. Ids must come in ascending order.
    pub(super) fn learn(&mut self, id: TokenId, token: Token<'_>, units: &Units) {
        if self.is_idle() {
            return;
        }
        if let Some(vetoes) = &mut self.vetoes {
            vetoes.learn(id, token, units);
        }
        let Token { kind, bytes } = token;
        let saturated = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let is_free = !self.limits.whole_characters;
        let learned = Learned {
            n_bytes: saturated(bytes.len() as u64),
            n_characters: saturated(n_characters(bytes)),
            extent: if is_free { Extent::Whole } else { Extent::of(bytes) },
            edges: self.scope.as_ref().map_or_else(Edges::default, |scope| Edges::of(bytes, scope)),
            kind,
            text: self.taken.as_ref().map_or_else(Vec::new, |_| bytes.to_vec()),
        };
        self.tokens.resize(id as usize + 1, learned.clone());
        self.tokens[id as usize] = learned;
    }

    /// Whether a pair may be merged.
    pub(super) fn allows(&self, left: TokenId, right: TokenId) -> bool {
        if self.is_idle() {
            return true;
        }
        let [one, other] = [left, right].map(|id| &self.tokens[id as usize]);
        if self.taken.as_ref().is_some_and(|taken| taken.has(one, other)) {
            return false;
        }
        if self.scope.as_ref().is_some_and(|scope| !one.edges.joins(&other.edges, scope)) {
            return false;
        }
        let fits = |most: Option<u32>, one: u32, other: u32| {
            most.is_none_or(|most| one.saturating_add(other) <= most)
        };
        fits(self.limits.max_bytes, one.n_bytes, other.n_bytes)
            && fits(self.limits.max_characters, one.n_characters, other.n_characters)
            && one.extent.joins(other.extent).is_some()
            && !self.vetoes.as_ref().is_some_and(|vetoes| vetoes.forbid(left, right))
    }

    /// Passes on an error of a veto.
    pub(super) fn check(&self) -> Result<()> {
        self.vetoes.as_ref().map_or(Ok(()), Vetoes::check)
    }

    /// Whether the token of a pair may be merged with neighbours that neither of its parts may be merged with.
    ///
    /// This is so if the parts of a character become one, or if the token belongs to the scope and a part does not. It
    /// may be so whenever there are taken tokens: such a token keeps two tokens from being merged, but not one of them
    /// from being merged with a longer token that contains the other. The same is true of vetoes: a pattern may match at
    /// the end of a token, and a function may answer anything. Limits of length never free a pair.
    pub(super) fn frees(&self, left: TokenId, right: TokenId) -> bool {
        if self.is_idle() {
            return false;
        }
        if self.taken.is_some() || self.vetoes.is_some() {
            return true;
        }
        let [left, right] = [left, right].map(|id| &self.tokens[id as usize]);
        if self.scope.is_some() && !(left.edges.is_of_scope() && right.edges.is_of_scope()) {
            return true;
        }
        left.extent != Extent::Whole && left.extent.joins(right.extent) == Some(Extent::Whole)
    }

    /// Whether every token is allowed.
    pub(super) fn is_idle(&self) -> bool {
        let Self { limits, taken, scope, vetoes, .. } = self;
        *limits == TokenLimits::default() && taken.is_none() && scope.is_none() && vetoes.is_none()
    }
}

impl Taken {
    /// Whether the token of a pair is one of these.
    fn has(&self, left: &Learned, right: &Learned) -> bool {
        let text = || [left.text.as_slice(), right.text.as_slice()].concat();
        self.is_length.get(left.text.len() + right.text.len()) == Some(&true)
            && self.tokens.contains(&(merged_kind(left.kind, right.kind), text()))
    }
}

impl Extent {
    /// The extent of a token of these bytes, if it is allowed.
    fn of(bytes: &[u8]) -> Self {
        let joined = |left: Self, right: Self| left.joins(right).unwrap_or(Self::Whole);
        bytes.iter().map(|&byte| Self::of_byte(byte)).reduce(joined).unwrap_or(Self::Whole)
    }

    fn of_byte(byte: u8) -> Self {
        match byte {
            0x80..=0xBF => Self::Inside { len: 1 },
            0xC2..=0xDF => Self::Beginning { missing: 1 },
            0xE0..=0xEF => Self::Beginning { missing: 2 },
            0xF0..=0xF4 => Self::Beginning { missing: 3 },
            _ => Self::Whole,
        }
    }

    /// The extent of two adjacent tokens together; `None` if that is neither whole characters nor a part of one.
    fn joins(self, right: Self) -> Option<Self> {
        match (self, right) {
            (Self::Whole, Self::Whole) => Some(Self::Whole),
            (Self::Beginning { missing }, Self::Inside { len }) if len < missing => {
                Some(Self::Beginning { missing: missing - len })
            }
            (Self::Beginning { missing }, Self::Inside { len }) if len == missing => {
                Some(Self::Whole)
            }
            (Self::Inside { len: first }, Self::Inside { len: last })
                if first + last <= MAX_INSIDE_LEN =>
            {
                Some(Self::Inside { len: first + last })
            }
            _ => None,
        }
    }
}

/// Rejects pieces without any character of the scope: nothing could be learned.
pub(super) fn check_scope(scope: &Scope, corpora: &[&PieceCounts]) -> Result<()> {
    let is_held = |piece: &[u8]| {
        let mut texts = piece.utf8_chunks().flat_map(|chunk| chunk.valid().chars());
        texts.any(|character| scope.contains(character))
    };
    if corpora.iter().flat_map(|counts| counts.iter()).any(|(piece, ..)| is_held(piece)) {
        return Ok(());
    }
    Err(Error::option("scope", "no text of the corpus has any of its characters"))
}

/// How many characters are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CharacterLimits {
    /// The fewest of the most frequent characters that make up this fraction of all occurrences.
    pub coverage: Option<(u64, u64)>,
    /// At most this many characters.
    pub most: Option<usize>,
}

/// What was left out of an alphabet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct LeftOut {
    /// The number of characters.
    pub n_characters: usize,
    /// How often they occur.
    pub n_occurrences: i64,
    /// How often all characters occur, including these.
    pub n_total: i64,
}

impl CharacterLimits {
    /// Rejects limits that cannot be met, or that have no meaning for these units.
    ///
    /// # Errors
    /// If units are bytes, training continues from an alphabet, or no character would be kept.
    pub fn check(&self, units: &Units, is_continued: bool) -> Result<()> {
        let given = [
            ("character_coverage", self.coverage.is_some()),
            ("max_alphabet", self.most.is_some()),
        ];
        let Some((name, _)) = given.into_iter().find(|&(_, is_given)| is_given) else {
            return Ok(());
        };
        if units.is_bytes() {
            let problem = "has no meaning where units are bytes, which are all in the alphabet; \
                           use a dialect of characters";
            return Err(Error::option(name, problem));
        }
        if is_continued {
            let problem = "the alphabet comes from the resumed tokenizer; leave this option out";
            return Err(Error::option(name, problem));
        }
        if self.coverage.is_some_and(|(part, whole)| part == 0 || part > whole) {
            return Err(Error::option("character_coverage", "must be above 0, and at most 1"));
        }
        if self.most == Some(0) {
            return Err(Error::option("max_alphabet", "must be at least 1"));
        }
        Ok(())
    }

    /// The characters that are kept, by code point, and what is left out; `None` if there is no limit.
    ///
    /// # Errors
    /// If a piece is not UTF-8. The offset is relative to the piece.
    pub(super) fn kept(&self, corpora: &[&PieceCounts]) -> Result<Option<(Vec<char>, LeftOut)>> {
        if *self == Self::default() {
            return Ok(None);
        }
        let mut by_frequency = frequencies(corpora)?;
        let n_total = by_frequency.iter().fold(0_i64, |sum, (_, n)| sum.saturating_add(*n));
        // Sorting is stable: of equally frequent characters, the one with the smaller code point comes first.
        by_frequency.sort_by_key(|&(_, n)| std::cmp::Reverse(n));
        let n_kept = self.n_kept(&by_frequency, n_total);
        let left_out = &by_frequency[n_kept..];
        let left_out = LeftOut {
            n_characters: left_out.len(),
            n_occurrences: left_out.iter().fold(0, |sum, (_, n)| n.saturating_add(sum)),
            n_total,
        };
        by_frequency.truncate(n_kept);
        let mut kept: Vec<_> = by_frequency.into_iter().map(|(character, _)| character).collect();
        kept.sort_unstable();
        Ok(Some((kept, left_out)))
    }

    fn n_kept(&self, by_frequency: &[(char, i64)], n_total: i64) -> usize {
        let most = self.most.unwrap_or(usize::MAX).min(by_frequency.len());
        let Some((part, whole)) = self.coverage else { return most };
        let wanted = i128::from(part) * i128::from(n_total);
        let mut n_covered = 0_i128;
        for (place, (_, n)) in by_frequency.iter().enumerate() {
            if place == most || n_covered * i128::from(whole) >= wanted {
                return place;
            }
            n_covered += i128::from(*n);
        }
        most
    }
}

/// The characters of all pieces with their counts, by code point.
fn frequencies(corpora: &[&PieceCounts]) -> Result<Vec<(char, i64)>> {
    let mut by_code_point = vec![0_i64; char::MAX as usize + 1];
    for (piece, count, _) in corpora.iter().flat_map(|counts| counts.iter()) {
        let text = std::str::from_utf8(piece)
            .map_err(|error| ErrorKind::NotUtf8 { offset: error.valid_up_to() as u64 })?;
        for character in text.chars() {
            let sum = &mut by_code_point[character as usize];
            *sum = sum.saturating_add(count);
        }
    }
    let characters =
        ('\0'..=char::MAX).map(|character| (character, by_code_point[character as usize]));
    Ok(characters.filter(|&(_, n)| n > 0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counts(pieces: &[(String, i64)]) -> PieceCounts {
        let mut counts = PieceCounts::new();
        for (piece, count) in pieces {
            counts.add(piece.as_bytes(), *count, None).unwrap();
        }
        counts
    }

    proptest! {
        #[test]
        fn as_few_characters_stay_as_cover_the_share(
            pieces in prop::collection::vec(("[a-fß日]{1,4}", 1..9_i64), 1..8),
            part in 1..=40_u64,
            most in prop::option::of(1..9_usize),
        ) {
            let limits = CharacterLimits { coverage: Some((part, 40)), most };
            let counts = counts(&pieces);
            let (kept, left_out) = limits.kept(&[&counts]).unwrap().unwrap();
            let n = |character: char| -> i64 {
                let of = |piece: &str| piece.chars().filter(|&c| c == character).count();
                pieces.iter().map(|(piece, n)| i64::try_from(of(piece)).unwrap() * n).sum()
            };
            let all: std::collections::BTreeSet<_> = pieces.iter().flat_map(|(piece, _)| piece.chars()).collect();
            let rank = |c: char| (std::cmp::Reverse(n(c)), c);
            let total: i64 = all.iter().map(|&c| n(c)).sum();
            prop_assert_eq!(left_out.n_total, total);
            // The definition: a character stays if those before it do not cover the fraction, and there is room.
            let stays = |&c: &char| {
                let before: Vec<_> = all.iter().filter(|&&other| rank(other) < rank(c)).collect();
                let covered: i64 = before.iter().map(|&&c| n(c)).sum();
                covered * 40 < total * i64::try_from(part).unwrap() && most.is_none_or(|most| before.len() < most)
            };
            let expected: Vec<_> = all.iter().copied().filter(stays).collect();
            prop_assert_eq!(&kept, &expected);
            prop_assert_eq!(left_out.n_characters, all.len() - kept.len());
            let kept_total: i64 = kept.iter().map(|&c| n(c)).sum();
            prop_assert_eq!(left_out.n_occurrences, total - kept_total);
        }
    }

    #[test]
    fn limits_that_have_no_meaning_are_refused_by_name() {
        let check = |coverage, most, units: &Units, is_continued| {
            let limits = CharacterLimits { coverage, most };
            limits.check(units, is_continued).map_err(|error| error.to_string())
        };
        let characters = Units::characters();
        let bytes = Units::bytes(crate::units::ByteIds::Value);
        assert!(check(None, None, &bytes, true).is_ok());
        assert!(check(Some((1, 1)), Some(1), &characters, false).is_ok());
        for (coverage, most, units, is_continued, name) in [
            (Some((1, 2)), None, &bytes, false, "character_coverage"),
            (None, Some(3), &bytes, false, "max_alphabet"),
            (None, Some(3), &characters, true, "max_alphabet"),
            (Some((0, 2)), None, &characters, false, "character_coverage"),
            (Some((3, 2)), None, &characters, false, "character_coverage"),
            (None, Some(0), &characters, false, "max_alphabet"),
        ] {
            let error = check(coverage, most, units, is_continued).unwrap_err();
            assert!(error.contains(name), "{error}");
        }
    }
}
