//! Byte-pair encoding in every dialect: train, encode, decode.

mod added;
mod batch;
mod code_units;
mod count;
pub mod csv;
mod decode;
mod describe;
mod dialect;
mod encode;
mod encoding;
mod error;
pub mod format;
mod fresh_pages;
mod graphemes;
mod hash;
mod in_order;
pub mod jsonl;
mod large_pages;
pub mod memory;
mod merge_table;
mod narrow;
mod normalize;
mod pair_map;
mod parallel;
mod piece_key;
#[cfg(target_arch = "x86_64")]
mod piece_row;
mod piece_starts;
mod pool;
mod prefetch;
pub mod pretokenize;
pub mod rows;
pub mod segment;
pub mod segmentation;
pub mod template;
mod tokenizer;
mod train;
mod units;
mod vocabulary;

pub use bytepair_split as split;
pub use bytepair_split::unicode;

pub use added::{AddedToken, Specials};
pub use batch::{Batch, GROUP_LEN, fits_one_thread};
pub use code_units::{CodeUnits, Text};
pub use count::{
    CorpusCounter, CorpusReport, CountRows, CountSums, Dropped, First, Part, PieceCounts,
    Preparation, SummedRows,
};
pub use decode::{
    Decode, DecodeChain, DecodeErrors, DecodeRules, DecodeStep, DecodeStream, LeadingSpaces,
    SentencePieceDecode,
};
pub use dialect::Dialect;
pub use encode::{Dropout, MergeStep, PieceCourse};
pub use encoding::Encoding;
pub use error::{CountProblem, Error, ErrorKind, Result};
pub use graphemes::graphemes;
pub use narrow::append_narrow;
pub use normalize::{
    Aligned, BertRules, CharsMap, NormalizeStep, Normalizer, SentencePiece, SentencePieceRules,
    TextPattern, UnicodeForm,
};
pub use pretokenize::PreTokenizer;
pub use template::Template;
pub use tokenizer::{
    AddedTokens, EncodeOptions, IdFormat, Measure, Parts, Piece, Reading, SegmentPart, Sums,
    TextPart, TokenCounter, Tokenizer, Unreached, Usage, WithMissing, WordsOrPair, Written,
};
pub use train::{
    CharacterLimits, Earlier, LeftOut, Stop, Target, Ties, TokenLimits, TrainOptions,
    TrainProgress, Trained, train,
};
pub use units::{ByteIds, EndMark, EndMarkKind, Missing, Unit, Units};
pub use vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};
