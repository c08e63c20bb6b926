//! Patterns that look at most one symbol ahead, as a deterministic automaton over symbol classes.
//!
//! A state is a list of program places in order of preference, *before* what can be reached without
//! taking a symbol. So the step on a symbol knows that symbol while it follows forks and conditions:
//! every condition on the next symbol is decided, the end of the text is one more symbol, and a step
//! says two things: whether a match ends before the symbol, and which state comes after it. When the
//! match is reached, the places after it in the list are dropped: they are less preferred. A later
//! match is then always of a more preferred place, so the last match seen is the leftmost-first one.
//! A repeat of what cannot be empty visits each place once per step, as a backtracker would find it.
//!
//! Left out: minimization. Cost: one dependent look-up per character of an attempt; a table of states x
//! classes numbers, a few KB for real patterns.

use std::collections::{BTreeMap, HashMap};

use super::alphabet::{Alphabet, Mask};
use super::program::{Instruction, Place, Program};
use super::symbol::boundary_at_or_after;
use super::tree::Anchor;

/// Above this the backtracker takes over.
const MAX_STATES: usize = 10_000;

/// The most places visited while building.
const MAX_WORK: usize = 20_000_000;

/// In a number of the exact table: a match ends before the symbol.
const MATCHED: u32 = 1 << 31;

/// The rest of a number of the exact table: where the row of the next state starts.
const STATE: u32 = MATCHED - 1;

/// No attempt goes on from here.
const DEAD: u32 = 0;

pub(super) struct Automaton {
    alphabet: Alphabet,
    /// Numbers per row, the end of the text the last.
    stride: usize,
    start: u32,
    exact: Vec<u32>,
    /// For each class, the classes before which a cut changes nothing.
    safe: Vec<Mask>,
    /// The classes of which no match has a symbol.
    never_matched: Mask,
    covers_everything: bool,
    /// Whether an empty match is told; else it is no match.
    tells_empty: bool,
    /// Where an attempt starts behind a word character, if that matters.
    start_in_word: u32,
}

/// One attempt: where its match ends, if it has one, and how far it read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) end: Option<usize>,
    pub(super) reach: usize,
}

impl Automaton {
    /// `None` if it would be too large.
    pub(super) fn new(program: &Program, alphabet: Alphabet, tells_empty: bool) -> Option<Self> {
        let mut automaton = Self::bare(program, alphabet, Mask::default())?;
        automaton.tells_empty = tells_empty;
        automaton.safe = automaton.safe_cuts();
        for class in automaton.alphabet.classes() {
            if automaton.states_after(class).is_empty() {
                automaton.never_matched.insert(class);
            }
        }
        automaton.covers_everything = automaton.proves_cover();
        Some(automaton)
    }

    /// An automaton for [`Automaton::is_ahead`], which may ask for the boundaries of these words.
    pub(super) fn for_look_ahead(
        program: &Program,
        alphabet: Alphabet,
        word: Mask,
    ) -> Option<Self> {
        Self::bare(program, alphabet, word)
    }

    fn bare(program: &Program, alphabet: Alphabet, word: Mask) -> Option<Self> {
        let stride = alphabet.n_classes() + 1;
        let mut builder = Builder::new(program, stride, word);
        builder.number(vec![program.start], false)?;
        let start_in_word = builder.number(vec![program.start], true)?;
        let exact = builder.build()?;
        Some(Self {
            stride,
            start: u32::try_from(stride).ok()?,
            safe: Vec::new(),
            never_matched: Mask::default(),
            covers_everything: false,
            tells_empty: false,
            start_in_word,
            exact,
            alphabet,
        })
    }

    pub(super) fn n_states(&self) -> usize {
        self.exact.len() / self.stride - 1
    }

    pub(super) fn n_classes(&self) -> usize {
        self.alphabet.n_classes()
    }

    /// Whether every text is covered by matches.
    pub(super) fn covers_everything(&self) -> bool {
        self.covers_everything
    }

    /// The first safe cut at or after `near`, at most about `span` bytes on; see [`Automaton::safe_cuts`].
    pub(super) fn safe_cut(&self, text: &[u8], near: usize, span: usize) -> Option<usize> {
        if near == 0 || near >= text.len() {
            return Some(near.min(text.len()));
        }
        let mut offset = boundary_at_or_after(text, near.saturating_sub(4));
        let mut before: Option<u8> = None;
        while offset < text.len() && offset <= near.saturating_add(span) {
            let (class, length) = self.alphabet.class_at(text, offset);
            let is_safe =
                before.is_some_and(|before| self.safe[usize::from(before)].contains(class));
            if is_safe && offset >= near {
                return Some(offset);
            }
            before = Some(class);
            offset += length;
        }
        (offset >= text.len()).then_some(text.len())
    }

    /// Whether a cut between two classes is safe; see [`Automaton::safe_cuts`].
    pub(super) fn is_safe(&self, before: u8, after: u8) -> bool {
        self.safe[usize::from(before)].contains(after)
    }

    /// Whether no match holds a symbol of this class.
    pub(super) fn is_never_matched(&self, class: u8) -> bool {
        self.never_matched.contains(class)
    }

    /// The classes of the symbols before and behind a place; `None` where it lies in a symbol.
    pub(super) fn classes_around(&self, text: &[u8], place: usize) -> Option<[u8; 2]> {
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

    pub(super) fn class_at(&self, text: &[u8], offset: usize) -> (u8, usize) {
        self.alphabet.class_at(text, offset)
    }

    pub(super) fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// The step on a class (or the end of the text) from a state, by its row, the first being 1: whether a
    /// match ends before the symbol, and the row of the state after it, 0 if the attempt ends.
    pub(super) fn step(&self, row: usize, symbol: usize) -> (bool, usize) {
        let entry = self.exact[row * self.stride + symbol];
        (entry & MATCHED != 0, (entry & STATE) as usize / self.stride)
    }

    /// Whether an empty match is told; else it is no match.
    pub(super) fn tells_empty(&self) -> bool {
        self.tells_empty
    }

    /// Whether an attempt before this class or the end of the text ends at once with an empty match that is told.
    pub(super) fn is_empty_match(&self, symbol: usize) -> bool {
        self.tells_empty && self.exact[self.start as usize + symbol] == MATCHED | DEAD
    }

    /// One attempt at `from`. `visit` is told every state and place before its step, `on_match` that the
    /// step saw a match; it stops early where `visit` says so.
    #[inline]
    pub(super) fn attempt(&self, text: &[u8], from: usize, visitor: &mut impl Visitor) -> Attempt {
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
        let end = end.filter(|&end| end > from || self.tells_empty);
        Attempt { end, reach: offset.min(text.len()) }
    }

    /// Whether some match starts at `from`, empty or not. What is learned on the way goes to `verdicts`, and
    /// ends later walks of the same automaton: all of them together are linear in the text.
    pub(super) fn is_ahead(
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
    fn safe_cuts(&self) -> Vec<Mask> {
        self.alphabet.classes().map(|class| self.safe_after(class)).collect()
    }

    fn safe_after(&self, before: u8) -> Mask {
        let mut safe = Mask::default();
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
pub(super) struct Verdicts {
    known: HashMap<(usize, u32), bool>,
    /// Pairs of the walk in progress.
    open: Vec<(usize, u32)>,
    reach: usize,
}

impl Verdicts {
    /// Forgets what lies behind.
    pub(super) fn advance_to(&mut self, offset: usize) {
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
pub(super) trait Visitor {
    /// Told before each step; `false` ends the attempt as if it died here.
    fn goes_on(&mut self, offset: usize, state: u32) -> bool;
    /// A match was seen in the step that was told last.
    fn matched(&mut self);
}

/// Lets every attempt run to its end.
pub(super) struct Freely;

impl Visitor for Freely {
    #[inline]
    fn goes_on(&mut self, _offset: usize, _state: u32) -> bool {
        true
    }

    #[inline]
    fn matched(&mut self) {}
}

struct Builder<'p> {
    program: &'p Program,
    stride: usize,
    /// The word characters, if the program asks for word boundaries.
    word: Mask,
    has_word: bool,
    /// Lists, and whether a word character stands before.
    numbers: BTreeMap<(Vec<Place>, bool), u32>,
    lists: Vec<(Vec<Place>, bool)>,
    is_in_word: bool,
    /// The step in which each place was last followed, and last listed.
    followed: Vec<usize>,
    listed: Vec<usize>,
    n_steps: usize,
    work: usize,
}

impl<'p> Builder<'p> {
    fn new(program: &'p Program, stride: usize, word: Mask) -> Self {
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

    /// The exact table's number for a list and a symbol.
    fn entry(&mut self, list: &[Place], symbol: usize) -> Option<u32> {
        let class = u8::try_from(symbol).ok()?;
        let (is_matched, next) = self.step(list, class);
        let is_end = symbol + 1 == self.stride;
        let next = if is_end { DEAD } else { self.number(next, self.word.contains(class))? };
        Some(next | if is_matched { MATCHED } else { 0 })
    }

    fn number(&mut self, list: Vec<Place>, is_in_word: bool) -> Option<u32> {
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

    /// From a list, with the next symbol known: whether the match is reached, and the list after it.
    fn step(&mut self, list: &[Place], symbol: u8) -> (bool, Vec<Place>) {
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
    fn follow(&mut self, stack: &mut Vec<Place>, symbol: u8, next: &mut Vec<Place>) -> bool {
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

    fn list(&mut self, place: Place, next: &mut Vec<Place>) {
        if std::mem::replace(&mut self.listed[place as usize], self.n_steps) != self.n_steps {
            next.push(place);
        }
    }
}
