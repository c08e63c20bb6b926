//! A block of text to ids: the pieces that the cache knows in runs, those between them one by one.
//!
//! Nearly all pieces of all texts go through here. It does what `append_ids` does for each piece in turn, but without
//! a call, a closure and a result for each: the cache takes the pieces that it knows, and the others are put in between
//! after a row of some hundred, or when the block is done.

use std::ops::Range;

use super::worker::{Worker, append_by_parts, append_ids, append_new, is_wide};
use crate::encode::{Encoder, Hole, N_PREFETCHED, Name, put_in};
use crate::error::Result;
use crate::memory::{ask, ask_to_grow};
use crate::piece_starts::Starts;
use crate::vocabulary::TokenId;
use bytepair_split::{Boundaries, Splitter};

/// For how much text there is room for an id each four bytes, so that short texts do not grow their row of ids step
/// by step.
const RESERVED_LEN: usize = 64 << 10;

/// Long pieces that the cache is asked for before the first is waited for.
const N_SIDE_BY_SIDE: usize = 32;

/// Longer pieces, in bytes, are hardly ever tokens.
const MAX_ASKED_LEN: usize = 32;

/// Memory for the pieces of a block that the cache did not give at once.
#[derive(Default)]
pub(super) struct Filling {
    holes: Vec<Hole>,
    /// Their ids, and where those of each are.
    found: Vec<TokenId>,
    places: Vec<Range<usize>>,
    /// The ids of other pieces, while those of the holes are put in between.
    behind: Vec<TokenId>,
    /// The holes that are wide, and of those that the cache does not know what they are found by.
    wide: Vec<usize>,
    missed: Vec<(usize, Option<u128>)>,
    /// Where the latter are, and where their ids begin.
    pieces: Vec<Range<usize>>,
    begins: Vec<usize>,
}

/// How many pieces texts have and, where a place is given, where they start: for those who want to know.
#[derive(Debug, Default)]
pub(super) struct PieceMarks {
    pub(super) is_wanted: bool,
    pub(super) n_pieces: u64,
    /// Bit `i % 64` of word `i / 64` tells whether a piece starts at `i`; long enough for all texts.
    pub(super) starts: Vec<u64>,
    /// Where the text lies in them, if it does.
    pub(super) place: Option<usize>,
}

impl PieceMarks {
    fn note(&mut self, boundaries: &Boundaries) {
        self.n_pieces += n_pieces_of(boundaries);
        let Some(place) = self.place else { return };
        let first = place + boundaries.block_start();
        let (index, shift) = (first / 64, first % 64);
        for (word, starts) in boundaries.starts().iter().zip(index..) {
            or(&mut self.starts, starts, word << shift);
            or(&mut self.starts, starts + 1, (word >> 1) >> (63 - shift));
        }
    }
}

/// The number of pieces of a block.
pub(super) fn n_pieces_of(boundaries: &Boundaries) -> u64 {
    let n_set = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum::<u64>();
    n_set(boundaries.starts()) - boundaries.dropped().map_or(0, n_set)
}

/// Sets the bit of a place, if there is one.
#[inline]
pub(super) fn set(words: &mut [u64], place: usize) {
    or(words, place / 64, 1 << (place % 64));
}

/// Sets bits of a word, if there is such a word.
#[inline]
fn or(words: &mut [u64], index: usize, bits: u64) {
    if let Some(word) = words.get_mut(index) {
        *word |= bits;
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
    // Boundaries of a block, which may be all of it, take as much.
    ask(text.len())?;
    ids.reserve(text.len().min(RESERVED_LEN) / 4);
    let mut boundaries = worker.boundaries.take().unwrap_or_default();
    let mut from = 0;
    while from < text.len() {
        from = splitter.split_block(text, from, &mut boundaries)?;
        worker.ahead.of(ids);
        // There are hardly ever more ids than bytes, and seldom so many.
        ask_to_grow(ids, boundaries.block_end() - boundaries.block_start())?;
        append_block(encoder, text, &boundaries, ids, worker)?;
    }
    worker.boundaries = Some(boundaries);
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
    if worker.marks.is_wanted {
        worker.marks.note(boundaries);
    }
    let is_dropped = |words: &[u64]| words.iter().any(|&word| word != 0);
    if boundaries.dropped().is_some_and(is_dropped) {
        let mut pieces = boundaries.pieces();
        return pieces.try_for_each(|piece| append_ids(encoder, text, piece, ids, worker));
    }
    let block = boundaries.block_start()..boundaries.block_end();
    let starts = Starts::new(boundaries.starts(), block);
    let mut filling = worker.filling.take().unwrap_or_default();
    let filled = filling.append(encoder, (text, &starts), ids, worker);
    worker.filling = Some(filling);
    filled
}

impl Filling {
    /// Appends the ids of the pieces of a block: of those that the cache knows, as far as it goes at once, and of the
    /// others between them, and so on.
    fn append(
        &mut self,
        encoder: &Encoder,
        (text, starts): (&[u8], &Starts<'_>),
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let (block, mut words) = ((text, starts.block_len()), starts.words());
        loop {
            self.holes.clear();
            let has_stopped = worker.cache.append_known(block, &mut words, ids, &mut self.holes);
            if !self.holes.is_empty() {
                self.fill(encoder, text, ids, worker)?;
            }
            if !has_stopped {
                return Ok(());
            }
        }
    }

    /// Finds the ids of the pieces that the cache left out, and puts them between the others.
    fn fill(
        &mut self,
        encoder: &Encoder,
        text: &[u8],
        ids: &mut Vec<TokenId>,
        worker: &mut Worker,
    ) -> Result<()> {
        let found = self.find(encoder, text, worker);
        if found.is_ok() {
            put_in(ids, &self.holes, (&mut self.found, &self.places), &mut self.behind);
            return Ok(());
        }
        // Which of several errors is told is that of the piece that comes first.
        let mut pieces = self.holes.iter().map(|hole| hole.piece.clone());
        let first = pieces.try_for_each(|piece| append_ids(encoder, text, piece, ids, worker));
        first.and(found)
    }

    /// Finds the ids of all holes: of wide ones those that the cache knows, and then the others together.
    fn find(&mut self, encoder: &Encoder, text: &[u8], worker: &mut Worker) -> Result<()> {
        self.found.clear();
        self.places.clear();
        self.wide.clear();
        for (number, Hole { piece, .. }) in self.holes.iter().enumerate() {
            if number % N_PREFETCHED == 0 {
                let next = self.holes[number..].iter().take(N_PREFETCHED).map(|hole| &hole.piece);
                let pieces = next.filter(|piece| piece.len() <= MAX_ASKED_LEN);
                encoder.prefetch_whole_tokens(pieces.map(|piece| &text[piece.clone()]));
            }
            let n_before = self.found.len();
            match is_wide(text, piece) {
                true => self.wide.push(number),
                false => append_ids(encoder, text, piece.clone(), &mut self.found, worker)?,
            }
            self.places.push(n_before..self.found.len());
        }
        if self.wide.is_empty() { Ok(()) } else { self.find_wide(encoder, text, worker) }
    }

    fn find_wide(&mut self, encoder: &Encoder, text: &[u8], worker: &mut Worker) -> Result<()> {
        self.missed.clear();
        self.pieces.clear();
        self.begins.clear();
        let wide = std::mem::take(&mut self.wide);
        for group in wide.chunks(N_SIDE_BY_SIDE) {
            let mut names = [None; N_SIDE_BY_SIDE];
            for (name, &number) in names.iter_mut().zip(group) {
                *name = Name::new(text, self.holes[number].piece.clone());
                name.iter().for_each(|name| worker.cache.ask_for(*name));
            }
            for (&name, &number) in names.iter().zip(group) {
                self.look_for((encoder, text), (number, name), worker)?;
            }
        }
        self.wide = wide;
        if self.missed.is_empty() { Ok(()) } else { self.find_missed(encoder, text, worker) }
    }

    /// Finds the ids of a wide hole, or notes it as missed.
    fn look_for(
        &mut self,
        (encoder, text): (&Encoder, &[u8]),
        (number, name): (usize, Option<Name<'_>>),
        worker: &mut Worker,
    ) -> Result<()> {
        let (place, n_before) = (self.holes[number].piece.clone(), self.found.len());
        let piece = &text[place.clone()];
        if name.is_some_and(|name| worker.cache.append(name, &mut self.found)) {
        } else if !encoder.is_spelled(piece) || !encoder.has_parts_for(piece, &worker.scratch) {
            append_new(encoder, text, place, &mut self.found, worker)?;
            if let Some(name) = name {
                worker.cache.insert(name, &self.found[n_before..]);
            }
        } else if let Some(id) = encoder.whole_token(piece) {
            self.found.push(id);
        } else {
            self.missed.push((number, name.map(|name| name.key())));
            self.pieces.push(place);
        }
        self.places[number] = n_before..self.found.len();
        Ok(())
    }

    /// Finds the ids of the holes that were missed, and remembers them.
    fn find_missed(&mut self, encoder: &Encoder, text: &[u8], worker: &mut Worker) -> Result<()> {
        let Self { pieces, begins, found, .. } = self;
        append_by_parts(encoder, text, pieces, (begins, found), worker)?;
        begins.push(found.len());
        let places = begins.windows(2).map(|pair| pair[0]..pair[1]);
        for ((place, piece), &(number, key)) in places.zip(pieces).zip(&self.missed) {
            if let Some(key) = key {
                let name = Name::of_key(&text[piece.clone()], key);
                worker.cache.insert(name, &found[place.clone()]);
            }
            self.places[number] = place;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::{Name, PieceCache, Scratch};
    use crate::units::{ByteIds, Units};
    use crate::vocabulary::{Token, Vocabulary};
    use bytepair_split::unicode::UnicodeTables;
    use bytepair_split::{Flavour, Pattern, Stage, Unmatched};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn splitter(source: &str, unmatched: Unmatched) -> Splitter {
        let pattern = Pattern { source: source.to_owned(), flavour: Flavour::Rust };
        Splitter::new(vec![Stage::matches(pattern, unmatched)], &UnicodeTables::latest()).unwrap()
    }

    /// All bytes, and tokens made of the first letters and of one another.
    fn encoder(picks: &[(u8, u8)], ignore_merges: bool) -> Encoder {
        encoder_without(None, picks, ignore_merges)
    }

    /// The same, perhaps without a byte: there is the token of two of it instead.
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
        fn a_text_is_its_pieces_one_by_one_whatever_the_cache_remembers(
            picks: Vec<(u8, u8)>,
            ignore_merges: bool,
            text in "([abc]{1,5}|[ab]{10,90}|[ .é]|[a-z]{3,17}|-{1,300}|\n{0,4} {10,80}){0,700}",
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

    proptest! {
        #[test]
        fn a_worker_goes_on_after_other_texts_and_after_errors(
            picks: Vec<(u8, u8)>,
            texts in prop::collection::vec(
                "([abc]{1,5}|[ab]{10,90}|[ .é中]{1,30}|[a-y]{3,17}|\n{0,4} {10,80}){0,60}z?[ab]{0,20}",
                1..6,
            ),
        ) {
            let encoder = encoder_without(Some(b'z'), &picks, false);
            let splitter = splitter(r" ?\p{L}+|\s+", Unmatched::Keep);
            let mut workers = [PieceCache::tiny(), PieceCache::default(), PieceCache::default().plain()]
                .map(|cache| Worker { cache, ..Worker::default() });
            for text in texts {
                let (mut ids, mut scratch) = (Vec::new(), Scratch::default());
                let pieces = splitter.pieces(text.as_bytes()).unwrap();
                let all = pieces
                    .into_iter()
                    .try_for_each(|piece| encoder.encode(piece, &mut scratch, &mut ids));
                let expected = all.map(|()| ids).map_err(|error| error.to_string());
                for worker in &mut workers {
                    let mut ids = Vec::new();
                    let all = append_text(&encoder, &splitter, text.as_bytes(), &mut ids, worker);
                    let found = all.map(|()| ids).map_err(|error| error.to_string());
                    prop_assert_eq!(&found, &expected);
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
        let name = Name::new(word, 0..word.len()).unwrap();
        assert!(worker.cache.append(name, &mut Vec::new()));
    }

    #[test]
    fn a_long_piece_is_remembered_and_its_parts_are_not() {
        // No merge joins a dash to anything.
        let encoder = encoder(&[(0, 1), (1, 0)], false);
        let part = "ab".repeat(10);
        let text = format!("{part}-{part}-{part}é");
        let mut worker = Worker::default();
        let is_known = |worker: &Worker, place: std::ops::Range<usize>| {
            let name = Name::new(text.as_bytes(), place).unwrap();
            worker.cache.append(name, &mut Vec::new())
        };
        let splitter = Splitter::whole();
        // What parts there are is found out when text comes that is not ASCII.
        assert!(encoder.has_parts_for("éé".as_bytes(), &worker.scratch));
        append_text(&encoder, &splitter, text.as_bytes(), &mut Vec::new(), &mut worker).unwrap();
        assert!(is_known(&worker, 0..text.len()) && !is_known(&worker, 0..part.len()));
    }
}
