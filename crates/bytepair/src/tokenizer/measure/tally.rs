//! How often each id occurs, beside the length of its token, so that one memory access serves both.
//!
//! Costs eight bytes for each id of a vocabulary.

use crate::vocabulary::TokenId;

/// The bits of a length.
const LEN_BITS: u32 = 20;

/// The longest token that has a length, in bytes.
pub(super) const MAX_LEN: usize = (1 << LEN_BITS) - 1;

/// Counts that were not handed over yet.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// By id: the count, and in the lower bits the length.
    all: Vec<u64>,
    /// The ids that occur.
    seen: Vec<TokenId>,
}

impl Tally {
    /// Of tokens of these lengths, 0 where one is not known.
    pub(super) fn new(lens: impl Iterator<Item = u64>) -> Self {
        Self { all: lens.collect(), seen: Vec::new() }
    }

    /// Counts an id, and gives its length.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "only the bits of the length are used")]
    pub(super) fn add(&mut self, id: TokenId) -> usize {
        let entry = &mut self.all[id as usize];
        if *entry >> LEN_BITS == 0 {
            self.seen.push(id);
        }
        *entry += 1 << LEN_BITS;
        *entry as usize & MAX_LEN
    }

    /// Counts ids.
    pub(super) fn add_all(&mut self, ids: &[TokenId]) {
        for &id in ids {
            self.add(id);
        }
    }

    /// Takes back what was counted.
    pub(super) fn take_back(&mut self, ids: &[TokenId]) {
        ids.iter().for_each(|&id| self.all[id as usize] -= 1 << LEN_BITS);
    }

    /// Calls `take` with each id that occurs and its count, which begins anew.
    pub(super) fn hand_over(&mut self, mut take: impl FnMut(TokenId, u64)) {
        for id in self.seen.drain(..) {
            let entry = &mut self.all[id as usize];
            take(id, *entry >> LEN_BITS);
            *entry &= MAX_LEN as u64;
        }
    }
}
