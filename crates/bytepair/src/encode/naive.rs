//! Encoding by its definition. The twin of `scan` and `heap`. O(n²) for a piece of n symbols.

use crate::vocabulary::{Merge, TokenId};

/// Merges the pair of lowest rank, the leftmost of several, until no pair has a merge.
pub(super) fn merge(merges: &[Merge], mut ids: Vec<TokenId>) -> Vec<TokenId> {
    let rank =
        |pair: &[TokenId]| merges.iter().rposition(|merge| [merge.left, merge.right] == pair);
    while let Some((rank, place)) =
        ids.windows(2).enumerate().filter_map(|(place, pair)| Some((rank(pair)?, place))).min()
    {
        ids.splice(place..place + 2, [merges[rank].result]);
    }
    ids
}
