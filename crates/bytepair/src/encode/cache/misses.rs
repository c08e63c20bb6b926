//! The pieces of a block that the cache does not know, and how their ids are spliced between the others.
//!
//! The lookup writes the ids of known pieces next to each other, as if the others were not there, and notes where
//! each of these belongs. After some hundred pieces the misses are encoded one after the other, so that what this
//! needs stays in the processor's caches and the lookup is not left for each.
//!
//! ```text
//! splice(ids, misses, filled):                  ids A B C D with misses behind A and behind C
//!     move the ids behind the first miss away   A | B C D
//!     for each miss: write its ids,             A x
//!         then those up to the next miss        A x B C    then    A x B C y D
//! ```
//!
//! *Cost*: each id behind the first miss is copied twice, sixteen at a time.

use std::ops::Range;

#[cfg(target_arch = "x86_64")]
use crate::piece::key::MAX_KEY_LEN;
use crate::vocabulary::TokenId;

/// A piece that the cache did not know.
#[derive(Clone, Debug)]
pub(crate) struct Miss {
    /// Where it is in the text.
    pub(crate) piece: Range<usize>,
    /// How many ids of known pieces are before its own.
    pub(crate) n_before: usize,
}

/// What a lookup writes to: the ids of the pieces that are known, and those that are not.
pub(crate) struct Known<'k> {
    pub(crate) ids: &'k mut Vec<TokenId>,
    pub(crate) misses: &'k mut Vec<Miss>,
}

/// The ids of misses.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) ids: Vec<TokenId>,
    /// By miss: where its ids are among these.
    pub(crate) places: Vec<Range<usize>>,
}

#[cfg(target_arch = "x86_64")]
impl Miss {
    /// Whether the piece will be found at once when it comes again. Most long ones are misses each time, known or
    /// not.
    pub(super) fn is_short(&self) -> bool {
        self.piece.len() <= MAX_KEY_LEN
    }
}

/// Ids that are copied at once, whatever their number: most rows are shorter, and the next one overwrites what does
/// not count.
const STEP_LEN: usize = 16;

/// Puts the ids of misses between those of known pieces. `behind` is memory that is used again.
pub(crate) fn splice(
    ids: &mut Vec<TokenId>,
    misses: &[Miss],
    filled: &mut Filled,
    behind: &mut Vec<TokenId>,
) {
    let Some(first) = misses.first().map(|miss| miss.n_before) else { return };
    let n_all = ids.len() + filled.ids.len();
    behind.clear();
    behind.extend_from_slice(&ids[first..]);
    let n_behind = behind.len();
    // Each copy may read and write a step beyond its end.
    behind.resize(n_behind + STEP_LEN, 0);
    filled.ids.resize(filled.ids.len() + STEP_LEN, 0);
    ids.resize(n_all + STEP_LEN, 0);
    let ends = misses[1..].iter().map(|miss| miss.n_before - first).chain([n_behind]);
    let (mut at, mut start) = (first, 0);
    for (place, end) in filled.places.iter().zip(ends) {
        copy(&filled.ids, place.clone(), &mut ids[at..]);
        at += place.len();
        copy(behind, start..end, &mut ids[at..]);
        at += end - start;
        start = end;
    }
    ids.truncate(n_all);
}

/// Copies some ids to the front of others, and up to a step more.
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
        fn the_ids_of_each_miss_are_put_where_it_was(
            parts in prop::collection::vec((any::<bool>(), prop::collection::vec(any::<TokenId>(), 0..9)), 0..50),
        ) {
            let (mut ids, mut misses, mut filled) = (vec![], vec![], Filled::default());
            for (is_miss, part) in &parts {
                if *is_miss {
                    misses.push(Miss { piece: 0..1, n_before: ids.len() });
                    filled.places.push(filled.ids.len()..filled.ids.len() + part.len());
                    filled.ids.extend(part);
                } else {
                    ids.extend(part);
                }
            }
            splice(&mut ids, &misses, &mut filled, &mut vec![7; 3]);
            let expected: Vec<_> = parts.into_iter().flat_map(|(_, part)| part).collect();
            prop_assert_eq!(ids, expected);
        }
    }
}
