//! Long work in the core: what it reads, whom it tells how far it is, and Ctrl-C.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytepair::{Error, ErrorKind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::error::{in_file, raise};

/// The shortest time between two calls of a progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// A reader that waits, perhaps for ever, for what another program writes: Ctrl-C ends the waiting.
pub(crate) struct Interruptible {
    reader: Box<dyn Read + Send>,
    n_bytes: Arc<AtomicU64>,
}

impl Interruptible {
    /// Opens a file, or standard input for `-`; the bytes that are read are added up in `n_bytes`.
    pub(crate) fn open(path: &Path, n_bytes: &Arc<AtomicU64>) -> PyResult<Self> {
        let reader: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            let named = |error: std::io::Error| in_file(&path.display().to_string(), &error.into());
            Box::new(File::open(path).map_err(named)?)
        };
        Ok(Self { reader, n_bytes: Arc::clone(n_bytes) })
    }
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let result = self.reader.read(buffer);
        if result.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::Interrupted) {
            let stop = |py: Python<'_>| py.check_signals();
            Python::attach(stop).map_err(std::io::Error::other)?;
        }
        if let Ok(n_bytes) = result {
            self.n_bytes.fetch_add(n_bytes as u64, Ordering::Relaxed);
        }
        result
    }
}

/// Calls a progress function now and then, and looks whether the user wants to stop.
pub(crate) struct Reporter {
    progress: Py<PyAny>,
    last: Option<Instant>,
    /// What the progress function, or Ctrl-C, raised.
    pub(crate) failure: Option<PyErr>,
}

impl Reporter {
    pub(crate) fn new(progress: Py<PyAny>) -> Self {
        Self { progress, last: None, failure: None }
    }

    /// Whether what was raised is Ctrl-C, or a progress function's word for it.
    pub(crate) fn is_interrupted(&self) -> bool {
        let is_interrupt = |failure: &PyErr| {
            Python::attach(|py| failure.is_instance_of::<PyKeyboardInterrupt>(py))
        };
        self.failure.as_ref().is_some_and(is_interrupt)
    }

    pub(crate) fn report<A>(&mut self, arguments: impl FnOnce() -> A) -> bytepair::Result<()>
    where
        A: for<'py> IntoPyObject<'py> + for<'py> pyo3::call::PyCallArgs<'py>,
    {
        if self.last.is_some_and(|last| last.elapsed() < PROGRESS_INTERVAL) {
            return Ok(());
        }
        self.last = Some(Instant::now());
        let called = Python::attach(|py| {
            py.check_signals()?;
            if self.progress.is_none(py) {
                return Ok(());
            }
            self.progress.call1(py, arguments()).map(drop)
        });
        called.map_err(|failure| {
            self.failure = Some(failure);
            Error::from(ErrorKind::Interrupted)
        })
    }
}

/// A reader whose bytes come from a Python function.
pub(crate) struct PythonReader<'f> {
    pub(crate) read: Py<PyAny>,
    /// What the function raised.
    pub(crate) failure: &'f mut Option<PyErr>,
}

impl Read for PythonReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Python::attach(|py| {
            py.check_signals()?;
            let bytes = self.read.call1(py, (buffer.len(),))?;
            let bytes = bytes.extract::<&[u8]>(py)?;
            let target = buffer.get_mut(..bytes.len()).ok_or_else(|| {
                raise("FileError", "a reader gave more bytes than it was asked for".to_owned())
            })?;
            target.copy_from_slice(bytes);
            Ok(bytes.len())
        })
        .map_err(|failure: PyErr| {
            *self.failure = Some(failure);
            std::io::Error::other("see the failure")
        })
    }
}
