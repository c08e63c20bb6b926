//! A `.bytepair` file to a tokenizer.
//!
//! Checks what the types of the schema cannot say: the version, the Unicode tables, the bytes and the kind of each
//! token, that no token appears twice, that every id of a merge has a token and that counts, if any, are one for each
//! merge. Of what can be said in several ways, one is the way of the format, so that what is read is written as it was.
//! Left out: whether the parts fit each other, which [`Tokenizer::new`] checks.
//! Cost: time and memory linear in the file.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::naming::bad_field;
use super::schema::{
    AddedRecord, DecodeRecord, File, KindRecord, MarkedRecord, RoundRecord, StepRecord,
    TemplateRecord, TokenRecord, UnitsRecord,
};
use super::{FORMAT, VERSION};
use crate::json;
use bytepair::normalize::Normalizer;
use bytepair::pretokenize::PreTokenizer;
use bytepair::units::Units;
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or holds what this version does not know.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let parsed = json::parse(FORMAT, "the file", file);
    let file: File = parsed.map_err(|error| bad_field(file).unwrap_or(error))?;
    let vocabulary = vocabulary(&file)?;
    assemble(file, vocabulary)
}

/// The tokenizer of a file whose tokens and merges are kept elsewhere.
pub(crate) fn read_head(head: &[u8], vocabulary: Vocabulary) -> Result<Tokenizer> {
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
    let given = [
        ("normalizer", value(&file.normalizer)),
        ("rounds", value(&file.rounds)),
        ("units", value(&file.units)),
        ("template", value(&file.template)),
        ("decode", value(&file.decode)),
    ];
    check_added(&file.added_tokens)?;
    let units: Units = file.units.into();
    check_kinds(&units, &vocabulary)?;
    let steps = file.normalizer.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
    let round = |record: RoundRecord| record.into_round(unicode);
    let tokenizer = Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        pre_tokenizer: PreTokenizer::new(
            file.rounds.into_iter().map(round).collect::<Result<_>>()?,
        ),
        units,
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
    .map_err(|error| Error::format(FORMAT, "the tokenizer", error.to_string()))?;
    let same =
        given.iter().zip(written(tokenizer.parts())).find(|((_, given), again)| given != again);
    match same {
        Some(((part, _), _)) => {
            Err(Error::format(FORMAT, *part, "is not in the form in which the format has it"))
        }
        None => Ok(tokenizer),
    }
}

/// The fields that can be said in several ways, as they are written.
fn written(parts: &Parts) -> [Value; 5] {
    let Parts { normalizer, pre_tokenizer, units, template, decode, .. } = parts;
    [
        value(&normalizer.steps().iter().map(StepRecord::from).collect::<Vec<_>>()),
        value(&pre_tokenizer.rounds().iter().map(RoundRecord::from).collect::<Vec<_>>()),
        value(&UnitsRecord::from(units)),
        value(&TemplateRecord::from(template)),
        value(&DecodeRecord::from(decode)),
    ]
}

/// A record as a value; none of them has keys that are no strings.
fn value(record: &impl Serialize) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

/// Refuses contents that appear twice. Two of them may have one id.
fn check_added(tokens: &[AddedRecord]) -> Result<()> {
    let mut contents = HashSet::new();
    match tokens.iter().find(|token| !contents.insert(token.content.as_str())) {
        Some(token) => {
            let part = format!("added_tokens, {:?}", token.content);
            Err(Error::format(FORMAT, part, "appears twice"))
        }
        None => Ok(()),
    }
}

/// Refuses tokens with marks that the units do not have.
fn check_kinds(units: &Units, vocabulary: &Vocabulary) -> Result<()> {
    let (has_prefix, has_mark) = (units.continuing_prefix.is_some(), units.end_mark.is_some());
    if has_prefix && has_mark {
        return Ok(());
    }
    for (id, token) in vocabulary.iter() {
        let TokenKind::Text(form) = token.kind else { continue };
        let missing = match (form.continues && !has_prefix, form.ends && !has_mark) {
            (true, _) => "continues a piece, but units have no continuing_prefix",
            (_, true) => "ends a piece, but units have no end_mark",
            (false, false) => continue,
        };
        return Err(Error::format(FORMAT, format!("tokens, kind of token {id}"), missing));
    }
    Ok(())
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
                check_form(id, marked, &hexadecimal)?;
                (marked.kind.into(), hexadecimal.as_slice())
            }
        };
        if let Some(same) = vocabulary.id(Token { kind, bytes }) {
            return Err(Error::format(
                FORMAT,
                format!("token {id}"),
                format!("is token {same} too"),
            ));
        }
        if kind == TokenKind::Byte && bytes.len() != 1 {
            return Err(bad_token(id));
        }
        vocabulary.insert(id, Token { kind, bytes })?;
    }
    if file.tokens.last().is_some_and(Option::is_none) {
        return Err(Error::format(FORMAT, "tokens", "end with an id that has no token"));
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
    if let Some(place) = file.merge_counts.iter().position(|&count| count < 0) {
        return Err(Error::format(FORMAT, format!("merge_counts, {place}"), "less than 0"));
    }
    vocabulary.set_merge_counts(file.merge_counts.clone());
    if !vocabulary.set_priorities(file.priorities.clone()) {
        return Err(Error::format(FORMAT, "priorities", "not one for each merge"));
    }
    Ok(vocabulary)
}

/// Refuses what is written in another way.
fn check_form(id: TokenId, marked: &MarkedRecord, bytes: &[u8]) -> Result<()> {
    let problem = match (&marked.hex, marked.kind) {
        (None, KindRecord::Plain) => "needs no kind: it is plain text",
        (Some(_), _) if std::str::from_utf8(bytes).is_ok() => "has hex, but its bytes are text",
        (Some(hex), _) if hex.bytes().any(|digit| digit.is_ascii_uppercase()) => {
            "has hex in upper case"
        }
        _ => return Ok(()),
    };
    Err(Error::format(FORMAT, format!("token {id}"), problem))
}

fn bad_token(id: TokenId) -> Error {
    Error::format(
        FORMAT,
        format!("token {id}"),
        "needs its bytes as either text or hex, a byte token one of them",
    )
}
