//! `Inspection`: the parts and the tokens of a tokenizer, and the steps of encoding a text.
//!
//! The parts of a text are tuples whose first field is their kind.

use std::sync::Arc;

use bytepair::inspect::{MergeStep, Piece, TextPart};
use bytepair::segment::Segment;
use bytepair::units::{EndMarkKind, Missing, published_name};
use bytepair::vocabulary::{Token, TokenId, TokenKind};
use bytepair::{EncodeOptions, Tokenizer};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList, PyTuple};

use super::{shown, spelled};
use crate::convert::{Added, BorrowedText, Ids, SpecialNames};
use crate::error::OrRaise;
use crate::template::{shown_padding, shown_truncation, written_pieces};

/// A token of a vocabulary. ``str`` writes it as ``Tokenizer.tokenize`` does.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["a b a b"], vocab_size=257)
/// >>> [token] = tokenizer.inspect().tokens([256])
/// >>> token.kind, token.bytes, str(token), token.written
/// ('text', b' b', ' b', 'Ġb')
#[pyclass(frozen, name = "Token", module = "bytepair._core")]
pub(crate) struct KnownToken {
    tokenizer: Arc<Tokenizer>,
    /// The id of the token.
    #[pyo3(get)]
    id: TokenId,
}

impl KnownToken {
    fn token(&self) -> Token<'_> {
        let hole = Token { kind: TokenKind::Hole, bytes: b"" };
        self.tokenizer.parts().vocabulary.token(self.id).unwrap_or(hole)
    }
}

#[pymethods]
impl KnownToken {
    /// ``"text"``, ``"byte"`` (of byte fallback), ``"unknown"``, ``"added"``, or ``"none"`` for an id without a token.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.token().kind {
            TokenKind::Text(_) => "text",
            TokenKind::Byte => "byte",
            TokenKind::Unknown => "unknown",
            TokenKind::Added => "added",
            TokenKind::Hole => "none",
        }
    }

    /// The bytes of the token, without marks.
    #[getter]
    fn bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.token().bytes)
    }

    /// The text of the token without marks, with ``U+FFFD`` for bytes that are not UTF-8.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(self.token().bytes).into_owned()
    }

    /// Whether the token continues a piece, in vocabularies that mark this.
    #[getter]
    fn continues(&self) -> bool {
        matches!(self.token().kind, TokenKind::Text(form) if form.continues())
    }

    /// Whether the token ends a piece, in vocabularies that mark this.
    #[getter]
    fn ends(&self) -> bool {
        matches!(self.token().kind, TokenKind::Text(form) if form.ends())
    }

    /// The token as in ``Tokenizer.vocabulary``: ``bytes``, or ``str`` in dialects of characters.
    #[getter]
    fn entry<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        shown(&self.tokenizer, py, self.token())
    }

    /// The token as Hugging Face files write it, such as ``Ġthe``.
    #[getter]
    fn written(&self) -> String {
        published_name(&self.tokenizer.parts().units, self.token())
    }

    fn __str__(&self) -> String {
        spelled(&self.tokenizer.parts().units, self.token())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.__str__().into_pyobject(py)?.repr()?;
        Ok(format!("<bytepair.Token: {}, {name}>", self.id))
    }
}

/// The parts of a tokenizer, and what it does with a text; returned by ``Tokenizer.inspect``.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> tokenizer.inspect().description["vocabulary"]
/// '258 tokens, 2 merges'
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Inspection(pub(crate) Arc<Tokenizer>);

/// The index of the left part, the index of the merge in the vocabulary, its priority, both parts and the result.
type Step = (usize, usize, u32, TokenId, TokenId, TokenId);

#[pymethods]
impl Inspection {
    /// The merges in order: left id, right id, result id, and the pair's count when it was merged.
    ///
    /// The count is ``None`` if it is not known, as for most files.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.inspect().merge_log
    /// [(75, 78, 256, 2), (256, 86, 257, 2)]
    #[getter]
    fn merge_log(&self) -> Vec<(TokenId, TokenId, TokenId, Option<i64>)> {
        let vocabulary = &self.0.parts().vocabulary;
        let counts =
            vocabulary.merge_counts().iter().copied().map(Some).chain(std::iter::repeat(None));
        let merges = vocabulary.merges().iter().zip(counts);
        merges.map(|(merge, count)| (merge.left, merge.right, merge.result, count)).collect()
    }

    /// The parts of the tokenizer in words, by name, as ``print`` shows them.
    #[getter]
    fn description<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.0.describe().into_py_dict(py)
    }

    /// The settings of the parts, by name.
    ///
    /// - ``stages``: how each stage of the splitter is executed.
    /// - ``template``: the templates for one text and for two. A piece has the number of a text or ``None``, the ids of
    ///   special tokens, and a type.
    /// - ``truncation`` and ``padding``: how texts are truncated and padded, or ``None``.
    /// - ``is_bytes``, ``end_mark``, ``end_mark_is_suffix``, ``continuing_prefix``, ``unknown``, ``byte_fallback``,
    ///   ``drops_missing``: how a piece becomes units.
    /// - ``ignore_merges``: whether a piece that is a token becomes that token without merges.
    /// - ``priorities``: the priorities of the merges, or ``None`` if they are their indices.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> settings = tokenizer.with_truncation(512).inspect().settings
    /// >>> settings["truncation"]["max_length"], settings["template"][0]
    /// (512, [(0, [], 0)])
    #[getter]
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = self.0.parts();
        let units = &parts.units;
        let settings = PyDict::new(py);
        let template = &parts.template;
        let pieces = (written_pieces(&template.single), written_pieces(&template.pair));
        settings.set_item("stages", self.0.explain())?;
        settings.set_item("template", pieces)?;
        settings.set_item("truncation", parts.truncation.as_ref().map(shown_truncation))?;
        settings.set_item("padding", parts.padding.as_ref().map(shown_padding))?;
        settings.set_item("is_bytes", units.is_bytes())?;
        settings.set_item("end_mark", units.end_mark.as_ref().map(|mark| mark.text.as_str()))?;
        let is_suffix = units.end_mark_kind() == Some(EndMarkKind::Suffix);
        settings.set_item("end_mark_is_suffix", is_suffix)?;
        settings.set_item("continuing_prefix", units.continuing_prefix.as_deref())?;
        settings.set_item("unknown", units.unknown.as_deref())?;
        settings.set_item("byte_fallback", units.byte_fallback)?;
        settings.set_item("drops_missing", units.missing == Missing::Drop)?;
        settings.set_item("ignore_merges", parts.ignore_merges)?;
        settings.set_item("priorities", parts.vocabulary.priorities())?;
        Ok(settings)
    }

    /// Return the tokens of these ids, or all tokens by id.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.inspect().tokens([257])
    /// [<bytepair.Token: 257, 'low'>]
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     No token has one of ``ids``.
    #[pyo3(signature = (ids=None))]
    fn tokens(&self, ids: Option<Ids>) -> PyResult<Vec<KnownToken>> {
        let vocabulary = &self.0.parts().vocabulary;
        let token = |id| KnownToken { tokenizer: Arc::clone(&self.0), id };
        let Some(Ids(ids)) = ids else {
            return Ok((0..).take(vocabulary.len()).map(token).collect());
        };
        ids.into_iter()
            .map(|id| vocabulary.expect_token(id).map(|_| token(id)).or_raise())
            .collect()
    }

    /// Return the normalized text. Special tokens are plain text.
    fn normalized(&self, text: BorrowedText<'_>) -> PyResult<String> {
        let normalizer = &self.0.parts().normalizer;
        let normalized = normalizer.normalize(Segment::whole(text.bytes));
        let normalized = normalized.or_raise()?;
        Ok(String::from_utf8_lossy(&normalized).into_owned())
    }

    /// Return the steps of encoding a text, as parts. Spans are in bytes.
    ///
    /// A part is ``("added", id, start, end)`` or ``("text", start, end, normalized, parts)``, whose parts are
    /// added tokens or ``("piece", start, end, text, is_whole, symbols, steps, tokens)``. A symbol has its span in
    /// the piece, and a token its span in the text.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND),
        text_signature = "($self, text, *, allowed_special=(), added_tokens='find')"
    )]
    fn course<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        allowed_special: SpecialNames,
        added_tokens: Added,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = EncodeOptions {
            allowed_special: allowed_special.as_specials(),
            added_tokens: added_tokens.0,
            ..EncodeOptions::default()
        };
        let parts = py.detach(|| self.0.course(text.bytes, options)).or_raise()?;
        let parts = parts.into_iter().map(|part| text_part(py, part));
        PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    /// Return the symbols of a piece before any merge: ids with their spans in the piece.
    ///
    /// The id is ``None`` for a unit that no token stands for.
    fn symbols(&self, piece: &[u8]) -> PyResult<Vec<(Option<TokenId>, usize, usize)>> {
        let symbols = self.0.symbols(piece).or_raise()?;
        Ok(symbols.into_iter().map(|(id, at)| (id, at.start, at.end)).collect())
    }

    /// Return the merges of a sequence of tokens, in order.
    ///
    /// A merge has the index of its left part, its index in :attr:`merge_log`, its priority, both parts and the result.
    fn merge_steps(&self, py: Python<'_>, ids: Ids) -> PyResult<Vec<Step>> {
        let steps = py.detach(|| self.0.merge_steps(&ids.0)).or_raise()?;
        Ok(steps.iter().map(step).collect())
    }
}

/// Return the graphemes of a text: the end of each, in bytes, and its width in terminal columns.
///
/// Each byte that is not UTF-8 is a grapheme of its own, with no columns.
///
/// >>> from bytepair import _core
/// >>> _core.graphemes("ae\u0301中".encode())
/// [(1, 1), (4, 1), (7, 2)]
#[pyfunction]
pub(crate) fn graphemes(text: BorrowedText<'_>) -> Vec<(usize, usize)> {
    bytepair::graphemes(text.bytes)
}

fn text_part(py: Python<'_>, part: TextPart) -> PyResult<Bound<'_, PyTuple>> {
    match part {
        TextPart::Added(id, (start, end)) => ("added", id, start, end).into_pyobject(py),
        TextPart::Piece(piece) => piece_tuple(py, &piece),
        TextPart::Segment((start, end), text, parts) => {
            let parts = parts.into_iter().map(|part| text_part(py, part));
            let parts = parts.collect::<PyResult<Vec<_>>>()?;
            ("text", start, end, PyBytes::new(py, &text), parts).into_pyobject(py)
        }
    }
}

fn piece_tuple<'py>(py: Python<'py>, piece: &Piece) -> PyResult<Bound<'py, PyTuple>> {
    let Piece { span: (start, end), text, course, spans, .. } = piece;
    let symbols: Vec<_> = course.symbols.iter().map(|(id, at)| (*id, at.start, at.end)).collect();
    let steps: Vec<_> = course.steps.iter().map(step).collect();
    let tokens = course.tokens.iter().zip(spans);
    let tokens: Vec<_> = tokens.map(|((id, _), (start, end))| (*id, *start, *end)).collect();
    let text = PyBytes::new(py, text);
    ("piece", *start, *end, text, course.is_whole, symbols, steps, tokens).into_pyobject(py)
}

fn step(step: &MergeStep) -> Step {
    let MergeStep { place, index, priority, merge, .. } = step;
    (*place, *index, *priority, merge.left, merge.right, merge.result)
}
