//! Five to seven ids in one slot, closely packed: words of scripts for which a vocabulary has few tokens.
//!
//! The two highest bits say how wide an id is, or that the value is something else; the three below how many there
//! are. Left out: more ids, and larger ones.

use crate::vocabulary::TokenId;

/// By the highest bits, less one: bits of an id, and how many fit.
const WIDTHS: [(u32, usize); 2] = [(17, MAX_IDS), (20, 6)];

/// Ids of a value, at most.
const MAX_IDS: usize = 7;

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
pub(super) fn append(value: u128, out: &mut Vec<TokenId>) -> bool {
    let ids = match value >> WIDTH_SHIFT {
        1 => spread::<{ WIDTHS[0].0 }>(value),
        2 => spread::<{ WIDTHS[1].0 }>(value),
        _ => return false,
    };
    // All are written, whatever their number, which nothing then waits for.
    out.extend_from_slice(&ids);
    out.truncate(out.len() - ids.len() + ((value >> LEN_SHIFT) as usize & MAX_IDS));
    true
}

/// The ids of a value whose ids have so many bits; what does not count is anything.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an id is masked")]
fn spread<const BITS: u32>(value: u128) -> [TokenId; MAX_IDS] {
    std::array::from_fn(|index| (value >> (index as u32 * BITS)) as TokenId & ((1 << BITS) - 1))
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
