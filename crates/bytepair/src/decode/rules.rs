//! Tokens to bytes by rules: the fast way, which most tokenizers use. Takes time linear in the output.
//!
//! By our own rules a token gives its bytes. An end mark becomes one space, which is written only if another token
//! follows; a byte token gives its byte, and an unknown or added token its name.
//!
//! As SentencePiece joins tokens, `▁` becomes a space. If the model put a space before the text or squeezed spaces,
//! those at the beginning of the text are removed: the first one, or all of the first tokens. Control tokens give
//! nothing, and the unknown token a text of its own. Adjacent byte tokens are read as UTF-8, and each byte that is not
//! part of a character is decoded alone.

use serde::{Deserialize, Serialize};

use super::Utf8Buffer;
use crate::error::Result;
use crate::normalize::SPACE_SYMBOL;
use crate::vocabulary::{Token, TokenKind};

/// The changes that are undone when tokens become text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodeRules {
    /// Texts that are replaced in every text token, in this order: `▁` by a space.
    pub replacements: Vec<(String, String)>,
    /// How many spaces are removed from the beginning of the text.
    pub n_leading_spaces: usize,
    /// A text that is removed from the first token, wherever it stands in it, before all replacements.
    pub first_without: Option<String>,
    /// Whether adjacent byte tokens are decoded together: if they are not UTF-8, each is invalid.
    pub whole_byte_runs: bool,
}

/// Concatenates tokens to bytes, one at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Joiner {
    /// Whether the previous token had an end mark, whose space is written before the next token.
    owes_space: bool,
    /// How many leading spaces have been removed before something else was written.
    n_spaces_taken: usize,
    /// Whether anything was written.
    has_written: bool,
    /// Whether there was a token.
    has_begun: bool,
    /// Adjacent byte tokens that are decoded together.
    run: Vec<u8>,
    /// As in the rules.
    n_leading_spaces: usize,
}

impl Joiner {
    /// Appends what a token adds to the text.
    pub(crate) fn push(
        &mut self,
        token: Token<'_>,
        rules: &DecodeRules,
        out: &mut Utf8Buffer,
    ) -> Result<()> {
        if rules.whole_byte_runs {
            if token.kind == TokenKind::Byte {
                self.run.extend_from_slice(token.bytes);
                self.has_begun = true;
                self.n_leading_spaces = rules.n_leading_spaces;
                return Ok(());
            }
            self.finish(out)?;
        }
        self.push_alone(token, rules, out.bytes_mut());
        Ok(())
    }

    /// Appends what was held back until the last token.
    pub(crate) fn finish(&mut self, out: &mut Utf8Buffer) -> Result<()> {
        if self.run.is_empty() {
            return Ok(());
        }
        let run = std::mem::take(&mut self.run);
        if std::str::from_utf8(&run).is_ok() {
            self.write(&run, out.bytes_mut());
            return Ok(());
        }
        self.has_written = true;
        out.push_run(&run)
    }

    /// Adds a token if each byte stands for itself.
    pub(crate) fn push_alone(&mut self, token: Token<'_>, rules: &DecodeRules, out: &mut Vec<u8>) {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        self.n_leading_spaces = rules.n_leading_spaces;
        if std::mem::take(&mut self.owes_space) {
            self.write(b" ", out);
        }
        let TokenKind::Text(form) = token.kind else { return self.write(token.bytes, out) };
        self.owes_space = form.ends();
        let without = rules.first_without.as_deref().filter(|_| is_first);
        if rules.replacements.is_empty() && without.is_none() {
            return self.write(token.bytes, out);
        }
        let left = without.into_iter().map(|from| (from, ""));
        let pairs = rules.replacements.iter().map(|(from, to)| (from.as_str(), to.as_str()));
        let text = left
            .chain(pairs)
            .fold(token.bytes.to_vec(), |text, (from, to)| replaced(&text, from, to));
        self.write(&text, out);
    }

    fn write(&mut self, mut bytes: &[u8], out: &mut Vec<u8>) {
        while !self.has_written && self.n_spaces_taken < self.n_leading_spaces {
            let Some(rest) = bytes.strip_prefix(b" ") else { break };
            bytes = rest;
            self.n_spaces_taken += 1;
        }
        self.has_written |= !bytes.is_empty();
        out.extend_from_slice(bytes);
    }
}

/// The place of a text in a token. If the text is longer than the token, it is not searched at all.
pub(crate) fn find(token: &[u8], text: &[u8]) -> Option<usize> {
    (token.len() >= text.len()).then(|| memchr::memmem::find(token, text))?
}

/// A text with every occurrence of `from` replaced, from left to right; an empty `from` never occurs.
pub(crate) fn replaced(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut rest = bytes;
    let mut changed = Vec::with_capacity(bytes.len());
    while let Some(place) = find(rest, from.as_bytes()).filter(|_| !from.is_empty()) {
        changed.extend_from_slice(&rest[..place]);
        changed.extend_from_slice(to.as_bytes());
        rest = &rest[place + from.len()..];
    }
    changed.extend_from_slice(rest);
    changed
}

/// How a model's tokens become text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SentencePieceDecode {
    /// Which `▁` are removed at the beginning of the text.
    pub leading: LeadingSpaces,
    /// The text of the unknown token.
    pub unknown: String,
    /// The names of control tokens, sorted.
    pub controls: Vec<String>,
}

/// Which spaces are removed at the beginning of a text.
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

/// The output so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct PieceJoiner {
    /// Adjacent byte tokens that may still become a character.
    bytes: Vec<u8>,
    has_written: bool,
    has_left_out: bool,
}

/// Marks a byte that is not part of a character: no text contains it, and it is invalid by itself.
const WRONG: u8 = 0xFF;

impl PieceJoiner {
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
        self.write(&replaced(text, SPACE_SYMBOL, " "), out);
    }

    /// Appends what was held back until the last token.
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

    /// Appends text as it is.
    pub(crate) fn write(&mut self, text: &[u8], out: &mut Vec<u8>) {
        self.has_written |= !text.is_empty();
        out.extend_from_slice(text);
    }
}

impl SentencePieceDecode {
    /// Whether a token is a control token.
    pub(crate) fn is_control(&self, name: &[u8]) -> bool {
        self.controls.binary_search_by(|control| control.as_bytes().cmp(name)).is_ok()
    }
}

/// The first character or invalid byte, and the rest; `None` if more bytes are needed to decide.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{DecodeErrors, into_text};

    fn joined(tokens: &[Token<'_>], rules: &DecodeRules, errors: DecodeErrors) -> Result<String> {
        let (mut joiner, mut out) = (Joiner::default(), Utf8Buffer::new(errors));
        for token in tokens {
            joiner.push(*token, rules, &mut out)?;
        }
        joiner.finish(&mut out)?;
        out.take(true).map(into_text)
    }

    fn byte(bytes: &[u8]) -> Token<'_> {
        Token { kind: TokenKind::Byte, bytes }
    }

    #[test]
    fn byte_tokens_count_together_only_where_the_rules_say_so() {
        let tokens = [byte(b"\xE2"), byte(b"A"), Token::plain(b"b")];
        let apart = DecodeRules::default();
        let together = DecodeRules { whole_byte_runs: true, ..DecodeRules::default() };
        assert_eq!(joined(&tokens, &apart, DecodeErrors::Replace).unwrap(), "\u{FFFD}Ab");
        assert_eq!(joined(&tokens, &together, DecodeErrors::Replace).unwrap(), "\u{FFFD}\u{FFFD}b");
        assert_eq!(joined(&tokens, &together, DecodeErrors::Ignore).unwrap(), "b");
        joined(&tokens, &together, DecodeErrors::Strict).unwrap_err();
    }
}
