//! Sorted files that are merged: what does not fit memory, in order all the same.
//!
//! Where there are many files, 64 of one size are merged into one of the next size, so that the number of open
//! files, the memory of their buffers and the room on the disk stay small, and no record is copied more
//! often than there are sizes. Merging adds counts of equal pieces up. It holds a record of each file, so where these are
//! long it takes fewer files at once. Files go when they were read, also after an error. Takes O(n log k) time
//! and O(k) memory for n records in k files.

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::records::{AddedUp, Order, Part, Record, RecordReader, Row, write_record};
use crate::error::Result;

/// Files that are merged at once.
const MAX_FILES: usize = if cfg!(test) { 3 } else { 64 };
/// The buffer of each, in bytes.
const BUFFER_LEN: usize = 32 << 10;
/// What merging takes at most besides the records, in bytes.
pub(super) const N_BYTES: usize = 65 * BUFFER_LEN;

/// Files of records in one order.
pub(super) struct RunFiles {
    folder: PathBuf,
    order: Order,
    /// What the records of files that are merged at once may take, in bytes.
    max_heads: usize,
    /// By how often their records were merged.
    levels: Vec<Vec<RunFile>>,
}

/// A file of records, which goes with this.
pub(super) struct RunFile {
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
    pub(super) fn write(&mut self, row: &Row<'_>) -> Result<()> {
        self.longest = self.longest.max(row.piece.len());
        write_record(&mut self.file, row)
    }
}

impl RunFile {
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

impl RunFiles {
    /// No files. Of those that are merged at once a record each is in memory: these should not take more than `max_heads`
    /// bytes.
    pub(super) fn new(folder: &Path, order: Order, max_heads: usize) -> Self {
        Self { folder: folder.to_owned(), order, max_heads, levels: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.levels.iter().all(Vec::is_empty)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// Where files cannot be read or written.
    pub(super) fn push(&mut self, file: RunFile) -> Result<()> {
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
    fn is_full(&self, files: &[RunFile]) -> bool {
        let heads = files.iter().fold(0_usize, |heads, file| heads.saturating_add(file.longest));
        files.len() >= MAX_FILES || files.len() > 1 && heads > self.max_heads
    }

    /// How many files from the first on are merged at once, two at least.
    fn n_at_once(&self, files: &VecDeque<RunFile>) -> usize {
        let heads = files.iter().scan(0_usize, |heads, file| {
            *heads = heads.saturating_add(file.longest);
            Some(*heads)
        });
        let n_files = heads.take_while(|&heads| heads <= self.max_heads).count();
        n_files.clamp(2, MAX_FILES.max(2)).min(files.len())
    }

    /// The files as they are.
    pub(super) fn into_files(self) -> impl Iterator<Item = RunFile> {
        self.levels.into_iter().flatten()
    }

    fn push_at(&mut self, level: usize, file: RunFile) {
        if level == self.levels.len() {
            self.levels.push(Vec::new());
        }
        self.levels[level].push(file);
    }

    fn merged(&self, files: Vec<RunFile>) -> Result<RunFile> {
        let mut merged = Merged::new(self.order, files)?;
        RunFile::write(&self.folder, |writer| {
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
    _files: Vec<RunFile>,
}

impl Merged {
    fn new(order: Order, files: Vec<RunFile>) -> Result<AddedUp<Self>> {
        let open = |file: &RunFile| {
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
