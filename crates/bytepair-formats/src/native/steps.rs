//! Steps that change a text and stages that cut it, to records and back.
//!
//! Each pair of conversions stands together, and takes its value apart field by field, so that a field that is added
//! and forgotten here does not compile. Reading compiles patterns and character maps, and refuses an empty text that
//! is replaced. Linear in the size of the part.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::FORMAT;
use super::schema::{RoundRecord, SentencePieceRecord, StageRecord, StepRecord};
use bytepair::normalize::{
    CharsMap, NormalizeStep, Normalizer, SentencePiece, SentencePieceRules, TextPattern,
};
use bytepair::pretokenize::Round;
use bytepair::{Error, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Pattern, Splitter, Stage};

impl From<&NormalizeStep> for StepRecord {
    fn from(step: &NormalizeStep) -> Self {
        match step.clone() {
            NormalizeStep::Lowercase => Self::Lowercase {},
            NormalizeStep::Form(form) => Self::Form { form },
            NormalizeStep::Replace { from, to } => Self::Replace { from, to },
            NormalizeStep::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
            NormalizeStep::ReplaceMatches { pattern, to } => {
                let Pattern { source, flavour } = pattern.pattern().clone();
                Self::ReplaceMatches { pattern: source, flavour, to }
            }
            NormalizeStep::Strip { left, right } => Self::Strip { left, right },
            NormalizeStep::StripAccents => Self::StripAccents {},
            NormalizeStep::Bert(rules) => Self::Bert(rules),
            NormalizeStep::Nmt => Self::Nmt {},
            NormalizeStep::ByteChars => Self::ByteChars {},
            NormalizeStep::Precompiled(map) => {
                Self::Precompiled { charsmap: STANDARD.encode(map.to_bytes()) }
            }
            NormalizeStep::SentencePiece(step) => Self::Sentencepiece(step.rules().into()),
        }
    }
}

impl TryFrom<StepRecord> for NormalizeStep {
    type Error = Error;

    fn try_from(record: StepRecord) -> Result<Self> {
        Ok(match record {
            StepRecord::Lowercase {} => Self::Lowercase,
            StepRecord::Form { form } => Self::Form(form),
            StepRecord::Replace { from, .. } if from.is_empty() => {
                return Err(Error::format(FORMAT, "normalizer", "an empty text is replaced"));
            }
            StepRecord::Replace { from, to } => Self::Replace { from, to },
            StepRecord::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
            StepRecord::ReplaceMatches { pattern, flavour, to } => {
                let pattern = Pattern { source: pattern, flavour };
                let pattern = TextPattern::new(pattern, &UnicodeTables::latest())?;
                Self::ReplaceMatches { pattern, to }
            }
            StepRecord::Strip { left, right } => Self::Strip { left, right },
            StepRecord::StripAccents {} => Self::StripAccents,
            StepRecord::Bert(rules) => Self::Bert(rules),
            StepRecord::Nmt {} => Self::Nmt,
            StepRecord::ByteChars {} => Self::ByteChars,
            StepRecord::Precompiled { charsmap } => Self::Precompiled(characters(&charsmap)?),
            StepRecord::Sentencepiece(record) => Self::SentencePiece(record.into_step()?),
        })
    }
}

impl From<&SentencePieceRules> for SentencePieceRecord {
    fn from(rules: &SentencePieceRules) -> Self {
        let SentencePieceRules {
            characters,
            verbatim,
            adds_space,
            removes_extra_spaces,
            escapes_spaces,
            space_is_suffix,
        } = rules.clone();
        let charsmap = characters.map(|map| STANDARD.encode(map.to_bytes())).unwrap_or_default();
        Self {
            charsmap,
            verbatim,
            adds_space,
            removes_extra_spaces,
            escapes_spaces,
            space_is_suffix,
        }
    }
}

impl SentencePieceRecord {
    fn into_step(self) -> Result<SentencePiece> {
        let characters = match self.charsmap.as_str() {
            "" => None,
            charsmap => Some(characters(charsmap)?),
        };
        SentencePiece::new(SentencePieceRules {
            characters,
            verbatim: self.verbatim,
            adds_space: self.adds_space,
            removes_extra_spaces: self.removes_extra_spaces,
            escapes_spaces: self.escapes_spaces,
            space_is_suffix: self.space_is_suffix,
        })
    }
}

/// The character map that a file has in base64.
fn characters(charsmap: &str) -> Result<CharsMap> {
    let problem = |_| Error::format(FORMAT, "normalizer", "charsmap is not base64");
    CharsMap::parse(&STANDARD.decode(charsmap).map_err(problem)?)
}

impl From<&Round> for RoundRecord {
    fn from(round: &Round) -> Self {
        let Round { change, splitter } = round;
        Self {
            change: change.steps().iter().map(StepRecord::from).collect(),
            split: splitter.stages().iter().map(StageRecord::from).collect(),
        }
    }
}

impl RoundRecord {
    pub(super) fn n_steps(&self) -> usize {
        self.change.len() + self.split.len()
    }

    pub(super) fn into_round(self, unicode: UnicodeTables) -> Result<Round> {
        let Self { change, split } = self;
        let steps = change.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
        let stages = split.into_iter().map(Into::into).collect();
        let splitter = Splitter::new(stages, &unicode)?;
        Ok(Round { change: Normalizer::new(steps, unicode), splitter })
    }
}

impl From<&Stage> for StageRecord {
    fn from(stage: &Stage) -> Self {
        let Stage { pattern: Pattern { source, flavour }, behaviour, invert } = stage.clone();
        Self { pattern: source, flavour, behaviour, invert }
    }
}

impl From<StageRecord> for Stage {
    fn from(record: StageRecord) -> Self {
        let StageRecord { pattern, flavour, behaviour, invert } = record;
        let pattern = Pattern { source: pattern, flavour };
        Self { pattern, behaviour, invert }
    }
}
