//! Rows of a column to arrays of ids, with a mark before or behind each.

use bytepair::documents::{Layout, Marks};
use bytepair::{EncodeOptions, Number, TokenId};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use super::CoreTokenizer;
use crate::convert::{Added, n_threads};
use crate::error::OrRaise;
use crate::numpy_import::{GivenArray, into_array};
use crate::rows::Column;

/// Ids of 2 or of 4 bytes, and where those of each row end.
type IdArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

/// Encode the rows of a column of texts, special tokens being plain text.
///
/// With ``added_tokens="text"`` all added tokens are.
/// ``before`` or ``behind`` is an id that marks each row that has ids. Gives the ids of
/// all rows, and where those of each row end.
#[pyfunction]
#[pyo3(signature = (tokenizer, data, offsets, *, before=None, behind=None, width=4, added_tokens=Added::FIND, threads=None), text_signature = "(tokenizer, data, offsets, *, before=None, behind=None, width=4, added_tokens='find', threads=None)")]
pub(crate) fn encode_rows<'py>(
    py: Python<'py>,
    tokenizer: PyRef<'py, CoreTokenizer>,
    data: GivenArray<'py, u8>,
    offsets: GivenArray<'py, i64>,
    before: Option<TokenId>,
    behind: Option<TokenId>,
    width: usize,
    added_tokens: Added,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<IdArrays<'py>> {
    let marks = Marks { before, behind };
    let options = EncodeOptions { added_tokens: added_tokens.0, ..EncodeOptions::default() };
    let column = Column::new(data, offsets);
    let rows = column.rows()?;
    let n_threads = n_threads(threads)?;
    let core = &tokenizer.0;
    match width {
        2 => laid_out::<u16>(py, marks, |layout| core.encode_to(layout, &rows, options, n_threads)),
        _ => laid_out::<u32>(py, marks, |layout| core.encode_to(layout, &rows, options, n_threads)),
    }
}

/// The arrays of what `encode` lays out, without the GIL.
fn laid_out<N: Number + Element>(
    py: Python<'_>,
    marks: Marks,
    encode: impl FnOnce(&mut Layout<N>) -> bytepair::Result<()> + Send,
) -> PyResult<IdArrays<'_>> {
    let tokens = py.detach(|| {
        let mut layout = Layout::new(marks, Vec::new());
        encode(&mut layout)?;
        layout.finish()
    });
    let tokens = tokens.or_raise()?;
    Ok((into_array(py, tokens.ids)?.into_any(), tokens.ends.into_pyarray(py)))
}
