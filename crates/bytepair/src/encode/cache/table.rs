//! Short pieces by their keys: a set-associative hash table whose buckets are two slots, one line of the
//! processor's cache.
//!
//! The highest bits of a key's hash number one slot, its *home*; the bucket is the home and the slot beside it.
//!
//! ```text
//! get(key):
//!     for each of eight buckets, from that of the home on:
//!         for each of its two slots, the home first:
//!             if it has the key: return it
//!         if one of them is free: return nothing
//!     return nothing
//!
//! insert(key, value):
//!     if the table is too full and may grow: double it
//!     if get(key) finds a slot, or ends at a free one: put it there
//!     else: put it into the home, and what was there beside it; what was beside is forgotten
//! ```
//!
//! *Invariant*: no bucket between a key's home and its slot has a free slot. It holds when the key is put in, and
//! since slots are never freed it holds on; so a search may end at a free slot. Doubling keeps it: as homes are the
//! highest bits of a hash, a key in slot `i` that is its home has the home `2i` or `2i + 1` afterwards, so that no
//! two of these compete, and all other keys are put in anew.
//!
//! *Why the bucket matters*: the two slots of a bucket are compared together, and a piece elsewhere costs a step of
//! its own. The pieces that come first in a text are its frequent ones, and they keep their homes. The table
//! doubles when three of eight slots are taken, a large one when half of them are, so that most pieces have theirs.
//! A frequent piece that came late changes places with the slot in its home: of all times that a piece is found
//! elsewhere every sixteenth is looked at, and if two of these in a row are for the same home, a good part of all
//! are.
//!
//! *Cost*: one line of the processor's cache for nearly all pieces. Memory starts at 16 KiB, so that the first
//! short text of a new tokenizer does not wait for more, and ends at a bound.
//!
//! *Values*. Above the key of a slot is the kind of its value, which is the ids of the piece, or where they are:
//!
//! ```text
//! 0 to 3:  one id more
//! 4:       how many, up to seven ids of 17 bits      inline
//! 5:       how many, up to six ids of 20 bits        inline
//! 6:       how many, place in the ring
//! ```
//!
//! Five to seven, as words of a script have for which a vocabulary has few tokens, are packed inline so that they need no
//! second line of the processor's cache: these take a third longer from the ring.

use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::piece::{KIND_SHIFT, Keyed, high_hash};
use crate::vocabulary::TokenId;

/// Slots of a new table; 16 KiB.
pub(super) const MIN_LEN: usize = 1 << 9;
/// Slots of a table that grows in its place; 2 MiB.
const LARGE_LEN: usize = 1 << 16;
/// Slots of a table that may be fuller before it grows, since so much fresh memory takes long to get; 8 MiB.
const HUGE_LEN: usize = 1 << 18;
/// Buckets that are searched for a key.
const MAX_PROBE: usize = 8;
/// Slots of a bucket.
const BUCKET_LEN: usize = 2;

/// Of the times that a key is found elsewhere than in its home, one in this many is looked at.
const SAMPLED: u32 = 16;

/// A key with the kind of its value, and the value. The table treats all kinds alike.
pub(super) type Slot = Keyed<[TokenId; MAX_IDS]>;

/// The bits of a key without the kind.
const KEY_BITS: u128 = (1 << KIND_SHIFT) - 1;

const FREE: Slot = Slot { key: 0, value: [0; _] };

/// Slots by key.
pub(super) struct Table {
    /// As many as a power of two.
    slots: HugePageRow<Slot>,
    /// How far a hash is shifted to give a home.
    shift: u32,
    n_taken: usize,
    max_len: usize,
    /// How often a key was found elsewhere than in its home, and the home that was sampled last.
    n_elsewhere: u32,
    sampled: usize,
}

impl Table {
    /// A table of `len` slots that grows up to `max_len`. Both are powers of two, at least [`BUCKET_LEN`].
    pub(super) fn new(len: usize, max_len: usize) -> Self {
        let slots = HugePageRow::filled(FREE, len);
        Self { slots, shift: shift(len), n_taken: 0, max_len, n_elsewhere: 0, sampled: 0 }
    }

    /// The home of a key, which is fetched ahead of its use.
    #[inline]
    pub(super) fn prefetched_home(&self, key: u128) -> usize {
        let home = self.home(key);
        prefetch(&self.slots, home);
        home
    }

    /// The slot of a key with this home, marked or not, if it is in its bucket; it may be missed there.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "half of a key")]
    pub(super) fn get_near(&self, key: u128, home: usize) -> Option<&Slot> {
        let bucket = self.slots.as_chunks::<BUCKET_LEN>().0.get(home / BUCKET_LEN)?;
        // Which of the two it is cannot be guessed: so one is taken by its number, then compared, which nearly always holds. The
        // lower half tells them apart, but for long pieces that begin alike and share a bucket.
        let slot = &bucket[usize::from((bucket[0].key ^ key) as u64 != 0)];
        has(slot, key).then_some(slot)
    }

    /// The slot of a key, marked or not.
    #[inline]
    pub(super) fn get(&self, key: u128) -> Option<Slot> {
        Some(self.slots[self.place(key)]).filter(|slot| has(slot, key))
    }

    /// The slot of a key, marked or not, that is not in its home. It may be from now on, if the key seems to be frequent.
    #[inline]
    pub(super) fn get_elsewhere(&mut self, key: u128) -> Option<Slot> {
        let place = self.place(key);
        let slot = Some(self.slots[place]).filter(|slot| has(slot, key))?;
        let home = self.home(key);
        self.n_elsewhere = self.n_elsewhere.wrapping_add(1);
        if self.n_elsewhere.is_multiple_of(SAMPLED)
            && std::mem::replace(&mut self.sampled, home) == home
        {
            self.exchange(home, place);
        }
        Some(slot)
    }

    /// Exchanges the slots of a home and of a key that it belongs to, unless that takes the former too far from its
    /// own home. All buckets between are full, as they were when either was put in, so that both are found.
    #[cold]
    fn exchange(&mut self, home: usize, place: usize) {
        let n_buckets = self.slots.len() / BUCKET_LEN;
        let bucket_before = self.home(self.slots[home].key & KEY_BITS) / BUCKET_LEN;
        let distance = (place / BUCKET_LEN).wrapping_sub(bucket_before) & (n_buckets - 1);
        if distance < MAX_PROBE {
            self.slots.swap(home, place);
        }
    }

    /// Puts a slot in, replacing the one with the same key, if there is one.
    pub(super) fn insert(&mut self, slot: Slot) {
        if self.is_full() && self.slots.len() < self.max_len && !self.grow() {
            self.max_len = self.slots.len();
        }
        self.put(slot);
    }

    fn put(&mut self, slot: Slot) {
        let place = self.place(slot.key & KEY_BITS);
        let before = self.slots[place];
        if before.key == 0 {
            self.n_taken += 1;
        } else if !has(&before, slot.key & KEY_BITS) {
            // The search ended nowhere, so this is the home.
            self.slots[place ^ 1] = before;
        }
        self.slots[place] = slot;
    }

    /// The place of a key, marked or not; else the free place where its search ends; else its home.
    #[inline]
    fn place(&self, key: u128) -> usize {
        let home = self.home(key);
        for distance in 0..MAX_PROBE {
            let bucket = ((home & !1) + distance * BUCKET_LEN) & (self.slots.len() - 1);
            let places = if distance == 0 { [home, home ^ 1] } else { [bucket, bucket + 1] };
            let is_at = |place: &usize| has(&self.slots[*place], key);
            let is_free = |place: &usize| self.slots[*place].key == 0;
            let found = places.iter().find(|place| is_at(place));
            if let Some(&place) = found.or_else(|| places.iter().find(|place| is_free(place))) {
                return place;
            }
        }
        home
    }

    fn is_full(&self) -> bool {
        let n_eighths = match self.slots.len() {
            len if len >= self.max_len => 5,
            HUGE_LEN.. => 4,
            _ => 3,
        };
        self.n_taken > self.slots.len() / 8 * n_eighths
    }

    /// Doubles the table in its place, from the last slot to the first: where a key goes to, nothing is left by then.
    /// Whether there is memory for that.
    fn grow(&mut self) -> bool {
        let (len_before, shift_before) = (self.slots.len(), self.shift);
        if !self.lengthen(len_before * 2) {
            return false;
        }
        self.shift = shift(len_before * 2);
        let mut elsewhere = Vec::new();
        for place in (0..len_before).rev() {
            let slot = std::mem::replace(&mut self.slots[place], FREE);
            if slot.key == 0 {
                continue;
            }
            if home(slot.key & KEY_BITS, shift_before) == place {
                let home = self.home(slot.key & KEY_BITS);
                self.slots[home] = slot;
            } else {
                elsewhere.push(slot);
            }
        }
        self.n_taken -= elsewhere.len();
        elsewhere.into_iter().rev().for_each(|slot| self.put(slot));
        true
    }

    /// Appends free slots. A table that becomes large reserves all the room that it may ever need, which is address
    /// space alone until it is written; from then on no slot is copied, and the system clears each page once. Where
    /// there is no memory, nothing changes.
    fn lengthen(&mut self, len: usize) -> bool {
        if len > self.slots.room() {
            let room = if len < LARGE_LEN { len } else { self.max_len.max(len) };
            let Some(mut slots) = HugePageRow::try_with_room(room) else { return false };
            self.slots.iter().for_each(|&slot| slots.push(slot));
            self.slots = slots;
        }
        self.slots.lengthen(FREE, len);
        true
    }

    #[inline]
    fn home(&self, key: u128) -> usize {
        home(key, self.shift) & (self.slots.len() - 1)
    }
}

/// Whether a slot has a key, with a value of any kind.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves of a key")]
fn has(slot: &Slot, key: u128) -> bool {
    let differing = slot.key ^ key;
    // By halves: the compiler makes more of the whole.
    (differing as u64 | (differing >> 64) as u64 & (KEY_BITS >> 64) as u64) == 0
}

fn shift(len: usize) -> u32 {
    64 - len.ilog2()
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves the number of a slot")]
fn home(key: u128, shift: u32) -> usize {
    (high_hash(key) >> shift) as usize
}

/// Most ids of 32 bits in a value; their number less one is its kind.
pub(super) const MAX_IDS: usize = 4;
/// The first kind of inline ids; and bits of such an id, and how many fit, by kind from there on.
const FIRST_INLINE: usize = MAX_IDS;
const WIDTHS: [(u32, usize); 2] = [(17, MAX_INLINE), (20, 6)];
const IN_RING: usize = FIRST_INLINE + WIDTHS.len();
/// Most inline ids; their number takes the highest bits.
pub(super) const MAX_INLINE: usize = 7;
const LEN_SHIFT: u32 = 125;
/// The number of ids in the ring takes the bits above the place.
const RING_LEN_SHIFT: u32 = 64;

impl Slot {
    /// What its value is: up to three are ids.
    #[inline]
    pub(super) fn kind(&self) -> usize {
        (self.key >> KIND_SHIFT) as usize
    }

    #[expect(clippy::cast_possible_truncation, reason = "each of the four words is an id")]
    fn with_kind(key: u128, kind: usize, value: u128) -> Self {
        let value = std::array::from_fn(|word| (value >> (32 * word)) as TokenId);
        Self { key: key | (kind as u128) << KIND_SHIFT, value }
    }

    /// Its value as one number.
    #[inline]
    fn number(&self) -> u128 {
        self.value.iter().rev().fold(0, |number, &word| number << 32 | u128::from(word))
    }

    /// The slot of a key with these ids in it, if they fit.
    pub(super) fn packed(key: u128, ids: &[TokenId]) -> Option<Self> {
        let bits_of = |width| ids.iter().rev().fold(0, |bits, &id| bits << width | u128::from(id));
        if (1..=MAX_IDS).contains(&ids.len()) {
            return Some(Self::with_kind(key, ids.len() - 1, bits_of(32)));
        }
        let fits = |&(width, most): &(u32, usize)| {
            ids.len() <= most && ids.iter().all(|&id| id >> width == 0)
        };
        let inline = WIDTHS.iter().position(fits)?;
        let value = (ids.len() as u128) << LEN_SHIFT | bits_of(WIDTHS[inline].0);
        Some(Self::with_kind(key, FIRST_INLINE + inline, value))
    }

    /// Writes the ids that it has itself, and gives their number; what is after them is anything.
    #[inline]
    pub(super) fn write_ids(&self, place: &mut [TokenId; MAX_INLINE]) -> Option<usize> {
        let kind = self.kind();
        if kind < MAX_IDS {
            place[..MAX_IDS].copy_from_slice(&self.value);
            return Some(kind + 1);
        }
        let number = self.number();
        *place = match kind {
            FIRST_INLINE => spread::<{ WIDTHS[0].0 }>(number),
            IN_RING => return None,
            _ => spread::<{ WIDTHS[1].0 }>(number),
        };
        Some((number >> LEN_SHIFT) as usize)
    }

    /// The place in the ring that it has, if its ids are there, and how many there are.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "halves of the value")]
    pub(super) fn place_in_ring(&self) -> (u64, usize) {
        (self.number() as u64, (self.number() >> RING_LEN_SHIFT) as usize)
    }

    /// The slot of a key with this many ids in the ring.
    pub(super) fn in_ring(key: u128, place: u64, n_ids: usize) -> Self {
        let value = (n_ids as u128) << RING_LEN_SHIFT | u128::from(place);
        Self::with_kind(key, IN_RING, value)
    }
}

/// The inline ids of this many bits; what does not count is anything.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an id is masked")]
fn spread<const BITS: u32>(value: u128) -> [TokenId; MAX_INLINE] {
    std::array::from_fn(|index| (value >> (index as u32 * BITS)) as TokenId & ((1 << BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_come_back_or_do_not_fit(
            ids in prop::collection::vec(prop_oneof![0..1_u32 << 17, 0..1_u32 << 20, any::<u32>()], 1..9),
            key in 0..1_u128 << 125,
        ) {
            let largest = ids.iter().max().copied().unwrap_or(0);
            match Slot::packed(key, &ids) {
                Some(slot) => {
                    let mut seven = [0; MAX_INLINE];
                    let n_ids = slot.write_ids(&mut seven).unwrap();
                    prop_assert_eq!(&seven[..n_ids], &ids);
                    prop_assert!(has(&slot, key));
                }
                None => prop_assert!(ids.len() > 7 || largest >= 1 << 20 || ids.len() == 7 && largest >= 1 << 17),
            }
        }
    }

    #[test]
    fn a_place_in_the_ring_comes_back_and_has_no_inline_ids() {
        let slot = Slot::in_ring(1, (1 << 37) - 2, 5000);
        assert_eq!(slot.place_in_ring(), ((1 << 37) - 2, 5000));
        assert!(slot.write_ids(&mut [0; MAX_INLINE]).is_none() && has(&slot, 1));
    }
}
