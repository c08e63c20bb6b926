//! The starts of pieces, as an engine marks them.
//!
//! Left out: what becomes of matches and of the rest (`stages::behaviour`), and the finished pieces of a block
//! (`boundaries`).

use crate::bits::Bits;

/// Where pieces start, and which of them match nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marked {
    pub(crate) starts: Bits,
    pub(crate) unmatched: Bits,
}

impl Marked {
    /// Makes room for places up to and including `last`.
    pub(crate) fn reserve(&mut self, last: usize) {
        self.starts.reserve(last);
        self.unmatched.reserve(last);
    }
}
