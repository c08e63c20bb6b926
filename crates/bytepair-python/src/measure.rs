//! Statistics of encoded texts: `Measure` has sums by group, and `Usage` counts how often each token is made.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex};

use bytepair::Tokenizer;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::convert::{Added, n_threads};
use crate::error::{OrRaise, raise};
use crate::importing::ready;
use crate::reading::{PythonReader, lock};
use crate::rows::Column;
use crate::tokenizer::CoreTokenizer;

/// Sums over the texts that a tokenizer encodes, by group.
///
/// ``words`` is a pattern that matches words; without it, no words are counted. ``missing`` is the id of the token for
/// missing units; with it, the units that it stands for are counted.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Measure {
    /// Locked only by threads without the GIL: one that adds a stream asks Python for its bytes meanwhile.
    measure: Mutex<bytepair::inspect::Measure>,
    n_threads: usize,
}

impl Measure {
    /// A statistic of a group.
    fn of_group<T: Send>(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&bytepair::inspect::Measure) -> Option<T> + Send,
    ) -> PyResult<T> {
        let found = py.detach(|| read(&lock(&self.measure)));
        let message = "there is no group with this number";
        found.ok_or_else(|| raise("TokenizerError", message))
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
        let made = made.or_raise()?;
        let measure = Mutex::new(match missing {
            Some(id) => made.naming_missing(id),
            None => made,
        });
        Ok(Self { measure, n_threads })
    }

    /// Add the rows of a column of texts; ``groups`` is a column with the group of each.
    #[pyo3(signature = (column, groups=None))]
    fn add_rows(
        &self,
        py: Python<'_>,
        column: Column<'_>,
        groups: Option<Column<'_>>,
    ) -> PyResult<()> {
        let (rows, names) = (column.rows()?, groups.as_ref().map(Column::rows).transpose()?);
        let add = || lock(&self.measure).add(&rows, names.as_deref(), self.n_threads);
        py.detach(add).or_raise()
    }

    /// Add a text that is read in parts: ``read(n)`` returns at most ``n`` bytes, and none at the end.
    #[pyo3(signature = (read, group=None))]
    fn add_stream(&self, py: Python<'_>, read: Py<PyAny>, group: Option<&[u8]>) -> PyResult<()> {
        let (reader, name) = (PythonReader(read), group.unwrap_or_default());
        py.detach(|| lock(&self.measure).add_stream(reader, name, self.n_threads)).or_raise()
    }

    /// The names of the groups, in the order in which they first occurred.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let names = py.detach(|| lock(&self.measure).groups());
        names.iter().map(|name| PyBytes::new(py, name)).collect()
    }

    /// Return the sums of a group: the numbers of texts, bytes, characters, lines, tokens and pieces; and the numbers of
    /// words, of their tokens and pieces, of words with one token, and of words with several.
    fn sums(&self, py: Python<'_>, group: usize) -> PyResult<([u64; 6], [u64; 5])> {
        let s = self.of_group(py, |all| all.sums(group))?;
        let of_texts = [s.texts, s.bytes, s.characters, s.lines, s.tokens, s.pieces];
        let of_words = [s.words, s.word_tokens, s.word_pieces, s.whole_words, s.continued_words];
        Ok((of_texts, of_words))
    }

    /// Return how often each id occurs in a group.
    fn counts<'py>(&self, py: Python<'py>, group: usize) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let counts = self.of_group(py, |all| all.counts(group))?.into_iter();
        let signed = counts.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        Ok(signed.collect::<Vec<_>>().into_pyarray(py))
    }

    /// Return the units that the token for missing units stands for in a group, sorted, and how often each occurs.
    fn missing<'py>(
        &self,
        py: Python<'py>,
        group: usize,
    ) -> PyResult<Vec<(Bound<'py, PyBytes>, u64)>> {
        let mut texts = self.of_group(py, |all| all.missing(group))?;
        texts.sort_unstable();
        Ok(texts.iter().map(|(text, n)| (PyBytes::new(py, text), *n)).collect())
    }
}

/// How often each token is made while texts are encoded, and how often it remains in the result.
///
/// Special tokens are plain text; other added tokens are found.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Usage {
    tokenizer: Arc<Tokenizer>,
    sums: Mutex<bytepair::inspect::Usage>,
}

#[pymethods]
impl Usage {
    #[new]
    fn new(tokenizer: PyRef<'_, CoreTokenizer>) -> Self {
        let n_ids = tokenizer.0.parts().vocabulary.len();
        let sums = Mutex::new(bytepair::inspect::Usage::new(n_ids));
        Self { tokenizer: Arc::clone(&tokenizer.0), sums }
    }

    /// Add the rows of a column of texts.
    #[pyo3(signature = (column, *, threads=None))]
    fn add_rows(
        &self,
        py: Python<'_>,
        column: Column<'_>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (rows, n_threads) = (column.rows()?, n_threads(threads)?);
        py.detach(|| lock(&self.sums).add(&self.tokenizer, &rows, n_threads)).or_raise()
    }

    /// Return, by id, how often a token was made, and how often it remained.
    fn sums<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyArray1<u64>>; 2]> {
        ready(py)?;
        let n_threads = n_threads(None)?;
        let sums = py.detach(|| {
            let mut sums = lock(&self.sums);
            sums.settle(&self.tokenizer, n_threads)?;
            Ok([sums.made.clone(), sums.kept.clone()])
        });
        Ok(sums.or_raise()?.map(|sums| sums.into_pyarray(py)))
    }
}

/// Return the name of each Unicode script, with the first and last code points of its ranges.
#[pyfunction]
pub(crate) fn unicode_scripts() -> Vec<(&'static str, Vec<(u32, u32)>)> {
    let numbers =
        |range: &RangeInclusive<char>| (u32::from(*range.start()), u32::from(*range.end()));
    let scripts = bytepair::unicode::UnicodeTables::latest().scripts();
    scripts.iter().map(|(name, ranges)| (*name, ranges.iter().map(numbers).collect())).collect()
}
