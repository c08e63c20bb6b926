//! The parts of a long piece, some dozen characters at a time.
//!
//! What is known of a character lies somewhere in two megabytes, what is known of a pair somewhere in a bitmap. Asked
//! one after the other, each answer would be waited for, and again after each wrong guess whether here is a cut: of text
//! without spaces one in four is wrong. So all characters of a block are looked up before the first pair is asked
//! about, and all pairs before the first part is made. [`Cuts::end`] is the definition.
//!
//! Cost: some nanoseconds for each character. Left out: parts as long as a block, which are left to the definition.

use super::sides::{self, OTHER};
use super::{Cuts, N_CODES, character};
use crate::encode::symbols::Symbols;

/// Characters of a block, at most: a word has a bit for each place before, between and behind them.
const MAX_CHARACTERS: usize = 63;

/// A part of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) characters: Few,
}

/// The characters of a part by their codes, if they are few; none of four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Few {
    One(u32),
    Two([u32; 2]),
    More,
}

/// The next parts of a piece. Holds nothing from one piece to the next but its memory.
pub(crate) struct Block {
    /// Where each character begins, and behind the last where it ends.
    starts: [usize; MAX_CHARACTERS + 1],
    codes: [u32; MAX_CHARACTERS],
    /// Pairs of which the bitmap knows more: the number of the second character, the word and its bit.
    asked: [(usize, usize, u64); MAX_CHARACTERS],
    parts: [Part; MAX_CHARACTERS],
    n_parts: usize,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            starts: [0; MAX_CHARACTERS + 1],
            codes: [0; MAX_CHARACTERS],
            asked: [(0, 0, 0); MAX_CHARACTERS],
            parts: [Part { start: 0, end: 0, characters: Few::More }; MAX_CHARACTERS],
            n_parts: 0,
        }
    }
}

impl Block {
    pub(crate) fn parts(&self) -> &[Part] {
        &self.parts[..self.n_parts]
    }

    /// All of a piece from `start` on as one part.
    pub(in crate::encode) fn take_one(&mut self, start: usize, end: usize) {
        self.parts[0] = Part { start, end, characters: Few::More };
        self.n_parts = 1;
    }

    /// Takes the parts of a piece that begin at `start` and behind, as many as it has room for and one at least.
    pub(in crate::encode) fn take(
        &mut self,
        cuts: &Cuts,
        (piece, start): (&[u8], usize),
        symbols: &Symbols,
    ) {
        let n_characters = self.take_characters(cuts, piece, start);
        let joined = self.joined(cuts, piece, n_characters);
        let mut cut_before = ((1_u64 << n_characters) - 2) & !joined;
        if cuts.must_be_known {
            cut_before = self.known_alone(cuts, piece, cut_before, symbols);
        }
        let is_last = self.starts[n_characters] == piece.len();
        let mut ends = cut_before | u64::from(is_last) << n_characters;
        if ends == 0 {
            self.take_one(start, cuts.end(piece, start, symbols));
            return;
        }
        let (mut first, mut n_parts) = (0, 0);
        while ends > 0 {
            let end = ends.trailing_zeros() as usize;
            let characters = match self.codes[first..end] {
                [one] if one < N_CODES => Few::One(one),
                [one, other] if one.max(other) < N_CODES => Few::Two([one, other]),
                _ => Few::More,
            };
            let (start, end_of_part) = (self.starts[first], self.starts[end]);
            self.parts[n_parts] = Part { start, end: end_of_part, characters };
            n_parts += 1;
            first = end;
            ends &= ends - 1;
        }
        self.n_parts = n_parts;
    }

    /// Takes characters from `start` on; returns their number.
    fn take_characters(&mut self, cuts: &Cuts, piece: &[u8], start: usize) -> usize {
        let (mut place, mut n_characters, mut seen) = (start, 0, 0);
        while n_characters < MAX_CHARACTERS && place < piece.len() {
            let (code, len) = sides::row(piece, place);
            self.starts[n_characters] = place;
            self.codes[n_characters] = code;
            // Read without being looked at: what it is will be at hand.
            seen ^= cuts.sides.of(code).glance();
            place += len;
            n_characters += 1;
        }
        std::hint::black_box(seen);
        self.starts[n_characters] = place;
        n_characters
    }

    /// A bit for each character that may be joined to the one before.
    fn joined(&mut self, cuts: &Cuts, piece: &[u8], n_characters: usize) -> u64 {
        let (mut joined, mut n_asked) = (0, 0);
        for number in 1..n_characters {
            let [left, right] = [self.codes[number - 1], self.codes[number]];
            if left < 128 && right < 128 {
                joined |= u64::from(cuts.of_ascii[left as usize] >> right & 1 > 0) << number;
                continue;
            }
            if left.max(right) == OTHER {
                let [left, right] =
                    [number - 1, number].map(|number| character(piece, self.starts[number]).0);
                joined |= u64::from(cuts.joins(left, right)) << number;
                continue;
            }
            let [left, right] = [left, right].map(|code| cuts.sides.of(code));
            joined |= u64::from(left.joins_part(right)) << number;
            let (word, bit) = cuts.place(left.code, right.code);
            self.asked[n_asked] = (number, word, bit);
            n_asked += usize::from(left.may_join(right));
        }
        let has = |&(number, word, bit): &(usize, usize, u64)| {
            u64::from(cuts.of_others[word] & bit > 0) << number
        };
        self.asked[..n_asked].iter().fold(joined, |joined, pair| joined | has(pair))
    }

    /// Of some characters those that are known, as those behind a cut must be.
    fn known_alone(&self, cuts: &Cuts, piece: &[u8], characters: u64, symbols: &Symbols) -> u64 {
        let is_known = |number: usize| {
            cuts.is_known(&piece[self.starts[number]..self.starts[number + 1]], symbols)
        };
        let unknown = (0..MAX_CHARACTERS)
            .filter(|&number| characters >> number & 1 > 0 && !is_known(number))
            .fold(0, |bits, number| bits | 1 << number);
        characters & !unknown
    }
}
