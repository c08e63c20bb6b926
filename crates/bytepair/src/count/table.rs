//! Counts pieces at full speed: the table that a thread fills, and the sum of the tables of all threads.
//!
//! A piece of at most 15 bytes is its own key: 15 bytes and a length in one 128-bit word in the table. So counting a
//! piece that is in the table touches one cache line and compares one word. The bytes of longer pieces are in an arena,
//! and are compared only if all 64 bits of their hashes are equal. Nothing is allocated per piece. Takes O(1) expected
//! time for each piece, plus its length.
//!
//! To sum tables, each is sorted by hash, which costs little because its entries are nearly in that order. The hashes
//! are divided into ranges, and threads merge one range after the other. No piece is looked up again, and the order of
//! the result depends only on the pieces: short pieces by hash, then long pieces by hash.
//!
//! ```text
//! merge, for each range of hashes:
//!     while a table has pieces left in the range:
//!         take the smallest piece at the head of any table
//!         for each later table with the same piece at its head: add its count, keep the smaller position
//! ```
//!
//! *Invariant:* each table contains a piece once, so no table has a piece again after it was taken. Ranges do not
//! overlap, so the results of the threads are concatenated.
//!
//! Merging n pieces of k tables takes O(n k) time, divided by the number of threads. As k is small, a heap of heads
//! would not be faster.

use std::cmp::Ordering;
use std::ops::Range;
use std::path::Path;

use super::First;
use super::ordered::{Entry, Found, Table};
use super::sorter::{Occurrences, Run};
use crate::error::{Error, Result};
use crate::hash::{HashKey, hash_bytes};
use crate::memory::ask_to_grow;
use crate::memory::huge_pages::HugePageRow;
use crate::parallel::in_parallel;
use crate::piece::{Keyed, MAX_KEY_LEN, PieceRow, Starts, high_hash, piece_key, piece_of_key};
use bytepair_split::Boundaries;

/// The number of places of a new table.
const N_PLACES: usize = 1 << 12;
/// If memory is not limited, tables of up to these sizes, in bytes, become four times (small) or sixteen times (tiny)
/// as large. So they grow less often, and a table that is no longer tiny is a large page.
const SMALL_TABLE_LEN: usize = 2 << 20;
const TINY_TABLE_LEN: usize = 128 << 10;
/// The size in bytes that a table may have whatever the budget: enough for the pieces of one block of text.
const MIN_PLACES_LEN: usize = (64 << 10) * size_of::<Short>();
/// Ranges of hashes for each thread. With several, no thread is left with much more work than the others.
const N_RANGES_PER_THREAD: usize = 4;
/// Fewer pieces than this for each thread are merged by fewer threads.
const MIN_PIECES_PER_THREAD: usize = 1 << 14;
/// Approximate mean length of distinct pieces, in bytes.
const USUAL_LEN: usize = 8;

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
    short: Table<Short>,
    long: Table<Long>,
    /// The bytes of long pieces.
    long_bytes: Vec<u8>,
    /// The memory limit, in bytes.
    budget: usize,
}

/// A piece of the result.
#[derive(Clone, Copy)]
pub(super) struct Sum<'p> {
    pub(super) piece: &'p [u8],
    pub(super) count: i64,
    /// The smallest position at which it was counted.
    pub(super) position: u64,
}

/// The total of a piece, in one run or in several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Total {
    pub(super) count: u64,
    /// The smallest position at which the piece was counted.
    pub(super) first: u64,
}

impl Total {
    /// Adds occurrences of the piece. A sum that saturates is reported by [`Self::of`].
    #[inline]
    fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.first = self.first.min(other.first);
    }

    /// Adds a document, if it is not the last one that was added: see [`CountTable::add_document`].
    #[inline]
    fn add_document(&mut self, other: Self) {
        self.count += u64::from(self.first != other.first);
        self.first = other.first;
    }

    /// The occurrences as a run stores them, with group and source 0.
    pub(super) fn in_run(self) -> [Occurrences; 1] {
        let first = First { source: 0, offset: self.first };
        [Occurrences { group: 0, count: self.count, first }]
    }

    /// The documents as a run stores them: their number in group 1, without the one that the run cuts, if there is one,
    /// which has a group of its own. However often it is cut, it is one group.
    pub(super) fn documents_in_run(
        self,
        cut: Option<(u64, u32)>,
    ) -> impl Iterator<Item = Occurrences> {
        let cut = cut.filter(|&(document, _)| document == self.first);
        let n_cut = u64::from(cut.is_some());
        let groups = [(1, self.count - n_cut), (cut.map_or(1, |(_, group)| group), n_cut)];
        let first = First::default();
        let some = groups.into_iter().filter(|&(_, count)| count > 0);
        some.map(move |(group, count)| Occurrences { group, count, first })
    }

    pub(super) fn of(self, piece: &[u8]) -> Result<Sum<'_>> {
        let count = i64::try_from(self.count).map_err(|_| Error::sum_of(piece))?;
        Ok(Sum { piece, count, position: self.first })
    }
}

/// A short piece.
type Short = Keyed<Total>;

/// A long piece.
#[derive(Clone, Copy, Default)]
struct Long {
    hash: u64,
    start: usize,
    /// 0 if the place is free.
    len: usize,
    total: Total,
}

impl Long {
    fn piece(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..][..self.len]
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

    fn compare(&self, _: &[u8], other: &Self, _: &[u8]) -> Ordering {
        self.key.to_le_bytes().cmp(&other.key.to_le_bytes())
    }
}

impl Entry for Long {
    #[inline]
    fn is_free(&self) -> bool {
        self.len == 0
    }

    #[inline]
    fn hash(&self, _: Option<HashKey>) -> u64 {
        self.hash
    }

    fn renew(&mut self, key: Option<HashKey>, bytes: &[u8]) {
        self.hash = hash_of_long(self.piece(bytes), key);
    }

    fn compare(&self, own: &[u8], other: &Self, others: &[u8]) -> Ordering {
        self.piece(own).cmp(other.piece(others))
    }
}

/// The hash that determines the place of a long piece in a table with this key, or without one.
fn hash_of_long(piece: &[u8], key: Option<HashKey>) -> u64 {
    key.map_or_else(|| hash_bytes(piece, 0), |key| key.hash_bytes(piece, 0))
}

impl CountTable {
    /// A table that should not take more memory than `budget`, in bytes; see [`Self::is_over_budget`].
    pub(super) fn new(budget: usize) -> Self {
        let (short, long) = (Table::new(N_PLACES), Table::new(N_PLACES));
        Self { short, long, long_bytes: Vec::new(), budget }
    }

    pub(super) fn set_budget(&mut self, budget: usize) {
        self.budget = budget;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.short.is_empty() && self.long.is_empty()
    }

    /// Checks that there is memory for the pieces of a block: for larger tables, and for the bytes of long pieces.
    pub(super) fn ask_for_room(&self, block: &Boundaries) -> Result<()> {
        let n_bytes = block.block_end() - block.block_start();
        let n_pieces: usize = block.starts().iter().map(|word| word.count_ones() as usize).sum();
        self.short.ask_for_room(n_pieces)?;
        self.long.ask_for_room(n_pieces.min(n_bytes / (MAX_KEY_LEN + 1)))?;
        ask_to_grow(&self.long_bytes, n_bytes)
    }

    /// Counts each piece of a block of a text `count` times; returns the number of pieces. `position` is that of the
    /// first byte of the text.
    ///
    /// ```text
    /// for each row of pieces:                      some hundred
    ///     prefetch the place where the search for each begins
    ///     for each of them:
    ///         if it is in the place where its search begins: count += 1         (nearly always)
    ///         else count it by a search
    /// ```
    ///
    /// *Invariant:* a place that was prefetched still exists if the table grows meanwhile, and an entry with the key of
    /// a piece belongs to that piece, wherever it is.
    ///
    /// If some pieces of the block are dropped, the others are counted one by one.
    ///
    /// Costs about 20 cycles for each known piece. The table may be larger than the processor's caches.
    pub(super) fn add_block(
        &mut self,
        text: &[u8],
        block: &Boundaries,
        count: u64,
        position: u64,
    ) -> u64 {
        let text = Text { bytes: text, position, count };
        if block.dropped().is_some() {
            return block.pieces().map(|piece| self.add_one(text, piece)).count() as u64;
        }
        let starts = Starts::new(block.starts(), block.block_start()..block.block_end());
        let mut row = PieceRow::default();
        let mut words = starts.words();
        loop {
            row.fill(text.bytes, &mut words, |key| self.short.prefetched_place(high_hash(key)));
            if row.len() == 0 {
                return block.starts().iter().map(|word| u64::from(word.count_ones())).sum();
            }
            self.add_row(text, &row);
        }
    }

    /// Counts the pieces of a row.
    #[inline]
    fn add_row(&mut self, text: Text<'_>, row: &PieceRow) {
        for (number, piece) in row.entries().iter().enumerate() {
            match self.short.entry_mut(piece.home) {
                Some(entry) if entry.key == piece.key => {
                    entry.value.add(text.total_at(piece.start));
                }
                _ => self.add_one(text, row.piece(number)),
            }
        }
    }

    /// Counts a single piece.
    #[inline]
    fn add_one(&mut self, text: Text<'_>, piece: Range<usize>) {
        self.add_total(text.bytes, piece.clone(), text.total_at(piece.start), Total::add);
    }

    /// Counts a document for each piece of one of its blocks, unless it was the last document of the piece before.
    ///
    /// The total of a piece is then the number of its documents and, instead of the first position, the last document.
    ///
    /// *Invariant:* no block of another document comes between the blocks of a document.
    pub(super) fn add_document(&mut self, text: &[u8], block: &Boundaries, document: u64) {
        let total = Total { count: 1, first: document };
        block.pieces().for_each(|piece| self.add_total(text, piece, total, Total::add_document));
    }

    #[inline]
    fn add_total(
        &mut self,
        text: &[u8],
        piece: Range<usize>,
        total: Total,
        add: impl Fn(&mut Total, Total),
    ) {
        match piece_key(text, piece.start, piece.end) {
            Some(key) => self.add_short(Short { key, value: total }, add),
            None => self.add_long(&text[piece], total, add),
        }
    }

    fn add_short(&mut self, piece: Short, add: impl Fn(&mut Total, Total)) {
        if self.short.needs_key() {
            self.short.take_key(&[]);
        }
        let hash = piece.hash(self.short.key());
        match self.short.find(hash, |entry| entry.key == piece.key) {
            Found::Used(entry) => add(&mut entry.value, piece.value),
            Found::Free(entry) => {
                *entry = piece;
                let factor = match self.short.n_bytes() {
                    ..=TINY_TABLE_LEN if self.budget == usize::MAX => 16,
                    ..=SMALL_TABLE_LEN if self.budget == usize::MAX => 4,
                    _ => 2,
                };
                if self.should_grow(&self.short) {
                    self.short.grow(factor);
                }
            }
        }
    }

    #[inline(never)] // keeps the loop over rows short
    fn add_long(&mut self, bytes: &[u8], total: Total, add: impl Fn(&mut Total, Total)) {
        if self.long.needs_key() {
            self.long.take_key(&self.long_bytes);
        }
        let hash = hash_of_long(bytes, self.long.key());
        let Self { long, long_bytes, .. } = self;
        let is_it = |entry: &Long| entry.hash == hash && entry.piece(long_bytes) == bytes;
        match long.find(hash, is_it) {
            Found::Used(entry) => add(&mut entry.total, total),
            Found::Free(entry) => {
                *entry = Long { hash, start: long_bytes.len(), len: bytes.len(), total };
                long_bytes.extend_from_slice(bytes);
                if self.should_grow(&self.long) {
                    self.long.grow(2);
                }
            }
        }
    }

    /// Whether the table should grow before the next entry is added.
    fn should_grow<E: Entry>(&self, table: &Table<E>) -> bool {
        table.is_well_filled() && (self.may_grow(table.n_bytes()) || table.is_nearly_full())
    }

    /// Whether the table is as full as its budget allows. It continues to count even then, exceeding the budget if
    /// necessary.
    pub(super) fn is_over_budget(&self) -> bool {
        let is_filled = |is_filled: bool, n_bytes: usize| is_filled && !self.may_grow(n_bytes);
        self.n_bytes() > self.budget
            || is_filled(self.short.is_well_filled(), self.short.n_bytes())
            || is_filled(self.long.is_well_filled(), self.long.n_bytes())
    }

    fn n_bytes(&self) -> usize {
        self.short.n_bytes() + self.long.n_bytes() + self.long_bytes.capacity()
    }

    /// Whether a table of this many bytes may double. For a moment both the old and the new one may exist.
    fn may_grow(&self, n_bytes: usize) -> bool {
        n_bytes < MIN_PLACES_LEN || self.n_bytes() + 2 * n_bytes <= self.budget
    }

    /// The contents in order. Takes O(n) expected time.
    pub(super) fn into_sorted(self) -> SortedTable {
        let Self { short, long, long_bytes, .. } = self;
        let (short, long) = (short.into_sorted(&[]), long.into_sorted(&long_bytes));
        SortedTable { short, long, long_bytes }
    }

    /// Moves the contents, in order, to a run, which stores what `in_run` makes of each total.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write_run<I: IntoIterator<Item = Occurrences>>(
        &mut self,
        folder: &Path,
        in_run: impl Fn(Total) -> I,
    ) -> Result<Run> {
        let table = std::mem::replace(self, Self::new(self.budget)).into_sorted();
        Run::write(folder, |writer| {
            table.try_for_each(|piece, total| {
                in_run(total).into_iter().try_for_each(|found| writer.write(piece, found))
            })
        })
    }
}

/// The contents of a table by hash. Pieces of equal hash are in the order of their bytes.
pub(super) struct SortedTable {
    short: HugePageRow<Short>,
    long: HugePageRow<Long>,
    long_bytes: Vec<u8>,
}

impl SortedTable {
    fn try_for_each(&self, mut visit: impl FnMut(&[u8], Total) -> Result<()>) -> Result<()> {
        for entry in self.short.iter() {
            let (bytes, len) = piece_of_key(entry.key);
            visit(&bytes[..len], entry.value)?;
        }
        let mut long = self.long.iter();
        long.try_for_each(|entry| visit(entry.piece(&self.long_bytes), entry.total))
    }
}

/// Sorts each table in a thread of its own.
pub(super) fn sorted(tables: Vec<CountTable>) -> Vec<SortedTable> {
    in_parallel(tables.len(), tables, CountTable::into_sorted)
}

/// Merges all tables and passes them, range by range, to `collect`; returns the results in order.
pub(super) fn merge<T: Send>(
    tables: &[SortedTable],
    n_threads: usize,
    collect: impl Fn(HashRange<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let n_pieces: usize = tables.iter().map(|table| table.short.len() + table.long.len()).sum();
    let n_threads = n_threads.min(n_pieces / MIN_PIECES_PER_THREAD).max(1);
    let n_ranges = if n_threads == 1 { 1 } else { n_threads * N_RANGES_PER_THREAD };
    let merged = in_parallel(n_threads, 0..n_ranges * 2, |index| {
        let (index, is_long) = (index % n_ranges, index >= n_ranges);
        collect(HashRange { tables, index, n_ranges, is_long })
    });
    merged.into_iter().collect()
}

/// The pieces of one kind in one range of hashes, in all tables.
#[derive(Clone, Copy)]
pub(super) struct HashRange<'r> {
    tables: &'r [SortedTable],
    index: usize,
    n_ranges: usize,
    is_long: bool,
}

impl<'r> HashRange<'r> {
    /// The same range of other tables.
    pub(super) fn of(self, tables: &[SortedTable]) -> HashRange<'_> {
        HashRange { tables, ..self }
    }

    /// An upper bound of the number of pieces, and about how many bytes they have.
    pub(super) fn size(self) -> (usize, usize) {
        let n_pieces = |table: &SortedTable| match self.is_long {
            true => self.part(&table.long).len(),
            false => self.part(&table.short).len(),
        };
        let n_pieces = self.tables.iter().map(n_pieces).sum();
        (n_pieces, n_pieces * USUAL_LEN)
    }

    /// Visits every distinct piece once, in order.
    ///
    /// # Errors
    /// If a count exceeds 63 bits, or `visit` fails.
    pub(super) fn try_for_each(self, mut visit: impl FnMut(Sum<'_>) -> Result<()>) -> Result<()> {
        if self.is_long {
            let parts =
                self.tables.iter().map(|table| (self.part(&table.long), &*table.long_bytes));
            let visit =
                |entry: &Long, bytes: &[u8], total: Total| visit(total.of(entry.piece(bytes))?);
            return merge_sorted(parts.collect(), |entry| entry.total, visit);
        }
        let parts = self.tables.iter().map(|table| (self.part(&table.short), &[][..]));
        merge_sorted(
            parts.collect(),
            |entry| entry.value,
            |entry, _, total| {
                let (bytes, len) = piece_of_key(entry.key);
                visit(total.of(&bytes[..len])?)
            },
        )
    }

    /// The part of a table that is in the range.
    fn part<E: Entry>(self, entries: &'r [E]) -> &'r [E] {
        let place = |index: usize| {
            let bound = ((index as u128) << 64) / self.n_ranges as u128;
            entries.partition_point(|entry| u128::from(entry.hash(None)) < bound)
        };
        &entries[place(self.index)..place(self.index + 1)]
    }
}

/// Merges parts of tables, each with the bytes of its long pieces. `visit` gets an entry of each piece.
fn merge_sorted<E: Entry>(
    mut parts: Vec<(&[E], &[u8])>,
    total: impl Fn(&E) -> Total,
    mut visit: impl FnMut(&E, &[u8], Total) -> Result<()>,
) -> Result<()> {
    let compare =
        |one: &(&[E], &[u8]), other: &(&[E], &[u8])| match (one.0.first(), other.0.first()) {
            (Some(head), Some(next)) => {
                let by_hash = head.hash(None).cmp(&next.hash(None));
                by_hash.then_with(|| head.compare(one.1, next, other.1))
            }
            (head, next) => next.is_some().cmp(&head.is_some()), // a part that is not exhausted comes first
        };
    loop {
        let least = (0..parts.len()).min_by(|&one, &other| compare(&parts[one], &parts[other]));
        let Some(first) = least else { return Ok(()) };
        let (part, bytes) = parts[first];
        let Some((entry, rest)) = part.split_first() else { return Ok(()) };
        let mut sum = total(entry);
        for table in first + 1..parts.len() {
            if compare(&parts[table], &parts[first]).is_eq() {
                let (same, others) = parts[table];
                sum.add(total(&same[0]));
                parts[table] = (&same[1..], others);
            }
        }
        parts[first] = (rest, bytes);
        visit(entry, bytes, sum)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Splitter, Unmatched, named};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    impl CountTable {
        /// Counts a single piece, given its own position.
        fn add(&mut self, text: &[u8], piece: Range<usize>, count: u64, position: u64) {
            let position = position.wrapping_sub(piece.start as u64);
            self.add_one(Text { bytes: text, position, count }, piece);
        }
    }

    /// All pieces of some tables with count and first position, in the order of the result.
    fn contents(tables: Vec<CountTable>, n_threads: usize) -> Vec<(Vec<u8>, i64, u64)> {
        let parts = merge(&sorted(tables), n_threads, |range| {
            let mut contents = Vec::new();
            range.try_for_each(|sum| {
                contents.push((sum.piece.to_vec(), sum.count, sum.position));
                Ok(())
            })?;
            Ok(contents)
        });
        parts.unwrap().into_iter().flatten().collect()
    }

    proptest! {
        #[test]
        fn pieces_counted_abreast_are_those_counted_one_by_one(
            words in proptest::collection::vec("[a-d]{1,3}|[a-z]{14,17}|[ab]{60,70}|é| ", 0..300),
            n_more in 0..6000_u32,
            count in prop_oneof![1..5_u64, Just(u64::MAX / 2)],
        ) {
            // Enough pieces that the table grows on the way.
            let more = (0..n_more).map(|number| format!(" {number}"));
            let text = [words.concat(), more.collect(), words.concat()].concat();
            let splitter = Splitter::new(named("gpt2").unwrap(), &UnicodeTables::latest()).unwrap();
            let mut tables = [CountTable::new(usize::MAX), CountTable::new(usize::MAX)];
            let mut n_pieces = [0, 0];
            let (mut block, mut from) = (Boundaries::default(), 0);
            while from < text.len() {
                from = splitter.split_block(text.as_bytes(), from, &mut block).unwrap();
                n_pieces[0] += tables[0].add_block(text.as_bytes(), &block, count, 1000);
                for piece in block.pieces() {
                    let position = 1000 + piece.start as u64;
                    tables[1].add(text.as_bytes(), piece, count, position);
                    n_pieces[1] += 1;
                }
            }
            prop_assert_eq!(n_pieces[0], n_pieces[1]);
            let contents = tables.map(|table| {
                let sorted = table.into_sorted();
                let short: Vec<_> = sorted.short.iter().map(|entry| (entry.key, entry.value)).collect();
                let long = sorted.long.iter().map(|entry| (entry.piece(&sorted.long_bytes).to_vec(), entry.total));
                (short, long.collect::<Vec<_>>())
            });
            prop_assert_eq!(&contents[0], &contents[1]);
        }
    }

    proptest! {
        #[test]
        fn a_piece_is_first_where_it_came_first_whatever_else_is_left_out(
            texts in proptest::collection::vec("[ab]{1,3}|[ab]{1,2} [ab]{1,2}|([ab]{1,2}[ 1]){0,40}|([ab]{16,17} ){0,12}", 1..20),
        ) {
            let splitter = crate::test_support::splitter("[a-z]+", Unmatched::Drop);
            let mut table = CountTable::new(usize::MAX);
            let mut expected = BTreeMap::new();
            let mut position = 0;
            for text in &texts {
                let mut block = Boundaries::default();
                splitter.split_block(text.as_bytes(), 0, &mut block).unwrap();
                let n_pieces = table.add_block(text.as_bytes(), &block, 1, position);
                prop_assert_eq!(n_pieces, block.pieces().count() as u64);
                for piece in block.pieces() {
                    let first = position + piece.start as u64;
                    let total = expected.entry(text.as_bytes()[piece].to_vec()).or_insert((0, first));
                    total.0 += 1;
                }
                position += text.len() as u64;
            }
            let found: BTreeMap<_, _> = contents(vec![table], 1)
                .into_iter()
                .map(|(piece, count, first)| (piece, (count, first)))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }

    /// Pieces of 8 bytes that all belong in one place of any table, and pieces of 32 bytes that have the same hash.
    fn chosen_pieces(n: u64) -> Vec<Vec<u8>> {
        let mut inverse = 1_u64; // by Newton's method: each round doubles the number of correct bits
        for _ in 0..6 {
            inverse = inverse
                .wrapping_mul(2_u64.wrapping_sub(crate::piece::FACTORS[0].wrapping_mul(inverse)));
        }
        let short = (1..=n).map(|number| number.wrapping_mul(inverse).to_le_bytes().to_vec());
        let zero = 0xD6E8_FEB8_6659_FD93_u64; // makes one factor of the hash 0
        let long =
            (1..=n).map(|number| [number, zero, number, zero].map(u64::to_le_bytes).concat());
        short.chain(long).collect()
    }

    #[test]
    fn pieces_that_are_chosen_for_one_place_take_few_steps_and_come_in_the_same_order() {
        let pieces = chosen_pieces(20_000);
        let mut table = CountTable::new(usize::MAX);
        for (place, piece) in (0..).zip(pieces.iter().chain(pieces.iter().rev())) {
            table.add(piece, 0..piece.len(), 1, place);
        }
        let n_steps = table.short.n_steps + table.long.n_steps;
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
        assert_eq!(contents(vec![table], 1), expected);
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
            assert!(one.is_sorted_by_key(|&key| (high_hash(key), key.to_le_bytes())));
            assert_eq!(one.len(), n_pieces as usize);
            assert_eq!(one, other);
        }
    }

    /// The reference: an ordered map of owned pieces.
    fn naive(text: &[u8], pieces: &[(usize, usize)]) -> BTreeMap<Vec<u8>, (i64, u64)> {
        let mut counts = BTreeMap::new();
        for (position, &(start, end)) in (0..).zip(pieces) {
            let entry = counts.entry(text[start..end].to_vec()).or_insert((0, position));
            entry.0 += 1;
        }
        counts
    }

    proptest! {
        #[test]
        fn tables_together_are_a_map_of_owned_pieces(
            text in "[ab]{1,80}", cuts: Vec<(u8, u8, u8)>, n_tables in 1..5_usize,
        ) {
            let text = text.into_bytes();
            let pieces: Vec<_> = cuts
                .iter()
                .map(|&(start, len, _)| (start as usize % text.len(), len as usize % 40 + 1))
                .map(|(start, len)| (start, (start + len).min(text.len())))
                .collect();
            let mut tables: Vec<_> = (0..n_tables).map(|_| CountTable::new(usize::MAX)).collect();
            for ((position, &(start, end)), &(.., table)) in (0..).zip(&pieces).zip(&cuts) {
                tables[table as usize % n_tables].add(&text, start..end, 1, position);
            }
            let found = contents(tables, 1);
            let n_found = found.len();
            let found: BTreeMap<_, _> =
                found.into_iter().map(|(piece, count, first)| (piece, (count, first))).collect();
            prop_assert_eq!(found.len(), n_found);
            prop_assert_eq!(found, naive(&text, &pieces));
        }
    }

    #[test]
    fn the_order_does_not_depend_on_tables_or_threads() {
        let text: Vec<u8> = (0..30_000_u32).flat_map(|n| format!("{n:020}").into_bytes()).collect();
        let of = |n_tables: usize, n_threads: usize| {
            let mut tables: Vec<_> = (0..n_tables).map(|_| CountTable::new(usize::MAX)).collect();
            for (n, start) in (0..text.len()).step_by(20).enumerate() {
                let table = &mut tables[n % n_tables];
                table.add(&text, start..start + 20, 1, n as u64);
                table.add(&text, start + 12..start + 20, 1, n as u64);
            }
            contents(tables, n_threads)
        };
        let expected = of(1, 1);
        assert_eq!(expected.len(), 60_000);
        for n_threads in [2, 3, 8] {
            assert!(of(n_threads, n_threads) == expected, "{n_threads} threads");
        }
    }
}
