//! The key-values at the beginning of a GGUF file, as far as they belong to the tokenizer.
//!
//! Versions 2 and 3, little-endian. Other keys are passed over, which reads nothing of numbers and texts, and nothing
//! behind the key-values is read: so memory and time go with the tokenizer's part of the file and never with a length
//! that the file merely states. A file may be nothing but a hole on the disk, which reads as zeros for as long as it
//! says, so texts and arrays have limits too.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};

use super::FORMAT;
use bytepair::for_formats::read_claimed;
use bytepair::{Error, Result};

/// The values whose keys begin with `tokenizer.`, by key.
pub(super) struct Metadata {
    values: HashMap<String, Value>,
}

/// A value of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(i64),
    Flag(bool),
    Texts(Vec<String>),
    Numbers(Vec<i64>),
    Floats(Vec<f32>),
    Flags,
    Float,
    /// An array without elements; their type does not matter.
    Nothing,
}

/// The beginning of the keys that are kept.
const PREFIX: &str = "tokenizer.";

/// Keys are not longer than this.
const MAX_KEY: u64 = 1 << 16;

/// Arrays of arrays are not nested deeper than this.
const MAX_DEPTH: u32 = 8;
/// Texts are not longer than this, in bytes.
const MAX_TEXT: u64 = 256 << 20;
/// Arrays of a tokenizer have no more elements: the largest vocabularies have a sixtieth of it.
const MAX_ELEMENTS: u64 = 1 << 24;
/// So many texts or arrays are passed over at most, one by one.
const MAX_SKIPPED: u64 = 1 << 26;

impl Metadata {
    pub(super) fn read(mut file: impl Read + Seek) -> Result<Self> {
        let n_bytes = file.seek(SeekFrom::End(0))?;
        file.rewind()?;
        let mut file = Source { file, n_bytes, n_skipped: 0 };
        if file.array::<4>("the beginning")? != *b"GGUF" {
            return Err(Error::format(FORMAT, "the beginning", "not that of a GGUF file"));
        }
        match file.number(U32, "the version")? {
            2 | 3 => {}
            version => {
                let problem = format!("{version} is not supported, only 2 and 3, little-endian");
                return Err(Error::format(FORMAT, "the version", problem));
            }
        }
        file.number(U64, "the number of tensors")?;
        let n_keys = file.number(U64, "the number of keys")?;
        let mut values = HashMap::new();
        for _ in 0..n_keys {
            let key = file.key()?;
            let kind = file.kind(&key)?;
            if !key.starts_with(PREFIX) {
                file.skip(kind, &key, 0)?;
                continue;
            }
            let value = file.value(kind, &key)?;
            if values.insert(key.clone(), value).is_some() {
                return Err(Error::format(FORMAT, key, "appears twice"));
            }
        }
        Ok(Self { values })
    }

    /// What stands under a key, if anything does and is as it is `wanted`.
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

/// Shorter values are read over, in bytes: a file may be asked where it is for longer ones.
const MAX_READ_OVER: u64 = 4 << 10;

const U32: u32 = 4;
const FLOAT: u32 = 6;
const FLAG: u32 = 7;
const TEXT: u32 = 8;
const ARRAY: u32 = 9;
const U64: u32 = 10;
const DOUBLE: u32 = 12;

/// The size of a value of a type in bytes; `None` for texts, arrays and types that do not exist.
fn size(kind: u32) -> Option<usize> {
    match kind {
        0 | 1 | FLAG => Some(1),
        2 | 3 => Some(2),
        U32 | 5 | FLOAT => Some(4),
        U64 | 11 | DOUBLE => Some(8),
        _ => None,
    }
}

struct Source<F> {
    file: F,
    n_bytes: u64,
    /// How many texts and arrays were passed over.
    n_skipped: u64,
}

impl<F: Read + Seek> Source<F> {
    fn array<const N: usize>(&mut self, part: &str) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.file.read_exact(&mut bytes).map_err(|error| cut_off(part, error))?;
        Ok(bytes)
    }

    /// A whole number of any type.
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
            _ => return Err(unknown_type(part, kind)),
        })
    }

    fn length(&mut self, part: &str) -> Result<u64> {
        self.number(U64, part).map(i64::unsigned_abs)
    }

    fn kind(&mut self, part: &str) -> Result<u32> {
        self.array(part).map(u32::from_le_bytes)
    }

    fn key(&mut self) -> Result<String> {
        let length = self.length("a key")?;
        if length > MAX_KEY {
            return Err(Error::format(FORMAT, "a key", format!("of {length} bytes")));
        }
        self.text_of(length, "a key")
    }

    fn text(&mut self, part: &str) -> Result<String> {
        let length = self.length(part)?;
        self.text_of(length, part)
    }

    /// A text of a length that is not trusted: memory grows as bytes are found.
    fn text_of(&mut self, length: u64, part: &str) -> Result<String> {
        let short = usize::try_from(length).ok().filter(|_| length <= MAX_TEXT);
        let Some(length) = short else {
            let problem = format!("a text of {length} bytes, more than {MAX_TEXT}");
            return Err(Error::format(FORMAT, part, problem));
        };
        let bytes = read_claimed(&mut self.file, length, |_| Ok(()))?;
        let bytes = bytes.ok_or_else(|| Error::format(FORMAT, part, "cut off"))?;
        String::from_utf8(bytes).map_err(|_| Error::format(FORMAT, part, "not UTF-8"))
    }

    fn value(&mut self, kind: u32, key: &str) -> Result<Value> {
        Ok(match kind {
            TEXT => Value::Text(self.text(key)?),
            FLAG => Value::Flag(self.array::<1>(key)? != [0]),
            FLOAT | DOUBLE => {
                self.skip(kind, key, 0)?;
                Value::Float
            }
            ARRAY => {
                let kind = self.kind(key)?;
                let length = self.length(key)?;
                self.elements(kind, length, key)?
            }
            _ => Value::Number(self.number(kind, key)?),
        })
    }

    /// The elements of an array. Collecting results sets no memory aside for a length that is not trusted.
    fn elements(&mut self, kind: u32, length: u64, key: &str) -> Result<Value> {
        if length == 0 {
            return Ok(Value::Nothing);
        }
        let is_kept = !matches!(kind, FLAG | DOUBLE | ARRAY);
        if is_kept && length > MAX_ELEMENTS {
            let problem = format!("an array of {length} elements, more than {MAX_ELEMENTS}");
            return Err(Error::format(FORMAT, key, problem));
        }
        Ok(match kind {
            TEXT => Value::Texts((0..length).map(|_| self.text(key)).collect::<Result<_>>()?),
            FLOAT => {
                let float = |_| self.array(key).map(f32::from_le_bytes);
                Value::Floats((0..length).map(float).collect::<Result<_>>()?)
            }
            FLAG | DOUBLE | ARRAY => {
                self.skip_elements(kind, length, key, 0)?;
                Value::Flags
            }
            _ => {
                Value::Numbers((0..length).map(|_| self.number(kind, key)).collect::<Result<_>>()?)
            }
        })
    }

    fn skip(&mut self, kind: u32, key: &str, depth: u32) -> Result<()> {
        match (kind, size(kind)) {
            (_, Some(n_bytes)) => self.skip_bytes(n_bytes as u64, key),
            (TEXT, _) => {
                let length = self.length(key)?;
                self.skip_bytes(length, key)
            }
            (ARRAY, _) if depth < MAX_DEPTH => {
                let kind = self.kind(key)?;
                let length = self.length(key)?;
                self.skip_elements(kind, length, key, depth + 1)
            }
            (ARRAY, _) => Err(Error::format(FORMAT, key, "arrays nested too deeply")),
            _ => Err(unknown_type(key, kind)),
        }
    }

    fn skip_elements(&mut self, kind: u32, length: u64, key: &str, depth: u32) -> Result<()> {
        match size(kind) {
            Some(n_bytes) => self.skip_bytes(length.saturating_mul(n_bytes as u64), key),
            None => (0..length).try_for_each(|_| self.skip_one(kind, key, depth)),
        }
    }

    /// Passes over a text or an array, which takes a look at it.
    fn skip_one(&mut self, kind: u32, key: &str, depth: u32) -> Result<()> {
        self.n_skipped += 1;
        if self.n_skipped > MAX_SKIPPED {
            let problem = format!("more than {MAX_SKIPPED} texts and arrays of other keys");
            return Err(Error::format(FORMAT, key, problem));
        }
        self.skip(kind, key, depth)
    }

    fn skip_bytes(&mut self, length: u64, part: &str) -> Result<()> {
        let cut_off = || Error::format(FORMAT, part, "cut off");
        if length <= MAX_READ_OVER {
            let found = std::io::copy(&mut self.file.by_ref().take(length), &mut std::io::sink())?;
            return if found == length { Ok(()) } else { Err(cut_off()) };
        }
        let left = self.n_bytes.saturating_sub(self.file.stream_position()?);
        let distance = i64::try_from(length).ok().filter(|_| length <= left).ok_or_else(cut_off)?;
        Ok(self.file.seek_relative(distance)?)
    }
}

fn unknown_type(part: &str, kind: u32) -> Error {
    Error::format(FORMAT, part, format!("has the unknown type {kind}"))
}

fn cut_off(part: &str, error: std::io::Error) -> Error {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Error::format(FORMAT, part, "cut off"),
        _ => error.into(),
    }
}
