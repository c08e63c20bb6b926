//! The distinct pieces as one row of tokens, each with the count of its piece.
//!
//! A piece takes one slot for each of its initial symbols, and one more, a barrier, follows it. Pieces
//! lie in the order of their first occurrence, so slots are ordered as the text is.

use super::start::Segmenter;
use crate::count::PieceCounts;
use crate::error::{ErrorKind, Result};
use crate::slots::{BARRIER, Slots};
use crate::units::Units;
use crate::vocabulary::{TokenId, Vocabulary};

/// The corpus while it is being merged.
pub(super) struct Words {
    slots: Slots,
    /// By slot: the piece that it belongs to.
    piece_of_slot: Vec<u32>,
    /// By piece: how often it occurs.
    counts: Vec<i64>,
    /// By token id: the number of slots that it covers.
    lengths: Vec<u32>,
    /// The number of tokens, weighted by the counts of their pieces.
    n_tokens: i64,
}

impl Words {
    /// Lays the pieces out in the order of `counts`.
    ///
    /// # Errors
    /// Where there are more symbols than 32 bits can index, or their weighted number exceeds 63 bits:
    /// every count of a pair is at most that number, so none can overflow later.
    pub(super) fn new(
        counts: &PieceCounts,
        units: &Units,
        vocabulary: &Vocabulary,
    ) -> Result<Self> {
        let capacity = counts.distinct_bytes() + counts.len() * 2 + 1;
        let mut words = Self {
            slots: Slots::with_capacity(capacity),
            piece_of_slot: Vec::with_capacity(capacity),
            counts: Vec::with_capacity(counts.len()),
            lengths: vec![1; vocabulary.len()],
            n_tokens: 0,
        };
        words.push_slot(BARRIER, 0);
        let mut segmenter = Segmenter::new(units, vocabulary);
        let mut tokens = Vec::new();
        for (piece_index, (piece, count, _)) in (0..).zip(counts.iter()) {
            let start = words.slots.len();
            segmenter.push_tokens(piece, &mut tokens)?;
            tokens.drain(..).for_each(|id| words.push_slot(id, piece_index));
            words.counts.push(count);
            words.n_tokens = weighted(words.slots.len() - start, count)
                .and_then(|n| words.n_tokens.checked_add(n))
                .ok_or_else(|| ErrorKind::Count { piece: piece.to_vec() })?;
            words.push_slot(BARRIER, piece_index);
            let n_symbols = words.slots.len();
            u32::try_from(n_symbols).map_err(|_| ErrorKind::CorpusTooLarge { n_symbols })?;
        }
        Ok(words)
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The number of tokens, weighted by the counts of their pieces.
    pub(super) fn n_tokens(&self) -> i64 {
        self.n_tokens
    }

    /// The token that begins at `slot`, or a barrier.
    pub(super) fn token_at(&self, slot: usize) -> TokenId {
        self.slots.token_at(slot)
    }

    /// How often the piece occurs that `slot` belongs to.
    pub(super) fn weight_at(&self, slot: usize) -> i64 {
        self.counts[self.piece_of_slot[slot] as usize]
    }

    /// The number of slots that a token covers.
    pub(super) fn length(&self, id: TokenId) -> usize {
        self.lengths[id as usize] as usize
    }

    /// Records the length of a token that a merge creates.
    pub(super) fn set_length(&mut self, id: TokenId, left: TokenId, right: TokenId) {
        if self.lengths.len() <= id as usize {
            self.lengths.resize(id as usize + 1, 0);
        }
        self.lengths[id as usize] = self.lengths[left as usize] + self.lengths[right as usize];
    }

    /// Whether `left` begins at `slot`, where it began at some time, and `right` follows it.
    #[inline]
    pub(super) fn has_pair(&self, slot: usize, left: TokenId, right: TokenId) -> bool {
        self.slots.has_pair(slot, left, self.length(left), right)
    }

    /// Merges the pair at `slot` into `result`, whose length is recorded.
    pub(super) fn merge_at(&mut self, slot: usize, left: TokenId, result: TokenId) {
        self.slots.merge_at(slot, self.length(left), result, self.length(result));
        self.n_tokens -= self.weight_at(slot);
    }

    /// The token that ends before `slot`, where a token begins; or a barrier.
    #[inline]
    pub(super) fn token_before(&self, slot: usize) -> TokenId {
        self.slots.token_before(slot)
    }

    fn push_slot(&mut self, id: TokenId, piece_index: u32) {
        self.slots.push(id);
        self.piece_of_slot.push(piece_index);
    }
}

fn weighted(n_symbols: usize, count: i64) -> Option<i64> {
    i64::try_from(n_symbols).ok()?.checked_mul(count)
}
