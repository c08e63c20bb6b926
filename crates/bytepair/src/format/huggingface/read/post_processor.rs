//! The post-processor of a `tokenizer.json`: special tokens around a text.

use super::problem;
use crate::error::Result;
use crate::format::huggingface::schema::{Piece, PostProcessor};
use crate::tokenizer::Template;
use crate::vocabulary::TokenId;

pub(super) fn template(processor: Option<PostProcessor>, known: Template) -> Result<Template> {
    let Some(processor) = processor else { return Ok(known) };
    let is_second = known != Template::default();
    let template = match processor {
        PostProcessor::ByteLevel(_) => return Ok(known),
        PostProcessor::Sequence { processors } => {
            return processors
                .into_iter()
                .try_fold(known, |known, processor| template(Some(processor), known));
        }
        PostProcessor::RobertaProcessing { sep, cls, .. }
        | PostProcessor::BertProcessing { sep, cls } => {
            Template { before: vec![cls.1], after: vec![sep.1] }
        }
        PostProcessor::TemplateProcessing { single, special_tokens, .. } => {
            template_of(single, |name| special_tokens.get(name).map(|token| token.ids.clone()))?
        }
    };
    if is_second {
        return Err(problem("post_processor", "two templates"));
    }
    Ok(template)
}

fn template_of(pieces: Vec<Piece>, ids: impl Fn(&str) -> Option<Vec<TokenId>>) -> Result<Template> {
    let mut template = Template::default();
    let mut is_after = false;
    for piece in pieces {
        match piece {
            Piece::Sequence { id, .. } if id == "A" && !is_after => is_after = true,
            Piece::Sequence { .. } => {
                return Err(problem("post_processor.single", "not one sequence A"));
            }
            Piece::SpecialToken { id, .. } => {
                let missing =
                    || problem("post_processor.special_tokens", format!("{id:?} is missing"));
                let ids = ids(&id).ok_or_else(missing)?;
                let side = if is_after { &mut template.after } else { &mut template.before };
                side.extend(ids);
            }
        }
    }
    if !is_after {
        return Err(problem("post_processor.single", "not one sequence A"));
    }
    Ok(template)
}
