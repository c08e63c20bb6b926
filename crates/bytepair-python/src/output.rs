//! Ids to Python: lists of integers, and arrays.
//!
//! A list needs an integer for each id. CPython makes those above 256 anew each time, 32 bytes each, and frees them
//! with the list. So those that were handed out once are kept, for all tokenizers and as long as the process lives,
//! and later lists only count a reference more (`docs/explanation/performance.md` has what that gives). They take 48
//! bytes for each id that was ever handed out, 25 MB at most, and 16 KB where the first of a thousand is.
//!
//! Kept integers belong to one interpreter: `PyO3` refuses to be imported by a second one in the same process.

use std::array;
use std::sync::OnceLock;

use bytepair::TokenId;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

/// Ids whose integers lie side by side.
const CHUNK_LEN: usize = 1024;

/// Larger ids are not kept. No published vocabulary has so many.
const MAX_CHUNKS: usize = 512;

/// Shorter arrays are copied into memory of numpy's own: an object that owns ours costs more than that.
const MAX_COPIED: usize = 1024;

type Chunk = [OnceLock<Py<PyInt>>; CHUNK_LEN];

static KEPT: [OnceLock<Box<Chunk>>; MAX_CHUNKS] = [const { OnceLock::new() }; MAX_CHUNKS];

/// The list of these ids.
pub(crate) fn list<'py>(py: Python<'py>, ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, ids.iter().map(|&id| integer(py, id)))
}

/// The array of these ids.
pub(crate) fn array(py: Python<'_>, ids: Vec<TokenId>) -> Bound<'_, PyArray1<TokenId>> {
    match ids.len() <= MAX_COPIED {
        true => PyArray1::from_slice(py, &ids),
        false => ids.into_pyarray(py),
    }
}

/// The integer that is kept, or a new one.
#[inline]
fn integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let index = id as usize;
    let chunk = KEPT.get(index / CHUNK_LEN).and_then(OnceLock::get);
    match chunk.and_then(|chunk| chunk[index % CHUNK_LEN].get()) {
        Some(integer) => integer.bind(py).clone(),
        None => new_integer(py, id),
    }
}

/// Nothing of Python runs while a cell is filled, so no thread that waits for one holds up another.
#[cold]
fn new_integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let Ok(integer) = id.into_pyobject(py);
    let index = id as usize;
    if let Some(chunk) = KEPT.get(index / CHUNK_LEN) {
        let chunk = chunk.get_or_init(|| Box::new(array::from_fn(|_| OnceLock::new())));
        let _was_empty = chunk[index % CHUNK_LEN].set(integer.clone().unbind()).is_ok();
    }
    integer
}
