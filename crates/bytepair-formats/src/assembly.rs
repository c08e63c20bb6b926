//! Builds a `tokenizer.json` for formats that say less than one, and reads the merges of such formats.
//!
//! Older models are published as a vocabulary and merges. The rest of their pipeline is known from their programs and is
//! listed in `pipelines.json`, one entry for each. The reader of a format fills in what is specific to it. Each line of
//! merges holds a pair of token names, the earliest merge first; the reader of the format knows what the names mean.
//! Takes time linear in the files. The check for missing merges takes the square of the length of a token, up to a limit.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::huggingface::Added;
use super::json;
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};

/// How a text becomes pieces, and how ids become text (`pipelines.json`).
///
/// `bytes` is GPT-2's. `falcon` cuts digits among the characters that stand for bytes, which also splits characters such
/// as `²`; the first models cut digits three at a time.
#[derive(Default, Deserialize)]
pub(super) struct Pipeline {
    /// The mark at the end of a word; often empty.
    #[serde(default)]
    pub(super) suffix: String,
    #[serde(default)]
    normalizer: Value,
    pre_tokenizer: Value,
    decoder: Value,
}

impl Pipeline {
    /// The pipeline with this name. `prefix_space` puts a space before texts that do not begin with one, if the pipeline
    /// supports it.
    pub(super) fn named(name: &str, prefix_space: bool) -> Self {
        let mut all = include_str!("pipelines.json")
            .replace("\"prefix space\"", if prefix_space { "true" } else { "false" });
        for pattern in ["clip", "qwen2"] {
            let stages = bytepair_split::named(pattern).unwrap_or_default();
            let source: String = stages.into_iter().map(|stage| stage.pattern.source).collect();
            all =
                all.replace(&format!("\"pattern of {pattern}\""), &Value::from(source).to_string());
        }
        let mut all: HashMap<String, Self> = serde_json::from_str(&all).unwrap_or_default();
        all.remove(name).unwrap_or_default()
    }
}

/// The special tokens of `RoBERTa`, each with its id: `first` before a text, `last` after it, and `last` twice between
/// two texts.
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

/// The parts that a reader fills in.
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
            "normalizer": pipeline.normalizer,
            "pre_tokenizer": pipeline.pre_tokenizer,
            "post_processor": post_processor,
            "decoder": pipeline.decoder,
            "model": {
                "type": "BPE", "dropout": null, "unk_token": unknown,
                "continuing_subword_prefix": "", "end_of_word_suffix": pipeline.suffix,
                "fuse_unk": false, "vocab": vocab, "merges": merges
            }
        });
        file.to_string().into_bytes()
    }
}

/// Longer tokens, in bytes, are not searched for two tokens that would make them: the search takes the square of their
/// length.
const MAX_CHECKED_LEN: usize = 256;

/// A merge and its line number.
pub(super) struct NumberedMerge<'f> {
    pub(super) line: usize,
    pub(super) left: &'f str,
    pub(super) right: &'f str,
}

/// The merges of a `merges.txt`. Only the first line may be a header, since `#` is also a token. Empty lines are skipped.
pub(super) fn numbered_merges<'f>(
    format: &'static str,
    file: &'f [u8],
) -> Result<Vec<NumberedMerge<'f>>> {
    let is_merge = |(line, text): &(usize, &str)| {
        let is_header = *line == 1 && text.starts_with("#version");
        !is_header && !matches!(*text, "" | "\r")
    };
    lines(format, "merges.txt", file)?
        .filter(is_merge)
        .map(|line| merge(format, "merges.txt", line))
        .collect()
}

/// The text before the name of a split pattern in the first line of a `merges.txt`.
pub(super) const PATTERN_NAME: &str = " - pattern: ";

/// The name of the split pattern in the first line of a `merges.txt`, where this crate writes it.
pub(super) fn named_pattern(file: &[u8]) -> Option<&str> {
    let line = file.split(|&byte| byte == b'\n').next()?;
    let (version, name) = std::str::from_utf8(line).ok()?.split_once(PATTERN_NAME)?;
    version.starts_with("#version").then_some(name.trim_end())
}

/// The first `n_merges` merges of a file in the form in which GPT-1 and CLIP are published. The first line may be a
/// header; no line may be empty.
pub(super) fn merge_lines<'f>(
    format: &'static str,
    part: &str,
    file: &'f [u8],
    n_merges: usize,
) -> Result<Vec<NumberedMerge<'f>>> {
    let is_merge = |(line, text): &(usize, &str)| *line > 1 || !text.contains("#version");
    let lines = lines(format, part, file)?.filter(is_merge).take(n_merges);
    lines.map(|line| merge(format, part, line)).collect()
}

/// The names of the two tokens of each merge.
pub(super) fn pairs<'f>(merges: &[NumberedMerge<'f>]) -> Vec<[&'f str; 2]> {
    merges.iter().map(|merge| [merge.left, merge.right]).collect()
}

fn lines<'f>(
    format: &'static str,
    part: &str,
    file: &'f [u8],
) -> Result<impl Iterator<Item = (usize, &'f str)> + use<'f>> {
    let text = std::str::from_utf8(file).map_err(|_| Error::format(format, part, "not UTF-8"))?;
    Ok((1..).zip(text.split_terminator('\n')))
}

fn merge<'f>(
    format: &'static str,
    part: &str,
    (line, text): (usize, &'f str),
) -> Result<NumberedMerge<'f>> {
    let names = json::two_parts(text.strip_suffix('\r').unwrap_or(text));
    let problem =
        || Error::format(format, format!("line {line} of {part}"), "not two tokens and a space");
    let (left, right) = names.ok_or_else(problem)?;
    Ok(NumberedMerge { line, left, right })
}

/// Refuses a name that two other names make but no merge does: then `merges.txt` was cut off. Exempt are names in
/// brackets, which may be special tokens, names that no two tokens make, which were added by hand, and names for which
/// `is_listed` holds. Names may end in a mark, which is never cut.
pub(super) fn check_made<'v>(
    format: &'static str,
    names: impl Iterator<Item = &'v str>,
    merges: &[NumberedMerge<'_>],
    suffix: &str,
    is_listed: impl Fn(&str) -> bool,
) -> Result<()> {
    let names: Vec<&str> = names.collect();
    let known: HashSet<&str> = names.iter().copied().collect();
    let made: HashSet<String> =
        merges.iter().map(|merge| [merge.left, merge.right].concat()).collect();
    let lacks_merge = |name: &str| {
        let in_brackets = |(open, close)| name.starts_with(open) && name.ends_with(close);
        let end = name.strip_suffix(suffix).unwrap_or(name).len();
        let is_two = |(cut, _)| {
            let (left, right) = name.split_at(cut);
            cut < end && known.contains(left) && known.contains(right)
        };
        !made.contains(name)
            && !is_listed(name)
            && name.len() <= MAX_CHECKED_LEN
            && ![('<', '>'), ('[', ']')].into_iter().any(in_brackets)
            && name.char_indices().skip(1).any(is_two)
    };
    match names.into_iter().find(|name| lacks_merge(name)) {
        None => Ok(()),
        Some(name) => {
            let problem = format!("no merge makes the token {name:?}: was the file cut off?");
            Err(Error::format(format, "merges.txt", problem))
        }
    }
}
