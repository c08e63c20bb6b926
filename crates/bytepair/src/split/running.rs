//! The automaton that goes on by itself from piece to piece.
//!
//! Where an attempt ends with its match exactly before a symbol, the running automaton enters the state
//! that a new attempt has after that symbol, and marks a start. It stops only where the match ended
//! earlier or there is none, and someone has to look back. So it needs no branch per piece, which is
//! where the time would go: what is left is one look-up per character that waits for the one before.
//! [`Running::advance`] hides that wait by running several places of a text in turn.
//!
//! Rows have a column per byte, then one per class, so that ASCII needs no class look-up. Bytes that are
//! not ASCII stop [`Running::advance`], and are read as characters by [`Running::run`].
//! Cost: about 1.1 KB per state.

use super::alphabet::Alphabet;
use super::automaton::Automaton;
use super::bits::Bits;
use super::symbol::code_at;

/// A piece starts at the symbol.
const START: u32 = 1 << 31;
/// That piece matches nothing.
const UNMATCHED: u32 = 1 << 30;
/// The attempt ends, and its match does not end exactly here.
const STOP: u32 = 1 << 29;
/// Where the row of the next state starts.
const STATE: u32 = STOP - 1;

/// The columns of single bytes.
const N_BYTES: usize = 256;

/// How many places [`Running::advance`] runs in turn.
pub(super) const N_LANES: usize = 4;

/// How many bytes [`Running::advance`] goes at most.
pub(super) const CHUNK: usize = 64;

/// Where the running automaton stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State(u32);

impl State {
    /// Between two pieces.
    pub(super) const BOUNDARY: Self = Self(0);
    /// For engines without states: inside a run that matches nothing.
    pub(super) const UNMATCHED: Self = Self(u32::MAX);
}

/// Where the automaton writes: the number of a place is its offset plus `shift`, wrapping.
pub(super) struct Marks<'b> {
    pub(super) starts: &'b mut Bits,
    pub(super) unmatched: &'b mut Bits,
    pub(super) shift: usize,
}

/// One of several places that are run in turn: the next bytes and the state before them.
#[derive(Clone, Copy)]
pub(super) struct Lane<'t> {
    pub(super) chunk: &'t [u8; CHUNK],
    pub(super) state: State,
}

/// What a lane found: bit `i` tells whether a piece, or a run that matches nothing, starts at byte `i`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) starts: u64,
    pub(super) unmatched: u64,
}

pub(super) struct Running {
    automaton: Automaton,
    /// The first row stands between two pieces, the last in a run that matches nothing.
    table: Vec<u32>,
    unmatched: u32,
    end_column: usize,
}

impl Running {
    pub(super) fn new(automaton: Automaton) -> Self {
        let maker = Maker::new(&automaton);
        let table = (0..maker.n_rows).flat_map(|row| maker.row(row)).collect();
        let unmatched = maker.state(maker.n_rows - 1);
        let end_column = N_BYTES + usize::from(automaton.alphabet().end());
        Self { automaton, table, unmatched, end_column }
    }

    pub(super) fn automaton(&self) -> &Automaton {
        &self.automaton
    }

    /// The state inside a run that matches nothing.
    pub(super) fn unmatched_state(&self) -> State {
        State(self.unmatched)
    }

    /// Whether the piece in progress ends well at the end of the text.
    pub(super) fn ends_here(&self, state: State) -> bool {
        self.table[state.0 as usize + self.end_column] & STOP == 0
    }

    /// Whether this byte stops [`Running::advance`].
    pub(super) fn stops_at(&self, state: State, byte: u8) -> bool {
        self.table[state.0 as usize + usize::from(byte)] & STOP != 0
    }

    /// Marks the starts of pieces in `text[offset..limit]`; stops at the first symbol that starts at or
    /// after `limit`, or whose step needs a look back. Returns where, the state before it, and whether it
    /// is the latter. The sets have room up to the place of `limit`.
    #[inline(never)]
    pub(super) fn run(
        &self,
        text: &[u8],
        place: (usize, State),
        limit: usize,
        marks: &mut Marks<'_>,
    ) -> (usize, State, bool) {
        let (mut offset, mut state) = place;
        while offset < limit {
            let first_bit = offset.wrapping_add(marks.shift);
            let word_end = limit.min(offset + (64 - first_bit % 64));
            let mut found = Found::default();
            let reached = self.run_word(text, (offset, state), word_end, &mut found);
            marks.starts.words_mut()[first_bit / 64] |= found.starts << (first_bit % 64);
            marks.unmatched.words_mut()[first_bit / 64] |= found.unmatched << (first_bit % 64);
            (offset, state) = (reached.0, reached.1);
            if reached.2 {
                return reached;
            }
        }
        (offset, state, false)
    }

    /// As [`Running::run`] for at most 64 bytes.
    #[inline]
    fn run_word(
        &self,
        text: &[u8],
        place: (usize, State),
        limit: usize,
        found: &mut Found,
    ) -> (usize, State, bool) {
        let (first, State(mut state)) = place;
        let mut offset = first;
        while offset < limit {
            let (column, length) = column_at(self.automaton.alphabet(), text, offset);
            let entry = self.table[state as usize + column];
            if entry & STOP != 0 {
                return (offset, State(state), true);
            }
            found.starts |= u64::from(entry >> 31) << (offset - first);
            found.unmatched |= u64::from(entry >> 30 & 1) << (offset - first);
            state = entry & STATE;
            offset += length;
        }
        (offset, State(state), false)
    }

    /// Runs all lanes by the same number of bytes, until one of them needs a look back, meets a byte that is not ASCII or the chunks end;
    /// returns that number. The states are then those before the next byte.
    pub(super) fn advance(&self, lanes: &mut [Lane<'_>; N_LANES]) -> (usize, [Found; N_LANES]) {
        if self.automaton.covers_everything() {
            self.advance_as::<false>(lanes)
        } else {
            self.advance_as::<true>(lanes)
        }
    }

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
        while n_bytes < CHUNK {
            let entries: [u32; N_LANES] = std::array::from_fn(|lane| {
                table[states[lane] as usize + usize::from(chunks[lane][n_bytes])]
            });
            if entries.iter().fold(0, |all, entry| all | entry) & STOP != 0 {
                break;
            }
            for (lane, entry) in entries.into_iter().enumerate() {
                starts[lane] = starts[lane] << 1 | u64::from(entry >> 31);
                let bit = if HAS_UNMATCHED { u64::from(entry >> 30 & 1) } else { 0 };
                unmatched[lane] = unmatched[lane] << 1 | bit;
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

/// Makes the table, row by row.
struct Maker<'a> {
    automaton: &'a Automaton,
    n_rows: usize,
    n_symbols: usize,
}

impl<'a> Maker<'a> {
    fn new(automaton: &'a Automaton) -> Self {
        // The states, and one row before and one after them.
        Self { automaton, n_rows: automaton.n_states() + 2, n_symbols: automaton.n_classes() + 1 }
    }

    fn row(&self, row: usize) -> Vec<u32> {
        let classes: Vec<u32> = (0..self.n_symbols).map(|symbol| self.entry(row, symbol)).collect();
        let alphabet = self.automaton.alphabet();
        let ascii = alphabet.ascii().iter().map(|&class| classes[usize::from(class)]);
        let other = std::iter::repeat_n(STOP, N_BYTES - 128);
        ascii.chain(other).chain(classes.iter().copied()).collect()
    }

    fn entry(&self, row: usize, symbol: usize) -> u32 {
        let is_end = symbol + 1 == self.n_symbols;
        let is_between = row == 0;
        let is_unmatched = row + 1 == self.n_rows;
        if is_end && (is_between || is_unmatched) {
            return 0;
        }
        if is_between || is_unmatched {
            return self.first_entry(symbol, is_unmatched);
        }
        match self.automaton.step(row, symbol) {
            (_, next) if next > 0 => self.state(next),
            (true, _) if is_end => 0,
            (true, _) => self.first_entry(symbol, false),
            (false, _) => STOP,
        }
    }

    /// A piece starts at the symbol, or a run that matches nothing goes on.
    fn first_entry(&self, symbol: usize, is_unmatched: bool) -> u32 {
        let unmatched = self.state(self.n_rows - 1);
        match self.automaton.step(1, symbol).1 {
            0 if is_unmatched => unmatched,
            0 => START | UNMATCHED | unmatched,
            next => START | self.state(next),
        }
    }

    fn state(&self, row: usize) -> u32 {
        // At most 10,000 states of 511 columns.
        u32::try_from(row * (N_BYTES + self.n_symbols)).unwrap_or(STATE)
    }
}
