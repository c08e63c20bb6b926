//! Counting pieces at full speed: the table that one thread fills.
//!
//! A piece of at most 15 bytes is its own key: 15 bytes and a length in one 128-bit word, kept in the
//! slot, so that counting a piece that is there touches one cache line and compares one word. Longer
//! pieces lie in an arena behind an ordinary hash table. Nothing is allocated per piece. Costs O(1)
//! expected time for each piece, plus its length.

use hashbrown::HashTable;

use crate::hash::hash_bytes;
use crate::piece_key::{key_hash, piece_key};

/// Counts of pieces, each with the position where it was first seen.
pub(super) struct CountTable {
    /// Open addressing, at most 5/8 full, a piece as near behind the place that the highest bits of its
    /// hash name as there is room. A free slot has the key 0: no piece is empty.
    slots: Vec<Slot>,
    n_used: usize,
    long: LongPieces,
}

/// A short piece.
#[derive(Clone, Copy, Default)]
#[repr(align(32))] // no slot lies in two cache lines
pub(super) struct Slot {
    /// The bytes of the piece from the low end, its length in the highest byte.
    pub(super) key: u128,
    pub(super) count: u64,
    /// The smallest position at which the piece was counted.
    pub(super) first: u64,
}

#[derive(Default)]
struct LongPieces {
    bytes: Vec<u8>,
    entries: Vec<LongEntry>,
    index: HashTable<usize>,
}

/// A long piece.
#[derive(Clone, Copy)]
pub(super) struct LongEntry {
    pub(super) hash: u64,
    start: usize,
    len: usize,
    pub(super) count: u64,
    pub(super) first: u64,
}

/// The contents of a table by hash, pieces of equal hash by their keys or bytes.
pub(super) struct Sorted {
    pub(super) short: Vec<Slot>,
    pub(super) long: Vec<LongEntry>,
    long_bytes: Vec<u8>,
}

impl Sorted {
    pub(super) fn piece(&self, entry: &LongEntry) -> &[u8] {
        &self.long_bytes[entry.start..][..entry.len]
    }
}

impl CountTable {
    pub(super) fn new() -> Self {
        Self { slots: vec![Slot::default(); 1 << 12], n_used: 0, long: LongPieces::default() }
    }

    /// Counts the piece `text[start..end]` `count` times. Positions never fall from one call to the next.
    #[inline]
    pub(super) fn add(&mut self, text: &[u8], start: usize, end: usize, count: u64, position: u64) {
        match piece_key(text, start, end) {
            Some(key) => self.add_key(key, count, position),
            None => self.long.add(&text[start..end], count, position),
        }
    }

    /// The contents in order. Takes O(n) expected time for short pieces.
    pub(super) fn into_sorted(mut self) -> Sorted {
        self.gather();
        let LongPieces { bytes: long_bytes, entries: mut long, .. } = self.long;
        let piece = |entry: &LongEntry| &long_bytes[entry.start..][..entry.len];
        long.sort_unstable_by(|one, other| {
            one.hash.cmp(&other.hash).then_with(|| piece(one).cmp(piece(other)))
        });
        Sorted { short: self.slots, long, long_bytes }
    }

    /// Moves all pieces to the front, in order.
    ///
    /// A run of used slots holds the pieces whose places lie in it, so runs are in order already and
    /// only inside of each there is something to sort. The run that goes on from the last slot to the
    /// first is the exception: what belongs to the end stands at the front, before its place.
    fn gather(&mut self) {
        let shift = self.shift();
        let place = |slot: &Slot| key_hash(slot.key) >> shift;
        let n_front = self.slots.iter().take_while(|slot| slot.key != 0).count();
        let front = self.slots.iter().take(n_front).enumerate();
        let is_wrapped = |index: usize, slot: &Slot| index < n_front && place(slot) > index;
        let wrapped = front.filter(|&(index, slot)| is_wrapped(index, slot));
        let wrapped: Vec<Slot> = wrapped.map(|(_, slot)| *slot).collect();
        let mut n_gathered = 0;
        for index in 0..self.slots.len() {
            let slot = self.slots[index];
            if slot.key != 0 && !is_wrapped(index, &slot) {
                self.slots[n_gathered] = slot;
                n_gathered += 1;
            }
        }
        self.slots.truncate(n_gathered);
        self.slots.extend(wrapped);
        sort_nearly_sorted(&mut self.slots);
    }

    #[inline]
    fn add_key(&mut self, key: u128, count: u64, position: u64) {
        let mask = self.slots.len() - 1;
        let mut index = key_hash(key) >> self.shift();
        loop {
            let slot = &mut self.slots[index];
            if slot.key == key {
                // A count that saturates is reported as an overflow when tables are added up.
                slot.count = slot.count.saturating_add(count);
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

    /// Leaves of a hash as many of the highest bits as number the slots.
    #[inline]
    fn shift(&self) -> u32 {
        usize::BITS - self.slots.len().trailing_zeros()
    }

    fn grow(&mut self) {
        let larger = vec![Slot::default(); self.slots.len() * 4];
        let mask = larger.len() - 1;
        let slots = std::mem::replace(&mut self.slots, larger);
        let shift = self.shift();
        for slot in slots.into_iter().filter(|slot| slot.key != 0) {
            let mut index = key_hash(slot.key) >> shift;
            while self.slots[index].key != 0 {
                index = (index + 1) & mask;
            }
            self.slots[index] = slot;
        }
    }
}

/// Sorts slots that are in order but for neighbours. Runs of equal places are short, if hashes are good;
/// if they are not, an ordinary sort takes over.
fn sort_nearly_sorted(slots: &mut [Slot]) {
    let order = |slot: &Slot| (key_hash(slot.key), slot.key);
    let mut n_moves = 0;
    for index in 1..slots.len() {
        let slot = slots[index];
        let mut place = index;
        while place > 0 && order(&slots[place - 1]) > order(&slot) {
            slots[place] = slots[place - 1];
            place -= 1;
        }
        slots[place] = slot;
        n_moves += index - place;
        if n_moves > slots.len() * 8 {
            slots.sort_unstable_by_key(order);
            return;
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
            return;
        }
        let place = entries.len();
        let start = bytes.len();
        entries.push(LongEntry { hash, start, len: piece.len(), count, first: position });
        bytes.extend_from_slice(piece);
        self.index.insert_unique(hash, place, |&place| entries[place].hash);
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::contents;
    use super::*;

    #[test]
    fn growing_keeps_every_count() {
        let text: Vec<u8> = (0..40_000_u32).flat_map(|n| format!("{n:05}").into_bytes()).collect();
        let mut table = CountTable::new();
        for start in (0..text.len()).step_by(5) {
            table.add(&text, start, start + 5, 1, start as u64);
        }
        let contents = contents(vec![table], 1);
        assert_eq!(contents.iter().map(|(_, count, _)| count).sum::<i64>(), 40_000);
        assert!(contents.iter().all(|(piece, _, first)| {
            piece[..] == text[usize::try_from(*first).unwrap()..][..5]
        }));
    }

    #[test]
    fn pieces_come_in_the_order_of_their_hashes_whatever_their_place() {
        for n_pieces in [0_u32, 1, 2500, 2559, 2560, 2561, 9000] {
            let pieces = (0..n_pieces).map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes());
            let (mut one, mut other) = (CountTable::new(), CountTable::new());
            pieces.clone().for_each(|piece| one.add(&piece, 0, 4, 1, 0));
            pieces.rev().for_each(|piece| other.add(&piece, 0, 4, 1, 0));
            let keys = |table: CountTable| -> Vec<u128> {
                table.into_sorted().short.iter().map(|slot| slot.key).collect()
            };
            let (one, other) = (keys(one), keys(other));
            assert!(one.is_sorted_by_key(|&key| (key_hash(key), key)));
            assert_eq!(one.len(), n_pieces as usize);
            assert_eq!(one, other);
        }
    }
}
