//! Counts of any number in order, in bounded memory: an external merge sort.
//!
//! Rows are gathered in memory. When they take as much as they may, they are sorted and written to a *run*, a temporary
//! file of records in order. A table of counts is written to a run as it is, since its order is the same. Runs are merged in
//! the end, and counts of equal pieces are added up on the way. Where no run was needed, none is made.
//!
//! Where there are many runs, 64 of one size are merged into one of the next size, so that the number of open
//! files, the memory of their buffers and the room on the disk stay small, and no record is copied more
//! often than there are sizes. Merging holds a record of each run, so where these are long it takes fewer runs at once.
//! Runs are removed when they were read, also after an error.
//!
//! Takes O(n log n) time for n rows, 64 bytes for each row in memory beside its piece, and O(k) memory to merge k runs.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::First;
use super::records::{AddedUp, Order, Part, Record, RecordReader, RecordRef, write_record};
use crate::error::Result;

/// Files that are merged at once.
const MAX_FILES: usize = if cfg!(test) { 3 } else { 64 };
/// The buffer of each, in bytes.
const BUFFER_LEN: usize = 32 << 10;
/// What merging takes at most besides the records, in bytes.
pub(super) const N_BYTES: usize = 65 * BUFFER_LEN;
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
    runs: Runs,
}

/// Rows in memory.
#[derive(Default)]
struct Rows {
    entries: Vec<RowEntry>,
    /// The bytes of all pieces.
    bytes: Vec<u8>,
}

/// A row, whose piece lies elsewhere.
struct RowEntry {
    key: u128,
    start: usize,
    end: usize,
    group: u32,
    count: u64,
    first: First,
}

impl Sorter {
    pub(super) fn new(order: Order, folder: &Path, budget: usize) -> Self {
        let runs = Runs::new(folder, order, budget / HEADS_SHARE);
        Self { order, folder: folder.to_owned(), budget, rows: Rows::default(), runs }
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn push(&mut self, row: &RecordRef<'_>) -> Result<()> {
        self.rows.push(self.order.key(row), row);
        if self.rows.n_bytes() > self.budget { self.spill() } else { Ok(()) }
    }

    /// Adds the records of a file, which stand in this order.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn push_run(&mut self, file: Run) -> Result<()> {
        self.runs.push(file)
    }

    /// All rows in order; counts of equal pieces of one group are added up.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn into_sorted(mut self) -> Result<SortedRecords> {
        if self.runs.is_empty() {
            self.rows.sort();
            let in_memory = InMemory { order: self.order, rows: self.rows, next: 0 };
            return Ok(SortedRecords::InMemory(AddedUp::new(in_memory)));
        }
        self.spill()?;
        self.rows = Rows::default();
        self.runs.into_merged().map(SortedRecords::InRuns)
    }

    fn spill(&mut self) -> Result<()> {
        let rows = &mut self.rows;
        rows.sort();
        let file = Run::write(&self.folder, |writer| {
            rows.entries.iter().try_for_each(|entry| writer.write(&rows.row(entry)))
        })?;
        rows.entries.clear();
        rows.bytes.clear();
        self.runs.push(file)
    }
}

impl Rows {
    fn push(&mut self, key: u128, row: &RecordRef<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(row.piece);
        let RecordRef { group, count, first, .. } = *row;
        self.entries.push(RowEntry { key, start, end: self.bytes.len(), group, count, first });
    }

    fn n_bytes(&self) -> usize {
        self.entries.len() * size_of::<RowEntry>() + self.bytes.len()
    }

    fn row(&self, entry: &RowEntry) -> RecordRef<'_> {
        let piece = &self.bytes[entry.start..entry.end];
        RecordRef { piece, group: entry.group, count: entry.count, first: entry.first }
    }

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let piece = |entry: &RowEntry| &bytes[entry.start..entry.end];
        self.entries.sort_unstable_by(|one, other| {
            let by_key = one.key.cmp(&other.key);
            by_key
                .then_with(|| piece(one).cmp(piece(other)))
                .then_with(|| one.group.cmp(&other.group))
        });
    }
}

/// Rows in order.
pub(super) enum SortedRecords {
    InMemory(AddedUp<InMemory>),
    InRuns(AddedUp<Merged>),
}

impl Iterator for SortedRecords {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::InMemory(records) => records.next(),
            Self::InRuns(records) => records.next(),
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

/// Files of records in one order.
pub(super) struct Runs {
    folder: PathBuf,
    order: Order,
    /// What the records of files that are merged at once may take, in bytes.
    max_heads: usize,
    /// By how often their records were merged.
    levels: Vec<Vec<Run>>,
}

impl IntoIterator for Runs {
    type Item = Run;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<Run>>>;

    /// The runs as they are.
    fn into_iter(self) -> Self::IntoIter {
        self.levels.into_iter().flatten()
    }
}

/// A file of records, which goes with this.
pub(super) struct Run {
    path: TempPath,
    part: Part,
    /// The length of its longest piece, in bytes.
    longest: usize,
}

/// Writes the records of a file.
pub(super) struct RunWriter {
    file: BufWriter<File>,
    longest: usize,
}

impl RunWriter {
    /// Writes the next record.
    pub(super) fn write(&mut self, row: &RecordRef<'_>) -> Result<()> {
        self.longest = self.longest.max(row.piece.len());
        write_record(&mut self.file, row)
    }
}

impl Run {
    /// Takes a file over, whose name says how long its pieces are.
    ///
    /// # Errors
    /// Where the system does not say where the file is.
    pub(super) fn new(path: &Path, part: Part) -> Result<Self> {
        let longest = path.extension().and_then(|longest| longest.to_str()?.parse().ok());
        Ok(Self { path: TempPath::try_from_path(path)?, part, longest: longest.unwrap_or(0) })
    }

    /// Writes records, which come in order.
    ///
    /// # Errors
    /// Where the file cannot be written: the error names the folder.
    pub(super) fn write(
        folder: &Path,
        write: impl FnOnce(&mut RunWriter) -> Result<()>,
    ) -> Result<Self> {
        let (file, path) = NamedTempFile::new_in(folder)?.into_parts();
        let mut writer = RunWriter { file: BufWriter::with_capacity(BUFFER_LEN, file), longest: 0 };
        let written = write(&mut writer).and_then(|()| Ok(writer.file.flush()?));
        written.map_err(|error| in_folder(folder, error))?;
        Ok(Self { path, part: Part::default(), longest: writer.longest })
    }

    /// Lets the file stay, and gives its name, which says how long its pieces are.
    ///
    /// # Errors
    /// Where the system refuses.
    pub(super) fn keep(self) -> Result<PathBuf> {
        let mut named = self.path.as_os_str().to_owned();
        named.push(format!(".{}", self.longest));
        let named = PathBuf::from(named);
        self.path.persist_noclobber(&named).map_err(|error| error.error)?;
        Ok(named)
    }
}

impl Runs {
    /// No files. Of those that are merged at once a record each is in memory: these should not take more than `max_heads`
    /// bytes.
    pub(super) fn new(folder: &Path, order: Order, max_heads: usize) -> Self {
        Self { folder: folder.to_owned(), order, max_heads, levels: Vec::new() }
    }

    /// Where its files are made.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.iter().all(Vec::is_empty)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// Where files cannot be read or written.
    pub(super) fn push(&mut self, file: Run) -> Result<()> {
        self.push_at(0, file);
        while let Some(level) = self.levels.iter().position(|files| self.is_full(files)) {
            let files = std::mem::take(&mut self.levels[level]);
            let file = self.merged(files)?;
            self.push_at(level + 1, file);
        }
        Ok(())
    }

    /// All records in order, each piece of a group once.
    ///
    /// # Errors
    /// Where files cannot be read or written.
    pub(super) fn into_merged(mut self) -> Result<AddedUp<Merged>> {
        // The smallest first.
        let mut files: VecDeque<_> =
            std::mem::take(&mut self.levels).into_iter().flatten().collect();
        while files.len() > 1 {
            let n_files = self.n_at_once(&files);
            if n_files == files.len() {
                break;
            }
            let file = self.merged(files.drain(..n_files).collect())?;
            files.push_back(file);
        }
        Merged::new(self.order, files.into())
    }

    /// Whether files are merged before there are more.
    fn is_full(&self, files: &[Run]) -> bool {
        let heads = files.iter().fold(0_usize, |heads, file| heads.saturating_add(file.longest));
        files.len() >= MAX_FILES || files.len() > 1 && heads > self.max_heads
    }

    /// How many files from the first on are merged at once, two at least.
    fn n_at_once(&self, files: &VecDeque<Run>) -> usize {
        let heads = files.iter().scan(0_usize, |heads, file| {
            *heads = heads.saturating_add(file.longest);
            Some(*heads)
        });
        let n_files = heads.take_while(|&heads| heads <= self.max_heads).count();
        n_files.clamp(2, MAX_FILES.max(2)).min(files.len())
    }

    fn push_at(&mut self, level: usize, file: Run) {
        if level == self.levels.len() {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(file);
    }

    fn merged(&self, files: Vec<Run>) -> Result<Run> {
        let mut merged = Merged::new(self.order, files)?;
        Run::write(&self.folder, |writer| {
            merged.try_for_each(|record| writer.write(&record?.row()))
        })
    }
}

/// The records of some files in order.
pub(super) struct Merged {
    readers: Vec<RecordReader>,
    /// The next record of each reader.
    heads: BinaryHeap<Reverse<(Record, usize)>>,
    /// They go when all is read.
    _files: Vec<Run>,
}

impl Merged {
    fn new(order: Order, files: Vec<Run>) -> Result<AddedUp<Self>> {
        let open = |file: &Run| {
            Ok(RecordReader::new(File::open(&file.path)?, BUFFER_LEN, order, file.part))
        };
        let mut readers = files.iter().map(open).collect::<Result<Vec<_>>>()?;
        let mut heads = BinaryHeap::new();
        for (index, reader) in readers.iter_mut().enumerate() {
            heads.extend(reader.read()?.map(|record| Reverse((record, index))));
        }
        Ok(AddedUp::new(Self { readers, heads, _files: files }))
    }

    fn next_record(&mut self) -> Result<Option<Record>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((_, index)) = *head;
        let Reverse((record, _)) = match self.readers[index].read()? {
            Some(next) => std::mem::replace(&mut *head, Reverse((next, index))),
            None => PeekMut::pop(head),
        };
        Ok(Some(record))
    }
}

impl Iterator for Merged {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_record().transpose()
    }
}

/// The error of a file in a folder.
fn in_folder(folder: &Path, error: crate::Error) -> crate::Error {
    match error.kind() {
        crate::ErrorKind::Read(reason) => {
            let message = format!("{}: {reason}", folder.display());
            std::io::Error::new(reason.kind(), message).into()
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
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
                let row = RecordRef { piece: piece.as_bytes(), group: *group, count: *count, first };
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
