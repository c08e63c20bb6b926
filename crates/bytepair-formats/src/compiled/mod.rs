//! A compiled tokenizer: the same as a `.bytepair` file, for programs that start often.
//!
//! It holds the head of a `.bytepair` file, which says all but tokens and merges, and these as tables that are
//! read without being parsed. If possible, merges are the table that encoders use, as it is in memory, and their list is
//! made from it at first use. Otherwise (merges with priorities, very large vocabularies) they are the list. What can be
//! built quickly (the automaton of the split pattern, the look-up of tokens by content) is not stored. Most of the time
//! goes into memory that is touched for the first time, so the file is read block by block into its final form. Left out:
//! any promise that another version of this library can read it; keep a `.bytepair` or a `tokenizer.json` as the original.
//!
//! The file, all numbers little-endian: 8 bytes `MAGIC`; `u32` version; `u32` zero; `u64` checksum of the table of
//! sections; that table, for each section a `u64` length and a `u64` checksum; the sections. A file with a
//! changed bit is an error, never other ids.
//!
//! Sections are read one after the other, each in blocks that fit a processor's cache: one copy of each byte, and memory for
//! one block. No length is believed before the sum of all is that of the file. A section whose checksum is false is damaged,
//! whatever its content was taken for.
//!
//! Every length and every id is checked, whatever the checksums say, so that no file, not even a forged one, does more than
//! fail. Memory grows as bytes are found, and what a file claims to hold is bounded by what was found before:
//! a file may be sparse and read as zeros for any length. What was written is read again and compared before it is given
//! out, so that a part that the tables have no place for is an error; that takes as long as writing two `.bytepair` files.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::sync::Arc;

use crate::{inexpressible, most_ids, native};
use bytepair::for_formats::{
    Description, Entries, HugePageRow, PackedMerges, ask, code_of_kind, kind_of_code, merge_table,
    read_claimed, set_merge_table, set_merges, vocabulary_of,
};
use bytepair::vocabulary::{Merge, TokenId, TokenKind, Vocabulary};
use bytepair::{Error, Result, Tokenizer};

/// The name of the format in messages.
const FORMAT: &str = "a compiled tokenizer";

/// What every file begins with: no text, and nothing that survives a change of line ends.
const MAGIC: [u8; 8] = *b"\x8Fbpc\r\n\x1A\n";

/// The version that is written and read.
const VERSION: u32 = 3;

/// Where the table of sections begins.
const TABLE_AT: usize = 24;

/// The head; lengths and kinds of tokens; their bytes; the list of merges, and their priorities, if any are not their
/// places; or what the slots of their table mean, and these; how often each occurred.
const N_SECTIONS: usize = 8;

/// Where the sections begin.
const SECTIONS_AT: usize = TABLE_AT + 16 * N_SECTIONS;

/// Says that a slot holds the rank of a merge instead of the bits for merges that make the same token.
const BY_RANK: u32 = u32::MAX;

/// Bits of the kind in the length of a token.
const KIND_BITS: u32 = 3;

/// Whether a file begins as one of these.
pub fn is_compiled(file: &[u8]) -> bool {
    file.starts_with(&MAGIC)
}

/// For how many records there is room at once.
const N_BELIEVED: usize = 1 << 20;

/// The most merges for each id, and some more. Vocabularies with all ways to make each token have about two.
const N_MERGES_PER_ID: usize = 64;

/// The tokenizer of a file.
///
/// # Errors
/// If the file is damaged, or of another version.
pub fn read(file: &[u8]) -> Result<Tokenizer> {
    read_from(file, file.len() as u64)
}

/// The tokenizer of a file of `n_bytes` bytes; no more than a part of it is in memory at once.
///
/// # Errors
/// If the file is damaged, of another version, or cannot be read.
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
    let part = "the priorities";
    let priorities = one_for_each_merge(sections, vocabulary, part, u32::from_le_bytes)?;
    if !vocabulary.set_priorities(priorities) {
        return Err(problem(part, "are not one for each merge"));
    }
    read_table(sections, vocabulary)?;
    let counts = one_for_each_merge(sections, vocabulary, "the counts", i64::from_le_bytes)?;
    vocabulary.set_merge_counts(counts);
    Ok(())
}

/// Whether ids have tokens. Tokens are only looked up from the first hole on.
fn known_ids(vocabulary: &Vocabulary) -> impl Fn(TokenId) -> bool {
    let mut ids = 0..TokenId::MAX;
    let first_hole = ids.find(|&id| vocabulary.token(id).is_none()).unwrap_or_default();
    move |id| id < first_hole || vocabulary.token(id).is_some()
}

fn push_merges(sections: &mut Sections<impl Read>, vocabulary: &mut Vocabulary) -> Result<()> {
    check_n_merges(sections.next_len() / 12, vocabulary)?;
    let mut merges = Vec::with_capacity((sections.next_len() / 12).min(N_BELIEVED));
    let is_known = known_ids(vocabulary);
    let unsound = || problem("the merges", "are not three ids each");
    sections.for_each_record(unsound, |record: &[u8; 12]| {
        let (ids, _) = record.as_chunks::<4>();
        let [left, right, result] = [ids[0], ids[1], ids[2]].map(u32::from_le_bytes);
        if ![left, right, result].into_iter().all(&is_known) {
            return Err(problem(&format!("merge {}", merges.len()), "an id without a token"));
        }
        merges.push(Merge { left, right, result });
        Ok(())
    })?;
    drop(is_known);
    set_merges(vocabulary, merges);
    Ok(())
}

/// The next section as numbers of `N` bytes, one for each merge or none.
fn one_for_each_merge<const N: usize, T>(
    sections: &mut Sections<impl Read>,
    vocabulary: &Vocabulary,
    part: &str,
    number: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>> {
    let unsound = || problem(part, "are not one for each merge");
    let n_numbers = sections.next_len() / N;
    if n_numbers != 0 && n_numbers != vocabulary.n_merges() {
        return Err(unsound());
    }
    let mut numbers = Vec::with_capacity(n_numbers);
    sections.for_each_record(unsound, |record: &[u8; N]| {
        numbers.push(number(*record));
        Ok(())
    })?;
    Ok(numbers)
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
    let is_known = known_ids(vocabulary);
    let table = PackedMerges::from_slots(slots, description, vocabulary.len(), is_known);
    set_merge_table(vocabulary, table.ok_or_else(unsound)?);
    Ok(())
}

/// The content of a file for a tokenizer.
///
/// # Errors
/// If a token or the vocabulary is longer than 4 GB, or a part is lost.
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

/// What the slots of the table of merges mean, and these; `None` if the list cannot be made of them.
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

/// What is left of a file.
struct Sections<R> {
    file: R,
    /// The length and the checksum of each section that is left.
    left: std::array::IntoIter<(usize, u64), N_SECTIONS>,
    block: Vec<u8>,
}

/// How much of a section is read after a part of it was refused, in bytes.
const MAX_READ_ON: usize = 16 << 20;

/// The length of a block, a multiple of the records of all sections and of the steps of the checksum.
const BLOCK_LEN: usize = 96 << 10;

impl<R: Read> Sections<R> {
    /// The sections of a file of `n_bytes` bytes.
    fn new(mut file: R, n_bytes: u64) -> Result<Self> {
        let mut start = Vec::with_capacity(SECTIONS_AT);
        file.by_ref().take(SECTIONS_AT as u64).read_to_end(&mut start)?;
        let (head, table) = start.split_at_checked(TABLE_AT).unwrap_or((&start, &[]));
        check_start(head, table)?;
        let mut sections = [(0, 0); N_SECTIONS];
        let mut sum = Some(SECTIONS_AT as u64);
        for (section, record) in sections.iter_mut().zip(table.as_chunks::<16>().0) {
            let (words, _) = record.as_chunks::<8>();
            let [length, said] = [words[0], words[1]].map(u64::from_le_bytes);
            sum = sum.and_then(|sum| sum.checked_add(length));
            *section = (usize::try_from(length).unwrap_or(usize::MAX), said);
        }
        if sum != Some(n_bytes) {
            return Err(problem(
                "the lengths of the sections",
                "do not match the file: it is cut off or damaged",
            ));
        }
        Ok(Self { file, left: sections.into_iter(), block: vec![0; BLOCK_LEN] })
    }

    /// The length of the next section.
    fn next_len(&self) -> usize {
        self.left.as_slice().first().map_or(0, |section| section.0)
    }

    /// Hands the next section over in blocks.
    ///
    /// # Errors
    /// If the section is damaged; else what `take` says of it.
    fn for_each_block(&mut self, mut take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut n_left, said) = self.left.next().unwrap_or_default();
        let (mut sum, mut taken) = (Checksum::new(), Ok(()));
        while n_left > 0 {
            let block = &mut self.block[..n_left.min(BLOCK_LEN)];
            self.file.read_exact(block)?;
            sum.update(block);
            n_left -= block.len();
            taken = taken.and_then(|()| take(block));
            // Damage is reported if finding it does not take long: the file may be sparse.
            if taken.is_err() && n_left > MAX_READ_ON {
                return taken;
            }
        }
        check_sum(sum.value(), said).and(taken)
    }

    /// The next section as a whole, in memory that grows as its bytes are found. `check` sees each part as it comes.
    fn whole(&mut self, check: impl FnMut(&[u8]) -> Result<()>) -> Result<Vec<u8>> {
        let (length, said) = self.left.next().unwrap_or_default();
        let bytes = read_claimed(&mut self.file, length, check)?.ok_or_else(cut_off)?;
        check_sum(checksum(&bytes), said).map(|()| bytes)
    }

    /// The next section as words in memory of their own; `None` if it has another length.
    fn words(&mut self, n_words: usize) -> Result<Option<HugePageRow<u64>>> {
        if n_words == 0 || n_words.checked_mul(8) != Some(self.next_len()) {
            return Ok(None);
        }
        ask(n_words * 8)?;
        let mut words = HugePageRow::with_room(n_words);
        self.for_each_block(|block| {
            let (records, _) = block.as_chunks::<8>();
            records.iter().for_each(|record| words.push(u64::from_le_bytes(*record)));
            Ok(())
        })?;
        Ok(Some(words))
    }

    /// The next section, which holds records of `N` bytes.
    fn for_each_record<const N: usize>(
        &mut self,
        unsound: impl Fn() -> Error,
        mut take: impl FnMut(&[u8; N]) -> Result<()>,
    ) -> Result<()> {
        self.for_each_block(|block| match block.as_chunks::<N>() {
            (records, []) => records.iter().try_for_each(&mut take),
            _ => Err(unsound()),
        })
    }
}

/// An error in a part of the file.
fn problem(part: &str, problem: impl Into<String>) -> Error {
    Error::format(FORMAT, part, problem)
}

/// Checks what stands before the sections.
fn check_start(head: &[u8], table: &[u8]) -> Result<()> {
    let Some(rest) = head.strip_prefix(&MAGIC) else {
        return Err(problem("the file", "does not start like one"));
    };
    let Some((version, rest)) = rest.split_first_chunk::<4>() else {
        return Err(problem("version", "missing; the file may be cut off"));
    };
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        let advice = "save it again from its original";
        let what = format!("version {version} is not supported, only {VERSION}; {advice}");
        return Err(problem("version", what));
    }
    let said = rest.strip_prefix(&[0; 4]).and_then(|said| <[u8; 8]>::try_from(said).ok());
    let said = said.filter(|_| table.len() == SECTIONS_AT - TABLE_AT).ok_or_else(damaged)?;
    check_sum(checksum(table), u64::from_le_bytes(said))
}

fn check_sum(found: u64, said: u64) -> Result<()> {
    // A fuzzer would never get past a checksum.
    if found == said || cfg!(fuzzing) { Ok(()) } else { Err(damaged()) }
}

fn cut_off() -> Error {
    problem("the file", "ends before its sections do: it is cut off")
}

fn damaged() -> Error {
    problem("the checksum", "does not match the content: the file is damaged")
}

/// An odd number whose multiples spread over all bits.
const ODD: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bytes that are taken at once.
const STEP_LEN: usize = 32;

/// A quick checksum of bytes that come in blocks, so that each is in a cache still: four running hashes, each of every
/// fourth word.
///
/// Every step is a bijection of the hash for a given word and of the word for a given hash, so one changed word always
/// shows. It guards against damage, not against malice. About 10 GB a second.
struct Checksum {
    lanes: [u64; 4],
    n_bytes: u64,
}

/// The checksum of bytes.
fn checksum(bytes: &[u8]) -> u64 {
    let mut sum = Checksum::new();
    sum.update(bytes);
    sum.value()
}

impl Checksum {
    fn new() -> Self {
        Self { lanes: [1, 2, 3, 4], n_bytes: 0 }
    }

    /// Takes the next block. The length of all but the last is a multiple of 32.
    fn update(&mut self, block: &[u8]) {
        debug_assert!(self.n_bytes.is_multiple_of(STEP_LEN as u64));
        let lanes = &mut self.lanes;
        let (steps, rest) = block.as_chunks::<STEP_LEN>();
        for bytes in steps {
            let (words, _) = bytes.as_chunks::<8>();
            for (lane, word) in lanes.iter_mut().zip(words) {
                *lane = step(*lane, u64::from_le_bytes(*word));
            }
        }
        for chunk in rest.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            lanes[0] = step(lanes[0], u64::from_le_bytes(word));
        }
        self.n_bytes += block.len() as u64;
    }

    fn value(self) -> u64 {
        self.lanes.into_iter().fold(self.n_bytes, step)
    }
}

fn step(hash: u64, word: u64) -> u64 {
    let mixed = (hash ^ word).wrapping_mul(ODD);
    mixed ^ mixed >> 29
}
