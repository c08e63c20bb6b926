//! Ids to Python: lists of integers, and arrays.
//!
//! A list needs an integer for each id. Python makes those above 256 anew each time, 32 bytes each, and frees them
//! with the list. So those that were handed out once are kept, for all tokenizers and as long as the process lives,
//! and later lists only count a reference more (`docs/explanation/performance.md` has what that gives). That holds for
//! small ids, which are those of frequent tokens where a vocabulary was learned: the others come too seldom to lie in
//! the processor's cache, and cost less when made anew. At most 3 MB are kept: 48 bytes for each id.
//!
//! Kept integers belong to one interpreter: `PyO3` refuses to be imported by a second one in the same process.

use std::array;
use std::borrow::Cow;
use std::sync::OnceLock;

use bytepair::TokenId;
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyList};

use crate::error::raise;
use crate::lent::{at_hand_for, give_back, lend};

/// Ids whose integers lie side by side.
const CHUNK_LEN: usize = 1024;

/// Integers of larger ids are not kept.
const MAX_CHUNKS: usize = 64;

/// Shorter arrays are copied into memory of numpy's own: an object that owns ours costs more than that.
const MAX_COPIED: usize = 1024;

type Chunk = [OnceLock<Py<PyInt>>; CHUNK_LEN];

static KEPT: [OnceLock<Box<Chunk>>; MAX_CHUNKS] = [const { OnceLock::new() }; MAX_CHUNKS];

/// The list of these ids.
pub(crate) fn list<'py>(py: Python<'py>, ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
    PyList::new(py, ids.iter().map(|&id| integer(py, id)))
}

/// The same, of ids whose memory may be used again.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    ids: Cow<'_, [TokenId]>,
) -> PyResult<Bound<'py, PyList>> {
    let listed = list(py, &ids);
    lay_aside(ids);
    listed
}

fn lay_aside(ids: Cow<'_, [TokenId]>) {
    if let Cow::Owned(ids) = ids {
        give_back(ids);
    }
}

/// The type of the numbers of an array.
#[derive(Clone, Copy)]
pub(crate) enum Width {
    Bits16,
    Bits32,
}

impl Width {
    /// The type that a name means. It must hold all ids of a vocabulary.
    pub(crate) fn of(dtype: &str, n_vocab: usize) -> PyResult<Self> {
        match dtype {
            "uint32" => Ok(Self::Bits32),
            "uint16" if n_vocab <= 1 << 16 => Ok(Self::Bits16),
            "uint16" => {
                let message =
                    format!("dtype: the vocabulary has {n_vocab} ids, and uint16 holds 65536");
                Err(raise("TokenizerError", message))
            }
            _ => {
                let message = format!("dtype must be \"uint16\" or \"uint32\", not {dtype:?}");
                Err(raise("TokenizerError", message))
            }
        }
    }
}

/// The array of these ids. One that does not fit, as a padding may outside the vocabulary, is an error.
pub(crate) fn array<'py>(
    py: Python<'py>,
    ids: Cow<'_, [TokenId]>,
    width: Width,
) -> PyResult<Bound<'py, PyAny>> {
    match width {
        Width::Bits16 => {
            let numbers = narrow(&ids)?;
            lay_aside(ids);
            Ok(owned(py, Cow::Owned(numbers))?.into_any())
        }
        Width::Bits32 => Ok(owned(py, ids)?.into_any()),
    }
}

fn owned<'py, T: Element + Copy + 'static>(
    py: Python<'py>,
    numbers: Cow<'_, [T]>,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    match numbers {
        Cow::Owned(numbers) if numbers.len() > MAX_COPIED => lend(py, numbers),
        numbers => Ok(PyArray1::from_slice(py, &numbers)),
    }
}

fn narrow(ids: &[TokenId]) -> PyResult<Vec<u16>> {
    let too_large = |id| raise("TokenizerError", format!("dtype: the id {id} does not fit uint16"));
    let mut numbers = at_hand_for(ids.len());
    numbers.reserve_exact(ids.len());
    for &id in ids {
        numbers.push(u16::try_from(id).map_err(|_| too_large(id))?);
    }
    Ok(numbers)
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
