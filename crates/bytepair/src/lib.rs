//! Byte-pair encoding in every dialect: train, encode, decode.
//!
//! Parts of a tokenizer that are plain data have `serde` attributes: they say how the part stands in a
//! `.bytepair` file. To rename, move or add a field there changes files and fingerprints.

pub mod added;
mod batch;
mod count;
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
mod graphemes;
mod hash;
mod id_width;
pub mod memory;
pub mod normalize;
mod parallel;
mod piece;
pub mod pretokenize;
mod scope;
pub mod segment;
mod shown;
mod sink;
pub mod surgery;
pub mod template;
mod tokenizer;
mod train;
pub mod units;
pub mod vocabulary;

pub use bytepair_split as split;
pub use bytepair_split::unicode;

pub use added::{AddedToken, Specials};
pub use batch::fits_one_thread;
pub use count::{
    AsEncoded, CorpusCounter, CorpusReport, CountRows, CountSums, Dropped, EncodedPart, First,
    Part, PieceCounts, Preparation, SummedRows,
};
pub use decode::{
    Decode, DecodeChain, DecodeErrors, DecodeRules, DecodeStep, LeadingSpaces, SentencePieceDecode,
};
pub use dialect::Dialect;
pub use encode::{Dropout, MergeStep, PieceCourse};
pub use encoding::Encoding;
pub use error::{CountProblem, Error, ErrorKind, Result};
pub use graphemes::graphemes;
pub use id_width::Number;
pub use normalize::{
    Aligned, BertRules, CharsMap, NormalizeStep, Normalizer, SentencePiece, SentencePieceRules,
    TextPattern, UnicodeForm,
};
pub use pretokenize::PreTokenizer;
pub use scope::Scope;
pub use sink::{Batch, Sink};
pub use template::Template;
pub use tokenizer::{
    AddedTokens, DecodeStream, EncodeOptions, IdFile, IdFormat, Measure, Parts, Piece, Reading,
    SegmentPart, Sums, TextPart, TokenCounter, Tokenizer, Unreached, Usage, WithMissing,
    WordsOrPair,
};
pub use train::{
    CharacterLimits, Earlier, LeftOut, Stop, Target, Ties, TokenLimits, TrainOptions,
    TrainProgress, Trained, train,
};
pub use units::{ByteIds, EndMark, EndMarkKind, Missing, Unit, Units};
pub use vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
