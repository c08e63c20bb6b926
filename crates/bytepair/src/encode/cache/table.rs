//! Slots by key: two in each line of the processor's cache, the number of lines a power of two.
//!
//! A key belongs into the line that its hash says. Where that is full its slot stands in one of the lines behind it,
//! so that no two keys that come again and again drive each other out: to encode a piece costs fifty times what it
//! costs to find it. A table begins small, since the first short text of a new tokenizer should not pay for
//! memory that it does not need, and doubles when half of its slots are taken. At its bound a new slot takes
//! the first place of its line where nothing near is free, and the older of the two is forgotten.

use crate::piece_key::key_hash;

/// Lines of a new table; 16 KiB.
pub(super) const MIN_LINES: usize = 1 << 8;
/// Lines of a table that is large; 256 KiB.
const LARGE: usize = 1 << 12;
/// How many lines are looked at for a key.
const MAX_PROBE: usize = 8;

/// Slots by key.
pub(super) struct Table {
    lines: Vec<Line>,
    n_taken: usize,
    max_lines: usize,
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    /// Taken before `second` is.
    first: Slot,
    second: Slot,
}

/// In the key of a slot: its value is of another kind, and the key is not found [at home](Table::at_home). Keys that
/// are asked for do not have this bit.
pub(super) const MARK: u128 = 1 << 126;

/// A key and what it stands for.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// 0 where the slot is free.
    pub(super) key: u128,
    pub(super) value: u128,
}

const FREE: Slot = Slot { key: 0, value: 0 };
const FREE_LINE: Line = Line { first: FREE, second: FREE };

impl Table {
    /// Both numbers are powers of two.
    pub(super) fn new(n_lines: usize, max_lines: usize) -> Self {
        Self { lines: vec![FREE_LINE; n_lines], n_taken: 0, max_lines }
    }

    /// Whether what is put in takes room in the processor's nearer caches from what is more frequent.
    pub(super) fn is_large(&self) -> bool {
        self.lines.len() >= LARGE
    }

    /// The slot of a key, if it stands in the line where it belongs; else one that has another key.
    #[inline]
    pub(super) fn at_home(&self, key: u128) -> &Slot {
        let line = &self.lines[self.home(key)];
        if line.first.key == key { &line.first } else { &line.second }
    }

    /// The slot of a key, marked or not.
    pub(super) fn get(&self, key: u128) -> Option<Slot> {
        for distance in 0..MAX_PROBE {
            let Line { first, second } = &self.lines[self.behind(key, distance)];
            if first.is_of(key) {
                return Some(*first);
            }
            if second.is_of(key) {
                return Some(*second);
            }
            if second.key == 0 {
                return None;
            }
        }
        None
    }

    /// Puts a slot in, in the place of one that has the same key.
    pub(super) fn insert(&mut self, slot: Slot) {
        if self.n_taken > self.lines.len() && self.lines.len() < self.max_lines {
            self.grow();
        }
        self.put(slot);
    }

    fn put(&mut self, slot: Slot) {
        let key = slot.key & !MARK;
        for distance in 0..MAX_PROBE {
            let index = self.behind(key, distance);
            if let Some(old) = self.lines[index].place_for(key) {
                let is_new = old.key == 0;
                *old = slot;
                self.n_taken += usize::from(is_new);
                return;
            }
        }
        let home = self.home(key);
        let line = &mut self.lines[home];
        line.second = line.first;
        line.first = slot;
    }

    fn grow(&mut self) {
        let n_lines = self.lines.len() * 2;
        let before = std::mem::replace(&mut self.lines, vec![FREE_LINE; n_lines]);
        self.n_taken = 0;
        for slot in before.iter().flat_map(|line| [line.first, line.second]) {
            if slot.key != 0 {
                self.put(slot);
            }
        }
    }

    #[inline]
    fn home(&self, key: u128) -> usize {
        key_hash(key) & (self.lines.len() - 1)
    }

    fn behind(&self, key: u128, distance: usize) -> usize {
        (key_hash(key) + distance) & (self.lines.len() - 1)
    }
}

impl Line {
    /// The slot of a key, or a free one.
    fn place_for(&mut self, key: u128) -> Option<&mut Slot> {
        [&mut self.first, &mut self.second].into_iter().find(|old| old.key == 0 || old.is_of(key))
    }
}

impl Slot {
    #[inline]
    fn is_of(&self, key: u128) -> bool {
        self.key & !MARK == key
    }
}
