//! Chooses and builds the engine of a pattern: the first of the possible ones that can be built.
//!
//! Left out: what the engines do, and what becomes of matches.
//! Cost: some milliseconds for the largest patterns; their windows are built later ([`super::machine`]).

use super::Engine;
use super::backtrack::Backtracker;
use super::machine::Machine;
use crate::automaton::table::Automaton;
use crate::error::{Error, ErrorKind, Result};
use crate::parser::{self, Parsed, cutters};
use crate::program::alphabet::{Alphabet, SymbolSet};
use crate::program::{self, Target};
use crate::stage::{Flavour, Pattern};
use crate::unicode::UnicodeTables;
use crate::windows::Kernel;

/// Which engines may be built for a pattern.
#[derive(Clone, Copy)]
pub(crate) struct CompileOptions<'w> {
    /// The best first.
    pub(crate) targets: &'w [Target],
    pub(crate) kernel: Option<Kernel>,
    /// Whether windows are built for the first text, whatever its length.
    pub(crate) builds_windows_at_once: bool,
}

impl CompileOptions<'_> {
    pub(crate) const NAIVE: Self =
        Self { targets: &[Target::Naive], kernel: None, builds_windows_at_once: false };
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
    options: CompileOptions<'_>,
) -> Result<Engine> {
    let mut sets = program::sets_of(&parsed.root)
        .ok_or_else(|| too_large(pattern, "more than 1,000 sets of characters"))?;
    sets.extend(parsed.word.clone());
    let alphabet = Alphabet::new(&sets)
        .ok_or_else(|| too_large(pattern, "more than 254 kinds of characters"))?;
    let word = parsed.word.as_ref().map_or_else(SymbolSet::default, |word| alphabet.mask(word));
    // What tiktoken does with an empty match is not to be seen: it has no token.
    let reports_empty = pattern.flavour == Flavour::Oniguruma;
    let engines = options.targets.iter().map(|&target| {
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
                let backtracker = Backtracker::new(program, alphabet.clone(), word, reports_empty)?;
                Some(Engine::Backtracker(Box::new(backtracker)))
            }
        }
    });
    let too_long =
        || too_large(pattern, "more than 20,000 instructions when repeats are written out");
    engines.flatten().next().ok_or_else(too_long)
}

/// Parses and compiles one pattern.
#[cfg(test)]
pub(crate) fn compile_one(
    pattern: &Pattern,
    unicode: &UnicodeTables,
    options: CompileOptions<'_>,
) -> Result<Engine> {
    compile(&parse(pattern, unicode)?, pattern, options)
}

fn too_large(pattern: &Pattern, problem: &str) -> Error {
    ErrorKind::Pattern {
        pattern: pattern.source.clone(),
        offset: 0,
        problem: format!("the pattern is too large: {problem}"),
    }
    .into()
}
