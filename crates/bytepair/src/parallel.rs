//! Runs jobs on several threads and takes their results in order, and keeps state of threads for the next call.
//!
//! The calling thread hands out the jobs and takes the results, so it may read and write files for both. If there is
//! no result to take, it does a job itself, so no more threads work than were requested. Each thread has a limited
//! number of outstanding jobs, however long one of them takes, which bounds the memory. Threads live as long as the
//! call. With one thread there is only the caller's; if the system gives fewer threads than requested, these do all
//! the work.
//!
//! A thread takes the first waiting job that would be its own if jobs were dealt round-robin, or the first of all if
//! none of the next ones is its own. So when the same work recurs, most of it meets a state that has seen it, and no
//! thread is idle while there is a job.
//!
//! State that is expensive to make and used by one thread at a time is kept in a [`Pool`]. A pool never waits: if
//! another thread is accessing it, or was when this process was forked, a new item is made, and an item that cannot be
//! put back is dropped. It holds at most as many
//! items as there were simultaneous calls. One item is kept apart, so that taking it and putting it back are one
//! atomic step each. A call that runs alone finds it there.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crossbeam_utils::atomic::AtomicCell;

use crate::error::Result;

/// The most outstanding jobs for each thread: one in progress, and some that wait. A thread looks for its own jobs
/// among these.
pub(crate) const N_JOBS_PER_THREAD: usize = 4;

/// Gives the jobs of `next` to the threads of `states`, each with a state of its own, and hands the results of `work`
/// to `take`, in order. Each thread has a given number of outstanding jobs. While some are outstanding, more are
/// handed out only if `has_room` allows it.
///
/// # Errors
/// If `next` or `take` fails, which ends the work.
pub(crate) fn in_order_within<J: Send, D: Send, S: Send>(
    (n_jobs_per_thread, mut has_room): (usize, impl FnMut() -> bool),
    states: &mut [S],
    mut next: impl FnMut() -> Result<Option<J>>,
    work: impl Fn(J, &mut S) -> D + Sync,
    mut take: impl FnMut(D) -> Result<()>,
) -> Result<()> {
    let Some((own, others)) = states.split_first_mut() else { return Ok(()) };
    if !others.is_empty() {
        let states = (own, others);
        return on_threads((n_jobs_per_thread, &mut has_room), states, &mut next, &work, &mut take);
    }
    while let Some(job) = next()? {
        take(work(job, own))?;
    }
    Ok(())
}

/// [`in_order_within`] with a thread for each of the other states, or as many as the system gives.
fn on_threads<J: Send, D: Send, S: Send>(
    (n_jobs_per_thread, has_room): (usize, &mut impl FnMut() -> bool),
    (own, others): (&mut S, &mut [S]),
    next: &mut impl FnMut() -> Result<Option<J>>,
    work: &(impl Fn(J, &mut S) -> D + Sync),
    take: &mut impl FnMut(D) -> Result<()>,
) -> Result<()> {
    let (done_sender, done) = mpsc::channel();
    let n_dealt_to = 1 + others.len();
    let jobs = Jobs { waiting: Mutex::default(), is_changed: Condvar::new(), n_dealt_to };
    thread::scope(|scope| {
        let spawn = |(index, state)| {
            let (jobs, done_sender) = (&jobs, done_sender.clone());
            let do_jobs = move || do_jobs((jobs, index), state, work, &done_sender);
            thread::Builder::new().spawn_scoped(scope, do_jobs).ok()
        };
        let n_threads = 1 + (1..).zip(others).filter_map(spawn).count();
        // When this ends, early or not, the threads end after their current job.
        let _end = End(&jobs);
        let n_out_at_most = n_jobs_per_thread.saturating_mul(n_threads);
        let may_give = |n_out: usize| n_out == 0 || n_out < n_out_at_most && has_room();
        hand_out(may_give, (&jobs, &done), next, |job| work(job, own), take)
    })
}

/// Jobs with their indices, on their way to the threads.
struct Jobs<J> {
    waiting: Mutex<Waiting<J>>,
    is_changed: Condvar,
    /// The number of threads among which jobs are dealt.
    n_dealt_to: usize,
}

struct Waiting<J> {
    jobs: VecDeque<(usize, J)>,
    is_over: bool,
}

impl<J> Default for Waiting<J> {
    fn default() -> Self {
        Self { jobs: VecDeque::new(), is_over: false }
    }
}

impl<J> Waiting<J> {
    fn pop(&mut self, thread: usize, n_dealt_to: usize) -> Option<(usize, J)> {
        let mut next = self.jobs.iter().take(N_JOBS_PER_THREAD * n_dealt_to);
        let own = next.position(|(number, _)| number % n_dealt_to == thread);
        self.jobs.remove(own.unwrap_or(0))
    }
}

impl<J> Jobs<J> {
    fn lock(&self) -> MutexGuard<'_, Waiting<J>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, number: usize, job: J) {
        self.lock().jobs.push_back((number, job));
        self.is_changed.notify_one();
    }

    /// The next job for the thread with an index, if one waits.
    fn pop(&self, thread: usize) -> Option<(usize, J)> {
        self.lock().pop(thread, self.n_dealt_to)
    }

    /// Waits for the next job for the thread with an index; `None` if there are no more.
    fn wait(&self, thread: usize) -> Option<(usize, J)> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_over {
                return None;
            }
            if let Some(job) = waiting.pop(thread, self.n_dealt_to) {
                return Some(job);
            }
            waiting = self.is_changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Ends the threads when the calling one leaves, however it does.
struct End<'j, J>(&'j Jobs<J>);

impl<J> Drop for End<'_, J> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.is_changed.notify_all();
    }
}

/// The loop of a thread: does jobs until there are no more.
fn do_jobs<J, D, S>(
    (jobs, thread): (&Jobs<J>, usize),
    state: &mut S,
    work: &impl Fn(J, &mut S) -> D,
    done: &Sender<(usize, thread::Result<D>)>,
) {
    while let Some((number, job)) = jobs.wait(thread) {
        let made = catch_unwind(AssertUnwindSafe(|| work(job, state)));
        if done.send((number, made)).is_err() {
            return;
        }
    }
}

/// The loop of the calling thread.
fn hand_out<J, D>(
    mut may_give: impl FnMut(usize) -> bool,
    (jobs, done): (&Jobs<J>, &Receiver<(usize, thread::Result<D>)>),
    next: &mut impl FnMut() -> Result<Option<J>>,
    mut work: impl FnMut(J) -> D,
    take: &mut impl FnMut(D) -> Result<()>,
) -> Result<()> {
    let (mut n_given, mut n_taken, mut is_end) = (0, 0, false);
    let mut waiting = BTreeMap::new();
    loop {
        while !is_end && may_give(n_given - n_taken) {
            match next()? {
                Some(job) => jobs.push(n_given, job),
                None => is_end = true,
            }
            n_given += usize::from(!is_end);
        }
        if n_taken == n_given {
            return Ok(());
        }
        let own = || jobs.pop(0).map(|(number, job)| (number, Ok(work(job))));
        // A job that is outstanding and does not wait is at a thread, which sends a result in any case.
        let made = done.try_recv().ok().or_else(own).or_else(|| done.recv().ok());
        let Some((number, made)) = made else { return Ok(()) };
        waiting.insert(number, made.unwrap_or_else(|panic| resume_unwind(panic)));
        while let Some(made) = waiting.remove(&n_taken) {
            n_taken += 1;
            take(made)?;
        }
    }
}

/// Does jobs on up to `n_threads` threads; returns the results in order.
pub(crate) fn in_parallel<J: Send, T: Send>(
    n_threads: usize,
    jobs: impl IntoIterator<Item = J, IntoIter: ExactSizeIterator>,
    work: impl Fn(J) -> T + Sync,
) -> Vec<T> {
    let mut jobs = jobs.into_iter();
    let n_jobs = jobs.len();
    let mut results = Vec::with_capacity(n_jobs);
    let take = |result| {
        results.push(result);
        Ok(())
    };
    let states = &mut vec![(); n_threads.clamp(1, n_jobs.max(1))];
    let limits = (N_JOBS_PER_THREAD, || true);
    let done = in_order_within(limits, states, || Ok(jobs.next()), |job, ()| work(job), take);
    debug_assert!(done.is_ok(), "neither jobs nor results are refused");
    results
}

/// A pool of `T`.
pub(crate) struct Pool<T> {
    front: AtomicCell<Option<Box<T>>>,
    others: Mutex<Vec<Box<T>>>,
    make: fn() -> T,
}

impl<T> Pool<T> {
    /// An empty pool whose items are made by `make`.
    pub(crate) fn new(make: fn() -> T) -> Self {
        Self { front: AtomicCell::new(None), others: Mutex::new(Vec::new()), make }
    }

    /// Calls `work` with an item that nobody else uses meanwhile.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Box<T>) -> R) -> R {
        let idle = self.front.take().or_else(|| self.other());
        let mut thing = idle.unwrap_or_else(|| Box::new((self.make)()));
        let result = work(&mut thing);
        if let Some(displaced) = self.front.swap(Some(thing))
            && let Ok(mut others) = self.others.try_lock()
        {
            others.push(displaced);
        }
        result
    }

    /// Calls `work` with several items, one for each of its threads. They are the same ones in the same order as in
    /// the previous call, if no other call came in between.
    pub(crate) fn with_many<R>(&self, n_things: usize, work: impl FnOnce(&mut [Box<T>]) -> R) -> R {
        let mut things = Vec::with_capacity(n_things);
        if n_things > 0 {
            things.extend(self.front.take());
        }
        if let Ok(mut others) = self.others.try_lock() {
            let n_left = others.len().saturating_sub(n_things - things.len());
            things.extend(others.drain(n_left..));
        }
        things.resize_with(n_things, || Box::new((self.make)()));
        let result = work(&mut things);
        // In the order in which they will be taken again.
        let mut things = things.into_iter();
        let displaced = things.next().and_then(|thing| self.front.swap(Some(thing)));
        if let Ok(mut others) = self.others.try_lock() {
            others.extend(displaced);
            others.extend(things);
        }
        result
    }

    /// One of the items that are not kept apart.
    #[cold]
    fn other(&self) -> Option<Box<T>> {
        self.others.try_lock().ok()?.pop()
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pool").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use proptest::prelude::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    fn in_order<J: Send, D: Send, S: Send>(
        states: &mut [S],
        next: impl FnMut() -> Result<Option<J>>,
        work: impl Fn(J, &mut S) -> D + Sync,
        take: impl FnMut(D) -> Result<()>,
    ) -> Result<()> {
        in_order_within((N_JOBS_PER_THREAD, || true), states, next, work, take)
    }

    fn failed() -> Error {
        ErrorKind::EmptyCorpus.into()
    }

    proptest! {
        #[test]
        fn what_is_taken_is_in_order(n_threads in 1..5_usize, delays in prop::collection::vec(0..200_u64, 0..60)) {
            let mut jobs = delays.iter().copied().enumerate();
            let mut taken = Vec::new();
            let work = |(number, delay): (usize, u64), n_done: &mut usize| {
                thread::sleep(std::time::Duration::from_micros(delay));
                *n_done += 1;
                number
            };
            let mut states = vec![0; n_threads];
            let result = in_order(&mut states, || Ok(jobs.next()), work, |number| {
                taken.push(number);
                Ok(())
            });
            prop_assert!(result.is_ok());
            prop_assert_eq!(taken, (0..delays.len()).collect::<Vec<_>>());
            prop_assert_eq!(states.iter().sum::<usize>(), delays.len());
        }
    }

    #[test]
    fn a_thread_takes_its_own_jobs_first_and_then_any() {
        let mut waiting =
            Waiting { jobs: (0..5).map(|number| (number, ())).collect(), is_over: false };
        let order: Vec<_> = [1, 1, 1, 0, 1].map(|thread| waiting.pop(thread, 2).unwrap().0).into();
        assert_eq!(order, [1, 3, 0, 2, 4]);
        assert!(waiting.pop(0, 2).is_none());
    }

    #[test]
    fn an_error_ends_the_work_and_few_jobs_are_out() {
        for n_threads in [1, 3] {
            let (mut n_given, mut n_taken) = (0, 0);
            let next = || {
                n_given += 1;
                Ok(Some(n_given))
            };
            let take = |number| {
                n_taken = number;
                (number < 10).then_some(()).ok_or_else(failed)
            };
            let work = |number, (): &mut ()| number;
            assert!(in_order(&mut vec![(); n_threads], next, work, take).is_err());
            assert_eq!(n_taken, 10);
            assert!(n_given <= 10 + N_JOBS_PER_THREAD * n_threads);
        }
        let next = || Err::<Option<usize>, _>(failed());
        assert!(in_order(&mut [(); 2], next, |number, ()| number, |_| Ok(())).is_err());
    }

    #[test]
    fn where_nothing_bounds_them_all_other_jobs_are_done_beside_a_long_one() {
        const N_JOBS: usize = 20 * N_JOBS_PER_THREAD;
        let (mut jobs, n_done) = (0..N_JOBS, AtomicUsize::new(0));
        let work = |job, (): &mut ()| {
            let is_waiting = || job == 0 && n_done.load(Ordering::Relaxed) < N_JOBS - 1;
            let begin = Instant::now();
            while is_waiting() && begin.elapsed() < Duration::from_secs(60) {
                thread::yield_now();
            }
            let is_in_vain = is_waiting();
            n_done.fetch_add(1, Ordering::Relaxed);
            !is_in_vain
        };
        let take = |is_well| if is_well { Ok(()) } else { Err(failed()) };
        let states = &mut [(); 2];
        assert!(
            in_order_within((usize::MAX, || true), states, || Ok(jobs.next()), work, take).is_ok()
        );
    }

    #[test]
    #[should_panic(expected = "job 3")]
    fn a_panic_of_a_thread_is_one_of_the_call() {
        let mut jobs = 0..10;
        let work = |job, (): &mut ()| assert!(job != 3, "job {job}");
        drop(in_order(&mut [(); 2], || Ok(jobs.next()), work, Ok));
    }

    #[test]
    fn results_come_in_order_from_any_number_of_threads() {
        for n_threads in [0, 1, 2, 7] {
            for n in [0, 1, 5, 100] {
                let squares = in_parallel(n_threads, 0..n, |index| index * index);
                assert_eq!(squares, (0..n).map(|index| index * index).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_thing_is_used_again_but_never_twice_at_once() {
        let pool = Pool::new(Vec::new);
        pool.with(|outer: &mut Box<Vec<u8>>| {
            outer.push(1);
            pool.with(|inner| assert!(inner.is_empty()));
        });
        pool.with(|first| pool.with(|second| assert_eq!(first.len() + second.len(), 1)));
        pool.with_many(3, |things| {
            assert_eq!(things.iter().map(|thing| thing.len()).sum::<usize>(), 1);
            pool.with(|other| assert!(other.is_empty()));
        });
    }

    #[test]
    fn things_come_in_the_order_of_the_call_before() {
        let pool = Pool::new(Vec::new);
        let number = |things: &mut [Box<Vec<usize>>]| {
            things.iter_mut().enumerate().for_each(|(index, thing)| thing.push(index));
        };
        (0..3).for_each(|_| pool.with_many(3, number));
        pool.with_many(3, |things| {
            assert!(things.iter().enumerate().all(|(index, thing)| thing[..] == [index; 3]));
        });
    }

    #[test]
    fn a_pool_that_is_locked_for_ever_still_serves() {
        let pool = Pool::new(|| 7);
        let _locked = pool.others.lock().unwrap();
        assert_eq!(pool.with(|outer| pool.with(|inner| **outer + **inner)), 14);
        assert_eq!(pool.with_many(2, |things| things.iter().map(|thing| **thing).sum::<i32>()), 14);
    }
}
