//! Surveys of the corpus, and batches of merges between them.
//!
//! ```text
//! until enough merges are made:
//!     choose a group, if there are several (`parity`)
//!     while no known pair reaches the floor, and the floor can fall:
//!         survey: lower the floor; find all pairs that reach it now, and their places
//!     choose a batch of the best pairs
//!     make its merges; their counts fall, and new pairs that reach the floor become known
//! ```
//!
//! *Invariant:* every pair that reaches the floor of a group and may be merged is known, with its exact count in each
//! group. A merge only removes occurrences of old pairs, and a pair with a new token is counted when that token is made.
//! So a pair below the floor stays below it until the floor falls.
//!
//! The many pairs that are never chosen cost a few additions in each survey: they are never in a list, a table or a
//! queue. A survey walks the whole corpus, and there are two to five surveys in all. Batches touch only the places of
//! their pairs and the neighbours.

use std::ops::Range;
use std::sync::MutexGuard;

use super::choose::{Batches, Ranking};
use super::limits::TokenFilter;
use super::pairs::{PairCount, PairIndex, Pairs};
use super::parity::{GroupLength, Needs};
use super::plan::{Created, Job, Plan, Sides, Step, Workers};
use super::share::{Change, Share, Sums};
use super::start::Begun;
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
/// Of several groups, each may choose so many times its equal share of the merges before another survey has to follow.
/// Lists for all merges in every group would take twice the memory.
const N_EQUAL_SHARES: usize = 2;
/// And so many pairs more, so that the last merges do not need a survey each.
const N_SPARE_PAIRS: usize = if crate::SMALL { 1 } else { 1000 };
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
    /// The ranking by the whole corpus; or, if groups choose in turn, one for each, and then that by the whole corpus
    /// while it chooses.
    rankings: Vec<Ranking>,
    ties: Ties,
    min_count: i64,
    /// By group: its shares.
    groups: Vec<Range<usize>>,
    needs: Option<Needs>,
    /// By group: the shares whose length measures its need. Empty if there is one group.
    measured: Vec<Range<usize>>,
    /// The group that chooses now; `None` if all do.
    chooser: Option<usize>,
    /// Sum up the changes of all shares for one merge.
    sums: Sides<Sums>,
    changes: Sides<Vec<Change>>,
    n_corpus_tokens: i64,
}

/// Who chooses the next merges: the index of a ranking.
struct Turn {
    ranking: usize,
    max_len: usize,
}

/// A merge that was made.
#[derive(Clone, Copy)]
pub(super) struct Done {
    pub(super) count: i64,
    /// The group that chose it; `None` if all did.
    pub(super) group: Option<usize>,
    /// The length of the corpus in tokens after it.
    pub(super) n_corpus_tokens: i64,
}

impl<'e> Engine<'e> {
    /// An engine for groups, which may be followed by their parallel texts.
    pub(super) fn new(
        workers: &'e Workers,
        filter: TokenFilter,
        units: &'e Units,
        options: &TrainOptions,
        mut groups: Vec<Begun>,
    ) -> Self {
        let parallel = groups.split_off(workers.plan().floors().len());
        let n_corpus_tokens = groups.iter().map(|group| group.n_tokens).sum();
        let measured = if parallel.is_empty() { groups.clone() } else { parallel };
        let lengths = measured.iter().map(|text| text.length).collect();
        let needs = options.parity.clone().map(|parity| Needs::new(parity, lengths));
        let shares = |texts: Vec<Begun>| texts.into_iter().map(|text| text.shares).collect();
        let (groups, measured): (Vec<_>, Vec<_>) = (shares(groups), shares(measured));
        let n_shares = groups.last().map_or(0, |shares| shares.end);
        let by_group = groups.iter().enumerate().filter(|_| needs.is_some());
        let by_group = by_group.map(|(group, shares)| (Some(group), shares.clone()));
        let rankings = by_group.chain([(None, 0..n_shares)]);
        Self {
            workers,
            units,
            batches: Batches::new(filter, options.min_count.max(1)),
            rankings: rankings
                .map(|(group, shares)| Ranking::new(options.ties, group, shares))
                .collect(),
            ties: options.ties,
            min_count: options.min_count.max(1),
            groups,
            needs,
            measured,
            chooser: None,
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
        !self.batches.filter.is_idle() || self.ties == Ties::LargestText
    }

    /// Merges the next pairs, at most `max_len`, and appends them to the vocabulary. Merges none if no pair is left
    /// that reaches the minimum count.
    pub(super) fn merge_next(
        &mut self,
        max_len: usize,
        vocabulary: &mut Vocabulary,
    ) -> Result<Vec<Done>> {
        let Some(turn) = self.next_turn(max_len, vocabulary.merges().len())? else {
            return Ok(Vec::new());
        };
        let (workers, mut plan) = (self.workers, self.workers.plan_mut());
        let ranking = &mut self.rankings[turn.ranking];
        self.chooser = ranking.group;
        self.batches.choose(ranking, turn.max_len, &mut plan, workers)?;
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

    /// Who chooses after `n_merges`, at most `n_left` merges; `None` if no pair is left that reaches the minimum count.
    ///
    /// # Errors
    /// Those of a veto.
    fn next_turn(&mut self, n_left: usize, n_merges: usize) -> Result<Option<Turn>> {
        let n_global = self.needs.as_ref().map_or(n_left, |needs| needs.n_global_left(n_merges));
        let (order, max_len, lowest) = match &self.needs {
            Some(needs) if n_global == 0 => {
                self.rankings.truncate(self.groups.len());
                (needs.order(), 1, self.min_count)
            }
            _ => {
                // A pair that occurs this often in all groups may be rarer in each.
                let n_groups = i64::try_from(self.groups.len()).unwrap_or(i64::MAX);
                let lowest = (self.min_count - 1) / n_groups + 1;
                (vec![self.rankings.len() - 1], n_global.min(n_left), lowest)
            }
        };
        while let Some(ranking) = self.first_able(&order) {
            if self.has_frequent(ranking) {
                let group = self.rankings[ranking].group;
                self.needs.iter_mut().zip(group).for_each(|(needs, group)| needs.record(group));
                return Ok(Some(Turn { ranking, max_len }));
            }
            self.survey(lowest, n_left)?;
        }
        Ok(None)
    }

    /// The first of these rankings that has a frequent pair, or may have one below its floor.
    fn first_able(&mut self, order: &[usize]) -> Option<usize> {
        order.iter().copied().find(|&ranking| {
            self.has_frequent(ranking) || {
                let plan = self.workers.plan();
                let ranking = &mut self.rankings[ranking];
                ranking.best(&plan, self.workers).is_none()
                    && plan.floor(ranking.group) > self.min_count
            }
        })
    }

    /// Whether the best pair of a ranking reaches the floor and the minimum count.
    fn has_frequent(&mut self, ranking: usize) -> bool {
        let (plan, ranking) = (self.workers.plan(), &mut self.rankings[ranking]);
        let best = ranking.best(&plan, self.workers);
        best.is_some_and(|best| ranking.count(best, &plan) >= self.min_count)
    }

    /// By group: the length by which its need is measured.
    pub(super) fn lengths(&self) -> Vec<GroupLength> {
        self.needs.as_ref().map_or_else(Vec::new, |needs| needs.lengths.clone())
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
            let (mut highest, mut is_known) = (0, true);
            for ranking in &mut self.rankings {
                let best = ranking.best(&plan, self.workers);
                highest = best.map_or(0, |best| ranking.count(best, &plan)).max(highest);
                is_known &= best.is_some() || plan.floor(ranking.group) <= 1;
            }
            if is_known {
                return Ok(highest);
            }
        }
    }

    /// Lowers the floor, but not below `lowest`, and finds the pairs above it: as many as `n_left` merges may need.
    ///
    /// # Errors
    /// Those of a veto.
    fn survey(&mut self, lowest: i64, n_left: usize) -> Result<()> {
        let n_wanted = n_left.saturating_mul(N_PAIRS_PER_MERGE);
        let n_shared = (n_wanted / self.groups.len()).saturating_mul(N_EQUAL_SHARES);
        let n_wanted = n_wanted.min(n_shared.saturating_add(N_SPARE_PAIRS));
        let workers = self.workers;
        workers.step_in_parallel(Step::Compact);
        workers.plan_mut().n_slots = workers.shares().map(|share| share.n_slots()).sum();
        workers.step_in_parallel(Step::Look);
        let mut plan = workers.plan_mut();
        plan.lengths.fill(1);
        let is_low = plan.n_slots < N_MANY_SLOTS;
        let ratio = |usual| if is_low { LOW_FLOOR_RATIO } else { usual };
        let is_exact = survey::is_exact(plan.lengths.len());
        if !is_exact {
            plan.sketches = self.groups.iter().map(|shares| self.sum_sketches(shares)).collect();
            let floors = plan.sketches.iter().zip(plan.floors()).map(|(sketch, &floor)| {
                let enough = sketch.exceeded_by(n_wanted) + 1;
                floor_below(sketch.most(), ratio(FLOOR_RATIO), enough, floor, lowest)
            });
            let floors = floors.collect();
            plan.set_floors(floors);
            drop(plan);
            workers.step_in_parallel(Step::Tally);
            plan = workers.plan_mut();
            // The next survey reuses its memory.
            let firsts = self.groups.iter().filter_map(|group| workers.shares_in(group).next());
            let sketches = plan.sketches.drain(..);
            firsts.zip(sketches).for_each(|(mut share, sketch)| share.survey.sketch = sketch);
        }
        let tallies: Vec<_> = self.groups.iter().map(|shares| self.sum_tallies(shares)).collect();
        if is_exact {
            let floors = tallies.iter().zip(plan.floors()).map(|(tallies, &floor)| {
                let mut counts: Vec<_> = tallies.iter().map(|pair| pair.count).collect();
                counts.sort_unstable_by(|one, other| other.cmp(one));
                let enough = counts.get(n_wanted).map_or(1, |count| count + 1);
                let highest = counts.first().copied();
                floor_below(highest, ratio(FIRST_FLOOR_RATIO), enough, floor, lowest)
            });
            let floors = floors.collect();
            plan.set_floors(floors);
        }
        plan.pairs = self.frequent_pairs(&tallies, plan.floors());
        drop(plan);
        workers.step_in_parallel(Step::Place);
        let plan = workers.plan();
        for ranking in &mut self.rankings {
            ranking.clear();
            (0..).take(plan.pairs.len()).for_each(|pair| ranking.push(pair, &plan, workers));
        }
        self.batches.filter.check()
    }

    /// The sketch of a group.
    fn sum_sketches(&self, shares: &Range<usize>) -> Sketch {
        let shares = self.workers.shares_in(shares);
        let sketches = shares.map(|mut share| std::mem::take(&mut share.survey.sketch));
        let sum = sketches.reduce(|mut sum, sketch| {
            sum.merge(&sketch);
            sum
        });
        sum.unwrap_or_default()
    }

    /// The count of each tallied pair in a group.
    fn sum_tallies(&self, shares: &Range<usize>) -> Vec<PairCount> {
        let shares: Vec<_> = self.workers.shares_in(shares).collect();
        if let [share] = &shares[..] {
            return share.survey.counts().collect();
        }
        let mut sums = Pairs::with_capacity(0, 1);
        for pair in shares.iter().flat_map(|share| share.survey.counts()) {
            sums.add(pair.left, pair.right, pair.count);
        }
        sums.iter().collect()
    }

    /// The pairs that reach the floor of a group and may be merged, from the counts in all groups.
    fn frequent_pairs(&self, counts: &[Vec<PairCount>], floors: &[i64]) -> Pairs {
        let filter = &self.batches.filter;
        let frequent = counts.iter().zip(floors).flat_map(|(counts, &floor)| {
            let is_frequent = move |pair: &&PairCount| {
                pair.count >= floor && filter.allows(pair.left, pair.right)
            };
            counts.iter().filter(is_frequent)
        });
        let frequent: Vec<_> = frequent.collect();
        let mut pairs = Pairs::with_capacity(frequent.len() * 2, floors.len());
        if let [_] = floors {
            for pair in frequent {
                pairs.push(pair.left, pair.right, pair.count);
            }
            return pairs;
        }
        for pair in frequent {
            pairs.add(pair.left, pair.right, 0);
        }
        for (group, counts) in counts.iter().enumerate() {
            counts.iter().for_each(|pair| pairs.change(pair.left, pair.right, group, pair.count));
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
            for ranking in &mut self.rankings {
                created.pairs().for_each(|pair| ranking.push(pair, &plan, workers));
            }
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
        plan.created.iter_mut().for_each(Created::clear);
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
            for group in 0..self.groups.len() {
                self.settle_group(&mut plan, index, group, &shares);
            }
            if self.groups.len() > 1 {
                self.count_created(&mut plan, index, &shares);
            }
            // A pair of equal tokens has no occurrence left either, whatever was counted above.
            let Job { pair, count, .. } = plan.jobs[index];
            plan.pairs.set_merged(pair);
            let n_fewer = |range: &Range<usize>| -> i64 {
                shares[range.clone()].iter().map(|share| share.outcomes[index].n_fewer).sum()
            };
            let lengths = self.needs.iter_mut().flat_map(|needs| &mut needs.lengths);
            lengths
                .zip(&self.measured)
                .for_each(|(length, range)| length.current -= n_fewer(range));
            let (n_corpus_tokens, group) = (self.n_corpus_tokens, self.chooser);
            done.push(Done { count, group, n_corpus_tokens });
        }
        done
    }

    /// Applies what a merge did in the shares of a group to the counts.
    fn settle_group(
        &mut self,
        plan: &mut Plan,
        index: usize,
        group: usize,
        shares: &[MutexGuard<'_, Share>],
    ) {
        let shares = &shares[self.groups[group].clone()];
        let outcomes = || shares.iter().map(|share| &share.outcomes[index]);
        let touching = outcomes().map(|outcome| outcome.touching.weight).sum();
        self.n_corpus_tokens -= outcomes().map(|outcome| outcome.n_fewer).sum::<i64>();
        if let [share] = shares {
            let changes = &share.outcomes[index].changes;
            self.change_pairs(plan, index, group, changes, touching);
            return;
        }
        let mut changes = std::mem::take(&mut self.changes);
        let (left, right) = (&mut changes.left, &mut changes.right);
        self.sums.left.add_all(left, outcomes().flat_map(|it| &it.changes.left));
        self.sums.right.add_all(right, outcomes().flat_map(|it| &it.changes.right));
        self.change_pairs(plan, index, group, &changes, touching);
        self.changes = changes;
    }

    /// Decreases the counts in a group of the pairs that a merge has broken up, and keeps the pairs of the new token
    /// that reach its floor.
    #[expect(clippy::too_many_arguments, reason = "the loop of `settle_group`")]
    fn change_pairs(
        &self,
        plan: &mut Plan,
        index: usize,
        group: usize,
        changes: &Sides<Vec<Change>>,
        touching: i64,
    ) {
        let (job, floor) = (plan.jobs[index], plan.floors()[group]);
        let (created, pairs) = (&mut plan.created[index], &mut plan.pairs);
        let filter = &self.batches.filter;
        // With several groups, a pair may be kept already, and is counted when all groups have decided.
        let is_one = self.groups.len() == 1;
        let kept = |pairs: &mut Pairs, left, right, weight| -> Option<PairIndex> {
            let is_kept = weight >= floor
                && (is_one || pairs.index(left, right).is_none())
                && filter.allows(left, right);
            is_kept.then(|| pairs.push(left, right, if is_one { weight } else { 0 }))
        };
        for &Change { neighbour: before, weight, .. } in &changes.left {
            pairs.change(before, job.left, group, -weight);
            let pair = kept(pairs, before, job.result, weight);
            created.sides.left.extend(pair.map(|pair| (before, pair)));
        }
        for &Change { neighbour: after, weight, .. } in &changes.right {
            pairs.change(job.right, after, group, -weight);
            let pair = kept(pairs, job.result, after, weight);
            created.sides.right.extend(pair.map(|pair| (after, pair)));
        }
        pairs.change(job.right, job.left, group, -touching);
        created.twice = created.twice.or(kept(pairs, job.result, job.result, touching));
    }

    /// Counts the pairs that a merge has created, in each of several groups.
    fn count_created(&self, plan: &mut Plan, index: usize, shares: &[MutexGuard<'_, Share>]) {
        let Plan { pairs, jobs, .. } = plan;
        let result = jobs[index].result;
        for (group, range) in self.groups.iter().enumerate() {
            let outcomes = || shares[range.clone()].iter().map(|share| &share.outcomes[index]);
            outcomes().flat_map(|outcome| &outcome.changes.left).for_each(|change| {
                pairs.change(change.neighbour, result, group, change.weight);
            });
            outcomes().flat_map(|outcome| &outcome.changes.right).for_each(|change| {
                pairs.change(result, change.neighbour, group, change.weight);
            });
            let touching = outcomes().map(|outcome| outcome.touching.weight).sum();
            pairs.change(result, result, group, touching);
        }
    }

    fn learn(&mut self, id: TokenId, vocabulary: &Vocabulary) -> Result<()> {
        if !self.reads_tokens() {
            return Ok(());
        }
        let token = vocabulary.expect_token(id)?;
        self.batches.filter.learn(id, token, self.units);
        let text = self.units.written(token);
        self.rankings.iter_mut().for_each(|ranking| ranking.learn(id, &text));
        Ok(())
    }
}

/// The next floor: a fraction of the highest count, or of the old floor if that is lower or the count is unknown. If
/// `enough`, the floor with enough pairs, is higher or not much lower, it is `enough`.
fn floor_below(highest: Option<i64>, ratio: i64, enough: i64, floor: i64, lowest: i64) -> i64 {
    let fraction = highest.map_or(floor, |highest| highest.min(floor)) / ratio;
    let next = if fraction / NEAR_RATIO < enough { enough } else { fraction };
    next.min(floor - (floor / LEAST_FALL).max(1)).max(lowest)
}
