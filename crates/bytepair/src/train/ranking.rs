//! Which pair is merged next: a queue of all pairs at or above the floor, by count and tie rule.
//!
//! *Invariant:* an entry says what was true when it was pushed. A pair gains no occurrence after the merge
//! that created it, so counts only fall and first occurrences only move back: a stale entry stands too early,
//! never too late. So
//!
//! ```text
//! best: loop:
//!     take the first entry of the queue
//!     if it is still true: it is the best pair
//!     else: push it again as it stands now
//! ```
//!
//! Most counts are small, and most pairs share theirs with many others. So the queue is a heap only at the top: below a
//! *level*, pairs wait in buckets, one for each count, in no order. When all above has left the queue, the level falls to
//! the next bucket, and those of its pairs whose count is still that are sorted at once. Pairs that come later go into
//! their bucket, or into the heap if they belong at or above the level. Waiting takes constant time, leaving O(log n)
//! comparisons at most. One heap for all takes 14 % more time in training, up to 30 %. It is not the heap of the standard
//! library, whose entries carry their order in themselves: the tie rule `largest_text` compares texts of tokens.

use std::cmp::{Ordering, Reverse};

use super::Ties;
use super::pairs::{PairIndex, Pairs};
use super::plan::{Plan, Workers};
use crate::hash::pair_key;
use crate::vocabulary::TokenId;

/// The pairs in the order in which they would be merged.
pub(super) struct Ranking {
    queue: Queue<Candidate>,
    order: Order,
}

/// What the queue knows of a pair.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    pub(super) count: i64,
    /// Orders pairs of equal count, the smaller first: the ids, or the place of the first occurrence.
    tie: u64,
    pub(super) pair: PairIndex,
}

/// The tie rule, with what it looks up.
struct Order {
    ties: Ties,
    /// By token id: the token as it is written. Only for `LargestText`.
    texts: Vec<Vec<u8>>,
}

impl Ranking {
    pub(super) fn new(ties: Ties) -> Self {
        Self { queue: Queue::new(), order: Order { ties, texts: Vec::new() } }
    }

    /// The tie rule.
    pub(super) fn ties(&self) -> Ties {
        self.order.ties
    }

    /// Takes note of a token, if the tie rule compares texts; ids come in ascending order.
    pub(super) fn learn(&mut self, id: TokenId, text: impl FnOnce() -> Vec<u8>) {
        if self.order.ties == Ties::LargestText {
            self.order.texts.resize(id as usize + 1, Vec::new());
            self.order.texts[id as usize] = text();
        }
    }

    /// Forgets all pairs.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Puts in a pair as it stands now, if it reaches the floor.
    pub(super) fn push(&mut self, pair: PairIndex, plan: &Plan, workers: &Workers) {
        let count = plan.pairs.count(pair);
        if count < plan.floor {
            return;
        }
        if self.queue.wait(count, pair) {
            return;
        }
        if let Some(tie) = self.tie(pair, plan, workers) {
            let entry = Candidate { count, tie, pair };
            self.queue.push(entry, |one, other| self.order.compare(one, other, &plan.pairs));
        }
    }

    /// The best pair that reaches the floor. It stays in the queue.
    pub(super) fn best(&mut self, plan: &Plan, workers: &Workers) -> Option<Candidate> {
        loop {
            let first = self.queue.first(|one, other| self.order.compare(one, other, &plan.pairs));
            let Some(candidate) = first else {
                self.descend(plan, workers)?;
                continue;
            };
            let count = plan.pairs.count(candidate.pair);
            let is_true = count == candidate.count
                && self.tie(candidate.pair, plan, workers) == Some(candidate.tie);
            if is_true {
                return Some(candidate);
            }
            self.pop(plan);
            self.push(candidate.pair, plan, workers);
        }
    }

    /// Takes out the first pair of the queue.
    pub(super) fn pop(&mut self, plan: &Plan) {
        self.queue.pop(|one, other| self.order.compare(one, other, &plan.pairs));
    }

    /// Goes on with the pairs of the next lower count; `None` where there is none.
    fn descend(&mut self, plan: &Plan, workers: &Workers) -> Option<()> {
        let (count, pairs) = self.queue.descend()?;
        let mut candidates = Vec::with_capacity(pairs.len());
        for pair in pairs {
            if plan.pairs.count(pair) != count {
                self.push(pair, plan, workers);
            } else if let Some(tie) = self.tie(pair, plan, workers) {
                candidates.push(Candidate { count, tie, pair });
            }
        }
        match self.order.ties {
            // The counts are equal, so one number decides.
            Ties::SmallestIds | Ties::FirstSeen => {
                candidates.sort_unstable_by_key(|candidate| Reverse(candidate.tie));
            }
            Ties::LargestText => {
                candidates
                    .sort_unstable_by(|one, other| self.order.compare(other, one, &plan.pairs));
            }
        }
        self.queue.open(candidates);
        Some(())
    }

    /// What orders a pair among those of equal count; `None` if it does not occur.
    fn tie(&self, pair: PairIndex, plan: &Plan, workers: &Workers) -> Option<u64> {
        if self.order.ties != Ties::FirstSeen {
            let (left, right) = plan.pairs.tokens(pair);
            return Some(pair_key(left, right));
        }
        let firsts = (0_u64..).zip(workers.shares());
        let mut firsts = firsts.map(|(index, mut share)| {
            share.first_place(pair, plan).map(|slot| index << u32::BITS | u64::from(slot))
        });
        firsts.find_map(|first| first)
    }
}

impl Order {
    /// Less where `one` is merged before `other`.
    fn compare(&self, one: &Candidate, other: &Candidate, pairs: &Pairs) -> Ordering {
        let counts = other.count.cmp(&one.count);
        if self.ties != Ties::LargestText {
            return counts.then(one.tie.cmp(&other.tie));
        }
        let texts = |candidate: &Candidate| {
            let (left, right) = pairs.tokens(candidate.pair);
            (&self.texts[left as usize], &self.texts[right as usize])
        };
        counts.then_with(|| texts(other).cmp(&texts(one))).then(one.tie.cmp(&other.tie))
    }
}

/// Counts below this have buckets.
const N_BUCKETS: usize = if cfg!(test) { 4 } else { 1 << 12 };

/// A queue in an order that puts the larger count first; the lesser of two entries leaves before the other.
struct Queue<T> {
    /// Entries at or above the level.
    heap: Heap<T>,
    /// The other entries at the level: the first of them comes last.
    sorted: Vec<T>,
    /// By count: what waits below the level.
    buckets: Vec<Vec<u32>>,
    level: usize,
}

impl<T: Copy> Queue<T> {
    fn new() -> Self {
        let buckets = std::iter::repeat_with(Vec::new).take(N_BUCKETS).collect();
        Self { heap: Heap(Vec::new()), sorted: Vec::new(), buckets, level: N_BUCKETS }
    }

    /// Forgets all entries.
    fn clear(&mut self) {
        self.heap.0.clear();
        self.sorted.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
        self.level = N_BUCKETS;
    }

    /// Lets a number wait for the level to fall to `count`; `false` where it has, or no level is that high.
    #[inline]
    fn wait(&mut self, count: i64, number: u32) -> bool {
        let count = usize::try_from(count).ok().filter(|&count| count < self.level);
        let bucket = count.and_then(|count| self.buckets.get_mut(count));
        bucket.map(|bucket| bucket.push(number)).is_some()
    }

    /// Puts in an entry that has not to wait.
    fn push(&mut self, entry: T, order: impl Fn(&T, &T) -> Ordering) {
        self.heap.push(entry, order);
    }

    /// The first entry at or above the level.
    #[inline]
    fn first(&self, order: impl Fn(&T, &T) -> Ordering) -> Option<T> {
        match (self.sorted.last(), self.heap.0.first()) {
            (Some(one), Some(other)) if order(other, one).is_lt() => Some(*other),
            (Some(one), _) => Some(*one),
            (None, other) => other.copied(),
        }
    }

    /// Takes the first entry out, which [`Self::first`] has given.
    #[inline]
    fn pop(&mut self, order: impl Fn(&T, &T) -> Ordering) {
        match (self.sorted.last(), self.heap.0.first()) {
            (Some(one), Some(other)) if order(other, one).is_lt() => self.heap.pop(order),
            (Some(_), _) => drop(self.sorted.pop()),
            (None, _) => self.heap.pop(order),
        }
    }

    /// Lets the level fall to the next bucket that is not empty, where nothing is left above, and takes out what
    /// waits there; gives the count. They come back by [`Self::open`] or [`Self::wait`].
    fn descend(&mut self) -> Option<(i64, Vec<u32>)> {
        debug_assert!(self.sorted.is_empty() && self.heap.0.is_empty(), "nothing is passed over");
        let level = self.buckets[..self.level].iter().rposition(|bucket| !bucket.is_empty())?;
        self.level = level;
        Some((i64::try_from(level).ok()?, std::mem::take(&mut self.buckets[level])))
    }

    /// Puts entries at the level. They must be in order, the first of them last.
    fn open(&mut self, entries: Vec<T>) {
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
