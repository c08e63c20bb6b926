//! A `tokenizer.json`, put together for files that say less than one.
//!
//! Older models are published as a vocabulary and merges; the rest of their pipeline is known from their programs and
//! stands here, once for each. What a format has of its own is filled in by its reader. Linear in the vocabulary.

use serde_json::{Map, Value, json};

use super::huggingface::Added;
use bytepair::vocabulary::TokenId;

/// How a text becomes pieces, and ids a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pipeline {
    /// GPT-2's bytes and pattern.
    Bytes {
        /// Whether a space is put before a text that begins without one.
        prefix_space: bool,
    },
    /// Qwen's: NFC, and a pattern of its own.
    Qwen2 {
        /// As for `Bytes`.
        prefix_space: bool,
    },
    /// CLIP's: lower case, words that end in `</w>`, of bytes.
    Clip,
    /// GPT-1's: Bert's words in lower case, which end in `</w>`, of characters.
    Gpt1,
    /// Falcon's: punctuation, then GPT-2's bytes and pattern, then the digits among the characters that stand
    /// for bytes, which cuts through characters such as `²`.
    Falcon {
        /// Whether runs of digits are cut into three at a time, as in the first models, or into single ones.
        triples: bool,
    },
}

impl Pipeline {
    /// What marks the end of a word; often nothing.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Bytes { .. } | Self::Qwen2 { .. } | Self::Falcon { .. } => "",
            Self::Clip | Self::Gpt1 => "</w>",
        }
    }

    fn normalizer(self) -> Value {
        match self {
            Self::Bytes { .. } | Self::Falcon { .. } => Value::Null,
            Self::Qwen2 { .. } => json!({"type": "NFC"}),
            Self::Clip => json!({"type": "Sequence", "normalizers": [
                {"type": "NFC"},
                {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
                {"type": "Lowercase"}
            ]}),
            Self::Gpt1 => json!({
                "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
                "strip_accents": null, "lowercase": true
            }),
        }
    }

    fn pre_tokenizer(self) -> Value {
        match self {
            Self::Bytes { prefix_space } => byte_level(prefix_space),
            Self::Qwen2 { prefix_space } => in_a_row(&[
                split(&named("qwen2"), "Isolated", false),
                uncut_byte_level(prefix_space),
            ]),
            Self::Clip => in_a_row(&[split(&named("clip"), "Removed", true), byte_level(false)]),
            Self::Gpt1 => json!({"type": "BertPreTokenizer"}),
            Self::Falcon { triples } => {
                let mut row = vec![
                    json!({"type": "Punctuation", "behavior": "Contiguous"}),
                    byte_level(false),
                    json!({"type": "Digits", "individual_digits": !triples}),
                ];
                row.extend(triples.then(|| split("[0-9][0-9][0-9]", "Isolated", false)));
                in_a_row(&row)
            }
        }
    }

    fn decoder(self) -> Value {
        match self {
            Self::Gpt1 => json!({"type": "BPEDecoder", "suffix": self.suffix()}),
            _ => byte_level(true),
        }
    }
}

/// A published pattern of one stage, in Oniguruma's flavour.
fn named(name: &str) -> String {
    let stages = bytepair_split::named(name).unwrap_or_default();
    stages.into_iter().map(|stage| stage.pattern.source).collect()
}

/// Bytes cut by GPT-2's pattern.
fn byte_level(prefix_space: bool) -> Value {
    json!({"type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": true})
}

/// Bytes that are cut already.
fn uncut_byte_level(prefix_space: bool) -> Value {
    json!({
        "type": "ByteLevel", "add_prefix_space": prefix_space, "trim_offsets": true,
        "use_regex": false
    })
}

fn split(pattern: &str, behaviour: &str, invert: bool) -> Value {
    json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": behaviour, "invert": invert})
}

fn in_a_row(cutters: &[Value]) -> Value {
    json!({"type": "Sequence", "pretokenizers": cutters})
}

/// Two special tokens, each with its id, around a text, and between two.
pub(super) fn roberta(
    first: (&str, TokenId),
    last: (&str, TokenId),
    trim_offsets: bool,
    prefix_space: bool,
) -> Value {
    json!({
        "type": "RobertaProcessing", "sep": [last.0, last.1], "cls": [first.0, first.1],
        "trim_offsets": trim_offsets, "add_prefix_space": prefix_space
    })
}

/// What a reader fills in.
pub(super) struct Document<'f> {
    pub(super) pipeline: Pipeline,
    pub(super) added_tokens: Vec<Added>,
    pub(super) post_processor: Value,
    pub(super) unknown: Option<String>,
    pub(super) vocab: Map<String, Value>,
    pub(super) merges: Vec<[&'f str; 2]>,
}

impl Document<'_> {
    /// The content of the file.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        let Self { pipeline, added_tokens, post_processor, unknown, vocab, merges } = self;
        let file = json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": added_tokens,
            "normalizer": pipeline.normalizer(),
            "pre_tokenizer": pipeline.pre_tokenizer(),
            "post_processor": post_processor,
            "decoder": pipeline.decoder(),
            "model": {
                "type": "BPE", "dropout": null, "unk_token": unknown,
                "continuing_subword_prefix": "", "end_of_word_suffix": pipeline.suffix(),
                "fuse_unk": false, "vocab": vocab, "merges": merges
            }
        });
        file.to_string().into_bytes()
    }
}
