//! A piece to its initial symbols: the only place that knows what a unit of text is.
//!
//! Training and encoding both begin here: bytes or characters, the end mark, the
//! continuing-subword prefix, the unknown token, byte fallback. What happens to a symbol that is not
//! in the vocabulary is decided in `encode`, by the rules stored here. Costs one pass over a piece.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::error::{Error, ErrorKind, Result};
use crate::vocabulary::{Form, Token, TokenKind};

/// What text is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// How the end of a piece is marked.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EndMark {
    /// How the mark is written.
    pub text: String,
    /// Whether it is a unit or part of one.
    pub kind: EndMarkKind,
}

/// The two kinds of end marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndMarkKind {
    /// A symbol of its own after the last character.
    Unit,
    /// Joined to the last character.
    Suffix,
}

/// The rules that turn a piece into symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Units {
    /// Bytes or characters.
    pub unit: Unit,
    /// The mark at the end of each piece.
    pub end_mark: Option<EndMark>,
    /// What every character but the first of a piece is written with, such as `##`.
    pub continuing_prefix: Option<String>,
    /// The name of the token for units outside the alphabet.
    pub unknown: Option<String>,
    /// Whether neighbouring unknown units become one unknown token.
    pub fuse_unknown: bool,
    /// Whether a character outside the alphabet becomes the tokens of its bytes, `<0x41>`.
    pub byte_fallback: bool,
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
        }
    }

    /// Whether the units are bytes, so that text need not be UTF-8.
    pub fn is_bytes(&self) -> bool {
        matches!(self.unit, Unit::Byte(_))
    }

    /// Refuses parts that do not fit together.
    ///
    /// # Errors
    /// Where the units are bytes, which have neither marks nor strangers, and one of these is asked for;
    /// where an end mark is a suffix, and bytes stand for characters.
    pub fn check(&self) -> Result<()> {
        let parts = [
            ("end_mark", self.end_mark.is_some()),
            ("continuing_prefix", self.continuing_prefix.is_some()),
            ("unknown_token", self.unknown.is_some()),
            ("byte_fallback", self.byte_fallback),
        ];
        if self.byte_fallback && self.end_mark_kind() == Some(EndMarkKind::Suffix) {
            let problem =
                "the bytes of a character cannot carry an end mark; use a mark of its own";
            return Err(Error::option("byte_fallback", problem));
        }
        match parts.into_iter().find(|&(_, is_set)| is_set && self.is_bytes()) {
            Some((name, _)) => {
                Err(Error::option(name, "has no meaning where units are bytes; use characters"))
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
        if self.is_bytes() {
            piece.chunks(1).for_each(|byte| visit(Token::plain(byte)));
            return Ok(());
        }
        let text = std::str::from_utf8(piece)
            .map_err(|error| ErrorKind::NotUtf8 { offset: error.valid_up_to() as u64 })?;
        let suffix = self.end_mark_kind() == Some(EndMarkKind::Suffix);
        for (start, character) in text.char_indices() {
            let end = start + character.len_utf8();
            let form = Form {
                continues: start > 0 && self.continuing_prefix.is_some(),
                ends: suffix && end == piece.len(),
            };
            visit(Token { kind: TokenKind::Text(form), bytes: &piece[start..end] });
        }
        if self.end_mark_kind() == Some(EndMarkKind::Unit) {
            visit(END_MARK);
        }
        Ok(())
    }

    /// The alphabet that the pieces need, in the order of its ids.
    pub fn alphabet<'p>(
        &self,
        pieces: impl Iterator<Item = &'p [u8]>,
    ) -> Result<Vec<(TokenKind, Vec<u8>)>> {
        if let Unit::Byte(order) = self.unit {
            return Ok(byte_order(order)
                .iter()
                .map(|&byte| (TokenKind::PLAIN, vec![byte]))
                .collect());
        }
        let mut symbols = BTreeSet::new();
        for piece in pieces {
            self.for_each_symbol(piece, |symbol| {
                symbols.insert(symbol);
            })?;
        }
        let has_mark = symbols.remove(&END_MARK);
        let mut symbols: Vec<_> = symbols.into_iter().collect();
        symbols.sort_by_cached_key(|&symbol| self.written(symbol).into_owned());
        let fallback =
            (0..=255).filter(|_| self.byte_fallback).map(|byte| (TokenKind::Byte, vec![byte]));
        let characters = symbols.into_iter().chain(has_mark.then_some(END_MARK));
        Ok(fallback.chain(characters.map(|symbol| (symbol.kind, symbol.bytes.to_vec()))).collect())
    }

    /// A token as it is written, marks included; the bytes of a text token of any dialect.
    pub fn written<'t>(&self, token: Token<'t>) -> Cow<'t, [u8]> {
        match token.kind {
            TokenKind::Text(form) if form != Form::default() => {
                let prefix =
                    self.continuing_prefix.as_deref().filter(|_| form.continues).unwrap_or("");
                let mark =
                    self.end_mark.as_ref().filter(|_| form.ends).map_or("", |mark| &mark.text);
                Cow::Owned([prefix.as_bytes(), token.bytes, mark.as_bytes()].concat())
            }
            TokenKind::Byte => Cow::Owned(
                token.bytes.iter().map(|&byte| byte_name(byte)).collect::<String>().into_bytes(),
            ),
            _ => Cow::Borrowed(token.bytes),
        }
    }

    /// The text token that is written so: the inverse of [`Units::written`] for text.
    pub fn parse<'t>(&self, written: &'t [u8]) -> Token<'t> {
        let (mut bytes, mut form) = (written, Form::default());
        if let Some(rest) =
            self.continuing_prefix.as_ref().and_then(|prefix| bytes.strip_prefix(prefix.as_bytes()))
        {
            (bytes, form.continues) = (rest, true);
        }
        if let Some(rest) =
            self.end_mark.as_ref().and_then(|mark| bytes.strip_suffix(mark.text.as_bytes()))
        {
            (bytes, form.ends) = (rest, true);
        }
        Token { kind: TokenKind::Text(form), bytes }
    }

    /// Which kind of end mark there is, if any.
    pub fn end_mark_kind(&self) -> Option<EndMarkKind> {
        self.end_mark.as_ref().map(|mark| mark.kind)
    }
}

/// The symbol of an end mark that is a unit of its own.
pub(crate) const END_MARK: Token<'static> = Token { kind: TokenKind::ENDING, bytes: b"" };

/// How a byte token is written: `<0x41>`.
pub(crate) fn byte_name(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// The byte values in the order of their ids.
pub(crate) fn byte_order(order: ByteIds) -> [u8; 256] {
    let mut bytes: [u8; 256] = std::array::from_fn(byte_at);
    if order == ByteIds::Printable {
        bytes.sort_by_key(|&byte| printable(byte));
    }
    bytes
}

/// The character that stands for a byte in published byte-level vocabularies.
///
/// A byte that is a printable, non-blank Latin-1 character stands for itself; the others, in the
/// order of their value, are U+0100 and up.
pub(crate) fn printable(byte: u8) -> char {
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

    fn marked(kind: EndMarkKind) -> Units {
        Units { end_mark: Some(EndMark { text: "</w>".to_owned(), kind }), ..Units::characters() }
    }

    #[test]
    fn a_unit_mark_is_a_symbol_of_its_own_and_a_suffix_is_not() {
        assert_eq!(written(&marked(EndMarkKind::Unit), "né"), ["n", "é", "</w>"]);
        assert_eq!(written(&marked(EndMarkKind::Suffix), "né"), ["n", "é</w>"]);
    }

    #[test]
    fn the_prefix_stands_on_all_characters_but_the_first() {
        let units = Units { continuing_prefix: Some("##".to_owned()), ..Units::characters() };
        assert_eq!(written(&units, "low"), ["l", "##o", "##w"]);
    }

    #[test]
    fn parsing_undoes_writing() {
        for units in [marked(EndMarkKind::Unit), marked(EndMarkKind::Suffix)] {
            units
                .for_each_symbol("low".as_bytes(), |symbol| {
                    let text = units.written(symbol).into_owned();
                    assert_eq!(units.parse(&text), symbol);
                })
                .unwrap();
        }
    }

    #[test]
    fn printable_order_begins_as_published_vocabularies_do() {
        let order = byte_order(ByteIds::Printable);
        assert_eq!((order[0], order[188], order[220], order[255]), (b'!', 0, b' ', 0xAD));
        assert_eq!(printable(b' '), 'Ġ');
        assert_eq!(printable(b'\n'), 'Ċ');
    }

    #[test]
    fn the_alphabet_is_sorted_by_code_point_with_the_mark_last() {
        let alphabet = marked(EndMarkKind::Unit)
            .alphabet([b"low".as_slice(), b"\xC3\xA9a"].into_iter())
            .unwrap();
        let texts: Vec<_> =
            alphabet.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes)).collect();
        assert_eq!(texts, ["a", "l", "o", "w", "é", ""]);
    }
}
