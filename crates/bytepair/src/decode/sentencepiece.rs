//! Tokens to text as SentencePiece joins them.
//!
//! `▁` becomes a space. Where the model put one before the text or squeezed spaces, those that the text
//! would begin with are left out: the first one, or all of the first tokens'. Control tokens are nothing, the
//! unknown token is a text of its own. Neighbouring byte tokens are read as UTF-8, and each byte that is no
//! part of a character counts alone. Takes time linear in the bytes given out.

use serde::{Deserialize, Serialize};

use crate::normalize::SPACE_SYMBOL;
use crate::vocabulary::{Token, TokenKind};

/// How a model's tokens become text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentencePieceDecode {
    /// Which `▁` are left out at the beginning of the text.
    pub leading: LeadingSpaces,
    /// What the unknown token stands for.
    pub unknown: String,
    /// The names of control tokens, sorted.
    pub controls: Vec<String>,
}

/// Which spaces are left out at the beginning of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeadingSpaces {
    /// None.
    #[default]
    Stay,
    /// One.
    OneGoes,
    /// One of each token, until a token has another text.
    EachGoes,
}

/// What was written so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joiner {
    /// Neighbouring byte tokens that may still become a character.
    bytes: Vec<u8>,
    has_written: bool,
    has_left_out: bool,
}

/// Stands for a byte that is no part of a character: no text has it, and it is wrong by itself.
const WRONG: u8 = 0xFF;

impl Joiner {
    /// Appends what a token adds to the text.
    pub(crate) fn push(
        &mut self,
        token: Token<'_>,
        rules: &SentencePieceDecode,
        out: &mut Vec<u8>,
    ) {
        if token.kind == TokenKind::Byte {
            self.bytes.extend_from_slice(token.bytes);
            return self.give_characters(false, out);
        }
        self.finish(out);
        if token.kind == TokenKind::Unknown {
            return self.write(rules.unknown.as_bytes(), out);
        }
        if token.kind == TokenKind::Added && rules.is_control(token.bytes) {
            return;
        }
        let is_leading = !self.has_written && !self.has_left_out;
        let stripped = token.bytes.strip_prefix(SPACE_SYMBOL.as_bytes());
        let goes = is_leading && rules.leading != LeadingSpaces::Stay;
        let text = stripped.filter(|_| goes).unwrap_or(token.bytes);
        self.has_left_out |= rules.leading == LeadingSpaces::OneGoes && goes && stripped.is_some();
        self.write(&spaced(text), out);
    }

    /// Appends what waited for the last token.
    pub(crate) fn finish(&mut self, out: &mut Vec<u8>) {
        self.give_characters(true, out);
    }

    fn give_characters(&mut self, is_end: bool, out: &mut Vec<u8>) {
        let bytes = std::mem::take(&mut self.bytes);
        let mut rest = bytes.as_slice();
        while let Some((text, after)) = next(rest, is_end) {
            self.write(text, out);
            rest = after;
        }
        self.bytes = rest.to_vec();
    }

    fn write(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.has_written |= !text.is_empty();
        out.extend_from_slice(text);
    }
}

impl SentencePieceDecode {
    fn is_control(&self, name: &[u8]) -> bool {
        self.controls.binary_search_by(|control| control.as_bytes().cmp(name)).is_ok()
    }
}

/// The first character or wrong byte, and what follows; `None` where it takes more bytes to know.
fn next(bytes: &[u8], is_end: bool) -> Option<(&[u8], &[u8])> {
    if bytes.is_empty() {
        return None;
    }
    let (length, is_wrong) = match std::str::from_utf8(bytes) {
        Ok(text) => (text.len(), false),
        Err(error) if error.valid_up_to() > 0 => (error.valid_up_to(), false),
        Err(error) if error.error_len().is_some() || is_end => (1, true),
        Err(_) => return None,
    };
    let (first, rest) = bytes.split_at(length);
    Some((if is_wrong { &[WRONG] } else { first }, rest))
}

fn spaced(text: &[u8]) -> Vec<u8> {
    let mut rest = text;
    let mut out = Vec::with_capacity(text.len());
    while let Some(place) = memchr::memmem::find(rest, SPACE_SYMBOL.as_bytes()) {
        out.extend_from_slice(&rest[..place]);
        out.push(b' ');
        rest = &rest[place + SPACE_SYMBOL.len()..];
    }
    out.extend_from_slice(rest);
    out
}
