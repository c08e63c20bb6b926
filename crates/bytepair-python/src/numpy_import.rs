//! Arrays of numpy, which is imported where an error is an error.
//!
//! The crate `numpy` imports numpy when it first makes or looks at an array, and panics if that fails: where numpy is
//! missing, and where Ctrl-C comes meanwhile, since the import runs Python code. So whoever makes or takes an array calls
//! `ready` first. It imports in a thread of its own: Python tells only the main thread of signals, and raises
//! `KeyboardInterrupt` there when the call is over.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use numpy::{Element, PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{PyImportError, PyModuleNotFoundError};
use pyo3::prelude::*;
use pyo3::types::PyList;

use crate::error::raise;

static IS_READY: AtomicBool = AtomicBool::new(false);

/// Import numpy, once for each process, or say why that is not possible.
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

/// Whether something may be an array; numpy is ready then. Where nobody imported numpy, there is none.
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

/// An array that is an argument.
pub(crate) struct GivenArray<'py, T: Element>(PyReadonlyArray1<'py, T>);

impl<'py, T: Element> Deref for GivenArray<'py, T> {
    type Target = PyReadonlyArray1<'py, T>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'py, T: Element> FromPyObject<'_, 'py> for GivenArray<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        ready(object.py())?;
        Ok(Self(object.extract::<PyReadonlyArray1<'py, T>>()?))
    }
}

/// Imports, and makes and borrows an array, so that nothing is left to be loaded later.
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
        return raise("MissingLibraryError", message.to_owned());
    }
    if error.is_instance_of::<PyImportError>(py) {
        return unusable(&error.value(py).to_string());
    }
    error
}

fn unusable(reason: &str) -> PyErr {
    raise("MissingLibraryError", format!("numpy cannot be used: {reason}"))
}
