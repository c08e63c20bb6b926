//! The automaton as a table: the exact outcome of one attempt, and what holds for every text.
//!
//! A step on a symbol says whether a match ends before the symbol, and which state comes after it. An attempt takes steps
//! until no state is left; the last match that it saw is its match.
//!
//! What is proven from the table: where a text may be cut ([`Automaton::safe_cuts`]), which classes no match takes, and
//! whether matches cover every text.
//!
//! Left out: how the table is made ([`super::determinize`]), and minimization.
//! Cost: one dependent look-up for each character of an attempt; a table of states × classes numbers, a few KB for
//! published patterns.

use std::collections::HashMap;

use super::determinize::{Builder, DEAD, MATCHED, STATE};
use crate::program::Program;
use crate::program::alphabet::{Alphabet, SymbolSet};
use crate::symbol::boundary_at_or_after;

pub(crate) struct Automaton {
    alphabet: Alphabet,
    /// Numbers per row, the end of the text the last.
    stride: usize,
    start: u32,
    exact: Vec<u32>,
    /// For each class, the classes before which a cut changes nothing.
    safe: Vec<SymbolSet>,
    /// The classes whose symbols are in no match.
    never_matched: SymbolSet,
    covers_everything: bool,
    /// Whether an empty match counts as a match.
    reports_empty: bool,
    /// Where an attempt starts behind a word character, if that matters.
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
        let mut automaton = Self::bare(program, alphabet, SymbolSet::default())?;
        automaton.reports_empty = reports_empty;
        automaton.safe = automaton.safe_cuts();
        for class in automaton.alphabet.classes() {
            if automaton.states_after(class).is_empty() {
                automaton.never_matched.insert(class);
            }
        }
        automaton.covers_everything = automaton.proves_cover();
        Some(automaton)
    }

    /// An automaton for [`Automaton::is_ahead`], which may have boundaries of these words in it.
    pub(crate) fn for_look_ahead(
        program: &Program,
        alphabet: Alphabet,
        word: SymbolSet,
    ) -> Option<Self> {
        Self::bare(program, alphabet, word)
    }

    fn bare(program: &Program, alphabet: Alphabet, word: SymbolSet) -> Option<Self> {
        let stride = alphabet.n_classes() + 1;
        let mut builder = Builder::new(program, stride, word);
        builder.number(vec![program.start], false)?;
        let start_in_word = builder.number(vec![program.start], true)?;
        let exact = builder.build()?;
        Some(Self {
            stride,
            start: u32::try_from(stride).ok()?,
            safe: Vec::new(),
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

    /// Whether every text is covered by matches.
    pub(crate) fn covers_everything(&self) -> bool {
        self.covers_everything
    }

    /// Whether a cut between two classes is safe; see [`Automaton::safe_cuts`].
    pub(crate) fn is_safe(&self, before: u8, after: u8) -> bool {
        self.safe[usize::from(before)].contains(after)
    }

    /// Whether no match holds a symbol of this class.
    pub(crate) fn is_never_matched(&self, class: u8) -> bool {
        self.never_matched.contains(class)
    }

    /// The classes of the symbols before and behind a place; `None` where it lies in a symbol.
    pub(crate) fn classes_around(&self, text: &[u8], place: usize) -> Option<[u8; 2]> {
        let mut offset = boundary_at_or_after(text, place.saturating_sub(4));
        let mut before = None;
        while offset < place {
            let (class, length) = self.alphabet.class_at(text, offset);
            before = Some(class);
            offset += length;
        }
        before
            .filter(|_| offset == place)
            .map(|before| [before, self.alphabet.class_at(text, place).0])
    }

    pub(crate) fn class_at(&self, text: &[u8], offset: usize) -> (u8, usize) {
        self.alphabet.class_at(text, offset)
    }

    pub(crate) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The step on a class (or the end of the text) from a state, by its row, the first being 1: whether a
    /// match ends before the symbol, and the row of the state after it, 0 if the attempt ends.
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

    /// Whether an attempt before this class or the end of the text ends at once with an empty match that counts.
    pub(crate) fn is_empty_match(&self, symbol: usize) -> bool {
        self.reports_empty && self.exact[self.start as usize + symbol] == MATCHED | DEAD
    }

    /// One attempt at `from`. The visitor sees every place and state before its step, and may end the attempt there;
    /// it also sees which steps found a match.
    #[inline]
    pub(crate) fn attempt(&self, text: &[u8], from: usize, visitor: &mut impl Visitor) -> Attempt {
        let mut state = self.start;
        let mut offset = from;
        let mut end = None;
        while state != DEAD && visitor.goes_on(offset, state) {
            let (symbol, length) = self.symbol_at(text, offset);
            let entry = self.exact[state as usize + usize::from(symbol)];
            if entry & MATCHED != 0 {
                end = Some(offset);
                visitor.matched();
            }
            state = entry & STATE;
            offset += length;
        }
        let end = end.filter(|&end| end > from || self.reports_empty);
        Attempt { end, reach: offset.min(text.len()) }
    }

    /// Whether some match starts at `from`, empty or not. What is learned on the way goes to `verdicts`, and
    /// ends later walks of the same automaton: all of them together are linear in the text.
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
            let (symbol, length) = self.symbol_at(text, offset);
            let entry = self.exact[state as usize + usize::from(symbol)];
            is_found = entry & MATCHED != 0;
            state = entry & STATE;
            offset += length;
        }
        verdicts.learn(offset, is_found);
        is_found
    }

    #[inline]
    fn symbol_at(&self, text: &[u8], offset: usize) -> (u8, usize) {
        if offset < text.len() {
            self.alphabet.class_at(text, offset)
        } else {
            (self.alphabet.end(), 1)
        }
    }

    /// A cut between classes `a` and `b` is safe if an attempt may start on `a`, and in every state that
    /// taking `a` leads to, reading `b` or the end of the text ends the attempt with its match exactly
    /// there. Then whichever attempt takes this `a`, its piece ends between them, with or without the
    /// text after it; an attempt that dies before taking `a` never read further than `a`; and if no
    /// earlier piece takes `a`, an attempt starts on it. So a piece starts at `b` in any case, and the
    /// pieces before and after do not depend on the other side.
    fn safe_cuts(&self) -> Vec<SymbolSet> {
        self.alphabet.classes().map(|class| self.safe_after(class)).collect()
    }

    fn safe_after(&self, before: u8) -> SymbolSet {
        let mut safe = SymbolSet::default();
        let end = self.alphabet.end();
        let states = self.states_after(before);
        let ends_before = |state: &u32, symbol: u8| {
            self.exact[*state as usize + usize::from(symbol)] == MATCHED | DEAD
        };
        let first = self.exact[self.start as usize + usize::from(before)] & STATE;
        if first == DEAD || !states.iter().all(|state| ends_before(state, end)) {
            return safe;
        }
        for after in self.alphabet.classes() {
            if states.iter().all(|state| ends_before(state, after)) {
                safe.insert(after);
            }
        }
        safe
    }

    /// Every state that a step on this class leads to. All states of the table can be reached.
    fn states_after(&self, class: u8) -> Vec<u32> {
        let rows = self.exact.chunks(self.stride).skip(1);
        let mut states: Vec<u32> = rows
            .map(|row| row[usize::from(class)] & STATE)
            .filter(|&state| state != DEAD)
            .collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    /// Walks every state that can be reached without a match before it: none may die there.
    fn proves_cover(&self) -> bool {
        let mut is_seen = vec![false; self.n_states() + 1];
        let mut open = Vec::new();
        for class in self.alphabet.classes() {
            open.push(self.exact[self.start as usize + usize::from(class)] & STATE);
        }
        while let Some(state) = open.pop() {
            if state == DEAD {
                return false;
            }
            if std::mem::replace(&mut is_seen[state as usize / self.stride], true) {
                continue;
            }
            let row = &self.exact[state as usize..][..self.stride];
            if row[self.stride - 1] & MATCHED == 0 {
                return false;
            }
            let unmatched = row[..self.stride - 1].iter().filter(|&&entry| entry & MATCHED == 0);
            open.extend(unmatched.map(|&entry| entry & STATE));
        }
        true
    }
}

/// Verdicts are kept for the first four of every so many offsets.
const VERDICT_MASK: usize = 63;

/// Tables of verdicts with more room than this are not kept.
const LARGE_TABLE: usize = 1000;

/// From which pairs of place and state a look-ahead finds a match; what follows depends on the pair alone.
#[derive(Default)]
pub(crate) struct Verdicts {
    known: HashMap<(usize, u32), bool>,
    /// Pairs of the walk in progress.
    open: Vec<(usize, u32)>,
    reach: usize,
}

impl Verdicts {
    /// Forgets what lies behind.
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

/// Follows one attempt.
pub(crate) trait Visitor {
    /// Called before each step; `false` ends the attempt as if it died here.
    fn goes_on(&mut self, offset: usize, state: u32) -> bool;
    /// Called after a step that found a match.
    fn matched(&mut self);
}

/// Lets every attempt run to its end.
pub(crate) struct WithoutMemo;

impl Visitor for WithoutMemo {
    #[inline]
    fn goes_on(&mut self, _offset: usize, _state: u32) -> bool {
        true
    }

    #[inline]
    fn matched(&mut self) {}
}
