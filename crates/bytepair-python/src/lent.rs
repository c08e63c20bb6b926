//! Arrays whose memory is used again: what blocks of a corpus are read and encoded into.
//!
//! A system gives large memory page by page and clears each page, which may take longer than what is done with it. So
//! the memory of an array that Python has dropped lies on a shelf until the next block takes it. The shelf is bounded,
//! belongs to the process, and never shows: what is taken from it is empty. Where another thread is looking into it,
//! or was when this process was forked off, memory is new.

#![expect(unsafe_code, reason = "an array borrows memory that an object of Python owns")]

use std::any::Any;
use std::sync::Mutex;

use numpy::ndarray::ArrayView1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::error::raise;

/// Shorter arrays are not worth it, in bytes.
const MIN_LEN: usize = 64 << 10;

/// Longer ones are given back to the system, in bytes.
const MAX_LEN: usize = 16 << 20;

/// How many lie on the shelf at most.
const MAX_KEPT: usize = 4;

type Memory = Box<dyn Any + Send + Sync>;

static SHELF: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// Empty memory, used before if there is any.
pub(crate) fn at_hand<T: Send + Sync + 'static>() -> Vec<T> {
    let taken = SHELF.try_lock().ok().and_then(|mut shelf| {
        let place = shelf.iter().rposition(|memory| memory.is::<Vec<T>>())?;
        Some(shelf.swap_remove(place))
    });
    let taken = taken.and_then(|memory| memory.downcast::<Vec<T>>().ok());
    let mut numbers = taken.map_or_else(Vec::new, |memory| *memory);
    numbers.clear();
    numbers
}

/// Owns the memory of an array, and lays it on the shelf when the array is gone.
#[pyclass(frozen, module = "bytepair._core")]
struct Lent(Option<Memory>);

impl Drop for Lent {
    fn drop(&mut self) {
        if let Ok(mut shelf) = SHELF.try_lock()
            && shelf.len() < MAX_KEPT
        {
            shelf.extend(self.0.take());
        }
    }
}

/// The array of these numbers.
pub(crate) fn lend<T: Element + 'static>(
    py: Python<'_>,
    numbers: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    if !(MIN_LEN..=MAX_LEN).contains(&(numbers.capacity() * size_of::<T>())) {
        return Ok(numbers.into_pyarray(py));
    }
    let lent = Bound::new(py, Lent(Some(Box::new(numbers))))?;
    let memory = lent.get().0.as_ref().and_then(|memory| memory.downcast_ref::<Vec<T>>());
    let Some(numbers) = memory else {
        return Err(raise("TokenizerError", "memory of another type".to_owned()));
    };
    let view = ArrayView1::from(numbers.as_slice());
    // SAFETY: the memory stays where it is until `lent` is dropped, which the array keeps alive, and nothing else
    // looks at it meanwhile: `lent` is known to the array alone, and frozen.
    Ok(unsafe { PyArray1::borrow_from_array(&view, lent.clone().into_any()) })
}
