//! What the threads of all shares read during a step. It changes only between steps.

use super::pairs::{PairIndex, Pairs};
use super::row::MAX_IDS;
use super::survey::Sketch;
use crate::error::{ErrorKind, Result};
use crate::vocabulary::TokenId;

/// What to do, and what has to be known for it.
pub(super) struct Plan {
    pub(super) step: Step,
    /// By token id: the number of slots that a token covers. One for each id.
    pub(super) lengths: Vec<u32>,
    /// The number of slots of all shares.
    pub(super) n_slots: usize,
    /// How often pairs occur at most, in the whole corpus.
    pub(super) sketch: Sketch,
    /// Pairs that occur less often are left alone until the next survey.
    pub(super) floor: i64,
    /// The other pairs.
    pub(super) pairs: Pairs,
    /// The merges of a batch, in their order.
    pub(super) jobs: Vec<Job>,
    /// By job: the pairs of the new token that are kept.
    pub(super) created: Vec<Created>,
}

/// A step that every share takes on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Make the row anew.
    Compact,
    /// Look at its pairs.
    Look,
    /// Count the pairs that the sketch leaves.
    Tally,
    /// List the places of the frequent pairs.
    Place,
    /// Merge a batch.
    Apply,
    /// List the places of the pairs that the batch created.
    List,
}

/// A pair to merge.
#[derive(Clone, Copy)]
pub(super) struct Job {
    pub(super) pair: PairIndex,
    pub(super) left: TokenId,
    pub(super) right: TokenId,
    pub(super) count: i64,
    /// The new token.
    pub(super) result: TokenId,
    /// The number of slots that the left token covers.
    pub(super) left_len: usize,
    /// The number of slots that both cover.
    pub(super) result_len: usize,
}

/// One thing for the neighbours before a pair, and one for those behind it.
#[derive(Default)]
pub(super) struct Sides<T> {
    pub(super) left: T,
    pub(super) right: T,
}

/// The pairs of a new token that are kept, by the neighbour that makes them.
#[derive(Default)]
pub(super) struct Created {
    pub(super) sides: Sides<Vec<(TokenId, PairIndex)>>,
    /// The pair of the new token with itself.
    pub(super) twice: Option<PairIndex>,
}

impl Plan {
    /// A plan for tokens that cover one slot each, before anything is known of their pairs but that none occurs
    /// more often than there are tokens.
    pub(super) fn new(n_ids: usize, n_corpus_tokens: i64) -> Self {
        Self {
            step: Step::Compact,
            lengths: vec![1; n_ids],
            n_slots: 0,
            sketch: Sketch::default(),
            floor: n_corpus_tokens,
            pairs: Pairs::with_capacity(0),
            jobs: Vec::new(),
            created: Vec::new(),
        }
    }

    /// Appends the merge of a pair to the batch; its token gets the next id.
    ///
    /// # Errors
    /// Where no id is left.
    pub(super) fn push_job(&mut self, pair: PairIndex) -> Result<()> {
        let (left, right) = self.pairs.tokens(pair);
        let (left_len, result_len) = (self.length(left), self.length(left) + self.length(right));
        let result = next_id(self.lengths.len())?;
        let length = u32::try_from(result_len).map_err(|_| ErrorKind::TooManyTokens)?;
        self.lengths.push(length);
        let count = self.pairs.count(pair);
        self.jobs.push(Job { pair, left, right, count, result, left_len, result_len });
        Ok(())
    }

    /// The number of slots that a token covers.
    pub(super) fn length(&self, id: TokenId) -> usize {
        self.lengths[id as usize] as usize
    }
}

/// The id that follows so many others.
///
/// # Errors
/// Where it does not fit a slot of the row.
pub(super) fn next_id(n_ids: usize) -> Result<TokenId> {
    let id = TokenId::try_from(n_ids).ok().filter(|_| n_ids < MAX_IDS);
    id.ok_or_else(|| ErrorKind::TooManyTrained { most: MAX_IDS }.into())
}

impl Created {
    pub(super) fn clear(&mut self) {
        self.sides.left.clear();
        self.sides.right.clear();
        self.twice = None;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.pairs().next().is_none()
    }

    /// The pairs, in the order in which they were created.
    pub(super) fn pairs(&self) -> impl Iterator<Item = PairIndex> {
        let sides = self.sides.left.iter().chain(&self.sides.right);
        sides.map(|&(_, pair)| pair).chain(self.twice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_end_where_they_no_longer_fit_a_slot() {
        assert_eq!(next_id(MAX_IDS - 1).unwrap() as usize, MAX_IDS - 1);
        let error = next_id(MAX_IDS).unwrap_err().to_string();
        assert!(error.contains("8388608"), "{error}");
    }
}
