//! A text that remembers where each of its bytes came from.
//!
//! The rules are those of Hugging Face's `NormalizedString`: a character that takes the place of another
//! has its span, an added one has the span of what stands before it, and what is removed is skipped by
//! what stands before that. A replaced match has the span of its last character throughout. So spans are
//! what that library reports, which is not always what one would have drawn: the removed part of a match
//! belongs to no span. Bytes that are no UTF-8 are characters of their own. Each change costs one pass.

/// A normalized text and its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aligned {
    /// The text after all steps.
    pub text: Vec<u8>,
    /// Per byte of the text the byte range of the segment from which it came: start and end.
    pub spans: Vec<(usize, usize)>,
}

/// One character of a text, or one byte that is no UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Character(char),
    Byte(u8),
}

/// A symbol of a changed text: 0 takes the place of one symbol, 1 is added, -n takes the place of one
/// and removes the n symbols after it.
pub(super) type Change = (Symbol, isize);

impl Symbol {
    pub(super) fn character(self) -> Option<char> {
        match self {
            Self::Character(character) => Some(character),
            Self::Byte(_) => None,
        }
    }

    fn len(self) -> usize {
        self.character().map_or(1, char::len_utf8)
    }

    pub(super) fn push_to(self, text: &mut Vec<u8>) {
        match self {
            Self::Byte(byte) => text.push(byte),
            Self::Character(character) => {
                text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
    }
}

/// The symbols of a text, in order.
pub(super) fn symbols(text: &[u8]) -> impl Iterator<Item = Symbol> {
    text.utf8_chunks().flat_map(|chunk| {
        let characters = chunk.valid().chars().map(Symbol::Character);
        characters.chain(chunk.invalid().iter().map(|&byte| Symbol::Byte(byte)))
    })
}

impl Aligned {
    /// A text that nothing has changed yet: each byte came from its character.
    pub fn unchanged(text: &[u8]) -> Self {
        let mut spans = Vec::with_capacity(text.len());
        for symbol in symbols(text) {
            let start = spans.len();
            let end = start + symbol.len();
            spans.resize(end, (start, end));
        }
        Self { text: text.to_vec(), spans }
    }

    /// The spans of this text, taken as a part of it, in the text from which `self` came: what was made
    /// of a piece of `self.text` that starts at byte `piece_start` becomes what was made of the segment.
    #[must_use]
    pub fn followed_by(&self, piece_start: usize, piece: &Self) -> Self {
        let outer = |(start, end): (usize, usize)| {
            let at = self.spans.get(piece_start + start).map(|span| span.0);
            let first = at.or_else(|| self.spans.last().map(|span| span.1)).unwrap_or_default();
            let last = (piece_start + end).checked_sub(1).and_then(|last| self.spans.get(last));
            if start == end { (first, first) } else { (first, last.map_or(first, |span| span.1)) }
        };
        Self { text: piece.text.clone(), spans: piece.spans.iter().copied().map(outer).collect() }
    }

    /// Puts the changed symbols in the place of the text, whose first `n_removed` symbols go.
    pub(super) fn change(&mut self, changes: &[Change], n_removed: usize) {
        let mut text = Vec::with_capacity(self.text.len());
        let mut spans = Vec::with_capacity(self.text.len());
        let mut lengths = symbols(&self.text).map(Symbol::len);
        let mut offset: usize = lengths.by_ref().take(n_removed).sum();
        for &(symbol, change) in changes {
            let span = match change > 0 {
                true => offset.checked_sub(1).and_then(|before| self.spans.get(before)),
                false => self.spans.get(offset).or(self.spans.last()),
            };
            symbol.push_to(&mut text);
            spans.resize(text.len(), span.copied().unwrap_or_default());
            if change <= 0 {
                offset += lengths.by_ref().take(change.unsigned_abs() + 1).sum::<usize>();
            }
        }
        drop(lengths);
        (self.text, self.spans) = (text, spans);
    }

    /// Puts `to` in the place of each of these ranges, which are in order and not empty.
    pub(super) fn replace(
        &mut self,
        ranges: impl IntoIterator<Item = std::ops::Range<usize>>,
        to: &str,
    ) {
        let mut text = Vec::with_capacity(self.text.len());
        let mut spans = Vec::with_capacity(self.text.len());
        let mut copied = 0;
        for range in ranges {
            text.extend_from_slice(&self.text[copied..range.start]);
            spans.extend_from_slice(&self.spans[copied..range.start]);
            text.extend_from_slice(to.as_bytes());
            spans.resize(text.len(), self.spans[range.end - 1]);
            copied = range.end;
        }
        text.extend_from_slice(&self.text[copied..]);
        spans.extend_from_slice(&self.spans[copied..]);
        (self.text, self.spans) = (text, spans);
    }

    /// Puts a text in front of what is not empty; it has the span of the first symbol.
    pub(super) fn prepend(&mut self, prefix: &str) {
        let Some(&first) = self.spans.first() else { return };
        self.text.splice(..0, prefix.bytes());
        self.spans.splice(..0, std::iter::repeat_n(first, prefix.len()));
    }
}
