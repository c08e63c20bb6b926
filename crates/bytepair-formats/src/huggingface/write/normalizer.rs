//! The steps of a normalizer to the normalizer of a `tokenizer.json`.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{refuse, sequence, translated};
use crate::huggingface::{END_OF_WORD, RESERVED};
use bytepair::Parts;
use bytepair::Result;
use bytepair::normalize::{BertRules, NormalizeStep, UnicodeForm};
use bytepair::units::EndMarkKind;

/// The steps, without so many at the end.
///
/// An end mark that is a unit stands at the end of each word here: the character that it is in the text
/// becomes another one before.
pub(super) fn normalizer(parts: &Parts, n_moved: usize) -> Result<Value> {
    let steps = parts.normalizer.steps();
    let steps = &steps[..steps.len() - n_moved];
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

/// The steps at the end of a normalizer that stand in the pre-tokenizer there.
///
/// They look at what is there already, and at whether the segment is the first.
pub(super) fn moved(parts: &Parts) -> Result<&[NormalizeStep]> {
    let steps = parts.normalizer.steps();
    let n_moved = match steps {
        [
            ..,
            NormalizeStep::Replace { from, to },
            NormalizeStep::Prepend { text, unless_there: true, .. },
        ] if from == " " && to == text => 2,
        [.., NormalizeStep::Prepend { only_first, unless_there, .. }]
            if *only_first || *unless_there =>
        {
            1
        }
        _ => return Ok(&[]),
    };
    if parts.added.iter().any(|token| token.normalized) {
        return refuse(
            "a prefix together with added tokens that are looked for in normalized text",
        );
    }
    Ok(&steps[steps.len() - n_moved..])
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
        NormalizeStep::ReplaceMatches { pattern, to } => {
            let source = translated(pattern.pattern())?;
            json!({"type": "Replace", "pattern": {"Regex": source}, "content": to})
        }
        NormalizeStep::Strip { left, right } => {
            json!({"type": "Strip", "strip_left": left, "strip_right": right})
        }
        NormalizeStep::StripAccents => json!({"type": "StripAccents"}),
        NormalizeStep::Bert(rules) => {
            let BertRules { clean_text, handle_chinese_chars, strip_accents, lowercase } = rules;
            json!({
                "type": "BertNormalizer",
                "clean_text": clean_text,
                "handle_chinese_chars": handle_chinese_chars,
                "strip_accents": strip_accents,
                "lowercase": lowercase,
            })
        }
        NormalizeStep::Nmt => json!({"type": "Nmt"}),
        NormalizeStep::ByteChars => json!({"type": "ByteLevel"}),
        NormalizeStep::SentencePiece(_) => {
            return refuse("the normalizer of SentencePiece");
        }
        NormalizeStep::Precompiled(map) => {
            json!({"type": "Precompiled", "precompiled_charsmap": STANDARD.encode(map.to_bytes())})
        }
    })
}
