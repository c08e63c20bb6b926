//! Pieces that were encoded before, with their ids: bounded memory, one cache line for nearly all of them.
//!
//! Pieces of at most 15 bytes with at most four ids, as nearly all pieces of text with spaces are, stand in a
//! [`Table`] of their own. Others, up to some hundred bytes, stand by their hash in a second table, which says where
//! their bytes and ids are in a [`Ring`]; a long piece is taken in when it comes a second time ([`Seen`]).
//!
//! A cache belongs to one thread at a time and to one tokenizer; it holds nothing that the tokenizer does not
//! imply, so it never shows in a result. A short piece that is here costs about 15 cycles.

mod ring;
mod seen;
mod table;

use std::ops::Range;

use self::ring::{Entry, Ring};
use self::seen::Seen;
use self::table::{MARK, MIN_LINES, Slot, Table};
use crate::hash::hash_bytes;
use crate::piece_key::{MAX_KEY_LEN, key_hash, key_or_none};
use crate::vocabulary::TokenId;

/// Most lines of the table of short pieces; 32 MiB, half a million pieces. Ten megabytes of text in many languages
/// have 300,000.
const MAX_SHORT_LINES: usize = 1 << 19;
/// Most lines of the other; 16 MiB.
const MAX_LONG_LINES: usize = 1 << 18;
/// Most ids of a piece that stand in its slot.
const MAX_IDS: usize = 4;
/// Longest piece that is remembered, in bytes.
const MAX_LEN: usize = 256;
/// Most pieces that are looked up in one go.
pub(crate) const MAX_RUN: usize = 256;

/// In a key: what it stands for is a part of a piece, which is not to be taken for the piece that looks the same.
const PART: u128 = 1 << 127;
/// In a key: it is the hash of a long piece.
const LONG: u128 = 1 << 125;
/// The bits of a slot that are ids. Above them stands how many follow the first.
const ID_BITS: u128 = u128::MAX >> 2;

/// Ids by piece.
pub(crate) struct PieceCache {
    /// By key: up to four ids and how many of them count.
    short: Table,
    /// By key, or by hash: where an entry of the ring is.
    long: Table,
    ring: Ring,
    seen: Seen,
}

/// The ids of a run of pieces.
pub(crate) type Row = [TokenId; MAX_RUN * MAX_IDS];

/// A piece, and what it is found by.
#[derive(Clone, Copy)]
pub(crate) struct Name<'t> {
    piece: &'t [u8],
    key: u128,
}

/// Whether ids are those of a piece or of a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whole {
    Piece,
    Part,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self::with_bounds(MIN_LINES, [MAX_SHORT_LINES, MAX_LONG_LINES], ring::MAX_LEN)
    }
}

impl PieceCache {
    fn with_bounds(n_lines: usize, max_lines: [usize; 2], ring_len: usize) -> Self {
        let [short, long] = max_lines.map(|max_lines| Table::new(n_lines, max_lines));
        Self { short, long, ring: Ring::new(ring_len), seen: Seen::new() }
    }

    /// A cache that hardly remembers anything.
    #[cfg(test)]
    pub(crate) fn tiny() -> Self {
        Self::with_bounds(1, [4, 2], 600)
    }

    /// Appends the ids of the pieces that stand between neighbouring places of the text, up to the first that
    /// is not found in its slot; returns how many were. There are at most [`MAX_RUN`].
    #[inline]
    pub(crate) fn append_run(
        &self,
        text: &[u8],
        places: &[usize],
        row: &mut Row,
        out: &mut Vec<TokenId>,
    ) -> usize {
        let (mut n_pieces, mut n_ids) = (0, 0);
        for ends in places.windows(2) {
            let key = key_or_none(text, ends[0], ends[1]);
            let slot = self.short.at_home(key);
            if slot.key != key {
                break;
            }
            // All four are written, whatever their number: the next piece overwrites what does not count.
            let Some(ids) = row.get_mut(n_ids..).and_then(<[_]>::first_chunk_mut) else { break };
            *ids = unpacked(slot.value);
            n_ids += n_packed(slot.value);
            n_pieces += 1;
        }
        append_first(n_ids, row, out);
        n_pieces
    }

    /// Appends the ids of a piece of the text, if it is here.
    pub(crate) fn append(&self, name: Name<'_>, out: &mut Vec<TokenId>) -> bool {
        // A row of tags is smaller than a table, and most long pieces were never seen.
        if !name.is_short() && !self.seen.has(key_hash(name.key) as u64) {
            return false;
        }
        let Some(slot) = self.table(name).get(name.key) else { return false };
        if slot.key & MARK == 0 {
            append_first(n_packed(slot.value), &unpacked(slot.value), out);
            return true;
        }
        self.ring.append(Entry::of_bits(slot.value), name.piece, out)
    }

    /// Remembers the ids of a piece that is not here, if it seems worth it.
    pub(crate) fn insert(&mut self, name: Name<'_>, ids: &[TokenId]) {
        let Name { key, piece } = name;
        let is_welcome = name.is_short() && !self.short.is_large();
        if !is_welcome && !self.seen.note(key_hash(key) as u64) {
            return;
        }
        let packed = if name.is_short() { packed(ids) } else { None };
        let slot = match packed {
            Some(value) => Slot { key, value },
            None => match self.ring.push(piece, ids) {
                Some(entry) => Slot { key: key | MARK, value: entry.to_bits() },
                None => return,
            },
        };
        if name.is_short() { self.short.insert(slot) } else { self.long.insert(slot) }
    }

    fn table(&self, name: Name<'_>) -> &Table {
        if name.is_short() { &self.short } else { &self.long }
    }
}

impl<'t> Name<'t> {
    /// The name of `text[place]`, unless it is empty or too long to be remembered.
    #[inline]
    pub(crate) fn new(text: &'t [u8], place: Range<usize>, whole: Whole) -> Option<Self> {
        let piece = &text[place.clone()];
        let key = match piece.len() {
            0 => return None,
            1..=MAX_KEY_LEN => key_or_none(text, place.start, place.end),
            // No short piece has zeros in place of its length, and no key is 0.
            len if len <= MAX_LEN => u128::from(hash_bytes(piece, 0)) | LONG,
            _ => return None,
        };
        let mark = if whole == Whole::Part { PART } else { 0 };
        Some(Self { piece, key: key | mark })
    }

    fn is_short(&self) -> bool {
        self.piece.len() <= MAX_KEY_LEN
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

/// One to four ids as the bits of a slot.
fn packed(ids: &[TokenId]) -> Option<u128> {
    let n_more = ids.len().checked_sub(1).filter(|&n_more| n_more < MAX_IDS)?;
    if ids.get(MAX_IDS - 1).is_some_and(|&id| id >> 30 > 0) {
        return None;
    }
    let bits = ids.iter().rev().fold(0, |bits, &id| bits << 32 | u128::from(id));
    Some(bits | (n_more as u128) << 126)
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each of the four words is an id")]
fn unpacked(bits: u128) -> [TokenId; MAX_IDS] {
    let ids = bits & ID_BITS;
    [ids as u32, (ids >> 32) as u32, (ids >> 64) as u32, (ids >> 96) as u32]
}

#[inline]
fn n_packed(bits: u128) -> usize {
    (bits >> 126) as usize + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn append(cache: &PieceCache, piece: &[u8], whole: Whole) -> Option<Vec<TokenId>> {
        let mut ids = vec![7];
        let is_here = cache.append(Name::new(piece, 0..piece.len(), whole)?, &mut ids);
        is_here.then(|| ids.split_off(1))
    }

    fn insert(cache: &mut PieceCache, piece: &[u8], whole: Whole, ids: &[TokenId]) {
        if let Some(name) = Name::new(piece, 0..piece.len(), whole) {
            cache.insert(name, ids);
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "any bits will do")]
    /// Ids that no other piece has, as many as its hash says, some of them as large as any.
    fn ids_of(piece: &[u8], whole: Whole) -> Vec<TokenId> {
        let hash = hash_bytes(piece, u64::from(whole == Whole::Part));
        let n_ids = hash % 7;
        let id = |index: u64| (hash >> (8 * index)) as TokenId;
        (0..n_ids).map(id).collect()
    }

    proptest! {
        #[test]
        fn a_cache_of_any_size_gives_a_piece_its_own_ids_or_none(
            pieces in prop::collection::vec((prop_oneof!["[ab]{1,20}", "a{1,300}", "[a-z]{0,18}"], any::<bool>()), 1..200),
        ) {
            for mut cache in [PieceCache::tiny(), PieceCache::default()] {
                for (piece, is_part) in &pieces {
                    let (piece, whole) = (piece.as_bytes(), if *is_part { Whole::Part } else { Whole::Piece });
                    let ids = ids_of(piece, whole);
                    match append(&cache, piece, whole) {
                        Some(found) => prop_assert_eq!(found, ids),
                        None => insert(&mut cache, piece, whole, &ids),
                    }
                }
            }
        }

        #[test]
        fn a_run_is_its_pieces_one_by_one(words in prop::collection::vec("[a-d]{1,3}|[ab]{14,18}", 1..100), known in 0..100_usize) {
            let mut cache = PieceCache::default();
            for word in &words[..known.min(words.len())] {
                insert(&mut cache, word.as_bytes(), Whole::Piece, &ids_of(word.as_bytes(), Whole::Piece));
            }
            let mut places = vec![0];
            places.extend(words.iter().scan(0, |end, word| { *end += word.len(); Some(*end) }));
            let text = words.concat();
            let (mut row, mut ids) = ([0; _], Vec::new());
            let n_known = cache.append_run(text.as_bytes(), &places, &mut row, &mut ids);
            let expected: Vec<_> = words[..n_known].iter().flat_map(|word| append(&cache, word.as_bytes(), Whole::Piece).unwrap()).collect();
            prop_assert_eq!(ids, expected);
            if let Some(next) = words.get(n_known) {
                let ids = ids_of(next.as_bytes(), Whole::Piece);
                let is_simple = next.len() <= MAX_KEY_LEN && packed(&ids).is_some();
                prop_assert!(!is_simple || append(&cache, next.as_bytes(), Whole::Piece).is_none());
            }
        }
    }

    #[test]
    fn pieces_that_come_again_stay_while_there_is_room() {
        let mut cache = PieceCache::default();
        let pieces: Vec<_> = (0..100_000)
            .map(|number| format!("{number:0>width$}", width = 6 + number % 20))
            .collect();
        for _ in 0..4 {
            for piece in &pieces {
                insert(&mut cache, piece.as_bytes(), Whole::Piece, &[1; 6][..=piece.len() % 6]);
            }
        }
        let n_lost = pieces
            .iter()
            .filter(|piece| append(&cache, piece.as_bytes(), Whole::Piece).is_none())
            .count();
        assert!(n_lost < pieces.len() / 10, "{n_lost}");
    }
}
