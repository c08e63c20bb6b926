//! Our parts to a `tokenizer.json`.
//!
//! Every part is checked before it is written, and the file is read again (`proof`): names must be unique, merges must give the token of
//! the joined names, added tokens must get the ids that they have here. Patterns are translated to
//! Oniguruma with proof (`pattern`). A one-character end mark that is a unit becomes a normalizer that
//! puts it at the end of every word; everywhere else in the text that character is made unknown before.

mod decoder;
mod normalizer;
mod post_processor;
mod pre_tokenizer;
mod precompiled;
mod proof;
mod sentencepiece;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

use self::decoder::decoder;
pub use self::decoder::text_of_written;
use self::normalizer::{moved, normalizer};
use self::post_processor::post_processor;
use self::pre_tokenizer::pre_tokenizer;
use self::proof::prove;
use self::sentencepiece::spelled_out;
use super::{FORMAT, RESERVED, WORD};
use crate::{Written, inexpressible, quoted};
use bytepair::Result;
use bytepair::added::AddedToken;
use bytepair::template::{Padding, Side, Truncation, TruncationStrategy};
use bytepair::units::{EndMarkKind, Units};
use bytepair::units::{bytes_of_printable, published_name};
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Parts, Tokenizer};
use bytepair_split::{Flavour, Pattern, Splitter, Unmatched};

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
            own = Tokenizer::unprepared(parts)?;
            &own
        }
    };
    let parts = tokenizer.parts();
    check_units(parts)?;
    let names = Names::new(tokenizer)?;
    let moved = moved(parts)?;
    let file = json!({
        "version": "1.0",
        "truncation": parts.truncation.as_ref().map(truncation),
        "padding": parts.padding.as_ref().map(padding),
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

fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

/// A pattern in the words of Oniguruma.
fn translated(written: &Pattern) -> Result<String> {
    match bytepair_split::translated(written, Flavour::Oniguruma) {
        Ok(pattern) => Ok(pattern.source),
        Err(problem) => {
            let source = quoted(written.source.as_bytes());
            refuse(format!("the pattern {source}: {problem}"))
        }
    }
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

/// How tokens are named in the file.
struct Names {
    /// `None` where an id has no token.
    by_id: Vec<Option<String>>,
    /// Ids of added tokens that get their id by their place behind the vocabulary.
    n_behind: usize,
    /// Whether a piece that is a token as a whole is that token there.
    ignore_merges: bool,
}

impl Names {
    fn new(tokenizer: &Tokenizer) -> Result<Self> {
        let parts = tokenizer.parts();
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
        let (n_behind, ignore_merges) = n_behind(tokenizer)?;
        let names = Self { by_id: names, n_behind, ignore_merges };
        parts.added.iter().try_for_each(|token| names.check_added(token))?;
        names.check_units(parts)?;
        Ok(names)
    }

    fn get(&self, id: TokenId) -> Result<&str> {
        let name = self.by_id.get(id as usize).and_then(Option::as_deref);
        name.ok_or_else(|| inexpressible(FORMAT, format!("the id {id}, which has no token")))
    }

    /// The tokens that stand in the vocabulary of the model, with their ids.
    fn in_model(&self) -> impl Iterator<Item = (&str, TokenId)> {
        let names = &self.by_id[..self.by_id.len() - self.n_behind];
        (0..).zip(names).filter_map(|(id, name)| Some((name.as_deref()?, id)))
    }

    fn check_added(&self, token: &AddedToken) -> Result<()> {
        let part = format!("the added token {}", quoted(token.content.as_bytes()));
        if self.get(token.id)? != token.content {
            return refuse(format!(
                "{part}, whose id is that of the token {:?}",
                self.get(token.id)?
            ));
        }
        Ok(())
    }

    /// Refuses tokens that are no text here but would be units there.
    fn check_units(&self, parts: &Parts) -> Result<()> {
        let is_bytes = parts.units.is_bytes();
        let is_unit = |name: &str| {
            name.chars().nth(1).is_none() && (!is_bytes || bytes_of_printable(name).is_some())
        };
        let mut units = self.in_model().filter(|(name, _)| !name.is_empty() && is_unit(name));
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
    let is_text = matches!(token.kind, TokenKind::Text(_));
    let is_bytes = units.is_bytes() && is_text || token.kind == TokenKind::Byte;
    if !is_bytes && std::str::from_utf8(token.bytes).is_err() {
        return refuse(format!("the token {}, which is not UTF-8", quoted(token.bytes)));
    }
    let name = published_name(units, token);
    match name.is_empty() && is_text && !units.is_bytes() {
        true => refuse("a token without text"),
        false => Ok(name),
    }
}

/// How many added tokens follow the vocabulary of the model without a gap, in the order of their ids.
///
/// Those that stand in the vocabulary of the model here do so there. Of the others, either all follow it or none:
/// then they stand in it too, which fixes their ids. There a whole piece could be one of them where merges are ignored;
/// so they cannot stand there unless they do here, or merging gives every token anyway and need not be ignored. Also
/// says whether it is.
fn n_behind(tokenizer: &Tokenizer) -> Result<(usize, bool)> {
    let parts = tokenizer.parts();
    let vocabulary = &parts.vocabulary;
    let listed = || parts.added.iter().filter(|token| !token.whole_piece && !token.in_model);
    let is_listed: HashSet<TokenId> = listed().map(|token| token.id).collect();
    let is_behind =
        |id: TokenId, token: Token<'_>| token.kind == TokenKind::Added && is_listed.contains(&id);
    let n_behind = vocabulary.iter().filter(|&(id, token)| is_behind(id, token)).count();
    let is_dense = vocabulary.iter().count() == vocabulary.len();
    let are_last =
        vocabulary.iter().skip(vocabulary.len() - n_behind).all(|(id, token)| is_behind(id, token));
    if is_dense && are_last {
        return Ok((n_behind, parts.ignore_merges));
    }
    let is_outside = |token: &&AddedToken| {
        vocabulary.token(token.id).is_some_and(|found| is_behind(token.id, found))
    };
    match listed().find(is_outside).filter(|_| parts.ignore_merges) {
        Some(_) if is_made_by_merges(tokenizer) => Ok((0, false)),
        Some(token) => refuse(format!(
            "the added token {} with the id {}, which is not one of the last ids: a piece could be it there, as \
             merges are ignored for pieces that are tokens",
            quoted(token.content.as_bytes()),
            token.id
        )),
        None => Ok((0, parts.ignore_merges)),
    }
}

/// Whether the ids of a piece that is a token are those of its merges too.
fn is_made_by_merges(tokenizer: &Tokenizer) -> bool {
    let Parts { units, vocabulary, added, .. } = tokenizer.parts();
    let is_text_or_added =
        |token: Token<'_>| token.kind == TokenKind::PLAIN || token.kind == TokenKind::Added;
    units.end_mark.is_none()
        && units.continuing_prefix.is_none()
        && !added.iter().any(|token| token.whole_piece)
        && vocabulary.iter().all(|(_, token)| is_text_or_added(token))
        && tokenizer.encoder().unmade().is_empty()
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
        "dropout": parts.dropout,
        "unk_token": unknown,
        "continuing_subword_prefix": units.continuing_prefix,
        "end_of_word_suffix": suffix.map(|mark| &mark.text),
        "fuse_unk": units.fuse_unknown,
        "byte_fallback": units.byte_fallback,
        "ignore_merges": names.ignore_merges,
        "vocab": vocab,
        "merges": merges(vocabulary, units, names)?,
    }))
}

fn merges(vocabulary: &Vocabulary, units: &Units, names: &Names) -> Result<Vec<Value>> {
    let prefix = units.continuing_prefix.as_deref().unwrap_or("");
    let merge = |merge: &bytepair::vocabulary::Merge| {
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
            "single_word": token.single_word,
            "lstrip": token.lstrip,
            "rstrip": token.rstrip,
            "normalized": token.normalized,
            "special": token.special,
        })
    };
    added.into_iter().map(record).collect()
}

fn truncation(truncation: &Truncation) -> Value {
    let Truncation { max_length, stride, strategy, side } = truncation;
    let strategy = match strategy {
        TruncationStrategy::LongestFirst => "LongestFirst",
        TruncationStrategy::OnlyFirst => "OnlyFirst",
        TruncationStrategy::OnlySecond => "OnlySecond",
    };
    json!({
        "direction": direction(*side),
        "max_length": max_length,
        "strategy": strategy,
        "stride": stride,
    })
}

fn padding(padding: &Padding) -> Value {
    let Padding { length, multiple_of, side, id, type_id, token } = padding;
    json!({
        "strategy": length.map_or_else(|| json!("BatchLongest"), |length| json!({"Fixed": length})),
        "direction": direction(*side),
        "pad_to_multiple_of": multiple_of,
        "pad_id": id,
        "pad_type_id": type_id,
        "pad_token": token,
    })
}

fn direction(side: Side) -> &'static str {
    match side {
        Side::Left => "Left",
        Side::Right => "Right",
    }
}

/// Nothing, the one value, or a sequence of them.
fn sequence(mut values: Vec<Value>, field: &str) -> Value {
    match values.len() {
        0 => Value::Null,
        1 => values.swap_remove(0),
        _ => json!({"type": "Sequence", field: values}),
    }
}
