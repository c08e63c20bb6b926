//! Texts for calls that encode: bytes, or a `str` that Python has no UTF-8 of.
//!
//! What is wrong with such a text shows when its UTF-8 is made, which may be late. The error is the same as if Python had
//! made it at once: where a call fails, Python is asked for the UTF-8 of each text, in order, and the first that has
//! none is to blame. Where another argument is wrong too, that may be told first.

use bytepair::Text as CoreText;
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::calls::{extend_by_each, in_batch};
use crate::code_units::{Held, units};
use crate::convert::{Given, Text};
use crate::error::to_python;

/// A text that is an argument of a call, whose caller holds it as long.
#[derive(Clone, Copy)]
pub(crate) struct Source<'a, 'py> {
    pub(crate) text: CoreText<'a>,
    object: Borrowed<'a, 'py, PyAny>,
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source<'a, 'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let units = object.cast::<PyString>().ok().and_then(units);
        let text = match units {
            Some(units) => CoreText::Units(units),
            None => CoreText::Bytes(Given::extract(object)?.bytes),
        };
        Ok(Self { text, object })
    }
}

impl Source<'_, '_> {
    /// The exception for an error of a call with this text.
    pub(crate) fn exception(self, error: &bytepair::Error) -> PyErr {
        Given::extract(self.object).err().unwrap_or_else(|| to_python(error))
    }
}

/// A text of a collection, which it outlives.
enum SourceOfMany {
    Made(Text),
    Unmade(Held),
}

impl FromPyObject<'_, '_> for SourceOfMany {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let held = object.cast::<PyString>().ok().and_then(|text| Held::new(&text));
        held.map_or_else(|| Text::extract(object).map(Self::Made), |held| Ok(Self::Unmade(held)))
    }
}

impl SourceOfMany {
    fn text(&self) -> CoreText<'_> {
        match self {
            Self::Made(text) => CoreText::Bytes(text.bytes()),
            Self::Unmade(held) => CoreText::Units(held.units()),
        }
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

    pub(crate) fn texts(&self) -> Vec<CoreText<'_>> {
        self.0.iter().map(SourceOfMany::text).collect()
    }

    /// What Python says of the first text that has no UTF-8; else the error of a call with them.
    pub(crate) fn first_wrong(&self, py: Python<'_>, error: PyErr) -> PyErr {
        let wrong = |(index, source): (usize, &SourceOfMany)| match source {
            SourceOfMany::Made(_) => None,
            SourceOfMany::Unmade(held) => {
                let error = held.text().bind(py).extract::<Text>().err()?;
                Some(in_batch(py, index, error))
            }
        };
        self.0.iter().enumerate().find_map(wrong).unwrap_or(error)
    }
}
