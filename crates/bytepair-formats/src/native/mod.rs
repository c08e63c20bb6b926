//! The project's own format, `.bytepair`: every tokenizer, whole.
//!
//! One JSON object, with one token and one merge on each line, so that two tokenizers can be compared
//! by `diff`. The same tokenizer gives the same bytes. A token is a string where it is plain text, an
//! object where it has a kind or is not UTF-8, and `null` for an id without a token. Reading checks
//! every id, and refuses fields, versions and Unicode tables that this version of the program lacks.
//!
//! [`fingerprint`] is the SHA-256 of what decides ids and text: all but the counts of the merges.
//!
//! Parts that are plain data are read and written by their own `serde` attributes. `schema` is the file as it stands on
//! disk, with records for the others, which `steps` and `tokens` take both ways. `read` makes a tokenizer of the file,
//! `write` the file of a tokenizer.

mod naming;
mod read;
mod schema;
mod steps;
mod tokens;
mod write;

pub use self::read::read;
pub(crate) use self::read::read_head;
pub(crate) use self::write::write_head;
pub use self::write::{fingerprint, write};

/// The name of the format in messages.
const FORMAT: &str = ".bytepair";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 2;
