//! A `.bytepair` file to a tokenizer.
//!
//! Checks what the types of the schema cannot say: the version, the Unicode tables, and what added tokens, kinds and
//! steps have to be; `records` checks the tables. Of what can be said in several ways, one is the way of the format, so
//! that what is read is written as it was. A parser of the whole file says where it stopped, not in which field; so the
//! fields of a file that is refused are read one by one once more. Left out: whether the parts fit each other, which [`Tokenizer::new`] checks.
//! Cost: time and memory linear in the file.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::records::{File, RoundRecord, StepRecord, TokenRecord, vocabulary};
use super::{FORMAT, VERSION};
use crate::json;
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, DecodeStep};
use bytepair::normalize::Normalizer;
use bytepair::pretokenize::PreTokenizer;
use bytepair::template::{OffsetRules, Padding, Template, Truncation};
use bytepair::units::Units;
use bytepair::vocabulary::{TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;

/// Why a field of earlier files is refused.
const SCAFFOLD: &str = "tokens that are merged through and never emitted are no longer supported; delete the field and \
                        these tokens are emitted, or remove them afterwards";

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or holds what this version does not know.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file = parse("the file", file)?;
    let vocabulary = vocabulary(&file)?;
    assemble(file, vocabulary)
}

fn parse(what: &str, file: &[u8]) -> Result<File> {
    json::parse(FORMAT, what, file).map_err(|error| bad_field(file).unwrap_or(error))
}

/// The tokenizer of a file whose tokens and merges are kept elsewhere.
pub(crate) fn read_head(head: &[u8], vocabulary: Vocabulary) -> Result<Tokenizer> {
    let head = parse("the head", head)?;
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
    json::check_steps(FORMAT, "decode", steps(&file.decode).len())?;
    let given = [
        ("normalizer", value(&file.normalizer)),
        ("rounds", value(&file.rounds)),
        ("units", value(&file.units)),
        ("template", value(&file.template)),
        ("decode", value(&file.decode)),
    ];
    check_added(&file.added_tokens)?;
    check_kinds(&file.units, &vocabulary)?;
    let steps = file.normalizer.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
    let round = |record: RoundRecord| record.into_round(unicode);
    let tokenizer = Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        pre_tokenizer: PreTokenizer::new(
            file.rounds.into_iter().map(round).collect::<Result<_>>()?,
        ),
        units: file.units,
        vocabulary: Arc::new(vocabulary),
        added: with_content(file.added_tokens)?,
        ignore_merges: file.ignore_merges,
        dropout: file.dropout,
        template: file.template,
        truncation: file.truncation,
        padding: file.padding,
        offsets: file.offsets,
        decode: decode(file.decode)?,
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
        value(units),
        value(template),
        value(decode),
    ]
}

/// A record as a value; none of them has keys that are no strings.
fn value(record: &impl Serialize) -> Value {
    serde_json::to_value(record).unwrap_or_default()
}

/// Refuses contents that appear twice. Two of them may have one id.
fn check_added(tokens: &[AddedToken]) -> Result<()> {
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
        let missing = match (form.continues() && !has_prefix, form.ends() && !has_mark) {
            (true, _) => "continues a piece, but units have no continuing_prefix",
            (_, true) => "ends a piece, but units have no end_mark",
            (false, false) => continue,
        };
        return Err(Error::format(FORMAT, format!("tokens, kind of token {id}"), missing));
    }
    Ok(())
}

/// Refuses an added token without content, which would stand everywhere.
fn with_content(tokens: Vec<AddedToken>) -> Result<Vec<AddedToken>> {
    match tokens.iter().find(|token| token.content.is_empty()) {
        Some(AddedToken { id, .. }) => {
            Err(Error::format(FORMAT, format!("added token {id}"), "has no content"))
        }
        None => Ok(tokens),
    }
}

fn steps(decode: &Decode) -> &[DecodeStep] {
    match decode {
        Decode::Chain(chain) => &chain.steps,
        Decode::Rules(_) | Decode::SentencePiece(_) => &[],
    }
}

/// Refuses an empty text that is replaced, and sorts what has no order.
fn decode(mut decode: Decode) -> Result<Decode> {
    let is_empty =
        |step: &DecodeStep| matches!(step, DecodeStep::Replace { from, .. } if from.is_empty());
    if steps(&decode).iter().any(is_empty) {
        return Err(Error::format(FORMAT, "decode", "an empty text is replaced"));
    }
    if let Decode::SentencePiece(rules) = &mut decode {
        rules.controls.sort();
    }
    Ok(decode)
}

/// The error of the first field whose value is not what it should be. Fields that are missing, unknown, or there twice the
/// parser names itself.
fn bad_field(file: &[u8]) -> Option<Error> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(file) else { return None };
    fields.into_iter().find_map(|(name, value)| {
        let problem = problem(&name, value)?;
        Some(Error::format(FORMAT, name, problem.to_string()))
    })
}

fn problem(name: &str, value: Value) -> Option<serde_json::Error> {
    match name {
        "format" | "unicode" => problem_of::<String>(value),
        "version" => problem_of::<u32>(value),
        "normalizer" => problem_of::<Vec<StepRecord>>(value),
        "rounds" => problem_of::<Vec<RoundRecord>>(value),
        "units" => problem_of::<Units>(value),
        "ignore_merges" => problem_of::<bool>(value),
        "scaffold" => Some(serde::de::Error::custom(SCAFFOLD)),
        "dropout" => problem_of::<Option<f64>>(value),
        "template" => problem_of::<Template>(value),
        "truncation" => problem_of::<Option<Truncation>>(value),
        "padding" => problem_of::<Option<Padding>>(value),
        "offsets" => problem_of::<OffsetRules>(value),
        "decode" => problem_of::<Decode>(value),
        "added_tokens" => problem_of::<Vec<AddedToken>>(value),
        "tokens" => problem_of::<Vec<Option<TokenRecord>>>(value),
        "merges" => problem_of::<Vec<[TokenId; 3]>>(value),
        "priorities" => problem_of::<Vec<u32>>(value),
        "merge_counts" => problem_of::<Vec<i64>>(value),
        _ => None,
    }
}

fn problem_of<T: DeserializeOwned>(value: Value) -> Option<serde_json::Error> {
    serde_json::from_value::<T>(value).err()
}
