//! Short pieces as keys, for the tables that count and remember them, and the pieces of a block as bits for where they start.
//!
//! `key` is a short piece as a number. `row` has some hundred pieces, so that all are on their way before the first is looked at.

pub(crate) mod key;
pub(crate) mod row;

use std::ops::Range;

/// Places in a word of bits.
pub(crate) const WORD_LEN: usize = 64;

/// Where the pieces of a block start.
#[derive(Clone, Debug)]
pub(crate) struct Starts<'b> {
    /// A bit for each place of the block; none behind its end.
    words: &'b [u64],
    /// The block in the text.
    block: Range<usize>,
}

/// Pieces that start in 64 places, and where they lie in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Not zero.
    pub(crate) bits: u64,
    /// The place of the lowest bit.
    pub(crate) start: usize,
    /// Where the last of these pieces ends.
    pub(crate) end: usize,
}

impl<'b> Starts<'b> {
    /// The first bit stands for where the block starts.
    pub(crate) fn new(words: &'b [u64], block: Range<usize>) -> Self {
        Self { words: &words[..words.len().min(block.len().div_ceil(WORD_LEN))], block }
    }

    /// The words in which pieces start, in order.
    #[inline]
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> + '_ {
        let places = (self.block.start..).step_by(WORD_LEN);
        let words = self.words.iter().zip(places).enumerate().filter(|(_, (bits, _))| **bits != 0);
        words.map(|(index, (&bits, start))| Word { bits, start, end: self.end(index) })
    }

    /// Where the last piece that starts in a word ends: at the first start behind, or with the block.
    #[inline]
    fn end(&self, index: usize) -> usize {
        let mut next = index + 1;
        while let Some(&word) = self.words.get(next) {
            if word != 0 {
                return self.block.start + next * WORD_LEN + word.trailing_zeros() as usize;
            }
            next += 1;
        }
        self.block.end
    }
}

impl Word {
    /// The pieces one by one: the definition of [`row`].
    #[cfg(test)]
    pub(crate) fn pieces(self) -> impl Iterator<Item = Range<usize>> {
        let mut left = self.bits;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let start = self.start + left.trailing_zeros() as usize;
            left &= left - 1;
            let end =
                if left == 0 { self.end } else { self.start + left.trailing_zeros() as usize };
            Some(start..end)
        })
    }
}
