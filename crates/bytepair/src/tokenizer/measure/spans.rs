//! Where tokens and pieces are in a stretch of text, and how many of them share bytes with a word.
//!
//! Ranges that cover the text are stored as bits for their starts, and words are counted in 64 bytes at a time; other ranges
//! are lists. Costs some steps for each word of bits, or a look at each range.

use std::ops::Range;

use crate::split::Boundaries;
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

    /// The 64 bits from a place on.
    #[inline]
    fn word_from(&self, place: usize) -> u64 {
        let (index, shift) = (place / 64, place % 64);
        let word = |index: usize| self.0.get(index).copied().unwrap_or_default();
        word(index) >> shift | word(index + 1) << 1 << (63 - shift)
    }
}

/// Words, the ranges that share a byte with each, and the words that share bytes with several tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WordCount {
    pub(super) n: u64,
    pub(super) n_tokens: u64,
    pub(super) n_pieces: u64,
    pub(super) n_continued: u64,
}

/// Counts the words of a block of a text that tokens cover, and pieces do.
///
/// In 64 bytes at a time bits tell where words start, and what lies inside of them, behind their first byte. A word shares
/// bytes with the token in which it starts, and with those that start inside of it.
pub(super) fn count_words(boundaries: &Boundaries, tokens: &Bits, pieces: &Bits) -> WordCount {
    let (first, end) = (boundaries.block_start(), boundaries.block_end());
    let word = |bits: &[u64], index: usize| bits.get(index).copied().unwrap_or_default();
    let dropped = boundaries.dropped().unwrap_or_default();
    let mut all = WordCount::default();
    // Whether the byte before lies in a word, and in one that has no token starting inside of it so far.
    let (mut is_in_word, mut is_whole) = (0, 0);
    for (index, place) in (first..end).step_by(64).enumerate() {
        let valid = u64::MAX >> (64 - (end - place).min(64));
        let starts = (word(boundaries.starts(), index) | u64::from(index == 0)) & valid;
        let words = starts & !word(dropped, index);
        let inside = flooded(words << 1 | is_in_word, !starts & valid);
        let (tokens, pieces) = (tokens.word_from(place) & inside, pieces.word_from(place) & inside);
        let begun = words << 1 | is_whole;
        let whole = flooded(begun, inside & !tokens);
        let continued = (begun | whole << 1) & tokens;
        is_in_word = (words | inside) >> 63;
        is_whole = (words | whole) >> 63;
        let n_words = u64::from(words.count_ones());
        all.n += n_words;
        all.n_tokens += n_words + u64::from(tokens.count_ones());
        all.n_pieces += n_words + u64::from(pieces.count_ones());
        all.n_continued += u64::from(continued.count_ones());
    }
    all
}

/// The runs of bits that begin at one of some places: adding a run's lowest bit carries through all of it.
#[inline]
fn flooded(beginnings: u64, runs: u64) -> u64 {
    runs & !runs.wrapping_add(beginnings & runs)
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
    /// How many spans share a byte with a range that comes after all earlier ranges.
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
