//! A priority queue for entries whose count only falls, and whose order may look things up.
//!
//! Most counts are small, and most pairs share theirs with many others. So below a level nothing but the numbers of
//! pairs wait in buckets, one for each count, in no order. When all above has left the queue, the level falls to the
//! next bucket, and those of it whose count is still that are sorted at once. What comes later and does not belong
//! below the level goes into a binary heap, and so does what has a large count. Waiting takes constant time, a pop
//! O(log n) comparisons at most.
//!
//! The standard heap needs an order that its entries carry in themselves; the tie rule `largest_text` compares
//! texts that lie elsewhere.

use std::cmp::Ordering;

/// Counts below this have buckets.
const N_BUCKETS: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// A queue in an order that puts the larger count first; the lesser of two entries leaves before the other.
pub(super) struct Queue<T> {
    /// Entries at or above the level.
    heap: Heap<T>,
    /// The other entries at the level: the first of them comes last.
    sorted: Vec<T>,
    /// By count: what waits below the level.
    buckets: Vec<Vec<u32>>,
    level: usize,
}

impl<T: Copy> Queue<T> {
    pub(super) fn new() -> Self {
        let buckets = std::iter::repeat_with(Vec::new).take(N_BUCKETS).collect();
        Self { heap: Heap(Vec::new()), sorted: Vec::new(), buckets, level: N_BUCKETS }
    }

    /// Forgets all entries.
    pub(super) fn clear(&mut self) {
        self.heap.0.clear();
        self.sorted.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
        self.level = N_BUCKETS;
    }

    /// Lets a number wait for the level to fall to `count`; `false` where it has, or no level is that high.
    #[inline]
    pub(super) fn wait(&mut self, count: i64, number: u32) -> bool {
        let count = usize::try_from(count).ok().filter(|&count| count < self.level);
        let bucket = count.and_then(|count| self.buckets.get_mut(count));
        bucket.map(|bucket| bucket.push(number)).is_some()
    }

    /// Puts in an entry that has not to wait.
    pub(super) fn push(&mut self, entry: T, order: impl Fn(&T, &T) -> Ordering) {
        self.heap.push(entry, order);
    }

    /// The first entry at or above the level.
    #[inline]
    pub(super) fn first(&self, order: impl Fn(&T, &T) -> Ordering) -> Option<T> {
        match (self.sorted.last(), self.heap.0.first()) {
            (Some(one), Some(other)) if order(other, one).is_lt() => Some(*other),
            (Some(one), _) => Some(*one),
            (None, other) => other.copied(),
        }
    }

    /// Takes the first entry out, which [`Self::first`] has given.
    #[inline]
    pub(super) fn pop(&mut self, order: impl Fn(&T, &T) -> Ordering) {
        match (self.sorted.last(), self.heap.0.first()) {
            (Some(one), Some(other)) if order(other, one).is_lt() => self.heap.pop(order),
            (Some(_), _) => drop(self.sorted.pop()),
            (None, _) => self.heap.pop(order),
        }
    }

    /// Lets the level fall to the next bucket that is not empty, where nothing is left above, and takes out what
    /// waits there; gives the count. They come back by [`Self::open`] or [`Self::wait`].
    pub(super) fn descend(&mut self) -> Option<(i64, Vec<u32>)> {
        debug_assert!(self.sorted.is_empty() && self.heap.0.is_empty(), "nothing is passed over");
        let level = self.buckets[..self.level].iter().rposition(|bucket| !bucket.is_empty())?;
        self.level = level;
        Some((i64::try_from(level).ok()?, std::mem::take(&mut self.buckets[level])))
    }

    /// Puts entries at the level. They must be in order, the first of them last.
    pub(super) fn open(&mut self, entries: Vec<T>) {
        self.sorted = entries;
    }
}

/// A binary heap.
struct Heap<T>(Vec<T>);

impl<T: Copy> Heap<T> {
    fn push(&mut self, entry: T, order: impl Fn(&T, &T) -> Ordering) {
        self.0.push(entry);
        let mut child = self.0.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if order(&self.0[child], &self.0[parent]).is_ge() {
                break;
            }
            self.0.swap(child, parent);
            child = parent;
        }
    }

    /// Takes out the first entry, if there is one.
    fn pop(&mut self, order: impl Fn(&T, &T) -> Ordering) {
        if self.0.is_empty() {
            return;
        }
        self.0.swap_remove(0);
        let mut parent = 0;
        loop {
            let mut child = 2 * parent + 1;
            if child >= self.0.len() {
                return;
            }
            if child + 1 < self.0.len() && order(&self.0[child + 1], &self.0[child]).is_lt() {
                child += 1;
            }
            if order(&self.0[child], &self.0[parent]).is_ge() {
                return;
            }
            self.0.swap(parent, child);
            parent = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;

    type Entry = (i64, u8);

    fn order(one: &Entry, other: &Entry) -> Ordering {
        (Reverse(one.0), one.1).cmp(&(Reverse(other.0), other.1))
    }

    fn push(queue: &mut Queue<Entry>, entry: Entry) {
        if !queue.wait(entry.0, entry.1.into()) {
            queue.push(entry, order);
        }
    }

    fn next(queue: &mut Queue<Entry>) -> Option<Entry> {
        while queue.first(order).is_none() {
            let (count, numbers) = queue.descend()?;
            let entry = |number: u32| (count, u8::try_from(number).unwrap());
            let mut entries: Vec<_> = numbers.into_iter().map(entry).collect();
            entries.sort_unstable_by(|one, other| order(other, one));
            queue.open(entries);
        }
        let first = queue.first(order);
        queue.pop(order);
        first
    }

    proptest::proptest! {
        #[test]
        fn the_first_entry_leaves_first_whenever_it_came(
            entries in proptest::collection::vec((0..9_i64, 0..200_u8), 0..40),
            later in proptest::collection::vec((0..9_i64, 0..200_u8), 0..40),
        ) {
            let (mut naive, mut queue) = (entries.clone(), Queue::new());
            entries.iter().for_each(|&entry| push(&mut queue, entry));
            let mut later = later.into_iter();
            while let Some(entry) = next(&mut queue) {
                naive.sort_unstable_by(order);
                proptest::prop_assert_eq!(entry, naive.remove(0));
                if let Some(entry) = later.next() {
                    naive.push(entry);
                    push(&mut queue, entry);
                }
            }
            proptest::prop_assert!(naive.is_empty());
        }
    }
}
