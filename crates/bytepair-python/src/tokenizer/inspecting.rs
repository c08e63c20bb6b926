//! What `bytepair.analyze` needs: queries about the vocabulary, how often tokens are used, and what happens to a text, step
//! by step.
//!
//! Parts of a text are tuples, whose first field says which they are.

use std::sync::Arc;

use bytepair::inspect::{MergeStep, Piece, TextPart};
use bytepair::segment::Segment;
use bytepair::units::{EndMarkKind, Missing, published_name};
use bytepair::vocabulary::{TokenId, TokenKind};
use bytepair::{EncodeOptions, Tokenizer};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};

use super::{CoreTokenizer, shown};
use crate::convert::{self, Added, Given, Ids, SpecialNames};
use crate::error::OrRaise;
use crate::template::{
    ShownPadding, ShownTruncation, WrittenPiece, shown_padding, shown_truncation, written_pieces,
};

/// What a tokenizer is made of, and what it does with a text: the queries of ``bytepair.analyze`` and ``bytepair.surgery``.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> tokenizer.inspect().rules()["is_bytes"]
/// True
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Inspection(pub(crate) Arc<Tokenizer>);

#[pymethods]
impl Inspection {
    /// The merges in order: left id, right id, id, and the pair's count when it was merged.
    ///
    /// The count is ``None`` where it is not known, as in most files.
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

    /// How each stage of the splitter is executed, or several that are done at once.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> [stage[:9] for stage in tokenizer.inspect().stages]
    /// ['automaton']
    #[getter]
    fn stages(&self) -> Vec<String> {
        self.0.explain()
    }

    /// The name and the text of each line of the description.
    #[getter]
    fn description(&self) -> Vec<(&'static str, String)> {
        self.0.describe()
    }

    /// How texts are cut to a length, or ``None``; see ``Tokenizer.with_truncation``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.with_truncation(512).inspect().truncation["max_length"]
    /// 512
    #[getter]
    fn truncation(&self) -> Option<ShownTruncation> {
        self.0.parts().truncation.as_ref().map(shown_truncation)
    }

    /// How texts are filled up to a length, or ``None``; see ``Tokenizer.with_padding``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.with_padding(0, multiple_of=8).inspect().padding["multiple_of"]
    /// 8
    #[getter]
    fn padding(&self) -> Option<ShownPadding> {
        self.0.parts().padding.as_ref().map(shown_padding)
    }

    /// What is put around one text, and around two; see ``Tokenizer.with_template``.
    ///
    /// Each piece has the number of a text or ``None``, the ids of special tokens, and a type.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.inspect().template[0]
    /// [(0, [], 0)]
    #[getter]
    fn template(&self) -> (Vec<WrittenPiece>, Vec<WrittenPiece>) {
        let template = &self.0.parts().template;
        (written_pieces(&template.single), written_pieces(&template.pair))
    }

    /// A text after the normalizer, special tokens taken as plain text.
    fn normalized(&self, text: Given<'_>) -> PyResult<String> {
        let normalizer = &self.0.parts().normalizer;
        let normalized = normalizer.normalize(Segment::whole(text.bytes));
        let normalized = normalized.or_raise()?;
        Ok(String::from_utf8_lossy(&normalized).into_owned())
    }

    /// The token of an id as ``Tokenizer.vocabulary`` has it: ``bytes``, or ``str`` in dialects of characters.
    fn token<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let token = self.0.parts().vocabulary.expect_token(convert::id(id)?).or_raise()?;
        Ok(shown(&self.0, py, token))
    }

    /// Look up the id of a token as Hugging Face files write it, or ``None``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.inspect().id_of_written("Ġ"), tokenizer.token_to_id(" ")
    /// (220, 220)
    fn id_of_written(&self, token: &str) -> Option<TokenId> {
        self.0.id_of_published(token)
    }

    /// Return for each id why its token must stay, ``None`` if it need not.
    fn why_it_stays(&self, ids: Vec<TokenId>) -> Vec<Option<&'static str>> {
        self.0.why_it_stays(&ids)
    }

    /// Return these tokens and all that are built on them, each with its parts.
    fn built_on(
        &self,
        py: Python<'_>,
        ids: Vec<TokenId>,
    ) -> PyResult<Vec<(TokenId, Vec<TokenId>)>> {
        py.detach(|| self.0.built_on(&ids)).or_raise()
    }

    /// The kind and the bytes of each token by id: text, text that continues a piece, that ends it, both, byte, unknown,
    /// added, none.
    fn tokens<'py>(&self, py: Python<'py>) -> Vec<(u8, Bound<'py, PyBytes>)> {
        let vocabulary = &self.0.parts().vocabulary;
        let tokens = (0..).take(vocabulary.len()).map(|id| match vocabulary.token(id) {
            Some(token) => (code(token.kind), PyBytes::new(py, token.bytes)),
            None => (code(TokenKind::Hole), PyBytes::new(py, b"")),
        });
        tokens.collect()
    }

    /// The rules by which text becomes units.
    fn rules<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = self.0.parts();
        let units = &parts.units;
        let rules = PyDict::new(py);
        rules.set_item("is_bytes", units.is_bytes())?;
        rules.set_item("end_mark", units.end_mark.as_ref().map(|mark| mark.text.as_str()))?;
        let is_suffix = units.end_mark_kind() == Some(EndMarkKind::Suffix);
        rules.set_item("end_mark_is_suffix", is_suffix)?;
        rules.set_item("continuing_prefix", units.continuing_prefix.as_deref())?;
        rules.set_item("unknown", units.unknown.as_deref())?;
        rules.set_item("byte_fallback", units.byte_fallback)?;
        rules.set_item("drops_missing", units.missing == Missing::Drop)?;
        rules.set_item("ignore_merges", parts.ignore_merges)?;
        let in_model = parts.added.iter().filter(|token| token.in_model).map(|token| token.id);
        rules.set_item("in_model", in_model.collect::<Vec<_>>())?;
        rules.set_item("priorities", parts.vocabulary.priorities())?;
        Ok(rules)
    }

    /// Return this tokenizer with a token for units that nothing stands for, and its id; ``None`` where something stands
    /// for all.
    fn with_missing(&self, py: Python<'_>) -> PyResult<Option<(CoreTokenizer, TokenId)>> {
        let found = py.detach(|| self.0.with_missing()).or_raise()?;
        Ok(found.map(|(tokenizer, id)| (CoreTokenizer(Arc::clone(tokenizer)), *id)))
    }

    /// The tokens that merging their own units does not give, and those that it gives but no neighbours leave whole.
    fn unreached(&self, py: Python<'_>) -> (Vec<TokenId>, Vec<TokenId>) {
        let found = py.detach(|| self.0.unreached());
        (found.unmade, found.unplaced)
    }

    /// The units of a token of text; ``None`` where one is not in the vocabulary, and for other tokens.
    fn units_of(&self, id: TokenId) -> Option<Vec<TokenId>> {
        self.0.units_of_token(id)
    }

    /// What units are merged to.
    fn merged(&self, ids: Vec<TokenId>) -> PyResult<Vec<TokenId>> {
        self.0.merged(&ids).or_raise()
    }

    /// For each text: whether it is proven that the split pattern cuts it wherever it stands.
    fn never_held(&self, py: Python<'_>, texts: Vec<Vec<u8>>) -> Vec<bool> {
        let texts: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        py.detach(|| self.0.never_held(&texts))
    }

    /// For each text: whether it is proven that no normalized text contains it.
    fn never_normalized(&self, py: Python<'_>, texts: Vec<Vec<u8>>) -> PyResult<Vec<bool>> {
        let texts: Vec<_> = texts.iter().map(Vec::as_slice).collect();
        py.detach(|| self.0.never_normalized(&texts)).or_raise()
    }
}

fn code(kind: TokenKind) -> u8 {
    match kind {
        TokenKind::Text(form) => u8::from(form.continues()) | u8::from(form.ends()) << 1,
        TokenKind::Byte => 4,
        TokenKind::Unknown => 5,
        TokenKind::Added => 6,
        TokenKind::Hole => 7,
    }
}

/// The place of the left part, the place of the merge among all, its priority, both parts and the result.
type Step = (usize, usize, u32, TokenId, TokenId, TokenId);

/// The kind of a token, its bytes, whether it goes on with a piece and whether it ends one, and how it is written.
type Known<'py> = (&'static str, Bound<'py, PyBytes>, bool, bool, String);

#[pymethods]
impl Inspection {
    /// Everything that happens to a text, as parts. Spans are of bytes.
    ///
    /// A part is ``("added", id, start, end)`` or ``("text", start, end, normalized, parts)``, whose parts are
    /// added tokens or ``("piece", start, end, text, is_whole, symbols, steps, tokens)``. A symbol has its span in
    /// the piece, a token that in the text.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND),
        text_signature = "($self, text, *, allowed_special=(), added_tokens='find')"
    )]
    fn course<'py>(
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
        let parts = py.detach(|| self.0.course(text.bytes, options)).or_raise()?;
        let parts = parts.into_iter().map(|part| text_part(py, part));
        PyList::new(py, parts.collect::<PyResult<Vec<_>>>()?)
    }

    /// The symbols of a piece before any merge: ids with their spans in the piece; ``None`` for a unit that nothing in
    /// the vocabulary stands for.
    fn symbols(&self, piece: &[u8]) -> PyResult<Vec<(Option<TokenId>, usize, usize)>> {
        let symbols = self.0.symbols(piece).or_raise()?;
        Ok(symbols.into_iter().map(|(id, at)| (id, at.start, at.end)).collect())
    }

    /// The merges of a row of tokens, in order.
    fn merge_steps(&self, py: Python<'_>, ids: Ids) -> PyResult<Vec<Step>> {
        let steps = py.detach(|| self.0.merge_steps(&ids.0)).or_raise()?;
        Ok(steps.iter().map(step).collect())
    }

    /// Of each id: the kind of its token, its bytes, whether it goes on with a piece and whether it ends one, and how
    /// it is written.
    fn tokens_of<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Vec<Known<'py>>> {
        let parts = self.0.parts();
        let known = |&id: &TokenId| {
            let token = parts.vocabulary.expect_token(id).or_raise()?;
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
