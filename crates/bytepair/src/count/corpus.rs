//! Counts the pieces of texts and readers: in parallel, in one pass, in bounded memory.
//!
//! `feed` divides texts into stretches that can be counted independently, each thread counts some of them in its own
//! table, and `table` sums the tables. The calling thread reads: it may be interrupted, and may call what only it may
//! use. It hands out stretches in order and reuses them after they are counted. When enough are outstanding, it counts
//! one itself. So no thread waits for another as long as there is text. Memory is bounded by the distinct pieces, a few
//! stretches for each thread, and the longest text without a safe cut; or by a limit, above which tables are written to
//! runs on disk (`sorter`).
//!
//! The result does not depend on the number of threads: counts are summed, and the smallest of all first positions is
//! kept.
//!
//! To leave out pieces of few documents, each thread has a second table with the number of documents of each piece. One
//! thread counts all of a document: stretches of texts in memory end where a text ends, and one thread counts what a
//! reader gives. If a run on disk cuts a document, its pieces before and after the cut have a group of their own there,
//! and count once.

use std::cell::{Cell, RefCell};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::NamedTempFile;

use super::feed::{CorpusReport, Feeder, MAX_STRETCH_LEN, Part, Preparation, Stretch, boundaries};
use super::sorter::{self, Occurrences, Order, Record, Runs};
use super::sums::for_each_piece;
use super::table::{self, CountTable, Sum, Total};
use super::{Dropped, First, PieceCounts, n_characters};
use crate::dictionary::Search;
use crate::error::{Error, ErrorKind, Result};
use crate::parallel::in_order_within;
use bytepair_split::Boundaries;

/// The most stretches at once, for each thread, including the one that is being filled.
const N_STRETCHES: usize = 4;
/// The smallest memory of a limited table, in bytes: room for the pieces of a block of text, twice while it grows.
const LEAST_TABLE: usize = 8 << 20;
/// Text without a place to cut it may be as long as one part in this many of the memory limit.
const LONGEST_SHARE: usize = 16;
/// How often such text is in memory: as it was read, as it is carried over, its boundaries, and in a table.
const N_LONGEST: usize = 4;
/// The next pieces of all files that are merged may take one part in this many of the limit.
const HEADS_SHARE: usize = 8;
/// Blocks of documents that the caller holds take one part in this many of the limit, and at least `MIN_BLOCKS` bytes.
const BLOCKS_SHARE: usize = 4;
const MIN_BLOCKS: usize = 16 << 20;

/// What shares the memory of a limit.
#[derive(Clone, Copy)]
struct MemoryShare {
    n_threads: usize,
    n_tables: usize,
    reads_blocks: bool,
}

impl MemoryShare {
    /// The memory that is left for each table of a thread, in bytes; `None` if it is too little.
    fn of_table(self, limit: usize) -> Option<usize> {
        let blocks = if self.reads_blocks { (limit / BLOCKS_SHARE).max(MIN_BLOCKS) } else { 0 };
        let beside = sorter::N_BYTES + limit / HEADS_SHARE + N_LONGEST * longest(limit) + blocks;
        let for_all = limit.checked_sub(beside)?;
        // Tables that were never written to disk stay in memory until they are merged into one.
        let for_each = for_all.min(limit / 2) / self.n_threads;
        let budget = for_each.checked_sub(N_STRETCHES * MAX_STRETCH_LEN)? / self.n_tables;
        (budget >= LEAST_TABLE).then_some(budget)
    }
}

/// The longest text without a place to cut it.
fn longest(limit: usize) -> usize {
    (limit / LONGEST_SHARE).max(MAX_STRETCH_LEN)
}

/// The most memory that training takes for each distinct piece, and for each byte of these, in bytes, including the
/// counts. Measured with artificial words in which hardly any pair is frequent (`docs/explanation/limits.md`).
const BYTES_PER_SYMBOL: usize = 11;

/// The approximate memory of training on this many distinct pieces of this many bytes.
pub(crate) fn needed_to_learn(n_pieces: usize, n_bytes: usize) -> usize {
    n_pieces.saturating_add(n_bytes).saturating_mul(BYTES_PER_SYMBOL)
}

/// Rejects distinct pieces for which training would need more memory than a limit allows.
fn check_kept(n_pieces: usize, n_bytes: usize, limit: Option<usize>) -> Result<()> {
    let n_needed = needed_to_learn(n_pieces, n_bytes);
    match limit.filter(|&limit| n_needed > limit) {
        None => Ok(()),
        Some(limit) => {
            let problem = format!(
                "to learn from {n_pieces} distinct pieces takes about {n_needed} bytes or more, and the limit is \
                 {limit}; raise it, or leave rare pieces out (min_piece_count)"
            );
            Err(Error::option("memory_limit", problem))
        }
    }
}

/// Counts the pieces of one text after the other.
///
/// After an error, it is unknown how much of the text was counted.
pub struct CorpusCounter {
    cutting: Cutting,
    /// How documents are cut, in which the separator is ordinary text; `None` if no separator is set.
    within_documents: Option<Cutting>,
    /// One for each thread.
    workers: Vec<Worker>,
    /// How many times each piece of the next sources counts.
    weight: u64,
    /// Where tables that exceed the memory limit are written, if there is a limit.
    runs: Option<Mutex<Runs>>,
    /// The memory limit, in bytes.
    limit: Option<usize>,
    /// The fewest documents of a piece that is kept, if that is more than one.
    min_documents: Option<i64>,
    /// By source: the position at which it begins. Positions increase along the corpus.
    source_starts: Vec<u64>,
    /// Whether the last source is a series of batches, which the next batch continues.
    in_batches: bool,
    /// The position of the next piece.
    position: u64,
    report: CorpusReport,
}

/// How text is prepared, and the boundaries in it.
struct Cutting {
    preparation: Preparation,
    boundaries: Search,
}

impl Cutting {
    fn new(preparation: Preparation) -> Result<Self> {
        Ok(Self { boundaries: boundaries(&preparation)?, preparation })
    }
}

impl CorpusCounter {
    /// A counter with `n_threads` threads.
    pub fn new(preparation: Preparation, n_threads: usize) -> Result<Self> {
        let whole = Preparation { separator: None, ..preparation.clone() };
        let has_separator = preparation.separator.is_some();
        Ok(Self {
            within_documents: has_separator.then(|| Cutting::new(whole)).transpose()?,
            report: CorpusReport {
                n_special: vec![0; preparation.special_tokens.len()],
                ..CorpusReport::default()
            },
            workers: (0..n_threads.max(1)).map(|_| Worker::new()).collect(),
            weight: 1,
            runs: None,
            limit: None,
            min_documents: None,
            source_starts: Vec::new(),
            in_batches: false,
            position: 0,
            cutting: Cutting::new(preparation)?,
        })
    }

    /// Leaves out pieces that occur in fewer than `min_documents` documents: texts, or parts of them that the separator
    /// cuts out. Special tokens end no document, and weights do not matter. Call this before anything else.
    ///
    /// # Errors
    /// If it is less than 1.
    pub fn with_min_documents(mut self, min_documents: i64) -> Result<Self> {
        if min_documents < 1 {
            let problem = format!("must be at least 1, not {min_documents}");
            return Err(Error::option("min_sources", problem));
        }
        if min_documents > 1 {
            self.min_documents = Some(min_documents);
            let tables = self.workers.iter_mut().map(|worker| &mut worker.documents);
            tables.for_each(|table| *table = Some(CountTable::new(usize::MAX)));
        }
        Ok(self)
    }

    /// Makes every piece of the following sources count `multiplier` times. The default is 1.
    ///
    /// # Errors
    /// If it is 0: leave the source out instead. A count that exceeds 63 bits is an error of [`Self::finish`].
    pub fn set_weight(&mut self, multiplier: u64) -> Result<()> {
        if multiplier == 0 {
            return Err(Error::option("weight", "0 would count nothing; leave the source out"));
        }
        self.weight = multiplier;
        self.in_batches = false;
        Ok(())
    }

    /// Keeps the memory of counting and training within about `limit` bytes. Counts that exceed it go to temporary
    /// files in `folder`; what cannot be kept within the limit is an error.
    ///
    /// The result is the same. It is an error if text without a place to cut it is longer than a sixteenth of the
    /// limit, or if training on the distinct pieces needs more memory; [`Self::finish_common`] leaves out rare ones.
    /// `reads_blocks` says whether the caller holds blocks of documents meanwhile, which then count too. `n_corpora` share
    /// the limit equally.
    ///
    /// # Errors
    /// If the limit is too small, or no file can be created in the folder.
    pub fn set_memory_limit(
        &mut self,
        limit: usize,
        n_corpora: usize,
        folder: &Path,
        reads_blocks: bool,
    ) -> Result<()> {
        let (n_threads, for_all, n_corpora) = (self.workers.len(), limit, n_corpora.max(1));
        let limit = limit / n_corpora;
        let Some(budget) = self.memory_share(reads_blocks).of_table(limit) else {
            let least = self.least_memory(reads_blocks).saturating_mul(n_corpora);
            let fewer = if n_threads > 1 { ", or use fewer" } else { "" };
            let threads = if n_threads > 1 { "threads" } else { "thread" };
            let problem = format!(
                "{for_all} bytes are too few for {n_threads} {threads}; give at least {least}{fewer}"
            );
            return Err(Error::option("memory_limit", problem));
        };
        // Fails if no file can be created in the folder.
        drop(NamedTempFile::new_in(folder)?);
        let runs = Runs::new(folder, Order::Hash, limit / HEADS_SHARE);
        for worker in &mut self.workers {
            worker.table.set_budget(budget);
            worker.documents.iter_mut().for_each(|table| table.set_budget(budget));
        }
        (self.runs, self.limit) = (Some(Mutex::new(runs)), Some(limit));
        Ok(())
    }

    /// The smallest memory limit, in bytes.
    pub fn least_memory(&self, reads_blocks: bool) -> usize {
        let share = self.memory_share(reads_blocks);
        let mut limits = (1..).map(|n_mebibytes| n_mebibytes << 20);
        limits.find(|&limit| share.of_table(limit).is_some()).unwrap_or(usize::MAX)
    }

    fn memory_share(&self, reads_blocks: bool) -> MemoryShare {
        let n_tables = 1 + usize::from(self.min_documents.is_some());
        MemoryShare { n_threads: self.workers.len(), n_tables, reads_blocks }
    }

    /// Counts a batch of complete texts. Consecutive batches are one source.
    ///
    /// # Errors
    /// If a text is not UTF-8 but has to be. The offset is relative to the text.
    pub fn count_texts(&mut self, texts: &[&[u8]]) -> Result<()> {
        if !self.in_batches {
            self.begin_source(true);
        }
        self.count(texts.iter().copied(), Given::Texts, |_| Ok(()))
    }

    /// Counts a batch of documents: texts in which a separator is ordinary text. Consecutive batches, also of texts,
    /// are one source.
    ///
    /// # Errors
    /// If a document is not UTF-8 but has to be. The offset is relative to the document.
    pub fn count_documents(&mut self, documents: &[&[u8]]) -> Result<()> {
        if !self.in_batches {
            self.begin_source(true);
        }
        self.count(documents.iter().copied(), Given::Documents, |_| Ok(()))
    }

    /// Counts one text, stretch by stretch. `progress` is called on this thread with the number of bytes read so far of
    /// this text, and may stop the counting by an error.
    ///
    /// # Errors
    /// If the text is not UTF-8 but has to be, or the reader fails. Of several errors, the first in the text is
    /// returned.
    pub fn count_reader(
        &mut self,
        reader: impl Read,
        progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.begin_source(false);
        self.count(std::iter::once(reader), Given::Reader, progress)
    }

    /// The counted pieces, and a report.
    ///
    /// The order of the pieces is arbitrary, but depends only on the pieces; [`PieceCounts::sort`] sorts them.
    ///
    /// # Errors
    /// If a count exceeds 63 bits.
    pub fn finish(self) -> Result<(PieceCounts, CorpusReport)> {
        let (counts, _, report) = self.finish_common(1, true)?;
        Ok((counts, report))
    }

    /// The counted pieces without those that occur less than `min_count` times, which are dropped before they take
    /// memory. Also returns what was dropped, as [`PieceCounts::drop_rare`] does, and a report. First occurrences take
    /// a third of the memory, and are left out unless `with_first` is set.
    ///
    /// # Errors
    /// If a count, or the sum of what was dropped, exceeds 63 bits.
    pub fn finish_common(
        mut self,
        min_count: i64,
        with_first: bool,
    ) -> Result<(PieceCounts, Dropped, CorpusReport)> {
        let runs = self.runs.take().filter(|runs| !lock(runs).is_empty());
        let parts = match runs {
            Some(runs) => vec![self.gather_runs(runs, min_count, with_first)?],
            None => self.gather_tables(min_count, with_first)?,
        };
        let mut counts = PieceCounts::new();
        let mut dropped = Dropped::default();
        let n_pieces: usize = parts.iter().map(|part| part.kept.len()).sum();
        let n_bytes: usize = parts.iter().map(|part| part.kept.distinct_bytes()).sum();
        check_kept(n_pieces, n_bytes, self.limit)?;
        for part in parts {
            counts.append_distinct(part.kept);
            // The first part has become the result.
            counts.reserve(n_pieces - counts.len(), n_bytes - counts.distinct_bytes())?;
            dropped.add(part.dropped)?;
        }
        Ok((counts, dropped, self.report))
    }

    /// Ends the counting and writes the counts to files, for [`CountSums::add_run`](super::CountSums::add_run).
    ///
    /// The files are created in `folder`, or in the folder of the memory limit if there is one. Whoever takes them
    /// deletes them.
    ///
    /// # Errors
    /// If a file cannot be written or read, or pieces of few documents are to be left out.
    pub fn finish_runs(mut self, folder: &Path) -> Result<(Vec<PathBuf>, CorpusReport)> {
        if self.min_documents.is_some() {
            return Err(Error::option("min_sources", "these files have no number of documents"));
        }
        let runs = self.runs.take();
        let runs = runs.unwrap_or_else(|| Mutex::new(Runs::new(folder, Order::Hash, usize::MAX)));
        let runs = self.write_tables(runs)?;
        Ok((runs.keep()?, self.report))
    }

    /// Merges the tables. Each thread merges some ranges of hashes.
    fn gather_tables(&mut self, min_count: i64, with_first: bool) -> Result<Vec<Gathered>> {
        let n_threads = self.workers.len();
        let workers = self.workers.drain(..).map(|worker| (worker.table, worker.documents));
        let (tables, documents): (Vec<_>, Vec<_>) = workers.unzip();
        let tables = table::sorted(tables);
        let documents = table::sorted(documents.into_iter().flatten().collect());
        table::merge(&tables, n_threads, |range| {
            let mut part = Gathered::new(min_count, with_first);
            let (n_pieces, n_bytes) = range.size();
            part.kept.reserve(n_pieces, n_bytes)?;
            // Of the same pieces in the same order, if there are any.
            let mut n_documents = Vec::new();
            range.of(&documents).try_for_each(|sum| {
                n_documents.push(sum.count);
                Ok(())
            })?;
            let mut n_documents = n_documents.into_iter();
            range.try_for_each(|sum| {
                let is_rare = n_documents.next() < self.min_documents;
                part.take(&self.source_starts, sum, is_rare)
            })?;
            Ok(part)
        })
    }

    /// Merges the runs on disk with what is left in the tables.
    fn gather_runs(
        &mut self,
        runs: Mutex<Runs>,
        min_count: i64,
        with_first: bool,
    ) -> Result<Gathered> {
        let runs = self.write_tables(runs)?;
        let mut part = Gathered::new(min_count, with_first);
        for_each_piece(runs.into_merged(Vec::new())?, &mut || Ok(()), |records| {
            let Some((record, documents)) = records.split_first() else { return Ok(()) };
            let Occurrences { count, first, .. } = record.occurrences;
            let total = Total { count, first: first.offset };
            let is_rare = self.min_documents.is_some_and(|least| n_documents(documents) < least);
            part.take(&self.source_starts, total.of(&record.piece)?, is_rare)?;
            check_kept(part.kept.len(), part.kept.distinct_bytes(), self.limit)
        })?;
        Ok(part)
    }

    /// Writes the contents of the tables to runs, too.
    fn write_tables(&mut self, runs: Mutex<Runs>) -> Result<Runs> {
        self.workers.drain(..).try_for_each(|mut worker| worker.spill(&runs))?;
        Ok(runs.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn begin_source(&mut self, in_batches: bool) {
        self.source_starts.push(self.position);
        self.in_batches = in_batches;
    }

    fn count<R: Read>(
        &mut self,
        texts: impl Iterator<Item = R>,
        given: Given,
        progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        let within = self.within_documents.as_ref().filter(|_| given == Given::Documents);
        let cutting = within.unwrap_or(&self.cutting);
        let rules = Rules {
            preparation: &cutting.preparation,
            weight: self.weight,
            runs: self.runs.as_ref(),
        };
        let counts_documents = self.min_documents.is_some();
        // The caller holds blocks of documents, whose size the memory limit bounds.
        let is_small = given == Given::Documents || given == Given::Texts && self.limit.is_none();
        let keeps_texts_whole = counts_documents && is_small;
        let n_workers = if counts_documents && !is_small { 1 } else { self.workers.len() };
        let mut feeder = Feeder {
            preparation: &cutting.preparation,
            boundaries: &cutting.boundaries,
            report: &mut self.report,
            position: &mut self.position,
            texts,
            progress,
            text: None,
            spare: Vec::new(),
            longest: self.limit.map_or(usize::MAX, longest),
            n_added: 0,
            keeps_texts_whole,
        };
        let workers = &mut self.workers[..n_workers];
        let result = count_all(workers, rules, |stretch| feeder.fill(stretch));
        let n_added = weighted(feeder.n_added, self.weight);
        self.report.n_added = self.report.n_added.saturating_add(n_added);
        for worker in &mut self.workers {
            let n_pieces = std::mem::take(&mut worker.n_pieces);
            let n_characters = std::mem::take(&mut worker.n_characters);
            let report = &mut self.report;
            report.n_pieces += n_pieces;
            report.mass = report.mass.saturating_add(weighted(n_pieces, self.weight));
            report.n_characters =
                report.n_characters.saturating_add(weighted(n_characters, self.weight));
        }
        result
    }
}

/// What is counted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Given {
    Texts,
    Documents,
    Reader,
}

/// The number of documents of a piece by its records in runs; see [`Total::documents_in_run`].
fn n_documents(records: &[Record]) -> i64 {
    let n_of = |Occurrences { group, count, .. }| if group == 1 { count } else { 1 };
    let n_documents: u64 = records.iter().map(|record| n_of(record.occurrences)).sum();
    i64::try_from(n_documents).unwrap_or(i64::MAX)
}

/// Pieces of the result.
struct Gathered {
    min_count: i64,
    kept: PieceCounts,
    dropped: Dropped,
}

impl Gathered {
    fn new(min_count: i64, with_first: bool) -> Self {
        let kept = if with_first { PieceCounts::new() } else { PieceCounts::without_firsts() };
        Self { min_count, kept, dropped: Dropped::default() }
    }

    fn take(&mut self, source_starts: &[u64], sum: Sum<'_>, is_rare: bool) -> Result<()> {
        let Sum { piece, count, position } = sum;
        if count < self.min_count || is_rare {
            return self.dropped.add(Dropped { n_pieces: 1, n_occurrences: count });
        }
        self.kept.ask_for_room(piece.len())?;
        let first = self.kept.knows_first().then(|| first(source_starts, position));
        self.kept.push_distinct(piece, count, first.transpose()?);
        Ok(())
    }
}

fn weighted(n: u64, weight: u64) -> i64 {
    i64::try_from(n.saturating_mul(weight)).unwrap_or(i64::MAX)
}

/// The source and offset of a position.
fn first(source_starts: &[u64], position: u64) -> Result<First> {
    let source = source_starts.partition_point(|&start| start <= position) - 1;
    let offset = position - source_starts[source];
    let source = u32::try_from(source)
        .map_err(|_| Error::option("sources", "more than 4,294,967,295 sources"))?;
    Ok(First { source, offset })
}

/// The table of one thread, and what else it counts.
struct Worker {
    table: CountTable,
    /// The number of documents of each piece, if pieces of few are left out. The pieces are those of the other table.
    documents: Option<CountTable>,
    /// The document that was counted in part when the tables were last written to a run, until it ends.
    cut: Option<u64>,
    n_pieces: u64,
    n_characters: u64,
    boundaries: Boundaries,
}

/// How to count.
#[derive(Clone, Copy)]
struct Rules<'p> {
    preparation: &'p Preparation,
    /// How many times each piece counts.
    weight: u64,
    /// Where full tables are written, if memory is limited.
    runs: Option<&'p Mutex<Runs>>,
}

impl Worker {
    fn new() -> Self {
        let (table, boundaries) = (CountTable::new(usize::MAX), Boundaries::default());
        let (documents, cut) = (None, None);
        Self { table, documents, cut, n_pieces: 0, n_characters: 0, boundaries }
    }

    /// Counts all pieces of a stretch.
    fn count(&mut self, rules: Rules<'_>, stretch: &Stretch) -> Result<()> {
        stretch.parts.iter().try_for_each(|part| self.count_part(rules, part, &stretch.buffer))
    }

    fn count_part(&mut self, rules: Rules<'_>, part: &Part, buffer: &[u8]) -> Result<()> {
        let Rules { preparation, weight, runs } = rules;
        let text = &buffer[part.range.clone()];
        // Text that was changed has been checked before.
        let is_raw = preparation.as_encoded.is_none() && preparation.normalizer.steps().is_empty();
        if preparation.requires_utf8 && is_raw {
            std::str::from_utf8(text).map_err(|error| {
                let offset = part.offset + error.valid_up_to() as u64;
                ErrorKind::NotUtf8 { offset }
            })?;
        }
        if let Some(runs) = runs
            && self.cut.is_some_and(|document| document != part.document)
        {
            self.spill(runs)?;
            self.cut = None;
        }
        self.n_characters += n_characters(text);
        let mut from = 0;
        while from < text.len() {
            from = preparation
                .splitter
                .split_block(text, from, &mut self.boundaries)
                .map_err(|error| Error::from(error).moved_by(part.offset))?;
            self.table.ask_for_room(&self.boundaries)?;
            self.n_pieces += self.table.add_block(text, &self.boundaries, weight, part.position);
            if let Some(documents) = &mut self.documents {
                documents.ask_for_room(&self.boundaries)?;
                documents.add_document(text, &self.boundaries, part.document);
            }
            if let Some(runs) = runs
                && self.table.is_over_budget()
            {
                self.cut = self.documents.is_some().then_some(part.document);
                self.spill(runs)?;
            }
        }
        Ok(())
    }

    /// Moves the contents of the tables to runs. Threads write in parallel, but merge one after the other.
    ///
    /// # Errors
    /// If a file cannot be written or read.
    fn spill(&mut self, runs: &Mutex<Runs>) -> Result<()> {
        if self.table.is_empty() {
            return Ok(());
        }
        let folder = lock(runs).folder().to_owned();
        let run = self.table.write_run(&folder, Total::in_run)?;
        lock(runs).push(run)?;
        let Some(documents) = &mut self.documents else { return Ok(()) };
        let cut = self.cut.map(|document| Ok::<_, Error>((document, group_of(document)?)));
        let cut = cut.transpose()?;
        let run = documents.write_run(&folder, |total| total.documents_in_run(cut))?;
        lock(runs).push(run)
    }
}

/// The group of a document that is cut. Documents are numbered from 1; groups 0 and 1 are counts and whole documents.
fn group_of(document: u64) -> Result<u32> {
    let problem = "with a memory limit, 4,294,967,294 documents are the most";
    u32::try_from(document + 1).map_err(|_| Error::option("min_sources", problem))
}

fn lock(runs: &Mutex<Runs>) -> MutexGuard<'_, Runs> {
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Counts every stretch that `fill` fills; `fill` returns whether there may be more.
///
/// # Errors
/// The first error in the text, whatever the number of threads.
fn count_all(
    workers: &mut [Worker],
    rules: Rules<'_>,
    mut fill: impl FnMut(&mut Stretch) -> Result<bool>,
) -> Result<()> {
    let mut first = Stretch::default();
    let mut has_more = fill(&mut first)?;
    let n_workers = if has_more { workers.len() } else { 1 };
    let (mut first, mut read_error) = (Some(first), None);
    let (spares, is_alone) = (RefCell::new(Vec::new()), Cell::new(false));
    let next = || {
        let stretch = first.take().or_else(|| {
            let mut stretch = spares.borrow_mut().pop().unwrap_or_default();
            let filled = has_more.then(|| fill(&mut stretch)).transpose();
            // Text that was read before is counted first, because its errors come before this one.
            let filled = filled.unwrap_or_else(|error| {
                read_error = Some(error);
                None
            });
            has_more = filled == Some(true);
            filled.map(|_| stretch)
        });
        is_alone.set(stretch.as_ref().is_some_and(|stretch| rules.are_strict_about(stretch)));
        Ok(stretch)
    };
    let take = |(stretch, counted): (Stretch, Result<()>)| {
        let is_kept = rules.runs.is_none() || stretch.buffer.capacity() <= 2 * MAX_STRETCH_LEN;
        spares.borrow_mut().extend(is_kept.then_some(stretch));
        counted
    };
    let count = |stretch: Stretch, worker: &mut Worker| {
        let counted = worker.count(rules, &stretch);
        (stretch, counted)
    };
    let workers = &mut workers[..n_workers];
    in_order_within((N_STRETCHES - 1, || !is_alone.get()), workers, next, count, take)?;
    read_error.map_or(Ok(()), Err)
}

impl Rules<'_> {
    /// Whether a stretch has so much text without a place to cut it that no second one should be in memory beside it.
    fn are_strict_about(self, stretch: &Stretch) -> bool {
        self.runs.is_some() && stretch.buffer.len() > MAX_STRETCH_LEN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::Dialect;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    impl CorpusCounter {
        /// Writes tables to disk as often as possible.
        pub(in crate::count) fn spill_always(&mut self, folder: &Path) {
            self.runs = Some(Mutex::new(Runs::new(folder, Order::Hash, 4000)));
            self.workers.iter_mut().for_each(|worker| worker.table.set_budget(0));
        }
    }

    fn counter(separator: Option<&str>) -> CorpusCounter {
        let dialect = Dialect::named("byte-stream").unwrap();
        let preparation = dialect.preparation(&["b".to_owned()]).unwrap();
        let separator = separator.map(str::to_owned);
        CorpusCounter::new(Preparation { separator, ..preparation }, 2).unwrap()
    }

    fn contents(counter: CorpusCounter) -> BTreeMap<Vec<u8>, i64> {
        let (counts, _) = counter.finish().unwrap();
        counts.iter().map(|(piece, count, _)| (piece.to_vec(), count)).collect()
    }

    proptest! {
        #[test]
        fn a_separator_cuts_texts_and_leaves_documents_whole(
            texts in prop::collection::vec("[ab|]{0,6}", 0..6),
            documents in prop::collection::vec("[ab|]{0,6}", 0..6),
        ) {
            let (texts, documents): (Vec<_>, Vec<_>) = (
                texts.iter().map(String::as_bytes).collect(),
                documents.iter().map(String::as_bytes).collect(),
            );
            let mut found = counter(Some("|"));
            found.count_texts(&texts).unwrap();
            found.count_documents(&documents).unwrap();
            let mut expected = counter(None);
            let cut: Vec<_> = texts.iter().flat_map(|text| text.split(|&byte| byte == b'|')).collect();
            expected.count_texts(&[cut, documents].concat()).unwrap();
            prop_assert_eq!(contents(found), contents(expected));
        }
    }

    /// A counter with a limit, and the longest text without a place to cut it.
    fn limited(dialect: &str, n_threads: usize) -> (CorpusCounter, usize) {
        let preparation = Dialect::named(dialect).unwrap().preparation(&[]).unwrap();
        let mut counter = CorpusCounter::new(preparation, n_threads).unwrap();
        let limit = counter.least_memory(false);
        counter.set_memory_limit(limit, 1, &std::env::temp_dir(), false).unwrap();
        (counter, longest(limit))
    }

    #[test]
    fn text_without_a_place_to_cut_it_is_an_error_that_says_where() {
        for (dialect, n_threads) in [("gpt2", 1), ("gpt2", 2), ("sentencepiece", 2)] {
            let (mut counter, most) = limited(dialect, n_threads);
            let text = format!("{}{}", "low lower ".repeat(100_000), "a".repeat(3 * most));
            let error = counter.count_reader(text.as_bytes(), |_| Ok(())).unwrap_err();
            let crate::ErrorKind::PartTooLong { offset, most: said, .. } = error.kind() else {
                panic!("{error}");
            };
            assert_eq!(*said, most);
            assert!((999_000..=1_000_000).contains(offset), "{dialect}: {offset}");
        }
    }

    #[test]
    fn text_without_a_place_to_cut_it_that_fits_is_counted_like_without_a_limit() {
        let (mut counter, most) = limited("gpt2", 2);
        let long: Vec<_> =
            (0..6).map(|n| "abcdef"[n..=n].repeat(most - 100_000 * (n + 1))).collect();
        let text = format!("{} low lower ", long.join(" low lower ")).repeat(2);
        counter.count_reader(text.as_bytes(), |_| Ok(())).unwrap();
        let preparation = Dialect::named("gpt2").unwrap().preparation(&[]).unwrap();
        let mut free = CorpusCounter::new(preparation, 1).unwrap();
        free.count_reader(text.as_bytes(), |_| Ok(())).unwrap();
        // Training on this text would need more memory than the limit.
        counter.limit = None;
        let [limited, free] =
            [counter, free].map(|counter| with_firsts(&counter.finish().unwrap().0));
        assert!(limited == free);
    }

    #[test]
    fn pieces_that_take_more_to_learn_from_than_the_limit_are_an_error() {
        let (mut counter, _) = limited("gpt2", 1);
        let n_pieces = counter.limit.unwrap() / 90;
        let letters = |n: usize| {
            (0..7).map(move |place| b'a' + u8::try_from((n >> (4 * place)) & 15).unwrap())
        };
        let text: Vec<u8> =
            (0..n_pieces).flat_map(|n| [b' '].into_iter().chain(letters(n))).collect();
        counter.count_reader(text.as_slice(), |_| Ok(())).unwrap();
        let (fewer, _) = limited("gpt2", 1);
        assert!(fewer.finish().is_ok());
        let error = counter.finish().unwrap_err().to_string();
        assert!(error.starts_with("memory_limit: to learn from"), "{error}");
    }

    #[test]
    fn the_least_limit_is_the_smallest_that_is_taken() {
        for (n_threads, reads_blocks) in [(1, false), (2, true), (8, false)] {
            let preparation = Dialect::named("gpt2").unwrap().preparation(&[]).unwrap();
            let mut counter = CorpusCounter::new(preparation, n_threads).unwrap();
            let least = counter.least_memory(reads_blocks);
            let folder = std::env::temp_dir();
            for n_corpora in [1, 3] {
                let least = n_corpora * least;
                let mut set =
                    |limit| counter.set_memory_limit(limit, n_corpora, &folder, reads_blocks);
                assert!(set(least).is_ok());
                let error = set(least - (n_corpora << 20)).unwrap_err();
                assert!(error.to_string().contains(&format!("at least {least}")));
            }
        }
    }

    fn gpt2() -> Preparation {
        Dialect::named("gpt2").unwrap().preparation(&["<s>".to_owned()]).unwrap()
    }

    fn with_firsts(counts: &PieceCounts) -> Vec<(Vec<u8>, i64, Option<First>)> {
        counts.iter().map(|(piece, count, first)| (piece.to_vec(), count, first)).collect()
    }

    proptest! {
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
                let mut counter = CorpusCounter::new(gpt2(), n_threads).unwrap();
                if is_limited {
                    counter.spill_always(folder.path());
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
            prop_assert_eq!(with_firsts(&limited.0), with_firsts(&free.0));
            prop_assert!(free.0.is_empty() || free.0.knows_first() == with_first);
            prop_assert_eq!(limited.1, free.1);
            prop_assert_eq!(limited.2, free.2);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }

    /// The definition: each document is counted alone.
    fn in_documents(documents: &[&str], min_documents: i64) -> BTreeMap<Vec<u8>, i64> {
        let mut sums: BTreeMap<Vec<u8>, (i64, i64)> = BTreeMap::new();
        for document in documents {
            let mut counter = CorpusCounter::new(gpt2(), 1).unwrap();
            counter.count_documents(&[document.as_bytes()]).unwrap();
            for (piece, count) in contents(counter) {
                let sum = sums.entry(piece).or_default();
                *sum = (sum.0 + count, sum.1 + 1);
            }
        }
        let kept = sums.into_iter().filter(|(_, (_, n_documents))| *n_documents >= min_documents);
        kept.map(|(piece, (count, _))| (piece, count)).collect()
    }

    proptest! {
        #[test]
        fn pieces_of_few_documents_are_left_out_however_they_are_read(
            texts in prop::collection::vec("([ab]{1,2}|<s>|[|]| |é{9}){0,30}", 0..12),
            repeats in prop_oneof![Just(1), Just(20_000_usize)],
            (n_threads, min_documents, weight) in (1..4_usize, 1..7_i64, 1..3_u64),
            (first_way, batch_len) in (0..3_usize, 1..5_usize),
            // The second is that of a table without long pieces: not every block is written to a run.
            budget in prop_oneof![Just(None), Just(Some(0)), Just(Some(72 << 12))],
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut texts = texts;
            let long = texts.iter_mut().take(2);
            long.for_each(|text| *text = text.replace(['<', '|'], " ").repeat(repeats) + text);
            let separator = Some("|".to_owned());
            let counter = CorpusCounter::new(Preparation { separator, ..gpt2() }, n_threads).unwrap();
            let mut counter = counter.with_min_documents(min_documents).unwrap();
            if let Some(budget) = budget {
                counter.spill_always(folder.path());
                counter.workers.iter_mut().for_each(|worker| worker.table.set_budget(budget));
            }
            counter.set_weight(weight).unwrap();
            let mut documents: Vec<&str> = Vec::new();
            for (place, batch) in (first_way..).zip(texts.chunks(batch_len)) {
                let slices: Vec<&[u8]> = batch.iter().map(String::as_bytes).collect();
                match place % 3 {
                    0 => counter.count_texts(&slices).unwrap(),
                    1 => counter.count_documents(&slices).unwrap(),
                    _ => slices.iter().for_each(|text| counter.count_reader(*text, |_| Ok(())).unwrap()),
                }
                let separator = if place % 3 == 1 { "\n" } else { "|" };
                documents.extend(batch.iter().flat_map(|text| text.split(separator)));
            }
            let weight = i64::try_from(weight).unwrap();
            let mut expected = in_documents(&documents, min_documents);
            expected.values_mut().for_each(|count| *count *= weight);
            let all: i64 = in_documents(&documents, 1).values().sum::<i64>() * weight;
            let (counts, dropped, _) = counter.finish_common(0, false).unwrap();
            let found: BTreeMap<_, _> =
                counts.iter().map(|(piece, count, _)| (piece.to_vec(), count)).collect();
            prop_assert_eq!(dropped.n_occurrences + found.values().sum::<i64>(), all);
            prop_assert_eq!(found, expected);
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
            let mut counter = CorpusCounter::new(gpt2(), 2).unwrap();
            if let Some(limit) = limit {
                counter.set_memory_limit(limit, 1, folder.path(), false).unwrap();
            }
            counter.count_reader(text.as_bytes(), |_| Ok(())).unwrap();
            if limit.is_some() {
                assert!(std::fs::read_dir(folder.path()).unwrap().count() > 0);
            }
            with_firsts(&counter.finish().unwrap().0)
        };
        let least = CorpusCounter::new(gpt2(), 2).unwrap().least_memory(false);
        assert!(counted(Some(least)) == counted(None));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_piece_longer_than_a_stretch_is_one_wherever_its_characters_lie() {
        let characters = ["a", "é", "語", "😀"];
        for (character, shift) in (0..16).map(|n| (characters[n / 4], n % 4)) {
            let long = format!(" {}", character.repeat(700_000 / character.len()));
            let first = "?".repeat(shift + 1);
            let mut counter = CorpusCounter::new(gpt2(), 2).unwrap();
            counter.count_reader(format!("{first}{long}").as_bytes(), |_| Ok(())).unwrap();
            assert_eq!(
                contents(counter),
                [first, long].map(|piece| (piece.into_bytes(), 1)).into()
            );
        }
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let mut counter = CorpusCounter::new(gpt2(), 1).unwrap();
        let folder = std::env::temp_dir().join("no such folder");
        assert!(counter.set_memory_limit(1 << 30, 1, &folder, false).is_err());
    }
}
