//! What stands before a place, told apart as far as it helps.
//!
//! A *context* is a set of letters for each of the nearest bytes before a place, with the views that all
//! texts of these letters leave. Contexts begin with the nearest byte alone. Where that tells too little at
//! some place of a sample text, they are told apart by the byte before, and so on; letters that leave the
//! same views stay together. The sample only decides what is worth telling apart: the views of a context are
//! those of every text that shows it. Contexts do not overlap, and what is in none is in no text.
//!
//! Cost: the number of contexts x letters steps.

use std::collections::BTreeMap;

use super::cover::merged;
use super::knowledge::{Graph, Marks, Relation, Views};
use super::letters::{LetterSet, Letters};

/// How many letters before a place are looked at. A comma of three bytes and the last byte of what is
/// before it fit in.
pub(super) const N_BEFORE: usize = 4;

/// The letters of a window: those before the place, the one at it, the one behind.
pub(super) const N_SHOWN: usize = N_BEFORE + 2;

const MAX_CONTEXTS: usize = 400;

/// The letters of one window, the farthest before the place first.
pub(super) type Window = [usize; N_SHOWN];

pub(super) struct Context {
    /// Products of which one holds: for each byte before the place, the farthest first.
    pub(super) before: Vec<Before>,
    /// By letter at the place.
    pub(super) marks: Vec<Marks>,
}

/// A set of letters for each byte before a place, the farthest first.
pub(super) type Before = [LetterSet; N_BEFORE];

/// The contexts of a pattern, told apart for these windows. `None` if there are too many.
pub(super) fn contexts(
    graph: &Graph,
    letters: &Letters,
    sample: &[Window],
) -> Option<Vec<Context>> {
    let maker = Maker { graph, letters };
    let mut contexts = Vec::new();
    let nothing = ((None, graph.identity()), vec![[LetterSet::MAX; N_BEFORE]]);
    maker.add(&Sequences::from([nothing]), 0, sample, &mut contexts)?;
    Some(contexts)
}

/// The windows of which the contexts tell something.
pub(super) fn known(contexts: &[Context], sample: &[Window]) -> Vec<Window> {
    let is_known = |window: &&Window| {
        let context = contexts.iter().find(|context| is_shown(window, &context.before));
        context.is_some_and(|context| !is_unknown(&context.marks, window))
    };
    sample.iter().filter(is_known).copied().collect()
}

fn is_unknown(marks: &[Marks], window: &Window) -> bool {
    marks[window[N_BEFORE]].with(window[N_BEFORE + 1]).len() != 1
}

fn is_shown(window: &Window, before: &[Before]) -> bool {
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
            let is_open = |window: &&Window| is_unknown(&marks, window);
            let open: Vec<Window> = windows.iter().filter(is_open).copied().collect();
            let shows_open = |before: &[Before]| open.iter().any(|window| is_shown(window, before));
            let (open_sequences, others): (Sequences, Sequences) = sequences
                .into_iter()
                .partition(|(_, before)| depth + 1 < N_BEFORE && shows_open(before));
            let mut left: Vec<Before> = others.into_values().flatten().collect();
            for (effect, before) in open_sequences {
                let is_refined = self.refine((effect, &before), depth + 1, &open, contexts)?;
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
        (effect, before): (Effect, &[Before]),
        depth: usize,
        windows: &[Window],
        contexts: &mut Vec<Context>,
    ) -> Option<bool> {
        let is_here = |window: &&Window| is_shown(window, before);
        let windows: Vec<Window> = windows.iter().filter(is_here).copied().collect();
        let n_before = contexts.len();
        self.add(&Sequences::from([(effect, before.to_vec())]), depth, &windows, contexts)?;
        let is_better = !known(&contexts[n_before..], &windows).is_empty();
        if !is_better {
            contexts.truncate(n_before);
        }
        Some(is_better)
    }

    /// The sequences with each letter before them, by the views they leave.
    fn told_apart(&self, sequences: &Sequences, depth: usize) -> BTreeMap<Views, Sequences> {
        let universe = self.graph.universe();
        let mut effects = Sequences::new();
        let letters = 0..self.letters.len();
        let pairs = sequences
            .iter()
            .flat_map(|sequence| letters.clone().map(move |letter| (sequence, letter)));
        for (((open, relation), before), letter) in pairs {
            let Some(effect) = self.effect(letter, *open, relation) else { continue };
            let mut before = before.clone();
            before.iter_mut().for_each(|before| before[N_BEFORE - 1 - depth] = 1 << letter);
            effects.entry(effect).or_default().extend(before);
        }
        let mut groups: BTreeMap<Views, Sequences> = BTreeMap::new();
        for ((open, relation), before) in effects {
            let views = match open {
                Some(first) => self.graph.after(&universe, first),
                None => universe.clone(),
            };
            let views = self.graph.image(&views, &relation);
            if views.iter().any(|&word| word != 0) {
                groups.entry(views).or_default().insert((open, relation), merged(before));
            }
        }
        groups
    }

    /// What a letter and then a sequence do; `None` if no text shows that.
    fn effect(&self, letter: usize, open: Option<usize>, relation: &Relation) -> Option<Effect> {
        match (open, self.letters.letters[letter].first) {
            (Some(open), None) if open != letter => None,
            (Some(open), Some(first)) if open != first => None,
            (_, None) => Some((None, self.graph.before(letter, relation))),
            (_, first) => Some((first, relation.clone())),
        }
    }

    /// What may stand at a byte with this letter, by the letter behind. Inside of a symbol no piece starts;
    /// nothing is asked about an edge.
    fn marks_at(&self, views: &Views, letter: usize) -> Marks {
        let shown = self.letters.letters[letter];
        if shown.first.is_some() {
            return Marks { inside: LetterSet::MAX, ..Marks::default() };
        }
        if shown.kind.is_none() {
            return Marks::default();
        }
        let mut marks = self.graph.marks(views, letter);
        if self.letters.is_long(letter) {
            let next = 1 << (letter + 1);
            let sets = [&mut marks.inside, &mut marks.matches, &mut marks.unmatched];
            sets.into_iter().filter(|set| **set != 0).for_each(|set| *set |= next);
        }
        marks
    }
}

/// Sequences of letters by what they do to views: if the farthest byte is inside of a symbol, the first letter
/// of that symbol; what the other symbols do.
type Sequences = BTreeMap<Effect, Vec<Before>>;

type Effect = (Option<usize>, Relation);
