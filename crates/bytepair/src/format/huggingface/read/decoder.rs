//! The decoder of a `tokenizer.json`, which has to undo what the rest of the file does.

use super::problem;
use crate::decode::DecodeRules;
use crate::error::Result;
use crate::format::huggingface::prefix_pattern;
use crate::format::huggingface::schema::{Decoder, Pattern};
use crate::units::Units;

pub(super) fn decode(decoder: Option<Decoder>, units: &Units) -> Result<DecodeRules> {
    let Some(decoder) = decoder else {
        return Err(problem(
            "decoder",
            "missing: the library would put a space between all tokens",
        ));
    };
    let mut undoing = Undoing::default();
    undoing.push(decoder, units)?;
    let is_whole = undoing.is_byte_level == units.is_bytes()
        && undoing.has_bytes == units.byte_fallback
        && undoing.has_mark == units.end_mark.is_some()
        && undoing.has_prefix == units.continuing_prefix.is_some();
    if !is_whole {
        return Err(problem("decoder", "does not undo what the model and the pre-tokenizer do"));
    }
    Ok(undoing.rules)
}

/// What a list of decoders undoes.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says that one kind of decoder was there")]
struct Undoing {
    rules: DecodeRules,
    is_byte_level: bool,
    has_bytes: bool,
    has_mark: bool,
    has_prefix: bool,
    is_fused: bool,
}

impl Undoing {
    fn push(&mut self, decoder: Decoder, units: &Units) -> Result<()> {
        match decoder {
            Decoder::Sequence { decoders } => {
                return decoders.into_iter().try_for_each(|decoder| self.push(decoder, units));
            }
            Decoder::ByteLevel(_) => self.is_byte_level = true,
            Decoder::Suffix { suffix } if is_mark(units, &suffix) => self.has_mark = true,
            Decoder::Suffix { .. } => {
                return Err(problem("decoder.BPEDecoder", "its suffix is not the model's"));
            }
            Decoder::Metaspace(metaspace) => {
                self.rules.replacements.push((metaspace.replacement.to_string(), " ".to_owned()));
                self.rules.n_leading_spaces = usize::from(metaspace.scheme()? != "never");
            }
            Decoder::Replace { pattern, content } => {
                return self.push_replace(pattern, content, units);
            }
            Decoder::ByteFallback {} => self.has_bytes = true,
            Decoder::Fuse {} => self.is_fused = true,
            Decoder::Strip { content: ' ', start, stop: 0 } if self.is_fused => {
                self.rules.n_leading_spaces = start;
            }
            Decoder::Strip { .. } => {
                return Err(problem(
                    "decoder.Strip",
                    "only spaces at the beginning of the whole text",
                ));
            }
        }
        Ok(())
    }

    fn push_replace(&mut self, pattern: Pattern, content: String, units: &Units) -> Result<()> {
        match pattern {
            Pattern::String(from) if !from.is_empty() => {
                self.rules.replacements.push((from, content));
            }
            Pattern::Regex(source)
                if content.is_empty()
                    && units.continuing_prefix.as_deref().map(prefix_pattern)
                        == Some(source.clone()) =>
            {
                self.has_prefix = true;
            }
            _ => {
                return Err(problem(
                    "decoder.Replace",
                    "a regular expression that is not understood",
                ));
            }
        }
        Ok(())
    }
}

fn is_mark(units: &Units, suffix: &str) -> bool {
    units.end_mark.as_ref().is_some_and(|mark| mark.text == suffix)
}
