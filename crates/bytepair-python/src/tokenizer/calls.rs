//! Texts from Python to calls of the core that encode.
//!
//! Arguments become texts and [`EncodeOptions`], the GIL is released where that pays, and an error says which
//! text of a batch it is about. What becomes of the ids is left to `tokenizer` and `output`. Bytes of texts are not
//! copied.

use std::borrow::Cow;

use bytepair::{Batch, Dropout, EncodeOptions, Number, TokenId};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use super::CoreTokenizer;
use crate::convert::{
    Added, Given, Probability, Seed, SpecialNames, Text, each_of, is_in_characters, n_threads_for,
};
use crate::error::{raise, to_python};
use crate::output::Lists;
use crate::recycled::recycled_for;

/// Texts longer than this are encoded without the GIL, in bytes.
const GIL_LEN: usize = 2048;

/// Memory that was used before is taken where it has room for an id for so many bytes.
const BYTES_PER_ID: usize = 4;

pub(crate) fn options<'n>(
    allowed: &'n SpecialNames,
    disallowed: &'n SpecialNames,
    added_tokens: Added,
    add_special_tokens: bool,
) -> EncodeOptions<'n> {
    EncodeOptions {
        allowed_special: allowed.as_specials(),
        disallowed_special: disallowed.as_specials(),
        added_tokens: added_tokens.0,
        add_special_tokens,
        ..EncodeOptions::default()
    }
}

/// Options with those besides that only a full encoding has.
///
/// Dropout without a seed takes one from the system, which two processes of one fork do not share.
pub(crate) fn full_options<'n>(
    py: Python<'_>,
    options: EncodeOptions<'n>,
    fit_length: Option<bool>,
    dropout: Option<Probability>,
    seed: Option<Seed>,
) -> PyResult<EncodeOptions<'n>> {
    let dropout = match (dropout, seed) {
        (None, None) => None,
        (None, Some(_)) => {
            let message = "seed decides what dropout leaves out; give dropout too".to_owned();
            return Err(raise("TokenizerError", message));
        }
        (Some(Probability(probability)), Some(Seed(seed))) => Some(Dropout { probability, seed }),
        (Some(Probability(probability)), None) => {
            let drawn = py.import("os")?.call_method1("urandom", (size_of::<u64>(),))?;
            let seed = u64::from_le_bytes(drawn.extract()?);
            Some(Dropout { probability, seed })
        }
    };
    Ok(EncodeOptions { fit_length, dropout, ..options })
}

impl CoreTokenizer {
    /// Texts, or pairs of them, with all that is known of each id.
    pub(crate) fn full(
        &self,
        py: Python<'_>,
        texts: &[(Text, Option<Text>)],
        options: EncodeOptions<'_>,
        unit: &str,
        n_threads: usize,
    ) -> PyResult<Vec<bytepair::Encoding>> {
        let in_characters = is_in_characters(unit)?;
        let slices: Vec<_> = texts
            .iter()
            .map(|(text, pair)| (text.bytes(), pair.as_ref().map(Text::bytes)))
            .collect();
        let encode = || match slices.as_slice() {
            [(text, pair)] if n_threads == 1 => {
                self.0.encode_full(text, *pair, options).map(|encoding| vec![encoding])
            }
            slices => self.0.encode_full_batch(slices, options, n_threads),
        };
        let convert = |encodings: &mut Vec<bytepair::Encoding>| {
            for (encoding, (text, pair)) in encodings.iter_mut().zip(&slices) {
                encoding.to_characters(text, *pair);
            }
        };
        let encodings = py.detach(|| {
            let mut encodings = encode()?;
            if in_characters {
                convert(&mut encodings);
            }
            Ok(encodings)
        });
        encodings.map_err(|error| to_python(&error))
    }

    /// What `take` makes of the ids of a text. Those of a short one lie in memory that is used again.
    pub(crate) fn with_ids<R>(
        &self,
        py: Python<'_>,
        text: Given<'_>,
        options: EncodeOptions<'_>,
        n_threads: usize,
        take: impl FnOnce(Cow<'_, [TokenId]>) -> PyResult<R>,
    ) -> PyResult<R> {
        let text = text.bytes;
        if text.len() <= GIL_LEN {
            let taken = self.0.with_ids(text, options, |ids| take(Cow::Borrowed(ids)));
            return taken.map_err(|error| to_python(&error))?;
        }
        let ids = py.detach(|| {
            let row = recycled_for(text.len() / BYTES_PER_ID);
            self.0.encode_in(row, text, options, n_threads)
        });
        take(Cow::Owned(ids.map_err(|error| to_python(&error))?))
    }

    pub(crate) fn count_of(
        &self,
        py: Python<'_>,
        text: Given<'_>,
        options: EncodeOptions<'_>,
        n_threads: usize,
    ) -> PyResult<usize> {
        let text = text.bytes;
        let counted = match text.len() {
            ..=GIL_LEN => self.0.count(text, options, 1),
            _ => py.detach(|| self.0.count(text, options, n_threads)),
        };
        counted.map_err(|error| to_python(&error))
    }

    /// The ids of a batch as numbers of `N`.
    pub(crate) fn batch<N: Number>(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        options: EncodeOptions<'_>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Batch<N>> {
        batch_by(py, texts, threads, |texts, n_threads| {
            let mut batch = Batch::in_memory(recycled_for(n_expected(texts)));
            self.0.encode_to(&mut batch, texts, options, n_threads)?;
            Ok(batch)
        })
    }

    /// The ids of a batch as a list for each text. With several threads they are made while others encode.
    pub(crate) fn lists(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        options: EncodeOptions<'_>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Py<PyList>>> {
        let lists = batch_by(py, texts, threads, |texts, n_threads| {
            let mut lists = Lists::expecting(n_expected(texts));
            self.0.encode_to(&mut lists, texts, options, n_threads)?;
            Ok(lists)
        })?;
        lists.all(py)
    }
}

/// What `encode` makes of the texts of a batch on so many threads, without the GIL.
pub(crate) fn batch_by<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    threads: Option<&Bound<'_, PyAny>>,
    encode: impl FnOnce(&[&[u8]], usize) -> bytepair::Result<T> + Send,
) -> PyResult<T> {
    let texts: Vec<Text> = each_of(texts, |text| text.extract())?;
    let n_threads = n_threads_for(texts.iter().map(|text| text.bytes().len()), threads)?;
    let encoded = py.detach(|| encode(&slices(&texts), n_threads));
    encoded.map_err(|error| to_python(&error))
}

/// About how many ids texts have.
fn n_expected(texts: &[&[u8]]) -> usize {
    texts.iter().map(|text| text.len()).sum::<usize>() / BYTES_PER_ID
}

/// A text, or a tuple of two.
pub(crate) fn one_or_two(text: &Bound<'_, PyAny>) -> PyResult<(Text, Option<Text>)> {
    match text.cast::<PyTuple>() {
        Ok(texts) if texts.len() == 2 => {
            Ok((texts.get_item(0)?.extract()?, Some(texts.get_item(1)?.extract()?)))
        }
        Ok(texts) => {
            let message = format!("expected a text or two, not {}", texts.len());
            Err(PyTypeError::new_err(message))
        }
        Err(_) => Ok((text.extract()?, None)),
    }
}

pub(crate) fn slices(words: &[Text]) -> Vec<&[u8]> {
    words.iter().map(Text::bytes).collect()
}
