//! Several merges at once, where it is certain that one after the other would give the same.
//!
//! Merging a pair changes only pairs with one of its two tokens next to them. So after choosing (a, b) the next
//! best pair (c, d) can be chosen from the same counts, if nothing that the first merge does could put another pair
//! before it. A batch is a row of pairs, each the best of those that are left, such that
//!
//! 1. no pair of it has as its left token the right token of an earlier one, nor as its right token the left
//!    token of an earlier one, and
//! 2. a pair of two equal tokens ends it, and so does one whose token may stand where its parts may not
//!    ([`TokenFilter::frees`](super::limits::TokenFilter::frees)).
//!
//! *Old pairs.* By 1 no earlier merge of the batch takes an occurrence of (c, d): an occurrence of (a, b) that
//! overlaps one of (c, d) would share `b = c` or `d = a`. Other old pairs can only lose. So among the old pairs
//! (c, d) stays the best.
//!
//! *New pairs.* Let (a, b) become t. Each (x, t) comes from occurrences of (x, a), and each (t, y) from
//! occurrences of (b, y); so a new pair occurs at most as often as the old pair that it comes from did. By 1 and 2
//! that old pair is no other pair of the batch and not (c, d), and it was allowed; so it stands behind (c, d). A new
//! pair therefore occurs at most as often as (c, d), and it remains to look at equal counts, where all occurrences
//! of the old pair became the new one:
//!
//! - `SmallestIds`: the old pair (x, a) has larger ids than (c, d): `c < x`, or `c = x` and `d < a`. As t is larger
//!   than all old ids, (c, d) is before (x, t) too. And (t, y) has a larger left id than any old pair.
//! - `FirstSeen`: (x, t) begins where (x, a) began, which is after the first (c, d). (t, y) begins where the a
//!   before (b, y) begins. The first (c, d) is before that (b, y), and it does not begin within a, which is one
//!   token, nor at its first slot, where (a, b) begins. So it is before (t, y) too.
//! - `LargestText`: the text of t is longer than that of a, so (x, t) may come before (c, d) though (x, a) does
//!   not. Here a pair joins a batch only if no other old pair that is left occurs as often; then every new pair
//!   occurs less often.
//!
//! Where x or y is itself a token of the batch, the pair comes from one of new and old tokens, which comes from an
//! old pair in turn, and the same holds.
//!
//! # Which pair is the best
//!
//! [`Ranking`] is a queue of all pairs at or above the floor, by count and tie rule. *Invariant:* an entry says what was
//! true when it was pushed. A pair gains no occurrence after the merge that created it, so counts only fall and first
//! occurrences only move back: an old entry stands too early, never too late. So
//!
//! ```text
//! best: loop:
//!     look at the first entry of the queue
//!     if it is still true: it is the best pair
//!     else: take it out, and push its pair again as it stands now
//! ```
//!
//! Most counts are small, and most pairs share theirs with many others. So the queue is a heap only at the top: below a
//! *level*, pairs wait in buckets, one for each count, in no order. When all above has left the queue, the level falls to
//! the next bucket, and its pairs are pushed again. Waiting takes constant time, leaving O(log n) comparisons at most. One
//! heap for all takes 14 % more time in training, up to 30 %.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

use super::Ties;
use super::limits::TokenFilter;
use super::pairs::PairIndex;
use super::plan::{Plan, Workers};
use crate::error::Result;
use crate::hash::pair_key;
use crate::vocabulary::TokenId;

/// More merges at once gain nothing.
const MAX_LEN: usize = 256;

/// Counts below this have buckets.
const N_BUCKETS: usize = if crate::SMALL { 4 } else { 1 << 12 };

/// Chooses batches.
pub(super) struct Batches {
    pub(super) ranking: Ranking,
    pub(super) filter: TokenFilter,
    /// By token id: the number of the batch in which it was last a left or a right token.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    current: u32,
}

impl Batches {
    pub(super) fn new(ranking: Ranking, filter: TokenFilter) -> Self {
        Self { ranking, filter, lefts: Vec::new(), rights: Vec::new(), current: 0 }
    }

    /// Puts the next batch into the plan, at most `max_len` merges; none where no pair reaches the floor.
    pub(super) fn choose(
        &mut self,
        max_len: usize,
        plan: &mut Plan,
        workers: &Workers,
    ) -> Result<()> {
        self.current += 1;
        self.lefts.resize(plan.lengths.len(), 0);
        self.rights.resize(plan.lengths.len(), 0);
        plan.jobs.clear();
        while plan.jobs.len() < max_len.min(MAX_LEN) {
            let Some(best) = self.ranking.best(plan, workers) else { break };
            let (left, right) = plan.pairs.tokens(best);
            if !self.may_join(left, right) {
                break;
            }
            self.ranking.pop();
            if !plan.jobs.is_empty() && self.is_tied(best, plan, workers) {
                self.ranking.push(best, plan, workers);
                break;
            }
            self.lefts[left as usize] = self.current;
            self.rights[right as usize] = self.current;
            plan.push_job(best)?;
            if left == right || self.filter.frees(left, right) {
                break;
            }
        }
        Ok(())
    }

    fn may_join(&self, left: TokenId, right: TokenId) -> bool {
        self.rights[left as usize] != self.current && self.lefts[right as usize] != self.current
    }

    /// Whether the tie rule needs `best`, which was taken out, to stand alone, and it does not.
    fn is_tied(&mut self, best: PairIndex, plan: &Plan, workers: &Workers) -> bool {
        let count = plan.pairs.count(best);
        self.ranking.ties == Ties::LargestText
            && self.ranking.best(plan, workers).is_some_and(|next| plan.pairs.count(next) == count)
    }
}

/// The pairs in the order in which they would be merged.
pub(super) struct Ranking {
    pub(super) ties: Ties,
    /// By token id: the token as it is written. Only for `LargestText`.
    texts: Vec<Rc<[u8]>>,
    /// Pairs at or above the level.
    queue: BinaryHeap<Candidate>,
    /// By count: what waits below the level.
    buckets: Vec<Vec<PairIndex>>,
    level: usize,
}

/// What the queue knows of a pair. The largest goes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    /// The texts of its tokens, if they order pairs of equal count.
    texts: Option<Rc<[Rc<[u8]>; 2]>>,
    /// The ids, or the place of the first occurrence.
    tie: Reverse<u64>,
    pair: PairIndex,
}

impl Ranking {
    pub(super) fn new(ties: Ties) -> Self {
        let buckets = std::iter::repeat_with(Vec::new).take(N_BUCKETS).collect();
        Self { ties, texts: Vec::new(), queue: BinaryHeap::new(), buckets, level: N_BUCKETS }
    }

    /// Takes note of a token, if the tie rule compares texts; ids come in ascending order.
    pub(super) fn learn(&mut self, id: TokenId, text: &[u8]) {
        if self.ties == Ties::LargestText {
            self.texts.resize(id as usize + 1, Rc::default());
            self.texts[id as usize] = text.into();
        }
    }

    /// Forgets all pairs.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
        self.level = N_BUCKETS;
    }

    /// Puts in a pair as it stands now, if it reaches the floor.
    pub(super) fn push(&mut self, pair: PairIndex, plan: &Plan, workers: &Workers) {
        let count = plan.pairs.count(pair);
        if count < plan.floor {
            return;
        }
        let below = usize::try_from(count).ok().filter(|&count| count < self.level);
        if let Some(count) = below {
            self.buckets[count].push(pair);
            return;
        }
        if let Some(tie) = self.tie(pair, plan, workers) {
            let (left, right) = plan.pairs.tokens(pair);
            let texts = (self.ties == Ties::LargestText)
                .then(|| Rc::new([left, right].map(|id| Rc::clone(&self.texts[id as usize]))));
            self.queue.push(Candidate { count, texts, tie, pair });
        }
    }

    /// The best pair that reaches the floor. It stays in the queue.
    pub(super) fn best(&mut self, plan: &Plan, workers: &Workers) -> Option<PairIndex> {
        loop {
            let Some(&Candidate { count, tie, pair, .. }) = self.queue.peek() else {
                self.descend(plan, workers)?;
                continue;
            };
            if plan.pairs.count(pair) == count && self.tie(pair, plan, workers) == Some(tie) {
                return Some(pair);
            }
            self.pop();
            self.push(pair, plan, workers);
        }
    }

    /// Takes out the first pair of the queue.
    pub(super) fn pop(&mut self) {
        self.queue.pop();
    }

    /// Goes on with the pairs of the next lower count; `None` if there is none.
    fn descend(&mut self, plan: &Plan, workers: &Workers) -> Option<()> {
        self.level = self.buckets[..self.level].iter().rposition(|bucket| !bucket.is_empty())?;
        let pairs = std::mem::take(&mut self.buckets[self.level]);
        pairs.into_iter().for_each(|pair| self.push(pair, plan, workers));
        Some(())
    }

    /// What orders a pair among those of equal count; `None` if it does not occur.
    fn tie(&self, pair: PairIndex, plan: &Plan, workers: &Workers) -> Option<Reverse<u64>> {
        if self.ties != Ties::FirstSeen {
            let (left, right) = plan.pairs.tokens(pair);
            return Some(Reverse(pair_key(left, right)));
        }
        let firsts = (0_u64..).zip(workers.shares());
        let mut firsts = firsts.map(|(index, mut share)| {
            share.first_place(pair, plan).map(|slot| index << u32::BITS | u64::from(slot))
        });
        firsts.find_map(|first| first).map(Reverse)
    }
}
