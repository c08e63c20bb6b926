//! A `.bytepair` file as it stands on disk: the fields of version 2, and no others.
//!
//! Parts that are plain data say by their own `serde` attributes how they are written. Records stand here for what a
//! tokenizer holds in another form: patterns and character maps, which are compiled, and tokens, which are bytes. The names
//! and the order of the fields of parts and records are the format: a change changes files and fingerprints. [`File`] itself
//! is only read; its fields are written one by one, under the same names.
//!
//! Each pair of conversions stands together, and takes its value apart field by field, so that a field that is added and
//! forgotten here does not compile. Reading compiles patterns and character maps, and checks the bytes and the kind of each
//! token, that no token appears twice, that every id of a merge has a token and that priorities and counts, if any, are one
//! for each merge. Linear in the file.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::FORMAT;
use crate::hexadecimal;
use bytepair::added::AddedToken;
use bytepair::decode::Decode;
use bytepair::normalize::{
    BertRules, CharsMap, NormalizeStep, Normalizer, SentencePiece, SentencePieceRules, TextPattern,
    UnicodeForm,
};
use bytepair::pretokenize::Round;
use bytepair::template::{OffsetRules, Padding, Template, Truncation};
use bytepair::units::Units;
use bytepair::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Behaviour, Flavour, Pattern, Splitter, Stage};

/// The fields of a file, in the order in which they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) unicode: String,
    pub(super) normalizer: Vec<StepRecord>,
    pub(super) rounds: Vec<RoundRecord>,
    pub(super) units: Units,
    pub(super) ignore_merges: bool,
    pub(super) dropout: Option<f64>,
    pub(super) template: Template,
    pub(super) truncation: Option<Truncation>,
    pub(super) padding: Option<Padding>,
    pub(super) offsets: OffsetRules,
    pub(super) decode: Decode,
    pub(super) added_tokens: Vec<AddedToken>,
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
        form: UnicodeForm,
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
        #[serde(with = "FlavourRecord")]
        flavour: Flavour,
        to: String,
    },
    Strip {
        left: bool,
        right: bool,
    },
    StripAccents {},
    Bert(BertRules),
    Nmt {},
    ByteChars {},
    CharBytes {},
    Precompiled {
        charsmap: String,
    },
    Sentencepiece(#[serde(with = "SentencePieceRecord")] SentencePieceRules),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SentencePieceRules", deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "each is a rule of its own")]
struct SentencePieceRecord {
    #[serde(rename = "charsmap", serialize_with = "put_charsmap", deserialize_with = "charsmap")]
    characters: Option<CharsMap>,
    verbatim: Vec<String>,
    adds_space: bool,
    removes_extra_spaces: bool,
    escapes_spaces: bool,
    space_is_suffix: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RoundRecord {
    change: Vec<StepRecord>,
    split: Vec<StageRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StageRecord {
    pattern: String,
    #[serde(with = "FlavourRecord")]
    flavour: Flavour,
    #[serde(with = "BehaviourRecord")]
    behaviour: Behaviour,
    invert: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Flavour", rename_all = "snake_case")]
enum FlavourRecord {
    Rust,
    Oniguruma,
    Cutter,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Behaviour", rename_all = "snake_case")]
enum BehaviourRecord {
    Isolated,
    Removed,
    MergedWithPrevious,
    MergedWithNext,
    Contiguous,
}

impl From<&NormalizeStep> for StepRecord {
    fn from(step: &NormalizeStep) -> Self {
        match step.clone() {
            NormalizeStep::Lowercase => Self::Lowercase {},
            NormalizeStep::Form(form) => Self::Form { form },
            NormalizeStep::Replace { from, to } => Self::Replace { from, to },
            NormalizeStep::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
            NormalizeStep::ReplaceMatches { pattern, to } => {
                let Pattern { source, flavour } = pattern.pattern().clone();
                Self::ReplaceMatches { pattern: source, flavour, to }
            }
            NormalizeStep::Strip { left, right } => Self::Strip { left, right },
            NormalizeStep::StripAccents => Self::StripAccents {},
            NormalizeStep::Bert(rules) => Self::Bert(rules),
            NormalizeStep::Nmt => Self::Nmt {},
            NormalizeStep::ByteChars => Self::ByteChars {},
            NormalizeStep::CharBytes => Self::CharBytes {},
            NormalizeStep::Precompiled(map) => {
                Self::Precompiled { charsmap: STANDARD.encode(map.to_bytes()) }
            }
            NormalizeStep::SentencePiece(step) => Self::Sentencepiece(step.rules().clone()),
        }
    }
}

impl TryFrom<StepRecord> for NormalizeStep {
    type Error = Error;

    fn try_from(record: StepRecord) -> Result<Self> {
        Ok(match record {
            StepRecord::Lowercase {} => Self::Lowercase,
            StepRecord::Form { form } => Self::Form(form),
            StepRecord::Replace { from, .. } if from.is_empty() => {
                return Err(Error::format(FORMAT, "normalizer", "an empty text is replaced"));
            }
            StepRecord::Replace { from, to } => Self::Replace { from, to },
            StepRecord::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
            StepRecord::ReplaceMatches { pattern, flavour, to } => {
                let pattern = Pattern { source: pattern, flavour };
                let pattern = TextPattern::new(pattern, &UnicodeTables::latest())?;
                Self::ReplaceMatches { pattern, to }
            }
            StepRecord::Strip { left, right } => Self::Strip { left, right },
            StepRecord::StripAccents {} => Self::StripAccents,
            StepRecord::Bert(rules) => Self::Bert(rules),
            StepRecord::Nmt {} => Self::Nmt,
            StepRecord::ByteChars {} => Self::ByteChars,
            StepRecord::CharBytes {} => Self::CharBytes,
            StepRecord::Precompiled { charsmap } => Self::Precompiled(characters(&charsmap)?),
            StepRecord::Sentencepiece(rules) => Self::SentencePiece(SentencePiece::new(rules)?),
        })
    }
}

/// Writes a character map in base64; none is an empty text.
#[expect(clippy::ref_option, reason = "the form that serde calls")]
fn put_charsmap<S: Serializer>(
    map: &Option<CharsMap>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    let map = map.as_ref().map(|map| STANDARD.encode(map.to_bytes()));
    to.serialize_str(&map.unwrap_or_default())
}

fn charsmap<'de, D: Deserializer<'de>>(from: D) -> std::result::Result<Option<CharsMap>, D::Error> {
    let charsmap = String::deserialize(from)?;
    let map = (!charsmap.is_empty()).then(|| characters(&charsmap));
    map.transpose().map_err(D::Error::custom)
}

/// The character map that a file has in base64.
fn characters(charsmap: &str) -> Result<CharsMap> {
    let problem = |_| Error::format(FORMAT, "normalizer", "charsmap is not base64");
    CharsMap::parse(&STANDARD.decode(charsmap).map_err(problem)?)
}

impl From<&Round> for RoundRecord {
    fn from(round: &Round) -> Self {
        let Round { change, splitter } = round;
        Self {
            change: change.steps().iter().map(StepRecord::from).collect(),
            split: splitter.stages().iter().map(StageRecord::from).collect(),
        }
    }
}

impl RoundRecord {
    pub(super) fn n_steps(&self) -> usize {
        self.change.len() + self.split.len()
    }

    pub(super) fn into_round(self, unicode: UnicodeTables) -> Result<Round> {
        let Self { change, split } = self;
        let steps = change.into_iter().map(TryInto::try_into).collect::<Result<_>>()?;
        let stages = split.into_iter().map(Into::into).collect();
        let splitter = Splitter::new(stages, &unicode)?;
        Ok(Round { change: Normalizer::new(steps, unicode), splitter })
    }
}

impl From<&Stage> for StageRecord {
    fn from(stage: &Stage) -> Self {
        let Stage { pattern: Pattern { source, flavour }, behaviour, invert } = stage.clone();
        Self { pattern: source, flavour, behaviour, invert }
    }
}

impl From<StageRecord> for Stage {
    fn from(record: StageRecord) -> Self {
        let StageRecord { pattern, flavour, behaviour, invert } = record;
        let pattern = Pattern { source: pattern, flavour };
        Self { pattern, behaviour, invert }
    }
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
    kind: Cow<'static, str>,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes in hexadecimal, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

/// The vocabulary of a file.
///
/// # Errors
/// If a token or a merge is not as the format has it, or what belongs to the merges is not one for each.
pub(super) fn vocabulary(file: &File) -> Result<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (id, record) in (0..).zip(&file.tokens) {
        let Some(record) = record else { continue };
        let hexadecimal;
        let (kind, bytes) = match record {
            TokenRecord::Plain(text) => (TokenKind::PLAIN, text.as_bytes()),
            TokenRecord::Marked(marked) => {
                hexadecimal = marked.bytes().ok_or_else(|| bad_token(id))?;
                let kind = KINDS.iter().find(|(name, _)| *name == marked.kind);
                let (_, kind) = kind.ok_or_else(|| bad_kind(id))?;
                check_form(id, marked, &hexadecimal)?;
                (*kind, hexadecimal.as_slice())
            }
        };
        if let Some(same) = vocabulary.id(Token { kind, bytes }) {
            return Err(Error::format(
                FORMAT,
                format!("token {id}"),
                format!("is token {same} too"),
            ));
        }
        if kind == TokenKind::Byte && bytes.len() != 1 {
            return Err(bad_token(id));
        }
        vocabulary.insert(id, Token { kind, bytes })?;
    }
    if file.tokens.last().is_some_and(Option::is_none) {
        return Err(Error::format(FORMAT, "tokens", "end with an id that has no token"));
    }
    let has_token = |&id: &TokenId| vocabulary.token(id).is_some();
    if let Some((rank, [left, right, _])) =
        (0_usize..).zip(&file.merges).find(|(_, merge)| !merge.iter().all(has_token))
    {
        let part = format!("merge {rank}, of {left} and {right}");
        return Err(Error::format(FORMAT, part, "an id without a token"));
    }
    for &[left, right, result] in &file.merges {
        vocabulary.push_merge_to(Merge { left, right, result });
    }
    if !file.merge_counts.is_empty() && file.merge_counts.len() != file.merges.len() {
        return Err(Error::format(FORMAT, "merge_counts", "not one for each merge"));
    }
    if let Some(place) = file.merge_counts.iter().position(|&count| count < 0) {
        return Err(Error::format(FORMAT, format!("merge_counts, {place}"), "less than 0"));
    }
    vocabulary.set_merge_counts(file.merge_counts.clone());
    if !vocabulary.set_priorities(file.priorities.clone()) {
        return Err(Error::format(FORMAT, "priorities", "not one for each merge"));
    }
    Ok(vocabulary)
}

/// Refuses what is written in another way.
fn check_form(id: TokenId, marked: &MarkedRecord, bytes: &[u8]) -> Result<()> {
    let problem = match (&marked.hex, &*marked.kind) {
        (None, "plain") => "needs no kind: it is plain text",
        (Some(_), _) if std::str::from_utf8(bytes).is_ok() => "has hex, but its bytes are text",
        (Some(hex), _) if hex.bytes().any(|digit| digit.is_ascii_uppercase()) => {
            "has hex in upper case"
        }
        _ => return Ok(()),
    };
    Err(Error::format(FORMAT, format!("token {id}"), problem))
}

fn bad_kind(id: TokenId) -> Error {
    let known = KINDS.map(|(name, _)| name).join(", ");
    Error::format(FORMAT, format!("tokens, kind of token {id}"), format!("not one of {known}"))
}

fn bad_token(id: TokenId) -> Error {
    Error::format(
        FORMAT,
        format!("token {id}"),
        "needs its bytes as either text or hex, a byte token one of them",
    )
}

impl From<Token<'_>> for TokenRecord {
    fn from(token: Token<'_>) -> Self {
        let text = std::str::from_utf8(token.bytes).ok().map(str::to_owned);
        match (token.kind, text) {
            (TokenKind::PLAIN, Some(text)) => Self::Plain(text),
            (kind, text) => {
                let hex = text.is_none().then(|| hexadecimal(token.bytes));
                let kind = KINDS.iter().find(|(_, known)| *known == kind);
                let kind = kind.map_or("plain", |(name, _)| name).into();
                Self::Marked(MarkedRecord { kind, text, hex })
            }
        }
    }
}

impl MarkedRecord {
    fn bytes(&self) -> Option<Vec<u8>> {
        match (&self.text, &self.hex) {
            (Some(text), None) => Some(text.clone().into_bytes()),
            (None, Some(hex)) => from_hexadecimal(hex),
            _ => None,
        }
    }
}

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|start| u8::from_str_radix(&digits[start..start + 2], 16).ok()).collect()
}

/// The kinds of tokens that are written with their kind, by name.
const KINDS: [(&str, TokenKind); 7] = [
    ("plain", TokenKind::PLAIN),
    ("ending", TokenKind::ENDING),
    ("continuing", TokenKind::Text(Form::new(true, false))),
    ("continuing_ending", TokenKind::Text(Form::new(true, true))),
    ("byte", TokenKind::Byte),
    ("unknown", TokenKind::Unknown),
    ("added", TokenKind::Added),
];
