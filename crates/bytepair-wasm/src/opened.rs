//! Tokenizers that are open.

use std::sync::Arc;

use bytepair::{Ties, TokenId, Tokenizer};

/// A tokenizer that is open.
pub(crate) struct Opened {
    pub(crate) tokenizer: Arc<Tokenizer>,
    /// The name of its file, or of its dialect.
    pub(crate) name: String,
    /// The format of its file; `None` if it was trained here.
    pub(crate) format: Option<&'static str>,
    /// What it was trained on, if it was trained here.
    pub(crate) course: Option<Course>,
}

/// What a tokenizer was trained on, for walking through its training.
pub(crate) struct Course {
    /// The distinct pieces with their counts, in the order of their first occurrence; `None` if they are too long.
    pub(crate) pieces: Option<Vec<(Vec<u8>, i64)>>,
    /// Left part, right part and result of each merge, and how often the pair occurred.
    pub(crate) merges: Vec<([TokenId; 3], i64)>,
    /// Bytes of all pieces, repeated ones too.
    pub(crate) n_bytes: i64,
    /// Which of several equally frequent pairs was merged first.
    pub(crate) ties: Ties,
}
