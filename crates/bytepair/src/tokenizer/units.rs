//! Texts that are not UTF-8 yet.
//!
//! The UTF-8 of a text is made when it is its turn, in memory of the worker whose turn it is. A long one is made and
//! encoded stretch by stretch, so that neither takes memory for all of it: pages that were never used before take longer
//! than making what is in them. Where anything is wrong with a long text, all of it is made: what is told of it is what
//! would be told if it had been UTF-8 at once.

use std::cell::RefCell;
use std::io::{self, Read};

use super::call::Call;
use super::feed::{self, Feed, NO_LIMIT, Stretch};
use super::threads::{Team, append_part};
use super::worker::Worker;
use crate::code_units::{CodeUnits, Text};
use crate::error::Result;
use crate::memory::fresh_pages::Ahead;
use crate::parallel::in_order::in_order;
use crate::vocabulary::TokenId;

/// Texts of more characters are long. In tests hardly any is not.
const LONG: usize = if cfg!(test) { 40 } else { 1 << 18 };

/// How long a stretch is at most, in bytes.
const STRETCH_LEN: usize = if cfg!(test) { 16 } else { feed::STRETCH_LEN };

/// Characters whose UTF-8 is made at once.
const N_AT_ONCE: usize = if cfg!(test) { 7 } else { 1 << 14 };

/// How much memory for UTF-8 a worker keeps at most, in bytes: what the longest text that is made at once may take, whose
/// memory grows by doubling.
const MAX_KEPT: usize = 8 * LONG + (64 << 10);

impl Call<'_> {
    /// Appends the ids of a text, whose place in a batch is `index`.
    pub(super) fn encode_text_or_units(
        &self,
        text: Text<'_>,
        index: u64,
        ids: &mut Vec<TokenId>,
        team: &mut Team<'_>,
    ) -> Result<()> {
        let n_before = ids.len();
        if let Some(units) = self.long_units(text) {
            if self.encode_units(units, ids, team).is_ok() {
                return Ok(());
            }
            ids.truncate(n_before);
        }
        with_bytes(text, team, |text, team| self.encode(text, index, ids, team))
    }

    /// The number of ids that this appends.
    pub(super) fn count_text_or_units(
        &self,
        text: Text<'_>,
        index: u64,
        team: &mut Team<'_>,
    ) -> Result<usize> {
        let mut n_ids = 0;
        if let Some(units) = self.long_units(text)
            && self
                .for_each_stretch_of(units, team, |_, part| {
                    n_ids += part.len();
                    Ok(())
                })
                .is_ok()
        {
            return Ok(n_ids);
        }
        with_bytes(text, team, |text, team| self.count(text, index, team))
    }

    /// The characters of a text that is encoded stretch by stretch.
    fn long_units<'t>(&self, text: Text<'t>) -> Option<CodeUnits<'t>> {
        match text {
            Text::Units(units) if text.least_len() > LONG && self.is_bare() => Some(units),
            _ => None,
        }
    }

    fn encode_units(
        &self,
        units: CodeUnits<'_>,
        ids: &mut Vec<TokenId>,
        team: &mut Team<'_>,
    ) -> Result<()> {
        if team.len() > 1 {
            let (n_units, mut ahead) = (Text::Units(units).least_len(), Ahead::default());
            return self.for_each_stretch_of(units, team, |stretch, part| {
                let n_like = || n_units / n_characters(stretch);
                // A stretch may be like no other: there are hardly ever more than two ids for a character.
                let expected = |n_ids: usize| n_ids.saturating_mul(n_like()).min(2 * n_units);
                append_part(ids, part, expected, &mut ahead)
            });
        }
        let last_cut = |text: &[u8], range| self.tokenizer.last_cut(text, range);
        let mut feed = Feed::new(last_cut, Utf8::of(units), STRETCH_LEN, NO_LIMIT);
        let mut emptied = Stretch::default();
        while let Some(stretch) = feed.next(emptied)? {
            self.encode_stretch(stretch.segment(), ids, team.first())?;
            emptied = stretch;
        }
        Ok(())
    }

    /// Calls `take` with each stretch of a text and its ids, in order.
    fn for_each_stretch_of(
        &self,
        units: CodeUnits<'_>,
        team: &mut Team<'_>,
        mut take: impl FnMut(&[u8], &[TokenId]) -> Result<()>,
    ) -> Result<()> {
        // By characters, of which there are no more than bytes: rather too many stretches than too few for all.
        let n_units = Text::Units(units).least_len();
        let stretch_len = team.stretch_len(n_units).min(STRETCH_LEN);
        let n_threads = team.len().min(n_units.div_ceil(stretch_len));
        let last_cut = |text: &[u8], range| self.tokenizer.last_cut(text, range);
        let mut feed = Feed::new(last_cut, Utf8::of(units), stretch_len, NO_LIMIT);
        let emptied = RefCell::new(Vec::new());
        let next = || {
            let (stretch, ids): (_, Vec<TokenId>) = emptied.borrow_mut().pop().unwrap_or_default();
            Ok(feed.next(stretch)?.map(|stretch| (stretch, ids)))
        };
        let encode = |(stretch, mut ids): (Stretch, Vec<TokenId>), worker: &mut Box<Worker>| {
            ids.clear();
            self.encode_stretch(stretch.segment(), &mut ids, worker).map(|()| (stretch, ids))
        };
        let take = |encoded: Result<(Stretch, Vec<TokenId>)>| {
            let (stretch, ids) = encoded?;
            take(stretch.segment().text, &ids)?;
            emptied.borrow_mut().push((stretch, ids));
            Ok(())
        };
        in_order(&mut team.workers()[..n_threads], next, encode, take)
    }
}

/// Calls `work` with the bytes of a text. Where they have to be made, they lie in memory of the first worker.
fn with_bytes<R>(
    text: Text<'_>,
    team: &mut Team<'_>,
    work: impl FnOnce(&[u8], &mut Team<'_>) -> Result<R>,
) -> Result<R> {
    let units = match text {
        Text::Bytes(bytes) => return work(bytes, team),
        Text::Units(units) => units,
    };
    let mut memory = std::mem::take(&mut team.first().utf8);
    let result = units.utf8_in(&mut memory).and_then(|bytes| work(bytes, team));
    if memory.capacity() <= MAX_KEPT {
        team.first().utf8 = memory;
    }
    result
}

/// The number of characters of a text that is not empty.
fn n_characters(text: &[u8]) -> usize {
    usize::try_from(crate::count::n_characters(text)).map_or(text.len(), |n| n.max(1))
}

/// The UTF-8 of characters, to be read.
struct Utf8<'t> {
    rest: CodeUnits<'t>,
    memory: Vec<u8>,
    /// What was read of the memory, and how much is in it.
    n_read: usize,
    len: usize,
}

impl<'t> Utf8<'t> {
    fn of(units: CodeUnits<'t>) -> Self {
        Self { rest: units, memory: Vec::new(), n_read: 0, len: 0 }
    }
}

impl Read for Utf8<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.n_read == self.len {
            let first = self.rest.take_first(N_AT_ONCE);
            let made = first.utf8_in(&mut self.memory).map(<[u8]>::len);
            (self.n_read, self.len) = (0, made.map_err(io::Error::other)?);
        }
        let left = &self.memory[self.n_read..self.len];
        let n_bytes = left.len().min(out.len());
        out[..n_bytes].copy_from_slice(&left[..n_bytes]);
        self.n_read += n_bytes;
        Ok(n_bytes)
    }
}
