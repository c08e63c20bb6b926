//! A compiled file to a tokenizer.
//!
//! The checksum is proven first; then every length and every id is checked all the same, so that no file,
//! made by whomever, does more than fail. Memory is proportional to the file.

use super::checksum::checksum;
use super::{CHECKSUM_AT, COVERED_FROM, FORMAT, MAGIC, N_SECTIONS, SECTIONS_AT, VERSION};
use crate::error::{Error, Result};
use crate::format::native;
use crate::tokenizer::Tokenizer;
use crate::vocabulary::{Form, Merge, TokenId, TokenKind, Vocabulary};

/// The number of the kind of an id without a token, the largest of all.
const HOLE: u8 = 7;

/// The tokenizer of a file.
///
/// # Errors
/// Where the file is damaged, or of another version.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    check_header(file)?;
    let [head, kinds, lengths, bytes, merges, priorities, counts] = sections(file)?;
    let mut vocabulary = tokens(kinds, lengths, bytes)?;
    push_merges(&mut vocabulary, kinds, merges, priorities)?;
    vocabulary.set_merge_counts(merge_counts(counts, vocabulary.merges().len())?);
    native::read_head(head, vocabulary)
}

fn problem(part: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, part, problem)
}

fn check_header(file: &[u8]) -> Result<()> {
    if !file.starts_with(&MAGIC) {
        return Err(problem("the file", "does not begin as one does"));
    }
    let Some((version, _)) = file[MAGIC.len()..].split_first_chunk::<4>() else {
        return Err(problem("version", "missing; the file may be cut off"));
    };
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        let advice = "save it again from its original";
        let what = format!("{version} is not the version {VERSION} that is understood; {advice}");
        return Err(problem("version", what));
    }
    let said = file.get(CHECKSUM_AT..COVERED_FROM).and_then(<[u8]>::first_chunk::<8>);
    let is_whole =
        said.is_some_and(|said| u64::from_le_bytes(*said) == checksum(&file[COVERED_FROM..]));
    // A fuzzer would never get past a checksum.
    let is_whole = is_whole || cfg!(fuzzing);
    let is_zero = file.get(MAGIC.len() + 4..CHECKSUM_AT).is_some_and(|rest| rest == [0; 4]);
    match is_whole && is_zero {
        true => Ok(()),
        false => Err(problem("the checksum", "is not that of the content: the file is damaged")),
    }
}

fn sections(file: &[u8]) -> Result<[&[u8]; N_SECTIONS]> {
    let cut_off = || problem("the lengths of the sections", "are not those of the file");
    let lengths = file.get(COVERED_FROM..SECTIONS_AT).ok_or_else(cut_off)?;
    let mut rest = &file[SECTIONS_AT..];
    let mut sections = [&[][..]; N_SECTIONS];
    for (section, length) in sections.iter_mut().zip(lengths.as_chunks::<8>().0) {
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut_off())?;
        (*section, rest) = rest.split_at_checked(length).ok_or_else(cut_off)?;
    }
    rest.is_empty().then_some(sections).ok_or_else(cut_off)
}

fn tokens(kinds: &[u8], lengths: &[u8], bytes: &[u8]) -> Result<Vocabulary> {
    let (lengths, rest) = lengths.as_chunks::<4>();
    let is_sound =
        rest.is_empty() && lengths.len() == kinds.len() && kinds.iter().all(|kind| *kind <= HOLE);
    let unsound = || problem("the tokens", "have lengths that are not those of their bytes");
    if !is_sound {
        return Err(unsound());
    }
    let lengths = lengths.iter().map(|length| u32::from_le_bytes(*length) as usize);
    let pairs = kinds.iter().zip(lengths).map(|(&code, length)| (kind(code), length));
    let is_lost = pairs.clone().any(|(kind, length)| match kind {
        TokenKind::Hole => length > 0,
        TokenKind::Byte => length != 1,
        _ => false,
    });
    let vocabulary = Vocabulary::from_bytes(bytes.to_vec(), pairs);
    vocabulary.filter(|_| !is_lost).ok_or_else(unsound)
}

fn push_merges(
    vocabulary: &mut Vocabulary,
    kinds: &[u8],
    merges: &[u8],
    priorities: &[u8],
) -> Result<()> {
    let (merges, rest) = merges.as_chunks::<12>();
    if !rest.is_empty() {
        return Err(problem("the merges", "are not three ids each"));
    }
    let (priorities, rest) = priorities.as_chunks::<4>();
    let has_holes = kinds.contains(&HOLE);
    let is_known =
        |id: TokenId| (id as usize) < kinds.len() && !(has_holes && kinds[id as usize] == HOLE);
    vocabulary.reserve_merges(merges.len());
    for (rank, merge) in merges.iter().enumerate() {
        let (ids, _) = merge.as_chunks::<4>();
        let &[left, right, result] = ids else { continue };
        let [left, right, result] =
            [u32::from_le_bytes(left), u32::from_le_bytes(right), u32::from_le_bytes(result)];
        if !(is_known(left) && is_known(right) && is_known(result)) {
            return Err(problem(&format!("merge {rank}"), "an id without a token"));
        }
        vocabulary.push_merge_to(Merge { left, right, result });
    }
    let values = priorities.iter().map(|priority| u32::from_le_bytes(*priority)).collect();
    match rest.is_empty() && vocabulary.set_priorities(values) {
        true => Ok(()),
        false => Err(problem("the priorities", "are not one for each merge")),
    }
}

fn merge_counts(counts: &[u8], n_merges: usize) -> Result<Vec<i64>> {
    let (counts, rest) = counts.as_chunks::<8>();
    match rest.is_empty() && (counts.is_empty() || counts.len() == n_merges) {
        true => Ok(counts.iter().map(|count| i64::from_le_bytes(*count)).collect()),
        false => Err(problem("the counts", "are not one for each merge")),
    }
}

/// The kind of a number.
fn kind(code: u8) -> TokenKind {
    match code {
        0..4 => TokenKind::Text(Form { continues: code & 1 > 0, ends: code & 2 > 0 }),
        4 => TokenKind::Byte,
        5 => TokenKind::Unknown,
        6 => TokenKind::Added,
        _ => TokenKind::Hole,
    }
}
