//! What a splitter is made of: patterns, and what becomes of their matches and of the rest.
//!
//! | | |
//! |---|---|
//! | [`step`] | what a splitter does in one go: a stage, or several that one engine can do at once |
//! | [`inside_pieces`] | texts that no piece contains, in whatever text |
//! | [`named`] | the stages of published models, and those that cut at the mark for spaces |
//!
//! An engine marks where each match and each unmatched run starts; matches may be adjacent, unmatched
//! runs only with an empty match between them. A behaviour then leaves pieces out or joins some to the
//! one before, which takes a mark away:
//!
//! | | as it is | inverted |
//! |---|---|---|
//! | `Isolated` | | |
//! | `Removed` | matches are left out | the rest is left out |
//! | `MergedWithPrevious` | a match joins the rest before it | the rest joins the match before it |
//! | `MergedWithNext` | the rest joins the match before it | a match joins the rest before it |
//! | `Contiguous` | a match joins the match before it | the same |
//!
//! A delimiter joins no neighbouring delimiter: of two matches behind a run, only the first joins it. An
//! empty match lies between two unmatched runs and would join one of them, so a cut stays there.
//! Cost: linear in the number of pieces, for the behaviours that join.

pub(crate) mod inside_pieces;
pub(crate) mod named;
pub(crate) mod step;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::bits::Marked;

/// The engine whose reading of a pattern is meant; patterns mean different things to different engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// fancy-regex over regex-syntax, as tiktoken uses it.
    Rust,
    /// Oniguruma, as Hugging Face tokenizers uses it.
    Oniguruma,
    /// No regular expression: the name of a cutter; [`UNICODE_SCRIPTS`](crate::UNICODE_SCRIPTS) is the only one.
    Cutter,
}

/// What becomes of a maximal run of characters that the pattern does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unmatched {
    /// It is one piece.
    Keep,
    /// It is left out.
    Drop,
}

/// A regular expression and the flavour it is written in, or the name of a cutter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The regular expression, or the name.
    pub source: String,
    /// The engine whose reading of it is meant.
    pub flavour: Flavour,
}

/// What becomes of the matches of a pattern, seen as delimiters between the rest.
///
/// ```
/// use bytepair_split::{Behaviour, Flavour, Pattern, Splitter, Stage, unicode::UnicodeTables};
///
/// let pieces = |behaviour| {
///     let pattern = Pattern { source: "-".to_owned(), flavour: Flavour::Rust };
///     let stage = Stage { pattern, behaviour, invert: false };
///     let splitter = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap();
///     splitter.pieces(b"a-b--c").unwrap().into_iter().map(|piece| piece.len()).collect::<Vec<_>>()
/// };
/// assert_eq!(pieces(Behaviour::Isolated), [1, 1, 1, 1, 1, 1]);
/// assert_eq!(pieces(Behaviour::Removed), [1, 1, 1]);
/// assert_eq!(pieces(Behaviour::MergedWithPrevious), [2, 2, 1, 1]);
/// assert_eq!(pieces(Behaviour::MergedWithNext), [1, 2, 1, 2]);
/// assert_eq!(pieces(Behaviour::Contiguous), [1, 1, 1, 2, 1]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Behaviour {
    /// Each is a piece, and so is each run between them.
    Isolated,
    /// They are left out.
    Removed,
    /// Each belongs to the run before it.
    MergedWithPrevious,
    /// Each belongs to the run behind it.
    MergedWithNext,
    /// Neighbouring ones are one piece.
    Contiguous,
}

/// A pattern and what becomes of its matches: one step of a splitter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// What is looked for.
    pub pattern: Pattern,
    /// What becomes of the delimiters.
    pub behaviour: Behaviour,
    /// Whether the delimiters are what the pattern does not match.
    pub invert: bool,
}

impl Stage {
    /// The stage whose pieces are the matches of a pattern.
    pub fn matches(pattern: Pattern, unmatched: Unmatched) -> Self {
        match unmatched {
            Unmatched::Keep => Self { pattern, behaviour: Behaviour::Isolated, invert: false },
            Unmatched::Drop => Self { pattern, behaviour: Behaviour::Removed, invert: true },
        }
    }

    /// Whether matches are pieces, and if so what becomes of the rest; the opposite of [`Stage::matches`].
    pub fn unmatched(&self) -> Option<Unmatched> {
        match (self.behaviour, self.invert) {
            (Behaviour::Isolated, _) => Some(Unmatched::Keep),
            (Behaviour::Removed, true) => Some(Unmatched::Drop),
            _ => None,
        }
    }
}

/// Writes a character such that both flavours of patterns read it as itself, in a class and outside.
///
/// ```
/// assert_eq!(bytepair_split::escaped('['), r"\x{5B}");
/// ```
pub fn escaped(character: char) -> String {
    format!(r"\x{{{:X}}}", u32::from(character))
}

/// What a stage leaves out.
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

/// Which of matches and the rest a stage joins to the piece before it.
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
    /// Takes away the starts of what is joined to the piece before, in a range that starts with a piece.
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

/// What becomes of matches and the rest, for people.
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
