//! Where pieces start, read off small windows of the text, many places at once.
//!
//! The automaton of a real pattern forgets quickly: a few symbols on, its state does not depend on what came
//! before. So whether a piece starts at a place follows from the few letters around it, but for some windows.
//! What follows for certain is worked out from the automaton ([`knowledge`], [`contexts`]), as far as it helps
//! with a sample of texts ([`sample`]), and written as products of letter sets ([`cover`], [`fewer`],
//! [`program`]), which are looked up 64 places at a time ([`kernels`]). Where nothing is certain, the automaton
//! runs from the last certain start to the next ([`spans`]).
//!
//! `docs/explanation/splitting.md` has the proof. Left out: patterns with too many letters, views or
//! products, and processors without the instructions; these stay with [`super::lanes`].
//! Cost: half a CPU cycle per byte of ASCII in real patterns, two for other scripts.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod classify;
mod common;
mod contexts;
mod cover;
mod fewer;
mod kernels;
mod knowledge;
mod letters;
mod meetings;
mod moves;
mod program;
mod sample;
mod spans;
#[cfg(test)]
mod tests;
mod wide;

use self::classify::Reader;
use self::common::Common;
use self::contexts::{Context, Window, contexts};
use self::cover::{Product, cover, loosened};
pub(super) use self::kernels::Kernel;
use self::knowledge::{Graph, Marks};
use self::letters::{Foresight, Kinds, Letters};
use self::program::{Group, Numbering};
use self::sample::{Sample, windows_at};
pub(super) use self::spans::{Found, Scratch, run, run_pieces};
use super::automaton::Automaton;

/// More foresights are not compared. Real patterns have three.
const MAX_FORESIGHTS: usize = 64;

/// Words are sorted only where that spares so many look-ups.
const MIN_SPARED: usize = 8;

/// A pattern as windows.
pub(super) struct Windows {
    reader: Reader,
    all: Program,
    /// For windows that show common letters alone, with what holds where another one stands.
    common: Option<(Program, Group)>,
    n_letters: usize,
    has_foresight: bool,
}

/// What is asked of windows.
struct Program {
    /// Where a piece starts, if that is certain.
    starts: Vec<Group>,
    /// Where it is not.
    unknown: Vec<Group>,
    /// Where what starts matches nothing, if that is certain; none if no text has such places.
    unmatched: Vec<Group>,
}

/// What is known about all windows of a pattern.
struct Analysis {
    letters: Letters,
    contexts: Vec<Context>,
    /// The windows of the sample of which something is known.
    known: Vec<Window>,
}

impl Windows {
    /// `None` if the pattern is too large, or too large for the kernel.
    pub(super) fn new(automaton: &Automaton, kernel: Kernel) -> Option<Self> {
        let kinds = Kinds::new(automaton);
        let analysis = Analysis::best(automaton, &kinds)?;
        let Analysis { letters, contexts, known } = &analysis;
        let starts = cover(contexts, letters.len(), Marks::starts)?;
        let unknown = cover(contexts, letters.len(), Marks::is_unknown)?;
        let unknown = loosened(&unknown, known, letters.len());
        let unmatched = if automaton.covers_everything() {
            Vec::new()
        } else {
            cover(contexts, letters.len(), Marks::starts_unmatched)?
        };
        let products = [&starts[..], &unknown, &unmatched];
        let common =
            Common::new((automaton.alphabet(), &kinds), &analysis, automaton.covers_everything());
        let with_common = common.and_then(|common| {
            let Common { starts, unknown, unmatched, .. } = &common;
            let sets = common.sets();
            let lists = [&products[..], &[starts, unknown, unmatched, &sets]].concat();
            Some((Numbering::new(letters, &lists)?, common))
        });
        let (max_numbers, max_steps) = kernel.limits();
        let with_common = with_common.filter(|(numbering, _)| numbering.n_numbers <= max_numbers);
        let (numbering, common) = match with_common {
            Some((numbering, common)) => (numbering, Some(common)),
            None => (Numbering::new(letters, &products)?, None),
        };
        let all = Program::new(&numbering, products);
        let common = common.map(|common| {
            let Common { letters, starts, unknown, unmatched } = &common;
            let program = Program::new(&numbering, [starts, unknown, unmatched]);
            (program, numbering.set(!letters))
        });
        let windows = Self {
            reader: Reader::new(automaton.alphabet(), &kinds, letters, &numbering),
            common: common.filter(|(program, _)| program.spares_much_of(&all)),
            all,
            n_letters: numbering.n_numbers,
            has_foresight: letters.foresight.is_some(),
        };
        let is_small = windows.n_letters <= max_numbers && windows.all.n_steps() <= max_steps;
        is_small.then_some(windows)
    }

    /// For people: the letters and the table look-ups for each byte.
    pub(super) fn in_words(&self) -> String {
        let ahead = if self.has_foresight { ", runs looked through" } else { "" };
        let common = self.common.as_ref().map_or_else(String::new, |(program, _)| {
            format!(", {} where no rare letter is near", program.n_steps() + 1)
        });
        let n_steps = self.all.n_steps();
        format!("windows of {} letters, {n_steps} look-ups{common}{ahead}", self.n_letters)
    }
}

impl Program {
    fn new(numbering: &Numbering, [starts, unknown, unmatched]: [&[Product]; 3]) -> Self {
        let groups = |products: &[Product]| numbering.groups(products);
        Self { starts: groups(starts), unknown: groups(unknown), unmatched: groups(unmatched) }
    }

    /// The look-ups for each byte.
    fn n_steps(&self) -> usize {
        self.groups().into_iter().flatten().map(|group| group.steps.len()).sum()
    }

    /// Whether it pays to tell which words it is enough for: it leaves half of the look-ups at most.
    fn spares_much_of(&self, all: &Self) -> bool {
        let n_spared = all.n_steps().saturating_sub(self.n_steps() + 1);
        n_spared >= MIN_SPARED && 2 * n_spared >= all.n_steps()
    }

    /// Of starts, of what is unknown, of what matches nothing.
    fn groups(&self) -> [&[Group]; 3] {
        [&self.starts, &self.unknown, &self.unmatched]
    }
}

impl Analysis {
    /// With the foresight that leaves the least unknown of the sample, if any helps.
    fn best(automaton: &Automaton, kinds: &Kinds) -> Option<Self> {
        let sample = Sample::new(automaton, kinds);
        let places = sample.places();
        let outlook = |foresight: Option<Foresight>, places: &[usize]| {
            let letters = Letters::new(kinds, foresight)?;
            let graph = Graph::new(automaton, kinds, &letters)?;
            Some(Outlook::new(letters, graph, &sample, places))
        };
        let mut best = outlook(None, &places)?;
        let open = best.unknown.clone();
        // Their graphs may be large: of all but the best the foresight alone is kept.
        let mut others = Vec::new();
        // What is known without a foresight is known with any.
        for foresight in if open.is_empty() { Vec::new() } else { foresights(automaton, kinds) } {
            let Some(mut next) = outlook(Some(foresight), &open) else { continue };
            if next.n_unknown < best.n_unknown {
                std::mem::swap(&mut best, &mut next);
            }
            others.push((next.n_unknown, next.letters.foresight));
        }
        best.analysis(&places).or_else(|| {
            others.sort_by_key(|other| other.0);
            let mut others = others.into_iter();
            others.find_map(|(_, foresight)| outlook(foresight, &places)?.analysis(&places))
        })
    }
}

/// The letters of a foresight or of none, and how they show the sample.
struct Outlook {
    letters: Letters,
    graph: Graph,
    shown: Vec<u8>,
    /// The places of which windows tell nothing.
    unknown: Vec<usize>,
    /// How many windows they have.
    n_unknown: usize,
}

impl Outlook {
    /// Of some places of the sample.
    fn new(letters: Letters, graph: Graph, sample: &Sample, places: &[usize]) -> Self {
        let shown = sample.shown(&letters);
        let unknown = sample::unknown(&graph, &shown, places);
        let n_unknown = windows_at(&shown, &unknown).len();
        Self { letters, graph, shown, unknown, n_unknown }
    }

    fn analysis(self, places: &[usize]) -> Option<Analysis> {
        let windows = windows_at(&self.shown, places);
        let (contexts, known) = contexts(&self.graph, &self.letters, windows)?;
        Some(Analysis { letters: self.letters, contexts, known })
    }
}

/// For each set of kinds on which some state stays itself: what makes the attempt go on behind such a run. Only
/// states that die on something else with a match that ended earlier leave a doubt that lasts a run.
fn foresights(automaton: &Automaton, kinds: &Kinds) -> Vec<Foresight> {
    let mut found: Vec<Foresight> = Vec::new();
    for state in 1..=automaton.n_states() {
        let step = |kind: usize| automaton.step(state, kinds.class_of[kind]);
        let all = 0..kinds.n_kinds();
        let run: Vec<bool> = all.clone().map(|kind| step(kind).1 == state).collect();
        let goal: Vec<bool> = all.clone().map(|kind| !run[kind] && step(kind).1 > 0).collect();
        let leaves_doubt = all.clone().any(|kind| step(kind) == (false, 0));
        let end = usize::from(automaton.alphabet().end());
        let foresight = Foresight { run, goal, has_end: automaton.step(state, end).0 };
        let is_useful = foresight.run.contains(&true) && foresight.goal.contains(&true);
        if leaves_doubt && is_useful && !found.contains(&foresight) {
            found.push(foresight);
        }
        if found.len() == MAX_FORESIGHTS {
            break;
        }
    }
    found
}
