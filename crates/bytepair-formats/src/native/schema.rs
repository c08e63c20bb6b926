//! A `.bytepair` file as it stands on disk: the fields of version 2, and no others.
//!
//! Parts that are plain data say by their own `serde` attributes how they are written. Records stand here for what a
//! tokenizer holds in another form: patterns and character maps, which are compiled, and tokens, which are bytes.
//!
//! The names and the order of the fields of parts and records are the format: a change changes files and
//! fingerprints. [`File`] itself is only read; `write` puts its fields out one by one, under the same names.

use serde::{Deserialize, Serialize};

use bytepair::added::AddedToken;
use bytepair::decode::Decode;
use bytepair::normalize::{BertRules, UnicodeForm};
use bytepair::template::{OffsetRules, Padding, Template, Truncation};
use bytepair::units::Units;
use bytepair::vocabulary::TokenId;
use bytepair_split::{Behaviour, Flavour};

/// The fields of a file, in the order in which they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) unicode: String,
    pub(super) normalizer: Vec<StepRecord>,
    pub(super) rounds: Vec<RoundRecord>,
    pub(super) units: Units,
    pub(super) ignore_merges: bool,
    pub(super) dropout: Option<f64>,
    pub(super) template: Template,
    pub(super) truncation: Option<Truncation>,
    pub(super) padding: Option<Padding>,
    pub(super) offsets: OffsetRules,
    pub(super) decode: Decode,
    pub(super) added_tokens: Vec<AddedToken>,
    pub(super) tokens: Vec<Option<TokenRecord>>,
    pub(super) merges: Vec<[TokenId; 3]>,
    pub(super) priorities: Vec<u32>,
    pub(super) merge_counts: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StepRecord {
    Lowercase {},
    Form {
        form: UnicodeForm,
    },
    Replace {
        from: String,
        to: String,
    },
    Prepend {
        text: String,
        only_first: bool,
        unless_there: bool,
    },
    ReplaceMatches {
        pattern: String,
        #[serde(with = "FlavourRecord")]
        flavour: Flavour,
        to: String,
    },
    Strip {
        left: bool,
        right: bool,
    },
    StripAccents {},
    Bert(BertRules),
    Nmt {},
    ByteChars {},
    Precompiled {
        charsmap: String,
    },
    Sentencepiece(SentencePieceRecord),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
pub(super) struct SentencePieceRecord {
    /// In base64; empty where there is none.
    pub(super) charsmap: String,
    pub(super) verbatim: Vec<String>,
    pub(super) adds_space: bool,
    pub(super) removes_extra_spaces: bool,
    pub(super) escapes_spaces: bool,
    pub(super) space_is_suffix: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoundRecord {
    pub(super) change: Vec<StepRecord>,
    pub(super) split: Vec<StageRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageRecord {
    pub(super) pattern: String,
    #[serde(with = "FlavourRecord")]
    pub(super) flavour: Flavour,
    #[serde(with = "BehaviourRecord")]
    pub(super) behaviour: Behaviour,
    pub(super) invert: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Flavour", rename_all = "snake_case")]
enum FlavourRecord {
    Rust,
    Oniguruma,
    Cutter,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Behaviour", rename_all = "snake_case")]
enum BehaviourRecord {
    Isolated,
    Removed,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

/// A plain text, or a token that needs more words.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum TokenRecord {
    Plain(String),
    Marked(MarkedRecord),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MarkedRecord {
    pub(super) kind: KindRecord,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<String>,
    /// The bytes in hexadecimal, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) hex: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum KindRecord {
    Plain,
    Ending,
    Continuing,
    ContinuingEnding,
    Byte,
    Unknown,
    Added,
}
