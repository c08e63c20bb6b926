//! `DecodeStream` decodes ids as they arrive.
//!
//! Calls on one stream from several threads run one after the other. A stream stores its ids, four bytes each: a pickle
//! holds them, and unpickling decodes them again.

use std::sync::Mutex;

use bytepair::Tokenizer;
use bytepair::decode::{Given, Stops};
use bytepair::vocabulary::TokenId;
use pyo3::prelude::*;

use super::CoreTokenizer;
use super::calls::Arguments;
use crate::convert::{DECODE_ERRORS, Ids, extract, id, plain_id, value_of};
use crate::error::OrRaise;
use crate::output::{bytes, text};
use crate::reading::lock;

/// Decodes ids as they arrive, to whole characters.
///
/// ``stop`` are texts that end the text, and ``stop_ids`` ids that do. Text that could become a stop text is held back, and
/// of several stop texts the one that ends first counts, of those the longest. ``stopped`` says which it was; ids after
/// it are not used. With ``keep_stop=True`` the stop is part of the text, and the text of a stop id is searched, too. The
/// text of ``prompt_ids`` is not given out. With ``errors="bytes"`` a stream gives ``bytes`` as they are, instead of text.
///
/// >>> import bytepair
/// >>> tokenizer = bytepair.train_from_iterator(["…"], vocab_size=256)
/// >>> stream = bytepair.DecodeStream(tokenizer)
/// >>> [stream.push(id) for id in tokenizer.encode("…")]
/// ['', '', '…']
/// >>> stream = bytepair.DecodeStream(tokenizer, stop=["</t>"])
/// >>> stream.push(tokenizer.encode("a<b</")), stream.push(tokenizer.encode("t>c"))
/// ('a<b', '')
/// >>> stream.stopped, stream.n_used
/// ('</t>', 7)
///
/// >>> stream = bytepair.DecodeStream(tokenizer, errors="bytes")
/// >>> [stream.push(id) for id in tokenizer.encode("…")]
/// [b'\xe2', b'\x80', b'\xa6']
///
/// A pickle stores the tokenizer and all ids so far.
#[pyclass(frozen, generic, module = "bytepair._core")]
pub(crate) struct DecodeStream {
    tokenizer: Py<CoreTokenizer>,
    options: Options,
    state: Mutex<State>,
}

/// How a stream was made, as keywords.
#[derive(Clone, IntoPyObject)]
struct Options {
    errors: String,
    skip_special_tokens: bool,
    stop: Vec<String>,
    stop_ids: Vec<TokenId>,
    keep_stop: bool,
    prompt_ids: Vec<TokenId>,
}

/// The state, which changes with each id.
#[derive(Clone)]
struct State {
    stream: bytepair::DecodeStream,
    stops: Stops,
    ids: Vec<TokenId>,
    stopped: Option<Stopped>,
    is_finished: bool,
}

/// What ended a text.
#[derive(Clone, IntoPyObject)]
enum Stopped {
    Text(String),
    Id(TokenId),
}

impl State {
    /// Adds ids up to the first that ends the text. An error leaves everything as it was.
    fn push(
        &mut self,
        tokenizer: &Tokenizer,
        options: &Options,
        ids: &[TokenId],
    ) -> bytepair::Result<Vec<u8>> {
        // A single id without a token is refused before anything changes.
        let may_change = ids.len() > 1 || options.errors == "strict";
        let before = may_change.then(|| (self.stream.clone(), self.stops.clone(), self.ids.len()));
        let mut given = Vec::new();
        let pushed = ids.iter().try_for_each(|&id| {
            if self.stopped.is_none() {
                given.extend(self.push_one(tokenizer, options, id)?);
            }
            Ok(())
        });
        if let (Err(_), Some((stream, stops, n_ids))) = (&pushed, before) {
            (self.stream, self.stops) = (stream, stops);
            self.ids.truncate(n_ids);
        }
        pushed.map(|()| given)
    }

    fn push_one(
        &mut self,
        tokenizer: &Tokenizer,
        options: &Options,
        id: TokenId,
    ) -> bytepair::Result<Vec<u8>> {
        let is_stop = options.stop_ids.contains(&id);
        let mut text = Vec::new();
        if !is_stop || options.keep_stop {
            text = self.stream.push(tokenizer, id)?;
        }
        if is_stop {
            text.extend(self.stream.finish()?);
        }
        self.ids.push(id);
        let mut given = self.given(options, text);
        if is_stop {
            given.extend(self.stops.finish());
            self.stopped.get_or_insert(Stopped::Id(id));
        }
        Ok(given)
    }

    /// What can be given out after more text.
    fn given(&mut self, options: &Options, more: Vec<u8>) -> Vec<u8> {
        if options.stop.is_empty() {
            return more;
        }
        let Given { mut text, stop, .. } = self.stops.push(&more);
        if let Some(stop) = stop.and_then(|index| options.stop.get(index)) {
            text.extend(stop.bytes().filter(|_| options.keep_stop));
            self.stopped = Some(Stopped::Text(stop.clone()));
        }
        text
    }

    fn finish(&mut self, options: &Options) -> bytepair::Result<Vec<u8>> {
        let rest = self.stream.finish()?;
        self.is_finished = true;
        if self.stopped.is_some() {
            return Ok(Vec::new());
        }
        let mut given = self.given(options, rest);
        given.extend(self.stops.finish());
        Ok(given)
    }
}

#[pymethods]
impl DecodeStream {
    /// A stream that has already decoded ``ids``.
    #[new]
    #[pyo3(
        signature = (tokenizer, *, errors="replace", skip_special_tokens=false, stop=Vec::new(), stop_ids=None, keep_stop=false, prompt_ids=None, ids=None, is_finished=false),
        text_signature = "(tokenizer, *, errors='replace', skip_special_tokens=False, stop=(), stop_ids=None, keep_stop=False, prompt_ids=None, ids=None, is_finished=False)"
    )]
    fn restored(
        tokenizer: &Bound<'_, CoreTokenizer>,
        errors: &str,
        skip_special_tokens: bool,
        stop: Vec<Bound<'_, PyAny>>,
        stop_ids: Option<Ids>,
        keep_stop: bool,
        prompt_ids: Option<Ids>,
        ids: Option<Ids>,
        is_finished: bool,
    ) -> PyResult<Self> {
        let row = |ids: Option<Ids>| ids.map_or_else(Vec::new, |ids| ids.0);
        let options = Options {
            errors: errors.to_owned(),
            skip_special_tokens,
            stop: stop.iter().map(|text| extract("stop", text)).collect::<PyResult<_>>()?,
            stop_ids: row(stop_ids),
            keep_stop,
            prompt_ids: row(prompt_ids),
        };
        let errors = value_of("errors", errors, &DECODE_ERRORS)?;
        let core = &tokenizer.get().0;
        let known = |&id: &TokenId| core.parts().vocabulary.expect_token(id).map(drop);
        options.stop_ids.iter().try_for_each(known).or_raise()?;
        let mut state = State {
            stream: bytepair::DecodeStream::new(errors, skip_special_tokens),
            stops: Stops::new(&options.stop).or_raise()?,
            ids: Vec::new(),
            stopped: None,
            is_finished: false,
        };
        let push = |&id: &TokenId| state.stream.push(core, id).map(drop);
        options.prompt_ids.iter().try_for_each(push).or_raise()?;
        state.push(core, &options, &row(ids)).or_raise()?;
        if is_finished {
            state.finish(&options).or_raise()?;
        }
        let tokenizer = tokenizer.clone().unbind();
        Ok(Self { tokenizer, options, state: Mutex::new(state) })
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
    fn push<'py>(&self, ids: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = ids.py();
        let ids = match plain_id(ids) {
            Some(id) => vec![id],
            None if ids.try_iter().is_ok() => ids.extract::<Ids>()?.0,
            None => vec![id(ids)?],
        };
        self.changed(py, |state| state.push(&self.tokenizer.get().0, &self.options, &ids))
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
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.changed(py, |state| state.finish(&self.options))
    }

    /// The stop that ended the text, a text or an id; ``None`` if none did.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> stream = bytepair.DecodeStream(tokenizer, stop_ids=[257])
    /// >>> stream.push([68, 257, 81]), stream.stopped
    /// ('e', 257)
    #[getter]
    fn stopped(&self) -> Option<Stopped> {
        lock(&self.state).stopped.clone()
    }

    /// The number of ids that were used, those of the stop included. Ids after a stop are not.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> stream = bytepair.DecodeStream(tokenizer, stop=["w"])
    /// >>> stream.push([257, 68, 81]), stream.n_used
    /// ('lo', 1)
    #[getter]
    fn n_used(&self) -> usize {
        lock(&self.state).ids.len()
    }

    /// Return an independent stream in the same state.
    ///
    /// >>> import bytepair
    /// >>> tokenizer = bytepair.train_from_iterator(["low lower"], vocab_size=258)
    /// >>> stream = bytepair.DecodeStream(tokenizer)
    /// >>> trial = stream.fork()
    /// >>> trial.push(257), stream.push([68, 81])
    /// ('low', 'er')
    fn fork(&self, py: Python<'_>) -> Self {
        Self {
            tokenizer: self.tokenizer.clone_ref(py),
            options: self.options.clone(),
            state: Mutex::new(lock(&self.state).clone()),
        }
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<Arguments<'py>> {
        let state = lock(&self.state).clone();
        let options = self.options.clone().into_pyobject(py)?;
        options.set_item("ids", state.ids)?;
        options.set_item("is_finished", state.is_finished)?;
        Ok(((self.tokenizer.clone_ref(py),), options))
    }
}

impl DecodeStream {
    /// Changes the state. An error becomes an exception after the lock is released, so that no thread waits for the GIL while
    /// it holds the lock.
    fn changed<'py>(
        &self,
        py: Python<'py>,
        change: impl FnOnce(&mut State) -> bytepair::Result<Vec<u8>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = change(&mut lock(&self.state));
        let given = given.or_raise()?;
        match &*self.options.errors {
            "bytes" => Ok(bytes(py, &given)?.into_any()),
            _ => Ok(text(py, &String::from_utf8_lossy(&given))?.into_any()),
        }
    }
}
