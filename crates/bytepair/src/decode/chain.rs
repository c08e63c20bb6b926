//! Tokens to text by a list of steps, each applied to the tokens of the previous one, as published decoders do.
//!
//! The steps receive tokens as they are written in their file, marks included, and do literally what Hugging Face
//! tokenizers 0.23 does, including its peculiarities: if a byte step finds a token that is not made of byte
//! characters, it takes it as it is, even an added one in the middle. This module defines what a step does to one
//! token; `stream` takes tokens through all steps. Takes time linear in the text for each step.

use serde::{Deserialize, Deserializer, Serialize};

use super::rules::replaced;
use super::{DecodeErrors, Utf8Buffer};
use crate::error::{Error, Result};
use crate::normalize::Growth;
use crate::units::bytes_of_printable;
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched};

/// Steps that turn written tokens into text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DecodeChain {
    /// Each is applied to the tokens of the previous one.
    pub steps: Vec<DecodeStep>,
    /// The text between the tokens that are left at the end.
    pub separator: String,
}

impl DecodeChain {
    /// The steps as far as they affect the length of the text.
    pub(crate) fn growths(&self) -> impl Iterator<Item = Growth> {
        self.steps.iter().map(|step| match step {
            DecodeStep::Replace { from, to } => Growth::text(from, to),
            DecodeStep::ReplacePattern { to, .. } => Growth::any(to.len(), to),
            _ => Growth::OTHER,
        })
    }
}

/// One step of a [`DecodeChain`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum DecodeStep {
    /// A token whose characters all stand for bytes becomes these bytes; all tokens together become one.
    #[serde(deserialize_with = "no_fields")]
    ByteLevel,
    /// A character becomes a space.
    Metaspace {
        /// The character.
        replacement: char,
        /// Whether it is removed from the first token.
        drops_first: bool,
    },
    /// A text becomes a space, but is removed from the last token.
    Suffix {
        /// The text.
        suffix: String,
    },
    /// Adjacent tokens such as `<0x41>` become the text of their bytes, or one U+FFFD per byte.
    #[serde(deserialize_with = "no_fields")]
    ByteFallback,
    /// All tokens are joined to one.
    #[serde(deserialize_with = "no_fields")]
    Fuse,
    /// A character is stripped from the ends of each token.
    Strip {
        /// The character.
        content: char,
        /// How many at the beginning, at most.
        start: usize,
        /// How many at the end, at most.
        stop: usize,
    },
    /// A text is replaced by another.
    Replace {
        /// What is replaced. Not empty.
        from: String,
        /// The replacement.
        to: String,
    },
    /// Each match of a pattern is replaced by a text.
    ReplacePattern {
        /// The pattern, as Oniguruma reads it.
        pattern: String,
        /// The replacement.
        to: String,
    },
    /// A space is put before each token except the first, unless it has a prefix, which is removed.
    WordPiece {
        /// The prefix.
        prefix: String,
        /// Whether spaces before punctuation are removed.
        cleanup: bool,
    },
    /// Equal adjacent tokens become one.
    Ctc {
        /// The token that is removed.
        pad: String,
        /// The text that becomes a space, if there is a clean-up.
        delimiter: String,
        /// Whether spaces before punctuation are removed.
        cleanup: bool,
    },
}

/// A step without fields. By default serde would ignore any other field next to its name.
fn no_fields<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<(), D::Error> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct NoFields {}
    NoFields::deserialize(deserializer).map(|NoFields {}| ())
}

/// A chain whose patterns are compiled.
#[derive(Debug)]
pub(crate) struct Compiled {
    pub(crate) chain: DecodeChain,
    /// By step: the finder of its matches.
    matchers: Vec<Option<Splitter>>,
    /// By step: the borders of the text that it replaces.
    pub(crate) borders: Vec<Vec<usize>>,
}

impl Compiled {
    /// Compiles the patterns of a chain.
    ///
    /// # Errors
    /// If a pattern is invalid, or a text to be replaced is empty.
    pub(crate) fn new(chain: DecodeChain) -> Result<Self> {
        let is_empty =
            |step: &DecodeStep| matches!(step, DecodeStep::Replace { from, .. } if from.is_empty());
        if chain.steps.iter().any(is_empty) {
            return Err(Error::option(
                "decoder",
                "replaces an empty text, which stands everywhere",
            ));
        }
        let matcher = |step: &DecodeStep| match step {
            DecodeStep::ReplacePattern { pattern, .. } => matches_of(pattern).map(Some),
            _ => Ok(None),
        };
        let matchers = chain.steps.iter().map(matcher).collect::<Result<_>>()?;
        let borders = chain.steps.iter().map(|step| match step {
            DecodeStep::Replace { from, .. } => borders(from.as_bytes()),
            _ => Vec::new(),
        });
        Ok(Self { borders: borders.collect(), chain, matchers })
    }

    /// The token at `index` after a step that looks at one token alone; `None` if it is removed.
    pub(crate) fn kept(
        &self,
        step: usize,
        token: Vec<u8>,
        index: usize,
    ) -> Result<Option<Vec<u8>>> {
        Ok(Some(match &self.chain.steps[step] {
            DecodeStep::Metaspace { replacement, drops_first } => {
                let to = if *drops_first && index == 0 { "" } else { " " };
                replaced(&token, replacement.encode_utf8(&mut [0; 4]), to)
            }
            DecodeStep::Strip { content, start, stop } => {
                stripped(&token, *content, *start, *stop).to_vec()
            }
            DecodeStep::Replace { from, to } => replaced(&token, from, to),
            DecodeStep::ReplacePattern { to, .. } => match &self.matchers[step] {
                Some(matches) => replaced_matches(&token, matches, to)?,
                None => token,
            },
            DecodeStep::WordPiece { prefix, cleanup } => word_piece(token, prefix, *cleanup, index),
            DecodeStep::Ctc { pad, delimiter, cleanup } => {
                let mut text = replaced_text(&token, pad, "");
                if *cleanup {
                    text = replaced_text(&cleaned(text), delimiter, " ");
                }
                return Ok((!text.is_empty()).then_some(text));
            }
            DecodeStep::ByteLevel
            | DecodeStep::Suffix { .. }
            | DecodeStep::ByteFallback
            | DecodeStep::Fuse => token,
        }))
    }
}

/// By length of a prefix of a text: the length of its longest border, a shorter prefix that it also ends with.
pub(crate) fn borders(text: &[u8]) -> Vec<usize> {
    let mut borders = vec![0; text.len() + 1];
    let mut len = 0;
    for end in 1..text.len() {
        while len > 0 && text[len] != text[end] {
            len = borders[len];
        }
        len += usize::from(text[len] == text[end]);
        borders[end + 1] = len;
    }
    borders
}

/// Finds the matches of a pattern: each is a piece, and the rest is dropped.
pub fn matches_of(pattern: &str) -> Result<Splitter> {
    let pattern = Pattern { source: pattern.to_owned(), flavour: Flavour::Oniguruma };
    let stages = vec![Stage::matches(pattern, Unmatched::Drop)];
    Ok(Splitter::new(stages, &UnicodeTables::latest())?)
}

fn replaced_matches(token: &[u8], matches: &Splitter, to: &str) -> Result<Vec<u8>> {
    let (mut text, mut end) = (Vec::with_capacity(token.len()), 0);
    matches.for_each_piece(token, |found| -> Result<()> {
        text.extend_from_slice(&token[end..found.start]);
        text.extend_from_slice(to.as_bytes());
        end = found.end;
        Ok(())
    })?;
    text.extend_from_slice(&token[end..]);
    Ok(text)
}

/// Replaces one text by another in a token, as [`replaced`] does; an empty `from` matches between all characters.
pub(crate) fn replaced_text(token: &[u8], from: &str, to: &str) -> Vec<u8> {
    match from.is_empty() {
        true => String::from_utf8_lossy(token).replace(from, to).into_bytes(),
        false => replaced(token, from, to),
    }
}

/// The bytes that the characters of a token stand for; the token itself if one stands for none.
pub(crate) fn byte_level(token: Vec<u8>) -> Vec<u8> {
    std::str::from_utf8(&token).ok().and_then(bytes_of_printable).unwrap_or(token)
}

/// The tokens for adjacent byte tokens: one token, or one for each byte if they are not UTF-8.
pub(crate) fn tokens_of_run(run: &[u8], errors: DecodeErrors) -> Result<Vec<Vec<u8>>> {
    if errors == DecodeErrors::Keep || std::str::from_utf8(run).is_ok() {
        return Ok(if run.is_empty() { Vec::new() } else { vec![run.to_vec()] });
    }
    let mut buffer = Utf8Buffer::new(errors);
    run.iter()
        .map(|byte| {
            // If a run is not UTF-8 as a whole, each of its bytes is invalid, including ASCII.
            buffer.push_run(if byte.is_ascii() { b"\xFF" } else { std::slice::from_ref(byte) })?;
            buffer.take(false)
        })
        .collect()
}

/// The byte of a token such as `<0x41>`, accepting signs and lower case.
pub fn byte_of(token: &[u8]) -> Option<u8> {
    let digits =
        token.strip_prefix(b"<0x")?.strip_suffix(b">").filter(|digits| digits.len() == 2)?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn stripped(token: &[u8], content: char, start: usize, stop: usize) -> &[u8] {
    let mut buffer = [0; 4];
    let content = content.encode_utf8(&mut buffer).as_bytes();
    // The numbers come from a file and may be huge: there are no more steps than characters to strip.
    let mut text = token;
    let most = token.len();
    for _ in 0..start.min(most) {
        text = text.strip_prefix(content).unwrap_or(text);
    }
    let mut whole = token;
    for _ in 0..stop.min(most) {
        whole = whole.strip_suffix(content).unwrap_or(whole);
    }
    let n_cut = token.len() - whole.len();
    &text[..text.len().saturating_sub(n_cut)]
}

fn word_piece(token: Vec<u8>, prefix: &str, cleanup: bool, index: usize) -> Vec<u8> {
    let text = match token.strip_prefix(prefix.as_bytes()) {
        _ if index == 0 => token,
        Some(rest) => rest.to_vec(),
        None => [b" ", token.as_slice()].concat(),
    };
    if cleanup { cleaned(text) } else { text }
}

/// Spaces that written English does not have.
fn cleaned(text: Vec<u8>) -> Vec<u8> {
    const CHANGES: [(&str, &str); 11] = [
        (" .", "."),
        (" ?", "?"),
        (" !", "!"),
        (" ,", ","),
        (" ' ", "'"),
        (" n't", "n't"),
        (" 'm", "'m"),
        (" do not", " don't"),
        (" 's", "'s"),
        (" 've", "'ve"),
        (" 're", "'re"),
    ];
    CHANGES.iter().fold(text, |text, (from, to)| replaced(&text, from, to))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_text_is_not_replaced() {
        let step = DecodeStep::Replace { from: String::new(), to: "x".to_owned() };
        let chain = DecodeChain { steps: vec![DecodeStep::Fuse, step], separator: String::new() };
        let error = Compiled::new(chain).unwrap_err().to_string();
        assert!(error.contains("an empty text"), "{error}");
    }
}
