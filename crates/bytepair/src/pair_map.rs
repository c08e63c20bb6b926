//! A hash map from a pair of token ids to a small value: the one table of the merge loops.
//!
//! Open addressing with linear probing over a power of two of slots, at most half full; keys and
//! values lie side by side, so a look-up that hits touches one cache line. It has no removal and
//! no iteration: hash order can never reach a result. Look-up and insertion take O(1) expected
//! time; the hash is one multiplication by a number that nobody knows outside of the process.

use crate::hash::HashKey;
use crate::vocabulary::TokenId;

/// A map from `(left, right)` to `V`. The pair `(u32::MAX, u32::MAX)` is reserved.
#[derive(Clone, Debug)]
pub(crate) struct PairMap<V> {
    /// `(key, value)`; a free slot holds `FREE` as its key.
    slots: Vec<(u64, V)>,
    /// Number of slots in use.
    len: usize,
    /// How far a 64-bit product is shifted to give a slot index.
    shift: u32,
    /// What makes the hash one of this process.
    factor: u64,
}

const FREE: u64 = u64::MAX;

/// How many pairs are looked up at once where many are stored.
const N_SIDE_BY_SIDE: usize = 32;

/// The key of a pair: `left` in the high half, so that keys sort as pairs do.
pub(crate) fn pair_key(left: TokenId, right: TokenId) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// The pair of a key.
#[expect(clippy::cast_possible_truncation, reason = "each half of the key is an id")]
pub(crate) fn pair_of(key: u64) -> (TokenId, TokenId) {
    ((key >> 32) as TokenId, key as TokenId)
}

/// A hash of the key of a pair, good in its high bits: the same in every process.
#[inline]
pub(crate) fn pair_hash(key: u64) -> u64 {
    pair_hash_by(0x9E37_79B9_7F4A_7C15, key)
}

/// The same by an odd factor, for tables that take in whatever comes: that of the process, see
/// [`HashKey::factor`].
#[inline]
pub(crate) fn pair_hash_by(factor: u64, key: u64) -> u64 {
    (key ^ key >> 29).wrapping_mul(factor)
}

impl<V: Copy + Default> PairMap<V> {
    /// An empty map with room for `capacity` pairs before it grows.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let n_slots = (capacity.max(8) * 2).next_power_of_two();
        Self {
            slots: vec![(FREE, V::default()); n_slots],
            len: 0,
            shift: 64 - n_slots.ilog2(),
            factor: HashKey::of_process().factor(),
        }
    }

    /// The value of a pair.
    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<V> {
        let (slot_key, value) = self.slots[self.slot(key)];
        (slot_key == key).then_some(value)
    }

    /// Stores `value` for a pair and returns what was there before.
    pub(crate) fn insert(&mut self, key: u64, value: V) -> Option<V> {
        let slot = self.slot(key);
        let (slot_key, previous) = std::mem::replace(&mut self.slots[slot], (key, value));
        if slot_key == key {
            return Some(previous);
        }
        self.len += 1;
        if self.len * 2 > self.slots.len() {
            self.grow();
        }
        None
    }

    /// Stores many values, as [`Self::insert`] does one after the other.
    ///
    /// Looks at the slots of several pairs before it fills the first, so that their cache lines are fetched
    /// side by side: building the table is bound by memory.
    pub(crate) fn insert_all(&mut self, mut pairs: impl Iterator<Item = (u64, V)>) {
        let mut waiting = Vec::with_capacity(N_SIDE_BY_SIDE);
        loop {
            waiting.extend(pairs.by_ref().take(N_SIDE_BY_SIDE));
            if waiting.is_empty() {
                return;
            }
            self.look_at(waiting.iter().map(|(key, _)| *key));
            for (key, value) in waiting.drain(..) {
                self.insert(key, value);
            }
        }
    }

    /// Reads the slots where the search for some keys begins: their cache lines are fetched side by side.
    pub(crate) fn look_at(&self, keys: impl Iterator<Item = u64>) {
        std::hint::black_box(keys.fold(0, |seen, key| seen ^ self.slots[self.home(key)].0));
    }

    /// The slot that holds `key`, or the free slot where it would go.
    #[inline]
    fn slot(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = self.home(key);
        while self.slots[slot].0 != key && self.slots[slot].0 != FREE {
            slot = (slot + 1) & mask;
        }
        slot
    }

    /// The slot where the search for `key` begins.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves a slot index")]
    fn home(&self, key: u64) -> usize {
        (pair_hash_by(self.factor, key) >> self.shift) as usize
    }

    fn grow(&mut self) {
        let mut larger = Self::with_capacity(self.slots.len());
        for &(key, value) in self.slots.iter().filter(|slot| slot.0 != FREE) {
            let slot = larger.slot(key);
            larger.slots[slot] = (key, value);
        }
        larger.len = self.len;
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    proptest::proptest! {
        #[test]
        fn agrees_with_the_standard_map(entries: Vec<(u8, u8, u32)>) {
            let mut ours = PairMap::with_capacity(0);
            let mut standard = HashMap::new();
            for &(left, right, value) in &entries {
                let key = pair_key(left.into(), right.into());
                proptest::prop_assert_eq!(ours.insert(key, value), standard.insert(key, value));
            }
            let mut at_once = PairMap::with_capacity(0);
            at_once.insert_all(entries.iter().map(|&(left, right, value)| (pair_key(left.into(), right.into()), value)));
            for left in 0..=255 {
                for right in 0..=255 {
                    let key = pair_key(left, right);
                    proptest::prop_assert_eq!(ours.get(key), standard.get(&key).copied());
                    proptest::prop_assert_eq!(at_once.get(key), ours.get(key));
                }
            }
        }
    }

    #[test]
    fn keys_sort_as_pairs_do() {
        assert!(pair_key(1, u32::MAX) < pair_key(2, 0));
        assert_eq!(pair_of(pair_key(7, 9)), (7, 9));
    }
}
