//! What the caches of several threads learn at the same time, for one another.
//!
//! Each thread has a cache of its own, which no other reads. So two threads would merge most pieces of a text twice, and a
//! text that comes again would be new to the one that did not have it.
//!
//! ```text
//! each time a cache has learned 256 short pieces:
//!     append them to the log, while that has room
//!     remember those that others have appended since it last read the log
//! ```
//!
//! *Why it is safe*: all caches of a log belong to one tokenizer, and the value of a slot is all ids of its piece. What
//! lies in the ring of a cache is not shared.
//!
//! *Cost*: 1 MiB for a call, and up to what merging a piece takes for each one that is read. So the log is short: the
//! pieces that come first are the frequent ones.

use std::sync::{Arc, Mutex, PoisonError};

use super::Slot;

/// Pieces that a cache learns before it exchanges them.
const BATCH_LEN: usize = if cfg!(test) { 4 } else { 256 };

/// Slots of a log, at most.
const MAX_LEN: usize = if cfg!(test) { 40 } else { 1 << 15 };

/// A log as one of its caches uses it.
#[derive(Default)]
pub(super) struct SharedLog {
    /// In the order in which they were appended.
    slots: Arc<Mutex<Vec<Slot>>>,
    /// How many of them this cache has appended or read.
    n_read: usize,
    /// What it has learned since then.
    learned: Vec<Slot>,
}

impl SharedLog {
    /// This log for another cache.
    pub(super) fn for_another(&self) -> Self {
        Self { slots: Arc::clone(&self.slots), ..Self::default() }
    }

    /// Notes a slot that was learned; returns whether it is time to [exchange](Self::exchange).
    pub(super) fn note(&mut self, slot: Slot) -> bool {
        self.learned.push(slot);
        self.learned.len() >= BATCH_LEN
    }

    /// Appends what was learned, and returns what other caches have appended since the last time.
    pub(super) fn exchange(&mut self) -> Vec<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let new = slots[self.n_read..].to_vec();
        let n_free = MAX_LEN - slots.len();
        slots.extend(self.learned.drain(..).take(n_free));
        self.n_read = slots.len();
        new
    }
}
