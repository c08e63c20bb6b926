//! Which instructions of the processor the core uses: all that it has, unless a test or a benchmark limits them.
//!
//! `BYTEPAIR_INSTRUCTIONS` names the most that may be used: `portable`, `ssse3`, `avx2`, `avx512`, `neon`. It says how a
//! slower processor would do, and is no option of the package.

use bytepair::split;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

const VARIABLE: &str = "BYTEPAIR_INSTRUCTIONS";

/// Limits the instructions as the environment says.
#[expect(clippy::disallowed_methods, reason = "it must be known before the first call")]
pub(crate) fn limit() -> PyResult<()> {
    let Ok(name) = std::env::var(VARIABLE) else { return Ok(()) };
    if name.is_empty() || split::limit_instructions(&name) {
        return Ok(());
    }
    let message = format!(
        "{VARIABLE} is {name:?}, which this processor does not have or nobody knows; it has {}",
        split::instructions()
    );
    Err(PyImportError::new_err(message))
}

/// The name of the best instructions that are used.
///
/// Tests and benchmarks tell it, and limit it by the variable `BYTEPAIR_INSTRUCTIONS`.
///
/// >>> from bytepair import _core
/// >>> _core.instructions() in {"portable", "ssse3", "avx2", "avx512", "neon"}
/// True
#[pyfunction]
pub(crate) fn instructions() -> &'static str {
    split::instructions()
}
