//! The corpus, dealt to threads: each share holds pieces that follow each other.
//!
//! Shares are about equally large in symbols; a piece is never cut, so a corpus of one piece has one share. Pieces
//! stand in the order of their first occurrence where the tie rule asks for it. Linear in the corpus.

use std::ops::Range;
use std::sync::Arc;

use super::row::Row;
use super::share::Share;
use super::start::Segmenter;
use super::{Ties, TrainOptions};
use crate::count::PieceCounts;
use crate::encode::Encoder;
use crate::error::{CountProblem, Error, ErrorKind, Result};
use crate::parallel::in_parallel;
use crate::units::Units;
use crate::vocabulary::Vocabulary;

/// Smaller shares than this, in bytes, are not worth a thread. Tests share the smallest corpora.
const MIN_SHARE_LEN: usize = if cfg!(test) { 8 } else { 1 << 20 };
/// A row with more bytes of text than this might have more slots than 32 bits can count: each byte makes at most
/// one token, each piece two more slots.
const MAX_ROW_BYTES: usize = if cfg!(test) { 128 } else { 1 << 30 };

/// The shares, and the number of tokens in the corpus.
///
/// # Errors
/// Where a piece has more symbols than 32 bits can index, or the weighted number of symbols exceeds 63 bits: every
/// count of a pair is at most that number, so none can overflow later.
pub(super) fn of(
    counts: &PieceCounts,
    units: &Units,
    (vocabulary, earlier): (&Vocabulary, Option<&Arc<Encoder>>),
    options: &TrainOptions,
) -> Result<(Vec<Share>, i64)> {
    let pieces = Pieces::new(counts, options.ties);
    let lens = (0..counts.len()).map(|index| pieces.get(index).0.len());
    let ranges = deal(lens, options.n_threads);
    let results = in_parallel(options.n_threads, ranges.len(), |index| {
        let segmenter = Segmenter::new(units, vocabulary, earlier);
        row(&pieces, ranges[index].clone(), segmenter)
    });
    let (mut shares, mut n_tokens) = (Vec::new(), 0_i64);
    for result in results {
        let (row, n_row_tokens) = result?;
        let too_many = || Error::count(b"", CountProblem::AllSymbols);
        n_tokens = n_tokens.checked_add(n_row_tokens).ok_or_else(too_many)?;
        shares.push(Share::new(row));
    }
    Ok((shares, n_tokens))
}

/// The pieces, in the order of their first occurrence where ties are decided by it.
struct Pieces<'c> {
    counts: &'c PieceCounts,
    /// Their places in that order; `None` where they stand in it.
    order: Option<Vec<usize>>,
}

impl<'c> Pieces<'c> {
    fn new(counts: &'c PieceCounts, ties: Ties) -> Self {
        let order = if ties == Ties::FirstSeen { counts.order_of_firsts() } else { None };
        Self { counts, order }
    }

    fn get(&self, index: usize) -> (&'c [u8], i64) {
        self.counts.get(self.order.as_ref().map_or(index, |order| order[index]))
    }
}

/// Cuts pieces of these lengths into ranges of about the same size in bytes, one for each thread.
fn deal(lens: impl Iterator<Item = usize> + Clone, n_threads: usize) -> Vec<Range<usize>> {
    let n_bytes: usize = lens.clone().map(|len| len + 1).sum();
    let n_worth = n_threads.clamp(1, n_bytes / MIN_SHARE_LEN + 1);
    let n_shares = n_worth.max(n_bytes.div_ceil(MAX_ROW_BYTES));
    let share_len = n_bytes.div_ceil(n_shares).max(1);
    let (mut ranges, mut start, mut n_seen, mut n_before) = (Vec::new(), 0, 0, 0);
    let mut n_pieces = 0;
    for (index, len) in lens.enumerate() {
        // A long piece gets a row of its own rather than one that is full of others.
        if start < index && n_seen - n_before + len > MAX_ROW_BYTES {
            ranges.push(start..index);
            (start, n_before) = (index, n_seen);
        }
        n_seen += len + 1;
        n_pieces = index + 1;
        if n_seen >= share_len * (ranges.len() + 1) {
            ranges.push(start..n_pieces);
            (start, n_before) = (n_pieces, n_seen);
        }
    }
    if start < n_pieces {
        ranges.push(start..n_pieces);
    }
    ranges
}

/// A row of some pieces, and the number of their tokens, weighted.
fn row(
    pieces: &Pieces<'_>,
    range: Range<usize>,
    mut segmenter: Segmenter<'_>,
) -> Result<(Row, i64)> {
    let n_bytes: usize = range.clone().map(|index| pieces.get(index).0.len() + 2).sum();
    let mut row = Row::with_capacity(n_bytes);
    let (mut tokens, mut n_tokens) = (Vec::new(), 0_i64);
    for (piece, count) in range.map(|index| pieces.get(index)) {
        tokens.clear();
        segmenter.push_tokens(piece, &mut tokens)?;
        row.push_piece(&tokens, count);
        let n_symbols = row.n_slots();
        u32::try_from(n_symbols).map_err(|_| ErrorKind::CorpusTooLarge { n_symbols })?;
        n_tokens = i64::try_from(tokens.len())
            .ok()
            .and_then(|n| n_tokens.checked_add(n.checked_mul(count)?))
            .ok_or_else(|| {
                let n_symbols = tokens.len();
                Error::count(piece, CountProblem::Symbols { n_symbols, count })
            })?;
    }
    Ok((row, n_tokens))
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn every_piece_is_dealt_once_and_no_row_is_too_long(
            lens in proptest::collection::vec(1..300_usize, 1..40), n_threads in 0..5_usize,
        ) {
            let ranges = deal(lens.iter().copied(), n_threads);
            let dealt: Vec<_> = ranges.iter().cloned().flatten().collect();
            proptest::prop_assert_eq!(dealt, (0..lens.len()).collect::<Vec<_>>());
            for range in ranges {
                let n_bytes: usize = lens[range.clone()].iter().sum();
                proptest::prop_assert!(range.len() == 1 || n_bytes <= MAX_ROW_BYTES);
            }
        }
    }
}
