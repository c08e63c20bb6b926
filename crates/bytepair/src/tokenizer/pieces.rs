//! A text to its added tokens and the pieces between them, in order.
//!
//! The steps before the encoder: cut at added tokens, normalize, cut again, split. Places in the original text are kept
//! (`Traced`) only if the first piece is treated in a special way and cannot be recognised without them. Takes time linear
//! in the text, besides what the split pattern takes.

use super::Tokenizer;
use super::call::Call;
use super::worker::{Worker, push};
use crate::added::Part;
use crate::encoding::Traced;
use crate::error::{ErrorKind, Result};
use crate::segment::Segment;
use crate::vocabulary::TokenId;

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

/// What stands between added tokens is handed on as parts of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PartKind {
    /// Its pieces, one after the other.
    Piece,
    /// Undivided, for one that splits it by [`PreTokenizer::one_splitter`](crate::pretokenize::PreTokenizer).
    Segment,
    /// Undivided, but changed as the only round changes it, for the splitter of that round.
    Changed,
    /// Undivided, including the added tokens that are looked for in normalized text.
    Normalized,
}

impl Call<'_> {
    /// Calls `encode_part` for each added token, and for each piece between two or all that stands there, of a
    /// text or of a part of one that begins and ends where a cut changes nothing.
    pub(super) fn for_each_part(
        &self,
        stretch: Segment<'_>,
        (ids, part_kind): (&mut Vec<TokenId>, PartKind),
        worker: &mut Worker,
        mut encode_part: impl FnMut(&[u8], Part, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        let text = stretch.text;
        self.tokenizer.check_utf8(text)?;
        self.check_disallowed(stretch)?;
        self.matcher.cut_raw(text, |part| match part {
            token @ Part::Token(..) => encode_part(text, token, ids, worker),
            Part::Text(range) => {
                let segment = stretch.between(range);
                self.for_each_piece(segment, (ids, part_kind), worker, &mut encode_part)
            }
        })
    }

    /// Appends the ids of added tokens, and calls `append` for what stands between two, as it was given.
    pub(super) fn for_each_segment(
        &self,
        stretch: Segment<'_>,
        (ids, worker): (&mut Vec<TokenId>, &mut Worker),
        append: impl Fn(Segment<'_>, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        self.tokenizer.check_utf8(stretch.text)?;
        self.check_disallowed(stretch)?;
        self.matcher.cut_raw(stretch.text, |part| match part {
            Part::Token(id, _) => push(id, ids),
            Part::Text(range) => append(stretch.between(range), ids, worker),
        })
    }

    /// Visits the added tokens and pieces of a segment between added tokens of the original text.
    fn for_each_piece(
        &self,
        segment: Segment<'_>,
        (ids, part_kind): (&mut Vec<TokenId>, PartKind),
        worker: &mut Worker,
        encode_part: &mut impl FnMut(&[u8], Part, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let normalized = parts.normalizer.normalize(segment)?;
        if self.needs_tracing(segment, &normalized) {
            return self.for_each_traced_piece(segment, (ids, part_kind), worker, encode_part);
        }
        if part_kind == PartKind::Normalized && !normalized.is_empty() {
            return encode_part(&normalized, Part::Text(0..normalized.len()), ids, worker);
        }
        self.matcher.cut_normalized(&normalized, |part| match part {
            Part::Text(range) if part_kind == PartKind::Changed => {
                let segment = Segment { text: &normalized, ..segment }.part(range);
                let changed = parts.pre_tokenizer.changed(segment)?;
                encode_part(&changed, Part::Text(0..changed.len()), ids, worker)
            }
            Part::Text(range) if part_kind == PartKind::Piece => {
                let segment = Segment { text: &normalized, ..segment }.part(range);
                parts.pre_tokenizer.for_each_piece(segment, |text, piece| {
                    encode_part(text, Part::Text(piece), ids, worker)
                })
            }
            part => encode_part(&normalized, part, ids, worker),
        })
    }

    /// Whether pieces must know where they came from: what the first character became is treated in its own
    /// way, also where it is several pieces, or where white space was taken away before it.
    fn needs_tracing(&self, segment: Segment<'_>, normalized: &[u8]) -> bool {
        let pre_tokenizer = &self.tokenizer.parts.pre_tokenizer;
        let is_changed = || normalized != segment.text;
        segment.is_first
            && pre_tokenizer.asks_for_the_first()
            && (pre_tokenizer.asks_late() || is_changed())
    }

    /// [`Self::for_each_piece`] for the first segment, with pieces that are traced to their origin.
    fn for_each_traced_piece(
        &self,
        segment: Segment<'_>,
        (ids, part_kind): (&mut Vec<TokenId>, PartKind),
        worker: &mut Worker,
        encode_part: &mut impl FnMut(&[u8], Part, &mut Vec<TokenId>, &mut Worker) -> Result<()>,
    ) -> Result<()> {
        let parts = &self.tokenizer.parts;
        let beginning = Traced::of(segment);
        let normalized = beginning.changed(&parts.normalizer)?;
        self.matcher.cut_normalized(&normalized.text, |part| match part {
            token @ Part::Token(..) => encode_part(&normalized.text, token, ids, worker),
            Part::Text(range) if part_kind == PartKind::Changed => {
                let segment = normalized.part(range);
                let changed = parts.pre_tokenizer.changed_traced(&segment)?;
                encode_part(&changed.text, Part::Text(0..changed.text.len()), ids, worker)
            }
            Part::Text(range) => {
                parts.pre_tokenizer.for_each_traced(&normalized.part(range), &mut |text, piece| {
                    encode_part(&text.text, Part::Text(piece), ids, worker)
                })
            }
        })
    }
}
