//! How often pairs occur at most, in little memory: what tells the few frequent pairs from the many rare ones.
//!
//! Each pair adds its weight to one cell, which it may share with others. So a cell never says less than a pair
//! of it occurs, and a pair whose cell stays below a floor need not be looked at again. Where all ids are small
//! no two pairs share a cell, and the cells are exact. One addition for each occurrence.

use crate::pair_map::pair_key;
use crate::vocabulary::TokenId;

/// Sums of weights by cell.
#[derive(Clone, Default)]
pub(super) struct Sketch {
    /// A power of two of them. No sum exceeds the number of tokens in the corpus, which fits 63 bits.
    cells: Vec<i64>,
    /// Where every pair has a cell of its own: the number of bits of an id.
    n_id_bits: Option<u32>,
}

const MIN_BITS: u32 = 8;
/// Cells for larger corpora than this no longer fit the nearer caches.
const MAX_BITS: u32 = 19;

impl Sketch {
    /// An empty sketch for so many occurrences of pairs of so many ids.
    pub(super) fn new(n_slots: usize, n_ids: usize) -> Self {
        let bits = (n_slots.max(1).ilog2() + 1).clamp(MIN_BITS, MAX_BITS);
        let n_id_bits = n_ids.max(2).next_power_of_two().ilog2();
        Self { cells: vec![0; 1 << bits], n_id_bits: (n_id_bits * 2 <= bits).then_some(n_id_bits) }
    }

    /// Counts an occurrence of a pair.
    #[inline]
    pub(super) fn add(&mut self, left: TokenId, right: TokenId, weight: i64) {
        let cell = self.cell(left, right);
        self.cells[cell] += weight;
    }

    /// Adds all sums of a sketch of the same shape.
    pub(super) fn merge(&mut self, other: &Self) {
        self.cells.iter_mut().zip(&other.cells).for_each(|(sum, other)| *sum += other);
    }

    /// At most how often a pair occurs.
    #[inline]
    pub(super) fn most(&self, left: TokenId, right: TokenId) -> i64 {
        self.cells[self.cell(left, right)]
    }

    /// At most how often any pair occurs.
    pub(super) fn most_of_all(&self) -> i64 {
        self.cells.iter().copied().max().unwrap_or(0)
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a cell")]
    fn cell(&self, left: TokenId, right: TokenId) -> usize {
        if let Some(n_id_bits) = self.n_id_bits {
            return (left << n_id_bits | right) as usize;
        }
        let key = pair_key(left, right);
        let hash = (key ^ key >> 29).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        (hash >> (u64::BITS - self.cells.len().ilog2())) as usize
    }
}
