//! What one thread does with its share of the corpus: survey it, and merge in it.
//!
//! A **survey** makes the row anew and finds where the pairs occur that are at least as frequent as the floor, in
//! three passes: sketch all pairs, tally those that the sketch leaves, list the places of those that are frequent
//! in the whole corpus. A **batch** of merges takes two steps: `apply` rewrites all places and says what it did to
//! the neighbouring pairs; `list` notes where the new pairs occur that the whole corpus made frequent.
//!
//! A merge of (a, b) into c changes, at each place `x a b y`, the pairs (x, a) and (b, y) and the new (x, c) and
//! (c, y). Changes are summed by neighbour in arrays indexed by token id, so what is looked up is paid once for
//! each distinct neighbour, not for each place. Where places touch, `a b a b`, one (b, a) goes and one (c, c)
//! comes. Linear in slots for a survey and in places for a batch.

use super::pairs::PairIndex;
use super::places::{List, Places};
use super::plan::{Job, Plan, Step};
use super::row::Row;
use super::sketch::Sketch;
use crate::pair_map::{PairMap, pair_key, pair_of};
use crate::slots::BARRIER;
use crate::vocabulary::TokenId;

/// A part of the corpus, the places of its frequent pairs, and the outcome of the last step.
pub(super) struct Share {
    row: Row,
    places: Places,
    pub(super) sketch: Sketch,
    pub(super) tallies: Tallies,
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

/// How often pairs occur here, for those that the sketch left.
#[derive(Default)]
pub(super) struct Tallies {
    by_key: Option<PairMap<u32>>,
    entries: Vec<Tally>,
}

#[derive(Clone, Copy)]
pub(super) struct Tally {
    key: u64,
    pub(super) count: i64,
    n_slots: u32,
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

/// The places next to one neighbour.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) neighbour: TokenId,
    n_slots: u32,
    pub(super) weight: i64,
}

/// Changes while they are summed up, by neighbour.
#[derive(Default)]
struct Sums {
    /// By token id. All empty between jobs.
    sums: Vec<Sum>,
    /// The ids whose sum is not empty, in the order in which they were met.
    touched: Vec<TokenId>,
}

#[derive(Clone, Copy)]
struct Sum {
    weight: i64,
    n_slots: u32,
    /// The pair that the neighbour makes, where its places are wanted.
    pair: PairIndex,
}

const NO_PAIR: PairIndex = PairIndex::MAX;
const EMPTY: Sum = Sum { weight: 0, n_slots: 0, pair: NO_PAIR };

impl Share {
    pub(super) fn new(row: Row) -> Self {
        Self {
            row,
            places: Places::default(),
            sketch: Sketch::default(),
            tallies: Tallies::default(),
            outcomes: Vec::new(),
            sums: Sides::default(),
        }
    }

    /// Does a step of the plan.
    pub(super) fn perform(&mut self, plan: &Plan) {
        match plan.step {
            Step::Sketch => self.make_sketch(plan),
            Step::Tally => self.make_tallies(plan),
            Step::Place => self.make_places(plan),
            Step::Apply => {
                self.outcomes.resize_with(plan.jobs.len(), Outcome::default);
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

    fn make_sketch(&mut self, plan: &Plan) {
        self.places.clear();
        self.row.compact(&plan.lengths);
        let mut sketch = Sketch::new(plan.n_slots, plan.lengths.len());
        self.row.for_each_pair(|pair| sketch.add(pair.left, pair.right, pair.weight));
        self.sketch = sketch;
    }

    fn make_tallies(&mut self, plan: &Plan) {
        let (mut by_key, mut entries) = (PairMap::with_capacity(1 << 8), Vec::new());
        self.row.for_each_pair(|pair| {
            if plan.sketch.most(pair.left, pair.right) < plan.floor {
                return;
            }
            let key = pair_key(pair.left, pair.right);
            let index = by_key.get(key).unwrap_or_else(|| {
                let index = index_of(entries.len());
                entries.push(Tally { key, count: 0, n_slots: 0 });
                by_key.insert(key, index);
                index
            });
            let tally = &mut entries[index as usize];
            tally.count += pair.weight;
            tally.n_slots += 1;
        });
        self.tallies = Tallies { by_key: Some(by_key), entries };
    }

    /// Lists the places of the pairs of the plan.
    fn make_places(&mut self, plan: &Plan) {
        let tallies = std::mem::take(&mut self.tallies);
        let Some(by_key) = tallies.by_key else { return };
        let pair_of_tally = |tally: &Tally| {
            let (left, right) = tally.tokens();
            plan.pairs.index(left, right).unwrap_or(NO_PAIR)
        };
        let pairs: Vec<_> = tallies.entries.iter().map(pair_of_tally).collect();
        for (tally, &pair) in
            tallies.entries.iter().zip(&pairs).filter(|(_, pair)| **pair != NO_PAIR)
        {
            self.places.make(pair, tally.n_slots as usize);
        }
        let places = &mut self.places;
        self.row.for_each_pair(|pair| {
            if plan.sketch.most(pair.left, pair.right) < plan.floor {
                return;
            }
            let index =
                by_key.get(pair_key(pair.left, pair.right)).map(|index| pairs[index as usize]);
            if let Some(index) = index.filter(|&index| index != NO_PAIR) {
                places.push(index, pair.slot);
            }
        });
    }

    /// Merges one pair wherever it still is.
    fn apply(&mut self, plan: &Plan, index: usize) {
        let job = &plan.jobs[index];
        let merged = self.merge(job);
        let outcome = &mut self.outcomes[index];
        (outcome.merged, outcome.n_fewer) = (merged, 0);
        outcome.touching = Change::default();
        for &slot in self.places.slots(merged) {
            let slot = slot as usize;
            let weight = self.row.weight_at(slot);
            outcome.n_fewer += weight;
            let before = self.row.token_before(slot);
            if before == job.result {
                outcome.touching.n_slots += 1;
                outcome.touching.weight += weight;
            } else if before != BARRIER {
                self.sums.left.add(before, weight);
            }
            let after = self.row.token_at(slot + job.result_len);
            if after != job.result && after != BARRIER {
                self.sums.right.add(after, weight);
            }
        }
        self.sums.left.drain_to(&mut outcome.changes.left);
        self.sums.right.drain_to(&mut outcome.changes.right);
    }

    /// Rewrites the places of a pair, left to right; gives those where it was.
    fn merge(&mut self, job: &Job) -> List {
        let Job { left, right, left_len, result, result_len, .. } = *job;
        let list = self.places.take(job.pair);
        let row = &mut self.row;
        if left == right {
            return self.places.filter(list, |slot| {
                let is_there = row.has_pair(slot as usize, left, left_len, right);
                if is_there {
                    row.merge_at(slot as usize, left_len, result, result_len);
                }
                is_there
            });
        }
        // Places of different tokens never overlap, so all can be looked for before any is changed.
        let there =
            self.places.filter(list, |slot| row.has_pair(slot as usize, left, left_len, right));
        let slots = self.places.slots(there).iter();
        slots.for_each(|&slot| row.merge_at(slot as usize, left_len, result, result_len));
        there
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
        self.sums.left.want(&created.sides.left);
        self.sums.right.want(&created.sides.right);
        for (sums, changes) in
            [(&self.sums.left, &outcome.changes.left), (&self.sums.right, &outcome.changes.right)]
        {
            for change in changes {
                let pair = sums.pair(change.neighbour);
                if pair != NO_PAIR {
                    self.places.make(pair, change.n_slots as usize);
                }
            }
        }
        if let Some(pair) = created.twice {
            self.places.make(pair, outcome.touching.n_slots as usize);
        }
        for place in 0..self.places.slots(outcome.merged).len() {
            let slot = self.places.slots(outcome.merged)[place];
            let before = self.row.token_before(slot as usize);
            if before < job.result {
                let pair = self.sums.left.pair(before);
                if pair != NO_PAIR {
                    self.places.push(pair, slot - index_of(plan.length(before)));
                }
            } else if before == job.result
                && let Some(pair) = created.twice
            {
                self.places.push(pair, slot - index_of(job.result_len));
            }
            let after = self.row.token_at(slot as usize + job.result_len);
            if after < job.result {
                let pair = self.sums.right.pair(after);
                if pair != NO_PAIR {
                    self.places.push(pair, slot);
                }
            }
        }
        self.sums.left.unwant(&created.sides.left);
        self.sums.right.unwant(&created.sides.right);
    }
}

impl Tallies {
    pub(super) fn iter(&self) -> impl Iterator<Item = &Tally> {
        self.entries.iter()
    }
}

impl Tally {
    /// The two tokens of the pair.
    pub(super) fn tokens(&self) -> (TokenId, TokenId) {
        pair_of(self.key)
    }
}

impl Sums {
    #[inline]
    fn add(&mut self, id: TokenId, weight: i64) {
        self.make_room(id);
        let sum = &mut self.sums[id as usize];
        if sum.n_slots == 0 {
            self.touched.push(id);
        }
        sum.weight += weight;
        sum.n_slots += 1;
    }

    /// Moves all sums to a list.
    fn drain_to(&mut self, changes: &mut Vec<Change>) {
        changes.clear();
        for neighbour in self.touched.drain(..) {
            let sum = std::mem::replace(&mut self.sums[neighbour as usize], EMPTY);
            changes.push(Change { neighbour, n_slots: sum.n_slots, weight: sum.weight });
        }
    }

    /// Notes which neighbours make pairs whose places are wanted.
    fn want(&mut self, created: &[(TokenId, PairIndex)]) {
        for &(neighbour, pair) in created {
            self.make_room(neighbour);
            self.sums[neighbour as usize].pair = pair;
        }
    }

    fn unwant(&mut self, created: &[(TokenId, PairIndex)]) {
        created.iter().for_each(|&(neighbour, _)| self.sums[neighbour as usize].pair = NO_PAIR);
    }

    /// The pair that a neighbour makes, where its places are wanted.
    #[inline]
    fn pair(&self, neighbour: TokenId) -> PairIndex {
        self.sums.get(neighbour as usize).map_or(NO_PAIR, |sum| sum.pair)
    }

    #[inline]
    fn make_room(&mut self, id: TokenId) {
        if self.sums.len() <= id as usize {
            self.sums.resize(id as usize + 1, EMPTY);
        }
    }
}

/// The index of something of which there are fewer than slots in a row.
#[expect(clippy::cast_possible_truncation, reason = "a row has fewer than 2^32 slots")]
fn index_of(index: usize) -> u32 {
    index as u32
}
