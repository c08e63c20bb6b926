//! A tokenizer to a `.bytepair` file, and its fingerprint.
//!
//! Fields are written one by one, lists with one entry on each line, so the bytes depend on nothing but
//! the tokenizer; the fingerprint is that of the same bytes without the counts. Left out: refusals, as every
//! tokenizer can be written.
//! Cost: linear in the file, which is held in memory once.

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::VERSION;
use super::schema::{
    AddedRecord, DecodeRecord, EndMarkRecord, FlavourRecord, FormRecord, KindRecord,
    MarkKindRecord, MarkedRecord, StageRecord, StepRecord, TemplateRecord, TokenRecord, UnitRecord,
    UnitsRecord, UnmatchedRecord,
};
use crate::added::AddedToken;
use crate::decode::DecodeRules;
use crate::format::hexadecimal;
use crate::normalize::{NormalizeStep, UnicodeForm};
use crate::split::{Flavour, Stage, Unmatched};
use crate::tokenizer::{Template, Tokenizer};
use crate::units::{ByteIds, EndMarkKind, Unit, Units};
use crate::vocabulary::{Form, Token, TokenId, TokenKind};

/// The content of a file for a tokenizer.
///
/// ```
/// use bytepair::format::native;
/// # let mut counts = bytepair::PieceCounts::new();
/// # counts.add(b"low", 5, None)?;
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

/// A name for the content: two tokenizers have the same if they give the same ids and the same text.
///
/// The SHA-256, in hexadecimal, of the file without the counts of the merges.
pub fn fingerprint(tokenizer: &Tokenizer) -> String {
    hexadecimal(&Sha256::digest(content(tokenizer, false)))
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

impl From<&AddedToken> for AddedRecord {
    fn from(token: &AddedToken) -> Self {
        let AddedToken { id, content, special, normalized } = token.clone();
        Self { id, content, special, normalized }
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
