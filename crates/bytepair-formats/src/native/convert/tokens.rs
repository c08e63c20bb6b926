//! Units, tokens and added tokens, to records and back.
//!
//! Reading refuses an added token without content, which would stand everywhere.

use super::super::FORMAT;
use super::super::schema::{AddedRecord, EndMarkRecord, MarkedRecord, TokenRecord, UnitsRecord};
use crate::hexadecimal;
use bytepair::added::AddedToken;
use bytepair::units::{EndMark, Units};
use bytepair::vocabulary::{Token, TokenKind};
use bytepair::{Error, Result};

impl From<&Units> for UnitsRecord {
    fn from(units: &Units) -> Self {
        let Units {
            unit,
            end_mark,
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing,
        } = units.clone();
        let mark = |EndMark { text, kind }: EndMark| EndMarkRecord { text, kind: kind.into() };
        Self {
            unit: unit.into(),
            end_mark: end_mark.map(mark),
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing: missing.into(),
        }
    }
}

impl From<UnitsRecord> for Units {
    fn from(record: UnitsRecord) -> Self {
        let UnitsRecord {
            unit,
            end_mark,
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing,
        } = record;
        let mark =
            |EndMarkRecord { text, kind }: EndMarkRecord| EndMark { text, kind: kind.into() };
        Self {
            unit: unit.into(),
            end_mark: end_mark.map(mark),
            continuing_prefix,
            unknown,
            fuse_unknown,
            byte_fallback,
            missing: missing.into(),
        }
    }
}

impl From<&AddedToken> for AddedRecord {
    fn from(token: &AddedToken) -> Self {
        let AddedToken {
            id,
            content,
            special,
            normalized,
            lstrip,
            rstrip,
            single_word,
            whole_piece,
            in_model,
        } = token.clone();
        Self {
            id,
            content,
            special,
            normalized,
            lstrip,
            rstrip,
            single_word,
            whole_piece,
            in_model,
        }
    }
}

impl TryFrom<AddedRecord> for AddedToken {
    type Error = Error;

    fn try_from(record: AddedRecord) -> Result<Self> {
        let AddedRecord {
            id,
            content,
            special,
            normalized,
            lstrip,
            rstrip,
            single_word,
            whole_piece,
            in_model,
        } = record;
        if content.is_empty() {
            return Err(Error::format(FORMAT, format!("added token {id}"), "has no content"));
        }
        Ok(Self {
            id,
            content,
            special,
            normalized,
            lstrip,
            rstrip,
            single_word,
            whole_piece,
            in_model,
        })
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
    pub(in crate::native) fn bytes(&self) -> Option<Vec<u8>> {
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
