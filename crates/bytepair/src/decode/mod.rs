//! Token ids to bytes, and bytes to text that is complete at every step.
//!
//! [`Tokenizer::decode`](crate::Tokenizer::decode) and [`DecodeStream`](crate::DecodeStream) apply what is here to the tokens of
//! a vocabulary. Two ways: [`DecodeRules`] (`rules`), ours and fast, and [`DecodeChain`] (`chain`), the list of steps of a
//! published file run literally, where no rules say the same. Decoding all at once goes the way of a stream, through the
//! same joiner or the same steps. Takes time linear in the bytes given out, a chain for each of its steps.

pub(crate) mod chain;
pub(crate) mod rules;
pub(crate) mod sentencepiece;
pub(crate) mod stream;
pub(crate) mod utf8;

use serde::{Deserialize, Serialize};

pub use self::chain::{DecodeChain, DecodeStep};
pub use self::rules::DecodeRules;
pub use self::sentencepiece::{LeadingSpaces, SentencePieceDecode};

/// How tokens become text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Decode {
    /// By their bytes, and what is undone in them.
    Rules(DecodeRules),
    /// By steps over the tokens as they are written.
    Chain(DecodeChain),
    /// As SentencePiece joins tokens.
    #[serde(rename = "sentencepiece")]
    SentencePiece(SentencePieceDecode),
}

impl Default for Decode {
    /// Nothing is undone.
    fn default() -> Self {
        Self::Rules(DecodeRules::default())
    }
}

impl From<DecodeRules> for Decode {
    fn from(rules: DecodeRules) -> Self {
        Self::Rules(rules)
    }
}

impl From<DecodeChain> for Decode {
    fn from(chain: DecodeChain) -> Self {
        Self::Chain(chain)
    }
}

impl From<SentencePieceDecode> for Decode {
    fn from(rules: SentencePieceDecode) -> Self {
        Self::SentencePiece(rules)
    }
}

/// What becomes of bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DecodeErrors {
    /// Each maximal invalid sequence becomes U+FFFD; in a run of byte tokens that counts as a whole, each
    /// byte.
    #[default]
    Replace,
    /// They are an error.
    Strict,
    /// They are left out.
    Ignore,
}
