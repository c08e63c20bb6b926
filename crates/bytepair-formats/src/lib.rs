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
pub mod codes;
pub mod compiled;
pub mod encodings;
pub mod gguf;
pub mod gpt2;
pub mod huggingface;
mod json;
pub mod native;
pub mod pair;
mod ranks;
mod recognise;
pub mod segmentation;
pub mod sentencepiece;
pub mod tekken;
pub mod tiktoken;

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub use recognise::{PAIRS, half_of_pair, recognise};

use bytepair::added::AddedToken;
use bytepair::for_formats::{byte_of, hexadecimal, quoted};
use bytepair::units::byte_name;
use bytepair::vocabulary::TokenId;
use bytepair::{Error, ErrorKind, Parts, Result, Tokenizer};

/// Reads a file of a format that is one file and needs no option.
///
/// # Errors
/// If the file is not of the format, and if no such format has this name.
pub fn read(format: &str, file: &[u8]) -> Result<Tokenizer> {
    match format {
        "bytepair" => native::read(file),
        "compiled" => compiled::read(file),
        "huggingface" => huggingface::read(file),
        "tekken" => tekken::read(file),
        "sentencepiece" => sentencepiece::read(file),
        "clip" => clip::read(file),
        "subword-nmt" => codes::read_subword_nmt(file, None)?.tokenizer(),
        "fastbpe" => codes::read_fastbpe(file, None)?.tokenizer(),
        _ => Err(no_format(format)),
    }
}

/// Writes the files of a format, each with its usual name.
///
/// # Errors
/// If the format cannot express the tokenizer, and if no format that is written has this name.
pub fn write(format: &str, tokenizer: &Tokenizer) -> Result<Vec<(&'static str, Vec<u8>)>> {
    let (name, file) = match format {
        "bytepair" => ("tokenizer.bytepair", native::write(tokenizer)),
        "compiled" => ("tokenizer.bytepair-compiled", compiled::write(tokenizer)?),
        "huggingface" => ("tokenizer.json", huggingface::write(tokenizer)?),
        "sentencepiece" => ("tokenizer.model", sentencepiece::write(tokenizer)?),
        "subword-nmt" => ("codes.txt", codes::write_subword_nmt(tokenizer)?),
        "fastbpe" => ("codes.txt", codes::write_fastbpe(tokenizer)?),
        "tiktoken" => {
            let tiktoken::TiktokenFiles { ranks, sidecar } = tiktoken::write(tokenizer)?;
            return Ok(vec![("tokenizer.tiktoken", ranks), ("tokenizer.tiktoken.json", sidecar)]);
        }
        "gpt2" => {
            let gpt2::Gpt2Files { vocab_json, merges_txt } = gpt2::write(tokenizer)?;
            return Ok(vec![("vocab.json", vocab_json), ("merges.txt", merges_txt)]);
        }
        _ => return Err(no_format(format)),
    };
    Ok(vec![(name, file)])
}

fn no_format(name: &str) -> Error {
    Error::option("format", format!("{name:?} names no format of such files"))
}

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

/// How many ids a vocabulary of `n_tokens` tokens may have, most of them without a token.
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
#[non_exhaustive]
pub struct Written {
    /// The content of the file.
    pub file: Vec<u8>,
    /// Kinds of texts; all others get the same ids.
    pub changes: Vec<Change>,
}

/// A kind of texts that get other ids.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
