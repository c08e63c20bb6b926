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
    specials: Option<AhoCorasick>,
    /// Length of the longest special token, in bytes.
    max_special_len: usize,
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

/// A stretch of normalized text whose pieces can be counted on their own.
struct Job<'t> {
    text: &'t [u8],
    /// The position of its first byte.
    position: u64,
}

impl CorpusCounter {
    /// A counter that works with `n_threads` threads.
    pub fn new(preparation: Preparation, n_threads: usize) -> Result<Self> {
        let tokens = &preparation.special_tokens;
        let specials = match tokens.is_empty() {
            true => None,
            false => Some(automaton(tokens)?),
        };
        Ok(Self {
            max_special_len: tokens.iter().map(String::len).max().unwrap_or(0),
            report: CorpusReport { n_special: vec![0; tokens.len()], ..CorpusReport::default() },
            tables: (0..n_threads.max(1)).map(|_| CountTable::new()).collect(),
            source_starts: Vec::new(),
            in_batches: false,
            position: 0,
            specials,
            preparation,
        })
    }

    /// Counts a batch of whole texts. Batches that follow each other are one source.
    ///
    /// # Errors
    /// Where a text is not UTF-8 but has to be; the offset is that within the text.
    pub fn count_texts(&mut self, texts: &[&[u8]]) -> Result<()> {
        let mut prepared = Vec::new();
        if !self.in_batches {
            self.begin_source(true);
        }
        self.report.n_texts += texts.len() as u64;
        for text in texts {
            self.check_utf8(text, 0, true)?;
            self.report.n_bytes += text.len() as u64;
            let segments = self.segments(text);
            let n_segments = segments.len();
            for (place, range) in segments.into_iter().enumerate() {
                let segment = Segment {
                    is_first: range.start == 0,
                    text: &text[range],
                    is_last: place + 1 == n_segments,
                };
                let normalized = self.preparation.normalizer.normalize(segment);
                let position = self.position;
                self.position += normalized.len() as u64;
                self.report.n_characters += n_characters(&normalized);
                prepared.push((normalized, position));
            }
        }
        let jobs = prepared
            .iter()
            .flat_map(|(text, position)| cut(&self.preparation.splitter, text, *position));
        let jobs: Vec<_> = jobs.collect();
        run(&mut self.tables, &self.preparation.splitter, &jobs)
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
        // A special token that begins before `decided` lies in `raw` whole, and so does any longer
        // one that begins at the same place.
        let margin = if at_end { 0 } else { self.max_special_len + MAX_CHARACTER_LEN };
        let decided = raw.len().saturating_sub(margin);
        let mut start = 0;
        for (range, token) in self.find_specials(raw) {
            if range.start >= decided {
                break;
            }
            self.report.n_special[token] += 1;
            self.check_utf8(&raw[start..range.start], offset + start as u64, true)?;
            self.push_pending(&raw[start..range.start], true, pending)?;
            start = range.end;
        }
        let end = if at_end { raw.len() } else { self.raw_cut(raw, start, decided) };
        self.check_utf8(&raw[start..end], offset + start as u64, at_end)?;
        self.push_pending(&raw[start..end], at_end, pending)?;
        Ok(end)
    }

    /// The last place before `limit` where the text can be normalized in two parts.
    fn raw_cut(&self, raw: &[u8], start: usize, limit: usize) -> usize {
        let can_cut = |&place: &usize| self.preparation.normalizer.can_cut_before(raw[place]);
        (start..limit).rev().find(can_cut).unwrap_or(start)
    }

    /// Normalizes a part of a segment and counts as much as can be cut off.
    fn push_pending(&mut self, raw: &[u8], ends: bool, pending: &mut Pending) -> Result<()> {
        let segment = Segment {
            text: raw,
            is_first: !pending.segment_begun && !pending.text_begun,
            is_last: false,
        };
        let normalized = match pending.segment_begun {
            true => self.preparation.normalizer.normalize_rest(segment),
            false => self.preparation.normalizer.normalize(segment),
        };
        pending.text.extend_from_slice(&normalized);
        self.report.n_characters += n_characters(&normalized);
        pending.segment_begun |= !raw.is_empty();
        let splitter = &self.preparation.splitter;
        let end = if ends {
            pending.text.len()
        } else {
            last_safe_cut(splitter, &pending.text).unwrap_or(0)
        };
        let jobs: Vec<_> = cut(splitter, &pending.text[..end], self.position).collect();
        run(&mut self.tables, splitter, &jobs)?;
        self.position += end as u64;
        pending.text.drain(..end);
        if ends {
            pending.text_begun = true;
            pending.segment_begun = false;
        }
        Ok(())
    }

    /// The segments between the special tokens of a whole text, which are counted here.
    fn segments(&mut self, text: &[u8]) -> Vec<std::ops::Range<usize>> {
        let mut segments = Vec::new();
        let mut start = 0;
        for (range, token) in self.find_specials(text) {
            self.report.n_special[token] += 1;
            segments.push(start..range.start);
            start = range.end;
        }
        segments.push(start..text.len());
        segments.retain(|segment| !segment.is_empty());
        segments
    }

    fn find_specials(&self, text: &[u8]) -> Vec<(std::ops::Range<usize>, usize)> {
        let matches = self.specials.iter().flat_map(|specials| specials.find_iter(text));
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
    text_begun: bool,
}

fn automaton(tokens: &[String]) -> Result<AhoCorasick> {
    if tokens.iter().any(String::is_empty) {
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
