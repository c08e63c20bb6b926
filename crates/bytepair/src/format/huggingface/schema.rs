//! A `tokenizer.json` as it stands on disk: the fields that are understood, and no others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::format::json::two_parts;
use crate::vocabulary::TokenId;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File<'f, M> {
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
    /// A [`Model`], or what stands there.
    pub(super) model: M,
}

impl<'f, M> File<'f, M> {
    /// The model, and the file with another in its place.
    pub(super) fn with<N>(self, model: N) -> (M, File<'f, N>) {
        let Self { version, truncation, padding, added_tokens, normalizer, .. } = self;
        let Self { pre_tokenizer, post_processor, decoder, .. } = self;
        let file = File {
            version,
            truncation,
            padding,
            added_tokens,
            normalizer,
            pre_tokenizer,
            post_processor,
            decoder,
            model,
        };
        (self.model, file)
    }
}

/// What says whether a model is one of byte-pair encoding.
#[derive(Default, Deserialize)]
pub(super) struct ModelType<'f> {
    #[serde(default, rename = "type")]
    pub(super) name: Option<String>,
    #[serde(default, borrow)]
    vocab: Option<&'f RawValue>,
    #[serde(default, borrow)]
    pub(super) merges: Option<&'f RawValue>,
    #[serde(default, borrow)]
    max_input_chars_per_word: Option<&'f RawValue>,
}

impl ModelType<'_> {
    /// What a model without a type is, by the fields it has.
    pub(super) fn looks_like(&self) -> &'static str {
        if self.vocab.is_some_and(|vocab| vocab.get().starts_with('[')) {
            return "Unigram (vocab is a list of tokens with scores)";
        }
        if self.max_input_chars_per_word.is_some() {
            return "WordPiece (it has max_input_chars_per_word)";
        }
        match self.has_vocabulary_by_name() {
            true => "WordLevel (a vocab of names with ids, no merges)",
            false => "nothing known: there is no vocab",
        }
    }

    pub(super) fn has_vocabulary_by_name(&self) -> bool {
        self.vocab.is_some_and(|vocab| vocab.get().starts_with('{'))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model<'f> {
    #[serde(default, rename = "type")]
    pub(super) name: Option<String>,
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
    #[serde(borrow, deserialize_with = "entries")]
    pub(super) vocab: Vec<(Cow<'f, str>, TokenId)>,
    #[serde(borrow, deserialize_with = "merges")]
    pub(super) merges: Vec<(Cow<'f, str>, Cow<'f, str>)>,
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
    Strip {
        strip_left: bool,
        strip_right: bool,
    },
    StripAccents {},
    #[serde(rename = "BertNormalizer", alias = "Bert")]
    Bert {
        clean_text: bool,
        handle_chinese_chars: bool,
        #[serde(default)]
        strip_accents: Option<bool>,
        lowercase: bool,
    },
    Nmt {},
    ByteLevel {},
    Precompiled {
        precompiled_charsmap: Option<String>,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum PreTokenizer {
    Sequence {
        pretokenizers: Vec<PreTokenizer>,
    },
    Split {
        pattern: Pattern,
        behavior: String,
        invert: bool,
    },
    ByteLevel(ByteLevel),
    Metaspace(Metaspace),
    Whitespace {},
    WhitespaceSplit {},
    Digits {
        individual_digits: bool,
    },
    Punctuation {
        #[serde(default = "isolated")]
        behavior: String,
    },
    #[serde(rename = "BertPreTokenizer")]
    Bert {},
    CharDelimiterSplit {
        delimiter: char,
    },
    FixedLength {
        #[serde(default = "five")]
        length: usize,
    },
    UnicodeScripts {},
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ByteLevel {
    pub(super) add_prefix_space: bool,
    pub(super) trim_offsets: bool,
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
    WordPiece {
        prefix: String,
        cleanup: bool,
    },
    #[serde(rename = "CTC")]
    Ctc {
        pad_token: String,
        word_delimiter_token: String,
        cleanup: bool,
    },
}

#[derive(Deserialize)]
#[serde(tag = "type", deny_unknown_fields)]
pub(super) enum PostProcessor {
    Sequence {
        processors: Vec<PostProcessor>,
    },
    ByteLevel(ByteLevel),
    TemplateProcessing {
        single: Vec<Piece>,
        pair: Vec<Piece>,
        special_tokens: BTreeMap<String, SpecialToken>,
    },
    RobertaProcessing {
        sep: (String, TokenId),
        cls: (String, TokenId),
        trim_offsets: bool,
        add_prefix_space: bool,
    },
    BertProcessing {
        sep: (String, TokenId),
        cls: (String, TokenId),
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Piece {
    Sequence { id: String, type_id: u32 },
    SpecialToken { id: String, type_id: u32 },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SpecialToken {
    #[serde(rename = "id")]
    pub(super) _id: String,
    pub(super) ids: Vec<TokenId>,
    pub(super) tokens: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Truncation {
    #[serde(default)]
    pub(super) direction: Option<String>,
    pub(super) max_length: usize,
    pub(super) strategy: String,
    pub(super) stride: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Padding {
    pub(super) strategy: PaddingStrategy,
    pub(super) direction: String,
    #[serde(default)]
    pub(super) pad_to_multiple_of: Option<usize>,
    pub(super) pad_id: TokenId,
    pub(super) pad_type_id: u32,
    pub(super) pad_token: String,
}

#[derive(Deserialize)]
pub(super) enum PaddingStrategy {
    BatchLongest,
    Fixed(usize),
}

fn yes() -> bool {
    true
}

fn isolated() -> String {
    "Isolated".to_owned()
}

fn five() -> usize {
    5
}

fn always() -> String {
    "always".to_owned()
}

/// A string that is part of the file, or had to be put together.
struct Name<'f>(Cow<'f, str>);

impl<'de> Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor;
        impl<'de> Visitor<'de> for NameVisitor {
            type Value = Name<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_borrowed_str<E: de::Error>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }
            fn visit_str<E: de::Error>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(NameVisitor)
    }
}

/// Names and ids in the order of the file.
type Entries<'f> = Vec<(Cow<'f, str>, TokenId)>;

fn entries<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entries<'de>, D::Error> {
    struct EntriesVisitor;
    impl<'de> Visitor<'de> for EntriesVisitor {
        type Value = Entries<'de>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a map from tokens to ids")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'de>, A::Error> {
            let mut entries = Vec::new();
            while let Some(Name(name)) = map.next_key()? {
                let id = map
                    .next_value()
                    .map_err(|error| de::Error::custom(format!("the id of {name:?}: {error}")))?;
                entries.push((name, id));
            }
            Ok(entries)
        }
    }
    deserializer.deserialize_map(EntriesVisitor)
}

/// The two parts of each merge.
type Merges<'f> = Vec<(Cow<'f, str>, Cow<'f, str>)>;

fn merges<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Merges<'de>, D::Error> {
    struct MergesVisitor;
    impl<'de> Visitor<'de> for MergesVisitor {
        type Value = Merges<'de>;
        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("a list of merges")
        }
        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Merges<'de>, A::Error> {
            let mut merges = Vec::new();
            while let Some(Line(merge)) = list.next_element()? {
                merges.extend(merge);
            }
            Ok(merges)
        }
    }
    deserializer.deserialize_seq(MergesVisitor)
}

/// A merge as `["a", "b"]` or `"a b"`; no merge where the line names a version.
struct Line<'f>(Option<(Cow<'f, str>, Cow<'f, str>)>);

impl<'de> Deserialize<'de> for Line<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a merge: two tokens in a list, or in one string with a space between")
    }

    fn visit_borrowed_str<E: de::Error>(self, line: &'de str) -> Result<Line<'de>, E> {
        if line.starts_with("#version") {
            return Ok(Line(None));
        }
        let parts =
            two_parts(line).ok_or_else(|| E::invalid_value(de::Unexpected::Str(line), &self))?;
        Ok(Line(Some((Cow::Borrowed(parts.0), Cow::Borrowed(parts.1)))))
    }

    fn visit_str<E: de::Error>(self, line: &str) -> Result<Line<'de>, E> {
        if line.starts_with("#version") {
            return Ok(Line(None));
        }
        let parts =
            two_parts(line).ok_or_else(|| E::invalid_value(de::Unexpected::Str(line), &self))?;
        Ok(Line(Some((Cow::Owned(parts.0.to_owned()), Cow::Owned(parts.1.to_owned())))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Line<'de>, A::Error> {
        let missing = |length| de::Error::invalid_length(length, &self);
        let Name(left) = parts.next_element()?.ok_or_else(|| missing(0))?;
        let Name(right) = parts.next_element()?.ok_or_else(|| missing(1))?;
        match parts.next_element::<de::IgnoredAny>()? {
            Some(_) => Err(missing(3)),
            None => Ok(Line(Some((left, right)))),
        }
    }
}
