//! How ids become text, to the decoder of a `tokenizer.json`.

use serde_json::{Value, json};

use super::{refuse, sentencepiece, sequence};
use crate::huggingface::{name_pattern, prefix_pattern};
use bytepair::Result;
use bytepair::decode::{
    Compiled, Decode, DecodeChain, DecodeErrors, DecodeRules, DecodeStep, Invalid,
};
use bytepair::units::{Units, bytes_of_printable, printable_name};
use bytepair::vocabulary::{Token, TokenKind};
use bytepair::{Parts, Tokenizer};

pub(super) fn decoder(parts: &Parts) -> Result<Value> {
    match &parts.decode {
        Decode::Rules(rules) => {
            let steps = all_steps(rules, parts)?;
            Ok(sequence(steps.iter().map(value).collect(), "decoders"))
        }
        Decode::SentencePiece(rules) => {
            let steps = sentencepiece::decoding(rules, parts)?;
            Ok(sequence(steps.iter().map(value).collect(), "decoders"))
        }
        Decode::Chain(DecodeChain { steps, separator }) => {
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
    }
}

/// The text of tokens as a `tokenizer.json` writes them, which need not be in the vocabulary.
///
/// # Errors
/// Where a `tokenizer.json` has no words for how this tokenizer decodes.
pub fn text_of_written(tokenizer: &Tokenizer, tokens: &[&str]) -> Result<String> {
    let parts = tokenizer.parts();
    let chain = match &parts.decode {
        Decode::Chain(chain) => chain.clone(),
        Decode::Rules(rules) => {
            let steps = all_steps(rules, parts).or_else(|_| steps(rules, &parts.units))?;
            DecodeChain { steps, separator: String::new() }
        }
        Decode::SentencePiece(rules) => {
            let steps = sentencepiece::decoding(rules, parts)?;
            DecodeChain { steps, separator: String::new() }
        }
    };
    let tokens = tokens.iter().map(|token| token.as_bytes().to_vec()).collect();
    let invalid = Invalid::Become(DecodeErrors::Replace);
    let text = Compiled::new(chain)?.text(tokens, invalid)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// The most added tokens that get a decoding step of their own. Each step looks at every token.
const MAX_RESPELLED: usize = 64;

/// A step for each token whose name `ByteLevel` would take for bytes: it spells the name in letters that stand for
/// the bytes of that name.
fn respelled(parts: &Parts) -> Result<Vec<DecodeStep>> {
    let is_shown = |token: &Token<'_>| matches!(token.kind, TokenKind::Added | TokenKind::Unknown);
    let names = parts.vocabulary.iter().map(|(_, token)| token).filter(is_shown);
    let names = names.filter_map(|token| std::str::from_utf8(token.bytes).ok());
    let is_other = |name: &&str| {
        bytes_of_printable(name).is_some_and(|bytes| bytes.as_slice() != name.as_bytes())
    };
    let mut names: Vec<&str> = names.filter(is_other).take(MAX_RESPELLED + 1).collect();
    if names.len() > MAX_RESPELLED {
        return refuse(format!(
            "more than {MAX_RESPELLED} added tokens such as {:?}, whose characters also stand for bytes: the library \
             would decode them to those bytes",
            names[0]
        ));
    }
    // What a step makes is longer than the name, so no step behind it takes it for a name.
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
    all.extend(steps(rules, &parts.units)?);
    Ok(all)
}

/// The steps that do what rules do to text.
fn steps(rules: &DecodeRules, units: &Units) -> Result<Vec<DecodeStep>> {
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
        return metaspace(first, rules, has_marks || units.byte_fallback);
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
fn metaspace(first: &str, rules: &DecodeRules, has_more: bool) -> Result<Vec<DecodeStep>> {
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
