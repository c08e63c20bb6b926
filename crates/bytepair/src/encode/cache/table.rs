//! Slots by key, the number of them a power of two, two in each line of the processor's cache.
//!
//! A key belongs into the slot that its hash says, its *home*. Where that is taken it stands beside, or in one of the
//! lines behind, so that no two keys that come again and again drive each other out: to encode a piece costs
//! fifty times what it costs to find it. What came first keeps its home, also when the table grows, and the pieces
//! that come first are the frequent ones: nearly all that are asked for are found at home.
//!
//! A table begins small, since the first short text of a new tokenizer should not pay for memory that it does not
//! need, and doubles when three of eight slots are taken, a large one half of them, so that few stand elsewhere than at home. At its bound a new
//! slot takes the place of an older one where nothing near is free.

use crate::large_pages::{LargeRow, Pages};
use crate::piece_key::{Keyed, MARK, high_hash};

/// Slots of a new table; 16 KiB.
pub(super) const MIN_LEN: usize = 1 << 9;
/// Slots of a table that grows in its place; 2 MiB.
const LARGE_LEN: usize = 1 << 16;
/// Slots of a table that may be fuller before it grows, since twice as many would take long to get; 8 MiB.
const HUGE_LEN: usize = 1 << 18;
/// How many lines are looked at for a key.
const MAX_PROBE: usize = 8;
/// Slots in a line.
const LINE_LEN: usize = 2;

/// Slots by key.
pub(super) struct Table {
    slots: LargeRow<Slot>,
    /// How far a hash is shifted to give a home.
    shift: u32,
    n_taken: usize,
    max_len: usize,
}

/// A key and what it stands for.
pub(super) type Slot = Keyed<u128>;

const FREE: Slot = Slot { key: 0, value: 0 };

impl Table {
    /// Both lengths are powers of two, at least [`LINE_LEN`].
    pub(super) fn new(len: usize, max_len: usize) -> Self {
        let slots = LargeRow::filled_with_room(FREE, len, (len, Pages::Small));
        Self { slots, shift: shift(len), n_taken: 0, max_len }
    }

    fn is_full(&self) -> bool {
        let n_eighths = match self.slots.len() {
            len if len >= self.max_len => 5,
            HUGE_LEN.. => 4,
            _ => 3,
        };
        self.n_taken > self.slots.len() / 8 * n_eighths
    }

    #[inline]
    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The slot where a key belongs, which may have another.
    #[inline]
    pub(super) fn at_home(&self, key: u128) -> &Slot {
        &self.slots[self.home(key)]
    }

    /// The slot of a key, marked or not, wherever it is.
    #[inline]
    pub(super) fn get(&self, key: u128) -> Option<Slot> {
        Some(self.at(self.place(key))).filter(|&slot| is_of(slot, key))
    }

    /// The place of the slot of a key, marked or not, or the one where it would be put.
    #[inline]
    pub(super) fn place(&self, key: u128) -> usize {
        let home = self.home(key);
        for distance in 0..MAX_PROBE {
            let line = ((home & !1) + distance * LINE_LEN) & (self.slots.len() - 1);
            // At home first, which is what the pieces that come first get.
            let places = if distance == 0 { [home, home ^ 1] } else { [line, line + 1] };
            let keys = places.map(|place| self.slots[place].key);
            if let Some(index) = keys.iter().position(|&found| found & !MARK == key) {
                return places[index];
            }
            // What had no room before would stand here.
            if let Some(index) = keys.iter().position(|&found| found == 0) {
                return places[index];
            }
        }
        home
    }

    /// The slot at a place that was [looked for](Self::place).
    #[inline]
    pub(super) fn at(&self, place: usize) -> Slot {
        self.slots[place]
    }

    /// Puts a slot in, in the place of one that has the same key.
    pub(super) fn insert(&mut self, slot: Slot) {
        if self.is_full() && self.slots.len() < self.max_len {
            self.grow();
        }
        self.put_at(self.place(slot.key & !MARK), slot);
    }

    fn put_at(&mut self, place: usize, slot: Slot) {
        let before = self.slots[place];
        if before.key == 0 {
            self.n_taken += 1;
        } else if !is_of(before, slot.key & !MARK) {
            // This is the home, and no place near it is free.
            self.slots[place ^ 1] = before;
        }
        self.slots[place] = slot;
    }

    /// Twice as many slots. The last one is moved first: from a place to the one that is twice as far, or to the next
    /// one, where nothing is any more. Those that are at home stay so, since no two of them have one home then either.
    fn grow(&mut self) {
        let (len_before, shift_before) = (self.slots.len(), self.shift);
        self.lengthen(len_before * 2);
        self.shift = shift(len_before * 2);
        let mut away = Vec::new();
        for place in (0..len_before).rev() {
            let slot = std::mem::replace(&mut self.slots[place], FREE);
            if slot.key == 0 {
                continue;
            }
            if home(slot.key & !MARK, shift_before) == place {
                let home = self.home(slot.key & !MARK);
                self.slots[home] = slot;
            } else {
                away.push(slot);
            }
        }
        self.n_taken -= away.len();
        away.into_iter().rev().for_each(|slot| self.put_at(self.place(slot.key & !MARK), slot));
    }

    /// Appends free slots. A table that becomes large gets room for all that it may ever have, which costs nothing
    /// before it is used; so its memory is asked of the system once.
    fn lengthen(&mut self, len: usize) {
        if len <= self.slots.room() {
            self.slots.fill_up_or_give_up(FREE, len);
            return;
        }
        let room = if len < LARGE_LEN { len } else { self.max_len.max(len) };
        let pages = if len < LARGE_LEN { Pages::Small } else { Pages::quick() };
        let mut slots = LargeRow::with_room(room, pages);
        slots.fill_up_or_give_up(FREE, len);
        slots[..self.slots.len()].copy_from_slice(&self.slots);
        self.slots = slots;
    }

    #[inline]
    fn home(&self, key: u128) -> usize {
        home(key, self.shift) & (self.slots.len() - 1)
    }
}

#[inline]
fn is_of(slot: Slot, key: u128) -> bool {
    slot.key & !MARK == key
}

fn shift(len: usize) -> u32 {
    64 - len.ilog2()
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the shift leaves the number of a slot")]
fn home(key: u128, shift: u32) -> usize {
    (high_hash(key) >> shift) as usize
}
