//! Runs every pattern by trying one alternative after another: the naive twin of the automaton.
//!
//! It runs the same instructions, none of them rewritten. It serves patterns that the automaton cannot run: look-behind,
//! word boundaries, look-ahead of more than one symbol, atomic groups.
//!
//! ```text
//! matches(instruction, offset):
//!     push (instruction, offset)
//!     while a choice is on the stack:
//!         pop it, and follow its instructions:
//!             a fork            → push the less preferred way, go on with the other
//!             a failure         → next choice
//!             the match         → return the offset, and forget the choices that are left
//! ```
//!
//! The stack is on the heap, so the length of the text never deepens the call stack; only nested look-arounds and atomic
//! groups do.
//!
//! Cost: up to exponential in the text, so steps are limited. A limit for each match would not do: many costly matches
//! would take quadratic time. So all matches of a stretch of text share [`STEP_LIMIT`] steps and the steps that the
//! bytes before them have earned. A long plain match, which needs a few steps for each symbol, may borrow steps before
//! the scan has passed it. Symbols that it only looks at lend nothing.

use crate::automaton::running::{Position, State};
use crate::automaton::scan::{Scan, Task};
use crate::automaton::{Automaton, Verdicts};
use crate::parser::tree::{Anchor, Look};
use crate::program::alphabet::{Alphabet, SymbolSet};
use crate::program::{Instruction, InstructionId, Program};
use crate::symbol::length_before;

/// Steps for a stretch of text, in addition to those that its bytes earn.
pub(crate) const STEP_LIMIT: u64 = 1_000_000;
/// Steps that a byte earns when the scan has passed it.
const STEPS_PER_BYTE: u64 = 256;
/// Steps that a byte lends to the match that takes it.
const STEPS_PER_BYTE_TAKEN: u64 = 16;

/// The steps that the matches of one stretch of text have taken.
pub(crate) struct Steps {
    /// Where the stretch begins.
    start: usize,
    n_taken: u64,
    /// What each automaton of a look-ahead has learned.
    verdicts: Vec<Verdicts>,
}

impl Steps {
    pub(crate) fn new(start: usize) -> Self {
        Self { start, n_taken: 0, verdicts: Vec::new() }
    }
}

pub(crate) struct Backtracker {
    pub(crate) alphabet: Alphabet,
    program: Program,
    word: SymbolSet,
    aheads: Vec<Automaton>,
    /// [`STEP_LIMIT`], except for the naive twin.
    step_limit: u64,
    /// Whether an empty match counts as a match.
    reports_empty: bool,
}

/// The match that starts here needed more steps than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GaveUp {
    pub(crate) offset: usize,
}

impl Backtracker {
    /// `None` if the automaton of a look-ahead would be too large.
    pub(crate) fn new(
        program: Program,
        alphabet: Alphabet,
        word: SymbolSet,
        reports_empty: bool,
    ) -> Option<Self> {
        let ahead = |program: &Program| Automaton::of_program(program, alphabet.clone(), word);
        let aheads = program.aheads.iter().map(ahead).collect::<Option<Vec<_>>>()?;
        Some(Self { alphabet, program, word, aheads, step_limit: STEP_LIMIT, reports_empty })
    }

    /// Raises the limit so far that only a match that practically never ends reaches it, after some seconds.
    pub(crate) fn take_all_steps(&mut self) {
        self.step_limit = 1 << 28;
    }

    /// Marks the pieces of a task, match by match; returns where it stopped.
    pub(crate) fn run(&self, scan: &mut Scan<'_>) -> Result<usize, GaveUp> {
        let Task { text, from, limit, .. } = scan.task;
        let mut position = Position::between_pieces(from);
        let unmatched = State::UNMATCHED;
        let mut steps = Steps::new(from);
        while position.offset < text.len() {
            let start = position.offset;
            if start >= limit
                && let Some(boundary) = scan.last_settled(position, unmatched)
            {
                return Ok(boundary);
            }
            let end = self.attempt(text, start, &mut steps)?;
            scan.marked.starts.insert(scan.place(start));
            position = scan.settle(start, end, &self.alphabet, unmatched);
        }
        Ok(text.len())
    }

    /// The end of the match that starts at `from`, if there is one.
    pub(crate) fn attempt(
        &self,
        text: &[u8],
        from: usize,
        steps: &mut Steps,
    ) -> Result<Option<usize>, GaveUp> {
        steps.verdicts.resize_with(self.aheads.len(), Verdicts::default);
        steps.verdicts.iter_mut().for_each(|verdicts| verdicts.advance_to(from));
        let mut run = Run {
            machine: self,
            text,
            from,
            earned: self.step_limit + STEPS_PER_BYTE * (from - steps.start) as u64,
            steps,
            reach: from,
            n_looks: 0,
            slots: vec![usize::MAX; self.program.n_slots],
            stack: Vec::new(),
        };
        let end = run.matches(self.program.start, from, |_| true)?;
        Ok(end.filter(|&end| end > from || self.reports_empty))
    }
}

/// Alternatives left to try, and slots to restore, when the current one fails.
enum Choice {
    Try { place: InstructionId, offset: usize },
    Restore { slot: usize, offset: usize },
}

struct Run<'r> {
    machine: &'r Backtracker,
    text: &'r [u8],
    from: usize,
    steps: &'r mut Steps,
    /// Steps that all matches up to this one may take together, in addition to those lent by the symbols that it takes.
    earned: u64,
    /// The furthest offset whose symbols were taken, not only looked at.
    reach: usize,
    /// How many look-arounds are open.
    n_looks: usize,
    slots: Vec<usize>,
    stack: Vec<Choice>,
}

impl Run<'_> {
    /// The end of the first match from `place` and `offset` on that may end there. Leaves the stack as it found it. The
    /// slots of the repeats inside are set anew whenever those are entered.
    fn matches(
        &mut self,
        place: InstructionId,
        offset: usize,
        may_end: impl Fn(usize) -> bool,
    ) -> Result<Option<usize>, GaveUp> {
        let floor = self.stack.len();
        self.stack.push(Choice::Try { place, offset });
        while self.stack.len() > floor {
            let end = match self.stack.pop() {
                Some(Choice::Try { place, offset }) => self.advance(place, offset)?,
                Some(Choice::Restore { slot, offset }) => {
                    self.slots[slot] = offset;
                    None
                }
                None => None,
            };
            if let Some(end) = end.filter(|&end| may_end(end)) {
                self.stack.truncate(floor);
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Runs until the match or the first failure.
    fn advance(
        &mut self,
        mut place: InstructionId,
        mut offset: usize,
    ) -> Result<Option<usize>, GaveUp> {
        let machine = self.machine;
        loop {
            self.count_step(offset)?;
            let next = match &machine.program.instructions[place as usize] {
                Instruction::Match => return Ok(Some(offset)),
                Instruction::Take(mask, next) => {
                    let (symbol, length) = self.symbol_at(offset);
                    offset += length;
                    (length > 0 && mask.contains(symbol)).then_some(*next)
                }
                Instruction::Next(mask, next) => {
                    mask.contains(self.symbol_at(offset).0).then_some(*next)
                }
                Instruction::Either(first, second) => {
                    self.stack.push(Choice::Try { place: *second, offset });
                    Some(*first)
                }
                Instruction::Anchor(anchor, next) => self.holds(*anchor, offset).then_some(*next),
                Instruction::Look { look, span, inside, next } => {
                    let is_found = self.looks(*look, *span, *inside, offset)?;
                    (is_found != look.negative).then_some(*next)
                }
                Instruction::Ahead { number, negative, next } => {
                    (self.is_ahead(*number, offset) != *negative).then_some(*next)
                }
                Instruction::Atomic { inside, next } => {
                    self.atomic(*inside, &mut offset)?.then_some(*next)
                }
                Instruction::LoopStart { slot, next } => {
                    self.stack.push(Choice::Restore { slot: *slot, offset: self.slots[*slot] });
                    self.slots[*slot] = offset;
                    Some(*next)
                }
                // A repeat stops after an empty run.
                Instruction::LoopEnd { slot, next, .. } if self.slots[*slot] == offset => {
                    Some(*next)
                }
                Instruction::LoopEnd { again, .. } => Some(*again),
            };
            match next {
                Some(next) => place = next,
                None => return Ok(None),
            }
        }
    }

    fn count_step(&mut self, offset: usize) -> Result<(), GaveUp> {
        self.steps.n_taken += 1;
        if self.n_looks == 0 {
            self.reach = self.reach.max(offset);
        }
        let lent = STEPS_PER_BYTE_TAKEN * (self.reach - self.from) as u64;
        if self.steps.n_taken > self.earned + lent {
            Err(GaveUp { offset: self.from })
        } else {
            Ok(())
        }
    }

    /// Takes the first match of the inside and discards its alternatives.
    fn atomic(&mut self, inside: InstructionId, offset: &mut usize) -> Result<bool, GaveUp> {
        let end = self.matches(inside, *offset, |_| true)?;
        *offset = end.unwrap_or(*offset);
        Ok(end.is_some())
    }

    /// The symbol and its length, which is 0 at the end of the text.
    fn symbol_at(&self, offset: usize) -> (u8, usize) {
        self.machine.alphabet.symbol_at(self.text, offset)
    }

    fn is_ahead(&mut self, number: usize, offset: usize) -> bool {
        let is_in_word = self.is_word_before(offset);
        let verdicts = &mut self.steps.verdicts[number];
        self.machine.aheads[number].is_ahead(self.text, offset, is_in_word, verdicts)
    }

    fn looks(
        &mut self,
        look: Look,
        span: (u32, u32),
        inside: InstructionId,
        offset: usize,
    ) -> Result<bool, GaveUp> {
        self.n_looks += 1;
        let is_found = match look.ahead {
            true => self.matches(inside, offset, |_| true)?.is_some(),
            false => self.is_behind(span, inside, offset)?,
        };
        self.n_looks -= 1;
        Ok(is_found)
    }

    /// Whether a match that starts at least `least` and at most `most` symbols before `offset` ends at it.
    fn is_behind(
        &mut self,
        (least, most): (u32, u32),
        inside: InstructionId,
        offset: usize,
    ) -> Result<bool, GaveUp> {
        let mut start = offset;
        for length in 0..=most {
            if length >= least && self.matches(inside, start, |end| end == offset)?.is_some() {
                return Ok(true);
            }
            if start == 0 {
                break;
            }
            start -= length_before(self.text, start);
        }
        Ok(false)
    }

    fn holds(&self, anchor: Anchor, offset: usize) -> bool {
        let rest = &self.text[offset..];
        let is_after_line_feed = offset > 0 && self.text[offset - 1] == b'\n';
        match anchor {
            Anchor::TextStart => offset == 0,
            Anchor::LineStart => offset == 0 || is_after_line_feed,
            Anchor::LineStartBeforeEnd => offset == 0 || is_after_line_feed && !rest.is_empty(),
            Anchor::TextEnd => rest.is_empty(),
            Anchor::LineEnd => rest.is_empty() || rest[0] == b'\n',
            Anchor::TextEndOrFinalLineFeed => rest.is_empty() || rest == b"\n",
            Anchor::TextEndOrFinalLineFeeds => rest.iter().all(|&byte| byte == b'\n'),
            Anchor::WordBoundary => self.is_word_before(offset) != self.is_word_at(offset),
            Anchor::NotWordBoundary => self.is_word_before(offset) == self.is_word_at(offset),
        }
    }

    fn is_word_at(&self, offset: usize) -> bool {
        self.machine.word.contains(self.symbol_at(offset).0)
    }

    fn is_word_before(&self, offset: usize) -> bool {
        offset > 0 && self.is_word_at(offset - length_before(self.text, offset))
    }
}
