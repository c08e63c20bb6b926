//! How often pairs occur at most, in little memory: what tells the few frequent pairs from the many rare ones.
//!
//! Each pair adds its weight to one cell, which it may share with others. So a cell never says less than a pair
//! of it occurs, and a pair whose cell stays below a floor need not be looked at again. A cell that is full stays
//! full, and then says nothing of its pairs. One addition for each occurrence.

use crate::hash::HashKey;
use crate::memory::huge_pages;
use crate::vocabulary::TokenId;
use crate::vocabulary::pair_key::{pair_hash_by, pair_key};

/// Sums of weights by cell.
#[derive(Default)]
pub(super) struct Sketch {
    /// A power of two of them.
    cells: Vec<u32>,
    /// What makes the hash one of this process.
    factor: u64,
}

const MIN_BITS: u32 = 8;
/// More cells no longer fit the nearer caches.
const NEAR_BITS: u32 = if cfg!(test) { 8 } else { 19 };
/// Each thread has so many cells at most, and as many numbers of tallies: 32 MiB.
const MAX_BITS: u32 = 22;
/// Where there are more slots for each cell there are more cells all the same: rare pairs would add up to what
/// frequent ones have, and all would have to be tallied.
const MAX_SLOTS_PER_CELL: usize = if cfg!(test) { 1 } else { 96 };
const FULL: u32 = u32::MAX;
/// Between one power of two and the next, sums are distinguished by so many steps.
const N_STEPS: u32 = 8;

impl Sketch {
    /// Forgets all, and makes room for the pairs of so many slots.
    pub(super) fn begin(&mut self, n_slots: usize) {
        let fewest = (n_slots / MAX_SLOTS_PER_CELL).max(1).ilog2() + 1;
        let bits = n_slots.max(1).ilog2().clamp(MIN_BITS, NEAR_BITS).max(fewest).min(MAX_BITS);
        self.factor = HashKey::of_process().factor();
        self.cells.clear();
        huge_pages::reserve(&mut self.cells, 1 << bits);
        self.cells.resize(1 << bits, 0);
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

    /// Says of each cell whether its pairs may occur as often as `floor` says.
    pub(super) fn may_reach(&self, floor: i64) -> impl Iterator<Item = bool> {
        self.cells.iter().map(move |&most| most == FULL || i64::from(most) >= floor)
    }

    /// At most how often any pair occurs; `None` where a cell is full.
    pub(super) fn most(&self) -> Option<i64> {
        let most = self.cells.iter().copied().max().unwrap_or(0);
        (most != FULL).then_some(most.into())
    }

    /// A number that at most `n` cells exceed, and not more than a ninth above the least such number.
    pub(super) fn exceeded_by(&self, n: usize) -> i64 {
        let mut histogram = [0_usize; (u32::BITS * N_STEPS) as usize];
        self.cells.iter().for_each(|&cell| histogram[step_of(cell)] += 1);
        let mut n_above = 0;
        let step = histogram.iter().rposition(|n_cells| {
            n_above += n_cells;
            n_above > n
        });
        step.map_or(0, |step| i64::from(highest_of(step)))
    }

    /// The number of the cell of a pair.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the shift leaves the index of a cell")]
    pub(super) fn cell(&self, left: TokenId, right: TokenId) -> usize {
        let hash = pair_hash_by(self.factor, pair_key(left, right));
        (hash >> (u64::BITS - self.cells.len().ilog2())) as usize
    }
}

/// The number of the step that a sum lies on: sums below [`N_STEPS`] have one each.
#[inline]
fn step_of(sum: u32) -> usize {
    let n_halvings = (sum | N_STEPS).ilog2() - N_STEPS.ilog2();
    (n_halvings * N_STEPS + (sum >> n_halvings)) as usize
}

/// The highest sum on a step.
#[expect(clippy::cast_possible_truncation, reason = "there are few steps")]
fn highest_of(step: usize) -> u32 {
    let n_halvings = (step as u32 / N_STEPS).saturating_sub(1);
    let above = u64::from(step as u32 - n_halvings * N_STEPS + 1) << n_halvings;
    u32::try_from(above - 1).unwrap_or(FULL)
}
