//! The cache of pieces and their ids. A piece that recurs is looked up instead of merged.
//!
//! A look-up costs a fiftieth of merging a piece, and text repeats its words.
//!
//! # What is stored where
//!
//! | piece | found by | its ids |
//! |---|---|---|
//! | of 1 to 15 bytes | itself, as a number of 128 bits, in the [`Table`] | up to four in its slot, up to seven if they are small, more in the [`Ring`] |
//! | longer, up to 4 KiB | a hash, in the [`Index`](ring::Index) | in the [`Ring`], after its bytes |
//! | empty, or longer than that | | not cached |
//! | a part of a long piece | | not cached: hardly any recurs |
//!
//! Single characters of text without spaces have their ids by code point ([`characters`]). Whole texts of up to 15
//! bytes are cached by the caller (`tokenizer/worker.rs`).
//!
//! # Lifetime and memory
//!
//! Entries are only removed when new ones need their room, or all at once when the numbers of the ring run out
//! (`ring.rs`).
//!
//! - The table doubles from 16 KiB to 32 MiB, a million slots. If no slot near its
//!   home is free, a new piece takes its home. What was there moves to the other slot of the bucket, whose entry
//!   is forgotten.
//! - The ring has up to 32 MiB. The oldest entries are overwritten.
//! - The index has up to 4 MiB. Each bucket drops its oldest slot.
//!
//! During a call, each thread has a cache to itself, so threads of one call each merge a new piece. The cache comes from
//! the tokenizer's pool and goes back to it, and the next call may use it on any thread. There are at most as many caches
//! as threads ever worked at the same time, of up to 68 MiB each, until the tokenizer is dropped.
//!
//! # Why a result can never be wrong
//!
//! 1. The ids of a piece depend only on the tokenizer and on the bytes of the piece. A cache belongs to one tokenizer,
//!    which never changes, and only ids that were just merged are inserted.
//! 2. A key is the piece itself: no two pieces have the same key (`piece.rs`), and keys are compared whole.
//! 3. A hash is not the piece, so the entry in the ring has the bytes of its piece, and they are compared.
//! 4. A place in the ring is the number of an entry, and no number is used twice. The number tells whether an entry was
//!    overwritten (`ring.rs`). So a slot of the table or the index whose entry is gone finds nothing, never the ids of
//!    another piece.
//!
//! The tests check this for caches of any size: a look-up gives a piece its own ids or none.
//!
//! # Misses
//!
//! The lookup writes the ids of known pieces next to each other, as if the others were not there, and notes where each
//! miss belongs. After some hundred pieces the misses are encoded one after the other. Thus the data for merging stays
//! in the processor's caches, and the lookup loop is not interrupted by each miss. Then the ids of the misses are
//! [spliced](splice) in:
//!
//! ```text
//! splice(ids, misses, filled):                  ids A B C D with misses after A and after C
//!     move the ids after the first miss away   A | B C D
//!     for each miss: write its ids,             A x
//!         then those up to the next miss        A x B C    then    A x B C y D
//! ```
//!
//! # Cost
//!
//! A short piece that is known takes about 20 cycles. Each id after the first miss is copied twice, sixteen at a time.

pub(super) mod characters;
mod ring;
mod table;

use std::ops::Range;

use self::ring::{Index, Ring};
use self::table::{MAX_IDS, MAX_INLINE, MIN_LEN, Slot, Table};
use crate::hash::hash_bytes;
use crate::piece::{MAX_KEY_LEN, MAX_PIECES, NO_KEY, PieceRow, Word, key_or_none};
use crate::vocabulary::TokenId;

/// Most slots of the table; 32 MiB. Ten megabytes of text in many languages have 300,000 distinct short pieces.
const MAX_SLOTS: usize = 1 << 20;
/// Longest piece that is cached, in bytes. Runs of spaces and separator lines can be this long.
const MAX_LEN: usize = 4096;

/// Ids by piece.
pub(crate) struct PieceCache {
    /// By key: up to four ids; or more if they are small; or a place in the ring ([`table`]).
    table: Table,
    /// By hash: places in the ring.
    index: Index,
    ring: Ring,
    /// Reused memory. Its contents mean nothing between calls.
    row: Option<Box<Row>>,
}

/// Ids that a row can have. Rounded up to a power of two, so that a masked place is always within it.
const MAX_ROW_IDS: usize = (MAX_PIECES * MAX_INLINE).next_power_of_two();

/// Pieces that are looked up together, and the ids of those that are known.
struct Row {
    pieces: PieceRow,
    ids: [TokenId; MAX_ROW_IDS + MAX_INLINE],
}

impl Default for Row {
    fn default() -> Self {
        Self { pieces: PieceRow::default(), ids: [0; _] }
    }
}

/// The key that a piece is found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CacheKey {
    /// The piece itself as a number.
    Exact(u128),
    /// A hash of the piece.
    Hash(u64),
}

/// A piece to look up, with its key.
#[derive(Clone, Copy)]
pub(crate) struct Query<'t> {
    pub(crate) piece: &'t [u8],
    pub(crate) key: CacheKey,
}

/// Pieces of a block of text that are still to be looked up.
pub(crate) struct Pending<'b, W> {
    pub(crate) text: &'b [u8],
    /// Where the pieces start.
    pub(crate) words: W,
}

impl Default for PieceCache {
    fn default() -> Self {
        Self::with_bounds(MIN_LEN, MAX_SLOTS, ring::MAX_LEN)
    }
}

impl PieceCache {
    fn with_bounds(n_slots: usize, max_slots: usize, ring_len: usize) -> Self {
        Self {
            table: Table::new(n_slots.min(max_slots), max_slots),
            index: Index::new(),
            ring: Ring::new(ring_len),
            row: None,
        }
    }

    /// Appends the ids of pending pieces that are known, and notes the others as misses. Returns whether it stopped
    /// before the end of the block. It stops after a row with a short miss: a new word of a text often recurs soon, and
    /// is then known if the caller inserts it first.
    ///
    /// ```text
    /// for each row of pieces:                      some hundred, whose homes are prefetched
    ///     for each piece:
    ///         if one of the two slots of its bucket has its key and its ids:            nearly always
    ///             write four ids, or seven, and advance by their true number
    ///         else if it is elsewhere in the cache: write its ids there
    ///         else note a miss
    /// ```
    pub(crate) fn append_known(
        &mut self,
        pending: &mut Pending<'_, impl Iterator<Item = Word>>,
        known: &mut Known<'_>,
    ) -> bool {
        let mut row = self.row.take().unwrap_or_default();
        let has_stopped = self.append_rows(&mut row, pending, known);
        self.row = Some(row);
        has_stopped
    }

    fn append_rows(
        &mut self,
        row: &mut Row,
        pending: &mut Pending<'_, impl Iterator<Item = Word>>,
        known: &mut Known<'_>,
    ) -> bool {
        loop {
            row.pieces
                .fill(pending.text, &mut pending.words, |key| self.table.prefetched_home(key));
            if row.pieces.len() == 0 {
                return false;
            }
            let n_before = known.misses.len();
            self.append_row(row, pending.text, known);
            if known.misses[n_before..].iter().any(Miss::is_short) {
                return true;
            }
        }
    }

    fn append_row(&mut self, row: &mut Row, text: &[u8], known: &mut Known<'_>) {
        let mut number = self.append_near(row, 0, known.ids);
        while number < row.pieces.len() {
            let piece = row.pieces.piece(number);
            let key = row.pieces.entries()[number].key;
            if !self.append_far(&text[piece.clone()], key, known.ids) {
                known.misses.push(Miss { piece, n_before: known.ids.len() });
            }
            number = self.append_near(row, number + 1, known.ids);
        }
    }

    /// Appends the ids of the pieces of a row, starting at number `from`, up to the first piece whose ids are not in
    /// its bucket. Returns the number of that piece.
    #[inline]
    fn append_near(&self, row: &mut Row, from: usize, ids: &mut Vec<TokenId>) -> usize {
        let Row { pieces, ids: written } = row;
        let (mut n_ids, mut number) = (0, from);
        for piece in &pieces.entries()[from..] {
            // Always writes all ids of the slot, whatever their number: the next piece overwrites the surplus.
            let place = written[n_ids % MAX_ROW_IDS..].first_chunk_mut();
            let slot = self.table.get_near(piece.key, piece.home);
            let n_here = slot.zip(place).and_then(|(slot, place)| slot.write_ids(place));
            let Some(n_here) = n_here else { break };
            n_ids += n_here;
            number += 1;
        }
        ids.extend_from_slice(&written[..n_ids]);
        number
    }

    /// Appends the ids of a piece that are not in its bucket, if the piece is known.
    ///
    /// A long piece is looked up only if it is ASCII. Other long pieces are looked up later, prefetched some dozen at a
    /// time.
    #[cold]
    fn append_far(&mut self, piece: &[u8], key: u128, ids: &mut Vec<TokenId>) -> bool {
        if key != NO_KEY {
            let slot = self.table.get_elsewhere(key);
            return slot.is_some_and(|slot| self.append_slot(slot, ids));
        }
        let query = Query::of_long(piece).filter(|_| piece.is_ascii());
        query.is_some_and(|query| self.append(query, ids))
    }

    /// Appends the ids of a piece, if it is known.
    #[inline]
    pub(crate) fn append(&self, piece: Query<'_>, ids: &mut Vec<TokenId>) -> bool {
        match piece.key {
            CacheKey::Exact(key) => {
                self.table.get(key).is_some_and(|slot| self.append_slot(slot, ids))
            }
            CacheKey::Hash(hash) => {
                self.index.places(hash).any(|place| self.ring.append(place, piece.piece, ids))
            }
        }
    }

    /// Appends the ids of a slot, unless they are in the ring and were overwritten.
    #[inline]
    fn append_slot(&self, slot: Slot, ids: &mut Vec<TokenId>) -> bool {
        let mut seven = [0; MAX_INLINE];
        if let Some(n_ids) = slot.write_ids(&mut seven) {
            append_first(n_ids, &seven, ids);
            return true;
        }
        let (place, n_ids) = slot.place_in_ring();
        self.ring.append_ids(place, n_ids, ids)
    }

    /// Prefetches the index entry of a long piece.
    #[inline]
    pub(crate) fn prefetch(&self, key: CacheKey) {
        if let CacheKey::Hash(hash) = key {
            self.index.prefetch(hash);
        }
    }

    /// Inserts the ids of a piece that is not known. Clears the whole cache first if the numbers of the ring run out.
    pub(crate) fn insert(&mut self, piece: Query<'_>, ids: &[TokenId]) {
        if self.ring.is_used_up() {
            *self = Self::default();
        }
        match piece.key {
            CacheKey::Exact(key) => self.insert_short(key, ids),
            CacheKey::Hash(hash) => {
                if let Some(place) = self.ring.push(piece.piece, ids) {
                    self.index.insert(hash, place);
                }
            }
        }
    }

    fn insert_short(&mut self, key: u128, ids: &[TokenId]) {
        let in_ring = || Some(Slot::in_ring(key, self.ring.push_ids(ids)?, ids.len()));
        if let Some(slot) = Slot::packed(key, ids).or_else(in_ring) {
            self.table.insert(slot);
        }
    }
}

impl<'t> Query<'t> {
    /// The piece `text[place]` with its key, unless it is empty or too long to be cached.
    #[inline]
    pub(crate) fn new(text: &'t [u8], place: Range<usize>) -> Option<Self> {
        let piece = &text[place.clone()];
        match piece.len() {
            0 => None,
            1..=MAX_KEY_LEN => {
                let key = key_or_none(text, place.start, place.end);
                Some(Self { piece, key: CacheKey::Exact(key) })
            }
            _ => Self::of_long(piece),
        }
    }

    #[inline]
    fn of_long(piece: &'t [u8]) -> Option<Self> {
        (piece.len() <= MAX_LEN).then(|| Self { piece, key: CacheKey::Hash(hash_bytes(piece, 0)) })
    }
}

/// Appends the first ids of a row. Up to four of them are copied with a fixed length, without a call.
#[inline]
fn append_first<const N: usize>(n_ids: usize, row: &[TokenId; N], ids: &mut Vec<TokenId>) {
    match row.first_chunk::<MAX_IDS>() {
        Some(four) if n_ids <= MAX_IDS => {
            ids.extend_from_slice(four);
            ids.truncate(ids.len() - MAX_IDS + n_ids);
        }
        _ => ids.extend_from_slice(&row[..n_ids]),
    }
}

/// A piece that the cache did not know.
#[derive(Clone, Debug)]
pub(crate) struct Miss {
    /// Where it is in the text.
    pub(crate) piece: Range<usize>,
    /// How many ids of known pieces come before its own.
    pub(crate) n_before: usize,
}

/// What a lookup writes to: the ids of known pieces, and the misses.
pub(crate) struct Known<'k> {
    pub(crate) ids: &'k mut Vec<TokenId>,
    pub(crate) misses: &'k mut Vec<Miss>,
}

/// The ids of misses.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) ids: Vec<TokenId>,
    /// By miss: the range of its ids in `ids`.
    pub(crate) places: Vec<Range<usize>>,
}

impl Miss {
    /// Whether the piece is found at once when it recurs. Most long pieces are misses of the lookup each time, cached
    /// or not.
    pub(super) fn is_short(&self) -> bool {
        self.piece.len() <= MAX_KEY_LEN
    }
}

/// Ids that are copied at once, whatever their number: most ranges are shorter, and the next one overwrites the
/// surplus.
const STEP_LEN: usize = 16;

/// Puts the ids of misses between those of known pieces. `behind` is memory that is reused.
pub(crate) fn splice(
    ids: &mut Vec<TokenId>,
    misses: &[Miss],
    filled: &mut Filled,
    behind: &mut Vec<TokenId>,
) {
    let Some(first) = misses.first().map(|miss| miss.n_before) else { return };
    let n_all = ids.len() + filled.ids.len();
    behind.clear();
    behind.extend_from_slice(&ids[first..]);
    let n_behind = behind.len();
    // Each copy may read and write up to a step beyond its end.
    behind.resize(n_behind + STEP_LEN, 0);
    filled.ids.resize(filled.ids.len() + STEP_LEN, 0);
    ids.resize(n_all + STEP_LEN, 0);
    let ends = misses[1..].iter().map(|miss| miss.n_before - first).chain([n_behind]);
    let (mut at, mut start) = (first, 0);
    for (place, end) in filled.places.iter().zip(ends) {
        copy(&filled.ids, place.clone(), &mut ids[at..]);
        at += place.len();
        copy(behind, start..end, &mut ids[at..]);
        at += end - start;
        start = end;
    }
    ids.truncate(n_all);
}

/// Copies some ids to the front of others. It may copy up to a step more.
#[inline]
fn copy(from: &[TokenId], place: Range<usize>, to: &mut [TokenId]) {
    for done in (0..place.len()).step_by(STEP_LEN) {
        let start = place.start + done;
        to[done..done + STEP_LEN].copy_from_slice(&from[start..start + STEP_LEN]);
    }
}

#[cfg(test)]
mod tests;
