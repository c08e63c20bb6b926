//! Text to ids: the methods of `CoreTokenizer` that encode, count, truncate and split texts.
//!
//! `calls` reads the options, which are keywords. `PyO3` cannot share a signature, so each method spells out what `help`
//! shows. Only `encode` declares each keyword: with a dict of keywords, a call with a few words would take twice as long.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::sync::Arc;

use bytepair::units::published_name;
use bytepair::{Batch, EncodeOptions, ErrorKind, IdFile, IdFormat, Number, Reading};
use numpy::{Element, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};

use super::calls::{GIL_LEN, Keywords, Options, batch_by, n_expected, one_or_two, slices};
use super::{CoreTokenizer, escaped, spelled};
use crate::convert::{Added, BorrowedText, SpecialNames, Text, Threads, each_of, number};
use crate::encoding::{Encoding, WriteToken};
use crate::error::{OrRaise, ask, in_file};
use crate::output::{self, LEN_OF_OBJECT, Width, array, array_of, listed, recycled_for};
use crate::reading::{Interruptible, Reporter};
use crate::rows::offsets;
use crate::template::Lengths;

/// The options of a full encoding, besides those that all methods have.
const FULL: [&str; 5] = ["unit", "add_special_tokens", "fit_length", "dropout", "seed"];

/// The options of methods that return an array, besides those that all methods have.
const ARRAY: [&str; 3] = ["add_special_tokens", "threads", "dtype"];

/// The ids of a batch, and the offsets of the texts in them.
type BatchArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl CoreTokenizer {
    /// Encode a text to a list of ids.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors. A long text is
    /// divided among them only at places where this changes no id.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.encode("low lower")
    /// [257, 220, 257, 68, 81]
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     A unit of the text is outside the alphabet, and no token stands for it.
    /// SpecialTokenError
    ///     The text contains a disallowed special token.
    /// EncodingError
    ///     The text is not UTF-8, and the dialect requires it.
    /// PatternError
    ///     The split pattern takes too many steps on this text.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=Threads(1)),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=1)"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = EncodeOptions {
            allowed_special: allowed_special.as_specials(),
            disallowed_special: disallowed_special.as_specials(),
            added_tokens: added_tokens.0,
            add_special_tokens,
            ..EncodeOptions::default()
        };
        self.with_ids(py, text, options, threads.0, |ids| listed(py, ids))
    }

    /// Encode a text, or a pair of texts, to an :class:`Encoding`.
    ///
    /// ``fit_length`` says whether the tokenizer's truncation and padding are applied; the default is
    /// the value of ``add_special_tokens``. ``dropout`` is the probability with which each merge is
    /// skipped. The same ``seed`` gives the same ids; without one, each call draws anew.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab", "c")
    /// >>> encoding.tokens, encoding.offsets, encoding.type_ids
    /// (['ab', 'c'], [(0, 2), (0, 1)], [0, 1])
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The texts cannot be truncated as the tokenizer says, or ``dropout`` is not between 0 and 1;
    ///     also the errors of :meth:`encode`.
    #[pyo3(signature = (text, pair=None, **options), text_signature = "($self, text, pair=None, *, unit='characters', allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, fit_length=None, dropout=None, seed=None)")]
    fn encode_full<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        pair: Option<BorrowedText<'_>>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Encoding> {
        let options = Options::of("Tokenizer.encode_full", options, &FULL)?;
        let texts = [(text.bytes, pair.map(|pair| pair.bytes))];
        let encodings = self.full(py, &texts, &options, 1)?;
        Ok(self.shared(encodings.into_iter().next().unwrap_or_default(), spelled))
    }

    /// Encode many texts, or tuples of two, as :meth:`encode_full` does.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors. Padding without a
    /// length pads all texts to the longest.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> batch = tokenizer.encode_full_batch(["ab", ("a", "b")])
    /// >>> [encoding.ids for encoding in batch]
    /// [[256], [64, 65]]
    ///
    /// Raises the errors of :meth:`encode_full`; the message has the text's index in the batch.
    #[pyo3(signature = (texts, **options), text_signature = "($self, texts, *, unit='characters', allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, fit_length=None, dropout=None, seed=None, threads=None)")]
    fn encode_full_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Vec<Encoding>> {
        let names = [&FULL[..], &["threads"]].concat();
        let options = Options::of("Tokenizer.encode_full_batch", options, &names)?;
        self.full_batch(py, texts, options, spelled)
    }

    /// Encode a text to an array of ids, ``uint32[n]`` or ``uint16[n]``.
    ///
    /// The options are those of :meth:`encode`.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.encode_to_numpy("lower", dtype="uint16")
    /// array([257,  68,  81], dtype=uint16)
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     ``dtype="uint16"`` cannot hold all ids of the vocabulary; also the errors of
    ///     :meth:`encode`.
    #[pyo3(signature = (text, **options), text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=1, dtype='uint32')")]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options::of("Tokenizer.encode_to_numpy", options, &ARRAY)?;
        let (n_threads, width) = (options.n_threads()?, options.width.holding(self.n_vocab())?);
        self.with_ids(py, text, options.core(), n_threads, |ids| array(py, ids, width))
    }

    /// Encode many texts, each to a list of ids.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors. A text that is much
    /// longer than the others is divided among several threads.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.encode_batch(["low", "lower"])
    /// [[257], [257, 68, 81]]
    ///
    /// Raises the errors of :meth:`encode`; the message has the text's index in the batch.
    #[pyo3(signature = (texts, **options), text_signature = "($self, texts, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=None)")]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Vec<Py<PyList>>> {
        let names = ["add_special_tokens", "threads"];
        self.lists(py, texts, &Options::of("Tokenizer.encode_batch", options, &names)?)
    }

    /// Encode many texts to one array of ids, and the offsets of the texts in it.
    ///
    /// Text ``i`` has the ids ``ids[offsets[i]:offsets[i + 1]]``. The arrays are ``uint32[n]``, or
    /// ``uint16[n]``, and ``int64[len(texts) + 1]``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> ids, offsets = tokenizer.encode_batch_to_numpy(["low", "lower"])
    /// >>> ids.tolist(), offsets.tolist()
    /// ([257, 257, 68, 81], [0, 1, 4])
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     ``dtype="uint16"`` cannot hold all ids of the vocabulary; also the errors of
    ///     :meth:`encode_batch`.
    #[pyo3(signature = (texts, **options), text_signature = "($self, texts, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=None, dtype='uint32')")]
    fn encode_batch_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<BatchArrays<'py>> {
        let options = Options::of("Tokenizer.encode_batch_to_numpy", options, &ARRAY)?;
        match options.width.holding(self.n_vocab())? {
            Width::Bits16 => self.batch_arrays::<u16>(py, texts, &options),
            Width::Bits32 => self.batch_arrays::<u32>(py, texts, &options),
        }
    }

    /// Count the ids of a text without making a list of them.
    ///
    /// The options are those of :meth:`encode`.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.count("low lower")
    /// 5
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(signature = (text, **options), text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=1)")]
    fn count<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<usize> {
        let options = Options::of("Tokenizer.count", options, &["add_special_tokens", "threads"])?;
        let (core, n_threads) = (options.core(), options.n_threads()?);
        let count = || self.0.count(text.bytes, core, n_threads);
        let counted = if text.bytes.len() <= GIL_LEN { count() } else { py.detach(count) };
        counted.or_raise()
    }

    /// Count the ids of each of many texts.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.count_batch(["low", "", "lower"])
    /// [1, 0, 3]
    ///
    /// Raises the errors of :meth:`encode`; the message has the text's index in the batch.
    #[pyo3(signature = (texts, **options), text_signature = "($self, texts, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=None)")]
    fn count_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Vec<usize>> {
        let options =
            Options::of("Tokenizer.count_batch", options, &["add_special_tokens", "threads"])?;
        let core = options.core();
        batch_by(py, texts, &options, |texts, n_threads| self.0.count_batch(texts, core, n_threads))
    }

    /// Truncate a text to at most ``max_tokens`` ids.
    ///
    /// The result is the text of the first ``max_tokens`` ids, up to the end of a whole character.
    /// If that text alone would have more ids, the result is the text of fewer ids. The rest of the
    /// text is not encoded.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.truncate("low lower lowest", 2)
    /// 'low '
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(signature = (text, max_tokens, **options), text_signature = "($self, text, max_tokens, *, allowed_special=(), disallowed_special=(), added_tokens='find')")]
    fn truncate<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        max_tokens: &Bound<'py, PyAny>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = Options::of("Tokenizer.truncate", options, &[])?;
        let max_tokens: usize = number("max_tokens", max_tokens)?;
        let core = options.core();
        let kept = py.detach(|| self.0.truncate(text.bytes, max_tokens, core));
        like(text, py, kept.or_raise()?)
    }

    /// Return the tokens of a text as they are written, including marks.
    ///
    /// A unit outside the alphabet appears as the unknown token if there is one, otherwise as itself
    /// (with files from SentencePiece, always as itself). An added token appears as in the text, with
    /// the white space that it strips. Bytes that are not UTF-8 appear as escapes.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.tokenize("low lower")
    /// ['low', ' ', 'low', 'e', 'r']
    ///
    /// Raises the errors of :meth:`encode`, except for unknown units.
    #[pyo3(signature = (text, **options), text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False)")]
    fn tokenize<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
        options: Option<Keywords<'_, 'py>>,
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let options = Options::of("Tokenizer.tokenize", options, &["add_special_tokens"])?;
        let core = options.core();
        let tokens = py.detach(|| self.0.tokenize(text.bytes, core)).or_raise()?;
        ask(tokens.len() * LEN_OF_OBJECT)?;
        Ok(tokens.iter().map(|token| PyString::new(py, &escaped(token))).collect())
    }

    /// Split a text into the pieces that no token crosses, after normalization.
    ///
    /// Pieces are ``str`` or ``bytes``, like the text.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.split("low lower")
    /// ['low', ' lower']
    ///
    /// Raises
    /// ------
    /// PatternError
    ///     The split pattern takes too many steps on this text.
    fn split<'py>(
        &self,
        py: Python<'py>,
        text: BorrowedText<'_>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let pieces = py.detach(|| self.0.split(text.bytes)).or_raise()?;
        ask(pieces.len() * LEN_OF_OBJECT)?;
        pieces.iter().map(|piece| like(text, py, piece)).collect()
    }
}

impl CoreTokenizer {
    /// An encoding that shares this tokenizer to write its tokens.
    fn shared(&self, encoding: bytepair::Encoding, write: WriteToken) -> Encoding {
        Encoding::of(Some((Arc::clone(&self.0), write)), encoding)
    }

    /// Encodes texts, or tuples of two.
    fn full_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        options: Options<'_>,
        write: WriteToken,
    ) -> PyResult<Vec<Encoding>> {
        let texts = each_of(texts, one_or_two)?;
        let slices: Vec<_> = texts
            .iter()
            .map(|(text, pair)| (text.bytes(), pair.as_ref().map(Text::bytes)))
            .collect();
        let lens = slices.iter().map(|(text, pair)| text.len() + pair.map_or(0, <[u8]>::len));
        let n_threads = options.n_threads_for(lens)?;
        let encodings = self.full(py, &slices, &options, n_threads)?;
        Ok(encodings.into_iter().map(|encoding| self.shared(encoding, write)).collect())
    }

    /// Encodes a batch to ids of type `N`, and the offsets of the texts in them.
    fn batch_arrays<'py, N: Number + Element>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        options: &Options<'_>,
    ) -> PyResult<BatchArrays<'py>> {
        let core = options.core();
        let batch = batch_by(py, texts, options, |texts, n_threads| {
            let mut batch = Batch::<N>::in_memory(recycled_for(n_expected(texts)));
            self.0.encode_to(&mut batch, texts, core, n_threads)?;
            Ok(batch)
        })?;
        Ok((array_of(py, batch.ids.into())?.into_any(), offsets(py, batch.offsets)))
    }
}

/// Encode texts, or pairs of them, as Hugging Face's library does, with the truncation and padding of the call.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, lengths, **options), text_signature = "(tokenizer, texts, lengths, *, allowed_special=(), added_tokens='find', add_special_tokens=False)")]
pub(crate) fn encode_full_rows<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    texts: &Bound<'py, PyAny>,
    lengths: &Lengths,
    options: Option<Keywords<'_, 'py>>,
) -> PyResult<Vec<Encoding>> {
    let options = Options::of("encode_full_rows", options, &["add_special_tokens"])?;
    tokenizer.full_batch(py, texts, options.within(lengths), published_name)
}

/// Encode texts that are lists of words, or pairs of them, as Hugging Face's library does, with the truncation and padding
/// of the call.
#[pyfunction]
#[pyo3(signature = (tokenizer, texts, lengths, **options), text_signature = "(tokenizer, texts, lengths, *, allowed_special=(), added_tokens='find', add_special_tokens=False)")]
pub(crate) fn encode_word_rows<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    texts: Vec<(Vec<Text>, Option<Vec<Text>>)>,
    lengths: &Lengths,
    options: Option<Keywords<'_, 'py>>,
) -> PyResult<Vec<Encoding>> {
    let options = Options::of("encode_word_rows", options, &["add_special_tokens"])?;
    let options = options.within(lengths);
    let texts: Vec<_> =
        texts.iter().map(|(words, pair)| (slices(words), pair.as_deref().map(slices))).collect();
    let samples: Vec<_> =
        texts.iter().map(|(words, pair)| (words.as_slice(), pair.as_deref())).collect();
    let words = samples.iter().map(|(words, pair)| words.iter().chain(pair.unwrap_or(&[])));
    let lens = words.map(|words| words.map(|word| word.len()).sum());
    let n_threads = options.n_threads_for(lens)?;
    let core = options.core();
    let encode = || tokenizer.0.encode_words_batch(&samples, true, core, n_threads);
    let encodings = py.detach(encode).or_raise()?;
    let shared = |encoding| tokenizer.shared(encoding, published_name);
    Ok(encodings.into_iter().map(shared).collect())
}

/// Encode a file to a file, and return the numbers of ids and bytes.
///
/// ``names`` are the paths of the input (``-`` for standard input), of the existing file to write to, and of the output for
/// messages.
#[pyfunction]
#[pyo3(signature = (tokenizer, names, *, is_wide, has_header, progress=None, stretch_len=None, max_uncut=None, **options), text_signature = "(tokenizer, names, *, is_wide, has_header, allowed_special, disallowed_special, added_tokens, threads, progress=None, stretch_len=None, max_uncut=None)")]
pub(crate) fn encode_file<'py>(
    py: Python<'py>,
    tokenizer: &CoreTokenizer,
    names: (PathBuf, PathBuf, PathBuf),
    is_wide: bool,
    has_header: bool,
    progress: Option<Py<PyAny>>,
    stretch_len: Option<usize>,
    max_uncut: Option<usize>,
    options: Option<Keywords<'_, 'py>>,
) -> PyResult<(u64, u64)> {
    let options = Options::of("Tokenizer.encode_file", options, &["threads"])?;
    let (core, n_threads) = (options.core(), options.n_threads()?);
    let (path, target, name) = names;
    let reader = Interruptible::open(&path, &Arc::default())?;
    let reading = Reading { reader, n_threads, stretch_len, max_uncut };
    let mut file = OpenOptions::new()
        .write(true)
        .open(target)
        .map_err(|error| in_file(&name, &error.into()))?;
    let mut reporter = Reporter::new(progress.unwrap_or_else(|| py.None()));
    let encoded = py.detach(|| {
        let report = |n_bytes| reporter.report(|| (n_bytes,));
        let format = IdFormat { is_wide, has_header };
        let mut ids = IdFile::new(&mut file, format, tokenizer.n_vocab())?;
        let n_bytes = tokenizer.0.encode_stream(reading, core, &mut ids, report)?;
        Ok((ids.finish()?, n_bytes))
    });
    // An error of reading the input already has its path; any other error of this kind is about the output.
    encoded.map_err(|error: bytepair::Error| match error.kind() {
        ErrorKind::Read(_) => in_file(&name, &error),
        _ => in_file(&path, &error),
    })
}

/// Bytes as `str` or `bytes`, whichever the text is.
fn like<'py>(text: BorrowedText<'_>, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match text.is_str {
        true => Ok(output::text(py, &String::from_utf8_lossy(bytes))?.into_any()),
        false => Ok(output::bytes(py, bytes)?.into_any()),
    }
}
