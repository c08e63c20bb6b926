//! Sorted files that are merged: what does not fit memory, in order all the same.
//!
//! Where there are many files, 64 of one size are merged into one of the next size, so that the number of open
//! files, the memory of their buffers and the room on the disk stay small, and no record is copied more
//! often than there are sizes. Merging adds counts of equal pieces up. Files go when they were read, also
//! after an error. Takes O(n log k) time and O(k) memory for n records in k files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempPath};

use super::records::{AddedUp, Order, Part, Record, RecordReader, write_record};
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
    /// By how often their records were merged.
    levels: Vec<Vec<RunFile>>,
}

/// A file of records, which goes with this.
pub(super) struct RunFile {
    path: TempPath,
    part: Part,
}

impl RunFile {
    /// Takes a file over.
    ///
    /// # Errors
    /// Where the system does not say where the file is.
    pub(super) fn new(path: &Path, part: Part) -> Result<Self> {
        Ok(Self { path: TempPath::try_from_path(path)?, part })
    }

    /// Writes records, which come in order.
    ///
    /// # Errors
    /// Where the file cannot be written: the error names the folder.
    pub(super) fn write(
        folder: &Path,
        write: impl FnOnce(&mut BufWriter<File>) -> Result<()>,
    ) -> Result<Self> {
        let (file, path) = NamedTempFile::new_in(folder)?.into_parts();
        let mut writer = BufWriter::with_capacity(BUFFER_LEN, file);
        let written = write(&mut writer).and_then(|()| Ok(writer.flush()?));
        written.map_err(|error| in_folder(folder, error))?;
        Ok(Self { path, part: Part::default() })
    }

    /// Lets the file stay, and gives its name.
    ///
    /// # Errors
    /// Where the system refuses.
    pub(super) fn keep(self) -> Result<PathBuf> {
        Ok(self.path.keep().map_err(|error| error.error)?)
    }
}

impl RunFiles {
    pub(super) fn new(folder: &Path, order: Order) -> Self {
        Self { folder: folder.to_owned(), order, levels: Vec::new() }
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
        let full = |files: &Vec<RunFile>| files.len() >= MAX_FILES;
        while let Some(level) = self.levels.iter().position(full) {
            self.merge_level(level)?;
        }
        Ok(())
    }

    /// All records in order, each piece of a group once.
    ///
    /// # Errors
    /// Where files cannot be read or written.
    pub(super) fn into_merged(mut self) -> Result<AddedUp<Merged>> {
        while self.levels.iter().map(Vec::len).sum::<usize>() > MAX_FILES {
            let level = self.levels.iter().position(|files| !files.is_empty());
            self.merge_level(level.unwrap_or_default())?;
        }
        Merged::new(self.order, self.levels.into_iter().flatten().collect())
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

    /// Merges the files of one level into one of the next.
    fn merge_level(&mut self, level: usize) -> Result<()> {
        let files = std::mem::take(&mut self.levels[level]);
        let mut merged = Merged::new(self.order, files)?;
        let file = RunFile::write(&self.folder, |writer| {
            merged.try_for_each(|record| write_record(writer, &record?.row()))
        })?;
        self.push_at(level + 1, file);
        Ok(())
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
