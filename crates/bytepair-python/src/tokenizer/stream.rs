//! `DecodeStream` decodes ids as they arrive.
//!
//! Calls on one stream from several threads run one after the other. A stream stores its ids, four bytes each: a pickle
//! holds them, and unpickling decodes them again.

use std::sync::Mutex;

use bytepair::Tokenizer;
use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use super::CoreTokenizer;
use crate::convert::{Ids, decode_errors, id, plain_id};
use crate::error::OrRaise;
use crate::reading::lock;

/// Decodes ids as they arrive, to whole characters.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
/// >>> stream = bytepair.DecodeStream(tokenizer)
/// >>> [stream.push(id) for id in tokenizer.encode("…")]
/// ['', '', '…']
///
/// A copy of a stream shares the tokenizer. A pickle stores the tokenizer and all ids so far.
#[pyclass(frozen, module = "bytepair._core")]
pub(crate) struct DecodeStream {
    tokenizer: Py<CoreTokenizer>,
    errors: String,
    skip_special_tokens: bool,
    state: Mutex<State>,
}

/// The state, which changes with each id.
#[derive(Clone)]
struct State {
    stream: bytepair::DecodeStream,
    ids: Vec<TokenId>,
    is_finished: bool,
}

impl State {
    /// Adds ids up to the first without a token.
    fn push(&mut self, tokenizer: &Tokenizer, ids: &[TokenId]) -> bytepair::Result<String> {
        let push = |&id: &TokenId| {
            let text = self.stream.push(tokenizer, id)?;
            self.ids.push(id);
            Ok(text)
        };
        ids.iter().map(push).collect()
    }

    fn finish(&mut self) -> bytepair::Result<String> {
        self.is_finished = true;
        self.stream.finish()
    }
}

#[pymethods]
impl DecodeStream {
    /// A stream that has already decoded these ids.
    #[new]
    #[pyo3(signature = (tokenizer, *, errors="replace", skip_special_tokens=false, ids=None, is_finished=false))]
    fn restored(
        tokenizer: &Bound<'_, CoreTokenizer>,
        errors: &str,
        skip_special_tokens: bool,
        ids: Option<Ids>,
        is_finished: bool,
    ) -> PyResult<Self> {
        let stream = bytepair::DecodeStream::new(decode_errors(errors)?, skip_special_tokens);
        let mut state = State { stream, ids: Vec::new(), is_finished: false };
        let ids = ids.map_or_else(Vec::new, |ids| ids.0);
        state.push(&tokenizer.get().0, &ids).or_raise()?;
        if is_finished {
            state.finish().or_raise()?;
        }
        Ok(Self {
            tokenizer: tokenizer.clone().unbind(),
            errors: errors.to_owned(),
            skip_special_tokens,
            state: Mutex::new(state),
        })
    }

    /// Add one id or several, and return the text that they complete.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> stream = bytepair.DecodeStream(tokenizer)
    /// >>> stream.push([257, 68])
    /// 'lowe'
    ///
    /// Raises
    /// ------
    /// UnknownTokenError
    ///     No token has one of the ids.
    /// EncodingError
    ///     The bytes are not UTF-8, and the stream's ``errors`` is ``"strict"``.
    fn push(&self, ids: &Bound<'_, PyAny>) -> PyResult<String> {
        let ids = match plain_id(ids) {
            Some(id) => vec![id],
            None if ids.try_iter().is_ok() => ids.extract::<Ids>()?.0,
            None => vec![id(ids)?],
        };
        self.changed(|state| state.push(&self.tokenizer.get().0, &ids))
    }

    /// Return the rest of the text at its end, such as the bytes of half a character.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
    /// >>> stream = bytepair.DecodeStream(tokenizer)
    /// >>> stream.push(tokenizer.encode("…")[0]), stream.finish()
    /// ('', '\ufffd')
    ///
    /// Raises
    /// ------
    /// EncodingError
    ///     The bytes are not UTF-8, and the stream's ``errors`` is ``"strict"``.
    fn finish(&self) -> PyResult<String> {
        self.changed(State::finish)
    }

    /// Return an independent stream in the same state.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> stream = bytepair.DecodeStream(tokenizer)
    /// >>> trial = stream.copy()
    /// >>> trial.push(257), stream.push([68, 81])
    /// ('low', 'er')
    fn copy(&self, py: Python<'_>) -> Self {
        Self {
            tokenizer: self.tokenizer.clone_ref(py),
            errors: self.errors.clone(),
            skip_special_tokens: self.skip_special_tokens,
            state: Mutex::new(lock(&self.state).clone()),
        }
    }

    fn __copy__(&self, py: Python<'_>) -> Self {
        self.copy(py)
    }

    /// A tokenizer never changes, so a deep copy shares it.
    fn __deepcopy__(&self, py: Python<'_>, _memo: &Bound<'_, PyAny>) -> Self {
        self.copy(py)
    }

    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<((Py<CoreTokenizer>,), Bound<'py, PyDict>)> {
        let state = lock(&self.state).clone();
        let options = [("errors", self.errors.as_str())].into_py_dict(py)?;
        options.set_item("skip_special_tokens", self.skip_special_tokens)?;
        options.set_item("ids", state.ids)?;
        options.set_item("is_finished", state.is_finished)?;
        Ok(((self.tokenizer.clone_ref(py),), options))
    }
}

impl DecodeStream {
    /// Changes the state. An error becomes an exception after the lock is released, so that no thread waits for the GIL while
    /// it holds the lock.
    fn changed(
        &self,
        change: impl FnOnce(&mut State) -> bytepair::Result<String>,
    ) -> PyResult<String> {
        let text = change(&mut lock(&self.state));
        text.or_raise()
    }
}
