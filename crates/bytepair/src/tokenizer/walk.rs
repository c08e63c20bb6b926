//! One walk through a text: from the text to its added tokens and pieces, in order.
//!
//! ```text
//! refuse bytes that are not UTF-8, and tokens that must not stand in the text
//! cut at added tokens
//! for each segment between them: normalize, cut at the added tokens of normalized text
//!     for each part between those: change, split into pieces
//! ```
//!
//! Everything that reads a text uses this walk and observes it: encoding, spans of tokens, the steps of a trace,
//! usage, words, and the texts of resumed training. A caller says how [far](Depth) the walk goes; a splitter or the
//! word finder does the rest faster if possible. Texts are [`Traced`] through each change only if a caller wants
//! spans, or if the first piece is treated specially and cannot be recognised otherwise.
//!
//! Takes time linear in the text, apart from the split pattern.

use std::ops::Range;

use super::Tokenizer;
use super::call::Call;
use crate::added::Part;
use crate::encoding::Traced;
use crate::error::{ErrorKind, Result};
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// How far a walk goes before it hands text to its observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Depth {
    /// Segments between added tokens, as they stand in the text.
    Raw,
    /// Normalized segments, including the added tokens that are looked for in normalized text.
    Normalized,
    /// Normalized text between added tokens, for
    /// [`PreTokenizer::one_splitter`](crate::pretokenize::PreTokenizer::one_splitter).
    Segment,
    /// The same after the changes of the only round, for the splitter of that round.
    Changed,
    /// Pieces.
    Piece,
}

/// What a walk meets, in the order of the text.
pub(super) enum Met<'w> {
    /// An added token, and the text in which it was found: the original, or a normalized segment.
    Token { id: TokenId, text: &'w Traced<'w>, place: Range<usize>, is_normalized: bool },
    /// The beginning of a segment between added tokens: its place in the text, and its normalized text.
    Segment { place: Range<usize>, normalized: &'w Traced<'w> },
    /// Text at the depth of the walk, such as a piece.
    Text { text: &'w Traced<'w>, place: Range<usize> },
}

impl Tokenizer {
    pub(super) fn check_utf8(&self, text: &[u8]) -> Result<()> {
        if self.parts.units.is_bytes() || self.parts.normalizer.is_sentencepiece() {
            return Ok(());
        }
        if simdutf8::basic::from_utf8(text).is_ok() {
            return Ok(());
        }
        let checked = std::str::from_utf8(text);
        checked
            .map(drop)
            .map_err(|error| ErrorKind::NotUtf8 { offset: error.valid_up_to() as u64 }.into())
    }
}

impl Call<'_> {
    /// Walks through a text, or through a part between cuts that change nothing. An error of `observe` ends the walk.
    ///
    /// # Errors
    /// If the text must be UTF-8 but is not, it contains a disallowed token, splitting fails, or `observe` fails.
    pub(super) fn walk(
        &self,
        text: &Traced<'_>,
        depth: Depth,
        mut observe: impl FnMut(Met<'_>) -> Result<()>,
    ) -> Result<()> {
        self.tokenizer.check_utf8(&text.text)?;
        self.check_disallowed(text.segment())?;
        self.matcher.raw.cut(&text.text, |part| match part {
            Part::Token(id, place) => observe(Met::Token { id, text, place, is_normalized: false }),
            Part::Text(place) if depth == Depth::Raw => {
                let segment = text.between(place);
                observe(Met::Text { text: &segment, place: 0..segment.text.len() })
            }
            Part::Text(place) => {
                let segment = text.between(place.clone());
                self.walk_segment(&segment, place, depth, &mut observe)
            }
        })
    }

    /// A [`Self::walk`] that appends the ids of added tokens, and calls `append` for all other text.
    ///
    /// # Errors
    /// As for [`Self::walk`].
    pub(super) fn walk_to_ids(
        &self,
        text: Segment<'_>,
        depth: Depth,
        ids: &mut Vec<TokenId>,
        mut append: impl FnMut(&Traced<'_>, Range<usize>, &mut Vec<TokenId>) -> Result<()>,
    ) -> Result<()> {
        self.walk(&Traced::plain(text), depth, |met| match met {
            Met::Token { id, .. } => {
                ids.push(id);
                Ok(())
            }
            Met::Segment { .. } => Ok(()),
            Met::Text { text, place } => append(text, place, ids),
        })
    }

    /// Walks through a segment between added tokens, at a place of the text.
    fn walk_segment(
        &self,
        segment: &Traced<'_>,
        place: Range<usize>,
        depth: Depth,
        observe: &mut impl FnMut(Met<'_>) -> Result<()>,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let normalized = segment.changed(&parts.normalizer)?;
        if !segment.has_spans() && self.needs_spans(segment, &normalized) {
            return self.walk_segment(&segment.with_spans(), place, depth, observe);
        }
        observe(Met::Segment { place, normalized: &normalized })?;
        let whole = 0..normalized.text.len();
        if depth == Depth::Normalized && !whole.is_empty() {
            return observe(Met::Text { text: &normalized, place: whole });
        }
        self.matcher.normalized.cut(&normalized.text, |part| match part {
            Part::Token(id, place) => {
                observe(Met::Token { id, text: &normalized, place, is_normalized: true })
            }
            Part::Text(place) if depth == Depth::Changed => {
                let part = normalized.part(place);
                let text = &parts.pre_tokenizer.changed(&part)?;
                observe(Met::Text { text, place: 0..text.text.len() })
            }
            Part::Text(place) if depth == Depth::Piece => {
                let part = normalized.part(place);
                parts
                    .pre_tokenizer
                    .for_each_piece(&part, &mut |text, place| observe(Met::Text { text, place }))
            }
            Part::Text(place) => observe(Met::Text { text: &normalized, place }),
        })
    }

    /// Whether pieces must know their origin, because the pieces of the first character are treated specially even if
    /// there are several of them, or if white space was removed before it.
    fn needs_spans(&self, segment: &Traced<'_>, normalized: &Traced<'_>) -> bool {
        let pre_tokenizer = &self.tokenizer.parts.pre_tokenizer;
        segment.is_first()
            && pre_tokenizer.asks_for_the_first()
            && (pre_tokenizer.asks_late() || normalized.text != segment.text)
    }
}
