//! The parts of long pieces, some dozen characters at a time, of one piece or of several that follow each other.
//!
//! The rows of characters take two megabytes, and pairs are in a bitmap. Taken one after the other, each look-up would wait
//! for memory, and again after each mispredicted cut: one in four in text without spaces. So all characters of a block are
//! prefetched before the first pair is examined, and the result is a word of bits, one for each character. [`Cuts::end`] is
//! the definition.
//!
//! Cost: some nanoseconds for each character. Left out: parts as long as a block, which are left to the definition.

use std::ops::Range;

use super::sequence::{Place, Sequence};
use super::sides::OTHER;
use super::{Cuts, N_CODES, character};
use crate::encode::merge::Symbols;
use crate::piece::key::Kernel;

/// Some characters. Holds nothing from one block to the next but its memory.
pub(in crate::encode) struct Block {
    sequence: Sequence,
    /// How they are gone through.
    kernel: Kernel,
    /// A bit for each character that begins a part.
    part_starts: u64,
    /// A bit for each character that no token joins, in whole or in part, to the previous one or to a part of it.
    apart: u64,
}

impl Default for Block {
    fn default() -> Self {
        let (sequence, kernel) = (Sequence::default(), Kernel::fast());
        Self { sequence, kernel, part_starts: 0, apart: 0 }
    }
}

/// What a block has taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::encode) enum Taken {
    /// Some parts, up to a place.
    Parts(Place),
    /// None: the first part alone is longer than a block.
    Nothing,
}

impl Block {
    /// The codes of its characters, [`OTHER`] for all that has none of its own.
    pub(in crate::encode) fn codes(&self) -> &[u32] {
        self.sequence.codes()
    }

    /// How its characters are gone through.
    pub(in crate::encode) fn kernel(&self) -> Kernel {
        self.kernel
    }

    /// This block without vectors.
    #[cfg(test)]
    pub(in crate::encode) fn plain(mut self) -> Self {
        self.kernel = Kernel::OneByOne;
        self
    }

    /// A bit for each character that begins a piece.
    pub(in crate::encode) fn piece_starts(&self) -> u64 {
        self.sequence.piece_starts()
    }

    /// A bit for each character that begins a part.
    pub(in crate::encode) fn part_starts(&self) -> u64 {
        self.part_starts
    }

    /// A bit for each character that no token joins, in whole or in part, to the previous one or to a part of it.
    pub(in crate::encode) fn apart(&self) -> u64 {
        self.apart
    }

    /// Where some characters of one piece are.
    pub(in crate::encode) fn range(&self, characters: Range<usize>) -> Range<usize> {
        self.sequence.range(characters)
    }

    /// Takes the parts of pieces of a text that begin at a place and behind, as many as it has room for. `prefetch` is called
    /// with the code of each character before parts are determined.
    pub(in crate::encode) fn take(
        &mut self,
        (cuts, symbols): (&Cuts, &Symbols),
        (text, pieces): (&[u8], &[Range<usize>]),
        from: Place,
        prefetch: impl Fn(u32),
    ) -> Taken {
        let is_all = self.sequence.take((text, pieces), from, self.kernel);
        self.codes().iter().for_each(|&code| {
            cuts.sides.prefetch(code);
            prefetch(code);
        });
        let joined = self.joined(cuts, text);
        let mut cut_before = ((1_u64 << self.codes().len()) - 1) & !joined;
        if cuts.must_be_known {
            cut_before = self.known_alone(cuts, text, cut_before, symbols);
        }
        self.part_starts = cut_before | self.piece_starts() | 1;
        if is_all {
            return Taken::Parts(Place { piece: pieces.len(), at: text.len() });
        }
        // The last part may go on.
        let number = self.part_starts.ilog2() as usize;
        let n_begun = self.sequence.n_pieces_begun(number);
        self.part_starts &= (1 << number) - 1;
        let at = self.sequence.start(number);
        self.sequence.keep_first(number);
        match number {
            0 => Taken::Nothing,
            _ => Taken::Parts(Place { piece: from.piece + n_begun - 1, at }),
        }
    }

    /// A bit for each character that may be joined to the one before, whether or not they are of one piece.
    fn joined(&mut self, cuts: &Cuts, text: &[u8]) -> u64 {
        let [in_part, whole] = cuts.sides.joined(self.codes(), self.kernel);
        let codes = self.codes();
        // Nothing stands before the first. Of pairs that may be joined as a whole the bitmap knows more.
        let mut joined = in_part & !1;
        let mut asked = whole & !in_part & !1;
        while asked > 0 {
            let number = asked.trailing_zeros() as usize;
            asked &= asked - 1;
            let [left, right] =
                [number - 1, number].map(|number| cuts.sides.of(codes[number]).code);
            joined |= u64::from(cuts.has(left, right)) << number;
        }
        let is_plain = codes.iter().fold(true, |all, code| all & (128..OTHER).contains(code));
        self.apart = !in_part;
        match is_plain {
            true => joined,
            false => self.look_at_odd(cuts, text, joined),
        }
    }

    /// A bit for each character that rows do not decide: it or the previous one has no row, or both are ASCII.
    fn odd(&self) -> u64 {
        let codes = self.codes();
        let is_odd = |pair: &[u32]| pair[0].max(pair[1]) == OTHER || pair[0].max(pair[1]) < 128;
        let odd = codes.windows(2).zip(1..).map(|(pair, number)| u64::from(is_odd(pair)) << number);
        odd.fold(0, |all, bit| all | bit)
    }

    /// The result of [`Self::joined`] if rows do not decide all characters, from those that they decide.
    fn look_at_odd(&mut self, cuts: &Cuts, text: &[u8], joined: u64) -> u64 {
        let mut odd = self.odd();
        let mut joined = joined & !odd;
        while odd > 0 {
            let number = odd.trailing_zeros() as usize;
            odd &= odd - 1;
            let [left, right] = [number - 1, number];
            let is_ascii = self.codes()[left].max(self.codes()[right]) < 128;
            let [left, right] = [left, right].map(|number| {
                let Range { start, end } = self.range(number..number + 1);
                character(&text[..end], start).0
            });
            joined |= u64::from(cuts.joins(left, right)) << number;
            self.apart = self.apart & !(1 << number) | u64::from(is_ascii) << number;
        }
        joined
    }

    /// Of some characters those that are known, as those behind a cut must be.
    fn known_alone(&self, cuts: &Cuts, text: &[u8], characters: u64, symbols: &Symbols) -> u64 {
        let is_known =
            |number: usize| cuts.is_known(&text[self.range(number..number + 1)], symbols);
        let unknown = (0..self.codes().len())
            .filter(|&number| characters >> number & 1 > 0 && !is_known(number))
            .fold(0, |bits, number| bits | 1 << number);
        characters & !unknown
    }
}

const _: () = assert!(OTHER == N_CODES);
