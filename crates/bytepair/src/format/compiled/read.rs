//! A compiled file to a tokenizer.
//!
//! Every length and every id is checked, whatever the checksums say, so that no file, made by whomever, does more
//! than fail. Memory is proportional to the file.

use std::io::Read;

use super::sections::{Sections, problem};
use super::{BY_RANK, KIND_BITS};
use crate::error::Result;
use crate::format::native;
use crate::merge_table::{Description, PackedMerges};
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
    read_merges(&mut sections, &mut vocabulary)?;
    native::read_head(&head, vocabulary)
}

fn tokens(sections: &mut Sections<impl Read>) -> Result<Vocabulary> {
    let unsound = || problem("the tokens", "have lengths that do not match their bytes");
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

/// The merges as a list or as a table; one of them is empty.
fn read_merges(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    push_merges(sections, vocabulary)?;
    push_priorities(sections, vocabulary)?;
    read_table(sections, vocabulary)?;
    push_counts(sections, vocabulary)
}

/// The ids that have tokens.
struct KnownIds<'v> {
    vocabulary: &'v Vocabulary,
    first_hole: TokenId,
}

impl<'v> KnownIds<'v> {
    fn of(vocabulary: &'v Vocabulary) -> Self {
        let n_ids = TokenId::try_from(vocabulary.len()).unwrap_or(TokenId::MAX);
        let first_hole = (0..n_ids).find(|&id| vocabulary.token(id).is_none());
        Self { vocabulary, first_hole: first_hole.unwrap_or(n_ids) }
    }

    #[inline]
    fn contains(&self, id: TokenId) -> bool {
        id < self.first_hole || self.vocabulary.token(id).is_some()
    }
}

fn push_merges(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let mut merges = Vec::with_capacity(sections.next_len() / 12);
    let known = KnownIds::of(vocabulary);
    let unsound = || problem("the merges", "are not three ids each");
    sections.for_each_record(unsound, |record: &[u8; 12]| {
        let (ids, _) = record.as_chunks::<4>();
        let [left, right, result] = [ids[0], ids[1], ids[2]].map(u32::from_le_bytes);
        if ![left, right, result].into_iter().all(|id| known.contains(id)) {
            return Err(problem(&format!("merge {}", merges.len()), "an id without a token"));
        }
        merges.push(Merge { left, right, result });
        Ok(())
    })?;
    vocabulary.set_merges(merges);
    Ok(())
}

fn push_priorities(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let mut priorities = Vec::with_capacity(sections.next_len() / 4);
    let unsound = || problem("the priorities", "are not one for each merge");
    sections.for_each_record(unsound, |record: &[u8; 4]| {
        priorities.push(u32::from_le_bytes(*record));
        Ok(())
    })?;
    if vocabulary.set_priorities(priorities) { Ok(()) } else { Err(unsound()) }
}

fn read_table(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let unsound = || problem("the table of merges", "does not match the merges");
    let description = sections.whole()?;
    let description = match description.as_chunks::<4>() {
        ([], []) => return if sections.whole()?.is_empty() { Ok(()) } else { Err(unsound()) },
        (&[n_merges, shift], []) => Description {
            n_merges: u32::from_le_bytes(n_merges) as usize,
            result_shift: Some(u32::from_le_bytes(shift)).filter(|&shift| shift != BY_RANK),
        },
        _ => return Err(unsound()),
    };
    if vocabulary.n_merges() > 0 {
        return Err(problem("the merges", "appear twice"));
    }
    let slots = sections.words(description.n_slots())?.ok_or_else(unsound)?;
    let known = KnownIds::of(vocabulary);
    let is_token = |id| known.contains(id);
    let table = PackedMerges::from_slots(slots, description, vocabulary.len(), is_token);
    vocabulary.set_merge_table(table.ok_or_else(unsound)?);
    Ok(())
}

fn push_counts(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let mut counts = Vec::with_capacity(sections.next_len() / 8);
    let unsound = || problem("the counts", "are not one for each merge");
    sections.for_each_record(unsound, |record: &[u8; 8]| {
        counts.push(i64::from_le_bytes(*record));
        Ok(())
    })?;
    if !counts.is_empty() && counts.len() != vocabulary.n_merges() {
        return Err(unsound());
    }
    vocabulary.set_merge_counts(counts);
    Ok(())
}
