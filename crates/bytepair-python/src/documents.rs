//! Large texts and growing ones: files to files of ids, and counters.

use std::fs::{File, OpenOptions};
use std::io::{Result as IoResult, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytepair::{EncodeOptions, IdFile, IdFormat, Reading, Tokenizer};
use pyo3::prelude::*;

use crate::convert::Text;
use crate::error::{in_file, raise, to_python};
use crate::reading::{Interruptible, Reporter};

/// The file that is read, or `-` for standard input, a file that exists, and its name in errors of writing.
#[derive(FromPyObject)]
pub(crate) struct FileNames(PathBuf, PathBuf, String);

/// How a file is encoded into a file.
pub(crate) struct FileOptions {
    pub(crate) format: IdFormat,
    pub(crate) n_threads: usize,
    pub(crate) stretch_len: Option<usize>,
    pub(crate) max_uncut: Option<usize>,
    pub(crate) progress: Py<PyAny>,
}

/// Encodes a file into a file; gives the numbers of ids and of bytes.
pub(crate) fn encode_file(
    py: Python<'_>,
    tokenizer: &Tokenizer,
    names: FileNames,
    options: EncodeOptions<'_>,
    file_options: FileOptions,
) -> PyResult<(u64, u64)> {
    let FileNames(path, target, name) = names;
    let FileOptions { format, n_threads, stretch_len, max_uncut, progress } = file_options;
    let reader = Interruptible::open(&path, &Arc::default())?;
    let reading = Reading { reader, n_threads, stretch_len, max_uncut };
    let opened = OpenOptions::new().write(true).open(target);
    let file = opened.map_err(|error| unwritable(&name, &error))?;
    let mut writer = NamedFile { file, name };
    let mut reporter = Reporter::new(progress);
    let encoded = py.detach(|| {
        let report = |n_bytes| reporter.report(|| (n_bytes,));
        let mut ids = IdFile::new(&mut writer, format, tokenizer.parts().vocabulary.len())?;
        let n_bytes = tokenizer.encode_stream(reading, options, &mut ids, report)?;
        Ok((ids.finish()?, n_bytes))
    });
    encoded.map_err(|error| {
        let failure = reporter.failure.take();
        failure.unwrap_or_else(|| in_file(&path.display().to_string(), &error))
    })
}

/// A file whose errors say its name, not that of the one that is read.
struct NamedFile {
    file: File,
    name: String,
}

impl NamedFile {
    fn named<T>(&self, result: IoResult<T>) -> IoResult<T> {
        result.map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => error,
            _ => std::io::Error::other(unwritable(&self.name, &error)),
        })
    }
}

fn unwritable(name: &str, error: &std::io::Error) -> PyErr {
    raise("FileError", format!("{name}: {error}"))
}

impl Write for NamedFile {
    fn write(&mut self, bytes: &[u8]) -> IoResult<usize> {
        let result = self.file.write(bytes);
        self.named(result)
    }

    fn flush(&mut self) -> IoResult<()> {
        let result = self.file.flush();
        self.named(result)
    }
}

impl Seek for NamedFile {
    fn seek(&mut self, place: SeekFrom) -> IoResult<u64> {
        let result = self.file.seek(place);
        self.named(result)
    }
}

/// The number of ids of a text that grows, exact after each part.
///
/// Each part costs the time of its own text and of the end of the text before, mostly a word. A
/// tokenizer that can cut nowhere counts everything again.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> counter = tokenizer.counter()
/// >>> [counter.append(part) for part in ["l", "ow", " low", "er"]]
/// [1, 1, 3, 5]
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct TokenCounter(Mutex<bytepair::TokenCounter>);

impl TokenCounter {
    pub(crate) fn new(tokenizer: &Arc<Tokenizer>, options: EncodeOptions<'_>) -> PyResult<Self> {
        let counter = bytepair::TokenCounter::new(Arc::clone(tokenizer), options);
        counter.map(|counter| Self(Mutex::new(counter))).map_err(|error| to_python(&error))
    }

    fn counter(&self) -> MutexGuard<'_, bytepair::TokenCounter> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl TokenCounter {
    /// Append a text, and return the number of ids of all texts so far.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> counter = tokenizer.counter()
    /// >>> counter.append("low"), counter.append("er")
    /// (1, 3)
    ///
    /// Raises the errors of ``Tokenizer.encode``; the counter then stays as it was.
    fn append(&self, py: Python<'_>, text: Text) -> PyResult<usize> {
        py.detach(|| self.counter().append(text.bytes())).map_err(|error| to_python(&error))
    }

    /// The number of ids of everything that was appended.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> counter = tokenizer.counter()
    /// >>> counter.append("lower"), counter.total
    /// (3, 3)
    #[getter]
    fn total(&self, py: Python<'_>) -> usize {
        py.detach(|| self.counter().total())
    }

    /// Return a counter that goes on from here on its own.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> counter = tokenizer.counter()
    /// >>> trial = counter.copy()
    /// >>> trial.append("lower"), counter.total
    /// (3, 0)
    fn copy(&self, py: Python<'_>) -> Self {
        Self(Mutex::new(py.detach(|| self.counter().clone())))
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<bytepair.TokenCounter: {} tokens>", self.total(py))
    }
}
