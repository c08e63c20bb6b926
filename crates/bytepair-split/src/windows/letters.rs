//! What a window shows of each symbol: its letter.
//!
//! A symbol shows its kind: classes that the automaton cannot tell apart are one kind. Symbols of one set of kinds, the
//! *run set*, also show their *promise*: whether a symbol of the *goal set* follows the run of such symbols. The end of
//! the text counts as a goal or not. So a window sees as far as the run reaches. The last letter is the edge: it is
//! shown before the start and after the end of a text.
//!
//! Left out: how bytes become letters ([`super::reader`]).

use crate::automaton::Automaton;

/// How many letters before a place are shown.
pub(super) const N_BEFORE: usize = 4;

/// The letters of a window: those before the place, the one at it, and the one after it.
pub(super) const N_SHOWN: usize = N_BEFORE + 2;

/// The letters of one window, the farthest before the place first.
pub(super) type Window = [u8; N_SHOWN];

/// Sets of letters, as bits.
pub(super) type LetterSet = u128;

/// Patterns with more letters have no windows.
pub(super) const MAX_LETTERS: usize = 128;

/// A set of letters for each distance.
pub(super) type Product = [LetterSet; N_SHOWN];

/// A set of letters for each symbol before a place, the farthest first.
pub(super) type Before = [LetterSet; N_BEFORE];

/// More lookaheads are not compared. Published patterns have three.
const MAX_LOOKAHEADS: usize = 8;

/// The run set, and what may follow its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lookahead {
    /// Which kinds are in the run set.
    pub(super) run: Vec<bool>,
    /// Which kinds are in the goal set; no kind is in both sets.
    pub(super) goal: Vec<bool>,
    /// Whether the end of the text is a goal too.
    pub(super) has_end: bool,
}

/// Classes grouped by what the automaton does on them.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    /// By class.
    pub(super) kind_of: Vec<usize>,
    /// By kind: one of its classes.
    pub(super) class_of: Vec<usize>,
}

impl Kinds {
    pub(super) fn new(automaton: &Automaton) -> Self {
        let n_rows = automaton.n_states();
        let column =
            |class: usize| (1..=n_rows).map(|row| automaton.step(row, class)).collect::<Vec<_>>();
        let mut kinds = Self { kind_of: Vec::new(), class_of: Vec::new() };
        let mut columns: Vec<Vec<(bool, usize)>> = Vec::new();
        for class in 0..automaton.n_classes() {
            let column = column(class);
            let known = columns.iter().position(|other| *other == column);
            let kind = known.unwrap_or(columns.len());
            if known.is_none() {
                columns.push(column);
                kinds.class_of.push(class);
            }
            kinds.kind_of.push(kind);
        }
        kinds
    }

    pub(super) fn n_kinds(&self) -> usize {
        self.class_of.len()
    }
}

/// One letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letter {
    /// The kind; `None` at an edge.
    pub(super) kind: Option<usize>,
    /// For kinds of the run set: whether a symbol of the goal set follows the run.
    pub(super) promise: Option<bool>,
}

/// All letters of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Letters {
    pub(super) letters: Vec<Letter>,
    pub(super) lookahead: Option<Lookahead>,
}

impl Letters {
    /// `None` if there are too many.
    pub(super) fn new(kinds: &Kinds, lookahead: Option<Lookahead>) -> Option<Self> {
        let mut letters = Vec::new();
        for kind in 0..kinds.n_kinds() {
            let is_in_run = lookahead.as_ref().is_some_and(|lookahead| lookahead.run[kind]);
            let promises: &[_] = if is_in_run { &[Some(false), Some(true)] } else { &[None] };
            letters.extend(promises.iter().map(|&promise| Letter { kind: Some(kind), promise }));
        }
        letters.push(Letter { kind: None, promise: None });
        (letters.len() <= MAX_LETTERS).then_some(Self { letters, lookahead })
    }

    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// The letter of an edge.
    pub(super) fn edge(&self) -> usize {
        self.letters.len() - 1
    }

    /// The letter of a kind, with its promise if it is in the run set.
    pub(super) fn of(&self, kind: usize, promise: bool) -> usize {
        let is_it = |letter: &Letter| {
            letter.kind == Some(kind) && letter.promise.is_none_or(|other| other == promise)
        };
        self.letters.iter().position(is_it).unwrap_or(self.edge())
    }

    /// The letter with the kind of another letter and this promise; `None` if that letter is not in the run set.
    pub(super) fn with_promise(&self, letter: usize, promise: bool) -> Option<usize> {
        let shown = self.letters[letter];
        shown.promise?;
        Some(self.of(shown.kind?, promise))
    }

    pub(super) fn is_in_run(&self, letter: usize) -> bool {
        self.letters[letter].promise.is_some()
    }

    pub(super) fn is_goal(&self, letter: usize) -> bool {
        let Some(lookahead) = &self.lookahead else { return false };
        self.letters[letter].kind.map_or(lookahead.has_end, |kind| lookahead.goal[kind])
    }
}

pub(super) fn all_letters(n_letters: usize) -> LetterSet {
    LetterSet::MAX >> (LetterSet::BITS as usize - n_letters)
}

/// The letters of a set.
pub(super) fn members(set: LetterSet) -> impl Iterator<Item = usize> {
    (0..(LetterSet::BITS - set.leading_zeros()) as usize)
        .filter(move |letter| set >> letter & 1 == 1)
}

/// For each set of kinds on which some state stays the same: the kinds on which the attempt goes on after such a run.
/// Only states in which an attempt may die after its match has ended are considered: only they leave a doubt that lasts
/// for a run.
pub(super) fn lookaheads(automaton: &Automaton, kinds: &Kinds) -> Vec<Lookahead> {
    let mut found: Vec<Lookahead> = Vec::new();
    for state in 1..=automaton.n_states() {
        let step = |kind: usize| automaton.step(state, kinds.class_of[kind]);
        let all = 0..kinds.n_kinds();
        let run: Vec<bool> = all.clone().map(|kind| step(kind).1 == state).collect();
        let goal: Vec<bool> = all.clone().map(|kind| !run[kind] && step(kind).1 > 0).collect();
        let leaves_doubt = all.clone().any(|kind| step(kind) == (false, 0));
        let end = usize::from(automaton.alphabet().end());
        let lookahead = Lookahead { run, goal, has_end: automaton.step(state, end).0 };
        let is_useful = lookahead.run.contains(&true) && lookahead.goal.contains(&true);
        if leaves_doubt && is_useful && !found.contains(&lookahead) {
            found.push(lookahead);
        }
        if found.len() == MAX_LOOKAHEADS {
            break;
        }
    }
    found
}

/// Joins products that differ at one distance at most, until no join is left.
pub(super) fn merged<const N: usize>(mut products: Vec<[LetterSet; N]>) -> Vec<[LetterSet; N]> {
    let mut n_before = usize::MAX;
    while products.len() < n_before {
        n_before = products.len();
        let mut kept: Vec<[LetterSet; N]> = Vec::new();
        for product in products {
            match kept.iter_mut().find(|other| n_differences(other, &product) <= 1) {
                Some(twin) => twin.iter_mut().zip(product).for_each(|(one, other)| *one |= other),
                None => kept.push(product),
            }
        }
        products = kept;
    }
    products
}

fn n_differences<const N: usize>(one: &[LetterSet; N], other: &[LetterSet; N]) -> usize {
    (0..N).filter(|&index| one[index] != other[index]).count()
}
