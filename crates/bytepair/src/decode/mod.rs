//! Token ids to bytes, and bytes to text that is complete at every step.
//!
//! [`Tokenizer::decode`](crate::Tokenizer::decode) and [`DecodeStream`](crate::DecodeStream) apply this to the tokens
//! of a vocabulary. There are two ways: rules (`rules`), ours and those of SentencePiece, which are fast, and
//! [`DecodeChain`] (`chain`), which runs the list of steps of a published file literally if no rules are equivalent.
//! Decoding all at once uses the same joiner or the same steps as a stream. Takes time linear in the output; a chain,
//! for each of its steps.
//!
//! Bytes come in pieces that may end inside a character; text is given out as soon as it is certain ([`Utf8Buffer`]).
//! Bytes that are not UTF-8 are replaced, left out or an error.

pub(crate) mod chain;
pub(crate) mod rules;
pub(crate) mod stops;
pub(crate) mod stream;

use serde::{Deserialize, Serialize};

pub use self::chain::{DecodeChain, DecodeStep};
pub use self::rules::{DecodeRules, LeadingSpaces, SentencePieceDecode};
pub use self::stops::{Given, Stops};
use crate::error::{ErrorKind, Result};

/// How tokens become text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Decode {
    /// By their bytes, with some changes undone.
    Rules(DecodeRules),
    /// By steps over the tokens as they are written.
    Chain(DecodeChain),
    /// As SentencePiece joins tokens.
    #[serde(rename = "sentencepiece")]
    SentencePiece(SentencePieceDecode),
}

impl Default for Decode {
    /// Nothing is undone.
    fn default() -> Self {
        Self::Rules(DecodeRules::default())
    }
}

/// How bytes that are not UTF-8 are treated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeErrors {
    /// Each maximal invalid sequence becomes U+FFFD; in a run of byte tokens that is decoded as a whole, each byte
    /// does.
    #[default]
    Replace,
    /// They are an error.
    Strict,
    /// They are left out.
    Ignore,
    /// They stay, for bytes instead of text. Where text is asked for, they are replaced.
    Keep,
}

/// What replaces bytes that are not UTF-8.
const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();

/// Decoded bytes as text.
pub(crate) fn into_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
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

    /// The buffer to which tokens are joined.
    pub(crate) fn bytes_mut(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Appends adjacent bytes that are decoded together: if they are not UTF-8, each is invalid.
    pub(crate) fn push_run(&mut self, run: &[u8]) -> Result<()> {
        match (std::str::from_utf8(run), self.errors) {
            (Ok(_), _) | (_, DecodeErrors::Keep) => self.bytes.extend_from_slice(run),
            (_, DecodeErrors::Replace) => self.bytes.extend(REPLACEMENT.repeat(run.len())),
            (_, DecodeErrors::Ignore) => {}
            (Err(error), DecodeErrors::Strict) => {
                let offset = self.n_given + self.bytes.len() + error.valid_up_to();
                return Err(ErrorKind::DecodedNotUtf8 { offset }.into());
            }
        }
        Ok(())
    }

    /// The text that is complete. A character that may still be completed waits, unless this is the end.
    pub(crate) fn take(&mut self, is_end: bool) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut rest = self.bytes.as_slice();
        loop {
            let error = match std::str::from_utf8(rest) {
                Err(error) if self.errors != DecodeErrors::Keep => error,
                _ => {
                    text.extend_from_slice(rest);
                    rest = &[];
                    break;
                }
            };
            let (valid, invalid) = rest.split_at(error.valid_up_to());
            text.extend_from_slice(valid);
            rest = invalid;
            let invalid_len = match error.error_len() {
                Some(len) => len,
                None if is_end => invalid.len(),
                None => break,
            };
            match self.errors {
                DecodeErrors::Replace => text.extend_from_slice(REPLACEMENT),
                DecodeErrors::Ignore | DecodeErrors::Keep => {}
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
            let mut text = Vec::new();
            for part in &parts {
                buffer.bytes_mut().extend_from_slice(part);
                text.extend(buffer.take(false).unwrap());
            }
            text.extend(buffer.take(true).unwrap());
            let expected = String::from_utf8_lossy(&parts.concat()).into_owned();
            prop_assert_eq!(into_text(text), expected);
        }
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
}
