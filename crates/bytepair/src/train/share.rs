//! What one thread does with its share of the corpus: survey it, and merge in it.
//!
//! A survey makes the row anew and finds where the pairs occur that are frequent in the whole corpus (`survey`). A
//! batch of merges takes two steps, since only the counts of all shares say which new pairs are frequent:
//!
//! ```text
//! apply, for each merge (a, b) → c of the batch:
//!     for each place where (a, b) once began:
//!         if a is still there and b follows it: put c there, keep the place        x a b y → x c y
//!     for each place kept:
//!         changes before[x] += weight, unless x is c
//!         changes after[y]  += weight, unless y is c
//!         touching          += weight, if x is c                                   a b a b → c c
//! list, for each merge of the batch:
//!     for each place kept: append it to the list of (x, c) and of (c, y), if that pair is frequent
//! ```
//!
//! So (x, a) and (b, y) each lose what (x, c) and (c, y) win. Where places touch, one (b, a) goes and one (c, c) comes.
//! Changes are summed by neighbour, so the table of pairs is asked once for each distinct neighbour, not for each place.
//!
//! *Invariants:* a list holds every place where its pair begins, in ascending order, and perhaps places where it no longer
//! does; `Row::has_pair` tells these by two slots. A place that was kept can be changed no more by its own merge, so its
//! neighbours are final as soon as the place after it is decided.
//!
//! Takes time linear in slots for a survey, and in places for a batch. What limits the speed is memory: the slots around
//! places are prefetched, a thousand places at a time.

use std::cmp::Ordering;
use std::ops::Range;

use super::pairs::{List, NO_PAIR, PairIndex, Places};
use super::plan::{Created, Job, Plan, Sides, Step};
use super::row::{BARRIER, Row, index_of};
use super::survey::Survey;
use crate::vocabulary::TokenId;

/// A part of the corpus, the places of its frequent pairs, and the outcomes of the last batch.
pub(super) struct Share {
    row: Row,
    places: Places,
    pub(super) survey: Survey,
    /// By job of the batch.
    pub(super) outcomes: Vec<Outcome>,
    sums: Sides<Sums>,
}

/// What merging one pair did here.
#[derive(Default)]
pub(super) struct Outcome {
    /// Where it was merged.
    merged: List,
    /// By how much pairs with a neighbour changed.
    pub(super) changes: Sides<Vec<Change>>,
    /// How often two places touch, so that the new token follows itself.
    pub(super) touching: Change,
    /// How many tokens fewer there are.
    pub(super) n_fewer: i64,
}

/// The slots around this many places are prefetched before these are merged: this many fit the nearer caches.
const N_AT_ONCE: usize = if crate::SMALL { 3 } else { 1024 };
/// Lists of this many places are short.
const SHORT_LIST_LEN: usize = if crate::SMALL { 1 } else { 32 };

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

    /// Takes the step of the plan.
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

    /// Merges one pair wherever it still is, some places at a time, so that the slots around them stay in the cache.
    fn apply(&mut self, plan: &Plan, index: usize) {
        let job = &plan.jobs[index];
        let list = self.places.take(job.pair);
        let outcome = &mut self.outcomes[index];
        (outcome.merged, outcome.n_fewer) = (list.part(0, 0), 0);
        outcome.touching = Change::default();
        outcome.changes.left.clear();
        outcome.changes.right.clear();
        let mut n_summed = 0;
        for start in (0..list.len()).step_by(N_AT_ONCE) {
            let part = list.part(start, list.len().min(start + N_AT_ONCE));
            self.merge(job, part, index);
            // What is after the last place may be merged with the next part.
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
        self.sums.left.begin_lists(&sides.left, &changes.left, places);
        self.sums.right.begin_lists(&sides.right, &changes.right, places);
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
            let pair = is_older.then(|| self.sums.right.pair(after)).flatten();
            if let Some(pair) = pair {
                self.places.push(pair, slot);
            }
        }
        self.sums.left.end_lists(&created.sides.left);
        self.sums.right.end_lists(&created.sides.right);
    }

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
            Ordering::Less => self.sums.left.pair(before)?,
            Ordering::Equal => created.twice?,
            Ordering::Greater => return None,
        };
        Some((pair, slot - index_of(plan.length(before))))
    }
}

/// The places next to one neighbour of the pairs that a merge took.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) neighbour: TokenId,
    /// How many places there are in the share; not added up over shares.
    pub(super) n_slots: u32,
    pub(super) weight: i64,
}

/// Changes summed up by neighbour: an array by token id says where the sums of a neighbour stand, and later which pair it
/// makes with the new token. So a neighbour is looked up in constant time. Linear in places.
#[derive(Default)]
pub(super) struct Sums {
    /// By token id. All empty between merges.
    entries: Vec<Entry>,
}

/// What is known of a neighbour.
#[derive(Clone, Copy)]
struct Entry {
    /// The place of its sums among the changes.
    change: u32,
    /// The pair that it makes, where its places are listed.
    pair: PairIndex,
}

const NO_CHANGE: u32 = u32::MAX;
const EMPTY: Entry = Entry { change: NO_CHANGE, pair: NO_PAIR };

impl Sums {
    /// Adds a place next to a neighbour.
    #[inline]
    fn add(&mut self, changes: &mut Vec<Change>, neighbour: TokenId, weight: i64) {
        let entry = self.entry(neighbour);
        if entry.change == NO_CHANGE {
            entry.change = index_of(changes.len());
            changes.push(Change { neighbour, n_slots: 1, weight });
            return;
        }
        let change = &mut changes[entry.change as usize];
        change.weight += weight;
        change.n_slots += 1;
    }

    /// Adds changes up by neighbour, which replace those that `sums` holds.
    pub(super) fn add_all<'c>(
        &mut self,
        sums: &mut Vec<Change>,
        changes: impl Iterator<Item = &'c Change>,
    ) {
        sums.clear();
        changes.for_each(|change| self.add(sums, change.neighbour, change.weight));
        self.end(sums);
    }

    /// Forgets where the sums of these changes stand.
    fn end(&mut self, changes: &[Change]) {
        changes.iter().for_each(|change| self.entries[change.neighbour as usize] = EMPTY);
    }

    /// Makes lists for the places of the pairs that neighbours make, as `created` says, and lets these be found.
    fn begin_lists(
        &mut self,
        created: &[(TokenId, PairIndex)],
        changes: &[Change],
        places: &mut Places,
    ) {
        created.iter().for_each(|&(neighbour, pair)| self.entry(neighbour).pair = pair);
        for change in changes {
            if let Some(pair) = self.pair(change.neighbour) {
                places.make(pair, change.n_slots as usize);
            }
        }
    }

    /// The pair that a neighbour makes, where its places are listed.
    #[inline]
    fn pair(&self, neighbour: TokenId) -> Option<PairIndex> {
        let pair = self.entries.get(neighbour as usize)?.pair;
        (pair != NO_PAIR).then_some(pair)
    }

    /// Lets the pairs no longer be found.
    fn end_lists(&mut self, created: &[(TokenId, PairIndex)]) {
        created.iter().for_each(|&(neighbour, _)| self.entries[neighbour as usize] = EMPTY);
    }

    #[inline]
    fn entry(&mut self, id: TokenId) -> &mut Entry {
        let id = id as usize;
        if self.entries.len() <= id {
            self.entries.resize(id + 1, EMPTY);
        }
        &mut self.entries[id]
    }
}
