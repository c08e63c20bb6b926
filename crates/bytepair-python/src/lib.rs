//! The Python extension module `bytepair._core`: the border between Python and the core.
//!
//! A function here converts its arguments, releases the GIL, calls the core, and turns an error into an
//! exception of `bytepair.errors`. It decides nothing. What users see is documented in `_core.pyi`.

#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "signatures here are those of Python functions: keyword arguments, taken by value"
)]

mod convert;
mod dialect;
mod error;
mod formats;
mod tokenizer;
mod training;

use pyo3::prelude::*;

/// The compiled core of bytepair.
#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::dialect::{Dialect, dialect_names, pattern_names};
    #[pymodule_export]
    use crate::formats::{
        read_gpt2, read_huggingface, read_native, read_tiktoken, read_tiktoken_sidecar, write_gpt2,
        write_huggingface, write_native, write_tiktoken,
    };
    #[pymodule_export]
    use crate::tokenizer::{CoreTokenizer, DecodeStream};
    #[pymodule_export]
    use crate::training::Corpus;
}
