//! Columns of texts, as Arrow lays them out: bytes of all rows, and `int64` offsets; and counts of pieces as such columns,
//! added up in bounded memory. No byte is copied on the way in.

use std::path::PathBuf;
use std::sync::Mutex;

use bytepair::count::{CountRows, First, Part, PieceCounts, SummedRows};
use bytepair::documents::{csv, jsonl, n_holding, slices};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::convert::extract;
use crate::error::{OrRaise, ask, raise};
use crate::importing::{GivenArray, ready};
use crate::output::{into_array, recycled};
use crate::reading::{Reporter, lock};

/// A column that is an argument: its bytes and its offsets.
pub(crate) struct Column<'py>(GivenArray<'py, u8>, GivenArray<'py, i64>);

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

/// Pieces that are an argument: a column, how often each occurs and, where they are known, the numbers of their first
/// occurrences.
type Counted<'py> = (Column<'py>, GivenArray<'py, i64>, Option<GivenArray<'py, i64>>);

/// Each piece with its count and the number of its first occurrence.
fn each<'a>(
    (column, counts, firsts): &'a Counted<'_>,
) -> PyResult<impl Iterator<Item = (&'a [u8], i64, Option<u64>)> + Send> {
    let (rows, counts) = (column.rows()?, contiguous(counts)?);
    let firsts = firsts.as_ref().map(contiguous).transpose()?;
    if rows.len() != counts.len() || firsts.is_some_and(|firsts| firsts.len() != rows.len()) {
        let message = "the columns of a table must be of one length";
        return Err(raise("TokenizerError", message));
    }
    let first = move |place: usize| firsts.and_then(|firsts| u64::try_from(firsts[place]).ok());
    let rows = rows.into_iter().zip(counts).enumerate();
    Ok(rows.map(move |(place, (piece, &count))| (piece, count, first(place))))
}

fn contiguous<'a, T: Element>(array: &'a GivenArray<'_, T>) -> PyResult<&'a [T]> {
    let problem = "a column must lie in memory without gaps";
    array.0.as_slice().map_err(|_| raise("TokenizerError", problem))
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
    let read = py.detach(|| jsonl::read_into(bytes, &keys, recycled()));
    let bad = read.bad.into_iter().map(|bad| (bad.line, bad.offset, bad.problem)).collect();
    Ok(((into_array(py, read.text)?, offsets(py, read.offsets)), read.n_lines, read.n_null, bad))
}

/// A file of CSV, read block by block; its first record names the columns.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CsvTable(Mutex<csv::Table>);

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
        let table = csv::Table::new(delimiter, columns, longest.unwrap_or(usize::MAX));
        Ok(Self(Mutex::new(table)))
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

/// Count the rows of a column of texts that hold a name of each group.
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

    /// Add rows: a column, counts and, if they are known, the order in which they first occur in a source.
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
}

/// Pieces with counts, those of groups, and the numbers of their first occurrences.
type Rows<'py> =
    (Arrays<'py>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u64>>);

/// Adds up counts of the parts of a corpus in bounded memory, then gives them in order.
///
/// ``budget`` is about how much memory it takes, in bytes; the rest goes to files in ``folder``.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct CountSums {
    /// Until it is finished.
    adding: Mutex<Option<bytepair::count::CountSums>>,
    /// Once it is finished.
    giving: Mutex<Option<SummedRows>>,
}

#[pymethods]
impl CountSums {
    /// Temporary files are made in `folder`, and memory is about `budget` bytes.
    #[new]
    fn new(folder: PathBuf, budget: usize) -> Self {
        let sums = bytepair::count::CountSums::new(&folder, budget);
        Self { adding: Mutex::new(Some(sums)), giving: Mutex::default() }
    }

    /// Add rows: a column, counts and, if they are known, the order in which they first occur in a source.
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

    /// Add what ``Corpus.finish_runs`` left in a file, and take over the file.
    #[pyo3(signature = (file, *, group=0, source=0))]
    fn add_run(&self, py: Python<'_>, file: PathBuf, group: u32, source: u32) -> PyResult<()> {
        within(py, &self.adding, |sums| sums.add_run(&file, Part { group, source }))
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
        let sums = py.detach(|| lock(&self.adding).take()).ok_or_else(ended)?;
        let mut reporter = Reporter::new(py.None());
        let finished =
            py.detach(|| sums.finish(min_count, &places, with_first, || reporter.report(|| ())));
        let (dropped, rows) = finished.or_raise()?;
        *lock(&self.giving) = Some(rows);
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
        let rows = within(py, &self.giving, |rows| rows.next_rows(max_rows, max_bytes))?;
        let CountRows { bytes, ends, counts, groups, firsts } = rows;
        ready(py)?;
        let ends = offsets(py, std::iter::once(0).chain(ends));
        let column = (bytes.into_pyarray(py), ends);
        Ok((column, counts.into_pyarray(py), groups.into_pyarray(py), firsts.into_pyarray(py)))
    }
}

/// Works with what is there only before it is finished, or only afterwards. Errors become Python's when the lock is given
/// back: no thread waits for the GIL while it holds that.
fn within<T: Send, R: Send>(
    py: Python<'_>,
    held: &Mutex<Option<T>>,
    work: impl FnOnce(&mut T) -> bytepair::Result<R> + Send,
) -> PyResult<R> {
    py.detach(|| lock(held).as_mut().map(work)).ok_or_else(ended)?.or_raise()
}

fn ended() -> PyErr {
    raise("TokenizerError", "counts are added, then finished once, then taken")
}
