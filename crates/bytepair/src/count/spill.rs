//! Tables to disk and back: counting in bounded memory.
//!
//! A table that is as large as its budget is written to a temporary file, in the order of hashes, and begins
//! anew. At the end all files are merged in that order, in one pass. The result is the same as without a
//! limit, in the same order. Files go when the counter does, also after an error.
//!
//! Takes O(n log k) time and O(k) memory for n pieces in k files.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

use super::First;
use super::records::{Order, Row};
use super::run_files::{self, RunFile, RunFiles, RunWriter};
use super::runs::{Sum, Total};
use super::table::{CountTable, Long, Short, piece};
use crate::error::Result;
use crate::piece::key::piece_of_key;

/// What all this takes at most besides the records, in bytes.
pub(super) const N_BYTES: usize = run_files::N_BYTES;

/// Where tables go.
pub(super) struct Spill {
    folder: PathBuf,
    files: Mutex<RunFiles>,
}

impl Spill {
    /// Refuses a folder where no file can be made. The pieces that merging holds should not take more than `max_heads`
    /// bytes.
    pub(super) fn new(folder: &Path, max_heads: usize) -> Result<Self> {
        drop(NamedTempFile::new_in(folder)?);
        let files = Mutex::new(RunFiles::new(folder, Order::Hash, max_heads));
        Ok(Self { folder: folder.to_owned(), files })
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
        let file = self.write_table(table)?;
        self.files.lock().unwrap_or_else(PoisonError::into_inner).push(file)
    }

    /// Visits every distinct piece of all files once.
    ///
    /// # Errors
    /// Where a file cannot be read, a count exceeds 63 bits, and those of `visit`.
    pub(super) fn try_for_each(self, mut visit: impl FnMut(Sum<'_>) -> Result<()>) -> Result<()> {
        let files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        for record in files.into_merged()? {
            let record = record?;
            let total = Total { count: record.count, first: record.first.offset };
            visit(total.of(&record.piece)?)?;
        }
        Ok(())
    }

    /// Lets the files stay, and gives their names.
    ///
    /// # Errors
    /// Where the system refuses.
    pub(super) fn keep(self) -> Result<Vec<PathBuf>> {
        let files = self.files.into_inner().unwrap_or_else(PoisonError::into_inner);
        files.into_files().map(RunFile::keep).collect()
    }

    fn write_table(&self, table: &mut CountTable) -> Result<RunFile> {
        RunFile::write(&self.folder, |writer| {
            table.drain(|short, long, long_bytes| write_entries(writer, short, long, long_bytes))
        })
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
        writer.write(&row(&bytes[..len], entry.value))?;
    }
    for entry in long {
        writer.write(&row(piece(long_bytes, entry), entry.total))?;
    }
    Ok(())
}

/// A row of the only part there is.
fn row(piece: &[u8], total: Total) -> Row<'_> {
    let first = First { source: 0, offset: total.first };
    Row { piece, group: 0, count: total.count, first }
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
            with_first: bool,
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
                counter.finish_common(min_count, with_first).unwrap()
            };
            let (limited, free) = (counted(true), counted(false));
            prop_assert_eq!(contents(&limited.0), contents(&free.0));
            prop_assert!(free.0.is_empty() || free.0.knows_first() == with_first);
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
                counter.set_memory_limit(limit, folder.path(), false).unwrap();
            }
            counter.count_reader(text.as_bytes(), |_| Ok(())).unwrap();
            if limit.is_some() {
                assert!(std::fs::read_dir(folder.path()).unwrap().count() > 0);
            }
            contents(&counter.finish().unwrap().0)
        };
        let least = CorpusCounter::new(preparation(), 2).unwrap().least_memory(false);
        assert!(counted(Some(least)) == counted(None));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_limit_that_is_too_small_is_an_error() {
        let mut counter = CorpusCounter::new(preparation(), 2).unwrap();
        let error = counter.set_memory_limit(1 << 20, &std::env::temp_dir(), true).unwrap_err();
        assert!(error.to_string().starts_with("memory_limit: "), "{error}");
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let mut counter = CorpusCounter::new(preparation(), 1).unwrap();
        let folder = std::env::temp_dir().join("no such folder");
        assert!(counter.set_memory_limit(1 << 30, &folder, false).is_err());
    }
}
