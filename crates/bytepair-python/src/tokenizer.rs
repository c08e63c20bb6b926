//! `CoreTokenizer`, which `bytepair.Tokenizer` extends: one method for each of Python's.
//!
//! What several methods of encoding share is in `calls`.

use std::path::PathBuf;
use std::sync::Arc;

use bytepair::format::published_name;
use bytepair::template::{Padding, Truncation};
use bytepair::{
    AddedToken, EncodeOptions, IdFormat, Template, Token, TokenId, TokenKind, Tokenizer,
};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::calls::{each_of, full_options, one_or_two, options, slices};
use crate::convert::{
    Ids, SpecialNames, Text, Threads, decode_errors, extract, id, is_in_characters, n_threads,
};
use crate::documents::{TokenCounter, encode_file};
use crate::encoding::Encoding;
use crate::error::to_python;
use crate::output::{Width, array, list};
use crate::stream::DecodeStream;
use crate::template::{
    WrittenPiece, padding_dict, read_pieces, side, truncation_dict, truncation_strategy,
    written_pieces,
};

/// A tokenizer of the core.
#[pyclass(frozen, subclass, module = "bytepair._core")]
pub(crate) struct CoreTokenizer(pub(crate) Arc<Tokenizer>);

/// The ids of a batch and where each text begins.
type BatchArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl CoreTokenizer {
    #[new]
    fn new(source: &Bound<'_, Self>) -> Self {
        Self(Arc::clone(&source.get().0))
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=Threads(1)))]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        list(py, &self.ids(py, &text, options, threads.0)?)
    }

    #[pyo3(signature = (text, *, unit="characters", allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false))]
    fn encode_with_offsets<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        unit: &str,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let encoding = self.full(py, &[(text, None)], options, unit, 1)?.pop().unwrap_or_default();
        Ok((list(py, &encoding.ids)?, PyList::new(py, encoding.offsets)?))
    }

    #[pyo3(signature = (text, pair=None, *, unit="characters", allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, fit_length=None, dropout=None, seed=0))]
    fn encode_full(
        &self,
        py: Python<'_>,
        text: Text,
        pair: Option<Text>,
        unit: &str,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        fit_length: Option<bool>,
        dropout: Option<f64>,
        seed: u64,
    ) -> PyResult<Encoding> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let options = full_options(options, fit_length, dropout, seed);
        let encodings = self.full(py, &[(text, pair)], options, unit, 1)?;
        Ok(self.shared(encodings.into_iter().next().unwrap_or_default()))
    }

    #[pyo3(signature = (texts, *, unit="characters", allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, fit_length=None, dropout=None, seed=0, threads=None))]
    fn encode_full_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        unit: &str,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        fit_length: Option<bool>,
        dropout: Option<f64>,
        seed: u64,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Encoding>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let options = full_options(options, fit_length, dropout, seed);
        let texts = each_of(texts, one_or_two)?;
        let encodings = self.full(py, &texts, options, unit, n_threads(threads)?)?;
        Ok(encodings.into_iter().map(|encoding| self.shared(encoding)).collect())
    }

    #[pyo3(signature = (texts, *, unit="characters", allowed_special=SpecialNames::None, add_special_tokens=false, fit_length=None, threads=None))]
    fn _encode_words_batch(
        &self,
        py: Python<'_>,
        texts: Vec<(Vec<Text>, Option<Vec<Text>>)>,
        unit: &str,
        allowed_special: SpecialNames,
        add_special_tokens: bool,
        fit_length: Option<bool>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Encoding>> {
        let disallowed = SpecialNames::None;
        let options = options(&allowed_special, &disallowed, add_special_tokens);
        let options = EncodeOptions { fit_length, ..options };
        let in_characters = is_in_characters(unit)?;
        let n_threads = n_threads(threads)?;
        let slices: Vec<_> = texts
            .iter()
            .map(|(words, pair)| (slices(words), pair.as_deref().map(slices)))
            .collect();
        let samples: Vec<_> =
            slices.iter().map(|(words, pair)| (words.as_slice(), pair.as_deref())).collect();
        let encodings =
            py.detach(|| self.0.encode_words_batch(&samples, in_characters, options, n_threads));
        let encodings = encodings.map_err(|error| to_python(&error))?;
        Ok(encodings.into_iter().map(|encoding| self.shared(encoding)).collect())
    }

    fn encode_ordinary<'py>(&self, py: Python<'py>, text: Text) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.ids(py, &text, EncodeOptions::default(), 1)?)
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=Threads(1), dtype="uint32"))]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Threads,
        dtype: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let width = Width::of(dtype, self.n_vocab())?;
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        array(py, self.ids(py, &text, options, threads.0)?, width)
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

        let texts = batch.offsets.windows(2).map(|ends| &batch.ids[ends[0]..ends[1]]);
        texts.map(|ids| list(py, ids)).collect()
    }

    #[pyo3(signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=None, dtype="uint32"))]
    fn encode_batch_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Option<&Bound<'py, PyAny>>,
        dtype: &str,
    ) -> PyResult<BatchArrays<'py>> {
        let width = Width::of(dtype, self.n_vocab())?;
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let batch = self.batch(py, texts, options, threads)?;
        let offsets: Vec<i64> =
            batch.offsets.iter().map(|&offset| i64::try_from(offset).unwrap_or(i64::MAX)).collect();
        Ok((array(py, batch.ids, width)?, offsets.into_pyarray(py)))
    }

    #[pyo3(signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=Threads(1)))]
    fn count(
        &self,
        py: Python<'_>,
        text: Text,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Threads,
    ) -> PyResult<usize> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        py.detach(|| self.0.count(text.bytes(), options, threads.0))
            .map_err(|error| to_python(&error))
    }

    #[pyo3(signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, add_special_tokens=false, threads=None))]
    fn count_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        add_special_tokens: bool,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<usize>> {
        let options = options(&allowed_special, &disallowed_special, add_special_tokens);
        let texts = each_of(texts, |text| text.extract::<Text>())?;
        let n_threads = n_threads(threads)?;
        py.detach(|| self.0.count_batch(&slices(&texts), options, n_threads))
            .map_err(|error| to_python(&error))
    }

    #[pyo3(signature = (text, max_tokens, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None))]
    fn truncate<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        max_tokens: &Bound<'_, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(&allowed_special, &disallowed_special, false);
        let max_tokens: usize = extract("max_tokens", max_tokens)?;
        let kept = py
            .detach(|| self.0.truncate(text.bytes(), max_tokens, options))
            .map_err(|error| to_python(&error))?;
        Ok(match text.is_str() {
            true => PyString::from_bytes(py, kept)?.into_any(),
            false => PyBytes::new(py, kept).into_any(),
        })
    }

    #[pyo3(signature = (*, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None))]
    fn counter(
        &self,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
    ) -> PyResult<TokenCounter> {
        TokenCounter::new(&self.0, options(&allowed_special, &disallowed_special, false))
    }

    /// `names` are those of the input, of the file to write to, and of the output in messages.
    #[pyo3(signature = (names, *, is_wide, has_header, allowed_special, disallowed_special, threads, progress=None, stretch_len=None))]
    fn _encode_file(
        &self,
        py: Python<'_>,
        names: (PathBuf, PathBuf, String),
        is_wide: bool,
        has_header: bool,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        threads: Option<&Bound<'_, PyAny>>,
        progress: Option<Py<PyAny>>,
        stretch_len: Option<usize>,
    ) -> PyResult<(u64, u64)> {
        let format = IdFormat { is_wide, has_header };
        let options = options(&allowed_special, &disallowed_special, false);
        let threads = (n_threads(threads)?, stretch_len);
        let progress = progress.unwrap_or_else(|| py.None());
        encode_file(py, &self.0, names, format, options, threads, progress)
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
        Ok(DecodeStream::new(&self.0, decode_errors(errors)?, skip_special_tokens))
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

    #[pyo3(signature = (max_length, *, stride=0, strategy="longest_first", side="right"))]
    fn _with_truncation(
        &self,
        max_length: Option<&Bound<'_, PyAny>>,
        stride: usize,
        strategy: &str,
        side: &str,
    ) -> PyResult<Self> {
        let parts = self.0.parts();
        let truncation = match max_length {
            None => None,
            Some(length) => Some(Truncation {
                max_length: extract("max_length", length)?,
                stride,
                strategy: truncation_strategy(strategy)?,
                side: self::side(side)?,
            }),
        };
        self.with_lengths(parts.template.clone(), truncation, parts.padding.clone())
    }

    #[pyo3(signature = (id, *, length=None, multiple_of=None, side="right", type_id=0))]
    fn _with_padding(
        &self,
        id: Option<&Bound<'_, PyAny>>,
        length: Option<usize>,
        multiple_of: Option<usize>,
        side: &str,
        type_id: u32,
    ) -> PyResult<Self> {
        let parts = self.0.parts();
        let padding = match id {
            None => None,
            Some(id) => {
                let id = self::id(id)?;
                let token = parts.vocabulary.expect_token(id).map_err(|error| to_python(&error))?;
                let token = published_name(&parts.units, token);
                Some(Padding { length, multiple_of, side: self::side(side)?, id, type_id, token })
            }
        };
        self.with_lengths(parts.template.clone(), parts.truncation.clone(), padding)
    }

    fn _with_template(&self, single: Vec<WrittenPiece>, pair: Vec<WrittenPiece>) -> PyResult<Self> {
        let parts = self.0.parts();
        let template = Template { single: read_pieces(single), pair: read_pieces(pair) };
        self.with_lengths(template, parts.truncation.clone(), parts.padding.clone())
    }

    fn _truncated(&self, vocab_size: Option<usize>, merges: Option<usize>) -> PyResult<Self> {
        let target = crate::training::target(vocab_size, merges)?;
        let changed = self.0.truncated(target).map_err(|error| to_python(&error))?;
        Ok(Self(Arc::new(changed)))
    }

    fn _with_special_tokens(&self, tokens: Vec<Bound<'_, PyAny>>) -> PyResult<Self> {
        let tokens = tokens.iter().map(|token| extract("special token", token));
        let tokens = tokens.collect::<PyResult<Vec<(String, Option<TokenId>)>>>()?;
        let changed = self.0.with_special_tokens(&tokens).map_err(|error| to_python(&error))?;
        Ok(Self(Arc::new(changed)))
    }

    /// Each token with whether it is special, normalized, strips left and right, and is a word.
    fn _with_added_tokens(&self, tokens: Vec<(String, [bool; 5])>) -> PyResult<(Self, usize)> {
        let token = |(content, properties): (String, [bool; 5])| {
            let [special, normalized, lstrip, rstrip, single_word] = properties;
            AddedToken {
                content,
                special,
                normalized,
                lstrip,
                rstrip,
                single_word,
                ..AddedToken::default()
            }
        };
        let tokens: Vec<_> = tokens.into_iter().map(token).collect();
        let changed = self.0.with_added_tokens(&tokens);
        let (changed, n_changed) = changed.map_err(|error| to_python(&error))?;
        Ok((Self(Arc::new(changed)), n_changed))
    }

    #[getter]
    fn _added_tokens(&self) -> Vec<(TokenId, String, [bool; 5])> {
        let properties = |token: &AddedToken| {
            let AddedToken { special, normalized, lstrip, rstrip, single_word, .. } = *token;
            [special, normalized, lstrip, rstrip, single_word]
        };
        let tokens = self.0.parts().added.iter();
        tokens.map(|token| (token.id, token.content.clone(), properties(token))).collect()
    }
}

impl CoreTokenizer {
    fn with_lengths(
        &self,
        template: Template,
        truncation: Option<Truncation>,
        padding: Option<Padding>,
    ) -> PyResult<Self> {
        let changed = self.0.with_lengths(template, truncation, padding);
        changed.map(|changed| Self(Arc::new(changed))).map_err(|error| to_python(&error))
    }

    fn shared(&self, encoding: bytepair::Encoding) -> Encoding {
        Encoding { tokenizer: Arc::clone(&self.0), encoding: Arc::new(encoding) }
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

/// Bytes as text; what is not UTF-8 as escapes.
fn readable<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "backslashreplace")),
    }
}
