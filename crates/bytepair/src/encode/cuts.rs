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
//! What is noted of a character lies in a row by its code point. In vocabularies of bytes a token may end in the middle of a
//! character, so it may join the last byte of one, or all of it, to the first byte of another, or to all of it:
//!
//! ```text
//! joins_part(left, right):  right.before has the last byte of left, or left.after has the first byte of right    exact
//! may_join(left, right):    left.followers has the group of right, one of 64                                     a filter
//! ```
//!
//! A pair that passes the filter is looked up in a bitmap of pairs, by hash. A bit that is set by chance keeps two characters
//! together, never apart, and a longer part has the same ids.
//!
//! *Cost*: built once from the merges, with a large tokenizer that is read from a file or when enough text came that it
//! matters for. The rows take 2 MiB. A question takes two rows and perhaps a bit.
//!
//! Left out: cuts beside characters of four bytes and beside bytes that are no character; vocabularies whose units carry
//! marks, whose text tokens are not their parts put together, or that leave unknown characters out, so that those around them
//! become neighbours. Where bytes may be unknown, callers make sure that none is.

use std::collections::HashSet;

use super::by_parts::bits;
use super::merge::Symbols;
use crate::hash::fold;
use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::units::{Missing, Units};
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// What the merges of a vocabulary join.
#[derive(Debug)]
pub(super) struct Cuts {
    /// What tokens may join to each character, by code point.
    rows: HugePageRow<Neighbours>,
    /// Bits by the hash of a pair of characters, its size a power of two.
    pairs: Vec<u64>,
    /// By the last byte of a character and the first of the next: the lowest id that is made by joining a part of one of
    /// them to the other, or to a part of it; `TokenId::MAX` where none is.
    in_part: Vec<TokenId>,
    /// Whether a cut needs a known character after it, as unknown ones may belong together.
    pub(super) must_be_known: bool,
}

/// Codes of characters of at most three bytes.
pub(super) const N_CODES: u32 = 1 << 16;

/// In place of a code point: characters of four bytes, and what is no character. Nothing is cut beside it.
pub(super) const OTHER: u32 = N_CODES;

/// What [`OTHER`] begins with, as every character is noted to join that: a byte, less 0xC0, that begins no character.
const FIRST_OF_OTHER: u8 = 0x3F;

/// Bits for each pair: of 16 pairs that nothing joins about one is taken for joined.
const N_BITS_PER_PAIR: usize = 16;

/// What tokens may join to a character.
#[derive(Clone, Copy, Debug, Default)]
struct Neighbours {
    /// A bit for each last byte, less 0x80, of a character that a token may join before it.
    before: u64,
    /// A bit for each first byte, less 0xC0, of a character that a token may join after it.
    after: u64,
    /// The groups of those that a token may join after it as a whole.
    followers: u64,
    /// The group that it is in.
    group: u8,
    /// Its last byte, less 0x80, and its first, less 0xC0, which 0 never is. An ASCII character has neither.
    last: u8,
    first: u8,
    is_long: bool,
}

impl Cuts {
    /// `None` if the vocabulary does not allow the proof.
    pub(super) fn new(vocabulary: &Vocabulary, symbols: &Symbols) -> Option<Self> {
        let units = symbols.units();
        let unknown = symbols.unknown().and_then(|id| vocabulary.token(id));
        let is_text = |token: Token<'_>| matches!(token.kind, TokenKind::Text(_));
        let is_known = symbols.are_bytes() || symbols.has_all_bytes();
        let leaves_out = !is_known && unknown.is_none() && units.missing == Missing::Drop;
        if units.has_marks() || unknown.is_some_and(is_text) || leaves_out {
            return None;
        }
        let mut rows = HugePageRow::with_room(OTHER as usize + 1);
        (0..=OTHER).for_each(|code| rows.push(Neighbours::alone(code)));
        let (mut pairs, mut in_part) = (Vec::new(), vec![TokenId::MAX; 1 << 16]);
        // By byte: what may stand before the characters that begin with it, and after those that end with it.
        let (mut before, mut after) = ([0; 256], [0; 256]);
        for &merge in vocabulary.merges() {
            let [left, right] = parts(vocabulary, merge)?;
            let (last, first) = (End::last(left)?, End::first(right)?);
            match (last.code, first.code) {
                (Some(left), Some(right)) => {
                    rows[left as usize].followers |= 1 << group(right);
                    pairs.push((left, right));
                    continue;
                }
                (None, Some(right)) => rows[right as usize].before |= last.as_last(),
                (Some(left), None) => rows[left as usize].after |= first.as_first(),
                (None, None) => {
                    before[usize::from(first.byte)] |= last.as_last();
                    after[usize::from(last.byte)] |= first.as_first();
                }
            }
            let least = &mut in_part[border(last.byte, first.byte)];
            *least = merge.result.min(*least);
        }
        for row in rows.iter_mut().filter(|row| row.is_long) {
            row.before |= before[usize::from(row.first | 0xC0)];
            row.after |= after[usize::from(row.last | 0x80)];
        }
        let seen = bitmap(&pairs, (pairs.len() / 16).next_power_of_two());
        let n_distinct: usize = seen.into_iter().map(|word| word.count_ones() as usize).sum();
        let n_words = (n_distinct * N_BITS_PER_PAIR / 64).next_power_of_two().max(64);
        let pairs = bitmap(&pairs, n_words);
        Some(Self { rows, pairs, in_part, must_be_known: must_be_known(units, symbols) })
    }

    /// Where the part of a piece ends that begins at `start`: at a cut, or at the end of the piece.
    #[inline]
    pub(super) fn end(&self, piece: &[u8], start: usize, symbols: &Symbols) -> usize {
        let (mut before, mut len) = code_point(piece, start);
        let mut place = start + len;
        while place < piece.len() {
            let here;
            (here, len) = code_point(piece, place);
            if !self.joins(before, here) && self.is_known(&piece[place..place + len], symbols) {
                return place;
            }
            (before, place) = (here, place + len);
        }
        piece.len()
    }

    /// Whether a piece can be cut at a place, whatever else it holds.
    pub(super) fn is_cut(&self, piece: &[u8], place: usize, symbols: &Symbols) -> bool {
        let Some(start) = last_start(&piece[..place]).filter(|_| place < piece.len()) else {
            return false;
        };
        let ((before, len), (here, len_here)) =
            (code_point(piece, start), code_point(piece, place));
        start + len == place
            && !self.joins(before, here)
            && self.is_known(&piece[place..place + len_here], symbols)
    }

    /// Whether some token may span two characters.
    #[inline]
    fn joins(&self, left: u32, right: u32) -> bool {
        let [one, other] = [left, right].map(|code| self.row(code));
        one.joins_part(other) || one.may_join(other) && self.has(left, right)
    }

    /// A bit for each of some characters, 63 at most, that a token may join to the one before; and for each that it may join in
    /// part, to the one before or to a part of it. What is said of the first means nothing.
    pub(super) fn joined(&self, codes: &[u32]) -> [u64; 2] {
        let (mut in_part, mut whole) = (0, 0);
        let mut before = self.row(OTHER);
        for (number, &code) in codes.iter().enumerate() {
            let here = self.row(code);
            in_part |= u64::from(before.joins_part(here)) << number;
            whole |= u64::from(before.may_join(here)) << number;
            before = here;
        }
        let joined = bits(whole & !in_part & !1).fold(in_part, |joined, number| {
            joined | u64::from(self.has(codes[number - 1], codes[number])) << number
        });
        [joined, in_part]
    }

    /// The lowest id that is made by joining parts of neighbouring characters, by the bytes that meet.
    #[inline]
    pub(super) fn in_part(&self, last: u8, first: u8) -> TokenId {
        self.in_part[border(last, first)]
    }

    /// Whether no token joins a part of one character to a part of the next, or to all of it.
    #[inline]
    pub(super) fn are_apart(&self, left: u32, right: u32) -> bool {
        !self.row(left).joins_part(self.row(right))
    }

    pub(super) fn is_known(&self, character: &[u8], symbols: &Symbols) -> bool {
        !self.must_be_known || symbols.is_known(Token::plain(character))
    }

    /// Fetches what is known of a character ahead of its use.
    #[inline]
    pub(super) fn prefetch(&self, code: u32) {
        prefetch(&self.rows, code as usize);
    }

    #[inline]
    fn row(&self, code: u32) -> &Neighbours {
        &self.rows[code.min(OTHER) as usize]
    }

    fn has(&self, left: u32, right: u32) -> bool {
        let (word, bit) = place(left, right, self.pairs.len());
        self.pairs[word] & bit > 0
    }
}

impl Neighbours {
    /// A character, before anything is known of it.
    fn alone(code: u32) -> Self {
        let row = Self { group: group(code), after: 1 << FIRST_OF_OTHER, ..Self::default() };
        let mut bytes = [0; 4];
        let character = char::from_u32(code).filter(|_| code < OTHER);
        match character.map(|character| character.encode_utf8(&mut bytes).as_bytes()) {
            Some(&[first, .., last]) => {
                Self { last: last & 0x3F, first: first & 0x3F, is_long: true, ..row }
            }
            None if code == OTHER => Self { after: u64::MAX, first: FIRST_OF_OTHER, ..row },
            _ => row,
        }
    }

    /// Whether some token joins a part of this character to a part of the next one, or to all of it.
    #[inline]
    fn joins_part(&self, next: &Self) -> bool {
        let ends = u64::from(self.is_long) & next.before >> self.last;
        (ends | self.after >> next.first) & 1 > 0
    }

    /// Whether some token may join all of this character to all of the next one.
    #[inline]
    fn may_join(&self, next: &Self) -> bool {
        self.followers >> next.group & 1 > 0
    }
}

/// All pairs of characters that some token has side by side, and perhaps others; `None` if a token begins or ends in the
/// middle of one.
pub(super) fn joined_pairs(vocabulary: &Vocabulary) -> Option<HashSet<(char, char)>> {
    let pair = |&merge: &Merge| {
        let [left, right] = parts(vocabulary, merge)?.map(|part| std::str::from_utf8(part).ok());
        Some((left?.chars().next_back()?, right?.chars().next()?))
    };
    vocabulary.merges().iter().map(pair).collect()
}

fn border(last: u8, first: u8) -> usize {
    usize::from(last) << 8 | usize::from(first)
}

/// The first or last character of a token; `None` if that is a part of one, for which a byte stands. And the byte itself.
#[derive(Clone, Copy)]
struct End {
    code: Option<u32>,
    byte: u8,
}

impl End {
    fn first(token: &[u8]) -> Option<Self> {
        let byte = *token.first()?;
        let (code, len) = code_point(token, 0);
        Some(Self { code: (code < OTHER || len > 1).then_some(code), byte })
    }

    fn last(token: &[u8]) -> Option<Self> {
        let byte = *token.last()?;
        let whole = last_start(token).and_then(|start| {
            let (code, len) = code_point(token, start);
            (start + len == token.len() && (code < OTHER || len > 1)).then_some(code)
        });
        Some(Self { code: whole, byte })
    }

    /// The bit of the byte as the last one of characters; none where no long character ends with it.
    fn as_last(self) -> u64 {
        if continues(self.byte) { 1 << (self.byte & 0x3F) } else { 0 }
    }

    /// The bit of the byte as the first one of characters; none where no long character begins with it.
    fn as_first(self) -> u64 {
        if self.byte > 0xC0 { 1 << (self.byte & 0x3F) } else { 0 }
    }
}

/// The parts of a merge, if it makes what they are together, and all are text without marks.
#[inline]
fn parts(vocabulary: &Vocabulary, merge: Merge) -> Option<[&[u8]; 2]> {
    let text = |id| {
        let token = vocabulary.token(id)?;
        (token.kind == TokenKind::PLAIN).then_some(token.bytes)
    };
    let (left, right) = (text(merge.left)?, text(merge.right)?);
    (text(merge.result)?.strip_prefix(left)? == right).then_some([left, right])
}

/// A bitmap of this many words, a power of two, with a bit for each pair.
fn bitmap(pairs: &[(u32, u32)], n_words: usize) -> Vec<u64> {
    let mut bitmap = vec![0; n_words];
    for &(left, right) in pairs {
        let (word, bit) = place(left, right, n_words);
        bitmap[word] |= bit;
    }
    bitmap
}

/// Where a pair has its bit in a bitmap of this many words, a power of two.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a hash is masked")]
fn place(left: u32, right: u32, n_words: usize) -> (usize, u64) {
    let hash = fold(u64::from(left) << 32 | u64::from(right), 0);
    (hash as usize & (n_words - 1), 1 << (hash >> 58))
}

/// Whether neighbouring unknown characters may become one token, or change places with bytes.
fn must_be_known(units: &Units, symbols: &Symbols) -> bool {
    let is_never_used =
        symbols.unknown().is_none() || symbols.has_all_bytes() || symbols.are_bytes();
    !is_never_used && (units.fuse_unknown || units.byte_fallback)
}

/// Where the last character begins, or a part of one.
fn last_start(text: &[u8]) -> Option<usize> {
    let n_after = text.iter().rev().take(3).take_while(|&&byte| continues(byte)).count();
    text.len().checked_sub(n_after + 1)
}

fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

fn group(code: u32) -> u8 {
    (fold(code.into(), 0) >> 58) as u8
}

/// The code point of the character at a place, and its length; [`OTHER`] for characters of four bytes and for what is none.
#[inline]
pub(super) fn code_point(piece: &[u8], place: usize) -> (u32, usize) {
    // Most are three bytes long, of these most with four to read; without a branch for each of them.
    if let Some(four) = piece.get(place..).and_then(<[u8]>::first_chunk) {
        let four = u32::from_le_bytes(*four);
        let code_point = (four & 0x0F) << 12 | (four >> 8 & 0x3F) << 6 | four >> 16 & 0x3F;
        if four & 0xC0_C0_F0 == 0x80_80_E0 && !matches!(code_point, ..0x800 | 0xD800..0xE000) {
            return (code_point, 3);
        }
    }
    any_code_point(piece, place)
}

/// [`code_point`] of any character.
fn any_code_point(piece: &[u8], place: usize) -> (u32, usize) {
    let bits = |byte: u8| u32::from(byte & 0x3F);
    let n_after = piece[place + 1..].iter().take(3).take_while(|&&byte| continues(byte)).count();
    match (n_after, &piece[place..]) {
        (_, &[byte @ ..0x80, ..]) => (byte.into(), 1),
        (2.., &[lead @ 0xE0..=0xEF, second, third, ..]) => {
            let code_point = u32::from(lead & 0x0F) << 12 | bits(second) << 6 | bits(third);
            // Three bytes that say what two or one say are no character, nor are halves of one.
            (if matches!(code_point, ..0x800 | 0xD800..0xE000) { OTHER } else { code_point }, 3)
        }
        (1.., &[lead @ 0xC2..=0xDF, second, ..]) => (u32::from(lead & 0x1F) << 6 | bits(second), 2),
        (3, &[0xF0..=0xF4, ..]) => (OTHER, 4),
        _ => (OTHER, 1),
    }
}

#[cfg(test)]
mod tests;
