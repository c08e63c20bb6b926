//! Work for many numbers, on several threads.
//!
//! Threads live as long as the call. If the system gives fewer than requested, these do all the work.

pub(crate) mod in_order;
pub(crate) mod pool;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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
}
