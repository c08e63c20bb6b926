//! A `.bytepair` file to a tokenizer.
//!
//! Checks what the types of the schema cannot say: the version, the Unicode tables, the bytes of each
//! token, that every id of a merge has a token and that counts, if any, are one for each merge. Left out:
//! whether the parts fit each other, which [`Tokenizer::new`] checks.
//! Cost: time and memory linear in the file.

use std::sync::Arc;

use super::schema::{File, RoundRecord, TokenRecord};
use super::{FORMAT, VERSION};
use crate::error::{Error, Result};
use crate::format::json;
use crate::normalize::Normalizer;
use crate::pretokenize::PreTokenizer;
use crate::tokenizer::{Parts, Tokenizer};
use crate::unicode::UnicodeTables;
use crate::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or holds what this version does not know.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file: File = json::parse(FORMAT, "the file", file)?;
    let vocabulary = vocabulary(&file)?;
    assemble(file, vocabulary)
}

/// The tokenizer of a file whose tokens and merges are kept elsewhere.
pub(in crate::format) fn read_head(head: &[u8], vocabulary: Vocabulary) -> Result<Tokenizer> {
    let head: File = json::parse(FORMAT, "the head", head)?;
    match head.tokens.is_empty()
        && head.merges.is_empty()
        && head.priorities.is_empty()
        && head.merge_counts.is_empty()
    {
        true => assemble(head, vocabulary),
        false => Err(Error::format(FORMAT, "tokens", "appear twice")),
    }
}

fn assemble(file: File, vocabulary: Vocabulary) -> Result<Tokenizer> {
    if file.format != "bytepair" {
        return Err(Error::format(FORMAT, "format", format!("not bytepair but {:?}", file.format)));
    }
    if file.version != VERSION {
        let problem = format!("version {} is not supported, only {VERSION}", file.version);
        return Err(Error::format(FORMAT, "version", problem));
    }
    let unicode = UnicodeTables::of_version(&file.unicode).ok_or_else(|| {
        Error::format(FORMAT, "unicode", format!("no tables for {}", file.unicode))
    })?;
    let n_cutting = file.rounds.iter().map(RoundRecord::n_steps).sum();
    json::check_steps(FORMAT, "normalizer", file.normalizer.len())?;
    json::check_steps(FORMAT, "rounds", file.rounds.len().max(n_cutting))?;
    json::check_steps(FORMAT, "decode", file.decode.n_steps())?;
    let steps = file.normalizer.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
    let round = |record: RoundRecord| record.into_round(unicode);
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        pre_tokenizer: PreTokenizer::new(
            file.rounds.into_iter().map(round).collect::<Result<_>>()?,
        ),
        units: file.units.into(),
        vocabulary: Arc::new(vocabulary),
        added: file.added_tokens.into_iter().map(TryInto::try_into).collect::<Result<_>>()?,
        ignore_merges: file.ignore_merges,
        dropout: file.dropout,
        template: file.template.into(),
        truncation: file.truncation.map(Into::into),
        padding: file.padding.map(Into::into),
        offsets: file.offsets.into(),
        decode: file.decode.try_into()?,
    })
    .map_err(|error| Error::format(FORMAT, "the tokenizer", error.to_string()))
}

fn vocabulary(file: &File) -> Result<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (id, record) in (0..).zip(&file.tokens) {
        let Some(record) = record else { continue };
        let hexadecimal;
        let (kind, bytes) = match record {
            TokenRecord::Plain(text) => (TokenKind::PLAIN, text.as_bytes()),
            TokenRecord::Marked(marked) => {
                hexadecimal = marked.bytes().ok_or_else(|| bad_token(id))?;
                (marked.kind.into(), hexadecimal.as_slice())
            }
        };
        if kind == TokenKind::Byte && bytes.len() != 1 {
            return Err(bad_token(id));
        }
        vocabulary.insert(id, Token { kind, bytes })?;
    }
    let has_token = |&id: &TokenId| vocabulary.token(id).is_some();
    if let Some((rank, [left, right, _])) =
        (0_usize..).zip(&file.merges).find(|(_, merge)| !merge.iter().all(has_token))
    {
        let part = format!("merge {rank}, of {left} and {right}");
        return Err(Error::format(FORMAT, part, "an id without a token"));
    }
    for &[left, right, result] in &file.merges {
        vocabulary.push_merge_to(Merge { left, right, result });
    }
    if !matches!(file.merge_counts.len(), 0) && file.merge_counts.len() != file.merges.len() {
        return Err(Error::format(FORMAT, "merge_counts", "not one for each merge"));
    }
    vocabulary.set_merge_counts(file.merge_counts.clone());
    if !vocabulary.set_priorities(file.priorities.clone()) {
        return Err(Error::format(FORMAT, "priorities", "not one for each merge"));
    }
    Ok(vocabulary)
}

fn bad_token(id: TokenId) -> Error {
    Error::format(
        FORMAT,
        format!("token {id}"),
        "needs its bytes as either text or hex, a byte token one of them",
    )
}
