//! The pre-tokenizer of a `tokenizer.json`: rounds of changing and cutting.
//!
//! The order of the file is kept. `Metaspace` and the prefix space of `ByteLevel` change pieces, so they
//! begin a new round once something has been cut. A `ByteLevel` at the end of the row means units of
//! bytes. One before the end means that later cutters see the characters that stand for bytes: these are
//! put in place of the bytes, and units are characters.

use super::{check_steps, problem};
use crate::error::Result;
use crate::format::huggingface::schema::{self, PreTokenizer};
use crate::format::huggingface::stages;
use crate::normalize::{NormalizeStep, Normalizer};
use crate::pretokenize::{self, Round};
use crate::split::{Behaviour, Flavour, Pattern, Splitter, Stage, each_begins, escaped};
use crate::unicode::UnicodeTables;

/// What a pre-tokenizer does.
#[derive(Default)]
pub(super) struct Cutting {
    pub(super) rounds: Vec<Draft>,
    /// Whether the last of the row makes bytes of the text.
    pub(super) is_byte_level: bool,
}

/// A round that is not compiled.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) steps: Vec<NormalizeStep>,
    pub(super) stages: Vec<Stage>,
}

/// The longest pieces of a fixed length: as often as a pattern may repeat.
const MAX_FIXED: usize = 1000;

pub(super) fn cutting(pre_tokenizer: Option<PreTokenizer>) -> Result<Cutting> {
    let mut row = Vec::new();
    if let Some(pre_tokenizer) = pre_tokenizer {
        flatten(pre_tokenizer, &mut row);
    }
    check_steps("pre_tokenizer", row.len())?;
    let mut cutting = Cutting::default();
    row.into_iter().try_for_each(|pre_tokenizer| cutting.push(pre_tokenizer))?;
    Ok(cutting)
}

fn flatten(pre_tokenizer: PreTokenizer, row: &mut Vec<PreTokenizer>) {
    match pre_tokenizer {
        PreTokenizer::Sequence { pretokenizers } => {
            pretokenizers.into_iter().for_each(|inside| flatten(inside, row));
        }
        other => row.push(other),
    }
}

impl Cutting {
    /// The stages, where there is one round that changes nothing.
    pub(super) fn only_stages(&self) -> Option<&[Stage]> {
        match self.rounds.as_slice() {
            [] => Some(&[]),
            [round] if round.steps.is_empty() => Some(&round.stages),
            _ => None,
        }
    }

    pub(super) fn compiled(self, unicode: UnicodeTables) -> Result<pretokenize::PreTokenizer> {
        let compiled = |draft: Draft| {
            let splitter = Splitter::new(draft.stages, &unicode)
                .map_err(|error| problem("pre_tokenizer.Split.pattern", error.to_string()))?;
            Ok(Round { change: Normalizer::new(draft.steps, unicode), splitter })
        };
        if self.only_stages().is_some_and(<[_]>::is_empty) {
            return Ok(Splitter::whole().into());
        }
        Ok(pretokenize::PreTokenizer::new(
            self.rounds.into_iter().map(compiled).collect::<Result<_>>()?,
        ))
    }

    fn push(&mut self, pre_tokenizer: PreTokenizer) -> Result<()> {
        if std::mem::take(&mut self.is_byte_level) {
            self.change(NormalizeStep::ByteChars);
        }
        match pre_tokenizer {
            PreTokenizer::Sequence { .. } => {}
            PreTokenizer::Split { pattern, behavior, invert } => {
                let behaviour = behaviour(&behavior, "pre_tokenizer.Split.behavior")?;
                let pattern = Pattern { source: source(pattern), flavour: Flavour::Oniguruma };
                self.cut(Stage { pattern, behaviour, invert });
            }
            PreTokenizer::ByteLevel(byte_level) => self.push_byte_level(&byte_level),
            PreTokenizer::Metaspace(metaspace) => self.push_metaspace(&metaspace)?,
            PreTokenizer::Whitespace {} => self.cut(stages::whitespace()),
            PreTokenizer::WhitespaceSplit {} => self.cut(stages::whitespace_split()),
            PreTokenizer::Digits { individual_digits } => {
                self.cut(stages::digits(individual_digits));
            }
            PreTokenizer::Punctuation { behavior } => {
                let behaviour = behaviour(&behavior, "pre_tokenizer.Punctuation.behavior")?;
                self.cut(stages::punctuation(behaviour));
            }
            PreTokenizer::Bert {} => {
                self.cut(stages::whitespace_split());
                self.cut(stages::punctuation(Behaviour::Isolated));
            }
            PreTokenizer::CharDelimiterSplit { delimiter } => {
                self.cut(stages::delimiter(delimiter));
            }
            PreTokenizer::FixedLength { length } if !(1..=MAX_FIXED).contains(&length) => {
                let problem_is = format!("is {length}, not 1 to {MAX_FIXED}");
                return Err(problem("pre_tokenizer.FixedLength.length", problem_is));
            }
            PreTokenizer::FixedLength { length } => self.cut(stages::fixed_length(length)),
            PreTokenizer::UnicodeScripts {} => self.cut(stages::unicode_scripts()),
        }
        Ok(())
    }

    /// The round in which pieces are still being cut.
    fn last(&mut self) -> &mut Draft {
        if self.rounds.is_empty() {
            self.rounds.push(Draft::default());
        }
        let last = self.rounds.len() - 1;
        &mut self.rounds[last]
    }

    fn cut(&mut self, stage: Stage) {
        self.last().stages.push(stage);
    }

    /// Changes all pieces that there are.
    fn change(&mut self, step: NormalizeStep) {
        if !self.last().stages.is_empty() {
            self.rounds.push(Draft::default());
        }
        self.last().steps.push(step);
    }

    fn push_byte_level(&mut self, byte_level: &schema::ByteLevel) {
        self.is_byte_level = true;
        if byte_level.add_prefix_space {
            self.prepend(" ".to_owned(), false);
        }
        if byte_level.use_regex {
            self.cut(stages::byte_level());
        }
    }

    fn push_metaspace(&mut self, metaspace: &schema::Metaspace) -> Result<()> {
        let replacement = metaspace.replacement.to_string();
        self.change(NormalizeStep::Replace { from: " ".to_owned(), to: replacement.clone() });
        match metaspace.scheme()? {
            "never" => {}
            scheme => self.prepend(replacement, scheme == "first"),
        }
        if metaspace.split != Some(false) {
            self.cut(each_begins(metaspace.replacement));
        }
        Ok(())
    }

    fn prepend(&mut self, text: String, only_first: bool) {
        self.change(NormalizeStep::Prepend { text, only_first, unless_there: true });
    }
}

impl schema::Metaspace {
    pub(super) fn scheme(&self) -> Result<&str> {
        match (self.prepend_scheme.as_str(), self.add_prefix_space) {
            ("never", _) => Ok("never"),
            (scheme @ ("always" | "first"), None | Some(true)) => Ok(scheme),
            ("always" | "first", Some(false)) => {
                let contradiction = "is false, though prepend_scheme, which is \"always\" where it is not given, \
                                     puts a space there; the library refuses this too: set prepend_scheme to \"never\"";
                Err(problem("Metaspace.add_prefix_space", contradiction))
            }
            (scheme, _) => {
                Err(problem("Metaspace.prepend_scheme", format!("{scheme:?} is not understood")))
            }
        }
    }
}

fn behaviour(name: &str, field: &str) -> Result<Behaviour> {
    stages::behaviour(name).ok_or_else(|| problem(field, format!("{name:?} is not understood")))
}

fn source(pattern: schema::Pattern) -> String {
    match pattern {
        schema::Pattern::Regex(source) => source,
        schema::Pattern::String(text) => text.chars().map(escaped).collect(),
    }
}
