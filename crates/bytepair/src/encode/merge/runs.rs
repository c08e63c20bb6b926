//! Pieces that are mostly one symbol again and again: lines of dashes, rows of spaces, rulers of tables.
//!
//! ```text
//! write the piece as runs: an id, and how many times it stands there
//! while some pair has a merge:
//!     take the pair of lowest rank; give up where another pair has that rank too
//!     merge all its places, from left to right, run by run; give up where a pair comes about whose rank is not higher
//! ```
//!
//! *Why it is safe.* Let the pair have rank r. As long as every pair that comes about has a rank above r, the lowest rank
//! stays r, and the definition takes the leftmost place that is left each time: all places, from left to right. In a run of
//! one id that merges with itself these are every other symbol, else they are where two runs meet. Which pairs come about
//! is known beforehand, so each of them is looked up, also those that are gone when all places are merged. A piece that is
//! given up is left to the other algorithms as it was. Nothing is asked of the vocabulary beforehand.
//!
//! *Cost:* O(n) for n symbols to find the runs and to write the tokens, and for each rank a few look-ups for each run: a
//! line of 200 dashes takes some dozen of them instead of 400. Left out: pieces of many runs.

use crate::vocabulary::TokenId;
use crate::vocabulary::merge_table::{Lookup, Merges, RankedMerge};

/// Shorter rows have hardly more symbols than look-ups, here as there.
const MIN_LEN: usize = 16;
/// So many symbols there are for each run, at least.
const MIN_RUN_LEN: usize = 8;
/// Runs, and look-ups for each symbol of up to so many, at most. What takes more has many ranks and long runs at once,
/// and is given up before much was spent on it.
const MAX_RUNS: usize = 512;
const MAX_LOOK_UPS: usize = 8;
const MAX_COUNTED: usize = 1 << 13;

/// Symbols of one kind that stand side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    id: TokenId,
    len: usize,
}

/// Memory that is used again from piece to piece.
#[derive(Default)]
pub(super) struct Runs {
    /// Neighbours differ.
    runs: Vec<Run>,
    next: Vec<Run>,
}

/// What merges next.
#[derive(Clone, Copy)]
struct Lowest {
    left: TokenId,
    right: TokenId,
    merge: RankedMerge,
    /// Whether another pair has the same rank.
    is_shared: bool,
}

/// Appends what the symbols `ids` are merged to, if they are few runs and their ranks allow it; says whether they do.
#[inline]
pub(super) fn merge(
    merges: &Merges,
    ids: &[TokenId],
    scratch: &mut Runs,
    out: &mut Vec<TokenId>,
) -> bool {
    let is_done = ids.len() >= MIN_LEN
        && scratch.lay_out(ids, MAX_RUNS.min(ids.len() / MIN_RUN_LEN))
        && scratch.merge(merges, MAX_LOOK_UPS * MAX_COUNTED.min(ids.len()));
    if is_done {
        scratch.append_to(out);
    }
    is_done
}

impl Runs {
    /// Finds the runs of some symbols; `false` if there are too many.
    fn lay_out(&mut self, ids: &[TokenId], n_most: usize) -> bool {
        self.runs.clear();
        for run in ids.chunk_by(|left, right| left == right) {
            if self.runs.len() == n_most {
                return false;
            }
            self.runs.push(Run { id: run[0], len: run.len() });
        }
        true
    }

    /// Merges until no pair has a merge; `false` if that takes too many look-ups, or may not be what the definition does.
    fn merge(&mut self, merges: &Merges, mut n_look_ups: usize) -> bool {
        while let Some(lowest) = self.lowest(merges) {
            // Two for each run to find it, and up to four where it is merged.
            let Some(n_left) = n_look_ups.checked_sub(6 * self.runs.len()) else { return false };
            n_look_ups = n_left;
            if lowest.is_shared || !self.merge_places(lowest, merges) {
                return false;
            }
            std::mem::swap(&mut self.runs, &mut self.next);
        }
        true
    }

    fn append_to(&self, out: &mut Vec<TokenId>) {
        self.runs.iter().for_each(|run| out.extend(std::iter::repeat_n(run.id, run.len)));
    }

    /// The pair of lowest rank, within a run or where two meet.
    fn lowest(&self, merges: &Merges) -> Option<Lowest> {
        let within = self.runs.iter().filter(|run| run.len > 1).map(|run| (run.id, run.id));
        let between = self.runs.windows(2).map(|runs| (runs[0].id, runs[1].id));
        let mut lowest: Option<Lowest> = None;
        for (left, right) in within.chain(between) {
            let merge = merges.get(left, right);
            let found = Lowest { left, right, merge, is_shared: false };
            match &mut lowest {
                _ if !merge.exists() => {}
                Some(lowest) if lowest.merge.rank < merge.rank => {}
                Some(lowest) if lowest.merge.rank == merge.rank => {
                    lowest.is_shared |= (lowest.left, lowest.right) != (left, right);
                }
                _ => lowest = Some(found),
            }
        }
        lowest
    }

    /// Merges a pair at all its places, from `runs` to `next`; `false` if a pair comes about whose rank is not higher.
    fn merge_places(&mut self, lowest: Lowest, merges: &Merges) -> bool {
        let Self { runs, next } = self;
        let Lowest { left, right, merge, .. } = lowest;
        let made = merge.result;
        let is_higher = |left: TokenId, right: TokenId| merges.get(left, right).rank > merge.rank;
        next.clear();
        let mut n_taken = 0;
        for (index, &Run { id, len }) in runs.iter().enumerate() {
            let len = len - std::mem::take(&mut n_taken);
            let behind = runs.get(index + 1);
            let is_allowed = if left == right && id == left && len > 1 {
                let before = next.last().map(|run| run.id);
                push(next, made, len / 2);
                push(next, left, len % 2);
                before.is_none_or(|before| is_higher(before, made))
                    && (len < 3 || is_higher(made, left))
                    && (len < 4 || is_higher(made, made))
                    && behind.is_none_or(|behind| len % 2 > 0 || is_higher(made, behind.id))
            } else if let Some(behind) = behind.filter(|run| id == left && run.id == right) {
                push(next, left, len - 1);
                let before = next.last().map(|run| run.id);
                push(next, made, 1);
                n_taken = 1;
                let after = match behind.len {
                    1 => runs.get(index + 2).map(|run| run.id),
                    _ => Some(right),
                };
                before.is_none_or(|before| is_higher(before, made))
                    && after.is_none_or(|after| is_higher(made, after))
            } else {
                push(next, id, len);
                true
            };
            if !is_allowed {
                return false;
            }
        }
        true
    }
}

/// Appends symbols to a row of runs.
fn push(runs: &mut Vec<Run>, id: TokenId, len: usize) {
    match runs.last_mut() {
        _ if len == 0 => {}
        Some(last) if last.id == id => last.len += len,
        _ => runs.push(Run { id, len }),
    }
}

/// What any symbols are merged to, however many runs they are and look-ups it takes; `None` where ranks do not allow it.
#[cfg(test)]
pub(super) fn merge_any(merges: &Merges, ids: &[TokenId]) -> Option<Vec<TokenId>> {
    let (mut scratch, mut out) = (Runs::default(), Vec::new());
    let is_done = scratch.lay_out(ids, usize::MAX) && scratch.merge(merges, usize::MAX);
    scratch.append_to(&mut out);
    is_done.then_some(out)
}

#[cfg(test)]
mod tests {
    use super::super::naive;
    use super::*;
    use crate::vocabulary::{Merge, Vocabulary};

    fn vocabulary(merges: &[[TokenId; 3]]) -> Vocabulary {
        let mut vocabulary = Vocabulary::new();
        for &[left, right, result] in merges {
            vocabulary.push_merge_to(Merge { left, right, result });
        }
        vocabulary
    }

    #[test]
    fn a_ruler_of_any_length_is_merged_by_its_runs() {
        // Dashes by two, four, eight and three; a bar with two before and with one behind.
        let merges =
            [[1, 1, 2], [2, 2, 4], [4, 4, 8], [0, 1, 9], [2, 1, 3], [2, 0, 10], [9, 3, 11]];
        let vocabulary = vocabulary(&merges);
        let merges = Merges::new(&vocabulary);
        let rulers = [vec![0], vec![1], vec![1, 0]];
        for (len, first) in (MIN_LEN..200).flat_map(|len| rulers.iter().map(move |row| (len, row)))
        {
            let ids = [first, &vec![1; len][..], &[0]].concat();
            let mut found = vec![7];
            let is_done = merge(&merges, &ids, &mut Runs::default(), &mut found);
            let n_runs = ids.chunk_by(|left, right| left == right).count();
            assert_eq!(is_done, n_runs * MIN_RUN_LEN <= ids.len(), "{first:?} {len}");
            let expected = naive::merge(&vocabulary, ids);
            assert_eq!(&found[1..], if is_done { &expected[..] } else { &[] }, "{first:?} {len}");
        }
    }

    #[test]
    fn a_row_that_takes_too_many_look_ups_is_left_to_others() {
        // Each rank takes one symbol.
        let merges: Vec<_> = (0..100).map(|rank| [0, rank + 1, rank + 2]).collect();
        let merges = Merges::new(&vocabulary(&merges));
        let ids = [vec![0; 90], vec![1]].concat();
        let mut out = Vec::new();
        assert!(!merge(&merges, &ids, &mut Runs::default(), &mut out) && out.is_empty());
        assert!(merge_any(&merges, &ids).is_some());
    }
}
