//! Ids to Python: lists of integers, and arrays, also of blocks of a corpus.
//!
//! A list needs an integer for each id. Python makes those above 256 anew each time, 32 bytes each, and frees them
//! with the list. So those that were handed out once are kept, for all tokenizers and as long as the process lives,
//! and later lists only count a reference more (`benchmarks/tried/python.md` has what that gives). At most 10 MB are
//! kept, 40 bytes for each id below a quarter of a million; larger ones, which hardly any vocabulary has, are made anew.
//!
//! Kept integers belong to one interpreter: a second one of the same process is refused (`importing`).
//!
//! The memory of arrays is used again. A system gives large memory page by page and clears each page, which may take longer
//! than what is done with it. So the memory of an array that Python has dropped is kept until the next block takes it. What
//! is kept is bounded, belongs to the process, and never shows: memory that is taken is empty. While another thread takes or
//! gives some, and after a fork in such a moment, memory is new. Costs a look at what is kept, a handful of blocks.
#![expect(
    unsafe_code,
    reason = "a bare pointer to each integer: lists take a tenth to a third less time than through cells; an array \
              borrows memory that an object of Python owns"
)]

use std::any::Any;
use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};
use std::{mem, ptr};

use bytepair::vocabulary::TokenId;
use bytepair::{Batch, Number, Sink};
use numpy::ndarray::ArrayViewMut1;
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::error::{OrRaise, ask, raise};
use crate::importing::ready;

/// About what a small object takes, in bytes.
pub(crate) const LEN_OF_OBJECT: usize = 64;

/// Integers of larger ids are not kept.
const N_KEPT: usize = 1 << 18;

/// Shorter arrays are copied into memory of numpy's own: an object that owns ours costs more than that.
const MAX_COPIED: usize = 1024;

/// Lists are made of so many ids at once, until it turns out that more are better: 256 KB, which the processor still has
/// in its cache.
const GROUP_LEN: usize = 1 << 16;

/// Who waits longer for the GIL mostly waits for another thread that runs Python, five milliseconds each time.
const LONG_WAIT: Duration = Duration::from_millis(1);

/// By id: the integer, once it was made.
static KEPT: [AtomicPtr<ffi::PyObject>; N_KEPT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; N_KEPT];

/// A text as Python's. The library's own way is a panic where memory ends.
pub(crate) fn text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, text.as_bytes())
}

/// Bytes as Python's, for the same reason.
pub(crate) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |memory| {
        memory.copy_from_slice(bytes);
        Ok(())
    })
}

/// The list of these ids.
pub(crate) fn list<'py>(py: Python<'py>, ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
    // A list that cannot be made is a panic of the library. Most integers are there already.
    ask(size_of_val(ids) * 2)?;
    PyList::new(py, ids.iter().map(|&id| integer(py, id)))
}

/// The list of these items, each of which takes about so many bytes besides its place.
pub(crate) fn list_of<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = T>,
    len_of_each: usize,
) -> PyResult<Bound<'py, PyList>> {
    ask(items.len().saturating_mul(size_of::<usize>() + len_of_each))?;
    PyList::new(py, items)
}

/// The list of these ids, whose memory is used again if it is theirs.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    ids: Cow<'_, [TokenId]>,
) -> PyResult<Bound<'py, PyList>> {
    let listed = list(py, &ids);
    recycle_row(ids);
    listed
}

/// The lists of a batch. Most are made by a thread that encodes without the GIL and asks for it now and then.
pub(crate) struct Lists {
    made: Vec<Py<PyList>>,
    failed: Option<PyErr>,
    /// Texts whose lists are still to be made, and how many ids make it worth to ask for the GIL.
    waiting: Batch,
    n_wanted: usize,
}

impl Lists {
    /// No lists yet, of about so many ids.
    pub(crate) fn expecting(n_ids: usize) -> Self {
        let waiting = Batch::in_memory(recycled_for(n_ids.min(GROUP_LEN)));
        Self { made: Vec::new(), failed: None, waiting, n_wanted: GROUP_LEN }
    }

    /// Asks for the GIL and makes the lists of the texts that wait. While Python is shut down nobody gets it any more, nor
    /// the lists.
    fn make_when_it_can(&mut self) {
        if self.failed.is_none() {
            let asked = Instant::now();
            let made = Python::try_attach(|py| {
                self.note_wait(asked.elapsed());
                self.make(py)
            });
            self.failed = made.and_then(Result::err);
        }
        self.waiting = Batch::in_memory(mem::take(&mut self.waiting.ids));
    }

    fn note_wait(&mut self, waited: Duration) {
        if waited > LONG_WAIT {
            self.n_wanted = self.n_wanted.saturating_mul(4);
        }
    }

    fn make(&mut self, py: Python<'_>) -> PyResult<()> {
        for ids in self.waiting.texts() {
            self.made.push(list(py, ids)?.unbind());
        }
        Ok(())
    }

    /// All lists.
    pub(crate) fn all(mut self, py: Python<'_>) -> PyResult<Vec<Py<PyList>>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        self.make(py)?;
        recycle(self.waiting.ids);
        Ok(self.made)
    }
}

impl Sink for Lists {
    fn push(&mut self, ids: &[TokenId]) -> bytepair::Result<()> {
        self.waiting.push(ids)
    }

    fn end_text(&mut self) -> bytepair::Result<()> {
        self.waiting.end_text()?;
        if self.waiting.ids.len() >= self.n_wanted {
            self.make_when_it_can();
        }
        Ok(())
    }
}

fn recycle_row(ids: Cow<'_, [TokenId]>) {
    if let Cow::Owned(ids) = ids {
        recycle(ids);
    }
}

/// The type of the numbers of an array.
#[derive(Clone, Copy, Default)]
pub(crate) enum Width {
    Bits16,
    #[default]
    Bits32,
}

impl Width {
    /// This type, if it holds all ids of a vocabulary.
    pub(crate) fn holding(self, n_vocab: usize) -> PyResult<Self> {
        if matches!(self, Self::Bits16) && n_vocab > 1 << 16 {
            let message =
                format!("dtype: the vocabulary has {n_vocab} ids, and uint16 holds 65536");
            return Err(raise("TokenizerError", message));
        }
        Ok(self)
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
            recycle_row(ids);
            Ok(array_of(py, Cow::Owned(numbers))?.into_any())
        }
        Width::Bits32 => Ok(array_of(py, ids)?.into_any()),
    }
}

/// The array of these numbers.
pub(crate) fn array_of<'py, T: Element + Copy + 'static>(
    py: Python<'py>,
    numbers: Cow<'_, [T]>,
) -> PyResult<Bound<'py, PyArray1<T>>> {
    ready(py)?;
    match numbers {
        Cow::Owned(numbers) if numbers.len() > MAX_COPIED => into_array(py, numbers),
        numbers => Ok(PyArray1::from_slice(py, &numbers)),
    }
}

fn narrow(ids: &[TokenId]) -> PyResult<Vec<u16>> {
    ask(size_of_val(ids))?;
    let mut numbers = recycled_for(ids.len());
    numbers.reserve_exact(ids.len());
    u16::append(&mut numbers, ids).or_raise()?;
    Ok(numbers)
}

/// The integer that is kept, or a new one.
#[inline]
fn integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let kept = KEPT.get(id as usize).map_or(ptr::null_mut(), |kept| kept.load(Ordering::Acquire));
    // SAFETY: what is there is an object of Python's, of which one reference is never given back.
    match unsafe { Bound::from_borrowed_ptr_or_opt(py, kept) } {
        // SAFETY: all objects there are integers.
        Some(kept) => unsafe { kept.cast_into_unchecked() },
        None => new_integer(py, id),
    }
}

/// Of two threads that make the same integer at once, the first one's is kept.
#[cold]
fn new_integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let Ok(integer) = id.into_pyobject(py);
    if let Some(kept) = KEPT.get(id as usize) {
        let (none, new) = (ptr::null_mut(), integer.as_ptr());
        if kept.compare_exchange(none, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            mem::forget(integer.clone());
        }
    }
    integer
}

/// Shorter arrays are not worth it, in bytes.
const MIN_FREED: usize = 64 << 10;

/// How much memory is kept at most, in bytes.
const MAX_FREED: usize = 128 << 20;

/// Memory of an array, and how long it is, in bytes.
struct Memory {
    numbers: Box<dyn Any + Send + Sync>,
    len: usize,
}

/// The memory that is kept; what came last is last.
static FREED: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// Empty memory, used before if there is any.
pub(crate) fn recycled<T: Send + Sync + 'static>() -> Vec<T> {
    taken(|_| true)
}

/// Empty memory with room for so many numbers, used before, and not much longer than a vector becomes that begins with
/// this room and grows twice; or none.
pub(crate) fn recycled_for<T: Send + Sync + 'static>(n_numbers: usize) -> Vec<T> {
    match n_numbers * size_of::<T>() {
        ..MIN_FREED => Vec::new(),
        len => taken(|memory| (len..=8 * len).contains(&memory.len)),
    }
}

fn taken<T: Send + Sync + 'static>(is_right: impl Fn(&Memory) -> bool) -> Vec<T> {
    let is_right = |memory: &Memory| memory.numbers.is::<Vec<T>>() && is_right(memory);
    let taken = FREED.try_lock().ok().and_then(|mut kept| {
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
    if numbers.capacity() * size_of::<T>() > MAX_FREED
        && numbers.len() * size_of::<T>() <= MAX_FREED
    {
        numbers.shrink_to_fit();
    }
    Some(numbers.capacity() * size_of::<T>()).filter(|len| (MIN_FREED..=MAX_FREED).contains(len))
}

fn keep(memory: Memory) {
    let Ok(mut kept) = FREED.try_lock() else { return };
    kept.push(memory);
    let lens: Vec<_> = kept.iter().map(|memory| memory.len).collect();
    let n_too_many =
        (0..lens.len()).take_while(|&n| lens[n..].iter().sum::<usize>() > MAX_FREED).count();
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
