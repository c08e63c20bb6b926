//! A `.bytepair` file as it stands on disk: the fields of version 1, and no others.
//!
//! The names and the order of a record's fields are the format: a change here changes files and
//! fingerprints. [`File`] itself is only read; `write` puts its fields out one by one, under the same
//! names. Left out: what the values mean, which `read` and `write` know, each in its direction.

use serde::{Deserialize, Serialize};

use crate::vocabulary::TokenId;

/// The fields of a file, in the order in which they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) unicode: String,
    pub(super) normalizer: Vec<StepRecord>,
    pub(super) split: Vec<StageRecord>,
    pub(super) units: UnitsRecord,
    pub(super) ignore_merges: bool,
    pub(super) template: TemplateRecord,
    pub(super) decode: DecodeRecord,
    pub(super) added_tokens: Vec<AddedRecord>,
    pub(super) tokens: Vec<Option<TokenRecord>>,
    pub(super) merges: Vec<[TokenId; 3]>,
    pub(super) merge_counts: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum StepRecord {
    Lowercase {},
    Form { form: FormRecord },
    Replace { from: String, to: String },
    Prepend { text: String, only_first: bool, unless_there: bool },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FormRecord {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageRecord {
    pub(super) pattern: String,
    pub(super) flavour: FlavourRecord,
    pub(super) unmatched: UnmatchedRecord,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FlavourRecord {
    Rust,
    Oniguruma,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnmatchedRecord {
    Keep,
    Drop,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitsRecord {
    pub(super) unit: UnitRecord,
    pub(super) end_mark: Option<EndMarkRecord>,
    pub(super) continuing_prefix: Option<String>,
    pub(super) unknown: Option<String>,
    pub(super) fuse_unknown: bool,
    pub(super) byte_fallback: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnitRecord {
    PrintableByte,
    ByteValue,
    Character,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EndMarkRecord {
    pub(super) text: String,
    pub(super) kind: MarkKindRecord,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MarkKindRecord {
    Unit,
    Suffix,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TemplateRecord {
    pub(super) before: Vec<TokenId>,
    pub(super) after: Vec<TokenId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DecodeRecord {
    pub(super) replacements: Vec<(String, String)>,
    pub(super) n_leading_spaces: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AddedRecord {
    pub(super) id: TokenId,
    pub(super) content: String,
    pub(super) special: bool,
    pub(super) normalized: bool,
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
