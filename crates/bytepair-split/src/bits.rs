//! A growing set of small numbers, as bits.
//!
//! Numbers past the stored words are not in the set. Cost: one bit each; searches look at 64 at once.

use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// Removes all numbers. Words are zeroed when room is made for them again: a short text may follow a long one.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    /// Whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// Makes room for numbers up to and including `last`.
    pub(crate) fn reserve(&mut self, last: usize) {
        if self.words.len() <= last / 64 {
            self.words.resize(last / 64 + 1, 0);
        }
    }

    pub(crate) fn insert(&mut self, number: usize) {
        self.reserve(number);
        self.words[number / 64] |= 1 << (number % 64);
    }

    /// Inserts `first + i` for each bit `i` of the word. There must be room for all 64 numbers.
    pub(crate) fn insert_word(&mut self, first: usize, word: u64) {
        let index = first / 64;
        self.words[index] |= word << (first % 64);
        if !first.is_multiple_of(64) {
            self.words[index + 1] |= word >> (64 - first % 64);
        }
    }

    pub(crate) fn remove(&mut self, number: usize) {
        if let Some(word) = self.words.get_mut(number / 64) {
            *word &= !(1 << (number % 64));
        }
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        self.words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Removes every number from `first` on.
    pub(crate) fn truncate(&mut self, first: usize) {
        let index = first / 64;
        if let Some(word) = self.words.get_mut(index) {
            *word &= (1 << (first % 64)) - 1;
            self.words[index + 1..].fill(0);
        }
    }

    /// Removes a range of numbers.
    pub(crate) fn remove_range(&mut self, range: Range<usize>) {
        let (mut first, end) = (range.start, range.end.min(self.words.len() * 64));
        while first < end {
            let next = end.min((first / 64 + 1) * 64);
            let ones = u64::MAX >> (64 - (next - first));
            self.words[first / 64] &= !(ones << (first % 64));
            first = next;
        }
    }

    /// The largest number in the set that is at most `last`.
    pub(crate) fn last_up_to(&self, last: usize) -> Option<usize> {
        self.last_within(0..last + 1)
    }

    /// The largest number in the set that is in the range. Searches the range alone.
    pub(crate) fn last_within(&self, range: Range<usize>) -> Option<usize> {
        let last = range.end.checked_sub(1)?;
        let mut index = last / 64;
        let mut word = self.words.get(index).copied().unwrap_or(0) & (u64::MAX >> (63 - last % 64));
        index = index.min(self.words.len());
        while word == 0 {
            index = index.checked_sub(1).filter(|&index| index >= range.start / 64)?;
            word = self.words[index];
        }
        let found = index * 64 + 63 - word.leading_zeros() as usize;
        (found >= range.start).then_some(found)
    }

    /// The smallest number in the set that is at least `first`.
    pub(crate) fn first_from(&self, first: usize) -> Option<usize> {
        let mut index = first / 64;
        let mut word = self.words.get(index)? & (u64::MAX << (first % 64));
        while word == 0 {
            index += 1;
            word = *self.words.get(index)?;
        }
        Some(index * 64 + word.trailing_zeros() as usize)
    }

    /// The numbers in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        std::iter::successors(self.first_from(0), |&last| self.first_from(last + 1))
    }

    pub(crate) fn union(&mut self, other: &Self) {
        self.union_difference(other, &Self::default());
    }

    /// Inserts the numbers that are in `one` and not in `other`.
    pub(crate) fn union_difference(&mut self, one: &Self, other: &Self) {
        if self.words.len() < one.words.len() {
            self.words.resize(one.words.len(), 0);
        }
        for (index, (word, one)) in self.words.iter_mut().zip(&one.words).enumerate() {
            *word |= one & !other.words.get(index).copied().unwrap_or(0);
        }
    }

    /// The 64 numbers from `first` on as a word; `first` may be negative.
    pub(crate) fn word_from(&self, first: isize) -> u64 {
        let index = first.div_euclid(64);
        let shift = first.rem_euclid(64);
        let known = |index| self.words.get(usize::try_from(index).ok()?);
        let word = |index: isize| known(index).copied().unwrap_or(0);
        let low = word(index) >> shift;
        if shift == 0 { low } else { low | word(index + 1) << (64 - shift) }
    }

    /// Becomes the same set as another.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.words.clear();
        self.words.extend_from_slice(&other.words);
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }
}

/// Where pieces start, and which pieces match nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marked {
    pub(crate) starts: Bits,
    pub(crate) unmatched: Bits,
}

impl Marked {
    /// Makes room for places up to and including `last`.
    pub(crate) fn reserve(&mut self, last: usize) {
        self.starts.reserve(last);
        self.unmatched.reserve(last);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn bits_are_a_set(numbers in prop::collection::btree_set(0_usize..300, 0..20), at in 0_usize..300, to in 0_usize..300) {
            let mut bits = Bits::default();
            for &number in &numbers {
                bits.insert(number);
            }
            prop_assert_eq!(bits.first_from(at), numbers.range(at..).next().copied());
            prop_assert_eq!(bits.last_up_to(at), numbers.range(..=at).next_back().copied());
            let (low, high) = (at.min(to), at.max(to));
            prop_assert_eq!(bits.last_within(low..high), numbers.range(low..high).next_back().copied());
            prop_assert_eq!(bits.contains(at), numbers.contains(&at));
            let from = at.cast_signed() - 64;
            let seen: Vec<_> = (0..64_usize).filter(|bit| bits.word_from(from) >> bit & 1 == 1).collect();
            let wanted = numbers.iter().map(|number| number.cast_signed() - from);
            prop_assert_eq!(seen, wanted.filter_map(|bit| usize::try_from(bit).ok()).filter(|bit| *bit < 64).collect::<Vec<_>>());
            let mut word = Bits::default();
            word.reserve(at + 64);
            word.insert_word(at, numbers.iter().take_while(|&&number| number < 64).map(|number| 1_u64 << number).sum());
            let moved: Vec<_> = (0..400).filter(|&number| word.contains(number)).collect();
            prop_assert_eq!(moved, numbers.range(..64).map(|number| number + at).collect::<Vec<_>>());
            let mut without = bits.clone();
            without.remove_range(low..high);
            let left: BTreeSet<_> = (0..400).filter(|&number| without.contains(number)).collect();
            prop_assert_eq!(left, numbers.iter().copied().filter(|number| !(low..high).contains(number)).collect::<BTreeSet<_>>());
            bits.truncate(at);
            let left: BTreeSet<_> = (0..400).filter(|&number| bits.contains(number)).collect();
            prop_assert_eq!(left, numbers.range(..at).copied().collect::<BTreeSet<_>>());
        }
    }
}
