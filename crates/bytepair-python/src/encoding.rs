//! `Encoding`: ids with everything that is known about each. Lists are made on request.
//!
//! An encoding from a pickle, or merged from encodings of several tokenizers, holds the names of its tokens. Others look
//! them up in their tokenizer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytepair::Tokenizer;
use bytepair::template::{Padding, Truncation, TruncationStrategy};
use bytepair::units::Units;
use bytepair::vocabulary::{Token, TokenId};
use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyString};

use crate::convert::{
    CharPos, Length, MaxLength, PadId, PadTypeId, SequenceId, SequenceIndex, Stride, TokenIndex,
    WordIndex,
};
use crate::error::{OrRaise, raise};
use crate::output::{LEN_OF_OBJECT, Width, array, array_of_pairs, list, list_of};
use crate::template::side;

/// The keyword arguments of a new encoding, which are also its attributes.
const FIELDS: [&str; 8] = [
    "tokens",
    "type_ids",
    "offsets",
    "special_tokens_mask",
    "attention_mask",
    "word_ids",
    "sequence_ids",
    "overflowing",
];

/// The ids of one text or two, and lists with one entry for each id.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
/// >>> encoding = tokenizer.encode_full("ab ab")
/// >>> encoding
/// <bytepair.Encoding: 3 ids, 0 overflowing>
/// >>> encoding.ids, encoding.word_ids
/// ([256, 220, 256], [0, 1, 1])
///
/// An encoding can be copied and pickled. The copy holds the names of its tokens instead of a tokenizer.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Encoding {
    names: Option<Names>,
    /// Readers take a snapshot, since other threads may truncate or pad the encoding meanwhile.
    encoding: Mutex<Arc<bytepair::Encoding>>,
}

/// Writes a token as text.
pub(crate) type WriteToken = fn(&Units, Token<'_>) -> String;

/// The tokenizer that names the tokens of an encoding, and the function that writes them.
pub(crate) type Names = (Arc<Tokenizer>, WriteToken);

#[pymethods]
impl Encoding {
    /// Make an encoding from the attributes of another one.
    #[new]
    #[pyo3(signature = (ids, *, tokens, type_ids, offsets, special_tokens_mask, attention_mask, word_ids, sequence_ids, overflowing=Vec::new()), text_signature = "(ids, *, tokens, type_ids, offsets, special_tokens_mask, attention_mask, word_ids, sequence_ids, overflowing=())")]
    fn new(
        ids: Vec<TokenId>,
        tokens: Vec<String>,
        type_ids: Vec<u32>,
        offsets: Vec<(usize, usize)>,
        special_tokens_mask: Vec<u8>,
        attention_mask: Vec<u8>,
        word_ids: Vec<Option<u32>>,
        sequence_ids: Vec<Option<u8>>,
        overflowing: Vec<PyRef<'_, Self>>,
    ) -> PyResult<Self> {
        let lens = [tokens.len(), type_ids.len(), offsets.len(), special_tokens_mask.len()];
        let more_lens = [attention_mask.len(), word_ids.len(), sequence_ids.len()];
        let mut lens = FIELDS.iter().zip(lens.into_iter().chain(more_lens));
        if let Some((name, len)) = lens.find(|(_, len)| *len != ids.len()) {
            let message = format!("{} ids, but {len} {name}", ids.len());
            return Err(raise("TokenizerError", message));
        }
        let flags = |mask: Vec<u8>| mask.into_iter().map(|flag| flag != 0).collect();
        let encoding = bytepair::Encoding {
            ids,
            type_ids,
            offsets,
            special_tokens_mask: flags(special_tokens_mask),
            attention_mask: flags(attention_mask),
            word_ids,
            sequence_ids,
            found_as: tokens.into_iter().enumerate().collect(),
            overflowing: overflowing.iter().map(|part| part.with_names()).collect(),
        };
        Ok(Self::of(None, encoding))
    }

    fn __getnewargs_ex__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<((Bound<'py, PyAny>,), Bound<'py, PyDict>)> {
        let fields = FIELDS.map(|name| Ok((name, slf.getattr(name)?)));
        let fields = fields.into_iter().collect::<PyResult<Vec<_>>>()?;
        Ok(((slf.getattr("ids")?,), fields.into_py_dict(slf.py())?))
    }

    /// The number of texts, 1 or 2.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.n_sequences
    /// 1
    #[getter]
    fn n_sequences(&self) -> usize {
        self.now().sequence_ids.iter().flatten().max().map_or(1, |&last| usize::from(last) + 1)
    }

    /// Truncate this encoding to ``max_length`` ids, and move the rest to :attr:`overflowing`.
    ///
    /// ``direction`` is the end that is cut off. Consecutive parts share ``stride`` ids.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.truncate(2)
    /// >>> encoding.ids, [part.ids for part in encoding.overflowing]
    /// ([256, 220], [[256]])
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     ``stride`` is not below ``max_length``.
    #[pyo3(signature = (max_length, stride=Stride(0), direction="right"), text_signature = "($self, max_length, stride=0, direction='right')")]
    fn truncate(&self, max_length: MaxLength, stride: Stride, direction: &str) -> PyResult<()> {
        let truncation = Truncation {
            max_length: max_length.0,
            stride: stride.0,
            strategy: TruncationStrategy::default(),
            side: side(direction)?,
        };
        let changed = Arc::make_mut(&mut self.locked()).truncate(&truncation);
        changed.or_raise()
    }

    /// Pad this encoding and its overflowing parts to ``length`` ids.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.pad(5, pad_id=0)
    /// >>> encoding.ids, encoding.attention_mask
    /// ([256, 220, 256, 0, 0], [1, 1, 1, 0, 0])
    #[pyo3(signature = (length, direction="right", pad_id=PadId(0), pad_type_id=PadTypeId(0), pad_token="[PAD]"), text_signature = "($self, length, direction='right', pad_id=0, pad_type_id=0, pad_token='[PAD]')")]
    fn pad(
        &self,
        length: Length,
        direction: &str,
        pad_id: PadId,
        pad_type_id: PadTypeId,
        pad_token: &str,
    ) -> PyResult<()> {
        let padding = Padding {
            length: Some(length.0),
            multiple_of: None,
            side: side(direction)?,
            id: pad_id.0,
            type_id: pad_type_id.0,
            token: pad_token.to_owned(),
        };
        padding.check().or_raise()?;
        Arc::make_mut(&mut self.locked()).fill_up(&padding);
        Ok(())
    }

    /// Assign all ids to the text with this number.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.set_sequence_id(1)
    /// >>> encoding.sequence_ids
    /// [1, 1, 1]
    fn set_sequence_id(&self, sequence_id: SequenceId) {
        Arc::make_mut(&mut self.locked()).set_sequence(sequence_id.0);
    }

    /// Return the concatenation of encodings.
    ///
    /// With ``growing_offsets``, the offsets of each encoding continue where those before it end.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> parts = [tokenizer.encode_full(text) for text in ("ab", " ab")]
    /// >>> bytepair.Encoding.merge(parts).offsets
    /// [(0, 2), (2, 3), (3, 5)]
    #[staticmethod]
    #[pyo3(signature = (encodings, growing_offsets=true))]
    fn merge(encodings: Vec<PyRef<'_, Self>>, growing_offsets: bool) -> PyResult<Self> {
        let first = encodings.first().and_then(|first| first.names.clone());
        let is_first = |one: &PyRef<'_, Self>| match (&one.names, &first) {
            (Some(one), Some(first)) => Arc::ptr_eq(&one.0, &first.0),
            _ => false,
        };
        let have_one_tokenizer = encodings.iter().all(is_first);
        let parts = encodings.iter().map(|one| match have_one_tokenizer {
            true => (*one.now()).clone(),
            false => one.with_names(),
        });
        let merged = bytepair::Encoding::merged(parts, growing_offsets).or_raise()?;
        Ok(Self::of(first.filter(|_| have_one_tokenizer), merged))
    }

    /// An alias of :attr:`word_ids`.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.words
    /// [0, 1, 1]
    #[getter]
    fn words<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.word_ids(py)
    }

    /// Return the number of the text that a token belongs to, 0 or 1, or ``None`` if it belongs to none.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.token_to_sequence(0)
    /// 0
    fn token_to_sequence(&self, token_index: TokenIndex) -> Option<u8> {
        self.now().sequence_ids.get(token_index.0).copied().flatten()
    }

    /// Return the number of the word that a token belongs to, or ``None`` if it belongs to none.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.token_to_word(2)
    /// 1
    fn token_to_word(&self, token_index: TokenIndex) -> Option<u32> {
        self.now().word_ids.get(token_index.0).copied().flatten()
    }

    /// Return the span of a token in its text, or ``None`` if it belongs to no text.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.token_to_chars(2)
    /// (3, 5)
    fn token_to_chars(&self, token_index: TokenIndex) -> Option<(usize, usize)> {
        let encoding = self.now();
        encoding.sequence_ids.get(token_index.0).copied().flatten()?;
        encoding.offsets.get(token_index.0).copied()
    }

    /// Return where the tokens of a word begin and end, or ``None`` if there is no such word.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.word_to_tokens(1)
    /// (1, 3)
    #[pyo3(signature = (word_index, sequence_index=SequenceIndex(0)), text_signature = "($self, word_index, sequence_index=0)")]
    fn word_to_tokens(
        &self,
        word_index: WordIndex,
        sequence_index: SequenceIndex,
    ) -> Option<(usize, usize)> {
        tokens_of_word(&self.now(), word_index.0, sequence_index.0)
    }

    /// Return the span of a word in its text, or ``None`` if there is no such word.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.word_to_chars(1)
    /// (2, 5)
    #[pyo3(signature = (word_index, sequence_index=SequenceIndex(0)), text_signature = "($self, word_index, sequence_index=0)")]
    fn word_to_chars(
        &self,
        word_index: WordIndex,
        sequence_index: SequenceIndex,
    ) -> Option<(usize, usize)> {
        let encoding = self.now();
        let (first, end) = tokens_of_word(&encoding, word_index.0, sequence_index.0)?;
        Some((encoding.offsets[first].0, encoding.offsets[end - 1].1))
    }

    /// Return the index of the first token that contains a character, or ``None`` if no token does.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.char_to_token(4)
    /// 2
    #[pyo3(signature = (char_pos, sequence_index=SequenceIndex(0)), text_signature = "($self, char_pos, sequence_index=0)")]
    fn char_to_token(&self, char_pos: CharPos, sequence_index: SequenceIndex) -> Option<usize> {
        let encoding = self.now();
        let spans = encoding.offsets.iter().zip(&encoding.sequence_ids);
        spans.into_iter().position(|(&(start, end), &sequence)| {
            sequence == Some(sequence_index.0) && (start..end).contains(&char_pos.0)
        })
    }

    /// Return the number of the word that contains a character, or ``None`` if no word does.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.char_to_word(4)
    /// 1
    #[pyo3(signature = (char_pos, sequence_index=SequenceIndex(0)), text_signature = "($self, char_pos, sequence_index=0)")]
    fn char_to_word(&self, char_pos: CharPos, sequence_index: SequenceIndex) -> Option<u32> {
        self.token_to_word(TokenIndex(self.char_to_token(char_pos, sequence_index)?))
    }

    /// The ids.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.ids
    /// [256, 220, 256]
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list(py, &self.now().ids)
    }

    /// The type of each id, from the template: usually 0 for the first text and 1 for the second.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.type_ids
    /// [0, 0, 0]
    #[getter]
    fn type_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.now().type_ids.iter(), 0)
    }

    /// The tokens as text, as :meth:`Tokenizer.tokenize` writes them.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.tokens
    /// ['ab', ' ', 'ab']
    #[getter]
    fn tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let encoding = self.now();
        let names = names(self.names.as_ref(), &encoding);
        list_of(py, names.iter().map(|name| PyString::new(py, name)), LEN_OF_OBJECT)
    }

    /// The span of each id in its text: where it begins and ends.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.offsets
    /// [(0, 2), (2, 3), (3, 5)]
    #[getter]
    fn offsets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.now().offsets.iter(), 3 * LEN_OF_OBJECT)
    }

    /// 1 for each id from the template or the padding, otherwise 0.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.special_tokens_mask
    /// [0, 0, 0]
    #[getter]
    fn special_tokens_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.now().special_tokens_mask.iter().map(|&is| u8::from(is)), 0)
    }

    /// 0 for each id from the padding, otherwise 1.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.attention_mask
    /// [1, 1, 1]
    #[getter]
    fn attention_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.now().attention_mask.iter().map(|&is| u8::from(is)), 0)
    }

    /// The number of the piece that each id belongs to, or ``None`` if it belongs to no text.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.word_ids
    /// [0, 1, 1]
    #[getter]
    fn word_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.now().word_ids.iter(), LEN_OF_OBJECT)
    }

    /// The number of the text that each id belongs to, 0 or 1, or ``None`` if it belongs to none.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.sequence_ids
    /// [0, 0, 0]
    #[getter]
    fn sequence_ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        list_of(py, self.now().sequence_ids.iter(), 0)
    }

    /// The parts that truncation cut off, none longer than this encoding.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.overflowing
    /// []
    #[getter]
    fn overflowing(&self) -> Vec<Self> {
        let shared = |part: &bytepair::Encoding| Self::of(self.names.clone(), part.clone());
        self.now().overflowing.iter().map(shared).collect()
    }

    /// Return the ids as an array, ``uint32[n]``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.ids_to_numpy()
    /// array([256, 220, 256], dtype=uint32)
    fn ids_to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        array(py, Cow::Borrowed(&self.now().ids), Width::Bits32)
    }

    /// Return the offsets as an array, ``int64[n, 2]``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["ab ab"], vocab_size=257)
    /// >>> encoding = tokenizer.encode_full("ab ab")
    /// >>> encoding.offsets_to_numpy().tolist()
    /// [[0, 2], [2, 3], [3, 5]]
    fn offsets_to_numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<i64>>> {
        array_of_pairs(py, self.now().offsets.iter().copied())
    }

    fn __len__(&self) -> usize {
        self.now().ids.len()
    }

    fn __repr__(&self) -> String {
        let encoding = self.now();
        let n_parts = encoding.overflowing.len();
        format!("<bytepair.Encoding: {} ids, {n_parts} overflowing>", encoding.ids.len())
    }
}

impl Encoding {
    pub(crate) fn of(names: Option<Names>, encoding: bytepair::Encoding) -> Self {
        Self { names, encoding: Mutex::new(Arc::new(encoding)) }
    }

    fn locked(&self) -> MutexGuard<'_, Arc<bytepair::Encoding>> {
        self.encoding.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Arc<bytepair::Encoding> {
        Arc::clone(&self.locked())
    }

    /// This encoding with the names of all its tokens, so that it needs no tokenizer.
    fn with_names(&self) -> bytepair::Encoding {
        with_names(self.names.as_ref(), &self.now())
    }
}

fn tokens_of_word(
    encoding: &bytepair::Encoding,
    word_index: u32,
    sequence_index: u8,
) -> Option<(usize, usize)> {
    let words = encoding.word_ids.iter().zip(&encoding.sequence_ids);
    let of_word = words.map(|place| place == (&Some(word_index), &Some(sequence_index)));
    let mut tokens = of_word.enumerate().filter(|(_, is_of_word)| *is_of_word);
    let (first, _) = tokens.next()?;
    let last = tokens.next_back().map_or(first, |(last, _)| last);
    Some((first, last + 1))
}

fn with_names(names_of: Option<&Names>, encoding: &bytepair::Encoding) -> bytepair::Encoding {
    let names = names(names_of, encoding).into_iter().map(Cow::into_owned);
    bytepair::Encoding {
        found_as: names.enumerate().collect(),
        overflowing: encoding.overflowing.iter().map(|part| with_names(names_of, part)).collect(),
        ..encoding.clone()
    }
}

/// The names of the tokens of an encoding.
fn names<'e>(names: Option<&Names>, encoding: &'e bytepair::Encoding) -> Vec<Cow<'e, str>> {
    let found: BTreeMap<usize, &str> =
        encoding.found_as.iter().map(|(index, name)| (*index, name.as_str())).collect();
    let written = |id| {
        let (tokenizer, write) = names?;
        let parts = tokenizer.parts();
        Some(Cow::Owned(write(&parts.units, parts.vocabulary.token(id)?)))
    };
    let name = |(index, &id)| match found.get(&index) {
        Some(&name) => Cow::Borrowed(name),
        None => written(id).unwrap_or_default(),
    };
    encoding.ids.iter().enumerate().map(name).collect()
}
