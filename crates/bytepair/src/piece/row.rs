//! Short pieces of some hundred bytes of text, made ready to be looked up: their keys, and the homes of these in a table.
//!
//! A processor runs ahead of a load that is slow by some hundred instructions, which are few pieces. So pieces are looked up in
//! two rounds, of which the first waits for nothing:
//!
//! ```text
//! for each piece of a row:  make its key, hash it, prefetch its home
//! for each piece of a row:  compare the keys at its home, which is near by now
//! ```
//!
//! The first round is here. The second belongs to the table: [`crate::encode`]'s cache writes ids, the table that counts adds.
//! There is no branch on what a piece is, apart from long pieces, which have no key.
//!
//! Cost: about 10 cycles for each piece in the first round.

use std::ops::Range;

use crate::piece::key::{MAX_KEY_LEN, NO_KEY};
use crate::piece::{WORD_LEN, Word};

/// Pieces that a row should hold; those of one more word fit behind them.
const ROW_LEN: usize = 128;

/// More pieces than a row can hold. A power of two, so that no place in it is outside.
pub(crate) const MAX_PIECES: usize = 256;

/// The bytes of the pieces that start in a word, as far as keys need them.
const WINDOW_LEN: usize = WORD_LEN + 16;

/// A piece that is ready to be looked up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    /// [`NO_KEY`] if it is too long for one.
    pub(crate) key: u128,
    /// Where its search in the table begins.
    pub(crate) home: usize,
    /// Where it starts in the text.
    start: usize,
}

/// Pieces in the order of the text.
pub(crate) struct PieceRow {
    len: usize,
    /// Behind the last is where that ends.
    entries: [Entry; MAX_PIECES],
}

impl Default for PieceRow {
    fn default() -> Self {
        Self { len: 0, entries: [Entry::default(); _] }
    }
}

/// By length: which bytes of a window are the piece, by halves, and the length above them. Longer pieces, which have no key,
/// are the last.
static MASKS: [[u64; 4]; MAX_KEY_LEN + 2] = {
    let (mut masks, mut len) = ([[0, 0, (NO_KEY >> 64) as u64, 0]; MAX_KEY_LEN + 2], 0);
    while len <= MAX_KEY_LEN {
        let low = if len < 8 { (1 << (8 * len)) - 1 } else { u64::MAX };
        let high = if len < 8 { 0 } else { (1 << (8 * (len - 8))) - 1 };
        masks[len] = [low, high, (len as u64) << 56, 0];
        len += 1;
    }
    masks
};

impl PieceRow {
    /// Takes in the pieces of the next words until the row is full. `home` gives the home of a key, and prefetches it.
    ///
    /// Empty afterwards only if no words are left.
    #[inline]
    pub(crate) fn fill(
        &mut self,
        text: &[u8],
        words: &mut impl Iterator<Item = Word>,
        home: impl Fn(u128) -> usize,
    ) {
        self.len = 0;
        while self.len < ROW_LEN {
            let Some(word) = words.next() else { break };
            let window = text[word.start..].first_chunk::<WINDOW_LEN>();
            match window {
                Some(window) => self.push(window, word, &home),
                None => self.push_last(&text[word.start..], word, &home),
            }
        }
    }

    /// Takes in the pieces of a word near the end of the text.
    #[cold]
    fn push_last(&mut self, rest: &[u8], word: Word, home: &impl Fn(u128) -> usize) {
        let mut window = [0; WINDOW_LEN];
        window[..rest.len()].copy_from_slice(rest);
        self.push(&window, word, home);
    }

    /// Takes in the pieces of a word; the window begins with it.
    ///
    /// The last piece is taken apart from the others: it alone may go on behind the word.
    #[inline]
    fn push(&mut self, window: &[u8; WINDOW_LEN], word: Word, home: &impl Fn(u128) -> usize) {
        let mut start = word.bits.trailing_zeros() as usize;
        let mut left = word.bits & word.bits.wrapping_sub(1);
        while left != 0 {
            let end = left.trailing_zeros() as usize;
            left &= left - 1;
            self.push_piece(window, start..end, word.start, home);
            start = end;
        }
        if word.bits != 0 {
            self.push_piece(window, start..word.end - word.start, word.start, home);
            self.entries[self.len % MAX_PIECES].start = word.end;
        }
    }

    /// Takes in a piece of a window that starts at a place in the text.
    ///
    /// The numbers of bits and of entries are taken modulo their bounds, which changes none and spares all checks.
    #[inline]
    fn push_piece(
        &mut self,
        window: &[u8; WINDOW_LEN],
        piece: Range<usize>,
        window_start: usize,
        home: &impl Fn(u128) -> usize,
    ) {
        let Some(bytes) = window[piece.start % WORD_LEN..].first_chunk::<16>() else { return };
        let (halves, _) = bytes.as_chunks();
        let [low, high] = [0, 1].map(|half: usize| u64::from_le_bytes(halves[half]));
        let len = piece.end.wrapping_sub(piece.start);
        let masks = &MASKS[len.min(MAX_KEY_LEN + 1)];
        let [low, high] = [low & masks[0], high & masks[1] | masks[2]];
        let key = u128::from(high) << 64 | u128::from(low);
        let start = window_start + piece.start;
        self.entries[self.len % MAX_PIECES] = Entry { key, home: home(key), start };
        self.len += 1;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The piece of this number.
    #[inline]
    pub(crate) fn piece(&self, number: usize) -> Range<usize> {
        self.entries[number].start..self.entries[number + 1].start
    }

    #[inline]
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries[..self.len % MAX_PIECES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece::Starts;
    use crate::piece::key::key_or_none;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_have_the_pieces_one_by_one(bits in prop::collection::vec(any::<u64>(), 1..40), n_more in 0..64_usize) {
            let bits: Vec<_> = bits.into_iter().enumerate().map(|(place, word)| if place == 0 { word | 1 } else { word }).collect();
            let text = vec![b'a'; bits.len() * WORD_LEN + n_more];
            let starts = Starts::new(&bits, 0..text.len());
            let (mut row, mut words, mut found) = (PieceRow::default(), starts.words(), Vec::new());
            loop {
                row.fill(&text, &mut words, |key| key as usize);
                if row.len() == 0 {
                    break;
                }
                let entries = row.entries().iter().map(|entry| (entry.key, entry.home));
                found.extend(entries.enumerate().map(|(number, entry)| (row.piece(number), entry)));
            }
            let pieces = starts.words().flat_map(Word::pieces);
            let expected = pieces.map(|piece| { let key = key_or_none(&text, piece.start, piece.end); (piece, (key, key as usize)) });
            prop_assert_eq!(found, expected.collect::<Vec<_>>());
        }
    }
}
