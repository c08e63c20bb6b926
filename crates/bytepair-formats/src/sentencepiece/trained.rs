//! A tokenizer that was not read from a model to the parts of one that was.
//!
//! What is trained in the dialect `sentencepiece` has other parts than a model: steps that replace spaces, a pattern,
//! a list of merges. A model gives the same ids if no token reaches across a cut of the pattern, and if of the cuts of a
//! token only the listed merge ever happens (`live`). Special tokens become control symbols, so decoding leaves them out.
//! A model has to have an unknown token; if there is none, and no special token `<unk>`, one is added after the last id.
//!
//! Refused by name: changes of the text other than `▁` for spaces and a space before the text, as this crate writes no
//! character map but the one that was read; added tokens that are not special.

use std::sync::Arc;

use super::FORMAT;
use super::merges::cut_stages;
use crate::live::live_merges;
use crate::{inexpressible, quoted, require};
use bytepair::Parts;
use bytepair::Result;
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, DecodeRules, LeadingSpaces, SentencePieceDecode};
use bytepair::dialect::Dialect;
use bytepair::for_formats::normalize_step;
use bytepair::normalize::{
    NormalizeStep, Normalizer, SPACE_SYMBOL, SentencePiece, SentencePieceRules,
};
use bytepair::template::Template;
use bytepair::units::Units;
use bytepair::vocabulary::{Token, TokenKind, Vocabulary};
use bytepair_split::{Stage, each_begins, first_begins};

/// The name of the unknown token where a tokenizer has none.
const UNKNOWN: &str = "<unk>";

/// What the unknown token is decoded to where the model does not say.
const UNKNOWN_TEXT: &str = " \u{2047} ";

/// The parts as a model has them.
///
/// # Errors
/// Where a model cannot say a part; the error names it.
pub(super) fn as_model(parts: &Parts) -> Result<Parts> {
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
        decode: decode.into(),
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
pub(super) fn check_merges(vocabulary: &Vocabulary, model: &Vocabulary) -> Result<()> {
    let live = live_merges(model).map_err(|problem| inexpressible(FORMAT, problem))?;
    let merges = vocabulary.merges();
    let Some(place) = (0..merges.len().max(live.len())).find(|&n| merges.get(n) != live.get(n))
    else {
        return Ok(());
    };
    let merge = merges.get(place).or_else(|| live.get(place));
    let text =
        merge.and_then(|merge| vocabulary.token(merge.result)).map_or(&[][..], |token| token.bytes);
    let problem = format!("the merge into {}, which would not be as it is here", quoted(text));
    Err(inexpressible(FORMAT, problem))
}

fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

fn rules(parts: &Parts) -> Result<SentencePieceRules> {
    let steps = parts.normalizer.steps();
    if let Some(step) = steps.iter().find(|step| !is_prefix(step) && !is_escape(step)) {
        return refuse(format!(
            "this step of the normalizer: {}; bytepair writes no new character maps into models. Save a tokenizer.json, \
             or train in Python with one step that makes ▁ of spaces, (\"replace\", \" \", \"▁\")",
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
