//! A compiled file to a tokenizer.
//!
//! Every length and every id is checked, whatever the checksums say, so that no file, not even a forged one, does more than
//! fail. Memory grows as bytes are found, and what a file claims to hold is bounded by what was found before: a file may be
//! sparse and read as zeros for any length.

use std::io::Read;

use super::sections::{Sections, problem};
use super::{BY_RANK, KIND_BITS};
use crate::{most_ids, native};
use bytepair::Result;
use bytepair::Tokenizer;
use bytepair::for_formats::{
    Description, Entries, PackedMerges, kind_of_code, set_merge_table, set_merges, vocabulary_of,
};
use bytepair::vocabulary::{Merge, TokenId, TokenKind, Vocabulary};

/// For how many records there is room at once.
const N_BELIEVED: usize = 1 << 20;

/// For each id, so many merges at most, and some more. Vocabularies with all ways to make each token have about two.
const N_MERGES_PER_ID: usize = 64;

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
/// Where the file is damaged, of another version, or cannot be read.
pub fn read_from(file: impl Read, n_bytes: u64) -> Result<Tokenizer> {
    let mut sections = Sections::new(file, n_bytes)?;
    let head = sections.whole(|part| match part.contains(&0) {
        true => Err(problem("the head", "has bytes that are no text")),
        false => Ok(()),
    })?;
    let mut vocabulary = tokens(&mut sections)?;
    read_merges(&mut sections, &mut vocabulary)?;
    native::read_head(&head, vocabulary)
}

fn tokens(sections: &mut Sections<impl Read>) -> Result<Vocabulary> {
    let unsound = || problem("the tokens", "have lengths that do not match their bytes");
    let mut entries = Entries::with_capacity((sections.next_len() / 4).min(N_BELIEVED));
    let (mut n_ids, mut n_spelled) = (0, 0);
    sections.for_each_record(unsound, |record: &[u8; 4]| {
        let record = u32::from_le_bytes(*record);
        let (kind, len) = (kind_of_code((record & 7) as u8), (record >> KIND_BITS) as usize);
        n_ids += 1;
        n_spelled += usize::from(len > 0);
        if n_ids > most_ids(n_spelled) {
            return Err(problem(
                "the tokens",
                format!("{n_ids} ids, of which {n_spelled} have bytes"),
            ));
        }
        let is_sound = match kind {
            TokenKind::Hole => len == 0,
            TokenKind::Byte => len == 1,
            _ => true,
        };
        if is_sound { entries.push(kind, len) } else { Err(unsound()) }
    })?;
    if sections.next_len() != entries.n_bytes() {
        return Err(unsound());
    }
    vocabulary_of(entries, sections.whole(|_| Ok(()))?).ok_or_else(unsound)
}

/// Refuses more merges than a vocabulary has.
fn check_n_merges(n_merges: usize, vocabulary: &Vocabulary) -> Result<()> {
    let n_ids = vocabulary.len();
    if n_merges <= n_ids.saturating_mul(N_MERGES_PER_ID).saturating_add(N_BELIEVED) {
        return Ok(());
    }
    Err(problem("the merges", format!("{n_merges}, too many for {n_ids} ids")))
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
    check_n_merges(sections.next_len() / 12, vocabulary)?;
    let mut merges = Vec::with_capacity((sections.next_len() / 12).min(N_BELIEVED));
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
    set_merges(vocabulary, merges);
    Ok(())
}

fn push_priorities(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let unsound = || problem("the priorities", "are not one for each merge");
    let n_priorities = sections.next_len() / 4;
    if n_priorities != 0 && n_priorities != vocabulary.n_merges() {
        return Err(unsound());
    }
    let mut priorities = Vec::with_capacity(n_priorities);
    sections.for_each_record(unsound, |record: &[u8; 4]| {
        priorities.push(u32::from_le_bytes(*record));
        Ok(())
    })?;
    if vocabulary.set_priorities(priorities) { Ok(()) } else { Err(unsound()) }
}

fn read_table(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let unsound = || problem("the table of merges", "does not match the merges");
    if sections.next_len() > 8 {
        return Err(unsound());
    }
    let description = sections.whole(|_| Ok(()))?;
    let description = match description.as_chunks::<4>() {
        ([], []) if sections.next_len() > 0 => return Err(unsound()),
        ([], []) => return sections.whole(|_| Ok(())).map(drop),
        (&[n_merges, shift], []) => Description {
            n_merges: u32::from_le_bytes(n_merges) as usize,
            result_shift: Some(u32::from_le_bytes(shift)).filter(|&shift| shift != BY_RANK),
        },
        _ => return Err(unsound()),
    };
    if vocabulary.n_merges() > 0 {
        return Err(problem("the merges", "appear twice"));
    }
    if description.n_slots().checked_mul(8) != Some(sections.next_len()) {
        return Err(unsound());
    }
    check_n_merges(description.n_merges, vocabulary)?;
    let slots = sections.words(description.n_slots())?.ok_or_else(unsound)?;
    let known = KnownIds::of(vocabulary);
    let is_token = |id| known.contains(id);
    let table = PackedMerges::from_slots(slots, description, vocabulary.len(), is_token);
    set_merge_table(vocabulary, table.ok_or_else(unsound)?);
    Ok(())
}

fn push_counts(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    let unsound = || problem("the counts", "are not one for each merge");
    let n_counts = sections.next_len() / 8;
    if n_counts != 0 && n_counts != vocabulary.n_merges() {
        return Err(unsound());
    }
    let mut counts = Vec::with_capacity(n_counts);
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
