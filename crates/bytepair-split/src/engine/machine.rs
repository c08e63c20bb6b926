//! An automaton and the ways to run it: by windows, or by itself.
//!
//! Windows take half a millisecond to work out, for large patterns some. That pays from half a megabyte to five on.
//! Most texts that come to a tenth or a fifth of that go on much further, so it is put off until the automaton has been
//! asked for as much; a later stage, which it splits much more slowly, asks sooner. What comes out is the same
//! either way.
//!
//! Left out: both ways themselves ([`crate::windows`], [`crate::engine`]).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::automaton::lanes;
use crate::automaton::running::Running;
use crate::automaton::scan::Scan;
use crate::automaton::table::Automaton;
use crate::bits::Bits;
use crate::marked::Marked;
use crate::windows::{Kernel, Scratch, WindowRun, Windows};

/// Bytes to be split for each entry of the automaton's table before windows are worked out.
const BYTES_PER_ENTRY: usize = 512;

/// As many entries take the time that each pattern takes.
const N_FIXED: usize = 64;

/// A later stage without windows is slower by about this factor.
const LATER_STAGE_FACTOR: usize = 16;

pub(crate) struct Machine {
    running: Running,
    kernel: Option<Kernel>,
    /// Bytes that were to be split, and after how many windows are worked out.
    n_seen: AtomicUsize,
    threshold: usize,
    /// `None` if the pattern has none.
    windows: OnceLock<Option<Windows>>,
}

impl Machine {
    /// With windows where the pattern has them and there is a kernel: at once, or where that pays.
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

    /// How it runs where the processor has the instructions, for people: the same on each.
    pub(crate) fn in_words(&self) -> String {
        let any = Kernel::Portable;
        match self.kernel.filter(|kernel| kernel.limits() == any.limits()) {
            Some(kernel) => words_of(self.windows_for(kernel)),
            None => words_of(Windows::new(self.automaton(), any).as_ref()),
        }
    }

    /// Threads that come at the same time each make them, and nobody waits for that: a process may be forked off
    /// meanwhile.
    fn windows_for(&self, kernel: Kernel) -> Option<&Windows> {
        if self.windows.get().is_none() {
            drop(self.windows.set(Windows::new(self.automaton(), kernel)));
        }
        self.windows.get()?.as_ref()
    }

    /// The windows and their kernel, if a text of this length is worth it.
    fn windows(&self, length: usize, factor: usize) -> Option<WindowRun<'_>> {
        let kernel = self.kernel.filter(|kernel| length >= kernel.min_len())?;
        if self.windows.get().is_none() {
            let weight = length.saturating_mul(factor);
            let n_seen = self.n_seen.fetch_add(weight, Ordering::Relaxed).saturating_add(weight);
            if n_seen < self.threshold {
                return None;
            }
        }
        Some(WindowRun { running: &self.running, windows: self.windows_for(kernel)?, kernel })
    }

    /// Marks the pieces of a task; returns where it stopped, which is the end of the last complete piece.
    pub(crate) fn run(&self, scan: &mut Scan<'_>, scratch: &mut Option<Box<Scratch>>) -> usize {
        let length = scan.task.limit.min(scan.task.text.len()) - scan.task.from;
        let by_windows = self
            .windows(length, 1)
            .and_then(|windows| windows.run(scan, scratch.get_or_insert_default()));
        by_windows.unwrap_or_else(|| lanes::run(scan, &self.running))
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
        let Some(windows) = self.windows(text.len(), LATER_STAGE_FACTOR) else { return false };
        windows.run_pieces(text, marked, dropped, scratch.get_or_insert_default());
        true
    }
}

fn words_of(windows: Option<&Windows>) -> String {
    windows.map_or_else(|| "no windows".to_owned(), Windows::in_words)
}
