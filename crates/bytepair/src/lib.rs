//! Byte-pair encoding in every dialect: train, encode, decode.
//!
//! Parts of a tokenizer that are plain data have `serde` attributes, which define how the part is written in a
//! `.bytepair` file. Renaming, moving or adding a field there changes files and fingerprints.
//!
//! Structs of options are built with `..Default::default()`, so that a new option breaks no caller; results are
//! `#[non_exhaustive]`. Enums of parts can be matched exhaustively: a writer that misses a new part does not compile.

pub mod added;
mod batch;
pub mod count;
pub mod decode;
mod describe;
pub mod dialect;
mod dictionary;
pub mod documents;
mod encode;
mod encoding;
mod error;
#[doc(hidden)]
pub mod for_formats;
mod forbidden;
mod hash;
pub mod memory;
pub mod normalize;
mod parallel;
mod patch;
mod piece;
pub mod pretokenize;
mod scope;
pub mod segment;
pub mod serving;
mod sink;
pub mod surgery;
pub mod template;
mod tokenizer;
pub mod train;
pub mod units;
pub mod vocabulary;

pub use bytepair_split as split;
pub use bytepair_split::unicode;

pub use batch::fits_one_thread;
pub use encode::Dropout;
pub use encoding::Encoding;
pub use error::{Error, ErrorKind, Result};
pub use forbidden::Forbidden;
pub use scope::Scope;
pub use segment::graphemes;
pub use sink::{Batch, Number, Sink};
#[doc(hidden)]
pub use tokenizer::by_definition;
pub use tokenizer::{
    AddedTokens, DecodeStream, EncodeOptions, IdFile, IdFormat, Parts, Reading, SegmentIds,
    Session, TextSegment, Tokenizer, WordsOrPair,
};

/// Whether thresholds are small, so that the short inputs of unit tests lie on both sides of them. Unit tests that are
/// compiled with `BYTEPAIR_THRESHOLDS` set use those of production.
const SMALL: bool = cfg!(test) && option_env!("BYTEPAIR_THRESHOLDS").is_none();

/// Questions about a tokenizer: the steps of a text, what a corpus uses, which tokens no text gives.
pub mod inspect {
    pub use crate::encode::{MergeStep, PieceCourse};
    pub use crate::tokenizer::{Measure, Piece, Sums, TextPart, Unreached, Usage, WithMissing};
}

/// The examples of the README are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// Building blocks for the tests of several modules.
#[cfg(test)]
mod test_support {
    use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched, unicode::UnicodeTables};

    use crate::added::AddedToken;
    use crate::normalize::{NormalizeStep, Normalizer};
    use crate::vocabulary::{Token, Vocabulary};

    /// Texts as tokens, whose ids are their indices.
    pub(crate) fn texts_vocabulary(texts: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        for text in texts {
            vocabulary.push(Token::plain(text.as_bytes())).unwrap();
        }
        vocabulary
    }

    /// All bytes, whose ids are their values.
    pub(crate) fn bytes_vocabulary() -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        (0..=255).for_each(|byte| drop(vocabulary.push(Token::plain(&[byte]))));
        vocabulary
    }

    pub(crate) fn added_token(content: &str) -> AddedToken {
        AddedToken { content: content.to_owned(), ..AddedToken::default() }
    }

    pub(crate) fn pattern(source: &str, flavour: Flavour) -> Pattern {
        Pattern { source: source.to_owned(), flavour }
    }

    pub(crate) fn splitter(source: &str, unmatched: Unmatched) -> Splitter {
        let stage = Stage::matches(pattern(source, Flavour::Rust), unmatched);
        Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap()
    }

    pub(crate) fn normalizer(steps: Vec<NormalizeStep>) -> Normalizer {
        Normalizer::new(steps, UnicodeTables::latest())
    }

    pub(crate) fn replace(from: &str, to: &str) -> NormalizeStep {
        NormalizeStep::Replace { from: from.to_owned(), to: to.to_owned() }
    }

    pub(crate) fn prepend(text: &str, only_first: bool, unless_there: bool) -> NormalizeStep {
        NormalizeStep::Prepend { text: text.to_owned(), only_first, unless_there }
    }
}
