//! Patterns that look at most one symbol ahead, as a deterministic automaton, and the ways to run it.
//!
//! | | |
//! |---|---|
//! | [`running`] | a second table, which goes from piece to piece without a branch for each piece |
//! | [`scan`] | looks back when the running automaton cannot decide, in linear time |
//!
//! This file builds the table of states from instructions. It gives the exact outcome of one attempt, and proofs for all
//! texts.
//!
//! A step on a symbol tells whether a match ends before the symbol, and which state follows. An attempt takes steps
//! until no state is left. The last match that it saw is its match.
//!
//! Proven from the table: where a text may be cut ([`Automaton::safe_cuts`]), which classes no match takes, and whether
//! matches cover every text.
//!
//! Left out: automata with more than [`MAX_STATES`] states, which a few patterns would have (the backtracker takes over),
//! minimization, several places at once by vectors (`windows`), and patterns that look further (`engine::backtrack`).
//! Cost: one dependent look-up for each character of an attempt, and a table of states × classes numbers, a few KB for
//! published patterns.

pub(crate) mod running;
pub(crate) mod scan;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::parser::tree::Anchor;
use crate::program::alphabet::{Alphabet, SymbolSet};
use crate::program::{Instruction, InstructionId, Program};
use crate::symbol::{boundary_at_or_after, length_before};

/// Above this the backtracker takes over.
const MAX_STATES: usize = 10_000;

/// The most instructions visited while building.
const MAX_WORK: usize = 20_000_000;

/// Flag in an entry of the exact table: a match ends before the symbol.
const MATCHED: u32 = 1 << 31;

/// The rest of an entry of the exact table: where the row of the next state starts.
const STATE: u32 = MATCHED - 1;

/// No attempt goes on from here.
const DEAD: u32 = 0;

pub(crate) struct Automaton {
    alphabet: Alphabet,
    /// Entries per row; the last is for the end of the text.
    stride: usize,
    start: u32,
    exact: Vec<u32>,
    /// For each class, the classes before which a cut changes no piece.
    safe: Vec<SymbolSet>,
    /// For each class, the classes before which a cut does no more than divide a piece.
    dividing: Vec<SymbolSet>,
    /// The classes whose symbols no match contains.
    never_matched: SymbolSet,
    covers_everything: bool,
    /// Whether an empty match counts as a match.
    reports_empty: bool,
    /// The state in which an attempt starts after a word character, if that matters.
    start_in_word: u32,
}

/// One attempt: where its match ends, if it has one, and how far it read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) end: Option<usize>,
    pub(crate) reach: usize,
}

impl Automaton {
    /// `None` if it would be too large.
    pub(crate) fn new(program: &Program, alphabet: Alphabet, reports_empty: bool) -> Option<Self> {
        let mut automaton = Self::of_program(program, alphabet, SymbolSet::default())?;
        automaton.reports_empty = reports_empty;
        automaton.safe = automaton.safe_cuts();
        automaton.dividing = automaton.dividing_cuts();
        for class in automaton.alphabet.classes() {
            if automaton.states_after(usize::from(class)).is_empty() {
                automaton.never_matched.insert(class);
            }
        }
        automaton.covers_everything = automaton.proves_cover();
        Some(automaton)
    }

    /// The states of a program, enough for [`Automaton::is_ahead`]. It may have word boundaries; `word` has the word characters.
    pub(crate) fn of_program(
        program: &Program,
        alphabet: Alphabet,
        word: SymbolSet,
    ) -> Option<Self> {
        let stride = alphabet.n_classes() + 1;
        let mut builder = Builder::new(program, stride, word);
        builder.number(vec![program.start], false)?;
        let start_in_word = builder.number(vec![program.start], true)?;
        let exact = builder.build()?;
        Some(Self {
            stride,
            start: u32::try_from(stride).ok()?,
            safe: Vec::new(),
            dividing: Vec::new(),
            never_matched: SymbolSet::default(),
            covers_everything: false,
            reports_empty: false,
            start_in_word,
            exact,
            alphabet,
        })
    }

    pub(crate) fn n_states(&self) -> usize {
        self.exact.len() / self.stride - 1
    }

    pub(crate) fn n_classes(&self) -> usize {
        self.alphabet.n_classes()
    }

    /// Whether matches cover every text.
    pub(crate) fn covers_everything(&self) -> bool {
        self.covers_everything
    }

    /// Whether a cut between two classes is safe; see [`Automaton::safe_cuts`].
    pub(crate) fn is_safe(&self, before: u8, after: u8) -> bool {
        self.safe[usize::from(before)].contains(after)
    }

    /// Whether a cut between two classes at most divides a piece; see [`Automaton::dividing_cuts`].
    pub(crate) fn divides_at_most(&self, before: u8, after: u8) -> bool {
        self.dividing[usize::from(before)].contains(after)
    }

    /// Whether no match contains a symbol of this class.
    pub(crate) fn is_never_matched(&self, class: u8) -> bool {
        self.never_matched.contains(class)
    }

    /// The classes of the symbols before and after a place; `None` if the place is inside a symbol.
    pub(crate) fn classes_around(&self, text: &[u8], place: usize) -> Option<[u8; 2]> {
        let is_boundary = boundary_at_or_after(text, place) == place;
        let before = is_boundary.then(|| place - length_before(text, place))?;
        Some([before, place].map(|at| self.alphabet.class_at(text, at).0))
    }

    pub(crate) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The step on a class, or on the end of the text, from the state of a row; the first row is 1. Returns whether a
    /// match ends before the symbol, and the row of the next state, 0 if the attempt ends.
    pub(crate) fn step(&self, row: usize, symbol: usize) -> (bool, usize) {
        let entry = self.exact[row * self.stride + symbol];
        (entry & MATCHED != 0, (entry & STATE) as usize / self.stride)
    }

    /// The rows in which an attempt may start.
    pub(crate) fn starts(&self) -> [usize; 2] {
        [self.start, self.start_in_word].map(|state| state as usize / self.stride)
    }

    /// Whether an empty match counts as a match.
    pub(crate) fn reports_empty(&self) -> bool {
        self.reports_empty
    }

    /// Whether an attempt before this class, or before the end of the text, ends at once with an empty match that counts.
    pub(crate) fn is_empty_match(&self, symbol: usize) -> bool {
        self.reports_empty && self.step(1, symbol) == (true, 0)
    }

    /// Makes one attempt at `from`. With verdicts, it stops when they say that no match follows, and adds what it learns.
    #[inline]
    pub(crate) fn attempt(
        &self,
        text: &[u8],
        from: usize,
        mut verdicts: Option<&mut Verdicts>,
    ) -> Attempt {
        let (mut state, mut offset, mut end) = (self.start, from, None);
        while state != DEAD {
            if let Some(verdicts) = &mut verdicts
                && verdicts.look_up(offset, state) == Some(false)
            {
                break;
            }
            let (symbol, length) = self.alphabet.symbol_at(text, offset);
            let entry = self.exact[state as usize + usize::from(symbol)];
            if entry & MATCHED != 0 {
                end = Some(offset);
                verdicts.iter_mut().for_each(|verdicts| verdicts.learn(offset, true));
            }
            state = entry & STATE;
            offset += length;
        }
        verdicts.into_iter().for_each(|verdicts| verdicts.learn(offset, false));
        let end = end.filter(|&end| end > from || self.reports_empty);
        Attempt { end, reach: offset.min(text.len()) }
    }

    /// Whether some match starts at `from`, empty or not. `verdicts` keeps what is learned and ends later walks of the same
    /// automaton early: all walks together are linear in the text.
    pub(crate) fn is_ahead(
        &self,
        text: &[u8],
        from: usize,
        is_in_word: bool,
        verdicts: &mut Verdicts,
    ) -> bool {
        let mut state = if is_in_word { self.start_in_word } else { self.start };
        let mut offset = from;
        let mut is_found = false;
        while state != DEAD && !is_found {
            if let Some(known) = verdicts.look_up(offset, state) {
                is_found = known;
                break;
            }
            let (symbol, length) = self.alphabet.symbol_at(text, offset);
            let entry = self.exact[state as usize + usize::from(symbol)];
            is_found = entry & MATCHED != 0;
            state = entry & STATE;
            offset += length;
        }
        verdicts.learn(offset, is_found);
        is_found
    }

    /// A cut between classes `a` and `b` is safe if an attempt may start on `a`, and if in every state that a step on
    /// `a` leads to, reading `b` or the end of the text ends the attempt with its match exactly there.
    ///
    /// Then, whichever attempt takes this `a`, its piece ends between them, with or without the text after it. An
    /// attempt that dies before it takes `a` never reads further than `a`. If no earlier piece takes `a`, an attempt
    /// starts on it. So a piece starts at `b` in any case, and the pieces on each side do not depend on the other side.
    fn safe_cuts(&self) -> Vec<SymbolSet> {
        self.alphabet.classes().map(|class| self.safe_after(class)).collect()
    }

    fn safe_after(&self, before: u8) -> SymbolSet {
        let mut safe = SymbolSet::default();
        let states = self.states_after(usize::from(before));
        let end_before = |symbol: u8| {
            states.iter().all(|&state| self.step(state, usize::from(symbol)) == (true, 0))
        };
        let may_start = self.step(1, usize::from(before)).1 > 0;
        if may_start && end_before(self.alphabet.end()) {
            self.alphabet
                .classes()
                .filter(|&after| end_before(after))
                .for_each(|after| safe.insert(after));
        }
        safe
    }

    /// A cut between classes `a` and `b` at most divides a piece if in every state that a step on `a` leads to, the text
    /// may end with a match there, and reading `b` either ends the attempt with its match before `b`, or leads to a
    /// state that goes on like the one to which `b` leads an attempt that starts on it, and in which a match ends after
    /// `b` whatever follows.
    ///
    /// Then no attempt that takes this `a` has its match end before the cut. In the text before the cut it ends there.
    /// If it goes on, an attempt that starts at `b` is in the same state after `b`, and ends at the same place. If no
    /// attempt takes this `a`, it is between matches, and the next attempt starts at `b` with the cut and without.
    fn dividing_cuts(&self) -> Vec<SymbolSet> {
        self.alphabet.classes().map(|class| self.dividing_after(class)).collect()
    }

    fn dividing_after(&self, before: u8) -> SymbolSet {
        let mut dividing = SymbolSet::default();
        let states = self.states_after(usize::from(before));
        let end = usize::from(self.alphabet.end());
        let cuts_at_nothing = self.reports_empty && (0..=end).any(|symbol| self.step(1, symbol).0);
        if cuts_at_nothing || !states.iter().all(|&state| self.step(state, end).0) {
            return dividing;
        }
        let always_matches = |row: usize| (0..=end).all(|symbol| self.step(row, symbol).0);
        let goes_on_alike = |row: usize, other: usize| {
            (0..=end).all(|symbol| self.step(row, symbol) == self.step(other, symbol))
        };
        let goes_on = |after: u8| {
            let after = usize::from(after);
            let fresh = self.step(1, after).1;
            states.iter().all(|&state| match self.step(state, after) {
                (is_match, 0) => is_match,
                (_, next) => fresh > 0 && goes_on_alike(next, fresh) && always_matches(next),
            })
        };
        let classes = self.alphabet.classes().filter(|&after| goes_on(after));
        classes.for_each(|after| dividing.insert(after));
        dividing
    }

    /// The rows of all states that a step on this class leads to. Every state of the table can be reached.
    fn states_after(&self, class: usize) -> BTreeSet<usize> {
        let states = (1..=self.n_states()).map(|row| self.step(row, class).1);
        states.filter(|&state| state > 0).collect()
    }

    /// Whether matches cover every text: no state that can be reached without passing a match may die without one.
    fn proves_cover(&self) -> bool {
        let mut is_seen = vec![false; self.n_states() + 1];
        let mut open: Vec<usize> =
            (0..self.n_classes()).map(|class| self.step(1, class).1).collect();
        while let Some(row) = open.pop() {
            if row == 0 || !self.step(row, self.n_classes()).0 {
                return false;
            }
            if !std::mem::replace(&mut is_seen[row], true) {
                let steps = (0..self.n_classes()).map(|class| self.step(row, class));
                open.extend(steps.filter(|step| !step.0).map(|step| step.1));
            }
        }
        true
    }
}

/// Verdicts are kept for the first four of every 64 offsets.
const VERDICT_MASK: usize = 63;

/// A table of verdicts with more capacity than this is dropped instead of cleared.
const LARGE_TABLE: usize = 1000;

/// Whether a match follows, by pair of offset and state. What follows a pair depends on the pair and the text alone.
#[derive(Default)]
pub(crate) struct Verdicts {
    known: HashMap<(usize, u32), bool>,
    /// The pairs of the walk in progress.
    open: Vec<(usize, u32)>,
    reach: usize,
}

impl Verdicts {
    /// Forgets everything, if no walk has read further than `offset`.
    pub(crate) fn advance_to(&mut self, offset: usize) {
        if offset < self.reach {
            return;
        }
        // Clearing a table costs its capacity.
        if self.known.capacity() > LARGE_TABLE {
            self.known = HashMap::new();
        }
        self.known.clear();
    }

    fn look_up(&mut self, offset: usize, state: u32) -> Option<bool> {
        if offset & VERDICT_MASK > 3 {
            return None;
        }
        let known = self.known.get(&(offset, state)).copied();
        if known.is_none() {
            self.open.push((offset, state));
        }
        known
    }

    fn learn(&mut self, offset: usize, verdict: bool) {
        self.reach = self.reach.max(offset);
        self.known.extend(self.open.drain(..).map(|pair| (pair, verdict)));
    }
}

/// Builds the table from instructions.
///
/// A state is a list of instructions in order of preference, *before* the ones that can be reached without taking a symbol.
/// So a step knows its symbol while it follows forks and conditions:
///
/// ```text
/// step(list, symbol):
///     next = []
///     for each instruction of the list, and all that can be reached from it without taking a symbol:
///         the match     → return (true, next): whatever follows in the list is less preferred
///         take a set    → append its successor to next, if the set contains the symbol and next does not have it yet
///         next is a set → go on with its successor, if the set contains the symbol
///     return (false, next)
/// ```
///
/// Every condition on the next symbol is decided when it is met; the end of the text is one more symbol. Instructions
/// before the match in the list stay in it: a match found later belongs to a more preferred instruction, so the last
/// match seen is the leftmost-first one. A repeat whose inside cannot be empty visits each instruction once per step, as
/// a backtracker does.
struct Builder<'p> {
    program: &'p Program,
    stride: usize,
    /// The word characters, if the program has word boundaries.
    word: SymbolSet,
    has_word: bool,
    /// Lists, and whether a word character precedes each.
    numbers: BTreeMap<(Vec<InstructionId>, bool), u32>,
    lists: Vec<(Vec<InstructionId>, bool)>,
    is_in_word: bool,
    /// By instruction: the step in which it was last followed, and last listed.
    followed: Vec<usize>,
    listed: Vec<usize>,
    n_steps: usize,
    work: usize,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, stride: usize, word: SymbolSet) -> Self {
        let n_places = program.instructions.len();
        let is_anchor = |instruction: &Instruction| matches!(instruction, Instruction::Anchor(..));
        Self {
            program,
            stride,
            word,
            has_word: program.instructions.iter().any(is_anchor),
            numbers: BTreeMap::from([((Vec::new(), false), DEAD)]),
            lists: vec![(Vec::new(), false)],
            is_in_word: false,
            followed: vec![0; n_places],
            listed: vec![0; n_places],
            n_steps: 0,
            work: 0,
        }
    }

    fn build(mut self) -> Option<Vec<u32>> {
        let mut exact = vec![DEAD; self.stride];
        let mut index = 1;
        while index < self.lists.len() {
            let (list, is_in_word) = self.lists[index].clone();
            self.is_in_word = is_in_word;
            for symbol in 0..self.stride {
                exact.push(self.entry(&list, symbol)?);
            }
            index += 1;
        }
        Some(exact)
    }

    /// The entry of the exact table for a list and a symbol.
    fn entry(&mut self, list: &[InstructionId], symbol: usize) -> Option<u32> {
        let class = u8::try_from(symbol).ok()?;
        let (is_matched, next) = self.step_from(list, class);
        let is_end = symbol + 1 == self.stride;
        let next = if is_end { DEAD } else { self.number(next, self.word.contains(class))? };
        Some(next | if is_matched { MATCHED } else { 0 })
    }

    fn number(&mut self, list: Vec<InstructionId>, is_in_word: bool) -> Option<u32> {
        let key = (list, is_in_word && self.has_word);
        let key = if key.0.is_empty() { (key.0, false) } else { key };
        if let Some(&number) = self.numbers.get(&key) {
            return Some(number);
        }
        if self.lists.len() > MAX_STATES || self.work > MAX_WORK {
            return None;
        }
        let number = u32::try_from(self.lists.len() * self.stride).ok()?;
        self.lists.push(key.clone());
        self.numbers.insert(key, number);
        Some(number)
    }

    /// Steps from a list, with the next symbol known: whether the match is reached, and the next list.
    fn step_from(&mut self, list: &[InstructionId], symbol: u8) -> (bool, Vec<InstructionId>) {
        self.n_steps += 1;
        let mut next = Vec::new();
        let mut stack = Vec::new();
        for &place in list {
            stack.push(place);
            if self.follow(&mut stack, symbol, &mut next) {
                return (true, next);
            }
        }
        (false, next)
    }

    /// Empties the stack in order of preference; `true` as soon as the match is reached.
    fn follow(
        &mut self,
        stack: &mut Vec<InstructionId>,
        symbol: u8,
        next: &mut Vec<InstructionId>,
    ) -> bool {
        while let Some(place) = stack.pop() {
            self.work += 1;
            if std::mem::replace(&mut self.followed[place as usize], self.n_steps) == self.n_steps {
                continue;
            }
            match &self.program.instructions[place as usize] {
                Instruction::Match => return true,
                Instruction::Take(mask, after) if mask.contains(symbol) => self.list(*after, next),
                Instruction::Next(mask, after) if mask.contains(symbol) => stack.push(*after),
                Instruction::Either(first, second) => stack.extend([*second, *first]),
                Instruction::Anchor(anchor, after) => {
                    stack.extend(self.holds(*anchor, symbol).then_some(*after));
                }
                _ => {}
            }
        }
        false
    }

    /// Word boundaries are the only anchors of an automaton.
    fn holds(&self, anchor: Anchor, symbol: u8) -> bool {
        let is_boundary = self.is_in_word != self.word.contains(symbol);
        is_boundary == (anchor == Anchor::WordBoundary)
    }

    fn list(&mut self, place: InstructionId, next: &mut Vec<InstructionId>) {
        if std::mem::replace(&mut self.listed[place as usize], self.n_steps) != self.n_steps {
            next.push(place);
        }
    }
}
