//! Files to tokenizers and back, one format per file.
//!
//! Readers take bytes and writers give bytes: where they lie is the caller's business. A reader refuses
//! what it does not fully understand ([`ErrorKind::Format`] names the part),
//! and a writer what its format cannot say
//! ([`ErrorKind::Inexpressible`] names that part). [`native`] holds
//! every tokenizer; the others are those of published models.
//!
//! Reading takes time and memory linear in the file; no number in a file makes more than the file is long.

mod assembly;
pub mod clip;
pub(crate) mod codes;
pub mod compiled;
pub mod encodings;
pub mod fastbpe;
pub mod gguf;
pub mod gpt1;
pub mod gpt2;
pub mod huggingface;
mod json;
mod live;
mod merges;
pub mod native;
pub mod pair;
mod ranks;
mod recognise;
pub mod segmentation;
pub mod sentencepiece;
pub mod subword_nmt;
pub mod tekken;
pub mod tiktoken;

#[cfg(test)]
mod tests;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use codes::{Codes, codes_format};
pub use recognise::{PAIRS, half_of_pair, recognise};

use bytepair::added::AddedToken;
use bytepair::for_formats::{byte_of, hexadecimal, quoted};
use bytepair::units::byte_name;
use bytepair::vocabulary::TokenId;
use bytepair::{Error, ErrorKind, Parts, Result};

/// Refuses ids that lie so far apart that the table of ids would dwarf the file.
fn check_id_range(
    format: &'static str,
    ids: impl Iterator<Item = TokenId>,
    n_entries: usize,
) -> Result<()> {
    match ids.max().filter(|&id| id as usize > most_ids(n_entries)) {
        Some(id) => {
            let problem = format!("too large for a vocabulary of {n_entries} tokens");
            Err(Error::format(format, format!("the id {id}"), problem))
        }
        None => Ok(()),
    }
}

/// How many ids a vocabulary of so many tokens may have, most of them without a token.
fn most_ids(n_tokens: usize) -> usize {
    n_tokens.saturating_mul(16).saturating_add(1_000_000)
}

/// A part of a tokenizer that a format has no words for.
fn inexpressible(format: &'static str, part: impl Into<String>) -> Error {
    ErrorKind::Inexpressible { format, part: part.into() }.into()
}

/// Refuses a tokenizer in which one of these does not hold, by the name of that part.
fn require(format: &'static str, parts: &[(bool, &str)]) -> Result<()> {
    match parts.iter().find(|(holds, _)| !holds) {
        Some((_, part)) => Err(inexpressible(format, *part)),
        None => Ok(()),
    }
}

/// The byte of a token such as `<0x4A>`, with digits as they are written.
fn byte_of_name(name: &str) -> Option<u8> {
    byte_of(name.as_bytes()).filter(|&byte| byte_name(byte) == name)
}

/// Refuses what formats of ids and merges alone have no words for.
fn check_bare(format: &'static str, parts: &Parts) -> Result<()> {
    require(
        format,
        &[
            (parts.truncation.is_none() && parts.padding.is_none(), "truncation and padding"),
            (parts.vocabulary.priorities().is_empty(), "merges that share a priority"),
        ],
    )?;
    let has_rules = |token: &&AddedToken| token.lstrip || token.rstrip || token.single_word;
    match parts.added.iter().find(has_rules) {
        Some(token) => {
            let name = quoted(token.content.as_bytes());
            Err(inexpressible(
                format,
                format!("the added token {name}, which has rules of its own"),
            ))
        }
        None => Ok(()),
    }
}

/// A file, and which texts get other ids from it than from the tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// The content of the file.
    pub file: Vec<u8>,
    /// Kinds of texts; all others get the same ids.
    pub changes: Vec<Change>,
}

/// A kind of texts that get other ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The kind, in words.
    pub what: String,
    /// A text of the kind, normalized otherwise.
    pub text: String,
}

impl Written {
    /// The file, if no text gets other ids from it.
    fn exact(self, format: &'static str) -> Result<Vec<u8>> {
        match self.changes.first() {
            Some(Change { what, text }) => {
                let example = match text.is_empty() {
                    true => String::new(),
                    false => format!(", for example {text:?}"),
                };
                let part = format!(
                    "this normalizer: {what}{example}; ids_may_change=True writes it nevertheless"
                );
                Err(inexpressible(format, part))
            }
            None => Ok(self.file),
        }
    }
}
