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
//! [`compile()`] chooses the engine: the first of the possible ones that can be built. Left out: what becomes of matches
//! (`stages::behaviour`). Cost: some milliseconds for the largest patterns; their windows are built later ([`machine`]).

pub(crate) mod backtrack;
pub(crate) mod machine;
pub(crate) mod one_character_runs;
#[cfg(test)]
mod tests;

use self::backtrack::{Backtracker, GaveUp};
use self::machine::Machine;
use self::one_character_runs::Repeats;
use crate::automaton::scan::{Scan, Task};
use crate::automaton::table::Automaton;
use crate::bits::Marked;
use crate::error::{Error, ErrorKind, Result};
use crate::parser::{self, Parsed, cutters};
use crate::program::alphabet::{Alphabet, SymbolSet};
use crate::program::{self, Target};
use crate::stages::{Flavour, Pattern};
use crate::unicode::UnicodeTables;
use crate::windows::{Kernel, Scratch};

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

/// Which engines may be built for a pattern.
#[derive(Clone, Copy, Default)]
pub(crate) struct CompileOptions {
    /// Only the naive one, which takes as many steps as it needs.
    pub(crate) is_naive: bool,
    pub(crate) kernel: Option<Kernel>,
    /// Whether windows are built for the first text, whatever its length.
    pub(crate) builds_windows_at_once: bool,
}

/// A pattern as it is read.
pub(crate) fn parse(pattern: &Pattern, unicode: &UnicodeTables) -> Result<Parsed> {
    match pattern.flavour {
        Flavour::Cutter => cutters::parse(pattern, unicode),
        flavour => parser::parse(&pattern.source, flavour, unicode),
    }
}

/// The first of the engines that can be built for what a pattern, or several, were read as.
pub(crate) fn compile(
    parsed: &Parsed,
    pattern: &Pattern,
    options: CompileOptions,
) -> Result<Engine> {
    let mut sets = program::sets_of(&parsed.root)
        .ok_or_else(|| too_large(pattern, "more than 1,000 sets of characters"))?;
    sets.extend(parsed.word.clone());
    let alphabet = Alphabet::new(&sets)
        .ok_or_else(|| too_large(pattern, "more than 254 kinds of characters"))?;
    let word = parsed.word.as_ref().map_or_else(SymbolSet::default, |word| alphabet.mask(word));
    // What tiktoken does with an empty match is not to be seen: it has no token.
    let reports_empty = pattern.flavour == Flavour::Oniguruma;
    let targets: &[Target] = if options.is_naive { &[Target::Naive] } else { &Target::BEST_FIRST };
    let engines = targets.iter().map(|&target| {
        let program = program::compile(&parsed.root, &alphabet, target)?;
        match target {
            Target::Automaton | Target::Ahead => {
                let automaton = Automaton::new(&program, alphabet.clone(), reports_empty)?;
                Some(Engine::Automaton(Box::new(Machine::new(
                    automaton,
                    options.kernel,
                    options.builds_windows_at_once,
                ))))
            }
            Target::Backtracker | Target::Naive => {
                let mut backtracker =
                    Backtracker::new(program, alphabet.clone(), word, reports_empty)?;
                if options.is_naive {
                    backtracker.take_all_steps();
                }
                Some(Engine::Backtracker(Box::new(backtracker)))
            }
        }
    });
    let too_long =
        || too_large(pattern, "more than 20,000 instructions when repeats are written out");
    engines.flatten().next().ok_or_else(too_long)
}

fn too_large(pattern: &Pattern, problem: &str) -> Error {
    ErrorKind::Pattern {
        pattern: pattern.source.clone(),
        offset: 0,
        problem: format!("the pattern is too large: {problem}"),
    }
    .into()
}
