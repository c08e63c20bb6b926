//! Counts of any number in order, in bounded memory: an external merge sort.
//!
//! Records are gathered in memory. When they take as much as they may, they are sorted and written to a *run*, a temporary
//! file of records in order. A table of counts is written to a run as it is, since its order is the same. Runs are merged in
//! the end, and counts of equal pieces are added up on the way. If no run was needed, none is made.
//!
//! If there are many runs, 64 of one size are merged into one of the next size, so that the number of open
//! files, the memory of their buffers and the room on the disk stay small, and no record is copied more
//! often than there are sizes. Merging holds a record of each run, so where these are long it takes fewer runs at once.
//! Runs are removed when they were read, also after an error.
//!
//! On disk a record is five numbers (group, count, source and offset of the first occurrence, length) and
//! the bytes of the piece. A number has seven bits in each byte, the lowest first, and the highest bit of a byte
//! says that more follow; so most records take some five bytes beside their piece. Such files are private:
//! no other program reads them, and they may change at any time.
//!
//! Takes O(n log n) time for n records, about 100 bytes for each in memory beside its piece, and O(k) memory to merge k runs.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::First;
use crate::error::Result;
use crate::hash::hash_bytes;
use crate::piece::{high_hash, piece_key};

/// Runs that are merged at once.
const MAX_RUNS: usize = if crate::SMALL { 3 } else { 64 };
/// The buffer of each, in bytes.
const BUFFER_LEN: usize = 32 << 10;
/// What merging takes at most besides the records, in bytes.
pub(super) const N_BYTES: usize = (MAX_RUNS + 1) * BUFFER_LEN;
/// The records of runs that are merged may take this part of the memory of the others.
const HEADS_SHARE: usize = 3;
/// What the system adds to the memory of a piece, in bytes.
const ALLOCATION_LEN: usize = 24;
/// The most bytes of a number.
const MAX_NUMBER_LEN: usize = 10;
/// Bytes of a piece for which there is room before they are read.
const MAX_RESERVED_LEN: usize = 1 << 20;

/// The part of a corpus that was counted alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The number of the group that its documents are of.
    pub group: u32,
    /// Its place in the corpus: where pieces first occur is asked across parts.
    pub source: u32,
}

/// A piece with what is known of it. It compares as its order says.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Record {
    key: u128,
    pub(super) piece: Box<[u8]>,
    pub(super) occurrences: Occurrences,
}

/// What is known of a piece in a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Occurrences {
    pub(super) group: u32,
    pub(super) count: u64,
    pub(super) first: First,
}

/// In which order records stand. Those of one key stand in the order of their pieces, then of their groups.
#[derive(Clone, Copy, Debug)]
pub(super) enum Order {
    /// Equal pieces beside each other, in the order of tables: short pieces by hash, then long ones by hash.
    Hash,
    /// By first occurrence.
    First,
    /// The most frequent first; those of one count by their bytes.
    Rank,
}

impl Order {
    /// What decides before pieces are compared.
    fn key(self, piece: &[u8], Occurrences { count, first, .. }: Occurrences) -> u128 {
        match self {
            Self::Hash => match piece_key(piece, 0, piece.len()) {
                Some(key) => high_hash(key).into(),
                None => 1 << 64 | u128::from(hash_bytes(piece, 0)),
            },
            Self::First => u128::from(first.source) << 64 | u128::from(first.offset),
            // The beginning of the piece spares most looks at the piece itself.
            Self::Rank => u128::from(u64::MAX - count) << 64 | u128::from(beginning(piece)),
        }
    }

    pub(super) fn record(self, piece: Box<[u8]>, occurrences: Occurrences) -> Record {
        Record { key: self.key(&piece, occurrences), piece, occurrences }
    }
}

/// The first eight bytes of a piece as a number that compares as they do.
fn beginning(piece: &[u8]) -> u64 {
    let mut bytes = [0; 8];
    let len = piece.len().min(bytes.len());
    bytes[..len].copy_from_slice(&piece[..len]);
    u64::from_be_bytes(bytes)
}

impl Record {
    pub(super) fn is_of_same_piece(&self, other: &Self) -> bool {
        self.key == other.key && self.piece == other.piece
    }

    fn is_of_same_group(&self, other: &Self) -> bool {
        self.is_of_same_piece(other) && self.occurrences.group == other.occurrences.group
    }

    /// Adds another record of the piece. A sum that saturates becomes an error where it is read.
    fn add(&mut self, other: &Self) {
        let Occurrences { count, first, .. } = &mut self.occurrences;
        *count = count.saturating_add(other.occurrences.count);
        *first = (*first).min(other.occurrences.first);
    }
}

/// Sorts records.
pub(super) struct Sorter {
    order: Order,
    /// The memory of records, in bytes.
    budget: usize,
    records: Vec<Record>,
    /// What they take, in bytes.
    n_bytes: usize,
    runs: Runs,
}

impl Sorter {
    pub(super) fn new(order: Order, folder: &Path, budget: usize) -> Self {
        let runs = Runs::new(folder, order, budget / HEADS_SHARE);
        Self { order, budget, records: Vec::new(), n_bytes: 0, runs }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// If a file cannot be written or read.
    pub(super) fn push(&mut self, piece: Box<[u8]>, occurrences: Occurrences) -> Result<()> {
        self.n_bytes += size_of::<Record>() + ALLOCATION_LEN + piece.len();
        self.records.push(self.order.record(piece, occurrences));
        if self.n_bytes > self.budget { self.spill() } else { Ok(()) }
    }

    /// Adds the records of a run, which stand in this order.
    ///
    /// # Errors
    /// If a file cannot be written or read.
    pub(super) fn push_run(&mut self, run: Run) -> Result<()> {
        self.runs.push(run)
    }

    /// All records in order; counts of equal pieces of one group are added up.
    ///
    /// # Errors
    /// If a file cannot be written or read.
    pub(super) fn into_sorted(mut self) -> Result<Merged> {
        if !self.runs.is_empty() {
            self.spill()?;
            self.records = Vec::new(); // the memory is for those who take the records
        }
        self.records.sort_unstable();
        self.runs.into_merged(self.records)
    }

    fn spill(&mut self) -> Result<()> {
        self.records.sort_unstable();
        self.n_bytes = 0;
        let run = Run::write(&self.runs.folder, |writer| {
            self.records.drain(..).try_for_each(|record| writer.write_record(&record))
        })?;
        self.runs.push(run)
    }
}

/// Files of records in one order.
pub(super) struct Runs {
    folder: PathBuf,
    order: Order,
    /// What the records of runs that are merged at once may take, in bytes.
    max_heads: usize,
    /// The size of a run is never larger than that of the one before.
    files: Vec<Run>,
}

/// A file of records, which goes with this.
pub(super) struct Run {
    path: TempPath,
    part: Part,
    /// The length of its longest piece, in bytes.
    longest: usize,
    /// How often its records were merged.
    size: u32,
}

impl Runs {
    /// No runs. Of those that are merged at once a record each is in memory: these should not take more than `max_heads`
    /// bytes.
    pub(super) fn new(folder: &Path, order: Order, max_heads: usize) -> Self {
        Self { folder: folder.to_owned(), order, max_heads, files: Vec::new() }
    }

    /// Where the files are made.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Adds a run.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub(super) fn push(&mut self, run: Run) -> Result<()> {
        let mut size = run.size;
        self.files.push(run);
        while let Some(start) = self.files.len().checked_sub(MAX_RUNS)
            && self.files[start].size == size
        {
            let runs = self.files.split_off(start);
            let runs = self.reduced(runs.into())?;
            size += 1;
            let run = self.written(runs)?;
            self.files.push(Run { size, ..run });
        }
        Ok(())
    }

    /// The records of all runs, and others that are in order, each piece of a group once.
    ///
    /// # Errors
    /// If files cannot be read or written.
    pub(super) fn into_merged(mut self, others: Vec<Record>) -> Result<Merged> {
        // The smallest first.
        let runs = std::mem::take(&mut self.files).into_iter().rev().collect();
        Merged::new(self.order, self.reduced(runs)?, others)
    }

    /// Lets the files stay, and gives their names.
    ///
    /// # Errors
    /// If the system refuses.
    pub(super) fn keep(self) -> Result<Vec<PathBuf>> {
        self.files.into_iter().map(Run::keep).collect()
    }

    /// Merges runs until all that are left can be merged at once.
    fn reduced(&self, mut runs: VecDeque<Run>) -> Result<VecDeque<Run>> {
        loop {
            let n_runs = self.n_at_once(&runs);
            if n_runs == runs.len() {
                return Ok(runs);
            }
            let run = self.written(runs.drain(..n_runs).collect())?;
            runs.push_back(run);
        }
    }

    /// How many runs from the first on are merged at once, two at least if there are two.
    fn n_at_once(&self, runs: &VecDeque<Run>) -> usize {
        let heads = runs.iter().scan(0_usize, |heads, run| {
            *heads = heads.saturating_add(run.longest);
            Some(*heads)
        });
        let n_runs = heads.take_while(|&heads| heads <= self.max_heads).count();
        n_runs.clamp(2, MAX_RUNS).min(runs.len())
    }

    fn written(&self, runs: VecDeque<Run>) -> Result<Run> {
        let mut merged = Merged::new(self.order, runs, Vec::new())?;
        Run::write(&self.folder, |writer| {
            merged.try_for_each(|record| writer.write_record(&record?))
        })
    }
}

impl Run {
    /// Takes a file over, whose name says how long its pieces are.
    ///
    /// # Errors
    /// If the system does not say where the file is.
    pub(super) fn new(path: &Path, part: Part) -> Result<Self> {
        let longest = path.extension().and_then(|longest| longest.to_str()?.parse().ok());
        let path = TempPath::try_from_path(path)?;
        Ok(Self { path, part, longest: longest.unwrap_or(0), size: 0 })
    }

    /// Writes records, which come in order.
    ///
    /// # Errors
    /// If the file cannot be written: the error names the folder.
    pub(super) fn write(
        folder: &Path,
        write: impl FnOnce(&mut RunWriter) -> Result<()>,
    ) -> Result<Self> {
        let (file, path) = NamedTempFile::new_in(folder)?.into_parts();
        let mut writer = RunWriter { file: BufWriter::with_capacity(BUFFER_LEN, file), longest: 0 };
        let written = write(&mut writer).and_then(|()| Ok(writer.file.flush()?));
        written.map_err(|error| in_folder(folder, error))?;
        Ok(Self { path, part: Part::default(), longest: writer.longest, size: 0 })
    }

    /// Lets the file stay, and gives its name, which says how long its pieces are.
    fn keep(self) -> Result<PathBuf> {
        let mut named = self.path.as_os_str().to_owned();
        named.push(format!(".{}", self.longest));
        let named = PathBuf::from(named);
        self.path.persist_noclobber(&named).map_err(|error| error.error)?;
        Ok(named)
    }
}

/// The error of a file in a folder.
fn in_folder(folder: &Path, error: crate::Error) -> crate::Error {
    match error.kind() {
        crate::ErrorKind::Read(reason) => {
            let message = format!("{}: {reason}", folder.display());
            io::Error::new(reason.kind(), message).into()
        }
        _ => error,
    }
}

/// Writes the records of a run.
pub(super) struct RunWriter {
    file: BufWriter<File>,
    longest: usize,
}

impl RunWriter {
    fn write_record(&mut self, record: &Record) -> Result<()> {
        self.write(&record.piece, record.occurrences)
    }

    /// Writes the next record.
    pub(super) fn write(&mut self, piece: &[u8], occurrences: Occurrences) -> Result<()> {
        self.longest = self.longest.max(piece.len());
        let Occurrences { group, count, first: First { source, offset } } = occurrences;
        let mut header = [0; 5 * MAX_NUMBER_LEN];
        let mut n_bytes = 0;
        for mut number in [group.into(), count, source.into(), offset, piece.len() as u64] {
            while number >= 0x80 {
                header[n_bytes] = number.to_le_bytes()[0] | 0x80;
                number >>= 7;
                n_bytes += 1;
            }
            header[n_bytes] = number.to_le_bytes()[0];
            n_bytes += 1;
        }
        self.file.write_all(&header[..n_bytes])?;
        Ok(self.file.write_all(piece)?)
    }
}

/// Reads the records of a run.
struct RunReader {
    file: BufReader<File>,
    order: Order,
    part: Part,
    /// It goes when all is read.
    _path: TempPath,
}

impl RunReader {
    /// Opens a file whose records are of a part, as each says for itself where it is of several.
    fn new(Run { path, part, .. }: Run, order: Order) -> Result<Self> {
        let file = BufReader::with_capacity(BUFFER_LEN, File::open(&path)?);
        Ok(Self { file, order, part, _path: path })
    }

    /// The next record; `None` at the end of the file.
    fn read(&mut self) -> Result<Option<Record>> {
        if self.file.fill_buf()?.is_empty() {
            return Ok(None);
        }
        let group = self.number_from(self.part.group)?;
        let count = self.number()?;
        let source = self.number_from(self.part.source)?;
        let first = First { source, offset: self.number()? };
        let len = self.number()?;
        let piece = self.piece(len)?;
        Ok(Some(self.order.record(piece, Occurrences { group, count, first })))
    }

    /// The bytes of a piece. Memory for a long one is taken as they come, whatever a changed file says of their number.
    fn piece(&mut self, len: u64) -> Result<Box<[u8]>> {
        let mut piece = Vec::new();
        if let Ok(len @ 0..=MAX_RESERVED_LEN) = usize::try_from(len) {
            piece = vec![0; len];
            self.file.read_exact(&mut piece)?;
        } else if (&mut self.file).take(len).read_to_end(&mut piece)? as u64 != len {
            return Err(damaged().into());
        }
        Ok(piece.into())
    }

    /// A number that is counted from another one.
    fn number_from(&mut self, first: u32) -> Result<u32> {
        let number =
            u32::try_from(self.number()?).ok().and_then(|number| number.checked_add(first));
        number.ok_or_else(|| damaged().into())
    }

    fn number(&mut self) -> Result<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let mut byte = [0];
            self.file.read_exact(&mut byte)?;
            number |= u64::from(byte[0] & 0x7F) << shift;
            if byte[0] < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged().into())
    }
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "a temporary file of counts was changed")
}

/// Records in order, in which each piece of a group comes once.
pub(super) struct Merged {
    sources: Vec<Source>,
    /// The next record of each source.
    heads: BinaryHeap<Reverse<(Record, usize)>>,
}

/// Where records come from, in order.
enum Source {
    Run(RunReader),
    Memory(std::vec::IntoIter<Record>),
}

impl Source {
    fn read(&mut self) -> Result<Option<Record>> {
        match self {
            Self::Run(reader) => reader.read(),
            Self::Memory(records) => Ok(records.next()),
        }
    }
}

impl Merged {
    fn new(order: Order, runs: VecDeque<Run>, others: Vec<Record>) -> Result<Self> {
        let readers = runs.into_iter().map(|run| RunReader::new(run, order).map(Source::Run));
        let mut sources = readers.collect::<Result<Vec<_>>>()?;
        sources.push(Source::Memory(others.into_iter()));
        let mut heads = BinaryHeap::new();
        for (index, source) in sources.iter_mut().enumerate() {
            heads.extend(source.read()?.map(|record| Reverse((record, index))));
        }
        Ok(Self { sources, heads })
    }

    /// The first record, if it is of the piece and the group of another one, or there is no other.
    fn next_like(&mut self, other: Option<&Record>) -> Result<Option<Record>> {
        let Some(mut head) = self.heads.peek_mut() else { return Ok(None) };
        let Reverse((first, index)) = &*head;
        if other.is_some_and(|other| !first.is_of_same_group(other)) {
            return Ok(None);
        }
        let index = *index;
        let Reverse((record, _)) = match self.sources[index].read()? {
            Some(next) => std::mem::replace(&mut *head, Reverse((next, index))),
            None => PeekMut::pop(head),
        };
        Ok(Some(record))
    }

    fn next_sum(&mut self) -> Result<Option<Record>> {
        let Some(mut sum) = self.next_like(None)? else { return Ok(None) };
        while let Some(same) = self.next_like(Some(&sum))? {
            sum.add(&same);
        }
        Ok(Some(sum))
    }
}

impl Iterator for Merged {
    type Item = Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_sum().transpose()
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
                let occurrences = Occurrences { group: *group, count: *count, first };
                by_hash.push(piece.as_bytes().into(), occurrences).unwrap();
                let sum = sums.entry((piece.clone(), *group)).or_insert((0, offset));
                sum.0 += *count;
            }
            let mut by_rank = Sorter::new(Order::Rank, folder.path(), budget);
            for record in by_hash.into_sorted().unwrap() {
                let Record { piece, occurrences, .. } = record.unwrap();
                by_rank.push(piece, occurrences).unwrap();
            }
            let ranked = by_rank.into_sorted().unwrap().map(Result::unwrap);
            let found: Vec<_> = ranked
                .map(|Record { piece, occurrences, .. }| {
                    let Occurrences { group, count, first } = occurrences;
                    (piece.into_vec(), group, count, first.offset)
                })
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

    /// What is read of a file.
    fn read(bytes: &[u8], part: Part) -> Result<Option<Record>> {
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        RunReader::new(Run::new(&file.into_temp_path().keep().unwrap(), part)?, Order::Hash)?.read()
    }

    #[test]
    fn a_length_or_a_group_that_no_file_has_is_an_error() {
        let part = Part { group: u32::MAX, source: 0 };
        assert!(read(b"\x01\x01\x00\x00\x01a", part).is_err());
        assert!(read(b"\x00\x01\x00\x00\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7Fa", part).is_err());
        assert!(read(b"\x00\x01\x00\x00\x01a", part).unwrap().is_some());
    }

    #[test]
    fn a_file_that_ends_in_a_record_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let first = First { source: 0, offset: 300 };
        let occurrences = Occurrences { group: 0, count: 1, first };
        let run = Run::write(folder.path(), |writer| writer.write(b"low", occurrences)).unwrap();
        let bytes = std::fs::read(&run.path).unwrap();
        assert!(read(&bytes, Part::default()).unwrap().is_some());
        assert!(read(&bytes[..bytes.len() - 1], Part::default()).is_err());
    }
}
