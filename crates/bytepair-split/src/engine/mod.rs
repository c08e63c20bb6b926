//! What runs one stage, from a boundary of pieces to a boundary.
//!
//! A task has a limit, but pieces end where they end: an engine goes on until a boundary past its start is settled, which
//! no later text can move, or until the text ends.
//!
//! | | runs | cost |
//! |---|---|---|
//! | [`machine`] | patterns that look one symbol ahead: by windows, or by the automaton alone | linear |
//! | [`backtrack`] | all other patterns, and every pattern as the naive twin of tests | a limit of steps |
//! | [`one_character_runs`] | runs of one character | linear |
//!
//! [`compile`] chooses the engine. Left out: what becomes of matches (`stages::behaviour`).

pub(crate) mod backtrack;
pub(crate) mod compile;
pub(crate) mod machine;
pub(crate) mod one_character_runs;
#[cfg(test)]
mod tests;

use self::backtrack::{Backtracker, GaveUp};
use self::machine::Machine;
use self::one_character_runs::Repeats;
use crate::automaton::scan::{Scan, Task};
use crate::bits::Marked;
use crate::windows::Scratch;

/// The compiled pattern of a stage.
pub(crate) enum Engine {
    Automaton(Box<Machine>),
    Backtracker(Box<Backtracker>),
    Repeats(Repeats),
}

impl Engine {
    /// Marks the pieces of a task; returns where it stopped, which is the end of the last complete piece.
    pub(crate) fn scan(
        &self,
        task: Task<'_>,
        marked: &mut Marked,
        scratch: &mut Option<Box<Scratch>>,
    ) -> Result<usize, GaveUp> {
        let mut scan = Scan { task, marked, unmatched_end: None };
        let end = match self {
            Self::Automaton(machine) => machine.run(&mut scan, scratch),
            Self::Backtracker(backtracker) => backtracker.run(&mut scan)?,
            Self::Repeats(repeats) => repeats.run(&mut scan),
        };
        if end < task.text.len() {
            scan.marked.starts.truncate(scan.place(end));
            scan.marked.unmatched.truncate(scan.place(end));
        }
        Ok(end)
    }
}
