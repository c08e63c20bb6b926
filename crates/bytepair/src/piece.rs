//! Short pieces as numbers, for tables that count or cache them, and rows of pieces that are prepared for look-up.
//!
//! A piece of 1 to 15 bytes and its length fit a word of 128 bits, its *key*. So one comparison compares two pieces,
//! and one multiplication hashes a piece. No key is 0.
//!
//! A bit mask says where the pieces of a block start. While a processor waits for a slow load, it runs ahead by some
//! hundred instructions, which are only a few pieces. So the pieces of some hundred bytes of text are looked up in two
//! passes, and the first waits for nothing:
//!
//! ```text
//! for each piece of a row:  make its key, hash it, prefetch its home
//! for each piece of a row:  compare the keys at its home, which has arrived by then
//! ```
//!
//! The first pass is here. The second belongs to the table: the cache of [`crate::encode`] writes ids, the table of
//! counts adds. No branch depends on a piece, except for long pieces, which have no key.
//!
//! Cost: about 10 cycles for each piece in the first pass.

use std::ops::Range;

use crate::hash::fold;

/// Longest piece that has a key, in bytes.
pub(crate) const MAX_KEY_LEN: usize = 15;

/// Replaces a missing key. No piece has it, and no slot with a kind: no piece has this length.
pub(crate) const NO_KEY: u128 = u128::MAX << 64;

/// The factors of the lower and the upper half of a key in [`high_hash`].
pub(crate) const FACTORS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

/// A slot of a table by key. Two slots are a line of the processor's cache, and no slot spans two lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub(crate) struct Keyed<V> {
    /// 0 if the slot is free.
    pub(crate) key: u128,
    pub(crate) value: V,
}

/// The bits above those of a key, in which a table may store the kind of a value. No key of a piece has one of them
/// set.
pub(crate) const KIND_SHIFT: u32 = 125;

/// By length: a mask of the bytes of a key that are the piece.
const PIECE_BYTES: [u128; 16] = {
    let mut masks = [0; 16];
    let mut len = 0;
    while len < masks.len() {
        masks[len] = (1 << (8 * len)) - 1;
        len += 1;
    }
    masks
};

/// The key of the piece `text[start..end]`, unless the piece is empty or too long.
#[inline]
pub(crate) fn piece_key(text: &[u8], start: usize, end: usize) -> Option<u128> {
    if start >= end {
        return None;
    }
    Some(key_or_none(text, start, end)).filter(|&key| key != NO_KEY)
}

/// The key of the piece `text[start..end]`, which must not be empty; [`NO_KEY`] if it is too long.
///
/// Takes constant time: reads 16 bytes at once if the text has them.
#[inline]
pub(crate) fn key_or_none(text: &[u8], start: usize, end: usize) -> u128 {
    let len = end - start;
    let window = match text.get(start..).and_then(<[_]>::first_chunk) {
        Some(window) => u128::from_le_bytes(*window),
        None => last_bytes(text, start),
    };
    let piece = window & PIECE_BYTES[len % 16];
    if len > MAX_KEY_LEN { NO_KEY } else { piece | (len as u128) << 120 }
}

/// The bytes from `start` on, fewer than 16, padded with zeros.
#[cold]
fn last_bytes(text: &[u8], start: usize) -> u128 {
    let mut window = [0; 16];
    window[..text.len() - start].copy_from_slice(&text[start..]);
    u128::from_le_bytes(window)
}

/// The piece of a key: the first `len` of 16 bytes.
#[inline]
pub(crate) fn piece_of_key(key: u128) -> ([u8; 16], usize) {
    let bytes = key.to_le_bytes();
    (bytes, bytes[MAX_KEY_LEN].into())
}

/// A hash of a key. All its bits are good.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "both halves of the key are used; a hash is masked"
)]
pub(crate) fn key_hash(key: u128) -> usize {
    fold(key as u64, (key >> 64) as u64) as usize
}

/// A hash of a key. Only its high bits are good.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves of the key are used")]
pub(crate) fn high_hash(key: u128) -> u64 {
    let [low, high] = [key as u64, (key >> 64) as u64];
    low.wrapping_mul(FACTORS[0]) ^ high.wrapping_mul(FACTORS[1])
}

/// Positions in a word of bits.
pub(crate) const WORD_LEN: usize = 64;

/// Where the pieces of a block start.
#[derive(Clone, Debug)]
pub(crate) struct Starts<'b> {
    /// A bit for each position of the block. None is set after its end.
    words: &'b [u64],
    /// The range of the block in the text.
    block: Range<usize>,
}

/// Pieces that start at 64 positions, and where they are in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word {
    /// Not zero.
    pub(crate) bits: u64,
    /// The position of the lowest bit.
    pub(crate) start: usize,
    /// Where the last of these pieces ends.
    pub(crate) end: usize,
}

impl<'b> Starts<'b> {
    /// The first bit is the start of the block.
    pub(crate) fn new(words: &'b [u64], block: Range<usize>) -> Self {
        Self { words: &words[..words.len().min(block.len().div_ceil(WORD_LEN))], block }
    }

    /// The words in which pieces start, in order.
    #[inline]
    pub(crate) fn words(&self) -> impl Iterator<Item = Word> + '_ {
        let places = (self.block.start..).step_by(WORD_LEN);
        let words = self.words.iter().zip(places).enumerate().filter(|(_, (bits, _))| **bits != 0);
        words.map(|(index, (&bits, start))| Word { bits, start, end: self.end(index) })
    }

    /// Where the last piece that starts in a word ends: at the next start after the word, or at the end of the block.
    #[inline]
    fn end(&self, index: usize) -> usize {
        let mut next = index + 1;
        while let Some(&word) = self.words.get(next) {
            if word != 0 {
                return self.block.start + next * WORD_LEN + word.trailing_zeros() as usize;
            }
            next += 1;
        }
        self.block.end
    }
}

/// Pieces of a full row. Those of one more word fit after them.
const ROW_LEN: usize = 128;

/// More pieces than a row can hold. A power of two, so that a masked index is always within it.
pub(crate) const MAX_PIECES: usize = 256;

/// The bytes of the pieces that start in a word, as far as keys need them.
const WINDOW_LEN: usize = WORD_LEN + 16;

/// A piece that is prepared for look-up.
#[derive(Clone, Copy, Default)]
pub(crate) struct Entry {
    /// [`NO_KEY`] if it is too long for one.
    pub(crate) key: u128,
    /// Where its search in the table begins.
    pub(crate) home: usize,
    /// Where it starts in the text.
    pub(crate) start: usize,
}

/// Pieces in the order of the text.
pub(crate) struct PieceRow {
    len: usize,
    /// After the last piece there is an entry that starts where that piece ends.
    entries: [Entry; MAX_PIECES],
}

impl Default for PieceRow {
    fn default() -> Self {
        Self { len: 0, entries: [Entry::default(); _] }
    }
}

/// By length: the masks of the bytes of a window that are the piece, by halves, and the length above them. The last row
/// is for longer pieces, which have no key.
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
    /// Takes the pieces of the next words until the row is full. `home` returns the home of a key, and prefetches it.
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

    /// Takes the pieces of a word near the end of the text.
    #[cold]
    fn push_last(&mut self, rest: &[u8], word: Word, home: &impl Fn(u128) -> usize) {
        let mut window = [0; WINDOW_LEN];
        window[..rest.len()].copy_from_slice(rest);
        self.push(&window, word, home);
    }

    /// Takes the pieces of a word. The window begins at the word.
    ///
    /// The last piece is treated separately: it alone may continue after the word.
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

    /// Takes a piece of a window that starts at `window_start` in the text.
    ///
    /// Bit numbers and entry numbers are taken modulo their bounds. This changes none of them and avoids all bounds
    /// checks.
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

    /// The range of a piece in the text.
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
    use proptest::prelude::*;

    impl Word {
        /// The pieces one by one: the definition of [`PieceRow`].
        pub(crate) fn pieces(self) -> impl Iterator<Item = Range<usize>> {
            let bits = (0..u64::BITS as usize).filter(move |bit| self.bits >> bit & 1 == 1);
            let starts = bits.map(move |bit| self.start + bit);
            starts.clone().zip(starts.skip(1).chain([self.end])).map(|(start, end)| start..end)
        }
    }

    proptest! {
        #[test]
        fn a_key_gives_its_piece_back(text: Vec<u8>, start: usize, len: usize) {
            let start = start % (text.len() + 1);
            let end = start + len % (text.len() - start + 1);
            match piece_key(&text, start, end) {
                Some(key) => {
                    let (bytes, len) = piece_of_key(key);
                    prop_assert_eq!(&bytes[..len], &text[start..end]);
                }
                None => prop_assert!(start == end || end - start > MAX_KEY_LEN),
            }
        }

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
