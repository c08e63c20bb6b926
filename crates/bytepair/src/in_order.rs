//! Work that comes in order and is taken in order, done by threads in between.
//!
//! The calling thread hands out the jobs and takes what became of them, so both may read and write a file. No more
//! jobs are out than a few for each thread, however long one of them takes: that bounds the memory. Threads live as
//! long as the call. With one thread there is none but the caller's, as where the system gives none; where it gives
//! fewer than were asked for, these do all the work.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::error::Result;

/// How many jobs are out at most, for each thread: one that is done, and some that wait.
pub(crate) const N_JOBS_PER_THREAD: usize = 4;

/// Gives the jobs of `next` to the threads of `states`, each with a state of its own, and hands what `work` makes of
/// them to `take`, in order.
///
/// # Errors
/// Those of `next` and of `take`, with which the work ends.
pub(crate) fn in_order<J: Send, D: Send, S: Send>(
    states: &mut [S],
    mut next: impl FnMut() -> Result<Option<J>>,
    work: impl Fn(J, &mut S) -> D + Sync,
    mut take: impl FnMut(D) -> Result<()>,
) -> Result<()> {
    if states.len() > 1
        && let Some(result) = on_threads(states, &mut next, &work, &mut take)
    {
        return result;
    }
    let Some(state) = states.first_mut() else { return Ok(()) };
    while let Some(job) = next()? {
        take(work(job, state))?;
    }
    Ok(())
}

/// The same on a thread for each state; `None`, and nothing done, where the system gives none.
fn on_threads<J: Send, D: Send, S: Send>(
    states: &mut [S],
    next: &mut impl FnMut() -> Result<Option<J>>,
    work: &(impl Fn(J, &mut S) -> D + Sync),
    take: &mut impl FnMut(D) -> Result<()>,
) -> Option<Result<()>> {
    let (job_sender, jobs) = mpsc::channel();
    let (done_sender, done) = mpsc::channel();
    let jobs = Mutex::new(jobs);
    thread::scope(|scope| {
        let spawn = |state| {
            let (jobs, done_sender) = (&jobs, done_sender.clone());
            let do_jobs = move || do_jobs(jobs, state, work, &done_sender);
            thread::Builder::new().spawn_scoped(scope, do_jobs).ok()
        };
        let n_threads = states.iter_mut().filter_map(spawn).count();
        // Where it ends, early or not, the sender is dropped, and with the last job the threads end.
        let n_out_at_most = n_threads * N_JOBS_PER_THREAD;
        let result =
            (n_threads > 0).then(|| hand_out(n_out_at_most, &job_sender, &done, next, take));
        drop(job_sender);
        result
    })
}

/// What a thread does: jobs, until there are no more.
fn do_jobs<J, D, S>(
    jobs: &Mutex<Receiver<(usize, J)>>,
    state: &mut S,
    work: &impl Fn(J, &mut S) -> D,
    done: &Sender<(usize, thread::Result<D>)>,
) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = job else { return };
        let made = catch_unwind(AssertUnwindSafe(|| work(job, state)));
        if done.send((number, made)).is_err() {
            return;
        }
    }
}

/// What the calling thread does.
fn hand_out<J, D>(
    n_out_at_most: usize,
    jobs: &Sender<(usize, J)>,
    done: &Receiver<(usize, thread::Result<D>)>,
    next: &mut impl FnMut() -> Result<Option<J>>,
    take: &mut impl FnMut(D) -> Result<()>,
) -> Result<()> {
    let (mut n_given, mut n_taken, mut is_end) = (0, 0, false);
    let mut waiting = BTreeMap::new();
    loop {
        while !is_end && n_given - n_taken < n_out_at_most {
            match next()? {
                Some(job) => drop(jobs.send((n_given, job))),
                None => is_end = true,
            }
            n_given += usize::from(!is_end);
        }
        if n_taken == n_given {
            return Ok(());
        }
        // The threads wait for jobs as long as the sender lives, and send whatever becomes of each.
        let Ok((number, made)) = done.recv() else { return Ok(()) };
        waiting.insert(number, made.unwrap_or_else(|panic| resume_unwind(panic)));
        while let Some(made) = waiting.remove(&n_taken) {
            n_taken += 1;
            take(made)?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Error, ErrorKind};
    use proptest::prelude::*;

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
    #[should_panic(expected = "job 3")]
    fn a_panic_of_a_thread_is_one_of_the_call() {
        let mut jobs = 0..10;
        let work = |job, (): &mut ()| assert!(job != 3, "job {job}");
        drop(in_order(&mut [(); 2], || Ok(jobs.next()), work, Ok));
    }
}
