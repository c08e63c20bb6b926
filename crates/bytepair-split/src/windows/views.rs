//! What is known about the automaton's run if only a window of the text is known.
//!
//! A *view* describes the run between two symbols of a text, given the true pieces of the text. It has the attempt that
//! makes the piece in progress, or says that there is none. If a step says that a match ends here and that the attempt
//! goes on, there are two possibilities:
//!
//! - The piece ends here. Then the attempt must never match again; it goes on as a *ghost*.
//! - The piece ends later. Then the attempt must match again.
//!
//! Likewise, an attempt that begins may succeed, or it may fail, and then its symbol is unmatched. A view is left out if
//! every way from it leads to a contradiction (an attempt dies that had to match, or a ghost matches): it belongs to no
//! text. So the possible views after some symbols are a set that is found by stepping, and the true view is in it.
//! Forgetting a ghost, or starting with all views, only adds views.
//!
//! `docs/explanation/splitting.md` has the proof. Left out: the choice of windows ([`super::contexts`]).
//! Cost: a view has two states at most. Published patterns have a few dozen views; more than [`MAX_VIEWS`] are refused.

use std::collections::{BTreeMap, BTreeSet};

use super::letters::{Kinds, LetterSet, Letters};
use crate::automaton::Automaton;
use crate::bits::Bits;

const MAX_VIEWS: usize = 2000;

/// What happens at a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The piece goes on.
    Inside,
    /// A piece that is a match starts.
    Match,
    /// A run that matches nothing starts.
    Unmatched,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Base {
    /// At an edge, or after a match.
    Between,
    /// After an unmatched symbol.
    Unmatched,
    /// In an attempt that will match, here or later.
    Attempt(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct View {
    base: Base,
    /// The state of an earlier attempt that must not match any more; 0 if there is none.
    ghost: usize,
    /// The promise of the last symbol, if that is in the run set.
    promise: Option<bool>,
}

/// A set of views, as bits.
pub(super) type Views = Bits;

/// A set of views for each view.
pub(super) type Relation = Vec<Views>;

/// All views and the steps between them.
pub(super) struct Graph {
    n_letters: usize,
    /// By view and letter.
    steps: Vec<Vec<(Mark, usize)>>,
    n_views: usize,
    /// The first views have no ghost and no promise. Every other view is one of these with more knowledge.
    n_universal: usize,
    /// By view: the letters that may come next.
    next_letters: Vec<LetterSet>,
}

impl Graph {
    /// `None` if there are too many views.
    pub(super) fn new(automaton: &Automaton, kinds: &Kinds, letters: &Letters) -> Option<Self> {
        let mut builder =
            GraphBuilder { automaton, kinds, letters, views: Vec::new(), numbers: BTreeMap::new() };
        for state in builder.states_within() {
            builder.number(View { base: Base::Attempt(state), ghost: 0, promise: None });
        }
        if !automaton.covers_everything() {
            builder.number(View { base: Base::Unmatched, ghost: 0, promise: None });
        }
        builder.number(View { base: Base::Between, ghost: 0, promise: None });
        let n_universal = builder.views.len();
        let (mut steps, mut index) = (Vec::new(), 0);
        while index < builder.views.len() {
            for letter in 0..letters.len() {
                let mut steps_on = Vec::new();
                builder.steps(builder.views[index], letter, &mut steps_on);
                steps.push(steps_on);
            }
            index += 1;
            if builder.views.len() > MAX_VIEWS {
                return None;
            }
        }
        let n_views = builder.views.len();
        let n_letters = letters.len();
        let next_letters = Vec::new();
        let mut graph = Self { n_letters, steps, n_views, n_universal, next_letters };
        graph.keep_what_ends(letters.edge());
        graph.next_letters = (0..n_views).map(|view| graph.letters_from(view)).collect();
        Some(graph)
    }

    /// Every view that is possible after a letter if nothing is known about the text before it.
    pub(super) fn after(&self, letter: usize) -> Views {
        let steps = (0..self.n_universal).flat_map(|view| self.steps_on(view, letter));
        set_of(steps.map(|step| step.1))
    }

    /// The relation of the empty sequence: each view stays as it is.
    pub(super) fn identity(&self) -> Relation {
        (0..self.n_views).map(|view| set_of(std::iter::once(view))).collect()
    }

    /// The relation of a letter and the letters after it.
    pub(super) fn before(&self, letter: usize, following: &Relation) -> Relation {
        let row =
            |view: usize| union(self.steps_on(view, letter).iter().map(|step| &following[step.1]));
        (0..self.n_views).map(row).collect()
    }

    /// The marks that are possible at a symbol with this letter, each with the letters that may follow.
    pub(super) fn marks(&self, views: &Views, letter: usize) -> PossibleMarks {
        let mut marks = PossibleMarks::default();
        for view in views.iter() {
            for &(mark, next) in self.steps_on(view, letter) {
                *marks.of(mark) |= self.next_letters[next];
            }
        }
        marks
    }

    fn steps_on(&self, view: usize, letter: usize) -> &[(Mark, usize)] {
        &self.steps[view * self.n_letters + letter]
    }

    fn letters_from(&self, view: usize) -> LetterSet {
        let may = |letter: &usize| !self.steps_on(view, *letter).is_empty();
        (0..self.n_letters).filter(may).fold(0, |set, letter| set | 1 << letter)
    }

    /// Removes the steps to views from which no text can end.
    fn keep_what_ends(&mut self, edge: usize) {
        let mut ends = vec![false; self.n_views];
        loop {
            let goes_on = |view: usize, letter: usize| {
                self.steps_on(view, letter).iter().any(|step| letter == edge || ends[step.1])
            };
            let is_new = |&view: &usize| {
                !ends[view] && (0..self.n_letters).any(|letter| goes_on(view, letter))
            };
            let new: Vec<usize> = (0..self.n_views).filter(is_new).collect();
            if new.is_empty() {
                break;
            }
            new.into_iter().for_each(|view| ends[view] = true);
        }
        self.steps.iter_mut().for_each(|steps| steps.retain(|step| ends[step.1]));
    }
}

/// For each mark, the next letters with which it is possible. A letter in none of the sets follows in no text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PossibleMarks {
    pub(super) inside: LetterSet,
    pub(super) matches: LetterSet,
    pub(super) unmatched: LetterSet,
}

/// The next letters with which the answer is yes, and those with which it is no. With any other letter, either answer
/// will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answers {
    pub(super) yes: LetterSet,
    pub(super) no: LetterSet,
}

impl PossibleMarks {
    /// Whether a piece starts, if that is certain.
    pub(super) fn starts(&self) -> Answers {
        let starts = self.matches | self.unmatched;
        Answers { yes: starts & !self.inside, no: self.inside & !starts }
    }

    /// Whether a run that matches nothing starts, if that is certain.
    pub(super) fn starts_unmatched(&self) -> Answers {
        let other = self.inside | self.matches;
        Answers { yes: self.unmatched & !other, no: other & !self.unmatched }
    }

    /// Whether nothing is certain.
    pub(super) fn is_unknown(&self) -> Answers {
        let starts = self.matches | self.unmatched;
        let several = starts & self.inside | self.matches & self.unmatched;
        Answers { yes: several, no: (starts | self.inside) & !several }
    }

    fn of(&mut self, mark: Mark) -> &mut LetterSet {
        match mark {
            Mark::Inside => &mut self.inside,
            Mark::Match => &mut self.matches,
            Mark::Unmatched => &mut self.unmatched,
        }
    }
}

struct GraphBuilder<'a> {
    automaton: &'a Automaton,
    kinds: &'a Kinds,
    letters: &'a Letters,
    views: Vec<View>,
    numbers: BTreeMap<View, usize>,
}

impl GraphBuilder<'_> {
    fn number(&mut self, view: View) -> usize {
        let next = self.views.len();
        let number = *self.numbers.entry(view).or_insert(next);
        if number == next {
            self.views.push(view);
        }
        number
    }

    /// The states that some step leads to.
    fn states_within(&self) -> Vec<usize> {
        let n_classes = self.automaton.n_classes();
        let rows = 1..=self.automaton.n_states();
        let pairs = rows.flat_map(|row| (0..n_classes).map(move |class| (row, class)));
        let states = pairs.map(|(row, class)| self.automaton.step(row, class).1);
        let states: BTreeSet<usize> = states.filter(|&state| state > 0).collect();
        states.into_iter().collect()
    }

    /// The steps from a view on a letter; none if the letter contradicts the view.
    fn steps(&mut self, view: View, letter: usize, steps: &mut Vec<(Mark, usize)>) {
        let shown = self.letters.letters[letter];
        if !self.keeps_promise(view.promise, letter) {
            return;
        }
        let Some(kind) = shown.kind else { return self.step_over_edge(view, steps) };
        let class = self.kinds.class_of[kind];
        let ghost = match view.ghost {
            0 => 0,
            ghost => match self.automaton.step(ghost, class) {
                (true, _) => return,
                (false, next) => next,
            },
        };
        let promise = shown.promise;
        match view.base {
            Base::Between | Base::Unmatched => {
                self.begin(class, View { ghost, promise, ..view }, steps);
            }
            Base::Attempt(state) => {
                let (is_matched, next) = self.automaton.step(state, class);
                if next > 0 {
                    let view = View { base: Base::Attempt(next), ghost, promise };
                    steps.push((Mark::Inside, self.number(view)));
                }
                if is_matched {
                    let ghost = newer(next, ghost);
                    self.begin(class, View { base: Base::Between, ghost, promise }, steps);
                }
            }
        }
    }

    /// Begins an attempt at a symbol. `view` has the base before that symbol, and the ghost and promise after it.
    fn begin(&mut self, class: usize, view: View, steps: &mut Vec<(Mark, usize)>) {
        let View { base, ghost, promise } = view;
        let (is_matched, next) = self.automaton.step(1, class);
        if next > 0 {
            let view = View { base: Base::Attempt(next), ghost, promise };
            steps.push((Mark::Match, self.number(view)));
        }
        if self.automaton.covers_everything() {
            return;
        }
        let is_reported = is_matched && self.automaton.reports_empty();
        let mark =
            if base == Base::Unmatched && !is_reported { Mark::Inside } else { Mark::Unmatched };
        let ghost = newer(next, ghost);
        steps.push((mark, self.number(View { base: Base::Unmatched, ghost, promise })));
    }

    fn step_over_edge(&mut self, view: View, steps: &mut Vec<(Mark, usize)>) {
        let end = usize::from(self.automaton.alphabet().end());
        let matches = |state: usize| self.automaton.step(state, end).0;
        let contradicts = view.ghost > 0 && matches(view.ghost)
            || matches!(view.base, Base::Attempt(state) if !matches(state));
        if !contradicts {
            let view = View { base: Base::Between, ghost: 0, promise: None };
            steps.push((Mark::Inside, self.number(view)));
        }
    }

    fn keeps_promise(&self, promise: Option<bool>, letter: usize) -> bool {
        let Some(promise) = promise else { return true };
        match self.letters.letters[letter].promise {
            Some(next) => next == promise,
            None => self.letters.is_goal(letter) == promise,
        }
    }
}

/// Only the newer of two ghosts is kept.
fn newer(ghost: usize, before: usize) -> usize {
    if ghost > 0 { ghost } else { before }
}

fn set_of(views: impl Iterator<Item = usize>) -> Views {
    let mut set = Views::default();
    views.for_each(|view| set.insert(view));
    set
}

fn union<'v>(sets: impl Iterator<Item = &'v Views>) -> Views {
    let mut union = Views::default();
    sets.for_each(|set| union.union(set));
    union
}

/// The views that some views become.
pub(super) fn image(views: &Views, relation: &Relation) -> Views {
    union(views.iter().map(|view| &relation[view]))
}
