//! Where pieces start, as an engine marks it.
//!
//! Left out: what becomes of matches and the rest (`stages::behaviour`), and what others read (`boundaries`).

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
