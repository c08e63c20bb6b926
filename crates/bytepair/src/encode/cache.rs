//! Pieces that were encoded before, with their ids: bounded memory, one cache line for nearly all of them.
//!
//! Pieces of at most 15 bytes with at most four ids, as nearly all pieces of text with spaces are, stand in a
//! [`Table`] of their own, with a few more ids closely packed ([`close`]) or the same one over and over ([`alike`]), and up
//! to sixteen in rows of their own ([`Many`]); so do longer ones that end in one byte over and over. Others, up to 4 KiB,
//! stand in a [`Ring`] with their bytes and ids, and [`Long`] says where. Parts of pieces are not remembered.
//!
//! A cache belongs to one thread at a time and to one tokenizer; it holds nothing that the tokenizer does not
//! imply, so it never shows in a result. A short piece that is here costs about 20 cycles, with AVX-512 about 10
//! ([`eight`]).

#[cfg(target_arch = "x86_64")]
mod eight;
mod holes;
mod long;
mod ring;
mod table;

use std::ops::Range;

pub(crate) use self::holes::{Hole, put_in};
use self::long::Long;
use self::ring::Ring;
use self::table::{MIN_LEN, Slot, Table};
use crate::hash::hash_long;
use crate::piece_key::{Kernel, MARK, MAX_KEY_LEN, key_or_none, run_key};
#[cfg(target_arch = "x86_64")]
use crate::piece_row::Row;
use crate::piece_starts::{WORD_LEN, Word};
use crate::vocabulary::TokenId;

/// Most slots of the table of short pieces; 32 MiB, half a million pieces. Ten megabytes of text in many languages
/// have 300,000.
const MAX_SHORT: usize = 1 << 20;
/// Most ids of a piece that stand in its slot.
const MAX_IDS: usize = 4;
/// Longest piece that is remembered, in bytes. Rows of spaces and lines are as long.
const MAX_LEN: usize = 4096;
/// Shorter blocks are looked up piece by piece.
#[cfg(target_arch = "x86_64")]
const MIN_BLOCK_LEN: usize = 24;

/// In a key: it is the hash of a long piece. No piece has this bit in place of its length.
const LONG: u128 = 1 << 125;
/// In a slot, in place of an id that its piece does not have.
const ABSENT: TokenId = TokenId::MAX;
/// In the first id of a slot: there are more than two.
const MORE: TokenId = 1 << 31;

/// Ids by piece.
pub(crate) struct PieceCache {
    /// By key: up to four ids, or the place in the ring where there are more.
    short: Table,
    long: Long,
    ring: Ring,
    /// Made when the first long text comes. What it holds counts no more.
    #[cfg(target_arch = "x86_64")]
    row: Option<Box<Row>>,
    kernel: Kernel,
}

/// A piece, and what it is found by.
#[derive(Clone, Copy)]
pub(crate) struct Name<'t> {
    piece: &'t [u8],
    key: u128,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self::with_bounds(MIN_LEN, MAX_SHORT, ring::MAX_LEN)
    }
}

impl PieceCache {
    fn with_bounds(len: usize, max_len: usize, ring_len: usize) -> Self {
        let (short, long) = (Table::new(len.min(max_len), max_len), Long::new());
        Self {
            short,
            long,
            ring: Ring::new(ring_len),
            #[cfg(target_arch = "x86_64")]
            row: None,
            kernel: Kernel::fast(),
        }
    }

    /// A cache that hardly remembers anything.
    #[cfg(test)]
    pub(crate) fn tiny() -> Self {
        Self::with_bounds(2, 8, 512)
    }

    /// The same cache without vectors.
    #[cfg(test)]
    pub(crate) fn plain(mut self) -> Self {
        self.kernel = Kernel::OneByOne;
        self
    }

    /// Appends the ids of the next pieces of a block of text that are at home in their table, and perhaps of others that
    /// are known; the rest become holes. Where pieces are looked up eight at a time it stops after some hundred if a short
    /// one is among these, so that it is known when it comes again soon, as what is new in a text does; says whether it
    /// stopped.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(unused_variables, reason = "long and short blocks are looked up in one way there")
    )]
    pub(crate) fn append_known(
        &mut self,
        (text, block_len): (&[u8], usize),
        words: &mut impl Iterator<Item = Word>,
        ids: &mut Vec<TokenId>,
        holes: &mut Vec<Hole>,
    ) -> bool {
        match self.kernel {
            #[cfg(target_arch = "x86_64")]
            Kernel::Eight if block_len >= MIN_BLOCK_LEN => {
                let mut row = self.row.take().unwrap_or_default();
                let is_more = eight::append(self, &mut row, (text, words), (ids, holes));
                self.row = Some(row);
                is_more
            }
            _ => {
                words.for_each(|word| self.append_word(text, word, ids, holes));
                false
            }
        }
    }

    #[inline]
    fn append_word(&self, text: &[u8], word: Word, ids: &mut Vec<TokenId>, holes: &mut Vec<Hole>) {
        let mut row = [0; WORD_LEN * MAX_IDS];
        let mut n_ids = 0;
        for piece in word.pieces() {
            let key = key_or_none(text, piece.start, piece.end);
            let slot = self.short.at_home(key);
            if slot.key != key {
                holes.push(Hole { piece, n_before: ids.len() + n_ids });
                continue;
            }
            // All four are written, whatever their number: the next piece overwrites what does not count.
            let Some(four) = row.get_mut(n_ids..).and_then(<[_]>::first_chunk_mut) else { return };
            *four = unpacked(slot.value);
            n_ids += n_packed(slot.value);
        }
        append_first(n_ids, &row, ids);
    }

    /// Appends the ids of a long piece of the text, if it is here and not one of those that are asked for by their parts.
    #[cfg(target_arch = "x86_64")]
    fn append_ascii(&self, piece: &[u8], out: &mut Vec<TokenId>) -> bool {
        piece.is_ascii() && Name::of_long(piece).is_some_and(|name| self.append_long(name, out))
    }

    /// Appends the ids of a piece of the text, if it is here.
    #[inline]
    pub(crate) fn append(&self, name: Name<'_>, out: &mut Vec<TokenId>) -> bool {
        if name.is_long() {
            return self.append_long(name, out);
        }
        self.short.get(name.key).is_some_and(|slot| self.append_slot(slot, out))
    }

    /// Appends the ids of a slot, if they still stand.
    #[inline]
    fn append_slot(&self, slot: Slot, out: &mut Vec<TokenId>) -> bool {
        if slot.key & MARK > 0 {
            return self.append_marked(slot.value, out);
        }
        append_first(n_packed(slot.value), &unpacked(slot.value), out);
        true
    }

    /// Appends the ids of the value of a slot that has a mark, if they still stand.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the value is a place")]
    fn append_marked(&self, value: u128, out: &mut Vec<TokenId>) -> bool {
        self.ring.append(value as u64, &[], out)
    }

    /// The same for a long piece.
    #[inline]
    fn append_long(&self, name: Name<'_>, out: &mut Vec<TokenId>) -> bool {
        let mut places = self.long.places(name.hash());
        places.any(|place| self.ring.append(place, name.piece, out))
    }

    /// Asks for what is known of a long piece.
    #[inline]
    pub(crate) fn ask_for(&self, name: Name<'_>) {
        self.long.ask_for(name.hash());
    }

    /// Remembers the ids of a piece that is not here.
    pub(crate) fn insert(&mut self, name: Name<'_>, ids: &[TokenId]) {
        if self.ring.is_used_up() {
            self.forget();
        }
        if name.is_long() {
            return self.insert_long(name, ids);
        }
        let slot = match packed(ids) {
            Some(value) => Slot { key: name.key, value },
            None => match self.ring.push(&[], ids) {
                Some(place) => Slot { key: name.key | MARK, value: place.into() },
                None => return,
            },
        };
        self.short.insert(slot);
    }

    fn insert_long(&mut self, name: Name<'_>, ids: &[TokenId]) {
        if let Some(place) = self.ring.push(name.piece, ids) {
            self.long.insert(name.hash(), place);
        }
    }

    /// Begins anew: what says where entries are has no more numbers for them, after a terabyte.
    #[cold]
    fn forget(&mut self) {
        *self = Self { kernel: self.kernel, ..Self::default() };
    }
}

impl<'t> Name<'t> {
    /// The name of `text[place]`, unless it is empty or too long to be remembered.
    #[inline]
    pub(crate) fn new(text: &'t [u8], place: Range<usize>) -> Option<Self> {
        let piece = &text[place.clone()];
        let key = match piece.len() {
            0 => return None,
            1..=MAX_KEY_LEN => key_or_none(text, place.start, place.end),
            _ => match run_key(piece) {
                Some(key) => key,
                None => return Self::of_long(piece),
            },
        };
        Some(Self { piece, key })
    }

    /// The name that a piece has in the ring, unless it is too long.
    #[inline]
    fn of_long(piece: &'t [u8]) -> Option<Self> {
        let key = u128::from(hash_long(piece, 0)) | LONG;
        (piece.len() <= MAX_LEN).then_some(Self { piece, key })
    }

    /// What it is found by, for [`Self::of_key`].
    pub(crate) fn key(&self) -> u128 {
        self.key
    }

    /// The name that a piece was given before.
    pub(crate) fn of_key(piece: &'t [u8], key: u128) -> Self {
        Self { piece, key }
    }

    /// The hash of a long piece.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the rest are marks")]
    fn hash(&self) -> u64 {
        self.key as u64
    }

    /// Whether it is found by its hash, in the ring.
    fn is_long(&self) -> bool {
        self.key & LONG > 0
    }
}

/// Appends the first ids of a row; a few of them without a call for their number of bytes.
#[inline]
fn append_first<const N: usize>(n_ids: usize, row: &[TokenId; N], out: &mut Vec<TokenId>) {
    match row.first_chunk::<MAX_IDS>() {
        Some(four) if n_ids <= MAX_IDS => {
            out.extend_from_slice(four);
            out.truncate(out.len() - MAX_IDS + n_ids);
        }
        _ => out.extend_from_slice(&row[..n_ids]),
    }
}

/// One to four ids as the value of a slot.
fn packed(ids: &[TokenId]) -> Option<u128> {
    if ids.is_empty() || ids.len() > MAX_IDS || ids.iter().any(|&id| id >= MORE) {
        return None;
    }
    let mut four = [ABSENT; MAX_IDS];
    four[..ids.len()].copy_from_slice(ids);
    four[0] |= if ids.len() > 2 { MORE } else { 0 };
    Some(four.iter().rev().fold(0, |bits, &id| bits << 32 | u128::from(id)))
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each of the four words is an id")]
fn unpacked(value: u128) -> [TokenId; MAX_IDS] {
    [value as u32 & !MORE, (value >> 32) as u32, (value >> 64) as u32, (value >> 96) as u32]
}

/// How many ids are not absent.
#[inline]
fn n_packed(value: u128) -> usize {
    MAX_IDS - value.leading_ones() as usize / 32
}

#[cfg(test)]
mod tests;
