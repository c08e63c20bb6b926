//! What is asked about a tokenizer: the steps of a text, what a corpus uses, which tokens no text gives.

pub use crate::encode::{MergeStep, PieceCourse};
pub use crate::tokenizer::{
    Measure, Piece, SegmentPart, Sums, TextPart, Unreached, Usage, WithMissing,
};
