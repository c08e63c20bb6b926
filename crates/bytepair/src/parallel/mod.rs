//! Work for many numbers, on several threads.
//!
//! Threads live as long as the call. If the system gives fewer than requested, these do all the work.
//!
//! What is expensive to make and used by one thread at a time lies in a [`Pool`]. A pool never waits: if another thread is
//! accessing it, or was when this process was forked, a new thing is made. It holds at most as many things as there were
//! simultaneous calls. One of the things is kept apart, so that taking it and putting it back are one atomic step each. A
//! call without others beside it finds it there.

pub(crate) mod in_order;

use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crossbeam_utils::atomic::AtomicCell;

/// Does work number 0 to `n - 1` on up to `n_threads` threads; returns the results in order.
pub(crate) fn in_parallel<T: Send>(
    n_threads: usize,
    n: usize,
    work: impl Fn(usize) -> T + Sync,
) -> Vec<T> {
    if n_threads.min(n) <= 1 {
        return (0..n).map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let take = || {
        let indices = std::iter::from_fn(|| {
            Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&index| index < n)
        });
        indices.map(|index| (index, work(index))).collect::<Vec<_>>()
    };
    let mut results = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, take).ok();
        let others: Vec<_> = (1..n_threads.min(n)).filter_map(spawn).collect();
        let mut results = take();
        for thread in others {
            match thread.join() {
                Ok(more) => results.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        results
    });
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// A pool of `T`.
pub(crate) struct Pool<T> {
    front: AtomicCell<Option<Box<T>>>,
    others: Mutex<Vec<Box<T>>>,
    make: fn() -> T,
}

impl<T> Pool<T> {
    /// An empty pool whose things are made by `make`.
    pub(crate) fn new(make: fn() -> T) -> Self {
        Self { front: AtomicCell::new(None), others: Mutex::new(Vec::new()), make }
    }

    /// Calls `work` with a thing that nobody else uses meanwhile.
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

    /// Calls `work` with several such things, one for each of its threads; with the same ones in the same order as the
    /// call before, if none came in between.
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

    /// One of those that do not lie in front.
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

    #[test]
    fn results_come_in_order_from_any_number_of_threads() {
        for n_threads in [0, 1, 2, 7] {
            for n in [0, 1, 5, 100] {
                let squares = in_parallel(n_threads, n, |index| index * index);
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
