//! A `tokenizer.json` to our parts.
//!
//! Each part is read on its own, so that an error names it. What touches ids is either taken over
//! exactly or refused; fields for offsets and pairs of texts are read and have no effect. An added token
//! has the id that the library gives it: that of the vocabulary, or the next one, whatever its own entry
//! says.

mod decoder;
mod limits;
mod normalizer;
mod post_processor;
mod pre_tokenizer;
mod vocabulary;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use self::decoder::{Context, decode};
use self::normalizer::{Normalizing, normalizing};
use self::post_processor::finishing;
use self::pre_tokenizer::{Cutting, cutting};
use self::vocabulary::vocabulary;
use super::schema::{Added, File, Model, ModelType};
use super::{FORMAT, WORD};
use crate::error::{Error, Result};
use crate::format::json;
use crate::normalize::Normalizer;
use crate::split::{Stage, Unmatched};
use crate::tokenizer::{Parts, Tokenizer};
use crate::unicode::UnicodeTables;
use crate::units::{ByteIds, EndMark, EndMarkKind, Missing, Unit, Units, byte_order};
use crate::vocabulary::{Token, Vocabulary};

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or has a part that is not understood or has no equal here.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    if let Some((model, file)) = in_one_pass(file) {
        check_version(&file)?;
        return tokenizer(&model, &file);
    }
    let file: File<'_, &RawValue> = json::parse(FORMAT, "the file", file)?;
    let (value, file) = file.with(());
    check_version(&file)?;
    tokenizer(&model(value)?, &file)
}

/// Model and file, if nothing is wrong with either. Where something is, they are read part by part, so that
/// the error names it.
fn in_one_pass(file: &[u8]) -> Option<(Model<'_>, File<'_, ()>)> {
    let file: File<'_, Model<'_>> = serde_json::from_str(std::str::from_utf8(file).ok()?).ok()?;
    let (model, file) = file.with(());
    let is_sound = model.name.as_deref() == Some("BPE") && check_dropout(&model).is_ok();
    is_sound.then_some((model, file))
}

fn tokenizer(model: &Model<'_>, file: &File<'_, ()>) -> Result<Tokenizer> {
    let listed: Vec<Added> = part("added_tokens", file.added_tokens)?.unwrap_or_default();
    let normalizing = normalizing(part("normalizer", file.normalizer)?)?;
    let cutting = cutting(part("pre_tokenizer", file.pre_tokenizer)?)?;
    let mut finishing = finishing(part("post_processor", file.post_processor)?)?;
    let units = units(model, &normalizing, &cutting)?;
    let (vocabulary, added) = vocabulary(model, &units, &listed)?;
    check_end_mark(&units, &listed)?;
    let unicode = UnicodeTables::hugging_face();
    let normalizer = Normalizer::new(normalizing.steps, unicode);
    let context =
        Context { units: &units, vocabulary: &vocabulary, added: &added, normalizer: &normalizer };
    let decode = decode(part("decoder", file.decoder)?, &context)?;
    let units = with_alphabet(units, &vocabulary);
    Tokenizer::new(Parts {
        pre_tokenizer: cutting.compiled(unicode)?,
        ignore_merges: model.ignore_merges == Some(true),
        template: finishing.template(&units, &vocabulary)?,
        offsets: finishing.offsets.unwrap_or_default(),
        truncation: part("truncation", file.truncation)?.map(limits::truncation).transpose()?,
        padding: part("padding", file.padding)?.map(limits::padding).transpose()?,
        dropout: model.dropout.filter(|dropout| *dropout != 0.0),
        normalizer,
        added,
        decode,
        ..Parts::new(units, Arc::new(vocabulary))
    })
    .map_err(|error| problem("the tokenizer", error.to_string()))
}

fn problem(part: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, part, problem)
}

fn check_steps(part: &str, n_steps: usize) -> Result<()> {
    json::check_steps(FORMAT, part, n_steps)
}

fn part<'f, T: Deserialize<'f>>(name: &str, value: Option<&'f RawValue>) -> Result<Option<T>> {
    let Some(value) = value else { return Ok(None) };
    serde_json::from_str(value.get()).map_err(|error| json::problem(FORMAT, name, &error))
}

fn check_version(file: &File<'_, ()>) -> Result<()> {
    match file.version.as_ref().filter(|version| *version != "1.0") {
        None => Ok(()),
        Some(version) => Err(problem(
            "version",
            format!("{version:?} is not the version 1.0 that is understood"),
        )),
    }
}

fn model<'f>(value: &'f RawValue) -> Result<Model<'f>> {
    let kind: ModelType = part("model", Some(value))?.unwrap_or_default();
    if let Some(name) = kind.name.as_ref().filter(|name| *name != "BPE") {
        return Err(problem("model.type", format!("{name:?} is no byte-pair encoding")));
    }
    if kind.name.is_none() && (kind.merges.is_none() || !kind.has_vocabulary_by_name()) {
        let looks = kind.looks_like();
        return Err(problem(
            "model",
            format!("is no byte-pair encoding: it has no type, and looks like {looks}"),
        ));
    }
    let model: Option<Model<'f>> = part("model", Some(value))?;
    let model = model.ok_or_else(|| problem("model", "missing"))?;
    check_dropout(&model).map(|()| model)
}

fn check_dropout(model: &Model<'_>) -> Result<()> {
    match model.dropout {
        Some(dropout) if !(0.0..=1.0).contains(&dropout) => {
            Err(problem("model.dropout", "is not between 0 and 1"))
        }
        _ => Ok(()),
    }
}

fn units(model: &Model<'_>, normalizing: &Normalizing, cutting: &Cutting) -> Result<Units> {
    let suffix = model.end_of_word_suffix.clone().filter(|suffix| !suffix.is_empty());
    let prefix = model.continuing_subword_prefix.clone().filter(|prefix| !prefix.is_empty());
    let is_words = cutting.only_stages().is_some_and(is_words);
    if normalizing.end_mark.is_some() && (suffix.is_some() || !is_words || cutting.is_byte_level) {
        return Err(problem(
            "normalizer.Replace.pattern",
            "an end of words that are not those of the pre-tokenizer",
        ));
    }
    let mark = |kind| move |text| EndMark { text, kind };
    let unit_mark = normalizing.end_mark.clone().map(mark(EndMarkKind::Unit));
    let is_in_model = |name: &&String| model.vocab.iter().any(|(known, _)| known == name.as_str());
    let unknown = model.unk_token.as_ref().filter(is_in_model).cloned();
    Ok(Units {
        unit: if cutting.is_byte_level { Unit::Byte(ByteIds::Printable) } else { Unit::Character },
        end_mark: unit_mark.or_else(|| suffix.map(mark(EndMarkKind::Suffix))),
        continuing_prefix: prefix,
        unknown,
        fuse_unknown: model.fuse_unk == Some(true),
        byte_fallback: model.byte_fallback == Some(true),
        missing: if model.unk_token.is_some() { Missing::Error } else { Missing::Drop },
    })
}

fn is_words(stages: &[Stage]) -> bool {
    matches!(stages, [stage] if stage.pattern.source == WORD && stage.unmatched() == Some(Unmatched::Drop))
}

/// Refuses added tokens that would be looked for in a text that has marks there and none here.
fn check_end_mark(units: &Units, added: &[Added]) -> Result<()> {
    match units.end_mark_kind() {
        Some(EndMarkKind::Unit) if added.iter().any(|token| token.normalized) => Err(problem(
            "added_tokens",
            "normalized=true is not supported together with an end mark",
        )),
        _ => Ok(()),
    }
}

/// The units, with the order in which the bytes stand; where all are there, none can be missing.
fn with_alphabet(units: Units, vocabulary: &Vocabulary) -> Units {
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    if !units.is_bytes() || has_marks {
        return units;
    }
    let id = |byte| vocabulary.id(Token::plain(&[byte]));
    let mut by_value = (0..).zip(byte_order(ByteIds::Value));
    let is_by_value = by_value.all(|(place, byte)| id(byte) == Some(place));
    let is_complete = (0..=255).all(|byte| id(byte).is_some());
    Units {
        unit: Unit::Byte(if is_by_value { ByteIds::Value } else { ByteIds::Printable }),
        missing: if is_complete { Missing::Error } else { units.missing },
        ..units
    }
}
