//! Byte-pair encoding in every dialect: train, encode, decode.

mod error;
pub mod split;

pub use error::{Error, ErrorKind, Result};
