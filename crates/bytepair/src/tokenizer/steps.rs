//! A text with everything that happens to it: added tokens, normalization, splitting and each merge.
//!
//! The ids are those of `call` without the template, and the spans are those of `with_spans`. This is for display, not
//! for speed: nothing is cached, and each merge is recorded.

use std::ops::Range;

use super::call::Call;
use super::walk::{Depth, Met};
use super::worker::Worker;
use super::{EncodeOptions, Tokenizer};
use crate::encode::{MergeStep, PieceCourse, give_indices};
use crate::encoding::Traced;
use crate::error::Result;
use crate::segment::Segment;
use crate::vocabulary::TokenId;

/// A part of a text, with its start and end in the text, in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPart {
    /// An added token that was found in the text, or in the normalized text of a segment.
    Added(TokenId, (usize, usize)),
    /// The text between two added tokens: its normalized text, and the added tokens and pieces that it is cut into.
    Segment((usize, usize), Vec<u8>, Vec<Self>),
    /// A piece of a segment.
    Piece(Piece),
}

/// A piece and how it becomes ids.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Piece {
    /// Where in the text it came from, in bytes.
    pub span: (usize, usize),
    /// The piece as the vocabulary has it.
    pub text: Vec<u8>,
    /// How it becomes ids.
    pub course: PieceCourse,
    /// By token: where in the text it came from, in bytes.
    pub spans: Vec<(usize, usize)>,
}

impl Tokenizer {
    /// Everything that happens to a text, except for the template and dropout.
    ///
    /// # Errors
    /// As for [`Tokenizer::encode`].
    pub fn course(&self, text: &[u8], options: EncodeOptions<'_>) -> Result<Vec<TextPart>> {
        let mut parts = self.call(options)?.course(text)?;
        let pieces = parts.iter_mut().flat_map(|part| match part {
            TextPart::Segment(_, _, parts) => parts.as_mut_slice(),
            _ => &mut [],
        });
        let steps = pieces.flat_map(|part| match part {
            TextPart::Piece(piece) => piece.course.steps.as_mut_slice(),
            _ => &mut [],
        });
        give_indices(&self.parts.vocabulary, steps);
        Ok(parts)
    }

    /// The symbols of a piece before any merge, each with the bytes of the piece that it stands for; `None` for a unit
    /// that nothing in the vocabulary stands for.
    ///
    /// # Errors
    /// If a piece of characters is not UTF-8.
    pub fn symbols(&self, piece: &[u8]) -> Result<Vec<(Option<TokenId>, Range<usize>)>> {
        self.encoder().symbols_of(piece)
    }

    /// The merges of a row of tokens, in order.
    ///
    /// # Errors
    /// If there are too many.
    pub fn merge_steps(&self, ids: &[TokenId]) -> Result<Vec<MergeStep>> {
        let merge = |worker: &mut Box<Worker>| self.encoder().merge_steps(ids, &mut worker.scratch);
        let mut steps = self.workers.with(merge)?;
        give_indices(&self.parts.vocabulary, steps.iter_mut());
        Ok(steps)
    }
}

impl Call<'_> {
    fn course(&self, text: &[u8]) -> Result<Vec<TextPart>> {
        let mut parts = Vec::new();
        let text = Traced::of(Segment::whole(text));
        self.tokenizer.workers.with(|worker| {
            self.walk(&text, Depth::Piece, |met| self.push_course(met, &mut parts, worker))
        })?;
        Ok(parts)
    }

    /// Appends what a walk met, to the last segment if it is inside one.
    fn push_course(
        &self,
        met: Met<'_>,
        parts: &mut Vec<TextPart>,
        worker: &mut Worker,
    ) -> Result<()> {
        let is_inner = matches!(met, Met::Text { .. } | Met::Token { is_normalized: true, .. });
        let part = match met {
            Met::Segment { place, normalized } => {
                let span = (place.start, place.end);
                TextPart::Segment(span, normalized.text.to_vec(), Vec::new())
            }
            Met::Token { id, text, place, .. } => TextPart::Added(id, text.span(place)),
            Met::Text { text, place } => {
                TextPart::Piece(self.course_of_piece(text, place, worker)?)
            }
        };
        match parts.last_mut() {
            Some(TextPart::Segment(_, _, inner)) if is_inner => inner.push(part),
            _ => parts.push(part),
        }
        Ok(())
    }

    fn course_of_piece(
        &self,
        text: &Traced<'_>,
        place: Range<usize>,
        worker: &mut Worker,
    ) -> Result<Piece> {
        let bytes = &text.text[place.clone()];
        let course = match self.matcher.whole_piece(bytes) {
            Some(id) => PieceCourse::whole(id, bytes.len()),
            None => self.tokenizer.encoder().course(bytes, &mut worker.scratch)?,
        };
        let in_text = |start, end| text.span(place.start + start..place.start + end);
        let spans = course.tokens.iter().map(|(_, at)| in_text(at.start, at.end)).collect();
        Ok(Piece { span: in_text(0, bytes.len()), text: bytes.to_vec(), course, spans })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{message, options, text, tokenizers};
    use super::*;
    use proptest::prelude::*;

    /// The tokens that the steps of a piece lead to.
    fn followed(course: &PieceCourse) -> Vec<TokenId> {
        let mut row: Vec<_> = course.symbols.iter().map(|(id, _)| Some(*id)).collect();
        for MergeStep { place, merge, .. } in &course.steps {
            assert_eq!(row[*place], Some(merge.left));
            let right = (place + 1..row.len()).find(|&right| row[right].is_some()).unwrap();
            assert_eq!(row[right].take(), Some(merge.right));
            row[*place] = Some(merge.result);
        }
        row.into_iter().flatten().collect()
    }

    /// The tokens of a part, each with its place, after the merge steps.
    fn tokens_of(part: TextPart) -> Vec<(TokenId, (usize, usize))> {
        let Piece { course, spans, .. } = match part {
            TextPart::Added(id, span) => return vec![(id, span)],
            TextPart::Segment(_, _, inner) => return ids_and_spans(inner),
            TextPart::Piece(piece) => piece,
        };
        let ids: Vec<_> = course.tokens.iter().map(|(id, _)| *id).collect();
        assert!(course.is_whole || followed(&course) == ids);
        ids.into_iter().zip(spans).collect()
    }

    fn ids_and_spans(parts: Vec<TextPart>) -> Vec<(TokenId, (usize, usize))> {
        parts.into_iter().flat_map(tokens_of).collect()
    }

    proptest! {
        #[test]
        fn the_course_of_a_text_ends_with_its_ids_and_spans(which: prop::sample::Index, text in text(), allows: bool) {
            let tokenizer = which.get(tokenizers());
            let expected = message(tokenizer.encode(&text, options(allows)));
            let found = message(tokenizer.course(&text, options(allows)).map(ids_and_spans));
            let ids = found.clone().map(|found| found.iter().map(|(id, _)| *id).collect());
            prop_assert_eq!(ids, expected);
            let call = tokenizer.call(options(allows)).unwrap();
            let row = message(call.trace(Segment::whole(&text), 0).map(|row| row.offsets));
            prop_assert_eq!(found.map(|found| found.iter().map(|(_, span)| *span).collect()), row);
        }
    }
}
