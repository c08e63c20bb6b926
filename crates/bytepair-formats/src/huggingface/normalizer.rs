//! The normalizer of a `tokenizer.json`: a list of steps.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::FORMAT;
use super::placed_value::{
    PlacedValue, Wanted, flag, no_type, owned, problem, refuse, sequence, translated, wanted,
};
use crate::json::check_steps;
use bytepair::normalize::{BertRules, CharsMap, NormalizeStep, TextPattern, UnicodeForm};
use bytepair::{Parts, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Pattern};

const NORMALIZERS: &str = "Sequence, Bert, BertNormalizer, Strip, StripAccents, NFC, NFD, NFKC, NFKD, Lowercase, Nmt, Precompiled, \
    Replace, Prepend, ByteLevel";

fn push_steps(placed: &PlacedValue<'_>, steps: &mut Vec<NormalizeStep>) -> Result<()> {
    let kind = match placed.kind(NORMALIZERS)? {
        Some(kind) => kind,
        None => normalizer_by_fields(placed).ok_or_else(|| no_type(placed))?,
    };
    steps.push(match kind {
        "Sequence" => {
            let items = placed.required("normalizers")?.items()?;
            return items.iter().try_for_each(|item| push_steps(item, steps));
        }
        "Bert" | "BertNormalizer" => NormalizeStep::Bert(bert_rules(placed)?),
        "Strip" => NormalizeStep::Strip {
            left: flag(placed, "strip_left")?,
            right: flag(placed, "strip_right")?,
        },
        "StripAccents" => NormalizeStep::StripAccents,
        "NFC" => NormalizeStep::Form(UnicodeForm::Nfc),
        "NFD" => NormalizeStep::Form(UnicodeForm::Nfd),
        "NFKC" => NormalizeStep::Form(UnicodeForm::Nfkc),
        "NFKD" => NormalizeStep::Form(UnicodeForm::Nfkd),
        "Lowercase" => NormalizeStep::Lowercase,
        "Nmt" => NormalizeStep::Nmt,
        "Precompiled" if placed.count("type") != 1 => {
            return Err(problem(&format!("{}.type", placed.path), "appears twice"));
        }
        "Precompiled" => {
            NormalizeStep::Precompiled(map(&placed.required("precompiled_charsmap")?)?)
        }
        "Replace" => replace(placed)?,
        "Prepend" => NormalizeStep::Prepend {
            text: owned(placed, "prepend")?,
            only_first: false,
            unless_there: false,
        },
        _ => NormalizeStep::ByteChars,
    });
    Ok(())
}

fn map(charsmap: &PlacedValue<'_>) -> Result<CharsMap> {
    let data = STANDARD.decode(charsmap.text()?).map_err(|_| charsmap.problem("is not base64"))?;
    CharsMap::parse(&data).map_err(|error| charsmap.problem(error.to_string()))
}

fn replace(placed: &PlacedValue<'_>) -> Result<NormalizeStep> {
    let pattern = placed.required("pattern")?;
    let (wanted, to) = (wanted(&pattern)?, owned(placed, "content")?);
    match wanted {
        Wanted::String(from) if from.is_empty() => {
            Err(pattern.problem("the empty text, which would match everywhere"))
        }
        Wanted::String(from) => Ok(NormalizeStep::Replace { from, to }),
        Wanted::Regex(source) => {
            let wanted = Pattern { source, flavour: Flavour::Oniguruma };
            let wanted = TextPattern::new(wanted, &UnicodeTables::latest());
            let wanted = wanted.map_err(|error| pattern.problem(error.to_string()))?;
            Ok(NormalizeStep::ReplaceMatches { pattern: wanted, to })
        }
    }
}

/// The type that the library finds for a normalizer without one.
fn normalizer_by_fields(placed: &PlacedValue<'_>) -> Option<&'static str> {
    let is_text = |field: &str| owned(placed, field).is_ok();
    let is_strip = flag(placed, "strip_left").is_ok() && flag(placed, "strip_right").is_ok();
    let shapes = [
        ("Bert", bert_rules(placed).is_ok()),
        ("Strip", is_strip),
        ("Sequence", placed.count("normalizers") > 0),
        ("Replace", is_text("content") && placed.count("pattern") > 0),
        ("Prepend", is_text("prepend")),
    ];
    shapes.into_iter().find(|(_, is_this)| *is_this).map(|(kind, _)| kind)
}

fn bert_rules(placed: &PlacedValue<'_>) -> Result<BertRules> {
    Ok(BertRules {
        clean_text: flag(placed, "clean_text")?,
        handle_chinese_chars: flag(placed, "handle_chinese_chars")?,
        strip_accents: placed.optional("strip_accents")?.map(|field| field.flag()).transpose()?,
        lowercase: flag(placed, "lowercase")?,
    })
}

/// Whether characters stand for bytes after these steps.
pub(super) fn spells_bytes(steps: &[NormalizeStep]) -> bool {
    steps.last() == Some(&NormalizeStep::ByteChars)
}

/// Reads a normalizer.
pub(super) fn normalizing(placed: &PlacedValue<'_>) -> Result<Vec<NormalizeStep>> {
    let mut steps = Vec::new();
    push_steps(placed, &mut steps)?;
    check_steps(FORMAT, &placed.path, steps.len()).map(|()| steps)
}

/// The steps but for the last `n_moved`.
pub(super) fn normalizer(parts: &Parts, n_moved: usize) -> Result<Value> {
    let steps = parts.normalizer.steps();
    let values = steps[..steps.len() - n_moved].iter().map(value_of);
    Ok(sequence(values.collect::<Result<_>>()?, "normalizers"))
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

fn value_of(step: &NormalizeStep) -> Result<Value> {
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
        NormalizeStep::CharBytes => {
            return refuse("characters that become the bytes they stand for");
        }
        NormalizeStep::SentencePiece(_) => {
            return refuse("the normalizer of SentencePiece");
        }
        NormalizeStep::Precompiled(map) => {
            json!({"type": "Precompiled", "precompiled_charsmap": STANDARD.encode(map.to_bytes())})
        }
    })
}
