//! The code points of a `str` as Python holds them, and their UTF-8.
//!
//! Python holds a `str` as numbers of one, two or four bytes each. It makes UTF-8 of them when it is asked, on the thread
//! that asks and under the GIL, and keeps it with the `str`, in memory that is fresh each time. Here the same is done in a
//! tenth of the time and without the GIL, and the core sees UTF-8 alone. Python still converts texts whose UTF-8 it
//! has already, short texts, texts with lone surrogates (it reports where they are), and all texts without AVX-512.
//!
//! The stable ABI says nothing about the numbers: built with the feature `abi3`, Python makes all UTF-8.
//!
//! Costs some nanoseconds for each text, and 0.03 to 0.2 nanoseconds for each byte of UTF-8.

#![expect(
    unsafe_code,
    reason = "numbers are read without the GIL, from the object of Python that holds them; new text in Spanish or Persian takes a quarter less time"
)]

#[cfg(target_arch = "x86_64")]
mod vectors;

use bytepair::memory::ask;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Shorter texts of a collection are left to Python, in characters. Those that come again, as short ones do, have their
/// UTF-8 then.
const MIN_LEN_OF_MANY: usize = 256;

/// Shorter texts that come alone are left to Python, in characters: they are encoded under the GIL.
const MIN_LEN_ALONE: usize = 2048;

/// The code points of a text.
#[derive(Clone, Copy)]
#[cfg_attr(
    any(feature = "abi3", not(target_arch = "x86_64")),
    expect(dead_code, reason = "Python makes all UTF-8 there")
)]
pub(crate) enum CodePoints<'a> {
    /// Numbers below 256.
    Latin1(&'a [u8]),
    /// Numbers below 65,536. They are whole characters: a surrogate is none.
    Ucs2(&'a [u16]),
    /// All numbers.
    Ucs4(&'a [u32]),
}

impl<'a> CodePoints<'a> {
    /// Those of a text whose caller holds it; `None` where Python is to make its UTF-8.
    pub(crate) fn of(text: Borrowed<'a, '_, PyString>) -> Option<Self> {
        // SAFETY: the object is borrowed for as long as its numbers are read.
        unsafe { raw::code_points(&text, MIN_LEN_ALONE) }
    }
}

impl CodePoints<'_> {
    /// How many bytes of UTF-8 they have, hardly ever more. Nobody knows without a look at all of them: few numbers of one
    /// byte take two, and numbers of two bytes may be English with a dash or all Chinese.
    pub(crate) fn expected_len(self) -> usize {
        match self {
            Self::Latin1(numbers) => numbers.len() + numbers.len() / 16,
            Self::Ucs2(numbers) => 3 * numbers.len(),
            Self::Ucs4(numbers) => 3 * numbers.len(),
        }
    }

    /// Their UTF-8, in memory that was used before; `None` where a number is no character's, or memory ends.
    pub(crate) fn utf8_in(self, memory: Vec<u8>) -> Option<Vec<u8>> {
        let (mut utf8, expected_len) = (memory, self.expected_len());
        utf8.clear();
        if utf8.capacity() < expected_len {
            // What is never written takes no memory, but for its addresses.
            ask(expected_len).ok()?;
            utf8.reserve_exact(expected_len);
        }
        #[cfg(target_arch = "x86_64")]
        vectors::append(self, &mut utf8)?;
        Some(utf8)
    }
}

/// A `str` that Python has no UTF-8 of, held as long as its code points are read.
pub(crate) struct Held {
    text: Py<PyString>,
    /// Valid as long as `text` is.
    code_points: CodePoints<'static>,
}

impl Held {
    /// Holds a text; `None` where Python is to make its UTF-8.
    pub(crate) fn new(text: &Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: the object is held beside its numbers, which are handed out for no longer.
        let code_points = unsafe { raw::code_points(text, MIN_LEN_OF_MANY) }?;
        Some(Self { text: text.clone().unbind(), code_points })
    }

    pub(crate) fn code_points(&self) -> CodePoints<'_> {
        self.code_points
    }

    pub(crate) fn text(&self) -> &Py<PyString> {
        &self.text
    }
}

#[cfg(all(not(feature = "abi3"), target_arch = "x86_64"))]
mod raw {
    use std::mem;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use pyo3::ffi;
    use pyo3::prelude::*;
    use pyo3::types::PyString;
    use pyo3::types::string::PyStringData;

    use super::{CodePoints, vectors};

    /// # Safety
    /// The object must be there as long as its numbers are read.
    pub(super) unsafe fn code_points<'a>(
        text: &Bound<'_, PyString>,
        min_len: usize,
    ) -> Option<CodePoints<'a>> {
        let len = text.code_point_len().ok()?;
        if len < min_len || !vectors::are_here() {
            return None;
        }
        // SAFETY: on x86-64 the state of a `str` is laid out as PyO3 reads it.
        let data = unsafe { text.data() }.ok()?;
        // What is ASCII is UTF-8.
        if matches!(data, PyStringData::Ucs1(numbers) if numbers.is_ascii()) || has_utf8(text) {
            return None;
        }
        let code_points = match data {
            PyStringData::Ucs1(numbers) => CodePoints::Latin1(numbers),
            PyStringData::Ucs2(numbers) => CodePoints::Ucs2(numbers),
            PyStringData::Ucs4(numbers) => CodePoints::Ucs4(numbers),
        };
        // SAFETY: the caller sees to it that the object is there for so long. A `str` that somebody holds never changes,
        // so any thread may read its numbers, with the GIL or without.
        Some(unsafe { mem::transmute::<CodePoints<'_>, CodePoints<'a>>(code_points) })
    }

    /// Whether Python has the UTF-8 of a text that is not ASCII.
    fn has_utf8(text: &Bound<'_, PyString>) -> bool {
        let object: *mut ffi::PyCompactUnicodeObject = text.as_ptr().cast();
        // SAFETY: a `str` that is not ASCII begins with this structure.
        let utf8 = unsafe { &raw mut (*object).utf8 };
        // SAFETY: the pointer is aligned and there; where there is no GIL other threads change it by one step.
        let utf8 = unsafe { AtomicPtr::from_ptr(utf8) };
        !utf8.load(Ordering::Relaxed).is_null()
    }
}

#[cfg(any(feature = "abi3", not(target_arch = "x86_64")))]
mod raw {
    use pyo3::prelude::*;
    use pyo3::types::PyString;

    use super::CodePoints;

    /// # Safety
    /// None is needed.
    pub(super) unsafe fn code_points<'a>(
        _text: &Bound<'_, PyString>,
        _min_len: usize,
    ) -> Option<CodePoints<'a>> {
        None
    }
}
