//! Tables of threads to the counts of the whole.
//!
//! Each table is put in the order of hashes, which costs little: that is how its slots lie. The order is cut
//! into ranges of hashes, and threads merge one range after the other: counts of equal pieces add up, of
//! first positions the smallest is kept. So no piece is looked up again, and the result comes in an order
//! that depends on the pieces alone: the short ones by hash, then the long ones by hash.
//!
//! ```text
//! merge, for each range of hashes:
//!     while a table has pieces left in the range:
//!         take the least piece at the head of any table
//!         for each later table with the same piece at its head: add its count, keep the smaller position
//! ```
//!
//! *Invariant:* each table has a piece once, so a piece that was taken comes in no table again. Ranges do not overlap, so
//! what threads make of them is joined end to end.
//!
//! Takes O(n k) time for n pieces in k tables, divided by the number of threads: k is small, and a heap of heads would
//! not be faster.

use std::sync::{Mutex, PoisonError};

use super::ordered::Entry;
use super::table::{CountTable, Long, Short, SortedTable, Sum, Total, in_order};
use crate::error::Result;
use crate::parallel::in_parallel;
use crate::piece::piece_of_key;

/// Ranges for each thread, so that no thread is left with much more than the others.
const N_RANGES_PER_THREAD: usize = 4;
/// Fewer pieces than this are not worth a thread.
const MIN_PIECES_PER_THREAD: usize = 1 << 14;

/// About the mean length of short distinct pieces, in bytes.
const USUAL_LEN: usize = 8;

/// Puts each table in order, one thread for each.
pub(super) fn sorted(tables: Vec<CountTable>) -> Vec<SortedTable> {
    let n_threads = tables.len();
    let tables: Vec<_> = tables.into_iter().map(|table| Mutex::new(Some(table))).collect();
    let sorted = in_parallel(n_threads, tables.len(), |index| {
        let table = tables[index].lock().unwrap_or_else(PoisonError::into_inner).take();
        table.map(CountTable::into_sorted)
    });
    sorted.into_iter().flatten().collect()
}

/// Merges all tables and gives them, range by range, to `collect`; returns what that makes, in order.
pub(super) fn merge<T: Send>(
    tables: &[SortedTable],
    n_threads: usize,
    collect: impl Fn(HashRange<'_>) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let n_pieces: usize = tables.iter().map(|table| table.short.len() + table.long.len()).sum();
    let n_threads = n_threads.min(n_pieces / MIN_PIECES_PER_THREAD).max(1);
    let n_ranges = if n_threads == 1 { 1 } else { n_threads * N_RANGES_PER_THREAD };
    let merged = in_parallel(n_threads, n_ranges * 2, |index| {
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
    /// How many pieces there are at most, and how many bytes they have, if none stands in several tables and short
    /// ones are of usual length.
    pub(super) fn size(self) -> (usize, usize) {
        if self.is_long {
            let parts = self.tables.iter().map(|table| self.part(&table.long));
            let sizes = parts.map(|part| (part.len(), part.iter().map(Long::len).sum::<usize>()));
            return sizes.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1));
        }
        let n_pieces = self.tables.iter().map(|table| self.part(&table.short).len()).sum();
        (n_pieces, n_pieces * USUAL_LEN)
    }

    /// Visits every distinct piece once, in order.
    ///
    /// # Errors
    /// Where a count exceeds 63 bits, and those of `visit`.
    pub(super) fn try_for_each(self, mut visit: impl FnMut(Sum<'_>) -> Result<()>) -> Result<()> {
        if self.is_long {
            let parts = self.tables.iter().map(|table| self.part(&table.long));
            let order =
                |entry: &Long, table: usize| (entry.hash(None), self.tables[table].piece(entry));
            return merge_sorted(
                parts.collect(),
                order,
                |entry| entry.total,
                |entry, table, total| visit(total.of(self.tables[table].piece(entry))?),
            );
        }
        let parts = self.tables.iter().map(|table| self.part(&table.short));
        let order = |entry: &Short, _| (entry.hash(None), in_order(entry.key));
        merge_sorted(
            parts.collect(),
            order,
            |entry| entry.value,
            |entry, _, total| {
                let (bytes, len) = piece_of_key(entry.key);
                visit(total.of(&bytes[..len])?)
            },
        )
    }

    /// The part of a table that lies in the range.
    fn part<E: Entry>(self, entries: &'r [E]) -> &'r [E] {
        let place = |index: usize| {
            let bound = ((index as u128) << 64) / self.n_ranges as u128;
            entries.partition_point(|entry| u128::from(entry.hash(None)) < bound)
        };
        &entries[place(self.index)..place(self.index + 1)]
    }
}

/// Merges parts of tables; `visit` is given the entry of one table that has the piece.
fn merge_sorted<'r, E, K: Ord>(
    mut parts: Vec<&'r [E]>,
    order: impl Fn(&'r E, usize) -> K,
    total: impl Fn(&E) -> Total,
    mut visit: impl FnMut(&'r E, usize, Total) -> Result<()>,
) -> Result<()> {
    if let [part] = parts[..] {
        return part.iter().try_for_each(|entry| visit(entry, 0, total(entry)));
    }
    let key = |table: usize, part: &&'r [E]| part.first().map(|entry| order(entry, table));
    let mut heads: Vec<Option<K>> =
        parts.iter().enumerate().map(|(table, part)| key(table, part)).collect();
    loop {
        let least =
            heads.iter().enumerate().filter_map(|(table, head)| Some((head.as_ref()?, table)));
        let Some((_, first_table)) = least.min() else { return Ok(()) };
        let Some((entry, rest)) = parts[first_table].split_first() else { return Ok(()) };
        parts[first_table] = rest;
        let piece = std::mem::replace(&mut heads[first_table], key(first_table, &rest));
        let mut sum = total(entry);
        for table in first_table + 1..parts.len() {
            if heads[table] == piece
                && let Some((same, rest)) = parts[table].split_first()
            {
                sum = sum.and(total(same));
                parts[table] = rest;
                heads[table] = key(table, &rest);
            }
        }
        visit(entry, first_table, sum)?;
    }
}

/// All pieces of some tables with count and first position, in the order of the result.
#[cfg(test)]
pub(super) fn contents(tables: Vec<CountTable>, n_threads: usize) -> Vec<(Vec<u8>, i64, u64)> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The naive twin: an ordered map of owned pieces.
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
