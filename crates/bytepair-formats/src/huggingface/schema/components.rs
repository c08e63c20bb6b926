//! The components of a `tokenizer.json` as they stand there, by the library's own rules of reading them.
//!
//! Rows of components are read flat, since a sequence in a sequence says no more than one. Older files have
//! components without a type; these are told by their fields, in the library's order. A post-processor is always
//! told by its fields there, whatever its type says: one that calls itself `BertProcessing` and has the fields
//! of `RobertaProcessing` is the latter.

use super::node::{Node, Repeated, problem};
use crate::huggingface::stages::BEHAVIOURS;
use bytepair::normalize::{BertRules, UnicodeForm};
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};
use bytepair_split::Behaviour;

/// A component and its place.
#[derive(Debug)]
pub(crate) struct Placed<T> {
    pub(crate) path: String,
    pub(crate) is: T,
}

impl<T> Placed<T> {
    /// An error about a field of the component.
    pub(crate) fn problem(&self, field: &str, what: impl Into<String>) -> Error {
        problem(&format!("{}.{field}", self.path), what)
    }
}

/// The form of what is looked for.
#[derive(Debug)]
pub(crate) enum Pattern {
    String(String),
    Regex(String),
}

fn pattern(node: &Node<'_>) -> Result<Pattern> {
    let problem = || node.problem(r#"expected {"String": …} or {"Regex": …}"#);
    let (kind, content) = node.variant().map_err(|_| problem())?;
    let text = content.ok_or_else(problem)?.text()?.to_owned();
    match kind {
        "String" => Ok(Pattern::String(text)),
        "Regex" => Ok(Pattern::Regex(text)),
        _ => Err(problem()),
    }
}

fn owned(node: &Node<'_>, field: &str) -> Result<String> {
    Ok(node.required(field)?.text()?.to_owned())
}

fn flag(node: &Node<'_>, field: &str) -> Result<bool> {
    node.required(field)?.flag()
}

/// A flag that may be missing, but not null.
fn flag_or(node: &Node<'_>, field: &str, default: bool) -> Result<bool> {
    node.get(field)?.map_or(Ok(default), |field| field.flag())
}

fn no_type(node: &Node<'_>) -> Error {
    node.problem("has no type, and no component without a type has these fields")
}

/// A step of the normalizer.
#[derive(Debug)]
pub(crate) enum Normalizer {
    Lowercase,
    Form(UnicodeForm),
    Replace { pattern: Pattern, content: String },
    Prepend(String),
    Strip { left: bool, right: bool },
    StripAccents,
    Bert(BertRules),
    Nmt,
    ByteLevel,
    Precompiled(String),
}

const NORMALIZERS: &[&str] = &[
    "Sequence",
    "Bert",
    "BertNormalizer",
    "Strip",
    "StripAccents",
    "NFC",
    "NFD",
    "NFKC",
    "NFKD",
    "Lowercase",
    "Nmt",
    "Precompiled",
    "Replace",
    "Prepend",
    "ByteLevel",
];

pub(crate) fn push_normalizers(node: &Node<'_>, steps: &mut Vec<Placed<Normalizer>>) -> Result<()> {
    let kind = match node.kind(NORMALIZERS)? {
        Some(kind) => kind,
        None => normalizer_by_fields(node).ok_or_else(|| no_type(node))?,
    };
    let is = match kind {
        "Sequence" => {
            let items = node.required("normalizers")?.items()?;
            return items.iter().try_for_each(|item| push_normalizers(item, steps));
        }
        "Bert" | "BertNormalizer" => Normalizer::Bert(bert_rules(node)?),
        "Strip" => {
            Normalizer::Strip { left: flag(node, "strip_left")?, right: flag(node, "strip_right")? }
        }
        "StripAccents" => Normalizer::StripAccents,
        "NFC" => Normalizer::Form(UnicodeForm::Nfc),
        "NFD" => Normalizer::Form(UnicodeForm::Nfd),
        "NFKC" => Normalizer::Form(UnicodeForm::Nfkc),
        "NFKD" => Normalizer::Form(UnicodeForm::Nfkd),
        "Lowercase" => Normalizer::Lowercase,
        "Nmt" => Normalizer::Nmt,
        "Precompiled" if node.count("type") != 1 => {
            return Err(problem(&format!("{}.type", node.path), "appears twice"));
        }
        "Precompiled" => Normalizer::Precompiled(owned(node, "precompiled_charsmap")?),
        "Replace" => Normalizer::Replace {
            pattern: pattern(&node.required("pattern")?)?,
            content: owned(node, "content")?,
        },
        "Prepend" => Normalizer::Prepend(owned(node, "prepend")?),
        _ => Normalizer::ByteLevel,
    };
    steps.push(Placed { path: node.path.clone(), is });
    Ok(())
}

/// The type that the library finds for a normalizer without one.
fn normalizer_by_fields(node: &Node<'_>) -> Option<&'static str> {
    let is_text = |field: &str| owned(node, field).is_ok();
    let is_strip = flag(node, "strip_left").is_ok() && flag(node, "strip_right").is_ok();
    let shapes = [
        ("Bert", bert_rules(node).is_ok()),
        ("Strip", is_strip),
        ("Sequence", node.count("normalizers") > 0),
        ("Replace", is_text("content") && node.count("pattern") > 0),
        ("Prepend", is_text("prepend")),
    ];
    shapes.into_iter().find(|(_, is_this)| *is_this).map(|(kind, _)| kind)
}

fn bert_rules(node: &Node<'_>) -> Result<BertRules> {
    Ok(BertRules {
        clean_text: flag(node, "clean_text")?,
        handle_chinese_chars: flag(node, "handle_chinese_chars")?,
        strip_accents: node.optional("strip_accents")?.map(|field| field.flag()).transpose()?,
        lowercase: flag(node, "lowercase")?,
    })
}

/// A step of the pre-tokenizer.
#[derive(Debug)]
pub(crate) enum PreTokenizer {
    Split { pattern: Pattern, behaviour: Behaviour, invert: bool },
    ByteLevel(ByteLevel),
    Metaspace(Metaspace),
    Whitespace,
    WhitespaceSplit,
    Digits { individual: bool },
    Punctuation(Behaviour),
    Bert,
    Delimiter(char),
    FixedLength(usize),
    UnicodeScripts,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteLevel {
    pub(crate) add_prefix_space: bool,
    pub(crate) trim_offsets: bool,
    pub(crate) use_regex: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Metaspace {
    pub(crate) replacement: char,
    pub(crate) prepends: Prepends,
    pub(crate) split: bool,
}

/// Which pieces get a space before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prepends {
    Always,
    First,
    Never,
}

const PRE_TOKENIZERS: &[&str] = &[
    "Sequence",
    "Split",
    "ByteLevel",
    "Metaspace",
    "Whitespace",
    "WhitespaceSplit",
    "Digits",
    "Punctuation",
    "BertPreTokenizer",
    "CharDelimiterSplit",
    "FixedLength",
    "UnicodeScripts",
];

/// How many characters are a piece where a file does not say so.
const FIXED_LENGTH: usize = 5;

pub(crate) fn push_pre_tokenizers(
    node: &Node<'_>,
    row: &mut Vec<Placed<PreTokenizer>>,
) -> Result<()> {
    let is = match node.kind(PRE_TOKENIZERS)?.ok_or_else(|| no_type(node))? {
        "Sequence" => {
            let items = node.required("pretokenizers")?.items()?;
            return items.iter().try_for_each(|item| push_pre_tokenizers(item, row));
        }
        "Split" => PreTokenizer::Split {
            pattern: pattern(&node.required("pattern")?)?,
            behaviour: node.required("behavior")?.one_of(BEHAVIOURS)?,
            invert: flag(node, "invert")?,
        },
        "ByteLevel" => PreTokenizer::ByteLevel(byte_level(node)?),
        "Metaspace" => PreTokenizer::Metaspace(metaspace(node)?),
        "Whitespace" => PreTokenizer::Whitespace,
        "WhitespaceSplit" => PreTokenizer::WhitespaceSplit,
        "Digits" => PreTokenizer::Digits { individual: flag(node, "individual_digits")? },
        "Punctuation" => PreTokenizer::Punctuation(
            node.get("behavior")?
                .map_or(Ok(Behaviour::Isolated), |field| field.one_of(BEHAVIOURS))?,
        ),
        "BertPreTokenizer" => PreTokenizer::Bert,
        "CharDelimiterSplit" => PreTokenizer::Delimiter(node.required("delimiter")?.character()?),
        "FixedLength" => PreTokenizer::FixedLength(
            node.get("length")?.map_or(Ok(FIXED_LENGTH), |field| field.whole())?,
        ),
        _ => PreTokenizer::UnicodeScripts,
    };
    row.push(Placed { path: node.path.clone(), is });
    Ok(())
}

fn byte_level(node: &Node<'_>) -> Result<ByteLevel> {
    Ok(ByteLevel {
        add_prefix_space: flag(node, "add_prefix_space")?,
        trim_offsets: flag(node, "trim_offsets")?,
        use_regex: flag_or(node, "use_regex", true)?,
    })
}

fn metaspace(node: &Node<'_>) -> Result<Metaspace> {
    let schemes =
        [("always", Prepends::Always), ("first", Prepends::First), ("never", Prepends::Never)];
    let scheme = node.get("prepend_scheme")?;
    let prepends = scheme.map_or(Ok(Prepends::Always), |field| field.one_of(&schemes))?;
    let adds = node.optional("add_prefix_space")?;
    if let Some(adds) = adds
        && !adds.flag()?
        && prepends != Prepends::Never
    {
        let problem_is = "is false, though prepend_scheme, which is \"always\" where it is not given, puts a \
                          space there; the library refuses this too: set prepend_scheme to \"never\"";
        return Err(adds.problem(problem_is));
    }
    node.optional("str_rep")?.map(|field| field.text()).transpose()?;
    Ok(Metaspace {
        replacement: node.required("replacement")?.character()?,
        prepends,
        split: node.optional("split")?.map_or(Ok(true), |field| field.flag())?,
    })
}

/// A step of the decoder.
#[derive(Debug)]
pub(crate) enum Decoder {
    ByteLevel,
    Metaspace(Metaspace),
    Suffix(String),
    Replace { pattern: Pattern, content: String },
    ByteFallback,
    Fuse,
    Strip { content: char, start: usize, stop: usize },
    WordPiece { prefix: String, cleanup: bool },
    Ctc { pad_token: String, word_delimiter_token: String, cleanup: bool },
}

const DECODERS: &[&str] = &[
    "Sequence",
    "ByteLevel",
    "Metaspace",
    "BPEDecoder",
    "Replace",
    "ByteFallback",
    "Fuse",
    "Strip",
    "WordPiece",
    "CTC",
];

pub(crate) fn push_decoders(node: &Node<'_>, steps: &mut Vec<Placed<Decoder>>) -> Result<()> {
    let kind = match node.kind(DECODERS)? {
        Some(kind) => kind,
        None => decoder_by_fields(node).ok_or_else(|| no_type(node))?,
    };
    let is = match kind {
        "Sequence" => {
            let items = node.required("decoders")?.items()?;
            return items.iter().try_for_each(|item| push_decoders(item, steps));
        }
        "ByteLevel" => byte_level(node).map(|_| Decoder::ByteLevel)?,
        "Metaspace" => Decoder::Metaspace(metaspace(node)?),
        "BPEDecoder" => Decoder::Suffix(owned(node, "suffix")?),
        "Replace" => Decoder::Replace {
            pattern: pattern(&node.required("pattern")?)?,
            content: owned(node, "content")?,
        },
        "ByteFallback" => Decoder::ByteFallback,
        "Fuse" => Decoder::Fuse,
        "Strip" => Decoder::Strip {
            content: node.required("content")?.character()?,
            start: node.required("start")?.whole()?,
            stop: node.required("stop")?.whole()?,
        },
        "WordPiece" => {
            Decoder::WordPiece { prefix: owned(node, "prefix")?, cleanup: flag(node, "cleanup")? }
        }
        _ => Decoder::Ctc {
            pad_token: owned(node, "pad_token")?,
            word_delimiter_token: owned(node, "word_delimiter_token")?,
            cleanup: flag(node, "cleanup")?,
        },
    };
    steps.push(Placed { path: node.path.clone(), is });
    Ok(())
}

/// The type that the library finds for a decoder without one.
fn decoder_by_fields(node: &Node<'_>) -> Option<&'static str> {
    let is_text = |field: &str| owned(node, field).is_ok();
    let cleans = flag(node, "cleanup").is_ok();
    let shapes = [
        ("BPEDecoder", is_text("suffix")),
        ("WordPiece", is_text("prefix") && cleans),
        ("CTC", is_text("pad_token") && is_text("word_delimiter_token") && cleans),
        ("Replace", is_text("content") && node.count("pattern") > 0),
        ("Strip", is_text("content") && node.count("start") > 0),
    ];
    shapes.into_iter().find(|(_, is_this)| *is_this).map(|(kind, _)| kind)
}

/// A step of the post-processor.
#[derive(Debug)]
pub(crate) enum PostProcessor {
    ByteLevel(ByteLevel),
    Template {
        single: Vec<Placed<Piece>>,
        pair: Vec<Placed<Piece>>,
        special_tokens: Vec<SpecialToken>,
    },
    Roberta {
        around: Around,
        trim_offsets: bool,
        add_prefix_space: bool,
    },
    Bert(Around),
}

/// The tokens before and behind a text.
#[derive(Debug)]
pub(crate) struct Around {
    pub(crate) cls: (String, TokenId),
    pub(crate) sep: (String, TokenId),
}

/// A part of a template.
#[derive(Debug)]
pub(crate) enum Piece {
    First { type_id: u32 },
    Second { type_id: u32 },
    Special { name: String, type_id: u32 },
}

/// What the name of a special token in a template stands for.
#[derive(Debug)]
pub(crate) struct SpecialToken {
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) ids: Vec<TokenId>,
    pub(crate) tokens: Vec<String>,
}

const POST_PROCESSORS: &[&str] =
    &["Sequence", "ByteLevel", "TemplateProcessing", "RobertaProcessing", "BertProcessing"];

pub(crate) fn push_post_processors(
    node: &Node<'_>,
    row: &mut Vec<Placed<PostProcessor>>,
) -> Result<()> {
    let node = &Node { repeated: Repeated::Refused, ..node.clone() };
    let kind = node.kind(POST_PROCESSORS)?;
    let is = if let Ok(roberta) = roberta(node) {
        roberta
    } else if let Ok(around) = around(node) {
        PostProcessor::Bert(around)
    } else if let Ok(byte_level) = byte_level(node)
        && kind == Some("ByteLevel")
        && node.count("type") == 1
    {
        PostProcessor::ByteLevel(byte_level)
    } else if let Ok(template) = template(node) {
        template
    } else {
        match kind {
            Some("RobertaProcessing") => roberta(node)?,
            Some("BertProcessing") => PostProcessor::Bert(around(node)?),
            Some("TemplateProcessing") => template(node)?,
            Some("ByteLevel") => {
                node.required("type")?;
                PostProcessor::ByteLevel(byte_level(node)?)
            }
            Some(_) => {
                node.required("type")?;
                let items = node.required("processors")?.items()?;
                return items.iter().try_for_each(|item| push_post_processors(item, row));
            }
            None => return Err(no_type(node)),
        }
    };
    row.push(Placed { path: node.path.clone(), is });
    Ok(())
}

fn roberta(node: &Node<'_>) -> Result<PostProcessor> {
    Ok(PostProcessor::Roberta {
        around: around(node)?,
        trim_offsets: flag(node, "trim_offsets")?,
        add_prefix_space: flag(node, "add_prefix_space")?,
    })
}

fn around(node: &Node<'_>) -> Result<Around> {
    let token = |field: &str| -> Result<(String, TokenId)> {
        let token = node.required(field)?;
        match token.items()?.as_slice() {
            [name, id] => Ok((name.text()?.to_owned(), id.whole()?)),
            _ => Err(token.problem("expected a token and its id in a list")),
        }
    };
    Ok(Around { cls: token("cls")?, sep: token("sep")? })
}

fn template(node: &Node<'_>) -> Result<PostProcessor> {
    let pieces = |field: &str| -> Result<Vec<Placed<Piece>>> {
        node.required(field)?.items()?.iter().map(piece).collect()
    };
    // Of a name that appears twice the last counts, and both must be sound.
    let tokens = node.required("special_tokens")?.entries()?;
    let token = |(name, token): &(&str, Node<'_>)| -> Result<SpecialToken> {
        token.required("id")?.text()?;
        let ids = token.required("ids")?.items()?;
        let tokens = token.required("tokens")?.items()?;
        Ok(SpecialToken {
            path: token.path.clone(),
            name: (*name).to_owned(),
            ids: ids.iter().map(Node::whole).collect::<Result<_>>()?,
            tokens: tokens
                .iter()
                .map(|token| token.text().map(str::to_owned))
                .collect::<Result<_>>()?,
        })
    };
    Ok(PostProcessor::Template {
        single: pieces("single")?,
        pair: pieces("pair")?,
        special_tokens: tokens.iter().map(token).collect::<Result<_>>()?,
    })
}

fn piece(node: &Node<'_>) -> Result<Placed<Piece>> {
    let (kind, content) = node.variant()?;
    let content = content.ok_or_else(|| node.problem("expected an object"))?;
    let type_id = content.required("type_id")?.whole()?;
    let id = content.required("id")?;
    let is = match kind {
        "SpecialToken" => Piece::Special { name: id.text()?.to_owned(), type_id },
        "Sequence" => match id.one_of(&[("A", true), ("B", false)])? {
            true => Piece::First { type_id },
            false => Piece::Second { type_id },
        },
        _ => return Err(node.problem("expected a Sequence or a SpecialToken")),
    };
    Ok(Placed { path: content.path, is })
}
