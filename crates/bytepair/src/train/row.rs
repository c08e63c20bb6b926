//! Pieces as one row of tokens that are merged in place, each with the count of its piece: the corpus, or a share of
//! it.
//!
//! ```text
//! slots   | ab . ab c | a ab . |     a token of n symbols has its id in the first and in the last of n slots
//!         ^           ^        ^     barriers
//! ```
//!
//! The lengths of tokens are enough to find both neighbours of a token: there are no links, nothing is moved, and a
//! merge takes three writes. The content of the slots in between does not matter, with one exception. *Invariant:* a
//! slot where a token once began, and no longer does, never has the id of that token again (see [`Row::merge_at`]). So
//! two slots tell whether a pair still begins at a recorded place.
//!
//! Pieces keep their order. From time to time the row is compacted: each token takes one slot again, and pieces that
//! are one token, and so can never change, are dropped. This is linear in the slots; everything else takes constant
//! time.
//!
//! A slot takes four bytes, so that more of the row fits the processor's caches: an id of at most 23 bits, and a count
//! below 255. Larger counts are stored beside the row, by piece. Lengths are stored by the owners of the tokens.

use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::vocabulary::TokenId;

/// Comes before the first token, after the last, and between pieces. No token has this id.
pub(super) const BARRIER: TokenId = TokenId::MAX;
/// Marks a slot where a token no longer begins. No token has this id.
const HOLE: TokenId = TokenId::MAX - 1;

/// Tokens, weighted by the counts of their pieces.
pub(super) struct Row {
    slots: HugePageRow<Slot>,
    heavy: HeavyPieces,
    /// Whether a token may take more than one slot.
    has_merged: bool,
}

/// A token, and the count of its piece or [`HEAVY`] in the lowest bits. The highest stored bit of a token is repeated
/// in the bits that are missing, so that barriers and holes keep their values.
#[derive(Clone, Copy)]
struct Slot(u32);

/// The weight of slots whose piece is a heavy one.
const HEAVY: u32 = if crate::SMALL { 3 } else { 255 };
const WEIGHT_BITS: u32 = 8;
const WEIGHT_MASK: u32 = (1 << WEIGHT_BITS) - 1;
/// The number of ids that fit a slot; barriers and holes need two more values.
pub(super) const MAX_IDS: usize = 1 << (u32::BITS - WEIGHT_BITS - 1);

impl Slot {
    const BARRIER: Self = Self(BARRIER << WEIGHT_BITS);

    #[inline]
    fn new(token: TokenId, weight: u32) -> Self {
        Self(token << WEIGHT_BITS | weight)
    }

    #[inline]
    fn token(self) -> TokenId {
        (self.0.cast_signed() >> WEIGHT_BITS).cast_unsigned()
    }

    #[inline]
    fn weight(self) -> u32 {
        self.0 & WEIGHT_MASK
    }

    /// A slot of the same piece with another token.
    #[inline]
    fn with_token(self, token: TokenId) -> Self {
        Self::new(token, self.weight())
    }
}

/// An adjacent pair in a row in which every token takes one slot.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    pub(super) slot: u32,
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) weight: i64,
}

impl Row {
    /// A row with room for this many slots.
    pub(super) fn with_capacity(n_slots: usize) -> Self {
        let mut slots = HugePageRow::with_room(n_slots + 1);
        slots.push(Slot::BARRIER);
        Self { slots, heavy: HeavyPieces::default(), has_merged: false }
    }

    /// Appends a piece, given as its tokens, that occurs `count` times. A piece of one token is left out.
    pub(super) fn push_piece(&mut self, tokens: &[TokenId], count: i64) {
        if tokens.len() < 2 {
            return;
        }
        let weight = u32::try_from(count).unwrap_or(HEAVY).min(HEAVY);
        if weight == HEAVY {
            self.heavy.push(self.slots.len(), count);
        }
        tokens.iter().for_each(|&token| self.slots.push(Slot::new(token, weight)));
        self.slots.push(Slot::BARRIER);
    }

    /// The number of slots, including barriers.
    pub(super) fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// The token that begins at `slot`, or a barrier.
    #[inline]
    pub(super) fn token_at(&self, slot: usize) -> TokenId {
        self.slots[slot].token()
    }

    /// The token that ends before `slot`, where a token begins, or a barrier.
    #[inline]
    pub(super) fn token_before(&self, slot: usize) -> TokenId {
        self.slots[slot - 1].token()
    }

    /// For each slot where a token begins, prefetches the slot before it and the slot `reach` after it. What is in
    /// between is mostly in the same cache lines, so all of it has arrived when the places are visited one by one.
    pub(super) fn prefetch<'s>(&self, slots: impl IntoIterator<Item = &'s u32>, reach: usize) {
        for &slot in slots {
            let (before, behind) = ((slot as usize).wrapping_sub(1), slot as usize + reach);
            prefetch(&self.slots, before);
            prefetch(&self.slots, behind);
        }
    }

    /// The count of the piece that `slot` belongs to.
    #[inline]
    pub(super) fn weight_at(&self, slot: usize) -> i64 {
        match self.slots[slot].weight() {
            HEAVY => self.heavy.count_at(slot),
            weight => weight.into(),
        }
    }

    /// Whether `left`, covering `left_len` slots, begins at `slot`, where it began at some time, and `right` follows
    /// it.
    #[inline]
    pub(super) fn has_pair(
        &self,
        slot: usize,
        left: TokenId,
        left_len: usize,
        right: TokenId,
    ) -> bool {
        // Both slots are always read: a mispredicted branch would keep the next ones from being fetched.
        let (one, other) = (self.slots[slot].token(), self.slots[slot + left_len].token());
        (one ^ left) | (other ^ right) == 0
    }

    /// Replaces two tokens, the first of which begins at `slot`, by `result`.
    ///
    /// The slot where the second token began does not keep its id: it becomes a hole or, if the second token covers one
    /// slot, the last slot of `result`, which covers more than one. Later it can only be inside or at the end of even
    /// longer tokens, never where one begins.
    #[inline]
    pub(super) fn merge_at(
        &mut self,
        slot: usize,
        left_len: usize,
        result: TokenId,
        result_len: usize,
    ) {
        self.has_merged = true;
        self.put(slot, result);
        self.put(slot + left_len, HOLE);
        self.put(slot + result_len - 1, result);
    }

    #[inline]
    fn put(&mut self, slot: usize, token: TokenId) {
        self.slots[slot] = self.slots[slot].with_token(token);
    }

    /// Compacts the row: one slot for each token. Drops pieces that are one token between barriers.
    ///
    /// `lengths` has the number of slots of each token, by id.
    pub(super) fn compact(&mut self, lengths: &[u32]) {
        if !std::mem::take(&mut self.has_merged) {
            return;
        }
        let (mut read, mut write) = (1, 1);
        let mut heavy = HeavyPieces::default();
        let mut counts = self.heavy.ascending();
        while read < self.slots.len() {
            let (start, begin) = (write, read);
            let first = self.slots[read];
            let mut cell = first;
            while cell.token() != BARRIER {
                self.slots[write] = cell;
                read += lengths[cell.token() as usize] as usize;
                write += 1;
                cell = self.slots[read];
            }
            read += 1;
            if write - start < 2 {
                write = start;
                continue;
            }
            if first.weight() == HEAVY {
                heavy.push(start, counts.at(begin));
            }
            self.slots[write] = Slot::BARRIER;
            write += 1;
        }
        self.slots.truncate(write);
        self.slots.give_back();
        self.heavy = heavy;
    }

    /// Visits all adjacent pairs, in the order of their slots. Every token must take one slot.
    #[inline]
    pub(super) fn for_each_pair(&self, mut visit: impl FnMut(Neighbours)) {
        let mut counts = self.heavy.ascending();
        for (slot, pair) in (0..).zip(self.slots.windows(2)) {
            let (left, right) = (pair[0].token(), pair[1].token());
            let weight = match pair[0].weight() {
                HEAVY => counts.at(slot as usize),
                weight => weight.into(),
            };
            if left != BARRIER && right != BARRIER {
                visit(Neighbours { slot, left, right, weight });
            }
        }
    }
}

/// The pieces whose counts do not fit a slot, in the order of the row.
#[derive(Default)]
struct HeavyPieces {
    pieces: Vec<HeavyPiece>,
    /// For every block of slots up to the last heavy piece: how many heavy pieces begin before it.
    n_before: Vec<u32>,
}

#[derive(Clone, Copy)]
struct HeavyPiece {
    /// Its first slot.
    start: u32,
    count: i64,
}

/// The number of slots in a block.
const BLOCK_LEN: usize = if crate::SMALL { 4 } else { 64 };

impl HeavyPieces {
    /// Appends a piece.
    fn push(&mut self, start: usize, count: i64) {
        self.n_before.resize(start / BLOCK_LEN + 1, index_of(self.pieces.len()));
        self.pieces.push(HeavyPiece { start: index_of(start), count });
    }

    /// Looks up slots in ascending order.
    fn ascending(&self) -> Ascending<'_> {
        Ascending { rest: &self.pieces, count: 0 }
    }

    /// The count of the heavy piece that a slot belongs to.
    fn count_at(&self, slot: usize) -> i64 {
        let block = (slot / BLOCK_LEN).min(self.n_before.len().saturating_sub(1));
        let n_before = self.n_before.get(block).map_or(0, |&n| n as usize);
        let rest = &self.pieces[n_before..];
        let n_begun =
            n_before + rest.iter().take_while(|piece| piece.start as usize <= slot).count();
        n_begun.checked_sub(1).map_or(0, |index| self.pieces[index].count)
    }
}

/// Finds counts of heavy pieces in ascending order of slots.
struct Ascending<'r> {
    /// The pieces that begin after the last slot that was looked up.
    rest: &'r [HeavyPiece],
    count: i64,
}

impl Ascending<'_> {
    /// The count of the heavy piece that a slot belongs to.
    fn at(&mut self, slot: usize) -> i64 {
        while let [piece, rest @ ..] = self.rest
            && piece.start as usize <= slot
        {
            (self.count, self.rest) = (piece.count, rest);
        }
        self.count
    }
}

/// The index of a slot, or of something that is no more numerous than slots, as lists store it.
#[expect(clippy::cast_possible_truncation, reason = "a row has fewer than 2^32 slots")]
pub(super) fn index_of(index: usize) -> u32 {
    index as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_tells_the_largest_id_from_barriers_and_holes() {
        let largest = index_of(MAX_IDS) - 1;
        for token in [0, largest, BARRIER, BARRIER - 1] {
            assert_eq!(Slot::new(token, HEAVY).token(), token);
            assert_eq!(Slot::new(0, HEAVY).with_token(token).weight(), HEAVY);
        }
    }
}
