//! A `.bytepair` file as it stands on disk: the fields of version 2, and no others.
//!
//! The names and the order of a record's fields are the format: a change here changes files and
//! fingerprints. [`File`] itself is only read; `write` puts its fields out one by one, under the same
//! names. Left out: what the values mean, which `read` and `write` know, each in its direction.

use serde::{Deserialize, Serialize};

use bytepair::vocabulary::TokenId;

/// The fields of a file, in the order in which they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) unicode: String,
    pub(super) normalizer: Vec<StepRecord>,
    pub(super) rounds: Vec<RoundRecord>,
    pub(super) units: UnitsRecord,
    pub(super) ignore_merges: bool,
    pub(super) dropout: Option<f64>,
    pub(super) template: TemplateRecord,
    pub(super) truncation: Option<TruncationRecord>,
    pub(super) padding: Option<PaddingRecord>,
    pub(super) offsets: OffsetsRecord,
    pub(super) decode: DecodeRecord,
    pub(super) added_tokens: Vec<AddedRecord>,
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
        form: FormRecord,
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
        flavour: FlavourRecord,
        to: String,
    },
    Strip {
        left: bool,
        right: bool,
    },
    StripAccents {},
    Bert {
        clean_text: bool,
        handle_chinese_chars: bool,
        strip_accents: Option<bool>,
        lowercase: bool,
    },
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

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum LeadingRecord {
    Stay,
    OneGoes,
    EachGoes,
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
pub(super) struct RoundRecord {
    pub(super) change: Vec<StepRecord>,
    pub(super) split: Vec<StageRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageRecord {
    pub(super) pattern: String,
    pub(super) flavour: FlavourRecord,
    pub(super) behaviour: BehaviourRecord,
    pub(super) invert: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FlavourRecord {
    Rust,
    Oniguruma,
    Cutter,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BehaviourRecord {
    Isolated,
    Removed,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
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
    pub(super) missing: MissingRecord,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum UnitRecord {
    PrintableByte,
    ByteValue,
    Character,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum MissingRecord {
    Error,
    Drop,
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
    pub(super) single: Vec<PieceRecord>,
    pub(super) pair: Vec<PieceRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum PieceRecord {
    First {
        type_id: u32,
    },
    Second {
        type_id: u32,
    },
    Special {
        ids: Vec<TokenId>,
        type_id: u32,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        names: Vec<String>,
    },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SideRecord {
    Left,
    Right,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StrategyRecord {
    LongestFirst,
    OnlyFirst,
    OnlySecond,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TruncationRecord {
    pub(super) max_length: usize,
    pub(super) stride: usize,
    pub(super) strategy: StrategyRecord,
    pub(super) side: SideRecord,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PaddingRecord {
    pub(super) length: Option<usize>,
    pub(super) multiple_of: Option<usize>,
    pub(super) side: SideRecord,
    pub(super) id: TokenId,
    pub(super) type_id: u32,
    pub(super) token: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OffsetsRecord {
    pub(super) trim: bool,
    pub(super) prefix_space: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum DecodeRecord {
    Rules {
        replacements: Vec<(String, String)>,
        n_leading_spaces: usize,
        first_without: Option<String>,
        whole_byte_runs: bool,
    },
    Chain {
        steps: Vec<DecodeStepRecord>,
        separator: String,
    },
    Sentencepiece {
        leading: LeadingRecord,
        unknown: String,
        controls: Vec<String>,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum DecodeStepRecord {
    ByteLevel {},
    Metaspace { replacement: char, drops_first: bool },
    Suffix { suffix: String },
    ByteFallback {},
    Fuse {},
    Strip { content: char, start: usize, stop: usize },
    Replace { from: String, to: String },
    ReplacePattern { pattern: String, to: String },
    WordPiece { prefix: String, cleanup: bool },
    Ctc { pad: String, delimiter: String, cleanup: bool },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of an added token")]
pub(super) struct AddedRecord {
    pub(super) id: TokenId,
    pub(super) content: String,
    pub(super) special: bool,
    pub(super) normalized: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
    pub(super) single_word: bool,
    /// Left out where it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) whole_piece: bool,
    /// Left out where it is not so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) in_model: bool,
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
