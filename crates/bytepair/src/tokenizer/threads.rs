//! One text on several threads, and in parts that are put together again.
//!
//! A text is cut where that changes no id (`cutting`) into stretches of about the same length, which threads take in
//! turn; their ids are put together in order, copied once. A text that nowhere can be cut is one stretch, and dropout
//! draws its numbers in one order, so these stay on one thread. Each thread has a worker of its own from the pool beside
//! the tokenizer, with the pieces that it remembers. Costs what encoding costs, a look for each cut, and a few
//! microseconds for each thread and each stretch.

use std::cell::RefCell;

use super::Tokenizer;
use super::call::Call;
use super::cutting::SEARCH_LEN;
use super::worker::Worker;
use crate::batch::n_expected;
use crate::error::{Error, Result};
use crate::parallel::in_order;
use crate::segment::Segment;
use crate::sink::{Count, Sink};
use crate::vocabulary::TokenId;

/// How long stretches are at most, unless there is no place to cut, in bytes.
const STRETCH_LEN: usize = 256 << 10;

/// Shorter ones do not pay.
const MIN_STRETCH_LEN: usize = 16 << 10;

/// How many stretches each thread gets at least of a long text, so that all end at about the same time.
const N_STRETCHES_PER_THREAD: usize = 4;

/// The workers that share a text, each on a thread of its own if there are several. There is at least one.
pub(super) struct Team<'w> {
    workers: &'w mut [Box<Worker>],
    /// About how long a stretch is, in bytes; by the length of the text where it is not set.
    pub(super) stretch_len: Option<usize>,
}

impl<'w> Team<'w> {
    pub(super) fn of(workers: &'w mut [Box<Worker>]) -> Self {
        Self { workers, stretch_len: None }
    }

    pub(super) fn of_one(worker: &'w mut Box<Worker>) -> Self {
        Self::of(std::slice::from_mut(worker))
    }

    /// The one that works alone, where a text is not shared.
    pub(super) fn first(&mut self) -> &mut Worker {
        &mut self.workers[0]
    }

    /// How long the stretches of a text are.
    fn stretch_len(&self, text_len: usize) -> usize {
        let of_text = text_len / (self.workers.len() * N_STRETCHES_PER_THREAD);
        self.stretch_len.unwrap_or(of_text.clamp(MIN_STRETCH_LEN, STRETCH_LEN)).max(1)
    }
}

/// How many workers are of use for a text.
pub(super) fn n_useful(text_len: usize, n_threads: usize) -> usize {
    n_threads.clamp(1, (text_len / MIN_STRETCH_LEN).max(1))
}

impl Call<'_> {
    /// Appends the ids of a text.
    pub(super) fn encode_by(
        &self,
        text: &[u8],
        team: &mut Team<'_>,
        ids: &mut Vec<TokenId>,
    ) -> Result<()> {
        if team.workers.len() == 1 && team.stretch_len.is_none() {
            return self.encode_stretch(Segment::whole(text), ids, team.first());
        }
        self.encode_stretches(Segment::whole(text), team, ids)
    }

    /// The number of ids of a text, or of a part of one, which are not kept.
    pub(super) fn count_by(&self, text: Segment<'_>, team: &mut Team<'_>) -> Result<usize> {
        let mut count = Count::default();
        self.encode_stretches(text, team, &mut count)?;
        Ok(count.0)
    }

    /// Hands the ids of a text to a sink, stretch by stretch.
    fn encode_stretches(
        &self,
        text: Segment<'_>,
        team: &mut Team<'_>,
        sink: &mut impl Sink,
    ) -> Result<()> {
        let stretch_len = team.stretch_len(text.text.len());
        let mut stretches = Stretches { tokenizer: self.tokenizer, rest: text, stretch_len };
        let emptied = RefCell::new(Vec::new());
        let next = || {
            let ids: Vec<TokenId> = emptied.borrow_mut().pop().unwrap_or_default();
            Ok(stretches.next().map(|stretch| (stretch, ids)))
        };
        let encode = |(stretch, mut ids): (Segment<'_>, Vec<TokenId>), worker: &mut Box<Worker>| {
            ids.clear();
            self.encode_stretch(stretch, &mut ids, worker).map(|()| (stretch.text.len(), ids))
        };
        let mut is_first = true;
        let take = |encoded: Result<(usize, Vec<TokenId>)>| {
            let (n_bytes, ids) = encoded?;
            if std::mem::take(&mut is_first) {
                sink.expect(n_expected(ids.len(), n_bytes, text.text.len()));
            }
            sink.push(&ids)?;
            emptied.borrow_mut().push(ids);
            Ok(())
        };
        let n_stretches = text.text.len().div_ceil(stretch_len).max(1);
        let n_threads = team.workers.len().min(n_stretches);
        let result = in_order(&mut team.workers[..n_threads], next, encode, take);
        result.map_err(|error| self.first_error(text.text, error))
    }

    /// The error that the whole text gives: what is checked first there, may stand in a later stretch.
    pub(super) fn first_error(&self, text: &[u8], error: Error) -> Error {
        let checked = self
            .tokenizer
            .check_utf8(text)
            .and_then(|()| self.check_disallowed(Segment::whole(text)));
        checked.err().unwrap_or(error)
    }
}

/// The stretches of a text, in order. An empty text has none.
struct Stretches<'t> {
    tokenizer: &'t Tokenizer,
    rest: Segment<'t>,
    stretch_len: usize,
}

impl<'t> Iterator for Stretches<'t> {
    type Item = Segment<'t>;

    fn next(&mut self) -> Option<Segment<'t>> {
        if self.rest.text.is_empty() {
            return None;
        }
        let end = self.tokenizer.stretch_end(self.rest.text, self.stretch_len);
        let stretch = self.rest.part(0..end);
        self.rest = self.rest.rest(end);
        Some(stretch)
    }
}

impl Tokenizer {
    /// Where a text can be cut at or behind a length; its end, if there is no such place.
    pub(super) fn stretch_end(&self, text: &[u8], stretch_len: usize) -> usize {
        let mut near = stretch_len;
        while near < text.len() && self.has_cuts() {
            if let Some(cut) = self.cut_near(text, near) {
                return cut;
            }
            near += stretch_len.max(SEARCH_LEN);
        }
        text.len()
    }
}
