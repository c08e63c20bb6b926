//! What one thread does with its share of the corpus: survey it, and merge in it.
//!
//! A survey makes the row anew and finds where the pairs occur that are frequent in the whole corpus (`survey`). A
//! batch of merges takes two steps: `apply` rewrites all places and says what it did to the neighbouring pairs;
//! `list` notes where the new pairs occur that the whole corpus made frequent.
//!
//! A merge of (a, b) into c changes, at each place `x a b y`, the pairs (x, a) and (b, y) and the new (x, c) and
//! (c, y). Changes are summed by neighbour in arrays indexed by token id, so what is looked up is paid once for
//! each distinct neighbour, not for each place. Where places touch, `a b a b`, one (b, a) goes and one (c, c)
//! comes. Linear in slots for a survey and in places for a batch.

use std::cmp::Ordering;
use std::ops::Range;

use super::pairs::PairIndex;
use super::places::{List, Places};
use super::plan::{Created, Job, Plan, Step};
use super::row::{BARRIER, Row, index_of};
use super::sums::{Change, Sums};
use super::survey::Survey;

/// A part of the corpus, the places of its frequent pairs, and the outcome of the last step.
pub(super) struct Share {
    row: Row,
    places: Places,
    pub(super) survey: Survey,
    /// By job of the batch.
    pub(super) outcomes: Vec<Outcome>,
    sums: Sides<Sums>,
}

/// The same for the neighbours before and after.
#[derive(Default)]
pub(super) struct Sides<T> {
    pub(super) left: T,
    pub(super) right: T,
}

/// What merging one pair did here.
#[derive(Default)]
pub(super) struct Outcome {
    /// Where it was merged.
    merged: List,
    /// By how much pairs with a neighbour changed.
    pub(super) changes: Sides<Vec<Change>>,
    /// The same for places that touch.
    pub(super) touching: Change,
    /// How many tokens fewer there are.
    pub(super) n_fewer: i64,
}

/// What is around so many places is asked for before they are merged: so much fits the nearer caches.
const N_AT_ONCE: usize = if cfg!(test) { 3 } else { 1024 };
/// Lists of so many places are short.
const SHORT_LIST_LEN: usize = if cfg!(test) { 1 } else { 32 };

impl Share {
    pub(super) fn new(row: Row) -> Self {
        Self {
            row,
            places: Places::default(),
            survey: Survey::default(),
            outcomes: Vec::new(),
            sums: Sides::default(),
        }
    }

    /// Does a step of the plan.
    pub(super) fn perform(&mut self, plan: &Plan) {
        match plan.step {
            Step::Compact => {
                self.places.clear();
                self.row.compact(&plan.lengths);
            }
            Step::Look => self.survey.look(&self.row, plan),
            Step::Tally => self.survey.tally(&self.row, plan),
            Step::Place => self.survey.place(&self.row, plan, &mut self.places),
            Step::Apply => {
                self.outcomes.resize_with(plan.jobs.len(), Outcome::default);
                self.prefetch_short(&plan.jobs);
                (0..plan.jobs.len()).for_each(|index| self.apply(plan, index));
            }
            Step::List => (0..plan.jobs.len()).for_each(|index| self.list(plan, index)),
        }
    }

    /// The number of places where a pair may begin.
    pub(super) fn n_places(&self, pair: PairIndex) -> usize {
        self.places.len(pair)
    }

    /// The number of slots.
    pub(super) fn n_slots(&self) -> usize {
        self.row.n_slots()
    }

    /// The first slot where a pair does begin.
    pub(super) fn first_place(&mut self, pair: PairIndex, plan: &Plan) -> Option<u32> {
        let (left, right) = plan.pairs.tokens(pair);
        let (row, left_len) = (&self.row, plan.length(left));
        self.places.first(pair, |slot| row.has_pair(slot as usize, left, left_len, right))
    }

    /// Prefetches what is around the places of pairs with few of them, of all these pairs at once.
    fn prefetch_short(&self, jobs: &[Job]) {
        let lists = jobs.iter().map(|job| self.places.slots(self.places.list(job.pair)));
        let short = lists.filter(|slots| slots.len() <= SHORT_LIST_LEN).flatten();
        self.row.prefetch(short, 1);
    }

    /// Merges one pair wherever it still is: so many places at a time that all around them stays at hand.
    fn apply(&mut self, plan: &Plan, index: usize) {
        let job = &plan.jobs[index];
        let list = self.places.take(job.pair);
        let outcome = &mut self.outcomes[index];
        (outcome.merged, outcome.n_fewer) = (list.part(0, 0), 0);
        outcome.touching = Change::default();
        self.sums.left.begin(&mut outcome.changes.left, list.len());
        self.sums.right.begin(&mut outcome.changes.right, list.len());
        let mut n_summed = 0;
        for start in (0..list.len()).step_by(N_AT_ONCE) {
            let part = list.part(start, list.len().min(start + N_AT_ONCE));
            self.merge(job, part, index);
            // What is behind the last place may be merged with the next part.
            let n_final = self.outcomes[index].merged.len().saturating_sub(1).max(n_summed);
            self.sum(job, n_summed..n_final, index);
            n_summed = n_final;
        }
        self.sum(job, n_summed..self.outcomes[index].merged.len(), index);
        let outcome = &mut self.outcomes[index];
        self.sums.left.end(&outcome.changes.left);
        self.sums.right.end(&outcome.changes.right);
    }

    /// Sums up what was done at some of the places that were merged.
    fn sum(&mut self, job: &Job, range: Range<usize>, index: usize) {
        let outcome = &mut self.outcomes[index];
        for &slot in self.places.slots(outcome.merged.part(range.start, range.end)) {
            let slot = slot as usize;
            let weight = self.row.weight_at(slot);
            outcome.n_fewer += weight;
            let before = self.row.token_before(slot);
            if before == job.result {
                outcome.touching.n_slots += 1;
                outcome.touching.weight += weight;
            } else if before != BARRIER {
                self.sums.left.add(&mut outcome.changes.left, before, weight);
            }
            let after = self.row.token_at(slot + job.result_len);
            if after != job.result && after != BARRIER {
                self.sums.right.add(&mut outcome.changes.right, after, weight);
            }
        }
    }

    /// Rewrites some places of a pair, left to right; adds those where it was to the outcome.
    fn merge(&mut self, job: &Job, part: List, index: usize) {
        let Job { left, right, left_len, result, result_len, .. } = *job;
        if part.len() > SHORT_LIST_LEN {
            self.row.prefetch(self.places.slots(part), result_len);
        }
        let (row, merged) = (&mut self.row, &mut self.outcomes[index].merged);
        if left == right {
            return self.places.keep(merged, part, |slot| {
                let is_there = row.has_pair(slot as usize, left, left_len, right);
                is_there
                    .then(|| row.merge_at(slot as usize, left_len, result, result_len))
                    .is_some()
            });
        }
        // Places of different tokens never overlap, so all can be looked for before any is changed.
        let n_before = merged.len();
        self.places.keep(merged, part, |slot| row.has_pair(slot as usize, left, left_len, right));
        let slots = self.places.slots(merged.part(n_before, merged.len())).iter();
        slots.for_each(|&slot| row.merge_at(slot as usize, left_len, result, result_len));
    }

    /// Lists the places of those pairs of a new token that are kept.
    ///
    /// A neighbour may have been merged by a later job of the batch: then the pair is that job's.
    fn list(&mut self, plan: &Plan, index: usize) {
        let (job, created, outcome) =
            (&plan.jobs[index], &plan.created[index], &self.outcomes[index]);
        if created.is_empty() {
            return;
        }
        let merged = outcome.merged;
        let (sides, changes, places) = (&created.sides, &outcome.changes, &mut self.places);
        self.sums.left.want(&sides.left, &changes.left, places, merged.len());
        self.sums.right.want(&sides.right, &changes.right, places, merged.len());
        if let Some(pair) = created.twice {
            self.places.make(pair, outcome.touching.n_slots as usize);
        }
        for index in 0..merged.len() {
            if index % N_AT_ONCE == 0 {
                let part = merged.part(index, merged.len().min(index + N_AT_ONCE));
                self.row.prefetch(self.places.slots(part), job.result_len);
            }
            let slot = self.places.slots(merged)[index];
            if let Some((pair, start)) = self.pair_before(slot, job, created, plan) {
                self.places.push(pair, start);
            }
            let after = self.row.token_at(slot as usize + job.result_len);
            let is_older = after < job.result;
            let pair =
                is_older.then(|| self.sums.right.pair(&created.sides.right, after)).flatten();
            if let Some(pair) = pair {
                self.places.push(pair, slot);
            }
        }
        self.sums.left.unwant(&created.sides.left);
        self.sums.right.unwant(&created.sides.right);
    }
}

impl Share {
    /// The pair that a new token makes with what is before it, where its places are wanted, and where it begins.
    #[inline]
    fn pair_before(
        &self,
        slot: u32,
        job: &Job,
        created: &Created,
        plan: &Plan,
    ) -> Option<(PairIndex, u32)> {
        let before = self.row.token_before(slot as usize);
        let pair = match before.cmp(&job.result) {
            Ordering::Less => self.sums.left.pair(&created.sides.left, before)?,
            Ordering::Equal => created.twice?,
            Ordering::Greater => return None,
        };
        Some((pair, slot - index_of(plan.length(before))))
    }
}
