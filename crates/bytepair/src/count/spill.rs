//! Tables to disk and back: counting in bounded memory.
//!
//! A table that is as large as its budget is written to a temporary file, in the order of hashes, and begins
//! anew. At the end all files are merged in that order, in one pass. The result is the same as without a
//! limit, in the same order. Where there are many files they are merged into one first, so that the number of
//! open files and the memory of their buffers stay small. Files go when the counter does, also after an error.
//!
//! Such a file is a run of records, each the hash of a piece, its length, count and first position, as
//! little-endian 64-bit numbers, and its bytes; short pieces by hash, then long pieces by hash. It is
//! private: nobody else reads it, and it may change at any time.
//!
//! Takes O(n log k) time and O(k) memory for n pieces in k files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::ordered::Entry;
use super::runs::{Sum, Total};
use super::table::{CountTable, Long, Short, piece};
use crate::error::Result;
use crate::piece_key::{MAX_KEY_LEN, piece_of_key};

/// Files that are merged at once.
const MAX_FILES: usize = 64;
/// The buffer of each, in bytes.
const BUFFER_LEN: usize = 32 << 10;
/// What all this takes at most besides the records, in bytes.
pub(super) const N_BYTES: usize = (MAX_FILES + 1) * BUFFER_LEN;

/// Where tables go.
pub(super) struct Spill {
    folder: PathBuf,
    files: Mutex<Vec<NamedTempFile>>,
}

impl Spill {
    /// Refuses a folder where no file can be made.
    pub(super) fn new(folder: &Path) -> Result<Self> {
        drop(NamedTempFile::new_in(folder)?);
        Ok(Self { folder: folder.to_owned(), files: Mutex::new(Vec::new()) })
    }

    /// Whether no table was written.
    pub(super) fn is_unused(&self) -> bool {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Moves the contents of a table into a file.
    ///
    /// # Errors
    /// Where a file cannot be written or read.
    pub(super) fn write(&self, table: &mut CountTable) -> Result<()> {
        if table.is_empty() {
            return Ok(());
        }
        let file = self.write_file(|writer| {
            table.drain(|short, long, long_bytes| write_records(writer, short, long, long_bytes))
        })?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.push(file);
        if files.len() == MAX_FILES {
            let merged = self.write_file(|writer| {
                merge(&files, |hash, piece, total| write_record(writer, hash, piece, total))
            })?;
            *files = vec![merged];
        }
        Ok(())
    }

    /// Visits every distinct piece of all files once.
    ///
    /// # Errors
    /// Where a file cannot be read, a count exceeds 63 bits, and those of `visit`.
    pub(super) fn try_for_each(&self, mut visit: impl FnMut(Sum<'_>) -> Result<()>) -> Result<()> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        merge(&files, |_, piece, total| visit(total.of(piece)?))
    }

    fn write_file(
        &self,
        write: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
    ) -> Result<NamedTempFile> {
        let file = NamedTempFile::new_in(&self.folder)?;
        let mut writer = BufWriter::with_capacity(BUFFER_LEN, file.as_file());
        write(&mut writer)?;
        writer.flush()?;
        drop(writer);
        Ok(file)
    }
}

fn write_records(
    writer: &mut impl Write,
    short: &[Short],
    long: &[Long],
    long_bytes: &[u8],
) -> Result<()> {
    for entry in short {
        let (bytes, len) = piece_of_key(entry.key);
        let total = Total { count: entry.count, first: entry.first };
        write_record(writer, entry.hash(), &bytes[..len], total)?;
    }
    for entry in long {
        let total = Total { count: entry.count, first: entry.first };
        write_record(writer, entry.hash(), piece(long_bytes, entry), total)?;
    }
    Ok(())
}

fn write_record(writer: &mut impl Write, hash: u64, piece: &[u8], total: Total) -> Result<()> {
    let mut header = [0; 32];
    let numbers = [hash, piece.len() as u64, total.count, total.first];
    for (bytes, number) in header.chunks_exact_mut(8).zip(numbers) {
        bytes.copy_from_slice(&number.to_le_bytes());
    }
    writer.write_all(&header)?;
    Ok(writer.write_all(piece)?)
}

/// A record, ordered as records are in a file.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    is_long: bool,
    hash: u64,
    piece: Vec<u8>,
    count: u64,
    first: u64,
}

/// Reads the next record; `None` at the end of the file.
fn read_record(reader: &mut impl Read) -> Result<Option<Record>> {
    let mut header = [0; 32];
    match reader.read_exact(&mut header) {
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
        result => result?,
    }
    let mut numbers = [0; 4];
    for (number, bytes) in numbers.iter_mut().zip(header.chunks_exact(8)) {
        *number = bytes.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    }
    let [hash, len, count, first] = numbers;
    let mut piece = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
    reader.read_exact(&mut piece)?;
    Ok(Some(Record { is_long: piece.len() > MAX_KEY_LEN, hash, piece, count, first }))
}

/// Visits every distinct piece of some files with its hash, in the order of the files.
fn merge(
    files: &[NamedTempFile],
    mut visit: impl FnMut(u64, &[u8], Total) -> Result<()>,
) -> Result<()> {
    let readers = files.iter().map(|file| Ok(BufReader::with_capacity(BUFFER_LEN, file.reopen()?)));
    let mut readers = readers.collect::<Result<Vec<_>>>()?;
    let mut heads = BinaryHeap::new();
    for (index, reader) in readers.iter_mut().enumerate() {
        heads.extend(read_record(reader)?.map(|record| Reverse((record, index))));
    }
    while let Some(Reverse((record, index))) = heads.pop() {
        heads.extend(read_record(&mut readers[index])?.map(|next| Reverse((next, index))));
        let mut total = Total { count: record.count, first: record.first };
        while let Some(Reverse((same, index))) = heads.peek_mut().and_then(|head| {
            let is_same = head.0.0.hash == record.hash && head.0.0.piece == record.piece;
            is_same.then(|| std::collections::binary_heap::PeekMut::pop(head))
        }) {
            total = total.and(Total { count: same.count, first: same.first });
            heads.extend(read_record(&mut readers[index])?.map(|next| Reverse((next, index))));
        }
        visit(record.hash, &record.piece, total)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{CorpusCounter, PieceCounts, Preparation};
    use crate::dialect::Dialect;
    use proptest::prelude::*;

    fn preparation() -> Preparation {
        Dialect::named("gpt2").unwrap().preparation(&["<s>".to_owned()]).unwrap()
    }

    fn contents(counts: &PieceCounts) -> Vec<(Vec<u8>, i64, Option<crate::First>)> {
        counts.iter().map(|(piece, count, first)| (piece.to_vec(), count, first)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn a_limit_changes_nothing_but_memory(
            texts: Vec<Vec<u8>>,
            words in proptest::collection::vec("[ab<s>é ]{0,30}", 0..200),
            n_threads in 1..4_usize,
            min_count in 0..4_i64,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let counted = |is_limited: bool| {
                let mut counter = CorpusCounter::new(preparation(), n_threads).unwrap();
                if is_limited {
                    counter.spill_always(folder.path()).unwrap();
                }
                let slices: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
                counter.count_texts(&slices).unwrap();
                counter.set_weight(3).unwrap();
                for word in &words {
                    counter.count_reader(word.as_bytes(), |_| Ok(())).unwrap();
                }
                counter.finish_common(min_count).unwrap()
            };
            let (limited, free) = (counted(true), counted(false));
            prop_assert_eq!(contents(&limited.0), contents(&free.0));
            prop_assert_eq!(limited.1, free.1);
            prop_assert_eq!(limited.2, free.2);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    #[test]
    fn a_small_limit_gives_the_counts_of_a_large_text() {
        let words = (0..400_000_u64).map(|n| n.wrapping_mul(n) % 300_007);
        let words = words.map(|n| format!("{n:x} {:030} ", n % 50_021));
        let text = words.collect::<Vec<_>>().concat();
        let folder = tempfile::tempdir().unwrap();
        let counted = |limit: Option<usize>| {
            let mut counter = CorpusCounter::new(preparation(), 2).unwrap();
            if let Some(limit) = limit {
                counter.set_memory_limit(limit, folder.path()).unwrap();
            }
            counter.count_reader(text.as_bytes(), |_| Ok(())).unwrap();
            if limit.is_some() {
                assert!(std::fs::read_dir(folder.path()).unwrap().count() > 0);
            }
            contents(&counter.finish().unwrap().0)
        };
        let least = CorpusCounter::new(preparation(), 2).unwrap().least_memory();
        assert!(counted(Some(least)) == counted(None));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_limit_that_is_too_small_is_an_error() {
        let mut counter = CorpusCounter::new(preparation(), 2).unwrap();
        let error = counter.set_memory_limit(1 << 20, &std::env::temp_dir()).unwrap_err();
        assert!(error.to_string().starts_with("memory_limit: "), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let mut counter = CorpusCounter::new(preparation(), 1).unwrap();
        let folder = std::env::temp_dir().join("no such folder");
        assert!(counter.set_memory_limit(1 << 30, &folder).is_err());
    }
}
