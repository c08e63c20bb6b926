//! What is checked when the module is imported: the interpreter, and which vector instructions the core may use.
//!
//! A process has one interpreter that uses bytepair: the integers that `output` keeps belong to it. Since modules are made in
//! two phases, `PyO3` leaves it to the module to refuse a second interpreter that shares the GIL. Python itself refuses one
//! with a GIL of its own, from 3.12 on.
//!
//! The core uses the best vector instructions that the processor has. `BYTEPAIR_INSTRUCTIONS` names the best that may be
//! used: `portable`, `ssse3`, `avx2`, `avx512` or `neon`. So a test or a benchmark can imitate another processor. With
//! `definition`, texts are encoded by the naive twins of all fast paths: if an id is right then and wrong otherwise, a fast
//! path is at fault. It is not part of the API.
#![expect(unsafe_code, reason = "PyO3 has no safe way to ask which interpreter runs")]

use std::sync::OnceLock;

use bytepair::split;
use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// Checks what an import needs.
pub(crate) fn check(py: Python<'_>) -> PyResult<()> {
    refuse_a_second(py)?;
    limit_instructions()
}

/// The first interpreter that imported the module.
static FIRST: OnceLock<i64> = OnceLock::new();

/// Refuses to be imported by a second interpreter.
fn refuse_a_second(_py: Python<'_>) -> PyResult<()> {
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

const VARIABLE: &str = "BYTEPAIR_INSTRUCTIONS";

/// Limits the instructions as the environment says.
fn limit_instructions() -> PyResult<()> {
    let name = std::env::var_os(VARIABLE).unwrap_or_default();
    let name = name.to_string_lossy();
    if name == "definition" {
        bytepair::by_definition(true);
        return Ok(());
    }
    if name.is_empty() || split::limit_instructions(&name) {
        return Ok(());
    }
    let message = format!(
        "{VARIABLE} is {name:?}, which this processor does not have; it has {}",
        split::instructions()
    );
    Err(PyImportError::new_err(message))
}

/// The name of the best vector instructions in use.
///
/// Tests and benchmarks report it. The environment variable `BYTEPAIR_INSTRUCTIONS` limits it.
///
/// >>> from bytepair import _core
/// >>> _core.instructions() in {"portable", "ssse3", "avx2", "avx512", "neon"}
/// True
#[pyfunction]
pub(crate) fn instructions() -> &'static str {
    split::instructions()
}
