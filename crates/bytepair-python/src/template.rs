//! Templates, truncation and padding as Python values.

use bytepair::TokenId;
use bytepair::template::{
    self, Padding, Sequence, Side, TemplatePiece, Truncation, TruncationStrategy,
};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{self, MaxLength, MultipleOf, PadLength, PadTypeId, Stride};
use crate::error::raise;

/// A piece of a template: the number of a text, or ids; and the type.
#[derive(FromPyObject, IntoPyObject)]
pub(crate) struct WrittenPiece(Option<u8>, Vec<TokenId>, u32);

pub(crate) fn written_pieces(pieces: &[TemplatePiece]) -> Vec<WrittenPiece> {
    let written = |piece: &TemplatePiece| match piece {
        TemplatePiece::Text { which: Sequence::First, type_id } => {
            WrittenPiece(Some(0), Vec::new(), *type_id)
        }
        TemplatePiece::Text { which: Sequence::Second, type_id } => {
            WrittenPiece(Some(1), Vec::new(), *type_id)
        }
        TemplatePiece::Special { ids, type_id, .. } => WrittenPiece(None, ids.clone(), *type_id),
    };
    pieces.iter().map(written).collect()
}

pub(crate) fn read_pieces(pieces: Vec<WrittenPiece>) -> Vec<TemplatePiece> {
    let read = |WrittenPiece(text, ids, type_id)| match text {
        Some(0) => TemplatePiece::Text { which: Sequence::First, type_id },
        Some(_) => TemplatePiece::Text { which: Sequence::Second, type_id },
        None => TemplatePiece::special(ids, type_id),
    };
    pieces.into_iter().map(read).collect()
}

pub(crate) fn truncation_dict<'py>(
    py: Python<'py>,
    truncation: &Truncation,
) -> PyResult<Bound<'py, PyDict>> {
    let strategy = match truncation.strategy {
        TruncationStrategy::LongestFirst => "longest_first",
        TruncationStrategy::OnlyFirst => "only_first",
        TruncationStrategy::OnlySecond => "only_second",
    };
    let dict = PyDict::new(py);
    dict.set_item("max_length", truncation.max_length)?;
    dict.set_item("stride", truncation.stride)?;
    dict.set_item("strategy", strategy)?;
    dict.set_item("side", side_name(truncation.side))?;
    Ok(dict)
}

pub(crate) fn padding_dict<'py>(
    py: Python<'py>,
    padding: &Padding,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("id", padding.id)?;
    dict.set_item("token", &padding.token)?;
    dict.set_item("length", padding.length)?;
    dict.set_item("multiple_of", padding.multiple_of)?;
    dict.set_item("side", side_name(padding.side))?;
    dict.set_item("type_id", padding.type_id)?;
    Ok(dict)
}

/// How ids are cut to a length, if there is one.
pub(crate) fn truncation(
    max_length: Option<MaxLength>,
    stride: Stride,
    strategy: &str,
    side: &str,
) -> PyResult<Option<Truncation>> {
    let Some(max_length) = max_length else { return Ok(None) };
    Ok(Some(Truncation {
        max_length: max_length.0,
        stride: stride.0,
        strategy: truncation_strategy(strategy)?,
        side: self::side(side)?,
    }))
}

/// How one call truncates and pads, in place of what its tokenizer says.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Lengths {
    truncation: Option<Truncation>,
    padding: Option<Padding>,
}

#[pymethods]
impl Lengths {
    #[new]
    #[pyo3(
        signature = (*, max_length=None, stride=Stride(0), strategy="longest_first", truncation_side="right", pad_id=None, pad_token=String::new(), pad_length=None, multiple_of=None, padding_side="right", pad_type_id=PadTypeId(0)),
        text_signature = "(*, max_length=None, stride=0, strategy='longest_first', truncation_side='right', pad_id=None, pad_token='', pad_length=None, multiple_of=None, padding_side='right', pad_type_id=0)"
    )]
    fn new(
        max_length: Option<MaxLength>,
        stride: Stride,
        strategy: &str,
        truncation_side: &str,
        pad_id: Option<&Bound<'_, PyAny>>,
        pad_token: String,
        pad_length: Option<PadLength>,
        multiple_of: Option<MultipleOf>,
        padding_side: &str,
        pad_type_id: PadTypeId,
    ) -> PyResult<Self> {
        let side = side(padding_side)?;
        let filling = |id| Padding {
            length: pad_length.map(|length| length.0),
            multiple_of: multiple_of.map(|multiple_of| multiple_of.0),
            side,
            id,
            type_id: pad_type_id.0,
            token: pad_token,
        };
        Ok(Self {
            truncation: truncation(max_length, stride, strategy, truncation_side)?,
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

fn truncation_strategy(name: &str) -> PyResult<TruncationStrategy> {
    match name {
        "longest_first" => Ok(TruncationStrategy::LongestFirst),
        "only_first" => Ok(TruncationStrategy::OnlyFirst),
        "only_second" => Ok(TruncationStrategy::OnlySecond),
        _ => {
            let names = "\"longest_first\", \"only_first\" or \"only_second\"";
            Err(raise("TokenizerError", format!("strategy must be {names}, not {name:?}")))
        }
    }
}

pub(crate) fn side(name: &str) -> PyResult<Side> {
    match name {
        "left" => Ok(Side::Left),
        "right" => Ok(Side::Right),
        _ => {
            let message = format!("side must be \"left\" or \"right\", not {name:?}");
            Err(raise("TokenizerError", message))
        }
    }
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}
