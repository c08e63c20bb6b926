//! Chooses several merges at once if it is certain that choosing one after the other would give the same.
//!
//! Merging a pair changes only pairs that have one of its two tokens. So after (a, b), the next best pair (c, d) can be
//! chosen from the same counts, unless the first merge could put another pair before it. A batch is a row of pairs,
//! each the best of those that are left, such that
//!
//! 1. the left token of a pair is not the right token of an earlier one, nor its right token the left token of an
//!    earlier one, and
//! 2. a pair of two equal tokens ends the batch, and so does one whose token may have neighbours that its parts may not
//!    have ([`TokenFilter::frees`](super::limits::TokenFilter::frees)).
//!
//! *Old pairs.* By 1 no earlier merge of the batch removes an occurrence of (c, d): an occurrence of (a, b) that
//! overlaps one of (c, d) would have `b = c` or `d = a`. Other old pairs can only lose occurrences. So (c, d) stays the
//! best of the old pairs.
//!
//! *New pairs.* Let (a, b) become t. Each (x, t) comes from occurrences of (x, a), and each (t, y) from occurrences of
//! (b, y). So a new pair occurs at most as often as the old pair that it comes from did. By 1 and 2 that old pair is no
//! other pair of the batch and not (c, d), and it was allowed, so it ranks after (c, d). A new pair therefore occurs at
//! most as often as (c, d). What remains are equal counts, if all occurrences of the old pair became the new one:
//!
//! - `SmallestIds`: the old pair (x, a) has larger ids than (c, d): `c < x`, or `c = x` and `d < a`. As t is larger
//!   than all old ids, (c, d) is before (x, t) too. And (t, y) has a larger left id than any old pair.
//! - `FirstSeen`: (x, t) begins where (x, a) began, which is after the first (c, d). (t, y) begins where the a before
//!   (b, y) begins. The first (c, d) is before that (b, y). It does not begin within a, which is one token, nor at its
//!   first slot, where (a, b) begins. So it is before (t, y) too.
//! - `LargestText`: the text of t is longer than that of a, so (x, t) may come before (c, d) even if (x, a) does not.
//!   Here a pair joins a batch only if no other remaining old pair occurs as often. Then every new pair occurs less
//!   often.
//!
//! If x or y is itself a token of the batch, the pair comes from one of a new and an old token, which comes from an old
//! pair in turn, and the same argument holds.
//!
//! # Finding the best pair
//!
//! [`Ranking`] is a queue of all pairs at or above the floor, by count and tie rule. *Invariant:* an entry has the
//! values of the time when it was pushed. A pair gains no occurrence after the merge that created it, so counts only
//! fall and first occurrences only move back. So an old entry is too early in the queue, never too late:
//!
//! ```text
//! best: loop:
//!     look at the first entry of the queue
//!     if it is still true: it is the best pair
//!     else: remove it, and push its pair again with its present values
//! ```
//!
//! Most counts are small, and most pairs share theirs with many others. So only the top of the queue is a heap: below a
//! *level*, pairs wait in buckets, one for each count, in no order. When the heap is empty, the level falls to the next
//! bucket, and its pairs are pushed again. A waiting pair takes constant time; a pair in the heap takes at most
//! O(log n) comparisons. A single heap makes training 14 % slower, up to 30 %.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;
use std::rc::Rc;

use super::Ties;
use super::limits::TokenFilter;
use super::pairs::PairIndex;
use super::plan::{Plan, Workers};
use crate::error::Result;
use crate::hash::pair_key;
use crate::vocabulary::TokenId;

/// Most merges of a batch. More gain nothing.
const MAX_LEN: usize = 256;

/// Counts below this have buckets.
const N_BUCKETS: usize = if crate::SMALL { 4 } else { 1 << 12 };

/// Chooses batches.
pub(super) struct Batches {
    pub(super) filter: TokenFilter,
    min_count: i64,
    /// By token id: the number of the batch in which it was last a left or a right token.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    current: u32,
}

impl Batches {
    pub(super) fn new(filter: TokenFilter, min_count: i64) -> Self {
        Self { filter, min_count, lefts: Vec::new(), rights: Vec::new(), current: 0 }
    }

    /// Puts the next batch into the plan, at most `max_len` merges; none if no pair reaches the floor and the
    /// minimum count.
    pub(super) fn choose(
        &mut self,
        ranking: &mut Ranking,
        max_len: usize,
        plan: &mut Plan,
        workers: &Workers,
    ) -> Result<()> {
        self.current += 1;
        self.lefts.resize(plan.lengths.len(), 0);
        self.rights.resize(plan.lengths.len(), 0);
        plan.jobs.clear();
        while plan.jobs.len() < max_len.min(MAX_LEN) {
            let Some(best) = ranking.best(plan, workers) else { break };
            // The floor of several groups together may be lower.
            if ranking.count(best, plan) < self.min_count {
                break;
            }
            let (left, right) = plan.pairs.tokens(best);
            if !self.may_join(left, right) {
                break;
            }
            ranking.pop();
            if !plan.jobs.is_empty() && ranking.is_tied(best, plan, workers) {
                ranking.push(best, plan, workers);
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
}

/// The pairs in the order in which they would be merged, by the whole corpus or by one group.
pub(super) struct Ranking {
    pub(super) ties: Ties,
    pub(super) group: Option<usize>,
    /// The shares of the corpus or of the group.
    shares: Range<usize>,
    /// By token id: the token as it is written. Only for `LargestText`.
    texts: Vec<Rc<[u8]>>,
    /// Pairs at or above the level.
    queue: BinaryHeap<Candidate>,
    /// By count: the pairs that wait below the level.
    buckets: Vec<Vec<PairIndex>>,
    level: usize,
}

/// An entry of the queue. The largest comes first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    count: i64,
    /// The texts of its tokens, if they order pairs of equal count.
    texts: Option<Rc<[Rc<[u8]>; 2]>>,
    /// The ids, or the position of the first occurrence.
    tie: Reverse<u64>,
    pair: PairIndex,
}

impl Ranking {
    pub(super) fn new(ties: Ties, group: Option<usize>, shares: Range<usize>) -> Self {
        let buckets = std::iter::repeat_with(Vec::new).take(N_BUCKETS).collect();
        Self {
            ties,
            group,
            shares,
            texts: Vec::new(),
            queue: BinaryHeap::new(),
            buckets,
            level: N_BUCKETS,
        }
    }

    /// Stores the text of a token, if the tie rule compares texts. Ids must come in ascending order.
    pub(super) fn learn(&mut self, id: TokenId, text: &[u8]) {
        if self.ties == Ties::LargestText {
            self.texts.resize(id as usize + 1, Rc::default());
            self.texts[id as usize] = text.into();
        }
    }

    /// Removes all pairs.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
        self.buckets.iter_mut().for_each(Vec::clear);
        self.level = N_BUCKETS;
    }

    /// Adds a pair with its present values, if it reaches the floor.
    pub(super) fn push(&mut self, pair: PairIndex, plan: &Plan, workers: &Workers) {
        let count = self.count(pair, plan);
        if count < plan.floor(self.group) {
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
            if self.count(pair, plan) == count && self.tie(pair, plan, workers) == Some(tie) {
                return Some(pair);
            }
            self.pop();
            self.push(pair, plan, workers);
        }
    }

    /// Removes the first pair of the queue.
    pub(super) fn pop(&mut self) {
        self.queue.pop();
    }

    /// Whether the tie rule requires that no other pair has the count of `best`, which was removed, and one has.
    fn is_tied(&mut self, best: PairIndex, plan: &Plan, workers: &Workers) -> bool {
        let count = self.count(best, plan);
        self.ties == Ties::LargestText
            && self.best(plan, workers).is_some_and(|next| self.count(next, plan) == count)
    }

    /// How often a pair occurs in the texts that it is ranked by.
    pub(super) fn count(&self, pair: PairIndex, plan: &Plan) -> i64 {
        plan.pairs.count(pair, self.group)
    }

    /// Continues with the pairs of the next lower count; `None` if there is none.
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
        let firsts = (0_u64..).zip(workers.shares_in(&self.shares));
        let mut firsts = firsts.map(|(index, mut share)| {
            share.first_place(pair, plan).map(|slot| index << u32::BITS | u64::from(slot))
        });
        firsts.find_map(|first| first).map(Reverse)
    }
}
