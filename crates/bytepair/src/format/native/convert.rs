//! The smaller parts of a `.bytepair` file, to records and back.
//!
//! Each pair of conversions stands together, and takes its value apart field by field. Reading refuses
//! what no part may be: an empty text that is replaced, an added token without content.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::FORMAT;
use super::schema::{
    AddedRecord, BehaviourRecord, DecodeRecord, DecodeStepRecord, EndMarkRecord, FlavourRecord,
    FormRecord, KindRecord, LeadingRecord, MarkKindRecord, MarkedRecord, MissingRecord,
    OffsetsRecord, PaddingRecord, PieceRecord, RoundRecord, SideRecord, StageRecord, StepRecord,
    StrategyRecord, TemplateRecord, TokenRecord, TruncationRecord, UnitRecord, UnitsRecord,
};
use crate::added::AddedToken;
use crate::decode::{
    Decode, DecodeChain, DecodeRules, DecodeStep, LeadingSpaces, SentencePieceDecode,
};
use crate::error::{Error, Result};
use crate::format::hexadecimal;
use crate::normalize::{BertRules, CharsMap, NormalizeStep, Normalizer, TextPattern, UnicodeForm};
use crate::pretokenize::Round;
use crate::split::{Behaviour, Flavour, Pattern, Splitter, Stage};
use crate::template::{
    OffsetRules, Padding, Sequence, Side, Template, TemplatePiece, Truncation, TruncationStrategy,
};
use crate::unicode::UnicodeTables;
use crate::units::{ByteIds, EndMark, EndMarkKind, Missing, Unit, Units};
use crate::vocabulary::{Form, Token, TokenKind};

/// Two types whose values are the same, one for one.
macro_rules! same {
    ($record:ident, $part:ty, $($in_record:ident = $in_part:pat => $value:expr),+ $(,)?) => {
        impl From<$part> for $record {
            fn from(part: $part) -> Self {
                match part {
                    $($in_part => Self::$in_record),+
                }
            }
        }

        impl From<$record> for $part {
            fn from(record: $record) -> Self {
                match record {
                    $($record::$in_record => $value),+
                }
            }
        }
    };
}

same!(
    FormRecord, UnicodeForm,
    Nfc = UnicodeForm::Nfc => Self::Nfc,
    Nfd = UnicodeForm::Nfd => Self::Nfd,
    Nfkc = UnicodeForm::Nfkc => Self::Nfkc,
    Nfkd = UnicodeForm::Nfkd => Self::Nfkd,
);
same!(
    LeadingRecord, LeadingSpaces,
    Stay = LeadingSpaces::Stay => Self::Stay,
    OneGoes = LeadingSpaces::OneGoes => Self::OneGoes,
    EachGoes = LeadingSpaces::EachGoes => Self::EachGoes,
);
same!(
    FlavourRecord, Flavour,
    Rust = Flavour::Rust => Self::Rust,
    Oniguruma = Flavour::Oniguruma => Self::Oniguruma,
    Cutter = Flavour::Cutter => Self::Cutter,
);
same!(
    BehaviourRecord, Behaviour,
    Isolated = Behaviour::Isolated => Self::Isolated,
    Removed = Behaviour::Removed => Self::Removed,
    MergedWithPrevious = Behaviour::MergedWithPrevious => Self::MergedWithPrevious,
    MergedWithNext = Behaviour::MergedWithNext => Self::MergedWithNext,
    Contiguous = Behaviour::Contiguous => Self::Contiguous,
);
same!(
    UnitRecord, Unit,
    PrintableByte = Unit::Byte(ByteIds::Printable) => Self::Byte(ByteIds::Printable),
    ByteValue = Unit::Byte(ByteIds::Value) => Self::Byte(ByteIds::Value),
    Character = Unit::Character => Self::Character,
);
same!(
    MarkKindRecord, EndMarkKind,
    Unit = EndMarkKind::Unit => Self::Unit,
    Suffix = EndMarkKind::Suffix => Self::Suffix,
);
same!(
    MissingRecord, Missing,
    Error = Missing::Error => Self::Error,
    Drop = Missing::Drop => Self::Drop,
);
same!(
    SideRecord, Side,
    Left = Side::Left => Self::Left,
    Right = Side::Right => Self::Right,
);
same!(
    StrategyRecord, TruncationStrategy,
    LongestFirst = TruncationStrategy::LongestFirst => Self::LongestFirst,
    OnlyFirst = TruncationStrategy::OnlyFirst => Self::OnlyFirst,
    OnlySecond = TruncationStrategy::OnlySecond => Self::OnlySecond,
);

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

impl From<&Units> for UnitsRecord {
    fn from(units: &Units) -> Self {
        let Units {
            unit,
            end_mark,
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing,
        } = units.clone();
        let mark = |EndMark { text, kind }: EndMark| EndMarkRecord { text, kind: kind.into() };
        Self {
            unit: unit.into(),
            end_mark: end_mark.map(mark),
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing: missing.into(),
        }
    }
}

impl From<UnitsRecord> for Units {
    fn from(record: UnitsRecord) -> Self {
        let UnitsRecord {
            unit,
            end_mark,
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing,
        } = record;
        let mark =
            |EndMarkRecord { text, kind }: EndMarkRecord| EndMark { text, kind: kind.into() };
        Self {
            unit: unit.into(),
            end_mark: end_mark.map(mark),
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing: missing.into(),
        }
    }
}

impl From<&Template> for TemplateRecord {
    fn from(template: &Template) -> Self {
        let Template { single, pair } = template;
        let records = |pieces: &[TemplatePiece]| pieces.iter().map(PieceRecord::from).collect();
        Self { single: records(single), pair: records(pair) }
    }
}

impl From<TemplateRecord> for Template {
    fn from(record: TemplateRecord) -> Self {
        let TemplateRecord { single, pair } = record;
        let pieces = |records: Vec<PieceRecord>| records.into_iter().map(Into::into).collect();
        Self { single: pieces(single), pair: pieces(pair) }
    }
}

impl From<&TemplatePiece> for PieceRecord {
    fn from(piece: &TemplatePiece) -> Self {
        match piece.clone() {
            TemplatePiece::Text { which: Sequence::First, type_id } => Self::First { type_id },
            TemplatePiece::Text { which: Sequence::Second, type_id } => Self::Second { type_id },
            TemplatePiece::Special { ids, type_id } => Self::Special { ids, type_id },
        }
    }
}

impl From<PieceRecord> for TemplatePiece {
    fn from(record: PieceRecord) -> Self {
        match record {
            PieceRecord::First { type_id } => Self::Text { which: Sequence::First, type_id },
            PieceRecord::Second { type_id } => Self::Text { which: Sequence::Second, type_id },
            PieceRecord::Special { ids, type_id } => Self::Special { ids, type_id },
        }
    }
}

impl From<&Truncation> for TruncationRecord {
    fn from(truncation: &Truncation) -> Self {
        let Truncation { max_length, stride, strategy, side } = truncation.clone();
        Self { max_length, stride, strategy: strategy.into(), side: side.into() }
    }
}

impl From<TruncationRecord> for Truncation {
    fn from(record: TruncationRecord) -> Self {
        let TruncationRecord { max_length, stride, strategy, side } = record;
        Self { max_length, stride, strategy: strategy.into(), side: side.into() }
    }
}

impl From<&Padding> for PaddingRecord {
    fn from(padding: &Padding) -> Self {
        let Padding { length, multiple_of, side, id, type_id, token } = padding.clone();
        Self { length, multiple_of, side: side.into(), id, type_id, token }
    }
}

impl From<PaddingRecord> for Padding {
    fn from(record: PaddingRecord) -> Self {
        let PaddingRecord { length, multiple_of, side, id, type_id, token } = record;
        Self { length, multiple_of, side: side.into(), id, type_id, token }
    }
}

impl From<OffsetRules> for OffsetsRecord {
    fn from(offsets: OffsetRules) -> Self {
        let OffsetRules { trim, prefix_space } = offsets;
        Self { trim, prefix_space }
    }
}

impl From<OffsetsRecord> for OffsetRules {
    fn from(record: OffsetsRecord) -> Self {
        let OffsetsRecord { trim, prefix_space } = record;
        Self { trim, prefix_space }
    }
}

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
    pub(super) fn n_steps(&self) -> usize {
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

impl From<&AddedToken> for AddedRecord {
    fn from(token: &AddedToken) -> Self {
        let AddedToken {
            id,
            content,
            special,
            normalized,
            lstrip,
            rstrip,
            single_word,
            whole_piece,
        } = token.clone();
        Self { id, content, special, normalized, lstrip, rstrip, single_word, whole_piece }
    }
}

impl TryFrom<AddedRecord> for AddedToken {
    type Error = Error;

    fn try_from(record: AddedRecord) -> Result<Self> {
        let AddedRecord {
            id,
            content,
            special,
            normalized,
            lstrip,
            rstrip,
            single_word,
            whole_piece,
        } = record;
        if content.is_empty() {
            return Err(Error::format(FORMAT, format!("added token {id}"), "has no content"));
        }
        Ok(Self { id, content, special, normalized, lstrip, rstrip, single_word, whole_piece })
    }
}

impl From<Token<'_>> for TokenRecord {
    fn from(token: Token<'_>) -> Self {
        let text = std::str::from_utf8(token.bytes).ok().map(str::to_owned);
        match (token.kind, text) {
            (TokenKind::PLAIN, Some(text)) => Self::Plain(text),
            (kind, text) => {
                let hex = text.is_none().then(|| hexadecimal(token.bytes));
                Self::Marked(MarkedRecord { kind: kind.into(), text, hex })
            }
        }
    }
}

impl MarkedRecord {
    pub(super) fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.text, &self.hex) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(hex)) => from_hexadecimal(hex),
            _ => None,
        }
    }
}

impl From<TokenKind> for KindRecord {
    fn from(kind: TokenKind) -> Self {
        match kind {
            TokenKind::Text(Form { continues: false, ends: false }) | TokenKind::Hole => {
                Self::Plain
            }
            TokenKind::Text(Form { continues: false, ends: true }) => Self::Ending,
            TokenKind::Text(Form { continues: true, ends: false }) => Self::Continuing,
            TokenKind::Text(Form { continues: true, ends: true }) => Self::ContinuingEnding,
            TokenKind::Byte => Self::Byte,
            TokenKind::Unknown => Self::Unknown,
            TokenKind::Added => Self::Added,
        }
    }
}

impl From<KindRecord> for TokenKind {
    fn from(kind: KindRecord) -> Self {
        let text = |continues, ends| Self::Text(Form { continues, ends });
        match kind {
            KindRecord::Plain => text(false, false),
            KindRecord::Ending => text(false, true),
            KindRecord::Continuing => text(true, false),
            KindRecord::ContinuingEnding => text(true, true),
            KindRecord::Byte => Self::Byte,
            KindRecord::Unknown => Self::Unknown,
            KindRecord::Added => Self::Added,
        }
    }
}

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|start| u8::from_str_radix(&digits[start..start + 2], 16).ok()).collect()
}
