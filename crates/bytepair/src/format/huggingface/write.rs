//! Our parts to a `tokenizer.json`.
//!
//! Every part is checked before anything is written: names must be unique, merges must give the token of
//! the joined names, added tokens must get the ids that they have here. Patterns are translated to
//! Oniguruma with proof (`pattern`). A one-character end mark that is a unit becomes a normalizer that
//! puts it at the end of every word; everywhere else in the text that character is made unknown before.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use super::{END_OF_WORD, FORMAT, RESERVED, WORD, prefix_pattern};
use crate::added::AddedToken;
use crate::decode::DecodeRules;
use crate::error::{Error, Result};
use crate::format::gpt2::is_gpt2_split;
use crate::format::names::{bytes_of_printable, printable_name};
use crate::format::{inexpressible, pattern, quoted};
use crate::normalize::{NormalizeStep, UnicodeForm};
use crate::split::{Flavour, Stage, Unmatched};
use crate::tokenizer::{Parts, Template, Tokenizer};
use crate::units::{EndMarkKind, Units};
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// The file of a tokenizer.
///
/// # Errors
/// Where the library could not give the same ids; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let parts = tokenizer.parts();
    check_units(parts)?;
    let names = Names::new(parts)?;
    let prefix = Prefix::of(parts)?;
    let file = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added_tokens(parts),
        "normalizer": normalizer(parts, &prefix)?,
        "pre_tokenizer": pre_tokenizer(parts, &prefix)?,
        "post_processor": post_processor(parts, &names)?,
        "decoder": decoder(parts)?,
        "model": model(parts, &names)?,
    });
    let mut bytes = serde_json::to_vec_pretty(&file).unwrap_or_default();
    bytes.push(b'\n');
    Ok(bytes)
}

fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

fn check_units(parts: &Parts) -> Result<()> {
    let units = &parts.units;
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    if units.is_bytes() && (has_marks || units.byte_fallback) {
        return refuse("marks or byte fallback together with units of bytes");
    }
    if units.byte_fallback && has_marks {
        return refuse("marks together with byte fallback");
    }
    let n_bytes =
        parts.vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::Byte).count();
    if units.byte_fallback && units.unknown.is_some() && !matches!(n_bytes, 0 | 256) {
        return refuse(format!("byte fallback to only {n_bytes} bytes beside an unknown token"));
    }
    if parts.ignore_merges && (has_marks || n_bytes > 0) {
        return refuse("ignore_merges together with marks or byte fallback");
    }
    if parts.splitter.may_match_nothing() {
        return refuse("a split pattern that could match the empty text".to_owned());
    }
    match &units.end_mark {
        Some(mark) if mark.kind == EndMarkKind::Unit => check_unit_mark(parts, &mark.text),
        _ => Ok(()),
    }
}

fn check_unit_mark(parts: &Parts, mark: &str) -> Result<()> {
    let part = format!("the end mark {mark:?} as a unit of its own");
    let stages = parts.splitter.stages();
    let is_words = matches!(stages, [stage] if stage.pattern.source == WORD && stage.unmatched == Unmatched::Drop);
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

/// How tokens are named in the file.
struct Names {
    /// By id.
    names: Vec<Option<String>>,
    /// Ids of added tokens that get their id by their place behind the vocabulary.
    n_behind: usize,
}

impl Names {
    fn new(parts: &Parts) -> Result<Self> {
        let vocabulary = &parts.vocabulary;
        let mut names = vec![None; vocabulary.len()];
        let mut ids: HashMap<String, TokenId> = HashMap::with_capacity(vocabulary.len());
        for (id, token) in vocabulary.iter() {
            let name = name(&parts.units, token)?;
            if let Some(other) = ids.insert(name.clone(), id) {
                return refuse(format!(
                    "two tokens with the name {name:?}, the ids {other} and {id}"
                ));
            }
            names[id as usize] = Some(name);
        }
        let names = Self { names, n_behind: n_behind(parts) };
        parts.added.iter().try_for_each(|token| names.check_added(parts, token))?;
        names.check_units(parts)?;
        Ok(names)
    }

    fn get(&self, id: TokenId) -> Result<&str> {
        let name = self.names.get(id as usize).and_then(Option::as_deref);
        name.ok_or_else(|| inexpressible(FORMAT, format!("the id {id}, which has no token")))
    }

    /// The tokens that stand in the vocabulary of the model, with their ids.
    fn in_model(&self) -> impl Iterator<Item = (&str, TokenId)> {
        let names = &self.names[..self.names.len() - self.n_behind];
        (0..).zip(names).filter_map(|(id, name)| Some((name.as_deref()?, id)))
    }

    fn check_added(&self, parts: &Parts, token: &AddedToken) -> Result<()> {
        let part = format!("the added token {}", quoted(token.content.as_bytes()));
        if self.get(token.id)? != token.content {
            return refuse(format!(
                "{part}, whose id is that of the token {:?}",
                self.get(token.id)?
            ));
        }
        let is_own =
            parts.vocabulary.token(token.id).is_some_and(|known| known.kind == TokenKind::Added);
        let is_in_model = (token.id as usize) < self.names.len() - self.n_behind;
        let reads_as_text = parts.units.is_bytes()
            && bytes_of_printable(&token.content)
                .is_some_and(|bytes| bytes != token.content.as_bytes());
        let can_appear = reads_as_text || !parts.normalizer.steps().is_empty();
        if is_own && is_in_model && parts.ignore_merges && can_appear {
            return refuse(format!(
                "{part} together with ignore_merges: a piece of text could be taken for it"
            ));
        }
        Ok(())
    }

    /// Refuses tokens that are no text here but would be units there.
    fn check_units(&self, parts: &Parts) -> Result<()> {
        let mut units = self.in_model().filter(|(name, _)| name.chars().nth(1).is_none());
        let is_text = |id| {
            parts.vocabulary.token(id).is_some_and(|token| matches!(token.kind, TokenKind::Text(_)))
        };
        match units.find(|(_, id)| !is_text(*id)) {
            Some((name, _)) => {
                refuse(format!("the token {name:?}, which is no text: it would be a unit there"))
            }
            None => Ok(()),
        }
    }
}

fn name(units: &Units, token: Token<'_>) -> Result<String> {
    if units.is_bytes() && token.kind == TokenKind::PLAIN {
        return Ok(printable_name(token.bytes));
    }
    let written = units.written(token).into_owned();
    let not_text = |error: std::string::FromUtf8Error| {
        inexpressible(FORMAT, format!("the token {}, which is not UTF-8", quoted(error.as_bytes())))
    };
    let name = String::from_utf8(written).map_err(not_text)?;
    if name.is_empty() {
        return refuse("a token without text");
    }
    Ok(name)
}

/// How many added tokens follow the vocabulary of the model without a gap, in the order of their ids.
///
/// Either all of them, or none: then they stand in the vocabulary too, which fixes their ids.
fn n_behind(parts: &Parts) -> usize {
    let vocabulary = &parts.vocabulary;
    let is_listed: HashSet<TokenId> = parts.added.iter().map(|token| token.id).collect();
    let is_behind =
        |id: TokenId, token: Token<'_>| token.kind == TokenKind::Added && is_listed.contains(&id);
    let n_behind = vocabulary.iter().filter(|&(id, token)| is_behind(id, token)).count();
    let is_dense = vocabulary.iter().count() == vocabulary.len();
    let are_last =
        vocabulary.iter().skip(vocabulary.len() - n_behind).all(|(id, token)| is_behind(id, token));
    if is_dense && are_last { n_behind } else { 0 }
}

fn model(parts: &Parts, names: &Names) -> Result<Value> {
    let vocabulary = &parts.vocabulary;
    let units = &parts.units;
    let vocab: Map<String, Value> =
        names.in_model().map(|(name, id)| (name.to_owned(), id.into())).collect();
    let suffix = units.end_mark.as_ref().filter(|mark| mark.kind == EndMarkKind::Suffix);
    let unknown = units.unknown.as_ref().filter(|name| vocab.contains_key(*name));
    Ok(json!({
        "type": "BPE",
        "dropout": null,
        "unk_token": unknown,
        "continuing_subword_prefix": units.continuing_prefix,
        "end_of_word_suffix": suffix.map(|mark| &mark.text),
        "fuse_unk": units.fuse_unknown,
        "byte_fallback": units.byte_fallback,
        "ignore_merges": parts.ignore_merges,
        "vocab": vocab,
        "merges": merges(vocabulary, units, names)?,
    }))
}

fn merges(vocabulary: &Vocabulary, units: &Units, names: &Names) -> Result<Vec<Value>> {
    let prefix = units.continuing_prefix.as_deref().unwrap_or("");
    let merge = |merge: &crate::vocabulary::Merge| {
        let (left, right) = (names.get(merge.left)?, names.get(merge.right)?);
        let joined = right.strip_prefix(prefix).map(|rest| format!("{left}{rest}"));
        if joined.as_deref() != Some(names.get(merge.result)?) {
            return refuse(format!(
                "a merge of {left:?} and {right:?} into {:?}",
                names.get(merge.result)?
            ));
        }
        Ok(json!([left, right]))
    };
    vocabulary.merges().iter().map(merge).collect()
}

fn added_tokens(parts: &Parts) -> Vec<Value> {
    let mut added: Vec<&AddedToken> = parts.added.iter().collect();
    added.sort_by_key(|token| token.id);
    let record = |token: &AddedToken| {
        json!({
            "id": token.id,
            "content": token.content,
            "single_word": false,
            "lstrip": false,
            "rstrip": false,
            "normalized": token.normalized,
            "special": token.special,
        })
    };
    added.into_iter().map(record).collect()
}

/// The steps at the end of a normalizer that stand in the pre-tokenizer there: they look at what is there
/// already, and at whether the segment is the first.
enum Prefix {
    None,
    /// The last step: a space, unless there is one.
    Space,
    /// The last two steps: spaces become this text, which is put in front unless it is there.
    Metaspace {
        replacement: String,
        only_first: bool,
    },
}

impl Prefix {
    fn of(parts: &Parts) -> Result<Self> {
        let Some((NormalizeStep::Prepend { text, only_first, unless_there }, before)) =
            parts.normalizer.steps().split_last()
        else {
            return Ok(Self::None);
        };
        if !only_first && !unless_there {
            return Ok(Self::None);
        }
        let follows_replace = matches!(before.last(), Some(NormalizeStep::Replace { from, to }) if from == " " && to == text);
        let is_single = text.chars().count() == 1;
        let is_late = parts.added.iter().any(|token| token.normalized);
        if is_late {
            return refuse(
                "a prefix together with added tokens that are looked for in normalized text",
            );
        }
        let has_gpt2_split =
            parts.splitter.stages().is_empty() || is_gpt2_split(parts.splitter.stages());
        if text == " " && !only_first && parts.units.is_bytes() && has_gpt2_split {
            return Ok(Self::Space);
        }
        if follows_replace && is_single && *unless_there {
            return Ok(Self::Metaspace { replacement: text.clone(), only_first: *only_first });
        }
        refuse(format!(
            "the prefix {text:?} that is put before {}",
            if *only_first { "the first segment" } else { "a segment without it" }
        ))
    }

    /// The number of steps that it stands for.
    fn n_steps(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Space => 1,
            Self::Metaspace { .. } => 2,
        }
    }
}

fn normalizer(parts: &Parts, prefix: &Prefix) -> Result<Value> {
    let steps = parts.normalizer.steps();
    let steps = &steps[..steps.len() - prefix.n_steps()];
    let mut normalizers: Vec<Value> = steps.iter().map(normalize_step).collect::<Result<_>>()?;
    if let Some(mark) = parts.units.end_mark.as_ref().filter(|mark| mark.kind == EndMarkKind::Unit)
    {
        normalizers.push(
            json!({"type": "Replace", "pattern": {"String": mark.text}, "content": RESERVED}),
        );
        normalizers.push(
            json!({"type": "Replace", "pattern": {"Regex": END_OF_WORD}, "content": mark.text}),
        );
    }
    Ok(sequence(normalizers, "normalizers"))
}

fn normalize_step(step: &NormalizeStep) -> Result<Value> {
    Ok(match step {
        NormalizeStep::Lowercase => json!({"type": "Lowercase"}),
        NormalizeStep::Form(UnicodeForm::Nfc) => json!({"type": "NFC"}),
        NormalizeStep::Form(UnicodeForm::Nfd) => json!({"type": "NFD"}),
        NormalizeStep::Form(UnicodeForm::Nfkc) => json!({"type": "NFKC"}),
        NormalizeStep::Form(UnicodeForm::Nfkd) => json!({"type": "NFKD"}),
        NormalizeStep::Replace { from, to } => {
            json!({"type": "Replace", "pattern": {"String": from}, "content": to})
        }
        NormalizeStep::Prepend { text, only_first: false, unless_there: false } => {
            json!({"type": "Prepend", "prepend": text})
        }
        NormalizeStep::Prepend { text, .. } => {
            return refuse(format!(
                "the prefix {text:?}, which depends on the segment and is not the last step"
            ));
        }
    })
}

/// Nothing, the one value, or a sequence of them.
fn sequence(mut values: Vec<Value>, field: &str) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.swap_remove(0),
        _ => json!({"type": "Sequence", field: values}),
    }
}

fn pre_tokenizer(parts: &Parts, prefix: &Prefix) -> Result<Value> {
    let stages = parts.splitter.stages();
    let is_bytes = parts.units.is_bytes();
    let use_regex = is_bytes && is_gpt2_split(stages) && stages[0].unmatched == Unmatched::Keep;
    let mut values = Vec::new();
    if let Prefix::Metaspace { replacement, only_first } = prefix {
        let scheme = if *only_first { "first" } else { "always" };
        values.push(json!({
            "type": "Metaspace", "replacement": replacement, "prepend_scheme": scheme, "split": false,
        }));
    }
    if !use_regex {
        stages.iter().try_for_each(|stage| split(stage).map(|value| values.push(value)))?;
    }
    if is_bytes {
        values.push(json!({
            "type": "ByteLevel",
            "add_prefix_space": matches!(prefix, Prefix::Space),
            "trim_offsets": true,
            "use_regex": use_regex,
        }));
    }
    Ok(sequence(values, "pretokenizers"))
}

fn split(stage: &Stage) -> Result<Value> {
    let (behavior, invert) = match stage.unmatched {
        Unmatched::Keep => ("Isolated", false),
        Unmatched::Drop => ("Removed", true),
    };
    let source = quoted(stage.pattern.source.as_bytes());
    let pattern = pattern::translated(&stage.pattern, Flavour::Oniguruma).map_err(|problem| {
        inexpressible(FORMAT, format!("the split pattern {source}: {problem}"))
    })?;
    Ok(
        json!({"type": "Split", "pattern": {"Regex": pattern.source}, "behavior": behavior, "invert": invert}),
    )
}

fn post_processor(parts: &Parts, names: &Names) -> Result<Value> {
    if parts.template == Template::default() {
        return Ok(if parts.units.is_bytes() { byte_level() } else { Value::Null });
    }
    let piece = |type_id: u32| {
        move |&id: &TokenId| {
            Ok::<_, Error>(json!({"SpecialToken": {"id": names.get(id)?, "type_id": type_id}}))
        }
    };
    let Template { before, after } = &parts.template;
    let one = |sequence: &str, type_id| -> Result<Vec<Value>> {
        let mut pieces: Vec<Value> = before.iter().map(piece(type_id)).collect::<Result<_>>()?;
        pieces.push(json!({"Sequence": {"id": sequence, "type_id": type_id}}));
        pieces.extend(after.iter().map(piece(type_id)).collect::<Result<Vec<_>>>()?);
        Ok(pieces)
    };
    let mut special_tokens = Map::new();
    for &id in before.iter().chain(after) {
        let name = names.get(id)?;
        special_tokens.insert(name.to_owned(), json!({"id": name, "ids": [id], "tokens": [name]}));
    }
    Ok(json!({
        "type": "TemplateProcessing",
        "single": one("A", 0)?,
        "pair": ([one("A", 0)?, one("B", 1)?].concat()),
        "special_tokens": special_tokens,
    }))
}

fn byte_level() -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false})
}

fn decoder(parts: &Parts) -> Result<Value> {
    let (units, rules) = (&parts.units, &parts.decode);
    if units.is_bytes() {
        let is_plain = *rules == DecodeRules::default();
        return if is_plain {
            Ok(byte_level())
        } else {
            refuse("rules of decoding together with bytes")
        };
    }
    let replace = |pattern: Value, content: &str| json!({"type": "Replace", "pattern": pattern, "content": content});
    let mut decoders = Vec::new();
    if let Some(prefix) = &units.continuing_prefix {
        decoders.push(replace(json!({"Regex": prefix_pattern(prefix)}), ""));
    }
    if let Some(mark) = &units.end_mark {
        decoders.push(json!({"type": "BPEDecoder", "suffix": mark.text}));
    }
    decoders
        .extend(rules.replacements.iter().map(|(from, to)| replace(json!({"String": from}), to)));
    decoders.extend(units.byte_fallback.then(|| json!({"type": "ByteFallback"})));
    decoders.push(json!({"type": "Fuse"}));
    if rules.n_leading_spaces > 0 {
        let start = rules.n_leading_spaces;
        decoders.push(json!({"type": "Strip", "content": " ", "start": start, "stop": 0}));
    }
    Ok(sequence(decoders, "decoders"))
}
