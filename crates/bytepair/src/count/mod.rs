//! Pieces and how often they occur: the only thing that training looks at.
//!
//! [`PieceCounts`] of parts of a corpus merge commutatively and associatively into the counts of the
//! whole, so how the work was divided never shows in the result. Counts are checked 64-bit numbers.
//! `table` counts at full speed, `corpus` feeds it from texts and readers.

mod corpus;
mod summary;
mod table;

pub use corpus::{CorpusCounter, CorpusReport, Preparation};

use hashbrown::HashTable;

use crate::error::{ErrorKind, Result};
use crate::hash::hash_bytes;

/// Where a piece first occurs. Ordered as the corpus is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct First {
    /// The place of the source (a file, a shard) in the list of sources.
    pub source: u32,
    /// The offset within the normalized text of the source, in bytes.
    pub offset: u64,
}

/// Distinct pieces, each with its count and, where known, its first occurrence.
///
/// ```
/// use bytepair::PieceCounts;
/// let mut counts = PieceCounts::new();
/// counts.add(b"low", 5, None)?;
/// counts.add(b"low", 2, None)?;
/// assert_eq!(counts.iter().next(), Some((b"low".as_slice(), 7, None)));
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct PieceCounts {
    /// The bytes of all pieces, one after the other.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// Entries by content. Built when first needed: counting hands over distinct pieces.
    index: Option<HashTable<usize>>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    start: usize,
    len: usize,
    count: i64,
    first: Option<First>,
}

impl PieceCounts {
    /// No pieces.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of distinct pieces.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The total length of the distinct pieces, in bytes.
    pub fn distinct_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The total length of all occurrences, in characters. `i64::MAX`
    /// where it exceeds 63 bits.
    pub fn n_characters(&self) -> i64 {
        let weighted =
            |(piece, count, _): (&[u8], i64, _)| count.saturating_mul(n_characters(piece));
        self.iter().map(weighted).fold(0, i64::saturating_add)
    }

    /// Adds `count` occurrences of a piece. Empty pieces and counts of 0 add nothing.
    ///
    /// # Errors
    /// Where `count` is negative, or the sum exceeds 63 bits.
    pub fn add(&mut self, piece: &[u8], count: i64, first: Option<First>) -> Result<()> {
        if piece.is_empty() || count == 0 {
            return Ok(());
        }
        let overflow = || ErrorKind::Count { piece: piece.to_vec() };
        if count < 0 {
            return Err(overflow().into());
        }
        let Some(place) = self.find(piece) else {
            self.push_distinct(piece, count, first);
            return Ok(());
        };
        let entry = &mut self.entries[place];
        entry.count = entry.count.checked_add(count).ok_or_else(overflow)?;
        entry.first = entry.first.zip(first).map(|(one, other)| one.min(other));
        Ok(())
    }

    /// Adds all counts of `other`. In which order counts are merged does not matter.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        other.iter().try_for_each(|(piece, count, first)| self.add(piece, count, first))
    }

    /// Puts the pieces in the order of their first occurrence; where that is unknown, by their bytes.
    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        if self.knows_first() {
            self.entries.sort_unstable_by_key(|entry| entry.first);
        } else {
            self.entries.sort_unstable_by_key(|entry| &bytes[entry.start..entry.start + entry.len]);
        }
        self.index = None;
    }

    /// Whether the first occurrence of every piece is known.
    pub fn knows_first(&self) -> bool {
        self.entries.iter().all(|entry| entry.first.is_some())
    }

    /// The pieces in the order in which they were added or sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], i64, Option<First>)> {
        self.entries.iter().map(|entry| (self.piece(entry), entry.count, entry.first))
    }

    /// Adds a piece that is known to be new.
    fn push_distinct(&mut self, piece: &[u8], count: i64, first: Option<First>) {
        let place = self.entries.len();
        self.entries.push(Entry { start: self.bytes.len(), len: piece.len(), count, first });
        self.bytes.extend_from_slice(piece);
        let (entries, bytes) = (&self.entries, &self.bytes);
        if let Some(index) = &mut self.index {
            index.insert_unique(hash_bytes(piece, 0), place, |&place| {
                entry_hash(bytes, entries[place])
            });
        }
    }

    fn piece(&self, entry: &Entry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.len]
    }

    fn find(&mut self, piece: &[u8]) -> Option<usize> {
        let (entries, bytes) = (&self.entries, &self.bytes);
        let index = self.index.get_or_insert_with(|| {
            let mut index = HashTable::with_capacity(entries.len());
            for (place, &entry) in entries.iter().enumerate() {
                let rehash = |&place: &usize| entry_hash(bytes, entries[place]);
                index.insert_unique(entry_hash(bytes, entry), place, rehash);
            }
            index
        });
        let is_piece =
            |&place: &usize| &bytes[entries[place].start..][..entries[place].len] == piece;
        index.find(hash_bytes(piece, 0), is_piece).copied()
    }
}

/// The number of characters of a text; stray continuation bytes are not counted.
pub(crate) fn n_characters(text: &[u8]) -> i64 {
    let n_continuations = text.iter().filter(|&&byte| byte & 0xC0 == 0x80).count();
    i64::try_from(text.len() - n_continuations).unwrap_or(i64::MAX)
}

fn entry_hash(bytes: &[u8], entry: Entry) -> u64 {
    hash_bytes(&bytes[entry.start..entry.start + entry.len], 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(pieces: &[(Vec<u8>, u8)]) -> PieceCounts {
        let mut counts = PieceCounts::new();
        for (offset, (piece, count)) in pieces.iter().enumerate() {
            let first = First { source: 0, offset: offset as u64 };
            counts.add(piece, (*count).into(), Some(first)).unwrap();
        }
        counts
    }

    proptest! {
        #[test]
        fn merging_is_commutative(left: Vec<(Vec<u8>, u8)>, right: Vec<(Vec<u8>, u8)>) {
            let (left, right) = (counted(&left), counted(&right));
            let mut one = left.clone();
            one.merge(&right).unwrap();
            let mut other = right.clone();
            other.merge(&left).unwrap();
            let by_piece = |counts: &PieceCounts| {
                let mut all: Vec<_> = counts.iter().map(|(p, c, f)| (p.to_vec(), c, f)).collect();
                all.sort();
                all
            };
            prop_assert_eq!(by_piece(&one), by_piece(&other));
        }
    }

    #[test]
    fn an_overflowing_or_negative_count_is_an_error() {
        let mut counts = PieceCounts::new();
        counts.add(b"a", i64::MAX, None).unwrap();
        assert!(matches!(counts.add(b"a", 1, None).unwrap_err().kind(), ErrorKind::Count { .. }));
        assert!(counts.add(b"b", -1, None).is_err());
    }
}
