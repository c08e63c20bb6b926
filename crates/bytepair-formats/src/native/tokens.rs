//! Tokens and merges, to records and back.
//!
//! Reading checks the bytes and the kind of each token, that no token appears twice, that every id of a merge has a
//! token and that priorities and counts, if any, are one for each merge. Linear in the tables.

use super::FORMAT;
use super::schema::{File, KindRecord, MarkedRecord, TokenRecord};
use crate::hexadecimal;
use bytepair::vocabulary::{Form, Merge, Token, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result};

/// The vocabulary of a file.
///
/// # Errors
/// Where a token or a merge is not as the format has it, or what belongs to the merges is not one for each.
pub(super) fn vocabulary(file: &File) -> Result<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (id, record) in (0..).zip(&file.tokens) {
        let Some(record) = record else { continue };
        let hexadecimal;
        let (kind, bytes) = match record {
            TokenRecord::Plain(text) => (TokenKind::PLAIN, text.as_bytes()),
            TokenRecord::Marked(marked) => {
                hexadecimal = marked.bytes().ok_or_else(|| bad_token(id))?;
                check_form(id, marked, &hexadecimal)?;
                (marked.kind.into(), hexadecimal.as_slice())
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
    if !matches!(file.merge_counts.len(), 0) && file.merge_counts.len() != file.merges.len() {
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
    let problem = match (&marked.hex, marked.kind) {
        (None, KindRecord::Plain) => "needs no kind: it is plain text",
        (Some(_), _) if std::str::from_utf8(bytes).is_ok() => "has hex, but its bytes are text",
        (Some(hex), _) if hex.bytes().any(|digit| digit.is_ascii_uppercase()) => {
            "has hex in upper case"
        }
        _ => return Ok(()),
    };
    Err(Error::format(FORMAT, format!("token {id}"), problem))
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

fn from_hexadecimal(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..digits.len()).step_by(2);
    pairs.map(|start| u8::from_str_radix(&digits[start..start + 2], 16).ok()).collect()
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
