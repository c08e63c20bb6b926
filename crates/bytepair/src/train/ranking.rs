//! Which pair is merged next: a queue of all pairs at or above the floor, by count and tie rule.
//!
//! The queue is lazy: an entry says what was true when it was pushed. A pair gains no occurrence after the merge
//! that created it, so counts only fall and first occurrences only move back: a stale entry stands too early,
//! never too late, and the first entry that is still true is the best pair.

use std::cmp::{Ordering, Reverse};

use super::Ties;
use super::crew::Crew;
use super::pairs::{PairIndex, Pairs};
use super::plan::Plan;
use super::queue::Queue;
use crate::pair_key::pair_key;
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

    /// Takes note of a token, if the tie rule asks for its text; ids come in ascending order.
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
    pub(super) fn push(&mut self, pair: PairIndex, plan: &Plan, crew: &Crew) {
        let count = plan.pairs.count(pair);
        if count < plan.floor {
            return;
        }
        if self.queue.wait(count, pair) {
            return;
        }
        if let Some(tie) = self.tie(pair, plan, crew) {
            let entry = Candidate { count, tie, pair };
            self.queue.push(entry, |one, other| self.order.compare(one, other, &plan.pairs));
        }
    }

    /// The best pair that reaches the floor. It stays in the queue.
    pub(super) fn best(&mut self, plan: &Plan, crew: &Crew) -> Option<Candidate> {
        loop {
            let first = self.queue.first(|one, other| self.order.compare(one, other, &plan.pairs));
            let Some(candidate) = first else {
                self.descend(plan, crew)?;
                continue;
            };
            let count = plan.pairs.count(candidate.pair);
            let is_true = count == candidate.count
                && self.tie(candidate.pair, plan, crew) == Some(candidate.tie);
            if is_true {
                return Some(candidate);
            }
            self.pop(plan);
            self.push(candidate.pair, plan, crew);
        }
    }

    /// Takes out the first pair of the queue.
    pub(super) fn pop(&mut self, plan: &Plan) {
        self.queue.pop(|one, other| self.order.compare(one, other, &plan.pairs));
    }

    /// Goes on with the pairs of the next lower count; `None` where there is none.
    fn descend(&mut self, plan: &Plan, crew: &Crew) -> Option<()> {
        let (count, pairs) = self.queue.descend()?;
        let mut candidates = Vec::with_capacity(pairs.len());
        for pair in pairs {
            if plan.pairs.count(pair) != count {
                self.push(pair, plan, crew);
            } else if let Some(tie) = self.tie(pair, plan, crew) {
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
    fn tie(&self, pair: PairIndex, plan: &Plan, crew: &Crew) -> Option<u64> {
        if self.order.ties != Ties::FirstSeen {
            let (left, right) = plan.pairs.tokens(pair);
            return Some(pair_key(left, right));
        }
        let firsts = (0_u64..).zip(crew.shares());
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
