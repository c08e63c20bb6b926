//! Reading, progress and Ctrl-C during long work of the core.
//!
//! An exception that Python raises meanwhile passes through the core as an error of reading, and is raised at the end.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read, Result as IoResult};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::error::{in_file, raise};

/// The shortest time between two calls of a progress function.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

/// Locks a mutex, even after a panic of another thread. Callers do not have the GIL, unless no thread waits for Python
/// while it holds this mutex.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file whose errors have its name. A read may wait for another program to write, perhaps forever; Ctrl-C interrupts it.
pub(crate) struct Interruptible {
    reader: Box<dyn Read + Send>,
    path: PathBuf,
    n_bytes: Arc<AtomicU64>,
}

impl Interruptible {
    /// Opens a file, or standard input for `-`. The number of bytes read is added to `n_bytes`.
    pub(crate) fn open(path: &Path, n_bytes: &Arc<AtomicU64>) -> PyResult<Self> {
        let reader: Box<dyn Read + Send> = if path.as_os_str() == "-" {
            Box::new(std::io::stdin())
        } else {
            Box::new(File::open(path).map_err(|error| in_file(path, &error.into()))?)
        };
        Ok(Self { reader, path: path.to_owned(), n_bytes: Arc::clone(n_bytes) })
    }
}

impl Read for Interruptible {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        match self.reader.read(buffer) {
            Ok(n_bytes) => {
                self.n_bytes.fetch_add(n_bytes as u64, Ordering::Relaxed);
                Ok(n_bytes)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                let stop = |py: Python<'_>| py.check_signals();
                Python::attach(stop).map_err(IoError::other)?;
                Err(error)
            }
            Err(error) => Err(IoError::other(in_file(&self.path, &error.into()))),
        }
    }
}

/// Calls a progress function now and then, and checks for Ctrl-C.
pub(crate) struct Reporter {
    progress: Py<PyAny>,
    last: Option<Instant>,
}

impl Reporter {
    pub(crate) fn new(progress: Py<PyAny>) -> Self {
        Self { progress, last: None }
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
        Ok(called.map_err(IoError::other)?)
    }
}

/// A Python function `read(n)` that returns at most `n` of the next bytes.
pub(crate) struct PythonReader(pub(crate) Py<PyAny>);

impl Read for PythonReader {
    fn read(&mut self, buffer: &mut [u8]) -> IoResult<usize> {
        let read = Python::attach(|py| {
            py.check_signals()?;
            let bytes = self.0.call1(py, (buffer.len(),))?;
            let bytes = bytes.extract::<&[u8]>(py)?;
            let target = buffer.get_mut(..bytes.len()).ok_or_else(|| {
                raise("FileError", "read() returned more bytes than it was asked for")
            })?;
            target.copy_from_slice(bytes);
            Ok(bytes.len())
        });
        read.map_err(|raised: PyErr| IoError::other(raised))
    }
}
