//! Pieces of bytes that start from characters: those that always become one token before anything joins them.
//!
//! A character of two or three bytes takes as many merges less one, each with a search for the lowest rank. Where
//! its bytes make one token by themselves, and no merge of a rank as low joins a part of it to the character
//! before or behind, these merges happen whatever stands around, and can be left out (the proof is in
//! `docs/explanation/encoding.md`). In Chinese nearly every character is so.
//!
//! Built in about 5 ms for 200,000 merges, when some thousand pieces have come that it can help; takes 0.5 MB. Left
//! out: characters beyond the basic plane, vocabularies whose merges are not in the order of the ids that they make.

use super::symbols::Symbols;
use crate::merge_table::Merges;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// What is known of the characters of a vocabulary.
#[derive(Clone, Debug)]
pub(super) struct Characters {
    /// By code: the token that the bytes of a character make, or 0.
    tokens: Vec<TokenId>,
    /// By the last byte before a border between characters and the first behind it: the lowest id that is made by
    /// joining a part of a character there; `TokenId::MAX` where none is.
    joined: Vec<TokenId>,
}

/// Pieces with other characters than ASCII that are merged before this is made: merging them takes about as long.
pub(super) fn n_pieces_before(n_merges: usize) -> u32 {
    u32::try_from(n_merges / 16).unwrap_or(u32::MAX).max(2048)
}

/// Codes that a character of at most three bytes may have.
const N_CODES: usize = 1 << 16;

impl Characters {
    /// `None` where the vocabulary does not allow the proof.
    pub(super) fn new(vocabulary: &Vocabulary, symbols: &Symbols, merges: &Merges) -> Option<Self> {
        if !symbols.is_complete() || !merges.is_ascending() {
            return None;
        }
        let mut joined = vec![TokenId::MAX; 1 << 16];
        for merge in vocabulary.merges() {
            let [left, right, result] =
                [merge.left, merge.right, merge.result].map(|id| text(vocabulary, id));
            let (left, right) = (left?, right?);
            (result?.strip_prefix(left)? == right).then_some(())?;
            let (last, first) = (*left.last()?, *right.first()?);
            if continues(first) || left.iter().all(|&byte| continues(byte)) || is_cut_off(right) {
                let least = &mut joined[border(last, first)];
                *least = merge.result.min(*least);
            }
        }
        let mut characters = Self { tokens: vec![0; N_CODES], joined };
        for (_, token) in vocabulary.iter() {
            let character = Character::at(token.bytes, 0);
            let Some(character) = character.filter(|found| found.len == token.bytes.len()) else {
                continue;
            };
            characters.tokens[character.code] =
                one_token(token.bytes, symbols, merges).unwrap_or(0);
        }
        Some(characters)
    }

    /// Appends what a piece starts from: characters that are one token in any case, else bytes.
    pub(super) fn push_ids(&self, piece: &[u8], symbols: &Symbols, ids: &mut Vec<TokenId>) {
        let mut place = 0;
        while place < piece.len() {
            let lead = piece[place];
            let character = if lead < 0x80 { None } else { Character::at(piece, place) };
            let token = character.and_then(|found| self.token(piece, place, found));
            match (token, character) {
                (Some((token, len)), _) => {
                    ids.push(token);
                    place += len;
                }
                (None, Some(Character { len, .. })) => {
                    ids.extend(piece[place..place + len].iter().map(|&byte| symbols.of_byte(byte)));
                    place += len;
                }
                (None, None) => {
                    ids.push(symbols.of_byte(lead));
                    place += 1;
                }
            }
        }
    }

    /// The tokens that two characters become before anything joins them, where nothing else stands around; characters
    /// of two or three bytes, by their codes.
    #[inline]
    pub(super) fn two(&self, codes: [u32; 2]) -> Option<[TokenId; 2]> {
        let [left, right] = codes.map(|code| self.tokens[code as usize & (N_CODES - 1)]);
        let least = self.joined[border(last_byte(codes[0]), first_byte(codes[1]))];
        (left.min(right) > 0 && left.max(right) < least).then_some([left, right])
    }

    /// The token that a character becomes before any part of it is joined to what stands around, and its length.
    #[inline]
    fn token(&self, piece: &[u8], place: usize, character: Character) -> Option<(TokenId, usize)> {
        let token = self.tokens[character.code];
        let is_before = |border: Option<usize>| border.is_none_or(|at| token < self.joined[at]);
        let end = place + character.len;
        let before = place.checked_sub(1).map(|before| border(piece[before], piece[place]));
        let behind = piece.get(end).map(|&behind| border(piece[end - 1], behind));
        (token > 0 && is_before(before) && is_before(behind)).then_some((token, character.len))
    }
}

/// A character of two or three bytes.
#[derive(Clone, Copy)]
struct Character {
    code: usize,
    len: usize,
}

impl Character {
    /// The character at a place; `None` for those of one or four bytes, and for bytes that are none.
    #[inline]
    fn at(text: &[u8], place: usize) -> Option<Self> {
        let bits = |byte: u8| usize::from(byte & 0x3F);
        match *text.get(place..)? {
            [lead @ 0xC2..=0xDF, second, ..] if continues(second) => {
                Some(Self { code: usize::from(lead & 0x1F) << 6 | bits(second), len: 2 })
            }
            [lead @ 0xE0..=0xEF, second, third, ..] if continues(second) && continues(third) => {
                let code = usize::from(lead & 0x0F) << 12 | bits(second) << 6 | bits(third);
                // Three bytes that say what two say are no character.
                (code >= 0x800).then_some(Self { code, len: 3 })
            }
            _ => None,
        }
    }
}

/// The first byte of a character of two or three bytes, by its code.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "some bits of a code")]
fn first_byte(code: u32) -> u8 {
    if code < 0x800 { 0xC0 | (code >> 6) as u8 } else { 0xE0 | (code >> 12) as u8 }
}

#[inline]
fn last_byte(code: u32) -> u8 {
    0x80 | (code & 0x3F) as u8
}

#[inline]
fn border(last: u8, first: u8) -> usize {
    usize::from(last) << 8 | usize::from(first)
}

fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// Whether these bytes are the beginning of a character and not all of it.
fn is_cut_off(bytes: &[u8]) -> bool {
    let len = match bytes[0] {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xFF => 4,
        _ => 1,
    };
    bytes.len() < len && bytes[1..].iter().all(|&byte| continues(byte))
}

/// The bytes of a text token without marks.
fn text(vocabulary: &Vocabulary, id: TokenId) -> Option<&[u8]> {
    let token: Token<'_> = vocabulary.token(id)?;
    (token.kind == TokenKind::PLAIN).then_some(token.bytes)
}

/// The token that these bytes become, if it is one.
fn one_token(bytes: &[u8], symbols: &Symbols, merges: &Merges) -> Option<TokenId> {
    let get = |left, right| {
        let merge = merges.get(left, right);
        merge.exists().then_some(merge)
    };
    match *bytes {
        [first, second] => Some(get(symbols.of_byte(first), symbols.of_byte(second))?.result),
        [first, second, third] => {
            let [first, second, third] = [first, second, third].map(|byte| symbols.of_byte(byte));
            match (get(first, second), get(second, third)) {
                (Some(left), right) if right.is_none_or(|right| left.rank <= right.rank) => {
                    Some(get(left.result, third)?.result)
                }
                (_, Some(right)) => Some(get(first, right.result)?.result),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
