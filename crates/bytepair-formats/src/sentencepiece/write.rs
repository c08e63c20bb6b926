//! A tokenizer to a model file.
//!
//! The file is read again before it is returned, and refused unless every part is as it was: a model cannot express merges
//! that differ from the meaning of its scores.
//!
//! What is trained in the dialect `sentencepiece` has other parts than a model: steps that replace spaces, a pattern,
//! a list of merges. A model gives the same ids if no token reaches across a cut of the pattern, and if of the cuts of a
//! token only the listed merge ever happens (`live_merges`). Special tokens become control symbols, so decoding leaves them out.
//! A model has to have an unknown token; if there is none, and no special token `<unk>`, one is added after the last id.
//!
//! Refused by name: changes of the text other than `▁` for spaces and a space before the text, as this crate writes no
//! character map but the one that was read; added tokens that are not special.

use std::collections::HashSet;
use std::sync::Arc;

use super::merges::{cut_stages, live_merges};
use super::model::{BPE, Model, Normalizer as ModelNormalizer, Piece, PieceKind, Trainer};
use super::{FORMAT, read};

use crate::{inexpressible, quoted, require};
use bytepair::Result;
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, DecodeRules, LeadingSpaces, SentencePieceDecode};
use bytepair::dialect::Dialect;
use bytepair::for_formats::normalize_step;
use bytepair::normalize::{
    NormalizeStep, Normalizer, SPACE_SYMBOL, SentencePiece, SentencePieceRules,
};
use bytepair::template::Template;
use bytepair::units::{Units, byte_name};
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Parts, Tokenizer};
use bytepair_split::{Stage, each_begins, first_begins};

/// The model file of a tokenizer, from which every text gets the same ids.
///
/// # Errors
/// If the tokenizer has a part that a model cannot say; the error names it.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let own = tokenizer.parts();
    if own.normalizer.is_sentencepiece() {
        let (file, again) = write_model(own)?;
        return match difference(own, &again).or_else(|| difference_of_merges(own, &again)) {
            Some(part) => {
                let token = other_symbol(own, &again);
                refuse(token.unwrap_or_else(|| part.to_owned()))
            }
            None => Ok(file),
        };
    }
    let parts = as_model(own)?;
    let (file, again) = write_model(&parts)?;
    check_merges(&own.vocabulary, &again.vocabulary)?;
    match difference(&parts, &again) {
        Some(part) => refuse(part),
        None => Ok(file),
    }
}

/// The file, and what it is read as.
fn write_model(parts: &Parts) -> Result<(Vec<u8>, Parts)> {
    let [NormalizeStep::SentencePiece(step)] = parts.normalizer.steps() else {
        return refuse("a normalizer other than SentencePiece's");
    };
    let Decode::SentencePiece(decode) = &parts.decode else {
        return refuse("rules of decoding other than SentencePiece's");
    };
    let model = Model {
        pieces: pieces(&parts.vocabulary, decode)?,
        trainer: Trainer {
            model_type: BPE,
            space_is_suffix: step.rules().space_is_suffix,
            byte_fallback: parts.units.byte_fallback,
            unknown_surface: decode.unknown.clone(),
        },
        normalizer: normalizer(step.rules()),
    };
    let file = model.to_bytes();
    let refused = |error: bytepair::Error| inexpressible(FORMAT, error.to_string());
    let again = read(&file).map_err(refused)?;
    Ok((file, again.parts().clone()))
}

fn normalizer(rules: &SentencePieceRules) -> ModelNormalizer {
    let charsmap = rules.characters.as_ref().map(bytepair::normalize::CharsMap::to_bytes);
    ModelNormalizer {
        charsmap: charsmap.unwrap_or_default(),
        adds_dummy_prefix: rules.adds_space,
        removes_extra_whitespaces: rules.removes_extra_spaces,
        escapes_whitespaces: rules.escapes_spaces,
    }
}

fn pieces(vocabulary: &Vocabulary, decode: &SentencePieceDecode) -> Result<Vec<Piece>> {
    let scores = scores(vocabulary);
    let n_ids = TokenId::try_from(vocabulary.len()).unwrap_or(TokenId::MAX);
    (0..n_ids)
        .zip(scores)
        .map(|(id, score)| {
            let token = vocabulary.token(id);
            let token = token.ok_or_else(|| inexpressible(FORMAT, format!("no token for {id}")))?;
            let text = text(token).ok_or_else(|| {
                inexpressible(FORMAT, format!("the token {id}, which has marks or is not UTF-8"))
            })?;
            let kind = match token.kind {
                TokenKind::Byte => PieceKind::Byte,
                TokenKind::Unknown => PieceKind::Unknown,
                TokenKind::Added if decode.controls.contains(&text) => PieceKind::Control,
                TokenKind::Added => PieceKind::UserDefined,
                _ => PieceKind::Normal,
            };
            Ok(Piece { text, score, kind })
        })
        .collect()
}

fn text(token: Token<'_>) -> Option<String> {
    match (token.kind, token.bytes) {
        (TokenKind::Byte, &[byte]) => Some(byte_name(byte)),
        (TokenKind::PLAIN | TokenKind::Unknown | TokenKind::Added, bytes) => {
            String::from_utf8(bytes.to_vec()).ok()
        }
        _ => None,
    }
}

/// By id: the earlier a token is made, the higher; what no merge makes is lowest, in the order of ids.
#[expect(clippy::cast_precision_loss, reason = "the file is read again and compared")]
fn scores(vocabulary: &Vocabulary) -> Vec<f32> {
    let ranks = ranks(vocabulary);
    let lowest = ranks.iter().max().map_or(0, |rank| rank + 1);
    let mut scores: Vec<_> = (0..vocabulary.len()).map(|id| -((lowest + id) as f32)).collect();
    for (merge, rank) in vocabulary.merges().iter().zip(ranks) {
        scores[merge.result as usize] = -(rank as f32);
    }
    scores
}

/// By merge: how many priorities are before its own.
fn ranks(vocabulary: &Vocabulary) -> Vec<usize> {
    let priorities = vocabulary.priorities();
    let mut distinct = priorities.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let rank = |priority: &u32| distinct.partition_point(|other| other < priority);
    match priorities {
        [] => (0..vocabulary.merges().len()).collect(),
        _ => priorities.iter().map(rank).collect(),
    }
}

fn difference(parts: &Parts, again: &Parts) -> Option<&'static str> {
    let is_same = [
        (parts.normalizer.steps() == again.normalizer.steps(), "the normalizer"),
        (parts.units == again.units, "the units"),
        (parts.vocabulary.iter().eq(again.vocabulary.iter()), "the tokens"),
        (
            by_id(&parts.added) == by_id(&again.added),
            "added tokens that are special or have rules of their own",
        ),
        (!parts.ignore_merges, "pieces that are tokens without being merged (ignore_merges)"),
        (parts.template == again.template, "the special tokens that are put around a text"),
        (parts.truncation.is_none() && parts.padding.is_none(), "truncation and padding"),
        (parts.offsets == again.offsets, "the rules of spans"),
        (parts.decode == again.decode, "the rules of decoding"),
    ];
    is_same.into_iter().find(|(same, _)| !same).map(|(_, part)| part)
}

/// The first added token that is something else in the model, in words.
fn other_symbol(own: &Parts, again: &Parts) -> Option<String> {
    let [mine, theirs] = [own, again].map(found_as_they_are);
    let (tokens, symbols) = (by_id(&own.added), by_id(&again.added));
    let is_other = |(token, symbol): &(&&AddedToken, &&AddedToken)| {
        let name = &token.content;
        token != symbol || mine.contains(name) != theirs.contains(name)
    };
    let (token, _) = tokens.iter().zip(&symbols).find(is_other)?;
    Some(format!(
        "the added token {}: a model has control symbols, which have no text, and user-defined symbols, which are found in any text before it is normalized",
        quoted(token.content.as_bytes())
    ))
}

fn found_as_they_are(parts: &Parts) -> HashSet<&String> {
    match parts.normalizer.steps() {
        [NormalizeStep::SentencePiece(step)] => step.rules().verbatim.iter().collect(),
        _ => HashSet::new(),
    }
}

fn by_id(added: &[AddedToken]) -> Vec<&AddedToken> {
    let mut added: Vec<_> = added.iter().collect();
    added.sort_by_key(|token| token.id);
    added
}

fn difference_of_merges(parts: &Parts, again: &Parts) -> Option<&'static str> {
    let stages = |parts: &Parts| {
        parts.pre_tokenizer.only_splitter().map(|splitter| splitter.stages().to_vec())
    };
    // What was learned on top of a model has one merge for each token; that is the one of its cuts that can happen.
    let are_alike = || {
        let [own, again] = [parts, again].map(|parts| live_merges(FORMAT, &parts.vocabulary).ok());
        own.is_some() && own == again
    };
    let is_same = [
        (stages(parts) == stages(again), "the split pattern"),
        (
            merges(&parts.vocabulary) == merges(&again.vocabulary) || are_alike(),
            "the merges and their order",
        ),
    ];
    is_same.into_iter().find(|(same, _)| !same).map(|(_, part)| part)
}

/// All merges with their ranks, in an order that says nothing.
fn merges(vocabulary: &Vocabulary) -> Vec<([TokenId; 3], usize)> {
    let merges = vocabulary.merges().iter().map(|merge| [merge.left, merge.right, merge.result]);
    let mut all: Vec<_> = merges.zip(ranks(vocabulary)).collect();
    all.sort_unstable();
    all
}

/// The name of the unknown token if a tokenizer has none.
const UNKNOWN: &str = "<unk>";

/// What the unknown token is decoded to where the model does not say.
const UNKNOWN_TEXT: &str = " \u{2047} ";

/// The parts as a model has them.
///
/// # Errors
/// If a model cannot say a part; the error names it.
fn as_model(parts: &Parts) -> Result<Parts> {
    let rules = rules(parts)?;
    check_units(&parts.units)?;
    check_others(parts)?;
    check_stages(parts)?;
    let decode = decode(parts, &rules)?;
    let (vocabulary, added, unknown) = vocabulary(parts)?;
    let unicode = parts.normalizer.unicode();
    let step = NormalizeStep::SentencePiece(SentencePiece::new(rules)?);
    let normalizer = Normalizer::new(vec![step], unicode);
    Ok(Parts {
        normalizer,
        pre_tokenizer: parts.pre_tokenizer.clone(),
        added,
        decode: Decode::SentencePiece(decode),
        ..Parts::new(
            Units {
                unknown: Some(unknown),
                fuse_unknown: !parts.units.byte_fallback,
                byte_fallback: parts.units.byte_fallback,
                ..Units::characters()
            },
            Arc::new(vocabulary),
        )
    })
}

/// Refuses a model whose merges, one for each cut of a piece, would make other tokens.
fn check_merges(vocabulary: &Vocabulary, model: &Vocabulary) -> Result<()> {
    let live = live_merges(FORMAT, model)?;
    let merges = vocabulary.merges();
    let Some(place) = (0..merges.len().max(live.len())).find(|&n| merges.get(n) != live.get(n))
    else {
        return Ok(());
    };
    let merge = merges.get(place).or_else(|| live.get(place));
    let text =
        merge.and_then(|merge| vocabulary.token(merge.result)).map_or(&[][..], |token| token.bytes);
    let problem = format!("the merge into {}, which would not be as it is here", quoted(text));
    refuse(problem)
}

fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

fn rules(parts: &Parts) -> Result<SentencePieceRules> {
    let steps = parts.normalizer.steps();
    if let Some(step) = steps.iter().find(|step| !is_prefix(step) && !is_escape(step)) {
        return refuse(format!(
            "this step of the normalizer: {}; bytepair writes no new character maps into models. Save a tokenizer.json, \
             or train with normalize=\"spaces\" alone, which only writes spaces as ▁",
            normalize_step(step)
        ));
    }
    Ok(SentencePieceRules {
        adds_space: adds_space(parts)?,
        escapes_spaces: steps.iter().any(is_escape),
        ..SentencePieceRules::default()
    })
}

/// Whether a step writes spaces as `▁`.
fn is_escape(step: &NormalizeStep) -> bool {
    matches!(step, NormalizeStep::Replace { from, to } if from == " " && to == SPACE_SYMBOL)
}

fn is_prefix(step: &NormalizeStep) -> bool {
    matches!(step, NormalizeStep::Prepend { .. })
}

/// Whether a space is put before the text, as a model can.
fn adds_space(parts: &Parts) -> Result<bool> {
    let steps = parts.normalizer.steps();
    let Some(place) = steps.iter().position(is_prefix) else { return Ok(false) };
    let (before, later) = steps.split_at(place + 1);
    if later.iter().any(is_prefix) {
        return refuse("two prefixes");
    }
    let NormalizeStep::Prepend { text, only_first, unless_there: false } = &steps[place] else {
        return refuse("a prefix that is left out where it stands already");
    };
    if *only_first && !parts.added.is_empty() {
        return refuse("a prefix of the first text alone, together with special tokens");
    }
    let is_space = match text.as_str() {
        " " => before.iter().all(|step| !is_escape(step)) || later.iter().any(is_escape),
        SPACE_SYMBOL => steps.iter().any(is_escape),
        _ => false,
    };
    match is_space {
        true => Ok(true),
        false => refuse(format!("the prefix {text:?}; a model can put a space before the text")),
    }
}

fn check_units(units: &Units) -> Result<()> {
    if units.is_bytes() {
        return refuse("units of bytes");
    }
    if units.end_mark.is_some() || units.continuing_prefix.is_some() {
        return refuse("an end mark or a continuing prefix");
    }
    match (units.byte_fallback, &units.unknown, units.fuse_unknown) {
        (true, _, _) | (false, Some(_), true) => Ok(()),
        (false, Some(_), false) => refuse(
            "an unknown token for each character; a model has one for neighbours (fuse_unknown)",
        ),
        (false, None, _) => {
            refuse("characters outside the alphabet without an unknown token or byte fallback")
        }
    }
}

fn check_others(parts: &Parts) -> Result<()> {
    let is_plain = |token: &AddedToken| {
        token.special && !(token.normalized || token.lstrip || token.rstrip || token.single_word)
    };
    if let Some(token) = parts.added.iter().find(|token| !is_plain(token)) {
        let name = quoted(token.content.as_bytes());
        return refuse(format!(
            "the added token {name}, which is not special or has rules of its own"
        ));
    }
    let checks = [
        (!parts.ignore_merges, "pieces that are tokens without being merged (ignore_merges)"),
        (parts.template == Template::default(), "the special tokens that are put around a text"),
        (parts.truncation.is_none() && parts.padding.is_none(), "truncation and padding"),
        (parts.dropout.is_none(), "dropout"),
        (parts.vocabulary.priorities().is_empty(), "merges that share a priority"),
    ];
    require(FORMAT, &checks)
}

/// Refuses cuts that a token reaches across, as nothing is cut in a model.
///
/// Known patterns alone: for these the characters beside a place say whether a piece ends there.
fn check_stages(parts: &Parts) -> Result<()> {
    let Some(splitter) = parts.pre_tokenizer.only_splitter() else {
        return refuse("a pre-tokenizer that changes the text");
    };
    let stages = splitter.stages();
    if stages.is_empty() {
        return Ok(());
    }
    if !known_stages(parts).iter().any(|known| known == stages) {
        return refuse("this split pattern, as a model cuts nothing");
    }
    let own = Dialect::named("sentencepiece").map(|dialect| dialect.split);
    let has_symbol = parts.vocabulary.id(Token::plain(SPACE_SYMBOL.as_bytes())).is_some();
    if !parts.units.byte_fallback && (own.as_deref() == Some(stages) || !has_symbol) {
        return refuse(
            "this split pattern together with an unknown token, which stands for neighbours in two pieces in a model",
        );
    }
    for (id, token) in parts.vocabulary.iter() {
        if token.kind == TokenKind::PLAIN && splitter.pieces(token.bytes)?.len() > 1 {
            let name = quoted(token.bytes);
            return refuse(format!(
                "the token {name} with the id {id}, which the split pattern cuts"
            ));
        }
    }
    Ok(())
}

fn known_stages(parts: &Parts) -> Vec<Vec<Stage>> {
    let pieces = || {
        let plain = parts.vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::PLAIN);
        plain.filter_map(|(_, token)| std::str::from_utf8(token.bytes).ok())
    };
    let own = Dialect::named("sentencepiece").map(|dialect| dialect.split);
    let marks = SPACE_SYMBOL.chars().flat_map(|mark| [each_begins(mark), first_begins(mark)]);
    let marks = marks.map(|stage| vec![stage]);
    own.into_iter().chain(marks).chain([cut_stages(pieces, false)]).collect()
}

fn decode(parts: &Parts, rules: &SentencePieceRules) -> Result<SentencePieceDecode> {
    let spaces = (SPACE_SYMBOL.to_owned(), " ".to_owned());
    let expected = DecodeRules {
        replacements: rules.escapes_spaces.then_some(spaces).into_iter().collect(),
        n_leading_spaces: usize::from(rules.adds_space),
        first_without: None,
        whole_byte_runs: false,
    };
    match &parts.decode {
        Decode::Rules(found)
            if DecodeRules { whole_byte_runs: false, ..found.clone() } == expected => {}
        _ => {
            return refuse(
                "the rules of decoding: a model makes a space of each ▁, and leaves one out that was put before the text",
            );
        }
    }
    let mut controls: Vec<_> = parts.added.iter().map(|token| token.content.clone()).collect();
    controls.sort();
    controls.retain(|name| name != UNKNOWN && parts.units.unknown.as_ref() != Some(name));
    Ok(SentencePieceDecode {
        leading: if rules.adds_space { LeadingSpaces::OneGoes } else { LeadingSpaces::Stay },
        unknown: UNKNOWN_TEXT.to_owned(),
        controls,
    })
}

/// The vocabulary with an unknown token, the added tokens, and the name of that token.
fn vocabulary(parts: &Parts) -> Result<(Vocabulary, Vec<AddedToken>, String)> {
    let (mut vocabulary, mut added) = ((*parts.vocabulary).clone(), parts.added.clone());
    let unknown = parts.units.unknown.clone().unwrap_or_else(|| UNKNOWN.to_owned());
    let token = Token { kind: TokenKind::Unknown, bytes: unknown.as_bytes() };
    if parts.units.unknown.is_none() {
        vocabulary = Vocabulary::new();
        let is_unknown =
            |old: Token<'_>| old.kind == TokenKind::Added && old.bytes == unknown.as_bytes();
        for (id, old) in parts.vocabulary.iter() {
            vocabulary.insert(id, if is_unknown(old) { token } else { old })?;
        }
        parts.vocabulary.merges().iter().for_each(|merge| vocabulary.push_merge_to(*merge));
    }
    let id = match vocabulary.id(token) {
        Some(id) => id,
        None => vocabulary.push(token)?,
    };
    if !added.iter().any(|token| token.id == id) {
        added.push(AddedToken {
            id,
            content: unknown.clone(),
            special: true,
            ..AddedToken::default()
        });
    }
    // Control symbols are pieces of the model.
    added.iter_mut().for_each(|token| token.in_model = true);
    Ok((vocabulary, added, unknown))
}
