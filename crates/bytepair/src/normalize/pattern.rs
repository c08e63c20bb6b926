//! Replacing what a pattern matches.
//!
//! A pattern that could match the empty text is refused when the step is made, since engines disagree on such
//! matches. Costs what splitting by the pattern costs: where it needs backtracking, all matches of a text share a
//! limit of steps.

use std::hash::{Hash, Hasher};
use std::ops::Range;

use crate::error::Result;
use bytepair_split::unicode::UnicodeTables;
use bytepair_split::{Pattern, Splitter, Stage, Unmatched};

/// A pattern, compiled to find its matches in a text.
#[derive(Clone, Debug)]
pub struct TextPattern {
    pattern: Pattern,
    matches: Splitter,
}

impl TextPattern {
    /// Compiles a pattern with the character classes of one version of Unicode.
    ///
    /// # Errors
    /// [`Split`](crate::ErrorKind::Split) for what is not understood, or could match the empty text.
    pub fn new(pattern: Pattern, unicode: &UnicodeTables) -> Result<Self> {
        let stage = Stage::matches(pattern.clone(), Unmatched::Drop);
        let matches = Splitter::new(vec![stage], unicode)?;
        if !matches.may_match_nothing() {
            return Ok(Self { pattern, matches });
        }
        let problem = "a pattern that could match the empty text cannot be replaced".to_owned();
        let kind =
            bytepair_split::ErrorKind::Pattern { pattern: pattern.source, offset: 0, problem };
        Err(bytepair_split::Error::from(kind).into())
    }

    /// The pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// The matches, from left to right.
    ///
    /// # Errors
    /// [`Split`](crate::ErrorKind::Split) where they need too many steps.
    pub(super) fn matches(&self, text: &[u8]) -> Result<Vec<Range<usize>>> {
        let mut ranges = Vec::new();
        self.matches.for_each_piece(text, |range| -> Result<()> {
            ranges.push(range);
            Ok(())
        })?;
        Ok(ranges)
    }
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.pattern == other.pattern
    }
}

impl Eq for TextPattern {}

impl Hash for TextPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.pattern.hash(state);
    }
}
