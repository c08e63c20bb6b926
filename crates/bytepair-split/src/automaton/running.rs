//! The automaton that runs from piece to piece.
//!
//! If an attempt ends with its match exactly before a symbol, the running automaton enters the state that a new attempt has
//! after that symbol, and marks a start. It stops only if the match ended earlier or if there is none; then [`super::scan`]
//! looks back. So it needs no branch for each piece, which would cost more than everything else together:
//!
//! ```text
//! for each symbol:
//!     entry = table[state][symbol]
//!     if entry says STOP: leave the loop, and look back
//!     starts = starts with the bit START of the entry at this symbol
//!     state = the state in the entry
//! ```
//!
//! What remains is one look-up for each symbol, which waits for the one before.
//!
//! A row has a column for each byte and then one for each class, so that ASCII bytes need no look-up of their class.
//! Cost: about 1.1 KB for each state, and six or seven CPU cycles for each symbol.

use super::Automaton;
use super::scan::{Scan, Task};
use crate::bits::Marked;
use crate::program::alphabet::Alphabet;
use crate::symbol::code_at;

/// Flag: a piece starts at the symbol.
const START: u32 = 1 << 31;
/// Flag: that piece matches nothing.
const UNMATCHED: u32 = 1 << 30;
/// Flag: the attempt ends, and its match does not end exactly here.
const STOP: u32 = 1 << 29;
/// Where the row of the next state starts.
const STATE: u32 = STOP - 1;

/// The columns of single bytes.
const N_BYTES: usize = 256;

/// A state of the running automaton: where its row of the table starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(u32);

impl State {
    /// The state between two pieces.
    pub(crate) const BOUNDARY: Self = Self(0);
    /// The state inside a run that matches nothing, for engines without states.
    pub(crate) const UNMATCHED: Self = Self(u32::MAX);
}

/// An offset in a text, and the state before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) offset: usize,
    pub(crate) state: State,
}

impl Position {
    /// The position between two pieces.
    pub(crate) fn between_pieces(offset: usize) -> Self {
        Self { offset, state: State::BOUNDARY }
    }
}

/// How far a run went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) position: Position,
    /// Whether the step on the next symbol needs a look back. If not, the run reached its limit.
    pub(crate) is_stopped: bool,
}

/// Results for 64 bytes: bit `i` tells whether a piece, or a run that matches nothing, starts at byte `i`.
#[derive(Default)]
pub(super) struct Found {
    pub(super) starts: u64,
    pub(super) unmatched: u64,
}

pub(crate) struct Running {
    automaton: Automaton,
    /// The first row is the state between two pieces, the second the state inside an unmatched run.
    table: Vec<u32>,
    unmatched: u32,
    end_column: usize,
    /// The ASCII characters that an unmatched run takes in.
    inert: [bool; N_BYTES],
}

impl Running {
    pub(crate) fn new(automaton: Automaton) -> Self {
        let builder = TableBuilder(&automaton);
        let (table, unmatched) = (builder.table(), builder.width());
        let end_column = N_BYTES + usize::from(automaton.alphabet().end());
        let inert = std::array::from_fn(|byte| table[unmatched as usize + byte] == unmatched);
        Self { automaton, table, unmatched, end_column, inert }
    }

    pub(crate) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// The state inside a run that matches nothing.
    pub(crate) fn unmatched_state(&self) -> State {
        State(self.unmatched)
    }

    /// Whether the piece in progress may end at the end of the text.
    pub(crate) fn ends_here(&self, state: State) -> bool {
        self.table[state.0 as usize + self.end_column] & STOP == 0
    }

    /// The state at the end of a text, if the piece in progress at this position goes on to that end: as a match, or as
    /// a run without a match in which no symbol could begin one, whatever follows. Between two pieces, the piece that
    /// starts at the position counts.
    pub(crate) fn state_behind(&self, text: &[u8], position: Position) -> Option<State> {
        let from = position.offset;
        let n_bytes = text.len() - from;
        let mut marked = Marked::default();
        let task = Task { text, from, limit: text.len(), shift: 0_usize.wrapping_sub(from) };
        let mut scan = Scan { task, marked: &mut marked, unmatched_end: None };
        let begun = usize::from(position.state == State::BOUNDARY);
        let Reached { position, is_stopped } = scan.run_on(self, position, text.len());
        let Position { offset: end, state } = position;
        let goes_on = !is_stopped
            && end == text.len()
            && state != State::BOUNDARY
            && marked.starts.last_within(begun..n_bytes).is_none()
            && self.ends_here(state);
        goes_on.then_some(state)
    }

    /// How many bytes certainly continue a run that matches nothing.
    pub(super) fn inert_run(&self, text: &[u8]) -> usize {
        text.iter().position(|&byte| !self.inert[usize::from(byte)]).unwrap_or(text.len())
    }

    /// The loop of [`Scan::run_on`] over at most 64 bytes, whose bits lie in one word.
    #[inline]
    pub(super) fn run_word(
        &self,
        text: &[u8],
        position: Position,
        limit: usize,
        found: &mut Found,
    ) -> Reached {
        let Position { offset: first, state: State(mut state) } = position;
        let mut offset = first;
        while offset < limit {
            let (column, length) = column_at(self.automaton.alphabet(), text, offset);
            let entry = self.table[state as usize + column];
            if entry & STOP != 0 {
                let position = Position { offset, state: State(state) };
                return Reached { position, is_stopped: true };
            }
            found.starts |= u64::from(entry >> 31) << (offset - first);
            found.unmatched |= u64::from(entry >> 30 & 1) << (offset - first);
            state = entry & STATE;
            offset += length;
        }
        Reached { position: Position { offset, state: State(state) }, is_stopped: false }
    }
}

#[inline]
fn column_at(alphabet: &Alphabet, text: &[u8], offset: usize) -> (usize, usize) {
    let byte = text[offset];
    if byte < 0x80 {
        return (usize::from(byte), 1);
    }
    let (code, length) = code_at(text, offset);
    (N_BYTES + usize::from(alphabet.class_of(code)), length)
}

/// The state that a row of the table represents.
#[derive(Clone, Copy)]
enum Row {
    Between,
    Unmatched,
    /// In an attempt, at a row of the exact table; the first row is 1.
    Attempt(usize),
}

/// Builds the table, row by row.
struct TableBuilder<'a>(&'a Automaton);

impl TableBuilder<'_> {
    fn table(&self) -> Vec<u32> {
        let attempts = (1..=self.0.n_states()).map(Row::Attempt);
        let rows = [Row::Between, Row::Unmatched].into_iter().chain(attempts);
        rows.flat_map(|row| self.row(row)).collect()
    }

    /// The number of entries in a row.
    fn width(&self) -> u32 {
        256 + u32::from(self.0.alphabet().end()) + 1
    }

    fn row(&self, row: Row) -> Vec<u32> {
        let entries = (0..=self.0.n_classes()).map(|symbol| self.entry(row, symbol));
        let classes: Vec<u32> = entries.collect();
        let ascii = self.0.alphabet().ascii();
        let mut all: Vec<u32> = ascii.iter().map(|&class| classes[usize::from(class)]).collect();
        all.resize(N_BYTES, STOP);
        all.extend(classes);
        all
    }

    fn entry(&self, row: Row, symbol: usize) -> u32 {
        let is_end = symbol == self.0.n_classes();
        match row {
            Row::Attempt(state) if is_end && !self.0.step(state, symbol).0 => STOP,
            _ if is_end => 0,
            Row::Unmatched if self.is_inert(symbol) => self.state(Row::Unmatched),
            Row::Between | Row::Unmatched => self.first_entry(symbol),
            Row::Attempt(state) => match self.0.step(state, symbol) {
                // The match ends exactly here, so a piece starts at the symbol: the fourth digit of `\p{N}{1,3}`.
                (true, 0) => self.first_entry(symbol),
                (false, 0) => STOP,
                (_, state) => self.state(Row::Attempt(state)),
            },
        }
    }

    /// The entry of a symbol at which a piece, or a run that matches nothing, starts.
    fn first_entry(&self, symbol: usize) -> u32 {
        match self.0.step(1, symbol).1 {
            0 => START | UNMATCHED | self.state(Row::Unmatched),
            state => START | self.state(Row::Attempt(state)),
        }
    }

    /// Whether a run that matches nothing takes in this class.
    fn is_inert(&self, symbol: usize) -> bool {
        self.0.step(1, symbol).1 == 0 && !self.0.is_empty_match(symbol)
    }

    fn state(&self, row: Row) -> u32 {
        let number = match row {
            Row::Between => 0,
            Row::Unmatched => 1,
            Row::Attempt(state) => state + 1,
        };
        // At most 10,003 rows of at most 511 entries.
        u32::try_from(number).unwrap_or(0) * self.width()
    }
}
