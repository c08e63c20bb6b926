//! Encodes a block of text: looks its pieces up in the cache and encodes those that are missing.
//!
//! ```text
//! for each block of the text:
//!     split it
//!     until its pieces are done:
//!         look the next pieces up: some hundred, or all         (`PieceCache::append_known`)
//!         for each miss:
//!             long and not ASCII: later, with the others of its kind
//!             else: encode it, insert it into the cache
//!         prefetch and look up the long ones, thirty-two together
//!         encode those that are not known by their parts, all together; insert them
//!         splice the ids of the misses between the others
//! ```
//!
//! Nearly all pieces of all texts go through here. The result is defined by [`append_ids`] for each piece in turn;
//! this module saves a call, a closure and a result for each known piece.

use std::ops::Range;

use super::worker::{Worker, append_by_parts, append_ids, append_new, is_by_parts};
use crate::encode::{CacheKey, Encoder, Filled, Known, Miss, N_PREFETCHED, Pending, Query, splice};
use crate::error::{Error, Result};
use crate::memory::{ask, ask_to_grow};
use crate::piece::Starts;
use crate::vocabulary::TokenId;
use bytepair_split::{Boundaries, Splitter};

/// Up to this much text, in bytes, room for one id per four bytes is reserved, so that the row of ids of a short text
/// does not grow step by step.
const RESERVED_LEN: usize = 64 << 10;

/// How many long pieces are prefetched before the first is looked up.
const N_LONG_PREFETCHED: usize = 32;

/// Pieces with more bytes are hardly ever tokens.
const MAX_TOKEN_LEN: usize = 32;

/// The misses of a block, and memory for their ids.
#[derive(Default)]
pub(super) struct Misses {
    all: Vec<Miss>,
    filled: Filled,
    /// Holds the ids of known pieces while the ids of the misses are spliced in.
    behind: Vec<TokenId>,
    /// The indices of the misses that are encoded by their parts.
    by_parts: Vec<usize>,
    unknown: Unknown,
}

/// The misses to encode by their parts that the cache does not hold.
#[derive(Default)]
struct Unknown {
    /// The index of each among the misses, and its key.
    keys: Vec<(usize, Option<CacheKey>)>,
    pieces: Vec<Range<usize>>,
    /// Where the ids of each piece begin.
    begins: Vec<usize>,
}

/// The context in which the pieces of a text are encoded.
struct Context<'m> {
    encoder: &'m Encoder,
    text: &'m [u8],
    worker: &'m mut Worker,
}

/// Appends the ids of all pieces of a text.
pub(super) fn append_text(
    encoder: &Encoder,
    splitter: &Splitter,
    text: &[u8],
    ids: &mut Vec<TokenId>,
    worker: &mut Worker,
) -> Result<()> {
    // The boundaries of a block, which may be the whole text, take this much memory.
    ask(text.len())?;
    ids.reserve(text.len().min(RESERVED_LEN) / 4);
    let mut boundaries = worker.boundaries.take().unwrap_or_default();
    let mut from = 0;
    while from < text.len() {
        from = splitter.split_block(text, from, &mut boundaries)?;
        // There are hardly ever more ids than bytes, and usually far fewer.
        ask_to_grow(ids, boundaries.block_end() - boundaries.block_start())?;
        append_block(&mut Context { encoder, text, worker }, &boundaries, ids)?;
    }
    worker.boundaries = Some(boundaries);
    Ok(())
}

/// Appends the ids of the pieces of a block.
fn append_block(
    context: &mut Context<'_>,
    boundaries: &Boundaries,
    ids: &mut Vec<TokenId>,
) -> Result<()> {
    let &mut Context { encoder, text, ref mut worker } = context;
    let is_dropped = |words: &[u64]| words.iter().any(|&word| word != 0);
    if boundaries.dropped().is_some_and(is_dropped) {
        let mut pieces = boundaries.pieces();
        return pieces.try_for_each(|piece| append_ids(encoder, text, piece, ids, worker));
    }
    let block = boundaries.block_start()..boundaries.block_end();
    let starts = Starts::new(boundaries.starts(), block);
    let mut pending = Pending { text, words: starts.words() };
    let mut misses = worker.misses.take().unwrap_or_default();
    let mut has_stopped = true;
    while has_stopped {
        misses.all.clear();
        let mut known = Known { ids, misses: &mut misses.all };
        has_stopped = context.worker.cache.append_known(&mut pending, &mut known);
        if !misses.all.is_empty() {
            let encoded = misses.encode(context);
            encoded.map_err(|error| misses.first_error(context, error))?;
            splice(ids, &misses.all, &mut misses.filled, &mut misses.behind);
        }
    }
    context.worker.misses = Some(misses);
    Ok(())
}

impl Misses {
    /// The error of the first piece that has one, which need not be the first one met.
    fn first_error(&self, context: &mut Context<'_>, met: Error) -> Error {
        let mut ids = Vec::new();
        let mut pieces = self.all.iter().map(|miss| miss.piece.clone());
        let all = pieces.try_for_each(|piece| {
            append_ids(context.encoder, context.text, piece, &mut ids, context.worker)
        });
        all.err().unwrap_or(met)
    }

    /// Finds the ids of all misses; those that are encoded by their parts come last.
    fn encode(&mut self, context: &mut Context<'_>) -> Result<()> {
        let &mut Context { encoder, text, ref mut worker } = context;
        let Filled { ids, places } = &mut self.filled;
        ids.clear();
        places.clear();
        self.by_parts.clear();
        for (number, Miss { piece, .. }) in self.all.iter().enumerate() {
            if number % N_PREFETCHED == 0 {
                let next = self.all[number..].iter().take(N_PREFETCHED).map(|miss| &miss.piece);
                let pieces = next.filter(|piece| piece.len() <= MAX_TOKEN_LEN);
                encoder.prefetch_whole_tokens(pieces.map(|piece| &text[piece.clone()]));
            }
            let n_before = ids.len();
            match is_by_parts(text, piece) {
                true => self.by_parts.push(number),
                false => append_ids(encoder, text, piece.clone(), ids, worker)?,
            }
            places.push(n_before..ids.len());
        }
        if self.by_parts.is_empty() { Ok(()) } else { self.encode_by_parts(context) }
    }

    fn encode_by_parts(&mut self, context: &mut Context<'_>) -> Result<()> {
        self.unknown.clear();
        let numbers = std::mem::take(&mut self.by_parts);
        for group in numbers.chunks(N_LONG_PREFETCHED) {
            let mut queries = [None; N_LONG_PREFETCHED];
            for (query, &number) in queries.iter_mut().zip(group) {
                *query = Query::new(context.text, self.all[number].piece.clone());
                query.iter().for_each(|query| context.worker.cache.prefetch(query.key));
            }
            for (&query, &number) in queries.iter().zip(group) {
                self.look_up(context, number, query)?;
            }
        }
        self.by_parts = numbers;
        if self.unknown.pieces.is_empty() { Ok(()) } else { self.encode_unknown(context) }
    }

    /// Finds the ids of a long miss at once, or adds it to the unknown ones.
    fn look_up(
        &mut self,
        context: &mut Context<'_>,
        number: usize,
        query: Option<Query<'_>>,
    ) -> Result<()> {
        let &mut Context { encoder, text, ref mut worker } = context;
        let Filled { ids, places } = &mut self.filled;
        let (place, n_before) = (self.all[number].piece.clone(), ids.len());
        let piece = &text[place.clone()];
        let is_known = query.is_some_and(|query| worker.cache.append(query, ids));
        let has_parts =
            || encoder.is_spelled(piece) && encoder.has_parts_for(piece, &worker.scratch);
        if !is_known && !has_parts() {
            append_new(encoder, text, place, ids, worker)?;
            if let Some(query) = query {
                worker.cache.insert(query, &ids[n_before..]);
            }
        } else if !is_known {
            if let Some(id) = encoder.whole_token(piece) {
                ids.push(id);
            } else {
                self.unknown.keys.push((number, query.map(|query| query.key)));
                self.unknown.pieces.push(place);
            }
        }
        places[number] = n_before..ids.len();
        Ok(())
    }

    /// Finds the ids of the unknown ones, and adds them to the cache.
    fn encode_unknown(&mut self, context: &mut Context<'_>) -> Result<()> {
        let &mut Context { encoder, text, ref mut worker } = context;
        let Unknown { keys, pieces, begins } = &mut self.unknown;
        let Filled { ids, places } = &mut self.filled;
        append_by_parts(encoder, text, pieces, (begins, ids), worker)?;
        begins.push(ids.len());
        let found = begins.windows(2).map(|pair| pair[0]..pair[1]);
        for ((found, piece), &(number, key)) in found.zip(pieces).zip(&*keys) {
            if let Some(key) = key {
                let query = Query { piece: &text[piece.clone()], key };
                worker.cache.insert(query, &ids[found.clone()]);
            }
            places[number] = found;
        }
        Ok(())
    }
}

impl Unknown {
    fn clear(&mut self) {
        self.keys.clear();
        self.pieces.clear();
        self.begins.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{PieceCache, Query, Scratch};
    use crate::test_support::splitter;
    use crate::units::{ByteIds, Units};
    use crate::vocabulary::{Token, Vocabulary};
    use bytepair_split::Unmatched;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// All bytes, and tokens made of the first letters and of one another.
    fn encoder(picks: &[(u8, u8)], ignore_merges: bool) -> Encoder {
        encoder_without(None, picks, ignore_merges)
    }

    /// [`encoder`], perhaps without a byte: the token of this byte twice takes its place.
    fn encoder_without(missing: Option<u8>, picks: &[(u8, u8)], ignore_merges: bool) -> Encoder {
        let mut vocabulary = Vocabulary::new();
        for byte in 0..=255 {
            let bytes = [byte, byte];
            let len = if missing == Some(byte) { 2 } else { 1 };
            vocabulary.push(Token::plain(&bytes[..len])).unwrap();
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
        fn texts_are_their_pieces_one_by_one_whatever_a_worker_remembers_also_of_errors(
            picks: Vec<(u8, u8)>,
            ignore_merges: bool,
            missing in prop::option::of(Just(b'z')),
            texts in prop::collection::vec(
                "([abc]{1,5}|[ab]{10,90}|[ .é中]{1,30}|[a-y]{3,17}|-{1,300}|\n{0,4} {10,80}){0,200}z?[ab]{0,20}",
                1..6,
            ),
        ) {
            let encoder = encoder_without(missing, &picks, ignore_merges);
            for splitter in [
                splitter(r" ?\p{L}+|-+|\s+", Unmatched::Keep),
                splitter(r"\p{L}+|-+", Unmatched::Drop),
                splitter(".", Unmatched::Keep),
                Splitter::whole(),
            ] {
                let mut workers = [PieceCache::tiny(), PieceCache::default()]
                    .map(|cache| Worker { cache, ..Worker::default() });
                for text in texts.iter().flat_map(|text| [text.as_bytes(); 3]) {
                    let (mut ids, mut scratch) = (Vec::new(), Scratch::default());
                    let mut pieces = splitter.pieces(text).unwrap().into_iter();
                    let all = pieces.try_for_each(|piece| encoder.encode(piece, &mut scratch, &mut ids));
                    let expected = all.map(|()| ids).map_err(|error| error.to_string());
                    for worker in &mut workers {
                        let mut ids = Vec::new();
                        let all = append_text(&encoder, &splitter, text, &mut ids, worker);
                        let found = all.map(|()| ids).map_err(|error| error.to_string());
                        prop_assert_eq!(&found, &expected);
                    }
                }
            }
        }
    }

    #[test]
    fn parts_are_found_out_for_other_characters_and_for_very_long_pieces_with_some() {
        let has_parts = |piece: &str| {
            encoder(&[(0, 1)], false).has_parts_for(piece.as_bytes(), &Scratch::default())
        };
        assert!(has_parts("éé") && has_parts(&"word\u{2581}".repeat(60)));
        assert!(!has_parts("word") && !has_parts("corazón") && !has_parts(&"word".repeat(100)));
    }

    #[test]
    fn parts_are_found_out_when_what_they_matter_for_is_half_as_much_as_the_merges() {
        let encoder = encoder(&[(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (6, 0)], false);
        let (mut scratch, mut ids) = (Scratch::default(), Vec::new());
        for (piece, has_parts) in [("é", false), ("word", false), ("é", true)] {
            assert_eq!(encoder.has_parts_for(piece.as_bytes(), &scratch), has_parts, "{piece}");
            encoder.encode(piece.as_bytes(), &mut scratch, &mut ids).unwrap();
        }
    }

    #[test]
    fn a_long_word_with_an_accent_is_remembered_where_there_are_no_parts() {
        let (encoder, mut worker) = (encoder(&[(0, 1)], false), Worker::default());
        let word = "electrodoméstico".as_bytes();
        let splitter = Splitter::whole();
        append_text(&encoder, &splitter, word, &mut Vec::new(), &mut worker).unwrap();
        let query = Query::new(word, 0..word.len()).unwrap();
        assert!(worker.cache.append(query, &mut Vec::new()));
    }

    #[test]
    fn a_long_piece_is_remembered_and_its_parts_are_not() {
        // No merge joins a dash to anything.
        let encoder = encoder(&[(0, 1), (1, 0)], false);
        let part = "ab".repeat(10);
        let text = format!("{part}-{part}-{part}é");
        let mut worker = Worker::default();
        let is_known = |worker: &Worker, place: std::ops::Range<usize>| {
            let query = Query::new(text.as_bytes(), place).unwrap();
            worker.cache.append(query, &mut Vec::new())
        };
        let splitter = Splitter::whole();
        // The parts are determined when the first text comes that is not ASCII.
        assert!(encoder.has_parts_for("éé".as_bytes(), &worker.scratch));
        append_text(&encoder, &splitter, text.as_bytes(), &mut Vec::new(), &mut worker).unwrap();
        assert!(is_known(&worker, 0..text.len()) && !is_known(&worker, 0..part.len()));
    }
}
