//! `DecodeStream`: ids in, text out as soon as it is complete.
//!
//! Calls on one stream from several threads come one after the other.

use std::sync::{Arc, Mutex, PoisonError};

use bytepair::{DecodeErrors, TokenId, Tokenizer};
use pyo3::prelude::*;

use crate::convert::{Ids, id};
use crate::error::to_python;

/// Ids in, text out, never half a character.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct DecodeStream {
    tokenizer: Arc<Tokenizer>,
    stream: Mutex<bytepair::DecodeStream>,
}

impl DecodeStream {
    pub(crate) fn new(
        tokenizer: &Arc<Tokenizer>,
        errors: DecodeErrors,
        skip_special_tokens: bool,
    ) -> Self {
        let stream = bytepair::DecodeStream::new(errors, skip_special_tokens);
        Self { tokenizer: Arc::clone(tokenizer), stream: Mutex::new(stream) }
    }
}

#[pymethods]
impl DecodeStream {
    fn push(&self, ids: &Bound<'_, PyAny>) -> PyResult<String> {
        let ids = match ids.extract::<TokenId>() {
            Ok(id) => vec![id],
            Err(_) if ids.try_iter().is_ok() => ids.extract::<Ids>()?.0,
            Err(_) => vec![id(ids)?],
        };
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        let texts = ids.iter().map(|&id| stream.push(&self.tokenizer, id));
        texts.collect::<bytepair::Result<String>>().map_err(|error| to_python(&error))
    }

    fn finish(&self) -> PyResult<String> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.finish().map_err(|error| to_python(&error))
    }
}
