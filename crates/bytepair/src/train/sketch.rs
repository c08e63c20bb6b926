//! How often pairs occur at most, in little memory: what tells the few frequent pairs from the many rare ones.
//!
//! Each pair adds its weight to one cell, which it may share with others. So a cell never says less than a pair
//! of it occurs, and a pair whose cell stays below a floor need not be looked at again. A cell that is full stays
//! full, and then says nothing of its pairs. One addition for each occurrence.

use crate::pair_map::{pair_hash, pair_key};
use crate::vocabulary::TokenId;

/// Sums of weights by cell.
#[derive(Default)]
pub(super) struct Sketch {
    /// A power of two of them.
    cells: Vec<u32>,
}

const MIN_BITS: u32 = 8;
/// More cells no longer fit the nearer caches.
const MAX_BITS: u32 = 19;
const FULL: u32 = u32::MAX;

impl Sketch {
    /// An empty sketch for the pairs of so many slots.
    pub(super) fn new(n_slots: usize) -> Self {
        let bits = (n_slots.max(1).ilog2() + 1).clamp(MIN_BITS, MAX_BITS);
        Self { cells: vec![0; 1 << bits] }
    }

    /// Counts an occurrence of a pair.
    #[inline]
    pub(super) fn add(&mut self, left: TokenId, right: TokenId, weight: i64) {
        let cell = self.cell(left, right);
        let weight = u32::try_from(weight).unwrap_or(FULL);
        self.cells[cell] = self.cells[cell].saturating_add(weight);
    }

    /// Adds all sums of a sketch of the same size.
    pub(super) fn merge(&mut self, other: &Self) {
        let cells = self.cells.iter_mut().zip(&other.cells);
        cells.for_each(|(sum, &other)| *sum = sum.saturating_add(other));
    }

    /// Whether a pair may occur as often as `floor` says.
    #[inline]
    pub(super) fn may_reach(&self, floor: i64, left: TokenId, right: TokenId) -> bool {
        let most = self.cells[self.cell(left, right)];
        most == FULL || i64::from(most) >= floor
    }

    /// At most how often any pair occurs; `None` where a cell is full.
    pub(super) fn most(&self) -> Option<i64> {
        let most = self.cells.iter().copied().max().unwrap_or(0);
        (most != FULL).then_some(most.into())
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a cell")]
    fn cell(&self, left: TokenId, right: TokenId) -> usize {
        (pair_hash(pair_key(left, right)) >> (u64::BITS - self.cells.len().ilog2())) as usize
    }
}
