//! The parts of long pieces, some dozen characters at a time, of one piece or of several that follow each other.
//!
//! ```text
//! take characters, up to 63: where each is, its code point, whether it begins a piece      (Sequence)
//! prefetch what is known of each
//! for each character, as a bit of a word:
//!     joined = a token may span it and the one before
//! a part begins at each character that is not joined, or begins a piece
//! take the last part back: it may go on
//! ```
//!
//! The neighbours of characters take two megabytes, and pairs are in a bitmap. Taken one after the other, each look-up would
//! wait for memory, and again after each mispredicted cut: one in four in text without spaces. So all characters of a block
//! are prefetched before the first pair is examined, and the result is a word of bits, one for each character.
//! [`Cuts::end`] is the definition.
//!
//! Cost: some nanoseconds for each character.
//! Left out: parts as long as a block, which are left to the definition, and what a character of four bytes is.

use std::ops::Range;

use super::neighbours::{self, OTHER};
use super::{Cuts, N_CODES, character};
use crate::encode::merge::Symbols;

/// Some characters. Holds nothing from one block to the next but its memory.
#[derive(Default)]
pub(in crate::encode) struct Block {
    sequence: Sequence,
    /// A bit for each character that begins a part.
    part_starts: u64,
    /// A bit for each character that no token joins, in whole or in part, to the previous one or to a part of it.
    apart: u64,
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
    /// with the code point of each character before parts are found.
    pub(in crate::encode) fn take(
        &mut self,
        (cuts, symbols): (&Cuts, &Symbols),
        pieces: Pieces<'_>,
        from: Place,
        prefetch: impl Fn(u32),
    ) -> Taken {
        let Pieces { text, places } = pieces;
        let is_all = self.sequence.take(pieces, from);
        self.codes().iter().for_each(|&code| {
            cuts.neighbours.prefetch(code);
            prefetch(code);
        });
        let joined = self.joined(cuts, text);
        let mut cut_before = ((1_u64 << self.codes().len()) - 1) & !joined;
        if cuts.must_be_known {
            cut_before = self.known_alone(cuts, text, cut_before, symbols);
        }
        self.part_starts = cut_before | self.piece_starts() | 1;
        if is_all {
            return Taken::Parts(Place { piece: places.len(), at: text.len() });
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
        let [in_part, whole] = cuts.neighbours.joined(self.codes());
        let codes = self.codes();
        // Nothing stands before the first. Of pairs that may be joined as a whole the bitmap knows more.
        let mut joined = in_part & !1;
        let mut possible = whole & !in_part & !1;
        while possible > 0 {
            let number = possible.trailing_zeros() as usize;
            possible &= possible - 1;
            let [left, right] =
                [number - 1, number].map(|number| cuts.neighbours.of(codes[number]).code);
            joined |= u64::from(cuts.has(left, right)) << number;
        }
        let is_plain = codes.iter().fold(true, |all, code| all & (128..OTHER).contains(code));
        self.apart = !in_part;
        match is_plain {
            true => joined,
            false => self.look_at_odd(cuts, text, joined),
        }
    }

    /// A bit for each character that neighbours do not decide: it or the previous one has none, or both are ASCII.
    fn odd(&self) -> u64 {
        let codes = self.codes();
        let is_odd = |pair: &[u32]| pair[0].max(pair[1]) == OTHER || pair[0].max(pair[1]) < 128;
        let odd = codes.windows(2).zip(1..).map(|(pair, number)| u64::from(is_odd(pair)) << number);
        odd.fold(0, |all, bit| all | bit)
    }

    /// What [`Self::joined`] gives where some characters have no neighbours noted.
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

/// Characters of a sequence, at most: a word has a bit for each of them and one for what comes behind.
pub(in crate::encode) const MAX_CHARACTERS: usize = 63;

/// Room for them, and for the place of one more.
const ROOM: usize = MAX_CHARACTERS + 1;

/// Long pieces of a text.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'p> {
    pub(crate) text: &'p [u8],
    /// In the order of the text.
    pub(crate) places: &'p [Range<usize>],
}

/// A place in one of several pieces: which one, and where in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::encode) struct Place {
    pub(in crate::encode) piece: usize,
    pub(in crate::encode) at: usize,
}

/// Some characters. What stands behind the last means nothing, but for the place of one that there was no room for.
pub(super) struct Sequence {
    /// Where each begins in the text, and its length in bytes.
    starts: [usize; ROOM],
    lens: [u32; ROOM],
    codes: [u32; ROOM],
    len: usize,
    piece_starts: u64,
}

impl Default for Sequence {
    fn default() -> Self {
        Self { starts: [0; ROOM], lens: [0; ROOM], codes: [0; ROOM], len: 0, piece_starts: 0 }
    }
}

impl Sequence {
    /// Takes the characters of pieces of a text from a place on, as many as there is room for; returns whether these are
    /// all.
    pub(super) fn take(&mut self, pieces: Pieces<'_>, from: Place) -> bool {
        let Pieces { text, places } = pieces;
        (self.len, self.piece_starts) = (0, 0);
        places[from.piece..].iter().all(|piece| {
            // Of the first one some may be done.
            let mut rest = from.at.max(piece.start)..piece.end;
            self.piece_starts |= u64::from(rest.start == piece.start) << self.len;
            while !rest.is_empty() && self.len < MAX_CHARACTERS {
                rest.start = self.take_one(text, rest.clone());
            }
            self.starts[self.len] = rest.start;
            rest.is_empty()
        })
    }

    /// Takes the first character of what is left of a piece.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "four at most")]
    fn take_one(&mut self, text: &[u8], piece: Range<usize>) -> usize {
        let (code, len) = neighbours::code_point(&text[..piece.end], piece.start);
        let number = self.len;
        self.starts[number] = piece.start;
        (self.codes[number], self.lens[number]) = (code, len as u32);
        self.len += 1;
        piece.start + len
    }

    /// By [`neighbours::code_point`]: [`OTHER`](neighbours::OTHER) for all that has no code of its own.
    pub(super) fn codes(&self) -> &[u32] {
        &self.codes[..self.len]
    }

    /// A bit for each that begins a piece, also for the one that there was no room for.
    pub(super) fn piece_starts(&self) -> u64 {
        self.piece_starts
    }

    /// Where one begins in the text, or would if there was room for it.
    pub(super) fn start(&self, number: usize) -> usize {
        self.starts[number]
    }

    /// Where some of one piece are.
    pub(super) fn range(&self, numbers: Range<usize>) -> Range<usize> {
        let last = numbers.end - 1;
        self.starts[numbers.start]..self.starts[last] + self.lens[last] as usize
    }

    /// The number of pieces of the characters up to this one; the first piece may have begun before.
    pub(super) fn n_pieces_begun(&self, number: usize) -> usize {
        let up_to_it = u64::MAX >> (MAX_CHARACTERS - number);
        let is_begun = u32::from(self.piece_starts & 1 == 0);
        ((self.piece_starts & up_to_it).count_ones() + is_begun) as usize
    }

    /// Takes the others back.
    pub(super) fn keep_first(&mut self, len: usize) {
        self.len = len;
        self.piece_starts &= (1 << len) - 1;
    }
}
