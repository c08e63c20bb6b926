//! What the caches of threads that work at the same time tell each other.
//!
//! Each thread has a cache of its own, which nobody waits for. So each would find out anew what the others know
//! already: two threads merge nearly twice as many frequent pieces as one. Here they put what they have learned, some
//! tens of kilobytes of text at a time, and take what the others have. It never shows in a result.
//!
//! Each listens for a bounded time only, whatever the number of threads: a piece that is told costs from a tenth to the
//! whole of what merging it does. What comes first is told first, and that is the frequent pieces. Takes 2 MiB at most.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::worker::Worker;
use crate::encode::{Learned, PieceCache};

/// How much text is encoded before the next exchange, in bytes.
const N_BYTES_BETWEEN: usize = if cfg!(test) { 16 } else { 64 << 10 };

/// Most pieces that are told in a call.
const MAX_TOLD: usize = if cfg!(test) { 42 } else { 1 << 16 };

/// Most pieces that one hears in an exchange.
const MAX_HEARD: usize = 2048;

/// Most pieces that all hear together at the end of a call, one after the other.
const MAX_HEARD_AT_END: usize = 8192;

/// By worker: the pieces that it told, in order.
struct Board(Mutex<Vec<Vec<Learned>>>);

/// The place of one worker at the board.
pub(super) struct Seat {
    board: Arc<Board>,
    /// Which worker it is.
    number: usize,
    /// How many pieces of each worker it has heard.
    n_heard: Vec<usize>,
    /// How much text it has encoded since, in bytes.
    n_bytes: usize,
    heard: Vec<Learned>,
}

/// Calls `work` with workers that tell each other what they learn.
pub(super) fn together<R>(
    workers: &mut [Box<Worker>],
    work: impl FnOnce(&mut [Box<Worker>]) -> R,
) -> R {
    let n_workers = workers.len();
    if n_workers < 2 {
        return work(workers);
    }
    let board = Arc::new(Board(Mutex::new(vec![Vec::new(); n_workers])));
    for (number, worker) in workers.iter_mut().enumerate() {
        worker.cache.begin_noting();
        let (board, n_heard) = (Arc::clone(&board), vec![0; n_workers]);
        worker.seat = Some(Seat { board, number, n_heard, n_bytes: 0, heard: Vec::new() });
    }
    let result = work(workers);
    // All tell before the first one listens.
    for most_heard in [0, MAX_HEARD_AT_END / n_workers] {
        for worker in &mut *workers {
            let Worker { seat, cache, .. } = &mut **worker;
            seat.iter_mut().for_each(|seat| seat.exchange(cache, most_heard));
        }
    }
    for worker in &mut *workers {
        worker.seat = None;
        worker.cache.end_noting();
    }
    result
}

impl Seat {
    /// Exchanges what is new if much text was encoded since.
    pub(super) fn encoded(&mut self, n_bytes: usize, cache: &mut PieceCache) {
        self.n_bytes += n_bytes;
        if self.n_bytes >= N_BYTES_BETWEEN {
            self.n_bytes = 0;
            self.exchange(cache, MAX_HEARD);
        }
    }

    /// Tells what is new, and hears at most about so many pieces, of each of the others as many.
    fn exchange(&mut self, cache: &mut PieceCache, most_heard: usize) {
        let mut told = self.board.lock();
        let most_told = MAX_TOLD / told.len();
        let most_of_each = most_heard.div_ceil(told.len() - 1);
        let own = &mut told[self.number];
        let n_left = most_told - own.len();
        own.extend(mem::take(cache.noted()).into_iter().take(n_left));
        self.heard.clear();
        for (number, (told, n_heard)) in told.iter().zip(&mut self.n_heard).enumerate() {
            if number != self.number {
                let end = told.len().min(*n_heard + most_of_each);
                self.heard.extend_from_slice(&told[*n_heard..end]);
                *n_heard = end;
            }
        }
        drop(told);
        cache.hear(&self.heard);
    }
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Vec<Vec<Learned>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Name, Whole};
    use crate::vocabulary::TokenId;

    fn ids(worker: &Worker, piece: &[u8]) -> Vec<TokenId> {
        let mut ids = Vec::new();
        let name = Name::new(piece, 0..piece.len(), Whole::Piece).unwrap();
        worker.cache.append(name, &mut ids);
        ids
    }

    #[test]
    fn what_one_thread_learns_the_others_know_and_no_more_than_fits() {
        let mut workers: Vec<Box<Worker>> = (0..3).map(|_| Box::default()).collect();
        let pieces: Vec<_> = (0..100_u32).map(|number| (format!(" {number}"), number)).collect();
        together(&mut workers, |workers| {
            for (piece, number) in &pieces {
                let worker = &mut workers[*number as usize % 2];
                let name = Name::new(piece.as_bytes(), 0..piece.len(), Whole::Piece).unwrap();
                worker.cache.insert(name, &[*number]);
                let Worker { seat, cache, .. } = &mut **worker;
                seat.as_mut().unwrap().encoded(piece.len(), cache);
            }
        });
        let n_known = |worker: &Worker| {
            let known =
                pieces.iter().filter(|(piece, number)| ids(worker, piece.as_bytes()) == [*number]);
            known.count()
        };
        // There is as much room for each of the three, of which one has nothing to tell.
        let most_told = MAX_TOLD / 3;
        assert_eq!(n_known(&workers[2]), 2 * most_told);
        assert!(workers[..2].iter().all(|worker| n_known(worker) == 50 + most_told));
        assert!(workers.iter().all(|worker| worker.seat.is_none()));
    }
}
