//! The template, the lengths and the rules for spans, to records and back.

use super::super::schema::{
    OffsetsRecord, PaddingRecord, PieceRecord, TemplateRecord, TruncationRecord,
};
use bytepair::template::{OffsetRules, Padding, Sequence, Template, TemplatePiece, Truncation};

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
            TemplatePiece::Special { ids, type_id, names } => Self::Special { ids, type_id, names },
        }
    }
}

impl From<PieceRecord> for TemplatePiece {
    fn from(record: PieceRecord) -> Self {
        match record {
            PieceRecord::First { type_id } => Self::Text { which: Sequence::First, type_id },
            PieceRecord::Second { type_id } => Self::Text { which: Sequence::Second, type_id },
            PieceRecord::Special { ids, type_id, names } => Self::Special { ids, type_id, names },
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
