//! Templates, truncation and padding as Python values.

use bytepair::template::{self, Padding, Side, TemplatePiece, Truncation, TruncationStrategy};
use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use crate::convert::{self, Length, MaxLength, MultipleOf, Stride, TypeId, name_of, value_of};

/// A piece of a template: the number of a text or `None`, the ids of special tokens, and the type.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) struct WrittenPiece(Option<u8>, Vec<TokenId>, u32);

pub(crate) fn written_pieces(pieces: &[TemplatePiece]) -> Vec<WrittenPiece> {
    let written = |piece: &TemplatePiece| match piece {
        TemplatePiece::First { type_id } => WrittenPiece(Some(0), Vec::new(), *type_id),
        TemplatePiece::Second { type_id } => WrittenPiece(Some(1), Vec::new(), *type_id),
        TemplatePiece::Special { ids, type_id, .. } => WrittenPiece(None, ids.clone(), *type_id),
    };
    pieces.iter().map(written).collect()
}

pub(crate) fn read_pieces(pieces: Vec<WrittenPiece>) -> Vec<TemplatePiece> {
    let read = |WrittenPiece(text, ids, type_id)| match text {
        Some(0) => TemplatePiece::First { type_id },
        Some(_) => TemplatePiece::Second { type_id },
        None => TemplatePiece::special(ids, type_id),
    };
    pieces.into_iter().map(read).collect()
}

/// Truncation as a Python dict.
#[derive(IntoPyObject)]
pub(crate) struct ShownTruncation {
    max_length: usize,
    stride: usize,
    strategy: &'static str,
    side: &'static str,
}

/// Padding as a Python dict.
#[derive(IntoPyObject)]
pub(crate) struct ShownPadding {
    id: TokenId,
    token: String,
    length: Option<usize>,
    multiple_of: Option<usize>,
    side: &'static str,
    type_id: u32,
}

pub(crate) fn shown_truncation(truncation: &Truncation) -> ShownTruncation {
    let Truncation { max_length, stride, strategy, side } = *truncation;
    let strategy = name_of(&STRATEGIES, strategy);
    ShownTruncation { max_length, stride, strategy, side: name_of(&SIDES, side) }
}

pub(crate) fn shown_padding(padding: &Padding) -> ShownPadding {
    let Padding { id, token, length, multiple_of, side, type_id } = padding.clone();
    ShownPadding { id, token, length, multiple_of, side: name_of(&SIDES, side), type_id }
}

/// The truncation and padding of one call or of a new tokenizer.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Lengths {
    pub(crate) truncation: Option<Truncation>,
    pub(crate) padding: Option<Padding>,
}

#[pymethods]
impl Lengths {
    #[new]
    #[pyo3(signature = (*, max_length=None, stride=Stride(0), strategy="longest_first", truncation_side="right", pad_id=None, pad_token=String::new(), length=None, multiple_of=None, padding_side="right", type_id=TypeId(0)), text_signature = "(*, max_length=None, stride=0, strategy='longest_first', truncation_side='right', pad_id=None, pad_token='', length=None, multiple_of=None, padding_side='right', type_id=0)")]
    fn new(
        max_length: Option<MaxLength>,
        stride: Stride,
        strategy: &str,
        truncation_side: &str,
        pad_id: Option<&Bound<'_, PyAny>>,
        pad_token: String,
        length: Option<Length>,
        multiple_of: Option<MultipleOf>,
        padding_side: &str,
        type_id: TypeId,
    ) -> PyResult<Self> {
        let cutting = |max_length: MaxLength| {
            PyResult::Ok(Truncation {
                max_length: max_length.0,
                stride: stride.0,
                strategy: value_of("strategy", strategy, &STRATEGIES)?,
                side: side(truncation_side)?,
            })
        };
        let side = side(padding_side)?;
        let filling = |id| Padding {
            length: length.map(|length| length.0),
            multiple_of: multiple_of.map(|multiple_of| multiple_of.0),
            side,
            id,
            type_id: type_id.0,
            token: pad_token,
        };
        Ok(Self {
            truncation: max_length.map(cutting).transpose()?,
            padding: pad_id.map(convert::id).transpose()?.map(filling),
        })
    }
}

impl Lengths {
    /// The lengths as the core takes them.
    pub(crate) fn core(&self) -> template::Lengths<'_> {
        template::Lengths { truncation: self.truncation.as_ref(), padding: self.padding.as_ref() }
    }
}

const STRATEGIES: [(&str, TruncationStrategy); 3] = [
    ("longest_first", TruncationStrategy::LongestFirst),
    ("only_first", TruncationStrategy::OnlyFirst),
    ("only_second", TruncationStrategy::OnlySecond),
];

const SIDES: [(&str, Side); 2] = [("left", Side::Left), ("right", Side::Right)];

pub(crate) fn side(name: &str) -> PyResult<Side> {
    value_of("side", name, &SIDES)
}
