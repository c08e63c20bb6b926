//! What SentencePiece does, in the words of a `tokenizer.json`.
//!
//! Its normalizer becomes replacements and a prefix, as published files of Llama have them. Merges become the list of
//! those that can happen (`live_merges`). The library would look for added tokens of normalized text with the
//! prefix in front, so next to a prefix user-defined symbols become pieces of their own that are taken as a whole
//! (`Split`, `ignore_merges`). Left out, and refused by name: white space as a suffix.
//!
//! A character map becomes `Precompiled`, which reads it in another way: SentencePiece replaces the longest key at each
//! place, while the library looks up clusters. One of less than six bytes becomes what the shortest key that it begins with
//! becomes, and in others each character does. So a file with a map is only written if the caller accepts the difference.
//! Whether a map shows one is not examined; a few known texts are tried for an example.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::placed_value::refuse;
use super::{FORMAT, escaped, name_pattern};
use crate::sentencepiece::merges::live_merges;
use crate::{Change, quoted};
use bytepair::Parts;
use bytepair::Result;
use bytepair::decode::{Decode, DecodeStep, LeadingSpaces, SentencePieceDecode};
use bytepair::normalize::{
    NormalizeStep, Normalizer, SPACE_SYMBOL, SentencePiece, SentencePieceRules, TextPattern,
};
use bytepair::segment::Segment;
use bytepair::units::byte_name;
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Flavour, Pattern, Splitter, Stage};

/// More spaces than any text begins with.
const ALL: usize = 1_000_000;

/// The parts, with those that only SentencePiece has spelled out as others, and which texts that changes.
pub(super) fn spelled_out(parts: &Parts) -> Result<(Cow<'_, Parts>, Vec<Change>)> {
    let mut parts = Cow::Borrowed(parts);
    let is_scored = !parts.vocabulary.priorities().is_empty();
    if is_scored || matches!(parts.decode, Decode::SentencePiece(_)) {
        let vocabulary = listed(&parts)?;
        parts.to_mut().vocabulary = Arc::new(vocabulary);
    }
    let mut change = None;
    if let [NormalizeStep::SentencePiece(step)] = parts.normalizer.steps() {
        let step = step.clone();
        let rules = step.rules();
        check(rules)?;
        let steps = normalizer(rules)?;
        let spelled = Normalizer::new(steps, UnicodeTables::hugging_face());
        change = change_of(&step, &spelled)?;
        parts.to_mut().normalizer = spelled;
        if rules.adds_space && parts.added.iter().any(|token| !token.special) {
            take_symbols_as_pieces(parts.to_mut())?;
        }
    }
    Ok((parts, change.into_iter().collect()))
}

/// The vocabulary with a list of merges.
///
/// A token that is neither found nor merged is an ordinary one there, and so is one of one character that is found
/// wherever the character stands.
fn listed(parts: &Parts) -> Result<Vocabulary> {
    let vocabulary = &parts.vocabulary;
    let merges = live_merges(FORMAT, vocabulary)?;
    let mut listed = Vocabulary::new();
    let special: HashMap<TokenId, bool> =
        parts.added.iter().map(|added| (added.id, added.special || added.single_word)).collect();
    for (id, token) in vocabulary.iter() {
        let is_one =
            std::str::from_utf8(token.bytes).is_ok_and(|text| text.chars().nth(1).is_none());
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
    if rules.space_is_suffix && rules.adds_space {
        return refuse("a space behind the text (treat_whitespace_as_suffix)");
    }
    if !rules.escapes_spaces {
        return refuse("spaces that are not written as ▁ (escape_whitespaces)");
    }
    match rules.verbatim.iter().find(|symbol| rules.removes_extra_spaces && symbol.contains(' ')) {
        Some(symbol) => refuse(format!(
            "the user-defined symbol {}, whose spaces stay although extra ones are removed",
            quoted(symbol.as_bytes())
        )),
        None => Ok(()),
    }
}

/// Makes of user-defined symbols pieces that are taken as a whole, whatever the merges are.
///
/// Other pieces must not be tokens that merging would not give. Those are the names of bytes and of the unknown token,
/// of which one can be a piece between two symbols: it is cut where that changes nothing.
fn take_symbols_as_pieces(parts: &mut Parts) -> Result<()> {
    let vocabulary = &parts.vocabulary;
    let cut_names = cut_names(parts)?;
    let made: HashSet<TokenId> = vocabulary.merges().iter().map(|merge| merge.result).collect();
    let is_symbol: HashSet<TokenId> =
        parts.added.iter().filter(|token| !token.special).map(|token| token.id).collect();
    for (id, token) in vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::PLAIN) {
        let text = String::from_utf8_lossy(token.bytes);
        if !is_symbol.contains(&id) && !made.contains(&id) && text.chars().nth(1).is_some() {
            let name = quoted(token.bytes);
            return refuse(format!(
                "the token {name}, which no text becomes, together with user-defined symbols and a space before the text"
            ));
        }
    }
    let Some(splitter) = parts.pre_tokenizer.only_splitter() else {
        return refuse("a pre-tokenizer that changes what SentencePiece has normalized");
    };
    let stage = |source: String, behaviour| {
        let pattern = Pattern { source, flavour: Flavour::Oniguruma };
        Stage { pattern, behaviour, invert: false }
    };
    let mut names: Vec<&str> = parts
        .added
        .iter()
        .filter(|token| !token.special)
        .map(|token| token.content.as_str())
        .collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let escaped: Vec<_> = names.iter().map(|name| escaped(name)).collect();
    let mut later = splitter.stages().to_vec();
    for pattern in cut_names {
        later.insert(0, stage(pattern, Behaviour::MergedWithPrevious));
    }
    let unicode = UnicodeTables::hugging_face();
    let cuts = Splitter::new(later.clone(), &unicode)?;
    for name in names {
        if cuts.pieces(name.as_bytes())?.len() > 1 {
            return refuse(format!(
                "the user-defined symbol {name:?} together with a space before the text, as it would be cut"
            ));
        }
    }
    later.insert(0, stage(escaped.join("|"), Behaviour::Isolated));
    parts.pre_tokenizer = Splitter::new(later, &unicode)?.into();
    parts.ignore_merges = true;
    parts.added.retain(|token| token.special);
    let mut listed = Vocabulary::new();
    for (id, token) in parts.vocabulary.iter() {
        let kind = if is_symbol.contains(&id) { TokenKind::PLAIN } else { token.kind };
        listed.insert(id, Token { kind, ..token })?;
    }
    parts.vocabulary.merges().iter().for_each(|merge| listed.push_merge_to(*merge));
    parts.vocabulary = Arc::new(listed);
    let vocabulary = Arc::clone(&parts.vocabulary);
    for token in &mut parts.added {
        token.whole_piece =
            vocabulary.token(token.id).is_some_and(|known| known.kind == TokenKind::Added);
    }
    Ok(())
}

/// For each kind of name that no text becomes: the pattern of what stands before a cut of such a name.
///
/// No token reaches across the cut, and beside it are no two units that would become one unknown token. A name of
/// unknown units alone needs no cut, as it becomes that token.
fn cut_names(parts: &Parts) -> Result<Vec<String>> {
    let plain = || parts.vocabulary.iter().filter(|(_, token)| token.kind == TokenKind::PLAIN);
    let spans = |pair: &str| {
        plain().any(|(_, token)| memchr::memmem::find(token.bytes, pair.as_bytes()).is_some())
    };
    let falls_back = parts.units.byte_fallback;
    let mut patterns = Vec::new();
    if falls_back {
        if spans("<0") {
            return refuse(
                "tokens with <0 in them, together with user-defined symbols and byte fallback",
            );
        }
        patterns.push("<(?=0x[0-9A-F]{2}>)".to_owned());
    }
    let name = parts.units.unknown.as_deref().unwrap_or("");
    let units: Vec<(usize, char)> = name.char_indices().collect();
    let is_known = |unit: char| {
        parts.vocabulary.id(Token::plain(unit.encode_utf8(&mut [0; 4]).as_bytes())).is_some()
    };
    if units.len() < 2 || !falls_back && !name.chars().any(is_known) {
        return Ok(patterns);
    }
    let mut pairs = units.windows(2).map(|pair| (pair[1].0, [pair[0].1, pair[1].1]));
    let cut = pairs.find(|(_, pair)| {
        let fuses = !falls_back && !pair.iter().any(|&unit| is_known(unit));
        !fuses && !spans(&pair.iter().collect::<String>())
    });
    let Some((place, _)) = cut else {
        return refuse(format!(
            "user-defined symbols together with a text like {name:?}, which has no safe cut"
        ));
    };
    let (before, after) = name.split_at(place);
    patterns.push(format!("{}(?={})", escaped(before), escaped(after)));
    Ok(patterns)
}

/// The steps on each text between special tokens.
fn normalizer(rules: &SentencePieceRules) -> Result<Vec<NormalizeStep>> {
    let replace = |source: &str, to: &str| {
        let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Oniguruma };
        let pattern = TextPattern::new(pattern, &UnicodeTables::latest())?;
        let to = to.to_owned();
        Ok::<_, bytepair::Error>(NormalizeStep::ReplaceMatches { pattern, to })
    };
    let mut steps: Vec<_> =
        rules.characters.iter().cloned().map(NormalizeStep::Precompiled).collect();
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

/// Texts with clusters that many maps change in one of the libraries alone.
const KNOWN: [&str; 5] =
    ["か\u{3099}", "\u{1100}\u{1161}", "ﬁ\u{301}", "a\u{323}\u{302}", "①\u{20DD}"];

/// The texts that a character map changes in another way than it does in SentencePiece, if there is a map.
///
/// # Errors
/// If a user-defined symbol would be changed, since the library would look for something else then.
fn change_of(step: &SentencePiece, spelled: &Normalizer) -> Result<Option<Change>> {
    let Some(map) = &step.rules().characters else { return Ok(None) };
    let own = |step| Normalizer::new(vec![step], spelled.unicode());
    let mapped = own(NormalizeStep::Precompiled(map.clone()));
    let is_changed = |symbol: &&String| *normalized(&mapped, symbol) != *symbol.as_bytes();
    if let Some(symbol) = step.rules().verbatim.iter().find(is_changed) {
        let symbol = quoted(symbol.as_bytes());
        return refuse(format!(
            "the user-defined symbol {symbol}, which the map of this model would change there"
        ));
    }
    let here = own(NormalizeStep::SentencePiece(step.clone()));
    let differs = |text: &&str| normalized(&here, text) != normalized(spelled, text);
    let text = KNOWN.into_iter().find(differs).unwrap_or_default().to_owned();
    let what = "the library looks up clusters of characters in the map of this model, SentencePiece the longest match";
    Ok(Some(Change { what: what.to_owned(), text }))
}

fn normalized<'t>(steps: &Normalizer, text: &'t str) -> Cow<'t, [u8]> {
    steps.normalize(Segment::whole(text.as_bytes())).unwrap_or_default()
}
