//! The characters of a `str` as Python holds them: numbers of one, two or four bytes each.
//!
//! Python makes UTF-8 of them when it is asked, on the thread that asks and under the GIL, and keeps it with the `str`
//! in memory of its own, fresh each time. The core does the same in a tenth of the time, so a call that encodes hands
//! it the numbers. Python's UTF-8 is taken where it is there already, where the text is short, and where the processor
//! has no vectors. Costs some nanoseconds for each text.
//!
//! The stable ABI says nothing about the numbers: built with the feature `abi3`, Python's UTF-8 is taken always.

#![expect(
    unsafe_code,
    reason = "numbers are read without the GIL, from the object of Python that holds them; new text in Spanish or Persian takes a quarter less time"
)]

use bytepair::CodeUnits;
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Shorter texts of a collection are left to Python, in characters. Those that come again, as short ones do, have their
/// UTF-8 then.
const MIN_LEN_OF_MANY: usize = 256;

/// The same for a text alone, which is encoded under the GIL if it is shorter.
const MIN_LEN_ALONE: usize = 2048;

/// A `str` that Python has no UTF-8 of, held as long as its characters are looked at.
pub(crate) struct Held {
    text: Py<PyString>,
    /// Valid as long as `text` is.
    units: CodeUnits<'static>,
}

impl Held {
    /// The text, if the core shall make its UTF-8.
    pub(crate) fn new(text: &Bound<'_, PyString>) -> Option<Self> {
        // SAFETY: the object is held beside its units, which are handed out for no longer.
        let units = unsafe { raw::units(text, MIN_LEN_OF_MANY) }?;
        Some(Self { text: text.clone().unbind(), units })
    }

    pub(crate) fn units(&self) -> CodeUnits<'_> {
        self.units
    }

    pub(crate) fn text(&self) -> &Py<PyString> {
        &self.text
    }
}

/// The characters of a text whose caller holds it, if the core shall make its UTF-8.
pub(crate) fn units<'a>(text: Borrowed<'a, '_, PyString>) -> Option<CodeUnits<'a>> {
    // SAFETY: the object is borrowed for as long.
    unsafe { raw::units(&text, MIN_LEN_ALONE) }
}

#[cfg(not(feature = "abi3"))]
mod raw {
    use std::mem;
    use std::sync::atomic::{AtomicPtr, Ordering};

    use bytepair::CodeUnits;
    use pyo3::ffi;
    use pyo3::prelude::*;
    use pyo3::types::PyString;
    use pyo3::types::string::PyStringData;

    /// # Safety
    /// The object must be there as long as its units are looked at.
    pub(super) unsafe fn units<'a>(
        text: &Bound<'_, PyString>,
        min_len: usize,
    ) -> Option<CodeUnits<'a>> {
        let len = text.code_point_len().ok()?;
        if len < min_len || !CodeUnits::are_quick() {
            return None;
        }
        // SAFETY: on x86-64, where alone the above is so, the state of a `str` is laid out as PyO3 reads it.
        let data = unsafe { text.data() }.ok()?;
        if is_utf8(text) {
            return None;
        }
        let units = match data {
            PyStringData::Ucs1(units) => CodeUnits::Latin1(units),
            PyStringData::Ucs2(units) => CodeUnits::Ucs2(units),
            PyStringData::Ucs4(units) => CodeUnits::Ucs4(units),
        };
        // SAFETY: the caller sees to it that the object is there for so long. A `str` that somebody holds never changes,
        // so any thread may read its units, with the GIL or without.
        Some(unsafe { mem::transmute::<CodeUnits<'_>, CodeUnits<'a>>(units) })
    }

    /// Whether Python has the UTF-8 of a text whose state is known.
    fn is_utf8(text: &Bound<'_, PyString>) -> bool {
        // SAFETY: it is a `str`, and ready.
        if unsafe { ffi::PyUnicode_IS_ASCII(text.as_ptr()) } != 0 {
            return true;
        }
        let object: *mut ffi::PyCompactUnicodeObject = text.as_ptr().cast();
        // SAFETY: a `str` that is not compact and ASCII begins with this structure.
        let utf8 = unsafe { &raw mut (*object).utf8 };
        // SAFETY: the pointer is aligned and there; where there is no GIL other threads change it by one step.
        let utf8 = unsafe { AtomicPtr::from_ptr(utf8) };
        !utf8.load(Ordering::Relaxed).is_null()
    }
}

#[cfg(feature = "abi3")]
mod raw {
    use bytepair::CodeUnits;
    use pyo3::prelude::*;
    use pyo3::types::PyString;

    /// # Safety
    /// None is needed.
    pub(super) unsafe fn units<'a>(
        _text: &Bound<'_, PyString>,
        _min_len: usize,
    ) -> Option<CodeUnits<'a>> {
        None
    }
}
