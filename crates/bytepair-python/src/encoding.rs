//! `Encoding`: ids with all that is known of each. Lists are made when they are asked for.

use std::borrow::Cow;
use std::sync::Arc;

use bytepair::Tokenizer;
use bytepair::format::published_name;
use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use crate::output::{Width, array, list};

/// The whole result of encoding.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Encoding {
    pub(crate) tokenizer: Arc<Tokenizer>,
    pub(crate) encoding: Arc<bytepair::Encoding>,
}

#[pymethods]
impl Encoding {
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.encoding.ids)
    }

    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.encoding.type_ids)
    }

    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let parts = self.tokenizer.parts();
        let names = self.encoding.ids.iter().map(|&id| match parts.vocabulary.token(id) {
            Some(token) => PyString::new(py, &published_name(&parts.units, token)),
            None => PyString::new(py, ""),
        });
        let mut names: Vec<_> = names.collect();
        for (index, found) in &self.encoding.found_as {
            names[*index] = PyString::new(py, found);
        }
        PyList::new(py, names)
    }

    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.encoding.offsets)
    }

    #[getter]
    fn special_tokens_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.encoding.special_tokens_mask.iter().map(|&is| u8::from(is)))
    }

    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.encoding.attention_mask.iter().map(|&is| u8::from(is)))
    }

    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.encoding.word_ids)
    }

    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, &self.encoding.sequence_ids)
    }

    #[getter]
    fn overflowing(&self) -> Vec<Self> {
        let parts = self.encoding.overflowing.iter();
        let shared = |part: &bytepair::Encoding| Self {
            tokenizer: Arc::clone(&self.tokenizer),
            encoding: Arc::new(part.clone()),
        };
        parts.map(shared).collect()
    }

    fn ids_to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, Cow::Borrowed(&self.encoding.ids), Width::Bits32)
    }

    fn offsets_to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let number = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
        let flat = self.encoding.offsets.iter().flat_map(|span| [number(span.0), number(span.1)]);
        flat.collect::<Vec<_>>().into_pyarray(py).reshape([self.encoding.offsets.len(), 2])
    }

    fn __len__(&self) -> usize {
        self.encoding.ids.len()
    }

    fn __repr__(&self) -> String {
        let n_parts = self.encoding.overflowing.len();
        format!("<bytepair.Encoding: {} ids, {n_parts} overflowing>", self.encoding.ids.len())
    }
}
