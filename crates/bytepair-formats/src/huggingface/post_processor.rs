//! What stands around texts in a `tokenizer.json`: its post-processor, that is special tokens and how spans are reported,
//! and truncation and padding.
//!
//! A post-processor is always told by its fields, whatever its type says: one that calls itself `BertProcessing` and
//! has the fields of `RobertaProcessing` is the latter.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::FORMAT;
use super::placed_value::{PlacedValue, Repeated, byte_level, flag, name_of, no_type, problem};
use super::write::Names;
use crate::json::check_steps;
use bytepair::template::{
    OffsetRules, Padding, Side, Template, TemplatePiece, Truncation, TruncationStrategy,
};
use bytepair::units::{Units, published_name};
use bytepair::vocabulary::{TokenId, Vocabulary};
use bytepair::{Parts, Result};

const POST_PROCESSORS: &str =
    "Sequence, ByteLevel, TemplateProcessing, RobertaProcessing, BertProcessing";

/// The most texts and ids of a template. Every text that is encoded gets all of them, and a name may stand for
/// many ids.
const MAX_PARTS: usize = 1000;

/// What a post-processor does. In the template each id has a name.
#[derive(Default)]
pub(super) struct Finishing {
    template: Option<Template>,
    pub(super) offsets: Option<OffsetRules>,
    n_read: usize,
}

/// Reads a post-processor.
pub(super) fn finishing(placed: &PlacedValue<'_>) -> Result<Finishing> {
    let mut finishing = Finishing::default();
    finishing.push(&PlacedValue { repeated: Repeated::Refused, ..placed.clone() })?;
    check_steps(FORMAT, &placed.path, finishing.n_read).map(|()| finishing)
}

impl Finishing {
    /// The template, with the names by which the vocabulary does not know its ids.
    ///
    /// # Errors
    /// If it has an id that no token has.
    pub(super) fn template(&mut self, units: &Units, vocabulary: &Vocabulary) -> Result<Template> {
        let mut template = self.template.take().unwrap_or_default();
        for (id, name) in template.named_ids() {
            if vocabulary.token(id).is_none() {
                let problem_is = format!("{name:?} has the id {id}, which no token has");
                return Err(problem("post_processor", problem_is));
            }
        }
        let written = |token| published_name(units, token);
        template.leave_out_names(|id| vocabulary.token(id).map(written).unwrap_or_default());
        Ok(template)
    }

    fn push(&mut self, placed: &PlacedValue<'_>) -> Result<()> {
        let kind = placed.kind(POST_PROCESSORS)?;
        let is_byte_level = kind == Some("ByteLevel") && placed.count("type") == 1;
        self.n_read += 1;
        if let (Ok(around), Ok(offsets)) = (around(placed, true), roberta_offsets(placed)) {
            return self.add(placed, Some(offsets), Some(around));
        }
        if let Ok(around) = around(placed, false) {
            return self.add(placed, None, Some(around));
        }
        if let Ok(found) = byte_level(placed)
            && is_byte_level
        {
            let (trim, prefix_space) = (found.trim_offsets, found.add_prefix_space);
            return self.add(placed, Some(OffsetRules { trim, prefix_space }), None);
        }
        if let Ok(draft) = Draft::of(placed) {
            return self.add(placed, None, Some(draft.template(&placed.path)?));
        }
        self.n_read -= 1;
        self.push_sequence(placed, kind)
    }

    /// Takes the members of a sequence, or says what the post-processor that a value calls itself lacks.
    fn push_sequence(&mut self, placed: &PlacedValue<'_>, kind: Option<&str>) -> Result<()> {
        match kind {
            Some("RobertaProcessing") => {
                around(placed, true).and(roberta_offsets(placed)).map(drop)
            }
            Some("BertProcessing") => around(placed, false).map(drop),
            Some("TemplateProcessing") => Draft::of(placed).map(drop),
            Some("ByteLevel") => placed.required("type").and(byte_level(placed)).map(drop),
            Some(_) => {
                placed.required("type")?;
                let items = placed.required("processors")?.items()?;
                items.iter().try_for_each(|item| self.push(item))
            }
            None => Err(no_type(placed)),
        }
    }

    fn add(
        &mut self,
        placed: &PlacedValue<'_>,
        offsets: Option<OffsetRules>,
        template: Option<Template>,
    ) -> Result<()> {
        if let Some(rules) = offsets.filter(|rules| rules.trim)
            && self.offsets.replace(rules).is_some()
        {
            return Err(placed.problem("trims offsets a second time"));
        }
        if let Some(template) = template
            && self.template.replace(template).is_some()
        {
            return Err(placed.problem("a second template"));
        }
        Ok(())
    }
}

fn roberta_offsets(placed: &PlacedValue<'_>) -> Result<OffsetRules> {
    let trim = flag(placed, "trim_offsets")?;
    Ok(OffsetRules { trim, prefix_space: flag(placed, "add_prefix_space")? })
}

/// A token before each text, and one after it. `RoBERTa` has type 0 for all, and two separators between two texts.
fn around(placed: &PlacedValue<'_>, is_roberta: bool) -> Result<Template> {
    let token = |field: &str, type_id: u32| -> Result<TemplatePiece> {
        let token = placed.required(field)?;
        match token.items()?.as_slice() {
            [name, id] => {
                let names = vec![name.text()?.to_owned()];
                Ok(TemplatePiece::Special { ids: vec![id.whole()?], type_id, names })
            }
            _ => Err(token.problem("expected a token and its id in a list")),
        }
    };
    let single = vec![token("cls", 0)?, TemplatePiece::First { type_id: 0 }, token("sep", 0)?];
    let second = match is_roberta {
        true => vec![token("sep", 0)?, TemplatePiece::Second { type_id: 0 }, token("sep", 0)?],
        false => vec![TemplatePiece::Second { type_id: 1 }, token("sep", 1)?],
    };
    Ok(Template { pair: single.iter().cloned().chain(second).collect(), single })
}

/// A template as the file has it.
struct Draft {
    single: Vec<Piece>,
    pair: Vec<Piece>,
    special_tokens: HashMap<String, SpecialToken>,
}

/// A part of a template, and its place.
struct Piece {
    path: String,
    /// A special token has no ids yet, and the name under which the file lists it.
    is: TemplatePiece,
}

/// What the name of a special token in a template stands for.
struct SpecialToken {
    path: String,
    ids: Vec<TokenId>,
    names: Vec<String>,
}

impl Draft {
    fn of(placed: &PlacedValue<'_>) -> Result<Self> {
        let pieces = |field: &str| -> Result<Vec<Piece>> {
            placed.required(field)?.items()?.iter().map(piece).collect()
        };
        let (single, pair) = (pieces("single")?, pieces("pair")?);
        // Of a name that appears twice the last counts, and both must be sound.
        let entries = placed.required("special_tokens")?.entries()?;
        let token = |(name, token): (&str, PlacedValue<'_>)| -> Result<(String, SpecialToken)> {
            token.required("id")?.text()?;
            let ids = token.required("ids")?.items()?;
            let names = token.required("tokens")?.items()?;
            let ids = ids.iter().map(PlacedValue::whole).collect::<Result<_>>()?;
            let name_of = |name: &PlacedValue<'_>| name.text().map(str::to_owned);
            let names = names.iter().map(name_of).collect::<Result<_>>()?;
            Ok((name.to_owned(), SpecialToken { path: token.path, ids, names }))
        };
        let special_tokens = entries.into_iter().map(token).collect::<Result<_>>()?;
        Ok(Self { single, pair, special_tokens })
    }

    fn template(self, path: &str) -> Result<Template> {
        let is_second = |piece: &&Piece| matches!(piece.is, TemplatePiece::Second { .. });
        if let Some(second) = self.single.iter().find(is_second) {
            let problem_is = "a second text, which a single text lacks";
            return Err(problem(&format!("{}.id", second.path), problem_is));
        }
        Ok(Template {
            single: self.pieces(&self.single, &format!("{path}.single"))?,
            pair: self.pieces(&self.pair, &format!("{path}.pair"))?,
        })
    }

    /// The pieces with the ids of their special tokens.
    fn pieces(&self, pieces: &[Piece], path: &str) -> Result<Vec<TemplatePiece>> {
        let listed = |piece: &Piece| match &piece.is {
            TemplatePiece::Special { names, .. } => self.special_tokens.get(names.first()?),
            _ => None,
        };
        let n_ids = |piece| listed(piece).map_or(1, |token| token.ids.len().max(1));
        let n_parts: usize = pieces.iter().map(n_ids).sum();
        if n_parts > MAX_PARTS {
            let problem_is = format!("has {n_parts} texts and ids, more than {MAX_PARTS}");
            return Err(problem(path, problem_is));
        }
        let with_ids = |piece: &Piece| match (&piece.is, listed(piece)) {
            (TemplatePiece::Special { names, .. }, None) => {
                let problem_is = format!("{:?} is not in special_tokens", names.concat());
                Err(problem(&format!("{}.id", piece.path), problem_is))
            }
            (TemplatePiece::Special { type_id, .. }, Some(token)) => {
                if token.ids.len() != token.names.len() {
                    return Err(problem(&token.path, "does not have one token for each id"));
                }
                let (ids, names) = (token.ids.clone(), token.names.clone());
                Ok(TemplatePiece::Special { ids, type_id: *type_id, names })
            }
            (text, _) => Ok(text.clone()),
        };
        pieces.iter().map(with_ids).collect()
    }
}

fn piece(placed: &PlacedValue<'_>) -> Result<Piece> {
    let (kind, content) = placed.variant()?;
    let content = content.ok_or_else(|| placed.problem("expected an object"))?;
    let type_id = content.required("type_id")?.whole()?;
    let id = content.required("id")?;
    let is = match kind {
        "SpecialToken" => {
            TemplatePiece::Special { ids: Vec::new(), type_id, names: vec![id.text()?.to_owned()] }
        }
        "Sequence" if id.one_of(&[("A", true), ("B", false)])? => TemplatePiece::First { type_id },
        "Sequence" => TemplatePiece::Second { type_id },
        _ => return Err(placed.problem("expected a Sequence or a SpecialToken")),
    };
    Ok(Piece { path: content.path, is })
}

/// The post-processor of a tokenizer.
pub(super) fn post_processor(parts: &Parts, names: &Names) -> Result<Value> {
    let OffsetRules { trim, prefix_space } = parts.offsets;
    let byte_level = json!({
        "type": "ByteLevel",
        "add_prefix_space": prefix_space,
        "trim_offsets": trim,
        "use_regex": false,
    });
    if parts.template == Template::default() {
        return Ok(if trim || parts.units.is_bytes() { byte_level } else { Value::Null });
    }
    let template = template_value(&parts.template, |id| names.get(id))?;
    Ok(match trim {
        true => json!({"type": "Sequence", "processors": [byte_level, template]}),
        false => template,
    })
}

/// A template as the file has it. `name` gives the special tokens that the template does not name.
pub(crate) fn template_value<'n>(
    template: &Template,
    name: impl Fn(TokenId) -> Result<&'n str>,
) -> Result<Value> {
    let mut special_tokens = Map::new();
    let mut values = |pieces: &[TemplatePiece]| -> Result<Vec<Value>> {
        let value = |piece: &TemplatePiece| {
            Ok(match piece {
                TemplatePiece::First { type_id } => {
                    json!({"Sequence": {"id": "A", "type_id": type_id}})
                }
                TemplatePiece::Second { type_id } => {
                    json!({"Sequence": {"id": "B", "type_id": type_id}})
                }
                TemplatePiece::Special { ids, type_id, names } => {
                    let names: Vec<&str> = match names.as_slice() {
                        [] => ids.iter().map(|&id| name(id)).collect::<Result<_>>()?,
                        names => names.iter().map(String::as_str).collect(),
                    };
                    let id = entered_name(ids, &names, &mut special_tokens);
                    json!({"SpecialToken": {"id": id, "type_id": type_id}})
                }
            })
        };
        pieces.iter().map(value).collect()
    };
    let (single, pair) = (values(&template.single)?, values(&template.pair)?);
    Ok(json!({
        "type": "TemplateProcessing",
        "single": single,
        "pair": pair,
        "special_tokens": special_tokens,
    }))
}

/// Enters special tokens, and gives the name under which they stand.
///
/// Several together are named by their names, and if another row has that name, with a `+` at the end.
fn entered_name(ids: &[TokenId], names: &[&str], entered: &mut Map<String, Value>) -> String {
    let mut name = names.concat();
    loop {
        let entry = json!({"id": name, "ids": ids, "tokens": names});
        match entered.get(&name) {
            None => {
                entered.insert(name.clone(), entry);
                return name;
            }
            Some(known) if *known == entry => return name,
            Some(_) => name.push('+'),
        }
    }
}

const STRATEGIES: &[(&str, TruncationStrategy)] = &[
    ("LongestFirst", TruncationStrategy::LongestFirst),
    ("OnlyFirst", TruncationStrategy::OnlyFirst),
    ("OnlySecond", TruncationStrategy::OnlySecond),
];

const SIDES: &[(&str, Side)] = &[("Left", Side::Left), ("Right", Side::Right)];

pub(super) fn truncation(placed: &PlacedValue<'_>) -> Result<Truncation> {
    Ok(Truncation {
        max_length: placed.required("max_length")?.whole()?,
        stride: placed.required("stride")?.whole()?,
        strategy: placed.required("strategy")?.one_of(STRATEGIES)?,
        side: placed.get("direction")?.map_or(Ok(Side::Right), |field| field.one_of(SIDES))?,
    })
}

pub(super) fn padding(placed: &PlacedValue<'_>) -> Result<Padding> {
    let multiple_of = placed.optional("pad_to_multiple_of")?;
    Ok(Padding {
        length: length(&placed.required("strategy")?)?,
        multiple_of: multiple_of.map(|field| field.whole()).transpose()?,
        side: placed.required("direction")?.one_of(SIDES)?,
        id: placed.required("pad_id")?.whole()?,
        type_id: placed.required("pad_type_id")?.whole()?,
        token: placed.required("pad_token")?.text()?.to_owned(),
    })
}

/// A length, or `None` for that of the longest text.
fn length(strategy: &PlacedValue<'_>) -> Result<Option<usize>> {
    match strategy.variant()? {
        ("BatchLongest", None) => Ok(None),
        ("Fixed", Some(length)) => length.whole().map(Some),
        _ => Err(strategy.problem(r#"expected "BatchLongest" or {"Fixed": …}"#)),
    }
}

/// A truncation as the file has it.
pub(super) fn truncation_value(truncation: &Truncation) -> Value {
    let Truncation { max_length, stride, strategy, side } = truncation;
    json!({
        "direction": name_of(SIDES, side),
        "max_length": max_length,
        "strategy": name_of(STRATEGIES, strategy),
        "stride": stride,
    })
}

/// A padding as the file has it.
pub(super) fn padding_value(padding: &Padding) -> Value {
    let Padding { length, multiple_of, side, id, type_id, token } = padding;
    json!({
        "strategy": length.map_or_else(|| json!("BatchLongest"), |length| json!({"Fixed": length})),
        "direction": name_of(SIDES, side),
        "pad_to_multiple_of": multiple_of,
        "pad_id": id,
        "pad_type_id": type_id,
        "pad_token": token,
    })
}
