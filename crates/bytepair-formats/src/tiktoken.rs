//! `.tiktoken`: base64 of a token and its rank, line by line; the rank is the id.
//!
//! The file holds neither pattern nor special tokens. Writing gives a sidecar beside it, a JSON object
//! with both; reading takes them from there or from the caller. Written are tokenizers of bytes, without
//! normalizer, whose ids are proven to be those of tiktoken's rule (see `ranks`): merges in the order of
//! their ids, each token made by the pair that tiktoken joins, and a pattern that matches everything.
//!
//! Reading o200k (200,000 tokens) takes well under a second.

use std::collections::{HashMap, HashSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::json::{self, Entries};
use super::ranks::{self, Ranks};
use super::{check_bare, inexpressible, quoted, require};
use bytepair::added::AddedToken;
use bytepair::decode::Decode;
use bytepair::template::Template;
use bytepair::units::{Unit, Units};
use bytepair::vocabulary::{Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair::{Parts, Tokenizer};
use bytepair_split::{Flavour, Pattern, Stage, Unmatched};

/// The name of the format in messages.
pub(super) const FORMAT: &str = ".tiktoken";

/// The pattern for which a text is one piece.
const WHOLE_TEXT: &str = "(?s:.+)";

/// How published files write a token of no bytes.
const EMPTY_TOKEN: &[u8] = b"=";

/// What is written for one tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TiktokenFiles {
    /// The ranks, for a file whose name ends in `.tiktoken`.
    pub ranks: Vec<u8>,
    /// Pattern and special tokens, for a `.json` file beside it.
    pub sidecar: Vec<u8>,
}

/// What a `.tiktoken` file leaves out. tiktoken leaves out the text that the pattern does not match.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SidecarRecord<'f> {
    #[serde(default, rename = "name")]
    _name: Option<String>,
    pattern: String,
    #[serde(default)]
    flavour: FlavourRecord,
    #[serde(borrow)]
    special_tokens: Entries<'f>,
    /// How many tokens the file holds: one that was cut off holds fewer.
    #[serde(default)]
    n_tokens: Option<usize>,
}

#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FlavourRecord {
    #[default]
    Rust,
    Oniguruma,
}

/// The tokenizer of a file of ranks.
///
/// Of several special tokens with one id all are found, and the id is written as the first.
///
/// # Errors
/// If a line is not a token and its rank, a rank or token appears twice, a special token has the
/// id of another token, or the pattern is not understood.
pub fn read(
    file: &[u8],
    split: Vec<Stage>,
    special_tokens: &[(String, TokenId)],
) -> Result<Tokenizer> {
    let mut seen = HashSet::new();
    let specials = special_tokens.iter().cloned();
    let (own, aliases): (Vec<_>, Vec<_>) = specials.partition(|(_, id)| seen.insert(*id));
    let mut parts = ranks::parts(FORMAT, &entries(file)?, split, &own)?;
    let alias = |(content, id)| AddedToken { id, content, special: true, ..AddedToken::default() };
    parts.added.extend(aliases.into_iter().map(alias));
    Tokenizer::new(parts)
}

/// The tokenizer of a file of ranks and its sidecar.
///
/// # Errors
/// As [`read`], and if the file holds another number of tokens than the sidecar says.
pub fn read_with_sidecar(file: &[u8], sidecar: &[u8]) -> Result<Tokenizer> {
    let sidecar: SidecarRecord<'_> = json::parse(FORMAT, "the sidecar", sidecar)?;
    let lines = file.split(|&byte| byte == b'\n' || byte == b'\r');
    let n_found = lines.filter(|line| !line.is_empty()).count();
    if let Some(n_tokens) = sidecar.n_tokens.filter(|&n_tokens| n_tokens != n_found) {
        let problem = format!("the file holds {n_found} tokens: was it cut off?");
        return Err(Error::format(
            FORMAT,
            format!("n_tokens, {n_tokens}, of the sidecar"),
            problem,
        ));
    }
    let flavour = match sidecar.flavour {
        FlavourRecord::Rust => Flavour::Rust,
        FlavourRecord::Oniguruma => Flavour::Oniguruma,
    };
    let pattern = Pattern { source: sidecar.pattern, flavour };
    let split = match pattern.source.as_str() {
        WHOLE_TEXT => Vec::new(),
        _ => vec![Stage::matches(pattern, Unmatched::Drop)],
    };
    let special_tokens = sidecar.special_tokens.0.into_iter();
    let special_tokens: Vec<_> = special_tokens.map(|(name, id)| (name.into_owned(), id)).collect();
    read(file, split, &special_tokens)
}

/// The files of a tokenizer.
///
/// # Errors
/// If tiktoken could not give the same ids; the error names the part.
pub fn write(tokenizer: &Tokenizer) -> Result<TiktokenFiles> {
    let parts = tokenizer.parts();
    check_pipeline(parts)?;
    let pattern = pattern_of(parts)?;
    let entries = checked_entries(&parts.vocabulary)?;
    check_merges(parts, &entries)?;
    let special_tokens = checked_specials(parts)?;
    let sidecar = serde_json::json!({
        "name": null,
        "pattern": pattern,
        "flavour": "rust",
        "special_tokens": special_tokens,
        "n_tokens": entries.len(),
    });
    let mut ranks = Vec::new();
    for (bytes, id) in entries {
        let encoded = STANDARD.encode(bytes).into_bytes();
        ranks.extend_from_slice(if bytes.is_empty() { EMPTY_TOKEN } else { &encoded });
        ranks.extend_from_slice(format!(" {id}\n").as_bytes());
    }
    Ok(TiktokenFiles { ranks, sidecar: format!("{sidecar:#}\n").into_bytes() })
}

/// Refuses a tokenizer because of this part.
fn refuse<T>(part: impl Into<String>) -> Result<T> {
    Err(inexpressible(FORMAT, part))
}

/// Tokens and ids, in the order of the file.
fn entries(file: &[u8]) -> Result<Vec<(Vec<u8>, TokenId)>> {
    // Some editors put a byte order mark there, which no line of base64 can begin with.
    let file = file.strip_prefix(b"\xef\xbb\xbf".as_slice()).unwrap_or(file);
    let lines = (1_usize..).zip(file.split(|&byte| byte == b'\n'));
    let lines = lines.map(|(number, line)| (number, line.strip_suffix(b"\r").unwrap_or(line)));
    let entries = lines.filter(|(_, line)| !line.is_empty()).map(|(number, line)| {
        entry(line).ok_or_else(|| {
            let problem = "not a token in base64, a space and its rank";
            Error::format(FORMAT, format!("line {number}"), problem)
        })
    });
    let entries: Vec<_> = entries.collect::<Result<_>>()?;
    if entries.is_empty() {
        return Err(Error::format(FORMAT, "the file", "holds no token"));
    }
    Ok(entries)
}

/// The token of a line, and its rank.
pub(super) fn entry(line: &[u8]) -> Option<(Vec<u8>, TokenId)> {
    let place = line.iter().position(|&byte| byte == b' ')?;
    let token = match &line[..place] {
        EMPTY_TOKEN => Vec::new(),
        encoded => STANDARD.decode(encoded).ok().filter(|token| !token.is_empty())?,
    };
    let digits = std::str::from_utf8(&line[place + 1..]).ok()?;
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let id = digits.parse().ok().filter(|_| is_number)?;
    (token.len() <= ranks::MAX_TOKEN_LEN).then_some((token, id))
}

fn check_pipeline(parts: &Parts) -> Result<()> {
    check_bare(FORMAT, parts)?;
    let Units { unit, end_mark, continuing_prefix, unknown, .. } = &parts.units;
    let has_marks = end_mark.is_some() || continuing_prefix.is_some() || unknown.is_some();
    let checks = [
        (matches!(unit, Unit::Byte(_)), "units of characters"),
        (!has_marks, "an end mark, a continuing prefix or an unknown token"),
        (parts.normalizer.steps().is_empty(), "a normalizer"),
        (parts.template == Template::default(), "the special tokens that are put around a text"),
        (parts.decode == Decode::default(), "the rules of decoding"),
    ];
    require(FORMAT, &checks)
}

/// The one pattern, in the flavour that tiktoken reads.
fn pattern_of(parts: &Parts) -> Result<String> {
    let Some(splitter) = parts.pre_tokenizer.only_splitter() else {
        return refuse("a pre-tokenizer that changes the text");
    };
    let stage = match splitter.stages() {
        [] => return Ok(WHOLE_TEXT.to_owned()),
        [stage] => stage,
        stages => {
            return refuse(format!("{} split patterns in a row", stages.len()));
        }
    };
    let source = quoted(stage.pattern.source.as_bytes());
    if !splitter.covers_everything() {
        let part = format!(
            "the split pattern {source}: it is not proven to match everything, and tiktoken drops the rest"
        );
        return refuse(part);
    }
    let translated = bytepair_split::translated(&stage.pattern, Flavour::Rust);
    translated
        .map(|pattern| pattern.source)
        .map_err(|problem| inexpressible(FORMAT, format!("the split pattern {source}: {problem}")))
}

/// The text tokens in the order of their ids.
fn checked_entries(vocabulary: &Vocabulary) -> Result<Vec<(&[u8], TokenId)>> {
    let mut entries = Vec::new();
    for (id, token) in vocabulary.iter() {
        match token.kind {
            TokenKind::PLAIN if vocabulary.id(token) == Some(id) => entries.push((token.bytes, id)),
            TokenKind::PLAIN => {
                return refuse(format!("two ids for the token {}", quoted(token.bytes)));
            }
            TokenKind::Added => {}
            _ => {
                return refuse(format!("the token {id}, which is not plain text"));
            }
        }
    }
    if let Some((bytes, _)) = entries.iter().find(|(bytes, _)| bytes.len() > ranks::MAX_TOKEN_LEN) {
        return refuse(format!("a token of {} bytes", bytes.len()));
    }
    let missing = (0..=255).find(|&byte: &u8| vocabulary.id(Token::plain(&[byte])).is_none());
    match missing {
        Some(byte) => refuse(format!("a vocabulary without the byte {byte:#04X}")),
        None => Ok(entries),
    }
}

/// Proves that the merges do what tiktoken does with the ranks.
///
/// Merges that tiktoken's rule never comes to (see `ranks`) change nothing as long as each of them gives
/// the token of its joined bytes, and all are in the order of their ids.
fn check_merges(parts: &Parts, entries: &[(&[u8], TokenId)]) -> Result<()> {
    let vocabulary = &parts.vocabulary;
    let by_bytes: Ranks<'_> = entries.iter().copied().collect();
    let mut last_result = 0;
    let mut by_pair = HashMap::new();
    for merge in vocabulary.merges() {
        let (_, bytes) = vocabulary.merged(merge.left, merge.right)?;
        let name = quoted(&bytes);
        if by_bytes.get(bytes.as_slice()) != Some(&merge.result) {
            return refuse(format!("a merge that does not give the token {name}"));
        }
        if merge.result < last_result {
            return refuse(format!(
                "a merge into {name} whose place is not in the order of the ids"
            ));
        }
        last_result = merge.result;
        by_pair.insert((merge.left, merge.right), merge.result);
    }
    let mut steps = ranks::Steps::new(&by_bytes);
    for (bytes, id) in entries.iter().filter(|(bytes, _)| bytes.len() > 1) {
        let made = steps.last_pair(bytes);
        let is_same = match made {
            Some(pair) => by_pair.get(&pair) == Some(id),
            None => parts.ignore_merges,
        };
        if !is_same {
            let part =
                format!("the token {}, which tiktoken would make from other parts", quoted(bytes));
            return refuse(part);
        }
    }
    Ok(())
}

/// The special tokens, as a JSON object.
fn checked_specials(parts: &Parts) -> Result<serde_json::Map<String, serde_json::Value>> {
    let mut specials = serde_json::Map::new();
    for token in &parts.added {
        let name = quoted(token.content.as_bytes());
        let is_own =
            parts.vocabulary.token(token.id).is_some_and(|known| known.kind == TokenKind::Added);
        if !token.special || !is_own {
            return refuse(format!("the added token {name}, which is not special"));
        }
        specials.insert(token.content.clone(), token.id.into());
    }
    check_prefixes(&parts.added)?;
    let used: HashSet<_> = parts.added.iter().map(|token| token.id).collect();
    let is_unused = |id, token: Token<'_>| token.kind == TokenKind::Added && !used.contains(&id);
    match parts.vocabulary.iter().find(|&(id, token)| is_unused(id, token)) {
        Some((id, token)) => {
            let part = format!("the token {id}, {}, which is never used", quoted(token.bytes));
            refuse(part)
        }
        None => Ok(specials),
    }
}

/// Refuses special tokens with which others begin: in sorted order, the next one does.
fn check_prefixes(added: &[AddedToken]) -> Result<()> {
    let mut contents: Vec<_> = added.iter().map(|token| token.content.as_str()).collect();
    contents.sort_unstable();
    match contents.windows(2).find(|pair| pair[1].starts_with(pair[0])) {
        Some(pair) => {
            let [token, longer] = [pair[0], pair[1]].map(|name| quoted(name.as_bytes()));
            let part = format!("the special token {token}, with which {longer} begins");
            refuse(part)
        }
        None => Ok(()),
    }
}
