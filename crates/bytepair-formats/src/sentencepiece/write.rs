//! A tokenizer to a model file.
//!
//! The file is read again before it is returned, and refused unless every part is as it was: a model cannot express merges that
//! differ from the meaning of its scores.

use std::collections::HashSet;

use super::model::{BPE, Model, Normalizer, Piece, PieceKind, Trainer};
use super::trained::{as_model, check_merges};
use super::{FORMAT, read};
use crate::live::live_merges;
use crate::{inexpressible, quoted};
use bytepair::Result;
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, SentencePieceDecode};
use bytepair::normalize::{NormalizeStep, SentencePieceRules};
use bytepair::units::byte_name;
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Parts, Tokenizer};

/// The model file of a tokenizer, from which every text gets the same ids.
///
/// # Errors
/// Where the tokenizer has a part that a model cannot say; the error names it.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let own = tokenizer.parts();
    if own.normalizer.is_sentencepiece() {
        let (file, again) = write_model(own)?;
        return match difference(own, &again).or_else(|| difference_of_merges(own, &again)) {
            Some(part) => {
                let token = other_symbol(own, &again);
                Err(inexpressible(FORMAT, token.unwrap_or_else(|| part.to_owned())))
            }
            None => Ok(file),
        };
    }
    let parts = as_model(own)?;
    let (file, again) = write_model(&parts)?;
    check_merges(&own.vocabulary, &again.vocabulary)?;
    match difference(&parts, &again) {
        Some(part) => Err(inexpressible(FORMAT, part)),
        None => Ok(file),
    }
}

/// The file, and what it is read as.
fn write_model(parts: &Parts) -> Result<(Vec<u8>, Parts)> {
    let [NormalizeStep::SentencePiece(step)] = parts.normalizer.steps() else {
        return Err(inexpressible(FORMAT, "a normalizer other than SentencePiece's"));
    };
    let Decode::SentencePiece(decode) = &parts.decode else {
        return Err(inexpressible(FORMAT, "rules of decoding other than SentencePiece's"));
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

fn normalizer(rules: &SentencePieceRules) -> Normalizer {
    let charsmap = rules.characters.as_ref().map(bytepair::CharsMap::to_bytes);
    Normalizer {
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
        let [own, again] = [parts, again].map(|parts| live_merges(&parts.vocabulary));
        own.is_ok() && own == again
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
