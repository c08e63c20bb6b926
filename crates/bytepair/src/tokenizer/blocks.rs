//! A block of text to ids: the pieces that the cache knows in runs, those between them one by one.
//!
//! Nearly all pieces of all texts go through here. It does what `append_ids` does for each piece in turn, but without
//! a call, a closure and a result for each: the starts of pieces become places in a row, 64 bytes of text at a
//! time, and the cache takes all of them up to one that it does not know.

use super::worker::{Worker, append_ids};
use crate::encode::{Encoder, MAX_RUN, Row};
use crate::error::Result;
use crate::split::{Boundaries, Splitter};
use crate::vocabulary::TokenId;

/// Starts in a word of [`Boundaries::starts`], at most.
const WORD_LEN: usize = 64;

/// Memory for a run of pieces.
pub(super) struct Run {
    /// Where each piece starts, and where the last one ends.
    places: [usize; MAX_RUN],
    row: Row,
}

impl Default for Run {
    fn default() -> Self {
        Self { places: [0; _], row: [0; _] }
    }
}

/// Appends the ids of all pieces of a text.
pub(super) fn append_text(
    encoder: &Encoder,
    splitter: &Splitter,
    text: &[u8],
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let mut boundaries = std::mem::take(&mut worker.boundaries);
    let mut from = 0;
    while from < text.len() {
        from = splitter.split_block(text, from, &mut boundaries)?;
        append_block(encoder, text, &boundaries, ids, worker)?;
    }
    worker.boundaries = boundaries;
    Ok(())
}

/// Appends the ids of the pieces of a block.
fn append_block(
    encoder: &Encoder,
    text: &[u8],
    boundaries: &Boundaries,
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let is_dropped = |words: &[u64]| words.iter().any(|&word| word != 0);
    if boundaries.dropped().is_some_and(is_dropped) {
        let mut pieces = boundaries.pieces();
        return pieces.try_for_each(|piece| append_ids(encoder, text, piece, ids, worker));
    }
    let (start, end) = (boundaries.block_start(), boundaries.block_end());
    let n_words = (end - start).div_ceil(WORD_LEN);
    let mut n_places = 0;
    for (index, &word) in boundaries.starts().iter().take(n_words).enumerate() {
        let places = &mut worker.run.places[n_places..];
        n_places += write_places(word, start + index * WORD_LEN, places);
        if n_places + WORD_LEN > MAX_RUN {
            append_run(encoder, text, n_places, ids, worker)?;
            worker.run.places[0] = worker.run.places[n_places - 1];
            n_places = 1;
        }
    }
    worker.run.places[n_places] = end;
    append_run(encoder, text, n_places + 1, ids, worker)
}

/// Writes where the pieces of a word of starts begin; returns how many there are.
///
/// Up to seven more places are written: that is quicker than to stop at the right one.
#[inline]
fn write_places(word: u64, word_start: usize, places: &mut [usize]) -> usize {
    let n_starts = word.count_ones() as usize;
    let mut left = word;
    for eight in places.as_chunks_mut::<8>().0.iter_mut().take(n_starts.div_ceil(8)) {
        for place in eight {
            *place = word_start + left.trailing_zeros() as usize;
            left &= left.wrapping_sub(1);
        }
    }
    n_starts
}

/// Appends the ids of the pieces between the first `n_places` places.
fn append_run(
    encoder: &Encoder,
    text: &[u8],
    n_places: usize,
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    let mut from = 0;
    loop {
        let Run { places, row } = &mut worker.run;
        from += worker.cache.append_run(text, &places[from..n_places], row, ids);
        let &[start, end, ..] = &places[from..n_places] else { return Ok(()) };
        append_ids(encoder, text, start..end, ids, worker)?;
        from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{PieceCache, Scratch};
    use crate::split::{Flavour, Pattern, Stage, Unmatched};
    use crate::unicode::UnicodeTables;
    use crate::units::{ByteIds, Units};
    use crate::vocabulary::{Token, Vocabulary};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn splitter(source: &str, unmatched: Unmatched) -> Splitter {
        let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Rust };
        Splitter::new(vec![Stage::matches(pattern, unmatched)], &UnicodeTables::latest()).unwrap()
    }

    /// All bytes, and tokens made of the first letters and of one another.
    fn encoder(picks: &[(u8, u8)], ignore_merges: bool) -> Encoder {
        let mut vocabulary = Vocabulary::new();
        for byte in 0..=255 {
            vocabulary.push(Token::plain(&[byte])).unwrap();
        }
        for &(left, right) in picks {
            let made: Vec<_> = (256..vocabulary.len()).collect();
            let choice: Vec<_> = (97..100).chain(made).collect();
            let id =
                |pick: u8| TokenId::try_from(choice[usize::from(pick) % choice.len()]).unwrap();
            drop(vocabulary.push_merge(id(left), id(right)));
        }
        Encoder::new(Arc::new(vocabulary), &Units::bytes(ByteIds::Value), ignore_merges)
    }

    proptest! {
        #[test]
        fn a_text_is_its_pieces_one_by_one_whatever_the_cache_remembers(
            picks: Vec<(u8, u8)>,
            ignore_merges: bool,
            text in "([abc]{1,5}|[ab]{10,90}|[ .é]|[a-z]{3,17}|-{1,300}){0,700}",
        ) {
            let encoder = encoder(&picks, ignore_merges);
            for splitter in [
                splitter(r" ?\p{L}+|-+|\s+", Unmatched::Keep),
                splitter(r"\p{L}+|-+", Unmatched::Drop),
                splitter(".", Unmatched::Keep),
                Splitter::whole(),
            ] {
                let mut expected = Vec::new();
                for piece in splitter.pieces(text.as_bytes()).unwrap() {
                    encoder.encode(piece, &mut Scratch::default(), &mut expected).unwrap();
                }
                for cache in [PieceCache::tiny(), PieceCache::default()] {
                    let mut worker = Worker { cache, ..Worker::default() };
                    for _ in 0..3 {
                        let mut ids = Vec::new();
                        append_text(&encoder, &splitter, text.as_bytes(), &mut ids, &mut worker).unwrap();
                        prop_assert_eq!(&ids, &expected);
                    }
                }
            }
        }
    }
}
