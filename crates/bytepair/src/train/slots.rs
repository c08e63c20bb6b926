//! The corpus of training as a row of tokens that are merged in place.
//!
//! A token that was made of n symbols covers n slots; its id stands in the first and in the last of
//! them, so both neighbours are found from the lengths of tokens alone: no links, no shifting, three
//! writes a merge. What the slots in between hold does not matter, with one exception: a slot where a
//! token once began must never hold that token's id again (see [`Slots::merge_at`]).
//!
//! Lengths are kept by those who own the tokens. Every operation takes constant time.

use crate::large_pages::{LargeRow, Pages};
use crate::vocabulary::TokenId;

/// Stands before the first token, behind the last, and between rows. No token has this id.
pub(crate) const BARRIER: TokenId = TokenId::MAX;
/// Stands in a slot where a token no longer begins. No token has this id.
const HOLE: TokenId = TokenId::MAX - 1;

/// What a slot holds: a token, perhaps with something that stays with the slot.
pub(crate) trait Cell: Copy {
    /// The token.
    fn token(self) -> TokenId;
    /// The same slot with another token.
    fn with_token(self, token: TokenId) -> Self;
}

impl Cell for TokenId {
    fn token(self) -> TokenId {
        self
    }

    fn with_token(self, token: TokenId) -> Self {
        token
    }
}

/// Tokens, each covering one slot or more.
pub(crate) struct Slots<C = TokenId>(LargeRow<C>);

impl<C> Default for Slots<C> {
    fn default() -> Self {
        Self(LargeRow::default())
    }
}

impl<C: Cell> Slots<C> {
    pub(crate) fn with_capacity(n_slots: usize) -> Self {
        Self(LargeRow::with_room(n_slots, Pages::Large))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Forgets all slots from `n_slots` on, and gives their memory back where it is much and the system takes it.
    pub(crate) fn truncate(&mut self, n_slots: usize) {
        self.0.truncate(n_slots);
        self.0.give_back();
    }

    /// Appends a token that covers one slot, or a barrier.
    pub(crate) fn push(&mut self, cell: C) {
        self.0.push(cell);
    }

    /// Appends tokens that cover one slot each.
    pub(crate) fn extend(&mut self, cells: impl Iterator<Item = C>) {
        cells.for_each(|cell| self.0.push(cell));
    }

    /// All slots.
    pub(crate) fn cells(&self) -> &[C] {
        &self.0
    }

    /// Puts a token that covers one slot, or a barrier, into a slot that nothing needs any more.
    pub(crate) fn set(&mut self, slot: usize, cell: C) {
        self.0[slot] = cell;
    }

    /// What stands in a slot where a token begins, or a barrier.
    #[inline]
    pub(crate) fn cell_at(&self, slot: usize) -> C {
        self.0[slot]
    }

    /// The token that begins at `slot`, or a barrier.
    #[inline]
    pub(crate) fn token_at(&self, slot: usize) -> TokenId {
        self.0[slot].token()
    }

    /// The token that ends before `slot`, where a token begins; or a barrier.
    #[inline]
    pub(crate) fn token_before(&self, slot: usize) -> TokenId {
        self.0[slot - 1].token()
    }

    /// Whether `left` begins at `slot` and `right` follows it.
    ///
    /// `slot` must be one where `left` began at some time; then there is a slot behind it, if only that of a barrier.
    #[inline]
    pub(crate) fn has_pair(
        &self,
        slot: usize,
        left: TokenId,
        left_len: usize,
        right: TokenId,
    ) -> bool {
        // Both are read whatever the first says: a wrong guess would keep the next ones from being fetched.
        let (one, other) = (self.0[slot].token(), self.0[slot + left_len].token());
        (one ^ left) | (other ^ right) == 0
    }

    /// Puts `result` in the place of two tokens, the first of which begins at `slot`.
    ///
    /// The slot where the second began keeps no token that began there: it becomes a hole or, where the
    /// second covers one slot, the last slot of `result`, which covers more than one. Later it can only
    /// become the inside or the end of longer tokens still, never again one that began there.
    #[inline]
    pub(crate) fn merge_at(
        &mut self,
        slot: usize,
        left_len: usize,
        result: TokenId,
        result_len: usize,
    ) {
        self.put(slot, result);
        self.put(slot + left_len, HOLE);
        self.put(slot + result_len - 1, result);
    }

    #[inline]
    fn put(&mut self, slot: usize, token: TokenId) {
        self.0[slot] = self.0[slot].with_token(token);
    }
}
