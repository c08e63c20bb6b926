//! Arrays whose memory is used again: what blocks of a corpus are read and encoded into.
//!
//! A system gives large memory page by page and clears each page, which may take longer than what is done with it. So
//! the memory of an array that Python has dropped lies on a shelf until the next block takes it. The shelf is bounded,
//! belongs to the process, and never shows: what is taken from it is empty. Where another thread is looking into it,
//! or was when this process was forked off, memory is new.

#![expect(unsafe_code, reason = "an array borrows memory that an object of Python owns")]

use std::any::Any;
use std::sync::Mutex;

use numpy::ndarray::ArrayViewMut1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

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
    mut numbers: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    if !(MIN_LEN..=MAX_LEN).contains(&(numbers.capacity() * size_of::<T>())) {
        return Ok(numbers.into_pyarray(py));
    }
    let (start, n_numbers) = (numbers.as_mut_ptr(), numbers.len());
    let lent = Bound::new(py, Lent(Some(Box::new(numbers))))?;
    // SAFETY: the memory stays where it is until `lent` is dropped, which the array keeps alive, and nothing else
    // looks at it meanwhile: `lent` is known to the array alone, and frozen. The array may be written to.
    let view = unsafe { ArrayViewMut1::from_shape_ptr(n_numbers, start) };
    // SAFETY: as before.
    Ok(unsafe { PyArray1::borrow_from_array(&view, lent.into_any()) })
}
