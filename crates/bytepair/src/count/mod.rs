//! Counts of distinct pieces, the only input of training.
//!
//! [`PieceCounts`] of parts of a corpus merge commutatively and associatively into the counts of the whole, so the
//! result does not depend on how the work was divided. Counts are checked 64-bit numbers. Pieces are in the order in
//! which they were added, until they are sorted. The order matters only for training with ties decided by first
//! occurrence, and when pieces are shown to users.
//!
//! How a text becomes counts:
//!
//! ```text
//! CorpusCounter::count_reader       (`corpus`)
//!   count_all                       one thread reads, all count
//!     Feeder::fill                  text → stretches that can be counted on their own (`feed`)
//!     Splitter::split_block         a stretch → pieces
//!     CountTable::add_block         pieces → the table of a thread (`table`, over the hash table of `ordered`)
//!     spill                         a table that is larger than its budget → a run on disk (`sorter`)
//! CorpusCounter::finish_common
//!   table::merge                    the tables of all threads → one `PieceCounts`, rare pieces left out
//!   Runs::into_merged               if there are runs on disk, these instead
//! ```
//!
//! [`CountSums`] sums the parts of a corpus of any size, with the external sort of `sorter`.

mod corpus;
mod feed;
mod ordered;
mod sorter;
mod sums;
mod table;

pub use corpus::CorpusCounter;
pub(crate) use corpus::needed_to_learn;
pub use feed::{AsEncoded, CorpusReport, EncodedPart, Preparation};
pub use sorter::Part;
pub use sums::{CountRows, CountSums, SummedRows};

use hashbrown::HashTable;
use sha2::{Digest, Sha256};

use crate::error::{Error, ErrorKind, LARGEST_COUNT, Result};
use crate::hash::HashKey;
use crate::memory::{ask, ask_to_grow};
use crate::segment::hexadecimal;

/// What a piece takes besides its bytes: its end, its count, and its first occurrence.
const LEN_BESIDE_PIECE: usize = size_of::<usize>() + size_of::<i64>() + size_of::<First>();

/// Where a piece first occurs, ordered as the corpus is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct First {
    /// The index of the source (a file, a shard) in the list of sources.
    pub source: u32,
    /// The offset in the text of the source, in bytes: normalized, including special tokens.
    pub offset: u64,
}

/// The rare pieces that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// The number of distinct pieces.
    pub n_pieces: u64,
    /// How often they occurred in total.
    pub n_occurrences: i64,
}

impl Dropped {
    /// Adds more pieces that were left out.
    ///
    /// # Errors
    /// If the occurrences exceed 63 bits.
    fn add(&mut self, other: Self) -> Result<()> {
        self.n_pieces += other.n_pieces;
        let sum = self.n_occurrences.checked_add(other.n_occurrences);
        self.n_occurrences = sum.ok_or_else(|| {
            let problem = format!(
                "the pieces that are left out occur more often than {LARGEST_COUNT} times; lower the count from \
                 which pieces are kept, or divide all counts by the same number"
            );
            ErrorKind::Count { problem }
        })?;
        Ok(())
    }
}

/// Distinct pieces, each with its count and, if known, its first occurrence.
///
/// ```
/// use bytepair::count::PieceCounts;
/// let mut counts = PieceCounts::new();
/// counts.add(b"low", 5, None)?;
/// counts.add(b"low", 2, None)?;
/// assert_eq!(counts.iter().next(), Some((b"low".as_slice(), 7, None)));
/// # Ok::<(), bytepair::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PieceCounts {
    /// The bytes of all pieces, one after the other.
    bytes: Vec<u8>,
    /// By piece: where its bytes end.
    ends: Vec<usize>,
    counts: Vec<i64>,
    /// By piece; `None` if one of them is unknown.
    firsts: Option<Vec<First>>,
    /// Indices of pieces by content. Built on first use, because counting delivers distinct pieces.
    index: Option<HashTable<usize>>,
}

impl Default for PieceCounts {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            ends: Vec::new(),
            counts: Vec::new(),
            firsts: Some(Vec::new()),
            index: None,
        }
    }
}

impl PieceCounts {
    /// No pieces.
    pub fn new() -> Self {
        Self::default()
    }

    /// No pieces; first occurrences will not be known.
    pub(crate) fn without_firsts() -> Self {
        Self { firsts: None, ..Self::default() }
    }

    /// The number of distinct pieces.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is no piece.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The total length of the distinct pieces, in bytes.
    pub fn distinct_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The total length of all occurrences, in characters; `i64::MAX` if it exceeds 63 bits.
    pub fn n_characters(&self) -> i64 {
        self.total(n_characters)
    }

    /// The total length of all occurrences, in bytes; `i64::MAX` if it exceeds 63 bits.
    pub fn n_bytes(&self) -> i64 {
        self.total(|piece| piece.len() as u64)
    }

    fn total(&self, len: impl Fn(&[u8]) -> u64) -> i64 {
        let len = |piece| i64::try_from(len(piece)).unwrap_or(i64::MAX);
        let weighted = self.iter().map(|(piece, count, _)| count.saturating_mul(len(piece)));
        weighted.fold(0, i64::saturating_add)
    }

    /// An identifier of the pieces and their counts, independent of their order: 32 hexadecimal digits.
    ///
    /// The sum, modulo 2^128, of the first 16 bytes of the SHA-256 of each count followed by its piece.
    pub fn fingerprint(&self) -> String {
        let of_piece = |(piece, count, _): (&[u8], i64, _)| {
            let digest =
                Sha256::new().chain_update(count.to_le_bytes()).chain_update(piece).finalize();
            digest.iter().take(16).fold(0_u128, |number, &byte| number << 8 | u128::from(byte))
        };
        hexadecimal(&self.iter().map(of_piece).fold(0, u128::wrapping_add).to_be_bytes())
    }

    /// Adds `count` occurrences of a piece. Empty pieces and counts of 0 add nothing.
    ///
    /// First occurrences are known for all pieces or for none.
    ///
    /// # Errors
    /// If `count` is negative, or the sum exceeds 63 bits.
    pub fn add(&mut self, piece: &[u8], count: i64, first: Option<First>) -> Result<()> {
        if piece.is_empty() || count == 0 {
            return Ok(());
        }
        if count < 0 {
            return Err(Error::count_of(piece, count));
        }
        let Some(place) = self.find(piece) else {
            self.push_distinct(piece, count, first);
            return Ok(());
        };
        let sum = &mut self.counts[place];
        *sum = sum.checked_add(count).ok_or_else(|| Error::sum_of(piece))?;
        match (&mut self.firsts, first) {
            (Some(firsts), Some(first)) => firsts[place] = firsts[place].min(first),
            (firsts, _) => *firsts = None,
        }
        Ok(())
    }

    /// Adds all counts of `other`. The order of merging does not matter.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        other.iter().try_for_each(|(piece, count, first)| self.add(piece, count, first))
    }

    /// Drops the pieces that occur less than `min_count` times; returns what was dropped.
    ///
    /// # Errors
    /// If the sum of what is dropped exceeds 63 bits. The counts are unchanged then.
    pub fn drop_rare(&mut self, min_count: i64) -> Result<Dropped> {
        self.keep(|_, count| count >= min_count)
    }

    /// Drops the pieces whose count in `others` is less than `min_count`; returns what was dropped.
    ///
    /// # Errors
    /// If the sum of what is dropped exceeds 63 bits. The counts are unchanged then.
    pub fn drop_rare_in(&mut self, others: &mut Self, min_count: i64) -> Result<Dropped> {
        self.keep(|piece, _| {
            others.find(piece).is_some_and(|place| others.counts[place] >= min_count)
        })
    }

    fn keep(&mut self, mut is_kept: impl FnMut(&[u8], i64) -> bool) -> Result<Dropped> {
        let mut dropped = Dropped::default();
        let mut kept = Self::new();
        for (piece, count, first) in self.iter() {
            if is_kept(piece, count) {
                kept.push_distinct(piece, count, first);
            } else {
                dropped.add(Dropped { n_pieces: 1, n_occurrences: count })?;
            }
        }
        if dropped.n_pieces > 0 {
            *self = kept;
        }
        Ok(dropped)
    }

    /// Sorts the pieces by their first occurrence, or by their bytes if that is unknown.
    ///
    /// Needed only if users see the pieces. Training with [`Ties::FirstSeen`](crate::train::Ties::FirstSeen) uses this
    /// order by itself; with other tie rules the order does not matter.
    pub fn sort(&mut self) {
        let order = match &self.firsts {
            Some(_) => self.order_of_firsts(),
            None => order_by(self.len(), |place| self.piece(place)),
        };
        let Some(order) = order else { return };
        let mut sorted = Self::new();
        sorted.bytes.reserve_exact(self.bytes.len());
        for place in order {
            sorted.push_distinct(self.piece(place), self.counts[place], self.first(place));
        }
        *self = sorted;
    }

    /// Whether the first occurrence of every piece is known.
    pub fn knows_first(&self) -> bool {
        self.firsts.is_some()
    }

    /// The pieces in the order in which they were added or sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], i64, Option<First>)> {
        (0..self.len()).map(|place| (self.piece(place), self.counts[place], self.first(place)))
    }

    /// The indices of the pieces in the order of their first occurrence; `None` if the pieces are in this order
    /// already, or it is unknown.
    pub(crate) fn order_of_firsts(&self) -> Option<Vec<usize>> {
        let firsts = self.firsts.as_ref()?;
        order_by(firsts.len(), |place| firsts[place])
    }

    /// The piece at an index, with its count.
    #[inline]
    pub(crate) fn get(&self, place: usize) -> (&[u8], i64) {
        (self.piece(place), self.counts[place])
    }

    /// Reserves memory for this many pieces of this many bytes. What is never filled takes no memory.
    fn reserve(&mut self, n_pieces: usize, n_bytes: usize) -> Result<()> {
        ask(n_bytes.saturating_add(n_pieces.saturating_mul(LEN_BESIDE_PIECE)))?;
        self.bytes.reserve(n_bytes);
        self.ends.reserve(n_pieces);
        self.counts.reserve(n_pieces);
        if let Some(firsts) = &mut self.firsts {
            firsts.reserve(n_pieces);
        }
        Ok(())
    }

    /// Checks that there is memory for one more piece of this many bytes.
    fn ask_for_room(&self, n_bytes: usize) -> Result<()> {
        ask_to_grow(&self.bytes, n_bytes)?;
        ask_to_grow(&self.ends, 1)?;
        ask_to_grow(&self.counts, 1)?;
        self.firsts.as_ref().map_or(Ok(()), |firsts| ask_to_grow(firsts, 1))
    }

    /// Adds a piece that must be new.
    fn push_distinct(&mut self, piece: &[u8], count: i64, first: Option<First>) {
        let place = self.len();
        self.bytes.extend_from_slice(piece);
        self.ends.push(self.bytes.len());
        self.counts.push(count);
        match (&mut self.firsts, first) {
            (Some(firsts), Some(first)) => firsts.push(first),
            (firsts, _) => *firsts = None,
        }
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(index) = &mut self.index {
            let rehash = |&place: &usize| hash(piece_at(bytes, ends, place));
            index.insert_unique(hash(piece), place, rehash);
        }
    }

    /// Adds pieces that must all be new.
    fn append_distinct(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
            return;
        }
        let n_bytes = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| end + n_bytes));
        self.counts.extend_from_slice(&other.counts);
        match (&mut self.firsts, &other.firsts) {
            (Some(firsts), Some(other)) => firsts.extend_from_slice(other),
            (firsts, _) => *firsts = None,
        }
        self.index = None;
    }

    fn piece(&self, place: usize) -> &[u8] {
        piece_at(&self.bytes, &self.ends, place)
    }

    fn first(&self, place: usize) -> Option<First> {
        self.firsts.as_ref().map(|firsts| firsts[place])
    }

    fn find(&mut self, piece: &[u8]) -> Option<usize> {
        let (bytes, ends) = (&self.bytes, &self.ends);
        let index = self.index.get_or_insert_with(|| {
            let rehash = |&place: &usize| hash(piece_at(bytes, ends, place));
            let mut index = HashTable::with_capacity(ends.len());
            for place in 0..ends.len() {
                index.insert_unique(rehash(&place), place, rehash);
            }
            index
        });
        let is_piece = |&place: &usize| piece_at(bytes, ends, place) == piece;
        index.find(hash(piece), is_piece).copied()
    }
}

#[inline]
fn hash(piece: &[u8]) -> u64 {
    HashKey::of_process().hash_bytes(piece, 0)
}

#[inline]
fn piece_at<'b>(bytes: &'b [u8], ends: &[usize], place: usize) -> &'b [u8] {
    let start = if place == 0 { 0 } else { ends[place - 1] };
    &bytes[start..ends[place]]
}

/// The indices 0 to `n - 1` in the order of their keys; `None` if they are in order already.
fn order_by<K: Ord>(n: usize, key: impl Fn(usize) -> K) -> Option<Vec<usize>> {
    if (1..n).all(|place| key(place - 1) <= key(place)) {
        return None;
    }
    let mut order: Vec<(K, usize)> = (0..n).map(|place| (key(place), place)).collect();
    order.sort_unstable();
    Some(order.into_iter().map(|(_, place)| place).collect())
}

/// The number of characters of a text. Continuation bytes without a first byte are not counted.
pub(crate) fn n_characters(text: &[u8]) -> u64 {
    // The sum of a short chunk fits a byte, which lets the compiler process many bytes at once.
    let in_chunk =
        |chunk: &[u8]| chunk.iter().map(|&byte| u8::from(byte & 0xC0 != 0x80)).sum::<u8>();
    text.chunks(192).map(|chunk| u64::from(in_chunk(chunk))).sum()
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
        assert!(matches!(
            counts.add(b"a", 1, None).unwrap_err().kind(),
            crate::error::ErrorKind::Count { .. }
        ));
        assert!(counts.add(b"b", -1, None).is_err());
    }

    fn weighted(pieces: &[(&[u8], i64)]) -> PieceCounts {
        let mut counts = PieceCounts::new();
        pieces.iter().for_each(|(piece, count)| counts.add(piece, *count, None).unwrap());
        counts
    }

    #[test]
    fn a_fingerprint_tells_pieces_and_counts_but_not_their_order() {
        let fingerprint = weighted(&[(b"a", 1), (b"bc", 2)]).fingerprint();
        assert_eq!(weighted(&[(b"bc", 2), (b"a", 1)]).fingerprint(), fingerprint);
        assert_ne!(weighted(&[(b"a", 2), (b"bc", 1)]).fingerprint(), fingerprint);
        assert_ne!(weighted(&[(b"ab", 1), (b"c", 2)]).fingerprint(), fingerprint);
        assert_eq!(fingerprint.len(), 32);
    }

    #[test]
    fn the_length_is_that_of_all_occurrences() {
        assert_eq!(weighted(&[(b"a", 3), (b"bc", 2)]).n_bytes(), 7);
        assert_eq!(weighted(&[(b"bc", i64::MAX)]).n_bytes(), i64::MAX);
    }
}
