//! Errors of the core as exceptions of `bytepair.errors`.

use bytepair::{Error, ErrorKind};
use pyo3::exceptions::PyMemoryError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The exception for an error of the core. Where memory ends it is Python's own.
pub(crate) fn to_python(error: &Error) -> PyErr {
    if is_out_of_memory(error.kind()) {
        return PyMemoryError::new_err(error.to_string());
    }
    raise(class_name(error.kind()), error.to_string())
}

/// What the core gives, or the exception for its error.
pub(crate) trait OrRaise<T> {
    fn or_raise(self) -> PyResult<T>;
}

impl<T> OrRaise<T> for bytepair::Result<T> {
    fn or_raise(self) -> PyResult<T> {
        self.map_err(|error| to_python(&error))
    }
}

/// The exception for an error of the core, with the name of the file that was being read.
pub(crate) fn in_file(path: &str, error: &Error) -> PyErr {
    match error.kind() {
        kind if is_out_of_memory(kind) => PyMemoryError::new_err(format!("{path}: {error}")),
        ErrorKind::Read(reason) => raised_while_reading(reason)
            .unwrap_or_else(|| raise("FileError", format!("{path}: {reason}"))),
        ErrorKind::Interrupted => to_python(error),
        kind => raise(class_name(kind), format!("{path}: {error}")),
    }
}

/// Whether memory ended, for us or for the library that reads.
fn is_out_of_memory(kind: &ErrorKind) -> bool {
    match kind {
        ErrorKind::OutOfMemory { .. } => true,
        ErrorKind::Read(reason) => reason.kind() == std::io::ErrorKind::OutOfMemory,
        ErrorKind::InBatch { error, .. } => is_out_of_memory(error.kind()),
        _ => false,
    }
}

/// Refuses work that takes about so many bytes where there is no memory for them.
pub(crate) fn ask(n_bytes: usize) -> PyResult<()> {
    bytepair::memory::ask(n_bytes).or_raise()
}

/// What Python raised while a reader waited: `KeyboardInterrupt`.
fn raised_while_reading(reason: &std::io::Error) -> Option<PyErr> {
    let raised = reason.get_ref()?.downcast_ref::<PyErr>()?;
    Some(Python::attach(|py| raised.clone_ref(py)))
}

/// An exception of one of the classes of `bytepair.errors`.
pub(crate) fn raise(class_name: &str, message: String) -> PyErr {
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
        | ErrorKind::CorpusTooLarge { .. }
        | ErrorKind::FirstUnknown => "TrainingError",
        ErrorKind::Format { .. } | ErrorKind::Inexpressible { .. } => "FormatError",
        ErrorKind::Read(_) => "FileError",
        ErrorKind::InBatch { error, .. } => class_name(error.kind()),
        _ => "TokenizerError",
    }
}
