//! Where the pieces of one block of text start, as bits: what a splitter writes and others read.
//!
//! A block is a run of whole pieces of the first stage, at least the block length long unless the text
//! ends. One `Boundaries` serves all blocks and texts in turn and keeps its memory.
//! Cost: three bits per byte of the block.

use std::ops::Range;

use crate::bits::{Bits, Marked};
use crate::stages::behaviour::Dropped;
use crate::windows::Scratch;

/// The block length of [`Boundaries::default`], in bytes: with its bits it fits the fastest cache.
const BLOCK_LEN: usize = 32 * 1024;

/// The pieces of one block.
///
/// ```
/// use bytepair_split::{Boundaries, Splitter, named, unicode::UnicodeTables};
///
/// let splitter = Splitter::new(named("words").unwrap(), &UnicodeTables::latest())?;
/// let (text, mut boundaries) = (b"one two three", Boundaries::new(4));
/// let mut pieces = Vec::new();
/// let mut from = 0;
/// while from < text.len() {
///     from = splitter.split_block(text, from, &mut boundaries)?;
///     pieces.extend(boundaries.pieces());
/// }
/// assert_eq!(pieces, [0..3, 4..7, 8..13]);
/// # Ok::<(), bytepair_split::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Boundaries {
    block_len: usize,
    start: usize,
    end: usize,
    marked: Marked,
    dropped: Bits,
    has_dropped: bool,
    /// Memory of the windows, for one block after the other.
    scratch: Option<Box<Scratch>>,
}

/// What an engine is given to write to.
pub(crate) struct Written<'b> {
    pub(crate) marked: &'b mut Marked,
    /// The pieces that earlier stages left out, if there are any.
    pub(crate) dropped: Option<&'b Bits>,
    pub(crate) scratch: &'b mut Option<Box<Scratch>>,
}

impl Default for Boundaries {
    fn default() -> Self {
        Self::new(BLOCK_LEN)
    }
}

impl Boundaries {
    /// For blocks of at least `block_len` bytes.
    pub fn new(block_len: usize) -> Self {
        Self {
            block_len: block_len.max(1),
            start: 0,
            end: 0,
            marked: Marked::default(),
            dropped: Bits::default(),
            has_dropped: false,
            scratch: None,
        }
    }

    /// The least number of bytes a block covers, unless the text ends.
    pub fn block_len(&self) -> usize {
        self.block_len
    }

    /// Where the block starts in the text.
    pub fn block_start(&self) -> usize {
        self.start
    }

    /// Where the block ends in the text.
    pub fn block_end(&self) -> usize {
        self.end
    }

    /// Bit `i % 64` of word `i / 64` tells whether a piece starts at `block_start() + i`. Words past the
    /// end are zero and may be left out.
    pub fn starts(&self) -> &[u64] {
        self.marked.starts.words()
    }

    /// The starts of pieces that are left out, as bits like those of [`Boundaries::starts`]; `None` if there are none.
    pub fn dropped(&self) -> Option<&[u64]> {
        self.has_dropped.then(|| self.dropped.words())
    }

    /// The pieces in order, as byte ranges of the text; dropped ones are left out.
    pub fn pieces(&self) -> Pieces<'_> {
        Pieces::new(self)
    }

    pub(crate) fn begin(&mut self, from: usize) {
        self.start = from;
        self.end = from;
        self.marked.starts.clear();
        self.marked.unmatched.clear();
        if self.has_dropped {
            self.dropped.clear();
        }
        self.has_dropped = false;
    }

    pub(crate) fn mark_whole(&mut self, end: usize) {
        self.end = end.max(self.start);
        if self.start < end {
            self.marked.starts.insert(0);
        }
    }

    pub(crate) fn marked(&mut self) -> &mut Marked {
        &mut self.marked
    }

    /// What an engine writes.
    pub(crate) fn written(&mut self) -> Written<'_> {
        Written {
            marked: &mut self.marked,
            dropped: self.has_dropped.then_some(&self.dropped),
            scratch: &mut self.scratch,
        }
    }

    pub(crate) fn finish_stage(&mut self, end: usize, dropped: Dropped) {
        self.end = end;
        match dropped {
            // Most patterns match everything, and blocks from which nothing is left out are fastest.
            Dropped::Unmatched if !self.marked.unmatched.is_empty() => {
                self.dropped.union(&self.marked.unmatched);
                self.has_dropped = true;
            }
            Dropped::Nothing | Dropped::Unmatched => {}
            Dropped::Matches => {
                self.dropped.union_difference(&self.marked.starts, &self.marked.unmatched);
                self.has_dropped = true;
            }
        }
        self.marked.unmatched.clear();
    }

    /// The piece that starts at this boundary, dropped or not; `None` at the end of the block.
    pub(crate) fn piece_from(&self, start: usize) -> Option<Range<usize>> {
        if start >= self.end {
            return None;
        }
        let next = self.marked.starts.first_from(start - self.start + 1);
        Some(start..next.map_or(self.end, |next| self.start + next))
    }

    pub(crate) fn is_dropped(&self, start: usize) -> bool {
        self.has_dropped && self.dropped.contains(start - self.start)
    }
}

/// The pieces of [`Boundaries::pieces`].
#[derive(Clone, Debug)]
pub struct Pieces<'b> {
    boundaries: &'b Boundaries,
    /// Where the next piece starts, in the text.
    next: usize,
    /// Starts behind it: those left in one word, and the number of that word.
    left: u64,
    index: usize,
}

impl<'b> Pieces<'b> {
    fn new(boundaries: &'b Boundaries) -> Self {
        let first = boundaries.starts().first().copied().unwrap_or(0);
        Self { boundaries, next: boundaries.start, left: first & !1, index: 0 }
    }

    /// The start behind `next`, or the end of the block.
    #[inline]
    fn following(&mut self) -> usize {
        while self.left == 0 {
            self.index += 1;
            match self.boundaries.starts().get(self.index) {
                Some(&word) => self.left = word,
                None => return self.boundaries.end,
            }
        }
        let bit = self.left.trailing_zeros() as usize;
        self.left &= self.left - 1;
        self.boundaries.start + self.index * 64 + bit
    }
}

impl Iterator for Pieces<'_> {
    type Item = Range<usize>;

    #[inline]
    fn next(&mut self) -> Option<Range<usize>> {
        while self.next < self.boundaries.end {
            let start = self.next;
            self.next = self.following();
            if !self.boundaries.is_dropped(start) {
                return Some(start..self.next);
            }
        }
        None
    }
}
