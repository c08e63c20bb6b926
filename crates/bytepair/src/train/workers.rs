//! Threads that take the same step on their shares of the corpus at the same time.
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

use super::plan::{Plan, Step};
use super::share::Share;

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

    /// Waits for the step after the first `n_taken`; `false` where there is none.
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
