//! `Session`: a growing text with its ids.
//!
//! Calls on one session from several threads run one after the other.

use std::sync::{Arc, Mutex};

use bytepair::serving::Patch;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::CoreTokenizer;
use super::calls::{Arguments, Keywords, Options};
use crate::convert::{Text, number};
use crate::error::{OrRaise, raise};
use crate::output::{self, Width, array};
use crate::reading::lock;

/// A text that grows and changes, with its ids, which are always those of the whole text.
///
/// A change costs what encoding the new text and the end of the text before it takes, usually a word, however long the
/// whole text is. Where nothing proves a cut for long, as in a run of digits that a pattern takes by threes, it costs that
/// run. A session takes about as much memory as its text and four bytes for each id. With ``keep_ids=False``
/// it only counts, and keeps the end of its text alone.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
/// >>> session = tokenizer.session("lo")
/// >>> session.append("wer")
/// Patch(keep=0, ids=[257, 68, 81], keep_after=0)
/// >>> session.ids, len(session)
/// (array([257,  68,  81], dtype=uint32), 3)
///
/// Only the options about special tokens apply; special tokens of a template are not added. A tokenizer that cannot
/// prove where its texts can be cut encodes the whole text after each change, and :meth:`explain` says why.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct Session {
    tokenizer: Py<CoreTokenizer>,
    /// The keywords of the constructor.
    options: Py<PyDict>,
    state: Mutex<State>,
}

/// What a pickle holds: the bytes, characters and ids that are not kept, the text after them, bytes that wait, and half
/// of a pair.
type Pickled = ([usize; 3], Vec<u8>, Vec<u8>, Option<u16>);

#[derive(Clone)]
struct State {
    session: bytepair::Session,
    /// The first half of a surrogate pair at the end of a `str`.
    half: Option<u16>,
}

impl State {
    /// `None` if half of a pair waits for the other one.
    fn append(&mut self, text: &[u8]) -> bytepair::Result<Option<Patch>> {
        match self.half {
            Some(_) if !text.is_empty() => Ok(None),
            _ => self.session.append(text).map(Some),
        }
    }

    /// `None` if half of a pair is not followed by the other one.
    fn append_utf16(&mut self, mut units: Vec<u16>) -> bytepair::Result<Option<Patch>> {
        units.splice(0..0, self.half);
        let half = units.pop_if(|last| matches!(last, 0xD800..=0xDBFF));
        let Ok(text) = String::from_utf16(&units) else { return Ok(None) };
        let patch = self.session.append(text.as_bytes())?;
        self.half = half;
        Ok(Some(patch))
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (tokenizer, text=None, *, keep_ids=true, state=None, **options), text_signature = "(tokenizer, text='', *, keep_ids=True, allowed_special=(), disallowed_special=(), added_tokens='find')")]
    pub(crate) fn new(
        tokenizer: &Bound<'_, CoreTokenizer>,
        text: Option<&Bound<'_, PyAny>>,
        keep_ids: bool,
        state: Option<Pickled>,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let core = Options::of("session", options, &[])?;
        let shared = Arc::clone(&tokenizer.get().0);
        let mut session = bytepair::Session::new(shared, core.core(), keep_ids).or_raise()?;
        let (begun, kept, held, half) = state.unwrap_or_default();
        session.restore(begun, &kept, &held).or_raise()?;
        let options =
            options.map_or_else(|| Ok(PyDict::new(tokenizer.py())), PyDictMethods::copy)?;
        options.set_item("keep_ids", keep_ids)?;
        let session = Self {
            tokenizer: tokenizer.clone().unbind(),
            options: options.unbind(),
            state: Mutex::new(State { session, half }),
        };
        if let Some(text) = text {
            session.append(text)?;
        }
        Ok(session)
    }

    /// Append a text, and return how the ids change.
    ///
    /// Bytes at its end that only begin a character, or the first half of a surrogate pair, wait for the rest:
    /// :attr:`held` shows them.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session("low lo")
    /// >>> session.append("w")
    /// Patch(keep=2, ids=[257], keep_after=0)
    /// >>> session.append(b"\xe2\x80"), session.held
    /// (Patch(keep=3, ids=[], keep_after=0), b'\xe2\x80')
    ///
    /// Raises the errors of ``Tokenizer.encode``; the session is then unchanged.
    fn append<'py>(&self, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        match text.extract::<Text>() {
            Ok(text) => self.changed(py, |state| state.append(text.bytes())),
            Err(error) => {
                let units = utf16(text).map_err(|_| error)?;
                self.changed(py, |state| state.append_utf16(units))
            }
        }
    }

    /// Make the text another one, and return how the ids change. Only what differs is encoded.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session("low low low")
    /// >>> session.update("low lower low")
    /// Patch(keep=3, ids=[68, 81], keep_after=2)
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The session keeps no ids; also the errors of :meth:`append`.
    fn update<'py>(&self, py: Python<'py>, text: Text) -> PyResult<Bound<'py, PyAny>> {
        self.changed(py, |state| {
            let patch = state.session.update(text.bytes())?;
            state.half = None;
            Ok(Some(patch))
        })
    }

    /// Put a text in the place of ``text[start:stop]``, and return how the ids change.
    ///
    /// The places count characters if ``text`` is a ``str``, and bytes if it is ``bytes``. Bytes that only begin a character
    /// do not wait here.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session("low low low")
    /// >>> session.replace(4, 7, "lower")
    /// Patch(keep=3, ids=[68, 81], keep_after=2)
    /// >>> session.text
    /// 'low lower low'
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The places are not in the text, or the session keeps no ids; also the errors of :meth:`append`.
    fn replace<'py>(
        &self,
        start: &Bound<'py, PyAny>,
        stop: &Bound<'py, PyAny>,
        text: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = text.py();
        let (start, stop) = (number::<usize>("start", start)?, number::<usize>("stop", stop)?);
        let (is_text, text) = (text.is_instance_of::<PyString>(), text.extract::<Text>()?);
        self.changed(py, |state| {
            let replaced = match is_text {
                true => state.session.replace_characters(start..stop, text.bytes()),
                false => state.session.replace(start..stop, text.bytes()),
            };
            replaced.map(Some)
        })
    }

    /// Encode bytes that wait as they are, since nothing follows, and return how the ids change.
    ///
    /// ``session.update(session.text)`` drops them instead.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session(b"low\xe2\x80")
    /// >>> session.finish()
    /// Patch(keep=1, ids=[158, 222], keep_after=0)
    ///
    /// Raises
    /// ------
    /// EncodingError
    ///     The dialect requires UTF-8, or half of a surrogate pair waits.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.changed(py, |state| match state.half {
            Some(_) => Ok(None),
            None => state.session.finish().map(Some),
        })
    }

    /// The ids, ``uint32[n]``.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.session("lower").ids
    /// array([257,  68,  81], dtype=uint32)
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The session keeps no ids.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let ids = py.detach(|| lock(&self.state).session.ids()).or_raise()?;
        array(py, ids.into(), Width::Bits32)
    }

    /// The text, without what waits; bytes that are not UTF-8 are replaced by U+FFFD.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.session("lower").text
    /// 'lower'
    ///
    /// Raises
    /// ------
    /// TokenizerError
    ///     The session keeps no ids.
    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        let text = py.detach(|| lock(&self.state).session.text()).or_raise()?;
        crate::output::text(py, &String::from_utf8_lossy(&text))
    }

    /// The number of ids that no continuation can change. They are the first ones.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session("low lower")
    /// >>> session.n_stable, len(session)
    /// (4, 5)
    #[getter]
    pub(crate) fn n_stable(&self) -> usize {
        lock(&self.state).session.n_stable()
    }

    /// What waits for the next text and has no ids yet: bytes that only begin a character, or the first half of a surrogate
    /// pair, as ``"surrogatepass"`` encodes it.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.session(b"low\xe2\x80").held
    /// b'\xe2\x80'
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = lock(&self.state);
        let (mut held, half) = (state.session.held().to_vec(), state.half);
        // The lock is released before Python runs.
        drop(state);
        held.extend(half.iter().flat_map(|half| {
            let [low, high] = half.to_le_bytes();
            [0xED, 0xA0 | (high & 3) << 2 | low >> 6, 0x80 | low & 0x3F]
        }));
        output::bytes(py, &held)
    }

    /// Return why no id can be proven to be stable, or ``None``.
    ///
    /// >>> import bytepair
    /// >>> own = "(?<=a)b|."
    /// >>> tokenizer = bytepair.train_from_iterator(["aab"], merges=1, pattern=own)
    /// >>> tokenizer.session("low").explain()
    /// 'the split pattern needs backtracking'
    fn explain(&self) -> Option<&'static str> {
        lock(&self.state).session.explain()
    }

    /// Return an independent session in the same state. Both share the memory of the text before.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> session = tokenizer.session("low")
    /// >>> trial = session.fork()
    /// >>> _ = trial.append("er")
    /// >>> len(trial), len(session)
    /// (3, 1)
    fn fork(&self, py: Python<'_>) -> Self {
        Self {
            tokenizer: self.tokenizer.clone_ref(py),
            options: self.options.clone_ref(py),
            state: Mutex::new(py.detach(|| lock(&self.state).clone())),
        }
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        let state = lock(&self.state).clone();
        let options = self.options.bind(py).copy()?;
        let (begun, text) = state.session.state();
        let held = PyBytes::new(py, state.session.held());
        options.set_item("state", (begun, PyBytes::new(py, &text), held, state.half))?;
        Ok(((self.tokenizer.clone_ref(py),), options))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.state).session.n_ids())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<bytepair.serving.Session: {} ids>", self.__len__(py))
    }
}

impl Session {
    /// Changes the state. An error becomes an exception after the lock is released, so that no thread waits for the GIL
    /// while it holds the lock.
    fn changed<'py>(
        &self,
        py: Python<'py>,
        change: impl FnOnce(&mut State) -> bytepair::Result<Option<Patch>> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        let patch = py.detach(|| change(&mut lock(&self.state)));
        let message = "half of a surrogate pair is not followed by the other one";
        let patch = patch.or_raise()?.ok_or_else(|| raise("EncodingError", message))?;
        output::patch(py, patch)
    }
}

/// The code units of a `str` that has halves of surrogate pairs.
fn utf16(text: &Bound<'_, PyAny>) -> PyResult<Vec<u16>> {
    let arguments = ("utf-16-le", "surrogatepass");
    let units: Vec<u8> = text.cast::<PyString>()?.call_method1("encode", arguments)?.extract()?;
    Ok(units.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]])).collect())
}
