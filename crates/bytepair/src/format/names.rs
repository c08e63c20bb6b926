//! How published byte-level vocabularies write bytes: each as one printable character.
//!
//! `Ġthe` is a space and `the`. Costs one table look-up for each byte or character.

use std::sync::OnceLock;

use crate::units::{Units, printable};
use crate::vocabulary::{Token, TokenKind};

/// The highest character that stands for a byte.
const LAST_PRINTABLE: usize = 0x143;

/// A token as `tokenizer.json` and `vocab.json` write it: `Ġthe` in byte dialects.
pub fn published_name(units: &Units, token: Token<'_>) -> String {
    match token.kind {
        TokenKind::Text(_) if units.is_bytes() => printable_name(&units.written(token)),
        _ => String::from_utf8_lossy(&units.written(token)).into_owned(),
    }
}

/// The name of a token of these bytes.
pub(super) fn printable_name(bytes: &[u8]) -> String {
    static CHARACTERS: OnceLock<Vec<char>> = OnceLock::new();
    let characters = CHARACTERS.get_or_init(|| (0..=255).map(printable).collect());
    bytes.iter().map(|&byte| characters[usize::from(byte)]).collect()
}

/// The bytes of a token of this name; `None` where a character stands for no byte.
pub(super) fn bytes_of_printable(name: &str) -> Option<Vec<u8>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_undo_each_other_for_every_byte() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of_printable(&printable_name(&all)), Some(all));
        assert_eq!(printable_name(b" the\n"), "ĠtheĊ");
        assert_eq!(bytes_of_printable("a b"), None);
        assert_eq!(bytes_of_printable("｜"), None);
    }
}
