//! Counting pieces at full speed: the table that one thread fills.
//!
//! A piece of at most 15 bytes is its own key: 15 bytes and a length in one 128-bit word, kept in the
//! slot, so that counting a piece that is there touches one cache line and compares one word. Longer
//! pieces lie in an arena behind an ordinary hash table. Nothing is allocated per piece. Costs O(1)
//! expected time for each piece, plus its length.

use hashbrown::HashTable;

use crate::error::{ErrorKind, Result};
use crate::hash::hash_bytes;
use crate::piece_key::{key_hash, piece_key, piece_of_key};

/// Counts of pieces, each with the position where it was first seen.
pub(super) struct CountTable {
    /// Open addressing, at most 5/8 full. A free slot has the key 0: no piece is empty.
    slots: Vec<Slot>,
    n_used: usize,
    long: LongPieces,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    /// The bytes of the piece from the low end, its length in the highest byte.
    key: u128,
    count: u64,
    /// The smallest position at which the piece was counted.
    first: u64,
}

#[derive(Default)]
struct LongPieces {
    bytes: Vec<u8>,
    entries: Vec<LongEntry>,
    index: HashTable<usize>,
}

#[derive(Clone, Copy)]
struct LongEntry {
    start: usize,
    len: usize,
    count: u64,
    first: u64,
}

impl CountTable {
    pub(super) fn new() -> Self {
        Self { slots: vec![Slot::default(); 1 << 12], n_used: 0, long: LongPieces::default() }
    }

    /// Counts the piece `text[start..end]` once; `position` orders it among all pieces.
    #[inline]
    pub(super) fn add(&mut self, text: &[u8], start: usize, end: usize, position: u64) {
        match piece_key(text, start, end) {
            Some(key) => self.add_key(key, 1, position),
            None => self.long.add(&text[start..end], 1, position),
        }
    }

    /// Adds the counts of another table.
    pub(super) fn merge(&mut self, other: &Self) {
        for slot in other.slots.iter().filter(|slot| slot.key != 0) {
            self.add_key(slot.key, slot.count, slot.first);
        }
        for entry in &other.long.entries {
            self.long.add(&other.long.bytes[entry.start..][..entry.len], entry.count, entry.first);
        }
    }

    /// Visits every distinct piece with its count and first position, in no order.
    pub(super) fn for_each(
        &self,
        mut visit: impl FnMut(&[u8], i64, u64) -> Result<()>,
    ) -> Result<()> {
        let checked = |piece: &[u8], count: u64| {
            i64::try_from(count).map_err(|_| ErrorKind::Count { piece: piece.to_vec() })
        };
        for slot in self.slots.iter().filter(|slot| slot.key != 0) {
            let (bytes, len) = piece_of_key(slot.key);
            let piece = &bytes[..len];
            visit(piece, checked(piece, slot.count)?, slot.first)?;
        }
        for entry in &self.long.entries {
            let piece = &self.long.bytes[entry.start..][..entry.len];
            visit(piece, checked(piece, entry.count)?, entry.first)?;
        }
        Ok(())
    }

    #[inline]
    fn add_key(&mut self, key: u128, count: u64, position: u64) {
        let mask = self.slots.len() - 1;
        let mut index = key_hash(key) & mask;
        loop {
            let slot = &mut self.slots[index];
            if slot.key == key {
                // A count that saturates is reported as an overflow by `for_each`.
                slot.count = slot.count.saturating_add(count);
                slot.first = slot.first.min(position);
                return;
            }
            if slot.key == 0 {
                *slot = Slot { key, count, first: position };
                break;
            }
            index = (index + 1) & mask;
        }
        self.n_used += 1;
        if self.n_used * 8 > self.slots.len() * 5 {
            self.grow();
        }
    }

    fn grow(&mut self) {
        let larger = vec![Slot::default(); self.slots.len() * 4];
        let mask = larger.len() - 1;
        let slots = std::mem::replace(&mut self.slots, larger);
        for slot in slots.into_iter().filter(|slot| slot.key != 0) {
            let mut index = key_hash(slot.key) & mask;
            while self.slots[index].key != 0 {
                index = (index + 1) & mask;
            }
            self.slots[index] = slot;
        }
    }
}

impl LongPieces {
    fn add(&mut self, piece: &[u8], count: u64, position: u64) {
        let hash = hash_bytes(piece, 0);
        let (bytes, entries) = (&mut self.bytes, &mut self.entries);
        let is_piece =
            |&place: &usize| &bytes[entries[place].start..][..entries[place].len] == piece;
        if let Some(&place) = self.index.find(hash, is_piece) {
            let entry = &mut entries[place];
            entry.count = entry.count.saturating_add(count);
            entry.first = entry.first.min(position);
            return;
        }
        let place = entries.len();
        entries.push(LongEntry { start: bytes.len(), len: piece.len(), count, first: position });
        bytes.extend_from_slice(piece);
        let rehash =
            |&place: &usize| hash_bytes(&bytes[entries[place].start..][..entries[place].len], 0);
        self.index.insert_unique(hash, place, rehash);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The naive twin: an ordered map of owned pieces.
    fn naive(text: &[u8], pieces: &[(usize, usize)]) -> BTreeMap<Vec<u8>, (i64, u64)> {
        let mut counts = BTreeMap::new();
        for &(start, end) in pieces {
            let entry = counts.entry(text[start..end].to_vec()).or_insert((0, start as u64));
            *entry = (entry.0 + 1, entry.1.min(start as u64));
        }
        counts
    }

    proptest! {
        #[test]
        fn agrees_with_a_map_of_owned_pieces(text in "[ab]{1,80}", cuts: Vec<(u8, u8)>, split_at: u8) {
            let text = text.into_bytes();
            let pieces: Vec<_> = cuts
                .iter()
                .map(|&(start, len)| (start as usize % text.len(), len as usize % 40 + 1))
                .map(|(start, len)| (start, (start + len).min(text.len())))
                .collect();
            let (left, right) = pieces.split_at(split_at as usize % (pieces.len() + 1));
            let (mut table, mut other) = (CountTable::new(), CountTable::new());
            left.iter().for_each(|&(start, end)| table.add(&text, start, end, start as u64));
            right.iter().for_each(|&(start, end)| other.add(&text, start, end, start as u64));
            table.merge(&other);
            let mut counts = BTreeMap::new();
            table.for_each(|piece, count, first| {
                counts.insert(piece.to_vec(), (count, first));
                Ok(())
            }).unwrap();
            prop_assert_eq!(counts, naive(&text, &pieces));
        }
    }

    #[test]
    fn growing_keeps_every_count() {
        let text: Vec<u8> = (0..40_000_u32).flat_map(|n| format!("{n:05}").into_bytes()).collect();
        let mut table = CountTable::new();
        for start in (0..text.len()).step_by(5) {
            table.add(&text, start, start + 5, start as u64);
        }
        let mut n_pieces = 0;
        table
            .for_each(|_, count, _| {
                n_pieces += count;
                Ok(())
            })
            .unwrap();
        assert_eq!(n_pieces, 40_000);
    }
}
