//! Sums the counts of any number of parts of a corpus in bounded memory.
//!
//! ```text
//! files of parts ─┐
//! rows ───────────┴─by hash──▶ sums ──rare ones left out──▶ (by first occurrence ──numbered──▶) by rank ──▶ rows
//! ```
//!
//! Each arrow is a `Sorter`, which uses files if memory is not sufficient. The rows depend only on the pieces and their
//! counts, not on the parts or the order in which they are added. Takes O(n log n) time for n rows of all parts, and
//! about twice the room of their files on the disk.

use std::path::{Path, PathBuf};

use super::sorter::{self, Merged, Occurrences, Order, Part, Record, Run, Sorter};
use super::{Dropped, First};
use crate::error::{Error, Result};

/// The caller can stop the summation after each of this many rows.
const N_ROWS_BETWEEN_CALLS: u64 = 1 << 16;

/// Sums counts.
///
/// ```
/// use bytepair::count::{CountSums, Part};
/// let folder = std::env::temp_dir();
/// let mut sums = CountSums::new(&folder, 1 << 20);
/// sums.add(b"low", 2, Part { group: 0, source: 0 }, 0)?;
/// sums.add(b"low", 3, Part { group: 0, source: 1 }, 0)?;
/// let (_, mut rows) = sums.finish(0, &[0], false, || Ok(()))?;
/// assert_eq!(rows.next_rows(10, 100)?.counts, [5]);
/// assert!(rows.next_rows(10, 100)?.counts.is_empty());
/// # Ok::<(), bytepair::Error>(())
/// ```
pub struct CountSums {
    folder: PathBuf,
    budget: usize,
    by_hash: Sorter,
}

impl CountSums {
    /// Sums without any counts. Temporary files are created in `folder`, and the memory is about `budget` bytes.
    pub fn new(folder: &Path, budget: usize) -> Self {
        // While rows move from one order to the next, both sorters have some in memory, or files that are merged.
        let budget = (budget / 2).saturating_sub(sorter::N_BYTES) * 3 / 4;
        let by_hash = Sorter::new(Order::Hash, folder, budget);
        Self { folder: folder.to_owned(), budget, by_hash }
    }

    /// Adds a piece of a part. Offsets of the same part are compared to find which piece comes first.
    ///
    /// # Errors
    /// If the count is negative, or a file cannot be written or read.
    pub fn add(&mut self, piece: &[u8], count: i64, part: Part, offset: u64) -> Result<()> {
        if piece.is_empty() || count == 0 {
            return Ok(());
        }
        let count = u64::try_from(count).map_err(|_| Error::count_of(piece, count))?;
        let first = First { source: part.source, offset };
        self.by_hash.push(piece.into(), Occurrences { group: part.group, count, first })
    }

    /// Adds the counts of a part that [`CorpusCounter::finish_runs`](crate::count::CorpusCounter::finish_runs) left in
    /// a file, and takes ownership of the file.
    ///
    /// # Errors
    /// If a file cannot be written or read.
    pub fn add_run(&mut self, file: &Path, part: Part) -> Result<()> {
        self.by_hash.push_run(Run::new(file, part)?)
    }

    /// Returns what was left out and all rows, without the pieces that occur less than `min_count` times in all groups
    /// together.
    ///
    /// `places` gives the place of each group in the order of rows, by group number. If `with_first`, rows are numbered
    /// by first occurrence. `call` is called from time to time, and may stop the summation by an error.
    ///
    /// # Errors
    /// If a count, or the sum of what was left out, exceeds 63 bits, or a file cannot be written or read.
    pub fn finish(
        self,
        min_count: i64,
        places: &[u32],
        with_first: bool,
        mut call: impl FnMut() -> Result<()>,
    ) -> Result<(Dropped, SummedRows)> {
        let order = if with_first { Order::First } else { Order::Rank };
        let mut rows = Sorter::new(order, &self.folder, self.budget);
        let mut dropped = Dropped::default();
        for_each_piece(self.by_hash.into_sorted()?, &mut call, |records| {
            let n_occurrences = total(records)?;
            if n_occurrences < min_count {
                return dropped.add(Dropped { n_pieces: 1, n_occurrences });
            }
            for Record { piece, occurrences, .. } in records.drain(..) {
                let Occurrences { group, count, first } = occurrences;
                let group = places.get(group as usize).copied().unwrap_or(group);
                let first = Some(first).filter(|_| with_first).unwrap_or(NOWHERE);
                rows.push(piece, Occurrences { group, count, first })?;
            }
            Ok(())
        })?;
        if with_first {
            rows = numbered(rows, Sorter::new(Order::Rank, &self.folder, self.budget), &mut call)?;
        }
        Ok((dropped, SummedRows { sorted: rows.into_sorted()?, waiting: None }))
    }
}

/// The first occurrence of pieces if it is not needed.
const NOWHERE: First = First { source: 0, offset: 0 };

/// Numbers rows by their first occurrence, and adds them to the rows that are sorted by rank.
fn numbered(
    by_first: Sorter,
    mut by_rank: Sorter,
    call: &mut dyn FnMut() -> Result<()>,
) -> Result<Sorter> {
    for (number, record) in (0_u64..).zip(by_first.into_sorted()?) {
        if number % N_ROWS_BETWEEN_CALLS == 0 {
            call()?;
        }
        let Record { piece, occurrences, .. } = record?;
        let first = First { source: 0, offset: number };
        by_rank.push(piece, Occurrences { first, ..occurrences })?;
    }
    Ok(by_rank)
}

/// The sum over all groups. If it exceeds 63 bits, that is an error only if the count of one group does.
fn total(records: &[Record]) -> Result<i64> {
    records.iter().try_fold(0_i64, |total, record| Ok(total.saturating_add(count_of(record)?)))
}

fn count_of(record: &Record) -> Result<i64> {
    let count = i64::try_from(record.occurrences.count);
    count.map_err(|_| Error::sum_of(&record.piece))
}

/// Visits the records of each piece, one for each group that contains it, in the order of groups.
pub(super) fn for_each_piece(
    sums: Merged,
    call: &mut dyn FnMut() -> Result<()>,
    mut visit: impl FnMut(&mut Vec<Record>) -> Result<()>,
) -> Result<()> {
    let mut records: Vec<Record> = Vec::new();
    for (number, record) in (0_u64..).zip(sums) {
        if number % N_ROWS_BETWEEN_CALLS == 0 {
            call()?;
        }
        let record = record?;
        if records.first().is_some_and(|first| !first.is_of_same_piece(&record)) {
            visit(&mut records)?;
            records.clear();
        }
        records.push(record);
    }
    if records.is_empty() { Ok(()) } else { visit(&mut records) }
}

/// Rows, the most frequent first; those of equal count by their bytes, then by the places of their groups.
pub struct SummedRows {
    sorted: Merged,
    /// A row that did not fit the last batch.
    waiting: Option<Record>,
}

/// Some rows as columns.
#[derive(Debug, Default)]
pub struct CountRows {
    /// The bytes of all pieces, one after the other.
    pub bytes: Vec<u8>,
    /// By row: where its piece ends.
    pub ends: Vec<usize>,
    /// By row: how often its piece occurs.
    pub counts: Vec<i64>,
    /// By row: the place of its group.
    pub groups: Vec<u32>,
    /// By row: the number of its piece by first occurrence, if first occurrences are known.
    pub firsts: Vec<u64>,
}

impl SummedRows {
    /// The next rows: at most `max_rows`, and at most `max_bytes` of pieces if there is more than one row. Empty only
    /// if no rows are left.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn next_rows(&mut self, max_rows: usize, max_bytes: usize) -> Result<CountRows> {
        let mut rows = CountRows::default();
        while rows.counts.len() < max_rows {
            let next = self.waiting.take().map(Ok).or_else(|| self.sorted.next());
            let Some(record) = next.transpose()? else { break };
            if !rows.counts.is_empty() && rows.bytes.len() + record.piece.len() > max_bytes {
                self.waiting = Some(record);
                break;
            }
            rows.push(&record)?;
        }
        Ok(rows)
    }
}

impl CountRows {
    fn push(&mut self, record: &Record) -> Result<()> {
        self.counts.push(count_of(record)?);
        self.bytes.extend_from_slice(&record.piece);
        self.ends.push(self.bytes.len());
        self.groups.push(record.occurrences.group);
        self.firsts.push(record.occurrences.first.offset);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CorpusCounter, PieceCounts, Preparation};
    use super::*;
    use crate::dialect::Dialect;
    use proptest::prelude::*;

    type Rows = Vec<(Vec<u8>, i64, u32, u64)>;

    fn preparation() -> Preparation {
        Dialect::named("gpt2").unwrap().preparation(&[]).unwrap()
    }

    /// All rows, in batches of at most `max_rows`.
    fn contents(mut rows: SummedRows, max_rows: usize) -> Rows {
        let mut all = Vec::new();
        loop {
            let next = rows.next_rows(max_rows, 50).unwrap();
            if next.counts.is_empty() {
                return all;
            }
            let mut start = 0;
            for (place, &end) in next.ends.iter().enumerate() {
                let piece = next.bytes[start..end].to_vec();
                all.push((piece, next.counts[place], next.groups[place], next.firsts[place]));
                start = end;
            }
        }
    }

    /// The definition: counts in memory, without rare pieces, numbered by first occurrence, sorted.
    fn expected(mut counts: PieceCounts, min_count: i64, with_first: bool) -> (Dropped, Rows) {
        let dropped = counts.drop_rare(min_count).unwrap();
        counts.sort();
        let numbered = (0..).zip(counts.iter());
        let mut rows: Rows = numbered
            .map(|(number, (piece, count, _))| {
                (piece.to_vec(), count, 0, if with_first { number } else { 0 })
            })
            .collect();
        rows.sort_by_key(|row| (std::cmp::Reverse(row.1), row.0.clone()));
        (dropped, rows)
    }

    proptest! {
        #[test]
        fn parts_together_are_the_whole(
            texts in proptest::collection::vec("[ab ]{0,60}", 1..12),
            budget in 0..6000_usize,
            min_count in 0..4_i64,
            with_first: bool,
            is_limited: bool,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut whole = CorpusCounter::new(preparation(), 1).unwrap();
            let mut sums = CountSums::new(folder.path(), budget);
            let mut part_sums = CountSums::new(folder.path(), budget);
            for (source, text) in (0..).zip(&texts) {
                let text = text.as_bytes();
                whole.count_texts(&[text]).unwrap();
                let mut counter = CorpusCounter::new(preparation(), 2).unwrap();
                if is_limited {
                    counter.spill_always(folder.path());
                }
                counter.count_texts(&[text]).unwrap();
                let (files, report) = counter.finish_runs(folder.path()).unwrap();
                prop_assert_eq!(report.n_bytes, text.len() as u64);
                let part = Part { group: 0, source };
                files.iter().for_each(|file| sums.add_run(file, part).unwrap());
                // The same from rows.
                let mut counter = CorpusCounter::new(preparation(), 1).unwrap();
                counter.count_texts(&[text]).unwrap();
                for (piece, count, first) in counter.finish().unwrap().0.iter() {
                    part_sums.add(piece, count, part, first.unwrap().offset).unwrap();
                }
            }
            let (dropped, rows) = expected(whole.finish().unwrap().0, min_count, with_first);
            for sums in [sums, part_sums] {
                let (found_dropped, found) =
                    sums.finish(min_count, &[0], with_first, || Ok(())).unwrap();
                prop_assert_eq!(&dropped, &found_dropped);
                prop_assert_eq!(&rows, &contents(found, 7));
            }
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }

        #[test]
        fn groups_are_counted_apart_and_thinned_together(
            rows in proptest::collection::vec(("[ab]{1,3}", 0..3_u32, 0..9_i64), 0..99),
            budget in 0..2000_usize,
            min_count in 0..9_i64,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut sums = CountSums::new(folder.path(), budget);
            let mut all = PieceCounts::new();
            let mut by_group = [(); 3].map(|()| PieceCounts::new());
            for (piece, group, count) in &rows {
                let part = Part { group: *group, source: 0 };
                sums.add(piece.as_bytes(), *count, part, 0).unwrap();
                by_group[*group as usize].add(piece.as_bytes(), *count, None).unwrap();
                all.add(piece.as_bytes(), *count, None).unwrap();
            }
            let dropped = all.drop_rare(min_count).unwrap();
            let kept: Vec<_> = all.iter().map(|(piece, ..)| piece.to_vec()).collect();
            let places = [2, 0, 1];
            let mut expected: Rows = Vec::new();
            for (counts, place) in by_group.iter().zip(places) {
                let rows = counts.iter().filter(|row| kept.iter().any(|piece| piece == row.0));
                expected.extend(rows.map(|(piece, count, _)| (piece.to_vec(), count, place, 0)));
            }
            expected.sort_by_key(|row| (std::cmp::Reverse(row.1), row.0.clone(), row.2));
            let (found_dropped, found) = sums.finish(min_count, &places, false, || Ok(())).unwrap();
            prop_assert_eq!(dropped, found_dropped);
            prop_assert_eq!(expected, contents(found, 5));
        }
    }

    #[test]
    fn a_sum_beyond_63_bits_is_an_error_and_so_is_a_negative_count() {
        let part = Part::default();
        let mut sums = CountSums::new(&std::env::temp_dir(), 1 << 20);
        assert!(sums.add(b"a", -1, part, 0).is_err());
        for count in [i64::MAX, 1] {
            sums.add(b"a", count, part, 0).unwrap();
        }
        let error = sums.finish(0, &[0], false, || Ok(())).err().unwrap();
        assert!(matches!(error.kind(), crate::error::ErrorKind::Count { .. }));
    }

    #[test]
    fn who_waits_may_end_the_adding_up() {
        let mut sums = CountSums::new(&std::env::temp_dir(), 1 << 20);
        sums.add(b"a", 1, Part::default(), 0).unwrap();
        let ended =
            sums.finish(0, &[0], false, || Err(crate::error::ErrorKind::Interrupted.into()));
        assert!(matches!(ended.err().unwrap().kind(), crate::error::ErrorKind::Interrupted));
    }
}
