//! `CoreTokenizer`, the base class of `bytepair.Tokenizer`.
//!
//! This file has the class, its properties, and decoding. `encoding` has the methods that encode, `changing` makes new
//! tokenizers from one, `inspecting` shows the parts of a tokenizer and what happens to a text, and `reachability` answers
//! which tokens can occur. `calls` reads the texts and options of a call, and encodes the rows of a column; `stream` decodes
//! ids one by one, and `session` has the ids of a text that grows.

pub(crate) mod calls;
pub(crate) mod changing;
pub(crate) mod encoding;
mod inspecting;
pub(crate) mod reachability;
mod session;
mod stream;

use std::sync::Arc;

use bytepair::Tokenizer;
use bytepair::units::{Units, published_name};
use bytepair::vocabulary::{Token, TokenId, TokenKind};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList, PyString};

use self::calls::Keywords;
pub(crate) use self::calls::encode_rows;
pub(crate) use self::inspecting::{Inspection, KnownToken, graphemes};
pub(crate) use self::session::Session;
pub(crate) use self::stream::DecodeStream;
use crate::convert::{BorrowedText, Ids, decode_errors, id, in_batch, refuse_set};
use crate::error::{OrRaise, to_python};
use crate::output::{bytes, text};

/// Text to token ids and back: the compiled base of ``bytepair.Tokenizer``.
///
/// Tokens are ``bytes`` in dialects of bytes and ``str`` in dialects of characters. In all
/// methods, ``allowed_special`` names the special tokens that are found in a text: ``"all"``, or
/// a collection. Every other special token is plain text, or an error if ``disallowed_special``
/// names it. Added tokens that are not special are found in any text, or are an error if
/// ``disallowed_special`` names them. With ``added_tokens="text"``, no added token is found,
/// whatever its properties: the ids are those of a tokenizer without added tokens. Use it for
/// text that is not trusted. ``add_special_tokens=True`` adds the special tokens of the
/// tokenizer's template, and applies its truncation and padding.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> tokenizer.decode(tokenizer.encode("lower"))
/// 'lower'
#[pyclass(frozen, subclass, name = "Tokenizer", module = "bytepair._core")]
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

    /// Decode ids to text.
    ///
    /// An end mark becomes one space between words. ``errors`` says what happens to bytes that are
    /// not UTF-8: ``"replace"`` (by U+FFFD), ``"ignore"`` or ``"strict"``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.decode([257, 68, 81])
    /// 'lower'
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     No token has one of the ids.
    /// EncodingError
    ///     The bytes are not UTF-8, and ``errors`` is ``"strict"``.
    #[pyo3(signature = (ids, *, errors="replace", skip_special_tokens=false))]
    fn decode<'py>(
        &self,
        py: Python<'py>,
        ids: Ids,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Bound<'py, PyString>> {
        let errors = decode_errors(errors)?;
        let decoded = py.detach(|| self.0.decode(&ids.0, errors, skip_special_tokens));
        text(py, &decoded.or_raise()?)
    }

    /// Decode many lists of ids, each as :meth:`decode` does.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.decode_batch([[257], [257, 68, 81]])
    /// ['low', 'lower']
    ///
    /// Raises the errors of :meth:`decode`; the message has the list's index in the batch.
    #[pyo3(signature = (batch, *, errors="replace", skip_special_tokens=false))]
    fn decode_batch<'py>(
        &self,
        py: Python<'py>,
        batch: &Bound<'py, PyAny>,
        errors: &str,
        skip_special_tokens: bool,
    ) -> PyResult<Vec<Bound<'py, PyString>>> {
        let errors = decode_errors(errors)?;
        refuse_set("batch", batch)?;
        let wrong = |index, error| in_batch(py, "list", index, error);
        let rows = batch.try_iter()?.enumerate();
        let rows = rows.map(|(index, row)| {
            row?.extract::<Ids>().map(|ids| ids.0).map_err(|error| wrong(index, error))
        });
        let rows = rows.collect::<PyResult<Vec<_>>>()?;
        let decode = |ids: &Vec<TokenId>| self.0.decode(ids, errors, skip_special_tokens);
        let texts: Vec<_> = py.detach(|| rows.iter().map(decode).collect());
        let texts = texts.into_iter().enumerate();
        texts
            .map(|(index, decoded)| match decoded {
                Ok(decoded) => text(py, &decoded),
                Err(error) => Err(wrong(index, to_python(&error))),
            })
            .collect()
    }

    /// Return the joined bytes of tokens; an end mark becomes a space before the next token.
    ///
    /// The decoder of a file, which may turn ``▁`` into a space, is not applied.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.decode_bytes([257, 68, 81])
    /// b'lower'
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     No token has one of the ids.
    fn decode_bytes<'py>(&self, py: Python<'py>, ids: Ids) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.0.decode_bytes(&ids.0)).or_raise()?;
        self::bytes(py, &bytes)
    }

    /// The number of ids: one more than the largest.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.n_vocab
    /// 258
    #[getter]
    fn n_vocab(&self) -> usize {
        self.0.parts().vocabulary.len()
    }

    /// Return the id of a token, as it is written in the vocabulary, or ``None`` if there is none.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> [tokenizer.token_to_id(token) for token in ("low", b"low", "xy")]
    /// [257, 257, None]
    fn token_to_id(&self, token: BorrowedText<'_>) -> Option<TokenId> {
        self.0.id_of_written(token.bytes)
    }

    /// Return the bytes of a token, as it is written in the vocabulary.
    ///
    /// :class:`bytepair.serving.TokenBytes` has the bytes of text that tokens stand for instead: a space for ``▁``, and
    /// none for special tokens.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.token_bytes(257)
    /// b'low'
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     No token has this id.
    fn token_bytes<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let parts = self.0.parts();
        let token = parts.vocabulary.expect_token(self::id(id)?).or_raise()?;
        Ok(PyBytes::new(py, &parts.units.written(token)))
    }

    /// Return a :class:`bytepair.serving.Session`: a text that grows and changes, with its ids.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session("low lo")
    /// >>> session.append("w")
    /// Patch(keep=2, ids=[257], keep_after=0)
    ///
    /// Raises the errors of :meth:`encode`.
    #[pyo3(signature = (text=None, *, keep_ids=true, **options), text_signature = "($self, text='', *, keep_ids=True, allowed_special=(), disallowed_special=(), added_tokens='find')")]
    fn session(
        slf: &Bound<'_, Self>,
        text: Option<&Bound<'_, PyAny>>,
        keep_ids: bool,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Session> {
        Session::new(slf, text, keep_ids, None, options)
    }

    /// Return an object that shows the parts of the tokenizer, and what it does with a text.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.inspect().merge_log
    /// [(75, 78, 256, 2), (256, 86, 257, 2)]
    fn inspect(&self) -> Inspection {
        Inspection(Arc::clone(&self.0))
    }

    /// The tokens by id; ``None`` for an id without a token.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.vocabulary[256:]
    /// [b'lo', b'low']
    #[getter]
    fn vocabulary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let vocabulary = &self.0.parts().vocabulary;
        let tokens = (0..)
            .take(vocabulary.len())
            .map(|id| vocabulary.token(id).map(|token| shown(&self.0, py, token)));
        PyList::new(py, tokens.collect::<Vec<_>>())
    }

    /// The merges in order, each as its two tokens.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.merges
    /// [(b'l', b'o'), (b'lo', b'w')]
    #[getter]
    fn merges<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let vocabulary = &self.0.parts().vocabulary;
        let shown =
            |id| vocabulary.expect_token(id).map(|token| shown(&self.0, py, token)).or_raise();
        let merges = vocabulary.merges().iter();
        merges.map(|merge| Ok((shown(merge.left)?, shown(merge.right)?))).collect()
    }

    /// The special tokens and their ids.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(
    /// ...     ["low lower"], vocab_size=259, special_tokens=["<|end|>"]
    /// ... )
    /// >>> tokenizer.special_tokens
    /// {'<|end|>': 258}
    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let special = self.0.parts().added.iter().filter(|token| token.special);
        special.map(|token| (&token.content, token.id)).into_py_dict(py)
    }

    /// Return a mapping of tokens, written as in Hugging Face files (``Ġthe``), to ids.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> vocabulary = tokenizer.get_vocab()
    /// >>> vocabulary["low"], vocabulary["Ġ"], len(vocabulary)
    /// (257, 220, 258)
    fn get_vocab<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = self.0.parts();
        let name = |(id, token)| (published_name(&parts.units, token), id);
        parts.vocabulary.iter().map(name).into_py_dict(py)
    }

    /// A hash of everything that affects the results of this tokenizer, in hexadecimal.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> again = bytepair.Tokenizer.from_bytes(tokenizer.to_bytes())
    /// >>> again.fingerprint == tokenizer.fingerprint
    /// True
    #[getter]
    fn fingerprint(&self) -> String {
        bytepair_formats::native::fingerprint(&self.0)
    }
}

/// A token as text, with its marks; bytes that are not UTF-8 are escaped.
pub(crate) fn spelled(units: &Units, token: Token<'_>) -> String {
    escaped(&units.written(token))
}

/// Bytes as text, with escapes for those that are not UTF-8.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}

/// A token as users see it: `bytes` where the units are bytes, else `str`.
fn shown<'py>(tokenizer: &Tokenizer, py: Python<'py>, token: Token<'_>) -> Bound<'py, PyAny> {
    let units = &tokenizer.parts().units;
    let written = units.written(token);
    match units.is_bytes() && token.kind != TokenKind::Unknown {
        true => PyBytes::new(py, &written).into_any(),
        false => PyString::new(py, &String::from_utf8_lossy(&written)).into_any(),
    }
}
