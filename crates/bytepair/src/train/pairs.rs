//! The pairs that may be chosen before the next survey: their counts in the whole corpus, and their places in a share.
//!
//! A pair gains no occurrence after the merge that made one of its tokens. So a pair that is below the floor when it is
//! made need not be kept: it cannot be chosen before the floor falls, and then everything is counted again.
//!
//! [`Pairs`] is a hash table from two tokens to an index and a count, and if there are several groups, a count in each.
//! [`Places`] has for each index a list of the slots
//! where the pair may begin, in ascending order. All lists are in one row of memory, and a list has room for the
//! occurrences that its pair has when the list is made. Merges make places stale; stale places are skipped when they
//! are met, never searched for.
//!
//! Every operation takes O(1) expected time; making or filtering a list takes O(1) for each slot.

use super::row::index_of;
use crate::hash::HashKey;
use crate::hash::{pair_hash_by, pair_key, pair_of};
use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::vocabulary::TokenId;

/// The index of a pair in [`Pairs`].
pub(super) type PairIndex = u32;
/// Marks a pair that is not kept. No pair has this index.
pub(super) const NO_PAIR: PairIndex = PairIndex::MAX;

/// Counts of pairs, by index and by tokens.
pub(super) struct Pairs {
    /// Open addressing, at most half full: a part of the hash of a pair, and its index plus one; 0 for a free place. So
    /// most pairs that are not kept are recognized without reading an entry.
    places: HugePageRow<u64>,
    /// Shifting a hash right by this gives a place.
    shift: u32,
    /// Makes the hash specific to this process.
    factor: u64,
    entries: HugePageRow<PairEntry>,
    n_groups: usize,
    /// By pair and group: the counts, if there are several groups.
    by_group: Vec<i64>,
}

/// Two tokens, and how often they are adjacent.
#[derive(Clone, Copy)]
pub(super) struct PairCount {
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: i64,
}

#[derive(Clone, Copy)]
struct PairEntry {
    key: u64,
    count: i64,
}

/// The half of a place that has a part of the hash.
const HASH_PART: u64 = !(u32::MAX as u64);

impl Pairs {
    /// A table without pairs, with room for some, and counts in this many groups.
    pub(super) fn with_capacity(capacity: usize, n_groups: usize) -> Self {
        let n_places = (capacity.max(8) * 2).next_power_of_two();
        let (mut places, mut entries) = (HugePageRow::default(), HugePageRow::default());
        places.lengthen(0, n_places);
        entries.reserve(capacity);
        let shift = u64::BITS - n_places.ilog2();
        Self {
            places,
            shift,
            factor: HashKey::of_process().factor(),
            entries,
            n_groups,
            by_group: Vec::new(),
        }
    }

    /// The number of pairs.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The index of a pair.
    #[inline]
    pub(super) fn index(&self, left: TokenId, right: TokenId) -> Option<PairIndex> {
        let key = pair_key(left, right);
        let hash = pair_hash_by(self.factor, key);
        let mut place = self.home(hash);
        loop {
            let found = self.places[place];
            if found == 0 {
                return None;
            }
            let pair = index_in(found);
            if found & HASH_PART == part_of(hash) && self.entries[pair as usize].key == key {
                return Some(pair);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// The two tokens of a pair.
    pub(super) fn tokens(&self, pair: PairIndex) -> (TokenId, TokenId) {
        pair_of(self.entries[pair as usize].key)
    }

    /// The two tokens of a pair, if this index exists.
    pub(super) fn get(&self, pair: PairIndex) -> Option<(TokenId, TokenId)> {
        self.entries.get(pair as usize).map(|entry| pair_of(entry.key))
    }

    /// How often a pair occurs now, in a group or in all groups together.
    pub(super) fn count(&self, pair: PairIndex, group: Option<usize>) -> i64 {
        match group {
            None => self.entries[pair as usize].count,
            Some(group) => self.by_group[self.place_of(pair, group)],
        }
    }

    fn place_of(&self, pair: PairIndex, group: usize) -> usize {
        pair as usize * self.n_groups + group
    }

    /// All pairs with their counts, in the order of insertion.
    pub(super) fn iter(&self) -> impl Iterator<Item = PairCount> {
        self.entries.iter().map(|entry| {
            let (left, right) = pair_of(entry.key);
            PairCount { left, right, count: entry.count }
        })
    }

    /// Adds a pair that is not in the table.
    pub(super) fn push(&mut self, left: TokenId, right: TokenId, count: i64) -> PairIndex {
        let key = pair_key(left, right);
        let pair = index_of(self.entries.len());
        self.entries.push(PairEntry { key, count });
        if self.n_groups > 1 {
            self.lengthen_groups();
        }
        self.put(key, pair);
        if self.entries.len() * 2 > self.places.len() {
            self.grow();
        }
        pair
    }

    /// Adds to the count of a pair, which is inserted if it is missing.
    #[inline]
    pub(super) fn add(&mut self, left: TokenId, right: TokenId, count: i64) -> PairIndex {
        let Some(pair) = self.index(left, right) else { return self.push(left, right, count) };
        self.entries[pair as usize].count += count;
        pair
    }

    /// Adds to the count of a pair in a group, if the pair is in the table.
    #[inline]
    pub(super) fn change(&mut self, left: TokenId, right: TokenId, group: usize, change: i64) {
        if let Some(pair) = self.index(left, right) {
            self.entries[pair as usize].count += change;
            if self.n_groups > 1 {
                self.change_in_group(pair, group, change);
            }
        }
    }

    // Training without groups is faster if its code does not contain these two functions.
    #[cold]
    fn lengthen_groups(&mut self) {
        self.by_group.resize(self.entries.len() * self.n_groups, 0);
    }

    #[cold]
    fn change_in_group(&mut self, pair: PairIndex, group: usize, change: i64) {
        let place = self.place_of(pair, group);
        self.by_group[place] += change;
    }

    /// Prefetches some pairs before they are looked up one by one.
    pub(super) fn prefetch(&self, pairs: impl Iterator<Item = (TokenId, TokenId)> + Clone) {
        let hash = |left, right| pair_hash_by(self.factor, pair_key(left, right));
        let homes = pairs.map(|(left, right)| self.home(hash(left, right)));
        homes.clone().for_each(|home| prefetch(&self.places, home));
        homes.for_each(|home| prefetch(&self.entries, index_in(self.places[home]) as usize));
    }

    /// Records that a pair was merged.
    pub(super) fn set_merged(&mut self, pair: PairIndex) {
        self.entries[pair as usize].count = 0;
        if self.n_groups > 1 {
            let first = self.place_of(pair, 0);
            self.by_group[first..first + self.n_groups].fill(0);
        }
    }

    /// Puts the index of a pair, which is not in the table, into the next free place.
    #[inline]
    fn put(&mut self, key: u64, pair: PairIndex) {
        let hash = pair_hash_by(self.factor, key);
        let mut place = self.home(hash);
        while self.places[place] != 0 {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = part_of(hash) | (u64::from(pair) + 1);
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a place")]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    fn grow(&mut self) {
        let n_places = self.places.len() * 2;
        self.places.fill(0);
        self.places.lengthen(0, n_places);
        self.shift -= 1;
        for pair in 0..self.entries.len() {
            self.put(self.entries[pair].key, index_of(pair));
        }
    }
}

/// The part of a hash that a place has: the half that does not determine the place.
#[inline]
fn part_of(hash: u64) -> u64 {
    hash << u32::BITS
}

/// The index in a place that is not free.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the lower half is one more than an index")]
fn index_in(place: u64) -> PairIndex {
    (place as u32).wrapping_sub(1)
}

/// Lists of slots, by pair.
#[derive(Default)]
pub(super) struct Places {
    slots: HugePageRow<u32>,
    /// By pair: its list. Pairs that do not occur in this share may have none.
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

    /// The slots from index `start` up to `end`.
    pub(super) fn part(self, start: usize, end: usize) -> Self {
        Self { start: self.start + start, len: end - start }
    }
}

/// The position of the next slot if a list does not exist.
pub(super) const NO_LIST: usize = usize::MAX;

impl Places {
    /// Removes all lists. Their memory is freed, because a survey needs the most memory before it makes new ones.
    pub(super) fn clear(&mut self) {
        self.slots = HugePageRow::default();
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

    /// Reserves room for lists of at most `most` slots in total. What is never filled takes no memory.
    pub(super) fn reserve(&mut self, most: usize) {
        self.slots.reserve(self.slots.len() + most);
    }

    /// Makes a full list whose slots are written later; returns the position of the first.
    pub(super) fn make_full(&mut self, pair: PairIndex, n_slots: usize) -> usize {
        self.make(pair, n_slots);
        let list = &mut self.lists[pair as usize];
        list.len = n_slots;
        list.start
    }

    /// Writes the next slot of a full list, if there is one.
    #[inline]
    pub(super) fn fill(&mut self, next: &mut usize, slot: u32) {
        if let Some(place) = self.slots.get_mut(*next) {
            *place = slot;
            *next += 1;
        }
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

    /// The list of a pair; empty if the pair has none.
    pub(super) fn list(&self, pair: PairIndex) -> List {
        self.lists.get(pair as usize).copied().unwrap_or_default()
    }

    /// Takes the list of a pair: the pair has none afterwards. Its memory stays as it is.
    pub(super) fn take(&mut self, pair: PairIndex) -> List {
        self.lists.get_mut(pair as usize).map(std::mem::take).unwrap_or_default()
    }

    /// The slots of a list.
    #[inline]
    pub(super) fn slots(&self, list: List) -> &[u32] {
        &self.slots[list.start..list.start + list.len]
    }

    /// Appends the slots of `part` for which `keep` is true to `kept`, which has those of earlier parts of the same
    /// list.
    #[inline]
    pub(super) fn keep(&mut self, kept: &mut List, part: List, mut keep: impl FnMut(u32) -> bool) {
        let end = part.start + part.len - kept.start;
        let slots = &mut self.slots[kept.start..][..end];
        for index in part.start - kept.start..end {
            // Written first and counted after: no branch that could be mispredicted.
            let slot = slots[index];
            slots[kept.len] = slot;
            kept.len += usize::from(keep(slot));
        }
    }

    /// Drops slots from the front of a pair's list until `keep` is true; returns the first remaining slot.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_chosen_for_one_place_lie_apart() {
        let pairs = (0..3000_u32).flat_map(|left| (0..3000).map(move |right| (left, right)));
        let hash = |left, right| crate::hash::pair_hash(pair_key(left, right));
        let mut ours = Pairs::with_capacity(0, 1);
        let chosen = pairs.filter(|&(left, right)| hash(left, right) >> 54 == 0);
        for (left, right) in chosen.take(4000) {
            ours.push(left, right, 1);
        }
        assert_eq!(ours.len(), 4000);
        let longest = ours.places.split(|&place| place == 0).map(<[_]>::len).max();
        assert!(longest < Some(400), "{longest:?} places in a row");
    }
}
