//! Parts of pieces that are one character, by its code: of text without spaces most are.
//!
//! Takes no hash and no comparison; half a megabyte when the first comes. Left out: characters of four bytes, and more
//! or larger ids than fit eight bytes.

use crate::encode::cuts::N_CODES;
use crate::vocabulary::TokenId;

/// Ids of a character, at most.
const MAX_IDS: usize = 3;

/// Bits of an id, and of all.
const ID_BITS: u32 = 20;
const ALL_BITS: u32 = 3 * ID_BITS;

/// Ids by character.
#[derive(Default)]
pub(super) struct Characters {
    /// By code: how many ids there are, 0 where they are not known, above the ids.
    rows: Vec<u64>,
}

impl Characters {
    /// What is known of a character; 0 for nothing.
    #[inline]
    pub(super) fn get(&self, code: u32) -> u64 {
        self.rows.get(code as usize).copied().unwrap_or(0)
    }

    /// Appends the ids of a character, if they are known.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "an id is masked")]
    pub(super) fn append(&self, code: u32, ids: &mut Vec<TokenId>) -> bool {
        let row = self.get(code);
        let n_ids = (row >> (ALL_BITS)) as usize;
        let mask = (1 << ID_BITS) - 1;
        let n_before = ids.len();
        ids.extend_from_slice(&[0, 1, 2].map(|index| (row >> (index * ID_BITS)) as TokenId & mask));
        ids.truncate(n_before + n_ids);
        n_ids > 0
    }

    /// Remembers the ids of a character, if they fit; returns whether they do.
    pub(super) fn insert(&mut self, code: u32, ids: &[TokenId]) -> bool {
        if code >= N_CODES || ids.len() > MAX_IDS || ids.iter().any(|&id| id >> ID_BITS > 0) {
            return false;
        }
        self.rows.resize(N_CODES as usize, 0);
        let n_ids = (ids.len() as u64) << (ALL_BITS);
        self.rows[code as usize] =
            ids.iter().rev().fold(0, |row, &id| row << ID_BITS | u64::from(id)) | n_ids;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_character_has_its_own_ids_and_nothing_else_has_any() {
        let mut characters = Characters::default();
        for code in 0..N_CODES {
            assert!(!characters.append(code, &mut vec![]));
            assert!(characters.insert(code, &[code, 7, (1 << ID_BITS) - 1][..=code as usize % 3]));
        }
        for code in 0..N_CODES {
            let mut ids = vec![5];
            assert!(characters.append(code, &mut ids));
            assert_eq!(ids[1..], [code, 7, (1 << ID_BITS) - 1][..=code as usize % 3]);
        }
        assert!(!characters.insert(N_CODES, &[1]) && !characters.append(N_CODES, &mut vec![]));
        assert!(!characters.insert(5, &[1 << ID_BITS]) && !characters.insert(5, &[1, 2, 3, 4]));
    }
}
