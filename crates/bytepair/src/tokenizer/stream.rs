//! Encodes a text or a stream in stretches, on several threads.
//!
//! The calling thread reads the text, cuts it at the last place where a cut changes nothing (`cutting`), carries the
//! rest over to the next stretch, and hands the ids to a sink in order; other threads encode the stretches. If a
//! stretch cannot be cut, more is read until it can: the ids are right, and memory grows with the longest part that
//! cannot be cut, which is the whole text if the tokenizer has no cuts. Streams limit the length of such parts.
//!
//! Dropout draws its numbers in one order, so texts with dropout stay whole. Each thread has a worker from the
//! tokenizer's pool, with the pieces that it remembers. Memory is that of a few stretches for each thread. Costs what
//! encoding costs, a copy of the text, a look for each cut, and a few microseconds for each thread and each stretch.

use std::cell::{Cell, RefCell};
use std::io::Read;
use std::ops::Range;

use super::call::Call;
use super::worker::Worker;
use super::{EncodeOptions, Tokenizer};
use crate::batch::n_expected;
use crate::error::{Error, Result};
use crate::memory::reserve_exact;
use crate::parallel::{N_JOBS_PER_THREAD, in_order_within};
use crate::segment::Segment;
use crate::sink::{Count, Sink};
use crate::vocabulary::TokenId;

/// The most memory of all stretches in progress, each counted with one id per byte.
const MEMORY: usize = 96 << 20;

/// How long a part of a stream that cannot be cut may be, in bytes.
pub(super) const MAX_UNCUT: usize = 256 << 20;

/// Advice for parts that are longer.
const WAY_OUT: &str =
    "cut the text into documents, or encode it as one in memory, with encode_to_numpy";

/// A stream of text, and how it is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<R> {
    /// The reader of the text.
    pub reader: R,
    /// The number of threads that encode, at least one.
    pub n_threads: usize,
    /// How much is encoded at once, in bytes; chosen if not given, and limited by the total for all stretches.
    pub stretch_len: Option<usize>,
    /// How long a part that cannot be cut may be, in bytes; 256 MiB if not given.
    pub max_uncut: Option<usize>,
}

impl<R> Reading<R> {
    /// A stream that is encoded on this many threads, in stretches of a chosen length.
    pub fn new(reader: R, n_threads: usize) -> Self {
        Self { reader, n_threads, stretch_len: None, max_uncut: None }
    }
}

impl Tokenizer {
    /// Encodes a whole stream as one text, hands the ids to a sink, and returns the number of bytes. `progress`
    /// receives the number of bytes encoded so far, and may stop the work with an error.
    ///
    /// Options about the template, lengths and dropout are ignored.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`], for the first place that has an error; if reading fails; if a part of the text
    /// that cannot be cut is too long; or if the sink fails.
    pub fn encode_stream(
        &self,
        reading: Reading<impl Read>,
        options: EncodeOptions<'_>,
        sink: &mut impl Sink,
        mut progress: impl FnMut(u64) -> Result<()>,
    ) -> Result<u64> {
        let call = self.call(EncodeOptions { dropout: None, ..options })?;
        let n_threads = reading.n_threads.max(1);
        let n_bytes_each = MEMORY / (n_threads * N_JOBS_PER_THREAD * 5);
        let stretch_len =
            reading.stretch_len.unwrap_or(n_bytes_each.min(STRETCH_LEN)).clamp(1, MEMORY);
        let longest = (reading.max_uncut.unwrap_or(MAX_UNCUT), WAY_OUT);
        let last_cut = |text: &[u8], range| call.tokenizer.last_cut(text, range);
        let feed = Feed::new(last_cut, reading.reader, stretch_len, longest);
        let mut n_bytes = 0;
        call.tokenizer.with_workers(n_threads, |workers| {
            call.encode_feed(feed, workers, |stretch, ids| {
                sink.push(ids)?;
                n_bytes += stretch.len() as u64;
                progress(n_bytes)
            })
        })?;
        sink.end_text()?;
        Ok(n_bytes)
    }
}

/// The length of stretches, in bytes, unless limits require another.
const STRETCH_LEN: usize = 256 << 10;

/// Shorter ones do not pay.
const MIN_STRETCH_LEN: usize = 16 << 10;

/// The least number of stretches per thread for a long text, so that all threads end at about the same time.
const N_STRETCHES_PER_THREAD: usize = 4;

/// How many workers are useful for a text.
pub(super) fn n_useful(text_len: usize, n_threads: usize) -> usize {
    n_threads.clamp(1, (text_len / MIN_STRETCH_LEN).max(1))
}

impl Call<'_> {
    /// The number of ids of a text, or of a part of one. The ids are not kept.
    pub(super) fn count_by(&self, text: Segment<'_>, workers: &mut [Box<Worker>]) -> Result<usize> {
        if text.text.len() <= MIN_STRETCH_LEN && self.stretch_len.is_none() {
            return self.count_stretch(text);
        }
        let mut count = Count::default();
        self.encode_stretches(text, workers, &mut count)?;
        Ok(count.0)
    }

    /// [`Self::count_by`] for text that one worker encodes at once.
    pub(super) fn count_stretch(&self, stretch: Segment<'_>) -> Result<usize> {
        self.ids_of_stretch(stretch).map(|ids| ids.len())
    }

    /// The ids of text that one worker encodes at once.
    pub(super) fn ids_of_stretch(&self, stretch: Segment<'_>) -> Result<Vec<TokenId>> {
        let mut ids = Vec::new();
        self.tokenizer.workers.with(|worker| self.encode_stretch(stretch, &mut ids, worker))?;
        Ok(ids)
    }

    /// Hands the ids of a text, or of a part of one, to a sink, stretch by stretch.
    pub(super) fn encode_stretches(
        &self,
        text: Segment<'_>,
        workers: &mut [Box<Worker>],
        sink: &mut impl Sink,
    ) -> Result<()> {
        let of_text = text.text.len() / (workers.len() * N_STRETCHES_PER_THREAD);
        let of_text = of_text.clamp(MIN_STRETCH_LEN, STRETCH_LEN);
        let stretch_len = self.stretch_len.unwrap_or(of_text).max(1);
        let last_cut = |text: &[u8], range| self.tokenizer.last_cut(text, range);
        let feed = Feed::new(last_cut, text.text, stretch_len, (usize::MAX, "")).within(text);
        let n_stretches = text.text.len().div_ceil(stretch_len).max(1);
        let n_threads = workers.len().min(n_stretches);
        let mut is_first = true;
        let result = self.encode_feed(feed, &mut workers[..n_threads], |stretch, ids| {
            if std::mem::take(&mut is_first) {
                sink.expect(n_expected(ids.len(), stretch.len(), text.text.len()));
            }
            sink.push(ids)
        });
        result.map_err(|error| self.first_error(text.text, error))
    }

    /// Hands the ids of each stretch to `take`, in order.
    fn encode_feed<C: FnMut(&[u8], Range<usize>) -> Option<usize>, R: Read>(
        &self,
        feed: Feed<C, R>,
        workers: &mut [Box<Worker>],
        mut take: impl FnMut(&Stretch, &[TokenId]) -> Result<()>,
    ) -> Result<()> {
        let encode = |stretch: &Stretch, worker: &mut Box<Worker>, ids: &mut Vec<TokenId>| {
            ids.clear();
            self.encode_stretch(stretch.segment(), ids, worker)
        };
        feed.for_each(workers, encode, |stretch, ids: &Vec<TokenId>| take(stretch, ids))
    }

    /// The error that the whole text gives. A check that comes first there may fail only in a later stretch.
    pub(super) fn first_error(&self, text: &[u8], error: Error) -> Error {
        let checked = self
            .tokenizer
            .check_utf8(text)
            .and_then(|()| self.check_disallowed(Segment::whole(text)));
        checked.err().unwrap_or(error)
    }
}

impl Tokenizer {
    /// Where a text can be cut after about a length, or its end if it cannot.
    pub(super) fn stretch_end(&self, text: &[u8], stretch_len: usize) -> usize {
        stretch_end(text, stretch_len, |text, range| self.last_cut(text, range))
    }
}

/// The last cut after about a length of a text, or its end if there is none.
pub(super) fn stretch_end(
    text: &[u8],
    stretch_len: usize,
    last_cut: impl Fn(&[u8], Range<usize>) -> Option<usize>,
) -> usize {
    let (mut from, mut end) = (0, stretch_len);
    while end < text.len() {
        if let Some(cut) = last_cut(text, from..end + 1) {
            return cut;
        }
        (from, end) = (end, end.saturating_mul(2));
    }
    text.len()
}

/// A part of a text, with its own memory.
#[derive(Default)]
pub(super) struct Stretch {
    text: Vec<u8>,
    /// Where it begins in all that was read.
    offset: u64,
    is_first: bool,
    is_last: bool,
    is_rest: bool,
}

impl Stretch {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// Its position within the text.
    pub(super) fn segment(&self) -> Segment<'_> {
        let Self { is_first, is_last, is_rest, .. } = *self;
        Segment { text: &self.text, is_first, is_last, is_rest }
    }
}

/// Reads stretches that end where a cut changes nothing: at the last such place in a range of a text, as found by `C`.
pub(super) struct Feed<C, R> {
    last_cut: C,
    reader: R,
    stretch_len: usize,
    /// How long a part that cannot be cut may be, and advice for one that is longer.
    longest: usize,
    way_out: &'static str,
    /// The segment that is read, within its text: whether it begins there, ends there, and follows a cut.
    within: [bool; 3],
    /// What was read after the last cut.
    carried: Vec<u8>,
    /// The number of bytes before that text.
    n_bytes: u64,
    is_end: bool,
}

impl<C: FnMut(&[u8], Range<usize>) -> Option<usize>, R: Read> Feed<C, R> {
    /// Reads stretches of about this length, in bytes, and refuses parts that cannot be cut and are longer than
    /// `longest`.
    pub(super) fn new(
        last_cut: C,
        reader: R,
        stretch_len: usize,
        (longest, way_out): (usize, &'static str),
    ) -> Self {
        let (carried, n_bytes, is_end) = (Vec::new(), 0, false);
        let within = [true, true, false];
        Self { last_cut, reader, stretch_len, longest, way_out, within, carried, n_bytes, is_end }
    }

    /// For a stream that is a part of a text, as this segment is.
    fn within(self, part: Segment<'_>) -> Self {
        Self { within: [part.is_first, part.is_last, part.is_rest], ..self }
    }

    /// The next stretch, in the memory of a finished one.
    fn next(&mut self, emptied: Stretch) -> Result<Option<Stretch>> {
        if self.is_end {
            return Ok(None);
        }
        let mut stretch = emptied;
        stretch.text.clear();
        stretch.text.append(&mut self.carried);
        let mut n_searched = 0;
        let cut = loop {
            self.is_end = self.read(&mut stretch.text)?;
            if self.is_end {
                break stretch.text.len();
            }
            if let Some(cut) = (self.last_cut)(&stretch.text, n_searched..stretch.text.len()) {
                break cut;
            }
            if stretch.text.len() >= self.longest {
                let (most, text) = (self.longest, &stretch.text);
                return Err(Error::part_too_long(self.n_bytes, text, most, self.way_out));
            }
            // The last characters may have a cut now that more text follows them.
            n_searched = stretch.text.len().saturating_sub(16);
        };
        self.carried.extend_from_slice(&stretch.text[cut..]);
        stretch.text.truncate(cut);
        let ([is_first, is_last, is_rest], is_begun) = (self.within, self.n_bytes > 0);
        stretch.offset = self.n_bytes;
        stretch.is_first = is_first && !is_begun;
        stretch.is_last = is_last && self.is_end;
        stretch.is_rest = is_rest || is_begun;
        self.n_bytes += cut as u64;
        Ok((cut > 0).then_some(stretch))
    }

    /// Does `work` for each stretch on the threads of `states`, and hands the results to `take` in order. A result is
    /// made in the memory of an earlier one, which `work` clears. While a stretch that is much longer than others is
    /// in progress, no second one is.
    pub(super) fn for_each<D: Default + Send, S: Send>(
        mut self,
        states: &mut [S],
        work: impl Fn(&Stretch, &mut S, &mut D) -> Result<()> + Sync,
        mut take: impl FnMut(&Stretch, &D) -> Result<()>,
    ) -> Result<()> {
        let stretch_len = self.stretch_len;
        let emptied = RefCell::new(Vec::<(Stretch, D)>::new());
        let (n_out, most_out) = (Cell::new(0), states.len() * N_JOBS_PER_THREAD * stretch_len);
        let next = || {
            let (stretch, made) = emptied.borrow_mut().pop().unwrap_or_default();
            let stretch = self.next(stretch)?;
            n_out.set(n_out.get() + stretch.as_ref().map_or(0, Stretch::len));
            Ok(stretch.map(|stretch| (stretch, made)))
        };
        let work = |(stretch, mut made): (Stretch, D), state: &mut S| {
            let done = work(&stretch, state, &mut made);
            done.map_err(|error| error.moved_by(stretch.offset))?;
            Ok((stretch, made))
        };
        let take = |done: Result<(Stretch, D)>| {
            let (stretch, made) = done?;
            n_out.set(n_out.get() - stretch.len());
            take(&stretch, &made)?;
            // A stretch that was much longer than others may be the last of its kind.
            if stretch.text.capacity() <= 4 * stretch_len {
                emptied.borrow_mut().push((stretch, made));
            }
            Ok(())
        };
        let within = (N_JOBS_PER_THREAD, || n_out.get() < most_out);
        in_order_within(within, states, next, work, take)
    }

    /// Reads a stretch, or as much again as there is; returns whether the end was reached.
    fn read(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let n_more = text.len().min(self.longest.saturating_sub(text.len()));
        let wanted = self.stretch_len.saturating_sub(text.len()).max(n_more).max(1);
        reserve_exact(text, wanted)?;
        let n_new = self.reader.by_ref().take(wanted as u64).read_to_end(text)?;
        Ok(n_new < wanted)
    }
}
