//! Where tokens and pieces lie in a stretch of text, and how many of them a word shares bytes with.
//!
//! Ranges that cover the text are bits for where each starts; others are lists. Costs a look at a word of bits or two for
//! each word of the text, or at each range.

use std::ops::Range;

use crate::tokenizer::blocks::set;

/// Where ranges start that follow each other and cover a text.
#[derive(Debug, Default)]
pub(super) struct Bits(pub(super) Vec<u64>);

impl Bits {
    /// For a text of so many bytes, without any.
    pub(super) fn reset(&mut self, len: usize) {
        self.0.clear();
        self.0.resize(len / 64 + 1, 0);
    }

    #[inline]
    pub(super) fn insert(&mut self, place: usize) {
        set(&mut self.0, place);
    }

    /// How many of the ranges share a byte with another one, which is not empty: that in which it starts, and those that
    /// start behind.
    #[inline]
    pub(super) fn n_within(&self, range: &Range<usize>) -> u64 {
        1 + self.n_set(range.start + 1..range.end)
    }

    #[inline]
    fn n_set(&self, range: Range<usize>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (first, last) = (range.start / 64, (range.end - 1) / 64);
        let (from, to) = (u64::MAX << (range.start % 64), u64::MAX >> (63 - (range.end - 1) % 64));
        let word = |index: usize| self.0.get(index).copied().unwrap_or_default();
        if first == last {
            return u64::from((word(first) & from & to).count_ones());
        }
        let inner: u32 = (first + 1..last).map(|index| word(index).count_ones()).sum();
        u64::from((word(first) & from).count_ones() + inner + (word(last) & to).count_ones())
    }
}

/// Ranges of a text: where they begin, and where they end, each in order.
#[derive(Debug, Default)]
pub(super) struct Spans {
    starts: Vec<usize>,
    ends: Vec<usize>,
}

impl Spans {
    pub(super) fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.starts.truncate(len);
        self.ends.truncate(len);
    }

    pub(super) fn push(&mut self, span: Range<usize>) {
        self.starts.push(span.start);
        self.ends.push(span.end);
    }

    /// Joins a range to the one before it.
    pub(super) fn join(&mut self, index: usize) {
        if (1..self.starts.len()).contains(&index) {
            self.starts.remove(index);
            self.ends.remove(index - 1);
        }
    }

    pub(super) fn sort(&mut self) {
        self.starts.sort_unstable();
        self.ends.sort_unstable();
    }

    /// Goes over them beside other ranges.
    pub(super) fn cursor(&self) -> Cursor<'_> {
        Cursor { spans: self, n_begun: 0, n_ended: 0 }
    }
}

/// Goes over spans in order.
pub(super) struct Cursor<'s> {
    spans: &'s Spans,
    n_begun: usize,
    n_ended: usize,
}

impl Cursor<'_> {
    /// How many spans share a byte with a range behind those that were asked for before.
    pub(super) fn n_within(&mut self, range: &Range<usize>) -> u64 {
        let Spans { starts, ends } = self.spans;
        while starts.get(self.n_begun).is_some_and(|&start| start < range.end) {
            self.n_begun += 1;
        }
        while ends.get(self.n_ended).is_some_and(|&end| end <= range.start) {
            self.n_ended += 1;
        }
        (self.n_begun - self.n_ended) as u64
    }
}
