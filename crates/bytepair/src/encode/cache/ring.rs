//! A ring buffer with the ids of pieces that no slot of the table holds, and an index of the long pieces in it.
//!
//! The entry of a short piece is its ids alone: its slot of the table, which has its key, says where they are and
//! how many. That of a long piece is a head of eight bytes, the bytes of the piece and its ids, in two bytes each
//! where all of them fit. It is found through the [`Index`], by a hash, and its bytes are compared.
//!
//! ```text
//! place = units of eight bytes that were ever written before an entry, those left out at the end of a round included
//!
//! append(place, piece):
//!     if more than the length of the ring was written since: overwritten
//!     if the entry has other bytes than the piece: another piece
//!     append its ids
//! ```
//!
//! *Invariant*: an entry lies in one stretch of the ring, and the number of its place is given to no other. So a
//! place is valid until its entry is overwritten, which `entry` sees from the two numbers; nothing has to be noted
//! when an entry goes. After a terabyte the numbers are used up, and the cache starts anew.
//!
//! *Cost*: a line of the processor's cache for a short piece, two or more for a long one. A text that comes again
//! reads its entries nearly in the order in which they were written.

use crate::memory::huge_pages::{HugePageRow, reserve};
use crate::memory::prefetch::prefetch;
use crate::vocabulary::TokenId;

/// Bytes of a ring, at most.
pub(super) const MAX_LEN: usize = 32 << 20;
/// Longest entry, in bytes: a long piece of as many ids.
const MAX_ENTRY_LEN: usize = 20 << 10;
/// Entries begin at multiples of it, in bytes, with a head of as many.
const UNIT: usize = 8;
/// By how much a ring grows at least, and from where on it reserves all its room, in bytes.
const GROWTH_LEN: usize = 16 << 10;
const MIN_LARGE_LEN: usize = 256 << 10;
/// In the number of ids: each has two bytes, not four.
const NARROW: u32 = 1 << 31;
/// Ids that are read at once, whatever their number.
const STEP_IDS: usize = 16;

/// Entries in the order in which they were written.
pub(super) struct Ring {
    bytes: Vec<u8>,
    /// How many bytes were ever written, those left out at the end of a round included.
    head: u64,
    max_len: usize,
}

impl Ring {
    /// A ring of at most `max_len` bytes: a power of two, so that no place needs a division, and no less than
    /// [`UNIT`].
    pub(super) fn new(max_len: usize) -> Self {
        debug_assert!(max_len.is_power_of_two() && max_len >= UNIT, "a ring of {max_len} bytes");
        Self { bytes: Vec::new(), head: 0, max_len }
    }

    /// Appends the ids of the entry of a long piece, unless it was overwritten or is that of another piece.
    #[inline]
    pub(super) fn append(&self, place: u64, piece: &[u8], ids: &mut Vec<TokenId>) -> bool {
        let Some(entry) = self.entry(place) else { return false };
        let Some((head, rest)) = entry.split_first_chunk() else { return false };
        let (len, n_ids) = lens(u64::from_le_bytes(*head));
        if len as usize != piece.len() {
            return false;
        }
        let (bytes, rest) = rest.split_at(piece.len());
        if bytes != piece {
            return false;
        }
        let n = (n_ids & !NARROW) as usize;
        if n_ids & NARROW > 0 {
            let narrow = rest.as_chunks().0[..n].iter();
            ids.extend(narrow.map(|&id| TokenId::from(u16::from_le_bytes(id))));
        } else {
            ids.extend(rest.as_chunks().0[..n].iter().map(|&id| TokenId::from_le_bytes(id)));
        }
        true
    }

    /// Appends the ids of the entry of a short piece, unless it was overwritten.
    ///
    /// If they are few, more are copied and cut off again, for which the processor need not guess their number.
    #[inline]
    pub(super) fn append_ids(&self, place: u64, n_ids: usize, ids: &mut Vec<TokenId>) -> bool {
        let Some((stored, _)) = self.entry(place).map(<[u8]>::as_chunks) else { return false };
        match stored.first_chunk::<STEP_IDS>() {
            Some(first) if n_ids <= STEP_IDS => {
                ids.extend_from_slice(&first.map(TokenId::from_le_bytes));
                ids.truncate(ids.len() - STEP_IDS + n_ids);
            }
            _ => ids.extend(stored[..n_ids].iter().map(|&id| TokenId::from_le_bytes(id))),
        }
        true
    }

    /// The ring from an entry on, unless it was overwritten.
    #[inline]
    fn entry(&self, place: u64) -> Option<&[u8]> {
        let start = place * UNIT as u64;
        let is_there = self.head <= start + self.max_len as u64;
        is_there.then(|| &self.bytes[self.offset(start)..])
    }

    /// Writes the entry of a long piece, if it is not too long; returns its place, less than [`N_PLACES`].
    #[expect(clippy::cast_possible_truncation, reason = "narrow ids fit two bytes")]
    pub(super) fn push(&mut self, piece: &[u8], ids: &[TokenId]) -> Option<u64> {
        let is_narrow = ids.iter().all(|&id| id >> 16 == 0);
        let ids_len = ids.len() * if is_narrow { 2 } else { 4 };
        let (place, entry) = self.allocate(UNIT + piece.len() + ids_len)?;
        let (head, rest) = entry.split_first_chunk_mut()?;
        *head = self::head(piece, ids.len(), is_narrow).to_le_bytes();
        let (bytes, rest) = rest.split_at_mut(piece.len());
        bytes.copy_from_slice(piece);
        if is_narrow {
            let ids = ids.iter().map(|&id| (id as u16).to_le_bytes());
            rest.as_chunks_mut().0.iter_mut().zip(ids).for_each(|(bytes, id)| *bytes = id);
        } else {
            write(ids, rest);
        }
        Some(place)
    }

    /// Writes the entry of a short piece, if it is not too long; returns its place, less than [`N_PLACES`].
    pub(super) fn push_ids(&mut self, ids: &[TokenId]) -> Option<u64> {
        let (place, entry) = self.allocate(size_of_val(ids))?;
        write(ids, entry);
        Some(place)
    }

    /// Memory for an entry of this many bytes, and its place.
    fn allocate(&mut self, len: usize) -> Option<(u64, &mut [u8])> {
        let len = len.max(1).next_multiple_of(UNIT);
        if len > MAX_ENTRY_LEN.min(self.max_len) {
            return None;
        }
        if self.offset(self.head) + len > self.max_len {
            self.head = self.head.next_multiple_of(self.max_len as u64);
        }
        let (place, start) = (self.head / UNIT as u64, self.offset(self.head));
        if self.bytes.len() < start + len {
            self.lengthen(start + len);
        }
        self.head += len as u64;
        Some((place, &mut self.bytes[start..start + len]))
    }

    /// Makes the memory at least this many bytes long. A ring that becomes large reserves all the room that it may
    /// ever need, which is address space alone until it is written.
    #[cold]
    fn lengthen(&mut self, len: usize) {
        if len > MIN_LARGE_LEN {
            let n_more = self.max_len - self.bytes.len();
            reserve(&mut self.bytes, n_more);
        }
        self.bytes.resize((len + GROWTH_LEN).min(self.max_len), 0);
    }

    /// Whether the numbers of places may run out with the next entry.
    pub(super) fn is_used_up(&self) -> bool {
        self.head / UNIT as u64 + 2 * self.max_len as u64 > N_PLACES
    }

    /// Makes as if the numbers of places were about to run out.
    #[cfg(test)]
    pub(super) fn use_up(&mut self) {
        self.head = (N_PLACES - self.max_len as u64) / self.max_len as u64
            * self.max_len as u64
            * UNIT as u64;
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than the length of the ring")]
    fn offset(&self, written: u64) -> usize {
        (written & (self.max_len as u64 - 1)) as usize
    }
}

/// Writes ids in four bytes each.
fn write(ids: &[TokenId], bytes: &mut [u8]) {
    let ids = ids.iter().map(|&id| id.to_le_bytes());
    bytes.as_chunks_mut().0.iter_mut().zip(ids).for_each(|(bytes, id)| *bytes = id);
}

/// The head of an entry: the length of its piece, and the number of its ids.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an entry is far shorter")]
fn head(piece: &[u8], n_ids: usize, is_narrow: bool) -> u64 {
    let kind = if is_narrow { NARROW } else { 0 };
    u64::from(n_ids as u32 | kind) << 32 | u64::from(piece.len() as u32)
}

/// The two halves of a head.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves")]
fn lens(head: u64) -> (u32, u32) {
    (head as u32, (head >> 32) as u32)
}

/// Slots of a new index, and at most; 4 MiB.
const MIN_INDEX_LEN: usize = 1 << 9;
const MAX_INDEX_LEN: usize = 1 << 19;
/// Slots of a bucket, which is a line of the processor's cache.
const BUCKET_LEN: usize = 8;
/// How many slots of a bucket are taken, on average, before an index grows.
const MAX_TAKEN: usize = 3;
/// Bits of a place, one more than it; the rest of a slot are the first ones of a hash.
const PLACE_BITS: u32 = 37;
/// More than any place.
const N_PLACES: u64 = (1 << PLACE_BITS) - 1;

const _: () = assert!(MAX_INDEX_LEN / BUCKET_LEN <= 1 << (64 - PLACE_BITS));

/// Places of long pieces by hash: a set-associative table whose buckets are eight slots.
///
/// A new slot is the first of its bucket and the last one drops out, so a bucket holds what was written last. A
/// slot may be that of another piece or of an entry that was overwritten: the entry decides.
///
/// With three of eight slots taken on average before the index grows, one piece in 84 is in a bucket of nine or
/// more, which forgets each before it comes again; with five it would be one in eight.
pub(super) struct Index {
    /// 0 where a slot is free. No bucket lies in two lines of the processor's cache.
    slots: HugePageRow<u64>,
    /// How far a hash is shifted to give the number of a bucket.
    shift: u32,
    n_taken: usize,
    max_len: usize,
}

impl Index {
    pub(super) fn new() -> Self {
        let slots = HugePageRow::filled(0, MIN_INDEX_LEN);
        Self { slots, shift: shift(MIN_INDEX_LEN), n_taken: 0, max_len: MAX_INDEX_LEN }
    }

    /// Fetches the bucket of a hash ahead of its use.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.slots, self.bucket(hash));
    }

    /// The places that may be those of a hash, the latest first.
    #[inline]
    pub(super) fn places(&self, hash: u64) -> impl Iterator<Item = u64> {
        let start = self.bucket(hash);
        let slots: [u64; BUCKET_LEN] =
            self.slots[start..].first_chunk().copied().unwrap_or_default();
        let is_of = |slot: u64| slot != 0 && (slot ^ hash) >> PLACE_BITS == 0;
        // All are compared, so that the processor guesses nothing but how many there are: hardly ever two.
        let mut found =
            (0..BUCKET_LEN).fold(0, |found, index| found | u32::from(is_of(slots[index])) << index);
        std::iter::from_fn(move || {
            let index = found.trailing_zeros() as usize;
            found &= found.wrapping_sub(1);
            slots.get(index).map(|slot| (slot & N_PLACES) - 1)
        })
    }

    /// Notes the place of the entry of a hash: less than [`N_PLACES`], and more than all before.
    pub(super) fn insert(&mut self, hash: u64, place: u64) {
        let n_buckets = self.slots.len() / BUCKET_LEN;
        if self.n_taken > MAX_TAKEN * n_buckets && self.slots.len() < self.max_len {
            self.grow();
        }
        self.put((hash >> PLACE_BITS << PLACE_BITS) | (place + 1));
    }

    #[inline]
    fn put(&mut self, slot: u64) {
        let bucket = self.bucket(slot);
        let Some(slots) = self.slots[bucket..].first_chunk_mut::<BUCKET_LEN>() else { return };
        let [.., last] = *slots;
        slots.copy_within(..BUCKET_LEN - 1, 1);
        slots[0] = slot;
        self.n_taken += usize::from(last == 0);
    }

    /// Doubles the index: the slots of a bucket go to two. If there is no memory for that, it stays as long as it is.
    fn grow(&mut self) {
        let len = self.slots.len() * 2;
        let Some(mut longer) = HugePageRow::try_with_room(len) else {
            self.max_len = self.slots.len();
            return;
        };
        longer.lengthen(0, len);
        let slots = std::mem::replace(&mut self.slots, longer);
        (self.shift, self.n_taken) = (shift(len), 0);
        for bucket in slots.as_chunks::<BUCKET_LEN>().0 {
            bucket.iter().rev().filter(|slot| **slot != 0).for_each(|&slot| self.put(slot));
        }
    }

    /// Where the bucket of a hash, or of a slot, begins.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the number of a bucket")]
    fn bucket(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize * BUCKET_LEN
    }
}

fn shift(len: usize) -> u32 {
    64 - (len / BUCKET_LEN).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{fold, hash_bytes};

    #[test]
    fn ids_alone_stand_until_they_are_written_over() {
        let (mut ring, mut written) = (Ring::new(1024), Vec::new());
        for number in 0..200_u32 {
            let ids: Vec<_> = (0..number % 40).map(|place| number << 20 | place).collect();
            let place = ring.push_ids(&ids).unwrap();
            written.push((place, ids));
            for (place, ids) in &written {
                let mut found = vec![];
                let is_there = ring.append_ids(*place, ids.len(), &mut found);
                assert!(found == *ids || !is_there && found.is_empty());
                assert!(is_there || ring.head > (place + 128) * 8);
            }
        }
        assert!(ring.push_ids(&[1; 257]).is_none());
    }

    /// Notes a piece that is not there; returns whether it was missed.
    fn is_missed(index: &mut Index, number: u64, n_written: &mut u64) -> bool {
        let hash = hash_bytes(&number.to_le_bytes(), 0);
        if index.places(hash).next().is_some() {
            return false;
        }
        index.insert(hash, *n_written);
        *n_written += 1;
        true
    }

    #[test]
    fn nearly_all_pieces_that_come_round_and_round_are_found() {
        // The second and the last are nearly as many as an index has before it grows.
        for n_pieces in [40_000, 98_000, 160_000, 196_000] {
            let (mut index, mut n_written) = (Index::new(), 0);
            let mut is_missed = |number: &u64| is_missed(&mut index, *number, &mut n_written);
            let n_missed = [0; 4].map(|_| (0..n_pieces).filter(&mut is_missed).count());
            assert!(50 * n_missed[3] as u64 <= n_pieces, "{n_missed:?} of {n_pieces}");
        }
    }

    #[test]
    fn what_was_noted_is_found_unless_much_came_after_it() {
        let mut index = Index::new();
        let hash = |number| fold(number, 7);
        let has =
            |index: &Index, number| index.places(hash(number)).any(|place| place == 3 * number);
        for number in 0..2_000_000 {
            index.insert(hash(number), 3 * number);
            assert!(has(&index, number));
            let before = number.saturating_sub(300_000);
            assert!(
                number % 1000 > 0
                    || (before..=number).step_by(997).filter(|&at| !has(&index, at)).count() < 8
            );
        }
        assert_eq!(index.slots.len(), MAX_INDEX_LEN);
        assert!(
            (2_000_000..2_100_000).map(|number| index.places(hash(number)).count()).sum::<usize>()
                < 2_000
        );
    }
}
