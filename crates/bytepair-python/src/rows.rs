//! Columns of texts, as Arrow lays them out: bytes of all rows, and `int64` offsets; and counts of pieces as such columns,
//! added up in bounded memory. No byte is copied on the way in.

use bytepair::count::{CountRows, First, Part, PieceCounts, SummedRows};
use bytepair::documents::{n_holding, slices};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::convert::extract;
use crate::error::{ask, raise, to_python};
use crate::numpy_import::{GivenArray, ready};
use crate::reading::Reporter;
use crate::recycled::{into_array, recycled};

/// Rows, their counts, and the numbers of their first occurrences.
type Counted<'a> = (Vec<&'a [u8]>, &'a [i64], Option<&'a [i64]>);

/// Bytes and offsets of a column.
pub(crate) struct Column<'py>(GivenArray<'py, u8>, GivenArray<'py, i64>);

impl<'py> Column<'py> {
    pub(crate) fn new(data: GivenArray<'py, u8>, offsets: GivenArray<'py, i64>) -> Self {
        Self(data, offsets)
    }

    pub(crate) fn rows(&self) -> PyResult<Vec<&[u8]>> {
        slices(contiguous(&self.0)?, contiguous(&self.1)?).map_err(|error| to_python(&error))
    }

    /// The rows with their counts and, if there are any, the numbers of their first occurrences: as many of each.
    pub(crate) fn counted<'a>(
        &'a self,
        counts: &'a GivenArray<'py, i64>,
        firsts: Option<&'a GivenArray<'py, i64>>,
    ) -> PyResult<Counted<'a>> {
        let (rows, counts) = (self.rows()?, contiguous(counts)?);
        let firsts = firsts.map(contiguous).transpose()?;
        if rows.len() != counts.len() || firsts.is_some_and(|firsts| firsts.len() != rows.len()) {
            let message = "the columns of a table must be of one length";
            return Err(raise("TokenizerError", message.to_owned()));
        }
        Ok((rows, counts, firsts))
    }
}

pub(crate) fn contiguous<'a, T: Element>(array: &'a GivenArray<'_, T>) -> PyResult<&'a [T]> {
    array
        .as_slice()
        .map_err(|_| raise("TokenizerError", "a column must lie in memory without gaps".to_owned()))
}

type JsonlRead<'py> = (Arrays<'py>, u64, u64, Vec<(u64, usize, String)>);

pub(crate) type Arrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);

/// Read the texts that keys lead to in lines of JSON.
///
/// Gives the bytes of all texts and their offsets, the number of lines, of texts that are
/// ``null``, and for each bad line its place, where it begins, and the problem.
#[pyfunction]
pub(crate) fn read_jsonl<'py>(
    py: Python<'py>,
    block: GivenArray<'py, u8>,
    keys: Vec<String>,
) -> PyResult<JsonlRead<'py>> {
    let bytes = contiguous(&block)?;
    // The texts, and one of them before its escapes are undone.
    ask(2 * bytes.len())?;
    let read = py.detach(|| bytepair::documents::jsonl::read_into(bytes, &keys, recycled()));
    let bad = read.bad.into_iter().map(|bad| (bad.line, bad.offset, bad.problem)).collect();
    Ok(((into_array(py, read.text)?, offsets(py, read.offsets)), read.n_lines, read.n_null, bad))
}

/// A file of CSV, read block by block; its first record names the columns.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CsvTable(Mutex<bytepair::documents::csv::Table>);

/// The columns of a block, and the records that are no rows: the line of each, and the problem.
type CsvRows<'py> = (Vec<Arrays<'py>>, Vec<(u64, String)>);

#[pymethods]
impl CsvTable {
    #[new]
    #[pyo3(signature = (delimiter, columns, *, longest=None))]
    fn new(delimiter: char, columns: Vec<String>, longest: Option<usize>) -> PyResult<Self> {
        let no_byte =
            |_| raise("TokenizerError", format!("the delimiter {delimiter:?} is not one byte"));
        let delimiter = u8::try_from(delimiter).map_err(no_byte)?;
        Ok(Self(Mutex::new(bytepair::documents::csv::Table::new(
            delimiter,
            columns,
            longest.unwrap_or(usize::MAX),
        ))))
    }

    /// Read the rows that end in the next block.
    ///
    /// Gives the bytes and offsets of each column that was asked for, and for each record of
    /// another length the line on which it begins, and the problem.
    fn read<'py>(
        &self,
        py: Python<'py>,
        block: GivenArray<'py, u8>,
        is_last: bool,
    ) -> PyResult<CsvRows<'py>> {
        let bytes = contiguous(&block)?;
        let read = || self.0.lock().unwrap_or_else(PoisonError::into_inner).read(bytes, is_last);
        let rows = py.detach(read).map_err(|error| to_python(&error))?;
        let columns = rows.columns.into_iter();
        let columns =
            columns.map(|column| Ok((into_array(py, column.text)?, offsets(py, column.offsets))));
        let bad = rows.bad.into_iter().map(|bad| (bad.line, bad.problem)).collect();
        Ok((columns.collect::<PyResult<_>>()?, bad))
    }
}

pub(crate) fn offsets(
    py: Python<'_>,
    offsets: impl IntoIterator<Item = usize>,
) -> Bound<'_, PyArray1<i64>> {
    let offsets = offsets.into_iter().map(|offset| i64::try_from(offset).unwrap_or(i64::MAX));
    offsets.collect::<Vec<_>>().into_pyarray(py)
}

/// Count the rows of a column of texts that hold a name of each group.
#[pyfunction]
pub(crate) fn count_rows_holding(
    py: Python<'_>,
    data: GivenArray<'_, u8>,
    offsets: GivenArray<'_, i64>,
    groups: Vec<Vec<String>>,
) -> PyResult<Vec<u64>> {
    let column = Column::new(data, offsets);
    let rows = column.rows()?;
    let groups: Vec<Vec<_>> =
        groups.iter().map(|names| names.iter().map(String::as_bytes).collect()).collect();
    py.detach(|| n_holding(&rows, &groups)).map_err(|error| to_python(&error))
}

/// Pieces and their counts, as rows: the bytes of all, where each begins, its count.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct PieceTable(Mutex<PieceCounts>);

impl PieceTable {
    pub(crate) fn of(counts: PieceCounts) -> Self {
        Self(Mutex::new(counts))
    }

    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut PieceCounts) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl PieceTable {
    #[new]
    fn new() -> Self {
        Self::of(PieceCounts::new())
    }

    /// Add rows; ``firsts`` is the order in which they first occur in a source.
    #[pyo3(signature = (data, offsets, counts, *, firsts=None, source=0))]
    fn add(
        &self,
        py: Python<'_>,
        data: GivenArray<'_, u8>,
        offsets: GivenArray<'_, i64>,
        counts: GivenArray<'_, i64>,
        firsts: Option<GivenArray<'_, i64>>,
        source: u32,
    ) -> PyResult<()> {
        let column = Column::new(data, offsets);
        let (rows, counts, firsts) = column.counted(&counts, firsts.as_ref())?;
        let first = |place: usize| {
            let offset = u64::try_from(*firsts?.get(place)?).ok()?;
            Some(First { source, offset })
        };
        let add = |all: &mut PieceCounts| {
            let mut added = rows.iter().zip(counts).enumerate();
            added.try_for_each(|(place, (piece, &count))| all.add(piece, count, first(place)))
        };
        py.detach(|| self.with(add)).map_err(|error| to_python(&error))
    }
}

/// Pieces with counts, those of groups, and the numbers of their first occurrences.
type Rows<'py> =
    (Arrays<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Adds up counts of the parts of a corpus in bounded memory, then gives them in order.
///
/// ``budget`` is about how much memory it takes, in bytes; the rest goes to files in ``folder``.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CountSums(Mutex<State>);

enum State {
    Adding(bytepair::count::CountSums),
    Giving(SummedRows),
    /// An error came between.
    Ended,
}

#[pymethods]
impl CountSums {
    /// Temporary files are made in `folder`, and memory is about `budget` bytes.
    #[new]
    fn new(folder: PathBuf, budget: usize) -> Self {
        Self(Mutex::new(State::Adding(bytepair::count::CountSums::new(&folder, budget))))
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
        add: impl FnOnce(&mut bytepair::count::CountSums) -> bytepair::Result<()> + Send,
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
