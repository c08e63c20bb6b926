//! What stands before a place, told apart as far as it helps.
//!
//! A *context* is a set of letters for each of the nearest symbols before a place, with the views that all
//! texts of these letters leave. Contexts begin with the nearest symbol alone. Where that tells too little at
//! some place of a sample text, they are told apart by the symbol before, and so on; letters that leave the
//! same views stay together. The sample only decides what is worth telling apart: the views of a context are
//! those of every text that shows it. Contexts do not overlap, and what is in none is in no text.
//!
//! Cost: the number of contexts x letters steps.

use std::collections::BTreeMap;

use super::cover::merged;
use super::knowledge::{Graph, Marks, Relation, Views};
use super::letters::{LetterSet, Letters};

/// How many letters before a place are looked at.
pub(super) const N_BEFORE: usize = 4;

/// The letters of a window: those before the place, the one at it, the one behind.
pub(super) const N_SHOWN: usize = N_BEFORE + 2;

const MAX_CONTEXTS: usize = 400;

/// The letters of one window, the farthest before the place first.
pub(super) type Window = [u8; N_SHOWN];

pub(super) struct Context {
    /// Products of which one holds: for each symbol before the place, the farthest first.
    pub(super) before: Vec<Before>,
    /// By letter at the place.
    pub(super) marks: Vec<Marks>,
}

/// A set of letters for each symbol before a place, the farthest first.
pub(super) type Before = [LetterSet; N_BEFORE];

/// The contexts of a pattern, told apart for these windows. `None` if there are too many.
pub(super) fn contexts(
    graph: &Graph,
    letters: &Letters,
    sample: &[Window],
) -> Option<Vec<Context>> {
    let maker = Maker { graph, letters };
    let mut contexts = Vec::new();
    let nothing = (graph.identity(), vec![[LetterSet::MAX; N_BEFORE]]);
    maker.add(&Sequences::from([nothing]), 0, sample, &mut contexts)?;
    Some(contexts)
}

/// The windows of which the contexts tell something.
pub(super) fn known(contexts: &[Context], sample: &[Window]) -> Vec<Window> {
    let is_known = |window: &&Window| {
        let context = contexts.iter().find(|context| is_shown(**window, &context.before));
        context.is_some_and(|context| !is_unknown(&context.marks, **window))
    };
    sample.iter().filter(is_known).copied().collect()
}

fn is_unknown(marks: &[Marks], window: Window) -> bool {
    marks[usize::from(window[N_BEFORE])].with(usize::from(window[N_BEFORE + 1])).len() != 1
}

fn is_shown(window: Window, before: &[Before]) -> bool {
    let is_in =
        |before: &Before| window.iter().zip(before).all(|(&letter, set)| set >> letter & 1 == 1);
    before.iter().any(is_in)
}

struct Maker<'a> {
    graph: &'a Graph,
    letters: &'a Letters,
}

impl Maker<'_> {
    /// Adds what some sequences of so many letters, which leave the same views, fall into by the letter
    /// before them. Those sequences of which some window is still unknown are told apart in turn.
    fn add(
        &self,
        sequences: &Sequences,
        depth: usize,
        windows: &[Window],
        contexts: &mut Vec<Context>,
    ) -> Option<()> {
        for (views, sequences) in self.told_apart(sequences, depth) {
            let marks: Vec<Marks> =
                (0..self.letters.len()).map(|letter| self.marks_at(&views, letter)).collect();
            let is_open = |window: &&Window| is_unknown(&marks, **window);
            let open: Vec<Window> = windows.iter().filter(is_open).copied().collect();
            let shows_open =
                |before: &[Before]| open.iter().any(|&window| is_shown(window, before));
            let (open_sequences, others): (Sequences, Sequences) = sequences
                .into_iter()
                .partition(|(_, before)| depth + 1 < N_BEFORE && shows_open(before));
            let mut left: Vec<Before> = others.into_values().flatten().collect();
            for (relation, before) in open_sequences {
                let is_refined = self.refine((relation, &before), depth + 1, &open, contexts)?;
                left.extend(before.into_iter().filter(|_| !is_refined));
            }
            if !left.is_empty() {
                contexts.push(Context { before: merged(left), marks });
            }
        }
        (contexts.len() <= MAX_CONTEXTS).then_some(())
    }

    /// Adds what sequences fall into by the letter before them, unless that tells nothing new of the windows.
    fn refine(
        &self,
        (relation, before): (Relation, &[Before]),
        depth: usize,
        windows: &[Window],
        contexts: &mut Vec<Context>,
    ) -> Option<bool> {
        let is_here = |window: &&Window| is_shown(**window, before);
        let windows: Vec<Window> = windows.iter().filter(is_here).copied().collect();
        let n_before = contexts.len();
        self.add(&Sequences::from([(relation, before.to_vec())]), depth, &windows, contexts)?;
        let is_better = !known(&contexts[n_before..], &windows).is_empty();
        if !is_better {
            contexts.truncate(n_before);
        }
        Some(is_better)
    }

    /// The sequences with each letter before them, by the views they leave.
    fn told_apart(&self, sequences: &Sequences, depth: usize) -> BTreeMap<Views, Sequences> {
        let universe = self.graph.universe();
        let mut relations = Sequences::new();
        for (relation, before) in sequences {
            for letter in 0..self.letters.len() {
                let mut before = before.clone();
                before.iter_mut().for_each(|before| before[N_BEFORE - 1 - depth] = 1 << letter);
                let relation = self.graph.before(letter, relation);
                relations.entry(relation).or_default().extend(before);
            }
        }
        let mut groups: BTreeMap<Views, Sequences> = BTreeMap::new();
        for (relation, before) in relations {
            let views = self.graph.image(&universe, &relation);
            if views.iter().any(|&word| word != 0) {
                groups.entry(views).or_default().insert(relation, merged(before));
            }
        }
        groups
    }

    /// What may stand at a symbol with this letter, by the letter behind; nothing is asked about an edge.
    fn marks_at(&self, views: &Views, letter: usize) -> Marks {
        match self.letters.letters[letter].kind {
            Some(_) => self.graph.marks(views, letter),
            None => Marks::default(),
        }
    }
}

/// Sequences of letters by what they do to views.
type Sequences = BTreeMap<Relation, Vec<Before>>;
