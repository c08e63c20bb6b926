//! Token ids to bytes, and bytes to text that is complete at every step.
//!
//! A token gives its bytes. An end mark becomes one space, which is written only when another token
//! follows; a byte token gives its byte; an unknown or added token its name. Dialects that write spaces
//! as another character have [`DecodeRules`] to undo that. Decoding all at once and decoding as a stream
//! go through the same [`Joiner`], so they agree. Takes time linear in the bytes given out.

use crate::error::{ErrorKind, Result};
use crate::vocabulary::{Token, TokenKind};

/// What is undone when tokens become text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DecodeRules {
    /// Texts that are replaced in every text token, in this order: `▁` by a space.
    pub replacements: Vec<(String, String)>,
    /// How many spaces are taken off the beginning of the text.
    pub n_leading_spaces: usize,
}

/// What becomes of bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeErrors {
    /// Each maximal invalid sequence becomes U+FFFD.
    #[default]
    Replace,
    /// They are an error.
    Strict,
    /// They are left out.
    Ignore,
}

/// Joins tokens to bytes, one at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joiner {
    /// Whether the token before had an end mark, whose space is written before the next token.
    owes_space: bool,
    /// How many leading spaces have been taken off, until something else was written.
    n_spaces_taken: usize,
    /// Whether anything was written.
    has_written: bool,
}

impl Joiner {
    /// Appends what a token adds to the text.
    pub(crate) fn push(&mut self, token: Token<'_>, rules: &DecodeRules, out: &mut Vec<u8>) {
        if std::mem::take(&mut self.owes_space) {
            self.write(b" ", rules, out);
        }
        match token.kind {
            TokenKind::Text(form) => {
                if rules.replacements.is_empty() {
                    self.write(token.bytes, rules, out);
                } else {
                    self.write(&replaced(token.bytes, &rules.replacements), rules, out);
                }
                self.owes_space = form.ends;
            }
            _ => self.write(token.bytes, rules, out),
        }
    }

    fn write(&mut self, mut bytes: &[u8], rules: &DecodeRules, out: &mut Vec<u8>) {
        while !self.has_written && self.n_spaces_taken < rules.n_leading_spaces {
            let Some(rest) = bytes.strip_prefix(b" ") else { break };
            bytes = rest;
            self.n_spaces_taken += 1;
        }
        self.has_written |= !bytes.is_empty();
        out.extend_from_slice(bytes);
    }
}

fn replaced(bytes: &[u8], replacements: &[(String, String)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (from, to) in replacements {
        let mut rest = bytes.as_slice();
        let mut changed = Vec::with_capacity(bytes.len());
        while let Some(place) =
            memchr::memmem::find(rest, from.as_bytes()).filter(|_| !from.is_empty())
        {
            changed.extend_from_slice(&rest[..place]);
            changed.extend_from_slice(to.as_bytes());
            rest = &rest[place + from.len()..];
        }
        changed.extend_from_slice(rest);
        bytes = changed;
    }
    bytes
}

/// Decoded bytes that do not yet make whole characters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Utf8Buffer {
    /// Begins with the first byte that was not given out.
    bytes: Vec<u8>,
    /// How many bytes were given out before.
    n_given: usize,
    errors: DecodeErrors,
}

impl Utf8Buffer {
    pub(crate) fn new(errors: DecodeErrors) -> Self {
        Self { errors, ..Self::default() }
    }

    /// Where tokens are joined to.
    pub(crate) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The text that is complete; a character that may still be completed waits, unless it is the end.
    pub(crate) fn take(&mut self, is_end: bool) -> Result<String> {
        let mut text = String::new();
        let mut rest = self.bytes.as_slice();
        loop {
            let error = match std::str::from_utf8(rest) {
                Ok(valid) => {
                    text.push_str(valid);
                    rest = &[];
                    break;
                }
                Err(error) => error,
            };
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            text.push_str(&String::from_utf8_lossy(valid));
            rest = invalid;
            let invalid_len = match error.error_len() {
                Some(len) => len,
                None if is_end => invalid.len(),
                None => break,
            };
            match self.errors {
                DecodeErrors::Replace => text.push(char::REPLACEMENT_CHARACTER),
                DecodeErrors::Ignore => {}
                DecodeErrors::Strict => {
                    let offset = self.n_given + self.bytes.len() - rest.len();
                    return Err(ErrorKind::DecodedNotUtf8 { offset }.into());
                }
            }
            rest = &invalid[invalid_len..];
        }
        let n_taken = self.bytes.len() - rest.len();
        self.n_given += n_taken;
        self.bytes.drain(..n_taken);
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_stream_gives_what_the_whole_gives(parts: Vec<Vec<u8>>) {
            let mut buffer = Utf8Buffer::new(DecodeErrors::Replace);
            let mut text = String::new();
            for part in &parts {
                buffer.bytes_mut().extend_from_slice(part);
                text += &buffer.take(false).unwrap();
            }
            text += &buffer.take(true).unwrap();
            prop_assert_eq!(text, String::from_utf8_lossy(&parts.concat()).into_owned());
        }
    }

    #[test]
    fn half_a_character_waits_for_the_other_half() {
        let mut buffer = Utf8Buffer::new(DecodeErrors::Strict);
        buffer.bytes_mut().extend_from_slice("aé".as_bytes().split_last().unwrap().1);
        assert_eq!(buffer.take(false).unwrap(), "a");
        buffer.bytes_mut().push(0xA9);
        assert_eq!(buffer.take(false).unwrap(), "é");
    }

    #[test]
    fn a_strict_stream_says_where_the_bytes_are_wrong() {
        let mut buffer = Utf8Buffer::new(DecodeErrors::Strict);
        buffer.bytes_mut().extend_from_slice(b"abc");
        buffer.take(false).unwrap();
        buffer.bytes_mut().extend_from_slice(b"d\xFF");
        let error = buffer.take(false).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::DecodedNotUtf8 { offset: 4 }));
    }

    #[test]
    fn an_end_mark_is_a_space_only_before_another_token() {
        let (mut joiner, mut out, rules) = (Joiner::default(), Vec::new(), DecodeRules::default());
        let low = Token { kind: TokenKind::ENDING, bytes: b"low" };
        joiner.push(low, &rules, &mut out);
        assert_eq!(out, b"low");
        joiner.push(low, &rules, &mut out);
        assert_eq!(out, b"low low");
    }

    #[test]
    fn leading_spaces_are_taken_off_once() {
        let rules = DecodeRules {
            replacements: vec![("▁".to_owned(), " ".to_owned())],
            n_leading_spaces: 1,
        };
        let (mut joiner, mut out) = (Joiner::default(), Vec::new());
        for text in ["▁", "▁a", "▁b"] {
            joiner.push(Token::plain(text.as_bytes()), &rules, &mut out);
        }
        assert_eq!(out, b" a b");
    }
}
