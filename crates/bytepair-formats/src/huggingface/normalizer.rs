//! The normalizer of a `tokenizer.json`: a list of steps, and perhaps the mark at the end of words.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::component::{
    Pattern, Placed, flag, no_type, owned, pattern, refuse, sequence, translated,
};
use super::node::{Node, problem};
use super::{END_OF_WORD, RESERVED};
use bytepair::normalize::{BertRules, CharsMap, NormalizeStep, TextPattern, UnicodeForm};
use bytepair::units::EndMarkKind;
use bytepair::{Parts, Result};
use bytepair_split::Flavour;
use bytepair_split::unicode::UnicodeTables;

/// A step of the normalizer.
#[derive(Debug)]
pub(super) enum Normalizer {
    Lowercase,
    Form(UnicodeForm),
    Replace { pattern: Pattern, content: String },
    Prepend(String),
    Strip { left: bool, right: bool },
    StripAccents,
    Bert(BertRules),
    Nmt,
    ByteLevel,
    Precompiled(String),
}

const NORMALIZERS: &[&str] = &[
    "Sequence",
    "Bert",
    "BertNormalizer",
    "Strip",
    "StripAccents",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "Nmt",
    "Precompiled",
    "Replace",
    "Prepend",
    "ByteLevel",
];

pub(super) fn push_normalizers(node: &Node<'_>, steps: &mut Vec<Placed<Normalizer>>) -> Result<()> {
    let kind = match node.kind(NORMALIZERS)? {
        Some(kind) => kind,
        None => normalizer_by_fields(node).ok_or_else(|| no_type(node))?,
    };
    let is = match kind {
        "Sequence" => {
            let items = node.required("normalizers")?.items()?;
            return items.iter().try_for_each(|item| push_normalizers(item, steps));
        }
        "Bert" | "BertNormalizer" => Normalizer::Bert(bert_rules(node)?),
        "Strip" => {
            Normalizer::Strip { left: flag(node, "strip_left")?, right: flag(node, "strip_right")? }
        }
        "StripAccents" => Normalizer::StripAccents,
        "NFC" => Normalizer::Form(UnicodeForm::Nfc),
        "NFD" => Normalizer::Form(UnicodeForm::Nfd),
        "NFKC" => Normalizer::Form(UnicodeForm::Nfkc),
        "NFKD" => Normalizer::Form(UnicodeForm::Nfkd),
        "Lowercase" => Normalizer::Lowercase,
        "Nmt" => Normalizer::Nmt,
        "Precompiled" if node.count("type") != 1 => {
            return Err(problem(&format!("{}.type", node.path), "appears twice"));
        }
        "Precompiled" => Normalizer::Precompiled(owned(node, "precompiled_charsmap")?),
        "Replace" => Normalizer::Replace {
            pattern: pattern(&node.required("pattern")?)?,
            content: owned(node, "content")?,
        },
        "Prepend" => Normalizer::Prepend(owned(node, "prepend")?),
        _ => Normalizer::ByteLevel,
    };
    steps.push(Placed { path: node.path.clone(), is });
    Ok(())
}

/// The type that the library finds for a normalizer without one.
fn normalizer_by_fields(node: &Node<'_>) -> Option<&'static str> {
    let is_text = |field: &str| owned(node, field).is_ok();
    let is_strip = flag(node, "strip_left").is_ok() && flag(node, "strip_right").is_ok();
    let shapes = [
        ("Bert", bert_rules(node).is_ok()),
        ("Strip", is_strip),
        ("Sequence", node.count("normalizers") > 0),
        ("Replace", is_text("content") && node.count("pattern") > 0),
        ("Prepend", is_text("prepend")),
    ];
    shapes.into_iter().find(|(_, is_this)| *is_this).map(|(kind, _)| kind)
}

fn bert_rules(node: &Node<'_>) -> Result<BertRules> {
    Ok(BertRules {
        clean_text: flag(node, "clean_text")?,
        handle_chinese_chars: flag(node, "handle_chinese_chars")?,
        strip_accents: node.optional("strip_accents")?.map(|field| field.flag()).transpose()?,
        lowercase: flag(node, "lowercase")?,
    })
}

/// What a normalizer does.
pub(super) struct Normalizing {
    pub(super) steps: Vec<NormalizeStep>,
    /// A mark that is put at the end of each word of `\S+`.
    pub(super) end_mark: Option<String>,
}

pub(super) fn normalizing(row: Option<Vec<Placed<Normalizer>>>) -> Result<Normalizing> {
    let mut row = row.unwrap_or_default();
    let end_mark = end_mark(&row);
    row.truncate(row.len() - if end_mark.is_some() { 2 } else { 0 });
    let steps = row.iter().map(step_of).collect::<Result<_>>()?;
    Ok(Normalizing { steps, end_mark })
}

/// The mark, where the last two steps are those that `write` puts there for one.
fn end_mark(row: &[Placed<Normalizer>]) -> Option<String> {
    use Normalizer::Replace;
    use Pattern::{Regex, String};
    let [.., Placed { is: reserving, .. }, Placed { is: marking, .. }] = row else { return None };
    let Replace { pattern: String(mark), content: reserved } = reserving else { return None };
    let Replace { pattern: Regex(place), content } = marking else { return None };
    let is_mark = reserved == RESERVED
        && place == END_OF_WORD
        && content == mark
        && mark.chars().count() == 1;
    is_mark.then(|| mark.clone())
}

fn step_of(step: &Placed<Normalizer>) -> Result<NormalizeStep> {
    Ok(match &step.is {
        Normalizer::Lowercase => NormalizeStep::Lowercase,
        Normalizer::Form(form) => NormalizeStep::Form(*form),
        Normalizer::Replace { pattern, content } => replace(step, pattern, content)?,
        Normalizer::Prepend(text) => {
            NormalizeStep::Prepend { text: text.clone(), only_first: false, unless_there: false }
        }
        Normalizer::Strip { left, right } => NormalizeStep::Strip { left: *left, right: *right },
        Normalizer::StripAccents => NormalizeStep::StripAccents,
        Normalizer::Bert(rules) => NormalizeStep::Bert(*rules),
        Normalizer::Nmt => NormalizeStep::Nmt,
        Normalizer::ByteLevel => NormalizeStep::ByteChars,
        Normalizer::Precompiled(charsmap) => {
            let problem = |what: String| step.problem("precompiled_charsmap", what);
            let data =
                STANDARD.decode(charsmap).map_err(|_| problem("is not base64".to_owned()))?;
            let map = CharsMap::parse(&data).map_err(|error| problem(error.to_string()))?;
            NormalizeStep::Precompiled(map)
        }
    })
}

fn replace(step: &Placed<Normalizer>, pattern: &Pattern, content: &str) -> Result<NormalizeStep> {
    let to = content.to_owned();
    match pattern {
        Pattern::String(from) if from.is_empty() => {
            Err(step.problem("pattern", "the empty text, which would match everywhere"))
        }
        Pattern::String(from) => Ok(NormalizeStep::Replace { from: from.clone(), to }),
        Pattern::Regex(source) => {
            let pattern =
                bytepair_split::Pattern { source: source.clone(), flavour: Flavour::Oniguruma };
            let pattern = TextPattern::new(pattern, &UnicodeTables::latest())
                .map_err(|error| step.problem("pattern", error.to_string()))?;
            Ok(NormalizeStep::ReplaceMatches { pattern, to })
        }
    }
}

/// The steps, without so many at the end.
///
/// An end mark that is a unit stands at the end of each word here: the character that it is in the text
/// becomes another one before.
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
        NormalizeStep::SentencePiece(_) => {
            return refuse("the normalizer of SentencePiece");
        }
        NormalizeStep::Precompiled(map) => {
            json!({"type": "Precompiled", "precompiled_charsmap": STANDARD.encode(map.to_bytes())})
        }
    })
}
