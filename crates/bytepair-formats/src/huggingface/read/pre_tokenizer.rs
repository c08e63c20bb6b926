//! The pre-tokenizer of a `tokenizer.json`: rounds of changing and cutting.
//!
//! The order of the file is kept. `Metaspace` and the prefix space of `ByteLevel` change pieces, so they
//! begin a new round once something has been cut. A `ByteLevel` at the end of the row means units of
//! bytes. One before the end means that later cutters see the characters that stand for bytes: these are
//! put in place of the bytes, and units are characters.

use crate::huggingface::schema::{
    self, ByteLevel, Metaspace, Placed, PreTokenizer, Prepends, problem,
};
use crate::huggingface::stages;
use bytepair::normalize::{NormalizeStep, Normalizer};
use bytepair::pretokenize::{self, Round};
use bytepair::{Error, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Flavour, Pattern, Splitter, Stage, each_begins, escaped};

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
    /// For each stage, where the file has its pattern.
    paths: Vec<String>,
}

impl Draft {
    /// The error of the first stage that cannot be compiled alone, at its place in the file.
    fn problem(&self, whole: &Error, unicode: &UnicodeTables) -> Error {
        let mut stages = self.paths.iter().zip(&self.stages);
        let of_stage = stages.find_map(|(path, stage)| {
            let error = Splitter::new(vec![stage.clone()], unicode).err()?;
            Some(problem(path, error.to_string()))
        });
        of_stage.unwrap_or_else(|| problem("pre_tokenizer", whole.to_string()))
    }
}

/// The longest pieces of a fixed length: as often as a pattern may repeat.
const MAX_FIXED: usize = 1000;

pub(super) fn cutting(row: Option<Vec<Placed<PreTokenizer>>>) -> Result<Cutting> {
    let mut cutting = Cutting::default();
    row.unwrap_or_default().iter().try_for_each(|pre_tokenizer| cutting.push(pre_tokenizer))?;
    Ok(cutting)
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
            let splitter = Splitter::new(draft.stages.clone(), &unicode)
                .map_err(|error| draft.problem(&error.into(), &unicode))?;
            Ok(Round { change: Normalizer::new(draft.steps, unicode), splitter })
        };
        if self.only_stages().is_some_and(<[_]>::is_empty) {
            return Ok(Splitter::whole().into());
        }
        Ok(pretokenize::PreTokenizer::new(
            self.rounds.into_iter().map(compiled).collect::<Result<_>>()?,
        ))
    }

    fn push(&mut self, pre_tokenizer: &Placed<PreTokenizer>) -> Result<()> {
        if std::mem::take(&mut self.is_byte_level) {
            self.change(NormalizeStep::ByteChars);
        }
        let path = pre_tokenizer.path.as_str();
        match &pre_tokenizer.is {
            PreTokenizer::Split { pattern, behaviour, invert } => {
                let pattern = Pattern { source: source(pattern), flavour: Flavour::Oniguruma };
                let path = format!("{}.pattern", pre_tokenizer.path);
                self.cut(Stage { pattern, behaviour: *behaviour, invert: *invert }, &path);
            }
            PreTokenizer::ByteLevel(byte_level) => self.push_byte_level(*byte_level, path),
            PreTokenizer::Metaspace(metaspace) => self.push_metaspace(*metaspace, path),
            PreTokenizer::Whitespace => self.cut(stages::whitespace(), path),
            PreTokenizer::WhitespaceSplit => self.cut(stages::whitespace_split(), path),
            PreTokenizer::Digits { individual } => self.cut(stages::digits(*individual), path),
            PreTokenizer::Punctuation(behaviour) => self.cut(stages::punctuation(*behaviour), path),
            PreTokenizer::Bert => {
                self.cut(stages::whitespace_split(), path);
                self.cut(stages::punctuation(Behaviour::Isolated), path);
            }
            PreTokenizer::Delimiter(delimiter) => self.cut(stages::delimiter(*delimiter), path),
            PreTokenizer::FixedLength(length) if !(1..=MAX_FIXED).contains(length) => {
                let problem_is = format!("is {length}, not 1 to {MAX_FIXED}");
                return Err(pre_tokenizer.problem("length", problem_is));
            }
            PreTokenizer::FixedLength(length) => self.cut(stages::fixed_length(*length), path),
            PreTokenizer::UnicodeScripts => self.cut(stages::unicode_scripts(), path),
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

    fn cut(&mut self, stage: Stage, path: &str) {
        let last = self.last();
        last.stages.push(stage);
        last.paths.push(path.to_owned());
    }

    /// Changes all pieces that there are.
    fn change(&mut self, step: NormalizeStep) {
        if !self.last().stages.is_empty() {
            self.rounds.push(Draft::default());
        }
        self.last().steps.push(step);
    }

    fn push_byte_level(&mut self, byte_level: ByteLevel, path: &str) {
        self.is_byte_level = true;
        if byte_level.add_prefix_space {
            self.prepend(" ".to_owned(), false);
        }
        if byte_level.use_regex {
            self.cut(stages::byte_level(), path);
        }
    }

    fn push_metaspace(&mut self, metaspace: Metaspace, path: &str) {
        let replacement = metaspace.replacement.to_string();
        self.change(NormalizeStep::Replace { from: " ".to_owned(), to: replacement.clone() });
        if metaspace.prepends != Prepends::Never {
            self.prepend(replacement, metaspace.prepends == Prepends::First);
        }
        if metaspace.split {
            self.cut(each_begins(metaspace.replacement), path);
        }
    }

    fn prepend(&mut self, text: String, only_first: bool) {
        self.change(NormalizeStep::Prepend { text, only_first, unless_there: true });
    }
}

fn source(pattern: &schema::Pattern) -> String {
    match pattern {
        schema::Pattern::Regex(source) => source.clone(),
        schema::Pattern::String(text) => text.chars().map(escaped).collect(),
    }
}
