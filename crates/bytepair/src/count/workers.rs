//! Stretches of text to tables, on all threads.
//!
//! The calling thread reads: it may be interrupted, and may call what belongs to it alone. It puts
//! stretches into a short queue, from which the other threads take them, and where the queue is full it
//! counts one itself. So reading goes first, no thread waits for another as long as there is text, and
//! one thread alone runs without any of this. Threads live as long as a call: nothing survives a `fork`.
//! A source of a single stretch starts no thread.
//!
//! Stretches leave the queue in the order of the text. So every table sees positions that grow, and what
//! fails first in the text has been taken when anything fails: the error does not depend on the threads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::feed::{MAX_STRETCH_LEN, Part, Preparation, Stretch};
use super::sorter::Runs;
use super::table::CountTable;
use crate::error::{Error, ErrorKind, Result};
use bytepair_split::Boundaries;

/// Stretches that may wait, for each thread that only counts.
const N_WAITING: usize = 2;
/// Stretches that there may be at once, for each thread.
pub(super) const N_STRETCHES: usize = N_WAITING + 2;

/// One thread's table and what else it counts.
pub(super) struct Worker {
    pub(super) table: CountTable,
    pub(super) n_pieces: u64,
    pub(super) n_characters: u64,
    boundaries: Boundaries,
}

/// How to count.
#[derive(Clone, Copy)]
pub(super) struct Rules<'p> {
    pub(super) preparation: &'p Preparation,
    /// How much each piece counts.
    pub(super) weight: u64,
    /// Where full tables are written, if memory is limited.
    pub(super) runs: Option<&'p Mutex<Runs>>,
}

impl Worker {
    pub(super) fn new() -> Self {
        let (table, boundaries) = (CountTable::new(usize::MAX), Boundaries::default());
        Self { table, n_pieces: 0, n_characters: 0, boundaries }
    }

    /// Counts all pieces of a stretch. An error comes with the position of the part that it lies in.
    fn count(&mut self, rules: Rules<'_>, stretch: &Stretch) -> Counted {
        stretch.parts.iter().try_for_each(|part| {
            let failed = |error| Failure { position: part.position, error };
            self.count_part(rules, part, &stretch.buffer).map_err(failed)
        })
    }

    fn count_part(&mut self, rules: Rules<'_>, part: &Part, buffer: &[u8]) -> Result<()> {
        let Rules { preparation, weight, runs } = rules;
        let text = &buffer[part.range.clone()];
        // Text that was changed was checked before.
        let is_raw = preparation.as_encoded.is_none() && preparation.normalizer.steps().is_empty();
        if preparation.requires_utf8 && is_raw {
            std::str::from_utf8(text).map_err(|error| {
                let offset = part.offset + error.valid_up_to() as u64;
                ErrorKind::NotUtf8 { offset }
            })?;
        }
        self.n_characters += super::n_characters(text);
        let mut from = 0;
        while from < text.len() {
            from = preparation
                .splitter
                .split_block(text, from, &mut self.boundaries)
                .map_err(|error| Error::from(error).moved_by(part.offset))?;
            self.table.ask_for_room(&self.boundaries)?;
            self.n_pieces += self.table.add_block(text, &self.boundaries, weight, part.position);
            if let Some(runs) = runs
                && self.table.is_over_budget()
            {
                spill(&mut self.table, runs)?;
            }
        }
        Ok(())
    }
}

/// Moves the contents of a table into a run. Threads write at the same time, but merge one after the other.
///
/// # Errors
/// Where a file cannot be written or read.
pub(super) fn spill(table: &mut CountTable, runs: &Mutex<Runs>) -> Result<()> {
    if table.is_empty() {
        return Ok(());
    }
    let folder = lock(runs).folder().to_owned();
    let run = table.write_run(&folder)?;
    lock(runs).push(run)
}

pub(super) fn lock(runs: &Mutex<Runs>) -> MutexGuard<'_, Runs> {
    runs.lock().unwrap_or_else(PoisonError::into_inner)
}

type Counted = std::result::Result<(), Failure>;

/// An error and where it lies.
struct Failure {
    position: u64,
    error: Error,
}

/// Counts every stretch that `fill` fills; `fill` returns whether there may be more.
pub(super) fn count_all(
    workers: &mut [Worker],
    rules: Rules<'_>,
    mut fill: impl FnMut(&mut Stretch) -> Result<bool>,
) -> Result<()> {
    let Some((own, others)) = workers.split_first_mut() else { return Ok(()) };
    let mut stretch = Stretch::default();
    let mut has_more = fill(&mut stretch)?;
    if has_more && !others.is_empty() {
        return count_together(own, others, rules, stretch, fill);
    }
    loop {
        own.count(rules, &stretch).map_err(|failure| failure.error)?;
        if !has_more {
            return Ok(());
        }
        has_more = fill(&mut stretch)?;
    }
}

impl Rules<'_> {
    /// Whether a stretch has so much text without a place to cut that there should be no second one beside it.
    fn are_strict_about(self, stretch: &Stretch) -> bool {
        self.runs.is_some() && stretch.buffer.len() > MAX_STRETCH_LEN
    }
}

fn count_together(
    own: &mut Worker,
    others: &mut [Worker],
    rules: Rules<'_>,
    mut stretch: Stretch,
    mut fill: impl FnMut(&mut Stretch) -> Result<bool>,
) -> Result<()> {
    let most_waiting = N_WAITING * others.len();
    let queue = Queue { keeps_long: rules.runs.is_none(), ..Queue::default() };
    let read_error = thread::scope(|scope| {
        let _closing = Closing(&queue);
        for worker in others {
            // Without this thread there is one less: the reading one counts what nobody takes.
            drop(thread::Builder::new().spawn_scoped(scope, || serve(worker, rules, &queue)));
        }
        let mut has_more = true;
        while has_more && !queue.has_failed() {
            if rules.are_strict_about(&stretch) {
                // What stands before it comes first, as positions must not fall.
                count_waiting(own, rules, &queue, 0);
                queue.done(own.count(rules, &stretch), stretch);
            } else {
                queue.push(stretch);
                count_waiting(own, rules, &queue, most_waiting);
            }
            stretch = queue.spare();
            has_more = match fill(&mut stretch) {
                Ok(has_more) => has_more,
                Err(error) => return Some(error),
            };
        }
        queue.push(stretch);
        count_waiting(own, rules, &queue, 0);
        None
    });
    // What cannot be read stands behind all that was read.
    let failure = queue.into_failure().map(|failure| failure.error);
    failure.or(read_error).map_or(Ok(()), Err)
}

/// Counts stretches on the thread that reads until no more than so many wait.
fn count_waiting(own: &mut Worker, rules: Rules<'_>, queue: &Queue, most_waiting: usize) {
    while let Some(stretch) = queue.take_if_longer(most_waiting) {
        queue.done(own.count(rules, &stretch), stretch);
    }
}

/// Counts what waits until there will be nothing more.
fn serve(worker: &mut Worker, rules: Rules<'_>, queue: &Queue) {
    while let Some(stretch) = queue.wait() {
        queue.done(worker.count(rules, &stretch), stretch);
    }
}

/// Stretches on their way from the thread that reads to those that count.
#[derive(Default)]
struct Queue {
    inner: Mutex<Waiting>,
    is_changed: Condvar,
    /// Whether the memory of a stretch that was much longer than others is used again.
    keeps_long: bool,
}

#[derive(Default)]
struct Waiting {
    stretches: VecDeque<Stretch>,
    /// Counted, to be filled again.
    spares: Vec<Stretch>,
    is_closed: bool,
    /// That with the smallest position.
    failure: Option<Failure>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, stretch: Stretch) {
        self.lock().stretches.push_back(stretch);
        self.is_changed.notify_one();
    }

    /// The next stretch, waited for; `None` when there will be none.
    fn wait(&self) -> Option<Stretch> {
        let mut waiting = self.lock();
        loop {
            if waiting.failure.is_some() {
                return None;
            }
            if let Some(stretch) = waiting.stretches.pop_front() {
                return Some(stretch);
            }
            if waiting.is_closed {
                return None;
            }
            waiting = self.is_changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The next stretch if more than `n` wait.
    fn take_if_longer(&self, n: usize) -> Option<Stretch> {
        let mut waiting = self.lock();
        let is_longer = waiting.stretches.len() > n && waiting.failure.is_none();
        if is_longer { waiting.stretches.pop_front() } else { None }
    }

    fn spare(&self) -> Stretch {
        self.lock().spares.pop().unwrap_or_default()
    }

    fn done(&self, result: Counted, stretch: Stretch) {
        let mut waiting = self.lock();
        let is_kept = self.keeps_long || stretch.buffer.capacity() <= 2 * MAX_STRETCH_LEN;
        waiting.spares.extend(is_kept.then_some(stretch));
        if let Err(failure) = result {
            let is_first =
                waiting.failure.as_ref().is_none_or(|other| failure.position < other.position);
            if is_first {
                waiting.failure = Some(failure);
            }
        }
    }

    fn has_failed(&self) -> bool {
        self.lock().failure.is_some()
    }

    fn into_failure(self) -> Option<Failure> {
        self.inner.into_inner().unwrap_or_else(PoisonError::into_inner).failure
    }
}

/// Closes the queue when the reading thread leaves, however it does: nobody waits for ever.
struct Closing<'q>(&'q Queue);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.is_changed.notify_all();
    }
}
