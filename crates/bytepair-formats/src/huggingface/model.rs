//! The model of a `tokenizer.json`: its fields, vocabulary and merges. What they mean is read in `vocabulary`.
//!
//! A model is read straight into its types. Where that fails, a tree of values is read, which knows the place of what is
//! wrong.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::{self, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::placed_value::{PlacedValue, Repeated, problem, refuse, step};
use super::write::Names;
use crate::json::{Entries, Name, Tree, two_parts};
use bytepair::units::Units;
use bytepair::vocabulary::{Merge, TokenId, Vocabulary};
use bytepair::{Parts, Result};

/// The names of the two tokens that a merge joins.
pub(super) type Pair<'f> = (Cow<'f, str>, Cow<'f, str>);

/// What a model has to be.
#[derive(Default, Deserialize)]
enum ModelType {
    #[default]
    #[serde(rename = "BPE")]
    Bpe,
}

#[derive(Deserialize)]
pub(super) struct Model<'f> {
    #[serde(default, rename = "type")]
    _kind: ModelType,
    #[serde(default)]
    pub(super) dropout: Option<f64>,
    #[serde(default)]
    pub(super) unk_token: Option<String>,
    #[serde(default)]
    pub(super) continuing_subword_prefix: Option<String>,
    #[serde(default)]
    pub(super) end_of_word_suffix: Option<String>,
    #[serde(default)]
    pub(super) fuse_unk: Option<bool>,
    #[serde(default)]
    pub(super) byte_fallback: Option<bool>,
    #[serde(default)]
    pub(super) ignore_merges: Option<bool>,
    #[serde(borrow)]
    pub(super) vocab: Entries<'f>,
    #[serde(borrow, deserialize_with = "merges")]
    pub(super) merges: Vec<Pair<'f>>,
}

impl<'f> Model<'f> {
    /// The model at a place, before anything of it is known.
    pub(super) fn of(placed: &PlacedValue<'f>) -> Result<Self> {
        check_type(placed)?;
        let text = |field: &str| -> Result<Option<String>> {
            placed.optional(field)?.map(|field| field.text().map(str::to_owned)).transpose()
        };
        let flag = |field: &str| placed.optional(field)?.map(|field| field.flag()).transpose();
        Ok(Self {
            _kind: ModelType::Bpe,
            dropout: placed.optional("dropout")?.map(|field| field.float()).transpose()?,
            unk_token: text("unk_token")?,
            continuing_subword_prefix: text("continuing_subword_prefix")?,
            end_of_word_suffix: text("end_of_word_suffix")?,
            fuse_unk: flag("fuse_unk")?,
            byte_fallback: flag("byte_fallback")?,
            ignore_merges: flag("ignore_merges")?,
            vocab: entries_of(&placed.required("vocab")?)?,
            merges: merges_of(&placed.required("merges")?)?,
        })
    }
}

/// Refuses models other than BPE. Older files name no type; there the fields tell.
fn check_type(placed: &PlacedValue<'_>) -> Result<()> {
    let kind = PlacedValue { repeated: Repeated::Refused, ..placed.clone() }.get("type")?;
    if let Some(kind) = kind {
        return match kind.text()? {
            "BPE" => Ok(()),
            name => Err(kind.problem(format!("{name:?} is not a byte-pair encoding"))),
        };
    }
    let vocab = placed.optional("vocab")?;
    let has_names = vocab.as_ref().is_some_and(|vocab| matches!(vocab.tree, Tree::Object(_)));
    let looks_like = if vocab.is_some_and(|vocab| matches!(vocab.tree, Tree::List(_))) {
        "Unigram (vocab is a list of tokens with scores)"
    } else if has_names && placed.get("merges")?.is_some() {
        return Ok(());
    } else if placed.get("max_input_chars_per_word")?.is_some() {
        "WordPiece (it has max_input_chars_per_word)"
    } else if has_names {
        "WordLevel (a vocab of names with ids, no merges)"
    } else {
        "nothing known: there is no vocab"
    };
    Err(placed.problem(format!(
        "is not a byte-pair encoding: it has no type, and looks like {looks_like}"
    )))
}

fn entries_of<'t>(vocab: &PlacedValue<'t>) -> Result<Entries<'t>> {
    let Tree::Object(fields) = vocab.tree else {
        return Err(vocab.problem("expected an object of tokens and ids"));
    };
    let is_id = |tree: &Tree| match tree {
        Tree::Number(number) => number.as_u64().and_then(|id| TokenId::try_from(id).ok()),
        _ => None,
    };
    let entry = |(name, tree): &'t (String, Tree)| {
        let id = is_id(tree).ok_or_else(|| {
            let path = format!("{}{}", vocab.path, step(name));
            problem(&path, format!("expected an id of at most 32 bits, found {tree}"))
        })?;
        Ok((Cow::Borrowed(name.as_str()), id))
    };
    fields.iter().map(entry).collect::<Result<_>>().map(Entries)
}

fn merges_of<'t>(merges: &PlacedValue<'t>) -> Result<Vec<Pair<'t>>> {
    let Tree::List(items) = merges.tree else { return Err(merges.problem("expected a list")) };
    let is_lines = matches!(items.first(), Some(Tree::Text(_)));
    let mut pairs = Vec::with_capacity(items.len());
    for (place, item) in items.iter().enumerate() {
        let wrong = || {
            let shape = match is_lines {
                true => "two tokens and a space between, as the first merge is written",
                false => "two tokens in a list",
            };
            let path = format!("{}[{place}]", merges.path);
            problem(&path, format!("expected {shape}, found {item}"))
        };
        match item {
            Tree::Text(line) if is_lines && line.starts_with("#version") => {}
            Tree::Text(line) if is_lines => {
                let (left, right) = two_parts(line).ok_or_else(wrong)?;
                pairs.push((Cow::Borrowed(left), Cow::Borrowed(right)));
            }
            Tree::List(parts) if !is_lines => match parts.as_slice() {
                [Tree::Text(left), Tree::Text(right)] => {
                    pairs.push((Cow::Borrowed(left.as_str()), Cow::Borrowed(right.as_str())));
                }
                _ => return Err(wrong()),
            },
            _ => return Err(wrong()),
        }
    }
    Ok(pairs)
}

/// Reads a list of merges straight from the file: two tokens in a list each, or all in one string with a space between.
fn merges<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<Vec<Pair<'de>>, D::Error> {
    let list = <&RawValue>::deserialize(deserializer)?.get();
    if let Ok(pairs) = serde_json::from_str::<Vec<(Name<'de>, Name<'de>)>>(list) {
        return Ok(pairs.into_iter().map(|(left, right)| (left.0, right.0)).collect());
    }
    let lines: Vec<Name<'de>> = serde_json::from_str(list).map_err(de::Error::custom)?;
    let pair = |Name(line): Name<'de>| match line {
        Cow::Borrowed(line) => two_parts(line).map(|(left, right)| (left.into(), right.into())),
        Cow::Owned(line) => {
            two_parts(&line).map(|(left, right)| (left.to_owned().into(), right.to_owned().into()))
        }
    };
    let merges = lines.into_iter().filter(|line| !line.0.starts_with("#version")).map(pair);
    merges.collect::<Option<_>>().ok_or_else(|| de::Error::custom("not two tokens and a space"))
}

/// The model of a tokenizer.
pub(super) fn model(parts: &Parts, names: &Names) -> Result<Value> {
    let vocabulary = &parts.vocabulary;
    let units = &parts.units;
    let vocab: Map<String, Value> =
        names.in_model().map(|(name, id)| (name.to_owned(), id.into())).collect();
    let unknown = units.unknown.as_ref().filter(|name| vocab.contains_key(*name));
    Ok(json!({
        "type": "BPE",
        "dropout": parts.dropout,
        "unk_token": unknown,
        "continuing_subword_prefix": units.continuing_prefix,
        "end_of_word_suffix": units.end_mark.as_ref().map(|mark| &mark.text),
        "fuse_unk": units.fuse_unknown,
        "byte_fallback": units.byte_fallback,
        "ignore_merges": names.ignore_merges,
        "vocab": vocab,
        "merges": merge_values(vocabulary, units, names)?,
    }))
}

fn merge_values(vocabulary: &Vocabulary, units: &Units, names: &Names) -> Result<Vec<Value>> {
    let prefix = units.continuing_prefix.as_deref().unwrap_or("");
    let merge = |merge: &Merge| {
        let (left, right) = (names.get(merge.left)?, names.get(merge.right)?);
        let joined = right.strip_prefix(prefix).map(|rest| format!("{left}{rest}"));
        if joined.as_deref() != Some(names.get(merge.result)?) {
            return refuse(format!(
                "a merge of {left:?} and {right:?} into {:?}",
                names.get(merge.result)?
            ));
        }
        Ok(json!([left, right]))
    };
    vocabulary.merges().iter().map(merge).collect()
}
