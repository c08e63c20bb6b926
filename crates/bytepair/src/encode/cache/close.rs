//! Five to seven ids in one slot, closely packed: words of scripts for which a vocabulary has few tokens.
//!
//! The two highest bits say how wide an id is, or that the value is something else; the three below how many there
//! are. Left out: more ids, and larger ones.

use crate::vocabulary::TokenId;

/// By the highest bits, less one: bits of an id, and how many fit.
const WIDTHS: [(u32, usize); 2] = [(17, 7), (20, 6)];

const WIDTH_SHIFT: u32 = 126;
const LEN_SHIFT: u32 = 123;

/// The value for some ids, if they fit.
pub(super) fn packed(ids: &[TokenId]) -> Option<u128> {
    let fits =
        |&(bits, most): &(u32, usize)| ids.len() <= most && ids.iter().all(|&id| id >> bits == 0);
    let width = WIDTHS.iter().position(fits)?;
    let bits = ids.iter().rev().fold(0, |bits, &id| bits << WIDTHS[width].0 | u128::from(id));
    Some((width as u128 + 1) << WIDTH_SHIFT | (ids.len() as u128) << LEN_SHIFT | bits)
}

/// Appends the ids of a value, if it is one of these.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an id is masked, and so is their number")]
pub(super) fn append(value: u128, ids: &mut Vec<TokenId>) -> bool {
    let Some(&(bits, _)) = WIDTHS.get(((value >> WIDTH_SHIFT) as usize).wrapping_sub(1)) else {
        return false;
    };
    let n_ids = (value >> LEN_SHIFT) as usize & 7;
    let mask = (1 << bits) - 1;
    ids.extend((0..n_ids as u32).map(|index| (value >> (index * bits)) as TokenId & mask));
    true
}

/// A value of another kind: a place.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a place has 64 bits")]
pub(super) fn place(value: u128) -> u64 {
    value as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_come_back_or_do_not_fit(ids in prop::collection::vec(prop_oneof![0..1_u32 << 17, 0..1_u32 << 20, any::<u32>()], 1..9)) {
            let largest = ids.iter().max().copied().unwrap_or(0);
            match packed(&ids) {
                Some(value) => {
                    let mut found = vec![];
                    prop_assert!(append(value, &mut found));
                    prop_assert_eq!(found, ids);
                }
                None => prop_assert!(ids.len() > 7 || largest >= 1 << 20 || ids.len() == 7 && largest >= 1 << 17),
            }
        }
    }

    #[test]
    fn a_value_of_another_kind_gives_nothing() {
        let mut ids = vec![];
        assert!(!append(u128::MAX >> 2, &mut ids) && ids.is_empty());
    }
}
