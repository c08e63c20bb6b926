//! A tokenizer to a compiled file.
//!
//! What was written is read again and compared before it is given out, so that a part that the tables have no
//! place for is an error here. Takes as long as writing two `.bytepair` files.

use super::checksum::checksum;
use super::{CHECKSUM_AT, COVERED_FROM, FORMAT, MAGIC, N_SECTIONS, VERSION, read};
use crate::error::Result;
use crate::format::{inexpressible, native};
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Form, TokenId, TokenKind, Vocabulary};

/// The content of a file for a tokenizer.
///
/// # Errors
/// Where a token or the vocabulary is longer than 4 GB, or a part is lost.
pub fn write(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let file = content(tokenizer)?;
    match native::write(&read(&file)?) == native::write(tokenizer) {
        true => Ok(file),
        false => Err(inexpressible(FORMAT, "a part of this tokenizer")),
    }
}

fn content(tokenizer: &Tokenizer) -> Result<Vec<u8>> {
    let sections = sections(tokenizer)?;
    let mut file = Vec::from(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.resize(COVERED_FROM, 0);
    for section in &sections {
        file.extend((section.len() as u64).to_le_bytes());
    }
    sections.iter().for_each(|section| file.extend_from_slice(section));
    let sum = checksum(&file[COVERED_FROM..]);
    file[CHECKSUM_AT..COVERED_FROM].copy_from_slice(&sum.to_le_bytes());
    Ok(file)
}

fn sections(tokenizer: &Tokenizer) -> Result<[Vec<u8>; N_SECTIONS]> {
    let vocabulary: &Vocabulary = &tokenizer.parts().vocabulary;
    let (mut kinds, mut lengths, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for id in 0..TokenId::try_from(vocabulary.len()).unwrap_or(TokenId::MAX) {
        let token = vocabulary.token(id);
        let content = token.map_or(&[][..], |token| token.bytes);
        let length = u32::try_from(content.len());
        kinds.push(code(token.map_or(TokenKind::Hole, |token| token.kind)));
        lengths.extend(length.map_err(|_| inexpressible(FORMAT, "a long token"))?.to_le_bytes());
        bytes.extend_from_slice(content);
    }
    let merges = vocabulary.merges().iter();
    let merges = merges.flat_map(|merge| [merge.left, merge.right, merge.result]);
    let counts = vocabulary.merge_counts().iter();
    Ok([
        native::write_head(tokenizer),
        kinds,
        lengths,
        bytes,
        merges.flat_map(u32::to_le_bytes).collect(),
        vocabulary.priorities().iter().flat_map(|priority| priority.to_le_bytes()).collect(),
        counts.flat_map(|count| count.to_le_bytes()).collect(),
    ])
}

/// The number of a kind.
fn code(kind: TokenKind) -> u8 {
    match kind {
        TokenKind::Text(Form { continues, ends }) => u8::from(continues) | u8::from(ends) << 1,
        TokenKind::Byte => 4,
        TokenKind::Unknown => 5,
        TokenKind::Added => 6,
        TokenKind::Hole => 7,
    }
}
