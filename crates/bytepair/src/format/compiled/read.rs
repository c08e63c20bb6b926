//! A compiled file to a tokenizer.
//!
//! Every length and every id is checked, whatever the checksums say, so that no file, made by whomever, does more
//! than fail. Memory is proportional to the file.

use std::io::Read;

use super::KIND_BITS;
use super::sections::{Sections, problem};
use crate::error::Result;
use crate::format::native;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Entries, Merge, TokenId, TokenKind, Vocabulary};

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or of another version.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    read_from(file, file.len() as u64)
}

/// The tokenizer of a file of `n_bytes` bytes, of which no more than a part is in memory at once.
///
/// # Errors
/// The same, and where it cannot be read.
pub fn read_from(file: impl Read, n_bytes: u64) -> Result<Tokenizer> {
    let mut sections = Sections::new(file, n_bytes)?;
    let head = sections.whole()?;
    let mut vocabulary = tokens(&mut sections)?;
    push_merges(&mut sections, &mut vocabulary)?;
    native::read_head(&head, vocabulary)
}

fn tokens(sections: &mut Sections<impl Read>) -> Result<Vocabulary> {
    let unsound = || problem("the tokens", "have lengths that are not those of their bytes");
    let mut entries = Entries::with_capacity(sections.next_len() / 4);
    sections.for_each_record(unsound, |record: &[u8; 4]| {
        let record = u32::from_le_bytes(*record);
        let (kind, len) = (TokenKind::of_code((record & 7) as u8), (record >> KIND_BITS) as usize);
        let is_sound = match kind {
            TokenKind::Hole => len == 0,
            TokenKind::Byte => len == 1,
            _ => true,
        };
        if is_sound { entries.push(kind, len) } else { Err(unsound()) }
    })?;
    Vocabulary::of_entries(entries, sections.whole()?).ok_or_else(unsound)
}

fn push_merges(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let n_ids = vocabulary.len();
    let has_holes = vocabulary.iter().count() < n_ids;
    vocabulary.reserve_merges(sections.next_len() / 12);
    let unsound = || problem("the merges", "are not three ids each");
    sections.for_each_record(unsound, |record: &[u8; 12]| {
        let (ids, _) = record.as_chunks::<4>();
        let [left, right, result] = [ids[0], ids[1], ids[2]].map(u32::from_le_bytes);
        let is_known =
            |id: TokenId| (id as usize) < n_ids && (!has_holes || vocabulary.token(id).is_some());
        if !(is_known(left) && is_known(right) && is_known(result)) {
            let merge = format!("merge {}", vocabulary.merges().len());
            return Err(problem(&merge, "an id without a token"));
        }
        vocabulary.push_merge_to(Merge { left, right, result });
        Ok(())
    })?;
    let mut priorities = Vec::with_capacity(sections.next_len() / 4);
    let unsound = || problem("the priorities", "are not one for each merge");
    sections.for_each_record(unsound, |record: &[u8; 4]| {
        priorities.push(u32::from_le_bytes(*record));
        Ok(())
    })?;
    if !vocabulary.set_priorities(priorities) {
        return Err(unsound());
    }
    let mut counts = Vec::with_capacity(sections.next_len() / 8);
    let unsound = || problem("the counts", "are not one for each merge");
    sections.for_each_record(unsound, |record: &[u8; 8]| {
        counts.push(i64::from_le_bytes(*record));
        Ok(())
    })?;
    if !counts.is_empty() && counts.len() != vocabulary.merges().len() {
        return Err(unsound());
    }
    vocabulary.set_merge_counts(counts);
    Ok(())
}
