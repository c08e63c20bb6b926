//! `Session`: a growing text with its ids.
//!
//! Calls on one session from several threads run one after the other.

use std::sync::{Arc, Mutex};

use bytepair::ErrorKind;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::CoreTokenizer;
use super::calls::{Keywords, Options};
use crate::convert::{Text, number};
use crate::error::{OrRaise, raise};
use crate::output::{Width, array};
use crate::patch::Patch;
use crate::reading::lock;

/// A text that grows and changes, with its ids, which are always those of the whole text.
///
/// A change costs what encoding the new text and the end of the text before it takes, usually a word, however long the
/// whole text is. A session takes about as much memory as its text and four bytes for each id. With ``keep_ids=False``
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

/// What a pickle holds: the bytes, characters and ids that are not kept, the text after them, and half of a pair.
type Pickled = ([usize; 3], Vec<u8>, Option<u16>);

#[derive(Clone)]
struct State {
    session: bytepair::Session,
    /// The first half of a surrogate pair at the end of a `str`.
    surrogate: Option<u16>,
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
        let session = Self::made("Session", tokenizer, None, keep_ids, options)?;
        if let Some((begun, text, half)) = state {
            let mut state = lock(&session.state);
            state.session.restore(begun, &text).or_raise()?;
            state.surrogate = half;
        }
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
    fn append(&self, text: &Bound<'_, PyAny>) -> PyResult<Patch> {
        let py = text.py();
        let (text, surrogate) = self.joined(text)?;
        self.changed(py, |state| {
            let patch = state.session.append(text.bytes())?;
            state.surrogate = surrogate;
            Ok(patch)
        })
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
    fn update(&self, py: Python<'_>, text: Text) -> PyResult<Patch> {
        self.changed(py, |state| {
            let patch = state.session.update(text.bytes())?;
            state.surrogate = None;
            Ok(patch)
        })
    }

    /// Put a text in the place of ``text[start:stop]``, and return how the ids change.
    ///
    /// The places count characters if ``text`` is a ``str``, and bytes if it is ``bytes``.
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
    fn replace(
        &self,
        start: &Bound<'_, PyAny>,
        stop: &Bound<'_, PyAny>,
        text: &Bound<'_, PyAny>,
    ) -> PyResult<Patch> {
        let py = text.py();
        let (start, stop) = (number::<usize>("start", start)?, number::<usize>("stop", stop)?);
        let (is_text, text) = (text.is_instance_of::<PyString>(), text.extract::<Text>()?);
        self.changed(py, |state| {
            let session = &mut state.session;
            let (n_characters, place) = (session.n_characters(), |c| session.byte_place(c));
            let range = match is_text {
                true if start <= stop && stop <= n_characters => place(start)..place(stop),
                true => {
                    let problem =
                        format!("{start} to {stop} is not in a text of {n_characters} characters");
                    return Err(ErrorKind::Option { name: "start", problem }.into());
                }
                false => start..stop,
            };
            session.replace(range, text.bytes())
        })
    }

    /// Encode bytes that wait as they are, since nothing follows, and return how the ids change.
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
    fn finish(&self, py: Python<'_>) -> PyResult<Patch> {
        if lock(&self.state).surrogate.is_some() {
            let message = "the text ends with the first half of a surrogate pair";
            return Err(raise("EncodingError", message));
        }
        self.changed(py, |state| state.session.finish())
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
        self.check_kept()?;
        let ids = py.detach(|| lock(&self.state).session.ids());
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
        self.check_kept()?;
        let text = py.detach(|| lock(&self.state).session.text());
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
    fn n_stable(&self) -> usize {
        lock(&self.state).session.n_stable()
    }

    /// What waits for the next text: bytes that only begin a character, or the first half of a surrogate pair as
    /// ``str``. It has no ids yet.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> tokenizer.session(b"low\xe2\x80").held
    /// b'\xe2\x80'
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // The lock is released before Python runs.
        let (surrogate, held) = {
            let state = lock(&self.state);
            (state.surrogate, state.session.held().to_vec())
        };
        match surrogate {
            Some(half) => PyBytes::new(py, &half.to_le_bytes())
                .call_method1("decode", ("utf-16-le", "surrogatepass")),
            None => Ok(PyBytes::new(py, &held).into_any()),
        }
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

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.fork(py)
    }

    /// A tokenizer never changes, so a deep copy shares it.
    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.fork(py)
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Py<CoreTokenizer>,), Bound<'py, PyDict>)> {
        let state = lock(&self.state).clone();
        let options = self.options.bind(py).copy()?;
        let (begun, text) = state.session.state();
        options.set_item("state", (begun, PyBytes::new(py, &text), state.surrogate))?;
        Ok(((self.tokenizer.clone_ref(py),), options))
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| lock(&self.state).session.len())
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("<bytepair.serving.Session: {} ids>", self.__len__(py))
    }
}

impl Session {
    /// A session of a text, for a function or method with this name.
    pub(crate) fn made(
        name: &str,
        tokenizer: &Bound<'_, CoreTokenizer>,
        text: Option<&Bound<'_, PyAny>>,
        keep_ids: bool,
        options: Option<Keywords<'_, '_>>,
    ) -> PyResult<Self> {
        let core = Options::of(name, options, &[])?;
        let shared = Arc::clone(&tokenizer.get().0);
        let session = bytepair::Session::new(shared, core.core(), keep_ids).or_raise()?;
        let py = tokenizer.py();
        let options = options.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
        options.set_item("keep_ids", keep_ids)?;
        let session = Self {
            tokenizer: tokenizer.clone().unbind(),
            options: options.unbind(),
            state: Mutex::new(State { session, surrogate: None }),
        };
        if let Some(text) = text {
            session.append(text)?;
        }
        Ok(session)
    }

    fn check_kept(&self) -> PyResult<()> {
        let keeps_ids = lock(&self.state).session.keeps_ids();
        match keeps_ids {
            true => Ok(()),
            false => Err(raise("TokenizerError", "the session was made with keep_ids=False")),
        }
    }

    /// A text after what waits, and the first half of a surrogate pair that then waits.
    fn joined(&self, text: &Bound<'_, PyAny>) -> PyResult<(Text, Option<u16>)> {
        let before = lock(&self.state).surrogate;
        let Ok(text) = text.cast::<PyString>() else {
            if before.is_some() {
                let message = "the text before ends with the first half of a surrogate pair";
                return Err(raise("EncodingError", message));
            }
            return Ok((text.extract()?, None));
        };
        if before.is_none()
            && let Ok(text) = text.extract()
        {
            return Ok((text, None));
        }
        let pair = ("utf-16-le", "surrogatepass");
        let units = text.call_method1("encode", pair)?.extract::<Vec<u8>>()?;
        let units = units.chunks_exact(2).map(|unit| u16::from_le_bytes([unit[0], unit[1]]));
        let mut units: Vec<u16> = before.into_iter().chain(units).collect();
        let half = units.pop_if(|last| matches!(last, 0xD800..=0xDBFF));
        let bytes: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let text = PyBytes::new(text.py(), &bytes).call_method1("decode", pair)?;
        Ok((text.extract()?, half))
    }

    /// Changes the state. An error becomes an exception after the lock is released, so that no thread waits for the GIL
    /// while it holds the lock.
    fn changed(
        &self,
        py: Python<'_>,
        change: impl FnOnce(&mut State) -> bytepair::Result<bytepair::serving::Patch> + Send,
    ) -> PyResult<Patch> {
        let patch = py.detach(|| change(&mut lock(&self.state)));
        patch.map(Patch).or_raise()
    }
}
