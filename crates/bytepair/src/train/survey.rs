//! Which pairs are frequent, and where they occur: what one share of the corpus contributes to a survey.
//!
//! ```text
//! ids of at most 9 bits, such as those of bytes:        more ids:
//!   look:  tally[left, right] += weight                   look:  sketch[hash of the pair] += weight
//!                                                                (the sketches of all shares are added up)
//!                                                         tally: if sketch[hash of the pair] reaches the floor:
//!                                                                    tally[pair] += weight; record the place
//!   place: for each pair of the row:                      place: for each place recorded:
//!              append it to the list of its pair                     append it to the list of its pair
//! ```
//!
//! *Invariant:* a cell of the sketch is never less than the count of any pair in it ([`Sketch`]), so every pair that
//! reaches the floor is tallied, and tallied exactly. Exact tallies need a cell for each possible pair, for which there
//! is room only if ids are small.
//!
//! Each step is one pass over the slots, in linear time. The few pairs that pass the sketch are gathered, 512 at a
//! time, so that their tallies are prefetched together.

use super::pairs::{NO_LIST, PairCount, Places};
use super::plan::Plan;
use super::row::{Neighbours, Row, index_of};
use crate::hash::HashKey;
use crate::hash::{pair_hash_by, pair_key, pair_of};
use crate::memory::huge_pages::{self, HugePageRow};
use crate::memory::prefetch::prefetch;
use crate::vocabulary::TokenId;

/// Counts of pairs in a share.
#[derive(Default)]
pub(super) struct Survey {
    pub(super) sketch: Sketch,
    tallies: HugePageRow<Tally>,
    /// Where tallied pairs begin. Empty if ids are small.
    occurrences: Occurrences,
    /// By cell of the sketch: the latest tally of a pair in it, [`NONE`] or [`RARE`].
    firsts: Vec<u32>,
}

/// The count of a pair in this share.
#[derive(Clone, Copy, Default)]
struct Tally {
    key: u64,
    count: i64,
    n_slots: u32,
    /// The next tally of the same cell of the sketch.
    next: u32,
}

/// The places of pairs, in the order of their slots.
#[derive(Default)]
struct Occurrences {
    /// By place: the tally of the pair.
    tallies: Vec<u32>,
    /// A bit for each slot, set if a place is there.
    slots: Vec<u64>,
}

/// A pair that waits to be counted, and its cell.
#[derive(Clone, Copy)]
struct Waiting {
    pair: Neighbours,
    cell: usize,
}

const WORD_BITS: usize = u64::BITS as usize;
/// Replaces the first tally of a cell: none of its pairs is frequent.
const RARE: u32 = u32::MAX;
/// Replaces the first or the next tally of a cell: there is none yet.
const NONE: u32 = u32::MAX - 1;
/// Ids of at most this many bits are small. In tests the ids of bytes are not, so that both ways are taken.
const SMALL_ID_BITS: u32 = if crate::SMALL { 4 } else { 9 };
/// After a survey of more slots than this, its memory is freed: there may be other use for it until the next one.
const MAX_KEPT: usize = if crate::SMALL { 32 } else { 1 << 21 };
/// Pairs that pass the sketch and are gathered before they are tallied.
const N_AT_ONCE: usize = 512;

/// Whether every pair of this many ids has its own cell.
pub(super) fn is_exact(n_ids: usize) -> bool {
    n_ids <= 1 << SMALL_ID_BITS
}

impl Survey {
    /// Looks at all pairs: counts them if ids are small, sketches them if not.
    pub(super) fn look(&mut self, row: &Row, plan: &Plan) {
        let Self { sketch, tallies, occurrences, .. } = self;
        tallies.truncate(0);
        occurrences.clear();
        if !is_exact(plan.lengths.len()) {
            sketch.begin(plan.n_slots);
            row.for_each_pair(|pair| sketch.add(pair.left, pair.right, pair.weight));
            return;
        }
        let n_bits = id_bits(plan.lengths.len());
        tallies.lengthen(Tally::default(), 1 << (2 * n_bits));
        row.for_each_pair(|pair| {
            let tally = &mut tallies[cell(pair, n_bits)];
            tally.key = pair_key(pair.left, pair.right);
            tally.count += pair.weight;
            tally.n_slots += 1;
        });
    }

    /// Counts the pairs that pass the sketch of a group.
    pub(super) fn tally(&mut self, row: &Row, plan: &Plan) {
        let mut firsts = std::mem::take(&mut self.firsts);
        let first = |may_reach| if may_reach { NONE } else { RARE };
        let sketch = &plan.sketches[0];
        firsts.extend(sketch.may_reach(plan.floors()[0]).map(first));
        for (sketch, &floor) in plan.sketches.iter().zip(plan.floors()).skip(1) {
            let all = firsts.iter_mut().zip(sketch.may_reach(floor));
            all.filter(|(_, may_reach)| *may_reach).for_each(|(first, _)| *first = NONE);
        }
        self.occurrences.reserve(row.n_slots());
        let nothing = Neighbours { slot: 0, left: 0, right: 0, weight: 0 };
        let mut waiting = [Waiting { pair: nothing, cell: 0 }; N_AT_ONCE];
        let mut n_waiting = 0;
        row.for_each_pair(|pair| {
            // Written first and counted after: no branch that could be mispredicted.
            let cell = sketch.cell(pair.left, pair.right);
            waiting[n_waiting] = Waiting { pair, cell };
            n_waiting += usize::from(firsts[cell] != RARE);
            if n_waiting == N_AT_ONCE {
                self.add(&waiting, &mut firsts);
                n_waiting = 0;
            }
        });
        self.add(&waiting[..n_waiting], &mut firsts);
        firsts.clear();
        self.firsts = firsts;
    }

    fn add(&mut self, waiting: &[Waiting], firsts: &mut [u32]) {
        // Which tally it is cannot be predicted, so all first candidates are prefetched together.
        let tallies = waiting.iter().map(|waiting| firsts[waiting.cell] as usize);
        tallies.for_each(|tally| prefetch(&self.tallies, tally));
        for &Waiting { pair, cell } in waiting {
            let key = pair_key(pair.left, pair.right);
            let first = firsts[cell];
            let mut index = first;
            while index != NONE && self.tallies[index as usize].key != key {
                index = self.tallies[index as usize].next;
            }
            if index == NONE {
                index = index_of(self.tallies.len());
                self.tallies.push(Tally { key, next: first, ..Tally::default() });
                firsts[cell] = index;
            }
            let tally = &mut self.tallies[index as usize];
            tally.count += pair.weight;
            tally.n_slots += 1;
            self.occurrences.push(index, pair.slot);
        }
    }

    /// Lists the places of the pairs of the plan.
    pub(super) fn place(&mut self, row: &Row, plan: &Plan, places: &mut Places) {
        let Self { tallies, occurrences, .. } = self;
        let is_exact = is_exact(plan.lengths.len());
        places.reserve(if is_exact { row.n_slots() } else { occurrences.tallies.len() });
        // If there is only one share, the pairs of the plan are in the order of its tallies.
        let mut next = 0;
        let list_of_tally = |tally: &Tally| {
            let (left, right) = tally.tokens();
            let is_next = plan.pairs.get(next) == Some((left, right));
            let pair = if is_next { Some(next) } else { plan.pairs.index(left, right) };
            let Some(pair) = pair.filter(|_| tally.n_slots > 0) else { return NO_LIST };
            next = pair + 1;
            places.make_full(pair, tally.n_slots as usize)
        };
        let mut ends: Vec<_> = tallies.iter().map(list_of_tally).collect();
        if !is_exact {
            let found = occurrences.iter();
            found.for_each(|(tally, slot)| places.fill(&mut ends[tally as usize], slot));
            if row.n_slots() > MAX_KEPT {
                *self = Self::default();
            }
            return;
        }
        let n_bits = id_bits(plan.lengths.len());
        row.for_each_pair(|pair| places.fill(&mut ends[cell(pair, n_bits)], pair.slot));
    }
}

impl Survey {
    /// The count of each tallied pair in this share.
    pub(super) fn counts(&self) -> impl Iterator<Item = PairCount> {
        let tallies = self.tallies.iter().filter(|tally| tally.n_slots > 0);
        tallies.map(|tally| {
            let (left, right) = tally.tokens();
            PairCount { left, right, count: tally.count }
        })
    }
}

impl Occurrences {
    fn clear(&mut self) {
        self.tallies.clear();
        self.slots.clear();
    }

    /// Reserves a place for each of this many slots, the most that there can be. Reserved memory that is never filled
    /// costs nothing.
    fn reserve(&mut self, n_slots: usize) {
        huge_pages::reserve(&mut self.tallies, n_slots);
        self.slots.resize(n_slots.div_ceil(WORD_BITS), 0);
    }

    /// Adds a place after the others.
    #[inline]
    fn push(&mut self, tally: u32, slot: u32) {
        self.tallies.push(tally);
        self.slots[slot as usize / WORD_BITS] |= 1 << (slot as usize % WORD_BITS);
    }

    /// The tally and the slot of each place.
    fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        let of_word = |(word, &bits): (usize, &u64)| {
            let rest = |&bits: &u64| Some(bits & (bits - 1)).filter(|&rest| rest != 0);
            let first = Some(bits).filter(|&bits| bits != 0);
            let each = std::iter::successors(first, rest);
            each.map(move |bits| index_of(word * WORD_BITS) + bits.trailing_zeros())
        };
        let slots = self.slots.iter().enumerate().flat_map(of_word);
        self.tallies.iter().copied().zip(slots)
    }
}

impl Tally {
    /// The two tokens of the pair.
    fn tokens(&self) -> (TokenId, TokenId) {
        pair_of(self.key)
    }
}

/// How many bits the largest of this many ids needs.
fn id_bits(n_ids: usize) -> u32 {
    n_ids.max(2).next_power_of_two().ilog2()
}

#[inline]
fn cell(pair: Neighbours, n_bits: u32) -> usize {
    (pair.left << n_bits | pair.right) as usize
}

/// Upper bounds of the counts of pairs, in little memory: they separate the few frequent pairs from the many rare ones.
///
/// Each pair adds its weight to one cell, which it may share with other pairs. So a cell is never less than the count
/// of a pair in it, and a pair whose cell stays below a floor need not be looked at again. A cell that is full stays
/// full, and then says nothing about its pairs. Takes one addition for each occurrence.
#[derive(Default)]
pub(super) struct Sketch {
    /// A power of two of them.
    cells: Vec<u32>,
    /// Makes the hash specific to this process.
    factor: u64,
}

const MIN_BITS: u32 = 8;
/// More cells than this no longer fit the nearer caches.
const NEAR_BITS: u32 = if crate::SMALL { 8 } else { 19 };
/// Each thread has at most this many cells, and as many indices of tallies: 32 MiB.
const MAX_BITS: u32 = 22;
/// With more slots than this for each cell, there are more cells all the same. If there were not, sums of rare pairs
/// would reach those of frequent ones, and all pairs would have to be tallied.
const MAX_SLOTS_PER_CELL: usize = if crate::SMALL { 1 } else { 96 };
const FULL: u32 = u32::MAX;
/// Sums are distinguished by this many steps between one power of two and the next.
const N_STEPS: u32 = 8;

impl Sketch {
    /// Clears the sketch, and makes room for the pairs of this many slots.
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

    /// Adds all cells of a sketch of the same size.
    pub(super) fn merge(&mut self, other: &Self) {
        let cells = self.cells.iter_mut().zip(&other.cells);
        cells.for_each(|(sum, &other)| *sum = sum.saturating_add(other));
    }

    /// For each cell, whether its pairs may reach `floor`.
    pub(super) fn may_reach(&self, floor: i64) -> impl Iterator<Item = bool> {
        self.cells.iter().map(move |&most| most == FULL || i64::from(most) >= floor)
    }

    /// An upper bound of all counts; `None` if a cell is full.
    pub(super) fn most(&self) -> Option<i64> {
        let most = self.cells.iter().copied().max().unwrap_or(0);
        (most != FULL).then_some(most.into())
    }

    /// A number that at most `n` cells exceed, at most a ninth above the smallest such number.
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

/// The step that a sum is on: each sum below [`N_STEPS`] has its own step.
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
