//! A hash table with open addressing, whose entries can be put in the order of their hashes in place.
//!
//! An entry lies in the place that the highest bits of its hash name, or as near after it as there is room.
//! So the entries of a table can be put in the order of their hashes by moving each a few places, and a
//! table grows by one pass over both tables. Adding takes O(1) expected time and touches one cache line,
//! or two.
//!
//! The hash is the same in every process, as the order must be. So an adversary can write pieces that all belong into one
//! place. Where searches take many steps for long, the owner gives the table a key that nobody
//! knows; from then on entries lie by another hash, and are sorted in the end.

use std::cmp::Ordering;

use crate::error::Result;
use crate::hash::HashKey;
use crate::memory::ask;
use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;

/// So many steps of a search are nothing unusual.
const N_USUAL_STEPS: usize = 16;

/// How many steps more, for each place of a table, searches may take before it needs a key.
const N_STEPS_PER_PLACE: usize = 4;

/// What a table holds. The default is a free place.
pub(super) trait Entry: Copy + Default {
    fn is_free(&self) -> bool;

    /// The hash that says where the entry lies in a table with this key, or without.
    fn hash(&self, key: Option<HashKey>) -> u64;

    /// Computes a hash that the entry holds anew, for a table with this key, or without. `bytes` are those of long pieces.
    fn renew(&mut self, _key: Option<HashKey>, _bytes: &[u8]) {}

    /// Compares two entries of the same hash by their pieces.
    fn compare(&self, own: &[u8], other: &Self, others: &[u8]) -> Ordering;
}

/// A smaller table, in bytes, grows without being asked whether there is memory.
const MIN_ASKED_LEN: usize = 8 << 20;

/// A table of entries.
pub(super) struct Table<E> {
    /// A power of two.
    entries: HugePageRow<E>,
    n_used: usize,
    key: Option<HashKey>,
    /// Steps of searches beyond what is usual, less those that others did not take.
    n_excess_steps: usize,
    #[cfg(test)]
    pub(super) n_steps: usize,
}

/// Whether an entry was there.
pub(super) enum Found<'t, E> {
    Used(&'t mut E),
    Free(&'t mut E),
}

impl<E: Entry> Table<E> {
    pub(super) fn new(n_places: usize) -> Self {
        Self {
            entries: HugePageRow::filled(E::default(), n_places.next_power_of_two()),
            n_used: 0,
            key: None,
            n_excess_steps: 0,
            #[cfg(test)]
            n_steps: 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_used == 0
    }

    /// The memory of all places, in bytes.
    pub(super) fn n_bytes(&self) -> usize {
        self.entries.len() * size_of::<E>()
    }

    /// Refuses this many more entries if there is no memory for the larger table that they may need.
    pub(super) fn ask_for_room(&self, n_more: usize) -> Result<()> {
        let is_small = self.n_bytes() < MIN_ASKED_LEN;
        match is_small || (self.n_used + n_more) * 8 <= self.entries.len() * 5 {
            true => Ok(()),
            // The larger table, and what is moved there last.
            false => ask(3 * self.n_bytes()),
        }
    }

    /// Whether another entry should find a larger table.
    #[inline]
    pub(super) fn is_well_filled(&self) -> bool {
        self.n_used * 8 > self.entries.len() * 5
    }

    /// Whether another entry must find a larger table.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.n_used * 8 >= self.entries.len() * 7
    }

    /// What hashes depend on.
    #[inline]
    pub(super) fn key(&self) -> Option<HashKey> {
        self.key
    }

    /// Whether searches took so many steps that the table needs a key.
    #[inline]
    pub(super) fn needs_key(&self) -> bool {
        self.n_excess_steps > self.entries.len() * N_STEPS_PER_PLACE && self.key.is_none()
    }

    /// Lets entries lie by a key from now on.
    #[cold]
    pub(super) fn take_key(&mut self, bytes: &[u8]) {
        let used: Vec<_> = self.entries.iter().copied().filter(|entry| !entry.is_free()).collect();
        self.entries.fill(E::default());
        (self.key, self.n_excess_steps) = (Some(HashKey::of_process()), 0);
        for mut entry in used {
            entry.renew(self.key, bytes);
            self.put(entry);
        }
    }

    /// Puts an entry into the first free place from that where its search begins.
    fn put(&mut self, entry: E) {
        let mask = self.entries.len() - 1;
        let mut index = self.place(entry.hash(self.key));
        while !self.entries[index].is_free() {
            index = (index + 1) & mask;
        }
        self.entries[index] = entry;
    }

    /// The place where the search for this hash begins, which is fetched ahead of its use.
    #[inline]
    pub(super) fn prefetched_place(&self, hash: u64) -> usize {
        let place = self.place(hash);
        prefetch(&self.entries, place);
        place
    }

    /// What is in a place, to be changed in what does not move the entry.
    #[inline]
    pub(super) fn entry_mut(&mut self, place: usize) -> Option<&mut E> {
        self.entries.get_mut(place)
    }

    /// The entry of this hash that is the one looked for, or a free one, which the caller fills.
    #[inline]
    pub(super) fn find(&mut self, hash: u64, is_it: impl Fn(&E) -> bool) -> Found<'_, E> {
        let mask = self.entries.len() - 1;
        let home = self.place(hash);
        let mut index = home;
        let is_free = loop {
            let entry = &self.entries[index];
            if is_it(entry) {
                break false;
            }
            if entry.is_free() {
                break true;
            }
            index = (index + 1) & mask;
        };
        let n_steps = index.wrapping_sub(home) & mask;
        self.n_excess_steps = (self.n_excess_steps + n_steps).saturating_sub(N_USUAL_STEPS);
        #[cfg(test)]
        {
            self.n_steps += n_steps;
        }
        let entry = &mut self.entries[index];
        if is_free {
            self.n_used += 1;
            return Found::Free(entry);
        }
        Found::Used(entry)
    }

    /// Makes the table `factor` times larger, which is a power of two.
    ///
    /// The last entry is moved first: from a place to one that is so many times as far or a little farther, where
    /// nothing is any more. What is in the place where its search begins stays so: no two of these meet in a larger
    /// table. These are the entries that came first, which are the frequent ones.
    #[inline(never)] // seldom done
    pub(super) fn grow(&mut self, factor: usize) {
        let (len_before, n_bits) = (self.entries.len(), self.entries.len().trailing_zeros());
        self.entries.lengthen(E::default(), len_before * factor);
        // Room for all, which takes no memory before it is used: growing would take twice as much.
        let mut away = Vec::with_capacity(self.n_used);
        for index in (0..len_before).rev() {
            let entry = std::mem::take(&mut self.entries[index]);
            if entry.is_free() {
                continue;
            }
            let hash = entry.hash(self.key);
            if place(hash, n_bits) == index {
                let place = self.place(hash);
                self.entries[place] = entry;
            } else {
                away.push(entry);
            }
        }
        away.into_iter().rev().for_each(|entry| self.put(entry));
    }

    /// The entries by hash, those of equal hash by their pieces.
    ///
    /// A run of used places holds the entries whose places lie in it, so runs are in order already and
    /// only inside of each there is something to sort. The run that goes on from the last place to the
    /// first is the exception: what belongs to the end stands at the front, before its place. A table with a key is
    /// sorted as a whole.
    pub(super) fn into_sorted(mut self, bytes: &[u8]) -> HugePageRow<E> {
        if self.key.is_some() {
            let used = self.entries.iter_mut().filter(|entry| !entry.is_free());
            used.for_each(|entry| entry.renew(None, bytes));
        }
        let n_front = self.entries.iter().take_while(|entry| !entry.is_free()).count();
        let mut wrapped = Vec::new();
        for index in 0..n_front {
            if self.place(self.entries[index].hash(None)) > index {
                wrapped.push(std::mem::take(&mut self.entries[index]));
            }
        }
        let mut n_sorted = 0;
        for index in 0..self.entries.len() {
            // Written first and counted after: no branch that could be guessed wrongly.
            let entry = self.entries[index];
            self.entries[n_sorted] = entry;
            n_sorted += usize::from(!entry.is_free());
        }
        self.entries[n_sorted..n_sorted + wrapped.len()].copy_from_slice(&wrapped);
        self.entries.truncate(self.n_used);
        sort_nearly_sorted(&mut self.entries, |one, other| {
            one.hash(None).cmp(&other.hash(None)).then_with(|| one.compare(bytes, other, bytes))
        });
        self.entries.give_back();
        self.entries
    }

    #[inline]
    fn place(&self, hash: u64) -> usize {
        place(hash, self.entries.len().trailing_zeros())
    }
}

/// The highest bits of a hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as number the places are left")]
fn place(hash: u64, n_bits: u32) -> usize {
    (hash >> (u64::BITS - n_bits)) as usize
}

/// Sorts what is in order but for neighbours. Where hashes are bad an ordinary sort takes over.
fn sort_nearly_sorted<E: Copy>(entries: &mut [E], compare: impl Fn(&E, &E) -> Ordering) {
    let mut n_moves = 0;
    for index in 1..entries.len() {
        let entry = entries[index];
        let mut place = index;
        while place > 0 && compare(&entries[place - 1], &entry).is_gt() {
            entries[place] = entries[place - 1];
            place -= 1;
        }
        entries[place] = entry;
        n_moves += index - place;
        if n_moves > entries.len() * 8 {
            entries.sort_unstable_by(compare);
            return;
        }
    }
}
