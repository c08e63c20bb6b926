//! A stream of text to a stream of numbers, its ids, in bounded memory.
//!
//! The calling thread reads, cuts what it read at the last place where a cut changes nothing (`cutting`), and writes;
//! other threads encode what lies between two cuts and make numbers of the ids. Memory is that of a few stretches for
//! each thread, whatever the length of the stream. Where a stretch has no place to cut, reading goes on until there is
//! one: the ids are right, and memory grows with the longest such part, which is the whole text for a tokenizer that can
//! cut nowhere. Such parts have a limit. Costs what encoding costs, and a copy of what is carried from one stretch to the
//! next.

use std::cell::{Cell, RefCell};
use std::io::{Read, Seek, SeekFrom, Write};

use super::call::Call;
use super::feed::{self, Feed, Stretch};
use super::worker::Worker;
use super::{EncodeOptions, Tokenizer};
use crate::error::{Error, Result};
use crate::memory::reserve_exact;
use crate::parallel::in_order::{N_JOBS_PER_THREAD, in_order_within};
use crate::vocabulary::TokenId;

/// What all stretches that are under way may take, each with its ids as numbers and one id for each byte.
const MEMORY: usize = 96 << 20;

/// How long a part without a place to cut may be, in bytes.
const MAX_UNCUT: usize = 256 << 20;

/// What to do about a longer one.
const WAY_OUT: &str =
    "cut the text into documents, or encode it as one in memory, with encode_to_numpy";

/// How many ids a thread keeps memory for from stretch to stretch.
const MAX_KEPT_IDS: usize = 1 << 20;

/// How a stream is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    /// How much is encoded at once, in bytes; chosen if not given, and not more than all stretches may take.
    pub stretch_len: Option<usize>,
    /// How long a part without a place to cut may be, in bytes; 256 MiB if not given.
    pub max_uncut: Option<usize>,
}

/// How ids are written. All numbers are little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdFormat {
    /// Whether a number has four bytes, or two.
    pub is_wide: bool,
    /// Whether the header of a `NumPy` file stands before them.
    pub has_header: bool,
}

/// What was encoded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// The number of ids.
    pub n_ids: u64,
    /// The number of bytes of text.
    pub n_bytes: u64,
}

impl Tokenizer {
    /// Encodes all that `reader` gives as one text, and writes the ids to `writer`; `progress` is told the bytes that
    /// are encoded by now, and may end the work by an error.
    ///
    /// The header of a `NumPy` file is written again at the end, when the length is known. Options about the template,
    /// lengths and dropout do not count.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`], of the first place that has one; where reading or writing fails; where a part
    /// of the text that cannot be cut is too long; and where two bytes do not hold all ids of the vocabulary.
    #[expect(clippy::too_many_arguments, reason = "a stream in, a stream out, and how")]
    pub fn encode_stream(
        &self,
        reader: impl Read,
        mut writer: impl Write + Seek,
        format: IdFormat,
        options: EncodeOptions<'_>,
        n_threads: usize,
        reading: Reading,
        mut progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<Written> {
        if !format.is_wide && self.parts.vocabulary.len() > 1 << 16 {
            let problem = format!(
                "the vocabulary has {} ids, and uint16 holds 65536",
                self.parts.vocabulary.len()
            );
            return Err(Error::option("dtype", problem));
        }
        let call = self.call(EncodeOptions { dropout: None, ..options })?;
        let n_bytes_each = MEMORY / (n_threads.max(1) * N_JOBS_PER_THREAD * 5);
        let stretch_len =
            reading.stretch_len.unwrap_or(n_bytes_each.min(feed::STRETCH_LEN)).clamp(1, MEMORY);
        if format.has_header {
            writer.write_all(&header(format, 0))?;
        }
        let longest = reading.max_uncut.unwrap_or(MAX_UNCUT);
        let last_cut = |text: &[u8], range| call.tokenizer.last_cut(text, range);
        let mut feed = Feed::new(last_cut, reader, stretch_len, (longest, WAY_OUT));
        let emptied = RefCell::new(Vec::<Job>::new());
        // What is out, in bytes: beside a stretch that is much longer than others there is no second one.
        let (n_out, most_out) = (Cell::new(0), n_threads.max(1) * N_JOBS_PER_THREAD * stretch_len);
        let next = || {
            let Job { stretch, numbers } = emptied.borrow_mut().pop().unwrap_or_default();
            let stretch = feed.next(stretch)?;
            n_out.set(n_out.get() + stretch.as_ref().map_or(0, Stretch::len));
            Ok(stretch.map(|stretch| Job { stretch, numbers }))
        };
        let encode = |job, state: &mut State<'_>| encode_job(&call, format, job, state);
        let mut written = Written::default();
        let take = |done: Result<Job>| {
            let job = done?;
            writer.write_all(&job.numbers)?;
            written.n_ids += (job.numbers.len() / width(format)) as u64;
            written.n_bytes += job.stretch.len() as u64;
            n_out.set(n_out.get() - job.stretch.len());
            // What was much longer than others may be the last of its kind.
            if job.stretch.room() <= 4 * stretch_len {
                emptied.borrow_mut().push(job);
            }
            progress(written.n_bytes)
        };
        call.tokenizer.with_workers(n_threads.max(1), |workers| {
            let state = |worker| State { worker, ids: Vec::new() };
            let mut states: Vec<_> =
                workers.iter_mut().map(|worker| state(&mut **worker)).collect();
            let within = (N_JOBS_PER_THREAD, || n_out.get() < most_out);
            in_order_within(within, &mut states, next, encode, take)
        })?;
        if format.has_header {
            writer.seek(SeekFrom::Start(0))?;
            writer.write_all(&header(format, written.n_ids))?;
        }
        writer.flush()?;
        Ok(written)
    }
}

/// What a thread has to itself.
struct State<'w> {
    worker: &'w mut Worker,
    ids: Vec<TokenId>,
}

/// A stretch of the text, and what becomes of it.
#[derive(Default)]
struct Job {
    stretch: Stretch,
    numbers: Vec<u8>,
}

fn encode_job(
    call: &Call<'_>,
    format: IdFormat,
    mut job: Job,
    state: &mut State<'_>,
) -> Result<Job> {
    state.ids.clear();
    let result = call.encode_stretch(job.stretch.segment(), &mut state.ids, state.worker);
    result.map_err(|error| error.moved_by(job.stretch.offset()))?;
    job.numbers.clear();
    reserve_exact(&mut job.numbers, state.ids.len() * width(format))?;
    if format.is_wide {
        job.numbers.extend(state.ids.iter().flat_map(|id| id.to_le_bytes()));
    } else {
        // The vocabulary has no larger id.
        let narrow = |&id: &TokenId| u16::try_from(id).unwrap_or(u16::MAX).to_le_bytes();
        job.numbers.extend(state.ids.iter().flat_map(narrow));
    }
    state.ids.clear();
    state.ids.shrink_to(MAX_KEPT_IDS);
    Ok(job)
}

fn width(format: IdFormat) -> usize {
    if format.is_wide { 4 } else { 2 }
}

/// The length of the header of a `NumPy` file: more than its text takes, and a multiple of 64.
const HEADER_LEN: usize = 128;

/// What it begins with: the format 1.0, and how long the text behind is, in two bytes.
const MAGIC: [u8; 10] = *b"\x93NUMPY\x01\x00\x76\x00";

/// The header of a `NumPy` file of format 1.0, of one dimension.
fn header(format: IdFormat, n_ids: u64) -> [u8; HEADER_LEN] {
    let mut header = [b' '; HEADER_LEN];
    header[..MAGIC.len()].copy_from_slice(&MAGIC);
    let width = width(format);
    let text = format!("{{'descr': '<u{width}', 'fortran_order': False, 'shape': ({n_ids},), }}");
    header[MAGIC.len()..][..text.len()].copy_from_slice(text.as_bytes());
    header[HEADER_LEN - 1] = b'\n';
    header
}
