//! How published byte-level vocabularies write bytes: each as one printable character.
//!
//! `Ġthe` is a space and `the`. Costs one table look-up for each byte or character. Files of merges, a pair of
//! such names on each line, are read here too.

use std::sync::OnceLock;

use super::json;
use crate::error::{Error, Result};
use crate::units::{Units, printable};
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

/// The name of a token of these bytes.
pub(super) fn printable_name(bytes: &[u8]) -> String {
    static CHARACTERS: OnceLock<Vec<char>> = OnceLock::new();
    let characters = CHARACTERS.get_or_init(|| (0..=255).map(printable).collect());
    bytes.iter().map(|&byte| characters[usize::from(byte)]).collect()
}

/// The bytes of a token of this name; `None` where a character stands for no byte.
pub(crate) fn bytes_of_printable(name: &str) -> Option<Vec<u8>> {
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

/// The first `n_merges` merges of a file whose first line is a header: the two names of each.
pub(super) fn merge_lines(
    format: &'static str,
    part: &str,
    file: &[u8],
    n_merges: usize,
) -> Result<Vec<[String; 2]>> {
    let text = std::str::from_utf8(file).map_err(|_| Error::format(format, part, "not UTF-8"))?;
    let lines = (1..).zip(text.split_terminator('\n'));
    let lines = lines.filter(|(number, line)| *number > 1 || !line.contains("#version"));
    let merges = lines.take(n_merges).map(|(number, line)| {
        let names = json::two_parts(line.strip_suffix('\r').unwrap_or(line));
        let problem = || {
            let part = format!("line {number} of {part}");
            Error::format(format, part, "not two tokens and a space")
        };
        names.map(|(left, right)| [left.to_owned(), right.to_owned()]).ok_or_else(problem)
    });
    merges.collect()
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
