//! Several merges at once, where it is certain that one after the other would give the same.
//!
//! Merging a pair changes only pairs with one of its two tokens next to them. So after choosing (a, b) the next
//! best pair (c, d) can be chosen from the same counts, if nothing that the first merge does could put another pair
//! before it. A batch is a row of pairs, each the best of those that are left, such that
//!
//! 1. no pair of it has as its left token the right token of an earlier one, nor as its right token the left
//!    token of an earlier one, and
//! 2. a pair of two equal tokens ends it, and so does one whose token may stand where its parts may not
//!    ([`TokenFilter::frees`](super::limits::TokenFilter::frees)).
//!
//! *Old pairs.* By 1 no earlier merge of the batch takes an occurrence of (c, d): an occurrence of (a, b) that
//! overlaps one of (c, d) would share `b = c` or `d = a`. Other old pairs can only lose. So among the old pairs
//! (c, d) stays the best.
//!
//! *New pairs.* Let (a, b) become t. Each (x, t) comes from occurrences of (x, a), and each (t, y) from
//! occurrences of (b, y); so a new pair occurs at most as often as the old pair that it comes from did. By 1 and 2
//! that old pair is no other pair of the batch and not (c, d), and it was allowed; so it stands behind (c, d). A new
//! pair therefore occurs at most as often as (c, d), and it remains to look at equal counts, where all occurrences
//! of the old pair became the new one:
//!
//! - `SmallestIds`: the old pair (x, a) has larger ids than (c, d): `c < x`, or `c = x` and `d < a`. As t is larger
//!   than all old ids, (c, d) is before (x, t) too. And (t, y) has a larger left id than any old pair.
//! - `FirstSeen`: (x, t) begins where (x, a) began, which is behind the first (c, d). (t, y) begins where the a
//!   before (b, y) begins. The first (c, d) is before that (b, y), and it does not begin within a, which is one
//!   token, nor at its first slot, where (a, b) begins. So it is before (t, y) too.
//! - `LargestText`: the text of t is longer than that of a, so (x, t) may come before (c, d) though (x, a) does
//!   not. Here a pair joins a batch only if no other old pair that is left occurs as often; then every new pair
//!   occurs less often.
//!
//! Where x or y is itself a token of the batch, the pair comes from one of new and old tokens, which comes from an
//! old pair in turn, and the same holds.

use super::Ties;
use super::limits::TokenFilter;
use super::plan::{Plan, Workers};
use super::ranking::{Candidate, Ranking};
use crate::error::Result;
use crate::vocabulary::TokenId;

/// More merges at once gain nothing.
const MAX_LEN: usize = 256;

/// Chooses batches.
pub(super) struct Batches {
    pub(super) ranking: Ranking,
    pub(super) filter: TokenFilter,
    /// By token id: the number of the batch in which it was last a left or a right token.
    lefts: Vec<u32>,
    rights: Vec<u32>,
    current: u32,
}

impl Batches {
    pub(super) fn new(ranking: Ranking, filter: TokenFilter) -> Self {
        Self { ranking, filter, lefts: Vec::new(), rights: Vec::new(), current: 0 }
    }

    /// Puts the next batch into the plan, at most `max_len` merges; none where no pair reaches the floor.
    pub(super) fn choose(
        &mut self,
        max_len: usize,
        plan: &mut Plan,
        workers: &Workers,
    ) -> Result<()> {
        self.begin(plan.lengths.len());
        plan.jobs.clear();
        while plan.jobs.len() < max_len.min(MAX_LEN) {
            let Some(best) = self.ranking.best(plan, workers) else { break };
            let (left, right) = plan.pairs.tokens(best.pair);
            if !self.may_join(left, right) {
                break;
            }
            self.ranking.pop(plan);
            if !plan.jobs.is_empty() && self.is_tied(best, plan, workers) {
                self.ranking.push(best.pair, plan, workers);
                break;
            }
            self.lefts[left as usize] = self.current;
            self.rights[right as usize] = self.current;
            plan.push_job(best.pair)?;
            if left == right || self.filter.frees(left, right) {
                break;
            }
        }
        Ok(())
    }

    fn begin(&mut self, n_ids: usize) {
        self.current += 1;
        self.lefts.resize(n_ids, 0);
        self.rights.resize(n_ids, 0);
    }

    fn may_join(&self, left: TokenId, right: TokenId) -> bool {
        self.rights[left as usize] != self.current && self.lefts[right as usize] != self.current
    }

    /// Whether the tie rule needs `best`, which was taken out, to stand alone, and it does not.
    fn is_tied(&mut self, best: Candidate, plan: &Plan, workers: &Workers) -> bool {
        self.ranking.ties() == Ties::LargestText
            && self.ranking.best(plan, workers).is_some_and(|next| next.count == best.count)
    }
}
