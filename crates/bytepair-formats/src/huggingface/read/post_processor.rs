//! The post-processor of a `tokenizer.json`: special tokens around texts, and how spans are reported.

use std::collections::HashMap;

use crate::huggingface::schema::{Around, Piece, Placed, PostProcessor, SpecialToken, problem};
use bytepair::Result;
use bytepair::template::{OffsetRules, Sequence, Template, TemplatePiece};
use bytepair::units::{Units, published_name};
use bytepair::vocabulary::{TokenId, Vocabulary};

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
                self.set(path, roberta(around))
            }
            PostProcessor::Bert(around) => self.set(path, bert(around)),
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

fn bert(Around { cls, sep }: &Around) -> Template {
    let single = vec![special(cls, 0), text(Sequence::First, 0), special(sep, 0)];
    let second = [text(Sequence::Second, 1), special(sep, 1)];
    Template { pair: single.iter().cloned().chain(second).collect(), single }
}

/// All types are 0 there, and two separators stand between the texts.
fn roberta(Around { cls, sep }: &Around) -> Template {
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
