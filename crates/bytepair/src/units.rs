//! A piece to its initial symbols: the only place that knows what a unit of text is.
//!
//! Training and encoding both begin here: bytes or characters, the end mark, the
//! continuing-subword prefix, the unknown token, byte fallback. What happens to a symbol that is not
//! in the vocabulary is decided in `encode`, by the rules stored here. Costs one pass over a piece.
//!
//! Here is also the alphabet, the tokens that a vocabulary begins with, in the order of their ids: all bytes in a published
//! order or by value, or the characters that occur, sorted; with the marks and the bytes for fallback that the rules require.
//! Costs one pass over the pieces if units are characters.

mod written;

use std::collections::BTreeSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use self::written::{byte_name, bytes_of_printable, printable, printable_name, published_name};
pub(crate) use self::written::{byte_of_printable, tokens_named};
use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::{Form, Token, TokenKind};

/// What text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "UnitName", into = "UnitName")]
pub enum Unit {
    /// The 256 byte values: no text is unknown.
    Byte(ByteIds),
    /// The characters of the training text.
    Character,
}

/// The order of the 256 bytes in a new vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ByteIds {
    /// The order of all published byte-level vocabularies: printable Latin-1 first, `!` is 0.
    Printable,
    /// By value: the first merge is 256.
    Value,
}

/// A [`Unit`] as a file names it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnitName {
    PrintableByte,
    ByteValue,
    Character,
}

impl From<Unit> for UnitName {
    fn from(unit: Unit) -> Self {
        match unit {
            Unit::Byte(ByteIds::Printable) => Self::PrintableByte,
            Unit::Byte(ByteIds::Value) => Self::ByteValue,
            Unit::Character => Self::Character,
        }
    }
}

impl From<UnitName> for Unit {
    fn from(name: UnitName) -> Self {
        match name {
            UnitName::PrintableByte => Self::Byte(ByteIds::Printable),
            UnitName::ByteValue => Self::Byte(ByteIds::Value),
            UnitName::Character => Self::Character,
        }
    }
}

/// How the end of a piece is marked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndMark {
    /// How the mark is written.
    pub text: String,
    /// Whether it is a unit or part of one.
    pub kind: EndMarkKind,
}

/// The two kinds of end marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndMarkKind {
    /// A symbol of its own after the last character.
    Unit,
    /// Joined to the last character.
    Suffix,
}

/// What becomes of a unit outside the alphabet that neither bytes nor an unknown token stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It is an error that names it.
    #[default]
    Error,
    /// It is left out, as the library that reads `tokenizer.json` does.
    Drop,
}

/// The rules that turn a piece into symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Units {
    /// Bytes or characters.
    pub unit: Unit,
    /// The mark at the end of each piece.
    pub end_mark: Option<EndMark>,
    /// What every unit but the first of a piece is written with, such as `##`.
    pub continuing_prefix: Option<String>,
    /// The name of the token for units outside the alphabet.
    pub unknown: Option<String>,
    /// Whether neighbouring unknown units become one unknown token.
    pub fuse_unknown: bool,
    /// Whether a unit outside the alphabet becomes the tokens of the bytes it is written with, `<0x41>`.
    pub byte_fallback: bool,
    /// What becomes of a unit outside the alphabet for which nothing stands.
    pub missing: Missing,
}

impl Units {
    /// Bytes, without marks.
    pub fn bytes(byte_ids: ByteIds) -> Self {
        Self { unit: Unit::Byte(byte_ids), ..Self::characters() }
    }

    /// Characters, without marks, unknown token or fallback.
    pub fn characters() -> Self {
        Self {
            unit: Unit::Character,
            end_mark: None,
            continuing_prefix: None,
            unknown: None,
            fuse_unknown: false,
            byte_fallback: false,
            missing: Missing::Error,
        }
    }

    /// Whether the units are bytes, so that text need not be UTF-8.
    pub fn is_bytes(&self) -> bool {
        matches!(self.unit, Unit::Byte(_))
    }

    /// Refuses parts that do not fit together.
    ///
    /// # Errors
    /// Where a mark has no text, or stands on bytes and has characters that are not visible ASCII, so that it
    /// could not be distinguished from bytes in a file.
    pub fn check(&self) -> Result<()> {
        let (mark, prefix) = (self.end_mark.as_ref(), self.continuing_prefix.as_deref());
        if mark.is_some_and(|mark| mark.text.is_empty()) {
            return Err(Error::option("end_mark", "has no text; leave it out"));
        }
        if prefix.is_some_and(str::is_empty) {
            return Err(Error::option("continuing_prefix", "has no text; leave it out"));
        }
        let is_visible = |mark: &str| mark.bytes().all(|byte| byte.is_ascii_graphic());
        if self.is_bytes() && !mark.is_none_or(|mark| is_visible(&mark.text)) {
            return Err(Error::option("end_mark", "must be visible ASCII where units are bytes"));
        }
        if self.is_bytes() && !prefix.is_none_or(is_visible) {
            let problem = "must be visible ASCII where units are bytes";
            return Err(Error::option("continuing_prefix", problem));
        }
        Ok(())
    }

    /// Refuses also what a file may ask for and no training should: text would not come back from its ids.
    ///
    /// # Errors
    /// As for [`Units::check`]; where bytes stand for characters that carry marks, as the marks would become
    /// bytes too; where bytes have an unknown token or fallback, as no byte is unknown.
    pub fn check_training(&self) -> Result<()> {
        self.check()?;
        let has_prefix = self.continuing_prefix.is_some();
        let has_suffix = self.end_mark_kind() == Some(EndMarkKind::Suffix);
        let parts =
            [("unknown_token", self.unknown.is_some()), ("byte_fallback", self.byte_fallback)];
        match parts.into_iter().find(|&(_, is_set)| is_set && self.is_bytes()) {
            Some((name, _)) => {
                Err(Error::option(name, "has no meaning where units are bytes; use characters"))
            }
            None if self.byte_fallback && (has_suffix || has_prefix) => {
                let problem = "the bytes of a character cannot carry a prefix or an end mark; \
                               use an end mark of its own";
                Err(Error::option("byte_fallback", problem))
            }
            None => Ok(()),
        }
    }

    /// Calls `visit` with each symbol of a piece, in order.
    ///
    /// # Errors
    /// Where the units are characters and the piece is not UTF-8; the offset is that in the piece.
    pub fn for_each_symbol<'p>(
        &self,
        piece: &'p [u8],
        mut visit: impl FnMut(Token<'p>),
    ) -> Result<()> {
        self.for_each_symbol_at(piece, |_, symbol| visit(symbol))
    }

    /// [`Self::for_each_symbol`] with the place in the piece at which each symbol begins.
    #[inline]
    pub(crate) fn for_each_symbol_at<'p>(
        &self,
        piece: &'p [u8],
        mut visit: impl FnMut(usize, Token<'p>),
    ) -> Result<()> {
        let suffix = self.end_mark_kind() == Some(EndMarkKind::Suffix);
        let mut visit_unit = |range: Range<usize>| {
            let form = Form::new(
                range.start > 0 && self.continuing_prefix.is_some(),
                suffix && range.end == piece.len(),
            );
            visit(range.start, Token { kind: TokenKind::Text(form), bytes: &piece[range] });
        };
        if self.is_bytes() {
            (0..piece.len()).for_each(|start| visit_unit(start..start + 1));
        } else {
            let text = std::str::from_utf8(piece)
                .map_err(|error| ErrorKind::NotUtf8 { offset: error.valid_up_to() as u64 })?;
            for (start, character) in text.char_indices() {
                visit_unit(start..start + character.len_utf8());
            }
        }
        if self.end_mark_kind() == Some(EndMarkKind::Unit) {
            visit(piece.len(), END_MARK);
        }
        Ok(())
    }

    /// Which kind of end mark there is, if any.
    pub fn end_mark_kind(&self) -> Option<EndMarkKind> {
        self.end_mark.as_ref().map(|mark| mark.kind)
    }
}

/// The symbol of an end mark that is a unit of its own.
pub(crate) const END_MARK: Token<'static> = Token { kind: TokenKind::ENDING, bytes: b"" };

impl Units {
    /// The alphabet that the pieces need, in the order of its ids.
    pub fn alphabet<'p>(
        &self,
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Result<Vec<(TokenKind, Vec<u8>)>> {
        let mut symbols = BTreeSet::new();
        if let Unit::Byte(order) = self.unit {
            return Ok(self.byte_alphabet(order));
        }
        for piece in pieces {
            self.for_each_symbol(piece, |symbol| {
                symbols.insert(symbol);
            })?;
        }
        let has_mark = symbols.remove(&END_MARK);
        let mut symbols: Vec<_> = symbols.into_iter().collect();
        symbols.sort_by_cached_key(|&symbol| self.written(symbol).into_owned());
        let fallback = self.fallback_alphabet();
        let characters = symbols.into_iter().chain(has_mark.then_some(END_MARK));
        Ok(fallback.chain(characters.map(|symbol| (symbol.kind, symbol.bytes.to_vec()))).collect())
    }

    /// All bytes in every form that they can have, then the end mark where it is a unit.
    ///
    /// No text is outside this alphabet, so there is none for fallback.
    fn byte_alphabet(&self, order: ByteIds) -> Vec<(TokenKind, Vec<u8>)> {
        let suffix = self.end_mark_kind() == Some(EndMarkKind::Suffix);
        let all = [(false, false), (true, false), (false, true), (true, true)];
        let forms = all.into_iter().filter(|&(continues, ends)| {
            (!continues || self.continuing_prefix.is_some()) && (!ends || suffix)
        });
        let units = forms.flat_map(|(continues, ends)| {
            let kind = TokenKind::Text(Form::new(continues, ends));
            byte_order(order).map(|byte| (kind, vec![byte]))
        });
        let has_mark = self.end_mark_kind() == Some(EndMarkKind::Unit);
        units.chain(has_mark.then(|| (END_MARK.kind, Vec::new()))).collect()
    }

    fn fallback_alphabet(&self) -> impl Iterator<Item = (TokenKind, Vec<u8>)> {
        (0..=255).filter(|_| self.byte_fallback).map(|byte| (TokenKind::Byte, vec![byte]))
    }
}

/// The byte values in the order of their ids.
pub fn byte_order(order: ByteIds) -> [u8; 256] {
    let mut bytes: [u8; 256] = std::array::from_fn(byte_at);
    if order == ByteIds::Printable {
        bytes.sort_by_key(|&byte| printable(byte));
    }
    bytes
}

#[expect(clippy::cast_possible_truncation, reason = "the index of a 256-element array")]
fn byte_at(index: usize) -> u8 {
    index as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(units: &Units, piece: &str) -> Vec<String> {
        let mut all = Vec::new();
        let visit =
            |symbol| all.push(String::from_utf8(units.written(symbol).into_owned()).unwrap());
        units.for_each_symbol(piece.as_bytes(), visit).unwrap();
        all
    }

    pub(super) fn marked(kind: EndMarkKind) -> Units {
        Units { end_mark: Some(EndMark { text: "</w>".to_owned(), kind }), ..Units::characters() }
    }

    #[test]
    fn bytes_carry_marks_as_characters_do() {
        let units =
            Units { continuing_prefix: Some("##".to_owned()), ..marked(EndMarkKind::Suffix) };
        let units = Units { unit: Unit::Byte(ByteIds::Printable), ..units };
        units.check().unwrap();
        assert_eq!(written(&units, "low"), ["l", "##o", "##w</w>"]);
        assert_eq!(written(&units, "l"), ["l</w>"]);
        let alphabet = units.alphabet(std::iter::empty()).unwrap();
        assert_eq!(alphabet.len(), 4 * 256);
        let clip = Units { continuing_prefix: None, ..units }.alphabet(std::iter::empty()).unwrap();
        assert_eq!((clip.len(), clip[256].0), (512, TokenKind::ENDING));
    }

    #[test]
    fn training_refuses_what_would_not_come_back() {
        let fallback = Units { byte_fallback: true, ..marked(EndMarkKind::Suffix) };
        assert!(fallback.check().is_ok() && fallback.check_training().is_err());
        assert!(Units { end_mark: None, ..fallback }.check_training().is_ok());
        let bytes = Units { unit: Unit::Byte(ByteIds::Value), ..marked(EndMarkKind::Suffix) };
        assert!(bytes.check_training().is_ok());
        assert!(Units { byte_fallback: true, ..bytes }.check_training().is_err());
    }
}
