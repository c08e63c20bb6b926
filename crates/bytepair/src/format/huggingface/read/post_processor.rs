//! The post-processor of a `tokenizer.json`: special tokens around texts, and how spans are reported.

use super::problem;
use crate::error::Result;
use crate::format::huggingface::schema::{Piece, PostProcessor, SpecialToken};
use crate::template::{OffsetRules, Sequence, Template, TemplatePiece};
use crate::units::{Units, published_name};
use crate::vocabulary::{TokenId, Vocabulary};

/// The most texts and ids of a template. Every text that is encoded gets all of them, and a name may stand for
/// many ids.
const MAX_PARTS: usize = 1000;

/// What a post-processor does. In the template each id has a name.
#[derive(Default)]
pub(super) struct Finishing {
    pub(super) template: Option<Template>,
    pub(super) offsets: Option<OffsetRules>,
}

pub(super) fn finishing(processor: Option<PostProcessor>) -> Result<Finishing> {
    let mut finishing = Finishing::default();
    if let Some(processor) = processor {
        finishing.push(processor)?;
    }
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

    fn push(&mut self, processor: PostProcessor) -> Result<()> {
        match processor {
            PostProcessor::Sequence { processors } => {
                processors.into_iter().try_for_each(|processor| self.push(processor))
            }
            PostProcessor::ByteLevel(byte_level) => {
                self.trim(byte_level.trim_offsets, byte_level.add_prefix_space)
            }
            PostProcessor::RobertaProcessing { sep, cls, trim_offsets, add_prefix_space } => {
                self.trim(trim_offsets, add_prefix_space)?;
                self.set(roberta(&cls, &sep))
            }
            PostProcessor::BertProcessing { sep, cls } => self.set(bert(&cls, &sep)),
            PostProcessor::TemplateProcessing { single, pair, special_tokens } => {
                let ids = |name: &str| special_tokens.get(name);
                if single
                    .iter()
                    .any(|piece| matches!(piece, Piece::Sequence { id, .. } if id == "B"))
                {
                    let problem_is = "has a second text, which a single text lacks";
                    return Err(problem("post_processor.single", problem_is));
                }
                self.set(Template {
                    single: pieces(&single, "post_processor.single", ids)?,
                    pair: pieces(&pair, "post_processor.pair", ids)?,
                })
            }
        }
    }

    fn trim(&mut self, trim: bool, prefix_space: bool) -> Result<()> {
        if !trim {
            return Ok(());
        }
        match self.offsets.replace(OffsetRules { trim, prefix_space }) {
            Some(_) => Err(problem("post_processor", "trims offsets twice")),
            None => Ok(()),
        }
    }

    fn set(&mut self, template: Template) -> Result<()> {
        match self.template.replace(template) {
            Some(_) => Err(problem("post_processor", "two templates")),
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

fn bert(cls: &Named, sep: &Named) -> Template {
    let single = vec![special(cls, 0), text(Sequence::First, 0), special(sep, 0)];
    let second = [text(Sequence::Second, 1), special(sep, 1)];
    Template { pair: single.iter().cloned().chain(second).collect(), single }
}

/// All types are 0 there, and two separators stand between the texts.
fn roberta(cls: &Named, sep: &Named) -> Template {
    let single = vec![special(cls, 0), text(Sequence::First, 0), special(sep, 0)];
    let second = [special(sep, 0), text(Sequence::Second, 0), special(sep, 0)];
    Template { pair: single.iter().cloned().chain(second).collect(), single }
}

fn pieces<'t>(
    pieces: &[Piece],
    field: &str,
    tokens: impl Fn(&str) -> Option<&'t SpecialToken>,
) -> Result<Vec<TemplatePiece>> {
    let n_ids = |piece: &Piece| match piece {
        Piece::Sequence { .. } => 1,
        Piece::SpecialToken { id, .. } => tokens(id).map_or(1, |token| token.ids.len().max(1)),
    };
    let n_parts: usize = pieces.iter().map(n_ids).sum();
    if n_parts > MAX_PARTS {
        let problem_is = format!("has {n_parts} texts and ids, more than {MAX_PARTS}");
        return Err(problem(field, problem_is));
    }
    let piece = |piece: &Piece| match piece {
        Piece::Sequence { id, type_id } => match id.as_str() {
            "A" => Ok(text(Sequence::First, *type_id)),
            "B" => Ok(text(Sequence::Second, *type_id)),
            _ => Err(problem(field, format!("the sequence {id:?} is neither A nor B"))),
        },
        Piece::SpecialToken { id, type_id } => {
            let field = "post_processor.special_tokens";
            let token = tokens(id).ok_or_else(|| problem(field, format!("{id:?} is missing")))?;
            if token.ids.len() != token.tokens.len() {
                return Err(problem(field, format!("{id:?} has not one token for each id")));
            }
            let (ids, names) = (token.ids.clone(), token.tokens.clone());
            Ok(TemplatePiece::Special { ids, type_id: *type_id, names })
        }
    };
    pieces.iter().map(piece).collect()
}
