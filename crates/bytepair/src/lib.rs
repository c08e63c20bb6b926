//! Byte-pair encoding in every dialect: train, encode, decode.

mod count;
mod encode;
mod error;
mod hash;
mod pair_map;
mod piece_key;
pub mod split;
mod train;
mod units;
mod vocabulary;

pub use count::{First, PieceCounts};
pub use error::{Error, ErrorKind, Result};
pub use train::{Stop, Target, TrainOptions, TrainProgress, Trained, Ties, train};
pub use units::{ByteIds, EndMark, EndMarkKind, Unit, Units};
pub use vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};
