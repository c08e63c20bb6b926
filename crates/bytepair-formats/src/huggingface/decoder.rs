//! The decoder of a `tokenizer.json`: our rules where they give the same text, else its own list of steps.
//!
//! Rules are fast. They say the same as a list of known shape if each token that is no plain text is
//! changed by neither or by both: an added token with a `▁` in its name, or letters that stand for bytes,
//! makes the difference. What cannot be shown to be equal is run step by step. Before `ByteLevel` a step may
//! spell the name of an added token in letters that stand for its bytes, as writing does where it must.
//! Cost: one look at each token that is not plain text.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::placed_value::{
    Metaspace, PlacedValue, Wanted, byte_level, flag, metaspace, no_type, owned, refuse, wanted,
};
use super::{FORMAT, name_pattern, prefix_pattern, sentencepiece};
use crate::json::check_steps;
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, DecodeChain, DecodeRules, DecodeStep};
use bytepair::for_formats::{byte_of, matches_of};
use bytepair::normalize::Normalizer;
use bytepair::segment::Segment;
use bytepair::units::{Units, bytes_of_printable, printable_name, published_name};
use bytepair::vocabulary::{Token, TokenKind, Vocabulary};
use bytepair::{Parts, Result};

const DECODERS: &str = "Sequence, ByteLevel, Metaspace, BPEDecoder, Replace, ByteFallback, Fuse, Strip, WordPiece, CTC";

/// Reads a decoder.
pub(super) fn decoding(placed: &PlacedValue<'_>) -> Result<Vec<DecodeStep>> {
    let mut steps = Vec::new();
    push_steps(placed, &mut steps)?;
    check_steps(FORMAT, &placed.path, steps.len()).map(|()| steps)
}

fn push_steps(placed: &PlacedValue<'_>, steps: &mut Vec<DecodeStep>) -> Result<()> {
    let kind = match placed.kind(DECODERS)? {
        Some(kind) => kind,
        None => decoder_by_fields(placed).ok_or_else(|| no_type(placed))?,
    };
    steps.push(match kind {
        "Sequence" => {
            let items = placed.required("decoders")?.items()?;
            return items.iter().try_for_each(|item| push_steps(item, steps));
        }
        "ByteLevel" => byte_level(placed).map(|_| DecodeStep::ByteLevel)?,
        "Metaspace" => {
            let Metaspace { replacement, only_first, .. } = metaspace(placed)?;
            DecodeStep::Metaspace { replacement, drops_first: only_first.is_some() }
        }
        "BPEDecoder" => DecodeStep::Suffix { suffix: owned(placed, "suffix")? },
        "Replace" => replace(placed)?,
        "ByteFallback" => DecodeStep::ByteFallback,
        "Fuse" => DecodeStep::Fuse,
        "Strip" => DecodeStep::Strip {
            content: placed.required("content")?.character()?,
            start: placed.required("start")?.whole()?,
            stop: placed.required("stop")?.whole()?,
        },
        "WordPiece" => DecodeStep::WordPiece {
            prefix: owned(placed, "prefix")?,
            cleanup: flag(placed, "cleanup")?,
        },
        _ => DecodeStep::Ctc {
            pad: owned(placed, "pad_token")?,
            delimiter: owned(placed, "word_delimiter_token")?,
            cleanup: flag(placed, "cleanup")?,
        },
    });
    Ok(())
}

fn replace(placed: &PlacedValue<'_>) -> Result<DecodeStep> {
    let pattern = placed.required("pattern")?;
    let (wanted, to) = (wanted(&pattern)?, owned(placed, "content")?);
    match wanted {
        Wanted::String(from) if from.is_empty() => Err(pattern.problem("the empty text")),
        Wanted::String(from) => Ok(DecodeStep::Replace { from, to }),
        Wanted::Regex(source) => {
            matches_of(&source).map_err(|error| pattern.problem(error.to_string()))?;
            Ok(DecodeStep::ReplacePattern { pattern: source, to })
        }
    }
}

/// The type that the library finds for a decoder without one.
fn decoder_by_fields(placed: &PlacedValue<'_>) -> Option<&'static str> {
    let is_text = |field: &str| owned(placed, field).is_ok();
    let cleans = flag(placed, "cleanup").is_ok();
    let shapes = [
        ("BPEDecoder", is_text("suffix")),
        ("WordPiece", is_text("prefix") && cleans),
        ("CTC", is_text("pad_token") && is_text("word_delimiter_token") && cleans),
        ("Replace", is_text("content") && placed.count("pattern") > 0),
        ("Strip", is_text("content") && placed.count("start") > 0),
    ];
    shapes.into_iter().find(|(_, is_this)| *is_this).map(|(kind, _)| kind)
}

/// What the equality of rules and steps depends on.
pub(super) struct Context<'c> {
    pub(super) units: &'c Units,
    pub(super) vocabulary: &'c Vocabulary,
    pub(super) added: &'c [AddedToken],
    pub(super) normalizer: &'c Normalizer,
}

/// The rules that a list of known shape stands for, as far as plain text goes.
fn rules(steps: &[DecodeStep], context: &Context<'_>) -> Option<DecodeRules> {
    let units = context.units;
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    if units.is_bytes() {
        let is_known = steps.ends_with(&[DecodeStep::ByteLevel])
            && context.renamed(&steps[..steps.len() - 1]).is_some();
        let is_plain = is_known && !has_marks && !units.byte_fallback;
        return is_plain.then(DecodeRules::default);
    }
    if let [DecodeStep::Metaspace { replacement, drops_first }] = steps {
        let replacement = replacement.to_string();
        let is_plain = !has_marks && !units.byte_fallback;
        return is_plain.then(|| DecodeRules {
            first_without: drops_first.then(|| replacement.clone()),
            replacements: vec![(replacement, " ".to_owned())],
            ..DecodeRules::default()
        });
    }
    let replaced = |step: &DecodeStep| match step {
        DecodeStep::Replace { from, to } => Some((from.clone(), to.clone())),
        _ => None,
    };
    let n_leading_spaces = match steps {
        [.., DecodeStep::Strip { content: ' ', start, stop: 0 }] => *start,
        _ => 0,
    };
    let rules = DecodeRules {
        replacements: steps.iter().filter_map(replaced).collect(),
        n_leading_spaces,
        first_without: None,
        whole_byte_runs: units.byte_fallback,
    };
    let mut written = steps_of(&rules, units).ok()?;
    if n_leading_spaces == 0 && !steps.contains(&DecodeStep::Fuse) {
        // At the end it changes nothing.
        written.pop();
    }
    let keeps_spaces =
        units.end_mark.is_none() || rules.replacements.iter().all(|(from, _)| !from.contains(' '));
    (steps == written && keeps_spaces).then_some(rules)
}

impl Context<'_> {
    /// The decoder of a file that has these steps, or none.
    pub(super) fn decode(&self, steps: Option<Vec<DecodeStep>>) -> Decode {
        let Some(steps) = steps else {
            let separator = " ".to_owned();
            return Decode::Chain(DecodeChain { steps: Vec::new(), separator });
        };
        match rules(&steps, self).filter(|rules| self.agrees(&steps, rules)) {
            Some(rules) => Decode::Rules(rules),
            None => Decode::Chain(DecodeChain { steps, separator: String::new() }),
        }
    }

    /// Whether rules and steps do the same to every token of the vocabulary.
    fn agrees(&self, steps: &[DecodeStep], rules: &DecodeRules) -> bool {
        let has_marks = self.units.end_mark.is_some() || self.units.continuing_prefix.is_some();
        let agrees = |token: Token<'_>| match token.kind {
            TokenKind::Text(_) if has_marks => self.agrees_on_marks(token),
            TokenKind::Text(_) if rules.whole_byte_runs => byte_of(token.bytes).is_none(),
            TokenKind::Text(_) | TokenKind::Hole | TokenKind::Byte => true,
            TokenKind::Added | TokenKind::Unknown => self.agrees_on_name(token.bytes, steps),
        };
        let agree = match self.units.is_bytes() {
            true => self.names_come_back(steps),
            false => self.vocabulary.iter().all(|(_, token)| agrees(token)),
        };
        agree && self.skips_the_same()
    }

    /// By name: what steps before `ByteLevel` make of a token that is shown by its name, where each of them makes
    /// something of one such token and of nothing else.
    fn renamed<'s>(&self, steps: &'s [DecodeStep]) -> Option<HashMap<&str, &'s str>> {
        if steps.is_empty() {
            return Some(HashMap::new());
        }
        let names: HashMap<String, &str> =
            shown_names(self.vocabulary).flatten().map(|name| (name_pattern(name), name)).collect();
        let mut renamed = HashMap::with_capacity(steps.len());
        for step in steps.iter().rev() {
            let DecodeStep::ReplacePattern { pattern, to } = step else { return None };
            let name = *names.get(pattern)?;
            // What it makes would be seen by the steps after it.
            if renamed.contains_key(to.as_str()) || renamed.insert(name, to.as_str()).is_some() {
                return None;
            }
        }
        Some(renamed)
    }

    /// Whether each token that is shown by its name comes out of `ByteLevel` as that name.
    fn names_come_back(&self, steps: &[DecodeStep]) -> bool {
        let before = steps.split_last().map_or(steps, |(_, before)| before);
        let Some(renamed) = self.renamed(before) else { return false };
        let comes_back = |name: &str| {
            // These stand for themselves.
            if renamed.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()) {
                return true;
            }
            let written = renamed.get(name).copied().unwrap_or(name);
            let bytes = bytes_of_printable(written);
            bytes.as_deref().unwrap_or(written.as_bytes()) == name.as_bytes()
        };
        shown_names(self.vocabulary).all(|name| name.is_some_and(comes_back))
    }

    /// A mark must be found where it stands, and nowhere else.
    fn agrees_on_marks(&self, token: Token<'_>) -> bool {
        let TokenKind::Text(form) = token.kind else { return true };
        let text = token.bytes;
        let prefix = self.units.continuing_prefix.as_deref().unwrap_or("");
        let looks_continued =
            !prefix.is_empty() && !form.continues() && text.starts_with(prefix.as_bytes());
        let mark = self.units.end_mark.as_ref().map_or("", |mark| mark.text.as_str());
        let written = published_name(self.units, token);
        let place = if mark.is_empty() { None } else { written.find(mark) };
        !looks_continued && place == form.ends().then(|| written.len() - mark.len())
    }

    /// Whether a token that is shown by its name here is shown so there.
    fn agrees_on_name(&self, name: &[u8], steps: &[DecodeStep]) -> bool {
        let Ok(name) = std::str::from_utf8(name) else { return false };
        steps.iter().all(|step| match step {
            DecodeStep::Metaspace { replacement, .. } => !name.contains(*replacement),
            DecodeStep::Replace { from, .. } => !name.contains(from.as_str()),
            DecodeStep::Suffix { suffix } => !name.contains(suffix.as_str()),
            DecodeStep::ByteFallback => byte_of(name.as_bytes()).is_none(),
            DecodeStep::ReplacePattern { .. } => self
                .units
                .continuing_prefix
                .as_ref()
                .is_none_or(|prefix| !name.starts_with(prefix.as_str())),
            _ => true,
        })
    }

    /// Whether the tokens that are left out on request are the same, and none is shown normalized.
    fn skips_the_same(&self) -> bool {
        let is_special = |id| self.added.iter().any(|token| token.id == id && token.special);
        let unknown = self.vocabulary.iter().find(|(_, token)| token.kind == TokenKind::Unknown);
        let is_unchanged = |token: &AddedToken| {
            let text = token.content.as_bytes();
            let segment = Segment::whole(text);
            let normalized = || self.normalizer.normalize(segment);
            !token.normalized || normalized().is_ok_and(|normalized| *normalized == *text)
        };
        unknown.is_none_or(|(id, _)| is_special(id)) && self.added.iter().all(is_unchanged)
    }
}

/// The names of tokens that are no text; nothing for one that is not UTF-8.
fn shown_names(vocabulary: &Vocabulary) -> impl Iterator<Item = Option<&str>> {
    let is_shown = |token: &Token<'_>| matches!(token.kind, TokenKind::Added | TokenKind::Unknown);
    let tokens = vocabulary.iter().map(|(_, token)| token).filter(is_shown);
    tokens.map(|token| std::str::from_utf8(token.bytes).ok())
}

/// The decoder of a tokenizer, as the library runs it.
fn chain(parts: &Parts) -> Result<DecodeChain> {
    let steps = match &parts.decode {
        Decode::Chain(chain) => return Ok(chain.clone()),
        Decode::Rules(rules) => all_steps(rules, parts)?,
        Decode::SentencePiece(rules) => sentencepiece::decoding(rules, parts)?,
    };
    Ok(DecodeChain { steps, separator: String::new() })
}

/// The decoder of a tokenizer, as a file has it.
pub(super) fn decoder(parts: &Parts) -> Result<Value> {
    let DecodeChain { steps, separator } = chain(parts)?;
    match (separator.as_str(), steps.as_slice()) {
        (" ", []) => Ok(Value::Null),
        ("", [step]) => Ok(value(step)),
        ("", steps) => {
            let values: Vec<Value> = steps.iter().map(value).collect();
            Ok(json!({"type": "Sequence", "decoders": values}))
        }
        (separator, _) => refuse(format!("{separator:?} between decoded tokens")),
    }
}

/// The most added tokens that get a decoding step of their own. Each step looks at every token.
const MAX_RESPELLED: usize = 64;

/// A step for each token whose name `ByteLevel` would take for bytes: it spells the name in letters that stand for
/// the bytes of that name.
fn respelled(parts: &Parts) -> Result<Vec<DecodeStep>> {
    let is_other = |name: &&str| {
        bytes_of_printable(name).is_some_and(|bytes| bytes.as_slice() != name.as_bytes())
    };
    let names = shown_names(&parts.vocabulary).flatten();
    let mut names: Vec<&str> = names.filter(is_other).take(MAX_RESPELLED + 1).collect();
    if names.len() > MAX_RESPELLED {
        return refuse(format!(
            "more than {MAX_RESPELLED} added tokens such as {:?}, whose characters also stand for bytes: the library \
             would decode them to those bytes",
            names[0]
        ));
    }
    // What a step makes is longer than the name, so no later step takes it for a name.
    names.sort_by_key(|name| std::cmp::Reverse(name.chars().count()));
    let step = |name: &str| DecodeStep::ReplacePattern {
        pattern: name_pattern(name),
        to: printable_name(name.as_bytes()),
    };
    Ok(names.into_iter().map(step).collect())
}

/// The steps that do what rules do to every token.
fn all_steps(rules: &DecodeRules, parts: &Parts) -> Result<Vec<DecodeStep>> {
    let mut all = if parts.units.is_bytes() { respelled(parts)? } else { Vec::new() };
    all.extend(steps_of(rules, &parts.units)?);
    Ok(all)
}

/// The steps that do what rules do to text.
fn steps_of(rules: &DecodeRules, units: &Units) -> Result<Vec<DecodeStep>> {
    let DecodeRules { replacements, n_leading_spaces, first_without, whole_byte_runs: _ } = rules;
    let has_marks = units.end_mark.is_some() || units.continuing_prefix.is_some();
    if units.is_bytes() {
        let is_plain = replacements.is_empty() && *n_leading_spaces == 0 && first_without.is_none();
        return match is_plain && !has_marks {
            true => Ok(vec![DecodeStep::ByteLevel]),
            false => refuse("rules of decoding, or marks that are undone, together with bytes"),
        };
    }
    if let Some(first) = first_without {
        return metaspace_step(first, rules, has_marks || units.byte_fallback);
    }
    let mut steps = Vec::new();
    if let Some(prefix) = &units.continuing_prefix {
        let pattern = prefix_pattern(prefix);
        steps.push(DecodeStep::ReplacePattern { pattern, to: String::new() });
    }
    steps
        .extend(units.end_mark.iter().map(|mark| DecodeStep::Suffix { suffix: mark.text.clone() }));
    let replace =
        |(from, to): &(String, String)| DecodeStep::Replace { from: from.clone(), to: to.clone() };
    steps.extend(replacements.iter().map(replace));
    steps.extend(units.byte_fallback.then_some(DecodeStep::ByteFallback));
    steps.push(DecodeStep::Fuse);
    if *n_leading_spaces > 0 {
        steps.push(DecodeStep::Strip { content: ' ', start: *n_leading_spaces, stop: 0 });
    }
    Ok(steps)
}

/// The one step for a text that is left out of the first token and a space in the others.
fn metaspace_step(first: &str, rules: &DecodeRules, has_more: bool) -> Result<Vec<DecodeStep>> {
    let mut characters = first.chars();
    let is_space =
        matches!(rules.replacements.as_slice(), [(from, to)] if from == first && to == " ");
    match (characters.next(), characters.next()) {
        (Some(replacement), None) if is_space && !has_more && rules.n_leading_spaces == 0 => {
            Ok(vec![DecodeStep::Metaspace { replacement, drops_first: true }])
        }
        _ => refuse(format!("{first:?} that is left out of the first token when decoding")),
    }
}

fn value(step: &DecodeStep) -> Value {
    match step {
        DecodeStep::ByteLevel => json!({
            "type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false,
        }),
        DecodeStep::Metaspace { replacement, drops_first } => json!({
            "type": "Metaspace",
            "replacement": replacement.to_string(),
            "prepend_scheme": if *drops_first { "always" } else { "never" },
            "split": true,
        }),
        DecodeStep::Suffix { suffix } => json!({"type": "BPEDecoder", "suffix": suffix}),
        DecodeStep::ByteFallback => json!({"type": "ByteFallback"}),
        DecodeStep::Fuse => json!({"type": "Fuse"}),
        DecodeStep::Strip { content, start, stop } => json!({
            "type": "Strip", "content": content.to_string(), "start": start, "stop": stop,
        }),
        DecodeStep::Replace { from, to } => {
            json!({"type": "Replace", "pattern": {"String": from}, "content": to})
        }
        DecodeStep::ReplacePattern { pattern, to } => {
            json!({"type": "Replace", "pattern": {"Regex": pattern}, "content": to})
        }
        DecodeStep::WordPiece { prefix, cleanup } => {
            json!({"type": "WordPiece", "prefix": prefix, "cleanup": cleanup})
        }
        DecodeStep::Ctc { pad, delimiter, cleanup } => json!({
            "type": "CTC", "pad_token": pad, "word_delimiter_token": delimiter, "cleanup": cleanup,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use bytepair::decode::DecodeErrors;
    use bytepair::{Parts, Tokenizer};
    use proptest::prelude::*;

    fn metaspace() -> DecodeStep {
        DecodeStep::Metaspace { replacement: '▁', drops_first: true }
    }

    fn llama() -> Vec<DecodeStep> {
        vec![
            DecodeStep::Replace { from: "▁".to_owned(), to: " ".to_owned() },
            DecodeStep::ByteFallback,
            DecodeStep::Fuse,
            DecodeStep::Strip { content: ' ', start: 1, stop: 0 },
        ]
    }

    fn vocabulary(names: &[(TokenKind, &str)]) -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        for &(kind, name) in names {
            vocabulary.push(Token { kind, bytes: name.as_bytes() }).unwrap();
        }
        for byte in [0x41_u8, 0xC3, 0xA9, 0xE2, 0xFF] {
            vocabulary.push(Token { kind: TokenKind::Byte, bytes: &[byte] }).unwrap();
        }
        vocabulary
    }

    fn rules_of(
        steps: &[DecodeStep],
        units: &Units,
        vocabulary: &Vocabulary,
    ) -> Option<DecodeRules> {
        let normalizer = Normalizer::default();
        let context = Context { units, vocabulary, added: &[], normalizer: &normalizer };
        rules(steps, &context).filter(|rules| context.agrees(steps, rules))
    }

    proptest! {
        #[test]
        fn rules_give_what_the_steps_give(ids in prop::collection::vec(0_u32..11, 0..12), is_llama: bool) {
            let text = TokenKind::PLAIN;
            let names = [
                (text, "▁a"), (text, "▁"), (text, "b▁"), (text, " "), (TokenKind::Added, "<s>"),
                (TokenKind::Added, " x"),
            ];
            let vocabulary = vocabulary(&names);
            let steps = if is_llama { llama() } else { vec![metaspace()] };
            let units = Units { byte_fallback: is_llama, ..Units::characters() };
            let rules = rules_of(&steps, &units, &vocabulary).unwrap();
            let parts = Parts::new(units, Arc::new(vocabulary));
            let fast = Tokenizer::new(Parts { decode: Decode::Rules(rules), ..parts.clone() }).unwrap();
            let chain = DecodeChain { steps, separator: String::new() };
            let slow = Tokenizer::new(Parts { decode: Decode::Chain(chain), ..parts }).unwrap();
            let ids: Vec<u32> = ids.into_iter().filter(|&id| is_llama || id < 6).collect();
            prop_assert_eq!(
                fast.decode(&ids, DecodeErrors::Replace, false).unwrap(),
                slow.decode(&ids, DecodeErrors::Replace, false).unwrap()
            );
        }
    }

    #[test]
    fn a_token_that_only_the_steps_change_keeps_the_steps() {
        let units = Units { byte_fallback: true, ..Units::characters() };
        for (kind, name) in [
            (TokenKind::Added, "<▁>"),
            (TokenKind::PLAIN, "<0xab>"),
            (TokenKind::Added, "<0x+1>"),
            (TokenKind::Unknown, "<unk>"),
        ] {
            assert_eq!(rules_of(&llama(), &units, &vocabulary(&[(kind, name)])), None, "{name}");
        }
        let bytes = Units::bytes(bytepair::units::ByteIds::Printable);
        let accented = vocabulary(&[(TokenKind::Added, "é")]);
        assert_eq!(rules_of(&[DecodeStep::ByteLevel], &bytes, &accented), None);
    }
}
