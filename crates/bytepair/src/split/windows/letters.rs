//! What a window shows of each byte: its letter.
//!
//! The first byte of a symbol shows the symbol's kind, where classes that the automaton cannot tell apart are
//! one kind; each byte behind it shows that it continues a symbol of this kind. The kinds of one set, the
//! *run set*, also show what follows the run of such symbols that they stand in: a symbol of the *goal set*
//! or another; the end of the text is the one or the other. So a window sees as far as the run reaches. A last letter
//! stands for an edge: what is before a text's start and behind its end.
//!
//! Left out: how bytes become letters ([`super::classify`]).

use super::super::automaton::Automaton;

/// Sets of letters, as bits.
pub(super) type LetterSet = u128;

/// More letters are not for windows.
pub(super) const MAX_LETTERS: usize = 128;

/// What a run set sees behind its runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Foresight {
    /// Which kinds are in the run set.
    pub(super) run: Vec<bool>,
    /// Which kinds are in the goal set; none is in both.
    pub(super) goal: Vec<bool>,
    /// Whether the end of the text is a goal too.
    pub(super) has_end: bool,
}

/// Classes by what the automaton does on them.
#[derive(Clone, Debug)]
pub(super) struct Kinds {
    /// By class.
    pub(super) kind_of: Vec<usize>,
    /// By kind: one of its classes.
    pub(super) class_of: Vec<usize>,
    /// By kind: whether some of its characters have several bytes.
    pub(super) is_long: Vec<bool>,
}

impl Kinds {
    pub(super) fn new(automaton: &Automaton) -> Self {
        let long_classes = automaton.alphabet().long_classes();
        let n_rows = automaton.n_states();
        let column =
            |class: usize| (1..=n_rows).map(|row| automaton.step(row, class)).collect::<Vec<_>>();
        let mut kinds = Self { kind_of: Vec::new(), class_of: Vec::new(), is_long: Vec::new() };
        let mut columns: Vec<Vec<(bool, usize)>> = Vec::new();
        for class in 0..automaton.n_classes() {
            let column = column(class);
            let known = columns.iter().position(|other| *other == column);
            let kind = known.unwrap_or(columns.len());
            if known.is_none() {
                columns.push(column);
                kinds.class_of.push(class);
                kinds.is_long.push(false);
            }
            kinds.kind_of.push(kind);
            kinds.is_long[kind] |=
                u8::try_from(class).is_ok_and(|class| long_classes.contains(class));
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
    /// For the bytes behind the first of a symbol: the letter of the first.
    pub(super) first: Option<usize>,
}

/// All letters of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Letters {
    pub(super) letters: Vec<Letter>,
    pub(super) foresight: Option<Foresight>,
}

impl Letters {
    /// `None` if there are too many.
    pub(super) fn new(kinds: &Kinds, foresight: Option<Foresight>) -> Option<Self> {
        let mut letters = Vec::new();
        for kind in 0..kinds.n_kinds() {
            let is_in_run = foresight.as_ref().is_some_and(|foresight| foresight.run[kind]);
            let promises: &[_] = if is_in_run { &[Some(false), Some(true)] } else { &[None] };
            for &promise in promises {
                let first = letters.len();
                let letter = Letter { kind: Some(kind), promise, first: None };
                letters.push(letter);
                let next = Letter { first: Some(first), ..letter };
                letters.extend(kinds.is_long[kind].then_some(next));
            }
        }
        letters.push(Letter { kind: None, promise: None, first: None });
        (letters.len() <= MAX_LETTERS).then_some(Self { letters, foresight })
    }

    pub(super) fn len(&self) -> usize {
        self.letters.len()
    }

    /// The letter of an edge.
    pub(super) fn edge(&self) -> usize {
        self.letters.len() - 1
    }

    /// Whether symbols with this first letter may go on with another byte.
    pub(super) fn is_long(&self, first: usize) -> bool {
        self.letters.get(first + 1).is_some_and(|next| next.first == Some(first))
    }

    /// The first letter of a kind, with its promise if it is in the run set.
    pub(super) fn first_of(&self, kind: usize, promise: bool) -> usize {
        let is_it = |letter: &Letter| {
            letter.kind == Some(kind)
                && letter.first.is_none()
                && letter.promise.is_none_or(|other| other == promise)
        };
        self.letters.iter().position(is_it).unwrap_or(self.edge())
    }

    /// The same letter with this promise, if it is of the run set.
    pub(super) fn with_promise(&self, letter: usize, promise: bool) -> Option<usize> {
        let shown = self.letters[letter];
        shown.promise?;
        let first = self.first_of(shown.kind?, promise);
        Some(if shown.first.is_some() { first + 1 } else { first })
    }

    pub(super) fn is_in_run(&self, letter: usize) -> bool {
        self.letters[letter].promise.is_some()
    }

    pub(super) fn is_goal(&self, letter: usize) -> bool {
        let Some(foresight) = &self.foresight else { return false };
        self.letters[letter].kind.map_or(foresight.has_end, |kind| foresight.goal[kind])
    }
}
