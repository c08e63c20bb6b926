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
use crate::windows::{self, Found, Kernel, Scratch, Windows};

/// Bytes to be split for each entry of the automaton's table before windows are worked out.
const PATIENCE: usize = 512;

/// As many entries take the time that each pattern takes.
const N_FIXED: usize = 64;

/// A later stage without windows is slower by about this factor.
const HASTE: usize = 16;

pub(crate) struct Machine {
    running: Running,
    kernel: Option<Kernel>,
    /// Bytes that were to be split, and after how many windows are worked out.
    asked: AtomicUsize,
    patience: usize,
    /// `None` if the pattern has none.
    windows: OnceLock<Option<Windows>>,
}

impl Machine {
    /// With windows where the pattern has them and there is a kernel: at once, or where that pays.
    pub(crate) fn new(automaton: Automaton, kernel: Option<Kernel>, is_at_once: bool) -> Self {
        let n_entries = automaton.n_states() * automaton.n_classes();
        let patience = if is_at_once { 0 } else { PATIENCE * (N_FIXED + n_entries) };
        let (asked, windows) = (AtomicUsize::new(0), OnceLock::new());
        Self { running: Running::new(automaton), kernel, asked, patience, windows }
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        self.running.automaton()
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// How it runs where the processor has the instructions, for people: the same on each.
    pub(crate) fn in_words(&self) -> String {
        let any = Kernel::Plain;
        match self.kernel.filter(|kernel| kernel.limits() == any.limits()) {
            Some(kernel) => words_of(self.made(kernel)),
            None => words_of(Windows::new(self.automaton(), any).as_ref()),
        }
    }

    /// Threads that come at the same time each make them, and nobody waits for that: a process may be forked off
    /// meanwhile.
    fn made(&self, kernel: Kernel) -> Option<&Windows> {
        if self.windows.get().is_none() {
            drop(self.windows.set(Windows::new(self.automaton(), kernel)));
        }
        self.windows.get()?.as_ref()
    }

    /// The windows and their kernel, if a text of this length is worth it.
    fn windows(&self, length: usize, haste: usize) -> Option<(&Windows, Kernel)> {
        let kernel = self.kernel.filter(|kernel| length >= kernel.min_len())?;
        if self.windows.get().is_none() {
            let weight = length.saturating_mul(haste);
            let asked = self.asked.fetch_add(weight, Ordering::Relaxed).saturating_add(weight);
            if asked < self.patience {
                return None;
            }
        }
        Some((self.made(kernel)?, kernel))
    }

    /// Marks the pieces of a task; returns where it stopped, which is the end of the last complete piece.
    pub(crate) fn run(&self, scan: &mut Scan<'_>, scratch: &mut Option<Box<Scratch>>) -> usize {
        let length = scan.task.limit.min(scan.task.text.len()) - scan.task.from;
        if let Some((windows, kernel)) = self.windows(length, 1) {
            let scratch = scratch.get_or_insert_default();
            let found = windows::run(scan, (&self.running, windows, kernel), scratch);
            if let Found::End(end) = found {
                return end;
            }
        }
        lanes::run(scan, &self.running)
    }

    /// Marks the pieces of every marked piece of a block but those left out, if windows can do that.
    pub(crate) fn run_pieces(
        &self,
        text: &[u8],
        marked: &mut Marked,
        left_out: Option<&Bits>,
        scratch: &mut Option<Box<Scratch>>,
    ) -> bool {
        let Some((windows, kernel)) = self.windows(text.len(), HASTE) else { return false };
        let machine = (&self.running, windows, kernel);
        windows::run_pieces(text, (marked, left_out), machine, scratch.get_or_insert_default());
        true
    }
}

fn words_of(windows: Option<&Windows>) -> String {
    windows.map_or_else(|| "no windows".to_owned(), Windows::in_words)
}
