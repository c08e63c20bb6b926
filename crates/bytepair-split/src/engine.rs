//! The engine of one stage: the automaton, the backtracker or what finds runs, from a boundary to a boundary.
//!
//! A task has a limit, but pieces end where they end: an engine goes on until a boundary past the start
//! is settled, which no later text can move, or the text ends. An automaton is run by its
//! [`super::machine`]; without windows it starts in four lanes where that pays, and goes on alone.
//!
//! Left out: what happens between two places of a text ([`super::scan`], [`super::lanes`]).
//! Cost: linear in what is read for the automaton; the backtracker has no such bound, but a limit of
//! steps per match.

use super::backtrack::{Backtracker, OutOfSteps, Steps};
use super::lanes::run_in_lanes;
use super::machine::Machine;
use super::repeats::Repeats;
use super::running::{Running, State};
use super::scan::{Marked, Scan, Task};

/// The compiled pattern of a stage.
pub(super) enum Engine {
    Automaton(Box<Machine>),
    Backtracker(Box<Backtracker>),
    Repeats(Repeats),
}

/// The backtracker gave up on the match that starts here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GaveUp {
    pub(super) offset: usize,
}

impl Engine {
    /// Marks the pieces of a task; returns where it stopped, which is the end of the last complete piece.
    pub(super) fn scan(&self, task: Task<'_>, marked: &mut Marked) -> Result<usize, GaveUp> {
        let mut scan = Scan { task, marked, unmatched_end: None, end: task.text.len() };
        let end = match self {
            Self::Automaton(machine) => machine.run(&mut scan),
            Self::Backtracker(backtracker) => step_by_step(&mut scan, backtracker)?,
            Self::Repeats(repeats) => repeats.run(&mut scan),
        };
        if end < task.text.len() {
            scan.marked.starts.truncate(scan.place(end));
            scan.marked.unmatched.truncate(scan.place(end));
        }
        Ok(end)
    }
}

/// The automaton alone, in lanes where that pays.
pub(super) fn run(scan: &mut Scan<'_>, running: &Running) -> usize {
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
