//! `tekken.json`: Mistral's ranks with their pattern and special tokens in one file.
//!
//! The ids of the special tokens come first, then the ranks, cut off where `default_vocab_size` is reached.
//! Old files leave the special tokens out; then they are those that Mistral's program knows, and further
//! ids are filled with `<SPECIAL_20>` and so on. That program finds no special token in a text: here they are
//! plain text unless a call allows them. `<s>` is put before a text on request. Settings for pictures, audio
//! and prompts (`multimodal`, `image`, `audio`, `model_settings_builder`) say nothing about text and are
//! passed over; every other field that is not known is an error.
//!
//! Decoding joins the bytes of all tokens; Mistral's program decodes what stands between special tokens
//! alone, so that half a character before one and half after it give two U+FFFD there and one character
//! here.

use std::collections::HashSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::json;
use super::ranks::{self, MAX_TOKEN_LEN};
use bytepair::Tokenizer;
use bytepair::template::Template;
use bytepair::vocabulary::TokenId;
use bytepair::{Error, Result};
use bytepair_split::{Flavour, Pattern, Stage, Unmatched};

/// The name of the format in messages.
const FORMAT: &str = "tekken.json";

/// Versions that are understood. What they differ in is how chats become text.
const VERSIONS: [&str; 8] = ["v1", "v2", "v3", "v7", "v11", "v13", "v14", "v15"];

/// Versions whose files may leave out the special tokens.
const VERSIONS_WITH_DEFAULTS: [&str; 4] = ["v1", "v2", "v3", "v7"];

/// The special tokens of files that list none, apart by spaces.
const DEFAULT_SPECIALS: &str = "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] \
    [/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] \
    [SUFFIX] [SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]";

/// The special token before a text.
const BEGIN: &str = "<s>";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    config: Config,
    vocab: Vec<RankRecord>,
    special_tokens: Option<Vec<SpecialRecord>>,
    #[serde(rename = "version")]
    _version: Option<IgnoredAny>,
    #[serde(rename = "type")]
    _type: Option<IgnoredAny>,
    #[serde(rename = "multimodal")]
    _multimodal: Option<IgnoredAny>,
    #[serde(rename = "image")]
    _image: Option<IgnoredAny>,
    #[serde(rename = "audio")]
    _audio: Option<IgnoredAny>,
    #[serde(rename = "model_settings_builder")]
    _settings: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    pattern: String,
    default_vocab_size: usize,
    default_num_special_tokens: usize,
    version: String,
    #[serde(rename = "num_vocab_tokens")]
    _n_tokens: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RankRecord {
    rank: u64,
    token_bytes: String,
    #[serde(rename = "token_str")]
    _text: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecialRecord {
    rank: u64,
    token_str: String,
    #[serde(rename = "is_control")]
    _is_control: Option<IgnoredAny>,
}

/// The tokenizer of a file.
///
/// # Errors
/// If the file is damaged, of an unknown version, or its numbers do not fit each other.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file: File = json::parse(FORMAT, "the file", file)?;
    if !VERSIONS.contains(&file.config.version.as_str()) {
        let problem =
            format!("{:?} is not known; known are {}", file.config.version, VERSIONS.join(", "));
        return Err(problem_in("config.version", problem));
    }
    let n_ranks = n_ranks(&file)?;
    let special_tokens = special_tokens(&file)?;
    let first_rank = special_tokens.len();
    let entries: Vec<_> = (0..)
        .zip(&file.vocab[..n_ranks])
        .map(|(rank, record)| entry(rank, record, first_rank))
        .collect::<Result<_>>()?;
    let pattern = Pattern { source: file.config.pattern, flavour: Flavour::Rust };
    let split = vec![Stage::matches(pattern, Unmatched::Drop)];
    let mut parts = ranks::parts(FORMAT, &entries, split, &special_tokens)?;
    if let Some((_, id)) = special_tokens.iter().find(|(content, _)| content == BEGIN) {
        parts.template = Template::around(&[*id], &[]);
    }
    Tokenizer::new(parts)
}

fn problem_in(part: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, part, problem)
}

/// How many of the ranks are used.
fn n_ranks(file: &File) -> Result<usize> {
    let Config { default_vocab_size, default_num_special_tokens, .. } = file.config;
    let n_ranks = default_vocab_size.checked_sub(default_num_special_tokens);
    n_ranks.filter(|&n_ranks| n_ranks <= file.vocab.len()).ok_or_else(|| {
        let problem = format!(
            "{default_vocab_size} is not at least the {default_num_special_tokens} special tokens and at \
             most {} more, which vocab holds",
            file.vocab.len()
        );
        problem_in("config.default_vocab_size", problem)
    })
}

/// The special tokens, those that fill the row included.
fn special_tokens(file: &File) -> Result<Vec<(String, TokenId)>> {
    let mut contents = match &file.special_tokens {
        Some(listed) => listed_specials(listed)?,
        None if VERSIONS_WITH_DEFAULTS.contains(&file.config.version.as_str()) => {
            DEFAULT_SPECIALS.split(' ').map(str::to_owned).collect()
        }
        None => {
            let problem = format!("missing, which version {} does not allow", file.config.version);
            return Err(problem_in("special_tokens", problem));
        }
    };
    let n_specials = file.config.default_num_special_tokens;
    if contents.len() > n_specials || n_specials > file.vocab.len().saturating_add(1 << 20) {
        let problem = format!("{n_specials}, with {} special tokens", contents.len());
        return Err(problem_in("config.default_num_special_tokens", problem));
    }
    contents.extend((contents.len()..n_specials).map(|id| format!("<SPECIAL_{id}>")));
    let distinct: HashSet<&String> = contents.iter().collect();
    if distinct.len() < contents.len() {
        return Err(problem_in("special_tokens", "one appears twice"));
    }
    Ok(contents.into_iter().zip(0..).collect())
}

fn listed_specials(listed: &[SpecialRecord]) -> Result<Vec<String>> {
    match (0..).zip(listed).find(|(place, token)| token.rank != *place) {
        None => Ok(listed.iter().map(|token| token.token_str.clone()).collect()),
        Some((place, token)) => {
            let part = format!("special_tokens[{place}].rank");
            Err(problem_in(&part, format!("{} is not its position in the list", token.rank)))
        }
    }
}

fn entry(rank: usize, record: &RankRecord, first_rank: usize) -> Result<(Vec<u8>, TokenId)> {
    if record.rank != rank as u64 {
        let problem = format!("{} is not its position in the list", record.rank);
        return Err(problem_in(&format!("vocab[{rank}].rank"), problem));
    }
    let bytes = STANDARD.decode(&record.token_bytes).ok();
    let bytes = bytes.filter(|bytes| (1..=MAX_TOKEN_LEN).contains(&bytes.len()));
    let bytes = bytes.filter(|bytes| rank > 255 || *bytes == [u8::try_from(rank).unwrap_or(0)]);
    let id = TokenId::try_from(first_rank + rank).ok();
    bytes.zip(id).ok_or_else(|| {
        let problem = if rank > 255 { "not base64 of a token" } else { "not base64 of that byte" };
        problem_in(&format!("vocab[{rank}].token_bytes"), problem)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn file() -> Value {
        let mut vocab: Vec<Value> = (0..=255_u8)
            .map(|byte| json!({"rank": byte, "token_bytes": STANDARD.encode([byte]), "token_str": null}))
            .collect();
        for (rank, text) in (256..).zip(["ab", "abc", "cut off"]) {
            vocab.push(
                json!({"rank": rank, "token_bytes": STANDARD.encode(text), "token_str": text}),
            );
        }
        json!({
            "config": {
                "pattern": r"\S+|\s+", "num_vocab_tokens": 259, "default_vocab_size": 280,
                "default_num_special_tokens": 22, "version": "v3"
            },
            "vocab": vocab
        })
    }

    fn read_value(value: &Value) -> Result<Tokenizer> {
        read(value.to_string().as_bytes())
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let changes: [(&str, Value, &str); 6] = [
            ("/config/version", json!("v99"), "config.version"),
            ("/config/default_vocab_size", json!(1000), "config.default_vocab_size"),
            ("/config/default_num_special_tokens", json!(19), "config.default_vocab_size"),
            ("/vocab/7/rank", json!(9), "vocab[7].rank"),
            ("/vocab/7/token_bytes", json!("YQ=="), "vocab[7].token_bytes"),
            ("/config/pattern", json!("("), "pattern"),
        ];
        for (place, value, named) in changes {
            let mut changed = file();
            *changed.pointer_mut(place).unwrap() = value;
            let error = read_value(&changed).unwrap_err().to_string();
            assert!(error.contains(named), "{place}: {error}");
        }
    }

    #[test]
    fn special_tokens_are_needed_from_version_11_on() {
        let mut new = file();
        new["config"]["version"] = json!("v11");
        assert!(read_value(&new).unwrap_err().to_string().contains("special_tokens"));
        new["special_tokens"] = json!([{"rank": 0, "token_str": "<s>", "is_control": true}]);
        assert_eq!(read_value(&new).unwrap().id_of_written(b"<s>"), Some(0));
    }
}
