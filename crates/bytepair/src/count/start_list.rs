//! The starts of the pieces of a block as a list, made of the bits that the splitter writes.
//!
//! Whether one more bit is set in a word can not be guessed. So of each word eight starts are written at once,
//! whether it has as many or not, and what is too much is written over by the next word. Takes O(1) for each word
//! of 64 bytes and each start.

use std::ops::Range;

use bytepair_split::Boundaries;

/// Starts that are written at once.
const N_AT_ONCE: usize = 8;

/// Pieces that follow each other without a gap.
#[derive(Default)]
pub(super) struct StartList {
    /// Where each piece starts in the block, then where the last one ends, then what was written too much.
    places: Vec<u32>,
    n_pieces: usize,
    block_start: usize,
}

impl StartList {
    /// Takes the pieces of a block; `false` where that cannot be, because some are left out or the block is longer
    /// than 32 bits can say.
    pub(super) fn take(&mut self, block: &Boundaries) -> bool {
        self.n_pieces = 0;
        self.block_start = block.block_start();
        let block_len = u32::try_from(block.block_end() - block.block_start());
        let (None, Ok(block_len)) = (block.dropped(), block_len) else { return false };
        let n_starts: usize = block.starts().iter().map(|word| word.count_ones() as usize).sum();
        let n_places = n_starts + u64::BITS as usize;
        if self.places.len() < n_places {
            self.places.resize(n_places, 0);
        }
        for (&word, first) in block.starts().iter().zip((0..).step_by(u64::BITS as usize)) {
            self.write(word, first);
        }
        self.places[self.n_pieces] = block_len;
        true
    }

    /// Writes the starts of one word, whose first bit stands for the place `first`.
    #[inline]
    fn write(&mut self, mut word: u64, first: u32) {
        let n_starts = word.count_ones() as usize;
        let mut n_written = 0;
        while n_written < n_starts || n_written == 0 {
            let from = self.n_pieces + n_written;
            for place in &mut self.places[from..from + N_AT_ONCE] {
                *place = first.wrapping_add(word.trailing_zeros());
                word &= word.wrapping_sub(1);
            }
            n_written += N_AT_ONCE;
        }
        self.n_pieces += n_starts;
    }

    /// The number of pieces.
    pub(super) fn len(&self) -> usize {
        self.n_pieces
    }

    /// The pieces in order, as byte ranges of the text.
    pub(super) fn pieces(&self) -> impl Iterator<Item = Range<usize>> {
        let place = |place: u32| self.block_start + place as usize;
        let starts = self.places.get(..=self.n_pieces).unwrap_or_default();
        starts.windows(2).map(move |pair| place(pair[0])..place(pair[1]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Flavour, Pattern, Splitter, Stage, Unmatched, named};

    proptest::proptest! {
        #[test]
        fn starts_are_those_of_the_pieces(text in "[a ]{0,300}|[a. ]{0,300}|.{0,99}", block_len in 1..200_usize) {
            for name in ["gpt2", "space"] {
                let splitter = Splitter::new(named(name).unwrap(), &UnicodeTables::latest()).unwrap();
                let (mut block, mut starts) = (Boundaries::new(block_len), StartList::default());
                let mut from = 0;
                while from < text.len() {
                    from = splitter.split_block(text.as_bytes(), from, &mut block).unwrap();
                    if starts.take(&block) {
                        proptest::prop_assert!(starts.pieces().eq(block.pieces()));
                        proptest::prop_assert_eq!(starts.len(), block.pieces().count());
                    }
                }
            }
        }
    }

    #[test]
    fn pieces_that_are_left_out_are_not_taken() {
        let pattern = Pattern { source: "a+".to_owned(), flavour: Flavour::Rust };
        let dropping = Stage::matches(pattern, Unmatched::Drop);
        let splitter = Splitter::new(vec![dropping], &UnicodeTables::latest()).unwrap();
        let mut block = Boundaries::default();
        splitter.split_block(b"a b a", 0, &mut block).unwrap();
        assert!(!StartList::default().take(&block));
    }
}
