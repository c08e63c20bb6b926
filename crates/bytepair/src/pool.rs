//! Things that are dear to make and are used by one thread at a time.
//!
//! A pool never waits: where another thread is looking into it, or was when this process was forked off,
//! a new thing is made. It holds at most as many things as there were calls at the same time.

use std::fmt;
use std::sync::Mutex;

/// A pool of `T`.
pub(crate) struct Pool<T> {
    idle: Mutex<Vec<Box<T>>>,
    make: fn() -> T,
}

impl<T> Pool<T> {
    /// An empty pool whose things are made by `make`.
    pub(crate) fn new(make: fn() -> T) -> Self {
        Self { idle: Mutex::new(Vec::new()), make }
    }

    /// Calls `work` with a thing that nobody else uses meanwhile.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut Box<T>) -> R) -> R {
        let idle = self.idle.try_lock().ok().and_then(|mut idle| idle.pop());
        let mut thing = idle.unwrap_or_else(|| Box::new((self.make)()));
        let result = work(&mut thing);
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.push(thing);
        }
        result
    }

    /// Calls `work` with several such things, one for each of its threads.
    pub(crate) fn with_many<R>(&self, n_things: usize, work: impl FnOnce(&mut [Box<T>]) -> R) -> R {
        let mut things = Vec::with_capacity(n_things);
        if let Ok(mut idle) = self.idle.try_lock() {
            let n_left = idle.len().saturating_sub(n_things);
            things.extend(idle.drain(n_left..));
        }
        things.resize_with(n_things, || Box::new((self.make)()));
        let result = work(&mut things);
        if let Ok(mut idle) = self.idle.try_lock() {
            idle.append(&mut things);
        }
        result
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
    fn a_pool_that_is_locked_for_ever_still_serves() {
        let pool = Pool::new(|| 7);
        let _locked = pool.idle.lock().unwrap();
        assert_eq!(pool.with(|thing| **thing), 7);
    }
}
