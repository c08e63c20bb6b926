//! The sections of a compiled file, one after the other, each in blocks that fit a processor's cache.
//!
//! No length is believed before the sum of all is that of the file. A section whose checksum is false is damaged,
//! whatever its content was taken for. Takes one copy of each byte, and memory for one block.

use std::io::Read;

use super::{FORMAT, MAGIC, N_SECTIONS, SECTIONS_AT, TABLE_AT, VERSION};
use bytepair::for_formats::HugePageRow;
use bytepair::for_formats::{ask, read_claimed};
use bytepair::{Error, Result};

/// What is left of a file.
pub(super) struct Sections<R> {
    file: R,
    /// The length and the checksum of each section that is left.
    left: std::array::IntoIter<(usize, u64), N_SECTIONS>,
    block: Vec<u8>,
}

/// So much of a section is read after a part of it was refused, in bytes.
const MAX_READ_ON: usize = 16 << 20;

/// The length of a block, a multiple of the records of all sections and of the steps of the checksum.
const BLOCK_LEN: usize = 96 << 10;

impl<R: Read> Sections<R> {
    /// The sections of a file of `n_bytes` bytes.
    pub(super) fn new(mut file: R, n_bytes: u64) -> Result<Self> {
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
    pub(super) fn next_len(&self) -> usize {
        self.left.as_slice().first().map_or(0, |section| section.0)
    }

    /// Hands the next section over in blocks.
    ///
    /// # Errors
    /// Where the section is damaged; else what `take` says of it.
    pub(super) fn for_each_block(
        &mut self,
        mut take: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
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
    pub(super) fn whole(&mut self, check: impl FnMut(&[u8]) -> Result<()>) -> Result<Vec<u8>> {
        let (length, said) = self.left.next().unwrap_or_default();
        let bytes = read_claimed(&mut self.file, length, check)?.ok_or_else(cut_off)?;
        check_sum(checksum(&bytes), said).map(|()| bytes)
    }

    /// The next section as words in memory of their own; `None` where it has another length than so many.
    pub(super) fn words(&mut self, n_words: usize) -> Result<Option<HugePageRow<u64>>> {
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
    pub(super) fn for_each_record<const N: usize>(
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
pub(super) fn problem(part: &str, problem: impl Into<String>) -> Error {
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
pub(super) fn checksum(bytes: &[u8]) -> u64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..101).collect();
        for len in [32, 64, 96] {
            let mut sum = Checksum::new();
            bytes.chunks(len).for_each(|block| sum.update(block));
            assert_eq!(sum.value(), checksum(&bytes));
        }
    }
}
