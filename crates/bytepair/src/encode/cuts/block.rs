//! The parts of long pieces, some dozen characters at a time, of one piece or of several that follow each other.
//!
//! What is known of a character lies somewhere in two megabytes, what is known of a pair somewhere in a bitmap. Asked
//! one after the other, each answer would be waited for, and again after each wrong guess whether here is a cut: of text
//! without spaces one in four is wrong. So all characters of a block are asked for before the first pair is looked at,
//! and what is found out is a word of bits, one for each character. [`Cuts::end`] is the definition.
//!
//! Cost: some nanoseconds for each character. Left out: parts as long as a block, which are left to the definition.

use std::ops::Range;

use super::sides::{self, OTHER};
use super::{Cuts, N_CODES, character};
use crate::encode::symbols::Symbols;

/// Characters of a block, at most: a word has a bit for each of them and one for the end.
pub(in crate::encode) const MAX_CHARACTERS: usize = 63;

/// A place in one of several pieces: which one, and where in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::encode) struct Place {
    pub(in crate::encode) piece: usize,
    pub(in crate::encode) at: usize,
}

/// Some characters. Holds nothing from one block to the next but its memory.
pub(in crate::encode) struct Block {
    /// Where each character begins in the text, also the one behind a full block, and where it ends.
    starts: [usize; MAX_CHARACTERS + 1],
    ends: [usize; MAX_CHARACTERS],
    codes: [u32; MAX_CHARACTERS],
    /// How many of them belong to parts that end here.
    n_characters: usize,
    /// A bit for each character that begins a piece, and for each that begins a part.
    piece_starts: u64,
    part_starts: u64,
    /// A bit for each character of which no token joins a part to the one before, or to a part of that one.
    apart: u64,
}

impl Default for Block {
    fn default() -> Self {
        Self {
            starts: [0; MAX_CHARACTERS + 1],
            ends: [0; MAX_CHARACTERS],
            codes: [0; MAX_CHARACTERS],
            n_characters: 0,
            piece_starts: 0,
            part_starts: 0,
            apart: 0,
        }
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
    /// The codes of its characters, some number above all codes of three bytes for others.
    pub(in crate::encode) fn codes(&self) -> &[u32] {
        &self.codes[..self.n_characters]
    }

    /// A bit for each character that begins a piece.
    pub(in crate::encode) fn piece_starts(&self) -> u64 {
        self.piece_starts
    }

    /// A bit for each character that begins a part.
    pub(in crate::encode) fn part_starts(&self) -> u64 {
        self.part_starts
    }

    /// A bit for each character of which no token joins a part to the one before, or to a part of that one.
    pub(in crate::encode) fn apart(&self) -> u64 {
        self.apart
    }

    /// Where some characters of one piece are.
    pub(in crate::encode) fn range(&self, characters: Range<usize>) -> Range<usize> {
        self.starts[characters.start]..self.ends[characters.end - 1]
    }

    /// Takes the parts of pieces of a text that begin at a place and behind, as many as it has room for. `ask_for` is told
    /// of each character, by its code, before parts are found out.
    pub(in crate::encode) fn take(
        &mut self,
        (cuts, symbols): (&Cuts, &Symbols),
        (text, pieces): (&[u8], &[Range<usize>]),
        from: Place,
        ask_for: impl Fn(u32),
    ) -> Taken {
        let is_all = self.take_characters(cuts, (text, pieces), from);
        self.codes.iter().take(self.n_characters).for_each(|&code| ask_for(code));
        let n_characters = self.n_characters;
        let joined = self.joined(cuts, text);
        let mut cut_before = ((1_u64 << n_characters) - 1) & !joined;
        if cuts.must_be_known {
            cut_before = self.known_alone(cuts, text, cut_before, symbols);
        }
        self.part_starts = cut_before | self.piece_starts | 1;
        if is_all {
            return Taken::Parts(Place { piece: pieces.len(), at: text.len() });
        }
        // The last part may go on.
        self.n_characters = self.part_starts.ilog2() as usize;
        let here = (1 << self.n_characters) - 1;
        let is_begun = u32::from(self.piece_starts & 1 == 0);
        let n_pieces = (self.piece_starts & (here << 1 | 1)).count_ones() + is_begun;
        self.part_starts &= here;
        self.piece_starts &= here;
        match self.n_characters {
            0 => Taken::Nothing,
            number => Taken::Parts(Place {
                piece: from.piece + n_pieces as usize - 1,
                at: self.starts[number],
            }),
        }
    }

    /// Takes characters from a place on; returns whether these are all of the pieces.
    fn take_characters(
        &mut self,
        cuts: &Cuts,
        (text, pieces): (&[u8], &[Range<usize>]),
        from: Place,
    ) -> bool {
        (self.n_characters, self.piece_starts) = (0, 0);
        pieces[from.piece..].iter().all(|piece| {
            // Of the first one some may be done.
            let start = from.at.max(piece.start);
            self.piece_starts |= u64::from(start == piece.start) << self.n_characters;
            self.take_more(cuts, &text[..piece.end], start)
        })
    }

    /// Takes characters up to the end of a text; returns whether there was room.
    #[inline]
    fn take_more(&mut self, cuts: &Cuts, text: &[u8], mut place: usize) -> bool {
        let mut number = self.n_characters;
        while place < text.len() && number < MAX_CHARACTERS {
            let (code, len) = sides::row(text, place);
            cuts.sides.ask_for(code);
            self.starts[number] = place;
            self.codes[number] = code;
            place += len;
            self.ends[number] = place;
            number += 1;
        }
        self.n_characters = number;
        self.starts[number] = place;
        place == text.len()
    }

    /// A bit for each character that may be joined to the one before, whether or not they are of one piece.
    fn joined(&mut self, cuts: &Cuts, text: &[u8]) -> u64 {
        let codes = &self.codes[..self.n_characters];
        let (mut in_part, mut whole) = (0, 0);
        let mut before = cuts.sides.of(OTHER);
        for (number, &code) in codes.iter().enumerate() {
            let here = cuts.sides.of(code);
            in_part |= u64::from(before.joins_part(here)) << number;
            whole |= u64::from(before.may_join(here)) << number;
            before = here;
        }
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
        self.apart = !in_part;
        match codes.iter().all(|code| (128..OTHER).contains(code)) {
            true => joined,
            false => self.look_at_odd(cuts, text, joined),
        }
    }

    /// A bit for each character that rows do not tell of: it or the one before has none, or both are ASCII.
    fn odd(&self) -> u64 {
        let codes = &self.codes[..self.n_characters];
        let is_odd = |pair: &[u32]| pair[0].max(pair[1]) == OTHER || pair[0].max(pair[1]) < 128;
        let odd = codes.windows(2).zip(1..).map(|(pair, number)| u64::from(is_odd(pair)) << number);
        odd.fold(0, |all, bit| all | bit)
    }

    /// What [`Self::joined`] gives where rows do not tell of all characters, from what they tell.
    fn look_at_odd(&mut self, cuts: &Cuts, text: &[u8], joined: u64) -> u64 {
        let mut odd = self.odd();
        let mut joined = joined & !odd;
        while odd > 0 {
            let number = odd.trailing_zeros() as usize;
            odd &= odd - 1;
            let [left, right] = [number - 1, number];
            let is_ascii = self.codes[left].max(self.codes[right]) < 128;
            let [left, right] = [left, right]
                .map(|number| character(&text[..self.ends[number]], self.starts[number]).0);
            joined |= u64::from(cuts.joins(left, right)) << number;
            self.apart = self.apart & !(1 << number) | u64::from(is_ascii) << number;
        }
        joined
    }

    /// Of some characters those that are known, as those behind a cut must be.
    fn known_alone(&self, cuts: &Cuts, text: &[u8], characters: u64, symbols: &Symbols) -> u64 {
        let is_known =
            |number: usize| cuts.is_known(&text[self.range(number..number + 1)], symbols);
        let unknown = (0..self.n_characters)
            .filter(|&number| characters >> number & 1 > 0 && !is_known(number))
            .fold(0, |bits, number| bits | 1 << number);
        characters & !unknown
    }
}

const _: () = assert!(OTHER == N_CODES);
