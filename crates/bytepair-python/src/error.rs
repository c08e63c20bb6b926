//! Errors of the core as exceptions of `bytepair.errors`.

use std::path::Path;

use bytepair::{Error, ErrorKind};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception for an error of the core. It is `MemoryError` if memory ran out, and the original exception if Python
/// raised one meanwhile.
pub(crate) fn to_python(error: &Error) -> PyErr {
    exception(error, String::new())
}

/// The exception for an error of the core, with the name of the file that was being read.
pub(crate) fn in_file(path: &Path, error: &Error) -> PyErr {
    exception(error, format!("{}: ", path.display()))
}

fn exception(error: &Error, place: String) -> PyErr {
    let message = || format!("{place}{}", message(error));
    match error.kind() {
        kind if is_out_of_memory(kind) => PyMemoryError::new_err(message()),
        kind => raised_meanwhile(kind).unwrap_or_else(|| raise(class_name(kind), message())),
    }
}

/// The message of an error, with its options as the user writes them.
fn message(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Option { name, problem } => {
            let names: Vec<_> = name.split(", ").map(argument).collect();
            format!("{}: {problem}", names.join(", "))
        }
        kind => kind.to_string(),
    }
}

/// An argument as the user writes it: its name in Python, or the option of the command line.
pub(crate) fn argument(name: &str) -> String {
    let named = |py: Python<'_>| {
        py.import("bytepair._labels")?.call_method1("argument", (name,))?.extract()
    };
    Python::attach(named).unwrap_or_else(|_: PyErr| name.to_owned())
}

/// The exception that Python raised while the core read something or reported progress.
pub(crate) fn raised_meanwhile(kind: &ErrorKind) -> Option<PyErr> {
    let ErrorKind::Read(reason) = kind else { return None };
    let raised = reason.get_ref()?.downcast_ref::<PyErr>()?;
    Some(Python::attach(|py| raised.clone_ref(py)))
}

/// Turns the error of a result into an exception.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for bytepair::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| to_python(&error))
    }
}

/// Whether memory ran out, in the core or in the library that reads.
fn is_out_of_memory(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::OutOfMemory { .. } => true,
        ErrorKind::Read(reason) => reason.kind() == std::io::ErrorKind::OutOfMemory,
        ErrorKind::InBatch { error, .. } | ErrorKind::InSegment { error, .. } => {
            is_out_of_memory(error.kind())
        }
        _ => false,
    }
}

/// Refuses work that needs about `n_bytes` of memory if there is not enough.
pub(crate) fn ask(n_bytes: usize) -> PyResult<()> {
    bytepair::memory::ask(n_bytes).or_raise()
}

/// An exception of one of the classes of `bytepair.errors`.
pub(crate) fn raise(class_name: &str, message: impl Into<String>) -> PyErr {
    let message = message.into();
    Python::attach(|py| {
        let class = py.import("bytepair.errors").and_then(|module| module.getattr(class_name));
        match class.and_then(|class| Ok(class.cast_into::<PyType>()?)) {
            Ok(class) => PyErr::from_type(class, message),
            Err(error) => error,
        }
    })
}

fn class_name(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Split(_) => "PatternError",
        ErrorKind::NotUtf8 { .. } | ErrorKind::DecodedNotUtf8 { .. } => "EncodingError",
        ErrorKind::UnknownUnit { .. } | ErrorKind::UnknownId { .. } => "UnknownTokenError",
        ErrorKind::DisallowedSpecial { .. } | ErrorKind::NotSpecial { .. } => "SpecialTokenError",
        ErrorKind::VocabularyTooSmall { .. }
        | ErrorKind::EmptyCorpus
        | ErrorKind::Count { .. }
        | ErrorKind::FirstUnknown => "TrainingError",
        ErrorKind::Format { .. } | ErrorKind::Inexpressible { .. } => "FormatError",
        ErrorKind::Read(_) => "FileError",
        ErrorKind::InBatch { error, .. } | ErrorKind::InSegment { error, .. } => {
            class_name(error.kind())
        }
        _ => "TokenizerError",
    }
}
