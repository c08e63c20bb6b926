//! Long pieces by their hash: where in the ring their entries are.
//!
//! A slot is eight bytes, the first bits of a hash and a place, so that those of all entries take four megabytes at
//! most. Eight are a bucket, a line of the processor's cache, of which what was written longest ago makes room. So of
//! nine pieces of one bucket that come round and round, each is gone whenever it comes. In a table that grows when a
//! bucket has three on average, one piece in 84 is of such a bucket at most, until the table has its full size; with five
//! it would be one in eight, and in buckets of four that are as full one in fifteen. A slot may say too much: only the
//! entry tells whether it is that of the piece.

use crate::large_pages::{LargeRow, Pages};
use crate::prefetch::prefetch;

/// Slots of a new table, and at most; 4 MiB.
const MIN_LEN: usize = 1 << 9;
const MAX_LEN: usize = 1 << 19;
/// Slots of a bucket.
const BUCKET_LEN: usize = 8;
/// How many of a bucket's are taken, on average, before a table grows.
const MAX_TAKEN: usize = 3;
/// Bits of a place, one more than it; the rest of a slot are those of a hash.
const PLACE_BITS: u32 = 37;
/// More than any place.
pub(super) const N_PLACES: u64 = (1 << PLACE_BITS) - 1;

/// Places by hash.
pub(super) struct Long {
    /// 0 where nothing is. No bucket lies in two lines of the processor's cache.
    slots: LargeRow<u64>,
    /// How far a hash is shifted to give a bucket.
    shift: u32,
    n_taken: usize,
}

impl Long {
    pub(super) fn new() -> Self {
        Self { slots: free(MIN_LEN), shift: shift(MIN_LEN), n_taken: 0 }
    }

    /// Asks for what is known of a hash.
    #[inline]
    pub(super) fn ask_for(&self, hash: u64) {
        prefetch(&self.slots, self.bucket(hash));
    }

    /// The places that may be those of a hash.
    #[inline]
    pub(super) fn places(&self, hash: u64) -> impl Iterator<Item = u64> {
        let slots = self.bucket_at(self.bucket(hash));
        let is_of = |slot: u64| slot != 0 && (slot ^ hash) >> PLACE_BITS == 0;
        // All are compared, so that nothing is guessed but how many there are: hardly ever two.
        let mut found =
            (0..BUCKET_LEN).fold(0, |found, index| found | u32::from(is_of(slots[index])) << index);
        std::iter::from_fn(move || {
            let index = found.trailing_zeros() as usize;
            found &= found.wrapping_sub(1);
            slots.get(index).copied().map(place)
        })
    }

    /// Notes where the entry of a hash is, less than [`N_PLACES`] and more than all before.
    pub(super) fn insert(&mut self, hash: u64, place: u64) {
        let n_buckets = self.slots.len() / BUCKET_LEN;
        if self.n_taken > MAX_TAKEN * n_buckets && self.slots.len() < MAX_LEN {
            self.grow();
        }
        self.put((hash >> PLACE_BITS << PLACE_BITS) | (place + 1));
    }

    /// Puts a slot into its bucket, before the others; the last one, which is free or oldest, makes room.
    #[inline]
    fn put(&mut self, slot: u64) {
        let bucket = self.bucket(slot);
        let Some(slots) = self.slots[bucket..].first_chunk_mut::<BUCKET_LEN>() else { return };
        let [.., last] = *slots;
        slots.copy_within(..BUCKET_LEN - 1, 1);
        slots[0] = slot;
        self.n_taken += usize::from(last == 0);
    }

    #[inline]
    fn bucket_at(&self, start: usize) -> [u64; BUCKET_LEN] {
        self.slots[start..].first_chunk().copied().unwrap_or_default()
    }

    /// Twice as many slots: those of a bucket go to two.
    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        let slots = std::mem::replace(&mut self.slots, free(len));
        (self.shift, self.n_taken) = (shift(len), 0);
        for bucket in slots.as_chunks::<BUCKET_LEN>().0 {
            bucket.iter().rev().filter(|slot| **slot != 0).for_each(|&slot| self.put(slot));
        }
    }

    /// Where the bucket of a hash, or of a slot, begins.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a bucket")]
    fn bucket(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize * BUCKET_LEN
    }
}

fn free(len: usize) -> LargeRow<u64> {
    LargeRow::filled_with_room(0, len, (len, Pages::Small))
}

fn place(slot: u64) -> u64 {
    (slot & N_PLACES) - 1
}

fn shift(len: usize) -> u32 {
    64 - (len / BUCKET_LEN).ilog2()
}

const _: () = assert!(MAX_LEN / BUCKET_LEN <= 1 << (64 - PLACE_BITS));

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{fold, hash_bytes};

    /// Notes a piece that is not there; returns whether it was missed.
    fn is_missed(long: &mut Long, number: u64, n_written: &mut u64) -> bool {
        let hash = hash_bytes(&number.to_le_bytes(), 0);
        if long.places(hash).next().is_some() {
            return false;
        }
        long.insert(hash, *n_written);
        *n_written += 1;
        true
    }

    #[test]
    fn nearly_all_pieces_that_come_round_and_round_are_found() {
        // The second and the last are nearly as many as a table has before it grows.
        for n_pieces in [40_000, 98_000, 160_000, 196_000] {
            let (mut long, mut n_written) = (Long::new(), 0);
            let mut is_missed = |number: &u64| is_missed(&mut long, *number, &mut n_written);
            let n_missed = [0; 4].map(|_| (0..n_pieces).filter(&mut is_missed).count());
            assert!(50 * n_missed[3] as u64 <= n_pieces, "{n_missed:?} of {n_pieces}");
        }
    }

    #[test]
    fn what_was_noted_is_found_unless_much_came_after_it() {
        let mut long = Long::new();
        let hash = |number| fold(number, 7);
        let has = |long: &Long, number| long.places(hash(number)).any(|place| place == 3 * number);
        for number in 0..2_000_000 {
            long.insert(hash(number), 3 * number);
            assert!(has(&long, number));
            let before = number.saturating_sub(300_000);
            assert!(
                number % 1000 > 0
                    || (before..=number).step_by(997).filter(|&at| !has(&long, at)).count() < 8
            );
        }
        assert_eq!(long.slots.len(), MAX_LEN);
        assert!(
            (2_000_000..2_100_000).map(|number| long.places(hash(number)).count()).sum::<usize>()
                < 2_000
        );
    }
}
