//! `CoreTokenizer`, which `bytepair.Tokenizer` extends: one method for each of Python's.
//!
//! Here is the class, what it tells of itself, and decoding. Text to ids is in `encoding`, tokenizers that are made from
//! this one in `changing`.

mod changing;
mod encoding;

use std::sync::Arc;

use bytepair::format::huggingface::text_of_written;
use bytepair::format::published_name;
use bytepair::split::Segment;
use bytepair::{Token, TokenId, TokenKind, Tokenizer};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedStr;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::convert::{Given, Ids, decode_errors, id};
use crate::error::to_python;
use crate::stream::DecodeStream;
use crate::template::{WrittenPiece, padding_dict, truncation_dict, written_pieces};

/// A tokenizer of the core.
#[pyclass(frozen, subclass, module = "bytepair._core")]
pub(crate) struct CoreTokenizer(pub(crate) Arc<Tokenizer>);

#[pymethods]
impl CoreTokenizer {
    #[new]
    #[pyo3(signature = (source=None))]
    fn new(source: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        match source.map(Bound::cast::<Self>) {
            Some(Ok(source)) => Ok(Self(Arc::clone(&source.get().0))),
            _ => Err(PyTypeError::new_err(
                "a tokenizer is made by bytepair.train(files, vocab_size=...), by \
                 Tokenizer.from_file(path), or from another tokenizer",
            )),
        }
    }

    #[pyo3(signature = (ids, *, errors="replace", skip_special_tokens=false))]
    fn decode(
        &self,
        py: Python<'_>,
        ids: Ids,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<String> {
        let errors = decode_errors(errors)?;
        py.detach(|| self.0.decode(&ids.0, errors, skip_special_tokens))
            .map_err(|error| to_python(&error))
    }

    #[pyo3(signature = (batch, *, errors="replace", skip_special_tokens=false))]
    fn decode_batch(
        &self,
        py: Python<'_>,
        batch: &Bound<'_, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Vec<String>> {
        let errors = decode_errors(errors)?;
        let rows = batch.try_iter()?.enumerate().map(|(index, row)| {
            let ids = row?.extract::<Ids>();
            ids.map(|ids| ids.0).map_err(|error| in_list(py, index, &error))
        });
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let decoded = py.detach(|| {
            let texts = rows.iter().enumerate().map(|(index, ids)| {
                let text = self.0.decode(ids, errors, skip_special_tokens);
                text.map_err(|error| (index, error))
            });
            texts.collect::<Result<Vec<_>, _>>()
        });
        decoded.map_err(|(index, error)| in_list(py, index, &to_python(&error)))
    }

    /// A text after the normalizer, special tokens taken as plain text.
    fn _normalized(&self, text: Given<'_>) -> PyResult<String> {
        let normalizer = &self.0.parts().normalizer;
        let normalized = normalizer.normalize(Segment::whole(text.bytes));
        let normalized = normalized.map_err(|error| to_python(&error))?;
        Ok(String::from_utf8_lossy(&normalized).into_owned())
    }

    /// The text of tokens as Hugging Face files write them; they need not be in the vocabulary.
    fn _text_of_written(&self, tokens: Vec<PyBackedStr>) -> PyResult<String> {
        let tokens: Vec<&str> = tokens.iter().map(|token| &**token).collect();
        text_of_written(&self.0, &tokens).map_err(|error| to_python(&error))
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.decode_bytes(&ids.0)).map_err(|error| to_python(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (*, errors="replace", skip_special_tokens=false))]
    fn decode_stream(
        slf: &Bound<'_, Self>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<DecodeStream> {
        DecodeStream::new(slf, errors, skip_special_tokens)
    }

    #[getter]
    fn n_vocab(&self) -> usize {
        self.0.parts().vocabulary.len()
    }

    /// The id of a token given as `str` or `bytes`, or `None`.
    fn token_to_id(&self, token: Given<'_>) -> Option<TokenId> {
        self.0.id_of_written(token.bytes)
    }

    fn id_to_token<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let id = self::id(id)?;
        let token =
            self.0.parts().vocabulary.expect_token(id).map_err(|error| to_python(&error))?;
        Ok(self.shown(py, token))
    }

    #[getter]
    fn vocabulary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let vocabulary = &self.0.parts().vocabulary;
        let tokens = (0..)
            .take(vocabulary.len())
            .map(|id| vocabulary.token(id).map(|token| self.shown(py, token)));
        PyList::new(py, tokens.collect::<Vec<_>>())
    }

    #[getter]
    fn merges<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let vocabulary = &self.0.parts().vocabulary;
        let shown = |id| {
            vocabulary
                .expect_token(id)
                .map(|token| self.shown(py, token))
                .map_err(|error| to_python(&error))
        };
        vocabulary
            .merges()
            .iter()
            .map(|merge| Ok((shown(merge.left)?, shown(merge.right)?)))
            .collect()
    }

    #[getter]
    fn merge_log(&self) -> Vec<(TokenId, TokenId, TokenId, Option<i64>)> {
        let vocabulary = &self.0.parts().vocabulary;
        let counts =
            vocabulary.merge_counts().iter().copied().map(Some).chain(std::iter::repeat(None));
        let merges = vocabulary.merges().iter().zip(counts);
        merges.map(|(merge, count)| (merge.left, merge.right, merge.result, count)).collect()
    }

    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let names = PyDict::new(py);
        for token in self.0.parts().added.iter().filter(|token| token.special) {
            names.set_item(&token.content, token.id)?;
        }
        Ok(names)
    }

    fn get_vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = self.0.parts();
        let names = PyDict::new(py);
        for (id, token) in parts.vocabulary.iter() {
            names.set_item(published_name(&parts.units, token), id)?;
        }
        Ok(names)
    }

    fn token_to_id_hf(&self, token: &str) -> Option<TokenId> {
        let parts = self.0.parts();
        let mut named = parts
            .vocabulary
            .iter()
            .filter(|(_, held)| published_name(&parts.units, *held) == token);
        named.next().map(|(id, _)| id)
    }

    #[getter]
    fn fingerprint(&self) -> String {
        bytepair::format::native::fingerprint(&self.0)
    }

    fn explain(&self) -> Vec<String> {
        self.0.explain()
    }

    fn _describe(&self) -> Vec<(String, String)> {
        self.0.describe().into_iter().map(|(name, text)| (name.to_owned(), text)).collect()
    }

    #[getter]
    fn truncation<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0
            .parts()
            .truncation
            .as_ref()
            .map(|truncation| truncation_dict(py, truncation))
            .transpose()
    }

    #[getter]
    fn padding<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.0.parts().padding.as_ref().map(|padding| padding_dict(py, padding)).transpose()
    }

    #[getter]
    fn template(&self) -> (Vec<WrittenPiece>, Vec<WrittenPiece>) {
        let template = &self.0.parts().template;
        (written_pieces(&template.single), written_pieces(&template.pair))
    }
}

impl CoreTokenizer {
    /// A token as users see it: `bytes` where the units are bytes, else `str`.
    fn shown<'py>(&self, py: Python<'py>, token: Token<'_>) -> Bound<'py, PyAny> {
        let units = &self.0.parts().units;
        let written = units.written(token);
        match units.is_bytes() && token.kind != TokenKind::Unknown {
            true => PyBytes::new(py, &written).into_any(),
            false => PyString::new(py, &String::from_utf8_lossy(&written)).into_any(),
        }
    }
}

/// Says which list of a batch an error is about.
fn in_list(py: Python<'_>, index: usize, error: &PyErr) -> PyErr {
    let message = format!("list {index} of the batch: {}", error.value(py));
    PyErr::from_type(error.get_type(py), message)
}
