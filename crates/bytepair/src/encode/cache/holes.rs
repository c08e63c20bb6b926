//! Pieces whose ids are still to be found, and how they are put between those that are known.
//!
//! Known pieces are written one behind the other, as if the others were not there. Those are encoded together after some
//! hundred pieces: what they need is then at hand from one to the next. Putting them in copies each id behind the first
//! of them twice.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use crate::piece_key::MAX_KEY_LEN;
use crate::vocabulary::TokenId;

/// A piece that was left out.
#[derive(Clone, Debug)]
pub(crate) struct Hole {
    pub(crate) piece: Range<usize>,
    /// How many ids stand before those of the piece, none of other holes counted.
    pub(crate) n_before: usize,
}

#[cfg(target_arch = "x86_64")]
impl Hole {
    /// Whether the piece is found at once when it comes again. Most long ones are left out each time, known or not.
    pub(super) fn is_short(&self) -> bool {
        self.piece.len() <= MAX_KEY_LEN
    }
}

/// Ids that are copied at once, whatever their number: most rows are shorter, and the next one overwrites what does not
/// count.
const STEP_LEN: usize = 16;

/// Puts the ids of holes in: those of each are where `places` says. `behind` is memory that is used again.
pub(crate) fn put_in(
    ids: &mut Vec<TokenId>,
    holes: &[Hole],
    (filled, places): (&mut Vec<TokenId>, &[Range<usize>]),
    behind: &mut Vec<TokenId>,
) {
    let Some(first) = holes.first().map(|hole| hole.n_before) else { return };
    let n_all = ids.len() + filled.len();
    behind.clear();
    behind.extend_from_slice(&ids[first..]);
    let n_behind = behind.len();
    behind.resize(n_behind + STEP_LEN, 0);
    filled.resize(filled.len() + STEP_LEN, 0);
    ids.resize(n_all + STEP_LEN, 0);
    let ends = holes[1..].iter().map(|hole| hole.n_before - first).chain([n_behind]);
    let (mut at, mut start) = (first, 0);
    for (place, end) in places.iter().zip(ends) {
        copy(filled, place.clone(), &mut ids[at..]);
        at += place.len();
        copy(behind, start..end, &mut ids[at..]);
        at += end - start;
        start = end;
    }
    ids.truncate(n_all);
}

/// Copies some ids to the front of others, and perhaps a few more, which stand behind them in both.
#[inline]
fn copy(from: &[TokenId], place: Range<usize>, to: &mut [TokenId]) {
    for done in (0..place.len()).step_by(STEP_LEN) {
        let start = place.start + done;
        to[done..done + STEP_LEN].copy_from_slice(&from[start..start + STEP_LEN]);
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
            put_in(&mut ids, &holes, (&mut filled, &places), &mut vec![7; 3]);
            let expected: Vec<_> = parts.into_iter().flat_map(|(_, part)| part).collect();
            prop_assert_eq!(ids, expected);
        }
    }
}
