//! What the caches of threads that work at the same time tell each other.
//!
//! Each thread has a cache of its own, which nobody waits for. So each would find out anew what the others know
//! already: two threads merge nearly twice as many frequent pieces as one. Here they put what they have learned, some
//! tens of kilobytes of text at a time, and take what the others have. It never shows in a result.
//!
//! Costs a tenth of what merging a piece does for each piece that is told, on each thread; and 2 MiB at most, so that
//! many threads do not spend their time listening: pieces that come first are the frequent ones.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::worker::Worker;
use crate::encode::{Learned, PieceCache};

/// How much text is encoded before the next exchange, in bytes.
const N_BYTES_BETWEEN: usize = if cfg!(test) { 16 } else { 64 << 10 };

/// Most pieces that are told in a call.
const MAX_TOLD: usize = if cfg!(test) { 40 } else { 1 << 16 };

/// Pieces in the order in which they were told.
#[derive(Default)]
struct Board(Mutex<Vec<Learned>>);

/// The place of one worker at the board.
pub(super) struct Seat {
    board: Arc<Board>,
    /// How many pieces it has heard, its own included.
    n_heard: usize,
    /// How much text it has encoded since, in bytes.
    n_bytes: usize,
    heard: Vec<Learned>,
}

/// Calls `work` with workers that tell each other what they learn.
pub(super) fn together<R>(
    workers: &mut [Box<Worker>],
    work: impl FnOnce(&mut [Box<Worker>]) -> R,
) -> R {
    if workers.len() < 2 {
        return work(workers);
    }
    let board = Arc::<Board>::default();
    for worker in &mut *workers {
        worker.cache.begin_noting();
        let board = Arc::clone(&board);
        worker.seat = Some(Seat { board, n_heard: 0, n_bytes: 0, heard: Vec::new() });
    }
    let result = work(workers);
    for worker in &mut *workers {
        if let Some(mut seat) = worker.seat.take() {
            seat.exchange(&mut worker.cache);
        }
    }
    workers.iter_mut().for_each(|worker| worker.cache.end_noting());
    result
}

impl Seat {
    /// Exchanges what is new if much text was encoded since.
    #[inline]
    pub(super) fn encoded(&mut self, n_bytes: usize, cache: &mut PieceCache) {
        self.n_bytes += n_bytes;
        if self.n_bytes >= N_BYTES_BETWEEN {
            self.n_bytes = 0;
            self.exchange(cache);
        }
    }

    fn exchange(&mut self, cache: &mut PieceCache) {
        let mut told = self.board.lock();
        self.heard.clear();
        self.heard.extend_from_slice(&told[self.n_heard..]);
        let n_left = MAX_TOLD - told.len();
        told.extend(mem::take(cache.noted()).into_iter().take(n_left));
        self.n_heard = told.len();
        drop(told);
        cache.hear(&self.heard);
    }
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, Vec<Learned>> {
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
        assert_eq!(n_known(&workers[2]), MAX_TOLD);
        // Its own, and half of what was told.
        assert!(
            workers[..2]
                .iter()
                .all(|worker| (50 + MAX_TOLD / 2 - 5..100).contains(&n_known(worker)))
        );
        assert!(workers.iter().all(|worker| worker.seat.is_none()));
    }
}
