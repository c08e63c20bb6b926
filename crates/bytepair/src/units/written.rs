//! How tokens are written: marks included, the tokens that a written text can be, and bytes as characters.
//!
//! Published byte-level vocabularies write each byte as one printable character: `Ġthe` is a space and `the`. Costs a pass
//! over the text of one token, and one table look-up for each byte or character.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::{END_MARK, EndMark, EndMarkKind, Units};
use crate::vocabulary::{Form, Token, TokenKind};

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
    /// The bytes of text that a token of this name in a file is written with, marks included; `None` where the
    /// units are bytes and a character of the name stands for none.
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

/// The bytes of a token of this name; `None` where a character stands for no byte.
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
    use super::super::tests::marked;
    use super::*;
    use crate::units::{ByteIds, Unit};

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
