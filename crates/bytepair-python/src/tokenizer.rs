//! `CoreTokenizer`, which `bytepair.Tokenizer` extends, and its decode stream.

use std::sync::{Arc, Mutex, PoisonError};

use bytepair::format::published_name;
use bytepair::{EncodeOptions, Token, TokenId, TokenKind, Tokenizer};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::convert::{Ids, SpecialNames, Text, decode_errors, extract, id, n_threads};
use crate::error::{raise, to_python};

/// Texts longer than this are encoded without the GIL, in bytes.
const GIL_LEN: usize = 2048;

/// A tokenizer of the core.
#[pyclass(frozen, subclass, module = "bytepair._core")]
pub(crate) struct CoreTokenizer(pub(crate) Arc<Tokenizer>);

/// The ids of a batch and where each text begins.
type BatchArrays<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl CoreTokenizer {
    #[new]
    fn new(source: &Bound<'_, Self>) -> Self {
        Self(Arc::clone(&source.get().0))
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        PyList::new(
            py,
            self.ids(
                py,
                &text,
                options(&allowed_special, &disallowed_special, add_special_tokens),
            )?,
        )
    }

    fn encode_ordinary<'py>(&self, py: Python<'py>, text: Text) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.ids(py, &text, EncodeOptions::default())?)
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false))]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        Ok(self.ids(py, &text, options)?.into_pyarray(py))
    }

    #[pyo3(signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=None))]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Bound<'py, PyList>>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let batch = self.batch(py, texts, options, threads)?;
        batch.offsets.windows(2).map(|ends| PyList::new(py, &batch.ids[ends[0]..ends[1]])).collect()
    }

    #[pyo3(signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=None))]
    fn encode_batch_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<BatchArrays<'py>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let batch = self.batch(py, texts, options, threads)?;
        let offsets: Vec<i64> =
            batch.offsets.iter().map(|&offset| i64::try_from(offset).unwrap_or(i64::MAX)).collect();
        Ok((batch.ids.into_pyarray(py), offsets.into_pyarray(py)))
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false))]
    fn count(
        &self,
        py: Python<'_>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
    ) -> PyResult<usize> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        py.detach(|| self.0.count(text.bytes(), options)).map_err(|error| to_python(&error))
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false))]
    fn tokenize<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let tokens = py
            .detach(|| self.0.tokenize(text.bytes(), options))
            .map_err(|error| to_python(&error))?;
        tokens.iter().map(|token| readable(py, token)).collect()
    }

    fn split<'py>(&self, py: Python<'py>, text: Text) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let pieces = py.detach(|| self.0.split(text.bytes())).map_err(|error| to_python(&error))?;
        let convert = |piece: &Vec<u8>| match text.is_str() {
            true => Ok(PyString::new(py, &String::from_utf8_lossy(piece)).into_any()),
            false => Ok(PyBytes::new(py, piece).into_any()),
        };
        pieces.iter().map(convert).collect()
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

    fn decode_bytes<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.decode_bytes(&ids.0)).map_err(|error| to_python(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    #[pyo3(signature = (*, errors="replace", skip_special_tokens=false))]
    fn decode_stream(&self, errors: &str, skip_special_tokens: bool) -> PyResult<DecodeStream> {
        let stream = bytepair::DecodeStream::new(decode_errors(errors)?, skip_special_tokens);
        Ok(DecodeStream { tokenizer: Arc::clone(&self.0), stream: Mutex::new(stream) })
    }

    #[getter]
    fn n_vocab(&self) -> usize {
        self.0.parts().vocabulary.len()
    }

    /// The id of a token given as `str` or `bytes`, or `None`.
    fn token_to_id(&self, token: Text) -> Option<TokenId> {
        self.0.id_of_written(token.bytes())
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

    fn _with_special_tokens(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let tokens = tokens.iter().map(|token| extract("special token", token));
        let tokens = tokens.collect::<PyResult<Vec<(String, Option<TokenId>)>>>()?;
        let changed = self.0.with_special_tokens(&tokens).map_err(|error| to_python(&error))?;
        Ok(Self(Arc::new(changed)))
    }
}

impl CoreTokenizer {
    fn ids(
        &self,
        py: Python<'_>,
        text: &Text,
        options: EncodeOptions<'_>,
    ) -> PyResult<Vec<TokenId>> {
        let bytes = text.bytes();
        let ids = match bytes.len() <= GIL_LEN {
            true => self.0.encode(bytes, options),
            false => py.detach(|| self.0.encode(bytes, options)),
        };
        ids.map_err(|error| to_python(&error))
    }

    fn batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        options: EncodeOptions<'_>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bytepair::Batch> {
        if texts.cast::<PyString>().is_ok() || texts.cast::<PyBytes>().is_ok() {
            return Err(pyo3::exceptions::PyTypeError::new_err(
                "expected a collection of texts, not one text",
            ));
        }
        let texts = texts
            .try_iter()?
            .enumerate()
            .map(|(index, text)| in_batch(py, index, text?.extract::<Text>()));
        let texts = texts.collect::<PyResult<Vec<_>>>()?;
        let n_threads = n_threads(threads)?;
        let batch = py.detach(|| {
            let slices: Vec<_> = texts.iter().map(Text::bytes).collect();
            self.0.encode_batch(&slices, options, n_threads)
        });
        batch.map_err(|error| to_python(&error))
    }

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

/// Says which text of a batch could not be converted.
fn in_batch(py: Python<'_>, index: usize, text: PyResult<Text>) -> PyResult<Text> {
    text.map_err(|error| {
        let message = format!("text {index} of the batch: {}", error.value(py));
        match error.is_instance_of::<pyo3::exceptions::PyTypeError>(py) {
            true => pyo3::exceptions::PyTypeError::new_err(message),
            false => raise("EncodingError", message),
        }
    })
}

fn options<'n>(
    allowed: &'n SpecialNames,
    disallowed: &'n SpecialNames,
    add_special_tokens: bool,
) -> EncodeOptions<'n> {
    EncodeOptions {
        allowed_special: allowed.as_specials(),
        disallowed_special: disallowed.as_specials(),
        add_special_tokens,
    }
}

/// Bytes as text; what is not UTF-8 as escapes.
fn readable<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "backslashreplace")),
    }
}

/// Ids in, text out, never half a character.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct DecodeStream {
    tokenizer: Arc<Tokenizer>,
    stream: Mutex<bytepair::DecodeStream>,
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
