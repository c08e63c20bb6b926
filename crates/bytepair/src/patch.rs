//! How a row of ids changes.

use crate::vocabulary::TokenId;

/// How a row of ids changes: which of its ids stay, and which come instead of the others.
///
/// The new row is the first `keep` ids of the old one, then `ids`, then the last `keep_after` ids of the old one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Patch {
    /// How many ids at the beginning stay.
    pub keep: usize,
    /// The ids that come after them.
    pub ids: Vec<TokenId>,
    /// How many ids at the end stay. 0 if the text changed at its end.
    pub keep_after: usize,
}

impl Patch {
    /// How a row changes if new ids come after the first `keep` instead of old ones.
    pub(crate) fn at_end(keep: usize, old: &[TokenId], new: &[TokenId]) -> Self {
        let n_same = common_prefix(old, new);
        Self { keep: keep + n_same, ids: new[n_same..].to_vec(), keep_after: 0 }
    }

    /// The same. Old ids at the end stay if they are the same, and so do `n_after` ids that follow them.
    pub(crate) fn within(keep: usize, old: &[TokenId], new: &[TokenId], n_after: usize) -> Self {
        let mut patch = Self::at_end(keep, old, new);
        let n_same = common_suffix(&old[patch.keep - keep..], &patch.ids);
        patch.ids.truncate(patch.ids.len() - n_same);
        Self { keep_after: n_same + n_after, ..patch }
    }
}

/// The length of the longest common beginning.
pub(crate) fn common_prefix<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// The length of the longest common end.
pub(crate) fn common_suffix<T: PartialEq>(left: &[T], right: &[T]) -> usize {
    left.iter().rev().zip(right.iter().rev()).take_while(|(left, right)| left == right).count()
}
