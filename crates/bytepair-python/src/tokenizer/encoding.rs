//! Text to ids: the methods of `CoreTokenizer` that encode, count, cut and split.
//!
//! What several of them share is in `calls`. Each names its options: `PyO3` has no way to share a signature, and
//! options in a dict would cost a short call as much as its ids.

use std::sync::Arc;

use bytepair::{Batch, EncodeOptions, IdFormat};
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use super::CoreTokenizer;
use super::calls::{batch_by, full_options, one_or_two, options, slices};
use crate::convert::{
    Added, Given, Probability, Seed, SpecialNames, Text, Threads, each_of, n_threads,
    n_threads_for, number,
};
use crate::documents::{FileNames, FileOptions, TokenCounter, encode_file};
use crate::encoding::Encoding;
use crate::error::{ask, to_python};
use crate::output::{LEN_OF_OBJECT, Width, array, array_of, list, list_of, listed};
use crate::template::Lengths;

/// The ids of a batch and where each text begins.
type BatchArrays<'py> = (Bound<'py, PyAny>, Bound<'py, PyArray1<i64>>);

#[pymethods]
impl CoreTokenizer {
    /// Encode a text to a list of ids.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors. A long text is cut for
    /// them only where that changes no id.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.encode("low lower")
    /// [257, 220, 257, 68, 81]
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     A unit of the text is outside the alphabet, and nothing stands for it.
    /// SpecialTokenError
    ///     The text contains a disallowed special token.
    /// EncodingError
    ///     The text is not UTF-8, and the dialect needs it.
    /// PatternError
    ///     The split pattern takes too many steps on this text.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=Threads(1)),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=1)"
    )]
    fn encode<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Threads,
    ) -> PyResult<Bound<'py, PyList>> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        self.with_ids(py, text, options, threads.0, |ids| listed(py, ids))
    }

    /// Encode a text to ids, each with the span of the text that it stands for.
    ///
    /// A span is where that part of the text begins and ends, in characters or, with
    /// ``unit="bytes"``, in bytes. It refers to the text as given, before normalization. A token
    /// that is part of a character spans all of it in characters, and its own part in bytes. A
    /// special token of the template has the span ``(0, 0)``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> tokenizer.encode_with_offsets("abé")[1]
    /// [(0, 2), (2, 3), (2, 3)]
    /// >>> tokenizer.encode_with_offsets("abé", unit="bytes")[1]
    /// [(0, 2), (2, 3), (3, 4)]
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(
        signature = (text, *, unit="characters", allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false),
        text_signature = "($self, text, *, unit='characters', allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False)"
    )]
    fn encode_with_offsets<'py>(
        &self,
        py: Python<'py>,
        text: Text,
        unit: &str,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
    ) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        let encoding = self.full(py, &[(text, None)], options, unit, 1)?.pop().unwrap_or_default();
        Ok((
            list(py, &encoding.ids)?,
            list_of(py, encoding.offsets.into_iter(), 3 * LEN_OF_OBJECT)?,
        ))
    }

    /// Encode a text, or a pair of texts, to an :class:`Encoding` with all that is known of each id.
    ///
    /// ``fit_length`` says whether the tokenizer's truncation and padding are applied; by default
    /// they are if ``add_special_tokens`` is. ``dropout`` is the probability with which each merge
    /// is left out; each call draws anew, unless ``seed`` is given, which repeats what it drew.
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
    ///     The texts cannot be truncated as the tokenizer says, or ``dropout`` is not from 0 to 1;
    ///     also the errors of :meth:`encode`.
    #[pyo3(
        signature = (text, pair=None, *, unit="characters", allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, fit_length=None, dropout=None, seed=None),
        text_signature = "($self, text, pair=None, *, unit='characters', allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, fit_length=None, dropout=None, seed=None)"
    )]
    fn encode_full(
        &self,
        py: Python<'_>,
        text: Text,
        pair: Option<Text>,
        unit: &str,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        fit_length: Option<bool>,
        dropout: Option<Probability>,
        seed: Option<Seed>,
    ) -> PyResult<Encoding> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        let options = full_options(py, options, fit_length, dropout, seed)?;
        let encodings = self.full(py, &[(text, pair)], options, unit, 1)?;
        Ok(self.shared(encodings.into_iter().next().unwrap_or_default()))
    }

    /// Encode many texts, or tuples of two, as :meth:`encode_full` does.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors. Padding without a
    /// length fills all texts up to the longest.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> batch = tokenizer.encode_full_batch(["ab", ("a", "b")])
    /// >>> [encoding.ids for encoding in batch]
    /// [[256], [64, 65]]
    ///
    /// Raises the errors of :meth:`encode_full`; the message names the text's place in the batch.
    #[pyo3(
        signature = (texts, *, unit="characters", allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, fit_length=None, dropout=None, seed=None, threads=None),
        text_signature = "($self, texts, *, unit='characters', allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, fit_length=None, dropout=None, seed=None, threads=None)"
    )]
    fn encode_full_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        unit: &str,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        fit_length: Option<bool>,
        dropout: Option<Probability>,
        seed: Option<Seed>,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Encoding>> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        let options = full_options(py, options, fit_length, dropout, seed)?;
        let texts = each_of(texts, one_or_two)?;
        let encodings = self.full(py, &texts, options, unit, n_threads_of(&texts, threads)?)?;
        Ok(encodings.into_iter().map(|encoding| self.shared(encoding)).collect())
    }

    /// Encode a text to a list of ids, with the lengths of the call in place of the tokenizer's.
    #[pyo3(
        signature = (text, lengths, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false),
        text_signature = "($self, text, lengths, *, allowed_special=(), added_tokens='find', add_special_tokens=False)"
    )]
    fn _row<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        lengths: &Lengths,
        allowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = lengths.within(&allowed_special, added_tokens, add_special_tokens);
        self.with_ids(py, text, options, 1, |ids| listed(py, ids))
    }

    /// Encode many texts, each to a list of ids, with the lengths of the call.
    #[pyo3(
        signature = (texts, lengths, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false),
        text_signature = "($self, texts, lengths, *, allowed_special=(), added_tokens='find', add_special_tokens=False)"
    )]
    fn _rows(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        lengths: &Lengths,
        allowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
    ) -> PyResult<Vec<Py<PyList>>> {
        self.lists(
            py,
            texts,
            lengths.within(&allowed_special, added_tokens, add_special_tokens),
            None,
        )
    }

    /// Encode texts or pairs of them to encodings, with the lengths of the call.
    #[pyo3(
        signature = (texts, lengths, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false),
        text_signature = "($self, texts, lengths, *, allowed_special=(), added_tokens='find', add_special_tokens=False)"
    )]
    fn _full_rows(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        lengths: &Lengths,
        allowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
    ) -> PyResult<Vec<Encoding>> {
        let options = lengths.within(&allowed_special, added_tokens, add_special_tokens);
        let texts = each_of(texts, one_or_two)?;
        let n_threads = n_threads_of(&texts, None)?;
        let encodings = self.full(py, &texts, options, "characters", n_threads)?;
        Ok(encodings.into_iter().map(|encoding| self.shared(encoding)).collect())
    }

    /// Encode texts that are cut into words, or pairs of them, to encodings, with the lengths of the call.
    #[pyo3(
        signature = (texts, lengths, *, allowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false),
        text_signature = "($self, texts, lengths, *, allowed_special=(), added_tokens='find', add_special_tokens=False)"
    )]
    fn _word_rows(
        &self,
        py: Python<'_>,
        texts: Vec<(Vec<Text>, Option<Vec<Text>>)>,
        lengths: &Lengths,
        allowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
    ) -> PyResult<Vec<Encoding>> {
        let options = lengths.within(&allowed_special, added_tokens, add_special_tokens);
        let n_bytes =
            |words: &Vec<Text>| words.iter().map(|word| word.bytes().len()).sum::<usize>();
        let lens =
            texts.iter().map(|(words, pair)| n_bytes(words) + pair.as_ref().map_or(0, n_bytes));
        let n_threads = n_threads_for(lens, None)?;
        let slices: Vec<_> = texts
            .iter()
            .map(|(words, pair)| (slices(words), pair.as_deref().map(slices)))
            .collect();
        let samples: Vec<_> =
            slices.iter().map(|(words, pair)| (words.as_slice(), pair.as_deref())).collect();
        let encodings = py.detach(|| self.0.encode_words_batch(&samples, true, options, n_threads));
        let encodings = encodings.map_err(|error| to_python(&error))?;
        Ok(encodings.into_iter().map(|encoding| self.shared(encoding)).collect())
    }

    /// Encode a text to a list of ids; every special token in it is plain text.
    ///
    /// Other added tokens are found, unless ``added_tokens="text"``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.encode_ordinary("lower")
    /// [257, 68, 81]
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(
        signature = (text, *, added_tokens=Added::FIND),
        text_signature = "($self, text, *, added_tokens='find')"
    )]
    fn encode_ordinary<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        added_tokens: Added,
    ) -> PyResult<Bound<'py, PyList>> {
        let options = EncodeOptions { added_tokens: added_tokens.0, ..EncodeOptions::default() };
        self.with_ids(py, text, options, 1, |ids| listed(py, ids))
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
    ///     ``dtype="uint16"`` does not hold all ids of the vocabulary; also the errors of
    ///     :meth:`encode`.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=Threads(1), dtype="uint32"),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=1, dtype='uint32')"
    )]
    fn encode_to_numpy<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Threads,
        dtype: &str,
    ) -> PyResult<Bound<'py, PyAny>> {
        let width = Width::of(dtype, self.n_vocab())?;
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        self.with_ids(py, text, options, threads.0, |ids| array(py, ids, width))
    }

    /// Encode many texts, each to a list of ids.
    ///
    /// ``threads`` is the number of threads; ``None`` uses all processors. A text that is much
    /// longer than the others is cut for several of them.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.encode_batch(["low", "lower"])
    /// [[257], [257, 68, 81]]
    ///
    /// Raises the errors of :meth:`encode`; the message names the text's place in the batch.
    #[pyo3(
        signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=None),
        text_signature = "($self, texts, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=None)"
    )]
    fn encode_batch<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Py<PyList>>> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        self.lists(py, texts, options, threads)
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
    ///     ``dtype="uint16"`` does not hold all ids of the vocabulary; also the errors of
    ///     :meth:`encode_batch`.
    #[pyo3(
        signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=None, dtype="uint32"),
        text_signature = "($self, texts, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=None, dtype='uint32')"
    )]
    fn encode_batch_to_numpy<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Option<&Bound<'py, PyAny>>,
        dtype: &str,
    ) -> PyResult<BatchArrays<'py>> {
        let width = Width::of(dtype, self.n_vocab())?;
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        let (ids, offsets) = match width {
            Width::Bits16 => {
                let Batch { ids, offsets } = self.batch::<u16>(py, texts, options, threads)?;
                (array_of(py, ids.into())?.into_any(), offsets)
            }
            Width::Bits32 => {
                let Batch { ids, offsets } = self.batch::<u32>(py, texts, options, threads)?;
                (array_of(py, ids.into())?.into_any(), offsets)
            }
        };
        let offsets: Vec<i64> =
            offsets.iter().map(|&offset| i64::try_from(offset).unwrap_or(i64::MAX)).collect();
        Ok((ids, offsets.into_pyarray(py)))
    }

    /// Count the ids of a text without making them.
    ///
    /// The options are those of :meth:`encode`.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.count("low lower")
    /// 5
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=Threads(1)),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=1)"
    )]
    fn count(
        &self,
        py: Python<'_>,
        text: Given<'_>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Threads,
    ) -> PyResult<usize> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        self.count_of(py, text, options, threads.0)
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
    /// Raises the errors of :meth:`encode`; the message names the text's place in the batch.
    #[pyo3(
        signature = (texts, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false, threads=None),
        text_signature = "($self, texts, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False, threads=None)"
    )]
    fn count_batch(
        &self,
        py: Python<'_>,
        texts: &Bound<'_, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
        threads: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<usize>> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        batch_by(py, texts, threads, |texts, n_threads| {
            self.0.count_batch(texts, options, n_threads)
        })
    }

    /// Cut a text so that it has at most ``max_tokens`` ids.
    ///
    /// The result is the text of the first ``max_tokens`` ids, up to the end of a whole character.
    /// Where that text alone would have more ids, it is the text of fewer. The rest of the text is
    /// not encoded.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.truncate("low lower lowest", 2)
    /// 'low '
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(
        signature = (text, max_tokens, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND),
        text_signature = "($self, text, max_tokens, *, allowed_special=(), disallowed_special=(), added_tokens='find')"
    )]
    fn truncate<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        max_tokens: &Bound<'_, PyAny>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
    ) -> PyResult<Bound<'py, PyAny>> {
        let options = options(&allowed_special, &disallowed_special, added_tokens, false);
        let max_tokens: usize = number("max_tokens", max_tokens)?;
        let kept = py
            .detach(|| self.0.truncate(text.bytes, max_tokens, options))
            .map_err(|error| to_python(&error))?;
        Ok(match text.is_str {
            true => PyString::from_bytes(py, kept)?.into_any(),
            false => PyBytes::new(py, kept).into_any(),
        })
    }

    /// Start counting the ids of a text that comes in parts.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> counter = tokenizer.counter()
    /// >>> counter.append("low"), counter.append("er")
    /// (1, 3)
    #[pyo3(
        signature = (*, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND),
        text_signature = "($self, *, allowed_special=(), disallowed_special=(), added_tokens='find')"
    )]
    fn counter(
        &self,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
    ) -> PyResult<TokenCounter> {
        TokenCounter::new(
            &self.0,
            options(&allowed_special, &disallowed_special, added_tokens, false),
        )
    }

    /// `names` are those of the input, of the file to write to, and of the output in messages.
    #[pyo3(signature = (names, *, is_wide, has_header, allowed_special, disallowed_special, added_tokens, threads, progress=None, stretch_len=None, max_uncut=None))]
    fn _encode_file(
        &self,
        py: Python<'_>,
        names: FileNames,
        is_wide: bool,
        has_header: bool,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        threads: Option<&Bound<'_, PyAny>>,
        progress: Option<Py<PyAny>>,
        stretch_len: Option<usize>,
        max_uncut: Option<usize>,
    ) -> PyResult<(u64, u64)> {
        let format = IdFormat { is_wide, has_header };
        let options = options(&allowed_special, &disallowed_special, added_tokens, false);
        let (n_threads, progress) = (n_threads(threads)?, progress.unwrap_or_else(|| py.None()));
        let file_options = FileOptions { format, n_threads, stretch_len, max_uncut, progress };
        encode_file(py, &self.0, names, options, file_options)
    }

    /// Show the tokens of a text as they are written, marks included.
    ///
    /// A unit outside the alphabet appears as itself, or as the unknown token where there is one
    /// (for files from SentencePiece always as itself). An added token appears as it stands in the
    /// text, with the white space that belongs to it. Bytes that are not UTF-8 appear as escapes.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.tokenize("low lower")
    /// ['low', ' ', 'low', 'e', 'r']
    ///
    /// Raises the errors of :meth:`encode`, except for unknown units.
    #[pyo3(
        signature = (text, *, allowed_special=SpecialNames::None, disallowed_special=SpecialNames::None, added_tokens=Added::FIND, add_special_tokens=false),
        text_signature = "($self, text, *, allowed_special=(), disallowed_special=(), added_tokens='find', add_special_tokens=False)"
    )]
    fn tokenize<'py>(
        &self,
        py: Python<'py>,
        text: Given<'_>,
        allowed_special: SpecialNames,
        disallowed_special: SpecialNames,
        added_tokens: Added,
        add_special_tokens: bool,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let options =
            options(&allowed_special, &disallowed_special, added_tokens, add_special_tokens);
        let tokens = py
            .detach(|| self.0.tokenize(text.bytes, options))
            .map_err(|error| to_python(&error))?;
        ask(tokens.len() * LEN_OF_OBJECT)?;
        tokens.iter().map(|token| readable(py, token)).collect()
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
    fn split<'py>(&self, py: Python<'py>, text: Given<'_>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let pieces = py.detach(|| self.0.split(text.bytes)).map_err(|error| to_python(&error))?;
        ask(pieces.len() * LEN_OF_OBJECT)?;
        let convert = |piece: &Vec<u8>| match text.is_str {
            true => Ok(PyString::new(py, &String::from_utf8_lossy(piece)).into_any()),
            false => Ok(PyBytes::new(py, piece).into_any()),
        };
        pieces.iter().map(convert).collect()
    }
}

impl CoreTokenizer {
    fn shared(&self, encoding: bytepair::Encoding) -> Encoding {
        Encoding::of(Some(Arc::clone(&self.0)), encoding)
    }
}

/// How many threads encode these texts, or pairs of them.
fn n_threads_of(
    texts: &[(Text, Option<Text>)],
    threads: Option<&Bound<'_, PyAny>>,
) -> PyResult<usize> {
    let n_bytes = |text: &Text| text.bytes().len();
    n_threads_for(
        texts.iter().map(|(text, pair)| n_bytes(text) + pair.as_ref().map_or(0, n_bytes)),
        threads,
    )
}

/// Bytes as text; what is not UTF-8 as escapes.
fn readable<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(PyString::new(py, text).into_any()),
        Err(_) => PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "backslashreplace")),
    }
}
