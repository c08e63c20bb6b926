//! Byte-pair encoding in every dialect: train, encode, decode.

mod added;
mod batch;
mod count;
mod decode;
mod describe;
mod dialect;
mod encode;
mod error;
pub mod format;
mod hash;
mod normalize;
mod pair_map;
mod piece_key;
mod pool;
mod slots;
pub mod split;
mod tokenizer;
mod train;
pub mod unicode;
mod units;
mod vocabulary;

pub use added::{AddedToken, Specials};
pub use batch::Batch;
pub use count::{CorpusCounter, CorpusReport, First, PieceCounts, Preparation};
pub use decode::{DecodeErrors, DecodeRules};
pub use dialect::Dialect;
pub use error::{Error, ErrorKind, Result};
pub use normalize::{NormalizeStep, Normalizer, UnicodeForm};
pub use tokenizer::{DecodeStream, EncodeOptions, Parts, Template, Tokenizer};
pub use train::{Stop, Target, Ties, TrainOptions, TrainProgress, Trained, train};
pub use units::{ByteIds, EndMark, EndMarkKind, Unit, Units};
pub use vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};
