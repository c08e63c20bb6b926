//! What happens to a text, step by step, for those that show it: `bytepair.analyze`.
//!
//! Parts of a text are tuples, whose first field says which they are.

use bytepair::units::published_name;
use bytepair::{EncodeOptions, MergeStep, Piece, SegmentPart, TextPart, TokenId, TokenKind};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyTuple};

use super::CoreTokenizer;
use crate::convert::{Added, Given, Ids, SpecialNames};
use crate::error::to_python;

/// The place of the left part, the place of the merge among all, its priority, both parts and the result.
type Step = (usize, usize, u32, TokenId, TokenId, TokenId);

/// The kind of a token, its bytes, whether it goes on with a piece and whether it ends one, and how it is written.
type Known<'py> = (&'static str, Bound<'py, PyBytes>, bool, bool, String);

#[pymethods]
impl CoreTokenizer {
    /// Everything that happens to a text, as parts. Spans are of bytes.
    ///
    /// A part is ``("added", id, start, end)`` or ``("text", start, end, normalized, parts)``, whose parts are
    /// added tokens or ``("piece", start, end, text, is_whole, symbols, steps, tokens)``. A symbol has its span in
    /// the piece, a token that in the text.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND),
        text_signature = "($self, text, *, allowed_special=(), added_tokens='find')"
    )]
    fn _course<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        allowed_special: SpecialNames,
        added_tokens: Added,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = EncodeOptions {
            allowed_special: allowed_special.as_specials(),
            added_tokens: added_tokens.0,
            ..EncodeOptions::default()
        };
        let parts = py.detach(|| self.0.course(text.bytes, options));
        let parts = parts.map_err(|error| to_python(&error))?;
        let parts = parts.into_iter().map(|part| text_part(py, part));
        PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The symbols of a piece before any merge: ids with their spans in the piece; ``None`` for a unit that nothing in
    /// the vocabulary stands for.
    fn _symbols(&self, piece: &[u8]) -> PyResult<Vec<(Option<TokenId>, usize, usize)>> {
        let symbols = self.0.symbols(piece).map_err(|error| to_python(&error))?;
        Ok(symbols.into_iter().map(|(id, at)| (id, at.start, at.end)).collect())
    }

    /// The merges of a row of tokens, in order.
    fn _merge_steps(&self, py: Python<'_>, ids: Ids) -> PyResult<Vec<Step>> {
        let steps = py.detach(|| self.0.merge_steps(&ids.0)).map_err(|error| to_python(&error))?;
        Ok(steps.iter().map(step).collect())
    }

    /// Of each id: the kind of its token, its bytes, whether it goes on with a piece and whether it ends one, and how
    /// it is written.
    fn _tokens_of<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Vec<Known<'py>>> {
        let parts = self.0.parts();
        let known = |&id: &TokenId| {
            let token = parts.vocabulary.expect_token(id).map_err(|error| to_python(&error))?;
            let (kind, continues, ends) = match token.kind {
                TokenKind::Text(form) => ("text", form.continues(), form.ends()),
                TokenKind::Byte => ("byte", false, false),
                TokenKind::Unknown => ("unknown", false, false),
                TokenKind::Added | TokenKind::Hole => ("added", false, false),
            };
            let written = published_name(&parts.units, token);
            Ok((kind, PyBytes::new(py, token.bytes), continues, ends, written))
        };
        ids.0.iter().map(known).collect()
    }
}

/// What a reader sees as one character: where each ends, in bytes, and its columns on a terminal.
///
/// Each byte that is not UTF-8 is one of its own, without columns.
///
/// >>> from bytepair import _core
/// >>> _core.graphemes("ae\u0301中".encode())
/// [(1, 1), (4, 1), (7, 2)]
#[pyfunction]
pub(crate) fn graphemes(text: Given<'_>) -> Vec<(usize, usize)> {
    bytepair::graphemes(text.bytes)
}

fn text_part(py: Python<'_>, part: TextPart) -> PyResult<Bound<'_, PyTuple>> {
    match part {
        TextPart::Added(id, span) => added(py, id, span),
        TextPart::Segment((start, end), text, parts) => {
            let parts = parts.into_iter().map(|part| match part {
                SegmentPart::Added(id, span) => added(py, id, span),
                SegmentPart::Piece(piece) => piece_tuple(py, &piece),
            });
            let parts = parts.collect::<PyResult<Vec<_>>>()?;
            ("text", start, end, PyBytes::new(py, &text), parts).into_pyobject(py)
        }
    }
}

fn added(
    py: Python<'_>,
    id: TokenId,
    (start, end): (usize, usize),
) -> PyResult<Bound<'_, PyTuple>> {
    ("added", id, start, end).into_pyobject(py)
}

fn piece_tuple<'py>(py: Python<'py>, piece: &Piece) -> PyResult<Bound<'py, PyTuple>> {
    let Piece { span: (start, end), text, course, spans } = piece;
    let symbols: Vec<_> = course.symbols.iter().map(|(id, at)| (*id, at.start, at.end)).collect();
    let steps: Vec<_> = course.steps.iter().map(step).collect();
    let tokens = course.tokens.iter().zip(spans);
    let tokens: Vec<_> = tokens.map(|((id, _), (start, end))| (*id, *start, *end)).collect();
    let text = PyBytes::new(py, text);
    ("piece", *start, *end, text, course.is_whole, symbols, steps, tokens).into_pyobject(py)
}

fn step(step: &MergeStep) -> Step {
    let MergeStep { place, index, priority, merge } = step;
    (*place, *index, *priority, merge.left, merge.right, merge.result)
}
