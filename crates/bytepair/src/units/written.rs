//! How tokens are written, marks included, and the tokens that a written text can be.
//!
//! Leaves out what only published byte-level files do (`printable`). Each costs a pass over the text of one token.

use std::borrow::Cow;

use super::{END_MARK, EndMark, EndMarkKind, Units};
use crate::vocabulary::{Form, Token, TokenKind};

impl Units {
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
    ///
    /// Where one reading of the marks leaves a single unit, that is the one; else as much as can be is taken
    /// for marks, as long as something is left.
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

    /// The text tokens that are written so: without marks, with the end mark, with the prefix, with both.
    pub(crate) fn readings<'t>(&self, written: &'t [u8]) -> [Option<Token<'t>>; 4] {
        let prefix = self.continuing_prefix.as_ref();
        let rest = prefix.and_then(|prefix| written.strip_prefix(prefix.as_bytes()));
        let without_mark = |bytes: &'t [u8]| -> Option<&'t [u8]> {
            bytes.strip_suffix(self.end_mark.as_ref()?.text.as_bytes())
        };
        let reading = |continues, ends, bytes: Option<&'t [u8]>| {
            Some(Token { kind: TokenKind::Text(Form { continues, ends }), bytes: bytes? })
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

    /// Whether a prefix with one unit is the same text as another unit with a suffix, as `##` is with the prefix
    /// `#` and the suffix `#`. Then a file in which tokens are texts does not say which of both it means.
    pub fn marks_overlap(&self) -> bool {
        let suffix = self.end_mark.as_ref().filter(|mark| mark.kind == EndMarkKind::Suffix);
        let overlaps = |(prefix, suffix): (&String, &EndMark)| overlap(prefix, &suffix.text);
        self.continuing_prefix.as_ref().zip(suffix).is_some_and(overlaps)
    }
}

/// Whether the prefix with some character is the same text as some character with the suffix.
fn overlap(prefix: &str, suffix: &str) -> bool {
    let mut of_prefix = prefix.chars();
    of_prefix.next();
    let mut of_suffix = suffix.chars();
    of_suffix.next_back();
    of_prefix.eq(of_suffix)
}

/// How a byte token is written: `<0x41>`.
pub fn byte_name(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

#[cfg(test)]
mod tests {
    use super::super::tests::marked;
    use super::*;
    use crate::units::{ByteIds, Unit};

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
            let kind = TokenKind::Text(Form { continues, ends });
            let expected = Token { kind, bytes: bytes.as_bytes() };
            assert_eq!(units.parse(written.as_bytes()), expected, "{written}");
        }
    }

    #[test]
    fn marks_that_could_be_mistaken_are_known() {
        let marks = |prefix: &str, suffix: &str| Units {
            continuing_prefix: Some(prefix.to_owned()),
            end_mark: Some(EndMark { text: suffix.to_owned(), kind: EndMarkKind::Suffix }),
            ..Units::characters()
        };
        for (prefix, suffix) in [("#", "_"), ("##", "##"), ("ab", "bc")] {
            assert!(marks(prefix, suffix).marks_overlap(), "{prefix} {suffix}");
        }
        for (prefix, suffix) in [("##", "</w>"), ("##", "_"), ("ab", "cb")] {
            assert!(!marks(prefix, suffix).marks_overlap(), "{prefix} {suffix}");
        }
        assert!(marks("", "_").check().is_err() && marks("#", "").check().is_err());
        let spaces = Units { unit: Unit::Byte(ByteIds::Value), ..marks("##", " ") };
        assert!(spaces.check().is_err());
    }
}
