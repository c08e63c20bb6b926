//! Texts and readers to piece counts: in parallel, in one pass, in bounded memory.
//!
//! A text is cut at its special tokens, normalized, and then cut into jobs at places where a cut
//! changes no piece ([`Splitter::safe_cut`]); threads take jobs one after the other, each filling a
//! table of its own. A reader is taken block by block, and what follows the last safe cut waits for
//! the next block. So memory is bounded by the distinct pieces, a few blocks, and the longest stretch
//! of text without a safe cut. Threads live as long as one block: nothing survives a `fork`.
//!
//! The result does not depend on the number of threads: counts add up, and of all first positions
//! the smallest is kept.

use std::io::Read;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, MatchKind};

use super::table::CountTable;
use super::{First, PieceCounts, n_characters};
use crate::error::{Error, ErrorKind, Result};
use crate::normalize::Normalizer;
use crate::split::{Segment, Splitter};

/// How much of a reader is taken at once, in bytes.
const BLOCK_LEN: usize = 8 << 20;
/// How much text a thread takes at once, in bytes.
const JOB_LEN: usize = 256 << 10;
/// Longest UTF-8 character, in bytes.
const MAX_CHARACTER_LEN: usize = 4;

/// What happens to text before its pieces are counted.
#[derive(Clone, Debug)]
pub struct Preparation {
    /// Applied to each segment between special tokens.
    pub normalizer: Normalizer,
    /// Cuts normalized segments into pieces.
    pub splitter: Splitter,
    /// Boundaries in the text that are not counted. The longest at a place is taken.
    pub special_tokens: Vec<String>,
    /// Stands between texts, if they lie in one source; not counted either.
    pub separator: Option<String>,
    /// Whether text that is not UTF-8 is an error.
    pub requires_utf8: bool,
}

/// What was read, besides the pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CorpusReport {
    /// Number of texts.
    pub n_texts: u64,
    /// Length of all texts as they were read, in bytes.
    pub n_bytes: u64,
    /// Length of all texts after normalization, in characters, special tokens left out.
    pub n_characters: i64,
    /// For each special token of the preparation: how often it stood in the texts.
    pub n_special: Vec<u64>,
}

/// Counts the pieces of one text after the other.
pub struct CorpusCounter {
    preparation: Preparation,
    /// Finds special tokens, and the separator behind them.
    boundaries: Option<AhoCorasick>,
    /// Length of the longest of them, in bytes.
    max_boundary_len: usize,
    /// One table for each thread.
    tables: Vec<CountTable>,
    /// For each source, the position at which it begins. Positions grow along the corpus.
    source_starts: Vec<u64>,
    /// Whether the last source is a series of batches, which the next batch continues.
    in_batches: bool,
    /// The position of the next piece.
    position: u64,
    report: CorpusReport,
}

/// Normalized text that ends where a segment ends or a cut changes no piece.
struct Ready {
    text: Vec<u8>,
    /// The position of its first byte.
    position: u64,
}

/// A stretch of normalized text whose pieces can be counted on their own.
struct Job<'t> {
    text: &'t [u8],
    /// The position of its first byte.
    position: u64,
}

impl CorpusCounter {
    /// A counter that works with `n_threads` threads.
    pub fn new(preparation: Preparation, n_threads: usize) -> Result<Self> {
        let Preparation { special_tokens, separator, .. } = &preparation;
        let texts: Vec<_> = special_tokens.iter().chain(separator).collect();
        let boundaries = match texts.is_empty() {
            true => None,
            false => Some(automaton(&texts)?),
        };
        Ok(Self {
            max_boundary_len: texts.iter().map(|text| text.len()).max().unwrap_or(0),
            report: CorpusReport {
                n_special: vec![0; special_tokens.len()],
                ..CorpusReport::default()
            },
            tables: (0..n_threads.max(1)).map(|_| CountTable::new()).collect(),
            source_starts: Vec::new(),
            in_batches: false,
            position: 0,
            boundaries,
            preparation,
        })
    }

    /// Counts a batch of whole texts. Batches that follow each other are one source.
    ///
    /// # Errors
    /// Where a text is not UTF-8 but has to be; the offset is that within the text.
    pub fn count_texts(&mut self, texts: &[&[u8]]) -> Result<()> {
        if !self.in_batches {
            self.begin_source(true);
        }
        let mut pending = Pending::default();
        for text in texts {
            self.report.n_texts += 1;
            self.report.n_bytes += text.len() as u64;
            pending.special_before = false;
            self.take_raw(text, 0, true, &mut pending)?;
        }
        self.count(&mut pending)
    }

    /// Counts one text, block by block. `progress` is called with the bytes read so far of this text.
    pub fn count_reader(
        &mut self,
        mut reader: impl Read,
        mut progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<()> {
        self.begin_source(false);
        self.report.n_texts += 1;
        let mut raw = Vec::new();
        let mut pending = Pending::default();
        let mut n_read = 0;
        let mut wanted = BLOCK_LEN;
        loop {
            let n_new =
                reader.by_ref().take((wanted - raw.len()) as u64).read_to_end(&mut raw)? as u64;
            let at_end = raw.len() < wanted;
            n_read += n_new;
            self.report.n_bytes += n_new;
            let n_taken = self.take_raw(&raw, n_read - raw.len() as u64, at_end, &mut pending)?;
            self.count(&mut pending)?;
            raw.drain(..n_taken);
            progress(n_read)?;
            if at_end {
                return Ok(());
            }
            wanted = BLOCK_LEN.max(raw.len() * 2);
        }
    }

    /// What was counted: the pieces and a report.
    pub fn finish(mut self) -> Result<(PieceCounts, CorpusReport)> {
        let mut total = self.tables.pop().unwrap_or_else(CountTable::new);
        self.tables.iter().for_each(|table| total.merge(table));
        let mut counts = PieceCounts::new();
        total.for_each(|piece, count, position| {
            counts.push_distinct(piece, count, Some(self.first(position)?));
            Ok(())
        })?;
        counts.sort();
        Ok((counts, self.report))
    }

    fn begin_source(&mut self, in_batches: bool) {
        self.source_starts.push(self.position);
        self.in_batches = in_batches;
    }

    /// The source and offset of a position.
    fn first(&self, position: u64) -> Result<First> {
        let source = self.source_starts.partition_point(|&start| start <= position) - 1;
        let offset = position - self.source_starts[source];
        let source = u32::try_from(source)
            .map_err(|_| Error::option("sources", "more than 4,294,967,295 sources"))?;
        Ok(First { source, offset })
    }

    /// Takes what can be decided of `raw` and returns how much that is.
    fn take_raw(
        &mut self,
        raw: &[u8],
        offset: u64,
        at_end: bool,
        pending: &mut Pending,
    ) -> Result<usize> {
        // A boundary that begins before `decided` lies in `raw` whole, and so does any longer one that
        // begins at the same place.
        let margin = if at_end { 0 } else { self.max_boundary_len + MAX_CHARACTER_LEN };
        let decided = raw.len().saturating_sub(margin);
        let mut start = 0;
        for (range, boundary) in self.find_boundaries(raw) {
            if range.start >= decided {
                break;
            }
            self.check_utf8(&raw[start..range.start], offset + start as u64, true)?;
            self.extend_pending(&raw[start..range.start], true, pending)?;
            self.note_boundary(boundary, pending);
            start = range.end;
        }
        let end = if at_end { raw.len() } else { self.raw_cut(raw, start, decided) };
        self.check_utf8(&raw[start..end], offset + start as u64, at_end)?;
        self.extend_pending(&raw[start..end], at_end, pending)?;
        Ok(end)
    }

    /// Counts a special token; a separator begins the next text.
    fn note_boundary(&mut self, boundary: usize, pending: &mut Pending) {
        let Preparation { special_tokens, separator, .. } = &self.preparation;
        let special = special_tokens.get(boundary);
        if special.is_some() {
            self.report.n_special[boundary] += 1;
        }
        let is_separator = special.is_none() || special == separator.as_ref();
        if is_separator {
            self.report.n_texts += 1;
        }
        pending.special_before = !is_separator;
    }

    /// The last place before `limit` where the text can be normalized in two parts.
    fn raw_cut(&self, raw: &[u8], start: usize, limit: usize) -> usize {
        let can_cut = |&place: &usize| self.preparation.normalizer.can_cut_before(raw[place]);
        (start..limit).rev().find(can_cut).unwrap_or(start)
    }

    /// Normalizes a part of a segment; as much of it as can be cut off is ready.
    fn extend_pending(&mut self, raw: &[u8], ends: bool, pending: &mut Pending) -> Result<()> {
        let segment = Segment {
            text: raw,
            is_first: !pending.segment_begun && !pending.special_before,
            is_last: false,
        };
        let normalized = match pending.segment_begun {
            true => self.preparation.normalizer.normalize_rest(segment)?,
            false => self.preparation.normalizer.normalize(segment)?,
        };
        pending.text.extend_from_slice(&normalized);
        pending.segment_begun = !ends && (pending.segment_begun || !raw.is_empty());
        self.report.n_characters += n_characters(&normalized);
        let end = match ends {
            true => pending.text.len(),
            false => last_safe_cut(&self.preparation.splitter, &pending.text).unwrap_or(0),
        };
        let rest = pending.text.split_off(end);
        let text = std::mem::replace(&mut pending.text, rest);
        if !text.is_empty() {
            pending.ready.push(Ready { text, position: self.position });
            self.position += end as u64;
        }
        Ok(())
    }

    /// Counts the pieces of what is ready, on all threads.
    fn count(&mut self, pending: &mut Pending) -> Result<()> {
        let splitter = &self.preparation.splitter;
        let ready = std::mem::take(&mut pending.ready);
        let jobs = ready.iter().flat_map(|ready| cut(splitter, &ready.text, ready.position));
        run(&mut self.tables, splitter, &jobs.collect::<Vec<_>>())
    }

    fn find_boundaries(&self, text: &[u8]) -> Vec<(std::ops::Range<usize>, usize)> {
        let matches = self.boundaries.iter().flat_map(|boundaries| boundaries.find_iter(text));
        matches.map(|found| (found.range(), found.pattern().as_usize())).collect()
    }

    /// Refuses text that is not UTF-8 where the dialect needs it. An incomplete character at the
    /// end is an error only where the text is whole.
    fn check_utf8(&self, text: &[u8], offset: u64, is_whole: bool) -> Result<()> {
        if !self.preparation.requires_utf8 {
            return Ok(());
        }
        match std::str::from_utf8(text) {
            Err(error) if is_whole || error.error_len().is_some() => {
                Err(ErrorKind::NotUtf8 { offset: offset + error.valid_up_to() as u64 }.into())
            }
            _ => Ok(()),
        }
    }
}

/// Normalized text that waits for a place to cut.
#[derive(Default)]
struct Pending {
    text: Vec<u8>,
    /// Whether a part of the segment has been normalized already.
    segment_begun: bool,
    /// Whether a special token stood before.
    special_before: bool,
    /// What can be counted.
    ready: Vec<Ready>,
}

fn automaton(tokens: &[&String]) -> Result<AhoCorasick> {
    if tokens.iter().any(|token| token.is_empty()) {
        return Err(Error::option("special_tokens, separator", "an empty text stands everywhere"));
    }
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostLongest)
        .build(tokens)
        .map_err(|error| Error::option("special_tokens", error.to_string()))
}

/// Cuts a text into jobs at safe places.
fn cut<'t>(splitter: &'t Splitter, text: &'t [u8], position: u64) -> impl Iterator<Item = Job<'t>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let near = start + JOB_LEN;
        let end = if near < text.len() { splitter.safe_cut(text, near) } else { None };
        let end = end.unwrap_or(text.len());
        let job = Job { text: &text[start..end], position: position + start as u64 };
        start = end;
        Some(job)
    })
}

/// A safe cut close to the end of a text: looked for in its last 64 KiB, then further back.
fn last_safe_cut(splitter: &Splitter, text: &[u8]) -> Option<usize> {
    let mut distance = 64 << 10;
    while distance < text.len() {
        let cut = splitter.safe_cut(text, text.len() - distance);
        if cut.is_some_and(|cut| cut < text.len()) {
            return cut;
        }
        distance *= 8;
    }
    None
}

/// Runs jobs on as many threads as there are tables, and on no more than there are jobs.
fn run(tables: &mut [CountTable], splitter: &Splitter, jobs: &[Job<'_>]) -> Result<()> {
    let next_job = AtomicUsize::new(0);
    let work = |table: &mut CountTable| {
        while let Some(job) = jobs.get(next_job.fetch_add(1, Ordering::Relaxed)) {
            splitter.for_each_piece(job.text, |piece| {
                table.add(job.text, piece.start, piece.end, job.position + piece.start as u64);
                Ok(())
            })?;
        }
        Ok(())
    };
    if let ([table, ..], 0..=1) | ([table], _) = (&mut *tables, jobs.len()) {
        return work(table);
    }
    std::thread::scope(|scope| {
        let tables = tables.iter_mut().take(jobs.len());
        let threads: Vec<_> = tables.map(|table| scope.spawn(|| work(table))).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}
