//! Pieces whose ids are still to be found, and how they are put between those that are known.
//!
//! Known pieces are written one behind the other, as if the others were not there. Those are encoded together when a
//! block is done: what they need is then at hand from one to the next. Putting them in moves each id of the
//! block once at most.

use std::ops::Range;

use crate::vocabulary::TokenId;

/// A piece that was left out.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    pub(crate) piece: Range<usize>,
    /// How many ids stand before those of the piece, none of other holes counted.
    pub(crate) n_before: usize,
}

/// Puts the ids of holes in: those of each are where `places` says.
pub(crate) fn put_in(
    ids: &mut Vec<TokenId>,
    holes: &[Hole],
    filled: &[TokenId],
    places: &[Range<usize>],
) {
    let mut read_end = ids.len();
    ids.resize(read_end + filled.len(), 0);
    let mut write_end = ids.len();
    for (hole, place) in holes.iter().zip(places).rev() {
        let n_behind = read_end - hole.n_before;
        ids.copy_within(hole.n_before..read_end, write_end - n_behind);
        (read_end, write_end) = (hole.n_before, write_end - n_behind);
        let found = &filled[place.clone()];
        ids[write_end - found.len()..write_end].copy_from_slice(found);
        write_end -= found.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_hole_is_filled_where_it_was(
            parts in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<TokenId>(), 0..9)), 0..50),
        ) {
            let (mut ids, mut holes, mut places, mut filled) = (vec![], vec![], vec![], vec![]);
            for (is_hole, part) in &parts {
                if *is_hole {
                    holes.push(Hole { piece: 0..1, n_before: ids.len() });
                    places.push(filled.len()..filled.len() + part.len());
                    filled.extend(part);
                } else {
                    ids.extend(part);
                }
            }
            put_in(&mut ids, &holes, &filled, &places);
            let expected: Vec<_> = parts.into_iter().flat_map(|(_, part)| part).collect();
            prop_assert_eq!(ids, expected);
        }
    }
}
