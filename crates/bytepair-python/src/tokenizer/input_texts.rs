//! Texts for calls that encode, which reach the core as UTF-8.
//!
//! A text is `bytes`, a `str` with UTF-8 of Python's, or code points (`code_points`), whose UTF-8 is made here, without the
//! GIL. Where that cannot be done Python is asked for it, and says why: at a lone surrogate, or where memory ends. Of a
//! batch the first text in order that has no UTF-8 is to blame, whatever else is wrong with others.
//!
//! Costs memory for the UTF-8 as long as the call, and what making it costs. A large batch is shared among threads.

use std::thread;

use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::code_points::{CodePoints, Held};
use crate::convert::{Given, Text, extend_by_each, in_batch};
use crate::error::to_python;
use crate::recycled::{recycle, recycled_for};

/// A thread that has less to do is not worth it, in bytes of UTF-8.
const MIN_LEN_OF_THREAD: usize = 1 << 20;

/// A text that is an argument of a call, whose caller holds it as long.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, 'py> {
    text: Form<'a>,
    object: Borrowed<'a, 'py, PyAny>,
}

#[derive(Clone, Copy)]
enum Form<'a> {
    Utf8(&'a [u8]),
    CodePoints(CodePoints<'a>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let code_points = object.cast::<PyString>().ok().and_then(CodePoints::of);
        let text = match code_points {
            Some(code_points) => Form::CodePoints(code_points),
            None => Form::Utf8(Given::extract(object)?.bytes),
        };
        Ok(Self { text, object })
    }
}

impl<'a> Source<'a, '_> {
    /// The text if it has at most so many bytes.
    pub(crate) fn up_to(self, max_len: usize) -> Option<&'a [u8]> {
        match self.text {
            Form::Utf8(text) if text.len() <= max_len => Some(text),
            _ => None,
        }
    }

    /// Calls `work` with the text, without the GIL.
    pub(crate) fn with_utf8<R: Send>(
        self,
        py: Python<'_>,
        work: impl Fn(&[u8]) -> bytepair::Result<R> + Send + Sync,
    ) -> PyResult<R> {
        let in_memory = |utf8: Vec<u8>| {
            let done = work(&utf8);
            recycle(utf8);
            done
        };
        let done = match self.text {
            Form::Utf8(text) => Some(py.detach(|| work(text))),
            Form::CodePoints(code_points) => py.detach(|| {
                let memory = recycled_for(code_points.expected_len());
                code_points.utf8_in(memory).map(in_memory)
            }),
        };
        let done = if let Some(done) = done {
            done
        } else {
            let text = Given::extract(self.object)?.bytes;
            py.detach(|| work(text))
        };
        done.map_err(|error| to_python(&error))
    }
}

/// A text of a collection, which it outlives.
enum SourceOfMany {
    Utf8(Text),
    CodePoints(Held),
}

impl FromPyObject<'_, '_> for SourceOfMany {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.cast::<PyString>().ok().and_then(|text| Held::new(&text)) {
            Some(held) => Ok(Self::CodePoints(held)),
            None => Text::extract(object).map(Self::Utf8),
        }
    }
}

impl SourceOfMany {
    fn expected_len(&self) -> usize {
        match self {
            Self::Utf8(text) => text.bytes().len(),
            Self::CodePoints(held) => held.code_points().expected_len(),
        }
    }

    /// The UTF-8 of code points, if it can be made.
    fn made(&self) -> Option<Vec<u8>> {
        let Self::CodePoints(held) = self else { return None };
        let mut utf8 = held.code_points().utf8_in(Vec::new())?;
        utf8.shrink_to_fit();
        Some(utf8)
    }
}

/// The texts of a batch.
pub(crate) struct Sources(Vec<SourceOfMany>);

impl Sources {
    pub(crate) fn new(texts: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut sources = Self(Vec::new());
        match extend_by_each(&mut sources.0, texts, |text| text.extract()) {
            Ok(()) => Ok(sources),
            Err(error) => Err(sources.first_wrong(texts.py(), error)),
        }
    }

    /// About how many bytes each text has.
    pub(crate) fn lens(&self) -> impl Iterator<Item = usize> {
        self.0.iter().map(SourceOfMany::expected_len)
    }

    /// What Python says of the first text that has no UTF-8; else the error that is given.
    pub(crate) fn first_wrong(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let wrong = |(index, source): (usize, &SourceOfMany)| match source {
            SourceOfMany::Utf8(_) => None,
            SourceOfMany::CodePoints(held) => made_by_python(py, index, held).err(),
        };
        self.0.iter().enumerate().find_map(wrong).unwrap_or(error)
    }

    /// All texts as UTF-8, made on at most so many threads.
    pub(crate) fn into_texts(self, py: Python<'_>, n_threads: usize) -> PyResult<Vec<Text>> {
        let has_code_points = |source: &SourceOfMany| matches!(source, SourceOfMany::CodePoints(_));
        let made = match self.0.iter().any(has_code_points) {
            true => py.detach(|| self.made(n_threads)),
            false => Vec::new(),
        };
        let mut made = made.into_iter();
        let text = |(index, source)| match (source, made.next().flatten()) {
            (SourceOfMany::Utf8(text), _) => Ok(text),
            (SourceOfMany::CodePoints(_), Some(utf8)) => Ok(Text::Made(utf8)),
            (SourceOfMany::CodePoints(held), None) => made_by_python(py, index, &held),
        };
        self.0.into_iter().enumerate().map(text).collect()
    }

    /// For each text the UTF-8 of its code points, if it has any that can be made UTF-8.
    fn made(&self, n_threads: usize) -> Vec<Option<Vec<u8>>> {
        let mut made = vec![None; self.0.len()];
        let n_threads = n_threads.min(self.lens().sum::<usize>() / MIN_LEN_OF_THREAD).max(1);
        let n_each = self.0.len().div_ceil(n_threads).max(1);
        let make = |made: &mut [_], sources: &[SourceOfMany]| {
            made.iter_mut().zip(sources).for_each(|(made, source)| *made = source.made());
        };
        thread::scope(|scope| {
            let mut parts = made.chunks_mut(n_each).zip(self.0.chunks(n_each));
            let own = parts.next();
            for (made, sources) in parts {
                let work = move || make(made, sources);
                // Where the system gives no thread, Python makes the UTF-8 of that part.
                drop(thread::Builder::new().spawn_scoped(scope, work));
            }
            own.into_iter().for_each(|(made, sources)| make(made, sources));
        });
        made
    }
}

/// The UTF-8 of a text of a batch, made by Python, or the reason that there is none.
fn made_by_python(py: Python<'_>, index: usize, held: &Held) -> PyResult<Text> {
    held.text().bind(py).extract().map_err(|error| in_batch(py, index, error))
}
