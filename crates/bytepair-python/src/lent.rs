//! Arrays whose memory is used again: what texts are encoded into, and blocks of a corpus read.
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

use crate::arrays::ready;

/// Shorter arrays are not worth it, in bytes.
const MIN_LEN: usize = 64 << 10;

/// What lies on the shelf at most, in bytes.
const MAX_LEN: usize = 128 << 20;

/// Memory of an array, and how long it is, in bytes.
struct Memory {
    numbers: Box<dyn Any + Send + Sync>,
    len: usize,
}

/// The last one was laid there last.
static SHELF: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// Empty memory, used before if there is any.
pub(crate) fn at_hand<T: Send + Sync + 'static>() -> Vec<T> {
    taken(|_| true)
}

/// Empty memory with room for so many numbers, used before, and not much longer than a vector becomes that begins with
/// this room and grows twice; or none.
pub(crate) fn at_hand_for<T: Send + Sync + 'static>(n_numbers: usize) -> Vec<T> {
    match n_numbers * size_of::<T>() {
        ..MIN_LEN => Vec::new(),
        len => taken(|memory| (len..=8 * len).contains(&memory.len)),
    }
}

fn taken<T: Send + Sync + 'static>(is_right: impl Fn(&Memory) -> bool) -> Vec<T> {
    let is_right = |memory: &Memory| memory.numbers.is::<Vec<T>>() && is_right(memory);
    let taken = SHELF.try_lock().ok().and_then(|mut shelf| {
        let place = shelf.iter().rposition(is_right)?;
        Some(shelf.remove(place))
    });
    let taken = taken.and_then(|memory| memory.numbers.downcast::<Vec<T>>().ok());
    let mut numbers = taken.map_or_else(Vec::new, |numbers| *numbers);
    numbers.clear();
    numbers
}

/// Lays memory on the shelf. What lies there longest makes room for it.
pub(crate) fn give_back<T: Send + Sync + 'static>(mut numbers: Vec<T>) {
    if let Some(len) = len_kept(&mut numbers) {
        lay_down(Memory { numbers: Box::new(numbers), len });
    }
}

/// How long memory is, in bytes, if the shelf may take it. Room that was never written, which may be as much as the
/// numbers take, is given up where it is the reason that it may not.
fn len_kept<T>(numbers: &mut Vec<T>) -> Option<usize> {
    if numbers.capacity() * size_of::<T>() > MAX_LEN && numbers.len() * size_of::<T>() <= MAX_LEN {
        numbers.shrink_to_fit();
    }
    Some(numbers.capacity() * size_of::<T>()).filter(|len| (MIN_LEN..=MAX_LEN).contains(len))
}

fn lay_down(memory: Memory) {
    let Ok(mut shelf) = SHELF.try_lock() else { return };
    shelf.push(memory);
    let lens: Vec<_> = shelf.iter().map(|memory| memory.len).collect();
    let n_too_many =
        (0..lens.len()).take_while(|&n| lens[n..].iter().sum::<usize>() > MAX_LEN).count();
    shelf.drain(..n_too_many);
}

/// Owns the memory of an array, and lays it on the shelf when the array is gone.
#[pyclass(frozen, module = "bytepair._core")]
struct Lent(Option<Memory>);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(lay_down);
    }
}

/// The array of these numbers.
pub(crate) fn lend<T: Element + 'static>(
    py: Python<'_>,
    mut numbers: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    ready(py)?;
    let Some(len) = len_kept(&mut numbers) else { return Ok(numbers.into_pyarray(py)) };
    let (start, n_numbers) = (numbers.as_mut_ptr(), numbers.len());
    let lent = Bound::new(py, Lent(Some(Memory { numbers: Box::new(numbers), len })))?;
    // SAFETY: the memory stays where it is until `lent` is dropped, which the array keeps alive, and nothing else
    // looks at it meanwhile: `lent` is known to the array alone, and frozen. The array may be written to.
    let view = unsafe { ArrayViewMut1::from_shape_ptr(n_numbers, start) };
    // SAFETY: as before.
    Ok(unsafe { PyArray1::borrow_from_array(&view, lent.into_any()) })
}
