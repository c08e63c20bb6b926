//! An automaton that builds its windows when they pay.
//!
//! Building windows takes half a millisecond for most patterns and a few for large ones; that pays from a quarter of a
//! megabyte of text on, or two. Most texts that reach a tenth or a fifth of that go on much further. So the machine counts the bytes
//! that it splits, and builds its windows once it has seen as many, or where one text has as many. A later stage is much
//! slower without windows, so its bytes count more. The pieces are those of the automaton either way.
//!
//! Left out: how windows and the automaton run (`windows`, `automaton::scan`).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::automaton::running::Running;
use crate::automaton::scan::{Scan, Task};
use crate::automaton::table::Automaton;
use crate::bits::{Bits, Marked};
use crate::windows::{Kernel, Scratch, WindowRun, Windows};

/// Bytes to be split for each entry of the automaton's table before windows are built.
const BYTES_PER_ENTRY: usize = 128;

/// The part of the time that does not depend on the pattern, in entries.
const N_FIXED: usize = 64;

/// A later stage without windows is slower by about this factor.
const LATER_STAGE_FACTOR: usize = 16;

pub(crate) struct Machine {
    running: Running,
    kernel: Option<Kernel>,
    /// Bytes that were to be split, and from how many on windows are built.
    n_seen: AtomicUsize,
    threshold: usize,
    /// Empty until they are built; `None` if the pattern has none.
    windows: OnceLock<Option<Windows>>,
}

impl Machine {
    /// Without a kernel there will be no windows; with one they are built for the first text, or when they pay.
    pub(crate) fn new(
        automaton: Automaton,
        kernel: Option<Kernel>,
        builds_windows_at_once: bool,
    ) -> Self {
        let n_entries = automaton.n_states() * automaton.n_classes();
        let threshold =
            if builds_windows_at_once { 0 } else { BYTES_PER_ENTRY * (N_FIXED + n_entries) };
        let (n_seen, windows) = (AtomicUsize::new(0), OnceLock::new());
        Self { running: Running::new(automaton), kernel, n_seen, threshold, windows }
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        self.running.automaton()
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// What [`Splitter::explain`](crate::Splitter::explain) says: the windows of processors that have the instructions,
    /// so that the words do not depend on the processor.
    pub(crate) fn in_words(&self) -> String {
        self.built_windows().map_or_else(|| "no windows".to_owned(), Windows::in_words)
    }

    /// The windows, built if they are not there yet. Threads that come at the same time each build them and none waits
    /// for another: a process that is forked off meanwhile could wait forever.
    fn built_windows(&self) -> Option<&Windows> {
        if self.windows.get().is_none() {
            drop(self.windows.set(Windows::new(self.automaton())));
        }
        self.windows.get()?.as_ref()
    }

    /// The windows and their kernel, if the next `length` bytes are worth it, or the `n_left` bytes that are left of
    /// the text. A task may go on far behind its limit: a pattern that seldom matches finds no piece to end with.
    fn windows(&self, length: usize, n_left: usize, factor: usize) -> Option<WindowRun<'_>> {
        let kernel = self.kernel.filter(|kernel| length >= kernel.min_len())?;
        if self.windows.get().is_none() {
            let weight = length.saturating_mul(factor);
            let n_seen = self.n_seen.fetch_add(weight, Ordering::Relaxed).saturating_add(weight);
            if n_seen.max(n_left) < self.threshold {
                return None;
            }
        }
        Some(WindowRun { running: &self.running, windows: self.built_windows()?, kernel })
    }

    /// Marks the pieces of a task; returns where it stopped, which is the end of the last complete piece.
    pub(crate) fn run(&self, scan: &mut Scan<'_>, scratch: &mut Option<Box<Scratch>>) -> usize {
        let Task { text, from, limit, .. } = scan.task;
        let by_windows = self
            .windows(limit.min(text.len()) - from, text.len() - from, 1)
            .and_then(|windows| windows.run(scan, scratch.get_or_insert_default()));
        by_windows.unwrap_or_else(|| scan.run(&self.running))
    }

    /// Marks the pieces of every marked piece of a block but those that were dropped; `false` if windows cannot do
    /// that.
    pub(crate) fn run_pieces(
        &self,
        text: &[u8],
        marked: &mut Marked,
        dropped: Option<&Bits>,
        scratch: &mut Option<Box<Scratch>>,
    ) -> bool {
        let Some(windows) = self.windows(text.len(), text.len(), LATER_STAGE_FACTOR) else {
            return false;
        };
        windows.run_pieces(text, marked, dropped, scratch.get_or_insert_default());
        true
    }
}
