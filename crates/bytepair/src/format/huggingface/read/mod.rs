//! A `tokenizer.json` to our parts.
//!
//! Each part is read on its own, so that an error names it. What touches ids is either taken over
//! exactly or refused; fields for offsets and pairs of texts are read and have no effect. An added token
//! has the id that the library gives it: that of the vocabulary, or the next one, whatever its own entry
//! says.

mod decoder;
mod normalizer;
mod post_processor;
mod pre_tokenizer;
mod vocabulary;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::decoder::decode;
use self::normalizer::{Normalizing, normalizing};
use self::post_processor::template;
use self::pre_tokenizer::{Cutting, cutting};
use self::vocabulary::vocabulary;
use super::schema::{Added, File, Model, ModelType};
use super::{FORMAT, WORD};
use crate::added::AddedToken;
use crate::error::{Error, Result};
use crate::format::json;
use crate::normalize::Normalizer;
use crate::split::{Splitter, Stage, Unmatched};
use crate::tokenizer::{Parts, Template, Tokenizer};
use crate::unicode::UnicodeTables;
use crate::units::{ByteIds, EndMark, EndMarkKind, Unit, Units, byte_order};
use crate::vocabulary::{Token, TokenKind, Vocabulary};

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or has a part that is not understood or has no equal here.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file: File<'_> =
        serde_json::from_slice(file).map_err(|error| json::problem(FORMAT, "the file", &error))?;
    check_header(&file)?;
    let model = model(file.model)?;
    let added: Vec<Added> = part("added_tokens", file.added_tokens)?.unwrap_or_default();
    let normalizing = normalizing(part("normalizer", file.normalizer)?)?;
    let cutting = cutting(part("pre_tokenizer", file.pre_tokenizer)?)?;
    let units = units(&model, &normalizing, &cutting)?;
    let (vocabulary, added) = vocabulary(&model, &units, &added)?;
    let decode = decode(part("decoder", file.decoder)?, &units)?;
    let template = template(part("post_processor", file.post_processor)?, Template::default())?;
    let added = added_for(&normalizing, &cutting, &units, added)?;
    let unicode = UnicodeTables::latest();
    let steps = [normalizing.steps, cutting.steps].concat();
    let ignore_merges = model.ignore_merges == Some(true);
    check_ignore_merges(ignore_merges, &units, &vocabulary)?;
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        splitter: checked(Splitter::new(cutting.stages, &unicode)?)?,
        units: Units { unit: unit(&units, &vocabulary), ..units },
        vocabulary: Arc::new(vocabulary),
        added,
        ignore_merges,
        template,
        decode,
    })
    .map_err(|error| problem("the tokenizer", error.to_string()))
}

fn problem(part: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, part, problem)
}

fn part<'f, T: Deserialize<'f>>(name: &str, value: Option<&'f RawValue>) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    serde_json::from_str(value.get()).map_err(|error| json::problem(FORMAT, name, &error))
}

fn check_header(file: &File<'_>) -> Result<()> {
    if let Some(version) = file.version.as_ref().filter(|version| *version != "1.0") {
        return Err(problem(
            "version",
            format!("{version:?} is not the version 1.0 that is understood"),
        ));
    }
    for (name, value) in [("truncation", file.truncation), ("padding", file.padding)] {
        if value.is_some_and(|value| value.get() != "null") {
            return Err(problem(
                name,
                "not supported; set it to null, and cut or pad the ids yourself",
            ));
        }
    }
    Ok(())
}

fn model(value: &RawValue) -> Result<Model> {
    let ModelType { name } = part("model", Some(value))?.unwrap_or(ModelType { name: None });
    if let Some(name) = name.filter(|name| name != "BPE") {
        return Err(problem("model.type", format!("{name:?} is no byte-pair encoding")));
    }
    let model: Option<Model> = part("model", Some(value))?;
    let model = model.ok_or_else(|| problem("model", "missing"))?;
    if model.dropout.is_some_and(|dropout| dropout != 0.0) {
        return Err(problem("model.dropout", "not supported: ids would depend on chance"));
    }
    Ok(model)
}

fn units(model: &Model, normalizing: &Normalizing, cutting: &Cutting) -> Result<Units> {
    let suffix = model.end_of_word_suffix.clone().filter(|suffix| !suffix.is_empty());
    let prefix = model.continuing_subword_prefix.clone().filter(|prefix| !prefix.is_empty());
    let unit = if cutting.is_byte_level { Unit::Byte(ByteIds::Printable) } else { Unit::Character };
    let byte_fallback = model.byte_fallback == Some(true);
    let has_mark = suffix.is_some() || prefix.is_some() || normalizing.end_mark.is_some();
    if has_mark && (cutting.is_byte_level || byte_fallback) {
        let part = if suffix.is_some() {
            "model.end_of_word_suffix"
        } else {
            "model.continuing_subword_prefix"
        };
        return Err(problem(part, "not supported together with bytes"));
    }
    if cutting.is_byte_level && byte_fallback {
        return Err(problem("model.byte_fallback", "not supported together with ByteLevel"));
    }
    if normalizing.end_mark.is_some() && (suffix.is_some() || !is_words(&cutting.stages)) {
        return Err(problem(
            "normalizer.Replace.pattern",
            "an end of words that are not those of the pre-tokenizer",
        ));
    }
    let mark = |kind| move |text| EndMark { text, kind };
    let unit_mark = normalizing.end_mark.clone().map(mark(EndMarkKind::Unit));
    Ok(Units {
        unit,
        end_mark: unit_mark.or_else(|| suffix.map(mark(EndMarkKind::Suffix))),
        continuing_prefix: prefix,
        unknown: model.unk_token.clone(),
        fuse_unknown: model.fuse_unk == Some(true),
        byte_fallback,
    })
}

fn is_words(stages: &[Stage]) -> bool {
    matches!(stages, [Stage { pattern, unmatched: Unmatched::Drop }] if pattern.source == WORD)
}

/// The added tokens, for a pipeline in which the pre-tokenizer changes the text before it is cut at them.
///
/// Steps of a pre-tokenizer stand behind that cut there and in front of it here. Without a normalizer
/// both cuts see the same text; then all tokens can be looked for in the first one.
fn added_for(
    normalizing: &Normalizing,
    cutting: &Cutting,
    units: &Units,
    mut added: Vec<AddedToken>,
) -> Result<Vec<AddedToken>> {
    let changes_late =
        !cutting.steps.is_empty() || units.end_mark_kind() == Some(EndMarkKind::Unit);
    if !changes_late || added.iter().all(|token| !token.normalized) {
        return Ok(added);
    }
    let is_plain = normalizing.steps.is_empty() && normalizing.end_mark.is_none();
    if !is_plain || added.iter().any(|token| !token.normalized) {
        return Err(problem(
            "added_tokens",
            "normalized=true is not supported together with a prefix or an end mark",
        ));
    }
    for token in &mut added {
        token.normalized = false;
    }
    Ok(added)
}

fn check_ignore_merges(ignore_merges: bool, units: &Units, vocabulary: &Vocabulary) -> Result<()> {
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    let has_bytes = || vocabulary.iter().any(|(_, token)| token.kind == TokenKind::Byte);
    if ignore_merges && (has_marks || has_bytes()) {
        return Err(problem(
            "model.ignore_merges",
            "not supported together with marks or byte fallback",
        ));
    }
    Ok(())
}

/// The unit, with the order in which the bytes stand.
fn unit(units: &Units, vocabulary: &Vocabulary) -> Unit {
    if !units.is_bytes() {
        return units.unit;
    }
    let mut by_value = (0..).zip(byte_order(ByteIds::Value));
    let is_by_value = by_value.all(|(id, byte)| vocabulary.id(Token::plain(&[byte])) == Some(id));
    Unit::Byte(if is_by_value { ByteIds::Value } else { ByteIds::Printable })
}

/// Refuses patterns whose empty matches would cut the text: no match is empty here.
fn checked(splitter: Splitter) -> Result<Splitter> {
    match splitter.may_match_nothing() {
        true => Err(problem("pre_tokenizer.Split.pattern", "could match the empty text")),
        false => Ok(splitter),
    }
}
