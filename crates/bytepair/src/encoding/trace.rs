//! Text that tracks its origin through every change and cut.
//!
//! Each byte of a changed text has a span of the original. By the rules of alignment a whole character comes from
//! whole characters; if it was copied byte for byte, each of its bytes comes from one byte. Takes two numbers of
//! memory per byte of a changed text, and none for unchanged ones. A text [without spans](Traced::plain) goes the same
//! way and costs what its changes cost.

use std::borrow::Cow;
use std::ops::Range;

use crate::error::Result;
use crate::normalize::{Aligned, Normalizer};
use crate::segment::Segment;

/// A text and its origin.
#[derive(Clone, Debug)]
pub(crate) struct Traced<'t> {
    pub(crate) text: Cow<'t, [u8]>,
    origin: Origin<'t>,
    /// Whether it begins where the whole text begins. Everything that the first character became does.
    is_first: bool,
    /// Whether nothing follows it in the whole text.
    is_last: bool,
    /// Whether it is the rest of a segment.
    is_rest: bool,
}

#[derive(Clone, Debug)]
enum Origin<'t> {
    /// The original from this byte on.
    Same(usize),
    /// By byte of the text, a span of the original.
    Spans(Cow<'t, [(usize, usize)]>),
    /// The origin is not tracked.
    Unknown,
}

impl<'t> Traced<'t> {
    /// A part of the original, alone. Its spans are counted from its own beginning.
    pub(crate) fn of(segment: Segment<'t>) -> Self {
        let Segment { text, is_first, is_last, is_rest } = segment;
        let text = Cow::Borrowed(text);
        Self { text, origin: Origin::Same(0), is_first, is_last, is_rest }
    }

    /// A part of the original whose origin is not tracked: it has no spans.
    pub(crate) fn plain(segment: Segment<'t>) -> Self {
        Self { origin: Origin::Unknown, ..Self::of(segment) }
    }

    /// The same text, alone, with its spans.
    pub(crate) fn with_spans(&self) -> Traced<'_> {
        Traced { origin: Origin::Same(0), ..self.part(0..self.text.len()) }
    }

    /// Whether its spans are tracked.
    pub(crate) fn has_spans(&self) -> bool {
        !matches!(self.origin, Origin::Unknown)
    }

    /// Whether it begins where the whole text begins.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// The text and its position in the whole text.
    pub(crate) fn segment(&self) -> Segment<'_> {
        let Self { is_first, is_last, is_rest, .. } = *self;
        Segment { text: &self.text, is_first, is_last, is_rest }
    }

    /// A part of the text.
    pub(crate) fn part(&self, range: Range<usize>) -> Traced<'_> {
        let origin = match &self.origin {
            Origin::Same(start) => Origin::Same(start + range.start),
            Origin::Spans(spans) => Origin::Spans(Cow::Borrowed(&spans[range.clone()])),
            Origin::Unknown => Origin::Unknown,
        };
        let is_first = match self.text.get(range.start) {
            Some(_) if self.has_spans() => {
                self.is_first && self.span(range.start..range.start + 1).0 == 0
            }
            _ => self.is_first && range.start == 0,
        };
        let is_last = self.is_last && range.end == self.text.len();
        let is_rest = self.is_rest && range.start == 0;
        Traced { text: Cow::Borrowed(&self.text[range]), origin, is_first, is_last, is_rest }
    }

    /// A piece. It counts as the beginning of a piece even if the text is the rest of a segment, since a cut that
    /// changes nothing lies between two pieces.
    pub(crate) fn piece(&self, range: Range<usize>) -> Traced<'_> {
        Traced { is_rest: false, ..self.part(range) }
    }

    /// A part that ends at an added token, or where this text ends.
    pub(crate) fn between(&self, range: Range<usize>) -> Traced<'_> {
        let is_last = self.is_last || range.end < self.text.len();
        Traced { is_last, ..self.part(range) }
    }

    /// The text after all steps of a normalizer.
    #[inline]
    pub(crate) fn changed(&self, normalizer: &Normalizer) -> Result<Traced<'_>> {
        let segment = self.segment();
        let Segment { is_first, is_last, is_rest, .. } = segment;
        if !self.has_spans() {
            let text = normalizer.normalize(segment)?;
            return Ok(Traced { text, origin: Origin::Unknown, is_first, is_last, is_rest });
        }
        let is_same = |text: &[u8]| text == &*self.text;
        // Several steps may give the same text, but not from the same characters; and SentencePiece has spans of its
        // own for unchanged characters.
        let may_stay = normalizer.steps().len() == 1 && !normalizer.is_sentencepiece();
        if normalizer.steps().is_empty() || may_stay && is_same(&normalizer.normalize(segment)?) {
            return Ok(self.part(0..self.text.len()));
        }
        let Aligned { text, spans } = normalizer.normalize_aligned(segment)?;
        let spans = self.composed(&text, &spans);
        let is_first = spans.first().map_or(is_first, |span| is_first && span.0 == 0);
        let origin = Origin::Spans(Cow::Owned(spans));
        Ok(Traced { text: Cow::Owned(text), origin, is_first, is_last, is_rest })
    }

    /// The span of the original that a range of the text came from; without spans, the range itself.
    pub(crate) fn span(&self, range: Range<usize>) -> (usize, usize) {
        let spans = match &self.origin {
            Origin::Same(start) => return (start + range.start, start + range.end),
            Origin::Spans(spans) => spans,
            Origin::Unknown => return (range.start, range.end),
        };
        let start = spans.get(range.start).map(|span| span.0);
        let start = start.or_else(|| spans.last().map(|span| span.1)).unwrap_or_default();
        match spans.get(range.clone()).and_then(<[_]>::last) {
            Some(last) => (start, last.1.max(start)),
            None => (start, start),
        }
    }

    /// The spans of a text made from this one, given by spans of this one.
    fn composed(&self, text: &[u8], spans: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut composed = Vec::with_capacity(spans.len());
        for run in spans.chunk_by(|one, other| one == other) {
            let (start, end) = run[0];
            let made = &text[composed.len()..composed.len() + run.len()];
            let n_copied = if made.ends_with(&self.text[start..end]) { end - start } else { 0 };
            let whole = self.span(start..end);
            composed.extend(std::iter::repeat_n(whole, run.len() - n_copied));
            composed.extend((start..start + n_copied).map(|byte| self.span(byte..byte + 1)));
        }
        composed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::normalize::NormalizeStep;
    use crate::test_support::{normalizer, replace};

    #[test]
    fn spans_go_through_several_changes() {
        let lower = normalizer(vec![NormalizeStep::Lowercase]);
        let replace = replace("i\u{307}b", "c");
        let text = Traced::of(Segment::whole("aİBa".as_bytes()));
        let once = text.changed(&lower).unwrap();
        let twice = once.changed(&normalizer(vec![replace])).unwrap();
        assert_eq!((twice.span(0..1), twice.span(2..3)), ((0, 1), (4, 5)));
    }
}
