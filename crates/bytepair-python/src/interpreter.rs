//! One interpreter of a process: the integers that `output` keeps belong to the one that made them.
//!
//! Since modules are made in two phases, `PyO3` leaves a second interpreter that shares the GIL to the module. Python
//! itself refuses one with a GIL of its own, from 3.12 on.
#![expect(unsafe_code, reason = "PyO3 has no safe way to ask which interpreter runs")]

use std::sync::OnceLock;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The first interpreter that imported the module.
static FIRST: OnceLock<i64> = OnceLock::new();

/// Refuses to be imported by a second interpreter.
pub(crate) fn refuse_a_second(_py: Python<'_>) -> PyResult<()> {
    // SAFETY: the token shows that this thread is attached to an interpreter.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: it was found just now, and lives as long as this thread is attached to it.
    let here = unsafe { ffi::PyInterpreterState_GetID(interpreter) };
    if *FIRST.get_or_init(|| here) == here {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "bytepair was imported by another interpreter of this process; use it in one interpreter, or in a process of \
         its own",
    ))
}
