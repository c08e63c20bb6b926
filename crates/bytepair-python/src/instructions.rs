//! Which vector instructions the core uses: the best that the processor has, unless a test or a benchmark limits them.
//!
//! `BYTEPAIR_INSTRUCTIONS` names the best that may be used: `portable`, `ssse3`, `avx2`, `avx512` or `neon`. So another
//! processor can be imitated. With `definition`, texts are encoded by the naive twins of all fast paths: if an id is wrong
//! with the best instructions and right with these, a fast path is at fault. It is not part of the API.

use bytepair::split;
use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;

const VARIABLE: &str = "BYTEPAIR_INSTRUCTIONS";

/// Limits the instructions as the environment says.
pub(crate) fn limit() -> PyResult<()> {
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
