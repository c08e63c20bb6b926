//! Contents of files to tokenizers and back.

use std::sync::Arc;

use bytepair::format::{gpt2, huggingface, native, tiktoken};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::dialect::Dialect;
use crate::error::to_python;
use crate::tokenizer::CoreTokenizer;

/// The contents of two files.
type TwoFiles<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>);

#[pyfunction]
pub(crate) fn read_native(py: Python<'_>, data: PyBackedBytes) -> PyResult<CoreTokenizer> {
    loaded(py.detach(|| native::read(&data)))
}

#[pyfunction]
pub(crate) fn write_native<'py>(py: Python<'py>, tokenizer: &CoreTokenizer) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &py.detach(|| native::write(&tokenizer.0)))
}

#[pyfunction]
pub(crate) fn read_huggingface(py: Python<'_>, data: PyBackedBytes) -> PyResult<CoreTokenizer> {
    loaded(py.detach(|| huggingface::read(&data)))
}

#[pyfunction]
pub(crate) fn write_huggingface<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
) -> PyResult<Bound<'py, PyBytes>> {
    let written =
        py.detach(|| huggingface::write(&tokenizer.0)).map_err(|error| to_python(&error))?;
    Ok(PyBytes::new(py, &written))
}

#[pyfunction]
pub(crate) fn read_gpt2(
    py: Python<'_>,
    vocab: PyBackedBytes,
    merges: PyBackedBytes,
) -> PyResult<CoreTokenizer> {
    loaded(py.detach(|| gpt2::read(&vocab, &merges)))
}

#[pyfunction]
pub(crate) fn write_gpt2<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
) -> PyResult<TwoFiles<'py>> {
    let files = py.detach(|| gpt2::write(&tokenizer.0)).map_err(|error| to_python(&error))?;
    Ok((PyBytes::new(py, &files.vocab_json), PyBytes::new(py, &files.merges_txt)))
}

#[pyfunction]
pub(crate) fn read_tiktoken(
    py: Python<'_>,
    ranks: PyBackedBytes,
    dialect: &Dialect,
    special_tokens: std::collections::BTreeMap<String, u32>,
) -> PyResult<CoreTokenizer> {
    let special_tokens: Vec<_> = special_tokens.into_iter().collect();
    loaded(py.detach(|| tiktoken::read(&ranks, dialect.0.split.clone(), &special_tokens)))
}

#[pyfunction]
pub(crate) fn read_tiktoken_sidecar(
    py: Python<'_>,
    ranks: PyBackedBytes,
    sidecar: PyBackedBytes,
) -> PyResult<CoreTokenizer> {
    loaded(py.detach(|| tiktoken::read_with_sidecar(&ranks, &sidecar)))
}

#[pyfunction]
pub(crate) fn write_tiktoken<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
) -> PyResult<TwoFiles<'py>> {
    let files = py.detach(|| tiktoken::write(&tokenizer.0)).map_err(|error| to_python(&error))?;
    Ok((PyBytes::new(py, &files.ranks), PyBytes::new(py, &files.sidecar)))
}

fn loaded(result: bytepair::Result<bytepair::Tokenizer>) -> PyResult<CoreTokenizer> {
    result.map(|tokenizer| CoreTokenizer(Arc::new(tokenizer))).map_err(|error| to_python(&error))
}
