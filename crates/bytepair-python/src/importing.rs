//! The import of this module, which checks the interpreter and sets the vector instructions, and the import of numpy.
//!
//! Only one interpreter of a process can use bytepair, since the integers that `output` caches belong to it. With
//! multi-phase initialization, `PyO3` leaves it to the module to refuse a second interpreter that shares the GIL. From 3.12
//! on, Python itself refuses one with its own GIL.
//!
//! The core uses the best vector instructions of the processor. `BYTEPAIR_INSTRUCTIONS` limits them to `portable`, `ssse3`,
//! `avx2`, `avx512` or `neon`, so that tests and benchmarks can imitate another processor. With `definition`, the naive twins
//! of all fast paths encode texts: if an id is right then and wrong otherwise, a fast path is at fault. The variable is not
//! part of the API.
//!
//! The crate `numpy` imports numpy when it first makes or looks at an array, and panics if that fails: if numpy is missing,
//! or if Ctrl-C arrives meanwhile, since the import runs Python code. So code that makes or takes an array calls [`ready`]
//! first. It imports numpy in a separate thread: Python handles signals only in the main thread, and raises
//! `KeyboardInterrupt` there when the call is over.
#![expect(unsafe_code, reason = "PyO3 has no safe way to ask which interpreter runs")]

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use bytepair::split;
use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyImportError, PyModuleNotFoundError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::raise;

/// Checks the interpreter and sets the vector instructions.
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
    // SAFETY: the pointer was just obtained, and is valid while this thread is attached to the interpreter.
    let here = unsafe { ffi::PyInterpreterState_GetID(interpreter) };
    if *FIRST.get_or_init(|| here) == here {
        return Ok(());
    }
    Err(PyImportError::new_err(
        "bytepair was imported by another interpreter of this process; use it in one interpreter only, or in \
         separate processes",
    ))
}

const VARIABLE: &str = "BYTEPAIR_INSTRUCTIONS";

/// Limits the vector instructions to those that the environment names.
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

/// Return the name of the best vector instructions in use.
///
/// The environment variable ``BYTEPAIR_INSTRUCTIONS`` limits them, for tests and benchmarks.
///
/// >>> from bytepair import _core
/// >>> _core.instructions() in {"portable", "ssse3", "avx2", "avx512", "neon"}
/// True
#[pyfunction]
pub(crate) fn instructions() -> &'static str {
    split::instructions()
}

static IS_READY: AtomicBool = AtomicBool::new(false);

/// Import numpy once for each process, or raise an error that says why this is not possible.
#[pyfunction(name = "import_numpy")]
pub(crate) fn ready(py: Python<'_>) -> PyResult<()> {
    if IS_READY.load(Ordering::Acquire) {
        return Ok(());
    }
    let imported = py.detach(|| thread::Builder::new().spawn(import).map(thread::JoinHandle::join));
    match imported {
        Ok(Ok(done)) => done?,
        Ok(Err(_panic)) => return Err(unusable("it does not work with this version of bytepair")),
        Err(error) => return Err(unusable(&error.to_string())),
    }
    IS_READY.store(true, Ordering::Release);
    Ok(())
}

/// Whether an object may be an array. If so, numpy is ready. If numpy was never imported, there are no arrays.
pub(crate) fn may_be_array(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if object.is_instance_of::<PyList>() {
        return Ok(false);
    }
    if !IS_READY.load(Ordering::Acquire) {
        let modules = py.import("sys")?.getattr("modules")?;
        if !modules.contains("numpy")? {
            return Ok(false);
        }
        ready(py)?;
    }
    Ok(true)
}

/// An array as an argument.
pub(crate) struct ArrayArgument<'py, T: Element>(pub(crate) PyReadonlyArray1<'py, T>);

impl<'py, T: Element> FromPyObject<'_, 'py> for ArrayArgument<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        ready(object.py())?;
        Ok(Self(object.extract::<PyReadonlyArray1<'py, T>>()?))
    }
}

/// Imports numpy, then makes and borrows an array, so that nothing is left to load later.
fn import() -> PyResult<()> {
    let imported = Python::try_attach(|py| {
        py.import("numpy").map_err(|error| missing(py, error))?;
        drop(PyArray1::<u8>::from_slice(py, &[0]).try_readonly());
        Ok(())
    });
    imported.unwrap_or_else(|| Err(unusable("Python is shutting down")))
}

fn missing(py: Python<'_>, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyModuleNotFoundError>(py) {
        let message = "this needs numpy: pip install numpy";
        return raise("MissingLibraryError", message);
    }
    if error.is_instance_of::<PyImportError>(py) {
        return unusable(&error.value(py).to_string());
    }
    error
}

fn unusable(reason: &str) -> PyErr {
    raise("MissingLibraryError", format!("numpy cannot be used: {reason}"))
}
