//! Stages as a whole: what happens to their matches, which of them can run at once, and which texts no piece contains.
//!
//! | | |
//! |---|---|
//! | [`step`] | what a splitter does in one go: a stage, or several that one engine can do at once |
//! | [`inside_pieces`] | texts that no piece of any text contains |
//! | [`named`] | the stages of published models, and those that cut at the mark for spaces |
//!
//! An engine marks where each match and each unmatched run starts. Matches may be adjacent; unmatched runs are adjacent
//! only if an empty match lies between them. Then a behaviour drops pieces, or joins some to the piece before by
//! removing their marks:
//!
//! | | as it is | inverted |
//! |---|---|---|
//! | `Isolated` | | |
//! | `Removed` | matches are dropped | the rest is dropped |
//! | `MergedWithPrevious` | a match joins the rest before it | the rest joins the match before it |
//! | `MergedWithNext` | the rest joins the match before it | a match joins the rest before it |
//! | `Contiguous` | a match joins the match before it | the same |
//!
//! A delimiter does not join a neighbouring delimiter: of two matches after a run, only the first joins it. An empty
//! match lies between two unmatched runs and would join one of them, so a cut stays there.
//! Cost: linear in the number of pieces, for the behaviours that join.

pub(crate) mod inside_pieces;
pub(crate) mod named;
pub(crate) mod step;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::bits::Marked;
use crate::stage::{Behaviour, Stage};

/// The pieces that a stage drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    Nothing,
    Unmatched,
    Matches,
}

impl Dropped {
    pub(crate) fn by(stage: &Stage) -> Self {
        match (stage.behaviour, stage.invert) {
            (Behaviour::Removed, false) => Self::Matches,
            (Behaviour::Removed, true) => Self::Unmatched,
            _ => Self::Nothing,
        }
    }
}

/// The pieces that a stage joins to the piece before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    MatchToMatch,
    MatchToRest,
    RestToMatch,
}

impl Join {
    pub(crate) fn by(stage: &Stage) -> Option<Self> {
        match (stage.behaviour, stage.invert) {
            (Behaviour::Isolated | Behaviour::Removed, _) => None,
            (Behaviour::Contiguous, _) => Some(Self::MatchToMatch),
            (Behaviour::MergedWithPrevious, false) | (Behaviour::MergedWithNext, true) => {
                Some(Self::MatchToRest)
            }
            (Behaviour::MergedWithPrevious, true) | (Behaviour::MergedWithNext, false) => {
                Some(Self::RestToMatch)
            }
        }
    }

    fn joins(self, before_is_match: bool, is_match: bool) -> bool {
        let (before, this) = match self {
            Self::MatchToMatch => (true, true),
            Self::MatchToRest => (false, true),
            Self::RestToMatch => (true, false),
        };
        (before, this) == (before_is_match, is_match)
    }
}

impl Marked {
    /// Removes the starts of pieces that are joined to the piece before, in a range that starts with a piece.
    pub(crate) fn join(&mut self, range: Range<usize>, join: Join) {
        let mut before_is_match = None;
        let mut next = self.starts.first_from(range.start);
        while let Some(start) = next.filter(|start| range.contains(start)) {
            let is_match = !self.unmatched.contains(start);
            if before_is_match.is_some_and(|before| join.joins(before, is_match)) {
                self.starts.remove(start);
            }
            before_is_match = Some(is_match);
            next = self.starts.first_from(start + 1);
        }
    }

    /// The last start before `end` that is not the first of the block.
    pub(crate) fn last_start(&self, end: usize) -> Option<usize> {
        self.starts.last_up_to(end.checked_sub(1)?).filter(|&last| last > 0)
    }
}

/// A description for people of what happens to matches and to the rest.
pub(crate) fn in_words(stage: &Stage) -> &'static str {
    match (Dropped::by(stage), Join::by(stage)) {
        (Dropped::Unmatched, _) => "the rest is dropped",
        (Dropped::Matches, _) => "matches are dropped",
        (_, None) => "the rest is kept",
        (_, Some(Join::MatchToMatch)) => "adjacent matches are joined",
        (_, Some(Join::MatchToRest)) => "a match joins the rest before it",
        (_, Some(Join::RestToMatch)) => "the rest joins the match before it",
    }
}
