//! What becomes of the names of special tokens in a text.

use bytepair::{EncodeOptions, Specials};
use serde::Deserialize;

/// What becomes of the names of special tokens in a text.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Special {
    /// They are these tokens, as with `allowed_special="all"` in Python.
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
