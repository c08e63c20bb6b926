//! The plan, which all threads read during a step, and the threads, which take the same step on their shares of the
//! corpus at the same time. The plan changes only between steps.
//!
//! Merging takes thousands of short steps, some microseconds each. So the threads live as long as training, spin for a
//! moment while they wait for the next step, and only then go to sleep. The training thread takes the first share
//! itself, and those for which the system gave no thread. The threads end with the training, so none outlives a `fork`.
//!
//! *Invariant:* a step begins when its number is stored and ends when every thread has counted itself. Between steps
//! only the training thread holds the locks, so no thread ever waits for a lock.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{self, Thread};

use super::pairs::{PairIndex, Pairs};
use super::row::MAX_IDS;
use super::share::Share;
use super::survey::Sketch;
use crate::error::{ErrorKind, Result};
use crate::vocabulary::TokenId;

/// What to do, and the data for it.
pub(super) struct Plan {
    pub(super) step: Step,
    /// By token id: the number of slots that a token covers.
    pub(super) lengths: Vec<u32>,
    /// The number of slots of all shares.
    pub(super) n_slots: usize,
    /// By group: upper bounds of the counts of pairs.
    pub(super) sketches: Vec<Sketch>,
    /// By group: pairs that occur less often in it are ignored until the next survey, unless they reach the floor of
    /// another group.
    floors: Vec<i64>,
    /// Every pair that occurs as often as this in all groups together reaches the floor of a group.
    floor: i64,
    /// The pairs that reach the floor of a group.
    pub(super) pairs: Pairs,
    /// The merges of a batch, in their order.
    pub(super) jobs: Vec<Job>,
    /// By job: the pairs of the new token that are kept.
    pub(super) created: Vec<Created>,
}

/// A step that every share takes independently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Compact the row.
    Compact,
    /// Look at its pairs.
    Look,
    /// Count the pairs that pass the sketch.
    Tally,
    /// List the places of the frequent pairs.
    Place,
    /// Merge a batch.
    Apply,
    /// List the places of the pairs that the batch created.
    List,
}

/// A pair to merge.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) pair: PairIndex,
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    /// In the whole corpus.
    pub(super) count: i64,
    /// The new token.
    pub(super) result: TokenId,
    /// The number of slots that the left token covers.
    pub(super) left_len: usize,
    /// The number of slots that both tokens cover.
    pub(super) result_len: usize,
}

/// A value for the neighbours before a pair, and one for those after it.
#[derive(Default)]
pub(super) struct Sides<T> {
    pub(super) left: T,
    pub(super) right: T,
}

/// The pairs of a new token that are kept, by the neighbour that makes them.
#[derive(Default)]
pub(super) struct Created {
    pub(super) sides: Sides<Vec<(TokenId, PairIndex)>>,
    /// The pair of the new token with itself.
    pub(super) twice: Option<PairIndex>,
}

impl Plan {
    /// A plan for tokens that cover one slot each, before any pair is counted, and groups with this many tokens. No pair
    /// occurs more often than there are tokens, so these are the first floors.
    pub(super) fn new(n_ids: usize, n_group_tokens: &[i64]) -> Self {
        let mut plan = Self {
            step: Step::Compact,
            lengths: vec![1; n_ids],
            n_slots: 0,
            sketches: Vec::new(),
            floors: Vec::new(),
            floor: 0,
            pairs: Pairs::with_capacity(0, n_group_tokens.len()),
            jobs: Vec::new(),
            created: Vec::new(),
        };
        plan.set_floors(n_group_tokens.to_vec());
        plan
    }

    pub(super) fn set_floors(&mut self, floors: Vec<i64>) {
        self.floor = floors.iter().map(|floor| floor - 1).sum::<i64>() + 1;
        self.floors = floors;
    }

    /// The floors of all groups.
    pub(super) fn floors(&self) -> &[i64] {
        &self.floors
    }

    /// The floor of a group, or of all groups together.
    pub(super) fn floor(&self, group: Option<usize>) -> i64 {
        group.map_or(self.floor, |group| self.floors[group])
    }

    /// Appends the merge of a pair to the batch; its token gets the next id.
    ///
    /// # Errors
    /// If no id is left.
    pub(super) fn push_job(&mut self, pair: PairIndex) -> Result<()> {
        let (left, right) = self.pairs.tokens(pair);
        let (left_len, result_len) = (self.length(left), self.length(left) + self.length(right));
        let result = next_id(self.lengths.len())?;
        let length = u32::try_from(result_len).map_err(|_| ErrorKind::TooManyTokens)?;
        self.lengths.push(length);
        let count = self.pairs.count(pair, None);
        self.jobs.push(Job { pair, left, right, count, result, left_len, result_len });
        Ok(())
    }

    /// The number of slots that a token covers.
    pub(super) fn length(&self, id: TokenId) -> usize {
        self.lengths[id as usize] as usize
    }
}

/// The id after this many others.
///
/// # Errors
/// If the id does not fit a slot of the row.
pub(super) fn next_id(n_ids: usize) -> Result<TokenId> {
    let id = TokenId::try_from(n_ids).ok().filter(|_| n_ids < MAX_IDS);
    let problem = || format!("training makes vocabularies of at most {MAX_IDS} ids; ask for fewer");
    id.ok_or_else(|| ErrorKind::TooLarge { problem: problem() }.into())
}

impl Created {
    pub(super) fn clear(&mut self) {
        self.sides.left.clear();
        self.sides.right.clear();
        self.twice = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs().next().is_none()
    }

    /// The pairs, in the order in which they were created.
    pub(super) fn pairs(&self) -> impl Iterator<Item = PairIndex> {
        let sides = self.sides.left.iter().chain(&self.sides.right);
        sides.map(|&(_, pair)| pair).chain(self.twice)
    }
}

/// The shares of the corpus, and the threads that work on them.
pub(super) struct Workers {
    plan: RwLock<Plan>,
    shares: Vec<Mutex<Share>>,
    signals: Signals,
    /// The threads beside the training thread. Set once, before the first step.
    threads: Mutex<Vec<Thread>>,
    /// How many threads there should be: each takes every share whose index is its own number or more by a multiple of
    /// this.
    n_threads: usize,
}

/// What waiting threads look at.
#[derive(Default)]
struct Signals {
    /// The number of the present step.
    n_begun: AtomicUsize,
    /// How many threads have ended it.
    n_ended: AtomicUsize,
    is_over: AtomicBool,
    /// How many threads sleep, or are about to.
    n_asleep: AtomicUsize,
    has_failed: AtomicBool,
}

/// How often a thread looks for the next step before it goes to sleep: some tens of microseconds.
const N_LOOKS: u32 = 4000;

impl Workers {
    /// Calls `work` with this many threads, but no more than shares, or as many as the system gives.
    pub(super) fn with_threads<R>(
        plan: Plan,
        shares: Vec<Share>,
        n_threads: usize,
        work: impl FnOnce(&Self) -> R,
    ) -> R {
        let workers = Self {
            plan: RwLock::new(plan),
            shares: shares.into_iter().map(Mutex::new).collect(),
            signals: Signals::default(),
            threads: Mutex::default(),
            n_threads: n_threads.max(1),
        };
        thread::scope(|scope| {
            let _stop = StopOnDrop(&workers);
            let workers = &workers;
            let spawn =
                |number| thread::Builder::new().spawn_scoped(scope, move || workers.serve(number));
            let numbers = 1..workers.n_threads.min(workers.shares.len());
            let threads = numbers.map_while(|number| spawn(number).ok());
            let threads = threads.map(|thread| thread.thread().clone()).collect();
            *workers.threads.lock().unwrap_or_else(PoisonError::into_inner) = threads;
            work(workers)
        })
    }

    /// The plan, for reading. Not held during a step.
    pub(super) fn plan(&self) -> RwLockReadGuard<'_, Plan> {
        self.plan.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan, for changes. Not held during a step.
    pub(super) fn plan_mut(&self) -> RwLockWriteGuard<'_, Plan> {
        self.plan.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shares, in the order of the corpus.
    pub(super) fn shares(&self) -> impl Iterator<Item = MutexGuard<'_, Share>> {
        self.shares.iter().map(locked)
    }

    /// Some consecutive shares.
    pub(super) fn shares_in(
        &self,
        range: &Range<usize>,
    ) -> impl Iterator<Item = MutexGuard<'_, Share>> {
        self.shares[range.clone()].iter().map(locked)
    }

    /// Takes a step on all shares, in parallel.
    pub(super) fn step_in_parallel(&self, step: Step) {
        self.plan_mut().step = step;
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        self.signals.n_ended.store(0, Ordering::Relaxed);
        self.signals.n_begun.fetch_add(1, Ordering::Release);
        threads.iter().for_each(Thread::unpark);
        // Its own shares, and those of threads that the system did not give.
        self.perform(0);
        (1 + threads.len()..self.n_threads).for_each(|number| self.perform(number));
        let mut n_looks = 0;
        while self.signals.n_ended.load(Ordering::Acquire) < threads.len() {
            wait_a_little(&mut n_looks);
        }
        assert!(!self.signals.has_failed.load(Ordering::Relaxed), "a training thread failed");
    }

    /// Whether a thread sleeps, so that a parallel step would have to wake it.
    pub(super) fn is_asleep(&self) -> bool {
        self.signals.n_asleep.load(Ordering::Relaxed) > 0
    }

    /// Takes a step on all shares, one after the other. For little work.
    pub(super) fn step_in_turn(&self, step: Step) {
        self.plan_mut().step = step;
        let plan = self.plan();
        self.shares().for_each(|mut share| share.perform(&plan));
    }

    /// Takes the step of the plan on the shares of a thread.
    fn perform(&self, number: usize) {
        let shares = self.shares.iter().skip(number).step_by(self.n_threads);
        shares.for_each(|share| locked(share).perform(&self.plan()));
    }

    /// The loop of a thread.
    fn serve(&self, number: usize) {
        let mut n_taken = 0;
        while self.wait_for_step(n_taken) {
            n_taken += 1;
            let _end = EndOnDrop(&self.signals);
            self.perform(number);
        }
    }

    /// Waits for the step after the first `n_taken`; `false` if training is over.
    fn wait_for_step(&self, n_taken: usize) -> bool {
        let mut n_looks = 0;
        while self.signals.n_begun.load(Ordering::Acquire) == n_taken {
            if self.signals.is_over.load(Ordering::Acquire) {
                return false;
            }
            if n_looks < N_LOOKS {
                n_looks += 1;
                std::hint::spin_loop();
            } else {
                self.signals.n_asleep.fetch_add(1, Ordering::Relaxed);
                thread::park();
                self.signals.n_asleep.fetch_sub(1, Ordering::Relaxed);
            }
        }
        true
    }
}

fn locked(share: &Mutex<Share>) -> MutexGuard<'_, Share> {
    share.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Spins at first, and later yields to other threads.
fn wait_a_little(n_looks: &mut u32) {
    if *n_looks < N_LOOKS {
        *n_looks += 1;
        std::hint::spin_loop();
    } else {
        thread::yield_now();
    }
}

/// Counts a thread when its step ends, even by a panic.
struct EndOnDrop<'s>(&'s Signals);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_failed.store(true, Ordering::Relaxed);
        }
        self.0.n_ended.fetch_add(1, Ordering::Release);
    }
}

/// Ends the threads when training ends, even by a panic.
struct StopOnDrop<'w>(&'w Workers);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.signals.is_over.store(true, Ordering::Release);
        let threads = self.0.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.iter().for_each(Thread::unpark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_end_where_they_no_longer_fit_a_slot() {
        assert_eq!(next_id(MAX_IDS - 1).unwrap() as usize, MAX_IDS - 1);
        let error = next_id(MAX_IDS).unwrap_err().to_string();
        assert!(error.contains("8388608"), "{error}");
    }
}
