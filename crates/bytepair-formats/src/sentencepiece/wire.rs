//! The wire format of protocol buffers, as much of it as model files use.
//!
//! Fields are read where they lie: nothing is copied or set aside by a length that a file states. Groups,
//! which nobody writes any more, are refused. Takes one pass.

use super::FORMAT;
use bytepair::{Error, Result};

/// The value of a field as it lies in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'f> {
    /// Whole numbers, truth values, choices.
    Varint(u64),
    /// Four bytes, mostly a floating-point number.
    Fixed32([u8; 4]),
    /// Eight bytes.
    Fixed64([u8; 8]),
    /// A text, bytes or another message.
    Bytes(&'f [u8]),
}

/// The fields of a message, in the order in which they lie there.
pub(super) struct Fields<'f> {
    rest: &'f [u8],
    /// The name of the message in errors.
    message: &'static str,
}

/// A field: its number and its value.
pub(super) struct Field<'f> {
    pub(super) number: u64,
    pub(super) value: Value<'f>,
    message: &'static str,
}

impl<'f> Fields<'f> {
    pub(super) fn new(message: &'static str, bytes: &'f [u8]) -> Self {
        Self { rest: bytes, message }
    }

    /// The next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Field<'f>>> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let Self { message, .. } = *self;
        let damaged = || Error::format(FORMAT, message, "cut off or damaged");
        let key = self.varint().ok_or_else(damaged)?;
        let value = self.value(key & 7).ok_or_else(damaged)?;
        Ok(Some(Field { number: key >> 3, value, message }))
    }

    fn value(&mut self, wire_type: u64) -> Option<Value<'f>> {
        match wire_type {
            0 => self.varint().map(Value::Varint),
            1 => self.take(8)?.try_into().ok().map(Value::Fixed64),
            2 => {
                let length = usize::try_from(self.varint()?).ok()?;
                self.take(length).map(Value::Bytes)
            }
            5 => self.take(4)?.try_into().ok().map(Value::Fixed32),
            _ => None,
        }
    }

    fn take(&mut self, length: usize) -> Option<&'f [u8]> {
        let (taken, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        Some(taken)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0_u64;
        for place in 0..10 {
            let byte = *self.take(1)?.first()?;
            value |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                return (place < 9 || byte < 2).then_some(value);
            }
        }
        None
    }
}

impl<'f> Field<'f> {
    pub(super) fn bytes(&self) -> Result<&'f [u8]> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong_type()),
        }
    }

    pub(super) fn text(&self) -> Result<&'f str> {
        let not_utf8 = |_| Error::format(FORMAT, self.part(), "not UTF-8");
        std::str::from_utf8(self.bytes()?).map_err(not_utf8)
    }

    pub(super) fn number(&self) -> Result<u64> {
        match self.value {
            Value::Varint(number) => Ok(number),
            _ => Err(self.wrong_type()),
        }
    }

    pub(super) fn flag(&self) -> Result<bool> {
        Ok(self.number()? != 0)
    }

    pub(super) fn float(&self) -> Result<f32> {
        match self.value {
            Value::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.wrong_type()),
        }
    }

    /// An error about a field that is not known.
    pub(super) fn unknown(&self) -> Error {
        Error::format(FORMAT, self.part(), "not a field that is known")
    }

    fn part(&self) -> String {
        format!("field {} of {}", self.number, self.message)
    }

    fn wrong_type(&self) -> Error {
        Error::format(FORMAT, self.part(), "of the wrong type")
    }
}

/// Appends a field that holds a text, bytes or a message.
pub(super) fn put_bytes(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    put_varint(out, number << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field that holds a number.
pub(super) fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    put_varint(out, number << 3);
    put_varint(out, value);
}

/// Appends a field that holds a floating-point number.
pub(super) fn put_float(out: &mut Vec<u8>, number: u64, value: f32) {
    put_varint(out, number << 3 | 5);
    out.extend_from_slice(&value.to_le_bytes());
}

#[expect(clippy::cast_possible_truncation, reason = "seven bits at a time")]
fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn fields_are_read_as_they_were_written(number in 1_u64..1 << 29, value: u64, bytes: Vec<u8>, score: f32) {
            let mut file = Vec::new();
            put_number(&mut file, number, value);
            put_bytes(&mut file, number, &bytes);
            put_float(&mut file, number, score);
            let mut fields = Fields::new("test", &file);
            let found: Vec<_> = std::iter::from_fn(|| fields.next().unwrap()).map(|field| field.value).collect();
            prop_assert_eq!(found, [Value::Varint(value), Value::Bytes(&bytes), Value::Fixed32(score.to_le_bytes())]);
        }

        #[test]
        fn no_bytes_make_it_panic(file: Vec<u8>) {
            let mut fields = Fields::new("test", &file);
            while let Ok(Some(_)) = fields.next() {}
        }
    }

    #[test]
    fn a_length_beyond_the_file_is_refused() {
        for file in [
            &b"\x0A\xFF\xFF\xFF\xFF\x07ab"[..],
            b"\x0A",
            b"\x0D\0\0",
            b"\x0B",
            b"\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
        ] {
            assert!(Fields::new("test", file).next().is_err());
        }
    }
}
