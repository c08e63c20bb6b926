//! Rows of any number in order, in bounded memory.
//!
//! Rows are gathered in memory; when they take as much as they may, they are sorted and go to a file. Where no
//! file was needed, none is made. Takes O(n log n) time for n rows, and 64 bytes for each row in memory
//! beside its piece.

use std::path::{Path, PathBuf};

use super::First;
use super::records::{AddedUp, Order, Record, Row};
use super::run_files::{Merged, RunFile, RunFiles};
use crate::error::Result;

/// The pieces that merging files holds may take this part of the memory of rows, which is free by then but for pieces
/// that come alone.
const HEADS_SHARE: usize = 3;

/// Sorts rows.
pub(super) struct Sorter {
    order: Order,
    folder: PathBuf,
    /// The memory of rows, in bytes.
    budget: usize,
    rows: Rows,
    files: RunFiles,
}

/// Rows in memory.
#[derive(Default)]
struct Rows {
    entries: Vec<Entry>,
    /// The bytes of all pieces.
    bytes: Vec<u8>,
}

/// A row, whose piece lies elsewhere.
struct Entry {
    key: u128,
    start: usize,
    end: usize,
    group: u32,
    count: u64,
    first: First,
}

impl Sorter {
    pub(super) fn new(order: Order, folder: &Path, budget: usize) -> Self {
        let files = RunFiles::new(folder, order, budget / HEADS_SHARE);
        Self { order, folder: folder.to_owned(), budget, rows: Rows::default(), files }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn push(&mut self, row: &Row<'_>) -> Result<()> {
        self.rows.push(self.order.key(row), row);
        if self.rows.n_bytes() > self.budget { self.spill() } else { Ok(()) }
    }

    /// Adds the records of a file, which stand in this order.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn push_file(&mut self, file: RunFile) -> Result<()> {
        self.files.push(file)
    }

    /// All rows in order; counts of equal pieces of one group are added up.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn into_sorted(mut self) -> Result<Sorted> {
        if self.files.is_empty() {
            self.rows.sort();
            let in_memory = InMemory { order: self.order, rows: self.rows, next: 0 };
            return Ok(Sorted::InMemory(AddedUp::new(in_memory)));
        }
        self.spill()?;
        self.rows = Rows::default();
        self.files.into_merged().map(Sorted::InFiles)
    }

    fn spill(&mut self) -> Result<()> {
        let rows = &mut self.rows;
        rows.sort();
        let file = RunFile::write(&self.folder, |writer| {
            rows.entries.iter().try_for_each(|entry| writer.write(&rows.row(entry)))
        })?;
        rows.entries.clear();
        rows.bytes.clear();
        self.files.push(file)
    }
}

impl Rows {
    fn push(&mut self, key: u128, row: &Row<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(row.piece);
        let Row { group, count, first, .. } = *row;
        self.entries.push(Entry { key, start, end: self.bytes.len(), group, count, first });
    }

    fn n_bytes(&self) -> usize {
        self.entries.len() * size_of::<Entry>() + self.bytes.len()
    }

    fn row(&self, entry: &Entry) -> Row<'_> {
        let piece = &self.bytes[entry.start..entry.end];
        Row { piece, group: entry.group, count: entry.count, first: entry.first }
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let piece = |entry: &Entry| &bytes[entry.start..entry.end];
        self.entries.sort_unstable_by(|one, other| {
            let by_key = one.key.cmp(&other.key);
            by_key
                .then_with(|| piece(one).cmp(piece(other)))
                .then_with(|| one.group.cmp(&other.group))
        });
    }
}

/// Rows in order.
pub(super) enum Sorted {
    InMemory(AddedUp<InMemory>),
    InFiles(AddedUp<Merged>),
}

impl Iterator for Sorted {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::InMemory(records) => records.next(),
            Self::InFiles(records) => records.next(),
        }
    }
}

/// Rows that needed no file.
pub(super) struct InMemory {
    order: Order,
    rows: Rows,
    next: usize,
}

impl Iterator for InMemory {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.rows.entries.get(self.next)?;
        self.next += 1;
        Some(Ok(self.order.record(&self.rows.row(entry))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn files_change_nothing_but_memory(
            rows in proptest::collection::vec(("[ab]{1,20}", 0..3_u32, 0..9_u64), 0..200),
            budget in 0..4000_usize,
        ) {
            let folder = tempfile::tempdir().unwrap();
            // The naive twin: an ordered map of sums.
            let mut sums: BTreeMap<(String, u32), (u64, u64)> = BTreeMap::new();
            let mut by_hash = Sorter::new(Order::Hash, folder.path(), budget);
            for (offset, (piece, group, count)) in (0..).zip(&rows) {
                let first = First { source: 0, offset };
                let row = Row { piece: piece.as_bytes(), group: *group, count: *count, first };
                by_hash.push(&row).unwrap();
                let sum = sums.entry((piece.clone(), *group)).or_insert((0, offset));
                sum.0 += *count;
            }
            let mut by_rank = Sorter::new(Order::Rank, folder.path(), budget);
            for record in by_hash.into_sorted().unwrap() {
                by_rank.push(&record.unwrap().row()).unwrap();
            }
            let ranked = by_rank.into_sorted().unwrap().map(Result::unwrap);
            let found: Vec<_> = ranked
                .map(|found| (found.piece, found.group, found.count, found.first.offset))
                .collect();
            let mut expected: Vec<_> = sums
                .into_iter()
                .map(|((piece, group), (count, first))| (piece.into_bytes(), group, count, first))
                .collect();
            expected.sort_by_key(|row| (std::cmp::Reverse(row.2), row.0.clone(), row.1));
            prop_assert_eq!(found, expected);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
