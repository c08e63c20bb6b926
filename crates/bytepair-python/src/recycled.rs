//! Arrays whose memory is used again: ids of texts, and blocks of a corpus.
//!
//! A system gives large memory page by page and clears each page, which may take longer than what is done with it. So
//! the memory of an array that Python has dropped is kept until the next block takes it. What is kept is bounded, belongs
//! to the process, and never shows: memory that is taken is empty. While another thread takes or gives some, and after a
//! fork in such a moment, memory is new. Costs a look at what is kept, a handful of blocks.

#![expect(unsafe_code, reason = "an array borrows memory that an object of Python owns")]

use std::any::Any;
use std::sync::Mutex;

use numpy::ndarray::ArrayViewMut1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::prelude::*;

use crate::numpy_import::ready;

/// Shorter arrays are not worth it, in bytes.
const MIN_LEN: usize = 64 << 10;

/// How much memory is kept at most, in bytes.
const MAX_LEN: usize = 128 << 20;

/// Memory of an array, and how long it is, in bytes.
struct Memory {
    numbers: Box<dyn Any + Send + Sync>,
    len: usize,
}

/// The memory that is kept; what came last is last.
static KEPT: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// Empty memory, used before if there is any.
pub(crate) fn recycled<T: Send + Sync + 'static>() -> Vec<T> {
    taken(|_| true)
}

/// Empty memory with room for so many numbers, used before, and not much longer than a vector becomes that begins with
/// this room and grows twice; or none.
pub(crate) fn recycled_for<T: Send + Sync + 'static>(n_numbers: usize) -> Vec<T> {
    match n_numbers * size_of::<T>() {
        ..MIN_LEN => Vec::new(),
        len => taken(|memory| (len..=8 * len).contains(&memory.len)),
    }
}

fn taken<T: Send + Sync + 'static>(is_right: impl Fn(&Memory) -> bool) -> Vec<T> {
    let is_right = |memory: &Memory| memory.numbers.is::<Vec<T>>() && is_right(memory);
    let taken = KEPT.try_lock().ok().and_then(|mut kept| {
        let place = kept.iter().rposition(is_right)?;
        Some(kept.remove(place))
    });
    let taken = taken.and_then(|memory| memory.numbers.downcast::<Vec<T>>().ok());
    let mut numbers = taken.map_or_else(Vec::new, |numbers| *numbers);
    numbers.clear();
    numbers
}

/// Keeps memory to be used again. What was kept longest makes room for it.
pub(crate) fn recycle<T: Send + Sync + 'static>(mut numbers: Vec<T>) {
    if let Some(len) = len_kept(&mut numbers) {
        keep(Memory { numbers: Box::new(numbers), len });
    }
}

/// How long memory is, in bytes, if it may be kept. Room that was never written, which may be as much as the
/// numbers take, is given up where it is the reason that it may not.
fn len_kept<T>(numbers: &mut Vec<T>) -> Option<usize> {
    if numbers.capacity() * size_of::<T>() > MAX_LEN && numbers.len() * size_of::<T>() <= MAX_LEN {
        numbers.shrink_to_fit();
    }
    Some(numbers.capacity() * size_of::<T>()).filter(|len| (MIN_LEN..=MAX_LEN).contains(len))
}

fn keep(memory: Memory) {
    let Ok(mut kept) = KEPT.try_lock() else { return };
    kept.push(memory);
    let lens: Vec<_> = kept.iter().map(|memory| memory.len).collect();
    let n_too_many =
        (0..lens.len()).take_while(|&n| lens[n..].iter().sum::<usize>() > MAX_LEN).count();
    kept.drain(..n_too_many);
}

/// Owns the memory of an array, which is kept when the array is gone.
#[pyclass(frozen, module = "bytepair._core")]
struct ArrayMemory(Option<Memory>);

impl Drop for ArrayMemory {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(keep);
    }
}

/// The array of these numbers.
pub(crate) fn into_array<T: Element + 'static>(
    py: Python<'_>,
    mut numbers: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    ready(py)?;
    let Some(len) = len_kept(&mut numbers) else { return Ok(numbers.into_pyarray(py)) };
    let (start, n_numbers) = (numbers.as_mut_ptr(), numbers.len());
    let owner = Bound::new(py, ArrayMemory(Some(Memory { numbers: Box::new(numbers), len })))?;
    // SAFETY: the memory stays where it is until `owner` is dropped, which the array keeps alive, and nothing else
    // looks at it meanwhile: `owner` is known to the array alone, and frozen. The array may be written to.
    let view = unsafe { ArrayViewMut1::from_shape_ptr(n_numbers, start) };
    // SAFETY: as before.
    Ok(unsafe { PyArray1::borrow_from_array(&view, owner.into_any()) })
}
