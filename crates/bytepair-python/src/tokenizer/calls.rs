//! Texts from Python to calls of the core that encode.
//!
//! Arguments become texts and [`EncodeOptions`], the GIL is released where that pays, and an error says which
//! text of a batch it is about. Rows of a column are encoded to arrays, with a mark before or after each. What becomes of
//! other ids is left to `tokenizer` and `output`. Bytes of texts are not copied.

use std::borrow::Cow;

use bytepair::documents::{Layout, Marks};
use bytepair::vocabulary::TokenId;
use bytepair::{AddedTokens, Dropout, EncodeOptions, Number, fits_one_thread};
use numpy::{Element, IntoPyArray, PyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyString, PyTuple};

use super::CoreTokenizer;
use crate::convert::{Added, Given, SpecialNames, Text, each_of, meant, n_threads, number};
use crate::error::{OrRaise, raise};
use crate::output::{Lists, Width};
use crate::output::{into_array, recycled, recycled_for};
use crate::rows::Column;
use crate::template::Lengths;

/// Texts longer than this are encoded without the GIL, in bytes.
pub(crate) const GIL_LEN: usize = 2048;

/// The options of all methods.
const SPECIAL: [&str; 3] = ["allowed_special", "disallowed_special", "added_tokens"];

/// Whether spans are counted in bytes.
const UNITS: [(&str, bool); 2] = [("characters", false), ("bytes", true)];

const WIDTHS: [(&str, Width); 2] = [("uint16", Width::Bits16), ("uint32", Width::Bits32)];

/// Memory that was used before is taken where it has room for an id for so many bytes.
const BYTES_PER_ID: usize = 4;

/// The keywords of a call.
pub(crate) type Keywords<'a, 'py> = &'a Bound<'py, PyDict>;

/// What the keywords of a call that encodes say.
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
    /// As it was given; `None` stands for all processors.
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
            "unit" => self.in_bytes = meant(name, value.extract()?, &UNITS)?,
            "fit_length" => self.fit_length = value.extract()?,
            "dropout" if !value.is_none() => self.dropout = Some(probability(&value)?),
            "seed" if !value.is_none() => self.seed = Some(number("seed", &value)?),
            "threads" => self.threads = Some(value),
            "dtype" => self.width = meant(name, value.extract()?, &WIDTHS)?,
            _ => {}
        }
        Ok(())
    }

    /// Dropout without a seed takes one from the system, which two processes of one fork do not share.
    fn draw_seed(&mut self, py: Python<'_>) -> PyResult<()> {
        if self.dropout.is_none() && self.seed.is_some() {
            let message = "seed decides what dropout leaves out; give dropout too".to_owned();
            return Err(raise("TokenizerError", message));
        }
        if self.dropout.is_some() && self.seed.is_none() {
            let drawn = py.import("os")?.call_method1("urandom", (size_of::<u64>(),))?;
            self.seed = Some(u64::from_le_bytes(drawn.extract()?));
        }
        Ok(())
    }

    /// These options with truncation and padding of the call in place of the tokenizer's.
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

    /// The number of threads for one text: one, unless others were asked for.
    pub(crate) fn n_threads(&self) -> PyResult<usize> {
        self.threads.as_ref().map_or(Ok(1), |wanted| n_threads(Some(wanted)))
    }

    /// The number of threads for texts of these lengths, in bytes.
    pub(crate) fn n_threads_for(&self, lens: impl Iterator<Item = usize>) -> PyResult<usize> {
        let wanted = self.threads.as_ref().filter(|wanted| !wanted.is_none());
        // Asking how many processors there are takes longer than a short text.
        if wanted.is_none() && fits_one_thread(lens) { Ok(1) } else { n_threads(wanted) }
    }
}

/// The probability `dropout`, which a boolean is not. Whether it is from 0 to 1 the core says.
fn probability(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    if value.is_instance_of::<PyBool>() {
        let message = format!("dropout must be a number, not {}", value.repr()?);
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

/// An error of a type, with the name of the argument, as `PyO3` writes it.
fn of_argument(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    if !error.get_type(py).is(py.get_type::<PyTypeError>()) {
        return error;
    }
    PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)))
}

impl CoreTokenizer {
    /// Texts, or pairs of them, with all that is known of each id.
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
            return taken.or_raise()?;
        }
        let ids = py.detach(|| {
            let row = recycled_for(text.len() / BYTES_PER_ID);
            self.0.encode_in(row, text, options, n_threads)
        });
        take(Cow::Owned(ids.or_raise()?))
    }

    /// The ids of a batch as a list for each text. With several threads they are made while others encode.
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

/// What `encode` makes of the texts of a batch on so many threads, without the GIL.
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

/// About how many ids texts have.
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

/// Ids of 2 or of 4 bytes, and where those of each row end.
type IdArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

/// Encode the rows of a column of texts, special tokens being plain text.
///
/// With ``added_tokens="text"`` all added tokens are.
/// ``before`` or ``behind`` is an id that marks each row that has ids. Gives the ids of
/// all rows, and where those of each row end.
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

/// The arrays of what `encode` lays out, without the GIL.
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
