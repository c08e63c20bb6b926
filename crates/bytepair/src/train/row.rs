//! Pieces as one row of tokens, each with the count of its piece: the corpus, or a share of it.
//!
//! A piece takes one slot for each of the tokens that it begins with, and one more, a barrier, follows it. Pieces
//! keep their order. From time to time the row is made anew: each token takes one slot again, and pieces that
//! are one token, and so can never change, are left out. Linear in the slots.

use crate::slots::{BARRIER, Cell, Slots};
use crate::vocabulary::TokenId;

/// Tokens, weighted by how often their pieces occur.
pub(super) struct Row {
    slots: Slots<Weighted>,
    /// The pieces whose count does not fit a slot, in the order of the row.
    heavy: Vec<Heavy>,
    /// Whether a token may take more than one slot.
    has_merged: bool,
}

/// What a slot holds: a token, and the count of its piece or [`HEAVY`].
#[derive(Clone, Copy)]
struct Weighted {
    token: TokenId,
    weight: u32,
}

/// A piece with a large count.
#[derive(Clone, Copy)]
struct Heavy {
    /// Its first slot.
    start: u32,
    count: i64,
}

/// The weight of slots whose piece stands among the heavy ones.
const HEAVY: u32 = u32::MAX;

const BARRIER_CELL: Weighted = Weighted { token: BARRIER, weight: 0 };

impl Cell for Weighted {
    #[inline]
    fn token(self) -> TokenId {
        self.token
    }

    #[inline]
    fn with_token(self, token: TokenId) -> Self {
        Self { token, ..self }
    }
}

/// A neighbouring pair in a row in which every token takes one slot.
#[derive(Clone, Copy)]
pub(super) struct Neighbours {
    pub(super) slot: u32,
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) weight: i64,
}

impl Row {
    /// A row with room for so many slots.
    pub(super) fn with_capacity(n_slots: usize) -> Self {
        let mut slots = Slots::with_capacity(n_slots + 1);
        slots.push(BARRIER_CELL);
        Self { slots, heavy: Vec::new(), has_merged: false }
    }

    /// Appends a piece, given as its tokens, that occurs `count` times; one token alone is left out.
    pub(super) fn push_piece(&mut self, tokens: &[TokenId], count: i64) {
        if tokens.len() < 2 {
            return;
        }
        let weight = u32::try_from(count).unwrap_or(HEAVY);
        if weight == HEAVY {
            self.heavy.push(Heavy { start: index_of(self.slots.len()), count });
        }
        self.slots.extend(tokens.iter().map(|&token| Weighted { token, weight }));
        self.slots.push(BARRIER_CELL);
    }

    /// The number of slots, barriers included.
    pub(super) fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// The token that begins at `slot`, or a barrier.
    #[inline]
    pub(super) fn token_at(&self, slot: usize) -> TokenId {
        self.slots.token_at(slot)
    }

    /// The token that ends before `slot`, where a token begins; or a barrier.
    #[inline]
    pub(super) fn token_before(&self, slot: usize) -> TokenId {
        self.slots.token_before(slot)
    }

    /// How often the piece occurs that `slot` belongs to.
    #[inline]
    pub(super) fn weight_at(&self, slot: usize) -> i64 {
        self.weight_of(self.slots.cell_at(slot), slot)
    }

    /// Whether `left`, covering `left_len` slots, begins at `slot`, where it began at some time, and `right`
    /// follows it.
    #[inline]
    pub(super) fn has_pair(
        &self,
        slot: usize,
        left: TokenId,
        left_len: usize,
        right: TokenId,
    ) -> bool {
        self.slots.has_pair(slot, left, left_len, right)
    }

    /// Merges the pair at `slot`; see [`Slots::merge_at`].
    #[inline]
    pub(super) fn merge_at(
        &mut self,
        slot: usize,
        left_len: usize,
        result: TokenId,
        result_len: usize,
    ) {
        self.has_merged = true;
        self.slots.merge_at(slot, left_len, result, result_len);
    }

    /// Makes the row anew, one slot for each token; leaves out what is one token between barriers.
    ///
    /// `lengths` says by token id how many slots each covers.
    pub(super) fn compact(&mut self, lengths: &[u32]) {
        if !std::mem::take(&mut self.has_merged) {
            return;
        }
        let (mut read, mut write) = (1, 1);
        let mut heavy = Vec::new();
        while read < self.slots.len() {
            let start = write;
            let first = self.slots.cell_at(read);
            let count = self.weight_of(first, read);
            let mut cell = first;
            while cell.token != BARRIER {
                self.slots.set(write, cell);
                read += lengths[cell.token as usize] as usize;
                write += 1;
                cell = self.slots.cell_at(read);
            }
            read += 1;
            if write - start < 2 {
                write = start;
                continue;
            }
            if first.weight == HEAVY {
                heavy.push(Heavy { start: index_of(start), count });
            }
            self.slots.set(write, BARRIER_CELL);
            write += 1;
        }
        self.slots.truncate(write);
        self.heavy = heavy;
    }

    /// Visits all neighbouring pairs, in the order of their slots. Every token must take one slot.
    #[inline]
    pub(super) fn for_each_pair(&self, mut visit: impl FnMut(Neighbours)) {
        for (slot, pair) in (0..).zip(self.slots.cells().windows(2)) {
            let (left, right) = (pair[0].token, pair[1].token);
            if left != BARRIER && right != BARRIER {
                let weight = self.weight_of(pair[0], slot as usize);
                visit(Neighbours { slot, left, right, weight });
            }
        }
    }

    #[inline]
    fn weight_of(&self, cell: Weighted, slot: usize) -> i64 {
        match cell.weight {
            HEAVY => self.heavy_weight(slot),
            weight => weight.into(),
        }
    }

    #[cold]
    fn heavy_weight(&self, slot: usize) -> i64 {
        let n_before = self.heavy.partition_point(|piece| piece.start as usize <= slot);
        n_before.checked_sub(1).map_or(0, |index| self.heavy[index].count)
    }
}

/// The index of a slot, or of something of which there are no more than slots, as it is kept in lists.
#[expect(clippy::cast_possible_truncation, reason = "a row has fewer than 2^32 slots")]
pub(super) fn index_of(index: usize) -> u32 {
    index as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compaction_keeps_order_and_weights_and_leaves_out_single_tokens() {
        let mut row = Row::with_capacity(16);
        row.push_piece(&[0, 1, 2], 5);
        row.push_piece(&[0, 1], i64::MAX / 4);
        row.push_piece(&[2, 0, 1, BARRIER, 2, BARRIER, 1, 1], 1 << 40);
        for slot in [1, 5, 9] {
            assert!(row.has_pair(slot, 0, 1, 1));
            row.merge_at(slot, 1, 3, 2);
        }
        row.compact(&[1, 1, 1, 2]);
        let mut pairs = Vec::new();
        row.for_each_pair(|pair| pairs.push((pair.slot, pair.left, pair.right, pair.weight)));
        assert_eq!(pairs, [(1, 3, 2, 5), (4, 2, 3, 1 << 40), (7, 1, 1, 1 << 40)]);
        assert_eq!(row.weight_at(8), 1 << 40);
    }
}
