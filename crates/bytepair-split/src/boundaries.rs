//! Where the pieces of one block of text start, as bits: the output of a splitter.
//!
//! A block is a run of whole pieces of the first stage, at least the block length long unless the text ends. One
//! `Boundaries` serves all blocks and texts in turn and keeps its memory.
//! Cost: three bits per byte of the block.

use std::ops::Range;

use crate::bits::{Bits, Marked};
use crate::stage::Stage;
use crate::stages::Dropped;
use crate::windows::Scratch;

/// The block length of [`Boundaries::default`], in bytes. A block and its bits fit the first-level cache.
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
    pub(crate) block_len: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) marked: Marked,
    /// The pieces that stages left out, if any.
    pub(crate) dropped: Bits,
    pub(crate) has_dropped: bool,
    /// Memory that the windows reuse from block to block.
    pub(crate) scratch: Option<Box<Scratch>>,
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

    /// Where the block starts in the text.
    pub fn block_start(&self) -> usize {
        self.start
    }

    /// Where the block ends in the text.
    pub fn block_end(&self) -> usize {
        self.end
    }

    /// Bit `i % 64` of word `i / 64` tells whether a piece starts at `block_start() + i`. Words past the end are zero
    /// and may be missing.
    pub fn starts(&self) -> &[u64] {
        self.marked.starts.words()
    }

    /// The starts of dropped pieces, as bits like those of [`Boundaries::starts`]; `None` if no piece is dropped.
    pub fn dropped(&self) -> Option<&[u64]> {
        self.has_dropped.then(|| self.dropped.words())
    }

    /// The pieces in order, as byte ranges of the text; dropped ones are left out.
    pub fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let first = self.piece_from(self.start);
        let all = std::iter::successors(first, |piece| self.piece_from(piece.end));
        all.filter(|piece| !self.is_dropped(piece.start))
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

    pub(crate) fn finish_stage(&mut self, end: usize, stage: &Stage) {
        self.end = end;
        match Dropped::by(stage) {
            // Most patterns match everything, and blocks without dropped pieces are fastest.
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
