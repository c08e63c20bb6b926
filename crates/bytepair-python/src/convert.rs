//! Python values as values of the core.

use bytepair::AddedTokens;
use bytepair::added::Specials;
use bytepair::decode::DecodeErrors;
use bytepair::train::Target;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyMemoryError, PyOverflowError, PyTypeError, PyUnicodeEncodeError};
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};
use pyo3::types::{PyBool, PyBytes, PyFrozenSet, PyList, PySet, PyString};

use crate::error::{argument, ask, raise};
use crate::importing::may_be_array;

/// More threads than this never help, and each takes memory.
const MAX_THREADS: usize = 256;

/// A text borrowed from an argument of a call: `str` or `bytes`.
#[derive(Clone, Copy)]
pub(crate) struct BorrowedText<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) is_str: bool,
}

impl<'a, 'py> FromPyObject<'a, 'py> for BorrowedText<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            let utf8: &str = object.extract().map_err(|error| lone_surrogate(&object, error))?;
            return Ok(Self { bytes: utf8.as_bytes(), is_str: true });
        }
        let bytes = object.extract().map_err(|_| not_a_text(&object))?;
        Ok(Self { bytes, is_str: false })
    }
}

/// A text that may outlive the collection it comes from: `str` or `bytes`.
pub(crate) enum Text {
    Str(PyBackedStr),
    Bytes(PyBackedBytes),
}

impl Text {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Str(text) => text.as_bytes(),
            Self::Bytes(text) => text,
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for Text {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyString>() {
            return object.extract().map(Self::Str).map_err(|error| lone_surrogate(&object, error));
        }
        let bytes = object.cast::<PyBytes>().map_err(|_| not_a_text(&object))?;
        Ok(Self::Bytes(bytes.to_owned().into()))
    }
}

fn not_a_text(object: &Bound<'_, PyAny>) -> PyErr {
    let several = if object.is_instance_of::<PyList>() {
        "; methods with batch in their names take several texts"
    } else {
        ""
    };
    PyTypeError::new_err(format!("expected str or bytes, not {}{several}", type_name(object)))
}

pub(crate) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// The error for a `str` with a lone surrogate, which UTF-8 cannot encode. It names the position.
fn lone_surrogate(text: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = text.py();
    let Ok(start) = error.value(py).getattr("start").and_then(|start| start.extract::<usize>())
    else {
        return error;
    };
    raise(
        "EncodingError",
        format!(
            "the text has a lone surrogate at character {start}, which is not a Unicode character; repair it, \
             or pass the intended bytes"
        ),
    )
}

/// A choice of special tokens: `"all"`, or a collection of names.
#[derive(Default)]
pub(crate) enum SpecialNames {
    #[default]
    None,
    All,
    Only(Vec<String>),
}

impl SpecialNames {
    pub(crate) fn as_specials(&self) -> Specials<'_> {
        match self {
            Self::None => Specials::None,
            Self::All => Specials::All,
            Self::Only(names) => Specials::Only(names),
        }
    }
}

impl<'py> FromPyObject<'_, 'py> for SpecialNames {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let wrong = |found: String| {
            let message = "expected \"all\" or a collection of special tokens, not";
            PyTypeError::new_err(format!("{message} {found}"))
        };
        if let Ok(name) = object.cast::<PyString>() {
            return match &*name.to_string_lossy() {
                "all" => Ok(Self::All),
                name => Err(wrong(format!("the string {name:?}"))),
            };
        }
        let names = object.try_iter().map_err(|_| wrong(type_name(&object)))?;
        let names = names.map(|name| extract("special token", &name?));
        let names = names.collect::<PyResult<Vec<String>>>()?;
        Ok(if names.is_empty() { Self::None } else { Self::Only(names) })
    }
}

/// The option `added_tokens`: `"find"` or `"text"`.
#[derive(Clone, Copy)]
pub(crate) struct Added(pub(crate) AddedTokens);

impl Added {
    pub(crate) const FIND: Self = Self(AddedTokens::Find);
}

impl FromPyObject<'_, '_> for Added {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let wrong =
            |found: String| format!("added_tokens must be \"find\" or \"text\", not {found}");
        let name = object.cast::<PyString>();
        let name = name.map_err(|_| PyTypeError::new_err(wrong(type_name(&object))))?;
        match &*name.to_string_lossy() {
            "find" => Ok(Self(AddedTokens::Find)),
            "text" => Ok(Self(AddedTokens::Text)),
            name => Err(raise("TokenizerError", wrong(format!("{name:?}")))),
        }
    }
}

/// Ids: an array of `uint32` or `uint16`, or any iterable of integers.
pub(crate) struct Ids(pub(crate) Vec<u32>);

impl<'py> FromPyObject<'_, 'py> for Ids {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let of_array = if may_be_array(&object)? { ids_of_array(&object)? } else { None };
        if let Some(ids) = of_array {
            return Ok(Self(ids));
        }
        refuse_set("ids", &object)?;
        let items = object.try_iter().map_err(|_| not_ids(&object))?;
        let mut ids = Vec::new();
        for item in items {
            if ids.len() == ids.capacity() {
                ask(2 * size_of_val(ids.as_slice()))?;
            }
            ids.push(id(&item?)?);
        }
        Ok(Self(ids))
    }
}

/// The ids of an array of `uint32` or `uint16`; `None` for any other object.
fn ids_of_array(object: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u32>>> {
    if let Ok(array) = object.extract::<PyReadonlyArray1<'_, u32>>() {
        ask(array.as_array().len() * size_of::<u32>())?;
        return Ok(Some(array.as_array().to_vec()));
    }
    let Ok(array) = object.extract::<PyReadonlyArray1<'_, u16>>() else { return Ok(None) };
    ask(array.as_array().len() * size_of::<u32>())?;
    Ok(Some(array.as_array().iter().copied().map(u32::from).collect()))
}

/// The error for an object that is not a list of ids. It says what to pass instead.
fn not_ids(object: &Bound<'_, PyAny>) -> PyErr {
    let hint = plain_id(object).map(|_| format!(": pass [{object}]")).unwrap_or_default();
    let type_name = type_name(object);
    PyTypeError::new_err(format!("expected a list of ids, not {type_name}{hint}"))
}

/// The error for an object that is not an id. It says what to pass instead.
fn not_an_id(item: &Bound<'_, PyAny>) -> PyErr {
    let is_single = item.is_instance_of::<PyString>() || item.try_iter().is_err();
    let hint = if is_single { "" } else { "; decode_batch takes several lists of ids" };
    let type_name = type_name(item);
    PyTypeError::new_err(format!("expected ids, which are integers, not {type_name}{hint}"))
}

/// Converts one id. An integer that is not a 32-bit id is an unknown token.
pub(crate) fn id(item: &Bound<'_, PyAny>) -> PyResult<u32> {
    if let Some(id) = plain_id(item) {
        return Ok(id);
    }
    let number = whole(item).ok_or_else(|| not_an_id(item))?;
    Err(raise("UnknownTokenError", format!("no token has the id {number}")))
}

/// One id; `None` for any other object.
pub(crate) fn plain_id(item: &Bound<'_, PyAny>) -> Option<u32> {
    if item.is_instance_of::<PyBool>() { None } else { item.extract().ok() }
}

/// The value with a name. The error names the option.
pub(crate) fn value_of<T: Copy>(option: &str, name: &str, known: &[(&str, T)]) -> PyResult<T> {
    if let Some((_, value)) = known.iter().find(|(known, _)| *known == name) {
        return Ok(*value);
    }
    let known: Vec<_> = known.iter().map(|(name, _)| *name).collect();
    let known = known.join(", ");
    Err(raise(
        "TokenizerError",
        format!("{} must be one of {known}, not {name:?}", argument(option)),
    ))
}

/// The name of a value.
pub(crate) fn name_of<T: PartialEq>(known: &[(&'static str, T)], value: T) -> &'static str {
    known.iter().find(|(_, known)| *known == value).map_or("", |(name, _)| name)
}

/// The values of `errors`, which says what happens to bytes that are not UTF-8. The last is for streams alone.
pub(crate) const DECODE_ERRORS: [(&str, DecodeErrors); 4] = [
    ("replace", DecodeErrors::Replace),
    ("strict", DecodeErrors::Strict),
    ("ignore", DecodeErrors::Ignore),
    ("bytes", DecodeErrors::Keep),
];

/// The option `errors` of calls that give text.
pub(crate) fn decode_errors(name: &str) -> PyResult<DecodeErrors> {
    value_of("errors", name, &DECODE_ERRORS[..3])
}

/// The number of threads: `wanted`, at most [`MAX_THREADS`], or by default the number of processors.
pub(crate) fn n_threads(wanted: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(wanted) = wanted.filter(|wanted| !wanted.is_none()) else {
        return Ok(std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    };
    match number::<usize>("threads", wanted)? {
        0 => Err(raise("TokenizerError", "threads must be at least 1")),
        n_threads => Ok(n_threads.min(MAX_THREADS)),
    }
}

/// The number of threads for one text.
#[derive(Clone, Copy)]
pub(crate) struct Threads(pub(crate) usize);

impl<'py> FromPyObject<'_, 'py> for Threads {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        n_threads(Some(&object)).map(Self)
    }
}

/// A type of whole numbers, with its bounds.
pub(crate) trait Whole: for<'a, 'py> FromPyObject<'a, 'py> + std::fmt::Display {
    /// The smallest value.
    const LEAST: Self;
    /// The largest value.
    const MOST: Self;
}

macro_rules! bounds {
    ($($number:ty),*) => {
        $(impl Whole for $number {
            const LEAST: Self = <$number>::MIN;
            const MOST: Self = <$number>::MAX;
        })*
    };
}

bounds!(u8, u32, u64, usize, i64);

/// Converts the value of an option to a whole number.
///
/// # Errors
/// If the value is not a whole number, or is out of range. The message names the option and the value.
pub(crate) fn number<T: Whole>(option: &str, value: &Bound<'_, PyAny>) -> PyResult<T> {
    if !value.is_instance_of::<PyBool>()
        && let Ok(number) = value.extract::<T>()
    {
        return Ok(number);
    }
    let Some(number) = whole(value) else {
        let shown = value.repr()?;
        return Err(PyTypeError::new_err(format!("{option} must be a whole number, not {shown}")));
    };
    let (least, most) = (T::LEAST, T::MOST);
    let problem = format!("must be between {least} and {most}, not {number}");
    Err(raise("TokenizerError", format!("{} {problem}", argument(option))))
}

/// A whole number of any size; `None` for any other object. A boolean is not a number here, although it is in Python.
pub(crate) fn whole<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyAny>> {
    let index = value.py().import("operator").ok()?.getattr("index").ok()?;
    index.call1((value,)).ok().filter(|_| !value.is_instance_of::<PyBool>())
}

/// Types of arguments that are whole numbers. Errors name the argument.
macro_rules! numbers {
    ($($name:ident($number:ty) is $option:literal;)*) => {
        $(
            #[doc = concat!("The whole number `", $option, "`.")]
            pub(crate) struct $name(pub(crate) $number);

            impl<'py> FromPyObject<'_, 'py> for $name {
                type Error = PyErr;

                fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                    number($option, &object).map(Self)
                }
            }
        )*
    };
}

numbers! {
    CharPos(usize) is "char_pos";
    Length(usize) is "length";
    MaxLength(usize) is "max_length";
    MultipleOf(usize) is "multiple_of";
    PadId(u32) is "pad_id";
    PadTypeId(u32) is "pad_type_id";
    SequenceId(u8) is "sequence_id";
    SequenceIndex(u8) is "sequence_index";
    Stride(usize) is "stride";
    TokenIndex(usize) is "token_index";
    TypeId(u32) is "type_id";
    WordIndex(u32) is "word_index";
}

/// Converts the value of an option. The errors for a number out of range and for a lone surrogate name the option.
pub(crate) fn extract<'py, T>(option: &str, value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error: Into<PyErr>>,
{
    value.extract::<T>().map_err(|error| named(value.py(), option, error.into()))
}

/// An error of a conversion, with the name of the option if Python's message lacks it.
pub(crate) fn named(py: Python<'_>, option: &str, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyOverflowError>(py) {
        return raise("TokenizerError", format!("{} is out of range", argument(option)));
    }
    if error.is_instance_of::<PyUnicodeEncodeError>(py) {
        let problem = "has a lone surrogate, which is not a Unicode character";
        return raise("EncodingError", format!("{} {problem}", argument(option)));
    }
    error
}

/// Converts each text of a batch. An error gives the index of the text.
pub(crate) fn each_of<T>(
    texts: &Bound<'_, PyAny>,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    each_in("texts", texts, |index| format!("text {index} of the batch"), convert)
}

/// Converts each item of a collection. An error gives the place of the item.
pub(crate) fn each_in<T>(
    what: &str,
    items: &Bound<'_, PyAny>,
    place: impl Fn(usize) -> String,
    convert: impl Fn(&Bound<'_, PyAny>) -> PyResult<T>,
) -> PyResult<Vec<T>> {
    let wrong =
        |found| Err(PyTypeError::new_err(format!("expected a collection of {what}, not {found}")));
    if items.is_instance_of::<PyString>() || items.is_instance_of::<PyBytes>() {
        return wrong("one text".to_owned());
    }
    refuse_set(what, items)?;
    let place_of = |(index, item): (usize, &Bound<'_, PyAny>)| {
        convert(item).map_err(|error| in_place(items.py(), &place(index), error))
    };
    if let Ok(list) = items.cast::<PyList>() {
        return list.iter().enumerate().map(|(index, item)| place_of((index, &item))).collect();
    }
    let Ok(iterator) = items.try_iter() else { return wrong(type_name(items)) };
    iterator.enumerate().map(|(index, item)| place_of((index, &item?))).collect()
}

/// Refuses a set, as `bytepair._names` does: the result would differ from process to process.
pub(crate) fn refuse_set(what: &str, items: &Bound<'_, PyAny>) -> PyResult<()> {
    if !items.is_instance_of::<PySet>() && !items.is_instance_of::<PyFrozenSet>() {
        return Ok(());
    }
    Err(PyTypeError::new_err(format!(
        "{what} is a set, whose order changes from one process to the next, and the result with it; give a list"
    )))
}

/// An error with the index of the text, or of the list of ids, in its batch.
pub(crate) fn in_batch(py: Python<'_>, what: &str, index: usize, error: PyErr) -> PyErr {
    in_place(py, &format!("{what} {index} of the batch"), error)
}

/// An error with the place of the value that it is about.
pub(crate) fn in_place(py: Python<'_>, place: &str, error: PyErr) -> PyErr {
    if error.is_instance_of::<PyMemoryError>(py) {
        return error;
    }
    let message = format!("{place}: {}", error.value(py));
    PyErr::from_type(error.get_type(py), message)
}

/// The target: a vocabulary size or a number of merges. By default, the number of merges is unlimited.
pub(crate) fn target(vocab_size: Option<usize>, merges: Option<usize>) -> PyResult<Target> {
    match (vocab_size, merges) {
        (Some(size), None) => Ok(Target::VocabSize(size)),
        (None, n_merges) => Ok(Target::Merges(n_merges.unwrap_or(usize::MAX))),
        (Some(_), Some(_)) => Err(raise("TrainingError", "give vocab_size or merges, not both")),
    }
}
