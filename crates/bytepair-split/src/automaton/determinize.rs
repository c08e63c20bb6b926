//! Instructions to a deterministic automaton.
//!
//! A state is a list of instructions in order of preference, *before* what can be reached without taking a symbol. So the
//! step on a symbol knows that symbol while it follows forks and conditions:
//!
//! ```text
//! step(list, symbol):
//!     next = []
//!     for each instruction of the list, and all that can be reached from it without taking a symbol:
//!         the match     → return (true, next): whatever follows in the list is less preferred
//!         take a set    → append its successor to next, if the set contains the symbol and next does not have it yet
//!         next is a set → go on with its successor, if the set contains the symbol
//!     return (false, next)
//! ```
//!
//! Every condition on the next symbol is decided when it is met, and the end of the text is one more symbol. What precedes
//! the match in the list stays in it: a match found later is of a more preferred instruction, so the last match seen is
//! the leftmost-first one. A repeat of what cannot be empty visits each instruction once per step, as a backtracker would.
//!
//! Left out: automata with more than [`MAX_STATES`] states, which a few patterns would have (the backtracker takes over).

use std::collections::BTreeMap;

use crate::parser::tree::Anchor;
use crate::program::alphabet::SymbolSet;
use crate::program::{Instruction, InstructionId, Program};

/// Above this the backtracker takes over.
const MAX_STATES: usize = 10_000;

/// The most places visited while building.
const MAX_WORK: usize = 20_000_000;

/// In a number of the exact table: a match ends before the symbol.
pub(super) const MATCHED: u32 = 1 << 31;

/// The rest of a number of the exact table: where the row of the next state starts.
pub(super) const STATE: u32 = MATCHED - 1;

/// No attempt goes on from here.
pub(super) const DEAD: u32 = 0;

pub(super) struct Builder<'p> {
    program: &'p Program,
    stride: usize,
    /// The word characters, if the program has word boundaries.
    word: SymbolSet,
    has_word: bool,
    /// Lists, and whether a word character precedes them.
    numbers: BTreeMap<(Vec<InstructionId>, bool), u32>,
    lists: Vec<(Vec<InstructionId>, bool)>,
    is_in_word: bool,
    /// The step in which each place was last followed, and last listed.
    followed: Vec<usize>,
    listed: Vec<usize>,
    n_steps: usize,
    work: usize,
}

impl<'p> Builder<'p> {
    pub(super) fn new(program: &'p Program, stride: usize, word: SymbolSet) -> Self {
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

    pub(super) fn build(mut self) -> Option<Vec<u32>> {
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
    fn entry(&mut self, list: &[InstructionId], symbol: usize) -> Option<u32> {
        let class = u8::try_from(symbol).ok()?;
        let (is_matched, next) = self.step(list, class);
        let is_end = symbol + 1 == self.stride;
        let next = if is_end { DEAD } else { self.number(next, self.word.contains(class))? };
        Some(next | if is_matched { MATCHED } else { 0 })
    }

    pub(super) fn number(&mut self, list: Vec<InstructionId>, is_in_word: bool) -> Option<u32> {
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
    fn step(&mut self, list: &[InstructionId], symbol: u8) -> (bool, Vec<InstructionId>) {
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
