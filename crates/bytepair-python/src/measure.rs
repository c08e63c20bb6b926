//! `Measure`: what a tokenizer makes of texts, added up by group.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::convert::{Added, n_threads};
use crate::error::{raise, to_python};
use crate::numpy_import::GivenArray;
use crate::reading::PythonReader;
use crate::rows::{Arrays, Column, offsets};
use crate::tokenizer::CoreTokenizer;

/// Bytes and offsets of a column.
type GivenColumn<'py> = (GivenArray<'py, u8>, GivenArray<'py, i64>);

/// What a tokenizer makes of texts, added up by group.
///
/// ``words`` is a pattern of what counts as a word. Without it no word is counted. ``missing`` is the id of the token that
/// stands for missing units, if what it stands for is to be counted.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Measure {
    measure: Mutex<bytepair::inspect::Measure>,
    n_threads: usize,
}

impl Measure {
    /// To be called without the GIL: whoever adds a stream asks Python for its bytes meanwhile.
    fn with<T>(&self, work: impl FnOnce(&mut bytepair::inspect::Measure) -> T) -> T {
        work(&mut self.measure.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Measure {
    #[new]
    #[pyo3(
        signature = (tokenizer, *, words=None, added_tokens=Added::FIND, threads=None, missing=None),
        text_signature = "(tokenizer, *, words=None, added_tokens='find', threads=None, missing=None)"
    )]
    fn new(
        py: Python<'_>,
        tokenizer: PyRef<'_, CoreTokenizer>,
        words: Option<String>,
        added_tokens: Added,
        threads: Option<&Bound<'_, PyAny>>,
        missing: Option<u32>,
    ) -> PyResult<Self> {
        let tokenizer = Arc::clone(&tokenizer.0);
        let n_threads = n_threads(threads)?;
        let made = py.detach(|| {
            bytepair::inspect::Measure::new(tokenizer, words.as_deref(), added_tokens.0)
        });
        let made = made.map_err(|error| to_python(&error))?;
        let measure = Mutex::new(match missing {
            Some(id) => made.naming_missing(id),
            None => made,
        });
        Ok(Self { measure, n_threads })
    }

    /// Add the rows of a column of texts; ``groups`` is a column with the group of each.
    #[pyo3(signature = (data, offsets, groups=None))]
    fn add_rows(
        &self,
        py: Python<'_>,
        data: GivenArray<'_, u8>,
        offsets: GivenArray<'_, i64>,
        groups: Option<GivenColumn<'_>>,
    ) -> PyResult<()> {
        let texts = Column::new(data, offsets);
        let groups = groups.map(|(data, offsets)| Column::new(data, offsets));
        let (rows, names) = (texts.rows()?, groups.as_ref().map(Column::rows).transpose()?);
        let n_threads = self.n_threads;
        let added = py.detach(|| self.with(|all| all.add(&rows, names.as_deref(), n_threads)));
        added.map_err(|error| to_python(&error))
    }

    /// Add a text that comes in parts: ``read`` gives at most so many bytes, and none at the end.
    #[pyo3(signature = (read, group=None))]
    fn add_stream(&self, py: Python<'_>, read: Py<PyAny>, group: Option<&[u8]>) -> PyResult<()> {
        let mut failure = None;
        let reader = PythonReader { read, failure: &mut failure };
        let (name, n_threads) = (group.unwrap_or_default(), self.n_threads);
        let added = py.detach(|| self.with(|all| all.add_stream(reader, name, n_threads)));
        added.map_err(|error| failure.take().unwrap_or_else(|| to_python(&error)))
    }

    /// The names of the groups, in the order in which they came.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let names = py.detach(|| self.with(|all| all.groups()));
        names.iter().map(|name| PyBytes::new(py, name)).collect()
    }

    /// The sums of a group, by name.
    fn sums<'py>(&self, py: Python<'py>, group: usize) -> PyResult<Bound<'py, PyDict>> {
        let sums = py.detach(|| self.with(|all| all.sums(group))).ok_or_else(no_group)?;
        let named = PyDict::new(py);
        named.set_item("texts", sums.texts)?;
        named.set_item("bytes", sums.bytes)?;
        named.set_item("characters", sums.characters)?;
        named.set_item("lines", sums.lines)?;
        named.set_item("tokens", sums.tokens)?;
        named.set_item("pieces", sums.pieces)?;
        named.set_item("words", sums.words)?;
        named.set_item("word_tokens", sums.word_tokens)?;
        named.set_item("word_pieces", sums.word_pieces)?;
        named.set_item("whole_words", sums.whole_words)?;
        named.set_item("continued_words", sums.continued_words)?;
        Ok(named)
    }

    /// How often each id occurs in a group.
    fn counts<'py>(&self, py: Python<'py>, group: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let counts = py.detach(|| self.with(|all| all.counts(group))).ok_or_else(no_group)?;
        let signed = |count| i64::try_from(count).unwrap_or(i64::MAX);
        Ok(counts.into_iter().map(signed).collect::<Vec<_>>().into_pyarray(py))
    }

    /// What the token for missing units stands for in a group, and how often, in the order of the texts.
    fn missing<'py>(
        &self,
        py: Python<'py>,
        group: usize,
    ) -> PyResult<Vec<(Bound<'py, PyBytes>, u64)>> {
        let mut texts = py.detach(|| self.with(|all| all.missing(group))).ok_or_else(no_group)?;
        texts.sort_unstable();
        Ok(texts.iter().map(|(text, n)| (PyBytes::new(py, text), *n)).collect())
    }
}

fn no_group() -> PyErr {
    raise("TokenizerError", "there is no group of that number".to_owned())
}

/// Give the bytes of each token by its id, without marks, and its kind.
///
/// Kinds are ``0`` for tokens of text, ``1`` for single bytes, ``2`` for the unknown token, ``3``
/// for tokens that are only added, and ``4`` where no token has the id.
#[pyfunction]
pub(crate) fn token_table<'py>(
    py: Python<'py>,
    tokenizer: PyRef<'py, CoreTokenizer>,
) -> (Arrays<'py>, Bound<'py, PyArray1<u8>>) {
    let vocabulary = &tokenizer.0.parts().vocabulary;
    let (mut data, mut ends, mut kinds) = (Vec::new(), vec![0], Vec::new());
    for id in 0..vocabulary.len() {
        let token = u32::try_from(id).ok().and_then(|id| vocabulary.token(id));
        data.extend_from_slice(token.map_or(&[], |token| token.bytes));
        ends.push(data.len());
        kinds.push(token.map_or(4, |token| kind(token.kind)));
    }
    ((data.into_pyarray(py), offsets(py, ends)), kinds.into_pyarray(py))
}

/// Give the name of each script of Unicode, with the first and last code points of its ranges.
#[pyfunction]
pub(crate) fn unicode_scripts() -> Vec<(&'static str, Vec<(u32, u32)>)> {
    let numbers =
        |range: &RangeInclusive<char>| (u32::from(*range.start()), u32::from(*range.end()));
    let scripts = bytepair::unicode::UnicodeTables::latest().scripts();
    scripts.iter().map(|(name, ranges)| (*name, ranges.iter().map(numbers).collect())).collect()
}

fn kind(kind: bytepair::vocabulary::TokenKind) -> u8 {
    match kind {
        bytepair::vocabulary::TokenKind::Byte => 1,
        bytepair::vocabulary::TokenKind::Unknown => 2,
        bytepair::vocabulary::TokenKind::Added => 3,
        bytepair::vocabulary::TokenKind::Hole => 4,
        bytepair::vocabulary::TokenKind::Text(_) => 0,
    }
}
