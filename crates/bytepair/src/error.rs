//! The one error type of the crate.
//!
//! An [`Error`] is a box around an [`ErrorKind`]. A kind holds values (an offset, an id, a limit),
//! never prose: the text is made when the error is shown, and a caller can act on the values.

use std::fmt;

/// What every fallible function of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an operation was refused. Small: one pointer.
#[derive(Debug)]
pub struct Error(Box<ErrorKind>);

/// The values behind an [`Error`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A split pattern that cannot be parsed or compiled.
    Pattern {
        /// The whole pattern.
        pattern: String,
        /// Where the problem starts, in bytes of `pattern`.
        offset: usize,
        /// What is wrong there, as a phrase.
        problem: String,
    },
    /// A backtracking match that used up its steps.
    StepLimit {
        /// The pattern that was being matched.
        pattern: String,
        /// Where in the text the match began, in bytes.
        offset: usize,
        /// The number of steps allowed for one match.
        limit: u64,
    },
}

impl Error {
    /// The values behind the message.
    pub fn kind(&self) -> &ErrorKind {
        &self.0
    }
}

impl From<ErrorKind> for Error {
    #[cold]
    fn from(kind: ErrorKind) -> Self {
        Self(Box::new(kind))
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            ErrorKind::Pattern { pattern, offset, problem } => {
                let column = pattern.get(..*offset).map_or(0, |before| before.chars().count());
                write!(
                    formatter,
                    "pattern error at character {column}: {problem}\n  {pattern}\n  {:column$}^",
                    ""
                )
            }
            ErrorKind::StepLimit { pattern, offset, limit } => write!(
                formatter,
                "the pattern {pattern:?} needs more than {limit} steps to match at byte {offset} of the text; \
                 make its look-around or repetition bounded"
            ),
        }
    }
}
