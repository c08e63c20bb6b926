//! Merging by its definition, and nothing else: the twin of every algorithm beside it.
//!
//! Each step looks at all pairs, and for each pair at all merges: O(n² m) for n symbols and m merges.

use crate::vocabulary::{TokenId, Vocabulary};

/// Merges the pair of lowest priority, the leftmost of several, until no pair has a merge.
pub(in crate::encode) fn merge(vocabulary: &Vocabulary, mut ids: Vec<TokenId>) -> Vec<TokenId> {
    let merges = vocabulary.merges();
    let candidate = |(place, pair): (usize, &[TokenId])| {
        let index = merges.iter().rposition(|merge| [merge.left, merge.right] == pair)?;
        let priority = vocabulary.priorities().get(index).map_or(index, |&own| own as usize);
        Some((priority, place, merges[index].result))
    };
    while let Some((_, place, result)) = ids.windows(2).enumerate().filter_map(candidate).min() {
        ids.splice(place..place + 2, [result]);
    }
    ids
}
