//! What SentencePiece does, in the words of a `tokenizer.json`.
//!
//! Its normalizer becomes replacements and a prefix, as published files of Llama have them. Merges become the list of
//! those that can happen (`live_merges`). The library would look for added tokens of normalized text with the
//! prefix in front, so next to a prefix user-defined symbols become pieces of their own that are taken as a whole
//! (`Split`, `ignore_merges`). Left out, and refused by name: white space as a suffix.
//!
//! A character map becomes `Precompiled`, which reads it otherwise, and which texts that changes is named. SentencePiece
//! replaces the longest key at each place. The library looks at clusters: one of less than six bytes becomes what the
//! shortest key that it begins with becomes, and of others each character does. Both are the same for a map whose keys are
//! single characters that are a cluster of their own wherever they stand, as controls are, or that have four bytes: what a
//! cluster of these and a mark has is six. `\r\n` alone is a cluster of two such. Then nothing is named. For other maps a
//! text is looked for that shows the difference, first among some that texts have, then among the keys with marks behind
//! them. Takes time linear in the keys.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;

use super::placed_value::refuse;
use super::{FORMAT, escaped, name_pattern};
use crate::sentencepiece::merges::live_merges;
use crate::{Change, quoted};
use bytepair::Parts;
use bytepair::Result;
use bytepair::decode::{Decode, DecodeStep, LeadingSpaces, SentencePieceDecode};
use bytepair::normalize::{
    CharsMap, NormalizeStep, Normalizer, SPACE_SYMBOL, SentencePiece, SentencePieceRules,
    TextPattern,
};
use bytepair::segment::Segment;
use bytepair::units::byte_name;
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Flavour, Pattern, Splitter, Stage};

/// More spaces than any text begins with.
const ALL: usize = 1_000_000;

/// The parts, where those that only SentencePiece has are made of others, and which texts that changes.
pub(super) fn spelled_out(parts: &Parts) -> Result<(Cow<'_, Parts>, Vec<Change>)> {
    let mut parts = Cow::Borrowed(parts);
    let is_scored = !parts.vocabulary.priorities().is_empty();
    if is_scored || matches!(parts.decode, Decode::SentencePiece(_)) {
        let vocabulary = listed(&parts)?;
        parts.to_mut().vocabulary = Arc::new(vocabulary);
    }
    let mut changes = Vec::new();
    if let [NormalizeStep::SentencePiece(step)] = parts.normalizer.steps() {
        let step = step.clone();
        let rules = step.rules();
        check(rules)?;
        let steps = normalizer(rules)?;
        let spelled = Normalizer::new(steps, UnicodeTables::hugging_face());
        changes.extend(changes_of(&step, &spelled)?);
        parts.to_mut().normalizer = spelled;
        if rules.adds_space && parts.added.iter().any(|token| !token.special) {
            take_symbols_as_pieces(parts.to_mut())?;
        }
    }
    Ok((parts, changes))
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

/// Clusters of so many bytes are looked up character by character.
const LONG_CLUSTER: usize = 6;

/// A mark of the fewest bytes.
const MARK: char = '\u{301}';

/// Texts with clusters that libraries read otherwise.
const KNOWN: [&str; 5] =
    ["か\u{3099}", "\u{1100}\u{1161}", "ﬁ\u{301}", "a\u{323}\u{302}", "①\u{20DD}"];

/// Which texts these steps change otherwise than SentencePiece's own.
///
/// # Errors
/// Where a user-defined symbol would be changed, since the library would look for something else then.
fn changes_of(step: &SentencePiece, steps: &Normalizer) -> Result<Vec<Change>> {
    let Some(map) = &step.rules().characters else { return Ok(Vec::new()) };
    let keys = map.keys();
    check_symbols(step.rules(), map)?;
    let both = Both {
        here: Normalizer::new(vec![NormalizeStep::SentencePiece(step.clone())], steps.unicode()),
        there: steps,
    };
    let what = "the library looks up clusters of characters in the map of this model, SentencePiece the longest match";
    let is_exact = keys.as_ref().is_some_and(|keys| is_read_alike(keys, step.rules()));
    let keys = keys.unwrap_or_default();
    let texts = keys.iter().filter_map(|(key, _)| std::str::from_utf8(key).ok());
    let marks = ["", "\u{301}", "\u{300}", "\u{200D}", "\n"];
    let clusters = (!is_exact)
        .then(|| both.difference(KNOWN.into_iter().chain(texts), marks).unwrap_or_default());
    let symbols = "user-defined symbols, which SentencePiece finds before the map of this model changes the text beside \
                   them";
    let marks = ["\u{301}", "\u{308}", "\u{338}", "\u{3099}", "\u{200D}"];
    let beside = both.difference(step.rules().verbatim.iter().map(String::as_str), marks);
    let left_out = "texts of which the map of this model leaves nothing, where SentencePiece still puts a space";
    let dropped = keys.iter().find(|(_, replacement)| replacement.is_empty());
    let dropped = dropped.and_then(|(key, _)| String::from_utf8(key.clone()).ok());
    let dropped = dropped.filter(|text| both.differs(text));
    let all = [
        clusters.map(|text| (what, text)),
        beside.map(|text| (symbols, text)),
        dropped.map(|text| (left_out, text)),
    ];
    let changes = all.into_iter().flatten();
    Ok(changes.map(|(what, text)| Change { what: what.to_owned(), text }).collect())
}

/// Refuses symbols that the library would change before it looks for them.
fn check_symbols(rules: &SentencePieceRules, map: &CharsMap) -> Result<()> {
    let step = Normalizer::new(
        vec![NormalizeStep::Precompiled(map.clone())],
        bytepair_split::unicode::UnicodeTables::hugging_face(),
    );
    for symbol in &rules.verbatim {
        if *normalized(&step, symbol) != *symbol.as_bytes() {
            let symbol = quoted(symbol.as_bytes());
            let part = format!(
                "the user-defined symbol {symbol}, which the map of this model would change there"
            );
            return refuse(part);
        }
    }
    Ok(())
}

/// Whether clusters show in nothing.
fn is_read_alike(keys: &[(Vec<u8>, &str)], rules: &SentencePieceRules) -> bool {
    let is_alone = |key: &[u8]| {
        let Ok(text) = std::str::from_utf8(key) else { return false };
        let mut characters = text.chars();
        let (Some(character), None) = (characters.next(), characters.next()) else { return false };
        character.len_utf8() + MARK.len_utf8() >= LONG_CLUSTER
            || format!("{character}{MARK}").graphemes(true).nth(1).is_some()
    };
    let of = |key: &[u8]| keys.iter().find(|other| other.0 == key).map(|other| other.1);
    let line_ends = match (of(b"\r"), of(b"\n")) {
        (None, _) | (Some(_), Some("")) => true,
        (Some(" "), Some(" ")) => rules.removes_extra_spaces,
        _ => false,
    };
    line_ends && keys.iter().all(|(key, _)| is_alone(key))
}

fn normalized<'t>(steps: &Normalizer, text: &'t str) -> Cow<'t, [u8]> {
    steps.normalize(Segment::whole(text.as_bytes())).unwrap_or_default()
}

/// The steps of both libraries.
struct Both<'s> {
    here: Normalizer,
    there: &'s Normalizer,
}

impl Both<'_> {
    fn differs(&self, text: &str) -> bool {
        normalized(&self.here, text) != normalized(self.there, text)
    }

    /// A text that is read otherwise: one of these, with one of these marks behind it.
    fn difference<'t>(
        &self,
        texts: impl Iterator<Item = &'t str>,
        marks: [&str; 5],
    ) -> Option<String> {
        let mut marked =
            texts.flat_map(|text| marks.iter().map(move |mark| format!("{text}{mark}")));
        marked.find(|text| self.differs(text))
    }
}
