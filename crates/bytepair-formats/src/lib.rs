//! Reads tokenizers from files and writes them to files. Each format has a module.
//!
//! Readers take bytes and writers return bytes; the caller decides where they are stored. A reader refuses what it does
//! not fully understand ([`ErrorKind::Format`] names the part), and a writer refuses what its format cannot express
//! ([`ErrorKind::Inexpressible`] names the part). [`native`] holds every tokenizer; the other formats are those of
//! published models.
//!
//! Reading takes time and memory linear in the file. No number in a file makes it take more.

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

/// Reads a file of a format that consists of one file and needs no option.
///
/// # Errors
/// If the file does not have this format, or no such format has this name.
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
/// If the format cannot express the tokenizer, or no format with this name is written.
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

/// Refuses ids so far apart that the table of ids would dwarf the file.
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

/// The largest number of ids, most of them without a token, that a vocabulary of `n_tokens` tokens may have.
fn most_ids(n_tokens: usize) -> usize {
    n_tokens.saturating_mul(16).saturating_add(1_000_000)
}

/// The error for a part of a tokenizer that a format cannot express.
fn inexpressible(format: &'static str, part: impl Into<String>) -> Error {
    ErrorKind::Inexpressible { format, part: part.into() }.into()
}

/// Refuses a tokenizer if one of these conditions does not hold, by the name of that part.
fn require(format: &'static str, parts: &[(bool, &str)]) -> Result<()> {
    match parts.iter().find(|(holds, _)| !holds) {
        Some((_, part)) => Err(inexpressible(format, *part)),
        None => Ok(()),
    }
}

/// The byte of a token such as `<0x4A>`, if its digits are written in this form.
fn byte_of_name(name: &str) -> Option<u8> {
    byte_of(name.as_bytes()).filter(|&byte| byte_name(byte) == name)
}

/// Refuses parts that formats with nothing but ids and merges cannot express.
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

/// A file, and the kinds of texts that get different ids from it than from the tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Written {
    /// The content of the file.
    pub file: Vec<u8>,
    /// The kinds of texts that get other ids. All other texts get the same ids.
    pub changes: Vec<Change>,
}

/// A kind of texts that get other ids.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// A description of the kind.
    pub what: String,
    /// A text of the kind that is normalized differently.
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
