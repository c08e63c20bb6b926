//! A `.bytepair` file to a tokenizer.
//!
//! Checks what the types of the schema cannot say: the version, the Unicode tables, the bytes of each
//! token, that every id of a merge has a token and that counts, if any, are one for each merge. Left out:
//! whether the parts fit each other, which [`Tokenizer::new`] checks.
//! Cost: time and memory linear in the file.

use std::sync::Arc;

use super::schema::{
    AddedRecord, File, FlavourRecord, FormRecord, KindRecord, MarkKindRecord, MarkedRecord,
    StageRecord, StepRecord, TokenRecord, UnitRecord, UnitsRecord, UnmatchedRecord,
};
use super::{FORMAT, VERSION};
use crate::added::AddedToken;
use crate::decode::DecodeRules;
use crate::error::{Error, Result};
use crate::format::json;
use crate::normalize::{NormalizeStep, Normalizer, UnicodeForm};
use crate::split::{Flavour, Pattern, Splitter, Stage, Unmatched};
use crate::tokenizer::{Parts, Template, Tokenizer};
use crate::unicode::UnicodeTables;
use crate::units::{ByteIds, EndMark, EndMarkKind, Unit, Units};
use crate::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};

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

impl AddedRecord {
    fn into_token(self) -> Result<AddedToken> {
        let Self { id, content, special, normalized } = self;
        if content.is_empty() {
            return Err(Error::format(FORMAT, format!("added token {id}"), "has no content"));
        }
        Ok(AddedToken { id, content, special, normalized })
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

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|start| u8::from_str_radix(&digits[start..start + 2], 16).ok()).collect()
}
