//! Messages: the JSON and the bytes of a request and of its answer. Also the errors of requests, an option that several
//! requests have, and open tokenizers.

use bytepair::added::Specials;
use bytepair::train::Ties;
use bytepair::{EncodeOptions, Tokenizer};
use serde::Deserialize;
use serde_json::Value;

/// The result of an operation: fields of JSON, and bytes.
pub(crate) struct Answer {
    pub(crate) fields: Value,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(fields: Value) -> Self {
        Self { fields, bytes: Vec::new() }
    }
}

/// Splits a message into its JSON and its bytes.
pub(crate) fn parts(message: &[u8]) -> Result<(&[u8], &[u8]), Problem> {
    let split = message.split_at_checked(4).and_then(|(len, rest)| {
        let len = u32::from_le_bytes(len.try_into().ok()?);
        rest.split_at_checked(usize::try_from(len).ok()?)
    });
    split.ok_or_else(|| Problem::new("the request is shorter than it says"))
}

/// A message with this JSON and these bytes.
pub(crate) fn joined(fields: &Value, bytes: &[u8]) -> Vec<u8> {
    let fields = fields.to_string();
    let len = u32::try_from(fields.len()).unwrap_or(u32::MAX).to_le_bytes();
    [&len[..], fields.as_bytes(), bytes].concat()
}

/// Numbers as bytes, one list after another.
pub(crate) fn numbers(lists: &[&[u32]]) -> Vec<u8> {
    lists.iter().flat_map(|list| list.iter().flat_map(|number| number.to_le_bytes())).collect()
}

/// A sentence that says what is wrong.
pub(crate) struct Problem(pub(crate) String);

impl Problem {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<bytepair::Error> for Problem {
    fn from(error: bytepair::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self(format!("the request is not understood: {error}"))
    }
}

/// What happens to the names of special tokens in a text.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Special {
    /// They are special tokens, as with `allowed_special="all"` in Python.
    Tokens,
    /// They are text, as in Python by default.
    Text,
}

impl Special {
    pub(crate) fn options(self) -> EncodeOptions<'static> {
        let allowed_special = match self {
            Self::Tokens => Specials::All,
            Self::Text => Specials::None,
        };
        EncodeOptions { allowed_special, ..EncodeOptions::default() }
    }
}

/// An open tokenizer.
pub(crate) struct Opened {
    pub(crate) tokenizer: Tokenizer,
    /// The name of its file, or of its dialect.
    pub(crate) name: String,
    /// The format of its file; `None` if it was trained here.
    pub(crate) format: Option<&'static str>,
    /// What it was trained on, if it was trained here.
    pub(crate) course: Option<Course>,
}

/// What a tokenizer was trained on, to show the steps of its training.
pub(crate) struct Course {
    /// The distinct pieces with their counts, by first occurrence; `None` if they are too long.
    pub(crate) pieces: Option<Vec<(Vec<u8>, i64)>>,
    /// The bytes of all pieces, counting repeated ones.
    pub(crate) n_bytes: i64,
    /// Which of several equally frequent pairs was merged first.
    pub(crate) ties: Ties,
}
