//! The engines that run one stage, from one boundary of pieces to another.
//!
//! A task has a limit, but an engine cannot stop at any offset. It goes on until it has a boundary past its start that no
//! later text can move, or until the text ends.
//!
//! | | runs | cost |
//! |---|---|---|
//! | [`Machine`] | patterns that look one symbol ahead: by windows, or by the automaton alone | linear |
//! | [`backtrack`] | all other patterns, and every pattern as the naive twin in tests | a limit of steps |
//! | [`one_character_runs`] | runs of one character | linear |
//!
//! [`compile()`] chooses the first engine that can be built. Left out: what happens to matches (`stages`).
//! Cost: some milliseconds for the largest patterns; their windows are built later.

pub(crate) mod backtrack;
pub(crate) mod one_character_runs;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::backtrack::{Backtracker, GaveUp};
use self::one_character_runs::Repeats;
use crate::automaton::Automaton;
use crate::automaton::running::Running;
use crate::automaton::scan::{Scan, Task};
use crate::bits::{Bits, Marked};
use crate::error::{Error, ErrorKind, Result};
use crate::parser::{self, Parsed, cutters};
use crate::program::alphabet::{Alphabet, SymbolSet};
use crate::program::{self, Target};
use crate::stage::{Flavour, Pattern};
use crate::unicode::UnicodeTables;
use crate::windows::{Kernel, Scratch, WindowRun, Windows};

/// The compiled pattern of a stage.
pub(crate) enum Engine {
    Automaton(Box<Machine>),
    Backtracker(Box<Backtracker>),
    Repeats(Repeats),
}

impl Engine {
    /// Marks the pieces of a task. Returns where it stopped: the end of the last complete piece.
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
    /// Builds only the naive engine, which takes as many steps as it needs.
    pub(crate) is_naive: bool,
    pub(crate) kernel: Option<Kernel>,
    /// Whether windows are built for the first text, whatever its length.
    pub(crate) builds_windows_at_once: bool,
}

/// Parses a pattern.
pub(crate) fn parse(pattern: &Pattern, unicode: &UnicodeTables) -> Result<Parsed> {
    match pattern.flavour {
        Flavour::Cutter => cutters::parse(pattern, unicode),
        flavour => parser::parse(&pattern.source, flavour, unicode),
    }
}

/// Builds the first engine that can be built for a parsed pattern, or for several patterns parsed into one.
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
    // In tiktoken, an empty match has no effect: it has no token.
    let reports_empty = pattern.flavour == Flavour::Oniguruma;
    let targets: &[Target] = if options.is_naive { &[Target::Naive] } else { &Target::BEST_FIRST };
    let engines = targets.iter().map(|&target| {
        let program = program::compile(&parsed.root, &alphabet, target)?;
        match target {
            Target::Automaton | Target::Ahead => {
                let automaton = Automaton::new(&program, alphabet.clone(), reports_empty)?;
                Some(Engine::Automaton(Box::new(Machine::new(automaton, options))))
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

/// Bytes to split, for each entry of the automaton's table, before windows are built.
const BYTES_PER_ENTRY: usize = 128;

/// The part of the building time that does not depend on the pattern, in entries.
const N_FIXED: usize = 64;

/// For shorter texts the preparation does not pay.
const MIN_LEN: usize = if crate::SMALL { 1 } else { 64 };

/// A later stage is slower by about this factor without windows.
const LATER_STAGE_FACTOR: usize = 16;

/// An automaton that builds its windows when they pay.
///
/// Building windows takes half a millisecond for most patterns and a few for large ones. That pays after a quarter of a
/// megabyte of text, or after two megabytes. Most texts that reach a tenth or a fifth of that go on much further. So the
/// machine counts the bytes that it splits, and builds its windows after enough of them, or when one text is long
/// enough. A later stage is much slower without windows, so its bytes count more. The pieces are those of the automaton
/// either way.
pub(crate) struct Machine {
    running: Running,
    kernel: Option<Kernel>,
    /// The bytes seen so far, and the number of bytes at which windows are built.
    n_seen: AtomicUsize,
    threshold: usize,
    /// Empty until they are built; `None` inside if the pattern has none.
    windows: OnceLock<Option<Windows>>,
}

impl Machine {
    /// Without a kernel there will be no windows. With one, they are built for the first text or when they pay.
    fn new(automaton: Automaton, options: CompileOptions) -> Self {
        let n_entries = automaton.n_states() * automaton.n_classes();
        let threshold = match options.builds_windows_at_once {
            true => 0,
            false => BYTES_PER_ENTRY * (N_FIXED + n_entries),
        };
        let (n_seen, windows) = (AtomicUsize::new(0), OnceLock::new());
        let (running, kernel) = (Running::new(automaton), options.kernel);
        Self { running, kernel, n_seen, threshold, windows }
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        self.running.automaton()
    }

    pub(crate) fn running(&self) -> &Running {
        &self.running
    }

    /// The text for [`Splitter::explain`](crate::Splitter::explain). It describes the windows of processors that have the
    /// instructions, so that it does not depend on the processor.
    pub(crate) fn in_words(&self) -> String {
        self.built_windows().map_or_else(|| "no windows".to_owned(), Windows::in_words)
    }

    /// The windows, built if they are not there yet. Threads that come at the same time each build them, and none waits for
    /// another: a process that is forked off meanwhile could wait forever.
    fn built_windows(&self) -> Option<&Windows> {
        if self.windows.get().is_none() {
            drop(self.windows.set(Windows::new(self.automaton())));
        }
        self.windows.get()?.as_ref()
    }

    /// The windows and their kernel, if they pay for the next `length` bytes or for the `n_left` bytes that are left of
    /// the text. A task may go on far past its limit: a pattern that seldom matches finds no piece to end with.
    fn windows(&self, length: usize, n_left: usize, factor: usize) -> Option<WindowRun<'_>> {
        let kernel = self.kernel.filter(|_| length >= MIN_LEN)?;
        if self.windows.get().is_none() {
            let weight = length.saturating_mul(factor);
            let n_seen = self.n_seen.fetch_add(weight, Ordering::Relaxed).saturating_add(weight);
            if n_seen.max(n_left) < self.threshold {
                return None;
            }
        }
        Some(WindowRun { running: &self.running, windows: self.built_windows()?, kernel })
    }

    /// Marks the pieces of a task. Returns where it stopped: the end of the last complete piece.
    pub(crate) fn run(&self, scan: &mut Scan<'_>, scratch: &mut Option<Box<Scratch>>) -> usize {
        let Task { text, from, limit, .. } = scan.task;
        let by_windows = self
            .windows(limit.min(text.len()) - from, text.len() - from, 1)
            .and_then(|windows| windows.run(scan, scratch.get_or_insert_default()));
        by_windows.unwrap_or_else(|| scan.run(&self.running))
    }

    /// Splits each piece of a block that was not dropped, and marks the new pieces. Returns `false` if windows cannot do
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
