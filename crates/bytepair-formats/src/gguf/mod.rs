//! The vocabularies in llama.cpp's `.gguf` files. These are only read.
//!
//! There are two kinds: `gpt2`, which is bytes with merges and a named split pattern (`tokenizer.ggml.pre`), and `llama`,
//! which is SentencePiece's merging by score. `pre_tokenizers.json` lists the names; the caller can give the pattern for
//! a name that is missing there. Other kinds (WordPiece, Unigram, RWKV, PLaMo) are refused by name. Nothing after the
//! key-value pairs is read.
//!
//! If llama.cpp differs from the publisher's library, this module follows the publisher:
//!
//! - The patterns are the publishers'. llama.cpp runs approximations of some (its own character classes, no possessive
//!   repetition).
//! - If several special tokens overlap in a text, the leftmost is found. llama.cpp first looks for the longest one in the
//!   whole text.
//! - A pair has the rank of its merge. llama.cpp accepts all neighbours whose joined texts are equal, so bytes without a
//!   token vanish.
//!
//! It follows llama.cpp where only llama.cpp defines the meaning: a `llama` vocabulary has no normalizer except for `▁`
//! in place of spaces, with one put before each stretch of text between special tokens (`add_space_prefix`). Special
//! tokens are found if a call allows them (`parse_special`); user-defined ones are always found.

mod metadata;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::Value;

use self::metadata::Metadata;
use crate::assembly::{Document, Pipeline};
use crate::huggingface::{self, Added};
use crate::json::two_parts;
use crate::quoted;
use crate::sentencepiece::PieceKind::{self, Byte, Control, Normal, Unknown, Unused, UserDefined};
use crate::sentencepiece::{self, merges::cut_stages};
use bytepair::added::AddedToken;
use bytepair::decode::{Decode, LeadingSpaces, SentencePieceDecode};
use bytepair::for_formats::byte_of;
use bytepair::normalize::{NormalizeStep, Normalizer, SPACE_SYMBOL, UnicodeForm};
use bytepair::template::{Template, TemplatePiece};
use bytepair::units::bytes_of_printable;
use bytepair::units::{ByteIds, Units};
use bytepair::vocabulary::{Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched};

/// The name of the format in messages.
const FORMAT: &str = "GGUF";

const MODEL: &str = "tokenizer.ggml.model";
const PRE: &str = "tokenizer.ggml.pre";
const TOKENS: &str = "tokenizer.ggml.tokens";
const TYPES: &str = "tokenizer.ggml.token_type";
const SCORES: &str = "tokenizer.ggml.scores";
const MERGES: &str = "tokenizer.ggml.merges";

/// The meaning of a name of a split pattern (`pre_tokenizers.json`).
///
/// A name stands for the model that it was made for, and is read as that model's publisher reads it: with the published
/// pattern in its flavour, and with Unicode composition if the publisher composes, which no file says. Two rules for a
/// name are llama.cpp's own: whether a piece that is a token is taken whole, and whether a text gets a mark at its
/// beginning unless the file says otherwise. `default` is llama.cpp's own pattern. llama.cpp also uses it for files
/// without a name; these are refused here, since they are older than the names and say nothing of the model's pattern.
/// Left out: `falcon-h1`, whose published pattern is not known here.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PreTokenizer {
    /// Its names in llama.cpp.
    names: Vec<String>,
    split: Split,
    /// Whether the publisher's library composes characters first, which llama.cpp does not do.
    #[serde(default)]
    composes: bool,
    /// Whether a piece that is a token is taken whole.
    #[serde(default)]
    ignore_merges: bool,
    /// Whether the beginning of a text is marked unless the file says otherwise.
    #[serde(default)]
    marks_begin: bool,
}

/// How a text becomes pieces.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Split {
    /// By the stages with this name.
    Named(String),
    /// By these patterns, in order.
    Patterns(Vec<String>),
    /// By the pipeline with this name, whose last cutters see the characters that stand for bytes.
    Pipeline(String),
}

static PRE_TOKENIZERS: LazyLock<Vec<PreTokenizer>> =
    LazyLock::new(|| serde_json::from_str(include_str!("pre_tokenizers.json")).unwrap_or_default());

/// Pre-tokenizers of vocabularies that merge characters, although their kind is that of bytes.
const OF_CHARACTERS: &[&str] = &["gemma4", "granite-embed-multi-311m", "sarvam-moe", "whitespace"];

/// Reads the tokenizer of a GGUF file. Only the beginning of the file is read.
///
/// # Errors
/// If the file is damaged, holds no BPE vocabulary, or names an unknown pattern.
pub fn read(file: impl Read) -> Result<Tokenizer> {
    read_split(file, None)
}

/// Reads the tokenizer of a GGUF file. If stages are given, they split the text instead of the pattern that the file
/// names.
///
/// # Errors
/// As [`read`], and if the file has a vocabulary that merges without splitting.
pub fn read_split(file: impl Read, stages: Option<Vec<Stage>>) -> Result<Tokenizer> {
    let metadata = Metadata::read(file)?;
    let tokens = Tokens::new(&metadata)?;
    match metadata.text(MODEL)? {
        Some("gpt2") => read_bytes(&metadata, &tokens, stages),
        Some("llama") if stages.is_some() => {
            let problem =
                "pattern= has no meaning for \"llama\", whose texts are not split; leave it out";
            Err(Error::format(FORMAT, MODEL, problem))
        }
        Some("llama") => read_scores(&metadata, &tokens),
        Some(name) => {
            let problem = format!("{name:?} is not supported; gpt2 and llama are");
            Err(Error::format(FORMAT, MODEL, problem))
        }
        None => Err(Error::format(FORMAT, MODEL, "missing: the file has no tokenizer")),
    }
}

/// A token of the list.
#[derive(Clone, Copy)]
struct Listed<'m> {
    id: TokenId,
    text: &'m str,
    kind: PieceKind,
}

/// The texts and kinds of the tokens.
struct Tokens<'m> {
    texts: Cow<'m, [String]>,
    kinds: Vec<PieceKind>,
}

impl<'m> Tokens<'m> {
    fn new(metadata: &'m Metadata) -> Result<Self> {
        let missing = || Error::format(FORMAT, TOKENS, "missing: the file has no vocabulary");
        let texts = metadata.texts(TOKENS)?.ok_or_else(missing)?;
        let kinds = metadata.numbers(TYPES)?.unwrap_or(&[]);
        if !kinds.is_empty() && kinds.len() != texts.len() {
            return Err(Error::format(FORMAT, TYPES, "not one for each token"));
        }
        let kind = |number: &i64| {
            let kind = u64::try_from(*number).ok().and_then(PieceKind::of);
            kind.ok_or_else(|| Error::format(FORMAT, TYPES, format!("{number} is not known")))
        };
        let kinds: Vec<_> = kinds.iter().map(kind).collect::<Result<_>>()?;
        if let Some(id) = texts.iter().position(String::is_empty) {
            return Err(Error::format(FORMAT, TOKENS, format!("the text of {id} is empty")));
        }
        Ok(Self { texts: told_apart(texts, &kinds)?, kinds })
    }

    fn iter(&self) -> impl Iterator<Item = Listed<'_>> {
        let kinds = self.kinds.iter().copied().chain(std::iter::repeat(Normal));
        (0..).zip(self.texts.iter()).zip(kinds).map(|((id, text), kind)| Listed { id, text, kind })
    }

    fn of_kinds(&self, kinds: &[PieceKind]) -> impl Iterator<Item = Listed<'_>> {
        self.iter().filter(|token| kinds.contains(&token.kind))
    }

    /// The special tokens and the user-defined ones, which are always found.
    fn added(&self) -> Vec<AddedToken> {
        let added = |token: Listed<'_>| AddedToken {
            id: token.id,
            content: token.text.to_owned(),
            special: token.kind == Control,
            ..AddedToken::default()
        };
        self.of_kinds(&[Control, UserDefined]).map(added).collect()
    }
}

/// The texts, with those of unused rows made unique. No text gives an unused row. If its text equals another, as that of
/// padding may, it gets the name that converters use to fill up a vocabulary.
///
/// # Errors
/// If two used tokens have the same text, or a token already has the name that a row of padding would get.
fn told_apart<'m>(texts: &'m [String], kinds: &[PieceKind]) -> Result<Cow<'m, [String]>> {
    let same = |one: usize, other: usize| {
        let problem = format!("the ids {one} and {other} have the same text");
        Error::format(FORMAT, TOKENS, problem)
    };
    let is_unused = |id: &usize| kinds.get(*id) == Some(&Unused);
    let (unused, used): (Vec<_>, Vec<_>) = (0..texts.len()).partition(is_unused);
    let mut ids = HashMap::new();
    for id in used {
        if let Some(other) = ids.insert(texts[id].as_str(), id) {
            return Err(same(other, id));
        }
    }
    // A token of text may have the same text as an unused row.
    ids.retain(|_, id| matches!(kinds.get(*id), Some(&(Control | UserDefined))));
    let all: HashSet<&String> = texts.iter().collect();
    let mut apart = Cow::Borrowed(texts);
    for id in unused {
        let Some(other) = ids.insert(texts[id].as_str(), id) else { continue };
        let name = format!("[PAD{id}]");
        if all.contains(&name) {
            return Err(same(other, id));
        }
        apart.to_mut()[id] = name;
    }
    Ok(apart)
}

fn read_bytes(
    metadata: &Metadata,
    tokens: &Tokens<'_>,
    stages: Option<Vec<Stage>>,
) -> Result<Tokenizer> {
    let name = metadata.text(PRE)?;
    if let Some(name) = name.filter(|name| OF_CHARACTERS.contains(name)) {
        let problem =
            format!("{name:?} merges characters, not bytes; such a vocabulary is not supported");
        return Err(Error::format(FORMAT, PRE, problem));
    }
    let is_named = |pre: &&PreTokenizer| pre.names.iter().any(|known| Some(known.as_str()) == name);
    let pre = PRE_TOKENIZERS.iter().find(is_named);
    let stages = match (stages, pre.map(|pre| &pre.split)) {
        (Some(stages), _) => stages,
        (None, Some(Split::Named(pattern))) => bytepair_split::named(pattern).unwrap_or_default(),
        (None, Some(Split::Patterns(patterns))) => {
            patterns.iter().map(|source| stage(source)).collect()
        }
        (None, Some(Split::Pipeline(name))) => {
            let pipeline = Pipeline::named(name, false);
            return read_byte_characters(metadata, tokens, pipeline);
        }
        (None, None) => {
            let problem = match name {
                Some(name) => format!("the split pattern of {name:?} is not known here"),
                None => "missing: the file does not say how texts are split".to_owned(),
            };
            let problem = format!(
                "{problem}; give the split pattern, a regular expression or a name such as \"gpt2\" or \"qwen2\""
            );
            return Err(Error::format(FORMAT, PRE, problem));
        }
    };
    let is = |rule: fn(&PreTokenizer) -> bool| pre.is_some_and(rule);
    let composing = is(|pre| pre.composes).then_some(NormalizeStep::Form(UnicodeForm::Nfc));
    let mut vocabulary = Vocabulary::new();
    for Listed { id, text, kind } in tokens.iter() {
        let bytes_of_text = || bytes_of_printable(text).map(|bytes| (TokenKind::PLAIN, bytes));
        let as_it_stands = (TokenKind::Added, text.as_bytes().to_vec());
        let (kind, bytes) = match kind {
            Control | UserDefined | Unused => as_it_stands,
            Unknown => (TokenKind::Unknown, as_it_stands.1),
            // Some of the characters stand for no byte. No text contains such a token, so it is only ever decoded.
            _ => bytes_of_text().unwrap_or(as_it_stands),
        };
        vocabulary.insert(id, Token { kind, bytes: &bytes })?;
    }
    push_listed_merges(metadata, tokens, &mut vocabulary)?;
    let unicode = UnicodeTables::latest();
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(composing.into_iter().collect(), unicode),
        pre_tokenizer: Splitter::new(stages, &unicode)?.into(),
        added: tokens.added(),
        ignore_merges: is(|pre| pre.ignore_merges),
        template: template(metadata, tokens, is(|pre| pre.marks_begin))?,
        ..Parts::new(Units::bytes(ByteIds::Printable), Arc::new(vocabulary))
    })
}

fn stage(source: &str) -> Stage {
    let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Oniguruma };
    Stage::matches(pattern, Unmatched::Keep)
}

/// Reads a vocabulary whose published pre-tokenizer cuts between the characters that stand for bytes.
fn read_byte_characters(
    metadata: &Metadata,
    tokens: &Tokens<'_>,
    pipeline: Pipeline,
) -> Result<Tokenizer> {
    let added = tokens.of_kinds(&[Control, UserDefined]);
    let merges = listed_merges(metadata)?.iter().enumerate();
    let document = Document {
        pipeline,
        added_tokens: added
            .map(|token| Added {
                id: token.id,
                content: token.text.to_owned(),
                special: token.kind == Control,
                ..Added::default()
            })
            .collect(),
        post_processor: Value::Null,
        unknown: None,
        vocab: tokens.iter().map(|token| (token.text.to_owned(), token.id.into())).collect(),
        merges: merges
            .map(|(place, line)| two_tokens(place, line).map(|(left, right)| [left, right]))
            .collect::<Result<_>>()?,
    };
    let tokenizer = huggingface::read(&document.into_bytes())?;
    Tokenizer::new(Parts {
        template: template(metadata, tokens, false)?,
        ..tokenizer.parts().clone()
    })
}

fn listed_merges(metadata: &Metadata) -> Result<&[String]> {
    metadata.texts(MERGES)?.ok_or_else(|| Error::format(FORMAT, MERGES, "missing"))
}

fn two_tokens(place: usize, line: &str) -> Result<(&str, &str)> {
    let problem = || {
        Error::format(FORMAT, format!("merge {place}"), "not two tokens and a space between them")
    };
    two_parts(line).ok_or_else(problem)
}

fn push_listed_merges(
    metadata: &Metadata,
    tokens: &Tokens<'_>,
    vocabulary: &mut Vocabulary,
) -> Result<()> {
    let merges = listed_merges(metadata)?;
    let takes_part = |kind: PieceKind| ![Control, UserDefined, Unknown, Unused].contains(&kind);
    let ids: HashMap<&str, TokenId> = tokens
        .iter()
        .filter(|token| takes_part(token.kind))
        .map(|token| (token.text, token.id))
        .collect();
    let mut joined = String::new();
    for (place, line) in merges.iter().enumerate() {
        let problem = |problem: String| Error::format(FORMAT, format!("merge {place}"), problem);
        let (left, right) = two_tokens(place, line)?;
        joined.clear();
        joined.extend([left, right]);
        let id = |text: &str| {
            let missing = || problem(format!("{} is not a token", quoted(text.as_bytes())));
            ids.get(text).copied().ok_or_else(missing)
        };
        let merge = Merge { left: id(left)?, right: id(right)?, result: id(&joined)? };
        vocabulary.push_merge_to(merge);
    }
    Ok(())
}

fn read_scores(metadata: &Metadata, tokens: &Tokens<'_>) -> Result<Tokenizer> {
    let flag = |key: &str| metadata.flag(key);
    if flag("tokenizer.ggml.remove_extra_whitespaces")? == Some(true) {
        let problem = "llama.cpp itself ignores it for this model";
        return Err(Error::format(FORMAT, "tokenizer.ggml.remove_extra_whitespaces", problem));
    }
    let charsmap = "tokenizer.ggml.precompiled_charsmap";
    if metadata.has(charsmap) && metadata.numbers(charsmap)?.is_none_or(|map| !map.is_empty()) {
        return Err(Error::format(FORMAT, charsmap, "has no meaning for this model"));
    }
    let adds_space = flag("tokenizer.ggml.add_space_prefix")?.unwrap_or(true);
    let vocabulary = scored_vocabulary(metadata, tokens)?;
    let unicode = UnicodeTables::latest();
    let pieces = || tokens.of_kinds(&[Normal, Unused]).map(|token| token.text);
    let unknown = tokens.of_kinds(&[Unknown]).next();
    let prefix = NormalizeStep::Prepend {
        text: SPACE_SYMBOL.to_owned(),
        only_first: false,
        unless_there: false,
    };
    let escape = NormalizeStep::Replace { from: " ".to_owned(), to: SPACE_SYMBOL.to_owned() };
    let controls = tokens.of_kinds(&[Control]);
    let mut controls: Vec<_> = controls.map(|token| token.text.to_owned()).collect();
    controls.sort();
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(
            adds_space.then_some(prefix).into_iter().chain([escape]).collect(),
            unicode,
        ),
        pre_tokenizer: Splitter::new(cut_stages(pieces, false), &unicode)?.into(),
        added: tokens.added(),
        template: template(metadata, tokens, true)?,
        decode: Decode::SentencePiece(SentencePieceDecode {
            leading: if adds_space { LeadingSpaces::OneGoes } else { LeadingSpaces::Stay },
            unknown: " \u{2047} ".to_owned(),
            controls,
        }),
        ..Parts::new(
            Units {
                unknown: unknown.map(|token| token.text.to_owned()),
                byte_fallback: true,
                ..Units::characters()
            },
            Arc::new(vocabulary),
        )
    })
}

fn scored_vocabulary(metadata: &Metadata, tokens: &Tokens<'_>) -> Result<Vocabulary> {
    let scores = metadata.floats(SCORES)?.unwrap_or(&[]);
    if scores.len() != tokens.texts.len() || scores.iter().any(|score| score.is_nan()) {
        return Err(Error::format(FORMAT, SCORES, "not a number for each token"));
    }
    let bytes = || tokens.of_kinds(&[Byte]);
    if let Some(token) = bytes().find(|token| byte_of(token.text.as_bytes()).is_none()) {
        let part = format!("token {}", token.id);
        return Err(Error::format(FORMAT, part, "it does not name a byte"));
    }
    let n_bytes = bytes().count();
    if n_bytes != 256 {
        let problem = format!("{n_bytes} of the 256 bytes have a token");
        return Err(Error::format(FORMAT, TOKENS, problem));
    }
    let pieces = tokens.iter().zip(scores).map(|(token, score)| (token.kind, token.text, *score));
    sentencepiece::vocabulary(FORMAT, pieces)
}

/// The special tokens at the beginning and the end of a text.
fn template(metadata: &Metadata, tokens: &Tokens<'_>, marks_begin: bool) -> Result<Template> {
    let mark = |add: &str, id: &str, default: bool| -> Result<Vec<TokenId>> {
        if !metadata.flag(add)?.unwrap_or(default) {
            return Ok(Vec::new());
        }
        let found = metadata.number(id)?.and_then(|id| TokenId::try_from(id).ok());
        match found.filter(|&id| (id as usize) < tokens.texts.len()) {
            Some(id) => Ok(vec![id]),
            None => {
                Err(Error::format(FORMAT, id, format!("missing or not a token, but {add} is set")))
            }
        }
    };
    let before = mark("tokenizer.ggml.add_bos_token", "tokenizer.ggml.bos_token_id", marks_begin)?;
    let after = mark("tokenizer.ggml.add_eos_token", "tokenizer.ggml.eos_token_id", false)?;
    let between = mark("tokenizer.ggml.add_sep_token", "tokenizer.ggml.seperator_token_id", false)?;
    let template = Template::around(&before, &after);
    if between.is_empty() {
        return Ok(template);
    }
    // The second text gets no beginning mark. All type ids are 0, as in RoBERTa.
    let special = |ids: Vec<TokenId>| (!ids.is_empty()).then(|| TemplatePiece::special(ids, 0));
    let pair = [
        special(before),
        Some(TemplatePiece::First { type_id: 0 }),
        special([after.clone(), between].concat()),
        Some(TemplatePiece::Second { type_id: 0 }),
        special(after),
    ];
    Ok(Template { pair: pair.into_iter().flatten().collect(), ..template })
}
