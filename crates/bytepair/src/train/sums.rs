//! What a merge changes, summed up by neighbour.
//!
//! Where a merge has many places, the sums of a neighbour, and later the pair that it makes with the new token, are
//! found in an array by token id. Most merges have a few places: then looking through the few neighbours takes less
//! time than fetching what lies apart in memory. Linear in places.

use super::pairs::{NO_PAIR, PairIndex};
use super::places::Places;
use super::row::index_of;
use crate::vocabulary::TokenId;

/// The places next to one neighbour.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) neighbour: TokenId,
    /// How many there are; of several shares it is not asked.
    pub(super) n_slots: u32,
    pub(super) weight: i64,
}

/// Finds neighbours.
#[derive(Default)]
pub(super) struct Sums {
    /// By token id, where there are many places. All empty between merges.
    entries: Vec<Entry>,
    has_few: bool,
}

/// What is known of a neighbour.
#[derive(Clone, Copy)]
struct Entry {
    /// The place of its sums among the changes.
    change: u32,
    /// The pair that it makes, where its places are wanted.
    pair: PairIndex,
}

const NO_CHANGE: u32 = u32::MAX;
const EMPTY: Entry = Entry { change: NO_CHANGE, pair: NO_PAIR };
/// So many places are few.
const FEW: usize = if cfg!(test) { 2 } else { 8 };

impl Sums {
    /// Begins to sum up the changes at no more than so many places.
    pub(super) fn begin(&mut self, changes: &mut Vec<Change>, n_places: usize) {
        changes.clear();
        self.has_few = n_places <= FEW;
    }

    /// Adds a place next to a neighbour.
    #[inline]
    pub(super) fn add(&mut self, changes: &mut Vec<Change>, neighbour: TokenId, weight: i64) {
        let known = self.find(changes, neighbour);
        match known.and_then(|index| changes.get_mut(index)) {
            Some(change) => {
                change.weight += weight;
                change.n_slots += 1;
            }
            None => changes.push(Change { neighbour, n_slots: 1, weight }),
        }
    }

    /// The place of a neighbour among the changes; where it has none, it is noted that the next one will be its.
    #[inline]
    fn find(&mut self, changes: &[Change], neighbour: TokenId) -> Option<usize> {
        if self.has_few {
            return changes.iter().position(|change| change.neighbour == neighbour);
        }
        let entry = self.entry(neighbour);
        if entry.change == NO_CHANGE {
            entry.change = index_of(changes.len());
            return None;
        }
        Some(entry.change as usize)
    }

    /// Ends summing up.
    pub(super) fn end(&mut self, changes: &[Change]) {
        if !self.has_few {
            changes.iter().for_each(|change| self.entries[change.neighbour as usize] = EMPTY);
        }
    }
}

impl Sums {
    /// Makes lists for the places of the pairs that neighbours make, as `created` says, and lets these be found.
    /// There are no more than so many places in all.
    pub(super) fn want(
        &mut self,
        created: &[(TokenId, PairIndex)],
        changes: &[Change],
        places: &mut Places,
        n_places: usize,
    ) {
        self.has_few = n_places <= FEW;
        if self.has_few {
            for &(neighbour, pair) in created {
                let change = changes.iter().find(|change| change.neighbour == neighbour);
                change.into_iter().for_each(|change| places.make(pair, change.n_slots as usize));
            }
            return;
        }
        created.iter().for_each(|&(neighbour, pair)| self.entry(neighbour).pair = pair);
        for change in changes {
            if let Some(pair) = self.pair(created, change.neighbour) {
                places.make(pair, change.n_slots as usize);
            }
        }
    }

    /// The pair that a neighbour makes, where its places are wanted.
    #[inline]
    pub(super) fn pair(
        &self,
        created: &[(TokenId, PairIndex)],
        neighbour: TokenId,
    ) -> Option<PairIndex> {
        if self.has_few {
            let found = created.iter().find(|&&(other, _)| other == neighbour);
            return found.map(|&(_, pair)| pair);
        }
        let pair = self.entries.get(neighbour as usize)?.pair;
        (pair != NO_PAIR).then_some(pair)
    }

    /// Lets pairs no longer be found.
    pub(super) fn unwant(&mut self, created: &[(TokenId, PairIndex)]) {
        if !self.has_few {
            created.iter().for_each(|&(neighbour, _)| self.entries[neighbour as usize] = EMPTY);
        }
    }

    #[inline]
    fn entry(&mut self, id: TokenId) -> &mut Entry {
        let id = id as usize;
        if self.entries.len() <= id {
            self.entries.resize(id + 1, EMPTY);
        }
        &mut self.entries[id]
    }
}
