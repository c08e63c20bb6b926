//! Surveys of the corpus, and batches of merges between them.
//!
//! ```text
//! until enough merges are made:
//!     while no known pair reaches the floor, and the floor can fall:
//!         survey: lower the floor; find all pairs that reach it now, and their places
//!     choose a batch of the best pairs
//!     make its merges; their counts fall, and new pairs that reach the floor become known
//! ```
//!
//! *Invariant:* every pair that reaches the floor and may be merged is known, with its exact count. A merge only
//! removes occurrences of old pairs, and a pair with a new token is counted when that token is made. So a pair below
//! the floor stays below it until the floor falls.
//!
//! The many pairs that are never chosen cost a few additions in each survey: they are never in a list, a table or a
//! queue. A survey walks the whole corpus, and there are two to five surveys in all. Batches touch only the places of
//! their pairs and the neighbours.

use super::choose::{Batches, Ranking};
use super::limits::TokenFilter;
use super::pairs::{PairCount, PairIndex, Pairs};
use super::plan::{Created, Plan, Sides, Step, Workers};
use super::share::{Change, Share, Sums};
use super::survey::{self, Sketch};
use super::{Ties, TrainOptions};
use crate::error::Result;
use crate::units::Units;
use crate::vocabulary::{Merge, TokenId, Vocabulary};

/// How far the floor is below the most frequent pair if there are many slots, and lists of places are large.
const FLOOR_RATIO: i64 = if crate::SMALL { 3 } else { 32 };
/// How far the first floors are below the most frequent pair, while tokens are bytes or little more. A few pairs of
/// these are far more frequent than the others, and a survey for the pairs in between would not pay.
const FIRST_FLOOR_RATIO: i64 = if crate::SMALL { 5 } else { 1 << 10 };
/// How far any floor is below the most frequent pair if there are few slots. Lists are cheap then compared with
/// surveys, so two surveys are enough.
const LOW_FLOOR_RATIO: i64 = if crate::SMALL { 8 } else { 1 << 15 };
/// From this many slots on, a row does not fit the nearer caches.
const N_MANY_SLOTS: usize = if crate::SMALL { 64 } else { 1 << 21 };
/// A floor that is up to this many times lower costs less than another survey.
const NEAR_RATIO: i64 = 4;
/// How many pairs are wanted for each merge that is left: some pairs will be broken up by other merges. If too few are
/// found, another survey of all slots has to follow for a few merges.
const N_PAIRS_PER_MERGE: usize = 2;
/// The floor falls by at least one part in this many.
const LEAST_FALL: i64 = 3;
/// From this many places on, the other threads take part in a batch. In tests they do for some batches.
const MIN_SHARED_PLACES: usize = if crate::SMALL { 4 } else { 500 };
/// From this many places on, sleeping threads are woken for a batch, which takes some tens of microseconds.
const MIN_PLACES_TO_WAKE: usize = if crate::SMALL { 4 } else { 8000 };

/// Chooses merges, and makes them with all threads.
pub(super) struct Engine<'e> {
    workers: &'e Workers,
    units: &'e Units,
    batches: Batches,
    min_count: i64,
    /// Sum up the changes of all shares for one merge.
    sums: Sides<Sums>,
    changes: Sides<Vec<Change>>,
    n_corpus_tokens: i64,
}

/// A merge that was made.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub(super) count: i64,
    /// The length of the corpus in tokens after it.
    pub(super) n_corpus_tokens: i64,
}

impl<'e> Engine<'e> {
    pub(super) fn new(
        workers: &'e Workers,
        filter: TokenFilter,
        units: &'e Units,
        options: &TrainOptions,
        n_corpus_tokens: i64,
    ) -> Self {
        Self {
            workers,
            units,
            batches: Batches::new(Ranking::new(options.ties), filter),
            min_count: options.min_count.max(1),
            sums: Sides::default(),
            changes: Sides::default(),
            n_corpus_tokens,
        }
    }

    /// Learns the tokens that training begins with. Must come first.
    pub(super) fn begin(&mut self, vocabulary: &Vocabulary) -> Result<()> {
        vocabulary.iter().try_for_each(|(id, _)| self.learn(id, vocabulary))
    }

    /// Whether a limit or the tie rule reads the bytes of tokens.
    fn reads_tokens(&self) -> bool {
        !self.batches.filter.is_idle() || self.batches.ranking.ties == Ties::LargestText
    }

    /// Merges the next pairs, at most `max_len`, and appends them to the vocabulary. Merges none if no pair is left
    /// that reaches the minimum count.
    pub(super) fn merge_next(
        &mut self,
        max_len: usize,
        vocabulary: &mut Vocabulary,
    ) -> Result<Vec<Done>> {
        let (workers, mut plan) = (self.workers, self.workers.plan_mut());
        while plan.floor > self.min_count && self.batches.ranking.best(&plan, workers).is_none() {
            drop(plan);
            self.survey(self.min_count, max_len)?;
            plan = workers.plan_mut();
        }
        self.batches.choose(max_len, &mut plan, workers)?;
        vocabulary.push_new_merges(plan.jobs.iter().map(|job| Merge {
            left: job.left,
            right: job.right,
            result: job.result,
        }))?;
        plan.jobs.iter().try_for_each(|job| self.learn(job.result, vocabulary))?;
        drop(plan);
        let done = self.merge_batch();
        self.batches.filter.check()?;
        Ok(done)
    }

    /// The count of the best pair, after [`Self::merge_next`] has found none that is frequent enough.
    pub(super) fn best_count(&mut self) -> Result<i64> {
        if self.min_count == 1 {
            return Ok(0);
        }
        // Pairs that are not allowed may be more frequent than all allowed ones, and keep the floor high.
        loop {
            self.survey(1, usize::MAX)?;
            let plan = self.workers.plan();
            let best = self.batches.ranking.best(&plan, self.workers);
            if best.is_some() || plan.floor <= 1 {
                return Ok(best.map_or(0, |best| plan.pairs.count(best)));
            }
        }
    }

    /// Lowers the floor, but not below `lowest`, and finds the pairs above it: as many as `n_left` merges may need.
    ///
    /// # Errors
    /// Those of a veto.
    fn survey(&mut self, lowest: i64, n_left: usize) -> Result<()> {
        let n_wanted = n_left.saturating_mul(N_PAIRS_PER_MERGE);
        let workers = self.workers;
        workers.step_in_parallel(Step::Compact);
        workers.plan_mut().n_slots = workers.shares().map(|share| share.n_slots()).sum();
        workers.step_in_parallel(Step::Look);
        let mut plan = workers.plan_mut();
        plan.lengths.fill(1);
        let is_exact = survey::is_exact(plan.lengths.len());
        if !is_exact {
            plan.sketch = self.sum_sketches();
            let enough = plan.sketch.exceeded_by(n_wanted) + 1;
            plan.floor = floor_below(plan.sketch.most(), FLOOR_RATIO, enough, &plan, lowest);
            drop(plan);
            workers.step_in_parallel(Step::Tally);
            plan = workers.plan_mut();
            // The next survey reuses its memory.
            if let Some(mut share) = workers.shares().next() {
                share.survey.sketch = std::mem::take(&mut plan.sketch);
            }
        }
        let tallies = self.sum_tallies();
        if is_exact {
            let mut counts: Vec<_> = tallies.iter().map(|pair| pair.count).collect();
            counts.sort_unstable_by(|one, other| other.cmp(one));
            let enough = counts.get(n_wanted).map_or(1, |count| count + 1);
            let highest = counts.first().copied();
            plan.floor = floor_below(highest, FIRST_FLOOR_RATIO, enough, &plan, lowest);
        }
        plan.pairs = self.frequent_pairs(&tallies, plan.floor);
        drop(plan);
        workers.step_in_parallel(Step::Place);
        let plan = workers.plan();
        self.batches.ranking.clear();
        (0..)
            .take(plan.pairs.len())
            .for_each(|pair| self.batches.ranking.push(pair, &plan, workers));
        self.batches.filter.check()
    }

    fn sum_sketches(&self) -> Sketch {
        let sketches =
            self.workers.shares().map(|mut share| std::mem::take(&mut share.survey.sketch));
        let sum = sketches.reduce(|mut sum, sketch| {
            sum.merge(&sketch);
            sum
        });
        sum.unwrap_or_default()
    }

    /// The count of each tallied pair in the whole corpus.
    fn sum_tallies(&self) -> Vec<PairCount> {
        let shares: Vec<_> = self.workers.shares().collect();
        if let [share] = &shares[..] {
            return share.survey.counts().collect();
        }
        let mut sums = Pairs::with_capacity(0);
        for pair in shares.iter().flat_map(|share| share.survey.counts()) {
            sums.add(pair.left, pair.right, pair.count);
        }
        sums.iter().collect()
    }

    /// The pairs that reach the floor and may be merged.
    fn frequent_pairs(&self, counts: &[PairCount], floor: i64) -> Pairs {
        let is_frequent = |pair: &&PairCount| {
            pair.count >= floor && self.batches.filter.allows(pair.left, pair.right)
        };
        let frequent: Vec<_> = counts.iter().filter(is_frequent).collect();
        let mut pairs = Pairs::with_capacity(frequent.len() * 2);
        for pair in frequent {
            pairs.push(pair.left, pair.right, pair.count);
        }
        pairs
    }

    /// Makes the merges of the plan.
    fn merge_batch(&mut self) -> Vec<Done> {
        let workers = self.workers;
        let n_worth = if workers.is_asleep() { MIN_PLACES_TO_WAKE } else { MIN_SHARED_PLACES };
        let is_much = self.n_places() >= n_worth;
        let take = |step| {
            if is_much { workers.step_in_parallel(step) } else { workers.step_in_turn(step) }
        };
        take(Step::Apply);
        let done = self.settle();
        let has_created = workers.plan().created.iter().any(|created| !created.is_empty());
        if has_created {
            take(Step::List);
        }
        let plan = workers.plan();
        for created in plan.created.iter().take(plan.jobs.len()) {
            created.pairs().for_each(|pair| self.batches.ranking.push(pair, &plan, workers));
        }
        done
    }

    /// The number of places that the batch will look at.
    fn n_places(&self) -> usize {
        let plan = self.workers.plan();
        let n_places =
            |share: &Share| plan.jobs.iter().map(|job| share.n_places(job.pair)).sum::<usize>();
        self.workers.shares().map(|share| n_places(&share)).sum()
    }

    /// Applies what the merges of the batch did in all shares to the counts, in the order of the merges.
    fn settle(&mut self) -> Vec<Done> {
        let workers = self.workers;
        let (mut plan, shares) = (workers.plan_mut(), workers.shares().collect::<Vec<_>>());
        let n_jobs = plan.jobs.len();
        let most = n_jobs.max(plan.created.len());
        plan.created.resize_with(most, Created::default);
        let mut done = Vec::with_capacity(n_jobs);
        for share in &shares {
            plan.pairs.prefetch(plan.jobs.iter().zip(&share.outcomes).flat_map(
                |(job, outcome)| {
                    let Sides { left, right } = &outcome.changes;
                    let before = left.iter().map(|change| (change.neighbour, job.left));
                    before.chain(right.iter().map(|change| (job.right, change.neighbour)))
                },
            ));
        }
        for index in 0..n_jobs {
            let outcomes = || shares.iter().map(|share| &share.outcomes[index]);
            let touching = outcomes().map(|outcome| outcome.touching.weight).sum();
            self.n_corpus_tokens -= outcomes().map(|outcome| outcome.n_fewer).sum::<i64>();
            if let [share] = &shares[..] {
                let changes = &share.outcomes[index].changes;
                self.change_pairs(&mut plan, index, changes, touching);
            } else {
                let mut changes = std::mem::take(&mut self.changes);
                let (left, right) = (&mut changes.left, &mut changes.right);
                self.sums.left.add_all(left, outcomes().flat_map(|it| &it.changes.left));
                self.sums.right.add_all(right, outcomes().flat_map(|it| &it.changes.right));
                self.change_pairs(&mut plan, index, &changes, touching);
                self.changes = changes;
            }
            let count = plan.jobs[index].count;
            done.push(Done { count, n_corpus_tokens: self.n_corpus_tokens });
        }
        // The pairs of jobs of earlier batches must not be listed.
        plan.created.iter_mut().skip(n_jobs).for_each(Created::clear);
        done
    }

    /// Decreases the counts of the pairs that a merge has broken up, and keeps the pairs of the new token that reach
    /// the floor.
    fn change_pairs(
        &self,
        plan: &mut Plan,
        index: usize,
        changes: &Sides<Vec<Change>>,
        touching: i64,
    ) {
        let (job, created, pairs) = (plan.jobs[index], &mut plan.created[index], &mut plan.pairs);
        let (floor, filter) = (plan.floor, &self.batches.filter);
        created.clear();
        let kept = |pairs: &mut Pairs, left, right, weight| -> Option<PairIndex> {
            let is_kept = weight >= floor && filter.allows(left, right);
            is_kept.then(|| pairs.push(left, right, weight))
        };
        for &Change { neighbour: before, weight, .. } in &changes.left {
            pairs.decrease(before, job.left, weight);
            let pair = kept(pairs, before, job.result, weight);
            created.sides.left.extend(pair.map(|pair| (before, pair)));
        }
        for &Change { neighbour: after, weight, .. } in &changes.right {
            pairs.decrease(job.right, after, weight);
            let pair = kept(pairs, job.result, after, weight);
            created.sides.right.extend(pair.map(|pair| (after, pair)));
        }
        pairs.decrease(job.right, job.left, touching);
        created.twice = kept(pairs, job.result, job.result, touching);
        // A pair of equal tokens has no occurrence left either, whatever was counted above.
        pairs.set_merged(job.pair);
    }

    fn learn(&mut self, id: TokenId, vocabulary: &Vocabulary) -> Result<()> {
        if !self.reads_tokens() {
            return Ok(());
        }
        let token = vocabulary.expect_token(id)?;
        self.batches.filter.learn(id, token, self.units);
        self.batches.ranking.learn(id, &self.units.written(token));
        Ok(())
    }
}

/// The next floor: a fraction of the highest count, or of the old floor if that is lower or the count is unknown. If
/// `enough`, the floor with enough pairs, is higher or not much lower, it is `enough`.
fn floor_below(highest: Option<i64>, ratio: i64, enough: i64, plan: &Plan, lowest: i64) -> i64 {
    let ratio = if plan.n_slots < N_MANY_SLOTS { LOW_FLOOR_RATIO } else { ratio };
    let fraction = highest.map_or(plan.floor, |highest| highest.min(plan.floor)) / ratio;
    let floor = if fraction / NEAR_RATIO < enough { enough } else { fraction };
    floor.min(plan.floor - (plan.floor / LEAST_FALL).max(1)).max(lowest)
}
