//! Calls of the core that encode texts from Python.
//!
//! Arguments become texts, whose bytes are not copied, and [`EncodeOptions`]. The GIL is released if this pays off, and an
//! error names the text of a batch. Rows of a column are encoded to arrays, with a mark before or after each. `tokenizer`
//! and `output` convert all other ids.

use std::borrow::Cow;

use bytepair::documents::{Layout, Marks};
use bytepair::vocabulary::TokenId;
use bytepair::{AddedTokens, Dropout, EncodeOptions, Number, fits_one_thread};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

use super::CoreTokenizer;
use crate::convert::{
    Added, BorrowedText, SpecialNames, Text, each_of, n_threads, number, value_of,
};
use crate::error::{OrRaise, raise};
use crate::output::{Lists, Width};
use crate::output::{into_array, recycled, recycled_for};
use crate::rows::Column;
use crate::template::Lengths;

/// Texts of more bytes than this are encoded without the GIL.
pub(crate) const GIL_LEN: usize = 2048;

/// The options of all methods.
const SPECIAL: [&str; 3] = ["allowed_special", "disallowed_special", "added_tokens"];

/// The values of `unit`, and whether spans are in bytes.
const UNITS: [(&str, bool); 2] = [("characters", false), ("bytes", true)];

const WIDTHS: [(&str, Width); 2] = [("uint16", Width::Bits16), ("uint32", Width::Bits32)];

/// The approximate number of bytes of text per id, for reserving memory.
const BYTES_PER_ID: usize = 4;

/// The arguments that make an object again from its pickle.
pub(crate) type Arguments<'py> = ((Py<CoreTokenizer>,), Bound<'py, PyDict>);

/// The keywords of a call.
pub(crate) type Keywords<'a, 'py> = &'a Bound<'py, PyDict>;

/// The options of a call that encodes.
#[derive(Default)]
pub(crate) struct Options<'a> {
    allowed_special: SpecialNames,
    disallowed_special: SpecialNames,
    added_tokens: AddedTokens,
    add_special_tokens: bool,
    in_bytes: bool,
    fit_length: Option<bool>,
    dropout: Option<f64>,
    seed: Option<u64>,
    /// The value of the keyword; Python's `None` stands for all processors.
    threads: Option<Bound<'a, PyAny>>,
    pub(crate) width: Width,
    lengths: Option<&'a Lengths>,
}

impl<'a> Options<'a> {
    /// Reads the keywords of a method that takes `names` besides those of special and added tokens.
    pub(crate) fn of(
        method: &str,
        keywords: Option<Keywords<'_, 'a>>,
        names: &[&str],
    ) -> PyResult<Self> {
        let mut options = Self::default();
        let Some(keywords) = keywords else { return Ok(options) };
        for (name, value) in keywords {
            let name = name.cast::<PyString>()?.to_str()?;
            if !SPECIAL.contains(&name) && !names.contains(&name) {
                return Err(unknown(method, keywords, names));
            }
            options.set(name, value).map_err(|error| of_argument(keywords.py(), name, error))?;
        }
        options.draw_seed(keywords.py())?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: Bound<'a, PyAny>) -> PyResult<()> {
        match name {
            "allowed_special" => self.allowed_special = value.extract()?,
            "disallowed_special" => self.disallowed_special = value.extract()?,
            "added_tokens" => self.added_tokens = value.extract::<Added>()?.0,
            "add_special_tokens" => self.add_special_tokens = value.extract()?,
            "unit" => self.in_bytes = value_of(name, value.extract()?, &UNITS)?,
            "fit_length" => self.fit_length = value.extract()?,
            "dropout" if !value.is_none() => self.dropout = Some(probability(name, &value)?),
            "seed" if !value.is_none() => self.seed = Some(number("seed", &value)?),
            "threads" => self.threads = Some(value),
            "dtype" => self.width = value_of(name, value.extract()?, &WIDTHS)?,
            _ => {}
        }
        Ok(())
    }

    /// Draws the seed of dropout, if there is none.
    fn draw_seed(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.dropout.is_none() && self.seed.is_some() {
            let message = "seed has no effect without dropout; pass dropout too".to_owned();
            return Err(raise("TokenizerError", message));
        }
        if self.dropout.is_some() && self.seed.is_none() {
            self.seed = Some(drawn_seed(py)?);
        }
        Ok(())
    }

    /// These options, with the truncation and padding of the call instead of the tokenizer's.
    pub(crate) fn within(self, lengths: &'a Lengths) -> Self {
        Self { lengths: Some(lengths), fit_length: Some(true), ..self }
    }

    /// The options as the core takes them.
    pub(crate) fn core(&self) -> EncodeOptions<'_> {
        let dropout = self.dropout.zip(self.seed);
        EncodeOptions {
            allowed_special: self.allowed_special.as_specials(),
            disallowed_special: self.disallowed_special.as_specials(),
            added_tokens: self.added_tokens,
            add_special_tokens: self.add_special_tokens,
            fit_length: self.fit_length,
            lengths: self.lengths.map(Lengths::core),
            dropout: dropout.map(|(probability, seed)| Dropout { probability, seed }),
        }
    }

    /// The number of threads for one text: one by default.
    pub(crate) fn n_threads(&self) -> PyResult<usize> {
        self.threads.as_ref().map_or(Ok(1), |wanted| n_threads(Some(wanted)))
    }

    /// The number of threads for texts of these lengths, in bytes.
    pub(crate) fn n_threads_for(&self, lens: impl Iterator<Item = usize>) -> PyResult<usize> {
        let wanted = self.threads.as_ref().filter(|wanted| !wanted.is_none());
        // Asking for the number of processors takes longer than encoding a short text.
        if wanted.is_none() && fits_one_thread(lens) { Ok(1) } else { n_threads(wanted) }
    }
}

/// A seed from the operating system. So forked processes draw different ones.
pub(crate) fn drawn_seed(py: Python<'_>) -> PyResult<u64> {
    let drawn = py.import("os")?.call_method1("urandom", (size_of::<u64>(),))?;
    Ok(u64::from_le_bytes(drawn.extract()?))
}

/// The probability of an option. A boolean is an error; the core checks the range.
pub(crate) fn probability(option: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if value.is_instance_of::<PyBool>() {
        let message = format!("{option} must be a number, not {}", value.repr()?);
        return Err(PyTypeError::new_err(message));
    }
    value.extract()
}

/// Refuses a keyword that a method does not have.
fn unknown(method: &str, keywords: &Bound<'_, PyDict>, names: &[&str]) -> PyErr {
    let known = [&SPECIAL[..], names].concat();
    let refused = keywords
        .py()
        .import("bytepair._expected")
        .and_then(|module| module.call_method1("refuse_unknown", (method, keywords, known)));
    refused.err().unwrap_or_else(|| PyTypeError::new_err("unexpected keyword"))
}

/// A type error with the name of the argument, as `PyO3` writes it; any other error as it is.
fn of_argument(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    if !error.get_type(py).is(py.get_type::<PyTypeError>()) {
        return error;
    }
    PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)))
}

impl CoreTokenizer {
    /// Encodes texts, or pairs of them, with everything that is known about each id.
    pub(crate) fn full(
        &self,
        py: Python<'_>,
        texts: &[(&[u8], Option<&[u8]>)],
        options: &Options<'_>,
        n_threads: usize,
    ) -> PyResult<Vec<bytepair::Encoding>> {
        let (core, in_characters) = (options.core(), !options.in_bytes);
        let encode = || match texts {
            &[(text, pair)] if n_threads == 1 => {
                self.0.encode_full(text, pair, core).map(|encoding| vec![encoding])
            }
            _ => self.0.encode_full_batch(texts, core, n_threads),
        };
        let encodings = py.detach(|| {
            let mut encodings = encode()?;
            let in_characters = encodings.iter_mut().zip(texts).filter(|_| in_characters);
            in_characters.for_each(|(encoding, (text, pair))| encoding.to_characters(text, *pair));
            Ok(encodings)
        });
        encodings.or_raise()
    }

    /// Encodes a text, and calls `take` with its ids. The ids of a short text are in memory that is reused.
    pub(crate) fn with_ids<R>(
        &self,
        py: Python<'_>,
        text: BorrowedText<'_>,
        options: EncodeOptions<'_>,
        n_threads: usize,
        take: impl FnOnce(Cow<'_, [TokenId]>) -> PyResult<R>,
    ) -> PyResult<R> {
        let text = text.bytes;
        if text.len() <= GIL_LEN {
            let taken = self.0.with_ids(text, options, |ids| take(Cow::Borrowed(ids)));
            return taken.or_raise()?;
        }
        let ids = py.detach(|| {
            let row = recycled_for(text.len() / BYTES_PER_ID);
            self.0.encode_in(row, text, options, n_threads)
        });
        take(Cow::Owned(ids.or_raise()?))
    }

    /// Encodes a batch to a list for each text. With several threads, lists are made while other threads encode.
    pub(crate) fn lists(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        options: &Options<'_>,
    ) -> PyResult<Vec<Py<PyList>>> {
        let core = options.core();
        let lists = batch_by(py, texts, options, |texts, n_threads| {
            let mut lists = Lists::expecting(n_expected(texts));
            self.0.encode_to(&mut lists, texts, core, n_threads)?;
            Ok(lists)
        })?;
        lists.all(py)
    }
}

/// Calls `encode` with the texts of a batch and a number of threads, without the GIL.
pub(crate) fn batch_by<T: Send>(
    py: Python<'_>,
    texts: &Bound<'_, PyAny>,
    options: &Options<'_>,
    encode: impl FnOnce(&[&[u8]], usize) -> bytepair::Result<T> + Send,
) -> PyResult<T> {
    let texts: Vec<Text> = each_of(texts, |text| text.extract())?;
    let n_threads = options.n_threads_for(texts.iter().map(|text| text.bytes().len()))?;
    let encoded = py.detach(|| encode(&slices(&texts), n_threads));
    encoded.or_raise()
}

/// The approximate number of ids of texts.
pub(crate) fn n_expected(texts: &[&[u8]]) -> usize {
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

/// Ids of 2 or 4 bytes, and where the ids of each row end.
type IdArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

/// Encode the rows of a column of texts, with special tokens as plain text.
///
/// With ``added_tokens="text"``, all added tokens are plain text. ``before`` and ``behind`` are ids
/// that mark the beginning and the end of each row that has ids. Return the ids of all rows, and
/// where the ids of each row end.
#[pyfunction]
#[pyo3(signature = (tokenizer, column, *, before=None, behind=None, width=4, added_tokens=Added::FIND, threads=None), text_signature = "(tokenizer, column, *, before=None, behind=None, width=4, added_tokens='find', threads=None)")]
pub(crate) fn encode_rows<'py>(
    py: Python<'py>,
    tokenizer: PyRef<'py, CoreTokenizer>,
    column: Column<'py>,
    before: Option<TokenId>,
    behind: Option<TokenId>,
    width: usize,
    added_tokens: Added,
    threads: Option<&Bound<'py, PyAny>>,
) -> PyResult<IdArrays<'py>> {
    let marks = Marks { before, behind };
    let options = EncodeOptions { added_tokens: added_tokens.0, ..EncodeOptions::default() };
    let (rows, n_threads) = (column.rows()?, n_threads(threads)?);
    let core = &tokenizer.0;
    match width {
        2 => laid_out::<u16>(py, marks, |layout| core.encode_to(layout, &rows, options, n_threads)),
        _ => laid_out::<u32>(py, marks, |layout| core.encode_to(layout, &rows, options, n_threads)),
    }
}

/// The arrays that `encode` lays out without the GIL.
fn laid_out<N: Number + Element>(
    py: Python<'_>,
    marks: Marks,
    encode: impl FnOnce(&mut Layout<N>) -> bytepair::Result<()> + Send,
) -> PyResult<IdArrays<'_>> {
    let tokens = py.detach(|| {
        let mut layout = Layout::new(marks, recycled())?;
        encode(&mut layout)?;
        Ok(layout.finish())
    });
    let tokens = tokens.or_raise()?;
    Ok((into_array(py, tokens.ids)?.into_any(), tokens.ends.into_pyarray(py)))
}
