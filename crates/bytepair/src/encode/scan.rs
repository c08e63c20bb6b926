//! Short pieces: look for the lowest rank along the piece, merge, look again.
//!
//! Takes O(n²) time for n symbols and beats everything else while n is small: the ranks of a word lie
//! in one or two cache lines, and only the two neighbours of a merge are looked up again.

use super::{Merges, NO_MERGE, Scratch};

/// Merges `scratch.ids` in place.
pub(super) fn merge(merges: &Merges, scratch: &mut Scratch) {
    let Scratch { ids, merges: by_place, .. } = scratch;
    by_place.clear();
    by_place.extend(ids.windows(2).map(|pair| merges.get(pair[0], pair[1])));
    loop {
        // The first of equal ranks is the leftmost.
        let Some((place, &lowest)) =
            by_place.iter().enumerate().min_by_key(|(_, merge)| merge.rank)
        else {
            return;
        };
        if lowest == NO_MERGE {
            return;
        }
        ids[place] = lowest.result;
        ids.remove(place + 1);
        by_place.remove(place);
        if place > 0 {
            by_place[place - 1] = merges.get(ids[place - 1], ids[place]);
        }
        if let Some(after) = by_place.get_mut(place) {
            *after = merges.get(ids[place], ids[place + 1]);
        }
    }
}
