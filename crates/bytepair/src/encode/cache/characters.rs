//! Single characters, from whose ids pieces start: their ids by code point.
//!
//! A character of two or three bytes takes as many merges less one, each with a search for the lowest rank, and in
//! text without spaces the same ones come again and again. If no token joins a part of a character to its
//! neighbours, or none of as low a rank, its bytes become its ids whatever is around, and before anything joins
//! these to others (the proof is in `docs/explanation/encoding.md`): so a piece starts from these ids there.
//!
//! ```text
//! for each character of a piece:
//!     its ids, if they are made before anything joins a part of it to a neighbour, on both sides
//!     else its bytes
//! ```
//!
//! Each character is encoded once, when it first comes, and has eight bytes in a table by code point: at most three
//! ids, their number, and whether a piece may start from them. The table has half a megabyte for each thread. Some dozen
//! characters are classified together ([`CharacterKinds`]).
//!
//! Left out: characters of four bytes, more or larger ids than fit eight bytes, and vocabularies without [`Cuts`],
//! which say what tokens join.

use crate::encode::Encoder;
use crate::encode::cuts::{Cuts, N_CODES, OTHER, code_point};
use crate::memory::prefetch::prefetch;
use crate::vocabulary::merge_table::{Lookup, Merges};
use crate::vocabulary::{TokenId, TokenKind, Vocabulary};

/// Ids of a character, at most.
pub(in crate::encode) const MAX_IDS: usize = 3;

/// Bits of an id, and of all.
const ID_BITS: u32 = 20;
const ALL_BITS: u32 = 3 * ID_BITS;
/// Above the number of ids: a piece may start from them.
const FIRST: u64 = 1 << (ALL_BITS + 2);

/// Nothing is known of a character.
pub(in crate::encode) const NEW: u64 = 0;
/// It has no ids that fit.
const UNFIT: u64 = 1 << 63;

/// Characters that are classified together.
pub(in crate::encode) const N_AT_ONCE: usize = 64;

/// Of what kind some characters are, by what [`Characters::get`] gives for each; a bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::encode) struct CharacterKinds {
    /// Those whose ids are known, those from whose ids a piece may start, and those of these that are one id.
    pub(in crate::encode) known: u64,
    pub(in crate::encode) first: u64,
    pub(in crate::encode) single: u64,
    /// Those that are not known yet.
    pub(in crate::encode) new: u64,
}

/// Ids by character.
#[derive(Default)]
pub(in crate::encode) struct Characters {
    /// By code; the last is that of all else.
    rows: Vec<u64>,
}

impl CharacterKinds {
    /// The kinds of some characters, 64 at most.
    #[inline]
    pub(in crate::encode) fn of(all: &[u64]) -> Self {
        let mut kinds = Self::default();
        for (number, &ids) in all.iter().enumerate() {
            kinds.known |= u64::from(n_ids(ids) > 0) << number;
            kinds.first |= u64::from(is_first(ids)) << number;
            kinds.single |= u64::from(is_first(ids) && n_ids(ids) == 1) << number;
            kinds.new |= u64::from(ids == NEW) << number;
        }
        kinds
    }
}

impl Characters {
    /// Fetches what is known of a character ahead of its use.
    #[inline]
    pub(in crate::encode) fn prefetch(&self, code: u32) {
        prefetch(&self.rows, code as usize);
    }

    /// The ids of a character, packed, or [`NEW`], or something without ids; [`OTHER`] is new too until it is
    /// looked into.
    #[inline]
    pub(in crate::encode) fn get(&self, code: u32) -> u64 {
        self.rows.get(code as usize).copied().unwrap_or(NEW)
    }

    /// The packed ids of a character of these bytes, which is encoded if it is new.
    #[inline]
    pub(in crate::encode) fn found(
        &mut self,
        code: u32,
        character: &[u8],
        encoder: &Encoder,
    ) -> u64 {
        match self.get(code) {
            NEW => self.learn(code, character, encoder),
            known => known,
        }
    }

    /// Finds the ids of a new character, and remembers them.
    #[cold]
    pub(in crate::encode) fn learn(
        &mut self,
        code: u32,
        character: &[u8],
        encoder: &Encoder,
    ) -> u64 {
        let found = if code < OTHER { encoder.ids_of_character(code, character) } else { UNFIT };
        self.rows.resize(OTHER as usize + 1, NEW);
        self.rows[code as usize] = found;
        found
    }
}

impl Encoder {
    /// The ids of a character, packed.
    fn ids_of_character(&self, code: u32, character: &[u8]) -> u64 {
        let mut ids = Vec::new();
        // An error is reported when a part that has the character is encoded.
        let symbols = self.symbols.push_ids(character, &mut ids, |unit| self.unknown_unit(unit));
        let highest = merge_few(&self.merges, &mut ids);
        let Some(packed) = packed(&ids).filter(|_| symbols.is_ok()) else { return UNFIT };
        let is_first = self.symbols.are_bytes_of(character)
            && (ids.len() > 1 || highest.is_none_or(|highest| highest < self.first_use(code)));
        packed | if is_first { FIRST } else { 0 }
    }

    /// No merge of a lower rank joins the token of a character to another.
    fn first_use(&self, code: u32) -> u32 {
        // A merge that uses a token has a higher rank than all that make it there.
        if self.merges.is_ascending() {
            return u32::MAX;
        }
        self.first_uses().map_or(0, |uses| uses[code as usize])
    }

    /// Made as [`Self::cuts`] are.
    fn first_uses(&self) -> Option<&[u32]> {
        if self.first_uses.get().is_none() {
            drop(self.first_uses.set(first_uses(&self.vocabulary, &self.merges)));
        }
        self.first_uses.get().map(Vec::as_slice)
    }

    /// Makes what text of other characters than ASCII needs, instead of when enough of it has come.
    pub(crate) fn prepare(&self) {
        if self.cuts().is_some() && self.symbols.are_bytes() && !self.merges.is_ascending() {
            self.first_uses();
        }
    }

    /// Appends what a piece starts from: the ids of characters that become these before a part of them is joined to
    /// their neighbours, else bytes.
    pub(in crate::encode) fn push_characters(
        &self,
        cuts: &Cuts,
        piece: &[u8],
        (characters, ids): (&mut Characters, &mut Vec<TokenId>),
    ) {
        let borders = Borders { cuts, piece, is_ascending: self.merges.is_ascending() };
        let (mut place, mut before) = (0, None);
        while place < piece.len() {
            let (code, len) = code_point(piece, place);
            let end = place + len;
            let found = match code {
                128..OTHER => characters.found(code, &piece[place..end], self),
                _ => UNFIT,
            };
            let is_alone = is_first(found)
                && before.is_none_or(|before| borders.are_free(found, place, || [before, code]))
                && (end == piece.len()
                    || borders.are_free(found, end, || [code, code_point(piece, end).0]));
            match is_alone {
                true => append(found, ids),
                false => {
                    ids.extend(piece[place..end].iter().map(|&byte| self.symbols.of_byte(byte)));
                }
            }
            (place, before) = (end, Some(code));
        }
    }
}

/// What may be joined at the borders between characters.
struct Borders<'b> {
    cuts: &'b Cuts,
    piece: &'b [u8],
    /// Whether merges are in the order of the ids that they make.
    is_ascending: bool,
}

impl Borders<'_> {
    /// Whether nothing joins a part of a character at a place where it begins or ends before it has become its ids.
    /// `codes` are those of the characters that meet there.
    #[inline]
    fn are_free(&self, ids: u64, place: usize, codes: impl Fn() -> [u32; 2]) -> bool {
        let in_part = self.cuts.in_part(self.piece[place - 1], self.piece[place]);
        let is_soon = self.is_ascending && n_ids(ids) == 1 && unpacked(ids)[0] < in_part;
        is_soon || in_part == TokenId::MAX || {
            let [left, right] = codes();
            self.cuts.are_apart(left, right)
        }
    }
}

/// Merges a few symbols; gives the highest rank that it took.
fn merge_few(merges: &Merges, ids: &mut Vec<TokenId>) -> Option<u32> {
    let mut highest = None;
    loop {
        let pairs = ids.windows(2).map(|pair| merges.get(pair[0], pair[1]));
        let lowest = pairs.enumerate().min_by_key(|(_, merge)| merge.rank);
        let Some((place, merge)) = lowest.filter(|(_, merge)| merge.exists()) else {
            return highest;
        };
        ids.splice(place..place + 2, [merge.result]);
        highest = highest.max(Some(merge.rank));
    }
}

/// By the code of a character: the lowest rank of a merge that joins its token to another.
fn first_uses(vocabulary: &Vocabulary, merges: &Merges) -> Vec<u32> {
    let mut codes = vec![OTHER; vocabulary.len()];
    for (id, token) in vocabulary.iter() {
        let is_plain = token.kind == TokenKind::PLAIN && (2..=3).contains(&token.bytes.len());
        if let (true, Some(code)) = (is_plain, codes.get_mut(id as usize)) {
            let (found, len) = code_point(token.bytes, 0);
            *code = if len == token.bytes.len() { found } else { OTHER };
        }
    }
    let mut uses = vec![u32::MAX; N_CODES as usize + 1];
    for merge in vocabulary.merges() {
        let code = |id: TokenId| codes.get(id as usize).copied().filter(|&code| code < OTHER);
        let codes = [code(merge.left), code(merge.right)];
        if codes != [None; 2] {
            let rank = merges.get(merge.left, merge.right).rank;
            let least = |code: u32| uses[code as usize] = rank.min(uses[code as usize]);
            codes.into_iter().flatten().for_each(least);
        }
    }
    uses
}

/// One id to three as a number, if they fit.
#[inline]
pub(in crate::encode) fn packed(ids: &[TokenId]) -> Option<u64> {
    let fits = (1..=MAX_IDS).contains(&ids.len()) && ids.iter().all(|&id| id >> ID_BITS == 0);
    let bits = || ids.iter().rev().fold(0, |bits, &id| bits << ID_BITS | u64::from(id));
    fits.then(|| bits() | (ids.len() as u64) << ALL_BITS)
}

/// Whether a piece may start from the ids of a character.
#[inline]
pub(in crate::encode) fn is_first(packed: u64) -> bool {
    packed & FIRST > 0
}

/// How many ids were packed.
#[inline]
pub(in crate::encode) fn n_ids(packed: u64) -> usize {
    (packed >> ALL_BITS) as usize & 3
}

/// All that may be there; what is behind their number means nothing.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an id is masked")]
pub(in crate::encode) fn unpacked(packed: u64) -> [TokenId; MAX_IDS] {
    let mask = (1 << ID_BITS) - 1;
    [0, 1, 2].map(|index| (packed >> (index * ID_BITS)) as TokenId & mask)
}

/// Appends what was packed.
#[inline]
pub(in crate::encode) fn append(packed: u64, ids: &mut Vec<TokenId>) {
    ids.extend_from_slice(&unpacked(packed)[..n_ids(packed)]);
}

#[cfg(test)]
pub(in crate::encode) mod tests;
