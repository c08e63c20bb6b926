//! GPT-1's pair of files: `encoder_bpe_40000.json` with the ids, `vocab_40000.bpe` with the merges.
//!
//! They say nothing of how a text becomes words. Taken is what `transformers` makes of them: Bert's clean text
//! in lower case without accents, Bert's words, `</w>` at their ends, `<unk>` for what is not known. The
//! program that GPT-1 was trained with repaired the text (ftfy) and cut it with spaCy; its ids differ where
//! Bert's words do. The files are read as the `tokenizer.json` with these parts. Linear in their size.

use serde_json::{Map, Value};

use super::assembly::{Document, Pipeline};
use super::huggingface::{self, Added};
use super::json::{self, Entries};
use super::merges::{merge_lines, pairs};
use bytepair::Tokenizer;
use bytepair::{Error, Result};

/// The name of the format in messages.
const FORMAT: &str = "GPT-1's two files";

/// The token for what is not known.
const UNKNOWN: &str = "<unk>";

/// The tokenizer of the two files.
///
/// # Errors
/// Where a file is damaged, or a merge names a token that the vocabulary lacks.
pub fn read(encoder_json: &[u8], vocab_bpe: &[u8]) -> Result<Tokenizer> {
    huggingface::read(&tokenizer_json(encoder_json, vocab_bpe)?)
}

/// The `tokenizer.json` of the tokenizer that the two files hold.
///
/// # Errors
/// As for [`read`].
pub fn tokenizer_json(encoder_json: &[u8], vocab_bpe: &[u8]) -> Result<Vec<u8>> {
    let Entries(entries) = json::parse(FORMAT, "encoder_bpe_40000.json", encoder_json)?;
    let Some((_, unknown)) = entries.iter().find(|(name, _)| name == UNKNOWN) else {
        return Err(Error::format(FORMAT, "encoder_bpe_40000.json", "lacks the token <unk>"));
    };
    let unknown =
        Added { id: *unknown, content: UNKNOWN.to_owned(), special: true, ..Added::default() };
    let merges = merge_lines(FORMAT, "vocab_40000.bpe", vocab_bpe, usize::MAX)?;
    let n_entries = entries.len();
    let vocab: Map<String, Value> =
        entries.into_iter().map(|(name, id)| (name.into_owned(), id.into())).collect();
    if vocab.len() < n_entries {
        let problem = "a token appears twice";
        return Err(Error::format(FORMAT, "encoder_bpe_40000.json", problem));
    }
    let document = Document {
        pipeline: Pipeline::Gpt1,
        added_tokens: vec![unknown],
        post_processor: Value::Null,
        unknown: Some(UNKNOWN.to_owned()),
        vocab,
        merges: pairs(&merges),
    };
    Ok(document.into_bytes())
}
