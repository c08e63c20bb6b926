//! The normalizer of a `tokenizer.json`: a list of steps, and perhaps the mark at the end of words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::placed_value::{
    PlacedValue, Wanted, flag, no_type, owned, problem, refuse, sequence, translated, wanted,
};
use super::{END_OF_WORD, FORMAT, RESERVED};
use crate::json::check_steps;
use bytepair::normalize::{BertRules, CharsMap, NormalizeStep, TextPattern, UnicodeForm};
use bytepair::units::EndMarkKind;
use bytepair::{Parts, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Pattern};

/// A step of the normalizer. A pattern is compiled once it is known that it is no end mark.
enum Step {
    Known(NormalizeStep),
    ReplaceMatches { path: String, pattern: String, to: String },
}

const NORMALIZERS: &str = "Sequence, Bert, BertNormalizer, Strip, StripAccents, NFC, NFD, NFKC, NFKD, Lowercase, Nmt, Precompiled, \
    Replace, Prepend, ByteLevel";

fn push_steps(placed: &PlacedValue<'_>, steps: &mut Vec<Step>) -> Result<()> {
    let kind = match placed.kind(NORMALIZERS)? {
        Some(kind) => kind,
        None => normalizer_by_fields(placed).ok_or_else(|| no_type(placed))?,
    };
    let step = match kind {
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
        "Replace" => {
            steps.push(replace(placed)?);
            return Ok(());
        }
        "Prepend" => NormalizeStep::Prepend {
            text: owned(placed, "prepend")?,
            only_first: false,
            unless_there: false,
        },
        _ => NormalizeStep::ByteChars,
    };
    steps.push(Step::Known(step));
    Ok(())
}

fn map(charsmap: &PlacedValue<'_>) -> Result<CharsMap> {
    let data = STANDARD.decode(charsmap.text()?).map_err(|_| charsmap.problem("is not base64"))?;
    CharsMap::parse(&data).map_err(|error| charsmap.problem(error.to_string()))
}

fn replace(placed: &PlacedValue<'_>) -> Result<Step> {
    let pattern = placed.required("pattern")?;
    let (wanted, to) = (wanted(&pattern)?, owned(placed, "content")?);
    match wanted {
        Wanted::String(from) if from.is_empty() => {
            Err(pattern.problem("the empty text, which would match everywhere"))
        }
        Wanted::String(from) => Ok(Step::Known(NormalizeStep::Replace { from, to })),
        Wanted::Regex(source) => {
            Ok(Step::ReplaceMatches { path: pattern.path, pattern: source, to })
        }
    }
}

/// The type that the library infers for a normalizer without one.
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

/// What a normalizer does.
#[derive(Default)]
pub(super) struct Normalizing {
    pub(super) steps: Vec<NormalizeStep>,
    /// A mark that is put at the end of each word of `\S+`.
    pub(super) end_mark: Option<String>,
}

impl Normalizing {
    /// Whether characters stand for bytes at the end.
    pub(super) fn spells_bytes(&self) -> bool {
        self.end_mark.is_none() && self.steps.last() == Some(&NormalizeStep::ByteChars)
    }
}

/// Reads a normalizer.
pub(super) fn normalizing(placed: &PlacedValue<'_>) -> Result<Normalizing> {
    let mut steps = Vec::new();
    push_steps(placed, &mut steps)?;
    check_steps(FORMAT, &placed.path, steps.len())?;
    let end_mark = end_mark(&steps);
    steps.truncate(steps.len() - if end_mark.is_some() { 2 } else { 0 });
    let steps = steps.into_iter().map(compiled).collect::<Result<_>>()?;
    Ok(Normalizing { steps, end_mark })
}

/// The end mark, if the last two steps are those that `write` makes for one.
fn end_mark(steps: &[Step]) -> Option<String> {
    let [.., Step::Known(reserving), Step::ReplaceMatches { pattern, to: marked, .. }] = steps
    else {
        return None;
    };
    let NormalizeStep::Replace { from: mark, to: reserved } = reserving else { return None };
    let is_mark = reserved == RESERVED
        && pattern == END_OF_WORD
        && marked == mark
        && mark.chars().count() == 1;
    is_mark.then(|| mark.clone())
}

fn compiled(step: Step) -> Result<NormalizeStep> {
    match step {
        Step::Known(step) => Ok(step),
        Step::ReplaceMatches { path, pattern, to } => {
            let pattern = Pattern { source: pattern, flavour: Flavour::Oniguruma };
            let pattern = TextPattern::new(pattern, &UnicodeTables::latest())
                .map_err(|error| problem(&path, error.to_string()))?;
            Ok(NormalizeStep::ReplaceMatches { pattern, to })
        }
    }
}

/// The normalizer of a tokenizer, without its last `n_moved` steps.
///
/// For an end mark that is a unit, two steps follow: the first replaces the mark in the text by another character, the
/// second puts the mark at the end of each word.
pub(super) fn normalizer(parts: &Parts, n_moved: usize) -> Result<Value> {
    let steps = parts.normalizer.steps();
    let steps = &steps[..steps.len() - n_moved];
    let mut normalizers: Vec<Value> = steps.iter().map(value_of).collect::<Result<_>>()?;
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

/// The steps at the end of the normalizer that belong to the pre-tokenizer in the file.
///
/// They depend on the text that is already there, and on whether the segment is the first.
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
