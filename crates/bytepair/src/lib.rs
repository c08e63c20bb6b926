//! Byte-pair encoding in every dialect: train, encode, decode.

mod error;
pub mod split;
pub mod unicode;

pub use error::{Error, ErrorKind, Result};
