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
use crate::piece_key::{Keyed, high_hash};

/// Slots of a new table; 16 KiB.
pub(super) const MIN_LEN: usize = 1 << 9;
/// Slots of a table that takes no room from others in the processor's nearer caches; 256 KiB.
const SMALL_LEN: usize = 1 << 13;
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

/// In the key of a slot: its value is of another kind, and the key is not found [at home](Table::at_home). Keys that
/// are asked for do not have this bit.
pub(super) const MARK: u128 = 1 << 126;

/// A key and what it stands for.
pub(super) type Slot = Keyed<u128>;

const FREE: Slot = Slot { key: 0, value: 0 };

impl Table {
    /// Both lengths are powers of two, at least [`LINE_LEN`].
    pub(super) fn new(len: usize, max_len: usize) -> Self {
        let slots = LargeRow::filled_with_room(FREE, len, (len, Pages::Small));
        Self { slots, shift: shift(len), n_taken: 0, max_len }
    }

    /// Whether there is room for anything.
    pub(super) fn is_small(&self) -> bool {
        self.slots.len() < SMALL_LEN
    }

    /// Whether there is room for what may never be asked for.
    pub(super) fn has_room(&self) -> bool {
        self.slots.len() < self.max_len || !self.is_full()
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

    /// The slot of a key, marked or not.
    pub(super) fn get(&self, key: u128) -> Option<Slot> {
        for distance in 0..MAX_PROBE {
            let line = self.line(key, distance);
            let [first, second] = [self.slots[line], self.slots[line + 1]];
            if is_of(first, key) {
                return Some(first);
            }
            if is_of(second, key) {
                return Some(second);
            }
            // What had no room before would stand here.
            if first.key == 0 || second.key == 0 {
                return None;
            }
        }
        None
    }

    /// Puts a slot in, in the place of one that has the same key.
    pub(super) fn insert(&mut self, slot: Slot) {
        if self.is_full() && self.slots.len() < self.max_len {
            self.grow();
        }
        self.put(slot);
    }

    fn put(&mut self, slot: Slot) {
        let key = slot.key & !MARK;
        let home = self.home(key);
        for distance in 0..MAX_PROBE {
            let line = self.line(key, distance);
            let places = if distance == 0 { [home, home ^ 1] } else { [line, line + 1] };
            // A key stands once: the same one is looked for before a free place is taken.
            let is_same = |&place: &usize| is_of(self.slots[place], key);
            let is_free = |&place: &usize| self.slots[place].key == 0;
            if let Some(place) = places.into_iter().find(is_same) {
                self.slots[place] = slot;
                return;
            }
            if let Some(place) = places.into_iter().find(is_free) {
                self.slots[place] = slot;
                self.n_taken += 1;
                return;
            }
        }
        self.slots[home ^ 1] = self.slots[home];
        self.slots[home] = slot;
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
        away.into_iter().rev().for_each(|slot| self.put(slot));
    }

    /// Appends free slots. A table that becomes large gets room for all that it may ever have, which costs nothing
    /// before it is used; so its memory is asked of the system once.
    fn lengthen(&mut self, len: usize) {
        if len <= self.slots.room() {
            self.slots.fill_up(FREE, len);
            return;
        }
        let room = if len < LARGE_LEN { len } else { self.max_len.max(len) };
        let mut slots = LargeRow::filled_with_room(FREE, len, (room, Pages::Small));
        slots[..self.slots.len()].copy_from_slice(&self.slots);
        self.slots = slots;
    }

    #[inline]
    fn home(&self, key: u128) -> usize {
        home(key, self.shift) & (self.slots.len() - 1)
    }

    /// The first slot of a line, counted from that of a key's home.
    fn line(&self, key: u128, distance: usize) -> usize {
        ((self.home(key) & !1) + distance * LINE_LEN) & (self.slots.len() - 1)
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
