//! Where pairs may begin: for each pair a list of slots in ascending order, all lists in one row of memory.
//!
//! A list has as much room as its pair has occurrences when it is made. Merges make places stale; they are
//! skipped when they are met, never searched for.

use super::pairs::PairIndex;
use crate::memory::large_pages::LargeRow;

/// Lists of slots, by pair.
#[derive(Default)]
pub(super) struct Places {
    slots: LargeRow<u32>,
    /// By pair: its list. Pairs that do not occur here may have none.
    lists: Vec<List>,
}

/// A part of the row of slots.
#[derive(Clone, Copy, Default)]
pub(super) struct List {
    start: usize,
    len: usize,
}

impl List {
    /// How many slots it has.
    pub(super) fn len(self) -> usize {
        self.len
    }

    /// The slots from `start` on and before `end`.
    pub(super) fn part(self, start: usize, end: usize) -> Self {
        Self { start: self.start + start, len: end - start }
    }
}

/// Full lists, while they are made: all in one pass over the corpus.
pub(super) struct NewLists<'p> {
    places: &'p mut Places,
}

/// Stands for the place of the next slot of a list that is not there.
pub(super) const NO_LIST: usize = usize::MAX;

impl NewLists<'_> {
    /// Makes a list; gives the place of its first slot.
    pub(super) fn make(&mut self, pair: PairIndex, n_slots: usize) -> usize {
        self.places.make(pair, n_slots);
        let list = &mut self.places.lists[pair as usize];
        list.len = n_slots;
        list.start
    }

    /// Writes the next slot of a list, if there is one.
    #[inline]
    pub(super) fn push(&mut self, next: &mut usize, slot: u32) {
        if let Some(place) = self.places.slots.get_mut(*next) {
            *place = slot;
            *next += 1;
        }
    }
}

impl Places {
    /// Forgets all lists. Their memory is given back: what a survey needs is at its most before it makes new ones.
    pub(super) fn clear(&mut self) {
        self.slots = LargeRow::default();
        self.lists.clear();
    }

    /// Makes an empty list with room for `n_slots`.
    pub(super) fn make(&mut self, pair: PairIndex, n_slots: usize) {
        if self.lists.len() <= pair as usize {
            self.lists.resize(pair as usize + 1, List::default());
        }
        self.lists[pair as usize] = List { start: self.slots.len(), len: 0 };
        self.slots.lengthen(0, self.slots.len() + n_slots);
    }

    /// Makes full lists, whose slots come later: no more than `most`. What is never filled takes no memory.
    pub(super) fn add_lists(&mut self, most: usize) -> NewLists<'_> {
        self.slots.reserve(self.slots.len() + most);
        NewLists { places: self }
    }

    /// Appends a slot to a list that has room for it.
    #[inline]
    pub(super) fn push(&mut self, pair: PairIndex, slot: u32) {
        let list = &mut self.lists[pair as usize];
        self.slots[list.start + list.len] = slot;
        list.len += 1;
    }

    /// The length of a list.
    pub(super) fn len(&self, pair: PairIndex) -> usize {
        self.list(pair).len
    }

    /// The list of a pair; an empty one where it has none.
    pub(super) fn list(&self, pair: PairIndex) -> List {
        self.lists.get(pair as usize).copied().unwrap_or_default()
    }

    /// A list, taken out: its pair has none any more, and its memory stays as it is.
    pub(super) fn take(&mut self, pair: PairIndex) -> List {
        self.lists.get_mut(pair as usize).map(std::mem::take).unwrap_or_default()
    }

    /// The slots of a list.
    #[inline]
    pub(super) fn slots(&self, list: List) -> &[u32] {
        &self.slots[list.start..list.start + list.len]
    }

    /// Appends those slots of a part of a list for which `keep` says so to what was kept of the parts before.
    #[inline]
    pub(super) fn keep(&mut self, kept: &mut List, part: List, mut keep: impl FnMut(u32) -> bool) {
        let end = part.start + part.len - kept.start;
        let slots = &mut self.slots[kept.start..][..end];
        for index in part.start - kept.start..end {
            // Written first and counted after: no branch that could be guessed wrongly.
            let slot = slots[index];
            slots[kept.len] = slot;
            kept.len += usize::from(keep(slot));
        }
    }

    /// Drops slots from the front of a pair's list until `keep` says so; gives the first that is left.
    pub(super) fn first(
        &mut self,
        pair: PairIndex,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Option<u32> {
        let list = self.lists.get_mut(pair as usize)?;
        let slots = &self.slots[list.start..list.start + list.len];
        let n_stale = slots.iter().take_while(|&&slot| !keep(slot)).count();
        let first = slots.get(n_stale).copied();
        (list.start, list.len) = (list.start + n_stale, list.len - n_stale);
        first
    }
}
