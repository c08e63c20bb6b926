//! A priority queue whose order may look things up: a binary heap over a comparison.
//!
//! The standard heap needs an order that its entries carry in themselves; the tie rule
//! `largest_text` compares texts that lie elsewhere. Push and pop take O(log n) comparisons.

/// A binary heap; `before(a, b)` says whether `a` leaves the queue before `b`.
pub(super) struct Queue<T> {
    heap: Vec<T>,
}

impl<T: Copy> Queue<T> {
    pub(super) fn new() -> Self {
        Self { heap: Vec::new() }
    }

    pub(super) fn first(&self) -> Option<&T> {
        self.heap.first()
    }

    pub(super) fn push(&mut self, entry: T, before: impl Fn(&T, &T) -> bool) {
        self.heap.push(entry);
        let mut child = self.heap.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if !before(&self.heap[child], &self.heap[parent]) {
                break;
            }
            self.heap.swap(child, parent);
            child = parent;
        }
    }

    pub(super) fn pop(&mut self, before: impl Fn(&T, &T) -> bool) -> Option<T> {
        if self.heap.is_empty() {
            return None;
        }
        let first = self.heap.swap_remove(0);
        let mut parent = 0;
        loop {
            let mut child = 2 * parent + 1;
            if child >= self.heap.len() {
                return Some(first);
            }
            if child + 1 < self.heap.len() && before(&self.heap[child + 1], &self.heap[child]) {
                child += 1;
            }
            if !before(&self.heap[child], &self.heap[parent]) {
                return Some(first);
            }
            self.heap.swap(parent, child);
            parent = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn entries_leave_in_order(mut entries: Vec<i32>) {
            let mut queue = Queue::new();
            entries.iter().for_each(|&entry| queue.push(entry, |a, b| a > b));
            let left: Vec<_> = std::iter::from_fn(|| queue.pop(|a, b| a > b)).collect();
            entries.sort_unstable_by(|a, b| b.cmp(a));
            proptest::prop_assert_eq!(left, entries);
        }
    }
}
