//! A tokenizer to a compiled file.
//!
//! What was written is read again and compared before it is given out, so that a part that the tables have no
//! place for is an error here. Takes as long as writing two `.bytepair` files.

use std::sync::Arc;

use super::checksum::checksum;
use super::{BY_RANK, FORMAT, KIND_BITS, MAGIC, N_SECTIONS, VERSION, read};
use crate::{inexpressible, native};
use bytepair::Result;
use bytepair::Tokenizer;
use bytepair::for_formats::{Description, PackedMerges, code_of_kind, merge_table};
use bytepair::vocabulary::{TokenId, TokenKind, Vocabulary};

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
    let words = |section: &Vec<u8>| [section.len() as u64, checksum(section)];
    let table: Vec<_> = sections.iter().flat_map(words).flat_map(u64::to_le_bytes).collect();
    let mut file = Vec::from(MAGIC);
    file.extend(VERSION.to_le_bytes());
    file.extend([0; 4]);
    file.extend(checksum(&table).to_le_bytes());
    file.extend(table);
    sections.iter().for_each(|section| file.extend_from_slice(section));
    Ok(file)
}

fn sections(tokenizer: &Tokenizer) -> Result<[Vec<u8>; N_SECTIONS]> {
    let vocabulary: &Vocabulary = &tokenizer.parts().vocabulary;
    let (mut tokens, mut bytes) = (Vec::new(), Vec::new());
    for id in 0..TokenId::try_from(vocabulary.len()).unwrap_or(TokenId::MAX) {
        let token = vocabulary.token(id);
        let content = token.map_or(&[][..], |token| token.bytes);
        let length = u32::try_from(content.len()).ok();
        let length = length.filter(|length| length >> (u32::BITS - KIND_BITS) == 0);
        let length = length.ok_or_else(|| inexpressible(FORMAT, "a long token"))?;
        let kind = token.map_or(TokenKind::Hole, |token| token.kind);
        tokens.extend((length << KIND_BITS | u32::from(code_of_kind(kind))).to_le_bytes());
        bytes.extend_from_slice(content);
    }
    let counts = vocabulary.merge_counts().iter();
    let [merges, priorities, description, slots] = table(vocabulary).map_or_else(
        || {
            let [merges, priorities] = list(vocabulary);
            [merges, priorities, Vec::new(), Vec::new()]
        },
        |[description, slots]| [Vec::new(), Vec::new(), description, slots],
    );
    let counts = counts.flat_map(|count| count.to_le_bytes()).collect();
    let head = native::write_head(tokenizer);
    Ok([head, tokens, bytes, merges, priorities, description, slots, counts])
}

/// The merges, and their priorities.
fn list(vocabulary: &Vocabulary) -> [Vec<u8>; 2] {
    let merges = vocabulary.merges().iter();
    let merges = merges.flat_map(|merge| [merge.left, merge.right, merge.result]);
    let priorities = vocabulary.priorities().iter();
    [
        merges.flat_map(u32::to_le_bytes).collect(),
        priorities.flat_map(|priority| priority.to_le_bytes()).collect(),
    ]
}

/// What the slots of the table of merges mean, and these; `None` where the list cannot be made of them.
fn table(vocabulary: &Vocabulary) -> Option<[Vec<u8>; 2]> {
    if vocabulary.n_merges() == 0 || !vocabulary.priorities().is_empty() {
        return None;
    }
    let fits = |table: &Arc<PackedMerges>| table.is_storable(vocabulary.len());
    let new = || PackedMerges::new(vocabulary).map(Arc::new).filter(fits);
    let table = merge_table(vocabulary).map(Arc::clone).filter(fits).or_else(new)?;
    let Description { n_merges, result_shift } = table.description();
    let words = [u32::try_from(n_merges).ok()?, result_shift.unwrap_or(BY_RANK)];
    let slots = table.slots().iter().flat_map(|slot| slot.to_le_bytes()).collect();
    Some([words.into_iter().flat_map(u32::to_le_bytes).collect(), slots])
}
