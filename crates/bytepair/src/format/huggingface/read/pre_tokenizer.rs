//! The pre-tokenizer of a `tokenizer.json`: changes of the text, and the stages of a splitter.

use super::problem;
use crate::error::Result;
use crate::format::huggingface::schema::{self, PreTokenizer};
use crate::format::huggingface::{BYTE_LEVEL_PATTERN, WORD};
use crate::normalize::NormalizeStep;
use crate::split::{Flavour, Pattern, Stage, Unmatched};

/// What a pre-tokenizer does.
#[derive(Default)]
pub(super) struct Cutting {
    /// Changes of the text, after those of the normalizer.
    pub(super) steps: Vec<NormalizeStep>,
    pub(super) stages: Vec<Stage>,
    pub(super) is_byte_level: bool,
}

pub(super) fn cutting(pre_tokenizer: Option<PreTokenizer>) -> Result<Cutting> {
    let mut cutting = Cutting::default();
    if let Some(pre_tokenizer) = pre_tokenizer {
        cutting.push(pre_tokenizer)?;
    }
    Ok(cutting)
}

impl Cutting {
    fn push(&mut self, pre_tokenizer: PreTokenizer) -> Result<()> {
        if self.is_byte_level {
            return Err(problem("pre_tokenizer", "ByteLevel is not the last of the sequence"));
        }
        match pre_tokenizer {
            PreTokenizer::Sequence { pretokenizers } => {
                return pretokenizers.into_iter().try_for_each(|inside| self.push(inside));
            }
            PreTokenizer::Split { pattern, behavior, invert } => {
                let unmatched = unmatched(&behavior, invert)?;
                self.stage(source(pattern), Flavour::Oniguruma, unmatched);
            }
            PreTokenizer::ByteLevel(byte_level) => return self.push_byte_level(&byte_level),
            PreTokenizer::Metaspace(metaspace) => return self.push_metaspace(&metaspace),
            PreTokenizer::Whitespace {} => {
                self.stage(r"\w+|[^\w\s]+".to_owned(), Flavour::Rust, Unmatched::Drop);
            }
            PreTokenizer::WhitespaceSplit {} => {
                self.stage(WORD.to_owned(), Flavour::Rust, Unmatched::Drop);
            }
            PreTokenizer::Digits { individual_digits } => {
                let source = if individual_digits { r"\p{N}" } else { r"\p{N}+" };
                self.stage(source.to_owned(), Flavour::Rust, Unmatched::Keep);
            }
            PreTokenizer::CharDelimiterSplit { delimiter } => {
                let source = format!("[^{}]+", escaped(delimiter));
                self.stage(source, Flavour::Rust, Unmatched::Drop);
            }
        }
        Ok(())
    }

    fn stage(&mut self, source: String, flavour: Flavour, unmatched: Unmatched) {
        self.stages.push(Stage { pattern: Pattern { source, flavour }, unmatched });
    }

    fn push_byte_level(&mut self, byte_level: &schema::ByteLevel) -> Result<()> {
        self.is_byte_level = true;
        if byte_level.add_prefix_space {
            self.prepend(" ".to_owned(), false)?;
        }
        if byte_level.use_regex {
            self.stage(BYTE_LEVEL_PATTERN.to_owned(), Flavour::Oniguruma, Unmatched::Keep);
        }
        Ok(())
    }

    fn push_metaspace(&mut self, metaspace: &schema::Metaspace) -> Result<()> {
        let replacement = metaspace.replacement.to_string();
        let is_first = self.stages.is_empty();
        if !is_first {
            return Err(problem(
                "pre_tokenizer.Metaspace",
                "only supported as the first of a sequence",
            ));
        }
        self.steps.push(NormalizeStep::Replace { from: " ".to_owned(), to: replacement.clone() });
        match metaspace.scheme()? {
            "never" => {}
            scheme => self.prepend(replacement.clone(), scheme == "first")?,
        }
        if metaspace.split != Some(false) {
            let class = escaped(metaspace.replacement);
            self.stage(format!("{class}?[^{class}]+|{class}"), Flavour::Rust, Unmatched::Keep);
        }
        Ok(())
    }

    fn prepend(&mut self, text: String, only_first: bool) -> Result<()> {
        if !self.stages.is_empty() {
            return Err(problem(
                "pre_tokenizer",
                "a prefix space is only supported before all splits",
            ));
        }
        self.steps.push(NormalizeStep::Prepend { text, only_first, unless_there: true });
        Ok(())
    }
}

impl schema::Metaspace {
    pub(super) fn scheme(&self) -> Result<&str> {
        match (self.prepend_scheme.as_str(), self.add_prefix_space) {
            ("never", _) => Ok("never"),
            (scheme @ ("always" | "first"), None | Some(true)) => Ok(scheme),
            (scheme, _) => Err(problem(
                "Metaspace.prepend_scheme",
                format!("{scheme:?} is not understood here"),
            )),
        }
    }
}

fn unmatched(behavior: &str, invert: bool) -> Result<Unmatched> {
    match (behavior, invert) {
        ("Isolated", _) => Ok(Unmatched::Keep),
        ("Removed", true) => Ok(Unmatched::Drop),
        _ => Err(problem(
            "pre_tokenizer.Split.behavior",
            format!(
                "{behavior:?} with invert={invert} is not supported; Isolated, and Removed with invert=true are"
            ),
        )),
    }
}

fn source(pattern: schema::Pattern) -> String {
    match pattern {
        schema::Pattern::Regex(source) => source,
        schema::Pattern::String(text) => {
            text.chars().fold(String::new(), |source, character| source + &escaped(character))
        }
    }
}

/// A character as both flavours of patterns read it, in a class and outside.
fn escaped(character: char) -> String {
    format!(r"\x{{{:X}}}", u32::from(character))
}
