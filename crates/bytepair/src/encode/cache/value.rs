//! The value of a slot of the table: the ids of its piece, or where they are.
//!
//! ```text
//! key without a mark:  four ids of 32 bits, the first with MORE if there are more than two, absent ones last
//! key with a mark:     01, how many, up to seven ids of 17 bits      close
//!                      10, how many, up to six ids of 20 bits        close
//!                      00, how many, place in the ring
//! ```
//!
//! Four ids can be written by vectors. Five to seven, as words of a script have for which a vocabulary has few
//! tokens, are packed so that they need no second line of the processor's cache: these take a third longer from the
//! ring.

use crate::vocabulary::TokenId;

/// Most ids of a value without a mark.
pub(super) const MAX_IDS: usize = 4;
/// In place of an id that the piece does not have.
pub(super) const ABSENT: TokenId = TokenId::MAX;
/// In the first id: there are more than two.
pub(super) const MORE: TokenId = 1 << 31;

/// By the two highest bits, less one: bits of a close id, and how many fit.
const WIDTHS: [(u32, usize); 2] = [(17, MAX_CLOSE), (20, 6)];
const WIDTH_SHIFT: u32 = 126;
/// Most close ids; their number takes the three bits below the width.
const MAX_CLOSE: usize = 7;
const LEN_SHIFT: u32 = 123;
/// The number of ids in the ring takes the bits above the place.
const RING_LEN_SHIFT: u32 = 64;

/// The value without a mark for one to four ids.
pub(super) fn packed(ids: &[TokenId]) -> Option<u128> {
    if ids.is_empty() || ids.len() > MAX_IDS || ids.iter().any(|&id| id >= MORE) {
        return None;
    }
    let mut four = [ABSENT; MAX_IDS];
    four[..ids.len()].copy_from_slice(ids);
    four[0] |= if ids.len() > 2 { MORE } else { 0 };
    Some(four.iter().rev().fold(0, |bits, &id| bits << 32 | u128::from(id)))
}

/// The ids of a value without a mark, and behind them [`ABSENT`] ones.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each of the four words is an id")]
pub(super) fn unpacked(value: u128) -> [TokenId; MAX_IDS] {
    [value as u32 & !MORE, (value >> 32) as u32, (value >> 64) as u32, (value >> 96) as u32]
}

/// How many ids of a value without a mark are not absent.
#[inline]
pub(super) fn n_packed(value: u128) -> usize {
    MAX_IDS - value.leading_ones() as usize / 32
}

/// The value with a mark for close ids, if these fit.
pub(super) fn close(ids: &[TokenId]) -> Option<u128> {
    let fits =
        |&(bits, most): &(u32, usize)| ids.len() <= most && ids.iter().all(|&id| id >> bits == 0);
    let width = WIDTHS.iter().position(fits)?;
    let bits = ids.iter().rev().fold(0, |bits, &id| bits << WIDTHS[width].0 | u128::from(id));
    Some((width as u128 + 1) << WIDTH_SHIFT | (ids.len() as u128) << LEN_SHIFT | bits)
}

/// Appends the ids of a value with a mark, if it has close ones.
#[inline]
pub(super) fn append_close(value: u128, ids: &mut Vec<TokenId>) -> bool {
    let seven = match value >> WIDTH_SHIFT {
        1 => spread::<{ WIDTHS[0].0 }>(value),
        2 => spread::<{ WIDTHS[1].0 }>(value),
        _ => return false,
    };
    // All are written, whatever their number, for which nothing then waits.
    ids.extend_from_slice(&seven);
    ids.truncate(ids.len() - MAX_CLOSE + ((value >> LEN_SHIFT) as usize & MAX_CLOSE));
    true
}

/// The close ids of so many bits; what does not count is anything.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "an id is masked")]
fn spread<const BITS: u32>(value: u128) -> [TokenId; MAX_CLOSE] {
    std::array::from_fn(|index| (value >> (index as u32 * BITS)) as TokenId & ((1 << BITS) - 1))
}

/// The value with a mark for so many ids in the ring.
pub(super) fn in_ring(place: u64, n_ids: usize) -> u128 {
    (n_ids as u128) << RING_LEN_SHIFT | u128::from(place)
}

/// The place in the ring that a value with a mark has, and how many ids are there.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "halves of the value")]
pub(super) fn place_in_ring(value: u128) -> (u64, usize) {
    (value as u64, (value >> RING_LEN_SHIFT) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_come_back_or_do_not_fit(
            ids in prop::collection::vec(prop_oneof![0..1_u32 << 17, 0..1_u32 << 20, any::<u32>()], 1..9),
        ) {
            let largest = ids.iter().max().copied().unwrap_or(0);
            match close(&ids) {
                Some(value) => {
                    let mut found = vec![7];
                    prop_assert!(append_close(value, &mut found));
                    prop_assert_eq!(&found[1..], &ids);
                }
                None => prop_assert!(ids.len() > 7 || largest >= 1 << 20 || ids.len() == 7 && largest >= 1 << 17),
            }
            match packed(&ids) {
                Some(value) => prop_assert_eq!(&unpacked(value)[..n_packed(value)], &ids),
                None => prop_assert!(ids.len() > 4 || largest >= 1 << 31),
            }
        }
    }

    #[test]
    fn a_place_in_the_ring_comes_back_and_has_no_close_ids() {
        let (value, mut ids) = (in_ring((1 << 37) - 2, 5000), vec![]);
        assert_eq!(place_in_ring(value), ((1 << 37) - 2, 5000));
        assert!(!append_close(value, &mut ids) && ids.is_empty());
    }
}
