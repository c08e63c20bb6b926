//! The key-value pairs at the beginning of a GGUF file, as far as they belong to the tokenizer.
//!
//! Versions 2 and 3, little-endian. Values of other keys are read and dropped, and nothing after the key-value pairs is
//! read. Memory grows as bytes are found, never by a length that the file merely states. A file may be nothing but a hole
//! on the disk, which reads as zeros up to any stated length, so all values together have a limit.

use std::collections::HashMap;
use std::io::{ErrorKind, Read};

use super::FORMAT;
use bytepair::for_formats::read_claimed;
use bytepair::{Error, Result};

/// The values whose keys begin with `tokenizer.`, by key.
pub(super) struct Metadata {
    values: HashMap<String, Value>,
}

/// A value of a key.
#[derive(Debug)]
enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
    Floats(Vec<f32>),
    /// An array without elements, whose type does not matter.
    Nothing,
    /// A value that no key of a tokenizer has.
    Other,
}

/// The prefix of the keys that are kept.
const PREFIX: &str = "tokenizer.";

/// The deepest nesting of arrays.
const MAX_DEPTH: u32 = 8;

/// The most memory that all values together may take, in bytes. The largest vocabularies take a tenth of it.
const MAX_BYTES: u64 = 512 << 20;

/// The memory that an element of an array takes in addition to its text or its own elements.
const ELEMENT_LEN: u64 = 32;

impl Metadata {
    pub(super) fn read(file: impl Read) -> Result<Self> {
        let mut file = Source { file, n_left: MAX_BYTES };
        if file.array::<4>("the beginning")? != *b"GGUF" {
            return Err(Error::format(FORMAT, "the beginning", "not that of a GGUF file"));
        }
        let version = file.number(U32, "the version")?;
        if !matches!(version, 2 | 3) {
            let problem = format!("{version} is not supported, only 2 and 3, little-endian");
            return Err(Error::format(FORMAT, "the version", problem));
        }
        file.number(U64, "the number of tensors")?;
        let n_keys = file.number(U64, "the number of keys")?;
        let mut values = HashMap::new();
        for _ in 0..n_keys {
            let key = file.text("a key")?;
            let kind = file.kind(&key)?;
            let value = file.value(kind, &key, 0)?;
            if key.starts_with(PREFIX) && values.insert(key.clone(), value).is_some() {
                return Err(Error::format(FORMAT, key, "appears twice"));
            }
        }
        Ok(Self { values })
    }

    /// The value of a key, as `take` returns it; `None` if the key is missing. An error if the value is not `wanted`.
    fn get<'m, T>(
        &'m self,
        key: &str,
        wanted: &str,
        take: impl Fn(&'m Value) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(value) = self.values.get(key) else { return Ok(None) };
        let wrong_type = || Error::format(FORMAT, key, format!("not {wanted}"));
        take(value).map(Some).ok_or_else(wrong_type)
    }

    pub(super) fn text(&self, key: &str) -> Result<Option<&str>> {
        self.get(key, "a text", |value| match value {
            Value::Text(text) => Some(text.as_str()),
            _ => None,
        })
    }

    pub(super) fn number(&self, key: &str) -> Result<Option<i64>> {
        self.get(key, "a number", |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    pub(super) fn flag(&self, key: &str) -> Result<Option<bool>> {
        self.get(key, "true or false", |value| match value {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        })
    }

    pub(super) fn texts(&self, key: &str) -> Result<Option<&[String]>> {
        self.get(key, "an array of texts", |value| match value {
            Value::Texts(texts) => Some(texts.as_slice()),
            Value::Nothing => Some(&[]),
            _ => None,
        })
    }

    pub(super) fn numbers(&self, key: &str) -> Result<Option<&[i64]>> {
        self.get(key, "an array of whole numbers", |value| match value {
            Value::Numbers(numbers) => Some(numbers.as_slice()),
            Value::Nothing => Some(&[]),
            _ => None,
        })
    }

    pub(super) fn floats(&self, key: &str) -> Result<Option<&[f32]>> {
        self.get(key, "an array of floating-point numbers", |value| match value {
            Value::Floats(floats) => Some(floats.as_slice()),
            Value::Nothing => Some(&[]),
            _ => None,
        })
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }
}

const U32: u32 = 4;
const FLOAT: u32 = 6;
const FLAG: u32 = 7;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;
const U64: u32 = 10;
const DOUBLE: u32 = 12;

struct Source<F> {
    file: F,
    /// How many bytes of memory the remaining values may take.
    n_left: u64,
}

impl<F: Read> Source<F> {
    fn array<const N: usize>(&mut self, part: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Error::format(FORMAT, part, "cut off"),
            _ => error.into(),
        })?;
        Ok(bytes)
    }

    /// An integer of any type.
    fn number(&mut self, kind: u32, part: &str) -> Result<i64> {
        let too_large = |_| Error::format(FORMAT, part, "a number that is too large");
        Ok(match kind {
            0 => i64::from(u8::from_le_bytes(self.array(part)?)),
            1 => i64::from(i8::from_le_bytes(self.array(part)?)),
            2 => i64::from(u16::from_le_bytes(self.array(part)?)),
            3 => i64::from(i16::from_le_bytes(self.array(part)?)),
            U32 => i64::from(u32::from_le_bytes(self.array(part)?)),
            5 => i64::from(i32::from_le_bytes(self.array(part)?)),
            U64 => i64::try_from(u64::from_le_bytes(self.array(part)?)).map_err(too_large)?,
            11 => i64::from_le_bytes(self.array(part)?),
            _ => return Err(Error::format(FORMAT, part, format!("has the unknown type {kind}"))),
        })
    }

    /// The length of a text in bytes or of an array in elements. An error if there is no room for elements of `unit` bytes.
    fn length(&mut self, part: &str, what: &str, unit: u64) -> Result<u64> {
        let length = self.number(U64, part)?.unsigned_abs();
        let left = length.checked_mul(unit).and_then(|n_bytes| self.n_left.checked_sub(n_bytes));
        self.n_left = left.ok_or_else(|| {
            let problem =
                format!("{what} of {length}: the values take more than {MAX_BYTES} bytes");
            Error::format(FORMAT, part, problem)
        })?;
        Ok(length)
    }

    fn kind(&mut self, part: &str) -> Result<u32> {
        self.array(part).map(u32::from_le_bytes)
    }

    fn text(&mut self, part: &str) -> Result<String> {
        let length = self.length(part, "a text", 1)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = read_claimed(&mut self.file, length, |_| Ok(()))?;
        let bytes = bytes.ok_or_else(|| Error::format(FORMAT, part, "cut off"))?;
        String::from_utf8(bytes).map_err(|_| Error::format(FORMAT, part, "not UTF-8"))
    }

    fn value(&mut self, kind: u32, key: &str, depth: u32) -> Result<Value> {
        Ok(match kind {
            TEXT => Value::Text(self.text(key)?),
            FLAG => Value::Flag(self.array::<1>(key)? != [0]),
            FLOAT => self.array::<4>(key).map(|_| Value::Other)?,
            DOUBLE => self.array::<8>(key).map(|_| Value::Other)?,
            ARRAY if depth == MAX_DEPTH => {
                return Err(Error::format(FORMAT, key, "arrays nested too deeply"));
            }
            ARRAY => self.elements(key, depth)?,
            _ => Value::Number(self.number(kind, key)?),
        })
    }

    /// The elements of an array. Collecting results reserves no memory for a length that is not trusted.
    fn elements(&mut self, key: &str, depth: u32) -> Result<Value> {
        let kind = self.kind(key)?;
        let mut places = 0..self.length(key, "an array", ELEMENT_LEN)?;
        Ok(match kind {
            _ if places.is_empty() => Value::Nothing,
            TEXT => Value::Texts(places.map(|_| self.text(key)).collect::<Result<_>>()?),
            FLOAT => {
                let float = |_| self.array(key).map(f32::from_le_bytes);
                Value::Floats(places.map(float).collect::<Result<_>>()?)
            }
            FLAG | DOUBLE | ARRAY => {
                places.try_for_each(|_| self.value(kind, key, depth + 1).map(drop))?;
                Value::Other
            }
            _ => Value::Numbers(places.map(|_| self.number(kind, key)).collect::<Result<_>>()?),
        })
    }
}
