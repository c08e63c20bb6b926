//! The project's own format, `.bytepair`: every tokenizer, whole.
//!
//! One JSON object, with one token and one merge on each line, so that two tokenizers can be compared
//! by `diff`. The same tokenizer gives the same bytes. A token is a string where it is plain text, an
//! object where it has a kind or is not UTF-8, and `null` for an id without a token. Reading checks
//! every id, and refuses fields, versions and Unicode tables that this version of the program lacks.
//!
//! [`fingerprint`] is the SHA-256 of what decides ids and text: all but the counts of the merges.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::json;
use crate::added::AddedToken;
use crate::decode::DecodeRules;
use crate::error::{Error, Result};
use crate::normalize::{NormalizeStep, Normalizer, UnicodeForm};
use crate::split::{Flavour, Pattern, Splitter, Stage, Unmatched};
use crate::tokenizer::{Parts, Template, Tokenizer};
use crate::unicode::UnicodeTables;
use crate::units::{ByteIds, EndMark, EndMarkKind, Unit, Units};
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};

/// The name of the format in messages.
const FORMAT: &str = ".bytepair";

/// The version that is written, and the only one that is read.
const VERSION: u32 = 1;

/// The content of a file for a tokenizer.
///
/// ```
/// use bytepair::format::native;
/// # let counts = bytepair::PieceCounts::from_counts([(b"low".as_slice(), 5)])?;
/// # let dialect = bytepair::Dialect::named("gpt2").unwrap();
/// # let options = bytepair::TrainOptions {
/// #     target: bytepair::Target::Merges(2),
/// #     min_count: 2,
/// #     ties: dialect.ties,
/// #     special_tokens: vec![],
/// # };
/// # let trained = bytepair::train(&counts, &dialect.units, &options, |_| Ok(()))?;
/// # let tokenizer = dialect.tokenizer(trained, &options)?;
/// let file = native::write(&tokenizer);
/// let same = native::read(&file)?;
/// assert_eq!(native::fingerprint(&same), native::fingerprint(&tokenizer));
/// # Ok::<(), bytepair::Error>(())
/// ```
pub fn write(tokenizer: &Tokenizer) -> Vec<u8> {
    content(tokenizer, true)
}

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or holds what this version does not know.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    let file: File = json::parse(FORMAT, "the file", file)?;
    if file.format != "bytepair" {
        return Err(Error::format(FORMAT, "format", format!("not bytepair but {:?}", file.format)));
    }
    if file.version != VERSION {
        let problem = format!("{} is not the version {VERSION} that is understood", file.version);
        return Err(Error::format(FORMAT, "version", problem));
    }
    let unicode = UnicodeTables::latest();
    if file.unicode != unicode.version() {
        let problem = format!("no tables for {}, only for {}", file.unicode, unicode.version());
        return Err(Error::format(FORMAT, "unicode", problem));
    }
    let vocabulary = vocabulary(&file)?;
    let steps = file.normalizer.into_iter().map(step).collect::<Result<_>>()?;
    let stages = file.split.into_iter().map(StageRecord::into_stage).collect();
    Tokenizer::new(Parts {
        normalizer: Normalizer::new(steps, unicode),
        splitter: Splitter::new(stages, &unicode)?,
        units: file.units.into_units(),
        vocabulary: Arc::new(vocabulary),
        added: file.added_tokens.into_iter().map(AddedRecord::into_token).collect::<Result<_>>()?,
        ignore_merges: file.ignore_merges,
        template: Template { before: file.template.before, after: file.template.after },
        decode: DecodeRules {
            replacements: file.decode.replacements,
            n_leading_spaces: file.decode.n_leading_spaces,
        },
    })
    .map_err(|error| Error::format(FORMAT, "the tokenizer", error.to_string()))
}

/// A name for the content: two tokenizers have the same if they give the same ids and the same text.
///
/// The SHA-256, in hexadecimal, of the file without the counts of the merges.
pub fn fingerprint(tokenizer: &Tokenizer) -> String {
    let digest = Sha256::digest(content(tokenizer, false));
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The fields of a file, in the order in which they are written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u32,
    unicode: String,
    normalizer: Vec<StepRecord>,
    split: Vec<StageRecord>,
    units: UnitsRecord,
    ignore_merges: bool,
    template: TemplateRecord,
    decode: DecodeRecord,
    added_tokens: Vec<AddedRecord>,
    tokens: Vec<Option<TokenRecord>>,
    merges: Vec<[TokenId; 3]>,
    merge_counts: Vec<i64>,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
enum StepRecord {
    Lowercase {},
    Form { form: FormRecord },
    Replace { from: String, to: String },
    Prepend { text: String, only_first: bool, unless_there: bool },
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FormRecord {
    Nfc,
    Nfd,
    Nfkc,
    Nfkd,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StageRecord {
    pattern: String,
    flavour: FlavourRecord,
    unmatched: UnmatchedRecord,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum FlavourRecord {
    Rust,
    Oniguruma,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnmatchedRecord {
    Keep,
    Drop,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnitsRecord {
    unit: UnitRecord,
    end_mark: Option<EndMarkRecord>,
    continuing_prefix: Option<String>,
    unknown: Option<String>,
    fuse_unknown: bool,
    byte_fallback: bool,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnitRecord {
    PrintableByte,
    ByteValue,
    Character,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndMarkRecord {
    text: String,
    kind: MarkKindRecord,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum MarkKindRecord {
    Unit,
    Suffix,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TemplateRecord {
    before: Vec<TokenId>,
    after: Vec<TokenId>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DecodeRecord {
    replacements: Vec<(String, String)>,
    n_leading_spaces: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AddedRecord {
    id: TokenId,
    content: String,
    special: bool,
    normalized: bool,
}

/// A plain text, or a token that needs more words.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum TokenRecord {
    Plain(String),
    Marked(MarkedRecord),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MarkedRecord {
    kind: KindRecord,
    /// The bytes, where they are UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The bytes in hexadecimal, where they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindRecord {
    Plain,
    Ending,
    Continuing,
    ContinuingEnding,
    Byte,
    Unknown,
    Added,
}

fn content(tokenizer: &Tokenizer, with_counts: bool) -> Vec<u8> {
    let parts = tokenizer.parts();
    let vocabulary = &parts.vocabulary;
    let mut out = Lines { bytes: Vec::from(b"{"), is_first: true };
    out.field("format", &"bytepair");
    out.field("version", &VERSION);
    out.field("unicode", &parts.normalizer.unicode().version());
    out.list("normalizer", parts.normalizer.steps().iter().map(StepRecord::from));
    out.list("split", parts.splitter.stages().iter().map(StageRecord::from));
    out.field("units", &UnitsRecord::from(&parts.units));
    out.field("ignore_merges", &parts.ignore_merges);
    let Template { before, after } = parts.template.clone();
    out.field("template", &TemplateRecord { before, after });
    let DecodeRules { replacements, n_leading_spaces } = parts.decode.clone();
    out.field("decode", &DecodeRecord { replacements, n_leading_spaces });
    out.list("added_tokens", parts.added.iter().map(AddedRecord::from));
    let ids = 0..TokenId::try_from(vocabulary.len()).unwrap_or(TokenId::MAX);
    out.list("tokens", ids.map(|id| vocabulary.token(id).map(TokenRecord::from)));
    out.list(
        "merges",
        vocabulary.merges().iter().map(|merge| [merge.left, merge.right, merge.result]),
    );
    let counts = if with_counts { vocabulary.merge_counts() } else { &[] };
    out.list("merge_counts", counts.iter());
    out.bytes.extend_from_slice(b"\n}\n");
    out.bytes
}

/// A JSON object that is written field by field.
struct Lines {
    bytes: Vec<u8>,
    is_first: bool,
}

impl Lines {
    fn name(&mut self, name: &str) {
        let separator = if std::mem::take(&mut self.is_first) { "" } else { "," };
        self.bytes.extend_from_slice(format!("{separator}\n\"{name}\": ").as_bytes());
    }

    fn value(&mut self, value: &impl Serialize) {
        // Writing to memory cannot fail, and none of the records has keys that are no strings.
        let _ = serde_json::to_writer(&mut self.bytes, value);
    }

    fn field(&mut self, name: &str, value: &impl Serialize) {
        self.name(name);
        self.value(value);
    }

    fn list<T: Serialize>(&mut self, name: &str, values: impl Iterator<Item = T>) {
        self.name(name);
        self.bytes.push(b'[');
        let mut separator = "\n";
        for value in values {
            self.bytes.extend_from_slice(separator.as_bytes());
            self.value(&value);
            separator = ",\n";
        }
        self.bytes.push(b']');
    }
}

fn vocabulary(file: &File) -> Result<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (id, record) in (0..).zip(&file.tokens) {
        let Some(record) = record else { continue };
        let hexadecimal;
        let (kind, bytes) = match record {
            TokenRecord::Plain(text) => (TokenKind::PLAIN, text.as_bytes()),
            TokenRecord::Marked(marked) => {
                hexadecimal = marked.bytes().ok_or_else(|| bad_token(id))?;
                (marked.kind.into(), hexadecimal.as_slice())
            }
        };
        if kind == TokenKind::Byte && bytes.len() != 1 {
            return Err(bad_token(id));
        }
        vocabulary.insert(id, Token { kind, bytes })?;
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
    if !matches!(file.merge_counts.len(), 0) && file.merge_counts.len() != file.merges.len() {
        return Err(Error::format(FORMAT, "merge_counts", "not one for each merge"));
    }
    vocabulary.set_merge_counts(file.merge_counts.clone());
    Ok(vocabulary)
}

fn bad_token(id: TokenId) -> Error {
    Error::format(
        FORMAT,
        format!("token {id}"),
        "needs its bytes as either text or hex, a byte token one of them",
    )
}

fn step(record: StepRecord) -> Result<NormalizeStep> {
    Ok(match record {
        StepRecord::Lowercase {} => NormalizeStep::Lowercase,
        StepRecord::Form { form } => NormalizeStep::Form(form.into()),
        StepRecord::Replace { from, .. } if from.is_empty() => {
            return Err(Error::format(FORMAT, "normalizer", "an empty text is replaced"));
        }
        StepRecord::Replace { from, to } => NormalizeStep::Replace { from, to },
        StepRecord::Prepend { text, only_first, unless_there } => {
            NormalizeStep::Prepend { text, only_first, unless_there }
        }
    })
}

impl From<&NormalizeStep> for StepRecord {
    fn from(step: &NormalizeStep) -> Self {
        match step.clone() {
            NormalizeStep::Lowercase => Self::Lowercase {},
            NormalizeStep::Form(form) => Self::Form { form: form.into() },
            NormalizeStep::Replace { from, to } => Self::Replace { from, to },
            NormalizeStep::Prepend { text, only_first, unless_there } => {
                Self::Prepend { text, only_first, unless_there }
            }
        }
    }
}

impl From<UnicodeForm> for FormRecord {
    fn from(form: UnicodeForm) -> Self {
        match form {
            UnicodeForm::Nfc => Self::Nfc,
            UnicodeForm::Nfd => Self::Nfd,
            UnicodeForm::Nfkc => Self::Nfkc,
            UnicodeForm::Nfkd => Self::Nfkd,
        }
    }
}

impl From<FormRecord> for UnicodeForm {
    fn from(form: FormRecord) -> Self {
        match form {
            FormRecord::Nfc => Self::Nfc,
            FormRecord::Nfd => Self::Nfd,
            FormRecord::Nfkc => Self::Nfkc,
            FormRecord::Nfkd => Self::Nfkd,
        }
    }
}

impl From<&Stage> for StageRecord {
    fn from(stage: &Stage) -> Self {
        Self {
            pattern: stage.pattern.source.clone(),
            flavour: match stage.pattern.flavour {
                Flavour::Rust => FlavourRecord::Rust,
                Flavour::Oniguruma => FlavourRecord::Oniguruma,
            },
            unmatched: match stage.unmatched {
                Unmatched::Keep => UnmatchedRecord::Keep,
                Unmatched::Drop => UnmatchedRecord::Drop,
            },
        }
    }
}

impl StageRecord {
    fn into_stage(self) -> Stage {
        let flavour = match self.flavour {
            FlavourRecord::Rust => Flavour::Rust,
            FlavourRecord::Oniguruma => Flavour::Oniguruma,
        };
        let unmatched = match self.unmatched {
            UnmatchedRecord::Keep => Unmatched::Keep,
            UnmatchedRecord::Drop => Unmatched::Drop,
        };
        Stage { pattern: Pattern { source: self.pattern, flavour }, unmatched }
    }
}

impl From<&Units> for UnitsRecord {
    fn from(units: &Units) -> Self {
        let units = units.clone();
        Self {
            unit: match units.unit {
                Unit::Byte(ByteIds::Printable) => UnitRecord::PrintableByte,
                Unit::Byte(ByteIds::Value) => UnitRecord::ByteValue,
                Unit::Character => UnitRecord::Character,
            },
            end_mark: units.end_mark.map(|mark| EndMarkRecord {
                text: mark.text,
                kind: match mark.kind {
                    EndMarkKind::Unit => MarkKindRecord::Unit,
                    EndMarkKind::Suffix => MarkKindRecord::Suffix,
                },
            }),
            continuing_prefix: units.continuing_prefix,
            unknown: units.unknown,
            fuse_unknown: units.fuse_unknown,
            byte_fallback: units.byte_fallback,
        }
    }
}

impl UnitsRecord {
    fn into_units(self) -> Units {
        Units {
            unit: match self.unit {
                UnitRecord::PrintableByte => Unit::Byte(ByteIds::Printable),
                UnitRecord::ByteValue => Unit::Byte(ByteIds::Value),
                UnitRecord::Character => Unit::Character,
            },
            end_mark: self.end_mark.map(|mark| EndMark {
                text: mark.text,
                kind: match mark.kind {
                    MarkKindRecord::Unit => EndMarkKind::Unit,
                    MarkKindRecord::Suffix => EndMarkKind::Suffix,
                },
            }),
            continuing_prefix: self.continuing_prefix,
            unknown: self.unknown,
            fuse_unknown: self.fuse_unknown,
            byte_fallback: self.byte_fallback,
        }
    }
}

impl From<&AddedToken> for AddedRecord {
    fn from(token: &AddedToken) -> Self {
        let AddedToken { id, content, special, normalized } = token.clone();
        Self { id, content, special, normalized }
    }
}

impl AddedRecord {
    fn into_token(self) -> Result<AddedToken> {
        let Self { id, content, special, normalized } = self;
        if content.is_empty() {
            return Err(Error::format(FORMAT, format!("added token {id}"), "has no content"));
        }
        Ok(AddedToken { id, content, special, normalized })
    }
}

impl From<Token<'_>> for TokenRecord {
    fn from(token: Token<'_>) -> Self {
        let text = std::str::from_utf8(token.bytes).ok().map(str::to_owned);
        match (token.kind, text) {
            (TokenKind::PLAIN, Some(text)) => Self::Plain(text),
            (kind, text) => {
                let hex = text.is_none().then(|| hexadecimal(token.bytes));
                Self::Marked(MarkedRecord { kind: kind.into(), text, hex })
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

impl From<TokenKind> for KindRecord {
    fn from(kind: TokenKind) -> Self {
        match kind {
            TokenKind::Text(Form { continues: false, ends: false }) | TokenKind::Hole => {
                Self::Plain
            }
            TokenKind::Text(Form { continues: false, ends: true }) => Self::Ending,
            TokenKind::Text(Form { continues: true, ends: false }) => Self::Continuing,
            TokenKind::Text(Form { continues: true, ends: true }) => Self::ContinuingEnding,
            TokenKind::Byte => Self::Byte,
            TokenKind::Unknown => Self::Unknown,
            TokenKind::Added => Self::Added,
        }
    }
}

impl From<KindRecord> for TokenKind {
    fn from(kind: KindRecord) -> Self {
        let text = |continues, ends| Self::Text(Form { continues, ends });
        match kind {
            KindRecord::Plain => text(false, false),
            KindRecord::Ending => text(false, true),
            KindRecord::Continuing => text(true, false),
            KindRecord::ContinuingEnding => text(true, true),
            KindRecord::Byte => Self::Byte,
            KindRecord::Unknown => Self::Unknown,
            KindRecord::Added => Self::Added,
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|start| u8::from_str_radix(&digits[start..start + 2], 16).ok()).collect()
}
