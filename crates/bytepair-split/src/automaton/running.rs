//! The automaton that goes on by itself from piece to piece.
//!
//! Where an attempt ends with its match exactly before a symbol, the running automaton enters the state that a new attempt
//! has behind that symbol, and marks a start. It stops only where the match ended earlier, or where there is none: there
//! [`super::scan`] looks back. So it needs no branch for each piece, which would cost more than all else together:
//!
//! ```text
//! for each symbol:
//!     entry = table[state][symbol]
//!     if entry says STOP or BACK: leave the loop, and look back
//!     starts = starts with the bit START of the entry at this symbol
//!     state = the state in the entry
//! ```
//!
//! What is left is one look-up for each symbol that waits for the one before. [`Running::advance`] hides that wait: it runs
//! several places of a text in turn.
//!
//! In real text a match often ends one symbol earlier (`\s+(?!\S)` before a word). So a row of the table is a state of the
//! exact automaton, with what happened in the last step: if a match ended before the last symbol, the row also knows the
//! state of an attempt that starts at that symbol. Where the attempt dies, that state takes the step instead, and BACK marks
//! a start one symbol back.
//!
//! Rows have a column for each byte and then one for each class, so that ASCII needs no look-up of its class. Bytes that are
//! not ASCII stop [`Running::advance`], and [`Running::run`] reads them as characters.
//! Cost: about 1.1 KB for each state, and six or seven CPU cycles for each symbol of one place.

use std::collections::BTreeMap;

use super::table::Automaton;
use crate::bits::Bits;
use crate::program::alphabet::Alphabet;
use crate::symbol::code_at;

/// A piece starts at the symbol.
const START: u32 = 1 << 31;
/// That piece matches nothing.
const UNMATCHED: u32 = 1 << 30;
/// The attempt ends, and its match does not end exactly here.
const STOP: u32 = 1 << 29;
/// The match ended before the symbol before this one, where a piece starts; the state is that of an
/// attempt from there.
const BACK: u32 = 1 << 28;
/// Where the row of the next state starts.
const STATE: u32 = BACK - 1;

/// With more rows than this, rows do not remember a match.
const MAX_REMEMBERING_ROWS: usize = 1000;

/// The columns of single bytes.
const N_BYTES: usize = 256;

/// How many places [`Running::advance`] runs in turn.
pub(crate) const N_LANES: usize = 4;

/// How many bytes [`Running::advance`] goes at most.
pub(crate) const CHUNK: usize = 64;

/// A state of the running automaton: where its row of the table starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State(u32);

impl State {
    /// Between two pieces.
    pub(crate) const BOUNDARY: Self = Self(0);
    /// For engines without states: inside a run that matches nothing.
    pub(crate) const UNMATCHED: Self = Self(u32::MAX);
}

/// A place of a text, and the state before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) offset: usize,
    pub(crate) state: State,
}

impl Position {
    /// Between two pieces.
    pub(crate) fn between_pieces(offset: usize) -> Self {
        Self { offset, state: State::BOUNDARY }
    }
}

/// How far a run came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) position: Position,
    /// Whether the step on the next symbol needs a look back; else the run came to its limit.
    pub(crate) is_stopped: bool,
}

/// Where the automaton writes: the number of a place is its offset plus `shift`, wrapping.
pub(crate) struct Marks<'b> {
    pub(crate) starts: &'b mut Bits,
    pub(crate) unmatched: &'b mut Bits,
    pub(crate) shift: usize,
}

/// One of several places that are run in turn: the next bytes and the state before them.
#[derive(Clone, Copy)]
pub(crate) struct Lane<'t> {
    pub(crate) chunk: &'t [u8; CHUNK],
    pub(crate) state: State,
}

/// What a lane found: bit `i` tells whether a piece, or a run that matches nothing, starts at byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) starts: u64,
    pub(crate) unmatched: u64,
}

pub(crate) struct Running {
    automaton: Automaton,
    /// The first row is the state between two pieces, the second that inside of an unmatched run.
    table: Vec<u32>,
    unmatched: u32,
    end_column: usize,
    /// The ASCII characters that a run that matches nothing takes in.
    inert: [bool; N_BYTES],
}

impl Running {
    pub(crate) fn new(automaton: Automaton) -> Self {
        let table = TableBuilder::table(&automaton, true)
            .or_else(|| TableBuilder::table(&automaton, false))
            .unwrap_or_default();
        let unmatched = TableBuilder::width(&automaton);
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

    /// Whether the piece in progress ends well at the end of the text.
    pub(crate) fn ends_here(&self, state: State) -> bool {
        self.table[state.0 as usize + self.end_column] & STOP == 0
    }

    /// Whether this byte stops [`Running::advance`].
    pub(crate) fn stops_at(&self, state: State, byte: u8) -> bool {
        self.table[state.0 as usize + usize::from(byte)] & (STOP | BACK) != 0
    }

    /// Marks the starts of pieces in `text[offset..limit]`; stops at the first symbol that starts at or
    /// after `limit`, or whose step needs a look back. The sets have room up to the place of `limit`.
    #[inline(never)]
    pub(crate) fn run(
        &self,
        text: &[u8],
        position: Position,
        limit: usize,
        marks: &mut Marks<'_>,
    ) -> Reached {
        let Position { mut offset, mut state } = position;
        while offset < limit {
            if state == self.unmatched_state() {
                offset += self.inert_run(&text[offset..limit]);
            }
            if offset >= limit {
                break;
            }
            let first_bit = offset.wrapping_add(marks.shift);
            let word_end = limit.min(offset + (64 - first_bit % 64));
            let mut found = Found::default();
            let reached = self.run_word(text, Position { offset, state }, word_end, &mut found);
            marks.starts.words_mut()[first_bit / 64] |= found.starts << (first_bit % 64);
            marks.unmatched.words_mut()[first_bit / 64] |= found.unmatched << (first_bit % 64);
            if reached.is_stopped {
                return reached;
            }
            Position { offset, state } = reached.position;
        }
        Reached { position: Position { offset, state }, is_stopped: false }
    }

    /// The state at the end of a text, if the piece in progress at this position goes on to that end: as a match, or as a
    /// run without a match, none of whose symbols could begin one, whatever follows. Between two pieces, it is the piece
    /// that starts at the position.
    pub(crate) fn state_behind(&self, text: &[u8], position: Position) -> Option<State> {
        let from = position.offset;
        let n_bytes = text.len() - from;
        let (mut starts, mut unmatched) = (Bits::default(), Bits::default());
        starts.reserve(n_bytes);
        unmatched.reserve(n_bytes);
        let shift = 0_usize.wrapping_sub(from);
        let marks = &mut Marks { starts: &mut starts, unmatched: &mut unmatched, shift };
        let begun = usize::from(position.state == State::BOUNDARY);
        let Reached { position, is_stopped } = self.run(text, position, text.len(), marks);
        let Position { offset: end, state } = position;
        let goes_on = !is_stopped
            && end == text.len()
            && state != State::BOUNDARY
            && starts.last_within(begun..n_bytes).is_none()
            && self.ends_here(state);
        goes_on.then_some(state)
    }

    /// How many bytes a run that matches nothing goes on for certain.
    fn inert_run(&self, text: &[u8]) -> usize {
        text.iter().position(|&byte| !self.inert[usize::from(byte)]).unwrap_or(text.len())
    }

    /// The loop of [`Running::run`] over at most 64 bytes, whose bits are those of one word.
    #[inline]
    fn run_word(
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
            if entry & (STOP | BACK) != 0 {
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

    /// Runs all lanes by the same number of bytes: until one of them needs a look back or meets a byte that is not
    /// ASCII, or until the chunks end. Returns that number; the states are then those before the next byte.
    pub(crate) fn advance(&self, lanes: &mut [Lane<'_>; N_LANES]) -> (usize, [Found; N_LANES]) {
        if self.automaton.covers_everything() {
            self.advance_as::<false>(lanes)
        } else {
            self.advance_as::<true>(lanes)
        }
    }

    /// The loop of [`Running::advance`].
    ///
    /// ```text
    /// for each byte of the chunks:
    ///     entries[lane] = table[states[lane]][this byte of the lane]      look-ups that do not wait for each other
    ///     if an entry says STOP: leave the loop; nothing has been done for this byte
    ///     starts[lane] = starts[lane] << 1 | START, with BACK in the bit of the byte before
    ///     states[lane] = the state in the entry
    /// ```
    ///
    /// Invariant: bit `k` of `starts[lane]` says whether a piece starts `k + 1` bytes before the next byte. The byte
    /// before the first one lies outside of the chunk, so there BACK stops the loop too. One test serves all lanes: the
    /// bits of their entries are taken together first. Nothing here is `unsafe`: a state is the start of a row, and the
    /// compiler keeps one comparison for each look-up.
    #[inline(never)]
    fn advance_as<const HAS_UNMATCHED: bool>(
        &self,
        lanes: &mut [Lane<'_>; N_LANES],
    ) -> (usize, [Found; N_LANES]) {
        let table = self.table.as_slice();
        let chunks = lanes.map(|lane| lane.chunk);
        let mut states = lanes.map(|lane| lane.state.0);
        // The first byte's bit is pushed first and ends up highest: turned round at the end.
        let (mut starts, mut unmatched) = ([0_u64; N_LANES], [0_u64; N_LANES]);
        let mut n_bytes = 0;
        // A step back from the first byte would leave the chunk.
        let mut stops = STOP | BACK;
        while n_bytes < CHUNK {
            let entries: [u32; N_LANES] = std::array::from_fn(|lane| {
                table[states[lane] as usize + usize::from(chunks[lane][n_bytes])]
            });
            if entries.iter().fold(0, |all, entry| all | entry) & stops != 0 {
                break;
            }
            stops = STOP;
            for lane in 0..N_LANES {
                let entry = entries[lane];
                starts[lane] =
                    starts[lane] << 1 | u64::from(entry >> 31) | u64::from(entry >> 27 & 2);
                unmatched[lane] =
                    unmatched[lane] << 1 | u64::from(HAS_UNMATCHED) & u64::from(entry >> 30);
                states[lane] = entry & STATE;
            }
            n_bytes += 1;
        }
        for (lane, state) in lanes.iter_mut().zip(states) {
            lane.state = State(state);
        }
        let turned = |bits: u64| bits.reverse_bits() >> ((CHUNK - n_bytes) % CHUNK);
        let found = |lane: usize| Found {
            starts: turned(starts[lane]),
            unmatched: turned(unmatched[lane]),
        };
        (n_bytes, std::array::from_fn(found))
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Row {
    Between,
    Unmatched,
    /// In an attempt at a row of the exact table. If its last match ended before the last symbol, and an
    /// attempt may start there, `after_match` is the row of that attempt after the symbol.
    Attempt {
        state: usize,
        after_match: Option<usize>,
    },
}

/// Makes the table, row by row.
struct TableBuilder<'a> {
    automaton: &'a Automaton,
    is_remembering: bool,
    rows: Vec<Row>,
    numbers: BTreeMap<Row, usize>,
}

impl<'a> TableBuilder<'a> {
    /// `None` if it has too many rows.
    fn table(automaton: &'a Automaton, is_remembering: bool) -> Option<Vec<u32>> {
        let mut builder =
            Self { automaton, is_remembering, rows: Vec::new(), numbers: BTreeMap::new() };
        builder.state(Row::Between);
        builder.state(Row::Unmatched);
        let mut table = Vec::new();
        let mut index = 0;
        while index < builder.rows.len() {
            builder.add_row(builder.rows[index], &mut table);
            index += 1;
            if is_remembering && index > MAX_REMEMBERING_ROWS {
                return None;
            }
        }
        Some(table)
    }

    /// Numbers in a row.
    fn width(automaton: &Automaton) -> u32 {
        256 + u32::from(automaton.alphabet().end()) + 1
    }

    fn add_row(&mut self, row: Row, table: &mut Vec<u32>) {
        let n_symbols = self.automaton.n_classes() + 1;
        let classes: Vec<u32> = (0..n_symbols).map(|symbol| self.entry(row, symbol)).collect();
        let ascii = self.automaton.alphabet().ascii();
        table.extend(ascii.iter().map(|&class| classes[usize::from(class)]));
        table.extend(std::iter::repeat_n(STOP, N_BYTES - 128));
        table.extend(classes);
    }

    fn entry(&mut self, row: Row, symbol: usize) -> u32 {
        let is_end = symbol == self.automaton.n_classes();
        match row {
            Row::Attempt { state, .. } if is_end => {
                if self.automaton.step(state, symbol).0 {
                    0
                } else {
                    STOP
                }
            }
            _ if is_end => 0,
            Row::Unmatched if self.is_inert(symbol) => self.state(Row::Unmatched),
            Row::Between | Row::Unmatched => self.first_entry(symbol),
            Row::Attempt { state, after_match } => {
                let entry = self.next_entry(state, symbol);
                let entry = entry.or_else(|| Some(BACK | self.next_entry(after_match?, symbol)?));
                entry.unwrap_or(STOP)
            }
        }
    }

    /// The step of an attempt that goes on, or whose match ends before the symbol.
    fn next_entry(&mut self, state: usize, symbol: usize) -> Option<u32> {
        match self.automaton.step(state, symbol) {
            (true, 0) => Some(self.first_entry(symbol)),
            (false, 0) => None,
            (is_matched, state) => {
                let is_remembered = is_matched && self.is_remembering;
                let after_match = self.first_state(symbol).filter(|_| is_remembered);
                Some(self.state(Row::Attempt { state, after_match }))
            }
        }
    }

    /// A piece, or a run that matches nothing, starts at the symbol.
    fn first_entry(&mut self, symbol: usize) -> u32 {
        match self.first_state(symbol) {
            None => START | UNMATCHED | self.state(Row::Unmatched),
            Some(state) => START | self.state(Row::Attempt { state, after_match: None }),
        }
    }

    /// Whether a run that matches nothing takes this class in.
    fn is_inert(&self, symbol: usize) -> bool {
        self.first_state(symbol).is_none() && !self.automaton.is_empty_match(symbol)
    }

    /// The row of an attempt after its first symbol, if it goes on.
    fn first_state(&self, symbol: usize) -> Option<usize> {
        Some(self.automaton.step(1, symbol).1).filter(|&state| state > 0)
    }

    fn state(&mut self, row: Row) -> u32 {
        let next = self.rows.len();
        let number = *self.numbers.entry(row).or_insert(next);
        if number == next {
            self.rows.push(row);
        }
        // At most 10,002 rows of at most 511 numbers.
        u32::try_from(number).unwrap_or(0) * Self::width(self.automaton)
    }
}
