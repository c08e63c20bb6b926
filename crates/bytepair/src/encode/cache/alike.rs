//! Ids of which all are the same but the first and the last, in one slot: spaces and rules where few of them are joined.
//!
//! The two highest bits are set; below them is how many ids there are, the last one, the one that comes again and again, and
//! the first. Left out: fewer than five, which stand in their slot one by one.

use crate::vocabulary::TokenId;

/// Ids of a value, at most.
const MAX_IDS: usize = 4096;
const MIN_IDS: usize = 5;

const KIND_SHIFT: u32 = 126;
const KIND: u128 = 3;
const LEN_SHIFT: u32 = 96;

/// Ids that are written at once.
const STEP_LEN: usize = 16;

/// The value for some ids, if they are of this kind.
pub(super) fn packed(ids: &[TokenId]) -> Option<u128> {
    let (&[first, middle, ..], &[.., last]) = (ids, ids) else { return None };
    let are_alike = ids[1..ids.len() - 1].iter().all(|&id| id == middle);
    if !are_alike || !(MIN_IDS..=MAX_IDS).contains(&ids.len()) {
        return None;
    }
    let [first, middle, last] = [first, middle, last].map(u128::from);
    Some(KIND << KIND_SHIFT | (ids.len() as u128) << LEN_SHIFT | last << 64 | middle << 32 | first)
}

/// Appends the ids of a value, if it is one of these.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "each of the three words is an id")]
pub(super) fn append(value: u128, out: &mut Vec<TokenId>) -> bool {
    if value >> KIND_SHIFT != KIND {
        return false;
    }
    let [first, middle, last] = [0, 32, 64].map(|shift| (value >> shift) as TokenId);
    let (start, n_ids) = (out.len(), (value >> LEN_SHIFT) as usize % (2 * MAX_IDS));
    for _ in 0..n_ids.div_ceil(STEP_LEN) {
        out.extend_from_slice(&[middle; STEP_LEN]);
    }
    out.truncate(start + n_ids);
    let [one, .., other] = &mut out[start..] else { return false };
    (*one, *other) = (first, last);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_come_back_or_are_not_alike(first: u32, middle: u32, last: u32, n_middle in 0..40_usize, other: Option<u32>, at: usize) {
            let mut ids = [vec![first], vec![middle; n_middle], vec![last]].concat();
            let at = at % ids.len();
            ids[at] = other.unwrap_or(ids[at]);
            let is_alike = ids.len() >= 5 && ids[1..ids.len() - 1].iter().all(|&id| id == ids[1]);
            match packed(&ids) {
                Some(value) => {
                    let mut found = vec![7];
                    prop_assert!(is_alike && append(value, &mut found));
                    prop_assert_eq!(&found[1..], &ids);
                }
                None => prop_assert!(!is_alike),
            }
        }
    }

    #[test]
    fn very_many_ids_do_not_fit_and_a_value_of_another_kind_gives_nothing() {
        assert!(packed(&vec![1; MAX_IDS]).is_some() && packed(&vec![1; MAX_IDS + 1]).is_none());
        let mut ids = vec![];
        assert!(!append(u128::MAX >> 1, &mut ids) && ids.is_empty());
    }
}
