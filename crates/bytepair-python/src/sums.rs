//! Counts of the parts of a corpus, added up in bounded memory.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bytepair::{CountRows, Part, SummedRows};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::convert::extract;
use crate::error::{raise, to_python};
use crate::numpy_import::{GivenArray, ready};
use crate::reading::Reporter;
use crate::rows::{Arrays, Column, offsets};

/// Pieces with counts, those of groups, and the numbers of their first occurrences.
type Rows<'py> =
    (Arrays<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Adds up counts of the parts of a corpus in bounded memory, then gives them in order.
///
/// ``budget`` is about how much memory it takes, in bytes; the rest goes to files in ``folder``.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CountSums(Mutex<State>);

enum State {
    Adding(bytepair::CountSums),
    Giving(SummedRows),
    /// An error came between.
    Ended,
}

#[pymethods]
impl CountSums {
    /// Temporary files are made in `folder`, and memory is about `budget` bytes.
    #[new]
    fn new(folder: PathBuf, budget: usize) -> Self {
        Self(Mutex::new(State::Adding(bytepair::CountSums::new(&folder, budget))))
    }

    /// Add rows; ``firsts`` is the order in which they first occur in a source.
    #[pyo3(signature = (data, offsets, counts, *, group=0, source=0, firsts=None))]
    fn add(
        &self,
        py: Python<'_>,
        data: GivenArray<'_, u8>,
        offsets: GivenArray<'_, i64>,
        counts: GivenArray<'_, i64>,
        group: u32,
        source: u32,
        firsts: Option<GivenArray<'_, i64>>,
    ) -> PyResult<()> {
        let column = Column::new(data, offsets);
        let (rows, counts, firsts) = column.counted(&counts, firsts.as_ref())?;
        let first =
            |place: usize| firsts.and_then(|firsts| u64::try_from(*firsts.get(place)?).ok());
        let part = Part { group, source };
        self.adding(py, |sums| {
            let mut added = rows.iter().zip(counts).enumerate();
            added.try_for_each(|(place, (piece, &count))| {
                sums.add(piece, count, part, first(place).unwrap_or_default())
            })
        })
    }

    /// Add what ``Corpus.finish_runs`` left in a file, and take over the file.
    #[pyo3(signature = (file, *, group=0, source=0))]
    fn add_run(&self, py: Python<'_>, file: PathBuf, group: u32, source: u32) -> PyResult<()> {
        self.adding(py, |sums| sums.add_run(&file, Part { group, source }))
    }

    /// Leave out rows with smaller sums; say how many rows and occurrences.
    ///
    /// ``places`` are those of the groups in the order of rows.
    fn finish(
        &self,
        py: Python<'_>,
        min_count: &Bound<'_, PyAny>,
        places: Vec<u32>,
        with_first: bool,
    ) -> PyResult<(u64, i64)> {
        let min_count = extract::<i64>("min_piece_count", min_count)?;
        let sums = match self.replace(State::Ended) {
            State::Adding(sums) => sums,
            other => {
                self.replace(other);
                return Err(ended());
            }
        };
        let mut reporter = Reporter::new(py.None());
        let finished =
            py.detach(|| sums.finish(min_count, &places, with_first, || reporter.report(|| ())));
        let (dropped, rows) = finished
            .map_err(|error| reporter.failure.take().unwrap_or_else(|| to_python(&error)))?;
        self.replace(State::Giving(rows));
        Ok((dropped.n_pieces, dropped.n_occurrences))
    }

    /// Give the next rows, none at the end: pieces, counts, places of groups, firsts.
    ///
    /// Rows are in the order of counts, largest first, then of pieces, then of places.
    fn next_rows<'py>(
        &self,
        py: Python<'py>,
        max_rows: usize,
        max_bytes: usize,
    ) -> PyResult<Rows<'py>> {
        let rows =
            py.detach(|| match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
                State::Giving(rows) => Some(rows.next_rows(max_rows, max_bytes)),
                _ => None,
            });
        let rows = rows.ok_or_else(ended)?.map_err(|error| to_python(&error))?;
        let CountRows { bytes, ends, counts, groups, firsts } = rows;
        ready(py)?;
        let ends = offsets(py, std::iter::once(0).chain(ends));
        let column = (bytes.into_pyarray(py), ends);
        Ok((column, counts.into_pyarray(py), groups.into_pyarray(py), firsts.into_pyarray(py)))
    }
}

impl CountSums {
    fn adding(
        &self,
        py: Python<'_>,
        add: impl FnOnce(&mut bytepair::CountSums) -> bytepair::Result<()> + Send,
    ) -> PyResult<()> {
        // Errors become Python's when the lock is given back: no thread waits for the GIL while it holds that.
        let added =
            py.detach(|| match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
                State::Adding(sums) => Some(add(sums)),
                _ => None,
            });
        added.ok_or_else(ended)?.map_err(|error| to_python(&error))
    }

    fn replace(&self, state: State) -> State {
        std::mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), state)
    }
}

fn ended() -> PyErr {
    raise("TokenizerError", "counts are added, then finished once, then taken".to_owned())
}
