//! Splits a piece into its initial symbols: the only place that knows what a unit of text is.
//!
//! Training and encoding both begin here: bytes or characters, the end mark, the continuing-subword prefix, the
//! unknown token, byte fallback. What happens to a symbol that is not in the vocabulary is decided in `encode`, by the
//! rules stored here. Costs one pass over a piece.
//!
//! This module also defines the alphabet, the tokens that a vocabulary begins with, in order of id: all bytes in a
//! published order or by value, or the characters that occur, sorted; with the marks and the bytes for fallback that
//! the rules require. Costs one pass over the pieces if units are characters.
//!
//! It also defines how tokens are written: with their marks, the tokens that a written text can be, and bytes as
//! characters. Published byte-level vocabularies write each byte as one printable character: `Ġthe` is a space and
//! `the`. Costs a pass over the text of one token, and one table look-up for each byte or character.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::{Form, Token, TokenKind};

/// The units of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "UnitName", into = "UnitName")]
#[non_exhaustive]
pub enum Unit {
    /// The 256 byte values: no text is unknown.
    Byte(ByteIds),
    /// The characters of the training text.
    Character,
}

/// The order of the 256 bytes in a new vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
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

/// How a unit outside the alphabet is treated if neither bytes nor an unknown token stand for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    /// It is an error that names the unit.
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
    /// The prefix of every unit of a piece except the first, such as `##`.
    pub continuing_prefix: Option<String>,
    /// The name of the token for units outside the alphabet.
    pub unknown: Option<String>,
    /// Whether adjacent unknown units become one unknown token.
    pub fuse_unknown: bool,
    /// Whether a unit outside the alphabet becomes the tokens of its bytes, `<0x41>`.
    pub byte_fallback: bool,
    /// How a unit outside the alphabet is treated if nothing stands for it.
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

    /// Whether the way a symbol is written depends on its place in the piece.
    pub fn has_marks(&self) -> bool {
        self.end_mark.is_some() || self.continuing_prefix.is_some()
    }

    /// Refuses parts that are inconsistent.
    ///
    /// # Errors
    /// If a mark is empty, or is used with bytes and has characters that are not visible ASCII, so that it could not
    /// be distinguished from bytes in a file.
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

    /// Also refuses rules that a file may have but training should not use, since text would not come back from its
    /// ids.
    ///
    /// # Errors
    /// As for [`Units::check`]; if bytes stand for characters that carry marks, as the marks would become bytes too;
    /// or if bytes have an unknown token or fallback, as no byte is unknown.
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
    /// If the units are characters and the piece is not UTF-8; the offset is that in the piece.
    pub fn for_each_symbol<'p>(
        &self,
        piece: &'p [u8],
        mut visit: impl FnMut(Token<'p>),
    ) -> Result<()> {
        self.for_each_symbol_at(piece, |_, symbol| visit(symbol))
    }

    /// [`Self::for_each_symbol`] with the offset in the piece at which each symbol begins.
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

    /// The kind of end mark, if there is one.
    pub fn end_mark_kind(&self) -> Option<EndMarkKind> {
        self.end_mark.as_ref().map(|mark| mark.kind)
    }
}

/// The symbol of an end mark that is a unit of its own.
pub(crate) const END_MARK: Token<'static> = Token { kind: TokenKind::ENDING, bytes: b"" };

impl Units {
    /// The alphabet that the pieces need, in order of id.
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

    /// All bytes in every form that they can have, then the end mark if it is a unit.
    ///
    /// No text is outside this alphabet, so fallback needs no tokens.
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

/// The byte values in order of their ids.
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

impl Units {
    /// A token as it is written, marks included; the bytes of a text token of any dialect.
    pub fn written<'t>(&self, token: Token<'t>) -> Cow<'t, [u8]> {
        match token.kind {
            TokenKind::Text(form) if form != Form::default() => {
                let prefix =
                    self.continuing_prefix.as_deref().filter(|_| form.continues()).unwrap_or("");
                let mark =
                    self.end_mark.as_ref().filter(|_| form.ends()).map_or("", |mark| &mark.text);
                Cow::Owned([prefix.as_bytes(), token.bytes, mark.as_bytes()].concat())
            }
            TokenKind::Byte => Cow::Owned(
                token.bytes.iter().map(|&byte| byte_name(byte)).collect::<String>().into_bytes(),
            ),
            _ => Cow::Borrowed(token.bytes),
        }
    }

    /// The text token that is written like this: the inverse of [`Units::written`] for text.
    ///
    /// If one reading of the marks leaves a single unit, that reading is used. If none does, as much as possible is
    /// read as marks, as long as something is left.
    pub fn parse<'t>(&self, written: &'t [u8]) -> Token<'t> {
        let has_unit_mark = self.end_mark_kind() == Some(EndMarkKind::Unit);
        let readings = self.readings(written);
        let all = || readings.iter().rev().flatten().copied();
        let single = |token: &Token<'_>| !self.may_be_many_units(token.bytes);
        let mark = |token: &Token<'_>| has_unit_mark && *token == END_MARK;
        let some = |token: &Token<'_>| !token.bytes.is_empty();
        let found = all().find(mark).or_else(|| all().find(single)).or_else(|| all().find(some));
        found.unwrap_or(Token::plain(written))
    }

    /// Whether a token is one symbol: a byte or a character, with or without marks, or an end mark.
    pub(crate) fn is_symbol(&self, token: Token<'_>) -> bool {
        let text = std::str::from_utf8(token.bytes);
        let is_character = text.is_ok_and(|text| text.chars().count() == 1);
        let is_unit = if self.is_bytes() { token.bytes.len() == 1 } else { is_character };
        is_unit || token == END_MARK
    }

    /// The text tokens that are written like this: without marks, with the end mark, with the prefix, with both.
    pub(crate) fn readings<'t>(&self, written: &'t [u8]) -> [Option<Token<'t>>; 4] {
        let prefix = self.continuing_prefix.as_ref();
        let rest = prefix.and_then(|prefix| written.strip_prefix(prefix.as_bytes()));
        let without_mark = |bytes: &'t [u8]| -> Option<&'t [u8]> {
            bytes.strip_suffix(self.end_mark.as_ref()?.text.as_bytes())
        };
        let reading = |continues, ends, bytes: Option<&'t [u8]>| {
            Some(Token { kind: TokenKind::Text(Form::new(continues, ends)), bytes: bytes? })
        };
        [
            reading(false, false, Some(written)),
            reading(false, true, without_mark(written)),
            reading(true, false, rest),
            reading(true, true, rest.and_then(without_mark)),
        ]
    }

    /// Whether bytes are not exactly one unit.
    fn may_be_many_units(&self, bytes: &[u8]) -> bool {
        let is_start = |byte: &&u8| self.is_bytes() || **byte & 0xC0 != 0x80;
        bytes.iter().filter(is_start).count() != 1
    }
}

/// How a byte token is written: `<0x41>`.
pub fn byte_name(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// The highest character that stands for a byte.
const LAST_PRINTABLE: usize = 0x143;

/// A token as `tokenizer.json` and `vocab.json` write it: `Ġthe` in byte dialects.
pub fn published_name(units: &Units, token: Token<'_>) -> String {
    match token.kind {
        TokenKind::Text(form) if units.is_bytes() => {
            let prefix = units.continuing_prefix.as_deref().filter(|_| form.continues());
            let mark =
                units.end_mark.as_ref().filter(|_| form.ends()).map(|mark| mark.text.as_str());
            [prefix.unwrap_or(""), &printable_name(token.bytes), mark.unwrap_or("")].concat()
        }
        _ => String::from_utf8_lossy(&units.written(token)).into_owned(),
    }
}

/// The tokens that have a published name: the inverse of [`published_name`] for all tokens that are Unicode.
pub(crate) fn tokens_named<'n>(
    units: &Units,
    name: &'n str,
) -> impl Iterator<Item = (TokenKind, Cow<'n, [u8]>)> {
    let forms = [Form::Unmarked, Form::Ends, Form::Continues, Form::ContinuesAndEnds];
    let texts = forms.into_iter().filter_map(move |form| {
        let prefix = units.continuing_prefix.as_deref().filter(|_| form.continues());
        let mark = units.end_mark.as_ref().filter(|_| form.ends()).map(|mark| mark.text.as_str());
        let text = name.strip_prefix(prefix.unwrap_or(""))?.strip_suffix(mark.unwrap_or(""))?;
        Some((TokenKind::Text(form), units.text_of_name(text)?))
    });
    let byte = || {
        let digits = name.strip_prefix("<0x")?.strip_suffix('>')?;
        let byte = u8::from_str_radix(digits, 16).ok()?;
        (byte_name(byte) == name).then(|| (TokenKind::Byte, Cow::Owned(vec![byte])))
    };
    let whole = [TokenKind::Unknown, TokenKind::Added];
    let whole = whole.map(|kind| (kind, Cow::Borrowed(name.as_bytes())));
    texts.chain(byte()).chain(whole)
}

impl Units {
    /// The bytes with which a text token with this name in a file is written, marks included; `None` if the units are
    /// bytes and a character of the name stands for none.
    pub(crate) fn text_of_name<'n>(&self, name: &'n str) -> Option<Cow<'n, [u8]>> {
        if !self.is_bytes() {
            return Some(Cow::Borrowed(name.as_bytes()));
        }
        bytes_of_printable(name).map(Cow::Owned)
    }
}

/// The name of a token of these bytes.
pub fn printable_name(bytes: &[u8]) -> String {
    static CHARACTERS: OnceLock<Vec<char>> = OnceLock::new();
    let characters = CHARACTERS.get_or_init(|| (0..=255).map(printable).collect());
    bytes.iter().map(|&byte| characters[usize::from(byte)]).collect()
}

/// The bytes of a token of this name; `None` if a character stands for no byte.
pub fn bytes_of_printable(name: &str) -> Option<Vec<u8>> {
    name.chars().map(byte_of_printable).collect()
}

/// The byte that a character stands for in published byte-level vocabularies; `None` for other characters.
pub(crate) fn byte_of_printable(character: char) -> Option<u8> {
    static BYTES: OnceLock<Vec<Option<u8>>> = OnceLock::new();
    let bytes = BYTES.get_or_init(|| {
        let mut bytes = vec![None; LAST_PRINTABLE + 1];
        for byte in 0..=255 {
            bytes[printable(byte) as usize] = Some(byte);
        }
        bytes
    });
    bytes.get(character as usize).copied().flatten()
}

/// The character that stands for a byte in published byte-level vocabularies.
///
/// A byte that is a printable, non-blank Latin-1 character stands for itself; the others, in the
/// order of their value, are U+0100 and up.
pub fn printable(byte: u8) -> char {
    if stands_for_itself(byte) {
        return char::from(byte);
    }
    let n_before = (0..byte).filter(|&other| !stands_for_itself(other)).count();
    u32::try_from(n_before)
        .ok()
        .and_then(|n| char::from_u32(0x100 + n))
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF)
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

    fn marked(kind: EndMarkKind) -> Units {
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

    #[test]
    fn a_single_unit_is_found_behind_marks_that_look_like_units() {
        let units =
            Units { continuing_prefix: Some("#".to_owned()), ..marked(EndMarkKind::Suffix) };
        for (written, bytes, continues, ends) in [
            ("#", "#", false, false),
            ("##", "#", true, false),
            ("#</w>", "#", false, true),
            ("##</w>", "#", true, true),
            ("</w>", "</w>", false, false),
            ("#low</w>", "low", true, true),
        ] {
            let kind = TokenKind::Text(Form::new(continues, ends));
            let expected = Token { kind, bytes: bytes.as_bytes() };
            assert_eq!(units.parse(written.as_bytes()), expected, "{written}");
        }
    }

    #[test]
    fn marks_that_are_empty_or_spaces_are_refused() {
        let marks = |prefix: &str, suffix: &str| Units {
            continuing_prefix: Some(prefix.to_owned()),
            end_mark: Some(EndMark { text: suffix.to_owned(), kind: EndMarkKind::Suffix }),
            ..Units::characters()
        };
        assert!(marks("", "_").check().is_err() && marks("#", "").check().is_err());
        let spaces = Units { unit: Unit::Byte(ByteIds::Value), ..marks("##", " ") };
        assert!(spaces.check().is_err());
    }

    #[test]
    fn names_undo_each_other_for_every_byte() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of_printable(&printable_name(&all)), Some(all));
        assert_eq!(printable_name(b" the\n"), "ĠtheĊ");
        assert_eq!(bytes_of_printable("a b"), None);
        for other in ["\u{144}", "\u{AD}", "中", "｜"] {
            assert_eq!(bytes_of_printable(other), None, "{other}");
        }
    }
}
