//! A SentencePiece model file as it stands on disk: the fields that matter, checked one by one.
//!
//! What was only for training (`trainer_spec`, but for a few fields) is left out, and so is
//! `self_test_data`. Other fields that are not known are refused, since they could change what the model
//! means.
//!
//! The file is a message of protocol buffers; as much of that format is read as model files use. Fields are read in place:
//! nothing is copied or set aside by a length that a file states. Groups, which nobody writes any more, are refused. Takes
//! one pass.

use super::FORMAT;
use bytepair::{Error, Result};

/// What a model file says.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Model {
    pub(super) pieces: Vec<Piece>,
    pub(super) trainer: Trainer,
    pub(super) normalizer: Normalizer,
}

/// One entry of the vocabulary; its place is its id.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Piece {
    pub(super) text: String,
    pub(super) score: f32,
    pub(super) kind: PieceKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PieceKind {
    Normal = 1,
    Unknown = 2,
    Control = 3,
    UserDefined = 4,
    Unused = 5,
    Byte = 6,
}

/// What of the training settings bears on the use of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trainer {
    pub(super) model_type: u64,
    pub(super) space_is_suffix: bool,
    pub(super) byte_fallback: bool,
    pub(super) unknown_surface: String,
}

/// How text is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Normalizer {
    pub(super) charsmap: Vec<u8>,
    pub(super) adds_dummy_prefix: bool,
    pub(super) removes_extra_whitespaces: bool,
    pub(super) escapes_whitespaces: bool,
}

/// The model type that is byte-pair encoding.
pub(super) const BPE: u64 = 2;

impl Default for Trainer {
    fn default() -> Self {
        Self {
            model_type: 1,
            space_is_suffix: false,
            byte_fallback: false,
            unknown_surface: " \u{2047} ".to_owned(),
        }
    }
}

impl Default for Normalizer {
    fn default() -> Self {
        Self {
            charsmap: Vec::new(),
            adds_dummy_prefix: true,
            removes_extra_whitespaces: true,
            escapes_whitespaces: true,
        }
    }
}

/// Whether a file begins with a piece and another field of a model.
///
/// The line feed with which all models begin is also an empty line of a text.
pub(crate) fn begins_one(file: &[u8]) -> bool {
    let mut fields = Fields::new("the model", file);
    let mut next = || fields.next().ok().flatten();
    let is_piece = |field: &Field<'_>| {
        field.number == 1 && field.bytes().is_ok_and(|bytes| Piece::parse(bytes, 0).is_ok())
    };
    next().is_some_and(|field| is_piece(&field)) && next().is_some_and(|field| field.number <= 2)
}

impl Model {
    pub(super) fn parse(file: &[u8]) -> Result<Self> {
        let mut model = Self {
            pieces: Vec::new(),
            trainer: Trainer::default(),
            normalizer: Normalizer::default(),
        };
        let mut denormalizer = Normalizer::default();
        let mut fields = Fields::new("the model", file);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => model.pieces.push(Piece::parse(field.bytes()?, model.pieces.len())?),
                2 => model.trainer.parse(field.bytes()?)?,
                3 => model.normalizer.parse("normalizer_spec", field.bytes()?)?,
                4 => drop(field.bytes()?),
                5 => denormalizer.parse("denormalizer_spec", field.bytes()?)?,
                _ => return Err(field.unknown()),
            }
        }
        if !denormalizer.charsmap.is_empty() {
            let problem = "changes decoded text, which is not supported";
            return Err(Error::format(FORMAT, "denormalizer_spec", problem));
        }
        Ok(model)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut file = Vec::new();
        for piece in &self.pieces {
            put_bytes(&mut file, 1, &piece.to_bytes());
        }
        put_bytes(&mut file, 2, &self.trainer.to_bytes(self.pieces.len()));
        put_bytes(&mut file, 3, &self.normalizer.to_bytes());
        file
    }
}

impl Piece {
    fn parse(bytes: &[u8], id: usize) -> Result<Self> {
        let mut piece = Self { text: String::new(), score: 0.0, kind: PieceKind::Normal };
        let mut fields = Fields::new("a piece", bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 => field.text()?.clone_into(&mut piece.text),
                2 => piece.score = field.float()?,
                3 => piece.kind = PieceKind::parse(&field)?,
                _ => return Err(field.unknown()),
            }
        }
        let problem = |problem| Err(Error::format(FORMAT, format!("piece {id}"), problem));
        match () {
            () if piece.text.is_empty() => problem("empty"),
            () if piece.score.is_nan() => problem("its score is not a number"),
            () => Ok(piece),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, 1, self.text.as_bytes());
        put_float(&mut bytes, 2, self.score);
        if self.kind != PieceKind::Normal {
            put_number(&mut bytes, 3, self.kind as u64);
        }
        bytes
    }
}

impl PieceKind {
    /// The kind of a number, which `.gguf` files have too.
    pub(crate) fn of(number: u64) -> Option<Self> {
        use PieceKind::{Byte, Control, Normal, Unknown, Unused, UserDefined};
        let all = [Normal, Unknown, Control, UserDefined, Unused, Byte];
        all.into_iter().find(|kind| *kind as u64 == number)
    }

    fn parse(field: &Field<'_>) -> Result<Self> {
        let number = field.number()?;
        let problem = || format!("{number} is not known");
        Self::of(number).ok_or_else(|| Error::format(FORMAT, "the type of a piece", problem()))
    }
}

impl Trainer {
    fn parse(&mut self, bytes: &[u8]) -> Result<()> {
        let mut fields = Fields::new("trainer_spec", bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                3 => self.model_type = field.number()?,
                24 => self.space_is_suffix = field.flag()?,
                35 => self.byte_fallback = field.flag()?,
                44 => field.text()?.clone_into(&mut self.unknown_surface),
                _ => {}
            }
        }
        Ok(())
    }

    fn to_bytes(&self, n_pieces: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, 3, self.model_type);
        put_number(&mut bytes, 4, n_pieces as u64);
        put_number(&mut bytes, 24, self.space_is_suffix.into());
        put_number(&mut bytes, 35, self.byte_fallback.into());
        put_bytes(&mut bytes, 44, self.unknown_surface.as_bytes());
        bytes
    }
}

impl Normalizer {
    fn parse(&mut self, message: &'static str, bytes: &[u8]) -> Result<()> {
        let mut fields = Fields::new(message, bytes);
        while let Some(field) = fields.next()? {
            match field.number {
                1 | 6 => drop(field.bytes()?),
                2 => self.charsmap = field.bytes()?.to_vec(),
                3 => self.adds_dummy_prefix = field.flag()?,
                4 => self.removes_extra_whitespaces = field.flag()?,
                5 => self.escapes_whitespaces = field.flag()?,
                _ => return Err(field.unknown()),
            }
        }
        Ok(())
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_bytes(&mut bytes, 1, b"user_defined");
        put_bytes(&mut bytes, 2, &self.charsmap);
        put_number(&mut bytes, 3, self.adds_dummy_prefix.into());
        put_number(&mut bytes, 4, self.removes_extra_whitespaces.into());
        put_number(&mut bytes, 5, self.escapes_whitespaces.into());
        bytes
    }
}

/// The value of a field as it lies in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value<'f> {
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
struct Fields<'f> {
    rest: &'f [u8],
    /// The name of the message in errors.
    message: &'static str,
}

/// A field: its number and its value.
struct Field<'f> {
    number: u64,
    value: Value<'f>,
    message: &'static str,
}

impl<'f> Fields<'f> {
    fn new(message: &'static str, bytes: &'f [u8]) -> Self {
        Self { rest: bytes, message }
    }

    /// The next field; `None` at the end.
    fn next(&mut self) -> Result<Option<Field<'f>>> {
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
    fn bytes(&self) -> Result<&'f [u8]> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            _ => Err(self.wrong_type()),
        }
    }

    fn text(&self) -> Result<&'f str> {
        let not_utf8 = |_| Error::format(FORMAT, self.part(), "not UTF-8");
        std::str::from_utf8(self.bytes()?).map_err(not_utf8)
    }

    fn number(&self) -> Result<u64> {
        match self.value {
            Value::Varint(number) => Ok(number),
            _ => Err(self.wrong_type()),
        }
    }

    fn flag(&self) -> Result<bool> {
        Ok(self.number()? != 0)
    }

    fn float(&self) -> Result<f32> {
        match self.value {
            Value::Fixed32(bytes) => Ok(f32::from_le_bytes(bytes)),
            _ => Err(self.wrong_type()),
        }
    }

    /// An error about a field that is not known.
    fn unknown(&self) -> Error {
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
fn put_bytes(out: &mut Vec<u8>, number: u64, bytes: &[u8]) {
    put_varint(out, number << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a field that holds a number.
fn put_number(out: &mut Vec<u8>, number: u64, value: u64) {
    put_varint(out, number << 3);
    put_varint(out, value);
}

/// Appends a field that holds a floating-point number.
fn put_float(out: &mut Vec<u8>, number: u64, value: f32) {
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
