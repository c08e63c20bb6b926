//! Why a splitter cannot be made, or why it gave up.
//!
//! A kind holds values instead of prose, so that callers can act on them. The message is made from them when it is shown.

use std::fmt;

/// The result type of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A pattern that is refused, or a match that needs too many steps. Small: one pointer.
///
/// ```
/// use bytepair_split::{ErrorKind, Flavour, Pattern, Splitter, Stage, Unmatched};
/// use bytepair_split::unicode::UnicodeTables;
///
/// let pattern = Pattern { source: "(a".to_owned(), flavour: Flavour::Rust };
/// let stage = Stage::matches(pattern, Unmatched::Keep);
/// let error = Splitter::new(vec![stage], &UnicodeTables::latest()).unwrap_err();
/// assert!(matches!(error.kind(), ErrorKind::Pattern { offset: 0, .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<ErrorKind>);

/// The reason for an [`Error`], with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A pattern that cannot be parsed or compiled.
    Pattern {
        /// The whole pattern.
        pattern: String,
        /// Where the problem starts, in bytes of `pattern`.
        offset: usize,
        /// What is wrong there, as a phrase.
        problem: String,
    },
    /// Backtracking used up its steps.
    StepLimit {
        /// The pattern that was being matched.
        pattern: String,
        /// Where the match begins in the text, in bytes.
        offset: usize,
        /// The number of steps allowed, in addition to some for each byte of the text.
        limit: u64,
    },
}

impl Error {
    /// The reason, with its values.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }

    /// Adds `n_bytes` to the offset of a step limit: the text that was split begins that far into the caller's text.
    #[must_use]
    pub fn moved_by(mut self, n_bytes: u64) -> Self {
        if let ErrorKind::StepLimit { offset, .. } = &mut *self.0 {
            *offset = offset.saturating_add(usize::try_from(n_bytes).unwrap_or(usize::MAX));
        }
        self
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pattern { pattern, offset, problem } => {
                let place = pattern.get(..*offset).map_or(0, |before| before.chars().count());
                let (shown, column) = around(pattern, place);
                write!(
                    f,
                    "pattern error at character {place}: {problem}\n  {shown}\n  {:column$}^",
                    ""
                )
            }
            Self::StepLimit { pattern, offset, limit } => write!(
                f,
                "the pattern {:?} takes too many steps at byte {offset} of the text, more than {limit} \
                 plus some for each byte before; make its look-around or repetition bounded",
                around(pattern, 0).0
            ),
        }
    }
}

/// How many characters of a pattern are shown on each side of a place.
const N_SHOWN: usize = 200;

/// The part of a pattern around a character, and the index of the character in that part: a pattern may be megabytes long.
fn around(pattern: &str, place: usize) -> (String, usize) {
    let first = place.saturating_sub(N_SHOWN);
    let mut characters = pattern.chars().skip(first);
    let mut shown: String = characters.by_ref().take(place - first + N_SHOWN).collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    match first {
        0 => (shown, place),
        _ => (format!("…{shown}"), place - first + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(pattern: String, offset: usize) -> String {
        ErrorKind::Pattern { pattern, offset, problem: "open".to_owned() }.to_string()
    }

    #[test]
    fn a_pattern_error_points_at_the_place_in_characters_in_the_part_around_it() {
        let short = message("é(".to_owned(), 2);
        assert_eq!(short, "pattern error at character 1: open\n  é(\n   ^");
        let long = format!("{}(é{}", "a".repeat(100_000), "b".repeat(100_000));
        let message = message(long, 100_000);
        let lines: Vec<&str> = message.lines().collect();
        assert!(message.chars().count() < 800 && lines[0].contains("character 100000"));
        let column = lines[2].chars().count() - 1;
        assert_eq!(lines[1].chars().nth(column), Some('('));
    }
}
