//! The post-processor of a `tokenizer.json`: special tokens around texts, and how spans are reported.
//!
//! A post-processor is always told by its fields, whatever its type says: one that calls itself `BertProcessing` and
//! has the fields of `RobertaProcessing` is the latter.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::component::{ByteLevel, Placed, byte_level, flag, no_type};
use super::names::Names;
use super::node::{Node, Repeated, problem};
use bytepair::template::{OffsetRules, Sequence, Template, TemplatePiece};
use bytepair::units::{Units, published_name};
use bytepair::vocabulary::{TokenId, Vocabulary};
use bytepair::{Parts, Result};

/// A step of the post-processor.
#[derive(Debug)]
pub(super) enum PostProcessor {
    ByteLevel(ByteLevel),
    Template {
        single: Vec<Placed<Piece>>,
        pair: Vec<Placed<Piece>>,
        special_tokens: Vec<SpecialToken>,
    },
    Roberta {
        around: Around,
        trim_offsets: bool,
        add_prefix_space: bool,
    },
    Bert(Around),
}

/// The tokens before and behind a text.
#[derive(Debug)]
pub(super) struct Around {
    pub(super) cls: (String, TokenId),
    pub(super) sep: (String, TokenId),
}

/// A part of a template.
#[derive(Debug)]
pub(super) enum Piece {
    First { type_id: u32 },
    Second { type_id: u32 },
    Special { name: String, type_id: u32 },
}

/// What the name of a special token in a template stands for.
#[derive(Debug)]
pub(super) struct SpecialToken {
    pub(super) path: String,
    pub(super) name: String,
    pub(super) ids: Vec<TokenId>,
    pub(super) tokens: Vec<String>,
}

const POST_PROCESSORS: &[&str] =
    &["Sequence", "ByteLevel", "TemplateProcessing", "RobertaProcessing", "BertProcessing"];

pub(super) fn push_post_processors(
    node: &Node<'_>,
    row: &mut Vec<Placed<PostProcessor>>,
) -> Result<()> {
    let node = &Node { repeated: Repeated::Refused, ..node.clone() };
    let kind = node.kind(POST_PROCESSORS)?;
    let is = if let Ok(roberta) = roberta_of(node) {
        roberta
    } else if let Ok(around) = around(node) {
        PostProcessor::Bert(around)
    } else if let Ok(byte_level) = byte_level(node)
        && kind == Some("ByteLevel")
        && node.count("type") == 1
    {
        PostProcessor::ByteLevel(byte_level)
    } else if let Ok(template) = template(node) {
        template
    } else {
        match kind {
            Some("RobertaProcessing") => roberta_of(node)?,
            Some("BertProcessing") => PostProcessor::Bert(around(node)?),
            Some("TemplateProcessing") => template(node)?,
            Some("ByteLevel") => {
                node.required("type")?;
                PostProcessor::ByteLevel(byte_level(node)?)
            }
            Some(_) => {
                node.required("type")?;
                let items = node.required("processors")?.items()?;
                return items.iter().try_for_each(|item| push_post_processors(item, row));
            }
            None => return Err(no_type(node)),
        }
    };
    row.push(Placed { path: node.path.clone(), is });
    Ok(())
}

fn roberta_of(node: &Node<'_>) -> Result<PostProcessor> {
    Ok(PostProcessor::Roberta {
        around: around(node)?,
        trim_offsets: flag(node, "trim_offsets")?,
        add_prefix_space: flag(node, "add_prefix_space")?,
    })
}

fn around(node: &Node<'_>) -> Result<Around> {
    let token = |field: &str| -> Result<(String, TokenId)> {
        let token = node.required(field)?;
        match token.items()?.as_slice() {
            [name, id] => Ok((name.text()?.to_owned(), id.whole()?)),
            _ => Err(token.problem("expected a token and its id in a list")),
        }
    };
    Ok(Around { cls: token("cls")?, sep: token("sep")? })
}

fn template(node: &Node<'_>) -> Result<PostProcessor> {
    let pieces = |field: &str| -> Result<Vec<Placed<Piece>>> {
        node.required(field)?.items()?.iter().map(piece).collect()
    };
    // Of a name that appears twice the last counts, and both must be sound.
    let tokens = node.required("special_tokens")?.entries()?;
    let token = |(name, token): &(&str, Node<'_>)| -> Result<SpecialToken> {
        token.required("id")?.text()?;
        let ids = token.required("ids")?.items()?;
        let tokens = token.required("tokens")?.items()?;
        Ok(SpecialToken {
            path: token.path.clone(),
            name: (*name).to_owned(),
            ids: ids.iter().map(Node::whole).collect::<Result<_>>()?,
            tokens: tokens
                .iter()
                .map(|token| token.text().map(str::to_owned))
                .collect::<Result<_>>()?,
        })
    };
    Ok(PostProcessor::Template {
        single: pieces("single")?,
        pair: pieces("pair")?,
        special_tokens: tokens.iter().map(token).collect::<Result<_>>()?,
    })
}

fn piece(node: &Node<'_>) -> Result<Placed<Piece>> {
    let (kind, content) = node.variant()?;
    let content = content.ok_or_else(|| node.problem("expected an object"))?;
    let type_id = content.required("type_id")?.whole()?;
    let id = content.required("id")?;
    let is = match kind {
        "SpecialToken" => Piece::Special { name: id.text()?.to_owned(), type_id },
        "Sequence" => match id.one_of(&[("A", true), ("B", false)])? {
            true => Piece::First { type_id },
            false => Piece::Second { type_id },
        },
        _ => return Err(node.problem("expected a Sequence or a SpecialToken")),
    };
    Ok(Placed { path: content.path, is })
}

/// The most texts and ids of a template. Every text that is encoded gets all of them, and a name may stand for
/// many ids.
const MAX_PARTS: usize = 1000;

/// What a post-processor does. In the template each id has a name.
#[derive(Default)]
pub(super) struct Finishing {
    pub(super) template: Option<Template>,
    pub(super) offsets: Option<OffsetRules>,
}

pub(super) fn finishing(row: &[Placed<PostProcessor>]) -> Result<Finishing> {
    let mut finishing = Finishing::default();
    row.iter().try_for_each(|processor| finishing.push(processor))?;
    Ok(finishing)
}

impl Finishing {
    /// The template, with the names by which the vocabulary does not know its ids.
    ///
    /// # Errors
    /// Where it has an id that no token has.
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

    fn push(&mut self, processor: &Placed<PostProcessor>) -> Result<()> {
        let path = processor.path.as_str();
        match &processor.is {
            PostProcessor::ByteLevel(byte_level) => {
                self.trim(path, byte_level.trim_offsets, byte_level.add_prefix_space)
            }
            PostProcessor::Roberta { around, trim_offsets, add_prefix_space } => {
                self.trim(path, *trim_offsets, *add_prefix_space)?;
                self.set(path, around_as_roberta(around))
            }
            PostProcessor::Bert(around) => self.set(path, around_as_bert(around)),
            PostProcessor::Template { single, pair, special_tokens } => {
                let by_name: HashMap<&str, &SpecialToken> =
                    special_tokens.iter().map(|token| (token.name.as_str(), token)).collect();
                if let Some(piece) =
                    single.iter().find(|piece| matches!(piece.is, Piece::Second { .. }))
                {
                    return Err(piece.problem("id", "a second text, which a single text lacks"));
                }
                self.set(
                    path,
                    Template {
                        single: pieces(single, &format!("{path}.single"), &by_name)?,
                        pair: pieces(pair, &format!("{path}.pair"), &by_name)?,
                    },
                )
            }
        }
    }

    fn trim(&mut self, path: &str, trim: bool, prefix_space: bool) -> Result<()> {
        if !trim {
            return Ok(());
        }
        match self.offsets.replace(OffsetRules { trim, prefix_space }) {
            Some(_) => Err(problem(path, "trims offsets a second time")),
            None => Ok(()),
        }
    }

    fn set(&mut self, path: &str, template: Template) -> Result<()> {
        match self.template.replace(template) {
            Some(_) => Err(problem(path, "a second template")),
            None => Ok(()),
        }
    }
}

/// A special token as it is named there, and its id.
type Named = (String, TokenId);

fn text(which: Sequence, type_id: u32) -> TemplatePiece {
    TemplatePiece::Text { which, type_id }
}

fn special((name, id): &Named, type_id: u32) -> TemplatePiece {
    TemplatePiece::Special { ids: vec![*id], type_id, names: vec![name.clone()] }
}

fn around_as_bert(Around { cls, sep }: &Around) -> Template {
    let single = vec![special(cls, 0), text(Sequence::First, 0), special(sep, 0)];
    let second = [text(Sequence::Second, 1), special(sep, 1)];
    Template { pair: single.iter().cloned().chain(second).collect(), single }
}

/// All types are 0 there, and two separators stand between the texts.
fn around_as_roberta(Around { cls, sep }: &Around) -> Template {
    let single = vec![special(cls, 0), text(Sequence::First, 0), special(sep, 0)];
    let second = [special(sep, 0), text(Sequence::Second, 0), special(sep, 0)];
    Template { pair: single.iter().cloned().chain(second).collect(), single }
}

fn pieces(
    pieces: &[Placed<Piece>],
    path: &str,
    tokens: &HashMap<&str, &SpecialToken>,
) -> Result<Vec<TemplatePiece>> {
    let n_ids = |piece: &Placed<Piece>| match &piece.is {
        Piece::First { .. } | Piece::Second { .. } => 1,
        Piece::Special { name, .. } => {
            tokens.get(name.as_str()).map_or(1, |token| token.ids.len().max(1))
        }
    };
    let n_parts: usize = pieces.iter().map(n_ids).sum();
    if n_parts > MAX_PARTS {
        let problem_is = format!("has {n_parts} texts and ids, more than {MAX_PARTS}");
        return Err(problem(path, problem_is));
    }
    let piece = |piece: &Placed<Piece>| match &piece.is {
        Piece::First { type_id } => Ok(text(Sequence::First, *type_id)),
        Piece::Second { type_id } => Ok(text(Sequence::Second, *type_id)),
        Piece::Special { name, type_id } => {
            let missing = || piece.problem("id", format!("{name:?} is not in special_tokens"));
            let token = tokens.get(name.as_str()).ok_or_else(missing)?;
            if token.ids.len() != token.tokens.len() {
                return Err(problem(&token.path, "does not have one token for each id"));
            }
            let (ids, names) = (token.ids.clone(), token.tokens.clone());
            Ok(TemplatePiece::Special { ids, type_id: *type_id, names })
        }
    };
    pieces.iter().map(piece).collect()
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
    let mut special_tokens = Map::new();
    let Template { single, pair } = &parts.template;
    let template = json!({
        "type": "TemplateProcessing",
        "single": values(single, names, &mut special_tokens)?,
        "pair": values(pair, names, &mut special_tokens)?,
        "special_tokens": special_tokens,
    });
    Ok(match trim {
        true => json!({"type": "Sequence", "processors": [byte_level, template]}),
        false => template,
    })
}

fn values(
    pieces: &[TemplatePiece],
    names: &Names,
    special_tokens: &mut Map<String, Value>,
) -> Result<Vec<Value>> {
    let piece = |piece: &TemplatePiece| {
        Ok(match piece {
            TemplatePiece::Text { which, type_id } => {
                let id = match which {
                    Sequence::First => "A",
                    Sequence::Second => "B",
                };
                json!({"Sequence": {"id": id, "type_id": type_id}})
            }
            TemplatePiece::Special { ids, type_id, names: own } => {
                let id = entered_name(ids, own, names, special_tokens)?;
                json!({"SpecialToken": {"id": id, "type_id": type_id}})
            }
        })
    };
    pieces.iter().map(piece).collect()
}

/// Enters special tokens, and gives the name under which they stand.
///
/// Several together are named by their names, and where another row is named so, with a number behind.
fn entered_name(
    ids: &[TokenId],
    own: &[String],
    names: &Names,
    entered: &mut Map<String, Value>,
) -> Result<String> {
    let tokens: Vec<&str> = match own {
        [] => ids.iter().map(|&id| names.get(id)).collect::<Result<_>>()?,
        own => own.iter().map(String::as_str).collect(),
    };
    let mut name = tokens.concat();
    loop {
        let entry = json!({"id": name, "ids": ids, "tokens": tokens});
        match entered.get(&name) {
            None => {
                entered.insert(name.clone(), entry);
                return Ok(name);
            }
            Some(known) if *known == entry => return Ok(name),
            Some(_) => name.push('+'),
        }
    }
}
