//! What the threads of all shares read during a step, and these threads, which take the same step on their shares of the
//! corpus at the same time. The plan changes only between steps.
//!
//! Merging takes thousands of short steps, some microseconds each. So the threads stay for as long as training
//! lasts, wait for the next step by looking again and again for a moment, and only then go to sleep. The thread
//! that trains takes the first share itself, and those for which the system gave no thread. Threads end with the
//! training: nothing outlives a `fork`.
//!
//! *Invariant:* a step begins when its number is stored and ends when every thread has counted itself; between steps
//! only the training thread holds the locks, so none of them is ever waited for.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{self, Thread};

use super::pairs::{PairIndex, Pairs};
use super::row::MAX_IDS;
use super::share::Share;
use super::survey::Sketch;
use crate::error::{ErrorKind, Result};
use crate::vocabulary::TokenId;

/// What to do, and what has to be known for it.
pub(super) struct Plan {
    pub(super) step: Step,
    /// By token id: the number of slots that a token covers. One for each id.
    pub(super) lengths: Vec<u32>,
    /// The number of slots of all shares.
    pub(super) n_slots: usize,
    /// How often pairs occur at most, in the whole corpus.
    pub(super) sketch: Sketch,
    /// Pairs that occur less often are left alone until the next survey.
    pub(super) floor: i64,
    /// The other pairs.
    pub(super) pairs: Pairs,
    /// The merges of a batch, in their order.
    pub(super) jobs: Vec<Job>,
    /// By job: the pairs of the new token that are kept.
    pub(super) created: Vec<Created>,
}

/// A step that every share takes on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Make the row anew.
    Compact,
    /// Look at its pairs.
    Look,
    /// Count the pairs that the sketch leaves.
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
    pub(super) count: i64,
    /// The new token.
    pub(super) result: TokenId,
    /// The number of slots that the left token covers.
    pub(super) left_len: usize,
    /// The number of slots that both cover.
    pub(super) result_len: usize,
}

/// One thing for the neighbours before a pair, and one for those after it.
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
    /// A plan for tokens that cover one slot each, before anything is known of their pairs but that none occurs
    /// more often than there are tokens.
    pub(super) fn new(n_ids: usize, n_corpus_tokens: i64) -> Self {
        Self {
            step: Step::Compact,
            lengths: vec![1; n_ids],
            n_slots: 0,
            sketch: Sketch::default(),
            floor: n_corpus_tokens,
            pairs: Pairs::with_capacity(0),
            jobs: Vec::new(),
            created: Vec::new(),
        }
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
        let count = self.pairs.count(pair);
        self.jobs.push(Job { pair, left, right, count, result, left_len, result_len });
        Ok(())
    }

    /// The number of slots that a token covers.
    pub(super) fn length(&self, id: TokenId) -> usize {
        self.lengths[id as usize] as usize
    }
}

/// The id that follows this many others.
///
/// # Errors
/// If it does not fit a slot of the row.
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
    /// The threads of the second share and of the next ones. Set once, before the first step.
    threads: Mutex<Vec<Thread>>,
}

/// What threads look at while they wait.
#[derive(Default)]
struct Signals {
    /// The number of the step that is to be taken.
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
    /// Calls `work` with a thread for each share, or as many threads as the system gives.
    pub(super) fn with_threads<R>(
        plan: Plan,
        shares: Vec<Share>,
        work: impl FnOnce(&Self) -> R,
    ) -> R {
        let workers = Self {
            plan: RwLock::new(plan),
            shares: shares.into_iter().map(Mutex::new).collect(),
            signals: Signals::default(),
            threads: Mutex::default(),
        };
        thread::scope(|scope| {
            let _stop = StopOnDrop(&workers);
            let workers = &workers;
            let spawn =
                |share| thread::Builder::new().spawn_scoped(scope, move || workers.serve(share));
            let threads = workers.shares.iter().skip(1).map_while(|share| spawn(share).ok());
            let threads = threads.map(|thread| thread.thread().clone()).collect();
            *workers.threads.lock().unwrap_or_else(PoisonError::into_inner) = threads;
            work(workers)
        })
    }

    /// The plan, to look at. Never held while a step is taken.
    pub(super) fn plan(&self) -> RwLockReadGuard<'_, Plan> {
        self.plan.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The plan, to change. Never held while a step is taken.
    pub(super) fn plan_mut(&self) -> RwLockWriteGuard<'_, Plan> {
        self.plan.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shares, in the order of the corpus.
    pub(super) fn shares(&self) -> impl Iterator<Item = MutexGuard<'_, Share>> {
        self.shares.iter().map(locked)
    }

    /// Takes a step on all shares, each in its thread.
    pub(super) fn step_in_parallel(&self, step: Step) {
        self.plan_mut().step = step;
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        self.signals.n_ended.store(0, Ordering::Relaxed);
        self.signals.n_begun.fetch_add(1, Ordering::Release);
        threads.iter().for_each(Thread::unpark);
        // The first share, and those without a thread.
        let others = self.shares.iter().skip(1 + threads.len());
        for share in self.shares.iter().take(1).chain(others) {
            locked(share).perform(&self.plan());
        }
        let mut n_looks = 0;
        while self.signals.n_ended.load(Ordering::Acquire) < threads.len() {
            wait_a_little(&mut n_looks);
        }
        assert!(!self.signals.has_failed.load(Ordering::Relaxed), "a training thread failed");
    }

    /// Whether a thread sleeps, which a step in parallel would have to wake.
    pub(super) fn is_asleep(&self) -> bool {
        self.signals.n_asleep.load(Ordering::Relaxed) > 0
    }

    /// Takes a step on all shares, one after the other: for little work.
    pub(super) fn step_in_turn(&self, step: Step) {
        self.plan_mut().step = step;
        let plan = self.plan();
        self.shares().for_each(|mut share| share.perform(&plan));
    }

    /// What a thread does until the end.
    fn serve(&self, share: &Mutex<Share>) {
        let mut n_taken = 0;
        while self.wait_for_step(n_taken) {
            n_taken += 1;
            let _end = EndOnDrop(&self.signals);
            locked(share).perform(&self.plan());
        }
    }

    /// Waits for the step after the first `n_taken`; `false` if there is none.
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

/// Looks again at once, later only after others had a turn.
fn wait_a_little(n_looks: &mut u32) {
    if *n_looks < N_LOOKS {
        *n_looks += 1;
        std::hint::spin_loop();
    } else {
        thread::yield_now();
    }
}

/// Counts a thread when its step ends, in whatever way.
struct EndOnDrop<'s>(&'s Signals);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.has_failed.store(true, Ordering::Relaxed);
        }
        self.0.n_ended.fetch_add(1, Ordering::Release);
    }
}

/// Ends the threads when training ends, in whatever way.
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
