//! A stream of text to its ids in bounded memory.
//!
//! The calling thread reads, cuts what it read at the last place where a cut changes nothing (`cutting`), carries the rest over
//! to the next stretch, and hands the ids to a sink; other threads encode the stretches. Where a stretch has no place to cut,
//! reading goes on until there is one: the ids are right, and memory grows with the longest such part, which is the whole
//! text for a tokenizer that can cut nowhere. Such parts have a limit. Memory is that of a few stretches for each thread.
//! Costs what encoding costs, and a copy of what is carried.

use std::cell::{Cell, RefCell};
use std::io::Read;
use std::ops::Range;

use super::worker::Worker;
use super::{EncodeOptions, Tokenizer};
use crate::error::{Error, Result};
use crate::memory::reserve_exact;
use crate::parallel::{N_JOBS_PER_THREAD, in_order_within};
use crate::segment::Segment;
use crate::sink::Sink;
use crate::vocabulary::TokenId;

/// What all stretches that are under way may take, each with one id for each byte.
const MEMORY: usize = 96 << 20;

/// How long a part without a place to cut may be, in bytes.
const MAX_UNCUT: usize = 256 << 20;

/// What to do about a longer one.
const WAY_OUT: &str =
    "cut the text into documents, or encode it as one in memory, with encode_to_numpy";

/// A stream of text, and how it is read.
#[derive(Clone, Copy, Debug)]
pub struct Reading<R> {
    /// Gives the text.
    pub reader: R,
    /// The number of threads that encode, at least one.
    pub n_threads: usize,
    /// How much is encoded at once, in bytes; chosen if not given, and not more than all stretches may take.
    pub stretch_len: Option<usize>,
    /// How long a part without a place to cut may be, in bytes; 256 MiB if not given.
    pub max_uncut: Option<usize>,
}

impl<R> Reading<R> {
    /// A stream that is encoded on so many threads, in stretches of a length that is chosen.
    pub fn new(reader: R, n_threads: usize) -> Self {
        Self { reader, n_threads, stretch_len: None, max_uncut: None }
    }
}

impl Tokenizer {
    /// Encodes a whole stream as one text, and hands the ids to a sink; gives the number of bytes. `progress` gets the
    /// number of bytes that are encoded by now, and may end the work by an error.
    ///
    /// Options about the template, lengths and dropout do not count.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`], of the first place that has one; where reading fails; where a part of the text that
    /// cannot be cut is too long; and those of the sink.
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
        let encode = |stretch: &Stretch, worker: &mut Box<Worker>, ids: &mut Vec<TokenId>| {
            ids.clear();
            call.encode_stretch(stretch.segment(), ids, worker)
        };
        let mut n_bytes = 0;
        let take = |stretch: &Stretch, ids: &Vec<TokenId>| {
            sink.push(ids)?;
            n_bytes += stretch.len() as u64;
            progress(n_bytes)
        };
        call.tokenizer.with_workers(n_threads, |workers| feed.for_each(workers, encode, take))?;
        sink.end_text()?;
        Ok(n_bytes)
    }
}

/// How much is read for a stretch, in bytes, if nothing speaks against it.
pub(super) const STRETCH_LEN: usize = 256 << 10;

/// A part of a text, with its own memory.
#[derive(Default)]
pub(super) struct Stretch {
    text: Vec<u8>,
    /// Where it begins in the stream.
    offset: u64,
    is_last: bool,
}

impl Stretch {
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// What it is of the text.
    pub(super) fn segment(&self) -> Segment<'_> {
        let is_first = self.offset == 0;
        Segment { text: &self.text, is_first, is_last: self.is_last, is_rest: !is_first }
    }
}

/// Reads stretches that end where a cut changes nothing: at the last such place in a range of a text, as `C` finds it.
pub(super) struct Feed<C, R> {
    last_cut: C,
    reader: R,
    stretch_len: usize,
    /// How long a part without a place to cut may be, and what to do about a longer one.
    longest: usize,
    way_out: &'static str,
    /// What was read behind the last cut.
    carried: Vec<u8>,
    /// The number of bytes before that.
    n_bytes: u64,
    is_end: bool,
}

impl<C: FnMut(&[u8], Range<usize>) -> Option<usize>, R: Read> Feed<C, R> {
    /// Reads stretches of about this length, in bytes, and refuses parts without a place to cut that are longer than
    /// `longest`.
    pub(super) fn new(
        last_cut: C,
        reader: R,
        stretch_len: usize,
        (longest, way_out): (usize, &'static str),
    ) -> Self {
        let (carried, n_bytes, is_end) = (Vec::new(), 0, false);
        Self { last_cut, reader, stretch_len, longest, way_out, carried, n_bytes, is_end }
    }

    /// The next stretch, in the memory of one that is done.
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
            // The last characters may be cut, now that more stands behind them.
            n_searched = stretch.text.len().saturating_sub(16);
        };
        self.carried.extend_from_slice(&stretch.text[cut..]);
        stretch.text.truncate(cut);
        (stretch.offset, stretch.is_last) = (self.n_bytes, self.is_end);
        self.n_bytes += cut as u64;
        Ok((cut > 0).then_some(stretch))
    }

    /// Does `work` for each stretch on the threads of `states`, and hands what it makes to `take`, in order. It is made in
    /// memory of an earlier stretch, which `work` clears. Beside a stretch that is much longer than others no second one is
    /// under way.
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
            // What was much longer than others may be the last of its kind.
            if stretch.text.capacity() <= 4 * stretch_len {
                emptied.borrow_mut().push((stretch, made));
            }
            Ok(())
        };
        let within = (N_JOBS_PER_THREAD, || n_out.get() < most_out);
        in_order_within(within, states, next, work, take)
    }

    /// Reads a stretch, or as much again as there is; returns whether that was all.
    fn read(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let n_more = text.len().min(self.longest.saturating_sub(text.len()));
        let wanted = self.stretch_len.saturating_sub(text.len()).max(n_more).max(1);
        reserve_exact(text, wanted)?;
        let n_new = self.reader.by_ref().take(wanted as u64).read_to_end(text)?;
        Ok(n_new < wanted)
    }
}
