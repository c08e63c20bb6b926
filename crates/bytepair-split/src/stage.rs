//! The parts of a splitter: patterns, and what happens to their matches and to the rest.

/// The engine whose reading of a pattern is meant. Patterns mean different things to different engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flavour {
    /// fancy-regex over regex-syntax, as tiktoken uses it.
    Rust,
    /// Oniguruma, as Hugging Face tokenizers uses it.
    Oniguruma,
    /// No regular expression: the name of a cutter; [`UNICODE_SCRIPTS`](crate::UNICODE_SCRIPTS) is the only one.
    Cutter,
}

/// What happens to a maximal run of characters that the pattern does not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unmatched {
    /// It is one piece.
    Keep,
    /// It is dropped.
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

/// What happens to the matches of a pattern, seen as delimiters between the rest.
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
    /// They are dropped.
    Removed,
    /// Each belongs to the run before it.
    MergedWithPrevious,
    /// Each belongs to the run after it.
    MergedWithNext,
    /// Adjacent ones are one piece.
    Contiguous,
}

/// A pattern and what happens to its matches: one step of a splitter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stage {
    /// The pattern.
    pub pattern: Pattern,
    /// What happens to the delimiters.
    pub behaviour: Behaviour,
    /// Whether the delimiters are the text between the matches instead of the matches.
    pub invert: bool,
}

impl Stage {
    /// The stage that makes each match of a pattern a piece.
    pub fn matches(pattern: Pattern, unmatched: Unmatched) -> Self {
        match unmatched {
            Unmatched::Keep => Self { pattern, behaviour: Behaviour::Isolated, invert: false },
            Unmatched::Drop => Self { pattern, behaviour: Behaviour::Removed, invert: true },
        }
    }

    /// What happens to unmatched text if matches are pieces; `None` if they are not. The inverse of [`Stage::matches`].
    pub fn unmatched(&self) -> Option<Unmatched> {
        match (self.behaviour, self.invert) {
            (Behaviour::Isolated, _) => Some(Unmatched::Keep),
            (Behaviour::Removed, true) => Some(Unmatched::Drop),
            _ => None,
        }
    }
}

/// Writes a character so that both flavours of patterns take it literally, inside a class and outside.
///
/// ```
/// assert_eq!(bytepair_split::escaped('['), r"\x{5B}");
/// ```
pub fn escaped(character: char) -> String {
    format!(r"\x{{{:X}}}", u32::from(character))
}
