//! How published byte-level vocabularies write bytes: each as one printable character.
//!
//! `Ġthe` is a space and `the`. Costs one table look-up for each byte or character.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::Units;
use crate::vocabulary::{Token, TokenKind};

/// The highest character that stands for a byte.
const LAST_PRINTABLE: usize = 0x143;

/// A token as `tokenizer.json` and `vocab.json` write it: `Ġthe` in byte dialects.
pub fn published_name(units: &Units, token: Token<'_>) -> String {
    match token.kind {
        TokenKind::Text(form) if units.is_bytes() => {
            let prefix = units.continuing_prefix.as_deref().filter(|_| form.continues);
            let mark = units.end_mark.as_ref().filter(|_| form.ends).map(|mark| mark.text.as_str());
            [prefix.unwrap_or(""), &printable_name(token.bytes), mark.unwrap_or("")].concat()
        }
        _ => String::from_utf8_lossy(&units.written(token)).into_owned(),
    }
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
    static BYTES: OnceLock<Vec<Option<u8>>> = OnceLock::new();
    let bytes = BYTES.get_or_init(|| {
        let mut bytes = vec![None; LAST_PRINTABLE + 1];
        for byte in 0..=255 {
            bytes[printable(byte) as usize] = Some(byte);
        }
        bytes
    });
    name.chars().map(|character| bytes.get(character as usize).copied().flatten()).collect()
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
