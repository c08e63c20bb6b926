//! CLIP's one file: `bpe_simple_vocab_16e6.txt.gz`, a list of merges from which all else follows.
//!
//! The vocabulary is the 256 bytes, the same with the end mark `</w>`, the first 48,894 merges, and
//! `<|startoftext|>` and `<|endoftext|>`, which stand around a text on request. A text becomes words as in the
//! `tokenizer.json` that is published for CLIP, and the file is read as that one: NFC, white space made one
//! space, lower case, then CLIP's pattern. CLIP's own program repairs a text first (ftfy) and resolves HTML's
//! `&amp;`; do that beforehand where it matters. The rest of the file, more merges than CLIP uses, is left
//! out.
//!
//! Unpacking stops at sixteen times the size of the file. Linear in what is unpacked.

use std::borrow::Cow;
use std::io::Read;

use flate2::read::MultiGzDecoder;
use serde_json::{Map, Value};

use super::assembly::{Document, Pipeline, merge_lines, pairs, roberta};
use super::huggingface::{self, Added};
use bytepair::Tokenizer;
use bytepair::units::{ByteIds, byte_order, printable_name};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// The name of the format in messages.
const FORMAT: &str = "bpe_simple_vocab_16e6.txt.gz";

/// How many merges CLIP uses.
const N_MERGES: usize = 49_152 - 256 - 2;

/// What a gzip file begins with.
const GZIP: [u8; 2] = [0x1F, 0x8B];

/// How many times its size a file may unpack to.
const MAX_RATIO: usize = 16;

const BEGIN: &str = "<|startoftext|>";
const END: &str = "<|endoftext|>";

/// The tokenizer of the file, packed or unpacked.
///
/// # Errors
/// If the file is damaged, or unpacks to far more than its size.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    huggingface::read(&tokenizer_json(file)?)
}

/// The `tokenizer.json` of the tokenizer that the file holds.
fn tokenizer_json(file: &[u8]) -> Result<Vec<u8>> {
    let text = unpacked(file)?;
    let merges = pairs(&merge_lines(FORMAT, "the file", &text, N_MERGES)?);
    if merges.len() < N_MERGES {
        let problem = format!("{} merges of {N_MERGES}: was it cut off?", merges.len());
        return Err(Error::format(FORMAT, "the file", problem));
    }
    let names = all_names(&merges);
    let n_names = names.len();
    let vocab: Map<String, Value> =
        names.into_iter().zip(0..).map(|(name, id)| (name, id.into())).collect();
    if vocab.len() < n_names {
        return Err(Error::format(FORMAT, "the file", "two merges make the same token"));
    }
    let ids = |place: usize| TokenId::try_from(place).unwrap_or(TokenId::MAX);
    let (begin, end) = (ids(n_names - 2), ids(n_names - 1));
    let added = |content: &str, id: TokenId, normalized: bool| Added {
        id,
        content: content.to_owned(),
        special: true,
        normalized,
        ..Added::default()
    };
    let document = Document {
        pipeline: Pipeline::named("clip", false),
        added_tokens: vec![added(BEGIN, begin, true), added(END, end, false)],
        post_processor: roberta((BEGIN, begin), (END, end), false, false),
        unknown: Some(END.to_owned()),
        vocab,
        merges,
    };
    Ok(document.into_bytes())
}

fn unpacked(file: &[u8]) -> Result<Cow<'_, [u8]>> {
    if !file.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(file));
    }
    let limit = file.len().saturating_mul(MAX_RATIO);
    let mut unpacked = Vec::new();
    let packed = MultiGzDecoder::new(file).take(limit as u64 + 1).read_to_end(&mut unpacked);
    packed.map_err(|error| Error::format(FORMAT, "the compressed data", error.to_string()))?;
    match unpacked.len() > limit {
        true => {
            let problem = format!("unpacks to more than {MAX_RATIO} times its size");
            Err(Error::format(FORMAT, "the compressed data", problem))
        }
        false => Ok(Cow::Owned(unpacked)),
    }
}

/// The names of all tokens, in the order of their ids.
fn all_names(merges: &[[&str; 2]]) -> Vec<String> {
    let bytes = byte_order(ByteIds::Printable);
    let bytes = bytes.iter().map(|&byte| printable_name(&[byte]));
    let endings = bytes.clone().map(|name| format!("{name}</w>"));
    let merged = merges.iter().map(|[left, right]| format!("{left}{right}"));
    bytes.chain(endings).chain(merged).chain([BEGIN, END].map(str::to_owned)).collect()
}
