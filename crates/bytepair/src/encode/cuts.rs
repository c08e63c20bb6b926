//! Where a long piece can be cut without changing its ids: between characters that no merge joins.
//!
//! ```text
//! for each merge of the vocabulary, once:
//!     note the pair (last character of its left part, first character of its right part),
//!     or in place of a character the byte that stands for all that end, or begin, with it
//!
//! a place between two characters is a cut if no such pair is noted for them
//! ```
//!
//! A token that spans two neighbouring characters was made by a merge whose left part ends with the first and
//! whose right part begins with the second. If the merges have none such, no token spans them, and the ids of
//! the piece are those of its parts, one after the other (the proof is in `docs/explanation/encoding.md`). So
//! one text without spaces, or a whole book in a vocabulary of SentencePiece, becomes short parts that are
//! merged quickly and remembered.
//!
//! *Why it is safe*: pairs are kept in bitmaps by hash. A bit that is set by chance keeps two characters together, never
//! apart, and a longer part has the same ids.
//!
//! *Cost*: built once from the merges, in about 30 ns for each of them, with a large tokenizer that is read from a file or
//! when enough text came that it matters for. A question takes one look-up in a small table for two ASCII characters, for
//! others two [`neighbours`] and perhaps one in a bitmap.
//!
//! Left out: vocabularies whose units carry marks, whose text tokens are not their parts put together, or that leave
//! unknown characters out, so that those around them become neighbours. Where bytes may be unknown, callers make sure
//! that none is.

mod block;
mod neighbours;

use std::collections::HashSet;

pub(crate) use self::block::Pieces;
pub(super) use self::block::{Block, MAX_CHARACTERS, Place, Taken};
use self::neighbours::NeighbourTable;
pub(super) use self::neighbours::{OTHER, code_point};
use super::merge::Symbols;
use crate::hash::fold;
use crate::units::{Missing, Units};
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// What the merges of a vocabulary join.
#[derive(Debug)]
pub(super) struct Cuts {
    /// By the first of two ASCII characters: a bit for each second one that may be joined to it.
    of_ascii: [u128; 128],
    /// Bits by the hash of a pair, its size a power of two.
    of_others: Vec<u64>,
    /// By byte: whether parts of characters that end with it are joined to what follows, and whether those that begin
    /// with it are joined to what stands before, as in vocabularies of bytes.
    fragments: [[bool; 256]; 2],
    /// What is known of most characters.
    neighbours: NeighbourTable,
    /// By the last byte of a character and the first of the next: the lowest id that is made by joining a part of one of
    /// them to the other, or to a part of it; `TokenId::MAX` where none is.
    in_part: Vec<TokenId>,
    /// Whether a cut needs a known character behind it, as unknown ones may belong together.
    must_be_known: bool,
}

/// Codes of characters of at most three bytes.
pub(super) const N_CODES: u32 = 1 << 16;

/// Bits for each pair: of 16 pairs that nothing joins about one is taken for joined.
const N_BITS_PER_PAIR: usize = 16;

/// Stands for bytes that are no character. Nothing is cut beside them.
const NO_CHARACTER: u32 = u32::MAX;

/// How many merges ahead the bytes of tokens are prefetched.
const N_AHEAD: usize = 16;

/// Marks a byte that stands for all characters that end, or begin, with it.
const FRAGMENT: u32 = 0xFE00_0000;

impl Cuts {
    /// `None` where the vocabulary does not allow the proof.
    pub(super) fn new(vocabulary: &Vocabulary, symbols: &Symbols) -> Option<Self> {
        let units = symbols.units();
        let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
        let unknown = symbols.unknown().and_then(|id| vocabulary.token(id));
        let is_text = |token: Token<'_>| matches!(token.kind, TokenKind::Text(_));
        let is_known = symbols.are_bytes() || symbols.has_all_bytes();
        let leaves_out = !is_known && unknown.is_none() && units.missing == Missing::Drop;
        if has_marks || unknown.is_some_and(is_text) || leaves_out {
            return None;
        }
        let (mut pairs, mut in_part) = (Pairs::new(), vec![TokenId::MAX; 1 << 16]);
        let merges = vocabulary.merges();
        for (place, &merge) in merges.iter().enumerate() {
            prefetch_ahead(vocabulary, &merges[place..]);
            let (last, first) = meeting(vocabulary, merge)?;
            if last.code.max(first.code) >= FRAGMENT {
                let least = &mut in_part[border(last.byte, first.byte)];
                *least = merge.result.min(*least);
            }
            pairs.push(last.code, first.code);
        }
        let must_be_known = must_be_known(units, symbols);
        Some(Self { in_part, ..Self::of_pairs(&pairs.all, must_be_known) })
    }

    fn of_pairs(pairs: &[(u32, u32)], must_be_known: bool) -> Self {
        let n_words = (n_distinct(pairs) * N_BITS_PER_PAIR / 64).next_power_of_two().max(64);
        let (of_ascii, of_others, fragments) = ([0; 128], vec![0; n_words], [[false; 256]; 2]);
        let neighbours = NeighbourTable::new(pairs);
        let in_part = Vec::new();
        let mut cuts = Self { of_ascii, of_others, fragments, neighbours, in_part, must_be_known };
        for &(left, right) in pairs {
            for (is_joined, side) in cuts.fragments.iter_mut().zip([left, right]) {
                is_joined[(side & 0xFF) as usize] |= side & FRAGMENT == FRAGMENT;
            }
            if left < 128 && right < 128 {
                cuts.of_ascii[left as usize] |= 1 << right;
            } else {
                let (word, bit) = cuts.place(left, right);
                cuts.of_others[word] |= bit;
            }
        }
        cuts
    }

    /// Where the part of a piece ends that begins at `start`: at a cut, or at the end of the piece.
    #[inline]
    pub(super) fn end(&self, piece: &[u8], start: usize, symbols: &Symbols) -> usize {
        let (mut before, mut len) = neighbours::code_point(piece, start);
        let (mut place_before, mut place) = (start, start + len);
        while place < piece.len() {
            let here;
            (here, len) = neighbours::code_point(piece, place);
            let is_joined = match before.max(here) {
                OTHER => self.joins(character(piece, place_before).0, character(piece, place).0),
                _ => self.joins_known(before, here),
            };
            if !is_joined && self.is_known(&piece[place..place + len], symbols) {
                return place;
            }
            (before, place_before) = (here, place);
            place += len;
        }
        piece.len()
    }

    /// Whether some token may span two characters, by code points other than [`OTHER`]: what [`Self::joins`] finds by bytes.
    #[inline]
    fn joins_known(&self, left: u32, right: u32) -> bool {
        if left < 128 && right < 128 {
            return self.of_ascii[left as usize] >> right & 1 > 0;
        }
        let [left, right] = [left, right].map(|code| self.neighbours.of(code));
        left.joins_part(right) || left.may_join(right) && self.has(left.code, right.code)
    }

    /// Whether a cut needs a known character behind it.
    pub(super) fn must_be_known(&self) -> bool {
        self.must_be_known
    }

    /// The lowest id that is made by joining parts of neighbouring characters, by the bytes that meet.
    #[inline]
    pub(super) fn in_part(&self, last: u8, first: u8) -> TokenId {
        self.in_part[border(last, first)]
    }

    /// Whether no token joins a part of one character to a part of the next, or to all of it; both by their rows.
    #[inline]
    pub(super) fn are_apart(&self, left: u32, right: u32) -> bool {
        left.max(right) < 128
            || left.max(right) < OTHER
                && !self.neighbours.of(left).joins_part(self.neighbours.of(right))
    }

    /// Whether a piece can be cut at a place, whatever else it holds.
    pub(super) fn is_cut(&self, piece: &[u8], place: usize, symbols: &Symbols) -> bool {
        let n_after =
            piece[..place].iter().rev().take(3).take_while(|&&byte| continues(byte)).count();
        let Some(start) = place.checked_sub(n_after + 1) else { return false };
        if place >= piece.len() {
            return false;
        }
        let (before, len) = character(piece, start);
        let (here, len_here) = character(piece, place);
        start + len == place
            && !self.joins(before, here)
            && self.is_known(&piece[place..place + len_here], symbols)
    }

    fn is_known(&self, character: &[u8], symbols: &Symbols) -> bool {
        !self.must_be_known || symbols.is_known(Token::plain(character))
    }

    /// Whether some token may span these two characters.
    #[inline]
    fn joins(&self, left: u32, right: u32) -> bool {
        if left < 128 && right < 128 {
            return self.of_ascii[left as usize] >> right & 1 > 0;
        }
        if left == NO_CHARACTER || right == NO_CHARACTER || self.has(left, right) {
            return true;
        }
        let [ends, begins] = [last_byte(left), right & 0xFF];
        let may_end = self.fragments[0][ends as usize];
        let may_begin = self.fragments[1][begins as usize];
        let (ending, beginning) = (FRAGMENT | ends, FRAGMENT | begins);
        may_end && self.has(ending, right)
            || may_begin && self.has(left, beginning)
            || may_end && may_begin && self.has(ending, beginning)
    }

    fn has(&self, left: u32, right: u32) -> bool {
        let (word, bit) = self.place(left, right);
        self.of_others[word] & bit > 0
    }

    #[inline]
    fn place(&self, left: u32, right: u32) -> (usize, u64) {
        place(left, right, self.of_others.len())
    }
}

/// All pairs of characters that some token has side by side, and perhaps others; `None` where a token begins or ends in the
/// middle of one.
pub(super) fn joined_pairs(vocabulary: &Vocabulary) -> Option<HashSet<(char, char)>> {
    let mut codes = HashSet::new();
    for &merge in vocabulary.merges() {
        let (last, first) = meeting(vocabulary, merge)?;
        codes.insert((last.code, first.code));
    }
    let pair = |(last, first)| Some((character_of(last)?, character_of(first)?));
    codes.into_iter().map(pair).collect()
}

/// The character of a code.
fn character_of(code: u32) -> Option<char> {
    let bytes = code.to_le_bytes();
    let len = bytes.iter().rposition(|&byte| byte != 0).map_or(1, |last| last + 1);
    std::str::from_utf8(&bytes[..len]).ok()?.chars().next()
}

fn border(last: u8, first: u8) -> usize {
    usize::from(last) << 8 | usize::from(first)
}

/// Pairs that tokens join, those of ASCII once each: most merges are of these.
struct Pairs {
    all: Vec<(u32, u32)>,
    /// By the first of two ASCII characters: a bit for each second one that came.
    of_ascii: [u128; 128],
}

impl Pairs {
    fn new() -> Self {
        Self { all: Vec::new(), of_ascii: [0; 128] }
    }

    fn push(&mut self, left: u32, right: u32) {
        if left.max(right) < 128 {
            let seconds = &mut self.of_ascii[left as usize];
            if *seconds >> right & 1 > 0 {
                return;
            }
            *seconds |= 1 << right;
        }
        self.all.push((left, right));
    }
}

/// The first or last character of a token, or the [byte](FRAGMENT) that stands for it, and the byte itself.
#[derive(Clone, Copy)]
struct End {
    code: u32,
    byte: u8,
}

/// Fetches the tokens of merges that come soon, which lie anywhere.
#[inline]
fn prefetch_ahead(vocabulary: &Vocabulary, merges: &[Merge]) {
    if let Some(merge) = merges.get(2 * N_AHEAD) {
        [merge.left, merge.right, merge.result].iter().for_each(|&id| vocabulary.prefetch(id));
    }
    if let Some(merge) = merges.get(N_AHEAD) {
        [merge.left, merge.right, merge.result]
            .iter()
            .for_each(|&id| vocabulary.prefetch_bytes(id));
    }
}

/// Where the parts of a merge meet, the end of the left one and the beginning of the right, if it makes what they are
/// together.
#[inline]
fn meeting(vocabulary: &Vocabulary, merge: Merge) -> Option<(End, End)> {
    let [left, right, result] =
        [merge.left, merge.right, merge.result].map(|id| text(vocabulary, id));
    let (left, right) = (left?, right?);
    let is_whole = result?.strip_prefix(left)? == right;
    let (&last_byte, &first_byte) = (left.last()?, right.first()?);
    let last = if last_byte.is_ascii() { last_byte.into() } else { last(left) };
    let first = if first_byte.is_ascii() { first_byte.into() } else { first(right) };
    let ends = (End { code: last, byte: last_byte }, End { code: first, byte: first_byte });
    is_whole.then_some(ends)
}

/// How many of these pairs differ, or a few less.
fn n_distinct(pairs: &[(u32, u32)]) -> usize {
    let n_words = (pairs.len() / 16).next_power_of_two();
    let mut seen = vec![0_u64; n_words];
    for &(left, right) in pairs {
        let (word, bit) = place(left, right, n_words);
        seen[word] |= bit;
    }
    seen.into_iter().map(|word| word.count_ones() as usize).sum()
}

/// Where a pair has its bit in a bitmap of so many words, a power of two.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a hash is masked")]
fn place(left: u32, right: u32, n_words: usize) -> (usize, u64) {
    let hash = fold(u64::from(left) << 32 | u64::from(right), 0);
    (hash as usize & (n_words - 1), 1 << (hash >> 58))
}

/// The bytes of a text token without marks.
fn text(vocabulary: &Vocabulary, id: TokenId) -> Option<&[u8]> {
    let token = vocabulary.token(id)?;
    (token.kind == TokenKind::PLAIN).then_some(token.bytes)
}

/// Whether neighbouring unknown characters may become one token, or change places with bytes.
fn must_be_known(units: &Units, symbols: &Symbols) -> bool {
    let is_never_used =
        symbols.unknown().is_none() || symbols.has_all_bytes() || symbols.are_bytes();
    !is_never_used && (units.fuse_unknown || units.byte_fallback)
}

/// The last byte of a character: the highest of its code that is not zero.
fn last_byte(code: u32) -> u32 {
    code >> (code.checked_ilog2().unwrap_or(0) & !7)
}

/// The character at a place, its bytes as a little-endian number, and its length.
#[inline]
fn character(piece: &[u8], place: usize) -> (u32, usize) {
    let lead = piece[place];
    if lead < 0x80 {
        return (lead.into(), 1);
    }
    let len = len(lead);
    match piece.get(place..place + len) {
        Some(bytes) if len > 1 && bytes[1..].iter().all(|&byte| continues(byte)) => {
            (code(bytes), len)
        }
        _ => (NO_CHARACTER, 1),
    }
}

/// The first character of a token, or the byte that stands for those that begin with it.
fn first(token: &[u8]) -> u32 {
    match character(token, 0) {
        (NO_CHARACTER, _) => FRAGMENT | u32::from(token[0]),
        (character, _) => character,
    }
}

/// The last character of a token, or the byte that stands for those that end with it.
fn last(token: &[u8]) -> u32 {
    let last = token.len() - 1;
    let n_after = token.iter().rev().take(3).take_while(|&&byte| continues(byte)).count();
    match token.len().checked_sub(n_after + 1).map(|start| character(token, start)) {
        Some((found, len)) if found != NO_CHARACTER && len == n_after + 1 => found,
        _ => FRAGMENT | u32::from(token[last]),
    }
}

fn code(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |code, &byte| code << 8 | u32::from(byte))
}

fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// The length of the character that a byte begins; 1 for a byte that begins none.
fn len(lead: u8) -> usize {
    match lead {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    }
}

#[cfg(test)]
mod tests;
