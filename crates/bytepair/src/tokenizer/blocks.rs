//! A block of text to ids: the pieces that the cache knows in runs, those between them one by one.
//!
//! Nearly all pieces of all texts go through here. It does what `append_ids` does for each piece in turn, but without
//! a call, a closure and a result for each: the cache takes all pieces that it knows, and the others are put in
//! between when the block is done.

use super::worker::{Worker, append_ids};
use crate::encode::{Encoder, Hole, put_in};
use crate::error::Result;
use crate::piece_starts::Starts;
use crate::split::{Boundaries, Splitter};
use crate::vocabulary::TokenId;

/// For how much text there is room for an id each four bytes, so that short texts do not grow their row of ids step
/// by step.
const RESERVED_LEN: usize = 64 << 10;

/// Memory for the pieces of one block that the cache did not give at once.
#[derive(Default)]
pub(super) struct Filling {
    holes: Vec<Hole>,
    /// Their ids, and where those of each begin.
    found: Vec<TokenId>,
    begins: Vec<usize>,
}

/// Appends the ids of all pieces of a text.
pub(super) fn append_text(
    encoder: &Encoder,
    splitter: &Splitter,
    text: &[u8],
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    ids.reserve(text.len().min(RESERVED_LEN) / 4);
    let mut boundaries = std::mem::take(&mut worker.boundaries);
    let mut from = 0;
    while from < text.len() {
        from = splitter.split_block(text, from, &mut boundaries)?;
        worker.ahead.of(ids);
        append_block(encoder, text, &boundaries, ids, worker)?;
        worker.exchange_after(boundaries.block_end() - boundaries.block_start());
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
    let block = boundaries.block_start()..boundaries.block_end();
    let starts = Starts::new(boundaries.starts(), block);
    worker.filling.holes.clear();
    worker.cache.append_known(text, &starts, ids, &mut worker.filling.holes);
    if worker.filling.holes.is_empty() { Ok(()) } else { fill(encoder, text, ids, worker) }
}

/// Finds the ids of the pieces that the cache left out, and puts them between the others.
fn fill(encoder: &Encoder, text: &[u8], ids: &mut Vec<TokenId>, worker: &mut Worker) -> Result<()> {
    let Filling { holes, mut found, mut begins } = std::mem::take(&mut worker.filling);
    found.clear();
    begins.clear();
    let result = holes.iter().try_for_each(|hole| {
        begins.push(found.len());
        append_ids(encoder, text, hole.piece.clone(), &mut found, worker)
    });
    if result.is_ok() {
        put_in(ids, &holes, &found, &begins);
    }
    worker.filling = Filling { holes, found, begins };
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Name, PieceCache, Scratch, Whole};
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
                for cache in [PieceCache::tiny(), PieceCache::default(), PieceCache::default().plain()] {
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

    #[test]
    fn a_long_piece_is_remembered_when_it_comes_the_second_time() {
        // No merge lets it be cut, so it is its only part.
        let encoder = encoder(&[(0, 1), (1, 0)], false);
        let text = "ab".repeat(20);
        let mut worker = Worker::default();
        let is_known = |worker: &Worker| {
            let name = Name::new(text.as_bytes(), 0..text.len(), Whole::Piece).unwrap();
            worker.cache.append(name, &mut Vec::new())
        };
        for is_known_then in [false, true] {
            let splitter = Splitter::whole();
            append_text(&encoder, &splitter, text.as_bytes(), &mut Vec::new(), &mut worker)
                .unwrap();
            assert_eq!(is_known(&worker), is_known_then);
        }
    }
}
