//! How ids become text, to records and back.
//!
//! Reading refuses an empty text that is replaced.

use super::super::FORMAT;
use super::super::schema::{DecodeRecord, DecodeStepRecord};
use bytepair::decode::{Decode, DecodeChain, DecodeRules, DecodeStep, SentencePieceDecode};
use bytepair::{Error, Result};

impl From<&Decode> for DecodeRecord {
    fn from(decode: &Decode) -> Self {
        match decode.clone() {
            Decode::Rules(rules) => {
                let DecodeRules { replacements, n_leading_spaces, first_without, whole_byte_runs } =
                    rules;
                Self::Rules { replacements, n_leading_spaces, first_without, whole_byte_runs }
            }
            Decode::Chain(DecodeChain { steps, separator }) => {
                Self::Chain { steps: steps.into_iter().map(Into::into).collect(), separator }
            }
            Decode::SentencePiece(SentencePieceDecode { leading, unknown, controls }) => {
                Self::Sentencepiece { leading: leading.into(), unknown, controls }
            }
        }
    }
}

impl DecodeRecord {
    pub(in crate::native) fn n_steps(&self) -> usize {
        match self {
            Self::Chain { steps, .. } => steps.len(),
            Self::Rules { .. } | Self::Sentencepiece { .. } => 0,
        }
    }
}

impl TryFrom<DecodeRecord> for Decode {
    type Error = Error;

    fn try_from(record: DecodeRecord) -> Result<Self> {
        Ok(match record {
            DecodeRecord::Rules {
                replacements,
                n_leading_spaces,
                first_without,
                whole_byte_runs,
            } => Self::Rules(DecodeRules {
                replacements,
                n_leading_spaces,
                first_without,
                whole_byte_runs,
            }),
            DecodeRecord::Chain { steps, separator } => {
                let steps = steps.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
                Self::Chain(DecodeChain { steps, separator })
            }
            DecodeRecord::Sentencepiece { leading, unknown, mut controls } => {
                controls.sort();
                Self::SentencePiece(SentencePieceDecode {
                    leading: leading.into(),
                    unknown,
                    controls,
                })
            }
        })
    }
}

impl From<DecodeStep> for DecodeStepRecord {
    fn from(step: DecodeStep) -> Self {
        match step {
            DecodeStep::ByteLevel => Self::ByteLevel {},
            DecodeStep::Metaspace { replacement, drops_first } => {
                Self::Metaspace { replacement, drops_first }
            }
            DecodeStep::Suffix(suffix) => Self::Suffix { suffix },
            DecodeStep::ByteFallback => Self::ByteFallback {},
            DecodeStep::Fuse => Self::Fuse {},
            DecodeStep::Strip { content, start, stop } => Self::Strip { content, start, stop },
            DecodeStep::Replace { from, to } => Self::Replace { from, to },
            DecodeStep::ReplacePattern { pattern, to } => Self::ReplacePattern { pattern, to },
            DecodeStep::WordPiece { prefix, cleanup } => Self::WordPiece { prefix, cleanup },
            DecodeStep::Ctc { pad, delimiter, cleanup } => Self::Ctc { pad, delimiter, cleanup },
        }
    }
}

impl TryFrom<DecodeStepRecord> for DecodeStep {
    type Error = Error;

    fn try_from(record: DecodeStepRecord) -> Result<Self> {
        Ok(match record {
            DecodeStepRecord::ByteLevel {} => Self::ByteLevel,
            DecodeStepRecord::Metaspace { replacement, drops_first } => {
                Self::Metaspace { replacement, drops_first }
            }
            DecodeStepRecord::Suffix { suffix } => Self::Suffix(suffix),
            DecodeStepRecord::ByteFallback {} => Self::ByteFallback,
            DecodeStepRecord::Fuse {} => Self::Fuse,
            DecodeStepRecord::Strip { content, start, stop } => {
                Self::Strip { content, start, stop }
            }
            DecodeStepRecord::Replace { from, .. } if from.is_empty() => {
                return Err(Error::format(FORMAT, "decode", "an empty text is replaced"));
            }
            DecodeStepRecord::Replace { from, to } => Self::Replace { from, to },
            DecodeStepRecord::ReplacePattern { pattern, to } => {
                Self::ReplacePattern { pattern, to }
            }
            DecodeStepRecord::WordPiece { prefix, cleanup } => Self::WordPiece { prefix, cleanup },
            DecodeStepRecord::Ctc { pad, delimiter, cleanup } => {
                Self::Ctc { pad, delimiter, cleanup }
            }
        })
    }
}
