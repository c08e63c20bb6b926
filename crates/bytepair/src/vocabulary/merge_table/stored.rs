//! A table of merges as files hold it: its slots, as they are in memory.
//!
//! Every slot of a file is checked before the table is used: it holds known ids only, each pair where it is searched for,
//! and places that are those of a list. So the list of merges can be made from it. Takes half the time of building a
//! table, since nothing is moved. Left out: merges with priorities, and merges of a pair that has another merge later in the
//! list; no writer puts these into a table.

use super::packed::{BUCKET_LEN, Layout, PackedMerges, grows, n_buckets};
use crate::memory::huge_pages::HugePageRow;
use crate::vocabulary::{Merge, TokenId};

/// How a file says what the slots of a table mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Description {
    /// How many merges the table has.
    pub n_merges: usize,
    /// How many bits tell merges apart that make the same token; `None` if a slot holds the rank of a merge.
    pub result_shift: Option<u32>,
}

impl Description {
    /// How many slots the table has; `usize::MAX`, which no table has, where they are more than there is memory.
    pub fn n_slots(self) -> usize {
        // A table has at most four slots for each merge, of eight bytes each.
        if self.n_merges > usize::MAX / 32 {
            return usize::MAX;
        }
        n_buckets(self.n_merges) * BUCKET_LEN
    }
}

impl PackedMerges {
    /// What its slots mean.
    pub fn description(&self) -> Description {
        Description { n_merges: self.n_merges, result_shift: self.layout.stored_shift() }
    }

    /// How many merges it has.
    pub fn n_merges(&self) -> usize {
        self.n_merges
    }

    /// The slots, bucket by bucket.
    pub fn slots(&self) -> &[u64] {
        &self.slots
    }

    /// The table of these slots, for a vocabulary of `n_ids` ids; `None` if no merges have such a table.
    pub fn from_slots(
        slots: HugePageRow<u64>,
        description: Description,
        n_ids: usize,
        is_token: impl Fn(TokenId) -> bool,
    ) -> Option<Self> {
        let Description { n_merges, result_shift } = description;
        let layout = Layout::stored(n_ids, n_merges, result_shift)?;
        if slots.len() != description.n_slots() {
            return None;
        }
        let mut packed = Self::of_slots(slots, n_merges, layout);
        let parts = packed.merges().map(|(merge, _)| merge.left.min(merge.right));
        packed.first_small = parts.min().unwrap_or(0);
        packed.note_all(is_token)?;
        packed.check_places()?;
        Some(packed)
    }

    /// Whether [`Self::from_slots`] takes these slots for a vocabulary of this many ids. A table that came from a file
    /// may be one for fewer.
    pub fn is_storable(&self, n_ids: usize) -> bool {
        let stored = Layout::stored(n_ids, self.n_merges, self.layout.stored_shift());
        stored == Some(self.layout) && self.list().is_some()
    }

    /// The merges in the order of their ranks; `None` if some of them are not in the table.
    pub(crate) fn list(&self) -> Option<Vec<Merge>> {
        const NONE: Merge = Merge { left: TokenId::MAX, right: TokenId::MAX, result: TokenId::MAX };
        let first_places = self.first_places();
        let mut list = vec![NONE; self.n_merges];
        for (merge, value) in self.merges() {
            *list.get_mut(self.layout.place(value, &first_places) as usize)? = merge;
        }
        (!list.contains(&NONE)).then_some(list)
    }

    /// The merges in the order of their slots, with their values.
    fn merges(&self) -> impl Iterator<Item = (Merge, u32)> {
        let slots = self.slots.iter().filter(|slot| **slot != 0);
        slots.map(|slot| self.layout.unpacked(!slot))
    }

    /// By id: the place of the first merge that makes it. Nothing where values are ranks.
    fn first_places(&self) -> Vec<u32> {
        if !self.layout.is_by_result {
            return Vec::new();
        }
        let mut places = vec![0; 1 << self.layout.id_bits];
        self.merges().for_each(|(merge, _)| places[merge.result as usize] += 1);
        let mut n_before = 0;
        for place in &mut places {
            n_before += std::mem::replace(place, n_before);
        }
        places
    }

    /// Notes all merges of the slots; `None` if these are not so many, an id is no token, or the search for a
    /// pair finds something else than its slot.
    fn note_all(&mut self, is_token: impl Fn(TokenId) -> bool) -> Option<()> {
        let mut n_found = 0;
        for place in 0..self.slots.len() {
            let slot = self.slots[place];
            if slot == 0 {
                continue;
            }
            let (merge, value) = self.layout.unpacked(!slot);
            let hash = self.hash(merge.left, merge.right);
            let is_found = self.value(hash, self.wanted(merge.left, merge.right)) == value;
            if !is_found || ![merge.left, merge.right, merge.result].into_iter().all(&is_token) {
                return None;
            }
            self.grows &= grows(&merge);
            self.note(merge, hash, value);
            n_found += 1;
        }
        (n_found == self.n_merges).then_some(())
    }

    /// Whether each merge has a place of its own among all.
    fn check_places(&self) -> Option<()> {
        let first_places = self.first_places();
        let mut taken = vec![0_u64; self.n_merges.div_ceil(64)];
        for (merge, value) in self.merges() {
            let place = self.layout.place(value, &first_places) as usize;
            let end = first_places.get(merge.result as usize + 1);
            let is_its_own = end.is_none_or(|&end| place < end as usize);
            let (taken, bit) = (taken.get_mut(place / 64)?, 1 << (place % 64));
            if !is_its_own || place >= self.n_merges || *taken & bit > 0 {
                return None;
            }
            *taken |= bit;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
