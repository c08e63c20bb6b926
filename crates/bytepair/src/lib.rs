//! Byte-pair encoding in every dialect: train, encode, decode.

mod error;
mod hash;
mod pair_map;
pub mod split;
mod units;
mod vocabulary;

pub use error::{Error, ErrorKind, Result};
pub use units::{ByteIds, EndMark, EndMarkKind, Unit, Units};
pub use vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};
