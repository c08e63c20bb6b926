//! Pieces as one row of tokens that are merged in place, each with the count of its piece: the corpus, or a share of it.
//!
//! ```text
//! slots   | ab . ab c | a ab . |     a token of n symbols has its id in the first and in the last of n slots
//!         ^           ^        ^     barriers
//! ```
//!
//! Both neighbours of a token are found by the lengths of tokens alone: no links, no shifting, three writes a merge. What
//! the slots in between hold does not matter, with one exception. *Invariant:* a slot where a token once began, and does
//! not any more, never holds the id of that token again (see [`Row::merge_at`]). So an old note of where a pair begins is
//! checked by looking at two slots.
//!
//! Pieces keep their order. From time to time the row is made anew: each token takes one slot again, and pieces that are
//! one token, and so can never change, are left out. Linear in the slots; everything else takes constant time.
//!
//! A slot takes four bytes, so that more of the row is in the processor's caches: an id of at most 23 bits, and a count
//! below 255. Larger counts are kept beside the row, by piece. Lengths are kept by those who own the tokens.

use crate::memory::huge_pages::HugePageRow;
use crate::memory::prefetch::prefetch;
use crate::vocabulary::TokenId;

/// Stands before the first token, after the last, and between pieces. No token has this id.
pub(super) const BARRIER: TokenId = TokenId::MAX;
/// Stands in a slot where a token no longer begins. No token has this id.
const HOLE: TokenId = TokenId::MAX - 1;

/// Tokens, weighted by how often their pieces occur.
pub(super) struct Row {
    slots: HugePageRow<Slot>,
    heavy: HeavyPieces,
    /// Whether a token may take more than one slot.
    has_merged: bool,
}

/// A token, and the count of its piece or [`HEAVY`] in the lowest bits. The highest bit of a token stands for those that
/// are missing, so that barriers and holes stay what they are.
#[derive(Clone, Copy)]
struct Slot(u32);

/// The weight of slots whose piece stands among the heavy ones.
const HEAVY: u32 = if crate::SMALL { 3 } else { 255 };
const WEIGHT_BITS: u32 = 8;
const WEIGHT_MASK: u32 = (1 << WEIGHT_BITS) - 1;
/// So many ids fit a slot; two more stand for barriers and holes.
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

/// A neighbouring pair in a row in which every token takes one slot.
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

    /// Appends a piece, given as its tokens, that occurs `count` times; one token alone is left out.
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

    /// The number of slots, barriers included.
    pub(super) fn n_slots(&self) -> usize {
        self.slots.len()
    }

    /// The token that begins at `slot`, or a barrier.
    #[inline]
    pub(super) fn token_at(&self, slot: usize) -> TokenId {
        self.slots[slot].token()
    }

    /// The token that ends before `slot`, where a token begins; or a barrier.
    #[inline]
    pub(super) fn token_before(&self, slot: usize) -> TokenId {
        self.slots[slot - 1].token()
    }

    /// Prefetches the slot before each where a token begins, and that which is so far after it: with what is between, which
    /// mostly lies in the same lines of the cache, it is there when places are looked at one by one.
    pub(super) fn prefetch<'s>(&self, slots: impl IntoIterator<Item = &'s u32>, reach: usize) {
        for &slot in slots {
            let (before, behind) = ((slot as usize).wrapping_sub(1), slot as usize + reach);
            prefetch(&self.slots, before);
            prefetch(&self.slots, behind);
        }
    }

    /// How often the piece occurs that `slot` belongs to.
    #[inline]
    pub(super) fn weight_at(&self, slot: usize) -> i64 {
        match self.slots[slot].weight() {
            HEAVY => self.heavy.count_at(slot),
            weight => weight.into(),
        }
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
        // Both are read whatever the first says: a wrong guess would keep the next ones from being fetched.
        let (one, other) = (self.slots[slot].token(), self.slots[slot + left_len].token());
        (one ^ left) | (other ^ right) == 0
    }

    /// Puts `result` in the place of two tokens, the first of which begins at `slot`.
    ///
    /// The slot where the second began keeps no token that began there: it becomes a hole or, where the second covers one
    /// slot, the last slot of `result`, which covers more than one. Later it can only become the inside or the end of
    /// longer tokens still, never again one that began there.
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

    /// Makes the row anew, one slot for each token; leaves out what is one token between barriers.
    ///
    /// `lengths` says by token id how many slots each covers.
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

    /// Visits all neighbouring pairs, in the order of their slots. Every token must take one slot.
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

/// The pieces whose count does not fit a slot, in the order of the row.
#[derive(Default)]
struct HeavyPieces {
    pieces: Vec<HeavyPiece>,
    /// For every block of slots up to the last heavy piece: how many of them begin before it.
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
    /// Adds a piece after the others.
    fn push(&mut self, start: usize, count: i64) {
        self.n_before.resize(start / BLOCK_LEN + 1, index_of(self.pieces.len()));
        self.pieces.push(HeavyPiece { start: index_of(start), count });
    }

    /// To look up slots in ascending order.
    fn ascending(&self) -> Ascending<'_> {
        Ascending { rest: &self.pieces, count: 0 }
    }

    /// The count of the piece that a slot belongs to. It must be a heavy one.
    fn count_at(&self, slot: usize) -> i64 {
        let block = (slot / BLOCK_LEN).min(self.n_before.len().saturating_sub(1));
        let n_before = self.n_before.get(block).map_or(0, |&n| n as usize);
        let rest = &self.pieces[n_before..];
        let n_begun =
            n_before + rest.iter().take_while(|piece| piece.start as usize <= slot).count();
        n_begun.checked_sub(1).map_or(0, |index| self.pieces[index].count)
    }
}

/// Finds counts of heavy pieces one after the other.
struct Ascending<'r> {
    /// The pieces that begin after the last slot that was looked up.
    rest: &'r [HeavyPiece],
    count: i64,
}

impl Ascending<'_> {
    /// The count of the piece that a slot belongs to, which must be a heavy one.
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
