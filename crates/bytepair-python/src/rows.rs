//! Columns of texts in the layout of Arrow, the bytes of all rows and `int64` offsets; and counts of pieces in such columns,
//! summed in bounded memory. Bytes that come from Python are not copied.

use std::mem::take;
use std::path::PathBuf;
use std::sync::Mutex;

use bytepair::count::{CountRows, First, Part, PieceCounts, SummedRows};
use bytepair::documents::{csv, jsonl, n_holding, slices};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::convert::extract;
use crate::error::{OrRaise, ask, raise};
use crate::importing::{ArrayArgument, ready};
use crate::output::{into_array, recycled};
use crate::reading::{Reporter, lock};

/// A column as an argument: its bytes and its offsets.
pub(crate) struct Column<'py>(ArrayArgument<'py, u8>, ArrayArgument<'py, i64>);

impl<'py> FromPyObject<'_, 'py> for Column<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        object.extract().map(|(data, offsets)| Self(data, offsets))
    }
}

impl Column<'_> {
    pub(crate) fn rows(&self) -> PyResult<Vec<&[u8]>> {
        slices(contiguous(&self.0)?, contiguous(&self.1)?).or_raise()
    }
}

/// Counted pieces as an argument: a column, how often each piece occurs and, if known, the numbers of their first
/// occurrences.
type Counted<'py> = (Column<'py>, ArrayArgument<'py, i64>, Option<ArrayArgument<'py, i64>>);

/// Each piece with its count and the number of its first occurrence.
fn each<'a>(
    (column, counts, firsts): &'a Counted<'_>,
) -> PyResult<impl Iterator<Item = (&'a [u8], i64, Option<u64>)> + Send> {
    let (rows, counts) = (column.rows()?, contiguous(counts)?);
    let firsts = firsts.as_ref().map(contiguous).transpose()?;
    if rows.len() != counts.len() || firsts.is_some_and(|firsts| firsts.len() != rows.len()) {
        let message = "the columns of a table must have the same length";
        return Err(raise("TokenizerError", message));
    }
    let first = move |place: usize| firsts.and_then(|firsts| u64::try_from(firsts[place]).ok());
    let rows = rows.into_iter().zip(counts).enumerate();
    Ok(rows.map(move |(place, (piece, &count))| (piece, count, first(place))))
}

fn contiguous<'a, T: Element>(array: &'a ArrayArgument<'_, T>) -> PyResult<&'a [T]> {
    let problem = "a column must be contiguous in memory";
    array.0.as_slice().map_err(|_| raise("TokenizerError", problem))
}

type JsonlRead<'py> = (Arrays<'py>, u64, u64, Vec<(u64, usize, String)>);

pub(crate) type Arrays<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<i64>>);

/// Read texts from lines of JSON; ``keys`` lead from the object of a line to its text.
///
/// Return the bytes and offsets of all texts, the number of lines, the number of texts that are
/// ``null``, and for each bad line its number from 0, its offset, and the problem.
#[pyfunction]
pub(crate) fn read_jsonl<'py>(
    py: Python<'py>,
    block: ArrayArgument<'py, u8>,
    keys: Vec<String>,
) -> PyResult<JsonlRead<'py>> {
    let bytes = contiguous(&block)?;
    // The texts, and one of them before its escapes are undone.
    ask(2 * bytes.len())?;
    let read = py.detach(|| jsonl::read_into(bytes, &keys, recycled()));
    let bad = read.bad.into_iter().map(|bad| (bad.line, bad.offset, bad.problem)).collect();
    Ok(((into_array(py, read.text)?, offsets(py, read.offsets)), read.n_lines, read.n_null, bad))
}

/// A CSV file, read block by block. Its first record names the columns.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CsvTable(Mutex<csv::Table>);

/// The columns of a block, and the line and the problem of each bad record.
type CsvRows<'py> = (Vec<Arrays<'py>>, Vec<(u64, String)>);

#[pymethods]
impl CsvTable {
    #[new]
    #[pyo3(signature = (delimiter, columns, *, longest=None))]
    fn new(delimiter: char, columns: Vec<String>, longest: Option<usize>) -> PyResult<Self> {
        let no_byte =
            |_| raise("TokenizerError", format!("the delimiter {delimiter:?} is not one byte"));
        let delimiter = u8::try_from(delimiter).map_err(no_byte)?;
        let table = csv::Table::new(delimiter, columns, longest.unwrap_or(usize::MAX));
        Ok(Self(Mutex::new(table)))
    }

    /// Read the rows that end in the next block.
    ///
    /// Return the bytes and offsets of each requested column, and for each record with another
    /// number of values the line on which it begins, from 1, and the problem.
    fn read<'py>(
        &self,
        py: Python<'py>,
        block: ArrayArgument<'py, u8>,
        is_last: bool,
    ) -> PyResult<CsvRows<'py>> {
        let bytes = contiguous(&block)?;
        let rows = py.detach(|| lock(&self.0).read(bytes, is_last)).or_raise()?;
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

/// Return, for each group, how many rows of a column of texts contain one of its names.
#[pyfunction]
pub(crate) fn count_rows_holding(
    py: Python<'_>,
    column: Column<'_>,
    groups: Vec<Vec<String>>,
) -> PyResult<Vec<u64>> {
    let rows = column.rows()?;
    let groups: Vec<Vec<_>> =
        groups.iter().map(|names| names.iter().map(String::as_bytes).collect()).collect();
    py.detach(|| n_holding(&rows, &groups)).or_raise()
}

/// Pieces and their counts.
#[pyclass(frozen, module = "bytepair._core")]
#[derive(Default)]
pub(crate) struct PieceTable(pub(crate) Mutex<PieceCounts>);

#[pymethods]
impl PieceTable {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Add rows: a column, counts and, if known, the numbers of the first occurrences in a source.
    #[pyo3(signature = (rows, *, source=0))]
    fn add(&self, py: Python<'_>, rows: Counted<'_>, source: u32) -> PyResult<()> {
        let mut rows = each(&rows)?;
        let added = py.detach(|| {
            let mut all = lock(&self.0);
            rows.try_for_each(|(piece, count, first)| {
                all.add(piece, count, first.map(|offset| First { source, offset }))
            })
        });
        added.or_raise()
    }

    /// Drop the pieces with a count below ``min_count`` in another table, which is empty afterwards. Return how many were
    /// dropped, and how often they occurred.
    fn drop_rare_in(
        &self,
        py: Python<'_>,
        others: &Bound<'_, Self>,
        min_count: i64,
    ) -> PyResult<(u64, i64)> {
        let others = &others.get().0;
        let drop = || {
            let mut others = take(&mut *lock(others));
            lock(&self.0).drop_rare_in(&mut others, min_count)
        };
        let dropped = py.detach(drop).or_raise()?;
        Ok((dropped.n_pieces, dropped.n_occurrences))
    }
}

/// Pieces, their counts, the places of their groups, and the numbers of their first occurrences.
type Rows<'py> =
    (Arrays<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Sums counts of the parts of a corpus in bounded memory, then returns them in order.
///
/// ``budget`` is the approximate memory in bytes; the rest goes to temporary files in ``folder``.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CountSums {
    /// The state before `finish`.
    adding: Mutex<Option<bytepair::count::CountSums>>,
    /// The state after `finish`.
    giving: Mutex<Option<SummedRows>>,
}

#[pymethods]
impl CountSums {
    #[new]
    fn new(folder: PathBuf, budget: usize) -> Self {
        let sums = bytepair::count::CountSums::new(&folder, budget);
        Self { adding: Mutex::new(Some(sums)), giving: Mutex::default() }
    }

    /// Add rows: a column, counts and, if known, the numbers of the first occurrences in a source.
    #[pyo3(signature = (rows, *, group=0, source=0))]
    fn add(&self, py: Python<'_>, rows: Counted<'_>, group: u32, source: u32) -> PyResult<()> {
        let mut rows = each(&rows)?;
        let part = Part { group, source };
        within(py, &self.adding, |sums| {
            rows.try_for_each(|(piece, count, first)| {
                sums.add(piece, count, part, first.unwrap_or_default())
            })
        })
    }

    /// Add the counts of a file that ``Corpus.finish_runs`` wrote, and take ownership of the file.
    #[pyo3(signature = (file, *, group=0, source=0))]
    fn add_run(&self, py: Python<'_>, file: PathBuf, group: u32, source: u32) -> PyResult<()> {
        within(py, &self.adding, |sums| sums.add_run(&file, Part { group, source }))
    }

    /// End the summation, drop pieces with a sum below ``min_count``, and return how many were dropped and how often they
    /// occurred.
    ///
    /// ``places`` holds the place of each group in the order of rows.
    fn finish(
        &self,
        py: Python<'_>,
        min_count: &Bound<'_, PyAny>,
        places: Vec<u32>,
        with_first: bool,
    ) -> PyResult<(u64, i64)> {
        let min_count = extract::<i64>("min_piece_count", min_count)?;
        let sums = py.detach(|| lock(&self.adding).take()).ok_or_else(ended)?;
        let mut reporter = Reporter::new(py.None());
        let finished =
            py.detach(|| sums.finish(min_count, &places, with_first, || reporter.report(|| ())));
        let (dropped, rows) = finished.or_raise()?;
        *lock(&self.giving) = Some(rows);
        Ok((dropped.n_pieces, dropped.n_occurrences))
    }

    /// Return the next rows, none at the end: pieces, counts, places of groups, and numbers of first occurrences.
    ///
    /// Rows are sorted by count, largest first, then by piece, then by place.
    fn next_rows<'py>(
        &self,
        py: Python<'py>,
        max_rows: usize,
        max_bytes: usize,
    ) -> PyResult<Rows<'py>> {
        let rows = within(py, &self.giving, |rows| rows.next_rows(max_rows, max_bytes))?;
        let CountRows { bytes, ends, counts, groups, firsts } = rows;
        ready(py)?;
        let ends = offsets(py, std::iter::once(0).chain(ends));
        let column = (bytes.into_pyarray(py), ends);
        Ok((column, counts.into_pyarray(py), groups.into_pyarray(py), firsts.into_pyarray(py)))
    }
}

/// Calls `work` with the state that exists only before `finish`, or only after it. An error becomes an exception after the
/// lock is released, so that no thread waits for the GIL while it holds the lock.
fn within<T: Send, R: Send>(
    py: Python<'_>,
    held: &Mutex<Option<T>>,
    work: impl FnOnce(&mut T) -> bytepair::Result<R> + Send,
) -> PyResult<R> {
    py.detach(|| lock(held).as_mut().map(work)).ok_or_else(ended)?.or_raise()
}

fn ended() -> PyErr {
    raise("TokenizerError", "counts are added first, then finished once, then read")
}
