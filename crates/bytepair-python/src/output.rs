//! Ids as Python values: lists of integers, and arrays, also for blocks of a corpus.
//!
//! A list needs an integer object for each id. Python makes a new one of 32 bytes for each id above 256, and frees it with
//! the list. So integers are cached for all tokenizers until the process ends, and later lists only count another reference
//! (`benchmarks/tried/python.md` has the gain). The cache takes at most 10 MB, 40 bytes for each id below a quarter of a
//! million. Larger ids, which hardly any vocabulary has, are not cached.
//!
//! Cached integers belong to one interpreter, so a second one in the same process is refused (`importing`).
//!
//! The memory of arrays is reused. The operating system provides large memory page by page and clears each page, which may
//! take longer than filling it. So when Python drops an array, its memory is pooled until the next block takes it. The pool
//! is bounded and belongs to the process. No data leaks from it, since memory is emptied before it is reused. Memory is new
//! while another thread uses the pool, and after a fork at such a moment. A search of the pool looks at a handful of blocks.
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

use bytepair::serving::Patch;
use bytepair::vocabulary::TokenId;
use bytepair::{Batch, Number, Sink};
use numpy::ndarray::{Array2, ArrayViewMut1};
use numpy::{Element, IntoPyArray, PyArray1, PyArray2};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyList, PyString};

use crate::error::{OrRaise, ask, raise};
use crate::importing::ready;

/// The approximate size of a small object, in bytes.
pub(crate) const LEN_OF_OBJECT: usize = 64;

/// Integers of larger ids are not cached.
const N_CACHED: usize = 1 << 18;

/// Shorter arrays are copied into memory of numpy: this costs less than an object that owns our memory.
const MAX_COPIED: usize = 1024;

/// The initial number of ids for which lists are made at once: 256 KB, which fit the cache of the processor.
const GROUP_LEN: usize = 1 << 16;

/// A longer wait for the GIL is usually a wait for another thread that runs Python, five milliseconds each time.
const LONG_WAIT: Duration = Duration::from_millis(1);

/// The cached integers by id, each null until it is made.
static CACHED: [AtomicPtr<ffi::PyObject>; N_CACHED] =
    [const { AtomicPtr::new(ptr::null_mut()) }; N_CACHED];

/// A text as a Python string. `PyString::new` would panic if memory runs out.
pub(crate) fn text<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyString>> {
    PyString::from_bytes(py, text.as_bytes())
}

/// Bytes as a Python object. `PyBytes::new` would panic if memory runs out.
pub(crate) fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, bytes.len(), |memory| {
        memory.copy_from_slice(bytes);
        Ok(())
    })
}

/// A patch as an object of `bytepair.serving`.
pub(crate) fn patch(py: Python<'_>, patch: Patch) -> PyResult<Bound<'_, PyAny>> {
    let class = py.import("bytepair._patch")?.getattr("Patch")?;
    class.call1((patch.keep, list(py, &patch.ids)?, patch.keep_after))
}

/// The list of these ids.
pub(crate) fn list<'py>(py: Python<'py>, ids: &[TokenId]) -> PyResult<Bound<'py, PyList>> {
    // `PyList::new` panics if there is no memory for the list. Most integers are cached already.
    ask(size_of_val(ids) * 2)?;
    PyList::new(py, ids.iter().map(|&id| integer(py, id)))
}

/// The list of these items, each of which takes about `len_of_each` bytes besides its pointer.
pub(crate) fn list_of<'py, T: IntoPyObject<'py>>(
    py: Python<'py>,
    items: impl ExactSizeIterator<Item = T>,
    len_of_each: usize,
) -> PyResult<Bound<'py, PyList>> {
    ask(items.len().saturating_mul(size_of::<usize>() + len_of_each))?;
    PyList::new(py, items)
}

/// The list of these ids, whose memory is reused if it is owned.
pub(crate) fn listed<'py>(
    py: Python<'py>,
    ids: Cow<'_, [TokenId]>,
) -> PyResult<Bound<'py, PyList>> {
    let listed = list(py, &ids);
    recycle_row(ids);
    listed
}

/// The lists of a batch. A thread that encodes without the GIL makes most of them: it asks for the GIL now and then.
pub(crate) struct Lists {
    made: Vec<Py<PyList>>,
    failed: Option<PyErr>,
    /// The texts without a list yet.
    waiting: Batch,
    /// The number of waiting ids from which it is worth asking for the GIL.
    n_wanted: usize,
}

impl Lists {
    /// No lists yet. About `n_ids` ids are expected.
    pub(crate) fn expecting(n_ids: usize) -> Self {
        let waiting = Batch::in_memory(recycled_for(n_ids.min(GROUP_LEN)));
        Self { made: Vec::new(), failed: None, waiting, n_wanted: GROUP_LEN }
    }

    /// Asks for the GIL and makes the lists of the waiting texts. While Python shuts down, the GIL is not available, and no
    /// lists are made.
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

    /// All lists, including those of the waiting texts.
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

/// The array of these ids. An id that does not fit is an error; it can only come from padding outside the vocabulary.
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

/// The array of these pairs, one in each row.
pub(crate) fn array_of_pairs(
    py: Python<'_>,
    pairs: impl Iterator<Item = (usize, usize)>,
) -> PyResult<Bound<'_, PyArray2<i64>>> {
    ready(py)?;
    let number = |place: usize| i64::try_from(place).unwrap_or(i64::MAX);
    let rows: Vec<_> = pairs.map(|(start, end)| [number(start), number(end)]).collect();
    Ok(Array2::from(rows).into_pyarray(py))
}

fn narrow(ids: &[TokenId]) -> PyResult<Vec<u16>> {
    ask(size_of_val(ids))?;
    let mut numbers = recycled_for(ids.len());
    numbers.reserve_exact(ids.len());
    u16::append(&mut numbers, ids).or_raise()?;
    Ok(numbers)
}

/// The integer from the cache, or a new one.
#[inline]
fn integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let cached = CACHED.get(id as usize);
    let cached = cached.map_or(ptr::null_mut(), |cached| cached.load(Ordering::Acquire));
    // SAFETY: the pointer is null, or that of a Python object to which the cache holds a reference forever.
    match unsafe { Bound::from_borrowed_ptr_or_opt(py, cached) } {
        // SAFETY: all objects in the cache are integers.
        Some(cached) => unsafe { cached.cast_into_unchecked() },
        None => new_integer(py, id),
    }
}

/// Makes an integer and caches it, unless another thread was faster.
#[cold]
fn new_integer(py: Python<'_>, id: TokenId) -> Bound<'_, PyInt> {
    let Ok(integer) = id.into_pyobject(py);
    if let Some(cached) = CACHED.get(id as usize) {
        let (none, new) = (ptr::null_mut(), integer.as_ptr());
        if cached.compare_exchange(none, new, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            mem::forget(integer.clone());
        }
    }
    integer
}

/// Memory of fewer bytes is not pooled.
const MIN_FREED: usize = 64 << 10;

/// The largest size of the pool, in bytes.
const MAX_FREED: usize = 128 << 20;

/// The memory of an array, and its length in bytes.
struct Memory {
    numbers: Box<dyn Any + Send + Sync>,
    len: usize,
}

/// The pool of memory, from the oldest to the newest.
static FREED: Mutex<Vec<Memory>> = Mutex::new(Vec::new());

/// An empty vector, with memory from the pool if there is any.
pub(crate) fn recycled<T: Send + Sync + 'static>() -> Vec<T> {
    taken(|_| true)
}

/// An empty vector. Memory from the pool has room for `n_numbers`, and for at most eight times as many: a vector that begins
/// with this room and grows twice hardly becomes longer.
pub(crate) fn recycled_for<T: Send + Sync + 'static>(n_numbers: usize) -> Vec<T> {
    match n_numbers * size_of::<T>() {
        ..MIN_FREED => Vec::new(),
        len => taken(|memory| (len..=8 * len).contains(&memory.len)),
    }
}

fn taken<T: Send + Sync + 'static>(is_right: impl Fn(&Memory) -> bool) -> Vec<T> {
    let is_right = |memory: &Memory| memory.numbers.is::<Vec<T>>() && is_right(memory);
    let taken = FREED.try_lock().ok().and_then(|mut pool| {
        let place = pool.iter().rposition(is_right)?;
        Some(pool.remove(place))
    });
    let taken = taken.and_then(|memory| memory.numbers.downcast::<Vec<T>>().ok());
    let mut numbers = taken.map_or_else(Vec::new, |numbers| *numbers);
    numbers.clear();
    numbers
}

/// Moves memory to the pool, from which the oldest memory is freed if there is too much.
pub(crate) fn recycle<T: Send + Sync + 'static>(mut numbers: Vec<T>) {
    if let Some(len) = poolable_len(&mut numbers) {
        pool(Memory { numbers: Box::new(numbers), len });
    }
}

/// The length of memory in bytes, if it may be pooled. Memory that is too long only because of its spare capacity is
/// shrunk first.
fn poolable_len<T>(numbers: &mut Vec<T>) -> Option<usize> {
    if numbers.capacity() * size_of::<T>() > MAX_FREED
        && numbers.len() * size_of::<T>() <= MAX_FREED
    {
        numbers.shrink_to_fit();
    }
    Some(numbers.capacity() * size_of::<T>()).filter(|len| (MIN_FREED..=MAX_FREED).contains(len))
}

fn pool(memory: Memory) {
    let Ok(mut pool) = FREED.try_lock() else { return };
    pool.push(memory);
    let lens: Vec<_> = pool.iter().map(|memory| memory.len).collect();
    let n_too_many =
        (0..lens.len()).take_while(|&n| lens[n..].iter().sum::<usize>() > MAX_FREED).count();
    pool.drain(..n_too_many);
}

/// Owns the memory of an array, which is pooled when the array is dropped.
#[pyclass(frozen, module = "bytepair._core")]
struct ArrayMemory(Option<Memory>);

impl Drop for ArrayMemory {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(pool);
    }
}

/// The array of these numbers.
pub(crate) fn into_array<T: Element + 'static>(
    py: Python<'_>,
    mut numbers: Vec<T>,
) -> PyResult<Bound<'_, PyArray1<T>>> {
    ready(py)?;
    let Some(len) = poolable_len(&mut numbers) else { return Ok(numbers.into_pyarray(py)) };
    let (start, n_numbers) = (numbers.as_mut_ptr(), numbers.len());
    let owner = Bound::new(py, ArrayMemory(Some(Memory { numbers: Box::new(numbers), len })))?;
    // SAFETY: the memory stays where it is until `owner` is dropped, which the array keeps alive. Nothing else accesses it
    // meanwhile: only the array knows `owner`, which is frozen. So the array may be written to.
    let view = unsafe { ArrayViewMut1::from_shape_ptr(n_numbers, start) };
    // SAFETY: as before.
    Ok(unsafe { PyArray1::borrow_from_array(&view, owner.into_any()) })
}
