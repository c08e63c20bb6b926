//! Counting pieces at full speed: the table that one thread fills.
//!
//! A piece of at most 15 bytes is its own key: 15 bytes and a length in one 128-bit word, kept in the
//! table, so that counting a piece that is there touches one cache line and compares one word. The bytes
//! of longer pieces lie in an arena, and are looked at only where all 64 bits of a hash agree. Nothing is
//! allocated per piece. Costs O(1) expected time for each piece, plus its length.
//!
//! Two loops count the pieces of a block: one takes rows of pieces while the table is small, the other has a small table before
//! a large one.

use std::hint::select_unpredictable;
use std::ops::Range;
use std::path::Path;

use super::First;
use super::ordered::{Entry, Found, Table};
use super::sorter::{Occurrences, Run, RunWriter};
use crate::error::{Error, Result};
use crate::hash::{HashKey, hash_bytes};
use crate::memory::ask_to_grow;
use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::piece::PieceRow;
use crate::piece::Starts;
use crate::piece::{Keyed, MAX_KEY_LEN, high_hash, piece_key, piece_of_key};
use bytepair_split::Boundaries;

/// Pieces whose places are prefetched together.
const N_SIDE_BY_SIDE: usize = if cfg!(test) { 4 } else { 32 };
/// Places for recent pieces: with what is counted they fit the nearer caches. A power of two.
const N_RECENT: usize = if cfg!(test) { 8 } else { 1 << 13 };
/// Places of a new table.
const N_PLACES: usize = 1 << 12;
/// Tables up to these sizes, in bytes, become four times as large, or sixteen times, where memory is not limited: so
/// they grow less often, and what is no longer tiny is a large page.
const SMALL_TABLE_LEN: usize = 2 << 20;
const TINY_TABLE_LEN: usize = 128 << 10;
/// In tables up to this size, in bytes, pieces are looked for in rows. In larger ones even frequent pieces are far away, so
/// that a small table before them pays.
const MAX_LEN_FOR_ROWS: usize = 16 << 20;
/// Places that a table may have whatever the budget: enough for the pieces of one block of text.
const MIN_PLACES_LEN: usize = (64 << 10) * size_of::<Short>();

/// A text whose pieces are counted.
#[derive(Clone, Copy)]
struct Text<'t> {
    bytes: &'t [u8],
    /// The position of the first byte in the corpus.
    position: u64,
    /// How much each piece counts.
    count: u64,
}

impl Text<'_> {
    /// What a piece that starts at an offset adds.
    #[inline]
    fn total_at(self, offset: usize) -> Total {
        Total { count: self.count, first: self.position.wrapping_add(offset as u64) }
    }
}

/// Counts of pieces, each with the position where it was first seen.
pub(super) struct CountTable {
    /// Short pieces that were seen last, by the highest bits of their hash, each with what is not in the tables yet
    /// of its count. [`N_RECENT`] of them, once there is one.
    recent: Vec<Short>,
    tables: Tables,
    /// Whether pieces may be looked for in rows.
    has_rows: bool,
}

/// All pieces but what of them is recent.
struct Tables {
    short: Table<Short>,
    long: Table<Long>,
    /// The bytes of long pieces.
    long_bytes: Vec<u8>,
    /// The most memory that may be taken, in bytes.
    budget: usize,
}

/// A piece of the whole.
#[derive(Clone, Copy)]
pub(super) struct Sum<'p> {
    pub(super) piece: &'p [u8],
    pub(super) count: i64,
    /// The smallest position at which it was counted.
    pub(super) position: u64,
}

/// What is known of a piece, in one run or in several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) count: u64,
    /// The smallest position at which the piece was counted.
    pub(super) first: u64,
}

impl Total {
    /// Counts the piece `count` times more, at larger positions. A sum that saturates is reported by [`Self::of`].
    #[inline]
    pub(super) fn add(&mut self, count: u64) {
        self.count = self.count.saturating_add(count);
    }

    pub(super) fn and(self, other: Self) -> Self {
        // A sum that saturates is reported by `of`.
        let count = self.count.saturating_add(other.count);
        Self { count, first: self.first.min(other.first) }
    }

    /// What stands in a run, in which all is of one part.
    fn in_run(self) -> Occurrences {
        let first = First { source: 0, offset: self.first };
        Occurrences { group: 0, count: self.count, first }
    }

    pub(super) fn of(self, piece: &[u8]) -> Result<Sum<'_>> {
        let count = i64::try_from(self.count).map_err(|_| Error::sum_of(piece))?;
        Ok(Sum { piece, count, position: self.first })
    }
}

/// A short piece. The place of its total is the smallest position at which it was counted.
pub(super) type Short = Keyed<Total>;

/// A long piece.
#[derive(Clone, Copy, Default)]
pub(super) struct Long {
    hash: u64,
    start: usize,
    /// 0 if there is none.
    len: usize,
    pub(super) total: Total,
}

impl Long {
    /// The length of the piece, in bytes.
    pub(super) fn len(&self) -> usize {
        self.len
    }
}

impl Entry for Short {
    #[inline]
    fn is_free(&self) -> bool {
        self.key == 0
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "both halves of the key are used")]
    fn hash(&self, key: Option<HashKey>) -> u64 {
        match key {
            None => high_hash(self.key),
            Some(key) => key.fold(self.key as u64, (self.key >> 64) as u64),
        }
    }
}

impl Entry for Long {
    #[inline]
    fn is_free(&self) -> bool {
        self.len == 0
    }

    /// Renewed where the table gets a key, or loses it.
    #[inline]
    fn hash(&self, _key: Option<HashKey>) -> u64 {
        self.hash
    }
}

/// The contents of a table by hash, pieces of equal hash by their bytes.
pub(super) struct SortedTable {
    pub(super) short: HugePageRow<Short>,
    pub(super) long: HugePageRow<Long>,
    long_bytes: Vec<u8>,
}

impl SortedTable {
    pub(super) fn piece(&self, entry: &Long) -> &[u8] {
        piece(&self.long_bytes, entry)
    }
}

/// The bytes of an entry, which lie in an arena.
pub(super) fn piece<'b>(long_bytes: &'b [u8], entry: &Long) -> &'b [u8] {
    &long_bytes[entry.start..][..entry.len]
}

/// Keys by the bytes of their pieces.
pub(super) fn in_order(key: u128) -> [u8; 16] {
    key.to_le_bytes()
}

impl CountTable {
    /// A table that should not take more memory than `budget`, in bytes; see [`Self::is_over_budget`].
    pub(super) fn new(budget: usize) -> Self {
        let (short, long) = (Table::new(N_PLACES), Table::new(N_PLACES));
        let tables = Tables { short, long, long_bytes: Vec::new(), budget };
        Self { recent: Vec::new(), tables, has_rows: true }
    }

    pub(super) fn set_budget(&mut self, budget: usize) {
        self.tables.budget = budget;
    }

    pub(super) fn is_empty(&self) -> bool {
        let Tables { short, long, .. } = &self.tables;
        self.recent.iter().all(Entry::is_free) && short.is_empty() && long.is_empty()
    }

    /// Refuses a block where there is no memory for a table that its pieces may make grow, nor for their bytes.
    pub(super) fn ask_for_room(&self, block: &Boundaries) -> Result<()> {
        let Tables { short, long, long_bytes, .. } = &self.tables;
        let n_bytes = block.block_end() - block.block_start();
        let n_pieces: usize = block.starts().iter().map(|word| word.count_ones() as usize).sum();
        short.ask_for_room(n_pieces)?;
        long.ask_for_room(n_pieces.min(n_bytes / (MAX_KEY_LEN + 1)))?;
        ask_to_grow(long_bytes, n_bytes)
    }

    /// Counts each piece of a block of a text `count` times, and returns their number; `position` is that of the
    /// text's first byte. Positions never fall from one call to the next.
    pub(super) fn add_block(
        &mut self,
        text: &[u8],
        block: &Boundaries,
        count: u64,
        position: u64,
    ) -> u64 {
        let text = Text { bytes: text, position, count };
        let is_small = self.tables.short.n_bytes() <= MAX_LEN_FOR_ROWS;
        if self.has_rows && is_small && block.dropped().is_none() {
            let starts = Starts::new(block.starts(), block.block_start()..block.block_end());
            self.tables.add_rows(text, &starts);
            return block.starts().iter().map(|word| u64::from(word.count_ones())).sum();
        }
        let mut n_pieces = 0;
        let pieces = block.pieces().inspect(|_| n_pieces += 1);
        self.add_one_by_one(text, pieces);
        n_pieces
    }

    /// Counts these pieces of a text, one by one.
    ///
    /// Few pieces make up most of a text, so a short piece is counted in a small table first:
    ///
    /// ```text
    /// for each short piece:
    ///     place = recent[highest bits of its hash]
    ///     if another piece is there: append it to those that wait
    ///     put the piece there; its count goes on, or begins anew
    ///     if 32 wait: prefetch the places of all in the large table, then add their counts
    /// ```
    ///
    /// *Invariant:* the count of a piece is the sum of what the small table, those that wait and the large table have of
    /// it, and its position the smallest of these. A piece comes to the large table as often as it loses its place.
    ///
    /// Nothing in the loop branches on whether the piece is the same, which cannot be guessed: what loses its place is
    /// written to the list in any case, which grows by none or one. Long pieces wait in a list of their own.
    fn add_one_by_one(&mut self, text: Text<'_>, pieces: impl Iterator<Item = Range<usize>>) {
        let Self { recent, tables, .. } = self;
        recent.resize(N_RECENT, Short::default());
        // An array, so that no place in it is checked.
        let Some(recent) = recent.first_chunk_mut::<N_RECENT>() else { return };
        let mut waiting = [Short::default(); N_SIDE_BY_SIDE];
        let mut n_waiting = 0;
        let mut long = LongPieces { text, hashes_and_places: Vec::new() };
        for piece in pieces {
            let Total { count, first } = text.total_at(piece.start);
            let Some(key) = piece_key(text.bytes, piece.start, piece.end) else {
                long.push(piece, tables);
                continue;
            };
            let place = &mut recent[recent_place(key)];
            let other = *place;
            // Whether it is the same piece cannot be guessed, so nothing may branch on it.
            let is_same = other.key == key;
            waiting[n_waiting % N_SIDE_BY_SIDE] = other;
            n_waiting += usize::from(!is_same & !other.is_free());
            place.key = key;
            place.value.first = select_unpredictable(is_same, other.value.first, first);
            // A count that saturates is reported as an overflow when tables are added up.
            place.value.count =
                select_unpredictable(is_same, other.value.count, 0).saturating_add(count);
            if n_waiting == N_SIDE_BY_SIDE {
                tables.add_short(&waiting);
                n_waiting = 0;
            }
        }
        tables.add_short(&waiting[..n_waiting]);
        long.settle(tables);
    }

    /// Moves all short pieces to the large table.
    fn settle(&mut self) {
        let Self { recent, tables, .. } = self;
        let used: Vec<_> = recent.iter().copied().filter(|piece| !piece.is_free()).collect();
        used.chunks(N_SIDE_BY_SIDE).for_each(|pieces| tables.add_short(pieces));
        recent.fill(Short::default());
    }

    /// Counts one piece, whose own position is given.
    #[cfg(test)]
    pub(super) fn add(&mut self, text: &[u8], piece: Range<usize>, count: u64, position: u64) {
        let position = position.wrapping_sub(piece.start as u64);
        self.add_one_by_one(Text { bytes: text, position, count }, std::iter::once(piece));
    }

    /// Whether the table is as full as its budget lets it be. It goes on counting, if need be at the
    /// cost of the budget.
    pub(super) fn is_over_budget(&self) -> bool {
        self.tables.is_over_budget()
    }

    /// The contents in order. Takes O(n) expected time.
    pub(super) fn into_sorted(mut self) -> SortedTable {
        self.settle();
        self.tables.drop_keys();
        let Tables { short, long, long_bytes, .. } = self.tables;
        let by_bytes =
            |one: &Long, other: &Long| piece(&long_bytes, one).cmp(piece(&long_bytes, other));
        let long = long.into_sorted(by_bytes);
        SortedTable { short: short.into_sorted(by_key), long, long_bytes }
    }

    /// Moves the contents, in order, into a run.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(super) fn write_run(&mut self, folder: &Path) -> Result<Run> {
        Run::write(folder, |writer| {
            self.drain(|short, long, long_bytes| write_entries(writer, short, long, long_bytes))
        })
    }

    /// Hands the contents, in order, to `take` and forgets them.
    fn drain<R>(&mut self, take: impl FnOnce(&[Short], &[Long], &[u8]) -> R) -> R {
        self.settle();
        self.tables.drop_keys();
        let Tables { short, long, long_bytes, .. } = &mut self.tables;
        let by_bytes =
            |one: &Long, other: &Long| piece(long_bytes, one).cmp(piece(long_bytes, other));
        let result = take(short.sort(by_key), long.sort(by_bytes), long_bytes);
        short.clear();
        long.clear();
        long_bytes.clear();
        result
    }
}

/// Writes short pieces by hash, then long pieces by hash.
fn write_entries(
    writer: &mut RunWriter,
    short: &[Short],
    long: &[Long],
    long_bytes: &[u8],
) -> Result<()> {
    for entry in short {
        let (bytes, len) = piece_of_key(entry.key);
        writer.write(&bytes[..len], entry.value.in_run())?;
    }
    let mut long = long.iter();
    long.try_for_each(|entry| writer.write(piece(long_bytes, entry), entry.total.in_run()))
}

impl Tables {
    fn is_over_budget(&self) -> bool {
        let is_filled = |is_filled: bool, n_bytes: usize| is_filled && !self.may_grow(n_bytes);
        self.n_bytes() > self.budget
            || is_filled(self.short.is_well_filled(), self.short.n_bytes())
            || is_filled(self.long.is_well_filled(), self.long.n_bytes())
    }

    /// Adds the counts of short pieces to the large table.
    fn add_short(&mut self, pieces: &[Short]) {
        let mut hashes = [0; N_SIDE_BY_SIDE];
        for (hash, piece) in hashes.iter_mut().zip(pieces) {
            *hash = piece.hash(self.short.key());
            self.short.prefetch(*hash);
        }
        for (&(mut hash), piece) in hashes.iter().zip(pieces) {
            if self.short.needs_key() {
                self.short.take_key(HashKey::of_process(), |_| ());
            }
            if self.short.key().is_some() {
                hash = piece.hash(self.short.key()); // it may have come since
            }
            match self.short.find(hash, |entry| entry.key == piece.key) {
                // It may have been counted here while its first count was among the recent ones.
                Found::Used(entry) => entry.value = entry.value.and(piece.value),
                Found::Free(entry) => {
                    *entry = *piece;
                    self.grow_short();
                }
            }
        }
    }

    /// Makes room for more short pieces where there is little.
    fn grow_short(&mut self) {
        let may_grow = || self.may_grow(self.short.n_bytes()) || self.short.is_nearly_full();
        if self.short.is_well_filled() && may_grow() {
            let factor = match self.short.n_bytes() {
                ..=TINY_TABLE_LEN if self.budget == usize::MAX => 16,
                ..=SMALL_TABLE_LEN if self.budget == usize::MAX => 4,
                _ => 2,
            };
            self.short.grow(factor);
        }
    }

    #[inline(never)] // keeps the loop over rows short
    fn add_long(&mut self, bytes: &[u8], total: Total) {
        self.add_hashed(self.hash_of_long(bytes), bytes, total);
    }

    /// The hash that says where a long piece is.
    fn hash_of_long(&self, bytes: &[u8]) -> u64 {
        self.long.key().map_or_else(|| hash_bytes(bytes, 0), |key| key.hash_bytes(bytes, 0))
    }

    /// Gives the table of long pieces a key.
    #[cold]
    fn take_key_of_long(&mut self) {
        let (key, long_bytes) = (HashKey::of_process(), &self.long_bytes);
        self.long.take_key(key, |entry| entry.hash = key.hash_bytes(piece(long_bytes, entry), 0));
    }

    /// Makes the hashes of all pieces those of their order again.
    fn drop_keys(&mut self) {
        let long_bytes = &self.long_bytes;
        self.short.drop_key(|_| ());
        self.long.drop_key(|entry| entry.hash = hash_bytes(piece(long_bytes, entry), 0));
    }

    /// Prefetches the places of long pieces with these hashes, and the bytes of the pieces that stand there.
    fn prefetch_long(&self, hashes: impl Iterator<Item = u64> + Clone) {
        hashes.clone().for_each(|hash| self.long.prefetch(hash));
        hashes.for_each(|hash| prefetch(&self.long_bytes, self.long.first_entry(hash).start));
    }

    fn add_hashed(&mut self, mut hash: u64, bytes: &[u8], total: Total) {
        if self.long.needs_key() {
            self.take_key_of_long();
        }
        if self.long.key().is_some() {
            hash = self.hash_of_long(bytes); // it may have come since
        }
        let Self { long, long_bytes, .. } = self;
        let is_it = |entry: &Long| entry.hash == hash && piece(long_bytes, entry) == bytes;
        match long.find(hash, is_it) {
            Found::Used(entry) => entry.total.add(total.count),
            Found::Free(entry) => {
                let (start, len) = (long_bytes.len(), bytes.len());
                *entry = Long { hash, start, len, total };
                long_bytes.extend_from_slice(bytes);
                if self.long.is_well_filled()
                    && (self.may_grow(self.long.n_bytes()) || self.long.is_nearly_full())
                {
                    self.long.grow(2);
                }
            }
        }
    }

    fn n_bytes(&self) -> usize {
        self.short.n_bytes() + self.long.n_bytes() + self.long_bytes.capacity()
    }

    /// Whether places of so many bytes may be doubled: for a moment both tables may be there.
    fn may_grow(&self, n_bytes: usize) -> bool {
        n_bytes < MIN_PLACES_LEN || self.n_bytes() + 2 * n_bytes <= self.budget
    }
}

/// Pieces counted in rows.
///
/// ```text
/// for each row of pieces:                      some hundred
///     prefetch where the search for each begins
///     for each of them:
///         if it stands where its search begins: count += 1          (nearly always)
///         else it is counted by a search
/// ```
///
/// *Invariant:* a place that was prefetched stays one of the table, which may grow meanwhile; an entry with the key of a piece
/// is that of the piece, wherever it is.
///
/// Costs about 20 cycles for each piece that is known. The table may be larger than the processor's caches.
impl Tables {
    fn add_rows(&mut self, text: Text<'_>, starts: &Starts<'_>) {
        let mut row = PieceRow::default();
        let mut words = starts.words();
        loop {
            row.fill(text.bytes, &mut words, |key| self.short.prefetched_place(high_hash(key)));
            if row.len() == 0 {
                return;
            }
            for (number, piece) in row.entries().iter().enumerate() {
                match self.short.entry_mut(piece.home) {
                    Some(entry) if entry.key == piece.key => entry.value.add(text.count),
                    _ => self.add_one(text, row.piece(number)),
                }
            }
        }
    }

    /// Counts a piece by itself.
    #[inline]
    fn add_one(&mut self, text: Text<'_>, piece: Range<usize>) {
        let total = text.total_at(piece.start);
        match piece_key(text.bytes, piece.start, piece.end) {
            Some(key) => self.add_short(&[Short { key, value: total }]),
            None => self.add_long(&text.bytes[piece], total),
        }
    }
}

/// Long pieces of a text that wait for being counted, so that several are looked for side by side.
struct LongPieces<'t> {
    text: Text<'t>,
    hashes_and_places: Vec<(u64, Range<usize>)>,
}

impl LongPieces<'_> {
    #[inline(never)] // keeps the loop over short pieces short
    fn push(&mut self, piece: Range<usize>, tables: &mut Tables) {
        self.hashes_and_places.push((tables.hash_of_long(&self.text.bytes[piece.clone()]), piece));
        if self.hashes_and_places.len() == N_SIDE_BY_SIDE {
            self.settle(tables);
        }
    }

    /// Counts those that wait.
    fn settle(&mut self, tables: &mut Tables) {
        tables.prefetch_long(self.hashes_and_places.iter().map(|(hash, _)| *hash));
        for (hash, piece) in self.hashes_and_places.drain(..) {
            let total = self.text.total_at(piece.start);
            tables.add_hashed(hash, &self.text.bytes[piece], total);
        }
    }
}

/// The place of a key among the recent ones.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "some bits of a hash are used")]
fn recent_place(key: u128) -> usize {
    (high_hash(key) >> (u64::BITS - N_RECENT.ilog2())) as usize
}

fn by_key(one: &Short, other: &Short) -> std::cmp::Ordering {
    in_order(one.key).cmp(&in_order(other.key))
}

#[cfg(test)]
mod tests {
    use super::super::tables::contents;
    use super::*;
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Splitter, Unmatched, named};

    proptest::proptest! {
        #[test]
        fn pieces_counted_abreast_are_those_counted_one_by_one(
            words in proptest::collection::vec("[a-d]{1,3}|[a-z]{14,17}|[ab]{60,70}|é| ", 0..300),
            n_more in 0..6000_u32,
            count in proptest::prop_oneof![1..5_u64, proptest::strategy::Just(u64::MAX / 2)],
        ) {
            // So many that the table grows on the way.
            let more = (0..n_more).map(|number| format!(" {number}"));
            let text = [words.concat(), more.collect(), words.concat()].concat();
            let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest()).unwrap();
            let mut tables = [CountTable::new(usize::MAX), CountTable::new(usize::MAX)];
            tables[0].has_rows = false;
            let contents = tables.map(|mut table| {
                let (mut block, mut from, mut n_pieces) = (Boundaries::default(), 0, 0);
                while from < text.len() {
                    from = splitter.split_block(text.as_bytes(), from, &mut block).unwrap();
                    n_pieces += table.add_block(text.as_bytes(), &block, count, 1000);
                }
                let sorted = table.into_sorted();
                let short: Vec<_> = sorted.short.iter().map(|entry| (entry.key, entry.value)).collect();
                let long = sorted.long.iter().map(|entry| (sorted.piece(entry).to_vec(), entry.total));
                (n_pieces, short, long.collect::<Vec<_>>())
            });
            proptest::prop_assert_eq!(&contents[0], &contents[1]);
        }
    }

    proptest::proptest! {
        #[test]
        fn a_piece_is_first_where_it_came_first_whatever_else_is_left_out(
            texts in proptest::collection::vec("[ab]{1,3}|[ab]{1,2} [ab]{1,2}|([ab]{1,2}[ 1]){0,40}|([ab]{16,17} ){0,12}", 1..20),
        ) {
            let splitter = crate::test_support::splitter("[a-z]+", Unmatched::Drop);
            let mut table = CountTable::new(usize::MAX);
            let mut expected = std::collections::BTreeMap::new();
            let mut position = 0;
            for text in &texts {
                let mut block = Boundaries::default();
                splitter.split_block(text.as_bytes(), 0, &mut block).unwrap();
                table.add_block(text.as_bytes(), &block, 1, position);
                for piece in block.pieces() {
                    let first = position + piece.start as u64;
                    let total = expected.entry(text.as_bytes()[piece].to_vec()).or_insert((0, first));
                    total.0 += 1;
                }
                position += text.len() as u64;
            }
            let found: std::collections::BTreeMap<_, _> = contents(vec![table], 1)
                .into_iter()
                .map(|(piece, count, first)| (piece, (count, first)))
                .collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }

    /// Pieces of 8 bytes that belong into one place of any table, and pieces of 32 bytes of one hash.
    fn chosen_pieces(n: u64) -> Vec<Vec<u8>> {
        let mut inverse = 1_u64; // by Newton's rounds, each of which doubles the bits that are right
        for _ in 0..6 {
            inverse = inverse
                .wrapping_mul(2_u64.wrapping_sub(crate::piece::FACTORS[0].wrapping_mul(inverse)));
        }
        let short = (1..=n).map(|number| number.wrapping_mul(inverse).to_le_bytes().to_vec());
        let zero = 0xD6E8_FEB8_6659_FD93_u64; // makes one factor of the hash nothing
        let long =
            (1..=n).map(|number| [number, zero, number, zero].map(u64::to_le_bytes).concat());
        short.chain(long).collect()
    }

    #[test]
    fn pieces_that_are_chosen_for_one_place_take_few_steps_and_come_in_the_same_order() {
        let pieces = chosen_pieces(20_000);
        let counted = || {
            let mut table = CountTable::new(usize::MAX);
            for (place, piece) in (0..).zip(pieces.iter().chain(pieces.iter().rev())) {
                table.add(piece, 0..piece.len(), 1, place);
            }
            table
        };
        let mut table = counted();
        let n_steps = table.tables.short.n_steps + table.tables.long.n_steps;
        assert!(n_steps < 40 * pieces.len(), "{n_steps} steps");
        let mut expected: Vec<_> = (0_u64..)
            .zip(&pieces)
            .map(|(first, piece)| {
                let key = piece_key(piece, 0, piece.len());
                let hash = key.map_or_else(|| hash_bytes(piece, 0), high_hash);
                (key.is_none(), hash, piece.clone(), 2_i64, first)
            })
            .collect();
        expected.sort();
        let expected: Vec<_> =
            expected.into_iter().map(|(.., piece, count, first)| (piece, count, first)).collect();
        let drained = table.drain(|short, long, _| {
            short
                .iter()
                .map(|entry| entry.key)
                .chain(long.iter().map(|entry| entry.hash.into()))
                .collect::<Vec<u128>>()
        });
        let sorted = counted().into_sorted();
        let keys = sorted.short.iter().map(|entry| entry.key);
        assert_eq!(
            drained,
            keys.chain(sorted.long.iter().map(|entry| entry.hash.into())).collect::<Vec<_>>()
        );
        assert_eq!(contents(vec![counted()], 1), expected);
    }

    #[test]
    fn pieces_come_in_the_order_of_their_hashes_whatever_their_place() {
        for n_pieces in [0_u32, 1, 2500, 2559, 2560, 2561, 9000] {
            let pieces = (0..n_pieces).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
            let (mut one, mut other) = (CountTable::new(usize::MAX), CountTable::new(usize::MAX));
            pieces.clone().for_each(|piece| one.add(&piece, 0..4, 1, 0));
            pieces.rev().for_each(|piece| other.add(&piece, 0..4, 1, 0));
            let keys = |table: CountTable| -> Vec<u128> {
                table.into_sorted().short.iter().map(|entry| entry.key).collect()
            };
            let (one, other) = (keys(one), keys(other));
            assert!(one.is_sorted_by_key(|&key| (high_hash(key), in_order(key))));
            assert_eq!(one.len(), n_pieces as usize);
            assert_eq!(one, other);
        }
    }
}
