//! The engine of one stage: the automaton or the backtracker, from a boundary to a boundary.
//!
//! A task has a limit, but pieces end where they end: an engine goes on until a boundary past the start
//! is settled, which no later text can move, or the text ends. The automaton starts in four lanes where
//! that pays, and goes on alone.
//!
//! Left out: what happens between two places of a text ([`super::scan`], [`super::lanes`]).
//! Cost: linear in what is read for the automaton; the backtracker has no such bound, but a limit of
//! steps per match.

use std::sync::OnceLock;

use super::automaton::Automaton;
use super::backtrack::{Backtracker, OutOfSteps, Steps};
use super::bits::Bits;
use super::lanes::run_in_lanes;
use super::running::{Running, State};
use super::scan::{Marked, Scan, Task};
use super::windows::{self, Found, Kernel, Windows};

/// The compiled pattern of a stage.
pub(super) enum Engine {
    Automaton(Box<Machine>),
    Backtracker(Box<Backtracker>),
}

/// An automaton and the ways to run it.
pub(super) struct Machine {
    running: Running,
    kernel: Option<Kernel>,
    /// Made for the first text that is long enough; `None` if the pattern has none.
    windows: OnceLock<Option<Windows>>,
}

impl Machine {
    /// With windows where the pattern has them and there is a kernel.
    pub(super) fn new(automaton: Automaton, kernel: Option<Kernel>) -> Self {
        Self { running: Running::new(automaton), kernel, windows: OnceLock::new() }
    }

    /// The windows and their kernel, if a text of this length is worth it.
    fn windows(&self, length: usize) -> Option<(&Windows, Kernel)> {
        let kernel = self.kernel.filter(|kernel| length >= kernel.min_len())?;
        let windows = self.windows.get_or_init(|| Windows::new(self.automaton(), kernel));
        Some((windows.as_ref()?, kernel))
    }

    pub(super) fn automaton(&self) -> &Automaton {
        self.running.automaton()
    }

    /// How it runs, for people.
    pub(super) fn in_words(&self) -> String {
        let windows = self.windows(usize::MAX);
        windows.map_or_else(|| "four lanes".to_owned(), |(windows, _)| windows.in_words())
    }
}

/// The backtracker gave up on the match that starts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GaveUp {
    pub(super) offset: usize,
}

impl Engine {
    /// Marks the pieces of a task; returns where it stopped, which is the end of the last complete piece.
    pub(super) fn scan(&self, task: Task<'_>, marked: &mut Marked) -> Result<usize, GaveUp> {
        let mut scan = Scan { task, marked, unmatched_end: None };
        let end = match self {
            Self::Automaton(machine) => machine.run(&mut scan),
            Self::Backtracker(backtracker) => step_by_step(&mut scan, backtracker)?,
        };
        if end < task.text.len() {
            scan.marked.starts.truncate(scan.place(end));
            scan.marked.unmatched.truncate(scan.place(end));
        }
        Ok(end)
    }
}

impl Machine {
    /// Marks the pieces of every marked piece of a block but those left out, if windows can do that.
    pub(super) fn run_pieces(
        &self,
        text: &[u8],
        marked: &mut Marked,
        left_out: Option<&Bits>,
    ) -> bool {
        let Some((windows, kernel)) = self.windows(text.len()) else { return false };
        let mut scratch = std::mem::take(&mut marked.scratch);
        let machine = (&self.running, windows, kernel);
        windows::run_pieces(text, (&mut *marked, left_out), machine, &mut scratch);
        marked.scratch = scratch;
        true
    }

    fn run(&self, scan: &mut Scan<'_>) -> usize {
        let length = scan.task.limit.min(scan.task.text.len()) - scan.task.from;
        if let Some((windows, kernel)) = self.windows(length) {
            let mut scratch = std::mem::take(&mut scan.marked.scratch);
            let found = windows::run(scan, (&self.running, windows, kernel), &mut scratch);
            scan.marked.scratch = scratch;
            if let Found::End(end) = found {
                return end;
            }
        }
        run(scan, &self.running)
    }
}

fn run(scan: &mut Scan<'_>, running: &Running) -> usize {
    let mut limit = scan.task.limit.min(scan.task.text.len());
    let mut place = (scan.task.from, State::BOUNDARY);
    if let Some((rest, reached)) = run_in_lanes(running, Task { limit, ..scan.task }, scan.marked) {
        scan.task = rest;
        place = reached;
    }
    let Task { text, from, .. } = scan.task;
    loop {
        let (offset, state, is_stopped) = scan.run_on(running, place, limit);
        let is_at_end = !is_stopped && offset >= text.len();
        if is_at_end && running.ends_here(state) {
            return text.len();
        }
        if is_stopped || is_at_end {
            place = scan.look_back(running, offset);
            continue;
        }
        if let Some(boundary) = scan.last_settled(offset, state, running.unmatched_state()) {
            return boundary;
        }
        limit = text.len().min(limit + (limit - from).max(64));
        place = (offset, state);
    }
}

fn step_by_step(scan: &mut Scan<'_>, backtracker: &Backtracker) -> Result<usize, GaveUp> {
    let Task { text, from, limit, .. } = scan.task;
    let mut place = (from, State::BOUNDARY);
    let unmatched = State::UNMATCHED;
    let mut steps = Steps::new(from);
    while place.0 < text.len() {
        let start = place.0;
        if start >= limit
            && let Some(boundary) = scan.last_settled(start, place.1, unmatched)
        {
            return Ok(boundary);
        }
        let end = backtracker
            .attempt(text, start, &mut steps)
            .map_err(|OutOfSteps| GaveUp { offset: start })?;
        scan.marked.starts.insert(scan.place(start));
        place = scan.settle(start, end, |at| backtracker.class_at(text, at).1, unmatched);
    }
    Ok(text.len())
}
