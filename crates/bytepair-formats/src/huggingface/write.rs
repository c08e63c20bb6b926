//! Our parts to a `tokenizer.json`.
//!
//! Every part is checked before it is written, and the file is read again (`proof`): names must be unique, merges must
//! give the token of the joined names, added tokens must get the ids that they have here. Patterns are translated to
//! Oniguruma with proof (`component`). A one-character end mark that is a unit becomes a normalizer that
//! puts it at the end of every word; everywhere else in the text that character is made unknown before.

use std::borrow::Cow;

use serde_json::json;

use super::added::added_tokens;
use super::component::refuse;
use super::decoder::decoder;
use super::lengths::{padding_value, truncation_value};
use super::model::model;
use super::names::Names;
use super::normalizer::{moved, normalizer};
use super::post_processor::post_processor;
use super::pre_tokenizer::pre_tokenizer;
use super::proof::prove;
use super::sentencepiece::spelled_out;
use super::{FORMAT, RESERVED, WORD};
use crate::Written;
use bytepair::for_formats::unprepared;
use bytepair::units::EndMarkKind;
use bytepair::vocabulary::TokenKind;
use bytepair::{Parts, Result, Tokenizer};
use bytepair_split::{Splitter, Unmatched};

/// The file of a tokenizer, from which every text gets the same ids.
///
/// # Errors
/// Where the library could not give the same ids; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    write_with_changes(tokenizer)?.exact(FORMAT)
}

/// The file of a tokenizer, also where the library normalizes some texts otherwise.
///
/// # Errors
/// Where the library could not give the same ids for another reason; the error names the part.
pub fn write_with_changes(tokenizer: &Tokenizer) -> Result<Written> {
    let own;
    let (parts, changes) = spelled_out(tokenizer.parts())?;
    let tokenizer = match parts {
        Cow::Borrowed(_) => tokenizer,
        Cow::Owned(parts) => {
            own = unprepared(parts)?;
            &own
        }
    };
    let parts = tokenizer.parts();
    check_units(parts)?;
    let names = Names::new(tokenizer)?;
    let moved = moved(parts)?;
    let file = json!({
        "version": "1.0",
        "truncation": parts.truncation.as_ref().map(truncation_value),
        "padding": parts.padding.as_ref().map(padding_value),
        "added_tokens": added_tokens(parts),
        "normalizer": normalizer(parts, moved.len())?,
        "pre_tokenizer": pre_tokenizer(parts, moved)?,
        "post_processor": post_processor(parts, &names)?,
        "decoder": decoder(parts)?,
        "model": model(parts, &names)?,
    });
    let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
    bytes.push(b'\n');
    prove(parts, names.ignore_merges, &bytes)?;
    Ok(Written { file: bytes, changes })
}

fn check_units(parts: &Parts) -> Result<()> {
    match &parts.units.end_mark {
        Some(mark) if mark.kind == EndMarkKind::Unit => check_unit_mark(parts, &mark.text),
        _ => Ok(()),
    }
}

fn check_unit_mark(parts: &Parts, mark: &str) -> Result<()> {
    let part = format!("the end mark {mark:?} as a unit of its own");
    let splitter = parts.pre_tokenizer.only_splitter();
    let stages = splitter.as_ref().map(Splitter::stages);
    let is_words = matches!(stages, Some([stage]) if stage.pattern.source == WORD && stage.unmatched() == Some(Unmatched::Drop));
    let holds = |text: &str| {
        parts.vocabulary.iter().any(|(_, token)| {
            matches!(token.kind, TokenKind::Text(_)) && contains(token.bytes, text)
        })
    };
    if mark.chars().count() != 1 {
        return refuse(format!("{part}: only a mark of one character can be written"));
    }
    if !is_words || mark.chars().all(char::is_whitespace) {
        return refuse(format!("{part}: only the words of {WORD} can get one"));
    }
    if holds(mark) || holds(RESERVED) {
        return refuse(format!("{part}: the same character is in the alphabet"));
    }
    if parts.units.continuing_prefix.is_some() || parts.added.iter().any(|token| token.normalized) {
        return refuse(format!(
            "{part}, together with a continuing prefix or added tokens in normalized text"
        ));
    }
    Ok(())
}

fn contains(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}
