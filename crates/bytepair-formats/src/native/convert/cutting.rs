//! Steps that change a text and stages that cut it, to records and back.
//!
//! Reading compiles their patterns, and refuses an empty text that is replaced.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::super::FORMAT;
use super::super::schema::{RoundRecord, StageRecord, StepRecord};
use bytepair::normalize::{BertRules, CharsMap, NormalizeStep, Normalizer, TextPattern};
use bytepair::pretokenize::Round;
use bytepair::{Error, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Pattern, Splitter, Stage};

impl From<&NormalizeStep> for StepRecord {
    fn from(step: &NormalizeStep) -> Self {
        match step.clone() {
            NormalizeStep::Lowercase => Self::Lowercase {},
            NormalizeStep::Form(form) => Self::Form { form: form.into() },
            NormalizeStep::Replace { from, to } => Self::Replace { from, to },
            NormalizeStep::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
            NormalizeStep::ReplaceMatches { pattern, to } => {
                let Pattern { source, flavour } = pattern.pattern().clone();
                Self::ReplaceMatches { pattern: source, flavour: flavour.into(), to }
            }
            NormalizeStep::Strip { left, right } => Self::Strip { left, right },
            NormalizeStep::StripAccents => Self::StripAccents {},
            NormalizeStep::Bert(rules) => {
                let BertRules { clean_text, handle_chinese_chars, strip_accents, lowercase } =
                    rules;
                Self::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase }
            }
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
            StepRecord::Form { form } => Self::Form(form.into()),
            StepRecord::Replace { from, .. } if from.is_empty() => {
                return Err(Error::format(FORMAT, "normalizer", "an empty text is replaced"));
            }
            StepRecord::Replace { from, to } => Self::Replace { from, to },
            StepRecord::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
            StepRecord::ReplaceMatches { pattern, flavour, to } => {
                let pattern = Pattern { source: pattern, flavour: flavour.into() };
                let pattern = TextPattern::new(pattern, &UnicodeTables::latest())?;
                Self::ReplaceMatches { pattern, to }
            }
            StepRecord::Strip { left, right } => Self::Strip { left, right },
            StepRecord::StripAccents {} => Self::StripAccents,
            StepRecord::Bert { clean_text, handle_chinese_chars, strip_accents, lowercase } => {
                Self::Bert(BertRules { clean_text, handle_chinese_chars, strip_accents, lowercase })
            }
            StepRecord::Nmt {} => Self::Nmt,
            StepRecord::ByteChars {} => Self::ByteChars,
            StepRecord::Precompiled { charsmap } => {
                let problem = |_| Error::format(FORMAT, "normalizer", "charsmap is not base64");
                let data = STANDARD.decode(charsmap).map_err(problem)?;
                Self::Precompiled(CharsMap::parse(&data)?)
            }
            StepRecord::Sentencepiece(record) => Self::SentencePiece(record.into_step()?),
        })
    }
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
    pub(in crate::native) fn n_steps(&self) -> usize {
        self.change.len() + self.split.len()
    }

    pub(in crate::native) fn into_round(self, unicode: UnicodeTables) -> Result<Round> {
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
        Self { pattern: source, flavour: flavour.into(), behaviour: behaviour.into(), invert }
    }
}

impl From<StageRecord> for Stage {
    fn from(record: StageRecord) -> Self {
        let StageRecord { pattern, flavour, behaviour, invert } = record;
        let pattern = Pattern { source: pattern, flavour: flavour.into() };
        Self { pattern, behaviour: behaviour.into(), invert }
    }
}
