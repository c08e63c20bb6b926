//! A stream of text in stretches that can be encoded one by one, in bounded memory.
//!
//! What was read is cut at the last place where a cut changes nothing (`cutting`); the rest is carried over to the next
//! stretch. Where a stretch has no place to cut, reading goes on until there is one, or until it is longer than a limit:
//! memory grows with the longest such part. Costs a copy of what is carried.

use std::io::Read;
use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory::reserve_exact;
use crate::segment::Segment;

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

    /// For how much it has room, in bytes.
    pub(super) fn room(&self) -> usize {
        self.text.capacity()
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
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
    pub(super) fn next(&mut self, emptied: Stretch) -> Result<Option<Stretch>> {
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

    /// Reads a stretch, or as much again as there is; returns whether that was all.
    fn read(&mut self, text: &mut Vec<u8>) -> Result<bool> {
        let n_more = text.len().min(self.longest.saturating_sub(text.len()));
        let wanted = self.stretch_len.saturating_sub(text.len()).max(n_more).max(1);
        reserve_exact(text, wanted)?;
        let n_new = self.reader.by_ref().take(wanted as u64).read_to_end(text)?;
        Ok(n_new < wanted)
    }
}
