//! Pieces that were encoded before, with their ids: bounded memory, no bookkeeping.
//!
//! A direct-mapped table: a piece has one slot, and a new piece simply takes it. Only pieces of at most
//! 15 bytes and four ids are kept, which are nearly all pieces of text with spaces. A cache belongs to
//! one thread at a time and to one tokenizer; it holds nothing that the tokenizer does not imply.

use crate::piece_key::key_hash;
use crate::vocabulary::TokenId;

/// Number of slots; 2 MiB in all.
const N_SLOTS: usize = 1 << 16;
/// Most ids of a piece that is kept.
const MAX_IDS: usize = 4;
/// Fills the places behind the last id. No token has this id.
const NO_ID: TokenId = TokenId::MAX;

/// Ids by piece.
pub(crate) struct PieceCache {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    /// The key of the piece; 0 where the slot is free.
    key: u128,
    ids: [TokenId; MAX_IDS],
}

impl PieceCache {
    pub(crate) fn new() -> Self {
        Self { slots: vec![Slot { key: 0, ids: [0; MAX_IDS] }; N_SLOTS] }
    }

    /// Appends the ids of the piece, if it is here.
    #[inline]
    pub(crate) fn append(&self, key: u128, out: &mut Vec<TokenId>) -> bool {
        let slot = &self.slots[key_hash(key) % N_SLOTS];
        if slot.key != key {
            return false;
        }
        out.push(slot.ids[0]);
        out.extend(slot.ids[1..].iter().copied().take_while(|&id| id != NO_ID));
        true
    }

    /// Remembers the ids of a piece, if they are few enough.
    pub(crate) fn insert(&mut self, key: u128, ids: &[TokenId]) {
        if ids.is_empty() || ids.len() > MAX_IDS {
            return;
        }
        let mut slot = Slot { key, ids: [NO_ID; MAX_IDS] };
        slot.ids[..ids.len()].copy_from_slice(ids);
        self.slots[key_hash(key) % N_SLOTS] = slot;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::piece_key::piece_key;

    #[test]
    fn a_piece_gives_its_own_ids_or_none() {
        let mut cache = PieceCache::new();
        for number in 0..200_000_u32 {
            let text = number.to_string();
            let key = piece_key(text.as_bytes(), 0, text.len()).unwrap();
            cache.insert(key, &[number, number + 1][..=(number % 2) as usize]);
        }
        let mut n_found = 0;
        for number in 0..200_000_u32 {
            let text = number.to_string();
            let mut ids = Vec::new();
            if cache.append(piece_key(text.as_bytes(), 0, text.len()).unwrap(), &mut ids) {
                assert_eq!(ids, [number, number + 1][..=(number % 2) as usize]);
                n_found += 1;
            }
        }
        assert!(n_found > N_SLOTS / 2);
    }
}
