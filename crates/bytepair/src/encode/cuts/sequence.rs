//! The characters of some pieces, in the order of the text: where they are, and their codes.
//!
//! Taken one by one, which is the definition, or by vectors. Costs a nanosecond or two for each. Left out: what a
//! character of four bytes is.

#[cfg(target_arch = "x86_64")]
mod vectors;

use std::ops::Range;

use super::sides;
use crate::piece::key::Kernel;

/// Characters of a sequence, at most: a word has a bit for each of them and one for what comes behind.
pub(in crate::encode) const MAX_CHARACTERS: usize = 63;

/// Room for them, and for what a step that takes several writes behind.
const ROOM: usize = 80;

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
    pub(super) fn take(
        &mut self,
        pieces: (&[u8], &[Range<usize>]),
        from: Place,
        kernel: Kernel,
    ) -> bool {
        match kernel {
            Kernel::OneByOne => self.take_by(pieces, from, Self::take_one),
            #[cfg(target_arch = "x86_64")]
            Kernel::Eight => vectors::take(self, pieces, from),
        }
    }

    /// [`Self::take`] with a given kernel: `take_some` takes at least one character at the beginning of the rest of a piece,
    /// and returns where they end.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "compiled for vectors where it is called from them")]
    fn take_by(
        &mut self,
        (text, pieces): (&[u8], &[Range<usize>]),
        from: Place,
        take_some: impl Fn(&mut Self, &[u8], Range<usize>) -> usize,
    ) -> bool {
        (self.len, self.piece_starts) = (0, 0);
        pieces[from.piece..].iter().all(|piece| {
            // Of the first one some may be done.
            let mut rest = from.at.max(piece.start)..piece.end;
            self.piece_starts |= u64::from(rest.start == piece.start) << self.len;
            while !rest.is_empty() && self.len < MAX_CHARACTERS {
                rest.start = take_some(self, text, rest.clone());
            }
            self.starts[self.len] = rest.start;
            rest.is_empty()
        })
    }

    /// Takes the first character of what is left of a piece.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "four at most")]
    fn take_one(&mut self, text: &[u8], piece: Range<usize>) -> usize {
        let (code, len) = sides::row(&text[..piece.end], piece.start);
        let number = self.len;
        self.starts[number] = piece.start;
        (self.codes[number], self.lens[number]) = (code, len as u32);
        self.len += 1;
        piece.start + len
    }

    /// By [`sides::row`]: [`OTHER`](sides::OTHER) for all that has no code of its own.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All that is taken of pieces, sequence by sequence: whether a piece begins, where, how long, and the code.
    fn taken(text: &[u8], pieces: &[Range<usize>], kernel: Kernel) -> Vec<(bool, usize, u32, u32)> {
        let (mut sequence, mut all) = (Sequence::default(), Vec::new());
        let mut from = Place { piece: 0, at: 0 };
        loop {
            let is_all = sequence.take((text, pieces), from, kernel);
            let is_first = |number: usize| sequence.piece_starts >> number & 1 > 0;
            all.extend((0..sequence.len).map(|number| {
                let (start, len) = (sequence.starts[number], sequence.lens[number]);
                (is_first(number), start, len, sequence.codes[number])
            }));
            if is_all {
                return all;
            }
            let n_begun = sequence.n_pieces_begun(sequence.len);
            from = Place { piece: from.piece + n_begun - 1, at: sequence.start(sequence.len) };
        }
    }

    /// Bytes between which a character is one or none.
    const BYTES: [u8; 22] = [
        0, 0x61, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1,
        0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF4, 0xFF,
    ];

    #[test]
    fn every_row_of_three_bytes_is_taken_by_vectors_as_one_by_one() {
        let pairs = BYTES.iter().flat_map(|first| BYTES.map(|second| [*first, second]));
        let threes = pairs.flat_map(|[first, second]| BYTES.map(|third| [first, second, third]));
        // At the beginning of a window, and where it ends.
        let before = ["", "a", "aa"].map(|ascii| ascii.to_owned() + &"中".repeat(20));
        let before: Vec<&[u8]> = before.iter().map(String::as_bytes).chain([&[][..]]).collect();
        for (three, before) in
            threes.flat_map(|three| before.iter().map(move |before| (three, before)))
        {
            for behind in [&[][..], "\u{80}中a".as_bytes(), &[0x80]] {
                let text = [before, &three[..], behind].concat();
                let all = 0..text.len();
                let by = |kernel| taken(&text, std::slice::from_ref(&all), kernel);
                assert_eq!(by(Kernel::fast()), by(Kernel::OneByOne), "{text:X?}");
            }
        }
    }

    proptest! {
        #[test]
        fn characters_are_taken_by_vectors_as_one_by_one(
            parts in prop::collection::vec(
                prop_oneof![
                    8 => "[aé中文߿ࠀ￿]{1,30}".prop_map(String::into_bytes),
                    1 => "[中😀]{1,90}".prop_map(String::into_bytes),
                    1 => prop::collection::vec(prop::sample::select(&BYTES[..]), 1..6),
                ],
                0..20,
            ),
            lens in prop::collection::vec(1..100_usize, 1..8),
        ) {
            let text = parts.concat();
            let mut end = 0;
            let pieces = lens.iter().cycle().map_while(|len| {
                let start = end;
                end = text.len().min(start + len);
                (start < text.len()).then_some(start..end)
            });
            let pieces: Vec<_> =
                pieces.enumerate().filter(|(number, _)| number % 3 != 1).map(|(_, piece)| piece).collect();
            let expected = taken(&text, &pieces, Kernel::OneByOne);
            prop_assert_eq!(taken(&text, &pieces, Kernel::fast()), &expected[..]);
            let lens: usize = expected.iter().map(|(_, _, len, _)| *len as usize).sum();
            prop_assert_eq!(lens, pieces.iter().map(Range::len).sum::<usize>());
        }
    }
}
