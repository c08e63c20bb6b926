//! A `tokenizer.json` as it stands on disk: the fields that are understood, and no others.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::format::json::{Entries, MergeNames};
use crate::vocabulary::TokenId;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File<'f> {
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default, borrow)]
    pub(super) truncation: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) padding: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) added_tokens: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) normalizer: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) pre_tokenizer: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) post_processor: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) decoder: Option<&'f RawValue>,
    #[serde(borrow)]
    pub(super) model: &'f RawValue,
}

#[derive(Deserialize)]
pub(super) struct ModelType {
    #[serde(default, rename = "type")]
    pub(super) name: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    #[serde(default, rename = "type")]
    pub(super) _name: Option<String>,
    #[serde(default)]
    pub(super) dropout: Option<f64>,
    #[serde(default)]
    pub(super) unk_token: Option<String>,
    #[serde(default)]
    pub(super) continuing_subword_prefix: Option<String>,
    #[serde(default)]
    pub(super) end_of_word_suffix: Option<String>,
    #[serde(default)]
    pub(super) fuse_unk: Option<bool>,
    #[serde(default)]
    pub(super) byte_fallback: Option<bool>,
    #[serde(default)]
    pub(super) ignore_merges: Option<bool>,
    pub(super) vocab: Entries,
    pub(super) merges: Vec<MergeNames>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the fields of the format")]
pub(super) struct Added {
    #[serde(rename = "id")]
    pub(super) _id: TokenId,
    pub(super) content: String,
    pub(super) single_word: bool,
    pub(super) lstrip: bool,
    pub(super) rstrip: bool,
    pub(super) normalized: bool,
    pub(super) special: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Pattern {
    String(String),
    Regex(String),
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum Normalizer {
    Sequence {
        normalizers: Vec<Normalizer>,
    },
    Lowercase {},
    #[serde(rename = "NFC")]
    Nfc {},
    #[serde(rename = "NFD")]
    Nfd {},
    #[serde(rename = "NFKC")]
    Nfkc {},
    #[serde(rename = "NFKD")]
    Nfkd {},
    Replace {
        pattern: Pattern,
        content: String,
    },
    Prepend {
        prepend: String,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum PreTokenizer {
    Sequence { pretokenizers: Vec<PreTokenizer> },
    Split { pattern: Pattern, behavior: String, invert: bool },
    ByteLevel(ByteLevel),
    Metaspace(Metaspace),
    Whitespace {},
    WhitespaceSplit {},
    Digits { individual_digits: bool },
    CharDelimiterSplit { delimiter: char },
}

/// Of these fields only the first and the last touch ids.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByteLevel {
    pub(super) add_prefix_space: bool,
    #[serde(rename = "trim_offsets")]
    pub(super) _trim_offsets: bool,
    #[serde(default = "yes")]
    pub(super) use_regex: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Metaspace {
    pub(super) replacement: char,
    #[serde(default = "always")]
    pub(super) prepend_scheme: String,
    #[serde(default)]
    pub(super) add_prefix_space: Option<bool>,
    #[serde(default)]
    pub(super) split: Option<bool>,
    #[serde(default, rename = "str_rep")]
    pub(super) _str_rep: Option<String>,
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum Decoder {
    Sequence {
        decoders: Vec<Decoder>,
    },
    ByteLevel(#[expect(dead_code, reason = "read to know its fields")] ByteLevel),
    Metaspace(Metaspace),
    #[serde(rename = "BPEDecoder")]
    Suffix {
        suffix: String,
    },
    Replace {
        pattern: Pattern,
        content: String,
    },
    ByteFallback {},
    Fuse {},
    Strip {
        content: char,
        start: usize,
        stop: usize,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum PostProcessor {
    Sequence {
        processors: Vec<PostProcessor>,
    },
    ByteLevel(#[expect(dead_code, reason = "read to know its fields")] ByteLevel),
    TemplateProcessing {
        single: Vec<Piece>,
        #[serde(rename = "pair")]
        _pair: Vec<Piece>,
        special_tokens: BTreeMap<String, SpecialToken>,
    },
    RobertaProcessing {
        sep: (String, TokenId),
        cls: (String, TokenId),
        #[serde(rename = "trim_offsets")]
        _trim_offsets: bool,
        #[serde(rename = "add_prefix_space")]
        _add_prefix_space: bool,
    },
    BertProcessing {
        sep: (String, TokenId),
        cls: (String, TokenId),
    },
}

#[derive(Deserialize)]
pub(super) enum Piece {
    Sequence {
        id: String,
        #[serde(rename = "type_id")]
        _type_id: u32,
    },
    SpecialToken {
        id: String,
        #[serde(rename = "type_id")]
        _type_id: u32,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecialToken {
    #[serde(rename = "id")]
    pub(super) _id: String,
    pub(super) ids: Vec<TokenId>,
    #[serde(rename = "tokens")]
    pub(super) _tokens: Vec<String>,
}

fn yes() -> bool {
    true
}

fn always() -> String {
    "always".to_owned()
}
