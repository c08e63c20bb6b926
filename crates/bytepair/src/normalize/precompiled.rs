//! Hugging Face's reading of `SentencePiece`'s character map.
//!
//! It looks up each grapheme cluster of less than six bytes, and each character of the others; of the
//! keys that the looked-up text begins with, the *shortest* replaces the whole of it. `SentencePiece` itself
//! takes the longest key at each place, so the two differ. One pass.

use unicode_segmentation::UnicodeSegmentation;

use super::CharsMap;
use super::aligned::{Change, Symbol};

/// Clusters of so many bytes are looked up character by character.
const LONG_CLUSTER: usize = 6;

/// Calls `visit` with each part of a text and what replaces it, in order.
pub(super) fn for_each_part<'t>(
    map: &'t CharsMap,
    text: &'t str,
    mut visit: impl FnMut(&'t str, Option<&'t str>),
) {
    for cluster in text.graphemes(true) {
        let whole = (cluster.len() < LONG_CLUSTER).then(|| map.shortest(cluster.as_bytes()));
        if let Some(Some(replacement)) = whole {
            visit(cluster, Some(replacement));
            continue;
        }
        for part in cluster.split_inclusive(|_| true) {
            visit(part, map.shortest(part.as_bytes()));
        }
    }
}

/// The changes that put a replacement in the place of a part.
///
/// What is longer adds its last characters; what is shorter lets the last character before the rest of the
/// text skip the others, also where that character stands before an empty replacement. At the beginning of
/// a text nothing does, and spans behind it lag: that is how the library counts.
pub(super) fn push_changes(changes: &mut Vec<Change>, part: &str, replacement: &str) {
    let n_before = part.chars().count();
    let n_after = replacement.chars().count();
    let added = |index: usize| isize::from(index >= n_before);
    let new = replacement.chars().enumerate();
    changes.extend(new.map(|(index, character)| (Symbol::Character(character), added(index))));
    if let Some((_, change)) = changes.last_mut().filter(|_| n_after < n_before) {
        *change -= (n_before - n_after).cast_signed();
    }
}
