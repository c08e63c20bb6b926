//! What SentencePiece does, in the words of a `tokenizer.json`.
//!
//! Its normalizer becomes replacements and a prefix, as published files of Llama have them. Merges become the list of
//! those that can happen (`format::live`). Left out, and refused by name: character maps, since the library's
//! `Precompiled` asks them for clusters and not for the longest match; a space before the text together with
//! user-defined symbols, whose names the library would give that space too; white space as a suffix.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use super::refuse;
use crate::decode::{Decode, DecodeStep, LeadingSpaces, SentencePieceDecode};
use crate::error::Result;
use crate::format::huggingface::{escaped, name_pattern};
use crate::format::live::live_merges;
use crate::format::quoted;
use crate::normalize::{
    CharsMap, NormalizeStep, Normalizer, SPACE_SYMBOL, SentencePiece, SentencePieceRules,
    TextPattern,
};
use crate::split::{Flavour, Pattern, Segment};
use crate::tokenizer::Parts;
use crate::unicode::UnicodeTables;
use crate::units::byte_name;
use crate::vocabulary::{Token, TokenId, TokenKind, Vocabulary};

/// More spaces than any text begins with.
const ALL: usize = 1_000_000;

/// The parts, where those that only SentencePiece has are made of others.
pub(super) fn spelled_out(parts: &Parts) -> Result<Cow<'_, Parts>> {
    let mut parts = Cow::Borrowed(parts);
    let is_scored = !parts.vocabulary.priorities().is_empty();
    if is_scored || matches!(parts.decode, Decode::SentencePiece(_)) {
        let vocabulary = listed(&parts)?;
        parts.to_mut().vocabulary = Arc::new(vocabulary);
    }
    if let [NormalizeStep::SentencePiece(step)] = parts.normalizer.steps() {
        let step = step.clone();
        let rules = step.rules();
        check(rules)?;
        let steps = normalizer(rules)?;
        parts.to_mut().normalizer = Normalizer::new(steps, UnicodeTables::hugging_face());
    }
    Ok(parts)
}

/// The vocabulary with a list of merges.
///
/// A token that is neither found nor merged is an ordinary one there, and so is one of one character that is found
/// wherever the character stands.
fn listed(parts: &Parts) -> Result<Vocabulary> {
    let vocabulary = &parts.vocabulary;
    let merges = match live_merges(vocabulary) {
        Ok(merges) => merges,
        Err(problem) => return refuse(problem),
    };
    let mut listed = Vocabulary::new();
    let special: HashMap<TokenId, bool> = parts
        .added
        .iter()
        .map(|added| (added.id, added.special || added.single_word))
        .collect();
    for (id, token) in vocabulary.iter() {
        let is_one = std::str::from_utf8(token.bytes).is_ok_and(|text| text.chars().nth(1).is_none());
        let is_ordinary = match special.get(&id) {
            None => true,
            Some(is_sometimes) => is_one && !is_sometimes,
        };
        let is_ordinary = token.kind == TokenKind::Added && is_ordinary;
        let kind = if is_ordinary { TokenKind::PLAIN } else { token.kind };
        listed.insert(id, Token { kind, ..token })?;
    }
    merges.into_iter().for_each(|merge| listed.push_merge_to(merge));
    Ok(listed)
}

fn check(rules: &SentencePieceRules) -> Result<()> {
    if let Some(map) = &rules.characters {
        return refuse(format!(
            "the character map of this model{}: the library looks up clusters of characters in it, SentencePiece the \
             longest match",
            difference(map)
        ));
    }
    if rules.space_is_suffix && rules.adds_space {
        return refuse("a space behind the text (treat_whitespace_as_suffix)");
    }
    if !rules.escapes_spaces {
        return refuse("spaces that are not written as ▁ (escape_whitespaces)");
    }
    let Some(symbol) = rules.verbatim.first() else { return Ok(()) };
    if rules.adds_space {
        return refuse(format!(
            "a space before the text (add_dummy_prefix) together with user-defined symbols such as {}: the library \
             would look for them with that space",
            quoted(symbol.as_bytes())
        ));
    }
    match rules.verbatim.iter().find(|symbol| rules.removes_extra_spaces && symbol.contains(' ')) {
        Some(symbol) => refuse(format!(
            "the user-defined symbol {}, whose spaces stay although extra ones are removed",
            quoted(symbol.as_bytes())
        )),
        None => Ok(()),
    }
}

/// A text for which both libraries find something else in a map, if one is soon found.
fn difference(map: &CharsMap) -> String {
    let unicode = UnicodeTables::hugging_face();
    let rules = SentencePieceRules { characters: Some(map.clone()), ..SentencePieceRules::default() };
    let Ok(step) = SentencePiece::new(rules) else { return String::new() };
    let both = [NormalizeStep::SentencePiece(step), NormalizeStep::Precompiled(map.clone())]
        .map(|step| Normalizer::new(vec![step], unicode));
    let texts = ["か\u{3099}", "\u{1100}\u{1161}", "ﬁ\u{301}", "a\u{323}\u{302}"];
    let text = texts.into_iter().find_map(|text| {
        let segment = Segment::inner(text.as_bytes());
        let [here, there] = both.each_ref().map(|normalizer| {
            normalizer.normalize(segment).map(Cow::into_owned).unwrap_or_default()
        });
        (here != there).then(|| {
            let texts = [text.as_bytes(), &here, &there].map(|text| {
                String::from_utf8_lossy(text).escape_unicode().to_string()
            });
            format!(" (\"{}\" becomes \"{}\", there \"{}\")", texts[0], texts[1], texts[2])
        })
    });
    text.unwrap_or_default()
}

/// The steps on each text between special tokens.
fn normalizer(rules: &SentencePieceRules) -> Result<Vec<NormalizeStep>> {
    let replace = |source: &str, to: &str| {
        let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Oniguruma };
        let pattern = TextPattern::new(pattern, &UnicodeTables::latest())?;
        let to = to.to_owned();
        Ok::<_, crate::Error>(NormalizeStep::ReplaceMatches { pattern, to })
    };
    let mut steps = Vec::new();
    if rules.removes_extra_spaces {
        steps.push(replace(r"\A +|[ ▁]+\z", "")?);
        steps.push(replace(" {2,}", " ")?);
    }
    if rules.adds_space {
        let text = SPACE_SYMBOL.to_owned();
        steps.push(NormalizeStep::Prepend { text, only_first: false, unless_there: false });
    }
    steps.push(NormalizeStep::Replace { from: " ".to_owned(), to: SPACE_SYMBOL.to_owned() });
    Ok(steps)
}

/// The steps that decode as SentencePiece does.
///
/// A `▁` that a token begins with is a space first, so that spaces can be taken off the beginning: it is the only
/// kind of space until then.
pub(super) fn decoding(rules: &SentencePieceDecode, parts: &Parts) -> Result<Vec<DecodeStep>> {
    let SentencePieceDecode { leading, unknown, controls } = rules;
    let has_symbol = parts.vocabulary.id(Token::plain(SPACE_SYMBOL.as_bytes())).is_some();
    if parts.units.byte_fallback && !has_symbol {
        return refuse("▁ in bytes, which decoding would take for a space");
    }
    if unknown.contains(SPACE_SYMBOL) {
        return refuse(format!("{unknown:?} as the text of the unknown token (unk_surface)"));
    }
    let mut steps = Vec::new();
    if !controls.is_empty() {
        let names: Vec<_> = controls.iter().map(|name| escaped(name)).collect();
        let pattern = format!(r"\A(?:{})\z", names.join("|"));
        steps.push(DecodeStep::ReplacePattern { pattern, to: String::new() });
    }
    let n_leading = match leading {
        LeadingSpaces::Stay => 0,
        LeadingSpaces::OneGoes => 1,
        LeadingSpaces::EachGoes => ALL,
    };
    if n_leading > 0 {
        let pattern = format!(r"\A{SPACE_SYMBOL}");
        steps.push(DecodeStep::ReplacePattern { pattern, to: " ".to_owned() });
    }
    if n_leading > 0 && parts.units.byte_fallback {
        // A space that is spelled as a byte stays.
        let to = SPACE_SYMBOL.to_owned();
        steps.push(DecodeStep::ReplacePattern { pattern: name_pattern(&byte_name(b' ')), to });
    }
    if let Some(name) = &parts.units.unknown {
        let to = unknown.replace(' ', SPACE_SYMBOL);
        steps.push(DecodeStep::ReplacePattern { pattern: name_pattern(name), to });
    }
    steps.extend(parts.units.byte_fallback.then_some(DecodeStep::ByteFallback));
    steps.push(DecodeStep::Fuse);
    if n_leading > 0 {
        steps.push(DecodeStep::Strip { content: ' ', start: n_leading, stop: 0 });
    }
    steps.push(DecodeStep::Replace { from: SPACE_SYMBOL.to_owned(), to: " ".to_owned() });
    Ok(steps)
}
